//! Tensors as JSON: an object `{"dtype": …, "shape": …, "data": …}`, nested lists or a scalar. The reader also accepts
//! KServe v2 objects `{"name": …, "shape": …, "datatype": "FP32", "data": …}`, requests and responses.
//!
//! serde_json checks the syntax; one pass then converts the numbers of `data`, without recursion or a tree.

mod body;
#[cfg(test)]
mod tests;
mod write;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use serde::de::{Error as _, IgnoredAny, MapAccess};
use serde_json::value::RawValue;

use self::body::BodyReader;
pub(crate) use self::write::JsonWriter;
pub use self::write::{check, write};
use crate::container::content::{Content, ContentSource};
use crate::container::foreign;
use crate::container::interface::{Confidence, ReadableFile, TextReader};
use crate::storage::read_at::{Identity, MemoryBytes, ReadAt};
use crate::untyped::lists::{Lists, describe_syntax};
use crate::untyped::python_json::{FromObject, JsonObject};
use crate::untyped::{Unparsed, Values, short, shorten, string};
use tensorop_kernels::error::{Advice, Error, Result, Subject};
use tensorop_kernels::item::dtype::{DType, Kind};
use tensorop_kernels::layout::axis::MAX_RANK;
use tensorop_kernels::parallel::Threads;

/// From this size on, the syntax of plain data is checked while items are read, on a second thread if available.
const LONG: usize = 1 << 20;

/// From this size on, the depth is checked first, because the syntax check takes a byte for each open list.
const VERY_LONG: usize = 1 << 26;

/// The maximum depth of longer texts.
const MAX_OPEN: usize = 1 << 20;

/// Parses everything except the items, whose syntax is checked later if the text is long.
///
/// # Errors
/// The text is not UTF-8 or not JSON, or an object has invalid keys, dtype or shape.
pub fn open(text: &[u8], subject: Subject, threads: Threads) -> Result<Values<'_>> {
    let error = |message: String| Error::new(subject, message);
    let text = std::str::from_utf8(text).map_err(|e| {
        error(match text {
            [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => "not UTF-8 but UTF-16: save it as UTF-8".to_owned(),
            _ => format!("invalid UTF-8 at byte {}", e.valid_up_to()),
        })
    })?;
    if text.starts_with('\u{feff}') {
        return Err(error("begins with a byte order mark, which JSON does not allow: save it as UTF-8 without".into()));
    }
    if text.len() > VERY_LONG && is_deeper(text.as_bytes(), MAX_OPEN) {
        return Err(error(format!("lists more than {MAX_OPEN} deep")));
    }
    let syntax = |e: serde_json::Error| match foreign::text(text).filter(|_| e.is_syntax()) {
        Some(foreign::TextKind::Printed) => {
            let message = "not JSON (no commas) but a tensor printed as text";
            error(message.to_owned()).advising(Advice::PassTensor)
        }
        Some(foreign::TextKind::Rows { delimiter, headings }) => {
            let message = format!("{}: this looks like CSV", describe_syntax(text, &e));
            error(message).advising(Advice::ReadAsCsv { delimiter, headings })
        }
        None => error(describe_syntax(text, &e)),
    };
    match text.trim_start_matches([' ', '\n', '\r', '\t']).bytes().next() {
        None => Err(error("empty, expected JSON".into())),
        Some(b'{') => {
            let JsonObject(JsonMembers(members)) = serde_json::from_str(text).map_err(syntax)?;
            let raw = |key: &str| members.get(key).map(|member| member.get());
            let named = |key: &str| {
                let name =
                    |raw| string(raw).ok_or_else(|| error(format!("{key} is {}, expected a string", short(raw))));
                raw(key).map(name).transpose()
            };
            let dtype = match (named("dtype")?, named("datatype")?) {
                (Some(name), _) => {
                    Some(DType::parse(&name).map_err(|e| error(shorten(e.message(), 120).into_owned()))?)
                }
                (None, Some(name)) => match DATATYPES.iter().find(|(datatype, _)| *datatype == name) {
                    Some((_, kind)) => Some(kind.clone().into()),
                    None => {
                        let name = short(members["datatype"].get());
                        return Err(error(format!("unknown datatype {name}, expected one of KServe v2")));
                    }
                },
                (None, None) => None,
            };
            let shape = |raw: &str| {
                let shape = serde_json::from_str::<Vec<usize>>(raw).ok().filter(|shape| shape.len() <= MAX_RANK);
                shape.ok_or_else(|| error(format!("shape is {}, expected a list of up to {MAX_RANK} dims", short(raw))))
            };
            Ok(Values {
                dtype,
                no_width: raw("dtype").is_some_and(|name| name.ends_with("0\"")),
                shape: raw("shape").map(shape).transpose()?,
                ..Values::of(subject, Unparsed::Lists(Lists { text: members["data"].get(), unchecked: None }))
            })
        }
        Some(_) => {
            let unchecked = (text.len() >= LONG).then_some(threads);
            if unchecked.is_none() {
                let _: &RawValue = serde_json::from_str(text).map_err(syntax)?;
            }
            Ok(Values::of(subject, Unparsed::Lists(Lists { text, unchecked })))
        }
    }
}

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

