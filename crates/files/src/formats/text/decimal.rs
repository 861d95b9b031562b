//! The shortest decimal digits that read back to the same float.
//!
//! zmij finds them for float32 and float64. This module searches those of float16: the equal float32 has too many
//! (0.099975586 for 0.1). NumPy picks exponents for a whole array, so digits are separate from notation.

use std::io::Write;

use half::f16;

use tensorop_kernels::item::exact::Binary;
use tensorop_kernels::item::float16::f16_to_f32;

/// `0.d1d2d3… × 10^point` without trailing zeros; zero has no digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Decimal {
    pub(crate) negative: bool,
    digits: [u8; 17],
    len: u8,
    /// If negative, this many zeros follow the decimal point.
    pub(crate) point: i32,
}

impl Decimal {
    pub(crate) fn digits(&self) -> &[u8] {
        &self.digits[..self.len.into()]
    }

    pub(crate) const fn zero(negative: bool) -> Self {
        Self { negative, digits: [b'0'; 17], len: 0, point: 0 }
    }

    /// Digits after the first 17 must be zeros.
    fn read(text: &[u8]) -> Self {
        let (negative, text) = text.strip_prefix(b"-").map_or((false, text), |t| (true, t));
        // `e`, a sign and three digits.
        let end = text.len().saturating_sub(5);
        let mark = text[end..].iter().rposition(|&byte| byte == b'e').map_or(text.len(), |at| end + at);
        let (mantissa, exponent) = text.split_at(mark);
        let exponent = match exponent {
            [_, b'-', digits @ ..] => -integer(digits),
            [_, digits @ ..] => integer(digits),
            [] => 0,
        };
        let whole = mantissa.iter().position(|&byte| byte == b'.').unwrap_or(mantissa.len());
        let fraction = mantissa.get(whole + 1..).unwrap_or_default();
        if mantissa.first() != Some(&b'0') {
            return Self::new(negative, &mantissa[..whole], fraction, exponent + whole as i32);
        }
        let zeros = fraction.iter().take_while(|&&byte| byte == b'0').count();
        Self::new(negative, &[], &fraction[zeros..], exponent - zeros as i32)
    }

    /// `head` does not begin with a zero.
    fn new(negative: bool, head: &[u8], tail: &[u8], point: i32) -> Self {
        let mut it = Self { negative, digits: [b'0'; 17], len: 0, point };
        let head = &head[..head.len().min(17)];
        let tail = &tail[..tail.len().min(17 - head.len())];
        it.digits[..head.len()].copy_from_slice(head);
        it.digits[head.len()..][..tail.len()].copy_from_slice(tail);
        let last = it.digits[..head.len() + tail.len()].iter().rposition(|&digit| digit != b'0');
        it.len = last.map_or(0, |last| last as u8 + 1);
        if it.len == 0 {
            it.point = 0;
        }
        it
    }

    fn fixed(negative: bool, number: u64, places: i32) -> Self {
        let mut buffer = itoa::Buffer::new();
        let digits = buffer.format(number).as_bytes();
        if number == 0 { Self::zero(negative) } else { Self::new(negative, digits, &[], digits.len() as i32 - places) }
    }

    /// Rounds to `places` after the point, ties to even. `format!` is exact but much slower, so 128-bit arithmetic
    /// handles all but extreme numbers.
    pub(crate) fn to_places(value: f64, places: usize) -> Self {
        let exact = i32::try_from(places).ok().and_then(|places| Some((times_power(value.abs(), places)?, places)));
        match exact {
            Some((number, places)) => Self::fixed(value.is_sign_negative(), number, places),
            None => Self::printed(format_args!("{value:.places$}")),
        }
    }

    /// Rounds `value` to `places` after the first digit, ties to even. `self` has its shortest digits.
    pub(crate) fn to_digits(self, value: f64, places: usize) -> Self {
        // The shortest digits have no trailing zeros, so they can be fewer.
        if let Some(least) = u32::try_from(places).ok().and_then(|places| 10u64.checked_pow(places)) {
            let places = places as i32 - (self.point - 1);
            if let Some(number) = times_power(value.abs(), places).filter(|&number| number > least) {
                return Self::fixed(self.negative, number, places);
            }
        }
        Self::printed(format_args!("{value:.places$e}"))
    }

    fn printed(text: std::fmt::Arguments<'_>) -> Self {
        // 309 digits, a sign and a point fit.
        let mut bytes = [0; 400];
        let mut rest = &mut bytes[..];
        let _ = rest.write_fmt(text);
        let len = 400 - rest.len();
        Self::read(&bytes[..len])
    }

    /// The next decimal of `len` digits away from zero.
    pub(crate) fn away(mut self, len: usize) -> Self {
        let used = usize::from(self.len);
        let len = len.min(self.digits.len());
        self.digits[used.min(len)..len].fill(b'0');
        let nines = self.digits[..len].iter().rev().take_while(|&&digit| digit == b'9').count();
        if nines == len {
            self.digits[0] = b'0';
            self.len = 1;
            self.point += 1;
        } else {
            self.len = (len - nines) as u8;
        }
        self.digits[usize::from(self.len) - 1] += 1;
        self.digits[usize::from(self.len)..].fill(b'0');
        self
    }

    pub(crate) fn to_f64(self) -> f64 {
        self.text().parse().unwrap_or(f64::NAN)
    }

    pub(crate) fn to_f32(self) -> f32 {
        self.text().parse().unwrap_or(f32::NAN)
    }

