//! Single objects behind addresses, as files that name others name them.

#[cfg(feature = "remote")]
use std::io;
#[cfg(feature = "safetensors")]
use std::sync::Arc;

use crate::error::{Error, ErrorKind};
#[cfg(feature = "safetensors")]
use crate::{error::Result, storage::read_at::ReadAt, storage::requests::RequestOptions};

/// The bytes that are asked for first, in which most headers lie.
#[cfg(feature = "remote")]
pub(super) const FIRST: u64 = 1 << 16;

/// Opens an object that another file names.
///
/// # Errors
/// There is none at that address; of asking.
#[cfg(all(feature = "safetensors", feature = "remote"))]
pub(super) fn object(address: &str, requests: RequestOptions) -> Result<Arc<dyn ReadAt>> {
    use crate::storage::read_at::Part;
    use crate::storage::remote::{Address, Client, RemoteObject};
    let client = Client::shared(requests)?;
    let found = RemoteObject::open(&client, Address::parse(address)?, Part::First(FIRST))?;
    found.map(|object| Arc::new(object) as Arc<dyn ReadAt>).ok_or_else(not_found)
}

/// Says that this build asks no server.
#[cfg(all(feature = "safetensors", not(feature = "remote")))]
pub(super) fn object(_: &str, _: RequestOptions) -> Result<Arc<dyn ReadAt>> {
    Err(no_network())
}

/// Returns the error of an address at which there is nothing.
#[cfg(feature = "remote")]
pub(super) fn not_found() -> Error {
    Error::of(ErrorKind::Io(io::ErrorKind::NotFound), "404 Not Found")
}

/// Returns the error of a build that asks no server.
#[cfg(not(feature = "remote"))]
pub(super) fn no_network() -> Error {
    Error::of(
        ErrorKind::Unsupported,
        "this build has no network: only with the feature remote does tensorop ask servers",
    )
}
