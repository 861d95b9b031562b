//! Tensors as JSON: an object `{"dtype": …, "shape": …, "data": …}`, or plain nested lists or a scalar. Read is also
//! the object of the KServe v2 protocol, `{"name": …, "shape": …, "datatype": "FP32", "data": …}`, and a whole request or response of
//! these.
//!
//! serde_json checks the syntax once and gives `data` as a slice of the text. One walk over this text, which is valid
//! JSON now, turns each number into an item as it passes, without recursion and without a tree.

mod body;
mod file;
mod read;
#[cfg(test)]
mod tests;
mod write;

pub(super) use self::file::{open_file, open_text};
pub use self::read::open;
pub(super) use self::read::sure;
pub(super) use self::write::JsonWriter;
pub use self::write::{check, write};
