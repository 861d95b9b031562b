//! Exact sums, means and standard deviations, rounded once.
//!
//! A float sum depends on the order, and so on the number of threads; the usual formula for the variance may lose every
//! digit. An [`Exact`] sum gives the same bits for any number of threads in one pass.
//!
//! Adding a number takes some 20 instructions, so `info` and `diff` first sum blocks in machine words (`info::close`,
//! `info::items`, `diff::sums`).

const DIGIT: usize = 32;

/// Digits count in 2^LOWEST. Products of floats are multiples of 2^-2252.
const LOWEST: i32 = -2304;

/// `mantissa * 2^power`, or its negative.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Binary {
    /// Whether the number is below 0.
    pub negative: bool,
    /// The digits.
    pub mantissa: u64,
    /// The power of 2.
    pub power: i32,
}

impl Binary {
    /// Times `2^power`.
    pub fn shifted(self, power: i32) -> Self {
        Self { power: self.power + power, ..self }
    }
}

impl From<u64> for Binary {
    fn from(mantissa: u64) -> Self {
        Self { negative: false, mantissa, power: 0 }
    }
}

impl From<f64> for Binary {
    /// # Panics
    /// The float is NaN or infinite.
    fn from(value: f64) -> Self {
        assert!(value.is_finite(), "sums are of finite numbers");
        let power = (value.to_bits() >> 52 & 2047) as i32;
        let fraction = value.to_bits() & ((1 << 52) - 1);
        let mantissa = fraction | u64::from(power > 0) << 52;
        Self { negative: value.is_sign_negative(), mantissa, power: power.max(1) - 1075 }
    }
}

/// A sum of finite floats, 64-bit integers and products, exact in any order.
#[derive(Clone, Debug, Default)]
pub struct Exact {
    /// Digits in base 2^32, lowest first. Until carried they may be negative or too large.
    digits: Vec<i64>,
    /// The place of the first digit, in units of `2^LOWEST`. Lower digits are 0: a sum of usual numbers has five digits, and
    /// its place is above 70.
    first: usize,
    pending: u32,
}

impl Binary {
    /// Keeps the highest 64 bits.
    pub fn from_integer(integer: i128) -> Self {
        let magnitude = integer.unsigned_abs();
        let power = u64::BITS.saturating_sub(magnitude.leading_zeros());
        Self { negative: integer < 0, mantissa: (magnitude >> power) as u64, power: power as i32 }
    }
}

impl Exact {
    /// Adds a number.
    pub fn add(&mut self, value: impl Into<Binary>) {
        self.add_times(value, 1);
    }

    /// Adds a number so many times.
    pub fn add_times(&mut self, value: impl Into<Binary>, times: u64) {
        let Binary { negative, mantissa, power } = value.into();
        self.add_wide(negative, u128::from(mantissa) * u128::from(times), power);
    }

    /// Adds the product of two numbers.
    pub fn add_product(&mut self, one: impl Into<Binary>, other: impl Into<Binary>) {
        self.add_product_times(one, other, 1);
    }

    /// Adds the product of two numbers so many times.
    pub fn add_product_times(&mut self, one: impl Into<Binary>, other: impl Into<Binary>, times: u64) {
        let (one, other) = (one.into(), other.into());
        let (negative, power) = (one.negative != other.negative, one.power + other.power);
        let product = u128::from(one.mantissa) * u128::from(other.mantissa);
        // a block adds a product a few hundred times, which fits in 128 bits
        if product.leading_zeros() >= u64::BITS - times.leading_zeros() {
            return self.add_wide(negative, product * u128::from(times), power);
        }
        // the whole product may not fit, its halves do
        self.add_wide(negative, u128::from(product as u64) * u128::from(times), power);
        self.add_wide(negative, (product >> 64) * u128::from(times), power + 64);
    }

