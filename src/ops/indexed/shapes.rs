//! The checked shapes of an operator by indices, and how tensors in either order of storage are seen by it.

use std::ops::Range;

use crate::item::meta::Order;

/// The checked shapes of an operator by indices: the axes of `data` that index tuples address, and where the tuples lie.
#[derive(Clone, Debug)]
pub struct Shapes {
    /// The dims of `data`.
    pub(in crate::ops) data: Vec<usize>,
    /// The axes of `data` that a tuple addresses, one number each.
    pub(in crate::ops) axes: Range<usize>,
    /// The dims of the index tensor, except for the axis along which a tuple lies, if it has one.
    pub(in crate::ops) tuples: Vec<usize>,
    /// The dims of what belongs to the tuples, which are the `updates` of a scatter and the output of a gather: `tuples`
    /// and the dims of `data` that the tuples do not address.
    pub(in crate::ops) updates: Vec<usize>,
    /// Whether negative numbers count from the end.
    pub(in crate::ops) negative: bool,
    /// Whether tuples lie along an axis of their own, which is part of a number's position.
    pub(in crate::ops) has_tuple_axis: bool,
}

impl Shapes {
    /// Returns the shape that `updates` has.
    pub fn updates_shape(&self) -> &[usize] {
        &self.updates
    }

    /// Returns the number of index tuples.
    pub fn count(&self) -> usize {
        self.tuples.iter().product()
    }
}

/// An axis of `data` that one number of each tuple addresses.
#[derive(Clone, Copy, Debug)]
pub(super) struct IndexedAxis {
    pub(super) dim: usize,
    /// The places from one value of the number to the next.
    pub(super) stride: usize,
}

/// How `data` and `updates` are seen as `[outer, dim, block]` and `[outer, count, block]`.
///
/// In C order the axes before the indexed ones are outside a place, and the axes after them are the block inside it. In
/// Fortran order it is the other way round, and the first of the indexed axes is the one whose places are neighbours:
/// the same three numbers and strides, read from the other end.
#[derive(Clone, Debug)]
pub(super) struct Arrangement {
    pub(super) outer: usize,
    /// The items of a block.
    pub(super) block: usize,
    /// One axis for each number of a tuple.
    pub(super) axes: Vec<IndexedAxis>,
    /// The axes of `updates` in that order, where they are in another.
    pub(super) updates_axes: Option<Vec<usize>>,
}

impl Arrangement {
    pub(super) fn new(shapes: &Shapes, order: Order) -> Self {
        let Shapes { data, axes, tuples, updates, .. } = shapes;
        let (before, after) = (&data[..axes.start], &data[axes.end..]);
        let mut stride = 1_usize;
        let mut with_stride = |&dim: &usize| {
            let axis = IndexedAxis { dim, stride };
            stride = stride.saturating_mul(dim);
            axis
        };
        let indexed = &data[axes.clone()];
        match order {
            Order::C => {
                let mut axes: Vec<_> = indexed.iter().rev().map(&mut with_stride).collect();
                axes.reverse();
                Self { outer: before.iter().product(), block: after.iter().product(), axes, updates_axes: None }
            }
            Order::Fortran => {
                let (first, rank) = (axes.start, updates.len());
                let last = first + tuples.len();
                Self {
                    outer: after.iter().product(),
                    block: before.iter().product(),
                    axes: indexed.iter().map(&mut with_stride).collect(),
                    updates_axes: Some((last..rank).rev().chain(first..last).chain((0..first).rev()).collect()),
                }
            }
        }
    }
}
