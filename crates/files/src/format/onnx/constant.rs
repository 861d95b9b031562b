//! The value of a Constant that is no tensor: a number or a text, or a list of them.

use std::ops::Range;

use super::message::MAX_MESSAGE;
use super::model_fields::field::attribute;
use super::typed::padded_strings;
use super::wire::{Fields, Varints};
use crate::error::{Context, Error, ErrorKind, Result, bail, ensure};
use crate::item::dtype::{DType, Kind};
use crate::item::meta::Meta;
use crate::item::tensor::Tensor;
use crate::memory;
use crate::storage::read_at::ReadAt;
use prost::encoding::WireType;

#[derive(Debug)]
pub(super) enum ConstantValue {
    /// At an offset of the file.
    Stored(Meta, u64),
    Decoded(Tensor),
}

/// Reads the AttributeProto at `place`. Its name tells the dtype.
pub(super) fn read(file: &dyn ReadAt, place: Range<u64>) -> Result<ConstantValue> {
    let length = place.end - place.start;
    ensure!(length <= MAX_MESSAGE, "{length} bytes of an attribute, expected at most {MAX_MESSAGE}");
    let mut bytes = memory::zeros(usize::try_from(length)?)?;
    file.read_at(&mut bytes, place.start)?;
    let (mut name, mut values, mut fields) = ("", Vec::new(), Fields(&bytes));
    while let Some((found, value)) = fields.next() {
        let end = place.end - fields.0.len() as u64;
        match found.number {
            attribute::NAME => name = std::str::from_utf8(value).ok().context("a name that is not UTF-8")?,
            _ => values.push((found.number, found.wire, value, end - value.len() as u64)),
        }
    }
    let (number, kind, is_list) = match name {
        "value_float" => (attribute::FLOAT, Kind::Float32, false),
        "value_floats" => (attribute::FLOATS, Kind::Float32, true),
        "value_int" => (attribute::INT, Kind::Int64, false),
        "value_ints" => (attribute::INTS, Kind::Int64, true),
        "value_string" => (attribute::TEXT, Kind::Str(1), false),
        "value_strings" => (attribute::TEXTS, Kind::Str(1), true),
        _ => {
            let message = format!("a Constant of the attribute {name}, which is not known");
            return Err(Error::from_kind(ErrorKind::Unsupported, message));
        }
    };
    values.retain(|(found, ..)| *found == number);
    if !is_list {
        // the last of repeated fields counts
        values.drain(..values.len().saturating_sub(1));
    }
    let shape = |items: usize| if is_list { vec![items] } else { Vec::new() };
    let mut items = Vec::new();
    match kind {
        Kind::Str(_) => {
            let strings = values.iter().map(|(_, _, value, _)| *value);
            let shape = shape(strings.len());
            ensure!(is_list || strings.len() == 1, "{name} has no value");
            let (dtype, items) = padded_strings(strings.clone(), &shape, strings.len())?;
            return Ok(ConstantValue::Decoded(Tensor::new(dtype, shape, items)?));
        }
        Kind::Float32 => {
            for (_, wire, value, _) in &values {
                let is_packed = *wire == WireType::LengthDelimited && is_list && value.len() % size_of::<f32>() == 0;
                ensure!(is_packed || *wire == WireType::ThirtyTwoBit, "{name} is no list of float32");
                items.extend_from_slice(value);
            }
            if let [(.., value, at)] = &*values {
                let meta = Meta::new(DType::from(kind), shape(value.len() / size_of::<f32>()));
                return Ok(ConstantValue::Stored(meta, *at));
            }
        }
        _ => {
            for (_, wire, value, _) in &values {
                ensure!(matches!(wire, WireType::Varint | WireType::LengthDelimited), "{name} is no list of int64");
                for item in Varints(value) {
                    items.extend_from_slice(&item.with_context(|| name)?.to_le_bytes());
                }
            }
        }
    }
    let dtype = DType::from(kind);
    let count = items.len() / dtype.itemsize();
    if !is_list && count != 1 {
        bail!("{name} has {count} values, expected 1");
    }
    Ok(ConstantValue::Decoded(Tensor::new(dtype, shape(count), items)?))
}
