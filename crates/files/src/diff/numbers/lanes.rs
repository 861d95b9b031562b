//! Sums over rows of float64s in four lanes, always in the same order.

use tensorop_kernels::item::element::inlined;
use tensorop_kernels::item::exact::{Binary, power_of_two};

/// A single lane would wait for its previous addition each time.
const LANES: usize = 4;

/// Little-endian float64, so that stored items are summed without a copy.
pub(crate) type FloatBytes = [u8; 8];

#[derive(Clone, Copy, Debug)]
pub(crate) struct Summands<'a> {
    pub sides: [&'a [FloatBytes]; 2],
    /// Subtracted from each side, to give offsets from the first item of the block.
    pub origins: [f64; 2],
    /// Absolute differences, as float bits. Empty if both sides are one slice.
    pub errors: &'a [u64],
}

impl Summands<'_> {
    pub(crate) fn sums(&self) -> BlockSums {
        let [expected, actual] = self.sides;
        let [e, a] = self.origins;
        let row = |sum, squares| RowSums { sum, squares, power: 0 };
        if self.are_one() {
            let [x, xx] = sums_of_terms(expected, expected, |number, _| [number - e, (number - e) * (number - e)]);
            return BlockSums { expected: row(x, xx), actual: row(x, xx), products: xx, errors: row(0.0, 0.0) };
        }
        let terms = |expected: f64, actual: f64| {
            let (x, y) = (expected - e, actual - a);
            [x, x * x, y, y * y, x * y]
        };
        let [x, xx, y, yy, products] = sums_of_terms(expected, actual, terms);
        // A loop for both sums would be vectorised across the sums instead of along the row.
        let [sizes] = sums_of_terms(self.errors, self.errors, |error, _| [error]);
        let [squares] = sums_of_terms(self.errors, self.errors, |error, _| [error * error]);
        BlockSums { expected: row(x, xx), actual: row(y, yy), products, errors: row(sizes, squares) }
    }

    pub(crate) fn are_one(&self) -> bool {
        std::ptr::eq(self.sides[0], self.sides[1])
    }

    pub(crate) fn ranges(&self) -> [(f64, f64); 2] {
        let of_side = |side: usize| {
            let (low, high) = range(self.sides[side]);
            (low - self.origins[side], high - self.origins[side])
        };
        let expected = of_side(0);
        [expected, if self.are_one() { expected } else { of_side(1) }]
    }

    pub(crate) fn zeros(&self) -> u64 {
        if self.are_one() {
            return self.sides[0].len() as u64;
        }
        // A block cannot overflow the counter, and a check would prevent vectorisation.
        self.errors.iter().fold(0, |zeros: u64, error| zeros.wrapping_add(u64::from(error.float() == 0.0)))
    }
}

#[derive(Debug, Default)]
pub(crate) struct Offsets {
    pub expected: Vec<FloatBytes>,
    pub actual: Vec<FloatBytes>,
    pub errors: Vec<u64>,
}

impl Offsets {
    /// Invalidates previous content.
    pub(crate) fn resize(&mut self, items: usize) {
        self.expected.resize(items, FloatBytes::default());
        self.actual.resize(items, FloatBytes::default());
        self.errors.resize(items, 0);
    }

    pub(crate) fn summands(&self) -> Summands<'_> {
        Summands { sides: [&self.expected, &self.actual], origins: [0.0; 2], errors: &self.errors }
    }

    /// Scales each row so that its squares fit float64. The rows are already divided by `2^powers`.
    pub(crate) fn scaled_sums(&mut self, powers: [i32; 3]) -> BlockSums {
        let powers = [
            powers[0] + scale(&mut self.expected),
            powers[1] + scale(&mut self.actual),
            powers[2] + scale(&mut self.errors),
        ];
        let mut sums = self.summands().sums();
        [sums.expected.power, sums.actual.power, sums.errors.power] = powers;
        sums
    }
}

trait FloatWord: Copy {
    fn float(self) -> f64;

    fn from_float(float: f64) -> Self;
}

impl FloatWord for FloatBytes {
    inlined! {
        fn float(self) -> f64 { f64::from_le_bytes(self) }
        fn from_float(float: f64) -> Self { float.to_le_bytes() }
    }
}

impl FloatWord for u64 {
    inlined! {
        fn float(self) -> f64 { f64::from_bits(self) }
        fn from_float(float: f64) -> Self { float.to_bits() }
    }
}

/// Scales a row so that its squares fit float64. Returns the power of 2 that it was divided by.
fn scale(row: &mut [impl FloatWord]) -> i32 {
    let power = exponent(row.iter().fold(0.0, |most, item| item.float().abs().max(most)));
    if power.abs() <= 300 || row.iter().all(|item| item.float() == 0.0) {
        return 0;
    }
    let half = i64::from(-power / 2);
    let (one, other) = (power_of_two(half), power_of_two(-i64::from(power) - half));
    row.iter_mut().for_each(|item| *item = FloatWord::from_float(item.float() * one * other));
    power
}

