//! Floats and complex numbers as text.
//!
//! NumPy chooses between digits and exponents for an array as a whole, by its least and greatest size, and makes every
//! column as wide as its widest item (`FloatingFormat.fillFormat` of `numpy/_core/arrayprint.py`). So an array is
//! passed over twice before it is printed: for the sizes, then for the widths. The digits of an item are the slow part,
//! so the second pass computes them only for items that could widen a column (see `Column::limit`), which in most
//! arrays are soon none.

use std::io;

use half::{bf16, f16};

use super::page::{Numbers, Page, pad, spaces};
use crate::format::interface::TextOptions;
use crate::item::decimal::{self, Decimal};
use crate::item::element::Float;
use crate::item::float16::bf16_to_f32;

/// A binary float type. The bounds are NumPy's. It prints a single float (`scalartypes.c.src`) and one in an array
/// (`arrayprint.py`) by different code, with different bounds for float64.
pub(super) trait Real: Copy {
    /// An array with a float from here on has exponents (`FloatingFormat.fillFormat`).
    const LARGE: f64;
    /// A single float from here on has an exponent (`format_float` of `scalartypes.c.src`).
    const LARGE_SCALAR: f64 = Self::LARGE;
    /// The float of this type nearest to 0.0001: an array with a smaller one has exponents
    /// (`FloatingFormat.fillFormat`).
    const SMALL: f64;

    /// The most digits that [`Self::digits`] returns.
    const DIGITS: usize;

    /// Returns the number as a float64.
    fn wide(self) -> f64;

    /// Returns the shortest digits of a finite float (`dragon4_scientific(unique=True)`).
    fn digits(self) -> Decimal;

    /// Returns whether a finite float is a power of two, or zero.
    fn is_power(self) -> bool {
        self.wide().to_bits() & ((1 << 52) - 1) == 0
    }

    /// Returns whether the digits read back to a float.
    fn reads(digits: Decimal, value: Self) -> bool;

    /// Returns whether `max / min`, rounded to this type, is more than 1000, from which on an array has exponents
    /// (`FloatingFormat.fillFormat`).
    fn spread(min: f64, max: f64) -> bool;
}

impl Real for f16 {
    const LARGE: f64 = 1e3;
    const SMALL: f64 = f16::from_f64_const(1e-4).to_f64_const();
    const DIGITS: usize = 5;

    #[inline]
    fn wide(self) -> f64 {
        Float::wide(self)
    }

    fn digits(self) -> Decimal {
        decimal::shortest16(self)
    }

    fn reads(digits: Decimal, value: Self) -> bool {
        f16::nearest(digits.to_f32().into()) == value
    }

    fn spread(min: f64, max: f64) -> bool {
        Float::wide(f16::nearest(((max / min) as f32).into())) > 1e3
    }
}

/// NumPy does not know bfloat16. It is printed as float32s of the same value, so that nobody reads another number.
impl Real for bf16 {
    const LARGE: f64 = f32::LARGE;
    const SMALL: f64 = f32::SMALL;
    const DIGITS: usize = <f32 as Real>::DIGITS;

    #[inline]
    fn wide(self) -> f64 {
        Float::wide(self)
    }

    fn digits(self) -> Decimal {
        bf16_to_f32(self).digits()
    }

    fn reads(digits: Decimal, value: Self) -> bool {
        f32::reads(digits, bf16_to_f32(value))
    }

    fn spread(min: f64, max: f64) -> bool {
        f32::spread(min, max)
    }
}

impl Real for f32 {
    const LARGE: f64 = 1e6;
    const SMALL: f64 = 1e-4f32 as f64;
    const DIGITS: usize = 9;

    fn wide(self) -> f64 {
        self.into()
    }

    fn digits(self) -> Decimal {
        decimal::shortest32(self)
    }

    fn reads(digits: Decimal, value: Self) -> bool {
        digits.to_f32() == value
    }

    fn spread(min: f64, max: f64) -> bool {
        (max / min) as f32 > 1e3
    }
}

impl Real for f64 {
    const LARGE: f64 = 1e8;
    const LARGE_SCALAR: f64 = 1e16;
    const SMALL: f64 = 1e-4;
    const DIGITS: usize = 17;

    fn wide(self) -> f64 {
        self
    }

    fn digits(self) -> Decimal {
        decimal::shortest64(self)
    }

    fn reads(digits: Decimal, value: Self) -> bool {
        digits.to_f64() == value
    }

    fn spread(min: f64, max: f64) -> bool {
        max / min > 1e3
    }
}

