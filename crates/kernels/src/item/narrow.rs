//! The ml_dtypes types of at most 8 bits.

use crate::error::{Error, malformed};
use crate::item::dtype::{DType, Kind, Narrow};
use crate::item::float16::nearest_magnitude;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FloatLayout {
    signed: bool,
    exponent: u32,
    mantissa: u32,
    bias: i32,
    specials: Specials,
}

/// The bits without a finite number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Specials {
    /// As in IEEE 754.
    Ieee,
    /// NaN has all bits set except the sign; no infinity.
    OneNan,
    /// NaN has the bits of -0; no infinity.
    NegativeZero,
    None,
}

impl FloatLayout {
    const fn new(exponent: u32, mantissa: u32, bias: i32, specials: Specials) -> Self {
        Self { signed: true, exponent, mantissa, bias, specials }
    }

    fn sign(self, negative: bool) -> u32 {
        if negative && self.signed { 1 << (self.exponent + self.mantissa) } else { 0 }
    }

    fn largest(self) -> u32 {
        match self.specials {
            Specials::Ieee => (((1 << self.exponent) - 1) << self.mantissa) - 1,
            Specials::OneNan => (1 << (self.exponent + self.mantissa)) - 2,
            Specials::NegativeZero | Specials::None => (1 << (self.exponent + self.mantissa)) - 1,
        }
    }

    /// Returns bits without a sign, ties to even, beyond [`Self::largest`] if the value is too large. Without a
    /// mantissa no neighbour is even, and ties go away from zero, as in IEEE 754 for one digit.
    fn nearest(self, value: f64) -> u32 {
        let size = value.abs();
        match self.mantissa {
            // half a unit carries into the exponent
            0 => ((size.to_bits() + (1 << 51)) >> 52).saturating_sub((1023 - self.bias) as u64) as u32,
            mantissa => nearest_magnitude(size, mantissa, 1 - self.bias) as u32,
        }
    }
}

impl Narrow {
    /// `None` for integers.
    fn layout(self) -> Option<FloatLayout> {
        use Specials::{Ieee, NegativeZero, None as Finite, OneNan};
        Some(match self {
            Narrow::Float8E3M4 => FloatLayout::new(3, 4, 3, Ieee),
            Narrow::Float8E4M3 => FloatLayout::new(4, 3, 7, Ieee),
            Narrow::Float8E4M3B11FNUZ => FloatLayout::new(4, 3, 11, NegativeZero),
            Narrow::Float8E4M3FN => FloatLayout::new(4, 3, 7, OneNan),
            Narrow::Float8E4M3FNUZ => FloatLayout::new(4, 3, 8, NegativeZero),
            Narrow::Float8E5M2 => FloatLayout::new(5, 2, 15, Ieee),
            Narrow::Float8E5M2FNUZ => FloatLayout::new(5, 2, 16, NegativeZero),
            Narrow::Float8E8M0FNU => FloatLayout { signed: false, ..FloatLayout::new(8, 0, 127, OneNan) },
            Narrow::Float6E2M3FN => FloatLayout::new(2, 3, 1, Finite),
            Narrow::Float6E3M2FN => FloatLayout::new(3, 2, 3, Finite),
            Narrow::Float4E2M1FN => FloatLayout::new(2, 1, 1, Finite),
            Narrow::Int4 | Narrow::UInt4 | Narrow::Int2 | Narrow::UInt2 => return None,
        })
    }

    /// Whether items are integers.
    pub fn is_integer(self) -> bool {
        self.layout().is_none()
    }

    /// The number of low bits of the item. Other bits are ignored.
    pub fn bits(self) -> u32 {
        match (self.layout(), self) {
            (Some(layout), _) => u32::from(layout.signed) + layout.exponent + layout.mantissa,
            (None, Narrow::Int4 | Narrow::UInt4) => 4,
            (None, _) => 2,
        }
    }

