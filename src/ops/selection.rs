//! Selections: all items of a stored tensor, or a slice of them. Other operators begin with one; by itself it is the output of
//! `slice` and of a copy.

use std::ops::Range;

use super::fill::{Fill, Patch, PatchBase, Scratch, StoredWindow, fill_run_by_boxes};
use super::window_size::{ACROSS_WINDOWS, EDIT_WINDOW, FILE_WINDOW, SHORT_PIECE, WINDOW};
use crate::error::Result;
use crate::item::meta::{Meta, Order};
use crate::layout::axis::Span;
use crate::layout::gather::{GAP, LONG_PIECE};
use crate::layout::view::View;
use crate::layout::window::{Window, Windows};
use crate::parallel::Threads;
use crate::storage::read_at::request_window;
use crate::storage::source::Source;

/// Items of a source, seen through a view of its storage.
///
/// The order of storage is decided here alone. An operator that begins with a selection counts its axes by
/// [`axes`](Self::axes); it need not know whether its output is a new file in C order or data in Fortran order that is
/// changed in place.
#[derive(Debug)]
pub struct Selection {
    source: Source,
    view: View,
    meta: Meta,
    /// The axes of the source in the order in which the output has them.
    axes: Vec<usize>,
    in_place: bool,
}

impl Selection {
    /// Selects all of a tensor, for an output in C order.
    pub fn whole(source: Source) -> Self {
        Self::new(source, Order::C, false)
    }

    /// Selects all of a tensor that is changed in place: the output has the axes in the order of storage.
    pub fn in_place(source: Source) -> Self {
        let order = source.meta().order;
        Self::new(source, order, true)
    }

    /// Selects all of a tensor with its axes reversed, for a file in Fortran order.
    pub fn reversed(source: Source) -> Self {
        Self::new(source, Order::Fortran, false)
    }

    /// Selects the part of a tensor that one span an axis selects, for an output in C order.
    pub fn slice(source: Source, spans: &[Span]) -> Self {
        let mut it = Self::whole(source);
        it.view = it.view.select(spans);
        it.meta.shape = it.view.shape();
        it
    }

    /// Selects all of a tensor with its axes in another order, for an output in C order.
    pub fn transposed(source: Source, order: &[usize]) -> Self {
        Self::whole(source).with_axes(order)
    }

    /// Puts the axes of the output, which is in C order, into another order.
    #[must_use]
    pub fn with_axes(self, order: &[usize]) -> Self {
        let view = self.view.with_axes(order);
        let axes = order.iter().map(|&axis| self.axes[axis]).collect();
        let meta = Meta::new(self.meta.dtype.clone(), view.shape());
        Self { view, axes, meta, ..self }
    }

    fn new(source: Source, order: Order, in_place: bool) -> Self {
        let mut axes: Vec<usize> = (0..source.shape().len()).collect();
        if order == Order::Fortran {
            axes.reverse();
        }
        let view = source.view().with_axes(&axes);
        let meta = Meta::new(source.dtype().clone(), view.shape());
        Self { source, view, meta, axes, in_place }
    }

    /// Returns the source of the items.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// Returns where the items of the output lie in the storage of the source.
    pub fn view(&self) -> &View {
        &self.view
    }

    /// Makes a stream readable in any order, for windows that do not come in that of its items.
    ///
    /// # Errors
    /// Those of [`Source::settle`].
    pub fn settle(&mut self) -> Result<()> {
        self.source.settle()
    }

    /// Returns the axes of the source in the order in which the output has them.
    pub fn axes(&self) -> &[usize] {
        &self.axes
    }

    /// Returns the order of storage that the output follows.
    pub fn order(&self) -> Order {
        if self.in_place { self.source.meta().order } else { Order::C }
    }

    /// Returns whether the source is changed in place.
    pub fn is_in_place(&self) -> bool {
        self.in_place
    }

    /// Makes chunks in long rows readable in C order, as [`Source::flatten`] does. The output must be in C order.
    ///
    /// # Errors
    /// Those of [`Source::flatten`].
    pub fn flatten(&mut self, threads: Threads) -> Result<()> {
        self.source.flatten(threads)
    }

