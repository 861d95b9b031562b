//! Converts the items of two tensors to a common type, and counts the steps between them in their own.
//!
//! Different items stay different: float64 holds every narrower float and integer of up to 32 bits, and NaN keeps its
//! bits. Only complex parts of two dtypes, and 64-bit integers beside complex numbers, are rounded.

use std::array;
use std::marker::PhantomData;

use half::{bf16, f16};

use super::distance::PairRule;
use super::item::{ItemClass, SplitItem};
use super::kernel::{ComparedAs, PairKernel, Rows, count_ones};
use crate::diff::options::Options;
use tensorop_kernels::item::datetime::CommonTicks;
use tensorop_kernels::item::dtype::{DType, Kind};
use tensorop_kernels::item::element::{Element, inlined, match_kind};
use tensorop_kernels::item::encoding::{code_points, unpadded};
use tensorop_kernels::item::load::{Load, integers, reals};

pub(crate) enum Comparability {
    Numbers(NumberReading),
    Bytes,
    /// As code points of 4 bytes (`is_wide`) or 1 byte.
    Text {
        is_wide: [bool; 2],
    },
}

pub(crate) struct NumberReading {
    pub compared: ComparedAs,
    /// `None` if the items have that type already.
    pub convert: Option<[ItemConversion; 2]>,
    pub steps: StepCounter,
    pub integers: bool,
    /// Equal bytes are equal items.
    pub is_one_dtype: bool,
}

impl Comparability {
    /// `None` if the dtypes are not comparable.
    pub(crate) fn new(expected: &DType, actual: &DType) -> Option<Self> {
        if expected == actual {
            return Some(NumberReading::for_one(expected.kind()).map_or(Self::Bytes, Self::Numbers));
        }
        let kinds = [expected.kind(), actual.kind()];
        if let [Some((one, _)), Some((other, _))] = kinds.map(compared_as) {
            return NumberReading::for_two(kinds, [one, other]).map(Self::Numbers);
        }
        let is_wide = |dtype: &DType| match dtype.kind() {
            Kind::Str(_) => Some(true),
            Kind::Bytes(_) => Some(false),
            _ => None,
        };
        Some(Self::Text { is_wide: [is_wide(expected)?, is_wide(actual)?] })
    }

    /// Two NaN are equal.
    pub(crate) fn is_same(&self, pair: Rows<'_>) -> bool {
        match self {
            Self::Bytes => pair.expected == pair.actual,
            Self::Text { is_wide: [expected, actual] } => {
                text_of(pair.expected, *expected).eq(text_of(pair.actual, *actual))
            }
            Self::Numbers(reading) => {
                let mut converted = Default::default();
                let rows = reading.read(pair, &mut converted);
                let masks = reading.kernel().masks(&PairRule::new(&Options::default()), rows, &[], false);
                count_ones(&masks.fail) == 0
            }
        }
    }
}

/// Omits trailing NULs.
fn text_of(bytes: &[u8], is_wide: bool) -> impl Iterator<Item = u32> {
    let (points, bytes) = if is_wide { (bytes, &[][..]) } else { (&[][..], bytes) };
    code_points(points, false).chain(unpadded(bytes, 1).iter().map(|&byte| byte.into()))
}

impl NumberReading {
    fn for_one(kind: &Kind) -> Option<Self> {
        let (class, compared) = compared_as(kind)?;
        let is_so_stored = DType::from(kind.clone()).itemsize() == compared.kernel().size();
        let convert = || ItemConversion::new(kind, compared, NanBits::Kept, f64::to_le_bytes);
        let convert = if is_so_stored { None } else { Some([convert(), convert()]) };
        let integers = matches!(class, ItemClass::Integer | ItemClass::Date);
        Some(Self { compared, convert, steps: StepCounter::of(kind), integers, is_one_dtype: true })
    }

