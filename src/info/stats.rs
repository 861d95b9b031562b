//! Statistics of a tensor in one pass: the same bits whatever the threads and the windows.

use std::fmt;

use super::bytes::{Byte, Counts};
use super::items::{BLOCK, CountedItem, Sums, Ticks};
use crate::engine::job::Progress;
use crate::engine::scan::scan;
use crate::error::Result;
use crate::item::dtype::{DType, Kind};
use crate::item::element::{Element, match_kind};
use crate::item::exact::{self, Exact};
use crate::item::print;
use crate::ops::fill::Limits;
use crate::storage::source::Source;

/// Statistics of a tensor's finite items, and how many are not.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stats {
    /// The smallest item and the index of the first such, in C order (+0 and -0 are the same). `None` if no item is
    /// finite, and for complex items and those that are no numbers or dates.
    pub min: Option<(Value, Vec<usize>)>,
    /// The largest, as `min`.
    pub max: Option<(Value, Vec<usize>)>,
    /// The mean, rounded once from the exact sum. `None` if no item is finite, and for dates and what is no number.
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

/// Reads all items once. Items that are no numbers or dates are only read where that shows whether they are whole.
///
/// # Errors
/// Of reading, among them a tensor that changes meanwhile or a stream of another length than it should have.
pub fn stats(source: &mut Source, limits: Limits, progress: Progress<'_>) -> Result<Stats> {
    match_kind!(source.dtype().kind().clone(), {
        bool T => bytes(source, limits, progress, Byte::Bool),
        integer T => match T::BYTE {
            Some(byte) => bytes(source, limits, progress, byte),
            None => real::<T>(source, limits, progress),
        },
        float T => real::<T>(source, limits, progress),
        complex T => complex::<<T as Element>::Part>(source, limits, progress),
        Kind::Narrow(narrow) => bytes(source, limits, progress, Byte::Narrow(narrow)),
        Kind::Datetime(_) => {
            let stats = real::<Ticks>(source, limits, progress)?;
            // the day that ticks are counted from is no zero
            Ok(Stats { zero: 0, ..stats })
        }
        Kind::Timedelta(_) => real::<Ticks>(source, limits, progress),
        Kind::LongDouble(_)
        | Kind::ComplexLongDouble(_)
        | Kind::Bytes(_)
        | Kind::Str(_)
        | Kind::Void(_)
        | Kind::Struct(_) => {
            source.finish()?;
            Ok(Stats::default())
        }
    })
}

/// What is known of the items seen.
struct Tally<T: CountedItem> {
    min: Option<(T, usize)>,
    max: Option<(T, usize)>,
    finite: u64,
    nan: u64,
    inf: u64,
    zero: u64,
    sums: T::Sums,
}

impl<T: CountedItem> Default for Tally<T> {
    fn default() -> Self {
        Self { min: None, max: None, finite: 0, nan: 0, inf: 0, zero: 0, sums: T::Sums::default() }
    }
}

impl<T: CountedItem> Tally<T> {
    /// Sees items, the first of which has that number.
    ///
    /// A first loop, without a branch and so vectorised, knows the extremes by their keys only; which item has them is
    /// looked for afterwards and only where they are new, which is rare after the first blocks.
    fn add(&mut self, first: usize, block: &[T]) {
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
        if finite == 0 {
            return;
        }
        let find = |key: T::Key| {
            let at = block.iter().position(|item| !item.nan() && !item.inf() && item.key() == key)?;
            block.get(at).map(|&item| (item, first + at))
        };
        if self.min.is_none_or(|(min, _)| low < min.key()) {
            self.min = find(low);
        }
        if self.max.is_none_or(|(max, _)| high > max.key()) {
            self.max = find(high);
        }
        self.sums.add(block);
    }
}

/// The one of two items that comes first: by `rank`, then by its number.
fn first_of<T: Copy, K: Ord>(
    a: Option<(T, usize)>,
    b: Option<(T, usize)>,
    rank: impl Fn(T) -> K,
) -> Option<(T, usize)> {
    a.into_iter().chain(b).min_by_key(|&(item, number)| (rank(item), number))
}

fn real<T: CountedItem>(source: &mut Source, limits: Limits, progress: Progress<'_>) -> Result<Stats> {
    let begin = || (Tally::<T>::default(), Vec::new());
    let tallies = scan([source], limits, progress, begin, |(tally, block), first, [bytes]| {
        for (i, bytes) in bytes.chunks(BLOCK * size_of::<T>()).enumerate() {
            T::load(bytes, block);
            tally.add(first + i * BLOCK, block);
        }
        Ok(true)
    })?;
    let (mut stats, mut finite) = (Stats::default(), 0);
    let (mut min, mut max) = (None, None);
    let (mut sum, mut squares) = (Exact::default(), Exact::default());
    for (tally, _) in tallies {
        min = first_of(min, tally.min, T::key);
        max = first_of(max, tally.max, |item| std::cmp::Reverse(item.key()));
        finite += tally.finite;
        stats.nan += tally.nan;
        stats.inf += tally.inf;
        stats.zero += tally.zero;
        let totals = tally.sums.total();
        sum.merge(totals.0);
        squares.merge(totals.1);
    }
    let known = |extreme: Option<(T, usize)>| {
        extreme.map(|(item, number)| (Value::new(source.dtype(), item.store()), index(source.shape(), number)))
    };
    (stats.min, stats.max) = (known(min), known(max));
    if let Some(lowest) = T::Sums::LOWEST.filter(|_| finite > 0) {
        stats.mean = Some(Mean::Real(exact::mean(&sum, lowest, finite)));
        stats.std = Some(exact::deviation(&[(sum, squares)], lowest, finite));
    }
    Ok(stats)
}

