//! A call: an operator with its arguments, as a value, and how it is linked to its operands.
//!
//! The sub-commands, the tests of operators and the changes of files in place all make a [`Call`], so that an operator is
//! checked and linked here alone. A call is *resolved* with the dtypes and shapes of its operands, which makes every check of
//! its arguments, and then *linked* to the operands themselves. [`Call::link`] does both. A caller does one after the other
//! if it needs to know that the shapes fit before it has all operands: one value for all places takes its shape from them.
//!
//! An operator with several outputs is several calls on the same data.

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

/// An operator with its arguments, as they were given. What an argument means is said by the function of the same name on
/// arrays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Call {
    /// The places of the data that are sliced.
    Slice(SliceArgs),
    /// The data with updates in the places that are sliced.
    SliceScatter(SliceArgs),
    /// The data with updates in the places of an axis that indices name.
    ScatterUpdate { axis: i64, repeats: Repeats },
    /// The data with updates in the blocks that index tuples address, or reduced with them. An opset of ONNX decides what is
    /// legal; without one it is OpenVINO's operator.
    ScatterNd { opset: Option<u64>, reduction: Reduction, repeats: Repeats },
    /// The data with updates at the places that indices name on an axis, or reduced with them. If there is an opset of ONNX,
    /// it decides what is legal.
    ScatterElements {
        axis: i64,
        opset: Option<u64>,
        reduction: Reduction,
        /// Whether the items of the data take part in a reduction.
        has_initial: bool,
        repeats: Repeats,
        /// Whether negative indices count from the end; otherwise they name no place.
        counts_from_end: bool,
    },
    /// The places of an axis that indices name. `counts_from_end` is that of [`Call::ScatterElements`].
    Gather { axis: i64, batch_dims: i64, out_of_range: OutOfRange, counts_from_end: bool },
    /// The blocks that index tuples address.
    GatherNd { batch_dims: i64 },
    /// The items that indices name on an axis.
    GatherElements { axis: i64 },
    /// Tensors one after the other.
    Concat { axis: i64, joining: Joining },
    /// The data with its axes in another order: these, or reversed.
    Transpose { axes: Option<Vec<i64>> },
    /// The data with other dims.
    Reshape(NewShape),
    /// The data with places before and behind those of these axes, or of all. Updates of one item are what they hold.
    Pad { before: Vec<i64>, after: Vec<i64>, axes: Option<Vec<i64>>, mode: PadMode },
    /// Each axis of the data again and again.
    Tile { repeats: Vec<i64> },
    /// The data with the places of these axes moved on, or of all items as one axis.
    Roll { shift: Vec<i64>, axes: Option<Vec<i64>> },
    /// The data with axes of one place repeated.
    Broadcast { shape: Vec<i64>, rule: BroadcastRule },
}

/// The tensors that a call takes.
#[derive(Debug, Default)]
pub struct Operands {
    /// The data: one tensor, or of [`Call::Concat`] any number.
    pub data: Vec<Source>,
    /// The index tensor, of any integer dtype, if the operator has one.
    pub indices: Option<Source>,
    /// The updates, if the operator has any.
    pub updates: Option<Source>,
    /// Whether the data is changed where it is stored. Only operators that take updates can do so.
    pub in_place: bool,
}

/// A call whose arguments are in range for operands of certain dtypes and shapes.
#[derive(Debug)]
pub struct ResolvedCall {
    /// Lines of text about what the arguments mean for the operands.
    pub details: Vec<String>,
    /// The shape that the updates have, if the operator takes any.
    pub updates: Option<Vec<usize>>,
    /// What the arguments mean.
    pub resolved: Resolved,
}

/// What the arguments of a call mean for its operands.
#[derive(Debug)]
pub enum Resolved {
    /// The output has these places of each axis.
    Slice(Vec<Span>),
    /// Updates are put into a slice.
    Places(SliceScatter),
    /// Updates are put to the places that an index tensor names.
    Scattered(IndexSpec, ScatterRule),
    /// The places that an index tensor names are taken.
    Gathered(IndexSpec),
    /// The operands follow each other.
    Joined(Joined),
    /// Each axis of the output is this one of the data.
    Transposed(Vec<usize>),
    /// The output has these dims.
    Reshaped(Vec<usize>),
    /// Each axis of the output is a list of segments of an axis of the data.
    Arranged(Arrangement),
}

