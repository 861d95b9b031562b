//! Where items are read from and where they are written to.

pub mod conversion;
pub mod platform;
pub mod signals;
pub mod source;
pub mod target;
