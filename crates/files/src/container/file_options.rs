//! The options of an output: asked for, inherited from inputs, and resolved for chunks.

use std::ops::RangeInclusive;
use std::str::FromStr;
use std::sync::Arc;

use super::chunk_sides::{SidesRule, TensorSides};
use crate::storage::chunked::ChunkStyle;
use crate::storage::source::Metadata;
use crate::storage::unread::UnreadArray;
use tensorop_kernels::error::{Error, ErrorKind, Result, Subject};

/// The capabilities of a format: a constant of its row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// Items may be big-endian.
    pub byte_orders: bool,
    /// Items may be in Fortran order.
    pub fortran_order: bool,
    /// A file can hold metadata.
    pub metadata: bool,
    /// Items can be compressed on request.
    pub compression: bool,
    /// Tensors are cut into chunks.
    pub chunks: bool,
    /// Items of fewer than 8 bits share bytes on request.
    pub packing: bool,
}

impl Capabilities {
    /// The capabilities of a plain format: little-endian items in C order.
    pub const NONE: Self = Self {
        byte_orders: false,
        fortran_order: false,
        metadata: false,
        compression: false,
        chunks: false,
        packing: false,
    };
}

/// The options of a user about the content of a file beside its tensors, and about how it stores them.
#[derive(Clone, Debug, Default)]
pub struct FileOptions {
    /// Metadata, which replaces inherited metadata of the same keys.
    pub metadata: Metadata,
    /// Whether inherited metadata is left out.
    pub drops_metadata: bool,
    /// Whether items are compressed.
    pub compress: bool,
    /// Whether items of fewer than 8 bits share bytes.
    pub packed: bool,
    /// Whether numbers are written with the highest byte first; `None` keeps the byte order of each tensor.
    pub big_endian: Option<bool>,
    /// The sides of chunks, and of shards.
    pub chunks: Vec<SidesRule>,
    pub shards: Vec<SidesRule>,
    /// The codec of chunks, in the text of [`ChunkCodec`].
    pub codec: Option<String>,
    /// The names of the axes.
    pub dimension_names: Option<Vec<String>>,
    /// Whether chunks are stored that hold only the fill value.
    pub stores_empty: bool,
    /// Whether a single tensor with a name becomes a member of a group instead of the whole store.
    pub is_group: bool,
}

impl FileOptions {
    pub(crate) fn metadata_with(&self, inherited: &Inherited) -> Metadata {
        let mut all = if self.drops_metadata { Metadata::default() } else { inherited.metadata.clone() };
        all.extend(self.metadata.clone());
        all
    }

    /// Checks that a format with these capabilities, called `name`, has a place for every option. The subject of an
    /// error is its argument.
    pub(crate) fn check(&self, name: &str, can: Capabilities) -> Result<()> {
        let (no_place, no_chunks) = ("has no place for it, expected a .safetensors", "has no chunks, expected a .zarr");
        let rows = [
            ("metadata", can.metadata || self.metadata.is_empty(), no_place),
            ("compress", can.compression || !self.compress, "is not compressed, expected a .npz"),
            ("packed", can.packing || !self.packed, "stores items in one way only, expected a .bin"),
            ("chunks", can.chunks || self.chunks.is_empty(), no_chunks),
            ("shards", can.chunks || self.shards.is_empty(), no_chunks),
            ("codec", can.chunks || self.codec.is_none(), no_chunks),
            ("dims", can.chunks || self.dimension_names.is_none(), "has no names of axes, expected a .zarr"),
            ("group", can.chunks || !self.is_group, "has no groups, expected a .zarr"),
            ("store-empty", can.chunks || !self.stores_empty, no_chunks),
        ];
        rows.into_iter().find(|(_, fits, _)| !fits).map_or(Ok(()), |(argument, _, refused)| {
            let message = format!("{name} {refused} as output");
            Err(Error::new(Subject::Argument(argument), message).with_kind(ErrorKind::Unsupported))
        })
    }
}

/// The content that a file inherits from the files of its inputs, beside the tensors.
#[derive(Clone, Debug, Default)]
pub struct Inherited {
    pub metadata: Metadata,
    /// The arrays of stores that are copied unread.
    pub copies: Vec<NamedCopy>,
    /// Whether a single tensor with a name becomes a member of a group, as for [`FileOptions::is_group`].
    pub is_group: bool,
}

