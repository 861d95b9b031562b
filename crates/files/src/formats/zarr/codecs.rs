//! The chain of codecs between a chunk's items and its bytes. Chunks are not trusted: unpacking allocates as bytes
//! arrive, up to the size that a chunk must have.

use std::borrow::Cow;
use std::io::{self, Read, Write};

use flate2::Compression;
use flate2::read::{MultiGzDecoder, ZlibDecoder};
use flate2::write::GzEncoder;
use serde_json::{Value, json};

use super::blosc::{Blosc, Compressor, Shuffle};
use super::sharding::{Extension, SHARDING, ShardWriter, Shards, without_checksum};
use crate::storage::source::{fill, is_filled};
use tensorop_kernels::error::{Context, Error, ErrorKind, Result, bail, ensure, malformed};
use tensorop_kernels::item::dtype::{DType, Kind};
use tensorop_kernels::item::encoding::Conversion;
use tensorop_kernels::layout::axis::coordinates;
use tensorop_kernels::layout::copy::copy_bytes;
use tensorop_kernels::layout::view::View;
use tensorop_kernels::memory;

/// A few bytes could claim any memory.
const MAX_UNPACKED: usize = 1 << 32;

#[derive(Debug)]
pub(crate) struct Chain {
    /// Axes in storage order.
    order: Vec<usize>,
    to_bytes: ToBytes,
    itemsize: usize,
    codecs: Vec<Codec>,
}

#[derive(Debug)]
enum ToBytes {
    Swap(Conversion),
    Sharding(Box<Sharding>),
}

impl Chain {
    /// `dtype` is little-endian if its bytes are to be swapped; `fill` is the item at places that are not stored.
    pub(crate) fn new(list: &[Value], dtype: &DType, sides: &[usize], fill: &[u8]) -> Result<Self> {
        let (rank, itemsize) = (sides.len(), dtype.itemsize());
        let to_bytes = ToBytes::Swap(Conversion::identity(dtype));
        let mut chain = Self { order: (0..rank).collect(), to_bytes, itemsize, codecs: Vec::new() };
        let mut has_bytes = false;
        for value in list {
            let codec = Extension::new(value)?;
            match codec.name {
                "transpose" if !has_bytes => {
                    let order = codec.get("order").and_then(|order| match order.as_str() {
                        Some("C") => Some((0..rank).collect()),
                        Some("F") => Some((0..rank).rev().collect()),
                        _ => serde_json::from_value::<Vec<usize>>(order.clone()).ok(),
                    });
                    let order = order.filter(|order| is_permutation(order, rank));
                    let order = order.ok_or_else(|| malformed!("codec transpose: not an order of {rank} axes"))?;
                    chain.order = order.into_iter().map(|axis| chain.order[axis]).collect();
                }
                "bytes" | "endian" if !has_bytes => {
                    has_bytes = true;
                    if codec.has_second("endian", ["little", "big"])? {
                        chain.to_bytes = ToBytes::Swap(swapped(dtype));
                    }
                }
                SHARDING if !has_bytes => {
                    has_bytes = true;
                    let stored = chain.stored(sides);
                    let sharding =
                        Sharding::new(codec, dtype, stored, fill).with_context(|| format!("codec {SHARDING}"))?;
                    chain.to_bytes = ToBytes::Sharding(Box::new(sharding));
                }
                "transpose" | "bytes" | "endian" | SHARDING => bail!("codec {}: not in its place", codec.name),
                // no supported codec comes before `bytes`
                _ if !has_bytes => {
                    Codec::new(codec, itemsize)?;
                    bail!("codec {}: before the codec bytes", codec.name)
                }
                _ => chain.codecs.push(Codec::new(codec, itemsize)?),
            }
        }
        ensure!(has_bytes, "no codec bytes");
        Ok(chain)
    }

    /// Whether at most the order of axes changes.
    pub(crate) fn is_bare(&self) -> bool {
        self.codecs.is_empty() && matches!(&self.to_bytes, ToBytes::Swap(swap) if swap.is_identity())
    }

