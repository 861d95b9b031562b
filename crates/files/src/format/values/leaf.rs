//! Scalars of a text, and the lists around them.

use std::fmt;

use super::strings::short;

/// In source form; `Str` includes the quotes.
#[derive(Clone, Copy)]
pub(in crate::format) enum Leaf<'a> {
    Number(&'a str),
    Str(&'a str),
    /// Without quotes or escapes.
    Text(&'a str),
    /// A float's name for [`parse_special`](crate::item::parse::parse_special).
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

pub(in crate::format) struct Nested {
    /// Outermost first.
    pub(in crate::format) dims: Vec<usize>,
    pub(in crate::format) has_leaves: bool,
}

impl Nested {
    pub(in crate::format) fn path(&self, mut item: usize) -> Vec<usize> {
        let mut path: Vec<usize> =
            self.dims.iter().rev().map(|&dim| (item % dim.max(1), item /= dim.max(1)).0).collect();
        path.reverse();
        path
    }
}

pub(super) fn positioned(indices: &[usize], message: impl fmt::Display) -> String {
    if indices.is_empty() { message.to_string() } else { format!("{}: {message}", position(indices)) }
}

pub(super) fn position(indices: &[usize]) -> String {
    indices.iter().map(|i| format!("[{i}]")).collect()
}
