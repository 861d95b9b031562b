//! Operators into arrays of the caller.

use ndarray::{ArrayBase, ArrayViewMut, Data, Dimension};

use crate::error::Result;
use crate::ops::indexed::{Index, OutOfRange};
use crate::ops::kernels::{
    Changed, Items, Output, Places, Scattered, Strided, check_output, copy_into, gathered, replace,
};
use crate::ops::operators::broadcast::{self, BroadcastRule};
use crate::ops::operators::concat::{self, Joining};
use crate::ops::operators::pad::{self, PadMode};
use crate::ops::operators::reshape::NewShape;
use crate::ops::operators::split::{self, SplitInto};
use crate::ops::operators::{
    gather, gather_elements, gather_nd, roll, scatter_elements, scatter_nd, scatter_update, tile, transpose,
};
use crate::ops::reduction::{Reducible, Reduction};
use crate::ops::slice::SliceArgs;

/// Copies a slice of `data` to `out`, as [`slice`](crate::slice()) returns it (OpenVINO Slice-8).
///
/// `out` has the shape of the slice and any layout.
///
/// ```
/// use ndarray::{Array2, array, s};
/// use tensorop_kernels::slice_into;
/// let data = array![[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]];
/// // two columns of a larger array
/// let mut out = Array2::zeros((2, 3));
/// slice_into(&data, &":, 1:4:2".parse()?, out.slice_mut(s![.., 1..]))?;
/// assert_eq!(out, array![[0, 1, 3], [0, 6, 8]]);
/// # Ok::<(), tensorop_kernels::Error>(())
/// ```
///
/// # Errors
/// The slice does not fit, or `out` has another shape ([`Subject::Output`](crate::error::Subject::Output)).
pub fn slice_into<T: Copy, D: Dimension>(
    data: &ArrayBase<impl Data<Elem = T>, D>,
    args: &SliceArgs,
    out: ArrayViewMut<'_, T, D>,
) -> Result<()> {
    let spans = args.resolve(data.shape())?;
    Output::view(Strided::of(data).select(&spans), Items::single()).to_view(out)
}

/// Copies `data` to `out` and replaces a slice there, as [`slice_scatter`](crate::slice_scatter()) returns it (OpenVINO
/// SliceScatter-15). `out` has the shape of `data` and any layout.
///
/// # Errors
/// The slice does not fit, or `updates` or `out` has another shape.
pub fn slice_scatter_into<T: Copy, D: Dimension>(
    data: &ArrayBase<impl Data<Elem = T>, D>,
    updates: &ArrayBase<impl Data<Elem = T>, impl Dimension>,
    args: &SliceArgs,
    mut out: ArrayViewMut<'_, T, D>,
) -> Result<()> {
    crate::ops::slice_scatter::SliceScatter::resolve(data.shape(), args, Some(updates.shape()))?;
    copy_into(data, out.view_mut())?;
    super::slice_scatter_in_place(&mut out, updates, args)
}

/// Copies `data` to `out` and puts updates at the places of `indices`, as [`scatter_update`](crate::scatter_update())
/// returns it (OpenVINO ScatterUpdate-3). `out` has the shape of `data` and any layout.
///
/// # Errors
/// The axis or an index is out of range, the shapes do not fit, or `out` has another shape than `data`.
pub fn scatter_update_into<T: Copy, D: Dimension>(
    data: &ArrayBase<impl Data<Elem = T>, D>,
    indices: &ArrayBase<impl Data<Elem = impl Index>, impl Dimension>,
    updates: &ArrayBase<impl Data<Elem = T>, impl Dimension>,
    axis: i64,
    out: ArrayViewMut<'_, T, D>,
) -> Result<()> {
    let spec = scatter_update::check(data.shape(), indices.shape(), Some(updates.shape()), axis)?;
    scattered_into(data, Scattered::of_array(Places::of_array(spec, indices)?, updates)?, replace, out)
}

