//! Tensors as JSON: an object `{"dtype": …, "shape": …, "data": …}`, or plain nested lists or a scalar. Read is also
//! the object of the KServe v2 protocol, `{"name": …, "shape": …, "datatype": "FP32", "data": …}`.
//!
//! serde_json checks the syntax once and hands out `data` as a slice of the text; from then on that text is valid
//! JSON, and one walk over it (no recursion, no tree) turns each number into an item as it passes.

mod nest;
mod table;

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserializer, Error as _, MapAccess, Visitor};
use serde_json::value::RawValue;

pub use self::nest::write;
pub(super) use self::table::{JsonReader, JsonWriter, open_file, sure};
use super::values::{
    FREE_PADDING, Items, Leaf, Values, cannot_hold,
    lists::{Lists, describe_syntax, holds},
    part_of, points, put_string, read_leaf, short, shorten, string, widen,
};
use crate::error::{Advice, Error, Subject};
use crate::format::foreign;
use crate::item::dtype::{DType, Kind};
use crate::item::parse;
use crate::layout::shape::{MAX_RANK, bytes_of};
use crate::memory;
use crate::parallel::Threads;

/// The syntax of a plain value of so many bytes is checked when its items are read, by a thread of its own if there
/// may be two.
const LONG: usize = 1 << 20;

/// Of texts that are longer than this the depth is looked at first: to check the syntax takes a byte for each list
/// that is open.
const VERY_LONG: usize = 1 << 26;

/// The most lists and objects of such a text that may be open at once.
const MOST_OPEN: usize = 1 << 20;

/// Checks the syntax of a whole text (of a long list when its items are read), and what an object says beside its
/// data. `subject` is the operand that errors are about; `threads` may share the reading.
///
/// # Errors
/// What is not UTF-8 or not JSON, with line and column; an object with other keys than `dtype`, `shape` and
/// `data` (or `datatype`, `shape`, `data`, `name` and `parameters`, of which the last two do not matter), with one of
/// them twice, or without `data`; an unknown dtype.
pub fn open(text: &[u8], subject: Subject, threads: Threads) -> Result<Values<'_>, Error> {
    let error = |message: String| Error::new(subject, message);
    let text = std::str::from_utf8(text).map_err(|e| {
        error(match text {
            [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => "not UTF-8 but UTF-16: save it as UTF-8".to_owned(),
            _ => format!("not UTF-8: byte {} is no part of a character", e.valid_up_to()),
        })
    })?;
    if text.starts_with('\u{feff}') {
        return Err(error("begins with a byte order mark, which JSON does not allow: save it as UTF-8 without".into()));
    }
    if text.len() > VERY_LONG && is_deeper(text.as_bytes(), MOST_OPEN) {
        return Err(error(format!("lists more than {MOST_OPEN} deep")));
    }
    let syntax = |e: serde_json::Error| match foreign::text(text).filter(|_| e.is_syntax()) {
        Some(foreign::Text::Printed) => {
            let message = "not JSON (no commas) but a tensor printed as text";
            error(message.to_owned()).advising(Advice::PassTensor)
        }
        Some(foreign::Text::Rows) => {
            error(format!("{}: this looks like CSV: try --from csv (or tsv)", describe_syntax(text, &e)))
        }
        None => error(describe_syntax(text, &e)),
    };
    match text.trim_start_matches([' ', '\n', '\r', '\t']).bytes().next() {
        None => Err(error("empty, expected JSON".into())),
        Some(b'{') => {
            let Object { dtype, datatype, shape, data } = serde_json::from_str::<Object<'_>>(text).map_err(syntax)?;
            let named = |key: &str, raw: &RawValue| {
                string(raw.get()).ok_or_else(|| error(format!("{key} is {}, expected a string", short(raw.get()))))
            };
            let datatype = datatype.map(|raw| {
                let name = named("datatype", raw)?;
                match DATATYPES.iter().find(|(datatype, _)| *datatype == name) {
                    Some((_, kind)) => Ok(DType::from(kind.clone())),
                    None => Err(error(format!("unknown datatype {}, expected one of KServe v2", short(raw.get())))),
                }
            });
            let no_width = dtype.is_some_and(|raw| raw.get().ends_with("0\""));
            let dtype = dtype.map(|raw| {
                let name = named("dtype", raw)?;
                DType::parse(&name).map_err(|e| error(shorten(e.message(), 120).into_owned()))
            });
            let shape = shape.map(|raw| {
                serde_json::from_str::<Vec<usize>>(raw.get()).ok().filter(|s| s.len() <= MAX_RANK).ok_or_else(|| {
                    error(format!("shape is {}, expected a list of up to {MAX_RANK} dims", short(raw.get())))
                })
            });
            Ok(Values {
                subject,
                dtype: dtype.or(datatype).transpose()?,
                no_width,
                shape: shape.transpose()?,
                items: Items::Lists(Lists { text: data.get(), unchecked: None }),
            })
        }
        Some(_) => {
            let unchecked = (text.len() >= LONG).then_some(threads);
            if unchecked.is_none() {
                let _: &RawValue = serde_json::from_str(text).map_err(syntax)?;
            }
            let items = Items::Lists(Lists { text, unchecked });
            Ok(Values { subject, dtype: None, no_width: false, shape: None, items })
        }
    }
}

