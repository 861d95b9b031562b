//! The few types that items are compared as.
//!
//! Items of all other types are converted to one of these first ([`reading`](super::reading)), because the inner loops
//! ([`kernel`](super::kernel)) are compiled for each type, and run no slower over float64s made from other items.

use num_complex::Complex;

use super::distance::Distance;
use super::kernel::{PairKernel, TypedKernel};
use crate::item::datetime::NAT;
use crate::item::element::Element;
use crate::item::exact::Binary;

/// A class of items whose values have a common meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ItemClass {
    Integer,
    Float,
    Complex,
    Date,
}

impl ItemClass {
    /// Returns whether items are real numbers, which have a range and a correlation.
    pub(super) fn is_real(self) -> bool {
        match self {
            Self::Integer | Self::Float => true,
            Self::Complex | Self::Date => false,
        }
    }

    /// Returns whether squares of items may be outside the range of float64.
    pub(super) fn is_wide(self) -> bool {
        match self {
            Self::Float | Self::Complex => true,
            Self::Integer | Self::Date => false,
        }
    }
}

/// A real item, or a part of a complex one, without its type.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub(super) enum RealItem {
    Float(f64),
    Integer(i128),
}

impl RealItem {
    /// Returns the nearest float64.
    pub(super) fn near(self) -> f64 {
        match self {
            Self::Float(item) => item,
            Self::Integer(item) => item as f64,
        }
    }

    /// Returns the difference to another item of the same type; that of integers is exact before it becomes a float64.
    pub(super) fn offset(self, from: Self) -> f64 {
        match (self, from) {
            (Self::Integer(item), Self::Integer(from)) => (item - from) as f64,
            (Self::Float(_), _) | (_, Self::Float(_)) => self.near() - from.near(),
        }
    }
}

/// # Panics
/// If the item is NaN or infinite.
impl From<RealItem> for Binary {
    fn from(item: RealItem) -> Self {
        match item {
            RealItem::Float(item) => item.into(),
            RealItem::Integer(item) => {
                let mantissa = item.unsigned_abs().try_into().expect("integers of up to 64 bits are compared");
                Self { negative: item < 0, mantissa, power: 0 }
            }
        }
    }
}

/// An item that is a number, or a date.
pub(super) trait ComparedItem: Copy + Send + Sync + 'static {
    type Distance: Distance;
    const CLASS: ItemClass;
    const SIZE: usize;

    /// Returns the items that little-endian bytes hold. A loop over them is vectorised only where the length of an item is
    /// known, so implementations are inlined.
    fn items(bytes: &[u8]) -> impl ExactSizeIterator<Item = Self> + Clone;

    /// Returns whether the bits are equal.
    fn same(self, other: Self) -> bool;

    /// Returns whether the values are equal: those of +0 and -0 are, though their bits are not.
    fn equals(self, other: Self) -> bool;

    /// Returns whether the item is NaN or NaT.
    fn is_nan(self) -> bool;

    /// Returns whether the item is neither NaN, NaT nor infinite. The methods below are of use for such items only.
    fn is_finite(self) -> bool;

    /// Returns how far two items are apart.
    fn distance(self, other: Self) -> Self::Distance;

    /// Returns the magnitude.
    fn size(self) -> f64;

    /// Returns the real and the imaginary part; the latter is 0.0 for real items.
    fn parts(self) -> [RealItem; 2];

    /// Returns the difference to another item as [`RealItem::offset`] does. Not for complex items.
    fn offset(self, from: Self) -> f64;

    /// Returns whether the item is less than another. Not for complex items.
    fn below(self, other: Self) -> bool;
}

/// Implements [`ComparedItem`] for types of items, each method by an expression of its arguments.
macro_rules! compared_items {
    ($($item:ty: $class:ident, $distance:ty {
        items($bytes:ident) $items:expr;
        same($same_one:ident, $same_other:ident) $same:expr;
        equals($equals_one:ident, $equals_other:ident) $equals:expr;
        is_nan($nan:ident) $is_nan:expr;
        is_finite($finite:ident) $is_finite:expr;
        distance($distance_one:ident, $distance_other:ident) $apart:expr;
        size($sized:ident) $size:expr;
        parts($whole:ident) $parts:expr;
        offset($offset_one:ident, $from:ident) $offset:expr;
        below($below_one:ident, $below_other:ident) $below:expr;
    })+) => {
        $(impl ComparedItem for $item {
            type Distance = $distance;
            const CLASS: ItemClass = ItemClass::$class;
            const SIZE: usize = size_of::<$item>();

            #[inline(always)]
            fn items($bytes: &[u8]) -> impl ExactSizeIterator<Item = Self> + Clone {
                $items
            }
            #[inline(always)]
            fn same(self, $same_other: Self) -> bool {
                let $same_one = self;
                $same
            }
            #[inline(always)]
            fn equals(self, $equals_other: Self) -> bool {
                let $equals_one = self;
                $equals
            }
            #[inline(always)]
            fn is_nan(self) -> bool {
                let $nan = self;
                $is_nan
            }
            #[inline(always)]
            fn is_finite(self) -> bool {
                let $finite = self;
                $is_finite
            }
            #[inline(always)]
            fn distance(self, $distance_other: Self) -> $distance {
                let $distance_one = self;
                $apart
            }
            #[inline(always)]
            fn size(self) -> f64 {
                let $sized = self;
                $size
            }
            #[inline(always)]
            fn parts(self) -> [RealItem; 2] {
                let $whole = self;
                $parts
            }
            #[inline(always)]
            fn offset(self, $from: Self) -> f64 {
                let $offset_one = self;
                $offset
            }
            #[inline(always)]
            fn below(self, $below_other: Self) -> bool {
                let $below_one = self;
                $below
            }
        })+
    };
}

