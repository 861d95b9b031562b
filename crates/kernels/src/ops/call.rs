//! A call: an operator with its arguments, as a value. Commands, tests and edits in place check and link operators
//! here.
//!
//! [`Call::resolve`] needs only dtypes and shapes, so a single value can take its shape as updates from the resolved
//! call before [`ResolvedCall::link`] takes the operands.

use super::arranged::Arrangement;
use super::broadcast::BroadcastRule;
use super::concat::{self, Joined, Joining};
use super::converted::Converted;
use super::fill::{Fill, Limits};
use super::indexed::{IndexSpec, LinkedGather, OutOfRange, ScatterOperands, ScatterRule, each_window};
use super::pad::PadMode;
use super::reduction::{Reduction, Repeats};
use super::reshape::{NewShape, reshaped};
use super::selection::Selection;
use super::slice::SliceArgs;
use super::slice_scatter::SliceScatter;
use super::tally::Application;
use super::{
    broadcast, gather, gather_elements, gather_nd, pad, roll, scatter_elements, scatter_nd, scatter_update, tile,
    transpose,
};
use crate::error::{Error, Result, Subject, counted, malformed};
use crate::item::dtype::DType;
use crate::item::meta::Meta;
use crate::layout::axis::Span;
use crate::layout::shape::coordinates;
use crate::memory::Buffer;
use crate::parallel::Threads;
use crate::storage::conversion::Conversion;
use crate::storage::source::{Hold, Source};

/// An operator with its arguments as typed. Axes may be negative, and then count from the end.
#[derive(Clone, Debug, PartialEq, Eq)]
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
}

#[derive(Debug, Default)]
pub struct Operands {
    /// One tensor, or any number for [`Call::Concat`].
    pub data: Vec<Source>,
    /// The index tensor, of any integer dtype.
    pub indices: Option<Source>,
    pub updates: Option<Source>,
    /// Requires updates.
    pub in_place: bool,
}

#[derive(Debug)]
pub struct ResolvedCall {
    /// Lines for `explain`.
    pub details: Vec<String>,
    /// The expected shape.
    pub updates: Option<Vec<usize>>,
    pub resolved: Resolved,
}

#[derive(Debug)]
pub enum Resolved {
    Slice(Vec<Span>),
    Places(SliceScatter),
    Scattered(IndexSpec, ScatterRule),
    Gathered(IndexSpec),
    Joined(Joined),
    Transposed(Vec<usize>),
    Reshaped(Vec<usize>),
    Arranged(Arrangement),
}

impl Call {
    /// `indices` and `updates` are shapes; without `updates` one value fills all places.
    ///
    /// # Panics
    /// A required operand is missing.
    #[doc(hidden)]
    pub fn resolve(
        &self,
        data: &[&Meta],
        indices: Option<&[usize]>,
        updates: Option<&[usize]>,
    ) -> Result<ResolvedCall> {
        let shapes: Vec<&[usize]> = data.iter().map(|meta| &*meta.shape).collect();
        let dtypes: Vec<_> = data.iter().map(|meta| &meta.dtype).collect();
        let indices = || indices.expect("an operator by indices has an index tensor");
        let (given, resolved) = match *self {
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
                let application = scatter_nd::application(opset, reduction, dtypes[0])?;
                let spec = scatter_nd::check(shapes[0], indices(), updates)?;
                let rule = ScatterRule { repeats, application };
                (format!("reduction {}", reduction.name()), Resolved::Scattered(spec, rule))
            }
            Self::ScatterElements { axis, opset, reduction, has_initial, repeats, counts_from_end } => {
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
        };
        let counts = |spec: &IndexSpec| vec![format!("{given}: {}", spec.counted())];
        let (details, updates) = match &resolved {
            Resolved::Slice(spans) => (described(spans, shapes[0]), None),
            Resolved::Places(places) => (described(places.spans(), shapes[0]), Some(places.updates_shape())),
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
                (vec![format!("shape {:?}", arranged.shape())], item)
            }
        };
        Ok(ResolvedCall { details, updates, resolved })
    }

    /// Resolves and links.
    #[doc(hidden)]
    pub fn link(&self, operands: Operands, limits: Limits) -> Result<Box<dyn Fill>> {
        let Operands { data, indices, updates, .. } = &operands;
        let data: Vec<_> = data.iter().map(Source::meta).collect();
        let [indices, updates] = [indices, updates].map(|operand| operand.as_ref().map(Source::shape));
        self.resolve(&data, indices, updates)?.link(operands, limits)
    }
}

