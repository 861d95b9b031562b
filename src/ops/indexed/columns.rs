//! Blocks of data in Fortran order: their items lie apart, and those of all blocks beside each other. A *column* has the same
//! item of all blocks.

use super::groups::PlacedTuple;
use super::runs::{ItemRun, ItemSlab};
use crate::error::Result;
use crate::layout::walk::with_word;
use crate::memory::Buffer;
use crate::ops::tally::Put;
use crate::storage::source::Source;

/// The bytes of columns that are read at once: they stay in a core's cache while each tuple picks its items.
pub(super) const COLUMNS: usize = 1 << 18;

/// The most columns that are gone through at once, so that the list of where their items go stays in the cache, too.
pub(super) const MOST_COLUMNS: usize = 1 << 12;

/// Returns the number in Fortran order of the place that has this number in C order.
pub(super) fn in_fortran_order(place: usize, dims: &[usize]) -> usize {
    let mut rest = place;
    dims.iter().rev().fold(0, |number, &dim| {
        let at = rest % dim;
        rest /= dim;
        number * dim + at
    })
}

/// Reads `items` items from number `first` on.
pub(super) fn read_items(data: &Source, first: usize, items: usize, buffer: &mut Buffer) -> Result<()> {
    let itemsize = data.dtype().itemsize();
    buffer.resize(items * itemsize, data.label())?;
    data.read_at(buffer, (first * itemsize) as u64)
}

/// Columns that lie one after the other in memory.
pub(super) struct Columns<'a> {
    pub(super) bytes: &'a [u8],
    /// The items of a column.
    pub(super) places: usize,
    pub(super) itemsize: usize,
    /// For each column where its items go, counted from the first item that their tuple has in the window.
    pub(super) to: &'a [usize],
}

impl Columns<'_> {
    /// Puts the items of tuples, which have `len` items each in the window, in their places of `out`. A tuple is its place in
    /// each column, and its number in the window.
    pub(super) fn pick(&self, tuples: &[PlacedTuple], len: usize, out: &mut [u8]) {
        let slab = ItemSlab { first: 0, bytes: self.bytes, itemsize: self.itemsize };
        with_word!(self.itemsize, N => self.pick_words::<N>(tuples, len, out), _ => {
            for &(place, n) in tuples {
                for (column, to) in self.to.iter().enumerate() {
                    let run = ItemRun { from: place + column * self.places, to: n * len + to, len: 1 };
                    slab.put(run, out, &mut Put::Replace);
                }
            }
        });
    }

    fn pick_words<const N: usize>(&self, tuples: &[PlacedTuple], len: usize, out: &mut [u8]) {
        let (words, out) = (self.bytes.as_chunks::<N>().0, out.as_chunks_mut::<N>().0);
        for &(place, n) in tuples {
            let out = &mut out[n * len..][..len];
            for (word, &to) in words[place..].iter().step_by(self.places).zip(self.to) {
                out[to] = *word;
            }
        }
    }
}
