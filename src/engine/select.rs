//! The keys of some ranks among keys in memory.

/// The least number of keys that are counted by [`Buckets`] first. Fewer are parted in less time than the counters are made
/// and looked through.
const COUNTED: usize = 512;

/// The most buckets. Their counters, 16 KiB, fit a core's nearest cache beside the keys that stream by.
const BUCKETS: usize = 1 << 12;

/// Counters that are added up at once where a rank is looked for.
const GROUP: usize = 16;

/// The keys of a list of [`KeyLists`]: 32 KiB.
const LIST: usize = 1 << 12;

/// Returns the keys of some lists one after the other; those of a single list stay where they are.
pub(super) fn joined(lists: impl Iterator<Item = Vec<u64>>) -> Vec<u64> {
    let join = |mut all: Vec<u64>, mut more: Vec<u64>| {
        all.append(&mut more);
        all
    };
    lists.reduce(join).unwrap_or_default()
}

/// Returns the keys of some ranks, which count from 0. A rank beyond the last key has none. May reorder the keys.
pub(super) fn select(keys: &mut [u64], ranks: impl Iterator<Item = u64>) -> Vec<u64> {
    let ranks: Vec<usize> =
        ranks.filter_map(|rank| usize::try_from(rank).ok().filter(|&rank| rank < keys.len())).collect();
    let mut wanted = ranks.clone();
    wanted.sort_unstable();
    wanted.dedup();
    let found = counted(keys, &wanted).unwrap_or_else(|| {
        place(keys, 0, &wanted);
        wanted.iter().map(|&rank| keys[rank]).collect()
    });
    ranks.iter().map(|rank| found[wanted.partition_point(|wanted| wanted < rank)]).collect()
}

/// Puts the keys of some ranks, ascending and counted from `first` on, where sorting would put them. With few ranks that takes
/// less time than sorting, since each step halves them and only parts the keys.
fn place(keys: &mut [u64], first: usize, ranks: &[usize]) {
    let Some(&rank) = ranks.get(ranks.len() / 2) else { return };
    let (below, _, above) = keys.select_nth_unstable(rank - first);
    let (lower, upper) = ranks.split_at(ranks.len() / 2);
    place(below, first, lower);
    place(above, rank + 1, &upper[1..]);
}

/// Returns the keys of some ranks, ascending and without duplicates: counts how many keys are in each of many buckets, and
/// parts only the keys of those few that have a wanted rank. The loops over all keys hardly branch, and together take a third
/// of the time of parting them. Returns `None` if the keys are few, or if that would spare too little, as where many are
/// equal and some far away.
fn counted(keys: &[u64], ranks: &[usize]) -> Option<Vec<u64>> {
    if keys.len() < COUNTED || u32::try_from(keys.len()).is_err() {
        return None;
    }
    let (least, most) = ends(keys);
    let buckets = Buckets::between(least, most, keys.len());
    let mut counts = [0_u32; BUCKETS];
    buckets.count(keys, &mut counts);
    // the bucket of each rank, and the rank among the keys of all buckets that have one; whether a bucket has, and the number
    // of these keys
    let mut places = Vec::with_capacity(ranks.len());
    let (mut is_kept, mut kept) = ([false; BUCKETS], 0);
    let (mut bucket, mut below) = (0, 0);
    for &rank in ranks {
        (bucket, below) = find(&counts, rank, (bucket, below));
        let count = counts[bucket] as usize;
        if !std::mem::replace(&mut is_kept[bucket], true) {
            kept += count;
        }
        places.push((bucket, kept - count + rank - below));
    }
    if buckets.shift == 0 {
        return Some(places.into_iter().map(|(bucket, _)| buckets.start(bucket)).collect());
    }
    if kept > keys.len() / 4 {
        return None;
    }
    // each key is written, and stays if it is to be kept; a branch would often be predicted wrongly
    let (mut few, mut end) = (vec![0; kept + 1], 0);
    for &key in keys {
        few[end] = key;
        end += usize::from(is_kept[buckets.number(key)]);
    }
    let inner: Vec<usize> = places.into_iter().map(|(_, rank)| rank).collect();
    place(&mut few[..kept], 0, &inner);
    Some(inner.into_iter().map(|rank| few[rank]).collect())
}

