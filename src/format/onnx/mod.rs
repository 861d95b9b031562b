//! ONNX TensorProto, `.pb`: dims, a data type, and items in `raw_data` (little-endian, C order), in typed fields, or in
//! another file.
//!
//! Fields are located by position, and `raw_data` is not read. The other values are decoded from wire format on demand,
//! with prost's varints.

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
