//! The items of a block of each type, as float32: the formulas of `dequantize` in the Python package gguf 0.19.0, with a
//! rounding for each operation. C compilers may round a product and a sum once.
//!
//! Fields and their order are those of the structs in ggml's `src/ggml-common.h`. The first field of most is `d`, a
//! float16 that scales the block.

use std::array;

use half::f16;

use tensorop_kernels::item::float16::f16_to_f32;

/// The items of a block of the types with long blocks.
pub(crate) const LONG: usize = 256;

pub(crate) fn half_at(block: &[u8], at: usize) -> f32 {
    f16_to_f32(f16::from_le_bytes([block[at], block[at + 1]]))
}

/// Calls `decode` for each block.
pub(crate) fn each<const BYTES: usize, const ITEMS: usize>(
    blocks: &[u8],
    out: &mut [u8],
    decode: impl Fn(&[u8; BYTES], &mut [f32; ITEMS]),
) {
    let mut items = [0.0; ITEMS];
    let blocks = blocks.as_chunks::<BYTES>().0;
    for (block, out) in blocks.iter().zip(out.chunks_exact_mut(4 * ITEMS)) {
        decode(block, &mut items);
        out.as_chunks_mut::<4>().0.iter_mut().zip(&items).for_each(|(out, item)| *out = item.to_le_bytes());
    }
}

/// Sets each item by its number, in a loop that becomes vector instructions. `array::from_fn` would be a call for each item: the
/// standard library does not mark it to be inlined.
#[inline]
pub(crate) fn set<const ITEMS: usize>(out: &mut [f32; ITEMS], item: impl Fn(usize) -> f32) {
    out.iter_mut().enumerate().for_each(|(n, out)| *out = item(n));
}

/// Passes the nibbles of bytes: all low ones, then all high ones. Two loops become vector instructions, and one does not.
fn split_nibbles(bytes: &[u8], out: &mut [f32], item: impl Fn(usize, u8) -> f32) {
    let (low, high) = out.split_at_mut(bytes.len());
    low.iter_mut().zip(bytes).enumerate().for_each(|(n, (out, byte))| *out = item(n, byte & 15));
    high.iter_mut().zip(bytes).enumerate().for_each(|(n, (out, byte))| *out = item(n + bytes.len(), byte >> 4));
}

pub(crate) fn q1_0(block: &[u8; 18], out: &mut [f32; 128]) {
    let d = half_at(block, 0);
    for (byte, out) in block[2..].iter().zip(out.as_chunks_mut::<8>().0) {
        *out = array::from_fn(|n| if byte >> n & 1 == 1 { d } else { -d });
    }
}

pub(crate) fn q2_0(block: &[u8; 18], out: &mut [f32; 64]) {
    let d = half_at(block, 0);
    for (byte, out) in block[2..].iter().zip(out.as_chunks_mut::<4>().0) {
        set(out, |n| d * f32::from((byte >> (2 * n) & 3) as i8 - 1));
    }
}

pub(crate) fn q4_0(block: &[u8; 18], out: &mut [f32; 32]) {
    let d = half_at(block, 0);
    split_nibbles(&block[2..], out, |_, q| d * f32::from(q as i8 - 8));
}

pub(crate) fn q4_1(block: &[u8; 20], out: &mut [f32; 32]) {
    let (d, m) = (half_at(block, 0), half_at(block, 2));
    split_nibbles(&block[4..], out, |_, q| d * f32::from(q) + m);
}

/// The fifth bits of 32 items.
fn fifth(block: &[u8], at: usize) -> impl Fn(usize) -> u8 {
    let bits = u32::from_le_bytes(array::from_fn(|n| block[at + n]));
    move |n| ((bits >> n) as u8 & 1) << 4
}

pub(crate) fn q5_0(block: &[u8; 22], out: &mut [f32; 32]) {
    let (d, high) = (half_at(block, 0), fifth(block, 2));
    split_nibbles(&block[6..], out, |n, q| d * f32::from((q | high(n)) as i8 - 16));
}

pub(crate) fn q5_1(block: &[u8; 24], out: &mut [f32; 32]) {
    let (d, m, high) = (half_at(block, 0), half_at(block, 2), fifth(block, 4));
    split_nibbles(&block[8..], out, |n, q| d * f32::from(q | high(n)) + m);
}

