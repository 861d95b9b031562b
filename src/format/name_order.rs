//! The order of names.

use std::cmp::Ordering;

/// Compares two names in natural order, as people do: digits that follow each other are one number. Of names that are equal
/// then, such as `a1` and `a01`, the one with fewer digits comes first.
pub fn by_numbers(a: &str, b: &str) -> Ordering {
    // The names of a model begin alike, and a million of them are sorted: words are made behind what is the same alone. The
    // bytes of UTF-8 are in the order of their letters.
    let same = a.bytes().zip(b.bytes()).take_while(|(x, y)| x == y).count();
    let digits = a.as_bytes()[..same].iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let (mut left, mut right) = (&a.as_bytes()[same - digits..], &b.as_bytes()[same - digits..]);
    loop {
        let (x, y) = (word(&mut left), word(&mut right));
        let is_number = |word: &[u8]| word.first().is_some_and(u8::is_ascii_digit);
        let order = if is_number(x) && is_number(y) {
            let zeros = |word: &[u8]| word.iter().take_while(|byte| **byte == b'0').count();
            let (x, y) = (&x[zeros(x)..], &y[zeros(y)..]);
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

/// Takes the first word off a text: digits, or one byte that is none.
fn word<'a>(text: &mut &'a [u8]) -> &'a [u8] {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (word, rest) = text.split_at(digits.max(1).min(text.len()));
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
            "\u{e8}10",
            "\u{e9}2",
            "\u{e9}10",
            "\u{ffff}",
            "\u{10000}",
        ];
        for (n, a) in sorted.iter().enumerate() {
            for (m, b) in sorted.iter().enumerate() {
                assert_eq!(by_numbers(a, b), n.cmp(&m), "{a:?} {b:?}");
            }
        }
    }
}
