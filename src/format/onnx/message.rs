//! The fields of a TensorProto as prost decodes them, and ONNX's data types.

use prost::encoding::WireType;

use super::wire::{WireField, field};

use crate::error::{Error, malformed};
use crate::item::dtype::{DType, Kind, Narrow};
use crate::memory::{self, OutOfMemory};

/// The most bytes of a protobuf message.
pub(super) const MAX_MESSAGE: u64 = i32::MAX as u64;

/// The fields of a TensorProto without `raw_data` and those that say nothing about the items.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Message {
    #[prost(int64, repeated, tag = "1")]
    pub(super) dims: Vec<i64>,
    #[prost(int32, optional, tag = "2")]
    pub(super) data_type: Option<i32>,
    #[prost(float, repeated, tag = "4")]
    pub(super) float_data: Vec<f32>,
    #[prost(int32, repeated, tag = "5")]
    pub(super) int32_data: Vec<i32>,
    #[prost(bytes = "vec", repeated, tag = "6")]
    pub(super) string_data: Vec<Vec<u8>>,
    #[prost(int64, repeated, tag = "7")]
    pub(super) int64_data: Vec<i64>,
    #[prost(string, tag = "8")]
    pub(super) name: String,
    #[prost(double, repeated, tag = "10")]
    pub(super) double_data: Vec<f64>,
    #[prost(uint64, repeated, tag = "11")]
    pub(super) uint64_data: Vec<u64>,
    #[prost(message, repeated, tag = "13")]
    pub(super) external_data: Vec<Entry>,
    #[prost(int32, optional, tag = "14")]
    pub(super) data_location: Option<i32>,
}

/// A key and its value.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Entry {
    #[prost(string, tag = "1")]
    pub(super) key: String,
    #[prost(string, tag = "2")]
    pub(super) value: String,
}

/// The values of `data_location`: items in the message, and in another file.
pub(super) const DEFAULT: i32 = 0;
pub(super) const EXTERNAL: i32 = 1;

/// The number of ONNX's strings, which become [`Kind::Str`] or come from [`Kind::Str`] or [`Kind::Bytes`] of any width.
pub(super) const STRING: i32 = 8;

/// ONNX's data types without strings: number, name and what it is here.
pub(super) const DATA_TYPES: &[(i32, &str, Kind)] = &[
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

/// Returns ONNX's number for a dtype; `None` if it has no such type.
pub(super) fn data_type(dtype: &DType) -> Option<i32> {
    if matches!(dtype.kind(), Kind::Str(_) | Kind::Bytes(_)) {
        return Some(STRING);
    }
    DATA_TYPES.iter().find(|(.., known)| known == dtype.kind()).map(|(number, ..)| *number)
}

pub(super) fn too_large(shape: &[usize]) -> Error {
    malformed!("dims {shape:?} are larger than memory can be")
}

impl Message {
    /// Returns an empty message with room for everything in `bytes`. Without it prost would grow its lists, which ends the
    /// process if there is not enough memory.
    ///
    /// # Errors
    /// There is not enough memory.
    pub(super) fn with_capacity_for(bytes: &[u8]) -> Result<Self, OutOfMemory> {
        /// The bytes that a text or an entry takes beside its own, with the cost of an allocation.
        const TEXT: usize = 64;
        let mut counts = [0_usize; field::DATA_LOCATION as usize];
        let mut rest = bytes;
        // the walk ends at what is malformed, which prost refuses
        while let Ok(found) = WireField::read(rest) {
            let Some((value, after)) = found.split(rest) else { break };
            let items = match (found.wire, found.number) {
                (WireType::LengthDelimited, field::FLOAT_DATA) => value.len() / size_of::<f32>(),
                (WireType::LengthDelimited, field::DOUBLE_DATA) => value.len() / size_of::<f64>(),
                (WireType::LengthDelimited, field::STRING_DATA | field::EXTERNAL_DATA) => 1,
                // each varint has one byte that is below 128
                (WireType::LengthDelimited, _) => value.iter().filter(|byte| **byte < 0x80).count(),
                _ => 1,
            };
            if let Some(count) = counts.get_mut(found.number as usize) {
                *count += items;
            }
            rest = after;
        }
        let count = |number: u32| counts[number as usize];
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
        // each text has an allocation of its own; if there is memory for all in one piece, there is for each
        let texts = (count(field::STRING_DATA) + count(field::EXTERNAL_DATA)).saturating_mul(TEXT);
        memory::of::<u8>(texts.saturating_add(bytes.len()))?;
        Ok(message)
    }
}
