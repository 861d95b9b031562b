//! Values: casts of any bits from any dtype to any other, types of 8 bits or fewer, and `diff` against a plain loop.

use tensorop::diff::{self, Difference, Number, Options, Style};
use tensorop::{DType, Tensor};
use tensorop::{
    item::cast::{Cast, CastFailure, Overflowed},
    item::dtype::{Kind, Narrow},
};

use crate::checks::{Numbers, is_one_line};

/// Types of 8 bits or fewer.
const NARROW: [&str; 15] = [
    "float8_e3m4",
    "float8_e4m3",
    "float8_e4m3fn",
    "float8_e4m3fnuz",
    "float8_e4m3b11fnuz",
    "float8_e5m2",
    "float8_e5m2fnuz",
    "float8_e8m0fnu",
    "float6_e2m3fn",
    "float6_e3m2fn",
    "float4_e2m1fn",
    "int4",
    "uint4",
    "int2",
    "uint2",
];

/// All others, of which some have no numbers.
const WIDE: [&str; 27] = [
    "bool",
    "int8",
    "uint8",
    "<i2",
    ">i2",
    "<u2",
    "<i4",
    ">i4",
    "<u4",
    "<i8",
    ">i8",
    "<u8",
    "<f2",
    ">f2",
    "bfloat16",
    "<f4",
    ">f4",
    "<f8",
    ">f8",
    "<c8",
    ">c16",
    "<U2",
    "|S3",
    "<M8[D]",
    "<M8[25ns]",
    "<m8[h]",
    "|V2",
];

fn named(name: &str) -> DType {
    DType::parse(name).unwrap_or_else(|error| panic!("{name}: {}", error.message()))
}

fn any_dtype(numbers: &mut Numbers<'_>) -> DType {
    let all = WIDE.len() + NARROW.len();
    let n = numbers.below(all);
    named(WIDE.get(n).or_else(|| NARROW.get(n - WIDE.len())).expect("one of them"))
}

/// An integer that an item is; `None` for other dtypes.
fn integer(dtype: &DType, item: &[u8]) -> Option<i128> {
    let mut little = item.to_vec();
    if dtype.is_big_endian() {
        little.reverse();
    }
    let mut word = [0; 8];
    word[..little.len().min(8)].copy_from_slice(&little[..little.len().min(8)]);
    let unsigned = u64::from_le_bytes(word);
    let shift = 64 - 8 * item.len().min(8) as u32;
    let signed = || i128::from((unsigned.checked_shl(shift).unwrap_or(0) as i64).checked_shr(shift).unwrap_or(0));
    Some(match dtype.kind() {
        Kind::Int8 | Kind::Int16 | Kind::Int32 | Kind::Int64 => signed(),
        Kind::UInt8 | Kind::UInt16 | Kind::UInt32 | Kind::UInt64 => unsigned.into(),
        Kind::Narrow(narrow) if narrow.is_integer() => narrow.value(item[0]) as i128,
        _ => return None,
    })
}

/// A cast of items is that of each, gives as many, and where it is exact the way back gives them again.
pub(crate) fn cast(bytes: &[u8]) {
    let mut numbers = Numbers(bytes);
    let (from, to, lossy) = (any_dtype(&mut numbers), any_dtype(&mut numbers), numbers.byte() % 2 == 1);
    let cast = match Cast::new(&from, &to, lossy) {
        Ok(cast) => cast,
        Err(error) => return is_one_line(error.message()),
    };
    let (size, count) = (from.itemsize(), numbers.0.len() / from.itemsize());
    let items = &numbers.0[..count * size];
    let what = || format!("{} to {}, lossy {lossy}: {items:02x?}", from.name(), to.name());
    let mut all = Vec::new();
    let done = cast.apply(items, &mut all);
    // of one item after the other
    let (mut each, mut failed, mut overflowed) = (Vec::new(), None, Overflowed::default());
    for (n, item) in items.chunks_exact(size).enumerate() {
        let mut one = Vec::new();
        match cast.apply(item, &mut one) {
            Ok(found) => {
                overflowed.items += found.items;
                overflowed.first = overflowed.first.or(found.first.map(|_| n));
                each.push(one);
            }
            Err(CastFailure { item: 0, why }) => {
                is_one_line(&why);
                failed = Some(CastFailure { item: n, why });
                break;
            }
            Err(other) => panic!("{}: {other:?} of 1", what()),
        }
    }
    match (done, failed) {
        (Ok(found), None) => {
            assert_eq!(all, each.concat(), "{}", what());
            assert_eq!(found, overflowed, "{}", what());
        }
        (done, failed) => assert_eq!(done.err(), failed, "{}", what()),
    }
    for (item, cast_item) in items.chunks_exact(size).zip(&each) {
        assert_eq!(cast_item.len(), to.itemsize(), "{}", what());
        if lossy {
            continue;
        }
        // an integer is exact or refused
        if let (Some(before), Some(after)) = (integer(&from, item), integer(&to, cast_item)) {
            assert_eq!(before, after, "{}", what());
        }
        // what a wider type holds exactly comes back
        if from.is_integer() && to.is_integer() || widens(&from, &to) {
            let mut back = Vec::new();
            let again = Cast::new(&to, &from, false).map(|cast| cast.apply(cast_item, &mut back));
            assert_eq!(again, Ok(Ok(Overflowed::default())), "{} and back", what());
            let canonical = |item: &[u8]| match from.kind() {
                Kind::Narrow(narrow) => vec![item[0] & (u8::MAX >> (8 - narrow.bits()))],
                Kind::Bool => vec![u8::from(item[0] != 0)],
                _ => item.to_vec(),
            };
            let nan = back != canonical(item) && is_nan(&from, item);
            assert!(nan || back == canonical(item), "{}: {item:02x?} comes back as {back:02x?}", what());
            assert!(!nan || is_nan(&from, &back), "{}: NaN comes back as {back:02x?}", what());
        }
    }
}

