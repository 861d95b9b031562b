//! The bytes of an item: size and byte order; and conversions between the encodings of two dtypes.
//!
//! Code that only moves bytes keeps the stored order. Other code applies a list of [`Swap`]s, made once, because a
//! structured dtype has a tree of fields.

use std::sync::Arc;

use super::dtype::{DType, Field, Kind, Struct};
use super::element::{Element, match_kind};

impl DType {
    /// Bytes per item.
    pub fn itemsize(&self) -> usize {
        let (width, count) = units(&self.kind);
        width * count
    }

    /// This dtype in little-endian order.
    pub fn native(&self) -> Self {
        self.in_order(false)
    }

    /// This dtype in big-endian order, if bytes have an order.
    pub fn big_endian(&self) -> Self {
        self.in_order(true)
    }

    /// A string dtype with width 0, a placeholder for the width of the items.
    pub fn widthless(&self) -> Self {
        let kind = match &self.kind {
            Kind::Str(_) => Kind::Str(0),
            Kind::Bytes(_) => Kind::Bytes(0),
            kind => kind.clone(),
        };
        Self { kind, big: self.big }
    }

    fn in_order(&self, big: bool) -> Self {
        let Kind::Struct(s) = &self.kind else {
            return Self { big: big && units(&self.kind).0 > 1, kind: self.kind.clone() };
        };
        let fields = s.fields.iter().map(|f| Field { dtype: f.dtype.in_order(big), ..f.clone() }).collect();
        Kind::Struct(Arc::new(Struct { fields, itemsize: s.itemsize })).into()
    }

    /// This dtype in the byte order of `stored`, to reinterpret its items. `None` if the order applies to units of
    /// another length.
    pub fn read_from(&self, stored: &Self) -> Option<Self> {
        if !stored.big {
            return Some(self.native());
        }
        let fits = units(&self.kind).0 == units(&stored.kind).0;
        fits.then(|| Self { big: true, kind: self.kind.clone() })
    }

    /// Whether the dtypes differ at most in byte order.
    pub fn same_kind(&self, other: &Self) -> bool {
        self == other || self.native() == other.native()
    }

    /// Both dtypes must be of the [same kind](Self::same_kind).
    pub fn swaps_to(&self, to: &Self) -> Vec<Swap> {
        match (&self.kind, &to.kind) {
            (Kind::Struct(a), Kind::Struct(b)) => {
                let fields = a.fields.iter().zip(&b.fields);
                let swaps = fields.flat_map(|(a, b)| {
                    let inner = a.dtype.swaps_to(&b.dtype);
                    let (offset, count, stride) = (a.offset, a.items(), a.dtype.itemsize());
                    (!inner.is_empty()).then_some(Swap::Repeat { offset, count, stride, inner })
                });
                swaps.collect()
            }
            _ if self.big == to.big => Vec::new(),
            (kind, _) => {
                let (width, count) = units(kind);
                vec![Swap::Units { width, count }]
            }
        }
    }
}

/// NumPy pads strings with NULs. A character has `width` bytes.
pub fn unpadded(item: &[u8], width: usize) -> &[u8] {
    let end = item.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    &item[..end.next_multiple_of(width)]
}

/// The code points of a string of 4 bytes each, without the padding.
pub fn code_points(item: &[u8], big_endian: bool) -> impl Iterator<Item = u32> + Clone {
    let point = if big_endian { u32::from_be_bytes } else { u32::from_le_bytes };
    unpadded(item, 4).as_chunks::<4>().0.iter().map(move |&word| point(word))
}

/// A step that changes the byte order of one item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Swap {
    /// Reverses each of `count` units of `width` bytes.
    #[allow(missing_docs)] // the line above names them
    Units { width: usize, count: usize },
    /// `inner` is applied `count` times, at `offset`, then every `stride` bytes.
    #[allow(missing_docs)] // the line above names them
    Repeat { offset: usize, count: usize, stride: usize, inner: Vec<Swap> },
}

