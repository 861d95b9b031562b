//! How far two items are apart.

/// The absolute difference of two items.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// Of floats and complex numbers, in float64.
    Float(f64),
    /// Of integers, bools and dates, exactly.
    Integer(u128),
}

/// A type that holds the absolute difference of two items.
pub(super) trait Distance: Copy + PartialOrd + Send {
    /// The smallest float64 that is not below it.
    fn up(self) -> f64;
    /// The nearest float64.
    fn near(self) -> f64;
    fn number(self) -> Number;
}

impl Distance for f64 {
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
