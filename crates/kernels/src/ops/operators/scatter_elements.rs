//! ScatterElements: [ONNX](https://onnx.ai/onnx/operators/onnx__ScatterElements.html) 11 to 18 and
//! [Scatter](https://onnx.ai/onnx/operators/onnx__Scatter.html) 9, OpenVINO
//! [ScatterElementsUpdate-12](https://docs.openvino.ai/latest/documentation/openvino-ir-format/operation-sets/operation-specs/movement/scatter-elements-update-12.html).

use ndarray::{Array, ArrayBase, ArrayViewMut, Data, Dimension};

use super::scatter_nd::check_legal;
use crate::error::{Error, Result, Subject};
use crate::item::dtype::DType;
use crate::ops::arrays::{check_axis, check_extent, check_updates};
use crate::ops::indexed::{Index, IndexSpec};
use crate::ops::kernels::{Changed, Scattered, copied, copy_into};
use crate::ops::reduction::{Reducible, Reduction};
use crate::ops::tally::Application;

/// The reductions of ONNX and OpenVINO.
pub const REDUCTIONS: [Reduction; 6] =
    [Reduction::None, Reduction::Add, Reduction::Mul, Reduction::Max, Reduction::Min, Reduction::Mean];

/// Returns the version in an opset; 9 is Scatter.
pub fn version(opset: u64) -> u64 {
    [18, 16, 13, 11].into_iter().find(|&version| version <= opset).unwrap_or(9)
}

/// Without an opset, OpenVINO's rules apply.
///
/// # Errors
/// The opset or the dtype lacks the reduction.
pub fn application(opset: Option<u64>, reduction: Reduction, has_initial: bool, dtype: &DType) -> Result<Application> {
    if let Some(opset) = opset {
        if opset < 9 {
            let message = format!("ScatterElements begins with opset 9, as Scatter, got {opset}");
            return Err(Error::new(Subject::Opset, message));
        }
        check_legal(opset, reduction, dtype)?;
    }
    Application::new(dtype, reduction, has_initial)
}

/// Resolves the arguments.
///
/// # Errors
/// A shape or an argument does not fit.
pub fn check(shape: &[usize], indices: &[usize], updates: Option<&[usize]>, axis: i64) -> Result<IndexSpec> {
    let shapes = check_indices(shape, indices, axis)?;
    check_updates(updates, indices, shape, || format!("indices {indices:?}"))?;
    Ok(shapes)
}

pub(in crate::ops) fn check_indices(shape: &[usize], indices: &[usize], axis: i64) -> Result<IndexSpec> {
    let (start, rank) = (check_axis(shape, axis)?, shape.len());
    let refuse = |message| Err(Error::new(Subject::Indices, message));
    if indices.len() != rank {
        let found = indices.len();
        return refuse(format!("rank {found} (shape {indices:?}), expected {rank}, the rank of data {shape:?}"));
    }
    if let Some(long) = (0..rank).find(|&other| other != start && indices[other] > shape[other]) {
        let most = shape[long];
        let message =
            format!("shape {indices:?}, expected at most {most} on axis {long} (data {shape:?}, axis {start})");
        return refuse(message);
    }
    check_extent(indices, Subject::Indices)?;
    Ok(IndexSpec {
        updates: indices.to_vec(),
        has_tuple_axis: false,
        is_implied: true,
        ..IndexSpec::new(shape, 0, start..start + 1, indices)
    })
}

