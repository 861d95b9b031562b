//! Views: strided layouts of tensors in storage.

use std::ops::{Deref, DerefMut, Range};

use super::axis::{Span, coordinates};

/// An offset, and a dim and a stride per axis, in items.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    pub(super) offset: usize,
    pub(super) axes: Few<(usize, isize)>,
}

impl View {
    /// All items of a tensor in C order.
    pub fn c_order(shape: &[usize]) -> Self {
        let (mut axes, mut stride) = (Few::default(), 1);
        for &dim in shape.iter().rev() {
            axes.push((dim, stride));
            stride *= dim.max(1) as isize;
        }
        axes.reverse();
        Self { offset: 0, axes }
    }

    /// A dim and a stride per axis.
    pub fn strided(axes: impl IntoIterator<Item = (usize, isize)>) -> Self {
        Self { offset: 0, axes: axes.into_iter().collect() }
    }

    /// As many items of the same shape in C order, from the first on.
    #[must_use]
    pub fn in_c_order(&self) -> Self {
        let mut view = self.clone();
        let mut stride = 1;
        for axis in view.axes.iter_mut().rev() {
            axis.1 = stride;
            stride *= axis.0.max(1) as isize;
        }
        Self { offset: 0, ..view }
    }

    /// Begins `offset` items later.
    #[must_use]
    pub fn from_item(self, offset: usize) -> Self {
        Self { offset: self.offset + offset, ..self }
    }

    /// Returns the offset of an item, by its number in C order.
    pub fn offset_of(&self, mut item: usize) -> usize {
        let mut offset = self.offset;
        for &(dim, stride) in self.axes.iter().rev() {
            offset = offset.wrapping_add_signed((item % dim.max(1)) as isize * stride);
            item /= dim.max(1);
        }
        offset
    }

    /// All items of a tensor in Fortran order.
    pub fn fortran_order(shape: &[usize]) -> Self {
        let reversed: Vec<usize> = shape.iter().rev().copied().collect();
        let mut view = Self::c_order(&reversed);
        view.axes.reverse();
        view
    }

    /// Selects one span per axis.
    pub fn select(&self, spans: &[Span]) -> Self {
        let mut offset = self.offset;
        let axes = self.axes.iter().zip(spans).map(|(&(_, stride), span)| {
            offset = offset.wrapping_add_signed(stride * span.start as isize);
            (span.len, stride * span.step)
        });
        let axes = axes.collect();
        Self { offset, axes }
    }

    /// Selects a range of each axis.
    pub fn part(&self, ranges: &[Range<usize>]) -> Self {
        let spans: Few<_> = ranges.iter().map(|r| Span { start: r.start, step: 1, len: r.len() }).collect();
        self.select(&spans)
    }

    /// Permutes the axes.
    pub fn with_axes(&self, order: &[usize]) -> Self {
        Self { offset: self.offset, axes: order.iter().map(|&axis| self.axes[axis]).collect() }
    }

    /// Permutes the axes and inserts axes of length 1 for `None`, outermost in storage. Axes of length 1 may be left
    /// out.
    pub fn along(&self, axes: &[Option<usize>]) -> Self {
        let outermost = (1, (self.extent().end as isize).saturating_add(1));
        let axes = axes.iter().map(|axis| axis.map_or(outermost, |axis| self.axes[axis])).collect();
        Self { offset: self.offset, axes }
    }

    /// Returns the number of contiguous items from the first in view order.
    pub fn run(&self) -> usize {
        let mut run = 1;
        for &(dim, stride) in self.axes.iter().rev().filter(|(dim, _)| *dim != 1) {
            if stride != run as isize {
                break;
            }
            run *= dim;
        }
        run
    }

    /// Returns the offset if all items are contiguous in view order.
    pub fn as_run(&self) -> Option<usize> {
        (self.run() == self.items()).then_some(self.offset)
    }

    /// Returns the storage offset of each item in view order.
    pub fn places(&self) -> Vec<usize> {
        self.axes.iter().fold(vec![self.offset], |places, &(dim, stride)| {
            let along = |place: usize| (0..dim as isize).map(move |at| place.wrapping_add_signed(at * stride));
            places.into_iter().flat_map(along).collect()
        })
    }

    /// Returns the storage range from the first to the last item.
    pub fn extent(&self) -> Range<usize> {
        if self.items() == 0 {
            return 0..0;
        }
        let (mut first, mut last) = (self.offset, self.offset);
        for &(dim, stride) in self.axes.iter() {
            let way = stride * (dim - 1) as isize;
            let end = if way < 0 { &mut first } else { &mut last };
            *end = end.wrapping_add_signed(way);
        }
        first..last + 1
    }

    /// Whether the items are a run in C order that begins with the first.
    pub fn is_c_order(&self) -> bool {
        self.as_run() == Some(0)
    }

    /// Returns whether storage offsets ascend in view order.
    pub fn is_forward(&self) -> bool {
        let mut strides = self.axes.iter().filter(|(dim, _)| *dim != 1).map(|&(_, stride)| stride);
        let mut before = strides.next().unwrap_or(1);
        before > 0 && strides.all(|stride| stride > 0 && stride < std::mem::replace(&mut before, stride))
    }

