//! Takes the attributes and inputs of a node for its operator.

use std::collections::BTreeMap;
use std::fmt;

use super::{Attributes, Node, NodeInput, PlanOperand, PlanResult, Planned, Stop};
use crate::error::{Error, ErrorKind, Result, Subject, counted};
use crate::item::dtype::{DType, Kind};
use crate::item::encoding::Conversion;
use crate::layout::axis::BeyondInt64;
use crate::ops::call::AttributeValue;
use crate::ops::indexed::append_integers;

pub(super) struct NodeArguments<'n> {
    node: &'n Node,
    attributes: Attributes,
    lists: BTreeMap<&'static str, Vec<i64>>,
    inputs: &'n [Option<NodeInput<'n>>],
    taken: usize,
}

/// An input whose items are known.
type Items<'n> = (&'n DType, &'n [usize], &'n [u8]);

impl<'n> NodeArguments<'n> {
    pub(super) fn new(node: &'n Node, inputs: &'n [Option<NodeInput<'n>>]) -> Self {
        let (attributes, lists) = (node.attributes.clone(), node.lists.clone().unwrap_or_default());
        Self { node, attributes, lists, inputs, taken: 0 }
    }

    pub(super) fn with_outputs(&self, count: usize) -> String {
        format!("{} with {}", self.node.operator, counted(count, "output", "outputs"))
    }

    pub(super) fn output(&self) -> Option<(usize, usize)> {
        self.node.output
    }

    fn is_given(&self) -> bool {
        self.inputs.get(self.taken).is_some_and(Option::is_some)
    }

    /// `None` if the input is omitted.
    pub(super) fn optional(&mut self) -> Option<usize> {
        let n = self.taken;
        let is_given = self.is_given();
        self.taken += 1;
        is_given.then_some(n)
    }

    pub(super) fn data(&mut self) -> PlanResult<Planned<'n>> {
        let data = self.optional().ok_or_else(|| missing("data"))?;
        Ok(Planned::of(vec![data], self.inputs))
    }

