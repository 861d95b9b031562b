//! What a scatter that replaces items puts into each of several outer places: runs of neighbouring blocks, by ascending places.
//!
//! Of updates for one place only the last remains, so there are no more runs than places, and they can be put in any order: an
//! outer place needs one walk through them, and of many short outer places each run is one copy from view to view.

use std::ops::Range;

use super::buckets::{BucketGrid, Buckets};
use crate::error::{Error, Result, Subject};
use crate::layout::view::View;
use crate::layout::walk::{copy_bytes, with_word};
use crate::memory;

/// Where the last update of each place is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lasts {
    /// At its position.
    AtPositions,
    /// All updates are one item, and all of them are as good.
    AreOneItem,
}

/// Neighbouring places and the neighbouring updates that they get; all three numbers are in blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BlockRun {
    /// The first place.
    pub(super) to: u32,
    /// The position of its update.
    pub(super) from: u32,
    pub(super) len: u32,
}

impl BlockRun {
    /// Returns the place behind the last.
    pub(super) fn end(self) -> usize {
        self.to as usize + self.len as usize
    }

    /// Returns the items of an outer place, with `block` items at each place, that the run has in the range `items`: which they
    /// are, and the number of the item of the outer place's updates that goes to the first.
    pub(super) fn within(self, block: usize, items: &Range<usize>) -> (Range<usize>, usize) {
        let first = self.to as usize * block;
        let inside = first.max(items.start)..items.end.min(self.end() * block);
        let from = self.from as usize * block + inside.start - first;
        (inside, from)
    }
}

/// The runs of an outer place.
#[derive(Debug, Default)]
pub(super) struct BlockRuns {
    /// By ascending places, each of which occurs once.
    runs: Vec<BlockRun>,
    /// Whether positions ascend, too.
    ascends: bool,
}

/// Blocks of updates in memory, for neighbouring outer places.
#[derive(Clone, Copy, Debug)]
pub(super) struct UpdateRows<'a> {
    /// The position of the first block.
    pub(super) first: usize,
    /// The blocks from one outer place to the next.
    pub(super) pitch: usize,
    pub(super) bytes: &'a [u8],
}

/// Outer places that are filled together, with what is put there, should take about this many bytes, which stay in a core's
/// first cache: each run is one pass through them.
const TOGETHER: usize = 1 << 15;

/// Fewer outer places are filled one by one: to begin a copy takes as long as some hundred blocks.
const MIN_TOGETHER: usize = 512;

/// Stands for no position.
const NONE: u32 = u32::MAX;

impl BlockRuns {
    /// Returns what remains of the entries of all parts of an index tensor, whose payloads are positions of 4 bytes.
    /// Where all updates are one item, all positions are 0.
    ///
    /// # Errors
    /// Not enough memory.
    pub(super) fn new(parts: &[Buckets], grid: BucketGrid, lasts: Lasts) -> Result<Self> {
        /// Where an entry has more places than these in its bucket, entries are sorted: to look at all places takes longer.
        const SPARSE: usize = 64;
        let mut found = Self { runs: Vec::new(), ascends: true };
        let (mut last, mut sorted): (Vec<u32>, Vec<(u32, u32)>) = (Vec::new(), Vec::new());
        for bucket in 0..grid.count {
            let places = grid.places(bucket);
            let entries = |each: &mut dyn FnMut(u32, u32)| {
                for part in parts {
                    part.near(places.start, places.end, &mut |_, at, positions| {
                        let positions = positions.as_chunks().0.iter().map(|position| u32::from_le_bytes(*position));
                        at.iter().zip(positions).for_each(|(&at, position)| each(at, position));
                    });
                }
            };
            let mut count = 0;
            parts.iter().for_each(|part| part.near(places.start, places.end, &mut |_, at, _| count += at.len()));
            let mut add = |at: u32, position| {
                let from = match lasts {
                    Lasts::AtPositions => position,
                    Lasts::AreOneItem => 0,
                };
                found.push(BlockRun { to: places.start as u32 + at, from, len: 1 }, lasts)
            };
            if places.len() / SPARSE <= count {
                last.clear();
                memory::reserve(&mut last, places.len()).map_err(|why| Error::new(Subject::Indices, why))?;
                last.resize(places.len(), NONE);
                entries(&mut |at, position| last[at as usize] = position);
                let mut named = last.iter().copied().zip(0..).filter(|&(position, _)| position != NONE);
                named.try_for_each(|(position, at)| add(at, position))?;
            } else {
                sorted.clear();
                memory::reserve(&mut sorted, count).map_err(|why| Error::new(Subject::Indices, why))?;
                entries(&mut |at, position| sorted.push((at, position)));
                sorted.sort_unstable();
                let mut lasts = sorted.chunk_by(|a, b| a.0 == b.0).filter_map(<[_]>::last);
                lasts.try_for_each(|&(at, position)| add(at, position))?;
            }
        }
        Ok(found)
    }

