//! Tensors as JSON: an object `{"dtype": …, "shape": …, "data": …}`, or plain nested lists or a scalar. Read is also
//! the object of the KServe v2 protocol, `{"name": …, "shape": …, "datatype": "FP32", "data": …}`.
//!
//! serde_json checks the syntax once and gives `data` as a slice of the text. One walk over this text, which is valid
//! JSON now, turns each number into an item as it passes, without recursion and without a tree.

mod read;
#[cfg(test)]
mod tests;
mod write;

pub use self::read::open;
pub(super) use self::read::{JsonReader, open_file, sure};
pub(super) use self::write::JsonWriter;
pub use self::write::{check, write};
