//! Statistics of a tensor or a part, with the same bits for any threads, windows and storage. The first pass computes
//! everything except quantiles, which take one or two more passes, rarely three. Items are visited in storage order,
//! which is cheapest.

use std::cmp::Ordering;
use std::fmt;

use super::bytes::{ByteCounts, ItemPasses, StoredPart, to_read};
use super::items::{BLOCK, ByteItems, CountedAs, CountedItem, ItemCodec, ItemSums, KeyCodec};
use crate::operators::fill::Limits;
use crate::plans::job::Progress;
use crate::plans::quantiles::{Fraction, PassCounts, Search};
use crate::storage::source::{Hold, Source};
use tensorop_kernels::error::Result;
use tensorop_kernels::item::dtype::{DType, Kind};
use tensorop_kernels::item::exact::{self, SumOfSquares};
use tensorop_kernels::item::first::{Numbered, find_first, improve, keep_first};
use tensorop_kernels::item::print;
use tensorop_kernels::layout::axis::coordinates;
use tensorop_kernels::layout::numbers::ItemNumbers;

/// The quantiles by name.
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

/// Statistics of the finite items, and the number of others.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stats {
    /// The smallest item and its first index in C order. `None` without finite items, and for complex items and
    /// strings.
    pub min: Option<(ItemValue, Vec<usize>)>,
    pub max: Option<(ItemValue, Vec<usize>)>,
    /// Rounded once from the exact sum. `None` without finite items, and for dates and strings.
    pub mean: Option<Mean>,
    /// Of the population, rounded once. For complex items it uses the squared modulus.
    pub std: Option<f64>,
    /// NaN in any part, or NaT.
    pub nan: u64,
    /// Infinity in any part, without NaN.
    pub inf: u64,
    /// +0 or -0 in all parts, or a timedelta of 0.
    pub zero: u64,
    pub first_nan: Option<Vec<usize>>,
    /// In the order of [`QUANTILES`], -0 before +0. Empty without `min`.
    pub quantiles: Vec<ItemValue>,
}

/// The mean of real or complex items.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Mean {
    Real(f64),
    Complex(f64, f64),
}

/// An item; `Display` writes JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemValue {
    dtype: DType,
    item: Vec<u8>,
}

impl ItemValue {
    fn new(dtype: &DType, item: Vec<u8>) -> Self {
        Self { dtype: dtype.native(), item }
    }

    /// The little-endian dtype.
    pub fn dtype(&self) -> &DType {
        &self.dtype
    }

    /// The little-endian bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.item
    }
}

impl fmt::Display for ItemValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = Vec::new();
        match print::write_item(&mut text, &self.dtype, &self.item) {
            Ok(()) => f.write_str(&String::from_utf8_lossy(&text)),
            // JSON has no notation for the item.
            Err(_) => f.write_str("null"),
        }
    }
}

/// The statistics of a tensor; `None` for void, structured and long double items. Strings are only checked for
/// completeness. `quantiles` take most of the time.
///
/// # Errors
/// Reading fails, the tensor changes between passes, or a stream has the wrong length.
pub fn stats(source: &mut Source, quantiles: bool, limits: Limits, progress: Progress<'_>) -> Result<Option<Stats>> {
    source.hold(to_read(source.dtype()), limits.threads)?;
    source.hold(Hold::Scan, limits.threads)?;
    source.finish()?;
    let part = &StoredPart::whole(source.meta());
    stats_of(ItemPasses { source, part, held: None, limits, progress }, quantiles)
}

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
            // The epoch is not a zero.
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

#[derive(Default)]
struct ItemCounts {
    finite: u64,
    nan: u64,
    inf: u64,
    zero: u64,
    first_nan: Option<Numbered<()>>,
}

impl ItemCounts {
    fn merge(&mut self, other: &Self) {
        self.finite += other.finite;
        self.nan += other.nan;
        self.inf += other.inf;
        self.zero += other.zero;
        keep_first(&mut self.first_nan, other.first_nan, |()| ());
    }

