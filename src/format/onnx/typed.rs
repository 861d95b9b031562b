//! Items in the typed fields of a TensorProto.

use std::ops::RangeInclusive;

use crate::error::{Result, bail, ensure, malformed};

use super::message::Message;
use crate::format::packed::{bits, packed_bytes, unpack};
use crate::format::values::most_padded;
use crate::item::dtype::{DType, Kind};
use crate::item::element::{Element, match_kind, not_numbers};
use crate::layout::shape::{bytes_of, coordinates};
use crate::memory;

/// A field that items can be in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Float,
    Int32,
    String,
    Int64,
    Double,
    UInt64,
}

impl Field {
    /// Returns the field that ONNX has for items of a dtype.
    fn of(dtype: &DType) -> Self {
        match dtype.kind() {
            Kind::Float32 | Kind::Complex64 => Self::Float,
            Kind::Float64 | Kind::Complex128 => Self::Double,
            Kind::Int64 => Self::Int64,
            Kind::UInt32 | Kind::UInt64 => Self::UInt64,
            Kind::Str(_) | Kind::Bytes(_) => Self::String,
            Kind::Bool | Kind::Int8 | Kind::Int16 | Kind::Int32 | Kind::UInt8 | Kind::UInt16 => Self::Int32,
            Kind::Narrow(_) | Kind::Float16 | Kind::BFloat16 => Self::Int32,
            // ONNX has no such types, so no message has them
            Kind::LongDouble(_) | Kind::ComplexLongDouble(_) | Kind::Void(_) | Kind::Struct(_) => Self::Int32,
            Kind::Datetime(_) | Kind::Timedelta(_) => Self::Int32,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Float => "float_data",
            Self::Int32 => "int32_data",
            Self::String => "string_data",
            Self::Int64 => "int64_data",
            Self::Double => "double_data",
            Self::UInt64 => "uint64_data",
        }
    }
}

/// Returns the bytes of numbers one after the other.
fn joined<const N: usize>(numbers: impl ExactSizeIterator<Item = [u8; N]>) -> Result<Vec<u8>> {
    let mut out = memory::of(numbers.len() * N)?;
    out.extend(numbers.flatten());
    Ok(out)
}

