//! [Reshape](https://onnx.ai/onnx/operators/onnx__Reshape.html) of ONNX 5 to 25 and OpenVINO
//! [Reshape-1](https://docs.openvino.ai/latest/documentation/openvino-ir-format/operation-sets/operation-specs/shape/reshape-1.html)
//! (`special_zero` is the opposite of `allowzero`), Squeeze, Unsqueeze and Flatten.

use ndarray::{ArrayBase, ArrayD, ArrayViewMut, Data, Dimension};

use crate::error::{Error, Result, Subject, counted};
use crate::item::meta::{Meta, Order};
use crate::item::tensor::Tensor;
use crate::layout::axis::{MAX_RANK, bytes_of, resolve_axis};
use crate::ops::arrays::{check_most_axes, check_shape, named_axes};
use crate::ops::kernels::{Items, Output, Strided};

/// New dims for items in C order.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NewShape {
    /// These dims: -1 is inferred, and 0 copies the data's dim (Reshape).
    Dims(Vec<i64>),
    /// These dims: -1 is inferred, and 0 is 0 (ONNX `allowzero`, OpenVINO without `special_zero`).
    DimsWithZero(Vec<i64>),
    /// Drops all dims of 1, or these (Squeeze).
    Squeeze(Option<Vec<i64>>),
    /// Inserts dims of 1 at these output axes (Unsqueeze).
    Unsqueeze(Vec<i64>),
    /// The products of the dims before an axis and of the rest (ONNX Flatten).
    Flatten(i64),
}

impl NewShape {
    /// Returns the new dims of data of shape `shape`.
    ///
    /// # Errors
    /// An axis does not fit or is repeated, a squeezed dim is not 1, the number of items differs, or a rank exceeds 64.
    pub fn resolve(&self, shape: &[usize]) -> Result<Vec<usize>> {
        check_shape(shape, Subject::Data)?;
        match self {
            Self::Dims(dims) => resolve_dims(dims, shape, false),
            Self::DimsWithZero(dims) => resolve_dims(dims, shape, true),
            Self::Squeeze(axes) => squeezed(axes.as_deref(), shape),
            Self::Unsqueeze(axes) => unsqueezed(axes, shape),
            Self::Flatten(axis) => flattened(*axis, shape),
        }
    }
}

fn resolve_dims(typed: &[i64], shape: &[usize], zero_is_zero: bool) -> Result<Vec<usize>> {
    const SUBJECT: Subject = Subject::Argument("shape");
    let refuse = |message: String| Err(Error::new(SUBJECT, format!("{message} (data {shape:?})")));
    let items: usize = shape.iter().product();
    let mut open = None;
    let mut dims = Vec::with_capacity(typed.len());
    for (position, &dim) in typed.iter().enumerate() {
        dims.push(match (dim, usize::try_from(dim)) {
            (-1, _) => {
                if let Some(earlier) = open.replace(position) {
                    return refuse(format!("-1 at positions {earlier} and {position}, expected one at most"));
                }
                1
            }
            (0, _) if !zero_is_zero => match shape.get(position) {
                Some(&same) => same,
                None => {
                    return refuse(format!(
                        "0 at position {position} takes the dim of the data there, and it has none"
                    ));
                }
            },
            (_, Ok(dim)) => dim,
            (_, Err(_)) => return refuse(format!("{dim} at position {position}, expected -1, 0 or more")),
        });
    }
    check_most_axes(&dims, SUBJECT)?;
    let Some(count) = bytes_of(&dims, 1) else {
        return refuse(format!("{typed:?} has more items than can be counted, expected {items}"));
    };
    if let Some(open) = open {
        if count == 0 {
            return refuse(format!("-1 at position {open} beside a 0 can be any number"));
        }
        if !items.is_multiple_of(count) {
            return refuse(format!("{typed:?}: {items} items are not a multiple of {count}"));
        }
        dims[open] = items / count;
    } else if count != items {
        let count = counted(count, "item", "items");
        return refuse(format!("{typed:?}: {count}, expected {items}"));
    }
    Ok(dims)
}

