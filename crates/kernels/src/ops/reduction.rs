//! The reductions of the scatters, with one rounding per step in the item's own type.

use half::{bf16, f16};
use num_complex::Complex;

use crate::error::{Error, Subject};
use crate::item::dtype::{DType, Kind};
use crate::item::element::{Element, Float, match_kind, not_numbers};
use crate::item::float16::{bf16_to_f32, f16_from_f32, f16_to_f32};

/// The reduction of a scatter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Reduction {
    /// The last update in index order wins.
    #[default]
    None,
    /// Sum; `or` for bool; integers wrap.
    Add,
    /// Difference; exclusive `or` for bool; integers wrap (OpenVINO ScatterNDUpdate-15).
    Sub,
    /// Product; `and` for bool; integers wrap.
    Mul,
    /// Maximum; `or` for bool; NaN if either is NaN; the old item if equal.
    Max,
    /// Minimum; `and` for bool; NaN if either is NaN; the old item if equal.
    Min,
    /// Mean of the item and its updates (OpenVINO ScatterElementsUpdate-12); integers divide toward zero.
    Mean,
}

/// Several updates for one item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeats {
    /// The last in index order wins.
    LastWins,
    /// All, in index order.
    Combined,
    /// An error.
    Refused,
}

impl From<Reduction> for Repeats {
    fn from(reduction: Reduction) -> Self {
        if reduction == Reduction::None { Self::LastWins } else { Self::Combined }
    }
}

impl Repeats {
    /// # Errors
    /// A reduction combines all updates of an item.
    pub(in crate::ops) fn check(self, reduction: Reduction) -> Result<(), Error> {
        if self == Self::Combined || reduction == Reduction::None {
            return Ok(());
        }
        let message = format!("{self:?}, expected Combined (reduction {})", reduction.name());
        Err(Error::new(Subject::Argument("repeats"), message))
    }
}

impl Reduction {
    /// The name in specifications.
    pub fn name(self) -> &'static str {
        match self {
            Reduction::None => "none",
            Reduction::Add => "add",
            Reduction::Sub => "sub",
            Reduction::Mul => "mul",
            Reduction::Max => "max",
            Reduction::Min => "min",
            Reduction::Mean => "mean",
        }
    }
}

/// Reduces updates into as many items: `out`, `updates`.
pub type CombineBlocks = fn(&mut [u8], &[u8]);

/// Reduces update `n` into item `offset + at[n]`, if it exists: `out`, `offset`, `at`, `updates`.
pub type CombinePoints = fn(&mut [u8], usize, &[u32], &[u8]);

/// Reductions of little-endian items; others are swapped, so that loops are compiled once per type.
#[derive(Clone, Copy, Debug)]
#[allow(unnameable_types, reason = "users of Reducible name the trait, and neither implement nor call it")]
pub struct Combine {
    /// Neighbouring items.
    pub blocks: CombineBlocks,
    /// Scattered items; a call for each would cost more.
    pub points: CombinePoints,
}

/// Reductions of items of a type, as [`Combine`] has them for bytes.
#[derive(Clone, Copy, Debug)]
#[allow(unnameable_types, reason = "users of Reducible name the trait, and neither implement nor call it")]
#[allow(clippy::type_complexity)]
pub struct CombineItems<T> {
    /// Neighbouring items.
    pub blocks: fn(&mut [T], &[T]),
    /// Scattered items.
    pub points: fn(&mut [T], usize, &[u32], &[T]),
}

/// An item type with reductions.
pub trait Reducible: Element {
    /// Returns the operation on an old item and an update.
    fn operation(reduction: Reduction) -> Option<fn(Self, Self) -> Self>;

    /// Returns the operation on neighbouring and on scattered items.
    fn on_items(reduction: Reduction) -> Option<CombineItems<Self>>;

    /// Returns the operation on little-endian bytes.
    fn on_bytes(reduction: Reduction) -> Option<Combine>;
}

