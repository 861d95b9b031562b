//! Operators on tensors in memory of the caller: arrays of any type and layout, and bytes with a dtype of run time.
//!
//! A resolved operator with its operands is an [`Output`], which fills any window that is contiguous in C order, or
//! [`Scattered`] updates. New arrays, arrays of the caller and byte buffers are filled by these two alone:
//!
//! ```text
//! new array    | windows of new memory, one after the other, each filled while it is in the cache
//! C order      | all at once, or a window for each thread
//! other layout | windows in C order, from which the items are assigned to their places
//! in place     | the blocks that are named
//! ```
//!
//! [`Items`] say how items consist of elements: an item of an array is one element of its type, an item of bytes is a
//! word `[u8; N]` or, if there is no such word, a row of bytes.

mod bytes;
mod call;
mod changed;
mod gathered;
mod in_place;
mod into;
mod output;
mod strided;
mod tensors;

pub(super) use self::bytes::arrange_tensor;
pub use self::call::Kernel;
pub(super) use self::changed::{Scattered, put_slice};
pub(super) use self::gathered::Places;
pub(super) use self::in_place::ElementsReduction;
pub use self::in_place::{
    replace_where, replace_where_in_place, scatter_elements_in_place, scatter_elements_reduce_in_place,
    scatter_nd_in_place, scatter_nd_reduce_in_place, scatter_update_in_place, slice_scatter_in_place,
};
pub use self::into::{
    broadcast_into, concat_into, gather_elements_into, gather_into, gather_nd_into, gather_or_zero_into, pad_into,
    reshape_into, roll_into, scatter_elements_into, scatter_elements_reduce_into, scatter_nd_into,
    scatter_nd_reduce_into, scatter_update_into, slice_into, slice_scatter_into, split_into, stack_into, tile_into,
    transpose_into,
};
pub(super) use self::into::{changed, combine, copied, gathered, replace};
pub(super) use self::output::Output;
pub(super) use self::strided::{Items, Strided};
pub use self::tensors::{TensorMut, TensorRef};
pub use super::call::Call;
