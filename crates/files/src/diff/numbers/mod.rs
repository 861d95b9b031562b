//! The numbers of a comparison: items as numbers, their distances, sums and metrics, and the loops over pairs.

pub(crate) mod distance;
pub(crate) mod item;
pub(crate) mod kernel;
pub(crate) mod lanes;
pub(crate) mod reading;
pub(crate) mod steps;
pub(crate) mod sums;
pub(crate) mod walk;
