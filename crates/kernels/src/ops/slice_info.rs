//! Slices as ndarray has them.

use ndarray::{Dimension, SliceInfo, SliceInfoElem};

use super::slice::SliceArgs;
use crate::error::{Error, Result, Subject};
use crate::layout::axis::StepRange;

/// Takes the slices of ndarray's `s![…]`, which select the same items: ndarray runs backwards through a forward range,
/// so `s![1..4;-1]` is `3:0:-1` here.
///
/// ```
/// use ndarray::{array, s};
/// use tensorop_kernels::{SliceArgs, slice};
/// let data = array![[0, 1, 2, 3], [4, 5, 6, 7]];
/// let args: SliceArgs = s![.., 1..4;-1].try_into()?;
/// assert_eq!(slice(&data, &args)?, data.slice(s![.., 1..4;-1]));
/// let refused = SliceArgs::try_from(s![0, ..]).unwrap_err();
/// assert_eq!(refused.to_string(), "at: the index 0 alone would drop its axis: use 0..1");
/// # Ok::<(), tensorop_kernels::Error>(())
/// ```
impl<I: AsRef<[SliceInfoElem]>, D: Dimension, E: Dimension> TryFrom<SliceInfo<I, D, E>> for SliceArgs {
    type Error = Error;

    /// # Errors
    /// An index alone would drop an axis, or an axis is added ([`Subject::At`]).
    fn try_from(info: SliceInfo<I, D, E>) -> Result<Self> {
        let mut args = Self::default();
        for (axis, element) in (0..).zip(info.as_ref()) {
            args = args.axis(axis, range(*element)?);
        }
        Ok(args)
    }
}

fn range(element: SliceInfoElem) -> Result<StepRange> {
    match element {
        SliceInfoElem::Slice { start, end, step } if step > 0 => {
            Ok(StepRange { start: Some(start as i64), stop: end.map(|end| end as i64), step: step as i64 })
        }
        // an empty range, for which the place before the end would be the last of the axis
        SliceInfoElem::Slice { end: Some(0), .. } => Ok(StepRange { start: Some(0), stop: Some(0), step: 1 }),
        SliceInfoElem::Slice { start, end, step } => {
            let before = |place: isize| place as i64 - 1;
            let stop = if start == 0 { None } else { Some(before(start)) };
            Ok(StepRange { start: end.map(before), stop, step: step as i64 })
        }
        SliceInfoElem::Index(place) => {
            let end = if place == -1 { String::new() } else { (place + 1).to_string() };
            let message = format!("the index {place} alone would drop its axis: use {place}..{end}");
            Err(Error::new(Subject::At, message))
        }
        SliceInfoElem::NewAxis => {
            Err(Error::new(Subject::At, "NewAxis would add an axis: use reshape with NewShape::Unsqueeze"))
        }
    }
}

#[cfg(test)]
mod tests {
    use ndarray::{Array1, Ix1, Ix2, Slice};

    use super::*;
    use crate::ops::slice::slice;

    #[test]
    fn every_small_slice_is_ndarrays() {
        for dim in 0..6_isize {
            let data = Array1::from_iter(0..dim);
            for start in -dim..=dim {
                for end in (-dim..=dim).map(Some).chain([None]) {
                    for step in [1, 2, 3, -1, -2, -3] {
                        let place = |at: isize| if at < 0 { at + dim } else { at };
                        if place(start) > end.map_or(dim, place) {
                            continue;
                        }
                        let info = [SliceInfoElem::Slice { start, end, step }];
                        let info = SliceInfo::<_, Ix1, Ix1>::try_from(info).unwrap();
                        let found = slice(&data, &SliceArgs::try_from(info).unwrap()).unwrap();
                        let expected = data.slice_axis(ndarray::Axis(0), Slice::new(start, end, step));
                        assert_eq!(found, expected, "{start}..{end:?};{step} of {dim}");
                    }
                }
            }
        }
    }

    #[test]
    fn refused() {
        let last = SliceInfo::<_, Ix2, Ix1>::try_from([SliceInfoElem::from(..), SliceInfoElem::Index(-1)]).unwrap();
        let message = SliceArgs::try_from(last).unwrap_err().to_string();
        assert_eq!(message, "at: the index -1 alone would drop its axis: use -1..");
        let new = SliceInfo::<_, Ix1, Ix2>::try_from([SliceInfoElem::NewAxis, SliceInfoElem::from(..)]).unwrap();
        let message = SliceArgs::try_from(new).unwrap_err().to_string();
        assert_eq!(message, "at: NewAxis would add an axis: use reshape with NewShape::Unsqueeze");
    }
}
