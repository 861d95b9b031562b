//! The differences between two tensors, collected window by window. Each thread has a tally, and the tallies are merged
//! at the end. The result does not depend on the distribution of windows: maxima keep the first item, and the first
//! mismatches in C order are chosen after merging.

use std::array;
use std::cell::OnceCell;
use std::ops::Range;

use super::places::{FoundMismatch, ListedMismatches, MismatchErrors, WindowMarks};
use crate::diff::numbers::distance::{Number, PairRule, below_float};
use crate::diff::numbers::kernel::{
    BLOCK, BlockSurvey, PairBits, PairError, PairFacts, PairMasks, Rows, Thresholds, count_ones, is_set, set_pairs,
};
use crate::diff::numbers::reading::{Comparability, NumberReading};
use crate::diff::numbers::walk::Walk;
use tensorop_kernels::item::first::{Numbered, keep_first};
use tensorop_kernels::memory::{self, OutOfMemory};

/// Larger mismatches are probed for memory one by one: a failed allocation would abort the process.
const LONG: usize = 1 << 12;
/// Smaller mismatches are probed in groups, because probing each would double the allocations.
const OFTEN: usize = 1 << 10;

/// Pairs that are surveyed alone while there are no maxima; hardly any later pair exceeds them. Models of tensors with
/// some hundred items take four fifths of the time.
const FIRST: usize = 32;

/// Adjacent little-endian items of both tensors before conversion.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StoredItems<'a> {
    /// In the order of the walk.
    pub start: usize,
    pub widths: [usize; 2],
    pub rows: Rows<'a>,
}

impl<'a> StoredItems<'a> {
    pub(crate) fn new(start: usize, widths: [usize; 2], [expected, actual]: [&'a [u8]; 2]) -> Self {
        Self { start, widths, rows: Rows { expected, actual } }
    }

    pub(crate) fn len(self) -> usize {
        let [expected, actual] = self.widths;
        let items = self.rows.expected.len().checked_div(expected);
        items.unwrap_or_else(|| self.rows.actual.len().checked_div(actual).expect("items of either side have bytes"))
    }

    pub(crate) fn part(self, items: Range<usize>) -> Self {
        let part = |bytes: &'a [u8], width: usize| &bytes[items.start * width..items.end * width];
        let [expected, actual] = self.widths;
        let rows = Rows { expected: part(self.rows.expected, expected), actual: part(self.rows.actual, actual) };
        Self { start: self.start + items.start, rows, ..self }
    }

    pub(crate) fn places(self) -> Range<usize> {
        self.start..self.start + self.len()
    }

    pub(crate) fn blocks(self) -> impl Iterator<Item = Self> {
        let items = self.len();
        let mut first = 0;
        std::iter::from_fn(move || {
            let count = (BLOCK - (self.start + first) % BLOCK).min(items - first);
            let part = (count > 0).then(|| self.part(first..first + count));
            first += count;
            part
        })
    }
}

#[derive(Clone, Copy)]
pub(crate) struct NumberRule<'a> {
    pub rule: &'a PairRule,
    pub reading: &'a NumberReading,
}

impl NumberRule<'_> {
    /// Clears `steps` if they are not limited.
    pub(crate) fn fill_limited_steps(self, pairs: NumberPairs<'_>, steps: &mut Vec<u64>) {
        match self.rule.ulp {
            Some(_) => self.reading.steps.fill(self.reading.kernel(), pairs.stored.rows, pairs.rows, steps),
            None => steps.clear(),
        }
    }
}

#[derive(Clone, Copy)]
pub(crate) struct NumberPairs<'a> {
    pub stored: StoredItems<'a>,
    pub rows: Rows<'a>,
}

