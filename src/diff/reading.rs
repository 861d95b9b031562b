//! How the items of two tensors become items of one of the types that are compared.
//!
//! The items of most dtypes are converted first ([`ConvertItems`]), and no two that differ become the same: float64 holds
//! every float of fewer bits and every integer of up to 32, and NaN keeps its bits.

use std::array;

use half::{bf16, f16};
use num_complex::Complex;

use super::item::ItemClass;
use super::kernel::{ComparedAs, PairKernel, Rows};
use super::options::Options;
use super::rule::Rule;
use super::steps::{Ordinals, Steps, ordinal16, ordinal32, ordinal64};
use crate::item::dtype::{DType, Kind};
use crate::item::element::{self, Element, inlined, match_kind, not_numbers};
use crate::item::encoding::{code_points, unpadded};

/// How the items of two tensors can be compared.
pub(super) enum Comparability {
    /// As numbers or dates.
    Numbers(NumberReading),
    /// As bytes.
    Bytes,
    /// As code points; each side tells whether it has 4 bytes for each of them, or one.
    Text { is_wide: [bool; 2] },
}

/// How the items of two tensors become numbers of one type.
pub(super) struct NumberReading {
    pub compared: ComparedAs,
    /// Converts the items of either side to that type; `None` if they are of that type.
    pub convert: Option<[ConvertItems; 2]>,
    pub steps: Steps,
    /// Whether differences are whole numbers.
    pub integers: bool,
    /// Whether both tensors have one dtype: then items of the same bytes are the same.
    pub is_one_dtype: bool,
}

/// Converts a row of items to another type, both as little-endian bytes.
pub(super) type ConvertItems = Box<dyn Fn(&[u8], &mut Vec<u8>) + Send + Sync>;

impl Comparability {
    /// Returns `None` if two dtypes have no common meaning.
    pub(super) fn new(expected: &DType, actual: &DType) -> Option<Self> {
        if expected == actual {
            return Some(NumberReading::of_one(expected.kind()).map_or(Self::Bytes, Self::Numbers));
        }
        if let [Some((one, _)), Some((other, _))] = [expected, actual].map(|dtype| compared_as(dtype.kind())) {
            let class = match (one, other) {
                (ItemClass::Date, _) | (_, ItemClass::Date) => return None,
                (ItemClass::Integer, ItemClass::Integer) => ItemClass::Integer,
                (ItemClass::Complex, _) | (_, ItemClass::Complex) => ItemClass::Complex,
                (ItemClass::Float, _) | (_, ItemClass::Float) => ItemClass::Float,
            };
            return Some(Self::Numbers(NumberReading::of_two([expected.kind(), actual.kind()], class)));
        }
        let is_wide = |dtype: &DType| match dtype.kind() {
            Kind::Str(_) => Some(true),
            Kind::Bytes(_) => Some(false),
            _ => None,
        };
        Some(Self::Text { is_wide: [is_wide(expected)?, is_wide(actual)?] })
    }

    /// Returns whether two items are the same: no tolerance is given, and two NaN are.
    pub(super) fn is_same(&self, pair: Rows<'_>) -> bool {
        match self {
            Self::Bytes => pair.expected == pair.actual,
            Self::Text { is_wide: [expected, actual] } => {
                text_of(pair.expected, *expected).eq(text_of(pair.actual, *actual))
            }
            Self::Numbers(reading) => {
                let (mut converted, mut facts) = (Default::default(), Vec::new());
                let rows = reading.read(pair, &mut converted);
                reading.kernel().facts(&Rule::new(&Options::default()), rows, &[], &mut facts);
                facts.iter().all(|facts| !facts.fails)
            }
        }
    }
}

/// Returns the code points of a string, without the NULs at its end.
fn text_of(bytes: &[u8], is_wide: bool) -> impl Iterator<Item = u32> {
    let (points, bytes) = if is_wide { (bytes, &[][..]) } else { (&[][..], bytes) };
    code_points(points, false).chain(unpadded(bytes, 1).iter().map(|&byte| byte.into()))
}

