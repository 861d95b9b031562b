//! Blosc, format version 1: shuffled blocks, packed by one of several compressors. Chunks may be malicious, so safe
//! Rust reads the frame (16 bytes and a list of offsets) instead of a binding of the C library; the compressors'
//! libraries unpack the blocks.

use std::fmt::Display;
use std::io::{Read, Write};

use tensorop_kernels::error::{Error, Result, ensure, malformed};
use tensorop_kernels::memory;

const HEAD: usize = 16;

/// Half of a core's L2 cache.
const BLOCK: usize = 1 << 18;

const MIN_SPLIT: usize = 128;

const MAX_SPLITS: usize = 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compressor {
    BloscLz,
    Lz4,
    Snappy,
    Zlib,
    Zstd,
}

const COMPRESSORS: [(Compressor, &str); 5] = [
    (Compressor::BloscLz, "blosclz"),
    (Compressor::Lz4, "lz4"),
    (Compressor::Snappy, "snappy"),
    (Compressor::Zlib, "zlib"),
    (Compressor::Zstd, "zstd"),
];

impl Compressor {
    pub(crate) fn named(name: &str) -> Option<Self> {
        // lz4hc writes the format of lz4.
        let name = if name == "lz4hc" { "lz4" } else { name };
        COMPRESSORS.iter().find(|(_, own)| *own == name).map(|(codec, _)| *codec)
    }

    fn error(self, error: impl Display) -> Error {
        malformed!("{}: {error}", COMPRESSORS[self as usize].1)
    }

    fn unpack(self, packed: &[u8], out: &mut [u8]) -> Result<()> {
        let filled = match self {
            Self::BloscLz => blosclz(packed, out)?,
            Self::Lz4 => lz4_flex::block::decompress_into(packed, out).map_err(|error| self.error(error))?,
            Self::Snappy => {
                let len = snap::raw::decompress_len(packed).map_err(|error| self.error(error))?;
                ensure!(len == out.len(), "snappy: {len} bytes, expected {}", out.len());
                snap::raw::Decoder::new().decompress(packed, out).map_err(|error| self.error(error))?
            }
            Self::Zlib => {
                flate2::read::ZlibDecoder::new(packed).read_exact(out).map_err(|error| self.error(error))?;
                out.len()
            }
            Self::Zstd => zstd::bulk::decompress_to_buffer(packed, out).map_err(|error| self.error(error))?,
        };
        ensure!(filled == out.len(), "a stream of {filled} bytes, expected {}", out.len());
        Ok(())
    }

