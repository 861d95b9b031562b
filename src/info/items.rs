//! Items as the loops of statistics and histograms know them, and the exact sums of them.

use half::{bf16, f16};

use crate::engine::quantiles;
use crate::item::datetime::NAT;
use crate::item::dtype::Narrow;
use crate::item::element::Element;
use crate::item::exact::SumOfSquares;
use crate::item::float16::{bf16_to_f32, f16_to_f32};

/// Items that are looked at together: they fit the nearest cache (16 KiB of 8 bytes), where several loops over them,
/// one for each question, are each vectorised and read no memory again.
pub(super) const BLOCK: usize = 2048;

/// What a byte stands for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Byte {
    Bool,
    Signed,
    Unsigned,
    Narrow(Narrow),
}

impl Byte {
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

/// A real number (or a date), as the loops know it.
pub(super) trait CountedItem: quantiles::Key + Send + Sync + 'static {
    /// What an item of one byte is, which is counted and not looked at one by one.
    const BYTE: Option<Byte> = None;
    /// Orders finite items as their values do; equal values have equal keys.
    type Key: Copy + Ord + Send;
    /// The least and the greatest key.
    const ENDS: (Self::Key, Self::Key);
    /// What the edges of a histogram are.
    type Edge: Copy + PartialOrd + Send + Sync;
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
    /// Whether there is a sum.
    const ARE_THERE: bool = true;
    /// Adds items; of those that are not finite nothing is added.
    fn add(&mut self, block: &[T]);
    /// The sum, and that of the squares.
    fn total(self) -> SumOfSquares;
}

/// Ticks of a date or a time difference.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ticks(i64);

/// No sum.
impl Sums<Ticks> for () {
    const ARE_THERE: bool = false;
    fn add(&mut self, _: &[Ticks]) {}
    fn total(self) -> SumOfSquares {
        Default::default()
    }
}

impl quantiles::Key for Ticks {
    const BITS: u32 = i64::BITS;
    fn to_key(self) -> u64 {
        self.0.to_key()
    }
    fn from_key(key: u64) -> Self {
        Ticks(i64::from_key(key))
    }
}

impl CountedItem for Ticks {
    type Key = i64;
    const ENDS: (i64, i64) = (i64::MIN, i64::MAX);
    type Edge = i64;
    type Sums = ();

    fn load(bytes: &[u8], out: &mut Vec<Self>) {
        out.clear();
        out.extend(i64::chunks(bytes).iter().map(|&item| Ticks(i64::from_little(item))));
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
        self.0 == NAT
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

/// Integers as [`CountedItem`]s.
macro_rules! integers {
    ($($integer:ty, $byte:expr;)*) => {$(
        impl CountedItem for $integer {
            const BYTE: Option<Byte> = $byte;
            type Key = Self;
            const ENDS: (Self, Self) = (Self::MIN, Self::MAX);
            type Edge = Self;
            type Sums = IntegerSums;

            fn load(bytes: &[u8], out: &mut Vec<Self>) {
                out.clear();
                out.extend(Self::chunks(bytes).iter().map(|&item| Self::from_little(item)));
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

            fn total(self) -> SumOfSquares {
                let mut total = SumOfSquares::default();
                total.sum.add_wide(self.sum < 0, self.sum.unsigned_abs(), 0);
                total.squares.add_wide(false, self.squares.0, 0);
                total.squares.add_wide(false, self.squares.1, 64);
                total
            }
        }
    )*};
}

integers! {
    i8, Some(Byte::Signed);
    u8, Some(Byte::Unsigned);
    i16, None;
    i32, None;
    i64, None;
    u16, None;
    u32, None;
    u64, None;
}

/// Floats as [`CountedItem`]s. Mantissas and their squares are summed for each exponent, without a rounding, and now
/// and then, before such a sum could overflow, all of them are brought together.
macro_rules! floats {
    ($($float:ty, $edge:ty, $edge_of:expr, $sums:ident, $bits:ty, $key:ty, $mantissa:literal, $exponents:literal, $sum:ty, $square:ty,
       $most:expr;)*) => {$(
        impl CountedItem for $float {
            type Key = $key;
            const ENDS: ($key, $key) = (<$key>::MIN, <$key>::MAX);
            type Edge = $edge;
            type Sums = $sums;

            fn load(bytes: &[u8], out: &mut Vec<Self>) {
                out.clear();
                out.extend(Self::chunks(bytes).iter().map(|&item| Self::from_little(item)));
            }
            fn store(self) -> Vec<u8> {
                self.to_le_bytes().into()
            }
            #[inline(always)]
            fn edge(self) -> $edge {
                $edge_of(self)
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
            total: SumOfSquares,
        }

        impl Default for $sums {
            fn default() -> Self {
                Self { bins: Box::new([(0, 0); $exponents]), items: 0, total: SumOfSquares::default() }
            }
        }

        impl $sums {
            fn collect(&mut self) {
                // what is not finite has the last exponent
                let finite = self.bins.iter().take($exponents - 1).enumerate();
                for (exponent, &(sum, square)) in finite.filter(|(_, bin)| bin.1 != 0) {
                    // subnormals count in the same power as the smallest normal numbers
                    let power = exponent.max(1) as i32 + 1 - $exponents / 2 - $mantissa;
                    self.total.sum.add_wide(sum < 0, sum.unsigned_abs().into(), power);
                    self.total.squares.add_wide(false, square.into(), 2 * power);
                }
                self.bins.fill((0, 0));
                self.items = 0;
            }
        }

        impl Sums<$float> for $sums {
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

            fn total(mut self) -> SumOfSquares {
                self.collect();
                self.total
            }
        }
    )*};
}

floats! {
    f16, f32, f16_to_f32, Float16Sums, u16, i16, 10, 32, i64, u64, 1 << 16;
    bf16, f32, bf16_to_f32, BFloat16Sums, u16, i16, 7, 256, i64, u64, 1 << 16;
    f32, f32, |item| item, Float32Sums, u32, i32, 23, 256, i64, u64, 1 << 16;
    f64, f64, |item| item, Float64Sums, u64, i64, 52, 2048, i128, u128, 1 << 21;
}
