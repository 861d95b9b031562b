//! Statistics of a tensor in one pass: the same bits whatever the threads and the windows.

use std::fmt;

use crate::error::Result;
use half::{bf16, f16};

use super::exact::{self, Exact};
use super::histogram::Edge;
use crate::engine::job::Progress;
use crate::engine::scan::scan;
use crate::item::dtype::{DType, Kind, Narrow};
use crate::item::print;
use crate::ops::fill::Limits;
use crate::storage::source::Source;

/// Items that are looked at together: they fit the nearest cache.
pub(super) const BLOCK: usize = 2048;

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
        if print::write_item(&mut text, &self.dtype, &self.item).is_ok() {
            return f.write_str(&String::from_utf8_lossy(&text));
        }
        // an item that JSON has no form for is shown by its value
        match (self.dtype.kind(), self.item.first()) {
            (Kind::Narrow(narrow), Some(&item)) if narrow.is_integer() => write!(f, "{}", narrow.value(item)),
            (Kind::Narrow(narrow), Some(&item)) => write!(f, "{:?}", narrow.value(item)),
            _ => f.write_str("null"),
        }
    }
}

/// Reads all items once. Items that are no numbers or dates are only read where that shows whether they are whole.
///
/// # Errors
/// Of reading, among them a tensor that changes meanwhile or a stream of another length than it should have.
pub fn stats(source: &mut Source, limits: Limits, progress: Progress<'_>) -> Result<Stats> {
    match *source.dtype().kind() {
        Kind::Bool => bytes(source, limits, progress, Byte::Bool),
        Kind::Int8 => bytes(source, limits, progress, Byte::Signed),
        Kind::UInt8 => bytes(source, limits, progress, Byte::Unsigned),
        Kind::Narrow(narrow) => bytes(source, limits, progress, Byte::Narrow(narrow)),
        Kind::Int16 => real::<i16>(source, limits, progress),
        Kind::Int32 => real::<i32>(source, limits, progress),
        Kind::Int64 => real::<i64>(source, limits, progress),
        Kind::UInt16 => real::<u16>(source, limits, progress),
        Kind::UInt32 => real::<u32>(source, limits, progress),
        Kind::UInt64 => real::<u64>(source, limits, progress),
        Kind::Float16 => real::<f16>(source, limits, progress),
        Kind::BFloat16 => real::<bf16>(source, limits, progress),
        Kind::Float32 => real::<f32>(source, limits, progress),
        Kind::Float64 => real::<f64>(source, limits, progress),
        Kind::Complex64 => complex::<f32>(source, limits, progress),
        Kind::Complex128 => complex::<f64>(source, limits, progress),
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
    }
}

/// A real number (or a date), as the loops know it.
pub(super) trait Item: Copy + Send + Sync + 'static {
    /// Orders finite items as their values do; equal values have equal keys.
    type Key: Copy + Ord + Send;
    /// The least and the greatest key.
    const ENDS: (Self::Key, Self::Key);
    /// What the edges of a histogram are.
    type Edge: Edge;
    /// What their mean and deviation come from.
    type Sums: Sums<Self>;

    /// Replaces `out` by the items of little-endian `bytes`.
    fn load(bytes: &[u8], out: &mut Vec<Self>);
    /// The little-endian bytes.
    fn store(self) -> Vec<u8>;
    /// The item that a histogram compares: exact, and fast to compare.
    fn edge(self) -> Self::Edge;
    fn key(self) -> Self::Key;
    fn nan(self) -> bool;
    fn inf(self) -> bool;
    fn zero(self) -> bool;
}

/// The exact sum of items, and that of their squares.
pub(super) trait Sums<T>: Default + Send {
    /// The power of 2 that the sum counts in (4 in that of the squares); `None` where there is no sum.
    const LOWEST: Option<i32>;
    /// Adds items; of those that are not finite nothing is added.
    fn add(&mut self, block: &[T]);
    /// The sum, and that of the squares.
    fn total(self) -> (Exact, Exact);
}

/// What is known of the items seen.
struct Tally<T: Item> {
    min: Option<(T, usize)>,
    max: Option<(T, usize)>,
    finite: u64,
    nan: u64,
    inf: u64,
    zero: u64,
    sums: T::Sums,
}

