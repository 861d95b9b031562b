//! Copies items between views, and the sides of boxes that make it fast.

use std::cmp::Reverse;
use std::convert::Infallible;

use super::tile::copy_tiles;
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

    /// Outside generic code, which would have a copy of the sort for each type.
    fn sort_as_target(&mut self) {
        sort_few(&mut self.steps, |step| Reverse(step.to));
    }

    /// The axes as the source stores them, innermost first; those that repeat its items come last.
    pub(super) fn stored(&self) -> Few<usize> {
        let mut axes: Few<usize> = (0..self.steps.len()).collect();
        sort_few(&mut axes, |&axis| {
            let step = self.steps[axis];
            (step.from == 0, step.from.abs(), Reverse(axis))
        });
        axes
    }

    /// Whether the source is stored along another axis than the last.
    pub(super) fn is_across(&self) -> bool {
        let [others @ .., last] = &self.steps[..] else { return false };
        others.iter().any(|step| step.from != 0 && step.from.abs() < last.from.abs())
    }

    /// Whether starting a row costs more than copying it.
    fn has_short_rows(&self, itemsize: usize) -> bool {
        let [_, .., row] = self.steps[..] else { return false };
        row.dim < 8 && ((row.from, row.to) != (1, 1) || row.dim * itemsize < 16)
    }

    /// Calls `row(from, to)` with the first places of each box of the last `inner` axes.
    pub(super) fn rows<E>(&self, inner: usize, mut row: impl FnMut(usize, usize) -> Result<(), E>) -> Result<(), E> {
        self.places(inner, |_, from, to| row(from, to))
    }

    /// As [`CopyWalk::rows`], with the place on each of the other axes.
    pub(super) fn places<E>(
        &self,
        inner: usize,
        mut each: impl FnMut(&[usize], usize, usize) -> Result<(), E>,
    ) -> Result<(), E> {
        let outer = &self.steps[..self.steps.len() - inner];
        if outer.is_empty() {
            return each(&[], self.from, self.to);
        }
        let mut at: Few<usize> = outer.iter().map(|_| 0).collect();
        let (mut from, mut to) = (self.from, self.to);
        loop {
            each(&at, from, to)?;
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
fn sort_few<T, K: Ord>(entries: &mut [T], key: impl Fn(&T) -> K) {
    for n in 1..entries.len() {
        let mut at = n;
        while at > 0 && key(&entries[at - 1]) > key(&entries[at]) {
            entries.swap(at - 1, at);
            at -= 1;
        }
    }
}

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
    let Some(walk) = CopyWalk::new(from, to) else { return };
    if walk.is_across() || walk.has_short_rows(size_of::<T>()) {
        copy_tiles(source, target, walk);
    } else {
        copy_walk(source, target, &walk);
    }
}

/// Copies in the order of the walk, row by row along its last axis.
pub(super) fn copy_walk<T: Copy>(source: &[T], target: &mut [T], walk: &CopyWalk) {
    let (second, row) = match walk.steps[..] {
        [] => return target[walk.to] = source[walk.from],
        [row] => (Step { dim: 1, from: 0, to: 0 }, row),
        [.., second, row] => (second, row),
    };
    let Ok(()) = walk.rows(walk.steps.len().min(2), |from, to| -> Result<(), Infallible> {
        copy_rows(source, from, target, to, second, row);
        Ok(())
    });
}

/// Copies rows that begin a step of `second` after each other.
fn copy_rows<T: Copy>(source: &[T], from: usize, target: &mut [T], to: usize, second: Step, row: Step) {
    let (stride, step) = (row.from.unsigned_abs(), row.to as usize);
    let extents = [(row.dim - 1) * stride + 1, (row.dim - 1) * step + 1];
    let first = if row.from < 0 { from + 1 - extents[0] } else { from };
    let rows = Rows { source, first, target, to, second, extents };
    // One loop per arm, so that the compiler sees strides of 1.
    match (row.from, step) {
        (1, 1) => rows.each(move |source, target| target.copy_from_slice(source)),
        (0, _) => rows.each(move |source, target| target.iter_mut().step_by(step).for_each(|t| *t = source[0])),
        (-1, 1) => rows.each(move |source, target| set(target.iter_mut(), source.iter().rev())),
        (1.., 1) => rows.each(move |source, target| set(target.iter_mut(), source.iter().step_by(stride))),
        (..0, 1) => rows.each(move |source, target| set(target.iter_mut(), source.iter().rev().step_by(stride))),
        (1, _) => rows.each(move |source, target| set(target.iter_mut().step_by(step), source.iter())),
        (1.., _) => {
            rows.each(move |source, target| set(target.iter_mut().step_by(step), source.iter().step_by(stride)))
        }
        (..0, _) => {
            rows.each(move |source, target| set(target.iter_mut().step_by(step), source.iter().rev().step_by(stride)));
        }
    }
}

/// Rows of a source and of a destination, from the first to the last item of each.
struct Rows<'a, T> {
    source: &'a [T],
    first: usize,
    target: &'a mut [T],
    to: usize,
    second: Step,
    extents: [usize; 2],
}

impl<T> Rows<'_, T> {
    #[inline(always)]
    fn each(self, copy: impl Fn(&[T], &mut [T])) {
        for n in 0..self.second.dim {
            let from = self.first.wrapping_add_signed(self.second.from * n as isize);
            let to = self.to.wrapping_add_signed(self.second.to * n as isize);
            copy(&self.source[from..][..self.extents[0]], &mut self.target[to..][..self.extents[1]]);
        }
    }
}

#[inline(always)]
fn set<'a, T: Copy + 'a>(target: impl Iterator<Item = &'a mut T>, source: impl Iterator<Item = &'a T>) {
    target.zip(source).for_each(|(t, s)| *t = *s);
}

/// Repeats the first `period` items of `out` until its end.
pub fn repeat<T: Copy>(out: &mut [T], period: usize) {
    if let (1, [item, rest @ ..]) = (period, &mut *out) {
        return rest.fill(*item);
    }
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

/// Copies items of `itemsize` bytes; the views count items. Items that are not words move as rows of words.
pub fn copy_bytes(source: &[u8], from: &View, target: &mut [u8], to: &View, itemsize: usize) {
    fn words<const N: usize>(source: &[u8], from: &View, target: &mut [u8], to: &View) {
        copy(source.as_chunks::<N>().0, from, target.as_chunks_mut::<N>().0, to);
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
        let shapes: [&[usize]; 12] = [
            &[70, 45],
            &[150, 70],
            &[2048, 20],
            &[64, 16, 40],
            &[3, 700, 4, 5],
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
