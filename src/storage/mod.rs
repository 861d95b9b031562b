//! Where items are read from and where they are written to.

pub mod chunked;
pub mod conversion;
pub mod key_store;
#[cfg(feature = "formats")]
pub mod local_store;
#[cfg(feature = "formats")]
pub mod parts;
pub mod platform;
pub mod read_at;
#[cfg(feature = "formats")]
pub mod signals;
pub mod source;
#[cfg(feature = "formats")]
pub mod stage;
#[cfg(feature = "formats")]
pub mod stream;
#[cfg(feature = "formats")]
pub mod target;
