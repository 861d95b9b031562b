//! Casts to 8-bit items by a table over 16-bit keys.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::item::dtype::{DType, Kind};

const KEYS: usize = 1 << 16;

/// A table takes as long to build as [`KEYS`] items take to cast.
const WORTH_A_TABLE: usize = 2 * KEYS;

#[derive(Debug)]
pub(super) struct ByteTable {
    key: TableKey,
    /// The dtype whose 65,536 items are the keys.
    keys: DType,
    /// Items before the table existed.
    seen: AtomicUsize,
    /// `None` if a key cannot be cast.
    items: OnceLock<Option<Box<[u8; KEYS]>>>,
}

#[derive(Clone, Copy, Debug)]
enum TableKey {
    /// The item itself.
    Item,
    /// A float32 rounded to odd to a bfloat16, which rounds to any float with at most 6 bits of mantissa as the float32
    /// does.
    Single { is_big: bool },
    /// Likewise a float64.
    Double { is_big: bool },
}

impl ByteTable {
    /// `None` where a table is impossible or slower, as between integers.
    pub(super) fn for_cast(from: &DType, to: &DType) -> Option<Self> {
        let is_narrow = matches!(to.kind(), Kind::Narrow(_));
        let is_narrow_float = matches!(to.kind(), Kind::Narrow(narrow) if !narrow.is_integer());
        let is_byte = is_narrow || matches!(to.kind(), Kind::Bool | Kind::Int8 | Kind::UInt8);
        let is_big = from.is_big_endian();
        let key = match from.kind() {
            Kind::Float16 | Kind::BFloat16 if is_byte => TableKey::Item,
            Kind::Int16 | Kind::UInt16 if is_narrow => TableKey::Item,
            Kind::Float32 if is_narrow_float => TableKey::Single { is_big },
            Kind::Float64 if is_narrow_float => TableKey::Double { is_big },
            _ => return None,
        };
        let keys = if matches!(key, TableKey::Item) { from.clone() } else { Kind::BFloat16.into() };
        Some(Self { key, keys, seen: AtomicUsize::new(0), items: OnceLock::new() })
    }

    /// `cast` casts items without a table.
    pub(super) fn items(
        &self,
        count: usize,
        cast: impl FnOnce(&DType, &[u8]) -> Option<Vec<u8>>,
    ) -> Option<&[u8; KEYS]> {
        let is_worth = || self.seen.fetch_add(count, Ordering::Relaxed).saturating_add(count) >= WORTH_A_TABLE;
        if self.items.get().is_none() && !is_worth() {
            return None;
        }
        let make = || {
            let keys: Vec<u8> = (0..=u16::MAX).flat_map(u16::to_le_bytes).collect();
            cast(&self.keys, &keys)?.try_into().ok()
        };
        self.items.get_or_init(make).as_deref()
    }

    #[cfg(test)]
    pub(super) fn make_at_next_item(&self) {
        self.seen.store(WORTH_A_TABLE, Ordering::Relaxed);
    }

    #[cfg(test)]
    pub(super) fn is_made(&self) -> bool {
        self.items.get().is_some_and(Option::is_some)
    }

    pub(super) fn look_up(&self, table: &[u8; KEYS], items: &[u8], out: &mut [u8]) {
        fn each<const N: usize>(table: &[u8; KEYS], items: &[u8], out: &mut [u8], key: impl Fn([u8; N]) -> u16) {
            for (&item, place) in items.as_chunks().0.iter().zip(out) {
                *place = table[usize::from(key(item))];
            }
        }
        match self.key {
            TableKey::Item => each(table, items, out, u16::from_le_bytes),
            TableKey::Single { is_big: false } => each(table, items, out, |item| upper(u32::from_le_bytes(item))),
            TableKey::Single { is_big: true } => each(table, items, out, |item| upper(u32::from_be_bytes(item))),
            TableKey::Double { is_big: false } => {
                each(table, items, out, |item| upper(single(f64::from_le_bytes(item))))
            }
            TableKey::Double { is_big: true } => {
                each(table, items, out, |item| upper(single(f64::from_be_bytes(item))))
            }
        }
    }
}

/// Rounds a float32 to odd.
fn upper(bits: u32) -> u16 {
    (bits >> 16) as u16 | u16::from(bits as u16 != 0)
}

/// Rounds a float64 to odd.
fn single(value: f64) -> u32 {
    let size = value.abs();
    let nearest = size as f32;
    let below = nearest.to_bits() - u32::from(f64::from(nearest) > size);
    let bits = below | u32::from(f64::from(nearest) != size);
    bits & (u32::MAX >> 1) | ((value.to_bits() >> 32) as u32 & (1 << 31))
}
