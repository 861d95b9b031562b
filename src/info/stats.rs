//! Statistics of a tensor, or of a part of it: the same bits whatever the threads, the windows and the storage.
//!
//! A first pass makes all of them but the quantiles, for which it counts the leading bits of the items; one or two more
//! passes, seldom three, find these. Items are seen in the order in which they lie, which costs least; where the first of
//! several is asked for, it is the first in C order.

use std::fmt;

use super::bytes::Counts;
use super::firsts::{Numbered, first_of, improve, least};
use super::items::{BLOCK, Byte, CountedItem, Sums, Ticks};
use super::part::Part;
use crate::engine::job::Progress;
use crate::engine::quantiles::{Fraction, Search};
use crate::engine::scan::{ScannedPart, scan_parts};
use crate::error::Result;
use crate::item::dtype::{DType, Kind};
use crate::item::element::{Element, match_kind};
use crate::item::exact::{self, SumOfSquares};
use crate::item::print;
use crate::layout::numbers::ItemNumbers;
use crate::layout::shape::coordinates;
use crate::ops::fill::Limits;
use crate::storage::source::Source;

/// The quantiles that statistics tell, by their names.
pub const QUANTILES: [(&str, Fraction); 9] = [
    ("0.001", Fraction::new(1, 1000)),
    ("0.01", Fraction::new(1, 100)),
    ("0.05", Fraction::new(5, 100)),
    ("0.25", Fraction::new(1, 4)),
    ("0.5", Fraction::new(1, 2)),
    ("0.75", Fraction::new(3, 4)),
    ("0.95", Fraction::new(95, 100)),
    ("0.99", Fraction::new(99, 100)),
    ("0.999", Fraction::new(999, 1000)),
];

/// Their fractions alone.
const FRACTIONS: [Fraction; QUANTILES.len()] = {
    let mut fractions = [QUANTILES[0].1; QUANTILES.len()];
    let mut n = 0;
    while n < fractions.len() {
        fractions[n] = QUANTILES[n].1;
        n += 1;
    }
    fractions
};

/// Statistics of a tensor's finite items, and how many are not.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stats {
    /// The smallest item and the index of the first such, in C order (+0 and -0 are the same). `None` if no item is
    /// finite, and for complex items and strings.
    pub min: Option<(Value, Vec<usize>)>,
    /// The largest, as `min`.
    pub max: Option<(Value, Vec<usize>)>,
    /// The mean, rounded once from the exact sum. `None` if no item is finite, and for dates and strings.
    pub mean: Option<Mean>,
    /// The standard deviation of the population, rounded once; `None` as `mean`. Of complex items it is the root of
    /// the mean of the squared modulus of the difference to the mean.
    pub std: Option<f64>,
    /// Items that are NaN (of complex ones: either part) or "not a time".
    pub nan: u64,
    /// Items that are infinite (of complex ones: either part, and none is NaN).
    pub inf: u64,
    /// Items that are +0 or -0 (of complex ones: both parts), or a time difference of 0.
    pub zero: u64,
    /// The index of the first in C order of the items that are NaN.
    pub first_nan: Option<Vec<usize>>,
    /// For each of the [`QUANTILES`] the item that has its rank in ascending order of the finite items, -0 before +0.
    /// Empty where there is no `min`.
    pub quantiles: Vec<Value>,
}

/// A mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Mean {
    /// Of real items.
    Real(f64),
    /// Of complex items: real and imaginary part.
    Complex(f64, f64),
}

/// One item. It is displayed as JSON has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    dtype: DType,
    item: Vec<u8>,
}

impl Value {
    /// An item of a little-endian dtype.
    fn new(dtype: &DType, item: Vec<u8>) -> Self {
        Self { dtype: dtype.native(), item }
    }

    /// The dtype, little-endian.
    pub fn dtype(&self) -> &DType {
        &self.dtype
    }

    /// The item, little-endian.
    pub fn bytes(&self) -> &[u8] {
        &self.item
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = Vec::new();
        match print::write_item(&mut text, &self.dtype, &self.item) {
            Ok(()) => f.write_str(&String::from_utf8_lossy(&text)),
            // JSON has no form for it
            Err(_) => f.write_str("null"),
        }
    }
}