    /// Returns whether the order of the output crosses that of storage so soon that what follows each other in both has no more
    /// than so many bytes.
    fn crosses_within(&self, bytes: usize) -> bool {
        crosses_within(&self.view, self.meta.dtype.itemsize(), bytes)
    }

    /// Returns the places of the source that a window shows, if the items have the source's own order of axes.
    fn places(&self, window: &Window) -> Option<Vec<Span>> {
        let (places, along) = self.view.part(&window.ranges).as_selection(self.source.shape())?;
        along.is_sorted().then_some(places)
    }
}

impl Fill for Selection {
    fn meta(&self) -> &Meta {
        &self.meta
    }

    fn operands(&self) -> Vec<&Source> {
        vec![&self.source]
    }

    fn prepare(&mut self) -> Result<()> {
        if must_settle(&self.source, &self.view) { self.source.settle() } else { Ok(()) }
    }

    fn fill(&self, window: &Window, out: &mut [u8], scratch: &mut Scratch) -> Result<()> {
        let (part, gathered) = (self.view.part(&window.ranges), &mut scratch.gathered);
        // What lies between the items of a window is of no other window where both follow each other as they are stored. Nothing
        // lies between those of a run, of which in-place edits read thousands.
        if part.as_run().is_none() && window.is_contiguous(&self.meta.shape) && self.view.crossing().is_none() {
            self.source.read_alone(&part, out, gathered)
        } else {
            self.source.read(&part, out, gathered)
        }
    }

    fn fill_run(&self, run: Range<usize>, out: &mut [u8], scratch: &mut Scratch) -> Result<()> {
        match self.view.as_run().filter(|_| self.source.is_read_by_position()) {
            Some(first) => self.source.read_at(out, ((first + run.start) * self.meta.dtype.itemsize()) as u64),
            None => fill_run_by_boxes(self, run, out, scratch),
        }
    }

    fn in_short_pieces(&self) -> Vec<&Source> {
        let is_all = self.view.items() >= self.source.meta().items();
        if is_all && self.crosses_within(SHORT_PIECE) { vec![&self.source] } else { Vec::new() }
    }

    fn window_bytes(&self, threads: usize) -> usize {
        let is_across = self.crosses_within(LONG_PIECE);
        if self.source.costs_requests() && !is_across {
            let run = self.view.run() * self.meta.dtype.itemsize();
            return request_window(self.meta.bytes(), threads, run);
        }
        let bytes = if self.in_place { EDIT_WINDOW } else { FILE_WINDOW };
        if is_across { bytes.max(ACROSS_WINDOWS / threads) } else { bytes }
    }

    fn effort(&self) -> usize {
        let (bytes, run) = (self.meta.bytes(), self.view.run() * self.meta.dtype.itemsize());
        // a piece that lies apart takes longer to read than a gap is long that is read through, and no more than all is read
        let apart = bytes.checked_div(run).unwrap_or(0).saturating_mul(GAP);
        bytes.max(apart.min(self.source.bytes()))
    }

    fn tile(&self, items: usize) -> Option<Vec<usize>> {
        self.crosses_within(SHORT_PIECE).then(|| tile(&self.meta.shape, &self.view.axes_as_stored(), items))
    }

    fn piece(&self, sides: &[usize]) -> usize {
        match self.crosses_within(SHORT_PIECE) {
            true => self.view.piece(sides).saturating_mul(self.meta.dtype.itemsize()),
            false => usize::MAX,
        }
    }

    fn grid(&self) -> Option<Vec<usize>> {
        let grid = self.source.as_chunks()?.grid();
        let (places, along) = self.view.as_selection(self.source.shape())?;
        let side = |&axis: &usize| (grid[axis] / places[axis].step.unsigned_abs()).max(1);
        Some(along.iter().map(side).collect())
    }

    fn grain(&self) -> Option<Vec<usize>> {
        if self.source.as_chunks().is_some() {
            return self.grid();
        }
        if !self.source.is_read_by_position() {
            return None;
        }
        let (axis, stride) = self.view.nearest()?;
        let mut grain = vec![1; self.meta.shape.len()];
        grain[axis] = (GAP / stride.saturating_mul(self.source.dtype().itemsize().max(1))).max(1);
        Some(grain)
    }

