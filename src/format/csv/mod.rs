//! CSV and TSV after RFC 4180: a row of the tensor is a line, an item a cell. The text names no dtype, so its cells are
//! [`Values`] like those of plain JSON.

mod write;

pub(super) use self::write::CsvWriter;
use super::content::Content;
use super::interface::{Confidence, Reader, TextReader};
use super::values::cells::{CellReading, Cells, Dialect};
use super::values::delimiter::Delimiter;
use super::values::{Unparsed, Values};
use crate::error::{Result, Subject};

/// Returns how sure it is that a file with these first bytes is such a text. Any text may be one, so its name or the
/// user has to say so. UTF-16 and binary files soon have a NUL byte.
pub(super) fn sure(begin: &[u8], _: Option<u64>) -> Confidence {
    if begin.contains(&0) { Confidence::No } else { Confidence::Possible }
}

/// Reads a text, which is parsed when its items are wanted.
///
/// # Errors
/// Reading fails.
pub(super) fn open(mut content: Content, dialect: Dialect) -> Result<Box<dyn Reader>> {
    let Content { skip_rows, delimiter, .. } = content;
    let missing = content.missing.take();
    Ok(Box::new(CsvReader { text: content.read()?, dialect, delimiter, skip_rows, missing }))
}

/// A text of cells, not parsed yet.
#[derive(Debug)]
struct CsvReader {
    text: Vec<u8>,
    dialect: Dialect,
    /// The delimiter of cells, if it is not that of the dialect.
    delimiter: Option<Delimiter>,
    /// Lines at the beginning that are skipped.
    skip_rows: usize,
    /// What cells without a value are read as.
    missing: Option<String>,
}

impl TextReader for CsvReader {
    fn values(&self, subject: Subject) -> Result<Values<'_>> {
        let Self { dialect, delimiter, skip_rows, .. } = *self;
        let how = CellReading { dialect, delimiter, skip_rows, missing: self.missing.as_deref() };
        let cells = Cells::read(&self.text, how, subject)?;
        Ok(Values::of(subject, Unparsed::Cells(cells)))
    }
}

#[cfg(test)]
mod tests;
