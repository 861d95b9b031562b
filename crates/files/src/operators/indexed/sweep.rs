//! The effect of one sweep on any window.

use std::ops::Range;

use super::buckets::{BlockRuns, BucketGrid, Buckets, TakeEntries};
use super::runs::{ItemRun, Put};
use tensorop_kernels::layout::copy::with_word;
use tensorop_kernels::layout::window::Window;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Payload {
    /// Tuples without numbers: updates `from..to` are for place 0.
    OnlyPlace { from: usize, to: usize },
    /// A small update, which is a [word](with_word).
    Value { bytes: usize },
    /// The position of the update, in 8 bytes if `wide`, else in 4.
    Position { wide: bool },
}

impl Payload {
    pub(super) fn bytes(self) -> usize {
        match self {
            Self::OnlyPlace { .. } => 0,
            Self::Value { bytes } => bytes,
            Self::Position { wide } => 4 << usize::from(wide),
        }
    }
}

/// A scatter with numbers in range, or its part in one sweep.
#[derive(Debug)]
pub struct Scatter {
    pub(super) outer: usize,
    pub(super) dim: usize,
    pub(super) block: usize,
    pub(super) count: usize,
    pub(super) payload: Payload,
    /// Empty for [`Payload::OnlyPlace`].
    pub(super) entries: ScatterEntries,
}

#[derive(Debug)]
pub(super) enum ScatterEntries {
    /// In the order of application.
    Grouped(Vec<Buckets>),
    /// The last update of each place; windows are filled without the others.
    Last(BlockRuns),
}

struct OuterPart {
    outer: usize,
    base: usize,
    /// Counted from `base`.
    items: Range<usize>,
    places: Range<usize>,
}

impl Scatter {
    pub(super) fn last(&self) -> Option<&BlockRuns> {
        match &self.entries {
            ScatterEntries::Grouped(_) => None,
            ScatterEntries::Last(runs) => Some(runs),
        }
    }

    /// Places are `first + at`, and some may be outside `lo..hi`.
    fn near(&self, lo: usize, hi: usize, each: &mut TakeEntries<'_>) {
        if let Payload::OnlyPlace { from, to } = self.payload {
            (from..to).for_each(|position| each(0, &[0], &(position as u64).to_le_bytes()));
        }
        let ScatterEntries::Grouped(parts) = &self.entries else {
            unreachable!("runs of blocks are not looked through one by one")
        };
        parts.iter().for_each(|part| part.near(lo, hi, each));
    }

    fn places(&self, lo: usize, hi: usize, mut each: impl FnMut(Range<usize>)) {
        if let Some(last) = self.last() {
            let within = last.within(lo, hi).iter();
            return within.for_each(|run| each(lo.max(run.to as usize)..hi.min(run.end())));
        }
        self.near(lo, hi, &mut |first, at, _| {
            for &at in at {
                let place = first + at as usize;
                if (lo..hi).contains(&place) {
                    each(place..place + 1);
                }
            }
        });
    }

    fn positions(&self, lo: usize, hi: usize, mut each: impl FnMut(usize, usize)) {
        assert!(!self.carries_updates(), "the entries carry their updates and have no positions");
        let is_short = self.payload == Payload::Position { wide: false };
        self.near(lo, hi, &mut |first, at, positions| {
            let position = |n: usize| match is_short {
                true => u32::from_le_bytes(positions.as_chunks().0[n]) as usize,
                false => u64::from_le_bytes(positions.as_chunks().0[n]) as usize,
            };
            for (n, &at) in at.iter().enumerate() {
                let place = first + at as usize;
                if (lo..hi).contains(&place) {
                    each(place, position(n));
                }
            }
        });
    }

    pub(super) fn earliest_repeat(&self, grid: BucketGrid) -> Option<(usize, usize)> {
        if let Payload::OnlyPlace { from, to } = self.payload {
            return (to - from > 1).then_some((from + 1, from));
        }
        let mut all = Vec::new();
        let repeats = (0..grid.count).filter_map(|bucket| {
            let places = grid.places(bucket);
            all.clear();
            self.positions(places.start, places.end, |place, position| all.push((place, position)));
            // The second occurrence of a place is its earliest repeat.
            all.sort_unstable();
            let runs = all.chunk_by(|a, b| a.0 == b.0).filter(|run| run.len() > 1);
            runs.map(|run| (run[1].1, run[0].1)).min()
        });
        repeats.min()
    }