impl Call {
    /// Resolves the arguments for operands of these dtypes and shapes. `indices` and `updates` are the shapes of the operands
    /// of that name; without `updates` one value fills all places of an operator that takes them.
    ///
    /// # Errors
    /// Those of the operator, about the argument or the operand that it refuses.
    ///
    /// # Panics
    /// If an operand is missing that the operator must have.
    pub fn resolve(
        &self,
        data: &[&Meta],
        indices: Option<&[usize]>,
        updates: Option<&[usize]>,
    ) -> Result<ResolvedCall> {
        let shapes: Vec<&[usize]> = data.iter().map(|meta| &*meta.shape).collect();
        let dtypes: Vec<_> = data.iter().map(|meta| &meta.dtype).collect();
        let indices = || indices.expect("an operator by indices has an index tensor");
        // the arguments that a report has as they were given
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
                // one item fills the places that a pad adds
                let item = matches!(self, Self::Pad { .. }).then(Vec::new);
                (vec![format!("shape {:?}", arranged.shape())], item)
            }
        };
        Ok(ResolvedCall { details, updates, resolved })
    }

    /// Resolves the arguments for operands and links the operator to them.
    ///
    /// # Errors
    /// Those of [`resolve`](Self::resolve) and [`ResolvedCall::link`].
    ///
    /// # Panics
    /// If an operand is missing that the operator must have.
    pub fn link(&self, operands: Operands, limits: Limits) -> Result<Box<dyn Fill>> {
        let Operands { data, indices, updates, .. } = &operands;
        let data: Vec<_> = data.iter().map(Source::meta).collect();
        let [indices, updates] = [indices, updates].map(|operand| operand.as_ref().map(Source::shape));
        self.resolve(&data, indices, updates)?.link(operands, limits)
    }
}

impl ResolvedCall {
    /// Links the operator to its operands, which have the dtypes and shapes that it was resolved for: all that is left to do
    /// is reading.
    ///
    /// # Errors
    /// Updates of another dtype than the data ([`Subject::Dtype`]; the byte order and the width of strings may differ), or
    /// with a string that is longer than those of the data; an index that names no place; more bytes than can be counted; of
    /// reading an index tensor, and updates that are stored in the file that is changed in place.
    ///
    /// # Panics
    /// If an operand is missing that the operator must have.
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
    /// Returns all operands, in the order of the specifications.
    pub fn sources(&self) -> impl Iterator<Item = &Source> {
        self.data.iter().chain(&self.indices).chain(&self.updates)
    }

    /// Returns the one tensor that any other operator than Concat takes.
    fn into_data(self) -> Source {
        self.data.into_iter().next().expect("the data that the call was resolved for")
    }

    /// Returns the data that is changed, and the updates as items of it.
    fn into_change(mut self) -> Result<(Selection, Converted)> {
        let (updates, in_place) = (self.updates.take(), self.in_place);
        let updates = updates.expect("the updates that the call was resolved for");
        let data = widened(self.into_data(), updates.dtype())?;
        let mut updates = updates_of(&data, updates)?;
        // its file is about to be changed
        if in_place && updates.source.shares_bytes_with(&data)? {
            updates.hold(Hold::Memory, data.dtype(), Limits::default())?;
        }
        Ok((Selection::base(data, in_place), updates))
    }
}

/// The data alone.
impl From<Source> for Operands {
    fn from(data: Source) -> Self {
        Self { data: vec![data], ..Self::default() }
    }
}

/// Returns data with strings as wide as those of `updates`, if these are wider and the width of data is free.
///
/// # Errors
/// There is not enough memory.
pub fn widened(data: Source, updates: &DType) -> Result<Source> {
    let Some(conversion) = Conversion::new(data.dtype(), &updates.native()) else { return Ok(data) };
    if !data.has_free_width() || conversion.itemsize() <= data.dtype().itemsize() {
        return Ok(data);
    }
    let mut wide = Converted::new(data, conversion);
    wide.hold(Hold::Memory, &updates.native(), Limits::default())?;
    Ok(wide.source)
}

/// Converts updates to items of `data`, and checks whether all of them fit its width of strings.
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

/// Returns the one item of updates as an item of `data`.
fn item_of(data: &Source, updates: Source) -> Result<Vec<u8>> {
    let updates = updates_of(data, updates)?;
    let mut item = vec![0; updates.itemsize()];
    updates.read(updates.view(), &mut item, &mut Buffer::default())?;
    Ok(item)
}

/// Returns a line for each axis about the places that are taken of it.
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

    /// Fills the whole output at once.
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
            // one value for all places has no shape of its own
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
            // what is legal is said before shapes
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

    /// Updates are converted to items of the data where that loses nothing.
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
