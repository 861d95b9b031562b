//! The mismatches that are farthest apart.

use std::cmp::Ordering;

use super::distance::Distance;
use super::found::FoundMismatch;
use crate::memory;

/// More are kept than are wanted, so that they are sorted out seldom: up to twice as many and so many more.
const SPARE: usize = 64;

/// The mismatches of the largest differences, those of NaN and infinity first, and of two that are equal the one that
/// comes first.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Worst<D> {
    /// Each with its distance; `None` where there is none, or it is infinite.
    found: Vec<(Option<D>, FoundMismatch)>,
    /// The distance of the least of them, once there are enough: what is no farther apart, and later, is none of them.
    least: Option<Option<D>>,
}

impl<D> Default for Worst<D> {
    fn default() -> Self {
        Self { found: Vec::new(), least: None }
    }
}

impl<D: Distance> Worst<D> {
    /// How many are kept.
    pub(super) fn len(&self) -> usize {
        self.found.len()
    }

    /// Whether every mismatch is one of so many, and if not, the distance above which one is.
    pub(super) fn floor(&self, wanted: usize) -> (bool, D) {
        let floor = self.least.flatten().unwrap_or(D::ABOVE_ALL);
        (self.least.is_none() && wanted > 0, floor)
    }

    /// Whether a mismatch, later than all before, is one of so many.
    pub(super) fn takes(&self, distance: Option<D>, wanted: usize) -> bool {
        match (self.least, distance.filter(|distance| distance.up().is_finite())) {
            (None, _) => wanted > 0,
            (Some(Some(least)), Some(distance)) => distance > least,
            (Some(Some(_)), None) => true,
            (Some(None), _) => false,
        }
    }

    /// Keeps one.
    ///
    /// # Errors
    /// No memory for it.
    pub(super) fn put(&mut self, distance: Option<D>, found: FoundMismatch, wanted: usize) -> Result<(), String> {
        let distance = distance.filter(|distance| distance.up().is_finite());
        memory::push(&mut self.found, (distance, found))?;
        if self.found.len() >= wanted.saturating_mul(2).saturating_add(SPARE) {
            self.sort(wanted);
        }
        Ok(())
    }

    /// Puts those of other items to it.
    ///
    /// # Errors
    /// No memory for them.
    pub(super) fn merge(&mut self, other: Self, wanted: usize) -> Result<(), String> {
        memory::reserve(&mut self.found, other.found.len())?;
        self.found.extend(other.found);
        self.sort(wanted);
        Ok(())
    }

    /// So many of them, the worst first.
    pub(super) fn sort(&mut self, wanted: usize) {
        let order = |(one, a): &(Option<D>, FoundMismatch), (other, b): &(Option<D>, FoundMismatch)| {
            let by_distance = match (one, other) {
                (None, None) => Ordering::Equal,
                (None, Some(_)) => Ordering::Less,
                (Some(_), None) => Ordering::Greater,
                (Some(one), Some(other)) => other.partial_cmp(one).unwrap_or(Ordering::Equal),
            };
            by_distance.then(a.item.cmp(&b.item))
        };
        self.found.sort_unstable_by(order);
        self.found.truncate(wanted);
        if self.found.len() == wanted {
            self.least = self.found.last().map(|(distance, _)| *distance);
        }
    }

    /// They, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &FoundMismatch> {
        self.found.iter().map(|(_, found)| found)
    }
}
