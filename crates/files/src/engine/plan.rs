//! Plans: all decisions about an output, before its first window.
//!
//! A [`Plan`] is a pure function of the operator's [accesses](crate::ops::access), the sink and the limits.
//! [`Planners`](super::cost::Planners) list the plans of all ways to read the operands and choose the cheapest. A
//! [`Job`](super::job::Job) carries it out.
//!
//! For example, DATA of float32 `[4096, 4096]` is in C order. UPDATES has half as many bytes and is in Fortran order. A
//! window of whole rows would read UPDATES in 4096 short pieces. A box of `[512, 4096]` is one write, and reads UPDATES
//! in pieces of 1 or 2 KiB. So such boxes cost the least.

use super::cut::Cut;
use crate::layout::shape::product;
use crate::layout::window::{ItemRuns, Windows};
use crate::ops::access::Holding;
use crate::ops::fill::Region;

/// How an output is made.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The number of the way to read the operands, one of the [`ways`](crate::ops::fill::Fill::ways) of the operator.
    pub way: usize,
    /// Steps before the first window, in order.
    pub before: Vec<Before>,
    pub route: Route,
    pub steps: Steps,
    pub threads: usize,
}

/// A step before the first window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Before {
    /// Copies an operand.
    Hold(Holding),
    /// Downloads the operand of this number, because each of its short pieces would cost a request.
    Fetch(usize),
    /// Clones the data's file if the file system shares blocks. If it does, a
    /// [plan of an edit](super::cost::Planners::plan_edit) of the clone replaces this plan.
    Clone,
}

/// The destination of the regions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Route {
    /// To a file in any order.
    File,
    /// To a stream in order.
    Stream,
    /// To a temporary file, then to a stream.
    TemporaryFile,
    /// To a sink that sets the windows, such as a store.
    Windows,
    /// To a temporary store with these chunks, and from there to the windows of the sink.
    Between(Vec<usize>),
    /// Into the data, in place.
    InPlace,
}

/// The regions that are made.
#[derive(Clone, Debug, PartialEq)]
pub enum Steps {
    Each(Cut),
    /// Some windows, by ascending numbers.
    Some {
        windows: Windows,
        numbers: Vec<usize>,
    },
    Runs(ItemRuns),
    /// All windows, slab by slab. A slab is held in memory, so that data for several of its windows are read once.
    Slabs {
        slabs: Windows,
        /// The boxes in which threads read a slab.
        units: Windows,
        windows: Windows,
    },
}

impl Steps {
    pub fn count(&self) -> usize {
        match self {
            Self::Each(cut) => cut.count(),
            Self::Some { numbers, .. } => numbers.len(),
            Self::Runs(runs) => runs.count(),
            Self::Slabs { windows, .. } => windows.count(),
        }
    }

    /// The number of items of the largest region.
    pub fn largest(&self) -> usize {
        match self {
            Self::Each(cut) => cut.largest(),
            Self::Some { windows, .. } | Self::Slabs { windows, .. } => windows.largest(),
            Self::Runs(runs) => runs.largest(),
        }
    }

    pub fn items(&self) -> usize {
        match self {
            Self::Some { windows, numbers } => numbers.iter().map(|&number| windows.get(number).items()).sum(),
            Self::Each(Cut::Windows(windows)) | Self::Slabs { windows, .. } => product(windows.shape()),
            Self::Each(Cut::Blocks(blocks)) => blocks.items(),
            Self::Runs(runs) => runs.items(),
        }
    }

    pub fn sides(&self, shape: &[usize]) -> Vec<usize> {
        match self {
            Self::Each(cut) => cut.sides(shape),
            Self::Some { windows, .. } | Self::Slabs { windows, .. } => windows.sides().to_vec(),
            Self::Runs(runs) => Windows::contiguous(shape, runs.largest().max(1)),
        }
    }

    pub fn windows(&self) -> Option<&Windows> {
        match self {
            Self::Each(Cut::Windows(windows)) | Self::Some { windows, .. } | Self::Slabs { windows, .. } => {
                Some(windows)
            }
            Self::Each(Cut::Blocks(_)) | Self::Runs(_) => None,
        }
    }

    pub fn runs(&self) -> Option<&ItemRuns> {
        if let Self::Runs(runs) = self { Some(runs) } else { None }
    }

    /// The sides of the slabs that are held in memory; `None` without slabs.
    pub fn held(&self) -> Option<&[usize]> {
        if let Self::Slabs { slabs, .. } = self { Some(slabs.sides()) } else { None }
    }

    pub fn get(&self, n: usize) -> Region {
        match self {
            Self::Each(cut) => cut.get(n),
            Self::Some { windows, numbers } => Region::Box(windows.get(numbers[n])),
            Self::Runs(runs) => Region::Run(runs.get(n)),
            Self::Slabs { windows, .. } => Region::Box(windows.get(n)),
        }
    }
}

/// The sink, as far as plans depend on it.
#[derive(Clone, Copy, Debug)]
pub enum SinkKind<'a> {
    File {
        /// The offset of the first item; `None` if items share bytes.
        base: Option<u64>,
        /// Whether the file has only a header besides the items.
        is_alone: bool,
    },
    /// All items in order.
    Stream,
    /// These items in order.
    Runs(&'a ItemRuns),
    /// All windows.
    Windows(&'a Windows),
    /// Some windows.
    Share(&'a Windows),
    /// All windows, with room for a temporary store.
    Store(&'a Windows),
}
