//! Operators that change an array of the caller.

use ndarray::{ArrayBase, ArrayViewMut, Data, Dimension};

use super::TensorMut;
use crate::error::{Result, Subject};
use crate::layout::view::View;
use crate::memory::Buffer;
use crate::ops::call::replacement;
use crate::ops::condition::Condition;
use crate::ops::indexed::Index;
use crate::ops::kernels::{Changed, Places, Scattered, put_slice, replace};
use crate::ops::operators::scatter_elements::ElementsReduction;
use crate::ops::operators::{scatter_elements, scatter_nd, scatter_update};
use crate::ops::reduction::{Reducible, Reduction};
use crate::ops::slice::SliceArgs;
use crate::ops::slice_scatter::SliceScatter;

/// Replaces a slice of `data` by `updates`, which has exactly its shape (OpenVINO SliceScatter-15). Only the items of
/// the slice are touched. `data` has any layout.
///
/// ```
/// use ndarray::array;
/// use tensorop_kernels::slice_scatter_in_place;
/// let mut data = array![[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]];
/// slice_scatter_in_place(&mut data.view_mut(), &array![[10, 20, 30], [40, 50, 60]], &":, ::2".parse()?)?;
/// assert_eq!(data, array![[10, 1, 20, 3, 30], [40, 6, 50, 8, 60]]);
/// # Ok::<(), tensorop_kernels::Error>(())
/// ```
///
/// # Errors
/// The slice does not fit, or `updates` has another shape. Then `data` is unchanged.
pub fn slice_scatter_in_place<T: Copy, D: Dimension>(
    data: &mut ArrayViewMut<'_, T, D>,
    updates: &ArrayBase<impl Data<Elem = T>, impl Dimension>,
    args: &SliceArgs,
) -> Result<()> {
    let places = SliceScatter::resolve(data.shape(), args, Some(updates.shape()))?;
    put_slice(data.view_mut(), places.spans(), updates);
    Ok(())
}

/// Puts `updates` at the places `indices` of `axis`, as [`scatter_update`](crate::scatter_update()) does in a copy
/// (OpenVINO ScatterUpdate-3). Only these items are touched. `data` has any layout.
///
/// # Errors
/// The axis or an index is out of range, or the shapes do not fit. Then `data` is unchanged.
pub fn scatter_update_in_place<T: Copy, D: Dimension>(
    data: &mut ArrayViewMut<'_, T, D>,
    indices: &ArrayBase<impl Data<Elem = impl Index>, impl Dimension>,
    updates: &ArrayBase<impl Data<Elem = T>, impl Dimension>,
    axis: i64,
) -> Result<()> {
    let spec = scatter_update::check(data.shape(), indices.shape(), Some(updates.shape()), axis)?;
    Scattered::of_array(Places::of_array(spec, indices)?, updates)?.apply(&mut Changed::of(data.view_mut()), replace);
    Ok(())
}

/// Puts `updates` at index tuples, as [`scatter_nd`](crate::scatter_nd()) does in a copy (ONNX ScatterND-18). Only
/// these items are touched. `data` has any layout.
///
/// ```
/// use ndarray::array;
/// use tensorop_kernels::scatter_nd_in_place;
/// let mut data = array![1, 2, 3, 4, 5, 6, 7, 8];
/// scatter_nd_in_place(&mut data.view_mut(), &array![[4], [3], [1], [7]], &array![9, 10, 11, 12])?;
/// assert_eq!(data, array![1, 11, 3, 10, 9, 6, 7, 12]);
/// # Ok::<(), tensorop_kernels::Error>(())
/// ```
///
/// # Errors
/// The tuples, an index or the shapes do not fit. Then `data` is unchanged.
pub fn scatter_nd_in_place<T: Copy, D: Dimension>(
    data: &mut ArrayViewMut<'_, T, D>,
    indices: &ArrayBase<impl Data<Elem = impl Index>, impl Dimension>,
    updates: &ArrayBase<impl Data<Elem = T>, impl Dimension>,
) -> Result<()> {
    let spec = scatter_nd::check(data.shape(), indices.shape(), Some(updates.shape()))?;
    Scattered::of_array(Places::of_array(spec, indices)?, updates)?.apply(&mut Changed::of(data.view_mut()), replace);
    Ok(())
}

