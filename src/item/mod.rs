//! Items: dtypes, values, texts, casts, and tensors.

#[cfg(feature = "files")]
mod asked_names;
pub mod cast;
pub mod datetime;
pub mod dtype;
pub mod element;
pub(crate) mod encoding;
#[cfg(feature = "files")]
pub(crate) mod exact;
#[cfg(feature = "files")]
pub(crate) mod first;
pub(crate) mod float16;
#[cfg(feature = "files")]
pub(crate) mod load;
pub mod meta;
mod names;
pub mod narrow;
pub mod parse;
pub mod print;
pub mod python;
pub mod tensor;
pub mod time_unit;
