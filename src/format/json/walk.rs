//! The walk over nested lists: the one pass that turns a text into items.
//!
//! serde_json has checked the syntax, or is about to. A tree of its values would take some 30 bytes and more for each
//! item and turn numbers into floats before their dtype is known; so the text is walked as it is, and each scalar
//! handed on as the characters that it is. There is no recursion, since the depth is the file's choice and the stack
//! is not.

use std::fmt;

use super::strings::short;

/// A scalar as it stands in the text; a string with its quotes.
#[derive(Clone, Copy)]
pub(super) enum Leaf<'a> {
    Number(&'a str),
    Str(&'a str),
    Bool(bool),
    Null,
}

impl fmt::Display for Leaf<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Leaf::Number(text) => write!(f, "{} is a number", short(text)),
            Leaf::Str(raw) => write!(f, "{} is a string", short(raw)),
            Leaf::Bool(value) => write!(f, "{value} is a bool"),
            Leaf::Null => f.write_str("null is no item"),
        }
    }
}

/// What a walk found around the items.
pub(super) struct Nested {
    /// The lengths of the lists, outermost first.
    pub(super) dims: Vec<usize>,
    /// Whether there are scalars at all.
    pub(super) has_leaves: bool,
}

impl Nested {
    /// Where the item so far into the text stands.
    pub(super) fn path(&self, mut item: usize) -> Vec<usize> {
        let mut path: Vec<usize> =
            self.dims.iter().rev().map(|&dim| (item % dim.max(1), item /= dim.max(1)).0).collect();
        path.reverse();
        path
    }
}

pub(super) fn positioned(path: &[usize], message: impl fmt::Display) -> String {
    if path.is_empty() { message.to_string() } else { format!("{}: {message}", Path(path)) }
}

/// A position, such as `[0][3]`.
struct Path<'a>(&'a [usize]);

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|i| write!(f, "[{i}]"))
    }
}

/// Hands every scalar of `text`, which is valid JSON, to `leaf`, in order, and checks that the lists around them
/// are rectangular and at most `limit` deep. Of a text that is not valid JSON it makes something or other, but neither
/// panics nor runs on for ever: the check that goes on beside it says what is wrong, and that counts first.
///
/// # Errors
/// What `leaf` says against an item; objects; lists of unequal length; scalars beside lists. With the position.
pub(super) fn walk<'a>(
    text: &'a str,
    limit: usize,
    mut leaf: impl FnMut(Leaf<'a>) -> Result<(), String>,
) -> Result<Nested, String> {
    const UNKNOWN: usize = usize::MAX;
    let bytes = text.as_bytes();
    // Of each list that is open, how many of its items have begun; by depth, the length of lists (UNKNOWN: none has
    // ended yet); the depth of all scalars. The first list of a depth that ends says how long all must be, so nothing
    // has to be remembered of the others.
    let mut open: Vec<usize> = Vec::new();
    let mut dims: Vec<usize> = Vec::new();
    let mut rank = UNKNOWN;
    let here = |open: &[usize]| open.iter().map(|n| n.saturating_sub(1)).collect::<Vec<_>>();
    let mixed = |open: &[usize], this: &str, first: &str, depth: usize| {
        format!("{} is {this}, {} is {first}", Path(&here(open)), Path(&vec![0; depth]))
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
                    let (path, first) = (here(&open), vec![0; open.len()]);
                    return Err(format!("{} has length {count}, {} has length {known}", Path(&path), Path(&first)));
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
                return Err(mixed(&open, "a list", "none", depth));
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
                return Err(mixed(&open, "no list", "one", depth));
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
                // What can stand in a number is above the comma, but for `+`; what can follow it is not, but for `]`.
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
