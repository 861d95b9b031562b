//! Protobuf on the wire: the one walk over the fields of a message, which the four readers of TensorProto share.
//!
//! - `look` asks whether the first bytes of a file can be a TensorProto.
//! - `scan` finds the fields of a file by position, so that `raw_data` is left where it is.
//! - `message` counts items, so that there is memory for all of them before prost decodes any.
//! - [`foreign`](crate::format::foreign) knows an ONNX model by its fields.

use prost::encoding::{WireType, decode_key, decode_varint};

use crate::error::{Error, malformed};

/// The most bytes of a field before its value: a key and a length.
pub(super) const MOST_BEFORE: usize = 2 * VARINT;
/// The most bytes of a varint.
const VARINT: usize = 10;

/// The numbers of TensorProto's fields.
pub(super) mod field {
    pub(in crate::format::onnx) const DIMS: u32 = 1;
    pub(in crate::format::onnx) const DATA_TYPE: u32 = 2;
    pub(in crate::format::onnx) const SEGMENT: u32 = 3;
    pub(in crate::format::onnx) const FLOAT_DATA: u32 = 4;
    pub(in crate::format::onnx) const INT32_DATA: u32 = 5;
    pub(in crate::format::onnx) const STRING_DATA: u32 = 6;
    pub(in crate::format::onnx) const INT64_DATA: u32 = 7;
    pub(in crate::format::onnx) const NAME: u32 = 8;
    pub(in crate::format::onnx) const RAW_DATA: u32 = 9;
    pub(in crate::format::onnx) const DOUBLE_DATA: u32 = 10;
    pub(in crate::format::onnx) const UINT64_DATA: u32 = 11;
    pub(in crate::format::onnx) const DOC_STRING: u32 = 12;
    pub(in crate::format::onnx) const EXTERNAL_DATA: u32 = 13;
    pub(in crate::format::onnx) const DATA_LOCATION: u32 = 14;
    pub(in crate::format::onnx) const METADATA_PROPS: u32 = 16;
}

/// Returns what a field of a TensorProto may be on the wire: by itself, and packed with others of its number. `None` for
/// fields that it does not have.
pub(super) fn wire_types(number: u32) -> Option<&'static [WireType]> {
    use WireType::{LengthDelimited, SixtyFourBit, ThirtyTwoBit, Varint};
    Some(match number {
        field::DIMS | field::INT32_DATA | field::INT64_DATA | field::UINT64_DATA => &[Varint, LengthDelimited],
        field::FLOAT_DATA => &[ThirtyTwoBit, LengthDelimited],
        field::DOUBLE_DATA => &[SixtyFourBit, LengthDelimited],
        field::DATA_TYPE | field::DATA_LOCATION => &[Varint],
        field::SEGMENT
        | field::STRING_DATA
        | field::NAME
        | field::RAW_DATA
        | field::DOC_STRING
        | field::EXTERNAL_DATA
        | field::METADATA_PROPS => &[LengthDelimited],
        _ => return None,
    })
}

/// A field of a message, whose value may go on beyond the bytes that are at hand.
#[derive(Clone, Copy, Debug)]
pub(in crate::format) struct WireField {
    pub number: u32,
    pub wire: WireType,
    /// Bytes before the value: the key, and the length of a value that has any.
    pub before: usize,
    /// Bytes of the value.
    pub length: u64,
    /// The value of a varint; 0 for other types.
    pub varint: u64,
}

/// Why the bytes at hand do not begin with a field.
#[derive(Debug)]
pub(in crate::format) struct NoField {
    /// The number and the type, if the key could be read.
    pub key: Option<(u32, WireType)>,
    /// Whether the field may be whole in a file that goes on after these bytes.
    pub is_cut: bool,
    pub why: Error,
}

impl WireField {
    /// Reads the field that `bytes` begin with.
    ///
    /// # Errors
    /// There is no key, no length, or no end of a varint; a group, which TensorProto does not have.
    pub(in crate::format) fn read(bytes: &[u8]) -> Result<Self, NoField> {
        let mut rest = bytes;
        // a key of two bytes may be cut; the fields of a TensorProto have no longer one
        let (number, wire) = decode_key(&mut rest).map_err(|error| NoField {
            key: None,
            is_cut: bytes.len() == 1,
            why: error.into(),
        })?;
        let left = rest.len();
        let after_key = bytes.len() - left;
        let read = match wire {
            WireType::Varint => decode_varint(&mut rest).map(|varint| (after_key, (left - rest.len()) as u64, varint)),
            WireType::LengthDelimited => decode_varint(&mut rest).map(|length| (bytes.len() - rest.len(), length, 0)),
            WireType::ThirtyTwoBit => Ok((after_key, 4, 0)),
            WireType::SixtyFourBit => Ok((after_key, 8, 0)),
            WireType::StartGroup | WireType::EndGroup => {
                let key = Some((number, wire));
                return Err(NoField { key, is_cut: false, why: malformed!("groups are not read") });
            }
        };
        let (before, length, varint) =
            read.map_err(|error| NoField { key: Some((number, wire)), is_cut: left < VARINT, why: error.into() })?;
        Ok(Self { number, wire, before, length, varint })
    }

    /// Returns the value and what comes after it; `None` if it goes on beyond `bytes`, which the field was read from.
    pub(in crate::format) fn split(self, bytes: &[u8]) -> Option<(&[u8], &[u8])> {
        bytes.get(self.before..)?.split_at_checked(usize::try_from(self.length).ok()?)
    }
}

/// What the decoder of protobuf messages refuses.
impl From<prost::DecodeError> for Error {
    fn from(error: prost::DecodeError) -> Self {
        Self::of(crate::error::ErrorKind::Malformed, error.to_string())
    }
}
