//! Items as the loops of statistics and histograms have them, and the exact sums of them.
//!
//! The loops are compiled for a few types only ([`CountedItem`]). Items of other dtypes are converted to one of these,
//! which holds all their values, by an [`ItemCodec`]; dtypes of one byte are counted instead of converted.

use half::{bf16, f16};

use super::close::{self, CloseSums, close_sums};
use crate::engine::quantiles::Key;
use crate::item::datetime::NAT;
use crate::item::dtype::Kind;
use crate::item::element::{Element, inlined};
use crate::item::exact::SumOfSquares;
use crate::item::float16::{bf16_to_f32, f16_to_f32};
use crate::item::load::{load, reals};

/// Items that are looked at together: they fit the nearest cache (16 KiB of 8 bytes), where several loops over them, one
/// for each question, are each vectorised and read no memory again.
pub(super) const BLOCK: usize = 2048;
const _: () = assert!(BLOCK <= close::MAX_ITEMS, "sums of a block are exact");

/// The numbers that the bytes of a dtype of one byte stand for.
pub(super) struct ByteItems {
    /// The number of each byte, which float64 holds exactly.
    pub values: [f64; 256],
    /// Whether all items are integers.
    pub are_integers: bool,
    /// Whether any byte but 0 is true.
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

    /// Returns the number that a byte stands for.
    pub(super) fn value(&self, byte: u8) -> f64 {
        self.values[usize::from(byte)]
    }
}

