//! Pad, Tile, Broadcast and Split by specification and version.

use super::arguments::{NodeArguments, counts, missing, refuse, unsupported};
use super::compositions::axis_of;
use super::{PlanOperand, PlanResult, Planned};
use crate::item::cast::Cast;
use crate::item::dtype::{DType, Kind};
use crate::item::meta::Meta;
use crate::item::tensor::Tensor;
use crate::ops::call::Call;
use crate::ops::operators::broadcast::BroadcastRule;
use crate::ops::operators::pad::PadMode;
use crate::ops::operators::split::SplitInto;
use crate::ops::slice::SliceArgs;

const OPENVINO_MODES: [(&str, PadMode); 4] = [
    ("constant", PadMode::Constant),
    ("edge", PadMode::Edge),
    ("reflect", PadMode::Reflect),
    ("symmetric", PadMode::Symmetric),
];

/// `wrap` exists from version 19 on.
const ONNX_MODES: [(&str, PadMode); 4] =
    [("constant", PadMode::Constant), ("edge", PadMode::Edge), ("reflect", PadMode::Reflect), ("wrap", PadMode::Wrap)];

impl<'n> NodeArguments<'n> {
    /// In Pad-2 the constant is an attribute.
    pub(super) fn pad_by_attributes(&mut self) -> PlanResult<Planned<'n>> {
        let mut data = self.data()?;
        let (before, after) = halves(&self.ints("pads")?.ok_or_else(|| missing("pads"))?)?;
        let (mode, value) = (self.one_of("mode", &ONNX_MODES[..3])?, self.float("value")?.unwrap_or(0.0));
        let (mut item, dtype) = (Vec::new(), data.meta().dtype.clone());
        let cast = Cast::new(&DType::from(Kind::Float32), &dtype, true)?;
        cast.apply(&value.to_le_bytes(), &mut item).expect("a float becomes any other");
        data.plan.updates = Some(PlanOperand::Made(Tensor::new(dtype, Vec::new(), item)?));
        data.then(&Call::Pad { before, after, axes: None, mode })
    }

    pub(super) fn pad(&mut self, version: u64) -> PlanResult<Planned<'n>> {
        let (mut data, (before, after)) = (self.data()?, halves(&self.list("pads")?)?);
        data.plan.updates = self.scalar("constant_value")?;
        let axes = if version >= 18 { self.optional_list("axes")? } else { None };
        let mode = self.one_of("mode", &ONNX_MODES[..if version >= 19 { 4 } else { 3 }])?;
        data.then(&Call::Pad { before, after, axes, mode })
    }

    /// OpenVINO limits the modes that mirror, and crops after it pads.
    pub(super) fn pad_openvino(&mut self, can_crop: bool) -> PlanResult<Planned<'n>> {
        let mut data = self.data()?;
        let (before, after) = (self.list("pads_begin")?, self.list("pads_end")?);
        data.plan.updates = self.scalar("pad_value")?;
        let mode = self.required("pad_mode", &OPENVINO_MODES)?;
        check_pads(data.meta(), &before, &after, mode)?;
        let crops = before.iter().chain(&after).any(|&number| number < 0);
        if crops && !can_crop {
            return refuse(format!("the pads {before:?} and {after:?}, expected 0 or more"));
        }
        let added = |list: &[i64]| list.iter().map(|&number| number.max(0)).collect();
        let padded = data.then(&Call::Pad { before: added(&before), after: added(&after), axes: None, mode })?;
        if !crops {
            return Ok(padded);
        }
        let start: Vec<_> = before.iter().map(|&number| number.min(0).saturating_neg()).collect();
        let stop: Vec<_> = after.iter().map(|&number| if number < 0 { number } else { i64::MAX }).collect();
        padded.then(&Call::Slice(SliceArgs::new(&start, &stop)?))
    }

    /// OpenVINO aligns repeats with the axes of the data, ONNX does not.
    pub(super) fn tile(&mut self, aligns: bool) -> PlanResult<Planned<'n>> {
        let (data, repeats) = (self.data()?, self.list("repeats")?);
        if !aligns && repeats.len() != data.shape().len() {
            return refuse(format!("{} repeats for data {:?}", repeats.len(), data.shape()));
        }
        data.then(&Call::Tile { repeats })
    }

    pub(super) fn broadcast(&mut self, modes: &[&'static str]) -> PlanResult<Planned<'n>> {
        let (data, shape) = (self.data()?, self.list("target_shape")?);
        let modes: Vec<_> = modes.iter().map(|&mode| (mode, mode)).collect();
        let rule = match self.one_of("mode", &modes)? {
            "explicit" => BroadcastRule::Axes(self.list("axes_mapping")?),
            "bidirectional" => BroadcastRule::Bidirectional,
            _ => BroadcastRule::Numpy,
        };
        data.then(&Call::Broadcast { shape, rule })
    }

    /// From version 18 on the last part may be shorter.
    pub(super) fn split(&mut self, version: u64) -> PlanResult<Planned<'n>> {
        let (data, axis) = (self.data()?, self.int("axis")?.unwrap_or(0));
        let lengths = if version < 13 { self.ints("split")? } else { self.optional_list("split")? };
        let parts_asked = if version < 18 { None } else { self.int("num_outputs")? };
        if version >= 18 && lengths.is_some() == parts_asked.is_some() {
            return refuse("both split and num_outputs, or neither, expected one");
        }
        if let Some(lengths) = lengths {
            counts("split", &lengths, 0)?;
            return self.part(data, axis, SplitInto::Lengths(lengths));
        }
        let Some(count) = self.output().map(|(_, count)| count as i64).or(parts_asked) else {
            return Err(missing("the number of outputs").into());
        };
        if parts_asked.is_some_and(|asked| asked != count) {
            return refuse(format!("{count} outputs, expected as many as num_outputs"));
        }
        let dim = data.shape()[axis_of(axis, data.shape().len())?];
        if version < 18 && dim as i64 % count.max(1) != 0 {
            return refuse(format!("{dim} places do not divide into {count} outputs"));
        }
        self.part(data, axis, SplitInto::Parts(count))
    }

    pub(super) fn split_equally(&mut self) -> PlanResult<Planned<'n>> {
        let data = self.data()?;
        if let shape @ [_, ..] = self.next_shape() {
            return refuse(format!("axis has shape {shape:?}, expected a scalar"));
        }
        let axis = self.number("axis")?;
        let count = self.int("num_splits")?.ok_or_else(|| missing("num_splits"))?;
        let dim = data.shape()[axis_of(axis, data.shape().len())?] as i64;
        if !(1..=dim).contains(&count) || dim % count != 0 {
            return refuse(format!("{dim} places do not divide into {count} outputs"));
        }
        self.part(data, axis, SplitInto::Parts(count))
    }

    /// Takes the part for the node's output; by default the first.
    pub(super) fn part(&self, data: Planned<'n>, axis: i64, into: SplitInto) -> PlanResult<Planned<'n>> {
        let parts = into.count();
        let (part, count) = self.output().unwrap_or((0, parts));
        let part = if count == parts { part } else { 0 };
        let planned = data.then(&Call::Split { axis, into, part })?;
        match count == parts {
            true => Ok(planned),
            false => unsupported(self.with_outputs(count)),
        }
    }
}