    /// Whether items are stored unchanged.
    pub(crate) fn is_plain(&self) -> bool {
        self.is_bare() && self.order.is_sorted()
    }

    fn stored(&self, shape: &[usize]) -> Vec<usize> {
        self.order.iter().map(|&axis| shape[axis]).collect()
    }

    pub(crate) fn view(&self, shape: &[usize]) -> View {
        let stored = self.stored(shape);
        let mut back = vec![0; stored.len()];
        self.order.iter().enumerate().for_each(|(at, &axis)| back[axis] = at);
        View::c_order(&stored).with_axes(&back)
    }

    pub(crate) fn most_packed(&self, bytes: usize) -> usize {
        self.codecs.iter().fold(self.most_bytes(bytes), |bytes, codec| codec.most_packed(bytes))
    }

    fn most_bytes(&self, bytes: usize) -> usize {
        match &self.to_bytes {
            ToBytes::Swap(_) => bytes,
            ToBytes::Sharding(sharding) => sharding.most_packed(),
        }
    }

    /// [`view`](Self::view) gives the layout of the `bytes` bytes.
    pub(crate) fn unpack(&self, packed: Vec<u8>, bytes: usize) -> Result<Vec<u8>> {
        ensure!(
            bytes <= MAX_UNPACKED || self.codecs.is_empty() && matches!(self.to_bytes, ToBytes::Swap(_)),
            "a chunk of {bytes} bytes, expected at most {MAX_UNPACKED}"
        );
        let mut most = vec![self.most_bytes(bytes)];
        for codec in &self.codecs {
            most.push(codec.most_packed(most[most.len() - 1]));
        }
        let mut items = packed;
        for (codec, &most) in self.codecs.iter().zip(&most).rev() {
            items = codec.unpack(items, most)?;
        }
        match &self.to_bytes {
            ToBytes::Swap(swap) => {
                ensure!(items.len() == bytes, "{} bytes, expected {bytes}", items.len());
                swap.swap(&mut items);
                Ok(items)
            }
            ToBytes::Sharding(sharding) => sharding.unpack(&items),
        }
    }

    pub(crate) fn pack(&self, items: &[u8], shape: &[usize]) -> Result<Vec<u8>> {
        let mut bytes = Cow::Borrowed(items);
        let swaps = matches!(&self.to_bytes, ToBytes::Swap(swap) if !swap.is_identity());
        if self.codecs.is_empty() || !self.order.is_sorted() || swaps {
            let mut stored = memory::zeros(items.len())?;
            copy_bytes(items, &View::c_order(shape), &mut stored, &self.view(shape), self.itemsize);
            bytes = Cow::Owned(stored);
        }
        match &self.to_bytes {
            ToBytes::Swap(swap) if swaps => swap.swap(bytes.to_mut()),
            ToBytes::Swap(_) => {}
            ToBytes::Sharding(sharding) => bytes = Cow::Owned(sharding.pack(&bytes)?),
        }
        for codec in &self.codecs {
            bytes = Cow::Owned(codec.pack(bytes)?);
        }
        Ok(bytes.into_owned())
    }
}

/// The identity if bytes have no order. bfloat16 has one here, unlike in a `.npy`.
pub(crate) fn swapped(dtype: &DType) -> Conversion {
    let ordered = if matches!(dtype.kind(), Kind::BFloat16) { Kind::UInt16.into() } else { dtype.clone() };
    Conversion::new(&ordered.big_endian(), &ordered).expect("byte orders of one kind")
}

fn is_permutation(order: &[usize], rank: usize) -> bool {
    let mut sorted = order.to_vec();
    sorted.sort_unstable();
    sorted.into_iter().eq(0..rank)
}

#[derive(Debug)]
pub(crate) struct Sharding {
    shards: Shards,
    sides: Vec<usize>,
    chain: Chain,
    fill: Vec<u8>,
}

impl Sharding {
    pub(crate) fn new(codec: Extension<'_>, dtype: &DType, sides: Vec<usize>, fill: &[u8]) -> Result<Self> {
        let shards = Shards::new(codec, &sides, dtype.itemsize())?;
        let chain = Chain::new(codec.list("codecs")?, dtype, &shards.chunk, fill)?;
        Ok(Self { shards, sides, chain, fill: fill.to_vec() })
    }

