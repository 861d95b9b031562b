//! What is known of a tensor before any item is read.

use super::dtype::DType;
use crate::layout::shape::bytes_of;
use crate::layout::view::View;

/// The order in which the items of a tensor lie in storage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Order {
    /// The last axis runs fastest.
    #[default]
    C,
    /// The first axis runs fastest.
    Fortran,
}

/// What a tensor is, but for its items: element type, dims and the order of its storage.
///
/// Formats read it from their headers, operators give it for their outputs, and writers are asked whether they can hold
/// it; nobody needs the items for that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meta {
    /// The type of every item, as it is stored.
    pub dtype: DType,
    /// The dims, outermost axis first, whatever the order of storage.
    pub shape: Vec<usize>,
    /// The order of storage.
    pub order: Order,
}

impl Meta {
    /// Of a tensor in C order.
    pub fn new(dtype: DType, shape: Vec<usize>) -> Self {
        Self { dtype, shape, order: Order::C }
    }

    /// The same tensor in another order of storage.
    #[must_use]
    pub fn in_order(self, order: Order) -> Self {
        Self { order, ..self }
    }

    /// The number of items. Formats refuse shapes whose items memory could not address, so this does not overflow.
    pub fn items(&self) -> usize {
        self.shape.iter().product()
    }

    /// The bytes of all items, one after the other.
    pub fn bytes(&self) -> usize {
        self.items() * self.dtype.itemsize()
    }

    /// Whether memory could address every item and stride, by [`bytes_of`]'s rule.
    pub fn is_addressable(&self) -> bool {
        bytes_of(&self.shape, self.dtype.itemsize()).is_some()
    }

    /// Where the items lie in storage.
    pub(crate) fn view(&self) -> View {
        match self.order {
            Order::C => View::c_order(&self.shape),
            Order::Fortran => View::fortran_order(&self.shape),
        }
    }

    /// The same storage seen as a tensor in C order: of one in Fortran order the axes are reversed.
    #[must_use]
    pub fn as_stored(&self) -> Self {
        let mut shape = self.shape.clone();
        if self.order == Order::Fortran {
            shape.reverse();
        }
        Self::new(self.dtype.clone(), shape)
    }
}
