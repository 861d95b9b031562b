//! The interface between operators and the engine: an operator fills windows of its output.
//!
//! An operator is *linked* to its sources when all its checks have passed; all that is left to do is reading. So the engine
//! may fill any window, in any order, on any thread, and knows no operator by name.

use std::fmt::Debug;
use std::ops::Range;

use super::window_size::{ENTRIES, FILE_WINDOW, MEMORY};
use crate::error::Result;
use crate::item::meta::Meta;
use crate::layout::window::{Window, Windows, boxes_of_run};
use crate::parallel::Threads;
use crate::storage::chunked::Chunked;
use crate::storage::source::Source;

/// The resources that a run may use. The result does not depend on them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    /// How many threads may share the work.
    pub threads: Threads,
    /// The bytes of a window, instead of those that [`window_size`](super::window_size) gives: for tests, which want
    /// boundaries everywhere, also between the sweeps through an index tensor.
    pub window: Option<usize>,
    /// The most bytes of memory that all threads together hold at once where items move across a grid or an order of
    /// storage; `None` for [`MEMORY`].
    pub memory: Option<usize>,
}

impl Limits {
    /// Returns how many bytes may be held at once so that what lies across the windows is read once.
    pub fn held(self) -> usize {
        // where tests make windows small, most tensors must need several slabs
        self.window.map_or(self.memory.unwrap_or(MEMORY), |window| window.saturating_mul(32))
    }

    /// Returns how many bytes of entries of an index tensor are kept in memory at once.
    pub(super) fn entries(self) -> usize {
        // where tests make windows small, most index tensors must not fit
        self.window.map_or(ENTRIES, |window| window.saturating_mul(8))
    }
}

/// The buffers that a thread needs to fill a window. They are kept from one window to the next, since touching memory for
/// the first time costs as much as copying it.
#[derive(Debug, Default)]
pub struct Scratch {
    /// A buffer through which scattered items are gathered.
    pub gathered: Vec<u8>,
    /// A buffer for items on their way to their places.
    pub items: Vec<u8>,
    /// The buffers of the operator whose output this one takes, if there is one.
    pub inner: Option<Box<Scratch>>,
}

/// The output of an operator, linked to what it reads.
pub trait Fill: Debug + Send + Sync {
    /// Returns the dtype and the shape of the output. Its order is C: windows are cut from it in C order, whatever the order
    /// of a file is.
    fn meta(&self) -> &Meta;

    /// Returns every operand whose items become items of the output, each once, [`data`](Self::data) first. Their files
    /// are what the output is made of: what these files say of themselves goes over to it. An index tensor, which says
    /// only where items go, is not among them.
    fn operands(&self) -> Vec<&Source>;

    /// Returns the operand that the output stands for, the first of the [`operands`](Self::operands): it lends the output
    /// its name, its style of storage and what messages call it.
    fn data(&self) -> &Source {
        self.operands()[0]
    }

    /// Returns the operator whose output this one alters, if there is one. It decides the size and the form of windows, where
    /// this operator has no reason for others.
    fn altered(&self) -> Option<&dyn Fill> {
        None
    }

    /// Makes every operand readable in the order in which windows will need it: a stream, which can be read once from front
    /// to back, is kept if it must be read otherwise. This is called once, before any window is filled.
    ///
    /// # Errors
    /// Of reading.
    fn prepare(&mut self) -> Result<()>;

    /// Makes `out` the items of a window, in C order. It has as many bytes as these, all of which are made: what it held before
    /// is of no account. The window is contiguous in C order of the output, unless the operator [fills
    /// boxes](Self::fills_boxes).
    ///
    /// # Errors
    /// Of reading; not enough memory; an item that cannot be made, which only a cast has.
    fn fill(&self, window: &Window, out: &mut [u8], scratch: &mut Scratch) -> Result<()>;

    /// Makes `out` a run of items of the output, counted in C order, as [`fill`](Self::fill) makes a window. A run that is cut
    /// into boxes has parts of rows at its ends, so an operator that needs no places along axes fills it as it is.
    ///
    /// # Errors
    /// Those of [`fill`](Self::fill).
    fn fill_run(&self, run: Range<usize>, out: &mut [u8], scratch: &mut Scratch) -> Result<()> {
        fill_run_by_boxes(self, run, out, scratch)
    }

