//! Checks of shapes and axes.

use ndarray::Slice;

use crate::error::{Error, Subject, counted};
use crate::layout::axis::{MAX_RANK, Span, bytes_of, resolve_axis};

pub(super) fn check_rank(shape: &[usize]) -> Result<usize, Error> {
    if shape.is_empty() {
        return Err(Error::new(Subject::Data, "rank 0, expected at least 1 axis"));
    }
    check_most_axes(shape, Subject::Data)?;
    Ok(shape.len())
}

pub(super) fn check_most_axes(shape: &[usize], subject: Subject) -> Result<(), Error> {
    match shape.len() {
        rank if rank > MAX_RANK => Err(Error::new(subject, format!("rank {rank}, expected at most {MAX_RANK}"))),
        _ => Ok(()),
    }
}

pub(super) fn check_axis(shape: &[usize], axis: i64) -> Result<usize, Error> {
    let rank = check_rank(shape)?;
    resolve_axis(axis, rank)
        .ok_or_else(|| Error::new(Subject::Axis, format!("{axis} is outside [-{rank}, {}] (data {shape:?})", rank - 1)))
}

pub(super) fn listed_axis(
    list: &[i64],
    position: usize,
    rank: usize,
    shape: &[usize],
    subject: Subject,
) -> Result<usize, Error> {
    let typed = list[position];
    resolve_axis(typed, rank).ok_or_else(|| {
        let range = match rank {
            0 => "a scalar has no axes".to_owned(),
            _ => format!("expected one of [-{rank}, {}]", rank - 1),
        };
        Error::new(subject, format!("axis {typed} at position {position}, {range} (data {shape:?})"))
    })
}

pub(super) fn named_axes(list: &[i64], rank: usize, shape: &[usize], subject: Subject) -> Result<Vec<usize>, Error> {
    let mut axes = Vec::with_capacity(list.len());
    for (position, &typed) in list.iter().enumerate() {
        let axis = listed_axis(list, position, rank, shape, subject)?;
        if let Some(earlier) = axes.iter().position(|&other| other == axis) {
            let other = list[earlier];
            let twice =
                format!("axis {axis} is named twice: {other} at position {earlier}, {typed} at position {position}");
            return Err(Error::new(subject, format!("{twice} (data {shape:?})")));
        }
        axes.push(axis);
    }
    Ok(axes)
}

pub(super) fn check_length(list: &[i64], axes: usize, shape: &[usize], subject: Subject) -> Result<(), Error> {
    let found = || counted(list.len(), "number", "numbers");
    let refuse = || Error::new(subject, format!("{}, expected {axes}, one for each axis (data {shape:?})", found()));
    if list.len() == axes { Ok(()) } else { Err(refuse()) }
}

/// NumPy's alignment: the data has the last axes, and new ones are `None`.
pub(super) fn leading(of_data: usize, rank: usize) -> Vec<Option<usize>> {
    let new = rank - of_data;
    (0..rank).map(|axis| axis.checked_sub(new)).collect()
}

pub(super) fn check_updates(
    updates: Option<&[usize]>,
    expected: &[usize],
    data: &[usize],
    with: impl FnOnce() -> String,
) -> Result<(), Error> {
    match updates {
        Some(updates) if updates != expected => {
            let message = format!("shape {updates:?}, expected {expected:?} (data {data:?} with {})", with());
            Err(Error::new(Subject::Updates, message))
        }
        _ => check_extent(expected, Subject::Updates),
    }
}

pub(super) fn check_extent(shape: &[usize], subject: Subject) -> Result<(), Error> {
    let message = || format!("more items than can be counted (shape {shape:?})");
    bytes_of(shape, 1).map(drop).ok_or_else(|| Error::new(subject, message()))
}

pub(super) fn check_shape(shape: &[usize], subject: Subject) -> Result<(), Error> {
    check_most_axes(shape, subject)?;
    check_extent(shape, subject)
}

/// A negative step of an `ndarray` slice counts from the end of its range.
pub(super) fn slice_of(span: Span) -> Slice {
    let ends = [span.start, span.at(span.len.saturating_sub(1))];
    let end = if span.len == 0 { 0 } else { ends[0].max(ends[1]) + 1 };
    Slice::new(ends[0].min(ends[1]) as isize, Some(end as isize), span.step)
}
