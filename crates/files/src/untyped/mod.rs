//! Text whose items get a dtype later. Only `Unparsed` distinguishes JSON lists from cells of a table.

pub mod cells;
pub(crate) mod infer;
pub(crate) mod item;
pub(crate) mod lists;
pub mod python_json;

use std::fmt;

use self::cells::{Cells, Reading};
pub use self::infer::infer;
pub(crate) use self::infer::source;
pub(crate) use self::item::{cannot_hold, check_text, most_padded};
pub use self::item::{dtype_of_string, parse_item};
use self::item::{part_of, put_string, read_leaf, widen};
use self::lists::{Leaf, Lists, Nested, points, positioned, width};
pub(crate) use self::lists::{short, shorten, string};
use tensorop_kernels::error::{Error, Result, Subject};
use tensorop_kernels::item::dtype::{DType, Kind};
use tensorop_kernels::item::tensor::Tensor;
use tensorop_kernels::layout::axis::{MAX_RANK, bytes_of};
use tensorop_kernels::memory;

/// A tensor as text, with items that are not parsed yet.
///
/// ```
/// use tensorop_files::{error::Subject, internal::formats::json, parallel::Threads};
/// let values = json::open(br#"{"dtype": "int8", "data": [[1, 2], [3, 4]]}"#, Subject::Data, Threads::default()).unwrap();
/// let tensor = values.read(values.dtype().unwrap()).unwrap();
/// assert_eq!((tensor.shape(), tensor.bytes()), (&[2, 2][..], &[1, 2, 3, 4][..]));
/// ```
#[derive(Clone, Debug)]
pub struct Values<'a> {
    pub subject: Subject,
    pub(crate) dtype: Option<DType>,
    /// The text states a width of 0.
    pub(crate) no_width: bool,
    pub(crate) shape: Option<Vec<usize>>,
    pub(crate) items: Unparsed<'a>,
}

#[derive(Clone, Debug)]
pub(crate) enum Unparsed<'a> {
    Lists(Lists<'a>),
    Cells(Cells),
}

impl<'a> Values<'a> {
    pub(crate) fn of(subject: Subject, items: Unparsed<'a>) -> Self {
        Self { subject, dtype: None, no_width: false, shape: None, items }
    }

    /// Returns the dtype in the text.
    pub fn dtype(&self) -> Option<&DType> {
        self.dtype.as_ref()
    }

    /// Parses the items as `dtype`. A string width of 0 becomes that of the longest item.
    ///
    /// # Errors
    /// The dtype cannot hold an item, the shape is inconsistent, or the format cannot hold the dtype.
    pub fn read(&self, dtype: &DType) -> Result<Tensor> {
        self.read_as(dtype, false)
    }

    /// Reads as [`read`](Self::read) does, but widens strings to the longest item.
    ///
    /// # Errors
    /// The dtype cannot hold an item, the shape is inconsistent, or the format cannot hold the dtype.
    pub fn read_widening(&self, dtype: &DType) -> Result<Tensor> {
        self.read_as(dtype, true)
    }

