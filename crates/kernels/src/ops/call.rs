//! A call: an operator with its arguments, as a value. [`Call::resolve`] checks it by dtypes and shapes alone.

pub mod nodes;

use self::nodes::Node;
use super::condition::Condition;
use super::indexed::{IndexSpec, OutOfRange};
use super::matcher::Matcher;
use super::operators::arranged::Arrangement;
use super::operators::broadcast::BroadcastRule;
use super::operators::concat::{self, Joined, Joining};
use super::operators::pad::PadMode;
use super::operators::reshape::NewShape;
use super::operators::split::SplitInto;
use super::operators::{
    broadcast, gather, gather_elements, gather_nd, pad, roll, scatter_elements, scatter_nd, scatter_update, split,
    tile, transpose,
};
use super::reduction::{Reduction, Repeats};
use super::slice::SliceArgs;
use super::slice_scatter::SliceScatter;
use super::tally::Application;
use crate::error::{Error, ErrorKind, Result, Subject, counted};
use crate::item::meta::Meta;
use crate::layout::axis::Span;

/// An operator with its arguments as typed. Axes may be negative, and then count from the end.
#[derive(Clone, Debug, PartialEq)]
pub enum Call {
    /// A range of each axis (OpenVINO Slice-8, ONNX Slice).
    Slice(SliceArgs),
    /// Replaces a slice by updates of its shape (OpenVINO SliceScatter-15).
    SliceScatter(SliceArgs),
    /// Replaces places of an axis by updates (OpenVINO ScatterUpdate-3).
    ScatterUpdate {
        /// The axis of the indices.
        axis: i64,
        /// What equal indices mean.
        repeats: Repeats,
    },
    /// Puts updates at index tuples (ONNX ScatterND, OpenVINO ScatterNDUpdate-15).
    ScatterNd {
        /// The ONNX opset, which decides about reductions; without one, OpenVINO's rules apply.
        opset: Option<u64>,
        /// What updates do to old items.
        reduction: Reduction,
        /// What equal tuples mean.
        repeats: Repeats,
    },
    /// Puts single items at places of an axis (ONNX ScatterElements, OpenVINO ScatterElementsUpdate-12).
    ScatterElements {
        /// The axis of the indices.
        axis: i64,
        /// The ONNX opset, which decides about reductions; without one, OpenVINO's rules apply.
        opset: Option<u64>,
        /// What updates do to old items.
        reduction: Reduction,
        /// Whether the items of the data take part in a reduction.
        has_initial: bool,
        /// What equal places mean.
        repeats: Repeats,
        /// Otherwise negative indices are out of range.
        counts_from_end: bool,
    },
    /// Gathers places of an axis (ONNX Gather, OpenVINO Gather-8).
    Gather {
        /// The axis of the indices.
        axis: i64,
        /// The leading axes that data and indices have in common; negative numbers count from the rank of the indices.
        batch_dims: i64,
        /// What an index outside the axis means.
        out_of_range: OutOfRange,
        /// Otherwise negative indices are out of range.
        counts_from_end: bool,
    },
    /// Gathers the blocks at index tuples (ONNX GatherND, OpenVINO GatherND-8).
    GatherNd {
        /// The leading axes that data and indices have in common.
        batch_dims: i64,
    },
    /// Gathers an item per index (ONNX GatherElements, OpenVINO GatherElements-6).
    GatherElements {
        /// The axis of the indices.
        axis: i64,
    },
    /// Joins any number of tensors (ONNX Concat and ConcatFromSequence, OpenVINO Concat-1).
    Concat {
        /// The axis of the output.
        axis: i64,
        /// Whether the axis is new.
        joining: Joining,
    },
    /// Permutes axes (ONNX Transpose, OpenVINO Transpose-1).
    Transpose {
        /// The data's axis per output axis; without a list, the axes are reversed.
        axes: Option<Vec<i64>>,
    },
    /// Changes the dims of items in C order (Reshape, Squeeze, Unsqueeze and Flatten).
    Reshape(NewShape),
    /// Adds places to axes, or takes them away by negative numbers (ONNX Pad, OpenVINO Pad-12).
    Pad {
        /// The places before each of `axes`.
        before: Vec<i64>,
        /// The places after each of `axes`.
        after: Vec<i64>,
        /// The padded axes; without a list, all.
        axes: Option<Vec<i64>>,
        /// The contents of added places.
        mode: PadMode,
    },
    /// Repeats axes (ONNX Tile, OpenVINO Tile-1).
    Tile {
        /// The repetitions of each axis; the shorter of this and the shape gets leading ones.
        repeats: Vec<i64>,
    },
    /// Rolls axes (OpenVINO Roll-7).
    Roll {
        /// The places by which each of `axes` moves; one number holds for all.
        shift: Vec<i64>,
        /// The rolled axes; without a list, all items roll as one axis.
        axes: Option<Vec<i64>>,
    },
    /// Repeats axes of dim 1 (ONNX Expand, OpenVINO Broadcast-3).
    Broadcast {
        /// The shape of the output.
        shape: Vec<i64>,
        /// How the data's axes map to the shape's.
        rule: BroadcastRule,
    },
    /// Takes one of the parts of an axis (ONNX Split, OpenVINO Split-1 and VariadicSplit-1).
    Split {
        /// The axis that is split.
        axis: i64,
        /// All parts.
        into: SplitInto,
        /// The number of the part.
        part: usize,
    },
    /// Replaces the items of a slice that meet a condition.
    ReplaceWhere {
        /// The condition, whose value is the bytes of an item.
        condition: Condition<Vec<u8>>,
        /// The bytes of the item that replaces them.
        item: Vec<u8>,
        /// The slice.
        slices: SliceArgs,
    },
    /// A node of a model: [`from_onnx`](Self::from_onnx) and [`from_openvino`](Self::from_openvino) make it.
    Node(Box<Node>),
    /// A call by the rules of an ONNX opset: [`with_opset`](Self::with_opset) makes it.
    InOpset {
        /// The opset.
        opset: u64,
        /// The call, which is neither a node nor has another opset.
        call: Box<Call>,
    },
}

