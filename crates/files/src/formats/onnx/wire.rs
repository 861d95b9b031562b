//! Protobuf fields in wire format. Values are decoded on demand, so that a message takes no more memory than its bytes.

use std::fmt::{self, Display, Formatter};
use std::ops::Range;

use prost::DecodeError;
use prost::encoding::{WireType, decode_key, decode_varint};

use crate::storage::read_at::ReadAt;
use tensorop_kernels::error::{Error, Result, ensure, malformed};
use tensorop_kernels::memory;

pub(crate) const MAX_BEFORE: usize = 2 * VARINT;
const VARINT: usize = 10;

pub(crate) mod field {
    pub(crate) const DIMS: u32 = 1;
    pub(crate) const DATA_TYPE: u32 = 2;
    pub(crate) const SEGMENT: u32 = 3;
    pub(crate) const FLOAT_DATA: u32 = 4;
    pub(crate) const INT32_DATA: u32 = 5;
    pub(crate) const STRING_DATA: u32 = 6;
    pub(crate) const INT64_DATA: u32 = 7;
    pub(crate) const NAME: u32 = 8;
    pub(crate) const RAW_DATA: u32 = 9;
    pub(crate) const DOUBLE_DATA: u32 = 10;
    pub(crate) const UINT64_DATA: u32 = 11;
    pub(crate) const DOC_STRING: u32 = 12;
    pub(crate) const EXTERNAL_DATA: u32 = 13;
    pub(crate) const DATA_LOCATION: u32 = 14;
    pub(crate) const METADATA_PROPS: u32 = 16;
}

/// The value may extend beyond the available bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WireField {
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
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, WireError> {
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
    pub(crate) fn is_cut(bytes: &[u8]) -> bool {
        let mut rest = bytes;
        // TensorProto's keys have at most two bytes
        bytes.len() == 1 || decode_key(&mut rest).is_ok() && rest.len() < VARINT
    }

    /// `None` if the value is truncated.
    #[inline]
    pub(crate) fn split(self, bytes: &[u8]) -> Option<(&[u8], &[u8])> {
        bytes.get(self.before..)?.split_at_checked(usize::try_from(self.length).ok()?)
    }

    /// `None` for unknown fields; numbers may be packed.
    pub(crate) fn fits(self) -> Option<bool> {
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
    pub(crate) fn items(self, value: &[u8]) -> Result<usize> {
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
pub(crate) struct Fields<'a>(pub(crate) &'a [u8]);

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
pub(crate) fn last_of(message: &[u8], number: u32) -> Option<(WireField, &[u8])> {
    Fields(message).filter(|(found, _)| found.number == number).last()
}

pub(crate) struct Varints<'a>(pub(crate) &'a [u8]);

impl Iterator for Varints<'_> {
    type Item = Result<u64, WireError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() { None } else { Some(decode_varint(&mut self.0).map_err(WireError)) }
    }
}

/// Why a message cannot be decoded.
#[derive(Debug)]
pub(crate) struct WireError(DecodeError);

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

#[derive(Debug)]
pub(crate) struct FileWindow<'a> {
    file: &'a dyn ReadAt,
    /// Where the file, or the message, ends.
    pub(crate) end: u64,
    buffer: Vec<u8>,
    begin: u64,
    /// The bytes of the next read, which double while reads are consecutive.
    length: u64,
}

/// A field in the file.
#[derive(Clone, Debug)]
pub(crate) struct PlacedField {
    pub(crate) number: u32,
    pub(crate) wire: WireType,
    /// 0 for other types.
    pub(crate) varint: u64,
    pub(crate) value: Range<u64>,
}

impl<'a> FileWindow<'a> {
    /// A value is likely to be skipped after the first field.
    const FIRST: u64 = 1 << 10;
    const LONGEST: u64 = 1 << 16;

    pub(crate) fn new(file: &'a dyn ReadAt, end: u64) -> Self {
        Self { file, end, buffer: Vec::new(), begin: 0, length: Self::FIRST }
    }

    /// Returns the bytes from `at` on, which hold at least a key and a length, or all that remain.
    pub(crate) fn at(&mut self, at: u64) -> Result<&[u8]> {
        let after = self.begin + self.buffer.len() as u64;
        let is_inside = (self.begin..=after).contains(&at);
        if !is_inside || after < self.end.min(at + MAX_BEFORE as u64) {
            let is_next = is_inside && !self.buffer.is_empty() || self.file.costs_requests();
            self.length = if is_next { (self.length * 2).min(Self::LONGEST) } else { Self::FIRST };
            self.buffer.resize((self.end - at).min(self.length) as usize, 0);
            self.file.read_at(&mut self.buffer, at)?;
            self.begin = at;
        }
        Ok(&self.buffer[(at - self.begin) as usize..])
    }

    /// Takes the first field of `rest`.
    pub(crate) fn next(&mut self, rest: &mut Range<u64>) -> Result<Option<PlacedField>> {
        let begin = rest.start;
        if rest.is_empty() {
            return Ok(None);
        }
        let WireField { number, wire, before, length, varint } =
            WireField::read(self.at(begin)?).map_err(|error| malformed!("byte {begin}: {error}"))?;
        let is_group = matches!(wire, WireType::StartGroup | WireType::EndGroup);
        ensure!(!is_group, "byte {begin}: a group, expected a field of another type");
        let start = begin + before as u64;
        let left = rest.end.checked_sub(start).ok_or_else(|| malformed!("byte {begin}: a field is cut off"))?;
        ensure!(length <= left, "field {number} at byte {begin} has {length} bytes, and {left} are left");
        rest.start = start + length;
        Ok(Some(PlacedField { number, wire, varint, value: start..rest.start }))
    }

    /// Returns the bytes of a short value.
    pub(crate) fn bytes(&mut self, value: &Range<u64>, most: u64) -> Result<Vec<u8>> {
        let length = value.end - value.start;
        ensure!(length <= most, "{length} bytes at byte {}, expected at most {most}", value.start);
        let mut bytes = memory::zeros(length as usize)?;
        let held = value.start.checked_sub(self.begin).and_then(|at| self.buffer.get(at as usize..));
        match held.and_then(|held| held.get(..bytes.len())) {
            Some(held) => bytes.copy_from_slice(held),
            None => self.file.read_at(&mut bytes, value.start)?,
        }
        Ok(bytes)
    }

    pub(crate) fn text(&mut self, value: &Range<u64>, most: u64) -> Result<String> {
        let bytes = self.bytes(value, most)?;
        String::from_utf8(bytes).map_err(|error| malformed!("the text at byte {}: {error}", value.start))
    }
}
