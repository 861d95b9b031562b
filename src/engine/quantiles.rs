//! Exact quantiles in bounded memory: the items of given ranks, whatever the number of items, their order and the threads.
//!
//! This is a radix select, from the top digit down. Items have *keys*, whole numbers that order as the items do ([`Key`]).
//! A first pass counts how often each value of the leading digit (16 bits) occurs, which tells the leading digit of each
//! wanted key. A later pass looks only at keys that begin with one of these: if they are few, it keeps and sorts them; if
//! not, it counts their next digit. Counts are added up, so neither order nor threads matter. To sort all items would take
//! the memory of all; a sketch, such as a t-digest, takes little, but returns an approximation that depends on the order.
//!
//! The first pass can be one that is made anyway. Items of 32 bits need at most two passes, and so do most of 64 bits; no
//! items need more than four. A [sample](Search::sampled) tells between which keys the wanted ones probably are: if that
//! is right, the first pass is the last.
//!
//! ```
//! use tensorop::engine::quantiles::{Fraction, Key, Search};
//!
//! let items = [3.0, -1.5, 8.0, f64::NAN, 2.0];
//! let mut search = Search::new(f64::BITS, &[Fraction::new(1, 2), Fraction::new(999, 1000)], items.len());
//! let keys = items.map(|item| if item.is_finite() { item.to_key() } else { f64::LEFT_OUT });
//! while search.found().is_none() {
//!     let mut counts = search.begin();
//!     search.count(&mut counts, &keys);
//!     search.narrow(vec![counts], 4);
//! }
//! let found: Option<Vec<f64>> = search.found().map(|keys| keys.iter().map(|&key| f64::from_key(key)).collect());
//! assert_eq!(found, Some(vec![2.0, 8.0]));
//! ```

use half::{bf16, f16};

use super::brackets::{BracketCounts, Brackets};
use super::select::{joined, select};
use crate::item::element::inlined;

/// Bits of a digit. The counters of a thread, 256 KiB, fit the cache beside the items.
const DIGIT: u32 = 16;

/// The most keys, of all threads together, that a later pass keeps and sorts instead of counting them: 8 MiB.
const KEPT: u64 = 1 << 20;

/// The most keys that the first pass keeps: to find the wanted ones among them takes less time than to go through the counters.
const FEW: usize = 1 << 16;

/// A share of all items, from 0 to 1. It is no float, because 0.1 is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fraction {
    numerator: u64,
    denominator: u64,
}

impl Fraction {
    /// Returns `numerator / denominator`.
    ///
    /// # Panics
    /// If the denominator is 0, or smaller than the numerator.
    #[must_use]
    pub const fn new(numerator: u64, denominator: u64) -> Self {
        assert!(denominator != 0 && numerator <= denominator, "a fraction from 0 to 1");
        Self { numerator, denominator }
    }

    /// Returns the nearest float.
    fn value(self) -> f64 {
        self.numerator as f64 / self.denominator as f64
    }

    /// Returns the rank, from 1, of the quantile among so many items in ascending order: the least whole number that is not
    /// below this fraction of them, and at least 1. (NumPy calls the method `inverted_cdf`.)
    pub fn rank(self, items: u64) -> u64 {
        let rank = (u128::from(self.numerator) * u128::from(items)).div_ceil(self.denominator.into());
        // a fraction of a number of 64 bits has no more bits
        (rank as u64).max(1)
    }
}

/// A type of items that have keys.
pub trait Key: Copy {
    /// The bits of a key. All bits above are 0.
    const BITS: u32;
    /// The largest key. It stands for an item that does not count, and comes behind all that do.
    const LEFT_OUT: u64 = u64::MAX >> (u64::BITS - Self::BITS);

    /// Returns a number that orders as the items do. -0.0 comes before +0.0.
    fn to_key(self) -> u64;

    /// Returns the item that has a key.
    fn from_key(key: u64) -> Self;
}

