//! Values in text: items without a dtype until something gives them one. What the text is, lists of JSON or cells of a
//! table, is known to `Items` alone; which dtype its items get, and whether they fit it, is decided here for all.

pub(super) mod cells;
mod leaf;
pub(super) mod lists;
mod strings;
mod untyped;

use crate::error::{Error, Result, Subject, malformed};
use crate::item::datetime;
use crate::item::dtype::{DType, Kind};
use crate::item::parse::{self, Misfit};
use crate::item::tensor::Tensor;
use crate::layout::shape::{MAX_RANK, bytes_of};
use crate::memory;
use crate::storage::source::Source;

use self::cells::{Cells, Reading};
pub(super) use self::leaf::{Leaf, Nested, positioned};
use self::lists::Lists;
pub(super) use self::strings::{points, short, shorten, string, width};
use self::untyped::{Class, OUTSIDE, Untyped, common_dtype};

/// Strings padded to a common width may take so many times the text that they come from, ...
const MOST_PADDING: usize = 1024;
/// ... or so many bytes in any case.
pub(super) const FREE_PADDING: usize = 64 << 20;

/// A text that holds a tensor: its items, not yet read, and what it says of them.
///
/// ```
/// use tensorop::{error::Subject, format::json, parallel::Threads};
/// let values = json::open(br#"{"dtype": "int8", "data": [[1, 2], [3, 4]]}"#, Subject::Data, Threads::default()).unwrap();
/// let tensor = values.read(values.dtype().unwrap()).unwrap();
/// assert_eq!((tensor.shape(), tensor.bytes()), (&[2, 2][..], &[1, 2, 3, 4][..]));
/// ```
#[derive(Clone, Debug)]
pub struct Values<'a> {
    /// The operand that errors are about.
    pub(super) subject: Subject,
    /// The dtype that it names itself.
    pub(super) dtype: Option<DType>,
    /// Whether that dtype says the width 0 with a digit.
    pub(super) no_width: bool,
    /// The dims that it names itself.
    pub(super) shape: Option<Vec<usize>>,
    /// Where the items are.
    pub(super) items: Items<'a>,
}

/// The items of a text.
#[derive(Clone, Debug)]
pub(super) enum Items<'a> {
    /// Nested lists of JSON.
    Lists(Lists<'a>),
    /// The cells of CSV or TSV.
    Cells(Cells),
}