/// How the items of a dtype are counted.
pub(super) enum CountedAs {
    Bytes(Box<ByteItems>),
    Int32(ItemCodec<i32>),
    Int64(ItemCodec<i64>),
    UInt64(ItemCodec<u64>),
    Float32(ItemCodec<f32>),
    Float64(ItemCodec<f64>),
    Dates(ItemCodec<CountedTicks>),
    /// Pairs of parts.
    Complex64(ItemCodec<f32>),
    Complex128(ItemCodec<f64>),
    /// Strings, of which there is nothing to count.
    Text,
    /// Items that are not known to mean anything: void, structured, long double.
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

/// Converts the little-endian items of a dtype to the type `T` in which they are counted, and back, and to keys.
#[derive(Clone, Copy)]
pub(super) struct ItemCodec<T> {
    pub keys: KeyCodec,
    /// Replaces the vector by the items that bytes hold.
    pub load: fn(&[u8], &mut Vec<T>),
    /// Returns the bytes of an item.
    pub store: fn(T) -> Vec<u8>,
}

/// Converts the items of a dtype to the [keys](Key) by which quantiles are searched, and back.
#[derive(Clone, Copy)]
pub(super) struct KeyCodec {
    /// The bytes of an item.
    pub size: usize,
    /// The bits of a key.
    pub bits: u32,
    /// Appends the keys of the items that bytes hold to a vector; those that are not finite come behind all others.
    pub load: fn(&[u8], &mut Vec<u64>),
    /// Returns the bytes of the item that has a key.
    pub store: fn(u64) -> Vec<u8>,
}

impl<T: CountedItem> ItemCodec<T> {
    fn of<S: StoredItem<T>>() -> Self {
        let store_key: fn(u64) -> Vec<u8> = |key| S::from_key(key).to_little().as_ref().into();
        Self {
            keys: KeyCodec { size: size_of::<S>(), bits: S::BITS, load: load_keys::<T, S>, store: store_key },
            load: |bytes, out| load::<S, T>(bytes, out, |item| S::from_little(item).counted()),
            store: |item| S::of_counted(item).to_little().as_ref().into(),
        }
    }
}

fn load_keys<T, S: StoredItem<T>>(bytes: &[u8], out: &mut Vec<u64>) {
    let items = S::chunks(bytes).iter().map(|&item| S::from_little(item));
    out.extend(items.map(|item| if item.is_finite() { item.to_key() } else { S::LEFT_OUT }));
}

/// An item as a dtype stores it, which is counted as a `T`.
trait StoredItem<T>: Element + Key {
    fn counted(self) -> T;
    /// Returns whether the item is neither NaN, NaT nor infinite, without a conversion.
    fn is_finite(self) -> bool;
    /// Converts back what [`counted`](Self::counted) returned.
    fn of_counted(item: T) -> Self;
}

macro_rules! stored {
    ($($stored:ty => $counted:ty: $to:expr, $from:expr, $is_finite:expr;)*) => {$(
        impl StoredItem<$counted> for $stored {
            inlined! {
                fn counted(self) -> $counted { $to(self) }
                fn is_finite(self) -> bool { $is_finite(self) }
                fn of_counted(item: $counted) -> Self { $from(item) }
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

/// A real number (or a date), as the loops have it.
pub(super) trait CountedItem: Copy + Default + Send + Sync + 'static {
    /// Orders finite items as their values do; equal values, such as +0 and -0, have equal ranks.
    type Rank: Copy + Ord + Send + Into<i128>;
    /// The least and the greatest rank.
    const ENDS: (Self::Rank, Self::Rank);
    /// The sums from which mean and deviation are computed.
    type Sums: ItemSums<Self>;

    fn rank(self) -> Self::Rank;
    fn is_nan(self) -> bool;
    fn is_infinite(self) -> bool;
    fn is_zero(self) -> bool;
}

/// The exact sum of items, and that of their squares.
pub(super) trait ItemSums<T>: Default + Send {
    /// Adds items. What is not finite adds nothing.
    fn add(&mut self, block: &[T]);
    /// Returns the sums; `None` if items have none.
    fn total(self) -> Option<SumOfSquares>;
}

/// The ticks of a date or a time difference.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CountedTicks(i64);

/// Dates have no sum.
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

/// The sums of integers.
#[derive(Default)]
pub(super) struct IntegerSums {
    sum: i128,
    /// The sum of squares, or of their lower 64 bits, and that of their upper 64 bits.
    squares: [u128; 2],
}

/// Implements [`CountedItem`] for integers. The sum of a block, and those of the halves of its squares, fit the types given.
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
                    // a block has 2^11 items; a check for overflow would keep the loop from being vectorised
                    sum = <$sum>::wrapping_add(sum, item.into());
                    let size = <$square>::from(item.abs_diff(0));
                    let square = size.wrapping_mul(size);
                    low = <$square>::wrapping_add(low, (square as $half).into());
                    high = <$square>::wrapping_add(high, square >> HALF);
                }
                self.sum += i128::from(sum);
                // in units of 1 and of 2^64
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

/// Implements [`CountedItem`] for floats. Mantissas and their squares are summed for each exponent, in integers and so
/// exactly; before one of these sums could overflow, all are moved to the total. Most items have one of few exponents, so there
/// are `lanes` sums for each, which neighbours take in turn: an item need not wait until the sum of the one before is stored.
/// (The sums of the many exponents of float64 fill the nearest cache already.) A block that `close` can sum takes less time.
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
            /// The sums of mantissas and of their squares, by the bits of the exponent; `None` until a block needs them.
            bins: Option<Box<[[($sum, $square); $lanes]; $exponents]>>,
            /// Items since the bins were emptied.
            items: usize,
            total: SumOfSquares,
        }

        impl $sums {
            fn empty_bins(&mut self) {
                let Some(bins) = &mut self.bins else { return };
                // what is not finite has the last exponent
                let finite = bins.iter().take($exponents - 1);
                let joined = finite.map(|lanes| lanes.iter().fold((0, 0), |all, lane| (all.0 + lane.0, all.1 + lane.1)));
                let sums = joined.enumerate().filter(|(_, (_, square))| *square != 0);
                for (exponent, (sum, square)) in sums {
                    // subnormals count in the same power as the smallest normal numbers
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
                        // -1 or 0; neither the sign, the square of a mantissa nor a sum can overflow, so that is not checked
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item::exact::Binary;

    /// Asserts that the sums of some blocks are those of their numbers one by one.
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
        // blocks that are summed by exponents, among others
        let any = block(BLOCK, &|r| f32::from_bits((r >> 32) as u32));
        let close = block(BLOCK - 1, &|r| (r >> 40) as f32);
        let with_nan = block(99, &|r| if r % 7 == 0 { f32::NAN } else { -(r as f32) });
        let most = block(BLOCK, &|_| f32::MAX);
        assert_exact(Float32Sums::default(), &[], "none");
        assert_exact(Float32Sums::default(), &[close.clone(), any.clone(), with_nan, close, any, most], "float32");
        let doubles = |bits: fn(u64) -> u64| (0..BLOCK).map(|n| f64::from_bits(bits(random(n)))).collect::<Vec<f64>>();
        assert_exact(Float64Sums::default(), &[doubles(|r| r), doubles(|r| r >> 2 | 1 << 61)], "float64");
    }
}
