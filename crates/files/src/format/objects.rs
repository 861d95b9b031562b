//! Objects on servers that another file names.

use std::io;
use std::sync::Arc;

use tensorop_remote::{Address, Client, RemoteObject};

use crate::error::{Error, ErrorKind, Result};
use crate::storage::read_at::{Part, ReadAt};
use crate::storage::requests::RequestOptions;

/// Most headers fit in the first request.
pub(super) const FIRST_BYTES: u64 = 1 << 16;

pub(super) fn object(address: &str, requests: RequestOptions) -> Result<Arc<dyn ReadAt>> {
    let client = Client::shared(requests)?;
    let found = RemoteObject::open(&client, Address::parse(address)?, Part::First(FIRST_BYTES))?;
    found.map(|object| Arc::new(object) as Arc<dyn ReadAt>).ok_or_else(not_found)
}

pub(super) fn not_found() -> Error {
    Error::from_kind(ErrorKind::Io(io::ErrorKind::NotFound), "404 Not Found")
}
