//! Windows: boxes of a tensor to read or write at once. Most are contiguous in C order; chunked tensors have chunks.

use std::ops::Range;

use super::axis::{Span, coordinates};
use crate::error::Result;
use crate::memory;

/// A box of a tensor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// The C-order number of the first item.
    pub start: usize,
    /// The places along each axis.
    pub ranges: Vec<Range<usize>>,
}

impl Window {
    /// All of a tensor.
    pub fn whole(shape: &[usize]) -> Self {
        Self { start: 0, ranges: shape.iter().map(|&dim| 0..dim).collect() }
    }

    /// A box of a tensor of this shape.
    pub fn new(ranges: Vec<Range<usize>>, shape: &[usize]) -> Self {
        let start = ranges.iter().zip(shape).fold(0, |at, (range, dim)| at * dim + range.start);
        Self { start, ranges }
    }

    /// How many items there are.
    pub fn items(&self) -> usize {
        self.ranges.iter().map(ExactSizeIterator::len).product()
    }

    /// The dims of the box.
    pub fn shape(&self) -> Vec<usize> {
        self.ranges.iter().map(ExactSizeIterator::len).collect()
    }

    /// The places along each axis, as spans.
    pub fn spans(&self) -> impl Iterator<Item = Span> {
        self.ranges.iter().map(|range| Span { start: range.start, step: 1, len: range.len() })
    }

    /// Returns the tensor index of an item of the box.
    pub fn index_of(&self, item: usize) -> Vec<usize> {
        let inside = coordinates(item, &self.shape());
        inside.iter().zip(&self.ranges).map(|(at, range)| range.start + at).collect()
    }

    /// The axis with a part in a contiguous piece; a piece has one place of each earlier axis.
    fn cut(&self, shape: &[usize]) -> usize {
        self.ranges.iter().zip(shape).rposition(|(range, &dim)| range.len() != dim).unwrap_or(0)
    }

    /// Whether the items are contiguous in C order in a tensor of this shape.
    pub fn is_contiguous(&self, shape: &[usize]) -> bool {
        self.ranges[..self.cut(shape).min(self.ranges.len())].iter().all(|range| range.len() == 1)
    }

    /// How many [pieces](Self::pieces) there are.
    pub fn piece_count(&self, shape: &[usize]) -> usize {
        self.ranges[..self.cut(shape).min(self.ranges.len())].iter().map(ExactSizeIterator::len).product()
    }

    /// Splits the box into contiguous pieces, in order.
    pub fn pieces(&self, shape: &[usize]) -> impl Iterator<Item = Window> {
        let cut = self.cut(shape).min(self.ranges.len());
        let (outer, inner) = (self.ranges[..cut].to_vec(), self.ranges[cut..].to_vec());
        let counts: Vec<usize> = outer.iter().map(ExactSizeIterator::len).collect();
        let count = if self.items() == 0 { 0 } else { counts.iter().product() };
        let shape = shape.to_vec();
        (0..count).map(move |number| {
            let at = coordinates(number, &counts);
            let outer = at.iter().zip(&outer).map(|(at, range)| range.start + at..range.start + at + 1);
            Window::new(outer.chain(inner.iter().cloned()).collect(), &shape)
        })
    }

    /// Returns the tensor places of a part of the box.
    pub fn places_of(&self, part: &Window) -> Vec<Range<usize>> {
        let places = |(whole, part): (&Range<usize>, &Range<usize>)| whole.start + part.start..whole.start + part.end;
        self.ranges.iter().zip(&part.ranges).map(places).collect()
    }

    /// Splits bytes by [pieces](Self::pieces).
    pub fn split<'a>(&self, shape: &[usize], items: &'a [u8]) -> impl Iterator<Item = (Window, &'a [u8])> {
        let (itemsize, mut rest) = (items.len() / self.items().max(1), items);
        self.pieces(shape).map(move |piece| {
            let run = rest.split_off(..piece.items() * itemsize).expect("a box has the items of its pieces");
            (piece, run)
        })
    }
}

