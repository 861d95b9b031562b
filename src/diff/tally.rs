//! The differences of two tensors, gathered window by window and put together in any order.
//!
//! Each thread has a tally of its own, and the tallies are merged at the end: the result must not depend on how windows
//! were shared out. So every maximum goes with the number of the first item that has it, counts are added, and of the
//! mismatches that are told the first in C order are chosen when all are there.

use super::Options;
use super::distance::Distance;
use super::found::{Errors, FoundMismatch};
use super::item::{ComparedItem, ItemClass};
use super::places::{Places, Runs};
use super::reading::Reading;
use super::worst::Worst;
use crate::memory;

/// Bytes of a block: what is looked at quickly, and again, item by item, only if it may change what is known. A small
/// block is less work when it has to be looked at again; 1 KiB of each tensor still is 128 items of 8 bytes, over which
/// the vectorised loop spreads what it costs to begin.
const BLOCK: usize = 1024;

/// Of so many items that are the same bytes, none is asked by itself whether it differs.
const GROUP: usize = 8;

/// Memory is made sure of for each mismatch of more bytes than this. The user says how many mismatches are told, and
/// the file how long an item is: an allocation that fails would end the process, so whether there is memory is asked
/// first, with one that may fail.
const LONG: usize = 1 << 12;
/// And else for so many at once: to ask for each of them would double the number of allocations.
const OFTEN: usize = 1 << 10;

/// When an element passes, and how much is told.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rule {
    /// Of `|actual - expected| <= atol + rtol * |expected|`; -1 and 0 where neither is given, which accepts nothing.
    pub atol: f64,
    pub rtol: f64,
    pub ulp: Option<u64>,
    pub nan_differs: bool,
    /// How many mismatches are told one by one, the first.
    pub shown: usize,
    /// How many are told that are farthest apart.
    pub worst: usize,
}

impl Rule {
    /// What options say of items; nothing is told of them.
    pub(super) fn new(options: &Options) -> Self {
        Self {
            atol: options.atol.unwrap_or(if options.rtol.is_some() { 0.0 } else { -1.0 }),
            rtol: options.rtol.unwrap_or(0.0),
            ulp: options.ulp,
            nan_differs: options.nan_differs,
            shown: 0,
            worst: 0,
        }
    }

    /// Whether any tolerance is given.
    pub(super) fn is_tolerant(&self) -> bool {
        self.atol >= 0.0 || self.ulp.is_some()
    }

    /// Whether two items do not pass, so many steps apart.
    pub(super) fn differ<T: ComparedItem>(&self, (expected, actual): (T, T), steps: u64) -> bool {
        if expected.same(actual) || expected.is_nan() && actual.is_nan() && !self.nan_differs {
            return false;
        }
        match expected.is_finite() && actual.is_finite() {
            true => !self.accepts(expected.distance(actual).up(), expected.size(), steps),
            false => !(expected.equals(actual) && self.is_tolerant()),
        }
    }

    /// The steps between pairs of items, if there is a limit to them: one for each pair, or none at all.
    pub(super) fn steps<T: ComparedItem>(
        &self,
        reading: &Reading,
        raw: (&[u8], &[u8]),
        pairs: impl Iterator<Item = (T, T)>,
    ) -> Vec<u64> {
        let mut steps = Vec::new();
        if self.ulp.is_some() {
            reading.steps.fill(raw, pairs.map(|(expected, actual)| expected.distance(actual)), &mut steps);
        }
        steps
    }

    /// Whether a tolerance accepts finite items that are so far apart, the expected one being of that size.
    fn accepts(&self, distance: f64, size: f64, steps: u64) -> bool {
        let near = distance <= self.atol + self.rtol * size;
        near | self.ulp.is_some_and(|ulp| steps <= ulp)
    }
}

/// The largest of something, and the number of the first item that has it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Most<V> {
    pub value: V,
    pub item: usize,
}

/// Takes a value of an item, in any order of items.
fn raise<V: PartialOrd + Copy>(most: &mut Option<Most<V>>, value: V, item: usize) {
    let higher = |most: &Most<V>| value > most.value || value == most.value && item < most.item;
    if most.as_ref().is_none_or(higher) {
        *most = Some(Most { value, item });
    }
}

/// The items of one window of both tensors, as they were before they were widened to the type they are compared as.
#[derive(Clone, Copy, Debug)]
pub(super) struct ItemPairs<'a> {
    /// The number of its first item.
    pub start: usize,
    pub expected: &'a [u8],
    pub actual: &'a [u8],
}

