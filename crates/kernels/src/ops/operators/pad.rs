//! Pad: [ONNX](https://onnx.ai/onnx/operators/onnx__Pad.html) 2 to 25, OpenVINO Pad-1 and
//! [Pad-12](https://docs.openvino.ai/latest/documentation/openvino-ir-format/operation-sets/operation-specs/movement/pad-12.html).

use ndarray::{ArrayBase, ArrayD, ArrayViewMut, Data, Dimension};

use super::arranged::Arrangement;
use crate::error::{Error, Result, Subject};
use crate::item::tensor::Tensor;
use crate::layout::axis::Span;
use crate::layout::segments::{Segment, Segments};
use crate::ops::arrays::{check_length, check_shape, named_axes};

/// The contents of added places.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PadMode {
    /// One item.
    #[default]
    Constant,
    /// The first or last place.
    Edge,
    /// The mirrored axis, without its first or last place.
    Reflect,
    /// The mirrored axis.
    Symmetric,
    /// The axis from its other end.
    Wrap,
}

/// Resolves the arguments.
///
/// # Errors
/// A shape or an argument does not fit.
pub fn check(
    shape: &[usize],
    before: &[i64],
    after: &[i64],
    axes: Option<&[i64]>,
    mode: PadMode,
) -> Result<Arrangement> {
    check_shape(shape, Subject::Data)?;
    let rank = shape.len();
    let axes = axes.map_or_else(|| Ok((0..rank).collect()), |axes| named_axes(axes, rank, shape, Subject::Axes))?;
    for (name, list) in [("before", before), ("after", after)] {
        check_length(list, axes.len(), shape, Subject::Argument(name))?;
    }
    let mut segments: Vec<_> = shape.iter().map(|&dim| Segments::whole(dim)).collect();
    for ((&axis, &before), &after) in axes.iter().zip(before).zip(after) {
        segments[axis] = padded(shape[axis], before, after, mode)
            .map_err(|message| Error::new(Subject::Data, format!("{message} (axis {axis} of {shape:?})")))?;
    }
    Arrangement::new(segments)
}

fn padded(dim: usize, before: i64, after: i64, mode: PadMode) -> Result<Segments, String> {
    let [less, behind] =
        [before, after].map(|places| usize::try_from(places.min(0).unsigned_abs()).unwrap_or(usize::MAX));
    let [before, after] = [before, after].map(|places| usize::try_from(places).unwrap_or(0));
    let len = dim.checked_sub(less).and_then(|dim| dim.checked_sub(behind));
    let len = len.ok_or_else(|| format!("cannot remove {less} and {behind} places of {dim}"))?;
    let own = Segment::Run(Span { start: less, step: 1, len });
    let all =
        before.checked_add(len).and_then(|all| all.checked_add(after)).ok_or("more places than can be counted")?;
    let edge = |start, len| Segment::Run(Span { start, step: 0, len });
    if all > len && len == 0 && mode != PadMode::Constant {
        return Err("no place to repeat: only a constant can be added".to_owned());
    }
    let cycle = |list: &[Segment], period: usize| Segments::cycle(list, (period - before % period) % period, all);
    let back = |start, len| Segment::Run(Span { start, step: -1, len });
    Ok(match mode {
        _ if all == len => Segments::once(&[own]),
        PadMode::Constant => Segments::once(&[Segment::Fill(before), own, Segment::Fill(after)]),
        PadMode::Edge => Segments::once(&[edge(less, before), own, edge(less + len - 1, after)]),
        PadMode::Reflect if len == 1 => Segments::once(&[edge(less, all)]),
        PadMode::Reflect => cycle(&[own, back(less + len - 2, len - 2)], 2 * len - 2),
        PadMode::Symmetric => cycle(&[own, back(less + len - 1, len)], 2 * len),
        PadMode::Wrap => cycle(&[own], len),
    })
}