    /// In packed storage; 1 if items do not fill a byte.
    #[doc(hidden)]
    pub fn items_in_byte(self) -> usize {
        8 / self.bits() as usize
    }

    /// The bits above the item must be zeros or copies of the sign; otherwise the byte means something else.
    #[inline]
    #[doc(hidden)]
    pub fn item_in(self, byte: u8) -> Option<u8> {
        let bits = self.bits();
        if bits == 8 || byte >> bits == 0 {
            return Some(byte);
        }
        let is_signed = matches!(self, Narrow::Int4 | Narrow::Int2);
        (is_signed && byte as i8 >> (bits - 1) == -1).then_some(byte & ((1 << bits) - 1))
    }

    /// The error is the place of the first invalid byte; bytes from there on are unchanged.
    #[doc(hidden)]
    pub fn take_items(self, bytes: &mut [u8]) -> Result<(), usize> {
        for (place, byte) in bytes.iter_mut().enumerate() {
            *byte = self.item_in(*byte).ok_or(place)?;
        }
        Ok(())
    }

    #[doc(hidden)]
    pub fn refuse(self, place: u64, byte: u8) -> Error {
        let name = DType::from(Kind::Narrow(self)).name();
        let packed = match self.items_in_byte() {
            1 => String::new(),
            each => format!("; {each} items a byte are {name}x{each}"),
        };
        malformed!("byte {place} is {byte:#04x}, which is no {name}{packed}")
    }

    /// The exact value.
    pub fn value(self, item: u8) -> f64 {
        let bits = self.bits();
        let item = u32::from(item) & ((1 << bits) - 1);
        let Some(layout) = self.layout() else {
            let signed = matches!(self, Narrow::Int4 | Narrow::Int2) && item >> (bits - 1) == 1;
            return f64::from(item) - if signed { f64::from(1 << bits) } else { 0.0 };
        };
        let FloatLayout { signed, exponent, mantissa, bias, specials } = layout;
        let negative = signed && item >> (bits - 1) == 1;
        let magnitude = item & ((1 << (exponent + mantissa)) - 1);
        let (power, fraction) = (magnitude >> mantissa, magnitude & ((1 << mantissa) - 1));
        let top = (1 << exponent) - 1;
        let value = match specials {
            Specials::Ieee if power == top && fraction == 0 => f64::INFINITY,
            Specials::Ieee if power == top => f64::NAN,
            Specials::OneNan if magnitude == (1 << (exponent + mantissa)) - 1 => f64::NAN,
            Specials::NegativeZero if negative && magnitude == 0 => f64::NAN,
            Specials::Ieee | Specials::OneNan | Specials::NegativeZero | Specials::None => {
                // without a mantissa there are neither zero nor subnormals
                let subnormal = power == 0 && mantissa > 0;
                let whole = if subnormal { fraction } else { (1 << mantissa) + fraction };
                let power = if subnormal { 1 } else { power as i32 };
                f64::from(whole) * 2_f64.powi(power - bias - mantissa as i32)
            }
        };
        if negative { -value } else { value }
    }