/// Reads all items, some of them more than once. Items that are no numbers or dates are only read where that shows
/// whether they are whole. `None` for items that hold who knows what: void, structured, long double.
///
/// # Errors
/// Of reading, among them a tensor that changes meanwhile or a stream of another length than it should have.
pub fn stats(source: &mut Source, limits: Limits, progress: Progress<'_>) -> Result<Option<Stats>> {
    source.settle()?;
    source.flatten(limits.threads)?;
    source.finish()?;
    stats_of(source, &Part::whole(source.meta()), limits, progress)
}

/// Statistics of a part of a tensor that can be read in any order; indices are those of the tensor.
///
/// # Errors
/// Those of [`stats`].
pub(super) fn stats_of(source: &Source, part: &Part, limits: Limits, progress: Progress<'_>) -> Result<Option<Stats>> {
    let pass = ItemPasses { source, part, limits, progress };
    match_kind!(source.dtype().kind().clone(), {
        bool T => pass.bytes(Byte::Bool).map(Some),
        integer T => match T::BYTE {
            Some(byte) => pass.bytes(byte).map(Some),
            None => pass.real::<T>().map(Some),
        },
        float T => pass.real::<T>().map(Some),
        complex T => pass.complex::<<T as Element>::Part>().map(Some),
        Kind::Narrow(narrow) => pass.bytes(Byte::Narrow(narrow)).map(Some),
        // the day that ticks are counted from is no zero
        Kind::Datetime(_) => pass.real::<Ticks>().map(|stats| Some(Stats { zero: 0, ..stats })),
        Kind::Timedelta(_) => pass.real::<Ticks>().map(Some),
        Kind::Bytes(_) | Kind::Str(_) => Ok(Some(Stats::default())),
        Kind::LongDouble(_) | Kind::ComplexLongDouble(_) | Kind::Void(_) | Kind::Struct(_) => Ok(None),
    })
}

/// What is known of the items seen.
struct Tally<T: CountedItem> {
    min: Numbered<T>,
    max: Numbered<T>,
    first_nan: Numbered<()>,
    finite: u64,
    nan: u64,
    inf: u64,
    zero: u64,
    sums: T::Sums,
}

impl<T: CountedItem> Default for Tally<T> {
    fn default() -> Self {
        let sums = T::Sums::default();
        Self { min: None, max: None, first_nan: None, finite: 0, nan: 0, inf: 0, zero: 0, sums }
    }
}

impl<T: CountedItem> Tally<T> {
    /// Sees items, the first of which is seen in place `start`.
    ///
    /// A first loop, without a branch and so vectorised, knows the extremes by their keys only; which item has them is
    /// looked for afterwards and only where they are new, which is rare after the first blocks.
    fn add(&mut self, numbers: &ItemNumbers, start: usize, block: &[T]) {
        let (mut low, mut high) = (T::ENDS.1, T::ENDS.0);
        let (mut nan, mut inf, mut zero) = (0_u32, 0_u32, 0_u32);
        for &item in block {
            let finite = !item.nan() && !item.inf();
            low = low.min(if finite { item.key() } else { T::ENDS.1 });
            high = high.max(if finite { item.key() } else { T::ENDS.0 });
            nan += u32::from(item.nan());
            inf += u32::from(item.inf());
            zero += u32::from(item.zero());
        }
        let finite = block.len() as u64 - u64::from(nan) - u64::from(inf);
        self.finite += finite;
        self.nan += u64::from(nan);
        self.inf += u64::from(inf);
        self.zero += u64::from(zero);
        let ascend = numbers.ascend();
        if nan > 0 {
            let is_nan = |item: T| item.nan();
            improve(
                &mut self.first_nan,
                |()| std::cmp::Ordering::Equal,
                ascend,
                |below| least(numbers, start, block, below, is_nan).map(|(_, number)| ((), number)),
            );
        }
        if finite == 0 {
            return;
        }
        let has = |key: T::Key| move |item: T| !item.nan() && !item.inf() && item.key() == key;
        improve(
            &mut self.min,
            |min| low.cmp(&min.key()),
            ascend,
            |below| least(numbers, start, block, below, has(low)),
        );
        improve(
            &mut self.max,
            |max| max.key().cmp(&high),
            ascend,
            |below| least(numbers, start, block, below, has(high)),
        );
        self.sums.add(block);
    }
}

