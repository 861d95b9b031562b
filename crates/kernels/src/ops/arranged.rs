//! Outputs whose axes are [segments](crate::layout::segments) of the data's axes: pad, tile, roll and broadcast.

use ndarray::{ArrayBase, ArrayD, Data, Dimension};

use super::access::{Access, Feeds, Holding, Pattern, StoredWindow};
use super::arrays::check_shape;
use super::converted::{Converted, seekable};
use super::fill::{Fill, Limits, Region, Scratch};
use super::kernels::{Items, Output, Strided};
use crate::error::{Error, Result, Subject};
use crate::item::meta::Meta;
use crate::item::tensor::Tensor;
use crate::layout::segments::{Segments, arrange};
use crate::layout::shape::bytes_of;
use crate::layout::window::{Window, boxes_of_run, fill_each};
use crate::memory;
use crate::storage::conversion::Conversion;
use crate::storage::source::{Hold, Source};

/// The axes of an output as segments of the data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrangement {
    /// The data's axis per output axis; `None` for a new axis of dim 1.
    axes: Vec<Option<usize>>,
    /// One list per output axis, or one over all items if `is_counted`.
    segments: Vec<Segments>,
    shape: Vec<usize>,
    is_counted: bool,
}

impl Arrangement {
    pub fn new(segments: Vec<Segments>) -> Result<Self> {
        let axes = (0..segments.len()).map(Some).collect();
        Self::along(axes, segments)
    }

    /// `None` is a new axis of dim 1.
    pub fn along(axes: Vec<Option<usize>>, segments: Vec<Segments>) -> Result<Self> {
        let shape: Vec<usize> = segments.iter().map(Segments::len).collect();
        check_shape(&shape, Subject::Output)?;
        Ok(Self { axes, segments, shape, is_counted: false })
    }

    pub fn counted(shape: &[usize], segments: Segments) -> Self {
        let axes = (0..shape.len()).map(Some).collect();
        Self { axes, segments: vec![segments], shape: shape.to_vec(), is_counted: true }
    }

    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Links the data; `item` fills all other places.
    pub fn link(self, data: Source, item: Vec<u8>) -> Result<Arranged> {
        let dtype = data.dtype().clone();
        if bytes_of(&self.shape, dtype.itemsize()).is_none() {
            let message = format!("more bytes than can be counted ({} {:?})", dtype.name(), self.shape);
            return Err(Error::new(Subject::Output, message));
        }
        let data = Converted::new(data, Conversion::identity(&dtype)).along(&self.axes);
        Ok(Arranged { meta: Meta::new(dtype, self.shape.clone()), data, arrangement: self, item })
    }

    pub(super) fn of_array<T: Copy, D: Dimension>(
        &self,
        data: &ArrayBase<impl Data<Elem = T>, D>,
        item: Option<T>,
    ) -> Result<ArrayD<T>> {
        self.output(data, item).to_array()
    }

    pub(super) fn output<'a, T: Copy, D: Dimension>(
        &'a self,
        data: &'a ArrayBase<impl Data<Elem = T>, D>,
        item: Option<T>,
    ) -> Output<'a, T> {
        self.output_of(Strided::of(data), item.map(|item| vec![item]), Items::single())
    }

    pub(super) fn output_of<'a, T: Copy>(
        &'a self,
        data: Strided<'a, T>,
        item: Option<Vec<T>>,
        items: Items<T>,
    ) -> Output<'a, T> {
        let shape = self.shape.clone();
        match &self.segments[..] {
            [segments] if self.is_counted => Output::counted(shape, segments, data, item, items),
            segments => Output::arranged(shape, segments, data.along(&self.axes), item, items),
        }
    }

    pub(super) fn of_tensor(&self, data: &Tensor) -> Result<Tensor> {
        let item = data.dtype().default_item();
        let itemsize = data.dtype().itemsize();
        let mut out = memory::zeros(self.shape.iter().product::<usize>().saturating_mul(itemsize))?;
        let items = Items::bytes(itemsize);
        self.output_of(Strided::c_order(data.bytes(), data.shape(), items), Some(item), items).fill_all(&mut out);
        Tensor::new(data.dtype().clone(), self.shape.clone(), out)
    }
}

#[derive(Debug)]
pub struct Arranged {
    meta: Meta,
    data: Converted,
    arrangement: Arrangement,
    item: Vec<u8>,
}

impl Arranged {
    fn fill_box(&self, window: &Window, out: &mut [u8], scratch: &mut Scratch) -> Result<()> {
        let Arrangement { segments, is_counted, .. } = &self.arrangement;
        let pieces: Vec<_> = segments.iter().zip(&window.ranges).map(|(axis, range)| axis.pieces(range)).collect();
        arrange(&pieces, &self.item, out, |places, place, out| {
            let (view, [span, ..]) = (self.data.view(), places) else {
                return self.data.read_to(self.data.view(), place, out, scratch);
            };
            if !is_counted {
                return self.data.read_to(&view.select(places), place, out, scratch);
            }
            let first = place.as_run().expect("places of one axis follow each other") * self.data.itemsize();
            let boxes = boxes_of_run(&view.shape(), span.start, span.start + span.len);
            fill_each(&boxes, self.data.itemsize(), &mut out[first..], |window, out| {
                self.data.read(&view.part(&window.ranges), out, &mut scratch.gathered)
            })
        })
    }
}

impl Arranged {
    fn access(&self) -> Access<'_> {
        let Arrangement { axes, segments, is_counted, .. } = &self.arrangement;
        let access = Access::strided(&self.data.source, self.data.view(), axes);
        let pattern = if *is_counted { Pattern::Counted { view: self.data.view().clone() } } else { access.pattern };
        Access { source: access.source, feeds: Feeds::Segments(segments.clone()), pattern, copy: None }
    }
}

impl Fill for Arranged {
    fn meta(&self) -> &Meta {
        &self.meta
    }

    fn operand(&self, n: usize) -> Option<&Source> {
        (n == 0).then_some(&self.data.source)
    }

    fn holdings(&self, _: usize, limits: &Limits) -> Vec<Holding> {
        let (Arrangement { segments, is_counted, .. }, source) = (&self.arrangement, &self.data.source);
        let in_c_order = is_counted.then(|| Holding::for_source(source, 0, Hold::COrder, limits.threads)).flatten();
        let is_forward = segments.iter().all(Segments::is_forward);
        let seekable = match is_forward {
            true => seekable(source, 0, self.data.view(), limits),
            false => Holding::for_source(source, 0, Hold::Seekable, limits.threads),
        };
        in_c_order.into_iter().chain(seekable).collect()
    }

    fn hold(&mut self, holding: &Holding, limits: &Limits) -> Result<()> {
        self.data.source.hold(holding.hold, limits.threads)
    }

    fn reads(&self, _: usize) -> Vec<Access<'_>> {
        vec![self.access()]
    }

    fn fill(&self, region: &Region, out: &mut [u8], scratch: &mut Scratch) -> Result<()> {
        let (shape, itemsize) = (&self.meta.shape, self.meta.dtype.itemsize());
        if self.arrangement.is_counted {
            return fill_each(&region.runs(shape), itemsize, out, |run, out| {
                let places = run.start..run.start + run.items();
                self.fill_box(&Window { ranges: vec![places], ..*run }, out, scratch)
            });
        }
        fill_each(&region.boxes(shape), itemsize, out, |window, out| self.fill_box(window, out, scratch))
    }

    fn stored(&self, window: &Window) -> Result<Option<StoredWindow<'_>>> {
        Ok(if self.arrangement.is_counted { None } else { self.access().stored(window) })
    }
}
