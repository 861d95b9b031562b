//! The blocks of a gather: where they lie in the data and in the output, and how they are picked from memory.

use std::ops::Range;

use super::places::NearPlaces;
use super::resolve::{IndexSpec, TupleResolver};
use super::runs::{ItemRun, ItemSlab, copy_items, pick_items};
use crate::item::meta::Order;
use crate::layout::shape::product;
use crate::layout::view::View;
use crate::layout::window::Window;
use crate::ops::tally::Put;

/// The place of a tuple's block, counted from the first place of its group, and the number of the tuple in the window: both are
/// short, since memory that is touched for the first time costs more than all else that is done with a tuple.
pub(super) type GroupedTuple = (u32, u32);

/// How the blocks of an output lie in `data`, which is seen as `[batch, row, dim, block]` and the output as
/// `[batch, row, tuples, block]`. A batch has index tuples of its own, and each of its rows takes the blocks that they
/// address. The axes of batches and rows are the same in both.
#[derive(Clone, Debug)]
pub(super) struct GatheredBlocks {
    /// The rows of one batch.
    pub(super) rows: usize,
    /// The index tuples of one batch.
    pub(super) tuples: usize,
    /// The places that a tuple may name in a row. A tuple with a larger number names none.
    pub(super) dim: usize,
    /// The items of a block.
    pub(super) block: usize,
    /// The axes of `data` and of the output that are batches or rows.
    pub(super) row_axes: usize,
    /// The axes of the output before those of a block.
    pub(super) lead_axes: usize,
    /// How many items lie from the first to behind the last that neighbouring tuples may name, where they are of one row.
    pub(super) reach: usize,
    /// Whether places are numbers of items in storage, whatever its order, and all of `data` is one row.
    pub(super) is_flat: bool,
}

/// The tuples that are picked for one row after the other: a line of cache for each stays in a core's second-level cache.
const TUPLES_TOGETHER: usize = 1 << 12;

/// The part of the output that a window covers: a range of rows, a range of tuples of each row, and a range of items of each
/// block. One of the three ranges is cut at most: those before it have one place, and those after it are whole.
#[derive(Clone, Debug)]
pub(super) struct WindowBlocks {
    /// The batch of the first row of the window, with whose tuples the places that are near begin.
    pub(super) batch: usize,
    /// The rows, counted through all batches.
    pub(super) rows: Range<usize>,
    /// The tuples, counted in their batch.
    pub(super) tuples: Range<usize>,
    /// The first item that is taken of each block.
    pub(super) inside: usize,
    /// How many items are taken of each block.
    pub(super) len: usize,
}

impl WindowBlocks {
    /// Returns the items of the output that one row takes.
    pub(super) fn row_items(&self) -> usize {
        self.tuples.len() * self.len
    }
}

impl GatheredBlocks {
    /// Arranges the blocks of data in that order by what its index tuples name.
    pub(super) fn new(resolver: &TupleResolver, order: Order) -> Self {
        let IndexSpec { data, axes, batch_dims, tuples, .. } = &resolver.shapes;
        let is_flat = resolver.shapes.name_items();
        let row_axes = if is_flat { 0 } else { axes.start };
        Self {
            rows: resolver.outer / product(&data[..*batch_dims]).max(1),
            tuples: product(&tuples[*batch_dims..]),
            dim: resolver.places,
            block: resolver.block,
            row_axes,
            lead_axes: row_axes + tuples.len() - batch_dims,
            reach: if is_flat && order == Order::Fortran { resolver.places } else { product(&data[axes.start..]) },
            is_flat,
        }
    }

    /// Returns the bytes that a tuple takes in a window that sweeps through `data`: its block, its place, and itself.
    pub(super) fn swept(&self, itemsize: usize) -> usize {
        self.block * itemsize + size_of::<u64>() + size_of::<GroupedTuple>()
    }

    /// Returns the items of a row of `data`.
    pub(super) fn pitch(&self) -> usize {
        self.dim * self.block
    }

    /// Returns what a window, which is contiguous and has items, takes.
    pub(super) fn of(&self, window: &Window) -> WindowBlocks {
        let count = |axes: Range<usize>| window.ranges[axes].iter().map(ExactSizeIterator::len).product::<usize>();
        let (rows, tuples) = (count(0..self.row_axes), count(self.row_axes..self.lead_axes));
        let first = window.start / self.block;
        let (row, tuple) = (first / self.tuples, first % self.tuples);
        WindowBlocks {
            batch: row / self.rows,
            rows: row..row + rows,
            tuples: tuple..tuple + tuples,
            inside: window.start % self.block,
            len: window.items() / (rows * tuples),
        }
    }

