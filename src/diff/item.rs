//! What `diff` asks of an item: whether two are the same, and how far they are apart.
//!
//! It is asked of few types, which all others become first ([`reading`](super::reading)): a comparison is a lot of code to
//! compile for each type, and runs no slower over float64s that are made of other items on the way.

use num_complex::Complex;

use super::distance::Distance;
use crate::item::datetime::NAT;
use crate::item::element::Element;
use crate::item::exact;

/// Which items have a common meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ItemClass {
    Integer,
    Float,
    Complex,
    Date,
}

/// An item that is a number, or a date.
pub(super) trait ComparedItem: Copy + Send + Sync {
    type Distance: Distance;
    const CLASS: ItemClass;
    const SIZE: usize;
    /// Sums of items count in 2^-UNIT, and those of squares in the square of that: what is below has no weight.
    const UNIT: i32 = 0;
    /// Whether the squares of items may be beyond float64.
    const IS_WIDE: bool = false;

    /// The items that little-endian bytes are. How long one is, is known where a loop over them is compiled, whatever
    /// is inlined there: else it is not vectorised.
    fn items(bytes: &[u8]) -> impl ExactSizeIterator<Item = Self> + Clone;

    /// Whether the bits are equal.
    fn same(self, other: Self) -> bool;

    /// Whether the values are: also where the bits are not, as those of +0 and -0.
    fn equals(self, other: Self) -> bool;

    /// NaN or NaT.
    fn is_nan(self) -> bool;

    /// Neither NaN nor infinite. What follows is of use for such items only.
    fn is_finite(self) -> bool;

    /// How far two items are apart.
    fn distance(self, other: Self) -> Self::Distance;

    /// The magnitude of an item.
    fn size(self) -> f64;

    /// The real and the imaginary part.
    fn parts(self) -> (f64, f64);

    /// The difference to another item; of integers it is exact before it becomes a float64. Of no use for complex items.
    fn offset(self, from: Self) -> f64;

    /// Whether it is less than another. Of no use for complex items.
    fn below(self, other: Self) -> bool;

    /// A finite item exactly: whether it is negative, a whole number, and the power of 2 that it is multiplied with. Of
    /// no use for complex items.
    fn exact(self) -> (bool, u64, i32);
}

macro_rules! integers {
    ($($type:ty: $distance:ty;)+) => {
        $(impl ComparedItem for $type {
            type Distance = $distance;
            const CLASS: ItemClass = ItemClass::Integer;
            const SIZE: usize = size_of::<$type>();

            #[inline(always)]
            fn items(bytes: &[u8]) -> impl ExactSizeIterator<Item = Self> + Clone {
                bytes.as_chunks().0.iter().map(|item| Self::from_le_bytes(*item))
            }
            fn same(self, other: Self) -> bool {
                self == other
            }
            fn equals(self, other: Self) -> bool {
                self == other
            }
            fn is_nan(self) -> bool {
                false
            }
            fn is_finite(self) -> bool {
                true
            }
            fn distance(self, other: Self) -> $distance {
                self.abs_diff(other).into()
            }
            fn size(self) -> f64 {
                (self as f64).abs()
            }
            fn parts(self) -> (f64, f64) {
                (self as f64, 0.0)
            }
            #[inline(always)]
            fn offset(self, from: Self) -> f64 {
                let size = self.abs_diff(from) as f64;
                if self < from { -size } else { size }
            }
            #[inline(always)]
            fn below(self, other: Self) -> bool {
                self < other
            }
            fn exact(self) -> (bool, u64, i32) {
                // those of 128 bits have been integers of 64
                (self < Self::default(), u64::try_from(self.abs_diff(0)).unwrap_or(u64::MAX), 0)
            }
        })+
    };
}

integers! {
    i64: u64;
    u64: u64;
    i128: u128;
}

/// A bool: each byte that is not zero is true.
#[derive(Clone, Copy)]
pub(super) struct Bool(u8);

impl ComparedItem for Bool {
    type Distance = u32;
    const CLASS: ItemClass = ItemClass::Integer;
    const SIZE: usize = 1;

    fn items(bytes: &[u8]) -> impl ExactSizeIterator<Item = Self> + Clone {
        bytes.iter().map(|item| Self(*item))
    }
    fn same(self, other: Self) -> bool {
        self.0 == other.0
    }
    fn equals(self, other: Self) -> bool {
        self.distance(other) == 0
    }
    fn is_nan(self) -> bool {
        false
    }
    fn is_finite(self) -> bool {
        true
    }
    fn distance(self, other: Self) -> u32 {
        u32::from((self.0 != 0) != (other.0 != 0))
    }
    fn size(self) -> f64 {
        u32::from(self.0 != 0).into()
    }
    fn parts(self) -> (f64, f64) {
        (self.size(), 0.0)
    }
    fn offset(self, from: Self) -> f64 {
        f64::from(u8::from(self.0 != 0)) - f64::from(u8::from(from.0 != 0))
    }
    fn below(self, other: Self) -> bool {
        self.0 == 0 && other.0 != 0
    }
    fn exact(self) -> (bool, u64, i32) {
        (false, (self.0 != 0).into(), 0)
    }
}

/// The ticks of a date or of a difference of dates.
#[derive(Clone, Copy)]
pub(super) struct Ticks(i64);