/// Implements [`ComparedItem`] for integers.
macro_rules! integers {
    ($($type:ty: $distance:ty;)+) => {$(
        compared_items! {
            $type: Integer, $distance {
                items(bytes) bytes.as_chunks().0.iter().map(|item| Self::from_le_bytes(*item));
                same(one, other) one == other;
                equals(one, other) one == other;
                is_nan(_item) false;
                is_finite(_item) true;
                distance(one, other) one.abs_diff(other).into();
                size(item) (item as f64).abs();
                parts(item) [RealItem::Integer(item.into()), RealItem::Float(0.0)];
                offset(item, from) {
                    let size = item.abs_diff(from) as f64;
                    if item < from { -size } else { size }
                };
                below(one, other) one < other;
            }
        }
    )+};
}

integers! {
    i64: u64;
    u64: u64;
    i128: u128;
}

/// A bool. Each byte that is not 0 is true, and two of them differ in bits, so a bool does not become a number first.
#[derive(Clone, Copy)]
pub(super) struct BoolItem(u8);

impl BoolItem {
    #[inline(always)]
    fn number(self) -> u8 {
        (self.0 != 0).into()
    }
}

/// The ticks of a date or of a difference of dates, of which the smallest number means NaT.
#[derive(Clone, Copy)]
pub(super) struct TickItem(i64);

compared_items! {
    BoolItem: Integer, u32 {
        items(bytes) bytes.iter().map(|item| Self(*item));
        same(one, other) one.0 == other.0;
        equals(one, other) one.number() == other.number();
        is_nan(_item) false;
        is_finite(_item) true;
        distance(one, other) (one.number() ^ other.number()).into();
        size(item) item.number().into();
        parts(item) [RealItem::Integer(item.number().into()), RealItem::Float(0.0)];
        offset(item, from) f64::from(item.number()) - f64::from(from.number());
        below(one, other) one.number() < other.number();
    }
    TickItem: Date, u64 {
        items(bytes) i64::items(bytes).map(Self);
        same(one, other) one.0 == other.0;
        equals(one, other) one.0 == other.0;
        is_nan(item) item.0 == NAT;
        is_finite(item) item.0 != NAT;
        distance(one, other) one.0.distance(other.0);
        size(item) item.0.size();
        parts(item) item.0.parts();
        offset(item, from) item.0.offset(from.0);
        below(one, other) one.0 < other.0;
    }
    f64: Float, f64 {
        items(bytes) Self::chunks(bytes).iter().map(|item| Self::from_little(*item));
        same(one, other) one.to_bits() == other.to_bits();
        equals(one, other) one == other;
        is_nan(item) item.is_nan();
        is_finite(item) item.is_finite();
        distance(one, other) (one - other).abs();
        size(item) item.abs();
        parts(item) [RealItem::Float(item), RealItem::Float(0.0)];
        offset(item, from) item - from;
        below(one, other) one < other;
    }
    Complex<f64>: Complex, f64 {
        items(bytes) Self::chunks(bytes).iter().map(|item| Self::from_little(*item));
        same(one, other) one.re.same(other.re) && one.im.same(other.im);
        equals(one, other) one == other;
        is_nan(item) item.re.is_nan() || item.im.is_nan();
        is_finite(item) item.re.is_finite() && item.im.is_finite();
        distance(one, other) (one.re - other.re).hypot(one.im - other.im);
        size(item) item.re.hypot(item.im);
        parts(item) [item.re, item.im].map(RealItem::Float);
        offset(_item, _from) unreachable!("complex items have an offset in each part");
        below(_one, _other) unreachable!("complex items have no order");
    }
}

/// The type that items are compared as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ComparedAs {
    /// Floats, and integers that float64 holds.
    Float64,
    Int64,
    UInt64,
    /// Integers of two dtypes.
    Int128,
    Ticks,
    Bool,
    Complex,
}

impl ComparedAs {
    /// Returns the loops over items of this type.
    pub(super) fn kernel(self) -> &'static dyn PairKernel {
        match self {
            Self::Float64 => TypedKernel::<f64>::SHARED,
            Self::Int64 => TypedKernel::<i64>::SHARED,
            Self::UInt64 => TypedKernel::<u64>::SHARED,
            Self::Int128 => TypedKernel::<i128>::SHARED,
            Self::Ticks => TypedKernel::<TickItem>::SHARED,
            Self::Bool => TypedKernel::<BoolItem>::SHARED,
            Self::Complex => TypedKernel::<Complex<f64>>::SHARED,
        }
    }
}
