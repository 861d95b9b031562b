//! The window loop, and what else runs through whole tensors: scans, index tensors.

pub mod job;
pub mod scan;
pub mod sink;
