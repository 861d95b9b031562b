//! Tensors to compare: text takes the dtype of the other file.

use super::open::Input;
use super::values::{self, Values};
use crate::error::{Error, ErrorKind, Result, Subject};
use crate::item::dtype::DType;
use crate::storage::source::Source;

/// A tensor, or text that needs a dtype.
#[derive(Debug)]
pub enum TensorOrText<'a> {
    Tensor(Source),
    Text {
        values: Values<'a>,
        /// The name in messages.
        label: String,
    },
}

impl<'a> TensorOrText<'a> {
    /// Returns a member; errors in text are about `subject`.
    ///
    /// # Errors
    /// The member is malformed or unreadable.
    pub fn new(input: &'a Input, n: usize, subject: Subject) -> Result<Self> {
        let values = input.reader().text().map(|text| text.values(subject)).transpose();
        match values.map_err(|error| named(error, input.label()))? {
            Some(values) if values.dtype().is_none() => Ok(Self::Text { values, label: input.label().to_owned() }),
            Some(_) | None => input.source(n).map(Self::Tensor),
        }
    }
}

fn named(error: Error, label: &str) -> Error {
    error.with_kind(ErrorKind::Malformed).about_file().within(label)
}

/// Returns a single tensor; text gets a dtype by content.
///
/// # Errors
/// The text is malformed.
pub fn typed(one: TensorOrText<'_>) -> Result<Source> {
    match one {
        TensorOrText::Tensor(tensor) => Ok(tensor),
        TensorOrText::Text { values, label } => {
            let tensor = values.infer().map_err(|error| named(error, &label))?;
            Ok(Source::inferred(tensor, label))
        }
    }
}

/// Returns both tensors. Text takes the other's dtype in native byte order; two texts get a common one.
///
/// # Errors
/// A text is malformed or does not fit the dtype.
pub fn typed_pair(pair: [TensorOrText<'_>; 2]) -> Result<[Source; 2]> {
    let read = |values: &Values<'_>, label: String, dtype: &DType| match values.read(dtype) {
        Ok(tensor) => Ok(Source::memory(tensor, label)),
        Err(error) => Err(named(error, &label)),
    };
    match pair {
        [TensorOrText::Tensor(one), TensorOrText::Tensor(other)] => Ok([one, other]),
        [TensorOrText::Tensor(one), TensorOrText::Text { values, label }] => {
            let other = read(&values, label, &one.dtype().native())?;
            Ok([one, other])
        }
        [TensorOrText::Text { values, label }, TensorOrText::Tensor(other)] => {
            Ok([read(&values, label, &other.dtype().native())?, other])
        }
        [TensorOrText::Text { values: one, label }, TensorOrText::Text { values: other, label: other_label }] => {
            let subject = other.subject;
            let tensors = values::infer(&[&one, &other]);
            let tensors = tensors.map_err(|error| {
                let label = if error.subject() == subject { &other_label } else { &label };
                named(error, label)
            });
            let mut tensors = tensors?.into_iter();
            let mut source = |label| Source::inferred(tensors.next().expect("a tensor for each text"), label);
            Ok([source(label), source(other_label)])
        }
    }
}