/// The treatment of repeated places and of old items.
#[derive(Clone, Copy, Debug)]
pub struct ScatterRule {
    /// The meaning of equal places.
    pub repeats: Repeats,
    /// The effect of updates on old items.
    pub application: Application,
}

/// A call whose arguments are in range.
#[derive(Debug)]
pub struct ResolvedCall {
    /// Lines for `explain`.
    pub details: Vec<String>,
    /// The expected shape.
    pub updates: Option<Vec<usize>>,
    /// The operator, in numbers in range.
    pub resolved: Resolved,
}

/// An operator with its arguments, in numbers in range.
#[derive(Debug)]
pub enum Resolved {
    /// The places of a slice.
    Slice(Vec<Span>),
    /// Puts updates into a slice.
    Places(SliceScatter),
    /// Puts updates at index tuples.
    Scattered(IndexSpec, ScatterRule),
    /// Takes the blocks at index tuples.
    Gathered(IndexSpec),
    /// Joins tensors.
    Joined(Joined),
    /// Takes the axes in another order.
    Transposed(Vec<usize>),
    /// Takes other dims.
    Reshaped(Vec<usize>),
    /// Arranges each axis anew.
    Arranged(Arrangement),
    /// Replaces the items at these places that match.
    Replaced {
        /// The slice.
        places: SliceScatter,
        /// The items to replace.
        matcher: Matcher,
        /// The bytes of the item that replaces them.
        item: Vec<u8>,
    },
}

impl Resolved {
    /// Returns the shape of the output for data of shape `data`.
    pub fn output_shape(&self, data: &[usize]) -> Vec<usize> {
        match self {
            Self::Slice(spans) => spans.iter().map(|span| span.len).collect(),
            Self::Places(_) | Self::Scattered(..) | Self::Replaced { .. } => data.to_vec(),
            Self::Gathered(spec) => spec.updates.clone(),
            Self::Joined(joined) => joined.shape.clone(),
            Self::Transposed(axes) => axes.iter().map(|&axis| data[axis]).collect(),
            Self::Reshaped(dims) => dims.clone(),
            Self::Arranged(arrangement) => arrangement.shape.clone(),
        }
    }

    /// Whether the operator changes items of its data.
    pub fn changes_data(&self) -> bool {
        matches!(self, Self::Places(_) | Self::Scattered(..) | Self::Replaced { .. })
    }
}

