//! The differences of two tensors, gathered window by window and put together in any order.
//!
//! Each thread has a tally of its own, and the tallies are merged at the end: the result must not depend on how windows
//! were shared out. So every maximum goes with the number of the first item that has it, counts are added, and of the
//! mismatches that are told the first in C order are chosen when all are there.

use super::Options;
use super::distance::Distance;
use super::found::{Errors, FoundMismatch};
use super::item::ComparedItem;
use super::places::{Places, Runs};
use super::worst::Worst;
use crate::memory;

/// Bytes of a block: what is looked at quickly, and again, item by item, only if it may change what is known. A small
/// block is less work when it has to be looked at again; 1 KiB of each tensor still is 128 items of 8 bytes, over which
/// the vectorised loop spreads what it costs to begin.
const BLOCK: usize = 1024;

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

    /// Whether two items do not pass.
    pub(super) fn differ<T: ComparedItem>(&self, expected: T, actual: T) -> bool {
        if expected.same(actual) || expected.is_nan() && actual.is_nan() && !self.nan_differs {
            return false;
        }
        match expected.is_finite() && actual.is_finite() {
            true => !self.accepts(expected.distance(actual).up(), expected.size(), expected.steps(actual).into()),
            false => !(expected.equals(actual) && self.is_tolerant()),
        }
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

/// The items of one window of both tensors, as they were before they were widened to a common type.
#[derive(Clone, Copy, Debug)]
pub(super) struct ItemPairs<'a> {
    /// The number of its first item.
    pub start: usize,
    pub expected: &'a [u8],
    pub actual: &'a [u8],
}

impl<'a> ItemPairs<'a> {
    /// Both items of that number in a window of `items`.
    fn pair(self, index: usize, items: usize) -> (&'a [u8], &'a [u8]) {
        (nth(self.expected, index, items), nth(self.actual, index, items))
    }

    /// It in windows of so many items, of which each has so many bytes.
    pub(super) fn chunks(self, items: usize, widths: [usize; 2]) -> impl Iterator<Item = Self> {
        let [expected, actual] = widths.map(|width| width.max(1) * items);
        let pairs = self.expected.chunks(expected).zip(self.actual.chunks(actual)).enumerate();
        pairs.map(move |(number, (expected, actual))| Self { start: self.start + number * items, expected, actual })
    }
}

