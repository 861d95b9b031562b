//! How many steps, from value to neighbouring value, lie between items.
//!
//! That depends on the dtype: float64 cannot answer it for a float16. So floats are looked at as they are stored, before
//! they are converted to the type that they are compared as.

use super::kernel::{PairKernel, Rows};
use crate::item::element::inlined;

/// How the steps between two items of a dtype are found.
pub(super) enum Steps {
    /// The steps are the distance: of integers and dates.
    Distance,
    /// The steps are counted in the order of the dtype's values: of floats and complex numbers.
    Floats(Box<dyn FloatSteps>),
    /// Steps have no meaning: of two dtypes.
    None,
}

impl Steps {
    /// Returns whether any pair of floats is more steps apart, or `most` is not known. (The distances of integers tell it.)
    pub(super) fn any_above(&self, stored: Rows<'_>, most: Option<u64>) -> bool {
        match self {
            Self::Floats(floats) => most.is_none_or(|most| floats.any_above(stored.expected, stored.actual, most)),
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
pub(super) trait Ordinal: Copy + Send + Sync {
    /// The type of a number of steps: the shorter it is, the more of them a vector holds.
    type Steps: Copy + Ord + Into<u64> + TryFrom<u64>;

    fn steps(self, other: Self) -> Self::Steps;
}

macro_rules! ordinals {
    ($($type:ty: $steps:ty;)+) => {$(
        impl Ordinal for $type {
            type Steps = $steps;

            inlined! {
                fn steps(self, other: Self) -> $steps { self.abs_diff(other) }
            }
        }
    )+};
}

ordinals! {
    i32: u32;
    i64: u64;
}

/// The steps between floats of `BYTES` bytes, whose ordinals `read` returns. A complex item is two floats, of which the pair
/// that is farther apart counts.
pub(super) struct Ordinals<const BYTES: usize, R> {
    pub read: R,
    pub is_complex: bool,
}

impl<const BYTES: usize, R> Ordinals<BYTES, R> {
    fn each<O: Ordinal>(&self, expected: &[u8], actual: &[u8]) -> impl Iterator<Item = O::Steps>
    where
        R: Fn([u8; BYTES]) -> O,
    {
        let pairs = expected.as_chunks::<BYTES>().0.iter().zip(actual.as_chunks::<BYTES>().0);
        pairs.map(|(expected, actual)| (self.read)(*expected).steps((self.read)(*actual)))
    }
}

impl<const BYTES: usize, O: Ordinal, R: Fn([u8; BYTES]) -> O + Send + Sync> FloatSteps for Ordinals<BYTES, R> {
    fn any_above(&self, expected: &[u8], actual: &[u8], most: u64) -> bool {
        // the answers for all pairs are combined with `|`, so the loop is vectorised
        O::Steps::try_from(most)
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
pub(super) fn ordinal64(bits: u64) -> i64 {
    let sign = bits as i64 >> 63;
    ((bits & (u64::MAX >> 1)) as i64 ^ sign).wrapping_sub(sign)
}

/// Returns the ordinal of a float32 from its bits.
#[inline(always)]
pub(super) fn ordinal32(bits: u32) -> i32 {
    let sign = bits as i32 >> 31;
    ((bits & (u32::MAX >> 1)) as i32 ^ sign).wrapping_sub(sign)
}

/// Returns the ordinal of a float of 16 bits, as that of the upper half of a float of 32.
#[inline(always)]
pub(super) fn ordinal16(bits: u16) -> i32 {
    ordinal32(u32::from(bits) << 16) >> 16
}
