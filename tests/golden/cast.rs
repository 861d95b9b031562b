//! Casts against exact arithmetic, NumPy and ml_dtypes: see `tests/oracle/cast_golden.py`.

use tensorop::DType;
use tensorop::item::cast::{Cast, CastFailure, Overflow};

fn unhex(text: &str) -> Vec<u8> {
    text.as_bytes().chunks(2).map(|pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn every_dtype_to_every_other() {
    let lines = match std::env::var_os("CAST_GOLDEN") {
        Some(path) => std::fs::read_to_string(path).unwrap(),
        None => include_str!("cast.txt").to_owned(),
    };
    let dtype = |name: &str, order: &str| {
        let little = DType::parse(name).unwrap();
        DType::parse(&little.descr().replace(['<', '|', '\''], "").replacen("", order, 1))
            .ok()
            .filter(|d| d.same_kind(&little))
    };
    let mut failures = Vec::new();
    let mut out = Vec::new();
    for (number, line) in lines.lines().enumerate() {
        let [from, to, how, items, expected] = line.split(' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let (little_from, little_to) = (DType::parse(from).unwrap(), DType::parse(to).unwrap());
        // in both byte orders
        let big_from = dtype(from, ">").unwrap_or_else(|| little_from.clone());
        let big_to = dtype(to, ">").unwrap_or_else(|| little_to.clone());
        let mut swapped = Vec::new();
        Cast::new(&little_from, &big_from, false).unwrap().apply(&unhex(items), &mut swapped).unwrap();
        let mut got = Vec::new();
        for (from, to, items) in [(&little_from, &little_to, &unhex(items)), (&big_from, &big_to, &swapped)] {
            let done = Cast::new(from, to, how == "lossy").unwrap().apply(items, &mut out);
            let mut back = Vec::new();
            Cast::new(to, &little_to, false).unwrap().apply(&out, &mut back).unwrap();
            got.push(match done {
                Ok(_) => hex(&back),
                Err(CastFailure { item, .. }) => format!("!{item}"),
            });
        }
        if got.iter().any(|got| got != expected) {
            failures.push(format!(
                "line {}: {from} {to} {how} {items}\n  {}\n  expected {expected}",
                number + 1,
                got.join("\n  ")
            ));
        }
    }
    assert!(lines.lines().count() > 800);
    assert!(failures.is_empty(), "{} differ\n{}", failures.len(), failures[..failures.len().min(20)].join("\n"));
}

/// Returns the first NaN that a dtype without NaN refuses under [`Overflow::Refuse`].
fn first_nan_without_place(items: &[u8], from: &DType, to: &DType) -> Option<usize> {
    let has_none = ["float4", "float6"].iter().any(|begin| to.name().starts_with(begin));
    let double = DType::parse("float64").unwrap();
    let mut wide = Vec::new();
    Cast::new(from, &double, true).ok().filter(|_| has_none)?.apply(items, &mut wide).unwrap();
    wide.as_chunks().0.iter().position(|item| f64::from_le_bytes(*item).is_nan())
}

/// What overflows in NumPy and ml_dtypes: see `tests/oracle/overflow_golden.py`.
#[test]
fn finite_items_that_overflow() {
    let lines = include_str!("overflow.txt");
    let mut failures = Vec::new();
    for (number, line) in lines.lines().enumerate() {
        let [from, to, items, count, first, saturated] = line.split(' ').collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        let (items, first) = (unhex(items), first.parse().ok());
        let dtype = |name: &str| DType::parse(name).unwrap();
        let to_big = dtype(to).big_endian();
        for (to, is_big) in [(dtype(to), false), (to_big.clone(), true)] {
            let cast = Cast::new(&dtype(from), &to, false).unwrap();
            let (mut plain, mut out, mut back) = (Vec::new(), Vec::new(), Vec::new());
            let found = cast.apply(&items, &mut plain).unwrap();
            let none = cast.clone().with_overflow(Overflow::Saturate).apply(&items, &mut out).unwrap();
            let refused = cast.with_overflow(Overflow::Refuse).apply(&items, &mut back).map_err(|failure| failure.item);
            let expected = if saturated == "-" { plain } else { unhex(saturated) };
            if is_big && saturated != "-" {
                Cast::new(&to, &to.native(), false).unwrap().apply(&out.clone(), &mut out).unwrap();
            }
            let first_refused = first.or_else(|| first_nan_without_place(&items, &dtype(from), &to));
            let is_refused = first_refused.map_or(refused.is_ok(), |first| refused == Err(first));
            let is_right =
                (found.items.to_string() == count && found.first == first, none.first, is_refused, out == expected);
            if is_right != (true, None, true, true) {
                failures.push(format!("line {}: {from} {to}: {is_right:?} {found:?}", number + 1));
            }
        }
    }
    assert!(lines.lines().count() > 400);
    assert!(failures.is_empty(), "{} differ\n{}", failures.len(), failures[..failures.len().min(20)].join("\n"));
}