impl<T: Item> Default for Tally<T> {
    fn default() -> Self {
        Self { min: None, max: None, finite: 0, nan: 0, inf: 0, zero: 0, sums: T::Sums::default() }
    }
}

impl<T: Item> Tally<T> {
    /// Sees items, the first of which has that number.
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

fn real<T: Item>(source: &mut Source, limits: Limits, progress: Progress<'_>) -> Result<Stats> {
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
        let part = tally.sums.total();
        sum.merge(part.0);
        squares.merge(part.1);
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
struct ComplexTally<T: Item> {
    finite: u64,
    nan: u64,
    inf: u64,
    zero: u64,
    sums: [T::Sums; 2],
    parts: Vec<T>,
    /// The real, and the imaginary parts of a block.
    blocks: [Vec<T>; 2],
}

fn complex<T: Item + Default>(source: &mut Source, limits: Limits, progress: Progress<'_>) -> Result<Stats> {
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
            let part = sums.total();
            sum.merge(part.0);
            squares.merge(part.1);
        }
    }
    if let Some(lowest) = T::Sums::LOWEST.filter(|_| finite > 0) {
        let [re, im] = &parts;
        stats.mean = Some(Mean::Complex(exact::mean(&re.0, lowest, finite), exact::mean(&im.0, lowest, finite)));
        stats.std = Some(exact::deviation(&parts, lowest, finite));
    }
    Ok(stats)
}

/// What a byte stands for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Byte {
    Bool,
    Signed,
    Unsigned,
    Narrow(Narrow),
}

impl Byte {
    /// What items of that dtype are, if they are numbers of one byte.
    pub(super) fn of(dtype: &DType) -> Option<Self> {
        match *dtype.kind() {
            Kind::Bool => Some(Byte::Bool),
            Kind::Int8 => Some(Byte::Signed),
            Kind::UInt8 => Some(Byte::Unsigned),
            Kind::Narrow(narrow) => Some(Byte::Narrow(narrow)),
            _ => None,
        }
    }

    /// The number, which float64 holds exactly.
    pub(super) fn value(self, byte: u8) -> f64 {
        match self {
            Byte::Bool => f64::from(u8::from(byte != 0)),
            Byte::Signed => f64::from(byte as i8),
            Byte::Unsigned => f64::from(byte),
            Byte::Narrow(narrow) => narrow.value(byte),
        }
    }

    /// Whether it holds integers.
    pub(super) fn is_integer(self) -> bool {
        !matches!(self, Byte::Narrow(narrow) if !narrow.is_integer())
    }
}

/// How often each byte occurs, and where first.
pub(super) struct Counts {
    /// Number of occurrences, and number of the first item.
    pub(super) seen: [(u64, usize); 256],
    /// Occurrences in a block, by four counters that do not wait for one another.
    block: [[u32; 256]; 4],
}

impl Counts {
    fn new() -> Self {
        Self { seen: [(0, usize::MAX); 256], block: [[0; 256]; 4] }
    }

    fn add(&mut self, first: usize, block: &[u8]) {
        let (fours, rest) = block.as_chunks::<4>();
        let [a, b, c, d] = &mut self.block;
        for &[w, x, y, z] in fours {
            a[usize::from(w)] += 1;
            b[usize::from(x)] += 1;
            c[usize::from(y)] += 1;
            d[usize::from(z)] += 1;
        }
        rest.iter().for_each(|&x| a[usize::from(x)] += 1);
        let counts = a.iter().zip(b.iter()).zip(c.iter()).zip(d.iter());
        for ((byte, (((a, b), c), d)), (seen, at)) in (0..=255_u8).zip(counts).zip(&mut self.seen) {
            let new = a + b + c + d;
            if new > 0 && *seen == 0 {
                *at = block.iter().position(|&x| x == byte).map_or(usize::MAX, |i| first + i);
            }
            *seen += u64::from(new);
        }
        self.block = [[0; 256]; 4];
    }

    /// Counts all bytes of a tensor.
    pub(super) fn of(source: &mut Source, limits: Limits, progress: Progress<'_>) -> Result<Self> {
        let parts = scan([source], limits, progress, Self::new, |counts, first, [bytes]| {
            const LONG: usize = 1 << 17;
            bytes.chunks(LONG).enumerate().for_each(|(i, block)| counts.add(first + i * LONG, block));
            Ok(true)
        })?;
        let mut all = Self::new();
        for part in &parts {
            for ((count, at), (more, first)) in all.seen.iter_mut().zip(&part.seen) {
                *count += more;
                *at = (*at).min(*first);
            }
        }
        Ok(all)
    }
}

