//! The interface between operators and the engine: an operator fills windows of its output.
//!
//! An operator is *linked* to its sources when all its checks have passed; all that is left to do is reading. So the engine
//! may fill any window, in any order, on any thread, and knows no operator by name.

use std::fmt::Debug;
use std::ops::Range;

use super::access::{Access, StoredWindow};
use super::machine::Machine;
use crate::error::Result;
use crate::item::meta::Meta;
use crate::layout::window::{Window, Windows, boxes_of_run};
use crate::memory::Buffer;
use crate::parallel::Threads;
use crate::storage::source::Source;

/// The resources that a run may use. The result does not depend on them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    /// How many threads may share the work.
    pub threads: Threads,
    /// What was measured of the machine.
    pub machine: Machine,
    /// The most bytes of memory that all threads together hold at once where items move across a grid or an order of
    /// storage; `None` for [as many as usual](Machine::memory).
    pub memory: Option<usize>,
}

impl Limits {
    /// Returns how many bytes may be held at once so that what lies across the windows is read once.
    pub fn held(self) -> usize {
        self.memory.unwrap_or(self.machine.memory)
    }
}

/// The buffers that a thread needs to fill a window. They are kept from one window to the next, since touching memory for
/// the first time costs as much as copying it.
#[derive(Debug, Default)]
pub struct Scratch {
    /// A buffer through which scattered items are gathered.
    pub gathered: Buffer,
    /// A buffer for items on their way to their places.
    pub items: Buffer,
    /// The buffers of the operator whose output this one takes, if there is one.
    pub inner: Option<Box<Scratch>>,
}

/// The output of an operator, linked to what it reads.
pub trait Fill: Debug + Send + Sync {
    /// Returns the dtype and the shape of the output. Its order is C: windows are cut from it in C order, whatever the order
    /// of a file is.
    fn meta(&self) -> &Meta;

    /// Returns how the items of each operand are taken that become items of the output, each operand once. The first is the one
    /// that the output stands for: it lends the output its name, its style of storage and what messages call it. An index
    /// tensor, which says only where items go, is not among them.
    fn reads(&self) -> Vec<Access<'_>>;

    /// Makes every operand readable in the order in which windows will need it: a stream, which can be read once from front
    /// to back, is kept if it must be read otherwise. This is called once, before any window is filled.
    ///
    /// # Errors
    /// Of reading.
    fn prepare(&mut self) -> Result<()>;

    /// Makes `out` the items of a window, in C order. It has as many bytes as these, and all of them are
    /// overwritten. The window is contiguous in C order of the output, unless the first operand is read in a pattern that [takes
    /// boxes](Access::takes_boxes).
    ///
    /// # Errors
    /// Of reading; not enough memory; an item that cannot be made, which only a cast has.
    fn fill(&self, window: &Window, out: &mut [u8], scratch: &mut Scratch) -> Result<()>;

    /// Makes `out` a run of items of the output, counted in C order, as [`fill`](Self::fill) makes a window. Override
    /// it if a run needs no places along axes: here it is cut into boxes, with parts of rows at its ends.
    ///
    /// # Errors
    /// Those of [`fill`](Self::fill).
    fn fill_run(&self, run: Range<usize>, out: &mut [u8], scratch: &mut Scratch) -> Result<()> {
        fill_run_by_boxes(self, run, out, scratch)
    }

    /// Returns how many bytes a window should have at least, if so many threads fill windows, because of what each window costs
    /// that the [patterns](Self::reads) do not tell: where an index tensor or many operands are looked through for each. `None`
    /// if any size will do.
    fn window_bytes(&self, _threads: usize, _machine: &Machine) -> Option<usize> {
        None
    }

    /// Returns the chunks that hold the items of a window exactly as the output has them, so that a sink of chunks can copy
    /// these without unpacking them; `None` if they must be filled. A window may lie in any operand: an operator that joins many of them answers
    /// for each window by itself.
    ///
    /// # Errors
    /// Of reading what tells whether the window is altered.
    fn stored(&self, _window: &Window) -> Result<Option<StoredWindow<'_>>> {
        Ok(None)
    }

    /// Returns this operator as a patch, if its output is one stored tensor with some items replaced.
    fn as_patch(&self) -> Option<&dyn Patch> {
        None
    }

    /// Checks, when all that was wanted has been read, that every operand was whole and has not changed meanwhile, but for data
    /// that the program itself has changed in place.
    ///
    /// # Errors
    /// Those of [`Source::finish`].
    fn finish(&self) -> Result<()> {
        self.reads().into_iter().try_for_each(|access| access.source.finish())
    }
}

impl<'a> dyn Fill + 'a {
    /// Returns the operands whose items become items of the output, each once. Their files are what the output is made of:
    /// what these files say of themselves goes over to it.
    pub fn operands(&self) -> Vec<&Source> {
        self.reads().into_iter().map(|access| access.source).collect()
    }

    /// Returns the operand that the output stands for, the first of the [`operands`](Self::operands).
    pub fn data(&self) -> &Source {
        self.reads().swap_remove(0).source
    }
}

/// Makes `out` a run of items of an output, which is cut into boxes.
///
/// # Errors
/// Those of [`Fill::fill`].
pub(crate) fn fill_run_by_boxes(
    fill: &(impl Fill + ?Sized),
    run: Range<usize>,
    out: &mut [u8],
    scratch: &mut Scratch,
) -> Result<()> {
    fill_boxes(fill, boxes_of_run(&fill.meta().shape, run.start, run.end), out, scratch)
}

/// Makes `out` the items of some boxes of an output, one box after the other.
///
/// # Errors
/// Those of [`Fill::fill`].
pub(crate) fn fill_boxes(
    fill: &(impl Fill + ?Sized),
    boxes: impl IntoIterator<Item = Window>,
    out: &mut [u8],
    scratch: &mut Scratch,
) -> Result<()> {
    let (itemsize, mut rest) = (fill.meta().dtype.itemsize(), out);
    for window in boxes {
        let (items, after) = rest.split_at_mut(window.items() * itemsize);
        fill.fill(&window, items, scratch)?;
        rest = after;
    }
    Ok(())
}

/// The stored tensor that a patch begins with.
#[derive(Clone, Copy, Debug)]
pub struct PatchBase<'a> {
    /// The tensor.
    pub source: &'a Source,
    /// Whether it is changed where it is stored.
    pub is_in_place: bool,
    /// Whether the output has all of its items, in the order in which they are stored.
    pub is_whole_storage: bool,
}

/// An output that equals one stored tensor, its base, in which some items are replaced.
///
/// A patch is what can be changed in place, and what can begin as a clone of the file of its base: only the windows in
/// which something changes are filled and written then.
pub trait Patch: Sync {
    /// Returns the stored tensor that the patch begins with.
    fn base(&self) -> PatchBase<'_>;

    /// Returns the numbers of the windows in which something changes, of those `among` all, in ascending order.
    ///
    /// # Errors
    /// Of reading an index tensor once more, or the items that tell it; not enough memory.
    fn touched(&self, windows: &Windows, among: Range<usize>) -> Result<Vec<usize>>;

    /// Returns the range from the first item of a window that changes to behind the last, counted from the beginning of the
    /// window.
    ///
    /// # Errors
    /// Those of [`touched`](Self::touched).
    fn extent(&self, window: &Window) -> Result<Range<usize>>;
}