impl NumberReading {
    /// Returns how tensors of one dtype are read, or `None` if their items are no numbers and no dates.
    fn of_one(kind: &Kind) -> Option<Self> {
        let (class, compared) = compared_as(kind)?;
        let is_so_stored = DType::from(kind.clone()).itemsize() == compared.kernel().size();
        let convert = || conversion(kind, compared, NanBits::Kept);
        let convert = if is_so_stored { None } else { Some([convert(), convert()]) };
        let integers = matches!(class, ItemClass::Integer | ItemClass::Date);
        Some(Self { compared, convert, steps: steps_of(kind), integers, is_one_dtype: true })
    }

    /// Returns how tensors of two dtypes are read as numbers of a class.
    fn of_two(kinds: [&Kind; 2], class: ItemClass) -> Self {
        let compared = match class {
            ItemClass::Integer => ComparedAs::Int128,
            ItemClass::Float | ItemClass::Date => ComparedAs::Float64,
            ItemClass::Complex => ComparedAs::Complex,
        };
        // NaN of two dtypes have nothing in common, so they get bits that differ
        let nans = [NanBits::All(f64::NAN.to_bits()), NanBits::All(f64::NAN.to_bits() | 1)];
        let convert = [conversion(kinds[0], compared, nans[0]), conversion(kinds[1], compared, nans[1])];
        let integers = class == ItemClass::Integer;
        Self { compared, convert: Some(convert), steps: Steps::None, integers, is_one_dtype: false }
    }

    /// Returns the loops over items as they are compared.
    pub(super) fn kernel(&self) -> &'static dyn PairKernel {
        self.compared.kernel()
    }

    /// Returns the items of both sides as they are compared, in `converted` if they had to be converted.
    pub(super) fn read<'a>(&self, stored: Rows<'a>, converted: &'a mut [Vec<u8>; 2]) -> Rows<'a> {
        match &self.convert {
            None => stored,
            Some([expected, actual]) => {
                expected(stored.expected, &mut converted[0]);
                actual(stored.actual, &mut converted[1]);
                Rows { expected: &converted[0], actual: &converted[1] }
            }
        }
    }
}

/// Returns the class of a dtype's items, and as what two tensors of it are compared; `None` if they are no numbers and no
/// dates.
fn compared_as(kind: &Kind) -> Option<(ItemClass, ComparedAs)> {
    Some(match_kind!(*kind, {
        bool T => (ItemClass::Integer, T::COMPARED),
        integer T => (ItemClass::Integer, T::COMPARED),
        float T => (ItemClass::Float, ComparedAs::Float64),
        complex T => (ItemClass::Complex, ComparedAs::Complex),
        Kind::Datetime(_) | Kind::Timedelta(_) => (ItemClass::Date, ComparedAs::Ticks),
        Kind::Narrow(narrow) if narrow.is_integer() => (ItemClass::Integer, ComparedAs::Float64),
        Kind::Narrow(_) => (ItemClass::Float, ComparedAs::Float64),
        Kind::LongDouble(_) | Kind::ComplexLongDouble(_) => return None,
        Kind::Bytes(_) | Kind::Str(_) | Kind::Void(_) | Kind::Struct(_) => return None,
    }))
}

/// Returns how the steps between items of a dtype are found.
fn steps_of(kind: &Kind) -> Steps {
    match_kind!(*kind, {
        bool T => Steps::Distance,
        integer T => Steps::Distance,
        float T => T::steps(false),
        complex T => <T as Element>::Part::steps(true),
        Kind::Narrow(narrow) if narrow.is_integer() => Steps::Distance,
        Kind::Narrow(narrow) => {
            // the steps to NaN, which has no ordinal, are of no use
            let table: [i32; 256] = array::from_fn(|item| narrow.ordinal(item as u8).unwrap_or(0) as i32);
            let read = move |[byte]: [u8; 1]| table[usize::from(byte)];
            Steps::Floats(Box::new(Ordinals { read, is_complex: false }))
        }
        Kind::Datetime(_) | Kind::Timedelta(_) => Steps::Distance,
        Kind::LongDouble(_) | Kind::ComplexLongDouble(_) => Steps::None,
        Kind::Bytes(_) | Kind::Str(_) | Kind::Void(_) | Kind::Struct(_) => Steps::None,
    })
}

