//! A scatter by indices linked to its data and updates, as a `Fill`.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::buckets::{BlockRuns, Lasts, UpdateRows, put_in_all, put_in_part};
use super::runs::{ItemRun, ItemSlab, Put, RunReader};
use super::sweep::Scatter;
use super::sweeps::{Grouping, Latest, Sweeps};
use crate::operators::access::{Access, Feeds, Holding, Pattern, Picked, StoredWindow};
use crate::operators::converted::Converted;
use crate::operators::fill::{Fill, Limits, Machine, Patch, Region, Scratch};
use crate::operators::selection::Selection;
use crate::storage::source::{HeldCopy, Hold, Keep, Source};
use tensorop_kernels::error::Result;
use tensorop_kernels::item::dtype::DType;
use tensorop_kernels::item::encoding::Conversion;
use tensorop_kernels::item::meta::Meta;
use tensorop_kernels::layout::window::{Window, Windows, fill_each};
use tensorop_kernels::memory::{self, Buffer};
use tensorop_kernels::ops::call::ScatterRule;
use tensorop_kernels::ops::indexed::{IndexSpec, TupleResolver};
use tensorop_kernels::ops::tally::{Application, Tally};

/// The places of a tally, which take 8 bytes each, or 24 for the mean of integers.
const MAX_COUNTED: usize = 1 << 17;

const PICKED: usize = 0;

/// Large windows each sweep through all updates, because single short reads cost more.
const SWEPT: usize = 1;

const RESIDENT: usize = 2;

/// The operands of a scatter by indices.
#[derive(Debug)]
pub struct ScatterOperands {
    pub base: Selection,
    pub indices: Source,
    pub updates: Converted,
}

/// A scatter with its operands and with numbers in range.
#[derive(Debug)]
pub struct LinkedScatter {
    base: Selection,
    sweeps: Sweeps,
    updates: Converted,
    application: Application,
    /// The dtype of updates during the run: that of the data, in native byte order for a reduction.
    kernel: DType,
    to_kernel: Conversion,
    /// About the size of the index tensor.
    most_resident: usize,
    is_swept: bool,
    outer: usize,
    block: usize,
    /// The updates of the latest outer places that span several windows.
    rows: Latest<Buffer>,
    limits: Limits,
}

