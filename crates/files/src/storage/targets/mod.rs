//! Targets of an output: files, folders and buckets. A draft or a stage receives the bytes, and gets the name at the end.

#[cfg_attr(feature = "remote", path = "bucket.rs")]
#[cfg_attr(not(feature = "remote"), path = "no_bucket.rs")]
pub mod bucket;
pub mod draft;
pub mod parts;
pub mod record;
pub mod signals;
pub mod stage;
pub mod stream;
pub mod target;