    pub(crate) fn most_packed(&self) -> usize {
        let chunk = self.chain.most_packed(self.chunk_bytes());
        chunk.saturating_mul(self.shards.count()).saturating_add(self.shards.index_bytes())
    }

    fn chunk_bytes(&self) -> usize {
        self.shards.chunk.iter().product::<usize>() * self.fill.len()
    }

    fn place(&self, number: usize) -> View {
        let at = coordinates(number, &self.shards.counts);
        let place: Vec<_> = at.iter().zip(&self.shards.chunk).map(|(at, side)| at * side..(at + 1) * side).collect();
        View::c_order(&self.sides).part(&place)
    }

    pub(crate) fn unpack(&self, packed: &[u8]) -> Result<Vec<u8>> {
        let start = self.shards.index_start(packed.len() as u64)? as usize;
        let index = self.shards.index(&packed[start..][..self.shards.index_bytes()])?;
        let itemsize = self.fill.len();
        let mut out = memory::zeros(self.sides.iter().product::<usize>() * itemsize)?;
        // Untouched pages cost no memory: a few bytes may claim a large shard of zeros.
        if self.fill.iter().any(|&byte| byte != 0) {
            fill(&mut out, &self.fill);
        }
        for (number, &[offset, len]) in index.iter().enumerate().filter(|(_, place)| **place != [u64::MAX; 2]) {
            let bytes = usize::try_from(offset).ok().zip(usize::try_from(len).ok());
            let bytes = bytes.and_then(|(offset, len)| packed.get(offset..offset.checked_add(len)?));
            let bytes =
                bytes.ok_or_else(|| malformed!("{} bytes, too few for {len} bytes at {offset}", packed.len()))?;
            let items = self.chain.unpack(bytes.to_vec(), self.chunk_bytes())?;
            copy_bytes(&items, &self.chain.view(&self.shards.chunk), &mut out, &self.place(number), itemsize);
        }
        Ok(out)
    }

