//! ScatterND: [ONNX](https://onnx.ai/onnx/operators/onnx__ScatterND.html) 11 to 18, and with the reduction `sub`
//! OpenVINO
//! [ScatterNDUpdate-15](https://docs.openvino.ai/2025/documentation/openvino-ir-format/operation-sets/operation-specs/movement/scatter-nd-update-15.html).

use ndarray::{Array, ArrayBase, ArrayViewMut, Data, Dimension};

use crate::error::{Error, Result, Subject};
use crate::item::dtype::{DType, Kind};
use crate::ops::arrays::{check_rank, check_updates};
use crate::ops::indexed::{Index, IndexSpec};
use crate::ops::kernels::{Changed, Scattered, copied, copy_into};
use crate::ops::reduction::{CombineItems, Reducible, Reduction};
use crate::ops::tally::Application;

/// The reductions of ONNX and OpenVINO.
pub const REDUCTIONS: [Reduction; 6] =
    [Reduction::None, Reduction::Add, Reduction::Sub, Reduction::Mul, Reduction::Max, Reduction::Min];

/// Returns the version in an opset.
pub fn version(opset: u64) -> u64 {
    [18, 16, 13].into_iter().find(|&version| version <= opset).unwrap_or(11)
}

/// Without an opset, OpenVINO's rules apply.
///
/// # Errors
/// The opset or the dtype lacks the reduction.
pub fn application(opset: Option<u64>, reduction: Reduction, dtype: &DType) -> Result<Application> {
    if let Some(opset) = opset {
        if opset < 11 {
            return Err(Error::new(Subject::Opset, format!("ScatterND begins with opset 11, got {opset}")));
        }
        check_legal(opset, reduction, dtype)?;
    }
    Application::new(dtype, reduction, true)
}

pub(in crate::ops) fn check_legal(opset: u64, reduction: Reduction, dtype: &DType) -> Result<()> {
    let first = match reduction {
        Reduction::None => 0,
        Reduction::Add | Reduction::Mul => 16,
        Reduction::Max | Reduction::Min => 18,
        Reduction::Sub => {
            let message = "sub is OpenVINO's (ScatterNDUpdate-15), not ONNX's";
            return Err(Error::new(Subject::Reduction, message));
        }
        Reduction::Mean => return Err(Error::new(Subject::Reduction, "no opset allows mean")),
    };
    if opset < first {
        let message = format!("{} is allowed from opset {first} on, got opset {opset}", reduction.name());
        return Err(Error::new(Subject::Reduction, message));
    }
    if opset < 13 && *dtype.kind() == Kind::BFloat16 {
        let message = format!("dtype bfloat16 is allowed from opset 13 on, got opset {opset}");
        return Err(Error::new(Subject::Data, message));
    }
    Ok(())
}

/// Resolves the arguments.
///
/// # Errors
/// A shape or an argument does not fit.
pub fn check(shape: &[usize], indices: &[usize], updates: Option<&[usize]>) -> Result<IndexSpec> {
    let rank = check_rank(shape)?;
    let (width, tuples) = check_tuples(indices, rank, shape)?;
    let shapes = IndexSpec::new(shape, 0, 0..width, tuples);
    check_updates(updates, &shapes.updates, shape, || format!("indices {indices:?}"))?;
    Ok(shapes)
}

pub(in crate::ops) fn check_tuples<'i>(
    indices: &'i [usize],
    most: usize,
    shape: &[usize],
) -> Result<(usize, &'i [usize])> {
    let Some((&width, tuples)) = indices.split_last() else {
        return Err(Error::new(Subject::Indices, "rank 0, expected at least 1 axis"));
    };
    if width > most {
        let message =
            format!("tuples of {width} (shape {indices:?}), expected at most {most}, the rank of data {shape:?}");
        return Err(Error::new(Subject::Indices, message));
    }
    // empty tuples take no memory
    if tuples.iter().try_fold(1_usize, |n, &dim| n.checked_mul(dim)).is_none() {
        let message = format!("more tuples than can be counted (shape {indices:?})");
        return Err(Error::new(Subject::Indices, message));
    }
    Ok((width, tuples))
}

