//! Tensors as JSON: an object `{"dtype": …, "shape": …, "data": …}`, nested lists or a scalar. The reader also accepts
//! `{"name": …, "shape": …, "datatype": "FP32", "data": …}` of the KServe v2 protocol, and whole requests and
//! responses.
//!
//! serde_json checks the syntax and slices `data`; one pass over the slice converts the numbers, without recursion or a
//! tree.

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
