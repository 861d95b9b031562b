//! The Rust types of items, matched to kinds only here.

use std::fmt::Debug;

use half::{bf16, f16};
use num_complex::Complex;

use crate::item::dtype::{DType, Kind};
use crate::item::float16;

mod sealed {
    #[allow(unnameable_types, reason = "only the types below are elements")]
    pub trait Sealed {}
}

/// A Rust type of items: bool, integers of 8 to 64 bits, [`f16`](struct@f16), [`bf16`], f32, f64, [`Complex`] of the
/// last two.
///
/// ```
/// use tensorop_kernels::Element;
/// assert_eq!(f32::dtype(), tensorop_kernels::DType::parse("float32").unwrap());
/// assert_eq!((f32::from_big([0x3f, 0x80, 0, 0]), 1_f32.to_little()), (1.0, [0, 0, 0x80, 0x3f]));
/// assert_eq!(<num_complex::Complex<f32> as Element>::SIZE, 8);
/// ```
pub trait Element: Copy + Debug + PartialEq + Send + Sync + sealed::Sealed + 'static {
    /// The bytes of an item.
    type Bytes: Copy + AsRef<[u8]> + AsMut<[u8]> + Debug + Send + Sync;
    /// The part of a complex number, or the type itself.
    type Part: Element;
    /// Bytes per item.
    const SIZE: usize = size_of::<Self::Bytes>();

    /// Returns the little-endian dtype.
    fn dtype() -> DType;

    /// Reads little-endian bytes. A bool is true for any byte except 0.
    fn from_little(bytes: Self::Bytes) -> Self;

    /// Reads big-endian bytes.
    fn from_big(bytes: Self::Bytes) -> Self;

    /// Returns little-endian bytes.
    fn to_little(self) -> Self::Bytes;

    /// Returns big-endian bytes.
    fn to_big(self) -> Self::Bytes;

    /// Splits `bytes` into items, without an incomplete last one.
    fn chunks(bytes: &[u8]) -> &[Self::Bytes];

    /// Splits mutable `bytes` like [`chunks`](Self::chunks).
    fn chunks_mut(bytes: &mut [u8]) -> &mut [Self::Bytes];

    /// Reads the first little-endian item; 0 if `bytes` is too short.
    fn read_le(bytes: &[u8]) -> Self;
}

/// The array type is spelled out, because the length of an array cannot be a constant of a trait.
macro_rules! elements {
    ($($type:ty, $size:literal, $part:ty, $kind:ident, $from_le:expr, $from_be:expr, $to_le:expr, $to_be:expr;)+) => {$(
        impl sealed::Sealed for $type {}

        impl Element for $type {
            type Bytes = [u8; $size];
            type Part = $part;

            fn dtype() -> DType {
                Kind::$kind.into()
            }
            #[inline(always)]
            fn from_little(bytes: [u8; $size]) -> Self {
                $from_le(bytes)
            }
            #[inline(always)]
            fn from_big(bytes: [u8; $size]) -> Self {
                $from_be(bytes)
            }
            #[inline(always)]
            fn to_little(self) -> [u8; $size] {
                $to_le(self)
            }
            #[inline(always)]
            fn to_big(self) -> [u8; $size] {
                $to_be(self)
            }
            #[inline(always)]
            fn chunks(bytes: &[u8]) -> &[[u8; $size]] {
                bytes.as_chunks().0
            }
            #[inline(always)]
            fn chunks_mut(bytes: &mut [u8]) -> &mut [[u8; $size]] {
                bytes.as_chunks_mut().0
            }
            #[inline(always)]
            fn read_le(bytes: &[u8]) -> Self {
                Self::from_little(*bytes.first_chunk().unwrap_or(&[0; $size]))
            }
        }
    )+};
}

macro_rules! real_elements {
    ($($type:ty, $size:literal, $kind:ident;)+) => {
        elements! {$(
            $type, $size, $type, $kind,
            <$type>::from_le_bytes, <$type>::from_be_bytes, <$type>::to_le_bytes, <$type>::to_be_bytes;
        )+}
    };
}

real_elements! {
    i8, 1, Int8;
    i16, 2, Int16;
    i32, 4, Int32;
    i64, 8, Int64;
    u8, 1, UInt8;
    u16, 2, UInt16;
    u32, 4, UInt32;
    u64, 8, UInt64;
    f16, 2, Float16;
    bf16, 2, BFloat16;
    f32, 4, Float32;
    f64, 8, Float64;
}

