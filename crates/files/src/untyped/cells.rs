//! Splits CSV and TSV into cells, by a given delimiter or by the likeliest one.

use std::fmt;
use std::io::Read;

use csv::{Position, ReaderBuilder, StringRecord};

use super::item::{is_number, special_number};
use super::lists;
use super::lists::{Leaf, Nested, short};
use tensorop_kernels::error::{Advice, Error, ErrorKind, Result, Subject};
use tensorop_kernels::item::dtype::{DType, Kind};
use tensorop_kernels::memory::{self, OutOfMemory};

pub(crate) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dialect {
    pub(crate) delimiter: u8,
    pub(crate) name: &'static str,
}

impl Dialect {
    pub(crate) const CSV: Self = Self { delimiter: b',', name: "CSV" };
    pub(crate) const TSV: Self = Self { delimiter: b'\t', name: "TSV" };
}

pub(crate) fn holds(dtype: &DType) -> bool {
    lists::holds(dtype) && !matches!(dtype.kind(), Kind::Complex64 | Kind::Complex128)
}

/// Precedes the text, because the parser drops a byte order mark at the very beginning.
const BEGIN: &[u8] = b"\n";

/// If this line after the text is not a row, a quote is open.
const END: &[u8] = b"\n\x1e\n";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    Values,
    /// Even if they look like numbers.
    Strings,
    /// Like `Values`, but four digits are a year.
    Dates,
}

/// At least one cell, in rows of equal length.
#[derive(Clone, Debug)]
pub(crate) struct Cells {
    subject: Subject,
    pub(crate) dialect: Dialect,
    delimiter: Delimiter,
    text: String,
    /// Offsets in `text`.
    ends: Vec<usize>,
    columns: usize,
    /// The text of cells that are empty in the file.
    missing: Option<String>,
    /// Row and line of the first row, and of each row after skipped or multi-line text.
    lines: Vec<(usize, usize)>,
}

impl Cells {
    /// Errors name the line.
    pub(crate) fn read(text: &[u8], dialect: Dialect, table: &TableOptions, subject: Subject) -> Result<Self> {
        let TableOptions { skip_rows, missing, .. } = table.clone();
        let delimiter = table.delimiter.unwrap_or(Delimiter::One(dialect.delimiter));
        let error = |message: String| Error::new(subject, message);
        let bytes = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
        let refuse = |at: usize, what: &str| error(format!("{what} in line {}", 1 + line_ends(&bytes[..at])));
        let text = str::from_utf8(bytes).map_err(|error| refuse(error.valid_up_to(), "invalid UTF-8"))?;
        if let Some(at) = text.find('\0') {
            return Err(refuse(at, "a NUL byte"));
        }
        // A text of fewer lines leaves nothing.
        let rest = (0..skip_rows).try_fold(bytes, |rest, _| after_line(rest)).unwrap_or_default();
        let skipped = line_ends(&bytes[..bytes.len() - rest.len()]);
        let single;
        let rest = match delimiter {
            Delimiter::One(_) => rest,
            Delimiter::Blanks => {
                single = single_blanks(rest).map_err(|refused| error(refused.into()))?;
                &single
            }
        };
        let (text, ends, lines) = (String::new(), Vec::new(), Vec::new());
        let mut cells = Self { subject, dialect, delimiter, text, ends, columns: 0, missing, lines };
        let mut reader = ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(delimiter.byte())
            .from_reader(BEGIN.chain(rest).chain(END));
        // `BEGIN` is part of the first row.
        let place = |position: &Position| (position.byte() as usize).saturating_sub(BEGIN.len());
        let mut record = StringRecord::new();
        let (mut line, mut counted) = (1 + skipped, 0);
        while reader.read_record(&mut record).map_err(|why| error(why.to_string()))? {
            let begin = place(record.position().expect("a record that was read has a position")).min(rest.len());
            // The parser counts preceding blank lines as part of a row.
            let begin = begin + rest[begin..].iter().take_while(|byte| matches!(byte, b'\n' | b'\r')).count();
            line += line_ends(&rest[counted..begin]);
            counted = begin;
            if begin == rest.len() {
                break;
            }
            if place(reader.position()) > rest.len() + 1 {
                return Err(error(format!("line {line}: a quote is not closed")));
            }
            if cells.columns == 0 {
                cells.columns = record.len();
            } else if cells.columns != record.len() {
                return Err(cells.ragged(record.len(), line));
            }
            cells.push(&record, line).map_err(|refused| error(refused.into()))?;
        }
        match cells.columns {
            0 => Err(error(format!("holds no cells{}", if skip_rows > 0 { " after the lines left out" } else { "" }))),
            _ => Ok(cells),
        }
    }

