//! Finds the items that satisfy a [`Condition`].
//!
//! Each item has a *key*: an integer itself, or the bits of a float without the sign, negated if negative. Keys sort
//! like numbers, both zeros have key 0, and NaNs are beyond the infinities. A condition is a range of keys, possibly
//! with a *hole* (`!=V`), so one vectorised loop serves all.

use std::ops::RangeInclusive;

use super::condition::{Condition, refused};
use crate::error::{Error, Result};
use crate::item::dtype::{DType, Kind};
use crate::item::element::{Element, Float, arm, match_kind};

/// A block's count fits a byte, so vectors hold as many counts as items.
const BLOCK: usize = 128;

/// A condition compiled for a dtype.
#[derive(Debug)]
pub struct Matcher {
    itemsize: usize,
    big: bool,
    rule: MatchRule,
}

#[derive(Debug)]
enum MatchRule {
    Nothing,
    Number { size: usize, is_float: bool, keys: KeyRange },
    Complex { part: usize, keys: PartKeys },
    Byte(Box<[bool; 256]>),
    Text { item: Vec<u8>, is_equal: bool },
}

#[derive(Clone, Copy, Debug)]
struct PartKeys {
    wanted: [KeyRange; 2],
    both: bool,
    allowed: KeyRange,
}

/// The keys `first..=first + span` without `hole_size` keys from `hole` on, modulo the width of the items.
#[derive(Clone, Copy, Debug)]
struct KeyRange {
    first: u64,
    span: u64,
    hole: u64,
    hole_size: u64,
}

struct KeySpace {
    all: RangeInclusive<i128>,
    numbers: RangeInclusive<i128>,
    finite: RangeInclusive<i128>,
}

impl KeySpace {
    fn integers(all: RangeInclusive<i128>) -> Self {
        Self { numbers: all.clone(), finite: all.clone(), all }
    }

    fn floats(size: usize, infinity: &[u8]) -> Self {
        let (most, infinity) = ((1_i128 << (8 * size - 1)) - 1, i128::from(number(infinity, true)));
        Self { all: -most..=most, numbers: -infinity..=infinity, finite: 1 - infinity..=infinity - 1 }
    }

    /// The minimum of int64 is NaT.
    fn times() -> Self {
        let (all, numbers) = (i64::MIN.into()..=i64::MAX.into(), i128::from(i64::MIN) + 1..=i64::MAX.into());
        Self { all, finite: numbers.clone(), numbers }
    }

    fn keys(&self, condition: &Condition<i128>) -> Option<KeyRange> {
        let (least, most) = (*self.numbers.start(), *self.numbers.end());
        // nothing compares to a NaN
        let from_to = |key: &i128, range| if self.numbers.contains(key) { KeyRange::new(&range, None) } else { None };
        match condition {
            Condition::Nan => KeyRange::new(&self.all, Some(&self.numbers)),
            Condition::Inf => KeyRange::new(&self.numbers, Some(&self.finite)),
            Condition::Finite => KeyRange::new(&self.finite, None),
            Condition::Equal(key) => from_to(key, *key..=*key),
            Condition::NotEqual(key) => KeyRange::new(&self.numbers, Some(&(*key..=*key))),
            Condition::Less(key) => from_to(key, least..=key - 1),
            Condition::AtMost(key) => from_to(key, least..=*key),
            Condition::Greater(key) => from_to(key, key + 1..=most),
            Condition::AtLeast(key) => from_to(key, *key..=most),
        }
    }
}

impl KeyRange {
    fn new(range: &RangeInclusive<i128>, hole: Option<&RangeInclusive<i128>>) -> Option<Self> {
        let hole = hole.filter(|hole| range.contains(hole.start()) && range.contains(hole.end()));
        if range.is_empty() || hole == Some(range) {
            return None;
        }
        let (start, size) = hole.map_or((0, 0), |hole| (*hole.start(), hole.end() - hole.start() + 1));
        // truncated to the width of an item
        let first = *range.start() as u64;
        Some(Self { first, span: (range.end() - range.start()) as u64, hole: start as u64, hole_size: size as u64 })
    }
}