/// Prints an array of floats.
pub(super) fn reals<'a, T: Real>(
    numbers: &Numbers<'a>,
    get: impl Fn(&Numbers<'a>, usize) -> T,
    options: &TextOptions,
    page: &mut Page<'_>,
) -> io::Result<()> {
    let column = Column::fit(page, |i| get(numbers, i), false, options.precision);
    page.blocks(&mut |i, text| {
        let before = text.len();
        column.put(get(numbers, i), text);
        text.len() - before
    })
}

/// Prints an array of complex numbers, whose parts have a column each (`ComplexFloatingFormat`).
pub(super) fn complexes<'a, T: Real>(
    numbers: &Numbers<'a>,
    get: impl Fn(&Numbers<'a>, usize) -> T,
    options: &TextOptions,
    page: &mut Page<'_>,
) -> io::Result<()> {
    let real = Column::fit(page, |i| get(numbers, 2 * i), false, options.precision);
    let imaginary = Column::fit(page, |i| get(numbers, 2 * i + 1), true, options.precision);
    page.blocks(&mut |i, text| {
        let before = text.len();
        real.put(get(numbers, 2 * i), text);
        imaginary.put(get(numbers, 2 * i + 1), text);
        // the `j` follows the last digit, and the padding of the column follows the `j`
        let end = text.trim_ascii_end().len();
        text.insert(end, b'j');
        text.len() - before
    })
}

/// The layout of the floats of an array, with their points below each other (`FloatingFormat`).
#[derive(Debug, Default)]
struct Column {
    /// Characters before the point.
    left: usize,
    /// Characters after the point, including an exponent.
    right: usize,
    /// The digits of the exponent, and those between point and exponent, if exponents are printed.
    exponent: Option<(usize, usize)>,
    /// The most digits after the point.
    precision: Option<usize>,
    /// Whether positive numbers have a sign.
    plus: bool,
}

impl Column {
    /// Returns the layout for everything that `page` shows (`FloatingFormat.fillFormat`).
    fn fit<T: Real>(page: &Page<'_>, get: impl Fn(usize) -> T, plus: bool, precision: Option<usize>) -> Self {
        // the items of least and greatest size without zero, and those of greatest size with either sign
        let (mut min, mut max, mut most, mut least) = (None, None, None, None);
        let (mut special, mut minus_infinity) = (false, false);
        let size = |value: T| value.wide().abs();
        let greater = |value: T, found: Option<T>| found.is_none_or(|it| size(value) > size(it));
        page.each(&mut |i| {
            let value = get(i);
            let wide = value.wide();
            if !wide.is_finite() {
                special = true;
                minus_infinity |= wide == f64::NEG_INFINITY;
                return;
            }
            let side = if wide.is_sign_negative() { &mut least } else { &mut most };
            if greater(value, *side) {
                *side = Some(value);
            }
            if wide != 0.0 && min.is_none_or(|it| size(value) < size(it)) {
                min = Some(value);
            }
        });
        for side in [least, most].into_iter().flatten() {
            if size(side) != 0.0 && greater(side, max) {
                max = Some(side);
            }
        }
        let (low, high) = (min.map_or(1.0, size), max.map_or(1.0, size));
        let exponents = high >= T::LARGE || low < T::SMALL || T::spread(low, high);
        let mut it = Self { precision, plus, exponent: exponents.then_some((0, 0)), ..Self::default() };
        for value in [min, max, most, least].into_iter().flatten() {
            it.widen(it.round(value));
        }
        // no item has more before the point, or a longer exponent, than these four; what follows the point may be
        // longer, but not for items too large for that, and once nothing more fits, for no item
        let mut limit = it.limit::<T>();
        page.each(&mut |i| {
            let value = get(i);
            if size(value) < limit {
                it.widen(it.round(value));
                limit = it.limit::<T>();
            }
        });
        it.finish();
        if special {
            let width = "inf".len() + usize::from(plus || minus_infinity);
            it.left = it.left.max(width.saturating_sub(it.right + 1));
        }
        it
    }

    /// Makes room for the exponents when all widths are known.
    fn finish(&mut self) {
        if let Some((exponent, places)) = self.exponent {
            self.right = places + "e+".len() + exponent;
        }
    }

    /// Returns the size from which on finite floats need no more places after the point than the column has.
    fn limit<T: Real>(&self) -> f64 {
        let (places, most) = match self.exponent {
            Some((_, places)) => (places, T::DIGITS - 1),
            None => (self.right, usize::MAX),
        };
        if places >= self.precision.unwrap_or(usize::MAX).min(most) {
            return 0.0;
        }
        match self.exponent {
            Some(_) => f64::INFINITY,
            // this is a little more than the power of ten, which may not be exact
            None => 1.000_001 * 10f64.powi(T::DIGITS as i32 - 1 - places as i32),
        }
    }

