//! The listed mismatches: the first in C order, or those with the largest errors.

use crate::diff::numbers::distance::Number;
use crate::diff::numbers::rule::PairRule;
use tensorop_kernels::item::first::Numbered;
use tensorop_kernels::memory::{self, OutOfMemory};

/// Up to twice as many mismatches as listed, plus this number, are kept between sorts.
const SPARE: usize = 64;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FoundMismatch {
    /// The flat index in C order.
    pub item: usize,
    pub expected: Vec<u8>,
    pub actual: Vec<u8>,
    /// `None` if an item is not a finite number.
    pub errors: Option<MismatchErrors>,
}

#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
enum Apart {
    Finite(Number),
    /// Sorts above finite distances. All pairs count as this if the first mismatches are listed.
    NotFinite,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct MismatchErrors {
    pub abs: Number,
    /// `None` if only the expected item is 0.
    pub rel: Option<f64>,
    pub ulp: u64,
}

/// The mismatches with the largest distances, NaN and infinity first. Ties, and all mismatches if the first are listed,
/// are in C order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ListedMismatches {
    found: Vec<FoundMismatch>,
    least: Option<Numbered<Apart>>,
}

fn apart(item: usize, distance: Option<Number>, rule: &PairRule) -> Numbered<Apart> {
    let finite = distance.filter(|distance| rule.lists_worst && distance.up().is_finite());
    Numbered { value: finite.map_or(Apart::NotFinite, Apart::Finite), item }
}

impl ListedMismatches {
    pub(crate) fn len(&self) -> usize {
        self.found.len()
    }

    /// The flat indices of the mismatches begin at `lowest`.
    pub(crate) fn may_take(&self, lowest: usize, rule: &PairRule, any_above: impl Fn(Number) -> bool) -> bool {
        match self.least {
            None => rule.listed > 0,
            Some(Numbered { value: Apart::NotFinite, item }) => lowest < item,
            Some(Numbered { value: Apart::Finite(value), item }) => {
                Numbered { value, item }.exceeded(lowest, Number::below).is_none_or(any_above)
            }
        }
    }

    pub(crate) fn takes(&self, item: usize, distance: Option<Number>, rule: &PairRule) -> bool {
        self.least.map_or(rule.listed > 0, |least| apart(item, distance, rule).precedes(&least, |apart| *apart))
    }

    pub(crate) fn put(&mut self, found: FoundMismatch, rule: &PairRule) -> Result<(), OutOfMemory> {
        memory::push(&mut self.found, found)?;
        // Mismatches mostly arrive in C order.
        let spare = if rule.lists_worst { rule.listed.saturating_add(SPARE) } else { 0 };
        if self.found.len() >= rule.listed.saturating_add(spare) {
            self.sort(rule);
        }
        Ok(())
    }

    pub(crate) fn merge(&mut self, other: Self, rule: &PairRule) -> Result<(), OutOfMemory> {
        memory::reserve(&mut self.found, other.found.len())?;
        self.found.extend(other.found);
        self.sort(rule);
        Ok(())
    }

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

    pub(crate) fn iter(&self) -> impl Iterator<Item = &FoundMismatch> {
        self.found.iter()
    }
}
