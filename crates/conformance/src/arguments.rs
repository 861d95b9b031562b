//! Takes the attributes and inputs of a case for its operator.

use std::fmt;

use super::case::{Attributes, Case, CaseInput};
use crate::error::{Error, Result, Subject};
use crate::item::dtype::Kind;
use crate::item::tensor::Tensor;
use crate::layout::axis::BeyondInt64;
use crate::ops::call::AttributeValue;
use crate::storage::source::Source;
use tensorop_files::internal::operators::call::Operands;
use tensorop_files::internal::operators::indexed::all_integers;

#[derive(Debug)]
pub enum NoOutput {
    Refused(Error),
    Unsupported(String),
}

impl From<Error> for NoOutput {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

pub type CaseResult<T> = Result<T, NoOutput>;

pub(super) struct CaseInputs<'c> {
    attributes: Attributes,
    inputs: Vec<Option<&'c CaseInput>>,
    taken: usize,
    output_count: usize,
}

impl<'c> CaseInputs<'c> {
    pub(super) fn of(case: &'c Case) -> Self {
        let inputs = case.inputs.iter().map(|input| match input {
            CaseInput::Absent => None,
            CaseInput::Tensor(_) | CaseInput::Sequence(_) => Some(input),
        });
        let (attributes, output_count) = (case.attributes.clone(), case.operator_outputs);
        Self { attributes, inputs: inputs.collect(), taken: 0, output_count }
    }

    pub(super) fn output_count(&self) -> usize {
        self.output_count
    }

    pub(super) fn has_more(&self) -> bool {
        self.taken < self.inputs.len()
    }

    /// `None` if the input is omitted. Messages call it `label`.
    pub(super) fn optional(&mut self, label: &'static str) -> CaseResult<Option<Source>> {
        let input = self.inputs.get(self.taken).copied().flatten();
        self.taken += 1;
        match input {
            None => Ok(None),
            Some(CaseInput::Tensor(tensor)) => Ok(Some(Source::with_free_width(tensor.try_clone()?, label.to_owned()))),
            Some(CaseInput::Absent | CaseInput::Sequence(_)) => unsupported(format_args!("a sequence as {label}")),
        }
    }

    pub(super) fn tensor(&mut self, label: &'static str) -> CaseResult<Source> {
        Ok(self.optional(label)?.ok_or_else(|| missing(label))?)
    }

    pub(super) fn data(&mut self) -> CaseResult<Operands> {
        Ok(self.tensor("data")?.into())
    }

    pub(super) fn truths(&mut self, label: &'static str) -> CaseResult<Vec<bool>> {
        let input = self.inputs.get(self.taken).copied().flatten();
        self.taken += 1;
        let Some(CaseInput::Tensor(tensor)) = input else { return Err(missing(label).into()) };
        if *tensor.dtype().kind() != Kind::Bool || tensor.shape().len() != 1 {
            let (dtype, shape) = (tensor.dtype().name(), tensor.shape());
            return refuse(format!(
                "{label} has dtype {dtype} and shape {shape:?}, expected truth values along one axis"
            ));
        }
        Ok(tensor.bytes().iter().map(|&byte| byte != 0).collect())
    }

    pub(super) fn indices(&mut self, label: &'static str) -> CaseResult<Source> {
        Ok(check_integers(self.tensor(label)?)?)
    }

    pub(super) fn sequence(&mut self, label: &'static str) -> CaseResult<Vec<Source>> {
        let input = self.inputs.get(self.taken).copied().flatten();
        self.taken += 1;
        let tensors = match input {
            Some(CaseInput::Sequence(tensors)) => tensors,
            Some(CaseInput::Absent | CaseInput::Tensor(_)) => {
                return unsupported(format_args!("a tensor as {label}"));
            }
            None => return Err(missing(label).into()),
        };
        let source = |tensor: &Tensor| Ok(Source::with_free_width(tensor.try_clone()?, label.to_owned()));
        tensors.iter().map(source).collect()
    }

    pub(super) fn optional_list(&mut self, label: &'static str) -> CaseResult<Option<Vec<i64>>> {
        let Some(source) = self.optional(label)? else { return Ok(None) };
        Ok(Some(list_of(source, 1)?))
    }

    /// Bounds beyond int64 are clamped.
    pub(super) fn optional_bounds(&mut self, label: &'static str) -> CaseResult<Option<Vec<i64>>> {
        let Some(source) = self.optional(label)? else { return Ok(None) };
        Ok(Some(integers_of(source, 1, BeyondInt64::Clamped)?))
    }