impl NumberPairs<'_> {
    /// `size` is the itemsize after conversion.
    fn part(self, items: Range<usize>, size: usize) -> Self {
        let compared = StoredItems { widths: [size; 2], rows: self.rows, ..self.stored };
        Self { rows: compared.part(items.clone()).rows, stored: self.stored.part(items) }
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct DifferenceTally {
    pub max_abs: Option<Numbered<Number>>,
    pub max_rel: Option<Numbered<f64>>,
    pub max_ulp: Option<Numbered<u64>>,
    /// The smallest relative tolerance that accepts all items; infinite if none does.
    pub rtol: f64,
    /// Set if a pair differs by NaN or infinity or is not a number.
    pub has_non_finite_mismatch: bool,
    pub differing: usize,
    pub mismatches: usize,
    pub nonfinite_mismatches: usize,
    pub first_nonfinite: Option<usize>,
    pub listed: ListedMismatches,
    pub out_of_memory: Option<OutOfMemory>,
}

impl DifferenceTally {
    pub(crate) fn merge(&mut self, other: Self, rule: &PairRule) {
        keep_first(&mut self.max_abs, other.max_abs, |value| *value);
        keep_first(&mut self.max_rel, other.max_rel, |value| *value);
        keep_first(&mut self.max_ulp, other.max_ulp, |value| *value);
        self.rtol = self.rtol.max(other.rtol);
        self.has_non_finite_mismatch |= other.has_non_finite_mismatch;
        self.differing += other.differing;
        self.mismatches += other.mismatches;
        self.count_nonfinite(other.nonfinite_mismatches, other.first_nonfinite);
        if let Err(refused) = self.listed.merge(other.listed, rule) {
            self.out_of_memory = Some(refused);
        }
    }

    /// Whether equal items from number `start` on cannot change maxima.
    pub(crate) fn has_maxima(&self, start: usize) -> bool {
        self.max_abs.is_some_and(|most| most.item <= start || !most.value.is_zero())
            && self.max_rel.is_some_and(|most| most.item <= start || most.value > 0.0)
    }

    /// After the first blocks hardly any pair raises a maximum or is listed; only those are visited one by one.
    pub(crate) fn look_at(
        &mut self,
        how: NumberRule<'_>,
        walk: &Walk,
        pairs: NumberPairs<'_>,
        marks: &mut WindowMarks<'_>,
        steps: &mut Vec<u64>,
    ) {
        let (NumberRule { rule, reading }, NumberPairs { stored, rows }) = (how, pairs);
        let (kernel, lowest) = (reading.kernel(), walk.lowest(stored.places()));
        if reading.is_one_dtype && self.has_maxima(lowest) && stored.rows.expected == stored.rows.actual {
            return;
        }
        // of equal pairs the first has the maxima, unless it is NaN
        let first = if stored.rows.expected == stored.rows.actual { 1 } else { FIRST };
        if self.max_abs.is_none() && stored.start.is_multiple_of(BLOCK) && stored.len() > first {
            for part in [0..first, first..stored.len()] {
                self.look_at(how, walk, pairs.part(part, kernel.size()), marks, steps);
            }
            return;
        }
        let BlockSurvey { new, differing } = self.survey(reading, pairs, lowest, steps);
        let are_finite = count_ones(&new) == 0;
        how.fill_limited_steps(pairs, steps);
        let masks = OnceCell::new();
        let (differing, mismatches) = match (are_finite, rule.is_tolerant()) {
            (true, false) => (differing, differing),
            (true, true) => (differing, kernel.failures(rule, rows, steps)),
            (false, _) => {
                let PairMasks { differ, fail } = masks.get_or_init(|| kernel.masks(rule, rows, steps, false));
                (count_ones(differ), count_ones(fail))
            }
        };
        self.differing += differing;
        self.mismatches += mismatches;
        // Non-finite pairs sort above finite distances.
        let any_above = |distance| !are_finite || kernel.any_above(distance, rows);
        let may_list = mismatches > 0 && self.listed.may_take(lowest, rule, any_above);
        if may_list || !are_finite {
            let PairMasks { differ, fail } = masks.get_or_init(|| kernel.masks(rule, rows, steps, are_finite));
            reading.steps.fill(kernel, stored.rows, rows, steps);
            let of_interest = if may_list { array::from_fn(|word| new[word] | fail[word]) } else { new };
            for n in set_pairs(&of_interest).take_while(|n| *n < stored.len()) {
                let (item, facts) = (walk.number(stored.start + n), kernel.facts(rows, n));
                let errors = self.maxima(item, &facts, steps.get(n).copied(), is_set(differ, n));
                if errors.is_none() && is_set(fail, n) {
                    self.count_nonfinite(1, Some(item));
                }
                if may_list && is_set(fail, n) {
                    self.list(rule, StoredItems { start: item, ..stored.part(n..n + 1) }, errors);
                }
            }
        }
        marks.mark(stored.places(), mismatches, &|| {
            masks.get_or_init(|| kernel.masks(rule, rows, steps, are_finite)).fail
        });
    }

    /// Finds pairs that may raise a maximum, or differ and are not finite. If `lowest` precedes a maximum in C order,
    /// an equal error counts too.
    fn survey(
        &self,
        reading: &NumberReading,
        pairs: NumberPairs<'_>,
        lowest: usize,
        steps: &mut Vec<u64>,
    ) -> BlockSurvey {
        let (kernel, NumberPairs { stored, rows }) = (reading.kernel(), pairs);
        let max_ulp = self.max_ulp.and_then(|most| most.exceeded(lowest, |steps| steps.checked_sub(1)));
        let thresholds = || {
            let max_abs = self.max_abs?.exceeded(lowest, Number::below)?.at_most_finite();
            let max_rel = self.max_rel.map(|most| most.exceeded(lowest, below_float).ok_or(())).transpose().ok()?;
            let is_known = max_ulp.is_some() || !reading.steps.are_counted();
            is_known.then_some(Thresholds { max_abs, max_rel, rtol: self.rtol })
        };
        // Without thresholds every pair counts.
        let all = BlockSurvey { new: [u64::MAX; BLOCK / 64], differing: 0 };
        let Some(thresholds) = thresholds() else { return all };
        let mut found = kernel.survey(&thresholds, rows);
        if let Some(most) = max_ulp.filter(|most| reading.steps.any_above(stored.rows, *most)) {
            reading.steps.fill(kernel, stored.rows, rows, steps);
            for (word, steps) in found.new.iter_mut().zip(steps.chunks(64)) {
                *word |= steps.iter().rev().fold(0, |bits, steps| bits << 1 | u64::from(*steps > most));
            }
        }
        found
    }

    fn maxima(&mut self, item: usize, facts: &PairFacts, steps: Option<u64>, differs: bool) -> Option<MismatchErrors> {
        let Some(PairError { distance, size }) = facts.error else {
            self.has_non_finite_mismatch |= differs && !facts.equals;
            return None;
        };
        let near = distance.near();
        let rel = if near == 0.0 { Some(0.0) } else { (size > 0.0).then(|| near / size) };
        keep_first(&mut self.max_abs, Some(Numbered { value: distance, item }), |value| *value);
        keep_first(&mut self.max_ulp, steps.map(|value| Numbered { value, item }), |value| *value);
        keep_first(&mut self.max_rel, rel.map(|value| Numbered { value, item }), |value| *value);
        if differs && distance.up() > self.rtol * size {
            self.rtol = least_rtol(distance.up(), size).unwrap_or(f64::INFINITY);
        }
        Some(MismatchErrors { abs: distance, rel, ulp: steps.unwrap_or(0) })
    }

    fn count_nonfinite(&mut self, count: usize, first: Option<usize>) {
        self.nonfinite_mismatches += count;
        self.first_nonfinite = self.first_nonfinite.into_iter().chain(first).min();
    }

    fn list(&mut self, rule: &PairRule, stored: StoredItems<'_>, errors: Option<MismatchErrors>) {
        let StoredItems { start: item, rows: Rows { expected, actual }, .. } = stored;
        if !self.listed.takes(item, errors.map(|errors| errors.abs), rule) || self.out_of_memory.is_some() {
            return;
        }
        // Estimated bytes of allocations; for a group, of all its mismatches in several threads.
        let each = expected.len().saturating_add(actual.len()).saturating_add(256);
        let many = each <= LONG && self.listed.len().is_multiple_of(OFTEN);
        let bytes = if many { each * OFTEN * 16 } else { each };
        let probe = if many || each > LONG { memory::with_capacity::<u8>(bytes).map(drop) } else { Ok(()) };
        let found = || FoundMismatch { item, expected: expected.to_vec(), actual: actual.to_vec(), errors };
        if let Err(refused) = probe.and_then(|()| self.listed.put(found(), rule)) {
            self.out_of_memory = Some(refused);
        }
    }

    pub(crate) fn look_at_opaque(
        &mut self,
        rule: &PairRule,
        how: &Comparability,
        stored: StoredItems<'_>,
        marks: &mut WindowMarks<'_>,
    ) {
        let differ = opaque_bits(how, stored);
        let mismatches = count_ones(&differ);
        self.differing += mismatches;
        self.mismatches += mismatches;
        self.has_non_finite_mismatch |= mismatches > 0;
        for n in set_pairs(&differ) {
            if !self.listed.takes(stored.start, None, rule) {
                break;
            }
            self.list(rule, stored.part(n..n + 1), None);
        }
        marks.mark(stored.places(), mismatches, &|| differ);
    }
}

pub(crate) fn opaque_bits(how: &Comparability, stored: StoredItems<'_>) -> PairBits {
    let mut bits = PairBits::default();
    for (word, first) in bits.iter_mut().zip((0..stored.len()).step_by(64)) {
        let group = stored.part(first..stored.len().min(first + 64));
        if !matches!(how, Comparability::Bytes) || group.rows.expected != group.rows.actual {
            let differs = |n: usize| u64::from(!how.is_same(group.part(n..n + 1).rows)) << n;
            *word = (0..group.len()).map(differs).sum();
        }
    }
    bits
}

/// The smallest float64 q with `distance <= q * size` in float64 arithmetic.
///
/// A reported tolerance must pass exactly. The rounded quotient may not, so q is found by bisection of its bits, which
/// sort like positive floats.
pub(crate) fn least_rtol(distance: f64, size: f64) -> Option<f64> {
    let passes = |bits: u64| distance <= f64::from_bits(bits) * size;
    let (zero, most) = (0, f64::MAX.to_bits());
    if passes(zero) || !passes(most) {
        return passes(zero).then_some(0.0);
    }
    // q is within one step of the quotient unless the product is subnormal or overflows.
    let quotient = (distance / size).min(f64::MAX).to_bits();
    let (near, far) = (quotient.saturating_sub(2), (quotient + 2).min(most));
    let (mut fails, mut passing) = (if passes(near) { zero } else { near }, if passes(far) { far } else { most });
    while passing - fails > 1 {
        let middle = fails + (passing - fails) / 2;
        if passes(middle) { passing = middle } else { fails = middle }
    }
    Some(f64::from_bits(passing))
}
