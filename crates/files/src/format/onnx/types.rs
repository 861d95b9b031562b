//! ONNX's data types.

use std::ops::RangeInclusive;

use super::wire::field::{DOUBLE_DATA, FLOAT_DATA, INT32_DATA, INT64_DATA, UINT64_DATA};
use crate::item::dtype::{DType, Kind, Narrow};
use crate::item::element::{Element, match_kind, not_numbers};

pub(super) const STRING: i32 = 8;

#[derive(Clone, Debug)]
pub(super) struct DataType {
    pub(super) number: i32,
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    /// The typed field.
    pub(super) field: u32,
}

const fn row(number: i32, name: &'static str, kind: Kind, field: u32) -> DataType {
    DataType { number, name, kind, field }
}

pub(super) static DATA_TYPES: &[DataType] = &[
    row(1, "FLOAT", Kind::Float32, FLOAT_DATA),
    row(2, "UINT8", Kind::UInt8, INT32_DATA),
    row(3, "INT8", Kind::Int8, INT32_DATA),
    row(4, "UINT16", Kind::UInt16, INT32_DATA),
    row(5, "INT16", Kind::Int16, INT32_DATA),
    row(6, "INT32", Kind::Int32, INT32_DATA),
    row(7, "INT64", Kind::Int64, INT64_DATA),
    row(9, "BOOL", Kind::Bool, INT32_DATA),
    row(10, "FLOAT16", Kind::Float16, INT32_DATA),
    row(11, "DOUBLE", Kind::Float64, DOUBLE_DATA),
    row(12, "UINT32", Kind::UInt32, UINT64_DATA),
    row(13, "UINT64", Kind::UInt64, UINT64_DATA),
    row(14, "COMPLEX64", Kind::Complex64, FLOAT_DATA),
    row(15, "COMPLEX128", Kind::Complex128, DOUBLE_DATA),
    row(16, "BFLOAT16", Kind::BFloat16, INT32_DATA),
    row(17, "FLOAT8E4M3FN", Kind::Narrow(Narrow::Float8E4M3FN), INT32_DATA),
    row(18, "FLOAT8E4M3FNUZ", Kind::Narrow(Narrow::Float8E4M3FNUZ), INT32_DATA),
    row(19, "FLOAT8E5M2", Kind::Narrow(Narrow::Float8E5M2), INT32_DATA),
    row(20, "FLOAT8E5M2FNUZ", Kind::Narrow(Narrow::Float8E5M2FNUZ), INT32_DATA),
    row(21, "UINT4", Kind::Narrow(Narrow::UInt4), INT32_DATA),
    row(22, "INT4", Kind::Narrow(Narrow::Int4), INT32_DATA),
    row(23, "FLOAT4E2M1", Kind::Narrow(Narrow::Float4E2M1FN), INT32_DATA),
    row(24, "FLOAT8E8M0", Kind::Narrow(Narrow::Float8E8M0FNU), INT32_DATA),
    row(25, "UINT2", Kind::Narrow(Narrow::UInt2), INT32_DATA),
    row(26, "INT2", Kind::Narrow(Narrow::Int2), INT32_DATA),
    row(27, "FLOAT6E2M3", Kind::Narrow(Narrow::Float6E2M3FN), INT32_DATA),
    row(28, "FLOAT6E3M2", Kind::Narrow(Narrow::Float6E3M2FN), INT32_DATA),
];

pub(super) fn data_type(dtype: &DType) -> Option<i32> {
    if matches!(dtype.kind(), Kind::Str(_) | Kind::Bytes(_)) {
        return Some(STRING);
    }
    DATA_TYPES.iter().find(|known| known.kind == *dtype.kind()).map(|known| known.number)
}

impl DataType {
    pub(super) fn numbered(number: i32) -> Option<&'static Self> {
        DATA_TYPES.iter().find(|known| known.number == number)
    }

    /// The valid numbers of a typed field. Packed items of 2 or 4 bits are the low 8 bits of any number.
    pub(super) fn range(&self) -> RangeInclusive<i128> {
        // these kinds have no varint field
        let none = RangeInclusive::new(1, 0);
        match_kind!(&self.kind, {
            bool T => 0..=1,
            integer T => T::MIN.into()..=T::MAX.into(),
            float T => if T::SIZE == 2 { 0..=u16::MAX.into() } else { none },
            complex T => none,
            Kind::Narrow(narrow) => match narrow.bits() {
                2 | 4 => i32::MIN.into()..=i32::MAX.into(),
                bits => 0..=(1 << bits) - 1,
            },
            not_numbers!() => none,
        })
    }
}
