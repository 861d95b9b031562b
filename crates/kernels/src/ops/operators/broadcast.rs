//! [ONNX Expand](https://onnx.ai/onnx/operators/onnx__Expand.html), OpenVINO Broadcast-1 and
//! [-3](https://docs.openvino.ai/latest/documentation/openvino-ir-format/operation-sets/operation-specs/movement/broadcast-3.html).

use ndarray::{ArrayBase, ArrayD, ArrayViewMut, Data, Dimension};

use super::arranged::Arrangement;
use crate::error::{Error, Result, Subject};
use crate::item::tensor::Tensor;
use crate::layout::axis::Span;
use crate::layout::segments::{Segment, Segments};
use crate::ops::arrays::{check_length, check_most_axes, check_shape, leading, named_axes};

/// How the data's axes map to a shape's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum BroadcastRule {
    /// NumPy's `broadcast_to`: the last axes are aligned.
    #[default]
    Numpy,
    /// As [`Numpy`](Self::Numpy), but a missing dim or a dim of 1 keeps the data's: ONNX Expand, `bidirectional` of
    /// Broadcast-3.
    Bidirectional,
    /// The output axis of each axis: `explicit` of OpenVINO.
    Axes(Vec<i64>),
}

/// Resolves the broadcast from `shape` to `to`.
///
/// # Errors
/// A shape or an argument does not fit.
pub fn check(shape: &[usize], to: &[i64], rule: &BroadcastRule) -> Result<Arrangement> {
    check_shape(shape, Subject::Data)?;
    let refuse = |message| Error::new(Subject::Argument("shape"), format!("{message} (data {shape:?})"));
    let dims = to.iter().map(|&dim| usize::try_from(dim).map_err(|_| refuse(format!("{dim}, expected 0 or more"))));
    let mut dims = dims.collect::<Result<Vec<_>>>()?;
    let both = *rule == BroadcastRule::Bidirectional;
    if both && dims.len() < shape.len() {
        dims.splice(0..0, vec![1; shape.len() - dims.len()]);
    }
    check_most_axes(&dims, Subject::Output)?;
    let axes = match rule {
        BroadcastRule::Axes(list) => {
            check_length(list, shape.len(), shape, Subject::Axes)?;
            let own = named_axes(list, dims.len(), shape, Subject::Axes)?;
            if !own.is_sorted() {
                return Err(Error::new(Subject::Axes, format!("{list:?}, expected ascending ones (data {shape:?})")));
            }
            (0..dims.len()).map(|axis| own.iter().position(|&at| at == axis)).collect()
        }
        _ if dims.len() < shape.len() => return Err(refuse(format!("{to:?}, expected {} axes or more", shape.len()))),
        _ => leading(shape.len(), dims.len()),
    };
    let of_axis = |(axis, &len): (&Option<usize>, &usize)| match axis.map_or(1, |axis| shape[axis]) {
        dim if dim == len || both && len == 1 => Ok(Segments::whole(dim)),
        1 => Ok(Segments::once(&[Segment::Run(Span { start: 0, step: 0, len })])),
        dim => Err(refuse(format!("{len} for a dim of {dim}, expected {dim}"))),
    };
    let segments = axes.iter().zip(&dims).map(of_axis).collect::<Result<_>>()?;
    Arrangement::along(axes, segments)
}

/// Repeats axes of dim 1 so that `data` has another shape (ONNX Expand, OpenVINO Broadcast-1 and -3).
///
/// ```
/// use ndarray::array;
/// use tensorop_kernels::{BroadcastRule, broadcast};
/// assert_eq!(broadcast(&array![[1], [2]], &[2, 2], &BroadcastRule::Numpy)?, array![[1, 1], [2, 2]].into_dyn());
/// assert_eq!(broadcast(&array![1, 2], &[2, 2], &BroadcastRule::Axes(vec![0]))?, array![[1, 1], [2, 2]].into_dyn());
/// # Ok::<(), tensorop_kernels::Error>(())
/// ```
///
/// # Errors
/// A dim does not fit ([`Subject::Argument`]), axes are out of range or not ascending ([`Subject::Axes`]), or the
/// output is too large.
pub fn broadcast<T: Copy>(
    data: &ArrayBase<impl Data<Elem = T>, impl Dimension>,
    shape: &[i64],
    rule: &BroadcastRule,
) -> Result<ArrayD<T>> {
    check(data.shape(), shape, rule)?.of_array(data, None)
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
    check(data.shape(), shape, rule)?.output(data, None).to_view(out)
}

