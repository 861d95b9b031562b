//! Exact quantiles in bounded memory, for any number and order of items and any number of threads.
//!
//! Items have *keys*, whole numbers in the same order ([`Key`]). A first pass counts keys in buckets of equal width,
//! which gives the bucket of each wanted key. A later pass keeps the keys of that bucket, or counts them in narrower
//! buckets if they are many. Sorting would need memory for all items; a sketch, such as a t-digest, is approximate and
//! depends on the order.
//!
//! Items of 32 bits need at most two passes, others four. A [sample](Search::sampled) lets the first pass keep the keys
//! of likely buckets, so that it often is the last.
//!
//! ```
//! use tensorop_files::internal::plans::quantiles::{Fraction, Key, Search};
//!
//! let items = [3.0, -1.5, 8.0, f64::NAN, 2.0];
//! let mut search = Search::new(f64::BITS, &[Fraction::new(1, 2), Fraction::new(999, 1000)], items.len());
//! let keys = items.map(|item| if item.is_finite() { item.to_key() } else { f64::LEFT_OUT });
//! while search.found().is_none() {
//!     let mut counts = search.begin();
//!     search.count(&mut counts, &keys);
//!     search.narrow(vec![counts], 4, 0);
//! }
//! let found: Option<Vec<f64>> = search.found().map(|keys| keys.iter().map(|&key| f64::from_key(key)).collect());
//! assert_eq!(found, Some(vec![2.0, 8.0]));
//! ```

use std::ops::RangeInclusive;
use std::sync::Mutex;

use half::{bf16, f16};

pub use super::select::Fraction;
use super::select::{KeyBuckets, locate, select, select_within};
use tensorop_kernels::item::element::inlined;
use tensorop_kernels::parallel::locked;

/// The buckets of a range. Their counters, 512 KiB, are seldom all in use.
const BUCKETS: usize = 1 << 16;

/// The bits of the number of guessed buckets, whose counters, 64 KiB, are all in use.
const GUESS_BITS: u32 = 13;

/// The maximum keys of a pass in guessed buckets: 32 MiB.
const GUESSED: usize = 1 << 22;

/// The maximum keys of a later pass: 8 MiB.
const KEPT: usize = 1 << 20;

/// Selecting among so few keys is faster than scanning the counters.
const FEW: usize = 1 << 16;

/// The width of a guess on each side, in standard deviations of a sample's rank.
const SPREAD: f64 = 5.0;

/// A type of items with keys.
pub trait Key: Copy {
    /// The bits of a key; higher bits are 0.
    const BITS: u32;
    /// The largest key, for items that do not count.
    const LEFT_OUT: u64 = u64::MAX >> (u64::BITS - Self::BITS);

    /// Returns a number in the order of the items. -0.0 precedes +0.0.
    fn to_key(self) -> u64;

    fn from_key(key: u64) -> Self;
}

