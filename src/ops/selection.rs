//! Selections: all items of a stored tensor, or a slice of them. Other operators begin with one; by itself it is the output of
//! `slice` and of a copy.

use super::access::Access;
use crate::item::meta::{Meta, Order};
use crate::layout::axis::Span;
use crate::layout::view::View;
use crate::storage::source::Source;

/// Items of a source, seen through a view of its storage.
///
/// The order of storage is decided here alone. An operator that begins with a selection counts its axes by
/// [`axes`](Self::axes); it need not know whether its output is a new file in C order or data in Fortran order that is
/// changed in place.
#[derive(Debug)]
pub struct Selection {
    /// The source of the items, which may be made readable in another order than it comes.
    pub source: Source,
    view: View,
    pub(super) meta: Meta,
    /// The axes of the source in the order in which the output has them; `None` for an axis of one place that the source does not
    /// have.
    axes: Vec<Option<usize>>,
    in_place: bool,
}

impl Selection {
    /// Selects all of a tensor, for an output in C order.
    pub fn whole(source: Source) -> Self {
        Self::in_order(source, Order::C)
    }

    /// Selects all of a tensor that is changed in place: the output has the axes in the order of storage.
    pub fn in_place(source: Source) -> Self {
        let order = source.meta().order;
        Self::new(source, order, true)
    }

    /// Selects all of a tensor that an operator changes: in place, or for an output in C order.
    pub fn base(source: Source, in_place: bool) -> Self {
        if in_place { Self::in_place(source) } else { Self::whole(source) }
    }

    /// Selects all of a tensor for a file in an order: in Fortran order the output has the axes reversed.
    pub fn in_order(source: Source, order: Order) -> Self {
        Self::new(source, order, false)
    }

    /// Selects the part of a tensor that one span an axis selects, for an output in C order.
    pub fn slice(source: Source, spans: &[Span]) -> Self {
        let mut it = Self::whole(source);
        it.view = it.view.select(spans);
        it.meta.shape = it.view.shape();
        it
    }

    /// Selects all of a tensor with its axes in another order, for an output in C order.
    pub fn transposed(source: Source, order: &[usize]) -> Self {
        let axes: Vec<_> = order.iter().copied().map(Some).collect();
        Self::whole(source).along(&axes)
    }

    /// Gives the output, which is in C order, these of its axes, and new ones of one place, which are `None`. Axes of one place may
    /// be left out.
    #[must_use]
    pub fn along(self, axes: &[Option<usize>]) -> Self {
        let view = self.view.along(axes);
        let axes = axes.iter().map(|axis| self.axes[(*axis)?]).collect();
        let meta = Meta::new(self.meta.dtype.clone(), view.shape());
        Self { view, axes, meta, ..self }
    }

    fn new(source: Source, order: Order, in_place: bool) -> Self {
        let mut axes: Vec<_> = (0..source.shape().len()).map(Some).collect();
        if order == Order::Fortran {
            axes.reverse();
        }
        let view = source.view().along(&axes);
        let meta = Meta::new(source.dtype().clone(), view.shape());
        Self { source, view, meta, axes, in_place }
    }

    /// Returns where the items of the output lie in the storage of the source.
    pub fn view(&self) -> &View {
        &self.view
    }

    /// Returns the axes of the source in the order in which the output has them; `None` for an axis of one place that the source
    /// does not have.
    pub fn axes(&self) -> &[Option<usize>] {
        &self.axes
    }

    /// Returns the order of storage that the output follows.
    pub fn order(&self) -> Order {
        if self.in_place { self.source.meta().order } else { Order::C }
    }

    /// Returns whether the source is changed in place.
    pub fn is_in_place(&self) -> bool {
        self.in_place
    }

    /// Returns whether the output has all items of the source, in the order in which they are stored.
    pub fn is_whole_storage(&self) -> bool {
        self.view.is_c_order() && self.view.items() == self.source.meta().items()
    }

    /// States how the items are taken: through the view.
    pub fn access(&self) -> Access<'_> {
        Access::strided(&self.source, &self.view, &self.axes)
    }
}
