//! What the operators on arrays have in common: checks of shapes, items in C order, and slices as `ndarray` has them.

use ndarray::{Array, ArrayBase, Data, Dimension, RawData, Slice};

use crate::error::{Error, Subject, counted};
use crate::layout::axis::{Span, resolve_axis};
use crate::layout::shape::{MAX_RANK, bytes_of};

/// Returns the rank of `shape`, at least 1 and at most [`MAX_RANK`].
pub(super) fn check_rank(shape: &[usize]) -> Result<usize, Error> {
    if shape.is_empty() {
        return Err(Error::new(Subject::Data, "rank 0, expected at least 1 axis"));
    }
    check_most_axes(shape, Subject::Data)?;
    Ok(shape.len())
}

/// Checks that an operand or an output of that shape has no more axes than a tensor may have.
pub(super) fn check_most_axes(shape: &[usize], subject: Subject) -> Result<(), Error> {
    match shape.len() {
        rank if rank > MAX_RANK => Err(Error::new(subject, format!("rank {rank}, expected at most {MAX_RANK}"))),
        _ => Ok(()),
    }
}

/// Returns the axis that a number names in data of that shape.
///
/// # Errors
/// Those of [`check_rank`]; an axis outside `[-rank, rank - 1]`.
pub(super) fn check_axis(shape: &[usize], axis: i64) -> Result<usize, Error> {
    let rank = check_rank(shape)?;
    resolve_axis(axis, rank)
        .ok_or_else(|| Error::new(Subject::Axis, format!("{axis} is outside [-{rank}, {}] (data {shape:?})", rank - 1)))
}

/// Returns the axis that the number at a position of a list names in a tensor of that rank. `shape` is that of the data.
///
/// # Errors
/// About `subject`: an axis outside `[-rank, rank - 1]`.
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

/// Returns the axes that a list names in a tensor of that rank, each once. `shape` is that of the data.
///
/// # Errors
/// About `subject`: those of [`listed_axis`]; an axis that is named twice.
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

/// Checks that a list has a number for each of some axes of data of that shape.
pub(super) fn check_length(list: &[i64], axes: usize, shape: &[usize], subject: Subject) -> Result<(), Error> {
    let found = || counted(list.len(), "number", "numbers");
    let refuse = || Error::new(subject, format!("{}, expected {axes}, one for each axis (data {shape:?})", found()));
    if list.len() == axes { Ok(()) } else { Err(refuse()) }
}

/// Returns the axes of data of some rank for an output of `rank` axes or more, whose last ones they are.
pub(super) fn leading(of_data: usize, rank: usize) -> Vec<Option<usize>> {
    let new = rank - of_data;
    (0..rank).map(|axis| axis.checked_sub(new)).collect()
}

/// Checks that `updates` have the shape `expected`, or, where one value stands for all of them, that there are no more of
/// them than can be counted. `with` says what gives `data` of that shape updates of this shape.
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

/// Checks that the items of an operand of that shape can be counted at all.
pub(super) fn check_extent(shape: &[usize], subject: Subject) -> Result<(), Error> {
    let message = || format!("more items than can be counted (shape {shape:?})");
    bytes_of(shape, 1).map(drop).ok_or_else(|| Error::new(subject, message()))
}

/// Checks that an operand or an output of that shape has no more axes than a tensor may have, and that its items can be counted
/// at all.
pub(super) fn check_shape(shape: &[usize], subject: Subject) -> Result<(), Error> {
    check_most_axes(shape, subject)?;
    check_extent(shape, subject)
}

/// Returns the items of an array in C order: borrowed if they lie so, otherwise copied.
pub(super) fn items<T: Clone, S: Data + RawData<Elem = T>, D: Dimension>(
    array: &ArrayBase<S, D>,
) -> std::borrow::Cow<'_, [T]> {
    match array.as_slice() {
        Some(items) => items.into(),
        None => array.iter().cloned().collect::<Vec<T>>().into(),
    }
}

/// Copies an array. The copy is in C order, whatever the layout of the array is.
pub(super) fn standard<T: Clone, D: Dimension>(array: &ArrayBase<impl Data<Elem = T>, D>) -> Array<T, D> {
    array.as_standard_layout().into_owned()
}

/// Returns the places of a resolved span as a slice of `ndarray`, whose negative step counts from the end of its range.
pub(super) fn slice_of(span: Span) -> Slice {
    let ends = [span.start, span.at(span.len.saturating_sub(1))];
    let end = if span.len == 0 { 0 } else { ends[0].max(ends[1]) + 1 };
    Slice::new(ends[0].min(ends[1]) as isize, Some(end as isize), span.step)
}