impl ResolvedCall {
    /// Links operands of the resolved dtypes and shapes; after this only reading can fail.
    ///
    /// # Panics
    /// A required operand is missing.
    pub fn link(self, mut operands: Operands, limits: Limits) -> Result<Box<dyn Fill>> {
        let indices = operands.indices.take();
        let indices = || indices.expect("the index tensor that the call was resolved for");
        Ok(match self.resolved {
            Resolved::Slice(spans) => Box::new(Selection::slice(operands.into_data(), &spans)),
            Resolved::Places(places) => {
                let (base, updates) = operands.into_change()?;
                Box::new(places.link(base, updates))
            }
            Resolved::Scattered(spec, rule) => {
                let (base, updates) = operands.into_change()?;
                Box::new(spec.link(ScatterOperands { base, indices: indices(), updates }, rule, limits)?)
            }
            Resolved::Gathered(spec) => Box::new(LinkedGather::new(operands.into_data(), spec, indices(), limits)?),
            Resolved::Joined(joined) => Box::new(joined.link(operands.data)?),
            Resolved::Transposed(axes) => Box::new(Selection::transposed(operands.into_data(), &axes)),
            Resolved::Reshaped(dims) => reshaped(operands.into_data(), dims),
            Resolved::Arranged(arrangement) => {
                let updates = operands.updates.take();
                let mut data = operands.into_data();
                let item = match updates {
                    None => data.dtype().default_item(),
                    Some(item) => {
                        data = widened(data, item.dtype())?;
                        item_of(&data, item)?
                    }
                };
                Box::new(arrangement.link(data, item)?)
            }
        })
    }
}

impl Operands {
    pub fn sources(&self) -> impl Iterator<Item = &Source> {
        self.data.iter().chain(&self.indices).chain(&self.updates)
    }

    fn into_data(self) -> Source {
        self.data.into_iter().next().expect("the data that the call was resolved for")
    }

    fn into_change(mut self) -> Result<(Selection, Converted)> {
        let (updates, in_place) = (self.updates.take(), self.in_place);
        let updates = updates.expect("the updates that the call was resolved for");
        let data = widened(self.into_data(), updates.dtype())?;
        let mut updates = updates_of(&data, updates)?;
        // the change would overwrite its own updates
        if in_place && updates.source.shares_bytes_with(&data)? {
            updates.hold(Hold::Memory, data.dtype(), Limits::default())?;
        }
        Ok((Selection::base(data, in_place), updates))
    }
}

impl From<Source> for Operands {
    fn from(data: Source) -> Self {
        Self { data: vec![data], ..Self::default() }
    }
}

/// Widens the strings of `data` for `updates`, if its width is free.
pub fn widened(data: Source, updates: &DType) -> Result<Source> {
    let Some(conversion) = Conversion::new(data.dtype(), &updates.native()) else { return Ok(data) };
    if !data.has_free_width() || conversion.itemsize() <= data.dtype().itemsize() {
        return Ok(data);
    }
    let mut wide = Converted::new(data, conversion);
    wide.hold(Hold::Memory, &updates.native(), Limits::default())?;
    Ok(wide.source)
}

