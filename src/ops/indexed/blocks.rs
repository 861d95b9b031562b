//! The blocks of a gather: where they lie in the data and in the output, and how they are picked from memory.

use std::ops::Range;

use super::groups::GroupedTuple;
use super::places::NearPlaces;
use super::resolve::IndexSpec;
use super::runs::{ItemRun, ItemSlab};
use crate::item::meta::Order;
use crate::layout::walk::with_word;
use crate::layout::window::Window;
use crate::ops::tally::Put;

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
    pub(super) fn new(shapes: &IndexSpec, order: Order) -> Self {
        let IndexSpec { data, axes, batch_dims, tuples, .. } = shapes;
        let product = |dims: &[usize]| dims.iter().product::<usize>();
        if shapes.name_items() {
            let dim = product(data);
            let reach = match order {
                Order::C => product(&data[axes.start..]),
                Order::Fortran => dim,
            };
            let (tuples, lead_axes) = (product(tuples), tuples.len());
            return Self { rows: 1, tuples, dim, block: 1, row_axes: 0, lead_axes, reach, is_flat: true };
        }
        let (dim, block) = (product(&data[axes.clone()]), product(&data[axes.end..]));
        Self {
            rows: product(&data[*batch_dims..axes.start]),
            tuples: product(&tuples[*batch_dims..]),
            dim,
            block,
            row_axes: axes.start,
            lead_axes: axes.start + tuples.len() - batch_dims,
            reach: dim * block,
            is_flat: false,
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

    /// Calls `each` for the run of items of each tuple that names a place, in the order of the window, where `data` is in C
    /// order.
    pub(super) fn runs(&self, near: &NearPlaces<'_>, at: &WindowBlocks, mut each: impl FnMut(ItemRun)) {
        let mut to = 0;
        for row in at.rows.clone() {
            let (first, from) = (self.first_near(at, row), row * self.pitch() + at.inside);
            for n in first..first + at.tuples.len() {
                let place = near.get(n);
                if place < self.dim {
                    each(ItemRun { from: from + place * self.block, to, len: at.len });
                }
                to += at.len;
            }
        }
    }

    /// Returns the bytes of a block, if as many items are taken of each as it has; else 0.
    pub(super) fn word(&self, len: usize, itemsize: usize) -> usize {
        if len == self.block { len * itemsize } else { 0 }
    }

    /// Puts the blocks of a window, whose items the slab has, into `out`.
    pub(super) fn put(&self, near: &NearPlaces<'_>, at: &WindowBlocks, slab: ItemSlab<'_>, out: &mut [u8]) {
        with_word!(self.word(at.len, slab.itemsize), N => self.put_words::<N>(near, at, slab, out), _ => {
            self.runs(near, at, |run| slab.put(run, out, &mut Put::Replace));
        });
    }

    /// Puts whole blocks, which are words of `N` bytes; the slab begins with a whole one, too.
    fn put_words<const N: usize>(
        &self,
        places: &NearPlaces<'_>,
        at: &WindowBlocks,
        slab: ItemSlab<'_>,
        out: &mut [u8],
    ) {
        let (words, mut out) = (slab.bytes.as_chunks::<N>().0, out.as_chunks_mut::<N>().0);
        for row in at.rows.clone() {
            let here;
            (here, out) = out.split_at_mut(at.tuples.len());
            let near = self.first_near(at, row)..;
            // the slab may begin behind the first place of the row
            let first = (row * self.dim).wrapping_sub(slab.first / self.block);
            match places {
                NearPlaces::OnlyPlace => here.fill(words[first]),
                NearPlaces::Small(places) => pick_words(here, &places[near], words, first, self.dim),
                NearPlaces::Large(places) => pick_words(here, &places[near], words, first, self.dim),
            }
        }
    }
}

/// Makes each of `out` the word at its place, if it names one in `0..dim`; place 0 is word number `first`.
fn pick_words<const N: usize>(
    out: &mut [[u8; N]],
    places: &[impl Copy + Into<u64>],
    words: &[[u8; N]],
    first: usize,
    dim: usize,
) {
    for (out, &place) in out.iter_mut().zip(places) {
        let place = place.into() as usize;
        if place < dim {
            *out = words[first.wrapping_add(place)];
        }
    }
}

/// Puts the words of tuples in their places; `words(place, tuple)` are the numbers of a word in `from` and in `out`.
pub(super) fn put_words<const N: usize>(
    tuples: &[GroupedTuple],
    words: impl Fn(u32, u32) -> (usize, usize),
    from: &[u8],
    out: &mut [u8],
) {
    let (from, out) = (from.as_chunks::<N>().0, out.as_chunks_mut::<N>().0);
    for &(place, n) in tuples {
        let (from_word, to_word) = words(place, n);
        out[to_word] = from[from_word];
    }
}
