//! Mismatches that are listed: the first in C order, or those that are farthest apart.

use super::distance::Number;
use super::rule::PairRule;
use crate::item::first::Numbered;
use crate::memory::{self, OutOfMemory};

/// More of the worst mismatches are kept than are wanted, so that they are sorted seldom: twice as many and these.
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

/// How far apart two items are, as far as that matters to what is listed.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
enum Apart {
    Finite(Number),
    /// They are infinitely far, or not finite: farther than all that are. All are where the first mismatches are listed.
    NotFinite,
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
/// in C order counts as the larger; where the first are listed, that alone counts.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ListedMismatches {
    found: Vec<FoundMismatch>,
    /// The least of them, once there are enough.
    least: Option<Numbered<Apart>>,
}

/// Returns what decides whether a mismatch is listed.
fn apart(item: usize, distance: Option<Number>, rule: &PairRule) -> Numbered<Apart> {
    let finite = distance.filter(|distance| rule.lists_worst && distance.up().is_finite());
    Numbered { value: finite.map_or(Apart::NotFinite, Apart::Finite), item }
}

impl ListedMismatches {
    /// Returns how many are kept.
    pub(super) fn len(&self) -> usize {
        self.found.len()
    }

    /// Returns whether one of some mismatches may be listed, whose items have no number below `lowest`. `any_above` returns
    /// whether any of them may be farther apart.
    pub(super) fn may_take(&self, lowest: usize, rule: &PairRule, any_above: impl Fn(Number) -> bool) -> bool {
        match self.least {
            None => rule.listed > 0,
            Some(Numbered { value: Apart::NotFinite, item }) => lowest < item,
            Some(Numbered { value: Apart::Finite(value), item }) => {
                Numbered { value, item }.exceeded(lowest, Number::below).is_none_or(any_above)
            }
        }
    }

    /// Returns whether a mismatch of item number `item` is to be listed so far.
    pub(super) fn takes(&self, item: usize, distance: Option<Number>, rule: &PairRule) -> bool {
        self.least.map_or(rule.listed > 0, |least| apart(item, distance, rule).precedes(&least, |apart| *apart))
    }

    /// Keeps a mismatch.
    ///
    /// # Errors
    /// There is no memory for it.
    pub(super) fn put(&mut self, found: FoundMismatch, rule: &PairRule) -> Result<(), OutOfMemory> {
        memory::push(&mut self.found, found)?;
        // mismatches come in order as a rule, so that the first are known once there are enough
        let spare = if rule.lists_worst { rule.listed.saturating_add(SPARE) } else { 0 };
        if self.found.len() >= rule.listed.saturating_add(spare) {
            self.sort(rule);
        }
        Ok(())
    }

    /// Adds the mismatches of other items.
    ///
    /// # Errors
    /// There is no memory for them.
    pub(super) fn merge(&mut self, other: Self, rule: &PairRule) -> Result<(), OutOfMemory> {
        memory::reserve(&mut self.found, other.found.len())?;
        self.found.extend(other.found);
        self.sort(rule);
        Ok(())
    }

    /// Leaves the mismatches that are to be listed, in that order.
    fn sort(&mut self, rule: &PairRule) {
        let apart = |found: &FoundMismatch| apart(found.item, found.errors.map(|errors| errors.abs), rule);
        self.found.sort_by(|one, other| {
            let [one, other] = [one, other].map(apart);
            let by_distance = other.value.partial_cmp(&one.value).expect("distances are not NaN");
            by_distance.then(one.item.cmp(&other.item))
        });
        self.found.truncate(rule.listed);
        if self.found.len() == rule.listed {
            self.least = self.found.last().map(apart);
        }
    }

    /// Iterates over the kept mismatches in their order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &FoundMismatch> {
        self.found.iter()
    }
}
