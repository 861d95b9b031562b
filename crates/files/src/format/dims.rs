//! Names of dimensions in slices. Only Zarr stores have them.

use crate::error::Result;
use crate::ops::slice::SliceArgs;
use crate::storage::source::Source;

/// Returns the names of dimensions, `None` where a dimension has none.
pub fn dims_of(data: &Source) -> Vec<Option<String>> {
    let text = data.as_chunks().and_then(|chunks| chunks.style().dimension_names.clone());
    text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
}

/// Replaces names of dimensions with axes.
///
/// # Errors
/// No dimension has the name.
pub fn slices_of(slices: &SliceArgs, data: &Source) -> Result<SliceArgs> {
    let dims = dims_of(data);
    slices.check_dims(&dims).map_err(|error| error.within(data.label()))?;
    Ok(slices.with_dims_as_axes(&dims))
}
