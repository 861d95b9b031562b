//! Reads and writes the numbers of a cast.

use half::{bf16, f16};

use super::middle::{As, Integer, Middle};
use crate::item::dtype::{DType, Kind, Narrow};
use crate::item::element::{Element, Float, match_kind, not_numbers};

/// Two for complex items, `None` for items that are not numbers.
pub(super) fn numbers_of(dtype: &DType) -> Option<usize> {
    match_kind!(dtype.kind(), {
        number T => Some(<T as Element>::SIZE / <<T as Element>::Part as Element>::SIZE),
        Kind::Narrow(_) => Some(1),
        not_numbers!() => None,
    })
}

/// The error is the place of the first misfit.
///
/// Inlined into the loop over runs, its loops compile to 7 % more instructions.
#[inline(never)]
pub(super) fn store<M: Middle>(dtype: &DType, run: &[M], out: &mut [u8], lossy: bool) -> Result<(), usize> {
    match_kind!(dtype.kind(), {
        number T => <<T as Element>::Part as CastNumber>::write(dtype.is_big_endian(), run, out, lossy),
        Kind::Narrow(narrow) => write_narrow(*narrow, run, out, lossy),
        not_numbers!() => unreachable!("items that are not numbers are cast elsewhere"),
    })
}

pub(super) trait CastNumber: Element {
    type Middle: Middle;

    fn number(self) -> Self::Middle;

    /// The error is the place of the first misfit.
    fn write<M: Middle>(big: bool, run: &[M], out: &mut [u8], lossy: bool) -> Result<(), usize>;
}

macro_rules! floats {
    ($($type:ty, $number:expr, $nearest:expr;)+) => {$(
        impl CastNumber for $type {
            type Middle = f64;

            #[inline(always)]
            fn number(self) -> f64 {
                $number(self)
            }

            fn write<M: Middle>(big: bool, run: &[M], out: &mut [u8], _: bool) -> Result<(), usize> {
                put::<$type, M>(big, run, out, $nearest);
                Ok(())
            }
        }
    )+};
}

floats! {
    f64, Float::wide, |number| number.float();
    f32, Float::wide, |number| number.single();
    f16, |item: f16| plain_nan(item.wide()), |number| f16::nearest(number.rounded_to_odd());
    bf16, Float::wide, |number| bf16::nearest(number.rounded_to_odd());
}

impl CastNumber for bool {
    type Middle = i64;

    #[inline(always)]
    fn number(self) -> i64 {
        self.into()
    }

    fn write<M: Middle>(big: bool, run: &[M], out: &mut [u8], lossy: bool) -> Result<(), usize> {
        let truth = |number: M| number != M::default();
        let exact = |number: M| {
            let (found, fits) = number.exact::<u8>();
            (truth(number), fits && found <= 1)
        };
        put_exact(big, run, out, lossy, exact, truth)
    }
}

macro_rules! integers {
    ($($middle:ty: $($type:ty),+;)+) => {$($(
        impl CastNumber for $type {
            type Middle = $middle;

            #[inline(always)]
            fn number(self) -> $middle {
                self.into()
            }

            fn write<M: Middle>(big: bool, run: &[M], out: &mut [u8], lossy: bool) -> Result<(), usize> {
                let nearest = |number: M| As::<i64>::of(number.whole().clamp(Self::LEAST, Self::LARGEST) as i64);
                put_exact(big, run, out, lossy, M::exact::<Self>, nearest)
            }
        }
    )+)+};
}

integers! {
    i64: i8, i16, i32, i64, u8, u16, u32;
    u64: u64;
}

/// The byte order is checked once per run, so that both loops are vectorised.
pub(super) fn load<T: CastNumber>(big: bool, bytes: &[u8], run: &mut [T::Middle]) {
    let words = T::chunks(bytes).iter().zip(run);
    if big {
        for (&word, place) in words {
            *place = T::from_big(word).number();
        }
    } else {
        for (&word, place) in words {
            *place = T::from_little(word).number();
        }
    }
}

/// A lookup is faster than decoding an item.
pub(super) type ByteValues = Box<[f64; 256]>;

pub(super) fn values_of(narrow: Narrow) -> ByteValues {
    Box::new(std::array::from_fn(|item| narrow.value(item as u8)))
}

pub(super) fn load_narrow<M: Middle>(bytes: &[u8], run: &mut [M], values: &ByteValues, number: impl Fn(f64) -> M) {
    bytes.iter().zip(run).for_each(|(&item, place)| *place = number(values[usize::from(item)]));
}

/// A payload of 10 bits means nothing in another type.
#[inline(always)]
fn plain_nan(value: f64) -> f64 {
    if value.is_nan() { f64::NAN.copysign(value) } else { value }
}

/// As in [`load`], the byte order is checked once per run.
fn put<T: Element, M: Copy>(big: bool, run: &[M], out: &mut [u8], item: impl Fn(M) -> T) {
    let words = T::chunks_mut(out).iter_mut().zip(run);
    if big {
        for (word, &number) in words {
            *word = item(number).to_big();
        }
    } else {
        for (word, &number) in words {
            *word = item(number).to_little();
        }
    }
}

/// The error is the place of the first misfit. It is looked for after the loop, because a loop with an early exit is
/// not vectorised.
fn put_exact<T: Element, M: Middle>(
    big: bool,
    run: &[M],
    out: &mut [u8],
    lossy: bool,
    exact: impl Fn(M) -> (T, bool),
    nearest: impl Fn(M) -> T,
) -> Result<(), usize> {
    let words = T::chunks_mut(out).iter_mut().zip(run);
    let mut all = true;
    for (word, &number) in words {
        let (item, fits) = exact(number);
        *word = item.to_little();
        all &= fits;
    }
    if !all {
        if !lossy {
            return Err(run.iter().position(|&number| !exact(number).1).expect("a number does not fit"));
        }
        for (word, &number) in T::chunks_mut(out).iter_mut().zip(run) {
            *word = nearest(number).to_little();
        }
    }
    if big {
        for word in T::chunks_mut(out) {
            *word = T::from_little(*word).to_big();
        }
    }
    Ok(())
}

fn write_narrow<M: Middle>(narrow: Narrow, run: &[M], out: &mut [u8], lossy: bool) -> Result<(), usize> {
    let Some((least, largest)) = narrow.range() else {
        put(false, run, out, |number: M| narrow.encode(number.rounded_to_odd()));
        return Ok(());
    };
    let mask = (1 << narrow.bits()) - 1;
    let exact = |number: M| {
        let (found, fits) = number.exact::<i64>();
        (found as u8 & mask, fits && (least..=largest).contains(&found))
    };
    let nearest = |number: M| number.whole().clamp(least.into(), largest.into()) as u8 & mask;
    put_exact(false, run, out, lossy, exact, nearest)
}
