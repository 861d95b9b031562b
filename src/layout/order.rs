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

/// Compares two names as people order them: digits that follow each other are one number. Of names that are equal then,
/// such as `a1` and `a01`, the one with fewer digits comes first.
pub fn by_numbers(a: &str, b: &str) -> Ordering {
    let (mut left, mut right) = (a, b);
    loop {
        let (x, y) = (word(&mut left), word(&mut right));
        let is_number = |word: &str| word.starts_with(|c: char| c.is_ascii_digit());
        let order = if is_number(x) && is_number(y) {
            let (x, y) = (x.trim_start_matches('0'), y.trim_start_matches('0'));
            x.len().cmp(&y.len()).then_with(|| x.cmp(y))
        } else {
            x.cmp(y)
        };
        match order {
            Ordering::Equal if x.is_empty() => return a.len().cmp(&b.len()).then_with(|| a.cmp(b)),
            Ordering::Equal => {}
            order => return order,
        }
    }
}

/// Takes the first word off a text: digits, or one letter that is none.
fn word<'a>(text: &mut &'a str) -> &'a str {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let end = if digits > 0 { digits } else { text.chars().next().map_or(0, char::len_utf8) };
    let (word, rest) = text.split_at(end);
    *text = rest;
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_names() {
        let sorted = [
            "",
            "a",
            "a.b",
            "a0",
            "a00",
            "a1",
            "a01",
            "a1b",
            "a2",
            "a2.9",
            "a2.10",
            "a10",
            "a010",
            "a99999999999999999999",
            "a100000000000000000000",
            "b",
            "b.2.c",
            "b.10.a",
            "\u{e9}2",
            "\u{e9}10",
        ];
        for (n, a) in sorted.iter().enumerate() {
            for (m, b) in sorted.iter().enumerate() {
                assert_eq!(by_numbers(a, b), n.cmp(&m), "{a:?} {b:?}");
            }
        }
    }

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
