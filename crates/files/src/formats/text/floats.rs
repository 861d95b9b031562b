//! Floats and complex numbers as text.
//!
//! NumPy picks exponents by the smallest and largest item of an array, and pads columns to the widest item
//! (`FloatingFormat.fillFormat` in `numpy/_core/arrayprint.py`). So two passes precede printing. Digits are slow, so
//! the second pass skips items that cannot widen a column (`FloatFormat::limit`).

use std::io;

use half::f16;

use super::decimal::{self, Decimal};
use super::page::{Page, pad, spaces};
use tensorop_kernels::item::element::Float;

/// NumPy's limits, which differ between scalars (`scalartypes.c.src`) and arrays (`arrayprint.py`).
#[derive(Debug)]
pub(crate) struct FloatType {
    /// Arrays with an item of at least this size have exponents.
    large: f64,
    /// Scalars of at least this size have exponents.
    large_scalar: f64,
    /// The float nearest to 0.0001. Arrays with a smaller item have exponents.
    small: f64,
    /// The largest number that rounds to 1000. Arrays whose maximum exceeds their minimum times this have exponents.
    spread: f64,
    /// The maximum number of digits.
    digits: usize,
    /// As `dragon4_scientific(unique=True)`.
    shortest: fn(f64) -> Decimal,
    read: fn(Decimal) -> f64,
}

pub(crate) static FLOAT16: FloatType = FloatType {
    large: 1e3,
    large_scalar: 1e3,
    small: f16::from_f64_const(1e-4).to_f64_const(),
    spread: 1000.25,
    digits: 5,
    shortest: |value| decimal::shortest16(f16::nearest(value)),
    read: |digits| f16::nearest(digits.to_f32().into()).wide(),
};

/// Also for narrower floats, which NumPy lacks.
pub(crate) static FLOAT32: FloatType = FloatType {
    large: 1e6,
    large_scalar: 1e6,
    small: 1e-4_f32 as f64,
    spread: 1000.0 + 1.0 / 32768.0,
    digits: 9,
    shortest: |value| decimal::shortest32(value as f32),
    read: |digits| digits.to_f32().into(),
};

pub(crate) static FLOAT64: FloatType = FloatType {
    large: 1e8,
    large_scalar: 1e16,
    small: 1e-4,
    spread: 1e3,
    digits: 17,
    shortest: decimal::shortest64,
    read: Decimal::to_f64,
};

/// `FloatingFormat`, the columns of an array.
#[derive(Debug)]
pub(crate) struct FloatFormat {
    float: &'static FloatType,
    left: usize,
    /// Includes an exponent.
    right: usize,
    /// Digits of the exponent, and those between point and exponent.
    exponent: Option<(usize, usize)>,
    /// The maximum digits after the point.
    precision: Option<usize>,
    plus: bool,
}

impl FloatFormat {
    pub(crate) fn new(float: &'static FloatType, precision: Option<usize>) -> Self {
        Self { float, left: 0, right: 0, exponent: None, precision, plus: false }
    }

    pub(crate) fn print(mut self, page: &mut Page<'_>, get: &dyn Fn(usize) -> f64) -> io::Result<()> {
        self.fit(page, get);
        page.blocks(&mut |i, text| {
            let before = text.len();
            self.put(get(i), text);
            text.len() - before
        })
    }

    /// `get` returns real and imaginary parts in turn (`ComplexFloatingFormat`).
    pub(crate) fn print_complex(self, page: &mut Page<'_>, get: &dyn Fn(usize) -> f64) -> io::Result<()> {
        let mut imaginary = Self { plus: true, ..self };
        let mut real = self;
        real.fit(page, &|i| get(2 * i));
        imaginary.fit(page, &|i| get(2 * i + 1));
        page.blocks(&mut |i, text| {
            let before = text.len();
            real.put(get(2 * i), text);
            imaginary.put(get(2 * i + 1), text);
            let end = text.trim_ascii_end().len();
            text.insert(end, b'j');
            text.len() - before
        })
    }

