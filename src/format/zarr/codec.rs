//! The codecs that turn bytes into bytes, which are the later links in the chain that packs a chunk.

use std::borrow::Cow;
use std::io::{self, Read, Write};

use flate2::Compression;
use flate2::read::{MultiGzDecoder, ZlibDecoder};
use flate2::write::GzEncoder;
use serde_json::{Map, Value};

use super::blosc::{Blosc, Compressor, Shuffle};
use crate::error::{Error, ErrorKind, Result, bail, ensure, malformed};

/// A codec, as it is configured for packing. Unpacking needs no configuration.
#[derive(Debug)]
pub(super) enum Codec {
    Gzip {
        level: u32,
    },
    /// The codec zlib, which version 3 has only as an extension.
    Zlib,
    Zstd {
        level: i32,
        checksum: bool,
    },
    Crc32c,
    Blosc(Blosc),
}

impl Codec {
    /// Reads a codec of version 3, for items of that size in bytes.
    ///
    /// # Errors
    /// A codec that is not known, or has a configuration that it cannot have.
    pub(super) fn new(name: &str, configuration: &Map<String, Value>, itemsize: usize) -> Result<Self> {
        let level = |default: i64| match configuration.get("level") {
            None => Ok(default),
            Some(level) => level.as_i64().ok_or_else(|| malformed!("codec {name}: its level is no integer")),
        };
        Ok(match name {
            "gzip" => Self::Gzip { level: level(5)?.clamp(0, 9) as u32 },
            "zstd" => {
                let checksum = configuration.get("checksum").and_then(Value::as_bool).unwrap_or(false);
                Self::Zstd { level: level(0)?.clamp(-131_072, 22) as i32, checksum }
            }
            "crc32c" => Self::Crc32c,
            "numcodecs.zlib" => Self::Zlib,
            "blosc" => {
                let text = |key: &str| configuration.get(key).and_then(Value::as_str);
                let number = |key: &str| configuration.get(key).and_then(Value::as_u64);
                let codec = Compressor::named(text("cname").unwrap_or("lz4"));
                let codec = codec.ok_or_else(|| malformed!("codec blosc: an unknown cname"))?;
                let typesize = number("typesize").map_or(itemsize, |size| size as usize);
                let shuffle = match text("shuffle") {
                    None | Some("noshuffle") => Shuffle::None,
                    Some("shuffle") => Shuffle::Bytes,
                    Some("bitshuffle") => Shuffle::Bits,
                    Some(_) => bail!("codec blosc: an unknown shuffle"),
                };
                let level = number("clevel").unwrap_or(5).min(9) as u32;
                Self::Blosc(Blosc { codec, level, shuffle, typesize: typesize.clamp(1, 255) })
            }
            _ => return Err(Error::of(ErrorKind::Unsupported, format!("codec {name:?} is not known"))),
        })
    }

    /// Unpacks bytes. More than `most` are an error.
    pub(super) fn unpack(&self, mut packed: Vec<u8>, most: usize) -> Result<Vec<u8>> {
        let broken = |error: io::Error| malformed!("cannot be unpacked: {error}");
        match self {
            Self::Gzip { .. } => read_all(&mut MultiGzDecoder::new(&packed[..]), most),
            Self::Zlib => read_all(&mut ZlibDecoder::new(&packed[..]), most),
            Self::Zstd { .. } => {
                let mut decoder = zstd::stream::read::Decoder::with_buffer(&packed[..]).map_err(broken)?;
                // a frame may ask for no more memory than this to be unpacked
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

    /// Packs bytes. They may be borrowed, so that a chunk need not be copied to be packed.
    pub(super) fn pack(&self, bytes: Cow<'_, [u8]>) -> Result<Vec<u8>> {
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

    /// Returns the most bytes that so many can become when they are packed.
    pub(super) fn most_packed(&self, bytes: usize) -> usize {
        match self {
            Self::Crc32c => bytes.saturating_add(4),
            // what cannot be made smaller grows by a little for each block, and by a head and an end
            Self::Gzip { .. } | Self::Zlib | Self::Zstd { .. } | Self::Blosc(_) => {
                bytes.saturating_add(bytes / 64).saturating_add(1 << 16)
            }
        }
    }
}

/// Reads all that a stream gives. More than `most` bytes are an error, and memory is taken only as they come.
fn read_all(stream: &mut dyn Read, most: usize) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    stream.take(most as u64 + 1).read_to_end(&mut bytes).map_err(|error| malformed!("cannot be unpacked: {error}"))?;
    ensure!(bytes.len() <= most, "more than {most} bytes when it is unpacked");
    Ok(bytes)
}

/// Returns the bytes before the check sum at their end.
///
/// # Errors
/// Fewer bytes than a check sum has, and one that is not theirs.
pub(super) fn without_checksum(bytes: &[u8]) -> Result<&[u8]> {
    let (rest, sum) = bytes.split_last_chunk::<4>().ok_or_else(|| malformed!("no check sum"))?;
    ensure!(crc32c::crc32c(rest) == u32::from_le_bytes(*sum), "does not have its check sum");
    Ok(rest)
}