    fn axes_of_data(&self) -> Option<Vec<Option<usize>>> {
        (!self.axes.is_sorted()).then(|| self.axes.iter().copied().map(Some).collect())
    }

    fn fills_boxes(&self) -> bool {
        true
    }

    fn stored(&self, window: &Window) -> Result<Option<StoredWindow<'_>>> {
        let Some(chunks) = self.source.as_chunks() else { return Ok(None) };
        let places = self.places(window).filter(|places| places.iter().all(|span| span.step == 1));
        Ok(places.map(|places| {
            let places = places.iter().map(|span| span.start..span.start + span.len).collect();
            StoredWindow { chunks: &**chunks, places: Window::new(places, self.source.shape()) }
        }))
    }

    fn bytes_read(&self, window: &Window) -> u64 {
        match (self.source.as_chunks(), self.places(window)) {
            (Some(chunks), Some(places)) => chunks.bytes_at(&places),
            _ => (window.items() * self.meta.dtype.itemsize()) as u64,
        }
    }

    fn as_patch(&self) -> Option<&dyn Patch> {
        Some(self)
    }
}

/// A patch that replaces nothing.
impl Patch for Selection {
    fn base(&self) -> PatchBase<'_> {
        PatchBase {
            source: &self.source,
            is_in_place: self.in_place,
            is_whole_storage: self.view.is_c_order() && self.view.items() == self.source.meta().items(),
        }
    }

    fn changed(&self) -> usize {
        0
    }

    fn touched(&self, _: &Windows, _: Range<usize>) -> Result<Vec<usize>> {
        Ok(Vec::new())
    }

    fn extent(&self, _: &Window) -> Result<Range<usize>> {
        Ok(0..0)
    }

    fn finish_updates(&self) -> Result<()> {
        Ok(())
    }
}

/// Returns whether the order of a view crosses that of storage within so many bytes.
pub(super) fn crosses_within(view: &View, itemsize: usize, bytes: usize) -> bool {
    view.crossing().is_some_and(|items| items.saturating_mul(itemsize) < bytes)
}

/// A piece that is written is worth so many of the same length that are read: a file system keeps a record of each write, so
/// that one of 3 KB took six times as long as its share of a long one, where a read of as much took a third longer than its own.
const WRITES_PER_READ: usize = 8;

/// Returns the sides of boxes of about `items` items of an output of that shape whose items are stored along the axes `stored`,
/// beginning with the one along which they lie side by side. What is contiguous in a box where it is read, and what is where it
/// is written, are both made as long as they can be: the former along the first of these axes, the latter along the last of the
/// output. So a box of 4 MiB of float32 is read in pieces of 1 KiB and written in pieces of 8 KiB, where one that is contiguous
/// in the output, with a row of 64 KiB, would be read in pieces of 1 KiB, a system call each. Axes that come last in both orders
/// are taken whole, and those that are short make all of a box one piece.
pub(super) fn tile(shape: &[usize], stored: &[usize], items: usize) -> Vec<usize> {
    // the items of a piece, and the axis along which it ends
    let piece = |sides: &[usize], axes: &[usize]| {
        let mut piece = 1;
        let end = axes.iter().copied().find(|&axis| {
            piece *= sides[axis];
            sides[axis] < shape[axis]
        });
        (piece, end)
    };
    let seen: Vec<usize> = (0..shape.len()).rev().collect();
    // grows a box whose pieces that are written are about so many times as long as those that are read, and tells its cost
    let grown = |times: usize| {
        let mut sides = vec![1; shape.len()];
        loop {
            let volume: usize = sides.iter().product();
            let (read, read_end) = piece(&sides, stored);
            let (written, written_end) = piece(&sides, &seen);
            let is_written_next = written < read.saturating_mul(times);
            let ends = if is_written_next { [written_end, read_end] } else { [read_end, written_end] };
            let grown = ends.into_iter().flatten().find_map(|axis| {
                let most = (items / (volume / sides[axis])).min(shape[axis]);
                (most > sides[axis]).then(|| (axis, most.min(2 * sides[axis])))
            });
            match grown {
                Some((axis, side)) => sides[axis] = side,
                None => break,
            }
        }
        // as many boxes along each axis, none of them much smaller than the others
        let even = |(&side, &dim): (&usize, &usize)| dim.div_ceil(dim.div_ceil(side).max(1)).max(1);
        let sides: Vec<usize> = sides.iter().zip(shape).map(even).collect();
        let (read, written) = (piece(&sides, stored).0, piece(&sides, &seen).0);
        (1.0 / read as f64 + WRITES_PER_READ as f64 / written as f64, sides)
    };
    // where rows are short, a box that is written as one piece may cost less than one with longer pieces to read
    let shares = [WRITES_PER_READ, 1, WRITES_PER_READ * WRITES_PER_READ, usize::MAX];
    let best = shares.map(grown).into_iter().min_by(|(one, _), (other, _)| one.total_cmp(other));
    best.expect("there are shares").1
}