/// Returns the key of a rank, which counts from 0, among the keys of all lists; `None` if there are not so many. The lists are
/// many and large together, so they stay where they are: each pass over them tells more bits of the key, until few have these.
pub(super) fn nth(lists: &KeyLists, mut rank: usize) -> Option<u64> {
    let keys = lists.0.iter().map(Vec::len).sum();
    if rank >= keys || u32::try_from(keys).is_err() {
        return None;
    }
    let all = lists.0.iter().map(|list| ends(list));
    let (mut least, mut most) = all.fold((u64::MAX, 0), |(least, most), (low, high)| (least.min(low), most.max(high)));
    loop {
        let buckets = Buckets::between(least, most, keys);
        let mut counts = [0_u32; BUCKETS];
        lists.0.iter().for_each(|list| buckets.count_to(most, list, &mut counts));
        let (bucket, below) = find(&counts, rank, (0, 0));
        (least, rank) = (buckets.start(bucket), rank - below);
        if buckets.shift == 0 {
            return Some(least);
        }
        most = least + ((1 << buckets.shift) - 1).min(most - least);
        if counts[bucket] as usize <= LIST {
            let few = lists.0.iter().flatten().copied().filter(|key| (least..=most).contains(key));
            let mut few: Vec<u64> = few.collect();
            return Some(*few.select_nth_unstable(rank).1);
        }
    }
}

/// Keys that are gathered one by one, in lists of bounded length. A single list would be copied when it grows, and then be in
/// memory twice; so would it where the keys of several threads are joined.
#[derive(Clone, Debug, Default)]
pub(super) struct KeyLists(Vec<Vec<u64>>);

impl KeyLists {
    /// Adds a key.
    pub(super) fn push(&mut self, key: u64) {
        match self.0.last_mut().filter(|list| list.len() < LIST) {
            Some(list) => list.push(key),
            None => {
                let mut list = Vec::with_capacity(LIST);
                list.push(key);
                self.0.push(list);
            }
        }
    }

    /// Adds other keys, which are not copied.
    pub(super) fn append(&mut self, mut other: Self) {
        self.0.append(&mut other.0);
    }
}

/// Returns the least and the largest of some keys.
fn ends(keys: &[u64]) -> (u64, u64) {
    // in lanes that do not wait for one another
    let (mut least, mut most) = ([u64::MAX; 4], [0; 4]);
    let (fours, rest) = keys.as_chunks::<4>();
    for four in fours {
        for (lane, &key) in four.iter().enumerate() {
            (least[lane], most[lane]) = (least[lane].min(key), most[lane].max(key));
        }
    }
    let all = least.iter().chain(rest).fold(u64::MAX, |least, &key| least.min(key));
    (all, most.iter().chain(rest).fold(0, |most, &key| most.max(key)))
}

/// Returns the bucket that has the key of a rank, and how many keys are in the buckets before it. The search begins with a
/// bucket that is not behind it, and the number of the keys before that.
fn find(counts: &[u32; BUCKETS], rank: usize, (mut bucket, mut below): (usize, usize)) -> (usize, usize) {
    loop {
        let group = counts[bucket..].first_chunk::<GROUP>().filter(|_| bucket.is_multiple_of(GROUP));
        // there are fewer keys than overflow a counter; to check it would keep the loop from being vectorised
        let sum = group.map(|group| group.iter().fold(0_u32, |sum, &count| sum.wrapping_add(count)) as usize);
        let (step, sum) = match sum.filter(|sum| below + sum <= rank) {
            Some(sum) => (GROUP, sum),
            None => (1, counts[bucket] as usize),
        };
        if below + sum > rank {
            return (bucket, below);
        }
        (bucket, below) = (bucket + step, below + sum);
    }
}

