//! Finds the cells of CSV and TSV texts, and hands them out as scalars: numbers, bools or strings.

use std::fmt;
use std::io::Read;

#[cfg(feature = "csv")]
use csv::{ByteRecord, Position, ReaderBuilder};

use super::leaf::{Leaf, Nested};
use super::lists;
use super::strings::short;
use crate::error::{Advice, Error, Subject};
use crate::item::dtype::{DType, Kind};
use crate::memory::{self, OutOfMemory};

/// The byte order mark, with which a text in UTF-8 may begin.
pub(in crate::format) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The character between two cells, which also determines the name of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::format) enum Dialect {
    /// Commas.
    Csv,
    /// Tabs.
    Tsv,
}

impl Dialect {
    pub(in crate::format) fn delimiter(self) -> u8 {
        match self {
            Self::Csv => b',',
            Self::Tsv => b'\t',
        }
    }

    pub(in crate::format) fn name(self) -> &'static str {
        match self {
            Self::Csv => "CSV",
            Self::Tsv => "TSV",
        }
    }
}

/// Returns whether an item of a dtype fits into one cell.
pub(in crate::format) fn holds(dtype: &DType) -> bool {
    lists::holds(dtype) && !matches!(dtype.kind(), Kind::Complex64 | Kind::Complex128)
}

/// An error in a text of cells: a message of one line, and what would help.
#[derive(Debug)]
pub(in crate::format) struct Refused {
    message: String,
    /// The number of lines at the beginning that seem to be headings.
    heading: Option<usize>,
}

impl Refused {
    /// Turns it into an error about an operand.
    pub(in crate::format) fn error(self, subject: Subject) -> Error {
        let error = Error::new(subject, self.message);
        match self.heading {
            None => error,
            Some(rows) => error.advising(Advice::SkipRows(rows)),
        }
    }
}

impl From<String> for Refused {
    fn from(message: String) -> Self {
        Self { message, heading: None }
    }
}

/// A blank line that is put before the text: the parser drops a byte order mark at the very beginning, and would drop a
/// second one.
const BEGIN: &[u8] = b"\n";

/// A line that is put after the text. If the parser does not return it as a row of its own, a quote is still open.
const END: &[u8] = b"\n\x1e\n";

/// How the texts of cells are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::format) enum Reading {
    /// As numbers, bools or strings, depending on what they look like.
    Values,
    /// As strings, even if they look like numbers.
    Strings,
    /// As by their looks, except that four digits are a year.
    Dates,
}

/// The cells of a text whose rows all have the same number of cells.
#[derive(Clone, Debug)]
pub(in crate::format) struct Cells {
    dialect: Dialect,
    /// The texts of all cells without quotes, one after the other.
    text: String,
    /// The end of each cell in that text.
    ends: Vec<usize>,
    rows: usize,
    /// The rows that do not lie in the line after the row before them, because lines were skipped or a cell has several lines,
    /// each with the number of its line.
    lines: Vec<(usize, usize)>,
}

impl Cells {
    /// Finds the cells of a text, after its first `skip_rows` lines.
    ///
    /// # Errors
    /// A text that is not UTF-8, or holds a NUL or no row; rows of unequal length; a quote that is not closed. The message names
    /// the line.
    #[cfg(feature = "csv")]
    pub(in crate::format) fn read(text: &[u8], dialect: Dialect, skip_rows: usize) -> Result<Self, Refused> {
        let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
        let refuse = |at: usize, what: &str| format!("{what} in line {}", 1 + line_ends(&text[..at]));
        if let Err(error) = std::str::from_utf8(text) {
            return Err(refuse(error.valid_up_to(), "not UTF-8: a byte that is no part of a character").into());
        }
        if let Some(at) = text.iter().position(|&byte| byte == 0) {
            return Err(refuse(at, "a NUL byte").into());
        }
        let rest = (0..skip_rows).try_fold(text, |rest, _| after_line(rest)).unwrap_or_default();
        let skipped = text.len() - rest.len();
        let mut cells = Self { dialect, text: String::new(), ends: Vec::new(), rows: 0, lines: Vec::new() };
        let bytes = BEGIN.chain(rest).chain(END);
        let mut reader =
            ReaderBuilder::new().has_headers(false).flexible(true).delimiter(dialect.delimiter()).from_reader(bytes);
        let place = |position: &Position| (position.byte() as usize).saturating_sub(BEGIN.len());
        let (mut record, mut columns) = (ByteRecord::new(), None);
        // the number of the line up to which lines were counted
        let (mut line, mut counted) = (1 + line_ends(&text[..skipped]), 0);
        while reader.read_byte_record(&mut record).map_err(|error| error.to_string())? {
            let begin = record.position().map_or(0, place).min(rest.len());
            // the parser counts blank lines before a row as a part of the row
            let begin = begin + rest[begin..].iter().take_while(|byte| matches!(byte, b'\n' | b'\r')).count();
            line += line_ends(&rest[counted..begin]);
            counted = begin;
            if begin == rest.len() {
                break;
            }
            if place(reader.position()) > rest.len() + 1 {
                return Err(format!("line {line}: a quote is not closed").into());
            }
            if let Some(columns) = columns.replace(record.len()).filter(|columns| *columns != record.len()) {
                return Err(cells.ragged(columns, record.len(), line));
            }
            cells.push(&record, line)?;
        }
        match cells.rows {
            0 => Err(format!("holds no cells{}", if skip_rows > 0 { " after the lines left out" } else { "" }).into()),
            _ => Ok(cells),
        }
    }