    /// All inputs from here on.
    pub(super) fn several(&mut self) -> PlanResult<Planned<'n>> {
        let mut data = Vec::new();
        while self.taken < self.inputs.len() || data.is_empty() {
            data.push(self.optional().ok_or_else(|| missing("data"))?);
        }
        Ok(Planned::of(data, self.inputs))
    }

    pub(super) fn gathered(&mut self) -> PlanResult<Planned<'n>> {
        let mut planned = self.data()?;
        let indices = self.optional().ok_or_else(|| missing("indices"))?;
        check_integers(&self.inputs[indices].expect("a given input").meta.dtype)?;
        planned.plan.indices = Some(PlanOperand::Input(indices));
        Ok(planned)
    }

    /// As [`gathered`](Self::gathered), for versions that count no index from the end.
    pub(super) fn gathered_from_start(&mut self) -> PlanResult<Planned<'n>> {
        let mut planned = self.gathered()?;
        planned.plan.counts_from_start = true;
        let n = self.taken - 1;
        if let Some(NodeInput { meta, items: Some(items) }) = self.inputs[n] {
            counts("indices", &integers_of(&meta.dtype, items, BeyondInt64::Clamped)?, 0)?;
        }
        Ok(planned)
    }

    pub(super) fn updates(&mut self) -> PlanResult<PlanOperand> {
        Ok(PlanOperand::Input(self.optional().ok_or_else(|| missing("updates"))?))
    }

    pub(super) fn shape_of(&self, operand: &Option<PlanOperand>) -> &'n [usize] {
        match operand {
            Some(PlanOperand::Input(n)) => &self.inputs[*n].expect("an input that was taken").meta.shape,
            Some(PlanOperand::Made(_)) | None => &[],
        }
    }

    /// An operand of one item.
    pub(super) fn scalar(&mut self, label: &'static str) -> PlanResult<Option<PlanOperand>> {
        let Some(n) = self.optional() else { return Ok(None) };
        match &self.inputs[n].expect("a given input").meta.shape[..] {
            [] => Ok(Some(PlanOperand::Input(n))),
            shape => refuse(format!("{label} has shape {shape:?}, expected a scalar")),
        }
    }

    pub(super) fn truths(&mut self, label: &'static str) -> PlanResult<Vec<bool>> {
        let (dtype, shape, items) = self.items()?.ok_or_else(|| missing(label))?;
        if *dtype.kind() != Kind::Bool || shape.len() != 1 {
            return refuse(format!(
                "{label} has dtype {} and shape {shape:?}, expected truth values along one axis",
                dtype.name()
            ));
        }
        Ok(items.iter().map(|&byte| byte != 0).collect())
    }

    fn items(&mut self) -> PlanResult<Option<Items<'n>>> {
        let Some(n) = self.optional() else { return Ok(None) };
        let input = self.inputs[n].expect("a given input");
        let items = input.items.ok_or(Stop::Unbound(n))?;
        Ok(Some((&input.meta.dtype, &input.meta.shape, items)))
    }

    /// Takes a scalar too if `least` is 0.
    fn integers(&mut self, label: &'static str, least: usize, beyond: BeyondInt64) -> PlanResult<Option<Vec<i64>>> {
        if self.node.lists.is_some() {
            return Ok(self.lists.remove(label));
        }
        let n = self.taken;
        if let Some(input) = self.inputs.get(n).copied().flatten() {
            check_integers(&input.meta.dtype)?;
            if !(least..=1).contains(&input.meta.shape.len()) {
                return refuse(format!("{label} has shape {:?}, expected one axis", input.meta.shape));
            }
        }
        let Some((dtype, _, items)) = self.items()? else { return Ok(None) };
        Ok(Some(integers_of(dtype, items, beyond)?))
    }

    pub(super) fn optional_list(&mut self, label: &'static str) -> PlanResult<Option<Vec<i64>>> {
        self.integers(label, 1, BeyondInt64::Refused)
    }

    pub(super) fn list(&mut self, label: &'static str) -> PlanResult<Vec<i64>> {
        Ok(self.optional_list(label)?.ok_or_else(|| missing(label))?)
    }

    /// May be a scalar.
    pub(super) fn optional_numbers(&mut self, label: &'static str) -> PlanResult<Option<Vec<i64>>> {
        self.integers(label, 0, BeyondInt64::Refused)
    }

    pub(super) fn numbers(&mut self, label: &'static str) -> PlanResult<Vec<i64>> {
        Ok(self.optional_numbers(label)?.ok_or_else(|| missing(label))?)
    }

    /// Bounds beyond int64 are clamped.
    pub(super) fn optional_bounds(&mut self, label: &'static str) -> PlanResult<Option<Vec<i64>>> {
        self.integers(label, 1, BeyondInt64::Clamped)
    }

    pub(super) fn bounds(&mut self, label: &'static str) -> PlanResult<Vec<i64>> {
        Ok(self.optional_bounds(label)?.ok_or_else(|| missing(label))?)
    }

    pub(super) fn number(&mut self, label: &'static str) -> PlanResult<i64> {
        match self.numbers(label)?[..] {
            [one] => Ok(one),
            ref other => refuse(format!("{label} has {} numbers, expected one", other.len())),
        }
    }

    /// The shape of the next input.
    pub(super) fn next_shape(&self) -> &'n [usize] {
        self.inputs.get(self.taken).copied().flatten().map_or(&[], |input| &input.meta.shape)
    }

    pub(super) fn int(&mut self, name: &str) -> PlanResult<Option<i64>> {
        self.attribute(name, "whole number", |value| if let AttributeValue::Int(it) = value { Some(it) } else { None })
    }

    pub(super) fn float(&mut self, name: &str) -> PlanResult<Option<f32>> {
        self.attribute(name, "number", |value| match value {
            AttributeValue::Int(it) => Some(it as f32),
            AttributeValue::Float(it) => Some(it),
            AttributeValue::Ints(_) | AttributeValue::Text(_) | AttributeValue::Other => None,
        })
    }

    /// The first entry is the default.
    pub(super) fn one_of<T: Copy>(&mut self, name: &'static str, known: &[(&str, T)]) -> PlanResult<T> {
        let Some(asked) = self.text(name)? else { return Ok(known[0].1) };
        match known.iter().find(|(of, _)| *of == asked) {
            Some((_, found)) => Ok(*found),
            None => Err(Error::new(Subject::Argument(name), format!("{asked:?} is unknown")).into()),
        }
    }

    pub(super) fn required<T: Copy>(&mut self, name: &'static str, known: &[(&str, T)]) -> PlanResult<T> {
        if !self.attributes.contains_key(name) {
            return Err(missing(name).into());
        }
        self.one_of(name, known)
    }

    pub(super) fn ints(&mut self, name: &str) -> PlanResult<Option<Vec<i64>>> {
        if let Some(list) = self.lists.remove(name) {
            return Ok(Some(list));
        }
        let ints = |value| if let AttributeValue::Ints(it) = value { Some(it) } else { None };
        self.attribute(name, "list of whole numbers", ints)
    }

    pub(super) fn text(&mut self, name: &str) -> PlanResult<Option<String>> {
        self.attribute(name, "string", |value| if let AttributeValue::Text(it) = value { Some(it) } else { None })
    }

    fn attribute<T>(&mut self, name: &str, kind: &str, get: fn(AttributeValue) -> Option<T>) -> PlanResult<Option<T>> {
        let Some(value) = self.attributes.remove(name) else { return Ok(None) };
        match get(value) {
            None => unsupported(format_args!("attribute {name} is not a {kind}")),
            got => Ok(got),
        }
    }

    pub(super) fn finish(self, has_outputs: bool) -> PlanResult<()> {
        if let Some(name) = self.attributes.keys().next() {
            return unsupported(format_args!("attribute {name}"));
        }
        if let Some(name) = self.lists.keys().next() {
            let Node { operator, version, .. } = self.node;
            let message = format!("{operator} has no {name} in opset {version}");
            return Err(Error::new(Subject::Argument(name), message).into());
        }
        if let Some((_, count)) = self.node.output.filter(|output| !has_outputs && *output != (0, 1)) {
            return unsupported(self.with_outputs(count));
        }
        match self.inputs.iter().skip(self.taken).flatten().count() {
            0 => Ok(()),
            _ => refuse(format!("{} inputs, expected {}", self.inputs.len(), self.taken)),
        }
    }
}

