//! ONNX TensorProto, `.pb`: a protobuf message with dims, the number of a data type and the items, which are in one of
//! the fields `raw_data` (little-endian, in C order), `float_data`, `int32_data` and others, or in another file.
//!
//! The fields of a file are found by position, and `raw_data` stays where it is. The values of the others are decoded from the
//! message in memory whenever they are asked for, by what prost has to read varints.

mod external;
mod look;
mod message;
pub mod model;
mod model_fields;
pub mod model_write;
mod proto;
mod table;
#[cfg(test)]
mod tests;
mod typed;
mod types;
pub(super) mod wire;
mod write;

pub use self::look::looks_like_onnx;
pub(super) use self::look::sure;
pub use self::proto::Proto;
pub(super) use self::table::{OnnxWriter, open};
pub use self::write::{check, write_header, write_strings};
