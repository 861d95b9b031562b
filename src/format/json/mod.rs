//! Tensors as JSON: an object `{"dtype": …, "shape": …, "data": …}`, or plain nested lists or a scalar. Read is also
//! the object of the KServe v2 protocol, `{"name": …, "shape": …, "datatype": "FP32", "data": …}`.
//!
//! serde_json checks the syntax once and hands out `data` as a slice of the text; from then on that text is valid
//! JSON, and one walk over it (no recursion, no tree) turns each number into an item as it passes.

mod argument;
mod leaf;
mod nest;
mod object;
mod strings;
mod syntax;
mod table;
mod untyped;
mod walk;

use serde_json::value::RawValue;

pub use self::argument::parse_item;
use self::leaf::{put_string, read_leaf, real_dtype, with_width};
pub use self::nest::write;
use self::object::{DATATYPES, Object};
use self::strings::{points, short, shorten, string, width};
use self::syntax::{describe_syntax, is_deeper};
pub(super) use self::table::{JsonReader, JsonWriter, open_file, sure};
use self::untyped::{Class, OUTSIDE, Untyped, common_dtype};
use self::walk::{Leaf, Nested, positioned, walk};
use crate::error::{Advice, Error, Subject};
use crate::item::dtype::{DType, Kind};
use crate::item::parse::{self, Misfit};
use crate::item::tensor::Tensor;
use crate::layout::shape::{MAX_RANK, bytes_of};
use crate::memory;
use crate::parallel::{Threads, beside};

/// Strings padded to a common width may take so many times the text that they come from: a list of a million empty
/// strings and one of a million letters is a text of 5 MB and a tensor of 4 TB, ...
const MOST_PADDING: usize = 1024;
/// ... or so many bytes in any case.
const FREE_PADDING: usize = 64 << 20;

/// A JSON text that holds a tensor, its syntax checked, its items not yet read.
///
/// ```
/// use tensorop::{error::Subject, format::json, parallel::Threads};
/// let json = json::open(br#"{"dtype": "int8", "data": [[1, 2], [3, 4]]}"#, Subject::Data,
/// Threads::default()).unwrap(); let tensor = json.read(json.dtype().unwrap()).unwrap(); assert_eq!((tensor.shape(),
/// tensor.bytes()), (&[2, 2][..], &[1, 2, 3, 4][..]));
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
/// may be two. The check and the walk that makes items each pass over all of the text, and neither needs the other:
/// side by side they take the time of the longer. To start a thread for less is not worth it.
const LONG: usize = 1 << 20;

/// Of texts that are longer than this the depth is looked at first: to check the syntax takes a byte for each list
/// that is open, and a file of brackets would take as much memory as it is long. Shorter ones are not worth the pass.
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
        if *dtype.kind() == Kind::Float64 {
            items.make_floats().map_err(|m| json.error(m))?;
        } else if matches!(dtype.kind(), Kind::Str(_)) {
            items.bytes = json.pad(&items.strings, &dtype, &nested)?;
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
                Leaf::Number(_) | Leaf::Bool(_) | Leaf::Null => {
                    Err(format!("{leaf}, expected a string ({})", dtype.name()))
                }
            });
            let nested = nested?;
            let longest = strings.iter().map(|raw| width(raw)).max();
            let no_width = self.no_width && self.dtype.as_ref() == Some(dtype) && longest.unwrap_or(0) == 0;
            let dtype = if no_width { dtype.clone() } else { with_width(dtype, longest) };
            let bytes = self.pad(&strings, &dtype, &nested)?;
            return self.tensor(dtype, bytes, nested.dims);
        }
        let pairs = matches!(dtype.kind(), Kind::Complex64 | Kind::Complex128);
        let real = if pairs { real_dtype(dtype) } else { dtype.clone() };
        let size = real.itemsize();
        let mut bytes = Vec::new();
        let mut nested = self.walk(MAX_RANK + usize::from(pairs), |leaf| {
            let mut item = [0; 8];
            read_leaf(leaf, &real, &mut item)?;
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
            Leaf::Str(_) | Leaf::Bool(_) | Leaf::Null => Err(format!("{leaf}, expected an integer")),
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

#[cfg(test)]
mod tests;
