//! GatherND: [ONNX](https://onnx.ai/onnx/operators/onnx__GatherND.html) 11 to 13, OpenVINO
//! [GatherND-8](https://docs.openvino.ai/latest/documentation/openvino-ir-format/operation-sets/operation-specs/movement/gather-nd-8.html).

use ndarray::{ArrayBase, ArrayD, ArrayViewMut, Data, Dimension};

use super::scatter_nd::check_tuples;
use crate::error::{Error, Result, Subject};
use crate::ops::arrays::{check_rank, check_shape};
use crate::ops::indexed::{Index, IndexSpec};
use crate::ops::kernels::gathered;

/// Resolves the arguments.
pub(crate) fn check(shape: &[usize], indices: &[usize], batch_dims: i64) -> Result<IndexSpec> {
    let rank = check_rank(shape)?;
    let (width, tuples) = check_tuples(indices, rank, shape)?;
    let most = rank.min(indices.len()) - 1;
    let batch = usize::try_from(batch_dims).ok().filter(|&batch| batch <= most).ok_or_else(|| {
        let message = format!("{batch_dims}, expected 0 to {most} (data {shape:?}, indices {indices:?})");
        Error::new(Subject::Argument("batch-dims"), message)
    })?;
    if width > rank - batch {
        let most = rank - batch;
        let message = format!(
            "tuples of {width} (shape {indices:?}), expected at most {most} ({batch} batch dims, data {shape:?})"
        );
        return Err(Error::new(Subject::Indices, message));
    }
    if tuples[..batch] != shape[..batch] {
        let message = format!("batch dims {:?}, expected {:?} (data {shape:?})", &tuples[..batch], &shape[..batch]);
        return Err(Error::new(Subject::Indices, message));
    }
    let shapes = IndexSpec::new(shape, batch, batch..batch + width, tuples);
    check_shape(&shapes.updates, Subject::Output)?;
    Ok(shapes)
}

/// Gathers the blocks at the index tuples `indices[i, …, :]` (ONNX GatherND-13, OpenVINO GatherND-8).
///
/// A tuple of k numbers addresses a block of shape `data.shape[batch_dims + k:]` in its own batch. The output has the
/// shape `indices.shape[:-1] ++ data.shape[batch_dims + k:]`. Negative indices count from the end.
///
/// ```
/// use ndarray::array;
/// use tensorop_kernels::gather_nd;
/// let data = array![[0, 1], [2, 3]];
/// assert_eq!(gather_nd(&data, &array![[0, 0], [1, 1]], 0)?, array![0, 3].into_dyn());
/// assert_eq!(gather_nd(&data, &array![[1], [0]], 1)?, array![1, 2].into_dyn());
/// # Ok::<(), tensorop_kernels::Error>(())
/// ```
///
/// # Errors
/// The batch dims, the tuples or an index does not fit, or the output is too large.
pub fn gather_nd<T: Copy>(
    data: &ArrayBase<impl Data<Elem = T>, impl Dimension>,
    indices: &ArrayBase<impl Data<Elem = impl Index>, impl Dimension>,
    batch_dims: usize,
) -> Result<ArrayD<T>> {
    let spec = check(data.shape(), indices.shape(), counted_dims(batch_dims))?;
    gathered(spec, indices, data, None)?.to_array()
}

/// Every number above int64 is too large.
pub(in crate::ops) fn counted_dims(batch_dims: usize) -> i64 {
    i64::try_from(batch_dims).unwrap_or(i64::MAX)
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
    let spec = check(data.shape(), indices.shape(), counted_dims(batch_dims))?;
    gathered(spec, indices, data, None)?.to_view(out)
}

#[cfg(test)]
mod tests {
    use ndarray::{Array1, Array2, Array3, array};

    use super::*;