    fn push(&mut self, record: &StringRecord, line: usize) -> Result<(), OutOfMemory> {
        let row = self.rows();
        if row == 0 || self.line(row) != line {
            memory::push(&mut self.lines, (row, line))?;
        }
        for cell in record {
            let cell = self.missing.as_deref().filter(|_| is_missing(cell)).unwrap_or(cell);
            if self.text.try_reserve(cell.len()).is_err() {
                return Err(OutOfMemory(self.text.len() + cell.len()));
            }
            self.text.push_str(cell);
            memory::push(&mut self.ends, self.text.len())?;
        }
        Ok(())
    }

    fn ragged(&self, found: usize, line: usize) -> Error {
        let (columns, first) = (self.columns, self.line(0));
        let cells = if found == 1 { "1 cell".to_owned() } else { format!("{found} cells") };
        let at = columns.min(found) + 1;
        let message = format!("line {line} column {at}: a row of {cells}, line {first} has {columns}");
        // A title looks like a row of one cell.
        let is_title = self.rows() == 1 && self.iter().all(is_word);
        self.refused(message, is_title.then(|| line - 1))
    }

    fn refused(&self, message: String, heading: Option<usize>) -> Error {
        let error = Error::new(self.subject, message);
        match heading {
            None => error,
            Some(rows) => error.advising(Advice::SkipRows(rows)),
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.text.len() + self.ends.len()
    }

    fn rows(&self) -> usize {
        self.ends.len() / self.columns
    }

    fn line(&self, row: usize) -> usize {
        let after = self.lines.partition_point(|(first, _)| *first <= row);
        // The list begins with row 0.
        let (first, line) = self.lines[after - 1];
        line + (row - first)
    }

    fn iter(&self) -> impl Iterator<Item = &str> {
        let mut begin = 0;
        self.ends.iter().map(move |&end| &self.text[std::mem::replace(&mut begin, end)..end])
    }

    pub(crate) fn positioned(&self, item: usize, message: impl fmt::Display) -> String {
        let begin = item.checked_sub(1).map_or(0, |last| self.ends[last]);
        let is_missing = self.missing.as_ref().is_some_and(|missing| self.text[begin..self.ends[item]] == **missing);
        let option = if is_missing { " (--missing)" } else { "" };
        format!("line {} column {}{option}: {message}", self.line(item / self.columns), item % self.columns + 1)
    }

    /// A single column is one axis. For words among numbers, the error is about the first word.
    pub(crate) fn walk<'s>(
        &'s self,
        reading: Reading,
        mut leaf: impl FnMut(Leaf<'s>) -> Result<(), String>,
    ) -> Result<Nested> {
        for (n, cell) in self.iter().enumerate() {
            if let Err(message) = leaf(scalar(cell, reading)) {
                let explained = match reading {
                    Reading::Values => self.word_among_numbers().or_else(|| self.undivided()),
                    Reading::Strings | Reading::Dates => None,
                };
                return Err(explained.unwrap_or_else(|| self.refused(self.positioned(n, message), None)));
            }
        }
        let dims = if self.columns == 1 { vec![self.rows()] } else { vec![self.rows(), self.columns] };
        Ok(Nested { dims, has_leaves: true })
    }

    /// The error for strings that another delimiter splits into equally many numbers, possibly below headings.
    pub(crate) fn undivided(&self) -> Option<Error> {
        if !self.iter().all(is_word) {
            return None;
        }
        let usual = Delimiter::USUAL.into_iter().filter(|other| *other != self.delimiter);
        let (delimiter, has_headings) = usual.filter_map(|other| Some((other, self.has_headings_by(other)?))).next()?;
        let delimiter = delimiter.character();
        let first = self.iter().next().expect("a table has cells");
        let cells = format!("all cells are strings such as {}", short(first));
        let message = self.positioned(0, format!("{cells}, which {delimiter:?} would divide into numbers"));
        let skip = if has_headings { self.line(1) - 1 } else { 0 };
        Some(Error::new(self.subject, message).advising(Advice::DelimitBy { delimiter, skip }))
    }

    /// `None` unless the delimiter splits all rows, except headings, into equally many numbers.
    fn has_headings_by(&self, delimiter: Delimiter) -> Option<bool> {
        let (mut count, mut has_headings) = (0, false);
        for row in 0..self.rows() {
            let begin = (row * self.columns).checked_sub(1).map_or(0, |last| self.ends[last]);
            let cells = (0..self.columns).scan(begin, |begin, column| {
                let end = self.ends[row * self.columns + column];
                Some(&self.text[std::mem::replace(begin, end)..end])
            });
            let text = cells.collect::<Vec<_>>().join(self.delimiter.character().encode_utf8(&mut [0; 4]));
            let (mut parts, mut words) = (0, 0);
            for part in delimiter.split(&text) {
                parts += 1;
                words += usize::from(is_word(part) && !is_missing(part));
            }
            has_headings |= row == 0 && words > 0;
            if row == 0 {
                count = parts;
            }
            if parts < 2 || parts != count || words > 0 && (row > 0 || self.rows() == 1) {
                return None;
            }
        }
        Some(has_headings)
    }

    /// Strings in the first row may be headings.
    fn word_among_numbers(&self) -> Option<Error> {
        let is_number = |cell| matches!(scalar(cell, Reading::Values), Leaf::Number(_) | Leaf::Special(_));
        let (word, cell) = self.iter().enumerate().find(|(_, cell)| is_word(cell))?;
        self.iter().find(|cell| is_number(cell))?;
        let mut second = self.iter().skip(self.columns).take(self.columns);
        let mut first = self.iter().take(self.columns);
        let is_void = is_missing(cell) && !first.any(|cell| is_word(cell) && !is_missing(cell));
        let heading = !is_void && word < self.columns && self.rows() > 1 && !second.any(is_word);
        let what = if cell.is_empty() { "an empty cell".to_owned() } else { format!("{} is a string", short(cell)) };
        let message = self.positioned(word, format!("{what}, among numbers"));
        let skip = if heading { self.line(1) - 1 } else { 0 };
        let advice = if is_void { Advice::ReadMissing } else { Advice::ReadStrings { skip } };
        Some(Error::new(self.subject, message).advising(advice))
    }
}

/// Line feeds, and carriage returns without a line feed.
fn line_ends(text: &[u8]) -> usize {
    let feeds = text.iter().filter(|&&byte| byte == b'\n').count();
    let returns = text.iter().enumerate().filter(|&(at, &byte)| byte == b'\r' && text.get(at + 1) != Some(&b'\n'));
    feeds + returns.count()
}

fn after_line(text: &[u8]) -> Option<&[u8]> {
    let end = text.iter().position(|byte| matches!(byte, b'\n' | b'\r'))?;
    let len = if text[end..].starts_with(b"\r\n") { 2 } else { 1 };
    Some(&text[end + len..])
}

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

/// Empty, or a usual name in any case.
fn is_missing(cell: &str) -> bool {
    let cell = cell.trim_matches([' ', '\t']);
    let names = ["", "na", "n/a", "null", "nan", "+nan", "-nan"];
    cell.len() <= 4 && names.iter().any(|name| cell.eq_ignore_ascii_case(name))
}

fn is_word(cell: &str) -> bool {
    matches!(scalar(cell, Reading::Values), Leaf::Text(_))
}

fn special(text: &str) -> Option<Leaf<'static>> {
    let is = |names: &[&str]| names.iter().any(|name| text.eq_ignore_ascii_case(name));
    // Most cells are longer.
    match text.len() {
        3..=9 if let Some(name) = special_number(text) => Some(Leaf::Special(name)),
        4 if is(&["+nan", "-nan"]) => Some(Leaf::Special("NaN")),
        4 if is(&["true"]) => Some(Leaf::Bool(true)),
        5 if is(&["false"]) => Some(Leaf::Bool(false)),
        _ => None,
    }
}

