//! Without the feature `remote` every function fails.

use crate::error::Result;
use crate::format::objects::no_network;
use crate::format::open::{Input, OpenOptions};
use crate::format::table::Format;
use crate::storage::requests::RequestOptions;
use crate::storage::target::Target;

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
