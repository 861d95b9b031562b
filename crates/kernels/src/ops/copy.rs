//! A selection as an operator: `slice`, a copy, or a patch without changes.

use std::ops::Range;

use super::access::{Access, Holding, StoredWindow};
use super::fill::{Fill, Limits, Patch, Region, Scratch};
use super::selection::Selection;
use crate::error::Result;
use crate::item::meta::Meta;
use crate::layout::gather::Gaps;
use crate::layout::view::View;
use crate::layout::window::{Window, Windows, fill_each};
use crate::storage::source::{Hold, Source};

impl Fill for Selection {
    fn meta(&self) -> &Meta {
        &self.meta
    }

    fn operand(&self, n: usize) -> Option<&Source> {
        (n == 0).then_some(&self.source)
    }

    fn holdings(&self, _: usize, limits: &Limits) -> Vec<Holding> {
        seekable(&self.source, 0, self.view(), limits).into_iter().collect()
    }

    fn reads(&self, _: usize) -> Vec<Access<'_>> {
        vec![self.access()]
    }

    fn hold(&mut self, holding: &Holding, limits: &Limits) -> Result<()> {
        self.source.hold(holding.hold, limits.threads)
    }

    fn fill(&self, region: &Region, out: &mut [u8], scratch: &mut Scratch) -> Result<()> {
        let (shape, itemsize) = (&self.meta.shape, self.meta.dtype.itemsize());
        if let Region::Run(run) = region
            && let Some(first) = self.view().as_run()
            && self.source.is_read_by_position()
        {
            return self.source.read_at(out, ((first + run.start) * itemsize) as u64);
        }
        fill_each(&region.boxes(shape), itemsize, out, |window, out| {
            let (part, gathered) = (self.view().part(&window.ranges), &mut scratch.gathered);
            // Gaps in contiguous output belong to no other window. Runs have no gaps, and edits in place read
            // thousands.
            if part.as_run().is_none() && window.is_contiguous(shape) && self.view().crossing().is_none() {
                self.source.read_between(&part, Gaps::Unwanted, out, gathered)
            } else {
                self.source.read(&part, out, gathered)
            }
        })
    }

    fn stored(&self, window: &Window) -> Result<Option<StoredWindow<'_>>> {
        Ok(self.access().stored(window))
    }

    fn as_patch(&self) -> Option<&dyn Patch> {
        Some(self)
    }
}

impl Patch for Selection {
    fn base(&self) -> &Selection {
        self
    }

    fn touched(&self, _: &Windows, _: Range<usize>) -> Result<Vec<usize>> {
        Ok(Vec::new())
    }

    fn extent(&self, _: &Window) -> Result<Range<usize>> {
        Ok(0..0)
    }
}

pub(super) fn seekable(source: &Source, operand: usize, view: &View, limits: &Limits) -> Option<Holding> {
    let must = must_be_seekable(source, view, *limits);
    if must { Holding::for_source(source, operand, Hold::Seekable, limits.threads) } else { None }
}

/// Returns whether a stream must be copied first: if it is not read forward, or if items exceed a window, so that
/// memory is only allocated for items that exist.
pub fn must_be_seekable(source: &Source, view: &View, limits: Limits) -> bool {
    source.is_stream() && (!view.is_forward() || source.dtype().itemsize() > limits.machine.window)
}
