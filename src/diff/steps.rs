//! How many steps, from value to neighbouring value, lie between items.
//!
//! That depends on the dtype: float64 cannot answer it for a float16. So floats are looked at as they are stored, before
//! they are converted to the type that they are compared as.

use std::array;
use std::marker::PhantomData;

use half::{bf16, f16};

use super::kernel::{PairKernel, Rows};
use crate::item::dtype::Kind;
use crate::item::element::{Element, inlined, match_kind};

/// How the steps between two items of a dtype are found.
pub(super) enum StepCounter {
    /// The steps are the distance: of integers and dates.
    Distance,
    /// The steps are counted in the order of the dtype's values: of floats and complex numbers.
    Floats(Box<dyn FloatSteps>),
    /// Steps have no meaning: of two dtypes.
    None,
}

impl StepCounter {
    /// Returns how the steps between items of a dtype are found.
    pub(super) fn of(kind: &Kind) -> Self {
        match_kind!(*kind, {
            bool T => Self::Distance,
            integer T => Self::Distance,
            float T => Self::floats(T::ordinal, false),
            complex T => Self::floats(<T as Element>::Part::ordinal, true),
            Kind::Narrow(narrow) if narrow.is_integer() => Self::Distance,
            Kind::Narrow(narrow) => {
                // the steps to NaN, which has no ordinal, are of no use
                let table: [i32; 256] = array::from_fn(|item| narrow.ordinal(item as u8).unwrap_or(0) as i32);
                Self::floats(move |item: u8| table[usize::from(item)], false)
            }
            Kind::Datetime(_) | Kind::Timedelta(_) => Self::Distance,
            Kind::LongDouble(_) | Kind::ComplexLongDouble(_) => Self::None,
            Kind::Bytes(_) | Kind::Str(_) | Kind::Void(_) | Kind::Struct(_) => Self::None,
        })
    }

    /// Returns how the steps between floats are found whose ordinals `read` returns, or between complex items of two floats.
    fn floats<S: Element, O: Ordinal>(ordinal: impl Fn(S) -> O + Send + Sync + 'static, is_complex: bool) -> Self {
        Self::Floats(Box::new(Ordinals { ordinal, is_complex, items: PhantomData }))
    }

    /// Returns whether steps are counted, and not told by the distances of items.
    pub(super) fn are_counted(&self) -> bool {
        matches!(self, Self::Floats(_))
    }

    /// Returns whether any pair of floats is more steps apart. (The distances of integers tell it.)
    pub(super) fn any_above(&self, stored: Rows<'_>, most: u64) -> bool {
        match self {
            Self::Floats(floats) => floats.any_above(stored.expected, stored.actual, most),
            Self::Distance | Self::None => false,
        }
    }

    /// Makes `out` the steps between the items of each pair, or empty if steps have no meaning. `rows` are the stored
    /// items as they are compared.
    pub(super) fn fill(&self, kernel: &dyn PairKernel, stored: Rows<'_>, rows: Rows<'_>, out: &mut Vec<u64>) {
        out.clear();
        match self {
            Self::Distance => kernel.steps(rows, out),
            Self::Floats(floats) => floats.fill(stored.expected, stored.actual, out),
            Self::None => {}
        }
    }
}

/// Counts the steps between floats in rows of little-endian items. There are none between +0 and -0.
pub(super) trait FloatSteps: Send + Sync {
    /// Returns whether any pair is more steps apart.
    fn any_above(&self, expected: &[u8], actual: &[u8], most: u64) -> bool;

    /// Appends the steps between the items of each pair to `out`, which is empty.
    fn fill(&self, expected: &[u8], actual: &[u8], out: &mut Vec<u64>);
}

/// The number of a float in the order of all values of its dtype, neighbours being one apart.
trait Ordinal: Copy + Send + Sync {
    /// The type of a number of steps: the shorter it is, the more of them a vector holds.
    type Count: Copy + Ord + Into<u64> + TryFrom<u64>;

    fn steps(self, other: Self) -> Self::Count;
}

/// A float that has an ordinal.
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

/// The steps between floats of type `S`, whose ordinals `ordinal` returns. A complex item is two floats, of which the pair
/// that is farther apart counts.
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
        // the answers for all pairs are combined with `|`, so the loop is vectorised
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

/// Returns the ordinal of a float64 from its bits, which order values as integers do except for the sign. The subtraction
/// never wraps; a check of that would keep loops from being vectorised.
#[inline(always)]
fn ordinal64(bits: u64) -> i64 {
    let sign = bits as i64 >> 63;
    ((bits & (u64::MAX >> 1)) as i64 ^ sign).wrapping_sub(sign)
}

/// Returns the ordinal of a float32 from its bits.
#[inline(always)]
fn ordinal32(bits: u32) -> i32 {
    let sign = bits as i32 >> 31;
    ((bits & (u32::MAX >> 1)) as i32 ^ sign).wrapping_sub(sign)
}

/// Returns the ordinal of a float of 16 bits, as that of the upper half of a float of 32.
#[inline(always)]
fn ordinal16(bits: u16) -> i32 {
    ordinal32(u32::from(bits) << 16) >> 16
}
