//! The cells of a text: found, and handed out as the scalars that they are.

use std::fmt;
use std::io::Read;

use csv::{ByteRecord, Position, ReaderBuilder};

use super::leaf::{Leaf, Nested};
use super::lists;
use super::strings::short;
use crate::error::{Advice, Error, Subject};
use crate::item::dtype::{DType, Kind};
use crate::memory;

/// What a text in UTF-8 may begin with.
pub(in crate::format) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// What is between two cells, and what the format is called then.
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

/// Whether an item of a dtype is one cell.
pub(in crate::format) fn holds(dtype: &DType) -> bool {
    lists::holds(dtype) && !matches!(dtype.kind(), Kind::Complex64 | Kind::Complex128)
}

/// Why cells are refused: one line, and what would help.
#[derive(Debug)]
pub(in crate::format) struct Refused {
    message: String,
    /// How many lines at the beginning seem to be headings.
    heading: Option<usize>,
}

impl Refused {
    /// As an error about an operand.
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

/// A blank line that is put before the text, so that a second byte order mark is not left out, too.
const BEGIN: &[u8] = b"\n";

/// A line that is put behind the text. Where it does not come back as a line of its own, a quote is open.
const END: &[u8] = b"\n\x1e\n";

/// What cells are taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::format) enum Reading {
    /// Numbers, bools or strings, by what they look like.
    Values,
    /// Strings, also those that look like numbers.
    Strings,
    /// Values, but that four digits are a year.
    Dates,
}

/// The cells of a text, all rows of which have as many.
#[derive(Clone, Debug)]
pub(in crate::format) struct Cells {
    dialect: Dialect,
    /// All cells without quotes, one after the other.
    text: String,
    /// Where each cell ends.
    ends: Vec<usize>,
    rows: usize,
    /// Rows before which lines are left out, or cells hold ends of lines, each with its line: the rows after it lie in
    /// the lines after that.
    lines: Vec<(usize, usize)>,
}

impl Cells {
    /// Finds the cells of a text, the first `skip_rows` lines of which are left out.
    ///
    /// # Errors
    /// What is not UTF-8, or holds a NUL; no row; rows of unequal length; a quote that is not closed. With the line.
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
        // the line of the byte at which counting has arrived
        let (mut line, mut counted) = (1 + line_ends(&text[..skipped]), 0);
        while reader.read_byte_record(&mut record).map_err(|error| error.to_string())? {
            let begin = record.position().map_or(0, place).min(rest.len());
            // blank lines before a row count as a part of it
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
    fn push(&mut self, record: &ByteRecord, line: usize) -> Result<(), String> {
        if self.rows == 0 || self.line(self.rows) != line {
            memory::push(&mut self.lines, (self.rows, line))?;
        }
        for cell in record {
            // the whole text is UTF-8, and its cells end at bytes that are characters
            let cell = std::str::from_utf8(cell).map_err(|_| format!("line {line}: not UTF-8"))?;
            if self.text.try_reserve(cell.len()).is_err() {
                return Err(memory::too_much(self.text.len() + cell.len()));
            }
            self.text.push_str(cell);
            memory::push(&mut self.ends, self.text.len())?;
        }
        self.rows += 1;
        Ok(())
    }

    /// What is said of a row of another length than those before it.
    fn ragged(&self, columns: usize, found: usize, line: usize) -> Refused {
        let (at, first) = (columns.min(found) + 1, self.line(0));
        let message = format!("line {line} column {at}: a row of {}, line {first} has {columns}", count(found));
        // a title above a table is a row of its own
        let is_title = self.rows == 1 && self.iter().all(|cell| matches!(scalar(cell, Reading::Values), Leaf::Text(_)));
        Refused { message, heading: is_title.then(|| line - 1) }
    }

    /// What the format is called.
    pub(in crate::format) fn format(&self) -> &'static str {
        self.dialect.name()
    }

    /// The bytes of all cells.
    pub(in crate::format) fn bytes(&self) -> usize {
        self.text.len() + self.ends.len()
    }

    /// The line of a row.
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

    /// What is said of an item, with its place.
    pub(in crate::format) fn positioned(&self, item: usize, message: impl fmt::Display) -> String {
        let columns = self.columns().max(1);
        format!("line {} column {}: {message}", self.line(item / columns), item % columns + 1)
    }

    /// Hands every cell to `leaf`, in order. One column is one axis, more are two.
    ///
    /// # Errors
    /// What `leaf` says against a cell, with its place; where words stand among numbers, the first of them.
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

    /// The first string, where there are numbers too: as its first row shows, perhaps a heading.
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

/// A number of cells.
fn count(cells: usize) -> String {
    if cells == 1 { "1 cell".to_owned() } else { format!("{cells} cells") }
}

/// How many lines end in a text: at a line feed, or a carriage return without one after it.
fn line_ends(text: &[u8]) -> usize {
    let feeds = text.iter().filter(|&&byte| byte == b'\n').count();
    let returns = text.iter().enumerate().filter(|&(at, &byte)| byte == b'\r' && text.get(at + 1) != Some(&b'\n'));
    feeds + returns.count()
}

/// What comes after the first line, if anything does.
fn after_line(text: &[u8]) -> Option<&[u8]> {
    let end = text.iter().position(|byte| matches!(byte, b'\n' | b'\r'))?;
    let len = if text[end..].starts_with(b"\r\n") { 2 } else { 1 };
    text.get(end + len..)
}

/// What a cell is.
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

/// A bool, or a float without digits, in letters of whatever case.
fn special(text: &str) -> Option<Leaf<'static>> {
    let is = |names: &[&str]| names.iter().any(|name| text.eq_ignore_ascii_case(name));
    // most cells are not as short
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
