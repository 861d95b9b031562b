//! Conversion of items to another byte order or string width.

use crate::error::Result;

use super::source::{READ_AT_ONCE, Source};
use crate::item::dtype::{DType, Kind};
use crate::item::encoding::Swap;
use crate::layout::view::View;
use crate::layout::window::Windows;
use crate::memory::Buffer;

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

    pub fn to_native(from: &DType) -> Self {
        Self { from: from.itemsize(), to: from.itemsize(), swaps: from.swaps_to(&from.native()) }
    }

    pub fn identity(dtype: &DType) -> Self {
        Self { from: dtype.itemsize(), to: dtype.itemsize(), swaps: Vec::new() }
    }

    pub fn itemsize(&self) -> usize {
        self.to
    }

    pub fn narrows(&self) -> bool {
        self.from > self.to
    }

    pub fn keeps_width(&self) -> bool {
        self.from == self.to
    }

    /// Swaps items that keep their width.
    pub fn swap(&self, items: &mut [u8]) {
        Swap::apply_all(&self.swaps, items, self.to);
    }

    pub fn is_identity(&self) -> bool {
        self.from == self.to && self.swaps.is_empty()
    }

    /// Returns whether a stored item fits the new width.
    pub fn fits(&self, item: &[u8]) -> bool {
        item.get(self.to..).is_none_or(|rest| rest.iter().all(|&byte| byte == 0))
    }

    /// Reads and converts the items of `view`.
    pub fn read(&self, source: &Source, view: &View, out: &mut [u8], scratch: &mut Buffer) -> Result<()> {
        if self.from == self.to {
            source.read(view, out, scratch)?;
            self.swap(out);
            return Ok(());
        }
        out.fill(0);
        let shorter = self.from.min(self.to);
        let mut items = Buffer::default();
        // Items that become narrower are converted a few at a time: updates of `<U1000` for data of `<U1` would take a
        // thousand times the memory of their window.
        for window in Windows::new(&view.shape(), READ_AT_ONCE / self.from.max(1)).iter() {
            let box_view = view.part(&window.ranges);
            items.resize(box_view.items() * self.from, source.label())?;
            source.read(&box_view, &mut items, scratch)?;
            Swap::apply_all(&self.swaps, &mut items, self.from);
            for i in 0..box_view.items() {
                out[(window.start + i) * self.to..][..shorter].copy_from_slice(&items[i * self.from..][..shorter]);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item::meta::Meta;
    use crate::item::tensor::Tensor;

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
    fn items_that_are_read() {
        let rows: [(&str, &str, &[u8], &[u8]); 6] = [
            ("<u2", "<u2", &[1, 2, 3, 4], &[1, 2, 3, 4]),
            ("<u2", ">u2", &[1, 2, 3, 4], &[2, 1, 4, 3]),
            ("<c8", ">c8", &[1, 2, 3, 4, 5, 6, 7, 8], &[4, 3, 2, 1, 8, 7, 6, 5]),
            ("|S2", "|S3", b"abc\0", b"ab\0c\0\0"),
            ("|S3", "|S2", b"ab\0c\0\0", b"abc\0"),
            ("<U1", ">U2", &[7, 0, 0, 0, 8, 0, 0, 0], &[0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0]),
        ];
        for (from, to, items, expected) in rows {
            let (from, to) = (dtype(from), dtype(to));
            let shape = vec![items.len() / from.itemsize()];
            let conversion = Conversion::new(&from, &to).unwrap();
            let source = Source::memory(Tensor::new(from.clone(), shape.clone(), items.to_vec()).unwrap(), "x".into());
            for windows in [Windows::new(&shape, usize::MAX), Windows::new(&shape, 1)] {
                let mut found = Vec::new();
                for window in windows.iter() {
                    let mut out = vec![9; window.items() * to.itemsize()];
                    let view = Meta::new(from.clone(), shape.clone()).view().part(&window.ranges);
                    conversion.read(&source, &view, &mut out, &mut Default::default()).unwrap();
                    found.extend(out);
                }
                assert_eq!(found, expected, "{from:?} as {to:?}");
            }
        }
    }

    #[test]
    fn wide_items_are_not_all_held_at_once() {
        let from = dtype("<U100000");
        let items: Vec<u8> = (1..=4_u32).flat_map(|n| [vec![n as u8], vec![0; 399_999]].concat()).collect();
        let source = Source::memory(Tensor::new(from.clone(), vec![4], items).unwrap(), "x".into());
        let conversion = Conversion::new(&from, &dtype("<U1")).unwrap();
        let mut out = [9; 16];
        conversion.read(&source, &source.view(), &mut out, &mut Default::default()).unwrap();
        assert_eq!(out, [1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0]);
    }

    #[test]
    fn items_that_fit() {
        let rows = [("|S3", "|S2", &b"ab\0"[..], true), ("|S3", "|S2", b"abc", false), ("|S2", "|S3", b"ab", true)];
        for (from, to, item, expected) in rows {
            assert_eq!(Conversion::new(&dtype(from), &dtype(to)).unwrap().fits(item), expected, "{from} as {to}");
        }
    }
}
