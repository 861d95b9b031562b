//! Items of one tensor as another has them: in its byte order, at its width of strings.

use crate::error::{Error, Result};

use super::source::{READ_AT_ONCE, Source};
use crate::item::dtype::{DType, Kind};
use crate::item::encoding::Swap;
use crate::layout::view::View;
use crate::layout::window::Windows;

/// How the items of `updates` become items of `data`'s dtype: another byte order, another width of strings.
#[derive(Clone, Debug)]
pub struct Conversion {
    from: usize,
    to: usize,
    swaps: Vec<Swap>,
}

impl Conversion {
    /// `None` if they are not of one kind.
    pub fn new(from: &DType, to: &DType) -> Option<Self> {
        let widths = match (from.kind(), to.kind()) {
            (Kind::Str(a), Kind::Str(b)) => a != b,
            (Kind::Bytes(a), Kind::Bytes(b)) => a != b,
            _ => false,
        };
        if !widths && !from.same_kind(to) {
            return None;
        }
        // of strings the swap is made at the width they come with
        Some(Self { from: from.itemsize(), to: to.itemsize(), swaps: from.swaps_to(to) })
    }

    /// Returns the conversion to the byte order of this machine's kind, which items of every dtype have.
    pub fn to_native(from: &DType) -> Self {
        Self { from: from.itemsize(), to: from.itemsize(), swaps: from.swaps_to(&from.native()) }
    }

    /// Returns the conversion that leaves items of a dtype as they are.
    pub fn identity(dtype: &DType) -> Self {
        Self { from: dtype.itemsize(), to: dtype.itemsize(), swaps: Vec::new() }
    }

    /// The bytes of an item as it becomes.
    pub fn itemsize(&self) -> usize {
        self.to
    }

    /// Whether items of the one width can be too long for the other.
    pub fn narrows(&self) -> bool {
        self.from > self.to
    }

    /// Whether items keep their width.
    pub fn keeps_width(&self) -> bool {
        self.from == self.to
    }

    /// Changes the byte order of items that keep their width.
    pub fn swap(&self, items: &mut [u8]) {
        Swap::apply_all(&self.swaps, items, self.to);
    }

    /// Whether items are taken as they are.
    pub fn is_identity(&self) -> bool {
        self.from == self.to && self.swaps.is_empty()
    }

    /// Whether an item, as it is stored, fits the width of `data`'s.
    pub fn fits(&self, item: &[u8]) -> bool {
        item.get(self.to..).is_none_or(|rest| rest.iter().all(|&byte| byte == 0))
    }

    /// Reads the part of `source` that `view` shows into `out`, converted.
    ///
    /// # Errors
    /// Those of [`Source::read`].
    pub fn read(&self, source: &Source, view: &View, out: &mut [u8], scratch: &mut Vec<u8>) -> Result<()> {
        if self.from == self.to {
            source.read(view, out, scratch)?;
            self.swap(out);
            return Ok(());
        }
        out.fill(0);
        let shorter = self.from.min(self.to);
        let mut items = Vec::new();
        // wide items that become narrow are not all held at once: updates of `<U1000` for data of `<U1` would take a
        // thousand times the memory of the window that they go to
        for window in Windows::new(&view.shape(), READ_AT_ONCE / self.from.max(1)).iter() {
            let box_view = view.part(&window.ranges);
            let bytes = box_view.items() * self.from;
            items.clear();
            items
                .try_reserve_exact(bytes)
                .map_err(|_| Error::memory(format!("{}: an item of {bytes} bytes", source.label())))?;
            items.resize(bytes, 0);
            source.read(&box_view, &mut items, scratch)?;
            Swap::apply_all(&self.swaps, &mut items, self.from);
            for i in 0..box_view.items() {
                out[(window.start + i) * self.to..][..shorter].copy_from_slice(&items[i * self.from..][..shorter]);
            }
        }
        Ok(())
    }
}