pub(crate) fn q8_0(block: &[u8; 34], out: &mut [f32; 32]) {
    let d = half_at(block, 0);
    set(out, |n| f32::from(block[2 + n] as i8) * d);
}

/// Here `d` is a float32; sums of items follow these.
pub(crate) fn q8_k(block: &[u8; 292], out: &mut [f32; LONG]) {
    let d = f32::from_le_bytes(array::from_fn(|n| block[n]));
    set(out, |n| d * f32::from(block[4 + n] as i8));
}

/// The bits of the 16 items of a group among codes of 2 bits: a byte has those of every 32nd item, 4 in all.
fn two_bits(codes: &[u8], group: usize) -> impl Fn(usize) -> u8 {
    let bytes: &[u8; 16] = codes[group / 8 * 32 + group % 2 * 16..].first_chunk().expect("16 bytes for each group");
    let shift = group / 2 % 4 * 2;
    move |n| bytes[n] >> shift & 3
}

pub(crate) fn q2_k(block: &[u8; 84], out: &mut [f32; LONG]) {
    let (scales, codes) = (&block[..16], &block[16..80]);
    let (d, dmin) = (half_at(block, 80), half_at(block, 82));
    for (group, out) in out.as_chunks_mut::<16>().0.iter_mut().enumerate() {
        let (scale, min) = (d * f32::from(scales[group] & 15), dmin * f32::from(scales[group] >> 4));
        let codes = two_bits(codes, group);
        set(out, |n| scale * f32::from(codes(n)) - min);
    }
}

/// A third bit that is 0 subtracts 4.
pub(crate) fn q3_k(block: &[u8; 110], out: &mut [f32; LONG]) {
    let (mask, codes, scales) = (&block[..32], &block[32..96], &block[96..108]);
    let d = half_at(block, 108);
    for (group, out) in out.as_chunks_mut::<16>().0.iter_mut().enumerate() {
        let low = scales[group % 8] >> (group / 8 * 4) & 15;
        let high = scales[8 + group % 4] >> (group / 4 * 2) & 3;
        let scale = d * f32::from((low | high << 4) as i8 - 32);
        let (codes, mask) = (two_bits(codes, group), &mask[group % 2 * 16..][..16]);
        set(out, |n| scale * f32::from((codes(n) | (mask[n] >> (group / 2) & 1) << 2) as i8 - 4));
    }
}

/// The scale and the minimum of a group of 32 items, of 6 bits each: those of groups 4 to 7 have their high bits beside
/// those of groups 0 to 3.
fn scale_and_min(scales: &[u8], group: usize) -> (f32, f32) {
    let (scale, min) = match group {
        0..4 => (scales[group] & 63, scales[group + 4] & 63),
        _ => {
            let low = scales[group + 4];
            (low & 15 | scales[group - 4] >> 2 & 48, low >> 4 | scales[group] >> 2 & 48)
        }
    };
    (scale.into(), min.into())
}

pub(crate) fn q4_k(block: &[u8; 144], out: &mut [f32; LONG]) {
    let (scales, codes) = (&block[4..16], &block[16..]);
    let (d, dmin) = (half_at(block, 0), half_at(block, 2));
    for (group, out) in out.as_chunks_mut::<32>().0.iter_mut().enumerate() {
        let (scale, min) = scale_and_min(scales, group);
        let (scale, min) = (d * scale, dmin * min);
        let (codes, shift) = (&codes[group / 2 * 32..][..32], group % 2 * 4);
        set(out, |n| scale * f32::from(codes[n] >> shift & 15) - min);
    }
}

pub(crate) fn q5_k(block: &[u8; 176], out: &mut [f32; LONG]) {
    let (scales, fifth, codes) = (&block[4..16], &block[16..48], &block[48..]);
    let (d, dmin) = (half_at(block, 0), half_at(block, 2));
    for (group, out) in out.as_chunks_mut::<32>().0.iter_mut().enumerate() {
        let (scale, min) = scale_and_min(scales, group);
        let (scale, min) = (d * scale, dmin * min);
        let (codes, shift) = (&codes[group / 2 * 32..][..32], group % 2 * 4);
        set(out, |n| {
            let q = codes[n] >> shift & 15 | (fifth[n] >> group & 1) << 4;
            scale * f32::from(q) - min
        });
    }
}

