//! Items as the loops of statistics and histograms use them, and their exact sums. The loops are compiled for a few
//! types ([`CountedItem`]); an [`ItemCodec`] converts other dtypes without loss. One-byte dtypes are counted instead.

use half::{bf16, f16};

use crate::plans::quantiles::Key;
use tensorop_kernels::item::datetime::NAT;
use tensorop_kernels::item::dtype::Kind;
use tensorop_kernels::item::element::{Element, inlined};
use tensorop_kernels::item::exact::{SumOfSquares, power_of_two};
use tensorop_kernels::item::float16::{bf16_to_f32, f16_to_f32};
use tensorop_kernels::item::load::{load, reals};

/// A block fits the L1 cache (16 KiB at 8 bytes) for several vectorised loops.
pub(super) const BLOCK: usize = 2048;
const _: () = assert!(BLOCK <= MAX_ITEMS, "sums of a block are exact");

pub(super) struct ByteItems {
    pub values: [f64; 256],
    pub are_integers: bool,
    pub are_bools: bool,
}

impl ByteItems {
    fn new(kind: &Kind) -> Self {
        let all: Vec<u8> = (0..=255).collect();
        let mut values = Vec::new();
        reals(&kind.clone().into(), |value| value).expect("items of a byte are numbers")(&all, &mut values);
        let are_integers = !matches!(kind, Kind::Narrow(narrow) if !narrow.is_integer());
        Self { values: values.try_into().expect("256 bytes"), are_integers, are_bools: *kind == Kind::Bool }
    }

    pub(super) fn value(&self, byte: u8) -> f64 {
        self.values[usize::from(byte)]
    }
}

pub(super) enum CountedAs {
    Bytes(Box<ByteItems>),
    Int32(ItemCodec<i32>),
    Int64(ItemCodec<i64>),
    UInt64(ItemCodec<u64>),
    Float32(ItemCodec<f32>),
    Float64(ItemCodec<f64>),
    Dates(ItemCodec<CountedTicks>),
    /// Alternating real and imaginary parts.
    Complex64(ItemCodec<f32>),
    Complex128(ItemCodec<f64>),
    Text,
    /// Void, structured and long double items.
    Opaque,
}

impl CountedAs {
    pub(super) fn new(kind: &Kind) -> Self {
        match kind {
            Kind::Bool | Kind::Int8 | Kind::UInt8 | Kind::Narrow(_) => Self::Bytes(Box::new(ByteItems::new(kind))),
            Kind::Int16 => Self::Int32(ItemCodec::of::<i16>()),
            Kind::UInt16 => Self::Int32(ItemCodec::of::<u16>()),
            Kind::Int32 => Self::Int32(ItemCodec::of::<i32>()),
            Kind::UInt32 => Self::Int64(ItemCodec::of::<u32>()),
            Kind::Int64 => Self::Int64(ItemCodec::of::<i64>()),
            Kind::UInt64 => Self::UInt64(ItemCodec::of::<u64>()),
            Kind::Float16 => Self::Float32(ItemCodec::of::<f16>()),
            Kind::BFloat16 => Self::Float32(ItemCodec::of::<bf16>()),
            Kind::Float32 => Self::Float32(ItemCodec::of::<f32>()),
            Kind::Float64 => Self::Float64(ItemCodec::of::<f64>()),
            Kind::Datetime(_) | Kind::Timedelta(_) => Self::Dates(ItemCodec::of::<i64>()),
            Kind::Complex64 => Self::Complex64(ItemCodec::of::<f32>()),
            Kind::Complex128 => Self::Complex128(ItemCodec::of::<f64>()),
            Kind::Bytes(_) | Kind::Str(_) => Self::Text,
            Kind::LongDouble(_) | Kind::ComplexLongDouble(_) | Kind::Void(_) | Kind::Struct(_) => Self::Opaque,
        }
    }
}

/// Converts little-endian items to `T` and back.
#[derive(Clone, Copy)]
pub(super) struct ItemCodec<T> {
    pub keys: KeyCodec,
    pub load: fn(&[u8], &mut Vec<T>),
    pub store: fn(T) -> Vec<u8>,
}

#[derive(Clone, Copy)]
pub(super) struct KeyCodec {
    pub size: usize,
    /// Items that are not finite get the largest key.
    pub load: fn(&[u8], &mut Vec<u64>),
    pub store: fn(u64) -> Vec<u8>,
}

