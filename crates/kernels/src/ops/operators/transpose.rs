//! Transpose: [ONNX](https://onnx.ai/onnx/operators/onnx__Transpose.html), OpenVINO
//! [Transpose-1](https://docs.openvino.ai/latest/documentation/openvino-ir-format/operation-sets/operation-specs/movement/transpose-1.html).

use ndarray::{Array, ArrayBase, ArrayViewMut, Data, Dimension};

use crate::error::{Error, Result, Subject, counted};
use crate::item::tensor::Tensor;
use crate::layout::view::View;
use crate::ops::arrays::{check_shape, named_axes};
use crate::ops::kernels::{Items, Output, Strided};

/// Returns the data's axis per output axis; an empty list (Transpose-1) reverses the axes.
///
/// # Errors
/// A shape or an argument does not fit.
pub fn check(shape: &[usize], axes: Option<&[i64]>) -> Result<Vec<usize>> {
    let rank = shape.len();
    check_shape(shape, Subject::Data)?;
    let Some(axes) = axes.filter(|axes| !axes.is_empty()) else { return Ok((0..rank).rev().collect()) };
    let order = named_axes(axes, rank, shape, Subject::Axes)?;
    match (0..rank).find(|axis| !order.contains(axis)) {
        None => Ok(order),
        Some(missing) => {
            let found = counted(axes.len(), "axis", "axes");
            let message = format!("{found}, expected each of the {rank}: axis {missing} is missing (data {shape:?})");
            Err(Error::new(Subject::Axes, message))
        }
    }
}

/// Copies `data`, in C order, with its axes permuted: output axis `n` is axis `axes[n]` (ONNX Transpose, OpenVINO
/// Transpose-1). No list, or an empty one, reverses them.
///
/// ```
/// use ndarray::array;
/// use tensorop_kernels::transpose;
/// let data = array![[0, 1, 2], [3, 4, 5]];
/// assert_eq!(transpose(&data, None)?, array![[0, 3], [1, 4], [2, 5]]);
/// assert_eq!(transpose(&data, Some(&[0, -1]))?, data);
/// # Ok::<(), tensorop_kernels::Error>(())
/// ```
///
/// # Errors
/// The rank exceeds 64, or `axes` does not name each axis once ([`Subject::Axes`]).
pub fn transpose<T: Copy, D: Dimension>(
    data: &ArrayBase<impl Data<Elem = T>, D>,
    axes: Option<&[i64]>,
) -> Result<Array<T, D>> {
    output(data, axes)?.to_array()
}

pub(in crate::ops) fn output<'a, T: Copy, D: Dimension>(
    data: &'a ArrayBase<impl Data<Elem = T>, D>,
    axes: Option<&[i64]>,
) -> Result<Output<'a, T>> {
    let order: Vec<_> = check(data.shape(), axes)?.into_iter().map(Some).collect();
    Ok(Output::view(Strided::of(data).along(&order), Items::single()))
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
    output(data, axes)?.to_view(out)
}

impl Tensor {
    /// Transposes a tensor of any dtype as [`transpose`](crate::transpose()) does.
    ///
    /// ```
    /// use tensorop_kernels::{DType, Tensor};
    /// let tensor = Tensor::new(DType::parse("S2")?, vec![2, 2], b"aabbccdd".to_vec())?;
    /// assert_eq!(tensor.transpose(None)?.bytes(), b"aaccbbdd");
    /// # Ok::<(), tensorop_kernels::Error>(())
    /// ```
    ///
    /// # Errors
    /// An argument does not fit, or memory runs out.
    pub fn transpose(&self, axes: Option<&[i64]>) -> Result<Self> {
        self.viewed(&View::c_order(self.shape()).with_axes(&check(self.shape(), axes)?))
    }
}

#[cfg(test)]
mod tests {
    use ndarray::{ArrayD, IxDyn};

    use super::*;
    use crate::layout::axis::MAX_RANK;