impl LinkedScatter {
    /// Reads the index tensor and links a scatter to its operands:
    ///
    /// ```ignore
    /// let spec = scatter_update::check(data.shape(), indices.shape(), Some(updates.shape()), axis)?;
    /// let operands = ScatterOperands { base: Selection::whole(data), indices, updates };
    /// let rule = ScatterRule { repeats: Repeats::LastWins, application: Application::Replace };
    /// let fill = LinkedScatter::new(spec, operands, rule, limits)?;
    /// ```
    pub fn new(spec: IndexSpec, operands: ScatterOperands, rule: ScatterRule, limits: Limits) -> Result<Self> {
        let ScatterOperands { base, mut indices, mut updates } = operands;
        let resolver = spec.in_order(base.order());
        let TupleResolver { outer, block, ref updates_axes, .. } = resolver;
        if let Some(axes) = updates_axes {
            updates = updates.along(&axes.iter().copied().map(Some).collect::<Vec<_>>());
        }
        let dtype = &base.meta().dtype;
        let kernel = if rule.application.knows_numbers() { dtype.native() } else { dtype.clone() };
        let to_kernel = Conversion::new(dtype, &kernel).expect("both are of one kind");
        if !to_kernel.is_identity() {
            updates = updates.converted_to(&kernel);
        }
        let itemsize = dtype.itemsize();
        let machine = limits.machine;
        // Kept updates take no more memory than the windows that sweep through them; an edit has no sweeping windows.
        let least = if base.is_in_place() { machine.kept } else { machine.swept.max(machine.kept) };
        let most_resident = indices.bytes().clamp(least, machine.entries.max(least));
        let row_bytes = updates.bytes() / outer.max(1);
        let point = outer == 1 && block * itemsize <= 16;
        let lasts = match rule.application {
            // Updates of two outer places, and of a third in use, take as much memory as two windows with a sweep each.
            Application::Replace if row_bytes <= machine.swept / 2 => lasts_of(&resolver, updates.source.is_one_item()),
            _ => None,
        };
        if point {
            updates.hold(Hold::Runs, &kernel, limits)?;
        }
        // A window reads updates in group order, so grouping follows the windows: 262,144 rows of 1 KiB took 20 times
        // as many reads in groups of 256 KiB as in those of a sweep.
        let is_kept = !updates.source.is_read_by_position() || updates.bytes() <= most_resident;
        let is_apart = row_bytes > machine.slab && block * itemsize < machine.short_piece;
        let is_swept = !base.is_in_place() && !is_kept && is_apart && !point && lasts.is_none();
        let window = match (base.is_in_place(), is_swept) {
            (true, _) => machine.edit_window,
            (false, true) => swept_window(base.meta().bytes(), limits.threads.for_bytes(base.meta().bytes()), &machine),
            (false, false) => machine.window,
        };
        let items = window / itemsize.max(1);
        let group = Windows::new(&base.meta().shape, items).largest();
        if base.is_in_place() && indices.shares_bytes_with(&base.source)? {
            // An edit changes these bytes before they are read again.
            indices.hold(Hold::Memory, limits.threads)?;
        }
        let grouping = Grouping { repeats: rule.repeats, group, lasts };
        let sweeps = Sweeps::new(resolver, indices, Some(&updates), grouping, limits)?;
        let application = rule.application;
        let rows = Latest::default();
        Ok(Self {
            base,
            sweeps,
            updates,
            application,
            kernel,
            to_kernel,
            most_resident,
            is_swept,
            outer,
            block,
            rows,
            limits,
        })
    }

    fn sweep(&self, number: usize) -> Result<Arc<Scatter>> {
        self.sweeps.get(number, Some(&self.updates))
    }

    fn itemsize(&self) -> usize {
        self.base.meta().dtype.itemsize()
    }

    fn is_together(&self) -> bool {
        self.updates.bytes() / self.outer.max(1) <= self.limits.machine.slab
    }

    fn read_updates(&self, first: usize, items: usize, buffer: &mut Buffer) -> Result<()> {
        buffer.resize(items * self.itemsize(), self.updates.source.label())?;
        self.updates.read_run(first, buffer)
    }

    /// Chooses by the cost of access: carried updates, updates in memory, updates together in few bytes, or scattered
    /// ones.
    fn apply(
        &self,
        scatter: &Scatter,
        window: &Window,
        out: &mut [u8],
        buffer: &mut Buffer,
        put: &mut Put<'_>,
    ) -> Result<()> {
        let (itemsize, source) = (self.itemsize(), &self.updates.source);
        if scatter.carries_updates() {
            scatter.apply(window, itemsize, out, put);
            return Ok(());
        }
        if let Some(last) = scatter.last() {
            return self.put_lasts(scatter, last, window, out, buffer);
        }
        let read = |first, items, buffer: &mut Buffer| self.read_updates(first, items, buffer);
        let (first, items) = scatter.slab(window);
        let held = match source.as_bytes() {
            Some(bytes) => Some(ItemSlab { first: 0, bytes, itemsize }),
            None if items.saturating_mul(itemsize) <= self.limits.machine.slab && !source.is_one_item() => {
                read(first, items, buffer)?;
                Some(ItemSlab { first, bytes: buffer, itemsize })
            }
            None => None,
        };
        if let Some(slab) = held {
            scatter.runs(window, |run| slab.put(run, out, put));
            return Ok(());
        }
        let mut reader = RunReader::new(&read, itemsize, out, buffer, put);
        let mut result = Ok(());
        scatter.runs(window, |run| {
            if result.is_ok() {
                result = reader.add(if source.is_one_item() { ItemRun { from: 0, ..run } } else { run });
            }
        });
        result.and_then(|()| reader.flush())
    }

