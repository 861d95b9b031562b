//! Parses decimal text: integers exactly, floats rounded once.

use std::cmp::Ordering;
use std::str::FromStr;

use crate::item::dtype::{DType, Kind, Narrow};
use crate::item::element::{Element, Float, match_kind, not_numbers};

/// Why a dtype cannot hold a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misfit {
    /// The text is not a number.
    Malformed,
    /// The dtype holds no numbers.
    NotNumeric,
    /// The dtype has no fractions.
    Fraction,
    /// Beyond the integers, or not positive for a positive dtype.
    OutOfRange,
    /// The nearest float is infinite.
    TooLarge,
}

/// Parses a JSON number into the first bytes of `out`, in the byte order of `dtype`. Floats are rounded once, ties to
/// even.
///
/// ```
/// use tensorop_kernels::{DType, item::parse::{Misfit, parse_number}};
/// let mut item = [0; 2];
/// parse_number("12.50e1", &DType::parse(">i2").unwrap(), &mut item).unwrap();
/// assert_eq!(item, [0, 125]);
/// assert_eq!(parse_number("300", &DType::parse("uint8").unwrap(), &mut item), Err(Misfit::OutOfRange));
/// ```
///
/// # Errors
/// The dtype cannot hold the number.
pub fn parse_number(text: &str, dtype: &DType, out: &mut [u8]) -> Result<(), Misfit> {
    match_kind!(dtype.kind(), {
        bool T => return Err(Misfit::NotNumeric),
        integer T => put(fit::<T>(parse_integer(text)?)?, dtype, out),
        float T => put(parse_float::<T>(text)?, dtype, out),
        complex T => return Err(Misfit::NotNumeric),
        Kind::Narrow(narrow) => put(parse_narrow(text, *narrow)?, dtype, out),
        not_numbers!() => return Err(Misfit::NotNumeric),
    });
    Ok(())
}

/// Whether `text` is `NaN`, `Infinity` or `-Infinity`.
pub fn is_special(text: &str) -> bool {
    special(text).is_some()
}

fn special(text: &str) -> Option<f64> {
    match text {
        "NaN" => Some(f64::NAN),
        "Infinity" => Some(f64::INFINITY),
        "-Infinity" => Some(f64::NEG_INFINITY),
        _ => None,
    }
}

/// Writes `NaN` or an infinity to the first bytes of `out`. Returns false if `text` is another or `dtype` does not have
/// it.
pub fn parse_special(text: &str, dtype: &DType, out: &mut [u8]) -> bool {
    let Some(value) = special(text) else { return false };
    match_kind!(dtype.kind(), {
        bool T => false,
        integer T => false,
        float T => {
            put(T::nearest(value), dtype, out);
            true
        },
        complex T => false,
        Kind::Narrow(narrow) => {
            // narrow types may lack infinity or NaN
            let item = narrow.encode(value);
            let found = narrow.value(item);
            let has = found == value || found.is_nan() && value.is_nan();
            if has {
                put(item, dtype, out);
            }
            has
        },
        not_numbers!() => false,
    })
}

/// Parses an integer, also in the form `12.50e1`.
///
/// # Errors
/// The number has a fraction, more than 20 digits, or is malformed.
pub fn parse_integer(text: &str) -> Result<i128, Misfit> {
    if let Ok(value) = text.parse::<i64>() {
        return Ok(value.into());
    }
    if text.contains(['n', 'N']) || text.parse::<f64>().is_err() {
        return Err(Misfit::Malformed);
    }
    let decimal = ScaledDigits::of(text);
    let len = (decimal.head.len() + decimal.tail.len()) as i64;
    if len == 0 {
        return Ok(0);
    }
    if len > decimal.point {
        return Err(Misfit::Fraction);
    }
    if decimal.point > 20 {
        return Err(Misfit::OutOfRange);
    }
    let value = decimal.digits().fold(0, |n: i128, d| 10 * n + i128::from(d - b'0'));
    let value = value * 10_i128.pow((decimal.point - len) as u32);
    Ok(if text.starts_with('-') { -value } else { value })
}

/// Returns the nearest float64.
///
/// # Errors
/// The number is malformed or too large.
pub fn parse_f64(text: &str) -> Result<f64, Misfit> {
    parse_finite::<f64>(text)
}

fn parse_finite<F: FromStr + Into<f64>>(text: &str) -> Result<f64, Misfit> {
    match text.parse::<F>().map(F::into) {
        Ok(value) if value.is_finite() => Ok(value),
        // the standard library parses `inf` and `NaN`; a number has no `n`
        Ok(_) if !text.contains(['n', 'N']) => Err(Misfit::TooLarge),
        Ok(_) | Err(_) => Err(Misfit::Malformed),
    }
}

