//! The functions of the front page: [`files`] reads and writes whole tensors, [`opened`] keeps a file open, [`rewrite`]
//! replaces tensors of a file, and `golden` compares tensors with golden files.

pub mod files;
#[cfg(feature = "predicates")]
pub mod golden;
pub mod opened;
pub mod rewrite;