/// Copies `data` and puts `updates[i, …]` at the block of index tuple `indices[i, …, :]` (ONNX ScatterND-18).
///
/// A tuple of k numbers addresses a block of shape `data.shape[k:]`; `updates` has the shape `indices.shape[:-1] ++
/// data.shape[k:]`. Negative indices count from the end. The last of equal tuples wins.
///
/// ```
/// use ndarray::array;
/// use tensorop_kernels::scatter_nd;
/// let out = scatter_nd(&array![1, 2, 3, 4, 5, 6, 7, 8], &array![[4], [3], [1], [7]], &array![9, 10, 11, 12])?;
/// assert_eq!(out, array![1, 11, 3, 10, 9, 6, 7, 12]);
/// # Ok::<(), tensorop_kernels::Error>(())
/// ```
///
/// # Errors
/// The tuples, an index or the shapes do not fit.
pub fn scatter_nd<T: Copy, D: Dimension>(
    data: &ArrayBase<impl Data<Elem = T>, D>,
    indices: &ArrayBase<impl Data<Elem = impl Index>, impl Dimension>,
    updates: &ArrayBase<impl Data<Elem = T>, impl Dimension>,
) -> Result<Array<T, D>> {
    let spec = check(data.shape(), indices.shape(), Some(updates.shape()))?;
    Scattered::of_array(spec, indices, updates)?.to_array(data)
}

/// Scatters as [`scatter_nd`] with a reduction, in C order, with one rounding per step in the item's own type.
///
/// ```
/// use ndarray::array;
/// use tensorop_kernels::{Reduction, scatter_nd_reduce};
/// let gradient = scatter_nd_reduce(&array![0.0, 0.0, 0.0], &array![[2], [0], [2]], &array![0.5, 1.0, 0.25], Reduction::Add)?;
/// assert_eq!(gradient, array![1.0, 0.0, 0.75]);
/// # Ok::<(), tensorop_kernels::Error>(())
/// ```
///
/// # Errors
/// The tuples, an index or the shapes do not fit, or the type lacks the reduction.
pub fn scatter_nd_reduce<T: Reducible, D: Dimension>(
    data: &ArrayBase<impl Data<Elem = T>, D>,
    indices: &ArrayBase<impl Data<Elem = impl Index>, impl Dimension>,
    updates: &ArrayBase<impl Data<Elem = T>, impl Dimension>,
    reduction: Reduction,
) -> Result<Array<T, D>> {
    let operation = operation::<T>(reduction)?;
    let spec = check(data.shape(), indices.shape(), Some(updates.shape()))?;
    let scattered = Scattered::of_array(spec, indices, updates)?;
    let mut out = copied(data)?;
    scattered.combine(&mut Changed::of(out.view_mut()), operation);
    Ok(out)
}

