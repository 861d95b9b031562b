//! The first item in C order that has the largest of some values, whatever the order in which items are seen.

use std::cmp::Ordering;

use crate::layout::numbers::ItemNumbers;

/// Neighbours of which one is looked for at once.
const AT_ONCE: usize = 64;

/// The value of an item, and the number of the item in C order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Numbered<V> {
    pub value: V,
    pub item: usize,
}

impl<V> Numbered<V> {
    /// Returns whether the item comes before another: its key is larger, or as large and its number is lower.
    pub(crate) fn precedes<K: PartialOrd>(&self, other: &Self, key: impl Fn(&V) -> K) -> bool {
        let (own, other_key) = (key(&self.value), key(&other.value));
        own > other_key || own == other_key && self.item < other.item
    }

    /// Returns the value that items from number `start` on must exceed to come before this one. `below` returns the value
    /// that all that are as large exceed; `None` if there is none.
    pub(crate) fn exceeded(self, start: usize, below: impl Fn(V) -> Option<V>) -> Option<V> {
        if start < self.item { below(self.value) } else { Some(self.value) }
    }
}

/// Makes `first` another item if there is one, and it [precedes](Numbered::precedes) it.
pub(crate) fn keep_first<V, K: PartialOrd>(
    first: &mut Option<Numbered<V>>,
    other: Option<Numbered<V>>,
    key: impl Fn(&V) -> K,
) {
    let precedes = |other: &Numbered<V>| first.as_ref().is_none_or(|first| other.precedes(first, key));
    if let Some(other) = other.filter(precedes) {
        *first = Some(other);
    }
}

/// Makes `first` the item of a block if that comes before it. `ordering` compares the value of the first item so far with the
/// largest of the block: `Less` if that of the block is larger. `find` returns the first item of the block that has the
/// largest value and whose number is below its argument; `ascend` tells whether items come in the order of their numbers.
pub(crate) fn improve<V>(
    first: &mut Option<Numbered<V>>,
    ordering: impl FnOnce(&V) -> Ordering,
    ascend: bool,
    find: impl FnOnce(usize) -> Option<Numbered<V>>,
) {
    let found = match first.as_ref().map(|first| (ordering(&first.value), first.item)) {
        None | Some((Ordering::Less, _)) => find(usize::MAX),
        // if items come in the order of their numbers, the first stays the first
        Some((Ordering::Equal, number)) if !ascend => find(number),
        Some((Ordering::Equal | Ordering::Greater, _)) => None,
    };
    *first = found.or_else(|| first.take());
}

/// Returns the wanted item with the smallest number below `below` in a block that is seen from place `start` on.
pub(crate) fn find_first<V: Copy>(
    numbers: &ItemNumbers,
    start: usize,
    block: &[V],
    below: usize,
    wanted: impl Fn(V) -> bool,
) -> Option<Numbered<V>> {
    let (item, place) = numbers.least(start, block.len(), below, &|range| {
        let items = block.get(range.clone())?;
        // whether any of some neighbours is wanted is asked of all at once, by a loop that is vectorised since it does not end
        let has_any = |items: &[V]| items.iter().fold(false, |any, &item| any | wanted(item));
        let before = items.chunks(AT_ONCE).position(has_any)? * AT_ONCE;
        Some(range.start + before + items[before..].iter().position(|&item| wanted(item))?)
    })?;
    Some(Numbered { value: *block.get(place)?, item })
}
