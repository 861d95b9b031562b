//! Tensors of open files, and their sources.
//!
//! Text without a dtype (plain JSON and CSV) takes the dtype of the tensors beside it, so the tensors of a command are
//! typed together.

use std::slice;
use std::sync::Arc;

use anyhow::{Result, anyhow};

use super::dtype_option::DTypeOption;
use crate::command::messages::{about_items, option_error, refusal};
use crate::error::{Error, Subject};
use crate::item::dtype::DType;
use crate::opening::input::Input;
use crate::storage::source::Source;
use crate::untyped::{self, Values};

#[derive(Clone)]
pub(crate) struct Member {
    pub input: Arc<Input>,
    /// Its number in the file.
    pub n: usize,
    /// Its name in messages.
    pub label: String,
}

impl Member {
    pub(crate) fn new(input: &Arc<Input>, n: usize) -> Self {
        Self { input: Arc::clone(input), n, label: input.label_of(input.name(n)) }
    }

    /// Messages name the tensor by its file, and by its own name only if the file holds several.
    pub(crate) fn from_input(input: Arc<Input>, n: usize) -> Self {
        // A Zarr array with arrays inside is one tensor, unless the arrays inside are wanted.
        let is_one_of_many = input.members().itself != Some(n) && input.name(1).is_some();
        let name = if is_one_of_many { input.name(n) } else { None };
        Self { n, label: input.label_of(name), input }
    }

    pub(crate) fn chosen(input: Arc<Input>) -> Result<Self> {
        Ok(Self::from_input(Arc::clone(&input), input.chosen()?))
    }

    pub(crate) fn name(&self) -> Option<&str> {
        self.input.name(self.n)
    }

    pub(crate) fn source(&self, asked: DTypeOption<'_>) -> Result<Source> {
        Ok(typed(slice::from_ref(self), asked)?.pop().expect("a source for each tensor"))
    }

    /// Accepts any integer dtype, and text without a dtype that holds only integers.
    pub(crate) fn integers(&self, label: &str) -> Result<Source> {
        let refuse = |error: Error| refusal(label, &error);
        let source = match self.input.members().text.as_ref().map(|text| text.values(Subject::Indices)) {
            None => self.input.source(self.n)?,
            Some(values) => {
                let values = values.map_err(refuse)?;
                let tensor = match values.dtype() {
                    Some(dtype) => values.read(dtype),
                    None => values.infer_indices(),
                };
                Source::memory(tensor.map_err(refuse)?, label.to_owned())
            }
        };
        if !source.dtype().is_integer() {
            let message = format!("{label}: dtype {}, expected integers", source.dtype().name());
            return Err(anyhow!(about_items(message, source.dtype())));
        }
        Ok(source)
    }
}

/// Makes sources of tensors. Plain JSON or CSV takes the dtype of `--dtype`, else the dtype of the first tensor that
/// has one, else the dtype inferred from all texts. It does not take the byte order of another file.
pub(crate) fn typed(members: &[Member], asked: DTypeOption<'_>) -> Result<Vec<Source>> {
    let refuse = |error: Error| match error.subject() {
        Subject::Operand(n) => error.about_file().within(members[n].input.label()).into(),
        _ => option_error(error),
    };
    let text = |values: &Values<'_>, dtype: &DType, label: &str, widens: bool| -> Result<Source> {
        let tensor = if widens { values.read_widening(dtype) } else { values.read(dtype) };
        Ok(Source::with_free_width(tensor.map_err(refuse)?, label.to_owned()))
    };
    let (mut sources, mut plain) = (Vec::with_capacity(members.len()), Vec::new());
    for (n, Member { input, n: number, label }) in members.iter().enumerate() {
        let values =
            input.members().text.as_ref().map(|text| text.values(Subject::Operand(n))).transpose().map_err(refuse)?;
        sources.push(match values {
            None => {
                let source = input.source_as(*number, label.clone())?;
                let blocks = if asked.is_bytes() { source.blocks() } else { None };
                Some(blocks.unwrap_or(source))
            }
            Some(values) => match values.dtype() {
                Some(dtype) => Some(text(&values, dtype, label, false)?),
                None => {
                    plain.push(values);
                    None
                }
            },
        });
    }
    if !asked.is_asked() && plain.len() == members.len() {
        let inferred = untyped::infer(&plain.iter().collect::<Vec<_>>()).map_err(refuse)?.into_iter().zip(members);
        return Ok(inferred.map(|(items, member)| Source::inferred(items, member.label.clone())).collect());
    }
    let beside_clear = sources.iter().flatten().any(|source| asked.is_clear(source.dtype()));
    let mut known: Option<DType> = None;
    for (source, Member { input, label, .. }) in sources.iter_mut().zip(members) {
        if let Some(source) = source {
            let stored = asked.read(source.dtype(), source.label(), beside_clear)?;
            stored.give(source, input.is_edited).map_err(|error| match error.subject() {
                Subject::Dtype => refusal(label, &error),
                _ => error.into(),
            })?;
            known.get_or_insert_with(|| source.dtype().native());
        }
    }
    // Strings in a text have the width of --dtype, or else a free width, which the operator checks.
    let widens = !asked.is_asked();
    let mut plain = plain.iter();
    let source = |(source, Member { label, .. }): (Option<Source>, &Member)| {
        if let Some(source) = source {
            return Ok(source);
        }
        let dtype = asked.plain_dtype(known.clone(), label).expect("a requested dtype, or that of another");
        let source = text(plain.next().expect("values for each text"), &dtype, label, widens)?;
        known.get_or_insert_with(|| source.dtype().native());
        Ok(source)
    };
    sources.into_iter().zip(members).map(source).collect()
}