/// The bits of a NaN that has become a float64, which depend on the machine if nothing sets them.
#[derive(Clone, Copy)]
enum NanBits {
    /// The bits that it had, below those that make it NaN.
    Kept,
    /// These bits, whatever it had.
    All(u64),
}

/// An integer or a bool.
trait StoredInteger: Copy + Into<i128> {
    /// The type that two tensors of it are compared as.
    const COMPARED: ComparedAs;

    /// Returns the nearest float64.
    fn near(self) -> f64;
}

macro_rules! stored_integers {
    ($($type:ty: $compared:ident),+) => {
        $(impl StoredInteger for $type {
            const COMPARED: ComparedAs = ComparedAs::$compared;

            inlined! {
                fn near(self) -> f64 { self as f64 }
            }
        })+
    };
}

stored_integers!(i8: Float64, i16: Float64, i32: Float64, i64: Int64, u8: Float64, u16: Float64, u32: Float64, u64: UInt64);

impl StoredInteger for bool {
    // two that are true may differ in bits
    const COMPARED: ComparedAs = ComparedAs::Bool;

    inlined! {
        fn near(self) -> f64 { u8::from(self).into() }
    }
}

/// A float as a float64, and the bits that it is stored as.
#[derive(Clone, Copy)]
struct WideFloat {
    value: f64,
    bits: u64,
}

impl WideFloat {
    /// Returns the little-endian bytes of the float64.
    #[inline]
    fn to_bytes(self, nan: NanBits) -> [u8; 8] {
        match nan {
            _ if !self.value.is_nan() => self.value.to_le_bytes(),
            NanBits::Kept => (self.bits | f64::NAN.to_bits()).to_le_bytes(),
            NanBits::All(bits) => bits.to_le_bytes(),
        }
    }
}

/// A float, or a part of a complex number.
trait StoredFloat: Copy {
    fn widened(self) -> WideFloat;

    /// Returns how the steps between such floats, or complex numbers of them, are found.
    fn steps(is_complex: bool) -> Steps;
}

macro_rules! stored_floats {
    ($($type:ty: $ordinal:ident),+) => {
        $(impl StoredFloat for $type {
            inlined! {
                fn widened(self) -> WideFloat {
                    WideFloat { value: element::Float::wide(self), bits: self.to_bits().into() }
                }
            }

            fn steps(is_complex: bool) -> Steps {
                let read = |bytes| $ordinal(<$type>::from_le_bytes(bytes).to_bits());
                Steps::Floats(Box::new(Ordinals { read, is_complex }))
            }
        })+
    };
}

stored_floats!(f16: ordinal16, bf16: ordinal16, f32: ordinal32, f64: ordinal64);

/// Returns what converts numbers of a dtype to a type.
fn conversion(kind: &Kind, to: ComparedAs, nan: NanBits) -> ConvertItems {
    match_kind!(*kind, {
        bool T => convert_integers(to, |bytes: &[u8; size_of::<T>()]| T::read_le(bytes)),
        integer T => convert_integers(to, |bytes: &[u8; size_of::<T>()]| T::read_le(bytes)),
        float T => convert_floats(to, nan, |bytes: &[u8; size_of::<T>()]| T::read_le(bytes).widened()),
        complex T => convert_complex(to, nan, |bytes: &[u8; size_of::<T>()]| T::read_le(bytes)),
        Kind::Narrow(narrow) if narrow.is_integer() => {
            let table: [i8; 256] = array::from_fn(|item| narrow.value(item as u8) as i8);
            convert_integers(to, move |[item]: &[u8; 1]| table[usize::from(*item)])
        }
        Kind::Narrow(narrow) => {
            let mask = ((1_u32 << narrow.bits()) - 1) as u8;
            let small = |item: u8| WideFloat { value: narrow.value(item), bits: (item & mask).into() };
            let table: [WideFloat; 256] = array::from_fn(|item| small(item as u8));
            convert_floats(to, nan, move |[item]: &[u8; 1]| table[usize::from(*item)])
        }
        not_numbers!() => unreachable!("items of {kind:?} are not converted"),
    })
}

