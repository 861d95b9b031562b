//! Sums without rounding, and the mean and standard deviation that they give, each rounded once.
//!
//! A sum of floats depends on the order in which they are added, and so on the number of threads; and the usual formula
//! of the variance, the difference of two large sums, may lose every digit. With sums that are exact neither matters:
//! any number of threads says the same to the last bit, and one pass over the file is enough. Blocks are summed in
//! machine words or float64 first (see `info` and `diff`), so this arithmetic is called once a block or seldom, and need
//! not be fast.

/// Bits of a digit.
const DIGIT: usize = 32;

/// A sum of any number of binary fractions, exact whatever the order they come in.
#[derive(Clone, Debug, Default)]
pub(crate) struct Exact {
    /// In base 2^32, least first. They may be negative or too large until they are carried.
    digits: Vec<i64>,
    /// Numbers since the last carry.
    pending: u32,
}

impl Exact {
    /// Adds `magnitude * 2^shift`, or subtracts it.
    pub(crate) fn add(&mut self, negative: bool, magnitude: u128, shift: usize) {
        let (first, bits) = (shift / DIGIT, shift % DIGIT);
        let count = (128 - magnitude.leading_zeros() as usize + bits).div_ceil(DIGIT);
        if self.digits.len() < first + count {
            self.digits.resize(first + count, 0);
        }
        // what leaves at the top when the magnitude is shifted
        let over = if bits == 0 { 0 } else { (magnitude >> (128 - bits)) as i64 };
        let mut rest = magnitude << bits;
        for (i, digit) in self.digits.iter_mut().skip(first).take(count).enumerate() {
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

    /// Adds `value * 2^shift`.
    pub(crate) fn add_signed(&mut self, value: i128, shift: usize) {
        self.add(value < 0, value.unsigned_abs(), shift);
    }

    /// Adds `value * 2^shift` so many times. What lies below 1 is dropped, and so is what is not finite.
    pub(crate) fn add_float(&mut self, value: f64, shift: i32, times: u64) {
        let Some((negative, mantissa, power)) = parts(value) else { return };
        let (product, shift) = (u128::from(mantissa) * u128::from(times), power + shift);
        match usize::try_from(shift) {
            Ok(shift) => self.add(negative, product, shift),
            Err(_) => self.add(negative, product.checked_shr(shift.unsigned_abs()).unwrap_or(0), 0),
        }
    }

    /// Adds another sum.
    pub(crate) fn merge(&mut self, mut other: Self) {
        self.carry();
        other.carry();
        self.digits.resize(self.digits.len().max(other.digits.len()), 0);
        self.digits.iter_mut().zip(&other.digits).for_each(|(a, b)| *a += b);
        self.carry();
    }

    /// Takes another sum from it.
    pub(crate) fn subtract(&mut self, mut other: Self) {
        other.digits.iter_mut().for_each(|digit| *digit = -*digit);
        self.merge(other);
    }

    /// Brings every digit but the last into range.
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

    /// The product with another sum.
    pub(crate) fn times(&self, other: &Self) -> Self {
        let ((minus, one), (other_minus, other)) = (self.clone().split(), other.clone().split());
        let digits = one.times(&other).0.into_iter().map(i64::from);
        Self { digits: digits.map(|digit| if minus == other_minus { digit } else { -digit }).collect(), pending: 0 }
    }

    /// Whether it is 0.
    pub(crate) fn is_zero(&self) -> bool {
        self.clone().split().1.bits() == 0
    }

    /// The sum as a float of any size; its last bit may be off.
    pub(crate) fn scaled(&self) -> Scaled {
        let (negative, size) = self.clone().split();
        let drop = size.bits().saturating_sub(64);
        let mantissa = size.top(drop).0 as f64;
        Scaled { mantissa: if negative { -mantissa } else { mantissa }, power: drop as i64 }
    }

    /// Whether it is negative, and its magnitude.
    fn split(mut self) -> (bool, Natural) {
        self.carry();
        let negative = self.digits.last().is_some_and(|&last| last < 0);
        if negative {
            self.digits.iter_mut().for_each(|digit| *digit = -*digit);
            self.carry();
        }
        (negative, Natural(self.digits.iter().map(|&digit| digit as u32).collect()))
    }
}

/// Whether a finite float is negative, and its magnitude as a whole number times a power of 2; `None` of any other.
pub(crate) fn parts(value: f64) -> Option<(bool, u64, i32)> {
    let power = (value.to_bits() >> 52 & 2047) as i32;
    let fraction = value.to_bits() & ((1 << 52) - 1);
    let mantissa = fraction | u64::from(power > 0) << 52;
    value.is_finite().then_some((value.is_sign_negative(), mantissa, power.max(1) - 1075))
}

/// A float of any size: `mantissa * 2^power`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Scaled {
    mantissa: f64,
    power: i64,
}

impl Scaled {
    /// A multiple of it by a power of 2.
    pub(crate) fn shifted(self, by: i64) -> Self {
        Self { power: self.power + by, ..self }
    }

