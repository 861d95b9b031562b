//! The distance between two items, and the rule for pairs that pass.

use crate::diff::options::Options;
use tensorop_kernels::item::element::inlined;

/// The absolute difference of two items.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub enum Number {
    /// Floats and complex numbers, in float64.
    Float(f64),
    /// Integers, bools and dates, exactly.
    Integer(u128),
}

impl Number {
    /// Integers of up to 32 bits are compared as float64 but displayed as integers.
    pub(crate) fn as_displayed(self, is_integer: bool) -> Self {
        match self {
            Self::Float(number) if is_integer => Self::Integer(number as u128),
            Self::Float(_) | Self::Integer(_) => self,
        }
    }

    pub(crate) fn below(self) -> Option<Self> {
        match self {
            Self::Float(number) => below_float(number).map(Self::Float),
            Self::Integer(number) => number.checked_sub(1).map(Self::Integer),
        }
    }

    /// Clamps an infinite distance, which finite items can have, so that non-finite items still exceed it.
    pub(crate) fn at_most_finite(self) -> Self {
        match self {
            Self::Float(number) => Self::Float(number.min(f64::MAX)),
            Self::Integer(_) => self,
        }
    }

    pub(crate) fn is_zero(self) -> bool {
        self.near() == 0.0
    }

    /// The smallest float64 that is not below the distance.
    pub(crate) fn up(self) -> f64 {
        match self {
            Self::Float(number) => number,
            Self::Integer(number) => number.up(),
        }
    }

    pub(crate) fn near(self) -> f64 {
        match self {
            Self::Float(number) => number,
            Self::Integer(number) => number as f64,
        }
    }
}

pub(crate) fn below_float(value: f64) -> Option<f64> {
    (value > 0.0).then(|| value.next_down())
}

pub(crate) trait Distance: Copy + PartialOrd {
    const KEY_BITS: u32;

    fn up(self) -> f64;
    fn near(self) -> f64;
    fn number(self) -> Number;
    fn from_number(number: Number) -> Self;

    fn key(self) -> u64;
    /// Above 2^63, distances of integers of two dtypes have float64 precision.
    fn number_of_key(key: u64) -> Number;
}

/// Keys of 128-bit distances count float64s from here: integers of two dtypes are up to 2^65 apart.
const LONG: u64 = 1 << 63;

impl Distance for f64 {
    const KEY_BITS: u32 = 64;

    inlined! {
        fn up(self) -> f64 { self }
        fn near(self) -> f64 { self }
        // The bits of non-negative floats sort like the floats.
        fn key(self) -> u64 { self.to_bits() }
        fn number(self) -> Number { Number::Float(self) }
        fn from_number(number: Number) -> Self { number.near() }
        fn number_of_key(key: u64) -> Number { Number::Float(Self::from_bits(key)) }
    }
}

macro_rules! integers {
    ($($type:ty: $key_bits:literal, $up:expr, $key:expr, $of_key:expr;)+) => {$(
        impl Distance for $type {
            const KEY_BITS: u32 = $key_bits;

            inlined! {
                fn up(self) -> f64 { $up(self) }
                fn near(self) -> f64 { self as f64 }
                fn key(self) -> u64 { $key(self) }
                fn number(self) -> Number { Number::Integer(self.into()) }
                fn number_of_key(key: u64) -> Number { Number::Integer($of_key(key)) }
            }

            fn from_number(number: Number) -> Self {
                match number {
                    Number::Integer(number) => number.try_into().expect("a distance of this type"),
                    Number::Float(_) => unreachable!("a distance of integers"),
                }
            }
        }
    )+};
}

integers! {
    u32: 32, f64::from, u64::from, u128::from;
    // float64 is exact up to 2^53.
    u64: 64, |number: u64| if number <= 1 << 53 { number as f64 } else { u128::from(number).up() }, |key| key, u128::from;
    u128: 64, up_of_long, key_of_long, long_of_key;
}

#[inline]
fn up_of_long(number: u128) -> f64 {
    let near = number as f64;
    if (near as u128) < number { near.next_up() } else { near }
}

#[inline]
fn key_of_long(number: u128) -> u64 {
    match u64::try_from(number) {
        Ok(key) if key < LONG => key,
        Ok(_) | Err(_) => LONG + ((number as f64).to_bits() - (LONG as f64).to_bits()),
    }
}

fn long_of_key(key: u64) -> u128 {
    match key.checked_sub(LONG) {
        None => key.into(),
        Some(more) => f64::from_bits((LONG as f64).to_bits() + more) as u128,
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct PairRule {
    /// A finite pair passes if `|actual - expected| <= atol + rtol * |expected|`. Without a tolerance these are -1 and
    /// 0, which accept nothing.
    pub atol: f64,
    pub rtol: f64,
    /// A pair also passes within this many steps.
    pub ulp: Option<u64>,
    pub nan_differs: bool,
    pub listed: usize,
    pub lists_worst: bool,
}

impl PairRule {
    pub(crate) fn new(options: &Options) -> Self {
        Self {
            atol: options.atol.unwrap_or(if options.rtol.is_some() { 0.0 } else { -1.0 }),
            rtol: options.rtol.unwrap_or(0.0),
            ulp: options.ulp,
            nan_differs: options.nan_differs,
            listed: options.worst.unwrap_or(options.shown),
            lists_worst: options.worst.is_some(),
        }
    }

    #[inline(always)]
    pub(crate) fn is_tolerant(&self) -> bool {
        self.atol >= 0.0 || self.ulp.is_some()
    }

    /// Requires a finite pair; `size` is the expected magnitude.
    #[inline(always)]
    pub(crate) fn accepts(&self, distance: f64, size: f64, steps: u64) -> bool {
        let near = distance <= self.atol + self.rtol * size;
        near | self.ulp.is_some_and(|ulp| steps <= ulp)
    }
}
