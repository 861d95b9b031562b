//! The findings of a comparison, and their texts: for one tensor, for models, as maps of the places that differ.

pub(crate) mod difference;
pub(crate) mod lines;
pub(crate) mod listed;
pub mod maps;
pub mod metadata;
pub mod models;
pub(crate) mod places;
pub(crate) mod report;
pub(crate) mod tally;
