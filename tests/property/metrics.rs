//! Random pairs of tensors, and what `diff --json` says of them as a whole against plain loops over their values: how many
//! items do not pass and where, the worst, metrics and quantiles; at windows that put boundaries anywhere.

use half::{bf16, f16};
use serde_json::Value;
use tensorop::DType;
use tensorop::item::dtype::Kind;

use crate::common::Random;
use crate::common::{DIVISIONS, Folder, header, npy_with_header, rounds, to_fortran};

/// How a dtype is stored: the descr of its file, what `--dtype` says of it, the bytes of an item, and of the units that a
/// byte order arranges.
type Stored = (&'static str, Option<&'static str>, usize, usize);

const STORED: [Stored; 20] = [
    ("b1", None, 1, 1),
    ("i1", None, 1, 1),
    ("i2", None, 2, 2),
    ("i4", None, 4, 4),
    ("i8", None, 8, 8),
    ("u1", None, 1, 1),
    ("u2", None, 2, 2),
    ("u4", None, 4, 4),
    ("u8", None, 8, 8),
    ("f2", None, 2, 2),
    ("V2", Some("bfloat16"), 2, 1),
    ("f4", None, 4, 4),
    ("f8", None, 8, 8),
    ("f8", None, 8, 8),
    ("c8", None, 8, 4),
    ("c16", None, 16, 8),
    ("V1", Some("float8_e4m3fn"), 1, 1),
    ("V1", Some("float8_e5m2"), 1, 1),
    ("V1", Some("float4_e2m1fn"), 1, 1),
    ("M8[s]", None, 8, 8),
];

/// What an item is.
#[derive(Clone, Copy, Debug)]
enum Number {
    Integer(i128),
    Float(f64),
    Complex(f64, f64),
}

impl Number {
    fn is_finite(self) -> bool {
        match self {
            Self::Integer(_) => true,
            Self::Float(value) => value.is_finite(),
            Self::Complex(re, im) => re.is_finite() && im.is_finite(),
        }
    }

    fn is_nan(self) -> bool {
        match self {
            Self::Integer(_) => false,
            Self::Float(value) => value.is_nan(),
            Self::Complex(re, im) => re.is_nan() || im.is_nan(),
        }
    }

    /// As two float64, which no integer is that metrics are checked of.
    fn parts(self) -> [f64; 2] {
        match self {
            Self::Integer(value) => [value as f64, 0.0],
            Self::Float(value) => [value, 0.0],
            Self::Complex(re, im) => [re, im],
        }
    }

    fn minus(self, other: Self) -> Self {
        match (self, other) {
            (Self::Integer(a), Self::Integer(b)) => Self::Integer(a - b),
            (a, b) => {
                let ([a, i], [b, j]) = (a.parts(), b.parts());
                Self::Complex(a - b, i - j)
            }
        }
    }

    fn modulus(self) -> f64 {
        match self {
            Self::Integer(value) => value.unsigned_abs() as f64,
            Self::Float(value) => value.abs(),
            Self::Complex(re, im) => re.hypot(im),
        }
    }
}

/// The number that little-endian bytes are.
fn number((descr, dtype, ..): Stored, bytes: &[u8]) -> Number {
    let float = |bytes: &[u8]| match bytes.len() {
        4 => f32::from_le_bytes(bytes.try_into().expect("four bytes")).into(),
        _ => f64::from_le_bytes(bytes.try_into().expect("eight bytes")),
    };
    let wide = |fill: u8| {
        let mut wide = [fill; 16];
        wide[..bytes.len()].copy_from_slice(bytes);
        i128::from_le_bytes(wide)
    };
    let negative = bytes.last().is_some_and(|byte| byte >> 7 == 1);
    match (dtype, descr.as_bytes()[0]) {
        (Some("bfloat16"), _) => Number::Float(bf16::from_le_bytes([bytes[0], bytes[1]]).into()),
        (Some(name), _) => match DType::parse(name).expect("a dtype").kind() {
            Kind::Narrow(narrow) => Number::Float(narrow.value(bytes[0])),
            kind => unreachable!("{kind:?}"),
        },
        (None, b'f') if bytes.len() == 2 => Number::Float(f16::from_le_bytes([bytes[0], bytes[1]]).into()),
        (None, b'f') => Number::Float(float(bytes)),
        (None, b'c') => {
            let (re, im) = bytes.split_at(bytes.len() / 2);
            Number::Complex(float(re), float(im))
        }
        (None, b'i' | b'M') if negative => Number::Integer(wide(0xff)),
        (None, _) => Number::Integer(wide(0)),
    }
}

