//! Split: [ONNX](https://onnx.ai/onnx/operators/onnx__Split.html) 2 to 18, OpenVINO Split-1 and
//! [VariadicSplit-1](https://docs.openvino.ai/latest/documentation/openvino-ir-format/operation-sets/operation-specs/movement/variadic-split-1.html).

use ndarray::{Array, ArrayBase, ArrayViewMut, Data, Dimension};

use crate::error::{Error, Result, Subject, counted};
use crate::item::tensor::Tensor;
use crate::layout::axis::StepRange;
use crate::ops::arrays::check_axis;
use crate::ops::kernels::{Items, Output, Strided, check_output};
use crate::ops::slice::{SliceArgs, slice};

/// The parts of an axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SplitInto {
    /// This many equal parts; the last may be shorter.
    Parts(i64),
    /// These lengths; one may be -1, the rest.
    Lengths(Vec<i64>),
}

impl SplitInto {
    /// The number of parts, if it can be one.
    pub(in crate::ops) fn count(&self) -> usize {
        match self {
            Self::Parts(parts) => usize::try_from(*parts).unwrap_or(0),
            Self::Lengths(lengths) => lengths.len(),
        }
    }
}

/// An output takes about 1.5 KB, so the maximum is 100 MB.
const MAX_OUTPUTS: usize = 1 << 16;

/// Resolves the parts as slices.
///
/// # Errors
/// The axis, the number of parts or the lengths do not fit.
pub fn check(shape: &[usize], axis: i64, into: &SplitInto) -> Result<Vec<SliceArgs>> {
    let axis = check_axis(shape, axis)?;
    let dim = shape[axis];
    let lengths = match into {
        SplitInto::Parts(parts) => {
            let refuse = || Error::new(Subject::Argument("parts"), format!("{parts}, expected 1 to {MAX_OUTPUTS}"));
            let parts =
                usize::try_from(*parts).ok().filter(|parts| (1..=MAX_OUTPUTS).contains(parts)).ok_or_else(refuse)?;
            let each = dim.div_ceil(parts);
            (0..parts).map(|n| each.min(dim.saturating_sub(n.saturating_mul(each)))).collect()
        }
        SplitInto::Lengths(lengths) => lengths_of(dim, lengths).map_err(|message| {
            Error::new(Subject::Argument("lengths"), format!("{message} (axis {axis} of {shape:?})"))
        })?,
    };
    let slice = |start: &mut usize, len: usize| {
        let begin = *start as i64;
        *start += len;
        Some(SliceArgs::default().axis(axis as i64, StepRange::from(begin..*start as i64)))
    };
    Ok(lengths.into_iter().scan(0, slice).collect())
}

fn lengths_of(dim: usize, lengths: &[i64]) -> Result<Vec<usize>, String> {
    if lengths.len() > MAX_OUTPUTS {
        return Err(format!("{} numbers, expected at most {MAX_OUTPUTS}", lengths.len()));
    }
    let is_rest = |length: &&i64| **length == -1;
    if let Some(wrong) = lengths.iter().find(|length| **length < -1) {
        return Err(format!("{wrong}, expected 0 or more, or -1 for the rest"));
    }
    let sum: i128 = lengths.iter().filter(|length| **length > 0).map(|&length| i128::from(length)).sum();
    let rest = dim as i128 - sum;
    match lengths.iter().filter(is_rest).count() {
        0 if rest != 0 => Err(format!("{lengths:?} are {sum} places, expected {dim}")),
        1 if rest < 0 => Err(format!("{lengths:?} are {sum} places and the rest, expected at most {dim}")),
        0 | 1 => Ok(lengths.iter().map(|&length| usize::try_from(length).unwrap_or(rest as usize)).collect()),
        several => Err(format!("{}, expected one at most", counted(several, "rest", "rests"))),
    }
}

/// Splits an axis of `data` (ONNX Split-18, OpenVINO Split-1 and VariadicSplit-1).
///
/// ```
/// use ndarray::array;
/// use tensorop_kernels::{SplitInto, split};
/// let data = array![1, 2, 3, 4, 5];
/// assert_eq!(split(&data, 0, &SplitInto::Parts(2))?, [array![1, 2, 3], array![4, 5]]);
/// assert_eq!(split(&data, -1, &SplitInto::Lengths(vec![1, -1, 0]))?, [array![1], array![2, 3, 4, 5], array![]]);
/// # Ok::<(), tensorop_kernels::Error>(())
/// ```
///
/// # Errors
/// The axis is out of range, the number of parts is not 1 to 65,536, or the lengths do not add up to the dim.
pub fn split<T: Copy, D: Dimension>(
    data: &ArrayBase<impl Data<Elem = T>, D>,
    axis: i64,
    into: &SplitInto,
) -> Result<Vec<Array<T, D>>> {
    check(data.shape(), axis, into)?.iter().map(|args| slice(data, args)).collect()
}

