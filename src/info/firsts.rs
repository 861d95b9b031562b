//! The first item in C order that has some property, whatever the order in which items are seen.

use std::cmp::Ordering;

use crate::layout::numbers::ItemNumbers;

/// Neighbours of which one is looked for at once.
const AT_ONCE: usize = 64;

/// An item and its number in C order, if there is one.
pub(super) type Numbered<T> = Option<(T, usize)>;

/// Makes `best` the item of a block if that is better. `ordering` compares the best item so far with the best of the block:
/// `Less` if that of the block is better. `find` returns the first best item of the block whose number is below its
/// argument; `ascend` tells whether items come in the order of their numbers.
pub(super) fn improve<T>(
    best: &mut Numbered<T>,
    ordering: impl FnOnce(&T) -> Ordering,
    ascend: bool,
    find: impl FnOnce(usize) -> Numbered<T>,
) {
    let found = match best.as_ref().map(|(item, number)| (ordering(item), *number)) {
        None | Some((Ordering::Less, _)) => find(usize::MAX),
        // if items come in the order of their numbers, the first stays the first
        Some((Ordering::Equal, number)) if !ascend => find(number),
        Some((Ordering::Equal | Ordering::Greater, _)) => None,
    };
    *best = found.or_else(|| best.take());
}

/// Returns the wanted item with the smallest number below `below` in a block that is seen from place `start` on.
pub(super) fn least<T: Copy>(
    numbers: &ItemNumbers,
    start: usize,
    block: &[T],
    below: usize,
    wanted: impl Fn(T) -> bool,
) -> Numbered<T> {
    let (number, place) = numbers.least(start, block.len(), below, &|range| {
        let items = block.get(range.clone())?;
        // whether any of some neighbours is wanted is asked of all at once, by a loop that is vectorised since it does not end
        let has_any = |items: &[T]| items.iter().fold(false, |any, &item| any | wanted(item));
        let before = items.chunks(AT_ONCE).position(has_any)? * AT_ONCE;
        Some(range.start + before + items[before..].iter().position(|&item| wanted(item))?)
    })?;
    Some((*block.get(place)?, number))
}

/// Returns the item that comes first by `rank`, then by number.
pub(super) fn first_of<T: Copy, K: Ord>(a: Numbered<T>, b: Numbered<T>, rank: impl Fn(T) -> K) -> Numbered<T> {
    a.into_iter().chain(b).min_by_key(|&(item, number)| (rank(item), number))
}
