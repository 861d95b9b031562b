//! What an index tensor says, as much of it at a time as memory is meant to hold.
//!
//! The entries of most index tensors are read once and kept. Those of a very large one would take more memory than its
//! reader has, so the places of the data are cut into ranges of about as many entries each, and the tensor is read once
//! more for each range, of which only the entries are kept: a *sweep*. Windows are filled from front to back, so each sweep
//! is made once, when the first window asks for it, and dropped when they have gone on. A first pass over all of the tensor
//! has checked every number and counted by then, so nothing is refused once something has been written.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use super::buckets::Cut;
use super::entries::{Entries, Room, TheirPositions, TheirUpdates, Words};
use super::read::{Collect, collect};
use super::scatter::Scatter;
use super::{Arrangement, Numbers};
use crate::error::{Error, Result, Subject};
use crate::layout::shape::coordinates;
use crate::layout::window::Window;
use crate::ops::fill::Limits;
use crate::ops::reduction::Repeats;
use crate::ops::updates::Updates;
use crate::ops::window_size::ENTRIES;
use crate::storage::source::Source;

/// Places are counted in at most so many groups of neighbours, whose counters fit a core's second-level cache.
const MOST_SLOTS: usize = 1 << 15;

/// Where tests make windows small, entries of so many bytes for each byte of a window are held at once.
pub(super) const ENTRIES_OF_TESTS: usize = 8;

/// How many sweeps are held: threads that are done with one have begun the next.
const HELD_SWEEPS: usize = 2;

/// A resolved scatter by indices, in as many sweeps as its entries need.
#[derive(Debug)]
pub struct Sweeps {
    numbers: Numbers,
    indices: Source,
    kept: Kept,
    limits: Limits,
    /// The sweeps, by ascending places.
    plan: Vec<Sweep>,
    /// Those that have been made last, by their numbers, the latest behind.
    made: Mutex<Vec<(usize, Arc<Scatter>)>>,
}

/// What is kept of a tuple beside its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kept {
    /// Tuples of no number have no place to tell.
    Whole { from: usize, to: usize },
    /// Its update, of so many bytes.
    Value { bytes: usize },
    /// The position of its update, in so many bytes.
    Position { bytes: usize },
}

impl Kept {
    /// Returns the bytes that are kept of a tuple beside its place.
    fn bytes(self) -> usize {
        match self {
            Self::Whole { .. } => 0,
            Self::Value { bytes } | Self::Position { bytes } => bytes,
        }
    }
}

/// A range of places whose entries are held together.
#[derive(Clone, Debug)]
struct Sweep {
    places: Range<usize>,
    cut: Cut,
    /// How many entries each part of the index tensor has there; `None` of a whole one, which has all.
    entries: Option<Vec<usize>>,
}

/// Counts the entries of one part of the index tensor by their places.
struct Count {
    shift: u32,
    slots: Vec<usize>,
}

impl Collect for Count {
    fn take(&mut self, _: usize, places: &[u64]) -> Result<()> {
        places.iter().for_each(|place| self.slots[(place >> self.shift) as usize] += 1);
        Ok(())
    }
}

impl Sweeps {
    /// Reads the index tensor and groups what it says by `group` neighbouring items, which will be changed together.
    /// Small `updates` are read with it and carried along, if there are any.
    ///
    /// # Errors
    /// A number that names no place; a tuple that occurs twice, where [`Repeats::Refused`]; of reading; not enough memory.
    pub fn new(
        numbers: &Numbers,
        indices: Source,
        updates: Option<&Updates>,
        (repeats, group): (Repeats, usize),
        limits: Limits,
    ) -> Result<Self> {
        let (count, places) = (numbers.count(), numbers.places());
        let group_places = group / numbers.arrangement.block.max(1);
        let cut = Cut::new(0..places, count, group_places);
        let kept = if numbers.width() == 0 {
            let from = if repeats == Repeats::LastWins { count.saturating_sub(1) } else { 0 };
            Kept::Whole { from, to: count }
        } else if let Some(updates) = updates.filter(|it| numbers.carries(it, (cut, group), &indices, repeats)) {
            Kept::Value { bytes: numbers.arrangement.block * updates.itemsize() }
        } else {
            Kept::Position { bytes: if u32::try_from(count).is_ok() { 4 } else { 8 } }
        };
        let all = vec![Sweep { places: 0..places, cut, entries: None }];
        let mut sweeps =
            Self { numbers: numbers.clone(), indices, kept, limits, plan: all, made: Mutex::new(Vec::new()) };
        let most = limits.window.map_or(ENTRIES, |window| window.saturating_mul(ENTRIES_OF_TESTS));
        if !matches!(kept, Kept::Whole { .. }) && cut.bytes(count, kept.bytes()) > most {
            sweeps.indices.settle()?;
            // an entry, and its share of what is left free in blocks
            let bytes = (4 + kept.bytes()) * 5 / 4 + 1;
            sweeps.plan = sweeps.planned(most / HELD_SWEEPS / bytes, group_places)?;
        }
        if repeats == Repeats::Refused {
            sweeps.refuse_repeats()?;
        } else if let [_] = sweeps.plan[..] {
            // every number is checked before anything is written
            sweeps.get(0, updates)?;
        }
        Ok(sweeps)
    }