/// Pads the axes of `data`, or crops them by negative numbers (ONNX Pad, OpenVINO Pad-1 and -12).
///
/// `before` and `after` have one number per entry of `axes`, or per axis of `data`; `item` fills [`PadMode::Constant`].
///
/// ```
/// use ndarray::array;
/// use tensorop_kernels::{PadMode, pad};
/// let data = array![[1, 2], [3, 4]];
/// assert_eq!(pad(&data, &[0, 1], &[1, 0], None, PadMode::Constant, 9)?, array![[9, 1, 2], [9, 3, 4], [9, 9, 9]].into_dyn());
/// assert_eq!(pad(&data, &[-1], &[3], Some(&[0]), PadMode::Edge, 0)?, array![[3, 4], [3, 4], [3, 4], [3, 4]].into_dyn());
/// # Ok::<(), tensorop_kernels::Error>(())
/// ```
///
/// # Errors
/// A list has the wrong length ([`Subject::Argument`]), an axis is out of range or repeated ([`Subject::Axes`]), a crop
/// is too long, nothing can be repeated, or the output is too large.
pub fn pad<T: Copy>(
    data: &ArrayBase<impl Data<Elem = T>, impl Dimension>,
    before: &[i64],
    after: &[i64],
    axes: Option<&[i64]>,
    mode: PadMode,
    item: T,
) -> Result<ArrayD<T>> {
    check(data.shape(), before, after, axes, mode)?.of_array(data, Some(item))
}

/// Pads or crops axes of `data` into `out`, as [`pad`](crate::pad()) returns it (ONNX Pad, OpenVINO Pad-1 and -12).
///
/// Dim `axes[n]` of `out` is `before[n] + dim + after[n]`; `out` has any layout.
///
/// # Errors
/// A list has the wrong length, an axis is out of range or repeated, a crop is too long, nothing can be repeated, or
/// `out` has another shape.
pub fn pad_into<T: Copy, D: Dimension>(
    data: &ArrayBase<impl Data<Elem = T>, D>,
    before: &[i64],
    after: &[i64],
    axes: Option<&[i64]>,
    mode: PadMode,
    item: T,
    out: ArrayViewMut<'_, T, D>,
) -> Result<()> {
    check(data.shape(), before, after, axes, mode)?.output(data, Some(item)).to_view(out)
}

impl Tensor {
    /// Pads a tensor of any dtype as [`pad`](crate::pad()) does, with the [default item](crate::DType::default_item).
    ///
    /// # Errors
    /// An argument does not fit, or memory runs out.
    pub fn pad(&self, before: &[i64], after: &[i64], axes: Option<&[i64]>, mode: PadMode) -> Result<Self> {
        check(self.shape(), before, after, axes, mode)?.of_tensor(self)
    }
}

#[cfg(test)]
mod tests {
    use ndarray::{ArrayD, IxDyn, array};

    use super::*;

    const MODES: [PadMode; 5] = [PadMode::Constant, PadMode::Edge, PadMode::Reflect, PadMode::Symmetric, PadMode::Wrap];

    fn walked(place: i64, dim: i64, mode: PadMode) -> Option<usize> {
        let mut at = place;
        while !(0..dim).contains(&at) {
            at = match mode {
                PadMode::Constant => return None,
                PadMode::Edge => at.clamp(0, dim - 1),
                PadMode::Reflect if dim == 1 => 0,
                PadMode::Reflect if at < 0 => -at,
                PadMode::Reflect => 2 * (dim - 1) - at,
                PadMode::Symmetric if at < 0 => -1 - at,
                PadMode::Symmetric => 2 * dim - 1 - at,
                PadMode::Wrap if at < 0 => at + dim,
                PadMode::Wrap => at - dim,
            };
        }
        Some(at as usize)
    }

    #[test]
    fn every_mode_walks_along_the_axis() {
        for dim in 0..6_i64 {
            let data = ArrayD::from_shape_fn(IxDyn(&[dim as usize, 2]), |at| (at[0] * 2 + at[1]) as i64);
            for mode in MODES {
                for (before, after) in (-2..14).flat_map(|before| (-2..14).map(move |after| (before, after))) {
                    let found = pad(&data, &[before], &[after], Some(&[0]), mode, 99);
                    let (first, last) = ((-before).max(0), dim - (-after).max(0));
                    let adds = before > 0 || after > 0;
                    if first > last || first == last && adds && mode != PadMode::Constant {
                        assert!(found.is_err(), "{dim} {mode:?} {before} {after}");
                        continue;
                    }
                    let cut = last - first;
                    let len = (before.max(0) + cut + after.max(0)) as usize;
                    let expected = ArrayD::from_shape_fn(IxDyn(&[len, 2]), |at| {
                        let place = walked(at[0] as i64 - before.max(0), cut, mode);
                        place.map_or(99, |place| data[[first as usize + place, at[1]]])
                    });
                    assert_eq!(found, Ok(expected), "{dim} {mode:?} {before} {after}");
                }
            }
        }
    }