macro_rules! keys {
    (unsigned $($type:ty)*) => {$(
        impl Key for $type {
            const BITS: u32 = <$type>::BITS;

            inlined! {
                fn to_key(self) -> u64 { self.into() }
                fn from_key(key: u64) -> Self { key as $type }
            }
        }
    )*};
    (signed $($type:ty, $bits:ty;)*) => {$(
        impl Key for $type {
            const BITS: u32 = <$type>::BITS;

            inlined! {
                fn to_key(self) -> u64 { ((self as $bits) ^ (1 << (<$type>::BITS - 1))).into() }
                fn from_key(key: u64) -> Self { (key as $bits ^ (1 << (<$type>::BITS - 1))) as $type }
            }
        }
    )*};
    (float $($type:ty, $bits:ty, $signed:ty;)*) => {$(
        impl Key for $type {
            const BITS: u32 = <$bits>::BITS;

            inlined! {
                fn to_key(self) -> u64 {
                    let bits = self.to_bits();
                    // negative numbers order in reverse, below the others
                    let flip = (bits as $signed >> (<$bits>::BITS - 1)) as $bits | 1 << (<$bits>::BITS - 1);
                    (bits ^ flip).into()
                }
                fn from_key(key: u64) -> Self {
                    let key = key as $bits;
                    let flip = !((key as $signed >> (<$bits>::BITS - 1)) as $bits) | 1 << (<$bits>::BITS - 1);
                    Self::from_bits(key ^ flip)
                }
            }
        }
    )*};
}

keys! { unsigned u8 u16 u32 u64 }
keys! { signed i8, u8; i16, u16; i32, u32; i64, u64; }
keys! { float f16, u16, i16; bf16, u16, i16; f32, u32, i32; f64, u64, i64; }

/// The search for the quantiles of some items, by passes over all of them until they are [found](Self::found).
#[derive(Debug)]
pub struct Search {
    bits: u32,
    fractions: Vec<Fraction>,
    /// The most keys that are kept in a later pass.
    kept: u64,
    pass: Pass,
}

/// The task of the next pass.
#[derive(Debug)]
enum Pass {
    /// The pass keeps all keys, of which there are at most so many.
    KeepAll(usize),
    /// The pass keeps the keys within guesses, and counts the others.
    Guess(Brackets),
    /// The pass counts the leading digit of all keys.
    CountAll,
    /// The pass keeps the keys that have one of these beginnings.
    Keep(Beginnings),
    /// The pass counts the next digit of the keys that have one of these beginnings. Below that digit are so many bits.
    Count(Beginnings, u32),
    /// No pass is needed.
    Found(Vec<u64>),
}

/// The bits that are known of the wanted keys, from the top.
#[derive(Clone, Debug)]
struct Beginnings {
    /// The number of bits that are not known.
    below: u32,
    /// The known bits of the wanted keys, ascending and without duplicates.
    known: Vec<u64>,
    /// For each fraction the number of its beginning, and its rank, from 0, among the keys with that beginning.
    wanted: Vec<(usize, u64)>,
    /// Whether these can be the last 16 known bits of a wanted key, which excludes most keys at once.
    last: Box<[bool; 1 << DIGIT]>,
}

impl Beginnings {
    fn new(below: u32, wanted_bits: &[(u64, u64)]) -> Self {
        let mut known: Vec<u64> = wanted_bits.iter().map(|&(bits, _)| bits).collect();
        known.sort_unstable();
        known.dedup();
        let number = |bits| known.binary_search(&bits).expect("all beginnings are in the list");
        let wanted = wanted_bits.iter().map(|&(bits, rank)| (number(bits), rank)).collect();
        let mut last = Box::new([false; 1 << DIGIT]);
        known.iter().for_each(|&bits| last[usize::from(bits as u16)] = true);
        Self { below, known, wanted, last }
    }

    /// Returns the bits of a key that are known of wanted keys.
    #[inline(always)]
    fn of(&self, key: u64) -> u64 {
        key >> self.below
    }

    /// Returns the number of the beginning of a key, if it is one of these.
    #[inline(always)]
    fn number(&self, key: u64) -> Option<usize> {
        let bits = self.of(key);
        if !self.last[usize::from(bits as u16)] {
            return None;
        }
        self.known.iter().position(|&known| known == bits)
    }
}

