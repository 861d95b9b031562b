//! Selection of keys by rank in memory.

/// Partitioning fewer keys is faster than scanning counters.
const COUNTED: usize = 512;

/// The counters, 16 KiB, fit the L1 cache beside the keys.
const BUCKETS: usize = 1 << 12;

/// A fraction from 0 to 1. Floats cannot hold 0.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fraction {
    numerator: u64,
    denominator: u64,
}

impl Fraction {
    /// Panics if the denominator is 0 or below the numerator.
    #[must_use]
    pub const fn new(numerator: u64, denominator: u64) -> Self {
        assert!(denominator != 0 && numerator <= denominator, "a fraction from 0 to 1");
        Self { numerator, denominator }
    }

    pub(crate) fn value(self) -> f64 {
        self.numerator as f64 / self.denominator as f64
    }

    /// The rank, from 1, of the quantile: the least whole number that is at least this fraction of `items`, and at
    /// least 1 (NumPy's `inverted_cdf`).
    pub fn rank(self, items: u64) -> u64 {
        let rank = (u128::from(self.numerator) * u128::from(items)).div_ceil(self.denominator.into());
        // The quotient fits 64 bits.
        (rank as u64).max(1)
    }
}

/// Ranks ascend from 0; ranks beyond the last key are ignored. May reorder the keys.
pub(crate) fn select(keys: &mut [u64], ranks: &[u64]) -> Vec<u64> {
    let ranks = &ranks[..ranks.partition_point(|rank| *rank < keys.len() as u64)];
    counted(keys, ranks).unwrap_or_else(|| parted(keys, ranks))
}

/// Counts keys in buckets and selects within the wanted ones. The loops hardly branch and take a third of the time of
/// partitioning. `None` if that would save too little.
fn counted(keys: &[u64], ranks: &[u64]) -> Option<Vec<u64>> {
    if keys.len() < COUNTED || u32::try_from(keys.len()).is_err() {
        return None;
    }
    let (least, most) = keys.iter().fold((u64::MAX, 0), |(least, most), &key| (key.min(least), key.max(most)));
    let buckets = KeyBuckets::between(least, most, BUCKETS.ilog2().min(keys.len().ilog2() - 1));
    let mut counts = [0_u32; BUCKETS];
    for &key in keys {
        // The number of keys fits a counter.
        let count = &mut counts[buckets.of(key) % BUCKETS];
        *count = count.wrapping_add(1);
    }
    let wanted = locate(&counts, ranks);
    if buckets.shift == 0 {
        return Some(wanted.into_iter().map(|(bucket, _)| buckets.range(bucket).0).collect());
    }
    let (mut is_wanted, mut kept, mut inner) = ([false; BUCKETS], 0, Vec::with_capacity(ranks.len()));
    for (bucket, rank) in wanted {
        let count = u64::from(counts[bucket]);
        if !std::mem::replace(&mut is_wanted[bucket], true) {
            kept += count;
        }
        inner.push(kept - count + rank);
    }
    let kept = kept as usize;
    if kept > keys.len() / 4 {
        return None;
    }
    // Every key is written and overwritten unless wanted; a branch would often be mispredicted.
    let (mut few, mut end) = (vec![0; kept + 1], 0);
    for &key in keys {
        few[end] = key;
        end += usize::from(is_wanted[buckets.of(key) % BUCKETS]);
    }
    Some(select(&mut few[..kept], &inner))
}

/// `None` if there are at most `rank` keys in the range.
pub(crate) fn select_within(keys: &[u64], (least, most): (u64, u64), rank: u64) -> Option<u64> {
    let mut few: Vec<u64> = keys.iter().copied().filter(|key| (least..=most).contains(key)).collect();
    select(&mut few, &[rank]).pop()
}

/// With few ranks partitioning is faster than sorting, because each step halves them.
fn parted(keys: &mut [u64], ranks: &[u64]) -> Vec<u64> {
    fn part(keys: &mut [u64], first: u64, ranks: &[u64]) {
        let Some(&rank) = ranks.get(ranks.len() / 2) else { return };
        let (below, _, above) = keys.select_nth_unstable((rank - first) as usize);
        part(below, first, &ranks[..ranks.partition_point(|other| *other < rank)]);
        part(above, rank + 1, &ranks[ranks.partition_point(|other| *other <= rank)..]);
    }
    part(keys, 0, ranks);
    ranks.iter().map(|&rank| keys[rank as usize]).collect()
}