    /// Adds `magnitude * 2^power`, or its negative.
    pub fn add_wide(&mut self, negative: bool, magnitude: u128, power: i32) {
        if magnitude == 0 {
            return;
        }
        let shift = usize::try_from(power - LOWEST).expect("no product of finite floats is a multiple of less");
        let (place, bits) = (shift / DIGIT, shift % DIGIT);
        let count = (128 - magnitude.leading_zeros() as usize + bits).div_ceil(DIGIT);
        let first = self.cover(place, count);
        let over = if bits == 0 { 0 } else { (magnitude >> (128 - bits)) as i64 };
        let mut rest = magnitude << bits;
        for (i, digit) in self.digits[first..first + count].iter_mut().enumerate() {
            let piece = if i < 4 { i64::from(rest as u32) } else { over };
            *digit += if negative { -piece } else { piece };
            rest >>= DIGIT;
        }
        self.pending += 1;
        // each number adds less than 2^32 to a digit of 63 bits
        if self.pending >= 1 << 30 {
            self.carry();
        }
    }

    /// Makes room for digits from a place on, and returns the index of the first.
    fn cover(&mut self, place: usize, count: usize) -> usize {
        if self.digits.is_empty() {
            self.first = place;
        }
        if place < self.first {
            self.digits.splice(..0, std::iter::repeat_n(0, self.first - place));
            self.first = place;
        }
        let index = place - self.first;
        self.digits.resize(self.digits.len().max(index + count), 0);
        index
    }

    /// Adds another sum.
    pub fn merge(&mut self, mut other: Self) {
        if self.digits.is_empty() {
            *self = other;
            return;
        }
        if other.digits.is_empty() {
            return;
        }
        self.carry();
        other.carry();
        let first = self.cover(other.first, other.digits.len());
        self.digits[first..].iter_mut().zip(&other.digits).for_each(|(a, b)| *a += b);
        self.carry();
    }

    fn carry(&mut self) {
        let mut over = 0;
        let last = self.digits.len().saturating_sub(1);
        for (i, digit) in self.digits.iter_mut().enumerate() {
            *digit += over;
            if i < last {
                over = *digit >> DIGIT;
                *digit &= (1 << DIGIT) - 1;
            }
        }
        while let Some(last) = self.digits.last_mut().filter(|last| **last >> DIGIT != **last >> (DIGIT + 1)) {
            let over = *last >> DIGIT;
            *last &= (1 << DIGIT) - 1;
            self.digits.push(over);
        }
        self.pending = 0;
    }

    /// Whether the sum is 0.
    pub fn is_zero(&self) -> bool {
        self.magnitude().bits() == 0
    }

    /// The last bit may be wrong.
    pub fn scaled(&self) -> Scaled {
        let sum = self.magnitude();
        let drop = sum.bits().saturating_sub(64);
        let mantissa = sum.top(drop).0 as f64;
        Scaled::new(if sum.negative { -mantissa } else { mantissa }, i64::from(sum.power) + drop as i64)
    }

    fn magnitude(&self) -> Magnitude {
        let mut sum = self.clone();
        sum.carry();
        let negative = sum.digits.last().is_some_and(|&last| last < 0);
        if negative {
            sum.digits.iter_mut().for_each(|digit| *digit = -*digit);
            sum.carry();
        }
        let zeros = sum.digits.iter().take_while(|&&digit| digit == 0).count();
        let digits = sum.digits[zeros..].iter().map(|&digit| digit as u32).collect();
        Magnitude { negative, digits, power: LOWEST + ((self.first + zeros) * DIGIT) as i32 }
    }
}

/// Digits in base 2^32, lowest first, in units of `2^power`.
struct Magnitude {
    negative: bool,
    digits: Vec<u32>,
    power: i32,
}

impl Magnitude {
    fn digits(&self) -> impl Iterator<Item = (u128, i32)> {
        self.digits.iter().zip(0..).map(|(&digit, place)| (digit.into(), self.power + place * DIGIT as i32))
    }

    fn bits(&self) -> usize {
        let top = self.digits.iter().rposition(|&digit| digit != 0);
        top.map_or(0, |at| (at + 1) * DIGIT - self.digits[at].leading_zeros() as usize)
    }