/// The reduction of items of a dtype; `None` if updates replace items.
///
/// # Errors
/// The dtype lacks the reduction.
pub fn combine(dtype: &DType, reduction: Reduction) -> Result<Option<Combine>, Error> {
    if reduction == Reduction::None {
        return Ok(None);
    }
    let combine = match_kind!(dtype.kind(), {
        number T => <T as Reducible>::on_bytes(reduction),
        Kind::Narrow(_) | not_numbers!() => None,
    });
    combine.map(Some).ok_or_else(|| {
        let message = format!("{} is not defined for {}", reduction.name(), dtype.name());
        let refused = Error::new(Subject::Reduction, message);
        dtype.advise(refused)
    })
}

/// Choosing the operation per item would prevent vectorisation.
#[inline(always)]
fn blocks<W: Copy>(old: &mut [W], updates: &[W], combine: impl Fn(W, W) -> W) {
    for (old, update) in old.iter_mut().zip(updates) {
        *old = combine(*old, *update);
    }
}

/// Skips places beyond `out`, since windows share buckets.
#[inline(always)]
fn points<W: Copy>(out: &mut [W], offset: usize, at: &[u32], updates: &[W], combine: impl Fn(W, W) -> W) {
    for (&at, update) in at.iter().zip(updates) {
        if let Some(old) = out.get_mut(offset.wrapping_add(at as usize)) {
            *old = combine(*old, *update);
        }
    }
}

/// An operation on the little-endian bytes of items.
#[inline(always)]
fn little<T: Element>(operation: impl Fn(T, T) -> T) -> impl Fn(T::Bytes, T::Bytes) -> T::Bytes {
    move |old, update| operation(T::from_little(old), T::from_little(update)).to_little()
}

macro_rules! reducible {
    ($type:ty: $($reduction:ident $operation:expr),+) => {
        impl Reducible for $type {
            fn operation(reduction: Reduction) -> Option<fn(Self, Self) -> Self> {
                match reduction {
                    Reduction::None => Some(|_, update| update),
                    $(Reduction::$reduction => Some($operation),)+
                    _ => None,
                }
            }

            fn on_items(reduction: Reduction) -> Option<CombineItems<Self>> {
                match reduction {
                    Reduction::None => Some(CombineItems {
                        blocks: |old, updates| old.copy_from_slice(updates),
                        points: |out, offset, at, updates| points(out, offset, at, updates, |_, update| update),
                    }),
                    $(Reduction::$reduction => Some(CombineItems {
                        blocks: |old, updates| blocks::<$type>(old, updates, $operation),
                        points: |out, offset, at, updates| points::<$type>(out, offset, at, updates, $operation),
                    }),)+
                    _ => None,
                }
            }

            fn on_bytes(reduction: Reduction) -> Option<Combine> {
                type Item = $type;
                match reduction {
                    $(Reduction::$reduction => Some(Combine {
                        blocks: |old, updates| {
                            blocks(Item::chunks_mut(old), Item::chunks(updates), little::<Item>($operation));
                        },
                        points: |out, offset, at, updates| {
                            let (out, updates) = (Item::chunks_mut(out), Item::chunks(updates));
                            points(out, offset, at, updates, little::<Item>($operation));
                        },
                    }),)+
                    _ => None,
                }
            }
        }
    };
}

/// The result is NaN if either item is NaN.
macro_rules! extreme {
    ($is_more_extreme:tt, $type:ty, $nan:expr, $value:expr) => {
        |old: $type, update: $type| {
            let (a, b) = ($value(old), $value(update));
            if $nan(a) || !($nan(b) || b $is_more_extreme a) { old } else { update }
        }
    };
}

macro_rules! floats {
    ($type:ty; $add:expr, $sub:expr, $mul:expr, $nan:expr, $value:expr) => {
        reducible!($type: Add $add, Sub $sub, Mul $mul, Max extreme!(>, $type, $nan, $value), Min extreme!(<, $type, $nan, $value));
    };
}