impl<T: CountedItem> ItemCodec<T> {
    fn of<S: StoredItem<T>>() -> Self {
        let store_key: fn(u64) -> Vec<u8> = |key| S::from_key(key).to_little().as_ref().into();
        Self {
            keys: KeyCodec { size: size_of::<S>(), load: load_keys::<T, S>, store: store_key },
            load: |bytes, out| load::<S, T>(bytes, out, |item| S::from_little(item).counted()),
            store: |item| S::from_counted(item).to_little().as_ref().into(),
        }
    }
}

fn load_keys<T, S: StoredItem<T>>(bytes: &[u8], out: &mut Vec<u64>) {
    let items = S::chunks(bytes).iter().map(|&item| S::from_little(item));
    out.extend(items.map(|item| if item.is_finite() { item.to_key() } else { S::LEFT_OUT }));
}

trait StoredItem<T>: Element + Key {
    fn counted(self) -> T;
    fn is_finite(self) -> bool;
    fn from_counted(item: T) -> Self;
}

macro_rules! stored {
    ($($stored:ty => $counted:ty: $to:expr, $from:expr, $is_finite:expr;)*) => {$(
        impl StoredItem<$counted> for $stored {
            inlined! {
                fn counted(self) -> $counted { $to(self) }
                fn is_finite(self) -> bool { $is_finite(self) }
                fn from_counted(item: $counted) -> Self { $from(item) }
            }
        }
    )*};
}

stored! {
    i16 => i32: i32::from, |item| item as i16, |_| true;
    u16 => i32: i32::from, |item| item as u16, |_| true;
    i32 => i32: |item| item, |item| item, |_| true;
    u32 => i64: i64::from, |item| item as u32, |_| true;
    i64 => i64: |item| item, |item| item, |_| true;
    i64 => CountedTicks: CountedTicks, |ticks: CountedTicks| ticks.0, |item| item != NAT;
    u64 => u64: |item| item, |item| item, |_| true;
    f16 => f32: f16_to_f32, f16::from_f32, f16::is_finite;
    bf16 => f32: bf16_to_f32, bf16::from_f32, bf16::is_finite;
    f32 => f32: |item| item, |item| item, f32::is_finite;
    f64 => f64: |item| item, |item| item, f64::is_finite;
}

pub(super) trait CountedItem: Copy + Default + Send + Sync + 'static {
    /// +0 and -0 have the same rank.
    type Rank: Copy + Ord + Send + Into<i128>;
    const ENDS: (Self::Rank, Self::Rank);
    type Sums: ItemSums<Self>;

    fn rank(self) -> Self::Rank;
    fn is_nan(self) -> bool;
    fn is_infinite(self) -> bool;
    fn is_zero(self) -> bool;
}

pub(super) trait ItemSums<T>: Default + Send {
    fn add(&mut self, block: &[T]);
    fn total(self) -> Option<SumOfSquares>;
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CountedTicks(i64);

impl ItemSums<CountedTicks> for () {
    fn add(&mut self, _: &[CountedTicks]) {}
    fn total(self) -> Option<SumOfSquares> {
        None
    }
}

impl CountedItem for CountedTicks {
    type Rank = i64;
    const ENDS: (i64, i64) = (i64::MIN, i64::MAX);
    type Sums = ();

