//! Protobuf fields in wire format. Values are decoded on demand, so that a message takes no more memory than its bytes.

use std::fmt::{self, Display, Formatter};

use prost::DecodeError;
use prost::encoding::{WireType, decode_key, decode_varint};

use crate::error::{Error, Result, ensure, malformed};

pub(super) const MAX_BEFORE: usize = 2 * VARINT;
const VARINT: usize = 10;

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

/// The value may extend beyond the available bytes.
#[derive(Clone, Copy, Debug)]
pub(in crate::format) struct WireField {
    pub number: u32,
    pub wire: WireType,
    /// The length of key and length.
    pub before: usize,
    /// 0 for the ends of a group, which ONNX does not use.
    pub length: u64,
    /// 0 for other types.
    pub varint: u64,
}

impl WireField {
    #[inline]
    pub(in crate::format) fn read(bytes: &[u8]) -> Result<Self, WireError> {
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

    /// Whether `bytes`, which [`read`](Self::read) refuses, may be truncated.
    pub(super) fn is_cut(bytes: &[u8]) -> bool {
        let mut rest = bytes;
        // TensorProto's keys have at most two bytes
        bytes.len() == 1 || decode_key(&mut rest).is_ok() && rest.len() < VARINT
    }

    /// `None` if the value is truncated.
    #[inline]
    pub(in crate::format) fn split(self, bytes: &[u8]) -> Option<(&[u8], &[u8])> {
        bytes.get(self.before..)?.split_at_checked(usize::try_from(self.length).ok()?)
    }

    /// `None` for unknown fields; numbers may be packed.
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

    /// Varints are counted by their last bytes, and checked when they are decoded.
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

/// Stops before an incomplete field, which remains.
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

/// The last of repeated fields of a message counts.
pub(super) fn last_of(message: &[u8], number: u32) -> Option<(WireField, &[u8])> {
    Fields(message).filter(|(found, _)| found.number == number).last()
}

pub(super) struct Varints<'a>(pub(super) &'a [u8]);

impl Iterator for Varints<'_> {
    type Item = Result<u64, WireError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() { None } else { Some(decode_varint(&mut self.0).map_err(WireError)) }
    }
}

/// Why a message cannot be decoded.
#[derive(Debug)]
pub(in crate::format) struct WireError(DecodeError);

impl From<DecodeError> for WireError {
    fn from(error: DecodeError) -> Self {
        Self(error)
    }
}

impl Display for WireError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl From<WireError> for Error {
    fn from(error: WireError) -> Self {
        malformed!("{error}")
    }
}
