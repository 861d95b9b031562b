//! The few types that items are compared as. [`reading`](super::reading) converts other items, because the inner loops
//! ([`kernel`](super::kernel)) are compiled for each type.

use num_complex::Complex;

use super::distance::Distance;
use super::lanes::exponent;
use tensorop_kernels::item::datetime::{LONG_NAT, NAT};
use tensorop_kernels::item::element::{Element, inlined};
use tensorop_kernels::item::exact::{Binary, power_of_two};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ItemClass {
    Integer,
    Float,
    Complex,
    Date,
}

impl ItemClass {
    pub(crate) fn is_real(self) -> bool {
        match self {
            Self::Integer | Self::Float => true,
            Self::Complex | Self::Date => false,
        }
    }

    /// Whether squares may overflow or underflow float64.
    pub(crate) fn is_wide(self) -> bool {
        match self {
            Self::Float | Self::Complex => true,
            Self::Integer | Self::Date => false,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub(crate) enum RealItem {
    Float(f64),
    Integer(i128),
    Split(SplitItem),
}

impl RealItem {
    pub(crate) fn near(self) -> f64 {
        match self {
            Self::Float(item) => item,
            Self::Integer(item) => item as f64,
            Self::Split(item) => item.near,
        }
    }

    /// Integers are subtracted exactly before rounding to float64.
    pub(crate) fn offset(self, from: Self) -> f64 {
        match (self, from) {
            (Self::Integer(item), Self::Integer(from)) => (item - from) as f64,
            (Self::Split(item), Self::Split(from)) => item.offset(from),
            (Self::Float(_) | Self::Split(_) | Self::Integer(_), _) => self.near() - from.near(),
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Ends {
    pub low: RealItem,
    pub high: RealItem,
}

/// # Panics
/// If the item is NaN or infinite.
impl From<RealItem> for Binary {
    fn from(item: RealItem) -> Self {
        match item {
            RealItem::Float(item) => item.into(),
            RealItem::Integer(item) => Self::from_integer(item),
            RealItem::Split(item) => item.into(),
        }
    }
}

pub(crate) trait ComparedItem: Copy + Send + Sync + 'static {
    type Distance: Distance;
    const CLASS: ItemClass;
    const SIZE: usize = size_of::<Self>();

    /// Inlined, because loops over items are vectorised only if the itemsize is known.
    fn items(bytes: &[u8]) -> impl ExactSizeIterator<Item = Self> + Clone;

    fn same(self, other: Self) -> bool;

    /// Unlike [`same`](Self::same), true for +0 and -0.
    fn equals(self, other: Self) -> bool;

    fn is_nan(self) -> bool;

    fn is_finite(self) -> bool;

    fn distance(self, other: Self) -> Self::Distance;

    fn size(self) -> f64;

    /// Not for complex items.
    fn real(self) -> RealItem;

    /// Not for complex items.
    fn offset(self, from: Self) -> f64;

    /// Not for complex items.
    fn below(self, other: Self) -> bool;

    /// Floats only.
    fn power(self) -> i32 {
        unreachable!("only floats are scaled")
    }

    /// Divides by `2^power`; floats only.
    fn scaled(self, _power: i32) -> Self {
        unreachable!("only floats are scaled")
    }
}

macro_rules! integers {
    ($($type:ty: $distance:ty;)+) => {$(
        impl ComparedItem for $type {
            type Distance = $distance;
            const CLASS: ItemClass = ItemClass::Integer;

            #[inline(always)]
            fn items(bytes: &[u8]) -> impl ExactSizeIterator<Item = Self> + Clone {
                bytes.as_chunks().0.iter().map(|item| Self::from_le_bytes(*item))
            }

            inlined! {
                fn same(self, other: Self) -> bool { self == other }
                fn equals(self, other: Self) -> bool { self == other }
                fn is_nan(self) -> bool { false }
                fn is_finite(self) -> bool { true }
                fn distance(self, other: Self) -> $distance { self.abs_diff(other).into() }
                fn size(self) -> f64 { (self as f64).abs() }
                fn real(self) -> RealItem { RealItem::Integer(self.into()) }
                fn offset(self, from: Self) -> f64 {
                    let size = self.abs_diff(from) as f64;
                    if self < from { -size } else { size }
                }
                fn below(self, other: Self) -> bool { self < other }
            }
        }
    )+};
}

integers! {
    i64: u64;
    u64: u64;
    i128: u128;
}

/// Every byte except 0 is true. Two true bytes may differ in bits.
#[derive(Clone, Copy)]
pub(crate) struct BoolItem(u8);

impl BoolItem {
    #[inline(always)]
    fn number(self) -> u8 {
        (self.0 != 0).into()
    }
}

impl ComparedItem for BoolItem {
    type Distance = u32;
    const CLASS: ItemClass = ItemClass::Integer;

    #[inline(always)]
    fn items(bytes: &[u8]) -> impl ExactSizeIterator<Item = Self> + Clone {
        bytes.iter().map(|item| Self(*item))
    }

    inlined! {
        fn same(self, other: Self) -> bool { self.0 == other.0 }
        fn equals(self, other: Self) -> bool { self.number() == other.number() }
        fn is_nan(self) -> bool { false }
        fn is_finite(self) -> bool { true }
        fn distance(self, other: Self) -> u32 { (self.number() ^ other.number()).into() }
        fn size(self) -> f64 { self.number().into() }
        fn real(self) -> RealItem { RealItem::Integer(self.number().into()) }
        fn offset(self, from: Self) -> f64 { f64::from(self.number()) - f64::from(from.number()) }
        fn below(self, other: Self) -> bool { self.number() < other.number() }
    }
}

/// Ticks of a date or timedelta; the smallest integer is NaT.
#[derive(Clone, Copy)]
pub(crate) struct TickItem<I>(I);

macro_rules! ticks {
    ($($type:ty: $distance:ty, $nat:expr;)+) => {$(
        impl ComparedItem for TickItem<$type> {
            type Distance = $distance;
            const CLASS: ItemClass = ItemClass::Date;

            #[inline(always)]
            fn items(bytes: &[u8]) -> impl ExactSizeIterator<Item = Self> + Clone {
                <$type>::items(bytes).map(Self)
            }

            inlined! {
                fn same(self, other: Self) -> bool { self.0 == other.0 }
                fn equals(self, other: Self) -> bool { self.0 == other.0 }
                fn is_nan(self) -> bool { self.0 == $nat }
                fn is_finite(self) -> bool { self.0 != $nat }
                fn distance(self, other: Self) -> $distance { self.0.distance(other.0) }
                fn size(self) -> f64 { self.0.size() }
                fn real(self) -> RealItem { self.0.real() }
                fn offset(self, from: Self) -> f64 { self.0.offset(from.0) }
                fn below(self, other: Self) -> bool { self.0 < other.0 }
            }
        }
    )+};
}

ticks! {
    i64: u64, NAT;
    i128: u128, LONG_NAT;
}

impl ComparedItem for f64 {
    type Distance = f64;
    const CLASS: ItemClass = ItemClass::Float;

    #[inline(always)]
    fn items(bytes: &[u8]) -> impl ExactSizeIterator<Item = Self> + Clone {
        Self::chunks(bytes).iter().map(|item| Self::from_little(*item))
    }

    inlined! {
        fn same(self, other: Self) -> bool { self.to_bits() == other.to_bits() }
        fn equals(self, other: Self) -> bool { self == other }
        fn is_nan(self) -> bool { self.is_nan() }
        fn is_finite(self) -> bool { self.is_finite() }
        fn distance(self, other: Self) -> f64 { (self - other).abs() }
        fn size(self) -> f64 { self.abs() }
        fn real(self) -> RealItem { RealItem::Float(self) }
        fn offset(self, from: Self) -> f64 { self - from }
        fn below(self, other: Self) -> bool { self < other }
        fn power(self) -> i32 { exponent(self) }
        fn scaled(self, power: i32) -> Self { self * power_of_two(-i64::from(power)) }
    }
}

impl ComparedItem for SplitItem {
    type Distance = f64;
    const CLASS: ItemClass = ItemClass::Float;

    #[inline(always)]
    fn items(bytes: &[u8]) -> impl ExactSizeIterator<Item = Self> + Clone {
        let part = |bytes: &[u8; 16], at: usize| f64::from_little(*bytes[at..].first_chunk().expect("8 of 16 bytes"));
        bytes.as_chunks().0.iter().map(move |both| Self { near: part(both, 0), rest: part(both, 8) })
    }

    inlined! {
        fn same(self, other: Self) -> bool {
            (self.near.to_bits() == other.near.to_bits()) & (self.rest.to_bits() == other.rest.to_bits())
        }
        fn equals(self, other: Self) -> bool { self == other }
        fn is_nan(self) -> bool { self.near.is_nan() }
        fn is_finite(self) -> bool { self.near.is_finite() }
        fn distance(self, other: Self) -> f64 { self.gap(other) }
        fn size(self) -> f64 { self.near.abs() }
        fn real(self) -> RealItem { RealItem::Split(self) }
        fn offset(self, from: Self) -> f64 { (self.near - from.near) + (self.rest - from.rest) }
        fn below(self, other: Self) -> bool { self < other }
        fn power(self) -> i32 { exponent(self.near) }
        fn scaled(self, power: i32) -> Self {
            let scale = power_of_two(-i64::from(power));
            Self { near: self.near * scale, rest: self.rest * scale }
        }
    }
}

impl ComparedItem for Complex<f64> {
    type Distance = f64;
    const CLASS: ItemClass = ItemClass::Complex;

    #[inline(always)]
    fn items(bytes: &[u8]) -> impl ExactSizeIterator<Item = Self> + Clone {
        Self::chunks(bytes).iter().map(|item| Self::from_little(*item))
    }

    inlined! {
        fn same(self, other: Self) -> bool { self.re.same(other.re) && self.im.same(other.im) }
        fn equals(self, other: Self) -> bool { self == other }
        fn is_nan(self) -> bool { self.re.is_nan() || self.im.is_nan() }
        fn is_finite(self) -> bool { self.re.is_finite() && self.im.is_finite() }
        fn distance(self, other: Self) -> f64 { (self.re - other.re).hypot(self.im - other.im) }
        fn size(self) -> f64 { self.re.hypot(self.im) }
        fn real(self) -> RealItem { unreachable!("complex items have two parts") }
        fn offset(self, _: Self) -> f64 { unreachable!("complex items have an offset in each part") }
        fn below(self, _: Self) -> bool { unreachable!("complex items have no order") }
    }
}

/// A float64, or a 64-bit integer as its nearest float64 and the rest. Parts compare in turn, because rounding is
/// monotonic.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub(crate) struct SplitItem {
    pub near: f64,
    pub rest: f64,
}

impl SplitItem {
    #[inline(always)]
    pub(crate) fn bytes_of(integer: i128) -> [u8; 16] {
        let near = integer as f64;
        // The rest is an integer below one unit in the last place of `near`.
        let rest = (integer - near as i128) as f64;
        let mut both = [0; 16];
        both[..8].copy_from_slice(&near.to_le_bytes());
        both[8..].copy_from_slice(&rest.to_le_bytes());
        both
    }

    /// The absolute difference, rounded once; one item must be a float.
    #[inline(always)]
    pub(crate) fn gap(self, other: Self) -> f64 {
        // The rest of a float is 0, so this difference is exact.
        sum_of_three(self.rest - other.rest, self.near, -other.near).abs()
    }
}

/// The rounded sum and its rounding error (Knuth's TwoSum).
#[inline(always)]
fn two_sum(one: f64, other: f64) -> (f64, f64) {
    let sum = one + other;
    let of_other = sum - one;
    (sum, (one - (sum - of_other)) + (other - of_other))
}

/// Rounds to odd: an inexact sum becomes the neighbour whose last bit is 1.
#[inline(always)]
fn odd_sum(one: f64, other: f64) -> f64 {
    let (sum, error) = two_sum(one, other);
    let is_even = sum.to_bits() & 1 == 0;
    // Away from zero if the error has the sign of the sum.
    let away = (error > 0.0) == (sum > 0.0);
    let odd = f64::from_bits(if away { sum.to_bits().wrapping_add(1) } else { sum.to_bits().wrapping_sub(1) });
    if (error != 0.0) & is_even { odd } else { sum }
}

/// The sum rounded once (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums", 2008).
#[inline(always)]
fn sum_of_three(a: f64, b: f64, c: f64) -> f64 {
    let (high, low) = two_sum(b, c);
    let (top, middle) = two_sum(a, high);
    top + odd_sum(middle, low)
}

/// # Panics
/// If the item is NaN or infinite.
impl From<SplitItem> for Binary {
    fn from(item: SplitItem) -> Self {
        if item.rest == 0.0 { item.near.into() } else { Self::from_integer(item.near as i128 + item.rest as i128) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff::numbers::item::ComparedItem;

    fn of(integer: i128) -> SplitItem {
        SplitItem::items(&SplitItem::bytes_of(integer)).next().expect("an item")
    }

    fn float(near: f64) -> SplitItem {
        SplitItem { near, rest: 0.0 }
    }

    fn integers() -> Vec<i128> {
        let mut bits = 0x9e37_79b9_7f4a_7c15_u64;
        let mut random = || {
            bits ^= bits << 13;
            bits ^= bits >> 7;
            bits ^= bits << 17;
            bits
        };
        let near = (0..=64).flat_map(|power| (-3..=3).map(move |more| (1_i128 << power) + more));
        let any = (0..400).map(|n| i128::from(random() >> (n % 60)));
        let both = near.chain(any).flat_map(|number| [number, -number]);
        both.filter(|number| (i128::from(i64::MIN)..=u64::MAX.into()).contains(number)).collect()
    }

    #[test]
    fn integers_are_held_and_compared_exactly() {
        let integers = integers();
        for &one in &integers {
            assert_eq!(of(one).near as i128 + of(one).rest as i128, one);
            for &other in integers.iter().step_by(17) {
                assert_eq!(of(one).partial_cmp(&of(other)), one.partial_cmp(&other), "{one} {other}");
                let floats = [other as f64, (other as f64).next_up(), 0.0];
                for float_at in floats.into_iter().filter(|float| float.fract() == 0.0) {
                    let exact = one - float_at as i128;
                    assert_eq!(of(one).equals(float(float_at)), exact == 0, "{one} {float_at}");
                    assert_eq!(of(one).distance(float(float_at)), exact.unsigned_abs() as f64, "{one} {float_at}");
                    assert_eq!(float(float_at).distance(of(one)), exact.unsigned_abs() as f64, "{one} {float_at}");
                }
            }
        }
    }

    #[test]
    fn differences_are_rounded_once() {
        let unit = 1_i128 << 53;
        let tiny = f64::from_bits(1);
        let rows = [
            (unit, 0.5, unit as f64),
            (unit + 2, -1.0, (unit + 4) as f64),
            (unit + 1, tiny, unit as f64),
            (unit + 1, -tiny, (unit + 2) as f64),
            (-(unit + 1), tiny, (unit + 2) as f64),
            (unit - 1, tiny, (unit - 1) as f64),
            (1, tiny, 1.0),
            (0, tiny, tiny),
            (3, 1e308, 1e308),
            (i64::MAX.into(), f64::MAX, f64::MAX),
            (i64::MIN.into(), -f64::MAX, f64::MAX),
        ];
        for (integer, other, expected) in rows {
            assert_eq!(of(integer).distance(float(other)), expected, "{integer} {other}");
            assert_eq!(float(other).distance(of(integer)), expected, "{integer} {other}");
        }
        assert!([f64::INFINITY, f64::NAN].into_iter().all(|other| of(3).distance(float(other)).is_nan()));
    }
}