    /// Up to 128 bits from bit `drop` on, and whether all lower bits are 0.
    fn top(&self, drop: usize) -> (u128, bool) {
        let (low, high) = self.digits.split_at((drop / DIGIT).min(self.digits.len()));
        let (bits, digit) = (drop % DIGIT, |place: usize| high.get(place).copied().unwrap_or(0));
        let whole = (0..4).rev().fold(0, |value, place| value << DIGIT | u128::from(digit(place)));
        // bits of a fifth digit
        let above = u128::from(digit(4)).checked_shl((128 - bits) as u32).unwrap_or(0);
        (above | whole >> bits, low.iter().all(|&digit| digit == 0) && digit(0) & ((1 << bits) - 1) == 0)
    }

    /// Whether the remainder is 0.
    fn divide(&mut self, by: u64) -> bool {
        let by = u128::from(by);
        let mut rest = 0_u128;
        for digit in self.digits.iter_mut().rev() {
            rest = rest << DIGIT | u128::from(*digit);
            *digit = (rest / by) as u32;
            rest %= by;
        }
        rest == 0
    }

    /// Divides by all numbers. Returns the first 126 or 127 bits, their power of 2, which is even, and whether all
    /// other bits are 0.
    fn quotient(mut self, by: &[u64]) -> (u128, i32, bool) {
        let more = (by.len() * 64 + 128).saturating_sub(self.bits()).div_ceil(DIGIT);
        self.digits.splice(..0, std::iter::repeat_n(0, more));
        let mut exact = true;
        by.iter().for_each(|&by| exact &= self.divide(by));
        let drop = self.bits().saturating_sub(127).next_multiple_of(2);
        let (top, rest) = self.top(drop);
        (top, self.power + drop as i32 - (more * DIGIT) as i32, exact && rest)
    }
}

/// Returns `count * products - one * other`, rounded only at the end: the covariance times `count` squared, if
/// `products` sums the products of the items.
pub fn spread(count: u64, products: &Exact, one: &Exact, other: &Exact) -> Scaled {
    spread_of(count, products, &[[one, other]]).scaled().shifted(LOWEST.into())
}

/// Returns `count * products` less the products of the pairs, in units of 4^LOWEST.
fn spread_of(count: u64, products: &Exact, pairs: &[[&Exact; 2]]) -> Exact {
    let mut spread = Exact::default();
    let products = products.magnitude();
    for (digit, power) in products.digits() {
        spread.add_wide(products.negative, digit * u128::from(count), power - LOWEST);
    }
    for [one, other] in pairs.iter().map(|pair| pair.map(Exact::magnitude)) {
        for (a, power) in one.digits() {
            for (b, other_power) in other.digits() {
                spread.add_wide(one.negative == other.negative, a * b, power + other_power - LOWEST);
            }
        }
    }
    spread
}

/// `mantissa * 2^power`. The mantissa is 0 or from 1 to 2, so that quotients and products stay in the range of float64.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scaled {
    mantissa: f64,
    power: i64,
}

impl Scaled {
    fn new(mantissa: f64, power: i64) -> Self {
        if mantissa == 0.0 || !mantissa.is_finite() {
            return Self { mantissa, power: 0 };
        }
        let number = Binary::from(mantissa);
        let zeros = i64::from(number.mantissa.leading_zeros());
        let near_one = number.mantissa as f64 * power_of_two(zeros - 63);
        Self { mantissa: near_one.copysign(mantissa), power: power + i64::from(number.power) + 63 - zeros }
    }

    /// Times `2^by`.
    pub fn shifted(self, by: i64) -> Self {
        Self::new(self.mantissa, self.power + by)
    }

    /// `other` must not be 0.
    pub fn over(self, other: Self) -> Self {
        Self::new(self.mantissa / other.mantissa, self.power - other.power)
    }

    /// The product.
    pub fn times(self, other: Self) -> Self {
        Self::new(self.mantissa * other.mantissa, self.power + other.power)
    }

    /// The number must not be negative.
    pub fn sqrt(self) -> Self {
        let odd = self.power.rem_euclid(2);
        Self::new((self.mantissa * power_of_two(odd)).sqrt(), (self.power - odd) / 2)
    }

