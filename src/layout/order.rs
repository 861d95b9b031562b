//! Sorts items of any type with little code for each type.

use std::cmp::Ordering;

/// Sorts items as `sort_by` of slices does: stably, those that `compare` puts first in front.
///
/// The standard library's sort is some hundred functions for each type and each comparison, which takes longer to compile
/// than a few items ever take to be sorted. So that sort orders the numbers of the items here, whatever they are, and only
/// moving the items to their places is compiled for each type. Where millions of items are sorted, call the standard
/// library's sort instead.
pub fn sort_by<T>(items: &mut [T], compare: impl Fn(&T, &T) -> Ordering) {
    let mut order = sorted_numbers(items.len(), &|a, b| compare(&items[a], &items[b]));
    // Each item that is moved leaves a place for the next, until the places of a cycle are filled.
    for start in 0..order.len() {
        let mut place = start;
        while order[place] != start {
            let next = order[place];
            items.swap(place, next);
            order[place] = place;
            place = next;
        }
        order[place] = place;
    }
}

/// Returns the numbers below `len` in their order.
fn sorted_numbers(len: usize, compare: &dyn Fn(usize, usize) -> Ordering) -> Vec<usize> {
    let mut order: Vec<usize> = (0..len).collect();
    order.sort_by(|&a, &b| compare(a, b));
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_the_standard_library_sorts() {
        for len in [0, 1, 2, 3, 5, 24, 100, 1000] {
            for keys in [1, 2, 7, 1000] {
                let items: Vec<(usize, usize)> = (0..len).map(|n| ((n * n * 7919 + 31 * n) % 1009 % keys, n)).collect();
                let (mut found, mut expected) = (items.clone(), items);
                sort_by(&mut found, |a, b| b.0.cmp(&a.0));
                expected.sort_by_key(|item| std::cmp::Reverse(item.0));
                assert_eq!(found, expected, "{len} of {keys}");
            }
        }
    }
}