    fn text(self) -> String {
        let sign = if self.negative { "-" } else { "" };
        format!("{sign}0.{}e{}", String::from_utf8_lossy(self.digits()), self.point)
    }
}

fn integer(digits: &[u8]) -> i32 {
    digits.iter().filter(|byte| byte.is_ascii_digit()).fold(0, |number, digit| 10 * number + i32::from(digit - b'0'))
}

/// Ties to even; `None` if 128 bits do not suffice.
fn times_power(value: f64, power: i32) -> Option<u64> {
    let Binary { mantissa, power: exponent, .. } = value.into();
    let fraction = u128::from(mantissa);
    let five = 5u128.pow(Some(power.unsigned_abs()).filter(|&power| power <= 27)?);
    // value * 10^power = fraction * 5^power * 2^shift
    let shift = exponent + power;
    let (above, below) = if power < 0 { (fraction, five) } else { (fraction * five, 1) };
    let (quotient, rest, half) = if shift >= 0 {
        let above = above.checked_mul(1u128.checked_shl(shift.unsigned_abs())?)?;
        if below == 1 { (above, 0, 1) } else { (above / below, 2 * (above % below), below) }
    } else if below == 1 {
        let shift = shift.unsigned_abs();
        let whole = above.checked_shr(shift).unwrap_or(0);
        (whole, above - whole.checked_shl(shift).unwrap_or(0), 1u128.checked_shl(shift - 1)?)
    } else {
        return None;
    };
    let up = rest > half || (rest == half && quotient % 2 == 1);
    u64::try_from(quotient + u128::from(up)).ok()
}

pub(crate) fn shortest64(value: f64) -> Decimal {
    Decimal::read(zmij::Buffer::new().format_finite(value).as_bytes())
}

pub(crate) fn shortest32(value: f32) -> Decimal {
    Decimal::read(zmij::Buffer::new().format_finite(value).as_bytes())
}

/// The fewest digits that read back (at most five), and the nearest if several do. float64 suffices: it is exact for
/// short decimals halfway between two float16s, and close enough elsewhere.
pub(crate) fn shortest16(value: f16) -> Decimal {
    let (negative, bits) = (value.is_sign_negative(), value.to_bits() & 0x7fff);
    if bits == 0 {
        return Decimal::zero(negative);
    }
    let float = |bits| f64::from(f16_to_f32(f16::from_bits(bits)));
    let (value, below, above) = (float(bits), float(bits - 1), float(bits + 1));
    let above = if above.is_finite() { above } else { value + (value - below) };
    let even = bits % 2 == 0;
    let (low, high) = ((below + value) / 2.0, (value + above) / 2.0);
    let reads_back = |it: f64| (low < it && it < high) || (even && (it == low || it == high));
    // The largest float16 is below 10^5.
    let digits = (-4..).find_map(|places| {
        let scaled = scale(value, places);
        let nearest = scaled.round_ties_even();
        let other = if nearest > scaled { nearest - 1.0 } else { nearest + 1.0 };
        let found = [nearest, other].into_iter().find(|&candidate| reads_back(scale(candidate, -places)))?;
        Some(Decimal::fixed(negative, found as u64, places))
    });
    digits.expect("with some digits every float reads back")
}

/// These powers of ten are exact.
fn scale(value: f64, power: i32) -> f64 {
    let factor = 10_u64.pow(power.unsigned_abs()) as f64;
    if power < 0 { value / factor } else { value * factor }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_and_point() {
        let rows = [
            (0.0, "", 0, false),
            (-0.0, "", 0, true),
            (0.1, "1", 0, false),
            (-12.5, "125", 2, true),
            (1e22, "1", 23, false),
            (5e-324, "5", -323, false),
            (1.7976931348623157e308, "17976931348623157", 309, false),
            (1024.0, "1024", 4, false),
            (0.001, "1", -2, false),
        ];
        for (value, digits, point, negative) in rows {
            let d = shortest64(value);
            assert_eq!((d.digits(), d.point, d.negative), (digits.as_bytes(), point, negative), "{value}");
        }
        assert_eq!(shortest32(0.1).digits(), b"1");
        assert_eq!(shortest16(f16::from_f64(0.1)).digits(), b"1");
        assert_eq!(shortest16(f16::MAX).digits(), b"655"); // 65504: the next float16 is far
    }

    #[test]
    fn rounded_and_next() {
        let rows = [
            (Decimal::to_places(2.5, 0), "2", 1),
            (Decimal::to_places(0.0095, 3), "9", -2),
            (Decimal::to_places(0.96, 1), "1", 1),
            (Decimal::to_places(-0.04, 1), "", 0),
            (shortest64(0.1).to_digits(0.1, 16), "10000000000000001", 0),
            (shortest64(9.96e-7).to_digits(9.96e-7, 1), "1", -5),
            (shortest64(0.125).away(5), "12501", 0),
            (shortest64(0.999).away(3), "1", 1),
            (shortest64(12.99).away(4), "13", 2),
        ];
        for (decimal, digits, point) in rows {
            assert_eq!((decimal.digits(), decimal.point), (digits.as_bytes(), point), "{digits}");
        }
    }

    #[test]
    fn every_float16_reads_back() {
        // Through float32, because `half` ignores the lower half of a float64.
        for item in (0..=u16::MAX).map(f16::from_bits).filter(|item| item.is_finite()) {
            assert!(shortest16(item).digits().len() <= 5);
            assert_eq!(f16::from_f32(shortest16(item).to_f32()).to_bits(), item.to_bits());
        }
    }
}
