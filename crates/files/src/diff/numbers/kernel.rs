//! The loops over pairs of items, the only part of a comparison that is compiled for each item type.
//!
//! Other code calls them through [`PairKernel`], once per block of some hundred pairs. They visit every item and
//! combine results with `|` instead of `||`, so that they are vectorised. A branch, an overflow check or a division
//! would take many times as long.

use std::marker::PhantomData;

use num_complex::Complex;

use super::distance::{Distance, Number, PairRule};
use super::item::{BoolItem, ComparedItem, Ends, ItemClass, RealItem, SplitItem, TickItem};
use super::lanes::{Offsets, Summands};
use tensorop_kernels::item::exact::Exact;

/// Little-endian bytes of equally many expected and actual items.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rows<'a> {
    pub expected: &'a [u8],
    pub actual: &'a [u8],
}

impl Rows<'_> {
    /// Makes both sides one slice if their bytes are equal, so that work is not done twice.
    pub(crate) fn joined(self) -> Self {
        if self.expected == self.actual { Self { actual: self.expected, ..self } } else { self }
    }

    pub(crate) fn are_one(self) -> bool {
        std::ptr::eq(self.expected, self.actual)
    }
}

/// Pairs per block. Blocks begin at multiples of this number in any window. A block (4 KiB of float64 per tensor) is
/// converted, compared and summed in the L1 cache.
pub(crate) const BLOCK: usize = 512;

/// One bit per pair, lowest bit first.
pub(crate) type PairBits = [u64; BLOCK / 64];

pub(crate) fn count_ones(bits: &PairBits) -> usize {
    bits.iter().map(|word| word.count_ones() as usize).sum()
}

pub(crate) fn is_set(bits: &PairBits, pair: usize) -> bool {
    bits[pair / 64] >> (pair % 64) & 1 == 1
}

