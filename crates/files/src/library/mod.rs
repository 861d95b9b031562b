//! The functions of the front page: [`files`] reads and writes whole tensors, [`opened`] keeps a file open, and [`rewrite`]
//! replaces tensors of a file.

pub mod files;
pub mod opened;
pub mod rewrite;
