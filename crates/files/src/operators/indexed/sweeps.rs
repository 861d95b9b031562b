//! Sweeps of a scatter: parts of its entries that fit the memory limit.
//!
//! Each sweep passes over the index tensor for a range of places. Windows go from front to back, so each sweep is made
//! once and then dropped. A first pass checks all numbers before the first write.
//!
//! If only row `r` of the index tensor names row `r` of the data, a sweep reads only its rows: 100 million indices
//! along the last axis take 23 MiB, where one sweep took 809 MiB and half as long again.

use std::ops::Range;
use std::sync::{Arc, Mutex};

use super::buckets::{BlockRuns, BucketGrid, Buckets, Lasts};
use super::places::{READ_AT_ONCE, collect};
use super::sweep::{Payload, Scatter, ScatterEntries};
use crate::operators::access::Picked;
use crate::operators::converted::Converted;
use crate::operators::fill::Limits;
use crate::storage::source::{Hold, Source};
use tensorop_kernels::error::Result;
use tensorop_kernels::layout::copy::is_word;
use tensorop_kernels::layout::window::Window;
use tensorop_kernels::memory::Buffer;
use tensorop_kernels::ops::indexed::TupleResolver;
use tensorop_kernels::ops::reduction::Repeats;
use tensorop_kernels::parallel::locked;

/// The maximum number of counters, which fit the second-level cache.
const MAX_SLOTS: usize = 1 << 15;

const MAX_TOGETHER: usize = 1 << 26;

/// The bytes of entries per sweep by rows.
const ROWS: usize = 1 << 22;

/// A scatter with a checked index tensor, in one or more sweeps.
#[derive(Debug)]
pub struct Sweeps {
    resolver: TupleResolver,
    pub(super) indices: Source,
    payload: Payload,
    limits: Limits,
    plan: Vec<SweepRange>,
    made: Latest<Scatter>,
    lasts: Option<Lasts>,
}

#[derive(Clone, Debug)]
struct SweepRange {
    grid: BucketGrid,
    /// Per part of the index tensor; `None` for all entries.
    entries: Option<Vec<usize>>,
    /// The rows of the index tensor; `None` for all.
    rows: Option<Range<usize>>,
}

/// The grouping of a scatter's entries.
#[derive(Clone, Copy, Debug)]
pub struct Grouping {
    pub repeats: Repeats,
    /// The items of a window.
    pub group: usize,
    /// Keeps only the last update of each place; requires fewer than 2^32 places and tuples.
    pub lasts: Option<Lasts>,
}

impl Sweeps {
    /// Reads the index tensor and groups its entries. Small `updates` may be read with it and carried along.
    pub fn new(
        resolver: TupleResolver,
        indices: Source,
        updates: Option<&Converted>,
        grouping: Grouping,
        limits: Limits,
    ) -> Result<Self> {
        let (count, places) = (resolver.count(), resolver.places);
        let group_places = grouping.group / resolver.block.max(1);
        let grid = BucketGrid::new(0..places, count, group_places);
        let payload = if resolver.width() == 0 {
            let from = if grouping.repeats == Repeats::LastWins { count.saturating_sub(1) } else { 0 };
            Payload::OnlyPlace { from, to: count }
        } else if let Some(updates) = updates.filter(|it| carries(&resolver, it, grid, grouping, &indices)) {
            Payload::Value { bytes: resolver.block * updates.itemsize() }
        } else {
            Payload::Position { wide: u32::try_from(count).is_err() }
        };
        let plan = vec![SweepRange { grid, entries: None, rows: None }];
        let mut sweeps =
            Self { resolver, indices, payload, limits, plan, made: Latest::default(), lasts: grouping.lasts };
        let most = limits.machine.entries;
        // Includes free room in segments.
        let bytes = (4 + payload.bytes()) * 5 / 4 + 1;
        let all_bytes = grid.bytes(count, payload.bytes());
        let has_tuples = !matches!(payload, Payload::OnlyPlace { .. });
        let row_bytes = sweeps.resolver.row_tuples().map(|tuples| tuples.saturating_mul(bytes));
        let has_short_rows = row_bytes.is_some_and(|row| row <= most / KEPT);
        if has_tuples && has_short_rows && all_bytes > most.min(MAX_TOGETHER) {
            sweeps.indices.hold(Hold::Local, limits.threads)?;
            sweeps.plan = sweeps.planned_by_rows(most.min(ROWS) / bytes, group_places)?;
        } else if has_tuples && all_bytes > most {
            sweeps.indices.hold(Hold::Local, limits.threads)?;
            sweeps.plan = sweeps.planned(most / KEPT / bytes, group_places)?;
        }
        if grouping.repeats == Repeats::Refused {
            sweeps.refuse_repeats()?;
        } else if let [_] = sweeps.plan[..] {
            // Checks every number before the first write.
            sweeps.get(0, updates)?;
        }
        Ok(sweeps)
    }