    /// A chunk of fill values is not stored.
    pub(crate) fn pack(&self, items: &[u8]) -> Result<Vec<u8>> {
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

/// Settings for packing. zlib is only an extension in version 3.
#[derive(Debug)]
enum Codec {
    Gzip { level: u32 },
    Zlib,
    Zstd { level: i32, checksum: bool },
    Crc32c,
    Blosc(Blosc),
}

impl Codec {
    fn new(codec: Extension<'_>, itemsize: usize) -> Result<Self> {
        Ok(match codec.name {
            "gzip" => Self::Gzip { level: codec.integer("level", 5)?.clamp(0, 9) as u32 },
            "zstd" => {
                let level = codec.integer("level", 0)?.clamp(-131_072, 22) as i32;
                Self::Zstd { level, checksum: codec.flag("checksum")? }
            }
            "crc32c" => Self::Crc32c,
            "numcodecs.zlib" => Self::Zlib,
            "blosc" => {
                let shuffle = match codec.text("shuffle")? {
                    None | Some("noshuffle") => Shuffle::None,
                    Some("shuffle") => Shuffle::Bytes,
                    Some("bitshuffle") => Shuffle::Bits,
                    Some(_) => bail!("codec blosc: an unknown shuffle"),
                };
                let compressor = Compressor::named(codec.text("cname")?.unwrap_or("lz4"));
                Self::Blosc(Blosc {
                    codec: compressor.ok_or_else(|| malformed!("codec blosc: an unknown cname"))?,
                    level: codec.integer("clevel", 5)?.clamp(0, 9) as u32,
                    shuffle,
                    typesize: codec.integer("typesize", itemsize as i64)?.clamp(1, 255) as usize,
                })
            }
            _ => return Err(Error::from_kind(ErrorKind::Unsupported, format!("codec {:?} is not known", codec.name))),
        })
    }

    fn unpack(&self, mut packed: Vec<u8>, most: usize) -> Result<Vec<u8>> {
        let broken = |error: io::Error| malformed!("cannot be unpacked: {error}");
        match self {
            Self::Gzip { .. } => read_all(&mut MultiGzDecoder::new(&packed[..]), most),
            Self::Zlib => read_all(&mut ZlibDecoder::new(&packed[..]), most),
            Self::Zstd { .. } => {
                let mut decoder = zstd::stream::read::Decoder::with_buffer(&packed[..]).map_err(broken)?;
                // A frame with a window above 2^27 bytes is an error.
                decoder.window_log_max(27).map_err(broken)?;
                read_all(&mut decoder, most)
            }
            Self::Crc32c => {
                let bytes = without_checksum(&packed)?.len();
                packed.truncate(bytes);
                Ok(packed)
            }
            Self::Blosc(blosc) => blosc.unpack(&packed, most),
        }
    }

    fn pack(&self, bytes: Cow<'_, [u8]>) -> Result<Vec<u8>> {
        match self {
            Self::Gzip { level } => {
                let mut out = GzEncoder::new(Vec::new(), Compression::new(*level));
                out.write_all(&bytes)?;
                Ok(out.finish()?)
            }
            Self::Zlib => Compressor::Zlib.pack(&bytes, 1),
            Self::Zstd { level, checksum } => {
                let mut compressor = zstd::bulk::Compressor::new(*level)?;
                compressor.include_checksum(*checksum)?;
                Ok(compressor.compress(&bytes)?)
            }
            Self::Crc32c => {
                let mut bytes = bytes.into_owned();
                let sum = crc32c::crc32c(&bytes);
                bytes.extend(sum.to_le_bytes());
                Ok(bytes)
            }
            Self::Blosc(blosc) => blosc.pack(&bytes),
        }
    }

    fn most_packed(&self, bytes: usize) -> usize {
        match self {
            Self::Crc32c => bytes.saturating_add(4),
            // Incompressible bytes grow a little for each block and the frame.
            Self::Gzip { .. } | Self::Zlib | Self::Zstd { .. } | Self::Blosc(_) => {
                bytes.saturating_add(bytes / 64).saturating_add(1 << 16)
            }
        }
    }
}

/// Allocates only as bytes arrive.
fn read_all(stream: &mut dyn Read, most: usize) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    stream.take(most as u64 + 1).read_to_end(&mut bytes).map_err(|error| malformed!("cannot be unpacked: {error}"))?;
    ensure!(bytes.len() <= most, "more than {most} bytes when it is unpacked");
    Ok(bytes)
}

/// In the spelling of version 3.
pub(crate) fn from_v2(compressor: &Value, itemsize: usize) -> Result<Option<Value>> {
    if compressor.is_null() {
        return Ok(None);
    }
    let name = compressor.get("id").and_then(Value::as_str).ok_or_else(|| malformed!("a compressor without an id"))?;
    let old = Extension { name, configuration: compressor.as_object() };
    let (name, configuration) = match name {
        "zlib" => ("numcodecs.zlib", json!({"level": old.integer("level", 1)?})),
        "gzip" => (name, json!({"level": old.integer("level", 1)?})),
        "zstd" => (name, json!({"level": old.integer("level", 0)?, "checksum": old.flag("checksum")?})),
        "blosc" => {
            let shuffle = match old.integer("shuffle", 1)? {
                0 => "noshuffle",
                -1 if itemsize == 1 => "bitshuffle",
                1 | -1 => "shuffle",
                2 => "bitshuffle",
                _ => bail!("codec blosc: an unknown shuffle"),
            };
            let configuration = json!({
                "cname": old.text("cname")?.unwrap_or("lz4"), "clevel": old.integer("clevel", 5)?, "shuffle": shuffle,
                "typesize": itemsize.clamp(1, 255), "blocksize": old.integer("blocksize", 0)?
            });
            (name, configuration)
        }
        _ => return Err(Error::from_kind(ErrorKind::Unsupported, format!("compressor {name:?} is not known"))),
    };
    Ok(Some(json!({"name": name, "configuration": configuration})))
}