    fn read_as(&self, dtype: &DType, widens: bool) -> Result<Tensor> {
        let (format, holds) = match &self.items {
            Unparsed::Lists(_) => ("JSON", lists::holds(dtype)),
            Unparsed::Cells(cells) => (cells.dialect.name, cells::holds(dtype)),
        };
        if !holds {
            return Err(dtype.advise(self.error(cannot_hold(format, dtype))));
        }
        if matches!(dtype.kind(), Kind::Str(_) | Kind::Bytes(_)) {
            let mut strings = Vec::new();
            let nested = self.walk(MAX_RANK, Reading::Strings, |leaf| match leaf {
                Leaf::Str(text) | Leaf::Text(text) => Ok(memory::push(&mut strings, text)?),
                leaf => Err(format!("{leaf}, expected a string ({})", dtype.name())),
            })?;
            let longest = strings.iter().map(|text| self.width(text)).max();
            let no_width = self.no_width && self.dtype.as_ref() == Some(dtype) && longest.unwrap_or(0) == 0;
            let dtype = match dtype.kind() {
                Kind::Str(width) | Kind::Bytes(width) if widens && longest > Some(*width) => {
                    widen(&dtype.widthless(), longest)
                }
                _ if no_width => dtype.clone(),
                _ => widen(dtype, longest),
            };
            let bytes = self.pad(&strings, &dtype, &nested)?;
            return self.tensor(dtype, bytes, nested.dims);
        }
        let pairs = matches!(dtype.kind(), Kind::Complex64 | Kind::Complex128);
        let part = if pairs { part_of(dtype) } else { dtype.clone() };
        let size = part.itemsize();
        let mut bytes = Vec::new();
        // Only units with years read four digits as a year.
        let dates = matches!(dtype.kind(), Kind::Datetime(unit) if unit.base.is_some());
        let reading = if dates { Reading::Dates } else { Reading::Values };
        let mut nested = self.walk(MAX_RANK + usize::from(pairs), reading, |leaf| {
            let mut item = [0; 8];
            read_leaf(leaf, &part, &mut item)?;
            Ok(memory::extend(&mut bytes, &item[..size])?)
        })?;
        if pairs && nested.has_leaves {
            let found = match nested.dims.pop() {
                Some(2) => return self.tensor(dtype.clone(), bytes, nested.dims),
                Some(n) => format!("the innermost lists have {n} items"),
                None => "one number".to_owned(),
            };
            return Err(self.error(format!("{found}, a {} item is [re, im]", dtype.name())));
        }
        self.tensor(dtype.clone(), bytes, nested.dims)
    }

    pub(crate) fn walk<'s>(
        &'s self,
        limit: usize,
        reading: Reading,
        leaf: impl FnMut(Leaf<'s>) -> Result<(), String>,
    ) -> Result<Nested> {
        match &self.items {
            Unparsed::Lists(lists) => lists.walk(limit, leaf).map_err(|message| self.error(message)),
            Unparsed::Cells(cells) => cells.walk(reading, leaf),
        }
    }

    pub(crate) fn undivided(&self) -> Option<Error> {
        match &self.items {
            Unparsed::Lists(_) => None,
            Unparsed::Cells(cells) => cells.undivided(),
        }
    }

    pub(crate) fn width(&self, text: &str) -> usize {
        match &self.items {
            Unparsed::Lists(_) => width(text),
            Unparsed::Cells(_) => text.chars().count(),
        }
    }

    pub(crate) fn error_at(&self, nested: &Nested, item: usize, message: impl fmt::Display) -> Error {
        self.error(match &self.items {
            Unparsed::Lists(_) => positioned(&nested.path(item), message),
            Unparsed::Cells(cells) => cells.positioned(item, message),
        })
    }

    pub(crate) fn error(&self, message: impl Into<String>) -> Error {
        Error::new(self.subject, message)
    }

    /// A shape in the text replaces that of the lists.
    pub(crate) fn tensor(&self, dtype: DType, bytes: Vec<u8>, dims: Vec<usize>) -> Result<Tensor> {
        if let Some(shape) = &self.shape {
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
        }
        let shape = self.shape.clone().unwrap_or(dims);
        Tensor::new(dtype, shape, bytes).map_err(|error| self.error(error.message()))
    }

    pub(crate) fn pad(&self, strings: &[&str], dtype: &DType, nested: &Nested) -> Result<Vec<u8>> {
        let size = dtype.itemsize();
        let text = match &self.items {
            Unparsed::Lists(lists) => lists.text.len(),
            Unparsed::Cells(cells) => cells.bytes(),
        };
        let total = bytes_of(&[strings.len()], size).filter(|&total| total <= most_padded(text)).ok_or_else(|| {
            self.error(format!("{} items of {size} bytes ({}) are too much", strings.len(), dtype.name()))
        })?;
        let mut bytes = memory::zeros(total).map_err(|refused| self.error(refused))?;
        for (at, text) in strings.iter().enumerate() {
            let item = &mut bytes[at * size..][..size];
            let put = match &self.items {
                Unparsed::Lists(_) => put_string(points(text), dtype, item),
                Unparsed::Cells(_) => put_string(text.chars().map(u32::from), dtype, item),
            };
            put.map_err(|why| self.error_at(nested, at, format!("{} {why}", short(text))))?;
        }
        Ok(bytes)
    }
}
