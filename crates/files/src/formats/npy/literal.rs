//! Python literals of a `.npy` header.

use std::fmt;

use tensorop_kernels::error::{Error, Result, bail, ensure, malformed};
use tensorop_kernels::item::python;

/// The parser recurses: a MiB of brackets would overflow the stack. NumPy's dtypes nest a few levels.
const MAX_NESTING: usize = 32;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Literal {
    Text(String),
    Number(usize),
    Bool(bool),
    Tuple(Vec<Literal>),
    List(Vec<Literal>),
    /// `None`, a name, or a number that is negative, too large or not an integer, as written.
    Other(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LiteralEntry {
    pub(crate) key: Literal,
    pub(crate) value: Literal,
}

impl fmt::Display for Literal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |f: &mut fmt::Formatter<'_>, items: &[Self]| {
            items.iter().enumerate().try_for_each(|(n, item)| write!(f, "{}{item}", if n > 0 { ", " } else { "" }))
        };
        match self {
            Self::Text(text) => f.write_str(&python::repr_str(text)),
            Self::Number(number) => write!(f, "{number}"),
            Self::Bool(value) => f.write_str(if *value { "True" } else { "False" }),
            Self::Tuple(items) => {
                f.write_str("(")?;
                list(f, items)?;
                f.write_str(if items.len() == 1 { ",)" } else { ")" })
            }
            Self::List(items) => {
                f.write_str("[")?;
                list(f, items)?;
                f.write_str("]")
            }
            Self::Other(text) => f.write_str(text),
        }
    }
}

/// With `has_longs`, integers may end in `L`, as in Python 2.
pub(crate) fn dictionary(text: &str, has_longs: bool) -> Result<Vec<LiteralEntry>> {
    let mut parser = Parser { rest: text, has_longs };
    let mut entries = Vec::new();
    parser.expect('{')?;
    while !parser.takes('}') {
        let key = parser.value(0)?;
        parser.expect(':')?;
        entries.push(LiteralEntry { key, value: parser.value(0)? });
        if !parser.takes(',') {
            parser.expect('}')?;
            break;
        }
    }
    ensure!(parser.rest.trim_ascii().is_empty(), "the header has text after its dictionary");
    Ok(entries)
}

struct Parser<'a> {
    rest: &'a str,
    has_longs: bool,
}

impl<'a> Parser<'a> {
    fn takes(&mut self, next: char) -> bool {
        self.rest = self.rest.trim_ascii_start();
        let rest = self.rest.strip_prefix(next);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn expect(&mut self, next: char) -> Result<()> {
        if self.takes(next) { Ok(()) } else { Err(self.not_a_dictionary()) }
    }

    fn not_a_dictionary(&self) -> Error {
        const SHOWN: usize = 40;
        let rest = self.rest.trim_ascii();
        let shown: String = rest.chars().take(SHOWN).collect();
        match rest {
            "" => malformed!("the header is not a Python dictionary: it ends too early"),
            _ => malformed!("the header is not a Python dictionary at {}", python::repr_str(&shown)),
        }
    }

    fn take(&mut self, bytes: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(bytes);
        self.rest = rest;
        taken
    }

    fn value(&mut self, nesting: usize) -> Result<Literal> {
        ensure!(nesting <= MAX_NESTING, "the header nests too deeply");
        if self.takes('(') {
            let mut items = Vec::new();
            while !self.takes(')') {
                items.push(self.value(nesting + 1)?);
                if !self.takes(',') {
                    self.expect(')')?;
                    // one value in brackets is a tuple only with a comma
                    return Ok(if items.len() == 1 { items.remove(0) } else { Literal::Tuple(items) });
                }
            }
            return Ok(Literal::Tuple(items));
        }
        if self.takes('[') {
            let mut items = Vec::new();
            while !self.takes(']') {
                items.push(self.value(nesting + 1)?);
                if !self.takes(',') {
                    self.expect(']')?;
                    break;
                }
            }
            return Ok(Literal::List(items));
        }
        let is_unicode = ["u'", "u\"", "U'", "U\""].iter().any(|begin| self.rest.starts_with(begin));
        if is_unicode {
            self.take(1);
        }
        for quote in ['\'', '"'] {
            if self.takes(quote) {
                return self.text(quote).map(Literal::Text);
            }
        }
        let is_of_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '+' | '-');
        let word = self.take(self.rest.find(|c| !is_of_word(c)).unwrap_or(self.rest.len()));
        Ok(match word {
            "" => return Err(self.not_a_dictionary()),
            "True" => Literal::Bool(true),
            "False" => Literal::Bool(false),
            _ => self.number(word).map_or_else(|| Literal::Other(word.to_owned()), Literal::Number),
        })
    }

    fn number(&self, word: &str) -> Option<usize> {
        let digits = word.strip_suffix('L').filter(|_| self.has_longs).unwrap_or(word);
        // Python rejects leading zeros
        let is_padded = digits.len() > 1 && digits.starts_with('0') && digits.bytes().any(|byte| byte != b'0');
        digits.parse().ok().filter(|_| !is_padded)
    }

    fn text(&mut self, quote: char) -> Result<String> {
        let ends = |c: char| c == quote || matches!(c, '\\' | '\n' | '\r');
        let mut text = String::new();
        loop {
            let plain = self.rest.find(ends).ok_or_else(|| malformed!("the header has a string without an end"))?;
            text.push_str(self.take(plain));
            match self.take(1) {
                "\\" => self.escape(&mut text)?,
                "\n" | "\r" => bail!("the header has a string without an end"),
                _ => return Ok(text),
            }
        }
    }