/// Refuses the dtypes that JSON cannot hold.
///
/// # Errors
/// Void, structured and long double.
pub fn check(dtype: &DType) -> Result<(), Error> {
    match holds(dtype) {
        true => Ok(()),
        false => {
            let advice = if dtype.is_ambiguous() { Advice::WriteOrName } else { Advice::WriteNpy };
            Err(Error::new(Subject::Output, cannot_hold("JSON", dtype)).advising(advice))
        }
    }
}

/// The one item that a shell argument stands for: a JSON scalar, but for bare `NaN`, `Infinity` and `-Infinity`,
/// strings and dates without quotes, and a complex number without an imaginary part. A string dtype of width 0
/// takes the width of the text.
///
/// ```
/// use tensorop::{DType, format::json};
/// let dtype = DType::parse("complex64").unwrap();
/// assert_eq!(json::parse_item("[1, -Infinity]", &dtype).unwrap(), [0, 0, 128, 63, 0, 0, 128, 255]);
/// ```
///
/// # Errors
/// What the dtype cannot hold.
pub fn parse_item(text: &str, dtype: &DType) -> Result<Vec<u8>, Error> {
    let error = |message: String| Error::new(Subject::Fill, message);
    if !holds(dtype) {
        return Err(error(format!("an item of dtype {} has no text", short(&dtype.name()))));
    }
    let fill = |text: &str, dtype: &DType, out: &mut [u8]| {
        let text = text.trim_matches([' ', '\n', '\r', '\t']);
        let text = string(text).map_or(Cow::Borrowed(text), Cow::Owned);
        let dates = matches!(dtype.kind(), Kind::Datetime(_) | Kind::Timedelta(_));
        let quoted;
        // serde_json knows what a number is, and `true`; anything else is taken for a string.
        let leaf = match serde_json::from_str::<&RawValue>(&text).map(RawValue::get) {
            Ok("true") => Leaf::Bool(true),
            Ok("false") => Leaf::Bool(false),
            Ok(raw) if !raw.starts_with(['"', '[', '{', 'n']) => Leaf::Number(raw),
            _ if dates || parse::is_special(&text) => {
                quoted = format!("\"{}\"", text.replace(['"', '\\'], "?"));
                Leaf::Str(&quoted)
            }
            _ => {
                let expected = if matches!(dtype.kind(), Kind::Bool) { "true or false" } else { "a number" };
                return Err(error(format!("found {}, expected {expected} ({})", short(&text), dtype.name())));
            }
        };
        read_leaf(leaf, dtype, out).map_err(error)
    };
    match dtype.kind() {
        Kind::Str(_) | Kind::Bytes(_) => {
            let quoted = serde_json::from_str::<&RawValue>(text).ok().map(RawValue::get).filter(|t| t.starts_with('"'));
            let points: Vec<u32> = match quoted {
                Some(raw) => points(raw).collect(),
                None => text.chars().map(u32::from).collect(),
            };
            let dtype = widen(dtype, Some(points.len()));
            let fits = bytes_of(&[], dtype.itemsize()).filter(|&n| n <= FREE_PADDING);
            let bytes = fits.ok_or_else(|| error(format!("an item of {} is too much", dtype.name())))?;
            let mut item = memory::zeros(bytes).map_err(error)?;
            put_string(points.into_iter(), &dtype, &mut item).map_err(|why| error(format!("{} {why}", short(text))))?;
            Ok(item)
        }
        Kind::Complex64 | Kind::Complex128 => {
            let part = part_of(dtype);
            let mut item = vec![0; dtype.itemsize()];
            let (re, im) = item.split_at_mut(part.itemsize());
            let inner = text.trim_matches([' ', '\n', '\r', '\t']).strip_prefix('[').and_then(|t| t.strip_suffix(']'));
            match inner.map(|t| t.split_once(',')) {
                None => fill(text, &part, re)?,
                Some(Some((a, b))) if !b.contains(',') => {
                    fill(a, &part, re)?;
                    fill(b, &part, im)?;
                }
                Some(_) => {
                    return Err(error(format!("found {}, expected a number or [re, im]", short(text))));
                }
            }
            Ok(item)
        }
        _ => {
            let mut item = vec![0; dtype.itemsize()];
            fill(text, dtype, &mut item)?;
            Ok(item)
        }
    }
}

