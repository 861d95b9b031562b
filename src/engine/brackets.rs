//! Guesses, from a sample, between which keys quantiles are. With them the first pass can keep the few keys among which the
//! quantiles are, and no other pass is needed. That pass also tells whether the guess was right; if it was not, the search
//! goes on as if there had been no guess.
//!
//! A pass needs little of a key: whether it is below a guess, within, or above. So a key becomes the number of its *bucket*,
//! of equal width, and all keys far below or far above the guesses fall into the first and the last one. The numbers have 16
//! bits, of which vectors compare eight at once; a table that told the class of each bucket would be asked key by key.
//! For each guess the pass counts the keys below. The few keys within are found by a second look where one of sixteen is.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::select::{KeyLists, nth, select};

/// The most keys that all threads together keep: 32 MiB.
const KEPT: usize = 1 << 22;

/// How many standard deviations of a sample's rank lie on either side of a guess.
const SPREAD: f64 = 5.0;

/// The bits of the number of steps from the first to the last guess. A bucket is a step wide, so half of all numbers of 16 bits
/// are left for keys beyond the guesses.
const STEP_BITS: u32 = 15;

/// Buckets are first counted from `base`, in so many bits, with which a sum of a few does not overflow.
const WIDE_BITS: u32 = 30;

/// Keys are looked at so many at a time; their buckets stay in a core's nearest cache, and are counted in 16 bits.
const BLOCK: usize = 512;

/// Guesses that a loop looks for at once. Their bounds and counters are as many as a processor has vectors.
const LANES: usize = 4;

/// Keys of which a vectorised loop tells at once whether any is within a guess. Of all keys a hundredth is.
const GROUP: usize = 16;

/// The guesses for some quantiles.
#[derive(Debug)]
pub(super) struct Brackets {
    buckets: Buckets,
    /// The buckets of the guesses, ascending and apart from one another. A guess may be empty; then only the count of keys
    /// below is wanted.
    guesses: Vec<Range<i16>>,
    /// Whether below the first guess is no key but 0.
    begins_at_0: bool,
    /// The number of keys that all threads have kept.
    kept: AtomicUsize,
}

/// How keys are divided into buckets.
#[derive(Clone, Copy, Debug)]
struct Buckets {
    /// Keys up to `base` are in one bucket, and the others in buckets of `2^shift`, of which each ends with a key that is a
    /// whole number of widths above the base. So if the base is 0, that key has a bucket of its own.
    base: u64,
    shift: u32,
    /// How many buckets from that of the base is the one whose number is 0.
    middle: i32,
}

/// The counters of a thread, and the keys that it has kept.
#[derive(Clone, Debug)]
pub(super) struct BracketCounts {
    /// For each guess the number of keys below.
    below: Vec<u64>,
    /// For each guess the keys within.
    kept: Vec<KeyLists>,
    /// Whether there was no room for a key.
    is_full: bool,
    scratch: Box<Block>,
}

/// The buckets of some keys, counted from the base and then from the middle, and whether each key is within a guess.
#[derive(Clone, Debug)]
struct Block {
    wide: [i32; BLOCK],
    near: [i16; BLOCK],
    marks: [i16; BLOCK],
}

