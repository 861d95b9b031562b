//! Plans: all decisions about an output, before its first window.
//!
//! A [`Plan`] is a pure function of the operator's [accesses](crate::ops::access), the sink and the limits.
//! [`Planners`](super::cost::Planners) list the plans of all ways to read the operands and choose the cheapest. A
//! [`Job`](super::job::Job) carries it out.
//!
//! For example, DATA of float32 `[4096, 4096]` is in C order, and UPDATES of half as many bytes in Fortran order.
//! Windows of whole rows would read 4096 short pieces of UPDATES each. Boxes of `[512, 4096]` are one write each and
//! read UPDATES in pieces of 1 or 2 KiB, which costs the least.

use super::cut::Cut;
use crate::layout::shape::product;
use crate::layout::window::{ItemRuns, Windows};
use crate::ops::access::Holding;
use crate::ops::fill::Region;

/// How an output is made.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The way to read operands.
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
    /// Downloads an operand, whose short pieces would be a request each.
    Fetch(usize),
    /// Clones the data's file if the file system shares blocks. Then [an edit](super::cost::Planners::plan_edit)
    /// replaces this plan.
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
    /// To a sink of exactly these windows, such as a store.
    Windows,
    /// To a temporary store with these chunks, then to the windows.
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
        /// Threads read a slab by these boxes.
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

    /// In items.
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

    /// The sides of the slabs.
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