/// Equal steps from the least key on.
#[derive(Clone, Copy)]
struct Buckets {
    least: u64,
    /// The bits of a place within a bucket.
    shift: u32,
}

impl Buckets {
    /// Divides the range of so many keys, into fewer buckets than there are keys.
    fn between(least: u64, most: u64, keys: usize) -> Self {
        let bits = keys.max(4).ilog2() - 1;
        let range = u64::BITS - (most - least).leading_zeros();
        Self { least, shift: range.saturating_sub(bits.min(BUCKETS.ilog2())) }
    }

    /// Returns the number of the bucket of a key.
    #[inline(always)]
    fn number(self, key: u64) -> usize {
        (key.wrapping_sub(self.least) >> (self.shift % u64::BITS)) as usize % BUCKETS
    }

    /// Returns the least key that a bucket may have.
    fn start(self, bucket: usize) -> u64 {
        self.least + ((bucket as u64) << self.shift)
    }

    /// Counts those keys that are in the range up to `most`.
    fn count_to(self, most: u64, keys: &[u64], counts: &mut [u32; BUCKETS]) {
        for &key in keys {
            let is_within = key.wrapping_sub(self.least) <= most - self.least;
            let count = &mut counts[self.number(key)];
            *count = count.wrapping_add(is_within.into());
        }
    }

    /// Counts keys of the range, fewer than overflow a counter.
    #[inline]
    fn count(self, keys: &[u64], counts: &mut [u32; BUCKETS]) {
        for &key in keys {
            let count = &mut counts[self.number(key)];
            *count = count.wrapping_add(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers that look random, the same each time.
    fn random(count: usize) -> impl Iterator<Item = u64> {
        (1..=count as u64).map(|i| {
            let mixed = i.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9)
        })
    }

    /// Keys of many shapes, and whether the few wanted ones among many are found by counting.
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
                let ranks = [count / 2, 0, count - 1, count / 100, count / 2, count - 1 - count / 100];
                let expected: Vec<u64> = ranks.iter().map(|&rank| sorted[rank]).collect();
                let found = select(&mut keys.clone(), ranks.iter().map(|&rank| rank as u64));
                assert_eq!(found, expected, "{count} keys {name}");
                // a rank beyond the last key has none
                assert_eq!(select(&mut keys.clone(), [count as u64, u64::MAX, 0].into_iter()), [sorted[0]]);
                let lists = KeyLists(keys.chunks(count.div_ceil(3)).map(<[u64]>::to_vec).collect());
                for (rank, expected) in ranks.into_iter().zip(expected) {
                    assert_eq!(nth(&lists, rank), Some(expected), "number {rank} of {count} keys {name}");
                }
                assert_eq!(nth(&lists, count), None);
            }
        }
        assert_eq!(nth(&KeyLists::default(), 0), None);
        assert!(select(&mut [], [0].into_iter()).is_empty());
    }

    #[test]
    fn what_is_counted() {
        for (name, keys, is_counted) in rows(20_000) {
            assert_eq!(counted(&keys, &[100, 10_000, 19_999]).is_some(), is_counted, "{name}");
            assert_eq!(counted(&keys[..COUNTED - 1], &[100]), None, "{name}");
        }
    }

    #[test]
    fn lists_do_not_grow() {
        let [mut one, mut other] = [KeyLists::default(), KeyLists::default()];
        (0..LIST as u64 + 1).for_each(|key| one.push(key));
        other.push(u64::MAX);
        one.append(other);
        assert_eq!(one.0.iter().map(Vec::len).collect::<Vec<_>>(), [LIST, 1, 1]);
        assert!(one.0.iter().all(|list| list.capacity() == LIST));
        assert_eq!([LIST, LIST + 1, LIST + 2].map(|rank| nth(&one, rank)), [Some(LIST as u64), Some(u64::MAX), None]);
    }
}
