//! Copies items from one view to another, along the shortest walk through both.

use std::cmp::Reverse;
use std::convert::Infallible;

use super::view::View;

/// An axis of a [`CopyWalk`]: its dim, and the strides of source and destination in items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub dim: usize,
    pub from: isize,
    pub to: isize,
}

/// A walk through two views of one shape at once, along as few axes as it needs: the destination runs forwards, axes of one
/// place are left out, and axes that continue each other are merged. (Stepping along an axis of one item took 8 times as long.)
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CopyWalk {
    pub from: usize,
    pub to: usize,
    pub steps: Vec<Step>,
}

impl CopyWalk {
    /// Makes the walk; `None` if there is no item.
    ///
    /// # Panics
    /// If the views have different shapes.
    pub(super) fn new(from: &View, to: &View) -> Option<Self> {
        let mut walk = Self { from: from.offset, to: to.offset, steps: Vec::with_capacity(to.axes.len()) };
        for (&(dim, from), &(other, to)) in from.axes.iter().zip(&to.axes) {
            assert_eq!(dim, other, "views of one shape");
            match dim {
                0 => return None,
                1 => {}
                _ if to < 0 => {
                    let last = (dim - 1) as isize;
                    walk.from = walk.from.wrapping_add_signed(last * from);
                    walk.to = walk.to.wrapping_add_signed(last * to);
                    walk.steps.push(Step { dim, from: -from, to: -to });
                }
                _ => walk.steps.push(Step { dim, from, to }),
            }
        }
        walk.steps.sort_by_key(|step| Reverse(step.to));
        let mut merged: Vec<Step> = Vec::with_capacity(walk.steps.len());
        for step in walk.steps {
            match merged.last_mut() {
                Some(outer)
                    if outer.to == step.to * step.dim as isize && outer.from == step.from * step.dim as isize =>
                {
                    *outer = Step { dim: outer.dim * step.dim, ..step };
                }
                _ => merged.push(step),
            }
        }
        walk.steps = merged;
        Some(walk)
    }

    /// Calls `row(from, to)` for the beginning of each row. A row is all places of the last `inner` axes.
    ///
    /// # Errors
    /// The first of `row`, which ends the walk.
    pub(super) fn rows<E>(&self, inner: usize, mut row: impl FnMut(usize, usize) -> Result<(), E>) -> Result<(), E> {
        let outer = &self.steps[..self.steps.len() - inner];
        let mut at = vec![0; outer.len()];
        let (mut from, mut to) = (self.from, self.to);
        loop {
            row(from, to)?;
            let mut axis = outer.len();
            loop {
                let Some(next) = axis.checked_sub(1) else { return Ok(()) };
                axis = next;
                let step = outer[axis];
                at[axis] += 1;
                if at[axis] < step.dim {
                    from = from.wrapping_add_signed(step.from);
                    to = to.wrapping_add_signed(step.to);
                    break;
                }
                at[axis] = 0;
                from = from.wrapping_add_signed(-step.from * (step.dim - 1) as isize);
                to = to.wrapping_add_signed(-step.to * (step.dim - 1) as isize);
            }
        }
    }
}

/// Returns whether it takes longer to begin a row than to copy it. What is contiguous in both views is one move.
fn is_short<T>(row: Step) -> bool {
    row.dim < 8 && ((row.from, row.to) != (1, 1) || row.dim * size_of::<T>() < 16)
}

/// How many short rows are copied together.
const SHORT_ROW_ITEMS: usize = 512;