    /// Adds a row.
    #[cfg(feature = "csv")]
    fn push(&mut self, record: &ByteRecord, line: usize) -> Result<(), String> {
        if self.rows == 0 || self.line(self.rows) != line {
            memory::push(&mut self.lines, (self.rows, line))?;
        }
        for cell in record {
            // the whole text is UTF-8, and cells end at bytes that are characters of their own
            let cell = std::str::from_utf8(cell).map_err(|_| format!("line {line}: not UTF-8"))?;
            if self.text.try_reserve(cell.len()).is_err() {
                return Err(OutOfMemory(self.text.len() + cell.len()).into());
            }
            self.text.push_str(cell);
            memory::push(&mut self.ends, self.text.len())?;
        }
        self.rows += 1;
        Ok(())
    }

    /// Returns the error for a row that has another length than those before it.
    fn ragged(&self, columns: usize, found: usize, line: usize) -> Refused {
        let (at, first) = (columns.min(found) + 1, self.line(0));
        let message = format!("line {line} column {at}: a row of {}, line {first} has {columns}", count(found));
        // a title above a table looks like a row of one cell
        let is_title = self.rows == 1 && self.iter().all(|cell| matches!(scalar(cell, Reading::Values), Leaf::Text(_)));
        Refused { message, heading: is_title.then(|| line - 1) }
    }

    /// Returns the name of the format.
    pub(in crate::format) fn format(&self) -> &'static str {
        self.dialect.name()
    }

    /// Returns the number of bytes of all cells.
    pub(in crate::format) fn bytes(&self) -> usize {
        self.text.len() + self.ends.len()
    }

    /// Returns the number of the line in which a row begins.
    fn line(&self, row: usize) -> usize {
        let before = self.lines.partition_point(|(first, _)| *first <= row);
        self.lines.get(before.saturating_sub(1)).map_or(row + 1, |(first, line)| line + (row - first))
    }

    fn columns(&self) -> usize {
        self.ends.len() / self.rows.max(1)
    }

    fn iter(&self) -> impl Iterator<Item = &str> {
        let mut begin = 0;
        self.ends.iter().map(move |&end| self.text.get(std::mem::replace(&mut begin, end)..end).unwrap_or_default())
    }

    /// Adds the place of an item to a message about it.
    pub(in crate::format) fn positioned(&self, item: usize, message: impl fmt::Display) -> String {
        let columns = self.columns().max(1);
        format!("line {} column {}: {message}", self.line(item / columns), item % columns + 1)
    }

    /// Calls `leaf` for every cell in order. A text of one column has one axis, any other text has two.
    ///
    /// # Errors
    /// Those of `leaf`, with the place of the cell. If there are words among numbers, the error is about the first word.
    pub(in crate::format) fn walk<'s>(
        &'s self,
        reading: Reading,
        mut leaf: impl FnMut(Leaf<'s>) -> Result<(), String>,
    ) -> Result<Nested, Refused> {
        for (n, cell) in self.iter().enumerate() {
            if let Err(message) = leaf(scalar(cell, reading)) {
                let refused = self.word_among_numbers().filter(|_| reading == Reading::Values);
                return Err(refused.unwrap_or_else(|| Refused::from(self.positioned(n, message))));
            }
        }
        let columns = self.columns();
        let dims = if columns == 1 { vec![self.rows] } else { vec![self.rows, columns] };
        Ok(Nested { dims, has_leaves: true })
    }

    /// Returns the error about the first string among numbers. If the first row is one of strings, it may be headings.
    fn word_among_numbers(&self) -> Option<Refused> {
        let is_word = |cell| matches!(scalar(cell, Reading::Values), Leaf::Text(_));
        let is_number = |cell| matches!(scalar(cell, Reading::Values), Leaf::Number(_) | Leaf::Special(_));
        let (word, cell) = self.iter().enumerate().find(|(_, cell)| is_word(cell))?;
        self.iter().find(|cell| is_number(cell))?;
        let columns = self.columns();
        let mut second = self.iter().skip(columns).take(columns).peekable();
        let heading = word < columns && second.peek().is_some() && second.all(|cell| !is_word(cell));
        let what = if cell.is_empty() { "an empty cell".to_owned() } else { format!("{} is a string", short(cell)) };
        let message = self.positioned(word, format!("{what}, among numbers"));
        Some(Refused { message, heading: heading.then(|| self.line(1) - 1) })
    }
}

