//! Accesses: how an operator reads its operands. Windows and threads are planned from these alone.

use std::ops::Range;
use std::sync::Arc;

use crate::storage::chunked::Chunked;
use crate::storage::source::{HeldCopy, Hold, Keep, Source};
use tensorop_kernels::layout::axis::Span;
use tensorop_kernels::layout::segments::{Segments, boxes_read};
use tensorop_kernels::layout::view::View;
use tensorop_kernels::layout::window::{Window, boxes_of_run};
use tensorop_kernels::parallel::Threads;

/// How an operator reads one operand.
#[derive(Debug)]
pub struct Access<'a> {
    pub source: &'a Source,
    pub feeds: Feeds,
    pub pattern: Pattern,
    pub copy: Option<HeldCopy>,
}

/// A copy of an operand, made before the first window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holding {
    pub operand: usize,
    pub hold: Hold,
    pub copy: HeldCopy,
}

impl Holding {
    pub fn for_source(source: &Source, operand: usize, hold: Hold, threads: Threads) -> Option<Self> {
        source.copy_to(hold, threads).map(|copy| Self { operand, hold, copy })
    }
}

/// An estimate of the reads that an index tensor causes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Picked {
    pub reads: u64,
    pub bytes: u64,
}

impl Picked {
    /// Returns passes over `bytes` bytes, of so many at once.
    pub fn passes(passes: usize, bytes: u64, at_once: usize) -> Self {
        let passes = passes as u64;
        Self { reads: passes.saturating_mul(bytes.div_ceil(at_once as u64)), bytes: passes.saturating_mul(bytes) }
    }
}

/// The part of the output that an operand feeds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Feeds {
    All,
    Slice(Vec<Span>),
    /// One list per output axis, or one for all items with [`Pattern::Counted`].
    Segments(Vec<Segments>),
    Named {
        /// Repeated blocks count each time.
        items: usize,
    },
}

/// How items of an operand are read.
#[derive(Clone, Debug)]
pub enum Pattern {
    /// Boxes of the output are boxes of `view`.
    Strided {
        view: View,
        /// The operand's axis per axis of `view`; `None` for a new one.
        axes: Vec<Option<usize>>,
    },
    /// The output reshapes `view`, so its boxes are not boxes of the operand.
    Counted { view: View },
    Indexed {
        /// Whether one download costs less than a request per piece.
        at_once: bool,
    },
    /// One read per box of the output.
    Boxed { sides: Vec<usize>, at_once: bool },
    /// Any order costs the same: in memory, in chunks, or one item.
    Anyhow,
}

#[derive(Debug)]
pub struct StoredWindow<'a> {
    pub chunks: &'a dyn Chunked,
    pub places: Window,
}

impl<'a> Access<'a> {
    pub fn strided(source: &'a Source, view: &View, axes: &[Option<usize>]) -> Self {
        let pattern = Pattern::Strided { view: view.clone(), axes: axes.to_vec() };
        Self { source, feeds: Feeds::All, pattern, copy: None }
    }

    pub fn is_stream(&self) -> bool {
        self.copy.is_none() && self.source.is_stream()
    }

    pub fn costs_requests(&self) -> bool {
        self.copy.is_none() && self.source.costs_requests()
    }

    /// Returns whether each read is a system call or a request.
    pub fn is_read_by_position(&self) -> bool {
        self.copy.map_or_else(|| self.source.is_read_by_position(), |copy| copy.keep == Keep::File)
    }