/// The delimiter between two cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delimiter {
    One(u8),
    /// Any number of blanks and tabs.
    Blanks,
}

/// How CSV and TSV are read.
#[derive(Clone, Debug, Default)]
pub struct TableOptions {
    /// The number of lines to skip.
    pub skip_rows: usize,
    /// Replaces the comma or tab.
    pub delimiter: Option<Delimiter>,
    /// Replaces cells without a value.
    pub missing: Option<String>,
}

impl Delimiter {
    /// Candidates for advice.
    pub(crate) const USUAL: [Self; 5] =
        [Self::One(b','), Self::One(b';'), Self::One(b'\t'), Self::One(b'|'), Self::Blanks];

    pub(crate) fn character(self) -> char {
        match self {
            Self::One(byte) => byte.into(),
            Self::Blanks => ' ',
        }
    }

    /// After [`single_blanks`].
    pub(crate) fn byte(self) -> u8 {
        match self {
            Self::One(byte) => byte,
            Self::Blanks => b' ',
        }
    }

    pub(crate) fn split(self, text: &str) -> impl Iterator<Item = &str> {
        let is_one = self != Self::Blanks;
        let cells = text.split(move |c: char| if is_one { c == self.character() } else { matches!(c, ' ' | '\t') });
        cells.filter(move |cell| is_one || !cell.is_empty())
    }
}