    /// The number must be above 0.
    pub fn log10(self) -> f64 {
        // the logarithms of mantissa and power would cancel near 1
        if self.power.abs() < 512 {
            self.value().log10()
        } else {
            self.mantissa.log10() + self.power as f64 * 2_f64.log10()
        }
    }

    /// The float64 nearest to it.
    pub fn value(self) -> f64 {
        let half = (self.power / 2).clamp(-1200, 1200);
        let rest = (self.power - half).clamp(-1200, 1200);
        self.mantissa * power_of_two(half) * power_of_two(rest)
    }
}

impl From<f64> for Scaled {
    fn from(value: f64) -> Self {
        Self::new(value, 0)
    }
}

/// 0 or infinity beyond float64.
pub fn power_of_two(power: i64) -> f64 {
    match power {
        ..-1074 => 0.0,
        -1074..-1022 => f64::from_bits(1 << (power + 1074)),
        -1022..1024 => f64::from_bits(((power + 1023) as u64) << 52),
        1024.. => f64::INFINITY,
    }
}

/// The mean of `count` > 0 numbers, rounded once, ties to even.
pub fn mean(sum: &Exact, count: u64) -> f64 {
    let sum = sum.magnitude();
    let negative = sum.negative;
    let (mantissa, power, exact) = sum.quotient(&[count]);
    let value = float(mantissa, power, exact);
    if negative { -value } else { value }
}

/// Exact sums of numbers and of their squares.
#[derive(Clone, Debug, Default)]
pub struct SumOfSquares {
    /// The sum of the numbers.
    pub sum: Exact,
    /// The sum of their squares.
    pub squares: Exact,
}

impl SumOfSquares {
    /// Adds other sums.
    pub fn merge(&mut self, other: Self) {
        self.sum.merge(other.sum);
        self.squares.merge(other.squares);
    }
}

/// The deviation of a population of `count` > 0 items, rounded once, ties to even. A complex item has two parts.
pub fn deviation(parts: &[SumOfSquares], count: u64) -> f64 {
    // the variance is (count * squares - sum * sum) / (count * count)
    let mut squares = Exact::default();
    parts.iter().for_each(|part| squares.merge(part.squares.clone()));
    let sums: Vec<_> = parts.iter().map(|part| [&part.sum; 2]).collect();
    let (top, power, exact) = spread_of(count, &squares, &sums).magnitude().quotient(&[count; 2]);
    let root = top.isqrt();
    float(root, (power + LOWEST) / 2, exact && root * root == top)
}

