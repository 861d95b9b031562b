//! The entries of a sweep, as windows ask for them: which places take which updates.

use std::ops::Range;

use super::buckets::{BucketGrid, Buckets};
use super::read::{Collect, collect};
use super::resolve::TupleResolver;
use crate::error::Result;
use crate::ops::fill::Limits;
use crate::ops::reduction::Combine;
use crate::ops::updates::Updates;
use crate::storage::source::Source;

/// A range of places whose entries are kept together.
#[derive(Clone, Debug)]
pub(super) struct SweepRange {
    pub(super) places: Range<usize>,
    /// How the places are cut into buckets.
    pub(super) grid: BucketGrid,
    /// How many entries each part of the index tensor has there; `None` where the range is all places, and has all entries.
    pub(super) entries: Option<Vec<usize>>,
}

/// The places that index tuples name, each with its payload, in the order in which updates apply.
#[derive(Clone, Debug)]
pub(super) enum SweepEntries {
    Values(ValueEntries),
    Positions(PositionEntries),
}

/// SweepEntries that carry their updates, by the bytes of an update; one element for each part of the index tensor.
#[derive(Clone, Debug)]
pub(super) enum ValueEntries {
    One(Vec<Buckets<1>>),
    Two(Vec<Buckets<2>>),
    Four(Vec<Buckets<4>>),
    Eight(Vec<Buckets<8>>),
    Sixteen(Vec<Buckets<16>>),
}

/// SweepEntries that have the positions of their updates, by the bytes of a position; one element for each part of the index
/// tensor.
#[derive(Clone, Debug)]
pub(super) enum PositionEntries {
    Four(Vec<Buckets<4>>),
    Eight(Vec<Buckets<8>>),
    /// Tuples of no number: updates `from..to` are all for the one place there is.
    OnlyPlace {
        from: usize,
        to: usize,
    },
}

/// Evaluates the same expression for entries of whichever size.
macro_rules! each_size {
    ($values:expr, $parts:ident => $body:expr) => {
        match $values {
            ValueEntries::One($parts) => $body,
            ValueEntries::Two($parts) => $body,
            ValueEntries::Four($parts) => $body,
            ValueEntries::Eight($parts) => $body,
            ValueEntries::Sixteen($parts) => $body,
        }
    };
}

/// Reads the payload of consecutive index tuples.
trait ReadPayload: Sync {
    /// Makes `words` the payload of `count` tuples from number `first` on, as little-endian words.
    ///
    /// # Errors
    /// Of reading.
    fn read(&self, first: usize, count: usize, words: &mut Vec<u8>) -> Result<()>;
}

/// Reads update values, of `block` items each.
struct ValuePayload<'a> {
    updates: &'a Updates,
    block: usize,
}

impl ReadPayload for ValuePayload<'_> {
    fn read(&self, first: usize, count: usize, words: &mut Vec<u8>) -> Result<()> {
        self.updates.read_run(first * self.block, count * self.block, words)
    }
}

/// Counts the positions of updates, in words of so many bytes.
struct PositionPayload {
    bytes: usize,
}

impl ReadPayload for PositionPayload {
    fn read(&self, first: usize, count: usize, words: &mut Vec<u8>) -> Result<()> {
        words.clear();
        for position in first as u64..(first + count) as u64 {
            words.extend_from_slice(&position.to_le_bytes()[..self.bytes]);
        }
        Ok(())
    }
}

/// Collects the entries of one part of the index tensor, those of some places alone if `only` says so.
struct EntryCollector<'a, const N: usize> {
    buckets: Buckets<N>,
    only: Option<&'a Range<usize>>,
    payload: &'a dyn ReadPayload,
    words: Vec<u8>,
}

impl<const N: usize> Collect for EntryCollector<'_, N> {
    fn take(&mut self, first: usize, places: &[u64]) -> Result<()> {
        self.payload.read(first, places.len(), &mut self.words)?;
        let entries = places.iter().copied().zip(self.words.as_chunks::<N>().0.iter().copied());
        match self.only {
            None => self.buckets.extend(entries),
            Some(only) => self.buckets.extend(entries.filter(|(place, _)| only.contains(&(*place as usize)))),
        }
        Ok(())
    }
}

/// Reads an index tensor, and sorts the entries of a sweep into buckets.
pub(super) struct EntryReader<'a> {
    pub(super) indices: &'a Source,
    pub(super) resolver: &'a TupleResolver,
    pub(super) sweep: &'a SweepRange,
    pub(super) limits: Limits,
}

impl EntryReader<'_> {
    /// Returns the entries with their updates, of `bytes` bytes each: 1, 2, 4, 8 or 16.
    ///
    /// # Errors
    /// A number that is out of range; of reading; not enough memory.
    pub(super) fn values(&self, bytes: usize, updates: &Updates) -> Result<ValueEntries> {
        let payload = ValuePayload { updates, block: self.resolver.arrangement.block };
        Ok(match bytes {
            1 => ValueEntries::One(self.buckets(&payload)?),
            2 => ValueEntries::Two(self.buckets(&payload)?),
            4 => ValueEntries::Four(self.buckets(&payload)?),
            8 => ValueEntries::Eight(self.buckets(&payload)?),
            16 => ValueEntries::Sixteen(self.buckets(&payload)?),
            _ => unreachable!("updates of {bytes} bytes are not carried along"),
        })
    }

    /// Returns the entries with the positions of their updates, in words of 4 bytes or, if `wide`, of 8.
    ///
    /// # Errors
    /// As for [`values`](Self::values).
    pub(super) fn positions(&self, wide: bool) -> Result<PositionEntries> {
        Ok(match wide {
            false => PositionEntries::Four(self.buckets(&PositionPayload { bytes: 4 })?),
            true => PositionEntries::Eight(self.buckets(&PositionPayload { bytes: 8 })?),
        })
    }

    fn buckets<const N: usize>(&self, payload: &dyn ReadPayload) -> Result<Vec<Buckets<N>>> {
        let SweepRange { places, grid, entries } = self.sweep;
        let only = entries.as_ref().map(|_| places);
        let parts = collect(self.indices, self.resolver, self.limits, |part, tuples| {
            let count = entries.as_ref().map_or(tuples, |entries| entries[part]);
            Ok(EntryCollector { buckets: Buckets::<N>::new(*grid, count)?, only, payload, words: Vec::new() })
        })?;
        Ok(parts.into_iter().map(|part| part.buckets).collect())
    }
}

