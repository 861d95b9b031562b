//! Names of dtypes in Zarr, and fill values: the items of chunks that are not stored; and descriptions of arrays.

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use serde_json::{Value, json};

use super::codecs::swapped;
use super::sharding::{Extension, shortened};
use crate::narrow::stored_dtype;
use crate::untyped::item::part_of;
use crate::untyped::{parse_item, python_json};
use tensorop_kernels::error::{Error, ErrorKind, Result, Subject, bail, ensure, malformed};
use tensorop_kernels::item::datetime::TimeUnit;
use tensorop_kernels::item::dtype::{DType, Kind};
use tensorop_kernels::item::encoding::{Conversion, code_points, unpadded};
use tensorop_kernels::item::print::write_item;

/// Padding is optional.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// The result is little-endian.
pub(crate) fn from_v3(value: &Value) -> Result<DType> {
    let unknown =
        || Error::from_kind(ErrorKind::Unsupported, format!("data_type {} is not known", shortened(value, 80)));
    let extension = Extension::new(value)?;
    let bytes = || extension.get("length_bytes").and_then(Value::as_u64).ok_or_else(unknown);
    let text = match extension.name {
        "null_terminated_bytes" => format!("|S{}", bytes()?),
        "raw_bytes" => format!("|V{}", bytes()?),
        "fixed_length_utf32" => match bytes()? {
            bytes if bytes.is_multiple_of(4) => format!("<U{}", bytes / 4),
            _ => return Err(unknown()),
        },
        "numpy.datetime64" | "numpy.timedelta64" => {
            let unit = extension.get("unit").and_then(Value::as_str).ok_or_else(unknown)?;
            let scale = extension.get("scale_factor").map_or(Some(1), Value::as_u64).ok_or_else(unknown)?;
            let letter = if extension.name == "numpy.datetime64" { 'M' } else { 'm' };
            match (unit, scale) {
                ("generic", _) => format!("<{letter}8"),
                (unit, 1) => format!("<{letter}8[{unit}]"),
                (unit, scale) => format!("<{letter}8[{scale}{unit}]"),
            }
        }
        name => match name.strip_prefix('r').and_then(|bits| bits.parse::<u64>().ok()) {
            Some(bits) if bits > 0 && bits.is_multiple_of(8) => format!("|V{}", bits / 8),
            Some(_) => return Err(unknown()),
            None => {
                let number = DType::names().find(|known| *known == name).ok_or_else(unknown)?;
                return stored_dtype::dtype(number).ok().filter(is_held).ok_or_else(unknown);
            }
        },
    };
    parsed(&text).ok_or_else(unknown)
}

/// Unlike in a `.npy`, `|V2` is a void of two bytes.
fn parsed(name: &str) -> Option<DType> {
    match name.strip_prefix("|V").and_then(|size| size.parse().ok()) {
        Some(size) => Some(Kind::Void(size).into()),
        None => DType::parse(name).ok(),
    }
}

pub(crate) fn from_v2(descr: &str) -> Result<DType> {
    let refuse = || Error::from_kind(ErrorKind::Unsupported, format!("dtype {descr:?} is not read"));
    parsed(descr).filter(is_held).ok_or_else(refuse)
}

pub(crate) fn is_held(dtype: &DType) -> bool {
    !matches!(dtype.kind(), Kind::Struct(_) | Kind::LongDouble(_) | Kind::ComplexLongDouble(_))
}

pub(crate) fn has_order(dtype: &DType) -> bool {
    !swapped(&dtype.native()).is_identity()
}

pub(crate) fn to_v3(dtype: &DType) -> Value {
    let sized = |name: &str, bytes: usize| json!({"name": name, "configuration": {"length_bytes": bytes}});
    match dtype.kind() {
        Kind::Bytes(size) => sized("null_terminated_bytes", *size),
        Kind::Str(size) => sized("fixed_length_utf32", 4 * size),
        Kind::Void(size) => sized("raw_bytes", *size),
        Kind::Datetime(unit) | Kind::Timedelta(unit) => {
            let name = if matches!(dtype.kind(), Kind::Datetime(_)) { "numpy.datetime64" } else { "numpy.timedelta64" };
            let shown = TimeUnit { count: 1, ..*unit }.to_string();
            let base = if shown.is_empty() { "generic" } else { shown.trim_matches(['[', ']']) };
            json!({"name": name, "configuration": {"unit": base, "scale_factor": unit.count}})
        }
        _ => Value::String(dtype.name()),
    }
}

