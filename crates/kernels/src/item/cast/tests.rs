use super::*;

fn cast(from: &str, to: &str, lossy: bool) -> Cast {
    Cast::new(&DType::parse(from).unwrap(), &DType::parse(to).unwrap(), lossy).unwrap()
}

fn floats(numbers: &[f64]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

fn singles(numbers: &[f32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

fn ticks(numbers: &[i64]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

#[test]
fn items_that_do_not_fit() {
    let (nan, inf) = (f64::NAN, f64::INFINITY);
    let code_points = |text: &str| text.chars().flat_map(|c| u32::from(c).to_le_bytes()).collect::<Vec<_>>();
    let many = floats(&(0..2000).map(|i| if i == 1500 { 0.5 } else { 1.0 }).collect::<Vec<_>>());
    // from, to, items, the failing item and the message
    let rows: Vec<(&str, &str, Vec<u8>, usize, &str)> = vec![
        ("float64", "int32", floats(&[1.0, 1.5, 2.5]), 1, "1.5 is not an integer (int32)"),
        ("float64", "uint8", floats(&[300.0]), 0, "300 is out of range for uint8"),
        ("float64", "int8", floats(&[0.0, -0.0, nan]), 2, "NaN is not an integer (int8)"),
        (
            "float64",
            "int64",
            floats(&[9_223_372_036_854_775_808.0]),
            0,
            "9.223372036854776e+18 is out of range for int64",
        ),
        ("float64", "int64", floats(&[-inf]), 0, "-Infinity is out of range for int64"),
        ("float32", "int64", singles(&[0.1]), 0, "0.1 is not an integer (int64)"),
        ("float16", "int4", vec![0, 0x48, 0x66, 0x2e], 0, "8 is out of range for int4"),
        ("float16", "int4", vec![0x66, 0x2e], 0, "0.099975586 is not an integer (int4)"),
        ("bfloat16", "uint2", vec![0x80, 0xbf], 0, "-1 is out of range for uint2"),
        ("float8_e4m3fn", "int8", vec![0x38, 1], 1, "0.001953125 is not an integer (int8)"),
        ("uint64", "int64", vec![0xff; 8], 0, "18446744073709551615 is out of range for int64"),
        ("int64", "uint64", ticks(&[5, -5]), 1, "-5 is out of range for uint64"),
        ("int8", "bool", vec![0, 1, 2], 2, "2 is neither 0 nor 1 (bool)"),
        ("float64", "bool", floats(&[0.5]), 0, "0.5 is neither 0 nor 1 (bool)"),
        ("complex128", "float32", floats(&[1.0, 0.0, 2.0, -0.5]), 1, "[2, -0.5] has an imaginary part (float32)"),
        ("complex128", "int8", floats(&[1.5, 0.0, 2.0, 1.0]), 0, "1.5 is not an integer (int8)"),
        ("complex128", "int8", floats(&[1.0, nan, 1.5, 0.0]), 0, "[1, NaN] has an imaginary part (int8)"),
        ("float64", "int8", many, 1500, "0.5 is not an integer (int8)"),
        ("S3", "S2", b"ab\0a\0ca'b".to_vec(), 1, "b'a\\x00c' is longer than |S2"),
        ("S3", "S0", b"\0\0\0a\0\0".to_vec(), 1, "b'a' is longer than |S0"),
        ("U3", ">U1", code_points("é\0\0ab\0"), 1, "'ab' is longer than >U1"),
        ("<M8[s]", "<M8[D]", ticks(&[0, 1]), 1, "1970-01-01T00:00:01 is not a whole number of ticks of <M8[D]"),
        ("<M8[D]", "<M8[as]", ticks(&[0, 1000]), 1, "1972-09-27 is out of range for <M8[as]"),
        ("<m8[s]", ">m8[h]", ticks(&[60]), 0, "60 of <m8[s] is not a whole number of ticks of >m8[h]"),
    ];
    let mut failures = Vec::new();
    for (from, to, items, at, message) in rows {
        let got = cast(from, to, false).apply(&items, &mut Vec::new());
        if got != Err(CastFailure { item: at, why: message.to_owned() }) {
            failures.push(format!("{from} to {to}: {got:?}, expected {at}, {message}"));
        }
        if cast(from, to, true).apply(&items, &mut Vec::new()).is_err() {
            failures.push(format!("{from} to {to}, lossy"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn lossy() {
    let nan = f64::NAN;
    let rows: Vec<(&str, &str, Vec<u8>, Vec<u8>)> = vec![
        ("float64", "int8", floats(&[1.9, -1.9, 1e9, -1e300, nan]), vec![1, 0xff, 127, 0x80, 0]),
        ("float64", "int4", floats(&[1.9, -9.0, 9.0, nan]), vec![1, 8, 7, 0]),
        ("float64", "bool", floats(&[0.1, nan, -0.0]), vec![1, 1, 0]),
        ("complex128", "bool", floats(&[0.0, 1.0, 0.0, 0.0]), vec![1, 0]),
        ("complex128", "uint8", floats(&[3.5, 1.0]), vec![3]),
        ("int64", "uint8", ticks(&[-1, 256, 7]), vec![0, 255, 7]),
        ("S3", "|S1", b"abc\0bc".to_vec(), b"a\0".to_vec()),
        ("<M8[s]", "<M8[D]", ticks(&[-1, i64::MIN]), ticks(&[-1, i64::MIN])),
        ("<m8[s]", ">m8[as]", ticks(&[-1000]), (-i64::MAX).to_be_bytes().to_vec()),
    ];
    let mut failures = Vec::new();
    for (from, to, items, expected) in rows {
        let mut out = vec![7; 3];
        let got = cast(from, to, true).apply(&items, &mut out);
        if got.is_err() || out != expected {
            failures.push(format!("{from} to {to}: {got:?} {out:?}, expected {expected:?}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn widths_and_orders() {
    let rows: Vec<(&str, &str, Vec<u8>, Vec<u8>)> = vec![
        ("S1", "S3", b"ab".to_vec(), b"a\0\0b\0\0".to_vec()),
        ("S1", "S0", b"\0\0".to_vec(), vec![]),
        ("<U1", ">U2", vec![1, 2, 0, 0], vec![0, 0, 2, 1, 0, 0, 0, 0]),
        ("<U1", ">U1", vec![1, 2, 3, 4], vec![4, 3, 2, 1]),
        ("<f16", ">f16", (0..16).collect(), (0..16).rev().collect()),
        ("V3", "V3", vec![1, 2, 3], vec![1, 2, 3]),
        ("V0", "V0", vec![], vec![]),
        ("<M8[D]", ">M8[h]", ticks(&[1]), 24_i64.to_be_bytes().to_vec()),
        ("bool", "float16", vec![0, 1, 2], vec![0, 0, 0, 0x3c, 0, 0x3c]),
        ("int8", "complex64", vec![0xff], singles(&[-1.0, 0.0])),
        // an incomplete item is ignored
        ("int16", "int8", vec![1, 0, 2], vec![1]),
    ];
    let mut failures = Vec::new();
    for (from, to, items, expected) in rows {
        let mut out = vec![7; 30];
        let got = cast(from, to, false).apply(&items, &mut out);
        if got.is_err() || out != expected {
            failures.push(format!("{from} to {to}: {got:?} {out:?}, expected {expected:?}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(cast("<f4", "<f4", false).is_identity() && !cast("<f4", ">f4", false).is_identity());
    assert!(!cast("<i4", "<u4", false).is_identity());
    assert_eq!((cast("U2", "U1", false).from_size(), cast("U2", "U1", false).to_size()), (8, 4));
}

#[test]
fn rounded_once() {
    // a float64 rounded to nearest is halfway between two items of the target, the exact number above it
    let number = (1_i64 << 62) + (1 << 51) + 1;
    let mut out = Vec::new();
    cast("int64", "bfloat16", false).apply(&((1_i64 << 62) + (1 << 54) + 1).to_le_bytes(), &mut out).unwrap();
    assert_eq!(out, 0x5e81_u16.to_le_bytes());
    cast("int64", "float32", false).apply(&number.to_le_bytes(), &mut out).unwrap();
    assert_eq!(out, (number as f32).to_le_bytes());
    cast("float64", "float16", false).apply(&floats(&[2_049.000_000_000_001]), &mut out).unwrap();
    assert_eq!(out, 0x6801_u16.to_le_bytes());
    cast("float64", "float8_e4m3fn", false).apply(&floats(&[-1.062_500_000_000_001]), &mut out).unwrap();
    assert_eq!(out, [0xb9]);
    // a NaN with a payload
    cast("float32", "bfloat16", false).apply(&0xff80_0001_u32.to_le_bytes(), &mut out).unwrap();
    assert_eq!(out, 0xffc0_u16.to_le_bytes());
    cast("float16", "float32", false).apply(&0xfc01_u16.to_le_bytes(), &mut out).unwrap();
    assert_eq!(out, 0xffc0_0000_u32.to_le_bytes());
}

#[test]
fn refused() {
    let rows = [
        ("S3", "int8", "|S3 is not cast to int8: values are cast between numbers and bool only"),
        ("U3", "S3", "<U3 is not cast to |S3"),
        ("S0", "S3", "|S0 is not cast to |S3: its items have no bytes"),
        ("V4", "float32", "|V4 is not cast to float32"),
        ("float32", "float128", "float32 is not cast to float128"),
        ("<M8[s]", "int64", "<M8[s] is not cast to int64"),
        ("int64", "<m8", "int64 is not cast to <m8"),
        ("<M8[s]", "<m8[s]", "is not cast"),
        ("<m8[M]", "<m8[D]", "is not cast"),
        ("<M8", "<M8[D]", "is not cast"),
    ];
    let mut failures = Vec::new();
    for (from, to, message) in rows {
        let error = Cast::new(&DType::parse(from).unwrap(), &DType::parse(to).unwrap(), true).map(drop);
        if !error.as_ref().is_err_and(|e| e.message().contains(message) && e.subject() == Subject::Dtype) {
            failures.push(format!("{from} to {to}: {error:?}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn a_nan_stays_a_nan() {
    let floats = |name: &&str| name.contains("float");
    let has_nan = |name: &str| {
        let mut item = [0; 8];
        crate::item::parse::parse_special("NaN", &DType::parse(name).unwrap(), &mut item)
    };
    let is_nan = |name: &str, item: &[u8]| {
        let mut wide = Vec::new();
        cast(name, "float64", false).apply(item, &mut wide).unwrap();
        f64::from_le_bytes(wide.try_into().unwrap()).is_nan()
    };
    let mut nans = 0;
    for from in ["float16", "bfloat16", "float32", "float64"] {
        let bits: &[u64] = match from {
            "float16" => &[0x7c01, 0x7e00, 0x7fff, 0xfc01, 0xffff],
            "bfloat16" => &[0x7f81, 0x7fc0, 0x7fff, 0xff81, 0xffff],
            "float32" => &[0x7f80_0001, 0x7f80_1000, 0x7fbf_ffff, 0x7fc0_0000, 0xff80_0001, 0xffff_ffff],
            _ => &[0x7ff0 << 48 | 1, 0x7ff0 << 48 | 1 << 29, 0x7ff8 << 48, 0xfff0 << 48 | 1, u64::MAX],
        };
        for to in DType::names().filter(floats).filter(|name| has_nan(name)) {
            for bits in bits {
                let (item, mut out) = (bits.to_le_bytes(), Vec::new());
                let item = &item[..DType::parse(from).unwrap().itemsize()];
                cast(from, to, false).apply(item, &mut out).unwrap();
                assert!(is_nan(to, &out), "{from} {bits:#x} to {to}: {out:x?}");
                nans += 1;
            }
        }
    }
    assert!(nans > 150, "{nans}");
}

/// Returns whether the cast has a table.
fn compare_by_table(from: &str, to: &str, lossy: bool, overflow: Overflow, items: &[u8]) -> Result<bool, String> {
    const PART: usize = 1 << 16;
    let make = || cast(from, to, lossy).with_overflow(overflow);
    let (by_table, name) = (make(), format!("{from} to {to}, lossy: {lossy}, {overflow:?}"));
    let (mut out, mut expected) = (Vec::new(), Vec::new());
    by_table.table.iter().for_each(|table| table.make_at_next_item());
    for part in items.chunks(PART * by_table.from_size()) {
        let plain = make();
        let (result, found) = (plain.apply(part, &mut expected), by_table.apply(part, &mut out));
        assert!(plain.table.is_none_or(|table| !table.is_made()), "{PART} items were enough for a table");
        if found != result {
            return Err(format!("{name}: {found:?}, expected {result:?}"));
        }
        if found.is_ok() && out != expected {
            let at = out.iter().zip(&expected).position(|(a, b)| a != b).expect("as many items");
            return Err(format!("{name}: {} at {at}, expected {}", out[at], expected[at]));
        }
    }
    Ok(by_table.table.is_some_and(|table| table.is_made()))
}

const OVERFLOWS: [Overflow; 3] = [Overflow::Special, Overflow::Saturate, Overflow::Refuse];

#[test]
fn tables_of_floats_of_16_bits() {
    tables_of_items_of_16_bits(["float16", "bfloat16", ">f2"]);
}

#[test]
fn tables_of_integers_of_16_bits() {
    tables_of_items_of_16_bits(["int16", "uint16", ">i2"]);
}

/// The weekly run takes every item.
fn step() -> usize {
    if std::env::var_os("TENSOROP_TEST_ROUNDS").is_some() { 1 } else { 5 }
}

fn tables_of_items_of_16_bits(names: [&str; 3]) {
    // every item, in an order without correlated neighbours; the weekly run gives all of them to each pair, the others a part
    let step = step();
    let words: Vec<u8> = (0..1_u32 << 16).flat_map(|n| ((n.wrapping_mul(40_503) + 777) as u16).to_le_bytes()).collect();
    let parts: Vec<_> = words.chunks(words.len().div_ceil(step).next_multiple_of(2)).collect();
    let bytes = |name: &&str| {
        let dtype = DType::parse(name).unwrap();
        dtype.itemsize() == 1 && numbers_of(&dtype).is_some()
    };
    let (mut failures, mut made, mut pairs) = (Vec::new(), 0, 0);
    for from in names {
        // the order of bytes is the same for all rules
        let rules = [OVERFLOWS.map(|overflow| (false, overflow)).as_slice(), &[(true, Overflow::Special)]].concat();
        let rules = if from.starts_with('>') { &rules[..1] } else { &rules };
        for to in DType::names().filter(bytes) {
            for &(lossy, overflow) in rules {
                pairs += 1;
                match compare_by_table(from, to, lossy, overflow, parts[pairs % parts.len()]) {
                    Ok(is_made) => made += usize::from(is_made),
                    Err(failure) => failures.push(failure),
                }
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(made > pairs / 3, "{made} tables of {pairs}");
}

#[test]
fn tables_of_wider_floats() {
    // the upper halves of a part, with values on either side of half of the last bit of narrow floats
    let items = |from: &str, part: usize| -> Vec<u8> {
        let uppers = (0..=u16::MAX).skip(part % step()).step_by(step());
        let singles = uppers.flat_map(|upper| [0, 1, 0x8000, 0xffff].map(|low| u32::from(upper) << 16 | low));
        if from == "float32" {
            return singles.flat_map(u32::to_le_bytes).collect();
        } else if from == ">f4" {
            return singles.flat_map(u32::to_be_bytes).collect();
        }
        let around = |single: u32| {
            let bits = f64::from(f32::from_bits(single)).to_bits();
            [bits, bits.wrapping_add(1), bits.wrapping_sub(1)]
        };
        let ends = [0, 1, 1 << 63, 1 << 63 | 1, f64::MAX.to_bits(), f64::MIN.to_bits(), 1e-300_f64.to_bits()];
        let doubles = singles.skip(part % 3).step_by(3).flat_map(around).chain(ends);
        doubles.flat_map(if from == "float64" { u64::to_le_bytes } else { u64::to_be_bytes }).collect()
    };
    let floats = |name: &&str| {
        let dtype = DType::parse(name).unwrap();
        dtype.itemsize() == 1 && is_floats(&dtype)
    };
    let (mut failures, mut pairs) = (Vec::new(), 0);
    for from in ["float32", ">f4", "float64", ">f8"] {
        let parts: Vec<_> = (0..step()).map(|part| items(from, part)).collect();
        for to in DType::names().filter(floats) {
            let overflows = if from.starts_with('>') { &OVERFLOWS[..1] } else { &OVERFLOWS };
            for &overflow in overflows {
                pairs += 1;
                match compare_by_table(from, to, false, overflow, &parts[pairs % parts.len()]) {
                    Ok(true) => {}
                    Ok(false) => failures.push(format!("{from} to {to}: no table")),
                    Err(failure) => failures.push(failure),
                }
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn what_is_cast_by_a_table() {
    let rows = [
        ("float16", "float8_e4m3fn", true),
        ("bfloat16", "int8", true),
        ("bfloat16", "bool", true),
        ("int16", "float8_e5m2", true),
        ("uint16", "int4", true),
        ("float32", "float8_e5m2", true),
        (">f8", "float4_e2m1fn", true),
        ("float32", "uint8", false),
        ("float32", "int4", false),
        ("int16", "uint8", false),
        ("int32", "float8_e5m2", false),
        ("float16", "float32", false),
        ("complex64", "float8_e5m2", false),
    ];
    for (from, to, expected) in rows {
        assert_eq!(cast(from, to, true).table.is_some(), expected, "{from} to {to}");
    }
    // a table is made after enough items, in any parts
    let (one, mut out) = (cast("bfloat16", "float8_e5m2", false), Vec::new());
    let parts = (0..5).map(|_| {
        one.apply(&vec![1; 60_000], &mut out).unwrap();
        one.table.as_ref().unwrap().is_made()
    });
    assert_eq!(parts.collect::<Vec<_>>(), [false, false, false, false, true]);
}