    /// Returns the axis with the smallest stride and this stride; `None` with fewer than two axes longer than 1.
    pub fn nearest(&self) -> Option<(usize, usize)> {
        let long = || self.axes.iter().enumerate().filter(|(_, (dim, _))| *dim > 1);
        let nearest = long().map(|(axis, (_, stride))| (axis, stride.unsigned_abs())).min_by_key(|axis| axis.1);
        nearest.filter(|_| long().count() > 1)
    }

    /// Returns the axes in storage order, innermost first.
    pub fn axes_as_stored(&self) -> Vec<usize> {
        let mut axes: Vec<usize> = (0..self.axes.len()).rev().collect();
        axes.sort_by(|&a, &b| self.axes[a].1.unsigned_abs().cmp(&self.axes[b].1.unsigned_abs()));
        axes
    }

    /// Returns the storage length of the longest run before axis and storage order differ; `None` if they agree.
    pub fn crossing(&self) -> Option<usize> {
        let is_long = |axis: &usize| self.axes[*axis].0 > 1;
        let (seen, stored) =
            ((0..self.axes.len()).rev().filter(is_long), self.axes_as_stored().into_iter().filter(is_long));
        let mut items = 1;
        for (seen, stored) in seen.zip(stored) {
            if seen != stored {
                return Some(items);
            }
            let (dim, stride) = self.axes[seen];
            items = dim.saturating_mul(stride.unsigned_abs());
        }
        None
    }

    /// Returns whether runs contiguous in both orders have fewer than `bytes` bytes.
    pub fn crosses_within(&self, bytes: usize, itemsize: usize) -> bool {
        self.crossing().is_some_and(|items| items.saturating_mul(itemsize) < bytes)
    }

    /// Returns the selection from a C-order tensor that makes this view: a span per tensor axis, and the tensor axis of
    /// each view axis. If the ranks differ by axes of length 1, lists only longer axes.
    pub fn as_selection(&self, shape: &[usize]) -> Option<(Vec<Span>, Vec<usize>)> {
        let at = coordinates(self.offset, shape);
        let mut places: Vec<Option<Span>> = vec![None; shape.len()];
        let mut along = vec![None; self.axes.len()];
        let strides = Self::c_order(shape).axes;
        for (number, &(dim, stride)) in self.axes.iter().enumerate().filter(|(_, (dim, _))| *dim != 1) {
            if dim == 0 {
                return None;
            }
            // The outermost axis whose stride divides this one.
            let fits = |&(len, step): &(usize, isize)| len > 1 && stride != 0 && stride % step == 0;
            let axis = strides.iter().position(|axis| fits(axis) && axis.1.unsigned_abs() <= stride.unsigned_abs())?;
            let step = stride / strides[axis].1;
            let last = at[axis].checked_add_signed(step.checked_mul((dim - 1) as isize)?)?;
            if last >= shape[axis] || places[axis].is_some() {
                return None;
            }
            places[axis] = Some(Span { start: at[axis], step, len: dim });
            along[number] = Some(axis);
        }
        let are_as_many = self.axes.len() == shape.len();
        let mut free = (0..shape.len()).filter(|&axis| are_as_many && places[axis].is_none());
        let along = along.into_iter().filter_map(|axis| axis.or_else(|| free.next())).collect();
        let span = |(place, start): (Option<Span>, usize)| place.unwrap_or(Span { start, step: 1, len: 1 });
        Some((places.into_iter().zip(at).map(span).collect(), along))
    }

    /// The items between neighbouring places of each axis.
    pub fn strides(&self) -> impl ExactSizeIterator<Item = isize> {
        self.axes.iter().map(|&(_, stride)| stride)
    }

    /// How many items there are.
    pub fn items(&self) -> usize {
        self.axes.iter().map(|&(dim, _)| dim).product()
    }

    /// The dims.
    pub fn shape(&self) -> Vec<usize> {
        self.axes.iter().map(|&(dim, _)| dim).collect()
    }

    /// Views each item as a row of `words` words.
    pub(super) fn with_words(&self, words: usize) -> Self {
        let size = words as isize;
        let axes = self.axes.iter().map(|&(dim, stride)| (dim, stride * size)).chain([(words, 1)]);
        Self { offset: self.offset * words, axes: axes.collect() }
    }
}

/// The entries that are in place. Tensors seldom have more axes.
const FEW: usize = 8;

/// A list that takes memory of its own only for more than eight entries: a view of a few axes costs no allocation.
#[derive(Clone, Debug, Default)]
pub(crate) struct Few<T> {
    len: usize,
    few: [T; FEW],
    many: Vec<T>,
}

impl<T: Clone> Few<T> {
    /// Appends an entry.
    pub(crate) fn push(&mut self, entry: T) {
        if self.len < FEW {
            self.few[self.len] = entry;
        } else {
            if self.len == FEW {
                self.many.extend_from_slice(&self.few);
            }
            self.many.push(entry);
        }
        self.len += 1;
    }

