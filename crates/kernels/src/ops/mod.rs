//! The operators: resolved with every check, then applied window by window.

mod arrays;
pub mod basic_index;
pub mod call;
pub mod condition;
pub mod indexed;
mod kernels;
pub mod matcher;
pub mod operators;
pub mod reduction;
pub(crate) mod replace;
pub(crate) mod runtime;
pub mod slice;
mod slice_info;
pub mod slice_scatter;
pub mod tally;
