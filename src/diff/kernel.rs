//! The loops over pairs of items: all of a comparison that is compiled for each type of item.
//!
//! [`PairKernel`] is what the rest of the comparison knows of them. A call goes through a table of functions, which is paid
//! once for a block of some hundred pairs. So everything else (tallies, sums, merging, searching, reports) is compiled once.
//!
//! The loops are short, over items that are in the nearest cache. Each looks at all items and combines the answers with
//! `|` and not `||`: such a loop is vectorised, where a branch, a check for overflow or a division would make it take many
//! times as long.

use std::marker::PhantomData;

use num_complex::Complex;

use super::distance::{Distance, Number};
use super::item::{BoolItem, ComparedItem, Ends, ItemClass, RealItem, TickItem};
use super::lanes::{Offsets, Summands};
use super::rule::PairRule;
use super::split_item::SplitItem;
use crate::item::exact::Exact;

/// As many items of the expected and the actual tensor, as little-endian bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rows<'a> {
    pub expected: &'a [u8],
    pub actual: &'a [u8],
}

impl Rows<'_> {
    /// Returns the rows, with one memory for both if they have the same bytes, so that work which they would double is
    /// spared.
    pub(super) fn joined(self) -> Self {
        if self.expected == self.actual { Self { actual: self.expected, ..self } } else { self }
    }

    /// Returns whether both are one memory, as [`joined`](Self::joined) makes them.
    pub(super) fn are_one(self) -> bool {
        std::ptr::eq(self.expected, self.actual)
    }
}

/// The pairs of a block. Blocks begin at multiples of it, wherever windows end. A block is converted, compared and summed
/// before the next one, while it is in the nearest cache: 4 KiB of float64 of either tensor.
pub(super) const BLOCK: usize = 512;

/// A bit for each pair of a block, from the lowest of the first word on.
pub(super) type PairBits = [u64; BLOCK / 64];

/// Returns how many bits are set.
pub(super) fn count_ones(bits: &PairBits) -> usize {
    bits.iter().map(|word| word.count_ones() as usize).sum()
}

/// Returns whether the bit of a pair is set.
pub(super) fn is_set(bits: &PairBits, pair: usize) -> bool {
    bits[pair / 64] >> (pair % 64) & 1 == 1
}

/// Iterates over the pairs whose bits are set.
pub(super) fn set_pairs(bits: &PairBits) -> impl Iterator<Item = usize> {
    let some = |word: u64| (word != 0).then_some(word);
    bits.iter().enumerate().flat_map(move |(number, &word)| {
        let rests = std::iter::successors(some(word), move |rest| some(rest & (rest - 1)));
        rests.map(move |rest| 64 * number + rest.trailing_zeros() as usize)
    })
}

/// The pairs of a block that differ in bits, and those of them that no tolerance accepts.
#[derive(Clone, Copy, Debug)]
pub(super) struct PairMasks {
    /// Two NaN differ only if that counts as a difference.
    pub differ: PairBits,
    pub fail: PairBits,
}

/// What one loop over a block tells.
#[derive(Clone, Copy, Debug)]
pub(super) struct BlockSurvey {
    /// The pairs that may change more than counts.
    pub new: PairBits,
    /// How many pairs differ in bits.
    pub differing: usize,
}

/// What the tally needs to know of a pair that may change more than counts.
#[derive(Clone, Copy, Debug)]
pub(super) struct PairFacts {
    /// How far the items are apart; `None` if either is NaN or infinite.
    pub error: Option<PairError>,
    /// Whether the values are equal although the bits may differ.
    pub equals: bool,
}

/// The error of a pair of finite items.
#[derive(Clone, Copy, Debug)]
pub(super) struct PairError {
    pub distance: Number,
    /// The magnitude of the expected item.
    pub size: f64,
}

/// What a pair must exceed, or need, to change the maxima of a tally.
#[derive(Clone, Copy, Debug)]
pub(super) struct Thresholds {
    /// The largest error so far.
    pub max_abs: Number,
    /// The largest relative error so far; `None` if only zeros were expected and none was there.
    pub max_rel: Option<f64>,
    /// The relative tolerance that all pairs so far need.
    pub rtol: f64,
}

/// The loops over pairs of items of one type.
pub(super) trait PairKernel: Send + Sync {
    fn class(&self) -> ItemClass;

    /// Returns the bytes of an item.
    fn size(&self) -> usize;

