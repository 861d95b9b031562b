//! What an operator is to the engine: something that fills windows of its output.
//!
//! An operator is *linked* to its sources when every check is past; what is left are reads. So the engine may fill any
//! window, in any order, on any thread, and knows no operator by name.

use std::fmt::Debug;
use std::ops::Range;

use super::selection::Selection;
use super::window_size::WINDOW;
use crate::error::Result;
use crate::item::meta::Meta;
use crate::layout::window::{Window, Windows};
use crate::parallel::Threads;
use crate::storage::source::Source;

/// What a run may use. The result is the same whatever it is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    /// Threads at most.
    pub threads: Threads,
    /// The bytes of a window, instead of those that [`window_size`](super::window_size) gives: for tests, which want
    /// boundaries everywhere, also between the sweeps through an index tensor.
    pub window: Option<usize>,
}

/// Memory that filling a window needs, kept from one window to the next: touching it for the first time costs as much as
/// copying it.
#[derive(Debug, Default)]
pub struct Scratch {
    /// What scattered items are gathered through.
    pub gathered: Vec<u8>,
    /// Items on their way to their places.
    pub items: Vec<u8>,
    /// The same, of an operator that stands on another.
    pub inner: Option<Box<Scratch>>,
}

/// The output of an operator, linked to what it reads.
pub trait Fill: Debug + Send + Sync {
    /// The output. Its order is C: windows are cut from it so, whatever order a file keeps it in.
    fn meta(&self) -> &Meta;

    /// What is read, the data first.
    fn sources(&self) -> Vec<&Source>;

    /// Makes everything readable in the order in which windows will need it: what comes once, from front to back, is
    /// kept if it must be read otherwise. Called once, before any window is filled.
    ///
    /// # Errors
    /// Of reading.
    fn prepare(&mut self) -> Result<()>;

    /// Makes `out` the items of a window, in C order; what it held is lost. The window is contiguous in C order of the
    /// output, unless [`fills_boxes`](Self::fills_boxes).
    ///
    /// # Errors
    /// Of reading; not enough memory; an item that cannot be made, which only a cast has.
    fn fill(&self, window: &Window, out: &mut Vec<u8>, scratch: &mut Scratch) -> Result<()>;

    /// The bytes of a window that suit what is read, for so many threads.
    fn window_bytes(&self, _threads: usize) -> usize {
        WINDOW
    }

    /// The bytes of the widest item on the way to the output.
    fn widest(&self) -> usize {
        self.meta().dtype.itemsize()
    }

    /// Where windows had best end, in places of each axis, because what is read lies in chunks; `None` where any will do.
    fn grid(&self) -> Option<Vec<usize>> {
        None
    }

    /// Whether windows may be any boxes; else they are contiguous in C order of the output.
    fn fills_boxes(&self) -> bool {
        false
    }

    /// The output as stored items of which some change; `None` if it is something else.
    fn as_patch(&self) -> Option<&dyn Patch> {
        None
    }

    /// To be called when all that was wanted has been read: it must have been whole, and must be as it was.
    ///
    /// # Errors
    /// Those of [`Source::finish`].
    fn finish(&self) -> Result<()> {
        self.sources().into_iter().try_for_each(Source::finish)
    }
}

/// An output that consists of stored items, of which some change.
///
/// This is what makes an edit cost what it changes: windows that nothing touches are left to the kernel's own copy, or,
/// in place, left alone.
pub trait Patch: Sync {
    /// The stored items.
    fn base(&self) -> &Selection;

    /// How many items change, at most.
    fn changed(&self) -> usize;

    /// The numbers of the windows in which something changes, ascending.
    ///
    /// # Errors
    /// Of reading what says so once more; not enough memory.
    fn touched(&self, windows: &Windows) -> Result<Vec<usize>>;

    /// Whether anything changes in a window.
    ///
    /// # Errors
    /// Those of [`touched`](Self::touched).
    fn touches(&self, window: &Window) -> Result<bool>;

    /// From the first item of a window that changes to behind the last, counted from its own beginning.
    ///
    /// # Errors
    /// Those of [`touched`](Self::touched).
    fn extent(&self, window: &Window) -> Result<Range<usize>>;

    /// [`Fill::finish`] for everything but the base, which has changed by the program's own hand.
    ///
    /// # Errors
    /// Those of [`Source::finish`].
    fn finish_updates(&self) -> Result<()>;
}
