//! Places in the order of the index tuples that name them: what a gather needs, where a scatter groups by place.

use super::Numbers;
use super::read::{Collect, collect};
use super::sweeps::ENTRIES_OF_TESTS;
use crate::error::{Error, Result, Subject};
use crate::item::dtype::Kind;
use crate::memory;
use crate::ops::fill::Limits;
use crate::ops::updates::Updates;
use crate::ops::window_size::ENTRIES;
use crate::storage::conversion::Conversion;
use crate::storage::source::Source;

/// For each index tuple the place that it names.
#[derive(Debug)]
pub enum Places {
    /// All of them.
    Held(Held),
    /// Too many to be held: the tuples of a window are read with it.
    Unheld(Box<Unheld>),
}

/// An index tensor of which any tuples can be read.
#[derive(Debug)]
pub struct Unheld {
    indices: Updates,
    /// What its numbers mean.
    numbers: Numbers,
    /// What they are.
    kind: Kind,
}

/// Places of 4 bytes where there are few enough, else of 8. Each part is what one thread has read, all but the last of them
/// of the same number of tuples or one more.
#[derive(Debug)]
pub struct Held {
    parts: Vec<Part>,
    /// Where each part begins.
    starts: Vec<usize>,
}

/// The places that some neighbouring tuples name.
pub enum Near<'a> {
    /// Among all of them.
    Held(&'a Held),
    /// By themselves.
    Read {
        /// The number of the first tuple.
        first: usize,
        /// Their places.
        places: Vec<u64>,
    },
}

/// What is left of places that are only checked.
struct Checked;

impl Collect for Checked {
    fn take(&mut self, _: usize, _: &[u64]) -> Result<()> {
        Ok(())
    }
}

#[derive(Clone, Debug)]
enum Part {
    Small(Vec<u32>),
    Large(Vec<u64>),
    /// The place of every tuple, where tuples have no number and all name the one place there is.
    OnlyPlace,
}

impl Collect for Part {
    fn take(&mut self, _: usize, places: &[u64]) -> Result<()> {
        // there is room: `Places::new` made it
        match self {
            Part::Small(small) => small.extend(places.iter().map(|&place| place as u32)),
            Part::Large(large) => large.extend_from_slice(places),
            Part::OnlyPlace => unreachable!("tuples of no number are not read"),
        }
        Ok(())
    }
}

impl Places {
    /// The places that all tuples of an index tensor name. Every number is checked.
    ///
    /// # Errors
    /// A number that names no place; of reading; not enough memory.
    pub fn new(mut indices: Source, numbers: &Numbers, limits: Limits) -> Result<Self> {
        let small = u32::try_from(numbers.places()).is_ok();
        let bytes = numbers.count().saturating_mul(if small { 4 } else { 8 });
        if numbers.width() > 0
            && bytes > limits.window.map_or(ENTRIES, |window| window.saturating_mul(ENTRIES_OF_TESTS))
        {
            indices.settle()?;
            collect(&indices, numbers, limits, |_, _| Ok(Checked))?;
            let (native, conversion) = (indices.dtype().native(), Conversion::to_native(indices.dtype()));
            let mut indices = Updates::new(indices, conversion);
            indices.make_runs(&native, limits)?;
            let unheld = Unheld { indices, numbers: numbers.clone(), kind: native.kind().clone() };
            return Ok(Self::Unheld(Box::new(unheld)));
        }
        if numbers.width() == 0 {
            return Ok(Self::Held(Held::of(vec![Part::OnlyPlace])));
        }
        let refuse = |why| Error::new(Subject::Indices, why);
        let parts = collect(&indices, numbers, limits, |_, tuples| {
            Ok(match small {
                true => Part::Small(memory::of(tuples).map_err(refuse)?),
                false => Part::Large(memory::of(tuples).map_err(refuse)?),
            })
        })?;
        Ok(Self::Held(Held::of(parts)))
    }

    /// The places that `count` tuples from number `first` on name.
    ///
    /// # Errors
    /// Of reading.
    pub fn near(&self, first: usize, count: usize) -> Result<Near<'_>> {
        match self {
            Self::Held(held) => Ok(Near::Held(held)),
            Self::Unheld(unheld) => {
                let Unheld { indices, numbers, kind } = &**unheld;
                let (width, mut bytes, mut places) = (numbers.width(), Vec::new(), Vec::new());
                indices.read_run(first * width, count * width, &mut bytes)?;
                numbers.resolve(kind, &bytes, first, &mut places)?;
                Ok(Near::Read { first, places })
            }
        }
    }

    /// What is read while windows are filled.
    pub fn source(&self) -> Option<&Source> {
        match self {
            Self::Held(_) => None,
            Self::Unheld(unheld) => Some(unheld.indices.source()),
        }
    }
}

impl Near<'_> {
    /// The place that one of the tuples names.
    #[inline]
    pub fn get(&self, tuple: usize) -> usize {
        match self {
            Self::Held(held) => held.get(tuple),
            Self::Read { first, places } => places[tuple - first] as usize,
        }
    }
}

impl Held {
    /// The places of numbers in memory.
    ///
    /// # Errors
    /// A number that names no place.
    pub(in crate::ops) fn of_numbers(numbers: &Numbers, words: &[impl super::Index]) -> Result<Self> {
        if numbers.width() == 0 {
            return Ok(Self::of(vec![Part::OnlyPlace]));
        }
        let mut places = Vec::new();
        numbers.resolve_words(words, |word| word, 0, &mut places)?;
        Ok(Self::of(vec![Part::Large(places)]))
    }

    fn of(parts: Vec<Part>) -> Self {
        let mut start = 0;
        let starts = parts.iter().map(|part| {
            let here = start;
            start += match part {
                Part::Small(places) => places.len(),
                Part::Large(places) => places.len(),
                Part::OnlyPlace => 0,
            };
            here
        });
        let starts = starts.collect();
        Self { parts, starts }
    }

    /// The place that index tuple number `tuple` names; of tuples of no number the one place there is.
    #[inline]
    pub(in crate::ops) fn get(&self, tuple: usize) -> usize {
        let part = self.starts.partition_point(|&start| start <= tuple) - 1;
        let at = tuple - self.starts[part];
        match &self.parts[part] {
            Part::Small(places) => places[at] as usize,
            Part::Large(places) => places[at] as usize,
            Part::OnlyPlace => 0,
        }
    }
}