/// The tensors of plain values that belong to one command, typed together by their content: int64, uint64, float64,
/// bool or str. A value without items takes the dtype of the others, alone it is float64.
///
/// ```
/// use tensorop::{error::Subject, format::{json, values}, parallel::Threads};
/// let a = json::open(b"[1, 2]", Subject::Data, Threads::default()).unwrap();
/// let b = json::open(b"[0.5]", Subject::Updates, Threads::default()).unwrap();
/// assert_eq!(values::infer(&[&a, &b]).unwrap()[0].dtype().name(), "float64");
/// ```
///
/// # Errors
/// Items of different classes, integers that no one dtype holds, lists that are not rectangular.
pub fn infer(values: &[&Values<'_>]) -> Result<Vec<Tensor>, Error> {
    let mut found = Vec::new();
    for one in values {
        let mut items = Untyped::default();
        let nested = one.walk(MAX_RANK, Reading::Values, |leaf| items.push(leaf))?;
        found.push((*one, items, nested));
    }
    let dtype = common_dtype(&found)?;
    let tensors = found.into_iter().map(|(one, mut items, nested)| {
        match dtype.kind() {
            Kind::Float64 => items.make_floats().map_err(|m| one.error(m))?,
            Kind::Str(_) => items.bytes = one.pad(&items.strings, &dtype, &nested)?,
            _ => {}
        }
        one.tensor(dtype.clone(), items.bytes, nested.dims)
    });
    tensors.collect()
}

impl Values<'_> {
    /// The dtype that the text itself names.
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
    /// the shape given with it; a dtype that such a text cannot hold.
    pub fn read(&self, dtype: &DType) -> Result<Tensor, Error> {
        if !self.holds(dtype) {
            return Err(self.error(cannot_hold(self.format(), dtype)));
        }
        if matches!(dtype.kind(), Kind::Str(_) | Kind::Bytes(_)) {
            let mut strings = Vec::new();
            let nested = self.walk(MAX_RANK, Reading::Strings, |leaf| match leaf {
                Leaf::Str(text) | Leaf::Text(text) => memory::push(&mut strings, text),
                leaf => Err(format!("{leaf}, expected a string ({})", dtype.name())),
            });
            let nested = nested?;
            let longest = strings.iter().map(|text| self.width(text)).max();
            let no_width = self.no_width && self.dtype.as_ref() == Some(dtype) && longest.unwrap_or(0) == 0;
            let dtype = if no_width { dtype.clone() } else { widen(dtype, longest) };
            let bytes = self.pad(&strings, &dtype, &nested)?;
            return self.tensor(dtype, bytes, nested.dims);
        }
        let pairs = matches!(dtype.kind(), Kind::Complex64 | Kind::Complex128);
        let part = if pairs { part_of(dtype) } else { dtype.clone() };
        let size = part.itemsize();
        let mut bytes = Vec::new();
        // of a unit without years a number of four digits is no year
        let dates = matches!(dtype.kind(), Kind::Datetime(unit) if unit.base.is_some());
        let reading = if dates { Reading::Dates } else { Reading::Values };
        let mut nested = self.walk(MAX_RANK + usize::from(pairs), reading, |leaf| {
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
        let nested = self.walk(MAX_RANK, Reading::Values, |leaf| match leaf {
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

    /// Hands every scalar to `leaf`, in order.
    fn walk<'s>(
        &'s self,
        limit: usize,
        reading: Reading,
        leaf: impl FnMut(Leaf<'s>) -> Result<(), String>,
    ) -> Result<Nested> {
        match &self.items {
            Items::Lists(lists) => lists.walk(limit, leaf).map_err(|message| self.error(message)),
            Items::Cells(cells) => cells.walk(reading, leaf).map_err(|refused| refused.error(self.subject)),
        }
    }

    /// What the format is called.
    fn format(&self) -> &'static str {
        match &self.items {
            Items::Lists(_) => "JSON",
            Items::Cells(cells) => cells.format(),
        }
    }

    /// Whether items of a dtype have texts there.
    fn holds(&self, dtype: &DType) -> bool {
        match &self.items {
            Items::Lists(_) => lists::holds(dtype),
            Items::Cells(_) => cells::holds(dtype),
        }
    }

    /// How many code points a string has, as it stands in the text.
    fn width(&self, text: &str) -> usize {
        match &self.items {
            Items::Lists(_) => width(text),
            Items::Cells(_) => text.chars().count(),
        }
    }

    /// An error about an item, with its position.
    fn error_at(&self, nested: &Nested, item: usize, message: impl std::fmt::Display) -> Error {
        self.error(match &self.items {
            Items::Lists(_) => positioned(&nested.path(item), message),
            Items::Cells(cells) => cells.positioned(item, message),
        })
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
        Tensor::new(dtype, shape, bytes).map_err(|error| self.error(error.message().to_owned()))
    }

    /// The items of a string dtype, padded with NUL.
    fn pad(&self, strings: &[&str], dtype: &DType, nested: &Nested) -> Result<Vec<u8>, Error> {
        let size = dtype.itemsize();
        let text = match &self.items {
            Items::Lists(lists) => lists.text.len(),
            Items::Cells(cells) => cells.bytes(),
        };
        let total = bytes_of(&[strings.len()], size)
            .filter(|&total| total <= FREE_PADDING.max(text.saturating_mul(MOST_PADDING)))
            .ok_or_else(|| {
                let message = format!("{} items of {size} bytes ({}) are too much", strings.len(), dtype.name());
                self.error(message)
            })?;
        let mut bytes = memory::zeros(total).map_err(|message| self.error(message))?;
        for (at, text) in strings.iter().enumerate() {
            let item = &mut bytes[at * size..][..size];
            let put = match &self.items {
                Items::Lists(_) => put_string(points(text), dtype, item),
                Items::Cells(_) => put_string(text.chars().map(u32::from), dtype, item),
            };
            put.map_err(|why| self.error_at(nested, at, format!("{} {why}", short(text))))?;
        }
        Ok(bytes)
    }
}

/// The items of a text that nobody gives a dtype.
///
/// # Errors
/// Those of [`Values::read`] and [`infer`], about no operand.
pub(super) fn source(values: Result<Values<'_>>, label: String) -> Result<Source> {
    let tensor = values.and_then(|values| values.dtype().map_or_else(|| values.infer(), |dtype| values.read(dtype)));
    tensor.map(|tensor| Source::memory(tensor, label)).map_err(|error| {
        let refused = malformed!("{}", error.message());
        error.advice().map_or(refused.clone(), |advice| refused.advising(advice))
    })
}

/// What is said of a dtype whose items have no text in a format.
pub(super) fn cannot_hold(format: &str, dtype: &DType) -> String {
    format!("{format} cannot hold items of dtype {}", short(&dtype.name()))
}

// ---- items with a dtype

/// Puts one item of a dtype without width or pairs into `out`.
pub(super) fn read_leaf(leaf: Leaf<'_>, dtype: &DType, out: &mut [u8]) -> Result<(), String> {
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
        (Leaf::Str(raw) | Leaf::Text(raw), Kind::Datetime(_) | Kind::Timedelta(_)) => {
            let text = if matches!(leaf, Leaf::Text(_)) { Some(raw.to_owned()) } else { string(raw) };
            let ticks = text.and_then(|text| match *dtype.kind() {
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
        (Leaf::Special(name), _) => {
            let held = parse::parse_special(name, dtype, out);
            held.then_some(()).ok_or_else(|| describe(name, dtype, Misfit::NotNumeric))
        }
        (leaf @ Leaf::Null, _) => Err(leaf.to_string()),
        (leaf, kind) => Err(match kind {
            Kind::Bool => format!("{leaf}, expected true or false"),
            _ => format!("{leaf}, expected a number ({})", dtype.name()),
        }),
    }
}

pub(super) fn describe(text: &str, dtype: &DType, misfit: Misfit) -> String {
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
pub(super) fn part_of(complex: &DType) -> DType {
    ordered(if matches!(complex.kind(), Kind::Complex64) { "f4" } else { "f8" }, complex)
}

/// The dtype of the ticks of dates.
fn ticks_of(dates: &DType) -> DType {
    ordered("i8", dates)
}

/// A string dtype of width 0 with the width `longest`, at least 1; any other one as it is.
pub(super) fn widen(dtype: &DType, longest: Option<usize>) -> DType {
    let width = longest.unwrap_or(0).max(1);
    match dtype.kind() {
        Kind::Str(0) => ordered(&format!("U{width}"), dtype),
        Kind::Bytes(0) => Kind::Bytes(width).into(),
        _ => dtype.clone(),
    }
}

/// Puts a string into an item of NULs; in an error, what is wrong with it.
pub(super) fn put_string(points: impl Iterator<Item = u32>, dtype: &DType, item: &mut [u8]) -> Result<(), String> {
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
