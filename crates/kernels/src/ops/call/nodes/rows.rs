//! Operators by specification, name and version.
//!
//! Versions differ in attributes and types, which `specified` checks, and in the rules of their rows. An attribute that is
//! left over is a feature that is not here, so the node is unsupported.

use std::collections::BTreeMap;

use super::arguments::{NodeArguments, counts, missing, refuse};
use super::blocks::{depth_to_space, space_to_depth};
use super::compositions::axis_of;
use super::{Attributes, Specification};
use super::{PlanResult, Planned};
use crate::error::{Error, Subject};
use crate::ops::call::{AttributeValue, Call};
use crate::ops::indexed::OutOfRange;
use crate::ops::operators::broadcast::BroadcastRule;
use crate::ops::operators::concat::Joining;
use crate::ops::operators::reshape::NewShape;
use crate::ops::operators::split::SplitInto;
use crate::ops::operators::{scatter_elements, scatter_nd};
use crate::ops::reduction::{Reduction, Repeats};
use crate::ops::slice::SliceArgs;

type TakePlan = for<'n> fn(&mut NodeArguments<'n>, u64) -> PlanResult<Planned<'n>>;

pub(super) struct OperatorRow {
    specification: Specification,
    name: &'static str,
    /// In ascending order.
    versions: &'static [u64],
    take: TakePlan,
    /// Any number of outputs.
    pub has_outputs: bool,
}

impl OperatorRow {
    pub(super) fn plan<'n>(&self, node: &mut NodeArguments<'n>, version: u64) -> PlanResult<Planned<'n>> {
        (self.take)(node, version)
    }
}

const fn onnx(name: &'static str, versions: &'static [u64], take: TakePlan) -> OperatorRow {
    OperatorRow { specification: Specification::Onnx, name, versions, take, has_outputs: false }
}

const fn openvino(name: &'static str, versions: &'static [u64], take: TakePlan) -> OperatorRow {
    OperatorRow { specification: Specification::OpenVino, name, versions, take, has_outputs: false }
}

const fn several(row: OperatorRow) -> OperatorRow {
    OperatorRow { has_outputs: true, ..row }
}

