//! ONNX TensorProto, `.pb`: a protobuf message with dims, the number of a data type and the items, in one of the
//! fields `raw_data` (little-endian, in C order), `float_data`, `int32_data` and others, or in another file.
//!
//! The fields of a file are passed by position, and `raw_data` is left where it is; prost reads all others.

mod external;
mod look;
mod table;
#[cfg(test)]
mod tests;
mod typed;
mod write;

use std::io;
use std::path::Path;
use std::sync::Arc;

use crate::error::{Context, Error, Result, bail, ensure, malformed};
use prost::Message as _;
use prost::encoding::{WireType, decode_key, decode_varint};

use self::external::Elsewhere;
pub use self::look::looks_like_onnx;
pub(super) use self::table::{OnnxWriter, open, sure};
pub use self::write::{check, write_header, write_strings};
use super::packed::{Unpack, bits, bytes_of_items};
use crate::item::dtype::{DType, Kind, Narrow};
use crate::item::meta::Meta;
use crate::item::tensor::Tensor;
use crate::layout::shape::{MAX_RANK, bytes_of};
use crate::memory;
use crate::storage::read_at::{ReadAt, Section};
use crate::storage::source::{Source, wrong_length};

/// The most bytes of a protobuf message.
const MAX_MESSAGE: u64 = i32::MAX as u64;

/// The numbers of TensorProto's fields.
mod field {
    pub(super) const DIMS: u32 = 1;
    pub(super) const DATA_TYPE: u32 = 2;
    pub(super) const SEGMENT: u32 = 3;
    pub(super) const FLOAT_DATA: u32 = 4;
    pub(super) const INT32_DATA: u32 = 5;
    pub(super) const STRING_DATA: u32 = 6;
    pub(super) const INT64_DATA: u32 = 7;
    pub(super) const NAME: u32 = 8;
    pub(super) const RAW_DATA: u32 = 9;
    pub(super) const DOUBLE_DATA: u32 = 10;
    pub(super) const UINT64_DATA: u32 = 11;
    pub(super) const DOC_STRING: u32 = 12;
    pub(super) const EXTERNAL_DATA: u32 = 13;
    pub(super) const DATA_LOCATION: u32 = 14;
    pub(super) const METADATA_PROPS: u32 = 16;
}

/// What a field of a TensorProto may be on the wire: alone, and packed with others of its number. `None` for fields
/// that it does not have.
fn wire_types(number: u32) -> Option<&'static [WireType]> {
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

/// The fields of a TensorProto but for `raw_data`, and for those that say nothing about the items.
#[derive(Clone, PartialEq, prost::Message)]
struct Message {
    #[prost(int64, repeated, tag = "1")]
    dims: Vec<i64>,
    #[prost(int32, optional, tag = "2")]
    data_type: Option<i32>,
    #[prost(float, repeated, tag = "4")]
    float_data: Vec<f32>,
    #[prost(int32, repeated, tag = "5")]
    int32_data: Vec<i32>,
    #[prost(bytes = "vec", repeated, tag = "6")]
    string_data: Vec<Vec<u8>>,
    #[prost(int64, repeated, tag = "7")]
    int64_data: Vec<i64>,
    #[prost(string, tag = "8")]
    name: String,
    #[prost(double, repeated, tag = "10")]
    double_data: Vec<f64>,
    #[prost(uint64, repeated, tag = "11")]
    uint64_data: Vec<u64>,
    #[prost(message, repeated, tag = "13")]
    external_data: Vec<Entry>,
    #[prost(int32, optional, tag = "14")]
    data_location: Option<i32>,
}

/// A key and its value.
#[derive(Clone, PartialEq, prost::Message)]
struct Entry {
    #[prost(string, tag = "1")]
    key: String,
    #[prost(string, tag = "2")]
    value: String,
}

/// `data_location` of items in the message, and in another file.
const DEFAULT: i32 = 0;
const EXTERNAL: i32 = 1;

/// The number of ONNX's strings, which are a [`Kind::Str`] or [`Kind::Bytes`] of any width.
const STRING: i32 = 8;