    fn escape(&mut self, text: &mut String) -> Result<()> {
        let bad = || malformed!("the header has an invalid escape");
        let next = self.rest.chars().next().ok_or_else(bad)?;
        let (prefix, digits, radix) = match next {
            'x' => (1, 2, 16),
            'u' => (1, 4, 16),
            'U' => (1, 8, 16),
            '0'..='7' => (0, self.rest.bytes().take(3).take_while(|byte| (b'0'..=b'7').contains(byte)).count(), 8),
            _ => {
                self.take(next.len_utf8());
                match next {
                    '\\' | '\'' | '"' => text.push(next),
                    'a' => text.push('\x07'),
                    'b' => text.push('\x08'),
                    'f' => text.push('\x0c'),
                    'n' => text.push('\n'),
                    'r' => text.push('\r'),
                    't' => text.push('\t'),
                    'v' => text.push('\x0b'),
                    '\n' => {}
                    'N' => return Err(bad()),
                    // Python keeps the backslash
                    _ => text.extend(['\\', next]),
                }
                return Ok(());
            }
        };
        self.take(prefix);
        let code = self.rest.get(..digits).filter(|code| !code.starts_with('+')).ok_or_else(bad)?;
        text.push(u32::from_str_radix(code, radix).ok().and_then(char::from_u32).ok_or_else(bad)?);
        self.take(digits);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Option<Literal> {
        let [entry] = <[LiteralEntry; 1]>::try_from(dictionary(&format!("{{'k': {text}}}"), true).ok()?).ok()?;
        assert_eq!(entry.key, Literal::Text("k".to_owned()));
        Some(entry.value)
    }

    #[test]
    fn values() {
        use Literal::{Bool, List, Number, Text, Tuple};
        let text = |text: &str| Text(text.to_owned());
        let other = |text: &str| Literal::Other(text.to_owned());
        let rows = [
            ("'<f4'", text("<f4")),
            ("\"it's\"", text("it's")),
            (r"'\'\\\n\t\x41\u00e9\U0001f600\101\7\q'", text("'\\\n\tA\u{e9}\u{1f600}A\u{7}\\q")),
            ("'é😀'", text("é😀")),
            ("''", text("")),
            ("12", Number(12)),
            ("12L", Number(12)),
            ("0L", Number(0)),
            ("+3", Number(3)),
            ("000", Number(0)),
            ("(12)", Number(12)),
            ("((3),)", Tuple(vec![Number(3)])),
            ("(2L, 3L)", Tuple(vec![Number(2), Number(3)])),
            ("u'a'", text("a")),
            ("U\"a\"", text("a")),
            ("-12", other("-12")),
            ("1.5", other("1.5")),
            ("None", other("None")),
            ("L", other("L")),
            ("3LL", other("3LL")),
            ("3l", other("3l")),
            ("03", other("03")),
            ("99999999999999999999999", other("99999999999999999999999")),
            ("True", Bool(true)),
            ("False", Bool(false)),
            ("()", Tuple(vec![])),
            ("( 3 , )", Tuple(vec![Number(3)])),
            ("(3,4)", Tuple(vec![Number(3), Number(4)])),
            ("[]", List(vec![])),
            ("[3]", List(vec![Number(3)])),
            ("[('a', '<f4', (2,)),]", List(vec![Tuple(vec![text("a"), text("<f4"), Tuple(vec![Number(2)])])])),
            (&("[".repeat(32) + &"]".repeat(32)), (0..31).fold(List(vec![]), |inner, _| List(vec![inner]))),
        ];
        let failures: Vec<_> =
            rows.into_iter().filter(|(text, expected)| value(text).as_ref() != Some(expected)).collect();
        assert!(failures.is_empty(), "{failures:#?}");
    }

    #[test]
    fn refused() {
        let deep = "[".repeat(34) + &"]".repeat(34);
        let values = [
            "",
            "'",
            "'a",
            "'\\",
            "'\\x4'",
            "'\\x+1'",
            "'\\xé'",
            "'\\ud800'",
            "'\\N{DIGIT ONE}'",
            "'a\nb'",
            "b'a'",
            "u 'a'",
            "()()",
            "(,)",
            "(3,,)",
            "(3",
            "[3",
            "[,]",
            "[3 4]",
            "{}",
            "{'a': 1}",
            "3 4",
            "3}",
            ":",
            "*",
            "lambda: 0",
            "'a' 'b'",
            &deep,
        ];
        let read: Vec<_> = values.iter().filter(|text| value(text).is_some()).collect();
        assert!(read.is_empty(), "{read:?}");
        for text in ["", "{", "{'a'}", "{'a': 1", "{'a': 1} 2", "{,}", "{'a': 1,,}", "[1]", "3", "{'a' 1}"] {
            assert!(dictionary(text, true).is_err(), "{text}");
        }
        assert_eq!(dictionary(" { } ", true).unwrap(), []);
        let longs = dictionary("{'k': (2L,)}", false).unwrap();
        assert_eq!(longs[0].value, Literal::Tuple(vec![Literal::Other("2L".to_owned())]));
    }
}
