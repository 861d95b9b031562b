//! The fields of a TensorProto on the wire.

use std::io;

use prost::Message as _;
use prost::encoding::{WireType, decode_key, decode_varint};

use super::message::{MAX_MESSAGE, Message, field};
use crate::error::{Context, Error, Result, bail, ensure, malformed};
use crate::memory;
use crate::storage::read_at::ReadAt;

/// What a field of a TensorProto may be on the wire: alone, and packed with others of its number. `None` for fields
/// that it does not have.
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

/// The most bytes of a `Segment`: two numbers of int64.
const LONGEST_SEGMENT: u64 = 22;

/// What the fields of a file are, by place.
#[derive(Debug, Default)]
pub(super) struct Scan {
    /// Where the bytes of `raw_data` begin, and how many they are.
    pub(super) raw: Option<(u64, u64)>,
    /// Where the fields that prost is to read begin and end; neighbours are one.
    runs: Vec<(u64, u64)>,
}

impl Scan {
    pub(super) fn of(file: &dyn ReadAt) -> Result<Self> {
        let mut bytes = Cursor::new(file)?;
        ensure!(bytes.len > 0, "an empty file, expected an ONNX TensorProto");
        let mut scan = Self::default();
        let mut has_type = false;
        while bytes.at < bytes.len {
            let begin = bytes.at;
            let (number, wire) = bytes.key().with_context(|| not_a_tensor(begin))?;
            let known = wire_types(number);
            if known.is_some_and(|expected| !expected.contains(&wire)) {
                bail!("{}: field {number} cannot be {wire:?}", not_a_tensor(begin));
            }
            let length = bytes.length(wire).with_context(|| not_a_tensor(begin))?;
            let start = bytes.at;
            let end = start.checked_add(length).filter(|end| *end <= bytes.len);
            bytes.at = end.ok_or_else(|| {
                let rest = bytes.len - start;
                malformed!("field {number} at byte {begin} has {length} bytes, and {rest} are in the file")
            })?;
            match number {
                // a message of two numbers; where a sequence has its tensors
                field::SEGMENT if length > LONGEST_SEGMENT => {
                    bail!("an ONNX sequence of tensors (a SequenceProto), expected one tensor (a TensorProto)")
                }
                field::SEGMENT => {
                    bail!("a segment of a larger tensor, expected a whole one")
                }
                field::RAW_DATA if scan.raw.is_some() => bail!("raw_data stands there twice"),
                field::RAW_DATA => scan.raw = Some((start, length)),
                field::DOC_STRING | field::METADATA_PROPS => {}
                _ if known.is_none() => {}
                _ => {
                    has_type |= number == field::DATA_TYPE;
                    match scan.runs.last_mut() {
                        Some((_, end)) if *end == begin => *end = bytes.at,
                        _ => scan.runs.push((begin, bytes.at)),
                    }
                }
            }
        }
        ensure!(has_type, "no data_type: not an ONNX TensorProto");
        Ok(scan)
    }

    /// The message without `raw_data`.
    pub(super) fn message(&self, file: &dyn ReadAt) -> Result<Message> {
        let total: u64 = self.runs.iter().map(|(begin, end)| end - begin).sum();
        ensure!(total <= MAX_MESSAGE, "{total} bytes beside raw_data, expected at most {MAX_MESSAGE}");
        let mut bytes = memory::zeros(usize::try_from(total)?).map_err(Error::memory)?;
        let mut rest = &mut bytes[..];
        for (begin, end) in &self.runs {
            let (run, others) = rest.split_at_mut((end - begin) as usize);
            file.read_at(run, *begin)?;
            rest = others;
        }
        let mut message = Message::with_capacity_for(&bytes).map_err(Error::memory)?;
        message.merge(&bytes[..]).map_err(|error| malformed!("not an ONNX TensorProto: {error}"))?;
        Ok(message)
    }
}

fn not_a_tensor(at: u64) -> String {
    format!("not an ONNX TensorProto at byte {at}")
}

/// A file that is read in steps, by position.
struct Cursor<'a> {
    file: &'a dyn ReadAt,
    len: u64,
    at: u64,
    /// The bytes of the file from `begin` on.
    buffer: Vec<u8>,
    begin: u64,
}

impl<'a> Cursor<'a> {
    const BUFFER: u64 = 1 << 16;
    /// The most bytes of a varint.
    const VARINT: u64 = 10;

    fn new(file: &'a dyn ReadAt) -> io::Result<Self> {
        Ok(Self { file, len: file.size()?, at: 0, buffer: Vec::new(), begin: 0 })
    }

    /// The next bytes: as many as a varint can have, or as there are.
    fn peek(&mut self) -> io::Result<&[u8]> {
        let end = self.begin + self.buffer.len() as u64;
        if self.at < self.begin || self.len.min(self.at + Self::VARINT) > end {
            // a place far from the last one is likely to be followed by another
            let most = if self.at > end || self.begin == end { 1 << 12 } else { Self::BUFFER };
            self.buffer.resize((self.len - self.at).min(most) as usize, 0);
            self.file.read_at(&mut self.buffer, self.at)?;
            self.begin = self.at;
        }
        Ok(self.buffer.get((self.at - self.begin) as usize..).unwrap_or_default())
    }

    fn key(&mut self) -> Result<(u32, WireType)> {
        let mut bytes = self.peek()?;
        let before = bytes.len();
        let key = decode_key(&mut bytes)?;
        let read = (before - bytes.len()) as u64;
        self.at += read;
        Ok(key)
    }

    fn varint(&mut self) -> Result<u64> {
        let mut bytes = self.peek()?;
        let before = bytes.len();
        let number = decode_varint(&mut bytes)?;
        let read = (before - bytes.len()) as u64;
        self.at += read;
        Ok(number)
    }

    /// The bytes of the field whose key has been read, from the place that is now reached.
    fn length(&mut self, wire: WireType) -> Result<u64> {
        Ok(match wire {
            WireType::Varint => {
                let begin = self.at;
                self.varint()?;
                // the number itself is prost's to read: only its bytes are passed
                let length = self.at - begin;
                self.at = begin;
                length
            }
            WireType::SixtyFourBit => 8,
            WireType::ThirtyTwoBit => 4,
            WireType::LengthDelimited => self.varint()?,
            WireType::StartGroup | WireType::EndGroup => bail!("groups are not read"),
        })
    }
}