/// The data types but for strings: number and ONNX's name.
const DATA_TYPES: &[(i32, &str, Kind)] = &[
    (1, "FLOAT", Kind::Float32),
    (2, "UINT8", Kind::UInt8),
    (3, "INT8", Kind::Int8),
    (4, "UINT16", Kind::UInt16),
    (5, "INT16", Kind::Int16),
    (6, "INT32", Kind::Int32),
    (7, "INT64", Kind::Int64),
    (9, "BOOL", Kind::Bool),
    (10, "FLOAT16", Kind::Float16),
    (11, "DOUBLE", Kind::Float64),
    (12, "UINT32", Kind::UInt32),
    (13, "UINT64", Kind::UInt64),
    (14, "COMPLEX64", Kind::Complex64),
    (15, "COMPLEX128", Kind::Complex128),
    (16, "BFLOAT16", Kind::BFloat16),
    (17, "FLOAT8E4M3FN", Kind::Narrow(Narrow::Float8E4M3FN)),
    (18, "FLOAT8E4M3FNUZ", Kind::Narrow(Narrow::Float8E4M3FNUZ)),
    (19, "FLOAT8E5M2", Kind::Narrow(Narrow::Float8E5M2)),
    (20, "FLOAT8E5M2FNUZ", Kind::Narrow(Narrow::Float8E5M2FNUZ)),
    (21, "UINT4", Kind::Narrow(Narrow::UInt4)),
    (22, "INT4", Kind::Narrow(Narrow::Int4)),
    (23, "FLOAT4E2M1", Kind::Narrow(Narrow::Float4E2M1FN)),
    (24, "FLOAT8E8M0", Kind::Narrow(Narrow::Float8E8M0FNU)),
    (25, "UINT2", Kind::Narrow(Narrow::UInt2)),
    (26, "INT2", Kind::Narrow(Narrow::Int2)),
    (27, "FLOAT6E2M3", Kind::Narrow(Narrow::Float6E2M3FN)),
    (28, "FLOAT6E3M2", Kind::Narrow(Narrow::Float6E3M2FN)),
];

/// The number of the data type that items of a dtype have in ONNX.
fn data_type(dtype: &DType) -> Option<i32> {
    if matches!(dtype.kind(), Kind::Str(_) | Kind::Bytes(_)) {
        return Some(STRING);
    }
    DATA_TYPES.iter().find(|(.., known)| known == dtype.kind()).map(|(number, ..)| *number)
}

/// A TensorProto in a file.
#[derive(Clone, Debug)]
pub struct Proto {
    /// Its name, which may be empty.
    pub name: String,
    /// The tensor: items are little-endian, strings as wide as the longest.
    pub meta: Meta,
    /// Where its items begin in the file, if they stand there as they are: in `raw_data`.
    pub offset: Option<u64>,
    /// The bytes that its items take in `raw_data` or the other file, or of typed fields those that they take in
    /// memory.
    pub bytes: u64,
    /// Whether items share bytes in `raw_data` or the other file.
    pub packed: bool,
    items: Items,
}

/// Where the items are.
#[derive(Clone, Debug)]
enum Items {
    /// In `raw_data`, from that byte of the file on.
    Raw(u64),
    /// In a typed field, and now here.
    Typed(Vec<u8>),
    /// In another file.
    External(Elsewhere),
}

/// The most bytes of a `Segment`: two numbers of int64.
const LONGEST_SEGMENT: u64 = 22;

