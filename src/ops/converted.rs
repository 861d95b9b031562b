//! Sources whose items are converted while they are read: updates, which become items of the data, tensors that are joined, and
//! index tensors.

use super::fill::{Limits, Scratch};
use crate::error::Result;
use crate::item::dtype::DType;
use crate::item::meta::Meta;
use crate::layout::view::View;
use crate::layout::walk::copy_bytes;
use crate::layout::window::Windows;
use crate::memory::Buffer;
use crate::storage::conversion::Conversion;
use crate::storage::source::{HeldCopy, Hold, Keep, Source};

/// A source, in any order of its axes, with the conversion of its items. Updates are converted to items of the data, and the
/// numbers of index tensors to native ones.
#[derive(Debug)]
pub struct Converted {
    /// The source, which may be made readable in another order than it comes.
    pub source: Source,
    view: View,
    conversion: Conversion,
}

impl Converted {
    /// Combines a source with the conversion that [`Conversion::new`] has given for its dtype and the dtype that is wanted.
    pub fn new(source: Source, conversion: Conversion) -> Self {
        Self { view: source.view(), source, conversion }
    }

    /// Returns the same items as those of another dtype of the same kind, such as the native one.
    #[must_use]
    pub fn converted_to(self, dtype: &DType) -> Self {
        let conversion = Conversion::new(self.source.dtype(), dtype).expect("another dtype of the same kind");
        Self { conversion, ..self }
    }

    /// Returns where the items lie in the storage of the source.
    pub fn view(&self) -> &View {
        &self.view
    }

    /// Returns the bytes of an item when it has been converted.
    pub fn itemsize(&self) -> usize {
        self.conversion.itemsize()
    }

    /// Returns the bytes of all items when they have been converted.
    pub fn bytes(&self) -> usize {
        self.view.items().saturating_mul(self.conversion.itemsize())
    }

    /// Returns the same items along these of the axes, and along new ones of one place, which are `None`.
    #[must_use]
    pub fn along(self, axes: &[Option<usize>]) -> Self {
        Self { view: self.view.along(axes), ..self }
    }

    /// Makes them fit for what `hold` says, as [`Source::hold`] does: as the items of `dtype` that they are converted to, and in
    /// the order of their view. What they are read into memory for, or to read [runs](Hold::Runs) of them where they are not in
    /// [runs](Self::in_runs), is a copy that is converted: those that take more than the windows that
    /// would sweep through them are copied to a temporary file, others to memory. One item that stands for all places stays one.
    ///
    /// # Errors
    /// Of reading them, and of writing that file; not enough memory.
    pub fn hold(&mut self, hold: Hold, dtype: &DType, limits: Limits) -> Result<()> {
        if hold != Hold::Memory {
            self.source.hold(hold, limits.threads)?;
        }
        let is_fit = match hold {
            Hold::Memory => self.source.is_one_item(),
            Hold::Runs => self.in_runs(),
            Hold::Seekable | Hold::COrder | Hold::Scan | Hold::Local => true,
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

    /// Copies all of them to memory, by several threads where they are read by position.
    fn keep(&mut self, dtype: &DType, limits: Limits) -> Result<()> {
        let (shape, items) = (self.view.shape(), self.view.items());
        let row = items / shape.first().map_or(1, |&dim| dim.max(1));
        let (threads, window) = (self.source.threads(limits.threads), self.copied_at_once(limits));
        if threads == 1 || row > window || !self.source.is_read_by_position() {
            return self.copy(Keep::Memory, dtype, &Windows::new(&shape, usize::MAX), 1);
        }
        // parts of memory have one length, as windows of whole rows have
        self.copy(Keep::Memory, dtype, &Windows::new(&shape, window.min(items / threads).max(row)), threads)
    }

    /// Returns how many items a thread copies at once.
    fn copied_at_once(&self, limits: Limits) -> usize {
        let threads = self.source.threads(limits.threads);
        (limits.machine.across / threads).max(limits.machine.window) / self.itemsize().max(1)
    }

    /// Returns the copy that is made so that [runs](Hold::Runs) of them can be read, if any.
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

    /// Puts a copy in their place, converted and in C order of their view.
    fn copy(&mut self, keep: Keep, dtype: &DType, windows: &Windows, threads: usize) -> Result<()> {
        let meta = Meta::new(dtype.clone(), self.view.shape());
        let source = self.source.copied(keep, meta, windows, threads, &|window, items, gathered| {
            self.read(&self.view.part(&window.ranges), items, gathered)
        })?;
        *self = Self::new(source, Conversion::identity(dtype));
        Ok(())
    }

    /// Reads the items that a part of the view shows, in C order.
    ///
    /// # Errors
    /// Those of [`Source::read`].
    pub fn read(&self, view: &View, out: &mut [u8], gathered: &mut Buffer) -> Result<()> {
        self.conversion.read(&self.source, view, out, gathered)
    }

    /// Reads the items that a part of the view shows into the places of `out` that `place` shows, which are as many in the same
    /// order.
    ///
    /// # Errors
    /// Those of [`read`](Self::read); not enough memory.
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

    /// Returns whether no item is converted.
    pub(super) fn is_as_stored(&self) -> bool {
        self.conversion.is_identity()
    }

    /// Fills `out` with items from item `first` on, where [`in_runs`](Self::in_runs) allows it.
    ///
    /// # Errors
    /// Those of [`Source::read_at`].
    pub fn read_run(&self, first: usize, out: &mut [u8]) -> Result<()> {
        self.source.read_at(out, (first * self.itemsize()) as u64)?;
        self.conversion.swap(out);
        Ok(())
    }

    /// Returns whether any run of them can be read by itself.
    pub fn in_runs(&self) -> bool {
        let as_they_are = self.source.as_bytes().is_none() || self.conversion.is_identity();
        self.source.is_one_item() || as_they_are && self.conversion.keeps_width() && self.view.is_c_order()
    }
}
