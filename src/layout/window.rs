//! Windows of a tensor: boxes whose items are contiguous in C order.

use std::ops::Range;

use super::axis::Span;

/// A box of a tensor whose items are contiguous in C order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    /// The number of its first item.
    pub start: usize,
    /// The places it covers on each axis.
    pub ranges: Vec<Range<usize>>,
}

impl Window {
    /// The window that is the whole tensor.
    pub fn whole(shape: &[usize]) -> Self {
        Self { start: 0, ranges: shape.iter().map(|&dim| 0..dim).collect() }
    }

    /// The number of its items.
    pub fn items(&self) -> usize {
        self.ranges.iter().map(ExactSizeIterator::len).product()
    }

    /// The dims of the box.
    pub fn shape(&self) -> Vec<usize> {
        self.ranges.iter().map(ExactSizeIterator::len).collect()
    }
}

/// A tensor cut into windows of at most so many items, in C order.
#[derive(Clone, Debug)]
pub struct Windows {
    shape: Vec<usize>,
    /// The axis that is cut; the axes before it have one place in each window, the axes after it all.
    axis: usize,
    /// The places of that axis in a window (fewer in the last).
    chunk: usize,
    /// The items of one place of that axis.
    inner: usize,
    count: usize,
}

impl Windows {
    /// Cuts a tensor of that shape. No window if it has no items.
    pub fn new(shape: &[usize], items: usize) -> Self {
        let items = items.max(1);
        let mut inner = 1;
        let mut axis = shape.len();
        while axis > 0 && shape[axis - 1].saturating_mul(inner) <= items {
            axis -= 1;
            inner *= shape[axis];
        }
        let mut it = Self { shape: shape.to_vec(), axis, chunk: 1, inner, count: 1 };
        if shape.contains(&0) {
            it.count = 0;
        } else if axis > 0 {
            it.axis = axis - 1;
            let dim = shape[it.axis];
            it.chunk = (items / inner).max(1);
            it.count = shape[..it.axis].iter().product::<usize>() * dim.div_ceil(it.chunk);
        }
        it
    }

    /// The same, but windows end where a grid of that many places an axis does, or where the tensor ends. So each is a
    /// whole number of rows of the grid's boxes, of one at least, even where that is more than `items` items: whoever
    /// stores such boxes can write each of them from one window.
    pub fn on_grid(shape: &[usize], items: usize, grid: &[usize]) -> Self {
        let mut it = Self::new(shape, items);
        let first = (0..shape.len()).find(|&axis| grid[axis] > 1 && shape[axis] > 1);
        let Some(first) = first.filter(|&first| it.count > 1 && it.axis >= first) else { return it };
        // places of this axis that lie in one box must lie in one window, and so must all of the axes after it
        if it.axis > first {
            (it.axis, it.chunk) = (first, 1);
            it.inner = shape[first + 1..].iter().product();
        }
        let (dim, side) = (shape[first], grid[first]);
        it.chunk = (it.chunk / side * side).max(side).min(dim);
        it.count = shape[..first].iter().product::<usize>() * dim.div_ceil(it.chunk);
        it
    }

    /// The items of the first window, than which none is larger.
    pub fn largest(&self) -> usize {
        if self.count == 1 { self.shape.iter().product() } else { self.chunk * self.inner }
    }

    /// The number of windows.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Window number `n`, which must be less than [`count`](Self::count).
    pub fn get(&self, n: usize) -> Window {
        let whole = || self.shape.iter().map(|&dim| 0..dim);
        if self.inner == self.shape.iter().product::<usize>() {
            return Window { start: 0, ranges: whole().collect() };
        }
        let dim = self.shape[self.axis];
        let chunks = dim.div_ceil(self.chunk);
        let (mut outer, lo) = (n / chunks, n % chunks * self.chunk);
        let start = (outer * dim + lo) * self.inner;
        let mut ranges: Vec<_> = whole().collect();
        ranges[self.axis] = lo..dim.min(lo + self.chunk);
        for (range, &dim) in ranges[..self.axis].iter_mut().zip(&self.shape).rev() {
            *range = outer % dim..outer % dim + 1;
            outer /= dim;
        }
        Window { start, ranges }
    }

    /// The number of the window that holds item number `item`.
    pub fn number_of(&self, item: usize) -> usize {
        if self.count <= 1 {
            return 0;
        }
        let dim = self.shape[self.axis];
        let (outer, inside) = (item / (dim * self.inner), item / self.inner % dim);
        outer * dim.div_ceil(self.chunk) + inside / self.chunk
    }