    /// Fills complete outer places together, as many as one read of updates allows.
    fn put_lasts(
        &self,
        scatter: &Scatter,
        last: &BlockRuns,
        window: &Window,
        out: &mut [u8],
        buffer: &mut Buffer,
    ) -> Result<()> {
        let (itemsize, source, machine) = (self.itemsize(), &self.updates.source, &self.limits.machine);
        let &Scatter { dim, count, block, .. } = scatter;
        let (pitch, row_bytes) = (dim * block, count * block * itemsize);
        let together = (machine.slab / row_bytes.max(1)).max(1);
        let (mut at, end, mut rest) = (window.start, window.start + window.items(), out);
        while at < end {
            let (outer, lo) = (at / pitch, at % pitch);
            let whole = if lo == 0 { ((end - at) / pitch).min(together) } else { 0 };
            let items = lo..if whole > 0 { pitch } else { pitch.min(lo + end - at) };
            let outers = outer..outer + whole.max(1);
            let (here, after) = rest.split_at_mut(items.len() * outers.len() * itemsize);
            at += items.len() * outers.len();
            rest = after;
            let runs = last.within(items.start / block, items.end.div_ceil(block));
            if runs.is_empty() {
                continue;
            }
            let held;
            let from = if let Some(bytes) = source.as_bytes() {
                UpdateRows { first: 0, pitch: count, bytes: &bytes[outer * row_bytes..] }
            } else if source.is_one_item() {
                let longest = runs.iter().map(|run| run.len as usize).max().unwrap_or(0);
                let longest = longest.min(items.len().div_ceil(block));
                self.read_updates(0, longest * outers.len() * block, buffer)?;
                UpdateRows { first: 0, pitch: longest, bytes: buffer }
            } else {
                let known = last.positions(runs).filter(|_| outers.len() == 1);
                let most = if known.is_some() { machine.slab } else { machine.window / 4 };
                let positions = known.unwrap_or(0..count);
                let blocks = (outers.len() - 1) * count + positions.len();
                if outers.len() == 1 && runs.len().saturating_mul(machine.read) < blocks * block * itemsize {
                    let read = |first, items, buffer: &mut Buffer| self.read_updates(first, items, buffer);
                    let mut put = Put::Replace;
                    let mut reads = RunReader::new(&read, itemsize, here, buffer, &mut put);
                    for run in runs {
                        let (inside, from) = run.within(block, &items);
                        let to = inside.start - items.start;
                        reads.add(ItemRun { from: outer * count * block + from, to, len: inside.len() })?;
                    }
                    reads.flush()?;
                    continue;
                }
                // Scattered updates are read once for all windows of their outer place.
                if whole > 0 || blocks * block * itemsize <= most {
                    self.read_updates((outer * count + positions.start) * block, blocks * block, buffer)?;
                    UpdateRows { first: positions.start, pitch: count, bytes: buffer }
                } else {
                    held = self.rows.get(outer, || {
                        let mut row = Buffer::default();
                        self.read_updates(outer * count * block, count * block, &mut row)?;
                        Ok(row)
                    })?;
                    UpdateRows { first: 0, pitch: count, bytes: &held }
                }
            };
            match whole {
                0 => put_in_part(runs, [block, itemsize], from, &items, here),
                _ => put_in_all(runs, block * itemsize, from, dim, here),
            }
        }
        Ok(())
    }

