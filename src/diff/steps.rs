//! How many steps from value to neighbouring value lie between items.
//!
//! That is a question to the dtype, which float64 cannot answer for a float16: so it is asked of the bytes as they were
//! before the items became others to be compared.

use super::distance::Distance;

/// The steps between two items of a dtype.
pub(super) enum Steps {
    /// Of integers and dates: as many as they are apart.
    Distance,
    /// Of floats, and of complex numbers.
    Floats(Box<dyn FloatSteps>),
    /// Of two dtypes there are none.
    None,
}

impl Steps {
    /// Whether any pair of floats is more steps apart; of integers their distance has told that.
    pub(super) fn any_above(&self, expected: &[u8], actual: &[u8], most: Option<u64>) -> bool {
        match self {
            Self::Floats(floats) => most.is_none_or(|most| floats.any_above(expected, actual, most)),
            Self::Distance | Self::None => false,
        }
    }

    /// Makes `out` the steps between the pairs of some items, of which the distances are given, too.
    pub(super) fn fill<D: Distance>(
        &self,
        (expected, actual): (&[u8], &[u8]),
        distances: impl Iterator<Item = D>,
        out: &mut Vec<u64>,
    ) {
        out.clear();
        match self {
            Self::Distance => out.extend(distances.map(Distance::steps)),
            Self::Floats(floats) => floats.fill(expected, actual, out),
            Self::None => out.extend(distances.map(|_| 0)),
        }
    }

    /// The steps between the items of one pair.
    pub(super) fn between<D: Distance>(&self, (expected, actual): (&[u8], &[u8]), distance: D) -> Option<u64> {
        match self {
            Self::Distance => Some(distance.steps()),
            Self::Floats(floats) => Some(floats.between(expected, actual)),
            Self::None => None,
        }
    }
}

/// The steps between floats, of rows of items as little-endian bytes. There are none between +0 and -0.
pub(super) trait FloatSteps: Send + Sync {
    /// Whether any pair is more steps apart.
    fn any_above(&self, expected: &[u8], actual: &[u8], most: u64) -> bool;

    /// Puts the steps between each pair to `out`, which is empty.
    fn fill(&self, expected: &[u8], actual: &[u8], out: &mut Vec<u64>);

    /// The steps between the items of one pair.
    fn between(&self, expected: &[u8], actual: &[u8]) -> u64;
}

/// The number of a float in the order of all values of its dtype, neighbours being one apart.
pub(super) trait Ordinal: Copy + Send + Sync {
    /// A number of steps: the shorter its type, the more of them a loop has at once.
    type Steps: Copy + Ord + Into<u64> + TryFrom<u64>;

    fn steps(self, other: Self) -> Self::Steps;
}

impl Ordinal for i32 {
    type Steps = u32;

    #[inline(always)]
    fn steps(self, other: Self) -> u32 {
        self.abs_diff(other)
    }
}

impl Ordinal for i64 {
    type Steps = u64;

    #[inline(always)]
    fn steps(self, other: Self) -> u64 {
        self.abs_diff(other)
    }
}

/// Floats of so many bytes whose ordinals are read. An item is one of them, or two, of which the farther pair counts.
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
        // all are asked, and the answers put together with `|`: so the loop is vectorised
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

    fn between(&self, expected: &[u8], actual: &[u8]) -> u64 {
        self.each(expected, actual).max().map_or(0, Into::into)
    }
}

/// The ordinal of a float64, from its bits, which order values as integers do but for the sign. The subtraction never
/// wraps; a check of that would keep loops from being vectorised.
#[inline(always)]
pub(super) fn ordinal64(bits: u64) -> i64 {
    let sign = bits as i64 >> 63;
    ((bits & (u64::MAX >> 1)) as i64 ^ sign).wrapping_sub(sign)
}

/// The same of a float32.
#[inline(always)]
pub(super) fn ordinal32(bits: u32) -> i32 {
    let sign = bits as i32 >> 31;
    ((bits & (u32::MAX >> 1)) as i32 ^ sign).wrapping_sub(sign)
}

/// The same of a float of 16 bits, as the upper half of one of 32.
#[inline(always)]
pub(super) fn ordinal16(bits: u16) -> i32 {
    ordinal32(u32::from(bits) << 16) >> 16
}