impl PartKeys {
    #[inline(always)]
    fn hold<W: KeyWord>(&self, re: W, im: W) -> bool {
        let [wanted_re, wanted_im] = [re.is_in(self.wanted[0]), im.is_in(self.wanted[1])];
        let wanted = if self.both { wanted_re & wanted_im } else { wanted_re | wanted_im };
        wanted & re.is_in(self.allowed) & im.is_in(self.allowed)
    }
}

trait KeyWord: Element + Ord {
    fn float_key(self) -> Self;
    fn is_in(self, keys: KeyRange) -> bool;
}

macro_rules! words {
    ($($type:ty, $signed:ty;)+) => {$(
        impl KeyWord for $type {
            #[inline(always)]
            fn float_key(self) -> Self {
                // all ones for a negative float
                let sign = (self as $signed >> (Self::BITS - 1)) as Self;
                ((self & (Self::MAX >> 1)) ^ sign).wrapping_sub(sign)
            }
            #[inline(always)]
            fn is_in(self, KeyRange { first, span, hole, hole_size }: KeyRange) -> bool {
                (self.wrapping_sub(first as Self) <= span as Self) & (self.wrapping_sub(hole as Self) >= hole_size as Self)
            }
        }
    )+};
}

words! {
    u8, i8;
    u16, i16;
    u32, i32;
    u64, i64;
}

macro_rules! by_width {
    ($size:expr, $word:ident => $code:expr) => {
        match $size {
            1 => arm!($word, u8, $code),
            2 => arm!($word, u16, $code),
            4 => arm!($word, u32, $code),
            _ => arm!($word, u64, $code),
        }
    };
}

/// Expands `$code` once per byte order and kind.
macro_rules! by_key {
    ($word:ident, $is_float:expr, $big:expr, |$key:ident| $code:expr) => {
        match ($is_float, $big) {
            (false, false) => by_key!(@ $key, |bytes| $word::from_little(bytes), $code),
            (false, true) => by_key!(@ $key, |bytes| $word::from_big(bytes), $code),
            (true, false) => by_key!(@ $key, |bytes| $word::from_little(bytes).float_key(), $code),
            (true, true) => by_key!(@ $key, |bytes| $word::from_big(bytes).float_key(), $code),
        }
    };
    (@ $key:ident, $function:expr, $code:expr) => {{
        let $key = $function;
        $code
    }};
}

fn number(item: &[u8], big: bool) -> u64 {
    let join = |number: u64, &byte: &u8| number << 8 | u64::from(byte);
    if big { item.iter().fold(0, join) } else { item.iter().rev().fold(0, join) }
}

fn float_key(item: &[u8], big: bool) -> i128 {
    let (bits, sign) = (number(item, big), 1_u64 << (8 * item.len() - 1));
    let magnitude = i128::from(bits & (sign - 1));
    if bits & sign == 0 { magnitude } else { -magnitude }
}

fn by_number(
    space: &KeySpace,
    condition: &Condition<Vec<u8>>,
    size: usize,
    is_float: bool,
    key: impl Fn(&[u8]) -> i128,
) -> MatchRule {
    let keys = space.keys(&condition.map(|item| key(item)));
    keys.map_or(MatchRule::Nothing, |keys| MatchRule::Number { size, is_float, keys })
}

