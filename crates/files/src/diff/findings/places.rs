//! Where mismatches are on each axis.
//!
//! Every axis has one bit per index, in pages that are allocated on the first mark. A block whose indices are all
//! marked needs no second look, which soon holds for nearly all inner axes. The first axis of a tensor with short rows
//! keeps ranges instead, because its bits would need memory in proportion to the tensor. Such tensors are scanned in
//! order.

use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::diff::numbers::distance::{Number, PairRule};
use crate::diff::numbers::kernel::PairBits;
use tensorop_kernels::item::first::Numbered;
use tensorop_kernels::memory::{self, OutOfMemory};

pub(crate) const RANGES: usize = 16;

/// The width of a line, in characters.
const LINE: usize = 78;

/// Words per page of marks, 32 KiB.
const PAGE: usize = 4096;

/// The first axis has bits if its rows have at least this many items; the bits are then few beside the items. Tensors
/// scanned in boxes have long rows.
const LONG_ROW: usize = 1024;

/// The indices on an axis that have a mismatch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AxisPlaces {
    /// The axis.
    pub axis: usize,
    /// The number of indices with a mismatch.
    pub places: usize,
    /// The dim of the axis.
    pub of: usize,
    /// The first 16 ranges of indices with a mismatch.
    pub ranges: Vec<Range<usize>>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct FirstAxisRuns {
    count: usize,
    first: usize,
    last: Option<usize>,
    ranges: Vec<Range<usize>>,
}

impl FirstAxisRuns {
    pub(crate) fn is_empty(&self) -> bool {
        self.last.is_none()
    }

    fn is_full(&self) -> bool {
        let end = self.ranges.last().map(|range| range.end);
        self.ranges.len() == RANGES && self.last >= end
    }

    fn mark(&mut self, places: Range<usize>) {
        if self.last.is_none() {
            self.first = places.start;
        }
        let start = self.last.map_or(places.start, |last| places.start.max(last + 1));
        if start >= places.end {
            return;
        }
        self.count += places.end - start;
        let kept = self.ranges.len();
        match self.ranges.last_mut().filter(|range| range.end == start) {
            Some(range) => range.end = places.end,
            None if kept < RANGES => self.ranges.push(start..places.end),
            None => {}
        }
        self.last = Some(places.end - 1);
    }

    fn append(&mut self, later: Self) {
        let Some(last) = later.last else { return };
        let shared = usize::from(self.last.is_some_and(|own| own == later.first));
        let count = self.count + later.count - shared;
        later.ranges.into_iter().for_each(|range| self.mark(range));
        // Ranges are limited, counts are not.
        (self.count, self.last) = (count, Some(last));
    }
}

type MarkPage = OnceLock<Box<[AtomicU64]>>;

#[derive(Debug)]
pub(crate) struct AxisMarks {
    rank: usize,
    axes: Vec<MarkedAxis>,
}

#[derive(Debug)]
struct MarkedAxis {
    number: usize,
    dim: usize,
    /// In items.
    stride: usize,
    marks: Vec<MarkPage>,
}

impl AxisMarks {
    pub(crate) fn new(shape: &[usize]) -> Self {
        let mut axes = Vec::new();
        let mut stride = 1_usize;
        for (number, &dim) in shape.iter().enumerate().rev() {
            if dim > 1 {
                axes.push(MarkedAxis { number, dim, stride, marks: Vec::new() });
            }
            // Empty tensors do not use strides.
            stride = stride.saturating_mul(dim.max(1));
        }
        axes.reverse();
        let is_empty = shape.contains(&0);
        for (number, axis) in axes.iter_mut().enumerate().filter(|_| !is_empty) {
            if number == 0 && axis.stride < LONG_ROW {
                continue;
            }
            axis.marks.resize_with(axis.dim.div_ceil(64 * PAGE), OnceLock::new);
        }
        Self { rank: shape.len(), axes }
    }

    pub(crate) fn found(&self, mut windows: Vec<(usize, FirstAxisRuns)>, is_reversed: bool) -> Vec<AxisPlaces> {
        windows.sort_by_key(|(number, _)| *number);
        let mut runs = FirstAxisRuns::default();
        windows.into_iter().for_each(|(_, window)| runs.append(window));
        let found = |axis: &MarkedAxis| {
            let FirstAxisRuns { count, ranges, .. } = if axis.marks.is_empty() { runs.clone() } else { axis.runs() };
            let number = if is_reversed { self.rank - 1 - axis.number } else { axis.number };
            AxisPlaces { axis: number, places: count, of: axis.dim, ranges }
        };
        match is_reversed {
            true => self.axes.iter().rev().map(found).collect(),
            false => self.axes.iter().map(found).collect(),
        }
    }
}