    /// The result may be longer than `bytes`.
    pub(crate) fn pack(self, bytes: &[u8], level: u32) -> Result<Vec<u8>> {
        Ok(match self {
            // BloscLZ has no packer here; every reader accepts unpacked chunks.
            Self::BloscLz => bytes.to_vec(),
            Self::Lz4 => lz4_flex::block::compress(bytes),
            Self::Snappy => snap::raw::Encoder::new().compress_vec(bytes).map_err(|error| self.error(error))?,
            Self::Zlib => {
                let mut out = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::new(level));
                out.write_all(bytes)?;
                out.finish()?
            }
            // Blosc's own mapping of levels.
            Self::Zstd => zstd::bulk::compress(bytes, if level < 9 { level as i32 * 2 - 1 } else { 22 })?,
        })
    }

    /// Whether each byte position has a stream.
    fn splits(self) -> bool {
        matches!(self, Self::BloscLz | Self::Lz4 | Self::Snappy)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shuffle {
    None,
    Bytes,
    Bits,
}

/// Settings for writing; the head of a chunk suffices for reading.
#[derive(Debug)]
pub(crate) struct Blosc {
    pub(crate) codec: Compressor,
    pub(crate) level: u32,
    pub(crate) shuffle: Shuffle,
    /// In bytes, at most 255.
    pub(crate) typesize: usize,
}

impl Blosc {
    /// More than `most` bytes are an error.
    pub(crate) fn unpack(&self, packed: &[u8], most: usize) -> Result<Vec<u8>> {
        let head = packed.get(..HEAD).ok_or_else(|| malformed!("blosc: {} bytes, no head", packed.len()))?;
        let number = |at: usize| head[at..at + 4].iter().rev().fold(0, |all, &byte| all << 8 | usize::from(byte));
        let (flags, typesize) = (head[2], usize::from(head[3]).max(1));
        let (bytes, blocksize, all) = (number(4), number(8), number(12));
        ensure!(head[0] == 2, "blosc: version {} of the format is not known", head[0]);
        ensure!(bytes <= most, "blosc: {bytes} bytes, expected at most {most}");
        ensure!(all == packed.len(), "blosc: {} bytes, its head says {all}", packed.len());
        if flags & 2 != 0 {
            ensure!(all == HEAD + bytes, "blosc: {all} bytes, expected {}", HEAD + bytes);
            return Ok(packed[HEAD..].to_vec());
        }
        if bytes == 0 {
            return Ok(Vec::new());
        }
        let codec =
            COMPRESSORS.get(usize::from(flags >> 5)).ok_or_else(|| malformed!("blosc: an unknown compressor"))?.0;
        ensure!(blocksize > 0 && blocksize <= bytes.max(1), "blosc: blocks of {blocksize} bytes");
        let count = bytes.div_ceil(blocksize);
        let starts = packed.get(HEAD..HEAD + 4 * count).ok_or_else(|| malformed!("blosc: it is cut off"))?;
        let shuffle = match (flags & 1 != 0, flags & 4 != 0) {
            (true, _) => Shuffle::Bytes,
            (false, true) => Shuffle::Bits,
            (false, false) => Shuffle::None,
        };
        let mut out = memory::zeros(bytes)?;
        let mut shuffled = Vec::new();
        for (block, start) in out.chunks_mut(blocksize).zip(starts.as_chunks::<4>().0) {
            let whole = block.len() == blocksize;
            let split = flags & 16 == 0 && whole && typesize <= MAX_SPLITS && blocksize / typesize >= MIN_SPLIT;
            let streams = if split { typesize } else { 1 };
            let mut rest = packed.get(u32::from_le_bytes(*start) as usize..);
            shuffled.clear();
            shuffled.resize(block.len(), 0);
            let side = block.len() / streams;
            ensure!(side * streams == block.len(), "blosc: blocks of {blocksize} bytes for items of {typesize}");
            for stream in shuffled.chunks_mut(side) {
                let cut = || malformed!("blosc: it is cut off");
                let (len, after) = rest.and_then(|rest| rest.split_first_chunk::<4>()).ok_or_else(cut)?;
                let len = u32::from_le_bytes(*len) as usize;
                let (bytes, after) = after.split_at_checked(len).ok_or_else(cut)?;
                rest = Some(after);
                if len == stream.len() {
                    stream.copy_from_slice(bytes);
                } else {
                    codec.unpack(bytes, stream).map_err(|error| error.within("blosc"))?;
                }
            }
            arrange(shuffle, &shuffled, block, typesize, ByteArrangement::OfItems);
        }
        Ok(out)
    }

    pub(crate) fn pack(&self, bytes: &[u8]) -> Result<Vec<u8>> {
        let most = i32::MAX as usize;
        ensure!(bytes.len() < most, "blosc: a chunk of {} bytes, expected at most {most}", bytes.len());
        let typesize = self.typesize;
        let unit = typesize * 8;
        let blocksize = (BLOCK / unit * unit).max(unit).min(bytes.len().max(1));
        let shuffle = if typesize == 1 && self.shuffle == Shuffle::Bytes { Shuffle::None } else { self.shuffle };
        let splits = self.codec.splits() && typesize <= MAX_SPLITS && blocksize / typesize >= MIN_SPLIT;
        let splits = splits && blocksize.is_multiple_of(typesize);
        let flags = match shuffle {
            Shuffle::None => 0,
            Shuffle::Bytes => 1,
            Shuffle::Bits => 4,
        } | (self.codec as u8) << 5;
        let count = bytes.len().div_ceil(blocksize);
        let (mut body, mut starts, mut shuffled) = (Vec::new(), Vec::new(), Vec::new());
        for block in bytes.chunks(blocksize) {
            starts.extend(((HEAD + 4 * count + body.len()) as u32).to_le_bytes());
            shuffled.clear();
            shuffled.resize(block.len(), 0);
            arrange(shuffle, block, &mut shuffled, typesize, ByteArrangement::Shuffled);
            let streams = if splits && block.len() == blocksize { typesize } else { 1 };
            for stream in shuffled.chunks((block.len() / streams).max(1)) {
                let packed = if self.level == 0 { stream.to_vec() } else { self.codec.pack(stream, self.level)? };
                // A stream of the unpacked length is read as unpacked.
                let packed = if packed.len() >= stream.len() { stream.to_vec() } else { packed };
                body.extend((packed.len() as u32).to_le_bytes());
                body.extend(packed);
            }
        }
        let all = HEAD + starts.len() + body.len();
        let is_stored = self.level == 0 || all >= HEAD + bytes.len() || count == 0;
        let (flags, all) = match is_stored {
            true => (flags | 2, HEAD + bytes.len()),
            false => (flags | if splits { 0 } else { 16 }, all),
        };
        let mut out = Vec::with_capacity(all);
        out.extend([2, 1, flags, typesize as u8]);
        out.extend([bytes.len(), blocksize, all].iter().flat_map(|number| (*number as u32).to_le_bytes()));
        match is_stored {
            true => out.extend(bytes),
            false => {
                out.extend(starts);
                out.extend(body);
            }
        }
        Ok(out)
    }
}

#[derive(Clone, Copy)]
enum ByteArrangement {
    /// All first bytes, then all second bytes; for bits, the lowest first.
    Shuffled,
    OfItems,
}

fn arrange(shuffle: Shuffle, from: &[u8], to: &mut [u8], size: usize, arrangement: ByteArrangement) {
    match shuffle {
        Shuffle::Bytes if size > 1 => shuffle_bytes(from, to, size, arrangement),
        Shuffle::Bits => shuffle_bits(from, to, size, arrangement),
        Shuffle::Bytes | Shuffle::None => to.copy_from_slice(from),
    }
}

/// Bytes after the last whole item stay at the end.
fn shuffle_bytes(from: &[u8], to: &mut [u8], size: usize, arrangement: ByteArrangement) {
    let items = from.len() / size;
    for byte in 0..size {
        let run = byte * items..(byte + 1) * items;
        match arrangement {
            ByteArrangement::Shuffled => {
                for (item, place) in to[run].iter_mut().enumerate() {
                    *place = from[item * size + byte];
                }
            }
            ByteArrangement::OfItems => {
                for (item, value) in from[run].iter().enumerate() {
                    to[item * size + byte] = *value;
                }
            }
        }
    }
    to[items * size..].copy_from_slice(&from[items * size..]);
}

/// Unshuffled unless the items are a multiple of 8.
fn shuffle_bits(from: &[u8], to: &mut [u8], size: usize, arrangement: ByteArrangement) {
    let items = from.len() / size;
    if !items.is_multiple_of(8) {
        return to.copy_from_slice(from);
    }
    let row = items / 8;
    for byte in 0..size {
        for group in 0..row {
            // start and stride of 8 bytes, by item and by bit
            let (of_items, by_bit) = ((group * 8 * size + byte, size), (byte * 8 * row + group, row));
            let ((first, step), (start, stride)) = match arrangement {
                ByteArrangement::Shuffled => (of_items, by_bit),
                ByteArrangement::OfItems => (by_bit, of_items),
            };
            let word = (0..8).fold(0_u64, |all, n| all | u64::from(from[first + n * step]) << (8 * n));
            for (n, value) in transposed(word).to_le_bytes().into_iter().enumerate() {
                to[start + n * stride] = value;
            }
        }
    }
    to[items * size..].copy_from_slice(&from[items * size..]);
}

fn transposed(word: u64) -> u64 {
    let swap = |word: u64, shift: u32, mask: u64| {
        let t = (word ^ (word >> shift)) & mask;
        word ^ t ^ (t << shift)
    };
    let word = swap(word, 7, 0x00AA_00AA_00AA_00AA);
    let word = swap(word, 14, 0x0000_CCCC_0000_CCCC);
    swap(word, 28, 0x0000_0000_F0F0_F0F0)
}

/// An LZ77 of literal runs and matches.
fn blosclz(packed: &[u8], out: &mut [u8]) -> Result<usize> {
    const FAR: usize = 8191;
    let mut input = packed.iter().map(|&byte| usize::from(byte));
    let mut next = || input.next().ok_or_else(|| malformed!("blosclz: it is cut off"));
    let mut filled = 0;
    // the first control byte always begins a literal run
    let mut control = next()? & 31;
    loop {
        if control >= 32 {
            let (mut len, mut back) = ((control >> 5) + 2, ((control & 31) << 8) + 1);
            if len == 9 {
                loop {
                    let more = next()?;
                    len += more;
                    if more != 255 {
                        break;
                    }
                }
            }
            let low = next()?;
            back += low;
            if low == 255 && back == FAR + 1 {
                back = (next()? << 8) + next()? + FAR + 1;
            }
            ensure!(back <= filled && len <= out.len() - filled, "blosclz: a match outside of its block");
            for place in filled..filled + len {
                out[place] = out[place - back];
            }
            filled += len;
        } else {
            for _ in 0..=control {
                let byte = next()?;
                *out.get_mut(filled).ok_or_else(|| malformed!("blosclz: more bytes than its block has"))? = byte as u8;
                filled += 1;
            }
        }
        match next() {
            Ok(byte) => control = byte,
            Err(_) => return Ok(filled),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_is_unpacked() {
        let bytes: Vec<u8> = (0..700_001_u32).flat_map(|n| (n / 7).to_le_bytes()).take(700_001).collect();
        for codec in [Compressor::BloscLz, Compressor::Lz4, Compressor::Snappy, Compressor::Zlib, Compressor::Zstd] {
            for shuffle in [Shuffle::None, Shuffle::Bytes, Shuffle::Bits] {
                for (typesize, len, level) in
                    [(1, 10_000, 5), (4, 700_001, 3), (4, 4096, 9), (8, 7, 5), (17, 50_000, 1), (4, 0, 5), (2, 999, 0)]
                {
                    let blosc = Blosc { codec, level, shuffle, typesize };
                    let packed = blosc.pack(&bytes[..len]).unwrap();
                    assert!(packed.len() <= len + HEAD, "{blosc:?}");
                    assert_eq!(blosc.unpack(&packed, len).unwrap(), &bytes[..len], "{blosc:?}");
                }
            }
        }
    }

    #[test]
    fn what_is_not_in_order_is_refused() {
        let blosc = Blosc { codec: Compressor::Zstd, level: 3, shuffle: Shuffle::Bytes, typesize: 4 };
        let packed = blosc.pack(&[7; 10_000]).unwrap();
        for at in 0..packed.len().min(64) {
            for value in [0, 1, 127, 255] {
                let mut broken = packed.clone();
                broken[at] = value;
                assert!(blosc.unpack(&broken, 10_000).map_or(0, |out| out.len()) <= 10_000);
            }
            assert!(blosc.unpack(&packed[..at], 10_000).is_err());
        }
        assert!(blosc.unpack(&packed, 9_999).is_err());
    }
}