/// Calls `each(first, at)` for the entries near `lo..hi`, as [`Buckets::near`] does, whatever their payload.
fn near<const N: usize>(parts: &[Buckets<N>], lo: usize, hi: usize, each: &mut dyn FnMut(usize, &[u32])) {
    parts.iter().for_each(|part| part.near(lo, hi, |first, at, _| each(first, at)));
}

/// Calls `each(place, position)` for the places in `lo..hi`.
fn positions_of<const N: usize>(parts: &[Buckets<N>], lo: usize, hi: usize, mut each: impl FnMut(usize, usize)) {
    for part in parts {
        part.near(lo, hi, |first, at, with| {
            for (&at, with) in at.iter().zip(with) {
                let place = first + at as usize;
                if (lo..hi).contains(&place) {
                    let position = with.iter().rev().fold(0, |position, &byte| position << 8 | usize::from(byte));
                    each(place, position);
                }
            }
        });
    }
}

impl SweepEntries {
    /// Calls `each(first, at)` for the entries near `lo..hi`: their places are `first + at`, and some may lie outside.
    fn near(&self, lo: usize, hi: usize, each: &mut dyn FnMut(usize, &[u32])) {
        match self {
            Self::Values(values) => each_size!(values, parts => near(parts, lo, hi, each)),
            Self::Positions(PositionEntries::Four(parts)) => near(parts, lo, hi, each),
            Self::Positions(PositionEntries::Eight(parts)) => near(parts, lo, hi, each),
            Self::Positions(PositionEntries::OnlyPlace { from, to }) => (*from..*to).for_each(|_| each(0, &[0])),
        }
    }

    /// Calls `each(place)` for the places in `lo..hi`, one for each tuple.
    pub(super) fn places(&self, lo: usize, hi: usize, mut each: impl FnMut(usize)) {
        self.near(lo, hi, &mut |first, at| {
            for &at in at {
                let place = first + at as usize;
                if (lo..hi).contains(&place) {
                    each(place);
                }
            }
        });
    }

    /// Returns whether there is a place in `lo..hi`.
    pub(super) fn any(&self, lo: usize, hi: usize) -> bool {
        let mut any = false;
        self.near(lo, hi, &mut |first, at| any = any || at.iter().any(|&at| (lo..hi).contains(&(first + at as usize))));
        any
    }

    /// Returns the entries as positions.
    ///
    /// # Panics
    /// If they carry their updates, which are [applied](ValueEntries::apply) instead.
    pub(super) fn positions(&self) -> &PositionEntries {
        match self {
            Self::Positions(positions) => positions,
            Self::Values(_) => panic!("the entries carry their updates and have no positions"),
        }
    }
}

impl PositionEntries {
    /// Calls `each(place, position)` for the places in `lo..hi`.
    pub(super) fn each(&self, lo: usize, hi: usize, mut each: impl FnMut(usize, usize)) {
        match self {
            Self::Four(parts) => positions_of(parts, lo, hi, each),
            Self::Eight(parts) => positions_of(parts, lo, hi, each),
            Self::OnlyPlace { from, to } if lo == 0 && hi > 0 => (*from..*to).for_each(|position| each(0, position)),
            Self::OnlyPlace { .. } => {}
        }
    }

    /// Returns the earliest position that repeats a place, and the first position of that place.
    pub(super) fn earliest_repeat(&self, grid: BucketGrid) -> Option<(usize, usize)> {
        if let Self::OnlyPlace { from, to } = self {
            return (to - from > 1).then_some((from + 1, *from));
        }
        let mut all = Vec::new();
        let repeats = (0..grid.count()).filter_map(|bucket| {
            let places = grid.places(bucket);
            all.clear();
            self.each(places.start, places.end, |place, position| all.push((place, position)));
            // next to each other, the second of a place is its earliest that repeats, and it repeats the first
            all.sort_unstable();
            let runs = all.chunk_by(|a, b| a.0 == b.0).filter(|run| run.len() > 1);
            runs.map(|run| (run[1].1, run[0].1)).min()
        });
        repeats.min()
    }
}

impl ValueEntries {
    /// Applies the updates for the places in `lo..hi` to `out`, which begins with place `lo`.
    pub(super) fn apply(&self, lo: usize, hi: usize, out: &mut [u8], combine: Option<Combine>) {
        each_size!(self, parts => for part in parts {
            part.near(lo, hi, |first, at, with| {
                // a place that is not in `out` becomes one far beyond its end
                let offset = first.wrapping_sub(lo);
                match combine {
                    None => put(out, offset, at, with),
                    Some(combine) => (combine.points)(out, offset, at, with.as_flattened()),
                }
            });
        });
    }
}

/// Puts words in their places of `out`, those that it has.
fn put<const N: usize>(out: &mut [u8], offset: usize, at: &[u32], with: &[[u8; N]]) {
    let out = out.as_chunks_mut::<N>().0;
    for (&at, word) in at.iter().zip(with) {
        if let Some(place) = out.get_mut(offset.wrapping_add(at as usize)) {
            *place = *word;
        }
    }
}
