//! Whether a file may be a TensorProto, which has no magic number.

use super::external::EXTERNAL;
use super::types::{DataType, STRING};
use super::wire::{Fields, Varints, WireField, field};
use crate::layout::shape::MAX_RANK;

/// Returns whether a file with these first bytes is likely to be a TensorProto: all fields that can be seen are such that
/// a TensorProto can have them, and among them is a data type that ONNX has.
///
/// A text is not taken for one: the data type takes a control character that JSON may not hold and other texts do not use,
/// and before it only dims, strings and other fields with a length can stand.
pub fn looks_like_onnx(begin: &[u8]) -> bool {
    let (mut fields, mut has_type, mut dims) = (Fields(begin), false, 0);
    for (field, value) in &mut fields {
        let fits = field.fits() == Some(true)
            && match field.number {
                field::DATA_TYPE => {
                    has_type = true;
                    let known = |number| number == STRING || DataType::numbered(number).is_some();
                    i32::try_from(field.varint).is_ok_and(known)
                }
                field::DATA_LOCATION => field.varint <= EXTERNAL as u64,
                field::DIMS => Varints(value).all(|dim| {
                    dims += 1;
                    dim.is_ok() && dims <= MAX_RANK
                }),
                field::NAME | field::DOC_STRING => std::str::from_utf8(value).is_ok(),
                field::FLOAT_DATA | field::DOUBLE_DATA => field.items(value).is_ok(),
                _ => true,
            };
        if !fits {
            return false;
        }
    }
    // the last field may go on after these bytes
    let rest = fields.0;
    let is_cut = WireField::read(rest).map_or_else(|_| WireField::is_cut(rest), |field| field.fits() == Some(true));
    has_type && (rest.is_empty() || is_cut)
}
