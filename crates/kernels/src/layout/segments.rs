//! Segments: an output axis as a cycle of data places (forwards, backwards or repeated) and filled places.
//!
//! A slice has one segment per axis, a pad adds segments on both sides, a tile cycles through the whole axis, and a
//! roll starts in the middle.

use std::convert::Infallible;
use std::ops::Range;

use super::axis::Span;
use super::copy::{fill, repeat};
use super::view::{Few, View};

/// A part of an output axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Segment {
    /// Data places; a step of 0 repeats one place `len` times.
    Run(Span),
    /// This many places of the fill item.
    Fill(usize),
}

impl Segment {
    fn len(self) -> usize {
        match self {
            Self::Run(span) => span.len,
            Self::Fill(len) => len,
        }
    }
}

/// An output axis: a cycle of segments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segments {
    list: Vec<Segment>,
    ends: Vec<usize>,
    /// The list position of the first place.
    first: usize,
    len: usize,
}

/// Window places with the same kind of content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Places of the window.
    pub places: Range<usize>,
    /// Where their items come from.
    pub content: SegmentContent,
}

/// The content of places of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SegmentContent {
    /// Data places; the step is not 0.
    Read(Span),
    /// A copy of the window places this distance before.
    Repeat(usize),
    /// The fill item.
    Fill,
}

impl Segments {
    /// Makes an axis with each segment once.
    pub fn once(list: &[Segment]) -> Self {
        let len = list.iter().map(|segment| segment.len()).sum();
        Self::cycle(list, 0, len)
    }

    /// Makes an axis of `len` places that cycles through the list from position `first`.
    pub fn cycle(list: &[Segment], first: usize, len: usize) -> Self {
        let list: Vec<_> = list.iter().copied().filter(|segment| segment.len() > 0).collect();
        let end = |end: &mut usize, segment: &Segment| {
            *end += segment.len();
            Some(*end)
        };
        let ends: Vec<_> = list.iter().scan(0, end).collect();
        let period = ends.last().copied().unwrap_or(0);
        assert!(first < period || len == 0, "an axis begins within its segments");
        Self { list, ends, first, len }
    }

    /// All places of an axis of the data.
    pub fn whole(dim: usize) -> Self {
        Self::once(&[Segment::Run(Span::whole(dim))])
    }

    /// The places of the axis.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the axis has dim 0.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    fn period(&self) -> usize {
        self.ends.last().copied().unwrap_or(0)
    }

    /// Returns whether the axis broadcasts one place.
    pub fn repeats_one_place(&self) -> bool {
        self.len > 1 && matches!(self.list[..], [Segment::Run(Span { step: 0, .. })])
    }

    /// Returns whether a stream suffices: each data place at most once, in ascending order.
    pub fn is_forward(&self) -> bool {
        let mut runs = self.list.iter().filter(|segment| matches!(segment, Segment::Run(_)));
        let is_one = matches!((runs.next(), runs.next()), (None | Some(Segment::Run(Span { step: 1.., .. })), None));
        is_one && self.first + self.len <= self.period()
    }

    /// Returns the number of data places read for the whole axis.
    pub fn places_read(&self) -> usize {
        self.pieces(&(0..self.len)).iter().fold(0, |read, piece| match piece.content {
            SegmentContent::Read(span) => read + span.len,
            SegmentContent::Repeat(period) if period > 1 => read + piece.places.len(),
            SegmentContent::Repeat(_) | SegmentContent::Fill => read,
        })
    }

    /// Returns the number of places that come from the data, including the filled places of repetitions.
    pub fn places_fed(&self) -> usize {
        let fed = self.pieces(&(0..self.len)).into_iter().filter(|piece| piece.content != SegmentContent::Fill);
        fed.map(|piece| piece.places.len()).sum()
    }

    /// Returns whether all `dim` places are read once, in ascending order.
    pub fn reads_whole(&self, dim: usize) -> bool {
        let pieces = self.pieces(&(0..self.len));
        let mut reads = pieces.iter().filter(|piece| matches!(piece.content, SegmentContent::Read(_)));
        reads.next().is_some_and(|piece| piece.content == SegmentContent::Read(Span::whole(dim)))
            && reads.next().is_none()
    }

    /// Returns the data places from place `at` on, or `None` if it is filled, and how many places go on so, until `end` at
    /// most. A step of 0 repeats one place.
    pub fn run_at(&self, at: usize, end: usize) -> (Option<Span>, usize) {
        let from = (self.first + at) % self.period();
        let number = self.ends.partition_point(|&end| end <= from);
        let (segment, len) = (self.list[number], (self.ends[number] - from).min(end - at));
        match segment {
            Segment::Fill(_) => (None, len),
            // a cycle of one place
            Segment::Run(span) if self.period() == 1 => (Some(Span { step: 0, len: end - at, ..span }), end - at),
            Segment::Run(span) => {
                let inside = from + span.len - self.ends[number];
                (Some(Span { start: span.at(inside), step: span.step, len }), len)
            }
        }
    }

    /// The content of a range of places.
    pub fn pieces(&self, range: &Range<usize>) -> Vec<Piece> {
        let (period, len) = (self.period(), range.len());
        if len == 0 {
            return Vec::new();
        }
        let (mut pieces, once) = (Vec::new(), len.min(period));
        let mut from = (self.first + range.start) % period;
        let (mut number, mut at) = (self.ends.partition_point(|&end| end <= from), 0);
        while at < once {
            let (segment, end) = (self.list[number], self.ends[number]);
            let (inside, count) = (from + segment.len() - end, (end - from).min(once - at));
            let mut push = |count, content| {
                pieces.push(Piece { places: at..at + count, content });
                at += count;
            };
            match segment {
                Segment::Fill(_) => push(count, SegmentContent::Fill),
                Segment::Run(span) if span.step == 0 => {
                    push(1, SegmentContent::Read(Span { step: 1, len: 1, ..span }));
                    if count > 1 {
                        push(count - 1, SegmentContent::Repeat(1));
                    }
                }
                Segment::Run(span) => {
                    push(count, SegmentContent::Read(Span { start: span.at(inside), step: span.step, len: count }));
                }
            }
            (number, from) = if number + 1 == self.list.len() { (0, 0) } else { (number + 1, end) };
        }
        if once < len {
            pieces.push(Piece { places: once..len, content: SegmentContent::Repeat(period) });
        }
        pieces
    }
}

