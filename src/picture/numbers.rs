//! Reads items of any numeric dtype as the numbers that a picture shows.

use crate::item::dtype::{DType, Kind};
use crate::item::load::{Load, reals};

/// Returns the function that reads items of a dtype as float64, complex numbers by their modulus; `None` if they are no
/// numbers, or long doubles.
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

/// Returns the modulus of a complex number. It is NaN if either part is, whereas `hypot` of NaN and infinity is infinity.
fn modulus(re: f64, im: f64) -> f64 {
    if re.is_nan() || im.is_nan() { f64::NAN } else { re.hypot(im) }
}

/// Returns the exact value of an item that is an integer of 64 bits, since float64 may not tell it from its neighbours.
pub(super) fn long_integer(dtype: &DType, item: &[u8]) -> Option<i128> {
    let word = *item.first_chunk::<8>()?;
    let big = dtype.is_big_endian();
    match dtype.kind() {
        Kind::Int64 => Some(if big { i64::from_be_bytes(word) } else { i64::from_le_bytes(word) }.into()),
        Kind::UInt64 => Some(if big { u64::from_be_bytes(word) } else { u64::from_le_bytes(word) }.into()),
        // float64 holds all other numbers
        _ => None,
    }
}
