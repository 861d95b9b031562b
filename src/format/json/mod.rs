//! Tensors as JSON: an object `{"dtype": …, "shape": …, "data": …}`, or plain nested lists or a scalar. Read is also
//! the object of the KServe v2 protocol, `{"name": …, "shape": …, "datatype": "FP32", "data": …}`.
//!
//! serde_json checks the syntax once and hands out `data` as a slice of the text; from then on that text is valid
//! JSON, and one walk over it (no recursion, no tree) turns each number into an item as it passes.

mod nest;
mod strings;
mod table;
mod untyped;
mod walk;

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserializer, Error as _, MapAccess, Visitor};
use serde_json::value::RawValue;

pub use self::nest::write;
use self::strings::{points, short, shorten, string, width};
pub(super) use self::table::{JsonReader, JsonWriter, open_file, sure};
use self::untyped::{Class, OUTSIDE, Untyped, common_dtype};
use self::walk::{Leaf, Nested, positioned, walk};
use crate::error::{Advice, Error, Subject};
use crate::item::datetime;
use crate::item::dtype::{DType, Kind};
use crate::item::parse::{self, Misfit};
use crate::item::tensor::Tensor;
use crate::layout::shape::{MAX_RANK, bytes_of};
use crate::memory;
use crate::parallel::{Threads, beside};

/// Strings padded to a common width may take so many times the text that they come from, ...
const MOST_PADDING: usize = 1024;
/// ... or so many bytes in any case.
const FREE_PADDING: usize = 64 << 20;

/// A JSON text that holds a tensor, its syntax checked, its items not yet read.
///
/// ```
/// use tensorop::{error::Subject, format::json, parallel::Threads};
/// let json = json::open(br#"{"dtype": "int8", "data": [[1, 2], [3, 4]]}"#, Subject::Data, Threads::default()).unwrap();
/// let tensor = json.read(json.dtype().unwrap()).unwrap();
/// assert_eq!((tensor.shape(), tensor.bytes()), (&[2, 2][..], &[1, 2, 3, 4][..]));
/// ```
#[derive(Clone, Debug)]
pub struct Json<'a> {
    subject: Subject,
    dtype: Option<DType>,
    /// Whether that dtype says the width 0 with a digit.
    no_width: bool,
    shape: Option<Vec<usize>>,
    data: &'a str,
    /// How many threads may check the syntax while the items are read, if it is still to be checked.
    unchecked: Option<Threads>,
}

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
pub fn open(text: &[u8], subject: Subject, threads: Threads) -> Result<Json<'_>, Error> {
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
    let syntax = |e: serde_json::Error| error(describe_syntax(text, &e));
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
            Ok(Json {
                subject,
                dtype: dtype.or(datatype).transpose()?,
                no_width,
                shape: shape.transpose()?,
                data: data.get(),
                unchecked: None,
            })
        }
        Some(_) => {
            let unchecked = (text.len() >= LONG).then_some(threads);
            if unchecked.is_none() {
                let _: &RawValue = serde_json::from_str(text).map_err(syntax)?;
            }
            Ok(Json { subject, dtype: None, no_width: false, shape: None, data: text, unchecked })
        }
    }
}

