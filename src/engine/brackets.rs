//! Guesses, from a sample, between which keys quantiles are. With them the first pass can keep the few keys among which the
//! quantiles are, and no other pass is needed. That pass also tells whether the guess was right; if it was not, the search
//! goes on as if there had been no guess.
//!
//! The keys from the least to the largest guess are divided into buckets of equal width. Arithmetic finds the bucket of a
//! key, and a table its class: a key below, between or above the guesses is counted, and one within a guess is also kept.

use std::sync::atomic::{AtomicUsize, Ordering};

/// The last bucket, for all keys above the guesses.
const ABOVE: u64 = u16::MAX as u64;

/// The most keys that all threads together keep: 32 MiB.
const KEPT: usize = 1 << 22;

/// Counters for a class. Neighbouring keys are often of one class, and a single counter would wait for its own last
/// addition each time.
const LANES: usize = 4;

/// The number of classes at most: one below all guesses, and two for each guess, itself and the keys above it.
const CLASSES: usize = 32;

/// How many standard deviations of a sample's rank lie on either side of a guess.
const SPREAD: f64 = 5.0;

/// The guesses for some quantiles.
#[derive(Debug)]
pub(super) struct Brackets {
    /// Keys up to `base` are in the first bucket, and the others up to `top` in buckets of `2^shift`.
    base: u64,
    top: u64,
    shift: u32,
    /// The class of each bucket. Odd classes are guesses.
    classes: Box<[u8; 1 << 16]>,
    /// The number of keys that all threads have kept.
    kept: AtomicUsize,
}

/// The counters of a thread, and the keys that it has kept.
#[derive(Clone, Debug, Default)]
pub(super) struct BracketCounts {
    counts: [[u64; CLASSES]; LANES],
    kept: Vec<u64>,
}

impl Brackets {
    /// Guesses the quantiles at some shares of all items from a sample, in which each of `items` keys is with the same
    /// probability. Returns `None` if too many keys would have to be kept, as those of many equal items, or if the sample is
    /// too small. Reorders the sample.
    pub(super) fn new(sample: &mut [u64], shares: impl Iterator<Item = f64>, items: usize) -> Option<Self> {
        sample.sort_unstable();
        let (first, last) = (*sample.first()?, *sample.last()?);
        let guess = |share: f64| {
            let rank = share * sample.len() as f64;
            let spread = SPREAD * (rank * (1.0 - share)).sqrt() + SPREAD;
            let at = |rank: f64| sample.get(rank as usize).copied();
            (if rank < spread { first } else { at(rank - spread).unwrap_or(last) }, at(rank + spread).unwrap_or(last))
        };
        let guesses: Vec<(u64, u64)> = shares.map(guess).collect();
        let least = guesses.iter().map(|guess| guess.0).min()?;
        let most = guesses.iter().map(|guess| guess.1).max()?;
        // a key in the first bucket is known only if that has no other key than 0
        let base = least.saturating_sub(1);
        let shift = (u64::BITS - ((most - base) / (ABOVE - 1)).leading_zeros()).min(u64::BITS - 1);
        let width = 1_u64.checked_shl(shift)?;
        // near the largest key of all there may be fewer buckets
        let top = base.saturating_add(ABOVE.saturating_mul(width));
        (top - base).checked_add(width)?;
        let mut brackets = Self { base, top, shift, classes: Box::new([0; 1 << 16]), kept: AtomicUsize::new(0) };
        let mut is_guess = vec![false; 1 << 16];
        for (low, high) in guesses {
            is_guess[brackets.bucket(low).max(1)..=brackets.bucket(high)].fill(true);
        }
        is_guess[0] = false;
        for bucket in 1..1 << 16 {
            let changes = match bucket {
                // where the first bucket is that of the key 0 alone, no other is of its class: a guess of nothing parts them
                1 if base == 0 && !is_guess[1] => 2,
                _ => u8::from(is_guess[bucket] != is_guess[bucket - 1]),
            };
            brackets.classes[bucket] = brackets.classes[bucket - 1].saturating_add(changes);
        }
        let kept = sample.iter().filter(|&&key| is_guess[brackets.bucket(key)]).count();
        let expected = kept as f64 / sample.len() as f64 * items as f64;
        let is_known = brackets.bucket(most) < brackets.bucket(top) && expected < 0.75 * KEPT as f64;
        (is_known && usize::from(brackets.classes[usize::from(u16::MAX)]) < CLASSES).then_some(brackets)
    }

    /// Returns the bucket of a key.
    #[inline(always)]
    fn bucket(&self, key: u64) -> usize {
        // this rounds up, so that the keys up to the base have a bucket of their own; nothing here can overflow
        let above = key.min(self.top).saturating_sub(self.base);
        usize::from((above.wrapping_add((1 << self.shift) - 1) >> self.shift) as u16)
    }

    /// Counts some keys, and keeps those within guesses.
    pub(super) fn count(&self, seen: &mut BracketCounts, keys: &[u64]) {
        let before = seen.kept.len();
        let has_room = self.kept.load(Ordering::Relaxed) < KEPT;
        let mut take = |key: u64, lane: usize| {
            let class = self.classes[self.bucket(key)];
            let count = &mut seen.counts[lane][usize::from(class) % CLASSES];
            // there are fewer keys than overflow; to check it would take as long as all else
            *count = count.wrapping_add(1);
            if class % 2 == 1 && has_room {
                seen.kept.push(key);
            }
        };
        let (quads, rest) = keys.as_chunks::<LANES>();
        for quad in quads {
            quad.iter().enumerate().for_each(|(lane, &key)| take(key, lane));
        }
        rest.iter().for_each(|&key| take(key, 0));
        if seen.kept.len() > before {
            self.kept.fetch_add(seen.kept.len() - before, Ordering::Relaxed);
        }
    }

    /// Returns the keys of some ranks, from 0, if all were kept.
    pub(super) fn found(&self, seen: Vec<BracketCounts>, ranks: &[u64]) -> Option<Vec<u64>> {
        let mut counts = [0; CLASSES];
        let mut kept = Vec::new();
        for one in seen {
            for lane in one.counts {
                counts.iter_mut().zip(lane).for_each(|(sum, count)| *sum += count);
            }
            if kept.is_empty() {
                kept = one.kept;
            } else {
                kept.extend(one.kept);
            }
        }
        // not all were kept if there was no room for them
        let of_guesses: u64 = counts.iter().skip(1).step_by(2).sum();
        if of_guesses != kept.len() as u64 {
            return None;
        }
        let mut key = |&rank: &u64| {
            let (mut below, mut between) = (0, 0);
            for (class, count) in counts.iter().enumerate() {
                let is_guess = class % 2 == 1;
                if rank < below + count {
                    let at = usize::try_from(rank - between).ok().filter(|_| is_guess);
                    return match at {
                        Some(at) => kept.get_mut(..)?.get(at).is_some().then(|| *kept.select_nth_unstable(at).1),
                        // the first bucket then holds no key but 0
                        None => (class == 0 && self.base == 0).then_some(0),
                    };
                }
                below += count;
                between += if is_guess { 0 } else { *count };
            }
            None
        };
        ranks.iter().map(&mut key).collect()
    }
}
