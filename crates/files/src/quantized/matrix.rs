//! The parts of a quantised weight as matrices of float32s: rows of codes, scales, zero points or biases.

use std::ops::Range;
use std::sync::Arc;

use half::{bf16, f16};

use crate::storage::read_at::{MemoryBytes, ReadAt};
use crate::storage::source::Source;
use tensorop_kernels::error::Result;
use tensorop_kernels::item::dtype::{DType, Kind, Narrow};
use tensorop_kernels::item::float16::{bf16_to_f32, f16_to_f32};
use tensorop_kernels::item::meta::Meta;

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
    UInt8,
    Int16,
    UInt16,
    Int32,
    /// Codes of 2, 4 or 8 bits along a row, each the number of a value.
    Codes(CodeBytes),
    /// Two codes of 4 bits a byte along a column, the first in the low bits: a byte holds items of two rows.
    CodeColumns,
    /// A code a byte, in tiles of 128 rows and 4 columns with rows 32 apart side by side, as cuBLAS reads scales.
    Tiles,
    /// Codes in planes: a byte or a word holds items of rows that are `rows` apart.
    Planes(CodePlanes),
    /// Unsigned integers of some bits along a row.
    Words(CodePacking),
    /// The same along a column: a word holds items of consecutive rows.
    ColumnWords(CodePacking),
    /// Eight unsigned integers of 4 bits in a word, in AWQ's order.
    AwqWords,
}

/// How codes share a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CodeBytes {
    /// 2, 4 or 8.
    pub bits: usize,
    pub high_first: bool,
}

impl CodeBytes {
    fn each(self) -> usize {
        8 / self.bits
    }

    /// The code at a place of a byte.
    fn code(self, byte: usize, place: usize) -> usize {
        let place = if self.high_first { self.each() - 1 - place } else { place };
        byte >> (place * self.bits) & ((1 << self.bits) - 1)
    }
}

/// How codes of several planes of rows share a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CodePlanes {
    /// The rows of a plane, which are those that are stored.
    pub rows: usize,
    /// At most 8.
    pub bits: usize,
    pub planes: usize,
    /// The bytes of a word: 1 or 4.
    pub word: usize,
    pub high_first: bool,
}

impl CodePlanes {
    fn shift(self, row: usize) -> usize {
        let plane = row / self.rows;
        self.bits * if self.high_first { (self.planes - 1).saturating_sub(plane) } else { plane }
    }
}