    /// Returns the first of the index tuples of all batches of a window, and how many they are.
    pub(super) fn tuples(&self, at: &WindowBlocks) -> (usize, usize) {
        let batches = (at.rows.end - 1) / self.rows - at.batch + 1;
        let count = if batches == 1 { at.tuples.len() } else { batches * self.tuples };
        (at.batch * self.tuples + at.tuples.start, count)
    }

    /// Returns the number of a row's first tuple among those that are near.
    pub(super) fn first_near(&self, at: &WindowBlocks, row: usize) -> usize {
        (row / self.rows - at.batch) * self.tuples
    }

    /// Returns the rows of each batch of a window.
    pub(super) fn batches(&self, at: &WindowBlocks) -> impl Iterator<Item = Range<usize>> + use<> {
        let (rows, all) = (self.rows, at.rows.clone());
        (at.batch..=(all.end - 1) / rows).map(move |batch| all.start.max(batch * rows)..all.end.min((batch + 1) * rows))
    }

    /// Puts what a window takes of blocks, whose items the slab has, into `out`.
    pub(super) fn put(&self, near: &NearPlaces<'_>, at: &WindowBlocks, slab: ItemSlab<'_>, out: &mut [u8]) {
        if at.len < self.block {
            // a part of a block is all that a window takes
            let from = at.rows.start * self.pitch() + near.get(0) * self.block + at.inside;
            if near.get(0) < self.dim {
                slab.put(ItemRun { from, to: 0, len: at.len }, out, &mut Put::Replace);
            }
            return;
        }
        let (dim, count, size) = (self.dim, at.tuples.len(), self.block * slab.itemsize);
        for (row, out) in at.rows.clone().zip(out.chunks_exact_mut((count * size).max(1))) {
            // the slab may begin behind the first place of the row
            let from = (row * dim).wrapping_sub(slab.first / self.block);
            let block = |place| (place < dim).then(|| from.wrapping_add(place));
            let tuples = self.first_near(at, row)..;
            match near {
                NearPlaces::Small(places) => {
                    pick_items(places[tuples].iter(), |&place| block(place as usize), size, slab.bytes, out);
                }
                NearPlaces::Large(places) => {
                    pick_items(places[tuples].iter(), |&place| block(place as usize), size, slab.bytes, out);
                }
            }
        }
    }

    /// Puts a part of whole blocks into `out`: the items in the box `part` of each, which has these dims, if its place is in the window
    /// `named` of the axes that tuples name. The slab has those of all these places of the rows of the window, and `stored` says where
    /// they lie in it.
    pub(super) fn put_part(
        &self,
        near: &NearPlaces<'_>,
        at: &WindowBlocks,
        (named, part, dims): (&Window, &Window, &[usize]),
        (slab, stored, itemsize): (&[u8], &View, usize),
        out: &mut [u8],
    ) {
        let (row_axes, block_axes) = (self.row_axes, stored.strides().len() - part.ranges.len());
        // where the items of a place lie along some axes, if they are at the first place of the others
        let along = |axes: Range<usize>| {
            let here = stored.shape().into_iter().enumerate();
            let ranges: Vec<_> = here.map(|(axis, dim)| 0..if axes.contains(&axis) { dim } else { 1 }).collect();
            stored.part(&ranges).places()
        };
        let (rows, columns) = (along(0..row_axes), along(block_axes..block_axes + part.ranges.len()));
        let to = View::c_order(dims).part(&part.ranges).places();
        let (count, named_items) = (at.tuples.len(), named.items());
        // places of one axis are as far apart as neighbours are
        let (pitch, places) = match block_axes - row_axes {
            1 => (stored.strides().nth(row_axes).map_or(0, isize::unsigned_abs), Vec::new()),
            _ => (0, along(row_axes..block_axes)),
        };
        let of_place = |place: usize| {
            let place = place.wrapping_sub(named.start);
            (place < named_items).then(|| places.get(place).map_or(place * pitch, |place| *place))
        };
        // rows may lie side by side: what some tuples name is picked for all of them while it is near a core
        for begin in (0..count).step_by(TUPLES_TOGETHER) {
            let together = TUPLES_TOGETHER.min(count - begin);
            for (n, row) in at.rows.clone().enumerate() {
                let (tuples, in_row) = (self.first_near(at, row) + begin, rows[n]);
                let (first, items) = ((n * count + begin) * at.len, together * at.len);
                let out = &mut out[first * itemsize..][..items * itemsize];
                if at.len == 1 {
                    let item = |tuple| of_place(near.get(tuple)).map(|place| in_row + place);
                    pick_items(tuples..tuples + together, item, itemsize, slab, out);
                    continue;
                }
                for (tuple, out) in (tuples..tuples + together).zip(out.chunks_exact_mut(at.len * itemsize)) {
                    if let Some(place) = of_place(near.get(tuple)) {
                        copy_items(columns.len(), |n| (in_row + place + columns[n], to[n]), itemsize, slab, out);
                    }
                }
            }
        }
    }
}