    #[test]
    fn the_specifications_examples() {
        let data = array![[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]];
        let rows: [(PadMode, ArrayD<i32>); 4] = [
            (
                PadMode::Constant,
                array![
                    [0, 1, 2, 3, 4, 0, 0, 0],
                    [0, 5, 6, 7, 8, 0, 0, 0],
                    [0, 9, 10, 11, 12, 0, 0, 0],
                    [0, 0, 0, 0, 0, 0, 0, 0],
                    [0, 0, 0, 0, 0, 0, 0, 0]
                ]
                .into_dyn(),
            ),
            (
                PadMode::Edge,
                array![
                    [1, 1, 2, 3, 4, 4, 4, 4],
                    [5, 5, 6, 7, 8, 8, 8, 8],
                    [9, 9, 10, 11, 12, 12, 12, 12],
                    [9, 9, 10, 11, 12, 12, 12, 12],
                    [9, 9, 10, 11, 12, 12, 12, 12]
                ]
                .into_dyn(),
            ),
            (
                PadMode::Reflect,
                array![
                    [2, 1, 2, 3, 4, 3, 2, 1],
                    [6, 5, 6, 7, 8, 7, 6, 5],
                    [10, 9, 10, 11, 12, 11, 10, 9],
                    [6, 5, 6, 7, 8, 7, 6, 5],
                    [2, 1, 2, 3, 4, 3, 2, 1]
                ]
                .into_dyn(),
            ),
            (
                PadMode::Symmetric,
                array![
                    [1, 1, 2, 3, 4, 4, 3, 2],
                    [5, 5, 6, 7, 8, 8, 7, 6],
                    [9, 9, 10, 11, 12, 12, 11, 10],
                    [9, 9, 10, 11, 12, 12, 11, 10],
                    [5, 5, 6, 7, 8, 8, 7, 6]
                ]
                .into_dyn(),
            ),
        ];
        for (mode, expected) in rows {
            assert_eq!(pad(&data, &[0, 1], &[2, 3], None, mode, 0), Ok(expected), "{mode:?}");
        }
        let taken = array![[0, 1, 2, 3], [0, 5, 6, 7], [0, 9, 10, 11], [0, 0, 0, 0], [0, 0, 0, 0]].into_dyn();
        assert_eq!(pad(&data, &[0, 1], &[2, -1], None, PadMode::Constant, 0), Ok(taken));
    }

    #[test]
    fn refused() {
        let data = array![[1, 2, 3]];
        let error = |before: &[i64], after: &[i64], axes| {
            pad(&data, before, after, axes, PadMode::Constant, 0).unwrap_err().to_string()
        };
        let rows = [
            (error(&[1], &[0, 0], None), "before: 1 number, expected 2, one for each axis (data [1, 3])"),
            (error(&[0, 1], &[0], None), "after: 1 number, expected 2, one for each axis (data [1, 3])"),
            (error(&[0], &[0], Some(&[2])), "axes: axis 2 at position 0, expected one of [-2, 1] (data [1, 3])"),
            (error(&[0, -2], &[0, -2], None), "data: cannot remove 2 and 2 places of 3 (axis 1 of [1, 3])"),
            (
                error(&[0, i64::MIN], &[0, 1], None),
                "data: cannot remove 9223372036854775808 and 0 places of 3 (axis 1 of [1, 3])",
            ),
            (error(&[0, i64::MAX], &[0, i64::MAX], None), "data: more places than can be counted (axis 1 of [1, 3])"),
            (
                error(&[0, i64::MAX / 2], &[0, 9], None),
                "output: more bytes than can be counted (shape [1, 4611686018427387915])",
            ),
        ];
        for (found, expected) in rows {
            assert_eq!(found, expected);
        }
    }
}
