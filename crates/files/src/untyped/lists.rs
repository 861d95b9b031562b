//! Visits the scalars of nested JSON lists without a tree; a scalar is a [`Leaf`].

use std::borrow::Cow;
use std::fmt;

use serde_json::value::RawValue;

use tensorop_kernels::item::dtype::{DType, Kind};
use tensorop_kernels::parallel::{Threads, beside};

#[derive(Clone, Debug)]
pub(crate) struct Lists<'a> {
    pub(crate) text: &'a str,
    /// `None` if the syntax was checked.
    pub(crate) unchecked: Option<Threads>,
}

impl<'a> Lists<'a> {
    /// Syntax errors take precedence over those of [`walk`].
    pub(crate) fn walk(
        &self,
        limit: usize,
        leaf: impl FnMut(Leaf<'a>) -> Result<(), String>,
    ) -> Result<Nested, String> {
        let text = self.text;
        let check = || serde_json::from_str::<&RawValue>(text).map(drop);
        let (checked, nested) = match self.unchecked {
            None => (Ok(()), walk(text, limit, leaf)),
            // Both pass over the text.
            Some(threads) => beside(threads.for_bytes(2 * text.len()), check, || walk(text, limit, leaf)),
        };
        checked.map_err(|e| describe_syntax(text, &e))?;
        nested
    }
}

pub(crate) fn holds(dtype: &DType) -> bool {
    !matches!(dtype.kind(), Kind::Void(_) | Kind::Struct(_) | Kind::LongDouble(_) | Kind::ComplexLongDouble(_))
}

/// Explains bare NaN and Infinity.
pub(crate) fn describe_syntax(text: &str, error: &serde_json::Error) -> String {
    if error.is_data() {
        return error.to_string();
    }
    let line = text.split('\n').nth(error.line().saturating_sub(1)).unwrap_or_default().as_bytes();
    let name = |b: &u8| b.is_ascii_alphabetic() || b"+-".contains(b);
    let column = error.column().saturating_sub(1).min(line.len());
    // The words have at most 10 letters.
    let before = line[..column].iter().rev().take(10).take_while(|b| name(b)).count();
    let after = line[column..].iter().take(10).take_while(|b| name(b)).count();
    let word = String::from_utf8_lossy(&line[column - before..column + after]);
    let quoted = match word.trim_start_matches(['+', '-']).to_ascii_lowercase().as_str() {
        "nan" => "\"NaN\"",
        "inf" | "infinity" if word.starts_with('-') => "\"-Infinity\"",
        "inf" | "infinity" => "\"Infinity\"",
        _ => {
            let first = text.split_whitespace().next().unwrap_or_default();
            let is_prose = (error.line(), error.column()) == (1, 1) && first.starts_with(char::is_alphabetic);
            return if is_prose {
                format!("not a tensor: begins with {:?}", short(first))
            } else {
                format!("not JSON: {error}")
            };
        }
    };
    format!("not JSON: bare {word} at line {} column {}; write {quoted} in quotes", error.line(), error.column())
}

/// Checks that the lists are rectangular. The text must be valid JSON, or the result means nothing.
pub(crate) fn walk<'a>(
    text: &'a str,
    limit: usize,
    mut leaf: impl FnMut(Leaf<'a>) -> Result<(), String>,
) -> Result<Nested, String> {
    const UNKNOWN: usize = usize::MAX;
    let bytes = text.as_bytes();
    // Items begun in each open list.
    let mut open: Vec<usize> = Vec::new();
    // UNKNOWN until the first list of the depth ends.
    let mut dims: Vec<usize> = Vec::new();
    // The depth of all scalars.
    let mut rank = UNKNOWN;
    let here = |open: &[usize]| open.iter().map(|n| n.saturating_sub(1)).collect::<Vec<_>>();
    let mixed = |open: &[usize], this: &str, first: &str, depth: usize| {
        format!("{} is {this}, {} is {first}", position(&here(open)), position(&vec![0; depth]))
    };
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let begin = at;
        at += 1;
        match byte {
            b' ' | b'\n' | b'\r' | b'\t' | b',' => continue,
            b']' => {
                let Some(count) = open.pop() else { continue };
                let known = &mut dims[open.len()];
                if *known == UNKNOWN {
                    *known = count;
                } else if *known != count {
                    let (this, first) = (position(&here(&open)), position(&vec![0; open.len()]));
                    return Err(format!("{this} has length {count}, {first} has length {known}"));
                }
                continue;
            }
            _ => {}
        }
        if let Some(count) = open.last_mut() {
            *count += 1;
        }
        let depth = open.len();
        if byte == b'[' {
            if depth >= rank {
                return Err(mixed(&open, "a list", "not", depth));
            }
            if depth == limit {
                return Err(format!("lists more than {limit} deep"));
            }
            if dims.len() == depth {
                dims.push(UNKNOWN);
            }
            open.push(0);
            continue;
        }
        if depth != rank {
            if rank != UNKNOWN || dims.len() != depth {
                return Err(mixed(&open, "not a list", "one", depth));
            }
            rank = depth;
        }
        let item = match byte {
            b'"' => {
                loop {
                    match bytes.get(at) {
                        Some(b'"') | None => break,
                        Some(b'\\') => at += 2,
                        Some(_) => at += 1,
                    }
                }
                at += 1;
                Leaf::Str(text.get(begin..at).unwrap_or_default())
            }
            b't' | b'f' | b'n' => {
                at += if byte == b'f' { 4 } else { 3 };
                if byte == b'n' { Leaf::Null } else { Leaf::Bool(byte == b't') }
            }
            b'{' => return Err(positioned(&here(&open), "an object where an item was expected")),
            _ => {
                // In a number only `+` is not above the comma; after one only `]` is.
                let follows = |b: &u8| (*b <= b',' && *b != b'+') || *b == b']';
                at = bytes[at..].iter().position(follows).map_or(bytes.len(), |len| at + len);
                Leaf::Number(text.get(begin..at).unwrap_or_default())
            }
        };
        if let Err(message) = leaf(item) {
            return Err(positioned(&here(&open), message));
        }
    }
    Ok(Nested { dims, has_leaves: rank != UNKNOWN })
}

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
