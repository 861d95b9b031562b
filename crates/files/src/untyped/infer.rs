//! Infers the common dtype of a command's operands in plain JSON or tables.
//!
//! | items | dtype |
//! | --- | --- |
//! | none | float64 |
//! | bools | bool |
//! | strings | str, as wide as the longest |
//! | integers within int64 | int64 |
//! | integers within uint64, some beyond int64 and none negative | uint64 |
//! | other integers | an error about the first misfit |
//! | floats (a point, an exponent, NaN, Infinity, or `"NaN"` among numbers), or also integers | float64 |
//! | other mixtures, or null | an error |
//!
//! Items are read once. Integers become floats at the first float or misfit.

use super::cells::Reading;
use super::item::{describe, widen};
use super::lists::{Leaf, Nested, short};
use super::{Unparsed, Values};
use crate::storage::source::Source;
use tensorop_kernels::error::{Advice, Error, ErrorKind, Result, Subject};
use tensorop_kernels::item::dtype::{DType, Kind};
use tensorop_kernels::item::parse::{self, Misfit};
use tensorop_kernels::item::tensor::Tensor;
use tensorop_kernels::layout::axis::MAX_RANK;
use tensorop_kernels::memory;

pub(crate) const OUTSIDE: &str = "is beyond int64 and uint64";
/// For an integer above int64 beside negative ones.
const APART: &str = "is beyond int64, and others are negative";

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum InferredType {
    #[default]
    Empty,
    Int,
    Float,
    Bool,
    Str,
}

impl InferredType {
    fn plural(self) -> &'static str {
        match self {
            Self::Empty => "no items",
            Self::Int => "integers",
            Self::Float => "floats",
            Self::Bool => "bools",
            Self::Str => "strings",
        }
    }
}

pub(crate) struct UntypedOperand<'a> {
    pub(crate) values: &'a Values<'a>,
    pub(crate) items: Untyped<'a>,
    pub(crate) nested: Nested,
}

impl<'a> UntypedOperand<'a> {
    pub(crate) fn read(values: &'a Values<'a>) -> Result<Self> {
        let mut items = Untyped::default();
        let nested = values.walk(MAX_RANK, Reading::Values, |leaf| items.push(leaf))?;
        if let (InferredType::Str, Some(error)) = (items.class, values.undivided()) {
            return Err(error);
        }
        Ok(Self { values, items, nested })
    }

    fn refuse(&self, item: usize, text: &str, why: &str) -> Error {
        self.values.error_at(&self.nested, item, format!("{} {why}", short(text)))
    }
}