/// A key that is searched, after a pass.
#[derive(Clone, Copy, Debug)]
struct WantedKey {
    /// The number of its first counter.
    first: usize,
    /// The bits before the digit that was counted.
    bits: u64,
    /// The rank, from 0, among the keys with these bits.
    rank: u64,
}

/// The counters of a thread in a pass, and the keys that it keeps.
#[derive(Clone, Debug)]
pub struct PassCounts {
    /// How often each digit occurs, for each beginning. Counters of 32 bits fit the cache.
    digits: Vec<u32>,
    /// The counts of before, which were moved here before a counter could overflow.
    before: Vec<u64>,
    /// Keys that were counted since then.
    pending: u32,
    /// Keys that are kept.
    kept: Vec<u64>,
    /// The bits that all counted keys have, and those that any has.
    all: u64,
    any: u64,
    guessed: Option<BracketCounts>,
}

impl PassCounts {
    /// Empties the counters if one could overflow when so many keys are counted.
    fn make_room(&mut self, keys: usize) {
        match self.pending.checked_add(keys as u32) {
            Some(pending) => self.pending = pending,
            None => {
                self.carry();
                self.pending = keys as u32;
            }
        }
    }

    /// Empties the counters into those of 64 bits.
    fn carry(&mut self) {
        self.before.resize(self.digits.len(), 0);
        self.before.iter_mut().zip(&mut self.digits).for_each(|(sum, count)| *sum += u64::from(std::mem::take(count)));
        self.pending = 0;
    }
}

impl Search {
    /// Begins a search among at most `items` keys of so many bits.
    pub fn new(bits: u32, fractions: &[Fraction], items: usize) -> Self {
        let pass = if items <= FEW { Pass::KeepAll(items) } else { Pass::CountAll };
        Self { bits, fractions: fractions.to_vec(), kept: KEPT, pass }
    }

    /// Begins a search with a sample, in which each key that counts is with the same probability. The better it represents
    /// all keys, the better is the guess. Reorders the sample.
    #[must_use]
    pub fn sampled(bits: u32, fractions: &[Fraction], items: usize, sample: &mut [u64]) -> Self {
        let mut search = Self::new(bits, fractions, items);
        let shares = fractions.iter().map(|fraction| fraction.value());
        if let (Pass::CountAll, Some(brackets)) = (&search.pass, Brackets::new(sample, shares, items)) {
            search.pass = Pass::Guess(brackets);
        }
        search
    }

    /// Returns the keys of the quantiles, one for each fraction, or none if no item counts; `None` if another pass is
    /// needed.
    pub fn found(&self) -> Option<&[u64]> {
        match &self.pass {
            Pass::Found(keys) => Some(keys),
            Pass::KeepAll(_) | Pass::Guess(_) | Pass::CountAll | Pass::Keep(_) | Pass::Count(..) => None,
        }
    }

    /// Returns the counters with which a thread begins a pass.
    pub fn begin(&self) -> PassCounts {
        let counters = match &self.pass {
            Pass::CountAll => 1 << self.bits.min(DIGIT),
            Pass::Count(beginnings, _) => beginnings.known.len() << DIGIT,
            Pass::KeepAll(_) | Pass::Guess(_) | Pass::Keep(_) | Pass::Found(_) => 0,
        };
        let guessed = match &self.pass {
            Pass::Guess(brackets) => Some(brackets.begin()),
            Pass::KeepAll(_) | Pass::CountAll | Pass::Keep(_) | Pass::Count(..) | Pass::Found(_) => None,
        };
        let digits = vec![0; counters];
        PassCounts { digits, before: Vec::new(), pending: 0, kept: Vec::new(), all: u64::MAX, any: 0, guessed }
    }

    /// Counts the keys that `load` appends to a vector, as [`count`](Self::count) does. If the pass keeps all keys, that is the
    /// vector in which it keeps them, else `block`, which is emptied first.
    pub fn count_loaded(&self, counts: &mut PassCounts, block: &mut Vec<u64>, load: impl FnOnce(&mut Vec<u64>)) {
        if let Pass::KeepAll(items) = self.pass {
            if counts.kept.is_empty() {
                counts.kept.reserve_exact(items);
            }
            load(&mut counts.kept);
        } else {
            block.clear();
            load(block);
            self.count(counts, block);
        }
    }

