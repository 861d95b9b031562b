//! SliceScatter: OpenVINO
//! [SliceScatter-15](https://docs.openvino.ai/latest/documentation/openvino-ir-format/operation-sets/operation-specs/movement/slice-scatter-15.html).

use std::ops::Range;

use ndarray::{Array, ArrayBase, ArrayViewMut, Data, Dimension};

use super::arrays::check_updates;
use super::kernels::{copied, copy_into, put_slice};
use super::slice::SliceArgs;
use crate::error::Result;
use crate::layout::axis::Span;
use crate::layout::view::View;
use crate::layout::window::Window;

/// The places of updates in a slice of the data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SliceScatter {
    spans: Vec<Span>,
}

impl SliceScatter {
    /// Without `updates` one value fills all places.
    ///
    /// # Errors
    /// The slice or the shape of the updates does not fit.
    pub fn resolve(shape: &[usize], args: &SliceArgs, updates: Option<&[usize]>) -> Result<Self> {
        let it = Self { spans: args.resolve(shape)? };
        check_updates(updates, &it.updates_shape(), shape, || args.describe(shape.len()))?;
        Ok(it)
    }

    /// The places along each axis.
    pub fn spans(&self) -> &[Span] {
        &self.spans
    }

    /// The shape that updates have.
    pub fn updates_shape(&self) -> Vec<usize> {
        self.spans.iter().map(|span| span.len).collect()
    }

    /// The places in data with these axes; `None` is a new axis of dim 1.
    pub fn along(&self, axes: &[Option<usize>]) -> Self {
        Self { spans: axes.iter().flatten().map(|&axis| self.spans[axis]).collect() }
    }

    /// The part of the updates in a window; `None` if it has none.
    pub fn part(&self, window: &Window) -> Option<UpdatesPart> {
        let both = || self.spans.iter().zip(&window.ranges);
        let part: Vec<_> = both().map(|(span, range)| span.within(range.start, range.end)).collect();
        if part.iter().any(Range::is_empty) {
            return None;
        }
        let inside = both().zip(&part).map(|((span, range), part)| {
            let start = span.at(part.start) - range.start;
            Span { start, step: span.step, len: part.len() }
        });
        let inside: Vec<Span> = inside.collect();
        Some((part, View::c_order(&window.shape()).select(&inside)))
    }
}

/// The box of the updates that a window holds, and its places in the window.
pub type UpdatesPart = (Vec<Range<usize>>, View);

/// Copies `data` and replaces a slice by `updates`, which has exactly its shape (OpenVINO SliceScatter-15).
///
/// ```
/// use ndarray::array;
/// use tensorop_kernels::slice_scatter;
/// let data = array![[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]];
/// let out = slice_scatter(&data, &array![[10, 20, 30], [40, 50, 60]], &":, ::2".parse()?)?;
/// assert_eq!(out, array![[10, 1, 20, 3, 30], [40, 6, 50, 8, 60]]);
/// # Ok::<(), tensorop_kernels::Error>(())
/// ```
///
/// # Errors
/// The slice does not fit, or `updates` has another shape.
pub fn slice_scatter<T: Copy, D: Dimension>(
    data: &ArrayBase<impl Data<Elem = T>, D>,
    updates: &ArrayBase<impl Data<Elem = T>, impl Dimension>,
    args: &SliceArgs,
) -> Result<Array<T, D>> {
    let places = SliceScatter::resolve(data.shape(), args, Some(updates.shape()))?;
    let mut out = copied(data)?;
    put_slice(out.view_mut(), &places.spans, updates);
    Ok(out)
}

/// Copies `data` to `out` and replaces a slice there, as [`slice_scatter`](crate::slice_scatter()) returns it (OpenVINO
/// SliceScatter-15). `out` has the shape of `data` and any layout.
///
/// # Errors
/// The slice does not fit, or `updates` or `out` has another shape.
pub fn slice_scatter_into<T: Copy, D: Dimension>(
    data: &ArrayBase<impl Data<Elem = T>, D>,
    updates: &ArrayBase<impl Data<Elem = T>, impl Dimension>,
    args: &SliceArgs,
    mut out: ArrayViewMut<'_, T, D>,
) -> Result<()> {
    SliceScatter::resolve(data.shape(), args, Some(updates.shape()))?;
    copy_into(data, out.view_mut())?;
    slice_scatter_in_place(&mut out, updates, args)
}

