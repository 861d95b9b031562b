//! Cuts: what a sink gets at a time of an output.

use std::ops::Range;

use crate::item::meta::Meta;
use crate::layout::window::Windows;
use crate::ops::fill::Region;

/// What a sink gets at a time.
#[derive(Clone, Debug, PartialEq)]
pub enum Cut {
    /// The items that begin in each block of a file.
    Blocks(FileBlocks),
    /// Windows: contiguous in C order, or boxes.
    Windows(Windows),
}

impl Cut {
    /// Returns how many regions there are.
    pub fn count(&self) -> usize {
        match self {
            Self::Blocks(blocks) => blocks.count(),
            Self::Windows(windows) => windows.count(),
        }
    }

    /// Returns the number of items of the largest region.
    pub fn largest(&self) -> usize {
        match self {
            Self::Blocks(blocks) => blocks.bytes / blocks.itemsize,
            Self::Windows(windows) => windows.largest(),
        }
    }

    /// Returns the sides of the largest region as a box of a tensor of that shape, the first of which is the rows of a run.
    pub fn sides(&self, shape: &[usize]) -> Vec<usize> {
        match self {
            Self::Blocks(_) => Windows::contiguous(shape, self.largest().max(1)),
            Self::Windows(windows) => windows.sides().to_vec(),
        }
    }

    /// Returns region number `n`, which must be less than [`count`](Self::count).
    pub fn get(&self, n: usize) -> Region {
        match self {
            Self::Blocks(blocks) => Region::Run(blocks.get(n)),
            Self::Windows(windows) => Region::Box(windows.get(n)),
        }
    }
}

/// The blocks of a file by which an output is written, each by one call.
///
/// The pages that a call writes are kept in pieces as large as the call, but a piece begins at a multiple of its own size.
/// So calls that begin anywhere make many small pieces: where nothing was done but writing, 96 MiB took 14 to 17 ms by calls
/// of 512 KiB from anywhere on, and 11 ms by such blocks.
#[derive(Clone, Debug, PartialEq)]
pub struct FileBlocks {
    /// The bytes of a block, a power of two.
    pub bytes: usize,
    /// Where the first item lies in the file, in bytes.
    base: u64,
    items: usize,
    itemsize: usize,
}

impl FileBlocks {
    /// Cuts a file, in which items of that meta lie from byte `base` on, into blocks of `bytes` bytes, a power of two. `bytes` and
    /// `base` are multiples of the size of an item.
    pub(super) fn new(bytes: usize, base: u64, meta: &Meta) -> Self {
        Self { bytes, base, items: meta.items(), itemsize: meta.dtype.itemsize() }
    }

    /// Returns the number of all items.
    pub fn items(&self) -> usize {
        self.items
    }

    fn count(&self) -> usize {
        let (block, end) = (self.bytes as u64, self.base + (self.items * self.itemsize) as u64);
        (end.div_ceil(block) - self.base / block) as usize
    }

    /// Returns the items that begin in a block.
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
