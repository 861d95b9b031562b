//! Operands in the caller's memory.

use std::ops::Range;

use ndarray::{ArrayBase, ArrayViewD, ArrayViewMutD, Axis, Data, Dimension, IxDyn, ShapeBuilder};

use crate::layout::axis::Span;
use crate::layout::copy::{copy, copy_bytes};
use crate::layout::view::View;
use crate::layout::window::boxes_of_run;
use crate::ops::arrays::slice_of;

/// How items consist of elements of type `T`: an item of an array is one element, an item of a dtype of run time is
/// a word or a row of bytes.
#[derive(Clone, Copy, Debug)]
pub(in crate::ops) struct Items<T> {
    /// The elements of an item.
    pub width: usize,
    copy: fn(&[T], &View, &mut [T], &View, usize),
}

impl<T: Copy> Items<T> {
    pub(in crate::ops) fn single() -> Self {
        Self { width: 1, copy: |source, from, target, to, _| copy(source, from, target, to) }
    }

    /// Copies items between views of the same shape.
    pub(in crate::ops) fn copy(self, source: &[T], from: &View, target: &mut [T], to: &View) {
        (self.copy)(source, from, target, to, self.width);
    }
}

impl Items<u8> {
    pub(in crate::ops) fn bytes(itemsize: usize) -> Self {
        Self { width: itemsize, copy: copy_bytes }
    }
}

/// Items that a kernel reads, of any layout.
#[derive(Clone, Debug)]
pub(in crate::ops) enum Strided<'a, T> {
    /// Contiguous memory, whose axes may be in any order and run backwards.
    Memory { elements: &'a [T], view: View, items: Items<T> },
    /// Memory with gaps, which only ndarray may address.
    Array(ArrayViewD<'a, T>),
}

impl<'a, T: Copy> Strided<'a, T> {
    pub(in crate::ops) fn of<D: Dimension>(array: &'a ArrayBase<impl Data<Elem = T>, D>) -> Self {
        match array.as_slice_memory_order() {
            Some(elements) => {
                let view = view_of(array.shape(), array.strides());
                Self::Memory { elements, view, items: Items::single() }
            }
            None => Self::Array(array.view().into_dyn()),
        }
    }

    pub(in crate::ops) fn c_order(elements: &'a [T], shape: &[usize], items: Items<T>) -> Self {
        Self::Memory { elements, view: View::c_order(shape), items }
    }

    pub(in crate::ops) fn shape(&self) -> Vec<usize> {
        match self {
            Self::Memory { view, .. } => view.shape(),
            Self::Array(array) => array.shape().to_vec(),
        }
    }

    /// Returns the elements of any item; `None` if there are no items.
    pub(in crate::ops) fn item(&self) -> Option<Vec<T>> {
        match self {
            Self::Memory { elements, items, .. } => elements.get(..items.width).map(<[T]>::to_vec),
            Self::Array(array) => array.first().map(|item| vec![*item]),
        }
    }

    /// Returns the items if they are contiguous in C order.
    pub(in crate::ops) fn as_run(&self) -> Option<&'a [T]> {
        let Self::Memory { elements, view, items } = self else { return None };
        let first = view.as_run()? * items.width;
        elements.get(first..first + view.items() * items.width)
    }

    /// Returns whether axis and storage order differ.
    pub(in crate::ops) fn is_across(&self) -> bool {
        match self {
            Self::Memory { view, .. } => view.crossing().is_some(),
            Self::Array(array) => view_of(array.shape(), array.strides()).crossing().is_some(),
        }
    }

    pub(in crate::ops) fn select(&self, spans: &[Span]) -> Self {
        match self {
            Self::Memory { elements, view, items } => {
                Self::Memory { elements, view: view.select(spans), items: *items }
            }
            Self::Array(array) => {
                let mut part = array.clone();
                part.slice_each_axis_inplace(|of| slice_of(spans[of.axis.index()]));
                Self::Array(part)
            }
        }
    }

    /// Permutes the axes and inserts axes of length 1 for `None`.
    pub(in crate::ops) fn along(&self, axes: &[Option<usize>]) -> Self {
        match self {
            Self::Memory { elements, view, items } => Self::Memory { elements, view: view.along(axes), items: *items },
            Self::Array(array) => {
                let order: Vec<usize> = axes.iter().flatten().copied().collect();
                let mut along = array.clone().permuted_axes(IxDyn(&order));
                for axis in (0..axes.len()).filter(|&axis| axes[axis].is_none()) {
                    along = along.insert_axis(Axis(axis));
                }
                Self::Array(along)
            }
        }
    }

    /// Copies the items to a box of `out`, which has the same shape and runs forward.
    pub(in crate::ops) fn read(&self, out: &mut [T], place: &View) {
        match self {
            Self::Memory { elements, view, items } => items.copy(elements, view, out, place),
            Self::Array(array) => {
                if let Some(first) = place.as_run().filter(|_| has_runs(array.shape(), array.strides())) {
                    let rows = array.rows().into_iter();
                    let out = out[first..].chunks_exact_mut(array.shape()[array.ndim() - 1]);
                    rows.zip(out).for_each(|(row, out)| out.copy_from_slice(row.as_slice().expect("a run")));
                } else if let Some(first) = place.extent().next() {
                    let strides: Vec<usize> = place.strides().map(isize::unsigned_abs).collect();
                    let shape = IxDyn(array.shape()).strides(IxDyn(&strides));
                    let out = ArrayViewMutD::from_shape(shape, &mut out[first..]);
                    out.expect("a box of items in C order").assign(array);
                }
            }
        }
    }
}