/// Returns a number of cells as a text.
fn count(cells: usize) -> String {
    if cells == 1 { "1 cell".to_owned() } else { format!("{cells} cells") }
}

/// Counts the ends of lines in a text: line feeds, and carriage returns without a line feed after them.
fn line_ends(text: &[u8]) -> usize {
    let feeds = text.iter().filter(|&&byte| byte == b'\n').count();
    let returns = text.iter().enumerate().filter(|&(at, &byte)| byte == b'\r' && text.get(at + 1) != Some(&b'\n'));
    feeds + returns.count()
}

/// Returns the text after the first line, if there is any.
fn after_line(text: &[u8]) -> Option<&[u8]> {
    let end = text.iter().position(|byte| matches!(byte, b'\n' | b'\r'))?;
    let len = if text[end..].starts_with(b"\r\n") { 2 } else { 1 };
    text.get(end + len..)
}

/// Returns a cell as the scalar that it is.
fn scalar(cell: &str, reading: Reading) -> Leaf<'_> {
    let trimmed = cell.trim_matches([' ', '\t']);
    match reading {
        Reading::Strings => Leaf::Text(cell),
        Reading::Dates if trimmed.len() == 4 && trimmed.bytes().all(|byte| byte.is_ascii_digit()) => {
            Leaf::Text(trimmed)
        }
        Reading::Dates | Reading::Values if is_number(trimmed) => Leaf::Number(trimmed),
        Reading::Dates => Leaf::Text(trimmed),
        Reading::Values => special(trimmed).unwrap_or(Leaf::Text(cell)),
    }
}

/// Returns a bool, NaN or infinity, whose letters may be of either case.
fn special(text: &str) -> Option<Leaf<'static>> {
    let is = |names: &[&str]| names.iter().any(|name| text.eq_ignore_ascii_case(name));
    // most cells are longer than these words
    match text.len() {
        3..=9 if is(&["nan", "+nan", "-nan"]) => Some(Leaf::Special("NaN")),
        3..=9 if is(&["inf", "+inf", "infinity", "+infinity"]) => Some(Leaf::Special("Infinity")),
        3..=9 if is(&["-inf", "-infinity"]) => Some(Leaf::Special("-Infinity")),
        4 if is(&["true"]) => Some(Leaf::Bool(true)),
        5 if is(&["false"]) => Some(Leaf::Bool(false)),
        _ => None,
    }
}

/// Whether a text is a decimal number, as programs that write tables write them: a sign, digits with a point anywhere,
/// an exponent.
fn is_number(text: &str) -> bool {
    let digits = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let text = text.as_bytes();
    let unsigned = |text: &[u8]| usize::from(matches!(text, [b'+' | b'-', ..]));
    let rest = &text[unsigned(text)..];
    let whole = digits(rest);
    let (fraction, rest) = match &rest[whole..] {
        [b'.', rest @ ..] => (digits(rest), &rest[digits(rest)..]),
        rest => (0, rest),
    };
    let exponent = match rest {
        [] => true,
        [b'e' | b'E', rest @ ..] => {
            let rest = &rest[unsigned(rest)..];
            !rest.is_empty() && digits(rest) == rest.len()
        }
        _ => false,
    };
    whole + fraction > 0 && exponent
}
