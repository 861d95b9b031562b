//! Gather: OpenVINO 1, 7 and
//! [8](https://docs.openvino.ai/latest/documentation/openvino-ir-format/operation-sets/operation-specs/movement/gather-8.html),
//! [ONNX](https://onnx.ai/onnx/operators/onnx__Gather.html) 1, 11 and 13.

use ndarray::{ArrayBase, ArrayD, ArrayViewMut, Data, Dimension};

use crate::error::{Error, Result, Subject};
use crate::ops::arrays::{check_axis, check_shape};
use crate::ops::indexed::{Index, IndexSpec, OutOfRange};
use crate::ops::kernels::gathered;

/// Resolves the arguments.
pub(crate) fn check(
    shape: &[usize],
    indices: &[usize],
    axis: i64,
    batch_dims: i64,
    out_of_range: OutOfRange,
) -> Result<IndexSpec> {
    let axis = check_axis(shape, axis)?;
    let (index_rank, most) = (indices.len(), axis.min(indices.len()));
    let counted = if batch_dims < 0 { batch_dims.saturating_add(index_rank as i64) } else { batch_dims };
    let batch = usize::try_from(counted).ok().filter(|&batch| batch <= most).ok_or_else(|| {
        let expected = match most {
            0 if index_rank == 0 => "0".to_owned(),
            _ if most == index_rank => format!("-{index_rank} to {most}"),
            _ => format!("0 to {most} or -{index_rank} to -{}", index_rank - most),
        };
        let message = format!("{batch_dims}, expected {expected} (axis {axis}, data {shape:?}, indices {indices:?})");
        Error::new(Subject::Argument("batch-dims"), message)
    })?;
    if indices[..batch] != shape[..batch] {
        let (found, expected) = (&indices[..batch], &shape[..batch]);
        let message = format!("batch dims {found:?}, expected {expected:?} (data {shape:?})");
        return Err(Error::new(Subject::Indices, message));
    }
    let shapes = IndexSpec::new(shape, batch, axis..axis + 1, indices);
    check_shape(&shapes.updates, Subject::Output)?;
    Ok(IndexSpec { has_tuple_axis: false, out_of_range, ..shapes })
}

/// Gathers places of `axis`: `data[…, indices[m, …], …]` (ONNX Gather-13).
///
/// The first `batch_dims` axes are common; a negative number counts from the rank of `indices`. The output has the
/// shape `data.shape[:axis] ++ indices.shape[batch_dims:] ++ data.shape[axis + 1:]`. Negative indices count from the
/// end.
///
/// ```
/// use ndarray::{arr0, array};
/// use tensorop_kernels::gather;
/// let data = array![[1, 2, 3], [4, 5, 6]];
/// assert_eq!(gather(&data, &array![2, 0], 1, 0)?, array![[3, 1], [6, 4]].into_dyn());
/// assert_eq!(gather(&data, &arr0(-1), 0, 0)?, array![4, 5, 6].into_dyn());
/// assert_eq!(gather(&data, &array![[0], [2]], 1, 1)?, array![[1], [6]].into_dyn());
/// # Ok::<(), tensorop_kernels::Error>(())
/// ```
///
/// # Errors
/// The axis, the batch dims or an index does not fit, or the output is too large.
pub fn gather<T: Copy>(
    data: &ArrayBase<impl Data<Elem = T>, impl Dimension>,
    indices: &ArrayBase<impl Data<Elem = impl Index>, impl Dimension>,
    axis: i64,
    batch_dims: i64,
) -> Result<ArrayD<T>> {
    let spec = check(data.shape(), indices.shape(), axis, batch_dims, OutOfRange::Error)?;
    gathered(spec, indices, data, None)?.to_array()
}

/// Gathers as [`gather`] does, but an index out of range gives zero (OpenVINO Gather-8).
///
/// ```
/// use ndarray::array;
/// use tensorop_kernels::gather_or_zero;
/// assert_eq!(gather_or_zero(&array![5, 6], &array![1, 2, -3], 0, 0)?, array![6, 0, 0].into_dyn());
/// # Ok::<(), tensorop_kernels::Error>(())
/// ```
///
/// # Errors
/// The axis or the batch dims do not fit, or the output is too large.
pub fn gather_or_zero<T: Copy + Default>(
    data: &ArrayBase<impl Data<Elem = T>, impl Dimension>,
    indices: &ArrayBase<impl Data<Elem = impl Index>, impl Dimension>,
    axis: i64,
    batch_dims: i64,
) -> Result<ArrayD<T>> {
    let spec = check(data.shape(), indices.shape(), axis, batch_dims, OutOfRange::Zero)?;
    gathered(spec, indices, data, Some(T::default()))?.to_array()
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
    let spec = check(data.shape(), indices.shape(), axis, batch_dims, OutOfRange::Error)?;
    gathered(spec, indices, data, None)?.to_view(out)
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
    let spec = check(data.shape(), indices.shape(), axis, batch_dims, OutOfRange::Zero)?;
    gathered(spec, indices, data, Some(T::default()))?.to_view(out)
}