impl Tensor {
    /// Broadcasts a tensor of any dtype as [`broadcast`](crate::broadcast()) does.
    ///
    /// # Errors
    /// An argument does not fit, or memory runs out.
    pub fn broadcast(&self, shape: &[i64], rule: &BroadcastRule) -> Result<Self> {
        check(self.shape(), shape, rule)?.of_tensor(self)
    }
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;

    #[test]
    fn by_each_rule() {
        let row = array![1, 2, 3];
        let column = array![[1], [2]];
        let (numpy, both) = (&BroadcastRule::Numpy, &BroadcastRule::Bidirectional);
        let two = array![[1, 2, 3], [1, 2, 3]].into_dyn();
        assert_eq!(broadcast(&row, &[2, 3], numpy), Ok(two.clone()));
        assert_eq!(broadcast(&row, &[2, 1], both), Ok(two));
        // the shape may have fewer axes than the data
        let three = array![[1, 1, 1], [2, 2, 2]].into_dyn();
        assert_eq!(broadcast(&column, &[3], both), Ok(three.clone()));
        assert_eq!(broadcast(&array![1, 2], &[2, 3], &BroadcastRule::Axes(vec![0])), Ok(three));
        assert_eq!(broadcast(&ndarray::arr0(5), &[2], numpy), Ok(array![5, 5].into_dyn()));
        assert_eq!(broadcast(&column, &[2, 0], numpy).unwrap().shape(), [2, 0]);
        let none = ndarray::Array2::<u8>::zeros((0, 1));
        assert_eq!(broadcast(&none, &[3, 1, 4], both).unwrap().shape(), [3, 0, 4]);
    }

    #[test]
    fn refused() {
        let data = array![[1, 2]];
        let error = |shape: &[i64], rule| broadcast(&data, shape, &rule).unwrap_err().to_string();
        let axes = |axes: &[i64]| BroadcastRule::Axes(axes.to_vec());
        let rows = [
            (error(&[2, 3], BroadcastRule::Numpy), "shape: 3 for a dim of 2, expected 2 (data [1, 2])"),
            (error(&[2, 1], BroadcastRule::Numpy), "shape: 1 for a dim of 2, expected 2 (data [1, 2])"),
            (error(&[2], BroadcastRule::Numpy), "shape: [2], expected 2 axes or more (data [1, 2])"),
            (error(&[1, 0], BroadcastRule::Bidirectional), "shape: 0 for a dim of 2, expected 2 (data [1, 2])"),
            (error(&[2, -1], BroadcastRule::Bidirectional), "shape: -1, expected 0 or more (data [1, 2])"),
            (error(&[1, 2], axes(&[0])), "axes: 1 number, expected 2, one for each axis (data [1, 2])"),
            (error(&[2, 1], axes(&[1, 0])), "axes: [1, 0], expected ascending ones (data [1, 2])"),
            (error(&[2, 2], axes(&[0, 2])), "axes: axis 2 at position 1, expected one of [-2, 1] (data [1, 2])"),
            (
                error(&[i64::MAX, 2], BroadcastRule::Numpy),
                "output: more items than can be counted (shape [9223372036854775807, 2])",
            ),
        ];
        for (found, expected) in rows {
            assert_eq!(found, expected);
        }
        assert_eq!(error(&[1; 65], BroadcastRule::Numpy), "output: rank 65, expected at most 64");
    }
}