impl Brackets {
    /// Guesses the quantiles at some shares of all items from a sample, in which each of `items` keys is with the same
    /// probability. Returns `None` if too many keys would have to be kept, as those of many equal items, or if the sample is
    /// too small. Reorders the sample.
    pub(super) fn new(sample: &mut [u64], shares: impl Iterator<Item = f64>, items: usize) -> Option<Self> {
        let last = sample.len().checked_sub(1)?;
        let ranks = shares.flat_map(|share| {
            let rank = share * sample.len() as f64;
            let spread = SPREAD * (rank * (1.0 - share)).sqrt() + SPREAD;
            // a rank below 0 becomes 0
            [(rank - spread) as usize, (rank + spread) as usize].map(|rank| rank.min(last) as u64)
        });
        let ranks: Vec<u64> = ranks.collect();
        let ends = select(sample, ranks.into_iter());
        let (least, most) = (*ends.iter().min()?, *ends.iter().max()?);
        let buckets = Buckets::new(least, most);
        // a guess begins above the keys up to the base; if that is 0, to count them is enough
        let first = buckets.near(1);
        let guess = |&[low, high]: &[u64; 2]| buckets.of(low).max(first)..buckets.of(high).saturating_add(1).max(first);
        let mut all: Vec<Range<i16>> = ends.as_chunks().0.iter().map(guess).collect();
        all.sort_unstable_by_key(|guess| (guess.start, guess.end));
        let mut guesses: Vec<Range<i16>> = Vec::with_capacity(all.len());
        for guess in all {
            match guesses.last_mut() {
                Some(last) if guess.start <= last.end => last.end = last.end.max(guess.end),
                Some(_) | None => guesses.push(guess),
            }
        }
        let begins_at_0 = buckets.base == 0 && guesses.first()?.start == first;
        let mut brackets = Self { buckets, guesses, begins_at_0, kept: AtomicUsize::new(0) };
        let mut seen = brackets.begin();
        brackets.count(&mut seen, sample);
        let kept = std::mem::take(brackets.kept.get_mut()) as f64 / sample.len() as f64 * items as f64;
        (!seen.is_full && kept < 0.75 * KEPT as f64).then_some(brackets)
    }

    /// Returns the counters with which a thread begins.
    pub(super) fn begin(&self) -> BracketCounts {
        BracketCounts {
            below: vec![0; self.guesses.len()],
            kept: vec![KeyLists::default(); self.guesses.len()],
            is_full: false,
            scratch: Box::new(Block { wide: [0; BLOCK], near: [0; BLOCK], marks: [0; BLOCK] }),
        }
    }

    /// Counts some keys, and keeps those within guesses.
    pub(super) fn count(&self, seen: &mut BracketCounts, keys: &[u64]) {
        let mut kept = 0;
        for keys in keys.chunks(BLOCK) {
            let Block { wide, near, marks } = &mut *seen.scratch;
            self.buckets.fill(keys, wide, near);
            // what is left of the last group is in no guess, and below none
            let used = keys.len().next_multiple_of(GROUP);
            near[keys.len()..used].fill(i16::MAX);
            let (near, marks) = (&near[..used], &mut marks[..used]);
            marks.fill(0);
            for (guesses, below) in self.guesses.chunks(LANES).zip(seen.below.chunks_mut(LANES)) {
                let counts = look_for(guesses, near, marks);
                below.iter_mut().zip(counts).for_each(|(sum, count)| *sum += u64::from(count));
            }
            let has_room = self.kept.load(Ordering::Relaxed) + kept < KEPT;
            for (number, marks) in marks.as_chunks::<GROUP>().0.iter().enumerate() {
                if marks.iter().fold(0, |any, mark| any | mark) == 0 {
                    continue;
                }
                for at in (0..GROUP).filter(|at| marks[*at] != 0).map(|at| number * GROUP + at) {
                    let guess = self.guesses.iter().position(|guess| guess.contains(&near[at]));
                    match guess.filter(|_| has_room) {
                        Some(guess) => {
                            seen.kept[guess].push(keys[at]);
                            kept += 1;
                        }
                        None => seen.is_full = true,
                    }
                }
            }
        }
        if kept > 0 {
            self.kept.fetch_add(kept, Ordering::Relaxed);
        }
    }

    /// Returns the keys of some ranks, from 0, if all were kept.
    pub(super) fn found(&self, seen: Vec<BracketCounts>, ranks: &[u64]) -> Option<Vec<u64>> {
        let mut below = vec![0; self.guesses.len()];
        let mut kept = vec![KeyLists::default(); self.guesses.len()];
        for one in seen {
            if one.is_full {
                return None;
            }
            below.iter_mut().zip(one.below).for_each(|(sum, count)| *sum += count);
            kept.iter_mut().zip(one.kept).for_each(|(all, more)| all.append(more));
        }
        let key = |&rank: &u64| {
            if self.begins_at_0 && rank < *below.first()? {
                return Some(0);
            }
            let guess = below.iter().rposition(|&below| below <= rank)?;
            nth(&kept[guess], usize::try_from(rank - below[guess]).ok()?)
        };
        ranks.iter().map(key).collect()
    }
}

