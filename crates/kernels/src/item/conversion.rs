//! Conversion of items to another byte order or string width.

use super::dtype::{DType, Kind};
use super::encoding::Swap;

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
