//! The keys of some ranks among a few keys in memory.

/// Returns the keys of some lists one after the other; those of a single list stay where they are.
pub(super) fn joined(lists: impl Iterator<Item = Vec<u64>>) -> Vec<u64> {
    let join = |mut all: Vec<u64>, mut more: Vec<u64>| {
        all.append(&mut more);
        all
    };
    lists.reduce(join).unwrap_or_default()
}

/// Returns the keys of some ranks, which count from 0. A rank beyond the last key has none. Reorders the keys.
pub(super) fn select(keys: &mut [u64], ranks: impl Iterator<Item = u64>) -> Vec<u64> {
    let ranks: Vec<usize> =
        ranks.filter_map(|rank| usize::try_from(rank).ok().filter(|&rank| rank < keys.len())).collect();
    let mut wanted = ranks.clone();
    wanted.sort_unstable();
    wanted.dedup();
    place(keys, 0, &wanted);
    ranks.into_iter().map(|rank| keys[rank]).collect()
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
