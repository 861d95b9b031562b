//! Compares an actual tensor with its axes in another order. Only the views change; items stay where they are stored.

use super::walk::Walk;
use crate::diff::options::Options;
use crate::storage::source::Source;
use tensorop_kernels::error::{Error, Result, Subject};
use tensorop_kernels::layout::view::View;
use tensorop_kernels::ops::transpose;

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
