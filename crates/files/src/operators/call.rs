//! Calls with their operands: [`Operands`] are linked to a [`Call`], which checks them and makes a [`Fill`].
//!
//! A single value can take its shape as updates from the resolved call before it is linked.

use std::sync::Arc;

use super::arranged::{Arranged, reshaped};
use super::concat::LinkedConcat;
use super::converted::Converted;
use super::fill::{Fill, Limits};
use super::indexed::{LinkedGather, LinkedScatter, ScatterOperands, each_window};
use super::selection::Selection;
use super::slice_scatter::{LinkedSliceScatter, Replacement};
use crate::storage::source::{Hold, Source};
use tensorop_kernels::error::{Error, Result, Subject, malformed};
use tensorop_kernels::item::dtype::DType;
use tensorop_kernels::item::encoding::Conversion;
use tensorop_kernels::layout::axis::coordinates;
use tensorop_kernels::memory::Buffer;
use tensorop_kernels::ops::call::{Call, Resolved, ResolvedCall};
use tensorop_kernels::parallel::Threads;

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

impl Operands {
    /// Resolves the call and links it.
    pub fn link(self, call: &Call, limits: Limits) -> Result<Box<dyn Fill>> {
        let data: Vec<_> = self.data.iter().map(Source::meta).collect();
        let [indices, updates] = [&self.indices, &self.updates].map(|operand| operand.as_ref().map(Source::shape));
        let resolved = call.resolve(&data, indices, updates)?;
        self.link_resolved(resolved, limits)
    }

    /// Links a call that was resolved for these dtypes and shapes; after this only reading can fail.
    ///
    /// # Panics
    /// A required operand is missing.
    pub fn link_resolved(mut self, call: ResolvedCall, limits: Limits) -> Result<Box<dyn Fill>> {
        let indices = self.indices.take();
        let indices = || indices.expect("the index tensor that the call was resolved for");
        Ok(match call.resolved {
            Resolved::Slice(spans) => Box::new(Selection::slice(self.into_data(), &spans)),
            Resolved::Places(places) => {
                let (base, updates) = self.into_change()?;
                Box::new(LinkedSliceScatter::new(&places, base, updates))
            }
            Resolved::Replaced { places, matcher, item } => {
                let replacement = Replacement { matcher, item, replaced: Arc::default(), limits };
                let base = Selection::base(self.data.swap_remove(0), self.in_place);
                Box::new(LinkedSliceScatter::replacing(&places, base, replacement))
            }
            Resolved::Scattered(spec, rule) => {
                let (base, updates) = self.into_change()?;
                let operands = ScatterOperands { base, indices: indices(), updates };
                Box::new(LinkedScatter::new(spec, operands, rule, limits)?)
            }
            Resolved::Gathered(spec) => Box::new(LinkedGather::new(self.into_data(), spec, indices(), limits)?),
            Resolved::Joined(joined) => Box::new(LinkedConcat::new(joined, self.data)?),
            Resolved::Transposed(axes) => Box::new(Selection::transposed(self.into_data(), &axes)),
            Resolved::Reshaped(dims) => reshaped(self.into_data(), dims),
            Resolved::Arranged(arrangement) => {
                let updates = self.updates.take();
                let mut data = self.into_data();
                let item = match updates {
                    None => data.dtype().default_item(),
                    Some(item) => {
                        data = widened(data, item.dtype())?;
                        item_of(&data, item)?
                    }
                };
                Box::new(Arranged::new(arrangement, data, item)?)
            }
        })
    }

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

#[cfg(test)]
mod tests {
    use ndarray::{ArrayD, array};

    use super::*;
    use crate::operators::fill::{Region, Scratch};
    use tensorop_kernels::error::Advice;
    use tensorop_kernels::item::meta::Meta;
    use tensorop_kernels::item::tensor::Tensor;
    use tensorop_kernels::layout::window::Window;
    use tensorop_kernels::ops::indexed::OutOfRange;
    use tensorop_kernels::ops::operators::broadcast::BroadcastRule;
    use tensorop_kernels::ops::operators::concat::Joining;
    use tensorop_kernels::ops::operators::pad::PadMode;
    use tensorop_kernels::ops::operators::reshape::NewShape;
    use tensorop_kernels::ops::reduction::{Reduction, Repeats};
    use tensorop_kernels::ops::slice::SliceArgs;

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
            let fill = operands.link(&call, Limits::default()).unwrap();
            assert_eq!(output(fill), Tensor::from(&expected), "{call:?}");
        }
    }

    #[test]
    fn a_change_in_place_begins_with_the_data_itself() {
        for in_place in [false, true] {
            let operands = Operands { in_place, ..operands(None, Some(array![[7, 8, 9]].into_dyn())) };
            let fill = operands.link(&Call::SliceScatter("1:".parse().unwrap()), Limits::default()).unwrap();
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
            let error = operands.link(&call, Limits::default()).unwrap_err();
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
            operands.link(&Call::SliceScatter(SliceArgs::default()), Limits::default()).map(output)
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