    fn apply_to_places(&self, lo: usize, hi: usize, out: &mut [u8], put: &mut Put<'_>) {
        let bytes = self.payload.bytes();
        self.near(lo, hi, &mut |first, at, updates| {
            // Places outside `out` wrap to offsets beyond its end.
            let offset = first.wrapping_sub(lo);
            match &mut *put {
                Put::Combine(combine) => (combine.points)(out, offset, at, updates),
                Put::Replace => with_word!(bytes, N => replace::<N>(out, offset, at, updates), _ => {
                    unreachable!("an update that is carried along is a word")
                }),
                Put::Fold(tally) => {
                    for (&at, update) in at.iter().zip(updates.chunks_exact(bytes)) {
                        let place = offset.wrapping_add(at as usize);
                        if place < tally.places() {
                            tally.put(place, update, out);
                        }
                    }
                }
            }
        });
    }

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

    /// Returns the first item and the number of items of `updates` that contain all runs of a window.
    pub fn slab(&self, window: &Window) -> (usize, usize) {
        let mut outers = self.outers(window);
        let (count, items) = (outers.len(), self.count.saturating_mul(self.block));
        (outers.next().map_or(0, |part| part.outer).saturating_mul(items), count.saturating_mul(items))
    }

    /// Calls `each` with the first and last item of changed neighbouring blocks.
    pub fn blocks(&self, each: &mut dyn FnMut(usize, usize)) {
        if self.block == 0 || self.dim == 0 {
            return;
        }
        for outer in 0..self.outer {
            let base = outer * self.dim * self.block;
            self.places(0, self.dim, |places| {
                each(base + places.start * self.block, base + places.end * self.block - 1);
            });
        }
    }

    /// Returns the range of items that may change, from the start of the window.
    pub fn extent(&self, window: &Window) -> Range<usize> {
        let (start, end) = (window.start, window.start + window.items());
        let (mut first, mut last) = (end, start);
        for OuterPart { base, places, .. } in self.outers(window) {
            self.places(places.start, places.end, |places| {
                let items = base + places.start * self.block..base + places.end * self.block;
                (first, last) = (first.min(items.start.max(start)), last.max(items.end.min(end)));
            });
        }
        first.min(last) - start..last - start
    }

    /// Calls `each` with the runs of a window in the order of application.
    pub fn runs(&self, window: &Window, mut each: impl FnMut(ItemRun)) {
        let outers = self.outers(window);
        let mut run = |part: &OuterPart, target: usize, position: usize| {
            let at = target * self.block;
            let (a, b) = (at.max(part.items.start), (at + self.block).min(part.items.end));
            if a < b {
                let from = (part.outer * self.count + position) * self.block + a - at;
                each(ItemRun { to: part.base + a - window.start, from, len: b - a });
            }
        };
        if outers.len() > 2 {
            // Many short outer places use all entries; separate lookups took longer than all other work.
            let mut all = Vec::new();
            self.positions(0, self.dim, |target, position| all.push((target, position)));
            outers.for_each(|part| all.iter().for_each(|&(target, position)| run(&part, target, position)));
            return;
        }
        for part in outers {
            self.positions(part.places.start, part.places.end, |target, position| run(&part, target, position));
        }
    }

    pub fn carries_updates(&self) -> bool {
        matches!(self.payload, Payload::Value { .. })
    }

    /// A window may begin or end inside a block, as chunks do.
    pub(super) fn apply(&self, window: &Window, itemsize: usize, out: &mut [u8], put: &mut Put<'_>) {
        assert!(self.carries_updates(), "the entries do not carry their updates");
        let (start, end) = (window.start, window.start + window.items());
        let (lo, hi) = (start / self.block, end.div_ceil(self.block));
        if (start, end) == (lo * self.block, hi * self.block) {
            return self.apply_to_places(lo, hi, out, put);
        }
        let mut whole = vec![0; (hi - lo) * self.block * itemsize];
        let inside = (start - lo * self.block) * itemsize..(end - lo * self.block) * itemsize;
        whole[inside.clone()].copy_from_slice(out);
        self.apply_to_places(lo, hi, &mut whole, put);
        out.copy_from_slice(&whole[inside]);
    }
}

fn replace<const N: usize>(out: &mut [u8], offset: usize, at: &[u32], words: &[u8]) {
    let out = out.as_chunks_mut::<N>().0;
    for (&at, word) in at.iter().zip(words.as_chunks::<N>().0) {
        if let Some(place) = out.get_mut(offset.wrapping_add(at as usize)) {
            *place = *word;
        }
    }
}
