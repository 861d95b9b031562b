//! The type of a number between two dtypes: float64, int64 or uint64, whichever holds every number of the source.
//!
//! There are three types because float64 does not hold integers above 2^53, and because loops over integers of 128 bits
//! are not vectorised. The price is that an integer of 64 bits must reach a float of 16 without being rounded to
//! float64 on the way, see [`Middle::rounded_to_odd`].

use crate::item::element::Element;

/// A type through which numbers are cast.
pub(super) trait Middle: Copy + Default + PartialEq {
    /// Returns the number as `as f64` converts it.
    fn float(self) -> f64;
    /// Returns the number as `as f32` converts it.
    fn single(self) -> f32;
    /// Returns a float64 that rounds to any float of at most 16 bits as the number itself does: the number rounded to
    /// odd, which sets the last bit if anything was cut off. To round to nearest twice would be wrong if the first
    /// rounding ends halfway between two narrow floats: the second would take the even one although the number lies
    /// nearer to the other.
    fn rounded_to_odd(self) -> f64;
    /// Returns an integer, and whether it equals the number.
    fn exact<T: Integer>(self) -> (T, bool);
    /// Returns the number without its fraction, clamped to 128 bits.
    fn whole(self) -> i128;
    /// Returns the shortest text that reads back to the same item: to the same float32 if the item `is_single`, or has
    /// fewer bits. A whole number has no `.0` at its end.
    fn text(self, is_single: bool) -> String;
}

/// Returns the text of a float.
fn text(value: f64, is_single: bool) -> String {
    let mut buffer = zmij::Buffer::new();
    let text = match value {
        _ if value.is_nan() => "NaN",
        f64::INFINITY => "Infinity",
        f64::NEG_INFINITY => "-Infinity",
        _ if is_single => buffer.format_finite(value as f32),
        _ => buffer.format_finite(value),
    };
    text.strip_suffix(".0").unwrap_or(text).to_owned()
}

/// Rounds a number to odd: bits of its magnitude that float64 has no room for set the last bit.
#[inline]
fn rounded_to_odd(magnitude: u64, is_negative: bool) -> f64 {
    const LOW: u64 = (1 << 12) - 1;
    let rest = u64::from(magnitude & LOW != 0) << 12;
    let size = (if magnitude >> 52 == 0 { magnitude } else { magnitude & !LOW | rest }) as f64;
    if is_negative { -size } else { size }
}

macro_rules! middles {
    ($($middle:ty, $rounded_to_odd:expr, $is_in_range:expr, $text:expr;)+) => {$(
        impl Middle for $middle {
            #[inline]
            fn float(self) -> f64 {
                self as f64
            }

            #[inline]
            fn single(self) -> f32 {
                self as f32
            }

            #[inline]
            fn rounded_to_odd(self) -> f64 {
                $rounded_to_odd(self)
            }

            #[inline]
            fn exact<T: Integer>(self) -> (T, bool) {
                let found = <T as As<Self>>::of(self);
                (found, As::<Self>::back(found) == self && $is_in_range(self, found))
            }

            #[inline]
            fn whole(self) -> i128 {
                self as i128
            }

            fn text(self, is_single: bool) -> String {
                $text(self, is_single)
            }
        }
    )+};
}

middles! {
    // the largest integer of 64 bits rounds up to the number above it
    f64, |value| value, |value, _: T| value < T::END, text;
    i64, |value: i64| rounded_to_odd(value.unsigned_abs(), value < 0),
        |value, found: T| found.is_negative() == (value < 0), |value: i64, _| value.to_string();
    u64, |value| rounded_to_odd(value, false), |_, found: T| !found.is_negative(), |value: u64, _| value.to_string();
}

/// An integer type: its range, and its conversions from and to the types that casts compute in.
pub(super) trait Integer: Element + As<f64> + As<i64> + As<u64> {
    const LEAST: i128;
    const LARGEST: i128;
    /// One more than the largest value, which is the least float that is out of range.
    const END: f64;
    fn is_negative(self) -> bool;
}

/// Converts between two types of numbers as `as` does.
pub(super) trait As<M> {
    /// Drops a fraction and takes the nearest value in range, NaN becoming 0; keeps the low bits of an integer.
    fn of(number: M) -> Self;
    fn back(self) -> M;
}

macro_rules! integers {
    ($($type:ty),+) => {$(
        impl Integer for $type {
            const LEAST: i128 = <$type>::MIN as i128;
            const LARGEST: i128 = <$type>::MAX as i128;
            const END: f64 = (Self::LARGEST + 1) as f64;

            #[inline]
            #[allow(unused_comparisons)]
            fn is_negative(self) -> bool {
                self < 0
            }
        }

        converted!($type: f64, i64, u64);
    )+};
}

macro_rules! converted {
    ($type:ty: $($middle:ty),+) => {$(
        impl As<$middle> for $type {
            #[inline]
            fn of(number: $middle) -> Self {
                number as $type
            }

            #[inline]
            fn back(self) -> $middle {
                self as $middle
            }
        }
    )+};
}

integers!(i8, i16, i32, i64, u8, u16, u32, u64);
