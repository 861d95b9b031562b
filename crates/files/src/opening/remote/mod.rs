//! Addresses of objects and stores.

#[cfg_attr(not(feature = "remote"), path = "no_servers.rs")]
mod servers;

pub(crate) use self::servers::target_at;
pub use self::servers::version_at;
use super::input::{Input, OpenOptions};
use tensorop_kernels::error::{Result, unsupported};

impl OpenOptions {
    pub(crate) fn open_address(&self, object: &str, after: Option<String>) -> Result<Input> {
        if self.locked {
            return Err(unsupported!("a file behind an address cannot be changed in place").within(&*self.label));
        }
        servers::open(self, object, after)
    }
}
