//! The order of a comparison.
//!
//! Two large tensors in Fortran order are read as stored, because transposing both takes longer than all other work.
//! Counts and marks do not change. Sums do in the last digits, because blocks have other items. The first mismatches,
//! and the first of several largest errors, follow C order, so a walk computes C-order numbers.

use std::ops::Range;

use crate::diff::options::Options;
use crate::storage::source::Source;
use tensorop_kernels::error::{Error, Result, Subject};
use tensorop_kernels::layout::view::View;
use tensorop_kernels::ops::operators::transpose;

/// Bytes. Smaller tensors are transposed in the cache, and their metrics are those of C order to the last digit.
const LARGE: usize = 8 << 20;

/// An item's *place* is its position in this order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Walk {
    /// The dims and C-order strides of the axes, the fastest first. Empty for C order.
    axes: Vec<WalkedAxis>,
}

#[derive(Clone, Copy, Debug)]
struct WalkedAxis {
    dim: usize,
    stride: usize,
}

impl Walk {
    pub(crate) fn of(sources: [&Source; 2]) -> Self {
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

    pub(crate) fn across(shape: &[usize]) -> Self {
        let mut axes: Vec<WalkedAxis> = Vec::with_capacity(shape.len());
        let mut stride = 1_usize;
        for &dim in shape.iter().rev() {
            axes.push(WalkedAxis { dim, stride });
            // Empty tensors do not use strides.
            stride = stride.saturating_mul(dim.max(1));
        }
        axes.reverse();
        Self { axes }
    }

    pub(crate) fn is_c_order(&self) -> bool {
        self.axes.is_empty()
    }

    pub(crate) fn shape(&self, shape: &[usize]) -> Vec<usize> {
        match self.is_c_order() {
            true => shape.to_vec(),
            false => shape.iter().rev().copied().collect(),
        }
    }

    pub(crate) fn view(&self, source: &Source) -> View {
        if self.is_c_order() { source.view() } else { source.meta().as_stored().view() }
    }

    pub(crate) fn number(&self, place: usize) -> usize {
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

    /// The range must not be empty.
    pub(crate) fn lowest(&self, places: Range<usize>) -> usize {
        if self.is_c_order() {
            return places.start;
        }
        let Range { mut start, mut end } = places;
        let mut number = 0;
        for axis in &self.axes {
            // A line along this axis begins in the range.
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

#[derive(Clone, Debug)]
pub(crate) struct ActualAxes {
    /// For each axis of EXPECTED, the axis of ACTUAL; `None` if they are the same.
    order: Option<Vec<usize>>,
}

impl ActualAxes {
    pub(crate) fn new(options: &Options, actual: &Source) -> Result<Self> {
        let Some(axes) = &options.axes else { return Ok(Self { order: None }) };
        let order = transpose::check(actual.shape(), Some(axes));
        let order =
            order.map_err(|error| Error::new(Subject::Axes, format!("{}: {}", actual.label(), error.message())))?;
        Ok(Self { order: Some(order).filter(|order| !order.is_sorted()) })
    }

    pub(crate) fn are_own(&self) -> bool {
        self.order.is_none()
    }

    pub(crate) fn shape(&self, actual: &Source) -> Vec<usize> {
        let shape = actual.shape();
        self.order.as_ref().map_or_else(|| shape.to_vec(), |order| order.iter().map(|&axis| shape[axis]).collect())
    }

    /// Source 0 is EXPECTED, 1 is ACTUAL; both in C order of the axes of EXPECTED.
    pub(crate) fn view(&self, number: usize, source: &Source) -> View {
        match &self.order {
            Some(order) if number == 1 => source.view().with_axes(order),
            Some(_) | None => source.view(),
        }
    }

    pub(crate) fn walk(&self, sources: [&Source; 2]) -> Walk {
        if self.are_own() { Walk::of(sources) } else { Walk::default() }
    }

    pub(crate) fn walked(&self, walk: &Walk, number: usize, source: &Source) -> View {
        if walk.is_c_order() { self.view(number, source) } else { walk.view(source) }
    }
}

impl Options {
    /// Checks [`axes`](Self::axes).
    ///
    /// # Errors
    /// `axes` is not a permutation of the axes of `actual`.
    #[doc(hidden)]
    pub fn check_axes(&self, actual: &Source) -> Result<()> {
        ActualAxes::new(self, actual).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tensorop_kernels::layout::axis::coordinates;

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