/// The chunks of the tensors of a store, resolved from the options and from the chunks of the data.
#[derive(Clone, Debug, Default)]
pub struct ResolvedChunks {
    /// The sides that the options give to each tensor.
    pub sides: Vec<TensorSides>,
    /// The chunk style of each tensor's data, with a fill value of the output's dtype or of no bytes; `None` if it has no
    /// chunks.
    pub styles: Vec<Option<Arc<ChunkStyle>>>,
}

/// The options and inputs of a [`Layout`](super::interface::Layout).
#[derive(Clone, Copy, Debug)]
pub struct LayoutRequest<'a> {
    pub options: &'a FileOptions,
    pub inherited: &'a Inherited,
    pub chunks: &'a ResolvedChunks,
}

/// An array that is copied unread, and its name in the output.
#[derive(Clone, Debug)]
pub struct NamedCopy {
    pub name: String,
    pub array: UnreadArray,
}

/// A codec: `none`, `gzip[:L]`, `zstd[:L]` or `blosc[:C[:L]]` with a compressor C and a level L.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChunkCodec {
    None,
    Gzip { level: i32 },
    Zstd { level: i32 },
    Blosc { compressor: &'static str, level: i32 },
}

const COMPRESSORS: [&str; 4] = ["lz4", "snappy", "zlib", "zstd"];

impl FromStr for ChunkCodec {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts: Vec<&str> = text.split(':').collect();
        let level = |text: &str, levels: RangeInclusive<i32>| {
            let level = text.parse().ok().filter(|level| levels.contains(level));
            level.ok_or_else(|| format!("its level is {} to {}", levels.start(), levels.end()))
        };
        let compressor = |name: &str| {
            let found = COMPRESSORS.iter().find(|own| **own == name);
            found.copied().ok_or_else(|| format!("blosc packs with {}", COMPRESSORS.join(", ")))
        };
        match parts[..] {
            ["none"] => Ok(Self::None),
            ["gzip"] => Ok(Self::Gzip { level: 5 }),
            ["gzip", text] => Ok(Self::Gzip { level: level(text, 0..=9)? }),
            ["zstd"] => Ok(Self::Zstd { level: 0 }),
            ["zstd", text] => Ok(Self::Zstd { level: level(text, -131_072..=22)? }),
            ["blosc"] => Ok(Self::Blosc { compressor: "zstd", level: 5 }),
            ["blosc", name] => Ok(Self::Blosc { compressor: compressor(name)?, level: 5 }),
            ["blosc", name, text] => Ok(Self::Blosc { compressor: compressor(name)?, level: level(text, 0..=9)? }),
            [name @ ("lz4" | "snappy" | "zlib"), ..] => Err(format!("for {name} in Blosc write blosc:{text}")),
            _ => Err("expected none, gzip[:L], zstd[:L] or blosc[:C[:L]]".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codecs_and_levels() {
        let rows = [
            ("none", Ok(ChunkCodec::None)),
            ("gzip", Ok(ChunkCodec::Gzip { level: 5 })),
            ("zstd:3", Ok(ChunkCodec::Zstd { level: 3 })),
            ("zstd:-7", Ok(ChunkCodec::Zstd { level: -7 })),
            ("blosc", Ok(ChunkCodec::Blosc { compressor: "zstd", level: 5 })),
            ("blosc:lz4", Ok(ChunkCodec::Blosc { compressor: "lz4", level: 5 })),
            ("blosc:zstd:9", Ok(ChunkCodec::Blosc { compressor: "zstd", level: 9 })),
            ("gzip:10", Err("its level is 0 to 9")),
            ("zstd:23", Err("its level is -131072 to 22")),
            ("blosc:zstd:10", Err("its level is 0 to 9")),
            ("blosc:5", Err("blosc packs with lz4, snappy, zlib, zstd")),
            ("none:1", Err("expected none, gzip[:L], zstd[:L] or blosc[:C[:L]]")),
            ("lz4", Err("for lz4 in Blosc write blosc:lz4")),
            ("zlib:3", Err("for zlib in Blosc write blosc:zlib:3")),
            ("zstd:3:4", Err("expected none, gzip[:L], zstd[:L] or blosc[:C[:L]]")),
            ("lzma", Err("expected none, gzip[:L], zstd[:L] or blosc[:C[:L]]")),
        ];
        for (text, expected) in rows {
            assert_eq!(text.parse::<ChunkCodec>(), expected.map_err(str::to_owned), "{text}");
        }
    }
}