/// Copies `data` to `out` and puts updates at index tuples, as [`scatter_nd`](crate::scatter_nd()) returns it (ONNX
/// ScatterND-18). `out` has the shape of `data` and any layout.
///
/// # Errors
/// The tuples, an index or the shapes do not fit, or `out` has another shape than `data`.
pub fn scatter_nd_into<T: Copy, D: Dimension>(
    data: &ArrayBase<impl Data<Elem = T>, D>,
    indices: &ArrayBase<impl Data<Elem = impl Index>, impl Dimension>,
    updates: &ArrayBase<impl Data<Elem = T>, impl Dimension>,
    out: ArrayViewMut<'_, T, D>,
) -> Result<()> {
    let spec = scatter_nd::check(data.shape(), indices.shape(), Some(updates.shape()))?;
    scattered_into(data, Scattered::of_array(Places::of_array(spec, indices)?, updates)?, replace, out)
}

/// Copies `data` to `out` and reduces updates into it, as [`scatter_nd_reduce`](crate::scatter_nd_reduce()) returns it
/// (ONNX ScatterND-18, OpenVINO ScatterNDUpdate-15). `out` has the shape of `data` and any layout.
///
/// # Errors
/// The tuples, an index or the shapes do not fit, the type lacks the reduction, or `out` has another shape than `data`.
pub fn scatter_nd_reduce_into<T: Reducible, D: Dimension>(
    data: &ArrayBase<impl Data<Elem = T>, D>,
    indices: &ArrayBase<impl Data<Elem = impl Index>, impl Dimension>,
    updates: &ArrayBase<impl Data<Elem = T>, impl Dimension>,
    reduction: Reduction,
    mut out: ArrayViewMut<'_, T, D>,
) -> Result<()> {
    let operation = scatter_nd::operation::<T>(reduction)?;
    let spec = scatter_nd::check(data.shape(), indices.shape(), Some(updates.shape()))?;
    let scattered = Scattered::of_array(Places::of_array(spec, indices)?, updates)?;
    copy_into(data, out.view_mut())?;
    scattered.combine(&mut Changed::of(out), operation);
    Ok(())
}

/// Copies `data` to `out` and puts single items there, as [`scatter_elements`](crate::scatter_elements()) returns it
/// (ONNX ScatterElements-18). `out` has the shape of `data` and any layout.
///
/// # Errors
/// The axis or an index is out of range, the shapes do not fit, or `out` has another shape than `data`.
pub fn scatter_elements_into<T: Copy, D: Dimension>(
    data: &ArrayBase<impl Data<Elem = T>, D>,
    indices: &ArrayBase<impl Data<Elem = impl Index>, impl Dimension>,
    updates: &ArrayBase<impl Data<Elem = T>, impl Dimension>,
    axis: i64,
    out: ArrayViewMut<'_, T, D>,
) -> Result<()> {
    let spec = scatter_elements::check(data.shape(), indices.shape(), Some(updates.shape()), axis)?;
    scattered_into(data, Scattered::of_array(Places::of_array(spec, indices)?, updates)?, replace, out)
}

/// Copies `data` to `out` and reduces single items into it, as
/// [`scatter_elements_reduce`](crate::scatter_elements_reduce()) returns it (ONNX ScatterElements-18, OpenVINO
/// ScatterElementsUpdate-12). `out` has the shape of `data` and any layout.
///
/// # Errors
/// The axis or an index is out of range, the shapes do not fit, the type lacks the reduction, or `out` has another
/// shape than `data`.
pub fn scatter_elements_reduce_into<T: Reducible, D: Dimension>(
    data: &ArrayBase<impl Data<Elem = T>, D>,
    indices: &ArrayBase<impl Data<Elem = impl Index>, impl Dimension>,
    updates: &ArrayBase<impl Data<Elem = T>, impl Dimension>,
    axis: i64,
    reduction: Reduction,
    use_init_val: bool,
    mut out: ArrayViewMut<'_, T, D>,
) -> Result<()> {
    let scatter =
        scatter_elements::ElementsReduction::new(data.shape(), indices, updates, axis, reduction, use_init_val)?;
    copy_into(data, out.view_mut())?;
    scatter.apply(out)
}

