//! Cuts of an output into regions.

use std::ops::Range;

use crate::item::meta::Meta;
use crate::layout::window::Windows;
use crate::ops::fill::Region;

/// The regions of an output.
#[derive(Clone, Debug, PartialEq)]
pub enum Cut {
    /// The items that begin in each block of a file.
    Blocks(FileBlocks),
    /// Windows: contiguous in C order, or boxes.
    Windows(Windows),
}

impl Cut {
    pub fn count(&self) -> usize {
        match self {
            Self::Blocks(blocks) => blocks.count(),
            Self::Windows(windows) => windows.count(),
        }
    }

    pub fn largest(&self) -> usize {
        match self {
            Self::Blocks(blocks) => blocks.bytes / blocks.itemsize,
            Self::Windows(windows) => windows.largest(),
        }
    }

    /// The sides of the largest region as a box of a tensor of `shape`.
    pub fn sides(&self, shape: &[usize]) -> Vec<usize> {
        match self {
            Self::Blocks(_) => Windows::contiguous(shape, self.largest().max(1)),
            Self::Windows(windows) => windows.sides().to_vec(),
        }
    }

    pub fn get(&self, n: usize) -> Region {
        match self {
            Self::Blocks(blocks) => Region::Run(blocks.get(n)),
            Self::Windows(windows) => Region::Box(windows.get(n)),
        }
    }
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
    pub(super) fn new(bytes: usize, base: u64, meta: &Meta) -> Self {
        Self { bytes, base, items: meta.items(), itemsize: meta.dtype.itemsize() }
    }

    pub fn items(&self) -> usize {
        self.items
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
