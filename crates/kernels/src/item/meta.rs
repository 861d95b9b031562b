//! Dtype, shape and order of a tensor.

use super::dtype::{DType, Kind};
use crate::error::{Error, Result, Subject};
use crate::layout::axis::bytes_of;
use crate::layout::view::View;

/// The order of items in storage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Order {
    /// The last axis varies fastest.
    #[default]
    C,
    /// The first axis varies fastest.
    Fortran,
}

impl Order {
    /// The view of all items in this order.
    pub fn view(self, shape: &[usize]) -> View {
        match self {
            Self::C => View::c_order(shape),
            Self::Fortran => View::fortran_order(shape),
        }
    }

    /// Operators see a tensor in Fortran order with reversed axes.
    pub fn index(self, mut index: Vec<usize>) -> Vec<usize> {
        if self == Self::Fortran {
            index.reverse();
        }
        index
    }
}

/// A tensor without its items. Formats read it from headers, operators state it for outputs, and writers check it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meta {
    /// The dtype, as stored.
    pub dtype: DType,
    /// The dims, outermost axis first.
    pub shape: Vec<usize>,
    /// The order of storage.
    pub order: Order,
}

impl Meta {
    /// Creates a description in C order.
    ///
    /// ```
    /// use tensorop_kernels::{DType, Meta};
    /// assert_eq!(Meta::new(DType::FLOAT32, vec![2, 3])?.bytes(), 24);
    /// let refused = Meta::new(DType::FLOAT32, vec![1 << 63, 4]).unwrap_err();
    /// assert_eq!(refused.to_string(), "shape: float32 [9223372036854775808, 4] is larger than memory can be");
    /// # Ok::<(), tensorop_kernels::Error>(())
    /// ```
    ///
    /// # Errors
    /// The shape exceeds memory: its non-zero dims times the bytes of an item are more than `isize::MAX`
    /// ([`Subject::Argument`]).
    pub fn new(dtype: DType, shape: Vec<usize>) -> Result<Self> {
        Self::c_order(dtype, shape).checked(Subject::Argument("shape"))
    }

    /// Creates a description in C order, whose shape formats and operators check themselves.
    #[doc(hidden)]
    pub fn c_order(dtype: DType, shape: Vec<usize>) -> Self {
        Self { dtype, shape, order: Order::C }
    }

    /// # Errors
    /// The shape exceeds memory.
    pub(crate) fn checked(self, subject: Subject) -> Result<Self> {
        checked_bytes(&self.dtype, &self.shape, subject)?;
        Ok(self)
    }

    /// Replaces the order of storage.
    #[must_use]
    pub fn in_order(self, order: Order) -> Self {
        Self { order, ..self }
    }

    /// The number of items; `usize::MAX` if the shape was changed to one that exceeds memory.
    pub fn items(&self) -> usize {
        bytes_of(&self.shape, 1).unwrap_or(usize::MAX)
    }

    /// The bytes of all items; `usize::MAX` if the shape was changed to one that exceeds memory.
    pub fn bytes(&self) -> usize {
        bytes_of(&self.shape, self.dtype.itemsize()).unwrap_or(usize::MAX)
    }

    /// Whether memory could address every item ([`bytes_of`]).
    pub fn is_addressable(&self) -> bool {
        bytes_of(&self.shape, self.dtype.itemsize()).is_some()
    }

    /// The view of all items in storage.
    pub fn view(&self) -> View {
        self.order.view(&self.shape)
    }

    /// The storage in C order, with reversed axes if in Fortran order.
    #[must_use]
    pub fn as_stored(&self) -> Self {
        let mut shape = self.shape.clone();
        if self.order == Order::Fortran {
            shape.reverse();
        }
        Self::c_order(self.dtype.clone(), shape)
    }
}

/// Returns the bytes of a tensor.
///
/// # Errors
/// The shape exceeds memory.
pub(crate) fn checked_bytes(dtype: &DType, shape: &[usize], subject: Subject) -> Result<usize> {
    let refused = || Error::new(subject, format!("{} {shape:?} is larger than memory can be", dtype.name()));
    bytes_of(shape, dtype.itemsize()).ok_or_else(refused)
}

macro_rules! constants {
    ($($name:ident $kind:ident $text:literal;)+) => {
        /// Little-endian dtypes; [`big_endian`](Self::big_endian) makes the others, and
        /// [`parse`](Self::parse) any dtype by its name.
        impl DType {
            $(#[doc = concat!("`", $text, "`.")]
            pub const $name: Self = Self { kind: Kind::$kind, big: false };)+
        }

        #[cfg(test)]
        #[test]
        fn names() {
            $(assert_eq!(DType::$name, DType::parse($text).unwrap());)+
        }
    };
}

constants! {
    BOOL Bool "bool";
    INT8 Int8 "int8";
    INT16 Int16 "int16";
    INT32 Int32 "int32";
    INT64 Int64 "int64";
    UINT8 UInt8 "uint8";
    UINT16 UInt16 "uint16";
    UINT32 UInt32 "uint32";
    UINT64 UInt64 "uint64";
    FLOAT16 Float16 "float16";
    BFLOAT16 BFloat16 "bfloat16";
    FLOAT32 Float32 "float32";
    FLOAT64 Float64 "float64";
    COMPLEX64 Complex64 "complex64";
    COMPLEX128 Complex128 "complex128";
}
