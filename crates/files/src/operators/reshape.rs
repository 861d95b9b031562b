//! Sources with other dims.

use super::access::{Access, Holding, Pattern, StoredWindow};
use super::fill::{Fill, Limits, Region, Scratch};
use super::selection::Selection;
use crate::storage::source::{Hold, Source};
use tensorop_kernels::error::Result;
use tensorop_kernels::item::meta::Meta;
use tensorop_kernels::layout::window::{Window, fill_each};
use tensorop_kernels::ops::reshape::differ_by_ones;

/// Reshapes data for chunked outputs, which need boxes of the new dims.
pub fn reshaped(data: Source, shape: Vec<usize>) -> Box<dyn Fill> {
    if differ_by_ones(data.shape(), &shape) {
        let old = data.shape().to_vec();
        let mut old = (0..old.len()).filter(|&axis| old[axis] != 1);
        let axes: Vec<_> = shape.iter().map(|&dim| if dim == 1 { None } else { old.next() }).collect();
        return Box::new(Selection::whole(data).along(&axes));
    }
    Box::new(Reshaped { meta: Meta::new(data.dtype().clone(), shape), data: Selection::whole(data) })
}

#[derive(Debug)]
struct Reshaped {
    data: Selection,
    meta: Meta,
}

impl Reshaped {
    fn access(&self) -> Access<'_> {
        Access { pattern: Pattern::Counted { view: self.data.view().clone() }, ..self.data.access() }
    }
}

impl Fill for Reshaped {
    fn meta(&self) -> &Meta {
        &self.meta
    }

    fn operand(&self, n: usize) -> Option<&Source> {
        self.data.operand(n)
    }

    fn holdings(&self, way: usize, limits: &Limits) -> Vec<Holding> {
        let in_c_order = Holding::for_source(&self.data.source, 0, Hold::COrder, limits.threads);
        in_c_order.into_iter().chain(self.data.holdings(way, limits)).collect()
    }

    fn hold(&mut self, holding: &Holding, limits: &Limits) -> Result<()> {
        self.data.hold(holding, limits)
    }

    fn reads(&self, _: usize) -> Vec<Access<'_>> {
        vec![self.access()]
    }

    fn fill(&self, region: &Region, out: &mut [u8], scratch: &mut Scratch) -> Result<()> {
        let Meta { dtype, shape, .. } = &self.meta;
        fill_each(&region.runs(shape), dtype.itemsize(), out, |piece, out| {
            self.data.fill(&Region::Run(piece.start..piece.start + piece.items()), out, scratch)
        })
    }

    fn stored(&self, window: &Window) -> Result<Option<StoredWindow<'_>>> {
        Ok(self.access().stored(window))
    }
}