/// Gathers places of `axis` to `out`, as [`gather`](crate::gather()) returns them (ONNX Gather-13).
///
/// `out` has the shape `data.shape[:axis] ++ indices.shape[batch_dims:] ++ data.shape[axis + 1:]` and any layout.
///
/// ```
/// use ndarray::{Array2, array};
/// use tensorop_kernels::gather_into;
/// let mut out = Array2::zeros((2, 2));
/// gather_into(&array![[1, 2, 3], [4, 5, 6]], &array![2, 0], 1, 0, out.view_mut())?;
/// assert_eq!(out, array![[3, 1], [6, 4]]);
/// # Ok::<(), tensorop_kernels::Error>(())
/// ```
///
/// # Errors
/// The axis, the batch dims, an index or `out` does not fit.
pub fn gather_into<T: Copy>(
    data: &ArrayBase<impl Data<Elem = T>, impl Dimension>,
    indices: &ArrayBase<impl Data<Elem = impl Index>, impl Dimension>,
    axis: i64,
    batch_dims: i64,
    out: ArrayViewMut<'_, T, impl Dimension>,
) -> Result<()> {
    let spec = gather::check(data.shape(), indices.shape(), axis, batch_dims, OutOfRange::Error)?;
    gathered(Places::of_array(spec, indices)?, data, None)?.to_view(out)
}

/// Gathers as [`gather_into`] does, but an index out of range gives zero (OpenVINO Gather-8).
///
/// # Errors
/// The axis, the batch dims or `out` does not fit.
pub fn gather_or_zero_into<T: Copy + Default>(
    data: &ArrayBase<impl Data<Elem = T>, impl Dimension>,
    indices: &ArrayBase<impl Data<Elem = impl Index>, impl Dimension>,
    axis: i64,
    batch_dims: i64,
    out: ArrayViewMut<'_, T, impl Dimension>,
) -> Result<()> {
    let spec = gather::check(data.shape(), indices.shape(), axis, batch_dims, OutOfRange::Zero)?;
    gathered(Places::of_array(spec, indices)?, data, Some(T::default()))?.to_view(out)
}

/// Gathers the blocks at index tuples to `out`, as [`gather_nd`](crate::gather_nd()) returns them (ONNX GatherND-13,
/// OpenVINO GatherND-8).
///
/// `out` has the shape `indices.shape[:-1] ++ data.shape[batch_dims + k:]` for tuples of k numbers, and any layout.
///
/// # Errors
/// The batch dims, the tuples, an index or `out` does not fit.
pub fn gather_nd_into<T: Copy>(
    data: &ArrayBase<impl Data<Elem = T>, impl Dimension>,
    indices: &ArrayBase<impl Data<Elem = impl Index>, impl Dimension>,
    batch_dims: usize,
    out: ArrayViewMut<'_, T, impl Dimension>,
) -> Result<()> {
    let spec = gather_nd::check(data.shape(), indices.shape(), gather_nd::counted_dims(batch_dims))?;
    gathered(Places::of_array(spec, indices)?, data, None)?.to_view(out)
}

/// Gathers an item per index to `out`, as [`gather_elements`](crate::gather_elements()) returns them (ONNX
/// GatherElements-13, OpenVINO GatherElements-6). `out` has the shape of `indices` and any layout.
///
/// # Errors
/// The axis or an index is out of range, or the shapes do not fit.
pub fn gather_elements_into<T: Copy, D: Dimension>(
    data: &ArrayBase<impl Data<Elem = T>, impl Dimension>,
    indices: &ArrayBase<impl Data<Elem = impl Index>, D>,
    axis: i64,
    out: ArrayViewMut<'_, T, D>,
) -> Result<()> {
    let spec = gather_elements::check(data.shape(), indices.shape(), axis)?;
    gathered(Places::of_array(spec, indices)?, data, None)?.to_view(out)
}

/// Concatenates arrays along `axis` in `out`, as [`concat`](crate::concat()) returns them (ONNX Concat, OpenVINO
/// Concat-1).
///
/// `arrays` are views or owned arrays. `out` has their shape but for `axis`, whose dim is the sum of theirs, and any
/// layout.
///
/// # Errors
/// No array is given ([`Subject::Data`](crate::error::Subject::Data)), the axis is out of range, or the shape of an
/// array or of `out` does not fit.
pub fn concat_into<T: Copy, D: Dimension>(
    arrays: &[ArrayBase<impl Data<Elem = T>, D>],
    axis: i64,
    out: ArrayViewMut<'_, T, D>,
) -> Result<()> {
    concat::check(&concat::shapes_of(arrays), axis, Joining::Along)?.output(arrays).to_view(out)
}

