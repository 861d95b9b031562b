//! Reads items of any numeric dtype as the numbers of a picture.

use crate::item::dtype::{DType, Kind};
use crate::item::load::{Load, reals};

/// Complex numbers become their modulus. `None` for long doubles and items that are not numbers.
pub(super) fn reader(dtype: &DType) -> Option<Load<f64>> {
    let load = reals(dtype, |value| value)?;
    if !matches!(dtype.kind(), Kind::Complex64 | Kind::Complex128) {
        return Some(load);
    }
    Some(Box::new(move |bytes, out| {
        let has_nan = load(bytes, out);
        for item in 0..out.len() / 2 {
            out[item] = modulus(out[2 * item], out[2 * item + 1]);
        }
        out.truncate(out.len() / 2);
        has_nan
    }))
}

/// NaN if a part is NaN, whereas `hypot` of NaN and infinity is infinity.
fn modulus(re: f64, im: f64) -> f64 {
    if re.is_nan() || im.is_nan() { f64::NAN } else { re.hypot(im) }
}

/// The exact value of a 64-bit integer, which float64 may round to a neighbour.
pub(super) fn long_integer(dtype: &DType, item: &[u8]) -> Option<i128> {
    let word = *item.first_chunk::<8>()?;
    let big = dtype.is_big_endian();
    match dtype.kind() {
        Kind::Int64 => Some(if big { i64::from_be_bytes(word) } else { i64::from_le_bytes(word) }.into()),
        Kind::UInt64 => Some(if big { u64::from_be_bytes(word) } else { u64::from_le_bytes(word) }.into()),
        // float64 holds all other numbers.
        _ => None,
    }
}
