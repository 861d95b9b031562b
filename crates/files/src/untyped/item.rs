//! Parses items into the bytes of a dtype.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::lists::{Leaf, holds, points, short, string};
use tensorop_kernels::error::{Advice, Error, Subject};
use tensorop_kernels::item::datetime;
use tensorop_kernels::item::dtype::{DType, Kind};
use tensorop_kernels::item::parse::{self, Misfit};
use tensorop_kernels::memory;

/// The maximum bytes of padded strings: 1024 times the text, at least 64 MiB. Otherwise a short text could exhaust
/// memory.
pub(crate) fn most_padded(text: usize) -> usize {
    text.saturating_mul(1024).max(64 << 20)
}

pub(crate) fn cannot_hold(format: &str, dtype: &DType) -> String {
    format!("{format} cannot hold items of dtype {}", short(&dtype.name()))
}

pub(crate) fn check_text(dtype: &DType, message: impl FnOnce() -> String) -> Result<(), Error> {
    if holds(dtype) {
        return Ok(());
    }
    Err(dtype.advise(Error::new(Subject::Output, message()).advising(Advice::WriteNpy)))
}

/// The dtype has neither a width nor two parts.
pub(crate) fn read_leaf(leaf: Leaf<'_>, dtype: &DType, out: &mut [u8]) -> Result<(), String> {
    match (leaf, dtype.kind()) {
        (Leaf::Number(text), kind) => {
            let parsed = match kind {
                Kind::Datetime(_) | Kind::Timedelta(_) => parse::parse_number(text, &ordered(Kind::Int64, dtype), out),
                _ => parse::parse_number(text, dtype, out),
            };
            parsed.map_err(|misfit| describe(text, dtype, misfit))
        }
        (Leaf::Bool(value), Kind::Bool) => {
            out[0] = value.into();
            Ok(())
        }
        (Leaf::Str(raw) | Leaf::Text(raw), Kind::Datetime(_) | Kind::Timedelta(_)) => {
            let text = if matches!(leaf, Leaf::Text(_)) { Some(raw.to_owned()) } else { string(raw) };
            let ticks = text.and_then(|text| match *dtype.kind() {
                Kind::Datetime(unit) => datetime::parse(&text, unit),
                _ => text.eq_ignore_ascii_case("nat").then_some(datetime::NAT),
            });
            let Some(ticks) = ticks else {
                return Err(match dtype.kind() {
                    Kind::Timedelta(_) => format!("{} is neither an integer nor \"NaT\"", short(raw)),
                    _ => format!("{} is not an ISO 8601 date that {} holds exactly", short(raw), dtype.name()),
                });
            };
            let order = if dtype.is_big_endian() { i64::to_be_bytes } else { i64::to_le_bytes };
            out[..8].copy_from_slice(&order(ticks));
            Ok(())
        }
        (Leaf::Str(raw), _) if parse::parse_special(raw.trim_matches('"'), dtype, out) => Ok(()),
        (Leaf::Special(name), _) => {
            let held = parse::parse_special(name, dtype, out);
            held.then_some(()).ok_or_else(|| describe(name, dtype, Misfit::NotNumeric))
        }
        (leaf @ Leaf::Null, _) => Err(leaf.to_string()),
        (leaf, Kind::Bool) => Err(format!("{leaf}, expected true or false")),
        (leaf, _) => Err(format!("{leaf}, expected a number ({})", dtype.name())),
    }
}

pub(crate) fn describe(text: &str, dtype: &DType, misfit: Misfit) -> String {
    let (text, name) = (short(text), dtype.name());
    match misfit {
        Misfit::Malformed => format!("{text} is not a number"),
        Misfit::NotNumeric if matches!(dtype.kind(), Kind::Bool) => {
            format!("{text} is a number, expected true or false")
        }
        Misfit::NotNumeric => format!("{text} is a number, which {name} does not hold"),
        Misfit::Fraction => format!("{text} is not an integer ({name})"),
        Misfit::OutOfRange => format!("{text} is out of range for {name}"),
        Misfit::TooLarge => format!("{text} is too large for {name}"),
    }
}