/// Rounds `mantissa * 2^exponent`, ties to even. Unless `exact`, the number is larger by less than 1 in the last place
/// of the mantissa, which then has more than 54 bits.
fn float(mantissa: u128, exponent: i32, exact: bool) -> f64 {
    if mantissa == 0 {
        return 0.0;
    }
    let bits = 128 - mantissa.leading_zeros() as i32;
    let lowest = (exponent + bits - f64::MANTISSA_DIGITS as i32).max(-1074);
    let drop = (lowest - exponent).max(0) as u32;
    let kept = mantissa.checked_shr(drop).unwrap_or(0);
    let rest = mantissa - kept.checked_shl(drop).unwrap_or(0);
    let half = 1_u128.checked_shl(drop.wrapping_sub(1)).unwrap_or(u128::MAX);
    let up = rest > half || rest == half && (!exact || kept & 1 == 1);
    // both the conversion and the product are exact
    (kept + u128::from(up)) as f64 * power_of_two((exponent + drop as i32).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(values: &[f64]) -> Exact {
        let mut sum = Exact::default();
        values.iter().for_each(|value| sum.add(*value));
        sum
    }

    #[test]
    fn a_mean_is_rounded_once() {
        let tiny = f64::from_bits(1);
        let rows: [(&[f64], f64); 12] = [
            (&[1.0, 2.0], 1.5),
            (&[1.0, 1.0, 2.0], 4.0 / 3.0),
            (&[-1.0, -1.0, -2.0], -4.0 / 3.0),
            (&[1e300, 1.0, -1e300], 1.0 / 3.0),
            (&[f64::MAX, f64::MAX], f64::MAX),
            (&[-f64::MAX, -f64::MAX, -f64::MAX], -f64::MAX),
            (&[tiny], tiny),
            (&[tiny, 0.0], 0.0),
            (&[tiny, tiny, 0.0], tiny),
            (&[3.0 * tiny, 0.0], 2.0 * tiny),
            (&[f64::MIN_POSITIVE, -f64::MIN_POSITIVE], 0.0),
            (&[1.0, f64::EPSILON / 2.0, 1.0 + 2.0 * f64::EPSILON], 0.6666666666666669),
        ];
        let wrong: Vec<_> = rows
            .iter()
            .map(|(values, expected)| (values, mean(&sum(values), values.len() as u64), expected))
            .filter(|(_, found, expected)| found.to_bits() != expected.to_bits())
            .collect();
        assert!(wrong.is_empty(), "{wrong:?}");
    }

    #[test]
    fn sums_do_not_depend_on_the_order() {
        let values: Vec<f64> = (0..1000_u64)
            .map(|i| f64::from_bits(i.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
            .filter(|v| v.is_finite())
            .collect();
        let forward = mean(&sum(&values), values.len() as u64);
        let mut backward = sum(&values[500..].iter().rev().copied().collect::<Vec<_>>());
        backward.merge(sum(&values[..500]));
        assert_eq!(forward.to_bits(), mean(&backward, values.len() as u64).to_bits());
    }

    #[test]
    fn deviations() {
        let rows: [(&[i64], f64); 6] = [
            (&[5], 0.0),
            (&[1, 3], 1.0),
            (&[i64::MIN, i64::MIN], 0.0),
            (&[i64::MIN, i64::MAX], 9.223_372_036_854_776e18),
            (&[0, 0, 1, 1], 0.5),
            (&[1, 2, 3], 0.816_496_580_927_726),
        ];
        let mut wrong = Vec::new();
        for (values, expected) in rows {
            let mut sums = SumOfSquares::default();
            for &value in values {
                let value = Binary { negative: value < 0, ..value.unsigned_abs().into() };
                sums.sum.add(value);
                sums.squares.add_product(value, value);
            }
            let found = deviation(&[sums], values.len() as u64);
            if found != expected {
                wrong.push((values, found, expected));
            }
        }
        assert!(wrong.is_empty(), "{wrong:?}");
    }

    #[test]
    fn deviations_of_any_size() {
        let tiny = f64::from_bits(1);
        for scale in [tiny, 1e-310, 1e-160, 2.0_f64.powi(-500), 1.0, 2.0_f64.powi(900)] {
            let mut sums = SumOfSquares::default();
            for value in [scale, 3.0 * scale] {
                sums.sum.add(value);
                sums.squares.add_product(value, value);
            }
            assert_eq!((mean(&sums.sum, 2), deviation(&[sums], 2)), (2.0 * scale, scale), "{scale:e}");
        }
    }

    #[test]
    fn products() {
        // the sum is 15 - 21, the covariance 0
        let (mut one, mut other, mut products) = (Exact::default(), Exact::default(), Exact::default());
        for (a, b) in [(3.0, 5.0), (3.0, -7.0)] {
            one.add(a);
            other.add(b);
            products.add_product(a, b);
        }
        assert_eq!(products.scaled().value(), -6.0);
        assert_eq!(spread(2, &products, &one, &other).value(), 0.0);
        assert_eq!(spread(1, &products, &one, &other).value(), -6.0 - 6.0 * -2.0);
        products.add_product_times(u64::MAX, u64::MAX, 4);
        products.add_product_times(2.0_f64.powi(64), -(2.0_f64.powi(64)), 4);
        products.add_product_times(2.0_f64.powi(33), 2.0_f64.powi(34), 1);
        assert_eq!(products.scaled().value(), 4.0 - 6.0);
    }
}
