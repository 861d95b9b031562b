//! What one sweep does to any window: which runs of updates go where.

use std::ops::Range;

use super::entries::SweepEntries;
use super::places::PlacesInMemory;
use super::resolve::{Index, TupleResolver};
use crate::error::Result;
use crate::layout::window::Window;
use crate::ops::reduction::Combine;

/// A scatter by indices with all its numbers in range, or what it does at the places of one sweep.
#[derive(Clone, Debug)]
pub struct Scatter {
    pub(super) outer: usize,
    pub(super) dim: usize,
    /// The items of a block.
    pub(super) block: usize,
    pub(super) count: usize,
    pub(super) entries: SweepEntries,
}

/// Neighbouring items that a window takes from `updates`; all three numbers are in items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UpdateRun {
    /// Where they go in the window.
    pub to: usize,
    /// Where they begin in `updates`, which are in the order `[outer, count, block]`.
    pub from: usize,
    /// How many they are.
    pub len: usize,
}

/// What of one outer place a window covers.
struct OuterPart {
    outer: usize,
    /// The number of the first item of the outer place.
    base: usize,
    /// The items of the outer place that the window covers, counted from `base`.
    items: Range<usize>,
    /// The places in which these lie.
    places: Range<usize>,
}

impl Scatter {
    /// Returns the outer places that a window, which is contiguous, has items of.
    fn outers(&self, window: &Window) -> impl ExactSizeIterator<Item = OuterPart> {
        let (block, place) = (self.block, self.dim * self.block);
        let (start, end) = (window.start, window.start + window.items());
        let outers = if start == end { 0..0 } else { start / place..end.div_ceil(place) };
        outers.map(move |outer| {
            let base = outer * place;
            let (lo, hi) = (start.max(base) - base, end.min(base + place) - base);
            OuterPart { outer, base, items: lo..hi, places: lo / block..hi.div_ceil(block) }
        })
    }

    /// Returns the part of `updates` in which all runs of a window lie: its first item and the number of its items.
    pub fn slab(&self, window: &Window) -> (usize, usize) {
        let place = self.dim * self.block;
        let (start, end) = (window.start, window.start + window.items());
        let outers = start / place..end.div_ceil(place);
        let items = self.count.saturating_mul(self.block);
        (outers.start.saturating_mul(items), outers.len().saturating_mul(items))
    }

    /// Calls `each(first, last)` with the numbers of the first and last item of every block that changes.
    pub fn blocks(&self, each: &mut dyn FnMut(usize, usize)) {
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

    /// Returns whether anything changes in a window.
    pub fn touches(&self, window: &Window) -> bool {
        self.outers(window).any(|part| self.entries.any(part.places.start, part.places.end))
    }

    /// Returns the range from the first item of a window that changes to behind the last, counted from the window's own
    /// beginning.
    pub fn extent(&self, window: &Window) -> Range<usize> {
        let (start, end) = (window.start, window.start + window.items());
        let (mut first, mut last) = (end, start);
        for OuterPart { base, places, .. } in self.outers(window) {
            self.entries.places(places.start, places.end, |target| {
                let at = base + target * self.block;
                (first, last) = (first.min(at.max(start)), last.max((at + self.block).min(end)));
            });
        }
        first.min(last) - start..last - start
    }

    /// Calls `each` for every run that `window` takes from `updates`, in the order in which they apply. The updates are
    /// not [carried along](Self::carries_updates).
    pub fn runs(&self, window: &Window, mut each: impl FnMut(UpdateRun)) {
        let (positions, outers) = (self.entries.positions(), self.outers(window));
        let mut run = |part: &OuterPart, target: usize, position: usize| {
            let at = target * self.block;
            let (a, b) = (at.max(part.items.start), (at + self.block).min(part.items.end));
            if a < b {
                let from = (part.outer * self.count + position) * self.block + a - at;
                each(UpdateRun { to: part.base + a - window.start, from, len: b - a });
            }
        };
        if outers.len() > 2 {
            // Each of many short outer places has all entries: to look them up for each took longer than all the rest.
            let mut all = Vec::new();
            positions.each(0, self.dim, |target, position| all.push((target, position)));
            outers.for_each(|part| all.iter().for_each(|&(target, position)| run(&part, target, position)));
            return;
        }
        for part in outers {
            positions.each(part.places.start, part.places.end, |target, position| run(&part, target, position));
        }
    }

    /// Returns whether the entries carry their updates, which are [applied](Self::apply) then, and have no runs.
    pub fn carries_updates(&self) -> bool {
        matches!(self.entries, SweepEntries::Values(_))
    }

    /// Applies the updates that the entries carry to the items of a window, which have `itemsize` bytes each. A window that
    /// begins or ends inside a block, as chunks may, is a part of the blocks that it lies in, which are small.
    ///
    /// # Panics
    /// If the entries do not carry their updates.
    pub fn apply(&self, window: &Window, itemsize: usize, out: &mut [u8], combine: Option<Combine>) {
        let SweepEntries::Values(values) = &self.entries else { panic!("the entries do not carry their updates") };
        let (start, end) = (window.start, window.start + window.items());
        let (lo, hi) = (start / self.block, end.div_ceil(self.block));
        if (start, end) == (lo * self.block, hi * self.block) {
            return values.apply(lo, hi, out, combine);
        }
        let mut whole = vec![0; (hi - lo) * self.block * itemsize];
        let inside = (start - lo * self.block) * itemsize..(end - lo * self.block) * itemsize;
        whole[inside.clone()].copy_from_slice(out);
        values.apply(lo, hi, &mut whole, combine);
        out.copy_from_slice(&whole[inside]);
    }
}

impl TupleResolver {
    /// Scatters arrays in C order: applies `updates` to `out` in the order of the tuples.
    ///
    /// # Errors
    /// The first number that is out of range; nothing has been applied then.
    pub(crate) fn scatter<T: Copy>(
        &self,
        numbers: &[impl Index],
        out: &mut [T],
        updates: &[T],
        combine: impl Fn(&mut [T], &[T]),
    ) -> Result<()> {
        let places = PlacesInMemory::of_numbers(self, numbers)?;
        let (outers, block, count) = (self.arrangement.outer, self.arrangement.block, self.count());
        for outer in 0..outers {
            for tuple in 0..count {
                let old = (outer * self.places() + places.get(tuple)) * block;
                combine(&mut out[old..][..block], &updates[(outer * count + tuple) * block..][..block]);
            }
        }
        Ok(())
    }
}
