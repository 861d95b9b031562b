//! Plans: all that is decided of how an output is made, as a value, before its first window is filled.
//!
//! A [`Plan`] is a pure function of what an operator [states](crate::ops::access) of its operands, of what takes the output, and of
//! limits. [`Planners`](super::cost::Planners) list the plans for all ways in which the operator can read its operands, and take the
//! one that costs the least. A [`Job`](super::job::Job) begins it, which may read operands (a stream that is needed in another
//! order, a few updates that are transposed in memory), carries it out, and finishes the operator when all windows are filled.
//!
//! For example, DATA of float32 `[4096, 4096]` lies in C order, and UPDATES of half as many bytes in Fortran order. Windows of
//! whole rows would read 4096 short pieces of UPDATES each. So boxes are tried that are as wide as the output, or narrower and
//! higher: of `[512, 4096]` each is one write, and reads UPDATES in pieces of 1 or 2 KiB. These cost the least.

use super::cut::Cut;
use crate::layout::shape::product;
use crate::layout::window::{ItemRuns, Windows};
use crate::ops::access::Holding;
use crate::ops::fill::Region;

/// How an output is made.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The number of the way in which the operator reads its operands.
    pub way: usize,
    /// What is done before the first window is filled, in this order.
    pub before: Vec<Before>,
    /// Where the regions go.
    pub route: Route,
    /// Which regions are made.
    pub steps: Steps,
    /// How many threads share the work.
    pub threads: usize,
}

/// What is done before the first window is filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Before {
    /// An operand is copied, so that its items can be taken as the operator takes them.
    Hold(Holding),
    /// All items of the operand of this number are downloaded at once, since each of their short pieces would be a request.
    Fetch(usize),
    /// The new file begins as a clone of the data's file if the file system can share the blocks of both. Then the plan of
    /// [an edit](super::cost::Planners::plan_edit) takes the place of this one.
    Clone,
}

/// Where the regions of an output go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Route {
    /// To a file that takes them in any order.
    File,
    /// To a stream, in order.
    Stream,
    /// To a temporary file, which is copied to a stream when it is complete.
    TemporaryFile,
    /// To whatever wants just these windows, such as a store of chunks.
    Windows,
    /// To a temporary store with chunks of these sides, from which the windows that are wanted are then read.
    Between(Vec<usize>),
    /// Into the data itself, which is changed in place.
    InPlace,
}

/// The regions that are made.
#[derive(Clone, Debug, PartialEq)]
pub enum Steps {
    /// All of them, each by itself.
    Each(Cut),
    /// Some windows, by ascending numbers.
    Some {
        /// All windows.
        windows: Windows,
        /// The numbers of those that are made.
        numbers: Vec<usize>,
    },
    /// Some runs of items.
    Runs(ItemRuns),
    /// All windows of one slab after the other: the slab is held in memory as a whole, so that what is read for several of its
    /// windows is read once.
    Slabs {
        /// The boxes that are held.
        slabs: Windows,
        /// The boxes in which a slab is read.
        units: Windows,
        /// What is handed on.
        windows: Windows,
    },
}

impl Steps {
    /// Returns the number of regions that are handed on.
    pub fn count(&self) -> usize {
        match self {
            Self::Each(cut) => cut.count(),
            Self::Some { numbers, .. } => numbers.len(),
            Self::Runs(runs) => runs.count(),
            Self::Slabs { windows, .. } => windows.count(),
        }
    }

    /// Returns the number of items of the largest region that is handed on.
    pub fn largest(&self) -> usize {
        match self {
            Self::Each(cut) => cut.largest(),
            Self::Some { windows, .. } | Self::Slabs { windows, .. } => windows.largest(),
            Self::Runs(runs) => runs.largest(),
        }
    }

    /// Returns the number of items of all regions.
    pub fn items(&self) -> usize {
        match self {
            Self::Some { windows, numbers } => numbers.iter().map(|&number| windows.get(number).items()).sum(),
            Self::Each(Cut::Windows(windows)) | Self::Slabs { windows, .. } => product(windows.shape()),
            Self::Each(Cut::Blocks(blocks)) => blocks.items(),
            Self::Runs(runs) => runs.items(),
        }
    }

    /// Returns the sides of the largest region that is handed on, as a box of a tensor of that shape.
    pub fn sides(&self, shape: &[usize]) -> Vec<usize> {
        match self {
            Self::Each(cut) => cut.sides(shape),
            Self::Some { windows, .. } | Self::Slabs { windows, .. } => windows.sides().to_vec(),
            Self::Runs(runs) => Windows::contiguous(shape, runs.largest().max(1)),
        }
    }

    /// Returns the windows that are handed on, unless these are runs.
    pub fn windows(&self) -> Option<&Windows> {
        match self {
            Self::Each(Cut::Windows(windows)) | Self::Some { windows, .. } | Self::Slabs { windows, .. } => {
                Some(windows)
            }
            Self::Each(Cut::Blocks(_)) | Self::Runs(_) => None,
        }
    }

    /// Returns the runs that are handed on, if only these are.
    pub fn runs(&self) -> Option<&ItemRuns> {
        if let Self::Runs(runs) = self { Some(runs) } else { None }
    }

    /// Returns the sides of the boxes that are held in memory as a whole, if there are any.
    pub fn held(&self) -> Option<&[usize]> {
        if let Self::Slabs { slabs, .. } = self { Some(slabs.sides()) } else { None }
    }

    /// Returns the region of a number below [`count`](Self::count).
    pub fn get(&self, n: usize) -> Region {
        match self {
            Self::Each(cut) => cut.get(n),
            Self::Some { windows, numbers } => Region::Box(windows.get(numbers[n])),
            Self::Runs(runs) => Region::Run(runs.get(n)),
            Self::Slabs { windows, .. } => Region::Box(windows.get(n)),
        }
    }
}

/// What takes an output, as far as a plan depends on it.
#[derive(Clone, Copy, Debug)]
pub enum SinkKind<'a> {
    /// A file that takes items anywhere.
    File {
        /// Where the first item lies in the file, in bytes; `None` if items share bytes.
        base: Option<u64>,
        /// Whether the file has nothing else but a header.
        is_alone: bool,
    },
    /// A stream, which takes items in order.
    Stream,
    /// A stream, which takes only these items.
    Runs(&'a ItemRuns),
    /// What wants all of these windows.
    Windows(&'a Windows),
    /// What wants some of these windows.
    Share(&'a Windows),
    /// A store that wants all of these windows, and has room for another store beside it.
    Store(&'a Windows),
}
