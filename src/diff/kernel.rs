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
use crate::item::exact::Exact;

/// As many items of the expected and the actual tensor, as little-endian bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rows<'a> {
    pub expected: &'a [u8],
    pub actual: &'a [u8],
}

/// What the tally needs to know of a pair that may change it.
#[derive(Clone, Copy, Debug)]
pub(super) struct PairFacts {
    /// How far the items are apart; `None` if either is NaN or infinite.
    pub error: Option<PairError>,
    /// Whether the bits differ, and the items are not both NaN (or that counts as a difference).
    pub differs: bool,
    /// Whether the values are equal although the bits may differ.
    pub equals: bool,
    /// Whether no tolerance accepts the pair.
    pub fails: bool,
}

/// The error of a pair of finite items.
#[derive(Clone, Copy, Debug)]
pub(super) struct PairError {
    pub distance: Number,
    /// The magnitude of the expected item.
    pub size: f64,
}

/// How many pairs of a block differ in bits, and how many of them no tolerance accepts.
#[derive(Clone, Copy, Debug)]
pub(super) struct BlockCounts {
    pub differing: usize,
    pub mismatches: usize,
}

/// What a pair must exceed, or need, to change anything but counts in a tally.
#[derive(Clone, Copy, Debug)]
pub(super) struct Thresholds {
    /// The largest error so far.
    pub max_abs: Number,
    /// The largest relative error so far; `None` if only zeros were expected and none was there.
    pub max_rel: Option<f64>,
    /// The relative tolerance that all pairs so far need.
    pub rtol: f64,
    /// Whether the next mismatch is listed, however small its error is.
    pub lists_next: bool,
    /// The error above which a mismatch is listed as one of the worst; `None` if no finite one is.
    pub worst: Option<Number>,
}

/// What equal tensors tell for metrics: a finite item, and whether another finite one has another value.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Variety {
    pub first: Option<[RealItem; 2]>,
    pub varies: bool,
}

impl Variety {
    /// Adds what other items tell.
    pub(super) fn merge(&mut self, other: Self) {
        self.varies |= other.varies || self.first.zip(other.first).is_some_and(|(one, other)| one != other);
        self.first = self.first.or(other.first);
    }
}

/// The loops over pairs of items of one type. `steps` are the steps between the items of each pair, or empty if there is no
/// limit to them.
pub(super) trait PairKernel: Send + Sync {
    fn class(&self) -> ItemClass;

    /// Returns the bytes of an item.
    fn size(&self) -> usize;