    pub(super) fn bounds(&mut self, label: &'static str) -> CaseResult<Vec<i64>> {
        Ok(self.optional_bounds(label)?.ok_or_else(|| missing(label))?)
    }

    pub(super) fn list(&mut self, label: &'static str) -> CaseResult<Vec<i64>> {
        Ok(self.optional_list(label)?.ok_or_else(|| missing(label))?)
    }

    pub(super) fn number(&mut self, label: &'static str) -> CaseResult<i64> {
        match list_of(self.tensor(label)?, 0)?[..] {
            [one] => Ok(one),
            ref other => {
                let message = format!("{label} has {} numbers, expected one", other.len());
                Err(Error::new(Subject::Argument("inputs"), message).into())
            }
        }
    }

    pub(super) fn int(&mut self, name: &str) -> CaseResult<Option<i64>> {
        self.attribute(name, "whole number", |value| if let AttributeValue::Int(it) = value { Some(it) } else { None })
    }

    pub(super) fn float(&mut self, name: &str) -> CaseResult<Option<f32>> {
        self.attribute(name, "number", |value| match value {
            AttributeValue::Int(it) => Some(it as f32),
            AttributeValue::Float(it) => Some(it),
            AttributeValue::Ints(_) | AttributeValue::Text(_) | AttributeValue::Other => None,
        })
    }

    /// The first entry is the default.
    pub(super) fn one_of<T: Copy>(&mut self, name: &'static str, known: &[(&str, T)]) -> CaseResult<T> {
        let Some(asked) = self.text(name)? else { return Ok(known[0].1) };
        match known.iter().find(|(of, _)| *of == asked) {
            Some((_, found)) => Ok(*found),
            None => Err(Error::new(Subject::Argument(name), format!("{asked:?} is unknown")).into()),
        }
    }

    pub(super) fn required<T: Copy>(&mut self, name: &'static str, known: &[(&str, T)]) -> CaseResult<T> {
        if !self.attributes.contains_key(name) {
            return Err(missing(name).into());
        }
        self.one_of(name, known)
    }

    pub(super) fn ints(&mut self, name: &str) -> CaseResult<Option<Vec<i64>>> {
        let ints = |value| if let AttributeValue::Ints(it) = value { Some(it) } else { None };
        self.attribute(name, "list of whole numbers", ints)
    }

    pub(super) fn text(&mut self, name: &str) -> CaseResult<Option<String>> {
        self.attribute(name, "string", |value| if let AttributeValue::Text(it) = value { Some(it) } else { None })
    }

    fn attribute<T>(&mut self, name: &str, what: &str, get: fn(AttributeValue) -> Option<T>) -> CaseResult<Option<T>> {
        let Some(value) = self.attributes.remove(name) else { return Ok(None) };
        match get(value) {
            None => unsupported(format_args!("attribute {name} is not a {what}")),
            got => Ok(got),
        }
    }

    pub(super) fn finish(self) -> CaseResult<()> {
        if let Some(name) = self.attributes.keys().next() {
            return unsupported(format_args!("attribute {name}"));
        }
        match self.inputs.iter().skip(self.taken).flatten().count() {
            0 => Ok(()),
            _ => refuse(format!("{} inputs, expected {}", self.inputs.len(), self.taken)),
        }
    }
}

pub(super) fn unsupported<T>(what: impl fmt::Display) -> CaseResult<T> {
    Err(NoOutput::Unsupported(what.to_string()))
}

pub(super) fn refuse<T>(message: impl Into<String>) -> CaseResult<T> {
    Err(Error::new(Subject::Argument("inputs"), message).into())
}

pub(super) fn missing(what: &'static str) -> Error {
    Error::new(Subject::Argument(what), "is missing")
}

/// Also takes a scalar if `least` is 0.
pub(super) fn list_of(source: Source, least: usize) -> Result<Vec<i64>> {
    integers_of(source, least, BeyondInt64::Refused)
}

fn integers_of(source: Source, least: usize, beyond: BeyondInt64) -> Result<Vec<i64>> {
    let source = check_integers(source)?;
    if !(least..=1).contains(&source.shape().len()) {
        let message = format!("{} has shape {:?}, expected one axis", source.label(), source.shape());
        return Err(Error::new(Subject::Argument("inputs"), message));
    }
    all_integers(&source, beyond)
}

/// An empty index tensor must hold integers too.
pub(super) fn check_integers(source: Source) -> Result<Source> {
    match source.dtype().is_integer() {
        true => Ok(source),
        false => {
            let message = format!("dtype {}, expected integers", source.dtype().name());
            Err(Error::new(Subject::Indices, message))
        }
    }
}