pub(crate) fn fill_value(text: &str, dtype: &DType) -> Result<Vec<u8>> {
    let native = dtype.native();
    let mut item = fill_item(text.trim(), &native)?;
    Conversion::new(&native, dtype).expect("byte orders of one kind").swap(&mut item);
    Ok(item)
}

/// Without a value, the item that zarr-python reads for missing chunks. Version 2 does not specify bools, and some
/// writers use 0 and 1.
pub(crate) fn fill_value_of_v2(text: Option<&str>, dtype: &DType) -> Result<Vec<u8>> {
    let text = match (dtype.kind(), text) {
        (Kind::Datetime(_) | Kind::Timedelta(_), None) => "\"NaT\"",
        (_, None) => return Ok(vec![0; dtype.itemsize()]),
        (Kind::Bool, Some("0" | "0.0")) => "false",
        (Kind::Bool, Some("1" | "1.0")) => "true",
        (_, Some(text)) => text,
    };
    fill_value(text, dtype)
}

fn fill_item(text: &str, dtype: &DType) -> Result<Vec<u8>> {
    let said = |error: Error| if error.subject() == Subject::File { error } else { malformed!("{}", error.message()) };
    let string = text.starts_with('"').then(|| serde_json::from_str::<String>(text)).transpose();
    let string = string.map_err(|error| malformed!("{error}"))?;
    let size = dtype.itemsize();
    let padded = |mut bytes: Vec<u8>| {
        ensure!(bytes.len() <= size, "{} bytes, expected {size}", bytes.len());
        bytes.resize(size, 0);
        Ok(bytes)
    };
    match (dtype.kind(), string) {
        (Kind::Bytes(_) | Kind::Void(_) | Kind::Str(_), None) if text == "0" => Ok(vec![0; size]),
        (Kind::Bytes(_) | Kind::Void(_), Some(text)) => {
            padded(BASE64.decode(text.trim_end_matches('=')).map_err(|_| malformed!("not base64"))?)
        }
        (Kind::Bytes(_) | Kind::Void(_), None) if text.starts_with('[') => {
            padded(serde_json::from_str(text).map_err(|_| malformed!("not a list of bytes"))?)
        }
        (Kind::Bytes(_) | Kind::Void(_), None) => bail!("neither text nor a list of bytes"),
        (Kind::Str(_), Some(text)) => padded(text.chars().flat_map(|c| u32::from(c).to_le_bytes()).collect()),
        (Kind::Datetime(_) | Kind::Timedelta(_), Some(text)) if text == "NaT" => Ok(i64::MIN.to_le_bytes().to_vec()),
        (Kind::Datetime(_) | Kind::Timedelta(_), None) => {
            let ticks: i64 = text.parse().map_err(|_| malformed!("{text}: not a whole number"))?;
            Ok(ticks.to_le_bytes().to_vec())
        }
        (Kind::Complex64 | Kind::Complex128, None) if text.starts_with('[') => {
            let parts = python_json::list(text).map_err(|_| malformed!("not a list of two parts"))?;
            let [re, im] = parts[..] else { bail!("{} parts, expected two", parts.len()) };
            let part = part_of(dtype);
            Ok([fill_item(re, &part)?, fill_item(im, &part)?].concat())
        }
        (_, Some(text)) if text.starts_with("0x") => {
            let bits = u128::from_str_radix(&text[2..], 16).map_err(|_| malformed!("{text:?}: not hex"))?;
            ensure!(size <= 8 && bits >> (8 * size) == 0, "{text:?}: more bits than an item has");
            Ok(bits.to_le_bytes()[..size].to_vec())
        }
        (_, Some(text)) => parse_item(&text, dtype).map_err(said),
        (_, None) => parse_item(text, dtype).map_err(said),
    }
}

pub(crate) fn fill_text(item: &[u8], dtype: &DType) -> String {
    let integer = |item: &[u8]| i64::from_le_bytes(item.try_into().expect("an item of 8 bytes"));
    match dtype.kind() {
        Kind::Bytes(_) => Value::String(BASE64.encode(unpadded(item, 1))).to_string(),
        Kind::Void(_) => Value::String(BASE64.encode(item)).to_string(),
        Kind::Str(_) => {
            let code = |point| char::from_u32(point).expect("a fill value is parsed from a text");
            Value::String(code_points(item, false).map(code).collect()).to_string()
        }
        Kind::Datetime(_) | Kind::Timedelta(_) => integer(item).to_string(),
        Kind::Complex64 | Kind::Complex128 => {
            let ((re, im), part) = (item.split_at(item.len() / 2), part_of(dtype));
            format!("[{}, {}]", float(re, &part), float(im, &part))
        }
        kind if dtype.is_integer()
            || matches!(kind, Kind::Bool)
            || matches!(kind, Kind::Narrow(narrow) if narrow.is_integer()) =>
        {
            let mut text = Vec::new();
            write_item(&mut text, dtype, item).expect("a number has a text");
            String::from_utf8(text).expect("the text of a number is ASCII")
        }
        _ => float(item, dtype),
    }
}