    /// Counts what differs in a block, or returns `None` if one of its pairs is beyond a threshold of the tally. `rule`
    /// decides what passes; the steps between floats have been looked at already.
    fn count(&self, tally: &Thresholds, rule: &PairRule, rows: Rows<'_>, steps: &[u64]) -> Option<BlockCounts>;

    /// Makes `out` the facts of all pairs.
    fn facts(&self, rule: &PairRule, rows: Rows<'_>, steps: &[u64], out: &mut Vec<PairFacts>);

    /// Sets the bit of each pair that fails, from bit number `first` on, a multiple of 8.
    fn mark_failures(&self, rule: &PairRule, rows: Rows<'_>, steps: &[u64], first: usize, bits: &mut [u64]);

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

    /// Returns the smallest and the largest of finite items, of which there is at least one. Not for complex items.
    fn ends(&self, items: &[u8]) -> Ends;

    /// Returns whether all items are finite.
    fn are_finite(&self, rows: Rows<'_>) -> bool;

    /// Makes `out` the pairs of which both items are finite.
    fn keep_finite(&self, rows: Rows<'_>, out: &mut [Vec<u8>; 2]);

    /// Adds the products of all pairs, which must be finite and real.
    fn add_products(&self, rows: Rows<'_>, sum: &mut Exact);

    /// Looks at items of equal tensors, until two values are known.
    fn vary(&self, items: &[u8], variety: &mut Variety);
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
    Ticks,
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
            Self::Ticks => TypedKernel::<TickItem>::SHARED,
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

/// Returns whether a pair differs in bits, and not as two NaN do that count as the same.
#[inline(always)]
fn differs<T: ComparedItem>(rule: &PairRule, (expected, actual): (T, T)) -> bool {
    !(expected.same(actual) | (expected.is_nan() & actual.is_nan() & !rule.nan_differs))
}

/// Decides whether a pair passes: every count, mark and mismatch of a comparison comes from here. If `FINITE`, pairs that
/// differ are known to be finite, which spares most of the questions.
#[inline(always)]
fn fails<T: ComparedItem, const FINITE: bool>(rule: &PairRule, pair: (T, T), steps: u64) -> bool {
    let (expected, actual) = pair;
    let accepts = || rule.accepts(expected.distance(actual).up(), expected.size(), steps);
    if FINITE {
        return !expected.same(actual) & !accepts();
    }
    let finite = is_finite(pair);
    // an infinity equals itself alone, though its complex item may have another zero beside it
    differs(rule, pair) & !((finite & accepts()) | (!finite & expected.equals(actual) & rule.is_tolerant()))
}

/// Returns whether any item satisfies `predicate`. Unlike `Iterator::any` it looks at all, so that it is vectorised.
#[inline(always)]
fn any<I: Iterator>(items: I, predicate: impl Fn(I::Item) -> bool) -> bool {
    items.fold(false, |any, item| any | predicate(item))
}

/// Sets the bit of each item that satisfies `predicate`, from bit number `first` on, a multiple of 8.
#[inline(always)]
fn set_bits<I: ExactSizeIterator>(mut items: I, first: usize, bits: &mut [u64], predicate: impl Fn(I::Item) -> bool) {
    let mut at = first;
    while items.len() > 0 {
        // bytes first, in a loop that is vectorised, and then eight of them into eight bits
        let mut answers = [0_u8; 64];
        let count = answers.len().min(items.len());
        answers[..count].iter_mut().zip(items.by_ref()).for_each(|(answer, item)| *answer = predicate(item).into());
        for eight in answers[..count.next_multiple_of(8)].as_chunks().0 {
            bits[at / 64] |= bits_of(*eight) << (at % 64);
            at += 8;
        }
    }
}

/// Returns a byte whose bit n is the lowest bit of byte n.
#[inline(always)]
fn bits_of(eight: [u8; 8]) -> u64 {
    // the product has the lowest bit of byte n as bit 56 + n, and nothing is carried there
    u64::from_le_bytes(eight).wrapping_mul(0x0102_0408_1020_4080) >> 56
}

/// Sets the bit of each pair of stored items of one dtype that differ, each of `width` bytes.
pub(super) fn mark_different(width: usize, rows: Rows<'_>, bits: &mut [u64]) {
    fn mark<const WIDTH: usize>(rows: Rows<'_>, bits: &mut [u64]) {
        let [(expected, last_expected), (actual, last_actual)] =
            [rows.expected, rows.actual].map(|items| items.as_chunks::<WIDTH>().0.as_chunks::<64>());
        // the compiler knows how many pairs a whole word is of, and so compares 16 at once where it would compare 2
        for ((expected, actual), bits) in expected.iter().zip(actual).zip(&mut *bits) {
            let mut answers = [0_u8; 64];
            for ((answer, expected), actual) in answers.iter_mut().zip(expected).zip(actual) {
                *answer = (expected != actual).into();
            }
            *bits |= answers.as_chunks().0.iter().rev().fold(0, |word, eight| word << 8 | bits_of(*eight));
        }
        let pairs = last_expected.iter().zip(last_actual);
        set_bits(pairs, 64 * expected.len(), bits, |(expected, actual)| expected != actual);
    }
    match width {
        1 => mark::<1>(rows, bits),
        2 => mark::<2>(rows, bits),
        4 => mark::<4>(rows, bits),
        8 => mark::<8>(rows, bits),
        16 => mark::<16>(rows, bits),
        _ => unreachable!("numbers of {width} bytes"),
    }
}

/// Returns whether any of the pairs has a larger relative error than any before, or needs a larger relative tolerance.
/// Pairs that differ are finite.
#[inline]
fn is_farther<T: ComparedItem>(tally: &Thresholds, mut pairs: impl Iterator<Item = (T, T)>) -> bool {
    let Thresholds { max_rel, rtol, .. } = *tally;
    pairs.any(|pair| {
        let (distance, size) = (pair.0.distance(pair.1), pair.0.size());
        let is_above = match max_rel {
            Some(max_rel) => size > 0.0 && distance.near() / size > max_rel,
            // only zeros were expected so far, and none was there
            None => is_finite(pair) && (size > 0.0 || distance.near() == 0.0),
        };
        is_above || distance.up() > rtol * size
    })
}

/// Counts the pairs that fail. Each pair comes with the number of steps between its items. Returns `None` if one of them must be listed.
#[inline]
fn count_failures<T: ComparedItem>(
    tally: &Thresholds,
    rule: &PairRule,
    pairs: impl Iterator<Item = ((T, T), u64)> + Clone,
    differing: u32,
) -> Option<u32> {
    let fails = |(pair, steps): ((T, T), u64)| fails::<T, true>(rule, pair, steps);
    let failing = match rule.is_tolerant() {
        // a block has fewer pairs than overflow a counter; to check it would keep the loop from being vectorised
        true => pairs.clone().fold(0_u32, |count, pair| count.wrapping_add(fails(pair).into())),
        false => differing,
    };
    if failing == 0 {
        return Some(0);
    }
    let is_listed = tally.lists_next
        || tally
            .worst
            .map(T::Distance::of_number)
            .is_some_and(|worst| any(pairs, |pair: ((T, T), u64)| fails(pair) & (pair.0.0.distance(pair.0.1) > worst)));
    (!is_listed).then_some(failing)
}

impl<T: ComparedItem> PairKernel for TypedKernel<T> {
    fn class(&self) -> ItemClass {
        T::CLASS
    }

    fn size(&self) -> usize {
        T::SIZE
    }

    fn count(&self, tally: &Thresholds, rule: &PairRule, rows: Rows<'_>, steps: &[u64]) -> Option<BlockCounts> {
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
        let differing = pairs.len() as u64 - same;
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
        if (!are_within || T::CLASS == ItemClass::Date) && any(pairs.clone(), is_new)
            || may_be_farther && is_farther(tally, pairs.clone())
        {
            return None;
        }
        let mismatches = match steps {
            [] => count_failures(tally, rule, pairs.map(|pair| (pair, 0)), differing as u32),
            steps => count_failures(tally, rule, pairs.zip(steps.iter().copied()), differing as u32),
        }?;
        Some(BlockCounts { differing: differing as usize, mismatches: mismatches as usize })
    }

    fn facts(&self, rule: &PairRule, rows: Rows<'_>, steps: &[u64], out: &mut Vec<PairFacts>) {
        out.clear();
        out.extend(pairs_of::<T>(rows).enumerate().map(|(number, pair)| {
            let (expected, actual) = pair;
            let error = || PairError { distance: expected.distance(actual).number(), size: expected.size() };
            PairFacts {
                error: is_finite(pair).then(error),
                differs: differs(rule, pair),
                equals: expected.equals(actual),
                fails: fails::<T, false>(rule, pair, steps.get(number).copied().unwrap_or(0)),
            }
        }));
    }

    fn mark_failures(&self, rule: &PairRule, rows: Rows<'_>, steps: &[u64], first: usize, bits: &mut [u64]) {
        match (rule.is_tolerant(), steps) {
            (false, _) => set_bits(pairs_of::<T>(rows), first, bits, |pair| differs(rule, pair)),
            (true, []) => set_bits(pairs_of::<T>(rows), first, bits, |pair| fails::<T, false>(rule, pair, 0)),
            (true, steps) => {
                let pairs = pairs_of::<T>(rows).zip(steps.iter().copied());
                set_bits(pairs, first, bits, |(pair, steps)| fails::<T, false>(rule, pair, steps));
            }
        }
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
        let origins = [first.0.parts()[0], first.1.parts()[0]];
        let errors = |out: &mut Vec<u64>| {
            out.resize(pairs().len(), 0);
            // a loop for each row of numbers, so that each is vectorised
            let errors = out.iter_mut().zip(pairs());
            errors.for_each(|(error, pair)| *error = pair.0.distance(pair.1).near().to_bits());
        };
        if T::CLASS == ItemClass::Float {
            errors(&mut scratch.errors);
            let sides = [rows.expected, rows.actual].map(|items| items.as_chunks().0);
            return (Summands { sides, origins: origins.map(RealItem::near), errors: &scratch.errors }, origins);
        }
        // offsets of integers are exact before they become float64s
        scratch.resize(pairs().len());
        let Offsets { expected, actual, .. } = scratch;
        expected.iter_mut().zip(pairs()).for_each(|(out, pair)| *out = pair.0.offset(first.0).to_le_bytes());
        actual.iter_mut().zip(pairs()).for_each(|(out, pair)| *out = pair.1.offset(first.1).to_le_bytes());
        errors(&mut scratch.errors);
        (scratch.summands(), origins)
    }

    fn ends(&self, items: &[u8]) -> Ends {
        let low = T::items(items).reduce(|low, item| if item.below(low) { item } else { low });
        let high = T::items(items).reduce(|high, item| if high.below(item) { item } else { high });
        let [low, high] = [low, high].map(|end| end.expect("a block has items").parts()[0]);
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
        pairs_of::<T>(rows).for_each(|(expected, actual)| sum.add_product(expected.parts()[0], actual.parts()[0]));
    }

    fn vary(&self, items: &[u8], variety: &mut Variety) {
        for item in T::items(items).filter(|item| item.is_finite()).map(T::parts) {
            variety.merge(Variety { first: Some(item), varies: false });
            if variety.varies {
                return;
            }
        }
    }
}
