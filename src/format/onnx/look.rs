//! Whether a file may be a TensorProto, which has no magic number.

use prost::encoding::{WireType, decode_varint};

use super::message::{DATA_TYPES, EXTERNAL, STRING};
use super::wire::{WireField, field, wire_types};
use crate::layout::shape::MAX_RANK;

/// Returns whether a file with these first bytes is likely to be a TensorProto: all fields that can be seen are such that
/// a TensorProto can have them, and among them is a data type that ONNX has.
///
/// A text is not taken for one: the data type takes a control character that JSON may not hold and other texts do not use,
/// and before it only dims, strings and other fields with a length can stand.
pub fn looks_like_onnx(begin: &[u8]) -> bool {
    let mut rest = begin;
    let (mut has_type, mut dims) = (false, 0);
    while !rest.is_empty() {
        let read = WireField::read(rest);
        let key = read.as_ref().map_or_else(|refused| refused.key, |field| Some((field.number, field.wire)));
        if key.is_some_and(|(number, wire)| !wire_types(number).is_some_and(|expected| expected.contains(&wire))) {
            return false;
        }
        let found = match read {
            Ok(found) => found,
            Err(refused) => return refused.is_cut && has_type,
        };
        let Some((value, after)) = found.split(rest) else { return has_type };
        let is_packed = found.wire == WireType::LengthDelimited;
        let fits = match found.number {
            field::DATA_TYPE => {
                has_type = true;
                let known = |number| number == STRING || DATA_TYPES.iter().any(|(known, ..)| *known == number);
                i32::try_from(found.varint).is_ok_and(known)
            }
            field::DATA_LOCATION => found.varint <= EXTERNAL as u64,
            field::DIMS => match if is_packed { count_varints(value) } else { Some(1) } {
                Some(count) => {
                    dims += count;
                    dims <= MAX_RANK
                }
                None => false,
            },
            field::NAME | field::DOC_STRING => std::str::from_utf8(value).is_ok(),
            field::FLOAT_DATA => value.len().is_multiple_of(4),
            field::DOUBLE_DATA => value.len().is_multiple_of(8),
            _ => true,
        };
        if !fits {
            return false;
        }
        rest = after;
    }
    has_type
}

/// Returns how many varints fill `bytes` exactly; `None` if they do not.
fn count_varints(mut bytes: &[u8]) -> Option<usize> {
    let mut count = 0;
    while !bytes.is_empty() {
        decode_varint(&mut bytes).ok()?;
        count += 1;
    }
    Some(count)
}
