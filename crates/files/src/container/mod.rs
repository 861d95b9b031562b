//! The interface of formats: the traits `Reader` and `Writer`, descriptions of tensors, and options of outputs. Names of
//! tensors have patterns, filters and an order.

pub mod chunk_sides;
pub mod content;
pub mod file_options;
pub(crate) mod foreign;
pub mod glob;
pub mod interface;
pub(crate) mod member_list;
pub mod names;