    /// `None` without a common unit.
    fn for_two(kinds: [&Kind; 2], classes: [ItemClass; 2]) -> Option<Self> {
        use ItemClass::{Complex, Date, Float, Integer};
        let is_long = |kind: &Kind| matches!(kind, Kind::Int64 | Kind::UInt64);
        let compared = match classes {
            [Date, Date] => ComparedAs::Times,
            [Date, _] | [_, Date] => return None,
            [Integer, Integer] => ComparedAs::Int128,
            [Complex, _] | [_, Complex] => ComparedAs::Complex,
            [Float, _] | [_, Float] if kinds.into_iter().any(is_long) => ComparedAs::Split,
            [Float, _] | [_, Float] => ComparedAs::Float64,
        };
        // NaNs of two dtypes never have the same bits.
        let nans = [NanBits::All(f64::NAN.to_bits()), NanBits::All(f64::NAN.to_bits() | 1)];
        let convert = match compared {
            ComparedAs::Times => {
                let common = common_ticks(kinds)?;
                common.map(|ticks| ItemConversion::Integers(long_ticks(ticks)))
            }
            // Adding 0.0 turns -0 into +0: an integer 0 equals both.
            _ if classes.contains(&Integer) => [0, 1].map(|side| {
                ItemConversion::new(kinds[side], compared, nans[side], |value| (value + 0.0).to_le_bytes())
            }),
            _ => [0, 1].map(|side| ItemConversion::new(kinds[side], compared, nans[side], f64::to_le_bytes)),
        };
        let integers = classes == [Integer; 2] || classes == [Date; 2];
        Some(Self { compared, convert: Some(convert), steps: StepCounter::None, integers, is_one_dtype: false })
    }

    pub(crate) fn kernel(&self) -> &'static dyn PairKernel {
        self.compared.kernel()
    }

    /// Equal bytes of one dtype are converted once, to one slice.
    pub(crate) fn read<'a>(&self, stored: Rows<'a>, converted: &'a mut [ConvertedItems; 2]) -> Rows<'a> {
        let stored = if self.is_one_dtype { stored.joined() } else { stored };
        let Some([expected, actual]) = &self.convert else { return stored };
        let [of_expected, of_actual] = converted;
        let converted = expected.convert(stored.expected, of_expected);
        match stored.are_one() {
            true => Rows { expected: converted, actual: converted },
            false => Rows { expected: converted, actual: actual.convert(stored.actual, of_actual) },
        }
    }
}

fn compared_as(kind: &Kind) -> Option<(ItemClass, ComparedAs)> {
    Some(match kind {
        // Two true bytes may differ in bits.
        Kind::Bool => (ItemClass::Integer, ComparedAs::Bool),
        Kind::Int64 => (ItemClass::Integer, ComparedAs::Int64),
        Kind::UInt64 => (ItemClass::Integer, ComparedAs::UInt64),
        Kind::Int8 | Kind::Int16 | Kind::Int32 | Kind::UInt8 | Kind::UInt16 | Kind::UInt32 => {
            (ItemClass::Integer, ComparedAs::Float64)
        }
        Kind::Float16 | Kind::BFloat16 | Kind::Float32 | Kind::Float64 => (ItemClass::Float, ComparedAs::Float64),
        Kind::Complex64 | Kind::Complex128 => (ItemClass::Complex, ComparedAs::Complex),
        Kind::Datetime(_) | Kind::Timedelta(_) => (ItemClass::Date, ComparedAs::Ticks),
        Kind::Narrow(narrow) if narrow.is_integer() => (ItemClass::Integer, ComparedAs::Float64),
        Kind::Narrow(_) => (ItemClass::Float, ComparedAs::Float64),
        Kind::LongDouble(_) | Kind::ComplexLongDouble(_) => return None,
        Kind::Bytes(_) | Kind::Str(_) | Kind::Void(_) | Kind::Struct(_) => return None,
    })
}

fn common_ticks(kinds: [&Kind; 2]) -> Option<[CommonTicks; 2]> {
    match kinds {
        [Kind::Datetime(one), Kind::Datetime(other)] => CommonTicks::of([*one, *other], true),
        [Kind::Timedelta(one), Kind::Timedelta(other)] => CommonTicks::of([*one, *other], false),
        _ => None,
    }
}

fn long_ticks(common: CommonTicks) -> Load<[u8; 16]> {
    let store = move |ticks: i128| common.convert(ticks as i64).to_le_bytes();
    integers(&Kind::Int64, store).expect("int64 is a dtype of integers")
}

/// The hardware would choose the bits of a converted NaN.
#[derive(Clone, Copy)]
enum NanBits {
    /// The payload of the original NaN.
    Kept,
    All(u64),
}

#[derive(Default)]
pub(crate) struct ConvertedItems {
    floats: Vec<[u8; 8]>,
    wide: Vec<[u8; 16]>,
}

pub(crate) enum ItemConversion {
    Integers(Load<[u8; 16]>),
    Floats(FloatConversion),
}

pub(crate) struct FloatConversion {
    load: Load<[u8; 8]>,
    nan: NanBits,
    /// The width of an item or complex part, and its significant bits.
    width: usize,
    mask: u64,
    is_widened: bool,
}