impl<'a> ItemPairs<'a> {
    /// So many of its items from a number on, an item of either side being so many bytes.
    pub(super) fn part(self, first: usize, items: usize, widths: [usize; 2]) -> Self {
        let part = |bytes: &'a [u8], width: usize| {
            bytes.get(first * width..).and_then(|rest| rest.get(..items * width)).unwrap_or_default()
        };
        let (expected, actual) = (part(self.expected, widths[0]), part(self.actual, widths[1]));
        Self { start: self.start + first, expected, actual }
    }

    /// The bytes of an item of either side, where there are so many.
    fn widths(self, items: usize) -> [usize; 2] {
        [self.expected, self.actual].map(|bytes| bytes.len() / items.max(1))
    }

    /// It in windows of up to so many items, which begin at their multiples.
    pub(super) fn chunks(self, most: usize, widths: [usize; 2]) -> impl Iterator<Item = Self> {
        let items = self.expected.len() / widths[0].max(1);
        let mut first = 0;
        std::iter::from_fn(move || {
            let count = (most - (self.start + first) % most).min(items - first);
            let part = (count > 0).then(|| self.part(first, count, widths));
            first += count;
            part
        })
    }
}

/// What is known of the items seen so far.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tally<D> {
    pub max_abs: Option<Most<D>>,
    pub max_rel: Option<Most<f64>>,
    pub max_ulp: Option<Most<u64>>,
    /// The smallest tolerance that alone accepts all items; infinite if none does.
    pub rtol: f64,
    /// Whether an item differs that no tolerance accepts.
    pub hopeless: bool,
    /// Items of which neither the bits are equal nor both are NaN.
    pub differing: usize,
    /// Those of them that no tolerance given accepts.
    pub mismatches: usize,
    /// The first of these, in order.
    pub first: Vec<FoundMismatch>,
    /// Those that are farthest apart.
    pub worst: Worst<D>,
    /// What is said if there was no memory for one of them.
    pub too_much: Option<String>,
}

impl<D> Default for Tally<D> {
    fn default() -> Self {
        Self {
            max_abs: None,
            max_rel: None,
            max_ulp: None,
            rtol: 0.0,
            hopeless: false,
            differing: 0,
            mismatches: 0,
            first: Vec::new(),
            worst: Worst::default(),
            too_much: None,
        }
    }
}

impl<D: Distance> Tally<D> {
    /// Puts what is known of other items to it.
    pub(super) fn merge(&mut self, other: Self, rule: &Rule) {
        if let Some(Most { value, item }) = other.max_abs {
            raise(&mut self.max_abs, value, item);
        }
        if let Some(Most { value, item }) = other.max_rel {
            raise(&mut self.max_rel, value, item);
        }
        if let Some(Most { value, item }) = other.max_ulp {
            raise(&mut self.max_ulp, value, item);
        }
        self.rtol = self.rtol.max(other.rtol);
        self.hopeless |= other.hopeless;
        self.differing += other.differing;
        self.mismatches += other.mismatches;
        match memory::reserve(&mut self.first, other.first.len()) {
            Ok(()) => self.first.extend(other.first),
            Err(message) => self.too_much = Some(message),
        }
        self.first.sort_unstable_by_key(|found| found.item);
        self.first.truncate(rule.shown);
        if let Err(message) = self.worst.merge(other.worst, rule.worst) {
            self.too_much = Some(message);
        }
    }

    /// Whether equal items tell nothing new: once there are maxima.
    pub(super) fn is_settled(&self) -> bool {
        self.max_abs.is_some() && self.max_rel.is_some()
    }