    inlined! {
        fn rank(self) -> i64 { self.0 }
        fn is_nan(self) -> bool { self.0 == NAT }
        fn is_infinite(self) -> bool { false }
        fn is_zero(self) -> bool { self.0 == 0 }
    }
}

#[derive(Default)]
pub(super) struct IntegerSums {
    sum: i128,
    /// The sums of lower and of upper 64 bits.
    squares: [u128; 2],
}

/// The types hold the sum of a block and of each half of its squares.
macro_rules! integers {
    ($($integer:ty, $sum:ty, $square:ty, $half:ty;)*) => {$(
        impl CountedItem for $integer {
            type Rank = Self;
            const ENDS: (Self, Self) = (Self::MIN, Self::MAX);
            type Sums = IntegerSums;

            inlined! {
                fn rank(self) -> Self { self }
                fn is_nan(self) -> bool { false }
                fn is_infinite(self) -> bool { false }
                fn is_zero(self) -> bool { self == 0 }
            }
        }

        impl ItemSums<$integer> for IntegerSums {
            fn add(&mut self, block: &[$integer]) {
                const HALF: u32 = <$square>::BITS / 2;
                let (mut sum, mut low, mut high) = (0, 0, 0);
                for &item in block {
                    // A block cannot overflow these sums, and a check would prevent vectorisation.
                    sum = <$sum>::wrapping_add(sum, item.into());
                    let size = <$square>::from(item.abs_diff(0));
                    let square = size.wrapping_mul(size);
                    low = <$square>::wrapping_add(low, (square as $half).into());
                    high = <$square>::wrapping_add(high, square >> HALF);
                }
                self.sum += i128::from(sum);
                match HALF {
                    64 => self.squares[1] += u128::from(high),
                    _ => self.squares[0] += u128::from(high) << HALF,
                }
                self.squares[0] += u128::from(low);
            }

            fn total(self) -> Option<SumOfSquares> {
                let mut total = SumOfSquares::default();
                total.sum.add_wide(self.sum < 0, self.sum.unsigned_abs(), 0);
                total.squares.add_wide(false, self.squares[0], 0);
                total.squares.add_wide(false, self.squares[1], 64);
                Some(total)
            }
        }
    )*};
}

integers! {
    i32, i64, u64, u32;
    i64, i128, u128, u64;
    u64, i128, u128, u64;
}

/// Sums mantissas and their squares per exponent in integers, and moves them to the total before they can overflow.
/// Most items share few exponents, so neighbours alternate between `lanes` sums instead of waiting for the previous
/// store. (With its many exponents, float64 already fills the L1 cache.)
macro_rules! floats {
    ($($float:ty, $sums:ident, $bits:ty, $rank:ty, $mantissa:literal, $exponents:literal, $lanes:literal, $sum:ty, $square:ty, $most:expr, $close:expr;)*) => {$(
        impl CountedItem for $float {
            type Rank = $rank;
            const ENDS: ($rank, $rank) = (<$rank>::MIN, <$rank>::MAX);
            type Sums = $sums;

            inlined! {
                fn rank(self) -> $rank {
                    let bits = self.to_bits() as $rank;
                    let size = bits & <$rank>::MAX;
                    if bits < 0 { -size } else { size }
                }
                fn is_nan(self) -> bool {
                    (self.to_bits() as $rank & <$rank>::MAX) > Self::INFINITY.to_bits() as $rank
                }
                fn is_infinite(self) -> bool {
                    (self.to_bits() as $rank & <$rank>::MAX) == Self::INFINITY.to_bits() as $rank
                }
                fn is_zero(self) -> bool { (self.to_bits() as $rank & <$rank>::MAX) == 0 }
            }
        }

        #[derive(Default)]
        pub(super) struct $sums {
            /// By exponent bits; `None` until a block needs them.
            bins: Option<Box<[[($sum, $square); $lanes]; $exponents]>>,
            items: usize,
            total: SumOfSquares,
        }

        impl $sums {
            fn empty_bins(&mut self) {
                let Some(bins) = &mut self.bins else { return };
                // Non-finite items have the last exponent.
                let finite = bins.iter().take($exponents - 1);
                let joined = finite.map(|lanes| lanes.iter().fold((0, 0), |all, lane| (all.0 + lane.0, all.1 + lane.1)));
                let sums = joined.enumerate().filter(|(_, (_, square))| *square != 0);
                for (exponent, (sum, square)) in sums {
                    // Subnormals use the exponent of the smallest normal numbers.
                    let power = exponent.max(1) as i32 + 1 - $exponents / 2 - $mantissa;
                    self.total.sum.add_wide(sum < 0, sum.unsigned_abs().into(), power);
                    self.total.squares.add_wide(false, square.into(), 2 * power);
                }
                bins.fill([(0, 0); $lanes]);
                self.items = 0;
            }
        }

        impl ItemSums<$float> for $sums {
            fn add(&mut self, block: &[$float]) {
                if let Some(CloseSums { sum, squares }) = $close(block) {
                    self.total.sum.add(sum);
                    squares.iter().for_each(|&part| self.total.squares.add(part));
                    return;
                }
                for block in block.chunks($most) {
                    if self.items + block.len() > $most {
                        self.empty_bins();
                    }
                    self.items += block.len();
                    let bins = &mut **self.bins.get_or_insert_with(|| Box::new([[(0, 0); $lanes]; $exponents]));
                    let mut put = |lane: usize, item: $float| {
                        let bits = item.to_bits();
                        let exponent = (bits >> $mantissa) as usize & ($exponents - 1);
                        let fraction = bits & ((1 << $mantissa) - 1);
                        let mantissa = fraction | <$bits>::from(exponent > 0) << $mantissa;
                        let bin = &mut bins[exponent][lane];
                        let signed = <$sum>::from(mantissa);
                        // 0 or -1. Nothing here can overflow.
                        let sign = <$sum>::from(bits as $rank >> (<$rank>::BITS - 1));
                        bin.0 = bin.0.wrapping_add((signed ^ sign).wrapping_sub(sign));
                        bin.1 = bin.1.wrapping_add(<$square>::from(mantissa).wrapping_mul(mantissa.into()));
                    };
                    let (groups, rest) = block.as_chunks::<$lanes>();
                    for group in groups {
                        group.iter().enumerate().for_each(|(lane, &item)| put(lane, item));
                    }
                    rest.iter().for_each(|&item| put(0, item));
                }
            }

            fn total(mut self) -> Option<SumOfSquares> {
                self.empty_bins();
                Some(self.total)
            }
        }
    )*};
}

floats! {
    f32, Float32Sums, u32, i32, 23, 256, 2, i64, u64, 1 << 16, close_sums;
    f64, Float64Sums, u64, i64, 52, 2048, 1, i128, u128, 1 << 21, |_| None;
}

/// Any sum of this many numbers is exact.
const MAX_ITEMS: usize = 1 << 11;

/// The largest difference between exponents of nonzero numbers.
///
/// Let E be the largest exponent and e the smallest, so all numbers are multiples of 2^(e-23) below 2^(E+1). A sum of
/// 2^11 ([`MAX_ITEMS`]) numbers is a multiple of 2^(e-23) below 2^(E+12), which has 53 bits if E-e is at most 18. The
/// part of a square below 2^(2E-39) is at most half of 2^(2E-39) and a multiple of 2^(2e-46). A sum of 2^11 parts is at
/// most 2^(2E-29), which also has 53 bits if E-e is at most 18.
const CLOSE: i32 = 18;

/// Independent sums, because an addition takes several cycles.
const LANES: usize = 4;

/// Exact float64 sums of float32s of similar magnitude and of their squares. Most blocks of real data qualify, and
/// these sums are vectorised, unlike sums by exponent.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct CloseSums {
    pub sum: f64,
    /// The upper and the lower parts.
    pub squares: [f64; 2],
}