/// The sum of a row divided by `2^power`, and of its squares.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RowSums {
    pub sum: f64,
    pub squares: f64,
    pub power: i32,
}

impl RowSums {
    pub(crate) fn exact_sum(self) -> Binary {
        Binary::from(self.sum).shifted(self.power)
    }

    pub(crate) fn exact_squares(self) -> Binary {
        Binary::from(self.squares).shifted(2 * self.power)
    }

    /// False if squares that matter were out of range. Squares below 2^-1022 are lost; those of up to 512 numbers are
    /// less than 2^-116 of a sum above 1e-270 (2^-897).
    fn is_in_range(&self) -> bool {
        self.squares.is_finite() && self.squares > 1e-270
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockSums {
    pub expected: RowSums,
    pub actual: RowSums,
    pub products: f64,
    pub errors: RowSums,
}

impl BlockSums {
    pub(crate) fn are_finite(&self) -> bool {
        let rows = [self.expected, self.actual, self.errors];
        rows.iter().all(|row| row.sum.is_finite() && row.squares.is_finite()) && self.products.is_finite()
    }

    /// A side with a single value has no squares that matter.
    pub(crate) fn are_in_range(&self, is_one_value: [bool; 2]) -> bool {
        (is_one_value[0] || self.expected.is_in_range())
            && (is_one_value[1] || self.actual.is_in_range())
            && (self.errors.sum == 0.0 || self.errors.is_in_range())
    }

    /// Whether rounding may cost digits of the sum of products with `origins` added back. The head of
    /// [`sums`](super::sums) gives the bound.
    pub(crate) fn products_cancel(&self, count: u64, origins: [f64; 2]) -> bool {
        let Self { expected, actual, products, errors } = self;
        let sides = (expected.squares * actual.squares).sqrt();
        let [e, a] = origins;
        let terms = [*products, e * actual.sum, a * expected.sum, e * a * count as f64];
        let most = terms.iter().fold(sides, |sum, term| sum + term.abs());
        let is_scaled = [expected, actual, errors].iter().any(|row| row.power != 0);
        is_scaled || terms.iter().sum::<f64>().abs() < most / 4096.0
    }
}

/// The exponent of a finite float, or -1023 for subnormals.
pub(crate) fn exponent(value: f64) -> i32 {
    (value.to_bits() >> 52 & 2047) as i32 - 1023
}

#[inline(always)]
fn sums_of_terms<S: FloatWord, const N: usize>(
    one: &[S],
    other: &[S],
    terms: impl Fn(f64, f64) -> [f64; N],
) -> [f64; N] {
    let mut lanes = [[0.0; LANES]; N];
    let mut add = |lane: usize, x: S, y: S| {
        for (sums, term) in lanes.iter_mut().zip(terms(x.float(), y.float())) {
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

fn range(numbers: &[FloatBytes]) -> (f64, f64) {
    let first = numbers[0].float();
    let (mut low, mut high) = ([first; LANES], [first; LANES]);
    let mut widen = |lane: usize, number: f64| {
        // This operand order compiles to one vector instruction each.
        low[lane] = if low[lane] < number { low[lane] } else { number };
        high[lane] = if high[lane] > number { high[lane] } else { number };
    };
    let (chunks, rest) = numbers.as_chunks::<LANES>();
    for chunk in chunks {
        for (lane, number) in chunk.iter().enumerate() {
            widen(lane, number.float());
        }
    }
    rest.iter().for_each(|number| widen(0, number.float()));
    (low.into_iter().fold(first, f64::min), high.into_iter().fold(first, f64::max))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_row_has_the_sums_of_two_that_are_equal() {
        let numbers = |count: usize, of: &dyn Fn(f64) -> f64| -> Vec<FloatBytes> {
            (0..count).map(|n| of((n * n % 1009) as f64 / 7.0 - 50.0).to_le_bytes()).collect()
        };
        for count in [1, 3, 4, 511, 512] {
            for row in [numbers(count, &|x| x), numbers(count, &|x| x.powi(9) * 1e-9), numbers(count, &|_| 0.3)] {
                let (copy, origins) = (row.clone(), [f64::from_le_bytes(row[0]); 2]);
                let two = Summands { sides: [&row, &copy], origins, errors: &vec![0; count] };
                let one = Summands { sides: [&row, &row], origins, errors: &[] };
                assert!(one.are_one() && !two.are_one());
                // Float debug text is exact.
                assert_eq!(format!("{:?}", one.sums()), format!("{:?}", two.sums()), "{count}");
                assert_eq!((one.ranges(), one.zeros()), (two.ranges(), two.zeros()), "{count}");
            }
        }
    }
}
