//! Casts to items of 8 bits by a table: each item has a key of 16 bits, and the table holds what becomes of each key.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::item::dtype::{DType, Kind};

const KEYS: usize = 1 << 16;

/// From how many items on a table is made, which takes as long as to cast [`KEYS`] items without one.
const WORTH_A_TABLE: usize = 2 * KEYS;

/// The table of a cast, which is made when it has proved to be of use.
#[derive(Debug)]
pub(super) struct ByteTable {
    key: TableKey,
    /// The dtype whose 65,536 items are the keys.
    keys: DType,
    /// How many items were to be cast before there was a table.
    seen: AtomicUsize,
    /// The items by their keys; `None` if not every key has one.
    items: OnceLock<Option<Box<[u8; KEYS]>>>,
}

/// How the key of an item is made.
#[derive(Clone, Copy, Debug)]
enum TableKey {
    /// It is the item.
    Item,
    /// It is the float32 rounded to odd to a bfloat16: the upper half of its bits, whose last one is set if any other is. That
    /// bfloat16 rounds to any float of at most 6 bits of mantissa as the float32 does.
    Single { is_big: bool },
    /// The same of a float64.
    Double { is_big: bool },
}

impl ByteTable {
    /// Returns a table to be made for a cast; `None` where there is none, or where the cast is faster without one, as it is from
    /// integers to integers.
    pub(super) fn of_cast(from: &DType, to: &DType) -> Option<Self> {
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

    /// Returns the items by their keys, if `count` more items to be cast make that worth while and every key has an item. `cast`
    /// casts items of a dtype without a table, and returns none if one of them cannot be cast.
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

    /// Returns whether there is a table by now.
    #[cfg(test)]
    pub(super) fn is_made(&self) -> bool {
        self.items.get().is_some_and(Option::is_some)
    }

    /// Casts items.
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

/// Rounds the bits of a float32 to odd to those of a bfloat16.
fn upper(bits: u32) -> u16 {
    (bits >> 16) as u16 | u16::from(bits as u16 != 0)
}

/// Returns the bits of a float64 that is rounded to odd to a float32.
fn single(value: f64) -> u32 {
    let size = value.abs();
    let nearest = size as f32;
    let below = nearest.to_bits() - u32::from(f64::from(nearest) > size);
    let bits = below | u32::from(f64::from(nearest) != size);
    bits & (u32::MAX >> 1) | ((value.to_bits() >> 32) as u32 & (1 << 31))
}