    #[test]
    fn the_specifications_examples() {
        let two = array![[0, 1], [2, 3]];
        let cube = array![[[0, 1], [2, 3]], [[4, 5], [6, 7]]];
        type Row = (&'static str, ArrayD<i32>, ArrayD<i64>, usize, ArrayD<i32>);
        let rows: [Row; 5] = [
            ("1", two.clone().into_dyn(), array![[0, 0], [1, 1]].into_dyn(), 0, array![0, 3].into_dyn()),
            ("2", two.into_dyn(), array![[1], [0]].into_dyn(), 0, array![[2, 3], [0, 1]].into_dyn()),
            ("3", cube.clone().into_dyn(), array![[0, 1], [1, 0]].into_dyn(), 0, array![[2, 3], [4, 5]].into_dyn()),
            (
                "4",
                cube.clone().into_dyn(),
                array![[[0, 1]], [[1, 0]]].into_dyn(),
                0,
                array![[[2, 3]], [[4, 5]]].into_dyn(),
            ),
            ("5", cube.into_dyn(), array![[1], [0]].into_dyn(), 1, array![[2, 3], [4, 5]].into_dyn()),
        ];
        let failed: Vec<_> = rows
            .iter()
            .filter(|(_, data, indices, batch, wanted)| gather_nd(data, indices, *batch).as_ref() != Ok(wanted))
            .map(|(name, ..)| name)
            .collect();
        assert!(failed.is_empty(), "{failed:?}");
    }

    #[test]
    fn shapes_of_every_kind() {
        let data = Array3::from_shape_fn((2, 3, 4), |(i, j, k)| (i * 12 + j * 4 + k) as i16);
        let picked = gather_nd(&data, &Array3::from_elem((2, 3, 1), -1), 2).unwrap();
        assert_eq!(picked, array![[3, 7, 11], [15, 19, 23]].into_dyn());
        let whole = gather_nd(&data, &Array2::<i64>::zeros((2, 0)), 0).unwrap();
        assert_eq!(whole.shape(), [2, 2, 3, 4]);
        assert_eq!(whole.index_axis(ndarray::Axis(0), 1), data.clone().into_dyn());
        let batches = gather_nd(&data, &Array3::<i64>::zeros((2, 5, 0)), 1).unwrap();
        assert_eq!((batches.shape(), batches[[1, 4, 2, 3]]), (&[2, 5, 3, 4][..], 23));
        assert_eq!(gather_nd(&data, &Array2::<u8>::zeros((0, 1)), 0).unwrap().shape(), [0, 3, 4]);
        assert_eq!(gather_nd(&Array2::<u8>::zeros((2, 0)), &array![[1]], 0).unwrap().shape(), [1, 0]);
        assert_eq!(gather_nd(&data.t(), &array![[3, 2, 1], [0, 0, 0]], 0).unwrap(), array![23, 0].into_dyn());
    }

    #[test]
    fn refused() {
        let data = Array2::<u8>::zeros((2, 3));
        let error = |indices: ArrayD<i64>, batch| gather_nd(&data, &indices, batch).unwrap_err().to_string();
        let rows = [
            (
                error(array![[2]].into_dyn(), 0),
                "indices: 2 at [0, 0] is out of range: expected [-2, 1] on axis 0 (data [2, 3])",
            ),
            (
                error(array![[0], [-4]].into_dyn(), 1),
                "indices: -4 at [1, 0] is out of range: expected [-3, 2] on axis 1 (data [2, 3])",
            ),
            (
                error(array![[0, 0, 0]].into_dyn(), 0),
                "indices: tuples of 3 (shape [1, 3]), expected at most 2, the rank of data [2, 3]",
            ),
            (error(array![[0]].into_dyn(), 1), "indices: batch dims [1], expected [2] (data [2, 3])"),
            (error(array![[0]].into_dyn(), 2), "batch-dims: 2, expected 0 to 1 (data [2, 3], indices [1, 1])"),
            (
                check(&[2, 3], &[1], -1).unwrap_err().to_string(),
                "batch-dims: -1, expected 0 to 0 (data [2, 3], indices [1])",
            ),
            (check(&[2, 3], &[], 0).unwrap_err().to_string(), "indices: rank 0, expected at least 1 axis"),
            (check(&[], &[1], 0).unwrap_err().to_string(), "data: rank 0, expected at least 1 axis"),
        ];
        for (got, expected) in rows {
            assert_eq!(got, expected);
        }
        assert!(gather_nd(&Array2::<u8>::zeros((2, 0)), &array![[2]], 0).is_err());
        assert_eq!(gather_nd(&Array1::from(vec![1_u8]), &array![[0]], 0).unwrap(), array![1].into_dyn());
    }
}