/// Little-endian bytes of some number of a dtype: a small one mostly, times a power of two of float64; else a rare one.
fn item(random: &mut Random, stored: Stored, scale: f64) -> Vec<u8> {
    let (descr, dtype, size, _) = stored;
    if descr.starts_with('c') {
        let part = if size == 8 { ("f4", None, 4, 4) } else { ("f8", None, 8, 8) };
        return [item(random, part, scale), item(random, part, scale)].concat();
    }
    let small = random.within(-40..41) as f64 / 8.0;
    let rare = [0.0, -0.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1.0, 300.0, -0.0625];
    let value = if random.chance(12) { *random.of(&rare) } else { small * scale };
    // the smallest there is, above zero
    let tiny = random.chance(3);
    let mut bits = match (dtype, descr.as_bytes()[0], size) {
        (None, b'f', 8) if tiny => 1_u64.to_le_bytes().to_vec(),
        (None, b'f', 8) => value.to_le_bytes().to_vec(),
        (None, b'f', 4) if tiny => 1_u32.to_le_bytes().to_vec(),
        (None, b'f', 4) => (value as f32).to_le_bytes().to_vec(),
        (None, b'f', _) => f16::from_f64(value).to_le_bytes().to_vec(),
        (Some("bfloat16"), ..) => bf16::from_f64(value).to_le_bytes().to_vec(),
        (Some(_), ..) => random.bytes(1),
        (None, b'b', _) => vec![u8::from(random.chance(50))],
        // an extreme, or any
        (None, ..) if random.chance(4) => [&vec![0xff; size - 1][..], &[*random.of(&[0x7f, 0xff])]].concat(),
        (None, ..) if random.chance(4) => random.bytes(size),
        (None, ..) => random.within(-9..60).to_le_bytes()[..size].to_vec(),
    };
    if dtype == Some("float4_e2m1fn") {
        bits[0] &= 15;
    }
    // no date, which is equal to none
    if descr.starts_with('M') && bits == i64::MIN.to_le_bytes() {
        bits = vec![0; size];
    }
    bits
}

/// Two tensors of one shape, as little-endian items in C order.
#[derive(Debug)]
struct Pair {
    stored: Stored,
    shape: Vec<usize>,
    scale: f64,
    items: [Vec<Vec<u8>>; 2],
}

impl Pair {
    fn new(random: &mut Random) -> Self {
        let stored = *random.of(&STORED);
        let rank = random.below(4);
        let long = random.chance(15);
        let shape: Vec<usize> = match long {
            true => vec![2 + random.below(40), 30 + random.below(40)],
            false => random.shape(rank),
        };
        let scale = if stored.0 == "f8" { *random.of(&[1.0, 2_f64.powi(400), 2_f64.powi(-400)]) } else { 1.0 };
        let count = shape.iter().product();
        let constant = item(random, stored, scale);
        let mut expected: Vec<_> = (0..count).map(|_| item(random, stored, scale)).collect();
        if random.chance(10) {
            expected.fill(constant.clone());
        }
        let changes = *random.of(&[0, 5, 30, 100]);
        let mut change = |own: &Vec<u8>| if random.chance(changes) { item(random, stored, scale) } else { own.clone() };
        let mut actual: Vec<_> = expected.iter().map(&mut change).collect();
        if random.chance(5) {
            actual.fill(constant);
        }
        Self { stored, shape, scale, items: [expected, actual] }
    }