/// The rows and columns of a tile of scales, and the rows of its first column of bytes.
const TILE: [usize; 3] = [128, 4, 32];

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

    /// The word and the bit where an item begins.
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
    /// A code a byte.
    pub(crate) const BYTES: Self = Self::Codes(CodeBytes { bits: 8, high_first: false });
    /// Two codes a byte.
    pub(crate) const LOW_FIRST: Self = Self::Codes(CodeBytes { bits: 4, high_first: false });
    pub(crate) const HIGH_FIRST: Self = Self::Codes(CodeBytes { bits: 4, high_first: true });

    /// The encoding of scales and biases in a dtype.
    pub(crate) fn for_dtype(dtype: &DType) -> Option<Self> {
        Some(match dtype.kind() {
            Kind::Float32 => Self::Float32,
            Kind::Float16 => Self::Float16,
            Kind::BFloat16 => Self::BFloat16,
            Kind::Int8 => Self::Int8,
            Kind::Int16 => Self::Int16,
            Kind::UInt16 => Self::UInt16,
            Kind::Int32 => Self::Int32,
            Kind::UInt8 | Kind::Narrow(Narrow::UInt4 | Narrow::UInt2) => Self::UInt8,
            Kind::Narrow(_) => Self::BYTES,
            _ => return None,
        })
    }

    /// The bytes of a stored row of `cols` items.
    pub(crate) fn row_bytes(self, cols: usize) -> usize {
        match self {
            Self::Float32 | Self::Int32 | Self::ColumnWords(_) => cols * 4,
            Self::Float16 | Self::BFloat16 | Self::Int16 | Self::UInt16 => cols * 2,
            Self::Int8 | Self::UInt8 | Self::CodeColumns => cols,
            Self::Codes(packing) => cols.div_ceil(packing.each()),
            Self::Tiles => cols.div_ceil(TILE[1]) * TILE[0] * TILE[1],
            Self::Planes(planes) => cols * planes.word,
            Self::Words(packing) => packing.words(cols) * 4,
            Self::AwqWords => cols.div_ceil(8) * 4,
        }
    }

    /// The bytes of some columns in a stored row.
    fn column_bytes(self, cols: &Range<usize>) -> Range<usize> {
        let scaled = |size: usize| cols.start * size..cols.end * size;
        match self {
            Self::Float32 | Self::Int32 | Self::ColumnWords(_) => scaled(4),
            Self::Float16 | Self::BFloat16 | Self::Int16 | Self::UInt16 => scaled(2),
            Self::Int8 | Self::UInt8 | Self::CodeColumns => cols.clone(),
            Self::Codes(packing) => cols.start / packing.each()..cols.end.div_ceil(packing.each()),
            Self::Tiles => cols.start / TILE[1] * TILE[0] * TILE[1]..self.row_bytes(cols.end),
            Self::Planes(planes) => scaled(planes.word),
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
            Self::CodeColumns => rows.start / 2..rows.end.div_ceil(2),
            Self::Tiles => rows.start / TILE[0]..rows.end.div_ceil(TILE[0]),
            // all rows are in one plane
            Self::Planes(planes) => {
                let start = rows.start % planes.rows;
                start..start + rows.len()
            }
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
    /// The values of the codes of each byte, or of each code of other encodings; none if codes are the values.
    values: Vec<f32>,
}

/// The stored bytes around the next items.
#[derive(Debug, Default)]
pub(crate) struct LoadedBytes {
    bytes: Vec<u8>,
    start: usize,
}

impl Matrix {
    /// The source has as many bytes as its rows of `cols` items need, in C order.
    pub(crate) fn new(source: Source, encoding: Encoding, cols: usize) -> Self {
        match source.dtype().kind() {
            Kind::Narrow(narrow) => {
                let narrow = *narrow;
                Self::coded(source, encoding, cols, &|code| narrow.value(code as u8) as f32)
            }
            _ if matches!(encoding, Encoding::Words(_)) => Self { source, encoding, cols, values: Vec::new() },
            _ => Self::coded(source, encoding, cols, &|code| code as f32),
        }
    }

    /// A matrix of codes with values of their own.
    pub(crate) fn coded(source: Source, encoding: Encoding, cols: usize, value: &dyn Fn(usize) -> f32) -> Self {
        let of_pairs = CodeBytes { bits: 4, high_first: false };
        let of_bytes = |packing: CodeBytes| {
            let all = (0..256).flat_map(move |byte| (0..packing.each()).map(move |place| packing.code(byte, place)));
            all.map(value).collect()
        };
        let values = match encoding {
            Encoding::Codes(packing) => of_bytes(packing),
            Encoding::CodeColumns => of_bytes(of_pairs),
            Encoding::Tiles | Encoding::Words(_) => (0..256).map(value).collect(),
            _ => Vec::new(),
        };
        Self { source, encoding, cols, values }
    }

    /// A number for all items.
    pub(crate) fn constant(number: f32) -> Result<Self> {
        let bytes: Arc<dyn ReadAt> = Arc::new(MemoryBytes::new(number.to_le_bytes().to_vec()));
        let source = Source::stored(Meta::c_order(Kind::Float32.into(), vec![1]), bytes, 0, String::new())?;
        Ok(Self::new(source, Encoding::Float32, 1))
    }

    /// The first item.
    pub(crate) fn number(&self) -> Result<f32> {
        let (mut loaded, mut number) = (LoadedBytes::default(), [0.0]);
        self.load(&(0..1), &(0..1), &mut loaded)?;
        self.decode(0, 0..1, &loaded, &mut number);
        Ok(number[0])
    }

    /// The number of rows from `row` on with consecutive bytes.
    pub(crate) fn rows_in_order(&self, row: usize) -> usize {
        match self.encoding {
            Encoding::Planes(planes) => planes.rows - row % planes.rows,
            _ => usize::MAX,
        }
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
            Encoding::UInt8 => decode_each(bytes(), out, |[item]: [u8; 1]| f32::from(item)),
            Encoding::Int16 => decode_each(bytes(), out, |item| f32::from(i16::from_le_bytes(item))),
            Encoding::UInt16 => decode_each(bytes(), out, |item| f32::from(u16::from_le_bytes(item))),
            Encoding::Int32 => decode_each(bytes(), out, |item| i32::from_le_bytes(item) as f32),
            Encoding::Codes(packing) => match packing.each() {
                1 => decode_codes::<1>(bytes(), &self.values, 0, out),
                2 => decode_codes::<2>(bytes(), &self.values, cols.start % 2, out),
                _ => decode_codes::<4>(bytes(), &self.values, cols.start % 4, out),
            },
            Encoding::CodeColumns => {
                let low = from(row / 2, cols.start);
                decode_each(low, out, |[byte]: [u8; 1]| self.values[usize::from(byte) * 2 + row % 2]);
            }
            Encoding::Tiles => {
                let [rows, wide, high] = TILE;
                let place = row % high * rows / 8 + row % rows / high * wide;
                for (col, out) in cols.zip(out) {
                    let tile = from(row / rows, col / wide * rows * wide);
                    *out = self.values[usize::from(tile[place + col % wide])];
                }
            }
            Encoding::Planes(planes) => {
                let (shift, mask) = (planes.shift(row), (1_u32 << planes.bits) - 1);
                let bytes = from(row % planes.rows, cols.start * planes.word);
                match planes.word {
                    1 => decode_each(bytes, out, |[byte]: [u8; 1]| f32::from(byte >> shift & mask as u8)),
                    _ => decode_each(bytes, out, |word| (u32::from_le_bytes(word) >> shift & mask) as f32),
                }
            }
            Encoding::Words(packing) if self.values.is_empty() => {
                decode_words(packing, bytes(), cols, out, |code| code as f32);
            }
            Encoding::Words(packing) => {
                let values: &[f32; 256] = self.values[..].try_into().expect("a table has the values of 256 codes");
                decode_words(packing, bytes(), cols, out, |code| values[usize::from(code as u8)]);
            }
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

/// `values` has those of each byte; the first byte begins with codes that are not wanted.
fn decode_codes<const EACH: usize>(bytes: &[u8], values: &[f32], skipped: usize, out: &mut [f32]) {
    let (values, _) = values.as_chunks::<EACH>();
    let values: &[[f32; EACH]; 256] = values.try_into().expect("a table has the values of 256 bytes");
    let (mut bytes, mut out) = (bytes, out);
    if skipped > 0
        && let [byte, rest @ ..] = bytes
    {
        let (head, others) = out.split_at_mut((EACH - skipped).min(out.len()));
        head.copy_from_slice(&values[usize::from(*byte)][skipped..skipped + head.len()]);
        (bytes, out) = (rest, others);
    }
    let (whole, last) = out.as_chunks_mut::<EACH>();
    whole.iter_mut().zip(bytes).for_each(|(out, byte)| *out = values[usize::from(*byte)]);
    if let Some(byte) = bytes.get(whole.len()) {
        last.copy_from_slice(&values[usize::from(*byte)][..last.len()]);
    }
}

/// `bytes` begin with the word of the first column.
fn decode_words(packing: CodePacking, bytes: &[u8], cols: Range<usize>, out: &mut [f32], value: impl Fn(u32) -> f32) {
    let CodePacking { bits, .. } = packing;
    let mask = (1_u32 << bits) - 1;
    let first = packing.place(cols.start).0;
    let (words, _) = bytes.as_chunks::<4>();
    if WORD.is_multiple_of(bits) && cols.start.is_multiple_of(WORD / bits) {
        for (out, word) in out.chunks_mut(WORD / bits).zip(words) {
            let word = u32::from_le_bytes(*word);
            out.iter_mut().enumerate().for_each(|(n, out)| *out = value(word >> (n * bits) & mask));
        }
        return;
    }
    if packing.is_dense && cols.start.is_multiple_of(8) {
        // eight codes have as many bytes as a code has bits
        let start = cols.start * bits / 8 - first * 4;
        for (group, out) in out.chunks_mut(8).enumerate() {
            let bytes = &bytes[start + group * bits..];
            let word = match bytes.first_chunk::<8>() {
                Some(word) => u64::from_le_bytes(*word),
                None => bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)),
            };
            out.iter_mut().enumerate().for_each(|(n, out)| *out = value((word >> (n * bits)) as u32 & mask));
        }
        return;
    }
    for (col, out) in cols.zip(out) {
        let (word, shift) = packing.place(col);
        let low = u64::from(u32::from_le_bytes(words[word - first]));
        let high = if shift + bits > WORD { u64::from(u32::from_le_bytes(words[word - first + 1])) } else { 0 };
        *out = value(((low | high << WORD) >> shift) as u32 & mask);
    }
}
