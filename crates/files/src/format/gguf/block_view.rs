//! The items of blocks as float32s by position.

use std::io;
use std::sync::Arc;

use super::types::ItemType;
use crate::error::Result;
use crate::format::units::Units;
use crate::storage::read_at::{EncodedBytes, READ_AHEAD, ReadAt};

/// The bytes of blocks that a thread holds at once, except from servers.
const PIECE: usize = 1 << 16;

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

impl Units for BlockItems {
    fn stored(&self) -> &Arc<dyn ReadAt> {
        &self.bytes
    }

    fn unit(&self) -> usize {
        self.item_type.items * size_of::<f32>()
    }

    fn size(&self) -> io::Result<u64> {
        Ok((self.blocks * self.unit()) as u64)
    }

    fn compute(&self, out: &mut [u8], first: usize) -> Result<()> {
        let most = if self.bytes.costs_requests() { READ_AHEAD } else { PIECE };
        let (bytes, mut blocks) = (self.item_type.bytes, Vec::new());
        let mut at = self.start + (first * bytes) as u64;
        for items in out.chunks_mut(most / bytes * self.unit()) {
            blocks.resize(items.len() / self.unit() * bytes, 0);
            self.bytes.read_at(&mut blocks, at)?;
            for block in blocks.chunks_exact_mut(bytes).filter(|_| !self.swapped.is_empty()) {
                self.swapped.iter().for_each(|half| block.swap(*half, half + 1));
            }
            (self.decode)(&blocks, items);
            at += blocks.len() as u64;
        }
        Ok(())
    }

    fn as_encoded(&self) -> Option<EncodedBytes<'_>> {
        let (bytes, rule) = (&self.bytes, self.item_type.name);
        let end = self.start + (self.blocks * self.item_type.bytes) as u64;
        self.swapped.is_empty().then_some(EncodedBytes { bytes, range: self.start..end, rule })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::gguf::types::Rule;
    use crate::format::units::ByUnits;
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
        let view = ByUnits(BlockItems { bytes, start: 1, blocks, item_type, decode: rule.decode, swapped: &[] });
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
