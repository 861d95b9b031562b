//! Counts the steps between neighbouring values of a dtype. Floats are counted in their stored dtype, because
//! conversion to float64 loses its steps.

use std::array;
use std::marker::PhantomData;

use half::{bf16, f16};

use super::kernel::{PairKernel, Rows};
use tensorop_kernels::item::dtype::Kind;
use tensorop_kernels::item::element::{Element, inlined, match_kind};

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
