//! What `diff` asks of an item: whether two are the same, and how far they are apart.

use crate::item::datetime::NAT;
use crate::item::dtype::Kind;

/// The absolute difference of two items.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// Of floats and complex numbers, in float64.
    Float(f64),
    /// Of integers, bools and dates, exactly.
    Integer(u128),
}

/// Which items have a common meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Integer,
    Float,
    Complex,
    Date,
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

/// An item that is a number, or a date.
pub(super) trait Item: Copy {
    type Distance: Distance;
    const CLASS: Class;
    const SIZE: usize;

    /// Whether the bits are equal.
    fn same(self, other: Self) -> bool;

    /// Whether the values are: also where the bits are not, as those of +0 and -0.
    fn equals(self, other: Self) -> bool;

    /// NaN or NaT.
    fn is_nan(self) -> bool;

    /// Neither NaN nor infinite. What follows is of use for such items only.
    fn is_finite(self) -> bool;

    /// How far two items are apart.
    fn distance(self, other: Self) -> Self::Distance;

    /// The magnitude of an item.
    fn size(self) -> f64;

    /// How many steps from value to neighbouring value lie between two items.
    fn steps(self, other: Self) -> u64;

    /// The item as an integer, if its class is that.
    fn integer(self) -> i128;

    /// The real and the imaginary part.
    fn parts(self) -> (f64, f64);
}

/// The first bytes of an item.
fn word<const N: usize>(bytes: &[u8]) -> [u8; N] {
    *bytes.first_chunk().unwrap_or(&[0; N])
}

macro_rules! integers {
    ($($type:ty: $distance:ty),+) => {
        $(impl Item for $type {
            type Distance = $distance;
            const CLASS: Class = Class::Integer;
            const SIZE: usize = size_of::<$type>();

            fn same(self, other: Self) -> bool {
                self == other
            }
            fn equals(self, other: Self) -> bool {
                self == other
            }
            fn is_nan(self) -> bool {
                false
            }
            fn is_finite(self) -> bool {
                true
            }
            fn distance(self, other: Self) -> $distance {
                self.abs_diff(other).into()
            }
            fn size(self) -> f64 {
                (self as f64).abs()
            }
            fn steps(self, other: Self) -> u64 {
                u64::try_from(self.abs_diff(other)).unwrap_or(u64::MAX)
            }
            fn integer(self) -> i128 {
                self.into()
            }
            fn parts(self) -> (f64, f64) {
                (self as f64, 0.0)
            }
        })+
    };
}

integers!(i8: u32, i16: u32, i32: u32, i64: u64, u8: u32, u16: u32, u32: u32, u64: u64, i128: u128);

/// A bool: each byte that is not zero is true.
#[derive(Clone, Copy)]
pub(super) struct Bool(u8);

impl Item for Bool {
    type Distance = u32;
    const CLASS: Class = Class::Integer;
    const SIZE: usize = 1;

    fn same(self, other: Self) -> bool {
        self.0 == other.0
    }
    fn equals(self, other: Self) -> bool {
        self.distance(other) == 0
    }
    fn is_nan(self) -> bool {
        false
    }
    fn is_finite(self) -> bool {
        true
    }
    fn distance(self, other: Self) -> u32 {
        u32::from((self.0 != 0) != (other.0 != 0))
    }
    fn size(self) -> f64 {
        u32::from(self.0 != 0).into()
    }
    fn steps(self, other: Self) -> u64 {
        self.distance(other).into()
    }
    fn integer(self) -> i128 {
        (self.0 != 0).into()
    }
    fn parts(self) -> (f64, f64) {
        (self.size(), 0.0)
    }
}

/// The ticks of a date or of a difference of dates.
#[derive(Clone, Copy)]
pub(super) struct Ticks(i64);

impl Item for Ticks {
    type Distance = u64;
    const CLASS: Class = Class::Date;
    const SIZE: usize = 8;

    fn same(self, other: Self) -> bool {
        self.0 == other.0
    }
    fn equals(self, other: Self) -> bool {
        self.0 == other.0
    }
    fn is_nan(self) -> bool {
        self.0 == NAT
    }
    fn is_finite(self) -> bool {
        self.0 != NAT
    }
    fn distance(self, other: Self) -> u64 {
        self.0.abs_diff(other.0)
    }
    fn size(self) -> f64 {
        self.0.size()
    }
    fn steps(self, other: Self) -> u64 {
        self.0.abs_diff(other.0)
    }
    fn integer(self) -> i128 {
        self.0.into()
    }
    fn parts(self) -> (f64, f64) {
        self.0.parts()
    }
}

/// A float: what float64 makes of it, and its place among its like.
pub(super) trait Float: Copy {
    const SIZE: usize;

    /// Its bits, which no other item has.
    fn bits(self) -> u64;

    /// Its value.
    fn wide(self) -> f64;

    /// Its number in the order of all values, neighbours being one apart: +0 and -0 have the same.
    fn ordinal(self) -> i64;
}

impl Float for f32 {
    const SIZE: usize = 4;

