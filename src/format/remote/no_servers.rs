//! Without the feature `remote` every function fails.

use std::sync::Arc;

use crate::error::{Error, ErrorKind, Result};
use crate::format::open::{Input, OpenOptions};
use crate::format::table::Format;
use crate::storage::read_at::ReadAt;
use crate::storage::requests::RequestOptions;
use crate::storage::target::Target;

pub(in crate::format) fn object(_: &str, _: RequestOptions) -> Result<Arc<dyn ReadAt>> {
    Err(no_network())
}

/// Fails.
///
/// # Errors
/// Always.
pub fn version_at(_: &str, _: RequestOptions) -> Result<String> {
    Err(no_network())
}

pub(in crate::format) fn target_at(_: &str, label: String, _: Format, _: bool, _: RequestOptions) -> Result<Target> {
    Err(no_network().within(label))
}

pub(in crate::format) fn open(options: &OpenOptions, _: &str, _: Option<String>) -> Result<Input> {
    Err(no_network().within(&*options.label))
}

fn no_network() -> Error {
    Error::from_kind(
        ErrorKind::Unsupported,
        "this build has no network: only with the feature remote does tensorop ask servers",
    )
}
