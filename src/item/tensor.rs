//! A tensor in memory: dtype, shape and bytes.

use super::dtype::DType;
use super::meta::Meta;
use crate::layout::shape::{MAX_RANK, bytes_of};

/// A dense tensor held in memory, its items in C order.
///
/// ```
/// use tensorop::{DType, Tensor};
/// let t = Tensor::new(DType::parse("<i2").unwrap(), vec![2, 1], vec![1, 0, 2, 0]).unwrap();
/// assert_eq!((t.shape(), t.items(), t.bytes().len()), (&[2, 1][..], 2, 4));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tensor {
    /// Always in C order.
    meta: Meta,
    bytes: Vec<u8>,
}

impl Tensor {
    /// A tensor of `bytes.len()` bytes; `None` if that is not what dtype and shape need, or if the shape is
    /// beyond [`MAX_RANK`] axes or [`bytes_of`]'s limit.
    pub fn new(dtype: DType, shape: Vec<usize>, bytes: Vec<u8>) -> Option<Self> {
        let fits = shape.len() <= MAX_RANK && bytes_of(&shape, dtype.itemsize())? == bytes.len();
        fits.then(|| Self { meta: Meta::new(dtype, shape), bytes })
    }

    /// Dtype and dims; the order is always C.
    pub fn meta(&self) -> &Meta {
        &self.meta
    }

    /// The dtype of every item.
    pub fn dtype(&self) -> &DType {
        &self.meta.dtype
    }

    /// The dims, outermost axis first.
    pub fn shape(&self) -> &[usize] {
        &self.meta.shape
    }

    /// The items in C order, each [`DType::itemsize`] bytes long, in the dtype's byte order.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The number of items.
    pub fn items(&self) -> usize {
        self.meta.items()
    }

    /// The parts the tensor is made of.
    pub fn into_parts(self) -> (Meta, Vec<u8>) {
        (self.meta, self.bytes)
    }
}