    fn file(&self, side: usize, big: bool, fortran: bool) -> Vec<u8> {
        let (descr, _, size, unit) = self.stored;
        let mut items = self.items[side].concat();
        if big && unit > 1 {
            items.chunks_exact_mut(unit).for_each(<[u8]>::reverse);
        }
        if fortran {
            items = to_fortran(&items, &self.shape, size);
        }
        let order = if unit == 1 { '|' } else { ['<', '>'][usize::from(big)] };
        npy_with_header(&header(&format!("{order}{descr}"), fortran, &self.shape), &items)
    }

    /// All pairs of numbers, and whether they are the same bits.
    fn numbers(&self) -> Vec<(Number, Number, bool)> {
        let each = self.items[0].iter().zip(&self.items[1]);
        each.map(|(e, a)| (number(self.stored, e), number(self.stored, a), e == a)).collect()
    }
}

/// The numbers of items that no tolerance accepts.
fn mismatches(numbers: &[(Number, Number, bool)], atol: Option<f64>, rtol: Option<f64>) -> Vec<usize> {
    let passes = |(e, a, same): &(Number, Number, bool)| {
        let tolerant = (atol.is_some() || rtol.is_some()) && e.is_finite() && a.is_finite();
        let limit = atol.unwrap_or(0.0) + rtol.unwrap_or(0.0) * e.modulus();
        *same || e.is_nan() && a.is_nan() || tolerant && a.minus(*e).modulus() <= limit
    };
    (0..numbers.len()).filter(|&n| !passes(&numbers[n])).collect()
}

/// Where items lie along an axis: `places` and `ranges`.
fn places(shape: &[usize], axis: usize, items: &[usize]) -> (usize, Vec<[usize; 2]>) {
    let after: usize = shape[axis + 1..].iter().product();
    let hit = |place: usize| items.iter().any(|item| item / after % shape[axis] == place);
    let hits: Vec<_> = (0..shape[axis]).filter(|&place| hit(place)).collect();
    let mut ranges: Vec<[usize; 2]> = Vec::new();
    for &place in &hits {
        match ranges.last_mut() {
            Some([_, end]) if *end == place => *end += 1,
            _ => ranges.push([place, place + 1]),
        }
    }
    ranges.truncate(16);
    (hits.len(), ranges)
}

fn index(shape: &[usize], mut item: usize) -> Vec<usize> {
    let mut index: Vec<_> = shape.iter().rev().map(|dim| (item % dim, item /= dim).0).collect();
    index.reverse();
    index
}

/// The metrics in order, by float64 after the items have been divided by `scale`.
fn metrics(pairs: &[(Number, Number)], scale: f64, is_date: bool) -> [Option<f64>; 6] {
    if pairs.is_empty() {
        return [None; 6];
    }
    let count = pairs.len() as f64;
    let parts = |number: &Number| number.parts().map(|part| part / scale);
    let sum = |of: &dyn Fn(&(Number, Number)) -> f64| pairs.iter().map(of).sum::<f64>();
    let square = |[re, im]: [f64; 2]| re * re + im * im;
    let error = |(e, a): &(Number, Number)| a.minus(*e).modulus() / scale;
    let (errors, squares) = (sum(&error), sum(&|pair| error(pair).powi(2)));
    let signal = sum(&|(e, _)| square(parts(e)));
    let other = sum(&|(_, a)| square(parts(a)));
    let is_real = !pairs.iter().any(|(e, _)| matches!(e, Number::Complex(..))) && !is_date;
    let cosine = match (signal == 0.0, other == 0.0) {
        (true, true) => 1.0,
        (false, false) => {
            sum(&|(e, a)| parts(e)[0] * parts(a)[0] + parts(e)[1] * parts(a)[1]) / signal.sqrt() / other.sqrt()
        }
        _ => 0.0,
    };
    let rmse = (squares / count).sqrt();
    let decibels = |ratio: f64| match (squares == 0.0, ratio == 0.0) {
        (true, _) => f64::INFINITY,
        (false, true) => f64::NEG_INFINITY,
        (false, false) => 10.0 * ratio.log10(),
    };
    let ends = |of: &dyn Fn(&(Number, Number)) -> f64| {
        let values = || pairs.iter().map(of);
        values().fold(f64::NEG_INFINITY, f64::max) - values().fold(f64::INFINITY, f64::min)
    };
    let range = ends(&|(e, _)| parts(e)[0]);
    let means = [sum(&|(e, _)| parts(e)[0]) / count, sum(&|(_, a)| parts(a)[0]) / count];
    let spread = |one: usize, other: usize| {
        sum(&|(e, a)| {
            let deviations = [parts(e)[0] - means[0], parts(a)[0] - means[1]];
            deviations[one] * deviations[other]
        })
    };
    let varies = range > 0.0 && ends(&|(_, a)| parts(a)[0]) > 0.0;
    let pearson = spread(0, 1) / spread(0, 0).sqrt() / spread(1, 1).sqrt();
    [
        Some(errors / count * scale),
        Some(rmse * scale),
        (!is_date).then_some(cosine),
        (!is_date).then(|| decibels(signal / squares)),
        is_real.then(|| decibels((range / rmse).powi(2))),
        (is_real && varies).then_some(pearson),
    ]
}

