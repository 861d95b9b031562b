//! Decimal text -> one item: exact for integers, rounded once for floats.

use std::cmp::Ordering;

use crate::item::dtype::{DType, Kind, Narrow};

/// Why a number has no place in a dtype.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misfit {
    /// The text is no number.
    Malformed,
    /// The dtype holds no numbers.
    NotNumeric,
    /// The dtype holds integers, the number is none.
    Fraction,
    /// Beyond the largest or smallest integer of the dtype, or not positive where all its numbers are.
    OutOfRange,
    /// The float nearest to it is infinite.
    TooLarge,
}

/// Reads a number, written as JSON writes numbers, into the first bytes of `out` as an integer or float `dtype`,
/// in its byte order. `out` holds at least one item. Floats are rounded to nearest, ties to even, straight from
/// the decimal text.
///
/// ```
/// use tensorop::{DType, scalar::{Misfit, parse_number}};
/// let mut item = [0; 2];
/// parse_number("12.50e1", &DType::parse(">i2").unwrap(), &mut item).unwrap();
/// assert_eq!(item, [0, 125]);
/// assert_eq!(parse_number("300", &DType::parse("uint8").unwrap(), &mut item), Err(Misfit::OutOfRange));
/// ```
///
/// # Errors
/// A number that the dtype cannot hold.
pub fn parse_number(text: &str, dtype: &DType, out: &mut [u8]) -> Result<(), Misfit> {
    let big = dtype.is_big_endian();
    match dtype.kind() {
        Kind::Float64 => put(parse_f64(text)?.to_le_bytes(), big, out),
        Kind::Float32 => {
            let value = text.parse::<f32>().ok().filter(|v| v.is_finite()).ok_or_else(|| why_no_float(text))?;
            put(value.to_le_bytes(), big, out);
        }
        Kind::Float16 => put(parse_f16(text)?.to_le_bytes(), big, out),
        Kind::BFloat16 => put(parse_bf16(text)?.to_le_bytes(), big, out),
        Kind::Narrow(narrow) => put([parse_narrow(text, *narrow)?], big, out),
        kind => {
            let value = || parse_integer(text);
            match kind {
                Kind::Int64 => put(fit::<i64>(value()?)?.to_le_bytes(), big, out),
                Kind::Int32 => put(fit::<i32>(value()?)?.to_le_bytes(), big, out),
                Kind::Int16 => put(fit::<i16>(value()?)?.to_le_bytes(), big, out),
                Kind::Int8 => put(fit::<i8>(value()?)?.to_le_bytes(), big, out),
                Kind::UInt64 => put(fit::<u64>(value()?)?.to_le_bytes(), big, out),
                Kind::UInt32 => put(fit::<u32>(value()?)?.to_le_bytes(), big, out),
                Kind::UInt16 => put(fit::<u16>(value()?)?.to_le_bytes(), big, out),
                Kind::UInt8 => put(fit::<u8>(value()?)?.to_le_bytes(), big, out),
                _ => return Err(Misfit::NotNumeric),
            }
        }
    }
    Ok(())
}

/// Whether `text` names a float that has no digits: `NaN`, `Infinity` or `-Infinity`.
pub fn is_special(text: &str) -> bool {
    matches!(text, "NaN" | "Infinity" | "-Infinity")
}