/// Whether every item of a float or bool is one of the other.
fn widens(from: &DType, to: &DType) -> bool {
    let rank = |dtype: &DType| match dtype.kind() {
        Kind::Float32 => Some(2),
        Kind::Float64 => Some(3),
        // float16 and bfloat16 are in neither
        Kind::Float16 | Kind::BFloat16 | Kind::Narrow(_) | Kind::Bool => Some(1),
        _ => None,
    };
    rank(from).zip(rank(to)).is_some_and(|(from, to)| from < to)
}

fn is_nan(dtype: &DType, item: &[u8]) -> bool {
    let mut out = Vec::new();
    let cast = Cast::new(dtype, &named("float64"), true).map(|cast| cast.apply(item, &mut out).is_ok());
    cast == Ok(true) && out.first_chunk().is_some_and(|bytes| f64::from_le_bytes(*bytes).is_nan())
}

/// The item that a value becomes is the nearest of all; steps count items in the order of their values.
pub(crate) fn narrow(bytes: &[u8]) {
    let mut numbers = Numbers(bytes);
    let Kind::Narrow(narrow) = *named(NARROW[numbers.below(NARROW.len())]).kind() else { return };
    let items = || (0..=u8::MAX >> (8 - narrow.bits())).filter(|item| narrow.value(*item).is_finite());
    let mut word = [0; 8];
    word.iter_mut().for_each(|byte| *byte = numbers.byte());
    // any float, one near an item, or one between two
    let value = match numbers.below(3) {
        0 => f64::from_le_bytes(word),
        1 => f64::from_bits(narrow.value(word[0]).to_bits().wrapping_add_signed(i64::from(word[1]) % 3 - 1)),
        _ => (narrow.value(word[0]) + narrow.value(word[1])) / 2.0,
    };
    let found = narrow.value(narrow.encode(value));
    if value.is_finite() && narrow.holds(value) && !narrow.is_integer() {
        let off = (found - value).abs();
        let nearer = items().find(|item| (narrow.value(*item) - value).abs() < off);
        assert!(nearer.is_none(), "{narrow:?}: {value:e} becomes {found:e}, {nearer:?} is nearer");
    }
    for item in items() {
        let value = narrow.value(item);
        assert_eq!(narrow.value(narrow.encode(value)), value, "{narrow:?}: {item:#x}");
    }
    let (a, b) = (word[0], word[1]);
    let order = |narrow: Narrow| narrow.ordinal(a).zip(narrow.ordinal(b)).map(|(a, b)| a.cmp(&b));
    assert_eq!(order(narrow), narrow.value(a).partial_cmp(&narrow.value(b)), "{narrow:?}: {a:#x}, {b:#x}");
}

/// The dtypes that `diff` is checked with: an item, its value as an integer or a float, and its steps.
const COMPARED: [&str; 12] = [
    "int8",
    "uint8",
    "<i4",
    ">i8",
    "<u8",
    "<f4",
    ">f4",
    "<f8",
    "float8_e4m3fn",
    "float8_e5m2",
    "float4_e2m1fn",
    "int4",
];