/// `None` if a number is not finite or the exponents differ too much.
fn close_sums(block: &[f32]) -> Option<CloseSums> {
    assert!(block.len() <= MAX_ITEMS, "sums of more numbers may be rounded");
    // Adding this wraps for every magnitude except 0, so that 0 compares as the largest.
    const ZERO_LAST: i32 = i32::MAX;
    let (mut least, mut most) = (ZERO_LAST, 0);
    for item in block {
        let size = (item.to_bits() & i32::MAX as u32) as i32;
        least = least.min(size.wrapping_add(ZERO_LAST));
        most = most.max(size);
    }
    if most == 0 {
        return Some(CloseSums::default());
    }
    // Subnormals share the unit of the smallest normal numbers.
    let exponent = |size: i32| (size >> 23).max(1);
    if most >= f32::INFINITY.to_bits() as i32 || exponent(most) - exponent(least.wrapping_sub(ZERO_LAST)) > CLOSE {
        return None;
    }
    // Adding this rounds to a multiple of 2^(2E-39), its last bit, because a square has 41 bits above.
    let rounds = 1.5 * power_of_two(i64::from(2 * (exponent(most) - 127) - 39 + 52));
    let (mut sums, mut upper, mut lower) = ([0.0; LANES], [0.0; LANES], [0.0; LANES]);
    let (groups, rest) = block.as_chunks::<LANES>();
    let mut last = [0.0; LANES];
    last[..rest.len()].copy_from_slice(rest);
    for group in groups.iter().chain([&last]) {
        for lane in 0..LANES {
            let item = f64::from(group[lane]);
            let square = item * item;
            let top = (square + rounds) - rounds;
            sums[lane] += item;
            upper[lane] += top;
            lower[lane] += square - top;
        }
    }
    let [sum, upper, lower] = [sums, upper, lower].map(|lanes| lanes.iter().sum());
    Some(CloseSums { sum, squares: [upper, lower] })
}

#[cfg(test)]
mod tests {
    use super::*;
    use tensorop_kernels::item::exact::{Binary, Exact};

    fn assert_exact<T: Copy + Into<f64>>(sums: impl ItemSums<T>, blocks: &[Vec<T>], name: &str) {
        let mut sums = sums;
        blocks.iter().for_each(|block| sums.add(block));
        let mut left = sums.total().expect("floats have sums");
        for item in blocks.iter().flatten().map(|&item| item.into()).filter(|item| item.is_finite()) {
            left.sum.add(Binary::from(-item));
            left.squares.add_product(Binary::from(-item), item);
        }
        assert!(left.sum.is_zero() && left.squares.is_zero(), "{name}");
    }

