//! The operators. Each is resolved, which does every check, then applied window by window, which cannot fail.
//! None of them knows a file: they are given shapes, numbers and items.

pub mod cast;
mod copied;
pub mod fill;
pub mod gather_nd;
pub mod indexed;
pub mod reduction;
pub mod scatter_nd;
pub mod scatter_update;
pub mod selection;
pub mod slice;
pub mod slice_scatter;
pub mod updates;
pub mod window_size;

use ndarray::{Array, ArrayBase, Data, Dimension, RawData};

use crate::error::{Error, Subject};
use crate::layout::shape::{MAX_RANK, bytes_of};

/// The axes of `shape`, at least one and at most [`MAX_RANK`].
pub(crate) fn check_rank(shape: &[usize]) -> Result<usize, Error> {
    match shape.len() {
        0 => Err(Error::new(Subject::Data, "rank 0, expected at least 1 axis")),
        rank if rank > MAX_RANK => Err(Error::new(Subject::Data, format!("rank {rank}, expected at most {MAX_RANK}"))),
        rank => Ok(rank),
    }
}

/// Whether `updates` of that shape could be counted at all: one value can stand for them, whatever their number.
pub(crate) fn check_extent(updates: &[usize]) -> Result<(), Error> {
    let message = || format!("more items than can be counted (shape {updates:?})");
    bytes_of(updates, 1).map(drop).ok_or_else(|| Error::new(Subject::Updates, message()))
}

/// The items of an array in C order: borrowed if they lie so, else copied.
fn items<T: Clone, S: Data + RawData<Elem = T>, D: Dimension>(array: &ArrayBase<S, D>) -> std::borrow::Cow<'_, [T]> {
    match array.as_slice() {
        Some(items) => items.into(),
        None => array.iter().cloned().collect::<Vec<T>>().into(),
    }
}

/// An array of `data`'s shape from its items in C order.
fn like<T, S: RawData, D: Dimension>(data: &ArrayBase<S, D>, items: Vec<T>) -> Array<T, D> {
    Array::from_shape_vec(data.raw_dim(), items).expect("as many items as data has")
}
