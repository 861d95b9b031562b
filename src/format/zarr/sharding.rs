//! Shards: values that hold several chunks, and an index of them.
//!
//! A shard that is the whole of an array's chain is read chunk by chunk, by way of [`Shards`]. One that other codecs
//! follow or precede, or that lies in a shard, is unpacked as a whole, as any other codec is: that is [`Sharding`].

use super::codecs::{Chain, Extension, without_checksum};
use super::metadata::sides;
use crate::error::{Context, Error, ErrorKind, Result, ensure, malformed};
use crate::item::dtype::DType;
use crate::layout::shape::{bytes_of, coordinates};
use crate::layout::view::View;
use crate::layout::walk::copy_bytes;
use crate::memory;
use crate::storage::source::{fill, is_filled};

/// The name of the codec.
pub(super) const SHARDING: &str = "sharding_indexed";

/// The most bytes that the index of a shard may have, which are those of 16 million chunks.
const MOST_INDEX: usize = 1 << 28;

/// The layout of the chunks in a shard.
#[derive(Debug)]
pub(super) struct Shards {
    /// The number of places of each axis in a chunk.
    pub(super) chunk: Vec<usize>,
    /// The number of chunks along each axis.
    pub(super) counts: Vec<usize>,
    /// Whether the index stands before the chunks.
    pub(super) at_start: bool,
    /// Whether a check sum follows the index.
    has_checksum: bool,
    /// Whether the numbers of the index have their highest byte first.
    big_endian: bool,
}

/// Where the chunks of a shard lie in it: the byte at which each begins, and its size; all bits are set if it is not stored.
pub(super) type Index = Vec<[u64; 2]>;

impl Shards {
    /// Reads the configuration of shards of these sides.
    ///
    /// # Errors
    /// Another configuration than it can have; chunks that do not fill their shard.
    pub(super) fn new(codec: Extension<'_>, shard: &[usize], itemsize: usize) -> Result<Self> {
        let chunk = sides(codec.get("chunk_shape"), shard.len(), itemsize)?;
        let whole = shard.iter().zip(&chunk).all(|(shard, chunk)| shard.is_multiple_of(*chunk));
        ensure!(whole, "chunks {chunk:?} do not fill shards {shard:?}");
        let index = codec.list("index_codecs")?.iter().map(Extension::new).collect::<Result<Vec<_>>>()?;
        let (has_checksum, bytes) = match index[..] {
            [bytes @ Extension { name: "bytes" | "endian", .. }] => (false, bytes),
            [bytes @ Extension { name: "bytes" | "endian", .. }, Extension { name: "crc32c", .. }] => (true, bytes),
            _ => {
                let message = "with other index_codecs than bytes and crc32c is not read";
                return Err(Error::of(ErrorKind::Unsupported, message));
            }
        };
        let big_endian = bytes.has_second("endian", ["little", "big"])?;
        let at_start = codec.has_second("index_location", ["end", "start"])?;
        let counts: Vec<usize> = shard.iter().zip(&chunk).map(|(shard, chunk)| shard / chunk).collect();
        let is_read = bytes_of(&counts, 16).is_some_and(|bytes| bytes <= MOST_INDEX);
        ensure!(is_read, "more chunks in a shard than are read");
        Ok(Self { chunk, counts, at_start, has_checksum, big_endian })
    }

    /// Returns the size of the index in bytes.
    pub(super) fn index_bytes(&self) -> usize {
        self.count() * 16 + if self.has_checksum { 4 } else { 0 }
    }

    /// Returns the number of chunks in a shard.
    pub(super) fn count(&self) -> usize {
        self.counts.iter().product()
    }

    /// Returns the byte at which the index begins in a shard of `len` bytes.
    ///
    /// # Errors
    /// A shard that is shorter than its index.
    pub(super) fn index_start(&self, len: u64) -> Result<u64> {
        let bytes = self.index_bytes() as u64;
        ensure!(len > 0, "is empty");
        ensure!(len >= bytes, "{len} bytes, expected at least the {bytes} of its index");
        Ok(if self.at_start { 0 } else { len - bytes })
    }

    /// Reads the bytes of an index.
    ///
    /// # Errors
    /// Bytes that do not have their check sum.
    pub(super) fn index(&self, packed: &[u8]) -> Result<Index> {
        let index = if self.has_checksum { without_checksum(packed).context("index")? } else { packed };
        let number = |word: &[u8; 8]| match self.big_endian {
            true => u64::from_be_bytes(*word),
            false => u64::from_le_bytes(*word),
        };
        let numbers: Vec<u64> = index.as_chunks().0.iter().map(number).collect();
        Ok(numbers.as_chunks().0.to_vec())
    }
}

/// A shard that is being packed.
pub(super) struct ShardWriter<'a> {
    shards: &'a Shards,
    index: Vec<u64>,
    out: Vec<u8>,
}

impl<'a> ShardWriter<'a> {
    pub(super) fn new(shards: &'a Shards) -> Self {
        let out = vec![0; if shards.at_start { shards.index_bytes() } else { 0 }];
        Self { shards, index: Vec::with_capacity(2 * shards.count()), out }
    }

