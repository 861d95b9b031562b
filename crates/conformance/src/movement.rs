//! Pad, Tile, Broadcast and Split by specification and version.

use super::arguments::{CaseInputs, CaseResult, list_of, missing, refuse};
use super::compositions::{CaseCall, axis_of, counts, made};
use crate::item::cast::Cast;
use crate::item::dtype::{DType, Kind};
use crate::item::tensor::Tensor;
use crate::ops::call::Call;
use crate::ops::operators::broadcast::BroadcastRule;
use crate::ops::operators::pad::PadMode;
use crate::ops::operators::split::{self, SplitInto};
use crate::ops::slice::SliceArgs;
use crate::storage::source::Source;
use tensorop_files::internal::operators::call::Operands;

const OPENVINO_MODES: [(&str, PadMode); 4] = [
    ("constant", PadMode::Constant),
    ("edge", PadMode::Edge),
    ("reflect", PadMode::Reflect),
    ("symmetric", PadMode::Symmetric),
];

/// `wrap` exists from version 19 on.
const ONNX_MODES: [(&str, PadMode); 4] =
    [("constant", PadMode::Constant), ("edge", PadMode::Edge), ("reflect", PadMode::Reflect), ("wrap", PadMode::Wrap)];

impl CaseInputs<'_> {
    /// In Pad-2 the constant is an attribute.
    pub(super) fn pad_by_attributes(&mut self) -> CaseResult<CaseCall> {
        let data = self.tensor("data")?;
        let (before, after) = halves(&self.ints("pads")?.ok_or_else(|| missing("pads"))?)?;
        let (mode, value) = (self.one_of("mode", &ONNX_MODES[..3])?, self.float("value")?.unwrap_or(0.0));
        let mut item = Vec::new();
        let cast = Cast::new(&DType::from(Kind::Float32), data.dtype(), true)?;
        cast.apply(&value.to_le_bytes(), &mut item).expect("a float becomes any other");
        let value = Source::memory(Tensor::new(data.dtype().clone(), Vec::new(), item)?, "value".to_owned());
        let operands = Operands { updates: Some(value), ..data.into() };
        Ok((operands, Call::Pad { before, after, axes: None, mode }))
    }

    pub(super) fn pad(&mut self, version: u64) -> CaseResult<CaseCall> {
        let (data, (before, after)) = (self.data()?, halves(&self.list("pads")?)?);
        let updates = self.scalar("constant_value")?;
        let axes = if version >= 18 { self.optional_list("axes")? } else { None };
        let mode = self.one_of("mode", &ONNX_MODES[..if version >= 19 { 4 } else { 3 }])?;
        Ok((Operands { updates, ..data }, Call::Pad { before, after, axes, mode }))
    }

    /// OpenVINO limits the modes that mirror, and crops after it pads.
    pub(super) fn pad_openvino(&mut self, can_crop: bool) -> CaseResult<CaseCall> {
        let data = self.tensor("data")?;
        let (before, after) = (self.list("pads_begin")?, self.list("pads_end")?);
        let updates = self.scalar("pad_value")?;
        let mode = self.required("pad_mode", &OPENVINO_MODES)?;
        check_pads(&data, &before, &after, mode)?;
        let crops = before.iter().chain(&after).any(|&number| number < 0);
        if crops && !can_crop {
            return refuse(format!("the pads {before:?} and {after:?}, expected 0 or more"));
        }
        let added = |list: &[i64]| list.iter().map(|&number| number.max(0)).collect();
        let pad = Call::Pad { before: added(&before), after: added(&after), axes: None, mode };
        let operands = Operands { updates, ..data.into() };
        if !crops {
            return Ok((operands, pad));
        }
        let start: Vec<_> = before.iter().map(|&number| number.min(0).saturating_neg()).collect();
        let stop: Vec<_> = after.iter().map(|&number| if number < 0 { number } else { i64::MAX }).collect();
        Ok((made(operands, &pad)?.into(), Call::Slice(SliceArgs::new(&start, &stop)?)))
    }

    fn scalar(&mut self, label: &'static str) -> CaseResult<Option<Source>> {
        match self.optional(label)? {
            Some(source) if !source.shape().is_empty() => {
                refuse(format!("{label} has shape {:?}, expected a scalar", source.shape()))
            }
            scalar => Ok(scalar),
        }
    }

    /// OpenVINO aligns repeats with the axes of the data, ONNX does not.
    pub(super) fn tile(&mut self, aligns: bool) -> CaseResult<CaseCall> {
        let (data, repeats) = (self.tensor("data")?, self.list("repeats")?);
        if !aligns && repeats.len() != data.shape().len() {
            return refuse(format!("{} repeats for data {:?}", repeats.len(), data.shape()));
        }
        Ok((data.into(), Call::Tile { repeats }))
    }

    pub(super) fn broadcast(&mut self, modes: &[&'static str]) -> CaseResult<CaseCall> {
        let (data, shape) = (self.data()?, self.list("target_shape")?);
        let modes: Vec<_> = modes.iter().map(|&mode| (mode, mode)).collect();
        let rule = match self.one_of("mode", &modes)? {
            "explicit" => BroadcastRule::Axes(self.list("axes_mapping")?),
            "bidirectional" => BroadcastRule::Bidirectional,
            _ => BroadcastRule::Numpy,
        };
        Ok((data, Call::Broadcast { shape, rule }))
    }

    /// From version 18 on the last part may be shorter.
    pub(super) fn split(&mut self, version: u64) -> CaseResult<(Source, Vec<Call>)> {
        let (data, axis, count) = (self.tensor("data")?, self.int("axis")?.unwrap_or(0), self.output_count());
        let lengths = if version < 13 { self.ints("split")? } else { self.optional_list("split")? };
        let parts_asked = if version < 18 { None } else { self.int("num_outputs")? };
        if version >= 18 && lengths.is_some() == parts_asked.is_some() {
            return refuse("both split and num_outputs, or neither, expected one");
        }
        if let Some(lengths) = lengths {
            counts("split", &lengths, 0)?;
            return parts(data, axis, &SplitInto::Lengths(lengths));
        }
        if parts_asked.is_some_and(|asked| asked != count as i64) {
            return refuse(format!("{count} outputs, expected as many as num_outputs"));
        }
        let dim = data.shape()[axis_of(axis, data.shape().len())?];
        if version < 18 && dim % count.max(1) != 0 {
            return refuse(format!("{dim} places do not divide into {count} outputs"));
        }
        parts(data, axis, &SplitInto::Parts(count as i64))
    }

    pub(super) fn split_equally(&mut self) -> CaseResult<(Source, Vec<Call>)> {
        let (data, axis) = (self.tensor("data")?, self.scalar("axis")?.ok_or_else(|| missing("axis"))?);
        let axis = list_of(axis, 0)?[0];
        let count = self.int("num_splits")?.ok_or_else(|| missing("num_splits"))?;
        let dim = data.shape()[axis_of(axis, data.shape().len())?] as i64;
        if !(1..=dim).contains(&count) || dim % count != 0 {
            return refuse(format!("{dim} places do not divide into {count} outputs"));
        }
        parts(data, axis, &SplitInto::Parts(count))
    }
}

