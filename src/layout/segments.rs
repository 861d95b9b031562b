//! Segments: an axis of an output as a list of places of another axis, and of places that hold one item. The places are taken
//! forwards, backwards, or one of them again and again, and a list can be gone through any number of times.
//!
//! A slice is one segment of each axis. A pad has segments that are filled or repeat a place before and behind it, a tile goes
//! through the whole axis several times, and a roll begins in the middle of it.

use std::ops::Range;

use super::axis::Span;
use super::shape::coordinates;
use super::view::View;
use super::walk::{fill, repeat};

/// A part of an axis of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Segment {
    /// Places of an axis of the data. A span with a step of 0 has one place `len` times.
    Run(Span),
    /// This number of places, which the data does not feed.
    Fill(usize),
}

impl Segment {
    /// Returns the number of its places.
    fn len(self) -> usize {
        match self {
            Self::Run(span) => span.len,
            Self::Fill(len) => len,
        }
    }
}

/// An axis of an output: a list of segments, gone through again and again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segments {
    /// The segments, each of at least one place.
    list: Vec<Segment>,
    /// The place of the list behind each segment.
    ends: Vec<usize>,
    /// The place of the list at which the axis begins.
    first: usize,
    len: usize,
}

/// Places of an axis of a window that are made alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The places of the window, counted from its beginning.
    pub places: Range<usize>,
    pub content: SegmentContent,
}

/// The content of some places of an axis of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SegmentContent {
    /// These places of the data. The step is not 0.
    Read(Span),
    /// The places of the window that come this number of places before.
    Repeat(usize),
    /// One item, everywhere.
    Fill,
}

impl Segments {
    /// Makes an axis that goes through a list of segments once.
    pub fn once(list: &[Segment]) -> Self {
        let len = list.iter().map(|segment| segment.len()).sum();
        Self::cycle(list, 0, len)
    }

    /// Makes an axis of `len` places that goes through a list of segments again and again, from place `first` of the list on.
    ///
    /// # Panics
    /// If the list has no place, but the axis has one; if `first` is beyond the places of the list.
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

    /// Makes an axis of all places of an axis of the data.
    pub fn whole(dim: usize) -> Self {
        Self::once(&[Segment::Run(Span::whole(dim))])
    }

    /// Returns the number of places of the axis.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether the axis has no place.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the number of places of the list.
    fn period(&self) -> usize {
        self.ends.last().copied().unwrap_or(0)
    }

    /// Returns whether the axis is one place of the data several times.
    pub fn repeats_one_place(&self) -> bool {
        self.len > 1 && matches!(self.list[..], [Segment::Run(Span { step: 0, .. })])
    }

    /// Returns whether each place of the data is taken once at most, in ascending order, so that a stream can be read.
    pub fn is_forward(&self) -> bool {
        let mut runs = self.list.iter().filter(|segment| matches!(segment, Segment::Run(_)));
        let is_one = matches!((runs.next(), runs.next()), (None | Some(Segment::Run(Span { step: 1.., .. })), None));
        is_one && self.first + self.len <= self.period()
    }

    /// Returns how many places of the data are read for the whole axis, as far as none is read twice for one window.
    pub fn places_read(&self) -> usize {
        self.pieces(&(0..self.len)).iter().fold(0, |read, piece| match piece.content {
            SegmentContent::Read(span) => read + span.len,
            // a period that is longer than a window is read for each of its repetitions
            SegmentContent::Repeat(period) if period > 1 => read + piece.places.len(),
            SegmentContent::Repeat(_) | SegmentContent::Fill => read,
        })
    }

    /// Returns how many places of the axis the data feeds. What is filled counts, too, if the list is gone through again.
    pub fn places_fed(&self) -> usize {
        let fed = self.pieces(&(0..self.len)).into_iter().filter(|piece| piece.content != SegmentContent::Fill);
        fed.map(|piece| piece.places.len()).sum()
    }

    /// Returns whether all of `dim` places of the data are read in ascending order, and none of them again, for the whole axis.
    pub fn reads_whole(&self, dim: usize) -> bool {
        let pieces = self.pieces(&(0..self.len));
        let mut reads = pieces.iter().filter(|piece| matches!(piece.content, SegmentContent::Read(_)));
        reads.next().is_some_and(|piece| piece.content == SegmentContent::Read(Span::whole(dim)))
            && reads.next().is_none()
    }

    /// Returns the pieces of a range of the axis, in order.
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

/// Returns the boxes of the data that are read for the pieces of each axis of a window: the places of the data, and those of the
/// window. Together with what repeats and is filled they are the whole window.
pub fn boxes_read(axes: &[Vec<Piece>]) -> impl Iterator<Item = (Vec<Span>, Vec<Range<usize>>)> + use<> {
    let read = |pieces: &Vec<Piece>| -> Vec<(Span, Range<usize>)> {
        let of = |piece: &Piece| {
            if let SegmentContent::Read(span) = piece.content { Some((span, piece.places.clone())) } else { None }
        };
        pieces.iter().filter_map(of).collect()
    };
    let axes: Vec<_> = axes.iter().map(read).collect();
    let counts: Vec<usize> = axes.iter().map(Vec::len).collect();
    (0..counts.iter().product()).map(move |number| {
        let at = coordinates(number, &counts);
        axes.iter().zip(at).map(|(pieces, at)| pieces[at].clone()).unzip()
    })
}

/// Makes `out` the items of a window whose axes have these pieces. An item is as many values as `item` has, which is the one
/// that fills. `read(places, place, out)` copies a box of the data to the places of `out` that a view shows.
///
/// Every item is written once: by `read`, or, axis by axis from the last one on, as a copy of items of the window or of `item`.
///
/// # Errors
/// Those of `read`.
pub fn arrange<T: Copy, E>(
    axes: &[Vec<Piece>],
    item: &[T],
    out: &mut [T],
    mut read: impl FnMut(&[Span], &View, &mut [T]) -> Result<(), E>,
) -> Result<(), E> {
    if out.is_empty() {
        return Ok(());
    }
    let dims: Vec<usize> = axes.iter().map(|pieces| pieces.last().map_or(0, |piece| piece.places.end)).collect();
    let whole = View::c_order(&dims);
    for (places, ranges) in boxes_read(axes) {
        read(&places, &whole.part(&ranges), out)?;
    }
    // the values at one place of an axis
    let mut block = item.len();
    for (axis, pieces) in axes.iter().enumerate().rev() {
        let row = dims[axis] * block;
        let made = pieces.iter().filter(|piece| !matches!(piece.content, SegmentContent::Read(_)));
        let made: Vec<_> = made.map(|it| (it.places.start * block..it.places.end * block, it.content)).collect();
        if !made.is_empty() {
            each_read_place(&axes[..axis], &dims, 0, &mut |number| {
                let row = &mut out[number * row..][..row];
                for (Range { start, end }, content) in &made {
                    match content {
                        SegmentContent::Repeat(distance) => {
                            repeat(&mut row[start - distance * block..*end], distance * block)
                        }
                        SegmentContent::Fill => fill(&mut row[*start..*end], item),
                        SegmentContent::Read(_) => {}
                    }
                }
            });
        }
        block = row;
    }
    Ok(())
}

/// Calls `each` with the number, in C order, of every place of some axes that is read. `number` is that of the axes before them.
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
    use std::convert::Infallible;

    use super::super::tests::span;
    use super::super::walk::copy;
    use super::*;

    /// The place of the data at each place of an axis; `None` for one that is filled.
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

    /// Axes of each kind over data of 5 places.
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

    /// Some ranges of an axis of that length: all of it, its ends, and a few in the middle.
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