    /// Counts some keys, fewer than 2^32. Items that do not count are left out, or have [`Key::LEFT_OUT`].
    pub fn count(&self, counts: &mut PassCounts, keys: &[u64]) {
        match &self.pass {
            // keys that do not count come last, beyond every rank
            Pass::KeepAll(_) => counts.kept.extend_from_slice(keys),
            Pass::Guess(brackets) => {
                brackets.count(counts.guessed.as_mut().expect("counters of this pass"), keys);
            }
            Pass::CountAll => {
                let (mut all, mut any) = (counts.all, counts.any);
                for key in keys {
                    all &= key;
                    any |= key;
                }
                (counts.all, counts.any) = (all, any);
                counts.make_room(keys.len());
                let below = self.bits.saturating_sub(DIGIT);
                for key in keys {
                    counts.digits[(key >> below) as usize] += 1;
                }
            }
            Pass::Keep(beginnings) => {
                for &key in keys {
                    // there may be more if a file has changed since the last pass
                    if beginnings.number(key).is_some() && (counts.kept.len() as u64) < self.kept {
                        counts.kept.push(key);
                    }
                }
            }
            Pass::Count(beginnings, below) => {
                counts.make_room(keys.len());
                let mask = (1 << (beginnings.below - below)) - 1;
                for key in keys {
                    if let Some(number) = beginnings.number(*key) {
                        counts.digits[number << DIGIT | (key >> below) as usize & mask] += 1;
                    }
                }
            }
            Pass::Found(_) => {}
        }
    }

    /// Ends a pass with the counters of all its threads. `items` is the number of items that count, the same in each pass.
    pub fn narrow(&mut self, counts: Vec<PassCounts>, items: u64) {
        if items == 0 {
            self.pass = Pass::Found(Vec::new());
            return;
        }
        let ranks: Vec<u64> = self.fractions.iter().map(|fraction| fraction.rank(items) - 1).collect();
        let (all, any) = counts.iter().fold((u64::MAX, 0), |(all, any), one| (all & one.all, any | one.any));
        self.pass = match &self.pass {
            Pass::KeepAll(_) => {
                let mut keys = joined(counts.into_iter().map(|counts| counts.kept));
                if keys.len() as u64 > items {
                    // keys that do not count only widen the range of those that do
                    let left_out = u64::MAX >> (u64::BITS - self.bits);
                    keys.retain(|&key| key < left_out);
                    keys.resize(keys.len().max(items as usize), left_out);
                }
                Pass::Found(select(&mut keys, ranks.into_iter()))
            }
            Pass::Guess(brackets) => {
                let seen = counts.into_iter().filter_map(|counts| counts.guessed).collect();
                brackets.found(seen, &ranks).map_or(Pass::CountAll, Pass::Found)
            }
            Pass::Keep(beginnings) => {
                let mut keys = joined(counts.into_iter().map(|counts| counts.kept));
                keys.sort_unstable();
                let key = |&(number, rank): &(usize, u64)| {
                    let first = keys.partition_point(|&key| beginnings.of(key) < beginnings.known[number]);
                    usize::try_from(rank).ok().and_then(|rank| keys.get(first.checked_add(rank)?).copied())
                };
                Pass::Found(beginnings.wanted.iter().filter_map(key).collect())
            }
            Pass::CountAll => {
                let below = self.bits.saturating_sub(DIGIT);
                let sums = sums(counts);
                let wanted: Vec<_> = ranks.into_iter().map(|rank| WantedKey { first: 0, bits: 0, rank }).collect();
                // bits that all keys have in common, as small numbers of 64 bits do, need not be counted
                let common = u64::BITS - (all ^ any).leading_zeros();
                match self.next(&sums, &wanted, below, self.bits - below) {
                    Pass::Keep(beginnings) | Pass::Count(beginnings, _) if common < beginnings.below => {
                        let more = beginnings.below - common;
                        let bits = |bits: u64| bits << more | any >> common & ((1 << more) - 1);
                        let wanted: Vec<_> =
                            beginnings.wanted.iter().map(|&(n, rank)| (bits(beginnings.known[n]), rank)).collect();
                        self.count_below(Beginnings::new(common, &wanted))
                    }
                    next => next,
                }
            }
            Pass::Count(beginnings, below) => {
                let sums = sums(counts);
                let of = |&(number, rank): &(usize, u64)| WantedKey {
                    first: number << DIGIT,
                    bits: beginnings.known[number],
                    rank,
                };
                let wanted: Vec<_> = beginnings.wanted.iter().map(of).collect();
                self.next(&sums, &wanted, *below, beginnings.below - below)
            }
            Pass::Found(keys) => Pass::Found(keys.clone()),
        };
    }