/// What is known of the complex items seen.
struct ComplexTally<T: CountedItem> {
    first_nan: Numbered<()>,
    finite: u64,
    nan: u64,
    inf: u64,
    zero: u64,
    sums: [T::Sums; 2],
    parts: Vec<T>,
    /// The real, and the imaginary parts of a block.
    blocks: [Vec<T>; 2],
}

/// Passes over the items of a part of a tensor.
struct ItemPasses<'a> {
    source: &'a Source,
    part: &'a Part,
    limits: Limits,
    progress: Progress<'a>,
}

impl ItemPasses<'_> {
    /// One pass over all items.
    fn scan<S: Send>(
        &self,
        begin: impl Fn() -> S + Sync,
        each: impl Fn(&mut S, usize, &[u8]) + Sync,
    ) -> Result<Vec<S>> {
        let part = ScannedPart { source: self.source, view: self.part.view.clone() };
        scan_parts(
            [part],
            self.limits,
            self.progress,
            |_| true,
            begin,
            |state, start, [bytes]| {
                each(state, start, bytes);
                Ok(true)
            },
        )
    }

    /// The index of an item by its number.
    fn index(&self, number: usize) -> Vec<usize> {
        coordinates(number, &self.part.shape)
    }

    fn value(&self, item: Vec<u8>) -> Value {
        Value::new(self.source.dtype(), item)
    }

    fn real<T: CountedItem>(&self) -> Result<Stats> {
        let mut search = Search::new(T::BITS, &FRACTIONS, self.part.view.items());
        let numbers = &self.part.numbers;
        let keys_of = |block: &[T], keys: &mut Vec<u64>| {
            keys.clear();
            keys.extend(block.iter().map(|item| if item.nan() || item.inf() { T::LEFT_OUT } else { item.to_key() }));
        };
        let begin = || (Tally::<T>::default(), search.begin(), Vec::new(), Vec::new());
        let tallies = self.scan(begin, |(tally, counts, block, keys), start, bytes| {
            for (i, bytes) in bytes.chunks(BLOCK * size_of::<T>()).enumerate() {
                T::load(bytes, block);
                tally.add(numbers, start + i * BLOCK, block);
                keys_of(block, keys);
                search.count(counts, keys);
            }
        })?;
        let (mut stats, mut finite) = (Stats::default(), 0);
        let (mut min, mut max, mut first_nan) = (None, None, None);
        let mut sums = SumOfSquares::default();
        let mut all_counts = Vec::with_capacity(tallies.len());
        for (tally, counts, ..) in tallies {
            min = first_of(min, tally.min, CountedItem::key);
            max = first_of(max, tally.max, |item| std::cmp::Reverse(CountedItem::key(item)));
            first_nan = first_of(first_nan, tally.first_nan, |()| ());
            finite += tally.finite;
            stats.nan += tally.nan;
            stats.inf += tally.inf;
            stats.zero += tally.zero;
            sums.merge(tally.sums.total());
            all_counts.push(counts);
        }
        search.narrow(all_counts, finite);
        while search.found().is_none() {
            let begin = || (search.begin(), Vec::new(), Vec::new());
            let counted = self.scan(begin, |(counts, block, keys), _, bytes| {
                for bytes in bytes.chunks(BLOCK * size_of::<T>()) {
                    T::load(bytes, block);
                    keys_of(block, keys);
                    search.count(counts, keys);
                }
            })?;
            search.narrow(counted.into_iter().map(|(counts, ..)| counts).collect(), finite);
        }
        let quantiles = search.found().unwrap_or_default().iter();
        stats.quantiles = quantiles.map(|&key| self.value(T::from_key(key).store())).collect();
        let known = |extreme: Numbered<T>| extreme.map(|(item, number)| (self.value(item.store()), self.index(number)));
        (stats.min, stats.max) = (known(min), known(max));
        stats.first_nan = first_nan.map(|((), number)| self.index(number));
        if T::Sums::ARE_THERE && finite > 0 {
            stats.mean = Some(Mean::Real(exact::mean(&sums.sum, finite)));
            stats.std = Some(exact::deviation(&[sums], finite));
        }
        Ok(stats)
    }

    fn complex<T: CountedItem + Default>(&self) -> Result<Stats> {
        let numbers = &self.part.numbers;
        let begin = || ComplexTally::<T> {
            first_nan: None,
            finite: 0,
            nan: 0,
            inf: 0,
            zero: 0,
            sums: Default::default(),
            parts: Vec::new(),
            blocks: [Vec::new(), Vec::new()],
        };
        let tallies = self.scan(begin, |tally, start, bytes| {
            for (i, bytes) in bytes.chunks(BLOCK * size_of::<T>()).enumerate() {
                T::load(bytes, &mut tally.parts);
                tally.blocks.iter_mut().for_each(Vec::clear);
                let items = tally.parts.as_chunks::<2>().0;
                let before = tally.nan;
                for &[re, im] in items {
                    let nan = re.nan() || im.nan();
                    let inf = !nan && (re.inf() || im.inf());
                    tally.nan += u64::from(nan);
                    tally.inf += u64::from(inf);
                    tally.zero += u64::from(re.zero() && im.zero());
                    tally.finite += u64::from(!nan && !inf);
                    // an item that is not finite adds nothing with either part
                    let [reals, imaginaries] = &mut tally.blocks;
                    reals.push(if nan || inf { T::default() } else { re });
                    imaginaries.push(if nan || inf { T::default() } else { im });
                }
                if tally.nan > before {
                    // an item is two parts
                    let start = start + i * BLOCK / 2;
                    improve(
                        &mut tally.first_nan,
                        |()| std::cmp::Ordering::Equal,
                        numbers.ascend(),
                        |below| {
                            let found = least(numbers, start, items, below, |[re, im]| re.nan() || im.nan());
                            found.map(|(_, number)| ((), number))
                        },
                    );
                }
                tally.sums.iter_mut().zip(&tally.blocks).for_each(|(sums, block)| sums.add(block));
            }
        })?;
        let (mut stats, mut finite, mut first_nan) = (Stats::default(), 0, None);
        let mut parts = [SumOfSquares::default(), SumOfSquares::default()];
        for tally in tallies {
            first_nan = first_of(first_nan, tally.first_nan, |()| ());
            finite += tally.finite;
            stats.nan += tally.nan;
            stats.inf += tally.inf;
            stats.zero += tally.zero;
            parts.iter_mut().zip(tally.sums).for_each(|(part, sums)| part.merge(sums.total()));
        }
        stats.first_nan = first_nan.map(|((), number)| self.index(number));
        if finite > 0 {
            let [re, im] = parts.each_ref().map(|part| exact::mean(&part.sum, finite));
            stats.mean = Some(Mean::Complex(re, im));
            stats.std = Some(exact::deviation(&parts, finite));
        }
        Ok(stats)
    }

    fn bytes(&self, byte: Byte) -> Result<Stats> {
        let counts = Counts::of(self.source, self.part, byte, self.limits, self.progress)?;
        let mut stats = Stats::default();
        let (mut finite, mut sums) = (0, SumOfSquares::default());
        for (item, &count) in (0..=255_u8).zip(&counts.seen).filter(|(_, count)| **count > 0) {
            let value = byte.value(item);
            if value.is_nan() {
                stats.nan += count;
                continue;
            }
            if value.is_infinite() {
                stats.inf += count;
                continue;
            }
            finite += count;
            stats.zero += if value == 0.0 { count } else { 0 };
            sums.sum.add_times(value, count);
            sums.squares.add_product_times(value, value, count);
        }
        // any byte but 0 is true
        let shown = |item: u8| self.value(vec![if matches!(byte, Byte::Bool) { item.min(1) } else { item }]);
        let known = |extreme: Numbered<u8>| extreme.map(|(item, number)| (shown(item), self.index(number)));
        (stats.min, stats.max) = (known(counts.min), known(counts.max));
        stats.first_nan = counts.first_nan.map(|((), number)| self.index(number));
        if finite > 0 {
            stats.mean = Some(Mean::Real(exact::mean(&sums.sum, finite)));
            stats.std = Some(exact::deviation(&[sums], finite));
            let ranked = |fraction: &Fraction| counts.of_rank(byte, fraction.rank(finite)).map(shown);
            stats.quantiles = FRACTIONS.iter().filter_map(ranked).collect();
        }
        Ok(stats)
    }
}
