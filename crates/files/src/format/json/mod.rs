//! Tensors as JSON: an object `{"dtype": …, "shape": …, "data": …}`, nested lists or a scalar. The reader also accepts
//! KServe v2 objects `{"name": …, "shape": …, "datatype": "FP32", "data": …}`, requests and responses.
//!
//! serde_json checks the syntax; one pass then converts the numbers of `data`, without recursion or a tree.

mod body;
mod read;
#[cfg(test)]
mod tests;
mod write;

pub use self::read::open;
pub(super) use self::read::sure;
pub(super) use self::read::{open_file, open_text};
pub(super) use self::write::JsonWriter;
pub use self::write::{check, write};
