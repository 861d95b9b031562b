//! Protobuf on the wire: the walk over the fields of a message, which all that reads a TensorProto shares.
//!
//! - `look` asks whether the first bytes of a file can be a TensorProto.
//! - `message` finds the fields of a file by position, so that `raw_data` is left where it is, and walks over the others in
//!   memory whenever it is asked for their values. So a message takes no more memory than it has bytes.
//! - [`foreign`](crate::format::foreign) knows an ONNX model by its fields.

use prost::DecodeError;
use prost::encoding::{WireType, decode_key, decode_varint};

use crate::error::{Error, Result, ensure, malformed};

/// The most bytes of a field before its value: a key and a length.
pub(super) const MAX_BEFORE: usize = 2 * VARINT;
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

/// A field of a message, whose value may go on beyond the bytes that are at hand.
#[derive(Clone, Copy, Debug)]
pub(in crate::format) struct WireField {
    pub number: u32,
    pub wire: WireType,
    /// Bytes before the value: the key, and the length of a value that has any.
    pub before: usize,
    /// Bytes of the value. A group, which no message of ONNX has, begins and ends with a field without a value.
    pub length: u64,
    /// The value of a varint; 0 for other types.
    pub varint: u64,
}

impl WireField {
    /// Reads the field that `bytes` begin with.
    ///
    /// # Errors
    /// There is no key, no length, or no end of a varint.
    #[inline]
    pub(in crate::format) fn read(bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut rest = bytes;
        let (number, wire) = decode_key(&mut rest)?;
        let after_key = bytes.len() - rest.len();
        let mut field = Self { number, wire, before: after_key, length: 0, varint: 0 };
        match wire {
            WireType::Varint | WireType::LengthDelimited => {
                let varint = decode_varint(&mut rest)?;
                let end = bytes.len() - rest.len();
                if wire == WireType::Varint {
                    (field.length, field.varint) = ((end - after_key) as u64, varint);
                } else {
                    (field.before, field.length) = (end, varint);
                }
            }
            WireType::ThirtyTwoBit => field.length = 4,
            WireType::SixtyFourBit => field.length = 8,
            WireType::StartGroup | WireType::EndGroup => {}
        }
        Ok(field)
    }

    /// Returns whether `bytes`, which [`read`](Self::read) refuses, may begin with a field that goes on after them.
    pub(super) fn is_cut(bytes: &[u8]) -> bool {
        let mut rest = bytes;
        // a key of two bytes may be cut; the fields of a TensorProto have no longer one
        bytes.len() == 1 || decode_key(&mut rest).is_ok() && rest.len() < VARINT
    }

    /// Returns the value and what comes after it; `None` if it goes on beyond `bytes`, which the field was read from.
    #[inline]
    pub(in crate::format) fn split(self, bytes: &[u8]) -> Option<(&[u8], &[u8])> {
        bytes.get(self.before..)?.split_at_checked(usize::try_from(self.length).ok()?)
    }

    /// Returns whether a TensorProto's field of this number can be of this type: that of a number by itself, or that of
    /// numbers packed and of all else. `None` if a TensorProto has no such field.
    pub(super) fn fits(self) -> Option<bool> {
        use WireType::{LengthDelimited, SixtyFourBit, ThirtyTwoBit, Varint};
        let expected: &[WireType] = match self.number {
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
        };
        Some(expected.contains(&self.wire))
    }

    /// Returns how many items the field has whose value is `value`: of a field of numbers one or, if they are packed, as
    /// many as fill it, and of any other field one. Varints are counted by their last bytes; whether each is one of 64 bits
    /// shows when it is decoded.
    ///
    /// # Errors
    /// The value is cut off in the middle of a number.
    pub(super) fn items(self, value: &[u8]) -> Result<usize> {
        let fixed = match self.number {
            field::FLOAT_DATA => size_of::<f32>(),
            field::DOUBLE_DATA => size_of::<f64>(),
            field::DIMS | field::INT32_DATA | field::INT64_DATA | field::UINT64_DATA => {
                let is_last = |byte: &u8| *byte < 0x80;
                ensure!(value.last().is_none_or(is_last), "a varint is cut off");
                return Ok(value.iter().filter(|byte| is_last(byte)).count());
            }
            _ => return Ok(1),
        };
        ensure!(value.len().is_multiple_of(fixed), "{} bytes of numbers of {fixed} bytes", value.len());
        Ok(value.len() / fixed)
    }
}

/// Walks over the fields of a message, with the value of each. It ends before what is no whole field, which is then left.
#[derive(Clone, Debug)]
pub(in crate::format) struct Fields<'a>(pub(in crate::format) &'a [u8]);

impl<'a> Iterator for Fields<'a> {
    type Item = (WireField, &'a [u8]);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let field = WireField::read(self.0).ok()?;
        let (value, rest) = field.split(self.0)?;
        self.0 = rest;
        Some((field, value))
    }
}

/// Decodes varints that follow one another.
pub(super) struct Varints<'a>(pub(super) &'a [u8]);

impl Iterator for Varints<'_> {
    type Item = Result<u64, DecodeError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() { None } else { Some(decode_varint(&mut self.0)) }
    }
}

/// What the decoder of protobuf refuses.
impl From<DecodeError> for Error {
    fn from(error: DecodeError) -> Self {
        malformed!("{error}")
    }
}