pub(crate) fn q6_k(block: &[u8; 210], out: &mut [f32; LONG]) {
    let (low, high, scales) = (&block[..128], &block[128..192], &block[192..208]);
    let d = half_at(block, 208);
    for (group, out) in out.as_chunks_mut::<16>().0.iter_mut().enumerate() {
        let scale = d * f32::from(scales[group] as i8);
        let (low, shift) = (&low[group / 8 * 64 + group % 4 * 16..][..16], group / 4 % 2 * 4);
        let high = two_bits(high, group);
        set(out, |n| scale * f32::from((low[n] >> shift & 15 | high(n) << 4) as i8 - 32));
    }
}

/// A byte is a fraction of 256 with 5 digits of base 3; the digit after the point is the integer part of three times it.
fn trits(bytes: &[u8], d: f32, out: &mut [f32]) {
    for (out, power) in out.chunks_exact_mut(bytes.len()).zip([1_u8, 3, 9, 27, 81]) {
        let trit = |byte: u8| ((u16::from(byte.wrapping_mul(power)) * 3) >> 8) as i8 - 1;
        out.iter_mut().zip(bytes).for_each(|(out, byte)| *out = d * f32::from(trit(*byte)));
    }
}

pub(crate) fn tq1_0(block: &[u8; 54], out: &mut [f32; LONG]) {
    let d = half_at(block, 52);
    trits(&block[..32], d, &mut out[..160]);
    trits(&block[32..48], d, &mut out[160..240]);
    trits(&block[48..52], d, &mut out[240..]);
}

pub(crate) fn tq2_0(block: &[u8; 66], out: &mut [f32; LONG]) {
    let (codes, d) = (&block[..64], half_at(block, 64));
    for (group, out) in out.as_chunks_mut::<16>().0.iter_mut().enumerate() {
        let codes = two_bits(codes, group);
        set(out, |n| d * f32::from(codes(n) as i8 - 1));
    }
}

/// Twice the values of float4_e2m1fn, but code 8 is 0, not -0.
const FP4: [f32; 16] = [0.0, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 0.0, -1.0, -2.0, -3.0, -4.0, -6.0, -8.0, -12.0];

/// The scale is half a power of two, 2^(e - 128), also for e = 255, which is NaN elsewhere.
pub(crate) fn mxfp4(block: &[u8; 17], out: &mut [f32; 32]) {
    let e = u32::from(block[0]);
    let d = f32::from_bits(if e < 2 { 0x0020_0000 << e } else { (e - 1) << 23 });
    split_nibbles(&block[1..], out, |_, q| d * FP4[usize::from(q)]);
}

/// Half the value of an E4M3 without a sign: 0x7f is 0, and bit 7 has no meaning.
fn half_of_ue4m3(byte: u8) -> f32 {
    let (exponent, fraction) = (i32::from(byte >> 3 & 15), f32::from(byte & 7));
    match (byte, exponent) {
        (0x7f, _) => 0.0,
        (_, 0) => fraction * 2_f32.powi(-10),
        _ => (1.0 + fraction / 8.0) * 2_f32.powi(exponent - 8),
    }
}

/// Four groups of 16 items, each with its own scale.
pub(crate) fn nvfp4(block: &[u8; 36], out: &mut [f32; 64]) {
    let groups = block[4..].as_chunks::<8>().0.iter().zip(out.as_chunks_mut::<16>().0);
    for (scale, (codes, out)) in block.iter().zip(groups) {
        let d = half_of_ue4m3(*scale);
        split_nibbles(codes, out, |_, q| d * FP4[usize::from(q)]);
    }
}

/// The grids of the IQ types, one after the other. An entry of two bytes has the codes of 8 items, or 4 for the IQ3 types,
/// the first in the low bits.
///
/// `tests/oracle/gguf_grids.py` makes this file of the Python package gguf 0.19.0, part of llama.cpp (MIT licence,
/// Copyright (c) 2023-2026 The ggml authors).
const GRIDS: &[u8] = include_bytes!("grids.bin");