    /// The numbers, in order, of the windows in which the spans (one an axis) have a place.
    pub fn touched_by(&self, spans: &[Span]) -> Vec<usize> {
        if self.count == 0 || spans.iter().any(|span| span.len == 0) {
            return Vec::new();
        }
        if self.count == 1 {
            return vec![0];
        }
        // the parts of `size` places of an axis that the span reaches; of long spans and of few parts alike no more
        // are counted than there are
        let places = |axis: usize, size: usize| -> Vec<usize> {
            let span = &spans[axis];
            let ends = [span.at(0) / size, span.at(span.len - 1) / size];
            let (first, last) = (ends[0].min(ends[1]), ends[0].max(ends[1]));
            if span.len <= last - first {
                let mut places: Vec<usize> = (0..span.len).map(|i| span.at(i) / size).collect();
                places.sort_unstable();
                places.dedup();
                return places;
            }
            (first..=last).filter(|part| !span.within(part * size, (part + 1) * size).is_empty()).collect()
        };
        let mut numbers = vec![0];
        for axis in 0..self.axis {
            let places = places(axis, 1);
            numbers = numbers.iter().flat_map(|n| places.iter().map(move |p| n * self.shape[axis] + p)).collect();
        }
        let (chunks, places) = (self.shape[self.axis].div_ceil(self.chunk), places(self.axis, self.chunk));
        numbers.iter().flat_map(|n| places.iter().map(move |p| n * chunks + p)).collect()
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = Window> + '_ {
        (0..self.count).map(|n| self.get(n))
    }
}

/// The boxes of a tensor that hold the items at some places of each axis and no others, in C order; the items of each
/// box are contiguous in C order.
#[derive(Clone, Debug)]
pub struct Boxes<'a> {
    shape: &'a [usize],
    /// Of each axis the places, as ascending ranges, none of them empty.
    places: &'a [Vec<Range<usize>>],
    /// The last axis of which not all places are wanted; the axes before it have one place in each box.
    axis: Option<usize>,
}

impl<'a> Boxes<'a> {
    /// Of a tensor of that shape, for each axis of which `places` has ascending ranges, none of them empty.
    pub fn new(shape: &'a [usize], places: &'a [Vec<Range<usize>>]) -> Self {
        let is_part = |(ranges, &dim): (&Vec<Range<usize>>, &usize)| ranges.len() != 1 || ranges[0] != (0..dim);
        let axis = places.iter().zip(shape).rposition(is_part);
        Self { shape, places, axis }
    }

    /// The number of boxes.
    pub fn count(&self) -> usize {
        let Some(axis) = self.axis else { return 1 };
        self.places[..axis].iter().map(|ranges| places_in(ranges)).product::<usize>() * self.places[axis].len()
    }

    /// Box number `n`, which must be less than [`count`](Self::count).
    pub fn get(&self, n: usize) -> Window {
        let mut window = Window::whole(self.shape);
        let Some(axis) = self.axis else { return window };
        let runs = &self.places[axis];
        window.ranges[axis] = runs[n % runs.len()].clone();
        let mut outer = n / runs.len();
        for (range, ranges) in window.ranges[..axis].iter_mut().zip(self.places).rev() {
            let count = places_in(ranges);
            let place = place_in(ranges, outer % count);
            *range = place..place + 1;
            outer /= count;
        }
        let first = window.ranges.iter().zip(self.shape).fold(0, |at, (range, dim)| at * dim + range.start);
        Window { start: first, ..window }
    }
}

/// Place number `n` of some ranges.
fn place_in(ranges: &[Range<usize>], mut n: usize) -> usize {
    for range in ranges {
        if n < range.len() {
            return range.start + n;
        }
        n -= range.len();
    }
    0
}

fn places_in(ranges: &[Range<usize>]) -> usize {
    ranges.iter().map(ExactSizeIterator::len).sum()
}

#[cfg(test)]
mod tests {
    use super::super::view::View;
    use super::super::view::tests::{places, span};
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
    fn boxes_hold_what_is_wanted() {
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
            let boxes = Boxes::new(shape, &wanted);
            assert_eq!(boxes.count(), count, "{shape:?}");
            let mut found = Vec::new();
            for window in (0..count).map(|n| boxes.get(n)) {
                let held = places(&View::c_order(shape).part(&window.ranges));
                assert_eq!(held, (window.start..window.start + held.len()).collect::<Vec<_>>(), "{shape:?}");
                found.extend(held);
            }
            let is_wanted = |place: &usize| {
                let index = crate::layout::shape::coordinates(*place, shape);
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
                assert_eq!(windows.touched_by(&spans), expected, "{spans:?} by {items}");
            }
        }
    }
}
