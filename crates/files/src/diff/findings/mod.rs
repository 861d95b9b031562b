//! What a comparison finds, of one tensor: mismatches, their places, differing metadata.

pub(crate) mod difference;
pub mod metadata;
pub(crate) mod places;
pub(crate) mod tally;