pub(crate) struct WindowMarks<'a> {
    pub axes: &'a AxisMarks,
    pub runs: FirstAxisRuns,
}

impl WindowMarks<'_> {
    /// `fail` is called only if needed.
    pub(crate) fn mark(&mut self, items: Range<usize>, mismatches: usize, fail: &dyn Fn() -> PairBits) {
        if mismatches == 0 {
            return;
        }
        let (mut bits, runs) = (None, &mut self.runs);
        for axis in &self.axes.axes {
            let (first, last) = (items.start / axis.stride, (items.end - 1) / axis.stride);
            // One item per index, and the ranges are full.
            if axis.stride == 1 && axis.marks.is_empty() && runs.is_full() {
                (runs.count, runs.last) = (runs.count + mismatches, Some(last));
            } else if axis.is_marked(runs, first, last) {
                continue;
            } else if mismatches == items.len() {
                axis.mark(runs, first, last);
            } else {
                for Range { start: from, end: to } in set_ranges(bits.get_or_insert_with(fail)) {
                    axis.mark(runs, (items.start + from) / axis.stride, (items.start + to - 1) / axis.stride);
                }
            }
        }
    }
}

impl MarkedAxis {
    /// The range may wrap around.
    fn is_marked(&self, runs: &FirstAxisRuns, first: usize, last: usize) -> bool {
        match self.marks.is_empty() {
            true => first == last && runs.last == Some(first),
            false => self.each_word(first, last, &mut |page, word, mask| {
                page.get().is_some_and(|page| page[word].load(Ordering::Relaxed) & mask == mask)
            }),
        }
    }

    fn mark(&self, runs: &mut FirstAxisRuns, first: usize, last: usize) {
        if self.marks.is_empty() {
            return runs.mark(first..last + 1);
        }
        self.each_word(first, last, &mut |page, word, mask| {
            let words = || std::iter::repeat_with(AtomicU64::default);
            let page = page.get_or_init(|| words().take(PAGE.min(self.dim.div_ceil(64))).collect());
            if page[word].load(Ordering::Relaxed) & mask != mask {
                page[word].fetch_or(mask, Ordering::Relaxed);
            }
            true
        });
    }

    /// Stops when `each` returns false.
    fn each_word(&self, first: usize, last: usize, each: &mut dyn FnMut(&MarkPage, usize, u64) -> bool) -> bool {
        let count = last - first + 1;
        let begin = first % self.dim;
        let ranges = match count {
            _ if count >= self.dim => [0..self.dim, 0..0],
            _ if begin + count <= self.dim => [begin..begin + count, 0..0],
            _ => [begin..self.dim, 0..begin + count - self.dim],
        };
        for Range { mut start, end } in ranges {
            while start < end {
                let word = start / 64;
                let next = ((word + 1) * 64).min(end);
                let mask = (u64::MAX >> (64 - (next - start))) << (start % 64);
                if !each(&self.marks[word / PAGE], word % PAGE, mask) {
                    return false;
                }
                start = next;
            }
        }
        true
    }

    fn runs(&self) -> FirstAxisRuns {
        let mut runs = FirstAxisRuns::default();
        for (number, page) in self.marks.iter().enumerate() {
            for (word, bits) in page.get().into_iter().flat_map(|page| page.iter().enumerate()) {
                let base = (number * PAGE + word) * 64;
                set_ranges(&[bits.load(Ordering::Relaxed)])
                    .for_each(|range| runs.mark(base + range.start..base + range.end));
            }
        }
        runs
    }
}

fn set_ranges(words: &[u64]) -> impl Iterator<Item = Range<usize>> {
    words.iter().enumerate().flat_map(|(number, &word)| {
        let mut rest = word;
        std::iter::from_fn(move || {
            let start = (rest != 0).then(|| rest.trailing_zeros())?;
            let end = start + (!(rest >> start)).trailing_zeros();
            rest &= u64::MAX.checked_shl(end).unwrap_or(0);
            Some(64 * number + start as usize..64 * number + end as usize)
        })
    })
}

impl AxisPlaces {
    pub(crate) fn text(&self) -> String {
        let noun = if self.of == 1 { "place" } else { "places" };
        let mut text = format!("axis {}: {} of {} {noun}: ", self.axis, self.places, self.of);
        let mut listed = 0;
        for (number, range) in self.ranges.iter().enumerate() {
            let places = match range.len() {
                1 => range.start.to_string(),
                _ => format!("{}-{}", range.start, range.end - 1),
            };
            if number > 0 && text.len() + places.len() > LINE - ", ...".len() {
                break;
            }
            text += if number > 0 { ", " } else { "" };
            text += &places;
            listed += range.len();
        }
        if listed < self.places {
            text += ", ...";
        }
        text
    }
}

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