/// Splits the C-order items `start..end` into contiguous boxes, at most two per axis.
pub fn boxes_of_run(shape: &[usize], start: usize, end: usize) -> Vec<Window> {
    let (mut boxes, mut at) = (Vec::new(), start);
    while at < end {
        let places = coordinates(at, shape).into_iter();
        let mut window = Window { start: at, ranges: places.map(|place| place..place + 1).collect() };
        let inner = |axis: usize| shape[axis + 1..].iter().product::<usize>();
        if let Some(axis) = (0..shape.len()).find(|&axis| at.is_multiple_of(inner(axis)) && inner(axis) <= end - at) {
            let range = &mut window.ranges[axis];
            range.end = shape[axis].min(range.start + (end - at) / inner(axis));
            (axis + 1..shape.len()).for_each(|axis| window.ranges[axis] = 0..shape[axis]);
        }
        at += window.items();
        boxes.push(window);
    }
    boxes
}

/// Calls `fill` with each window and its consecutive items of `out`.
///
/// # Errors
/// `fill` fails.
pub fn fill_each(
    windows: &[Window],
    itemsize: usize,
    out: &mut [u8],
    mut fill: impl FnMut(&Window, &mut [u8]) -> Result<()>,
) -> Result<()> {
    let mut rest = out;
    for window in windows {
        let (items, after) = rest.split_at_mut(window.items() * itemsize);
        fill(window, items)?;
        rest = after;
    }
    Ok(())
}

/// A tensor cut into a grid of windows in C order; windows at the end of an axis may be smaller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Windows {
    shape: Vec<usize>,
    sides: Vec<usize>,
    counts: Vec<usize>,
    count: usize,
    /// The cut axes, from the first with several places per window.
    cut: Range<usize>,
    inner: usize,
}

impl Windows {
    /// Cuts a tensor into contiguous windows of at most `items` items.
    pub fn new(shape: &[usize], items: usize) -> Self {
        Self::boxes(shape, &Self::contiguous(shape, items))
    }

    /// Returns the sides of contiguous windows of at most `items` items.
    pub fn contiguous(shape: &[usize], items: usize) -> Vec<usize> {
        let items = items.max(1);
        let mut inner = 1;
        let mut axis = shape.len();
        let mut sides = vec![1; shape.len()];
        while axis > 0 && shape[axis - 1].saturating_mul(inner) <= items {
            axis -= 1;
            inner *= shape[axis];
            sides[axis] = shape[axis].max(1);
        }
        if axis > 0 && inner > 0 {
            sides[axis - 1] = (items / inner).max(1);
        }
        sides
    }

    /// Cuts a tensor as [`new`](Self::new) does, but at boundaries of a grid with sides `grid`, so that each box is
    /// read for one window. A window has at least one row of boxes, even with more than `items` items.
    pub fn on_grid(shape: &[usize], items: usize, grid: &[usize]) -> Self {
        let mut sides = Self::contiguous(shape, items);
        let axis = sides.iter().zip(shape).rposition(|(side, dim)| side < dim);
        let first = (0..shape.len()).find(|&axis| grid[axis] > 1 && shape[axis] > 1);
        let (Some(axis), Some(first)) = (axis, first) else { return Self::boxes(shape, &sides) };
        if axis < first {
            return Self::boxes(shape, &sides);
        }
        // Places in one box belong to one window, as do all places of later axes.
        if axis > first {
            sides[first] = 1;
            (first + 1..shape.len()).for_each(|axis| sides[axis] = shape[axis].max(1));
        }
        let (dim, side) = (shape[first], grid[first]);
        sides[first] = (sides[first] / side * side).max(side).min(dim.max(1));
        Self::boxes(shape, &sides)
    }

