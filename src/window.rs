//! Views of storage, windows of a tensor, and the one walk that moves items between two views.

use std::ops::Range;

use crate::axis::Span;

/// Where the items of a (part of a) tensor lie in storage: a first item, and a dim and a stride for each axis,
/// all in items.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    offset: usize,
    axes: Vec<(usize, isize)>,
}

impl View {
    /// A whole tensor in C order.
    pub fn c_order(shape: &[usize]) -> Self {
        let mut stride = 1;
        let with_stride = shape.iter().rev().map(|&dim| {
            let axis = (dim, stride);
            stride *= dim.max(1) as isize;
            axis
        });
        let mut axes: Vec<_> = with_stride.collect();
        axes.reverse();
        Self { offset: 0, axes }
    }

    /// A whole tensor in Fortran order.
    pub fn fortran_order(shape: &[usize]) -> Self {
        let reversed: Vec<usize> = shape.iter().rev().copied().collect();
        let mut view = Self::c_order(&reversed);
        view.axes.reverse();
        view
    }

    /// The part that one span an axis selects.
    pub fn select(&self, spans: &[Span]) -> Self {
        let mut offset = self.offset;
        let axes = self.axes.iter().zip(spans).map(|(&(_, stride), span)| {
            offset = offset.wrapping_add_signed(stride * span.start as isize);
            (span.len, stride * span.step)
        });
        let axes = axes.collect();
        Self { offset, axes }
    }

    /// The part in a box of one range an axis.
    pub fn part(&self, ranges: &[Range<usize>]) -> Self {
        let spans: Vec<_> = ranges.iter().map(|r| Span { start: r.start, step: 1, len: r.len() }).collect();
        self.select(&spans)
    }

    /// The same items with the axes in another order.
    pub fn with_axes(&self, order: &[usize]) -> Self {
        Self { offset: self.offset, axes: order.iter().map(|&axis| self.axes[axis]).collect() }
    }

    /// The first item, if all items lie one after the other in storage.
    pub fn as_run(&self) -> Option<usize> {
        let mut next = 1;
        for &(dim, stride) in self.axes.iter().rev().filter(|(dim, _)| *dim != 1) {
            if stride != next {
                return None;
            }
            next *= dim as isize;
        }
        Some(self.offset)
    }

    /// From the first to behind the last of its items in storage.
    pub fn extent(&self) -> Range<usize> {
        if self.items() == 0 {
            return 0..0;
        }
        let (mut first, mut last) = (self.offset, self.offset);
        for &(dim, stride) in &self.axes {
            let way = stride * (dim - 1) as isize;
            let end = if way < 0 { &mut first } else { &mut last };
            *end = end.wrapping_add_signed(way);
        }
        first..last + 1
    }

    /// Whether it is the whole of a tensor in C order.
    pub fn is_c_order(&self) -> bool {
        self.as_run() == Some(0)
    }

    /// Whether the items, taken in C order, lie in storage from front to back.
    pub fn is_forward(&self) -> bool {
        let mut strides = self.axes.iter().filter(|(dim, _)| *dim != 1).map(|&(_, stride)| stride);
        let mut before = strides.next().unwrap_or(1);
        before > 0 && strides.all(|stride| stride > 0 && stride < std::mem::replace(&mut before, stride))
    }

    /// The number of items.
    pub fn items(&self) -> usize {
        self.axes.iter().map(|&(dim, _)| dim).product()
    }

    /// The dims.
    pub fn shape(&self) -> Vec<usize> {
        self.axes.iter().map(|&(dim, _)| dim).collect()
    }

    /// The same view of items of `words` words each as a view of words, with one more axis.
    fn of_words(&self, words: usize) -> Self {
        let size = words as isize;
        let axes = self.axes.iter().map(|&(dim, stride)| (dim, stride * size)).chain([(words, 1)]);
        Self { offset: self.offset * words, axes: axes.collect() }
    }
}

/// One axis of a [`Walk`]: its dim, and the strides of source and destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Step {
    dim: usize,
    from: isize,
    to: isize,
}

/// A walk through two views of one shape at once, reduced to as few axes as it needs: the destination runs
/// forwards, axes of one place are gone, neighbours that continue each other are one.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Walk {
    from: usize,
    to: usize,
    steps: Vec<Step>,
}

