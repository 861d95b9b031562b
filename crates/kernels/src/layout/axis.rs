//! Resolves axes, indices and slices to numbers in range; sizes and coordinates of shapes.

use std::ops::{Range, RangeFrom, RangeFull, RangeTo};

/// Returns the axis from 0; `None` outside `[-rank, rank - 1]`.
///
/// ```
/// use tensorop_kernels::layout::axis::resolve_axis;
/// assert_eq!((resolve_axis(-1, 3), resolve_axis(3, 3)), (Some(2), None));
/// ```
#[inline]
pub fn resolve_axis(axis: i64, rank: usize) -> Option<usize> {
    let axis = if axis < 0 {
        usize::try_from(axis.unsigned_abs()).ok().and_then(|back| rank.checked_sub(back))
    } else {
        usize::try_from(axis).ok()
    };
    axis.filter(|&axis| axis < rank)
}

/// The treatment of integers beyond int64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BeyondInt64 {
    /// An error.
    Refused,
    /// Clamps to the nearest int64, which leaves starts and stops equivalent.
    Clamped,
}

/// An unresolved slice of one axis, with Python's defaults for a missing start or stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StepRange {
    /// The first place; negative values count from the end.
    pub start: Option<i64>,
    /// The exclusive end; negative values count from the end.
    pub stop: Option<i64>,
    /// The step; not 0.
    pub step: i64,
}

impl StepRange {
    /// Takes this step.
    #[must_use]
    pub fn by(self, step: i64) -> Self {
        Self { step, ..self }
    }
}

impl From<RangeFull> for StepRange {
    fn from(_: RangeFull) -> Self {
        Self { start: None, stop: None, step: 1 }
    }
}

impl From<Range<i64>> for StepRange {
    fn from(range: Range<i64>) -> Self {
        Self { start: Some(range.start), stop: Some(range.end), step: 1 }
    }
}

impl From<RangeFrom<i64>> for StepRange {
    fn from(range: RangeFrom<i64>) -> Self {
        Self { start: Some(range.start), stop: None, step: 1 }
    }
}

impl From<RangeTo<i64>> for StepRange {
    fn from(range: RangeTo<i64>) -> Self {
        Self { start: None, stop: Some(range.end), step: 1 }
    }
}

/// A resolved range of places. With fewer than two places the step is 1; an empty range starts at 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Span {
    /// The first place.
    pub start: usize,
    /// The step; negative for a backward range.
    pub step: isize,
    /// The number of places.
    pub len: usize,
}

/// How a backward range treats a start before the axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Clamping {
    /// The range is empty, as in Python and Slice-8.
    #[default]
    Python,
    /// ONNX clamps the start to `[0, dim - 1]`, which selects the first place.
    Onnx,
}

impl StepRange {
    /// Returns the places of Python's `slice(start, stop, step).indices(dim)`; `None` if the step is 0.
    ///
    /// ```
    /// use tensorop_kernels::layout::axis::{StepRange, Span};
    /// let back = StepRange { start: Some(9), stop: Some(i64::MIN), step: -2 };
    /// assert_eq!(back.resolve(10), Some(Span { start: 9, step: -2, len: 5 }));
    /// ```
    pub fn resolve(self, dim: usize) -> Option<Span> {
        self.resolve_by(dim, Clamping::Python)
    }

    /// Resolves the range for a dim; `None` if the step is 0.
    pub fn resolve_by(self, dim: usize, clamping: Clamping) -> Option<Span> {
        let (dim, step) = (dim as i128, i128::from(self.step));
        if step == 0 {
            return None;
        }
        let (low, high) = if step > 0 { (0, dim) } else { (-1, dim - 1) };
        let place = |given: Option<i64>, default: i128| match given.map(i128::from) {
            None => default,
            Some(i) if i < 0 => (i + dim).clamp(low, high),
            Some(i) => i.clamp(low, high),
        };
        let (first, last) = if step > 0 { (low, high) } else { (high, low) };
        let (start, stop) = (place(self.start, first), place(self.stop, last));
        let start = if clamping == Clamping::Onnx && dim > 0 { start.max(0) } else { start };
        let len = (stop - start + step - step.signum()) / step;
        // Start and stop are at most one place beyond the axis.
        Some(match len.max(0) {
            0 => Span { start: 0, step: 1, len: 0 },
            1 => Span { start: start as usize, step: 1, len: 1 },
            len => Span { start: start as usize, step: step as isize, len: len as usize },
        })
    }
}

impl Span {
    /// All places of an axis.
    pub fn whole(dim: usize) -> Self {
        Self { start: 0, step: 1, len: dim }
    }

    /// Returns the positions whose places are in `lo..hi`.
    pub fn within(&self, lo: usize, hi: usize) -> std::ops::Range<usize> {
        if self.len == 0 || lo >= hi {
            return 0..0;
        }
        let step = self.step.unsigned_abs();
        let (from, to) = if self.step > 0 {
            (lo.saturating_sub(self.start).div_ceil(step), hi.saturating_sub(self.start).div_ceil(step))
        } else {
            ((self.start + 1).saturating_sub(hi).div_ceil(step), (self.start + 1).saturating_sub(lo).div_ceil(step))
        };
        let to = to.min(self.len);
        from.min(to)..to
    }