fn by_parts(space: &KeySpace, condition: &Condition<Vec<u8>>, part: usize, big: bool) -> MatchRule {
    let keys = |at: usize| space.keys(&condition.map(|item| float_key(&item[at..at + part], big)));
    let (is_equal, is_unequal) =
        (matches!(condition, Condition::Equal(_)), matches!(condition, Condition::NotEqual(_)));
    let allowed = if is_unequal { &space.numbers } else { &space.all };
    match (keys(0), keys(part), KeyRange::new(allowed, None)) {
        (Some(re), Some(im), Some(allowed)) => {
            let both = is_equal || matches!(condition, Condition::Finite);
            MatchRule::Complex { part, keys: PartKeys { wanted: [re, im], both, allowed } }
        }
        _ => MatchRule::Nothing,
    }
}

fn by_byte(condition: &Condition<Vec<u8>>, value: impl Fn(u8) -> f64) -> MatchRule {
    let space = KeySpace::floats(8, &f64::INFINITY.to_be_bytes());
    let keys = space.keys(&condition.map(|item| float_key(&value(item[0]).to_be_bytes(), true)));
    keys.map_or(MatchRule::Nothing, |keys| {
        MatchRule::Byte(Box::new(std::array::from_fn(|byte| value(byte as u8).to_bits().float_key().is_in(keys))))
    })
}

impl Matcher {
    /// Complex numbers and strings have no order, and opaque items no conditions.
    ///
    /// # Errors
    /// The dtype has no such condition.
    pub fn new(dtype: &DType, condition: &Condition<Vec<u8>>) -> Result<Self, Error> {
        let (itemsize, big) = (dtype.itemsize(), dtype.is_big_endian());
        let refuse = |what: &str| Err(refused(format!("{what} ({})", dtype.name())));
        let rule = match_kind!(dtype.kind(), {
            bool T => by_byte(condition, |byte| f64::from(T::from_little([byte]))),
            integer T => {
                let space = KeySpace::integers(i128::from(T::MIN)..=i128::from(T::MAX));
                by_number(&space, condition, itemsize, false, |item| i128::from(number(item, big) as T))
            },
            float T => {
                let space = KeySpace::floats(itemsize, T::nearest(f64::INFINITY).to_big().as_ref());
                by_number(&space, condition, itemsize, true, |item| float_key(item, big))
            },
            complex T => {
                if condition.is_ordered() {
                    return refuse("complex numbers have no order: expected nan, inf, finite, ==V or !=V");
                }
                let part = itemsize / 2;
                let space = KeySpace::floats(part, <T as Element>::Part::nearest(f64::INFINITY).to_big().as_ref());
                by_parts(&space, condition, part, big)
            },
            Kind::Narrow(narrow) => by_byte(condition, |byte| narrow.value(byte)),
            Kind::Datetime(_) | Kind::Timedelta(_) => {
                by_number(&KeySpace::times(), condition, itemsize, false, |item| i128::from(number(item, big) as i64))
            },
            Kind::Bytes(_) | Kind::Str(_) => match condition {
                Condition::Equal(item) => MatchRule::Text { item: item.clone(), is_equal: true },
                Condition::NotEqual(item) => MatchRule::Text { item: item.clone(), is_equal: false },
                _ => return refuse("strings are compared by ==V and !=V only"),
            },
            Kind::LongDouble(_) | Kind::ComplexLongDouble(_) | Kind::Void(_) | Kind::Struct(_) => {
                return refuse("items of this dtype are opaque bytes");
            },
        });
        Ok(Self { itemsize, big, rule })
    }

    /// Replaces the items that match by `item`, and returns their number.
    pub fn replace(&self, items: &mut [u8], item: &[u8]) -> usize {
        match &self.rule {
            MatchRule::Nothing => 0,
            MatchRule::Number { size, is_float, keys } => {
                by_width!(*size, W => by_key!(W, *is_float, self.big, |key| {
                    let keys = *keys;
                    replace(W::chunks_mut(items), W::chunks(item)[0], |word| key(word).is_in(keys))
                }))
            }
            MatchRule::Complex { part, keys } => by_width!(*part, W => by_key!(W, true, self.big, |key| {
                let (keys, new) = (*keys, W::chunks(item).as_chunks::<2>().0[0]);
                replace(W::chunks_mut(items).as_chunks_mut::<2>().0, new, |[re, im]| keys.hold(key(re), key(im)))
            })),
            MatchRule::Byte(table) => replace(items, item[0], |byte| table[usize::from(byte)]),
            MatchRule::Text { item: text, is_equal } => {
                let found = items.chunks_exact_mut(self.itemsize.max(1)).filter(|one| (*one == text) == *is_equal);
                found.map(|one| one.copy_from_slice(item)).count()
            }
        }
    }
}