    /// Cuts a tensor into boxes with these sides; the last ones may be shorter.
    pub fn boxes(shape: &[usize], sides: &[usize]) -> Self {
        let sides: Vec<usize> = sides.iter().zip(shape).map(|(&side, &dim)| side.clamp(1, dim.max(1))).collect();
        let counts: Vec<usize> = shape.iter().zip(&sides).map(|(dim, &side)| dim.div_ceil(side)).collect();
        let count = counts.iter().product();
        let end = counts.iter().rposition(|&count| count > 1).map_or(0, |last| last + 1);
        let begin = sides[..end].iter().position(|&side| side > 1).unwrap_or(end).min(end.saturating_sub(1));
        let inner = shape[end..].iter().product();
        Self { shape: shape.to_vec(), sides, counts, count, cut: begin..end, inner }
    }

    /// The dims of the tensor.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The sides of a whole box.
    pub fn sides(&self) -> &[usize] {
        &self.sides
    }

    /// The items of the largest box.
    pub fn largest(&self) -> usize {
        self.sides.iter().zip(&self.shape).map(|(&side, &dim)| side.min(dim)).product()
    }

    /// How many boxes there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Box number `n`.
    pub fn get(&self, n: usize) -> Window {
        let at = coordinates(n, &self.counts);
        let range = |((&at, &side), &dim): ((&usize, &usize), &usize)| at * side..dim.min((at + 1) * side);
        Window::new(at.iter().zip(&self.sides).zip(&self.shape).map(range).collect(), &self.shape)
    }

    /// Returns the number of the window that holds an item.
    pub fn number_of(&self, item: usize) -> usize {
        if self.count <= 1 {
            return 0;
        }
        let (mut rest, mut number, mut windows) = (item / self.inner, 0, 1);
        for axis in self.cut.clone().rev() {
            let dim = self.shape[axis];
            number += rest % dim / self.sides[axis] * windows;
            windows *= self.counts[axis];
            rest /= dim;
        }
        // Earlier axes have one place per window.
        number + rest * windows
    }

    /// Calls `each` with number ranges that cover the windows of items `first..=last`. Windows may repeat.
    ///
    /// # Errors
    /// `each` fails, or there is not enough memory.
    pub fn each_of_run(
        &self,
        first: usize,
        last: usize,
        mut each: impl FnMut(Range<usize>) -> Result<()>,
    ) -> Result<()> {
        if self.cut.len() <= 1 {
            return each(self.number_of(first)..self.number_of(last) + 1);
        }
        for window in boxes_of_run(&self.shape, first, last + 1) {
            let spans: Vec<_> = window.spans().collect();
            self.touched_by(&spans)?.into_iter().try_for_each(|number| each(number..number + 1))?;
        }
        Ok(())
    }

    /// Returns the ascending numbers of the windows that overlap one span per axis.
    ///
    /// # Errors
    /// Not enough memory: a few bytes of metadata can declare 2^40 chunks.
    pub fn touched_by(&self, spans: &[Span]) -> Result<Vec<usize>> {
        if self.count == 0 || spans.iter().any(|span| span.len == 0) {
            return Ok(Vec::new());
        }
        let mut numbers = vec![0];
        for (axis, span) in spans[..self.cut.end].iter().enumerate() {
            // Enumerates places or windows, depending on which are fewer.
            let side = self.sides[axis];
            let ends = [span.at(0) / side, span.at(span.len - 1) / side];
            let (first, last) = (ends[0].min(ends[1]), ends[0].max(ends[1]));
            let mut reached = memory::with_capacity(span.len.min(last - first + 1))?;
            if span.len <= last - first {
                reached.extend((0..span.len).map(|i| span.at(i) / side));
                reached.sort_unstable();
                reached.dedup();
            } else {
                reached.extend((first..=last).filter(|at| !span.within(at * side, (at + 1) * side).is_empty()));
            }
            let mut all = memory::with_capacity(numbers.len().saturating_mul(reached.len()))?;
            all.extend(numbers.iter().flat_map(|n| reached.iter().map(move |at| n * self.counts[axis] + at)));
            numbers = all;
        }
        Ok(numbers)
    }

