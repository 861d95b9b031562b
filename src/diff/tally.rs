//! What is known of the differences between two tensors, gathered window by window.
//!
//! Each thread has a tally of its own, and the tallies are merged at the end. The result must not depend on which thread
//! had which window: so every maximum keeps the number of the first item that has it, counts are added, and the first
//! mismatches in C order are chosen when all are there.

use std::ops::Range;

use super::distance::{Number, below_float};
use super::kernel::{BlockCounts, PairError, PairFacts, Rows, Thresholds, mark_different};
use super::places::{AxisMarks, FirstAxisRuns};
use super::reading::{Comparability, NumberReading};
use super::rule::PairRule;
use super::walk::Walk;
use super::worst::{FoundMismatch, MismatchErrors, WorstMismatches};
use crate::item::first::{Numbered, keep_first};
use crate::memory::{self, OutOfMemory};

/// Bytes of the items of a block. A block is first counted as a whole, and looked at pair by pair only if it may change
/// anything but counts, for which a small block is less work; 2 KiB of either tensor are 256 items of 8 bytes, over
/// which a vectorised loop spreads what it costs to begin.
const BLOCK: usize = 2048;

/// Items that are compared as bytes before each is asked whether it fails.
const GROUP: usize = 32;

/// Whether there is memory is asked for each listed mismatch of more bytes than this. The user says how many are listed,
/// and the file how long an item is; a failed allocation would end the process, so an allocation that may fail is tried
/// first.
const LONG: usize = 1 << 12;
/// For shorter mismatches this many are asked about at once, since asking for each would double the allocations.
const OFTEN: usize = 1 << 10;

/// Neighbouring items of both tensors as they are stored (little-endian), before they are converted to the type that they
/// are compared as.
#[derive(Clone, Copy, Debug)]
pub(super) struct StoredItems<'a> {
    /// The place of the first item in the order in which items are compared.
    pub start: usize,
    /// The bytes of an expected item, and of an actual one.
    pub widths: [usize; 2],
    pub rows: Rows<'a>,
}

impl<'a> StoredItems<'a> {
    /// The items of a window of the expected and the actual tensor.
    pub(super) fn new(start: usize, widths: [usize; 2], [expected, actual]: [&'a [u8]; 2]) -> Self {
        Self { start, widths, rows: Rows { expected, actual } }
    }

    /// Returns how many items there are of either tensor.
    pub(super) fn len(self) -> usize {
        let [expected, actual] = self.widths;
        let items = self.rows.expected.len().checked_div(expected);
        items.unwrap_or_else(|| self.rows.actual.len().checked_div(actual).expect("items of either side have bytes"))
    }

    /// Returns a part of the items, numbered from the first of these.
    pub(super) fn part(self, items: Range<usize>) -> Self {
        let part = |bytes: &'a [u8], width: usize| &bytes[items.start * width..items.end * width];
        let [expected, actual] = self.widths;
        let rows = Rows { expected: part(self.rows.expected, expected), actual: part(self.rows.actual, actual) };
        Self { start: self.start + items.start, rows, ..self }
    }

    /// Divides the items into parts that begin at multiples of `most`.
    pub(super) fn chunks(self, most: usize) -> impl Iterator<Item = Self> {
        let items = self.len();
        let mut first = 0;
        std::iter::from_fn(move || {
            let count = (most - (self.start + first) % most).min(items - first);
            let part = (count > 0).then(|| self.part(first..first + count));
            first += count;
            part
        })
    }
}

/// When pairs of numbers pass, and how they become numbers of one type.
#[derive(Clone, Copy)]
pub(super) struct NumberRule<'a> {
    pub rule: &'a PairRule,
    pub reading: &'a NumberReading,
}

impl NumberRule<'_> {
    /// Makes `steps` the steps between the items of each pair if they are limited, else empty.
    fn fill_limited_steps(self, pairs: NumberPairs<'_>, steps: &mut Vec<u64>) {
        match self.rule.ulp {
            Some(_) => self.reading.steps.fill(self.reading.kernel(), pairs.stored.rows, pairs.rows, steps),
            None => steps.clear(),
        }
    }
}

/// Pairs of numbers, as they are stored and as they are compared.
#[derive(Clone, Copy)]
pub(super) struct NumberPairs<'a> {
    pub stored: StoredItems<'a>,
    pub rows: Rows<'a>,
}

impl NumberPairs<'_> {
    /// Returns some of the pairs, numbered from the first of these. An item that is compared has `size` bytes.
    fn part(self, items: Range<usize>, size: usize) -> Self {
        let bytes = items.start * size..items.end * size;
        let rows = Rows { expected: &self.rows.expected[bytes.clone()], actual: &self.rows.actual[bytes] };
        Self { stored: self.stored.part(items), rows }
    }
}