#[cfg(test)]
mod tests {
    use ndarray::{Array, Array1, Array2, Array3, IxDyn, arr0, array};

    use super::*;

    /// Several rows look a place up together, the rest one by one.
    #[test]
    fn columns_of_any_number_of_rows() {
        for rows in 0..14 {
            let data = Array2::from_shape_fn((rows, 5), |(row, column)| (10 * row + column) as i32);
            let found = gather(&data, &array![4, -5, 2, 4], 1, 0).unwrap();
            assert_eq!(found, Array2::from_shape_fn((rows, 4), |(row, n)| data[[row, [4, 0, 2, 4][n]]]).into_dyn());
            let found = gather_or_zero(&data, &array![1, 5, -6], 1, 0).unwrap();
            assert_eq!(
                found,
                Array2::from_shape_fn((rows, 3), |(row, n)| if n == 0 { data[[row, 1]] } else { 0 }).into_dyn()
            );
        }
    }

    #[test]
    fn the_specifications_examples() {
        let five = array![1, 2, 3, 4, 5].into_dyn();
        let rows = array![[1, 2, 3, 4, 5], [6, 7, 8, 9, 10]].into_dyn();
        let cube = Array::from_shape_vec(IxDyn(&[2, 5, 4]), (1..=40).collect()).unwrap();
        let images = Array::from_shape_vec(IxDyn(&[2, 1, 5, 4]), (1..=40).collect()).unwrap();
        let batches = array![[0, 0, 4], [4, 0, 0]].into_dyn();
        let names = array![[10, 12], [23, 34], [45, 57]].into_dyn();
        let block = |first: i32| (first..first + 4).collect::<Vec<_>>();
        let blocks = |firsts: &[i32], shape: &[usize]| {
            let items = firsts.iter().flat_map(|&first| block(first)).collect();
            Array::from_shape_vec(IxDyn(shape), items).unwrap()
        };
        let firsts = [1, 1, 17, 37, 21, 21];
        type Row = (&'static str, ArrayD<i32>, ArrayD<i64>, i64, i64, ArrayD<i32>);
        let cases: [Row; 9] = [
            ("1", five.clone(), array![0, 0, 4].into_dyn(), 0, 0, array![1, 1, 5].into_dyn()),
            ("2", rows.clone(), batches.clone(), 1, 1, array![[1, 1, 5], [10, 6, 6]].into_dyn()),
            ("3", cube.clone(), batches.clone(), 1, 1, blocks(&firsts, &[2, 3, 4])),
            ("4", images.clone(), array![[0, 0, 4], [4, 0, 0]].into_dyn(), 2, 1, blocks(&firsts, &[2, 1, 3, 4])),
            ("5", rows.clone(), batches, 1, -1, array![[1, 1, 5], [10, 6, 6]].into_dyn()),
            ("6", five.clone(), array![0, -2, -1].into_dyn(), 0, 0, array![1, 4, 5].into_dyn()),
            ("7", five, array![3, 10, -20].into_dyn(), 0, 0, array![4, 0, 0].into_dyn()),
            (
                "ONNX 1",
                names.clone(),
                array![[0, 1], [1, 2]].into_dyn(),
                0,
                0,
                array![[[10, 12], [23, 34]], [[23, 34], [45, 57]]].into_dyn(),
            ),
            ("ONNX 2", names, array![[0, 1]].into_dyn(), 1, 0, array![[[10, 12]], [[23, 34]], [[45, 57]]].into_dyn()),
        ];
        for (name, data, indices, axis, batch_dims, wanted) in cases {
            let found = gather_or_zero(&data, &indices, axis, batch_dims);
            assert_eq!(found.as_ref(), Ok(&wanted), "{name}");
            let found = gather(&data, &indices, axis, batch_dims);
            assert_eq!(found.ok(), (name != "7").then_some(wanted), "{name}");
        }
    }

    #[test]
    fn shapes_of_every_kind() {
        let data = Array3::from_shape_fn((2, 3, 4), |(i, j, k)| (i * 12 + j * 4 + k) as i16);
        assert_eq!(gather(&data, &arr0(-1), 1, 0).unwrap(), data.index_axis(ndarray::Axis(1), 2).into_dyn());
        assert_eq!(gather(&data, &array![[0, 3], [1, 1]], -1, 0).unwrap().shape(), [2, 3, 2, 2]);
        let last = gather(&data, &Array2::from_elem((2, 3), -1), 2, 2).unwrap();
        assert_eq!(last, array![[3, 7, 11], [15, 19, 23]].into_dyn());
        assert_eq!(gather(&data, &Array2::from_elem((2, 3), -1), 2, -1).unwrap().shape(), [2, 3, 3]);
        assert_eq!(gather(&data, &Array2::from_elem((2, 3), 1), 2, -2).unwrap().shape(), [2, 3, 2, 3]);
        assert_eq!(gather(&data, &Array1::<u8>::zeros(0), 1, 0).unwrap().shape(), [2, 0, 4]);
        let none = Array2::<u8>::zeros((0, 3));
        assert_eq!(gather(&none, &Array1::<u8>::zeros(0), 0, 0).unwrap().shape(), [0, 3]);
        assert!(gather(&none, &array![0], 0, 0).is_err(), "there is no place");
        assert_eq!(gather_or_zero(&none, &array![0, -1], 0, 0).unwrap(), Array2::<u8>::zeros((2, 3)).into_dyn());
        let no_item = Array2::<u8>::zeros((2, 0));
        assert_eq!(gather(&no_item, &array![1], 0, 0).unwrap().shape(), [1, 0]);
        assert!(gather(&no_item, &array![2], 0, 0).is_err(), "the index still has to be right");
        assert_eq!(gather_or_zero(&array![1.5], &array![u64::MAX, 0], 0, 0).unwrap(), array![0.0, 1.5].into_dyn());
    }

    #[test]
    fn refused() {
        let data = Array2::<u8>::zeros((2, 3));
        let error = |indices: ArrayD<i64>, axis, batch| gather(&data, &indices, axis, batch).unwrap_err().to_string();
        let many = ArrayD::<i64>::zeros(IxDyn(&[1; 63]));
        let rows = [
            (
                error(array![0, 2].into_dyn(), 0, 0),
                "indices: 2 at [1] is out of range: expected [-2, 1] on axis 0 (data [2, 3])",
            ),
            (
                error(array![[0], [-4]].into_dyn(), 1, 1),
                "indices: -4 at [1, 0] is out of range: expected [-3, 2] on axis 1 (data [2, 3])",
            ),
            (
                error(arr0(3).into_dyn(), -1, 0),
                "indices: 3 at [] is out of range: expected [-3, 2] on axis 1 (data [2, 3])",
            ),
            (error(array![0].into_dyn(), 2, 0), "axis: 2 is outside [-2, 1] (data [2, 3])"),
            (
                error(array![[0]].into_dyn(), 0, 1),
                "batch-dims: 1, expected 0 to 0 or -2 to -2 (axis 0, data [2, 3], indices [1, 1])",
            ),
            (
                error(array![[0, 0], [0, 0]].into_dyn(), 0, -1),
                "batch-dims: -1, expected 0 to 0 or -2 to -2 (axis 0, data [2, 3], indices [2, 2])",
            ),
            (error(arr0(0).into_dyn(), 1, -1), "batch-dims: -1, expected 0 (axis 1, data [2, 3], indices [])"),
            (error(array![0].into_dyn(), 1, -2), "batch-dims: -2, expected -1 to 1 (axis 1, data [2, 3], indices [1])"),
            (error(array![[0]].into_dyn(), 1, 1), "indices: batch dims [1], expected [2] (data [2, 3])"),
            (
                check(&[], &[1], 0, 0, OutOfRange::Error).unwrap_err().to_string(),
                "data: rank 0, expected at least 1 axis",
            ),
        ];
        for (got, expected) in rows {
            assert_eq!(got, expected);
        }
        assert_eq!(gather(&data, &many, 0, 0).map(|out| out.ndim()), Ok(64));
        let output = check(&[2, 3], &[1; 64], 0, 0, OutOfRange::Error).unwrap_err();
        assert_eq!(output.to_string(), "output: rank 65, expected at most 64");
    }
}
