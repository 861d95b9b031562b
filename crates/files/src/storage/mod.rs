//! Sources and targets of items: bytes by position, values by key, chunks, streams.

pub mod attachments;
pub mod chunked;
pub mod conversion;
pub mod key_store;
pub mod local_store;
pub mod opened_file;
pub mod platform;
pub mod read_at;
#[cfg(feature = "remote")]
pub mod remote_store;
pub(crate) mod sidecar;
pub mod source;
pub mod targets;
#[cfg(test)]
pub(crate) mod tests;
pub mod unread;

pub use tensorop_remote::requests;
