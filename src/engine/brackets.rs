//! Where quantiles lie, guessed from a sample: so that the pass that is made anyway can keep the few keys among which they
//! are, and no other pass is needed. Whether the guess was right is known after that pass; if it was not, nothing but
//! that guess is lost.
//!
//! The keys from the least to the largest guess are divided into buckets of equal width. A key's bucket is found by
//! arithmetic, and its class by a table: below, between or above the guesses, of which keys are counted, or within one
//! of them, of which they are kept.

use std::sync::atomic::{AtomicUsize, Ordering};

/// The last bucket, of all that lies above the guesses.
const ABOVE: u64 = u16::MAX as u64;

/// Keys that are kept at most, by all threads together: 32 MiB.
const KEPT: usize = 1 << 22;

/// Counts run side by side so many to a class: neighbouring keys often are of one class, and a single count would wait
/// for its own last addition each time.
const LANES: usize = 4;

/// Classes there are room for: one below, and for each guess itself and what lies above it.
const CLASSES: usize = 32;

/// How many standard deviations of a sample's rank lie on either side of a guess.
const SPREAD: f64 = 5.0;

/// The guesses for some quantiles.
#[derive(Debug)]
pub(super) struct Brackets {
    /// The keys up to here are in the first bucket, and all others up to `top` in buckets of `2^shift`.
    base: u64,
    top: u64,
    shift: u32,
    /// The class of each bucket; odd ones are of a guess.
    classes: Box<[u8; 1 << 16]>,
    /// Keys that all threads have kept.
    kept: AtomicUsize,
}

/// What one thread has seen.
#[derive(Clone, Debug, Default)]
pub(super) struct BracketCounts {
    counts: [[u64; CLASSES]; LANES],
    kept: Vec<u64>,
}

impl Brackets {
    /// Of the quantiles at these shares of all items, from keys of which each may be any of `items` with the same chance;
    /// they are reordered. `None` if too many items
    /// would have to be kept, as of many that are equal, or the sample is too small to tell.
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
        // of keys up to the base only 0 is known, if that is one
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
            let changes = is_guess[bucket] != is_guess[bucket - 1];
            brackets.classes[bucket] = brackets.classes[bucket - 1].saturating_add(changes.into());
        }
        let kept = sample.iter().filter(|&&key| is_guess[brackets.bucket(key)]).count();
        let expected = kept as f64 / sample.len() as f64 * items as f64;
        let is_known = brackets.bucket(most) < brackets.bucket(top) && expected < 0.75 * KEPT as f64;
        (is_known && usize::from(brackets.classes[usize::from(u16::MAX)]) < CLASSES).then_some(brackets)
    }

    /// The bucket of a key.
    #[inline(always)]
    fn bucket(&self, key: u64) -> usize {
        // rounded up, so that the keys up to the base have a bucket of their own; none of this can overflow
        let above = key.min(self.top).saturating_sub(self.base);
        usize::from((above.wrapping_add((1 << self.shift) - 1) >> self.shift) as u16)
    }

    /// Takes some keys.
    pub(super) fn count(&self, seen: &mut BracketCounts, keys: &[u64]) {
        let before = seen.kept.len();
        let has_room = self.kept.load(Ordering::Relaxed) < KEPT;
        let mut take = |key: u64, lane: usize| {
            let class = self.classes[self.bucket(key)];
            seen.counts[lane][usize::from(class) % CLASSES] += 1;
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

    /// The keys of some ranks, counted from 0, if all are among those that were kept.
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
        // some were left out where there was no room for all
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
                        // the first bucket then holds one key
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