    fn apply_all(&self, window: &Window, out: &mut [u8], buffer: &mut Buffer) -> Result<()> {
        let mut apply = |window: &Window, out: &mut [u8], put: &mut Put<'_>| {
            let mut near = self.sweeps.near(window);
            near.try_for_each(|number| self.apply(&*self.sweep(number)?, window, out, buffer, put))
        };
        match self.application {
            Application::Replace => apply(window, out, &mut Put::Replace),
            Application::Combine(combine) => apply(window, out, &mut Put::Combine(combine)),
            Application::Fold(fold) => {
                let itemsize = self.itemsize();
                for (number, out) in out.chunks_mut(MAX_COUNTED * itemsize).enumerate() {
                    let places = out.len() / itemsize;
                    let mut tally = Tally::new(fold, itemsize, places)?;
                    // A contiguous window is a run of items for any axes.
                    let run = Window { start: window.start + number * MAX_COUNTED, ..Window::whole(&[places]) };
                    apply(&run, out, &mut Put::Fold(&mut tally))?;
                    tally.finish(out);
                }
                Ok(())
            }
        }
    }
}

/// Several outer places need updates at the same places.
fn lasts_of(resolver: &TupleResolver, are_one_item: bool) -> Option<Lasts> {
    let fits = u32::try_from(resolver.places.max(resolver.count())).is_ok();
    let lasts = if are_one_item { Lasts::AreOneItem } else { Lasts::AtPositions };
    (resolver.outer > 1 && resolver.width() > 0 && fits).then_some(lasts)
}

impl Fill for LinkedScatter {
    fn meta(&self) -> &Meta {
        self.base.meta()
    }

    fn operand(&self, n: usize) -> Option<&Source> {
        [&self.base.source, &self.updates.source].get(n).copied()
    }

    fn ways(&self, _: &Limits) -> Vec<usize> {
        let updates = &self.updates;
        if self.sweeps.carries_updates() || !updates.source.is_read_by_position() {
            return vec![PICKED];
        }
        if self.is_swept {
            return vec![SWEPT];
        }
        let mut ways = vec![PICKED];
        if updates.in_runs() && updates.bytes() <= self.most_resident {
            ways.push(RESIDENT);
        }
        ways
    }

    fn holdings(&self, way: usize, limits: &Limits) -> Vec<Holding> {
        let (mut all, source) = (self.base.holdings(0, limits), &self.updates.source);
        if self.sweeps.carries_updates() {
            all.extend(Holding::for_source(source, 1, Hold::COrder, limits.threads));
        } else if way == RESIDENT {
            let copy = HeldCopy { keep: Keep::Memory, bytes_read: source.bytes_stored() };
            all.push(Holding { operand: 1, hold: Hold::Memory, copy });
        } else if let Some(copy) = self.updates.copy_to_runs(limits) {
            all.push(Holding { operand: 1, hold: Hold::Runs, copy });
        }
        all
    }