pub(crate) fn set_pairs(bits: &PairBits) -> impl Iterator<Item = usize> {
    let some = |word: u64| (word != 0).then_some(word);
    bits.iter().enumerate().flat_map(move |(number, &word)| {
        let rests = std::iter::successors(some(word), move |rest| some(rest & (rest - 1)));
        rests.map(move |rest| 64 * number + rest.trailing_zeros() as usize)
    })
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct PairMasks {
    /// Two NaN differ only if [`PairRule::nan_differs`] is set.
    pub differ: PairBits,
    pub fail: PairBits,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockSurvey {
    /// Pairs that may raise a maximum, or differ and are not finite.
    pub new: PairBits,
    pub differing: usize,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct PairFacts {
    pub error: Option<PairError>,
    pub equals: bool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct PairError {
    pub distance: Number,
    /// The expected magnitude.
    pub size: f64,
}

/// The maxima of a tally; only larger errors change it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Thresholds {
    pub max_abs: Number,
    /// `None` if every expected item so far was 0 and no actual item was.
    pub max_rel: Option<f64>,
    pub rtol: f64,
}

pub(crate) trait PairKernel: Send + Sync {
    fn class(&self) -> ItemClass;

    fn size(&self) -> usize;

    fn survey(&self, tally: &Thresholds, rows: Rows<'_>) -> BlockSurvey;

    /// Counts the pairs that fail, for blocks whose differing pairs are finite. See [`masks`](Self::masks) for `steps`.
    fn failures(&self, rule: &PairRule, rows: Rows<'_>, steps: &[u64]) -> usize;

    fn any_above(&self, distance: Number, rows: Rows<'_>) -> bool;

    /// `steps` is empty without a limit on steps. `are_finite` promises that all differing pairs are finite, which
    /// skips most tests.
    fn masks(&self, rule: &PairRule, rows: Rows<'_>, steps: &[u64], are_finite: bool) -> PairMasks;

    fn facts(&self, rows: Rows<'_>, pair: usize) -> PairFacts;

    /// 0 if both items are NaN or the same infinity, NaN if one is NaN, infinity if one is infinite.
    fn errors(&self, rows: Rows<'_>, out: &mut Vec<f64>);

    /// Integers and dates only.
    fn steps(&self, rows: Rows<'_>, out: &mut Vec<u64>);

    /// Pairs that are not finite get the largest [key](Distance::key).
    fn keys(&self, rows: Rows<'_>, out: &mut Vec<u64>);

    fn key_bits(&self) -> u32;

    fn number_of_key(&self, key: u64) -> Number;

    /// The numbers that metrics sum, and the first pair. Not for complex items. `scratch` holds offsets that are not
    /// stored as float64.
    fn summands<'a>(&self, rows: Rows<'a>, scratch: &'a mut Offsets) -> (Summands<'a>, [RealItem; 2]);

    /// Scales floats whose squares or differences may overflow. Returns the first pair, and the powers of 2 of both
    /// sides and of the errors.
    fn scaled_summands(&self, rows: Rows<'_>, out: &mut Offsets) -> ([RealItem; 2], [i32; 3]);

    fn ends(&self, items: &[u8]) -> Ends;

    fn are_finite(&self, rows: Rows<'_>) -> bool;

    fn keep_finite(&self, rows: Rows<'_>, out: &mut [Vec<u8>; 2]);

    fn add_products(&self, rows: Rows<'_>, sum: &mut Exact);
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ComparedAs {
    Float64,
    Int64,
    UInt64,
    Int128,
    /// A float64 or a 64-bit integer.
    Split,
    Ticks,
    /// Ticks of two units, converted to a common unit.
    Times,
    Bool,
    Complex,
}

impl ComparedAs {
    pub(crate) fn kernel(self) -> &'static dyn PairKernel {
        match self {
            Self::Float64 => &PhantomData::<f64>,
            Self::Int64 => &PhantomData::<i64>,
            Self::UInt64 => &PhantomData::<u64>,
            Self::Int128 => &PhantomData::<i128>,
            Self::Split => &PhantomData::<SplitItem>,
            Self::Ticks => &PhantomData::<TickItem<i64>>,
            Self::Times => &PhantomData::<TickItem<i128>>,
            Self::Bool => &PhantomData::<BoolItem>,
            Self::Complex => &PhantomData::<Complex<f64>>,
        }
    }
}

#[inline(always)]
fn pairs_of<T: ComparedItem>(rows: Rows<'_>) -> impl ExactSizeIterator<Item = (T, T)> + Clone {
    T::items(rows.expected).zip(T::items(rows.actual))
}

#[inline(always)]
fn is_finite<T: ComparedItem>((expected, actual): (T, T)) -> bool {
    expected.is_finite() & actual.is_finite()
}

/// `FINITE` skips the test for NaN.
#[inline(always)]
fn differs<T: ComparedItem, const FINITE: bool>(rule: &PairRule, (expected, actual): (T, T)) -> bool {
    !expected.same(actual) & (FINITE || !(expected.is_nan() & actual.is_nan() & !rule.nan_differs))
}

/// Decides every count, mark and mismatch.
#[inline(always)]
fn fails<T: ComparedItem, const FINITE: bool>(rule: &PairRule, pair: (T, T), steps: u64) -> bool {
    let (expected, actual) = pair;
    let accepts = || rule.accepts(expected.distance(actual).up(), expected.size(), steps);
    if FINITE {
        return differs::<T, FINITE>(rule, pair) & !accepts();
    }
    let finite = is_finite(pair);
    // A complex infinity may have +0 or -0 as its other part.
    differs::<T, FINITE>(rule, pair)
        & !((finite & accepts()) | (!finite & expected.equals(actual) & rule.is_tolerant()))
}

fn masks<T: ComparedItem, const FINITE: bool>(rule: &PairRule, rows: Rows<'_>, steps: &[u64]) -> PairMasks {
    let differ = pair_bits(rows, &[], |pair: (T, T), _| differs::<T, FINITE>(rule, pair));
    let fail = match rule.is_tolerant() {
        true => pair_bits(rows, steps, |pair: (T, T), steps| fails::<T, FINITE>(rule, pair, steps)),
        false => differ,
    };
    PairMasks { differ, fail }
}

/// Unlike `Iterator::any` visits all items, to be vectorised.
#[inline(always)]
fn any<I: Iterator>(items: I, predicate: impl Fn(I::Item) -> bool) -> bool {
    items.fold(false, |any, item| any | predicate(item))
}

#[inline(always)]
fn pair_bits<T: ComparedItem>(rows: Rows<'_>, steps: &[u64], predicate: impl Fn((T, T), u64) -> bool) -> PairBits {
    let size = 64 * T::SIZE;
    let sides = rows.expected.chunks(size).zip(rows.actual.chunks(size));
    let mut bits = PairBits::default();
    for ((word, (expected, actual)), steps) in bits.iter_mut().zip(sides).zip(steps_or_zeros(steps).chunks(64)) {
        // With a constant length the compiler compares 16 pairs at once instead of 2.
        *word = match expected.len() == size && actual.len() == size && steps.len() == 64 {
            true => word_of(Rows { expected: &expected[..size], actual: &actual[..size] }, &steps[..64], &predicate),
            false => word_of(Rows { expected, actual }, steps, &predicate),
        };
    }
    bits
}

#[inline(always)]
fn word_of<T: ComparedItem>(rows: Rows<'_>, steps: &[u64], predicate: impl Fn((T, T), u64) -> bool) -> u64 {
    let mut answers = [0_u8; 64];
    let pairs = pairs_of::<T>(rows).zip(steps);
    answers.iter_mut().zip(pairs).for_each(|(answer, (pair, steps))| *answer = predicate(pair, *steps).into());
    answers.as_chunks().0.iter().rev().fold(0, |word, eight| word << 8 | bits_of(*eight))
}

/// Packs the lowest bit of each byte.
#[inline(always)]
fn bits_of(eight: [u8; 8]) -> u64 {
    // The product has the lowest bit of byte n as bit 56 + n, without carries.
    u64::from_le_bytes(eight).wrapping_mul(0x0102_0408_1020_4080) >> 56
}

#[inline(always)]
fn is_farther<T: ComparedItem>(tally: &Thresholds, pair: (T, T)) -> bool {
    let (distance, size) = (pair.0.distance(pair.1), pair.0.size());
    let is_above = match tally.max_rel {
        Some(max_rel) => size > 0.0 && distance.near() / size > max_rel,
        None => is_finite(pair) && (size > 0.0 || distance.near() == 0.0),
    };
    is_above || distance.up() > tally.rtol * size
}

fn steps_or_zeros(steps: &[u64]) -> &[u64] {
    if steps.is_empty() { &[0; BLOCK] } else { steps }
}

impl<T: ComparedItem> PairKernel for PhantomData<T> {
    fn class(&self) -> ItemClass {
        T::CLASS
    }

    fn size(&self) -> usize {
        T::SIZE
    }

    fn survey(&self, tally: &Thresholds, rows: Rows<'_>) -> BlockSurvey {
        let max_abs = T::Distance::from_number(tally.max_abs);
        let pairs = pairs_of::<T>(rows);
        // Only errors not below the rounded product have a larger quotient. Most blocks have none and compute no
        // quotients.
        let least = tally.max_rel.map_or(0.0, |max_rel| max_rel.min(tally.rtol));
        // A distance to a non-finite item compares as not within.
        let survey = |(are_within, may_be_farther, same): (bool, bool, u64), pair: (T, T)| {
            let distance = pair.0.distance(pair.1);
            let are_within = are_within & (distance <= max_abs);
            let may_be_farther = may_be_farther | (distance.up() >= least * pair.0.size());
            // A block cannot overflow the counter, and a check would prevent vectorisation.
            (are_within, may_be_farther, same.wrapping_add(pair.0.same(pair.1).into()))
        };
        let (are_within, may_be_farther, same) = pairs.clone().fold((true, false, 0), survey);
        // Equal items have no larger quotient. Once an expected 0 differs, `rtol` is infinite, and expected zeros have
        // no quotient.
        let smallest = if tally.rtol.is_finite() { -1.0 } else { 0.0 };
        let may_be_new = |pair: (T, T)| {
            let (abs, size) = (pair.0.distance(pair.1).up(), pair.0.size());
            (abs >= least * size) & (abs > 0.0) & (size > smallest)
        };
        let may_be_farther = tally.max_rel.is_none() || may_be_farther && any(pairs.clone(), may_be_new);
        let is_new = |pair: (T, T)| (!pair.0.same(pair.1) & !is_finite(pair)) | (pair.0.distance(pair.1) > max_abs);
        // A distance does not show that a date is NaT.
        let any_new = (!are_within || T::CLASS == ItemClass::Date) && any(pairs.clone(), is_new)
            || may_be_farther && pairs.clone().any(|pair| is_farther(tally, pair));
        let new = match any_new {
            true => pair_bits(rows, &[], |pair, _| is_new(pair) || may_be_farther && is_farther(tally, pair)),
            false => PairBits::default(),
        };
        BlockSurvey { new, differing: pairs.len() - same as usize }
    }

    fn failures(&self, rule: &PairRule, rows: Rows<'_>, steps: &[u64]) -> usize {
        // A block cannot overflow the counter, and a check would prevent vectorisation.
        let count =
            |count: u32, (pair, steps): ((T, T), &u64)| count.wrapping_add(fails::<T, true>(rule, pair, *steps).into());
        pairs_of::<T>(rows).zip(steps_or_zeros(steps)).fold(0, count) as usize
    }

    fn any_above(&self, distance: Number, rows: Rows<'_>) -> bool {
        let most = T::Distance::from_number(distance);
        any(pairs_of::<T>(rows), |(expected, actual)| expected.distance(actual) > most)
    }

    fn masks(&self, rule: &PairRule, rows: Rows<'_>, steps: &[u64], are_finite: bool) -> PairMasks {
        match are_finite {
            true => masks::<T, true>(rule, rows, steps),
            false => masks::<T, false>(rule, rows, steps),
        }
    }

    fn facts(&self, rows: Rows<'_>, pair: usize) -> PairFacts {
        let (expected, actual) = pairs_of::<T>(rows).nth(pair).expect("a pair of the block");
        let error = || PairError { distance: expected.distance(actual).number(), size: expected.size() };
        PairFacts { error: is_finite((expected, actual)).then(error), equals: expected.equals(actual) }
    }

    fn errors(&self, rows: Rows<'_>, out: &mut Vec<f64>) {
        out.clear();
        out.extend(pairs_of::<T>(rows).map(|(expected, actual)| match (expected.is_nan(), actual.is_nan()) {
            (true, true) => 0.0,
            (true, false) | (false, true) => f64::NAN,
            (false, false) if is_finite((expected, actual)) => expected.distance(actual).near(),
            (false, false) if expected.equals(actual) => 0.0,
            (false, false) => f64::INFINITY,
        }));
    }

    fn steps(&self, rows: Rows<'_>, out: &mut Vec<u64>) {
        out.clear();
        let steps = |number: Number| match number {
            Number::Float(steps) => steps as u64,
            Number::Integer(steps) => steps.try_into().unwrap_or(u64::MAX),
        };
        out.extend(pairs_of::<T>(rows).map(|(expected, actual)| steps(expected.distance(actual).number())));
    }

    fn keys(&self, rows: Rows<'_>, out: &mut Vec<u64>) {
        let pairs = || pairs_of::<T>(rows);
        out.resize(pairs().len(), 0);
        // Two vectorised loops are faster than one loop with a branch.
        out.iter_mut().zip(pairs()).for_each(|(key, (expected, actual))| *key = expected.distance(actual).key());
        if !self.are_finite(rows) {
            let left_out = u64::MAX >> (u64::BITS - T::Distance::KEY_BITS);
            out.iter_mut().zip(pairs()).filter(|(_, pair)| !is_finite(*pair)).for_each(|(key, _)| *key = left_out);
        }
    }

    fn key_bits(&self) -> u32 {
        T::Distance::KEY_BITS
    }

    fn number_of_key(&self, key: u64) -> Number {
        T::Distance::number_of_key(key)
    }

    fn summands<'a>(&self, rows: Rows<'a>, scratch: &'a mut Offsets) -> (Summands<'a>, [RealItem; 2]) {
        let pairs = || pairs_of::<T>(rows);
        let first = pairs().next().expect("a block has items");
        let origins = [first.0.real(), first.1.real()];
        let errors = |out: &mut Vec<u64>| {
            out.resize(pairs().len(), 0);
            let errors = out.iter_mut().zip(pairs());
            errors.for_each(|(error, pair)| *error = pair.0.distance(pair.1).near().to_bits());
        };
        if T::CLASS == ItemClass::Float && T::SIZE == size_of::<f64>() {
            scratch.errors.clear();
            if !rows.are_one() {
                errors(&mut scratch.errors);
            }
            let sides = [rows.expected, rows.actual].map(|items| items.as_chunks().0);
            return (Summands { sides, origins: origins.map(RealItem::near), errors: &scratch.errors }, origins);
        }
        scratch.resize(pairs().len());
        scratch.expected.iter_mut().zip(pairs()).for_each(|(out, pair)| *out = pair.0.offset(first.0).to_le_bytes());
        if rows.are_one() {
            return (Summands { sides: [&scratch.expected; 2], origins: [0.0; 2], errors: &[] }, origins);
        }
        let actual = scratch.actual.iter_mut().zip(pairs());
        actual.for_each(|(out, pair)| *out = pair.1.offset(first.1).to_le_bytes());
        errors(&mut scratch.errors);
        (scratch.summands(), origins)
    }

    fn scaled_summands(&self, rows: Rows<'_>, out: &mut Offsets) -> ([RealItem; 2], [i32; 3]) {
        let pairs = || pairs_of::<T>(rows);
        let first = pairs().next().expect("a block has items");
        // Scaling keeps differences of the largest floats finite.
        let power_of = |largest: Option<i32>| if largest > Some(1000) { 4 } else { 0 };
        let powers =
            [power_of(pairs().map(|pair| pair.0.power()).max()), power_of(pairs().map(|pair| pair.1.power()).max())];
        let both = powers[0].max(powers[1]);
        let origins = [first.0.scaled(powers[0]), first.1.scaled(powers[1])];
        out.resize(pairs().len());
        let rows_of = out.expected.iter_mut().zip(&mut out.actual).zip(&mut out.errors);
        for (((x, y), error), (expected, actual)) in rows_of.zip(pairs()) {
            *x = expected.scaled(powers[0]).offset(origins[0]).to_le_bytes();
            *y = actual.scaled(powers[1]).offset(origins[1]).to_le_bytes();
            *error = actual.scaled(both).distance(expected.scaled(both)).near().to_bits();
        }
        ([first.0.real(), first.1.real()], [powers[0], powers[1], both])
    }

    fn ends(&self, items: &[u8]) -> Ends {
        let low = T::items(items).reduce(|low, item| if item.below(low) { item } else { low });
        let high = T::items(items).reduce(|high, item| if high.below(item) { item } else { high });
        let [low, high] = [low, high].map(|end| end.expect("a block has items").real());
        Ends { low, high }
    }

    fn are_finite(&self, rows: Rows<'_>) -> bool {
        !any(pairs_of::<T>(rows), |pair| !is_finite(pair))
    }

    fn keep_finite(&self, rows: Rows<'_>, out: &mut [Vec<u8>; 2]) {
        out.iter_mut().for_each(Vec::clear);
        for (number, _) in pairs_of::<T>(rows).enumerate().filter(|(_, pair)| is_finite(*pair)) {
            let item = number * T::SIZE..(number + 1) * T::SIZE;
            out[0].extend_from_slice(&rows.expected[item.clone()]);
            out[1].extend_from_slice(&rows.actual[item]);
        }
    }

    fn add_products(&self, rows: Rows<'_>, sum: &mut Exact) {
        pairs_of::<T>(rows).for_each(|(expected, actual)| sum.add_product(expected.real(), actual.real()));
    }
}