    fn find_nan<T: Copy>(&mut self, numbers: &ItemNumbers, start: usize, block: &[T], is_nan: impl Fn(T) -> bool) {
        let find = |below| {
            find_first(numbers, start, block, below, is_nan).map(|found| Numbered { value: (), item: found.item })
        };
        improve(&mut self.first_nan, |()| Ordering::Equal, numbers.ascend(), find);
    }
}

/// Hides the item type, so that passes are compiled once.
trait ItemTally: Send {
    fn add(&mut self, numbers: &ItemNumbers, start: usize, bytes: &[u8]);

    fn found(self: Box<Self>) -> TallyFindings;
}

#[derive(Default)]
struct TallyFindings {
    counts: ItemCounts,
    min: Option<Numbered<RankedItem>>,
    max: Option<Numbered<RankedItem>>,
    /// One entry per part.
    sums: Vec<SumOfSquares>,
}

struct RankedItem {
    rank: i128,
    item: Vec<u8>,
}

impl TallyFindings {
    fn merge(&mut self, other: Self) {
        self.counts.merge(&other.counts);
        for (own, other) in [(&mut self.min, other.min), (&mut self.max, other.max)] {
            keep_first(own, other, |extreme| extreme.rank);
        }
        self.sums.resize_with(other.sums.len(), SumOfSquares::default);
        self.sums.iter_mut().zip(other.sums).for_each(|(own, other)| own.merge(other));
    }
}

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
    /// The first loop has no branch, so it is vectorised. Items are located later and only for new extremes, which are
    /// rare after the first blocks.
    fn add(&mut self, numbers: &ItemNumbers, start: usize, bytes: &[u8]) {
        (self.codec.load)(bytes, &mut self.block);
        let block = self.block.as_slice();
        let (mut low, mut high) = (T::ENDS.1, T::ENDS.0);
        let (mut nan, mut inf, mut zero) = (0_u32, 0_u32, 0_u32);
        for &item in block {
            let finite = !item.is_nan() && !item.is_infinite();
            low = low.min(if finite { item.rank() } else { T::ENDS.1 });
            high = high.max(if finite { item.rank() } else { T::ENDS.0 });
            // A block cannot overflow the counters, and a check would prevent vectorisation.
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

struct ComplexTally<T: CountedItem> {
    codec: ItemCodec<T>,
    counts: ItemCounts,
    sums: [T::Sums; 2],
    parts: Vec<T>,
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
            // A non-finite item adds neither part.
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
    fn index(&self, number: usize) -> Vec<usize> {
        coordinates(number, &self.part.shape)
    }

    fn value(&self, item: Vec<u8>) -> ItemValue {
        ItemValue::new(self.source.dtype(), item)
    }

    fn real(&self, keys: KeyCodec, quantiles: bool, begin: &(dyn Fn() -> Box<dyn ItemTally> + Sync)) -> Result<Stats> {
        let fractions = QUANTILES.map(|(_, fraction)| fraction);
        let fractions = if quantiles { &fractions[..] } else { &[] };
        let search = Search::new(8 * keys.size as u32, fractions, self.part.view.items());
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
            for (i, bytes) in bytes.chunks(BLOCK / 2 * size).enumerate() {
                tally.add(numbers, start + i * (BLOCK / 2), bytes);
            }
        })?;
        let mut all = TallyFindings::default();
        tallies.into_iter().for_each(|tally| all.merge(tally.found()));
        Ok(self.stats(&all.counts, &all.sums))
    }

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
        // Every byte except 0 is true.
        let shown = |item: u8| self.value(vec![if items.are_bools { item.min(1) } else { item }]);
        let value = |found: Numbered<u8>| (shown(found.value), self.index(found.item));
        let ranks = QUANTILES.iter().filter(|_| counts.finite > 0).map(|(_, fraction)| fraction.rank(counts.finite));
        Ok(Stats {
            min: seen.min.map(value),
            max: seen.max.map(value),
            quantiles: ranks.map(|rank| shown(seen.at_rank(items, rank))).collect(),
            ..self.stats(&counts, &[sums])
        })
    }
}
