//! What the items of two tensors are compared as.
//!
//! The items of most dtypes become others first ([`Widen`]), and no two of one dtype become the same: float64 holds each
//! float of fewer bits and each integer of up to 32, and NaN takes its old bits with it.

use std::array;

use half::{bf16, f16};
use num_complex::Complex;

use super::item::{Compared, ItemClass};
use super::steps::{Ordinals, Steps, ordinal16, ordinal32, ordinal64};
use crate::item::dtype::{DType, Kind};
use crate::item::element::{self, Element, match_kind};

/// What the items of two tensors are compared as.
pub(super) enum Common {
    /// As numbers or dates.
    Numbers(Reading),
    /// As so many bytes.
    Bytes,
    /// As code points, of 4 bytes each where they are wide, else of one.
    Text([bool; 2]),
}

/// How the items of two tensors become numbers of one type.
pub(super) struct Reading {
    pub compared: Compared,
    /// What makes items of that type of those on either side; `None` if they are of that type.
    pub widen: Option<[Widen; 2]>,
    pub steps: Steps,
    /// Whether differences are whole numbers.
    pub integers: bool,
    /// Whether both tensors have one dtype: their items are the same if their bytes are.
    pub is_one_dtype: bool,
}

/// Turns rows of items into rows of another type's items, all as little-endian bytes.
pub(super) type Widen = Box<dyn Fn(&[u8], &mut Vec<u8>) + Send + Sync>;

impl Common {
    /// `None` if two dtypes have no common meaning.
    pub(super) fn new(expected: &DType, actual: &DType) -> Option<Self> {
        if expected == actual {
            return Some(Reading::of_one(expected.kind()).map_or(Self::Bytes, Self::Numbers));
        }
        if let [Some((one, _)), Some((other, _))] = [expected, actual].map(|dtype| compared_as(dtype.kind())) {
            let class = match (one, other) {
                (ItemClass::Date, _) | (_, ItemClass::Date) => return None,
                (ItemClass::Integer, ItemClass::Integer) => ItemClass::Integer,
                (ItemClass::Complex, _) | (_, ItemClass::Complex) => ItemClass::Complex,
                (ItemClass::Float, _) | (_, ItemClass::Float) => ItemClass::Float,
            };
            return Some(Self::Numbers(Reading::of_two([expected.kind(), actual.kind()], class)?));
        }
        let wide = |dtype: &DType| {
            let text = matches!(dtype.kind(), Kind::Str(_) | Kind::Bytes(_));
            text.then(|| matches!(dtype.kind(), Kind::Str(_)))
        };
        Some(Self::Text([wide(expected)?, wide(actual)?]))
    }
}

impl Reading {
    /// Of two tensors of one dtype; `None` if its items are no numbers and no dates.
    fn of_one(kind: &Kind) -> Option<Self> {
        let (class, compared) = compared_as(kind)?;
        let is_so_stored = DType::from(kind.clone()).itemsize() == compared.size();
        let widen = || widen(kind, compared, NanBits::Kept);
        let widen = if is_so_stored { None } else { Some([widen()?, widen()?]) };
        let integers = matches!(class, ItemClass::Integer | ItemClass::Date);
        Some(Self { compared, widen, steps: steps_of(kind), integers, is_one_dtype: true })
    }

    /// Of tensors of two dtypes, as numbers of a class.
    fn of_two(kinds: [&Kind; 2], class: ItemClass) -> Option<Self> {
        let compared = match class {
            ItemClass::Integer => Compared::Int128,
            ItemClass::Float | ItemClass::Date => Compared::Real,
            ItemClass::Complex => Compared::Complex,
        };
        // no NaN of the one has the bits of one of the other: in two dtypes they have nothing in common
        let nans = [NanBits::All(f64::NAN.to_bits()), NanBits::All(f64::NAN.to_bits() | 1)];
        let [one, other] = [widen(kinds[0], compared, nans[0])?, widen(kinds[1], compared, nans[1])?];
        let integers = class == ItemClass::Integer;
        Some(Self { compared, widen: Some([one, other]), steps: Steps::None, integers, is_one_dtype: false })
    }

    /// Rows of items of both sides as they are compared; `widened` is memory that may be used.
    pub(super) fn widened<'a>(
        &self,
        (expected, actual): (&'a [u8], &'a [u8]),
        widened: &'a mut [Vec<u8>; 2],
    ) -> (&'a [u8], &'a [u8]) {
        match &self.widen {
            None => (expected, actual),
            Some([one, other]) => {
                one(expected, &mut widened[0]);
                other(actual, &mut widened[1]);
                (&widened[0], &widened[1])
            }
        }
    }
}