fn parse_float<T: Float>(text: &str) -> Result<T, Misfit> {
    let value = match T::SIZE {
        f64::SIZE => parse_f64(text)?,
        f32::SIZE => parse_finite::<f32>(text)?,
        _ => beside_midpoint(text, T::nearest)?,
    };
    let item = T::nearest(value);
    if item.wide().is_finite() { Ok(item) } else { Err(Misfit::TooLarge) }
}

/// Returns a float64 that `encode` maps to the item of the decimal number. It is the nearest float64, unless that
/// equals a midpoint of two items; then the digits decide. A midpoint has few bits, and its neighbours are not
/// midpoints.
fn beside_midpoint<T: PartialEq>(text: &str, encode: impl Fn(f64) -> T) -> Result<f64, Misfit> {
    let value = parse_f64(text)?;
    let (down, up) = (value.next_down(), value.next_up());
    // midpoints of float16s, the longest type here, end with 41 zeros
    if value == 0.0 || value.to_bits().trailing_zeros() < 41 || encode(down) == encode(up) {
        return Ok(value);
    }
    Ok(match (ScaledDigits::of(text).cmp(&ScaledDigits::of(&format!("{value:.120e}"))), value > 0.0) {
        (Ordering::Equal, _) => value,
        (Ordering::Greater, true) | (Ordering::Less, false) => up,
        (Ordering::Less, true) | (Ordering::Greater, false) => down,
    })
}

/// Parses an item of a narrow type.
///
/// # Errors
/// The type cannot hold the number.
pub fn parse_narrow(text: &str, narrow: Narrow) -> Result<u8, Misfit> {
    if let Some((least, most)) = narrow.range() {
        let value = fit::<i64>(parse_integer(text)?)?;
        return if (least..=most).contains(&value) { Ok(narrow.encode(value as f64)) } else { Err(Misfit::OutOfRange) };
    }
    let value = beside_midpoint(text, |value| (narrow.encode(value), narrow.holds(value)))?;
    if narrow.holds(value) {
        Ok(narrow.encode(value))
    } else if narrow.holds(value.abs()) || value == 0.0 {
        Err(Misfit::OutOfRange)
    } else {
        Err(Misfit::TooLarge)
    }
}

fn put<T: Element>(item: T, dtype: &DType, out: &mut [u8]) {
    let bytes = if dtype.is_big_endian() { item.to_big() } else { item.to_little() };
    out[..T::SIZE].copy_from_slice(bytes.as_ref());
}

fn fit<T: TryFrom<i128>>(value: i128) -> Result<T, Misfit> {
    T::try_from(value).map_err(|_| Misfit::OutOfRange)
}

/// `0.{head}{tail} × 10^point`, without sign and without zeros at either end.
struct ScaledDigits<'a> {
    head: &'a [u8],
    tail: &'a [u8],
    point: i64,
}