    /// Takes the items of a window, later than all before; `expected` and `actual` are those of `window` as they are
    /// compared.
    pub(super) fn window<T: ComparedItem<Distance = D>>(
        &mut self,
        rule: &Rule,
        reading: &Reading,
        window: ItemPairs<'_>,
        (expected, actual): (&[u8], &[u8]),
        marks: &mut Marks<'_>,
    ) {
        let widths = window.widths(expected.len() / T::SIZE);
        let block = BLOCK / T::SIZE;
        let blocks = expected.chunks(block * T::SIZE).zip(actual.chunks(block * T::SIZE)).enumerate();
        for (number, (expected, actual)) in blocks {
            let items = expected.len() / T::SIZE;
            let raw = window.part(number * block, items, widths);
            if reading.is_one_dtype && self.is_settled() && raw.expected == raw.actual {
                continue;
            }
            let before = self.mismatches;
            let pairs = pairs_of::<T>(expected, actual);
            if let Some((differing, mismatches)) = self.glance(rule, reading, raw, pairs.clone()) {
                self.differing += differing;
                self.mismatches += mismatches;
            } else {
                for (index, pair) in pairs.clone().enumerate() {
                    self.item(rule, reading, raw.part(index, 1, widths), pair);
                }
            }
            marks.mark((raw.start, items), self.mismatches - before, |bits| set(bits, rule, reading, raw, pairs));
        }
    }

    /// How many items of a block differ, and how many of them no tolerance accepts; `None` if more has to be known.
    ///
    /// Short loops over items that are in the nearest cache, each of which asks all items and puts the answers together
    /// with `|` and not `||`: these are vectorised, where a branch, a check of overflow or a division would leave a loop
    /// that takes many times as long. What is found out in vain is less than what that costs, since after the first
    /// blocks hardly any raises a maximum.
    #[inline]
    fn glance<T: ComparedItem<Distance = D>>(
        &self,
        rule: &Rule,
        reading: &Reading,
        raw: ItemPairs<'_>,
        pairs: impl Iterator<Item = (T, T)> + Clone,
    ) -> Option<(usize, usize)> {
        let (max_abs, max_ulp) = (self.max_abs?.value, self.max_ulp.map(|most| most.value));
        let is_finite = |(expected, actual): (T, T)| expected.is_finite() & actual.is_finite();
        // A quotient is above the maximum only if the error is no less than the rounded product. Most blocks have no
        // such item, and so no quotient of theirs is computed. Of equal items none is larger; once zero was expected where
        // something else was, no tolerance is, and there is no quotient where it is expected again.
        let least = self.max_rel.map_or(0.0, |most| most.value.min(self.rtol));
        let smallest = if self.rtol.is_finite() { -1.0 } else { 0.0 };
        // Where a number is not finite, the difference is not, either, and is not within any distance.
        let ask = |(within, may_be_farther, differing): (u64, u64, u64), pair: (T, T)| {
            let (distance, size) = (pair.0.distance(pair.1), pair.0.size());
            let abs = distance.up();
            let farther = (abs >= least * size) & (abs > 0.0) & (size > smallest);
            let within = within & u64::from(distance <= max_abs);
            // a block has no more; a check of overflow would keep the loop from being vectorised
            (within, may_be_farther | u64::from(farther), differing.wrapping_add(differs(pair).into()))
        };
        let (within, may_be_farther, differing) = pairs.clone().fold((1, 0, 0), ask);
        // that an item is no date, no distance shows
        let is_new = |pair: (T, T)| differs(pair) & !is_finite(pair) | (pair.0.distance(pair.1) > max_abs);
        if (within == 0 || T::CLASS == ItemClass::Date) && any(pairs.clone(), is_new)
            || reading.steps.any_above(raw.expected, raw.actual, max_ulp)
            || (may_be_farther != 0 || self.max_rel.is_none()) && self.is_farther(pairs.clone(), is_finite)
        {
            return None;
        }
        let differing = differing as u32;
        let mismatches = match rule.steps(reading, (raw.expected, raw.actual), pairs.clone()) {
            steps if steps.is_empty() => self.mismatches_of(rule, pairs.map(|pair| (pair, 0)), differing),
            steps => self.mismatches_of(rule, pairs.zip(steps.iter().copied()), differing),
        };
        mismatches.map(|mismatches| (differing as usize, mismatches as usize))
    }

    /// How many of the pairs of a block, each so many steps apart, are mismatches; `None` if any of them is to be told.
    #[inline]
    fn mismatches_of<T: ComparedItem<Distance = D>>(
        &self,
        rule: &Rule,
        pairs: impl Iterator<Item = ((T, T), u64)> + Clone,
        differing: u32,
    ) -> Option<u32> {
        let passes = |(expected, actual): (T, T), steps: u64| {
            rule.accepts(expected.distance(actual).up(), expected.size(), steps)
        };
        let mismatch = |(pair, steps)| differs(pair) & !passes(pair, steps);
        let mismatches = if rule.is_tolerant() { count(pairs.clone(), mismatch) } else { differing };
        let (any_counts, floor) = self.worst.floor(rule.worst);
        let is_worse =
            |(pair, steps): ((T, T), u64)| mismatch((pair, steps)) & (any_counts | (pair.0.distance(pair.1) > floor));
        let is_told = mismatches > 0 && (self.first.len() < rule.shown || rule.worst > 0 && any(pairs, is_worse));
        (!is_told).then_some(mismatches)
    }

