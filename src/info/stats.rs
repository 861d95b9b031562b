//! Statistics of a tensor, or of a part of it: the same bits whatever the threads, the windows and the storage.
//!
//! A first pass finds everything but the quantiles, for which it counts the leading bits of the items; one or two more
//! passes, seldom three, find these. Items are seen in the order in which they are stored, which costs least. The index of
//! an extreme or a NaN is that of the first such item in C order all the same.

use std::cmp::Ordering;
use std::fmt;

use super::bytes::ByteCounts;
use super::items::{BLOCK, ByteItems, CountedAs, CountedItem, ItemCodec, ItemSums, KeyCodec};
use super::part::{ItemPasses, StoredPart};
use super::planned::to_read;
use crate::engine::job::Progress;
use crate::engine::quantiles::{Fraction, PassCounts, Search};
use crate::error::Result;
use crate::item::dtype::{DType, Kind};
use crate::item::exact::{self, SumOfSquares};
use crate::item::first::{Numbered, find_first, improve, keep_first};
use crate::item::print;
use crate::layout::numbers::ItemNumbers;
use crate::layout::shape::coordinates;
use crate::ops::fill::Limits;
use crate::storage::source::{Hold, Source};

/// The quantiles among the statistics, by their names.
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

/// The fractions of the quantiles.
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
    /// The smallest item, and the index of the first such in C order (+0 and -0 are the same). `None` if no item is finite,
    /// and for complex items and strings.
    pub min: Option<(ItemValue, Vec<usize>)>,
    /// The largest item, as `min`.
    pub max: Option<(ItemValue, Vec<usize>)>,
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
    /// For each of the [`QUANTILES`] the item of that rank in ascending order of the finite items, -0 before +0. Empty if
    /// there is no `min`.
    pub quantiles: Vec<ItemValue>,
}

/// The mean of real or of complex items.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Mean {
    /// The mean of real items.
    Real(f64),
    /// The real and the imaginary part of the mean of complex items.
    Complex(f64, f64),
}

/// An item, which is displayed as in JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemValue {
    dtype: DType,
    item: Vec<u8>,
}

impl ItemValue {
    /// Takes the little-endian bytes of an item.
    fn new(dtype: &DType, item: Vec<u8>) -> Self {
        Self { dtype: dtype.native(), item }
    }

    /// Returns the little-endian dtype.
    pub fn dtype(&self) -> &DType {
        &self.dtype
    }

    /// Returns the little-endian bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.item
    }
}

impl fmt::Display for ItemValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = Vec::new();
        match print::write_item(&mut text, &self.dtype, &self.item) {
            Ok(()) => f.write_str(&String::from_utf8_lossy(&text)),
            // JSON has no notation for the item
            Err(_) => f.write_str("null"),
        }
    }
}

/// Returns the statistics of a tensor, or `None` for items that are not known to mean anything (void, structured, long
/// double). All items may be read more than once. Strings are read only to check that the tensor is complete.
///
/// # Errors
/// Reading fails, a tensor changes meanwhile, or a stream has another length than it should have.
pub fn stats(source: &mut Source, limits: Limits, progress: Progress<'_>) -> Result<Option<Stats>> {
    whole(source, true, limits, progress)
}

/// Returns what [`stats`] does without quantiles, which take most of the time.
///
/// # Errors
/// As for [`stats`].
pub fn stats_without_quantiles(source: &mut Source, limits: Limits, progress: Progress<'_>) -> Result<Option<Stats>> {
    whole(source, false, limits, progress)
}

fn whole(source: &mut Source, quantiles: bool, limits: Limits, progress: Progress<'_>) -> Result<Option<Stats>> {
    source.hold(to_read(source.dtype()), limits.threads)?;
    source.hold(Hold::Scan, limits.threads)?;
    source.finish()?;
    let part = &StoredPart::whole(source.meta());
    stats_of(ItemPasses { source, part, held: None, limits, progress }, quantiles)
}