static ROWS: &[OperatorRow] = &[
    onnx("Slice", &[1], |node, _| node.data()?.then(&Call::Slice(node.slices_by_attributes()?.clamped_as_onnx()))),
    onnx("Slice", &[10, 11, 13], |node, _| node.data()?.then(&Call::Slice(node.slices_by_inputs()?.clamped_as_onnx()))),
    openvino("Slice", &[8], |node, _| node.data()?.then(&Call::Slice(node.slices()?))),
    openvino("SliceScatter", &[15], |node, _| {
        let mut data = node.data()?;
        data.plan.updates = Some(node.updates()?);
        data.then(&Call::SliceScatter(node.slices()?))
    }),
    openvino("ScatterUpdate", &[3], |node, _| {
        let (data, repeats) = (node.scattered()?, Repeats::LastWins);
        data.then(&Call::ScatterUpdate { axis: node.number("axis")?, repeats })
    }),
    onnx("ScatterND", &[11, 13, 16, 18], |node, version| {
        let data = node.scattered()?;
        data.then(&node.scatter_nd(Some(version), &ONNX_REDUCTIONS)?)
    }),
    openvino("ScatterNDUpdate", &[3], |node, _| {
        let mut data = node.gathered_from_start()?;
        data.plan.updates = Some(node.updates()?);
        data.then(&node.scatter_nd(None, &scatter_nd::REDUCTIONS)?)
    }),
    openvino("ScatterNDUpdate", &[15], |node, _| {
        let data = node.scattered()?;
        data.then(&node.scatter_nd(None, &scatter_nd::REDUCTIONS)?)
    }),
    onnx("GatherND", &[11, 12, 13], |node, _| {
        let data = node.gathered()?;
        match node.shape_of(&data.plan.indices).last() {
            Some(0) => refuse("tuples without indices"),
            _ => data.then(&Call::GatherNd { batch_dims: node.batch_dims()? }),
        }
    }),
    openvino("GatherND", &[5], |node, _| node.gather_nd_5()),
    openvino("GatherND", &[8], |node, _| node.gathered()?.then(&Call::GatherNd { batch_dims: node.batch_dims()? })),
    onnx("Gather", &[1, 11, 13], |node, _| {
        let (data, axis) = (node.gathered()?, node.int("axis")?.unwrap_or(0));
        data.then(&Call::Gather { axis, batch_dims: 0, out_of_range: OutOfRange::Error, counts_from_end: true })
    }),
    openvino("Gather", &[1, 7, 8], |node, version| node.gather(version)),
    onnx("GatherElements", &[11, 13], |node, _| {
        node.gathered()?.then(&Call::GatherElements { axis: node.int("axis")?.unwrap_or(0) })
    }),
    openvino("GatherElements", &[6], |node, _| node.gather_elements_openvino()),
    onnx("Concat", &[4, 11, 13], |node, _| node.join(false)),
    openvino("Concat", &[1], |node, _| node.join(false)),
    onnx("ConcatFromSequence", &[11], |node, _| {
        let is_new = node.int("new_axis")?.unwrap_or(0) != 0;
        node.join(is_new)
    }),
    onnx("Scatter", &[9], |node, version| node.scatter_elements(version)),
    onnx("ScatterElements", &[11, 13, 16, 18], |node, version| node.scatter_elements(version)),
    openvino("ScatterElementsUpdate", &[3, 12], |node, version| node.scatter_elements_update(version)),
    onnx("Transpose", &[1, 13, 21, 23, 24, 25], |node, _| {
        let (data, axes) = (node.data()?, node.ints("perm")?);
        counts("perm", axes.as_deref().unwrap_or_default(), 0)?;
        data.then(&Call::Transpose { axes })
    }),
    openvino("Transpose", &[1], |node, _| {
        let (data, axes) = (node.data()?, node.list("input_order")?);
        counts("input_order", &axes, 0)?;
        data.then(&Call::Transpose { axes: Some(axes) })
    }),
    onnx("Reshape", &[5, 13], |node, _| node.reshape(true)),
    onnx("Reshape", &[14, 19, 21, 23, 24, 25], |node, _| {
        let allowzero = node.int("allowzero")?.unwrap_or(0);
        node.reshape(allowzero == 0)
    }),
    openvino("Reshape", &[1], |node, _| {
        let special_zero = node.int("special_zero")?.unwrap_or(0);
        node.reshape(special_zero != 0)
    }),
    onnx("Squeeze", &[1, 11, 13, 21, 23, 24, 25], |node, version| node.squeeze(version)),
    openvino("Squeeze", &[0], |node, _| node.squeeze(u64::MAX)),
    onnx("Unsqueeze", &[1, 11, 13, 21, 23, 24, 25], |node, version| node.unsqueeze(version)),
    openvino("Unsqueeze", &[0], |node, _| node.unsqueeze(u64::MAX)),
    onnx("Flatten", &[1, 9, 11, 13, 21, 23, 24, 25], |node, version| {
        let (data, axis) = (node.data()?, node.int("axis")?.unwrap_or(1));
        counts("axis", &[axis], if version < 11 { 0 } else { i64::MIN })?;
        data.then(&Call::Reshape(NewShape::Flatten(axis)))
    }),
    onnx("Pad", &[2], |node, _| node.pad_by_attributes()),
    onnx("Pad", &[11, 13, 18, 19, 21, 23, 24, 25], |node, version| node.pad(version)),
    openvino("Pad", &[1, 12], |node, version| node.pad_openvino(version >= 12)),
    onnx("Tile", &[6, 13], |node, _| node.tile(false)),
    openvino("Tile", &[1], |node, _| node.tile(true)),
    openvino("Roll", &[7], |node, _| {
        let (data, of_shift) = (node.data()?, node.next_shape().len());
        let shift = node.numbers("shift")?;
        if node.next_shape().len() < of_shift {
            return refuse("axes without an axis for shifts along one");
        }
        data.then(&Call::Roll { shift, axes: Some(node.numbers("axes")?) })
    }),
    onnx("Expand", &[8, 13], |node, _| {
        node.data()?.then(&Call::Broadcast { shape: node.list("shape")?, rule: BroadcastRule::Bidirectional })
    }),
    openvino("Broadcast", &[1], |node, _| node.broadcast(&["numpy", "explicit"])),
    openvino("Broadcast", &[3], |node, _| node.broadcast(&["numpy", "explicit", "bidirectional"])),
    several(onnx("Split", &[2, 11, 13, 18], |node, version| node.split(version))),
    several(openvino("Split", &[1], |node, _| node.split_equally())),
    several(openvino("VariadicSplit", &[1], |node, _| {
        let (data, axis) = (node.data()?, node.number("axis")?);
        let lengths = node.list("split_lengths")?;
        node.part(data, axis, SplitInto::Lengths(lengths))
    })),
    onnx("Identity", &[1, 13, 14, 16, 19, 21, 23, 24, 25], |node, _| {
        let data = node.data()?;
        let shape = data.shape().to_vec();
        data.reshaped(&shape)
    }),
    openvino("StridedSlice", &[1], |node, _| node.strided_slice()),
    openvino("Reverse", &[1], |node, _| node.reverse()),
    onnx("ReverseSequence", &[10, 28], |node, _| {
        let axes = [node.int("batch_axis")?.unwrap_or(1), node.int("time_axis")?.unwrap_or(0)];
        if axes.iter().any(|axis| !(0..=1).contains(axis)) {
            return refuse(format!("the axes {axes:?}, expected 0 and 1"));
        }
        node.reverse_sequence(axes, 0)
    }),
    openvino("ReverseSequence", &[1], |node, _| {
        let axes = [node.int("batch_axis")?.unwrap_or(0), node.int("seq_axis")?.unwrap_or(1)];
        node.reverse_sequence(axes, 1)
    }),
    onnx("DepthToSpace", &[1, 11, 13, 28], |node, _| depth_to_space(node.blocks_onnx()?)),
    openvino("DepthToSpace", &[1], |node, _| depth_to_space(node.blocks_openvino()?)),
    onnx("SpaceToDepth", &[1, 13, 28], |node, _| space_to_depth(node.blocks_onnx()?)),
    openvino("SpaceToDepth", &[1], |node, _| space_to_depth(node.blocks_openvino()?)),
    openvino("BatchToSpace", &[2], |node, _| node.batch_to_space()),
    openvino("SpaceToBatch", &[2], |node, _| node.space_to_batch()),
    openvino("ShuffleChannels", &[1], |node, _| node.shuffle_channels()),
    onnx("CenterCropPad", &[18], |node, _| node.center_crop_pad()),
    onnx("Compress", &[9, 11, 28], |node, _| node.compress()),
];