/// Blocks without a match are not written, since that took 1.2 to 1.3 times the instructions.
#[inline(always)]
fn replace<T: Copy>(items: &mut [T], new: T, test: impl Fn(T) -> bool) -> usize {
    let mut all = 0;
    for block in items.chunks_mut(BLOCK) {
        let mut found = 0_u32;
        for &item in &*block {
            found += u32::from(test(item));
        }
        if found > 0 {
            for item in block {
                *item = if test(*item) { new } else { *item };
            }
        }
        all += found as usize;
    }
    all
}

#[cfg(test)]
mod tests {
    use half::{bf16, f16};

    use super::*;
    use crate::item::float16::{bf16_to_f32, f16_to_f32};

    fn conditions<V: Clone>(value: &V) -> [Condition<V>; 9] {
        let value = || value.clone();
        [
            Condition::Nan,
            Condition::Inf,
            Condition::Finite,
            Condition::Equal(value()),
            Condition::NotEqual(value()),
            Condition::Less(value()),
            Condition::AtMost(value()),
            Condition::Greater(value()),
            Condition::AtLeast(value()),
        ]
    }

    fn holds(condition: &Condition<f64>, found: f64) -> bool {
        match *condition {
            Condition::Nan => found.is_nan(),
            Condition::Inf => found.is_infinite(),
            Condition::Finite => found.is_finite(),
            Condition::Equal(value) => found == value,
            Condition::NotEqual(value) => !found.is_nan() && found != value,
            Condition::Less(value) => found < value,
            Condition::AtMost(value) => found <= value,
            Condition::Greater(value) => found > value,
            Condition::AtLeast(value) => found >= value,
        }
    }

    fn check(dtype: &str, items: &[u8], value: &[u8], expected: &dyn Fn(usize, &Condition<usize>) -> bool) {
        for order in [DType::native, DType::big_endian] {
            let dtype = order(&DType::parse(dtype).unwrap());
            let size = dtype.itemsize();
            let turned = |bytes: &[u8]| {
                let mut bytes = bytes.to_vec();
                crate::item::encoding::Swap::apply_all(&dtype.native().swaps_to(&dtype), &mut bytes, size);
                bytes
            };
            let (items, value) = (turned(items), turned(value));
            for (condition, numbered) in conditions(&value).iter().zip(conditions(&0)) {
                let Ok(matcher) = Matcher::new(&dtype, condition) else {
                    assert!(condition.is_ordered(), "{dtype} {condition:?}");
                    continue;
                };
                let matches: Vec<_> = (0..items.len() / size).map(|n| expected(n, &numbered)).collect();
                let count = matches.iter().filter(|&&one| one).count();
                let name = || format!("{dtype} {condition:?}");
                let (mut replaced, new) = (items.clone(), vec![0x55; size]);
                assert_eq!(matcher.replace(&mut replaced, &new), count, "{}", name());
                for (n, one) in replaced.chunks_exact(size).enumerate() {
                    let old = &items[n * size..][..size];
                    assert_eq!(one, if matches[n] { &new } else { old }, "{} of {old:?}", name());
                }
            }
        }
    }

    fn check_floats(dtype: &str, items: &[u8], values: &[f64], compared: &[usize]) {
        let size = DType::parse(dtype).unwrap().itemsize();
        for &one in compared {
            let expected = |n: usize, condition: &Condition<usize>| holds(&condition.map(|_| values[one]), values[n]);
            check(dtype, items, &items[one * size..][..size], &expected);
        }
    }