/// What is known of the items seen so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct DifferenceTally {
    pub max_abs: Option<Numbered<Number>>,
    pub max_rel: Option<Numbered<f64>>,
    pub max_ulp: Option<Numbered<u64>>,
    /// The smallest relative tolerance that alone accepts all items; infinite if none does.
    pub rtol: f64,
    /// Whether some pair differs by NaN or infinity (or is no number), so that no finite tolerance would accept it.
    pub has_non_finite_mismatch: bool,
    /// Pairs whose bits differ, and that are not both NaN.
    pub differing: usize,
    /// Those of them that fail.
    pub mismatches: usize,
    /// Those of them that are NaN, NaT or infinite on either side.
    pub nonfinite_mismatches: usize,
    /// The number in C order of the first of these.
    pub first_nonfinite: Option<usize>,
    /// The first mismatches, in order.
    pub first: Vec<FoundMismatch>,
    /// The mismatches that are farthest apart.
    pub worst: WorstMismatches,
    /// The error message if there was no memory for a mismatch.
    pub out_of_memory: Option<OutOfMemory>,
}

/// Memory that is used again for each block.
#[derive(Debug, Default)]
pub(super) struct TallyScratch {
    steps: Vec<u64>,
    facts: Vec<PairFacts>,
}

impl DifferenceTally {
    /// Adds what is known of other items.
    pub(super) fn merge(&mut self, other: Self, rule: &PairRule) {
        keep_first(&mut self.max_abs, other.max_abs, |value| *value);
        keep_first(&mut self.max_rel, other.max_rel, |value| *value);
        keep_first(&mut self.max_ulp, other.max_ulp, |value| *value);
        self.rtol = self.rtol.max(other.rtol);
        self.has_non_finite_mismatch |= other.has_non_finite_mismatch;
        self.differing += other.differing;
        self.mismatches += other.mismatches;
        self.count_nonfinite(other.nonfinite_mismatches, other.first_nonfinite);
        match memory::reserve(&mut self.first, other.first.len()) {
            Ok(()) => self.first.extend(other.first),
            Err(refused) => self.out_of_memory = Some(refused),
        }
        self.first.sort_by_key(|mismatch| mismatch.item);
        self.first.truncate(rule.shown);
        if let Err(refused) = self.worst.merge(other.worst, rule.worst) {
            self.out_of_memory = Some(refused);
        }
    }

    /// Returns whether equal items from number `start` on have nothing to add: they do only until there are maxima, or if
    /// they are the first without errors where no others have been seen.
    pub(super) fn has_maxima(&self, start: usize) -> bool {
        self.max_abs.is_some_and(|most| most.item <= start || !most.value.is_zero())
            && self.max_rel.is_some_and(|most| most.item <= start || most.value > 0.0)
    }

    /// Returns whether a mismatch of item number `item` is one of the first.
    fn lists(&self, item: usize, rule: &PairRule) -> bool {
        self.first.len() < rule.shown || self.first.last().is_some_and(|last| item < last.item)
    }

    /// Looks at pairs of numbers, which come in the order of a walk.
    pub(super) fn look_at(
        &mut self,
        how: NumberRule<'_>,
        walk: &Walk,
        pairs: NumberPairs<'_>,
        marks: &mut WindowMarks<'_>,
        scratch: &mut TallyScratch,
    ) {
        let NumberRule { rule, reading } = how;
        let (kernel, items) = (reading.kernel(), pairs.stored.len());
        let block = BLOCK / kernel.size();
        for first in (0..items).step_by(block) {
            let count = block.min(items - first);
            let pairs = pairs.part(first..first + count, kernel.size());
            let NumberPairs { stored, rows } = pairs;
            let lowest = walk.lowest(stored.start..stored.start + count);
            if reading.is_one_dtype && self.has_maxima(lowest) && stored.rows.expected == stored.rows.actual {
                continue;
            }
            let (before, counts) = (self.mismatches, self.count(how, pairs, lowest, &mut scratch.steps));
            // pairs that differ are finite where they could be counted, so that without a tolerance each of them fails
            let all_fail = counts.is_some() && reading.is_one_dtype && !rule.is_tolerant();
            if let Some(BlockCounts { differing, mismatches }) = counts {
                self.differing += differing;
                self.mismatches += mismatches;
            } else {
                reading.steps.fill(kernel, stored.rows, rows, &mut scratch.steps);
                kernel.facts(rule, rows, &scratch.steps, &mut scratch.facts);
                for (n, facts) in scratch.facts.iter().enumerate() {
                    let item = StoredItems { start: walk.number(stored.start + n), ..stored.part(n..n + 1) };
                    self.pair(rule, item, facts, scratch.steps.get(n).copied());
                }
            }
            marks.mark(stored.start..stored.start + count, self.mismatches - before, &mut |bits| match all_fail {
                true => {
                    bits.resize(count.div_ceil(64), 0);
                    mark_different(stored.widths[0], stored.rows, bits);
                }
                false => mark_failures(how, pairs, &mut scratch.steps, bits),
            });
        }
    }