/// Copies `data` and puts `updates[i, …, j, …]` at place `indices[i, …, j, …]` of `axis` and at its own coordinates
/// elsewhere (ONNX ScatterElements-18).
///
/// `indices` and `updates` have one shape, at most that of `data` on other axes. Negative indices count from the end.
/// The last update in C order wins.
///
/// ```
/// use ndarray::array;
/// use tensorop_kernels::scatter_elements;
/// let out = scatter_elements(&array![[1.0, 2.0, 3.0, 4.0, 5.0]], &array![[1, 3]], &array![[1.1, 2.1]], 1)?;
/// assert_eq!(out, array![[1.0, 1.1, 3.0, 2.1, 5.0]]);
/// # Ok::<(), tensorop_kernels::Error>(())
/// ```
///
/// # Errors
/// The axis or an index is out of range, or the shapes do not fit.
pub fn scatter_elements<T: Copy, D: Dimension>(
    data: &ArrayBase<impl Data<Elem = T>, D>,
    indices: &ArrayBase<impl Data<Elem = impl Index>, impl Dimension>,
    updates: &ArrayBase<impl Data<Elem = T>, impl Dimension>,
    axis: i64,
) -> Result<Array<T, D>> {
    let spec = check(data.shape(), indices.shape(), Some(updates.shape()), axis)?;
    Scattered::of_array(spec, indices, updates)?.to_array(data)
}

/// Scatters as [`scatter_elements`] with a reduction, in C order, with one rounding per step in the item's own type;
/// without `use_init_val` (OpenVINO ScatterElementsUpdate-12) the items of `data` take no part.
///
/// ```
/// use ndarray::array;
/// use tensorop_kernels::{Reduction, scatter_elements_reduce};
/// let (data, indices, updates) = (array![8, 8, 8], array![2, 0, 2], array![1, 2, 4]);
/// assert_eq!(scatter_elements_reduce(&data, &indices, &updates, 0, Reduction::Add, true)?, array![10, 8, 13]);
/// assert_eq!(scatter_elements_reduce(&data, &indices, &updates, 0, Reduction::Mean, false)?, array![2, 8, 2]);
/// # Ok::<(), tensorop_kernels::Error>(())
/// ```
///
/// # Errors
/// The axis or an index is out of range, the shapes do not fit, or the type lacks the reduction.
pub fn scatter_elements_reduce<T: Reducible, D: Dimension>(
    data: &ArrayBase<impl Data<Elem = T>, D>,
    indices: &ArrayBase<impl Data<Elem = impl Index>, impl Dimension>,
    updates: &ArrayBase<impl Data<Elem = T>, impl Dimension>,
    axis: i64,
    reduction: Reduction,
    use_init_val: bool,
) -> Result<Array<T, D>> {
    let scatter = ElementsReduction::new(data.shape(), indices, updates, axis, reduction, use_init_val)?;
    let mut out = copied(data)?;
    scatter.apply(out.view_mut())?;
    Ok(out)
}

/// A scatter of single items with a reduction, with every check done.
pub(in crate::ops) struct ElementsReduction<'a, T: Clone> {
    scattered: Scattered<'a, T>,
    application: Application,
    reduction: Reduction,
}

impl<'a, T: Reducible> ElementsReduction<'a, T> {
    pub(in crate::ops) fn new(
        shape: &[usize],
        indices: &ArrayBase<impl Data<Elem = impl Index>, impl Dimension>,
        updates: &'a ArrayBase<impl Data<Elem = T>, impl Dimension>,
        axis: i64,
        reduction: Reduction,
        use_init_val: bool,
    ) -> Result<Self> {
        let spec = check(shape, indices.shape(), Some(updates.shape()), axis)?;
        if reduction == Reduction::Sub {
            return Err(Error::new(Subject::Reduction, "only OpenVINO's ScatterNDUpdate-15 has sub"));
        }
        let application = Application::new(&T::dtype(), reduction, use_init_val)?;
        let scattered = Scattered::of_array(spec, indices, updates)?;
        Ok(Self { scattered, application, reduction })
    }

