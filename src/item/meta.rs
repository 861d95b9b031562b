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

impl Order {
    /// Returns where the items of a whole tensor of that shape lie in this order.
    pub(crate) fn view(self, shape: &[usize]) -> View {
        match self {
            Self::C => View::c_order(shape),
            Self::Fortran => View::fortran_order(shape),
        }
    }

    /// Converts the index of an item in a view that is in C order, as operators see a tensor that is written in this order, to
    /// the index in the tensor: in Fortran order the axes of the view are reversed.
    pub(crate) fn index(self, mut index: Vec<usize>) -> Vec<usize> {
        if self == Self::Fortran {
            index.reverse();
        }
        index
    }
}

/// Everything known of a tensor but its items: element type, dims and order of storage.
///
/// Formats read it from their headers, operators give it for their outputs, and writers say whether they can hold it,
/// all without items.
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
    /// Creates the meta of a tensor in C order.
    pub fn new(dtype: DType, shape: Vec<usize>) -> Self {
        Self { dtype, shape, order: Order::C }
    }

    /// Returns the same tensor in another order of storage.
    #[must_use]
    pub fn in_order(self, order: Order) -> Self {
        Self { order, ..self }
    }

    /// Returns the number of items. It does not overflow, because formats refuse shapes that memory could not address.
    pub fn items(&self) -> usize {
        self.shape.iter().product()
    }

    /// Returns the bytes of all items.
    pub fn bytes(&self) -> usize {
        self.items() * self.dtype.itemsize()
    }

    /// Returns whether memory could address every item and stride, by the rule of [`bytes_of`].
    pub fn is_addressable(&self) -> bool {
        bytes_of(&self.shape, self.dtype.itemsize()).is_some()
    }

    /// Returns where the items lie in storage.
    pub(crate) fn view(&self) -> View {
        self.order.view(&self.shape)
    }

    /// Returns the same storage as a tensor in C order: the axes of one in Fortran order are reversed.
    #[must_use]
    pub fn as_stored(&self) -> Self {
        let mut shape = self.shape.clone();
        if self.order == Order::Fortran {
            shape.reverse();
        }
        Self::new(self.dtype.clone(), shape)
    }
}
