//! The operators. Each is resolved first, which does every check, and then applied window by window, which cannot fail but
//! for reading. No operator knows a format: it is given shapes, numbers and sources of items.

pub mod access;
pub mod arranged;
mod arrays;
pub mod basic_index;
pub mod broadcast;
pub mod call;
pub mod cast;
pub mod concat;
pub mod condition;
pub mod converted;
pub mod copy;
pub mod fill;
pub mod gather;
pub mod gather_elements;
pub mod gather_nd;
pub mod indexed;
pub mod machine;
pub mod matcher;
pub mod pad;
pub mod reduction;
pub mod replace;
pub mod reshape;
pub mod roll;
pub mod scatter_elements;
pub mod scatter_nd;
pub mod scatter_update;
pub mod selection;
pub mod slice;
pub mod slice_scatter;
pub mod split;
pub mod tally;
pub mod tile;
pub mod transpose;