    /// Returns the digits of a finite float: as many as read back to it, but no more than the precision.
    fn round<T: Real>(&self, value: T) -> Decimal {
        let digits = value.digits();
        let Some(precision) = self.precision else { return digits };
        let len = digits.digits().len();
        match self.exponent {
            Some(_) if len > precision.saturating_add(1) => digits.to_digits(value.wide(), precision),
            None if len as i64 - i64::from(digits.point) > i64::try_from(precision).unwrap_or(i64::MAX) => {
                Decimal::to_places(value.wide(), precision)
            }
            _ => digits,
        }
    }

    /// Makes room for a finite float.
    fn widen(&mut self, digits: Decimal) {
        let sign = usize::from(digits.negative || self.plus);
        let len = digits.digits().len();
        if let Some((exponent, places)) = &mut self.exponent {
            self.left = self.left.max(sign + 1);
            *places = (*places).max(len.saturating_sub(1));
            *exponent = (*exponent).max(exponent_digits(digits));
        } else {
            let (whole, fraction) = split(digits);
            self.left = self.left.max(sign + whole);
            self.right = self.right.max(fraction);
        }
    }

    /// Appends a float with spaces around it (`FloatingFormat.__call__`).
    fn put<T: Real>(&self, value: T, text: &mut Vec<u8>) {
        if !value.wide().is_finite() {
            let word: &[u8] = match value.wide() {
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
            Some((_, places)) => exactly(value, places),
            None => self.round(value),
        };
        self.put_digits(digits, text);
    }

    /// Appends a number that fits this column.
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

/// Returns the digits of a finite float with `places` after the first (`dragon4_scientific(min_digits=…)`). NumPy fills
/// places beyond the shortest digits with further digits of the float, not with zeros.
fn exactly<T: Real>(value: T, places: usize) -> Decimal {
    let shortest = value.digits();
    let len = shortest.digits().len();
    if len == places + 1 || len == 0 {
        return shortest;
    }
    let digits = shortest.to_digits(value.wide(), places);
    // floats lie closer together below a power of two than above it, so nearer digits below may read back to another
    // float while those above do not; NumPy takes the latter
    if len <= places && T::is_power(value) && !T::reads(digits, value) {
        let away = digits.away(places + 1);
        if T::reads(away, value) {
            return away;
        }
    }
    digits
}

/// Returns how many digits come before and after the point without an exponent.
fn split(digits: Decimal) -> (usize, usize) {
    let len = digits.digits().len() as i32;
    (digits.point.max(1) as usize, (len - digits.point).max(0) as usize)
}

/// Returns the exponent of the first digit.
fn power(digits: Decimal) -> i32 {
    if digits.digits().is_empty() { 0 } else { digits.point - 1 }
}

/// Returns how many digits an exponent has: at least two.
fn exponent_digits(digits: Decimal) -> usize {
    if power(digits).unsigned_abs() >= 100 { 3 } else { 2 }
}

/// The part that a single float is of its item.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// The whole item: it keeps one digit after the point.
    Whole,
    /// The real part of a complex number.
    Real,
    /// The imaginary part after a real one: it has a sign.
    Signed,
}

pub(super) fn real_scalar<T: Real>(value: T, role: Role, text: &mut Vec<u8>) {
    let wide = value.wide();
    let plus = role == Role::Signed;
    if !wide.is_finite() {
        return Column { plus, ..Column::default() }.put(value, text);
    }
    let exponent = wide != 0.0 && !(1e-4..T::LARGE_SCALAR).contains(&wide.abs());
    let mut column = Column { plus, exponent: exponent.then_some((0, 0)), ..Column::default() };
    let digits = value.digits();
    column.widen(digits);
    column.finish();
    let start = text.len();
    column.put_digits(digits, text);
    // the column always has a point
    match column.exponent {
        None if column.right == 0 && role == Role::Whole => text.push(b'0'),
        None if column.right == 0 => text.truncate(start + column.left),
        Some((_, 0)) => _ = text.remove(start + column.left),
        _ => {}
    }
}

pub(super) fn complex_scalar<T: Real>(real: T, imaginary: T, text: &mut Vec<u8>) {
    if real.wide() == 0.0 && real.wide().is_sign_positive() {
        real_scalar(imaginary, Role::Real, text);
        text.push(b'j');
        return;
    }
    text.push(b'(');
    real_scalar(real, Role::Real, text);
    real_scalar(imaginary, Role::Signed, text);
    text.extend_from_slice(b"j)");
}