    fn bits(self) -> u64 {
        self.to_bits().into()
    }
    fn wide(self) -> f64 {
        self.into()
    }
    fn ordinal(self) -> i64 {
        let (bits, magnitude) = (self.to_bits() as i32, (self.to_bits() & 0x7fff_ffff) as i32);
        (if bits < 0 { -magnitude } else { magnitude }).into()
    }
}

impl Float for f64 {
    const SIZE: usize = 8;

    fn bits(self) -> u64 {
        self.to_bits()
    }
    fn wide(self) -> f64 {
        self
    }
    fn ordinal(self) -> i64 {
        let (bits, magnitude) = (self.to_bits() as i64, (self.to_bits() & (u64::MAX >> 1)) as i64);
        if bits < 0 { -magnitude } else { magnitude }
    }
}

/// The bits of a float of 16 bits, which order values as integers do but for the sign.
fn ordinal16(bits: u16) -> i64 {
    let magnitude = i32::from(bits & 0x7fff);
    (if bits >> 15 == 1 { -magnitude } else { magnitude }).into()
}

/// A float16.
#[derive(Clone, Copy)]
pub(super) struct Half(u16);

impl Float for Half {
    const SIZE: usize = 2;

    fn bits(self) -> u64 {
        self.0.into()
    }
    /// In a float32 the bits are one of 2^112 times less; only infinity and NaN have an exponent of their own.
    /// (`half` looks for an instruction of the machine at each item.)
    fn wide(self) -> f64 {
        let magnitude = u32::from(self.0 & 0x7fff) << 13;
        let finite = f32::from_bits(magnitude) * f32::from_bits((127 + 112) << 23);
        let other = f32::from_bits(magnitude | 0x7f80_0000);
        let value = if magnitude < 0x7c00 << 13 { finite } else { other };
        f32::from_bits(value.to_bits() | u32::from(self.0 >> 15) << 31).into()
    }
    fn ordinal(self) -> i64 {
        ordinal16(self.0)
    }
}

/// A bfloat16.
#[derive(Clone, Copy)]
pub(super) struct Brain(u16);

impl Float for Brain {
    const SIZE: usize = 2;

    fn bits(self) -> u64 {
        self.0.into()
    }
    fn wide(self) -> f64 {
        f32::from_bits(u32::from(self.0) << 16).into()
    }
    fn ordinal(self) -> i64 {
        ordinal16(self.0)
    }
}

/// A float of 8 bits or fewer, as a table tells it.
#[derive(Clone, Copy)]
pub(super) struct Small {
    value: f64,
    ordinal: i32,
    bits: u8,
}

impl Float for Small {
    const SIZE: usize = 1;

    fn bits(self) -> u64 {
        self.bits.into()
    }
    fn wide(self) -> f64 {
        self.value
    }
    fn ordinal(self) -> i64 {
        self.ordinal.into()
    }
}

impl<F: Float> Item for F {
    type Distance = f64;
    const CLASS: Class = Class::Float;
    const SIZE: usize = F::SIZE;

    fn same(self, other: Self) -> bool {
        self.bits() == other.bits()
    }
    fn equals(self, other: Self) -> bool {
        self.wide() == other.wide()
    }
    fn is_nan(self) -> bool {
        self.wide().is_nan()
    }
    fn is_finite(self) -> bool {
        self.wide().is_finite()
    }
    fn distance(self, other: Self) -> f64 {
        (self.wide() - other.wide()).abs()
    }
    fn size(self) -> f64 {
        self.wide().abs()
    }
    fn steps(self, other: Self) -> u64 {
        self.ordinal().abs_diff(other.ordinal())
    }
    fn integer(self) -> i128 {
        0
    }
    fn parts(self) -> (f64, f64) {
        (self.wide(), 0.0)
    }
}

/// A complex number.
#[derive(Clone, Copy)]
pub(super) struct Complex<F>(F, F);

impl<F: Float> Item for Complex<F> {
    type Distance = f64;
    const CLASS: Class = Class::Complex;
    const SIZE: usize = 2 * F::SIZE;

    fn same(self, other: Self) -> bool {
        self.0.same(other.0) && self.1.same(other.1)
    }
    fn equals(self, other: Self) -> bool {
        self.0.equals(other.0) && self.1.equals(other.1)
    }
    fn is_nan(self) -> bool {
        self.0.is_nan() || self.1.is_nan()
    }
    fn is_finite(self) -> bool {
        self.0.is_finite() && self.1.is_finite()
    }
    fn distance(self, other: Self) -> f64 {
        (self.0.wide() - other.0.wide()).hypot(self.1.wide() - other.1.wide())
    }
    fn size(self) -> f64 {
        self.0.wide().hypot(self.1.wide())
    }
    fn steps(self, other: Self) -> u64 {
        self.0.steps(other.0).max(self.1.steps(other.1))
    }
    fn integer(self) -> i128 {
        0
    }
    fn parts(self) -> (f64, f64) {
        (self.0.wide(), self.1.wide())
    }
}

/// What is done with the items of a dtype, whichever it is.
pub(super) trait Task {
    type Output;

