//! Names of dimensions, by which slices may be given. Only stores of Zarr have them.

use crate::error::Result;
use crate::ops::slice::SliceArgs;
use crate::storage::source::Source;

/// Returns the names of the dimensions of a tensor, of which some may have none.
pub fn dims_of(data: &Source) -> Vec<Option<String>> {
    let text = data.as_chunks().and_then(|chunks| chunks.style().dimension_names.clone());
    text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
}

/// Returns slices with the axes of a tensor in the place of names of its dimensions.
///
/// # Errors
/// A name that none of its dimensions has; messages name the tensor.
pub fn slices_of(slices: &SliceArgs, data: &Source) -> Result<SliceArgs> {
    let dims = dims_of(data);
    slices.check_dims(&dims).map_err(|error| error.within(data.label()))?;
    Ok(slices.with_dims_as_axes(&dims))
}
