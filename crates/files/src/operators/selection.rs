//! Selections: the output of `slice`, and the base of other operators.

use super::access::Access;
use crate::storage::source::Source;
use tensorop_kernels::item::meta::{Meta, Order};
use tensorop_kernels::layout::axis::Span;
use tensorop_kernels::layout::view::View;

/// Items of a source through a view. Operators number axes by [`axes`](Self::axes), so that outputs in C order and
/// edits in place of Fortran order share code.
#[derive(Debug)]
pub struct Selection {
    pub source: Source,
    view: View,
    pub(super) meta: Meta,
    axes: Vec<Option<usize>>,
    in_place: bool,
}

impl Selection {
    pub fn whole(source: Source) -> Self {
        Self::in_order(source, Order::C)
    }

    /// Selects all, in storage order.
    pub fn in_place(source: Source) -> Self {
        let order = source.meta().order;
        Self::new(source, order, true)
    }

    pub fn base(source: Source, in_place: bool) -> Self {
        if in_place { Self::in_place(source) } else { Self::whole(source) }
    }

    /// Fortran order reverses the axes.
    pub fn in_order(source: Source, order: Order) -> Self {
        Self::new(source, order, false)
    }

    pub fn slice(source: Source, spans: &[Span]) -> Self {
        let mut it = Self::whole(source);
        it.view = it.view.select(spans);
        it.meta.shape = it.view.shape();
        it
    }

    pub fn transposed(source: Source, order: &[usize]) -> Self {
        let axes: Vec<_> = order.iter().copied().map(Some).collect();
        Self::whole(source).along(&axes)
    }

    /// Selects these axes; `None` is a new axis of dim 1.
    #[must_use]
    pub fn along(self, axes: &[Option<usize>]) -> Self {
        let view = self.view.along(axes);
        let axes = axes.iter().map(|axis| self.axes[(*axis)?]).collect();
        let meta = Meta::c_order(self.meta.dtype.clone(), view.shape());
        Self { view, axes, meta, ..self }
    }

    fn new(source: Source, order: Order, in_place: bool) -> Self {
        let mut axes: Vec<_> = (0..source.shape().len()).map(Some).collect();
        if order == Order::Fortran {
            axes.reverse();
        }
        let view = source.view().along(&axes);
        let meta = Meta::c_order(source.dtype().clone(), view.shape());
        Self { source, view, meta, axes, in_place }
    }

    pub fn view(&self) -> &View {
        &self.view
    }

    pub fn axes(&self) -> &[Option<usize>] {
        &self.axes
    }

    pub fn order(&self) -> Order {
        if self.in_place { self.source.meta().order } else { Order::C }
    }

    pub fn is_in_place(&self) -> bool {
        self.in_place
    }

    pub fn is_whole_storage(&self) -> bool {
        self.view.is_c_order() && self.view.items() == self.source.meta().items()
    }

    pub fn access(&self) -> Access<'_> {
        Access::strided(&self.source, &self.view, &self.axes)
    }
}
