//! The order in which a comparison goes through the pairs of two tensors.
//!
//! Two large tensors in Fortran order are read as they are stored, since to read them in C order would transpose both, which
//! takes longer than all the rest. Counts do not ask for the order, the marks of axes only for the axes in that order, and
//! sums are rounded within blocks of neighbours, which are others then: the last digits of metrics may differ. What does ask
//! for C order is which item comes first: the first of several largest errors, and the first mismatches. So a walk tells the
//! number in C order of an item that it has come to, and the lowest that neighbouring items have. Where that is above the
//! number of what is known already, a block can change nothing by being as large, so that hardly any is looked at pair by
//! pair.

use std::ops::Range;

use crate::layout::view::View;
use crate::storage::source::Source;

/// Tensors of fewer bytes each are compared in C order: they are transposed in a core's cache, and have the metrics of C order
/// to the last digit.
const LARGE: usize = 8 << 20;

/// The order in which items are compared. An item's *place* is its number in that order.
#[derive(Clone, Debug, Default)]
pub(super) struct Walk {
    /// For each axis its dim and the items, in C order, from one place along it to the next; that along which the walk
    /// goes first comes first. Empty if the walk is in C order.
    axes: Vec<WalkedAxis>,
}

#[derive(Clone, Copy, Debug)]
struct WalkedAxis {
    dim: usize,
    stride: usize,
}

impl Walk {
    /// Returns the order in which two tensors of one shape are best compared: that of their storage if both are in Fortran
    /// order, large, and can be read anywhere.
    pub(super) fn of(sources: [&Source; 2]) -> Self {
        let is_across = |source: &Source| {
            source.is_read_by_position()
                && source.as_chunks().is_none()
                && !source.view().is_forward()
                && source.meta().as_stored().shape.iter().eq(source.shape().iter().rev())
                && source.bytes() >= LARGE
        };
        match sources.into_iter().all(is_across) {
            true => Self::across(sources[0].shape()),
            false => Self::default(),
        }
    }

    /// Returns the order of the storage of tensors in Fortran order.
    pub(super) fn across(shape: &[usize]) -> Self {
        let mut axes: Vec<WalkedAxis> = Vec::with_capacity(shape.len());
        let mut stride = 1_usize;
        for &dim in shape.iter().rev() {
            axes.push(WalkedAxis { dim, stride });
            // a tensor without items has no item whose number could be asked for
            stride = stride.saturating_mul(dim.max(1));
        }
        axes.reverse();
        Self { axes }
    }

    pub(super) fn is_c_order(&self) -> bool {
        self.axes.is_empty()
    }

    /// Returns the dims of a tensor in the order in which the walk goes along its axes, the last axis first.
    pub(super) fn shape(&self, shape: &[usize]) -> Vec<usize> {
        match self.is_c_order() {
            true => shape.to_vec(),
            false => shape.iter().rev().copied().collect(),
        }
    }

    /// Returns a tensor's items in the order of the walk.
    pub(super) fn view(&self, source: &Source) -> View {
        if self.is_c_order() { source.view() } else { source.meta().as_stored().view() }
    }

    /// Returns the number in C order of the item at a place.
    pub(super) fn number(&self, place: usize) -> usize {
        if self.is_c_order() {
            return place;
        }
        let mut rest = place;
        self.axes.iter().fold(0, |number, axis| {
            let at = rest % axis.dim;
            rest /= axis.dim;
            number + at * axis.stride
        })
    }

    /// Returns the lowest number in C order of the items at some places, of which there is at least one.
    pub(super) fn lowest(&self, places: Range<usize>) -> usize {
        if self.is_c_order() {
            return places.start;
        }
        let Range { mut start, mut end } = places;
        let mut number = 0;
        for axis in &self.axes {
            // of the places along this axis the first decides, if any line begins within the range
            let (begins, ends) = (start.div_ceil(axis.dim), end.div_ceil(axis.dim));
            if begins < ends {
                (start, end) = (begins, ends);
            } else {
                number += start % axis.dim * axis.stride;
                (start, end) = (start / axis.dim, start / axis.dim + 1);
            }
        }
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::shape::coordinates;

    #[test]
    fn numbers_are_those_of_c_order() {
        for shape in [&[3, 4][..], &[5], &[1, 6], &[2, 3, 4], &[4, 1, 3, 2]] {
            let (walk, count) = (Walk::across(shape), shape.iter().product::<usize>());
            let reversed = walk.shape(shape);
            let number = |place: usize| {
                let at = coordinates(place, &reversed).into_iter().rev();
                at.zip(shape).fold(0, |number, (at, dim)| number * dim + at)
            };
            for start in 0..count {
                assert_eq!(walk.number(start), number(start), "{shape:?} {start}");
                for end in start + 1..=count {
                    let lowest = (start..end).map(number).min();
                    assert_eq!(Some(walk.lowest(start..end)), lowest, "{shape:?} {start}..{end}");
                }
            }
        }
        let c_order = Walk::default();
        assert_eq!((c_order.number(7), c_order.lowest(7..9)), (7, 7));
    }
}