    fn reads(&self, _: usize) -> Vec<Access<'_>> {
        let feeds = Feeds::Named { items: self.sweeps.changed() };
        let pattern = Pattern::Indexed { at_once: false };
        vec![self.base.access(), Access { source: &self.updates.source, feeds, pattern, copy: None }]
    }

    fn picked(&self, way: usize, windows: usize, _: &[usize]) -> Picked {
        if self.sweeps.carries_updates() {
            return Picked::default();
        }
        let (bytes, windows) = (self.updates.bytes() as u64, windows.max(1) as u64);
        let at_once = self.limits.machine.slab as u64;
        let runs = bytes / (self.block * self.itemsize()).max(1) as u64;
        let swept = Picked { reads: windows * bytes.div_ceil(at_once), bytes: windows * bytes };
        match way {
            SWEPT => swept,
            _ if self.sweeps.has_lasts() => Picked { reads: bytes.div_ceil(at_once), bytes },
            _ if self.is_together() => {
                Picked { reads: windows, bytes: bytes.max(windows * bytes / self.outer.max(1) as u64) }
            }
            _ => Picked { reads: runs, bytes },
        }
    }

    fn found(&self) -> Picked {
        self.sweeps.found(self.updates.source.bytes_stored())
    }

    fn hold(&mut self, holding: &Holding, limits: &Limits) -> Result<()> {
        match holding.operand {
            0 => self.base.hold(holding, limits),
            _ => self.updates.hold(holding.hold, &self.kernel, *limits),
        }
    }

    fn fill(&self, region: &Region, out: &mut [u8], scratch: &mut Scratch) -> Result<()> {
        self.base.fill(region, out, scratch)?;
        self.to_kernel.swap(out);
        // Each run scans all entries of its buckets.
        fill_each(&region.runs(&self.meta().shape), self.itemsize(), out, |piece, out| {
            self.apply_all(piece, out, &mut scratch.items)
        })?;
        self.to_kernel.swap(out);
        Ok(())
    }

    fn window_bytes(&self, way: usize, threads: usize, machine: &Machine) -> Option<usize> {
        if self.base.is_in_place() {
            return Some(machine.edit_window);
        }
        (way == SWEPT).then(|| swept_window(self.base.meta().bytes(), threads, machine))
    }

    fn stored(&self, window: &Window) -> Result<Option<StoredWindow<'_>>> {
        let Some(stored) = self.base.stored(window)? else { return Ok(None) };
        for piece in window.pieces(&self.base.meta().shape) {
            for number in self.sweeps.near(&piece) {
                if !self.sweep(number)?.extent(&piece).is_empty() {
                    return Ok(None);
                }
            }
        }
        Ok(Some(stored))
    }

    fn as_patch(&self) -> Option<&dyn Patch> {
        Some(self)
    }

    fn finish(&self) -> Result<()> {
        self.base.finish()?;
        self.updates.source.finish()?;
        self.sweeps.indices.finish()
    }
}

fn swept_window(bytes: usize, threads: usize, machine: &Machine) -> usize {
    bytes.div_ceil(threads).clamp(machine.window, (machine.swept / threads).max(machine.window))
}

impl Patch for LinkedScatter {
    fn base(&self) -> &Selection {
        &self.base
    }

    fn touched(&self, windows: &Windows, among: Range<usize>) -> Result<Vec<usize>> {
        let mut numbers = WindowSet::default();
        for number in self.sweeps.all() {
            let mut added = Ok(());
            self.sweep(number)?.blocks(&mut |first, last| {
                if added.is_ok() {
                    added = windows.each_of_run(first, last, |run| {
                        run.for_each(|number| numbers.add(number));
                        Ok(())
                    });
                }
            });
            added?;
        }
        let mut numbers = numbers.in_order()?;
        numbers.retain(|number| among.contains(number));
        Ok(numbers)
    }

    fn extent(&self, window: &Window) -> Result<Range<usize>> {
        let mut all = 0..0;
        for number in self.sweeps.near(window) {
            let Range { start, end } = self.sweep(number)?.extent(window);
            if start < end {
                all = if all.is_empty() { start..end } else { all.start.min(start)..all.end.max(end) };
            }
        }
        Ok(all)
    }
}

const PAGE: usize = 1 << 12;

/// A bit per window, because updates may return to a window any number of times. Pages are allocated on first use: an
/// edit may change ten of 2^40 chunks.
#[derive(Default)]
struct WindowSet(BTreeMap<usize, Box<[u64; PAGE / 64]>>);

impl WindowSet {
    pub(super) fn add(&mut self, number: usize) {
        let page = self.0.entry(number / PAGE).or_insert_with(|| Box::new([0; PAGE / 64]));
        page[number % PAGE / 64] |= 1 << (number % 64);
    }

    pub(super) fn in_order(&self) -> Result<Vec<usize>> {
        let mut numbers = Vec::new();
        for (page, bits) in &self.0 {
            for (at, &word) in bits.iter().enumerate().filter(|(_, word)| **word != 0) {
                for bit in (0..64).filter(|bit| word >> bit & 1 == 1) {
                    memory::push(&mut numbers, page * PAGE + at * 64 + bit)?;
                }
            }
        }
        Ok(numbers)
    }
}