fn check_pads(data: &Source, before: &[i64], after: &[i64], mode: PadMode) -> CaseResult<()> {
    let most = |dim: usize| match mode {
        PadMode::Reflect => dim.saturating_sub(1) as i64,
        PadMode::Symmetric => dim as i64,
        PadMode::Constant | PadMode::Edge | PadMode::Wrap => i64::MAX,
    };
    let mut for_axes = data.shape().iter().zip(before.iter().zip(after));
    if let Some((dim, pads)) = for_axes.find(|(dim, (before, after))| **before.max(after) > most(**dim)) {
        return refuse(format!("{pads:?} places in mode {mode:?} for a dim of {dim}, expected {} at most", most(*dim)));
    }
    if mode != PadMode::Constant && matches!(data.dtype().kind(), Kind::Str(_) | Kind::Bytes(_)) {
        return refuse(format!("strings in mode {mode:?}"));
    }
    Ok(())
}

fn halves(pads: &[i64]) -> CaseResult<(Vec<i64>, Vec<i64>)> {
    if !pads.len().is_multiple_of(2) {
        return refuse(format!("{} pads, expected two for each axis", pads.len()));
    }
    let (before, after) = pads.split_at(pads.len() / 2);
    Ok((before.to_vec(), after.to_vec()))
}

pub(super) fn parts(data: Source, axis: i64, into: &SplitInto) -> CaseResult<(Source, Vec<Call>)> {
    let slices = split::check(data.shape(), axis, into)?;
    Ok((data, slices.into_iter().map(Call::Slice).collect()))
}
