//! GatherElements: [ONNX](https://onnx.ai/onnx/operators/onnx__GatherElements.html) 11 and 13, OpenVINO
//! [GatherElements-6](https://docs.openvino.ai/latest/documentation/openvino-ir-format/operation-sets/operation-specs/movement/gather-elements-6.html).

use ndarray::{Array, ArrayBase, ArrayViewMut, Data, Dimension};

use super::scatter_elements::check_indices;
use crate::error::Result;
use crate::ops::indexed::{Index, IndexSpec};
use crate::ops::kernels::gathered;

/// Resolves the arguments.
pub(crate) fn check(shape: &[usize], indices: &[usize], axis: i64) -> Result<IndexSpec> {
    check_indices(shape, indices, axis)
}

/// Gathers one item per index: from place `indices[i, …, j, …]` of `axis`, and from the index's own coordinates
/// elsewhere (ONNX GatherElements-13, OpenVINO GatherElements-6).
///
/// The output has the shape of `indices`, which has the rank of `data` and at most its dims on other axes. Negative
/// indices count from the end.
///
/// ```
/// use ndarray::array;
/// use tensorop_kernels::gather_elements;
/// let out = gather_elements(&array![[1, 2], [3, 4]], &array![[0, 0], [1, 0]], 1)?;
/// assert_eq!(out, array![[1, 1], [4, 3]]);
/// # Ok::<(), tensorop_kernels::Error>(())
/// ```
///
/// # Errors
/// The axis or an index is out of range, or the shapes do not fit.
pub fn gather_elements<T: Copy, D: Dimension>(
    data: &ArrayBase<impl Data<Elem = T>, impl Dimension>,
    indices: &ArrayBase<impl Data<Elem = impl Index>, D>,
    axis: i64,
) -> Result<Array<T, D>> {
    let spec = check(data.shape(), indices.shape(), axis)?;
    gathered(spec, indices, data, None)?.to_array()
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
    let spec = check(data.shape(), indices.shape(), axis)?;
    gathered(spec, indices, data, None)?.to_view(out)
}

#[cfg(test)]
mod tests {
    use ndarray::{Array2, Array3, arr0, array};

    use super::*;

    #[test]
    fn the_specifications_examples() {
        let two = gather_elements(&array![[1, 2], [3, 4]], &array![[0, 0], [1, 0]], 1).unwrap();
        assert_eq!(two, array![[1, 1], [4, 3]]);
        let nine = array![[1, 2, 3], [4, 5, 6], [7, 8, 9]];
        assert_eq!(gather_elements(&nine, &array![[1, 2, 0], [2, 0, 0]], 0).unwrap(), array![[4, 8, 3], [7, 2, 3]]);
        assert_eq!(gather_elements(&nine, &array![[-1, -2, 0], [-2, 0, 0]], 0).unwrap(), array![[7, 5, 3], [4, 2, 3]]);
        let cube = Array3::from_shape_fn((3, 2, 2), |(i, j, k)| i * 4 + j * 2 + k + 1);
        let found = gather_elements(&cube, &array![[[1, 0, 1], [0, 1, -1]]], 2).unwrap();
        assert_eq!(found, array![[[2, 1, 2], [3, 4, 4]]]);
    }

    #[test]
    fn shapes_of_every_kind() {
        let data = Array3::from_shape_fn((4, 300, 3), |(i, j, k)| i * 1000 + j * 3 + k);
        for axis in 0..3_usize {
            let dim = data.shape()[axis];
            let mut shape = [3, 299, 2];
            shape[axis] = 7;
            let indices =
                Array3::from_shape_fn(shape, |(i, j, k)| ((i * 31 + j * 17 + k * 5) % (2 * dim)) as i64 - dim as i64);
            let wanted = Array3::from_shape_fn(shape, |(i, j, k)| {
                let mut at = [i, j, k];
                at[axis] = indices[at].rem_euclid(dim as i64) as usize;
                data[at]
            });
            assert_eq!(gather_elements(&data, &indices, axis as i64).unwrap(), wanted, "axis {axis}");
            let turned = data.t().into_owned();
            let found = gather_elements(&turned, &indices.t(), -1 - axis as i64).unwrap();
            assert_eq!(found, wanted.t(), "axis {axis} from the end");
        }
        let none = gather_elements(&data, &Array3::<i64>::zeros((0, 3, 3)), 0).unwrap();
        assert_eq!(none.shape(), [0, 3, 3]);
        assert_eq!(
            gather_elements(&Array2::<u8>::zeros((2, 0)), &Array2::<i8>::zeros((9, 0)), 0).unwrap().shape(),
            [9, 0]
        );
    }

    #[test]
    fn refused() {
        let data = Array2::<u8>::zeros((2, 3));
        let error = |indices: Array2<i64>, axis| gather_elements(&data, &indices, axis).unwrap_err().to_string();
        let rows = [
            (
                error(array![[0], [3]], 1),
                "indices: 3 at [1, 0] is out of range: expected [-3, 2] on axis 1 (data [2, 3])",
            ),
            (
                error(array![[0, -3]], 0),
                "indices: -3 at [0, 1] is out of range: expected [-2, 1] on axis 0 (data [2, 3])",
            ),
            (
                error(array![[0, 0, 0, 0]], 0),
                "indices: shape [1, 4], expected at most 3 on axis 1 (data [2, 3], axis 0)",
            ),
            (error(array![[0]], -3), "axis: -3 is outside [-2, 1] (data [2, 3])"),
        ];
        for (got, expected) in rows {
            assert_eq!(got, expected);
        }
        assert!(gather_elements(&data, &array![0], 0).is_err());
        assert!(gather_elements(&arr0(1), &arr0(0), 0).is_err());
    }
}