/// A blank means any number of blanks, and `\t` is a tab.
impl std::str::FromStr for Delimiter {
    type Err = Error;

    /// # Errors
    /// The text is not one ASCII character, or occurs in cells or line ends.
    fn from_str(text: &str) -> Result<Self, Error> {
        match text.as_bytes() {
            [b' '] => Ok(Self::Blanks),
            b"\\t" => Ok(Self::One(b'\t')),
            [byte] if !byte.is_ascii_alphanumeric() && !b"\"\r\n\0.+-".contains(byte) => Ok(Self::One(*byte)),
            _ => {
                let message = "expected one character that is not part of cells, such as ';', '|', '\\t' (a tab) or ' ' \
                    (any number of blanks)";
                Err(Error::from_kind(ErrorKind::Argument, message))
            }
        }
    }
}

/// Merges blanks and tabs outside quotes, and trims lines.
pub(crate) fn single_blanks(text: &[u8]) -> Result<Vec<u8>, OutOfMemory> {
    let mut out = memory::with_capacity(text.len())?;
    let (mut is_quoted, mut has_cells, mut is_after_blank) = (false, false, false);
    for &byte in text {
        match byte {
            b' ' | b'\t' if !is_quoted => {
                is_after_blank = true;
                continue;
            }
            b'\n' | b'\r' if !is_quoted => has_cells = false,
            _ => {
                let is_begin = !has_cells || is_after_blank;
                if has_cells && is_after_blank {
                    out.push(b' ');
                }
                has_cells = true;
                // A doubled quote closes and reopens the quotes.
                is_quoted = if is_quoted { byte != b'"' } else { byte == b'"' && (is_begin || out.ends_with(b"\"")) };
            }
        }
        out.push(byte);
        is_after_blank = false;
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delimiters() {
        for (text, expected) in [
            (";", Some(Delimiter::One(b';'))),
            ("\t", Some(Delimiter::One(b'\t'))),
            ("\\t", Some(Delimiter::One(b'\t'))),
            (",", Some(Delimiter::One(b','))),
            (" ", Some(Delimiter::Blanks)),
            ("", None),
            (";;", None),
            ("  ", None),
            ("é", None),
            ("1", None),
            ("e", None),
            ("-", None),
            (".", None),
            ("\"", None),
            ("\n", None),
            ("\0", None),
        ] {
            assert_eq!(text.parse().ok(), expected, "{text:?}");
        }
    }

    #[test]
    fn blanks_become_one() {
        for (text, expected) in [
            ("1  2\n", "1 2\n"),
            (" 1 \t2\t\n\n  3 4", "1 2\n\n3 4"),
            ("1 2\r\n3\r4 ", "1 2\r\n3\r4"),
            ("  \n1", "\n1"),
            ("\"a  b\"  \" c \"\n", "\"a  b\" \" c \"\n"),
            ("\"a \"\"  b\"  2", "\"a \"\"  b\" 2"),
            ("\"a\n  b\"  2", "\"a\n  b\" 2"),
            ("a\"b  c\"d", "a\"b c\"d"),
            ("", ""),
        ] {
            let found = single_blanks(text.as_bytes()).unwrap();
            assert_eq!(String::from_utf8_lossy(&found), expected, "{text:?}");
        }
    }
}