/// One of so many items.
fn nth(bytes: &[u8], index: usize, items: usize) -> &[u8] {
    let width = bytes.len() / items.max(1);
    bytes.get(index * width..).and_then(|rest| rest.get(..width)).unwrap_or_default()
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

    /// Takes the items of a window, later than all before; `expected` and `actual` are those of `window`, widened to
    /// one type.
    pub(super) fn window<T: ComparedItem<Distance = D>>(
        &mut self,
        rule: &Rule,
        window: ItemPairs<'_>,
        (expected, actual): (&[u8], &[u8]),
        read: &impl Fn(&[u8]) -> T,
        marks: &mut Marks<'_>,
    ) {
        let block = BLOCK / T::SIZE * T::SIZE;
        let items = expected.len() / T::SIZE;
        for (number, (expected, actual)) in expected.chunks(block).zip(actual.chunks(block)).enumerate() {
            // equal items tell nothing new once there are maxima
            let settled = self.max_abs.is_some() && self.max_rel.is_some();
            if settled && expected == actual {
                continue;
            }
            let (first, before) = (number * (block / T::SIZE), self.mismatches);
            let pairs = || expected.chunks_exact(T::SIZE).zip(actual.chunks_exact(T::SIZE));
            if let Some((differing, mismatches)) = self.glance(rule, expected, actual, read) {
                self.differing += differing;
                self.mismatches += mismatches;
            } else {
                for (index, (expected, actual)) in pairs().enumerate() {
                    self.item(rule, window, (first + index, items), (read(expected), read(actual)));
                }
            }
            let place = (window.start + first, expected.len() / T::SIZE);
            marks.mark(place, self.mismatches - before, |bits| {
                set(bits, pairs().map(|(expected, actual)| rule.differ(read(expected), read(actual))));
            });
        }
    }

    /// How many items of a block differ, and how many of them no tolerance accepts; `None` if more has to be known.
    ///
    /// One short loop a question, over items that are in the nearest cache, each of which asks all items and puts the
    /// answers together with `|` and not `||`: these are vectorised, where a branch, a check of overflow or a division
    /// would leave a loop that takes many times as long. What is found out in vain is less than what that costs, since
    /// after the first blocks hardly any raises a maximum.
    #[inline]
    fn glance<T: ComparedItem<Distance = D>>(
        &self,
        rule: &Rule,
        expected: &[u8],
        actual: &[u8],
        read: &impl Fn(&[u8]) -> T,
    ) -> Option<(usize, usize)> {
        let (max_abs, rtol) = (self.max_abs?.value, self.rtol);
        let max_ulp = T::Steps::try_from(self.max_ulp?.value).ok()?;
        let pairs = || {
            let pairs = expected.chunks_exact(T::SIZE).zip(actual.chunks_exact(T::SIZE));
            pairs.map(|(expected, actual)| (read(expected), read(actual)))
        };
        let differs = |(expected, actual): (T, T)| !expected.same(actual);
        let is_finite = |(expected, actual): (T, T)| expected.is_finite() & actual.is_finite();
        if any(pairs(), |pair| differs(pair) & !is_finite(pair))
            || any(pairs(), |(expected, actual)| expected.distance(actual) > max_abs)
            || any(pairs(), |(expected, actual)| expected.steps(actual) > max_ulp)
            || self.is_farther(pairs(), is_finite, rtol)
        {
            return None;
        }
        let differing = count(pairs(), differs);
        let passes = |(expected, actual): (T, T)| {
            rule.accepts(expected.distance(actual).up(), expected.size(), expected.steps(actual).into())
        };
        let mismatch = |pair| differs(pair) & !passes(pair);
        let mismatches = if rule.is_tolerant() { count(pairs(), mismatch) } else { differing };
        let (any_counts, floor) = self.worst.floor(rule.worst);
        let is_worse = |pair: (T, T)| mismatch(pair) & (any_counts | (pair.0.distance(pair.1) > floor));
        let is_told = mismatches > 0 && (self.first.len() < rule.shown || rule.worst > 0 && any(pairs(), is_worse));
        (!is_told).then_some((differing as usize, mismatches as usize))
    }

    /// Whether an item of finite ones, or ones that are the same, has a larger relative error than any before, or needs
    /// a larger tolerance than `rtol`.
    #[inline]
    fn is_farther<T: ComparedItem<Distance = D>>(
        &self,
        pairs: impl Iterator<Item = (T, T)> + Clone,
        is_finite: impl Fn((T, T)) -> bool,
        rtol: f64,
    ) -> bool {
        let Some(Most { value: max_rel, .. }) = self.max_rel else {
            // where only zeros were expected, and none was there
            let is_first = |pair: (T, T)| {
                let (near, size) = (pair.0.distance(pair.1).near(), pair.0.size());
                is_finite(pair) & ((size > 0.0) | (near == 0.0)) | (pair.0.distance(pair.1).up() > rtol * size)
            };
            return any(pairs, is_first);
        };
        // A quotient is above the maximum only if the error is no less than the rounded product. Most blocks have no
        // such item, and so no quotient of theirs is computed. Of equal items none is larger; once zero was expected where
        // something else was, no tolerance is, and there is no quotient where it is expected again.
        let least = max_rel.min(rtol);
        let may_be = |(expected, actual): (T, T)| {
            let abs = expected.distance(actual).up();
            (abs >= least * expected.size()) & (abs > 0.0)
        };
        let may_be_beside_zero = |(expected, actual): (T, T)| {
            let size = expected.size();
            (expected.distance(actual).up() >= least * size) & (size > 0.0)
        };
        let may = match rtol.is_finite() {
            true => any(pairs.clone(), may_be),
            false => any(pairs.clone(), may_be_beside_zero),
        };
        let is = |(expected, actual): (T, T)| {
            let (distance, size) = (expected.distance(actual), expected.size());
            (size > 0.0) & (distance.near() / size > max_rel) | (distance.up() > rtol * size)
        };
        may && any(pairs, is)
    }

    /// Takes one item of a window, of which `index` is its number among so many.
    fn item<T: ComparedItem<Distance = D>>(
        &mut self,
        rule: &Rule,
        window: ItemPairs<'_>,
        (index, items): (usize, usize),
        (expected, actual): (T, T),
    ) {
        let item = window.start + index;
        let finite = expected.is_finite() && actual.is_finite();
        let errors = finite.then(|| {
            let (distance, size) = (expected.distance(actual), expected.size());
            let steps = expected.steps(actual).into();
            let rel = relative(distance.near(), size);
            raise(&mut self.max_abs, distance, item);
            raise(&mut self.max_ulp, steps, item);
            if let Some(rel) = rel {
                raise(&mut self.max_rel, rel, item);
            }
            (distance, size, steps, rel)
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
            self.mismatch(rule, item, window.pair(index, items), distance, errors);
        }
    }

    fn mismatch(
        &mut self,
        rule: &Rule,
        item: usize,
        (expected, actual): (&[u8], &[u8]),
        distance: Option<D>,
        errors: Option<Errors>,
    ) {
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
        for index in 0..items {
            let (expected, actual) = window.pair(index, items);
            if !same(expected, actual) {
                self.differing += 1;
                self.hopeless = true;
                self.mismatch(rule, window.start + index, (expected, actual), None, None);
                marks.mark((window.start + index, 1), 1, |_| {});
            }
        }
    }
}

/// Whether something is so of any of some pairs; all are asked.
#[inline(always)]
fn any<T>(pairs: impl Iterator<Item = (T, T)>, is_so: impl Fn((T, T)) -> bool) -> bool {
    pairs.fold(false, |any, pair| any | is_so(pair))
}

/// Of how many pairs of a block something is so.
#[inline(always)]
fn count<T>(pairs: impl Iterator<Item = (T, T)>, is_so: impl Fn((T, T)) -> bool) -> u32 {
    // a block has no more than that, and a check of overflow would keep the loop from being vectorised
    pairs.fold(0_u32, |count, pair| count.wrapping_add(is_so(pair).into()))
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

/// A bit for each of some answers.
fn set(bits: &mut Vec<u64>, answers: impl Iterator<Item = bool>) {
    for (number, answer) in answers.enumerate() {
        if number % 64 == 0 {
            bits.push(0);
        }
        if let Some(word) = bits.last_mut() {
            *word |= u64::from(answer) << (number % 64);
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