macro_rules! integers {
    ($($type:ty)+) => {$(
        reducible!($type:
            Add |old, update| old.wrapping_add(update), Sub |old, update| old.wrapping_sub(update),
            Mul |old, update| old.wrapping_mul(update),
            Max |old, update| if update > old { update } else { old },
            Min |old, update| if update < old { update } else { old });
    )+};
}

integers!(u8 i8 u16 i16 u32 i32 u64 i64);
floats!(f32; |old, update| old + update, |old, update| old - update, |old, update| old * update, f32::is_nan, |item: f32| item);
floats!(f64; |old, update| old + update, |old, update| old - update, |old, update| old * update, f64::is_nan, |item: f64| item);
// float32 has more than twice the digits, so rounding twice changes nothing
floats!(f16;
    |old, update| f16_from_f32(f16_to_f32(old) + f16_to_f32(update)),
    |old, update| f16_from_f32(f16_to_f32(old) - f16_to_f32(update)),
    |old, update| f16_from_f32(f16_to_f32(old) * f16_to_f32(update)),
    f32::is_nan, f16_to_f32);
floats!(bf16;
    |old, update| bf16::from_f32(bf16_to_f32(old) + bf16_to_f32(update)),
    |old, update| bf16::from_f32(bf16_to_f32(old) - bf16_to_f32(update)), bf16_product, f32::is_nan, bf16_to_f32);

/// Rounds once even where float32 is subnormal; keeps a NaN's payload.
fn bf16_product(old: bf16, update: bf16) -> bf16 {
    let product = old.wide() * update.wide();
    if product.is_nan() { bf16::from_f32(product as f32) } else { bf16::nearest(product) }
}

reducible!(bool:
    Add |old, update| old | update, Sub |old, update| old ^ update, Mul |old, update| old & update,
    Max |old, update| old | update, Min |old, update| old & update);

// complex numbers have no order
reducible!(Complex<f32>: Add |old, update| old + update, Sub |old, update| old - update, Mul |old, update| old * update);
reducible!(Complex<f64>: Add |old, update| old + update, Sub |old, update| old - update, Mul |old, update| old * update);

#[cfg(test)]
mod tests {
    use super::*;

    fn reduced(dtype: &DType, reduction: Reduction, old: &mut [u8], update: &[u8]) {
        let Combine { blocks, points } = combine(dtype, reduction).unwrap().unwrap();
        let mut three = [&old[..], old, old].concat();
        let nowhere = [update, update].concat();
        points(&mut three, 4_usize.wrapping_neg(), &[7, 3], &nowhere);
        points(&mut three, 4_usize.wrapping_neg(), &[5], update);
        blocks(old, update);
        assert_eq!(three[old.len()..2 * old.len()], *old, "{dtype} {reduction:?}");
        assert_eq!(three[..old.len()], three[2 * old.len()..]);
    }

    fn reduce(dtype: &str, reduction: Reduction, old: &[u8], update: &[u8]) -> Vec<u8> {
        let mut out = old.to_vec();
        reduced(&DType::parse(dtype).unwrap(), reduction, &mut out, update);
        out
    }

