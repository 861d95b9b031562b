//! A resolved scatter: which runs of updates go where, for any window.

use std::ops::Range;

use super::entries::Entries;
use crate::layout::window::Window;
use crate::ops::reduction::Combine;

/// A resolved ScatterUpdate or ScatterND, or what it does at some of the places of an indexed axis.
#[derive(Clone, Debug)]
pub struct Scatter {
    pub(super) outer: usize,
    pub(super) dim: usize,
    /// Items.
    pub(super) block: usize,
    pub(super) count: usize,
    pub(super) entries: Entries,
}

/// A run of items that a window takes from `updates`; all three numbers are in items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// Where it goes in the window.
    pub to: usize,
    /// Where it begins in `updates`, which are in the order `[outer, count, block]`.
    pub from: usize,
    /// How long it is.
    pub len: usize,
}

impl Scatter {
    /// The part of `updates` in which all runs of a window lie: its first item and the number of its items.
    pub fn slab(&self, window: &Window) -> (usize, usize) {
        let place = self.dim * self.block;
        let (start, end) = (window.start, window.start + window.items());
        let outers = start / place..end.div_ceil(place);
        let items = self.count.saturating_mul(self.block);
        (outers.start.saturating_mul(items), outers.len().saturating_mul(items))
    }

    /// Calls `each(first, last)` with the numbers of the first and last item of every block that changes.
    pub fn places(&self, mut each: impl FnMut(usize, usize)) {
        if self.block == 0 || self.dim == 0 {
            return;
        }
        for outer in 0..self.outer {
            let base = outer * self.dim * self.block;
            self.entries.places(0, self.dim, |target| {
                let first = base + target * self.block;
                each(first, first + self.block - 1);
            });
        }
    }

    /// Whether anything changes in a window.
    pub fn touches(&self, window: &Window) -> bool {
        let place = self.dim * self.block;
        let (start, end) = (window.start, window.start + window.items());
        start < end
            && (start / place..end.div_ceil(place)).any(|outer| {
                let base = outer * place;
                let (lo, hi) = (start.max(base) - base, end.min(base + place) - base);
                self.entries.any(lo / self.block, hi.div_ceil(self.block))
            })
    }

    /// From the first item of a window that changes to behind the last, counted from its own beginning.
    pub fn extent(&self, window: &Window) -> Range<usize> {
        let place = self.dim * self.block;
        let (start, end) = (window.start, window.start + window.items());
        let (mut first, mut last) = (end, start);
        if start < end {
            for outer in start / place..end.div_ceil(place) {
                let base = outer * place;
                let (lo, hi) = (start.max(base) - base, end.min(base + place) - base);
                self.entries.places(lo / self.block, hi.div_ceil(self.block), |target| {
                    let at = base + target * self.block;
                    (first, last) = (first.min(at.max(start)), last.max((at + self.block).min(end)));
                });
            }
        }
        first.min(last) - start..last - start
    }

    /// Calls `each` for every run that `window` takes from `updates`, in the order in which they apply. Of updates that
    /// are here there are none.
    pub fn runs(&self, window: &Window, mut each: impl FnMut(Run)) {
        let place = self.dim * self.block;
        let (start, end) = (window.start, window.start + window.items());
        if start == end {
            return;
        }
        let outers = start / place..end.div_ceil(place);
        let mut run = |outer: usize, target: usize, position: usize| {
            let base = outer * place;
            let (lo, hi) = (start.max(base) - base, end.min(base + place) - base);
            let at = target * self.block;
            let (a, b) = (at.max(lo), (at + self.block).min(hi));
            if a < b {
                let from = (outer * self.count + position) * self.block + a - at;
                each(Run { to: base + a - start, from, len: b - a });
            }
        };
        if outers.len() > 2 {
            // Of many short outer places each has all entries: to look them up for each took longer than all the rest.
            let mut all = Vec::new();
            self.entries.positions(0, self.dim, |target, position| all.push((target, position)));
            outers.for_each(|outer| all.iter().for_each(|&(target, position)| run(outer, target, position)));
            return;
        }
        for outer in outers {
            let base = outer * place;
            let (lo, hi) = (start.max(base) - base, end.min(base + place) - base);
            self.entries
                .positions(lo / self.block, hi.div_ceil(self.block), |target, position| run(outer, target, position));
        }
    }

    /// Whether the updates themselves are here: they are [applied](Self::apply), and there are no runs.
    pub fn carries_updates(&self) -> bool {
        matches!(self.entries, Entries::Values(_))
    }

    /// Applies the updates that are here to the items of a window, which are `itemsize` bytes each. One that begins or
    /// ends inside of a block, as chunks may, is a part of the blocks that it lies in, which are small.
    pub fn apply(&self, window: &Window, itemsize: usize, out: &mut [u8], combine: Option<Combine>) {
        let (start, end) = (window.start, window.start + window.items());
        let (lo, hi) = (start / self.block, end.div_ceil(self.block));
        if (start, end) == (lo * self.block, hi * self.block) {
            return self.entries.apply(lo, hi, out, combine);
        }
        let mut whole = vec![0; (hi - lo) * self.block * itemsize];
        let inside = (start - lo * self.block) * itemsize..(end - lo * self.block) * itemsize;
        whole[inside.clone()].copy_from_slice(out);
        self.entries.apply(lo, hi, &mut whole, combine);
        out.copy_from_slice(&whole[inside]);
    }
}
