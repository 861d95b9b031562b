//! Where something first occurs in C order, whatever the order in which items are seen.

use std::cmp::Ordering;

use crate::layout::numbers::ItemNumbers;

/// An item and its number in C order.
pub(super) type Numbered<T> = Option<(T, usize)>;

/// Makes `best` the best item seen, if the one that `find` finds among those numbered below its argument is better:
/// `Less` where the best item of a block is better than the best so far, `Equal` where it is as good.
pub(super) fn improve<T>(
    best: &mut Numbered<T>,
    ordering: impl FnOnce(&T) -> Ordering,
    ascend: bool,
    find: impl FnOnce(usize) -> Numbered<T>,
) {
    let found = match best.as_ref().map(|(item, number)| (ordering(item), *number)) {
        None | Some((Ordering::Less, _)) => find(usize::MAX),
        // where items come in the order of their numbers, the first stays the first
        Some((Ordering::Equal, number)) if !ascend => find(number),
        Some((Ordering::Equal | Ordering::Greater, _)) => None,
    };
    *best = found.or_else(|| best.take());
}

/// The item of a block, seen from place `start` on, that has the smallest number of those that are wanted.
pub(super) fn least<T: Copy>(
    numbers: &ItemNumbers,
    start: usize,
    block: &[T],
    below: usize,
    wanted: impl Fn(T) -> bool,
) -> Numbered<T> {
    let (number, place) = numbers.least(start, block.len(), below, |range| {
        Some(range.start + block.get(range)?.iter().position(|&item| wanted(item))?)
    })?;
    Some((*block.get(place)?, number))
}

/// The one of two items that comes first: by `rank`, then by its number.
pub(super) fn first_of<T: Copy, K: Ord>(a: Numbered<T>, b: Numbered<T>, rank: impl Fn(T) -> K) -> Numbered<T> {
    a.into_iter().chain(b).min_by_key(|&(item, number)| (rank(item), number))
}