/// The tensors of plain values that belong to one command, typed together by their content: int64, uint64, float64,
/// bool or str. A value without items takes the dtype of the others, alone it is float64.
///
/// ```
/// use tensorop::{error::Subject, format::json, parallel::Threads};
/// let a = json::open(b"[1, 2]", Subject::Data, Threads::default()).unwrap();
/// let b = json::open(b"[0.5]", Subject::Updates, Threads::default()).unwrap();
/// assert_eq!(json::infer(&[&a, &b]).unwrap()[0].dtype().name(), "float64");
/// ```
///
/// # Errors
/// Items of different classes, integers that no one dtype holds, lists that are not rectangular.
pub fn infer(values: &[&Json<'_>]) -> Result<Vec<Tensor>, Error> {
    let mut found = Vec::new();
    for json in values {
        let mut items = Untyped::default();
        let nested = json.walk(MAX_RANK, |leaf| items.push(leaf))?;
        found.push((*json, items, nested));
    }
    let dtype = common_dtype(&found)?;
    let tensors = found.into_iter().map(|(json, mut items, nested)| {
        match dtype.kind() {
            Kind::Float64 => items.make_floats().map_err(|m| json.error(m))?,
            Kind::Str(_) => items.bytes = json.pad(&items.strings, &dtype, &nested)?,
            _ => {}
        }
        json.tensor(dtype.clone(), items.bytes, nested.dims)
    });
    tensors.collect()
}

impl<'a> Json<'a> {
    /// The dtype that an object names.
    pub fn dtype(&self) -> Option<&DType> {
        self.dtype.as_ref()
    }

    /// The tensor of a plain value, see [`infer`].
    ///
    /// # Errors
    /// As [`infer`].
    pub fn infer(&self) -> Result<Tensor, Error> {
        let mut tensors = infer(&[self])?;
        tensors.pop().ok_or_else(|| self.error("holds no tensor"))
    }

    /// The tensor as one of `dtype`, in its byte order. A string dtype of width 0 takes the width of the longest
    /// item, at least 1 (but that of an object which says `<U0` and has only empty items stays 0).
    ///
    /// # Errors
    /// An item that the dtype cannot hold, with its position; lists that are not rectangular; data that is not of
    /// the shape given with it; a dtype that JSON cannot hold.
    pub fn read(&self, dtype: &DType) -> Result<Tensor, Error> {
        if !holds(dtype) {
            return Err(self.error(cannot_hold(dtype)));
        }
        if matches!(dtype.kind(), Kind::Str(_) | Kind::Bytes(_)) {
            let mut strings = Vec::new();
            let nested = self.walk(MAX_RANK, |leaf| match leaf {
                Leaf::Str(raw) => memory::push(&mut strings, raw),
                leaf => Err(format!("{leaf}, expected a string ({})", dtype.name())),
            });
            let nested = nested?;
            let longest = strings.iter().map(|raw| width(raw)).max();
            let no_width = self.no_width && self.dtype.as_ref() == Some(dtype) && longest.unwrap_or(0) == 0;
            let dtype = if no_width { dtype.clone() } else { widen(dtype, longest) };
            let bytes = self.pad(&strings, &dtype, &nested)?;
            return self.tensor(dtype, bytes, nested.dims);
        }
        let pairs = matches!(dtype.kind(), Kind::Complex64 | Kind::Complex128);
        let part = if pairs { part_of(dtype) } else { dtype.clone() };
        let size = part.itemsize();
        let mut bytes = Vec::new();
        let mut nested = self.walk(MAX_RANK + usize::from(pairs), |leaf| {
            let mut item = [0; 8];
            read_leaf(leaf, &part, &mut item)?;
            memory::extend(&mut bytes, &item[..size])
        })?;
        if pairs && nested.has_leaves {
            match nested.dims.pop() {
                Some(2) => {}
                Some(n) => {
                    let message = format!("the innermost lists have {n} items, a {} item is [re, im]", dtype.name());
                    return Err(self.error(message));
                }
                None => return Err(self.error(format!("one number, a {} item is [re, im]", dtype.name()))),
            }
        }
        self.tensor(dtype.clone(), bytes, nested.dims)
    }

    /// The tensor of integers that a value without a dtype holds: int64, or uint64 if one of them needs it. `[]` is
    /// int64. `2.0` and `1e3` are integers here.
    ///
    /// # Errors
    /// Anything but integers; integers that neither int64 nor uint64 can hold all of.
    pub fn infer_indices(&self) -> Result<Tensor, Error> {
        let mut items = Untyped::default();
        let nested = self.walk(MAX_RANK, |leaf| match leaf {
            Leaf::Number(text) => match parse::parse_integer(text) {
                Ok(value) => {
                    items.class = Class::Int;
                    items.push_integer(value, text)?;
                    match items.beyond {
                        Some((_, _, why)) => Err(format!("{} {why}", short(text))),
                        None => Ok(()),
                    }
                }
                Err(Misfit::Fraction) => Err(format!("{} is not an integer", short(text))),
                Err(_) => Err(format!("{} {OUTSIDE}", short(text))),
            },
            leaf => Err(format!("{leaf}, expected an integer")),
        });
        let nested = nested?;
        let kind = if items.above.is_some() { Kind::UInt64 } else { Kind::Int64 };
        self.tensor(kind.into(), items.bytes, nested.dims)
    }

    /// [`walk`]s through the data. Where the syntax is still to be checked, that happens meanwhile, and what it finds
    /// counts first.
    fn walk(&self, limit: usize, leaf: impl FnMut(Leaf<'a>) -> Result<(), String>) -> Result<Nested, Error> {
        let text = self.data;
        let check = || serde_json::from_str::<&RawValue>(text).map(drop);
        let (checked, nested) = match self.unchecked {
            None => (Ok(()), walk(text, limit, leaf)),
            // the check and the walk pass over all of it each
            Some(threads) => beside(threads.for_bytes(2 * text.len()), check, || walk(text, limit, leaf)),
        };
        checked.map_err(|e| self.error(describe_syntax(text, &e)))?;
        nested.map_err(|message| self.error(message))
    }

    fn error(&self, message: impl Into<String>) -> Error {
        Error::new(self.subject, message)
    }

    /// Puts items together into the shape that the object gives, or else that of their nesting.
    fn tensor(&self, dtype: DType, bytes: Vec<u8>, dims: Vec<usize>) -> Result<Tensor, Error> {
        let shape = match &self.shape {
            None => dims,
            Some(shape) => {
                if bytes_of(shape, dtype.itemsize()).is_none() {
                    return Err(self.error(format!("shape {shape:?} is larger than memory can be")));
                }
                let items: usize = if shape.contains(&0) { 0 } else { shape.iter().product() };
                // Nested lists end at the first dim of 0.
                let cut = items == 0 && dims.last() == Some(&0) && shape.starts_with(&dims);
                if dims != *shape && dims != [items] && !cut {
                    let message = format!("data has shape {dims:?}, expected {shape:?} or a flat list of {items}");
                    return Err(self.error(message));
                }
                shape.clone()
            }
        };
        Tensor::new(dtype, shape, bytes).ok_or_else(|| self.error(format!("more than {MAX_RANK} axes")))
    }

    /// The items of a string dtype, padded with NUL.
    fn pad(&self, strings: &[&str], dtype: &DType, nested: &Nested) -> Result<Vec<u8>, Error> {
        let size = dtype.itemsize();
        let total = bytes_of(&[strings.len()], size)
            .filter(|&total| total <= FREE_PADDING.max(self.data.len().saturating_mul(MOST_PADDING)))
            .ok_or_else(|| {
                let message = format!("{} items of {size} bytes ({}) are too much", strings.len(), dtype.name());
                self.error(message)
            })?;
        let mut bytes = memory::zeros(total).map_err(|message| self.error(message))?;
        for (at, raw) in strings.iter().enumerate() {
            put_string(points(raw), dtype, &mut bytes[at * size..][..size])
                .map_err(|why| self.error(positioned(&nested.path(at), format!("{} {why}", short(raw)))))?;
        }
        Ok(bytes)
    }
}

/// Refuses the dtypes that JSON cannot hold.
///
/// # Errors
/// Void, structured and long double.
pub fn check(dtype: &DType) -> Result<(), Error> {
    match holds(dtype) {
        true => Ok(()),
        false => Err(Error::new(Subject::Output, cannot_hold(dtype)).advising(Advice::WriteNpy)),
    }
}

fn holds(dtype: &DType) -> bool {
    !matches!(dtype.kind(), Kind::Void(_) | Kind::Struct(_) | Kind::LongDouble(_) | Kind::ComplexLongDouble(_))
}

fn cannot_hold(dtype: &DType) -> String {
    format!("JSON cannot hold items of dtype {}", short(&dtype.name()))
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

/// serde_json's message, with the hint that a name of a float wants.
fn describe_syntax(text: &str, error: &serde_json::Error) -> String {
    if error.is_data() {
        return error.to_string();
    }
    let line = text.split('\n').nth(error.line().saturating_sub(1)).unwrap_or_default().as_bytes();
    let name = |b: &u8| b.is_ascii_alphabetic() || b"+-".contains(b);
    let column = error.column().saturating_sub(1).min(line.len());
    // The word around the column, as far as such a word can reach.
    let before = line[..column].iter().rev().take(10).take_while(|b| name(b)).count();
    let after = line[column..].iter().take(10).take_while(|b| name(b)).count();
    let word = String::from_utf8_lossy(&line[column - before..column + after]);
    let quoted = match word.trim_start_matches(['+', '-']).to_ascii_lowercase().as_str() {
        "nan" => "\"NaN\"",
        "inf" | "infinity" if word.starts_with('-') => "\"-Infinity\"",
        "inf" | "infinity" => "\"Infinity\"",
        _ => return format!("not JSON: {error}"),
    };
    format!("not JSON: bare {word} at line {} column {}; write {quoted} in quotes", error.line(), error.column())
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

// ---- items with a dtype

/// Puts one item of a dtype without width or pairs into `out`.
fn read_leaf(leaf: Leaf<'_>, dtype: &DType, out: &mut [u8]) -> Result<(), String> {
    match (leaf, dtype.kind()) {
        (Leaf::Number(text), kind) => {
            let dates = matches!(kind, Kind::Datetime(_) | Kind::Timedelta(_));
            let ticks = dates.then(|| ticks_of(dtype));
            parse::parse_number(text, ticks.as_ref().unwrap_or(dtype), out)
                .map_err(|misfit| describe(text, dtype, misfit))
        }
        (Leaf::Bool(value), Kind::Bool) => {
            out[0] = value.into();
            Ok(())
        }
        (Leaf::Str(raw), Kind::Datetime(_) | Kind::Timedelta(_)) => {
            let ticks = string(raw).and_then(|text| match *dtype.kind() {
                Kind::Datetime(unit) => datetime::parse(&text, unit),
                _ => text.eq_ignore_ascii_case("nat").then_some(datetime::NAT),
            });
            let Some(ticks) = ticks else {
                return Err(match dtype.kind() {
                    Kind::Timedelta(_) => format!("{} is neither an integer nor \"NaT\"", short(raw)),
                    _ => format!("{} is no ISO 8601 date that {} holds exactly", short(raw), dtype.name()),
                });
            };
            let order = if dtype.is_big_endian() { i64::to_be_bytes } else { i64::to_le_bytes };
            out[..8].copy_from_slice(&order(ticks));
            Ok(())
        }
        (Leaf::Str(raw), _) if parse::parse_special(raw.trim_matches('"'), dtype, out) => Ok(()),
        (leaf @ Leaf::Null, _) => Err(leaf.to_string()),
        (leaf, kind) => Err(match kind {
            Kind::Bool => format!("{leaf}, expected true or false"),
            _ => format!("{leaf}, expected a number ({})", dtype.name()),
        }),
    }
}

fn describe(text: &str, dtype: &DType, misfit: Misfit) -> String {
    let (text, name) = (short(text), dtype.name());
    match misfit {
        Misfit::Malformed => format!("{text} is no number"),
        Misfit::NotNumeric if matches!(dtype.kind(), Kind::Bool) => {
            format!("{text} is a number, expected true or false")
        }
        Misfit::NotNumeric => format!("{text} is a number, which {name} does not hold"),
        Misfit::Fraction => format!("{text} is not an integer ({name})"),
        Misfit::OutOfRange => format!("{text} is out of range for {name}"),
        Misfit::TooLarge => format!("{text} is too large for {name}"),
    }
}

/// The dtype `kind`, in the byte order of `like`.
fn ordered(descr: &str, like: &DType) -> DType {
    let order = if like.is_big_endian() { '>' } else { '<' };
    DType::parse(&format!("{order}{descr}")).unwrap_or_else(|_| like.clone())
}

/// The dtype of the real and the imaginary part.
fn part_of(complex: &DType) -> DType {
    ordered(if matches!(complex.kind(), Kind::Complex64) { "f4" } else { "f8" }, complex)
}

/// The dtype of the ticks of dates.
fn ticks_of(dates: &DType) -> DType {
    ordered("i8", dates)
}

/// A string dtype of width 0 with the width `longest`, at least 1; any other one as it is.
fn widen(dtype: &DType, longest: Option<usize>) -> DType {
    let width = longest.unwrap_or(0).max(1);
    match dtype.kind() {
        Kind::Str(0) => ordered(&format!("U{width}"), dtype),
        Kind::Bytes(0) => Kind::Bytes(width).into(),
        _ => dtype.clone(),
    }
}

/// Puts a string into an item of NULs; in an error, what is wrong with it.
fn put_string(points: impl Iterator<Item = u32>, dtype: &DType, item: &mut [u8]) -> Result<(), String> {
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

#[cfg(test)]
mod tests;