    /// `FloatingFormat.fillFormat`.
    fn fit(&mut self, page: &Page<'_>, get: &dyn Fn(usize) -> f64) {
        // The smallest nonzero magnitude, and the extremes of either sign.
        let (mut min, mut most, mut least) = (f64::INFINITY, None, None);
        let (mut special, mut minus_infinity) = (false, false);
        page.each(&mut |items| {
            for value in items.map(get) {
                if !value.is_finite() {
                    special = true;
                    minus_infinity |= value == f64::NEG_INFINITY;
                } else if value.is_sign_negative() {
                    least = Some(least.map_or(value, |it: f64| it.min(value)));
                } else {
                    most = Some(most.map_or(value, |it: f64| it.max(value)));
                }
                if value != 0.0 {
                    // `min` ignores NaN.
                    min = min.min(value.abs());
                }
            }
        });
        let max = most.unwrap_or(0.0).max(-least.unwrap_or(0.0));
        let float = self.float;
        // NumPy compares nothing if all items are zero.
        let exponents = max > 0.0 && (max >= float.large || min < float.small || max / min > float.spread);
        self.exponent = exponents.then_some((0, 0));
        let smallest = (max > 0.0).then_some(min);
        for value in [smallest, most, least].into_iter().flatten() {
            self.widen(self.round(value));
        }
        // These items fix the digits before the point and the exponent. Others below the limit may have more digits
        // after the point.
        let mut limit = self.limit();
        page.each(&mut |items| {
            for value in items.map(get) {
                if value.abs() < limit {
                    self.widen(self.round(value));
                    limit = self.limit();
                }
            }
        });
        self.finish();
        if special {
            let width = "inf".len() + usize::from(self.plus || minus_infinity);
            self.left = self.left.max(width.saturating_sub(self.right + 1));
        }
    }

    fn finish(&mut self) {
        if let Some((exponent, places)) = self.exponent {
            self.right = places + "e+".len() + exponent;
        }
    }

    /// Larger floats need no more places after the point.
    fn limit(&self) -> f64 {
        let (places, most) = match self.exponent {
            Some((_, places)) => (places, self.float.digits - 1),
            None => (self.right, usize::MAX),
        };
        if places >= self.precision.unwrap_or(usize::MAX).min(most) {
            return 0.0;
        }
        match self.exponent {
            Some(_) => f64::INFINITY,
            // Slightly more than the power of ten, which may be inexact.
            None => 1.000_001 * 10f64.powi(self.float.digits as i32 - 1 - places as i32),
        }
    }

    fn round(&self, value: f64) -> Decimal {
        let digits = (self.float.shortest)(value);
        let Some(precision) = self.precision else { return digits };
        let len = digits.digits().len();
        match self.exponent {
            Some(_) if len > precision.saturating_add(1) => digits.to_digits(value, precision),
            None if len as i64 - i64::from(digits.point) > i64::try_from(precision).unwrap_or(i64::MAX) => {
                Decimal::to_places(value, precision)
            }
            _ => digits,
        }
    }

    fn widen(&mut self, decimal: Decimal) {
        let sign = usize::from(decimal.negative || self.plus);
        let len = decimal.digits().len();
        if let Some((exponent, places)) = &mut self.exponent {
            self.left = self.left.max(sign + 1);
            *places = (*places).max(len.saturating_sub(1));
            *exponent = (*exponent).max(if power(decimal).unsigned_abs() >= 100 { 3 } else { 2 });
        } else {
            self.left = self.left.max(sign + decimal.point.max(1) as usize);
            self.right = self.right.max((len as i32 - decimal.point).max(0) as usize);
        }
    }

    /// `FloatingFormat.__call__`.
    fn put(&self, value: f64, text: &mut Vec<u8>) {
        if !value.is_finite() {
            let word: &[u8] = match value {
                f64::INFINITY if self.plus => b"+inf",
                f64::INFINITY => b"inf",
                f64::NEG_INFINITY => b"-inf",
                _ if self.plus => b"+nan",
                _ => b"nan",
            };
            pad(word, self.left + 1 + self.right, text);
            return;
        }
        let digits = match self.exponent {
            Some((_, places)) => exactly(self.float, value, places),
            None => self.round(value),
        };
        self.put_digits(digits, text);
    }