pub(in crate::ops) fn operation<T: Reducible>(reduction: Reduction) -> Result<CombineItems<T>> {
    if reduction == Reduction::Mean {
        return Err(Error::new(Subject::Reduction, "only OpenVINO's ScatterElementsUpdate-12 has mean"));
    }
    let refuse = || Error::new(Subject::Reduction, format!("{} is not defined for this type", reduction.name()));
    T::on_items(reduction).ok_or_else(refuse)
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
    let spec = check(data.shape(), indices.shape(), Some(updates.shape()))?;
    Scattered::of_array(spec, indices, updates)?.to_view(data, out)
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
    let operation = operation::<T>(reduction)?;
    let spec = check(data.shape(), indices.shape(), Some(updates.shape()))?;
    let scattered = Scattered::of_array(spec, indices, updates)?;
    copy_into(data, out.view_mut())?;
    scattered.combine(&mut Changed::of(out), operation);
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
    let spec = check(data.shape(), indices.shape(), Some(updates.shape()))?;
    Scattered::of_array(spec, indices, updates)?.put(data.view_mut());
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
    let operation = operation::<T>(reduction)?;
    let spec = check(data.shape(), indices.shape(), Some(updates.shape()))?;
    let scattered = Scattered::of_array(spec, indices, updates)?;
    scattered.combine(&mut Changed::of(data.view_mut()), operation);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{Array1, Array2, Array3, arr0, array};

    fn document() -> Array3<i32> {
        let rows = [[1, 2, 3, 4], [5, 6, 7, 8], [8, 7, 6, 5], [4, 3, 2, 1]];
        Array3::from_shape_fn((4, 4, 4), |(i, j, k)| rows[if i < 2 { j } else { [2, 3, 0, 1][j] }][k])
    }

    #[test]
    fn the_specifications_examples() {
        let one = scatter_nd(&array![1, 2, 3, 4, 5, 6, 7, 8], &array![[4], [3], [1], [7]], &array![9, 10, 11, 12]);
        assert_eq!(one.unwrap(), array![1, 11, 3, 10, 9, 6, 7, 12]);
        let updates = Array3::from_shape_fn((2, 4, 4), |(i, j, _)| (4 - 4 * i + j + 1) as i32);
        let two = scatter_nd(&document(), &array![[0], [2]], &updates).unwrap();
        for ((i, j, k), &item) in two.indexed_iter() {
            let expected = match i {
                0 => 5 + j as i32,
                2 => 1 + j as i32,
                _ => document()[[i, j, k]],
            };
            assert_eq!(item, expected, "{i} {j} {k}");
        }
    }

    #[test]
    fn lengths_of_tuples() {
        let data = array![[1, 2, 3], [4, 5, 6]];
        let points = scatter_nd(&data, &array![[0, -1], [1, 0]], &array![30, 40]).unwrap();
        assert_eq!(points, array![[1, 2, 30], [40, 5, 6]]);
        let whole =
            scatter_nd(&data, &Array2::<i64>::zeros((2, 0)), &array![[[0, 0, 0], [0, 0, 0]], [[9, 8, 7], [6, 5, 4]]])
                .unwrap();
        assert_eq!(whole, array![[9, 8, 7], [6, 5, 4]]);
        let sum =
            scatter_nd_reduce(&data, &Array1::<i64>::zeros(0), &array![[1, 1, 1], [1, 1, 1]], Reduction::Add).unwrap();
        assert_eq!(sum, array![[2, 3, 4], [5, 6, 7]]);
        let none = scatter_nd(&data, &Array2::<i64>::zeros((0, 1)), &Array2::zeros((0, 3))).unwrap();
        assert_eq!(none, data);
        let empty = Array2::<u8>::zeros((2, 0));
        assert_eq!(scatter_nd(&empty, &array![[1], [1]], &Array2::zeros((2, 0))).unwrap(), empty);
    }

    #[test]
    fn refused() {
        let data = Array2::<f32>::zeros((3, 4));
        let error =
            |indices: Array2<i64>, updates: Array2<f32>| scatter_nd(&data, &indices, &updates).unwrap_err().to_string();
        let rows = [
            (
                error(array![[0, 0, 0]], array![[0.0]]),
                "indices: tuples of 3 (shape [1, 3]), expected at most 2, the rank of data [3, 4]",
            ),
            (
                error(array![[0]], array![[0.0]]),
                "updates: shape [1, 1], expected [1, 4] (data [3, 4] with indices [1, 1])",
            ),
            (
                error(array![[0], [3]], Array2::zeros((2, 4))),
                "indices: 3 at [1, 0] is out of range: expected [-3, 2] on axis 0 (data [3, 4])",
            ),
            (
                error(array![[-4]], Array2::zeros((1, 4))),
                "indices: -4 at [0, 0] is out of range: expected [-3, 2] on axis 0 (data [3, 4])",
            ),
        ];
        for (got, expected) in rows {
            assert_eq!(got, expected);
        }
        assert!(scatter_nd(&data, &arr0(0), &array![[0.0]]).is_err());
        assert!(scatter_nd(&arr0(0.0), &array![[0]], &array![0.0]).is_err());
        assert!(scatter_nd(&Array2::<u8>::zeros((0, 3)), &array![[0]], &Array2::zeros((1, 3))).is_err());
    }

    #[test]
    fn opsets() {
        use Reduction::{Add, Max, Min, Mul, None};
        let check = |opset, reduction, dtype: &str| {
            application(Some(opset), reduction, &DType::parse(dtype).unwrap()).map_err(|e| e.to_string()).err()
        };
        for (opset, allowed) in [(11, 1), (12, 1), (13, 1), (15, 1), (16, 3), (17, 3), (18, 5), (99, 5)] {
            for (i, reduction) in [None, Add, Mul, Max, Min].into_iter().enumerate() {
                assert_eq!(check(opset, reduction, "float32").is_none(), i < allowed, "{opset} {reduction:?}");
            }
            assert_eq!(check(opset, None, "bfloat16").is_none(), opset >= 13);
        }
        assert_eq!(check(16, Max, "int8").unwrap(), "reduction: max is allowed from opset 18 on, got opset 16");
        assert_eq!(
            check(12, None, "bfloat16").unwrap(),
            "data: dtype bfloat16 is allowed from opset 13 on, got opset 12"
        );
        assert_eq!(check(10, None, "int8").unwrap(), "opset: ScatterND begins with opset 11, got 10");
        assert_eq!(check(11, None, "V3"), Option::None);
    }
}