impl ComparedItem for Ticks {
    type Distance = u64;
    const CLASS: ItemClass = ItemClass::Date;
    const SIZE: usize = 8;

    fn items(bytes: &[u8]) -> impl ExactSizeIterator<Item = Self> + Clone {
        i64::items(bytes).map(Self)
    }
    fn same(self, other: Self) -> bool {
        self.0 == other.0
    }
    fn equals(self, other: Self) -> bool {
        self.0 == other.0
    }
    fn is_nan(self) -> bool {
        self.0 == NAT
    }
    fn is_finite(self) -> bool {
        self.0 != NAT
    }
    fn distance(self, other: Self) -> u64 {
        self.0.abs_diff(other.0)
    }
    fn size(self) -> f64 {
        self.0.size()
    }
    fn parts(self) -> (f64, f64) {
        self.0.parts()
    }
    fn offset(self, from: Self) -> f64 {
        self.0.offset(from.0)
    }
    fn below(self, other: Self) -> bool {
        self.0 < other.0
    }
    fn exact(self) -> (bool, u64, i32) {
        self.0.exact()
    }
}

/// What float64 makes of an item is not below 2^-1074; 2^-1200 is below what any square adds to a sum.
const FLOAT_UNIT: i32 = 1200;

impl ComparedItem for f64 {
    type Distance = f64;
    const CLASS: ItemClass = ItemClass::Float;
    const SIZE: usize = 8;
    const UNIT: i32 = FLOAT_UNIT;
    const IS_WIDE: bool = true;

    #[inline(always)]
    fn items(bytes: &[u8]) -> impl ExactSizeIterator<Item = Self> + Clone {
        Self::chunks(bytes).iter().map(|item| Self::from_little(*item))
    }
    fn same(self, other: Self) -> bool {
        self.to_bits() == other.to_bits()
    }
    fn equals(self, other: Self) -> bool {
        self == other
    }
    fn is_nan(self) -> bool {
        self.is_nan()
    }
    fn is_finite(self) -> bool {
        self.is_finite()
    }
    fn distance(self, other: Self) -> f64 {
        (self - other).abs()
    }
    fn size(self) -> f64 {
        self.abs()
    }
    fn parts(self) -> (f64, f64) {
        (self, 0.0)
    }
    #[inline(always)]
    fn offset(self, from: Self) -> f64 {
        self - from
    }
    #[inline(always)]
    fn below(self, other: Self) -> bool {
        self < other
    }
    fn exact(self) -> (bool, u64, i32) {
        exact::parts(self).unwrap_or_default()
    }
}

impl ComparedItem for Complex<f64> {
    type Distance = f64;
    const CLASS: ItemClass = ItemClass::Complex;
    const SIZE: usize = 16;
    const UNIT: i32 = FLOAT_UNIT;
    const IS_WIDE: bool = true;

    #[inline(always)]
    fn items(bytes: &[u8]) -> impl ExactSizeIterator<Item = Self> + Clone {
        Self::chunks(bytes).iter().map(|item| Self::from_little(*item))
    }
    fn same(self, other: Self) -> bool {
        self.re.same(other.re) && self.im.same(other.im)
    }
    fn equals(self, other: Self) -> bool {
        self.re.equals(other.re) && self.im.equals(other.im)
    }
    fn is_nan(self) -> bool {
        self.re.is_nan() || self.im.is_nan()
    }
    fn is_finite(self) -> bool {
        self.re.is_finite() && self.im.is_finite()
    }
    fn distance(self, other: Self) -> f64 {
        (self.re - other.re).hypot(self.im - other.im)
    }
    fn size(self) -> f64 {
        self.re.hypot(self.im)
    }
    fn parts(self) -> (f64, f64) {
        (self.re, self.im)
    }
    fn offset(self, _: Self) -> f64 {
        0.0
    }
    fn below(self, _: Self) -> bool {
        false
    }
    fn exact(self) -> (bool, u64, i32) {
        (false, 0, 0)
    }
}

/// The type that items are compared as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compared {
    /// Floats, and integers that float64 holds.
    Real,
    Int64,
    UInt64,
    /// Integers of two dtypes.
    Int128,
    Ticks,
    Bool,
    Complex,
}

/// What is done with items, of whichever type they are.
pub(super) trait Task {
    type Output;

    fn run<T: ComparedItem + 'static>(self) -> Self::Output;
}

/// Asks for the bytes of an item.
struct Size;

impl Task for Size {
    type Output = usize;

    fn run<T: ComparedItem + 'static>(self) -> usize {
        T::SIZE
    }
}

impl Compared {
    /// The bytes of an item.
    pub(super) fn size(self) -> usize {
        self.with(Size)
    }

    /// Does a task with items of that type.
    pub(super) fn with<K: Task>(self, task: K) -> K::Output {
        match self {
            Self::Real => task.run::<f64>(),
            Self::Int64 => task.run::<i64>(),
            Self::UInt64 => task.run::<u64>(),
            Self::Int128 => task.run::<i128>(),
            Self::Ticks => task.run::<Ticks>(),
            Self::Bool => task.run::<Bool>(),
            Self::Complex => task.run::<Complex<f64>>(),
        }
    }
}
