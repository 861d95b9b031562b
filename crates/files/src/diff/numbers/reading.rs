//! Converts the items of two tensors to a common type.
//!
//! Different items stay different: float64 holds every narrower float and integer of up to 32 bits, and NaN keeps its
//! bits. Only complex parts of two dtypes, and 64-bit integers beside complex numbers, are rounded.

use super::distance::PairRule;
use super::item::{ItemClass, SplitItem};
use super::kernel::{ComparedAs, PairKernel, Rows, count_ones};
use super::steps::StepCounter;
use crate::diff::options::Options;
use tensorop_kernels::item::datetime::CommonTicks;
use tensorop_kernels::item::dtype::{DType, Kind};
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
