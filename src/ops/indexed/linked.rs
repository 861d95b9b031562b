//! A scatter by indices with its data and updates.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::{Numbers, Run, Scatter, Sweeps};
use crate::error::{Error, Result};
use crate::item::dtype::DType;
use crate::item::meta::Meta;
use crate::layout::gather::GAP;
use crate::layout::window::{Window, Windows};
use crate::memory;
use crate::ops::fill::{Fill, Limits, Patch, Scratch};
use crate::ops::reduction::Combine;
use crate::ops::reduction::Repeats;
use crate::ops::selection::{Selection, Stored};
use crate::ops::updates::Updates;
use crate::ops::window_size::{EDIT_WINDOW, ENTRIES, KEPT_PIECE, RESIDENT, SHORT_PIECE, SLAB, SWEEP_WINDOWS, WINDOW};
use crate::storage::conversion::Conversion;
use crate::storage::source::Source;

/// A resolved scatter, linked to what it reads.
#[derive(Debug)]
pub struct Linked {
    base: Selection,
    sweeps: Sweeps,
    updates: Updates,
    /// What is done with an old block and its update; `None` puts the update in its place.
    combine: Option<Combine>,
    /// What updates are read as: the dtype of the data, in native order for a reduction.
    kernel: DType,
    /// From the byte order of the data to that of the kernel and back.
    to_kernel: Conversion,
    window: usize,
    /// Whether updates that are read from a file are kept in memory.
    keeps_updates: bool,
    limits: Limits,
}

/// What the operands of a scatter are to be used for.
#[derive(Clone, Copy, Debug)]
pub struct Roles {
    /// What becomes of several updates for one place.
    pub repeats: Repeats,
    /// What is done with an old block and its update; `None` puts the update in its place.
    pub combine: Option<Combine>,
}

impl Linked {
    /// Reads the index tensor and links the operator to what else it reads. `updates` has the shape that was checked.
    ///
    /// The indices are grouped by windows here, so the size of a window is settled here, too: one that fits the cache for
    /// updates that are carried along or in memory, updates that are read together, and long pieces. Short pieces are better
    /// read by few sweeps through the updates, each for a large window, than one by one. What is held in all stays a small
    /// multiple of what the indices need in any case.
    ///
    /// # Errors
    /// Those of [`Sweeps::new`].
    pub fn new(
        base: Selection,
        numbers: &Numbers,
        mut indices: Source,
        updates: Updates,
        roles: Roles,
        limits: Limits,
    ) -> Result<Self> {
        let mut updates = match &numbers.arrangement.updates_axes {
            Some(axes) => updates.with_axes(axes),
            None => updates,
        };
        let dtype = &base.meta().dtype;
        let kernel = if roles.combine.is_some() { dtype.native() } else { dtype.clone() };
        let to_kernel = Conversion::new(dtype, &kernel).expect("both are of one kind");
        if !to_kernel.is_identity() {
            updates = updates.converted_to(&kernel);
        }
        let (outer, block) = (numbers.arrangement.outer, numbers.arrangement.block);
        let itemsize = base.meta().dtype.itemsize();
        let (data_bytes, update_bytes) = (base.meta().bytes(), updates.bytes());
        let resident = indices.bytes().clamp(RESIDENT, ENTRIES);
        let few = !updates.source().is_read_by_position() || update_bytes <= resident;
        let keeps_updates = update_bytes <= SLAB || update_bytes <= resident && block * itemsize < KEPT_PIECE;
        let together = update_bytes / outer.max(1) <= SLAB;
        let point = outer == 1 && block * itemsize <= 16;
        let sweep = !few && !together && !point && block * itemsize < SHORT_PIECE;
        let threads = limits.threads.for_bytes(data_bytes);
        let window = match (base.is_in_place(), sweep) {
            (true, _) => EDIT_WINDOW,
            (false, false) => WINDOW,
            (false, true) => data_bytes.div_ceil(threads).clamp(WINDOW, SWEEP_WINDOWS / threads),
        };
        if point {
            updates.settle()?;
        }
        let items = limits.window.unwrap_or(window) / itemsize.max(1);
        let group = Windows::new(&base.meta().shape, items).largest();
        if base.is_in_place() && indices.shares_bytes_with(base.source())? {
            // they will have been changed when they are read again
            indices.make_resident()?;
        }
        let sweeps = Sweeps::new(numbers, indices, Some(&updates), (roles.repeats, group), limits)?;
        Ok(Self { base, sweeps, updates, combine: roles.combine, kernel, to_kernel, window, keeps_updates, limits })
    }