/// The error of the item whose rank is ceil(q n), for each quantile.
fn quantiles(pairs: &[(Number, Number)]) -> [Option<f64>; 4] {
    let mut errors: Vec<_> = pairs.iter().map(|(e, a)| a.minus(*e).modulus()).collect();
    errors.sort_by(f64::total_cmp);
    [500, 900, 990, 999].map(|share| errors.get((share * errors.len()).div_ceil(1000).max(1) - 1).copied())
}

fn float(value: &Value) -> Option<f64> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.parse().expect("an infinity")),
        value => Some(value.as_f64().expect("a number")),
    }
}

/// Whether a number is the one that a plain sum comes near.
fn near(found: Option<f64>, expected: Option<f64>, relative: f64, absolute: f64) -> bool {
    match (found, expected) {
        (Some(found), Some(expected)) => {
            found == expected || (found - expected).abs() <= absolute + relative * expected.abs()
        }
        (found, expected) => found == expected,
    }
}

/// Compares what is said with what the loops find.
fn check(
    pair: &Pair,
    found: &Value,
    atol: Option<f64>,
    rtol: Option<f64>,
    allow: Option<(f64, bool)>,
) -> Result<(), String> {
    let numbers = pair.numbers();
    let count = numbers.len();
    let failing = mismatches(&numbers, atol, rtol);
    let expect = |what: &str, holds: bool, expected: String| match holds {
        true => Ok(()),
        false => Err(format!("{what}: found {}, expected {expected}", found[what])),
    };
    expect("items", found["items"] == count, count.to_string())?;
    expect("mismatches", found["mismatches"] == failing.len(), failing.len().to_string())?;
    let is_finite = |n: usize| numbers[n].0.is_finite() && numbers[n].1.is_finite();
    let nonfinite: Vec<_> = failing.iter().copied().filter(|&n| !is_finite(n)).collect();
    expect("nonfinite_mismatches", found["nonfinite_mismatches"] == nonfinite.len(), nonfinite.len().to_string())?;
    let first = nonfinite.first().map_or(Value::Null, |&n| index(&pair.shape, n).into());
    expect("first_nonfinite", found["first_nonfinite"] == first, first.to_string())?;
    let equal = match allow {
        None => failing.is_empty(),
        Some((most, false)) => failing.len() as f64 <= most,
        Some((percent, true)) => 100.0 * failing.len() as f64 <= percent * count as f64,
    };
    expect("equal", found["equal"] == equal, equal.to_string())?;
    // the worst: what is not finite first, then by their errors
    let mut worst: Vec<_> = failing.iter().map(|&n| (n, numbers[n].1.minus(numbers[n].0), numbers[n])).collect();
    worst.sort_by(|(_, one, (e, a, _)), (_, other, (f, b, _))| {
        let finite = (e.is_finite() && a.is_finite(), f.is_finite() && b.is_finite());
        let by_error = || match (one, other) {
            (Number::Integer(one), Number::Integer(other)) => other.unsigned_abs().cmp(&one.unsigned_abs()),
            (one, other) => other.modulus().total_cmp(&one.modulus()),
        };
        finite.0.cmp(&finite.1).then_with(|| if finite.0 { by_error() } else { std::cmp::Ordering::Equal })
    });
    let worst: Vec<_> = worst.iter().take(4).map(|(n, ..)| index(&pair.shape, *n)).collect();
    let told: Vec<_> = found["worst"].as_array().expect("a list").iter().map(|row| row["index"].clone()).collect();
    expect(
        "worst",
        told == worst.iter().map(|index| Value::from(index.clone())).collect::<Vec<_>>(),
        format!("{worst:?}"),
    )?;
    let long = (0..pair.shape.len()).filter(|&axis| pair.shape[axis] > 1 && count > 0);
    let axes: Vec<_> = long
        .map(|axis| {
            let (places, ranges) = places(&pair.shape, axis, &failing);
            serde_json::json!({"axis": axis, "places": places, "of": pair.shape[axis], "ranges": ranges})
        })
        .collect();
    expect("axes", count == 0 || found["axes"] == Value::from(axes.clone()), format!("{axes:?}"))?;
    let finite = numbers.iter().filter(|(e, a, _)| e.is_finite() && a.is_finite());
    let finite: Vec<_> = finite.map(|(e, a, _)| (*e, *a)).collect();
    let expected = quantiles(&finite);
    let told = ["0.5", "0.9", "0.99", "0.999"].map(|share| float(&found["quantiles"][share]));
    let same = told.iter().zip(expected).all(|(found, expected)| near(*found, expected, 1e-15, 0.0));
    expect("quantiles", same, format!("{expected:?}"))?;
    let expected = metrics(&finite, pair.scale, pair.stored.0.starts_with('M'));
    let names = ["mean_abs", "rmse", "cosine", "snr_db", "psnr_db", "pearson"];
    let told = names.map(|name| float(&found["metrics"][name]));
    // float64 holds sums of long integers, and products of their deviations, less well than what is tested
    let absolute = [0.0, 0.0, 1e-9, 1e-6, 1e-6, 1e-6];
    let same = (0..6).all(|n| near(told[n], expected[n], 1e-9, absolute[n]));
    expect("metrics", same, format!("{expected:?}"))
}