/// Returns the statistics of a part of a tensor that can be read in any order, quantiles only if they are wanted. Indices are those
/// of the tensor.
///
/// # Errors
/// As for [`stats`].
pub(super) fn stats_of(passes: ItemPasses<'_>, quantiles: bool) -> Result<Option<Stats>> {
    let dtype = passes.source.dtype();
    let stats = match CountedAs::new(dtype.kind()) {
        CountedAs::Bytes(items) => passes.bytes(&items)?,
        CountedAs::Int32(codec) => passes.real(codec.keys, quantiles, &|| RealTally::boxed(codec))?,
        CountedAs::Int64(codec) => passes.real(codec.keys, quantiles, &|| RealTally::boxed(codec))?,
        CountedAs::UInt64(codec) => passes.real(codec.keys, quantiles, &|| RealTally::boxed(codec))?,
        CountedAs::Float32(codec) => passes.real(codec.keys, quantiles, &|| RealTally::boxed(codec))?,
        CountedAs::Float64(codec) => passes.real(codec.keys, quantiles, &|| RealTally::boxed(codec))?,
        CountedAs::Dates(codec) => {
            let stats = passes.real(codec.keys, quantiles, &|| RealTally::boxed(codec))?;
            // the day from which ticks are counted is no zero
            let is_date = matches!(dtype.kind(), Kind::Datetime(_));
            Stats { zero: if is_date { 0 } else { stats.zero }, ..stats }
        }
        CountedAs::Complex64(codec) => passes.complex(&|| ComplexTally::boxed(codec))?,
        CountedAs::Complex128(codec) => passes.complex(&|| ComplexTally::boxed(codec))?,
        CountedAs::Text => Stats::default(),
        CountedAs::Opaque => return Ok(None),
    };
    Ok(Some(stats))
}

/// How many items there are of each sort, and the first NaN.
#[derive(Default)]
struct ItemCounts {
    finite: u64,
    nan: u64,
    inf: u64,
    zero: u64,
    first_nan: Option<Numbered<()>>,
}

impl ItemCounts {
    /// Adds those of other items.
    fn merge(&mut self, other: &Self) {
        self.finite += other.finite;
        self.nan += other.nan;
        self.inf += other.inf;
        self.zero += other.zero;
        keep_first(&mut self.first_nan, other.first_nan, |()| ());
    }

    /// Looks for the first NaN in a block that has one, the first item of which is seen in place `start`.
    fn find_nan<T: Copy>(&mut self, numbers: &ItemNumbers, start: usize, block: &[T], is_nan: impl Fn(T) -> bool) {
        let find = |below| {
            find_first(numbers, start, block, below, is_nan).map(|found| Numbered { value: (), item: found.item })
        };
        improve(&mut self.first_nan, |()| Ordering::Equal, numbers.ascend(), find);
    }
}

/// What a thread knows of the items that it has seen. All that depends on their type is behind this trait, so that passes
/// are compiled once.
trait ItemTally: Send {
    /// Adds the items that bytes hold, at most [`BLOCK`]. The first is seen in place `start`.
    fn add(&mut self, numbers: &ItemNumbers, start: usize, bytes: &[u8]);

    /// Returns what is known.
    fn found(self: Box<Self>) -> TallyFindings;
}

/// What an [`ItemTally`] knows, in a form that does not depend on the type of items.
#[derive(Default)]
struct TallyFindings {
    counts: ItemCounts,
    min: Option<Numbered<RankedItem>>,
    max: Option<Numbered<RankedItem>>,
    /// The sums of real items, those of both parts of complex ones, or none.
    sums: Vec<SumOfSquares>,
}

/// The smallest or the largest item.
struct RankedItem {
    /// A number that is largest for the item that counts.
    rank: i128,
    /// The bytes of the item.
    item: Vec<u8>,
}

impl TallyFindings {
    /// Adds those of other items of the same type.
    fn merge(&mut self, other: Self) {
        self.counts.merge(&other.counts);
        for (own, other) in [(&mut self.min, other.min), (&mut self.max, other.max)] {
            keep_first(own, other, |extreme| extreme.rank);
        }
        self.sums.resize_with(other.sums.len(), SumOfSquares::default);
        self.sums.iter_mut().zip(other.sums).for_each(|(own, other)| own.merge(other));
    }
}

/// The tally of real numbers or dates.
struct RealTally<T: CountedItem> {
    codec: ItemCodec<T>,
    block: Vec<T>,
    counts: ItemCounts,
    min: Option<Numbered<T>>,
    max: Option<Numbered<T>>,
    sums: T::Sums,
}

impl<T: CountedItem> RealTally<T> {
    fn boxed(codec: ItemCodec<T>) -> Box<dyn ItemTally> {
        let (counts, sums) = (ItemCounts::default(), T::Sums::default());
        Box::new(Self { codec, block: Vec::new(), counts, min: None, max: None, sums })
    }
}

