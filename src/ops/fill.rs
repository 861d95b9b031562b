//! The interface between operators and the engine: an operator fills windows of its output.
//!
//! An operator is *linked* to its sources when all its checks have passed; all that is left to do is reading. So the engine
//! may fill any window, in any order, on any thread, and knows no operator by name.

use std::borrow::Cow;
use std::fmt::Debug;
use std::ops::Range;

use super::access::{Access, Holding, Picked, StoredWindow};
use super::machine::Machine;
use super::selection::Selection;
use crate::error::Result;
use crate::item::meta::Meta;
use crate::layout::shape::coordinates;
use crate::layout::window::{Window, Windows, boxes_of_run};
use crate::memory::Buffer;
use crate::parallel::Threads;
use crate::storage::source::Source;

/// The resources that a run may use. The result does not depend on them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    /// How many threads may share the work.
    pub threads: Threads,
    /// What was measured of the machine, and the memory that may be held.
    pub machine: Machine,
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

/// Items of an output that are filled together. They come in C order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Region {
    /// Items that are counted one after the other in C order. A run may begin and end in the middle of a row.
    Run(Range<usize>),
    /// A box.
    Box(Window),
}

impl Region {
    /// Returns the number of its items.
    pub fn items(&self) -> usize {
        match self {
            Self::Run(run) => run.len(),
            Self::Box(window) => window.items(),
        }
    }

    /// Returns the box.
    ///
    /// # Panics
    /// If it is a run, which only a plan for a file has.
    pub fn window(&self) -> &Window {
        match self {
            Self::Run(_) => panic!("a sink of windows is given no runs"),
            Self::Box(window) => window,
        }
    }

    /// Returns the index of item number `item` of the region in an output of that shape.
    pub fn index_of(&self, item: usize, shape: &[usize]) -> Vec<usize> {
        match self {
            Self::Run(run) => coordinates(run.start + item, shape),
            Self::Box(window) => window.index_of(item),
        }
    }

    /// Cuts a run into boxes of an output of that shape, for an operator that needs places along axes. A box stays as it is.
    pub fn boxes(&self, shape: &[usize]) -> Cow<'_, [Window]> {
        match self {
            Self::Run(run) => Cow::Owned(boxes_of_run(shape, run.start, run.end)),
            Self::Box(window) => Cow::Borrowed(std::slice::from_ref(window)),
        }
    }

    /// Cuts a box of an output of that shape into boxes that are each one run, for an operator that takes items as they are
    /// counted.
    pub fn pieces(&self, shape: &[usize]) -> Cow<'_, [Window]> {
        match self {
            Self::Box(window) if !window.is_contiguous(shape) => window.pieces(shape).collect(),
            _ => self.boxes(shape),
        }
    }

    /// Cuts a box of an output of that shape into runs, which are boxes of one axis, for an operator that asks for no other place
    /// of an item than its number. A run stays as it is.
    pub fn runs(&self, shape: &[usize]) -> Vec<Window> {
        let of_one_axis = |start, items| Window { start, ..Window::whole(&[items]) };
        match self {
            Self::Run(run) => vec![of_one_axis(run.start, run.len())],
            Self::Box(window) => window.pieces(shape).map(|it| of_one_axis(it.start, it.items())).collect(),
        }
    }
}

/// The output of an operator, linked to what it reads.
pub trait Fill: Debug + Send + Sync {
    /// Returns the dtype and the shape of the output. Its order is C: windows are cut from it in C order, whatever the order
    /// of a file is.
    fn meta(&self) -> &Meta;

    /// Returns operand `n` of those whose items become items of the output, each counted once; `None` behind the last. The first
    /// is the one that the output stands for: it lends the output its name, its style of storage and what messages call it. An
    /// index tensor, which says only where items go, is not among them.
    fn operand(&self, n: usize) -> Option<&Source>;

    /// Returns the numbers of the ways in which the operands can be read, such as by pieces, or from memory once all of an operand
    /// has been read. Plans of all of them are made and compared.
    fn ways(&self, _limits: &Limits) -> Vec<usize> {
        vec![0]
    }

    /// Returns the copies of operands that a way takes before the first window, in this order. A stream, which can be read once
    /// from front to back, is copied if it must be read otherwise. An operand in a file stays as it is stored, whatever its order
    /// is, unless that is what the way is for: the windows of a plan suit it.
    fn holdings(&self, way: usize, limits: &Limits) -> Vec<Holding>;

    /// Returns how the items of each [operand](Self::operand) are taken, once the [copies](Self::holdings) of a way are there. Plans
    /// are made of this. It clones views, so what runs for every window asks for the operand alone.
    fn reads(&self, way: usize) -> Vec<Access<'_>>;

    /// Returns what is read of operands because of an index tensor if the output is made in so many windows of these sides, whatever the other
    /// [patterns](Self::reads) say. An operand of which there is a copy in memory is not counted.
    fn picked(&self, _way: usize, _windows: usize, _sides: &[usize]) -> Picked {
        Picked::default()
    }

    /// Takes a way for good. This is called once, before the first copy is made.
    fn take(&mut self, _way: usize) {}

    /// Makes one of the [copies](Self::holdings).
    ///
    /// # Errors
    /// Of reading; the copy cannot be kept.
    fn hold(&mut self, holding: &Holding, limits: &Limits) -> Result<()>;

    /// Makes `out` the items of a region. It has as many bytes as these, and all of them are overwritten.
    ///
    /// # Errors
    /// Of reading; not enough memory; an item that cannot be made, which only a cast has.
    fn fill(&self, region: &Region, out: &mut [u8], scratch: &mut Scratch) -> Result<()>;

    /// Returns how many bytes a window should have at least if a number of threads fill windows in a way. Operators have such a
    /// least size where they look through an index tensor or through many operands for each window, which the
    /// [patterns](Self::reads) do not tell. `None` if any size will do.
    fn window_bytes(&self, _way: usize, _threads: usize, _machine: &Machine) -> Option<usize> {
        None
    }

    /// Returns the chunks that hold the items of a window exactly as the output has them, so that a sink of chunks can copy
    /// these without unpacking them; `None` if they must be filled. A window may be stored in any operand, so an operator that
    /// joins many of them answers for each window by itself.
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
        let is_in_place = self.as_patch().is_some_and(|patch| patch.base().is_in_place());
        // the base of a patch is the first
        (usize::from(is_in_place)..).map_while(|n| self.operand(n)).try_for_each(Source::finish)
    }
}

impl<'a> dyn Fill + 'a {
    /// Returns the operands whose items become items of the output, each once. Their files are what the output is made of:
    /// what these files say of themselves goes over to it.
    pub fn operands(&self) -> impl Iterator<Item = &Source> {
        (0..).map_while(|n| self.operand(n))
    }

    /// Returns the operand that the output stands for, the first of the [`operands`](Self::operands).
    ///
    /// # Panics
    /// If there is none, as where the rows that are appended to a tensor are none.
    pub fn data(&self) -> &Source {
        self.operand(0).expect("an output of items has an operand")
    }
}

/// An output that equals one stored tensor, its base, in which some items are replaced.
///
/// A patch is what can be changed in place, and what can begin as a clone of the file of its base: only the windows in
/// which something changes are filled and written then.
pub trait Patch: Debug + Sync {
    /// Returns the stored tensor that the patch begins with.
    fn base(&self) -> &Selection;

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
