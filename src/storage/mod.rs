//! Where items are read from and where they are written to.

pub mod chunked;
pub mod conversion;
pub mod key_store;
#[cfg(feature = "files")]
pub mod local_store;
#[cfg(feature = "files")]
pub mod made_units;
#[cfg(feature = "files")]
pub mod parts;
pub mod platform;
pub mod read_at;
#[cfg(feature = "files")]
pub mod record;
#[cfg(feature = "remote")]
pub mod remote;
#[cfg(feature = "files")]
pub mod requests;
#[cfg(feature = "files")]
pub mod signals;
pub mod source;
#[cfg(feature = "files")]
pub mod stage;
#[cfg(feature = "files")]
pub mod stream;
#[cfg(feature = "files")]
pub mod target;