macro_rules! keys {
    // Flipping the sign bit sorts signed numbers.
    (whole, $sign:expr; $($type:ty, $bits:ty;)*) => {$(
        impl Key for $type {
            const BITS: u32 = <$type>::BITS;

            inlined! {
                fn to_key(self) -> u64 { (self as $bits ^ $sign << (<$type>::BITS - 1)).into() }
                fn from_key(key: u64) -> Self { (key as $bits ^ $sign << (<$type>::BITS - 1)) as $type }
            }
        }
    )*};
    (float $($type:ty, $bits:ty, $signed:ty;)*) => {$(
        impl Key for $type {
            const BITS: u32 = <$bits>::BITS;

            inlined! {
                fn to_key(self) -> u64 {
                    let bits = self.to_bits();
                    // Negative numbers sort in reverse, below the others.
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

keys! { whole, 0; u8, u8; u16, u16; u32, u32; u64, u64; }
keys! { whole, 1; i8, u8; i16, u16; i32, u32; i64, u64; }
keys! { float f16, u16, i16; bf16, u16, i16; f32, u32, i32; f64, u64, i64; }

/// A search by passes until the quantiles are [found](Self::found).
#[derive(Debug)]
pub struct Search {
    bits: u32,
    /// Ascending.
    fractions: Vec<Fraction>,
    most_kept: usize,
    kept: Mutex<Vec<u64>>,
    pass: Pass,
}

#[derive(Debug)]
enum Pass {
    KeepAll,
    CountAll(KeyBuckets),
    Guess(Guess),
    Keep(Ranges),
    Count(Ranges),
    Found(Vec<u64>),
}

#[derive(Debug)]
struct Guess {
    buckets: EndedBuckets,
    is_kept: Box<[bool; BUCKETS]>,
}

/// The first bucket includes all keys below, and that of `most` all keys above.
#[derive(Clone, Copy, Debug)]
struct EndedBuckets {
    buckets: KeyBuckets,
    most: u64,
}

impl Guess {
    /// Takes ascending ranges of keys to keep, except key 0, which most items may have.
    fn new(ranges: &[[u64; 2]]) -> Option<Self> {
        let ranges = &ranges[ranges.partition_point(|range| range[1] == 0)..];
        let (least, most) = (ranges.first()?[0], ranges.last()?[1]);
        let shift = KeyBuckets::between(least, most, GUESS_BITS).shift;
        let buckets = KeyBuckets { least: least.saturating_sub(1 << shift), shift };
        let buckets = EndedBuckets { buckets, most: most.saturating_add(1 << shift) };
        let mut is_kept = Box::new([false; BUCKETS]);
        ranges.iter().for_each(|&[low, high]| mark(&mut is_kept, buckets.of(low).max(1)..=buckets.of(high)));
        Some(Self { buckets, is_kept })
    }
}

impl EndedBuckets {
    #[inline(always)]
    fn of(self, key: u64) -> usize {
        self.buckets.of(key.max(self.buckets.least).min(self.most)) % BUCKETS
    }

    fn range(self, bucket: usize) -> (u64, u64) {
        let (least, most) = self.buckets.range(bucket);
        (if bucket == 0 { 0 } else { least }, if bucket == self.of(self.most) { u64::MAX } else { most })
    }
}

/// A wanted key: its rank, from 0, among the `count` keys from `least` to `most`.
#[derive(Clone, Copy, Debug)]
struct WantedKey {
    least: u64,
    most: u64,
    count: u64,
    rank: u64,
}

impl WantedKey {
    fn known(key: u64) -> Self {
        Self { least: key, most: key, count: 0, rank: 0 }
    }

    fn is_known(self) -> bool {
        self.least == self.most
    }

    fn within(self, (least, most): (u64, u64), count: u64, rank: u64) -> Self {
        let least = least.max(self.least);
        Self { least, most: most.min(self.most).max(least), count, rank }
    }
}

#[derive(Debug)]
struct Ranges {
    /// Ascending.
    wanted: Vec<WantedKey>,
    /// The ranges of unknown keys, ascending and disjoint.
    ranges: Vec<(WantedKey, KeyBuckets)>,
    /// Buckets over all ranges, and which buckets have keys of a range. A key outside is in some bucket too.
    outline: KeyBuckets,
    is_near: Box<[bool; BUCKETS]>,
}

impl Ranges {
    /// Most keys fail the first check.
    #[inline(always)]
    fn of(&self, key: u64) -> Option<usize> {
        if !self.is_near[self.outline.of(key) % BUCKETS] {
            return None;
        }
        self.ranges.iter().position(|(range, _)| range.least <= key && key <= range.most)
    }
}

/// The counters of a thread in a pass.
#[derive(Clone, Debug)]
pub struct PassCounts {
    /// One array of [`BUCKETS`] counters per range.
    buckets: Vec<u64>,
    /// The AND and the OR of all keys, which bound them.
    all: u64,
    any: u64,
    /// The zero keys that were only counted.
    zeros: u64,
    scratch: Vec<u64>,
}

impl PassCounts {
    fn add(&mut self, other: &Self) {
        self.buckets.iter_mut().zip(&other.buckets).for_each(|(sum, count)| *sum += count);
        self.all &= other.all;
        self.any |= other.any;
        self.zeros += other.zeros;
    }
}

impl Search {
    /// `fractions` ascend; `items` is a maximum.
    pub fn new(bits: u32, fractions: &[Fraction], items: usize) -> Self {
        let (pass, kept) = match items <= FEW {
            true => (Pass::KeepAll, Vec::with_capacity(items)),
            false => (Pass::CountAll(KeyBuckets::between(0, largest_key(bits), BUCKETS.ilog2())), Vec::new()),
        };
        Self { bits, fractions: fractions.to_vec(), most_kept: KEPT, kept: Mutex::new(kept), pass }
    }

    /// Begins with a sample in which every key has the same probability, and reorders it. Too many equal items prevent
    /// a guess.
    #[must_use]
    pub fn sampled(bits: u32, fractions: &[Fraction], items: usize, sample: &mut [u64]) -> Self {
        let search = Self::new(bits, fractions, items);
        let Some(last) = sample.len().checked_sub(1).filter(|_| items > FEW) else { return search };
        let bounds = |fraction: &Fraction| {
            let rank = fraction.value() * sample.len() as f64;
            let spread = SPREAD * (rank * (1.0 - fraction.value())).sqrt() + SPREAD;
            // Ranks below 0 become 0.
            [rank - spread, rank + spread].map(|rank| (rank as usize).min(last) as u64)
        };
        let mut ranks: Vec<u64> = fractions.iter().flat_map(bounds).collect();
        // Bounds overlap if there are few items, which only affects the guess.
        ranks.sort_unstable();
        let ends = select(sample, &ranks);
        let guess = Guess::new(ends.as_chunks().0).filter(|guess| {
            let kept = sample.iter().filter(|key| guess.is_kept[guess.buckets.of(**key)]).count();
            (kept as f64 / sample.len() as f64 * items as f64) < 0.75 * GUESSED as f64
        });
        match guess {
            Some(guess) => Self { most_kept: GUESSED, pass: Pass::Guess(guess), ..search },
            None => search,
        }
    }

    /// The maximum number of passes.
    #[must_use]
    pub fn most_passes(bits: u32, items: usize) -> usize {
        if items <= FEW { 1 } else { bits.div_ceil(BUCKETS.ilog2()) as usize }
    }

    /// Returns a key per fraction, or no keys if no item counts; `None` before the last pass.
    pub fn found(&self) -> Option<&[u64]> {
        if let Pass::Found(keys) = &self.pass { Some(keys) } else { None }
    }

    pub fn begin(&self) -> PassCounts {
        let ranges = match &self.pass {
            Pass::CountAll(_) | Pass::Guess(_) => 1,
            Pass::Count(ranges) => ranges.ranges.len(),
            Pass::KeepAll | Pass::Keep(_) | Pass::Found(_) => 0,
        };
        let (all, any) = if let Pass::CountAll(_) = self.pass { (u64::MAX, 0) } else { (0, u64::MAX) };
        PassCounts { buckets: vec![0; ranges * BUCKETS], all, any, zeros: 0, scratch: Vec::new() }
    }

    /// Counts the keys that `load` appends to `block` or directly to the kept keys.
    pub fn count_loaded(&self, counts: &mut PassCounts, block: &mut Vec<u64>, load: impl FnOnce(&mut Vec<u64>)) {
        if let Pass::KeepAll = self.pass {
            load(&mut locked(&self.kept));
        } else {
            block.clear();
            load(block);
            self.count(counts, block);
        }
    }

    /// Counts keys. Other items are omitted or have [`Key::LEFT_OUT`].
    pub fn count(&self, counts: &mut PassCounts, keys: &[u64]) {
        let PassCounts { buckets, all, any, scratch, .. } = counts;
        let counters = buckets.as_chunks_mut::<BUCKETS>().0;
        // A counter cannot overflow during a run; checks would take longer than the rest.
        let add_one = |counter: &mut u64| *counter = counter.wrapping_add(1);
        match &self.pass {
            // [`Key::LEFT_OUT`] sorts last, beyond every rank.
            Pass::KeepAll => locked(&self.kept).extend_from_slice(keys),
            Pass::CountAll(buckets) => {
                (*all, *any) = keys.iter().fold((*all, *any), |(all, any), key| (all & key, any | key));
                let (buckets, counters) = (*buckets, &mut counters[0]);
                keys.iter().for_each(|&key| add_one(&mut counters[buckets.of(key) % BUCKETS]));
            }
            Pass::Guess(guess) => {
                let (buckets, is_kept, counters) = (guess.buckets, &*guess.is_kept, &mut counters[0]);
                for &key in keys {
                    let bucket = buckets.of(key);
                    add_one(&mut counters[bucket]);
                    if is_kept[bucket] {
                        scratch.push(key);
                    }
                }
            }
            Pass::Keep(ranges) => {
                for &key in keys {
                    if ranges.of(key).is_some() {
                        scratch.push(key);
                    }
                }
            }
            Pass::Count(ranges) => {
                for &key in keys {
                    if let Some(number) = ranges.of(key) {
                        counters[number][ranges.ranges[number].1.of(key) % BUCKETS] += 1;
                    }
                }
            }
            Pass::Found(_) => {}
        }
        if !scratch.is_empty() {
            let mut kept = locked(&self.kept);
            let room = self.most_kept - kept.len();
            kept.extend(scratch.drain(..).take(room));
        }
    }

    /// Counts zero keys without seeing them, in the first pass only.
    pub fn count_zeros(&self, counts: &mut PassCounts, keys: usize) {
        match &self.pass {
            Pass::KeepAll => {
                let mut kept = locked(&self.kept);
                let all = kept.len() + keys;
                kept.resize(all, 0);
            }
            Pass::CountAll(_) | Pass::Guess(_) => counts.zeros += keys as u64,
            Pass::Keep(_) | Pass::Count(_) | Pass::Found(_) => {
                unreachable!("all keys are looked at after the first pass")
            }
        }
    }

    /// Ends a pass. `items` is the number of counted items, the same in each pass; `zeros` of the items have key 0.
    pub fn narrow(&mut self, counts: Vec<PassCounts>, items: u64, zeros: u64) {
        if items == 0 {
            self.pass = Pass::Found(Vec::new());
            return;
        }
        let ranks: Vec<u64> = self.fractions.iter().map(|fraction| fraction.rank(items) - 1).collect();
        let mut kept = std::mem::take(&mut *locked(&self.kept));
        let mut sum = self.begin();
        counts.iter().for_each(|more| sum.add(more));
        if sum.zeros > 0 {
            // The first bucket has key 0.
            sum.buckets[0] += sum.zeros;
            sum.all = 0;
        }
        let counted = |range: &dyn Fn(usize) -> (u64, u64)| -> Vec<WantedKey> {
            let all = WantedKey { least: sum.all, most: sum.any, count: items, rank: 0 };
            let wanted = |(&rank, (bucket, inner)): (&u64, (usize, u64))| {
                if rank < zeros {
                    return WantedKey::known(0);
                }
                let (least, most) = range(bucket);
                // The zeros precede this range.
                let before = if least == 0 { zeros } else { 0 };
                all.within((least.max(u64::from(before > 0)), most), sum.buckets[bucket] - before, inner - before)
            };
            ranks.iter().zip(locate(&sum.buckets, &ranks)).map(wanted).collect()
        };
        self.pass = match std::mem::replace(&mut self.pass, Pass::KeepAll) {
            Pass::KeepAll => {
                if kept.len() as u64 > items {
                    // Other keys only widen the range.
                    let left_out = largest_key(self.bits);
                    kept.retain(|&key| key < left_out);
                    kept.resize(kept.len().max(items as usize), left_out);
                }
                Pass::Found(select(&mut kept, &ranks))
            }
            Pass::CountAll(buckets) => self.look_within(counted(&|bucket| buckets.range(bucket))),
            Pass::Guess(guess) => {
                let wanted = counted(&|bucket| guess.buckets.range(bucket));
                let in_kept: u64 =
                    sum.buckets.iter().zip(&*guess.is_kept).map(|(sum, kept)| sum * u64::from(*kept)).sum();
                let is_kept = |wanted: &WantedKey| wanted.is_known() || guess.is_kept[guess.buckets.of(wanted.least)];
                self.most_kept = KEPT;
                match kept.len() as u64 == in_kept && wanted.iter().all(is_kept) {
                    true => Pass::Found(found(&wanted, &kept)),
                    false => self.look_within(wanted),
                }
            }
            Pass::Count(Ranges { wanted, ranges, .. }) => {
                let counters = sum.buckets.as_chunks::<BUCKETS>().0;
                let within = |wanted: WantedKey| {
                    let number = ranges.iter().position(|(range, _)| range.least == wanted.least);
                    number.map_or(wanted, |number| {
                        let (bucket, rank) = locate(&counters[number], &[wanted.rank])[0];
                        wanted.within(ranges[number].1.range(bucket), counters[number][bucket], rank)
                    })
                };
                self.look_within(wanted.into_iter().map(within).collect())
            }
            Pass::Keep(ranges) => Pass::Found(found(&ranges.wanted, &kept)),
            Pass::Found(keys) => Pass::Found(keys),
        };
    }

    fn look_within(&self, wanted: Vec<WantedKey>) -> Pass {
        let mut unknown: Vec<WantedKey> = wanted.iter().copied().filter(|wanted| !wanted.is_known()).collect();
        unknown.dedup_by_key(|wanted| wanted.least);
        let (Some(first), Some(last)) = (unknown.first(), unknown.last()) else {
            return Pass::Found(found(&wanted, &[]));
        };
        let divided = |least, most| KeyBuckets::between(least, most, BUCKETS.ilog2());
        let outline = divided(first.least, last.most);
        let mut is_near = Box::new([false; BUCKETS]);
        unknown.iter().for_each(|range| mark(&mut is_near, outline.of(range.least)..=outline.of(range.most)));
        let keys: u64 = unknown.iter().map(|range| range.count).sum();
        let ranges = unknown.into_iter().map(|range| (range, divided(range.least, range.most))).collect();
        let ranges = Ranges { wanted, ranges, outline, is_near };
        if keys <= self.most_kept as u64 { Pass::Keep(ranges) } else { Pass::Count(ranges) }
    }
}

fn largest_key(bits: u32) -> u64 {
    u64::MAX >> (u64::BITS - bits)
}

fn mark(marks: &mut [bool; BUCKETS], buckets: RangeInclusive<usize>) {
    marks.get_mut(buckets).into_iter().flatten().for_each(|mark| *mark = true);
}

/// Some keys are missing if a file has changed between passes.
fn found(wanted: &[WantedKey], kept: &[u64]) -> Vec<u64> {
    let key = |one: &WantedKey| match one.is_known() {
        true => Some(one.least),
        false => select_within(kept, (one.least, one.most), one.rank),
    };
    wanted.iter().filter_map(key).collect()
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

    fn among(keys: &mut [u64], fractions: &[Fraction]) -> Vec<u64> {
        let items = keys.len() as u64;
        select(keys, &fractions.iter().map(|fraction| fraction.rank(items) - 1).collect::<Vec<_>>())
    }

    fn random() -> impl Iterator<Item = u64> {
        (1_u64..).map(|i| {
            let mixed = i.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            mixed ^ mixed >> 27
        })
    }

    fn search(mut search: Search, keys: &[u64], items: u64, zeros: u64) -> (Vec<u64>, usize) {
        for passes in 0.. {
            if let Some(found) = search.found() {
                return (found.to_vec(), passes);
            }
            let mut threads = vec![search.begin(), search.begin(), search.begin()];
            for (n, piece) in keys.chunks(97).enumerate() {
                let counts = &mut threads[n * n % 3];
                if passes > 0 || n % 5 > 2 {
                    search.count(counts, piece);
                    continue;
                }
                let others: Vec<u64> = piece.iter().copied().filter(|key| *key > 0).collect();
                search.count_zeros(counts, piece.len() - others.len());
                search.count(counts, &others);
            }
            search.narrow(threads, items, zeros);
        }
        unreachable!("passes end")
    }

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
        for (few, most_kept) in [(0, KEPT), (usize::MAX, 0), (usize::MAX, 50), (usize::MAX, KEPT)] {
            let (found, took) = search(Search { most_kept, ..Search::new(T::BITS, &FRACTIONS, few) }, &keys, count, 0);
            assert_eq!(found, expected, "{name}: {few} {most_kept}");
            assert!(took <= passes, "{name}: {took} passes");
        }
        for (sample, of) in [("all", 0..sorted.len()), ("the least", 0..sorted.len() / 10), ("none", 0..0)] {
            let items = keys.len().max(FEW + 1);
            let sampled = Search::sampled(T::BITS, &FRACTIONS, items, &mut sorted[of].to_vec());
            let (found, took) = search(sampled, &keys, count, 0);
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
            let zeros = keys.iter().filter(|key| **key == 0).count() as u64;
            let (found, took) = search(Search::sampled(64, &fractions, n, &mut sample), &keys, n as u64, zeros);
            assert_eq!((found, took), (expected, passes), "{name}");
        }
    }

    #[test]
    fn a_sample_of_zeros_alone_misleads_nobody() {
        let keys: Vec<u64> = random().take(100_000).map(|r| if r % 10 < 4 { 0 } else { 1 + r % 9 }).collect();
        let expected = among(&mut keys.clone(), &FRACTIONS);
        for mut sample in [vec![0; 1000], [vec![0; 990], vec![9; 10]].concat()] {
            let zeros = keys.iter().filter(|key| **key == 0).count() as u64;
            for zeros in [0, zeros] {
                let search_for = Search::sampled(64, &FRACTIONS, keys.len(), &mut sample);
                assert_eq!(search(search_for, &keys, keys.len() as u64, zeros).0, expected);
            }
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
}