    /// A sweep; see [`Sweeps::get`].
    fn sweep(&self, number: usize) -> Result<Arc<Scatter>> {
        self.sweeps.get(number, Some(&self.updates))
    }

    /// Applies the updates that one sweep has for a window, which is contiguous, to its items.
    fn apply(&self, scatter: &Scatter, window: &Window, out: &mut [u8], buffer: &mut Vec<u8>) -> Result<()> {
        let Self { updates, combine, .. } = self;
        let itemsize = self.base.meta().dtype.itemsize();
        if scatter.carries_updates() {
            scatter.apply(window, itemsize, out, *combine);
            return Ok(());
        }
        let mut put = |Run { to, from, len }: Run, slab: &[u8], first: usize| {
            let old = &mut out[to * itemsize..][..len * itemsize];
            let new = &slab[(from - first) * itemsize..][..len * itemsize];
            match combine {
                None => copy_item(old, new),
                Some(combine) => (combine.blocks)(old, new),
            }
        };
        // where the runs lie: in memory, or in one piece of the updates, or here and there in them
        if let Some(bytes) = updates.source().as_bytes() {
            scatter.runs(window, |run| put(run, bytes, 0));
            return Ok(());
        }
        let (first, items) = scatter.slab(window);
        if items.saturating_mul(itemsize) <= SLAB && !updates.source().is_one_item() {
            updates.read_run(first, items, buffer)?;
            scatter.runs(window, |run| put(run, buffer, first));
            return Ok(());
        }
        // runs that are neighbours in the updates are read at once
        let mut pending: Vec<Run> = Vec::new();
        let mut flush = |pending: &mut Vec<Run>| -> Result<()> {
            let (Some(&Run { from: first, .. }), Some(last)) = (pending.first(), pending.last()) else { return Ok(()) };
            updates.read_run(first, last.from + last.len - first, buffer)?;
            pending.drain(..).for_each(|run| put(run, buffer, first));
            Ok(())
        };
        let mut result = Ok(());
        scatter.runs(window, |run| {
            if result.is_err() {
                return;
            }
            // one item is everywhere
            let run = if updates.source().is_one_item() { Run { from: 0, ..run } } else { run };
            if let (Some(first), Some(last)) = (pending.first(), pending.last()) {
                let end = last.from + last.len;
                let near = run.from >= end
                    && (run.from - end) * itemsize <= GAP
                    && (run.from + run.len - first.from) * itemsize <= SLAB;
                if !near {
                    result = flush(&mut pending);
                }
            }
            pending.push(run);
        });
        result.and_then(|()| flush(&mut pending))
    }
}

impl Fill for Linked {
    fn meta(&self) -> &Meta {
        self.base.meta()
    }

    fn data(&self) -> &Source {
        self.base.source()
    }

    fn operands(&self) -> Vec<&Source> {
        vec![self.base.source(), self.updates.source()]
    }

    fn prepare(&mut self) -> Result<()> {
        self.base.prepare()?;
        self.updates.flatten(self.limits)?;
        if self.sweeps.carries_updates() {
            return Ok(());
        }
        self.updates.settle()?;
        if self.updates.in_runs() && self.updates.source().is_read_by_position() && self.keeps_updates {
            return self.updates.make_resident(&self.kernel);
        }
        self.updates.make_runs(&self.kernel, self.limits)
    }

    fn fill(&self, window: &Window, out: &mut Vec<u8>, scratch: &mut Scratch) -> Result<()> {
        self.base.read(window, out, &mut scratch.gathered)?;
        self.to_kernel.swap(out);
        let (itemsize, mut rest) = (self.base.meta().dtype.itemsize(), &mut out[..]);
        // what is scattered goes by the numbers of items, which are neighbours in a piece
        for piece in window.pieces(&self.base.meta().shape) {
            let (items, after) = rest.split_at_mut(piece.items() * itemsize);
            self.sweeps
                .near(&piece)
                .try_for_each(|number| self.apply(&*self.sweep(number)?, &piece, items, &mut scratch.items))?;
            rest = after;
        }
        self.to_kernel.swap(out);
        Ok(())
    }

    fn grid(&self) -> Option<Vec<usize>> {
        self.base.grid()
    }

    fn fills_boxes(&self) -> bool {
        true
    }

    fn window_bytes(&self, threads: usize) -> usize {
        // data that is stored across the order of the output wants large windows whatever the updates do
        match self.base.window_bytes(threads) {
            across if across > WINDOW => across.max(self.window),
            _ => self.window,
        }
    }

