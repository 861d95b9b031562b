//! Operators of cases, by specification, name and version.
//!
//! Versions differ in attributes and types, which `specified` checks, and in the rules of their rows. An attribute that is
//! left over is a feature that the program lacks, so the case is unsupported.

use super::arguments::{CaseInputs, CaseResult, list_of, missing, refuse, unsupported};
use super::blocks::{depth_to_space, space_to_depth};
use super::case::{Case, CaseOutput, Specification};
use super::compositions::{CaseCall, axis_of, counts, from_start, own_shape, run};
use super::movement::parts;
use super::specified;
use crate::error::{Error, Result, Subject, counted};
use crate::item::tensor::Tensor;
use crate::ops::call::Call;
use crate::ops::indexed::OutOfRange;
use crate::ops::operators::broadcast::BroadcastRule;
use crate::ops::operators::concat::Joining;
use crate::ops::operators::reshape::NewShape;
use crate::ops::operators::split::SplitInto;
use crate::ops::operators::{scatter_elements, scatter_nd};
use crate::ops::reduction::{Reduction, Repeats};
use crate::ops::slice::SliceArgs;
use crate::storage::source::Source;
use tensorop_files::internal::operators::call::Operands;
use tensorop_files::internal::operators::fill::Limits;

type TakeCall = fn(&mut CaseInputs<'_>, u64) -> CaseResult<CaseCall>;

type TakeCalls = fn(&mut CaseInputs<'_>, u64) -> CaseResult<(Source, Vec<Call>)>;

#[derive(Clone, Copy)]
enum Take {
    One(TakeCall),
    Several(TakeCalls),
}

struct OperatorRow {
    specification: Specification,
    name: &'static str,
    /// In ascending order.
    versions: &'static [u64],
    take: Take,
}

const fn onnx(name: &'static str, versions: &'static [u64], take: TakeCall) -> OperatorRow {
    OperatorRow { specification: Specification::Onnx, name, versions, take: Take::One(take) }
}

const fn openvino(name: &'static str, versions: &'static [u64], take: TakeCall) -> OperatorRow {
    OperatorRow { specification: Specification::OpenVino, name, versions, take: Take::One(take) }
}

const fn several(
    specification: Specification,
    name: &'static str,
    versions: &'static [u64],
    take: TakeCalls,
) -> OperatorRow {
    OperatorRow { specification, name, versions, take: Take::Several(take) }
}

static ROWS: &[OperatorRow] = &[
    onnx("Slice", &[1], |case, _| Ok((case.data()?, Call::Slice(case.slices_by_attributes()?.clamped_as_onnx())))),
    onnx("Slice", &[10, 11, 13], |case, _| Ok((case.data()?, Call::Slice(case.slices_by_inputs()?.clamped_as_onnx())))),
    openvino("Slice", &[8], |case, _| Ok((case.data()?, Call::Slice(case.slices()?)))),
    openvino("SliceScatter", &[15], |case, _| {
        let (data, updates) = (case.data()?, Some(case.tensor("updates")?));
        Ok((Operands { updates, ..data }, Call::SliceScatter(case.slices()?)))
    }),
    openvino("ScatterUpdate", &[3], |case, _| {
        let repeats = Repeats::LastWins;
        Ok((case.scattered()?, Call::ScatterUpdate { axis: case.number("axis")?, repeats }))
    }),
    onnx("ScatterND", &[11, 13, 16, 18], |case, version| case.scatter_nd(Some(version), &ONNX_REDUCTIONS)),
    openvino("ScatterNDUpdate", &[3, 15], |case, version| {
        let (operands, call) = case.scatter_nd(None, &scatter_nd::REDUCTIONS)?;
        Ok((if version < 15 { from_start(operands)? } else { operands }, call))
    }),
    onnx("GatherND", &[11, 12, 13], |case, _| {
        let operands = case.gathered()?;
        match operands.indices.iter().any(|indices| indices.shape().last() == Some(&0)) {
            true => refuse("tuples without indices"),
            false => Ok((operands, Call::GatherNd { batch_dims: case.batch_dims()? })),
        }
    }),
    openvino("GatherND", &[5], |case, _| case.gather_nd_5()),
    openvino("GatherND", &[8], |case, _| Ok((case.gathered()?, Call::GatherNd { batch_dims: case.batch_dims()? }))),
    onnx("Gather", &[1, 11, 13], |case, _| {
        let (operands, axis) = (case.gathered()?, case.int("axis")?.unwrap_or(0));
        Ok((operands, Call::Gather { axis, batch_dims: 0, out_of_range: OutOfRange::Error, counts_from_end: true }))
    }),
    openvino("Gather", &[1, 7, 8], |case, version| case.gather(version)),
    onnx("GatherElements", &[11, 13], |case, _| {
        Ok((case.gathered()?, Call::GatherElements { axis: case.int("axis")?.unwrap_or(0) }))
    }),
    openvino("GatherElements", &[6], |case, _| case.gather_elements_openvino()),
    onnx("Concat", &[4, 11, 13], |case, _| case.concat()),
    openvino("Concat", &[1], |case, _| case.concat()),
    onnx("ConcatFromSequence", &[11], |case, _| {
        let operands = case.sequence("sequence")?;
        let is_new = case.int("new_axis")?.unwrap_or(0) != 0;
        case.join(operands, if is_new { Joining::Stacked } else { Joining::Along })
    }),
    onnx("Scatter", &[9], |case, version| case.scatter_elements(version)),
    onnx("ScatterElements", &[11, 13, 16, 18], |case, version| case.scatter_elements(version)),
    openvino("ScatterElementsUpdate", &[3, 12], |case, version| case.scatter_elements_update(version)),
    onnx("Transpose", &[1, 13, 21, 23, 24, 25], |case, _| {
        let (data, axes) = (case.data()?, case.ints("perm")?);
        counts("perm", axes.as_deref().unwrap_or_default(), 0)?;
        Ok((data, Call::Transpose { axes }))
    }),
    openvino("Transpose", &[1], |case, _| {
        let (data, axes) = (case.data()?, case.list("input_order")?);
        counts("input_order", &axes, 0)?;
        Ok((data, Call::Transpose { axes: Some(axes) }))
    }),
    onnx("Reshape", &[5, 13], |case, _| case.reshape(true)),
    onnx("Reshape", &[14, 19, 21, 23, 24, 25], |case, _| {
        let allowzero = case.int("allowzero")?.unwrap_or(0);
        case.reshape(allowzero == 0)
    }),
    openvino("Reshape", &[1], |case, _| {
        let special_zero = case.int("special_zero")?.unwrap_or(0);
        case.reshape(special_zero != 0)
    }),
    onnx("Squeeze", &[1, 11, 13, 21, 23, 24, 25], |case, version| case.squeeze(version)),
    openvino("Squeeze", &[0], |case, _| case.squeeze(u64::MAX)),
    onnx("Unsqueeze", &[1, 11, 13, 21, 23, 24, 25], |case, version| case.unsqueeze(version)),
    openvino("Unsqueeze", &[0], |case, _| case.unsqueeze(u64::MAX)),
    onnx("Flatten", &[1, 9, 11, 13, 21, 23, 24, 25], |case, version| {
        let (data, axis) = (case.data()?, case.int("axis")?.unwrap_or(1));
        counts("axis", &[axis], if version < 11 { 0 } else { i64::MIN })?;
        Ok((data, Call::Reshape(NewShape::Flatten(axis))))
    }),
    onnx("Pad", &[2], |case, _| case.pad_by_attributes()),
    onnx("Pad", &[11, 13, 18, 19, 21, 23, 24, 25], |case, version| case.pad(version)),
    openvino("Pad", &[1, 12], |case, version| case.pad_openvino(version >= 12)),
    onnx("Tile", &[6, 13], |case, _| case.tile(false)),
    openvino("Tile", &[1], |case, _| case.tile(true)),
    openvino("Roll", &[7], |case, _| {
        let (data, shift, axes) = (case.data()?, case.tensor("shift")?, case.tensor("axes")?);
        if axes.shape().len() < shift.shape().len() {
            return refuse("axes without an axis for shifts along one");
        }
        Ok((data, Call::Roll { shift: list_of(shift, 0)?, axes: Some(list_of(axes, 0)?) }))
    }),
    onnx("Expand", &[8, 13], |case, _| {
        Ok((case.data()?, Call::Broadcast { shape: case.list("shape")?, rule: BroadcastRule::Bidirectional }))
    }),
    openvino("Broadcast", &[1], |case, _| case.broadcast(&["numpy", "explicit"])),
    openvino("Broadcast", &[3], |case, _| case.broadcast(&["numpy", "explicit", "bidirectional"])),
    several(Specification::Onnx, "Split", &[2, 11, 13, 18], |case, version| case.split(version)),
    several(Specification::OpenVino, "Split", &[1], |case, _| case.split_equally()),
    several(Specification::OpenVino, "VariadicSplit", &[1], |case, _| {
        let (data, axis) = (case.tensor("data")?, case.number("axis")?);
        parts(data, axis, &SplitInto::Lengths(case.list("split_lengths")?))
    }),
    onnx("Identity", &[1, 13, 14, 16, 19, 21, 23, 24, 25], |case, _| {
        let data = case.tensor("data")?;
        let whole = own_shape(data.shape());
        Ok((data.into(), whole))
    }),
    openvino("StridedSlice", &[1], |case, _| case.strided_slice()),
    openvino("Reverse", &[1], |case, _| case.reverse()),
    onnx("ReverseSequence", &[10, 28], |case, _| {
        let axes = [case.int("batch_axis")?.unwrap_or(1), case.int("time_axis")?.unwrap_or(0)];
        if axes.iter().any(|axis| !(0..=1).contains(axis)) {
            return refuse(format!("the axes {axes:?}, expected 0 and 1"));
        }
        case.reverse_sequence(axes, 0)
    }),
    openvino("ReverseSequence", &[1], |case, _| {
        let axes = [case.int("batch_axis")?.unwrap_or(0), case.int("seq_axis")?.unwrap_or(1)];
        case.reverse_sequence(axes, 1)
    }),
    onnx("DepthToSpace", &[1, 11, 13, 28], |case, _| depth_to_space(case.blocks_onnx()?)),
    openvino("DepthToSpace", &[1], |case, _| depth_to_space(case.blocks_openvino()?)),
    onnx("SpaceToDepth", &[1, 13, 28], |case, _| space_to_depth(case.blocks_onnx()?)),
    openvino("SpaceToDepth", &[1], |case, _| space_to_depth(case.blocks_openvino()?)),
    openvino("BatchToSpace", &[2], |case, _| case.batch_to_space()),
    openvino("SpaceToBatch", &[2], |case, _| case.space_to_batch()),
    openvino("ShuffleChannels", &[1], |case, _| case.shuffle_channels()),
    onnx("CenterCropPad", &[18], |case, _| case.center_crop_pad()),
    onnx("Compress", &[9, 11, 28], |case, _| case.compress()),
];

/// For ONNX the newest version up to an opset, for OpenVINO the exact version.
fn find(specification: Specification, name: &str, version: u64) -> Option<(&'static OperatorRow, u64)> {
    let named = ROWS.iter().filter(|row| row.specification == specification && row.name == name);
    let mut versions = named.flat_map(|row| row.versions.iter().map(move |&known| (row, known)));
    match specification {
        Specification::Onnx => versions.rfind(|(_, known)| *known <= version),
        Specification::OpenVino => versions.find(|(_, known)| *known == version),
    }
}

pub fn version_of(specification: Specification, name: &str, version: u64) -> Option<u64> {
    find(specification, name, version).map(|(_, version)| version)
}

pub fn outputs(case: &Case) -> CaseResult<Vec<Tensor>> {
    let made = operator_outputs(case)?;
    let output = |output: &CaseOutput| match output {
        CaseOutput::Operator(number) => Ok(made[*number].try_clone()?),
        CaseOutput::Given(tensor) => Ok(tensor.try_clone()?),
    };
    case.outputs.iter().map(output).collect()
}

fn operator_outputs(case: &Case) -> CaseResult<Vec<Tensor>> {
    let Some((row, version)) = find(case.specification, &case.operator, case.version) else {
        return unsupported(format_args!("{} {}-{}", case.specification.name(), case.operator, case.version));
    };
    specified::check_version(case)?;
    let mut arguments = CaseInputs::of(case);
    let check_count = |count: usize| match count == case.operator_outputs {
        true => Ok(()),
        false => {
            let outputs = counted(case.operator_outputs, "output", "outputs");
            unsupported(format_args!("{} with {outputs}", case.operator))
        }
    };
    match row.take {
        Take::One(take) => {
            let (operands, call) = take(&mut arguments, version)?;
            let fill = operands.link(&call, Limits::default())?;
            arguments.finish()?;
            check_count(1)?;
            Ok(vec![run(fill)?])
        }
        Take::Several(take) => {
            let (mut data, calls) = take(&mut arguments, version)?;
            arguments.finish()?;
            check_count(calls.len())?;
            let mut output = |call: &Call| run(Operands::from(data.another()?).link(call, Limits::default())?);
            Ok(calls.iter().map(&mut output).collect::<Result<_>>()?)
        }
    }
}

const ONNX_REDUCTIONS: [Reduction; 5] =
    [Reduction::None, Reduction::Add, Reduction::Mul, Reduction::Max, Reduction::Min];

fn openvino_name(reduction: Reduction) -> &'static str {
    match reduction {
        Reduction::Add => "sum",
        Reduction::Mul => "prod",
        Reduction::None | Reduction::Sub | Reduction::Max | Reduction::Min | Reduction::Mean => reduction.name(),
    }
}

impl CaseInputs<'_> {
    pub(super) fn gathered(&mut self) -> CaseResult<Operands> {
        let data = self.data()?;
        Ok(Operands { indices: Some(self.indices("indices")?), ..data })
    }

    fn scattered(&mut self) -> CaseResult<Operands> {
        let operands = self.gathered()?;
        Ok(Operands { updates: Some(self.tensor("updates")?), ..operands })
    }

    fn slices(&mut self) -> CaseResult<SliceArgs> {
        let args = SliceArgs::new(&self.bounds("start")?, &self.bounds("stop")?)?.with_steps(&self.bounds("step")?)?;
        with_axes(args, self.optional_list("axes")?)
    }

    /// Steps are optional from version 10 on.
    fn slices_by_inputs(&mut self) -> CaseResult<SliceArgs> {
        let args = SliceArgs::new(&self.bounds("start")?, &self.bounds("stop")?)?;
        let axes = self.optional_list("axes")?;
        let args = self.optional_bounds("steps")?.map_or(Ok(args.clone()), |steps| args.with_steps(&steps))?;
        with_axes(args, axes)
    }

    /// Before version 10 the lists are attributes.
    fn slices_by_attributes(&mut self) -> CaseResult<SliceArgs> {
        let start = self.ints("starts")?.ok_or_else(|| missing("starts"))?;
        let stop = self.ints("ends")?.ok_or_else(|| missing("ends"))?;
        let args = SliceArgs::new(&start, &stop)?;
        with_axes(args, self.ints("axes")?)
    }

    fn reshape(&mut self, zero_copies: bool) -> CaseResult<CaseCall> {
        let (data, dims) = (self.data()?, self.list("shape")?);
        Ok((data, Call::Reshape(if zero_copies { NewShape::Dims(dims) } else { NewShape::DimsWithZero(dims) })))
    }

    fn squeeze(&mut self, version: u64) -> CaseResult<CaseCall> {
        Ok((self.data()?, Call::Reshape(NewShape::Squeeze(self.axes(version)?))))
    }

    fn unsqueeze(&mut self, version: u64) -> CaseResult<CaseCall> {
        let (data, axes) = (self.data()?, self.axes(version)?);
        Ok((data, Call::Reshape(NewShape::Unsqueeze(axes.ok_or_else(|| missing("axes"))?))))
    }

    /// An attribute before version 13 of ONNX; afterwards, and in OpenVINO, an input, which may be a scalar.
    fn axes(&mut self, version: u64) -> CaseResult<Option<Vec<i64>>> {
        if version < 13 {
            let axes = self.ints("axes")?;
            counts("axes", axes.as_deref().unwrap_or_default(), if version < 11 { 0 } else { i64::MIN })?;
            return Ok(axes);
        }
        let Some(source) = self.optional("axes")? else { return Ok(None) };
        Ok(Some(list_of(source, 0)?))
    }

    /// `opset` is `None` for OpenVINO's ScatterNDUpdate.
    fn scatter_nd(&mut self, opset: Option<u64>, reductions: &[Reduction]) -> CaseResult<CaseCall> {
        let operands = self.scattered()?;
        let reduction = self.reduction(reductions, if opset.is_some() { Reduction::name } else { openvino_name })?;
        Ok((operands, Call::ScatterNd { opset, reduction, repeats: reduction.into() }))
    }

    /// Version 9 is named Scatter.
    fn scatter_elements(&mut self, opset: u64) -> CaseResult<CaseCall> {
        let (operands, reduction) = (self.scattered()?, self.reduction(&ONNX_REDUCTIONS, Reduction::name)?);
        let (axis, opset, repeats) = (self.int("axis")?.unwrap_or(0), Some(opset), reduction.into());
        let (has_initial, counts_from_end) = (true, true);
        Ok((operands, Call::ScatterElements { axis, opset, reduction, has_initial, repeats, counts_from_end }))
    }

    /// Version 12 added reductions and negative indices.
    fn scatter_elements_update(&mut self, version: u64) -> CaseResult<CaseCall> {
        let (operands, axis) = (self.scattered()?, self.number("axis")?);
        let reduction = self.reduction(&scatter_elements::REDUCTIONS, openvino_name)?;
        let has_initial = self.int("use_init_val")?.unwrap_or(1) != 0;
        let (opset, repeats, counts_from_end) = (None, reduction.into(), version >= 12);
        Ok((operands, Call::ScatterElements { axis, opset, reduction, has_initial, repeats, counts_from_end }))
    }

    /// The operator checks whether a version allows the reduction.
    fn reduction(&mut self, known: &[Reduction], name: fn(Reduction) -> &'static str) -> CaseResult<Reduction> {
        let Some(asked) = self.text("reduction")? else { return Ok(Reduction::None) };
        let found = known.iter().find(|reduction| name(**reduction) == asked);
        let unknown = || Error::new(Subject::Reduction, format!("{asked:?} is unknown"));
        Ok(*found.ok_or_else(unknown)?)
    }

    fn concat(&mut self) -> CaseResult<CaseCall> {
        let mut operands = Vec::new();
        while self.has_more() {
            operands.push(self.tensor("data")?);
        }
        self.join(operands, Joining::Along)
    }

    fn join(&mut self, data: Vec<Source>, joining: Joining) -> CaseResult<CaseCall> {
        let axis = self.int("axis")?.ok_or_else(|| missing("axis"))?;
        Ok((Operands { data, ..Operands::default() }, Call::Concat { axis, joining }))
    }

    /// Version 8 counts negative indices from the end, and gives zeros out of range.
    fn gather(&mut self, version: u64) -> CaseResult<CaseCall> {
        let (operands, axis, batch_dims) = (self.gathered()?, self.number("axis")?, self.batch_dims()?);
        let out_of_range = if version < 8 { OutOfRange::Error } else { OutOfRange::Zero };
        Ok((operands, Call::Gather { axis, batch_dims, out_of_range, counts_from_end: version >= 8 }))
    }

    /// The indices have the shape of the data, except along the axis.
    fn gather_elements_openvino(&mut self) -> CaseResult<CaseCall> {
        let (operands, axis) = (self.gathered()?, self.int("axis")?.ok_or_else(|| missing("axis"))?);
        let (data, indices) = (operands.data[0].shape(), operands.indices.as_ref().expect("it has gathered").shape());
        let along = axis_of(axis, data.len())?;
        match data.iter().zip(indices).enumerate().any(|(n, (dim, other))| n != along && dim != other) {
            true => refuse(format!("indices {indices:?} for axis {axis} of data {data:?}")),
            false => Ok((operands, Call::GatherElements { axis })),
        }
    }

    fn batch_dims(&mut self) -> CaseResult<i64> {
        Ok(self.int("batch_dims")?.unwrap_or(0))
    }
}

fn with_axes(args: SliceArgs, axes: Option<Vec<i64>>) -> CaseResult<SliceArgs> {
    Ok(axes.map_or(Ok(args.clone()), |axes| args.with_axes(&axes))?)
}
