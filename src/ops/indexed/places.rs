//! Places in the order of the index tuples that name them: what a gather needs, where a scatter groups by place.

use super::Numbers;
use super::read::{Collect, collect};
use crate::error::{Error, Result, Subject};
use crate::memory;
use crate::ops::fill::Limits;
use crate::storage::source::Source;

/// For each index tuple the place that it names; of 4 bytes where places are few enough, else of 8. Each part is what one
/// thread has read, all but the last of them of the same number of tuples or one more.
#[derive(Clone, Debug)]
pub struct Places {
    parts: Vec<Part>,
    /// Where each part begins.
    starts: Vec<usize>,
}

#[derive(Clone, Debug)]
enum Part {
    Small(Vec<u32>),
    Large(Vec<u64>),
}

impl Collect for Part {
    fn take(&mut self, _: usize, places: &[u64]) -> Result<()> {
        // there is room: `Places::new` made it
        match self {
            Part::Small(small) => small.extend(places.iter().map(|&place| place as u32)),
            Part::Large(large) => large.extend_from_slice(places),
        }
        Ok(())
    }
}

impl Places {
    /// The places that all tuples of an index tensor name.
    ///
    /// # Errors
    /// A number that names no place; of reading; not enough memory.
    pub fn new(indices: &Source, numbers: &Numbers, limits: Limits) -> Result<Self> {
        let small = u32::try_from(numbers.places()).is_ok();
        let refuse = |why| Error::new(Subject::Indices, why);
        let parts = collect(indices, numbers, limits, |tuples| {
            Ok(match small {
                true => Part::Small(memory::of(tuples).map_err(refuse)?),
                false => Part::Large(memory::of(tuples).map_err(refuse)?),
            })
        })?;
        Ok(Self::of(parts))
    }

    /// The places of numbers in memory.
    ///
    /// # Errors
    /// A number that names no place.
    pub(in crate::ops) fn of_numbers(numbers: &Numbers, words: &[impl super::Index]) -> Result<Self> {
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
            };
            here
        });
        let starts = starts.collect();
        Self { parts, starts }
    }

    /// The place that index tuple number `tuple` names; of tuples of no number the one place there is.
    pub fn get(&self, tuple: usize) -> usize {
        let part = self.starts.partition_point(|&start| start <= tuple).saturating_sub(1);
        let (Some(part), Some(&start)) = (self.parts.get(part), self.starts.get(part)) else { return 0 };
        match part {
            Part::Small(places) => places.get(tuple - start).map_or(0, |&place| place as usize),
            Part::Large(places) => places.get(tuple - start).map_or(0, |&place| place as usize),
        }
    }
}
