//! ONNX's data types, and the typed fields of their items.

use std::ops::RangeInclusive;

use super::message::{Message, undecodable};
use super::wire::Varints;
use super::wire::field::{self, DOUBLE_DATA, FLOAT_DATA, INT32_DATA, INT64_DATA, UINT64_DATA};
use crate::narrow::packed::{bits, packed_bytes, unpack};
use crate::untyped::most_padded;
use tensorop_kernels::error::{Context, Result, bail, ensure, malformed};
use tensorop_kernels::item::dtype::{DType, Kind, Narrow};
use tensorop_kernels::item::element::{Element, match_kind, not_numbers};
use tensorop_kernels::item::meta::Meta;
use tensorop_kernels::layout::axis::{bytes_of, coordinates};
use tensorop_kernels::memory;

pub(crate) const STRING: i32 = 8;

#[derive(Clone, Debug)]
pub(crate) struct DataType {
    pub(crate) number: i32,
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    /// The typed field.
    pub(crate) field: u32,
}

const fn row(number: i32, name: &'static str, kind: Kind, field: u32) -> DataType {
    DataType { number, name, kind, field }
}

pub(crate) static DATA_TYPES: &[DataType] = &[
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

pub(crate) fn data_type(dtype: &DType) -> Option<i32> {
    if matches!(dtype.kind(), Kind::Str(_) | Kind::Bytes(_)) {
        return Some(STRING);
    }
    DATA_TYPES.iter().find(|known| known.kind == *dtype.kind()).map(|known| known.number)
}

impl DataType {
    pub(crate) fn numbered(number: i32) -> Option<&'static Self> {
        DATA_TYPES.iter().find(|known| known.number == number)
    }

    /// The valid numbers of a typed field. Packed items of 2 or 4 bits are the low 8 bits of any number.
    pub(crate) fn range(&self) -> RangeInclusive<i128> {
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

/// In the order of precedence in messages.
const TYPED: &[(u32, &str)] = &[
    (field::FLOAT_DATA, "float_data"),
    (field::INT32_DATA, "int32_data"),
    (field::STRING_DATA, "string_data"),
    (field::INT64_DATA, "int64_data"),
    (field::DOUBLE_DATA, "double_data"),
    (field::UINT64_DATA, "uint64_data"),
];

impl Message {
    pub(crate) fn filled(&self) -> impl Iterator<Item = &'static str> {
        TYPED.iter().filter(|(number, _)| self.count(*number) > 0).map(|(_, name)| *name)
    }

    fn check_field(&self, own: u32, type_name: &str, shape: &[usize], expected: usize) -> Result<()> {
        let (_, name) = TYPED.iter().find(|(number, _)| *number == own).expect("the field of a data type is typed");
        if let Some(other) = self.filled().find(|other| other != name) {
            bail!("{other}, expected {name} for {type_name}");
        }
        let count = self.count(own);
        ensure!(count == expected, "{count} numbers in {name}, expected {expected} ({type_name} {shape:?})");
        Ok(())
    }

    /// Returns where the items are stored as in `raw_data`.
    pub(crate) fn floats_at(&self, data_type: &DataType, meta: &Meta) -> Result<Option<u64>> {
        let Some(floats) = &self.floats else { return Ok(None) };
        self.check_field(data_type.field, data_type.name, &meta.shape, meta.bytes() / floats.itemsize())?;
        Ok(Some(floats.items.start))
    }

    pub(crate) fn typed_items(&self, data_type: &DataType, meta: &Meta) -> Result<Vec<u8>> {
        let DataType { name, field, .. } = *data_type;
        let (items, bits) = (meta.items(), bits(&meta.dtype));
        // items of 2 or 4 bits share a number
        let group = if matches!(bits, 2 | 4) { 8 / bits as usize } else { 1 };
        let numbers = match field {
            field::FLOAT_DATA => meta.bytes() / size_of::<f32>(),
            field::DOUBLE_DATA => meta.bytes() / size_of::<f64>(),
            _ if group > 1 => packed_bytes(items, bits),
            _ => items,
        };
        self.check_field(field, name, &meta.shape, numbers)?;
        let mut out = memory::with_capacity(if group > 1 { numbers } else { meta.bytes() })?;
        if matches!(field, field::FLOAT_DATA | field::DOUBLE_DATA) {
            self.values(field).for_each(|value| out.extend_from_slice(value));
            return Ok(out);
        }
        let (range, size) = (data_type.range(), meta.dtype.itemsize());
        let mut n = 0;
        for value in self.values(field) {
            for number in Varints(value) {
                let number = number.with_context(|| undecodable(field))?;
                let number: i128 = match field {
                    field::INT32_DATA => (number as i32).into(),
                    field::INT64_DATA => (number as i64).into(),
                    _ => number.into(),
                };
                let is_one = range.contains(&number);
                ensure!(is_one, "{number} at {:?} is out of range for {name}", coordinates(n * group, &meta.shape));
                n += 1;
                match size {
                    1 => out.push(number as u8),
                    2 => out.extend_from_slice(&(number as u16).to_le_bytes()),
                    4 => out.extend_from_slice(&(number as u32).to_le_bytes()),
                    _ => out.extend_from_slice(&(number as u64).to_le_bytes()),
                }
            }
        }
        if group == 1 {
            return Ok(out);
        }
        let mut unpacked = memory::zeros(items)?;
        unpack(&out, bits, &mut unpacked);
        Ok(unpacked)
    }

    pub(crate) fn string_items(&self, shape: &[usize], items: usize) -> Result<(DType, Vec<u8>)> {
        self.check_field(field::STRING_DATA, "STRING", shape, items)?;
        padded_strings(self.values(field::STRING_DATA), shape, items)
    }
}

/// Returns UTF-8 strings as code points, as wide as the longest string.
fn padded_strings<'a>(
    strings: impl Iterator<Item = &'a [u8]> + Clone,
    shape: &[usize],
    items: usize,
) -> Result<(DType, Vec<u8>)> {
    let (mut longest, mut given) = (1, 0);
    for (n, bytes) in strings.clone().enumerate() {
        let at = || coordinates(n, shape);
        let text = std::str::from_utf8(bytes).map_err(|error| malformed!("the string at {:?}: {error}", at()))?;
        // NumPy's strings drop trailing NULs
        ensure!(!text.ends_with('\0'), "the string at {:?} ends in U+0000, expected none there", at());
        longest = longest.max(text.chars().count());
        given += bytes.len() + 2;
    }
    let dtype = DType::from(Kind::Str(longest));
    let size = dtype.itemsize();
    let total = bytes_of(shape, size).filter(|total| *total <= most_padded(given));
    let total = total.ok_or_else(|| malformed!("{items} strings of {size} bytes ({}) are too much", dtype.name()))?;
    let mut out = memory::with_capacity(total)?;
    for (n, bytes) in strings.enumerate() {
        let text = std::str::from_utf8(bytes).expect("the first walk has found all strings to be UTF-8");
        out.extend(text.chars().flat_map(|c| u32::from(c).to_le_bytes()));
        out.resize((n + 1) * size, 0);
    }
    Ok((dtype, out))
}
