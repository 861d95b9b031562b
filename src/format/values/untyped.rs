//! Items without a dtype: what they are decides.

use super::item::{describe, widen};
use super::leaf::{Leaf, Nested};
use super::read::Values;
use super::strings::short;
use crate::error::{Error, Subject};
use crate::item::dtype::{DType, Kind};
use crate::item::parse;
use crate::memory;

/// What no integer dtype of 64 bits holds.
pub(super) const OUTSIDE: &str = "is beyond int64 and uint64";
/// What no single integer dtype of 64 bits holds.
const APART: &str = "is beyond int64, and others are negative";

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Class {
    #[default]
    Empty,
    Int,
    Float,
    Bool,
    Str,
}

impl Class {
    /// What its items are called.
    fn plural(self) -> &'static str {
        match self {
            Class::Empty => "no items",
            Class::Int => "integers",
            Class::Float => "floats",
            Class::Bool => "bools",
            Class::Str => "strings",
        }
    }
}

/// Items whose dtype follows from what they are: 8 bytes each while they are numbers, one while they are bools.
#[derive(Default)]
pub(super) struct Untyped<'a> {
    pub(super) class: Class,
    pub(super) bytes: Vec<u8>,
    pub(super) strings: Vec<&'a str>,
    /// Whether a string stands for no float.
    words: bool,
    /// The first negative integer and the first above the largest int64: which item, and its text.
    negative: Option<(usize, &'a str)>,
    pub(super) above: Option<(usize, &'a str)>,
    /// The first integer that made floats of integers for want of a dtype, and what is wrong with it. An error
    /// unless there are floats.
    pub(super) beyond: Option<(usize, &'a str, &'static str)>,
    /// Whether there are floats.
    floats: bool,
    /// The items that are `-0`, which as floats have a sign.
    minus_zeros: Vec<usize>,
}

impl<'a> Untyped<'a> {
    pub(super) fn push(&mut self, leaf: Leaf<'a>) -> Result<(), String> {
        match leaf {
            Leaf::Number(_) if self.words || self.class == Class::Bool => self.enter(Class::Int, leaf),
            Leaf::Number(text) => {
                // Only a float64 can follow the first float.
                let float = (self.class == Class::Float && self.floats)
                    || text.bytes().any(|b| matches!(b, b'.' | b'e' | b'E'));
                if float || self.class == Class::Float {
                    self.push_float(text, float)
                } else if self.class == Class::Str {
                    self.make_floats()?;
                    self.push_float(text, true)
                } else {
                    self.enter(Class::Int, leaf)?;
                    match parse::parse_integer(text) {
                        Ok(value) => self.push_integer(value, text)?,
                        Err(_) => self.set_beyond(text, OUTSIDE),
                    }
                    if self.beyond.is_some() { self.push_float(text, false) } else { Ok(()) }
                }
            }
            Leaf::Str(raw) => {
                let special = parse::is_special(raw.trim_matches('"'));
                if special && matches!(self.class, Class::Int | Class::Float) {
                    return self.push_special(raw.trim_matches('"'));
                }
                self.enter(Class::Str, leaf)?;
                self.words |= !special;
                memory::push(&mut self.strings, raw)
            }
            Leaf::Text(text) => {
                self.enter(Class::Str, leaf)?;
                self.words = true;
                memory::push(&mut self.strings, text)
            }
            Leaf::Special(_) if self.words || self.class == Class::Bool => self.enter(Class::Float, leaf),
            Leaf::Special(name) => self.push_special(name),
            Leaf::Bool(value) => {
                self.enter(Class::Bool, leaf)?;
                memory::push(&mut self.bytes, value.into())
            }
            Leaf::Null => Err(leaf.to_string()),
        }
    }

    fn enter(&mut self, class: Class, leaf: Leaf<'a>) -> Result<(), String> {
        if self.class == Class::Empty {
            self.class = class;
        }
        if self.class == class { Ok(()) } else { Err(format!("{leaf}, among {}", self.class.plural())) }
    }

    /// Adds an integer as its 64 bits, or finds that no dtype holds it together with the others.
    pub(super) fn push_integer(&mut self, value: i128, text: &'a str) -> Result<(), String> {
        let items = self.bytes.len() / 8;
        let word = if let Ok(value) = i64::try_from(value) {
            if value < 0 && self.negative.is_none() {
                self.negative = Some((items, text));
            }
            if value == 0 && text.starts_with('-') {
                memory::push(&mut self.minus_zeros, items)?;
            }
            value.to_le_bytes()
        } else if let Ok(value) = u64::try_from(value) {
            self.above.get_or_insert((items, text));
            value.to_le_bytes()
        } else {
            self.set_beyond(text, OUTSIDE);
            return Ok(());
        };
        match (self.negative, self.above) {
            (Some(_), Some(_)) if value < 0 => self.set_beyond(text, "is negative, and others are beyond int64"),
            (Some(_), Some(_)) => self.set_beyond(text, APART),
            _ => memory::extend(&mut self.bytes, &word)?,
        }
        Ok(())
    }

    fn set_beyond(&mut self, text: &'a str, why: &'static str) {
        self.beyond = Some((self.bytes.len() / 8, text, why));
    }

    fn push_float(&mut self, text: &str, is_float: bool) -> Result<(), String> {
        if self.class != Class::Float {
            self.make_floats()?;
        }
        self.floats |= is_float;
        let value = parse::parse_f64(text).map_err(|m| describe(text, &Kind::Float64.into(), m))?;
        memory::extend(&mut self.bytes, &value.to_le_bytes())
    }

    /// Adds a float that has no digits.
    fn push_special(&mut self, name: &str) -> Result<(), String> {
        self.make_floats()?;
        self.floats = true;
        let mut item = [0; 8];
        parse::parse_special(name, &Kind::Float64.into(), &mut item);
        memory::extend(&mut self.bytes, &item)
    }

    /// Turns integers, and strings that stand for floats, into floats.
    pub(super) fn make_floats(&mut self) -> Result<(), String> {
        match self.class {
            Class::Float | Class::Empty => {}
            Class::Int => {
                // Where both were found, the later of the two is not among the items.
                let signed = match (self.negative, self.above) {
                    (Some((negative, _)), Some((above, _))) => negative < above,
                    (_, above) => above.is_none(),
                };
                for word in self.bytes.as_chunks_mut::<8>().0 {
                    let value =
                        if signed { i64::from_le_bytes(*word) as f64 } else { u64::from_le_bytes(*word) as f64 };
                    *word = value.to_le_bytes();
                }
                for at in std::mem::take(&mut self.minus_zeros) {
                    self.bytes[8 * at..][..8].copy_from_slice(&(-0.0_f64).to_le_bytes());
                }
            }
            Class::Str if !self.words => {
                self.floats = true;
                for raw in std::mem::take(&mut self.strings) {
                    let mut item = [0; 8];
                    parse::parse_special(raw.trim_matches('"'), &Kind::Float64.into(), &mut item);
                    memory::extend(&mut self.bytes, &item)?;
                }
            }
            Class::Bool | Class::Str => return Err(format!("{} are no floats", self.class.plural())),
        }
        self.class = Class::Float;
        Ok(())
    }
}

/// The dtype of all of them together.
pub(super) fn common_dtype(found: &[(&Values<'_>, Untyped<'_>, Nested)]) -> Result<DType, Error> {
    let words = found.iter().any(|(_, items, _)| items.words);
    let numbers = found.iter().any(|(_, items, _)| matches!(items.class, Class::Int | Class::Float));
    // Strings that stand for floats are floats among numbers.
    let class = |items: &Untyped<'_>| match items.class {
        Class::Int => Class::Float,
        Class::Str if numbers && !items.words && !words => Class::Float,
        class => class,
    };
    let mut first: Option<(Class, Class, Subject)> = None;
    for (one, items, _) in found.iter().filter(|(_, items, _)| items.class != Class::Empty) {
        match first {
            None => first = Some((class(items), items.class, one.subject)),
            Some((numeric, ..)) if numeric == class(items) => {}
            Some((_, other, subject)) => {
                let message = format!("{}, but {subject} holds {}", items.class.plural(), other.plural());
                return Err(one.error(message));
            }
        }
    }
    match first.map(|(class, ..)| class) {
        Some(Class::Bool) => return Ok(Kind::Bool.into()),
        Some(Class::Str) => {
            let longest =
                found.iter().flat_map(|(one, items, _)| items.strings.iter().map(|text| one.width(text))).max();
            return Ok(widen(&Kind::Str(0).into(), longest));
        }
        None => return Ok(Kind::Float64.into()),
        Some(_) => {}
    }
    let strings = found.iter().any(|(_, items, _)| items.class == Class::Str);
    if strings || found.iter().any(|(_, items, _)| items.floats) {
        return Ok(Kind::Float64.into());
    }
    let at = |(one, _, nested): &(&Values<'_>, Untyped<'_>, Nested), item: usize, text: &str, why: &str| {
        one.error_at(nested, item, format!("{} {why}", short(text)))
    };
    for one in found {
        if let Some((item, text, why)) = one.1.beyond {
            return Err(at(one, item, text, why));
        }
    }
    let above = found.iter().find_map(|one| one.1.above.map(|(item, text)| (one, item, text)));
    match above {
        Some((one, item, text)) if found.iter().any(|(_, items, _)| items.negative.is_some()) => {
            Err(at(one, item, text, APART))
        }
        Some(_) => Ok(Kind::UInt64.into()),
        None => Ok(Kind::Int64.into()),
    }
}