impl Proto {
    /// Reads the whole message but for `raw_data`, which is passed. The file's own position is neither used nor
    /// moved.
    ///
    /// # Errors
    /// What is no protobuf message, or one of another kind than TensorProto; a data type that is unknown; dims that
    /// are negative, too many or too large; items in two fields, in another than the data type's, or other than the
    /// dims need; items that the data type cannot hold; one of several segments of a tensor; of reading.
    pub fn read(file: &dyn ReadAt) -> Result<Self> {
        let scan = Scan::of(file)?;
        let message = scan.message(file)?;
        let number = message.data_type.unwrap_or_default();
        let shape = shape(&message.dims)?;
        if number == STRING {
            return Self::strings(message, shape, scan.raw.is_some());
        }
        let found = DATA_TYPES.iter().find(|(known, ..)| *known == number);
        let Some((_, type_name, kind)) = found else {
            let undefined = if number == 0 { " (UNDEFINED)" } else { "" };
            bail!("data_type {number}{undefined}, expected one of ONNX's, 1 to {}", DATA_TYPES.len() + 1);
        };
        let dtype = DType::from(kind.clone());
        let whole = bytes_of(&shape, dtype.itemsize()).ok_or_else(|| too_large(&shape))?;
        let stored = bytes_of_items(&dtype, whole / dtype.itemsize().max(1));
        let typed = message.filled();
        let external = message.external()?;
        let mut bytes = stored;
        let items = match (scan.raw, typed.first(), external) {
            (Some(_), None, Some(_)) => bail!("raw_data, and external data as well"),
            (Some(_), Some(typed), _) => bail!("raw_data, and {typed} as well"),
            (None, Some(typed), Some(_)) => bail!("{typed}, and external data as well"),
            (None, None, Some(elsewhere)) => Items::External(elsewhere),
            (Some((at, length)), None, None) => {
                ensure!(length == stored, "{}", wrong_length(length, stored, &Meta::new(dtype.clone(), shape.clone())));
                Items::Raw(at)
            }
            (None, _, None) => {
                bytes = whole as u64;
                Items::Typed(message.typed_items(type_name, &dtype, &shape)?)
            }
        };
        let offset = if let Items::Raw(at) = items { Some(at) } else { None };
        let packed = bits(&dtype) < 8;
        Ok(Self { name: message.name, meta: Meta::new(dtype, shape), offset, bytes, packed, items })
    }

    fn strings(message: Message, shape: Vec<usize>, raw: bool) -> Result<Self> {
        ensure!(!raw, "raw_data, expected string_data for STRING");
        ensure!(message.external()?.is_none(), "external data, expected string_data for STRING");
        let (dtype, items) = message.string_items(&shape)?;
        let bytes = items.len() as u64;
        let items = Items::Typed(items);
        Ok(Self { name: message.name, meta: Meta::new(dtype, shape), offset: None, bytes, packed: false, items })
    }

    /// The items: in `file`, which is the one that was read; in memory; or in another file of `folder`, the one that
    /// `file` lies in, if that is known. Items that share bytes come as a stream. `label` is what messages call it.
    ///
    /// # Errors
    /// Of items in another file: the folder is not known, the location is not the plain name of a regular file in it,
    /// or that file has not the bytes that the dims need (its checksum is not looked at); of opening.
    pub fn source(&self, file: &Arc<dyn ReadAt>, folder: Option<&Path>, label: String) -> Result<Source> {
        match &self.items {
            Items::Typed(items) => {
                let mut copy = memory::of(items.len()).map_err(Error::memory)?;
                copy.extend_from_slice(items);
                let tensor = Tensor::new(self.meta.dtype.clone(), self.meta.shape.clone(), copy);
                Ok(Source::memory(tensor.context("other bytes than the dims need")?, label))
            }
            Items::Raw(at) => self.stored(file, *at, label),
            Items::External(elsewhere) => {
                let (file, at) = elsewhere.open(folder, self)?;
                self.stored(&(Arc::new(file) as Arc<dyn ReadAt>), at, label)
            }
        }
    }

    /// Items from byte `at` of a file on.
    fn stored(&self, file: &Arc<dyn ReadAt>, at: u64, label: String) -> Result<Source> {
        let meta = self.meta.clone();
        if !self.packed {
            return Source::stored(meta, Arc::clone(file), at, label);
        }
        let items = meta.items() as u64;
        let reader = Unpack::new(Section::new(Arc::clone(file), at, self.bytes), bits(&meta.dtype), items);
        Ok(Source::stream(meta, Box::new(reader), items, label))
    }
}