    /// Finds the pairs that are beyond a threshold of the tally, or differ and are not finite.
    fn survey(&self, tally: &Thresholds, rows: Rows<'_>) -> BlockSurvey;

    /// Counts the pairs that fail where those that differ are finite. `steps` are as for [`masks`](Self::masks).
    fn failures(&self, rule: &PairRule, rows: Rows<'_>, steps: &[u64]) -> usize;

    /// Returns whether any pair is farther apart.
    fn any_above(&self, distance: Number, rows: Rows<'_>) -> bool;

    /// Decides which pairs of a block differ and which fail. `steps` are the steps between the items of each pair, or empty
    /// if there is no limit to them. `are_finite` tells that all pairs which differ are known to be finite, which spares most
    /// of the questions.
    fn masks(&self, rule: &PairRule, rows: Rows<'_>, steps: &[u64], are_finite: bool) -> PairMasks;

    /// Returns the facts of a pair.
    fn facts(&self, rows: Rows<'_>, pair: usize) -> PairFacts;

    /// Makes `out` the errors as pictures show them: 0 where both items are NaN or the same infinity, NaN where only one
    /// is NaN, infinity where only one is infinite.
    #[cfg(feature = "cli")]
    fn errors(&self, rows: Rows<'_>, out: &mut Vec<f64>);

    /// Makes `out` the distances of integers and dates as numbers of steps.
    fn steps(&self, rows: Rows<'_>, out: &mut Vec<u64>);

    /// Makes `out` the [keys](Distance::key) of all distances, those of pairs that are not finite behind all others.
    fn keys(&self, rows: Rows<'_>, out: &mut Vec<u64>);

    /// Returns the bits of a key.
    fn key_bits(&self) -> u32;

    /// Returns the distance that has a key.
    fn of_key(&self, key: u64) -> Number;

    /// Returns what metrics sum of the pairs, of which there is at least one, and the first pair. `scratch` has what is not
    /// stored so. Not for complex items.
    fn summands<'a>(&self, rows: Rows<'a>, scratch: &'a mut Offsets) -> (Summands<'a>, [RealItem; 2]);

    /// Makes `out` the summands of floats whose squares or differences may be out of the range of float64, divided by powers
    /// of 2 so that differences are not. Returns the first pair, and the powers of both sides and of the errors.
    fn scaled_summands(&self, rows: Rows<'_>, out: &mut Offsets) -> ([RealItem; 2], [i32; 3]);

    /// Returns the smallest and the largest of finite items, of which there is at least one. Not for complex items.
    fn ends(&self, items: &[u8]) -> Ends;

    /// Returns whether all items are finite.
    fn are_finite(&self, rows: Rows<'_>) -> bool;

    /// Makes `out` the pairs of which both items are finite.
    fn keep_finite(&self, rows: Rows<'_>, out: &mut [Vec<u8>; 2]);

    /// Adds the products of all pairs, which must be finite and real.
    fn add_products(&self, rows: Rows<'_>, sum: &mut Exact);
}

/// The loops over items of type `T`.
pub(super) struct TypedKernel<T>(PhantomData<fn() -> T>);

impl<T: ComparedItem> TypedKernel<T> {
    pub(super) const SHARED: &'static dyn PairKernel = &Self(PhantomData);
}

/// The type that items are compared as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ComparedAs {
    /// Floats, and integers that float64 holds.
    Float64,
    Int64,
    UInt64,
    /// Integers of two dtypes.
    Int128,
    /// Floats, and integers of 64 bits.
    Split,
    Ticks,
    /// Ticks of two units, in a unit that divides both.
    Times,
    Bool,
    Complex,
}

impl ComparedAs {
    /// Returns the loops over items of this type.
    pub(super) fn kernel(self) -> &'static dyn PairKernel {
        match self {
            Self::Float64 => TypedKernel::<f64>::SHARED,
            Self::Int64 => TypedKernel::<i64>::SHARED,
            Self::UInt64 => TypedKernel::<u64>::SHARED,
            Self::Int128 => TypedKernel::<i128>::SHARED,
            Self::Split => TypedKernel::<SplitItem>::SHARED,
            Self::Ticks => TypedKernel::<TickItem<i64>>::SHARED,
            Self::Times => TypedKernel::<TickItem<i128>>::SHARED,
            Self::Bool => TypedKernel::<BoolItem>::SHARED,
            Self::Complex => TypedKernel::<Complex<f64>>::SHARED,
        }
    }
}

/// Returns the pairs of items.
#[inline(always)]
fn pairs_of<T: ComparedItem>(rows: Rows<'_>) -> impl ExactSizeIterator<Item = (T, T)> + Clone {
    T::items(rows.expected).zip(T::items(rows.actual))
}

#[inline(always)]
fn is_finite<T: ComparedItem>((expected, actual): (T, T)) -> bool {
    expected.is_finite() & actual.is_finite()
}

/// Returns whether a pair differs in bits, and not as two NaN do that count as the same. If `FINITE`, pairs that differ are
/// finite.
#[inline(always)]
fn differs<T: ComparedItem, const FINITE: bool>(rule: &PairRule, (expected, actual): (T, T)) -> bool {
    !expected.same(actual) & (FINITE || !(expected.is_nan() & actual.is_nan() & !rule.nan_differs))
}

/// Returns whether a pair differs, and no tolerance accepts it: every count, mark and mismatch of a comparison comes from
/// here.
#[inline(always)]
fn fails<T: ComparedItem, const FINITE: bool>(rule: &PairRule, pair: (T, T), steps: u64) -> bool {
    let (expected, actual) = pair;
    let accepts = || rule.accepts(expected.distance(actual).up(), expected.size(), steps);
    if FINITE {
        return differs::<T, FINITE>(rule, pair) & !accepts();
    }
    let finite = is_finite(pair);
    // an infinity equals itself alone, though its complex item may have another zero beside it
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

/// Returns whether any item satisfies `predicate`. Unlike `Iterator::any` it looks at all, so that it is vectorised.
#[inline(always)]
fn any<I: Iterator>(items: I, predicate: impl Fn(I::Item) -> bool) -> bool {
    items.fold(false, |any, item| any | predicate(item))
}

/// Returns a bit for each pair of a block, which is set if the pair and its steps satisfy `predicate`. The steps are 0 if
/// there are none.
#[inline(always)]
fn pair_bits<T: ComparedItem>(rows: Rows<'_>, steps: &[u64], predicate: impl Fn((T, T), u64) -> bool) -> PairBits {
    let size = 64 * T::SIZE;
    let sides = rows.expected.chunks(size).zip(rows.actual.chunks(size));
    let mut bits = PairBits::default();
    for ((word, (expected, actual)), steps) in bits.iter_mut().zip(sides).zip(steps_or_zeros(steps).chunks(64)) {
        // where the compiler knows how many pairs there are, it compares 16 at once and not 2
        *word = match expected.len() == size && actual.len() == size && steps.len() == 64 {
            true => word_of(Rows { expected: &expected[..size], actual: &actual[..size] }, &steps[..64], &predicate),
            false => word_of(Rows { expected, actual }, steps, &predicate),
        };
    }
    bits
}

/// Returns a bit for each of up to 64 pairs.
#[inline(always)]
fn word_of<T: ComparedItem>(rows: Rows<'_>, steps: &[u64], predicate: impl Fn((T, T), u64) -> bool) -> u64 {
    // bytes first, in a loop that is vectorised, and then eight of them into eight bits
    let mut answers = [0_u8; 64];
    let pairs = pairs_of::<T>(rows).zip(steps);
    answers.iter_mut().zip(pairs).for_each(|(answer, (pair, steps))| *answer = predicate(pair, *steps).into());
    answers.as_chunks().0.iter().rev().fold(0, |word, eight| word << 8 | bits_of(*eight))
}

/// Returns a byte whose bit n is the lowest bit of byte n.
#[inline(always)]
fn bits_of(eight: [u8; 8]) -> u64 {
    // the product has the lowest bit of byte n as bit 56 + n, and nothing is carried there
    u64::from_le_bytes(eight).wrapping_mul(0x0102_0408_1020_4080) >> 56
}

/// Returns whether a pair has a larger relative error than any before, or needs a larger relative tolerance.
#[inline(always)]
fn is_farther<T: ComparedItem>(tally: &Thresholds, pair: (T, T)) -> bool {
    let (distance, size) = (pair.0.distance(pair.1), pair.0.size());
    let is_above = match tally.max_rel {
        Some(max_rel) => size > 0.0 && distance.near() / size > max_rel,
        // only zeros were expected so far, and none was there
        None => is_finite(pair) && (size > 0.0 || distance.near() == 0.0),
    };
    is_above || distance.up() > tally.rtol * size
}

/// Returns the steps of each pair, which are 0 if there are none.
fn steps_or_zeros(steps: &[u64]) -> &[u64] {
    if steps.is_empty() { &[0; BLOCK] } else { steps }
}

impl<T: ComparedItem> PairKernel for TypedKernel<T> {
    fn class(&self) -> ItemClass {
        T::CLASS
    }

    fn size(&self) -> usize {
        T::SIZE
    }

    fn survey(&self, tally: &Thresholds, rows: Rows<'_>) -> BlockSurvey {
        let max_abs = T::Distance::of_number(tally.max_abs);
        let pairs = pairs_of::<T>(rows);
        // A quotient is above the maximum only if the error is no less than the rounded product. Most blocks have no such
        // pair, so no quotient of theirs is computed.
        let least = tally.max_rel.map_or(0.0, |max_rel| max_rel.min(tally.rtol));
        // the difference to a number that is not finite is not finite, and within no distance
        let survey = |(are_within, may_be_farther, same): (bool, bool, u64), pair: (T, T)| {
            let distance = pair.0.distance(pair.1);
            let are_within = are_within & (distance <= max_abs);
            let may_be_farther = may_be_farther | (distance.up() >= least * pair.0.size());
            // a block has fewer pairs than overflow a counter; to check it would keep the loop from being vectorised
            (are_within, may_be_farther, same.wrapping_add(pair.0.same(pair.1).into()))
        };
        let (are_within, may_be_farther, same) = pairs.clone().fold((true, false, 0), survey);
        // Equal items have no quotient that is larger. Once zero was expected where something else was, no relative
        // tolerance is left to find, and no quotient where zero is expected again.
        let smallest = if tally.rtol.is_finite() { -1.0 } else { 0.0 };
        let may_be_new = |pair: (T, T)| {
            let (abs, size) = (pair.0.distance(pair.1).up(), pair.0.size());
            (abs >= least * size) & (abs > 0.0) & (size > smallest)
        };
        let may_be_farther = tally.max_rel.is_none() || may_be_farther && any(pairs.clone(), may_be_new);
        let is_new = |pair: (T, T)| (!pair.0.same(pair.1) & !is_finite(pair)) | (pair.0.distance(pair.1) > max_abs);
        // no distance shows that an item is NaT
        let any_new = (!are_within || T::CLASS == ItemClass::Date) && any(pairs.clone(), is_new)
            || may_be_farther && pairs.clone().any(|pair| is_farther(tally, pair));
        let new = match any_new {
            true => pair_bits(rows, &[], |pair, _| is_new(pair) || may_be_farther && is_farther(tally, pair)),
            false => PairBits::default(),
        };
        BlockSurvey { new, differing: pairs.len() - same as usize }
    }

    fn failures(&self, rule: &PairRule, rows: Rows<'_>, steps: &[u64]) -> usize {
        // a block has fewer pairs than overflow a counter; to check it would keep the loop from being vectorised
        let count =
            |count: u32, (pair, steps): ((T, T), &u64)| count.wrapping_add(fails::<T, true>(rule, pair, *steps).into());
        pairs_of::<T>(rows).zip(steps_or_zeros(steps)).fold(0, count) as usize
    }

    fn any_above(&self, distance: Number, rows: Rows<'_>) -> bool {
        let most = T::Distance::of_number(distance);
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

    #[cfg(feature = "cli")]
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
        // two loops, each of which is vectorised; one that decides for each item is not
        out.iter_mut().zip(pairs()).for_each(|(key, (expected, actual))| *key = expected.distance(actual).key());
        if !self.are_finite(rows) {
            let left_out = u64::MAX >> (u64::BITS - T::Distance::KEY_BITS);
            out.iter_mut().zip(pairs()).filter(|(_, pair)| !is_finite(*pair)).for_each(|(key, _)| *key = left_out);
        }
    }

    fn key_bits(&self) -> u32 {
        T::Distance::KEY_BITS
    }

    fn of_key(&self, key: u64) -> Number {
        T::Distance::of_key(key)
    }

    fn summands<'a>(&self, rows: Rows<'a>, scratch: &'a mut Offsets) -> (Summands<'a>, [RealItem; 2]) {
        let pairs = || pairs_of::<T>(rows);
        let first = pairs().next().expect("a block has items");
        let origins = [first.0.real(), first.1.real()];
        let errors = |out: &mut Vec<u64>| {
            out.resize(pairs().len(), 0);
            // a loop for each row of numbers, so that each is vectorised
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
        // offsets of items that are not float64s are computed in the type of the items
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
        // the differences of the largest numbers must stay numbers
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