/// Copies the items that `from` shows of `source` to where `to` shows them in `target`. The views have one shape.
pub fn copy<T: Copy>(source: &[T], from: &View, target: &mut [T], to: &View) {
    let Some(walk) = CopyWalk::new(from, to) else { return };
    match walk.steps[..] {
        [] => target[walk.to] = source[walk.from],
        [.., a, b] if is_short::<T>(b) && a.dim > b.dim => {
            // many short rows are a few long ones the other way, which are cut so that their items stay in the cache
            let Ok(()) = walk.rows(2, |from, to| -> Result<(), Infallible> {
                for first in (0..a.dim).step_by(SHORT_ROW_ITEMS) {
                    let long = Step { dim: SHORT_ROW_ITEMS.min(a.dim - first), ..a };
                    let from = from.wrapping_add_signed(a.from * first as isize);
                    let to = to + a.to as usize * first;
                    for n in 0..b.dim {
                        let from = from.wrapping_add_signed(b.from * n as isize);
                        copy_row(source, from, target, to + b.to as usize * n, long);
                    }
                }
                Ok(())
            });
        }
        [.., a, b] => {
            // where the source runs across the destination, small blocks keep the lines of both in the cache
            let across = b.from.abs() > a.from.abs();
            let Ok(()) = walk.rows(2, |mut from, mut to| -> Result<(), Infallible> {
                if across {
                    copy_blocks(source, from, target, to, a, b);
                    return Ok(());
                }
                for _ in 0..a.dim {
                    copy_row(source, from, target, to, b);
                    from = from.wrapping_add_signed(a.from);
                    to = to.wrapping_add_signed(a.to);
                }
                Ok(())
            });
        }
        [row] => copy_row(source, walk.from, target, walk.to, row),
    }
}

fn copy_row<T: Copy>(source: &[T], from: usize, target: &mut [T], to: usize, row: Step) {
    let (stride, step) = (row.from.unsigned_abs(), row.to as usize);
    let extent = (row.dim - 1) * stride + 1;
    let first = if row.from < 0 { from + 1 - extent } else { from };
    let (source, target) = (&source[first..][..extent], &mut target[to..][..(row.dim - 1) * step + 1]);
    // each arm is a loop of its own, so that the compiler sees the strides of 1
    match (row.from, step) {
        (1, 1) => target.copy_from_slice(source),
        (0, _) => target.iter_mut().step_by(step).for_each(|t| *t = source[0]),
        (-1, 1) => set(target.iter_mut(), source.iter().rev()),
        (1.., 1) => set(target.iter_mut(), source.iter().step_by(stride)),
        (..0, 1) => set(target.iter_mut(), source.iter().rev().step_by(stride)),
        (1, _) => set(target.iter_mut().step_by(step), source.iter()),
        (1.., _) => set(target.iter_mut().step_by(step), source.iter().step_by(stride)),
        (..0, _) => set(target.iter_mut().step_by(step), source.iter().rev().step_by(stride)),
    }
}

#[inline(always)]
fn set<'a, T: Copy + 'a>(target: impl Iterator<Item = &'a mut T>, source: impl Iterator<Item = &'a T>) {
    target.zip(source).for_each(|(t, s)| *t = *s);
}

/// Copies all places of two axes, of which the source runs along `a` and the destination along `b`, by blocks of `SIDE` rows and
/// as many columns of the destination. A block is first put together as it is stored: where columns are a power of two apart, their
/// lines of cache would drive each other out before all of their items are taken.
fn copy_blocks<T: Copy>(source: &[T], from: usize, target: &mut [T], to: usize, a: Step, b: Step) {
    const SIDE: usize = 32;
    if a.dim == 0 || b.dim == 0 {
        return;
    }
    let mut block = [source[from]; SIDE * SIDE];
    for a0 in (0..a.dim).step_by(SIDE) {
        for b0 in (0..b.dim).step_by(SIDE) {
            let [rows, columns] = [SIDE.min(a.dim - a0), SIDE.min(b.dim - b0)];
            if size_of::<T>() == 1 {
                // to move a byte twice costs more than its line
                for i in 0..rows {
                    let from = from.wrapping_add_signed(a.from * (a0 + i) as isize + b.from * b0 as isize);
                    let to = to + a.to as usize * (a0 + i) + b.to as usize * b0;
                    copy_row(source, from, target, to, Step { dim: columns, ..b });
                }
                continue;
            }
            for j in 0..columns {
                let from = from.wrapping_add_signed(a.from * a0 as isize + b.from * (b0 + j) as isize);
                copy_row(source, from, &mut block, j * SIDE, Step { dim: rows, from: a.from, to: 1 });
            }
            for i in 0..rows {
                let to = to + a.to as usize * (a0 + i) + b.to as usize * b0;
                copy_row(&block, i, target, to, Step { dim: columns, from: SIDE as isize, to: b.to });
            }
        }
    }
}

