//! Runs of neighbouring blocks for a replacing scatter with several outer places. Only the last update of each place
//! counts, so runs may be copied in any order, and a run fills many short outer places in one copy.

use std::ops::Range;

use super::buckets::{BucketGrid, Buckets};
use tensorop_kernels::error::{Error, Result, Subject};
use tensorop_kernels::layout::view::View;
use tensorop_kernels::layout::walk::{copy_bytes, with_word};
use tensorop_kernels::memory;

/// Where to find the last update of each place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lasts {
    AtPositions,
    /// All updates are one item.
    AreOneItem,
}

/// Neighbouring places and their neighbouring updates, in blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BlockRun {
    pub(super) to: u32,
    pub(super) from: u32,
    pub(super) len: u32,
}

impl BlockRun {
    pub(super) fn end(self) -> usize {
        self.to as usize + self.len as usize
    }

    /// The items of the run in the range `items`, and the update item for the first.
    pub(super) fn within(self, block: usize, items: &Range<usize>) -> (Range<usize>, usize) {
        let first = self.to as usize * block;
        let inside = first.max(items.start)..items.end.min(self.end() * block);
        let from = self.from as usize * block + inside.start - first;
        (inside, from)
    }
}

#[derive(Debug, Default)]
pub(super) struct BlockRuns {
    /// Ascending and disjoint.
    runs: Vec<BlockRun>,
    ascends: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct UpdateRows<'a> {
    pub(super) first: usize,
    pub(super) pitch: usize,
    pub(super) bytes: &'a [u8],
}

/// The bytes of outer places and updates that stay in the first-level cache: each run is one pass through them.
const TOGETHER: usize = 1 << 15;

/// Fewer outer places are filled one by one: starting a copy costs as much as about a hundred blocks.
const MIN_TOGETHER: usize = 512;

const NONE: u32 = u32::MAX;

impl BlockRuns {
    /// Payloads are 4-byte positions, or irrelevant if all updates are one item.
    pub(super) fn new(parts: &[Buckets], grid: BucketGrid, lasts: Lasts) -> Result<Self> {
        /// Above this ratio of places to entries, sorting the entries costs less than a scan of all places.
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

    pub(super) fn within(&self, lo: usize, hi: usize) -> &[BlockRun] {
        let first = self.runs.partition_point(|run| run.end() <= lo);
        let count = self.runs[first..].partition_point(|run| (run.to as usize) < hi);
        &self.runs[first..][..count]
    }

    /// The range of positions; `None` if it needs a look at each run.
    pub(super) fn positions(&self, runs: &[BlockRun]) -> Option<Range<usize>> {
        let (first, last) = (runs[0], runs[runs.len() - 1]);
        let is_known = self.ascends || runs.len() == 1;
        is_known.then(|| first.from as usize..last.from as usize + last.len as usize)
    }
}

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
        // Only updates of a single item are shorter than a run.
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

fn put_in_one(runs: &[BlockRun], size: usize, from: UpdateRows<'_>, first: usize, out: &mut [u8]) {
    with_word!(size, N => put_words::<N>(runs, from, first, out), _ => for run in runs {
        let (from_block, to) = (run.from as usize - from.first, run.to as usize - first);
        let bytes = run.len as usize * size;
        out[to * size..][..bytes].copy_from_slice(&from.bytes[from_block * size..][..bytes]);
    });
}

/// A function call per word would cost more than the copy.
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
