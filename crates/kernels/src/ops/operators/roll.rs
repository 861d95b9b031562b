//! Roll: OpenVINO
//! [Roll-7](https://docs.openvino.ai/latest/documentation/openvino-ir-format/operation-sets/operation-specs/movement/roll-7.html).

use ndarray::{ArrayBase, ArrayD, ArrayViewMut, Data, Dimension};

use super::arranged::Arrangement;
use crate::error::{Error, Result, Subject, counted};
use crate::item::tensor::Tensor;
use crate::layout::axis::Span;
use crate::layout::segments::{Segment, Segments};
use crate::ops::arrays::{check_shape, listed_axis};

pub(crate) fn check(shape: &[usize], shift: &[i64], axes: Option<&[i64]>) -> Result<Arrangement> {
    check_shape(shape, Subject::Data)?;
    let count = axes.map_or(1, <[i64]>::len);
    if shift.len() != 1 && shift.len() != count {
        let expected = if count == 1 { "1".to_owned() } else { format!("1 or {count}") };
        let message = format!("{}, expected {expected} (data {shape:?})", counted(shift.len(), "number", "numbers"));
        return Err(Error::new(Subject::Argument("shift"), message));
    }
    let Some(axes) = axes else {
        return Ok(Arrangement::counted(shape, rolled(shape.iter().product(), shift[0].into())));
    };
    let mut shifts = vec![0_i128; shape.len()];
    for position in 0..axes.len() {
        let axis = listed_axis(axes, position, shape.len(), shape, Subject::Axes)?;
        shifts[axis] += i128::from(shift[position % shift.len()]);
    }
    Arrangement::new(shape.iter().zip(shifts).map(|(&dim, shift)| rolled(dim, shift)).collect())
}

fn rolled(dim: usize, shift: i128) -> Segments {
    let first = (-shift).rem_euclid(dim.max(1) as i128) as usize;
    Segments::cycle(&[Segment::Run(Span::whole(dim))], first, dim)
}

/// Rolls axes of `data` by `shift`, so that the last places wrap around (OpenVINO Roll-7).
///
/// `shift` has one number per axis, or one for all; shifts of a repeated axis add up. Without axes, all items roll as
/// one axis.
///
/// ```
/// use ndarray::array;
/// use tensorop_kernels::roll;
/// let data = array![[1, 2, 3], [4, 5, 6]];
/// assert_eq!(roll(&data, &[1], Some(&[1]))?, array![[3, 1, 2], [6, 4, 5]].into_dyn());
/// assert_eq!(roll(&data, &[-2], None)?, array![[3, 4, 5], [6, 1, 2]].into_dyn());
/// # Ok::<(), tensorop_kernels::Error>(())
/// ```
///
/// # Errors
/// The number of shifts does not fit ([`Subject::Argument`]), or an axis is out of range ([`Subject::Axes`]).
pub fn roll<T: Copy>(
    data: &ArrayBase<impl Data<Elem = T>, impl Dimension>,
    shift: &[i64],
    axes: Option<&[i64]>,
) -> Result<ArrayD<T>> {
    check(data.shape(), shift, axes)?.of_array(data, None)
}

/// Rolls axes of `data` by `shift` into `out`, as [`roll`](crate::roll()) returns it (OpenVINO Roll-7). `out` has the
/// shape of `data` and any layout.
///
/// # Errors
/// The number of shifts does not fit, an axis is out of range, or `out` has another shape.
pub fn roll_into<T: Copy, D: Dimension>(
    data: &ArrayBase<impl Data<Elem = T>, D>,
    shift: &[i64],
    axes: Option<&[i64]>,
    out: ArrayViewMut<'_, T, D>,
) -> Result<()> {
    check(data.shape(), shift, axes)?.output(data, None).to_view(out)
}

impl Tensor {
    /// Rolls a tensor of any dtype as [`roll`](crate::roll()) does.
    ///
    /// # Errors
    /// An argument does not fit, or memory runs out.
    pub fn roll(&self, shift: &[i64], axes: Option<&[i64]>) -> Result<Self> {
        check(self.shape(), shift, axes)?.of_tensor(self)
    }
}

#[cfg(test)]
mod tests {
    use ndarray::{ArrayD, array};

    use super::*;

    #[test]
    fn the_specifications_examples() {
        let data = array![[51, 76, 121, 11], [43, 32, 13, 61], [2, 4, 19, 8]];
        type Row<'a> = (&'a [i64], Option<&'a [i64]>, ArrayD<i32>);
        let rows: [Row; 7] = [
            (&[1], Some(&[0]), array![[2, 4, 19, 8], [51, 76, 121, 11], [43, 32, 13, 61]].into_dyn()),
            (&[1, 3], Some(&[0, 1]), array![[4, 19, 8, 2], [76, 121, 11, 51], [32, 13, 61, 43]].into_dyn()),
            (&[-1], Some(&[-1]), array![[76, 121, 11, 51], [32, 13, 61, 43], [4, 19, 8, 2]].into_dyn()),
            (&[3, -2], Some(&[0, 0]), array![[2, 4, 19, 8], [51, 76, 121, 11], [43, 32, 13, 61]].into_dyn()),
            (&[1], Some(&[0, 1]), array![[8, 2, 4, 19], [11, 51, 76, 121], [61, 43, 32, 13]].into_dyn()),
            (
                &[i64::MAX, i64::MAX],
                Some(&[1, 1]),
                array![[121, 11, 51, 76], [13, 61, 43, 32], [19, 8, 2, 4]].into_dyn(),
            ),
            (&[-1], None, array![[76, 121, 11, 43], [32, 13, 61, 2], [4, 19, 8, 51]].into_dyn()),
        ];
        for (shift, axes, expected) in rows {
            assert_eq!(roll(&data, shift, axes), Ok(expected), "{shift:?} {axes:?}");
        }
        let none = ArrayD::<i32>::zeros(vec![2, 0]);
        assert_eq!((roll(&none, &[3], None), roll(&none, &[3], Some(&[1]))), (Ok(none.clone()), Ok(none)));
        let scalar = ndarray::arr0(7).into_dyn();
        assert_eq!((roll(&scalar, &[3], None), roll(&scalar, &[3], Some(&[]))), (Ok(scalar.clone()), Ok(scalar)));
    }

    #[test]
    fn refused() {
        let data = array![[1, 2]];
        let error = |shift: &[i64], axes| roll(&data, shift, axes).unwrap_err().to_string();
        assert_eq!(error(&[1, 2], None), "shift: 2 numbers, expected 1 (data [1, 2])");
        assert_eq!(error(&[1, 2, 3], Some(&[0, 1])), "shift: 3 numbers, expected 1 or 2 (data [1, 2])");
        assert_eq!(error(&[1], Some(&[2])), "axes: axis 2 at position 0, expected one of [-2, 1] (data [1, 2])");
    }
}
