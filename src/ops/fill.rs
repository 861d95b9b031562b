//! What an operator is to the engine: something that fills windows of its output.
//!
//! An operator is *linked* to its sources when every check is past; what is left are reads. So the engine may fill any
//! window, in any order, on any thread, and knows no operator by name.

use std::fmt::Debug;
use std::ops::Range;

use super::selection::{Selection, Stored};
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

    /// Returns the operand that the output stands for: it lends the output its name, its style of storage and what
    /// messages call it. An operator whose operands are all alike, such as a concatenation, names one of them here.
    fn data(&self) -> &Source;

    /// Returns every operand whose items become items of the output, the [`data`](Self::data) among them, each once. Their
    /// files are what the output is made of: what these files say of themselves goes over to it. An index tensor, which
    /// says only where items go, is not among them.
    fn operands(&self) -> Vec<&Source>;

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

    /// Returns where the items of a window are stored exactly as the output has them, so that a sink can copy them from
    /// there; `None` if they must be filled. A window may lie in any operand: an operator that joins many of them answers
    /// for each window by itself.
    ///
    /// # Errors
    /// Of reading what tells whether the window is altered.
    fn stored(&self, _window: &Window) -> Result<Option<Stored<'_>>> {
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

/// An output that equals one stored tensor, its base, in which some items are replaced.
///
/// A patch is what can be changed in place, and what can begin as a clone of the file of its base: only the windows in
/// which something changes are filled and written then.
pub trait Patch: Sync {
    /// Returns the stored items that the patch begins with.
    fn base(&self) -> &Selection;

    /// How many items change, at most.
    fn changed(&self) -> usize;

    /// The numbers of the windows in which something changes, ascending.
    ///
    /// # Errors
    /// Of reading what says so once more; not enough memory.
    fn touched(&self, windows: &Windows) -> Result<Vec<usize>>;

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