enum Item {
    Integer(i128),
    /// With its steps from zero, if it is no NaN.
    Float(f64, Option<i128>),
}

fn item(dtype: &DType, bytes: &[u8]) -> Item {
    let mut little = bytes.to_vec();
    if dtype.is_big_endian() {
        little.reverse();
    }
    let steps = |magnitude: u64, negative: bool| {
        let magnitude = i128::from(magnitude);
        if negative { -magnitude } else { magnitude }
    };
    match (integer(dtype, bytes), dtype.kind()) {
        (Some(integer), _) => Item::Integer(integer),
        (None, Kind::Float32) => {
            let bits = u32::from_le_bytes(little.try_into().expect("four bytes"));
            Item::Float(f32::from_bits(bits).into(), Some(steps((bits & (u32::MAX >> 1)).into(), bits >> 31 == 1)))
        }
        (None, Kind::Float64) => {
            let bits = u64::from_le_bytes(little.try_into().expect("eight bytes"));
            Item::Float(f64::from_bits(bits), Some(steps(bits & (u64::MAX >> 1), bits >> 63 == 1)))
        }
        (None, Kind::Narrow(narrow)) => Item::Float(narrow.value(bytes[0]), narrow.ordinal(bytes[0]).map(i128::from)),
        _ => unreachable!("{}", dtype.name()),
    }
}

/// What a plain loop finds: how many differ, how many do not pass, and whether any tolerance would do.
#[derive(Debug, Default, PartialEq)]
struct Plain {
    differing: usize,
    mismatches: usize,
    first: Option<usize>,
    /// How many of these are not finite on either side, and the first of them.
    nonfinite: (usize, Option<usize>),
    hopeless: bool,
    /// Of finite items: the largest errors, and the first item that has each.
    abs: Option<(f64, usize)>,
    ulp: Option<(u64, usize)>,
}

fn plain(dtype: &DType, expected: &[u8], actual: &[u8], options: &Options) -> Plain {
    let mut found = Plain::default();
    let size = dtype.itemsize();
    for (n, (one, other)) in expected.chunks_exact(size).zip(actual.chunks_exact(size)).enumerate() {
        let (abs, scale, steps, nan) = match (item(dtype, one), item(dtype, other)) {
            (Item::Integer(a), Item::Integer(b)) => {
                (Some((a - b).abs() as f64), a.abs() as f64, Some((a - b).abs()), false)
            }
            (Item::Float(a, i), Item::Float(b, j)) => {
                let finite = a.is_finite() && b.is_finite();
                let steps = i.zip(j).map(|(i, j)| (i - j).abs()).filter(|_| finite);
                (finite.then(|| (b - a).abs()), a.abs(), steps, a.is_nan() && b.is_nan())
            }
            _ => unreachable!("one dtype"),
        };
        let steps = steps.map(|steps| u64::try_from(steps).expect("64 bits hold it"));
        if let Some(abs) = abs.filter(|abs| found.abs.is_none_or(|(most, _)| *abs > most)) {
            found.abs = Some((abs, n));
        }
        if let Some(steps) = steps.filter(|steps| found.ulp.is_none_or(|(most, _)| *steps > most)) {
            found.ulp = Some((steps, n));
        }
        if one == other || nan && !options.nan_differs {
            continue;
        }
        found.differing += 1;
        found.hopeless |= abs.is_none();
        let tolerant = options.atol.is_some() || options.rtol.is_some();
        let limit = options.atol.unwrap_or(0.0) + options.rtol.unwrap_or(0.0) * scale;
        let near = tolerant && abs.is_some_and(|abs| abs <= limit);
        let close = options.ulp.zip(steps).is_some_and(|(most, steps)| steps <= most);
        if !near && !close {
            found.mismatches += 1;
            found.first.get_or_insert(n);
            if abs.is_none() {
                found.nonfinite = (found.nonfinite.0 + 1, found.nonfinite.1.or(Some(n)));
            }
        }
    }
    found
}