/// Puts one of the floats that have no digits into the first bytes of `out`, NaN being the standard quiet one.
/// False, and nothing done, if `text` is none of them or `dtype` has none such.
pub fn parse_special(text: &str, dtype: &DType, out: &mut [u8]) -> bool {
    if !is_special(text) {
        return false;
    }
    let pick = |nan: u64, infinity: u64, sign: u64| match text {
        "NaN" => nan,
        "Infinity" => infinity,
        _ => sign | infinity,
    };
    let big = dtype.is_big_endian();
    match dtype.kind() {
        Kind::Float64 => {
            put(pick(0x7ff8 << 48, 0x7ff0 << 48, 1 << 63).to_le_bytes(), big, out);
        }
        Kind::Float32 => put((pick(0x7fc0_0000, 0x7f80_0000, 1 << 31) as u32).to_le_bytes(), big, out),
        Kind::Float16 => put((pick(0x7e00, 0x7c00, 1 << 15) as u16).to_le_bytes(), big, out),
        Kind::BFloat16 => put((pick(0x7fc0, 0x7f80, 1 << 15) as u16).to_le_bytes(), big, out),
        Kind::Narrow(narrow) if !narrow.is_integer() => {
            let value = match text {
                "NaN" => f64::NAN,
                "Infinity" => f64::INFINITY,
                _ => f64::NEG_INFINITY,
            };
            // Many of these types have no infinity, and some no NaN either.
            let item = narrow.encode(value);
            let found = narrow.value(item);
            if found != value && !(found.is_nan() && value.is_nan()) {
                return false;
            }
            put([item], big, out);
        }
        _ => return false,
    }
    true
}

/// The integer that a decimal text is, such as 125 for `12.50e1`. Integers of more than 20 digits are out of range.
///
/// # Errors
/// [`Misfit::Malformed`], [`Misfit::Fraction`] and [`Misfit::OutOfRange`].
pub fn parse_integer(text: &str) -> Result<i128, Misfit> {
    if let Ok(value) = text.parse::<i64>() {
        return Ok(value.into());
    }
    if text.contains(['n', 'N']) || text.parse::<f64>().is_err() {
        return Err(Misfit::Malformed);
    }
    let decimal = Parts::of(text);
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

/// The float64 nearest to a decimal text.
///
/// # Errors
/// [`Misfit::Malformed`] and [`Misfit::TooLarge`].
pub fn parse_f64(text: &str) -> Result<f64, Misfit> {
    text.parse::<f64>().ok().filter(|v| v.is_finite()).ok_or_else(|| why_no_float(text))
}

/// The standard library reads names of infinities and NaN as well; a number has neither `n` nor an error.
fn why_no_float(text: &str) -> Misfit {
    match text.parse::<f64>() {
        Ok(_) if !text.contains(['n', 'N']) => Misfit::TooLarge,
        _ => Misfit::Malformed,
    }
}

/// The bits of the float16 nearest to a decimal text. (`f16::from_f64` rounds twice on some machines and drops
/// bits on others.)
///
/// # Errors
/// [`Misfit::Malformed`] and [`Misfit::TooLarge`].
pub fn parse_f16(text: &str) -> Result<u16, Misfit> {
    parse_16(text, 10, -14)
}

/// The bits of the bfloat16 nearest to a decimal text.
///
/// # Errors
/// [`Misfit::Malformed`] and [`Misfit::TooLarge`].
pub fn parse_bf16(text: &str) -> Result<u16, Misfit> {
    parse_16(text, 7, -126)
}

/// The item of a type of 8 bits or fewer that a decimal text stands for: the nearest float, the integer itself.
///
/// # Errors
/// [`Misfit::Malformed`], [`Misfit::TooLarge`], and for integers also [`Misfit::Fraction`] and
/// [`Misfit::OutOfRange`]; the latter for zero and negative numbers in a type that has neither.
pub fn parse_narrow(text: &str, narrow: Narrow) -> Result<u8, Misfit> {
    if let Some((least, most)) = narrow.range() {
        let value = fit::<i64>(parse_integer(text)?)?;
        return if (least..=most).contains(&value) { Ok(narrow.encode(value as f64)) } else { Err(Misfit::OutOfRange) };
    }
    let mut value = parse_f64(text)?;
    let (down, up) = (value.next_down(), value.next_up());
    if value != 0.0 && (narrow.encode(down) != narrow.encode(up) || narrow.holds(down) != narrow.holds(up)) {
        // A midpoint: the text tells on which side of it the number lies.
        let side = Parts::of(text).cmp(&Parts::of(&format!("{value:.120e}")));
        value = match (side, value > 0.0) {
            (Ordering::Equal, _) => value,
            (Ordering::Greater, true) | (Ordering::Less, false) => up,
            (Ordering::Less, true) | (Ordering::Greater, false) => down,
        };
    }
    if narrow.holds(value) {
        Ok(narrow.encode(value))
    } else if narrow.holds(value.abs()) || value == 0.0 {
        Err(Misfit::OutOfRange)
    } else {
        Err(Misfit::TooLarge)
    }
}

fn put<const N: usize>(mut little: [u8; N], big: bool, out: &mut [u8]) {
    if big {
        little.reverse();
    }
    out[..N].copy_from_slice(&little);
}

fn fit<T: TryFrom<i128>>(value: i128) -> Result<T, Misfit> {
    T::try_from(value).map_err(|_| Misfit::OutOfRange)
}

/// The bits of the 16-bit float nearest to a decimal text; `bits` of them are the fraction, and 2^`least` is the
/// smallest normal number.
///
/// The float64 nearest to the text tells on which side of a midpoint the text lies, unless it is that midpoint.
fn parse_16(text: &str, bits: u32, least: i32) -> Result<u16, Misfit> {
    let value = parse_f64(text)?;
    let exponent = ((value.to_bits() >> 52) & 0x7ff) as i32 - 1023;
    if exponent > 1 - least {
        return Err(Misfit::TooLarge);
    }
    let exponent = exponent.max(least);
    let scaled = value.abs() * 2_f64.powi(bits as i32 - exponent);
    let mut units = scaled.trunc() as u32;
    let up = match scaled.fract().partial_cmp(&0.5) {
        Some(Ordering::Equal) => match Parts::of(text).cmp(&Parts::of(&format!("{value:.120e}"))) {
            Ordering::Equal => units % 2 == 1,
            side => side == Ordering::Greater,
        },
        side => side == Some(Ordering::Greater),
    };
    units += u32::from(up);
    // A carry out of the fraction goes on into the exponent, as it should.
    let magnitude = (((exponent - least) as u32) << bits) + units;
    let infinity = ((2 - 2 * least) as u32 + 1) << bits;
    if magnitude >= infinity {
        Err(Misfit::TooLarge)
    } else {
        Ok(magnitude as u16 | (u16::from(value.is_sign_negative()) << 15))
    }
}

/// A decimal text (one that reads as a finite or infinite f64) taken apart, without its sign: `0.{head}{tail} × 10^point`, with no zero at either end.
struct Parts<'a> {
    head: &'a [u8],
    tail: &'a [u8],
    point: i64,
}