elements! {
    bool, 1, bool, Bool, bool_from, bool_from, bool_to, bool_to;
    Complex<f32>, 8, f32, Complex64,
        |bytes| complex_from(bytes, f32::from_le_bytes), |bytes| complex_from(bytes, f32::from_be_bytes),
        |item| complex_to(item, f32::to_le_bytes), |item| complex_to(item, f32::to_be_bytes);
    Complex<f64>, 16, f64, Complex128,
        |bytes| complex_from(bytes, f64::from_le_bytes), |bytes| complex_from(bytes, f64::from_be_bytes),
        |item| complex_to(item, f64::to_le_bytes), |item| complex_to(item, f64::to_be_bytes);
}

#[inline(always)]
fn bool_from([byte]: [u8; 1]) -> bool {
    byte != 0
}

#[inline(always)]
fn bool_to(item: bool) -> [u8; 1] {
    [item.into()]
}

#[inline(always)]
fn complex_from<T, const N: usize, const PART: usize>(bytes: [u8; N], from: impl Fn([u8; PART]) -> T) -> Complex<T> {
    let parts = bytes.as_chunks::<PART>().0;
    Complex::new(from(parts[0]), from(parts[1]))
}

#[inline(always)]
fn complex_to<T, const N: usize, const PART: usize>(item: Complex<T>, to: impl Fn(T) -> [u8; PART]) -> [u8; N] {
    let mut bytes = [0; N];
    let parts = bytes.as_chunks_mut::<PART>().0;
    (parts[0], parts[1]) = (to(item.re), to(item.im));
    bytes
}

/// Floats of 16 to 64 bits.
pub trait Float: Element {
    /// The number as float64, which holds it exactly.
    fn wide(self) -> f64;
    /// Rounds ties to even.
    fn nearest(value: f64) -> Self;
}

macro_rules! floats {
    ($($type:ty, $wide:expr, $nearest:expr;)+) => {$(
        impl Float for $type {
            #[inline(always)]
            fn wide(self) -> f64 {
                $wide(self)
            }
            #[inline(always)]
            fn nearest(value: f64) -> Self {
                $nearest(value)
            }
        }
    )+};
}

floats! {
    f16, |item| float16::f16_to_f32(item).into(), float16::f16_from_f64;
    bf16, |item| float16::bf16_to_f32(item).into(), float16::bf16_from_f64;
    f32, f64::from, |value| value as f32;
    f64, |item| item, |value| value;
}