    /// The index tensor.
    pub fn indices(&self) -> &Source {
        &self.indices
    }

    /// How many items updates bring, those that are overtaken by later ones included.
    pub fn changed(&self) -> usize {
        let Arrangement { outer, block, .. } = self.numbers.arrangement;
        outer.saturating_mul(self.numbers.count()).saturating_mul(block)
    }

    /// Whether the updates are carried along with their places.
    pub fn carries_updates(&self) -> bool {
        matches!(self.kept, Kept::Value { .. })
    }

    /// The numbers of all sweeps.
    pub fn all(&self) -> Range<usize> {
        0..self.plan.len()
    }

    /// The numbers of the sweeps that a window may need, in any order.
    pub fn near(&self, window: &Window) -> Range<usize> {
        let (block, dim) = (self.numbers.arrangement.block, self.numbers.places());
        let (start, end) = (window.start, window.start + window.items());
        let place = dim.saturating_mul(block);
        if self.plan.len() == 1 || place == 0 || start == end {
            return self.all();
        }
        if start / place != (end - 1) / place {
            return self.all();
        }
        let (first, last) = (start % place / block, (end - 1) % place / block);
        let number = |place| self.plan.partition_point(|sweep| sweep.places.end <= place);
        number(first)..(number(last) + 1).min(self.plan.len())
    }

    /// A sweep, made now if it is none of the latest. `updates` are those of [`new`](Self::new).
    ///
    /// # Errors
    /// Of reading; not enough memory.
    pub fn get(&self, number: usize, updates: Option<&Updates>) -> Result<Arc<Scatter>> {
        // who waits here waits for what it needs next
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, scatter)) = made.iter().find(|(n, _)| *n == number) {
            return Ok(Arc::clone(scatter));
        }
        if made.len() == HELD_SWEEPS {
            made.remove(0);
        }
        let scatter = Arc::new(self.make(&self.plan[number], updates)?);
        made.push((number, Arc::clone(&scatter)));
        Ok(scatter)
    }

    /// Checks and counts all of the index tensor, and cuts its places into ranges of at most so many entries: more where
    /// very many tuples name neighbouring places.
    fn planned(&self, most: usize, group: usize) -> Result<Vec<Sweep>> {
        let places = self.numbers.places();
        let shift = (0..usize::BITS).find(|shift| places >> shift <= MOST_SLOTS).expect("a number has no more bits");
        let slots = (places.saturating_sub(1) >> shift) + 1;
        let parts =
            collect(&self.indices, &self.numbers, self.limits, |_, _| Ok(Count { shift, slots: vec![0; slots] }))?;
        let sum = |slots: Range<usize>| -> Vec<usize> {
            parts.iter().map(|part| part.slots[slots.clone()].iter().sum()).collect()
        };
        let (mut plan, mut first, mut held) = (Vec::new(), 0, 0);
        for slot in 0..slots {
            let here = parts.iter().map(|part| part.slots[slot]).sum::<usize>();
            if held > 0 && here > 0 && held + here > most {
                plan.push(first..slot);
                (first, held) = (slot, 0);
            }
            held += here;
        }
        plan.push(first..slots);
        Ok(plan
            .into_iter()
            .map(|slots| {
                let entries = sum(slots.clone());
                let places = slots.start << shift..(slots.end << shift).min(places);
                Sweep { cut: Cut::new(places.clone(), entries.iter().sum(), group), places, entries: Some(entries) }
            })
            .collect())
    }

    fn make(&self, sweep: &Sweep, updates: Option<&Updates>) -> Result<Scatter> {
        let Arrangement { outer, block, .. } = self.numbers.arrangement;
        let count = self.numbers.count();
        let tensor = (&self.indices, &self.numbers);
        let room = Room { cut: sweep.cut, only: sweep.entries.as_deref().map(|entries| (&sweep.places, entries)) };
        let entries = match self.kept {
            Kept::Whole { from, to } => Entries::Whole { from, to },
            Kept::Value { bytes } => {
                let updates = updates.expect("the updates that are carried along are there as long as the sweeps");
                Entries::Values(Words::read(bytes, tensor, room, &TheirUpdates { updates, block }, self.limits)?)
            }
            Kept::Position { bytes } => {
                Entries::Positions(Words::read(bytes, tensor, room, &TheirPositions(bytes), self.limits)?)
            }
        };
        Ok(Scatter { outer, dim: self.numbers.places(), block, count, entries })
    }

    /// Looks for tuples that occur twice.
    ///
    /// # Errors
    /// The earliest of them.
    fn refuse_repeats(&self) -> Result<()> {
        let mut earliest = None;
        for (number, sweep) in self.plan.iter().enumerate() {
            let here = self.get(number, None)?.entries.earliest_repeat(sweep.cut);
            earliest = [earliest, here].into_iter().flatten().min();
        }
        let Some((position, first)) = earliest else { return Ok(()) };
        let at = |position| coordinates(position, &self.numbers.shapes.tuples);
        let message = format!("the index at {:?} repeats the one at {:?}", at(position), at(first));
        Err(Error::new(Subject::Indices, message))
    }
}