    /// Its quotient by a number that is not 0.
    pub(crate) fn over(self, other: Self) -> Self {
        // brought near 1, so that neither a quotient nor a product of mantissas leaves the range of float64
        let (one, other) = (self.near_one(), other.near_one());
        Self { mantissa: one.mantissa / other.mantissa, power: one.power - other.power }
    }

    /// Its product with another.
    pub(crate) fn times(self, other: Self) -> Self {
        let (one, other) = (self.near_one(), other.near_one());
        Self { mantissa: one.mantissa * other.mantissa, power: one.power + other.power }
    }

    /// The root of what is not negative.
    pub(crate) fn sqrt(self) -> Self {
        let one = self.near_one();
        let odd = one.power.rem_euclid(2);
        let mantissa = if odd == 1 { 2.0 * one.mantissa } else { one.mantissa };
        Self { mantissa: mantissa.sqrt(), power: (one.power - odd) / 2 }
    }

    /// The decimal logarithm of what is above 0.
    pub(crate) fn log10(self) -> f64 {
        let one = self.near_one();
        // of what is near 1 the mantissa and the power must not cancel each other
        if one.power.abs() < 512 {
            self.value().log10()
        } else {
            one.mantissa.log10() + one.power as f64 * 2_f64.log10()
        }
    }

    /// The nearest float64, or infinity.
    pub(crate) fn value(self) -> f64 {
        let one = self.near_one();
        let half = (one.power / 2).clamp(-1200, 1200);
        let rest = (one.power - half).clamp(-1200, 1200);
        one.mantissa * power_of_two(half) * power_of_two(rest)
    }

    fn near_one(self) -> Self {
        let Some((_, mantissa, power)) = parts(self.mantissa).filter(|(_, mantissa, _)| *mantissa != 0) else {
            return Self { power: 0, ..self };
        };
        let bits = i64::from(power) + 63 - i64::from(mantissa.leading_zeros());
        let exact = mantissa as f64 * power_of_two(i64::from(mantissa.leading_zeros()) - 63);
        Self { mantissa: exact.copysign(self.mantissa), power: self.power + bits }
    }
}

impl From<f64> for Scaled {
    fn from(mantissa: f64) -> Self {
        Self { mantissa, power: 0 }
    }
}

/// A power of 2; 0 or infinity where float64 has none.
pub(crate) fn power_of_two(power: i64) -> f64 {
    match power {
        ..-1074 => 0.0,
        -1074..-1022 => f64::from_bits(1 << (power + 1074)),
        -1022..1024 => f64::from_bits(((power + 1023) as u64) << 52),
        1024.. => f64::INFINITY,
    }
}

/// A whole number of any size, in base 2^32, least digit first.
#[derive(Clone, Debug)]
struct Natural(Vec<u32>);

impl Natural {
    fn from(value: u64) -> Self {
        Self(vec![value as u32, (value >> DIGIT) as u32])
    }

    fn bits(&self) -> usize {
        let top = self.0.iter().rposition(|&digit| digit != 0);
        top.map_or(0, |at| (at + 1) * DIGIT - self.0.get(at).map_or(0, |digit| digit.leading_zeros() as usize))
    }

    fn times(&self, other: &Self) -> Self {
        let mut out = vec![0_u32; self.0.len() + other.0.len() + 1];
        for (i, &a) in self.0.iter().enumerate() {
            let mut over = 0;
            for (place, b) in out.iter_mut().skip(i).zip(other.0.iter().copied().chain([0])) {
                let sum = u64::from(a) * u64::from(b) + u64::from(*place) + over;
                *place = sum as u32;
                over = sum >> DIGIT;
            }
        }
        Self(out)
    }

    /// The difference to what is not larger.
    fn minus(mut self, other: &Self) -> Self {
        let mut borrow = 0;
        for (digit, b) in self.0.iter_mut().zip(other.0.iter().copied().chain(std::iter::repeat(0))) {
            let difference = i64::from(*digit) - i64::from(b) - borrow;
            borrow = i64::from(difference < 0);
            *digit = difference as u32;
        }
        self
    }

    fn shifted(&self, bits: usize) -> Self {
        let mut out = vec![0; bits / DIGIT];
        let mut over = 0;
        for digit in self.0.iter().copied().chain([0]) {
            let wide = u64::from(digit) << (bits % DIGIT) | over;
            out.push(wide as u32);
            over = wide >> DIGIT;
        }
        Self(out)
    }

    /// Divides by a number above 0; whether nothing remains.
    fn divide(&mut self, by: u64) -> bool {
        let by = u128::from(by.max(1));
        let mut rest = 0_u128;
        for digit in self.0.iter_mut().rev() {
            rest = rest << DIGIT | u128::from(*digit);
            *digit = (rest / by) as u32;
            rest %= by;
        }
        rest == 0
    }

