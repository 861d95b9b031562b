//! Views of bytes as items of fewer than 8 bits: packed, so that several share a byte, the first in its low bits, or
//! unpacked, so that each has a byte of its own.
//!
//! To all readers the items are bytes that are read by position, one for each item with the other bits zero. So they can be
//! read in any order, and nothing else has to know that they lie otherwise.

use std::fs::File;
use std::io;
use std::sync::Arc;

use super::content::Description;
use super::interface::Reader;
use super::packed::{bytes_of_items, unpack};
use crate::error::{Error, ErrorKind, Result, ensure, malformed};
use crate::item::dtype::{DType, Kind, Narrow};
use crate::item::meta::Meta;
use crate::storage::read_at::{Identity, PackedFile, ReadAt, Stamp};
use crate::storage::source::Source;

/// The most packed bytes that are read at once.
const PIECE: usize = 1 << 16;

/// Opens `meta` as what lies in `bytes` from byte `start` on, packed or not. `unwritten` says why the file is not written
/// anew.
///
/// # Errors
/// Bits behind the last packed item that are not zero, which no reading keeps; of reading these.
pub(super) fn open(
    meta: Meta,
    narrow: Narrow,
    bytes: Arc<dyn ReadAt>,
    start: u64,
    is_packed: bool,
    unwritten: &'static str,
) -> Result<Box<dyn Reader>> {
    let items = Arc::new(NarrowItems { bytes, start, items: meta.items(), narrow, is_packed });
    if is_packed {
        items.check_end()?;
    }
    Ok(Box::new(NarrowReader { meta, items, unwritten }))
}

/// Reads the one tensor of such a view.
#[derive(Debug)]
struct NarrowReader {
    meta: Meta,
    items: Arc<NarrowItems>,
    unwritten: &'static str,
}

impl Reader for NarrowReader {
    fn unwritten(&self) -> Option<Error> {
        Some(Error::of(ErrorKind::Unsupported, self.unwritten))
    }

    fn describe(&self, _: usize) -> Result<Description> {
        let items = &self.items;
        let bytes = if items.is_packed { bytes_of_items(&self.meta.dtype, items.items) } else { items.items as u64 };
        Ok(Description { meta: self.meta.clone(), bytes, offset: Some(items.start) })
    }

    fn source(&self, _: usize, label: String) -> Result<Source> {
        let items: Arc<dyn ReadAt> = Arc::clone(&self.items) as Arc<dyn ReadAt>;
        Source::stored(self.meta.clone(), items, 0, label)
    }
}

/// Items of fewer than 8 bits as bytes that are read by position, a byte an item.
#[derive(Debug)]
struct NarrowItems {
    bytes: Arc<dyn ReadAt>,
    /// The byte at which the first item begins.
    start: u64,
    items: usize,
    narrow: Narrow,
    is_packed: bool,
}

impl NarrowItems {
    /// Returns the number of items in a byte.
    fn each(&self) -> usize {
        if self.is_packed { 8 / self.narrow.bits() as usize } else { 1 }
    }

    /// Checks that the bits behind the last packed item are zero.
    fn check_end(&self) -> Result<()> {
        let used = (self.items % self.each()) as u32 * self.narrow.bits();
        if used == 0 {
            return Ok(());
        }
        let (mut last, at) = ([0], self.start + (self.items / self.each()) as u64);
        self.bytes.read_at(&mut last, at)?;
        ensure!(
            last[0] >> used == 0,
            "byte {at} is {:#04x}: {} of its bits lie behind the last item, and are not 0",
            last[0],
            8 - used
        );
        Ok(())
    }

