//! Items in the typed fields of a TensorProto.

use super::message::{Message, undecodable};
use super::types::DataType;
use super::wire::{Varints, field};
use crate::error::{Context, Result, bail, ensure, malformed};
use crate::format::packed::{bits, packed_bytes, unpack};
use crate::format::values::most_padded;
use crate::item::dtype::{DType, Kind};
use crate::item::meta::Meta;
use crate::layout::shape::{bytes_of, coordinates};
use crate::memory;

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
    pub(super) fn filled(&self) -> impl Iterator<Item = &'static str> {
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
    pub(super) fn floats_at(&self, data_type: &DataType, meta: &Meta) -> Result<Option<u64>> {
        let Some(floats) = &self.floats else { return Ok(None) };
        self.check_field(data_type.field, data_type.name, &meta.shape, meta.bytes() / floats.itemsize())?;
        Ok(Some(floats.items.start))
    }

    pub(super) fn typed_items(&self, data_type: &DataType, meta: &Meta) -> Result<Vec<u8>> {
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

    pub(super) fn string_items(&self, shape: &[usize], items: usize) -> Result<(DType, Vec<u8>)> {
        self.check_field(field::STRING_DATA, "STRING", shape, items)?;
        padded_strings(self.values(field::STRING_DATA), shape, items)
    }
}

/// Returns UTF-8 strings as code points, as wide as the longest string.
pub(super) fn padded_strings<'a>(
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
