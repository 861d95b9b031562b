//! Operators in memory of the caller: into arrays, in place, and on bytes with a dtype of run time.

mod bytes;
mod call;
mod in_place;
mod into;

pub use self::call::Kernel;
pub use self::in_place::{
    replace_where, scatter_elements_in_place, scatter_elements_reduce_in_place, scatter_nd_in_place,
    scatter_nd_reduce_in_place, scatter_update_in_place, slice_scatter_in_place,
};
pub use self::into::{
    broadcast_into, concat_into, gather_elements_into, gather_into, gather_nd_into, gather_or_zero_into, pad_into,
    reshape_into, roll_into, scatter_elements_into, scatter_elements_reduce_into, scatter_nd_into,
    scatter_nd_reduce_into, scatter_update_into, slice_into, slice_scatter_into, split_into, stack_into, tile_into,
    transpose_into,
};
use crate::error::{Error, Result, Subject};
use crate::item::dtype::DType;
use crate::item::meta::Meta;
use crate::item::tensor::Tensor;
use crate::layout::axis::{MAX_RANK, bytes_of};

/// A tensor that is read: a dtype, a shape, and bytes of the caller.
///
/// Items are in C order and in the byte order of the dtype. Any dtype is possible, so strings and structured items,
/// too.
///
/// ```
/// use tensorop_kernels::DType;
/// use tensorop_kernels::kernel::TensorRef;
/// let bytes: Vec<u8> = [1_i32, 2, 3].iter().flat_map(|item| item.to_le_bytes()).collect();
/// let tensor = TensorRef::new(&DType::INT32, &[3], &bytes)?;
/// assert_eq!(tensor.shape(), [3]);
/// let refused = TensorRef::new(&DType::INT32, &[4], &bytes).unwrap_err();
/// assert_eq!(refused.to_string(), "data: 12 bytes, expected 16 (int32 [4])");
/// # Ok::<(), tensorop_kernels::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct TensorRef<'a> {
    dtype: &'a DType,
    shape: &'a [usize],
    bytes: &'a [u8],
}

impl<'a> TensorRef<'a> {
    /// Lends `bytes` as a tensor.
    ///
    /// # Errors
    /// The rank exceeds 64, the shape exceeds memory, or the number of bytes is wrong (all [`Subject::Data`]).
    pub fn new(dtype: &'a DType, shape: &'a [usize], bytes: &'a [u8]) -> Result<Self> {
        check_bytes(dtype, shape, bytes.len(), Subject::Data)?;
        Ok(Self { dtype, shape, bytes })
    }

    /// The dtype of the items.
    pub fn dtype(&self) -> &'a DType {
        self.dtype
    }

    /// The dims, outermost axis first.
    pub fn shape(&self) -> &'a [usize] {
        self.shape
    }

    /// The items in C order and in the dtype's byte order.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The dtype and shape, which [`Call::infer`](super::call::Call::infer) takes.
    pub fn meta(&self) -> Meta {
        Meta::c_order(self.dtype.clone(), self.shape.to_vec())
    }
}

impl<'a> From<&'a Tensor> for TensorRef<'a> {
    fn from(tensor: &'a Tensor) -> Self {
        Self { dtype: tensor.dtype(), shape: tensor.shape(), bytes: tensor.bytes() }
    }
}

/// A tensor that is written: a [`TensorRef`] whose bytes an operator overwrites or changes.
#[derive(Debug)]
pub struct TensorMut<'a> {
    dtype: &'a DType,
    shape: &'a [usize],
    pub(super) bytes: &'a mut [u8],
}

impl<'a> TensorMut<'a> {
    /// Lends `bytes` as a tensor.
    ///
    /// # Errors
    /// The rank exceeds 64, the shape exceeds memory, or the number of bytes is wrong (all [`Subject::Output`]).
    pub fn new(dtype: &'a DType, shape: &'a [usize], bytes: &'a mut [u8]) -> Result<Self> {
        check_bytes(dtype, shape, bytes.len(), Subject::Output)?;
        Ok(Self { dtype, shape, bytes })
    }

    /// The dtype of the items.
    pub fn dtype(&self) -> &'a DType {
        self.dtype
    }

    /// The dims, outermost axis first.
    pub fn shape(&self) -> &'a [usize] {
        self.shape
    }

    /// The items in C order and in the dtype's byte order.
    pub fn bytes(&self) -> &[u8] {
        self.bytes
    }

    /// Lends the tensor for reading.
    pub fn as_ref(&self) -> TensorRef<'_> {
        TensorRef { dtype: self.dtype, shape: self.shape, bytes: self.bytes }
    }
}

fn check_bytes(dtype: &DType, shape: &[usize], found: usize, subject: Subject) -> Result<()> {
    let refuse = |message: String| Err(Error::new(subject, message));
    if shape.len() > MAX_RANK {
        return refuse(format!("rank {}, expected at most {MAX_RANK}", shape.len()));
    }
    match bytes_of(shape, dtype.itemsize()) {
        None => refuse(format!("{} {shape:?} is larger than memory can be", dtype.name())),
        Some(expected) if expected != found => {
            refuse(format!("{found} bytes, expected {expected} ({} {shape:?})", dtype.name()))
        }
        Some(_) => Ok(()),
    }
}
