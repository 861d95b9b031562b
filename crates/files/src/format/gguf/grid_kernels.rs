//! The items of blocks whose codes are entries of a table: the IQ types.

use std::array;

use super::grids;
use super::kernels::{LONG, half_at, set};

/// The items of an entry, 8 or 4.
type Grid<const ENTRIES: usize, const ITEMS: usize> = [[i8; ITEMS]; ENTRIES];

/// `values` has the values of the codes.
const fn expand<const ENTRIES: usize, const ITEMS: usize>(
    packed: &[u16; ENTRIES],
    values: &[i8],
) -> Grid<ENTRIES, ITEMS> {
    let mut grid = [[0; ITEMS]; ENTRIES];
    let bits = 16 / ITEMS;
    let mut n = 0;
    while n < ENTRIES * ITEMS {
        let code = packed[n / ITEMS] >> (n % ITEMS * bits) & ((1 << bits) - 1);
        grid[n / ITEMS][n % ITEMS] = values[code as usize];
        n += 1;
    }
    grid
}

static IQ2_XXS: Grid<256, 8> = expand(&grids::IQ2_XXS, &[8, 25, 43]);
static IQ2_XS: Grid<512, 8> = expand(&grids::IQ2_XS, &[8, 25, 43]);
static IQ2_S: Grid<1024, 8> = expand(&grids::IQ2_S, &[8, 25, 43]);
static IQ1_S: Grid<2048, 8> = expand(&grids::IQ1_S, &[-1, 0, 1]);
static IQ3_XXS: Grid<256, 4> = expand(&grids::IQ3_XXS, &[4, 12, 20, 28, 36, 44, 52, 62]);
static IQ3_S: Grid<512, 4> = expand(&grids::IQ3_S, &[1, 3, 5, 7, 9, 11, 13, 15]);

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

pub(super) fn iq2_xxs(block: &[u8; 66], out: &mut [f32; LONG]) {
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

pub(super) fn iq2_xs(block: &[u8; 74], out: &mut [f32; LONG]) {
    let (d, scales) = (half_at(block, 0), &block[66..]);
    for n in 0..32 {
        let code = u16_at(block, 2 + 2 * n);
        let scale = d * (0.5 + f32::from(nibble(scales, n / 2))) * 0.25;
        put(out, n * 8, IQ2_XS[usize::from(code & 511)], scale, even_signs((code >> 9).into()));
    }
}

pub(super) fn iq2_s(block: &[u8; 82], out: &mut [f32; LONG]) {
    let (d, codes, signs, high, scales) =
        (half_at(block, 0), &block[2..34], &block[34..66], &block[66..74], &block[74..]);
    for n in 0..32 {
        let code = usize::from(codes[n]) | usize::from(high[n / 4] >> (n % 4 * 2) & 3) << 8;
        let scale = d * (0.5 + f32::from(nibble(scales, n / 2))) * 0.25;
        put(out, n * 8, IQ2_S[code], scale, signs[n]);
    }
}

pub(super) fn iq3_xxs(block: &[u8; 98], out: &mut [f32; LONG]) {
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

pub(super) fn iq3_s(block: &[u8; 110], out: &mut [f32; LONG]) {
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

pub(super) fn iq1_s(block: &[u8; 50], out: &mut [f32; LONG]) {
    let (d, codes) = (half_at(block, 0), &block[2..34]);
    for (n, code) in codes.iter().enumerate() {
        let high = u16_at(block, 34 + n / 4 * 2);
        let code = usize::from(*code) | usize::from(high >> (n % 4 * 3) & 7) << 8;
        let scale = d * f32::from(2 * (high >> 12 & 7) + 1);
        put_shifted(out, n * 8, IQ1_S[code], scale, shift(high >> 15 == 1));
    }
}

/// The high nibbles of the four words of scales are `d`.
pub(super) fn iq1_m(block: &[u8; 56], out: &mut [f32; LONG]) {
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

pub(super) fn iq4_nl(block: &[u8; 18], out: &mut [f32; 32]) {
    let d = half_at(block, 0);
    set(out, |n| d * IQ4[usize::from(block[2 + n % 16] >> (n / 16 * 4) & 15)]);
}

pub(super) fn iq4_xs(block: &[u8; 136], out: &mut [f32; LONG]) {
    let (d, high, low, codes) = (half_at(block, 0), u16_at(block, 2), &block[4..8], &block[8..]);
    for (group, out) in out.as_chunks_mut::<32>().0.iter_mut().enumerate() {
        let scale = nibble(low, group) | ((high >> (2 * group)) as u8 & 3) << 4;
        let scale = d * f32::from(scale as i8 - 32);
        set(out, |n| scale * IQ4[usize::from(codes[group * 16 + n % 16] >> (n / 16 * 4) & 15)]);
    }
}
