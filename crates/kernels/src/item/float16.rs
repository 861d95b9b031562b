//! Conversions of 16-bit floats.
//!
//! The `half` crate checks for a machine instruction at each item, which prevents vectorisation; its conversions from
//! float64 round twice on some machines and drop bits on others. The functions here are branchless and round once.

use half::{bf16, f16};

/// A NaN keeps its payload, as with a machine instruction.
///
/// The code avoids arithmetic on subnormal float32s, which some machines do in microcode. Multiplying the bits by 2^112
/// is shorter, but a tensor with a few subnormal items takes a third longer to compare and twice as long to cast.
#[inline]
pub fn f16_to_f32(item: f16) -> f32 {
    // vector instructions compare signed numbers
    let bits = i32::from(item.to_bits() as i16);
    let magnitude = bits & 0x7fff;
    let normal = (magnitude << 13) + ((127 - 15) << 23);
    // the exponent of the smallest normal number adds 2^-14 to a subnormal item
    let subnormal = f32::from_bits((normal + (1 << 23)) as u32) - f32::from_bits((127 - 14) << 23);
    let finite = if magnitude < 0x400 { subnormal.to_bits() } else { normal as u32 };
    let special = if magnitude > 0x7bff { 0x7f80_0000 } else { 0 };
    f32::from_bits(finite | special | bits as u32 & 0x8000_0000)
}

/// The number as float32, which holds it exactly.
#[inline]
pub fn bf16_to_f32(item: bf16) -> f32 {
    f32::from_bits(u32::from(item.to_bits()) << 16)
}

/// Rounds ties to even. A NaN becomes quiet and keeps the upper bits of its payload, as with a machine instruction.
/// `nearest` gives the same numbers, but a vector holds half as many float64s.
#[inline]
pub fn f16_from_f32(value: f32) -> f16 {
    // beyond the largest number, its bits become infinity
    let size = value.abs().min(65536.0);
    let bits = size.to_bits();
    // adds half a unit less 1, and 1 if the last bit is set; an overflow check would be a branch
    let normal = (bits.wrapping_add(0xfff + ((bits >> 13) & 1)) >> 13).wrapping_sub((127 - 15) << 10);
    // the last bit of numbers from 0.5 on is 2^-24, the smallest float16
    let subnormal = (size + 0.5).to_bits().wrapping_sub(0.5_f32.to_bits());
    let number = if size < f32::from_bits((127 - 14) << 23) { subnormal } else { normal };
    let nan = 0x7e00 | (value.to_bits() >> 13) & 0x3ff;
    let magnitude = if value.is_nan() { nan } else { number };
    f16::from_bits(magnitude as u16 | (value.to_bits() >> 16) as u16 & 0x8000)
}

/// A NaN becomes the quiet NaN of its sign.
#[inline]
pub fn f16_from_f64(value: f64) -> f16 {
    f16::from_bits(nearest(value, 10, -14))
}

/// A NaN becomes the quiet NaN of its sign.
#[inline]
pub fn bf16_from_f64(value: f64) -> bf16 {
    bf16::from_bits(nearest(value, 7, -126))
}

/// Rounds ties to even, with `fraction` bits of fraction and the smallest normal number 2^`least`.
#[inline(always)]
fn nearest(value: f64, fraction: u32, least: i32) -> u16 {
    let infinity = ((2 - 2 * least) as u64 + 1) << fraction;
    // beyond the largest number, its bits become infinity
    let number = nearest_magnitude(value.abs().min(power_of_two(2 - least)), fraction, least);
    let magnitude = if value.is_nan() { infinity | 1 << (fraction - 1) } else { number };
    magnitude as u16 | ((value.to_bits() >> 48) as u16 & 0x8000)
}