/// The shortest text that reads back to the same bits.
fn float(item: &[u8], dtype: &DType) -> String {
    let (value, nan) = match (dtype.kind(), item) {
        (Kind::Float16, &[a, b]) => (f64::from(half::f16::from_le_bytes([a, b])), &[0, 0x7e][..]),
        (Kind::Float32, &[a, b, c, d]) => (f64::from(f32::from_le_bytes([a, b, c, d])), &[0, 0, 0xc0, 0x7f][..]),
        (Kind::Float64, item) => {
            (f64::from_le_bytes(item.try_into().expect("an item of 8 bytes")), &[0, 0, 0, 0, 0, 0, 0xf8, 0x7f][..])
        }
        // Some narrow floats have no zero.
        _ if parse_item("0.0", dtype).is_ok_and(|zero| zero == item) => return "0.0".to_owned(),
        _ => return bits(item),
    };
    match value {
        value if value.is_nan() && item != nan => bits(item),
        value if value.is_nan() => "\"NaN\"".to_owned(),
        f64::INFINITY => "\"Infinity\"".to_owned(),
        f64::NEG_INFINITY => "\"-Infinity\"".to_owned(),
        value if matches!(dtype.kind(), Kind::Float32) => format!("{:?}", value as f32),
        value => format!("{value:?}"),
    }
}

fn bits(item: &[u8]) -> String {
    format!("\"0x{}\"", item.iter().rev().map(|byte| format!("{byte:02x}")).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_fill_values() {
        let rows = [
            (json!("float32"), "<f4", "\"NaN\"", &[0, 0, 0xc0, 0x7f][..]),
            (json!("int16"), "<i2", "-2", &[0xfe, 0xff]),
            (json!("bool"), "|b1", "true", &[1]),
            (json!("complex64"), "<c8", "[0.0, \"Infinity\"]", &[0, 0, 0, 0, 0, 0, 0x80, 0x7f]),
            (
                json!({"name": "fixed_length_utf32", "configuration": {"length_bytes": 8}}),
                "<U2",
                "\"é\"",
                &[0xe9, 0, 0, 0, 0, 0, 0, 0],
            ),
            (
                json!({"name": "null_terminated_bytes", "configuration": {"length_bytes": 3}}),
                "|S3",
                "\"YWI=\"",
                b"ab\0",
            ),
            (json!({"name": "raw_bytes", "configuration": {"length_bytes": 2}}), "|V2", "\"//8\"", &[0xff, 0xff]),
            (json!({"name": "raw_bytes", "configuration": {"length_bytes": 2}}), "|V2", "\"/w\"", &[0xff, 0]),
            (json!("r16"), "|V2", "[1, 2]", &[1, 2]),
            (
                json!({"name": "numpy.datetime64", "configuration": {"unit": "us", "scale_factor": 10}}),
                "<M8[10us]",
                "\"NaT\"",
                &[0, 0, 0, 0, 0, 0, 0, 0x80],
            ),
        ];
        for (name, descr, fill, item) in rows {
            let dtype = from_v3(&name).unwrap();
            let expected = if descr == "|V2" { Kind::Void(2).into() } else { DType::parse(descr).unwrap() };
            assert_eq!((&dtype, fill_value(fill, &dtype).unwrap()), (&expected, item.to_vec()), "{name}");
            assert_eq!(from_v3(&to_v3(&dtype)).unwrap(), dtype);
            assert_eq!(fill_value(&fill_text(item, &dtype), &dtype).unwrap(), item, "{name}");
        }
        for (dtype, item, expected) in
            [("int4", 0, "0"), ("int4", 0xff, "-1"), ("uint2", 3, "3"), ("float4_e2m1fn", 0, "0.0")]
        {
            assert_eq!(fill_text(&[item], &DType::parse(dtype).unwrap()), expected, "{dtype}");
        }
        for name in [json!("float128"), json!("string"), json!({"name": "r7"}), json!(3), json!({"name": "struct"})] {
            assert!(from_v3(&name).is_err(), "{name}");
        }
        assert!(from_v2("<f16").is_err() && from_v2("|O").is_err() && from_v2(">f4").is_ok());
    }
}
