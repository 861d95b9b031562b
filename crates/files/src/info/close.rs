//! Exact float64 sums of float32s of similar magnitude and of their squares. Most blocks of real data qualify, and
//! these sums are vectorised, unlike sums by exponent.

use crate::item::exact::power_of_two;

/// Any sum of this many numbers is exact.
pub(super) const MAX_ITEMS: usize = 1 << 11;

/// The largest difference between exponents of nonzero numbers.
///
/// Let E be the largest exponent and e the smallest, so all numbers are multiples of 2^(e-23) below 2^(E+1). A sum of
/// 2^11 ([`MAX_ITEMS`]) numbers is a multiple of 2^(e-23) below 2^(E+12), which has 53 bits if E-e is at most 18. The
/// part of a square below 2^(2E-39) is at most half of 2^(2E-39) and a multiple of 2^(2e-46). A sum of 2^11 parts is at
/// most 2^(2E-29), which also has 53 bits if E-e is at most 18.
const CLOSE: i32 = 18;

/// Independent sums, because an addition takes several cycles.
const LANES: usize = 4;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct CloseSums {
    pub sum: f64,
    /// The upper and the lower parts.
    pub squares: [f64; 2],
}

/// `None` if a number is not finite or the exponents differ too much.
pub(super) fn close_sums(block: &[f32]) -> Option<CloseSums> {
    assert!(block.len() <= MAX_ITEMS, "sums of more numbers may be rounded");
    // Adding this wraps for every magnitude except 0, so that 0 compares as the largest.
    const ZERO_LAST: i32 = i32::MAX;
    let (mut least, mut most) = (ZERO_LAST, 0);
    for item in block {
        let size = (item.to_bits() & i32::MAX as u32) as i32;
        least = least.min(size.wrapping_add(ZERO_LAST));
        most = most.max(size);
    }
    if most == 0 {
        return Some(CloseSums::default());
    }
    // Subnormals share the unit of the smallest normal numbers.
    let exponent = |size: i32| (size >> 23).max(1);
    if most >= f32::INFINITY.to_bits() as i32 || exponent(most) - exponent(least.wrapping_sub(ZERO_LAST)) > CLOSE {
        return None;
    }
    // Adding this rounds to a multiple of 2^(2E-39), its last bit, because a square has 41 bits above.
    let rounds = 1.5 * power_of_two(i64::from(2 * (exponent(most) - 127) - 39 + 52));
    let (mut sums, mut upper, mut lower) = ([0.0; LANES], [0.0; LANES], [0.0; LANES]);
    let (groups, rest) = block.as_chunks::<LANES>();
    let mut last = [0.0; LANES];
    last[..rest.len()].copy_from_slice(rest);
    for group in groups.iter().chain([&last]) {
        for lane in 0..LANES {
            let item = f64::from(group[lane]);
            let square = item * item;
            let top = (square + rounds) - rounds;
            sums[lane] += item;
            upper[lane] += top;
            lower[lane] += square - top;
        }
    }
    let [sum, upper, lower] = [sums, upper, lower].map(|lanes| lanes.iter().sum());
    Some(CloseSums { sum, squares: [upper, lower] })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item::exact::{Binary, Exact};

    fn assert_exact(block: &[f32], name: &str) {
        let CloseSums { sum, squares } = close_sums(block).unwrap_or_else(|| panic!("{name}: not close enough"));
        let (mut sum_left, mut squares_left) = (Exact::default(), Exact::default());
        sum_left.add(Binary::from(-sum));
        squares.iter().for_each(|&part| squares_left.add(Binary::from(-part)));
        for item in block.iter().map(|&item| f64::from(item)) {
            sum_left.add(item);
            squares_left.add_product(item, item);
        }
        assert!(sum_left.is_zero() && squares_left.is_zero(), "{name}");
    }

    fn numbers(count: usize, low: u32, high: u32, sign: u32) -> Vec<f32> {
        let bits = |i: usize| {
            let random = (i as u32 + 1).wrapping_mul(2_654_435_761);
            let field = match i {
                0 => high,
                1 => low,
                _ => low + (random >> 8) % (high - low + 1),
            };
            (random & sign) << 31 | field << 23 | random >> 9 | 1
        };
        (0..count).map(|i| f32::from_bits(bits(i))).collect()
    }

    #[test]
    fn nothing_is_rounded() {
        for high in [0, 1, 2, 19, 127, 254] {
            for range in [0, 1, 7, CLOSE as u32] {
                for count in [1, 2, 3, 5, 64, MAX_ITEMS - 1, MAX_ITEMS] {
                    for sign in [0, 1] {
                        let low = u32::saturating_sub(high, range);
                        let block = numbers(count, low, high, sign);
                        assert_exact(&block, &format!("{count} numbers of exponents {low} to {high}"));
                        let zeros: Vec<f32> = block.iter().skip(1).flat_map(|&item| [0.0, item, -0.0]).collect();
                        assert_exact(&zeros[..zeros.len().min(MAX_ITEMS)], "with zeros");
                    }
                }
            }
        }
        // The largest magnitude, beside the smallest number within range.
        let mut block = vec![f32::MAX; MAX_ITEMS];
        assert_exact(&block, "the largest");
        block[MAX_ITEMS / 2] = f32::from_bits((254 - CLOSE as u32) << 23 | 1);
        assert_exact(&block, "the largest and a small one");
        block.iter_mut().for_each(|item| *item = -*item);
        assert_exact(&block, "the most negative");
    }

    #[test]
    fn what_is_not_close() {
        let sums = |block: &[f32]| close_sums(block).is_some();
        let at = |field: u32| f32::from_bits(field << 23);
        assert!(sums(&[]) && sums(&[0.0, -0.0]) && sums(&[at(100), at(100 - CLOSE as u32)]));
        assert!(!sums(&[at(100), at(100 - CLOSE as u32 - 1)]));
        assert!(!sums(&[at(100), 0.0, f32::from_bits(1)]));
        // Subnormals share the unit of the smallest normal numbers.
        assert!(sums(&[at(CLOSE as u32 + 1), f32::from_bits(1)]) && !sums(&[at(CLOSE as u32 + 2), f32::from_bits(1)]));
        for odd in [f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            assert!(!sums(&[1.0, odd, 1.0]), "{odd}");
        }
    }
}