/// The items of an entry, 8 or 4.
type Grid<const ENTRIES: usize, const ITEMS: usize> = [[i8; ITEMS]; ENTRIES];

/// Expands the grid from entry `first` on; `values` has the values of the codes.
const fn expand<const ENTRIES: usize, const ITEMS: usize>(first: usize, values: &[i8]) -> Grid<ENTRIES, ITEMS> {
    let mut grid = [[0; ITEMS]; ENTRIES];
    let bits = 16 / ITEMS;
    let mut n = 0;
    while n < ENTRIES * ITEMS {
        let at = (first + n / ITEMS) * 2;
        let entry = u16::from_le_bytes([GRIDS[at], GRIDS[at + 1]]);
        let code = entry >> (n % ITEMS * bits) & ((1 << bits) - 1);
        grid[n / ITEMS][n % ITEMS] = values[code as usize];
        n += 1;
    }
    grid
}

static IQ2_XXS: Grid<256, 8> = expand(0, &[8, 25, 43]);
static IQ2_XS: Grid<512, 8> = expand(256, &[8, 25, 43]);
static IQ2_S: Grid<1024, 8> = expand(768, &[8, 25, 43]);
static IQ1_S: Grid<2048, 8> = expand(1792, &[-1, 0, 1]);
static IQ3_XXS: Grid<256, 4> = expand(3840, &[4, 12, 20, 28, 36, 44, 52, 62]);
static IQ3_S: Grid<512, 4> = expand(4096, &[1, 3, 5, 7, 9, 11, 13, 15]);

/// The items of codes of 4 bits.
const IQ4: [f32; 16] =
    [-127.0, -104.0, -83.0, -65.0, -49.0, -35.0, -22.0, -10.0, 1.0, 13.0, 25.0, 38.0, 53.0, 69.0, 89.0, 113.0];

fn u16_at(block: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([block[at], block[at + 1]])
}

fn u32_at(block: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(array::from_fn(|n| block[at + n]))
}

fn nibble(bytes: &[u8], n: usize) -> u8 {
    bytes[n / 2] >> (n % 2 * 4) & 15
}

/// A group of 8 items has an even number of minus signs, so 7 bits tell 8.
fn even_signs(bits: u32) -> u8 {
    let bits = bits as u8 & 127;
    bits | (bits.count_ones() as u8) << 7
}

/// Sets items from place `at` on. Bit n of `signs` negates item n.
fn put<const ITEMS: usize>(out: &mut [f32], at: usize, entry: [i8; ITEMS], scale: f32, signs: u8) {
    for (n, (out, item)) in out[at..].iter_mut().zip(entry).enumerate() {
        let sign = if signs >> n & 1 == 1 { -1.0 } else { 1.0 };
        *out = scale * f32::from(item) * sign;
    }
}

pub(crate) fn iq2_xxs(block: &[u8; 66], out: &mut [f32; LONG]) {
    let d = half_at(block, 0);
    for (group, codes) in block[2..].as_chunks::<8>().0.iter().enumerate() {
        let signs = u32_at(codes, 4);
        let scale = d * (0.5 + (signs >> 28) as f32) * 0.25;
        for n in 0..4 {
            let entry = IQ2_XXS[usize::from(codes[n])];
            put(out, group * 32 + n * 8, entry, scale, even_signs(signs >> (7 * n)));
        }
    }
}

pub(crate) fn iq2_xs(block: &[u8; 74], out: &mut [f32; LONG]) {
    let (d, scales) = (half_at(block, 0), &block[66..]);
    for n in 0..32 {
        let code = u16_at(block, 2 + 2 * n);
        let scale = d * (0.5 + f32::from(nibble(scales, n / 2))) * 0.25;
        put(out, n * 8, IQ2_XS[usize::from(code & 511)], scale, even_signs((code >> 9).into()));
    }
}