impl Swap {
    /// Changes the byte order of an item.
    pub fn apply(&self, item: &mut [u8]) {
        match self {
            Swap::Units { width: 2, count } => {
                swap_words(&mut item[..2 * count], |word| u16::from_ne_bytes(word).swap_bytes().to_ne_bytes())
            }
            Swap::Units { width: 4, count } => {
                swap_words(&mut item[..4 * count], |word| u32::from_ne_bytes(word).swap_bytes().to_ne_bytes())
            }
            Swap::Units { width: 8, count } => {
                swap_words(&mut item[..8 * count], |word| u64::from_ne_bytes(word).swap_bytes().to_ne_bytes())
            }
            Swap::Units { width, count } => item[..width * count].chunks_exact_mut(*width).for_each(<[u8]>::reverse),
            Swap::Repeat { offset, count, stride, inner } => {
                for chunk in item[*offset..][..count * stride].chunks_exact_mut(*stride) {
                    inner.iter().for_each(|swap| swap.apply(chunk));
                }
            }
        }
    }

    /// Changes the byte order of items of `itemsize` bytes.
    pub fn apply_all(swaps: &[Swap], items: &mut [u8], itemsize: usize) {
        match swaps {
            [] => {}
            [Swap::Units { width, .. }] => Swap::Units { width: *width, count: items.len() / width }.apply(items),
            _ => items.chunks_exact_mut(itemsize).for_each(|item| swaps.iter().for_each(|swap| swap.apply(item))),
        }
    }
}

/// Loops over numbers are vectorised.
fn swap_words<const N: usize>(bytes: &mut [u8], swap: impl Fn([u8; N]) -> [u8; N]) {
    for word in bytes.as_chunks_mut::<N>().0 {
        *word = swap(*word);
    }
}

/// Bytes per unit of the byte order, and units per item.
pub(super) fn units(kind: &Kind) -> (usize, usize) {
    // NumPy stores it as raw bytes (`<V2`) without an order
    if *kind == Kind::BFloat16 {
        return (1, 2);
    }
    match_kind!(kind, {
        number T => (<<T as Element>::Part as Element>::SIZE, <T as Element>::SIZE / <<T as Element>::Part as Element>::SIZE),
        Kind::ComplexLongDouble(n) => (n / 2, 2),
        Kind::LongDouble(n) => (*n, 1),
        Kind::Str(n) => (4, *n),
        Kind::Narrow(_) => (1, 1),
        Kind::Bytes(n) | Kind::Void(n) => (1, *n),
        Kind::Struct(s) => (1, s.itemsize),
        Kind::Datetime(_) | Kind::Timedelta(_) => (8, 1),
    })
}

/// How items of a dtype become items of another of the same kind.
#[derive(Clone, Debug)]
pub struct Conversion {
    from: usize,
    to: usize,
    swaps: Vec<Swap>,
}

impl Conversion {
    /// Returns `None` if the dtypes differ in kind.
    pub fn new(from: &DType, to: &DType) -> Option<Self> {
        let widths = match (from.kind(), to.kind()) {
            (Kind::Str(a), Kind::Str(b)) => a != b,
            (Kind::Bytes(a), Kind::Bytes(b)) => a != b,
            _ => false,
        };
        if !widths && !from.same_kind(to) {
            return None;
        }
        // Strings are swapped at their stored width.
        Some(Self { from: from.itemsize(), to: to.itemsize(), swaps: from.swaps_to(to) })
    }

    /// To the byte order of this machine.
    pub fn to_native(from: &DType) -> Self {
        Self { from: from.itemsize(), to: from.itemsize(), swaps: from.swaps_to(&from.native()) }
    }

    /// Changes nothing.
    pub fn identity(dtype: &DType) -> Self {
        Self { from: dtype.itemsize(), to: dtype.itemsize(), swaps: Vec::new() }
    }

    /// The bytes of a converted item.
    pub fn itemsize(&self) -> usize {
        self.to
    }

    /// Whether items become shorter.
    pub fn narrows(&self) -> bool {
        self.from > self.to
    }

    /// Whether items keep their length.
    pub fn keeps_width(&self) -> bool {
        self.from == self.to
    }

    /// Swaps items that keep their width.
    pub fn swap(&self, items: &mut [u8]) {
        Swap::apply_all(&self.swaps, items, self.to);
    }

    /// Whether the conversion changes nothing.
    pub fn is_identity(&self) -> bool {
        self.from == self.to && self.swaps.is_empty()
    }

    /// Returns whether a stored item fits the new width.
    pub fn fits(&self, item: &[u8]) -> bool {
        item.get(self.to..).is_none_or(|rest| rest.iter().all(|&byte| byte == 0))
    }