pub(super) fn unsupported<T>(what: impl fmt::Display) -> PlanResult<T> {
    Err(Error::from_kind(ErrorKind::Unsupported, what.to_string()).into())
}

pub(super) fn refuse<T>(message: impl Into<String>) -> PlanResult<T> {
    Err(Error::new(Subject::Argument("inputs"), message).into())
}

pub(super) fn missing(what: &'static str) -> Error {
    Error::new(Subject::Argument(what), "is missing")
}

fn integers_of(dtype: &DType, items: &[u8], beyond: BeyondInt64) -> Result<Vec<i64>> {
    let (mut native, mut list) = (items.to_vec(), Vec::new());
    Conversion::to_native(dtype).swap(&mut native);
    append_integers(dtype.kind(), &native, beyond, &mut list)?;
    Ok(list)
}

/// An empty index tensor must hold integers too.
fn check_integers(dtype: &DType) -> PlanResult<()> {
    match dtype.is_integer() {
        true => Ok(()),
        false => {
            let message = format!("dtype {}, expected an integer type", dtype.name());
            Err(Error::new(Subject::Indices, message).into())
        }
    }
}

pub(super) fn counts(name: &str, numbers: &[i64], least: i64) -> PlanResult<Vec<usize>> {
    match numbers.iter().find(|&&number| number < least) {
        Some(number) => refuse(format!("{name} has {number}, expected {least} or more")),
        None => Ok(numbers.iter().map(|&number| number as usize).collect()),
    }
}
