//! The target of a cast: how its numbers, which are items or the parts of complex items, are written.

use half::{bf16, f16};

use super::integer::Integer;
use super::middle::{Middle, NumberWriter};
use crate::item::dtype::{DType, Kind, Narrow};
use crate::item::element::{Element, Float, match_kind, not_numbers};

/// How the numbers of a dtype are written.
#[derive(Clone, Debug)]
pub(super) struct Output {
    /// Bytes of one number.
    pub size: usize,
    /// Whether an item has two of them.
    pub complex: bool,
    big: bool,
    target: CastDestination,
}

#[derive(Clone, Debug)]
enum CastDestination {
    Type(NumberWriter),
    Narrow(Narrow),
}

impl Output {
    /// Returns how numbers of a dtype are written; `None` if items are not numbers.
    pub(super) fn of(dtype: &DType) -> Option<Self> {
        match_kind!(dtype.kind(), {
            number T => Some(Self::parts::<<T as Element>::Part>(dtype)),
            Kind::Narrow(narrow) => {
                Some(Self { size: 1, complex: false, big: false, target: CastDestination::Narrow(*narrow) })
            }
            not_numbers!() => None,
        })
    }

    fn parts<P: Writable>(dtype: &DType) -> Self {
        let writer = NumberWriter { float: P::write::<f64>, signed: P::write::<i64>, unsigned: P::write::<u64> };
        Self {
            size: P::SIZE,
            complex: dtype.itemsize() > P::SIZE,
            big: dtype.is_big_endian(),
            target: CastDestination::Type(writer),
        }
    }

    /// Writes a run of numbers; an error is the place of the first that does not fit.
    pub(super) fn store<M: Middle>(&self, run: &[M], out: &mut [u8], lossy: bool) -> Result<(), usize> {
        match &self.target {
            CastDestination::Type(writer) => M::writer(writer)(self.big, run, out, lossy),
            CastDestination::Narrow(narrow) => write_narrow(*narrow, run, out, lossy),
        }
    }
}

/// A type of numbers.
trait Writable: Element {
    fn write<M: Middle>(big: bool, run: &[M], out: &mut [u8], lossy: bool) -> Result<(), usize>;
}

macro_rules! floats {
    ($($type:ty, $nearest:expr;)+) => {$(
        impl Writable for $type {
            fn write<M: Middle>(big: bool, run: &[M], out: &mut [u8], _: bool) -> Result<(), usize> {
                put::<$type, M>(big, run, out, $nearest);
                Ok(())
            }
        }
    )+};
}

floats! {
    f64, |number| number.float();
    f32, |number| number.single();
    f16, |number| f16::nearest(number.rounded_to_odd());
    bf16, |number| bf16::nearest(number.rounded_to_odd());
}

impl Writable for bool {
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
    ($($type:ty),+) => {
        $(impl Writable for $type {
            fn write<M: Middle>(big: bool, run: &[M], out: &mut [u8], lossy: bool) -> Result<(), usize> {
                let nearest = |number: M| Self::from_wide(number.whole().clamp(Self::LEAST, Self::LARGEST));
                put_exact(big, run, out, lossy, M::exact::<Self>, nearest)
            }
        })+
    };
}

integers!(i8, i16, i32, i64, u8, u16, u32, u64);

/// Writes items. The byte order is checked once for a run and not for each item, so that either loop is vectorised.
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

/// Writes numbers that may not fit; unless `lossy`, an error is the place of the first that does not.
///
/// The loop gathers whether all fit, and that is checked behind it: a loop that may end early is not vectorised, and a
/// run with a number that does not fit is rare, so it may cost a second walk.
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
        little_to_big::<T>(out);
    }
    Ok(())
}

fn little_to_big<T: Element>(items: &mut [u8]) {
    for word in T::chunks_mut(items) {
        *word = T::from_little(*word).to_big();
    }
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
