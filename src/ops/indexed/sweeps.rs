//! The sweeps of a scatter: as many of its entries at a time as memory is meant to hold.
//!
//! The entries of most index tensors are read once and kept. Those of a very large one would take more memory than its
//! reader has, so the places of the data are cut into ranges of about as many entries each, and the tensor is read once
//! more for each range, of which only the entries are kept: a *sweep*. Windows are filled from front to back, so each sweep
//! is made once, when the first window asks for it, and dropped when they have gone on. A first pass over all of the tensor
//! has checked every number and counted by then, so nothing is refused once something has been written.
//!
//! If row `r` of the data is named by row `r` of the index tensor alone, as where elements are scattered along a later axis than
//! the first, a sweep reads the tuples of a few rows and no others. Then sweeps are many and small: 100 million indices along
//! the last axis take 23 MiB, where one sweep took 809 MiB and half as long again.

use std::ops::Range;
use std::sync::Arc;

use super::block_runs::{BlockRuns, Lasts};
use super::buckets::{BucketGrid, Buckets};
use super::latest::{KEPT, Latest};
use super::read::collect;
use super::resolve::TupleResolver;
use super::scatter::{Payload, Scatter, ScatterEntries};
use crate::error::{Error, Result, Subject};
use crate::layout::shape::coordinates;
use crate::layout::walk::is_word;
use crate::layout::window::Window;
use crate::memory::Buffer;
use crate::ops::converted::Converted;
use crate::ops::fill::Limits;
use crate::ops::reduction::Repeats;
use crate::storage::source::{Hold, Source};

/// Places are counted in at most this many groups of neighbours, whose counters fit a core's second-level cache.
const MAX_SLOTS: usize = 1 << 15;

/// Entries of more bytes are made by rows of the first axis, where that is possible.
const MAX_TOGETHER: usize = 1 << 26;

/// The bytes of the entries of a sweep by rows.
const ROWS: usize = 1 << 22;

/// A scatter by indices whose index tensor has been checked, in as many sweeps as its entries need.
#[derive(Debug)]
pub struct Sweeps {
    resolver: TupleResolver,
    /// The index tensor.
    pub(super) indices: Source,
    payload: Payload,
    limits: Limits,
    /// The sweeps, by ascending places.
    plan: Vec<SweepRange>,
    /// The sweeps that have been made last, by their numbers.
    made: Latest<Scatter>,
    /// As in [`Grouping`].
    lasts: Option<Lasts>,
}

/// A range of places whose entries are kept together.
#[derive(Clone, Debug)]
struct SweepRange {
    /// The places, cut into buckets.
    grid: BucketGrid,
    /// How many entries each part of the index tensor has there; `None` where the range is all places, and has all entries.
    entries: Option<Vec<usize>>,
    /// The places of the first axis of the index tensor that name these places; `None` where all do.
    rows: Option<Range<usize>>,
}

/// How the entries of a scatter are grouped.
#[derive(Clone, Copy, Debug)]
pub struct Grouping {
    /// What becomes of several updates for one place.
    pub repeats: Repeats,
    /// How many neighbouring items will be changed together: those of a window.
    pub group: usize,
    /// Whether only the last update of each place is kept, of tuples that have numbers, and the same places in each outer place.
    /// There are fewer places and fewer tuples than 2^32 then.
    pub lasts: Option<Lasts>,
}