    /// Adds a run behind the last.
    fn push(&mut self, run: BlockRun, lasts: Lasts) -> Result<()> {
        if let Some(before) = self.runs.last_mut() {
            let continues =
                lasts == Lasts::AreOneItem || before.from as usize + before.len as usize == run.from as usize;
            if before.end() == run.to as usize && continues {
                before.len += run.len;
                return Ok(());
            }
            self.ascends &= before.from < run.from;
        }
        memory::push(&mut self.runs, run).map_err(|why| Error::new(Subject::Indices, why))
    }

    /// Returns the runs that have places in `lo..hi`; the first and the last may have others, too.
    pub(super) fn within(&self, lo: usize, hi: usize) -> &[BlockRun] {
        let first = self.runs.partition_point(|run| run.end() <= lo);
        let count = self.runs[first..].partition_point(|run| (run.to as usize) < hi);
        &self.runs[first..][..count]
    }

    /// Returns the range of the positions of neighbouring runs, of which there is one, if it is known without a look at each.
    pub(super) fn positions(&self, runs: &[BlockRun]) -> Option<Range<usize>> {
        let (first, last) = (runs[0], runs[runs.len() - 1]);
        let is_known = self.ascends || runs.len() == 1;
        is_known.then(|| first.from as usize..last.from as usize + last.len as usize)
    }
}

/// Puts runs of blocks of `size` bytes into neighbouring outer places, of which `out` has all items, at `pitch` blocks each.
pub(super) fn put_in_all(runs: &[BlockRun], size: usize, from: UpdateRows<'_>, pitch: usize, out: &mut [u8]) {
    let outers = out.len() / (pitch * size).max(1);
    let together = (TOGETHER / ((pitch + from.pitch) * size).max(1)).min(outers);
    let row = from.pitch * size;
    if together < MIN_TOGETHER {
        for (outer, out) in out.chunks_exact_mut((pitch * size).max(1)).enumerate() {
            put_in_one(runs, size, UpdateRows { bytes: &from.bytes[outer * row..], ..from }, 0, out);
        }
        return;
    }
    for (n, out) in out.chunks_mut(together * pitch * size).enumerate() {
        let (here, bytes) = (out.len() / (pitch * size), &from.bytes[n * together * row..]);
        let view = |blocks: usize, first: usize, len: u32| {
            View::c_order(&[here, blocks]).part(&[0..here, first..first + len as usize])
        };
        for run in runs {
            let (new, old) =
                (view(from.pitch, run.from as usize - from.first, run.len), view(pitch, run.to as usize, run.len));
            copy_bytes(bytes, &new, out, &old, size);
        }
    }
}

/// Puts runs of blocks, of which each has some items of some bytes, into a part of one outer place: the range `items`, which begins
/// and ends anywhere.
pub(super) fn put_in_part(
    runs: &[BlockRun],
    [block, itemsize]: [usize; 2],
    from: UpdateRows<'_>,
    items: &Range<usize>,
    out: &mut [u8],
) {
    let is_cut = |run: BlockRun| run.within(block, items).0.len() < run.len as usize * block;
    let mut put_cut = |run: BlockRun| {
        let (inside, at) = run.within(block, items);
        let bytes = inside.len() * itemsize;
        // where a run is longer than what there is of updates, these are all one item, and any of them will do
        let at = ((at - from.first * block) * itemsize).min(from.bytes.len() - bytes);
        out[(inside.start - items.start) * itemsize..][..bytes].copy_from_slice(&from.bytes[at..][..bytes]);
    };
    let mut whole = runs;
    if let [first, rest @ ..] = whole
        && is_cut(*first)
    {
        put_cut(*first);
        whole = rest;
    }
    if let [rest @ .., last] = whole
        && is_cut(*last)
    {
        put_cut(*last);
        whole = rest;
    }
    let first = items.start.div_ceil(block);
    let before = ((first * block - items.start) * itemsize).min(out.len());
    put_in_one(whole, block * itemsize, from, first, &mut out[before..]);
}

/// Puts runs of blocks of `size` bytes into a part of one outer place, which begins with place `first` and has all of their places.
fn put_in_one(runs: &[BlockRun], size: usize, from: UpdateRows<'_>, first: usize, out: &mut [u8]) {
    with_word!(size, N => put_words::<N>(runs, from, first, out), _ => for run in runs {
        let (from_block, to) = (run.from as usize - from.first, run.to as usize - first);
        let bytes = run.len as usize * size;
        out[to * size..][..bytes].copy_from_slice(&from.bytes[from_block * size..][..bytes]);
    });
}

/// [`put_in_one`] for blocks that are words of `N` bytes. A call for each word would take longer than to move it.
#[inline(never)]
fn put_words<const N: usize>(runs: &[BlockRun], from: UpdateRows<'_>, first: usize, out: &mut [u8]) {
    let (words, out) = (from.bytes.as_chunks::<N>().0, out.as_chunks_mut::<N>().0);
    for run in runs {
        let (from, to) = (run.from as usize - from.first, run.to as usize - first);
        match run.len as usize {
            1 => out[to] = words[from],
            len => out[to..][..len].copy_from_slice(&words[from..][..len]),
        }
    }
}
