//! ScatterUpdate: OpenVINO
//! [ScatterUpdate-3](https://docs.openvino.ai/latest/documentation/openvino-ir-format/operation-sets/operation-specs/movement/scatter-update-3.html).

use ndarray::{Array, ArrayBase, ArrayViewMut, Data, Dimension};

use crate::error::Result;
use crate::ops::arrays::{check_axis, check_updates};
use crate::ops::indexed::{Index, IndexSpec};
use crate::ops::kernels::Scattered;

/// Resolves the arguments.
///
/// # Errors
/// A shape or an argument does not fit.
pub fn check(shape: &[usize], indices: &[usize], updates: Option<&[usize]>, axis: i64) -> Result<IndexSpec> {
    let axis = check_axis(shape, axis)?;
    let shapes = IndexSpec::new(shape, 0, axis..axis + 1, indices);
    check_updates(updates, &shapes.updates, shape, || format!("indices {indices:?} on axis {axis}"))?;
    Ok(IndexSpec { has_tuple_axis: false, counts_from_end: false, ..shapes })
}

/// Copies `data` and puts `updates[…, m, …, …]` at place `indices[m, …]` of `axis` (OpenVINO ScatterUpdate-3).
///
/// `updates` has the shape `data.shape[:axis] ++ indices.shape ++ data.shape[axis + 1:]`. The last of equal indices
/// wins.
///
/// ```
/// use ndarray::array;
/// use tensorop_kernels::scatter_update;
/// let data = array![[-1, 1, -1, 3, 4], [-1, 6, -1, 8, 9], [-1, 11, 1, 13, 14]];
/// let out = scatter_update(&data, &array![0, 2], &array![[1, 1], [1, 1], [1, 2]], 1)?;
/// assert_eq!(out, array![[1, 1, 1, 3, 4], [1, 6, 1, 8, 9], [1, 11, 2, 13, 14]]);
/// # Ok::<(), tensorop_kernels::Error>(())
/// ```
///
/// # Errors
/// The axis or an index is out of range (negative indices are), or the shapes do not fit.
pub fn scatter_update<T: Copy, D: Dimension>(
    data: &ArrayBase<impl Data<Elem = T>, D>,
    indices: &ArrayBase<impl Data<Elem = impl Index>, impl Dimension>,
    updates: &ArrayBase<impl Data<Elem = T>, impl Dimension>,
    axis: i64,
) -> Result<Array<T, D>> {
    let spec = check(data.shape(), indices.shape(), Some(updates.shape()), axis)?;
    Scattered::of_array(spec, indices, updates)?.to_array(data)
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
    let spec = check(data.shape(), indices.shape(), Some(updates.shape()), axis)?;
    Scattered::of_array(spec, indices, updates)?.to_view(data, out)
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
    let spec = check(data.shape(), indices.shape(), Some(updates.shape()), axis)?;
    Scattered::of_array(spec, indices, updates)?.put(data.view_mut());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{Array1, Array2, ArrayD, IxDyn, arr0, array};

    #[test]
    fn the_specifications_examples() {
        let data = array![[-1.0, 1.0, -1.0, 3.0, 4.0], [-1.0, 6.0, -1.0, 8.0, 9.0], [-1.0, 11.0, 1.0, 13.0, 14.0]];
        let out = scatter_update(&data, &array![0, 2], &array![[1.0, 1.0], [1.0, 1.0], [1.0, 2.0]], 1).unwrap();
        assert_eq!(out, array![[1.0, 1.0, 1.0, 3.0, 4.0], [1.0, 6.0, 1.0, 8.0, 9.0], [1.0, 11.0, 2.0, 13.0, 14.0]]);
        let data = ArrayD::<u16>::zeros(IxDyn(&[10, 25, 2, 3]));
        let indices = Array2::from_shape_fn((12, 5), |(i, j)| (i * 5 + j) % 25);
        let updates = ArrayD::from_shape_fn(IxDyn(&[10, 12, 5, 2, 3]), |i| (i[1] * 5 + i[2]) as u16);
        let out = scatter_update(&data, &indices, &updates, 1).unwrap();
        for (at, &item) in out.indexed_iter() {
            let last = (0..60).rev().find(|p| p % 25 == at[1]).unwrap();
            assert_eq!(usize::from(item), last);
        }
    }

    #[test]
    fn ranks_of_indices() {
        let data = array![[1, 2], [3, 4], [5, 6]];
        assert_eq!(scatter_update(&data, &arr0(1), &array![0, 9], 0).unwrap(), array![[1, 2], [0, 9], [5, 6]]);
        assert_eq!(
            scatter_update(&data, &array![[2], [0]], &array![[[7, 8]], [[0, 9]]], -2).unwrap(),
            array![[0, 9], [3, 4], [7, 8]]
        );
        assert_eq!(scatter_update(&data, &Array1::<u8>::zeros(0), &Array2::zeros((0, 2)), 0).unwrap(), data);
    }

    #[test]
    fn refused() {
        let data = Array2::<u8>::zeros((3, 5));
        let error = |indices: Array1<i64>, updates: (usize, usize), axis| {
            scatter_update(&data, &indices, &Array2::zeros(updates), axis).unwrap_err().to_string()
        };
        let rows = [
            (error(array![0], (3, 1), 2), "axis: 2 is outside [-2, 1] (data [3, 5])"),
            (
                error(array![0], (1, 3), 1),
                "updates: shape [1, 3], expected [3, 1] (data [3, 5] with indices [1] on axis 1)",
            ),
            (
                error(array![0, -1], (3, 2), 1),
                "indices: -1 at [1] is out of range: expected [0, 4] on axis 1 (data [3, 5]); the specification counts no \
                 index from the end: write 4 for that place",
            ),
            (
                error(array![-5, 0], (3, 2), 1),
                "indices: -5 at [0] is out of range: expected [0, 4] on axis 1 (data [3, 5]); the specification counts no \
                 index from the end: write 0 for that place",
            ),
            (
                error(array![-6], (3, 1), 1),
                "indices: -6 at [0] is out of range: expected [0, 4] on axis 1 (data [3, 5])",
            ),
            (
                error(array![5], (3, 1), -1),
                "indices: 5 at [0] is out of range: expected [0, 4] on axis 1 (data [3, 5])",
            ),
        ];
        for (got, expected) in rows {
            assert_eq!(got, expected);
        }
        let empty = Array2::<u8>::zeros((2, 0));
        assert!(scatter_update(&empty, &array![2], &Array2::zeros((1, 0)), 0).is_err());
        assert!(scatter_update(&arr0(1), &array![0], &array![1], 0).is_err());
    }
}
