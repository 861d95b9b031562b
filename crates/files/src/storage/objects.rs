//! Objects on servers that another file names. A build without the feature `remote` refuses them.

use std::sync::Arc;

#[cfg(feature = "remote")]
use tensorop_remote::{Address, Client};

use super::read_at::ReadAt;
use super::requests::RequestOptions;
use tensorop_kernels::error::{Error, ErrorKind, Result};

/// Most headers fit in the first request.
#[cfg(feature = "remote")]
pub(crate) const FIRST_BYTES: u64 = 1 << 16;

#[cfg(feature = "remote")]
pub(crate) fn object(address: &str, requests: RequestOptions) -> Result<Arc<dyn ReadAt>> {
    use super::remote_object::RemoteObject;
    use super::requests::Part;
    let client = Client::shared(requests)?;
    let found = RemoteObject::open(&client, Address::parse(address)?, Part::First(FIRST_BYTES))?;
    found.map(|object| Arc::new(object) as Arc<dyn ReadAt>).ok_or_else(not_found)
}

#[cfg(feature = "remote")]
pub(crate) fn not_found() -> Error {
    Error::from_kind(ErrorKind::Io(std::io::ErrorKind::NotFound), "404 Not Found")
}

#[cfg(not(feature = "remote"))]
pub(crate) fn object(_: &str, _: RequestOptions) -> Result<Arc<dyn ReadAt>> {
    Err(no_network())
}

#[cfg(not(feature = "remote"))]
pub(crate) fn no_network() -> Error {
    Error::from_kind(ErrorKind::Unsupported, "this build has no network: the feature remote is off")
}