pub(in crate::ops) fn wrong_count(found: usize, expected: usize) -> Error {
    Error::new(Subject::Output, format!("{}, expected {expected}", counted(found, "array", "arrays")))
}

/// Splits `data` along `axis` into arrays of the caller, as [`split`](crate::split()) returns them (ONNX Split, OpenVINO
/// Split-1 and VariadicSplit-1). The arrays have any layout.
///
/// # Errors
/// The axis is out of range, the lengths do not add up to the dim, or the number or a shape of `outs` does not fit
/// ([`Subject::Output`]). Then nothing is written.
pub fn split_into<T: Copy, D: Dimension>(
    data: &ArrayBase<impl Data<Elem = T>, D>,
    axis: i64,
    into: &SplitInto,
    outs: &mut [ArrayViewMut<'_, T, D>],
) -> Result<()> {
    let parts = check(data.shape(), axis, into)?;
    check_output(&[parts.len()], &[outs.len()]).map_err(|_| wrong_count(outs.len(), parts.len()))?;
    let spans = parts.iter().map(|part| part.resolve(data.shape())).collect::<Result<Vec<_>>>()?;
    for (spans, out) in spans.iter().zip(&*outs) {
        check_output(&spans.iter().map(|span| span.len).collect::<Vec<_>>(), out.shape())?;
    }
    for (spans, out) in spans.iter().zip(outs) {
        Output::view(Strided::of(data).select(spans), Items::single()).to_view(out.view_mut())?;
    }
    Ok(())
}

impl Tensor {
    /// Splits a tensor of any dtype as [`split`](crate::split()) does.
    ///
    /// # Errors
    /// An argument does not fit, or memory runs out.
    pub fn split(&self, axis: i64, into: &SplitInto) -> Result<Vec<Self>> {
        check(self.shape(), axis, into)?.iter().map(|args| self.slice(args)).collect()
    }
}

#[cfg(test)]
mod tests {
    use ndarray::{Array1, Array2};

    use super::*;

    #[test]
    fn parts_follow_each_other() {
        let rows: [(usize, SplitInto, &[usize]); 9] = [
            (6, SplitInto::Parts(3), &[2, 2, 2]),
            (7, SplitInto::Parts(3), &[3, 3, 1]),
            (5, SplitInto::Parts(4), &[2, 2, 1, 0]),
            (2, SplitInto::Parts(3), &[1, 1, 0]),
            (0, SplitInto::Parts(2), &[0, 0]),
            (6, SplitInto::Lengths(vec![1, 2, 3]), &[1, 2, 3]),
            (6, SplitInto::Lengths(vec![0, -1, 2]), &[0, 4, 2]),
            (3, SplitInto::Lengths(vec![3, -1]), &[3, 0]),
            (0, SplitInto::Lengths(vec![]), &[]),
        ];
        for (dim, into, lengths) in rows {
            let data = Array1::from_iter(0..dim);
            let found = split(&data, -1, &into).unwrap();
            assert_eq!(found.iter().map(Array1::len).collect::<Vec<_>>(), lengths, "{dim} {into:?}");
            assert!(found.iter().flatten().copied().eq(0..dim), "{dim} {into:?}");
        }
        let data = Array2::from_shape_fn((2, 3), |(row, column)| row * 3 + column);
        let found = split(&data, 1, &SplitInto::Lengths(vec![1, 2])).unwrap();
        assert_eq!(found, [ndarray::array![[0], [3]], ndarray::array![[1, 2], [4, 5]]]);
    }

    #[test]
    fn refused() {
        let data = Array1::from_iter(0..5);
        let error = |axis, into| split(&data, axis, &into).unwrap_err().to_string();
        let lengths = |list: &[i64]| SplitInto::Lengths(list.to_vec());
        let rows = [
            (error(1, SplitInto::Parts(1)), "axis: 1 is outside [-1, 0] (data [5])"),
            (error(0, SplitInto::Parts(0)), "parts: 0, expected 1 to 65536"),
            (error(0, SplitInto::Parts(i64::MAX)), "parts: 9223372036854775807, expected 1 to 65536"),
            (error(0, lengths(&[2, 2])), "lengths: [2, 2] are 4 places, expected 5 (axis 0 of [5])"),
            (
                error(0, lengths(&[4, -1, 2])),
                "lengths: [4, -1, 2] are 6 places and the rest, expected at most 5 (axis 0 of [5])",
            ),
            (error(0, lengths(&[-1, -1])), "lengths: 2 rests, expected one at most (axis 0 of [5])"),
            (error(0, lengths(&[0; 65537])), "lengths: 65537 numbers, expected at most 65536 (axis 0 of [5])"),
            (error(0, lengths(&[7, -2])), "lengths: -2, expected 0 or more, or -1 for the rest (axis 0 of [5])"),
        ];
        for (found, expected) in rows {
            assert_eq!(found, expected);
        }
        assert!(split(&ndarray::arr0(1), 0, &SplitInto::Parts(1)).is_err());
    }
}