// ---- the object around the data

/// What the datatypes of the KServe v2 protocol are here.
const DATATYPES: &[(&str, Kind)] = &[
    ("BOOL", Kind::Bool),
    ("UINT8", Kind::UInt8),
    ("UINT16", Kind::UInt16),
    ("UINT32", Kind::UInt32),
    ("UINT64", Kind::UInt64),
    ("INT8", Kind::Int8),
    ("INT16", Kind::Int16),
    ("INT32", Kind::Int32),
    ("INT64", Kind::Int64),
    ("FP16", Kind::Float16),
    ("FP32", Kind::Float32),
    ("FP64", Kind::Float64),
    ("BF16", Kind::BFloat16),
    ("BYTES", Kind::Str(0)),
];

/// The members of an object, as raw text.
struct Object<'a> {
    dtype: Option<&'a RawValue>,
    /// The dtype as KServe calls it; not together with `dtype`.
    datatype: Option<&'a RawValue>,
    shape: Option<&'a RawValue>,
    data: &'a RawValue,
}

impl<'de> serde::Deserialize<'de> for Object<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Members)
    }
}

struct Members;

impl<'de> Visitor<'de> for Members {
    type Value = Object<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with dtype, shape and data")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object<'de>, A::Error> {
        let (mut dtype, mut datatype, mut shape, mut data) = (None, None, None, None);
        let (mut name, mut parameters) = (None, None);
        let unknown = |key: &str| {
            let message = format!("unknown key {:?}, expected \"dtype\", \"shape\" and \"data\"", short(key));
            Err(A::Error::custom(message))
        };
        while let Some(key) = map.next_key::<String>()? {
            let member = match key.as_str() {
                "dtype" => &mut dtype,
                "datatype" => &mut datatype,
                "shape" => &mut shape,
                "data" => &mut data,
                "name" => &mut name,
                "parameters" => &mut parameters,
                _ => return unknown(&key),
            };
            if member.replace(map.next_value::<&'de RawValue>()?).is_some() {
                return Err(A::Error::custom(format!("the key {key:?} is there twice")));
            }
        }
        match (name, parameters) {
            _ if dtype.is_some() && datatype.is_some() => {
                return Err(A::Error::custom("\"dtype\" and \"datatype\", expected one of them"));
            }
            _ if datatype.is_some() => {}
            (Some(_), _) => return unknown("name"),
            (_, Some(_)) => return unknown("parameters"),
            _ => {}
        }
        let data = data.ok_or_else(|| A::Error::custom("the object has no \"data\""))?;
        Ok(Object { dtype, datatype, shape, data })
    }
}

/// Whether more lists and objects are ever open at once, strings left out.
fn is_deeper(text: &[u8], most: usize) -> bool {
    let (mut open, mut in_string, mut escaped) = (0_usize, false, false);
    for byte in text {
        match (in_string, byte) {
            (true, _) if escaped => escaped = false,
            (true, b'\\') => escaped = true,
            (_, b'"') => in_string = !in_string,
            (true, _) => {}
            (false, b'[' | b'{') => open += 1,
            (false, b']' | b'}') => open = open.saturating_sub(1),
            _ => {}
        }
        if open > most {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests;
