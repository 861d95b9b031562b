//! The first item in C order with the largest value, independent of the order in which items are visited.

use std::cmp::Ordering;

use crate::layout::numbers::ItemNumbers;

/// Items tested by one vectorised loop.
const AT_ONCE: usize = 64;

/// A value and the number of its item in C order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Numbered<V> {
    pub value: V,
    pub item: usize,
}

impl<V> Numbered<V> {
    /// A larger key comes first, then a lower number.
    pub(crate) fn precedes<K: PartialOrd>(&self, other: &Self, key: impl Fn(&V) -> K) -> bool {
        let (own, other_key) = (key(&self.value), key(&other.value));
        own > other_key || own == other_key && self.item < other.item
    }

    /// Returns the value that items from number `start` on must exceed to come before this item. `below` returns the
    /// next lower value, or `None` if there is none lower.
    pub(crate) fn exceeded(self, start: usize, below: impl Fn(V) -> Option<V>) -> Option<V> {
        if start < self.item { below(self.value) } else { Some(self.value) }
    }
}

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

/// Replaces `first` by the first item of a block if that comes before it. `ordering` compares the value of `first` with
/// the largest of the block. `find` returns the first item with the largest value and a number below its argument.
/// `ascend` says whether items are visited in the order of their numbers.
pub(crate) fn improve<V>(
    first: &mut Option<Numbered<V>>,
    ordering: impl FnOnce(&V) -> Ordering,
    ascend: bool,
    find: impl FnOnce(usize) -> Option<Numbered<V>>,
) {
    let found = match first.as_ref().map(|first| (ordering(&first.value), first.item)) {
        None | Some((Ordering::Less, _)) => find(usize::MAX),
        // visited in order, an equal item never comes before `first`
        Some((Ordering::Equal, number)) if !ascend => find(number),
        Some((Ordering::Equal | Ordering::Greater, _)) => None,
    };
    *first = found.or_else(|| first.take());
}

/// Returns the wanted item with the smallest number below `below` in a block that begins at place `start`.
pub(crate) fn find_first<V: Copy>(
    numbers: &ItemNumbers,
    start: usize,
    block: &[V],
    below: usize,
    wanted: impl Fn(V) -> bool,
) -> Option<Numbered<V>> {
    let (item, place) = numbers.least(start, block.len(), below, &|range| {
        let items = block.get(range.clone())?;
        // a loop without an early exit is vectorised
        let has_any = |items: &[V]| items.iter().fold(false, |any, &item| any | wanted(item));
        let before = items.chunks(AT_ONCE).position(has_any)? * AT_ONCE;
        Some(range.start + before + items[before..].iter().position(|&item| wanted(item))?)
    })?;
    Some(Numbered { value: *block.get(place)?, item })
}
