//! Addresses of objects and stores.

#[cfg(not(feature = "remote"))]
mod no_servers;
#[cfg(feature = "remote")]
mod servers;

pub(super) use self::imp::target_at;
pub use self::imp::version_at;
#[cfg(not(feature = "remote"))]
use self::no_servers as imp;
#[cfg(feature = "remote")]
use self::servers as imp;
use super::open::{Input, OpenOptions};
use crate::error::{Error, ErrorKind, Result};

impl OpenOptions {
    pub(super) fn open_address(&self, object: &str, after: Option<String>) -> Result<Input> {
        if self.locked {
            let message = "a file behind an address cannot be changed in place";
            return Err(Error::from_kind(ErrorKind::Unsupported, message).within(&*self.label));
        }
        imp::open(self, object, after)
    }
}