/// For ONNX the newest version up to an opset, for OpenVINO the exact version.
pub(super) fn find(specification: Specification, name: &str, version: u64) -> Option<(&'static OperatorRow, u64)> {
    let named = ROWS.iter().filter(|row| row.specification == specification && row.name == name);
    let mut versions = named.flat_map(|row| row.versions.iter().map(move |&known| (row, known)));
    match specification {
        Specification::Onnx => versions.rfind(|(_, known)| *known <= version),
        Specification::OpenVino => versions.find(|(_, known)| *known == version),
    }
}

/// The version of an operator in an ONNX opset, or a version of OpenVINO, if it is here.
pub fn version_of(specification: Specification, name: &str, version: u64) -> Option<u64> {
    find(specification, name, version).map(|(_, version)| version)
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

impl<'n> NodeArguments<'n> {
    fn scattered(&mut self) -> PlanResult<Planned<'n>> {
        let mut data = self.gathered()?;
        data.plan.updates = Some(self.updates()?);
        Ok(data)
    }

    fn slices(&mut self) -> PlanResult<SliceArgs> {
        let args = SliceArgs::new(&self.bounds("start")?, &self.bounds("stop")?)?.with_steps(&self.bounds("step")?)?;
        with_axes(args, self.optional_list("axes")?)
    }

    /// Steps are optional from version 10 on.
    fn slices_by_inputs(&mut self) -> PlanResult<SliceArgs> {
        let args = SliceArgs::new(&self.bounds("starts")?, &self.bounds("ends")?)?;
        let axes = self.optional_list("axes")?;
        let args = self.optional_bounds("steps")?.map_or(Ok(args.clone()), |steps| args.with_steps(&steps))?;
        with_axes(args, axes)
    }

    /// Before version 10 the lists are attributes.
    fn slices_by_attributes(&mut self) -> PlanResult<SliceArgs> {
        let start = self.ints("starts")?.ok_or_else(|| missing("starts"))?;
        let stop = self.ints("ends")?.ok_or_else(|| missing("ends"))?;
        let args = SliceArgs::new(&start, &stop)?;
        with_axes(args, self.ints("axes")?)
    }

    fn reshape(&mut self, zero_copies: bool) -> PlanResult<Planned<'n>> {
        let (data, dims) = (self.data()?, self.list("shape")?);
        data.then(&Call::Reshape(if zero_copies { NewShape::Dims(dims) } else { NewShape::DimsWithZero(dims) }))
    }

    fn squeeze(&mut self, version: u64) -> PlanResult<Planned<'n>> {
        self.data()?.then(&Call::Reshape(NewShape::Squeeze(self.axes(version)?)))
    }

    fn unsqueeze(&mut self, version: u64) -> PlanResult<Planned<'n>> {
        let (data, axes) = (self.data()?, self.axes(version)?);
        data.then(&Call::Reshape(NewShape::Unsqueeze(axes.ok_or_else(|| missing("axes"))?)))
    }

    /// An attribute before version 13 of ONNX; afterwards, and in OpenVINO, an input, which may be a scalar.
    fn axes(&mut self, version: u64) -> PlanResult<Option<Vec<i64>>> {
        if version >= 13 {
            return self.optional_numbers("axes");
        }
        let axes = self.ints("axes")?;
        counts("axes", axes.as_deref().unwrap_or_default(), if version < 11 { 0 } else { i64::MIN })?;
        Ok(axes)
    }

    /// `opset` is `None` for OpenVINO's ScatterNDUpdate.
    fn scatter_nd(&mut self, opset: Option<u64>, reductions: &[Reduction]) -> PlanResult<Call> {
        let reduction = self.reduction(reductions, if opset.is_some() { Reduction::name } else { openvino_name })?;
        Ok(Call::ScatterNd { opset, reduction, repeats: reduction.into() })
    }

    /// Version 9 is named Scatter.
    fn scatter_elements(&mut self, opset: u64) -> PlanResult<Planned<'n>> {
        let (data, reduction) = (self.scattered()?, self.reduction(&ONNX_REDUCTIONS, Reduction::name)?);
        let (axis, opset, repeats) = (self.int("axis")?.unwrap_or(0), Some(opset), reduction.into());
        let (has_initial, counts_from_end) = (true, true);
        data.then(&Call::ScatterElements { axis, opset, reduction, has_initial, repeats, counts_from_end })
    }

    /// Version 12 added reductions and negative indices.
    fn scatter_elements_update(&mut self, version: u64) -> PlanResult<Planned<'n>> {
        let (data, axis) = (self.scattered()?, self.number("axis")?);
        let reduction = self.reduction(&scatter_elements::REDUCTIONS, openvino_name)?;
        let has_initial = self.int("use_init_val")?.unwrap_or(1) != 0;
        let (opset, repeats, counts_from_end) = (None, reduction.into(), version >= 12);
        data.then(&Call::ScatterElements { axis, opset, reduction, has_initial, repeats, counts_from_end })
    }

    /// The operator checks whether a version allows the reduction.
    fn reduction(&mut self, known: &[Reduction], name: fn(Reduction) -> &'static str) -> PlanResult<Reduction> {
        let Some(asked) = self.text("reduction")? else { return Ok(Reduction::None) };
        let found = known.iter().find(|reduction| name(**reduction) == asked);
        let unknown = || Error::new(Subject::Reduction, format!("{asked:?} is unknown"));
        Ok(*found.ok_or_else(unknown)?)
    }

    fn join(&mut self, is_new: bool) -> PlanResult<Planned<'n>> {
        let (data, axis) = (self.several()?, self.int("axis")?.ok_or_else(|| missing("axis"))?);
        let joining = if is_new { Joining::Stacked } else { Joining::Along };
        data.then(&Call::Concat { axis, joining })
    }

    /// Version 8 counts negative indices from the end, and gives zeros out of range.
    fn gather(&mut self, version: u64) -> PlanResult<Planned<'n>> {
        let (data, axis, batch_dims) = (self.gathered()?, self.number("axis")?, self.batch_dims()?);
        let out_of_range = if version < 8 { OutOfRange::Error } else { OutOfRange::Zero };
        data.then(&Call::Gather { axis, batch_dims, out_of_range, counts_from_end: version >= 8 })
    }

    /// The indices have the shape of the data, except along the axis.
    fn gather_elements_openvino(&mut self) -> PlanResult<Planned<'n>> {
        let (operands, axis) = (self.gathered()?, self.int("axis")?.ok_or_else(|| missing("axis"))?);
        let (data, indices) = (operands.shape(), self.shape_of(&operands.plan.indices));
        let along = axis_of(axis, data.len())?;
        match data.iter().zip(indices).enumerate().any(|(n, (dim, other))| n != along && dim != other) {
            true => refuse(format!("indices {indices:?} for axis {axis} of data {data:?}")),
            false => operands.then(&Call::GatherElements { axis }),
        }
    }

    pub(super) fn batch_dims(&mut self) -> PlanResult<i64> {
        Ok(self.int("batch_dims")?.unwrap_or(0))
    }
}

