//! Groups entries by neighbouring places in one pass, and index tuples by the runs of blocks that they name.
//!
//! A window needs its entries together, and those of one place in input order. Buckets of neighbouring places, about a
//! window each, grow by segments of one arena, without counting or moving. Small updates travel with the entries:
//! fetching millions of updates by position would miss every cache.

use std::ops::Range;

use tensorop_kernels::error::{Error, Result, Subject};
use tensorop_kernels::layout::copy::{copy_bytes, with_word};
use tensorop_kernels::layout::view::View;
use tensorop_kernels::memory::{self, Buffer};

/// The entries of one part of an index tensor. Only the loops that move payloads are generic.
#[derive(Debug)]
pub(super) struct Buckets {
    grid: BucketGrid,
    segments: BucketSegments,
    with: Buffer,
    payload: usize,
}

#[derive(Clone, Debug)]
struct BucketSegments {
    segment: usize,
    /// For each bucket, the next free entry and the end of its last segment, in the arena.
    heads: Vec<(usize, usize)>,
    /// The first and last segment of each bucket.
    chains: Vec<(u32, u32)>,
    next: Vec<u32>,
    at: Vec<u32>,
}

const NONE: u32 = u32::MAX;

/// The first place of a bucket, and the relative places and payloads of some entries.
pub(super) type TakeEntries<'a> = dyn FnMut(usize, &[u32], &[u8]) + 'a;

#[derive(Clone, Copy, Debug)]
pub(super) struct BucketGrid {
    base: usize,
    places: usize,
    size: u64,
    /// `2^64 / size`, rounded up: multiplying by it divides 32-bit numbers exactly, in a tenth of the time.
    inverse: u64,
    pub(super) count: usize,
}

impl BucketGrid {
    /// The number of buckets is limited by that of entries, because bucket heads take memory too.
    pub(super) fn new(places: Range<usize>, entries: usize, group: usize) -> Self {
        let (base, places) = (places.start, places.len());
        let size = group.max(places / (entries / 16 + 1)).clamp(2, 1 << 31);
        let count = places.div_ceil(size).max(1);
        Self { base, places, size: size as u64, inverse: u64::MAX / size as u64 + 1, count }
    }

    #[inline(always)]
    fn bucket(self, place: u64) -> u64 {
        match place >> 32 {
            0 => ((u128::from(place) * u128::from(self.inverse)) >> 64) as u64,
            _ => place / self.size,
        }
    }

    pub(super) fn end(self) -> usize {
        self.base + self.places
    }

    pub(super) fn places(self, bucket: usize) -> Range<usize> {
        let begin = |bucket: usize| self.base + bucket * self.size as usize;
        begin(bucket)..begin(bucket + 1)
    }

    /// Includes segments that are not full.
    pub(super) fn bytes(self, entries: usize, payload: usize) -> usize {
        let segment = self.segment(entries);
        let segments = entries / segment + self.count.min(entries);
        segments.saturating_mul(segment * (4 + payload) + 4).saturating_add(self.count * 24)
    }

    /// Leaves at most a quarter of the room empty.
    fn segment(self, entries: usize) -> usize {
        (entries / (4 * self.count)).clamp(4, 1024)
    }
}

impl BucketSegments {
    #[cold]
    fn grow(&mut self, bucket: usize) {
        let (number, begin) = (self.next.len() as u32, self.at.len());
        self.at.resize(begin + self.segment, 0);
        self.next.push(NONE);
        self.heads[bucket] = (begin, begin + self.segment);
        let chain = &mut self.chains[bucket];
        match chain.1 {
            NONE => chain.0 = number,
            last => self.next[last as usize] = number,
        }
        chain.1 = number;
    }
}

impl Buckets {
    pub(super) fn new(grid: BucketGrid, entries: usize, payload: usize) -> Result<Self> {
        let segment = grid.segment(entries);
        let most = (entries / segment + grid.count.min(entries)) * segment;
        Ok(Self {
            grid,
            segments: BucketSegments {
                segment,
                heads: vec![(0, 0); grid.count],
                chains: vec![(NONE, NONE); grid.count],
                next: memory::with_capacity(most / segment)?,
                at: memory::with_capacity(most)?,
            },
            with: Buffer::zeros(most.saturating_mul(payload))?,
            payload,
        })
    }