    #[test]
    fn every_short_float() {
        let bits: Vec<u8> = (0..=u16::MAX).flat_map(u16::to_le_bytes).collect();
        let halves: Vec<f64> = (0..=u16::MAX).map(|bits| f16_to_f32(f16::from_bits(bits)).into()).collect();
        let brains: Vec<f64> = (0..=u16::MAX).map(|bits| bf16_to_f32(bf16::from_bits(bits)).into()).collect();
        let compared =
            [0, 1, 0x3c00, 0x7bff, 0x7c00, 0x7c01, 0x7f7f, 0x7f80, 0x8000, 0x8001, 0xbc00, 0xfbff, 0xfc00, 0xffff];
        check_floats("float16", &bits, &halves, &compared);
        check_floats("bfloat16", &bits, &brains, &compared);
    }

    #[test]
    fn every_item_of_one_byte() {
        let bytes: Vec<u8> = (0..=255).collect();
        for name in DType::names().filter(|name| DType::parse(name).unwrap().itemsize() == 1) {
            let dtype = DType::parse(name).unwrap();
            let value = |byte: u8| match dtype.kind() {
                Kind::Narrow(narrow) => narrow.value(byte),
                Kind::Int8 => f64::from(byte as i8),
                Kind::UInt8 => f64::from(byte),
                Kind::Bool => f64::from(byte != 0),
                other => panic!("{other:?}"),
            };
            let values: Vec<f64> = bytes.iter().map(|&byte| value(byte)).collect();
            check_floats(name, &bytes, &values, &(0..256).step_by(17).chain([1, 127, 128, 129]).collect::<Vec<_>>());
        }
    }

    #[test]
    fn longer_floats_and_complex_numbers() {
        let subnormal = f64::from(f32::from_bits(1));
        let numbers = [0.0, -0.0, 1.0, -1.0, 1.5, subnormal, -subnormal, f64::MAX, f64::MIN, 1e30, f64::INFINITY];
        let numbers: Vec<f64> = numbers.into_iter().chain([f64::NEG_INFINITY, f64::NAN, -f64::NAN]).collect();
        let singles: Vec<f32> = numbers.iter().map(|&number| number as f32).collect();
        let all: Vec<usize> = (0..numbers.len()).collect();
        let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        check_floats("float64", &bytes, &numbers, &all);
        let bytes: Vec<u8> = singles.iter().flat_map(|number| number.to_le_bytes()).collect();
        let wide: Vec<f64> = singles.iter().map(|&number| number.into()).collect();
        check_floats("float32", &bytes, &wide, &all);
        let pairs: Vec<[f32; 2]> = singles.iter().flat_map(|&re| singles.iter().map(move |&im| [re, im])).collect();
        let bytes: Vec<u8> = pairs.iter().flatten().flat_map(|number| number.to_le_bytes()).collect();
        let doubles: Vec<u8> = pairs.iter().flatten().flat_map(|&number| f64::from(number).to_le_bytes()).collect();
        for (at, value) in pairs.iter().enumerate().step_by(5) {
            let expected = |n: usize, condition: &Condition<usize>| {
                let found = pairs[n];
                let any = |test: fn(f32) -> bool| found.into_iter().any(test);
                match condition {
                    Condition::Nan => any(f32::is_nan),
                    Condition::Inf => any(f32::is_infinite),
                    Condition::Finite => !any(f32::is_nan) && !any(f32::is_infinite),
                    Condition::Equal(_) => found == *value,
                    Condition::NotEqual(_) => found != *value && !any(f32::is_nan),
                    other => panic!("{other:?}"),
                }
            };
            check("complex64", &bytes, &bytes[8 * at..][..8], &expected);
            check("complex128", &doubles, &doubles[16 * at..][..16], &expected);
        }
    }

