//! Packed items of fewer than 8 bits, low bits first and without gaps: four 6-bit items are three bytes. Zero bits
//! fill the last byte. Unpacked, each item has its own byte, as in ml_dtypes.

use std::io::{self, Cursor, Read};
use std::sync::Arc;

use crate::storage::read_at::{ReadAt, Section};
use crate::storage::source::Source;
use tensorop_kernels::error::Result;
use tensorop_kernels::item::dtype::{DType, Kind};
use tensorop_kernels::item::meta::Meta;
use tensorop_kernels::memory::fill_from;

/// A multiple of 3 bytes.
const PIECE: usize = 3 << 14;

/// Returns the bytes of packed items.
///
/// ```
/// use tensorop_files::internal::narrow::packed::packed_bytes;
/// assert_eq!((packed_bytes(5, 4), packed_bytes(5, 2), packed_bytes(5, 6), packed_bytes(5, 8)), (3, 2, 4, 5));
/// ```
pub fn packed_bytes(items: usize, bits: u32) -> usize {
    // 8 items take `bits` bytes, so no product exceeds the unpacked size
    let bits = bits as usize;
    (items / 8).saturating_mul(bits).saturating_add(((items % 8) * bits).div_ceil(8))
}

/// Returns the bits of a packed item, or 8.
pub fn bits(dtype: &DType) -> u32 {
    if let Kind::Narrow(narrow) = dtype.kind() { narrow.bits() } else { 8 }
}

/// Returns what items are that are not changed in place, for messages.
pub fn unchangeable_items(source: &Source) -> &'static str {
    match (source.dtype().kind(), source.as_bytes()) {
        (Kind::Str(_), _) => "texts of varying length",
        (_, Some(_)) => "items in a typed field of an ONNX tensor, unlike those in raw_data",
        (_, None) => "items of fewer than 8 bits, which share bytes",
    }
}

/// Returns the bytes of items, packed if the dtype is.
pub fn bytes_of_items(dtype: &DType, items: usize) -> u64 {
    match bits(dtype) {
        8 => (items as u64).saturating_mul(dtype.itemsize() as u64),
        bits => packed_bytes(items, bits) as u64,
    }
}

/// Unpacks items of 2, 4 or 6 bits, or copies bytes. Items missing in `packed` are not written.
pub fn unpack(packed: &[u8], bits: u32, out: &mut [u8]) {
    match bits {
        2 => unpack_groups::<1, 4, 2>(packed, out),
        4 => {
            let (pairs, last) = out.as_chunks_mut::<2>();
            pairs.iter_mut().zip(packed).for_each(|(pair, byte)| *pair = [byte & 15, byte >> 4]);
            last.iter_mut()
                .zip(packed.get(pairs.len()..).unwrap_or_default())
                .for_each(|(item, byte)| *item = byte & 15);
        }
        6 => unpack_groups::<3, 4, 6>(packed, out),
        _ => out.iter_mut().zip(packed).for_each(|(item, byte)| *item = *byte),
    }
}

fn unpack_groups<const BYTES: usize, const ITEMS: usize, const BITS: usize>(packed: &[u8], out: &mut [u8]) {
    let word = |bytes: &[u8]| bytes.iter().rev().fold(0_u32, |word, byte| word << 8 | u32::from(*byte));
    let item = |word: u32, n: usize| (word >> (BITS * n)) as u8 & ((1 << BITS) - 1);
    let whole = out.len().min(packed.len() * 8 / BITS);
    let (places, tail) = out[..whole].as_chunks_mut::<ITEMS>();
    let (groups, rest) = packed.split_at(places.len() * BYTES);
    for (place, group) in places.iter_mut().zip(groups.as_chunks::<BYTES>().0) {
        let word = word(group);
        *place = std::array::from_fn(|n| item(word, n));
    }
    let word = word(&rest[..rest.len().min(BYTES)]);
    tail.iter_mut().enumerate().for_each(|(n, place)| *place = item(word, n));
}

