//! The first item in C order with the largest value, in any order of visits.

use std::cmp::Ordering;

use crate::layout::numbers::ItemNumbers;

const AT_ONCE: usize = 64;

/// A value with the number of its item.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Numbered<V> {
    /// The value.
    pub value: V,
    /// The number of the item in C order.
    pub item: usize,
}

impl<V> Numbered<V> {
    /// A larger key comes first, then a lower number.
    pub fn precedes<K: PartialOrd>(&self, other: &Self, key: impl Fn(&V) -> K) -> bool {
        let (own, other_key) = (key(&self.value), key(&other.value));
        own > other_key || own == other_key && self.item < other.item
    }

    /// The value that items from `start` on must exceed. `below` returns the next lower value.
    pub fn exceeded(self, start: usize, below: impl Fn(V) -> Option<V>) -> Option<V> {
        if start < self.item { below(self.value) } else { Some(self.value) }
    }
}

/// Keeps the one that [precedes](Numbered::precedes).
pub fn keep_first<V, K: PartialOrd>(
    first: &mut Option<Numbered<V>>,
    other: Option<Numbered<V>>,
    key: impl Fn(&V) -> K,
) {
    let precedes = |other: &Numbered<V>| first.as_ref().is_none_or(|first| other.precedes(first, key));
    if let Some(other) = other.filter(precedes) {
        *first = Some(other);
    }
}

/// `ordering` compares `first` with the largest value of the block. `find` returns the first item with this value and a
/// number below its argument. `ascend` says whether items are visited in order.
pub fn improve<V>(
    first: &mut Option<Numbered<V>>,
    ordering: impl FnOnce(&V) -> Ordering,
    ascend: bool,
    find: impl FnOnce(usize) -> Option<Numbered<V>>,
) {
    let found = match first.as_ref().map(|first| (ordering(&first.value), first.item)) {
        None | Some((Ordering::Less, _)) => find(usize::MAX),
        // in order, an equal item comes later
        Some((Ordering::Equal, number)) if !ascend => find(number),
        Some((Ordering::Equal | Ordering::Greater, _)) => None,
    };
    *first = found.or_else(|| first.take());
}

/// Returns the wanted item with the smallest number below `below`; the block begins at place `start`.
pub fn find_first<V: Copy>(
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