fn with_axes(args: SliceArgs, axes: Option<Vec<i64>>) -> PlanResult<SliceArgs> {
    Ok(axes.map_or(Ok(args.clone()), |axes| args.with_axes(&axes))?)
}

/// A call as an operator of ONNX. An argument that ONNX lacks is an attribute that every version lacks, too.
pub(super) struct ByHand {
    pub operator: &'static str,
    pub attributes: Attributes,
    pub lists: BTreeMap<&'static str, Vec<i64>>,
}

impl ByHand {
    fn new(operator: &'static str) -> Self {
        Self { operator, attributes: Attributes::new(), lists: BTreeMap::new() }
    }

    fn attribute(mut self, name: &str, value: AttributeValue) -> Self {
        self.attributes.insert(name.to_owned(), value);
        self
    }

    /// A number that is not the default.
    fn int(self, name: &str, value: i64, default: i64) -> Self {
        if value == default { self } else { self.attribute(name, AttributeValue::Int(value)) }
    }

    fn flag(self, name: &str, is_set: bool) -> Self {
        self.int(name, is_set.into(), 0)
    }

    fn reduced(self, by: Reduction) -> Self {
        if by == Reduction::None {
            self
        } else {
            self.attribute("reduction", AttributeValue::Text(by.name().to_owned()))
        }
    }