fn squeezed(axes: Option<&[i64]>, shape: &[usize]) -> Result<Vec<usize>> {
    const SUBJECT: Subject = Subject::Argument("squeeze");
    let dropped = match axes {
        None => (0..shape.len()).filter(|&axis| shape[axis] == 1).collect(),
        Some(axes) => named_axes(axes, shape.len(), shape, SUBJECT)?,
    };
    if let Some(axis) = (0..shape.len()).find(|axis| dropped.contains(axis) && shape[*axis] != 1) {
        let message = format!("axis {axis} has dim {}, expected 1 (data {shape:?})", shape[axis]);
        return Err(Error::new(SUBJECT, message));
    }
    Ok((0..shape.len()).filter(|axis| !dropped.contains(axis)).map(|axis| shape[axis]).collect())
}

fn unsqueezed(axes: &[i64], shape: &[usize]) -> Result<Vec<usize>> {
    const SUBJECT: Subject = Subject::Argument("unsqueeze");
    let rank = shape.len() + axes.len();
    if rank > MAX_RANK {
        let message =
            format!("{} more axes make rank {rank}, expected at most {MAX_RANK} (data {shape:?})", axes.len());
        return Err(Error::new(SUBJECT, message));
    }
    let new = named_axes(axes, rank, shape, SUBJECT)?;
    let mut dims = shape.iter().copied();
    let dim = |axis| if new.contains(&axis) { 1 } else { dims.next().expect("as many old axes as the data has") };
    Ok((0..rank).map(dim).collect())
}

fn flattened(typed: i64, shape: &[usize]) -> Result<Vec<usize>> {
    const SUBJECT: Subject = Subject::Argument("flatten");
    let rank = shape.len();
    let axis = if typed == rank as i64 { Some(rank) } else { resolve_axis(typed, rank) };
    let axis = axis.ok_or_else(|| {
        let message = format!("axis {typed}, expected one of [-{rank}, {rank}] (data {shape:?})");
        Error::new(SUBJECT, message)
    })?;
    let product = |dims: &[usize]| dims.iter().try_fold(1_usize, |all, &dim| all.checked_mul(dim));
    match (product(&shape[..axis]), product(&shape[axis..])) {
        (Some(rows), Some(columns)) if bytes_of(&[rows, columns], 1).is_some() => Ok(vec![rows, columns]),
        _ => Err(Error::new(SUBJECT, format!("a product of dims beyond what can be counted (data {shape:?})"))),
    }
}

