//! Operators, a file for each: checks, and the function on arrays. Others are made of Slice and SliceScatter, which are in
//! the folder above.

pub mod arranged;
pub mod broadcast;
pub mod concat;
pub(crate) mod gather;
pub(crate) mod gather_elements;
pub(crate) mod gather_nd;
pub mod pad;
pub mod reshape;
pub(crate) mod roll;
pub mod scatter_elements;
pub mod scatter_nd;
pub mod scatter_update;
pub mod split;
pub(crate) mod tile;
pub mod transpose;
