//! Items of fewer than 8 bits, packed or with a byte each, read by position: one byte an item, its other bits zero.

use std::fs::File;
use std::io;
use std::sync::Arc;

use super::packed::{self, unpack};
use super::units::{ByUnits, Origin, Units};
use crate::storage::read_at::{PackedFile, Packing, ReadAt};
use crate::storage::source::Source;
use tensorop_kernels::error::{Result, ensure};
use tensorop_kernels::item::dtype::{Kind, Narrow};
use tensorop_kernels::item::meta::Meta;

const PIECE: usize = 1 << 16;

/// Nonzero bits after the last packed item are an error, since no reader would keep them.
pub(crate) fn open(
    narrow: Narrow,
    items: usize,
    bytes: Arc<dyn ReadAt>,
    start: u64,
    is_packed: bool,
) -> Result<Arc<dyn ReadAt>> {
    let sharing = if is_packed { Sharing::Along } else { Sharing::Alone { keeps: false } };
    let items = NarrowItems { bytes, start, counted_from: start, items, narrow, sharing };
    if is_packed {
        items.check_end()?;
    }
    Ok(Arc::new(ByUnits(items)))
}

/// Reads packed or whole items by position. Items whose last byte has other bits set are read as a stream, which ignores
/// them.
pub(crate) fn stored(meta: Meta, file: &Arc<dyn ReadAt>, at: u64, label: String) -> Result<Source> {
    if let Kind::Narrow(narrow) = meta.dtype.kind()
        && matches!(narrow.bits(), 2 | 4)
        && let Ok(items) = open(*narrow, meta.items(), Arc::clone(file), at, true)
    {
        return Source::stored(meta, items, 0, label);
    }
    packed::source(meta, file, at, label)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sharing {
    /// With `keeps`, checked bytes are returned unchanged.
    Alone { keeps: bool },
    /// Consecutive items share a byte.
    Along,
    /// Neighbours along the last axis in Fortran order share a byte. The number is the bytes at each place of that
    /// axis.
    Across(usize),
}

#[derive(Debug)]
pub(crate) struct NarrowItems {
    pub bytes: Arc<dyn ReadAt>,
    pub start: u64,
    /// The number of byte `start` in messages.
    pub counted_from: u64,
    pub items: usize,
    pub narrow: Narrow,
    pub sharing: Sharing,
}

impl NarrowItems {
    fn each(&self) -> usize {
        match self.sharing {
            Sharing::Alone { .. } => 1,
            Sharing::Along | Sharing::Across(_) => self.narrow.items_in_byte(),
        }
    }

    fn check_end(&self) -> Result<()> {
        let used = (self.items % self.each()) as u32 * self.narrow.bits();
        if used == 0 {
            return Ok(());
        }
        let (mut last, at) = ([0], self.start + (self.items / self.each()) as u64);
        self.bytes.read_at(&mut last, at)?;
        ensure!(
            last[0] >> used == 0,
            "byte {at} is {:#04x}: {} of its bits are after the last item, and not 0",
            last[0],
            8 - used
        );
        Ok(())
    }

    fn read_packed(&self, out: &mut [u8], first: usize) -> Result<()> {
        let each = self.each();
        let (mut packed, mut items) = (Vec::new(), Vec::new());
        let (mut at, end) = (first / each, (first + out.len()).div_ceil(each));
        let mut skip = first % each;
        let mut rest = out;
        while at < end {
            packed.resize((end - at).min(PIECE), 0);
            self.bytes.read_at(&mut packed, self.start + at as u64)?;
            if skip == 0 {
                let (some, after) = rest.split_at_mut((packed.len() * each).min(rest.len()));
                unpack(&packed, self.narrow.bits(), some);
                rest = after;
                at += packed.len();
                continue;
            }
            items.resize(packed.len() * each, 0);
            unpack(&packed, self.narrow.bits(), &mut items);
            let found = &items[skip..];
            let (some, after) = rest.split_at_mut(found.len().min(rest.len()));
            some.copy_from_slice(&found[..some.len()]);
            (rest, skip) = (after, 0);
            at += packed.len();
        }
        Ok(())
    }

    /// The items of a byte are `column` items apart.
    fn read_across(&self, out: &mut [u8], first: usize, column: usize) -> Result<()> {
        if out.is_empty() {
            return Ok(());
        }
        let (each, bits) = (self.each(), self.narrow.bits());
        let end = ((first + out.len() - 1) / column / each + 1) * column;
        let (mut bytes, mut begin) = (Vec::new(), 0);
        let (mut at, mut rest) = (first, out);
        while !rest.is_empty() {
            let (place, row) = (at / column, at % column);
            let (from, run) = (place / each * column + row, (column - row).min(rest.len()).min(PIECE));
            if from < begin || from + run > begin + bytes.len() {
                // several short columns at once, or a part of a long one
                let to;
                (begin, to) =
                    if column > PIECE { (from, from + run) } else { (from - row, end.min(from - row + PIECE)) };
                bytes.resize(to - begin, 0);
                self.bytes.read_at(&mut bytes, self.start + begin as u64)?;
            }
            let shift = (place % each) as u32 * bits;
            let (some, after) = rest.split_at_mut(run);
            let item = |byte: u8| byte >> shift & ((1 << bits) - 1);
            some.iter_mut().zip(&bytes[from - begin..]).for_each(|(out, byte)| *out = item(*byte));
            (rest, at) = (after, at + run);
        }
        Ok(())
    }

    /// The other bits of a byte must be zero or copies of the sign.
    fn read_bytes(&self, out: &mut [u8], first: usize, keeps: bool) -> Result<()> {
        self.bytes.read_at(out, self.start + first as u64)?;
        let taken = match keeps {
            true => out.iter().position(|byte| self.narrow.item_in(*byte).is_none()).map_or(Ok(()), Err),
            false => self.narrow.take_items(out),
        };
        taken.map_err(|n| self.narrow.refuse(self.counted_from + (first + n) as u64, out[n]))
    }
}

impl Units for NarrowItems {
    fn origin(&self) -> Origin<'_> {
        Origin::Bytes(&self.bytes)
    }

    fn unit(&self) -> usize {
        1
    }

    fn size(&self) -> io::Result<u64> {
        Ok(self.items as u64)
    }

    fn compute(&self, out: &mut [u8], first: usize) -> Result<()> {
        match self.sharing {
            Sharing::Alone { keeps } => self.read_bytes(out, first, keeps),
            Sharing::Along => self.read_packed(out, first),
            Sharing::Across(column) => self.read_across(out, first, column),
        }
    }

    fn as_packed_file(&self) -> Option<PackedFile<'_>> {
        let file: &File = self.bytes.as_file()?;
        let bits = match self.sharing {
            Sharing::Alone { keeps: true } => 8,
            Sharing::Along => self.narrow.bits(),
            Sharing::Alone { keeps: false } | Sharing::Across(_) => return None,
        };
        Some(PackedFile { file, start: self.start, packing: Packing::Bits(bits) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::read_at::MemoryBytes;
    use tensorop_kernels::item::dtype::{DType, Kind};

    fn narrow(name: &str) -> Narrow {
        let dtype = DType::parse(name).expect("a dtype");
        if let Kind::Narrow(narrow) = dtype.kind() { *narrow } else { panic!("{name}") }
    }

    fn items(name: &str, bytes: &[u8], start: u64, items: usize, is_packed: bool) -> NarrowItems {
        let sharing = if is_packed { Sharing::Along } else { Sharing::Alone { keeps: false } };
        let bytes = Arc::new(MemoryBytes::new(bytes));
        NarrowItems { bytes, start, counted_from: start, items, narrow: narrow(name), sharing }
    }

    #[test]
    fn packed_items_from_any_place() {
        let long: Vec<u8> = (0..=255).cycle().take(3 * PIECE).collect();
        for (name, each) in [("int4", 2), ("uint4", 2), ("float4_e2m1fn", 2), ("int2", 4), ("uint2", 4)] {
            let bits = 8 / each;
            let all: Vec<u8> =
                long.iter().flat_map(|byte| (0..each).map(move |n| byte >> (n * bits) & ((1 << bits) - 1))).collect();
            let view = ByUnits(items(name, &long, 1, all.len() - each, true));
            for (first, count) in [(0, 9), (1, 1), (3, 0), (5, 4), (7, 2 * PIECE * each), (all.len() - each - 3, 3)] {
                let mut out = vec![9; count];
                view.read_at(&mut out, first as u64).expect("items");
                assert_eq!(out, all[each + first..][..count], "{name} from {first}");
            }
            assert!(view.read_at(&mut [0; 2], (all.len() - each - 1) as u64).is_err());
        }
    }

    #[test]
    fn items_that_share_bytes_across_columns() {
        for (name, each, column, columns) in [
            ("int4", 2, 3, 5),
            ("uint2", 4, 2, 3),
            ("uint4", 2, PIECE + 5, 2),
            ("int2", 4, 7, PIECE / 3),
            ("int4", 2, 1, 9),
        ] {
            let bits = 8 / each;
            let bytes: Vec<u8> = (0..column * columns).map(|n| (n * 37 + n / 256) as u8).collect();
            let item = |at: usize| {
                let (place, row) = (at / column, at % column);
                bytes[place / each * column + row] >> (place % each * bits) & ((1 << bits) - 1)
            };
            let all: Vec<u8> = (0..bytes.len() * each).map(item).collect();
            let across = NarrowItems { sharing: Sharing::Across(column), ..items(name, &bytes, 0, all.len(), true) };
            let view = ByUnits(across);
            for (first, count) in
                [(0, all.len()), (1, 4), (all.len() / 2 - 1, all.len() / 2), (2, 0), (all.len() - 1, 1)]
            {
                let mut out = vec![9; count];
                view.read_at(&mut out, first as u64).expect("items");
                assert_eq!(out, all[first..][..count], "{name} by {column}: {count} from {first}");
            }
        }
    }

    #[test]
    fn bytes_that_are_no_items() {
        let rows = [
            ("int4", 0x0f, Some(0x0f)),
            ("int4", 0xff, Some(0x0f)),
            ("int4", 0xf8, Some(0x08)),
            ("int4", 0xf7, None),
            ("int4", 0x18, None),
            ("int4", 0x80, None),
            ("int2", 0xfe, Some(2)),
            ("int2", 0x0e, None),
            ("uint4", 0x0f, Some(0x0f)),
            ("uint4", 0xff, None),
            ("uint2", 4, None),
            ("float4_e2m1fn", 0x0f, Some(0x0f)),
            ("float4_e2m1fn", 0xff, None),
            ("float6_e2m3fn", 0x3f, Some(0x3f)),
            ("float6_e2m3fn", 0x40, None),
        ];
        for (name, byte, expected) in rows {
            let mut out = [0];
            let read = ByUnits(items(name, &[0, byte], 0, 2, false)).read_at(&mut out, 1);
            assert_eq!(read.is_ok().then_some(out[0]), expected, "{name} {byte:#x}");
        }
        let items_of_bytes = ByUnits(items("int4", &[7, 0x21], 0, 2, false));
        let refused = items_of_bytes.read_at(&mut [0; 2], 0).map_err(|error| error.to_string());
        assert_eq!(refused, Err("byte 1 is 0x21, which is no int4; 2 items a byte are int4x2".to_owned()));
    }

    #[test]
    fn bits_behind_the_last_item() {
        for (count, byte, is_good) in [(3, 0x0f, true), (3, 0x1f, false), (4, 0x1f, true)] {
            assert_eq!(items("int4", &[0xff, byte], 0, count, true).check_end().is_ok(), is_good, "{count} {byte}");
        }
        let refused = items("int2", &[0xff, 0x10], 1, 2, true).check_end().map_err(|error| error.to_string());
        assert_eq!(refused, Err("byte 1 is 0x10: 4 of its bits are after the last item, and not 0".to_owned()));
    }
}