/// Stacks arrays of one shape along a new axis of `out`, as [`stack`](crate::stack()) returns them (ONNX
/// ConcatFromSequence). `out` has any layout.
///
/// # Errors
/// No array is given ([`Subject::Data`](crate::error::Subject::Data)), the axis is out of range, or a shape does not fit.
pub fn stack_into<T: Copy, D: Dimension>(
    arrays: &[ArrayBase<impl Data<Elem = T>, D>],
    axis: i64,
    out: ArrayViewMut<'_, T, impl Dimension>,
) -> Result<()> {
    concat::check(&concat::shapes_of(arrays), axis, Joining::Stacked)?.output(arrays).to_view(out)
}

/// Copies `data` with permuted axes to `out`, as [`transpose`](crate::transpose()) returns it (ONNX Transpose, OpenVINO
/// Transpose-1). Axis `n` of `out` is axis `axes[n]` of `data`; `out` has any layout.
///
/// # Errors
/// The rank exceeds 64, `axes` does not name each axis once, or `out` has another shape.
pub fn transpose_into<T: Copy, D: Dimension>(
    data: &ArrayBase<impl Data<Elem = T>, D>,
    axes: Option<&[i64]>,
    out: ArrayViewMut<'_, T, D>,
) -> Result<()> {
    transpose::output(data, axes)?.to_view(out)
}

/// Copies the items of `data` in C order to `out`, whose dims are others, as [`reshape`](crate::reshape()) returns them
/// (Reshape, Squeeze, Unsqueeze and Flatten of ONNX and OpenVINO). `out` has any layout.
///
/// # Errors
/// The dims or axes do not fit, a rank exceeds 64, or `out` has another shape.
pub fn reshape_into<T: Copy>(
    data: &ArrayBase<impl Data<Elem = T>, impl Dimension>,
    shape: &NewShape,
    out: ArrayViewMut<'_, T, impl Dimension>,
) -> Result<()> {
    Output::reshaped(shape.resolve(data.shape())?, Strided::of(data), Items::single()).to_view(out)
}

/// Pads or crops axes of `data` into `out`, as [`pad`](crate::pad()) returns it (ONNX Pad, OpenVINO Pad-1 and -12).
///
/// Dim `axes[n]` of `out` is `before[n] + dim + after[n]`; `out` has any layout.
///
/// # Errors
/// A list has the wrong length, an axis is out of range or repeated, a crop is too long, nothing can be repeated, or
/// `out` has another shape.
pub fn pad_into<T: Copy, D: Dimension>(
    data: &ArrayBase<impl Data<Elem = T>, D>,
    before: &[i64],
    after: &[i64],
    axes: Option<&[i64]>,
    mode: PadMode,
    item: T,
    out: ArrayViewMut<'_, T, D>,
) -> Result<()> {
    pad::check(data.shape(), before, after, axes, mode)?.output(data, Some(item)).to_view(out)
}

/// Repeats each axis of `data` in `out`, as [`tile`](crate::tile()) returns it (ONNX Tile, OpenVINO Tile-1). `out` has
/// any layout.
///
/// # Errors
/// A number is negative ([`Subject::Argument`](crate::error::Subject::Argument)), or `out` has another shape.
pub fn tile_into<T: Copy>(
    data: &ArrayBase<impl Data<Elem = T>, impl Dimension>,
    repeats: &[i64],
    out: ArrayViewMut<'_, T, impl Dimension>,
) -> Result<()> {
    tile::check(data.shape(), repeats)?.output(data, None).to_view(out)
}

/// Rolls axes of `data` by `shift` into `out`, as [`roll`](crate::roll()) returns it (OpenVINO Roll-7). `out` has the
/// shape of `data` and any layout.
///
/// # Errors
/// The number of shifts does not fit, an axis is out of range, or `out` has another shape.
pub fn roll_into<T: Copy, D: Dimension>(
    data: &ArrayBase<impl Data<Elem = T>, D>,
    shift: &[i64],
    axes: Option<&[i64]>,
    out: ArrayViewMut<'_, T, D>,
) -> Result<()> {
    roll::check(data.shape(), shift, axes)?.output(data, None).to_view(out)
}

