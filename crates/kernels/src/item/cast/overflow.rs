//! Finds the numbers that become infinite or NaN in a cast, and replaces or refuses them. They are rare, so a
//! branchless, vectorised loop over the written words first looks for any.

use super::middle::Middle;
use crate::item::dtype::{DType, Kind, Narrow};
use crate::item::float16::{bf16_from_f64, f16_from_f64};

/// The treatment of numbers that are too large. A type without zero and sign treats zero and negative numbers alike.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Overflow {
    /// Infinite, or NaN in a type without infinity.
    #[default]
    Special,
    /// The nearest finite number.
    Saturate,
    /// An error, as is a NaN in a type without one.
    Refuse,
}

/// The finite items that became infinite or NaN.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overflowed {
    /// Their count.
    pub items: usize,
    /// The number of the first in the run.
    pub first: Option<usize>,
}

impl Overflowed {
    /// A complex item may come once per part.
    fn add(&mut self, item: usize, last: &mut Option<usize>) {
        if *last != Some(item) {
            self.items += 1;
            self.first.get_or_insert(item);
            *last = Some(item);
        }
    }
}

/// The word for items that overflow: `infinite` or `NaN`.
pub fn overflow_name(dtype: &DType) -> &'static str {
    match dtype.kind() {
        Kind::Narrow(narrow) if !narrow.has_infinity() => "NaN",
        _ => "infinite",
    }
}

/// Whether items are floats or complex numbers.
pub fn is_floats(dtype: &DType) -> bool {
    match dtype.kind() {
        Kind::Narrow(narrow) => !narrow.is_integer(),
        Kind::Float16 | Kind::BFloat16 | Kind::Float32 | Kind::Float64 | Kind::LongDouble(_) => true,
        Kind::Complex64 | Kind::Complex128 | Kind::ComplexLongDouble(_) => true,
        Kind::Bool | Kind::Int8 | Kind::Int16 | Kind::Int32 | Kind::Int64 => false,
        Kind::UInt8 | Kind::UInt16 | Kind::UInt32 | Kind::UInt64 => false,
        Kind::Bytes(_) | Kind::Str(_) | Kind::Void(_) | Kind::Struct(_) => false,
        Kind::Datetime(_) | Kind::Timedelta(_) => false,
    }
}

/// Infinities and NaNs of a float dtype, or of a complex part.
#[derive(Clone, Copy, Debug)]
pub(super) struct SpecialWords {
    size: usize,
    /// A word is special if it equals `special` under this mask.
    mask: u32,
    special: u32,
    least: u32,
    largest: u32,
}

impl SpecialWords {
    /// `None` if no finite number overflows.
    pub(super) fn for_cast(from: &DType, to: &DType) -> Option<Self> {
        let reach = reach(from)?;
        let (size, mask, special, largest, overflows) = match to.kind() {
            Kind::Float16 => (2, 0x7c00, 0x7c00, 0x7bff, f16_from_f64(reach).is_infinite()),
            Kind::BFloat16 => (2, 0x7f80, 0x7f80, 0x7f7f, bf16_from_f64(reach).is_infinite()),
            Kind::Float32 | Kind::Complex64 => (4, 0x7f80_0000, 0x7f80_0000, 0x7f7f_ffff, (reach as f32).is_infinite()),
            Kind::Narrow(narrow) => return Self::for_narrow(reach, *narrow),
            _ => return None,
        };
        let least = largest | 1 << (8 * size - 1);
        let words = Self { size, mask, special, least, largest };
        overflows.then(|| if to.is_big_endian() { words.swapped() } else { words })
    }

    fn for_narrow(reach: f64, narrow: Narrow) -> Option<Self> {
        let (mask, special) = narrow.special_bits()?;
        let holds_all = [reach, -reach, 0.0].into_iter().all(|value| narrow.holds(value));
        let finite = (0..=u8::MAX).filter(|&item| narrow.value(item).is_finite());
        let by_value = |a: &u8, b: &u8| narrow.value(*a).total_cmp(&narrow.value(*b));
        let (least, largest) = (finite.clone().min_by(by_value)?, finite.max_by(by_value)?);
        let [mask, special, least, largest] = [mask, special, least, largest].map(u32::from);
        (!holds_all).then_some(Self { size: 1, mask, special, least, largest })
    }