    /// Converts items of another width: `items` are swapped at their own width, and copied to `out` without their ends,
    /// or with zero bytes behind them.
    pub fn convert(&self, items: &mut [u8], out: &mut [u8]) {
        let shorter = self.from.min(self.to);
        Swap::apply_all(&self.swaps, items, self.from);
        out.fill(0);
        if shorter > 0 {
            let pairs = items.chunks_exact(self.from).zip(out.chunks_exact_mut(self.to));
            pairs.for_each(|(item, out)| out[..shorter].copy_from_slice(&item[..shorter]));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn swaps() {
        let pair = |a: &str, b: &str, item: &[u8]| {
            let (a, b) = (DType::parse(a).unwrap(), DType::parse(b).unwrap());
            let mut item = item.to_vec();
            Swap::apply_all(&a.swaps_to(&b), &mut item, a.itemsize());
            item
        };
        assert_eq!(pair("<i4", ">i4", &[1, 2, 3, 4, 5, 6, 7, 8]), [4, 3, 2, 1, 8, 7, 6, 5]);
        assert_eq!(pair("<c8", ">c8", &[1, 2, 3, 4, 5, 6, 7, 8]), [4, 3, 2, 1, 8, 7, 6, 5]);
        assert_eq!(pair("<U2", ">U2", &[1, 0, 0, 0, 2, 0, 0, 0]), [0, 0, 0, 1, 0, 0, 0, 2]);
        assert_eq!(pair("|S2", "|S2", &[1, 2]), [1, 2]);
        let field = |descr: &str, shape: &[usize], offset| Field {
            name: format!("f{offset}"),
            title: None,
            dtype: DType::parse(descr).unwrap(),
            shapes: if shape.is_empty() { vec![] } else { vec![shape.to_vec()] },
            offset,
        };
        let a = DType::structured(vec![field("<i2", &[2], 1), field("|S1", &[], 5)], 7).unwrap();
        let b = DType::structured(vec![field(">i2", &[2], 1), field("|S1", &[], 5)], 7).unwrap();
        assert!(a != b && a.same_kind(&b));
        let mut items = [0, 1, 2, 3, 4, 5, 6, 10, 11, 12, 13, 14, 15, 16];
        Swap::apply_all(&a.swaps_to(&b), &mut items, 7);
        assert_eq!(items, [0, 2, 1, 4, 3, 5, 6, 10, 12, 11, 14, 13, 15, 16]);
        assert_eq!(b.descr(), "[('', '|V1'), ('f1', '>i2', (2,)), ('f5', '|S1'), ('', '|V1')]");
    }

    fn dtype(name: &str) -> DType {
        DType::parse(name).unwrap()
    }

    #[test]
    fn kinds_that_convert() {
        let rows = [
            ("<f4", "<f4", Some("as they are")),
            ("<f4", ">f4", Some("swapped")),
            ("|u1", "|u1", Some("as they are")),
            ("<U2", "<U2", Some("as they are")),
            ("<U2", "<U5", Some("wider")),
            ("<U5", ">U2", Some("narrower")),
            ("|S3", "|S1", Some("narrower")),
            ("<f4", "<f8", None),
            ("<i4", "<u4", None),
            ("|S4", "<U1", None),
            ("<M8[s]", "<M8[ms]", None),
        ];
        for (from, to, expected) in rows {
            let found = Conversion::new(&dtype(from), &dtype(to)).map(|conversion| {
                assert_eq!(conversion.itemsize(), dtype(to).itemsize());
                match (conversion.is_identity(), conversion.keeps_width(), conversion.narrows()) {
                    (true, true, false) => "as they are",
                    (false, true, false) => "swapped",
                    (false, false, false) => "wider",
                    (false, false, true) => "narrower",
                    _ => "a contradiction",
                }
            });
            assert_eq!(found, expected, "{from} as {to}");
        }
    }

    #[test]
    fn items_that_fit() {
        let rows = [("|S3", "|S2", &b"ab\0"[..], true), ("|S3", "|S2", b"abc", false), ("|S2", "|S3", b"ab", true)];
        for (from, to, item, expected) in rows {
            assert_eq!(Conversion::new(&dtype(from), &dtype(to)).unwrap().fits(item), expected, "{from} as {to}");
        }
    }
}