#[test]
fn what_diff_says_as_a_whole() {
    let mut random = Random(20);
    let folder = Folder::new();
    let mut failures = Vec::new();
    for case in 0..rounds(60) {
        let pair = Pair::new(&mut random);
        folder.put("e.npy", pair.file(0, random.chance(30), random.chance(30)));
        folder.put("a.npy", pair.file(1, random.chance(30), random.chance(30)));
        let atol = random.chance(30).then(|| *random.of(&[0.0, 0.5, 2.0]));
        let rtol = random.chance(20).then(|| *random.of(&[0.25, 1.0]));
        let allow = random.chance(40).then(|| (random.below(40) as f64 / 4.0, random.chance(60)));
        let allow = allow.map(|(most, percent)| if percent { (most * 10.0, true) } else { (most.floor(), false) });
        let division = random.of(&DIVISIONS);
        let mut args = vec!["diff".to_owned(), "e.npy".into(), "a.npy".into(), "--json".into(), "--worst=4".into()];
        args.extend(pair.stored.1.map(|dtype| format!("--dtype={dtype}")));
        args.extend(atol.map(|atol| format!("--atol={atol}")));
        args.extend(rtol.map(|rtol| format!("--rtol={rtol}")));
        args.extend(allow.map(|(most, percent)| format!("--allow={most}{}", if percent { "%" } else { "" })));
        args.push(format!("--threads={}", division.threads));
        let run = folder.run_with(&args, division.window, None);
        let checked = match serde_json::from_slice::<Value>(&run.stdout) {
            Ok(found) if run.status == Some(i32::from(found["equal"] != true)) => {
                check(&pair, &found, atol, rtol, allow)
            }
            _ => Err(format!("{run:?}")),
        };
        if let Err(why) = checked {
            failures.push(format!("case {case}, {division:?}, {args:?}, {:?} {:?}: {why}", pair.stored, pair.shape));
        }
    }
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}