/// The class of a dtype's items, and what they are compared as with their like; `None` if they are no numbers and no
/// dates.
fn compared_as(kind: &Kind) -> Option<(ItemClass, Compared)> {
    Some(match_kind!(*kind, {
        number T => (<T as Stored>::CLASS, T::COMPARED),
        Kind::Datetime(_) | Kind::Timedelta(_) => (ItemClass::Date, Compared::Ticks),
        Kind::Narrow(narrow) if narrow.is_integer() => (ItemClass::Integer, Compared::Real),
        Kind::Narrow(_) => (ItemClass::Float, Compared::Real),
        Kind::LongDouble(_) | Kind::ComplexLongDouble(_) => return None,
        Kind::Bytes(_) | Kind::Str(_) | Kind::Void(_) | Kind::Struct(_) => return None,
    }))
}

/// The steps between items of a dtype.
fn steps_of(kind: &Kind) -> Steps {
    match_kind!(*kind, {
        bool T => Steps::Distance,
        integer T => Steps::Distance,
        float T => T::steps(false),
        complex T => <T as Element>::Part::steps(true),
        Kind::Narrow(narrow) if narrow.is_integer() => Steps::Distance,
        Kind::Narrow(narrow) => {
            let table: [i32; 256] = array::from_fn(|item| narrow.ordinal(item as u8).unwrap_or(0) as i32);
            let read = move |[byte]: [u8; 1]| table[usize::from(byte)];
            Steps::Floats(Box::new(Ordinals { read, is_complex: false }))
        }
        Kind::Datetime(_) | Kind::Timedelta(_) => Steps::Distance,
        Kind::LongDouble(_) | Kind::ComplexLongDouble(_) => Steps::None,
        Kind::Bytes(_) | Kind::Str(_) | Kind::Void(_) | Kind::Struct(_) => Steps::None,
    })
}

/// The bits of a NaN that has become a float64. What a conversion makes of them is left to the machine.
#[derive(Clone, Copy)]
enum NanBits {
    /// Those that it had, below the ones that make it one.
    Kept,
    /// Whatever they were, these.
    All(u64),
}

impl NanBits {
    /// What makes them of the old bits: some are kept, others put to them.
    fn masks(self) -> (u64, u64) {
        match self {
            Self::Kept => (u64::MAX, f64::NAN.to_bits()),
            Self::All(bits) => (0, bits),
        }
    }
}

/// A number as a dtype has it.
trait Stored: Copy {
    const CLASS: ItemClass;
    /// The type that it is compared as with its like.
    const COMPARED: Compared;

    /// It as an integer, if it is one.
    fn integer(self) -> i128 {
        0
    }

    /// The real and the imaginary part, each with the bits that it has.
    fn parts(self) -> [(f64, u64); 2];
}

macro_rules! stored_integers {
    ($($type:ty: $compared:ident),+) => {
        $(impl Stored for $type {
            const CLASS: ItemClass = ItemClass::Integer;
            const COMPARED: Compared = Compared::$compared;

            fn integer(self) -> i128 {
                self.into()
            }
            #[inline]
            fn parts(self) -> [(f64, u64); 2] {
                [(self as f64, 0), (0.0, 0)]
            }
        })+
    };
}

stored_integers!(i8: Real, i16: Real, i32: Real, i64: Int64, u8: Real, u16: Real, u32: Real, u64: UInt64);

impl Stored for bool {
    const CLASS: ItemClass = ItemClass::Integer;
    // the bits of two may differ although both are true
    const COMPARED: Compared = Compared::Bool;

    fn integer(self) -> i128 {
        self.into()
    }
    #[inline]
    fn parts(self) -> [(f64, u64); 2] {
        u8::from(self).parts()
    }
}

/// A float, or a part of a complex number.
trait StoredFloat {
    /// The steps between such floats, or between complex numbers of them.
    fn steps(is_complex: bool) -> Steps;
}

