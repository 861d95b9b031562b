//! CSV and TSV after RFC 4180: lines are rows, cells are items. The text names no dtype, so cells are [`Values`].

mod write;

pub(super) use self::write::CsvWriter;
use super::content::Content;
use super::interface::{Confidence, Reader, TextReader};
use super::values::cells::{CellReading, Cells, Dialect};
use super::values::delimiter::Delimiter;
use super::values::{Unparsed, Values};
use crate::error::{Result, Subject};

/// Any text may be CSV, so its name or the user decides. UTF-16 and binary files contain NUL bytes.
pub(super) fn sure(begin: &[u8], _: Option<u64>) -> Confidence {
    if begin.contains(&0) { Confidence::No } else { Confidence::Possible }
}

pub(super) fn open(mut content: Content, dialect: Dialect) -> Result<Box<dyn Reader>> {
    let Content { skip_rows, delimiter, .. } = content;
    let missing = content.missing.take();
    Ok(Box::new(CsvReader { text: content.read()?, dialect, delimiter, skip_rows, missing }))
}

#[derive(Debug)]
struct CsvReader {
    text: Vec<u8>,
    dialect: Dialect,
    /// Overrides the dialect's delimiter.
    delimiter: Option<Delimiter>,
    skip_rows: usize,
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
