//! The facts that an operator states of each operand: what of the output it feeds, and how its items are taken for that. A plan
//! is made of these alone, so an operator need not know how its output is cut, by how many threads, or where it goes.

use std::ops::Range;
use std::sync::Arc;

use crate::layout::axis::Span;
use crate::layout::segments::{Segments, boxes_read};
use crate::layout::view::View;
use crate::layout::window::{Window, boxes_of_run};
use crate::parallel::Threads;
use crate::storage::chunked::Chunked;
use crate::storage::source::{HeldCopy, Hold, Keep, Source};

/// How an operator takes the items of one operand for its output.
#[derive(Debug)]
pub struct Access<'a> {
    /// The operand.
    pub source: &'a Source,
    /// What of the output the operand feeds.
    pub feeds: Feeds,
    /// How its items are taken, from the copy if there is one.
    pub pattern: Pattern,
    /// The copy of the operand that is made before, from which it is read.
    pub copy: Option<HeldCopy>,
}

/// A copy of an operand that is made before an output, so that its items can be taken as the operator takes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holding {
    /// The number of the operand.
    pub operand: usize,
    /// What the operand is made fit for.
    pub hold: Hold,
    /// The copy.
    pub copy: HeldCopy,
}

impl Holding {
    /// Returns the copy of a source, the operand of that number, if it takes one to hold it.
    pub fn for_source(source: &Source, operand: usize, hold: Hold, threads: Threads) -> Option<Self> {
        source.copy_to(hold, threads).map(|copy| Self { operand, hold, copy })
    }
}

/// What is read of an operand because of an index tensor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Picked {
    /// How many reads there are, about.
    pub reads: u64,
    /// The bytes that they read, about.
    pub bytes: u64,
}

/// What of an output an operand feeds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Feeds {
    /// All of it.
    All,
    /// The places that one span an axis of the output selects.
    Slice(Vec<Span>),
    /// The places that the segments of each axis of the output take; those that they fill are fed by other operands, or hold one
    /// item. Of an operand whose items are [counted](Pattern::Counted) they are segments of one axis, all items.
    Segments(Vec<Segments>),
    /// Blocks that an index tensor names.
    Named {
        /// The items of all blocks, those that are named twice counted twice.
        items: usize,
    },
}

/// How items of an operand are taken.
#[derive(Clone, Debug)]
pub enum Pattern {
    /// A box of the output takes a box of a view of the operand's storage, whose axes are those of the output.
    Strided {
        /// The items in the order of the axes of the output.
        view: View,
        /// The axis of the operand that each axis of the view runs along; `None` for one that the operand does not have, of one
        /// place.
        axes: Vec<Option<usize>>,
    },
    /// The items that are counted alike in C order, in an output whose axes are cut or joined ones of the operand, so that a box
    /// of the output is no box of the operand.
    Counted {
        /// The items of the operand.
        view: View,
    },
    /// By numbers of an index tensor: in any order, and in pieces that only these numbers tell.
    Indexed {
        /// Whether a server had better be asked for all of the operand at once than for each piece.
        at_once: bool,
    },
    /// By numbers of an index tensor, for boxes of the output that are each one read of the operand.
    Boxed {
        /// The sides of these boxes.
        sides: Vec<usize>,
        /// As for [`Indexed`](Self::Indexed).
        at_once: bool,
    },
    /// In an order that costs the same whatever it is: the operand is in memory, in chunks that it unpacks, or one item.
    Anyhow,
}

/// A box of chunks whose items are a window of an output as it is.
#[derive(Debug)]
pub struct StoredWindow<'a> {
    /// The tensor that is stored in chunks.
    pub chunks: &'a dyn Chunked,
    /// The box of that tensor that the window shows.
    pub places: Window,
}

impl<'a> Access<'a> {
    /// States that all of an output is taken from a view of an operand, whose axes run along `axes` of the operand.
    pub fn strided(source: &'a Source, view: &View, axes: &[Option<usize>]) -> Self {
        let pattern = Pattern::Strided { view: view.clone(), axes: axes.to_vec() };
        Self { source, feeds: Feeds::All, pattern, copy: None }
    }

    /// Returns whether the items can be read only once, from front to back.
    pub fn is_stream(&self) -> bool {
        self.copy.is_none() && self.source.is_stream()
    }