    pub(super) fn extend(&mut self, places: &[u64], payloads: &[u8]) {
        with_word!(self.payload, N => {
            let entries = places.iter().zip(payloads.as_chunks::<N>().0);
            self.extend_words(entries.map(|(&place, with)| (place as usize, *with)));
        }, _ => unreachable!("a payload is a word"));
    }

    pub(super) fn extend_words<const N: usize>(&mut self, entries: impl Iterator<Item = (usize, [u8; N])>) {
        let Self { grid, segments, with: words, .. } = self;
        let words = words.as_chunks_mut::<N>().0;
        for (place, with) in entries {
            let place = place.wrapping_sub(grid.base) as u64;
            if place >= grid.places as u64 {
                continue;
            }
            let bucket = grid.bucket(place) as usize;
            if segments.heads[bucket].0 == segments.heads[bucket].1 {
                segments.grow(bucket);
            }
            let entry = segments.heads[bucket].0;
            segments.heads[bucket].0 = entry + 1;
            segments.at[entry] = (place - bucket as u64 * grid.size) as u32;
            words[entry] = with;
        }
    }

    /// Visits the entries of all buckets that overlap `lo..hi`, in input order; some may be outside.
    pub(super) fn near(&self, lo: usize, hi: usize, each: &mut TakeEntries<'_>) {
        let (lo, hi) = (lo.saturating_sub(self.grid.base), hi.saturating_sub(self.grid.base));
        if lo >= hi {
            return;
        }
        let segments = &self.segments;
        let bucket = |place: usize| self.grid.bucket(place as u64) as usize;
        for bucket in bucket(lo)..=bucket(hi - 1) {
            let Some(&(first, last)) = segments.chains.get(bucket) else { return };
            let mut number = first;
            while number != NONE {
                let begin = number as usize * segments.segment;
                let end = if number == last { segments.heads[bucket].0 } else { begin + segments.segment };
                let with = &self.with[begin * self.payload..end * self.payload];
                each(self.grid.places(bucket).start, &segments.at[begin..end], with);
                number = segments.next[number as usize];
            }
        }
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn division_is_exact() {
        for size in [2, 3, 5, 7, 64, 1000, 65_535, 1 << 16, (1 << 31) - 1, 1 << 31] {
            let grid = BucketGrid::new(0..1000, 0, size);
            let grid = BucketGrid { size: size as u64, inverse: u64::MAX / size as u64 + 1, ..grid };
            let near = |n: u64| n.saturating_sub(2)..n + 3;
            let multiples = [0, 1, 2, 1000, u32::MAX.into(), 1 << 40].map(|n: u64| n.min(u64::MAX >> 33) * grid.size);
            for place in multiples.into_iter().chain([u32::MAX.into(), 1 << 32]).flat_map(near) {
                assert_eq!(grid.bucket(place), place / grid.size, "{place} by {size}");
            }
        }
    }

    #[test]
    fn entries_stay_in_their_order() {
        for (base, places, group) in [(0, 10, 1), (7, 10, 3), (0, 1000, 16), (1 << 33, 1 << 40, 1 << 20)] {
            let all: Vec<u64> = (0..5000_u64).map(|n| base + (n * n * 2_654_435_761 + n) % places).collect();
            let with: Vec<[u8; 2]> = (0..5000_u16).map(u16::to_le_bytes).collect();
            let (places, from) = (base + places, base as usize);
            let mut buckets =
                Buckets::new(BucketGrid::new(from..places as usize, all.len(), group), all.len(), 2).unwrap();
            for (places, with) in all.chunks(77).zip(with.chunks(77)) {
                buckets.extend(places, with.as_flattened());
            }
            for (lo, hi) in [(0, places), (0, 1), (places / 3, places / 2), (places - 1, places), (4, 4)] {
                let mut found = Vec::new();
                buckets.near(lo as usize, hi as usize, &mut |first, at, with| {
                    let inside =
                        at.iter().zip(with.as_chunks().0).map(|(&at, with)| (first as u64 + u64::from(at), *with));
                    found.extend(inside.filter(|(place, _)| (lo..hi).contains(place)));
                });
                found.sort_by_key(|(place, _)| *place); // stable, which keeps the order at each place
                let inside = all.iter().copied().zip(with.iter().copied());
                let mut expected: Vec<_> = inside.filter(|(place, _)| (lo..hi).contains(place)).collect();
                expected.sort_by_key(|(place, _)| *place);
                assert_eq!(found, expected, "{lo}..{hi} of {places} by {group}");
            }
        }
    }
}