    /// Counts what differs in a block; `None` if its pairs have to be looked at one by one. After the first blocks hardly
    /// any raises a maximum, so that this is all that is done with most. The item whose number is `lowest` may lie before
    /// others that have been seen: then a pair as far apart as the farthest counts, too, since the first of such pairs is
    /// told.
    fn count(
        &self,
        how: NumberRule<'_>,
        pairs: NumberPairs<'_>,
        lowest: usize,
        steps: &mut Vec<u64>,
    ) -> Option<BlockCounts> {
        let NumberRule { rule, reading } = how;
        let max_rel = self.max_rel.map(|most| most.exceeded(lowest, below_float).ok_or(()));
        let worst = self.worst.floor().map(|least| least.exceeded(lowest, Number::below).ok_or(()));
        let thresholds = Thresholds {
            max_abs: self.max_abs?.exceeded(lowest, Number::below)?.at_most_finite(),
            max_rel: max_rel.transpose().ok()?,
            rtol: self.rtol,
            lists_next: self.lists(lowest, rule) || self.worst.takes_all(rule.worst),
            worst: worst.transpose().ok()?,
        };
        let max_ulp = self.max_ulp.and_then(|most| most.exceeded(lowest, |steps| steps.checked_sub(1)));
        if reading.steps.any_above(pairs.stored.rows, max_ulp) {
            return None;
        }
        how.fill_limited_steps(pairs, steps);
        reading.kernel().count(&thresholds, rule, pairs.rows, steps)
    }

    /// Takes a pair into account, which is `steps` steps apart if steps have a meaning.
    fn pair(&mut self, rule: &PairRule, stored: StoredItems<'_>, facts: &PairFacts, steps: Option<u64>) {
        let errors = facts.error.map(|PairError { distance, size }| {
            let near = distance.near();
            let rel = if near == 0.0 { Some(0.0) } else { (size > 0.0).then(|| near / size) };
            let item = stored.start;
            keep_first(&mut self.max_abs, Some(Numbered { value: distance, item }), |value| *value);
            keep_first(&mut self.max_ulp, steps.map(|value| Numbered { value, item }), |value| *value);
            keep_first(&mut self.max_rel, rel.map(|value| Numbered { value, item }), |value| *value);
            if facts.differs && distance.up() > self.rtol * size {
                self.rtol = least_rtol(distance.up(), size).unwrap_or(f64::INFINITY);
            }
            MismatchErrors { abs: distance, rel, ulp: steps.unwrap_or(0) }
        });
        if facts.differs {
            self.differing += 1;
            self.has_non_finite_mismatch |= errors.is_none() && !facts.equals;
        }
        if facts.fails {
            if errors.is_none() {
                self.count_nonfinite(1, Some(stored.start));
            }
            self.mismatch(rule, stored, errors);
        }
    }

    /// Counts mismatches with an item that is not finite, of which `first` is the first in C order.
    fn count_nonfinite(&mut self, count: usize, first: Option<usize>) {
        self.nonfinite_mismatches += count;
        self.first_nonfinite = self.first_nonfinite.into_iter().chain(first).min();
    }

    /// Counts a mismatch, and keeps it if it is to be listed.
    fn mismatch(&mut self, rule: &PairRule, stored: StoredItems<'_>, errors: Option<MismatchErrors>) {
        let StoredItems { start: item, rows: Rows { expected, actual }, .. } = stored;
        self.mismatches += 1;
        let is_first = self.lists(item, rule);
        let distance = errors.map(|errors| errors.abs);
        if (is_first || self.worst.takes(item, distance, rule.worst)) && self.out_of_memory.is_none() {
            // the items and their allocations; now and then those of many mismatches, also of other threads
            let each = expected.len().saturating_add(actual.len()).saturating_add(256);
            let many = each <= LONG && (self.first.len() + self.worst.len()).is_multiple_of(OFTEN);
            let bytes = if many { each * OFTEN * 16 } else { each };
            let probe = if many || each > LONG { memory::of::<u8>(bytes).map(drop) } else { Ok(()) };
            let found = || FoundMismatch { item, expected: expected.to_vec(), actual: actual.to_vec(), errors };
            let kept = probe.and_then(|()| match is_first {
                true => self.put_first(found(), rule),
                false => self.worst.put(found(), rule.worst),
            });
            if let Err(refused) = kept {
                self.out_of_memory = Some(refused);
            }
        }
    }

    /// Keeps a mismatch as one of the first.
    fn put_first(&mut self, found: FoundMismatch, rule: &PairRule) -> Result<(), OutOfMemory> {
        let place = self.first.partition_point(|before| before.item < found.item);
        memory::push(&mut self.first, found)?;
        self.first[place..].rotate_right(1);
        self.first.truncate(rule.shown);
        Ok(())
    }