impl Buckets {
    /// Divides the keys from `least` to `most` into steps, and those beyond into buckets of the same width. If they can,
    /// buckets begin with the key 0, else far below the least guess, since keys below the base are dealt with one by one.
    fn new(least: u64, most: u64) -> Self {
        let bits = |number: u64| u64::BITS - number.leading_zeros();
        let shift = bits(most - least).saturating_sub(STEP_BITS);
        let begins_at_0 = most >> shift >> WIDE_BITS == 0;
        let base = if begins_at_0 { 0 } else { least.saturating_sub(1 << (shift + WIDE_BITS - 1)) };
        let buckets = Self { base, shift, middle: 0 };
        Self { middle: buckets.wide(least) + (1 << (STEP_BITS - 1)), ..buckets }
    }

    /// Returns the bits of a place within a bucket.
    #[inline(always)]
    fn mask(self) -> u64 {
        (1 << self.shift) - 1
    }

    /// Returns how many buckets a key is above the base, or as many as there can be.
    #[inline]
    fn wide(self, key: u64) -> i32 {
        let above = key.saturating_sub(self.base);
        let rounded_up = (above >> self.shift) + u64::from(above & self.mask() != 0);
        rounded_up.min(1 << WIDE_BITS) as i32
    }

    /// Returns the number of a bucket that is so many above that of the base.
    #[inline(always)]
    fn near(self, wide: i32) -> i16 {
        wide.wrapping_sub(self.middle).clamp(i16::MIN.into(), i16::MAX.into()) as i16
    }

    /// Returns the number of the bucket of a key.
    fn of(self, key: u64) -> i16 {
        self.near(self.wide(key))
    }

    /// Makes `near` the numbers of the buckets of some keys.
    #[inline]
    fn fill(self, keys: &[u64], wide: &mut [i32], near: &mut [i16]) {
        let (base, mask, shift) = (self.base, self.mask(), self.shift % u64::BITS);
        let mut all = 0;
        for (wide, key) in wide.iter_mut().zip(keys) {
            let above = key.wrapping_sub(base);
            all |= above;
            *wide = (above.wrapping_add(mask) >> shift) as i32;
        }
        // a key below the base, or so far above that something overflows; a loop that asked each key is not vectorised
        if all >> shift >> WIDE_BITS != 0 || all > u64::MAX - mask {
            wide.iter_mut().zip(keys).for_each(|(wide, key)| *wide = self.wide(*key));
        }
        near.iter_mut().zip(&wide[..keys.len()]).for_each(|(near, wide)| *near = self.near(*wide));
    }
}

/// Returns how many buckets are below each of up to four guesses, and marks those within one.
#[inline]
fn look_for(guesses: &[Range<i16>], buckets: &[i16], marks: &mut [i16]) -> [u16; LANES] {
    let (mut starts, mut ends) = ([i16::MIN; LANES], [i16::MIN; LANES]);
    for (lane, guess) in guesses.iter().enumerate() {
        (starts[lane], ends[lane]) = (guess.start, guess.end);
    }
    let mut below = [0_u16; LANES];
    for (mark, &bucket) in marks.iter_mut().zip(buckets) {
        let mut is_within = false;
        for lane in 0..LANES {
            let is_below = bucket < starts[lane];
            // a block has fewer keys than overflow a counter; to check it would keep the loop from being vectorised
            below[lane] = below[lane].wrapping_add(is_below.into());
            is_within |= !is_below & (bucket < ends[lane]);
        }
        *mark |= i16::from(is_within);
    }
    below
}