    pub fn as_chunks(&self) -> Option<&'a Arc<dyn Chunked>> {
        self.source.as_chunks().filter(|_| self.copy.is_none())
    }

    pub fn view(&self) -> Option<&View> {
        match &self.pattern {
            Pattern::Strided { view, .. } | Pattern::Counted { view } => Some(view),
            Pattern::Indexed { .. } | Pattern::Boxed { .. } | Pattern::Anyhow => None,
        }
    }

    /// Returns whether runs contiguous in both operand and output are shorter than `bytes`.
    pub fn crosses_within(&self, bytes: usize) -> bool {
        self.view().is_some_and(|view| view.crosses_within(bytes, self.source.dtype().itemsize()))
    }

    /// Otherwise windows are contiguous in C order.
    pub fn takes_boxes(&self) -> bool {
        match &self.pattern {
            Pattern::Strided { .. } | Pattern::Boxed { .. } | Pattern::Anyhow => true,
            Pattern::Counted { .. } | Pattern::Indexed { .. } => false,
        }
    }

    /// Returns the operand's axis per output axis, or `None` if identical.
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

    pub fn grid(&self) -> Option<Vec<usize>> {
        let grid = self.as_chunks()?.grid();
        let Pattern::Strided { view, axes } = &self.pattern else { return None };
        let (places, _) = view.as_selection(self.source.shape())?;
        let side = |axis: usize| (grid[axis] / places[axis].step.unsigned_abs()).max(1);
        Some(axes.iter().map(|axis| axis.map_or(1, side)).collect())
    }

    /// Returns, per axis with [segments](Feeds::Segments), the places read and the dim.
    pub fn places_read(&self) -> Vec<[usize; 2]> {
        let (Feeds::Segments(axes), Some(view)) = (&self.feeds, self.view()) else { return Vec::new() };
        let is_counted = matches!(self.pattern, Pattern::Counted { .. });
        let dims = if is_counted { vec![view.items()] } else { view.shape() };
        axes.iter().zip(dims).map(|(axis, dim)| [axis.places_read(), dim]).collect()
    }

    /// Returns whether [segments](Feeds::Segments) read most of the operand in short pieces or repeatedly.
    pub fn reads_apart(&self, bytes: usize) -> bool {
        let (Feeds::Segments(axes), Some(view)) = (&self.feeds, self.view()) else { return false };
        let shape = view.shape();
        // counted items need two reads at most
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

    /// Returns the views of the operand that a window of the output reads.
    pub fn parts(&self, window: &Window) -> Vec<View> {
        let Some(view) = self.view() else { return Vec::new() };
        let shape = view.shape();
        let of_run = |start, end| boxes_of_run(&shape, start, end).into_iter().map(|it| view.part(&it.ranges));
        let run = window.start..window.start + window.items();
        match (&self.pattern, &self.feeds) {
            (Pattern::Counted { .. }, Feeds::Segments(axes)) => {
                let boxes = boxes_read(&[axes[0].pieces(&run)]);
                boxes.iter().flat_map(|spans| of_run(spans[0].start, spans[0].start + spans[0].len)).collect()
            }
            (Pattern::Counted { .. }, _) => of_run(run.start, run.end).collect(),
            (_, Feeds::Segments(axes)) => {
                let pieces: Vec<_> = axes.iter().zip(&window.ranges).map(|(axis, range)| axis.pieces(range)).collect();
                boxes_read(&pieces).iter().map(|spans| view.select(spans)).collect()
            }
            (_, Feeds::Slice(spans)) => {
                let within = |(span, range): (&Span, &Range<usize>)| span.within(range.start, range.end);
                vec![view.part(&spans.iter().zip(&window.ranges).map(within).collect::<Vec<_>>())]
            }
            (_, Feeds::All | Feeds::Named { .. }) => vec![view.part(&window.ranges)],
        }
    }

    pub fn sides(&self, sides: &[usize]) -> Option<Vec<usize>> {
        let Pattern::Strided { view, .. } = &self.pattern else { return None };
        let steps = match &self.feeds {
            Feeds::Slice(spans) => spans.iter().map(|span| span.step.unsigned_abs()).collect(),
            Feeds::All | Feeds::Segments(_) | Feeds::Named { .. } => vec![1; sides.len()],
        };
        let own = sides.iter().zip(steps).map(|(&side, step)| side.div_ceil(step));
        Some(own.zip(view.shape()).map(|(side, dim)| side.min(dim)).collect())
    }

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

    /// Returns the chunks with exactly the items of a window.
    pub fn stored(&self, window: &Window) -> Option<StoredWindow<'a>> {
        let chunks = self.as_chunks()?;
        let [part] = &self.parts(window)[..] else { return None };
        let is_all = part.items() == window.items();
        let places = self.places(part).filter(|places| is_all && places.iter().all(|span| span.step == 1))?;
        let places = places.iter().map(|span| span.start..span.start + span.len).collect();
        Some(StoredWindow { chunks: &**chunks, places: Window::new(places, self.source.shape()) })
    }

    /// `None` if the operand has its axes in another order.
    fn places(&self, part: &View) -> Option<Vec<Span>> {
        let (places, along) = part.as_selection(self.source.shape())?;
        along.is_sorted().then_some(places)
    }
}
