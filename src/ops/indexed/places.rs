//! Places in the order of the index tuples that name them: what a gather needs, where a scatter groups by place.

use super::Numbers;
use super::groups::Word;
use super::targets::Pairs;
use crate::error::{Error, Result, Subject};
use crate::memory;

/// For each index tuple the place that it names; of 4 bytes where places are few enough, else of 8.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Places {
    /// Fewer than 2^32 places.
    Small(Vec<u32>),
    /// More.
    Large(Vec<u64>),
    /// Tuples of no number, so many: all name the one place there is.
    One(usize),
}

impl Places {
    /// The places of all numbers that were taken.
    pub(super) fn new(numbers: Numbers) -> Result<Self> {
        let count = numbers.count();
        if numbers.width() == 0 {
            return Ok(Self::One(count));
        }
        let refuse = |why| Error::new(Subject::Indices, why);
        let (mut small, mut large) = (Vec::new(), Vec::new());
        for part in numbers.targets {
            // a part is dropped when it has been read, so that no more than one is held twice
            match part.pairs {
                Pairs::Small(pairs) => {
                    memory::reserve(&mut small, pairs.len()).map_err(refuse)?;
                    small.extend(pairs.into_iter().map(|pair| pair.target() as u32));
                }
                Pairs::Large(pairs) => {
                    memory::reserve(&mut large, pairs.len()).map_err(refuse)?;
                    large.extend(pairs.into_iter().map(|pair| pair.target() as u64));
                }
            }
        }
        Ok(if large.is_empty() { Self::Small(small) } else { Self::Large(large) })
    }

    /// The place that index tuple number `tuple` names.
    pub fn get(&self, tuple: usize) -> usize {
        match self {
            Self::Small(places) => places[tuple] as usize,
            Self::Large(places) => places[tuple] as usize,
            Self::One(_) => 0,
        }
    }
}