pub(crate) fn source(meta: Meta, file: &Arc<dyn ReadAt>, at: u64, label: String) -> Result<Source> {
    let bits = bits(&meta.dtype);
    if bits == 8 {
        return Source::stored(meta, Arc::clone(file), at, label);
    }
    let items = meta.items() as u64;
    let section = Section::new(Arc::clone(file), at, bytes_of_items(&meta.dtype, meta.items()));
    Ok(Source::stream(meta, Box::new(Unpack::new(section, bits, items)), items, label))
}

/// Unpacks a reader, one item a byte, up to the last complete item.
#[derive(Debug)]
pub struct Unpack<R> {
    reader: R,
    bits: u32,
    left: u64,
    packed: Vec<u8>,
    items: Cursor<Vec<u8>>,
}

impl<R: Read> Unpack<R> {
    /// Unpacks items of 2, 4 or 6 bits.
    pub fn new(reader: R, bits: u32, items: u64) -> Self {
        Self { reader, bits, left: items, packed: Vec::new(), items: Cursor::default() }
    }

    fn refill(&mut self) -> io::Result<()> {
        let most = PIECE * 8 / self.bits as usize;
        let wanted = usize::try_from(self.left).map_or(most, |left| left.min(most));
        self.packed.resize(packed_bytes(wanted, self.bits), 0);
        let read = fill_from(&mut self.reader, &mut self.packed)?;
        let whole = if read < self.packed.len() { read * 8 / self.bits as usize } else { wanted };
        self.left = if whole < wanted { 0 } else { self.left - wanted as u64 };
        self.items.set_position(0);
        let items = self.items.get_mut();
        items.resize(whole, 0);
        unpack(&self.packed, self.bits, items);
        Ok(())
    }
}

impl<R: Read> Read for Unpack<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.items.position() == self.items.get_ref().len() as u64 && self.left > 0 {
            self.refill()?;
        }
        self.items.read(out)
    }
}

/// Packs items in pieces of any length.
///
/// ```
/// use tensorop_files::internal::narrow::packed::Packer;
/// let (mut packer, mut out) = (Packer::new(4), Vec::new());
/// packer.push(&[1], &mut out);
/// packer.push(&[2, 3], &mut out);
/// packer.finish(&mut out);
/// assert_eq!(out, [0x21, 0x03]);
/// ```
#[derive(Clone, Debug)]
pub struct Packer {
    bits: u32,
    word: u32,
    filled: u32,
}

impl Packer {
    /// Packs items of 2, 4 or 6 bits, or copies bytes.
    pub fn new(bits: u32) -> Self {
        Self { bits: if matches!(bits, 2 | 4 | 6) { bits } else { 8 }, word: 0, filled: 0 }
    }

    /// Packs the low bits of each byte; appends full bytes.
    pub fn push(&mut self, items: &[u8], out: &mut Vec<u8>) {
        out.reserve(packed_bytes(items.len(), self.bits) + 1);
        match self.bits {
            2 => self.push_groups::<1, 4, 2>(items, out),
            4 => self.push_groups::<1, 2, 4>(items, out),
            6 => self.push_groups::<3, 4, 6>(items, out),
            _ => out.extend_from_slice(items),
        }
    }

    fn push_groups<const BYTES: usize, const ITEMS: usize, const BITS: usize>(
        &mut self,
        items: &[u8],
        out: &mut Vec<u8>,
    ) {
        // completes the group that an earlier call began
        let begun = (self.filled as usize / BITS) % ITEMS;
        let (first, items) = items.split_at(if begun == 0 { 0 } else { (ITEMS - begun).min(items.len()) });
        first.iter().for_each(|item| self.push_item(*item, BYTES, out));
        let (groups, last) = items.as_chunks::<ITEMS>();
        out.extend(groups.iter().flat_map(|group| {
            let item = |item: u8| u32::from(item) & ((1 << BITS) - 1);
            let word = group.iter().rev().fold(0, |word, byte| word << BITS | item(*byte));
            std::array::from_fn::<u8, BYTES, _>(|n| (word >> (8 * n)) as u8)
        }));
        last.iter().for_each(|item| self.push_item(*item, BYTES, out));
    }