    /// Whether an item of finite ones, or ones that are the same, has a larger relative error than any before, or needs
    /// a larger tolerance than before.
    fn is_farther<T: ComparedItem<Distance = D>>(
        &self,
        mut pairs: impl Iterator<Item = (T, T)>,
        is_finite: impl Fn((T, T)) -> bool,
    ) -> bool {
        let (max_rel, rtol) = (self.max_rel.map(|most| most.value), self.rtol);
        pairs.any(|pair| {
            let (distance, size) = (pair.0.distance(pair.1), pair.0.size());
            let is_above = match max_rel {
                Some(max_rel) => size > 0.0 && distance.near() / size > max_rel,
                // where only zeros were expected, and none was there
                None => is_finite(pair) && (size > 0.0 || distance.near() == 0.0),
            };
            is_above || distance.up() > rtol * size
        })
    }

    /// Takes a pair of items, of which `raw` has the bytes.
    fn item<T: ComparedItem<Distance = D>>(
        &mut self,
        rule: &Rule,
        reading: &Reading,
        raw: ItemPairs<'_>,
        (expected, actual): (T, T),
    ) {
        let finite = expected.is_finite() && actual.is_finite();
        let errors = finite.then(|| {
            let (distance, size) = (expected.distance(actual), expected.size());
            let steps = reading.steps.between((raw.expected, raw.actual), distance);
            let rel = relative(distance.near(), size);
            raise(&mut self.max_abs, distance, raw.start);
            if let Some(steps) = steps {
                raise(&mut self.max_ulp, steps, raw.start);
            }
            if let Some(rel) = rel {
                raise(&mut self.max_rel, rel, raw.start);
            }
            (distance, size, steps.unwrap_or(0), rel)
        });
        if expected.same(actual) || expected.is_nan() && actual.is_nan() && !rule.nan_differs {
            return;
        }
        self.differing += 1;
        let accepted = match errors {
            Some((distance, size, steps, _)) => {
                if distance.up() > self.rtol * size {
                    self.rtol = least_rtol(distance.up(), size).unwrap_or(f64::INFINITY);
                }
                rule.accepts(distance.up(), size, steps)
            }
            // infinities only equal themselves, if perhaps with another zero beside them
            None if expected.equals(actual) => rule.is_tolerant(),
            None => {
                self.hopeless = true;
                false
            }
        };
        if !accepted {
            let distance = errors.map(|(distance, ..)| distance);
            let errors = errors.map(|(distance, _, ulp, rel)| Errors { abs: distance.number(), rel, ulp });
            self.mismatch(rule, raw, distance, errors);
        }
    }

    fn mismatch(&mut self, rule: &Rule, raw: ItemPairs<'_>, distance: Option<D>, errors: Option<Errors>) {
        let ItemPairs { start: item, expected, actual } = raw;
        self.mismatches += 1;
        let is_first = self.first.len() < rule.shown;
        if (is_first || self.worst.takes(distance, rule.worst)) && self.too_much.is_none() {
            // the items themselves and what their allocations cost, now and then for many, also those of other threads
            let each = expected.len().saturating_add(actual.len()).saturating_add(256);
            let many = each <= LONG && (self.first.len() + self.worst.len()).is_multiple_of(OFTEN);
            let bytes = if many { each * OFTEN * 16 } else { each };
            let probe = if many || each > LONG { memory::of::<u8>(bytes).map(drop) } else { Ok(()) };
            let found = || FoundMismatch { item, expected: expected.to_vec(), actual: actual.to_vec(), errors };
            let kept = probe.and_then(|()| match is_first {
                true => memory::push(&mut self.first, found()),
                false => self.worst.put(distance, found(), rule.worst),
            });
            if let Err(message) = kept {
                self.too_much = Some(message);
            }
        }
    }