    /// `read` makes an item of its little-endian bytes.
    fn run<T: Item>(self, read: impl Fn(&[u8]) -> T + Copy + Send + Sync + 'static) -> Self::Output;
}

/// The one place that knows which dtype has which items.
///
/// # Errors
/// The task again, for items that are no numbers and no dates.
pub(super) fn with_items<K: Task>(kind: &Kind, task: K) -> Result<K::Output, K> {
    Ok(match *kind {
        Kind::Bool => task.run(|bytes| Bool(u8::from_le_bytes(word(bytes)))),
        Kind::Int8 => task.run(|bytes| i8::from_le_bytes(word(bytes))),
        Kind::Int16 => task.run(|bytes| i16::from_le_bytes(word(bytes))),
        Kind::Int32 => task.run(|bytes| i32::from_le_bytes(word(bytes))),
        Kind::Int64 => task.run(|bytes| i64::from_le_bytes(word(bytes))),
        Kind::UInt8 => task.run(|bytes| u8::from_le_bytes(word(bytes))),
        Kind::UInt16 => task.run(|bytes| u16::from_le_bytes(word(bytes))),
        Kind::UInt32 => task.run(|bytes| u32::from_le_bytes(word(bytes))),
        Kind::UInt64 => task.run(|bytes| u64::from_le_bytes(word(bytes))),
        Kind::Float16 => task.run(|bytes| Half(u16::from_le_bytes(word(bytes)))),
        Kind::BFloat16 => task.run(|bytes| Brain(u16::from_le_bytes(word(bytes)))),
        Kind::Float32 => task.run(read_f32),
        Kind::Float64 => task.run(read_f64),
        Kind::Complex64 => task.run(|bytes| Complex(read_f32(bytes), read_f32(bytes.get(4..).unwrap_or_default()))),
        Kind::Complex128 => task.run(read_complex),
        Kind::Datetime(_) | Kind::Timedelta(_) => task.run(|bytes| Ticks(i64::from_le_bytes(word(bytes)))),
        Kind::Narrow(narrow) if narrow.is_integer() => {
            let table: [i8; 256] = std::array::from_fn(|item| narrow.value(item as u8) as i8);
            task.run(move |bytes| table[usize::from(u8::from_le_bytes(word(bytes)))])
        }
        Kind::Narrow(narrow) => {
            let mask = ((1_u32 << narrow.bits()) - 1) as u8;
            let table: [Small; 256] = std::array::from_fn(|item| Small {
                value: narrow.value(item as u8),
                ordinal: narrow.ordinal(item as u8).unwrap_or(0) as i32,
                bits: item as u8 & mask,
            });
            task.run(move |bytes| table[usize::from(u8::from_le_bytes(word(bytes)))])
        }
        Kind::LongDouble(_) | Kind::ComplexLongDouble(_) => return Err(task),
        Kind::Bytes(_) | Kind::Str(_) | Kind::Void(_) | Kind::Struct(_) => return Err(task),
    })
}

fn read_f32(bytes: &[u8]) -> f32 {
    f32::from_le_bytes(word(bytes))
}

pub(super) fn read_f64(bytes: &[u8]) -> f64 {
    f64::from_le_bytes(word(bytes))
}

pub(super) fn read_complex(bytes: &[u8]) -> Complex<f64> {
    Complex(read_f64(bytes), read_f64(bytes.get(8..).unwrap_or_default()))
}

pub(super) fn read_i128(bytes: &[u8]) -> i128 {
    i128::from_le_bytes(word(bytes))
}

/// Asks for the class of a dtype's items.
pub(super) struct ClassOf;

impl Task for ClassOf {
    type Output = Class;

    fn run<T: Item>(self, _: impl Fn(&[u8]) -> T + Copy + Send + Sync + 'static) -> Class {
        T::CLASS
    }
}

/// Turns the items of a window into those of [`Class`]: 16 bytes of an integer, a float64, or two.
pub(super) type Widen = Box<dyn Fn(&[u8], &mut Vec<u8>) + Send + Sync>;

/// Asks how items become those of a class that holds both operands', and each NaN this one: the bits of NaN in two
/// dtypes have nothing in common, and what a conversion makes of them is left to the machine.
pub(super) struct WidenTo(pub Class, pub f64);

impl Task for WidenTo {
    type Output = Widen;

    fn run<T: Item>(self, read: impl Fn(&[u8]) -> T + Copy + Send + Sync + 'static) -> Widen {
        Box::new(move |bytes, out| {
            out.clear();
            let items = bytes.chunks_exact(T::SIZE).map(read);
            let float = |value: f64| if value.is_nan() { self.1 } else { value }.to_le_bytes();
            match self.0 {
                Class::Integer => items.for_each(|item| out.extend_from_slice(&item.integer().to_le_bytes())),
                Class::Float | Class::Date => {
                    items.for_each(|item| out.extend_from_slice(&float(item.parts().0)));
                }
                Class::Complex => items.for_each(|item| {
                    let (re, im) = item.parts();
                    out.extend_from_slice(&float(re));
                    out.extend_from_slice(&float(im));
                }),
            }
        })
    }
}
