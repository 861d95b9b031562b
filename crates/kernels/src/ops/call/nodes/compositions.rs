//! Operators that need several calls or have rules of their own. A composition runs a call and passes its output to the
//! next.

use super::arguments::{NodeArguments, counts, refuse};
use super::{PlanOperand, PlanResult, Planned};
use crate::error::{Context, Result};
use crate::item::dtype::DType;
use crate::item::tensor::Tensor;
use crate::layout::axis::{StepRange, resolve_axis};
use crate::memory;
use crate::ops::call::Call;
use crate::ops::indexed::OutOfRange;
use crate::ops::operators::pad::PadMode;
use crate::ops::operators::reshape::NewShape;
use crate::ops::slice::SliceArgs;

pub(super) fn own_shape(dims: &[usize]) -> Call {
    Call::Reshape(NewShape::DimsWithZero(dims.iter().map(|&dim| i64::try_from(dim).unwrap_or(i64::MAX)).collect()))
}

/// Reshapes to `dims`, transposes, and reshapes to `to`.
pub(super) fn rearranged<'n>(
    data: Planned<'n>,
    dims: &[usize],
    axes: Vec<usize>,
    to: &[usize],
) -> PlanResult<Planned<'n>> {
    let axes = Some(axes.into_iter().map(|axis| axis as i64).collect());
    data.reshaped(dims)?.then(&Call::Transpose { axes })?.reshaped(to)
}

pub(super) fn axis_of(axis: i64, rank: usize) -> PlanResult<usize> {
    match resolve_axis(axis, rank) {
        Some(axis) => Ok(axis),
        None => refuse(format!("axis {axis} is outside [-{rank}, {rank} - 1]")),
    }
}

enum SliceEntry {
    Range(StepRange),
    /// One place of an axis, which is removed.
    Place(i64),
    NewAxis,
    Ellipsis,
}