    /// Adds the next chunk, in the order of their numbers; `None` for one that is not stored.
    ///
    /// # Errors
    /// Not enough memory.
    pub(super) fn push(&mut self, packed: Option<&[u8]>) -> Result<()> {
        let Some(packed) = packed else {
            self.index.extend([u64::MAX; 2]);
            return Ok(());
        };
        self.index.extend([self.out.len() as u64, packed.len() as u64]);
        Ok(memory::extend(&mut self.out, packed)?)
    }

    /// Returns whether no chunk is stored.
    pub(super) fn is_empty(&self) -> bool {
        self.index.iter().all(|&number| number == u64::MAX)
    }

    /// Returns the bytes of the shard.
    pub(super) fn finish(self) -> Vec<u8> {
        let Self { shards, index, mut out } = self;
        let number = |number: u64| if shards.big_endian { number.to_be_bytes() } else { number.to_le_bytes() };
        let mut packed: Vec<u8> = index.into_iter().flat_map(number).collect();
        if shards.has_checksum {
            packed.extend(crc32c::crc32c(&packed).to_le_bytes());
        }
        match shards.at_start {
            true => out[..packed.len()].copy_from_slice(&packed),
            false => out.extend(packed),
        }
        out
    }
}

/// Shards as a codec among others, which are packed and unpacked as a whole.
#[derive(Debug)]
pub(super) struct Sharding {
    shards: Shards,
    /// The number of places of each axis in a shard.
    sides: Vec<usize>,
    /// The codecs of a chunk.
    chain: Chain,
    /// The item that stands at every place of a chunk that is not stored.
    fill: Vec<u8>,
}

impl Sharding {
    /// Reads the codec of shards of these sides.
    ///
    /// # Errors
    /// Those of [`Shards::new`] and [`Chain::new`].
    pub(super) fn new(codec: Extension<'_>, dtype: &DType, sides: Vec<usize>, fill: &[u8]) -> Result<Self> {
        let shards = Shards::new(codec, &sides, dtype.itemsize())?;
        let chain = Chain::new(codec.list("codecs")?, dtype, &shards.chunk, fill)?;
        Ok(Self { shards, sides, chain, fill: fill.to_vec() })
    }

    /// Returns the most bytes that a shard can have.
    pub(super) fn most_packed(&self) -> usize {
        let chunk = self.chain.most_packed(self.chunk_bytes());
        chunk.saturating_mul(self.shards.count()).saturating_add(self.shards.index_bytes())
    }

    fn chunk_bytes(&self) -> usize {
        self.shards.chunk.iter().product::<usize>() * self.fill.len()
    }

    /// Returns the places of a chunk among those of the shard.
    fn place(&self, number: usize) -> View {
        let at = coordinates(number, &self.shards.counts);
        let place: Vec<_> = at.iter().zip(&self.shards.chunk).map(|(at, side)| at * side..(at + 1) * side).collect();
        View::c_order(&self.sides).part(&place)
    }

    /// Unpacks a shard into all of its items in C order.
    ///
    /// # Errors
    /// A shard or a chunk that is damaged; not enough memory.
    pub(super) fn unpack(&self, packed: &[u8]) -> Result<Vec<u8>> {
        let start = self.shards.index_start(packed.len() as u64)? as usize;
        let index = self.shards.index(&packed[start..][..self.shards.index_bytes()])?;
        let itemsize = self.fill.len();
        let mut out = memory::zeros(self.sides.iter().product::<usize>() * itemsize)?;
        // Memory that is not written to is not taken: a few bytes may say that they are a large shard of zeros.
        if self.fill.iter().any(|&byte| byte != 0) {
            fill(&mut out, &self.fill);
        }
        for (number, &[offset, len]) in index.iter().enumerate().filter(|(_, place)| **place != [u64::MAX; 2]) {
            let bytes = usize::try_from(offset).ok().zip(usize::try_from(len).ok());
            let bytes = bytes.and_then(|(offset, len)| packed.get(offset..offset.checked_add(len)?));
            let bytes = bytes.ok_or_else(|| {
                malformed!("{} bytes, and something is said to be at {offset} of {len} bytes", packed.len())
            })?;
            let items = self.chain.unpack(bytes.to_vec(), self.chunk_bytes())?;
            copy_bytes(&items, &self.chain.view(&self.shards.chunk), &mut out, &self.place(number), itemsize);
        }
        Ok(out)
    }

    /// Packs all items of a shard, which are in C order. A chunk that holds only the fill value is not stored.
    ///
    /// # Errors
    /// Not enough memory.
    pub(super) fn pack(&self, items: &[u8]) -> Result<Vec<u8>> {
        let mut writer = ShardWriter::new(&self.shards);
        let (mut chunk, to) = (memory::zeros(self.chunk_bytes())?, View::c_order(&self.shards.chunk));
        for number in 0..self.shards.count() {
            copy_bytes(items, &self.place(number), &mut chunk, &to, self.fill.len());
            let is_stored = !is_filled(&chunk, &self.fill);
            let packed = is_stored.then(|| self.chain.pack(&chunk, &self.shards.chunk)).transpose()?;
            writer.push(packed.as_deref())?;
        }
        Ok(writer.finish())
    }
}
