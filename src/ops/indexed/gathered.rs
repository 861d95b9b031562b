//! A gather by indices, linked to its data: an operator for the engine.

use super::columns::{COLUMNS, ColumnReader, GatherStep, PlacedTuple, in_fortran_order, in_storage_order, read_items};
use super::places::{NearPlaces, TuplePlaces};
use super::resolve::{Index, Shapes, TupleResolver};
use super::runs::{ItemRun, ItemSlab, RunReader};
use crate::error::{Context, Result};
use crate::item::meta::{Meta, Order};
use crate::layout::gather::GAP;
use crate::layout::window::Window;
use crate::memory;
use crate::memory::resize;
use crate::ops::fill::{Fill, Limits, Scratch};
use crate::ops::window_size::{ENTRIES, RESIDENT, SHORT_PIECE, SLAB, SWEEP_WINDOWS, WINDOW};
use crate::parallel::Threads;
use crate::storage::source::Source;

/// Where the block of each index tuple lies in `data`, whose axes are those of batches and tuples and then those of a
/// block.
#[derive(Clone, Debug)]
struct GatheredBlocks {
    /// The index tuples of one batch.
    tuples: usize,
    /// The places that a tuple may name in one batch.
    dim: usize,
    /// The items of a block.
    block: usize,
    /// The axes of `data` before those of a block.
    lead: usize,
    /// The axes of the output before those of a block.
    tuple_axes: usize,
}

impl GatheredBlocks {
    fn new(shapes: &Shapes) -> Self {
        let Shapes { data, axes, tuples, .. } = shapes;
        let product = |dims: &[usize]| dims.iter().product::<usize>();
        Self {
            tuples: product(&tuples[axes.start..]),
            dim: product(&data[axes.clone()]),
            block: product(&data[axes.end..]),
            lead: axes.end,
            tuple_axes: tuples.len(),
        }
    }

    /// Returns the number, in C order, of the block that a tuple addresses: tuple number `n` of those of `near`, the first of
    /// which is tuple number `first`.
    #[inline]
    fn place(&self, near: &NearPlaces<'_>, first: usize, n: usize) -> usize {
        (first + n) / self.tuples * self.dim + near.get(n)
    }

    /// Returns the first of the index tuples of a window and their number. A window has whole blocks, or a part of one.
    fn tuples(&self, window: &Window) -> (usize, usize) {
        let count = window.ranges[..self.tuple_axes].iter().map(ExactSizeIterator::len).product();
        (window.start / self.block.max(1), count)
    }

    /// Calls `each` for the run of items of each tuple of a window, in the order of the window, where `data` is in C order.
    fn runs(&self, near: &NearPlaces<'_>, window: &Window, mut each: impl FnMut(ItemRun)) {
        let (first, count) = self.tuples(window);
        let (inside, len) = (window.start % self.block.max(1), window.items() / count.max(1));
        for n in 0..count {
            let from = self.place(near, first, n) * self.block + inside;
            each(ItemRun { from, to: n * len, len });
        }
    }
}

/// A gather by indices that has its data, and whose numbers are all in range.
#[derive(Debug)]
pub struct LinkedGather {
    data: Source,
    places: TuplePlaces,
    blocks: GatheredBlocks,
    meta: Meta,
    /// Data of at most so many bytes is kept in memory: as much as the index tensor takes, which is all read.
    resident: usize,
    threads: Threads,
}

impl LinkedGather {
    /// Reads the index tensor and links the operator to its data.
    ///
    /// # Errors
    /// A number that names no place; of reading; not enough memory.
    pub fn new(data: Source, resolver: &TupleResolver, indices: Source, limits: Limits) -> Result<Self> {
        let meta = Meta::new(data.dtype().clone(), resolver.shapes().updates_shape().to_vec());
        let resident = indices.bytes().clamp(RESIDENT, ENTRIES);
        let places = TuplePlaces::new(indices, resolver, limits)?;
        let blocks = GatheredBlocks::new(resolver.shapes());
        Ok(Self { data, places, blocks, meta, resident, threads: limits.threads })
    }

