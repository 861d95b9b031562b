//! The codecs for the chunks of an output that users can choose.

use std::ops::RangeInclusive;
use std::str::FromStr;

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