    pub(in crate::ops) fn apply<D: Dimension>(self, data: ArrayViewMut<'_, T, D>) -> Result<()> {
        let mut data = Changed::of(data);
        match self.application {
            Application::Fold(fold) => self.scattered.fold_elements(fold, &mut data),
            Application::Replace | Application::Combine(_) => {
                let items = T::on_items(self.reduction).expect("it is defined on bytes, too");
                self.scattered.combine(&mut data, items);
                Ok(())
            }
        }
    }
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
    let spec = check(data.shape(), indices.shape(), Some(updates.shape()), axis)?;
    Scattered::of_array(spec, indices, updates)?.to_view(data, out)
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
    let scatter = ElementsReduction::new(data.shape(), indices, updates, axis, reduction, use_init_val)?;
    copy_into(data, out.view_mut())?;
    scatter.apply(out)
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
    let spec = check(data.shape(), indices.shape(), Some(updates.shape()), axis)?;
    Scattered::of_array(spec, indices, updates)?.put(data.view_mut());
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

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{Array2, ArrayD, IxDyn, arr0, array};

    #[test]
    fn the_specifications_examples() {
        let indices = array![[1, 0, 2], [0, 2, 1]];
        let updates = array![[1.0, 1.1, 1.2], [2.0, 2.1, 2.2]];
        let wanted = array![[2.0, 1.1, 0.0], [1.0, 0.0, 2.2], [0.0, 2.1, 1.2]];
        assert_eq!(scatter_elements(&Array2::zeros((3, 3)), &indices, &updates, 0).unwrap(), wanted);
        let line = array![[1.0, 2.0, 3.0, 4.0, 5.0]];
        let wanted = array![[1.0, 1.1, 3.0, 2.1, 5.0]];
        assert_eq!(scatter_elements(&line, &array![[1, 3]], &array![[1.1, 2.1]], 1).unwrap(), wanted);
        let (data, indices, updates) = (array![0, 10, 0, 0], array![0, 0, 2, 2, 3], array![5, 6, 7, 8, 9]);
        let reduced =
            |reduction, initial| scatter_elements_reduce(&data, &indices, &updates, 0, reduction, initial).unwrap();
        assert_eq!(reduced(Reduction::Add, false), array![11, 10, 15, 9]);
        assert_eq!(reduced(Reduction::Mean, true), array![3, 10, 5, 4]);
        assert_eq!(reduced(Reduction::Mean, false), array![5, 10, 7, 9]);
    }

    fn by_loops(data: &ArrayD<i64>, indices: &ArrayD<i64>, updates: &ArrayD<i64>, axis: usize) -> ArrayD<i64> {
        let mut out = data.clone();
        for (at, &number) in indices.indexed_iter() {
            let mut place = at.slice().to_vec();
            place[axis] = (number + if number < 0 { data.shape()[axis] as i64 } else { 0 }) as usize;
            out[IxDyn(&place)] += updates[&at];
        }
        out
    }

    #[test]
    fn every_axis_of_any_shape() {
        let rows: [(&[usize], &[usize]); 9] = [
            (&[7], &[500]),
            (&[3, 4, 5], &[3, 4, 5]),
            (&[3, 4, 5], &[2, 4, 4]),
            (&[3, 1, 5], &[3, 1, 5]),
            (&[1, 1, 1], &[1, 1, 1]),
            (&[300, 2, 2], &[250, 2, 2]),
            (&[2, 300], &[1, 299]),
            (&[2, 2, 2, 2, 2, 2, 2, 2, 2], &[2, 2, 1, 2, 2, 2, 2, 2, 2]),
            (&[3, 0, 5], &[3, 0, 5]),
        ];
        for (shape, index_shape) in rows {
            let array = |shape: &[usize], of: &dyn Fn(i64) -> i64| {
                let items = (0..shape.iter().product::<usize>() as i64).map(of).collect();
                ArrayD::from_shape_vec(IxDyn(shape), items).unwrap()
            };
            let data = array(shape, &|n| n * 1000);
            let updates = array(index_shape, &|n| n * n + 1);
            for axis in (0..shape.len()).filter(|&axis| index_shape[axis] > 0 || shape[axis] == 0) {
                let dim = shape[axis] as i64;
                let indices = array(index_shape, &|n| (n * 7919 + n / 3) % (2 * dim) - dim);
                let wanted = by_loops(&data, &indices, &updates, axis);
                let negative = axis as i64 - shape.len() as i64;
                for axis in [axis as i64, negative] {
                    let found = scatter_elements_reduce(&data, &indices, &updates, axis, Reduction::Add, true);
                    assert_eq!(found.unwrap(), wanted, "{shape:?}, {index_shape:?}, axis {axis}");
                }
            }
        }
    }

