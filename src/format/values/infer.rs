//! The tensors of texts that name no dtype.

use super::cells::Reading;
use super::leaf::Leaf;
use super::read::Values;
use super::strings::short;
use super::untyped::{Class, OUTSIDE, Untyped, common_dtype};
use crate::error::{Error, Result, malformed};
use crate::item::dtype::Kind;
use crate::item::parse::{self, Misfit};
use crate::item::tensor::Tensor;
use crate::layout::shape::MAX_RANK;
use crate::storage::source::Source;

/// Returns the tensors of values that belong to one command, which get a common dtype by their content: int64, uint64,
/// float64, bool or str. A value without items gets the dtype of the others, or float64 if there are none.
///
/// ```
/// use tensorop::{error::Subject, format::{json, values}, parallel::Threads};
/// let a = json::open(b"[1, 2]", Subject::Data, Threads::default()).unwrap();
/// let b = json::open(b"[0.5]", Subject::Updates, Threads::default()).unwrap();
/// assert_eq!(values::infer(&[&a, &b]).unwrap()[0].dtype().name(), "float64");
/// ```
///
/// # Errors
/// Items have different classes, no one dtype holds all integers, or lists are not rectangular.
pub fn infer(values: &[&Values<'_>]) -> Result<Vec<Tensor>, Error> {
    let mut found = Vec::new();
    for one in values {
        let mut items = Untyped::default();
        let nested = one.walk(MAX_RANK, Reading::Values, |leaf| items.push(leaf))?;
        found.push((*one, items, nested));
    }
    let dtype = common_dtype(&found)?;
    let tensors = found.into_iter().map(|(one, mut items, nested)| {
        match dtype.kind() {
            Kind::Float64 => items.make_floats().map_err(|m| one.error(m))?,
            Kind::Str(_) => items.bytes = one.pad(&items.strings, &dtype, &nested)?,
            _ => {}
        }
        one.tensor(dtype.clone(), items.bytes, nested.dims)
    });
    tensors.collect()
}

impl Values<'_> {
    /// Returns the tensor of one value, see [`infer`].
    ///
    /// # Errors
    /// See [`infer`].
    pub fn infer(&self) -> Result<Tensor, Error> {
        Ok(infer(&[self])?.pop().expect("a tensor for each value"))
    }

    /// Returns the tensor of integers of a value without a dtype: int64, or uint64 if one of them needs it. `[]` is
    /// int64. `2.0` and `1e3` are integers here.
    ///
    /// # Errors
    /// An item is not an integer; neither int64 nor uint64 holds all integers.
    pub fn infer_indices(&self) -> Result<Tensor, Error> {
        let mut items = Untyped::default();
        let nested = self.walk(MAX_RANK, Reading::Values, |leaf| match leaf {
            Leaf::Number(text) => match parse::parse_integer(text) {
                Ok(value) => {
                    items.class = Class::Int;
                    items.push_integer(value, text)?;
                    match items.beyond {
                        Some((_, _, why)) => Err(format!("{} {why}", short(text))),
                        None => Ok(()),
                    }
                }
                Err(Misfit::Fraction) => Err(format!("{} is not an integer", short(text))),
                Err(_) => Err(format!("{} {OUTSIDE}", short(text))),
            },
            leaf => Err(format!("{leaf}, expected an integer")),
        });
        let nested = nested?;
        let kind = if items.above.is_some() { Kind::UInt64 } else { Kind::Int64 };
        self.tensor(kind.into(), items.bytes, nested.dims)
    }
}

/// Returns the items of a text that no operand gives a dtype.
///
/// # Errors
/// See [`Values::read`] and [`infer`]; the errors name no operand.
pub(in crate::format) fn source(values: Result<Values<'_>>, label: String) -> Result<Source> {
    let tensor = values.and_then(|values| values.dtype().map_or_else(|| values.infer(), |dtype| values.read(dtype)));
    tensor.map(|tensor| Source::memory(tensor, label)).map_err(|error| {
        let refused = malformed!("{}", error.message());
        error.advice().map_or(refused.clone(), |advice| refused.advising(advice))
    })
}
