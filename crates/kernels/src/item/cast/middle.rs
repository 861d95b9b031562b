//! The type that numbers pass through in a cast: float64, int64 or uint64, which holds every number of the source.
//! float64 does not hold integers above 2^53, and loops over 128-bit integers are not vectorised.

use crate::item::element::Element;

pub(super) trait Middle: Copy + Default + PartialEq {
    fn float(self) -> f64;
    fn single(self) -> f32;
    /// Rounds to odd: the last bit is set if any bit was cut off. The result rounds to any float of at most 16 bits as
    /// the number does. Rounding to nearest twice would fail if the first result were halfway between two narrow
    /// floats.
    fn rounded_to_odd(self) -> f64;
    fn exact<T: Integer>(self) -> (T, bool);
    /// Drops the fraction.
    fn whole(self) -> i128;
    /// Returns the shortest text that reads back to the item, as a float32 if `is_single`, without `.0`.
    fn text(self, is_single: bool) -> String;
}

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
    // the largest 64-bit integer rounds up to the number above it
    f64, |value| value, |value, _: T| value < T::END, text;
    i64, |value: i64| rounded_to_odd(value.unsigned_abs(), value < 0),
        |value, found: T| found.is_negative() == (value < 0), |value: i64, _| value.to_string();
    u64, |value| rounded_to_odd(value, false), |_, found: T| !found.is_negative(), |value: u64, _| value.to_string();
}

pub(super) trait Integer: Element + As<f64> + As<i64> + As<u64> {
    const LEAST: i128;
    const LARGEST: i128;
    /// The smallest float out of range.
    const END: f64;
    fn is_negative(self) -> bool;
}

pub(super) trait As<M> {
    /// Clamps floats, NaN becoming 0; keeps the low bits of integers.
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