    fn plain(data: &ArrayD<i32>, order: &[usize]) -> ArrayD<i32> {
        let shape: Vec<usize> = order.iter().map(|&axis| data.shape()[axis]).collect();
        ArrayD::from_shape_fn(IxDyn(&shape), |at| {
            let mut from = vec![0; order.len()];
            order.iter().enumerate().for_each(|(n, &axis)| from[axis] = at[n]);
            data[IxDyn(&from)]
        })
    }

    fn counted(shape: &[usize]) -> ArrayD<i32> {
        let mut next = 0..;
        ArrayD::from_shape_simple_fn(IxDyn(shape), || next.next().unwrap())
    }

    #[test]
    fn every_order_of_three_axes() {
        let shapes: [&[usize]; 4] = [&[2, 3, 4], &[5, 1, 7], &[3, 0, 2], &[70, 33, 2]];
        for shape in shapes {
            let data = counted(shape);
            for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
                let expected = plain(&data, &order);
                let (typed, back) = (order.map(|axis| axis as i64), order.map(|axis| axis as i64 - 3));
                assert_eq!(transpose(&data, Some(&typed)).as_ref(), Ok(&expected), "{shape:?} {order:?}");
                assert_eq!(transpose(&data, Some(&back)).as_ref(), Ok(&expected), "{shape:?} {back:?}");
                let reversed = data.t().as_standard_layout().into_owned();
                assert_eq!(transpose(&reversed.t(), Some(&typed)).as_ref(), Ok(&expected), "{shape:?} {order:?}");
            }
            assert_eq!(transpose(&data, None).as_ref(), Ok(&plain(&data, &[2, 1, 0])));
            assert_eq!(transpose(&data, Some(&[])).as_ref(), Ok(&plain(&data, &[2, 1, 0])));
        }
    }

    #[test]
    fn few_axes_and_many() {
        let scalar = ndarray::arr0(7);
        assert_eq!((transpose(&scalar, None), transpose(&scalar, Some(&[]))), (Ok(scalar.clone()), Ok(scalar)));
        let row = ndarray::array![1, 2, 3];
        assert_eq!((transpose(&row, None), transpose(&row, Some(&[-1]))), (Ok(row.clone()), Ok(row)));
        let mut shape = vec![1; MAX_RANK];
        (shape[0], shape[31], shape[63]) = (3, 2, 5);
        let many = transpose(&counted(&shape), None).unwrap();
        shape.reverse();
        assert_eq!(many.shape(), shape);
        let items: Vec<i32> = many.iter().copied().take(7).collect();
        assert_eq!(items, [0, 10, 20, 5, 15, 25, 1]);
        let more = counted(&[1; MAX_RANK + 1]);
        assert_eq!(transpose(&more, None).unwrap_err().to_string(), "data: rank 65, expected at most 64");
    }

    #[test]
    fn refused() {
        let rows: [(&[usize], &[i64], &str); 8] = [
            (&[2, 3], &[0], "1 axis, expected each of the 2: axis 1 is missing (data [2, 3])"),
            (&[2, 3, 4], &[2, 0], "2 axes, expected each of the 3: axis 1 is missing (data [2, 3, 4])"),
            (&[2, 3], &[0, 0], "axis 0 is named twice: 0 at position 0, 0 at position 1 (data [2, 3])"),
            (&[2, 3], &[1, -1], "axis 1 is named twice: 1 at position 0, -1 at position 1 (data [2, 3])"),
            (&[2, 3], &[0, 2], "axis 2 at position 1, expected one of [-2, 1] (data [2, 3])"),
            (&[2, 3], &[-3, 0], "axis -3 at position 0, expected one of [-2, 1] (data [2, 3])"),
            (&[2], &[i64::MIN], "axis -9223372036854775808 at position 0, expected one of [-1, 0] (data [2])"),
            (&[], &[0], "axis 0 at position 0, a scalar has no axes (data [])"),
        ];
        for (shape, axes, message) in rows {
            let error = check(shape, Some(axes)).unwrap_err();
            assert_eq!((error.subject(), error.message()), (Subject::Axes, message));
        }
        assert_eq!(check(&[usize::MAX, 2], None).unwrap_err().subject(), Subject::Data);
    }
}