    /// For big-endian items read as little-endian words.
    fn swapped(self) -> Self {
        let swap = |word: u32| word.swap_bytes() >> (32 - 8 * self.size);
        let Self { size, mask, special, least, largest } = self;
        Self { size, mask: swap(mask), special: swap(special), least: swap(least), largest: swap(largest) }
    }

    pub(super) fn is_in(&self, items: &[u8]) -> bool {
        match self.size {
            1 => any_byte(items, self.mask as u8, self.special as u8),
            2 => any_u16(items, self.mask as u16, self.special as u16),
            _ => any_u32(items, self.mask, self.special),
        }
    }

    /// Counts or replaces the numbers. Number `n` is a part of item `item(n)`, which has `parts` numbers. The error of
    /// [`Overflow::Refuse`] is the place of the first.
    pub(super) fn settle<M: Middle>(
        &self,
        run: &[M],
        items: &mut [u8],
        overflow: Overflow,
        parts: usize,
        item: impl Fn(usize) -> usize,
        found: &mut Overflowed,
    ) -> Result<(), usize> {
        let mut last = None;
        let is_finite = |n: usize| (0..parts).all(|part| run[n / parts * parts + part].float().is_finite());
        for (n, (word, number)) in items.chunks_mut(self.size).zip(run).enumerate() {
            let mut bytes = [0; 4];
            bytes[..self.size].copy_from_slice(word);
            let value = number.float();
            if u32::from_le_bytes(bytes) & self.mask != self.special || !value.is_finite() {
                continue;
            }
            match overflow {
                Overflow::Special | Overflow::Refuse if !is_finite(n) => {}
                Overflow::Special => found.add(item(n), &mut last),
                Overflow::Saturate => {
                    let nearest = if value > 0.0 { self.largest } else { self.least };
                    word.copy_from_slice(&nearest.to_le_bytes()[..self.size]);
                }
                Overflow::Refuse => return Err(n),
            }
        }
        Ok(())
    }
}

macro_rules! any_word {
    ($($name:ident: $word:ty;)+) => {$(
        /// Words of the width of items keep vectors full.
        fn $name(items: &[u8], mask: $word, special: $word) -> bool {
            let mut any = false;
            for &word in items.as_chunks().0 {
                any |= <$word>::from_le_bytes(word) & mask == special;
            }
            any
        }
    )+};
}

any_word! {
    any_byte: u8;
    any_u16: u16;
    any_u32: u32;
}

/// The largest finite magnitude of a dtype.
fn reach(dtype: &DType) -> Option<f64> {
    Some(match dtype.kind() {
        Kind::Bool => 1.0,
        Kind::Int8 | Kind::UInt8 => f64::from(u8::MAX),
        Kind::Int16 => -f64::from(i16::MIN),
        Kind::UInt16 => f64::from(u16::MAX),
        Kind::Int32 | Kind::UInt32 => f64::from(u32::MAX),
        Kind::Int64 | Kind::UInt64 => u64::MAX as f64,
        Kind::Float16 => half::f16::MAX.to_f64_const(),
        Kind::BFloat16 => half::bf16::MAX.to_f64_const(),
        Kind::Float32 | Kind::Complex64 => f64::from(f32::MAX),
        Kind::Float64 | Kind::Complex128 => f64::MAX,
        Kind::Narrow(narrow) => {
            let sizes = (0..=u8::MAX).map(|item| narrow.value(item).abs());
            sizes.filter(|size| size.is_finite()).fold(0.0, f64::max)
        }
        Kind::LongDouble(_) | Kind::ComplexLongDouble(_) | Kind::Bytes(_) | Kind::Str(_) | Kind::Void(_) => {
            return None;
        }
        Kind::Struct(_) | Kind::Datetime(_) | Kind::Timedelta(_) => return None,
    })
}