    /// Returns the pass after one that has counted digits of `digit` bits, below which `below` bits are unknown.
    fn next(&self, sums: &[u64], wanted: &[WantedKey], below: u32, digit: u32) -> Pass {
        let mut found: Vec<(u64, u64)> = Vec::with_capacity(wanted.len());
        let mut candidates = Vec::new();
        for &WantedKey { first, bits, mut rank } in wanted {
            // empty if a file has become empty since the last pass
            let counters = sums.get(first..).unwrap_or_default().iter().take(1 << digit);
            let mut at = 0;
            for (value, &count) in counters.enumerate() {
                at = value;
                if rank < count {
                    candidates.push((first + value, count));
                    break;
                }
                rank -= count;
            }
            found.push((bits << digit | at as u64, rank));
        }
        if below == 0 {
            return Pass::Found(found.into_iter().map(|(bits, _)| bits).collect());
        }
        candidates.sort_unstable();
        candidates.dedup();
        let beginnings = Beginnings::new(below, &found);
        match candidates.iter().map(|(_, count)| count).sum::<u64>() <= self.kept {
            true => Pass::Keep(beginnings),
            false => self.count_below(beginnings),
        }
    }

    /// Returns the pass that counts the next digit, or what is found if no bit is unknown.
    fn count_below(&self, beginnings: Beginnings) -> Pass {
        match beginnings.below {
            0 => Pass::Found(beginnings.wanted.iter().map(|&(number, _)| beginnings.known[number]).collect()),
            below => Pass::Count(beginnings, below.saturating_sub(DIGIT)),
        }
    }
}

