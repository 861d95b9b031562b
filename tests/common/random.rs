//! Random numbers that are the same in every run, and arguments made of them.

use std::ops::Range;

use super::listed;

/// SplitMix64.
pub(crate) struct Random(pub u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn within(&mut self, range: Range<i64>) -> i64 {
        range.start + (self.next() % (range.end - range.start) as u64) as i64
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    pub(crate) fn chance(&mut self, percent: u64) -> bool {
        self.next() % 100 < percent
    }

    pub(crate) fn of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }

    pub(crate) fn bytes(&mut self, n: usize) -> Vec<u8> {
        (0..n).map(|_| self.next() as u8).collect()
    }

    pub(crate) fn shape(&mut self, rank: usize) -> Vec<usize> {
        (0..rank).map(|_| if self.chance(5) { 0 } else { 1 + self.below(if rank > 3 { 3 } else { 5 }) }).collect()
    }

    /// A list of so many numbers for an option.
    pub(crate) fn numbers(&mut self, count: usize, range: Range<i64>) -> String {
        listed(&(0..count).map(|_| self.within(range.clone())).collect::<Vec<_>>())
    }

    /// A slice of each axis.
    pub(crate) fn slices(&mut self, shape: &[usize]) -> String {
        let mut slice = |_| {
            let step = *self.of(&[1, 1, 2, 3, -1, -2]);
            format!("{}:{}:{step}", self.within(-10..10), self.within(-10..10))
        };
        shape.iter().map(|dim| slice(*dim)).collect::<Vec<_>>().join(",")
    }

    /// Three index tuples of single items, if there are items.
    pub(crate) fn tuples(&mut self, shape: &[usize]) -> Option<String> {
        let tuple = |random: &mut Self| {
            format!(
                "[{}]",
                shape
                    .iter()
                    .map(|&dim| random.within(-(dim as i64)..dim as i64).to_string())
                    .collect::<Vec<_>>()
                    .join(",")
            )
        };
        let has_items = !shape.contains(&0);
        has_items.then(|| format!("[{},{},{}]", tuple(self), tuple(self), tuple(self)))
    }

    /// An axis, and three of its places, if it has any.
    pub(crate) fn places(&mut self, shape: &[usize]) -> Option<(usize, Vec<i64>)> {
        let axis = self.below(shape.len());
        let dim = shape[axis] as i64;
        (dim > 0).then(|| (axis, (0..3).map(|_| self.within(-dim..dim)).collect()))
    }

    /// An axis, and INDICES of one item along it, if there are items.
    pub(crate) fn nested(&mut self, shape: &[usize]) -> Option<(usize, String)> {
        let (axis, places) = self.places(shape).filter(|_| !shape.contains(&0))?;
        Some((axis, shape.iter().fold(places[0].to_string(), |text, _| format!("[{text}]"))))
    }
}
