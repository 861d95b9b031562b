//! Mismatches as they are found: their items are still bytes.

use super::distance::Number;

/// A mismatch that is told.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct FoundMismatch {
    pub item: usize,
    pub expected: Vec<u8>,
    pub actual: Vec<u8>,
    pub errors: Option<Errors>,
}

/// How far apart two items are that are neither NaN nor infinite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Errors {
    pub abs: Number,
    /// `None` where the expected item is zero, and the other is not.
    pub rel: Option<f64>,
    pub ulp: u64,
}