    /// Looks at items that are no numbers.
    pub(super) fn look_at_opaque(
        &mut self,
        rule: &PairRule,
        how: &Comparability,
        stored: StoredItems<'_>,
        marks: &mut WindowMarks<'_>,
    ) {
        for_each_opaque(how, stored, &mut |group, different| {
            let mismatches = different.count_ones() as usize;
            self.differing += mismatches;
            self.has_non_finite_mismatch = true;
            let mut rest = different;
            while rest != 0 && (self.lists(group.start, rule) || self.worst.takes(group.start, None, rule.worst)) {
                let n = rest.trailing_zeros() as usize;
                self.mismatch(rule, group.part(n..n + 1), None);
                rest &= rest - 1;
            }
            // those that are not listed
            self.mismatches += rest.count_ones() as usize;
            marks.mark(group.start..group.start + group.len(), mismatches, &mut |bits| bits.push(different));
        });
    }
}

/// Compares items that are no numbers in groups of at most 64, and calls `each` with every group that holds a difference
/// and with a bit for each of its pairs, which is set if that pair differs.
pub(super) fn for_each_opaque(
    how: &Comparability,
    stored: StoredItems<'_>,
    each: &mut dyn FnMut(StoredItems<'_>, u64),
) {
    let items = stored.len();
    let [width, other_width] = stored.widths;
    for first in (0..items).step_by(64) {
        let group = stored.part(first..items.min(first + 64));
        let Rows { expected, actual } = group.rows;
        if matches!(how, Comparability::Bytes) && expected == actual {
            continue;
        }
        let mut different = 0;
        for n in 0..group.len() {
            let pair =
                Rows { expected: &expected[n * width..][..width], actual: &actual[n * other_width..][..other_width] };
            different |= u64::from(!how.is_same(pair)) << n;
        }
        if different != 0 {
            each(group, different);
        }
    }
}

/// The places of mismatches in a window.
pub(super) struct WindowMarks<'a> {
    pub axes: &'a AxisMarks,
    pub runs: FirstAxisRuns,
}

impl WindowMarks<'_> {
    fn mark(&mut self, items: Range<usize>, mismatches: usize, set: &mut dyn FnMut(&mut Vec<u64>)) {
        self.axes.mark(&mut self.runs, items, mismatches, set);
    }
}

/// Makes `bits` a bit for each pair, which is set if the pair fails.
pub(super) fn mark_failures(how: NumberRule<'_>, pairs: NumberPairs<'_>, steps: &mut Vec<u64>, bits: &mut Vec<u64>) {
    let (NumberRule { rule, reading }, kernel) = (how, how.reading.kernel());
    how.fill_limited_steps(pairs, steps);
    let (items, size) = (pairs.stored.len(), kernel.size());
    bits.clear();
    bits.resize(items.div_ceil(64), 0);
    // groups that are the same bytes are left out, and those between them looked at together
    let mut first = 0;
    for end in (GROUP..items).step_by(GROUP).chain([items]) {
        let start = end - (end - 1) % GROUP - 1;
        let group = pairs.stored.part(start..end);
        let is_same = reading.is_one_dtype && group.rows.expected == group.rows.actual;
        let last = if is_same { start } else { end };
        if (is_same || end == items) && first < last {
            let steps = if steps.is_empty() { &[][..] } else { &steps[first..last] };
            kernel.mark_failures(rule, pairs.part(first..last, size).rows, steps, first, bits);
        }
        if is_same {
            first = end;
        }
    }
}

/// Returns the smallest float64 q with `distance <= q * size`, as float64 computes it, or `None` if there is none.
///
/// The tolerance that a report names must pass, to the last bit, when it is given; the quotient may not, because both it
/// and the product are rounded. So q is found by bisection of the bits, which for positive floats order as the values do:
/// `passes` is false below q and true from there on.
pub(super) fn least_rtol(distance: f64, size: f64) -> Option<f64> {
    let passes = |bits: u64| distance <= f64::from_bits(bits) * size;
    let (zero, most) = (0, f64::MAX.to_bits());
    if passes(zero) || !passes(most) {
        return passes(zero).then_some(0.0);
    }
    // q is the quotient or a neighbour of it, unless the product is subnormal or overflows
    let quotient = (distance / size).min(f64::MAX).to_bits();
    let (near, far) = (quotient.saturating_sub(2), (quotient + 2).min(most));
    let (mut fails, mut passing) = (if passes(near) { zero } else { near }, if passes(far) { far } else { most });
    while passing - fails > 1 {
        let middle = fails + (passing - fails) / 2;
        if passes(middle) { passing = middle } else { fails = middle }
    }
    Some(f64::from_bits(passing))
}
