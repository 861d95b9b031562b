//! Tile: [ONNX](https://onnx.ai/onnx/operators/onnx__Tile.html), OpenVINO
//! [Tile-1](https://docs.openvino.ai/latest/documentation/openvino-ir-format/operation-sets/operation-specs/movement/tile-1.html).

use ndarray::{ArrayBase, ArrayD, ArrayViewMut, Data, Dimension};

use super::arranged::Arrangement;
use crate::error::{Error, Result, Subject};
use crate::item::tensor::Tensor;
use crate::layout::axis::Span;
use crate::layout::segments::{Segment, Segments};
use crate::ops::arrays::{check_most_axes, check_shape, leading};

pub(crate) fn check(shape: &[usize], repeats: &[i64]) -> Result<Arrangement> {
    check_shape(shape, Subject::Data)?;
    let subject = Subject::Argument("repeats");
    let rank = shape.len().max(repeats.len());
    if repeats.len() > shape.len() {
        check_most_axes(&vec![1; rank], Subject::Output)?;
    }
    let axes = leading(shape.len(), rank);
    let repeats = [&vec![1; rank - repeats.len()], repeats].concat();
    let of_axis = |(number, (axis, &times)): (usize, (&Option<usize>, &i64))| {
        let dim = axis.map_or(1, |axis| shape[axis]);
        let refuse = |what: &str| Error::new(subject, format!("{times} for axis {number}, {what} (data {shape:?})"));
        let times = usize::try_from(times).map_err(|_| refuse("expected 0 or more"))?;
        let len = dim.checked_mul(times).ok_or_else(|| refuse("more places than can be counted"))?;
        // a step of 0 repeats one place in a single run
        let once = Segment::Run(Span { start: 0, step: 0, len });
        let list = if dim == 1 { once } else { Segment::Run(Span::whole(dim)) };
        Ok(Segments::cycle(&[list], 0, len))
    };
    let segments = axes.iter().zip(&repeats).enumerate().map(of_axis).collect::<Result<_>>()?;
    Arrangement::along(axes, segments)
}

/// Repeats each axis of `data`; the shorter of `repeats` and the shape gets leading ones (ONNX Tile, OpenVINO Tile-1).
///
/// ```
/// use ndarray::array;
/// use tensorop_kernels::tile;
/// assert_eq!(tile(&array![[1, 2], [3, 4]], &[1, 2])?, array![[1, 2, 1, 2], [3, 4, 3, 4]].into_dyn());
/// assert_eq!(tile(&array![1, 2], &[2, 1])?, array![[1, 2], [1, 2]].into_dyn());
/// # Ok::<(), tensorop_kernels::Error>(())
/// ```
///
/// # Errors
/// A number is negative ([`Subject::Argument`]), or the output is too large.
pub fn tile<T: Copy>(data: &ArrayBase<impl Data<Elem = T>, impl Dimension>, repeats: &[i64]) -> Result<ArrayD<T>> {
    check(data.shape(), repeats)?.of_array(data, None)
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
    check(data.shape(), repeats)?.output(data, None).to_view(out)
}

impl Tensor {
    /// Repeats each axis of a tensor of any dtype as [`tile`](crate::tile()) does.
    ///
    /// # Errors
    /// An argument does not fit, or memory runs out.
    pub fn tile(&self, repeats: &[i64]) -> Result<Self> {
        check(self.shape(), repeats)?.of_tensor(self)
    }
}

#[cfg(test)]
mod tests {
    use ndarray::{ArrayD, IxDyn, array};

    use super::*;

    #[test]
    fn places_come_again() {
        for shape in [&[][..], &[3], &[1], &[2, 3], &[2, 1, 3], &[2, 0]] {
            let mut next = 0..;
            let data = ArrayD::from_shape_simple_fn(shape, || next.next().unwrap());
            for repeats in [&[][..], &[2], &[0], &[1, 3], &[2, 1, 2], &[3, 2, 1, 2]] {
                let rank = shape.len().max(repeats.len());
                let ones = |len| vec![1; rank - len];
                let wide = [ones(shape.len()), shape.to_vec()].concat();
                let times = [ones(repeats.len()), repeats.iter().map(|&n| n as usize).collect()].concat();
                let dims: Vec<_> = wide.iter().zip(&times).map(|(dim, times)| dim * times).collect();
                let same = data.clone().into_shape_with_order(wide.clone()).unwrap();
                let expected = ArrayD::from_shape_fn(dims, |at| {
                    let from: Vec<_> = wide.iter().enumerate().map(|(axis, dim)| at[axis] % dim).collect();
                    same[IxDyn(&from)]
                });
                assert_eq!(tile(&data, repeats), Ok(expected), "{shape:?} {repeats:?}");
            }
        }
    }

    #[test]
    fn refused() {
        let data = array![[1, 2, 3]];
        let error = |repeats: &[i64]| tile(&data, repeats).unwrap_err().to_string();
        assert_eq!(error(&[1, -1]), "repeats: -1 for axis 1, expected 0 or more (data [1, 3])");
        assert_eq!(
            error(&[i64::MAX, i64::MAX]),
            "repeats: 9223372036854775807 for axis 1, more places than can be counted (data [1, 3])"
        );
        assert_eq!(error(&[i64::MAX, 1]), "output: more items than can be counted (shape [9223372036854775807, 3])");
        assert_eq!(error(&[1; 65]), "output: rank 65, expected at most 64");
    }
}