/// Adds up the counters of all threads.
fn sums(counts: Vec<PassCounts>) -> Vec<u64> {
    let mut sums: Vec<u64> = Vec::new();
    for mut counts in counts {
        counts.carry();
        sums.resize(counts.before.len(), 0);
        sums.iter_mut().zip(&counts.before).for_each(|(sum, count)| *sum += count);
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRACTIONS: [Fraction; 7] = [
        Fraction::new(0, 1),
        Fraction::new(1, 1000),
        Fraction::new(1, 4),
        Fraction::new(1, 2),
        Fraction::new(3, 4),
        Fraction::new(999, 1000),
        Fraction::new(1, 1),
    ];

    /// The keys of the quantiles, one for each fraction, found by sorting.
    fn among(keys: &mut [u64], fractions: &[Fraction]) -> Vec<u64> {
        let items = keys.len() as u64;
        select(keys, fractions.iter().map(|fraction| fraction.rank(items) - 1))
    }

    /// Numbers that look random, the same each time.
    fn random() -> impl Iterator<Item = u64> {
        (1_u64..).map(|i| {
            let mixed = i.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            mixed ^ mixed >> 27
        })
    }

    /// What a search finds, and how many passes it takes. Each of three threads sees pieces of the keys.
    fn search(mut search: Search, keys: &[u64], items: u64) -> (Vec<u64>, usize) {
        for passes in 0.. {
            if let Some(found) = search.found() {
                return (found.to_vec(), passes);
            }
            let mut threads = vec![search.begin(), search.begin(), search.begin()];
            for (n, piece) in keys.chunks(97).enumerate() {
                search.count(&mut threads[n * n % 3], piece);
            }
            search.narrow(threads, items);
        }
        unreachable!("passes end")
    }

    /// Compares a search with sorting, whatever is kept and counted.
    fn check<T: Key>(name: &str, items: impl Iterator<Item = Option<T>>, passes: usize) {
        let items: Vec<Option<T>> = items.collect();
        let keys: Vec<u64> = items.iter().map(|item| item.map_or(T::LEFT_OUT, T::to_key)).collect();
        let mut sorted: Vec<u64> = items.iter().flatten().map(|item| item.to_key()).collect();
        sorted.sort();
        let count = sorted.len() as u64;
        let expected: Vec<u64> = match count {
            0 => Vec::new(),
            _ => FRACTIONS.iter().map(|fraction| sorted[fraction.rank(count) as usize - 1]).collect(),
        };
        for (few, kept) in [(0, u64::MAX), (usize::MAX, 0), (usize::MAX, 50), (usize::MAX, KEPT)] {
            let (found, took) = search(Search { kept, ..Search::new(T::BITS, &FRACTIONS, few) }, &keys, count);
            assert_eq!(found, expected, "{name}: {few} {kept}");
            assert!(took <= passes, "{name}: {took} passes");
        }
        // from samples that are like all of them, and that are not
        for (sample, of) in [("all", 0..sorted.len()), ("the least", 0..sorted.len() / 10), ("none", 0..0)] {
            let items = keys.len().max(FEW + 1);
            let sampled = Search::sampled(T::BITS, &FRACTIONS, items, &mut sorted[of].to_vec());
            let (found, took) = search(sampled, &keys, count);
            assert_eq!(found, expected, "{name}: a sample of {sample}");
            assert!(took <= passes + 1, "{name}: {took} passes with a sample of {sample}");
        }
        assert_eq!(among(&mut sorted, &FRACTIONS), expected, "{name}");
    }

    #[test]
    fn as_sorting_finds_them() {
        let n = 5000;
        let floats = || random().take(n).map(|bits| Some(f64::from_bits(bits)).filter(|item| item.is_finite()));
        check("float64 of all bits", floats(), 4);
        check("float64 of one binade", random().take(n).map(|r| Some(1.0 + r as f64 / 2_f64.powi(64))), 4);
        check("float32", floats().map(|item| item.map(|item| item as f32).filter(|item| item.is_finite())), 2);
        check("float16", random().take(n).map(|r| Some(f16::from_bits(r as u16)).filter(|item| item.is_finite())), 1);
        check("bfloat16", random().take(n).map(|r| Some(bf16::from_bits(r as u16)).filter(|i| i.is_finite())), 1);
        check("int64", random().take(n).map(|r| Some(r as i64)), 4);
        check("small int64", random().take(n).map(|r| Some((r % 1000) as i64 - 300)), 4);
        check("small positive int64", random().take(n).map(|r| Some((r % 1000) as i64)), 2);
        check("uint64", random().take(n).map(Some), 4);
        check("one uint64", std::iter::repeat_n(Some(77_u64), n), 1);
        check("int32", random().take(n).map(|r| Some(r as i32)), 2);
        check("uint32", random().take(n).map(|r| Some(r as u32 >> (r >> 60))), 2);
        check("int16", random().take(n).map(|r| Some(r as i16)), 1);
        check("int8", random().take(n).map(|r| Some(r as i8)), 1);
        check("uint8", random().take(n).map(|r| Some(r as u8)), 1);
        check("none", std::iter::repeat_n(None::<f64>, n), 1);
        check("no items", std::iter::empty::<Option<i16>>(), 1);
        check("the largest key and none", [Some(u64::MAX), Some(3), Some(u64::MAX)].into_iter(), 4);
        check("the largest key, and items left out", [Some(u64::MAX), None, Some(3), None].into_iter(), 4);
        check("small and none", random().take(n).map(|r| (r % 7 > 0).then_some((r % 1000) as i64)), 4);
        check("zeros", [0.0, -0.0, 0.0, -0.0].into_iter().map(Some), 4);
    }

    /// What a good sample spares: all passes but one, also where most keys are equal to one that is 0, or to some that
    /// are not kept since no fraction asks for them.
    #[test]
    fn a_sample_spares_passes() {
        let n = 100_000;
        let sparse = |r: u64| if r.is_multiple_of(50) { (r >> 40) + 1 } else { 0 };
        let keys: [(&str, Vec<u64>, usize); 4] = [
            ("random", random().take(n).collect(), 1),
            ("floats", random().take(n).map(|r| (r as f64 / 1e19).powi(3).to_bits()).collect(), 1),
            ("sparse", random().take(n).map(sparse).collect(), 1),
            ("short", random().take(n).map(|r| r % 1000).collect(), 1),
        ];
        let fractions = [Fraction::new(1, 2), Fraction::new(9, 10), Fraction::new(99, 100), Fraction::new(999, 1000)];
        for (name, keys, passes) in keys {
            let mut sample: Vec<u64> = keys.iter().copied().step_by(7).collect();
            let mut sorted = keys.clone();
            let expected = among(&mut sorted, &fractions);
            let (found, took) = search(Search::sampled(64, &fractions, n, &mut sample), &keys, n as u64);
            assert_eq!((found, took), (expected, passes), "{name}");
        }
    }

    #[test]
    fn a_sample_of_zeros_alone_misleads_nobody() {
        let keys: Vec<u64> = random().take(100_000).map(|r| if r % 10 < 4 { 0 } else { 1 + r % 9 }).collect();
        let expected = among(&mut keys.clone(), &FRACTIONS);
        for mut sample in [vec![0; 1000], [vec![0; 990], vec![9; 10]].concat()] {
            let search_for = Search::sampled(64, &FRACTIONS, keys.len(), &mut sample);
            assert_eq!(search(search_for, &keys, keys.len() as u64).0, expected);
        }
    }

    #[test]
    fn keys_order_as_items_do() {
        fn ascend<T: Key + PartialOrd + std::fmt::Debug>(items: &[T]) {
            for pair in items.windows(2) {
                assert!(pair[0].to_key() < pair[1].to_key(), "{pair:?}");
            }
            for &item in items {
                assert!(T::from_key(item.to_key()) == item && item.to_key() <= T::LEFT_OUT, "{item:?}");
            }
        }
        ascend(&[f64::NEG_INFINITY, f64::MIN, -1.0, -f64::MIN_POSITIVE, -0.0, 0.0, 5e-324, 1.0, f64::INFINITY]);
        ascend(&[f32::MIN, -1.0, -1e-45, -0.0, 0.0, 1e-45, 1.0, f32::MAX]);
        ascend(&[-2.0, -0.0, 0.0, 2.0].map(f16::from_f64));
        ascend(&[-2.0, -0.0, 0.0, 2.0].map(bf16::from_f64));
        ascend(&[i8::MIN, -1, 0, 1, i8::MAX]);
        ascend(&[i64::MIN, -1, 0, 1, i64::MAX]);
        ascend(&[0, 1, u64::MAX]);
        ascend(&[0, 1, u16::MAX]);
    }

    #[test]
    fn ranks() {
        let rows = [
            ((1, 2), 1, 1),
            ((1, 2), 2, 1),
            ((1, 2), 3, 2),
            ((1, 10), 10, 1),
            ((1, 10), 11, 2),
            ((999, 1000), 1000, 999),
            ((999, 1000), 1001, 1000),
            ((0, 1), 5, 1),
            ((1, 1), 5, 5),
            ((1, 1), u64::MAX, u64::MAX),
        ];
        for ((numerator, denominator), items, rank) in rows {
            assert_eq!(Fraction::new(numerator, denominator).rank(items), rank, "{numerator}/{denominator} of {items}");
        }
    }

    #[test]
    fn counters_do_not_overflow() {
        let search = Search::new(16, &FRACTIONS, usize::MAX);
        let mut counts = search.begin();
        search.count(&mut counts, &[7, 7]);
        counts.make_room(u32::MAX as usize);
        search.count(&mut counts, &[7]);
        assert_eq!(sums(vec![counts])[7], 3);
    }
}
