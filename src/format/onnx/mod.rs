//! ONNX TensorProto, `.pb`: items are in `raw_data` (little-endian, C order), in typed fields, or in another file.
//!
//! `raw_data` is only located. Other values are decoded from wire format on demand.

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