impl Message {
    /// Returns the names of the typed fields that are not empty.
    pub(super) fn filled(&self) -> Vec<&'static str> {
        let counts = [
            (Field::Float, self.float_data.len()),
            (Field::Int32, self.int32_data.len()),
            (Field::String, self.string_data.len()),
            (Field::Int64, self.int64_data.len()),
            (Field::Double, self.double_data.len()),
            (Field::UInt64, self.uint64_data.len()),
        ];
        counts.iter().filter(|(_, count)| *count > 0).map(|(field, _)| field.name()).collect()
    }

    /// Checks that no other field than that of the dtype has items, and that it has as many as `expected`.
    fn check_field(
        &self,
        type_name: &str,
        dtype: &DType,
        shape: &[usize],
        count: usize,
        expected: usize,
    ) -> Result<()> {
        let own = Field::of(dtype).name();
        if let Some(other) = self.filled().into_iter().find(|name| *name != own) {
            bail!("{other}, expected {own} for {type_name}");
        }
        ensure!(count == expected, "{count} numbers in {own}, expected {expected} ({type_name} {shape:?})");
        Ok(())
    }

    /// Returns the items as they are in memory.
    pub(super) fn typed_items(&self, type_name: &str, dtype: &DType, shape: &[usize]) -> Result<Vec<u8>> {
        let items = bytes_of(shape, 1).unwrap_or(0);
        let check = |count, expected| self.check_field(type_name, dtype, shape, count, expected);
        let wrong = |n: usize, number: &dyn std::fmt::Display| {
            malformed!("{number} at {:?} is none of {type_name}", coordinates(n, shape))
        };
        match Field::of(dtype) {
            Field::Float => {
                check(self.float_data.len(), items.saturating_mul(dtype.itemsize() / 4))?;
                joined(self.float_data.iter().map(|number| number.to_le_bytes()))
            }
            Field::Double => {
                check(self.double_data.len(), items.saturating_mul(dtype.itemsize() / 8))?;
                joined(self.double_data.iter().map(|number| number.to_le_bytes()))
            }
            Field::Int64 => {
                check(self.int64_data.len(), items)?;
                joined(self.int64_data.iter().map(|number| number.to_le_bytes()))
            }
            Field::UInt64 => {
                check(self.uint64_data.len(), items)?;
                if *dtype.kind() == Kind::UInt64 {
                    return joined(self.uint64_data.iter().map(|number| number.to_le_bytes()));
                }
                let mut out = memory::of(items.saturating_mul(4))?;
                for (n, number) in self.uint64_data.iter().enumerate() {
                    out.extend(u32::try_from(*number).map_err(|_| wrong(n, number))?.to_le_bytes());
                }
                Ok(out)
            }
            Field::String => unreachable!("the items of strings are those of `string_items`"),
            Field::Int32 => {
                let bits = bits(dtype);
                // several items of 2 or 4 bits are one number, an item of 6 bits is one
                let group = if matches!(bits, 2 | 4) { 8 / bits as usize } else { 1 };
                let numbers = if group > 1 { packed_bytes(items, bits) } else { items };
                check(self.int32_data.len(), numbers)?;
                // that of a type that ONNX does not have is empty
                let range = range(dtype.kind(), bits);
                let size = dtype.itemsize();
                let mut out = memory::of(self.int32_data.len() * size)?;
                for (n, number) in self.int32_data.iter().enumerate() {
                    ensure!(range.contains(number), "{}", wrong(n * group, number));
                    out.extend(number.to_le_bytes().iter().take(size));
                }
                if group == 1 {
                    return Ok(out);
                }
                let mut unpacked = memory::zeros(items)?;
                unpack(&out, bits, &mut unpacked);
                Ok(unpacked)
            }
        }
    }

    /// Returns the strings, and the dtype that is as wide as the longest of them.
    pub(super) fn string_items(&self, shape: &[usize]) -> Result<(DType, Vec<u8>)> {
        let items = bytes_of(shape, 1).unwrap_or(0);
        let any = DType::from(Kind::Str(1));
        self.check_field("STRING", &any, shape, self.string_data.len(), items)?;
        let mut longest = 1;
        let mut given = 0_usize;
        for (n, bytes) in self.string_data.iter().enumerate() {
            let at = || coordinates(n, shape);
            let text = std::str::from_utf8(bytes).map_err(|error| malformed!("the string at {:?}: {error}", at()))?;
            // NumPy's strings end where only NULs follow
            ensure!(!text.ends_with('\0'), "the string at {:?} ends in U+0000, expected none there", at());
            longest = longest.max(text.chars().count());
            given = given.saturating_add(bytes.len() + 2);
        }
        let dtype = DType::from(Kind::Str(longest));
        let size = longest.saturating_mul(4);
        let total = bytes_of(shape, size).filter(|total| *total <= most_padded(given));
        let total =
            total.ok_or_else(|| malformed!("{items} strings of {size} bytes ({}) are too much", dtype.name()))?;
        let mut out = memory::of(total)?;
        for (n, bytes) in self.string_data.iter().enumerate() {
            let text = std::str::from_utf8(bytes).map_err(|error| malformed!("{error}"))?;
            out.extend(text.chars().flat_map(|c| u32::from(c).to_le_bytes()));
            out.resize((n + 1) * size, 0);
        }
        Ok((dtype, out))
    }
}

/// Returns the numbers of `int32_data` that can be items of a kind: values, or the bits of floats and of packed items.
fn range(kind: &Kind, bits: u32) -> RangeInclusive<i32> {
    // items of these kinds are in other fields
    let none = RangeInclusive::new(1, 0);
    let clamped = |end: i128| end.clamp(i32::MIN.into(), i32::MAX.into()) as i32;
    match_kind!(kind, {
        bool T => 0..=1,
        integer T => clamped(T::MIN.into())..=clamped(T::MAX.into()),
        float T => if T::SIZE == 2 { 0..=u16::MAX.into() } else { none },
        complex T => none,
        Kind::Narrow(_) if bits == 6 => 0..=63,
        Kind::Narrow(_) => 0..=u8::MAX.into(),
        not_numbers!() => none,
    })
}