impl ItemConversion {
    fn new(
        kind: &Kind,
        to: ComparedAs,
        nan: NanBits,
        store: impl Fn(f64) -> [u8; 8] + Copy + Send + Sync + 'static,
    ) -> Self {
        let dtype = DType::from(kind.clone());
        let loaded = match to {
            ComparedAs::Int128 => integers(kind, i128::to_le_bytes).map(Self::Integers),
            ComparedAs::Split if matches!(kind, Kind::Int64 | Kind::UInt64) => {
                integers(kind, SplitItem::bytes_of).map(Self::Integers)
            }
            ComparedAs::Float64 | ComparedAs::Split | ComparedAs::Complex => reals(&dtype, store).map(|load| {
                let is_complex = matches!(kind, Kind::Complex64 | Kind::Complex128);
                let width = if is_complex { dtype.itemsize() / 2 } else { dtype.itemsize() };
                let mask = if let Kind::Narrow(narrow) = kind { (1 << narrow.bits()) - 1 } else { u64::MAX };
                let is_widened = to == ComparedAs::Split || to == ComparedAs::Complex && !is_complex;
                Self::Floats(FloatConversion { load, nan, width, mask, is_widened })
            }),
            ComparedAs::Int64 | ComparedAs::UInt64 | ComparedAs::Ticks | ComparedAs::Times | ComparedAs::Bool => None,
        };
        loaded.unwrap_or_else(|| unreachable!("items of {kind:?} are not converted to {to:?}"))
    }

    fn convert<'a>(&self, bytes: &[u8], out: &'a mut ConvertedItems) -> &'a [u8] {
        let ConvertedItems { floats, wide } = out;
        match self {
            Self::Integers(load) => {
                load(bytes, wide);
                wide.as_flattened()
            }
            Self::Floats(FloatConversion { load, nan, width, mask, is_widened }) => {
                // NaN is rare; a test per item would take longer than the rest.
                if load(bytes, floats) {
                    set_nan_bits(floats, bytes.chunks_exact(*width), *nan, *mask);
                }
                if !is_widened {
                    return floats.as_flattened();
                }
                wide.clear();
                wide.extend(floats.iter().map(|&re| {
                    let mut both = [0; 16];
                    both[..8].copy_from_slice(&re);
                    both
                }));
                wide.as_flattened()
            }
        }
    }
}

fn set_nan_bits<'a>(floats: &mut [[u8; 8]], items: impl Iterator<Item = &'a [u8]>, nan: NanBits, mask: u64) {
    let are_nan = floats.iter_mut().zip(items).filter(|(float, _)| f64::from_le_bytes(**float).is_nan());
    for (float, item) in are_nan {
        let bits = match nan {
            NanBits::Kept => {
                let mut word = [0; 8];
                word[..item.len()].copy_from_slice(item);
                u64::from_le_bytes(word) & mask | f64::NAN.to_bits()
            }
            NanBits::All(bits) => bits,
        };
        *float = bits.to_le_bytes();
    }
}

/// Counts the steps between neighbouring values of a dtype. Floats are counted in their stored dtype, because conversion to
/// float64 loses its steps.
pub(crate) enum StepCounter {
    /// Steps of integers and dates are distances.
    Distance,
    Floats(Box<dyn FloatSteps>),
    /// Two dtypes have no steps.
    None,
}

impl StepCounter {
    pub(crate) fn of(kind: &Kind) -> Self {
        match_kind!(*kind, {
            bool T => Self::Distance,
            integer T => Self::Distance,
            float T => Self::floats(T::ordinal, false),
            complex T => Self::floats(<T as Element>::Part::ordinal, true),
            Kind::Narrow(narrow) if narrow.is_integer() => Self::Distance,
            Kind::Narrow(narrow) => {
                // NaN has no ordinal; its steps are not used.
                let table: [i32; 256] = array::from_fn(|item| narrow.ordinal(item as u8).unwrap_or(0) as i32);
                Self::floats(move |item: u8| table[usize::from(item)], false)
            }
            Kind::Datetime(_) | Kind::Timedelta(_) => Self::Distance,
            Kind::LongDouble(_) | Kind::ComplexLongDouble(_) => Self::None,
            Kind::Bytes(_) | Kind::Str(_) | Kind::Void(_) | Kind::Struct(_) => Self::None,
        })
    }