    #[test]
    fn integers_are_compared_exactly() {
        fn test<T: Element + Ord + Into<i128>>(least: T, most: T, others: &[T]) {
            let items: Vec<T> = others.iter().copied().chain([least, most]).collect();
            let bytes: Vec<u8> = items.iter().flat_map(|item| item.to_little().as_ref().to_vec()).collect();
            for value in &items {
                let expected = |n: usize, condition: &Condition<usize>| match condition {
                    Condition::Nan | Condition::Inf => false,
                    Condition::Finite => true,
                    Condition::Equal(_) => items[n] == *value,
                    Condition::NotEqual(_) => items[n] != *value,
                    Condition::Less(_) => items[n] < *value,
                    Condition::AtMost(_) => items[n] <= *value,
                    Condition::Greater(_) => items[n] > *value,
                    Condition::AtLeast(_) => items[n] >= *value,
                };
                check(&T::dtype().name(), &bytes, value.to_little().as_ref(), &expected);
            }
        }
        test(i8::MIN, i8::MAX, &[0, -1, 1]);
        test(i16::MIN, i16::MAX, &[0, -1, 1, 300]);
        test(u16::MIN, u16::MAX, &[1, 0x7fff, 0x8000]);
        test(i32::MIN, i32::MAX, &[0, -1, 1, 1 << 24, (1 << 24) + 1]);
        test(u32::MIN, u32::MAX, &[1, 1 << 31]);
        test(i64::MIN, i64::MAX, &[0, -1, 1 << 53, (1 << 53) + 1]);
        test(u64::MIN, u64::MAX, &[1, 1 << 63, (1 << 63) + 1]);
    }

    #[test]
    fn dates_and_strings() {
        let ticks = [i64::MIN, i64::MIN + 1, -1, 0, 1, i64::MAX];
        let bytes: Vec<u8> = ticks.iter().flat_map(|tick| tick.to_le_bytes()).collect();
        let values: Vec<f64> =
            ticks.iter().map(|&tick| if tick == i64::MIN { f64::NAN } else { tick as f64 }).collect();
        for dtype in ["<M8[ns]", "<m8[D]"] {
            check_floats(dtype, &bytes, &values, &[0, 1, 2, 3, 5]);
        }
        let matcher = |dtype: &str, condition| Matcher::new(&DType::parse(dtype).unwrap(), &condition);
        let equal = matcher("S2", Condition::Equal(b"a\0".to_vec())).unwrap();
        let unequal = matcher("S2", Condition::NotEqual(b"a\0".to_vec())).unwrap();
        for (matcher, expected) in [(unequal, b"a\0zza\0zz"), (equal, b"zzabzz\0\0")] {
            let mut items = *b"a\0aba\0\0\0";
            assert_eq!((matcher.replace(&mut items, b"zz"), &items), (2, expected));
        }
        assert_eq!(matcher("S0", Condition::Equal(vec![])).unwrap().replace(&mut [], b""), 0);
    }

    #[test]
    fn refused() {
        let rows = [
            (
                "complex64",
                Condition::Less(vec![0; 8]),
                "complex numbers have no order: expected nan, inf, finite, ==V or !=V",
            ),
            ("<U1", Condition::AtLeast(vec![0; 4]), "strings are compared by ==V and !=V only"),
            ("S1", Condition::Nan, "strings are compared by ==V and !=V only"),
            ("V4", Condition::Nan, "items of this dtype are opaque bytes"),
            ("longdouble", Condition::Nan, "items of this dtype are opaque bytes"),
        ];
        for (name, condition, why) in rows {
            let dtype = DType::parse(name).unwrap();
            let error = Matcher::new(&dtype, &condition).unwrap_err();
            assert_eq!(error.to_string(), format!("where: {why} ({})", dtype.name()));
        }
    }
}
