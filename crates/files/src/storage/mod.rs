//! Sources and targets of items: bytes by position, values by key, chunks, streams.

pub mod attachments;
pub mod chunked;
pub mod key_store;
pub mod local_store;
pub mod platform;
pub mod read_at;
#[cfg(feature = "remote")]
pub mod remote_store;
pub(crate) mod sidecar;
pub mod source;
/// Targets of an output: files, folders and buckets. A draft or a stage receives the bytes, and gets the name at the end.
pub mod targets {
    #[cfg(feature = "remote")]
    pub mod bucket;
    pub mod draft;
    pub mod parts;
    pub mod signals;
    pub mod stage;
    pub mod stream;
    pub mod target;
}
#[cfg(test)]
pub(crate) mod tests;
pub mod unread;

pub use tensorop_remote::requests;