impl<'n> NodeArguments<'n> {
    /// A slice with ONNX's clamping, then a reshape for new and removed axes.
    pub(super) fn strided_slice(&mut self) -> PlanResult<Planned<'n>> {
        let (data, entries) = (self.data()?, self.entries()?);
        let (shape, count) =
            (data.shape(), |of: fn(&SliceEntry) -> bool| entries.iter().filter(|entry| of(entry)).count());
        let taken = count(|entry| matches!(entry, SliceEntry::Range(_) | SliceEntry::Place(_)));
        let ellipses = count(|entry| matches!(entry, SliceEntry::Ellipsis));
        let is_plain = entries.iter().all(|entry| matches!(entry, SliceEntry::Range(_)));
        let skipped = shape.len().checked_sub(taken).filter(|skipped| *skipped == 0 || !is_plain);
        let (Some(skipped), 0 | 1) = (skipped, ellipses) else {
            return refuse(format!("{taken} entries and {ellipses} ellipses for data {shape:?}"));
        };
        let (mut slices, mut kept, mut axis) = (SliceArgs::default(), Vec::new(), 0);
        for entry in entries {
            axis += match entry {
                SliceEntry::NewAxis => {
                    kept.push(None);
                    0
                }
                SliceEntry::Ellipsis => {
                    kept.extend((axis..axis + skipped).map(Some));
                    skipped
                }
                SliceEntry::Range(range) => {
                    kept.push(Some(axis));
                    slices = slices.axis(axis as i64, range);
                    1
                }
                SliceEntry::Place(place) => {
                    let place = axis_of(place, shape[axis])? as i64;
                    slices = slices.axis(axis as i64, place..place + 1);
                    1
                }
            };
        }
        kept.extend((axis..shape.len()).map(Some));
        let call = if shape.is_empty() { own_shape(&[]) } else { Call::Slice(slices.clamped_as_onnx()) };
        let cut = data.then(&call)?;
        let dims: Vec<_> = kept.iter().map(|axis| axis.map_or(1, |axis: usize| cut.shape()[axis])).collect();
        cut.reshaped(&dims)
    }

    fn entries(&mut self) -> PlanResult<Vec<SliceEntry>> {
        let (begin, end) = (self.bounds("begin")?, self.bounds("end")?);
        let stride = self.optional_bounds("stride")?.unwrap_or_else(|| vec![1; begin.len()]);
        if [end.len(), stride.len()] != [begin.len(); 2] {
            return refuse(format!("{begin:?}, {end:?} and {stride:?}, expected as many numbers"));
        }
        let mut mask = |name| self.ints(name).map(Option::unwrap_or_default);
        let [first, last] = [mask("begin_mask")?, mask("end_mask")?];
        let [new_axis, shrink, ellipsis] = [mask("new_axis_mask")?, mask("shrink_axis_mask")?, mask("ellipsis_mask")?];
        let entry = |n: usize| {
            let is_set = |mask: &[i64]| mask.get(n).is_some_and(|&bit| bit != 0);
            let start = (!is_set(&first)).then_some(begin[n]);
            Ok(match () {
                () if is_set(&ellipsis) => SliceEntry::Ellipsis,
                () if is_set(&new_axis) => SliceEntry::NewAxis,
                () if is_set(&shrink) && begin[n] != end[n] => {
                    return refuse(format!("an axis shrinks to {}, and ends at {}", begin[n], end[n]));
                }
                () if is_set(&shrink) => SliceEntry::Place(start.unwrap_or(0)),
                () => SliceEntry::Range(StepRange { start, stop: (!is_set(&last)).then_some(end[n]), step: stride[n] }),
            })
        };
        (0..begin.len()).map(entry).collect()
    }

    pub(super) fn reverse(&mut self) -> PlanResult<Planned<'n>> {
        let data = self.data()?;
        let rank = data.shape().len();
        let mut axes = match self.text("mode")?.as_deref() {
            Some("index") => {
                let axes = self.list("axis")?;
                axes.into_iter().map(|axis| axis_of(axis, rank)).collect::<PlanResult<Vec<_>>>()?
            }
            Some("mask") => {
                let mask = self.truths("axis")?;
                if mask.len() != rank {
                    return refuse(format!("a mask of {} for data {:?}", mask.len(), data.shape()));
                }
                (0..rank).filter(|&axis| mask[axis]).collect()
            }
            mode => return refuse(format!("mode {mode:?}, expected index or mask")),
        };
        axes.sort_unstable();
        axes.dedup();
        let backward = StepRange { start: None, stop: None, step: -1 };
        let slices = axes.iter().fold(SliceArgs::default(), |slices, &axis| slices.axis(axis as i64, backward));
        let call = if axes.is_empty() { own_shape(data.shape()) } else { Call::Slice(slices) };
        data.then(&call)
    }

    pub(super) fn reverse_sequence(&mut self, axes: [i64; 2], least: i64) -> PlanResult<Planned<'n>> {
        let (mut data, lengths) = (self.data()?, self.list("sequence_lens")?);
        let shape = data.shape().to_vec();
        let [batch_axis, axis] = axes.map(|axis| axis_of(axis, shape.len()));
        let (batch_axis, axis) = (batch_axis?, axis?);
        let dim = shape[axis] as i64;
        let is_wrong = batch_axis == axis || lengths.iter().any(|length| !(least..=dim).contains(length));
        if is_wrong || lengths.len() != shape[batch_axis] {
            return refuse(format!(
                "lengths {lengths:?} along axis {axis}, batches along {batch_axis}, for data {shape:?}"
            ));
        }
        let place_on = |n: usize, axis: usize| n / shape[axis + 1..].iter().product::<usize>() % shape[axis];
        let source = |n: usize| {
            let (length, place) = (lengths[place_on(n, batch_axis)], place_on(n, axis) as i64);
            if place < length { length - 1 - place } else { place }
        };
        data.plan.indices = Some(places(shape.clone(), (0..shape.iter().product()).map(source))?);
        data.then(&Call::GatherElements { axis: axis as i64 })
    }

    /// Negative pads crop.
    pub(super) fn center_crop_pad(&mut self) -> PlanResult<Planned<'n>> {
        let data = self.data()?;
        let dims = self.list("shape")?;
        counts("shape", &dims, 0)?;
        let rank = data.shape().len();
        let axes = self.ints("axes")?.unwrap_or_else(|| (0..rank as i64).collect());
        let (mut before, mut after) = (Vec::new(), Vec::new());
        if dims.len() != axes.len() {
            return refuse(format!("{} dims for the axes {axes:?}", dims.len()));
        }
        for (&axis, &dim) in axes.iter().zip(&dims) {
            let missing = dim - data.shape()[axis_of(axis, rank)?] as i64;
            before.push(missing / 2);
            after.push(missing - missing / 2);
        }
        data.then(&Call::Pad { before, after, axes: Some(axes), mode: PadMode::Constant })
    }

    pub(super) fn compress(&mut self) -> PlanResult<Planned<'n>> {
        let (data, condition) = (self.data()?, self.truths("condition")?);
        if data.shape().is_empty() {
            return refuse("data without axes");
        }
        let (mut data, axis) = match self.int("axis")? {
            Some(axis) => (data, axis),
            None => {
                let items = data.meta().items();
                (data.reshaped(&[items])?, 0)
            }
        };
        let chosen = (0..condition.len() as i64).filter(|&n| condition[n as usize]);
        data.plan.indices = Some(places(vec![chosen.clone().count()], chosen)?);
        let (out_of_range, counts_from_end) = (OutOfRange::Error, false);
        data.then(&Call::Gather { axis, batch_dims: 0, out_of_range, counts_from_end })
    }

    /// In version 5 the output has a single batch axis.
    pub(super) fn gather_nd_5(&mut self) -> PlanResult<Planned<'n>> {
        let data = self.gathered_from_start()?;
        let batch_dims = self.batch_dims()?;
        let gathered = data.then(&Call::GatherNd { batch_dims })?;
        let batch_dims = usize::try_from(batch_dims).expect("a number of axes, or the operator refuses it");
        let (batches, rest) = gathered.shape().split_at(batch_dims);
        let merged = (batch_dims > 0).then(|| batches.iter().product());
        let dims: Vec<_> = merged.into_iter().chain(rest.iter().copied()).collect();
        gathered.reshaped(&dims)
    }
}

/// An index tensor.
fn places(shape: Vec<usize>, numbers: impl Iterator<Item = i64>) -> Result<PlanOperand> {
    let mut bytes = memory::with_capacity(shape.iter().product::<usize>().saturating_mul(8)).context("indices")?;
    bytes.extend(numbers.flat_map(i64::to_le_bytes));
    Ok(PlanOperand::Made(Tensor::new(DType::INT64, shape, bytes)?))
}