fn check_pads(data: &Meta, before: &[i64], after: &[i64], mode: PadMode) -> PlanResult<()> {
    let most = |dim: usize| match mode {
        PadMode::Reflect => dim.saturating_sub(1) as i64,
        PadMode::Symmetric => dim as i64,
        PadMode::Constant | PadMode::Edge | PadMode::Wrap => i64::MAX,
    };
    let mut for_axes = data.shape.iter().zip(before.iter().zip(after));
    if let Some((dim, pads)) = for_axes.find(|(dim, (before, after))| **before.max(after) > most(**dim)) {
        return refuse(format!("{pads:?} places in mode {mode:?} for a dim of {dim}, expected {} at most", most(*dim)));
    }
    if mode != PadMode::Constant && matches!(data.dtype.kind(), Kind::Str(_) | Kind::Bytes(_)) {
        return refuse(format!("strings in mode {mode:?}"));
    }
    Ok(())
}

fn halves(pads: &[i64]) -> PlanResult<(Vec<i64>, Vec<i64>)> {
    if !pads.len().is_multiple_of(2) {
        return refuse(format!("{} pads, expected two for each axis", pads.len()));
    }
    let (before, after) = pads.split_at(pads.len() / 2);
    Ok((before.to_vec(), after.to_vec()))
}