    fn push_item(&mut self, item: u8, group: usize, out: &mut Vec<u8>) {
        self.word |= (u32::from(item) & ((1 << self.bits) - 1)) << self.filled;
        self.filled += self.bits;
        if self.filled as usize == 8 * group {
            self.finish(out);
        }
    }

    /// Appends the rest, followed by zero bits.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        let bytes = self.filled.div_ceil(8) as usize;
        out.extend(self.word.to_le_bytes().iter().take(bytes));
        (self.word, self.filled) = (0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reference(items: &[u8], bits: u32) -> Vec<u8> {
        let stream: Vec<u8> = items.iter().flat_map(|item| (0..bits).map(move |n| item >> n & 1)).collect();
        stream.chunks(8).map(|byte| byte.iter().rev().fold(0, |byte, bit| byte << 1 | bit)).collect()
    }

    #[test]
    fn both_ways_in_pieces() {
        let mut failures = Vec::new();
        for bits in [2, 4, 6] {
            for length in (0..40).chain([1000, 70_001]) {
                let items: Vec<u8> = (0..length).map(|n: u64| ((n * n + n / 7) % (1 << bits)) as u8).collect();
                let packed = reference(&items, bits);
                for piece in [1, 2, 3, 5, 7, 1000, 1 << 20] {
                    let (mut packer, mut found) = (Packer::new(bits), Vec::new());
                    items.chunks(piece).for_each(|piece| packer.push(piece, &mut found));
                    packer.finish(&mut found);
                    if found != packed || packed.len() != packed_bytes(items.len(), bits) {
                        failures.push(format!("packing {length} of {bits} bits by {piece}"));
                    }
                    let (mut unpack, mut found) = (Unpack::new(&packed[..], bits, length), Vec::<u8>::new());
                    let mut out = vec![0; piece];
                    while let Ok(n @ 1..) = unpack.read(&mut out) {
                        found.extend(&out[..n]);
                    }
                    if found != items {
                        failures.push(format!("unpacking {length} of {bits} bits by {piece}"));
                    }
                }
                let mut found = vec![0; items.len()];
                unpack(&packed, bits, &mut found);
                if found != items {
                    failures.push(format!("unpacking {length} of {bits} bits"));
                }
            }
        }
        assert!(failures.is_empty(), "{failures:#?}");
    }

    #[test]
    fn high_bits_are_ignored() {
        let mut out = Vec::new();
        let mut packer = Packer::new(4);
        packer.push(&[0xff, 0xf0, 0x8e], &mut out);
        packer.finish(&mut out);
        assert_eq!(out, [0x0f, 0x0e]);
    }

    #[test]
    fn too_few_and_too_many_bytes() {
        let mut failures = Vec::new();
        for (bits, bytes, items, expected) in
            [(4, 2, 9, 4), (4, 2, 3, 3), (2, 1, 9, 4), (6, 2, 4, 2), (6, 3, 9, 4), (6, 1, 1, 1), (4, 0, 1, 0)]
        {
            let packed = vec![0xff; bytes];
            let mut found = Vec::new();
            Unpack::new(&packed[..], bits, items).read_to_end(&mut found).unwrap();
            let mut whole = vec![0; items as usize];
            unpack(&packed, bits, &mut whole);
            let written = whole.iter().filter(|item| **item != 0).count();
            if (found.len(), written) != (expected, expected) {
                failures.push(format!("{bytes} bytes, {items} of {bits} bits: {} and {written}", found.len()));
            }
        }
        assert!(failures.is_empty(), "{failures:#?}");
    }
}