    /// Keeps the first `len` entries.
    pub(crate) fn truncate(&mut self, len: usize) {
        if len >= self.len {
            return;
        }
        if self.len > FEW && len <= FEW {
            self.few.clone_from_slice(&self.many[..FEW]);
            self.many.clear();
        }
        self.many.truncate(len);
        self.len = len;
    }
}

impl<T> Deref for Few<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        if self.len <= FEW { &self.few[..self.len] } else { &self.many }
    }
}

impl<T> DerefMut for Few<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        if self.len <= FEW { &mut self.few[..self.len] } else { &mut self.many }
    }
}

impl<T: Clone + Default> FromIterator<T> for Few<T> {
    fn from_iter<I: IntoIterator<Item = T>>(entries: I) -> Self {
        let mut list = Self::default();
        entries.into_iter().for_each(|entry| list.push(entry));
        list
    }
}

impl<T: PartialEq> PartialEq for Few<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: Eq> Eq for Few<T> {}

#[cfg(test)]
mod tests {
    use super::super::tests::{places, span};
    use super::*;

    #[test]
    fn axes_across_storage() {
        let rows: [(View, Option<usize>, &[usize]); 10] = [
            (View::c_order(&[3, 4, 5]), None, &[2, 1, 0]),
            (View::c_order(&[3, 4, 5]).with_axes(&[2, 0, 1]), Some(1), &[0, 2, 1]),
            (View::fortran_order(&[3, 4, 5]), Some(1), &[0, 1, 2]),
            (View::c_order(&[3, 4, 5]).with_axes(&[1, 0, 2]), Some(5), &[2, 0, 1]),
            (View::c_order(&[3, 4]).select(&[span(2, -1, 3), span(0, 2, 2)]).with_axes(&[1, 0]), Some(1), &[0, 1]),
            (View::fortran_order(&[1, 4, 5]), Some(1), &[1, 0, 2]),
            (View::fortran_order(&[3, 1, 1]), None, &[0, 2, 1]),
            (View::c_order(&[3, 4]).select(&[span(2, -1, 3), span(3, -1, 4)]), None, &[1, 0]),
            (View::fortran_order(&[3, 4]).select(&[span(2, -1, 3), span(0, 2, 2)]), Some(1), &[0, 1]),
            (View::c_order(&[]), None, &[]),
        ];
        for (view, crossing, stored) in rows {
            assert_eq!((view.crossing(), &view.axes_as_stored()[..]), (crossing, stored), "{view:?}");
        }
    }

    #[test]
    fn selections_are_found_again() {
        let shape = [3, 1, 4, 5];
        let whole = View::c_order(&shape);
        let steps = |dim: usize| -> Vec<Span> {
            let mut all: Vec<Span> = (0..dim).map(|start| span(start, 1, 1)).collect();
            all.extend((2..=dim).map(|len| span(0, 1, len)));
            all.extend((2..=dim).map(|len| span(dim - 1, -1, len)));
            all.extend((dim > 2).then(|| span(0, 2, 2)));
            all
        };
        for a in steps(3) {
            for b in steps(4) {
                for c in steps(5) {
                    let spans = [a, span(0, 1, 1), b, c];
                    for order in [[0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 1, 3]] {
                        let view = whole.select(&spans).with_axes(&order);
                        let (found, axes) = view.as_selection(&shape).unwrap();
                        assert_eq!(
                            whole.select(&found).with_axes(&axes).axes.iter().map(|axis| axis.0).collect::<Vec<_>>(),
                            view.shape()
                        );
                        assert_eq!(
                            places(&whole.select(&found).with_axes(&axes)),
                            places(&view),
                            "{spans:?} {order:?}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn selections_with_other_axes_of_one_place() {
        let whole = View::c_order(&[5, 1, 7]);
        let rows: [(&[Option<usize>], &[usize]); 4] = [
            (&[None, Some(0), Some(1), Some(2)], &[0, 2]),
            (&[Some(0), Some(2), None, None], &[0, 2]),
            (&[Some(0), Some(2)], &[0, 2]),
            (&[Some(2), None, Some(0), Some(1)], &[2, 0]),
        ];
        for (axes, expected) in rows {
            let view = whole.along(axes);
            assert_eq!(view.items(), 35);
            let all = [span(0, 1, 5), span(0, 1, 1), span(0, 1, 7)];
            assert_eq!(view.as_selection(&[5, 1, 7]), Some((all.to_vec(), expected.to_vec())), "{axes:?}");
            assert_eq!(places(&view), places(&whole.with_axes(expected)), "{axes:?}");
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

    #[test]
    fn lists_of_any_length() {
        for length in 0..40 {
            let mut list: Few<usize> = (0..length).collect();
            assert_eq!(*list, (0..length).collect::<Vec<_>>());
            for shorter in (0..=length).rev() {
                list.truncate(shorter);
                assert_eq!(*list, (0..shorter).collect::<Vec<_>>());
                let mut longer = list.clone();
                longer.push(99);
                assert_eq!((longer.len(), longer.last()), (shorter + 1, Some(&99)));
            }
        }
    }
}
