//! Outputs whose axes are segments of the data's axes: pad, tile, roll, broadcast and reshape.

use super::access::{Access, Feeds, Holding, Pattern, StoredWindow};
use super::converted::{Converted, seekable};
use super::fill::{Fill, Limits, Region, Scratch, check_size};
use super::selection::Selection;
use crate::storage::source::{Hold, Source};
use tensorop_kernels::error::Result;
use tensorop_kernels::item::encoding::Conversion;
use tensorop_kernels::item::meta::Meta;
use tensorop_kernels::layout::segments::{Segments, arrange};
use tensorop_kernels::layout::view::View;
use tensorop_kernels::layout::window::{Window, boxes_of_run, fill_each};
use tensorop_kernels::ops::operators::arranged::Arrangement;
use tensorop_kernels::ops::operators::reshape::differ_by_ones;

/// An [`Arrangement`] of a source.
#[derive(Debug)]
pub struct Arranged {
    meta: Meta,
    data: Converted,
    arrangement: Arrangement,
    item: Vec<u8>,
}

impl Arranged {
    /// Links the data; `item` fills all other places.
    pub fn new(arrangement: Arrangement, data: Source, item: Vec<u8>) -> Result<Self> {
        let (dtype, shape) = (data.dtype().clone(), &arrangement.shape);
        check_size(&dtype, shape)?;
        Ok(Self::linked(arrangement, data, item))
    }

    fn linked(arrangement: Arrangement, data: Source, item: Vec<u8>) -> Self {
        let meta = Meta::c_order(data.dtype().clone(), arrangement.shape.clone());
        let data = Converted::new(data, Conversion::identity(&meta.dtype)).along(&arrangement.axes);
        Self { meta, data, arrangement, item }
    }

    fn is_reshaped(&self) -> bool {
        let items = self.data.view().items();
        self.arrangement.is_counted && self.arrangement.segments[0] == Segments::whole(items)
    }

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
            // A reshape reads any run of contiguous items at once. The plans of the other outputs count reads by rows.
            let is_at_once = self.is_reshaped() && self.data.source.is_read_by_position();
            let run = view.as_run().filter(|_| is_at_once).map(|first| View::c_order(&[view.items()]).from_item(first));
            let view = run.as_ref().unwrap_or(view);
            let boxes = boxes_of_run(&view.shape(), span.start, span.start + span.len);
            fill_each(&boxes, self.data.itemsize(), &mut out[first..], |window, out| {
                self.data.read(&view.part(&window.ranges), out, &mut scratch.gathered)
            })
        })
    }

    fn access(&self) -> Access<'_> {
        let Arrangement { axes, segments, is_counted, .. } = &self.arrangement;
        let access = Access::strided(&self.data.source, self.data.view(), axes);
        let pattern = match is_counted {
            true => Pattern::Counted { view: self.data.view().clone() },
            false => access.pattern.clone(),
        };
        let feeds = if self.is_reshaped() { Feeds::All } else { Feeds::Segments(segments.clone()) };
        Access { feeds, pattern, ..access }
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
        let is_moved = self.arrangement.is_counted && !self.is_reshaped();
        Ok(if is_moved { None } else { self.access().stored(window) })
    }
}

/// Reshapes data for chunked outputs, which need boxes of the new dims.
pub fn reshaped(data: Source, shape: Vec<usize>) -> Box<dyn Fill> {
    if differ_by_ones(data.shape(), &shape) {
        let old = data.shape().to_vec();
        let mut old = (0..old.len()).filter(|&axis| old[axis] != 1);
        let axes: Vec<_> = shape.iter().map(|&dim| if dim == 1 { None } else { old.next() }).collect();
        return Box::new(Selection::whole(data).along(&axes));
    }
    let axes = (0..data.shape().len()).map(Some).collect();
    let segments = vec![Segments::whole(data.meta().items())];
    Box::new(Arranged::linked(Arrangement { axes, segments, shape, is_counted: true }, data, Vec::new()))
}