    /// Returns the axis place at position `i`, which must be less than `len`.
    pub fn at(&self, i: usize) -> usize {
        self.start.wrapping_add_signed(self.step.wrapping_mul(i as isize))
    }
}

/// The maximum rank, as in NumPy 2.
pub const MAX_RANK: usize = 64;

/// Returns the bytes of a tensor; `None` if its non-zero dims times the item size exceed `isize::MAX`. Offsets and
/// strides then fit `isize`.
pub fn bytes_of(shape: &[usize], itemsize: usize) -> Option<usize> {
    let mut extent = itemsize.max(1);
    for &dim in shape.iter().filter(|&&d| d != 0) {
        extent = extent.checked_mul(dim).filter(|&e| isize::try_from(e).is_ok())?;
    }
    Some(if itemsize == 0 || shape.contains(&0) { 0 } else { extent })
}

/// Returns the product of dims, saturating.
pub fn product(dims: &[usize]) -> usize {
    dims.iter().fold(1, |all, &dim| all.saturating_mul(dim))
}

/// Returns the index of an item in C order.
pub fn coordinates(mut item: usize, shape: &[usize]) -> Vec<usize> {
    let mut at = vec![0; shape.len()];
    for (place, &dim) in at.iter_mut().zip(shape).rev() {
        *place = item % dim.max(1);
        item /= dim.max(1);
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walked(range: StepRange, dim: usize) -> Vec<usize> {
        let dim = dim as i128;
        let step = i128::from(range.step);
        let norm = |v: i64| if v < 0 { i128::from(v) + dim } else { i128::from(v) };
        let start = range.start.map_or(if step > 0 { 0 } else { dim - 1 }, norm);
        let stop = range.stop.map_or(if step > 0 { dim } else { -1 }, |v| {
            let v = norm(v);
            if v < 0 { -1 } else { v }
        });
        let start = if step > 0 { start.max(0) } else { start.min(dim - 1) };
        let mut places = Vec::new();
        let mut at = start;
        while (step > 0 && at < stop.min(dim)) || (step < 0 && at > stop && at >= 0) {
            places.push(at as usize);
            at += step;
        }
        places
    }

    #[test]
    fn every_small_range_is_pythons() {
        let ends: Vec<Option<i64>> = (-7..=7)
            .map(Some)
            .chain([None, Some(i64::MIN), Some(i64::MAX), Some(i32::MIN.into()), Some(i32::MAX.into())])
            .collect();
        let steps = [1, 2, 3, 7, i64::MAX, -1, -2, -5, i64::MIN, i32::MAX.into()];
        for dim in 0..6 {
            for &start in &ends {
                for &stop in &ends {
                    for step in steps {
                        let range = StepRange { start, stop, step };
                        let span = range.resolve(dim).unwrap();
                        let places: Vec<usize> = (0..span.len).map(|i| span.at(i)).collect();
                        assert_eq!(places, walked(range, dim), "{range:?} of {dim}");
                        for lo in 0..=dim {
                            for hi in lo..=dim {
                                let inside: Vec<usize> =
                                    (0..span.len).filter(|&i| (lo..hi).contains(&span.at(i))).collect();
                                assert_eq!(
                                    span.within(lo, hi).collect::<Vec<_>>(),
                                    inside,
                                    "{range:?} of {dim} in {lo}..{hi}"
                                );
                            }
                        }
                    }
                }
            }
        }
        assert_eq!(StepRange { start: None, stop: None, step: 0 }.resolve(0), None);
    }

    #[test]
    fn a_start_before_the_axis() {
        let range = |start, stop, step| StepRange { start: Some(start), stop: Some(stop), step };
        let rows: [(_, _, &[usize]); 7] = [
            (range(-9, i64::MIN, -1), 3, &[0]),
            (range(-9, i64::MIN, -1), 0, &[]),
            (range(-4, -9, -2), 3, &[0]),
            (range(-9, 0, -1), 3, &[]),
            (range(-1, i64::MIN, -2), 3, &[2, 0]),
            (range(-9, 2, 1), 3, &[0, 1]),
            (range(2, i64::MAX, -1), 3, &[]),
        ];
        for (range, dim, wanted) in rows {
            let span = range.resolve_by(dim, Clamping::Onnx).unwrap();
            assert_eq!((0..span.len).map(|i| span.at(i)).collect::<Vec<_>>(), wanted, "{range:?} of {dim}");
        }
        assert_eq!(range(-9, i64::MIN, -1).resolve(3), Some(Span { start: 0, step: 1, len: 0 }));
        assert_eq!(range(0, 0, 0).resolve_by(0, Clamping::Onnx), None);
    }

    #[test]
    fn indices() {
        for (index, dim, place) in [
            (0, 1, Some(0)),
            (0, 0, None),
            (-1, 3, Some(2)),
            (-3, 3, Some(0)),
            (-4, 3, None),
            (3, 3, None),
            (i64::MIN, 3, None),
            (i64::MAX, 3, None),
        ] {
            assert_eq!(resolve_axis(index, dim), place, "{index} of {dim}");
        }
    }
}
