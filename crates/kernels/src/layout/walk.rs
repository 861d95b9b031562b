//! Copies items between views, and the sides of boxes that make it fast.

use std::cmp::Reverse;
use std::convert::Infallible;

use super::block::{TransposeBlock, transpose_items, transpose_words};
use super::view::{Few, View};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Step {
    pub dim: usize,
    pub from: isize,
    pub to: isize,
}

/// A joint walk through two views: destination strides descend, axes of length 1 are dropped, and mergeable axes are
/// merged. (Stepping along an axis of one item took 8 times as long.)
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CopyWalk {
    pub from: usize,
    pub to: usize,
    pub steps: Few<Step>,
}

impl CopyWalk {
    pub(super) fn new(from: &View, to: &View) -> Option<Self> {
        let mut walk = Self { from: from.offset, to: to.offset, steps: Few::default() };
        for (&(dim, from), &(other, to)) in from.axes.iter().zip(to.axes.iter()) {
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
        walk.sort_as_target();
        let mut merged = 0_usize;
        for n in 0..walk.steps.len() {
            let step = walk.steps[n];
            match merged.checked_sub(1).map(|last| &mut walk.steps[last]) {
                Some(outer)
                    if outer.to == step.to * step.dim as isize && outer.from == step.from * step.dim as isize =>
                {
                    *outer = Step { dim: outer.dim * step.dim, ..step };
                }
                _ => {
                    walk.steps[merged] = step;
                    merged += 1;
                }
            }
        }
        walk.steps.truncate(merged);
        Some(walk)
    }

    fn items(&self) -> usize {
        self.steps.iter().map(|step| step.dim).product()
    }

    /// Outside generic code, which would have a copy of the sort for each type.
    fn sort_as_target(&mut self) {
        sort_few(&mut self.steps, |step| Reverse(step.to));
    }

    fn sort_as_source(&mut self) {
        sort_few(&mut self.steps, |step| (step.from == 0, step.from.abs(), Reverse(step.to)));
    }

    /// The axis of the smallest source stride.
    fn nearest(&self) -> usize {
        let last = self.steps.len().saturating_sub(1);
        let is_apart = |&axis: &usize| axis < last && self.steps[axis].from != 0;
        let least = self.steps.last().map_or(0, |step| step.from.abs());
        (0..last)
            .filter(is_apart)
            .min_by_key(|&axis| self.steps[axis].from.abs())
            .filter(|&axis| self.steps[axis].from.abs() < least)
            .unwrap_or(last)
    }

    pub(super) fn rows<E>(&self, inner: usize, mut row: impl FnMut(usize, usize) -> Result<(), E>) -> Result<(), E> {
        let outer = &self.steps[..self.steps.len() - inner];
        if outer.is_empty() {
            return row(self.from, self.to);
        }
        let mut at: Few<usize> = outer.iter().map(|_| 0).collect();
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

/// Sorts a few entries, which stay in order if they are equal. The standard library's stable sort allocates for long lists.
fn sort_few<K: Ord>(steps: &mut [Step], key: impl Fn(&Step) -> K) {
    for n in 1..steps.len() {
        let mut at = n;
        while at > 0 && key(&steps[at - 1]) > key(&steps[at]) {
            steps.swap(at - 1, at);
            at -= 1;
        }
    }
}

/// Whether starting a row costs more than copying it.
fn is_short<T>(row: Step) -> bool {
    row.dim < 8 && ((row.from, row.to) != (1, 1) || row.dim * size_of::<T>() < 16)
}

const SHORT_ROW_ITEMS: usize = 512;

/// Rows of a source across the destination that are too few for blocks: transposing 3 rows of float16 by blocks of 64 took
/// twice as long.
const FEW_ROWS: usize = 16;

/// The bytes of a transposition that stays in the first-level cache, where rows are copied faster than blocks: one of 64 x 64
/// float32 took 0.4 of the time.
const CACHED: usize = 1 << 14;

/// Calls `each(first)` for each run of contiguous items, in C order.
pub fn each_run(view: &View, mut each: impl FnMut(usize)) {
    let Some(walk) = CopyWalk::new(view, &view.in_c_order()) else { return };
    let has_run = walk.steps.last().is_some_and(|step| step.from == 1);
    let Ok(()) = walk.rows(usize::from(has_run), |from, _| -> Result<(), Infallible> {
        each(from);
        Ok(())
    });
}

/// Copies items between views of the same shape.
pub fn copy<T: Copy>(source: &[T], from: &View, target: &mut [T], to: &View) {
    copy_by(source, from, target, to, transpose_items);
}

fn copy_by<T: Copy>(source: &[T], from: &View, target: &mut [T], to: &View, transpose: TransposeBlock<T>) {
    let Some(walk) = CopyWalk::new(from, to) else { return };
    let nearest = walk.nearest();
    let last = walk.steps.len().wrapping_sub(1);
    // an axis that is not worth the start of a row, or a block's side, and the long one beside it
    let short_and_long = match walk.steps[..] {
        [.., a, b] if is_short::<T>(b) && a.dim > b.dim && nearest + 1 >= last => Some((b, a)),
        [.., a, b] if a.dim <= FEW_ROWS && a.dim < b.dim && nearest + 1 == last => Some((a, b)),
        _ => None,
    };
    match (&walk.steps[..], short_and_long) {
        ([], _) => target[walk.to] = source[walk.from],
        (_, Some((short, long))) => {
            // Copies along the long axis, in parts that stay in the cache.
            let Ok(()) = walk.rows(2, |from, to| -> Result<(), Infallible> {
                for first in (0..long.dim).step_by(SHORT_ROW_ITEMS) {
                    let part = Step { dim: SHORT_ROW_ITEMS.min(long.dim - first), ..long };
                    let from = from.wrapping_add_signed(long.from * first as isize);
                    let to = to + long.to as usize * first;
                    for n in 0..short.dim {
                        let from = from.wrapping_add_signed(short.from * n as isize);
                        copy_row(source, from, target, to + short.to as usize * n, part);
                    }
                }
                Ok(())
            });
        }
        ([.., row], _) if nearest == last || walk.items() * size_of::<T>() <= CACHED => {
            let Ok(()) = walk.rows(1, |from, to| -> Result<(), Infallible> {
                copy_row(source, from, target, to, *row);
                Ok(())
            });
        }
        _ if size_of::<T>() <= 2 => copy_blocks::<T, 64, { 64 * 64 }>(source, target, walk, nearest, transpose),
        _ => copy_blocks::<T, 32, { 32 * 32 }>(source, target, walk, nearest, transpose),
    }
}

fn copy_row<T: Copy>(source: &[T], from: usize, target: &mut [T], to: usize, row: Step) {
    let (stride, step) = (row.from.unsigned_abs(), row.to as usize);
    let extent = (row.dim - 1) * stride + 1;
    let first = if row.from < 0 { from + 1 - extent } else { from };
    let (source, target) = (&source[first..][..extent], &mut target[to..][..(row.dim - 1) * step + 1]);
    // One loop per arm, so that the compiler sees strides of 1.
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

/// Places along axes of a walk, innermost first.
struct BlockSide<const SIDE: usize> {
    /// The offset of each place in source and destination.
    from: [isize; SIDE],
    to: [isize; SIDE],
    len: usize,
    inner: usize,
    part: usize,
    last: Step,
}

impl<const SIDE: usize> BlockSide<SIDE> {
    /// Takes axes while the side has at most `most` places and at least two of the next axis fit.
    fn new(axes: impl IntoIterator<Item = Step>, most: usize) -> (Self, usize) {
        let (mut axes, mut taken) = (axes.into_iter(), 1);
        let last = axes.next().expect("a block has two sides");
        let mut side = Self { from: [0; SIDE], to: [0; SIDE], len: 1, inner: 1, part: 1, last };
        side.extend(last);
        for axis in axes.take_while(|axis| axis.dim > 1) {
            if side.part < side.last.dim || side.len > most || 2 * side.len > SIDE {
                break;
            }
            side.extend(axis);
            taken += 1;
        }
        (side, taken)
    }

    fn extend(&mut self, axis: Step) {
        (self.inner, self.part, self.last) = (self.len, axis.dim.min(SIDE / self.len), axis);
        for at in self.len..self.len * self.part {
            let (place, before) = ((at / self.inner) as isize, at % self.inner);
            self.from[at] = self.from[before] + place * axis.from;
            self.to[at] = self.to[before] + place * axis.to;
        }
        self.len = self.inner * self.part;
    }

    /// Source offset, destination offset and number of places of each part.
    fn parts(&self) -> impl Iterator<Item = (isize, isize, usize)> {
        (0..self.last.dim).step_by(self.part).map(|first| {
            let (at, count) = (first as isize, self.part.min(self.last.dim - first));
            (at * self.last.from, at * self.last.to, count * self.inner)
        })
    }
}

/// Columns that a block completes with a further axis, whose pieces are then written item by item. With 14 columns of bytes that
/// took 1.4 times as long as blocks of 14, with 8 columns 0.6.
const FEW_COLUMNS: usize = 8;

fn run_of(places: &[isize]) -> usize {
    places.iter().zip(0..).take_while(|&(&place, at)| place == at).count()
}

/// Copies along a walk whose innermost source axis `nearest` is not the innermost destination axis. Blocks are read in
/// storage order, transposed and written, so each cache line is touched once, even if power-of-two strides would evict
/// it.
fn copy_blocks<T: Copy, const SIDE: usize, const ITEMS: usize>(
    source: &[T],
    target: &mut [T],
    mut walk: CopyWalk,
    nearest: usize,
    transpose: TransposeBlock<T>,
) {
    let (columns, taken) = BlockSide::<SIDE>::new(walk.steps[nearest + 1..].iter().rev().copied(), FEW_COLUMNS);
    walk.steps.truncate(walk.steps.len() - taken);
    let own = walk.steps[nearest];
    // If axis `nearest` is short, the next source axes extend the rows.
    walk.sort_as_source();
    debug_assert_eq!(walk.steps[0], own, "the axis along which the source runs comes first");
    let (rows, taken) = BlockSide::<SIDE>::new(walk.steps.iter().copied(), SIDE);
    walk.steps = walk.steps[taken..].iter().copied().collect();
    walk.sort_as_target();
    let runs = [run_of(&rows.from[..rows.len]), run_of(&columns.to[..columns.len])];
    let (mut block, mut turned) = ([source[walk.from]; ITEMS], [source[walk.from]; ITEMS]);
    let Ok(()) = walk.rows(0, |from, to| -> Result<(), Infallible> {
        for (from_row, to_row, row_count) in rows.parts() {
            for (from_column, to_column, column_count) in columns.parts() {
                let from = from.wrapping_add_signed(from_row + from_column);
                let to = to.wrapping_add_signed(to_row + to_column);
                if size_of::<T>() > 8 && row_count < SIDE {
                    // A cache line has room for few such items: through the block, 21 rows of 12 bytes took three times as long.
                    for (&column, &column_to) in columns.from.iter().zip(&columns.to).take(column_count) {
                        let (from, to) = (from.wrapping_add_signed(column), to.wrapping_add_signed(column_to));
                        for n in 0..row_count {
                            let item = source[from.wrapping_add_signed(rows.from[n])];
                            target[to.wrapping_add_signed(rows.to[n])] = item;
                        }
                    }
                    continue;
                }
                for (column, block) in columns.from[..column_count].iter().zip(block.chunks_exact_mut(SIDE)) {
                    let from = from.wrapping_add_signed(*column);
                    match row_count {
                        _ if row_count > runs[0] => {
                            let places = block.iter_mut().zip(&rows.from[..row_count]);
                            places.for_each(|(item, &row)| *item = source[from.wrapping_add_signed(row)]);
                        }
                        // A copy of constant length needs no call, and the surplus items are harmless.
                        _ if 2 * row_count > SIDE && source.len() - from >= SIDE => {
                            let whole = block.first_chunk_mut::<SIDE>().expect("a column of a block");
                            *whole = *source[from..].first_chunk().expect("as many items are left");
                        }
                        _ => block[..row_count].copy_from_slice(&source[from..][..row_count]),
                    }
                }
                transpose(&block, SIDE, row_count, column_count, &mut turned);
                for (row, turned) in rows.to[..row_count].iter().zip(turned.chunks_exact(SIDE)) {
                    let to = to.wrapping_add_signed(*row);
                    match column_count {
                        _ if column_count > runs[1] => {
                            let places = turned.iter().zip(&columns.to[..column_count]);
                            places.for_each(|(item, &column)| target[to.wrapping_add_signed(column)] = *item);
                        }
                        _ if column_count == SIDE => {
                            let whole = target[to..].first_chunk_mut::<SIDE>().expect("a row of the destination");
                            *whole = *turned.first_chunk().expect("a row of a block");
                        }
                        _ => target[to..][..column_count].copy_from_slice(&turned[..column_count]),
                    }
                }
            }
        }
        Ok(())
    });
}

/// Repeats the first `period` items of `out` until its end.
pub fn repeat<T: Copy>(out: &mut [T], period: usize) {
    let mut done = period;
    while done < out.len() {
        let more = done.min(out.len() - done);
        out.copy_within(..more, done);
        done += more;
    }
}

/// Fills `out` with copies of an item.
pub fn fill<T: Copy>(out: &mut [T], item: &[T]) {
    if let (Some(first), true) = (out.get_mut(..item.len()), !item.is_empty()) {
        first.copy_from_slice(item);
        repeat(out, item.len());
    }
}

/// Evaluates `$body` with the item size as constant `$N` for items that move as words, else `$other`. Items of 3 bytes
/// took three to four times as long as rows of 3 one-byte words.
#[doc(hidden)]
#[macro_export]
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

pub use with_word;

/// Whether items of this size move as words.
pub fn is_word(itemsize: usize) -> bool {
    with_word!(itemsize, N => N > 0, _ => false)
}

/// Copies items of `N` bytes between views of the same shape.
pub(crate) fn copy_words<const N: usize>(source: &[[u8; N]], from: &View, target: &mut [[u8; N]], to: &View) {
    copy_by(source, from, target, to, transpose_words);
}

/// Copies items of `itemsize` bytes; the views count items. Items that are not words move as rows of words.
pub fn copy_bytes(source: &[u8], from: &View, target: &mut [u8], to: &View, itemsize: usize) {
    fn words<const N: usize>(source: &[u8], from: &View, target: &mut [u8], to: &View) {
        copy_words(source.as_chunks::<N>().0, from, target.as_chunks_mut::<N>().0, to);
    }
    with_word!(itemsize, N => words::<N>(source, from, target, to), _ => {
        let word = 1 << itemsize.trailing_zeros().min(4);
        let (from, to) = (from.with_words(itemsize / word), to.with_words(itemsize / word));
        with_word!(word, N => words::<N>(source, &from, target, &to), _ => unreachable!("a word has at most 16 bytes"));
    });
}

/// Ratios of written to read piece lengths. A write takes longer than a read, but with short rows a box written in one
/// piece may be the cheapest.
const RATIOS: [usize; 4] = [1, 8, 64, usize::MAX];

/// Returns the sides of boxes of about `items` items, one per ratio of written to read pieces. Written pieces grow
/// along the last output axes, read pieces along the first of `stored`, the axes in storage order, innermost first.
///
/// A 4 MiB box of float32 is thus read in pieces of 1 KiB and written in pieces of 8 KiB.
pub fn tiles(shape: &[usize], stored: &[usize], items: usize) -> Vec<Vec<usize>> {
    let seen: Vec<usize> = (0..shape.len()).rev().collect();
    let grown = |times: usize| {
        let mut sides = vec![1; shape.len()];
        loop {
            let volume: usize = sides.iter().product();
            let (read, read_end) = piece(&sides, shape, stored);
            let (written, written_end) = piece(&sides, shape, &seen);
            let is_written_next = written < read.saturating_mul(times);
            let ends = if is_written_next { [written_end, read_end] } else { [read_end, written_end] };
            let grown = ends.into_iter().flatten().find_map(|axis| {
                let most = (items / (volume / sides[axis])).min(shape[axis]);
                (most > sides[axis]).then(|| (axis, most.min(2 * sides[axis])))
            });
            match grown {
                Some((axis, side)) => sides[axis] = side,
                None => break,
            }
        }
        let even = |(&side, &dim): (&usize, &usize)| dim.div_ceil(dim.div_ceil(side).max(1)).max(1);
        sides.iter().zip(shape).map(even).collect()
    };
    RATIOS.into_iter().map(grown).collect()
}

/// Returns the [tile](tiles) with the fewest calls, if a write costs as much as 8 reads.
pub fn tile(shape: &[usize], stored: &[usize], items: usize) -> Vec<usize> {
    tile_by(shape, stored, items, |[read, written]| 1.0 / read as f64 + 8.0 / written as f64)
}

/// Returns the cheapest [tile](tiles); `cost` maps contiguous items in storage and output to a cost per item.
pub fn tile_by(shape: &[usize], stored: &[usize], items: usize, cost: impl Fn([usize; 2]) -> f64) -> Vec<usize> {
    let cost = |sides: &Vec<usize>| cost(pieces(sides, shape, stored));
    let best = tiles(shape, stored, items).into_iter().min_by(|one, other| cost(one).total_cmp(&cost(other)));
    best.expect("there are ratios")
}

/// Returns the contiguous items of a box in storage and in the output.
pub fn pieces(sides: &[usize], shape: &[usize], stored: &[usize]) -> [usize; 2] {
    let seen: Vec<usize> = (0..shape.len()).rev().collect();
    [stored, &seen].map(|axes| piece(sides, shape, axes).0)
}

fn piece(sides: &[usize], shape: &[usize], axes: &[usize]) -> (usize, Option<usize>) {
    let mut piece = 1;
    let end = axes.iter().copied().find(|&axis| {
        piece *= sides[axis];
        sides[axis] < shape[axis]
    });
    (piece, end)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{places, span, views};
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
    fn items_stored_across_the_destination() {
        let shapes: [&[usize]; 8] = [
            &[70, 45],
            &[130, 66],
            &[1, 70, 65],
            &[9, 40, 3],
            &[17, 9, 33],
            &[2, 3, 5, 3, 70],
            &[70, 3, 5, 3, 2],
            &[3, 1, 70, 4, 2],
        ];
        for shape in shapes {
            let (count, c_order) = (shape.iter().product::<usize>(), View::c_order(shape));
            let turned: Vec<usize> = (0..shape.len()).map(|axis| (axis + 1) % shape.len()).collect();
            let back: Vec<usize> = (0..shape.len()).map(|axis| (axis + shape.len() - 1) % shape.len()).collect();
            let backwards: Vec<_> = shape.iter().map(|&dim| span(dim - 1, -1, dim)).collect();
            let by_two: Vec<_> = shape.iter().map(|&dim| span(0, 2, dim.div_ceil(2))).collect();
            let rotated = View::c_order(&turned.iter().map(|&axis| shape[axis]).collect::<Vec<_>>()).with_axes(&back);
            let fortran = View::fortran_order(shape);
            let repeated = View { axes: fortran.axes.iter().map(|&(dim, at)| (dim, at % 7)).collect(), offset: 0 };
            let all = [fortran.clone(), rotated, fortran.select(&backwards), repeated, c_order.clone()];
            let pairs = all.iter().flat_map(|from| [c_order.clone(), fortran.clone()].map(|to| (from.clone(), to)));
            let halves = (fortran.select(&by_two), c_order.select(&by_two));
            for (from, to) in pairs.chain([halves.clone(), (halves.1, halves.0)]) {
                for itemsize in [1, 2, 3, 8, 32] {
                    let items: Vec<u8> = (0..count * itemsize).map(|at| (at % 251) as u8).collect();
                    let mut expected = vec![255; items.len()];
                    for (from, to) in from.places().into_iter().zip(to.places()) {
                        let item = &items[from * itemsize..][..itemsize];
                        expected[to * itemsize..][..itemsize].copy_from_slice(item);
                    }
                    let mut target = vec![255; items.len()];
                    copy_bytes(&items, &from, &mut target, &to, itemsize);
                    assert!(target == expected, "{itemsize} bytes, {from:?} {to:?}");
                }
            }
        }
    }

    #[test]
    fn pieces_of_boxes() {
        let rows = [
            ([4, 1, 18078], [4, 18078]),
            ([4, 29, 18078], [116, 29 * 18078]),
            ([4, 58, 10], [2320, 10]),
            ([3, 58, 10], [3, 10]),
        ];
        for (sides, wanted) in rows {
            assert_eq!(pieces(&sides, &[4, 58, 18078], &[0, 1, 2]), wanted, "{sides:?}");
        }
    }

    #[test]
    fn sides_of_tiles() {
        // shape, stored axes, items, ratio, sides
        type Row = (&'static [usize], &'static [usize], usize, usize, &'static [usize]);
        let rows: [Row; 14] = [
            (&[1024, 1024], &[0, 1], 1024, 8, &[16, 64]),
            (&[1024, 1024], &[0, 1], 1024, 1, &[32, 32]),
            (&[1024, 1024], &[0, 1], 1024, usize::MAX, &[1, 1024]),
            (&[1000, 1000], &[0, 1], 1024, 8, &[16, 63]),
            (&[1000, 3], &[0, 1], 100, 8, &[33, 3]),
            (&[3, 1000], &[0, 1], 100, 8, &[3, 33]),
            (&[6, 5, 139_810], &[0, 1, 2], 131_072, 8, &[6, 5, 4237]),
            (&[5, 14463, 58], &[2, 0, 1], 131_072, 8, &[5, 439, 58]),
            (&[50, 3, 20, 20], &[1, 3, 2, 0], 2400, 8, &[2, 3, 20, 20]),
            (&[678, 94, 522], &[2, 0, 1], 262_144, usize::MAX, &[5, 94, 522]),
            (&[4, 4], &[0, 1], 100, 8, &[4, 4]),
            (&[5, 1, 7], &[0, 2, 1], 14, 8, &[2, 1, 7]),
            (&[9, 9], &[0, 1], 1, 8, &[1, 1]),
            (&[9, 9], &[0, 1], 0, 8, &[1, 1]),
        ];
        for (shape, stored, items, ratio, wanted) in rows {
            let at = RATIOS.iter().position(|&it| it == ratio).unwrap();
            assert_eq!(tiles(shape, stored, items)[at], wanted, "{shape:?} {stored:?} {items} {ratio}");
        }
    }
}
