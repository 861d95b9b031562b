//! The value of a Constant that is no tensor: a number or a text, or a list of them.

use std::ops::Range;

use prost::encoding::{WireType, encode_key, encode_varint, uint64};

use super::message::MAX_MESSAGE;
use super::model_fields::field::attribute;
use super::proto::Proto;
use super::types::STRING;
use super::window::FileWindow;
use super::wire::{Fields, WireField, field, last_of};
use crate::error::{Context, Error, ErrorKind, Result, ensure};
use crate::storage::read_at::{MemoryBytes, ReadAt};

/// Attributes with the field of their values, the data type of a tensor of them, and its typed field.
const VALUES: &[(&str, u32, i32, u32)] = &[
    ("value_float", attribute::FLOAT, 1, field::FLOAT_DATA),
    ("value_floats", attribute::FLOATS, 1, field::FLOAT_DATA),
    ("value_int", attribute::INT, 7, field::INT64_DATA),
    ("value_ints", attribute::INTS, 7, field::INT64_DATA),
    ("value_string", attribute::TEXT, STRING, field::STRING_DATA),
    ("value_strings", attribute::TEXTS, STRING, field::STRING_DATA),
];

/// Reads the AttributeProto at `place` as a TensorProto of its values.
pub(super) fn read(file: &dyn ReadAt, place: Range<u64>) -> Result<Proto> {
    let bytes = FileWindow::new(file, place.end).bytes(&place, MAX_MESSAGE)?;
    let name = last_of(&bytes, attribute::NAME);
    let name = name.map_or("", |(_, value)| std::str::from_utf8(value).unwrap_or_default());
    let Some(&(name, number, data_type, typed)) = VALUES.iter().find(|(known, ..)| *known == name) else {
        let message = format!("a Constant of the attribute {name}, which is not known");
        return Err(Error::from_kind(ErrorKind::Unsupported, message));
    };
    let is_list = name.ends_with('s');
    let (mut values, mut count, mut end) = (Vec::new(), 0, 0);
    let mut fields = Fields(&bytes);
    while let Some((found, value)) = fields.next() {
        if found.number != number {
            continue;
        }
        if !is_list {
            // the last of repeated fields counts
            (values, count) = (Vec::new(), 0);
        }
        let renamed = WireField { number: typed, ..found };
        ensure!(renamed.fits() == Some(true), "{name} has a value of another type");
        count += renamed.items(value).context(name)?;
        encode_key(typed, found.wire, &mut values);
        if found.wire == WireType::LengthDelimited {
            encode_varint(value.len() as u64, &mut values);
        }
        values.extend_from_slice(value);
        end = place.end - fields.0.len() as u64;
    }
    ensure!(is_list || count == 1, "{name} has {count} values, expected 1");
    let mut message = Vec::new();
    if is_list {
        uint64::encode(field::DIMS, &(count as u64), &mut message);
    }
    uint64::encode(field::DATA_TYPE, &(data_type as u64), &mut message);
    message.append(&mut values);
    let length = message.len() as u64;
    // items that are not copied are a single field, which ends the message
    Ok(Proto::read(&MemoryBytes::new(message))?.moved(length, end))
}