/// There is always a member `data`.
struct JsonMembers<'a>(BTreeMap<String, &'a RawValue>);

impl<'de> FromObject<'de> for JsonMembers<'de> {
    const EXPECTED: &'static str = "an object with dtype, shape and data";

    fn read<A: MapAccess<'de>>(mut map: A) -> Result<Self, A::Error> {
        let unknown = |key: &str| {
            let message = format!("unknown key {:?}, expected \"dtype\", \"shape\" and \"data\"", short(key));
            Err(A::Error::custom(message))
        };
        let mut members = BTreeMap::new();
        while let Some(key) = map.next_key::<String>()? {
            if !["dtype", "datatype", "shape", "data", "name", "parameters"].contains(&key.as_str()) {
                return unknown(&key);
            }
            if members.insert(key.clone(), map.next_value()?).is_some() {
                return Err(A::Error::custom(format!("the key {key:?} occurs twice")));
            }
        }
        let has = |key: &str| members.contains_key(key);
        match (has("datatype"), ["name", "parameters"].into_iter().find(|key| has(key))) {
            (true, _) if has("dtype") => Err(A::Error::custom("\"dtype\" and \"datatype\", expected one of them")),
            (false, Some(key)) => unknown(key),
            _ if !has("data") => Err(A::Error::custom("the object has no \"data\"")),
            _ => Ok(Self(members)),
        }
    }
}

/// Brackets in strings do not count.
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

/// Invalid JSON is possible too, because the reader explains its error best.
pub(crate) fn sure(begin: &[u8], _: Option<u64>) -> Confidence {
    let is_utf16 = begin.starts_with(b"\xff\xfe") || begin.starts_with(b"\xfe\xff");
    if begin.contains(&0) && !is_utf16 {
        return Confidence::No;
    }
    match begin.iter().find(|byte| !byte.is_ascii_whitespace()) {
        Some(b'[' | b'{' | b'"' | b'-' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | 0xef | 0xfe | 0xff) => {
            Confidence::Possible
        }
        Some(_) | None => Confidence::No,
    }
}

#[derive(Debug)]
pub(crate) struct JsonReader {
    pub text: Vec<u8>,
    pub threads: Threads,
}

impl TextReader for JsonReader {
    fn values(&self, subject: Subject) -> Result<Values<'_>> {
        open(&self.text, subject, self.threads)
    }

    fn is_other(&self) -> bool {
        let keys = serde_json::from_slice::<HashMap<Cow<'_, str>, IgnoredAny>>(&self.text);
        keys.is_ok_and(|keys| !keys.contains_key("data"))
    }
}

pub(crate) fn open_file(content: Content) -> Result<ReadableFile> {
    let threads = content.threads;
    let file = match &content.opened {
        ContentSource::Bytes { bytes, .. } => Some(bytes.identity()?),
        ContentSource::Folder(_) | ContentSource::Stream(_) => None,
    };
    from_text(content.read()?, file, threads)
}

pub(crate) fn open_text(text: Vec<u8>, threads: Threads) -> Result<ReadableFile> {
    from_text(text, None, threads)
}

fn from_text(text: Vec<u8>, file: Option<Identity>, threads: Threads) -> Result<ReadableFile> {
    let in_memory = || MemoryBytes::new(Vec::new()).identity();
    let file = file.map_or_else(in_memory, Ok)?;
    match BodyReader::open(&text, file, threads)? {
        Some(body) => Ok(body),
        None => Ok(ReadableFile::from_text(JsonReader { text, threads })),
    }
}
