//! How far two items are apart.

/// The absolute difference of two items.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// Of floats and complex numbers, in float64.
    Float(f64),
    /// Of integers, bools and dates, exactly.
    Integer(u128),
}

impl Number {
    /// It as it is told: of integers of up to 32 bits, which are compared as float64s, as the integer that it is.
    pub(super) fn told(self, integers: bool) -> Self {
        match self {
            Self::Float(number) if integers => Self::Integer(number as u128),
            Self::Float(_) | Self::Integer(_) => self,
        }
    }

    pub(super) fn is_zero(self) -> bool {
        match self {
            Self::Integer(number) => number == 0,
            Self::Float(number) => number == 0.0,
        }
    }
}

/// A type that holds the absolute difference of two items.
pub(super) trait Distance: Copy + PartialOrd + Send {
    /// None.
    const ZERO: Self;
    /// What no finite distance is above.
    const ABOVE_ALL: Self;
    /// The bits of a key.
    const BITS: u32;

    /// The smallest float64 that is not below it.
    fn up(self) -> f64;
    /// The nearest float64.
    fn near(self) -> f64;
    fn number(self) -> Number;
    /// It as a number of steps, which it is of integers.
    fn steps(self) -> u64;

    /// A number that orders as distances do, for ranks.
    fn key(self) -> u64;
    /// The distance that has a key. Of integers of two dtypes, those beyond 2^63 in float64's precision.
    fn of_key(key: u64) -> Number;
}

/// Distances of integers of two dtypes have up to 65 bits: from here on keys count float64s.
const LONG: u64 = 1 << 63;

impl Distance for f64 {
    const ZERO: Self = 0.0;
    const ABOVE_ALL: Self = f64::INFINITY;
    const BITS: u32 = 64;

    fn key(self) -> u64 {
        // of floats that are not negative the bits order as they do, and 0 is that of no distance
        self.to_bits()
    }
    fn of_key(key: u64) -> Number {
        Number::Float(Self::from_bits(key))
    }
    fn steps(self) -> u64 {
        self as u64
    }
    fn up(self) -> f64 {
        self
    }
    fn near(self) -> f64 {
        self
    }
    fn number(self) -> Number {
        Number::Float(self)
    }
}

impl Distance for u32 {
    const ZERO: Self = 0;
    const ABOVE_ALL: Self = Self::MAX;
    const BITS: u32 = 32;

    fn key(self) -> u64 {
        self.into()
    }
    fn of_key(key: u64) -> Number {
        Number::Integer(key.into())
    }
    fn steps(self) -> u64 {
        self.into()
    }
    fn up(self) -> f64 {
        self.into()
    }
    fn near(self) -> f64 {
        self.into()
    }
    fn number(self) -> Number {
        Number::Integer(self.into())
    }
}

impl Distance for u64 {
    const ZERO: Self = 0;
    const ABOVE_ALL: Self = Self::MAX;
    const BITS: u32 = 64;

    fn key(self) -> u64 {
        self
    }
    fn of_key(key: u64) -> Number {
        Number::Integer(key.into())
    }
    fn steps(self) -> u64 {
        self
    }
    fn up(self) -> f64 {
        // up to here float64 holds all integers
        if self <= 1 << 53 { self as f64 } else { u128::from(self).up() }
    }
    fn near(self) -> f64 {
        self as f64
    }
    fn number(self) -> Number {
        Number::Integer(self.into())
    }
}

impl Distance for u128 {
    const ZERO: Self = 0;
    const ABOVE_ALL: Self = Self::MAX;
    const BITS: u32 = 64;

    fn key(self) -> u64 {
        match u64::try_from(self) {
            Ok(key) if key < LONG => key,
            _ => LONG + ((self as f64).to_bits() - (LONG as f64).to_bits()),
        }
    }
    fn of_key(key: u64) -> Number {
        Number::Integer(match key.checked_sub(LONG) {
            None => key.into(),
            Some(more) => f64::from_bits((LONG as f64).to_bits() + more) as Self,
        })
    }
    fn steps(self) -> u64 {
        u64::try_from(self).unwrap_or(u64::MAX)
    }
    fn up(self) -> f64 {
        let near = self as f64;
        if (near as u128) < self { near.next_up() } else { near }
    }
    fn near(self) -> f64 {
        self as f64
    }
    fn number(self) -> Number {
        Number::Integer(self)
    }
}