fn convert_integers<S: StoredInteger, const SIZE: usize>(
    to: ComparedAs,
    read: impl Fn(&[u8; SIZE]) -> S + Send + Sync + 'static,
) -> ConvertItems {
    match to {
        ComparedAs::Int128 => Box::new(move |bytes, out| each(bytes, out, |item| read(item).into().to_le_bytes())),
        ComparedAs::Float64 | ComparedAs::Complex => {
            let near = move |bytes: &[u8], out: &mut Vec<u8>| each(bytes, out, |item| read(item).near().to_le_bytes());
            real_or_complex(to, Box::new(near))
        }
        ComparedAs::Int64 | ComparedAs::UInt64 | ComparedAs::Ticks | ComparedAs::Bool => {
            unreachable!("items that are compared as {to:?} are stored so")
        }
    }
}

fn convert_floats<const SIZE: usize>(
    to: ComparedAs,
    nan: NanBits,
    read: impl Fn(&[u8; SIZE]) -> WideFloat + Send + Sync + 'static,
) -> ConvertItems {
    let convert = move |bytes: &[u8], out: &mut Vec<u8>| {
        let mut has_nan = false;
        each(bytes, out, |item| {
            let WideFloat { value, .. } = read(item);
            has_nan |= value.is_nan();
            value.to_le_bytes()
        });
        // NaN is rare, and to choose its bits at each item would take longer than all else
        if has_nan {
            each(bytes, out, |item| read(item).to_bytes(nan));
        }
    };
    real_or_complex(to, Box::new(convert))
}

fn convert_complex<P: StoredFloat, const SIZE: usize>(
    to: ComparedAs,
    nan: NanBits,
    read: impl Fn(&[u8; SIZE]) -> Complex<P> + Send + Sync + 'static,
) -> ConvertItems {
    assert_eq!(to, ComparedAs::Complex, "complex numbers are compared as nothing else");
    Box::new(move |bytes, out| {
        each(bytes, out, |item| {
            let Complex { re, im } = read(item);
            let mut both = [0; 16];
            both[..8].copy_from_slice(&re.widened().to_bytes(nan));
            both[8..].copy_from_slice(&im.widened().to_bytes(nan));
            both
        });
    })
}

/// Returns what makes complex numbers of the float64s that `convert` makes, if these are wanted, else `convert`.
fn real_or_complex(to: ComparedAs, convert: ConvertItems) -> ConvertItems {
    if to == ComparedAs::Float64 {
        return convert;
    }
    assert_eq!(to, ComparedAs::Complex, "floats are not compared as integers");
    Box::new(move |bytes, out| {
        convert(bytes, out);
        let mut parts = vec![0; 2 * out.len()];
        for (both, re) in parts.as_chunks_mut::<16>().0.iter_mut().zip(out.as_chunks::<8>().0) {
            both[..8].copy_from_slice(re);
        }
        *out = parts;
    })
}

/// Makes `out` an item of `N` bytes for each item of `SIZE`. Each is written in its place; to append them would check for
/// room at each.
#[inline(always)]
fn each<const SIZE: usize, const N: usize>(
    bytes: &[u8],
    out: &mut Vec<u8>,
    mut item: impl FnMut(&[u8; SIZE]) -> [u8; N],
) {
    let items = bytes.as_chunks::<SIZE>().0;
    out.resize(items.len() * N, 0);
    for (slot, bytes) in out.as_chunks_mut::<N>().0.iter_mut().zip(items) {
        *slot = item(bytes);
    }
}
