//! What an index tensor says to do, as windows ask for it: which places take which updates.

use std::ops::Range;

use super::Numbers;
use super::buckets::{Buckets, Cut};
use super::read::{Collect, collect};
use crate::error::Result;
use crate::ops::fill::Limits;
use crate::ops::reduction::Combine;
use crate::ops::updates::Updates;
use crate::storage::source::Source;

/// The places that index tuples name, and for each its update or the position of that, in the order in which they apply.
#[derive(Clone, Debug)]
pub(super) enum Entries {
    /// The updates themselves, of so many bytes.
    Values(Words),
    /// Positions of updates, of 4 or 8 bytes.
    Positions(Words),
    /// Tuples of no number: updates `from..to` are all for the one place there is.
    Whole { from: usize, to: usize },
}

/// Entries by the bytes that belong to a place, and of each part of the index tensor by itself.
#[derive(Clone, Debug)]
pub(super) enum Words {
    One(Vec<Buckets<1>>),
    Two(Vec<Buckets<2>>),
    Four(Vec<Buckets<4>>),
    Eight(Vec<Buckets<8>>),
    Sixteen(Vec<Buckets<16>>),
}

/// Does the same for entries of whichever size.
macro_rules! each_size {
    ($words:expr, $parts:ident => $body:expr) => {
        match $words {
            Words::One($parts) => $body,
            Words::Two($parts) => $body,
            Words::Four($parts) => $body,
            Words::Eight($parts) => $body,
            Words::Sixteen($parts) => $body,
        }
    };
}

/// What belongs to the places of neighbouring tuples, as little-endian words.
pub(super) trait Belongings: Sync {
    /// Makes `words` those of `count` tuples from number `first` on, one after the other.
    ///
    /// # Errors
    /// Of reading.
    fn read(&self, first: usize, count: usize, words: &mut Vec<u8>) -> Result<()>;
}

/// The updates themselves.
pub(super) struct TheirUpdates<'a> {
    pub(super) updates: &'a Updates,
    /// The items of an update.
    pub(super) block: usize,
}

impl Belongings for TheirUpdates<'_> {
    fn read(&self, first: usize, count: usize, words: &mut Vec<u8>) -> Result<()> {
        self.updates.read_run(first * self.block, count * self.block, words)
    }
}

/// Their positions, in so many bytes.
pub(super) struct TheirPositions(pub(super) usize);

impl Belongings for TheirPositions {
    fn read(&self, first: usize, count: usize, words: &mut Vec<u8>) -> Result<()> {
        words.clear();
        for position in first as u64..(first + count) as u64 {
            words.extend_from_slice(&position.to_le_bytes()[..self.0]);
        }
        Ok(())
    }
}

/// Where entries are kept.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room<'a> {
    /// How their places are cut into buckets.
    pub(super) cut: Cut,
    /// The only places whose entries are kept, and how many of those each part of the index tensor has.
    pub(super) only: Option<(&'a Range<usize>, &'a [usize])>,
}

/// What one thread collects: all entries, or only those of some places.
struct Collector<'a, const N: usize> {
    buckets: Buckets<N>,
    only: Option<&'a Range<usize>>,
    belongings: &'a dyn Belongings,
    words: Vec<u8>,
}

impl<const N: usize> Collect for Collector<'_, N> {
    fn take(&mut self, first: usize, places: &[u64]) -> Result<()> {
        self.belongings.read(first, places.len(), &mut self.words)?;
        let entries = places.iter().copied().zip(self.words.as_chunks::<N>().0.iter().copied());
        match &self.only {
            None => self.buckets.extend(entries),
            Some(only) => self.buckets.extend(entries.filter(|(place, _)| only.contains(&(*place as usize)))),
        }
        Ok(())
    }
}