/// Rounds a finite size to the bits of a float with at least one bit of fraction and an unlimited exponent. Computing
/// both cases and choosing one lets loops be vectorised.
#[inline(always)]
pub(super) fn nearest_magnitude(size: f64, fraction: u32, least: i32) -> u64 {
    let bits = size.to_bits();
    // adds half a unit less 1, and 1 if the last bit is set
    let dropped = 52 - fraction;
    let rounded = bits + ((1 << (dropped - 1)) - 1) + ((bits >> dropped) & 1);
    let normal = (rounded >> dropped).wrapping_sub(((1022 + least) as u64) << fraction);
    // the addition drops the excess bits of subnormals
    let offset = power_of_two(least + dropped as i32);
    let small = (size + offset).to_bits().wrapping_sub(offset.to_bits());
    if size < power_of_two(least) { small } else { normal }
}

#[inline(always)]
fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((1023 + exponent) as u64) << 52)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_has_its_value_and_comes_back() {
        for bits in 0..=u16::MAX {
            let (half, brain) = (f16::from_bits(bits), bf16::from_bits(bits));
            let (a, b) = (f16_to_f32(half), bf16_to_f32(brain));
            if half.is_nan() {
                assert!(a.is_nan() && a.is_sign_negative() == half.is_sign_negative());
                assert_eq!(f16_from_f64(a.into()).to_bits(), 0x7e00 | bits & 0x8000);
            } else {
                assert_eq!(a.to_bits(), half.to_f32_const().to_bits(), "{bits:#x}");
                assert_eq!(f16_from_f64(a.into()).to_bits(), bits);
            }
            if brain.is_nan() {
                assert!(b.is_nan() && b.is_sign_negative() == brain.is_sign_negative());
                assert_eq!(bf16_from_f64(b.into()).to_bits(), 0x7fc0 | bits & 0x8000);
            } else {
                assert_eq!(b.to_bits(), brain.to_f32_const().to_bits(), "{bits:#x}");
                assert_eq!(bf16_from_f64(b.into()).to_bits(), bits);
            }
        }
    }

    #[test]
    fn float32_becomes_what_others_make_of_it() {
        let mut bits = 0_u32;
        while bits < f32::INFINITY.to_bits() | 0x7f_ffff {
            for bits in [bits, bits | 1 << 31, bits & !0x1fff | 0x1000, bits & !0x1fff | 0xfff, bits & !0x1fff | 0x1001]
            {
                let value = f32::from_bits(bits);
                assert_eq!(f16_from_f32(value).to_bits(), f16::from_f32_const(value).to_bits(), "{bits:#x}");
            }
            bits += 997;
        }
    }

    #[test]
    fn midpoints_go_to_even_and_their_neighbours_do_not() {
        let check = |nearest: fn(f64) -> u16, value: fn(u16) -> f64, largest: u16| {
            for bits in 0..largest {
                let middle = (value(bits) + value(bits + 1)) / 2.0;
                let even = bits + bits % 2;
                assert_eq!(nearest(middle), even, "{bits:#x}");
                assert_eq!((nearest(middle.next_down()), nearest(middle.next_up())), (bits, bits + 1), "{bits:#x}");
                assert_eq!(nearest(-middle), even | 0x8000);
            }
            let last_step = value(largest) - value(largest - 1);
            assert_eq!(nearest((value(largest) + last_step / 2.0).next_down()), largest);
            assert_eq!(nearest(value(largest) + last_step / 2.0), largest + 1);
            assert_eq!((nearest(f64::MAX), nearest(f64::NEG_INFINITY)), (largest + 1, (largest + 1) | 0x8000));
            assert_eq!((nearest(f64::MIN_POSITIVE), nearest(-0.0)), (0, 0x8000));
        };
        check(|value| f16_from_f64(value).to_bits(), |bits| f16_to_f32(f16::from_bits(bits)).into(), 0x7bff);
        check(|value| bf16_from_f64(value).to_bits(), |bits| bf16_to_f32(bf16::from_bits(bits)).into(), 0x7f7f);
    }
}
