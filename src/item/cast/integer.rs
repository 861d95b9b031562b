//! The integer types that values are cast to and from, and the conversions that a cast needs of each.

use crate::item::element::Element;

/// An integer dtype: its range, and its conversions from and to the types that casts compute in.
pub(super) trait Integer: Element {
    const LEAST: i128;
    const LARGEST: i128;
    /// One more than the largest value, which is the least float that is out of range.
    const END: f64;
    /// Drops the fraction, and takes the nearest value in range; NaN becomes 0.
    fn from_float(value: f64) -> Self;
    /// Keeps the low bits.
    fn from_signed(value: i64) -> Self;
    /// Keeps the low bits.
    fn from_unsigned(value: u64) -> Self;
    /// Keeps the low bits.
    fn from_wide(value: i128) -> Self;
    fn float(self) -> f64;
    fn signed(self) -> i64;
    fn unsigned(self) -> u64;
    fn negative(self) -> bool;
}

macro_rules! integers {
    ($($type:ty),+) => {
        $(impl Integer for $type {
            const LEAST: i128 = <$type>::MIN as i128;
            const LARGEST: i128 = <$type>::MAX as i128;
            const END: f64 = (Self::LARGEST + 1) as f64;

            fn from_float(value: f64) -> Self {
                value as $type
            }

            fn from_signed(value: i64) -> Self {
                value as $type
            }

            fn from_unsigned(value: u64) -> Self {
                value as $type
            }

            fn from_wide(value: i128) -> Self {
                value as $type
            }

            fn float(self) -> f64 {
                self as f64
            }

            fn signed(self) -> i64 {
                self as i64
            }

            fn unsigned(self) -> u64 {
                self as u64
            }

            #[allow(unused_comparisons)]
            fn negative(self) -> bool {
                self < 0
            }
        })+
    };
}

integers!(i8, i16, i32, i64, u8, u16, u32, u64);
