//! Groups entries by neighbouring places in one pass.
//!
//! A window needs its entries together, and those of one place in input order. Buckets of neighbouring places, about a
//! window each, grow by segments of one arena, without counting or moving. Small updates travel with the entries:
//! fetching millions of updates by position would miss every cache.

use std::ops::Range;

use tensorop_kernels::error::Result;
use tensorop_kernels::layout::walk::with_word;
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
