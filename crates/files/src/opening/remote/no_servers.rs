//! Without the feature `remote` every function fails.

use crate::opening::input::{Input, OpenOptions};
use crate::opening::table::Format;
use crate::storage::requests::RequestOptions;
use crate::storage::sidecar::no_network;
use crate::storage::targets::target::Target;
use tensorop_kernels::error::Result;

/// Fails.
///
/// # Errors
/// Always.
pub fn version_at(_: &str, _: RequestOptions) -> Result<String> {
    Err(no_network())
}

pub(crate) fn target_at(_: &str, label: String, _: Format, _: bool, _: RequestOptions) -> Result<Target> {
    Err(no_network().within(label))
}

pub(crate) fn open(options: &OpenOptions, _: &str, _: Option<String>) -> Result<Input> {
    Err(no_network().within(&*options.label))
}