    fn stored(&self, window: &Window) -> Result<Option<Stored<'_>>> {
        let Some(stored) = self.base.stored(window) else { return Ok(None) };
        for piece in window.pieces(&self.base.meta().shape) {
            for number in self.sweeps.near(&piece) {
                if self.sweep(number)?.touches(&piece) {
                    return Ok(None);
                }
            }
        }
        Ok(Some(stored))
    }

    fn bytes_read(&self, window: &Window) -> u64 {
        self.base.bytes_read(window)
    }

    fn as_patch(&self) -> Option<&dyn Patch> {
        Some(self)
    }

    fn finish(&self) -> Result<()> {
        self.base.source().finish()?;
        self.finish_updates()
    }
}

impl Patch for Linked {
    fn base(&self) -> &Selection {
        &self.base
    }

    fn changed(&self) -> usize {
        self.sweeps.changed()
    }

    fn touched(&self, windows: &Windows) -> Result<Vec<usize>> {
        let mut numbers = WindowNumbers::default();
        for number in self.sweeps.all() {
            let mut added = Ok(());
            self.sweep(number)?.places(|first, last| {
                if added.is_ok() {
                    added = windows.of_run(first, last, |mut run| run.try_for_each(|number| numbers.add(number)));
                }
            });
            added?;
        }
        numbers.in_order()
    }

    fn extent(&self, window: &Window) -> Result<Range<usize>> {
        let mut all = 0..0;
        for number in self.sweeps.near(window) {
            let Range { start, end } = self.sweep(number)?.extent(window);
            all = match (start < end, all.is_empty()) {
                (false, _) => all,
                (true, true) => start..end,
                (true, false) => all.start.min(start)..all.end.max(end),
            };
        }
        Ok(all)
    }

    fn finish_updates(&self) -> Result<()> {
        self.updates.source().finish()?;
        self.sweeps.indices().finish()
    }
}

/// `copy_from_slice`, without a call for single items of the usual sizes: for points the call would take longer than the
/// copy.
#[inline]
fn copy_item(old: &mut [u8], new: &[u8]) {
    fn word<const N: usize>(old: &mut [u8], new: &[u8]) {
        let old: &mut [u8; N] = old.try_into().expect("N bytes");
        *old = *<&[u8; N]>::try_from(new).expect("as many bytes as the old item has");
    }
    match old.len() {
        1 => word::<1>(old, new),
        2 => word::<2>(old, new),
        4 => word::<4>(old, new),
        8 => word::<8>(old, new),
        16 => word::<16>(old, new),
        _ => old.copy_from_slice(new),
    }
}
/// The bits of a page of [`WindowNumbers`].
const PAGE: usize = 1 << 12;

/// Numbers of windows: a bit for each, since updates may come back to one any number of times. Only pages that hold some
/// are there, as a store may have a grid of 2^40 chunks of which an edit changes ten.
#[derive(Default)]
struct WindowNumbers {
    pages: BTreeMap<usize, Vec<u64>>,
    /// The page that the last number went to, which most often is that of the next.
    last: (usize, Vec<u64>),
}

impl WindowNumbers {
    fn add(&mut self, number: usize) -> Result<()> {
        let page = number / PAGE;
        if self.last.1.is_empty() || self.last.0 != page {
            let (old, bits) = std::mem::take(&mut self.last);
            if !bits.is_empty() {
                self.pages.insert(old, bits);
            }
            let bits = match self.pages.remove(&page) {
                Some(bits) => bits,
                None => {
                    let mut bits = memory::of(PAGE / 64).map_err(Error::memory)?;
                    bits.resize(PAGE / 64, 0);
                    bits
                }
            };
            self.last = (page, bits);
        }
        self.last.1[number % PAGE / 64] |= 1 << (number % 64);
        Ok(())
    }

    /// All that were added, ascending.
    fn in_order(mut self) -> Result<Vec<usize>> {
        let (page, bits) = std::mem::take(&mut self.last);
        self.pages.insert(page, bits);
        let mut numbers = Vec::new();
        for (page, bits) in &self.pages {
            for (at, &word) in bits.iter().enumerate().filter(|(_, word)| **word != 0) {
                for bit in (0..64).filter(|bit| word >> bit & 1 == 1) {
                    memory::push(&mut numbers, page * PAGE + at * 64 + bit).map_err(Error::memory)?;
                }
            }
        }
        Ok(numbers)
    }
}