    fn floats<S: Element, O: Ordinal>(ordinal: impl Fn(S) -> O + Send + Sync + 'static, is_complex: bool) -> Self {
        Self::Floats(Box::new(Ordinals { ordinal, is_complex, items: PhantomData }))
    }

    pub(crate) fn are_counted(&self) -> bool {
        matches!(self, Self::Floats(_))
    }

    pub(crate) fn any_above(&self, stored: Rows<'_>, most: u64) -> bool {
        match self {
            Self::Floats(floats) => floats.any_above(stored.expected, stored.actual, most),
            Self::Distance | Self::None => false,
        }
    }

    pub(crate) fn fill(&self, kernel: &dyn PairKernel, stored: Rows<'_>, rows: Rows<'_>, out: &mut Vec<u64>) {
        out.clear();
        match self {
            Self::Distance => kernel.steps(rows, out),
            Self::Floats(floats) => floats.fill(stored.expected, stored.actual, out),
            Self::None => {}
        }
    }
}

/// The steps from -0 to +0 are 0.
pub(crate) trait FloatSteps: Send + Sync {
    fn any_above(&self, expected: &[u8], actual: &[u8], most: u64) -> bool;

    fn fill(&self, expected: &[u8], actual: &[u8], out: &mut Vec<u64>);
}

/// The position of a float among all values of its dtype.
trait Ordinal: Copy + Send + Sync {
    type Count: Copy + Ord + Into<u64> + TryFrom<u64>;

    fn steps(self, other: Self) -> Self::Count;
}

trait OrderedFloat {
    type Ordinal: Ordinal;

    fn ordinal(self) -> Self::Ordinal;
}

macro_rules! ordinals {
    ($($type:ty: $count:ty, $($float:ty: $ordinal:ident),+;)+) => {$(
        impl Ordinal for $type {
            type Count = $count;

            inlined! {
                fn steps(self, other: Self) -> $count { self.abs_diff(other) }
            }
        }

        $(impl OrderedFloat for $float {
            type Ordinal = $type;

            inlined! {
                fn ordinal(self) -> $type { $ordinal(self.to_bits()) }
            }
        })+
    )+};
}

ordinals! {
    i32: u32, f16: ordinal16, bf16: ordinal16, f32: ordinal32;
    i64: u64, f64: ordinal64;
}

/// Steps of a complex item are the maximum of its two parts.
struct Ordinals<S, R> {
    ordinal: R,
    is_complex: bool,
    items: PhantomData<fn(S)>,
}

impl<S: Element, R> Ordinals<S, R> {
    fn each<O: Ordinal>(&self, expected: &[u8], actual: &[u8]) -> impl Iterator<Item = O::Count>
    where
        R: Fn(S) -> O,
    {
        let pairs = S::chunks(expected).iter().zip(S::chunks(actual));
        pairs.map(|(expected, actual)| {
            (self.ordinal)(S::from_little(*expected)).steps((self.ordinal)(S::from_little(*actual)))
        })
    }
}

impl<S: Element, O: Ordinal, R: Fn(S) -> O + Send + Sync> FloatSteps for Ordinals<S, R> {
    fn any_above(&self, expected: &[u8], actual: &[u8], most: u64) -> bool {
        // `|` instead of `||` lets the loop be vectorised.
        O::Count::try_from(most)
            .is_ok_and(|most| self.each(expected, actual).fold(false, |any, steps| any | (steps > most)))
    }

    fn fill(&self, expected: &[u8], actual: &[u8], out: &mut Vec<u64>) {
        out.extend(self.each(expected, actual).map(Into::into));
        if self.is_complex {
            let count = out.len() / 2;
            for item in 0..count {
                out[item] = out[2 * item].max(out[2 * item + 1]);
            }
            out.truncate(count);
        }
    }
}

/// The bits of floats, except the sign, sort like integers. An overflow check would prevent vectorisation.
#[inline(always)]
fn ordinal64(bits: u64) -> i64 {
    let sign = bits as i64 >> 63;
    ((bits & (u64::MAX >> 1)) as i64 ^ sign).wrapping_sub(sign)
}

#[inline(always)]
fn ordinal32(bits: u32) -> i32 {
    let sign = bits as i32 >> 31;
    ((bits & (u32::MAX >> 1)) as i32 ^ sign).wrapping_sub(sign)
}

/// Treats the bits as the upper half of a float32.
#[inline(always)]
fn ordinal16(bits: u16) -> i32 {
    ordinal32(u32::from(bits) << 16) >> 16
}
