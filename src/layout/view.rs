//! Where the items of a tensor lie in storage.

use std::ops::Range;

use super::axis::Span;

/// Where the items of a (part of a) tensor lie in storage: a first item, and a dim and a stride for each axis,
/// all in items.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    pub(super) offset: usize,
    pub(super) axes: Vec<(usize, isize)>,
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
    pub(super) fn of_words(&self, words: usize) -> Self {
        let size = words as isize;
        let axes = self.axes.iter().map(|&(dim, stride)| (dim, stride * size)).chain([(words, 1)]);
        Self { offset: self.offset * words, axes: axes.collect() }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Every index of a shape, in C order.
    pub(crate) fn indices(shape: &[usize]) -> Vec<Vec<usize>> {
        shape.iter().fold(vec![vec![]], |all, &dim| {
            all.iter().flat_map(|i| (0..dim).map(|d| [&i[..], &[d]].concat())).collect()
        })
    }

    /// The places in storage of all items, in C order.
    pub(crate) fn places(view: &View) -> Vec<usize> {
        let at = |i: &Vec<usize>| {
            i.iter().zip(&view.axes).fold(view.offset as isize, |at, (&i, &(_, stride))| at + i as isize * stride)
                as usize
        };
        indices(&view.shape()).iter().map(at).collect()
    }

    /// A span, by its fields.
    pub(crate) fn span(start: usize, step: isize, len: usize) -> Span {
        Span { start, step, len }
    }

    /// Views of 60 items or so, with every kind of stride.
    pub(crate) fn views() -> Vec<View> {
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
