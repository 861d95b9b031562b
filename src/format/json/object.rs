//! Parses a text of JSON: an object around the data, or the data alone.

use std::fmt;

use serde::de::{Deserializer, Error as _, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::error::{Advice, Error, Subject};
use crate::format::foreign;
use crate::format::values::lists::{Lists, describe_syntax};
use crate::format::values::{Items, Values, short, shorten, string};
use crate::item::dtype::{DType, Kind};
use crate::layout::shape::MAX_RANK;
use crate::parallel::Threads;

/// From this length on the syntax of a plain value is checked while its items are read, by a thread of its own if there
/// may be two.
const LONG: usize = 1 << 20;

/// The depth of a longer text is checked first: the check of the syntax takes a byte for each open list.
const VERY_LONG: usize = 1 << 26;

/// The most lists and objects that may be open at once in such a text.
const MOST_OPEN: usize = 1 << 20;

/// Checks the syntax of a whole text (of a long list when its items are read), and everything in an object beside its
/// data. Errors are about the operand `subject`; `threads` may share the reading.
///
/// # Errors
/// The text is not UTF-8 or not JSON, with line and column; an object has other keys than `dtype`, `shape` and `data`
/// (or `datatype`, `shape`, `data`, `name` and `parameters`, of which the last two are ignored), one of them twice, or
/// no `data`; the dtype is unknown.
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
            error(format!("{}: this looks like CSV", describe_syntax(text, &e))).advising(Advice::ReadAsCsv)
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

/// The datatypes of KServe's version 2 protocol, and what they are here.
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
    /// The dtype by KServe's name; it excludes `dtype`.
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

/// Returns whether more than `most` lists and objects are ever open at once; brackets in strings do not count.
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