impl Call {
    /// `indices` and `updates` are shapes; without `updates` one value fills all places.
    ///
    /// # Panics
    /// A required operand is missing.
    ///
    /// # Errors
    /// A shape, a dtype or an argument does not fit.
    pub fn resolve(
        &self,
        data: &[&Meta],
        indices: Option<&[usize]>,
        updates: Option<&[usize]>,
    ) -> Result<ResolvedCall> {
        let (given, resolved) = self.resolve_alone(data, indices, updates)?;
        let shape = &*data[0].shape;
        let counts = |spec: &IndexSpec| vec![format!("{given}: {}", spec.counted())];
        let (details, updates) = match &resolved {
            Resolved::Slice(spans) => (described(spans, shape), None),
            Resolved::Replaced { places, .. } => (described(places.spans(), shape), None),
            Resolved::Places(places) => (described(places.spans(), shape), Some(places.updates_shape())),
            Resolved::Scattered(spec, _) => (counts(spec), Some(spec.updates.to_vec())),
            Resolved::Gathered(spec) => (counts(spec), None),
            Resolved::Joined(joined) => {
                let places = counted(joined.shape[joined.axis], "place", "places");
                (vec![format!("{given}: {places}")], None)
            }
            Resolved::Transposed(axes) => (vec![format!("axes {axes:?}")], None),
            Resolved::Reshaped(dims) => (vec![format!("shape {dims:?}")], None),
            Resolved::Arranged(arranged) => {
                let item = matches!(self, Self::Pad { .. }).then(Vec::new);
                (vec![format!("shape {:?}", arranged.shape)], item)
            }
        };
        Ok(ResolvedCall { details, updates, resolved })
    }

    /// Resolves without the lines for `explain`; returns the arguments in words.
    pub(in crate::ops) fn resolve_alone(
        &self,
        data: &[&Meta],
        indices_of: Option<&[usize]>,
        updates: Option<&[usize]>,
    ) -> Result<(String, Resolved)> {
        let shapes: Vec<&[usize]> = data.iter().map(|meta| &*meta.shape).collect();
        let dtypes: Vec<_> = data.iter().map(|meta| &meta.dtype).collect();
        let indices = || indices_of.expect("an operator by indices has an index tensor");
        Ok(match *self {
            Self::Slice(ref slices) => (String::new(), Resolved::Slice(slices.resolve(shapes[0])?)),
            Self::SliceScatter(ref slices) => {
                (String::new(), Resolved::Places(SliceScatter::resolve(shapes[0], slices, updates)?))
            }
            Self::ScatterUpdate { axis, repeats } => {
                let spec = scatter_update::check(shapes[0], indices(), updates, axis)?;
                let rule = ScatterRule { repeats, application: Application::Replace };
                (format!("axis {axis}"), Resolved::Scattered(spec, rule))
            }
            Self::ScatterNd { opset, reduction, repeats } => {
                repeats.check(reduction)?;
                let application = scatter_nd::application(opset, reduction, dtypes[0])?;
                let spec = scatter_nd::check(shapes[0], indices(), updates)?;
                let rule = ScatterRule { repeats, application };
                (format!("reduction {}", reduction.name()), Resolved::Scattered(spec, rule))
            }
            Self::ScatterElements { axis, opset, reduction, has_initial, repeats, counts_from_end } => {
                repeats.check(reduction)?;
                let application = scatter_elements::application(opset, reduction, has_initial, dtypes[0])?;
                let spec = scatter_elements::check(shapes[0], indices(), updates, axis)?.counting(counts_from_end);
                let without = if has_initial { "" } else { " without the items of DATA" };
                let given = format!("axis {axis}, reduction {}{without}", reduction.name());
                (given, Resolved::Scattered(spec, ScatterRule { repeats, application }))
            }
            Self::Gather { axis, batch_dims, out_of_range, counts_from_end } => {
                let spec = gather::check(shapes[0], indices(), axis, batch_dims, out_of_range)?;
                (format!("axis {axis}, batch dims {batch_dims}"), Resolved::Gathered(spec.counting(counts_from_end)))
            }
            Self::GatherNd { batch_dims } => {
                let spec = gather_nd::check(shapes[0], indices(), batch_dims)?;
                (format!("batch dims {batch_dims}"), Resolved::Gathered(spec))
            }
            Self::GatherElements { axis } => {
                (format!("axis {axis}"), Resolved::Gathered(gather_elements::check(shapes[0], indices(), axis)?))
            }
            Self::Concat { axis, joining } => {
                let joined = concat::check(&shapes, axis, joining)?;
                concat::common_dtype(&dtypes)?;
                let which = if joining == Joining::Stacked { "new axis" } else { "axis" };
                (format!("{which} {}", joined.axis), Resolved::Joined(joined))
            }
            Self::Transpose { ref axes } => {
                (String::new(), Resolved::Transposed(transpose::check(shapes[0], axes.as_deref())?))
            }
            Self::Reshape(ref to) => (String::new(), Resolved::Reshaped(to.resolve(shapes[0])?)),
            Self::Pad { ref before, ref after, ref axes, mode } => {
                let padded = pad::check(shapes[0], before, after, axes.as_deref(), mode)?;
                (String::new(), Resolved::Arranged(padded))
            }
            Self::Tile { ref repeats } => (String::new(), Resolved::Arranged(tile::check(shapes[0], repeats)?)),
            Self::Roll { ref shift, ref axes } => {
                (String::new(), Resolved::Arranged(roll::check(shapes[0], shift, axes.as_deref())?))
            }
            Self::Broadcast { ref shape, ref rule } => {
                (String::new(), Resolved::Arranged(broadcast::check(shapes[0], shape, rule)?))
            }
            Self::Split { axis, ref into, part } => {
                let parts = split::check(shapes[0], axis, into)?;
                let slices = parts.get(part).ok_or_else(|| {
                    let message = match parts.len() {
                        0 => format!("{part}, but the split has 0 parts"),
                        count => format!("{part}, expected 0 to {}", count - 1),
                    };
                    Error::new(Subject::Argument("part"), message)
                })?;
                (String::new(), Resolved::Slice(slices.resolve(shapes[0])?))
            }
            Self::ReplaceWhere { ref condition, ref item, ref slices } => {
                let (places, matcher) = replacement(data[0], condition, item, slices)?;
                (String::new(), Resolved::Replaced { places, matcher, item: item.clone() })
            }
            Self::InOpset { ref call, .. } => return call.resolve_alone(data, indices_of, updates),
            Self::Node(_) => {
                let message = "a node is planned by its inputs";
                return Err(Error::from_kind(ErrorKind::Unsupported, message));
            }
        })
    }
}

