//! CSV and TSV as RFC 4180 has them: a row of the tensor is a line, an item a cell. The text tells no dtype, so its cells
//! are [`Values`] as those of plain JSON are.

mod write;

pub(super) use self::write::CsvWriter;
use super::content::{Content, Description};
use super::interface::{Reader, Sure, Unchangeable};
use super::values::cells::{Cells, Dialect};
use super::values::{self, Items, Values};
use crate::error::{Result, Subject};
use crate::storage::source::Source;

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

#[cfg(test)]
mod tests;