    #[test]
    fn numbers() {
        use Reduction::{Add, Max, Min, Mul, Sub};
        macro_rules! rows {
            ($($name:literal $type:ty: $($reduction:ident $old:expr, $update:expr => $new:expr);+);+ $(;)?) => {$($(
                let (old, update): ($type, $type) = ($old, $update);
                let got = reduce($name, $reduction, &old.to_le_bytes(), &update.to_le_bytes());
                assert_eq!(got, ($new as $type).to_le_bytes(), "{} {old:?} {} {update:?}", $name, $reduction.name());
                assert_eq!(<$type>::operation($reduction).unwrap()(old, update).to_le_bytes(), ($new as $type).to_le_bytes());
            )+)+};
        }
        rows! {
            "int8" i8: Add 127, 1 => -128; Sub -128, 1 => 127; Sub 0, -128 => -128; Mul 64, 4 => 0; Max -3, 2 => 2; Min -3, 2 => -3;
            "uint16" u16: Add 65535, 2 => 1; Sub 1, 2 => 65535; Mul 300, 300 => 24464; Max 5, 9 => 9; Min 5, 9 => 5;
            "int64" i64: Add i64::MAX, 1 => i64::MIN; Sub i64::MIN, 1 => i64::MAX; Max i64::MIN, 0 => 0; Min i64::MIN, 0 => i64::MIN;
            "uint64" u64: Add u64::MAX, 1 => 0; Sub 0, 1 => u64::MAX; Max 1, u64::MAX => u64::MAX;
            "float32" f32: Add 16777216.0, 1.0 => 16777216.0; Sub -16777216.0, 1.0 => -16777216.0; Sub 0.0, 0.0 => 0.0; Sub -0.0, 0.0 => -0.0; Mul 1e30, 1e30 => f32::INFINITY; Max 0.0, -0.0 => 0.0; Max -0.0, 0.0 => -0.0; Min 0.0, -0.0 => 0.0; Min -1.0, 2.0 => -1.0;
            "float64" f64: Add 0.1, 0.2 => 0.1 + 0.2; Sub 0.3, 0.1 => 0.3 - 0.1; Mul 5e-324, 0.5 => 0.0; Max 1.0, f64::INFINITY => f64::INFINITY
        }
    }

    #[test]
    fn nan_on_either_side() {
        for reduction in [Reduction::Add, Reduction::Sub, Reduction::Mul, Reduction::Max, Reduction::Min] {
            for (a, b) in [(f32::NAN, 1.0), (1.0, f32::NAN), (f32::NAN, f32::INFINITY)] {
                assert!(f32::operation(reduction).unwrap()(a, b).is_nan());
                let (a, b) = (f16::from_f32(a), f16::from_f32(b));
                assert!(f16::operation(reduction).unwrap()(a, b).is_nan());
            }
        }
    }

    #[test]
    fn sixteen_bits_round_once() {
        let f = |v: f64| f16::from_f64(v);
        let add = f16::operation(Reduction::Add).unwrap();
        assert_eq!(add(f(2048.0), f(1.0)), f(2048.0)); // a tie goes to even
        assert_eq!(add(f(2050.0), f(1.0)), f(2052.0));
        let sub = f16::operation(Reduction::Sub).unwrap();
        assert_eq!([sub(f(-2048.0), f(1.0)), sub(f(2049.0 - 1.0), f(0.5))], [f(-2048.0), f(2048.0)]);
        let sub = bf16::operation(Reduction::Sub).unwrap();
        assert_eq!(sub(bf16::from_f32(-256.0), bf16::from_f32(1.0)).to_f32(), -256.0);
        // two bfloat16s whose product is beside a tie
        let mul = bf16::operation(Reduction::Mul).unwrap();
        let unit = |bits: u64, exponent: i32| bf16::from_f32((bits as f32) * 2_f32.powi(exponent));
        for (a, b) in [(129, 127), (129, 128), (127, 129), (255, 64), (255, 65), (128, 128)] {
            let (x, y) = (unit(a, -70), unit(b, -78));
            let exact = (a * b) as f64 / 32768.0; // 2^-148 in units of 2^-133
            let expected = if exact > 0.5 { 1 } else { 0 };
            assert_eq!(u64::from(mul(x, y).to_bits()), expected, "{a} {b}");
        }
        assert_eq!(mul(unit(1, -100), -unit(1, -100)).to_bits(), 0x8000);
    }

