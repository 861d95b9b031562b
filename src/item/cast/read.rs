//! Reads the numbers that are cast: items, or the parts of complex items.

use half::{bf16, f16};

use super::middle::Middle;
use crate::item::dtype::{DType, Kind, Narrow};
use crate::item::element::{Element, Float, match_kind, not_numbers};

/// How the numbers of a dtype are read.
#[derive(Clone, Debug)]
pub(super) struct CastInput {
    /// Bytes of one number.
    pub size: usize,
    /// Whether an item is two of them.
    pub complex: bool,
    pub big: bool,
    pub reader: NumberReader,
}

/// The type into which a run of numbers is read, and how.
#[derive(Clone, Debug)]
pub(super) enum NumberReader {
    Float(LoadRun<f64>),
    Signed(LoadRun<i64>),
    Unsigned(LoadRun<u64>),
    /// Float64 or int64, by the values of all bytes.
    Narrow(Narrow, Vec<f64>),
}

/// Reads a run of numbers of one type.
#[derive(Clone, Copy, Debug)]
pub(super) struct LoadRun<M> {
    /// Reads the numbers of `bytes`, which are big-endian or not, to the front of `run`.
    pub load: fn(big: bool, bytes: &[u8], run: &mut [M]),
    /// Returns the shortest text that reads back to the same item.
    pub text: fn(number: M) -> String,
}

impl<M> LoadRun<M> {
    /// Returns the function that reads numbers of a byte order.
    pub(super) fn loader(self, big: bool) -> impl Fn(&[u8], &mut [M]) {
        move |bytes, run| (self.load)(big, bytes, run)
    }
}

impl CastInput {
    /// Returns how the items of a dtype are read; `None` if they are no numbers.
    pub(super) fn of(dtype: &DType) -> Option<Self> {
        match_kind!(dtype.kind(), {
            number T => Some(Self::parts::<<T as Element>::Part>(dtype)),
            Kind::Narrow(narrow) => {
                let values = (0..=u8::MAX).map(|item| narrow.value(item)).collect();
                Some(Self { size: 1, complex: false, big: false, reader: NumberReader::Narrow(*narrow, values) })
            }
            not_numbers!() => None,
        })
    }

    fn parts<P: Readable>(dtype: &DType) -> Self {
        Self { size: P::SIZE, complex: dtype.itemsize() > P::SIZE, big: dtype.is_big_endian(), reader: P::READER }
    }
}

/// A type of numbers.
trait Readable: Element {
    const READER: NumberReader;
}

macro_rules! readable {
    ($($reader:ident { $($type:ty, $number:expr, $text:expr;)+ })+) => {$($(
        impl Readable for $type {
            const READER: NumberReader =
                NumberReader::$reader(LoadRun { load: |big, bytes, run| load::<$type, _>(big, bytes, run, $number), text: $text });
        }
    )+)+};
}

readable! {
    Signed {
        bool, i64::from, |number| number.to_string();
        i8, i64::from, |number| number.to_string();
        i16, i64::from, |number| number.to_string();
        i32, i64::from, |number| number.to_string();
        i64, |item| item, |number| number.to_string();
        u8, i64::from, |number| number.to_string();
        u16, i64::from, |number| number.to_string();
        u32, i64::from, |number| number.to_string();
    }
    Unsigned {
        u64, |item| item, |number| number.to_string();
    }
    Float {
        f16, |item| plain_nan(item.wide()), single_text;
        bf16, Float::wide, single_text;
        f32, Float::wide, single_text;
        f64, Float::wide, |number| float_text(number, || zmij::Buffer::new().format(number).to_owned());
    }
}

/// Reads items. The byte order is checked once for a run and not for each item, so that either loop is vectorised.
#[inline(always)]
fn load<T: Element, M: Middle>(big: bool, bytes: &[u8], run: &mut [M], number: impl Fn(T) -> M) {
    let words = T::chunks(bytes).iter().zip(run);
    if big {
        for (&word, place) in words {
            *place = number(T::from_big(word));
        }
    } else {
        for (&word, place) in words {
            *place = number(T::from_little(word));
        }
    }
}

/// Reads items of a narrow type by a table of the values of all 256 bytes, which is faster than to take each apart.
pub(super) fn load_narrow<M: Middle>(bytes: &[u8], run: &mut [M], values: &[f64], number: impl Fn(f64) -> M) {
    let value = |item: u8| values.get(usize::from(item)).copied().unwrap_or_default();
    bytes.iter().zip(run).for_each(|(&item, place)| *place = number(value(item)));
}

/// Returns the text of a float of 32 bits or fewer.
pub(super) fn single_text(number: f64) -> String {
    float_text(number, || zmij::Buffer::new().format(number as f32).to_owned())
}

/// Replaces a NaN by the standard one of its sign, since a payload of 10 bits means nothing in another type.
#[inline(always)]
fn plain_nan(value: f64) -> f64 {
    if value.is_nan() { f64::NAN.copysign(value) } else { value }
}

/// Returns the text of a float. A whole number has no `.0` at its end.
fn float_text(number: f64, finite: impl FnOnce() -> String) -> String {
    match number {
        _ if number.is_nan() => "NaN".to_owned(),
        f64::INFINITY => "Infinity".to_owned(),
        f64::NEG_INFINITY => "-Infinity".to_owned(),
        _ => {
            let text = finite();
            text.strip_suffix(".0").unwrap_or(&text).to_owned()
        }
    }
}
