//! The parts of a quantised weight as matrices of float32s: rows of codes, scales, zero points or biases.

use std::ops::Range;
use std::sync::LazyLock;

use half::{bf16, f16};

use crate::storage::source::Source;
use tensorop_kernels::error::Result;
use tensorop_kernels::item::dtype::{DType, Kind, Narrow};
use tensorop_kernels::item::float16::{bf16_to_f32, f16_to_f32};

/// The bits of a word, which holds the codes of several items from the low bits on.
const WORD: usize = 32;

/// The places in a word of AWQ of eight consecutive items.
const AWQ_ORDER: [u32; 8] = [0, 4, 1, 5, 2, 6, 3, 7];

/// How the items of a part are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    Float32,
    Float16,
    BFloat16,
    Int8,
    /// One item a byte.
    Narrow(Narrow),
    /// Two items of float4_e2m1fn a byte, the first in the low bits.
    Float4Pairs,
    /// The same along a column: a byte holds items of two rows.
    Float4Columns,
    /// Unsigned integers of some bits along a row.
    Words(CodePacking),
    /// The same along a column: a word holds items of consecutive rows.
    ColumnWords(CodePacking),
    /// Eight unsigned integers of 4 bits in a word, in AWQ's order.
    AwqWords,
}

/// How unsigned integers fill words of 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CodePacking {
    /// At most 8.
    pub bits: usize,
    /// Whether an item may cross from one word into the next.
    pub is_dense: bool,
}

impl CodePacking {
    pub(crate) fn words(self, items: usize) -> usize {
        match self.is_dense {
            true => (items * self.bits).div_ceil(WORD),
            false => items.div_ceil(WORD / self.bits),
        }
    }

    /// The word in which an item begins, and its first bit there.
    fn place(self, item: usize) -> (usize, usize) {
        match self.is_dense {
            true => (item * self.bits / WORD, item * self.bits % WORD),
            false => (item / (WORD / self.bits), item % (WORD / self.bits) * self.bits),
        }
    }

    /// The words of some items.
    fn span(self, items: &Range<usize>) -> Range<usize> {
        if items.is_empty() {
            return 0..0;
        }
        let (last, bit) = self.place(items.end - 1);
        self.place(items.start).0..last + 1 + usize::from(bit + self.bits > WORD)
    }
}

impl Encoding {
    /// The encoding of scales and biases in a dtype.
    pub(crate) fn for_dtype(dtype: &DType) -> Option<Self> {
        Some(match dtype.kind() {
            Kind::Float32 => Self::Float32,
            Kind::Float16 => Self::Float16,
            Kind::BFloat16 => Self::BFloat16,
            Kind::Int8 => Self::Int8,
            Kind::Narrow(narrow) => Self::Narrow(*narrow),
            _ => return None,
        })
    }

    /// The bytes of a stored row of `cols` items.
    pub(crate) fn row_bytes(self, cols: usize) -> usize {
        match self {
            Self::Float32 | Self::ColumnWords(_) => cols * 4,
            Self::Float16 | Self::BFloat16 => cols * 2,
            Self::Int8 | Self::Narrow(_) | Self::Float4Columns => cols,
            Self::Float4Pairs => cols.div_ceil(2),
            Self::Words(packing) => packing.words(cols) * 4,
            Self::AwqWords => cols.div_ceil(8) * 4,
        }
    }

    /// The bytes of some columns in a stored row.
    fn column_bytes(self, cols: &Range<usize>) -> Range<usize> {
        let scaled = |size: usize| cols.start * size..cols.end * size;
        match self {
            Self::Float32 | Self::ColumnWords(_) => scaled(4),
            Self::Float16 | Self::BFloat16 => scaled(2),
            Self::Int8 | Self::Narrow(_) | Self::Float4Columns => cols.clone(),
            Self::Float4Pairs => cols.start / 2..cols.end.div_ceil(2),
            Self::Words(packing) => {
                let words = packing.span(cols);
                words.start * 4..words.end * 4
            }
            Self::AwqWords => cols.start / 8 * 4..cols.end.div_ceil(8) * 4,
        }
    }

