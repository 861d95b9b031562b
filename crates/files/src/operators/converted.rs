//! Sources with a conversion of their items.

use std::ops::Range;

use super::access::{Access, Holding, StoredWindow};
use super::fill::{Fill, Limits, Patch, Region, Scratch};
use super::selection::Selection;
use crate::storage::source::{HeldCopy, Hold, Keep, Source};
use tensorop_kernels::error::Result;
use tensorop_kernels::item::dtype::DType;
use tensorop_kernels::item::encoding::Conversion;
use tensorop_kernels::item::meta::Meta;
use tensorop_kernels::layout::copy::copy_bytes;
use tensorop_kernels::layout::gather::Gaps;
use tensorop_kernels::layout::view::View;
use tensorop_kernels::layout::window::{Window, Windows, fill_each};
use tensorop_kernels::memory::Buffer;

#[derive(Debug)]
pub struct Converted {
    pub source: Source,
    view: View,
    conversion: Conversion,
}

impl Converted {
    pub fn new(source: Source, conversion: Conversion) -> Self {
        Self { view: source.view(), source, conversion }
    }

    #[must_use]
    pub fn converted_to(self, dtype: &DType) -> Self {
        let conversion = Conversion::new(self.source.dtype(), dtype).expect("another dtype of the same kind");
        Self { conversion, ..self }
    }

    pub fn view(&self) -> &View {
        &self.view
    }

    pub fn itemsize(&self) -> usize {
        self.conversion.itemsize()
    }

    pub fn bytes(&self) -> usize {
        self.view.items().saturating_mul(self.conversion.itemsize())
    }

    /// Selects these axes; `None` is a new axis of dim 1.
    #[must_use]
    pub fn along(self, axes: &[Option<usize>]) -> Self {
        Self { view: self.view.along(axes), ..self }
    }

    /// Makes the items fit for `hold`. Converted copies go to memory, or for [`Hold::Runs`] above `swept` bytes to a
    /// temporary file.
    pub fn hold(&mut self, hold: Hold, dtype: &DType, limits: Limits) -> Result<()> {
        if hold != Hold::Memory {
            self.source.hold(hold, limits.threads)?;
        }
        let is_fit = match hold {
            Hold::Memory => self.source.is_one_item(),
            Hold::Runs => self.in_runs(),
            Hold::Seekable | Hold::COrder | Hold::Scan | Hold::Local | Hold::AsStored | Hold::ByBoxes(_) => true,
        };
        if is_fit {
            return Ok(());
        }
        let is_few = self.bytes() <= limits.machine.swept || !self.source.is_read_by_position();
        if hold == Hold::Memory || is_few {
            return self.keep(dtype, limits);
        }
        let threads = self.source.threads(limits.threads);
        self.copy(Keep::File, dtype, &Windows::new(&self.view.shape(), self.copied_at_once(limits)), threads)
    }

    fn keep(&mut self, dtype: &DType, limits: Limits) -> Result<()> {
        let (shape, items) = (self.view.shape(), self.view.items());
        let row = items / shape.first().map_or(1, |&dim| dim.max(1));
        let (threads, window) = (self.source.threads(limits.threads), self.copied_at_once(limits));
        if threads == 1 || row > window || !self.source.is_read_by_position() {
            return self.copy(Keep::Memory, dtype, &Windows::new(&shape, usize::MAX), 1);
        }
        // parts of memory must have equal lengths, as windows of whole rows have
        self.copy(Keep::Memory, dtype, &Windows::new(&shape, window.min(items / threads).max(row)), threads)
    }

    fn copied_at_once(&self, limits: Limits) -> usize {
        let threads = self.source.threads(limits.threads);
        (limits.machine.across / threads).max(limits.machine.window) / self.itemsize().max(1)
    }

    pub fn copy_to_runs(&self, limits: &Limits) -> Option<HeldCopy> {
        let own = self.source.copy_to(Hold::Runs, limits.threads);
        if self.in_runs() {
            return own;
        }
        let is_by_position = own.map_or_else(|| self.source.is_read_by_position(), |copy| copy.keep == Keep::File);
        let is_few = self.bytes() <= limits.machine.swept || !is_by_position;
        let keep = if is_few { Keep::Memory } else { Keep::File };
        Some(HeldCopy { keep, bytes_read: self.source.bytes_stored() })
    }

    fn copy(&mut self, keep: Keep, dtype: &DType, windows: &Windows, threads: usize) -> Result<()> {
        let meta = Meta::c_order(dtype.clone(), self.view.shape());
        let source = self.source.copied(keep, meta, windows, threads, &|window, items, gathered| {
            self.read(&self.view.part(&window.ranges), items, gathered)
        })?;
        *self = Self::new(source, Conversion::identity(dtype));
        Ok(())
    }

    pub fn read(&self, view: &View, out: &mut [u8], gathered: &mut Buffer) -> Result<()> {
        self.source.read_as(&self.conversion, view, out, gathered)
    }

    /// `place` has the shape of `part`.
    pub(super) fn read_to(&self, part: &View, place: &View, out: &mut [u8], scratch: &mut Scratch) -> Result<()> {
        let (Scratch { gathered, items, .. }, itemsize) = (scratch, self.itemsize());
        let bytes = part.items() * itemsize;
        if let Some(first) = place.as_run() {
            return self.read(part, &mut out[first * itemsize..][..bytes], gathered);
        }
        items.resize(bytes, self.source.label())?;
        self.read(part, items, gathered)?;
        copy_bytes(items, &View::c_order(&place.shape()), out, place, itemsize);
        Ok(())
    }

    pub(super) fn is_as_stored(&self) -> bool {
        self.conversion.is_identity()
    }

    pub fn read_run(&self, first: usize, out: &mut [u8]) -> Result<()> {
        self.source.read_at(out, (first * self.itemsize()) as u64)?;
        self.conversion.swap(out);
        Ok(())
    }

    /// Returns whether any run can be read by itself.
    pub fn in_runs(&self) -> bool {
        let as_they_are = self.source.as_bytes().is_none() || self.conversion.is_identity();
        self.source.is_one_item() || as_they_are && self.conversion.keeps_width() && self.view.is_c_order()
    }
}

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
