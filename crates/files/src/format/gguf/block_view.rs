//! The items of blocks as float32s by position.

use std::io;
use std::sync::Arc;

use super::types::ItemType;
use crate::storage::read_at::{EncodedBytes, Identity, READ_AHEAD, ReadAt, Stamp};

/// The bytes of blocks that a thread holds at once, except from servers.
const PIECE: usize = 1 << 16;

const ITEMSIZE: usize = size_of::<f32>();

#[derive(Debug)]
pub(super) struct BlockItems {
    pub bytes: Arc<dyn ReadAt>,
    pub start: u64,
    pub blocks: usize,
    pub item_type: &'static ItemType,
    pub decode: fn(&[u8], &mut [u8]),
    /// The places in a block of float16s whose bytes are swapped.
    pub swapped: &'static [usize],
}

impl BlockItems {
    fn read_blocks(&self, blocks: &mut [u8], first: usize) -> io::Result<()> {
        let bytes = self.item_type.bytes;
        self.bytes.read_at(blocks, self.start + (first * bytes) as u64)?;
        for block in blocks.chunks_exact_mut(bytes).filter(|_| !self.swapped.is_empty()) {
            self.swapped.iter().for_each(|at| block.swap(*at, at + 1));
        }
        Ok(())
    }

    /// Copies the bytes of a block's items from byte `skip` on, and returns how many.
    fn read_part(&self, block: &[u8], skip: usize, out: &mut [u8]) -> usize {
        let mut items = vec![0; self.item_type.items * ITEMSIZE];
        (self.decode)(block, &mut items);
        let copied = out.len().min(items.len() - skip);
        out[..copied].copy_from_slice(&items[skip..][..copied]);
        copied
    }
}

impl ReadAt for BlockItems {
    fn size(&self) -> io::Result<u64> {
        Ok((self.blocks * self.item_type.items * ITEMSIZE) as u64)
    }

    fn read_at(&self, out: &mut [u8], at: u64) -> io::Result<()> {
        let (bytes, side) = (self.item_type.bytes, self.item_type.items * ITEMSIZE);
        if self.size()?.checked_sub(at).is_none_or(|left| left < out.len() as u64) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let (mut first, mut skip) = ((at / side as u64) as usize, (at % side as u64) as usize);
        let most = if self.costs_requests() { READ_AHEAD } else { PIECE };
        let (mut rest, mut read) = (out, Vec::new());
        while !rest.is_empty() {
            let blocks = (skip + rest.len()).div_ceil(side).min(most / bytes);
            read.resize(blocks * bytes, 0);
            self.read_blocks(&mut read, first)?;
            first += blocks;
            let mut left = &read[..];
            if skip > 0 {
                let part;
                (part, left) = left.split_at(bytes);
                let copied = self.read_part(part, skip, rest);
                (rest, skip) = (&mut rest[copied..], 0);
            }
            let whole = (rest.len() / side).min(left.len() / bytes);
            let (items, after) = rest.split_at_mut(whole * side);
            let (of_items, of_rest) = left.split_at(whole * bytes);
            (self.decode)(of_items, items);
            rest = after;
            if !rest.is_empty() && !of_rest.is_empty() {
                let copied = self.read_part(of_rest, 0, rest);
                rest = &mut rest[copied..];
            }
        }
        Ok(())
    }

    fn stamp(&self) -> io::Result<Stamp> {
        self.bytes.stamp()
    }

    fn identity(&self) -> io::Result<Identity> {
        self.bytes.identity()
    }

    fn as_encoded(&self) -> Option<EncodedBytes<'_>> {
        let (bytes, rule) = (&self.bytes, self.item_type.name);
        let end = self.start + (self.blocks * self.item_type.bytes) as u64;
        self.swapped.is_empty().then_some(EncodedBytes { bytes, range: self.start..end, rule })
    }

    fn costs_requests(&self) -> bool {
        self.bytes.costs_requests()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::gguf::types::Rule;
    use crate::storage::read_at::MemoryBytes;

    const Q8_0: u32 = 8;

    #[test]
    fn bytes_from_any_place() {
        let blocks = 3 * PIECE / 34;
        let mut stored: Vec<u8> = (0..1 + blocks * 34).map(|n| (n * 37 + n / 256) as u8).collect();
        // the scales are 1
        stored[1..].chunks_exact_mut(34).for_each(|block| block[..2].copy_from_slice(&[0, 0x3c]));
        let item = |n: usize| f32::from(stored[1 + n / 32 * 34 + 2 + n % 32] as i8).to_le_bytes();
        let all: Vec<u8> = (0..blocks * 32).flat_map(item).collect();
        let item_type = ItemType::numbered(Q8_0).expect("a type");
        let Rule::Blocks(rule) = &item_type.rule else { panic!("q8_0 has blocks") };
        let bytes = Arc::new(MemoryBytes::new(stored));
        let view = BlockItems { bytes, start: 1, blocks, item_type, decode: rule.decode, swapped: &[] };
        let end = all.len();
        assert_eq!(view.size().expect("a size"), end as u64);
        for (at, len) in
            [(0, end), (1, 2), (127, 2), (128, 128), (3, 4 * PIECE + 77), (end - 5, 5), (end, 0), (500, 12 * PIECE)]
        {
            let len = len.min(end - at);
            let mut out = vec![9; len];
            view.read_at(&mut out, at as u64).expect("items");
            assert!(out == all[at..][..len], "{len} bytes from {at}");
        }
        assert!(view.read_at(&mut [0; 2], end as u64 - 1).is_err());
        assert!(view.read_at(&mut [0; 2], u64::MAX).is_err());
    }
}
