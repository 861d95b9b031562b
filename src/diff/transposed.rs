//! The axes of an actual tensor that is compared in another order than it has. Only its views change: its items stay where
//! they are stored.

use super::options::Options;
use super::walk::Walk;
use crate::error::{Error, Result, Subject};
use crate::layout::view::View;
use crate::ops::transpose;
use crate::storage::source::Source;

/// The order in which the axes of ACTUAL are compared with those of EXPECTED.
#[derive(Clone, Debug)]
pub(super) struct ActualAxes {
    /// For each axis of EXPECTED the axis of ACTUAL that it is compared with; `None` if ACTUAL is compared as it is.
    order: Option<Vec<usize>>,
}

impl ActualAxes {
    /// Returns the order that options give.
    ///
    /// # Errors
    /// Axes that are no permutation of those of `actual` ([`Subject::Axes`]).
    pub(super) fn new(options: &Options, actual: &Source) -> Result<Self> {
        let Some(axes) = &options.axes else { return Ok(Self { order: None }) };
        let order = transpose::check(actual.shape(), Some(axes));
        let order =
            order.map_err(|error| Error::new(Subject::Axes, format!("{}: {}", actual.label(), error.message())))?;
        Ok(Self { order: Some(order).filter(|order| !order.is_sorted()) })
    }

    /// Returns whether ACTUAL is compared as it is.
    pub(super) fn are_own(&self) -> bool {
        self.order.is_none()
    }

    /// Returns the dims of ACTUAL in this order.
    pub(super) fn shape(&self, actual: &Source) -> Vec<usize> {
        let shape = actual.shape();
        self.order.as_ref().map_or_else(|| shape.to_vec(), |order| order.iter().map(|&axis| shape[axis]).collect())
    }

    /// Returns the items of EXPECTED (number 0) or ACTUAL (number 1) in C order of EXPECTED's axes.
    pub(super) fn view(&self, number: usize, source: &Source) -> View {
        match &self.order {
            Some(order) if number == 1 => source.view().with_axes(order),
            Some(_) | None => source.view(),
        }
    }

    /// Returns the order in which both tensors are best compared.
    pub(super) fn walk(&self, sources: [&Source; 2]) -> Walk {
        if self.are_own() { Walk::of(sources) } else { Walk::default() }
    }

    /// Returns the items of EXPECTED or ACTUAL in the order of a walk, as [`walk`](Self::walk) returns it.
    pub(super) fn walked(&self, walk: &Walk, number: usize, source: &Source) -> View {
        if walk.is_c_order() { self.view(number, source) } else { walk.view(source) }
    }
}

impl Options {
    /// Checks that [`axes`](Self::axes) are a permutation of those of `actual`.
    ///
    /// # Errors
    /// They are not.
    #[doc(hidden)]
    pub fn check_axes(&self, actual: &Source) -> Result<()> {
        ActualAxes::new(self, actual).map(drop)
    }
}
