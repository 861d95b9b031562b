//! The types of items, by the numbers of ggml's `enum ggml_type` (`include/ggml.h`, August 2026).

use super::kernels::{
    each, iq1_m, iq1_s, iq2_s, iq2_xs, iq2_xxs, iq3_s, iq3_xxs, iq4_nl, iq4_xs, mxfp4, nvfp4, q1_0, q2_0, q2_k, q3_k,
    q4_0, q4_1, q4_k, q5_0, q5_1, q5_k, q6_k, q8_0, q8_k, tq1_0, tq2_0,
};
use tensorop_kernels::error::{Error, ErrorKind};
use tensorop_kernels::item::dtype::Kind;

/// A type with a known size.
#[derive(Debug)]
pub(crate) struct ItemType {
    number: u32,
    /// As ggml's `ggml_type_name`.
    pub name: &'static str,
    /// Items of a block.
    pub items: usize,
    /// Bytes of a block.
    pub bytes: usize,
    pub rule: BlockRule,
}

#[derive(Debug)]
pub(crate) enum BlockRule {
    /// A dtype, in the byte order of the file.
    Plain(Kind),
    Blocks(Blocks),
    /// Intermediate results of ggml, which it converts to no other type.
    Unspecified,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Blocks {
    /// Makes little-endian float32s of whole blocks.
    pub decode: fn(&[u8], &mut [u8]),
    /// The places of float16s in a block, to be swapped in a big-endian file; `None` if no program is known to write
    /// them. The list is that of `gguf_convert_endian.py`, which comes with the Python package.
    pub halves: Option<&'static [usize]>,
}

macro_rules! blocks {
    ($number:literal $name:literal $items:literal $bytes:literal $decode:ident) => {
        blocks!(@ $number $name $items $bytes $decode None)
    };
    ($number:literal $name:literal $items:literal $bytes:literal $decode:ident $halves:expr) => {
        blocks!(@ $number $name $items $bytes $decode Some(&$halves))
    };
    (@ $number:literal $name:literal $items:literal $bytes:literal $decode:ident $halves:expr) => {
        ItemType {
            number: $number,
            name: $name,
            items: $items,
            bytes: $bytes,
            rule: BlockRule::Blocks(Blocks {
                decode: |blocks, out| each::<$bytes, $items>(blocks, out, $decode),
                halves: $halves,
            }),
        }
    };
}

const fn plain(number: u32, name: &'static str, bytes: usize, kind: Kind) -> ItemType {
    ItemType { number, name, items: 1, bytes, rule: BlockRule::Plain(kind) }
}

static TYPES: &[ItemType] = &[
    plain(0, "f32", 4, Kind::Float32),
    plain(1, "f16", 2, Kind::Float16),
    blocks!(2 "q4_0" 32 18 q4_0 [0]),
    blocks!(3 "q4_1" 32 20 q4_1),
    blocks!(6 "q5_0" 32 22 q5_0),
    blocks!(7 "q5_1" 32 24 q5_1),
    blocks!(8 "q8_0" 32 34 q8_0 [0]),
    ItemType { number: 9, name: "q8_1", items: 32, bytes: 36, rule: BlockRule::Unspecified },
    blocks!(10 "q2_K" 256 84 q2_k),
    blocks!(11 "q3_K" 256 110 q3_k),
    blocks!(12 "q4_K" 256 144 q4_k [0, 2]),
    blocks!(13 "q5_K" 256 176 q5_k),
    blocks!(14 "q6_K" 256 210 q6_k [208]),
    blocks!(15 "q8_K" 256 292 q8_k),
    blocks!(16 "iq2_xxs" 256 66 iq2_xxs),
    blocks!(17 "iq2_xs" 256 74 iq2_xs),
    blocks!(18 "iq3_xxs" 256 98 iq3_xxs),
    blocks!(19 "iq1_s" 256 50 iq1_s),
    blocks!(20 "iq4_nl" 32 18 iq4_nl),
    blocks!(21 "iq3_s" 256 110 iq3_s),
    blocks!(22 "iq2_s" 256 82 iq2_s),
    blocks!(23 "iq4_xs" 256 136 iq4_xs),
    plain(24, "i8", 1, Kind::Int8),
    plain(25, "i16", 2, Kind::Int16),
    plain(26, "i32", 4, Kind::Int32),
    plain(27, "i64", 8, Kind::Int64),
    plain(28, "f64", 8, Kind::Float64),
    blocks!(29 "iq1_m" 256 56 iq1_m),
    plain(30, "bf16", 2, Kind::BFloat16),
    blocks!(34 "tq1_0" 256 54 tq1_0),
    blocks!(35 "tq2_0" 256 66 tq2_0),
    blocks!(39 "mxfp4" 32 17 mxfp4 []),
    blocks!(40 "nvfp4" 64 36 nvfp4 []),
    blocks!(41 "q1_0" 128 18 q1_0),
    blocks!(42 "q2_0" 64 18 q2_0),
];

const REMOVED: &[(u32, &str)] = &[
    (4, "q4_2"),
    (5, "q4_3"),
    (31, "q4_0_4_4"),
    (32, "q4_0_4_8"),
    (33, "q4_0_8_8"),
    (36, "iq4_nl_4_4"),
    (37, "iq4_nl_4_8"),
    (38, "iq4_nl_8_8"),
];

impl ItemType {
    /// # Errors
    /// The type is unknown, or ggml has removed it.
    pub(crate) fn numbered(number: u32) -> Result<&'static Self, Error> {
        TYPES.iter().find(|known| known.number == number).ok_or_else(|| {
            let removed = REMOVED.iter().find(|(removed, _)| *removed == number);
            let what = match removed {
                Some((_, name)) => format!("type {number} ({name}), which ggml has removed, is not read"),
                None => format!("type {number} is not known"),
            };
            Error::from_kind(ErrorKind::Unsupported, what)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_unique_and_ascend() {
        assert!(TYPES.is_sorted_by(|a, b| a.number < b.number));
        for (number, expected) in [(5, "q4_3"), (38, "iq4_nl_8_8"), (156, "type 156 is not known")] {
            let refused = ItemType::numbered(number).expect_err("no type");
            assert_eq!(refused.kind(), ErrorKind::Unsupported);
            assert!(refused.to_string().contains(expected), "{refused}");
        }
    }
}