/// Wide strings are checked before anything is written.
fn updates_of(data: &Source, mut updates: Source) -> Result<Converted> {
    let (found, expected) = (updates.dtype(), data.dtype());
    let conversion = Conversion::new(found, expected).ok_or_else(|| {
        let message = format!("dtype {}, expected {} as in {}", found.name(), expected.name(), data.label());
        found.advise(Error::new(Subject::Dtype, message).within(updates.label()))
    })?;
    if conversion.narrows() {
        updates.hold(Hold::Seekable, Threads::default())?;
        let itemsize = updates.dtype().itemsize();
        each_window(&updates, &mut |start, _, items| match items
            .chunks_exact(itemsize)
            .position(|item| !conversion.fits(item))
        {
            None => Ok(()),
            Some(at) => {
                let (at, expected) = (coordinates(start + at, updates.shape()), expected.name());
                Err(malformed!("{}: the item at {at:?} is longer than {expected}", updates.label()))
            }
        })?;
    }
    Ok(Converted::new(updates, conversion))
}

fn item_of(data: &Source, updates: Source) -> Result<Vec<u8>> {
    let updates = updates_of(data, updates)?;
    let mut item = vec![0; updates.itemsize()];
    updates.read(updates.view(), &mut item, &mut Buffer::default())?;
    Ok(item)
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

#[cfg(test)]
mod tests {
    use ndarray::{ArrayD, array};

    use super::*;
    use crate::error::Advice;
    use crate::item::dtype::DType;
    use crate::item::tensor::Tensor;
    use crate::layout::window::Window;
    use crate::ops::fill::{Region, Scratch};

    fn numbers(label: &str, array: ArrayD<i32>) -> Source {
        Source::memory(Tensor::from(&array), label.to_owned())
    }

    fn data() -> Source {
        numbers("data", array![[0, 1, 2], [3, 4, 5]].into_dyn())
    }

    fn operands(indices: Option<ArrayD<i32>>, updates: Option<ArrayD<i32>>) -> Operands {
        let indices = indices.map(|indices| numbers("indices", indices));
        Operands { indices, updates: updates.map(|updates| numbers("updates", updates)), ..Operands::from(data()) }
    }

    fn output(mut fill: Box<dyn Fill>) -> Tensor {
        for holding in fill.holdings(0, &Limits::default()) {
            fill.hold(&holding, &Limits::default()).unwrap();
        }
        let Meta { dtype, shape, .. } = fill.meta().clone();
        let mut out = vec![0; fill.meta().bytes()];
        fill.fill(&Region::Box(Window::whole(&shape)), &mut out, &mut Scratch::default()).unwrap();
        Tensor::new(dtype, shape, out).unwrap()
    }

    #[test]
    fn every_operator() {
        let (repeats, out_of_range) = (Repeats::LastWins, OutOfRange::Error);
        let elements = |has_initial, counts_from_end| {
            let (axis, opset, reduction) = (0, None, Reduction::None);
            Call::ScatterElements { axis, opset, reduction, has_initial, repeats, counts_from_end }
        };
        let both = || Operands { data: vec![data(), data()], ..Operands::default() };
        let (index, two) = (array![2].into_dyn(), array![[7, 8, 9]].into_dyn());
        let rows: Vec<(Call, Operands, &str, ArrayD<i32>)> = vec![
            (
                Call::Slice(":, ::2".parse().unwrap()),
                operands(None, None),
                "axis 0 of 2: all 2; axis 1 of 3: 2 from 0 to 2 by 2",
                array![[0, 2], [3, 5]].into_dyn(),
            ),
            (
                Call::Slice("5:, -1:".parse().unwrap()),
                operands(None, None),
                "axis 0 of 2: nothing; axis 1 of 3: 2",
                ArrayD::zeros([0, 1].as_slice()),
            ),
            (
                Call::SliceScatter(":1".parse().unwrap()),
                operands(None, Some(two.clone())),
                "axis 0 of 2: 0; axis 1 of 3: all 3",
                array![[7, 8, 9], [3, 4, 5]].into_dyn(),
            ),
            (
                Call::ScatterUpdate { axis: -1, repeats },
                operands(Some(index), Some(array![[8], [9]].into_dyn())),
                "axis -1: 1 index",
                array![[0, 1, 8], [3, 4, 9]].into_dyn(),
            ),
            (
                Call::ScatterNd { opset: Some(16), reduction: Reduction::Add, repeats: Repeats::Combined },
                operands(Some(array![[1, 0], [1, 0]].into_dyn()), Some(array![10, 20].into_dyn())),
                "reduction add: 2 index tuples",
                array![[0, 1, 2], [33, 4, 5]].into_dyn(),
            ),
            (
                elements(true, true),
                operands(Some(array![[-1, 0, 1]].into_dyn()), Some(two.clone())),
                "axis 0, reduction none: 3 indices",
                array![[0, 8, 2], [7, 4, 9]].into_dyn(),
            ),
            (
                elements(false, false),
                operands(Some(array![[1, 0, 1]].into_dyn()), Some(two)),
                "axis 0, reduction none without the items of DATA: 3 indices",
                array![[0, 8, 2], [7, 4, 9]].into_dyn(),
            ),
            (
                Call::Gather { axis: 1, batch_dims: 0, out_of_range, counts_from_end: true },
                operands(Some(array![-1, 0].into_dyn()), None),
                "axis 1, batch dims 0: 2 indices",
                array![[2, 0], [5, 3]].into_dyn(),
            ),
            (
                Call::GatherNd { batch_dims: 0 },
                operands(Some(array![[1, 2]].into_dyn()), None),
                "batch dims 0: 1 index tuple",
                array![5].into_dyn(),
            ),
            (
                Call::GatherElements { axis: 1 },
                operands(Some(array![[0], [2]].into_dyn()), None),
                "axis 1: 2 indices",
                array![[0], [5]].into_dyn(),
            ),
            (
                Call::Concat { axis: -2, joining: Joining::Along },
                both(),
                "axis 0: 4 places",
                array![[0, 1, 2], [3, 4, 5], [0, 1, 2], [3, 4, 5]].into_dyn(),
            ),
            (
                Call::Concat { axis: 1, joining: Joining::Stacked },
                both(),
                "new axis 1: 2 places",
                array![[[0, 1, 2], [0, 1, 2]], [[3, 4, 5], [3, 4, 5]]].into_dyn(),
            ),
            (
                Call::Transpose { axes: None },
                operands(None, None),
                "axes [1, 0]",
                array![[0, 3], [1, 4], [2, 5]].into_dyn(),
            ),
            (
                Call::Reshape(NewShape::Dims(vec![3, -1])),
                operands(None, None),
                "shape [3, 2]",
                array![[0, 1], [2, 3], [4, 5]].into_dyn(),
            ),
            (
                Call::Pad { before: vec![1], after: vec![0], axes: Some(vec![-1]), mode: PadMode::Constant },
                operands(None, Some(ndarray::arr0(7).into_dyn())),
                "shape [2, 4]",
                array![[7, 0, 1, 2], [7, 3, 4, 5]].into_dyn(),
            ),
            (
                Call::Tile { repeats: vec![1, 2] },
                operands(None, None),
                "shape [2, 6]",
                array![[0, 1, 2, 0, 1, 2], [3, 4, 5, 3, 4, 5]].into_dyn(),
            ),
            (
                Call::Roll { shift: vec![1], axes: None },
                operands(None, None),
                "shape [2, 3]",
                array![[5, 0, 1], [2, 3, 4]].into_dyn(),
            ),
            (
                Call::Broadcast { shape: vec![2, 1, 1], rule: BroadcastRule::Bidirectional },
                operands(None, None),
                "shape [2, 2, 3]",
                array![[[0, 1, 2], [3, 4, 5]], [[0, 1, 2], [3, 4, 5]]].into_dyn(),
            ),
        ];
        for (call, operands, details, expected) in rows {
            let metas: Vec<_> = operands.data.iter().map(Source::meta).collect();
            let [indices, updates] = [&operands.indices, &operands.updates].map(|it| it.as_ref().map(Source::shape));
            let resolved = call.resolve(&metas, indices, updates).unwrap();
            assert_eq!(resolved.details.join("; "), details, "{call:?}");
            assert_eq!(resolved.updates.as_deref(), updates, "{call:?}");
            let alone = call.resolve(&metas, indices, None).unwrap();
            assert_eq!(alone.updates.as_deref(), updates, "{call:?}");
            let fill = call.link(operands, Limits::default()).unwrap();
            assert_eq!(output(fill), Tensor::from(&expected), "{call:?}");
        }
    }

    #[test]
    fn a_change_in_place_begins_with_the_data_itself() {
        for in_place in [false, true] {
            let operands = Operands { in_place, ..operands(None, Some(array![[7, 8, 9]].into_dyn())) };
            let fill = Call::SliceScatter("1:".parse().unwrap()).link(operands, Limits::default()).unwrap();
            assert_eq!(fill.as_patch().unwrap().base().is_in_place(), in_place);
        }
    }

    #[test]
    fn refused() {
        let (repeats, counts_from_end) = (Repeats::LastWins, false);
        let add = Call::ScatterNd { opset: Some(13), reduction: Reduction::Add, repeats: Repeats::Combined };
        let none = |axis| Call::ScatterUpdate { axis, repeats };
        let gather = Call::Gather { axis: 0, batch_dims: 0, out_of_range: OutOfRange::Error, counts_from_end };
        let index = || Some(array![-1].into_dyn());
        let rows = [
            (add, operands(index(), index()), "reduction: add is allowed from opset 16 on, got opset 13"),
            (none(2), operands(index(), index()), "axis: 2 is outside [-2, 1] (data [2, 3])"),
            (
                none(0),
                operands(index(), index()),
                "updates: shape [1], expected [1, 3] (data [2, 3] with indices [1] on axis 0)",
            ),
            (
                gather,
                operands(index(), None),
                "indices: -1 at [0] is out of range: expected [0, 1] on axis 0 (data [2, 3]); the specification counts no \
                 index from the end: write 1 for that place",
            ),
        ];
        for (call, operands, expected) in rows {
            let error = call.link(operands, Limits::default()).unwrap_err();
            assert_eq!(error.to_string(), expected, "{call:?}");
        }
    }

    #[test]
    fn dtypes_of_updates() {
        let tensor = |dtype: &str, bytes: &[u8]| {
            let dtype = DType::parse(dtype).unwrap();
            Tensor::new(dtype.clone(), vec![bytes.len() / dtype.itemsize()], bytes.to_vec()).unwrap()
        };
        let put = |data: &Tensor, updates: Tensor| {
            let data = Source::memory(data.try_clone().unwrap(), "data".to_owned());
            let updates = Some(Source::memory(updates, "updates".to_owned()));
            let operands = Operands { updates, ..Operands::from(data) };
            Call::SliceScatter(SliceArgs::default()).link(operands, Limits::default()).map(output)
        };
        let (one, text) = (tensor("<i2", &[1, 0]), tensor("S2", b"ab"));
        assert_eq!(put(&one, tensor(">i2", &[0, 7])).unwrap().bytes(), [7, 0]);
        assert_eq!(put(&text, tensor("S3", b"xy\0")).unwrap().bytes(), b"xy");
        let refused = |data, updates| {
            let error = put(data, updates).unwrap_err();
            (error.to_string(), error.subject(), error.advice())
        };
        let of_float = ("updates: dtype float16, expected int16 as in data".to_owned(), Subject::Dtype, None);
        assert_eq!(refused(&one, tensor("f2", &[0, 0])), of_float);
        let (message, subject, advice) = refused(&one, tensor("V2", &[0, 0]));
        assert_eq!(message, "updates: dtype |V2, expected int16 as in data");
        assert_eq!((subject, advice), (Subject::Dtype, Some(Advice::NameItems(2))));
        let long = "updates: the item at [0] is longer than |S2".to_owned();
        assert_eq!(refused(&text, tensor("S3", b"xyz")), (long, Subject::File, None));
    }
}