    fn put_digits(&self, decimal: Decimal, text: &mut Vec<u8>) {
        let start = text.len();
        spaces(self.left + 1 + self.right, text);
        let cell = &mut text[start..];
        let digits = decimal.digits();
        let whole = if self.exponent.is_some() { 1 } else { decimal.point.max(1) as usize };
        let first = self.left - whole;
        if decimal.negative {
            cell[first - 1] = b'-';
        } else if self.plus {
            cell[first - 1] = b'+';
        }
        cell[first..self.left].fill(b'0');
        cell[self.left] = b'.';
        let tail = &mut cell[self.left + 1..];
        let rest = if decimal.point <= 0 && self.exponent.is_none() {
            let zeros = decimal.point.unsigned_abs() as usize;
            tail[..zeros].fill(b'0');
            tail[zeros..][..digits.len()].copy_from_slice(digits);
            return;
        } else {
            let (before, after) = digits.split_at(whole.min(digits.len()));
            cell[first..][..before.len()].copy_from_slice(before);
            after
        };
        let tail = &mut cell[self.left + 1..];
        tail[..rest.len()].copy_from_slice(rest);
        if let Some((exponent, places)) = self.exponent {
            tail[rest.len()..places].fill(b'0');
            let power = power(decimal);
            tail[places] = b'e';
            tail[places + 1] = if power < 0 { b'-' } else { b'+' };
            let mut power = power.unsigned_abs();
            for digit in tail[places + 2..][..exponent].iter_mut().rev() {
                *digit = b'0' + (power % 10) as u8;
                power /= 10;
            }
        }
    }
}

/// `dragon4_scientific(min_digits=…)` appends further digits of the float, not zeros.
fn exactly(float: &FloatType, value: f64, places: usize) -> Decimal {
    let shortest = (float.shortest)(value);
    let len = shortest.digits().len();
    if len == places + 1 || len == 0 {
        return shortest;
    }
    let digits = shortest.to_digits(value, places);
    // Floats below a power of two are denser, so rounding toward zero may not read back; NumPy then rounds away.
    let is_power = value.to_bits() & ((1 << 52) - 1) == 0;
    if len <= places && is_power && (float.read)(digits) != value {
        let away = digits.away(places + 1);
        if (float.read)(away) == value {
            return away;
        }
    }
    digits
}

fn power(digits: Decimal) -> i32 {
    if digits.digits().is_empty() { 0 } else { digits.point - 1 }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ScalarPart {
    /// Keeps one digit after the point.
    Whole,
    Real,
    /// An imaginary part, with a sign.
    Signed,
}

pub(crate) fn real_scalar(float: &'static FloatType, value: f64, role: ScalarPart, text: &mut Vec<u8>) {
    let mut column = FloatFormat { plus: role == ScalarPart::Signed, ..FloatFormat::new(float, None) };
    if !value.is_finite() {
        return column.put(value, text);
    }
    let exponent = value != 0.0 && !(1e-4..float.large_scalar).contains(&value.abs());
    column.exponent = exponent.then_some((0, 0));
    let digits = (float.shortest)(value);
    column.widen(digits);
    column.finish();
    let start = text.len();
    column.put_digits(digits, text);
    match column.exponent {
        None if column.right == 0 && role == ScalarPart::Whole => text.push(b'0'),
        None if column.right == 0 => text.truncate(start + column.left),
        Some((_, 0)) => _ = text.remove(start + column.left),
        _ => {}
    }
}

/// A real part of zero is omitted.
pub(crate) fn complex_scalar(float: &'static FloatType, real: f64, imaginary: f64, text: &mut Vec<u8>) {
    if real == 0.0 && real.is_sign_positive() {
        real_scalar(float, imaginary, ScalarPart::Real, text);
        text.push(b'j');
        return;
    }
    text.push(b'(');
    real_scalar(float, real, ScalarPart::Real, text);
    real_scalar(float, imaginary, ScalarPart::Signed, text);
    text.extend_from_slice(b"j)");
}
