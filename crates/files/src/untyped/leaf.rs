//! Scalars of a text, and the lists around them.

use std::borrow::Cow;
use std::fmt;

/// In source form; `Str` includes the quotes.
#[derive(Clone, Copy)]
pub(crate) enum Leaf<'a> {
    Number(&'a str),
    Str(&'a str),
    /// Without quotes or escapes.
    Text(&'a str),
    /// A float's name for [`parse_special`](tensorop_kernels::item::parse::parse_special).
    Special(&'static str),
    Bool(bool),
    Null,
}

impl fmt::Display for Leaf<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Leaf::Number(text) => write!(f, "{} is a number", short(text)),
            Leaf::Str(raw) => write!(f, "{} is a string", short(raw)),
            Leaf::Text("") => f.write_str("an empty cell"),
            Leaf::Text(text) => write!(f, "{} is a string", short(text)),
            Leaf::Special(name) => write!(f, "{name} is a float"),
            Leaf::Bool(value) => write!(f, "{value} is a bool"),
            Leaf::Null => f.write_str("null is not an item"),
        }
    }
}

pub(crate) struct Nested {
    /// Outermost first.
    pub(crate) dims: Vec<usize>,
    pub(crate) has_leaves: bool,
}

impl Nested {
    pub(crate) fn path(&self, mut item: usize) -> Vec<usize> {
        let mut path: Vec<usize> =
            self.dims.iter().rev().map(|&dim| (item % dim.max(1), item /= dim.max(1)).0).collect();
        path.reverse();
        path
    }
}

pub(crate) fn positioned(indices: &[usize], message: impl fmt::Display) -> String {
    if indices.is_empty() { message.to_string() } else { format!("{}: {message}", position(indices)) }
}

pub(crate) fn position(indices: &[usize]) -> String {
    indices.iter().map(|i| format!("[{i}]")).collect()
}

/// Of a valid quoted string. A lone surrogate is a code point.
pub(crate) fn points(raw: &str) -> impl Iterator<Item = u32> {
    let mut rest = raw[1..raw.len() - 1].chars();
    let unit = |chars: &mut std::str::Chars<'_>| {
        let (hex, after) = chars.as_str().split_at(4);
        *chars = after.chars();
        u32::from_str_radix(hex, 16).expect("an escape has four hexadecimal digits")
    };
    std::iter::from_fn(move || {
        let c = rest.next()?;
        if c != '\\' {
            return Some(c.into());
        }
        Some(match rest.next()? {
            'n' => 10,
            't' => 9,
            'r' => 13,
            'b' => 8,
            'f' => 12,
            'u' => {
                let high = unit(&mut rest);
                let mut ahead = rest.clone();
                if (0xd800..0xdc00).contains(&high) && ahead.next() == Some('\\') && ahead.next() == Some('u') {
                    let low = unit(&mut ahead);
                    if (0xdc00..0xe000).contains(&low) {
                        rest = ahead;
                        return Some(0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00));
                    }
                }
                high
            }
            c => c.into(),
        })
    })
}

pub(crate) fn width(raw: &str) -> usize {
    if raw.contains('\\') { points(raw).count() } else { raw.chars().count() - 2 }
}

/// `None` also for lone surrogates.
pub(crate) fn string(raw: &str) -> Option<String> {
    raw.starts_with('"').then(|| serde_json::from_str(raw).ok())?
}

pub(crate) fn short(text: &str) -> Cow<'_, str> {
    shorten(text, 40)
}

pub(crate) fn shorten(text: &str, most: usize) -> Cow<'_, str> {
    let end = text.char_indices().nth(most).map(|(at, _)| at);
    let shown = &text[..end.unwrap_or(text.len())];
    if end.is_none() && !shown.contains(char::is_control) {
        return Cow::Borrowed(shown);
    }
    let clean = shown.chars().map(|c| if c.is_control() { ' ' } else { c });
    Cow::Owned(clean.chain(end.map(|_| '…')).collect())
}