impl Words {
    /// Reads the index tensor, and with each tuple what belongs to it, in words of `size` bytes: 1, 2, 4, 8 or 16.
    ///
    /// # Errors
    /// A number that names no place; of reading; not enough memory.
    pub(super) fn read(
        size: usize,
        (indices, numbers): (&Source, &Numbers),
        room: Room<'_>,
        belongings: &dyn Belongings,
        limits: Limits,
    ) -> Result<Self> {
        fn of<const N: usize>(
            (indices, numbers): (&Source, &Numbers),
            Room { cut, only }: Room<'_>,
            belongings: &dyn Belongings,
            limits: Limits,
        ) -> Result<Vec<Buckets<N>>> {
            let parts = collect(indices, numbers, limits, |part, tuples| {
                let entries = only.map_or(tuples, |(_, entries)| entries[part]);
                let only = only.map(|(places, _)| places);
                Ok(Collector { buckets: Buckets::<N>::new(cut, entries)?, only, belongings, words: Vec::new() })
            })?;
            Ok(parts.into_iter().map(|part| part.buckets).collect())
        }
        let operand = (indices, numbers);
        Ok(match size {
            1 => Self::One(of(operand, room, belongings, limits)?),
            2 => Self::Two(of(operand, room, belongings, limits)?),
            4 => Self::Four(of(operand, room, belongings, limits)?),
            8 => Self::Eight(of(operand, room, belongings, limits)?),
            16 => Self::Sixteen(of(operand, room, belongings, limits)?),
            _ => unreachable!("words have 1, 2, 4, 8 or 16 bytes, not {size}"),
        })
    }

    /// Calls `each(place)` for the places in `lo..hi`.
    fn places(&self, lo: usize, hi: usize, mut each: impl FnMut(usize)) {
        each_size!(self, parts => for part in parts {
            part.near(lo, hi, |first, at, _| {
                at.iter().map(|&at| first + at as usize).filter(|place| (lo..hi).contains(place)).for_each(&mut each);
            });
        });
    }

    /// Calls `each(place, position)` for the places in `lo..hi`, of entries that are positions.
    fn positions(&self, lo: usize, hi: usize, mut each: impl FnMut(usize, usize)) {
        each_size!(self, parts => for part in parts {
            part.near(lo, hi, |first, at, with| {
                for (&at, with) in at.iter().zip(with) {
                    let place = first + at as usize;
                    if (lo..hi).contains(&place) {
                        let position = with.iter().rev().fold(0, |position, &byte| position << 8 | usize::from(byte));
                        each(place, position);
                    }
                }
            });
        });
    }
}

impl Entries {
    /// Calls `each(place)` for the places in `lo..hi`, one for each tuple.
    pub(super) fn places(&self, lo: usize, hi: usize, mut each: impl FnMut(usize)) {
        match self {
            Entries::Values(words) | Entries::Positions(words) => words.places(lo, hi, each),
            Entries::Whole { from, to } if lo == 0 && hi > 0 => (*from..*to).for_each(|_| each(0)),
            Entries::Whole { .. } => {}
        }
    }

    /// Whether there is a place in `lo..hi`.
    pub(super) fn any(&self, lo: usize, hi: usize) -> bool {
        let mut any = false;
        match self {
            Entries::Values(words) | Entries::Positions(words) => words.places(lo, hi, |_| any = true),
            Entries::Whole { from, to } => any = lo == 0 && hi > 0 && from < to,
        }
        any
    }

    /// Calls `each(place, position)` for the places in `lo..hi`, where updates are not carried along.
    pub(super) fn positions(&self, lo: usize, hi: usize, mut each: impl FnMut(usize, usize)) {
        match self {
            Entries::Values(_) => unreachable!("entries that carry their updates are applied"),
            Entries::Positions(words) => words.positions(lo, hi, each),
            Entries::Whole { from, to } if lo == 0 && hi > 0 => (*from..*to).for_each(|position| each(0, position)),
            Entries::Whole { .. } => {}
        }
    }

    /// Applies the updates that are carried along to `out`, which begins with place `lo`.
    pub(super) fn apply(&self, lo: usize, hi: usize, out: &mut [u8], combine: Option<Combine>) {
        let Entries::Values(words) = self else { unreachable!("only updates that are carried along are applied") };
        each_size!(words, parts => for part in parts {
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

    /// The earliest position that repeats a place, and the first position of that place; of entries that are positions.
    pub(super) fn earliest_repeat(&self, cut: Cut) -> Option<(usize, usize)> {
        match self {
            Entries::Values(_) => unreachable!("where repeats are refused, entries are positions"),
            Entries::Whole { from, to } => (to - from > 1).then_some((from + 1, *from)),
            Entries::Positions(words) => {
                let mut all = Vec::new();
                let repeats = (0..cut.count()).filter_map(|bucket| {
                    let places = cut.places(bucket);
                    all.clear();
                    words.positions(places.start, places.end, |place, position| all.push((place, position)));
                    // next to each other, the second of a place is its earliest that repeats, and it repeats the first
                    all.sort_unstable();
                    let runs = all.chunk_by(|a, b| a.0 == b.0).filter(|run| run.len() > 1);
                    runs.map(|run| (run[1].1, run[0].1)).min()
                });
                repeats.min()
            }
        }
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