/// What is known of the complex items seen.
struct ComplexTally<T: CountedItem> {
    finite: u64,
    nan: u64,
    inf: u64,
    zero: u64,
    sums: [T::Sums; 2],
    parts: Vec<T>,
    /// The real, and the imaginary parts of a block.
    blocks: [Vec<T>; 2],
}

fn complex<T: CountedItem + Default>(source: &mut Source, limits: Limits, progress: Progress<'_>) -> Result<Stats> {
    let begin = || ComplexTally::<T> {
        finite: 0,
        nan: 0,
        inf: 0,
        zero: 0,
        sums: Default::default(),
        parts: Vec::new(),
        blocks: [Vec::new(), Vec::new()],
    };
    let tallies = scan([source], limits, progress, begin, |tally, _, [bytes]| {
        for bytes in bytes.chunks(BLOCK * size_of::<T>()) {
            T::load(bytes, &mut tally.parts);
            tally.blocks.iter_mut().for_each(Vec::clear);
            for &[re, im] in tally.parts.as_chunks::<2>().0 {
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
            tally.sums.iter_mut().zip(&tally.blocks).for_each(|(sums, block)| sums.add(block));
        }
        Ok(true)
    })?;
    let (mut stats, mut finite) = (Stats::default(), 0);
    let mut parts = [(); 2].map(|()| (Exact::default(), Exact::default()));
    for tally in tallies {
        finite += tally.finite;
        stats.nan += tally.nan;
        stats.inf += tally.inf;
        stats.zero += tally.zero;
        for ((sum, squares), sums) in parts.iter_mut().zip(tally.sums) {
            let totals = sums.total();
            sum.merge(totals.0);
            squares.merge(totals.1);
        }
    }
    if let Some(lowest) = T::Sums::LOWEST.filter(|_| finite > 0) {
        let [re, im] = &parts;
        stats.mean = Some(Mean::Complex(exact::mean(&re.0, lowest, finite), exact::mean(&im.0, lowest, finite)));
        stats.std = Some(exact::deviation(&parts, lowest, finite));
    }
    Ok(stats)
}

fn bytes(source: &mut Source, limits: Limits, progress: Progress<'_>, byte: Byte) -> Result<Stats> {
    /// Powers of 2 that no finite item goes below.
    const LOWEST: i32 = -256;
    let counts = Counts::of(source, limits, progress)?;
    let mut stats = Stats::default();
    let (mut min, mut max) = (None, None);
    let (mut finite, mut sum, mut squares) = (0, Exact::default(), Exact::default());
    // finite values in order have keys in order
    let key = |item| CountedItem::key(byte.value(item));
    for (item, &(count, at)) in (0..=255_u8).zip(&counts.seen).filter(|(_, (count, _))| *count > 0) {
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
        min = first_of(min, Some((item, at)), key);
        max = first_of(max, Some((item, at)), |item| std::cmp::Reverse(key(item)));
        // a mantissa of few bits: none of these types has more than 8
        let (mantissa, power) = f64::mantissa(value);
        let zeros = mantissa.trailing_zeros().min(63);
        let (mantissa, shift) = (u128::from(mantissa >> zeros), power + zeros as i32 - LOWEST);
        let shift = usize::try_from(shift).unwrap_or(0);
        sum.add(value < 0.0, mantissa * u128::from(count), shift);
        squares.add(false, mantissa * mantissa * u128::from(count), 2 * shift);
    }
    let known = |extreme: Option<(u8, usize)>| {
        extreme.map(|(item, number)| {
            // any byte but 0 is true
            let item = if matches!(byte, Byte::Bool) { item.min(1) } else { item };
            (Value::new(source.dtype(), vec![item]), index(source.shape(), number))
        })
    };
    (stats.min, stats.max) = (known(min), known(max));
    if finite > 0 {
        stats.mean = Some(Mean::Real(exact::mean(&sum, LOWEST, finite)));
        stats.std = Some(exact::deviation(&[(sum, squares)], LOWEST, finite));
    }
    Ok(stats)
}

/// The index of an item by its number in C order.
fn index(shape: &[usize], mut number: usize) -> Vec<usize> {
    let mut index: Vec<usize> = shape
        .iter()
        .rev()
        .map(|&dim| {
            let at = number % dim.max(1);
            number /= dim.max(1);
            at
        })
        .collect();
    index.reverse();
    index
}

/// A finite number as `mantissa * 2^power`, without its sign.
trait Mantissa {
    fn mantissa(self) -> (u64, i32);
}

impl Mantissa for f64 {
    fn mantissa(self) -> (u64, i32) {
        let power = (self.to_bits() >> 52 & 2047) as i32;
        let fraction = self.to_bits() & ((1 << 52) - 1);
        (fraction | u64::from(power > 0) << 52, power.max(1) - 1075)
    }
}
