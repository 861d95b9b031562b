//! Mismatches that are listed, and the choice of those that are farthest apart.

use super::distance::Number;
use crate::item::first::Numbered;
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
    /// Returns how far apart the items are, and their number.
    fn apart(&self) -> Numbered<Apart> {
        Numbered { value: Apart::new(self.errors.map(|errors| errors.abs)), item: self.item }
    }
}

/// How far apart two items are.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
enum Apart {
    Finite(Number),
    /// They are infinitely far, or not finite: farther than all that are.
    NotFinite,
}

impl Apart {
    fn new(distance: Option<Number>) -> Self {
        distance.filter(|distance| distance.up().is_finite()).map_or(Self::NotFinite, Self::Finite)
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
    least: Option<Numbered<Apart>>,
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
    pub(super) fn floor(&self) -> Option<Numbered<Number>> {
        let Numbered { value: Apart::Finite(value), item } = self.least? else { return None };
        Some(Numbered { value, item })
    }

    /// Returns whether a mismatch of item number `item` is one of the `wanted` worst so far.
    pub(super) fn takes(&self, item: usize, distance: Option<Number>, wanted: usize) -> bool {
        let apart = Numbered { value: Apart::new(distance), item };
        self.least.map_or(wanted > 0, |least| apart.precedes(&least, |apart| *apart))
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
        self.found.sort_by(|one, other| {
            let [one, other] = [one.apart(), other.apart()];
            let by_distance = other.value.partial_cmp(&one.value).expect("distances are not NaN");
            by_distance.then(one.item.cmp(&other.item))
        });
        self.found.truncate(wanted);
        if self.found.len() == wanted {
            self.least = self.found.last().map(FoundMismatch::apart);
        }
    }

    /// Iterates over the kept mismatches, the largest distance first.
    pub(super) fn iter(&self) -> impl Iterator<Item = &FoundMismatch> {
        self.found.iter()
    }
}