/// Returns the data places of the boxes to read.
pub fn boxes_read(axes: &[Vec<Piece>]) -> Vec<Vec<Span>> {
    let mut boxes = Vec::new();
    let Ok(()) = each_box(axes, &mut (Few::default(), Few::default()), &mut |places, _| {
        boxes.push(places.to_vec());
        Ok::<_, Infallible>(())
    });
    boxes
}

/// Fills a window. `item` is the fill item, whose length is the number of values per item. `read(places, view, out)`
/// copies a box of data. Each item is written once: by `read` or, from the last axis to the first, as a copy.
///
/// # Errors
/// A read fails.
pub fn arrange<T: Copy, E>(
    axes: &[Vec<Piece>],
    item: &[T],
    out: &mut [T],
    mut read: impl FnMut(&[Span], &View, &mut [T]) -> Result<(), E>,
) -> Result<(), E> {
    if out.is_empty() {
        return Ok(());
    }
    let dims: Few<usize> = axes.iter().map(|pieces| pieces.last().map_or(0, |piece| piece.places.end)).collect();
    let whole = View::c_order(&dims);
    each_box(axes, &mut (Few::default(), Few::default()), &mut |places, within| {
        read(places, &whole.select(within), out)
    })?;
    let mut block = item.len();
    for (axis, pieces) in axes.iter().enumerate().rev() {
        let row = dims[axis] * block;
        for Piece { places, content } in pieces {
            let (start, end) = (places.start * block, places.end * block);
            match content {
                SegmentContent::Repeat(distance) => each_read_place(&axes[..axis], &dims, 0, &mut |number| {
                    repeat(&mut out[number * row..][start - distance * block..end], distance * block);
                }),
                SegmentContent::Fill => each_read_place(&axes[..axis], &dims, 0, &mut |number| {
                    fill(&mut out[number * row..][start..end], item);
                }),
                SegmentContent::Read(_) => {}
            }
        }
        block = row;
    }
    Ok(())
}

/// Calls `each` with the data places and the window places of each box to read.
fn each_box<E>(
    axes: &[Vec<Piece>],
    before: &mut (Few<Span>, Few<Span>),
    each: &mut impl FnMut(&[Span], &[Span]) -> Result<(), E>,
) -> Result<(), E> {
    let Some((pieces, rest)) = axes.split_first() else { return each(&before.0, &before.1) };
    let axis = before.0.len();
    for piece in pieces {
        if let SegmentContent::Read(span) = piece.content {
            before.0.push(span);
            before.1.push(Span { start: piece.places.start, step: 1, len: piece.places.len() });
            each_box(rest, before, each)?;
            before.0.truncate(axis);
            before.1.truncate(axis);
        }
    }
    Ok(())
}