    /// The stored rows of some rows.
    fn stored_rows(self, rows: &Range<usize>) -> Range<usize> {
        match self {
            Self::ColumnWords(packing) => packing.span(rows),
            Self::Float4Columns => rows.start / 2..rows.end.div_ceil(2),
            _ => rows.clone(),
        }
    }
}

/// A part in rows of items.
#[derive(Debug)]
pub(crate) struct Matrix {
    source: Source,
    encoding: Encoding,
    cols: usize,
    /// The values of a narrow dtype's items.
    values: Box<[f32; 256]>,
}

/// The stored bytes around the items that are wanted next.
#[derive(Debug, Default)]
pub(crate) struct LoadedBytes {
    bytes: Vec<u8>,
    start: usize,
}

impl Matrix {
    /// The source has as many bytes as its rows of `cols` items need, in C order.
    pub(crate) fn new(source: Source, encoding: Encoding, cols: usize) -> Self {
        let values = match encoding {
            Encoding::Narrow(narrow) => std::array::from_fn(|item| narrow.value(item as u8) as f32),
            _ => [0.0; 256],
        };
        Self { source, encoding, cols, values: values.into() }
    }

    pub(crate) fn source(&self) -> &Source {
        &self.source
    }

    /// The bytes of some rows; of several stored rows all columns.
    fn span(&self, rows: &Range<usize>, cols: &Range<usize>) -> Range<usize> {
        let row_bytes = self.encoding.row_bytes(self.cols);
        let stored = self.encoding.stored_rows(rows);
        match stored.len() {
            0 => 0..0,
            1 => {
                let bytes = self.encoding.column_bytes(cols);
                let start = stored.start * row_bytes;
                start + bytes.start..start + bytes.end
            }
            _ => stored.start * row_bytes..stored.end * row_bytes,
        }
    }

    /// Reads the bytes of some rows and columns.
    pub(crate) fn load(&self, rows: &Range<usize>, cols: &Range<usize>, loaded: &mut LoadedBytes) -> Result<()> {
        let span = self.span(rows, cols);
        loaded.start = span.start;
        loaded.bytes.resize(span.len(), 0);
        self.source.read_at(&mut loaded.bytes, span.start as u64)
    }

    /// Whether the bytes of a row's columns are loaded.
    pub(crate) fn is_loaded(&self, row: usize, cols: &Range<usize>, loaded: &LoadedBytes) -> bool {
        let span = self.span(&(row..row + 1), cols);
        loaded.start <= span.start && span.end <= loaded.start + loaded.bytes.len()
    }

    /// Decodes loaded items of a row.
    pub(crate) fn decode(&self, row: usize, cols: Range<usize>, loaded: &LoadedBytes, out: &mut [f32]) {
        let row_bytes = self.encoding.row_bytes(self.cols);
        let from = |stored_row: usize, byte: usize| &loaded.bytes[stored_row * row_bytes + byte - loaded.start..];
        let bytes = || from(row, self.encoding.column_bytes(&cols).start);
        match self.encoding {
            Encoding::Float32 => decode_each(bytes(), out, f32::from_le_bytes),
            Encoding::Float16 => decode_each(bytes(), out, |item| f16_to_f32(f16::from_le_bytes(item))),
            Encoding::BFloat16 => decode_each(bytes(), out, |item| bf16_to_f32(bf16::from_le_bytes(item))),
            Encoding::Int8 => decode_each(bytes(), out, |[item]: [u8; 1]| f32::from(item as i8)),
            Encoding::Narrow(_) => decode_each(bytes(), out, |[item]: [u8; 1]| self.values[usize::from(item)]),
            Encoding::Float4Pairs => decode_pairs(bytes(), cols.start % 2 == 1, out),
            Encoding::Float4Columns => {
                let low = from(row / 2, cols.start);
                decode_each(low, out, |[byte]: [u8; 1]| FLOAT4_PAIRS[usize::from(byte)][row % 2]);
            }
            Encoding::Words(packing) => decode_words(packing, bytes(), cols, out),
            Encoding::ColumnWords(CodePacking { bits, is_dense }) => {
                let (word, shift) = CodePacking { bits, is_dense }.place(row);
                let mask = (1_u32 << bits) - 1;
                let low = from(word, cols.start * 4);
                decode_each(low, out, |item| ((u32::from_le_bytes(item) >> shift) & mask) as f32);
                if shift + bits > WORD {
                    let (low, high) = (low.chunks_exact(4), from(word + 1, cols.start * 4).chunks_exact(4));
                    for ((out, low), high) in out.iter_mut().zip(low).zip(high) {
                        let both = u64::from(word_of(low)) | u64::from(word_of(high)) << WORD;
                        *out = ((both >> shift) as u32 & mask) as f32;
                    }
                }
            }
            Encoding::AwqWords => {
                for (item, out) in out.iter_mut().enumerate() {
                    let col = cols.start + item;
                    let word = word_of(&from(row, col / 8 * 4)[..4]);
                    *out = (word >> (AWQ_ORDER[col % 8] * 4) & 15) as f32;
                }
            }
        }
    }
}

