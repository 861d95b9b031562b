//! The operators of the specifications that move items, where a version has rules of its own or several calls do its work.
//!
//! A composition runs a call and takes its output as the data of the next; the last call is the case's.

use super::arguments::{CaseInputs, Made, refuse};
use crate::engine::job::Job;
use crate::error::{Context, Result};
use crate::item::tensor::Tensor;
use crate::layout::axis::resolve_axis;
use crate::memory;
use crate::ops::call::{Call, Operands};
use crate::ops::fill::{Fill, Limits};
use crate::ops::reshape::NewShape;
use crate::storage::source::Source;

/// The operands of an operator, and the operator with its arguments.
pub(super) type CaseCall = (Operands, Call);

/// Fills the whole output of an operator, window by window.
pub(super) fn run(fill: Box<dyn Fill>) -> Result<Tensor> {
    let job = Job::new(fill, Limits::default())?;
    let meta = job.meta().clone();
    let mut bytes = memory::of(meta.bytes()).context("output")?;
    job.stream(&|_| {}, &mut |items| {
        bytes.extend_from_slice(items);
        Ok(())
    })?;
    Tensor::new(meta.dtype, meta.shape, bytes)
}

/// Runs a call, and returns its output as the data of another.
pub(super) fn made(operands: Operands, call: &Call) -> Result<Source> {
    let output = run(call.link(operands, Limits::default())?)?;
    Ok(Source::memory(output, "output".to_owned()))
}

/// Returns the call that gives data of these dims unchanged.
pub(super) fn own_shape(dims: &[usize]) -> Call {
    Call::Reshape(NewShape::DimsWithZero(dims.iter().map(|&dim| i64::try_from(dim).unwrap_or(i64::MAX)).collect()))
}

/// Returns the axis that a number means in data of that rank.
pub(super) fn axis_of(axis: i64, rank: usize) -> Made<usize> {
    match resolve_axis(axis, rank) {
        Some(axis) => Ok(axis),
        None => refuse(format!("axis {axis} is outside [-{rank}, {rank} - 1]")),
    }
}

/// Returns numbers as counts of places.
pub(super) fn counts(name: &str, numbers: &[i64], least: i64) -> Made<Vec<usize>> {
    match numbers.iter().find(|&&number| number < least) {
        Some(number) => refuse(format!("{name} has {number}, expected {least} or more")),
        None => Ok(numbers.iter().map(|&number| number as usize).collect()),
    }
}

/// Returns another source of the same items.
pub(super) fn copied(data: &Source) -> Result<Source> {
    let bytes = data.as_bytes().expect("the inputs of a case are in memory");
    let mut items = memory::of(bytes.len())?;
    items.extend_from_slice(bytes);
    let copy = Tensor::new(data.dtype().clone(), data.shape().to_vec(), items)?;
    Ok(Source::memory(copy, data.label().to_owned()))
}

impl CaseInputs<'_> {
    /// GatherND-5, whose output has one axis in the place of those of the batches.
    pub(super) fn gather_nd_5(&mut self) -> Made<CaseCall> {
        let data = self.data()?;
        let indices = Some(self.indices("indices")?);
        let batch_dims = self.int("batch_dims")?.unwrap_or(0);
        let gathered = made(Operands { indices, ..data }, &Call::GatherNd { batch_dims })?;
        let batch_dims = usize::try_from(batch_dims).expect("a number of axes, or the operator refuses it");
        let (batches, rest) = gathered.shape().split_at(batch_dims);
        let merged = (batch_dims > 0).then(|| batches.iter().product());
        let dims: Vec<_> = merged.into_iter().chain(rest.iter().copied()).collect();
        Ok((gathered.into(), own_shape(&dims)))
    }
}