    fn list(mut self, name: &'static str, list: &[i64]) -> Self {
        self.lists.insert(name, list.to_vec());
        self
    }

    fn listed(self, name: &'static str, list: Option<&Vec<i64>>) -> Self {
        if let Some(list) = list { self.list(name, list) } else { self }
    }
}

pub(super) fn by_hand(call: &Call, opset: u64) -> ByHand {
    let new = ByHand::new;
    match call {
        Call::Slice(args) => args.lists().into_iter().fold(new("Slice"), |node, (name, list)| node.list(name, &list)),
        Call::SliceScatter(_) => new("SliceScatter"),
        Call::ScatterUpdate { .. } => new("ScatterUpdate"),
        Call::ScatterNd { reduction, .. } => new("ScatterND").reduced(*reduction),
        Call::ScatterElements { axis, reduction, has_initial, counts_from_end, .. } => {
            let node = new(if opset < 11 { "Scatter" } else { "ScatterElements" }).int("axis", *axis, 0);
            node.reduced(*reduction).flag("use_init_val", !has_initial).flag("counts_from_end", !counts_from_end)
        }
        Call::Gather { axis, batch_dims, out_of_range, counts_from_end } => {
            let node = new("Gather").int("axis", *axis, 0).int("batch_dims", *batch_dims, 0);
            node.flag("out_of_range", *out_of_range != OutOfRange::Error).flag("counts_from_end", !counts_from_end)
        }
        Call::GatherNd { batch_dims } => new("GatherND").int("batch_dims", *batch_dims, 0),
        Call::GatherElements { axis } => new("GatherElements").int("axis", *axis, 0),
        Call::Concat { axis, joining } => {
            let is_new = *joining == Joining::Stacked;
            let node = new(if is_new { "ConcatFromSequence" } else { "Concat" }).flag("new_axis", is_new);
            node.attribute("axis", AttributeValue::Int(*axis))
        }
        Call::Transpose { axes: None } => new("Transpose"),
        Call::Transpose { axes: Some(axes) } => new("Transpose").attribute("perm", AttributeValue::Ints(axes.clone())),
        Call::Reshape(NewShape::Dims(dims)) => new("Reshape").list("shape", dims),
        Call::Reshape(NewShape::DimsWithZero(dims)) => {
            new("Reshape").list("shape", dims).flag("allowzero", dims.contains(&0))
        }
        Call::Reshape(NewShape::Squeeze(axes)) => new("Squeeze").listed("axes", axes.as_ref()),
        Call::Reshape(NewShape::Unsqueeze(axes)) => new("Unsqueeze").list("axes", axes),
        Call::Reshape(NewShape::Flatten(axis)) => new("Flatten").int("axis", *axis, 1),
        Call::Pad { before, after, axes, mode } => {
            let name = format!("{mode:?}").to_lowercase();
            let node = new("Pad").attribute("mode", AttributeValue::Text(name)).listed("axes", axes.as_ref());
            node.list("pads", &[&before[..], after].concat())
        }
        Call::Tile { repeats } => new("Tile").list("repeats", repeats),
        Call::Roll { .. } => new("Roll"),
        Call::Broadcast { shape, rule } => {
            new("Expand").list("shape", shape).flag("mode", *rule != BroadcastRule::Bidirectional)
        }
        Call::Split { axis, into: SplitInto::Lengths(lengths), .. } => {
            new("Split").int("axis", *axis, 0).list("split", lengths)
        }
        Call::Split { axis, into: SplitInto::Parts(parts), .. } => {
            new("Split").int("axis", *axis, 0).int("num_outputs", if opset < 18 { 0 } else { *parts }, 0)
        }
        Call::ReplaceWhere { .. } => new("ReplaceWhere"),
        // a node has a version of its own
        Call::Node(_) | Call::InOpset { .. } => new("Node"),
    }
}