impl Sweeps {
    /// Reads the index tensor and groups its entries. Small `updates` are read with it and carried along, if there are any.
    ///
    /// # Errors
    /// A number that is out of range; a tuple that occurs twice, where [`Repeats::Refused`]; of reading; not enough memory.
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
        // an entry, and its share of what is left free in segments
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
            // every number is checked before anything is written
            sweeps.get(0, updates)?;
        }
        Ok(sweeps)
    }

    /// Returns how many items updates bring, those that are overtaken by later ones included.
    pub fn changed(&self) -> usize {
        let TupleResolver { outer, block, .. } = self.resolver;
        outer.saturating_mul(self.resolver.count()).saturating_mul(block)
    }

    /// Returns whether the updates are carried along with their places.
    pub fn carries_updates(&self) -> bool {
        matches!(self.payload, Payload::Value { .. })
    }

    /// Returns whether only the last update of each place is kept.
    pub fn has_lasts(&self) -> bool {
        self.lasts.is_some()
    }

    /// Returns the numbers of all sweeps.
    pub fn all(&self) -> Range<usize> {
        0..self.plan.len()
    }

    /// Returns the numbers of the sweeps whose blocks can overlap a window, which is contiguous; some may not.
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

    /// Returns a sweep, which is made now if it is none of the latest. `updates` are those of [`new`](Self::new).
    ///
    /// # Errors
    /// Of reading; not enough memory.
    ///
    /// # Panics
    /// If there are no `updates`, but they are carried along.
    pub fn get(&self, number: usize, updates: Option<&Converted>) -> Result<Arc<Scatter>> {
        self.made.get(number, || {
            let sweep = &self.plan[number];
            self.with_lasts(self.make(sweep, updates)?, sweep)
        })
    }

    /// Checks and counts all of the index tensor, and cuts its places into ranges of at most `most` entries, or more
    /// where very many tuples name neighbouring places.
    fn planned(&self, most: usize, group: usize) -> Result<Vec<SweepRange>> {
        let places = self.resolver.places;
        let shift = (0..usize::BITS).find(|shift| places >> shift <= MAX_SLOTS).expect("a number has no more bits");
        let slots = (places.saturating_sub(1) >> shift) + 1;
        // counts the entries of each part by their places, `1 << shift` of which share a slot
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

    /// Checks all of the index tensor, and cuts its rows into ranges of about `most` entries.
    fn planned_by_rows(&self, most: usize, group: usize) -> Result<Vec<SweepRange>> {
        let numbers = self.resolver.clone().without_implied();
        collect(&self.indices, &numbers, None, self.limits, |_, _| Ok(()), |(), _, _| Ok(()))?;
        let shapes = &self.resolver.shapes;
        let (rows, named) = (shapes.data[0], shapes.tuples[0]);
        let (places, tuples) = (self.resolver.places / rows.max(1), self.resolver.count() / named.max(1));
        let together = (most / tuples.max(1)).max(group / places.max(1)).max(1);
        let range = |first: usize| {
            // what no row of the index tensor names is swept with the last of them
            let last = if first + together >= named { rows } else { first + together };
            let here = first..last.min(named);
            let grid = BucketGrid::new(first * places..last * places, here.len() * tuples, group);
            SweepRange { grid, entries: None, rows: Some(here) }
        };
        Ok((0..named.max(1)).step_by(together).map(range).collect())
    }

    /// Leaves the last entry of each place, where only these are kept.
    fn with_lasts(&self, scatter: Scatter, sweep: &SweepRange) -> Result<Scatter> {
        let (Some(lasts), ScatterEntries::Grouped(parts)) = (self.lasts, &scatter.entries) else { return Ok(scatter) };
        let entries = ScatterEntries::Last(BlockRuns::new(parts, sweep.grid, lasts)?);
        Ok(Scatter { entries, ..scatter })
    }

    /// Makes a sweep with all its entries.
    fn make(&self, sweep: &SweepRange, updates: Option<&Converted>) -> Result<Scatter> {
        let TupleResolver { outer, block, .. } = self.resolver;
        let bytes = self.payload.bytes();
        let begin = |part, tuples| {
            // of a rehearsal it is not known
            let entries = sweep.entries.as_ref().filter(|_| !self.indices.is_rehearsed());
            let count = entries.map_or(tuples, |entries| entries[part]);
            Ok((Buckets::new(sweep.grid, count, bytes)?, Buffer::default()))
        };
        let take = |(buckets, payloads): &mut (Buckets, Buffer), first: usize, places: &[u64]| {
            payloads.resize(places.len() * bytes, self.indices.label())?;
            if self.carries_updates() {
                let updates = updates.expect("updates that are carried along are there whenever a sweep is made");
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

    /// Looks for tuples that occur twice.
    ///
    /// # Errors
    /// The earliest of them.
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
        let at = |position| coordinates(position, &self.resolver.shapes.tuples);
        let message = format!("the index at {:?} repeats the one at {:?}", at(position), at(first));
        Err(Error::new(Subject::Indices, message))
    }
}

/// Returns whether updates are carried along with their places: small ones that lie in the order of the tuples and can be
/// read in it. They may take two and a half times the memory of the index tensor, and 48 MiB in any case.
fn carries(
    resolver: &TupleResolver,
    updates: &Converted,
    grid: BucketGrid,
    Grouping { repeats, group, .. }: Grouping,
    indices: &Source,
) -> bool {
    /// The bytes that are always allowed.
    const FREE: usize = 48 << 20;
    let TupleResolver { outer, block, .. } = *resolver;
    let size = block * updates.itemsize();
    let fits = is_word(size) && group.is_multiple_of(block);
    let most = (indices.bytes() / 2).saturating_mul(5).saturating_add(FREE);
    let suits = match repeats {
        Repeats::LastWins => true,
        // reductions know items, not words
        Repeats::Combined => block == 1,
        // to name what is repeated takes positions
        Repeats::Refused => false,
    };
    outer == 1 && fits && suits && updates.in_runs() && grid.bytes(resolver.count(), size) <= most
}