    /// The bits from number `drop` on, of which there are at most 128, and whether those below are all 0.
    fn top(&self, drop: usize) -> (u128, bool) {
        let (mut value, mut exact) = (0_u128, true);
        for (i, &digit) in self.0.iter().enumerate() {
            let at = i * DIGIT;
            if at >= drop {
                value |= u128::from(digit).checked_shl((at - drop) as u32).unwrap_or(0);
            } else if drop - at < DIGIT {
                value |= u128::from(digit >> (drop - at));
                exact &= digit & ((1 << (drop - at)) - 1) == 0;
            } else {
                exact &= digit == 0;
            }
        }
        (value, exact)
    }
}

/// The number `sum * 2^lowest / count`, rounded once, to nearest even. `count` is above 0.
pub(crate) fn mean(sum: &Exact, lowest: i32, count: u64) -> f64 {
    let (negative, sum) = sum.clone().split();
    if sum.bits() == 0 {
        return 0.0;
    }
    // at least 64 bits of the quotient
    let shift = (64 + 64_usize).saturating_sub(sum.bits()) + 1;
    let mut quotient = sum.shifted(shift);
    let exact = quotient.divide(count);
    let drop = quotient.bits().saturating_sub(64);
    let (top, rest) = quotient.top(drop);
    let value = float(top as u64, lowest - shift as i32 + drop as i32, exact && rest);
    if negative { -value } else { value }
}

/// The standard deviation of the population, rounded once, to nearest even: of `count` items, each one number or,
/// of complex items, two, for each of which there is the sum in 2^lowest and the sum of the squares in 4^lowest.
pub(crate) fn deviation(parts: &[(Exact, Exact)], lowest: i32, count: u64) -> f64 {
    // the variance is (count * squares - sum * sum) / (count * count)
    let mut squares = Exact::default();
    parts.iter().for_each(|(_, square)| squares.merge(square.clone()));
    let mut spread = squares.split().1.times(&Natural::from(count));
    for (sum, _) in parts {
        let sum = sum.clone().split().1;
        spread = spread.minus(&sum.times(&sum));
    }
    if spread.bits() == 0 {
        return 0.0;
    }
    // at least 128 bits of the quotient, and even exponents all the way
    let shift = (2 * 64 + 128_usize).saturating_sub(spread.bits()).next_multiple_of(2);
    let mut variance = spread.shifted(shift);
    let mut exact = variance.divide(count);
    exact &= variance.divide(count);
    let drop = variance.bits().saturating_sub(127).next_multiple_of(2);
    let (top, rest) = variance.top(drop);
    let root = top.isqrt();
    exact &= rest && root * root == top;
    float(root as u64, lowest - (shift / 2) as i32 + (drop / 2) as i32, exact)
}

/// `mantissa * 2^exponent`, rounded to nearest even. If not `exact`, a little more is meant; the mantissa has then
/// more than 54 bits.
fn float(mantissa: u64, exponent: i32, exact: bool) -> f64 {
    const MANTISSA: i32 = 52;
    const LEAST: i32 = -1074;
    let bits = 64 - mantissa.leading_zeros() as i32;
    let lowest = (exponent + bits - 1 - MANTISSA).max(LEAST);
    let drop = lowest - exponent;
    let mantissa_bits = match drop {
        ..=0 => mantissa << -drop,
        1..=64 => {
            let (wide, half) = (u128::from(mantissa), 1_u128 << (drop - 1));
            let (mantissa_bits, rest) = (wide >> drop, wide & (2 * half - 1));
            let up = rest > half || rest == half && (!exact || mantissa_bits & 1 == 1);
            mantissa_bits as u64 + u64::from(up)
        }
        _ => 0,
    };
    // the leading bit of a normal number adds one to the exponent's field, as a carry does
    match (((lowest - LEAST) as u64) << MANTISSA).checked_add(mantissa_bits) {
        Some(bits) if lowest - LEAST < 2046 && bits < f64::INFINITY.to_bits() => f64::from_bits(bits),
        _ => f64::INFINITY,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sum of float64 in 2^-1074.
    fn sum(values: &[f64]) -> Exact {
        let mut sum = Exact::default();
        for value in values {
            let (power, fraction) = (value.to_bits() >> 52 & 2047, value.to_bits() & ((1 << 52) - 1));
            let mantissa = fraction + (u64::from(power > 0) << 52);
            sum.add(*value < 0.0, mantissa.into(), power.max(1) as usize - 1);
        }
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
            .map(|(values, expected)| (values, mean(&sum(values), -1074, values.len() as u64), expected))
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
        let forward = mean(&sum(&values), -1074, values.len() as u64);
        let mut backward = sum(&values[500..].iter().rev().copied().collect::<Vec<_>>());
        backward.merge(sum(&values[..500]));
        assert_eq!(forward.to_bits(), mean(&backward, -1074, values.len() as u64).to_bits());
    }

    #[test]
    fn deviations() {
        // whole numbers, their count, the deviation
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
            let (mut sum, mut squares) = (Exact::default(), Exact::default());
            for value in values {
                let size = u128::from(value.unsigned_abs());
                sum.add_signed((*value).into(), 0);
                squares.add(false, size * size, 0);
            }
            let found = deviation(&[(sum, squares)], 0, values.len() as u64);
            if found != expected {
                wrong.push((values, found, expected));
            }
        }
        assert!(wrong.is_empty(), "{wrong:?}");
    }
}
