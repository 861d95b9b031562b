//! Reports of comparisons: the texts of one and of many tensors, and maps of the places that differ.

pub(crate) mod lines;
pub mod maps;
pub mod models;
pub(crate) mod report;
