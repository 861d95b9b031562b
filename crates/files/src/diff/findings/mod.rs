//! The findings of a comparison of two tensors: mismatches, their places, and differing metadata.

pub(crate) mod difference;
pub mod metadata;
pub(crate) mod places;
pub(crate) mod tally;