/// Reduces `updates` into index tuples, as [`scatter_nd_reduce`](crate::scatter_nd_reduce()) does in a copy (ONNX
/// ScatterND-18, OpenVINO ScatterNDUpdate-15). Only these items are touched. `data` has any layout.
///
/// # Errors
/// The tuples, an index or the shapes do not fit, or the type lacks the reduction. Then `data` is unchanged.
pub fn scatter_nd_reduce_in_place<T: Reducible, D: Dimension>(
    data: &mut ArrayViewMut<'_, T, D>,
    indices: &ArrayBase<impl Data<Elem = impl Index>, impl Dimension>,
    updates: &ArrayBase<impl Data<Elem = T>, impl Dimension>,
    reduction: Reduction,
) -> Result<()> {
    let operation = scatter_nd::operation::<T>(reduction)?;
    let spec = scatter_nd::check(data.shape(), indices.shape(), Some(updates.shape()))?;
    let scattered = Scattered::of_array(Places::of_array(spec, indices)?, updates)?;
    scattered.combine(&mut Changed::of(data.view_mut()), operation);
    Ok(())
}

/// Puts single items at the places `indices` of `axis`, as [`scatter_elements`](crate::scatter_elements()) does in a
/// copy (ONNX ScatterElements-18). Only these items are touched. `data` has any layout.
///
/// # Errors
/// The axis or an index is out of range, or the shapes do not fit. Then `data` is unchanged.
pub fn scatter_elements_in_place<T: Copy, D: Dimension>(
    data: &mut ArrayViewMut<'_, T, D>,
    indices: &ArrayBase<impl Data<Elem = impl Index>, impl Dimension>,
    updates: &ArrayBase<impl Data<Elem = T>, impl Dimension>,
    axis: i64,
) -> Result<()> {
    let spec = scatter_elements::check(data.shape(), indices.shape(), Some(updates.shape()), axis)?;
    Scattered::of_array(Places::of_array(spec, indices)?, updates)?.apply(&mut Changed::of(data.view_mut()), replace);
    Ok(())
}

/// Reduces single items into the places `indices` of `axis`, as
/// [`scatter_elements_reduce`](crate::scatter_elements_reduce()) does in a copy (ONNX ScatterElements-18, OpenVINO
/// ScatterElementsUpdate-12). Only these items are touched. `data` has any layout.
///
/// # Errors
/// The axis or an index is out of range, the shapes do not fit, the type lacks the reduction, or there is not enough
/// memory. Then `data` is unchanged.
pub fn scatter_elements_reduce_in_place<T: Reducible, D: Dimension>(
    data: &mut ArrayViewMut<'_, T, D>,
    indices: &ArrayBase<impl Data<Elem = impl Index>, impl Dimension>,
    updates: &ArrayBase<impl Data<Elem = T>, impl Dimension>,
    axis: i64,
    reduction: Reduction,
    use_init_val: bool,
) -> Result<()> {
    ElementsReduction::new(data.shape(), indices, updates, axis, reduction, use_init_val)?.apply(data.view_mut())
}

/// Replaces the items of a slice of `data` that satisfy a condition by `item`, and returns how many were replaced.
/// `item`, and the value of the condition, are the bytes of an item of the dtype of `data`.
///
/// ```
/// use tensorop_kernels::kernel::{TensorMut, replace_where};
/// use tensorop_kernels::{Condition, DType};
/// let mut text = *b"ab--cd--";
/// let dtype = DType::parse("S2")?;
/// let mut data = TensorMut::new(&dtype, &[4], &mut text)?;
/// assert_eq!(replace_where(&mut data, &Condition::Equal(b"--".to_vec()), b"xy", &":3".parse()?)?, 1);
/// assert_eq!(text, *b"abxycd--");
/// # Ok::<(), tensorop_kernels::Error>(())
/// ```
///
/// # Errors
/// The slice does not fit, `item` or a value has another length ([`Subject::Fill`]), the dtype has no such condition, or
/// there is no memory for the items of the slice. Then `data` is unchanged.
pub fn replace_where(
    data: &mut TensorMut<'_>,
    condition: &Condition<Vec<u8>>,
    item: &[u8],
    args: &SliceArgs,
) -> Result<usize> {
    let (places, matcher) = replacement(&data.as_ref().meta(), condition, item, args)?;
    let place = View::c_order(data.shape()).select(places.spans());
    if place.items() == 0 {
        return Ok(0);
    }
    matcher.replace_at(&place, item, data.bytes, &mut Buffer::default(), &Subject::Data.to_string())
}