/// Replaces a slice of `data` by `updates`, which has exactly its shape (OpenVINO SliceScatter-15). Only the items of
/// the slice are touched. `data` has any layout.
///
/// ```
/// use ndarray::array;
/// use tensorop_kernels::slice_scatter_in_place;
/// let mut data = array![[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]];
/// slice_scatter_in_place(&mut data.view_mut(), &array![[10, 20, 30], [40, 50, 60]], &":, ::2".parse()?)?;
/// assert_eq!(data, array![[10, 1, 20, 3, 30], [40, 6, 50, 8, 60]]);
/// # Ok::<(), tensorop_kernels::Error>(())
/// ```
///
/// # Errors
/// The slice does not fit, or `updates` has another shape. Then `data` is unchanged.
pub fn slice_scatter_in_place<T: Copy, D: Dimension>(
    data: &mut ArrayViewMut<'_, T, D>,
    updates: &ArrayBase<impl Data<Elem = T>, impl Dimension>,
    args: &SliceArgs,
) -> Result<()> {
    let places = SliceScatter::resolve(data.shape(), args, Some(updates.shape()))?;
    put_slice(data.view_mut(), places.spans(), updates);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::axis::StepRange;
    use ndarray::{Array2, array};

    #[test]
    fn the_specifications_examples() {
        type Row<'a> = (Array2<f32>, Array2<f32>, [&'a [i64]; 3], Option<&'a [i64]>, Array2<f32>);
        let two = array![[0., 1., 2., 3., 4.], [5., 6., 7., 8., 9.]];
        let three = array![[0., 1., 2., 3., 4.], [5., 6., 7., 8., 9.], [10., 11., 12., 13., 14.]];
        let rows: [Row; 3] = [
            (
                two.clone(),
                array![[10., 20., 30., 40., 50.]],
                [&[0], &[1], &[1]],
                Some(&[0]),
                array![[10., 20., 30., 40., 50.], [5., 6., 7., 8., 9.]],
            ),
            (
                two,
                array![[10., 20., 30.], [40., 50., 60.]],
                [&[-25], &[25], &[2]],
                Some(&[1]),
                array![[10., 1., 20., 3., 30.], [40., 6., 50., 8., 60.]],
            ),
            (
                three,
                array![[50., 60.], [70., 80.]],
                [&[0, 1], &[3, 5], &[2, 2]],
                None,
                array![[0., 50., 2., 60., 4.], [5., 6., 7., 8., 9.], [10., 70., 12., 80., 14.]],
            ),
        ];
        for (i, (data, updates, [start, stop, step], axes, output)) in rows.iter().enumerate() {
            let args = SliceArgs::new(start, stop).and_then(|args| args.with_steps(step)).unwrap();
            let args = axes.map_or(Ok(args.clone()), |axes| args.with_axes(axes)).unwrap();
            assert_eq!(slice_scatter(data, updates, &args).as_ref(), Ok(output), "example {}", i + 1);
        }
    }

    #[test]
    fn nothing_broadcasts() {
        let data = Array2::<u8>::zeros((2, 5));
        let args = SliceArgs::default().axis(1, StepRange::from(0..5).by(2));
        let error = slice_scatter(&data, &Array2::zeros((2, 4)), &args).unwrap_err();
        assert_eq!(
            error.to_string(),
            "updates: shape [2, 4], expected [2, 3] (data [2, 5] with start 0, stop 5, step 2 on axis 1)"
        );
        assert!(slice_scatter(&data, &Array2::zeros((1, 3)), &args).is_err());
        assert!(slice_scatter(&data, &ndarray::Array1::zeros(3), &args).is_err());
    }
}