impl<'a> Parts<'a> {
    fn of(text: &'a str) -> Self {
        let text = text.strip_prefix(['-', '+']).unwrap_or(text);
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, ""));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let magnitude = exponent.trim_start_matches(['+', '-']).bytes();
        let magnitude = magnitude.fold(0_i64, |n, d| n.saturating_mul(10).saturating_add(i64::from(d - b'0')));
        let exponent = if exponent.starts_with('-') { -magnitude } else { magnitude };

        let head = whole.trim_start_matches('0');
        let kept = if head.is_empty() { fraction.trim_start_matches('0') } else { fraction };
        let places = head.len() as i64 - (fraction.len() - kept.len()) as i64;
        let tail = kept.trim_end_matches('0');
        let head = if tail.is_empty() { head.trim_end_matches('0') } else { head };
        Self { head: head.as_bytes(), tail: tail.as_bytes(), point: exponent.saturating_add(places) }
    }

    fn digits(&self) -> impl Iterator<Item = u8> {
        self.head.iter().chain(self.tail).copied()
    }

    /// How two numbers compare, neither of which is zero.
    fn cmp(&self, other: &Self) -> Ordering {
        self.point.cmp(&other.point).then_with(|| self.digits().cmp(other.digits()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The item as a little-endian number.
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