    /// Returns the nearest item, ties to even, as ml_dtypes converts a float32 (it rounds a float64 twice).
    ///
    /// - Beyond the largest number: infinity, else NaN, else the largest number.
    /// - NaN loses its sign if the type's NaN has none, and becomes zero without a NaN; -0 becomes +0 without a -0.
    /// - `float8_e8m0fnu` has neither zero nor sign: small values become its smallest number; zero and negative numbers
    ///   become NaN; a tie between two powers of two becomes the larger.
    /// - Integer types drop the fraction and clamp; NaN becomes 0.
    ///
    /// ```
    /// use tensorop_kernels::item::dtype::Narrow;
    /// assert_eq!(Narrow::Float8E4M3FN.encode(-1.0), 0xb8);
    /// assert_eq!(Narrow::Float8E5M2.encode(1e9), 0x7c);
    /// assert_eq!(Narrow::Float4E2M1FN.encode(2.5), Narrow::Float4E2M1FN.encode(2.0));
    /// ```
    pub fn encode(self, value: f64) -> u8 {
        if let Some((least, largest)) = self.range() {
            return (value as i64).clamp(least, largest) as u8 & ((1 << self.bits()) - 1);
        }
        let layout = self.layout().expect("only floats have no range of integers");
        let FloatLayout { signed, exponent, mantissa, specials, .. } = layout;
        let sign = layout.sign(value.is_sign_negative());
        let top = ((1 << exponent) - 1) << mantissa;
        let ones = (1 << (exponent + mantissa)) - 1;
        let nan = match specials {
            Specials::Ieee => sign | top | 1 << (mantissa - 1),
            Specials::OneNan => sign | ones,
            Specials::NegativeZero => ones + 1,
            // as in ml_dtypes, NaN becomes -0
            Specials::None => layout.sign(value.is_sign_positive()),
        };
        let nearest = if value.is_finite() { layout.nearest(value) } else { u32::MAX };
        let code = match specials {
            _ if value.is_nan() || (!signed && value <= 0.0) => nan,
            Specials::NegativeZero if nearest == 0 => 0,
            _ if nearest <= layout.largest() => sign | nearest,
            Specials::Ieee => sign | top,
            Specials::OneNan | Specials::NegativeZero => nan,
            Specials::None => sign | layout.largest(),
        };
        code as u8
    }

    /// Whether a finite value is in the range of [`Self::encode`].
    pub fn holds(self, value: f64) -> bool {
        match self.layout() {
            None => self.range().is_some_and(|(least, most)| (least as f64..=most as f64).contains(&value)),
            Some(layout) if !layout.signed && value <= 0.0 => false,
            Some(layout) => value.is_finite() && layout.nearest(value) <= layout.largest(),
        }
    }

    #[doc(hidden)]
    pub fn has_infinity(self) -> bool {
        self.layout().is_some_and(|layout| layout.specials == Specials::Ieee)
    }

    /// Infinite and NaN items equal the value under the mask. `None` if all items are finite.
    #[doc(hidden)]
    pub fn special_bits(self) -> Option<(u8, u8)> {
        let FloatLayout { signed, exponent, mantissa, specials, .. } = self.layout()?;
        let magnitude = (1_u32 << (exponent + mantissa)) - 1;
        let (mask, special) = match specials {
            Specials::Ieee => (((1 << exponent) - 1) << mantissa, ((1 << exponent) - 1) << mantissa),
            Specials::OneNan => (magnitude, magnitude),
            Specials::NegativeZero => (2 * magnitude + 1, magnitude + 1),
            Specials::None => return None,
        };
        debug_assert!(signed || specials == Specials::OneNan, "the NaN of these types has a sign bit");
        Some((mask as u8, special as u8))
    }

    /// The range of an integer type; `None` for floats.
    pub fn range(self) -> Option<(i64, i64)> {
        match self {
            Narrow::Int4 => Some((-8, 7)),
            Narrow::UInt4 => Some((0, 15)),
            Narrow::Int2 => Some((-2, 1)),
            Narrow::UInt2 => Some((0, 3)),
            _ => None,
        }
    }

    /// A number that orders items: neighbours differ by one, +0 equals -0. `None` for NaN.
    pub fn ordinal(self, item: u8) -> Option<i64> {
        let bits = self.bits();
        let item = u32::from(item) & ((1 << bits) - 1);
        let Some(layout) = self.layout() else { return Some(self.value(item as u8) as i64) };
        if self.value(item as u8).is_nan() {
            return None;
        }
        let magnitude = i64::from(item & ((1 << (layout.exponent + layout.mantissa)) - 1));
        let negative = layout.signed && item >> (bits - 1) == 1;
        Some(if negative { -magnitude } else { magnitude })
    }
}
