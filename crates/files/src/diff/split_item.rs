//! Floats and 64-bit integers as one type that holds both exactly.

use crate::item::exact::Binary;

/// A float64, or a 64-bit integer as its nearest float64 and the rest. Parts compare in turn, because rounding is
/// monotonic.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub(super) struct SplitItem {
    pub near: f64,
    pub rest: f64,
}

impl SplitItem {
    #[inline(always)]
    pub(super) fn bytes_of(integer: i128) -> [u8; 16] {
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
    pub(super) fn gap(self, other: Self) -> f64 {
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
        if item.rest == 0.0 { item.near.into() } else { Self::of_integer(item.near as i128 + item.rest as i128) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff::item::ComparedItem;

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
