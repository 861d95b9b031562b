//! Tensors of texts without a dtype.

use super::cells::Reading;
use super::leaf::Leaf;
use super::read::{Unparsed, Values};
use super::strings::short;
use super::untyped::{OUTSIDE, Untyped, UntypedOperand, common_dtype};
use crate::error::{Advice, Error, ErrorKind, Result};
use crate::item::dtype::Kind;
use crate::item::parse::{self, Misfit};
use crate::item::tensor::Tensor;
use crate::layout::shape::MAX_RANK;
use crate::storage::source::Source;

/// Returns the operands of a command in the common dtype of their items: int64, uint64, float64, bool or str.
///
/// ```
/// use tensorop_files::{error::Subject, format::{json, values}, parallel::Threads};
/// let a = json::open(b"[1, 2]", Subject::Data, Threads::default()).unwrap();
/// let b = json::open(b"[0.5]", Subject::Updates, Threads::default()).unwrap();
/// assert_eq!(values::infer(&[&a, &b]).unwrap()[0].dtype().name(), "float64");
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
pub(in crate::format) fn source(values: Result<Values<'_>>, label: String) -> Result<Source> {
    let tensor = values.and_then(|values| values.dtype().map_or_else(|| values.infer(), |dtype| values.read(dtype)));
    tensor
        .map(|tensor| Source::with_free_width(tensor, label))
        .map_err(|error| error.with_kind(ErrorKind::Malformed).about_file())
}
