//! Whether a file may be a TensorProto, which has no magic number.

use prost::encoding::{WireType, decode_key, decode_varint};

use super::message::{DATA_TYPES, EXTERNAL, STRING, field};
use super::wire::wire_types;
use crate::layout::shape::MAX_RANK;

/// Whether a file that begins so is likely to be a TensorProto: its fields, as far as they are seen, are such that a
/// TensorProto can have, and among them is a data type that ONNX has.
///
/// Text is none: the data type takes a control character that no JSON may hold and text has no use for, and before
/// it only dims, strings and other fields with a length of their own can stand.
pub fn looks_like_onnx(begin: &[u8]) -> bool {
    let mut rest = begin;
    let mut has_type = false;
    let mut dims = 0;
    while !rest.is_empty() {
        let Some((number, value, after)) = next_field(rest) else { return false };
        match (number, value) {
            (field::DATA_TYPE, Value::Number(number)) => {
                let known = |number| number == STRING || DATA_TYPES.iter().any(|(known, ..)| *known == number);
                if !i32::try_from(number).is_ok_and(known) {
                    return false;
                }
                has_type = true;
            }
            (field::DATA_LOCATION, Value::Number(number)) if number > EXTERNAL as u64 => return false,
            (field::DIMS, Value::Number(_)) => dims += 1,
            (field::DIMS, Value::Bytes(bytes)) => match count_varints(bytes) {
                Some(count) => dims += count,
                None => return false,
            },
            (field::NAME | field::DOC_STRING, Value::Bytes(bytes)) if std::str::from_utf8(bytes).is_err() => {
                return false;
            }
            (field::FLOAT_DATA, Value::Bytes(bytes)) if bytes.len() % 4 != 0 => return false,
            (field::DOUBLE_DATA, Value::Bytes(bytes)) if bytes.len() % 8 != 0 => return false,
            (_, Value::Cut) => return has_type,
            _ => {}
        }
        if dims > MAX_RANK {
            return false;
        }
        rest = after;
    }
    has_type
}

enum Value<'a> {
    Number(u64),
    Fixed,
    Bytes(&'a [u8]),
    /// It goes on where nothing is seen.
    Cut,
}

/// The number of the next field, its value, and what comes after it; `None` if no TensorProto has that field.
fn next_field(bytes: &[u8]) -> Option<(u32, Value<'_>, &[u8])> {
    const VARINT: usize = 10;
    let mut rest = bytes;
    let cut = |rest: &[u8], number| (rest.len() < VARINT).then_some((number, Value::Cut, &[][..]));
    let Ok((number, wire)) = decode_key(&mut rest) else {
        // a key of two bytes may be cut; all other keys have one
        return if bytes.len() == 1 { cut(bytes, 0) } else { None };
    };
    if !wire_types(number)?.contains(&wire) {
        return None;
    }
    let fixed = |size: usize| {
        Some(rest.get(size..).map_or((number, Value::Cut, &[][..]), |after| (number, Value::Fixed, after)))
    };
    match wire {
        WireType::Varint => match decode_varint(&mut rest) {
            Ok(value) => Some((number, Value::Number(value), rest)),
            Err(_) => cut(rest, number),
        },
        WireType::LengthDelimited => {
            let Ok(length) = decode_varint(&mut rest) else { return cut(rest, number) };
            let length = usize::try_from(length).ok()?;
            let whole = rest.split_at_checked(length);
            Some(whole.map_or((number, Value::Cut, &[][..]), |(value, after)| (number, Value::Bytes(value), after)))
        }
        WireType::ThirtyTwoBit => fixed(4),
        WireType::SixtyFourBit => fixed(8),
        WireType::StartGroup | WireType::EndGroup => None,
    }
}

/// How many varints fill `bytes` exactly.
fn count_varints(mut bytes: &[u8]) -> Option<usize> {
    let mut count = 0;
    while !bytes.is_empty() {
        decode_varint(&mut bytes).ok()?;
        count += 1;
    }
    Some(count)
}