fn ordered(kind: Kind, like: &DType) -> DType {
    let dtype = DType::from(kind);
    if like.is_big_endian() { dtype.big_endian() } else { dtype }
}

pub(crate) fn part_of(complex: &DType) -> DType {
    ordered(if matches!(complex.kind(), Kind::Complex64) { Kind::Float32 } else { Kind::Float64 }, complex)
}

/// Replaces a string width of 0 by `longest`, at least 1.
pub(crate) fn widen(dtype: &DType, longest: Option<usize>) -> DType {
    let width = longest.unwrap_or(0).max(1);
    match dtype.kind() {
        Kind::Str(0) => ordered(Kind::Str(width), dtype),
        Kind::Bytes(0) => Kind::Bytes(width).into(),
        _ => dtype.clone(),
    }
}

/// `item` is zeroed.
pub(crate) fn put_string(points: impl Iterator<Item = u32>, dtype: &DType, item: &mut [u8]) -> Result<(), String> {
    let too_long = || format!("is longer than {}", dtype.name());
    if matches!(dtype.kind(), Kind::Bytes(_)) {
        let mut places = item.iter_mut();
        for point in points {
            let byte = u8::try_from(point)
                .map_err(|_| format!("holds U+{point:04X}, and items of {} go up to U+00FF", dtype.name()))?;
            *places.next().ok_or_else(too_long)? = byte;
        }
    } else {
        let mut places = item.as_chunks_mut::<4>().0.iter_mut();
        for point in points {
            *places.next().ok_or_else(too_long)? =
                if dtype.is_big_endian() { point.to_be_bytes() } else { point.to_le_bytes() };
        }
    }
    Ok(())
}

/// Returns the narrowest string dtype like `like` for a text.
///
/// # Errors
/// Bytes cannot hold a character, or the text is too long.
pub fn dtype_of_string(text: &str, like: &DType) -> Result<DType, Error> {
    let any_width = like.widthless();
    let bytes = parse_item(text, &any_width)?.len();
    let width = if matches!(like.kind(), Kind::Bytes(_)) { bytes } else { bytes / size_of::<u32>() };
    Ok(widen(&any_width, Some(width)))
}

/// Whether a text is a decimal number as JSON, C or Python has it: `.5`, `5.` and `+1`, too.
pub(super) fn is_number(text: &str) -> bool {
    match text.bytes().position(|byte| !byte.is_ascii_digit()) {
        // Rejects most words without parsing.
        Some(0) if !text.starts_with(['+', '-', '.']) => false,
        Some(_) => parse::parse_f64(text) != Err(Misfit::Malformed),
        // Most numbers are digits alone.
        None => !text.is_empty(),
    }
}

/// The name that JSON files have for a typed `nan`, `-Inf` or `infinity`.
pub(super) fn special_number(text: &str) -> Option<&'static str> {
    let is_one_of = |words: &[&str]| words.iter().any(|word| text.eq_ignore_ascii_case(word));
    match () {
        // text output has `nan+nanj`
        () if is_one_of(&["nan", "+nan", "-nan"]) => Some("NaN"),
        () if is_one_of(&["inf", "+inf", "infinity", "+infinity"]) => Some("Infinity"),
        () if is_one_of(&["-inf", "-infinity"]) => Some("-Infinity"),
        () => None,
    }
}

/// Divides `1+2j`, `(1-2j)` or `2j`, as Python and text output write complex numbers, into its parts.
fn parts_in_python(text: &str) -> Option<(&str, &str)> {
    let text = text.strip_prefix('(').and_then(|t| t.strip_suffix(')')).unwrap_or(text).strip_suffix(['j', 'J'])?;
    let is_sign = |(at, _): &(usize, &str)| *at > 0 && !text[..*at].ends_with(['e', 'E']);
    let at = text.rmatch_indices(['+', '-']).find(is_sign).map_or(0, |(at, _)| at);
    let imaginary = match &text[at..] {
        "" | "+" => "1",
        "-" => "-1",
        number => number,
    };
    Some((if at == 0 { "0" } else { &text[..at] }, imaginary))
}