/// Copies a run of items in C order.
pub(super) fn read_run<T: Copy>(data: &Strided<'_, T>, run: Range<usize>, out: &mut [T], width: usize) {
    if let Some(all) = data.as_run() {
        let run = &all[run.start * width..run.end * width];
        return out[..run.len()].copy_from_slice(run);
    }
    let mut done = 0;
    for piece in boxes_of_run(&data.shape(), run.start, run.end) {
        let spans: Vec<_> = piece.spans().collect();
        let items = piece.items() * width;
        data.select(&spans).read(&mut out[done..][..items], &View::c_order(&piece.shape()));
        done += items;
    }
}

/// Copies items in C order to an array with gaps.
pub(super) fn assign<T: Copy>(mut out: ArrayViewMutD<'_, T>, items: &[T]) {
    if has_runs(out.shape(), out.strides()) {
        let items = items.chunks_exact(out.shape()[out.ndim() - 1]);
        let rows = out.rows_mut().into_iter();
        return rows.zip(items).for_each(|(mut row, items)| {
            row.as_slice_mut().expect("a run").copy_from_slice(items);
        });
    }
    let items = ArrayViewD::from_shape(out.shape(), items).expect("an item for each place");
    out.assign(&items);
}

/// Returns whether rows are contiguous, so that they can be copied as such. ndarray copied rows of 4,095 float32 item by
/// item, which took 2.3 times as long.
fn has_runs(shape: &[usize], strides: &[isize]) -> bool {
    /// Finding a shorter row takes longer than copying it.
    const SHORT: usize = 16;
    shape.last().is_some_and(|&dim| dim >= SHORT) && strides.last() == Some(&1)
}

/// Returns the view of an array's memory, from its lowest address on.
pub(super) fn view_of(shape: &[usize], strides: &[isize]) -> View {
    let axes = shape.iter().zip(strides).map(|(&dim, stride)| (dim, stride.abs()));
    let backward = |(&dim, &stride): (&usize, &isize)| match stride < 0 && dim > 1 {
        true => Span { start: dim - 1, step: -1, len: dim },
        false => Span::whole(dim),
    };
    View::strided(axes).select(&shape.iter().zip(strides).map(backward).collect::<Vec<_>>())
}