/// A `match` over a [`Kind`]; arms for Rust types name the type `T` and are compiled for each type.
///
/// ```text
/// match_kind!(dtype.kind(), {
///     bool T => .., integer T => .., float T => .., complex T => ..,   // or: number T => ..,
///     Kind::Narrow(narrow) => ..,
///     Kind::Bytes(_) | Kind::Str(_) | Kind::Void(_) | .. => ..,   // or: not_numbers!() => ..,
/// })
/// ```
///
/// A generic visitor could not replace this macro, because each module has its own trait for numbers.
#[doc(hidden)]
#[macro_export]
macro_rules! match_kind {
    ($kind:expr, { number $type:ident => $number:expr, $($rest:tt)* }) => {
        $crate::item::element::match_kind!($kind, {
            bool $type => $number,
            integer $type => $number,
            float $type => $number,
            complex $type => $number,
            $($rest)*
        })
    };
    ($kind:expr, {
        bool $bool:ident => $of_bool:expr,
        integer $integer:ident => $of_integer:expr,
        float $float:ident => $of_float:expr,
        complex $complex:ident => $of_complex:expr,
        $($rest:tt)*
    }) => {
        match $kind {
            $crate::item::dtype::Kind::Bool => $crate::item::element::arm!($bool, bool, $of_bool),
            $crate::item::dtype::Kind::Int8 => $crate::item::element::arm!($integer, i8, $of_integer),
            $crate::item::dtype::Kind::Int16 => $crate::item::element::arm!($integer, i16, $of_integer),
            $crate::item::dtype::Kind::Int32 => $crate::item::element::arm!($integer, i32, $of_integer),
            $crate::item::dtype::Kind::Int64 => $crate::item::element::arm!($integer, i64, $of_integer),
            $crate::item::dtype::Kind::UInt8 => $crate::item::element::arm!($integer, u8, $of_integer),
            $crate::item::dtype::Kind::UInt16 => $crate::item::element::arm!($integer, u16, $of_integer),
            $crate::item::dtype::Kind::UInt32 => $crate::item::element::arm!($integer, u32, $of_integer),
            $crate::item::dtype::Kind::UInt64 => $crate::item::element::arm!($integer, u64, $of_integer),
            $crate::item::dtype::Kind::Float16 => $crate::item::element::arm!($float, ::half::f16, $of_float),
            $crate::item::dtype::Kind::BFloat16 => $crate::item::element::arm!($float, ::half::bf16, $of_float),
            $crate::item::dtype::Kind::Float32 => $crate::item::element::arm!($float, f32, $of_float),
            $crate::item::dtype::Kind::Float64 => $crate::item::element::arm!($float, f64, $of_float),
            $crate::item::dtype::Kind::Complex64 => {
                $crate::item::element::arm!($complex, ::num_complex::Complex<f32>, $of_complex)
            }
            $crate::item::dtype::Kind::Complex128 => {
                $crate::item::element::arm!($complex, ::num_complex::Complex<f64>, $of_complex)
            }
            $($rest)*
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! arm {
    ($name:ident, $type:ty, $body:expr) => {{
        #[allow(dead_code)] // an arm may be the same for all types
        type $name = $type;
        $body
    }};
}

/// Kinds without a Rust type.
#[doc(hidden)]
#[macro_export]
macro_rules! not_numbers {
    () => {
        $crate::item::dtype::Kind::LongDouble(_)
            | $crate::item::dtype::Kind::ComplexLongDouble(_)
            | $crate::item::dtype::Kind::Bytes(_)
            | $crate::item::dtype::Kind::Str(_)
            | $crate::item::dtype::Kind::Void(_)
            | $crate::item::dtype::Kind::Struct(_)
            | $crate::item::dtype::Kind::Datetime(_)
            | $crate::item::dtype::Kind::Timedelta(_)
    };
}

/// A loop is vectorised only if all calls in it are inlined.
#[doc(hidden)]
#[macro_export]
macro_rules! inlined {
    ($(fn $name:ident $arguments:tt -> $result:ty $body:block)+) => {
        $(#[inline(always)]
        fn $name $arguments -> $result $body)+
    };
}

pub use inlined;
pub use {arm, match_kind, not_numbers};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_the_type_that_has_it() {
        let names = [
            "bool",
            "int8",
            "int16",
            "int32",
            "int64",
            "uint8",
            "uint16",
            "uint32",
            "uint64",
            "float16",
            "bfloat16",
            "float32",
            "float64",
            "complex64",
            "complex128",
        ];
        for name in names {
            let dtype = DType::parse(name).unwrap();
            let (found, size) = match_kind!(dtype.kind(), {
                number T => (T::dtype(), <T as Element>::SIZE),
                Kind::Narrow(_)
                | Kind::LongDouble(_)
                | Kind::ComplexLongDouble(_)
                | Kind::Bytes(_)
                | Kind::Str(_)
                | Kind::Void(_)
                | Kind::Struct(_)
                | Kind::Datetime(_)
                | Kind::Timedelta(_) => panic!("{name} is a Rust type"),
            });
            assert_eq!((found, size), (dtype.clone(), dtype.itemsize()), "{name}");
        }
    }

    #[test]
    fn bytes_of_both_orders() {
        assert_eq!((i16::from_little([1, 2]), i16::from_big([1, 2])), (0x201, 0x102));
        assert_eq!((bool::from_little([7]), bool::from_big([0]), Element::to_little(true)), (true, false, [1]));
        let complex = Complex::new(1_f32, -2.0);
        assert_eq!(complex.to_big(), [0x3f, 0x80, 0, 0, 0xc0, 0, 0, 0]);
        assert_eq!(Complex::<f32>::from_big(complex.to_big()), complex);
        assert_eq!(Complex::<f32>::from_little(complex.to_little()), complex);
        assert_eq!((u32::read_le(&[1, 0, 0, 0, 9]), u32::read_le(&[1, 2, 3])), (1, 0));
        assert_eq!(u16::chunks(&[1, 2, 3]), [[1, 2]]);
    }
}