    /// Reads items that share bytes.
    fn read_packed(&self, out: &mut [u8], first: usize) -> io::Result<()> {
        let each = self.each();
        let (mut packed, mut items) = (Vec::new(), Vec::new());
        let (mut at, end) = (first / each, (first + out.len()).div_ceil(each));
        let mut skip = first % each;
        let mut rest = out;
        while at < end {
            packed.resize((end - at).min(PIECE), 0);
            self.bytes.read_at(&mut packed, self.start + at as u64)?;
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

    /// Reads items that have a byte each, whose other bits are zero or copies of the sign.
    fn read_bytes(&self, out: &mut [u8], first: usize) -> io::Result<()> {
        let at = self.start + first as u64;
        self.bytes.read_at(out, at)?;
        let (bits, narrow) = (self.narrow.bits(), self.narrow);
        let is_signed = narrow.range().is_some_and(|(least, _)| least < 0);
        let is_extended = |byte: u8| is_signed && byte as i8 >> (bits - 1) == -1;
        for (n, byte) in out.iter_mut().enumerate() {
            if *byte >> bits != 0 {
                if !is_extended(*byte) {
                    let (place, name) = (at + n as u64, DType::from(Kind::Narrow(narrow)).name());
                    let packed = match 8 / bits {
                        1 => String::new(),
                        each => format!("; {each} items a byte are {name}x{each}"),
                    };
                    return Err(malformed!("byte {place} is {byte:#04x}, which is no {name}{packed}").into());
                }
                *byte &= (1 << bits) - 1;
            }
        }
        Ok(())
    }
}

impl ReadAt for NarrowItems {
    fn size(&self) -> io::Result<u64> {
        Ok(self.items as u64)
    }

    fn read_at(&self, out: &mut [u8], at: u64) -> io::Result<()> {
        let first = usize::try_from(at).ok().filter(|first| self.items.saturating_sub(*first) >= out.len());
        let first = first.ok_or(io::ErrorKind::UnexpectedEof)?;
        if self.is_packed { self.read_packed(out, first) } else { self.read_bytes(out, first) }
    }

    fn stamp(&self) -> io::Result<Stamp> {
        self.bytes.stamp()
    }

    fn identity(&self) -> io::Result<Identity> {
        self.bytes.identity()
    }

    fn costs_requests(&self) -> bool {
        self.bytes.costs_requests()
    }

    fn as_packed_file(&self) -> Option<PackedFile<'_>> {
        let file: &File = self.bytes.as_file().filter(|_| self.is_packed)?;
        Some(PackedFile { file, start: self.start, bits: self.narrow.bits() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::read_at::MemoryBytes;

    fn narrow(name: &str) -> Narrow {
        let dtype = DType::parse(name).expect("a dtype");
        if let Kind::Narrow(narrow) = dtype.kind() { *narrow } else { panic!("{name}") }
    }

    fn items(name: &str, bytes: &[u8], start: u64, items: usize, is_packed: bool) -> NarrowItems {
        NarrowItems { bytes: Arc::new(MemoryBytes::new(bytes)), start, items, narrow: narrow(name), is_packed }
    }

    #[test]
    fn packed_items_from_any_place() {
        let long: Vec<u8> = (0..=255).cycle().take(3 * PIECE).collect();
        for (name, each) in [("int4", 2), ("uint4", 2), ("float4_e2m1fn", 2), ("int2", 4), ("uint2", 4)] {
            let bits = 8 / each;
            let all: Vec<u8> =
                long.iter().flat_map(|byte| (0..each).map(move |n| byte >> (n * bits) & ((1 << bits) - 1))).collect();
            let view = items(name, &long, 1, all.len() - each, true);
            for (first, count) in [(0, 9), (1, 1), (3, 0), (5, 4), (7, 2 * PIECE * each), (all.len() - each - 3, 3)] {
                let mut out = vec![9; count];
                view.read_at(&mut out, first as u64).expect("items");
                assert_eq!(out, all[each + first..][..count], "{name} from {first}");
            }
            assert!(view.read_at(&mut [0; 2], (all.len() - each - 1) as u64).is_err());
        }
    }

    #[test]
    fn bytes_that_are_no_items() {
        // dtype, byte, the item
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
            let read = items(name, &[0, byte], 0, 2, false).read_at(&mut out, 1);
            assert_eq!(read.is_ok().then_some(out[0]), expected, "{name} {byte:#x}");
        }
        let refused = items("int4", &[7, 0x21], 0, 2, false).read_at(&mut [0; 2], 0).map_err(|error| error.to_string());
        assert_eq!(refused, Err("byte 1 is 0x21, which is no int4; 2 items a byte are int4x2".to_owned()));
    }

    #[test]
    fn bits_behind_the_last_item() {
        for (count, byte, is_good) in [(3, 0x0f, true), (3, 0x1f, false), (4, 0x1f, true)] {
            assert_eq!(items("int4", &[0xff, byte], 0, count, true).check_end().is_ok(), is_good, "{count} {byte}");
        }
        let refused = items("int2", &[0xff, 0x10], 1, 2, true).check_end().map_err(|error| error.to_string());
        assert_eq!(refused, Err("byte 1 is 0x10: 4 of its bits lie behind the last item, and are not 0".to_owned()));
    }
}
