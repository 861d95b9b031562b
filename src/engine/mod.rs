//! The window loop.

pub mod job;