    /// Returns whether each read is a request to a server.
    pub fn costs_requests(&self) -> bool {
        self.copy.is_none() && self.source.costs_requests()
    }

    /// Returns whether each read is a call of the system or a request, so that items that lie apart take many.
    pub fn is_read_by_position(&self) -> bool {
        self.copy.map_or_else(|| self.source.is_read_by_position(), |copy| copy.keep == Keep::File)
    }

    /// Returns the chunks that the items lie in, if they do.
    pub fn as_chunks(&self) -> Option<&'a Arc<dyn Chunked>> {
        self.source.as_chunks().filter(|_| self.copy.is_none())
    }

    /// Returns the view of the operand through which it is read, if numbers of an index tensor do not decide.
    pub fn view(&self) -> Option<&View> {
        match &self.pattern {
            Pattern::Strided { view, .. } | Pattern::Counted { view } => Some(view),
            Pattern::Indexed { .. } | Pattern::Boxed { .. } | Pattern::Anyhow => None,
        }
    }

    /// Returns whether the order of the output crosses that of storage so soon that what follows each other in both has fewer
    /// than `bytes` bytes.
    pub fn crosses_within(&self, bytes: usize) -> bool {
        self.view().is_some_and(|view| view.crosses_within(bytes, self.source.dtype().itemsize()))
    }

    /// Returns whether any box of the output can be filled; if not, windows are contiguous in C order.
    pub fn takes_boxes(&self) -> bool {
        match &self.pattern {
            Pattern::Strided { .. } | Pattern::Boxed { .. } | Pattern::Anyhow => true,
            Pattern::Counted { .. } | Pattern::Indexed { .. } => false,
        }
    }

    /// Returns for each axis of the output the axis of the operand that it is, if it is one; `None` where all are, in their order.
    /// An axis that repeats one place is none of the operand.
    pub fn axes(&self) -> Option<Vec<Option<usize>>> {
        match &self.pattern {
            Pattern::Strided { axes, .. } => {
                let repeats =
                    |axis: usize| matches!(&self.feeds, Feeds::Segments(list) if list[axis].repeats_one_place());
                let axes: Vec<_> = axes.iter().enumerate().map(|(n, axis)| axis.filter(|_| !repeats(n))).collect();
                let is_own = axes.iter().copied().eq((0..self.source.shape().len()).map(Some));
                (!is_own).then_some(axes)
            }
            Pattern::Counted { .. } if matches!(self.feeds, Feeds::Segments(_)) => None,
            Pattern::Counted { view } => Some(vec![None; view.shape().len()]),
            Pattern::Indexed { .. } | Pattern::Boxed { .. } | Pattern::Anyhow => None,
        }
    }

    /// Returns the grid at which windows should end, in places of each axis of the output, where the operand lies in chunks.
    pub fn grid(&self) -> Option<Vec<usize>> {
        let grid = self.as_chunks()?.grid();
        let Pattern::Strided { view, axes } = &self.pattern else { return None };
        let (places, _) = view.as_selection(self.source.shape())?;
        let side = |axis: usize| (grid[axis] / places[axis].step.unsigned_abs()).max(1);
        Some(axes.iter().map(|axis| axis.map_or(1, side)).collect())
    }

    /// Returns for each axis whose places [segments](Feeds::Segments) take how many they read for the whole output, and how many
    /// it has. All items that are counted are one axis. There is no axis where the operand feeds the output otherwise.
    pub fn places_read(&self) -> Vec<[usize; 2]> {
        let (Feeds::Segments(axes), Some(view)) = (&self.feeds, self.view()) else { return Vec::new() };
        let is_counted = matches!(self.pattern, Pattern::Counted { .. });
        let dims = if is_counted { vec![view.items()] } else { view.shape() };
        axes.iter().zip(dims).map(|(axis, dim)| [axis.places_read(), dim]).collect()
    }

    /// Returns whether [segments](Feeds::Segments) take most of the operand and read it apart: rows of fewer than `bytes` bytes in
    /// several pieces, or places of the first axis so often that all of the operand is less than what they read.
    pub fn reads_apart(&self, bytes: usize) -> bool {
        let (Feeds::Segments(axes), Some(view)) = (&self.feeds, self.view()) else { return false };
        let shape = view.shape();
        // items that are counted are read in two pieces at most
        if axes.len() != shape.len() {
            return false;
        }
        let read = self.places_read().into_iter().map(|[read, dim]| read.min(dim));
        let is_most = read.product::<usize>() > view.items() / 2;
        let is_in_pieces = |(at, axis): (usize, &Segments)| {
            let row = shape[at..].iter().product::<usize>().saturating_mul(self.source.dtype().itemsize());
            row < bytes && !axis.reads_whole(shape[at])
        };
        let is_often = axes.first().is_some_and(|axis| axis.places_fed() > shape[0] + shape[0] / 8);
        is_most && (is_often || axes.iter().enumerate().skip(1).any(is_in_pieces))
    }

    /// Returns the parts of the view that feed a window of the output.
    fn parts(&self, window: &Window) -> Vec<View> {
        let Some(view) = self.view() else { return Vec::new() };
        let shape = view.shape();
        let of_run = |start, end| boxes_of_run(&shape, start, end).into_iter().map(|it| view.part(&it.ranges));
        let run = window.start..window.start + window.items();
        match (&self.pattern, &self.feeds) {
            (Pattern::Counted { .. }, Feeds::Segments(axes)) => {
                let boxes = boxes_read(&[axes[0].pieces(&run)]).map(|(spans, _)| spans[0]);
                boxes.flat_map(|span| of_run(span.start, span.start + span.len)).collect()
            }
            (Pattern::Counted { .. }, _) => of_run(run.start, run.end).collect(),
            (_, Feeds::Segments(axes)) => {
                let pieces: Vec<_> = axes.iter().zip(&window.ranges).map(|(axis, range)| axis.pieces(range)).collect();
                boxes_read(&pieces).map(|(spans, _)| view.select(&spans)).collect()
            }
            (_, Feeds::Slice(spans)) => {
                let within = |(span, range): (&Span, &Range<usize>)| span.within(range.start, range.end);
                vec![view.part(&spans.iter().zip(&window.ranges).map(within).collect::<Vec<_>>())]
            }
            (_, Feeds::All | Feeds::Named { .. }) => vec![view.part(&window.ranges)],
        }
    }

    /// Returns the sides of the part of the view that boxes of these sides of the output show, if they show boxes of it.
    pub fn sides(&self, sides: &[usize]) -> Option<Vec<usize>> {
        let Pattern::Strided { view, .. } = &self.pattern else { return None };
        let steps = match &self.feeds {
            Feeds::Slice(spans) => spans.iter().map(|span| span.step.unsigned_abs()).collect(),
            Feeds::All | Feeds::Segments(_) | Feeds::Named { .. } => vec![1; sides.len()],
        };
        let own = sides.iter().zip(steps).map(|(&side, step)| side.div_ceil(step));
        Some(own.zip(view.shape()).map(|(side, dim)| side.min(dim)).collect())
    }

    /// Returns how many bytes of the operand's storage are read for a window of the output, as far as that is known without
    /// reading: of chunks their sizes, of all else its items.
    pub fn bytes_read(&self, window: &Window) -> u64 {
        let itemsize = self.source.dtype().itemsize();
        if self.view().is_none() {
            return (window.items() * itemsize) as u64;
        }
        let bytes = |part: &View| match (self.as_chunks(), self.places(part)) {
            (Some(chunks), Some(places)) => chunks.bytes_at(&places),
            _ => (part.items() * itemsize) as u64,
        };
        self.parts(window).iter().map(bytes).sum()
    }

    /// Returns the box of the operand's chunks that holds the items of a window of the output as they are; `None` if there is
    /// none.
    pub fn stored(&self, window: &Window) -> Option<StoredWindow<'a>> {
        let chunks = self.as_chunks()?;
        let [part] = &self.parts(window)[..] else { return None };
        let is_all = part.items() == window.items();
        let places = self.places(part).filter(|places| is_all && places.iter().all(|span| span.step == 1))?;
        let places = places.iter().map(|span| span.start..span.start + span.len).collect();
        Some(StoredWindow { chunks: &**chunks, places: Window::new(places, self.source.shape()) })
    }

    /// Returns the places of the operand that a part of the view shows, if the items have the operand's own order of axes.
    fn places(&self, part: &View) -> Option<Vec<Span>> {
        let (places, along) = part.as_selection(self.source.shape())?;
        along.is_sorted().then_some(places)
    }
}