/// In `bytes` a number takes 8 bytes and a bool one.
#[derive(Default)]
pub(crate) struct Untyped<'a> {
    pub(crate) class: InferredType,
    pub(crate) bytes: Vec<u8>,
    pub(crate) strings: Vec<&'a str>,
    /// Whether a string does not name a float such as `"NaN"`.
    words: bool,
    /// The first one: its item number and text.
    negative: Option<(usize, &'a str)>,
    /// The first integer above int64.
    pub(crate) above: Option<(usize, &'a str)>,
    /// The first misfit and the message. All integers then become floats, which is an error unless there are other
    /// floats.
    pub(crate) beyond: Option<(usize, &'a str, &'static str)>,
    floats: bool,
    /// As floats, items written `-0` keep the sign.
    minus_zeros: Vec<usize>,
}

impl<'a> Untyped<'a> {
    pub(crate) fn push(&mut self, leaf: Leaf<'a>) -> Result<(), String> {
        match leaf {
            Leaf::Number(_) if self.words || self.class == InferredType::Bool => self.enter(InferredType::Int, leaf),
            Leaf::Number(text) => {
                // After the first float, all numbers are float64s.
                let float = (self.class == InferredType::Float && self.floats)
                    || text.bytes().any(|b| matches!(b, b'.' | b'e' | b'E'));
                if float || self.class == InferredType::Float {
                    self.push_float(text, float)
                } else if self.class == InferredType::Str {
                    self.make_floats()?;
                    self.push_float(text, true)
                } else {
                    self.enter(InferredType::Int, leaf)?;
                    match parse::parse_integer(text) {
                        Ok(value) => self.push_integer(value, text)?,
                        Err(_) => self.set_beyond(text, OUTSIDE),
                    }
                    if self.beyond.is_some() { self.push_float(text, false) } else { Ok(()) }
                }
            }
            Leaf::Str(raw) => {
                let special = parse::is_special(raw.trim_matches('"'));
                if special && matches!(self.class, InferredType::Int | InferredType::Float) {
                    return self.push_special(raw.trim_matches('"'));
                }
                self.enter(InferredType::Str, leaf)?;
                self.words |= !special;
                Ok(memory::push(&mut self.strings, raw)?)
            }
            Leaf::Text(text) => {
                self.enter(InferredType::Str, leaf)?;
                self.words = true;
                Ok(memory::push(&mut self.strings, text)?)
            }
            Leaf::Special(_) if self.words || self.class == InferredType::Bool => self.enter(InferredType::Float, leaf),
            Leaf::Special(name) => self.push_special(name),
            Leaf::Bool(value) => {
                self.enter(InferredType::Bool, leaf)?;
                Ok(memory::push(&mut self.bytes, value.into())?)
            }
            Leaf::Null => Err(leaf.to_string()),
        }
    }

    fn enter(&mut self, class: InferredType, leaf: Leaf<'a>) -> Result<(), String> {
        if self.class == InferredType::Empty {
            self.class = class;
        }
        if self.class == class { Ok(()) } else { Err(format!("{leaf}, among {}", self.class.plural())) }
    }

    /// A misfit is only recorded.
    pub(crate) fn push_integer(&mut self, value: i128, text: &'a str) -> Result<(), String> {
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
        if self.class != InferredType::Float {
            self.make_floats()?;
        }
        self.floats |= is_float;
        let value = parse::parse_f64(text).map_err(|m| describe(text, &Kind::Float64.into(), m))?;
        Ok(memory::extend(&mut self.bytes, &value.to_le_bytes())?)
    }

    fn push_special(&mut self, name: &str) -> Result<(), String> {
        self.make_floats()?;
        self.floats = true;
        let mut item = [0; 8];
        parse::parse_special(name, &Kind::Float64.into(), &mut item);
        Ok(memory::extend(&mut self.bytes, &item)?)
    }

    /// Converts integers, and strings that name floats.
    pub(crate) fn make_floats(&mut self) -> Result<(), String> {
        match self.class {
            InferredType::Float | InferredType::Empty => {}
            InferredType::Int => {
                // If both exist, the later one is not among the items.
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
            InferredType::Str if !self.words => {
                self.class = InferredType::Float;
                let specials = std::mem::take(&mut self.strings);
                specials.into_iter().try_for_each(|raw| self.push_special(raw.trim_matches('"')))?;
            }
            InferredType::Bool | InferredType::Str => return Err(format!("{} are not floats", self.class.plural())),
        }
        self.class = InferredType::Float;
        Ok(())
    }
}

pub(crate) fn common_dtype(operands: &[UntypedOperand<'_>]) -> Result<DType> {
    let any = |is: &dyn Fn(&Untyped<'_>) -> bool| operands.iter().any(|one| is(&one.items));
    let words = any(&|items| items.words);
    let numbers = any(&|items| matches!(items.class, InferredType::Int | InferredType::Float));
    // Among numbers, strings that name floats are floats.
    let class = |one: &UntypedOperand<'_>| match one.items.class {
        InferredType::Int => InferredType::Float,
        InferredType::Str if numbers && !words => InferredType::Float,
        class => class,
    };
    let mut others = operands.iter().filter(|one| one.items.class != InferredType::Empty);
    let Some(first) = others.next() else { return Ok(Kind::Float64.into()) };
    if let Some(other) = others.find(|other| class(other) != class(first)) {
        let (other, found) = (other.values, other.items.class.plural());
        let subject = match first.values.subject {
            // its number says nothing to a user
            Subject::Operand(_) => "an operand before it".to_owned(),
            subject => subject.to_string(),
        };
        return Err(other.error(format!("{found}, but {subject} holds {}", first.items.class.plural())));
    }
    match class(first) {
        InferredType::Bool => return Ok(Kind::Bool.into()),
        InferredType::Str => {
            let widths = operands.iter().flat_map(|one| one.items.strings.iter().map(|text| one.values.width(text)));
            return Ok(widen(&Kind::Str(0).into(), widths.max()));
        }
        InferredType::Empty | InferredType::Int | InferredType::Float => {}
    }
    if any(&|items| items.class == InferredType::Str || items.floats) {
        return Ok(Kind::Float64.into());
    }
    if let Some((one, (item, text, why))) = operands.iter().find_map(|one| Some((one, one.items.beyond?))) {
        return Err(one.refuse(item, text, why));
    }
    match operands.iter().find_map(|one| Some((one, one.items.above?))) {
        Some((one, (item, text))) if any(&|items| items.negative.is_some()) => Err(one.refuse(item, text, APART)),
        Some(_) => Ok(Kind::UInt64.into()),
        None => Ok(Kind::Int64.into()),
    }
}

/// Returns the operands of a command in the common dtype of their items: int64, uint64, float64, bool or str.
///
/// ```
/// use tensorop_files::{error::Subject, internal::{formats::json, untyped}, parallel::Threads};
/// let a = json::open(b"[1, 2]", Subject::Data, Threads::default()).unwrap();
/// let b = json::open(b"[0.5]", Subject::Updates, Threads::default()).unwrap();
/// assert_eq!(untyped::infer(&[&a, &b]).unwrap()[0].dtype().name(), "float64");
/// ```
///
/// # Errors
/// Items have no common dtype, or lists are not rectangular.
pub fn infer(values: &[&Values<'_>]) -> Result<Vec<Tensor>> {
    // Strings of a table may look like bools and numbers.
    let has_cells = values.iter().any(|one| matches!(one.items, Unparsed::Cells(_)));
    let advised = |error: Error| match error.advice() {
        None if has_cells => error.advising(Advice::ReadStrings { skip: 0 }),
        _ => error,
    };
    let found = values.iter().map(|one| UntypedOperand::read(one)).collect::<Result<Vec<_>>>().map_err(advised)?;
    let dtype = common_dtype(&found).map_err(advised)?;
    let tensors = found.into_iter().map(|UntypedOperand { values, mut items, nested }| {
        match dtype.kind() {
            Kind::Float64 => items.make_floats().map_err(|m| values.error(m))?,
            Kind::Str(_) => items.bytes = values.pad(&items.strings, &dtype, &nested)?,
            _ => {}
        }
        values.tensor(dtype.clone(), items.bytes, nested.dims)
    });
    tensors.collect()
}

impl Values<'_> {
    /// Infers the dtype of one operand, as [`infer`] does.
    ///
    /// # Errors
    /// Items have no common dtype, or lists are not rectangular.
    pub fn infer(&self) -> Result<Tensor> {
        Ok(infer(&[self])?.pop().expect("a tensor for each value"))
    }

    /// Returns int64, or uint64 if needed. `2.0` and `1e3` are integers.
    ///
    /// # Errors
    /// An item is not an integer, or no dtype holds all.
    pub fn infer_indices(&self) -> Result<Tensor> {
        let mut items = Untyped::default();
        let nested = self.walk(MAX_RANK, Reading::Values, |leaf| {
            let Leaf::Number(text) = leaf else { return Err(format!("{leaf}, expected an integer")) };
            let why = match parse::parse_integer(text) {
                Ok(value) => {
                    items.push_integer(value, text)?;
                    items.beyond.map(|(_, _, why)| why)
                }
                Err(Misfit::Fraction) => Some("is not an integer"),
                Err(_) => Some(OUTSIDE),
            };
            why.map_or(Ok(()), |why| Err(format!("{} {why}", short(text))))
        })?;
        let kind = if items.above.is_some() { Kind::UInt64 } else { Kind::Int64 };
        self.tensor(kind.into(), items.bytes, nested.dims)
    }
}

/// Errors name no operand.
pub(crate) fn source(values: Result<Values<'_>>, label: String) -> Result<Source> {
    let tensor = values.and_then(|values| values.dtype().map_or_else(|| values.infer(), |dtype| values.read(dtype)));
    tensor
        .map(|tensor| Source::with_free_width(tensor, label))
        .map_err(|error| error.with_kind(ErrorKind::Malformed).about_file())
}