    #[test]
    fn sums_of_floats_are_exact() {
        let random = |n: usize| (n as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let block = |count: usize, item: &dyn Fn(u64) -> f32| (0..count).map(|n| item(random(n))).collect::<Vec<f32>>();
        // Includes blocks that are summed by exponent.
        let any = block(BLOCK, &|r| f32::from_bits((r >> 32) as u32));
        let close = block(BLOCK - 1, &|r| (r >> 40) as f32);
        let with_nan = block(99, &|r| if r % 7 == 0 { f32::NAN } else { -(r as f32) });
        let most = block(BLOCK, &|_| f32::MAX);
        assert_exact(Float32Sums::default(), &[], "none");
        assert_exact(Float32Sums::default(), &[close.clone(), any.clone(), with_nan, close, any, most], "float32");
        let doubles = |bits: fn(u64) -> u64| (0..BLOCK).map(|n| f64::from_bits(bits(random(n)))).collect::<Vec<f64>>();
        assert_exact(Float64Sums::default(), &[doubles(|r| r), doubles(|r| r >> 2 | 1 << 61)], "float64");
    }

    fn assert_exact_sums(block: &[f32], name: &str) {
        let CloseSums { sum, squares } = close_sums(block).unwrap_or_else(|| panic!("{name}: not close enough"));
        let (mut sum_left, mut squares_left) = (Exact::default(), Exact::default());
        sum_left.add(Binary::from(-sum));
        squares.iter().for_each(|&part| squares_left.add(Binary::from(-part)));
        for item in block.iter().map(|&item| f64::from(item)) {
            sum_left.add(item);
            squares_left.add_product(item, item);
        }
        assert!(sum_left.is_zero() && squares_left.is_zero(), "{name}");
    }

    fn numbers(count: usize, low: u32, high: u32, sign: u32) -> Vec<f32> {
        let bits = |i: usize| {
            let random = (i as u32 + 1).wrapping_mul(2_654_435_761);
            let field = match i {
                0 => high,
                1 => low,
                _ => low + (random >> 8) % (high - low + 1),
            };
            (random & sign) << 31 | field << 23 | random >> 9 | 1
        };
        (0..count).map(|i| f32::from_bits(bits(i))).collect()
    }

    #[test]
    fn nothing_is_rounded() {
        for high in [0, 1, 2, 19, 127, 254] {
            for range in [0, 1, 7, CLOSE as u32] {
                for count in [1, 2, 3, 5, 64, MAX_ITEMS - 1, MAX_ITEMS] {
                    for sign in [0, 1] {
                        let low = u32::saturating_sub(high, range);
                        let block = numbers(count, low, high, sign);
                        assert_exact_sums(&block, &format!("{count} numbers of exponents {low} to {high}"));
                        let zeros: Vec<f32> = block.iter().skip(1).flat_map(|&item| [0.0, item, -0.0]).collect();
                        assert_exact_sums(&zeros[..zeros.len().min(MAX_ITEMS)], "with zeros");
                    }
                }
            }
        }
        // The largest magnitude, beside the smallest number within range.
        let mut block = vec![f32::MAX; MAX_ITEMS];
        assert_exact_sums(&block, "the largest");
        block[MAX_ITEMS / 2] = f32::from_bits((254 - CLOSE as u32) << 23 | 1);
        assert_exact_sums(&block, "the largest and a small one");
        block.iter_mut().for_each(|item| *item = -*item);
        assert_exact_sums(&block, "the most negative");
    }

    #[test]
    fn what_is_not_close() {
        let sums = |block: &[f32]| close_sums(block).is_some();
        let at = |field: u32| f32::from_bits(field << 23);
        assert!(sums(&[]) && sums(&[0.0, -0.0]) && sums(&[at(100), at(100 - CLOSE as u32)]));
        assert!(!sums(&[at(100), at(100 - CLOSE as u32 - 1)]));
        assert!(!sums(&[at(100), 0.0, f32::from_bits(1)]));
        // Subnormals share the unit of the smallest normal numbers.
        assert!(sums(&[at(CLOSE as u32 + 1), f32::from_bits(1)]) && !sums(&[at(CLOSE as u32 + 2), f32::from_bits(1)]));
        for odd in [f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            assert!(!sums(&[1.0, odd, 1.0]), "{odd}");
        }
    }
}
