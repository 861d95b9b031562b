//! A tensor in memory: dtype, shape and bytes.

use crate::dtype::DType;

/// The most axes a tensor may have (NumPy's own limit since version 2).
pub const MAX_RANK: usize = 64;

/// A dense tensor held in memory, its items in C order.
///
/// ```
/// use tensorop::{DType, Tensor};
/// let t = Tensor::new(DType::parse("<i2").unwrap(), vec![2, 1], vec![1, 0, 2, 0]).unwrap();
/// assert_eq!((t.shape(), t.items(), t.bytes().len()), (&[2, 1][..], 2, 4));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tensor {
    dtype: DType,
    shape: Vec<usize>,
    bytes: Vec<u8>,
}

impl Tensor {
    /// A tensor of `bytes.len()` bytes; `None` if that is not what dtype and shape need, or if the shape is
    /// beyond [`MAX_RANK`] axes or [`bytes_of`]'s limit.
    pub fn new(dtype: DType, shape: Vec<usize>, bytes: Vec<u8>) -> Option<Self> {
        let fits = shape.len() <= MAX_RANK && bytes_of(&shape, dtype.itemsize())? == bytes.len();
        fits.then_some(Self { dtype, shape, bytes })
    }

    /// The dtype of every item.
    pub fn dtype(&self) -> &DType {
        &self.dtype
    }

    /// The dims, outermost axis first.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The items in C order, each [`DType::itemsize`] bytes long, in the dtype's byte order.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The number of items.
    pub fn items(&self) -> usize {
        self.shape.iter().product()
    }

    /// The parts the tensor is made of.
    pub fn into_parts(self) -> (DType, Vec<usize>, Vec<u8>) {
        (self.dtype, self.shape, self.bytes)
    }
}

/// The bytes that `shape` takes at `itemsize` bytes an item; `None` if the product of its non-zero dims and the
/// item size is beyond `isize::MAX`, so that every offset and stride of a tensor that passed here fits `isize`.
pub fn bytes_of(shape: &[usize], itemsize: usize) -> Option<usize> {
    let mut extent = itemsize.max(1);
    for &dim in shape.iter().filter(|&&d| d != 0) {
        extent = extent.checked_mul(dim).filter(|&e| isize::try_from(e).is_ok())?;
    }
    Some(if itemsize == 0 || shape.contains(&0) { 0 } else { extent })
}

/// The index of item number `item` of a tensor in C order, one place for each axis.
pub fn coordinates(mut item: usize, shape: &[usize]) -> Vec<usize> {
    let mut at = vec![0; shape.len()];
    for (place, &dim) in at.iter_mut().zip(shape).rev() {
        *place = item % dim.max(1);
        item /= dim.max(1);
    }
    at
}
