//! Plans: all decisions about an output, before its first window.
//!
//! A [`Plan`] is a pure function of the operator's [accesses](crate::operators::access), the sink and the limits.
//! [`Planners`](super::cost::Planners) list the plans of all ways to read the operands and choose the cheapest. A
//! [`Job`](super::job::Job) carries it out. [`Steps`] divide an output into regions.
//!
//! For example, DATA of float32 `[4096, 4096]` is in C order. UPDATES has half as many bytes and is in Fortran order. A
//! window of whole rows would read UPDATES in 4096 short pieces. A box of `[512, 4096]` is one write, and reads UPDATES
//! in pieces of 1 or 2 KiB. So such boxes cost the least.

use std::ops::Range;

use crate::operators::access::Holding;
use crate::operators::fill::Region;
use tensorop_kernels::item::meta::Meta;
use tensorop_kernels::layout::axis::product;
use tensorop_kernels::layout::window::{ItemRuns, Windows};

/// How an output is made.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The number of the way to read the operands, one of the [`ways`](crate::operators::fill::Fill::ways) of the operator.
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
    /// To a visitor; nothing is written.
    Scan { order: WindowOrder, passes: usize },
}

/// The windows of a scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowOrder {
    /// In order. Several threads read only from servers.
    InOrder,
    /// In any order, as contiguous runs.
    Runs,
    /// In any order, as boxes if their pieces are longer.
    Boxes,
}

/// The regions that are made.
#[derive(Clone, Debug, PartialEq)]
pub enum Steps {
    /// The items that begin in each block of a file.
    Blocks(FileBlocks),
    /// Windows: contiguous in C order, or boxes.
    Each(Windows),
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
            Self::Blocks(blocks) => blocks.count(),
            Self::Some { numbers, .. } => numbers.len(),
            Self::Runs(runs) => runs.count(),
            Self::Each(windows) | Self::Slabs { windows, .. } => windows.count(),
        }
    }

    /// The number of items of the largest region.
    pub fn largest(&self) -> usize {
        match self {
            Self::Blocks(blocks) => blocks.bytes / blocks.itemsize,
            Self::Each(windows) | Self::Some { windows, .. } | Self::Slabs { windows, .. } => windows.largest(),
            Self::Runs(runs) => runs.largest(),
        }
    }

    pub fn items(&self) -> usize {
        match self {
            Self::Some { windows, numbers } => numbers.iter().map(|&number| windows.get(number).items()).sum(),
            Self::Each(windows) | Self::Slabs { windows, .. } => product(windows.shape()),
            Self::Blocks(blocks) => blocks.items,
            Self::Runs(runs) => runs.items(),
        }
    }

    /// The sides of the largest region as a box of a tensor of `shape`.
    pub fn sides(&self, shape: &[usize]) -> Vec<usize> {
        match self.windows() {
            Some(windows) => windows.sides().to_vec(),
            None => Windows::contiguous(shape, self.largest().max(1)),
        }
    }

    pub fn windows(&self) -> Option<&Windows> {
        match self {
            Self::Each(windows) | Self::Some { windows, .. } | Self::Slabs { windows, .. } => Some(windows),
            Self::Blocks(_) | Self::Runs(_) => None,
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
            Self::Blocks(blocks) => Region::Run(blocks.get(n)),
            Self::Some { windows, numbers } => Region::Box(windows.get(numbers[n])),
            Self::Runs(runs) => Region::Run(runs.get(n)),
            Self::Each(windows) | Self::Slabs { windows, .. } => Region::Box(windows.get(n)),
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
    /// Visitors of all items, so many times.
    Scan { order: WindowOrder, passes: usize },
}

/// The blocks of a file, each written by one call. The page cache keeps pieces of the size of a write that begin at
/// multiples of their size, so unaligned writes make many small pieces: 96 MiB took 14 to 17 ms in unaligned calls of
/// 512 KiB, 11 ms in blocks.
#[derive(Clone, Debug, PartialEq)]
pub struct FileBlocks {
    /// A power of two.
    pub bytes: usize,
    base: u64,
    items: usize,
    itemsize: usize,
}

impl FileBlocks {
    /// `bytes` is a power of two; `bytes` and `base` are multiples of the itemsize.
    pub(crate) fn new(bytes: usize, base: u64, meta: &Meta) -> Self {
        Self { bytes, base, items: meta.items(), itemsize: meta.dtype.itemsize() }
    }

    fn count(&self) -> usize {
        let (block, end) = (self.bytes as u64, self.base + (self.items * self.itemsize) as u64);
        (end.div_ceil(block) - self.base / block) as usize
    }

    fn get(&self, n: usize) -> Range<usize> {
        let block = self.bytes as u64;
        let first_in = |number: u64| {
            let bytes = (number * block).saturating_sub(self.base) as usize;
            bytes.div_ceil(self.itemsize).min(self.items)
        };
        let number = self.base / block + n as u64;
        first_in(number)..first_in(number + 1)
    }
}
