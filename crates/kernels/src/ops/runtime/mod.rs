//! Operators in memory of the caller: into arrays, in place, and on bytes with a dtype of run time.

mod bytes;
mod call;
mod in_place;
mod into;
mod tensors;

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
pub use self::tensors::{TensorMut, TensorRef};
pub use super::call::Call;