/// Returns whether a source must be made readable in any order before its items are read as `view` shows them: a stream
/// that is not read from front to back. So must a stream of items that are larger than a window: no memory is taken for
/// them before it is known that they are there.
pub fn must_settle(source: &Source, view: &View) -> bool {
    source.is_stream() && (!view.is_forward() || source.dtype().itemsize() > WINDOW)
}

#[cfg(test)]
mod tests {
    use ndarray::Array;

    use super::{Selection, tile};
    use crate::item::tensor::Tensor;
    use crate::layout::axis::Span;
    use crate::ops::fill::Fill;
    use crate::storage::source::Source;

    #[test]
    fn short_pieces_are_an_effort() {
        let source = || Source::memory(Tensor::from(&Array::<u8, _>::zeros([100, 9000])), "DATA".to_owned());
        // the columns of all rows, and the bytes whose copying takes as long
        let rows = [(0..9000, 900_000), (0..8999, 899_900), (3..103, 100 * 4096), (7..8, 100 * 4096)];
        for (columns, expected) in rows {
            let spans = [Span::whole(100), Span { start: columns.start, step: 1, len: columns.len() }];
            assert_eq!(Selection::slice(source(), &spans).effort(), expected, "{columns:?}");
        }
        let steps = [Span::whole(100), Span { start: 0, step: 3, len: 3000 }];
        assert_eq!(Selection::slice(source(), &steps).effort(), 900_000, "no more than all of the data");
        assert_eq!(Selection::slice(source(), &[Span::whole(0), Span::whole(0)]).effort(), 0);
    }

    #[test]
    fn sides_of_tiles() {
        // shape, axes as they are stored, items, sides
        type Row = (&'static [usize], &'static [usize], usize, &'static [usize]);
        let rows: [Row; 12] = [
            (&[1024, 1024], &[0, 1], 1024, &[16, 64]),
            (&[1000, 1000], &[0, 1], 1024, &[16, 63]),
            // a short axis leaves its share to the others
            (&[1000, 3], &[0, 1], 100, &[33, 3]),
            (&[3, 1000], &[0, 1], 100, &[3, 33]),
            // all that is read or written lies together
            (&[6, 5, 139_810], &[0, 1, 2], 131_072, &[6, 5, 4237]),
            (&[5, 14463, 58], &[2, 0, 1], 131_072, &[5, 439, 58]),
            (&[50, 3, 20, 20], &[1, 3, 2, 0], 2400, &[2, 3, 20, 20]),
            // rows that are short where they are read: all of a box is one piece where it is written
            (&[678, 94, 522], &[2, 0, 1], 262_144, &[5, 94, 522]),
            (&[4, 4], &[0, 1], 100, &[4, 4]),
            (&[5, 1, 7], &[0, 2, 1], 14, &[2, 1, 7]),
            (&[9, 9], &[0, 1], 1, &[1, 1]),
            (&[9, 9], &[0, 1], 0, &[1, 1]),
        ];
        for (shape, stored, items, wanted) in rows {
            assert_eq!(tile(shape, stored, items), wanted, "{shape:?} {stored:?} {items}");
        }
    }
}
