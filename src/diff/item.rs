//! What `diff` asks of an item: whether two are the same, and how far they are apart.

use std::array;

use half::{bf16, f16};
use num_complex::Complex;

use super::distance::Distance;
use crate::item::datetime::NAT;
use crate::item::dtype::Kind;
use crate::item::element::{self, Element, match_kind};
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
    /// A number of steps: the shorter its type, the more of them a loop has at once.
    type Steps: Copy + PartialOrd + Into<u64> + TryFrom<u64>;
    const CLASS: ItemClass;
    const SIZE: usize;
    /// Sums of items count in 2^-UNIT, and those of squares in the square of that: what is below has no weight.
    const UNIT: i32 = 0;
    /// Whether the squares of items may be beyond float64.
    const IS_WIDE: bool = false;

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

    /// How many steps from value to neighbouring value lie between two items.
    fn steps(self, other: Self) -> Self::Steps;

    /// The item as an integer, if its class is that.
    fn integer(self) -> i128;

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
    ($($type:ty: $distance:ty, $steps:ty;)+) => {
        $(impl ComparedItem for $type {
            type Distance = $distance;
            type Steps = $steps;
            const CLASS: ItemClass = ItemClass::Integer;
            const SIZE: usize = size_of::<$type>();

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
            fn steps(self, other: Self) -> $steps {
                <$steps>::try_from(self.abs_diff(other)).unwrap_or(<$steps>::MAX)
            }
            fn integer(self) -> i128 {
                self.into()
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
    i8: u32, u32;
    i16: u32, u32;
    i32: u32, u32;
    i64: u64, u64;
    u8: u32, u32;
    u16: u32, u32;
    u32: u32, u32;
    u64: u64, u64;
    i128: u128, u64;
}

/// A bool: each byte that is not zero is true.
#[derive(Clone, Copy)]
pub(super) struct Bool(u8);

impl ComparedItem for Bool {
    type Distance = u32;
    type Steps = u32;
    const CLASS: ItemClass = ItemClass::Integer;
    const SIZE: usize = 1;

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
    fn steps(self, other: Self) -> u32 {
        self.distance(other)
    }
    fn integer(self) -> i128 {
        (self.0 != 0).into()
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
    type Steps = u64;
    const CLASS: ItemClass = ItemClass::Date;
    const SIZE: usize = 8;

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
    fn steps(self, other: Self) -> u64 {
        self.0.abs_diff(other.0)
    }
    fn integer(self) -> i128 {
        self.0.into()
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

/// A float: what float64 makes of it, and its place among its like.
pub(super) trait Float: Copy + Send + Sync {
    /// A number of steps.
    type Steps: Copy + Ord + Into<u64> + TryFrom<u64>;
    const SIZE: usize;

    /// Its bits, which no other item has.
    fn bits(self) -> u64;

    /// Its value.
    fn wide(self) -> f64;

    /// How many steps from value to neighbouring value lie between two: none between +0 and -0.
    fn steps(self, other: Self) -> Self::Steps;
}

impl Float for f32 {
    type Steps = u32;
    const SIZE: usize = 4;

    fn bits(self) -> u64 {
        self.to_bits().into()
    }
    fn wide(self) -> f64 {
        self.into()
    }
    fn steps(self, other: Self) -> u32 {
        ordinal32(self.to_bits()).abs_diff(ordinal32(other.to_bits()))
    }
}

impl Float for f64 {
    type Steps = u64;
    const SIZE: usize = 8;

    fn bits(self) -> u64 {
        self.to_bits()
    }
    fn wide(self) -> f64 {
        self
    }
    fn steps(self, other: Self) -> u64 {
        ordinal64(self.to_bits()).abs_diff(ordinal64(other.to_bits()))
    }
}

/// The number of a float in the order of all values, neighbours being one apart, from its bits, which order values as
/// integers do but for the sign. The subtraction never wraps; a check of that would keep loops from being vectorised.
fn ordinal64(bits: u64) -> i64 {
    let sign = bits as i64 >> 63;
    ((bits & (u64::MAX >> 1)) as i64 ^ sign).wrapping_sub(sign)
}

/// The same of one of 32 bits, or of 16 as the upper ones of those.
fn ordinal32(bits: u32) -> i32 {
    let sign = bits as i32 >> 31;
    ((bits & (u32::MAX >> 1)) as i32 ^ sign).wrapping_sub(sign)
}

macro_rules! short_floats {
    ($($type:ty),+) => {
        $(impl Float for $type {
            type Steps = u32;
            const SIZE: usize = 2;

            fn bits(self) -> u64 {
                self.to_bits().into()
            }
            fn wide(self) -> f64 {
                element::Float::wide(self)
            }
            fn steps(self, other: Self) -> u32 {
                let ordinal = |item: Self| ordinal32(u32::from(item.to_bits()) << 16) >> 16;
                ordinal(self).abs_diff(ordinal(other))
            }
        })+
    };
}

short_floats!(f16, bf16);

/// A float of 8 bits or fewer, as a table tells it.
#[derive(Clone, Copy)]
pub(super) struct Small {
    value: f64,
    ordinal: i32,
    bits: u8,
}

impl Float for Small {
    type Steps = u32;
    const SIZE: usize = 1;

    fn bits(self) -> u64 {
        self.bits.into()
    }
    fn wide(self) -> f64 {
        self.value
    }
    fn steps(self, other: Self) -> u32 {
        self.ordinal.abs_diff(other.ordinal)
    }
}

impl<F: Float> ComparedItem for F {
    type Distance = f64;
    type Steps = F::Steps;
    const CLASS: ItemClass = ItemClass::Float;
    const SIZE: usize = F::SIZE;
    const UNIT: i32 = unit(F::SIZE);
    const IS_WIDE: bool = F::SIZE == 8;

    fn same(self, other: Self) -> bool {
        self.bits() == other.bits()
    }
    fn equals(self, other: Self) -> bool {
        self.wide() == other.wide()
    }
    fn is_nan(self) -> bool {
        self.wide().is_nan()
    }
    fn is_finite(self) -> bool {
        self.wide().is_finite()
    }
    fn distance(self, other: Self) -> f64 {
        (self.wide() - other.wide()).abs()
    }
    fn size(self) -> f64 {
        self.wide().abs()
    }
    fn steps(self, other: Self) -> F::Steps {
        Float::steps(self, other)
    }
    fn integer(self) -> i128 {
        0
    }
    fn parts(self) -> (f64, f64) {
        (self.wide(), 0.0)
    }
    #[inline(always)]
    fn offset(self, from: Self) -> f64 {
        self.wide() - from.wide()
    }
    #[inline(always)]
    fn below(self, other: Self) -> bool {
        self.wide() < other.wide()
    }
    fn exact(self) -> (bool, u64, i32) {
        exact::parts(self.wide()).unwrap_or_default()
    }
}

/// What float64 makes of items of so many bytes is not below 2^-200 if they are short, and of float64 itself 2^-1200 is
/// below what any square adds to a sum.
const fn unit(bytes: usize) -> i32 {
    if bytes == 8 { 1200 } else { 200 }
}

impl<F: Float> ComparedItem for Complex<F> {
    type Distance = f64;
    type Steps = F::Steps;
    const CLASS: ItemClass = ItemClass::Complex;
    const SIZE: usize = 2 * F::SIZE;
    const UNIT: i32 = unit(F::SIZE);
    const IS_WIDE: bool = F::SIZE == 8;

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
        (self.re.wide() - other.re.wide()).hypot(self.im.wide() - other.im.wide())
    }
    fn size(self) -> f64 {
        self.re.wide().hypot(self.im.wide())
    }
    fn steps(self, other: Self) -> F::Steps {
        Float::steps(self.re, other.re).max(Float::steps(self.im, other.im))
    }
    fn integer(self) -> i128 {
        0
    }
    fn parts(self) -> (f64, f64) {
        (self.re.wide(), self.im.wide())
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

/// What is done with the items of a dtype, whichever it is.
pub(super) trait Task {
    type Output;

    /// `read` makes an item of its little-endian bytes.
    fn run<T: ComparedItem>(self, read: impl Fn(&[u8]) -> T + Copy + Send + Sync + 'static) -> Self::Output;
}

/// Does a task with the items that a dtype has.
///
/// # Errors
/// The task again, for items that are no numbers and no dates.
pub(super) fn with_items<K: Task>(kind: &Kind, task: K) -> Result<K::Output, K> {
    Ok(match_kind!(*kind, {
        // the bits of two bools may differ although both are true
        bool T => task.run(|bytes| Bool(u8::read_le(bytes))),
        integer T => task.run(T::read_le),
        float T => task.run(T::read_le),
        complex T => task.run(T::read_le),
        Kind::Datetime(_) | Kind::Timedelta(_) => task.run(|bytes| Ticks(i64::read_le(bytes))),
        Kind::Narrow(narrow) if narrow.is_integer() => {
            let table: [i8; 256] = array::from_fn(|item| narrow.value(item as u8) as i8);
            task.run(move |bytes| table[usize::from(u8::read_le(bytes))])
        }
        Kind::Narrow(narrow) => {
            let mask = ((1_u32 << narrow.bits()) - 1) as u8;
            let table: [Small; 256] = array::from_fn(|item| Small {
                value: narrow.value(item as u8),
                ordinal: narrow.ordinal(item as u8).unwrap_or(0) as i32,
                bits: item as u8 & mask,
            });
            task.run(move |bytes| table[usize::from(u8::read_le(bytes))])
        }
        Kind::LongDouble(_) | Kind::ComplexLongDouble(_) => return Err(task),
        Kind::Bytes(_) | Kind::Str(_) | Kind::Void(_) | Kind::Struct(_) => return Err(task),
    }))
}

/// An integer of 16 bytes, which no dtype has: what integers of two dtypes are compared as.
pub(super) fn read_i128(bytes: &[u8]) -> i128 {
    i128::from_le_bytes(*bytes.first_chunk().unwrap_or(&[0; 16]))
}
