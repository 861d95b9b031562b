//! ONNX TensorProto, `.pb`: items are in `raw_data` (little-endian, C order), in typed fields, or in another file.
//!
//! `raw_data` is only located. Other values are decoded from wire format on demand. `container` and the files that it
//! uses read ModelProtos, `.onnx`, as containers; [`model`] reads the models of tests.

pub(crate) mod container;
#[cfg(test)]
mod container_tests;
mod external;
mod facts;
mod members;
mod message;
pub mod model;
pub mod model_write;
mod proto;
mod quantized;
mod table;
#[cfg(test)]
mod tests;
mod types;
mod wire;

pub use self::proto::Proto;
pub(crate) use self::table::{OnnxWriter, open, sure};
pub use self::table::{check, looks_like_onnx, write_header, write_strings};
