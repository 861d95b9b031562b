//! Blocks of data in Fortran order: their items lie apart, and those of all blocks beside each other.

use std::ops::Range;

use super::groups::PlacedTuple;
use super::runs::ItemRun;
use crate::error::Result;
use crate::layout::gather::GAP;
use crate::memory::Buffer;
use crate::storage::source::Source;

/// How far apart neighbours along an axis are, in items.
#[derive(Clone, Copy, Debug)]
pub(super) struct GatherStep {
    /// In storage.
    pub(super) from: usize,
    /// In the window.
    pub(super) to: usize,
}

/// The bytes of columns that are read at once: they stay in a core's cache while each tuple picks its items.
pub(super) const COLUMNS: usize = 1 << 18;

/// Calls `each` for the rows of the part `ranges` of a block in the order of storage. A row is a run along the first axis,
/// along which items lie as far apart as the first of `steps` says; there is one step for each axis.
pub(super) fn in_storage_order(
    ranges: &[Range<usize>],
    steps: &[GatherStep],
    mut each: impl FnMut(ItemRun) -> Result<()>,
) -> Result<()> {
    let (len, mut at) = (ranges[0].len(), vec![0; ranges.len()]);
    loop {
        let (mut from, mut to) = (0, 0);
        for ((at, range), step) in at.iter().zip(ranges).zip(steps) {
            from += (range.start + at) * step.from;
            to += at * step.to;
        }
        each(ItemRun { from, to, len })?;
        let Some(axis) = (1..at.len()).find(|&axis| at[axis] + 1 < ranges[axis].len()) else { return Ok(()) };
        at[1..axis].fill(0);
        at[axis] += 1;
    }
}

/// Returns the number in Fortran order of the place that has this number in C order.
pub(super) fn in_fortran_order(place: usize, dims: &[usize]) -> usize {
    let mut rest = place;
    dims.iter().rev().fold(0, |number, &dim| {
        let at = rest % dim;
        rest /= dim;
        number * dim + at
    })
}

/// Reads blocks of data in Fortran order by columns: a column has the same item of all blocks, which lie side by side. To
/// list each item of each tuple took ten times as long as the copy, where tuples are few and blocks large.
pub(super) struct ColumnReader<'a> {
    pub(super) data: &'a Source,
    pub(super) out: &'a mut [u8],
    pub(super) buffer: &'a mut Buffer,
    /// The items of a column.
    pub(super) places: usize,
    /// Where each tuple lies in a column, and its number in the window.
    pub(super) tuples: &'a [PlacedTuple],
    /// The items of each tuple in the window.
    pub(super) len: usize,
    /// From where an item goes to where the same tuple's item of the next column goes.
    pub(super) step: usize,
    /// The columns that are read next, as runs of neighbouring columns.
    pub(super) rows: Vec<ItemRun>,
}

impl ColumnReader<'_> {
    /// Adds `len` neighbouring columns, the first of which begins at `from` and has its first item go to `to`.
    pub(super) fn add(&mut self, ItemRun { mut from, mut to, len: mut count }: ItemRun) -> Result<()> {
        let itemsize = self.data.dtype().itemsize();
        let most = (COLUMNS / (self.places * itemsize).max(1)).max(1);
        while count > 0 {
            if let (Some(first), Some(last)) = (self.rows.first(), self.rows.last()) {
                let apart = (from - last.from - last.len * self.places) * itemsize > GAP;
                if apart || (from - first.from) / self.places >= most {
                    self.flush()?;
                }
            }
            let first = self.rows.first().map_or(from, |first| first.from);
            let read = (from - first) / self.places;
            let here = count.min(most - read);
            self.rows.push(ItemRun { from, to, len: here });
            (from, to, count) = (from + here * self.places, to + here * self.step, count - here);
        }
        Ok(())
    }

    pub(super) fn flush(&mut self) -> Result<()> {
        let (Some(first), Some(last)) = (self.rows.first(), self.rows.last()) else { return Ok(()) };
        let first = first.from;
        let itemsize = self.data.dtype().itemsize();
        read_items(self.data, first, last.from + last.len * self.places - first, self.buffer)?;
        let step = GatherStep { from: self.places, to: self.step };
        for &(place, n) in self.tuples {
            let from = &self.buffer[place * itemsize..];
            let out = &mut self.out[n * self.len * itemsize..][..self.len * itemsize];
            for &ItemRun { from: at, to, len: columns } in &self.rows {
                let (from, out) = (&from[(at - first) * itemsize..], &mut out[to * itemsize..]);
                match itemsize {
                    1 => pick::<1>(from, out, step, columns),
                    2 => pick::<2>(from, out, step, columns),
                    4 => pick::<4>(from, out, step, columns),
                    8 => pick::<8>(from, out, step, columns),
                    16 => pick::<16>(from, out, step, columns),
                    _ => (0..columns).for_each(|column| {
                        let item = &from[column * step.from * itemsize..][..itemsize];
                        out[column * step.to * itemsize..][..itemsize].copy_from_slice(item);
                    }),
                }
            }
        }
        self.rows.clear();
        Ok(())
    }
}

/// Reads so many items from number `first` on.
pub(super) fn read_items(data: &Source, first: usize, items: usize, buffer: &mut Buffer) -> Result<()> {
    let itemsize = data.dtype().itemsize();
    buffer.resize(items * itemsize, data.label())?;
    data.read_at(buffer, (first * itemsize) as u64)
}

/// Copies `count` words that lie `step` apart.
fn pick<const N: usize>(from: &[u8], out: &mut [u8], step: GatherStep, count: usize) {
    let from = from.as_chunks::<N>().0.iter().step_by(step.from);
    let out = out.as_chunks_mut::<N>().0.iter_mut().step_by(step.to);
    out.zip(from).take(count).for_each(|(out, from)| *out = *from);
}
