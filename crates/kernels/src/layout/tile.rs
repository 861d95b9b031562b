//! Copies across the order of storage: a walk is cut into tiles that fit the nearest caches, so that each cache line is read and
//! written once.

use std::convert::Infallible;

use super::view::Few;
use super::walk::{CopyWalk, Step, copy_walk};

/// The sides of a tile, where axes are long enough: along the axes that the source stores together, and along those of the
/// destination. With sides of 32, items of 8 bytes took 1.3 times as long.
const SIDE: usize = 64;

/// The most items of a tile.
const ITEMS: usize = SIDE * SIDE;

/// The items up to which one side grows where the other is short.
const GROWN_ITEMS: usize = ITEMS / 2;

/// The places of a row that is worth its start.
const LONG_ROW: usize = 16;

/// Columns that are a multiple of this many bytes apart evict each other from the first-level cache. Their tile is first copied
/// in the order of storage: matrices of 1024 x 1024 took 0.4 to 0.8 of the time.
const EVICTING: usize = 1024;

/// Copies along a walk of at least two axes.
pub(super) fn copy_tiles<T: Copy>(source: &[T], target: &mut [T], mut walk: CopyWalk) {
    if walk.steps.iter().map(|step| step.dim).product::<usize>() <= ITEMS {
        let row = row_axis(walk.steps.iter().map(|step| step.dim));
        walk.steps[row..].rotate_left(1);
        return copy_walk(source, target, &walk);
    }
    let stored = walk.stored();
    let sides = sides(&walk, &stored);
    let mut tile = Tile::new(&walk, &sides);
    if is_evicting(&walk, stored[0], &sides, size_of::<T>()) {
        let read = tile.through_stage(&stored);
        return copy_staged(source, target, &walk, &sides, read, tile);
    }
    each_tile(&walk, &sides, |at, from, to| copy_walk(source, target, tile.at(at, from, to)));
}

/// By itself, so that no other copy has the array in its frame.
#[inline(never)]
fn copy_staged<T: Copy>(
    source: &[T],
    target: &mut [T],
    walk: &CopyWalk,
    sides: &[usize],
    mut read: Tile,
    mut write: Tile,
) {
    let mut staged = [source[walk.from]; ITEMS];
    each_tile(walk, sides, |at, from, to| {
        copy_walk(source, &mut staged, read.at(at, from, 0));
        copy_walk(&staged, target, write.at(at, 0, to));
    });
}

/// The axis along which rows are copied: the last, or where its rows are short, the longest.
fn row_axis(sides: impl DoubleEndedIterator<Item = usize> + ExactSizeIterator) -> usize {
    let last = sides.len() - 1;
    let longest = sides
        .enumerate()
        .rev()
        .max_by_key(|&(axis, side)| if axis == last && side >= LONG_ROW { usize::MAX } else { side });
    longest.expect("a walk has axes").0
}

/// The places of a whole tile along each axis, in all at most [`ITEMS`].
fn sides(walk: &CopyWalk, stored: &[usize]) -> Few<usize> {
    let mut sides: Few<usize> = walk.steps.iter().map(|_| 1).collect();
    // tiles of about the same side, rather than a last one of a few places
    let even = |axis: usize, most: usize| {
        let dim = walk.steps[axis].dim;
        dim.div_ceil(dim.div_ceil(most))
    };
    let written: Few<usize> = (0..walk.steps.len()).rev().collect();
    for axes in [&written[..], stored] {
        let mut items = 1;
        for &axis in axes {
            let side = even(axis, SIDE / items);
            sides[axis] = sides[axis].max(side);
            items *= side;
            if side < walk.steps[axis].dim || 2 * items > SIDE {
                break;
            }
        }
    }
    for &axis in stored {
        let others = sides.iter().product::<usize>() / sides[axis];
        if GROWN_ITEMS / others > sides[axis] {
            sides[axis] = even(axis, GROWN_ITEMS / others);
        }
    }
    sides
}

fn is_evicting(walk: &CopyWalk, nearest: usize, sides: &[usize], itemsize: usize) -> bool {
    let last = sides.len() - 1;
    let is_worth_it = 2 * sides[nearest] >= SIDE && sides[last] >= LONG_ROW && itemsize <= 16;
    is_worth_it && (walk.steps[last].from.unsigned_abs() * itemsize).is_multiple_of(EVICTING)
}

/// Calls `each` with the number of each tile along each axis, and its first places.
fn each_tile(walk: &CopyWalk, sides: &[usize], mut each: impl FnMut(&[usize], usize, usize)) {
    let cut = |(step, &side): (&Step, &usize)| Step {
        dim: step.dim.div_ceil(side),
        from: step.from * side as isize,
        to: step.to * side as isize,
    };
    let grid = CopyWalk { steps: walk.steps.iter().zip(sides).map(cut).collect(), ..*walk };
    let Ok(()) = grid.places(0, |at, from, to| -> Result<(), Infallible> {
        each(at, from, to);
        Ok(())
    });
}

/// A walk through a tile.
struct Tile {
    walk: CopyWalk,
    axes: Few<TileAxis>,
}

#[derive(Clone, Copy, Debug, Default)]
struct TileAxis {
    /// The axis of the whole walk, and its places.
    axis: usize,
    dim: usize,
    /// The places of a whole tile.
    side: usize,
}

impl Tile {
    /// A whole tile: its rows last, its other axes in the order of the destination.
    fn new(walk: &CopyWalk, sides: &[usize]) -> Self {
        let row = row_axis(sides.iter().copied());
        let mut tile = Self { walk: CopyWalk { from: 0, to: 0, steps: Few::default() }, axes: Few::default() };
        for axis in (0..sides.len()).filter(|&axis| axis != row && sides[axis] > 1).chain([row]) {
            tile.axes.push(TileAxis { axis, dim: walk.steps[axis].dim, side: sides[axis] });
            tile.walk.steps.push(walk.steps[axis]);
        }
        tile
    }

    /// Returns the walk from the source to a copy that is stored as the source is, and makes this tile the walk from there.
    fn through_stage(&mut self, stored: &[usize]) -> Self {
        let mut read = Self { walk: self.walk.clone(), axes: self.axes.clone() };
        let (mut items, mut place) = (1, self.axes.len());
        for axis in stored {
            let Some(own) = self.axes.iter().position(|it| it.axis == *axis) else { continue };
            place -= 1;
            (read.axes[place], read.walk.steps[place]) = (self.axes[own], Step { to: items, ..self.walk.steps[own] });
            self.walk.steps[own].from = items;
            items *= self.axes[own].side as isize;
        }
        read
    }

    /// The walk through the tile of this number along each axis.
    fn at(&mut self, at: &[usize], from: usize, to: usize) -> &CopyWalk {
        (self.walk.from, self.walk.to) = (from, to);
        for (step, it) in self.walk.steps.iter_mut().zip(self.axes.iter()) {
            step.dim = it.side.min(it.dim - at[it.axis] * it.side);
        }
        &self.walk
    }
}