/// Parses an item of the command line: a JSON scalar or a number as people type it (`.5`, `+1`, `-Inf`), an unquoted string or
/// date, and for complex dtypes `[re, im]` or `1+2j`.
///
/// ```
/// use tensorop_files::{DType, internal::untyped};
/// let dtype = DType::parse("complex64").unwrap();
/// assert_eq!(untyped::parse_item("[1, -Infinity]", &dtype).unwrap(), [0, 0, 128, 63, 0, 0, 128, 255]);
/// ```
///
/// # Errors
/// The dtype cannot hold the item.
pub fn parse_item(text: &str, dtype: &DType) -> Result<Vec<u8>, Error> {
    let error = |message: String| Error::new(Subject::Fill, message);
    if !holds(dtype) {
        return Err(dtype.advise(error(format!("an item of dtype {} has no text", short(&dtype.name())))));
    }
    let fill = |text: &str, dtype: &DType, out: &mut [u8]| {
        let text = text.trim_matches([' ', '\n', '\r', '\t']);
        let is_quoted_date = text.starts_with('"') && matches!(dtype.kind(), Kind::Datetime(_));
        let text = string(text).map_or(Cow::Borrowed(text), Cow::Owned);
        let dates = matches!(dtype.kind(), Kind::Datetime(_) | Kind::Timedelta(_));
        let quoted;
        let leaf = match (&*text, special_number(&text)) {
            ("true", _) => Leaf::Bool(true),
            ("false", _) => Leaf::Bool(false),
            // "2020" is a year, as in JSON
            (text, None) if is_number(text) && !is_quoted_date => Leaf::Number(text),
            (text, name) if dates || name.is_some() => {
                quoted = format!("\"{}\"", name.filter(|_| !dates).unwrap_or(text).replace(['"', '\\'], "?"));
                Leaf::Str(&quoted)
            }
            (text, _) => {
                let plain = text.replace('_', "");
                let advice = match plain != text && is_number(&plain) {
                    true => format!("; write {plain}"),
                    false => String::new(),
                };
                let expected = if matches!(dtype.kind(), Kind::Bool) { "true or false" } else { "a number" };
                return Err(error(format!("found {}, expected {expected} ({}){advice}", short(text), dtype.name())));
            }
        };
        read_leaf(leaf, dtype, out).map_err(error)
    };
    if matches!(dtype.kind(), Kind::Str(_) | Kind::Bytes(_)) {
        let quoted = serde_json::from_str::<&RawValue>(text).ok().map(RawValue::get).filter(|t| t.starts_with('"'));
        let points: Vec<u32> = match quoted {
            Some(raw) => points(raw).collect(),
            None => text.chars().map(u32::from).collect(),
        };
        let dtype = widen(dtype, Some(points.len()));
        if dtype.itemsize() > most_padded(0) {
            return Err(error(format!("an item of {} is too much", dtype.name())));
        }
        let mut item = memory::zeros(dtype.itemsize()).map_err(|refused| error(refused.into()))?;
        put_string(points.into_iter(), &dtype, &mut item).map_err(|why| error(format!("{} {why}", short(text))))?;
        return Ok(item);
    }
    let mut item = vec![0; dtype.itemsize()];
    match dtype.kind() {
        Kind::Complex64 | Kind::Complex128 => {
            let part = part_of(dtype);
            let (re, im) = item.split_at_mut(part.itemsize());
            let text = text.trim_matches([' ', '\n', '\r', '\t']);
            let inner = text.strip_prefix('[').and_then(|t| t.strip_suffix(']'));
            match inner.map(|t| t.split_once(',')) {
                None => match parts_in_python(text) {
                    Some((a, b)) => {
                        fill(a, &part, re)?;
                        fill(b, &part, im)?;
                    }
                    None => fill(text, &part, re)?,
                },
                Some(Some((a, b))) if !b.contains(',') => {
                    fill(a, &part, re)?;
                    fill(b, &part, im)?;
                }
                Some(_) => return Err(error(format!("found {}, expected a number, [re, im] or 1+2j", short(text)))),
            }
        }
        _ => fill(text, dtype, &mut item)?,
    }
    Ok(item)
}
