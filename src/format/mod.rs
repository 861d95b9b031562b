//! File formats, one a file: read and written. None of them knows an operator.

pub mod json;
pub mod npy;
pub mod text;