    /// All boxes in order.
    pub fn iter(&self) -> impl Iterator<Item = Window> + '_ {
        (0..self.count).map(|n| self.get(n))
    }
}

/// Runs of C-order items that cover selected places of each axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemRuns {
    shape: Vec<usize>,
    sides: Vec<Vec<Range<usize>>>,
}

impl ItemRuns {
    /// `places` has ascending, non-empty ranges per axis.
    pub fn new(shape: &[usize], places: &[Vec<Range<usize>>]) -> Self {
        // The last partly selected axis; runs have one place of each earlier axis.
        let is_part = |(ranges, &dim): (&Vec<Range<usize>>, &usize)| ranges.len() != 1 || ranges[0] != (0..dim);
        let cut = places.iter().zip(shape).rposition(is_part).unwrap_or(0);
        let single =
            |ranges: &Vec<Range<usize>>| ranges.iter().cloned().flatten().map(|place| place..place + 1).collect();
        let mut sides: Vec<Vec<Range<usize>>> = places[..cut].iter().map(single).collect();
        sides.extend_from_slice(&places[cut..]);
        Self { shape: shape.to_vec(), sides }
    }

    /// How many runs there are.
    pub fn count(&self) -> usize {
        self.sides.iter().map(Vec::len).product()
    }

    /// How many items are selected.
    pub fn items(&self) -> usize {
        self.shape().into_iter().product()
    }

    /// How many places of each axis are selected.
    pub fn shape(&self) -> Vec<usize> {
        self.sides.iter().map(|ranges| ranges.iter().map(Range::len).sum()).collect()
    }

    /// The items of the longest run.
    pub fn largest(&self) -> usize {
        self.sides.iter().map(|ranges| ranges.iter().map(Range::len).max().unwrap_or(0)).product()
    }

    /// The items of a run.
    pub fn get(&self, number: usize) -> Range<usize> {
        let counts: Vec<usize> = self.sides.iter().map(Vec::len).collect();
        let at = coordinates(number, &counts);
        let ranges = self.sides.iter().zip(at).map(|(ranges, at)| ranges[at].clone()).collect();
        let window = Window::new(ranges, &self.shape);
        window.start..window.start + window.items()
    }
}