    pub fn changed(&self) -> usize {
        let TupleResolver { outer, block, .. } = self.resolver;
        outer.saturating_mul(self.resolver.count()).saturating_mul(block)
    }

    pub fn carries_updates(&self) -> bool {
        matches!(self.payload, Payload::Value { .. })
    }

    /// The reads of the index tensor, and of `updates` bytes of updates that are carried along.
    pub fn found(&self, updates: u64) -> Picked {
        let passes = match &self.plan[..] {
            _ if self.resolver.width() == 0 => 0,
            [_] => 1,
            // The first pass plans the sweeps, which read only their rows or everything.
            [SweepRange { rows: Some(_), .. }, ..] => 2,
            sweeps => 1 + sweeps.len(),
        };
        let bytes = self.indices.bytes_stored() + if self.carries_updates() { updates } else { 0 };
        Picked::passes(passes, bytes, READ_AT_ONCE)
    }

    pub fn has_lasts(&self) -> bool {
        self.lasts.is_some()
    }

    pub fn all(&self) -> Range<usize> {
        0..self.plan.len()
    }

    /// Returns the sweeps that may overlap a contiguous window.
    pub fn near(&self, window: &Window) -> Range<usize> {
        let (block, dim) = (self.resolver.block, self.resolver.places);
        let (start, end) = (window.start, window.start + window.items());
        let place = dim.saturating_mul(block);
        if self.plan.len() == 1 || place == 0 || start == end || start / place != (end - 1) / place {
            return self.all();
        }
        let (first, last) = (start % place / block, (end - 1) % place / block);
        let number = |place| self.plan.partition_point(|sweep| sweep.grid.end() <= place);
        number(first)..(number(last) + 1).min(self.plan.len())
    }

    /// Returns a sweep; `updates` are those of [`new`](Self::new).
    pub fn get(&self, number: usize, updates: Option<&Converted>) -> Result<Arc<Scatter>> {
        self.made.get(number, || {
            let sweep = &self.plan[number];
            self.with_lasts(self.make(sweep, updates)?, sweep)
        })
    }

    /// Cuts places into ranges of at most `most` entries, unless neighbouring places have more.
    fn planned(&self, most: usize, group: usize) -> Result<Vec<SweepRange>> {
        let places = self.resolver.places;
        let shift = (0..usize::BITS).find(|shift| places >> shift <= MAX_SLOTS).expect("a number has no more bits");
        let slots = (places.saturating_sub(1) >> shift) + 1;
        // `1 << shift` places share a counter.
        let begin = |_, _| Ok(vec![0; slots]);
        let parts = collect(&self.indices, &self.resolver, None, self.limits, begin, |counts, _, places| {
            places.iter().for_each(|place| counts[(place >> shift) as usize] += 1);
            Ok(())
        })?;
        let (mut plan, mut first, mut entries) = (Vec::new(), 0, 0);
        for slot in 0..slots {
            let here = parts.iter().map(|counts| counts[slot]).sum::<usize>();
            if entries > 0 && here > 0 && entries + here > most {
                plan.push(first..slot);
                (first, entries) = (slot, 0);
            }
            entries += here;
        }
        plan.push(first..slots);
        let range = |slots: Range<usize>| {
            let of_part = |counts: &Vec<usize>| counts[slots.clone()].iter().sum();
            let entries: Vec<usize> = parts.iter().map(of_part).collect();
            let places = slots.start << shift..(slots.end << shift).min(places);
            let grid = BucketGrid::new(places, entries.iter().sum(), group);
            SweepRange { grid, entries: Some(entries), rows: None }
        };
        Ok(plan.into_iter().map(range).collect())
    }

    fn planned_by_rows(&self, most: usize, group: usize) -> Result<Vec<SweepRange>> {
        let numbers = self.resolver.clone().without_implied();
        collect(&self.indices, &numbers, None, self.limits, |_, _| Ok(()), |(), _, _| Ok(()))?;
        let shapes = &self.resolver.shapes;
        let (rows, named) = (shapes.data[0], shapes.tuples[0]);
        let (places, tuples) = (self.resolver.places / rows.max(1), self.resolver.count() / named.max(1));
        let together = (most / tuples.max(1)).max(group / places.max(1)).max(1);
        let range = |first: usize| {
            // Rows without tuples belong to the last sweep.
            let last = if first + together >= named { rows } else { first + together };
            let here = first..last.min(named);
            let grid = BucketGrid::new(first * places..last * places, here.len() * tuples, group);
            SweepRange { grid, entries: None, rows: Some(here) }
        };
        Ok((0..named.max(1)).step_by(together).map(range).collect())
    }

