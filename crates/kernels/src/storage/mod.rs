//! Sources of items: bytes by position, values by key, chunks, streams.

pub mod attachments;
pub mod chunked;
pub mod conversion;
pub mod key_store;
pub mod opened_file;
pub mod platform;
pub mod read_at;
pub mod requests;
pub mod source;