impl<T: CountedItem> ItemTally for RealTally<T> {
    /// A first loop, without a branch and so vectorised, finds the ranks of the extremes only. Which item has them is
    /// looked for afterwards, and only if they are new, which is rare after the first blocks.
    fn add(&mut self, numbers: &ItemNumbers, start: usize, bytes: &[u8]) {
        (self.codec.load)(bytes, &mut self.block);
        let block = self.block.as_slice();
        let (mut low, mut high) = (T::ENDS.1, T::ENDS.0);
        let (mut nan, mut inf, mut zero) = (0_u32, 0_u32, 0_u32);
        for &item in block {
            let finite = !item.is_nan() && !item.is_infinite();
            low = low.min(if finite { item.rank() } else { T::ENDS.1 });
            high = high.max(if finite { item.rank() } else { T::ENDS.0 });
            // a block has fewer items than overflow a counter; to check it would keep the loop from being vectorised
            nan = nan.wrapping_add(item.is_nan().into());
            inf = inf.wrapping_add(item.is_infinite().into());
            zero = zero.wrapping_add(item.is_zero().into());
        }
        let finite = block.len() as u64 - u64::from(nan) - u64::from(inf);
        self.counts.finite += finite;
        self.counts.nan += u64::from(nan);
        self.counts.inf += u64::from(inf);
        self.counts.zero += u64::from(zero);
        if nan > 0 {
            self.counts.find_nan(numbers, start, block, T::is_nan);
        }
        if finite == 0 {
            return;
        }
        let has = |rank: T::Rank| move |item: T| !item.is_nan() && !item.is_infinite() && item.rank() == rank;
        let ascend = numbers.ascend();
        let find = |below, rank| find_first(numbers, start, block, below, has(rank));
        improve(&mut self.min, |min| low.cmp(&min.rank()), ascend, |below| find(below, low));
        improve(&mut self.max, |max| max.rank().cmp(&high), ascend, |below| find(below, high));
        self.sums.add(block);
    }

    fn found(self: Box<Self>) -> TallyFindings {
        let store = self.codec.store;
        let extreme = |Numbered { value, item }: Numbered<T>, sign: i128| {
            let rank: i128 = value.rank().into();
            Numbered { value: RankedItem { rank: sign * rank, item: store(value) }, item }
        };
        TallyFindings {
            counts: self.counts,
            min: self.min.map(|min| extreme(min, -1)),
            max: self.max.map(|max| extreme(max, 1)),
            sums: self.sums.total().into_iter().collect(),
        }
    }
}

/// The tally of complex numbers.
struct ComplexTally<T: CountedItem> {
    /// Converts the parts.
    codec: ItemCodec<T>,
    counts: ItemCounts,
    sums: [T::Sums; 2],
    parts: Vec<T>,
    /// The real, and the imaginary parts of a block.
    blocks: [Vec<T>; 2],
}

impl<T: CountedItem> ComplexTally<T> {
    fn boxed(codec: ItemCodec<T>) -> Box<dyn ItemTally> {
        let (counts, sums, blocks) = (ItemCounts::default(), Default::default(), Default::default());
        Box::new(Self { codec, counts, sums, parts: Vec::new(), blocks })
    }
}

impl<T: CountedItem> ItemTally for ComplexTally<T> {
    fn add(&mut self, numbers: &ItemNumbers, start: usize, bytes: &[u8]) {
        (self.codec.load)(bytes, &mut self.parts);
        self.blocks.iter_mut().for_each(Vec::clear);
        let items = self.parts.as_chunks::<2>().0;
        let before = self.counts.nan;
        for &[re, im] in items {
            let nan = re.is_nan() || im.is_nan();
            let inf = !nan && (re.is_infinite() || im.is_infinite());
            self.counts.nan += u64::from(nan);
            self.counts.inf += u64::from(inf);
            self.counts.zero += u64::from(re.is_zero() && im.is_zero());
            self.counts.finite += u64::from(!nan && !inf);
            // neither part of an item that is not finite adds anything
            let [reals, imaginaries] = &mut self.blocks;
            reals.push(if nan || inf { T::default() } else { re });
            imaginaries.push(if nan || inf { T::default() } else { im });
        }
        if self.counts.nan > before {
            self.counts.find_nan(numbers, start, items, |[re, im]| re.is_nan() || im.is_nan());
        }
        self.sums.iter_mut().zip(&self.blocks).for_each(|(sums, block)| sums.add(block));
    }

    fn found(self: Box<Self>) -> TallyFindings {
        let sums = self.sums.into_iter().map(|sums| sums.total().expect("floats have sums")).collect();
        TallyFindings { counts: self.counts, sums, ..TallyFindings::default() }
    }
}