    #[test]
    fn bfloat16_products_are_rounded_once() {
        let mul = bf16::operation(Reduction::Mul).unwrap();
        let mut state = 7_u32;
        for _ in 0..200_000 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let (a, b) = (bf16::from_bits((state >> 16) as u16 & 0x5fff), bf16::from_bits(state as u16 & 0x3fff));
            let (product, got) = (a.to_f64() * b.to_f64(), mul(a, b));
            if !got.is_finite() {
                continue;
            }
            let (below, above) = (
                bf16::from_bits(got.to_bits().saturating_sub(1)).to_f64(),
                bf16::from_bits(got.to_bits() + 1).to_f64(),
            );
            let error = (product - got.to_f64()).abs();
            assert!(error <= (product - below).abs() && error <= (above - product).abs(), "{a} * {b} = {got}");
            let tie = error == (above - product).abs() || (error == (product - below).abs() && below != got.to_f64());
            assert!(!tie || got.to_bits() % 2 == 0, "{a} * {b} = {got}");
        }
    }

    #[test]
    fn blocks_of_float16_are_their_items() {
        let item = |i: u32| f16::from_bits((i.wrapping_mul(2_654_435_761) >> 16) as u16);
        let (old, updates): (Vec<f16>, Vec<f16>) = (0..77).map(|i| (item(i), item(i + 1000))).unzip();
        for reduction in [Reduction::Add, Reduction::Sub, Reduction::Mul, Reduction::Max, Reduction::Min] {
            let bytes = |items: &[f16]| -> Vec<u8> { items.iter().flat_map(|i| i.to_le_bytes()).collect() };
            let mut got = bytes(&old);
            (f16::on_bytes(reduction).unwrap().blocks)(&mut got, &bytes(&updates));
            let operation = f16::operation(reduction).unwrap();
            let expected: Vec<f16> = old.iter().zip(&updates).map(|(&a, &b)| operation(a, b)).collect();
            assert_eq!(got, bytes(&expected), "{reduction:?}");
        }
    }

    #[test]
    fn bool_and_complex() {
        for (reduction, table) in [
            (Reduction::Add, [0, 1, 1, 1]),
            (Reduction::Sub, [0, 1, 1, 0]),
            (Reduction::Max, [0, 1, 1, 1]),
            (Reduction::Mul, [0, 0, 0, 1]),
            (Reduction::Min, [0, 0, 0, 1]),
        ] {
            let got =
                [(0, 0), (0, 1), (1, 0), (1, 1)].map(|(old, update)| reduce("bool", reduction, &[old], &[update])[0]);
            assert_eq!(got, table, "{reduction:?}");
        }
        let bytes = |re: f32, im: f32| [re.to_le_bytes(), im.to_le_bytes()].concat();
        assert_eq!(reduce("complex64", Reduction::Mul, &bytes(1.0, 2.0), &bytes(3.0, -4.0)), bytes(11.0, 2.0));
        assert_eq!(reduce("complex64", Reduction::Add, &bytes(1.0, 2.0), &bytes(3.0, -4.0)), bytes(4.0, -2.0));
        assert_eq!(reduce("complex64", Reduction::Sub, &bytes(1.0, 2.0), &bytes(3.0, -4.0)), bytes(-2.0, 6.0));
        let bytes = |re: f64, im: f64| [re.to_le_bytes(), im.to_le_bytes()].concat();
        assert_eq!(
            reduce("complex128", Reduction::Mul, &bytes(0.1, 0.2), &bytes(0.3, -0.4)),
            bytes(0.1 * 0.3 - 0.2 * -0.4, 0.1 * -0.4 + 0.2 * 0.3)
        );
    }

    #[test]
    fn undefined() {
        for dtype in ["complex64", "complex128"] {
            let error = combine(&DType::parse(dtype).unwrap(), Reduction::Max).unwrap_err();
            assert_eq!(error.to_string(), format!("reduction: max is not defined for {dtype}"));
        }
        for dtype in ["S3", "<U3", "V4", "<M8[s]", "<m8", "longdouble", "float8_e4m3fn"] {
            for reduction in [Reduction::Add, Reduction::Sub, Reduction::Mul, Reduction::Max, Reduction::Min] {
                assert!(combine(&DType::parse(dtype).unwrap(), reduction).is_err(), "{dtype}");
            }
            assert!(combine(&DType::parse(dtype).unwrap(), Reduction::None).is_ok(), "{dtype}");
        }
    }
}