    #[test]
    fn refused() {
        let data = Array2::<f32>::zeros((3, 4));
        let error = |indices: Array2<i64>, updates: (usize, usize), axis| {
            scatter_elements(&data, &indices, &Array2::zeros(updates), axis).unwrap_err().to_string()
        };
        let rows = [
            (error(Array2::zeros((3, 4)), (3, 4), 2), "axis: 2 is outside [-2, 1] (data [3, 4])"),
            (
                error(Array2::zeros((4, 2)), (4, 2), 1),
                "indices: shape [4, 2], expected at most 3 on axis 0 (data [3, 4], axis 1)",
            ),
            (
                error(Array2::zeros((1, 2)), (1, 3), 1),
                "updates: shape [1, 3], expected [1, 2] (data [3, 4] with indices [1, 2])",
            ),
            (
                error(array![[0, 0], [0, 3]], (2, 2), 0),
                "indices: 3 at [1, 1] is out of range: expected [-3, 2] on axis 0 (data [3, 4])",
            ),
            (
                error(array![[0, -5]], (1, 2), 1),
                "indices: -5 at [0, 1] is out of range: expected [-4, 3] on axis 1 (data [3, 4])",
            ),
        ];
        for (got, expected) in rows {
            assert_eq!(got, expected);
        }
        let flat = scatter_elements(&data, &array![0], &array![0.0], 0).unwrap_err().to_string();
        assert_eq!(flat, "indices: rank 1 (shape [1]), expected 2, the rank of data [3, 4]");
        assert!(scatter_elements(&arr0(1), &arr0(0), &arr0(1), 0).is_err());
        let none = scatter_elements(&Array2::<u8>::zeros((0, 2)), &array![[0]], &array![[1]], 0).unwrap_err();
        assert_eq!(none.to_string(), "indices: 0 at [0, 0] is out of range: there is no place on axis 0 (data [0, 2])");
        let sub = scatter_elements_reduce(&array![1], &array![0], &array![1], 0, Reduction::Sub, true).unwrap_err();
        assert_eq!(sub.to_string(), "reduction: only OpenVINO's ScatterNDUpdate-15 has sub");
        let huge = check(&[3, 4], &[1 << 62, 4], None, 0).unwrap_err().to_string();
        assert_eq!(huge, "indices: more items than can be counted (shape [4611686018427387904, 4])");
        assert!(check(&[3, 0], &[1 << 62, 0], None, 0).is_ok());
    }

    #[test]
    fn opsets() {
        use Reduction::{Add, Max, Mean, None};
        let check = |opset, reduction, dtype: &str| {
            application(Some(opset), reduction, true, &DType::parse(dtype).unwrap()).map_err(|e| e.to_string()).err()
        };
        for (opset, found) in [(9, 9), (10, 9), (11, 11), (12, 11), (13, 13), (15, 13), (16, 16), (18, 18), (99, 18)] {
            assert_eq!(version(opset), found, "{opset}");
            assert_eq!(check(opset, None, "float32"), Option::None, "{opset}");
            assert_eq!(check(opset, Add, "float32").is_none(), opset >= 16, "{opset}");
            assert_eq!(check(opset, Max, "float32").is_none(), opset >= 18, "{opset}");
            assert_eq!(check(opset, None, "bfloat16").is_none(), opset >= 13, "{opset}");
        }
        assert_eq!(check(8, None, "int8").unwrap(), "opset: ScatterElements begins with opset 9, as Scatter, got 8");
        assert_eq!(check(18, Mean, "int8").unwrap(), "reduction: no opset allows mean");
    }
}