fn each_read_place(axes: &[Vec<Piece>], dims: &[usize], number: usize, each: &mut impl FnMut(usize)) {
    let Some((pieces, rest)) = axes.split_first() else { return each(number) };
    for piece in pieces.iter().filter(|piece| matches!(piece.content, SegmentContent::Read(_))) {
        for place in piece.places.clone() {
            each_read_place(rest, &dims[1..], number * dims[0] + place, each);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::copy::copy;
    use super::super::tests::span;
    use super::*;

    fn places(segments: &Segments) -> Vec<Option<usize>> {
        let list: Vec<_> = segments
            .list
            .iter()
            .flat_map(|segment| match *segment {
                Segment::Run(span) => (0..span.len).map(|n| Some(span.at(n))).collect(),
                Segment::Fill(len) => vec![None; len],
            })
            .collect();
        list.iter().copied().cycle().skip(segments.first).take(segments.len).collect()
    }

    fn axes() -> Vec<Segments> {
        let run = |start, step, len| Segment::Run(span(start, step, len));
        vec![
            Segments::whole(5),
            Segments::once(&[]),
            Segments::once(&[Segment::Fill(2)]),
            Segments::once(&[Segment::Fill(1), run(0, 1, 5), Segment::Fill(2)]),
            Segments::once(&[run(0, 0, 3), run(0, 1, 5), run(4, 0, 1)]),
            Segments::once(&[run(4, -2, 3), Segment::Fill(1), run(1, 3, 2)]),
            Segments::cycle(&[run(0, 1, 5)], 0, 17),
            Segments::cycle(&[run(0, 1, 5)], 3, 5),
            Segments::cycle(&[run(0, 1, 5), run(3, -1, 3)], 6, 12),
            Segments::cycle(&[run(2, 1, 1)], 0, 7),
            Segments::cycle(&[run(1, 1, 2), Segment::Fill(1)], 1, 8),
        ]
    }

    #[test]
    fn windows_have_the_items_of_their_places() {
        let data: Vec<u32> = (0..25).collect();
        let view = View::c_order(&[5, 5]);
        for rows in axes() {
            for columns in axes() {
                let (of_rows, of_columns) = (places(&rows), places(&columns));
                assert_eq!((of_rows.len(), of_columns.len()), (rows.len(), columns.len()));
                let item = |row: Option<usize>, column: Option<usize>| match (row, column) {
                    (Some(row), Some(column)) => data[row * 5 + column],
                    _ => 99,
                };
                for rows_of in ranges(rows.len()) {
                    for columns_of in ranges(columns.len()) {
                        let expected: Vec<u32> = of_rows[rows_of.clone()]
                            .iter()
                            .flat_map(|&row| {
                                of_columns[columns_of.clone()].iter().map(move |&column| item(row, column))
                            })
                            .collect();
                        let axes = [rows.pieces(&rows_of), columns.pieces(&columns_of)];
                        let mut out = vec![1000; expected.len()];
                        let made = arrange(&axes, &[99], &mut out, |places, place, out| {
                            copy(&data, &view.select(places), out, place);
                            Ok::<_, Infallible>(())
                        });
                        assert_eq!((made, out), (Ok(()), expected), "{rows:?} {columns:?}: {rows_of:?} {columns_of:?}");
                    }
                }
            }
        }
    }

    fn ranges(len: usize) -> Vec<Range<usize>> {
        let ends = (1..len).flat_map(|at| [0..at, at..len]);
        let middle = (1..len.saturating_sub(2)).map(|at| at..at + 2);
        std::iter::once(0..len).chain(ends).chain(middle).collect()
    }

    #[test]
    fn an_item_of_no_axis() {
        let mut out = [0];
        let read = |_: &[Span], _: &View, out: &mut [i32]| {
            out[0] = 7;
            Ok::<_, Infallible>(())
        };
        assert_eq!((arrange(&[], &[1], &mut out, read), out), (Ok(()), [7]));
    }

    #[test]
    fn what_is_read() {
        let expected = [(true, 5), (true, 0), (true, 0), (true, 5), (false, 7), (false, 5), (false, 17), (false, 5)];
        for (axis, (is_forward, read)) in axes().iter().zip(expected) {
            assert_eq!((axis.is_forward(), axis.places_read()), (is_forward, read), "{axis:?}");
        }
        let fed = [5, 0, 0, 5, 9, 5, 17, 5, 12, 7, 7];
        let whole = [true, false, false, true, false, false, true, false, false, false, false];
        for (axis, (fed, whole)) in axes().iter().zip(fed.into_iter().zip(whole)) {
            assert_eq!((axis.places_fed(), axis.reads_whole(5)), (fed, whole), "{axis:?}");
        }
    }
}