/// What the decoder of protobuf messages refuses.
impl From<prost::DecodeError> for Error {
    fn from(error: prost::DecodeError) -> Self {
        Self::of(crate::error::ErrorKind::Malformed, error.to_string())
    }
}

/// The dims of a tensor that memory has room for.
fn shape(dims: &[i64]) -> Result<Vec<usize>> {
    ensure!(dims.len() <= MAX_RANK, "{} dims, expected at most {MAX_RANK}", dims.len());
    if let Some(at) = dims.iter().position(|dim| *dim < 0) {
        bail!("dims {dims:?}: dim {at} is negative");
    }
    let shape: Option<Vec<usize>> = dims.iter().map(|dim| usize::try_from(*dim).ok()).collect();
    let shape = shape.filter(|shape| bytes_of(shape, 1).is_some());
    shape.ok_or_else(|| malformed!("dims {dims:?} are larger than memory can be"))
}

fn too_large(shape: &[usize]) -> Error {
    malformed!("dims {shape:?} are larger than memory can be")
}

/// What the fields of a file are, by place.
#[derive(Debug, Default)]
struct Scan {
    /// Where the bytes of `raw_data` begin, and how many they are.
    raw: Option<(u64, u64)>,
    /// Where the fields that prost is to read begin and end; neighbours are one.
    runs: Vec<(u64, u64)>,
}

impl Scan {
    fn of(file: &dyn ReadAt) -> Result<Self> {
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
    fn message(&self, file: &dyn ReadAt) -> Result<Message> {
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

impl Message {
    /// An empty message with room for all that is in `bytes`: prost would take memory that there may not be.
    fn with_capacity_for(bytes: &[u8]) -> Result<Self, String> {
        /// What a text or an entry takes beside its bytes, with what an allocation costs.
        const TEXT: usize = 64;
        let mut counts = [0_usize; field::DATA_LOCATION as usize];
        let mut rest = bytes;
        // what is not in order is refused when it is read
        while let Ok((number, wire)) = decode_key(&mut rest) {
            let skipped = match wire {
                WireType::Varint => decode_varint(&mut rest).map(|_| (0, 1)).ok(),
                WireType::LengthDelimited => decode_varint(&mut rest).ok().and_then(|length| {
                    let length = usize::try_from(length).ok()?;
                    let content = rest.get(..length)?;
                    Some(match number {
                        field::FLOAT_DATA => (length, length / size_of::<f32>()),
                        field::DOUBLE_DATA => (length, length / size_of::<f64>()),
                        field::STRING_DATA | field::EXTERNAL_DATA => (length, 1),
                        // each varint has one byte that is below 128
                        _ => (length, content.iter().filter(|byte| **byte < 0x80).count()),
                    })
                }),
                WireType::ThirtyTwoBit => Some((4, 1)),
                WireType::SixtyFourBit => Some((8, 1)),
                WireType::StartGroup | WireType::EndGroup => None,
            };
            let Some((length, items)) = skipped else { break };
            if let Some(count) = counts.get_mut(number as usize) {
                *count += items;
            }
            let Some(after) = rest.get(length..) else { break };
            rest = after;
        }
        let count = |number: u32| counts.get(number as usize).copied().unwrap_or(0);
        let message = Self {
            dims: memory::of(count(field::DIMS))?,
            float_data: memory::of(count(field::FLOAT_DATA))?,
            int32_data: memory::of(count(field::INT32_DATA))?,
            string_data: memory::of(count(field::STRING_DATA))?,
            int64_data: memory::of(count(field::INT64_DATA))?,
            double_data: memory::of(count(field::DOUBLE_DATA))?,
            uint64_data: memory::of(count(field::UINT64_DATA))?,
            external_data: memory::of(count(field::EXTERNAL_DATA))?,
            ..Self::default()
        };
        // each text has its own memory, which is there if it is there in one piece
        let texts = (count(field::STRING_DATA) + count(field::EXTERNAL_DATA)).saturating_mul(TEXT);
        memory::of::<u8>(texts.saturating_add(bytes.len()))?;
        Ok(message)
    }
}
