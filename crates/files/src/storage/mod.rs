//! Targets of items, stores and streams, beside the sources of tensorop-kernels.

pub use tensorop_kernels::storage::{
    attachments, chunked, conversion, key_store, opened_file, platform, read_at, requests, source,
};

#[cfg_attr(feature = "remote", path = "bucket.rs")]
#[cfg_attr(not(feature = "remote"), path = "no_bucket.rs")]
pub mod bucket;
pub mod draft;
pub mod local_store;
pub mod made_units;
#[cfg(test)]
pub mod memory_store;
pub mod parts;
pub mod record;
pub mod signals;
pub mod stage;
pub mod stream;
pub mod target;
pub mod unread;
pub mod write_behind;
