//! The items of blocks as float32s by position.

use std::io;
use std::sync::Arc;

use super::types::ItemType;
use crate::storage::read_at::{Identity, ReadAt, Stamp};

/// The bytes of blocks that a thread holds at once.
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
        let (mut rest, mut read) = (out, Vec::new());
        while !rest.is_empty() {
            let blocks = (skip + rest.len()).div_ceil(side).min(PIECE / bytes);
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

    fn costs_requests(&self) -> bool {
        self.bytes.costs_requests()
    }
}
