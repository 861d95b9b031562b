//! Mismatches that are listed, and the choice of those that are farthest apart.

use std::cmp::Ordering;

use super::distance::Number;
use super::most::Most;
use crate::memory::{self, OutOfMemory};

/// More mismatches are kept than are wanted, so that they are sorted seldom: twice as many and these.
const SPARE: usize = 64;

/// A mismatch to be listed, whose items are still bytes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct FoundMismatch {
    /// The number of the item in C order.
    pub item: usize,
    pub expected: Vec<u8>,
    pub actual: Vec<u8>,
    /// `None` if either item is NaN, infinite or no number.
    pub errors: Option<MismatchErrors>,
}

impl FoundMismatch {
    /// Returns how far apart the items are; `None` if they are not finite, or infinitely far.
    fn distance(&self) -> Option<Number> {
        finite(self.errors.map(|errors| errors.abs))
    }
}

/// How far apart two finite items are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct MismatchErrors {
    pub abs: Number,
    /// `None` if zero was expected and the actual item is not zero.
    pub rel: Option<f64>,
    pub ulp: u64,
}

/// The mismatches with the largest distances, those of NaN and infinity first. If two are equal, the one that comes first
/// in C order counts as the larger.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct WorstMismatches {
    found: Vec<FoundMismatch>,
    /// The least of them, once there are enough.
    least: Option<LeastMismatch>,
}

/// The least of the mismatches that are listed.
#[derive(Clone, Copy, Debug, PartialEq)]
struct LeastMismatch {
    /// The number of the item in C order.
    item: usize,
    /// `None` if it is not finite.
    distance: Option<Number>,
}

impl WorstMismatches {
    /// Returns how many are kept.
    pub(super) fn len(&self) -> usize {
        self.found.len()
    }

    /// Returns whether every mismatch is one of the `wanted` worst, because fewer were found so far.
    pub(super) fn takes_all(&self, wanted: usize) -> bool {
        wanted > 0 && self.least.is_none()
    }

    /// Returns the distance of the least of them and the number of its item, once there are enough; `None` if no finite
    /// distance is enough or nothing is known.
    pub(super) fn floor(&self) -> Option<Most<Number>> {
        let LeastMismatch { item, distance } = self.least?;
        distance.map(|value| Most { value, item })
    }

    /// Returns whether a mismatch of item number `item` is one of the `wanted` worst so far.
    pub(super) fn takes(&self, item: usize, distance: Option<Number>, wanted: usize) -> bool {
        let Some(least) = self.least else { return wanted > 0 };
        match (least.distance, finite(distance)) {
            (Some(least_distance), Some(distance)) => {
                distance > least_distance || distance == least_distance && item < least.item
            }
            (Some(_), None) => true,
            (None, Some(_)) => false,
            (None, None) => item < least.item,
        }
    }

    /// Keeps a mismatch.
    ///
    /// # Errors
    /// There is no memory for it.
    pub(super) fn put(&mut self, found: FoundMismatch, wanted: usize) -> Result<(), OutOfMemory> {
        memory::push(&mut self.found, found)?;
        if self.found.len() >= wanted.saturating_mul(2).saturating_add(SPARE) {
            self.sort(wanted);
        }
        Ok(())
    }

    /// Adds the mismatches of other items.
    ///
    /// # Errors
    /// There is no memory for them.
    pub(super) fn merge(&mut self, other: Self, wanted: usize) -> Result<(), OutOfMemory> {
        memory::reserve(&mut self.found, other.found.len())?;
        self.found.extend(other.found);
        self.sort(wanted);
        Ok(())
    }

    /// Leaves the `wanted` worst mismatches, the worst first.
    fn sort(&mut self, wanted: usize) {
        self.found.sort_by(|a, b| {
            let by_distance = match (a.distance(), b.distance()) {
                (None, None) => Ordering::Equal,
                (None, Some(_)) => Ordering::Less,
                (Some(_), None) => Ordering::Greater,
                (Some(one), Some(other)) => other.partial_cmp(&one).expect("distances are not NaN"),
            };
            by_distance.then(a.item.cmp(&b.item))
        });
        self.found.truncate(wanted);
        if self.found.len() == wanted {
            self.least = self.found.last().map(|last| LeastMismatch { item: last.item, distance: last.distance() });
        }
    }

    /// Iterates over the kept mismatches, the largest distance first.
    pub(super) fn iter(&self) -> impl Iterator<Item = &FoundMismatch> {
        self.found.iter()
    }
}

fn finite(distance: Option<Number>) -> Option<Number> {
    distance.filter(|distance| distance.up().is_finite())
}
