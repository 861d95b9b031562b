//! The interface between the formats and what is above them: a `Reader` and a `Writer` for each, descriptions and options;
//! and the names of tensors, with patterns, filters and orders.

pub mod chunk_sides;
pub mod content;
pub mod file_options;
pub(crate) mod foreign;
pub mod glob;
pub mod interface;
pub(crate) mod member_list;
pub mod names;