    /// Reads the items of a window from front to back of the storage, whatever the order of the tuples: the list of its
    /// tuples, sorted by where they lie, is one sweep. In Fortran order the items of a block lie apart, and the list is
    /// swept once for each of them, further on each time; a list of all items would be as many times as long.
    fn sweep(&self, near: &NearPlaces<'_>, window: &Window, out: &mut [u8], buffer: &mut Vec<u8>) -> Result<()> {
        let read = |first, items, buffer: &mut Vec<u8>| read_items(&self.data, first, items, buffer);
        let itemsize = self.data.dtype().itemsize();
        let (first, count) = self.blocks.tuples(window);
        let len = window.items() / count.max(1);
        let mut tuples = memory::of(count).with_context(|| self.data.label())?;
        let shape = self.data.shape();
        let (lead, block) = shape.split_at(self.blocks.lead);
        match self.data.meta().order {
            Order::C => {
                let inside = window.start % self.blocks.block.max(1);
                tuples.extend((0..count).map(|n| (self.blocks.place(near, first, n), n)));
                tuples.sort_unstable();
                let mut reads = RunReader::new(&read, itemsize, out, buffer, None);
                tuples.iter().try_for_each(|&(place, n)| {
                    reads.add(ItemRun { from: place * self.blocks.block + inside, to: n * len, len })
                })?;
                reads.flush()
            }
            Order::Fortran => {
                tuples.extend((0..count).map(|n| (in_fortran_order(self.blocks.place(near, first, n), lead), n)));
                tuples.sort_unstable();
                // a block without axes is one item
                let (block, ranges) = match &window.ranges[self.blocks.tuple_axes..] {
                    [] => (&[1][..], std::slice::from_ref(&(0..1))),
                    ranges => (block, ranges),
                };
                let mut steps = vec![GatherStep { from: lead.iter().product(), to: 1 }; block.len()];
                for axis in 1..block.len() {
                    steps[axis].from = steps[axis - 1].from * block[axis - 1];
                }
                for axis in (1..block.len()).rev() {
                    steps[axis - 1].to = steps[axis].to * ranges[axis].len();
                }
                let places = lead.iter().product::<usize>();
                // where the tuples take most of what lies side by side, all of that is read, and picked from
                if places * itemsize <= COLUMNS && places.div_ceil(count.max(1)) * itemsize <= GAP {
                    let (data, tuples, step) = (&self.data, &tuples, steps[0].to);
                    let mut columns = ColumnReader { data, out, buffer, places, tuples, len, step, rows: Vec::new() };
                    in_storage_order(ranges, &steps, |row| columns.add(row))?;
                    return columns.flush();
                }
                let mut reads = RunReader::new(&read, itemsize, out, buffer, None);
                in_storage_order(ranges, &steps, |row| {
                    (0..row.len).try_for_each(|item| {
                        let (from, to) = (row.from + item * steps[0].from, row.to + item * steps[0].to);
                        let run = |place, n| ItemRun { from: from + place, to: n * len + to, len: 1 };
                        tuples.iter().try_for_each(|&(place, n)| reads.add(run(place, n)))
                    })
                })?;
                reads.flush()
            }
        }
    }
}

impl Fill for LinkedGather {
    fn meta(&self) -> &Meta {
        &self.meta
    }

    fn operands(&self) -> Vec<&Source> {
        vec![&self.data]
    }

    fn prepare(&mut self) -> Result<()> {
        self.data.settle()?;
        self.data.flatten(self.threads)?;
        // data of long blocks is read block by block: a part of the output needs few of them
        let is_file = self.data.is_read_by_position();
        let is_long = self.blocks.block * self.meta.dtype.itemsize() >= SHORT_PIECE;
        let most = if is_file && is_long { SLAB } else { self.resident };
        if (is_file || self.data.as_chunks().is_some()) && self.data.bytes() <= most {
            self.data.make_resident()?;
        }
        Ok(())
    }

    fn fill(&self, window: &Window, out: &mut Vec<u8>, scratch: &mut Scratch) -> Result<()> {
        let itemsize = self.meta.dtype.itemsize();
        resize(out, window.items() * itemsize, self.data.label())?;
        let (first, count) = self.blocks.tuples(window);
        let near = self.places.near(first, count)?;
        if let (Some(bytes), Order::C) = (self.data.as_bytes(), self.data.meta().order) {
            let slab = ItemSlab { first: 0, bytes, itemsize };
            self.blocks.runs(&near, window, |run| slab.put(run, out, None));
            return Ok(());
        }
        self.sweep(&near, window, out, &mut scratch.items)
    }

    fn finish(&self) -> Result<()> {
        self.places.source().map_or(Ok(()), Source::finish)?;
        self.data.finish()
    }

    /// Short pieces that are picked from a file are better read by few sweeps through it, each for a large window. The
    /// list of the tuples of a window counts as a part of it.
    fn window_bytes(&self, threads: usize) -> usize {
        let block = self.blocks.block * self.meta.dtype.itemsize();
        let together = match self.data.meta().order {
            Order::C => block,
            Order::Fortran => self.meta.dtype.itemsize(),
        };
        if !self.data.is_read_by_position() || together >= SHORT_PIECE {
            return WINDOW;
        }
        let listed = block + size_of::<PlacedTuple>();
        let share = SWEEP_WINDOWS / threads.max(1);
        if block < share { (share / listed * block).max(WINDOW) } else { share }
    }
}

impl TupleResolver {
    /// Gathers from an array in C order: returns the blocks of `source` that the tuples address, in their order.
    ///
    /// # Errors
    /// The first number that is out of range.
    pub(in crate::ops) fn gather<T: Copy>(&self, source: &[T], numbers: &[impl Index]) -> Result<Vec<T>> {
        let places = NearPlaces::of_numbers(self, numbers)?;
        let (shape, mut out) = (self.shapes.updates_shape(), Vec::new());
        if !shape.contains(&0) {
            let blocks = GatheredBlocks::new(&self.shapes);
            blocks.runs(&places, &Window::whole(shape), |ItemRun { from, len, .. }| {
                out.extend_from_slice(&source[from..][..len])
            });
        }
        Ok(out)
    }
}