/// Returns the bucket of each rank and the rank within it; the last bucket for ranks beyond all keys.
pub(crate) fn locate<C: Copy + Into<u64>>(counts: &[C], ranks: &[u64]) -> Vec<(usize, u64)> {
    let (mut bucket, mut below) = (0, 0);
    let place = |&rank: &u64| {
        while let Some(count) = counts[..counts.len() - 1].get(bucket).map(|&count| count.into()) {
            if rank < below + count {
                break;
            }
            (bucket, below) = (bucket + 1, below + count);
        }
        (bucket, rank - below)
    };
    ranks.iter().map(place).collect()
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct KeyBuckets {
    pub least: u64,
    pub shift: u32,
}

impl KeyBuckets {
    pub(crate) fn between(least: u64, most: u64, bits: u32) -> Self {
        let range = u64::BITS - most.saturating_sub(least).leading_zeros();
        Self { least, shift: range.saturating_sub(bits) }
    }

    /// Keys outside may have any number.
    #[inline(always)]
    pub(crate) fn of(self, key: u64) -> usize {
        // Masking the shift avoids a check for overflow.
        (key.wrapping_sub(self.least) >> (self.shift % u64::BITS)) as usize
    }

    pub(crate) fn range(self, bucket: usize) -> (u64, u64) {
        let least = self.least.saturating_add((bucket as u64) << self.shift);
        (least, least.saturating_add((1 << self.shift) - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn random(count: usize) -> impl Iterator<Item = u64> {
        (1..=count as u64).map(|i| {
            let mixed = i.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9)
        })
    }

    fn rows(count: usize) -> Vec<(&'static str, Vec<u64>, bool)> {
        let of = |key: &dyn Fn(u64) -> u64| random(count).map(key).collect::<Vec<u64>>();
        let of_places = |key: &dyn Fn(usize) -> u64| (0..count).map(key).collect::<Vec<u64>>();
        vec![
            ("of all bits", of(&|r| r), true),
            ("the ends and others", of(&|r| [0, u64::MAX, r][(r >> 40) as usize % 3]), false),
            ("of 32 bits", of(&|r| r >> 32), true),
            ("of few bits", of(&|r| (1 << 40) + r % 100), true),
            ("equal", of(&|_| 77), true),
            ("the largest", of(&|_| u64::MAX), true),
            ("two", of(&|r| 5 + (r >> 40 & 1)), true),
            ("close together, and one far away", of_places(&|n| if n == 3 { u64::MAX } else { n as u64 % 50 }), false),
            ("mostly equal", of(&|r| if r % 10 < 9 { 1 << 63 } else { r }), false),
            ("ascending", of_places(&|n| n as u64 * 1000), true),
            ("descending", of_places(&|n| (count - n) as u64), true),
        ]
    }

    #[test]
    fn as_sorting_places_them() {
        for count in [1, 2, 7, 100, COUNTED - 1, COUNTED, COUNTED + 1, 3 * COUNTED, 20_000] {
            for (name, keys, _) in rows(count) {
                let mut sorted = keys.clone();
                sorted.sort_unstable();
                let mut ranks = [count / 2, 0, count - 1, count / 100, count / 2, count - 1 - count / 100];
                ranks.sort_unstable();
                let expected: Vec<u64> = ranks.iter().map(|&rank| sorted[rank]).collect();
                let ranks = ranks.map(|rank| rank as u64);
                assert_eq!(select(&mut keys.clone(), &ranks), expected, "{count} keys {name}");
                assert_eq!(parted(&mut keys.clone(), &ranks), expected, "{count} keys {name}, parted");
                assert_eq!(select(&mut keys.clone(), &[0, count as u64, u64::MAX]), [sorted[0]]);
                let (least, most) = (sorted[count / 100], sorted[count / 2]);
                let rank = count / 2 - sorted.partition_point(|key| *key < least);
                assert_eq!(select_within(&keys, (least, most), rank as u64), Some(most), "{count} keys {name}");
                assert_eq!(select_within(&keys, (least, most), count as u64), None, "{count} keys {name}");
            }
        }
        assert!(select(&mut [], &[0]).is_empty());
    }

    #[test]
    fn what_is_counted() {
        for (name, keys, is_counted) in rows(20_000) {
            assert_eq!(counted(&keys, &[100, 10_000, 19_999]).is_some(), is_counted, "{name}");
            assert_eq!(counted(&keys[..COUNTED - 1], &[100]), None, "{name}");
        }
    }

    #[test]
    fn buckets_have_all_keys_once() {
        for (least, most, bits) in [(0, u64::MAX, 6), (0, 255, 16), (1, 1, 3), (100, 1000, 4), (7, 1 << 40, 5)] {
            let buckets = KeyBuckets::between(least, most, bits);
            let (mut next, last) = (least, buckets.of(most));
            assert!(last < 1 << bits, "{least} to {most}");
            for bucket in 0..=last {
                let range = buckets.range(bucket);
                assert_eq!(range.0, next, "{least} to {most}: bucket {bucket}");
                assert_eq!([range.0, range.1].map(|key| buckets.of(key)), [bucket; 2], "{least} to {most}");
                next = range.1.wrapping_add(1);
            }
            assert!(next == 0 || next > most, "{least} to {most}");
        }
    }

    #[test]
    fn places_of_ranks() {
        let places = [(1, 0), (1, 2), (1, 2), (3, 0), (3, 1), (3, 2), (3, 97)];
        assert_eq!(locate(&[0_u32, 3, 0, 2], &[0, 2, 2, 3, 4, 5, 100]), places);
    }
}
