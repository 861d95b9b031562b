//! The delimiters of cells in a table.

use tensorop_kernels::error::{Error, ErrorKind};
use tensorop_kernels::memory::{self, OutOfMemory};

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
