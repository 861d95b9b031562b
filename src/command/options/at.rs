//! `--at`: NumPy's notation for basic slices.

use crate::error::Error;
use crate::ops::slice::SliceArgs;

/// Slices, and how they were typed.
#[derive(Clone, Debug)]
pub(crate) struct At {
    /// As they were typed, without what stands around them.
    pub text: String,
    /// What they are.
    pub args: SliceArgs,
}

/// Reads slices, and remembers how they were typed.
pub(crate) fn parse_typed(text: &str) -> Result<At, String> {
    Ok(At { text: text.split_whitespace().collect::<Vec<_>>().join(" "), args: parse(text)? })
}

/// Reads slices such as `1:8:2, ..., ::-1`.
pub(crate) fn parse(text: &str) -> Result<SliceArgs, String> {
    text.parse().map_err(|error: Error| error.message().to_owned())
}