fn word_of(bytes: &[u8]) -> u32 {
    u32::from_le_bytes(bytes.try_into().expect("a word has 4 bytes"))
}

fn decode_each<const N: usize>(bytes: &[u8], out: &mut [f32], decode: impl Fn([u8; N]) -> f32) {
    let (items, _) = bytes.as_chunks::<N>();
    out.iter_mut().zip(items).for_each(|(out, item)| *out = decode(*item));
}

fn decode_pairs(bytes: &[u8], skips_one: bool, out: &mut [f32]) {
    let (mut bytes, mut out) = (bytes, out);
    if skips_one && let ([first, rest @ ..], [at, left @ ..]) = (bytes, &mut *out) {
        *at = FLOAT4_PAIRS[usize::from(*first)][1];
        return decode_pairs(rest, false, left);
    }
    let whole = out.len() / 2;
    let (pairs, last) = out.split_at_mut(whole * 2);
    let (head, tail) = bytes.split_at(whole);
    pairs.as_chunks_mut::<2>().0.iter_mut().zip(head).for_each(|(pair, byte)| *pair = FLOAT4_PAIRS[usize::from(*byte)]);
    (bytes, out) = (tail, last);
    if let ([at], [byte, ..]) = (out, bytes) {
        *at = FLOAT4_PAIRS[usize::from(*byte)][0];
    }
}

/// `bytes` begin with the word of the first column.
fn decode_words(packing: CodePacking, bytes: &[u8], cols: Range<usize>, out: &mut [f32]) {
    let CodePacking { bits, .. } = packing;
    let mask = (1_u32 << bits) - 1;
    let first = packing.place(cols.start).0;
    let (words, _) = bytes.as_chunks::<4>();
    if WORD.is_multiple_of(bits) && cols.start.is_multiple_of(WORD / bits) {
        for (out, word) in out.chunks_mut(WORD / bits).zip(words) {
            let word = u32::from_le_bytes(*word);
            out.iter_mut().enumerate().for_each(|(n, out)| *out = (word >> (n * bits) & mask) as f32);
        }
        return;
    }
    for (col, out) in cols.zip(out) {
        let (word, shift) = packing.place(col);
        let low = u64::from(u32::from_le_bytes(words[word - first]));
        let high = if shift + bits > WORD { u64::from(u32::from_le_bytes(words[word - first + 1])) } else { 0 };
        *out = (((low | high << WORD) >> shift) as u32 & mask) as f32;
    }
}

static FLOAT4_PAIRS: LazyLock<[[f32; 2]; 256]> = LazyLock::new(|| {
    let item = |item| Narrow::Float4E2M1FN.value(item) as f32;
    std::array::from_fn(|byte| [item(byte as u8 & 15), item(byte as u8 >> 4)])
});