impl ItemPasses<'_> {
    /// Returns the index of the item of a number.
    fn index(&self, number: usize) -> Vec<usize> {
        coordinates(number, &self.part.shape)
    }

    fn value(&self, item: Vec<u8>) -> ItemValue {
        ItemValue::new(self.source.dtype(), item)
    }

    /// Returns the statistics of real numbers or dates, which have extremes and quantiles.
    fn real(&self, keys: KeyCodec, quantiles: bool, begin: &(dyn Fn() -> Box<dyn ItemTally> + Sync)) -> Result<Stats> {
        let fractions = if quantiles { &FRACTIONS[..] } else { &[] };
        let search = Search::new(keys.bits, fractions, self.part.view.items());
        let numbers = &self.part.numbers;
        let begin = || (begin(), search.begin(), Vec::new());
        let tallies = self.scan(begin, |(tally, counts, block), start, bytes| {
            for (i, bytes) in bytes.chunks(BLOCK * keys.size).enumerate() {
                tally.add(numbers, start + i * BLOCK, bytes);
                if quantiles {
                    search.count_loaded(counts, block, |to| (keys.load)(bytes, to));
                }
            }
        })?;
        let mut all = TallyFindings::default();
        let mut passed = Vec::with_capacity(tallies.len());
        for (tally, counts, _) in tallies {
            all.merge(tally.found());
            passed.push(counts);
        }
        let value = |extreme: Numbered<RankedItem>| (self.value(extreme.value.item), self.index(extreme.item));
        let stats = self.stats(&all.counts, &all.sums);
        let quantiles = self.quantiles(keys, search, passed, all.counts.finite)?;
        Ok(Stats { min: all.min.map(value), max: all.max.map(value), quantiles, ..stats })
    }

    fn complex(&self, begin: &(dyn Fn() -> Box<dyn ItemTally> + Sync)) -> Result<Stats> {
        let (numbers, size) = (&self.part.numbers, self.source.dtype().itemsize());
        let tallies = self.scan(begin, |tally, start, bytes| {
            // as many parts as a block of real numbers has items
            for (i, bytes) in bytes.chunks(BLOCK / 2 * size).enumerate() {
                tally.add(numbers, start + i * (BLOCK / 2), bytes);
            }
        })?;
        let mut all = TallyFindings::default();
        tallies.into_iter().for_each(|tally| all.merge(tally.found()));
        Ok(self.stats(&all.counts, &all.sums))
    }

    /// Returns the statistics that counts and sums tell: sums of a real number, of the two parts of a complex one, or none.
    fn stats(&self, counts: &ItemCounts, sums: &[SumOfSquares]) -> Stats {
        let means: Vec<f64> = match counts.finite {
            0 => Vec::new(),
            finite => sums.iter().map(|sums| exact::mean(&sums.sum, finite)).collect(),
        };
        Stats {
            nan: counts.nan,
            inf: counts.inf,
            zero: counts.zero,
            first_nan: counts.first_nan.map(|first| self.index(first.item)),
            mean: match *means.as_slice() {
                [mean] => Some(Mean::Real(mean)),
                [re, im] => Some(Mean::Complex(re, im)),
                _ => None,
            },
            std: (!means.is_empty()).then(|| exact::deviation(sums, counts.finite)),
            ..Stats::default()
        }
    }

    /// Ends the search for quantiles, by more passes over the items if the first has not found them.
    fn quantiles(
        &self,
        codec: KeyCodec,
        mut search: Search,
        mut passed: Vec<PassCounts>,
        finite: u64,
    ) -> Result<Vec<ItemValue>> {
        loop {
            search.narrow(passed, finite, 0);
            if let Some(found) = search.found() {
                return Ok(found.iter().map(|&key| self.value((codec.store)(key))).collect());
            }
            let counted = self.scan(
                || (search.begin(), Vec::new()),
                |(counts, keys), _, bytes| {
                    for bytes in bytes.chunks(BLOCK * codec.size) {
                        search.count_loaded(counts, keys, |to| (codec.load)(bytes, to));
                    }
                },
            )?;
            passed = counted.into_iter().map(|(counts, _)| counts).collect();
        }
    }

    fn bytes(&self, items: &ByteItems) -> Result<Stats> {
        let seen = ByteCounts::of(*self, items)?;
        let mut counts = ItemCounts { first_nan: seen.first_nan, ..ItemCounts::default() };
        let mut sums = SumOfSquares::default();
        for (item, &count) in (0..=255_u8).zip(&seen.seen).filter(|(_, count)| **count > 0) {
            let value = items.value(item);
            if value.is_nan() {
                counts.nan += count;
                continue;
            }
            if value.is_infinite() {
                counts.inf += count;
                continue;
            }
            counts.finite += count;
            counts.zero += if value == 0.0 { count } else { 0 };
            sums.sum.add_times(value, count);
            sums.squares.add_product_times(value, value, count);
        }
        // any byte but 0 is true
        let shown = |item: u8| self.value(vec![if items.are_bools { item.min(1) } else { item }]);
        let value = |found: Numbered<u8>| (shown(found.value), self.index(found.item));
        let ranks = FRACTIONS.iter().filter(|_| counts.finite > 0).map(|fraction| fraction.rank(counts.finite));
        Ok(Stats {
            min: seen.min.map(value),
            max: seen.max.map(value),
            quantiles: ranks.map(|rank| shown(seen.of_rank(items, rank))).collect(),
            ..self.stats(&counts, &[sums])
        })
    }
}