impl Walk {
    /// `None` if there is no item.
    fn new(from: &View, to: &View) -> Option<Self> {
        let mut walk = Self { from: from.offset, to: to.offset, steps: Vec::with_capacity(to.axes.len()) };
        for (&(dim, from), &(other, to)) in from.axes.iter().zip(&to.axes) {
            debug_assert_eq!(dim, other);
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
        walk.steps.sort_by_key(|step| std::cmp::Reverse(step.to));
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

    /// Calls `row(from, to)` for the beginning of each row, a row being the places of the last `inner` axes.
    fn rows(&self, inner: usize, mut row: impl FnMut(usize, usize)) {
        let outer = &self.steps[..self.steps.len() - inner];
        let mut at = vec![0; outer.len()];
        let (mut from, mut to) = (self.from, self.to);
        loop {
            row(from, to);
            let mut axis = outer.len();
            loop {
                let Some(next) = axis.checked_sub(1) else { return };
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

/// Copies the items that `from` shows of `source` to where `to` shows them in `target`. The views have one shape.
pub fn copy<T: Copy>(source: &[T], from: &View, target: &mut [T], to: &View) {
    let Some(walk) = Walk::new(from, to) else { return };
    match walk.steps[..] {
        [] => target[walk.to] = source[walk.from],
        [.., a, b] if b.from.abs() > a.from.abs() => {
            // the source runs across the destination: small squares keep the lines of both in the cache
            walk.rows(2, |from, to| copy_square(source, from, target, to, a, b));
        }
        [.., a, b] => walk.rows(2, |mut from, mut to| {
            for _ in 0..a.dim {
                copy_row(source, from, target, to, b);
                from = from.wrapping_add_signed(a.from);
                to = to.wrapping_add_signed(a.to);
            }
        }),
        [row] => copy_row(source, walk.from, target, walk.to, row),
    }
}

fn copy_row<T: Copy>(source: &[T], from: usize, target: &mut [T], to: usize, row: Step) {
    let stride = row.from.unsigned_abs();
    let extent = (row.dim - 1) * stride + 1;
    let target = &mut target[to..][..(row.dim - 1) * row.to as usize + 1];
    // each arm is a loop of its own, so that the compiler sees the strides of 1
    match (row.from, row.to) {
        (1, 1) => target.copy_from_slice(&source[from..][..extent]),
        (0, _) => target.iter_mut().step_by(row.to as usize).for_each(|t| *t = source[from]),
        (-1, 1) => set(target.iter_mut(), source[..=from][from + 1 - extent..].iter().rev()),
        (1.., 1) => set(target.iter_mut(), source[from..][..extent].iter().step_by(stride)),
        (..0, 1) => set(target.iter_mut(), source[..=from][from + 1 - extent..].iter().rev().step_by(stride)),
        (1, _) => set(target.iter_mut().step_by(row.to as usize), source[from..][..extent].iter()),
        (1.., _) => set(target.iter_mut().step_by(row.to as usize), source[from..][..extent].iter().step_by(stride)),
        (..0, _) => {
            set(
                target.iter_mut().step_by(row.to as usize),
                source[..=from][from + 1 - extent..].iter().rev().step_by(stride),
            );
        }
    }
}

#[inline(always)]
fn set<'a, T: Copy + 'a>(target: impl Iterator<Item = &'a mut T>, source: impl Iterator<Item = &'a T>) {
    target.zip(source).for_each(|(t, s)| *t = *s);
}

fn copy_square<T: Copy>(source: &[T], from: usize, target: &mut [T], to: usize, a: Step, b: Step) {
    const SIDE: usize = 32;
    for a0 in (0..a.dim).step_by(SIDE) {
        for b0 in (0..b.dim).step_by(SIDE) {
            for i in a0..a.dim.min(a0 + SIDE) {
                let row = Step { dim: SIDE.min(b.dim - b0), ..b };
                let from = from.wrapping_add_signed(a.from * i as isize + b.from * b0 as isize);
                let to = to + a.to as usize * i + b.to as usize * b0;
                copy_row(source, from, target, to, row);
            }
        }
    }
}

/// Copies items of `itemsize` bytes as words of 1, 2, 4, 8 or 16 bytes: each is one, or a row of the largest that
/// divide it. The views are in items.
pub fn copy_bytes(source: &[u8], from: &View, target: &mut [u8], to: &View, itemsize: usize) {
    fn words<const N: usize>(source: &[u8], from: &View, target: &mut [u8], to: &View) {
        copy(source.as_chunks::<N>().0, from, target.as_chunks_mut::<N>().0, to);
    }
    let word = match itemsize {
        0 => return,
        _ => 1 << itemsize.trailing_zeros().min(4),
    };
    let (from, to) = match itemsize / word {
        1 => (from.clone(), to.clone()),
        n => (from.of_words(n), to.of_words(n)),
    };
    match word {
        1 => words::<1>(source, &from, target, &to),
        2 => words::<2>(source, &from, target, &to),
        4 => words::<4>(source, &from, target, &to),
        8 => words::<8>(source, &from, target, &to),
        _ => words::<16>(source, &from, target, &to),
    }
}

/// The gap between wanted bytes, in bytes, up to which reading through it costs less than another system call.
pub(crate) const GAP: usize = 4096;

/// Gathers the items of `itemsize` bytes that `view` shows into `out`, in C order, reading storage by
/// `read(bytes, position in bytes)`: whole runs straight to their place, scattered items through `scratch`, never
/// more than `limit` bytes (or one item) at once.
///
/// # Errors
/// Those of `read`.
pub fn gather<E>(
    view: &View,
    itemsize: usize,
    out: &mut [u8],
    scratch: &mut Vec<u8>,
    limit: usize,
    mut read: impl FnMut(&mut [u8], u64) -> Result<(), E>,
) -> Result<(), E> {
    let dense = View::c_order(&view.shape());
    let Some(mut walk) = Walk::new(view, &dense) else { return Ok(()) };
    // storage order: the axis with the smallest stride of the source is the last
    walk.steps.sort_by_key(|step| std::cmp::Reverse(step.from.abs()));
    let mut extent = itemsize;
    let mut inner = walk.steps.len();
    let mut chunk = 1; // how many places of the axis before the inner ones are read at once
    while inner > 0 {
        let step = walk.steps[inner - 1];
        let stride = step.from.unsigned_abs() * itemsize;
        if stride > extent + GAP {
            break;
        }
        let places = if extent >= limit { 1 } else { (limit - extent) / stride.max(1) + 1 };
        if places < step.dim {
            chunk = places;
            break;
        }
        inner -= 1;
        extent += (step.dim - 1) * stride;
    }
    let blocks = Walk { steps: walk.steps[..inner].to_vec(), ..walk };
    let within = &walk.steps[inner..];
    let mut result = Ok(());
    // one block: `count` places of axis `chunked` (if any) and all of the axes inside it
    let mut block = |from: usize, to: usize, chunked: Option<Step>| {
        let steps = chunked.into_iter().chain(within.iter().copied());
        let axes: Vec<Step> = steps.collect();
        let low = axes
            .iter()
            .filter(|s| s.from < 0)
            .fold(from, |at, s| at.wrapping_add_signed(s.from * (s.dim - 1) as isize));
        let bytes = axes.iter().map(|s| (s.dim - 1) * s.from.unsigned_abs()).sum::<usize>() * itemsize + itemsize;
        let position = (low * itemsize) as u64;
        // a block that lies in the output as it lies in storage needs no second copy
        if axes
            .iter()
            .rev()
            .try_fold(1, |next, s| (s.from == next && s.to == next).then(|| next * s.dim as isize))
            .is_some()
        {
            return read(&mut out[to * itemsize..][..bytes], position);
        }
        if scratch.len() < bytes {
            scratch.resize(bytes, 0);
        }
        read(&mut scratch[..bytes], position)?;
        let from = View { offset: from - low, axes: axes.iter().map(|s| (s.dim, s.from)).collect() };
        let to = View { offset: to, axes: axes.iter().map(|s| (s.dim, s.to)).collect() };
        copy_bytes(&scratch[..bytes], &from, out, &to, itemsize);
        Ok(())
    };
    let chunked = if chunk > 1 { blocks.steps.last().copied() } else { None };
    let mut visit = |from: usize, to: usize| {
        if result.is_err() {
            return;
        }
        result = match chunked {
            None => block(from, to, None),
            Some(axis) => (0..axis.dim).step_by(chunk).try_for_each(|at| {
                let from = from.wrapping_add_signed(axis.from * at as isize);
                let to = to.wrapping_add_signed(axis.to * at as isize);
                block(from, to, Some(Step { dim: chunk.min(axis.dim - at), ..axis }))
            }),
        };
    };
    blocks.rows(usize::from(chunked.is_some()), &mut visit);
    result
}

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

#[cfg(test)]
mod tests {
    use super::*;

    /// Every index of a shape, in C order.
    fn indices(shape: &[usize]) -> Vec<Vec<usize>> {
        shape.iter().fold(vec![vec![]], |all, &dim| {
            all.iter().flat_map(|i| (0..dim).map(|d| [&i[..], &[d]].concat())).collect()
        })
    }

    fn places(view: &View) -> Vec<usize> {
        let at = |i: &Vec<usize>| {
            i.iter().zip(&view.axes).fold(view.offset as isize, |at, (&i, &(_, stride))| at + i as isize * stride)
                as usize
        };
        indices(&view.shape()).iter().map(at).collect()
    }

    fn span(start: usize, step: isize, len: usize) -> Span {
        Span { start, step, len }
    }

    /// Views of 60 items or so, with every kind of stride.
    fn views() -> Vec<View> {
        let c = View::c_order(&[3, 4, 5]);
        let f = View::fortran_order(&[3, 4, 5]);
        let selections = [
            [span(0, 1, 3), span(0, 1, 4), span(0, 1, 5)],
            [span(2, -1, 3), span(3, -1, 4), span(4, -1, 5)],
            [span(0, 2, 2), span(0, 1, 4), span(0, 1, 5)],
            [span(1, 1, 1), span(3, -2, 2), span(0, 3, 2)],
            [span(0, 1, 3), span(1, 1, 2), span(4, -2, 3)],
            [span(0, 1, 0), span(1, 1, 2), span(4, -2, 3)],
            [span(0, 1, 3), span(0, 1, 4), span(2, 1, 1)],
        ];
        [c, f].iter().flat_map(|view| selections.iter().map(|s| view.select(s))).collect()
    }

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
                for itemsize in [1, 2, 3, 4, 6, 7, 8, 12, 16, 24, 48] {
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

    #[test]
    fn gathers_whatever_the_limit() {
        for itemsize in [1, 2, 3, 8, 2000] {
            let storage: Vec<u8> = (0..60).flat_map(|i| vec![i; itemsize]).collect();
            for view in views() {
                let expected: Vec<u8> = places(&view).iter().flat_map(|&p| vec![p as u8; itemsize]).collect();
                for limit in [1, itemsize, 3 * itemsize, 7 * itemsize, 1 << 20] {
                    let mut out = vec![255; expected.len()];
                    let mut scratch = Vec::new();
                    let read = |bytes: &mut [u8], at: u64| {
                        assert!(bytes.len() <= limit.max(itemsize), "{} bytes at once", bytes.len());
                        bytes.copy_from_slice(&storage[at as usize..][..bytes.len()]);
                        Ok::<_, ()>(())
                    };
                    gather(&view, itemsize, &mut out, &mut scratch, limit, read).unwrap();
                    assert_eq!(out, expected, "{itemsize} bytes, limit {limit}, {view:?}");
                }
            }
        }
    }

    #[test]
    fn reads_no_more_than_wanted() {
        let view = View::c_order(&[1000, 8192]).select(&[span(7, 1, 1), span(0, 1, 8192)]);
        let (mut out, mut reads) = (vec![0; 8192], vec![]);
        gather(&view, 1, &mut out, &mut Vec::new(), 1 << 20, |b, at| {
            reads.push((at, b.len()));
            Ok::<_, ()>(())
        })
        .unwrap();
        assert_eq!(reads, [(7 * 8192, 8192)]);
    }

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

    #[test]
    fn kinds_of_views() {
        let c = View::c_order(&[3, 1, 4]);
        let rows = [
            (c.clone(), true, Some(0)),
            (c.select(&[span(1, 1, 2), span(0, 1, 1), span(0, 1, 4)]), true, Some(4)),
            (c.select(&[span(2, 1, 1), span(0, 1, 1), span(1, 1, 2)]), true, Some(9)),
            (c.select(&[span(0, 2, 2), span(0, 1, 1), span(0, 1, 4)]), true, None),
            (c.select(&[span(2, -1, 3), span(0, 1, 1), span(0, 1, 4)]), false, None),
            (c.select(&[span(0, 1, 3), span(0, 1, 1), span(3, -1, 4)]), false, None),
            (View::fortran_order(&[3, 4]), false, None),
            (View::fortran_order(&[1, 4]), true, Some(0)),
            (View::fortran_order(&[3, 4]).with_axes(&[1, 0]), true, Some(0)),
            (View::c_order(&[]), true, Some(0)),
        ];
        for (view, forward, run) in rows {
            assert_eq!((view.is_forward(), view.as_run()), (forward, run), "{view:?}");
            let all = places(&view);
            let (first, last) = (all.iter().min().unwrap(), all.iter().max().unwrap());
            assert_eq!(view.extent(), *first..last + 1, "{view:?}");
        }
    }
}