/// Repeats axes of dim 1 in `out`, as [`broadcast`](crate::broadcast()) returns it (ONNX Expand, OpenVINO Broadcast-1
/// and -3). `shape` is that of `out`, which has any layout; with [`BroadcastRule::Bidirectional`] it may lack dims.
///
/// # Errors
/// A dim does not fit, axes are out of range or not ascending, or `out` has another shape.
pub fn broadcast_into<T: Copy>(
    data: &ArrayBase<impl Data<Elem = T>, impl Dimension>,
    shape: &[i64],
    rule: &BroadcastRule,
    out: ArrayViewMut<'_, T, impl Dimension>,
) -> Result<()> {
    broadcast::check(data.shape(), shape, rule)?.output(data, None).to_view(out)
}

/// Splits `data` along `axis` into arrays of the caller, as [`split`](crate::split()) returns them (ONNX Split, OpenVINO
/// Split-1 and VariadicSplit-1). The arrays have any layout.
///
/// # Errors
/// The axis is out of range, the lengths do not add up to the dim, or the number or a shape of `outs` does not fit
/// ([`Subject::Output`](crate::error::Subject::Output)). Then nothing is written.
pub fn split_into<T: Copy, D: Dimension>(
    data: &ArrayBase<impl Data<Elem = T>, D>,
    axis: i64,
    into: &SplitInto,
    outs: &mut [ArrayViewMut<'_, T, D>],
) -> Result<()> {
    let parts = split::check(data.shape(), axis, into)?;
    check_output(&[parts.len()], &[outs.len()]).map_err(|_| split::wrong_count(outs.len(), parts.len()))?;
    let spans = parts.iter().map(|part| part.resolve(data.shape())).collect::<Result<Vec<_>>>()?;
    for (spans, out) in spans.iter().zip(&*outs) {
        check_output(&spans.iter().map(|span| span.len).collect::<Vec<_>>(), out.shape())?;
    }
    for (spans, out) in spans.iter().zip(outs) {
        Output::view(Strided::of(data).select(spans), Items::single()).to_view(out.view_mut())?;
    }
    Ok(())
}

fn scattered_into<T: Copy, D: Dimension>(
    data: &ArrayBase<impl Data<Elem = T>, D>,
    scattered: Scattered<'_, T>,
    put: impl Fn(&mut [T], &[T]),
    mut out: ArrayViewMut<'_, T, D>,
) -> Result<()> {
    copy_into(data, out.view_mut())?;
    scattered.apply(&mut Changed::of(out), put);
    Ok(())
}

#[cfg(test)]
mod tests {
    use ndarray::{Array1, Array2, arr0};

    use super::slice_into;
    use crate::error::ErrorKind;
    use crate::ops::operators::broadcast::{BroadcastRule, broadcast};
    use crate::ops::operators::pad::{PadMode, pad};
    use crate::ops::operators::tile::tile;

    #[test]
    fn what_there_is_no_memory_for() {
        // more than processes can address
        let huge = 1 << 55;
        let one = arr0(1_u8);
        let rows = [
            broadcast(&one, &[huge], &BroadcastRule::Numpy),
            tile(&one, &[huge]),
            pad(&Array1::<u8>::zeros(1), &[0], &[huge], None, PadMode::Edge, 0),
        ];
        let kinds: Vec<_> = rows.map(|row| row.unwrap_err().kind()).into();
        assert_eq!(kinds, [ErrorKind::Memory; 3]);
        let error = broadcast(&one, &[huge], &BroadcastRule::Numpy).unwrap_err().to_string();
        assert_eq!(error, "output: 36028797018963968 bytes are more than there is memory for");
    }

    #[test]
    fn arrays_of_another_shape() {
        let (data, mut out) = (Array2::<u8>::zeros((2, 3)), Array2::<u8>::zeros((2, 3)));
        let error = slice_into(&data, &"1:".parse().unwrap(), out.view_mut()).unwrap_err();
        assert_eq!(error.to_string(), "output: shape [2, 3], expected [1, 3]");
    }
}
