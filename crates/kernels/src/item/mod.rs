//! Items: dtypes, values, texts, casts, and tensors.

pub mod cast;
pub mod datetime;
pub mod dtype;
pub mod element;
pub mod encoding;
pub mod exact;
pub mod first;
pub mod float16;
pub mod load;
pub mod meta;
mod names;
mod narrow;
pub mod parse;
pub mod print;
pub mod python;
pub mod tensor;
