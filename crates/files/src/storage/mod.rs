//! Sources and targets of items: bytes by position, values by key, chunks, streams.

pub use tensorop_remote::requests;

pub mod attachments;
#[cfg_attr(feature = "remote", path = "bucket.rs")]
#[cfg_attr(not(feature = "remote"), path = "no_bucket.rs")]
pub mod bucket;
pub mod chunked;
pub mod conversion;
pub mod draft;
pub mod key_store;
pub mod local_store;
pub mod made_units;
#[cfg(test)]
pub mod memory_store;
pub mod opened_file;
pub mod parts;
pub mod platform;
pub mod read_at;
pub mod record;
#[cfg(feature = "remote")]
pub mod remote_object;
#[cfg(feature = "remote")]
pub mod remote_store;
pub mod signals;
pub mod source;
pub mod stage;
pub mod stream;
pub mod target;
pub mod unread;
pub mod write_behind;