    fn with_lasts(&self, scatter: Scatter, sweep: &SweepRange) -> Result<Scatter> {
        let (Some(lasts), ScatterEntries::Grouped(parts)) = (self.lasts, &scatter.entries) else { return Ok(scatter) };
        let entries = ScatterEntries::Last(BlockRuns::new(parts, sweep.grid, lasts)?);
        Ok(Scatter { entries, ..scatter })
    }

    fn make(&self, sweep: &SweepRange, updates: Option<&Converted>) -> Result<Scatter> {
        let TupleResolver { outer, block, .. } = self.resolver;
        let bytes = self.payload.bytes();
        let begin = |part, tuples| {
            let count = sweep.entries.as_ref().map_or(tuples, |entries| entries[part]);
            Ok((Buckets::new(sweep.grid, count, bytes)?, Buffer::default()))
        };
        let take = |(buckets, payloads): &mut (Buckets, Buffer), first: usize, places: &[u64]| {
            payloads.resize(places.len() * bytes, self.indices.label())?;
            if self.carries_updates() {
                let updates = updates.expect("updates that are carried along exist in every sweep");
                updates.read_run(first * block, payloads)?;
            } else {
                let words = payloads.chunks_exact_mut(bytes).zip(first as u64..);
                words.for_each(|(word, position)| word.copy_from_slice(&position.to_le_bytes()[..bytes]));
            }
            buckets.extend(places, payloads);
            Ok(())
        };
        let parts = match self.payload {
            Payload::OnlyPlace { .. } => Vec::new(),
            _ => collect(&self.indices, &self.resolver, sweep.rows.as_ref(), self.limits, begin, take)?,
        };
        let parts = parts.into_iter().map(|(buckets, _)| buckets).collect();
        let (dim, count) = (self.resolver.places, self.resolver.count());
        Ok(Scatter { outer, dim, block, count, payload: self.payload, entries: ScatterEntries::Grouped(parts) })
    }

    fn refuse_repeats(&self) -> Result<()> {
        let mut earliest = None;
        for sweep in &self.plan {
            let scatter = self.make(sweep, None)?;
            earliest = [earliest, scatter.earliest_repeat(sweep.grid)].into_iter().flatten().min();
            if let ([_], None) = (&self.plan[..], earliest) {
                self.made.get(0, || self.with_lasts(scatter, sweep))?;
            }
        }
        let Some((position, first)) = earliest else { return Ok(()) };
        Err(self.resolver.repeated(position, first))
    }
}

/// Small updates in tuple order, up to two and a half times the size of the index tensor plus 48 MiB.
fn carries(
    resolver: &TupleResolver,
    updates: &Converted,
    grid: BucketGrid,
    Grouping { repeats, group, .. }: Grouping,
    indices: &Source,
) -> bool {
    const FREE: usize = 48 << 20;
    let TupleResolver { outer, block, .. } = *resolver;
    let size = block * updates.itemsize();
    let fits = is_word(size) && group.is_multiple_of(block);
    let most = (indices.bytes() / 2).saturating_mul(5).saturating_add(FREE);
    let suits = match repeats {
        Repeats::LastWins => true,
        // Reductions need items, not words.
        Repeats::Combined => block == 1,
        // Naming repeats needs positions.
        Repeats::Refused => false,
    };
    outer == 1 && fits && suits && updates.in_runs() && grid.bytes(resolver.count(), size) <= most
}

/// Threads that have finished one value have begun the next.
pub(super) const KEPT: usize = 2;

#[derive(Debug)]
pub(super) struct Latest<T>(Mutex<Vec<(usize, Arc<T>)>>);

impl<T> Default for Latest<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> Latest<T> {
    pub(super) fn get(&self, number: usize, make: impl FnOnce() -> Result<T>) -> Result<Arc<T>> {
        // Holds the lock during `make`: blocking other threads costs less than making the value twice.
        let mut kept = locked(&self.0);
        if let Some((_, found)) = kept.iter().find(|(n, _)| *n == number) {
            return Ok(Arc::clone(found));
        }
        if kept.len() == KEPT {
            kept.remove(0);
        }
        let made = Arc::new(make()?);
        kept.push((number, Arc::clone(&made)));
        Ok(made)
    }
}