fn bytes(source: &mut Source, limits: Limits, progress: Progress<'_>, byte: Byte) -> Result<Stats> {
    /// Powers of 2 that no finite item goes below.
    const LOWEST: i32 = -256;
    let counts = Counts::of(source, limits, progress)?;
    let mut stats = Stats::default();
    let (mut min, mut max) = (None, None);
    let (mut finite, mut sum, mut squares) = (0, Exact::default(), Exact::default());
    // finite values in order have keys in order
    let key = |item| Item::key(byte.value(item));
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
        let (mantissa, power) = f64::parts(value);
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

/// Ticks of a date or a time difference.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ticks(i64);

/// No sum.
impl Sums<Ticks> for () {
    const LOWEST: Option<i32> = None;
    fn add(&mut self, _: &[Ticks]) {}
    fn total(self) -> (Exact, Exact) {
        Default::default()
    }
}

impl Item for Ticks {
    type Key = i64;
    const ENDS: (i64, i64) = (i64::MIN, i64::MAX);
    type Edge = i64;
    type Sums = ();

    fn load(bytes: &[u8], out: &mut Vec<Self>) {
        out.clear();
        out.extend(bytes.as_chunks().0.iter().map(|&item| Ticks(i64::from_le_bytes(item))));
    }
    fn store(self) -> Vec<u8> {
        self.0.to_le_bytes().into()
    }
    fn edge(self) -> i64 {
        self.0
    }
    fn key(self) -> i64 {
        self.0
    }
    fn nan(self) -> bool {
        self.0 == crate::item::datetime::NAT
    }
    fn inf(self) -> bool {
        false
    }
    fn zero(self) -> bool {
        self.0 == 0
    }
}

/// Sums of integers.
#[derive(Default)]
pub(super) struct IntegerSums {
    sum: i128,
    /// The lower and the upper 64 bits of the squares, summed for themselves.
    squares: (u128, u128),
}

/// Integers as [`Item`]s.
macro_rules! integers {
    ($($integer:ty),*) => {$(
        impl Item for $integer {
            type Key = Self;
            const ENDS: (Self, Self) = (Self::MIN, Self::MAX);
            type Edge = Self;
            type Sums = IntegerSums;

            fn load(bytes: &[u8], out: &mut Vec<Self>) {
                out.clear();
                out.extend(bytes.as_chunks().0.iter().map(|&item| Self::from_le_bytes(item)));
            }
            fn store(self) -> Vec<u8> {
                self.to_le_bytes().into()
            }
            #[inline(always)]
            fn edge(self) -> Self {
                self
            }
            #[inline(always)]
            fn key(self) -> Self {
                self
            }
            #[inline(always)]
            fn nan(self) -> bool {
                false
            }
            #[inline(always)]
            fn inf(self) -> bool {
                false
            }
            #[inline(always)]
            fn zero(self) -> bool {
                self == 0
            }
        }

        impl Sums<$integer> for IntegerSums {
            const LOWEST: Option<i32> = Some(0);

            fn add(&mut self, block: &[$integer]) {
                let (mut sum, mut low, mut high) = (0_i128, 0_u128, 0_u128);
                for &item in block {
                    sum += i128::from(item);
                    let size = u128::from(item.abs_diff(0));
                    low += u128::from((size * size) as u64);
                    high += (size * size) >> 64;
                }
                self.sum += sum;
                self.squares.0 += low;
                self.squares.1 += high;
            }

            fn total(self) -> (Exact, Exact) {
                let (mut sum, mut squares) = (Exact::default(), Exact::default());
                sum.add_signed(self.sum, 0);
                squares.add(false, self.squares.0, 0);
                squares.add(false, self.squares.1, 64);
                (sum, squares)
            }
        }
    )*};
}

integers!(i16, i32, i64, u16, u32, u64);

/// Floats as [`Item`]s. Mantissas and their squares are summed for each exponent, without a rounding, and now and
/// then, before such a sum could overflow, all of them are brought together.
macro_rules! floats {
    ($($float:ty, $edge:ty, $sums:ident, $bits:ty, $key:ty, $mantissa:literal, $exponents:literal, $sum:ty, $square:ty,
       $most:expr;)*) => {$(
        impl Item for $float {
            type Key = $key;
            const ENDS: ($key, $key) = (<$key>::MIN, <$key>::MAX);
            type Edge = $edge;
            type Sums = $sums;

            fn load(bytes: &[u8], out: &mut Vec<Self>) {
                out.clear();
                out.extend(bytes.as_chunks().0.iter().map(|&item| Self::from_le_bytes(item)));
            }
            fn store(self) -> Vec<u8> {
                self.to_le_bytes().into()
            }
            #[inline(always)]
            fn edge(self) -> $edge {
                self.into()
            }
            #[inline(always)]
            fn key(self) -> $key {
                let bits = self.to_bits() as $key;
                let size = bits & <$key>::MAX;
                if bits < 0 { -size } else { size }
            }
            #[inline(always)]
            fn nan(self) -> bool {
                (self.to_bits() as $key & <$key>::MAX) > Self::INFINITY.to_bits() as $key
            }
            #[inline(always)]
            fn inf(self) -> bool {
                (self.to_bits() as $key & <$key>::MAX) == Self::INFINITY.to_bits() as $key
            }
            #[inline(always)]
            fn zero(self) -> bool {
                (self.to_bits() as $key & <$key>::MAX) == 0
            }
        }

        pub(super) struct $sums {
            /// By the exponent's bits.
            bins: Box<[($sum, $square); $exponents]>,
            /// Items since they were brought together.
            items: usize,
            sum: Exact,
            squares: Exact,
        }

        impl Default for $sums {
            fn default() -> Self {
                let (sum, squares) = (Exact::default(), Exact::default());
                Self { bins: Box::new([(0, 0); $exponents]), items: 0, sum, squares }
            }
        }

        impl $sums {
            fn collect(&mut self) {
                // what is not finite has the last exponent
                let finite = self.bins.iter().take($exponents - 1).enumerate();
                for (exponent, &(sum, square)) in finite.filter(|(_, bin)| bin.1 != 0) {
                    // subnormals count in the same power as the smallest normal numbers
                    let shift = exponent.max(1) - 1;
                    self.sum.add_signed(sum.into(), shift);
                    self.squares.add(false, square.into(), 2 * shift);
                }
                self.bins.fill((0, 0));
                self.items = 0;
            }
        }

        impl Sums<$float> for $sums {
            const LOWEST: Option<i32> = Some(2 - $exponents / 2 - $mantissa);

            fn add(&mut self, block: &[$float]) {
                for block in block.chunks($most) {
                    if self.items + block.len() > $most {
                        self.collect();
                    }
                    self.items += block.len();
                    for item in block {
                        let bits = item.to_bits();
                        let exponent = (bits >> $mantissa) as usize & ($exponents - 1);
                        let fraction = bits & ((1 << $mantissa) - 1);
                        let mantissa = fraction | <$bits>::from(exponent > 0) << $mantissa;
                        let bin = &mut self.bins[exponent];
                        let signed = <$sum>::from(mantissa);
                        // -1 and 0 say whether it is negative
                        let sign = <$sum>::from(bits as $key >> (<$key>::BITS - 1));
                        bin.0 += (signed ^ sign) - sign;
                        bin.1 += <$square>::from(mantissa) * <$square>::from(mantissa);
                    }
                }
            }

            fn total(mut self) -> (Exact, Exact) {
                self.collect();
                (self.sum, self.squares)
            }
        }
    )*};
}

floats! {
    f16, f32, Float16Sums, u16, i16, 10, 32, i64, u64, 1 << 16;
    bf16, f32, BFloat16Sums, u16, i16, 7, 256, i64, u64, 1 << 16;
    f32, f32, Float32Sums, u32, i32, 23, 256, i64, u64, 1 << 16;
    f64, f64, Float64Sums, u64, i64, 52, 2048, i128, u128, 1 << 21;
}

/// A finite number as `mantissa * 2^power`, without its sign.
trait Parts {
    fn parts(self) -> (u64, i32);
}

impl Parts for f64 {
    fn parts(self) -> (u64, i32) {
        let power = (self.to_bits() >> 52 & 2047) as i32;
        let fraction = self.to_bits() & ((1 << 52) - 1);
        (fraction | u64::from(power > 0) << 52, power.max(1) - 1075)
    }
}