    /// Returns the operands that are read for the output in so many short pieces that a server had better be asked for all of
    /// their items at once.
    fn in_short_pieces(&self) -> Vec<&Source> {
        self.altered().map_or_else(Vec::new, Fill::in_short_pieces)
    }

    /// Returns how many bytes a window should have for what is read, if so many threads fill windows. [`FILE_WINDOW`] says that
    /// shorter ones would do as well, so that a window is as long as suits where it goes.
    fn window_bytes(&self, threads: usize) -> usize {
        self.altered().map_or(FILE_WINDOW, |fill| fill.window_bytes(threads))
    }

    /// Returns what it takes to make the output, as the number of bytes whose copying takes as long: its own bytes, or more where
    /// they are read in short pieces.
    fn effort(&self) -> usize {
        self.altered().map_or(0, Fill::effort).max(self.meta().bytes())
    }

    /// Returns the bytes of the widest item on the way to the output.
    fn widest(&self) -> usize {
        self.meta().dtype.itemsize().max(self.altered().map_or(0, Fill::widest))
    }

    /// Returns the grid at which windows should end, in places of each axis, because what is read lies in chunks; `None`
    /// where they may end anywhere.
    fn grid(&self) -> Option<Vec<usize>> {
        self.altered()?.grid()
    }

    /// Returns the sides of the boxes of which all is read wherever a part of them is wanted: chunks, or pages of a file along
    /// the axis along which items are stored side by side. `None` where that is not known, or where nothing is read twice,
    /// and unless the operator [fills boxes](Self::fills_boxes).
    fn grain(&self) -> Option<Vec<usize>> {
        match self.altered() {
            Some(fill) => fill.grain(),
            None => self.grid().filter(|_| self.fills_boxes()),
        }
    }

    /// Returns for each axis of the output the axis of the [data](Self::data) that it runs along, if it runs along one;
    /// `None` where the output has the axes of the data. What a store in chunks says of an axis goes along with it.
    fn axes_of_data(&self) -> Option<Vec<Option<usize>>> {
        self.altered()?.axes_of_data()
    }

    /// Returns the sides of boxes of about so many items that are read and written in the longest pieces, where windows that are
    /// contiguous in the output would be read in short ones because what is read is stored across its order; `None` elsewhere.
    /// Where it returns sides, the operator [fills boxes](Self::fills_boxes).
    fn tile(&self, items: usize) -> Option<Vec<usize>> {
        self.altered()?.tile(items)
    }

    /// Returns how many bytes of what is stored across the output are read in one piece for a box of these sides; the most
    /// there can be where nothing is stored so.
    fn piece(&self, sides: &[usize]) -> usize {
        self.altered().map_or(usize::MAX, |fill| fill.piece(sides))
    }

    /// Returns an operator whose output has the same items in the same C order, with other dims, if there is one: a
    /// [tile](Self::tile) of that output may be read in longer pieces than any window of this one.
    fn same_items(&self) -> Option<&dyn Fill> {
        None
    }

    /// Returns whether windows may be any boxes; otherwise they are contiguous in C order of the output.
    fn fills_boxes(&self) -> bool {
        self.altered().is_some_and(Fill::fills_boxes)
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

    /// Returns how many bytes of the data are read for a window, as far as that is known without reading.
    fn bytes_read(&self, window: &Window) -> u64 {
        (window.items() * self.data().dtype().itemsize()) as u64
    }

    /// Returns this operator as a patch, if its output is one stored tensor with some items replaced.
    fn as_patch(&self) -> Option<&dyn Patch> {
        None
    }

    /// Checks, when all that was wanted has been read, that every operand was whole and has not changed meanwhile.
    ///
    /// # Errors
    /// Those of [`Source::finish`].
    fn finish(&self) -> Result<()> {
        self.operands().into_iter().try_for_each(Source::finish)
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

/// A box of chunks whose items are a window of an output as it is.
#[derive(Debug)]
pub struct StoredWindow<'a> {
    /// The tensor that is stored in chunks.
    pub chunks: &'a dyn Chunked,
    /// The box of that tensor that the window shows.
    pub places: Window,
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

    /// Returns how many items change, at most.
    fn changed(&self) -> usize;

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

    /// Does what [`Fill::finish`] does, except for the base, which the program itself has changed.
    ///
    /// # Errors
    /// Those of [`Source::finish`].
    fn finish_updates(&self) -> Result<()>;
}
