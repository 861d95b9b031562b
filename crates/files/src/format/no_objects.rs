//! Stands for `objects.rs` in a build without the feature `remote`.

use std::sync::Arc;

use crate::error::{Error, ErrorKind, Result};
use crate::storage::read_at::ReadAt;
use crate::storage::requests::RequestOptions;

pub(super) fn object(_: &str, _: RequestOptions) -> Result<Arc<dyn ReadAt>> {
    Err(no_network())
}

pub(super) fn no_network() -> Error {
    Error::from_kind(ErrorKind::Unsupported, "this build has no network: the feature remote is off")
}