/// Changes the dims of `data`, with items in C order (Reshape, Squeeze, Unsqueeze and Flatten of ONNX and OpenVINO).
///
/// ```
/// use ndarray::array;
/// use tensorop_kernels::{NewShape, reshape};
/// let data = array![[0, 1, 2], [3, 4, 5]];
/// assert_eq!(reshape(&data, &NewShape::Dims(vec![-1, 2]))?, array![[0, 1], [2, 3], [4, 5]].into_dyn());
/// assert_eq!(reshape(&data, &NewShape::Unsqueeze(vec![0]))?.shape(), [1, 2, 3]);
/// # Ok::<(), tensorop_kernels::Error>(())
/// ```
///
/// # Errors
/// The dims or axes do not fit, or a rank exceeds 64.
pub fn reshape<T: Copy, D: Dimension>(data: &ArrayBase<impl Data<Elem = T>, D>, shape: &NewShape) -> Result<ArrayD<T>> {
    Output::reshaped(shape.resolve(data.shape())?, Strided::of(data), Items::single()).to_array()
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

impl Tensor {
    /// Changes the dims of a tensor of any dtype.
    ///
    /// # Errors
    /// The dims or axes do not fit.
    pub fn reshape(self, shape: &NewShape) -> Result<Self> {
        let shape = shape.resolve(self.shape())?;
        let (meta, bytes) = self.into_parts();
        Self::new(meta.dtype, shape, bytes)
    }
}

/// Returns the order that holds another shape without moving items.
pub fn order_without_moving(meta: &Meta, shape: &[usize]) -> Option<Order> {
    let is_both = meta.shape.contains(&0) || meta.shape.iter().filter(|&&dim| dim != 1).count() < 2;
    match meta.order {
        Order::C => Some(Order::C),
        Order::Fortran if is_both => Some(Order::C),
        Order::Fortran => differ_by_ones(&meta.shape, shape).then_some(Order::Fortran),
    }
}

/// Whether two shapes differ only by axes of dim 1.
pub fn differ_by_ones(one: &[usize], other: &[usize]) -> bool {
    let [one, other] = [one, other].map(|shape| shape.iter().filter(|dim| **dim != 1));
    one.eq(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dims(dims: &[i64]) -> NewShape {
        NewShape::Dims(dims.to_vec())
    }

    fn with_zero(dims: &[i64]) -> NewShape {
        NewShape::DimsWithZero(dims.to_vec())
    }

    fn squeeze(axes: &[i64]) -> NewShape {
        NewShape::Squeeze(Some(axes.to_vec()))
    }

    fn unsqueeze(axes: &[i64]) -> NewShape {
        NewShape::Unsqueeze(axes.to_vec())
    }

    #[test]
    fn shapes() {
        let all = NewShape::Squeeze(None);
        let rows: &[(&[usize], NewShape, &[usize])] = &[
            (&[2, 3, 4], dims(&[4, 2, 3]), &[4, 2, 3]),
            (&[2, 3, 4], dims(&[2, 12]), &[2, 12]),
            (&[2, 3, 4], dims(&[24]), &[24]),
            (&[2, 3, 4], dims(&[2, -1, 2]), &[2, 6, 2]),
            (&[2, 3, 4], dims(&[-1, 2, 3, 4]), &[1, 2, 3, 4]),
            (&[2, 3, 4], dims(&[2, 0, 4, 1]), &[2, 3, 4, 1]),
            (&[2, 3, 4], dims(&[2, 0, 1, -1]), &[2, 3, 1, 4]),
            (&[0, 3, 4], with_zero(&[3, 4, 0]), &[3, 4, 0]),
            (&[2, 5, 5, 0], with_zero(&[0, 4]), &[0, 4]),
            (&[5, 0, 5, 0], dims(&[0, 0, 5]), &[5, 0, 5]),
            (&[0, 2], dims(&[0, 7]), &[0, 7]),
            (&[1, 1], dims(&[]), &[]),
            (&[], dims(&[-1, 1]), &[1, 1]),
            (&[0, 2], dims(&[-1]), &[0]),
            (&[0, 3], dims(&[-1, 3]), &[0, 3]),
            (&[], dims(&[]), &[]),
            (&[1 << 40, 1 << 20], dims(&[1 << 20, -1]), &[1 << 20, 1 << 40]),
            (&[0], with_zero(&[0, i64::MAX]), &[0, i64::MAX as usize]),
            (&[1, 3, 4, 1], all.clone(), &[3, 4]),
            (&[1, 1], all.clone(), &[]),
            (&[], all, &[]),
            (&[1, 3, 1, 5], squeeze(&[-2]), &[1, 3, 5]),
            (&[1, 3, 1, 2], squeeze(&[0, 2]), &[3, 2]),
            (&[1, 3], squeeze(&[]), &[1, 3]),
            (&[3, 4, 5], unsqueeze(&[0]), &[1, 3, 4, 5]),
            (&[3, 4, 5], unsqueeze(&[5, 4, 2]), &[3, 4, 1, 5, 1, 1]),
            (&[1, 3, 1, 5], unsqueeze(&[-2]), &[1, 3, 1, 1, 5]),
            (&[3, 4, 5], unsqueeze(&[1, 4]), &[3, 1, 4, 5, 1]),
            (&[], unsqueeze(&[0]), &[1]),
            (&[2], unsqueeze(&[]), &[2]),
            (&[2, 3, 4, 5], NewShape::Flatten(0), &[1, 120]),
            (&[2, 3, 4, 5], NewShape::Flatten(1), &[2, 60]),
            (&[2, 3, 4, 5], NewShape::Flatten(4), &[120, 1]),
            (&[2, 3, 4, 5], NewShape::Flatten(-1), &[24, 5]),
            (&[2, 3, 4, 5], NewShape::Flatten(-4), &[1, 120]),
            (&[], NewShape::Flatten(0), &[1, 1]),
            (&[0, 3], NewShape::Flatten(1), &[0, 3]),
        ];
        for (shape, new, expected) in rows {
            assert_eq!(new.resolve(shape).as_deref(), Ok(*expected), "{shape:?} {new:?}");
        }
    }

    #[test]
    fn refused() {
        let many = vec![1; MAX_RANK + 1];
        let rows: &[(&[usize], NewShape, &str)] = &[
            (&[6], dims(&[-1, 2, -1]), "shape: -1 at positions 0 and 2, expected one at most (data [6])"),
            (&[6], dims(&[2, -2]), "shape: -2 at position 1, expected -1, 0 or more (data [6])"),
            (&[6], dims(&[6, 0]), "shape: 0 at position 1 takes the dim of the data there, and it has none (data [6])"),
            (&[6], dims(&[4, -1]), "shape: [4, -1]: 6 items are not a multiple of 4 (data [6])"),
            (&[6], dims(&[4, 2]), "shape: [4, 2]: 8 items, expected 6 (data [6])"),
            (&[6], dims(&[]), "shape: []: 1 item, expected 6 (data [6])"),
            (&[6], with_zero(&[0, 6]), "shape: [0, 6]: 0 items, expected 6 (data [6])"),
            (&[0], with_zero(&[0, -1]), "shape: -1 at position 1 beside a 0 can be any number (data [0])"),
            (&[0, 2], dims(&[0, -1]), "shape: -1 at position 1 beside a 0 can be any number (data [0, 2])"),
            (
                &[6],
                dims(&[1 << 62, 1 << 62]),
                "shape: [4611686018427387904, 4611686018427387904] has more items than can be counted, expected 6 (data \
                 [6])",
            ),
            (&[6], dims(&[1; 65]), "shape: rank 65, expected at most 64"),
            (&many, dims(&[1]), "data: rank 65, expected at most 64"),
            (&[1, 3], squeeze(&[1]), "squeeze: axis 1 has dim 3, expected 1 (data [1, 3])"),
            (&[1, 3], squeeze(&[2]), "squeeze: axis 2 at position 0, expected one of [-2, 1] (data [1, 3])"),
            (
                &[1, 1],
                squeeze(&[0, -2]),
                "squeeze: axis 0 is named twice: 0 at position 0, -2 at position 1 (data [1, 1])",
            ),
            (&[], squeeze(&[0]), "squeeze: axis 0 at position 0, a scalar has no axes (data [])"),
            (&[3], unsqueeze(&[2]), "unsqueeze: axis 2 at position 0, expected one of [-2, 1] (data [3])"),
            (
                &[3],
                unsqueeze(&[0, -3]),
                "unsqueeze: axis 0 is named twice: 0 at position 0, -3 at position 1 (data [3])",
            ),
            (&[3], unsqueeze(&[0; 64]), "unsqueeze: 64 more axes make rank 65, expected at most 64 (data [3])"),
            (&[3], NewShape::Flatten(2), "flatten: axis 2, expected one of [-1, 1] (data [3])"),
            (&[3], NewShape::Flatten(-2), "flatten: axis -2, expected one of [-1, 1] (data [3])"),
            (
                &[3],
                NewShape::Flatten(i64::MIN),
                "flatten: axis -9223372036854775808, expected one of [-1, 1] (data [3])",
            ),
        ];
        for (shape, new, message) in rows {
            assert_eq!(new.resolve(shape).map_err(|error| error.to_string()), Err((*message).to_owned()), "{new:?}");
        }
    }

    #[test]
    fn arrays_and_tensors() {
        let data = ndarray::array![[0, 1, 2], [3, 4, 5]];
        let expected = ndarray::array![[0, 1], [2, 3], [4, 5]].into_dyn();
        assert_eq!(reshape(&data, &dims(&[3, -1])).as_ref(), Ok(&expected));
        let turned = data.t().as_standard_layout().into_owned();
        assert_eq!(reshape(&turned.t(), &dims(&[3, -1])).as_ref(), Ok(&expected));
        let tensor = Tensor::from(&data).reshape(&NewShape::Flatten(0)).unwrap();
        assert_eq!(
            (tensor.shape(), tensor.to_array().unwrap()),
            (&[1, 6][..], ndarray::array![[0, 1, 2, 3, 4, 5]].into_dyn())
        );
    }

    #[test]
    fn what_moves_no_item() {
        let dtype = crate::item::dtype::DType::parse("u1").unwrap();
        let meta = |shape: &[usize], order| Meta::c_order(dtype.clone(), shape.to_vec()).in_order(order);
        let rows: [(&[usize], &[usize], Option<Order>); 7] = [
            (&[2, 3], &[3, 2], None),
            (&[2, 3], &[6], None),
            (&[2, 3], &[1, 2, 1, 3], Some(Order::Fortran)),
            (&[1, 6], &[2, 3], Some(Order::C)),
            (&[6], &[2, 3], Some(Order::C)),
            (&[2, 0], &[0, 7], Some(Order::C)),
            (&[], &[1, 1], Some(Order::C)),
        ];
        for (old, new, order) in rows {
            assert_eq!(order_without_moving(&meta(old, Order::Fortran), new), order, "{old:?} {new:?}");
            assert_eq!(order_without_moving(&meta(old, Order::C), new), Some(Order::C), "{old:?} {new:?}");
        }
    }
}