/// Repeats the first `period` values of `out` until it is full.
pub(crate) fn repeat<T: Copy>(out: &mut [T], period: usize) {
    let mut done = period;
    while done < out.len() {
        let more = done.min(out.len() - done);
        out.copy_within(..more, done);
        done += more;
    }
}

/// Fills `out` with copies of an item.
pub(crate) fn fill<T: Copy>(out: &mut [T], item: &[T]) {
    if let (Some(first), true) = (out.get_mut(..item.len()), !item.is_empty()) {
        first.copy_from_slice(item);
        repeat(out, item.len());
    }
}

/// Evaluates an expression in which `$N` is a number of bytes that items have, if such items are moved as whole words: those of
/// up to 8, of 12 and of 16 bytes. For items of any other size another expression is evaluated. As rows of 3 words, items of 3
/// bytes took three to four times as long as words of 3 bytes do.
macro_rules! with_word {
    (among $($size:literal)+; $itemsize:expr, $N:ident => $body:expr, _ => $other:expr) => {
        match $itemsize {
            $($size => {
                const $N: usize = $size;
                $body
            })+
            _ => $other,
        }
    };
    ($itemsize:expr, $N:ident => $body:expr, _ => $other:expr) => {
        $crate::layout::walk::with_word!(among 1 2 3 4 5 6 7 8 12 16; $itemsize, $N => $body, _ => $other)
    };
}
pub(crate) use with_word;

/// Returns whether items of `itemsize` bytes are moved as words.
pub(crate) fn is_word(itemsize: usize) -> bool {
    with_word!(itemsize, N => N > 0, _ => false)
}

/// Copies items of `itemsize` bytes, which are words, or rows of the largest words of a power of two that divide
/// them. The views are in items.
pub fn copy_bytes(source: &[u8], from: &View, target: &mut [u8], to: &View, itemsize: usize) {
    fn words<const N: usize>(source: &[u8], from: &View, target: &mut [u8], to: &View) {
        copy(source.as_chunks::<N>().0, from, target.as_chunks_mut::<N>().0, to);
    }
    with_word!(itemsize, N => words::<N>(source, from, target, to), _ => {
        let word = 1 << itemsize.trailing_zeros().min(4);
        let (from, to) = (from.of_words(itemsize / word), to.of_words(itemsize / word));
        with_word!(word, N => words::<N>(source, &from, target, &to), _ => unreachable!("a word has at most 16 bytes"));
    });
}

#[cfg(test)]
mod tests {
    use super::super::tests::{places, views};
    use super::*;

    #[test]
    fn copies_go_from_place_to_place() {
        let source: Vec<u16> = (0..60).collect();
        for from in views() {
            for to in views().into_iter().filter(|to| to.shape() == from.shape()) {
                let mut expected = vec![999; 60];
                places(&from).into_iter().zip(places(&to)).for_each(|(f, t)| expected[t] = source[f]);
                let mut target = vec![999; 60];
                copy(&source, &from, &mut target, &to);
                assert_eq!(target, expected, "{from:?} {to:?}");
                for itemsize in (1..=16).chain([24, 48]) {
                    let bytes =
                        |items: &[u16]| items.iter().flat_map(|&i| vec![i as u8; itemsize]).collect::<Vec<u8>>();
                    let mut target = bytes(&[999; 60]);
                    copy_bytes(&bytes(&source), &from, &mut target, &to, itemsize);
                    assert_eq!(target, bytes(&expected), "{itemsize} bytes, {from:?} {to:?}");
                }
            }
        }
    }

    #[test]
    fn large_squares() {
        let (rows, columns) = (70, 45);
        let source: Vec<u32> = (0..rows * columns).collect();
        let shape = [rows as usize, columns as usize];
        let mut target = vec![0; source.len()];
        copy(&source, &View::fortran_order(&shape), &mut target, &View::c_order(&shape));
        for (i, &item) in target.iter().enumerate() {
            let (row, column) = (i as u32 / columns, i as u32 % columns);
            assert_eq!(item, column * rows + row);
        }
    }
}
