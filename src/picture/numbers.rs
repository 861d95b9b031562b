//! Reads items of any numeric dtype as the numbers that a picture shows.

use crate::item::dtype::{DType, Kind};
use crate::item::element::{Element, Float, match_kind, not_numbers};

/// A function that reads items from their bytes and appends them as float64, complex numbers by their modulus.
pub(super) type Read = Box<dyn Fn(&[u8], &mut Vec<f64>) + Send + Sync>;

/// Returns the function that reads items of a dtype; `None` if they are no numbers, or long doubles.
pub(super) fn reader(dtype: &DType) -> Option<Read> {
    let big = dtype.is_big_endian();
    match_kind!(dtype.kind(), {
        bool T => Some(each::<T>(big, |item| f64::from(u8::from(item)))),
        integer T => Some(each::<T>(big, |item| item as f64)),
        float T => Some(each::<T>(big, Float::wide)),
        complex T => Some(each::<T>(big, |item| modulus(item.re.wide(), item.im.wide()))),
        Kind::Narrow(narrow) => {
            let values: [f64; 256] = std::array::from_fn(|item| narrow.value(item as u8));
            Some(Box::new(move |bytes, out| out.extend(bytes.iter().map(|&item| values[usize::from(item)]))))
        }
        not_numbers!() => None,
    })
}

fn each<T: Element>(big: bool, number: impl Fn(T) -> f64 + Send + Sync + 'static) -> Read {
    Box::new(move |bytes, out| {
        for &item in T::chunks(bytes) {
            out.push(number(if big { T::from_big(item) } else { T::from_little(item) }));
        }
    })
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
