//! The operators: a file for each, and [`operation`], which runs them.

pub(crate) mod broadcast;
pub(crate) mod concat;
pub(crate) mod indexed;
pub(crate) mod operation;
pub(crate) mod pad;
pub(crate) mod reshape;
pub(crate) mod roll;
pub(crate) mod slice;
pub(crate) mod slice_scatter;
pub(crate) mod split;
pub(crate) mod tile;
pub(crate) mod transpose;
