//! Sums over rows of float64s, in lanes: each lane adds every fourth number, in a fixed order.

use crate::item::exact::{Binary, power_of_two};

/// Lanes side by side. A single one would wait for its own last addition each time.
const LANES: usize = 4;

/// The offsets of a block's items from the first one, and the differences of its pairs, in float64.
#[derive(Debug, Default)]
pub(super) struct Offsets {
    pub expected: Vec<f64>,
    pub actual: Vec<f64>,
    pub errors: Vec<f64>,
}

impl Offsets {
    /// Gives each row a length. What the rows held before is meaningless then.
    pub(super) fn resize(&mut self, items: usize) {
        for row in [&mut self.expected, &mut self.actual, &mut self.errors] {
            row.resize(items, 0.0);
        }
    }

    /// Returns the sums of the rows.
    pub(super) fn sums(&self) -> BlockSums {
        let terms = |x: f64, y: f64| [x, x * x, y, y * y, x * y];
        let [x, xx, y, yy, products] = sums_of_terms(&self.expected, &self.actual, terms);
        let [sizes, squares] = sums_of_terms(&self.errors, &self.errors, |error, _| [error.abs(), error * error]);
        let row = |sum, squares| RowSums { sum, squares, power: 0 };
        BlockSums { expected: row(x, xx), actual: row(y, yy), products, errors: row(sizes, squares) }
    }

    /// Brings each row into a range in which float64 has all squares, and returns the sums. `powers` says by
    /// which powers of 2 the rows have been divided before.
    pub(super) fn scaled_sums(&mut self, powers: [i32; 3]) -> BlockSums {
        let scale = |items: &mut [f64]| {
            let power = exponent(items.iter().fold(0.0, |most, item| item.abs().max(most)));
            if power.abs() <= 300 || items.iter().all(|item| *item == 0.0) {
                return 0;
            }
            let half = i64::from(-power / 2);
            let (one, other) = (power_of_two(half), power_of_two(-i64::from(power) - half));
            items.iter_mut().for_each(|item| *item = *item * one * other);
            power
        };
        let [e, a, d] = [&mut self.expected, &mut self.actual, &mut self.errors].map(|items| scale(items));
        let mut sums = self.sums();
        (sums.expected.power, sums.actual.power, sums.errors.power) = (e + powers[0], a + powers[1], d + powers[2]);
        sums
    }
}

/// The sum of a row, and the sum of its squares, of numbers times `2^power`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RowSums {
    pub sum: f64,
    pub squares: f64,
    pub power: i32,
}

impl RowSums {
    pub(super) fn exact_sum(self) -> Binary {
        Binary::from(self.sum).shifted(self.power)
    }

    pub(super) fn exact_squares(self) -> Binary {
        Binary::from(self.squares).shifted(2 * self.power)
    }

    /// Returns whether no square that matters was out of the range of float64. Squares below 2^-1022 are lost; those of up to
    /// 512 numbers are less than 2^-116 of a sum above 1e-270 (2^-897).
    fn is_in_range(&self) -> bool {
        self.squares.is_finite() && self.squares > 1e-270
    }
}

/// The sums of a block: of offsets, their squares and products, and of the magnitudes and squares of differences.
#[derive(Clone, Copy, Debug)]
pub(super) struct BlockSums {
    pub expected: RowSums,
    pub actual: RowSums,
    pub products: f64,
    pub errors: RowSums,
}

impl BlockSums {
    /// Returns whether all items were finite.
    pub(super) fn are_finite(&self) -> bool {
        let rows = [self.expected, self.actual, self.errors];
        rows.iter().all(|row| row.sum.is_finite() && row.squares.is_finite()) && self.products.is_finite()
    }

    /// Returns whether float64 has all squares that count. `is_one_value` tells which side has a single value.
    pub(super) fn are_in_range(&self, is_one_value: [bool; 2]) -> bool {
        (is_one_value[0] || self.expected.is_in_range())
            && (is_one_value[1] || self.actual.is_in_range())
            && (self.errors.sum == 0.0 || self.errors.is_in_range())
    }

    /// Returns whether the sum of the products of `count` items is so small beside its terms that rounding may cost digits
    /// that count, once the offsets' `origins` are put back. (See the head of [`sums`](super::sums).)
    pub(super) fn products_cancel(&self, count: u64, origins: [f64; 2]) -> bool {
        let Self { expected, actual, products, errors } = self;
        let sides = (expected.squares * actual.squares).sqrt();
        let [e, a] = origins;
        let terms = [*products, e * actual.sum, a * expected.sum, e * a * count as f64];
        let most = terms.iter().fold(sides, |sum, term| sum + term.abs());
        let is_scaled = [expected, actual, errors].iter().any(|row| row.power != 0);
        is_scaled || terms.iter().sum::<f64>().abs() < most / 4096.0
    }
}

/// Returns the exponent of the largest power of 2 that is not above a finite float's magnitude, or -1023 if that is below
/// all normal floats.
pub(super) fn exponent(value: f64) -> i32 {
    (value.to_bits() >> 52 & 2047) as i32 - 1023
}

/// Returns the sums of some terms of each pair of numbers.
#[inline(always)]
fn sums_of_terms<const N: usize>(one: &[f64], other: &[f64], terms: impl Fn(f64, f64) -> [f64; N]) -> [f64; N] {
    let mut lanes = [[0.0; LANES]; N];
    let mut add = |lane: usize, x: f64, y: f64| {
        for (sums, term) in lanes.iter_mut().zip(terms(x, y)) {
            sums[lane] += term;
        }
    };
    let ((ones, rest), (others, other_rest)) = (one.as_chunks::<LANES>(), other.as_chunks::<LANES>());
    for (x, y) in ones.iter().zip(others) {
        for lane in 0..LANES {
            add(lane, x[lane], y[lane]);
        }
    }
    for (lane, (x, y)) in rest.iter().zip(other_rest).enumerate() {
        add(lane, *x, *y);
    }
    lanes.map(|lanes| lanes.iter().sum())
}

/// Returns the smallest and the largest of some numbers and 0. NaN is left out.
pub(super) fn range(numbers: &[f64]) -> (f64, f64) {
    let (mut low, mut high) = ([0.0_f64; LANES], [0.0_f64; LANES]);
    let (chunks, rest) = numbers.as_chunks::<LANES>();
    for chunk in chunks {
        for lane in 0..LANES {
            low[lane] = if chunk[lane] < low[lane] { chunk[lane] } else { low[lane] };
            high[lane] = if chunk[lane] > high[lane] { chunk[lane] } else { high[lane] };
        }
    }
    let numbers = || rest.iter().copied();
    (low.into_iter().chain(numbers()).fold(0.0, f64::min), high.into_iter().chain(numbers()).fold(0.0, f64::max))
}

/// Returns how many numbers are 0.
pub(super) fn zeros(numbers: &[f64]) -> u64 {
    // a block has few; a check for overflow would keep the loop from being vectorised
    numbers.iter().fold(0, |zeros: u64, number| zeros.wrapping_add(u64::from(*number == 0.0)))
}