/// What is told of two tensors is what a plain loop over them finds, and the tolerances that it names are the least.
pub(crate) fn difference(bytes: &[u8]) {
    let mut numbers = Numbers(bytes);
    let dtype = named(COMPARED[numbers.below(COMPARED.len())]);
    let tolerance = |numbers: &mut Numbers<'_>| match numbers.below(5) {
        0 => Some(f64::from(numbers.byte()) / 16.0),
        1 => Some(0.0),
        _ => None,
    };
    let mut options = Options::default();
    options.atol = tolerance(&mut numbers);
    options.rtol = tolerance(&mut numbers);
    options.ulp = (numbers.below(4) == 0).then(|| u64::from(numbers.byte()));
    options.nan_differs = numbers.below(8) == 0;
    let (size, changes) = (dtype.itemsize(), numbers.below(6));
    let mut place = || (numbers.below(256), numbers.byte());
    let changes: Vec<_> = (0..changes).map(|_| place()).collect();
    let count = numbers.0.len() / size;
    let mut expected = numbers.0[..count * size].to_vec();
    if let Kind::Narrow(narrow) = dtype.kind() {
        expected.iter_mut().for_each(|byte| *byte &= u8::MAX >> (8 - narrow.bits()));
    }
    let mut actual = expected.clone();
    for (at, bits) in changes {
        let len = actual.len().max(1);
        if let Some(byte) = actual.get_mut(at % len) {
            let bits =
                if let Kind::Narrow(narrow) = dtype.kind() { bits & (u8::MAX >> (8 - narrow.bits())) } else { bits };
            *byte ^= bits;
        }
    }
    let tensor = |bytes: &[u8]| Tensor::new(dtype.clone(), vec![count], bytes.to_vec()).expect("items");
    let (expected_tensor, actual_tensor) = (tensor(&expected), tensor(&actual));
    let compare = |options: &Options| -> Difference {
        diff::compare(&expected_tensor, &actual_tensor, options).expect("tensors in memory")
    };
    let found = compare(&options);
    let what = || format!("{} {options:?}: {expected:02x?} and {actual:02x?}: {found:?}", dtype.name());
    let plainly = plain(&dtype, &expected, &actual, &options);
    assert_eq!(
        (found.differing(), found.mismatches()),
        (Some(plainly.differing), Some(plainly.mismatches)),
        "{}",
        what()
    );
    assert_eq!(found.equal(), plainly.mismatches == 0, "{}", what());
    let first = plainly.nonfinite.1.map(|n| vec![n]);
    assert_eq!(
        (found.nonfinite_mismatches(), found.first_nonfinite()),
        (Some(plainly.nonfinite.0), first.as_deref()),
        "{}",
        what()
    );
    assert_eq!(found.first().len(), plainly.mismatches.min(options.shown), "{}", what());
    assert_eq!(found.first().first().map(|first| first.index.clone()), plainly.first.map(|n| vec![n]), "{}", what());
    let abs = found.max_abs().map(|most| match most.value {
        Number::Float(value) => (value, most.index[0]),
        Number::Integer(value) => (value as f64, most.index[0]),
    });
    // integers that are not apart as float64 are apart here
    let same = abs.map(|(value, _)| value) == plainly.abs.map(|(value, _)| value);
    assert!(same && (abs == plainly.abs || abs.is_some_and(|(value, _)| value >= 2_f64.powi(53))), "{}", what());
    assert_eq!(found.max_ulp().map(|most| (most.value, most.index[0])), plainly.ulp, "{}", what());
    assert_eq!(found.min_ulp().is_none(), plainly.hopeless, "{}", what());
    // the tolerances that would have done do, and no smaller ones
    let none = || Options::default().with_nan_differs(options.nan_differs);
    let passes = |options: Options| compare(&options).equal();
    if let Some(ulp) = found.min_ulp() {
        assert!(passes(none().with_ulp(ulp)), "ulp {ulp} of {}", what());
        assert!(ulp == 0 || !passes(none().with_ulp(ulp - 1)), "ulp {ulp} less 1 of {}", what());
    }
    for (min, is_atol) in [(found.min_atol(), true), (found.min_rtol(), false)] {
        let Some(min) = min else { continue };
        let with = |tolerance| match is_atol {
            true => none().with_atol(tolerance),
            false => none().with_rtol(tolerance),
        };
        assert!(passes(with(min)), "{min:e} (absolute: {is_atol}) of {}", what());
        assert!(min == 0.0 || !passes(with(min.next_down())), "less than {min:e} (absolute: {is_atol}) of {}", what());
    }
    let mut text = Vec::new();
    found.write_json(&mut text).expect("into memory");
    let parsed: Result<serde_json::Value, _> = serde_json::from_slice(&text);
    assert!(parsed.is_ok(), "{}", String::from_utf8_lossy(&text));
    found.write_report(&mut Vec::new(), Style::plain()).expect("into memory");
    is_one_line(&found.verdict());
    is_one_line(&found.summary(Style::plain()));
    let _ = diff::Reason::Values.name();
}