    /// Takes the items of a window that are no numbers.
    pub(super) fn opaque(
        &mut self,
        rule: &Rule,
        window: ItemPairs<'_>,
        items: usize,
        same: impl Fn(&[u8], &[u8]) -> bool,
        marks: &mut Marks<'_>,
    ) {
        let widths = window.widths(items);
        for pair in (0..items).map(|index| window.part(index, 1, widths)) {
            if !same(pair.expected, pair.actual) {
                self.differing += 1;
                self.hopeless = true;
                self.mismatch(rule, pair, None, None);
                marks.mark((pair.start, 1), 1, |_| {});
            }
        }
    }
}

/// The pairs of two rows of items.
pub(super) fn pairs_of<T: ComparedItem>(
    expected: &[u8],
    actual: &[u8],
) -> impl ExactSizeIterator<Item = (T, T)> + Clone {
    T::items(expected).zip(T::items(actual))
}

/// Whether the bits of two items differ.
#[inline(always)]
fn differs<T: ComparedItem>((expected, actual): (T, T)) -> bool {
    !expected.same(actual)
}

/// Whether something is so of any; all are asked.
#[inline(always)]
fn any<I: Iterator>(items: I, is_so: impl Fn(I::Item) -> bool) -> bool {
    items.fold(false, |any, item| any | is_so(item))
}

/// Of how many of a block something is so.
#[inline(always)]
fn count<I: Iterator>(items: I, is_so: impl Fn(I::Item) -> bool) -> u32 {
    // a block has no more than that, and a check of overflow would keep the loop from being vectorised
    items.fold(0_u32, |count, item| count.wrapping_add(is_so(item).into()))
}

/// Where the mismatches of a window are marked, if they are.
pub(super) struct Marks<'a> {
    pub places: Option<&'a Places>,
    pub runs: Runs,
}

impl Marks<'_> {
    fn mark(&mut self, items: (usize, usize), mismatches: usize, set: impl FnOnce(&mut Vec<u64>)) {
        if let Some(places) = self.places {
            places.mark(&mut self.runs, items, mismatches, set);
        }
    }
}

/// A bit for each pair of a block, which is set if it is a mismatch.
fn set<T: ComparedItem>(
    bits: &mut Vec<u64>,
    rule: &Rule,
    reading: &Reading,
    raw: ItemPairs<'_>,
    pairs: impl ExactSizeIterator<Item = (T, T)> + Clone,
) {
    let steps = rule.steps(reading, (raw.expected, raw.actual), pairs.clone());
    let mut pairs = pairs.enumerate();
    let items = pairs.len();
    let widths = raw.widths(items);
    bits.resize(items.div_ceil(64), 0);
    for first in (0..items).step_by(GROUP) {
        let count = GROUP.min(items - first);
        let group = raw.part(first, count, widths);
        if reading.is_one_dtype && group.expected == group.actual {
            pairs.nth(count - 1);
            continue;
        }
        for (item, pair) in pairs.by_ref().take(count) {
            let differs = rule.differ(pair, steps.get(item).copied().unwrap_or(0));
            bits[item / 64] |= u64::from(differs) << (item % 64);
        }
    }
}

/// The relative error; `None` where there is none.
fn relative(distance: f64, size: f64) -> Option<f64> {
    if distance == 0.0 { Some(0.0) } else { (size > 0.0).then(|| distance / size) }
}

/// The smallest float64 q with `distance <= q * size`, as float64 computes it.
///
/// What the report names must pass when it is given as the tolerance, to the last bit, and the quotient may not: it is
/// rounded, and so is the product. So q is searched between two floats by halving the distance of their bits, which
/// for positive floats are in the order of their values; `passes` is false up to q and true from there on.
pub(super) fn least_rtol(distance: f64, size: f64) -> Option<f64> {
    let passes = |bits: u64| distance <= f64::from_bits(bits) * size;
    let (zero, most) = (0, f64::MAX.to_bits());
    if passes(zero) || !passes(most) {
        return passes(zero).then_some(0.0);
    }
    // mostly the quotient or a neighbour; far from it only where the product is subnormal or overflows
    let quotient = (distance / size).min(f64::MAX).to_bits();
    let (near, far) = (quotient.saturating_sub(2), (quotient + 2).min(most));
    let (mut fails, mut passing) = (if passes(near) { zero } else { near }, if passes(far) { far } else { most });
    while passing - fails > 1 {
        let middle = fails + (passing - fails) / 2;
        if passes(middle) { passing = middle } else { fails = middle }
    }
    Some(f64::from_bits(passing))
}
