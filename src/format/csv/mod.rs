//! CSV and TSV as RFC 4180 has them: a row of the tensor is a line, an item a cell. The text tells no dtype, so its cells
//! are [`Values`] as those of plain JSON are.

pub(super) mod cells;
mod write;

use self::cells::Cells;
pub(super) use self::write::CsvWriter;
use super::open::{Content, Description};
use super::values::{self, Items, Values};
use super::{Reader, Sure, Unchangeable};
use crate::error::{Error, Result, Subject};
use crate::item::dtype::{DType, Kind};
use crate::storage::source::Source;

/// What a text in UTF-8 may begin with.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// What is between two cells, and what the format is called then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    /// Commas.
    Csv,
    /// Tabs.
    Tsv,
}

impl Dialect {
    fn delimiter(self) -> u8 {
        match self {
            Self::Csv => b',',
            Self::Tsv => b'\t',
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Csv => "CSV",
            Self::Tsv => "TSV",
        }
    }
}

/// How sure it is that what begins so is such a text: any text may be one, so that its name, or who opens it, has to say
/// so. What is UTF-16 or no text has a NUL byte soon.
pub(super) fn sure(begin: &[u8], _: Option<u64>) -> Sure {
    if begin.contains(&0) { Sure::No } else { Sure::Possible }
}

/// Reads CSV, whose cells are looked at when they are wanted.
///
/// # Errors
/// Of reading.
pub(super) fn open_csv(content: Content) -> Result<Box<dyn Reader>> {
    Ok(Box::new(CsvReader { text: content.read()?, dialect: Dialect::Csv, skip_rows: 0 }))
}

/// The same of TSV.
///
/// # Errors
/// Of reading.
pub(super) fn open_tsv(content: Content) -> Result<Box<dyn Reader>> {
    Ok(Box::new(CsvReader { text: content.read()?, dialect: Dialect::Tsv, skip_rows: 0 }))
}

/// A text.
#[derive(Debug)]
struct CsvReader {
    text: Vec<u8>,
    dialect: Dialect,
    /// Lines at the beginning that hold no items.
    skip_rows: usize,
}

impl CsvReader {
    fn cells(&self, subject: Subject) -> Result<Values<'_>> {
        let cells = Cells::read(&self.text, self.dialect, self.skip_rows).map_err(|refused| refused.error(subject))?;
        let items = Items::Cells(cells);
        Ok(Values { subject, dtype: None, no_width: false, shape: None, items })
    }
}

impl Reader for CsvReader {
    fn values(&self, subject: Subject) -> Option<Result<Values<'_>>> {
        Some(self.cells(subject))
    }

    fn skip_rows(&mut self, rows: usize) {
        self.skip_rows = rows;
    }

    fn unchangeable(&self) -> Option<Unchangeable> {
        Some(Unchangeable::Text)
    }

    fn describe(&self, n: usize) -> Result<Description> {
        let source = self.source(n, String::new())?;
        Ok(Description { meta: source.meta().clone(), bytes: source.bytes() as u64, offset: None })
    }

    fn source(&self, _: usize, label: String) -> Result<Source> {
        // the operand that it is is not known here
        values::source(self.cells(Subject::Data), label)
    }
}

/// Whether an item of a dtype is one cell.
pub(super) fn holds(dtype: &DType) -> bool {
    super::json::holds(dtype) && !matches!(dtype.kind(), Kind::Complex64 | Kind::Complex128)
}

/// Why cells are refused: one line, and what would help.
#[derive(Debug)]
pub(super) struct Refused {
    message: String,
    /// How many lines at the beginning seem to be headings.
    heading: Option<usize>,
}

impl Refused {
    /// As an error about an operand.
    pub(super) fn error(self, subject: Subject) -> Error {
        let error = Error::new(subject, self.message);
        match self.heading {
            None => error,
            Some(rows) => error.advising(crate::error::Advice::SkipRows(rows)),
        }
    }
}

impl From<String> for Refused {
    fn from(message: String) -> Self {
        Self { message, heading: None }
    }
}

#[cfg(test)]
mod tests;