pub(crate) fn iq2_s(block: &[u8; 82], out: &mut [f32; LONG]) {
    let (d, codes, signs, high, scales) =
        (half_at(block, 0), &block[2..34], &block[34..66], &block[66..74], &block[74..]);
    for n in 0..32 {
        let code = usize::from(codes[n]) | usize::from(high[n / 4] >> (n % 4 * 2) & 3) << 8;
        let scale = d * (0.5 + f32::from(nibble(scales, n / 2))) * 0.25;
        put(out, n * 8, IQ2_S[code], scale, signs[n]);
    }
}

pub(crate) fn iq3_xxs(block: &[u8; 98], out: &mut [f32; LONG]) {
    let (d, codes) = (half_at(block, 0), &block[2..66]);
    for group in 0..8 {
        let signs = u32_at(block, 66 + 4 * group);
        let scale = d * (0.5 + (signs >> 28) as f32) * 0.5;
        for n in 0..8 {
            let entry = IQ3_XXS[usize::from(codes[group * 8 + n])];
            put(out, group * 32 + n * 4, entry, scale, even_signs(signs >> (n / 2 * 7)) >> (n % 2 * 4));
        }
    }
}

pub(crate) fn iq3_s(block: &[u8; 110], out: &mut [f32; LONG]) {
    let (codes, high, signs, scales) = (&block[2..66], &block[66..74], &block[74..106], &block[106..]);
    let d = half_at(block, 0);
    for n in 0..64 {
        let code = usize::from(codes[n]) | usize::from(high[n / 8] >> (n % 8) & 1) << 8;
        let scale = d * f32::from(1 + 2 * nibble(scales, n / 8));
        put(out, n * 4, IQ3_S[code], scale, nibble(signs, n));
    }
}

/// Added to the items of an entry of the IQ1 types.
fn shift(is_negative: bool) -> f32 {
    if is_negative { -0.125 } else { 0.125 }
}

fn put_shifted(out: &mut [f32], at: usize, entry: [i8; 8], scale: f32, shift: f32) {
    for (out, item) in out[at..].iter_mut().zip(entry) {
        *out = scale * (f32::from(item) + shift);
    }
}

pub(crate) fn iq1_s(block: &[u8; 50], out: &mut [f32; LONG]) {
    let (d, codes) = (half_at(block, 0), &block[2..34]);
    for (n, code) in codes.iter().enumerate() {
        let high = u16_at(block, 34 + n / 4 * 2);
        let code = usize::from(*code) | usize::from(high >> (n % 4 * 3) & 7) << 8;
        let scale = d * f32::from(2 * (high >> 12 & 7) + 1);
        put_shifted(out, n * 8, IQ1_S[code], scale, shift(high >> 15 == 1));
    }
}

/// The high nibbles of the four words of scales are `d`.
pub(crate) fn iq1_m(block: &[u8; 56], out: &mut [f32; LONG]) {
    let scales: [u16; 4] = array::from_fn(|n| u16_at(block, 48 + 2 * n));
    let d = scales.iter().enumerate().fold(0, |d, (n, word)| d | word >> 12 << (4 * n));
    let d = half_at(&d.to_le_bytes(), 0);
    for n in 0..32 {
        let high = nibble(&block[32..48], n);
        let code = usize::from(block[n]) | usize::from(high & 7) << 8;
        let group = n / 2;
        let scale = d * f32::from(2 * (scales[group / 4] >> (group % 4 * 3) & 7) + 1);
        put_shifted(out, n * 8, IQ1_S[code], scale, shift(high & 8 != 0));
    }
}

pub(crate) fn iq4_nl(block: &[u8; 18], out: &mut [f32; 32]) {
    let d = half_at(block, 0);
    set(out, |n| d * IQ4[usize::from(block[2 + n % 16] >> (n / 16 * 4) & 15)]);
}

pub(crate) fn iq4_xs(block: &[u8; 136], out: &mut [f32; LONG]) {
    let (d, high, low, codes) = (half_at(block, 0), u16_at(block, 2), &block[4..8], &block[8..]);
    for (group, out) in out.as_chunks_mut::<32>().0.iter_mut().enumerate() {
        let scale = nibble(low, group) | ((high >> (2 * group)) as u8 & 3) << 4;
        let scale = d * f32::from(scale as i8 - 32);
        set(out, |n| scale * IQ4[usize::from(codes[group * 16 + n % 16] >> (n / 16 * 4) & 15)]);
    }
}
