//! C-order item numbers during a visit in another order.

use std::ops::Range;

use super::axis::coordinates;

/// Computes C-order item numbers while items are visited in another order. A tensor in Fortran order reads several
/// times faster in storage order, but users expect the first of equal items in C order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemNumbers {
    first: usize,
    /// Dim and number step of each axis, innermost last.
    axes: Vec<(usize, usize)>,
}

impl ItemNumbers {
    /// `axes` has dim (not 0) and number step, outermost first.
    pub fn new(first: usize, axes: impl Iterator<Item = (usize, usize)>) -> Self {
        let mut merged: Vec<(usize, usize)> = Vec::new();
        for (dim, step) in axes.filter(|(dim, _)| *dim != 1) {
            match merged.last_mut() {
                Some(outer) if outer.1 == step * dim => *outer = (outer.0 * dim, step),
                _ => merged.push((dim, step)),
            }
        }
        Self { first, axes: merged }
    }

    /// Whether each item has a larger number than those before it.
    pub fn ascend(&self) -> bool {
        self.axes.windows(2).all(|pair| pair[0].1 >= pair[1].0 * pair[1].1)
    }

    /// Splits the items visited as `start..start + len` into runs along the last axis: a range of `0..len`, and the
    /// number of its first item. Numbers within a run are [`step`](Self::step) apart.
    pub fn runs(&self, start: usize, len: usize) -> impl Iterator<Item = (Range<usize>, usize)> {
        let (dim, step) = self.last();
        let outer = self.axes.split_last().map_or(&[][..], |(_, outer)| outer);
        let mut at = coordinates(start / dim, &outer.iter().map(|axis| axis.0).collect::<Vec<_>>());
        let mut number = self.first + at.iter().zip(outer).map(|(place, (_, step))| place * step).sum::<usize>();
        let (mut inside, mut from) = (start % dim, 0);
        std::iter::from_fn(move || {
            let run = from..len.min(from + dim - inside);
            let first = number + inside * step;
            (from, inside) = (run.end, 0);
            for (place, &(dim, step)) in at.iter_mut().zip(outer).rev() {
                *place += 1;
                number += step;
                if *place < dim {
                    break;
                }
                number -= dim * step;
                *place = 0;
            }
            (!run.is_empty()).then_some((run, first))
        })
    }

    /// The distance of numbers in a run.
    pub fn step(&self) -> usize {
        self.last().1
    }

    fn last(&self) -> (usize, usize) {
        self.axes.last().copied().unwrap_or((1, 1))
    }

    /// Returns the smallest number below `below` among the items visited as `start..start + len` that `find` selects,
    /// and its position. `find` returns the first match in a range of `0..len` with ascending numbers.
    pub fn least(
        &self,
        start: usize,
        len: usize,
        below: usize,
        find: &dyn Fn(Range<usize>) -> Option<usize>,
    ) -> Option<(usize, usize)> {
        let mut least: Option<(usize, usize)> = None;
        for (run, first) in self.runs(start, len) {
            let below = least.map_or(below, |(number, _)| number);
            let from = run.start;
            if first < below
                && let Some(place) = find(run)
            {
                let found = first + (place - from) * self.step();
                least = Some((found, place)).filter(|_| found < below).or(least);
            }
        }
        least
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(first: usize, axes: &[(usize, usize)]) -> Vec<usize> {
        axes.iter().fold(vec![first], |all, &(dim, step)| {
            all.iter().flat_map(|number| (0..dim).map(move |place| number + place * step)).collect()
        })
    }

    #[test]
    fn the_least_of_any_range() {
        type Row<'a> = (usize, &'a [(usize, usize)], bool);
        let rows: [Row<'_>; 9] = [
            (0, &[], true),
            (7, &[(1, 1)], true),
            (0, &[(2, 12), (3, 4), (4, 1)], true),
            (0, &[(4, 1), (3, 4), (2, 12)], false),
            (0, &[(4, 1), (1, 4), (3, 4)], false),
            (5, &[(2, 12), (4, 1)], true),
            (5, &[(4, 1), (2, 12)], false),
            (1, &[(6, 4)], true),
            (0, &[(3, 2), (2, 1), (2, 6)], false),
        ];
        for (first, axes, ascend) in rows {
            let (numbers, all) = (ItemNumbers::new(first, axes.iter().copied()), all(first, axes));
            assert_eq!(numbers.ascend(), ascend, "{axes:?}");
            for start in 0..all.len() {
                for end in start..=all.len() {
                    for (below, every) in [(usize::MAX, 1), (9, 1), (usize::MAX, 3), (14, 2)] {
                        let seen = &all[start..end];
                        let wanted = seen.iter().enumerate().filter(|&(_, n)| n % every == 0 && *n < below);
                        let wanted = wanted.map(|(place, &number)| (number, place)).min();
                        let find = |range: Range<usize>| {
                            let at = seen[range.clone()].iter().position(|n| n % every == 0)?;
                            Some(range.start + at)
                        };
                        let found = numbers.least(start, end - start, below, &find);
                        assert_eq!(found, wanted, "{axes:?} {start}..{end} {below} {every}");
                    }
                }
            }
        }
    }
}
