//! The layout of a gather's blocks in data and output, and copies from memory.

use std::ops::Range;

use crate::operators::indexed::places::NearPlaces;
use crate::operators::indexed::runs::{ItemRun, ItemSlab, Put, copy_items, pick_items};
use tensorop_kernels::item::meta::Order;
use tensorop_kernels::layout::axis::product;
use tensorop_kernels::layout::view::View;
use tensorop_kernels::layout::window::Window;
use tensorop_kernels::ops::indexed::{IndexSpec, TupleResolver};

/// The place of a block from the start of its group, and its tuple. Both are short, because the first touch of memory
/// dominates.
pub(super) type GroupedTuple = (u32, u32);

/// Views `data` as `[batch, row, dim, block]` and the output as `[batch, row, tuples, block]`. A batch has its own
/// tuples, which all its rows use.
#[derive(Clone, Debug)]
pub(super) struct GatheredBlocks {
    pub(super) rows: usize,
    pub(super) tuples: usize,
    /// Larger numbers name no place.
    pub(super) dim: usize,
    pub(super) block: usize,
    pub(super) row_axes: usize,
    /// Output axes before the block axes.
    pub(super) lead_axes: usize,
    /// The storage extent, in items, of the places that neighbouring tuples of a row may name.
    pub(super) reach: usize,
    /// Places are item numbers in storage order, and `data` is a single row.
    pub(super) is_flat: bool,
}

/// Their cache lines fit the second-level cache.
const TUPLES_TOGETHER: usize = 1 << 12;

/// The part of the output in a window. At most one of the three ranges is cut; earlier ranges have one place.
#[derive(Clone, Debug)]
pub(super) struct WindowBlocks {
    pub(super) batch: usize,
    pub(super) rows: Range<usize>,
    pub(super) tuples: Range<usize>,
    pub(super) inside: usize,
    /// Items per block.
    pub(super) len: usize,
}

impl WindowBlocks {
    pub(super) fn row_items(&self) -> usize {
        self.tuples.len() * self.len
    }
}

impl GatheredBlocks {
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

    /// The bytes per tuple of a window that sweeps: block, place and list entry.
    pub(super) fn swept(&self, itemsize: usize) -> usize {
        self.block * itemsize + size_of::<u64>() + size_of::<GroupedTuple>()
    }

    pub(super) fn pitch(&self) -> usize {
        self.dim * self.block
    }

    /// `window` is contiguous and not empty.
    pub(super) fn window_blocks(&self, window: &Window) -> WindowBlocks {
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

    /// The first tuple of the window's batches, and their number.
    pub(super) fn tuples(&self, at: &WindowBlocks) -> (usize, usize) {
        let batches = (at.rows.end - 1) / self.rows - at.batch + 1;
        let count = if batches == 1 { at.tuples.len() } else { batches * self.tuples };
        (at.batch * self.tuples + at.tuples.start, count)
    }

    pub(super) fn first_near(&self, at: &WindowBlocks, row: usize) -> usize {
        (row / self.rows - at.batch) * self.tuples
    }

    pub(super) fn batches(&self, at: &WindowBlocks) -> impl Iterator<Item = Range<usize>> + use<> {
        let (rows, all) = (self.rows, at.rows.clone());
        (at.batch..=(all.end - 1) / rows).map(move |batch| all.start.max(batch * rows)..all.end.min((batch + 1) * rows))
    }

    pub(super) fn put(&self, near: &NearPlaces<'_>, at: &WindowBlocks, slab: ItemSlab<'_>, out: &mut [u8]) {
        if at.len < self.block {
            let from = at.rows.start * self.pitch() + near.get(0) * self.block + at.inside;
            if near.get(0) < self.dim {
                slab.put(ItemRun { from, to: 0, len: at.len }, out, &mut Put::Replace);
            }
            return;
        }
        let (dim, count, size) = (self.dim, at.tuples.len(), self.block * slab.itemsize);
        for (row, out) in at.rows.clone().zip(out.chunks_exact_mut((count * size).max(1))) {
            // The slab may begin after the first place of the row.
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

    /// Copies the box `part` of each block with dims `dims`, for tuples with a place in `named`. The slab has these
    /// places for all rows, with the layout `stored`.
    pub(super) fn put_part(
        &self,
        near: &NearPlaces<'_>,
        at: &WindowBlocks,
        (named, part, dims): (&Window, &Window, &[usize]),
        (slab, stored, itemsize): (&[u8], &View, usize),
        out: &mut [u8],
    ) {
        let (row_axes, block_axes) = (self.row_axes, stored.strides().len() - part.ranges.len());
        let along = |axes: Range<usize>| {
            let here = stored.shape().into_iter().enumerate();
            let ranges: Vec<_> = here.map(|(axis, dim)| 0..if axes.contains(&axis) { dim } else { 1 }).collect();
            stored.part(&ranges).places()
        };
        let (rows, columns) = (along(0..row_axes), along(block_axes..block_axes + part.ranges.len()));
        let to = View::c_order(dims).part(&part.ranges).places();
        let (count, named_items) = (at.tuples.len(), named.items());
        // Places of a single axis are equidistant.
        let (pitch, places) = match block_axes - row_axes {
            1 => (stored.strides().nth(row_axes).map_or(0, isize::unsigned_abs), Vec::new()),
            _ => (0, along(row_axes..block_axes)),
        };
        let of_place = |place: usize| {
            let place = place.wrapping_sub(named.start);
            (place < named_items).then(|| places.get(place).map_or(place * pitch, |place| *place))
        };
        // Picks a set of tuples for all rows, which may be adjacent, while it is in the cache.
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