/// Returns the operands of a window of joined tensors, each with a box of the operand and the box of the window that
/// takes its items. `ends` are the ends of the operands along `axis`, after a leading 0.
pub fn joined_parts<'a>(
    ends: &'a [usize],
    axis: usize,
    window: &'a Window,
) -> impl Iterator<Item = (usize, Vec<Range<usize>>, Vec<Range<usize>>)> + 'a {
    let Range { start, end } = window.ranges[axis];
    let first = ends.partition_point(|&end| end <= start).saturating_sub(1);
    let begun = (first..ends.len() - 1).take_while(move |&n| ends[n] < end);
    let places = begun.map(move |n| (n, start.max(ends[n])..end.min(ends[n + 1])));
    places.filter(|(_, places)| !places.is_empty()).map(move |(n, places)| {
        let from = |begin: usize, mut ranges: Vec<Range<usize>>| {
            ranges[axis] = places.start - begin..places.end - begin;
            ranges
        };
        let inside = window.ranges.iter().map(|range| 0..range.len()).collect();
        (n, from(ends[n], window.ranges.clone()), from(start, inside))
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::{places, span};
    use super::super::view::View;
    use super::*;

    #[test]
    fn windows_cover_everything_once() {
        for shape in [&[3, 4, 5][..], &[60], &[1], &[], &[1, 1, 7], &[0, 3], &[3, 0], &[2, 1, 3, 1, 2]] {
            for items in [1, 2, 3, 5, 7, 20, 40, 1000] {
                let windows = Windows::new(shape, items);
                let mut next = 0;
                for window in windows.iter() {
                    assert_eq!(window.start, next, "{shape:?} by {items}");
                    assert!(window.items() <= items);
                    let part = View::c_order(shape).part(&window.ranges);
                    assert_eq!(
                        places(&part),
                        (next..next + window.items()).collect::<Vec<_>>(),
                        "{shape:?} by {items}"
                    );
                    next += window.items();
                }
                assert_eq!(next, shape.iter().product::<usize>(), "{shape:?} by {items}");
            }
        }
    }

    #[test]
    fn boxes_cover_everything_once() {
        for shape in [&[7, 6, 5][..], &[12], &[1, 9, 4], &[5, 1, 1], &[3, 0], &[]] {
            for sides in [[1, 1, 1], [2, 3, 2], [4, 1, 1], [1, 1, 3], [1, 4, 1], [100, 2, 1], [3, 6, 5]] {
                let windows = Windows::boxes(shape, &sides[..shape.len()]);
                let mut found = Vec::new();
                for (number, window) in windows.iter().enumerate() {
                    let items = places(&View::c_order(shape).part(&window.ranges));
                    assert_eq!(items.first(), Some(&window.start));
                    items.iter().for_each(|&item| assert_eq!(windows.number_of(item), number, "{shape:?} {sides:?}"));
                    assert!(items.len() <= windows.largest());
                    let index = |n: usize| coordinates(items[n], shape);
                    assert_eq!(window.index_of(items.len() - 1), index(items.len() - 1));
                    let pieces: Vec<Window> = window.pieces(shape).collect();
                    assert_eq!(pieces.len() == 1, window.is_contiguous(shape), "{window:?} of {shape:?}");
                    let run = |piece: &Window| piece.start..piece.start + piece.items();
                    assert_eq!(pieces.iter().flat_map(run).collect::<Vec<_>>(), items);
                    let bytes: Vec<u8> = items.iter().flat_map(|&item| [item as u8; 2]).collect();
                    let split: Vec<Window> = window
                        .split(shape, &bytes)
                        .map(|(piece, run)| {
                            assert_eq!((run.len(), run[0]), (2 * piece.items(), piece.start as u8));
                            piece
                        })
                        .collect();
                    assert_eq!(split, pieces);
                    found.extend(items);
                }
                found.sort_unstable();
                assert_eq!(found, (0..shape.iter().product()).collect::<Vec<_>>(), "{shape:?} {sides:?}");
                let all: usize = shape.iter().product();
                for (first, last) in [(0, 0), (1, 9), (3, 11), (0, 203), (17, 100)] {
                    let (first, last) = (first.min(all.max(1) - 1), last.min(all.max(1) - 1));
                    if all == 0 || first > last {
                        continue;
                    }
                    let mut numbers = Vec::new();
                    let all = windows.each_of_run(first, last, |range| {
                        numbers.extend(range);
                        Ok(())
                    });
                    assert!(all.is_ok());
                    numbers.sort_unstable();
                    numbers.dedup();
                    let mut expected: Vec<_> = (first..=last).map(|item| windows.number_of(item)).collect();
                    expected.sort_unstable();
                    expected.dedup();
                    assert_eq!(numbers, expected, "{first}..={last} of {shape:?} {sides:?}");
                }
            }
        }
    }

    #[test]
    fn runs_are_made_of_boxes() {
        for shape in [&[3, 4, 5][..], &[60], &[1, 7, 1], &[2, 1, 3, 1, 2], &[1]] {
            let all: usize = shape.iter().product();
            for start in 0..all {
                for end in start..=all {
                    let boxes = boxes_of_run(shape, start, end);
                    assert!(boxes.len() <= 2 * shape.len());
                    let found: Vec<_> =
                        boxes.iter().flat_map(|it| places(&View::c_order(shape).part(&it.ranges))).collect();
                    assert_eq!(found, (start..end).collect::<Vec<_>>(), "{shape:?}");
                }
            }
        }
        assert_eq!(boxes_of_run(&[], 0, 1), [Window { start: 0, ranges: vec![] }]);
    }

    #[test]
    fn runs_hold_what_is_wanted() {
        let all = |dim: usize| -> Vec<Range<usize>> { std::iter::once(0..dim).collect() };
        type Row<'a> = (&'a [usize], Vec<Vec<Range<usize>>>, usize);
        let rows: [Row<'_>; 5] = [
            (&[9], vec![vec![0..2, 7..9]], 2),
            (&[7, 2], vec![vec![0..1, 5..7], all(2)], 2),
            (&[4, 8], vec![all(4), vec![0..3, 6..8]], 8),
            (&[5, 3, 6], vec![vec![0..1, 4..5], all(3), vec![1..2, 5..6]], 12),
            (&[2, 3], vec![all(2), all(3)], 1),
        ];
        for (shape, wanted, count) in rows {
            let runs = ItemRuns::new(shape, &wanted);
            assert_eq!(runs.count(), count, "{shape:?}");
            let found: Vec<usize> = (0..count).flat_map(|number| runs.get(number)).collect();
            assert_eq!(runs.items(), found.len(), "{shape:?}");
            assert_eq!(Some(runs.largest()), (0..count).map(|number| runs.get(number).len()).max(), "{shape:?}");
            let is_wanted = |place: &usize| {
                let index = coordinates(*place, shape);
                index.iter().zip(&wanted).all(|(i, ranges)| ranges.iter().any(|range| range.contains(i)))
            };
            let all = 0..shape.iter().product();
            assert_eq!(found, all.filter(is_wanted).collect::<Vec<_>>(), "{shape:?}");
        }
    }

    #[test]
    fn windows_end_on_a_grid() {
        for shape in [&[7, 6, 5][..], &[12], &[1, 9, 4], &[5, 1, 1], &[3, 0], &[]] {
            for grid in [[1, 1, 1], [2, 3, 2], [4, 1, 1], [1, 1, 3], [1, 4, 1], [100, 2, 1]] {
                let grid = &grid[..shape.len()];
                for items in [1, 3, 5, 11, 30, 64, 1000] {
                    let windows = Windows::on_grid(shape, items, grid);
                    let mut next = 0;
                    for (number, window) in windows.iter().enumerate() {
                        assert_eq!(
                            (window.start, windows.number_of(next)),
                            (next, number),
                            "{shape:?} {grid:?} {items}"
                        );
                        let part = View::c_order(shape).part(&window.ranges);
                        assert_eq!(places(&part), (next..next + window.items()).collect::<Vec<_>>());
                        assert!(window.items() <= windows.largest());
                        next += window.items();
                        for ((range, &side), &dim) in window.ranges.iter().zip(grid).zip(shape) {
                            let on = |end: usize| end.is_multiple_of(side) || end == dim;
                            assert!(on(range.start) && on(range.end), "{range:?} of {shape:?} {grid:?} {items}");
                        }
                    }
                    assert_eq!(next, shape.iter().product::<usize>(), "{shape:?} {grid:?} {items}");
                }
            }
        }
    }

    #[test]
    fn windows_that_are_touched() {
        let shape = [4, 3, 5];
        for spans in [
            [span(1, 2, 2), span(0, 1, 3), span(4, -2, 3)],
            [span(3, -1, 2), span(2, 1, 1), span(0, 1, 5)],
            [span(0, 1, 4), span(0, 1, 0), span(0, 1, 5)],
        ] {
            let wanted = places(&View::c_order(&shape).select(&spans));
            for items in [1, 2, 3, 5, 7, 15, 20, 1000] {
                let windows = Windows::new(&shape, items);
                let mut expected = Vec::new();
                for (number, window) in windows.iter().enumerate() {
                    let inside = window.start..window.start + window.items();
                    inside.clone().for_each(|item| assert_eq!(windows.number_of(item), number));
                    if wanted.iter().any(|place| inside.contains(place)) {
                        expected.push(number);
                    }
                }
                assert_eq!(windows.touched_by(&spans).unwrap(), expected, "{spans:?} by {items}");
            }
        }
    }
}