impl<'a> ScaledDigits<'a> {
    fn of(text: &'a str) -> Self {
        let text = text.strip_prefix(['-', '+']).unwrap_or(text);
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, ""));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let magnitude = exponent.trim_start_matches(['+', '-']).bytes();
        let magnitude = magnitude.fold(0_i64, |n, d| n.saturating_mul(10).saturating_add(i64::from(d - b'0')));
        let exponent = if exponent.starts_with('-') { -magnitude } else { magnitude };

        let head = whole.trim_start_matches('0');
        let significant = if head.is_empty() { fraction.trim_start_matches('0') } else { fraction };
        let places = head.len() as i64 - (fraction.len() - significant.len()) as i64;
        let tail = significant.trim_end_matches('0');
        let head = if tail.is_empty() { head.trim_end_matches('0') } else { head };
        Self { head: head.as_bytes(), tail: tail.as_bytes(), point: exponent.saturating_add(places) }
    }

    fn digits(&self) -> impl Iterator<Item = u8> {
        self.head.iter().chain(self.tail).copied()
    }

    /// Neither number may be zero.
    fn cmp(&self, other: &Self) -> Ordering {
        self.point.cmp(&other.point).then_with(|| self.digits().cmp(other.digits()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(text: &str, dtype: &str) -> Result<u64, Misfit> {
        let mut out = [0; 8];
        parse_number(text, &DType::parse(dtype).unwrap(), &mut out).map(|()| u64::from_le_bytes(out))
    }

    #[test]
    fn numbers() {
        use Misfit::{Fraction, Malformed, NotNumeric, OutOfRange, TooLarge};
        let long = format!("0.{}1", "0".repeat(400));
        let many = format!("1{}", "0".repeat(400));
        let back = format!("1{}e-400", "0".repeat(400));
        let rows = [
            ("2.0", "int8", Ok(2)),
            ("1e3", "int16", Ok(1000)),
            ("-0.0", "int64", Ok(0)),
            ("-0", "uint8", Ok(0)),
            ("0e999999999999999999999", "uint8", Ok(0)),
            ("12.50e1", "uint8", Ok(125)),
            ("1.25e1", "uint8", Err(Fraction)),
            ("100e-2", "uint8", Ok(1)),
            ("100e-3", "uint8", Err(Fraction)),
            ("0.001E+3", "uint8", Ok(1)),
            ("1e999999999", "int64", Err(OutOfRange)),
            ("1e99999999999999999999", "int64", Err(OutOfRange)),
            ("1e-999999999", "int64", Err(Fraction)),
            ("1e-99999999999999999999", "int64", Err(Fraction)),
            (&long, "int64", Err(Fraction)),
            (&many, "int64", Err(OutOfRange)),
            (&back, "int64", Ok(1)),
            ("300", "uint8", Err(OutOfRange)),
            ("-1", "uint64", Err(OutOfRange)),
            ("-128", "int8", Ok(0x80)),
            ("-129", "int8", Err(OutOfRange)),
            ("9223372036854775807", "int64", Ok(i64::MAX as u64)),
            ("9223372036854775808", "int64", Err(OutOfRange)),
            ("-9223372036854775808", "int64", Ok(1 << 63)),
            ("18446744073709551615", "uint64", Ok(u64::MAX)),
            ("1.8446744073709551615e19", "uint64", Ok(u64::MAX)),
            ("18446744073709551616", "uint64", Err(OutOfRange)),
            ("258", ">u2", Ok(0x0201)),
            ("x", "int8", Err(Malformed)),
            ("", "int8", Err(Malformed)),
            ("1-2", "int8", Err(Malformed)),
            ("inf", "int8", Err(Malformed)),
            ("+1.0", "int8", Ok(1)),
            ("inf", "float32", Err(Malformed)),
            ("NaN", "float64", Err(Malformed)),
            ("0x1", "bfloat16", Err(Malformed)),
            ("1", "bool", Err(NotNumeric)),
            ("1", "S3", Err(NotNumeric)),
            ("1.5", "float64", Ok(0x3ff8 << 48)),
            ("-0", "float64", Ok(1 << 63)),
            ("1e400", "float64", Err(TooLarge)),
            ("1e39", "float32", Err(TooLarge)),
            ("16777217.000000000000000000001", "float32", Ok(0x4b80_0001)),
            ("16777217", "float32", Ok(0x4b80_0000)),
            ("16777218.9999999999999999999999999", "float32", Ok(0x4b80_0001)),
            ("340282356779733661637539395458142568447.99", "float32", Ok(0x7f7f_ffff)),
            ("340282356779733661637539395458142568448", "float32", Err(TooLarge)),
            ("7.006492321624085e-46", "float32", Ok(0)),
            ("7.0064923216240854e-46", "float32", Ok(1)),
            ("-1e-400", "float32", Ok(1 << 31)),
            ("1", ">f4", Ok(0x0000_803f)),
            ("65504", "float16", Ok(0x7bff)),
            ("65519.99999999999999999999999", "float16", Ok(0x7bff)),
            ("65520", "float16", Err(TooLarge)),
            ("-65520", "float16", Err(TooLarge)),
            ("1e9", "float16", Err(TooLarge)),
            ("2049", "float16", Ok(0x6800)),
            ("2049.0000000000000000000000000001", "float16", Ok(0x6801)),
            ("2051", "float16", Ok(0x6802)),
            ("2050.9999999999999999999999999999", "float16", Ok(0x6801)),
            ("2.98023223876953125e-8", "float16", Ok(0)),
            ("2.98023223876953125000000000000000001e-8", "float16", Ok(1)),
            ("-1e-99999", "float16", Ok(0x8000)),
            ("1", "bfloat16", Ok(0x3f80)),
            ("257", "bfloat16", Ok(0x4380)),
            ("257.00000000000000000000000000001", "bfloat16", Ok(0x4381)),
            ("3.3961775292304957e38", "bfloat16", Err(TooLarge)),
            ("339617752923046005526922703901628039168", "bfloat16", Err(TooLarge)),
            ("339617752923046005526922703901628039167.99", "bfloat16", Ok(0x7f7f)),
            ("1e-45", "bfloat16", Ok(0)),
            ("1e-40", "bfloat16", Ok(1)),
            ("464", "float8_e4m3fn", Ok(0x7e)),
            ("464.0000000000000000000000000001", "float8_e4m3fn", Err(TooLarge)),
            ("247.9999999999999999999999999999", "float8_e4m3", Ok(0x77)),
            ("248", "float8_e4m3", Err(TooLarge)),
            ("1e9", "float8_e5m2", Err(TooLarge)),
            ("-1.0625", "float8_e4m3fn", Ok(0xb8)),
            ("-1.0625000000000000000000000000001", "float8_e4m3fn", Ok(0xb9)),
            ("-1.0624999999999999999999999999999", "float8_e4m3fn", Ok(0xb8)),
            ("1.1875", "float8_e4m3fn", Ok(0x3a)),
            ("1.1874999999999999999999999999999", "float8_e4m3fn", Ok(0x39)),
            ("-0.0", "float8_e4m3fn", Ok(0x80)),
            ("-0.0", "float8_e4m3fnuz", Ok(0)),
            ("-1e-400", "float8_e5m2", Ok(0x80)),
            ("7.7499999999999999999999999", "float6_e2m3fn", Ok(0x1f)),
            ("7.75", "float6_e2m3fn", Err(TooLarge)),
            ("-6", "float4_e2m1fn", Ok(0xf)),
            ("-7", "float4_e2m1fn", Err(TooLarge)),
            ("3", "float8_e8m0fnu", Ok(129)),
            ("2.9999999999999999999999999", "float8_e8m0fnu", Ok(128)),
            ("1e-300", "float8_e8m0fnu", Ok(0)),
            ("2.5e38", "float8_e8m0fnu", Ok(254)),
            ("2.6e38", "float8_e8m0fnu", Err(TooLarge)),
            ("0", "float8_e8m0fnu", Err(OutOfRange)),
            ("-2", "float8_e8m0fnu", Err(OutOfRange)),
            ("x", "float8_e8m0fnu", Err(Malformed)),
            // so near to a midpoint that the nearest float64 is the midpoint
            ("1.18749999999999983346", "float8_e4m3fn", Ok(0x39)),
            ("1.18750000000000016654", "float8_e4m3fn", Ok(0x3a)),
            ("1.06250000000000016654", "float8_e4m3fn", Ok(0x39)),
            ("1.06249999999999983346", "float8_e4m3fn", Ok(0x38)),
            ("1.00048828125", "float16", Ok(0x3c00)),
            ("1.0004882812500000000000000000001", "float16", Ok(0x3c01)),
            ("1.0014648437499998334", "float16", Ok(0x3c01)),
            ("1.0014648437499999999999999999999", "float16", Ok(0x3c01)),
            ("1.00146484375", "float16", Ok(0x3c02)),
            ("-1.0014648437499999999999999999999", "float16", Ok(0xbc01)),
            ("65519.999999999999999999999", "float16", Ok(0x7bff)),
            ("65520", "float16", Err(TooLarge)),
            ("-8", "int4", Ok(8)),
            ("8", "int4", Err(OutOfRange)),
            ("1.5", "int4", Err(Fraction)),
            ("15.0", "uint4", Ok(15)),
            ("-1", "uint4", Err(OutOfRange)),
            ("-2", "int2", Ok(2)),
            ("4", "uint2", Err(OutOfRange)),
            ("99999999999999999999", "uint2", Err(OutOfRange)),
        ];
        let wrong: Vec<_> = rows.iter().filter(|(text, dtype, want)| item(text, dtype) != *want).collect();
        assert!(wrong.is_empty(), "{wrong:?}");
    }

    #[test]
    fn specials() {
        let rows = [
            ("NaN", "float64", Some(0x7ff8 << 48)),
            ("Infinity", "float32", Some(0x7f80_0000)),
            ("-Infinity", "float64", Some(0xfff0 << 48)),
            ("-Infinity", "bfloat16", Some(0xff80)),
            ("NaN", "float16", Some(0x7e00)),
            ("NaN", "bfloat16", Some(0x7fc0)),
            ("NaN", ">f4", Some(0xc07f)),
            ("NaN", "int8", None),
            ("nan", "float64", None),
            ("NaN", "float8_e4m3fn", Some(0x7f)),
            ("NaN", "float8_e5m2fnuz", Some(0x80)),
            ("-Infinity", "float8_e5m2", Some(0xfc)),
            ("Infinity", "float8_e4m3fn", None),
            ("NaN", "float6_e2m3fn", None),
            ("Infinity", "float4_e2m1fn", None),
            ("-Infinity", "float8_e8m0fnu", None),
            ("NaN", "int4", None),
        ];
        for (text, dtype, want) in rows {
            let mut out = [0; 8];
            let done = parse_special(text, &DType::parse(dtype).unwrap(), &mut out);
            assert_eq!(done.then(|| u64::from_le_bytes(out)), want, "{text} {dtype}");
        }
    }
}
