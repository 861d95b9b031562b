//! Recognises a TensorProto, which has no magic number.

use super::external::EXTERNAL;
use super::types::{DataType, STRING};
use super::wire::{Fields, Varints, WireField, field};
use crate::container::interface::Confidence;
use tensorop_kernels::layout::shape::MAX_RANK;

/// All visible fields must be valid in a TensorProto. An unknown data type suggests a later version of ONNX.
///
/// Text cannot match: the key of the data type is a control character that JSON forbids and other texts do not use.
pub(crate) fn sure(begin: &[u8], _: Option<u64>) -> Confidence {
    const MAX_LATER: u64 = 127;
    let (mut fields, mut sure, mut dims) = (Fields(begin), Confidence::No, 0);
    for (field, value) in &mut fields {
        let fits = field.fits() == Some(true)
            && match field.number {
                field::DATA_TYPE => {
                    let is_known = |number| number == STRING || DataType::numbered(number).is_some();
                    sure = if i32::try_from(field.varint).is_ok_and(is_known) {
                        Confidence::Certain
                    } else {
                        Confidence::Likely
                    };
                    field.varint <= MAX_LATER
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
            return Confidence::No;
        }
    }
    // the last field may be cut off
    let rest = fields.0;
    let is_cut = WireField::read(rest).map_or_else(|_| WireField::is_cut(rest), |field| field.fits() == Some(true));
    if rest.is_empty() || is_cut { sure } else { Confidence::No }
}

/// Whether a file is certainly a TensorProto.
pub fn looks_like_onnx(begin: &[u8]) -> bool {
    sure(begin, None) == Confidence::Certain
}