macro_rules! stored_floats {
    ($($type:ty: $ordinal:ident),+) => {
        $(impl StoredFloat for $type {
            fn steps(is_complex: bool) -> Steps {
                let read = |bytes| $ordinal(<$type>::from_le_bytes(bytes).to_bits());
                Steps::Floats(Box::new(Ordinals { read, is_complex }))
            }
        }

        impl Stored for $type {
            const CLASS: ItemClass = ItemClass::Float;
            const COMPARED: Compared = Compared::Real;

            #[inline]
            fn parts(self) -> [(f64, u64); 2] {
                [(element::Float::wide(self), self.to_bits().into()), (0.0, 0)]
            }
        }

        impl Stored for Complex<$type> {
            const CLASS: ItemClass = ItemClass::Complex;
            const COMPARED: Compared = Compared::Complex;

            #[inline]
            fn parts(self) -> [(f64, u64); 2] {
                [self.re.parts()[0], self.im.parts()[0]]
            }
        })+
    };
}

stored_floats!(f16: ordinal16, bf16: ordinal16, f32: ordinal32, f64: ordinal64);

/// A float of 8 bits or fewer, as a table tells it.
#[derive(Clone, Copy)]
struct Small {
    value: f64,
    bits: u8,
}

impl Stored for Small {
    const CLASS: ItemClass = ItemClass::Float;
    const COMPARED: Compared = Compared::Real;

    #[inline]
    fn parts(self) -> [(f64, u64); 2] {
        [(self.value, self.bits.into()), (0.0, 0)]
    }
}

/// What makes numbers of a dtype those of a type; `None` if they are no numbers.
fn widen(kind: &Kind, to: Compared, nan: NanBits) -> Option<Widen> {
    Some(match_kind!(*kind, {
        number T => widen_stored(to, nan, |bytes: &[u8; size_of::<T>()]| T::read_le(bytes)),
        Kind::Narrow(narrow) if narrow.is_integer() => {
            let table: [i8; 256] = array::from_fn(|item| narrow.value(item as u8) as i8);
            widen_stored(to, nan, move |[item]: &[u8; 1]| table[usize::from(*item)])
        }
        Kind::Narrow(narrow) => {
            let mask = ((1_u32 << narrow.bits()) - 1) as u8;
            let small = |item: u8| Small { value: narrow.value(item), bits: item & mask };
            let table: [Small; 256] = array::from_fn(|item| small(item as u8));
            widen_stored(to, nan, move |[item]: &[u8; 1]| table[usize::from(*item)])
        }
        Kind::LongDouble(_) | Kind::ComplexLongDouble(_) | Kind::Datetime(_) | Kind::Timedelta(_) => return None,
        Kind::Bytes(_) | Kind::Str(_) | Kind::Void(_) | Kind::Struct(_) => return None,
    }))
}

fn widen_stored<S: Stored, const SIZE: usize>(
    to: Compared,
    nan: NanBits,
    read: impl Fn(&[u8; SIZE]) -> S + Send + Sync + 'static,
) -> Widen {
    let (kept, more) = nan.masks();
    let part = move |(value, bits): (f64, u64)| match value.is_nan() {
        true => (bits & kept | more).to_le_bytes(),
        false => value.to_le_bytes(),
    };
    match to {
        Compared::Int128 => Box::new(move |bytes, out| each(bytes, out, |item| read(item).integer().to_le_bytes())),
        Compared::Complex => Box::new(move |bytes, out| {
            each(bytes, out, |item| {
                let [re, im] = read(item).parts().map(part);
                let mut both = [0; 16];
                both[..8].copy_from_slice(&re);
                both[8..].copy_from_slice(&im);
                both
            });
        }),
        Compared::Real | Compared::Int64 | Compared::UInt64 | Compared::Ticks | Compared::Bool => {
            Box::new(move |bytes, out| {
                let value = |item: &[u8; SIZE]| read(item).parts()[0].0;
                each(bytes, out, |item| value(item).to_le_bytes());
                // rare, and to ask for it at each item would take longer than all else
                let is_nan = |item: &[u8; 8]| f64::from_le_bytes(*item).is_nan();
                if out.as_chunks().0.iter().fold(false, |any, item| any | is_nan(item)) {
                    each(bytes, out, |item| part(read(item).parts()[0]));
                }
            })
        }
    }
}

/// Makes `out` one of `N` bytes for each item of `SIZE`. Memory of before is used again, and each item written in its
/// place: to append them would ask at each whether there is room.
#[inline(always)]
fn each<const SIZE: usize, const N: usize>(bytes: &[u8], out: &mut Vec<u8>, item: impl Fn(&[u8; SIZE]) -> [u8; N]) {
    let items = bytes.as_chunks::<SIZE>().0;
    out.resize(items.len() * N, 0);
    out.as_chunks_mut::<N>().0.iter_mut().zip(items).for_each(|(slot, bytes)| *slot = item(bytes));
}