/// Resolves the slice and the condition of a replacement.
///
/// # Errors
/// The slice does not fit, an item has another length, or the dtype has no such condition.
pub(in crate::ops) fn replacement(
    data: &Meta,
    condition: &Condition<Vec<u8>>,
    item: &[u8],
    slices: &SliceArgs,
) -> Result<(SliceScatter, Matcher)> {
    let (dtype, places) = (&data.dtype, SliceScatter::resolve(&data.shape, slices, None)?);
    for item in condition.value().map(Vec::as_slice).into_iter().chain([item]) {
        if item.len() != dtype.itemsize() {
            let message = format!("{} bytes, expected {} ({dtype})", item.len(), dtype.itemsize());
            return Err(Error::new(Subject::Fill, message));
        }
    }
    Ok((places, Matcher::new(dtype, condition)?))
}

fn described(spans: &[Span], shape: &[usize]) -> Vec<String> {
    let places = |(span, &dim): (&Span, &usize)| match span.len {
        0 => "nothing".to_owned(),
        1 => span.start.to_string(),
        n if *span == Span::whole(dim) => format!("all {n}"),
        n => format!("{n} from {} to {} by {}", span.start, span.at(n - 1), span.step),
    };
    let axes = spans.iter().zip(shape).enumerate();
    axes.map(|(axis, of)| format!("axis {axis} of {}: {}", of.1, places(of))).collect()
}

/// The value of an attribute.
#[derive(Clone, Debug, PartialEq)]
pub enum AttributeValue {
    /// A number.
    Int(i64),
    /// A list of numbers.
    Ints(Vec<i64>),
    /// A float.
    Float(f32),
    /// A text.
    Text(String),
    /// A value of another kind.
    Other,
}
