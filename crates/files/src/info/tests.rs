use std::num::NonZero;
use std::sync::Arc;

use super::*;
use crate::operators::fill::{Limits, Machine};
use crate::plans::quantiles::Fraction;
use crate::storage::read_at::MemoryBytes;
use crate::storage::source::Source;
use tensorop_kernels::Tensor;
use tensorop_kernels::item::dtype::DType;
use tensorop_kernels::item::meta::Meta;
use tensorop_kernels::layout::copy::copy_bytes;
use tensorop_kernels::layout::view::View;
use tensorop_kernels::parallel::Threads;

fn threads(n: usize) -> Limits {
    Limits { threads: Threads::new(NonZero::new(n)), ..Limits::default() }
}

fn tensor(dtype: &str, shape: &[usize], bytes: Vec<u8>) -> Tensor {
    Tensor::new(DType::parse(dtype).unwrap(), shape.to_vec(), bytes).unwrap()
}

fn info(tensor: Tensor) -> Info {
    let mut source = Source::memory(tensor, "a.npy".into());
    let stats = stats(&mut source, true, threads(2), &|_| ()).unwrap();
    let bins = |stats| histogram(&source, stats, threads(2), &|_| ()).unwrap();
    let histogram = stats.as_ref().and_then(bins);
    Info {
        file: "a.npy".into(),
        member: None,
        format: Format::NPY,
        stored: Description { offset: Some(128), ..Description::from_source(&source) },
        stats: Some(stats),
        histogram: Some(histogram),
        hash: None,
        by_axis: None,
        metadata: None,
        content: Arc::default(),
        unlisted: std::sync::Arc::default(),
        file_number: 0,
        shard: None,
        shared: None,
        error: None,
    }
}

/// The statistics in JSON before and after the member `zero`.
fn stats_json(tensor: Tensor) -> [String; 2] {
    let mut out = Vec::new();
    write_json(&mut out, &mut [Info { histogram: None, ..info(tensor) }], &[]).unwrap();
    let out = String::from_utf8(out).unwrap();
    serde_json::from_str::<serde_json::Value>(&out).unwrap();
    let stats = out.split_once("\"stats\": ").unwrap().1.strip_suffix("}]\n").unwrap();
    let (counts, rest) = stats.split_once(", \"first_nan\": ").unwrap_or((stats, ""));
    [format!("{counts}{}", if rest.is_empty() { "" } else { "}" }), rest.trim_end_matches('}').to_owned()]
}

macro_rules! items {
    ($($item:expr),* $(,)?) => { [$($item.to_le_bytes().to_vec()),*].concat() };
}

#[test]
fn statistics_of_every_dtype() {
    let f16 = |value: f32| half::f16::from_f32(value);
    let bf16 = |value: f32| half::bf16::from_f32(value);
    let none = r#"{"min": null, "max": null, "mean": null, "std": null, "nan": 0, "inf": 0, "zero": 0}"#;
    let big: Vec<u8> = [1_i16, -2].iter().flat_map(|item| item.to_be_bytes()).collect();
    let rows: Vec<(&str, &[usize], Vec<u8>, &str)> = vec![
        (
            "bool",
            &[3],
            vec![0, 1, 2],
            r#"{"min": {"value": false, "index": [0]}, "max": {"value": true, "index": [1]}, "mean": 0.6666666666666666, "std": 0.4714045207910317, "nan": 0, "inf": 0, "zero": 1}"#,
        ),
        (
            "int8",
            &[2, 2],
            vec![3, 128, 127, 128],
            r#"{"min": {"value": -128, "index": [0, 1]}, "max": {"value": 127, "index": [1, 0]}, "mean": -31.5, "std": 105.99174496157708, "nan": 0, "inf": 0, "zero": 0}"#,
        ),
        (
            "uint8",
            &[],
            vec![255],
            r#"{"min": {"value": 255, "index": []}, "max": {"value": 255, "index": []}, "mean": 255.0, "std": 0.0, "nan": 0, "inf": 0, "zero": 0}"#,
        ),
        (
            ">i2",
            &[2, 1],
            big,
            r#"{"min": {"value": -2, "index": [1, 0]}, "max": {"value": 1, "index": [0, 0]}, "mean": -0.5, "std": 1.5, "nan": 0, "inf": 0, "zero": 0}"#,
        ),
        (
            "uint64",
            &[2],
            items![u64::MAX, u64::MAX - 2],
            r#"{"min": {"value": 18446744073709551613, "index": [1]}, "max": {"value": 18446744073709551615, "index": [0]}, "mean": 1.8446744073709552e+19, "std": 1.0, "nan": 0, "inf": 0, "zero": 0}"#,
        ),
        (
            "int64",
            &[2],
            items![i64::MIN, i64::MAX],
            r#"{"min": {"value": -9223372036854775808, "index": [0]}, "max": {"value": 9223372036854775807, "index": [1]}, "mean": -0.5, "std": 9.223372036854776e+18, "nan": 0, "inf": 0, "zero": 0}"#,
        ),
        (
            "float16",
            &[5],
            items![f16(0.1), f16(f32::NAN), f16(-0.0), f16(0.0), f16(f32::INFINITY)],
            r#"{"min": {"value": -0.0, "index": [2]}, "max": {"value": 0.099975586, "index": [0]}, "mean": 0.0333251953125, "std": 0.04712894317966979, "nan": 1, "inf": 1, "zero": 2}"#,
        ),
        (
            "bfloat16",
            &[2],
            items![bf16(1.0), bf16(-3.0)],
            r#"{"min": {"value": -3.0, "index": [1]}, "max": {"value": 1.0, "index": [0]}, "mean": -1.0, "std": 2.0, "nan": 0, "inf": 0, "zero": 0}"#,
        ),
        (
            "float32",
            &[3],
            items![f32::MAX, f32::NEG_INFINITY, -f32::MAX],
            r#"{"min": {"value": -3.4028235e+38, "index": [2]}, "max": {"value": 3.4028235e+38, "index": [0]}, "mean": 0.0, "std": 3.4028234663852886e+38, "nan": 0, "inf": 1, "zero": 0}"#,
        ),
        (
            "float64",
            &[4],
            items![f64::MAX, -f64::MAX, f64::MAX, -f64::MAX],
            r#"{"min": {"value": -1.7976931348623157e+308, "index": [1]}, "max": {"value": 1.7976931348623157e+308, "index": [0]}, "mean": 0.0, "std": 1.7976931348623157e+308, "nan": 0, "inf": 0, "zero": 0}"#,
        ),
        (
            "float64",
            &[3],
            items![f64::NAN, f64::NAN, f64::INFINITY],
            r#"{"min": null, "max": null, "mean": null, "std": null, "nan": 2, "inf": 1, "zero": 0}"#,
        ),
        (
            "complex64",
            &[4],
            items![1_f32, 2_f32, 3_f32, 2_f32, f32::NAN, f32::INFINITY, 0_f32, f32::INFINITY],
            r#"{"min": null, "max": null, "mean": [2.0, 2.0], "std": 1.0, "nan": 1, "inf": 1, "zero": 0}"#,
        ),
        (
            "complex128",
            &[2],
            items![0_f64, -0.0_f64, 6_f64, 8_f64],
            r#"{"min": null, "max": null, "mean": [3.0, 4.0], "std": 5.0, "nan": 0, "inf": 0, "zero": 1}"#,
        ),
        (
            "<M8[D]",
            &[3],
            items![0_i64, i64::MIN, -1_i64],
            r#"{"min": {"value": "1969-12-31", "index": [2]}, "max": {"value": "1970-01-01", "index": [0]}, "mean": null, "std": null, "nan": 1, "inf": 0, "zero": 0}"#,
        ),
        (
            "<m8[s]",
            &[2],
            items![0_i64, 5_i64],
            r#"{"min": {"value": 0, "index": [0]}, "max": {"value": 5, "index": [1]}, "mean": null, "std": null, "nan": 0, "inf": 0, "zero": 1}"#,
        ),
        (
            "<M8[s]",
            &[1],
            items![i64::MIN],
            r#"{"min": null, "max": null, "mean": null, "std": null, "nan": 1, "inf": 0, "zero": 0}"#,
        ),
        ("|S2", &[1], vec![0, 0], none),
        ("<U1", &[1], vec![0; 4], none),
        ("|V3", &[1], vec![0; 3], "null"),
        ("float128", &[1], vec![0; 16], "null"),
        ("complex256", &[1], vec![0; 32], "null"),
        ("float32", &[2, 0], vec![], none),
        ("complex64", &[0], vec![], none),
        ("int4", &[0], vec![], none),
        ("|S0", &[7], vec![], none),
    ];
    let mut wrong = Vec::new();
    for (dtype, shape, bytes, expected) in rows {
        let [found, _] = stats_json(tensor(dtype, shape, bytes));
        if found != expected {
            wrong.push(format!("{dtype} {shape:?}:\n  {found}\n  {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_first_nan_and_quantiles() {
    let f16 = |value: f32| half::f16::from_f32(value);
    let range = |to: i64| (0..=to).rev().flat_map(i64::to_le_bytes).collect::<Vec<u8>>();
    let none = r#"null, "quantiles": {"0.001": null, "0.01": null, "0.05": null, "0.25": null, "0.5": null, "0.75": null, "0.95": null, "0.99": null, "0.999": null"#;
    let all = |first_nan: &str, value: &str| {
        let quantile = |(name, _): &(&str, _)| format!("\"{name}\": {value}");
        format!("{first_nan}, \"quantiles\": {{{}", QUANTILES.iter().map(quantile).collect::<Vec<_>>().join(", "))
    };
    let rows: Vec<(&str, &[usize], Vec<u8>, String)> = vec![
        (
            "int64",
            &[1001],
            range(1000),
            r#"null, "quantiles": {"0.001": 1, "0.01": 10, "0.05": 50, "0.25": 250, "0.5": 500, "0.75": 750, "0.95": 950, "0.99": 990, "0.999": 999"#.into(),
        ),
        (
            "int64",
            &[1000],
            range(999),
            r#"null, "quantiles": {"0.001": 0, "0.01": 9, "0.05": 49, "0.25": 249, "0.5": 499, "0.75": 749, "0.95": 949, "0.99": 989, "0.999": 998"#.into(),
        ),
        ("uint64", &[1], items![u64::MAX], all("null", "18446744073709551615")),
        ("int64", &[1], items![i64::MIN], all("null", "-9223372036854775808")),
        ("bool", &[2], vec![7, 9], all("null", "true")),
        ("int8", &[1], vec![255], all("null", "-1")),
        ("float16", &[2, 2], items![f16(f32::INFINITY), f16(2.5), f16(f32::NAN), f16(f32::NAN)], all("[1, 0]", "2.5")),
        ("bfloat16", &[2], items![half::bf16::NAN, half::bf16::ONE], all("[0]", "1.0")),
        ("float32", &[2], items![0.1_f32, f32::NEG_INFINITY], all("null", "0.1")),
        (">f4", &[2], 0.1_f32.to_be_bytes().repeat(2), all("null", "0.1")),
        ("float64", &[2], items![f64::NAN, f64::INFINITY], none.replacen("null", "[0]", 1)),
        ("complex64", &[2], items![1_f32, 1_f32, 1_f32, f32::NAN], none.replacen("null", "[1]", 1)),
        ("float8_e5m2", &[3], vec![0x7c, 0x7d, 0x3c], all("[1]", "1.0")),
        ("<M8[D]", &[2], items![i64::MIN, 1_i64], all("[0]", "\"1970-01-02\"")),
        ("<m8[s]", &[1], items![5_i64], all("null", "5")),
        ("|S1", &[1], vec![65], none.into()),
        ("float32", &[0, 3], vec![], none.into()),
    ];
    let mut wrong = Vec::new();
    for (dtype, shape, bytes, expected) in rows {
        let [_, found] = stats_json(tensor(dtype, shape, bytes));
        if found != expected {
            wrong.push(format!("{dtype} {shape:?}:\n  {found}\n  {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn statistics_of_narrow_types() {
    // dtype, bytes, (item, index) of min and max, (mean, std), [NaN, infinite, zero]
    type Row<'a> = (&'a str, &'a [u8], Option<[(u8, usize); 2]>, Option<(f64, f64)>, [u64; 3]);
    let rows: [Row<'_>; 5] = [
        (
            "int4",
            &[0x0f, 0xf7, 0x07],
            Some([(0x0f, 0), (0xf7, 1)]),
            Some((13.0 / 3.0, 3.771_236_166_328_253_4)),
            [0; 3],
        ),
        ("uint2", &[0, 3, 0xff], Some([(0, 0), (3, 1)]), Some((2.0, 2_f64.sqrt())), [0, 0, 1]),
        (
            "float8_e4m3fn",
            &[0x80, 0x7f, 0x00, 0x7e],
            Some([(0x80, 0), (0x7e, 3)]),
            Some((448.0 / 3.0, 211.189_225_314_382_18)),
            [1, 0, 2],
        ),
        ("float8_e5m2", &[0x7c, 0xfc, 0x7d], None, None, [1, 2, 0]),
        ("float8_e8m0fnu", &[0, 254], Some([(0, 0), (254, 1)]), Some((2_f64.powi(126), 2_f64.powi(126))), [0; 3]),
    ];
    let mut wrong = Vec::new();
    for (dtype, bytes, ends, moments, [nan, inf, zero]) in rows {
        let stats = info(tensor(dtype, &[bytes.len()], bytes.to_vec())).stats.flatten().unwrap();
        let found: Vec<_> =
            [&stats.min, &stats.max].into_iter().flatten().map(|(value, index)| (value.bytes()[0], index[0])).collect();
        let found = (found, stats.mean.zip(stats.std), [stats.nan, stats.inf, stats.zero]);
        let expected: Vec<_> = ends.into_iter().flatten().collect();
        let moments = moments.map(|(mean, std)| (Mean::Real(mean), std));
        if found != (expected.clone(), moments, [nan, inf, zero]) {
            wrong.push(format!("{dtype}: {found:?}, expected {expected:?} {moments:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn threads_and_windows_change_nothing() {
    // One thread takes up to 2 MiB.
    const ITEMS: usize = 264_000;
    let mut seed = 1_u64;
    let random = move || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        seed ^ seed >> 29
    };
    let words: Vec<u8> = std::iter::repeat_with(random).take(ITEMS).flat_map(u64::to_le_bytes).collect();
    let mut wrong = Vec::new();
    for dtype in ["uint8", "int16", "float16", "float32", "float64", "complex64", "<M8[s]"] {
        let itemsize = DType::parse(dtype).unwrap().itemsize();
        let shape = [100, ITEMS * 8 / itemsize / 100];
        let source = || Source::memory(tensor(dtype, &shape, words.clone()), dtype.into());
        let one = stats(&mut source(), true, threads(1), &|_| ()).unwrap().unwrap();
        let two = stats(&mut source(), true, threads(2), &|_| ()).unwrap().unwrap();
        let bins = histogram(&source(), &one, threads(1), &|_| ()).unwrap();
        let again = histogram(&source(), &one, threads(2), &|_| ()).unwrap();
        let counted: Option<u64> = bins.as_ref().map(|bins| bins.bins.iter().map(|bin| bin.count).sum());
        let finite = (shape[0] * shape[1]) as u64 - one.nan - one.inf;
        // With one column, windows begin elsewhere.
        let mut column = Source::memory(tensor(dtype, &[shape[0] * shape[1], 1], words.clone()), dtype.into());
        let column = stats(&mut column, true, threads(2), &|_| ()).unwrap().unwrap();
        let same = format!("{:?}{:?}{:?}", column.mean, column.std, column.quantiles)
            == format!("{:?}{:?}{:?}", one.mean, one.std, one.quantiles);
        if one != two || bins != again || counted.is_some_and(|counted| counted != finite) || !same {
            wrong.push(dtype);
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
fn storage_changes_nothing() {
    let mut seed = 7_u64;
    let mut random = move || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        seed >> 33
    };
    let mut wrong = Vec::new();
    for dtype in ["bool", "int8", "float8_e4m3fn", "int16", "float16", "float32", "float64", "complex64", "<M8[s]"] {
        for shape in [&[3, 1, 4][..], &[4, 5, 2, 3], &[40]] {
            let dtype = DType::parse(dtype).unwrap();
            let meta = Meta::c_order(dtype.clone(), shape.to_vec());
            // Few values, for many ties, and some NaN.
            let values: Vec<u8> = (0..meta.items()).flat_map(|_| item(&dtype, random() % 5)).collect();
            let size = dtype.itemsize();
            let by_columns = View::fortran_order(shape);
            let mut stored = vec![0; values.len()];
            copy_bytes(&values, &View::c_order(shape), &mut stored, &by_columns, size);
            let stored = Arc::new(MemoryBytes::new(stored));
            let mut fortran = Source::stored(meta.clone().in_order(Order::Fortran), stored, 0, "f".into()).unwrap();
            let mut c = Source::memory(Tensor::new(dtype.clone(), shape.to_vec(), values.clone()).unwrap(), "c".into());
            for window in [1, 64] {
                let limits = Limits {
                    threads: Threads::new(NonZero::new(3)).started_for(0),
                    machine: Machine::with_windows_of(window),
                };
                let [one, other] =
                    [&mut c, &mut fortran].map(|source| stats(source, true, limits, &|_| ()).unwrap().unwrap());
                if one != other {
                    wrong.push(format!("{} {shape:?} {window:?}:\n  {one:?}\n  {other:?}", dtype.name()));
                }
                for axis in 0..shape.len() {
                    let expected: Vec<Stats> = (0..shape[axis]).map(|place| place_alone(&c, axis, place)).collect();
                    for source in [&mut c, &mut fortran] {
                        let mut found = Vec::new();
                        let mut take = |stats: Option<Stats>| {
                            found.extend(stats);
                            Ok(())
                        };
                        super::by_axis(source, axis, limits, &|_| (), &mut take).unwrap();
                        if found != expected {
                            wrong.push(format!("{} {shape:?} {window:?} axis {axis}", dtype.name()));
                        }
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn quantiles_of_places_as_sorting_finds_them() {
    const PLACES: usize = 3;
    type StoragePattern = (&'static str, fn(u64) -> f32);
    let patterns: [StoragePattern; 6] = [
        ("of many binades", |r| f32::from_bits(r as u32)),
        ("ties", |r| (r % 5) as f32 - 2.0),
        ("equal", |_| 1.5),
        ("zeros", |r| [0.0, -0.0, 0.0, 1e-40, r as f32][r as usize % 5]),
        ("all NaN", |_| f32::NAN),
        ("few finite", |r| [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, (r >> 8) as f32][r as usize % 4]),
    ];
    for (pattern, item) in patterns {
        for len in [1, 2, 7, 100, 511, 512, 3000] {
            let random = |n: usize| (n as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 24;
            let items: Vec<f32> = (0..PLACES * len).map(|n| item(random(n))).collect();
            let expected: Vec<Vec<f32>> = (0..PLACES)
                .map(|place| {
                    let row = &items[place * len..][..len];
                    let mut finite: Vec<f32> = row.iter().copied().filter(|item| item.is_finite()).collect();
                    finite.sort_by(f32::total_cmp);
                    let rank = |fraction: Fraction| fraction.rank(finite.len() as u64) as usize;
                    let all = QUANTILES.iter().filter(|_| !finite.is_empty());
                    all.map(|(_, fraction)| finite[rank(*fraction) - 1]).collect()
                })
                .collect();
            let bytes = |items: &mut dyn Iterator<Item = f32>| items.flat_map(f32::to_le_bytes).collect::<Vec<u8>>();
            let rows = bytes(&mut items.iter().copied());
            let columns = bytes(&mut (0..PLACES * len).map(|n| items[n % PLACES * len + n / PLACES]));
            for (axis, shape, stored) in [(0, [PLACES, len], rows), (1, [len, PLACES], columns)] {
                let mut found = Vec::new();
                let mut take = |stats: Option<Stats>| {
                    let quantiles = stats.expect("numbers have statistics").quantiles;
                    found.push(quantiles.iter().map(|item| item.bytes().to_vec()).collect::<Vec<_>>());
                    Ok(())
                };
                let mut source = Source::memory(tensor("float32", &shape, stored), "data".to_owned());
                super::by_axis(&mut source, axis, threads(1), &|_| (), &mut take).unwrap();
                let expected: Vec<Vec<Vec<u8>>> = expected
                    .iter()
                    .map(|place| place.iter().map(|item| item.to_le_bytes().to_vec()).collect())
                    .collect();
                assert_eq!(found, expected, "{pattern}: {len} items of each place of axis {axis}");
            }
        }
    }
}

fn item(dtype: &DType, n: u64) -> Vec<u8> {
    let number = [0.0, -1.0, 2.0, 2.0, f64::NAN][n as usize];
    match dtype.kind() {
        Kind::Float16 => half::f16::from_f64(number).to_le_bytes().to_vec(),
        Kind::Float32 => (number as f32).to_le_bytes().to_vec(),
        Kind::Float64 => number.to_le_bytes().to_vec(),
        Kind::Complex64 => [(number as f32).to_le_bytes(), 1_f32.to_le_bytes()].concat(),
        Kind::Datetime(_) => [0, i64::MIN, -3, 3, 3][n as usize].to_le_bytes().to_vec(),
        Kind::Int16 => (number as i16).to_le_bytes().to_vec(),
        _ => vec![[0, 1, 0x7f, 0x80, 0xff][n as usize]],
    }
}

fn place_alone(source: &Source, axis: usize, place: usize) -> Stats {
    let shape = source.shape();
    let mut ranges: Vec<_> = shape.iter().map(|&dim| 0..dim).collect();
    ranges[axis] = place..place + 1;
    let view = source.view().part(&ranges);
    let mut bytes = vec![0; view.items() * source.dtype().itemsize()];
    source.read(&view, &mut bytes, &mut Default::default()).unwrap();
    let alone = Tensor::new(source.dtype().clone(), view.shape(), bytes).unwrap();
    let mut found = stats(&mut Source::memory(alone, "alone".into()), true, threads(1), &|_| ()).unwrap().unwrap();
    let extremes = found.min.iter_mut().chain(&mut found.max).map(|(_, index)| index);
    extremes.chain(&mut found.first_nan).for_each(|index| index[axis] = place);
    found
}

#[test]
fn a_stream_of_another_length_is_refused() {
    for (dtype, bytes) in [("|S4", 3), ("float32", 3), ("float32", 5), ("|S4", 5)] {
        let reader = Box::new(io::Cursor::new(vec![0; bytes]));
        let meta = Meta::c_order(DType::parse(dtype).unwrap(), vec![1]);
        let mut source = Source::stream(meta, reader, 4, "s".into());
        assert!(stats(&mut source, true, threads(1), &|_| ()).is_err(), "{bytes}");
    }
}

#[test]
fn bins() {
    // dtype, bytes, (from, to, count) of each bin
    let float = |values: &[f64]| values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>();
    let rows: Vec<(&str, Vec<u8>, &str)> = vec![
        ("bool", vec![0, 1, 1], "0:1 1:2"),
        (
            "uint8",
            (0..=255).collect(),
            "0 to 25:26 26 to 51:26 52 to 77:26 78 to 103:26 104 to 129:26 130 to 155:26 156 to 181:26 182 to 207:26 208 to 233:26 234 to 255:22",
        ),
        ("int8", vec![251, 5], "-5 to -4:1 -3 to -2:0 -1 to 0:0 1 to 2:0 3 to 4:0 5:1"),
        (
            "int64",
            items![i64::MIN, i64::MAX],
            "-9223372036854775808 to -7378697629483820647:1 -7378697629483820646 to -5534023222112865485:0 -5534023222112865484 to -3689348814741910323:0 -3689348814741910322 to -1844674407370955161:0 -1844674407370955160 to 1:0 2 to 1844674407370955163:0 1844674407370955164 to 3689348814741910325:0 3689348814741910326 to 5534023222112865487:0 5534023222112865488 to 7378697629483820649:0 7378697629483820650 to 9223372036854775807:1",
        ),
        (
            "float64",
            float(&[0.0, 10.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 9.0, 8.999]),
            "[0, 1):1 [1, 2):0 [2, 3):0 [3, 4):0 [4, 5):0 [5, 6):0 [6, 7):0 [7, 8):0 [8, 9):1 [9, 10]:2",
        ),
        ("float64", float(&[2.5, 2.5]), "[2.5, 2.5]:2"),
        ("float64", float(&[0.0, f64::from_bits(1)]), "[0, 5e-324):1 [5e-324, 5e-324]:1"),
        (
            "float8_e4m3fn",
            vec![0x38, 0xb8, 0x7f],
            "[-1, -0.8):1 [-0.8, -0.6):0 [-0.6, -0.4):0 [-0.4, -0.2):0 [-0.2, 0):0 [0, 0.2):0 [0.2, 0.4):0 [0.4, 0.6):0 [0.6, 0.8):0 [0.8, 1]:1",
        ),
        ("float64", float(&[f64::NAN]), ""),
        ("<M8[s]", items![1_i64], ""),
        ("complex128", float(&[1.0, 2.0]), ""),
    ];
    let mut wrong = Vec::new();
    for (dtype, bytes, expected) in rows {
        let items = bytes.len() / DType::parse(dtype).unwrap().itemsize();
        let bins =
            info(tensor(dtype, &[items], bytes)).histogram.flatten().map_or(Vec::new(), |histogram| histogram.bins);
        let labels =
            bins.iter().enumerate().map(|(i, bin)| format!("{}:{}", bin.label(i + 1 == bins.len()), bin.count));
        let found = labels.collect::<Vec<_>>().join(" ");
        if found != expected {
            wrong.push(format!("{dtype}:\n  {found}\n  {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn several() -> Vec<Info> {
    let mut infos = vec![info(tensor("float32", &[2, 2], items![0_f32, 1_f32, 2.5_f32, f32::NAN]))];
    infos.push(Info {
        file: "w\u{1b}.npz".into(),
        member: Some("conv\"1\n".into()),
        format: Format::NPZ,
        stored: Description::new(
            Meta::c_order(DType::parse(">f8").unwrap(), vec![1000, 3]).in_order(Order::Fortran),
            24000,
            None,
        ),
        stats: None,
        histogram: None,
        hash: None,
        by_axis: None,
        metadata: None,
        content: Arc::new(["meta.json".to_owned(), "b".to_owned()]),
        unlisted: std::sync::Arc::default(),
        file_number: 0,
        shard: None,
        shared: None,
        error: None,
    });
    infos
}

fn places(mut places: AxisStats) -> AxisStats {
    let one = Stats { mean: Some(Mean::Real(1.5)), inf: 2, first_nan: Some(vec![3]), ..Stats::default() };
    places.push(Some(&one)).and_then(|()| places.push(None)).and_then(|()| places.finish()).unwrap();
    places
}

#[test]
fn json() {
    let mut out = Vec::new();
    let mut infos = several();
    infos[0].hash = Some("00ff".into());
    let bin = |from, to, count| Bin { from: BinEdge::Float(from), to: BinEdge::Float(to), count };
    infos[0].histogram = Some(Some(Histogram { bins: vec![bin(0.0, 1.5, 2), bin(1.5, 2.5, 1)] }));
    infos[1].by_axis = Some((1, places(AxisStats::json())));
    write_json(&mut out, &mut infos, &[]).unwrap();
    let expected = r#"[{"file": "a.npy", "name": null, "member": null, "format": "npy", "dtype": "float32", "shape": [2, 2], "order": "C", "byte_order": "little", "items": 4, "bytes": 16, "offset": 128, "stats": {"min": {"value": 0.0, "index": [0, 0]}, "max": {"value": 2.5, "index": [1, 0]}, "mean": 1.1666666666666667, "std": 1.0274023338281628, "nan": 1, "inf": 0, "zero": 1, "first_nan": [1, 1], "quantiles": {"0.001": 0.0, "0.01": 0.0, "0.05": 0.0, "0.25": 0.0, "0.5": 1.0, "0.75": 2.5, "0.95": 2.5, "0.99": 2.5, "0.999": 2.5}}, "histogram": [{"from": 0.0, "to": 1.5, "count": 2}, {"from": 1.5, "to": 2.5, "count": 1}], "hash": "00ff"},
 {"file": "w\u001b.npz", "name": "conv\"1\u000a", "member": "conv\"1\u000a", "format": "npz", "dtype": "float64", "shape": [1000, 3], "order": "F", "byte_order": "big", "items": 3000, "bytes": 24000, "offset": null, "content": ["meta.json", "b"], "by_axis": [{"min": null, "max": null, "mean": 1.5, "std": null, "nan": 0, "inf": 2, "zero": 0, "first_nan": [3], "quantiles": {"0.001": null, "0.01": null, "0.05": null, "0.25": null, "0.5": null, "0.75": null, "0.95": null, "0.99": null, "0.999": null}}, null]}]
"#;
    assert_eq!(String::from_utf8(out).unwrap(), expected.replace("conv\"1", "conv\\\"1"));
    let mut out = Vec::new();
    write_json(&mut out, &mut [], &[]).unwrap();
    assert_eq!(out, b"[]\n");
}

#[test]
fn table() {
    let mut out = Vec::new();
    let mut infos = several();
    infos[0].hash = Some("00ff".into());
    infos[1].by_axis = Some((1, places(AxisStats::table(Style::plain()))));
    write_table(&mut out, &mut infos, &[], Style::plain()).unwrap();
    let expected = r##"name                  dtype    shape          size
a.npy                 float32  [2, 2]         16 B
w\u{1b}.npz:conv"1\n  float64  [1000, 3]  23.4 KiB  Fortran order, big-endian
w\u{1b}.npz: holds meta.json, b, which are not tensors

name   min  max       mean        std  nan  inf  zero
a.npy    0  2.5  1.166666…  1.027402…    1    0     1  first nan at [1, 1]

00ff  a.npy

a.npy
  [0, 0.25)    1  ########################################
  [0.25, 0.5)  0
  [0.5, 0.75)  0
  [0.75, 1)    0
  [1, 1.25)    1  ########################################
  [1.25, 1.5)  0
  [1.5, 1.75)  0
  [1.75, 2)    0
  [2, 2.25)    0
  [2.25, 2.5]  1  ########################################

w\u{1b}.npz:conv"1\n, axis 1
  place  min  max  mean  std  nan  inf  zero
  0        -    -   1.5    -    0    2     0  first nan at [3]
  1        -    -     -    -    -    -     -
"##;
    assert_eq!(String::from_utf8(out).unwrap(), expected);
    let mut out = Vec::new();
    let mut infos = [Info { stats: None, histogram: None, ..several().remove(0) }];
    write_table(&mut out, &mut infos, &[], Style::plain().with_colour(true)).unwrap();
    let expected = "\u{1b}[1mname   dtype    shape   size\u{1b}[0m\na.npy  float32  [2, 2]  16 B\n";
    assert_eq!(String::from_utf8(out).unwrap(), expected);
}

#[test]
fn figures_in_seven_digits() {
    let rows = [
        ("0.0", "0"),
        ("-0.0", "-0"),
        ("2.5", "2.5"),
        ("0.3333333333333333", "0.3333333…"),
        ("-66.66666666666667", "-66.66666…"),
        ("-1.6597664935592873e-300", "-1.659766e-300…"),
        ("-0.0033325195", "-0.003332519…"),
        ("0.0001", "0.0001"),
        ("1e-05", "1e-05"),
        ("0.00001234567", "1.234567e-05"),
        ("1234567.0", "1234567"),
        ("1234567.5", "1234567.…"),
        ("1000000", "1000000"),
        ("10000000.0", "1e+07"),
        ("12345678", "1.234567e+07…"),
        ("18446744073709551615", "1.844674e+19…"),
        ("-9223372036854775808", "-9.223372e+18…"),
        ("1.0000000001", "1.000000…"),
        ("1e+300", "1e+300"),
        ("2020-01-01T00:00:00", "2020-01-01T00:00:00"),
        ("NaN", "NaN"),
        ("-Infinity", "-Infinity"),
        ("true", "true"),
    ];
    for (text, expected) in rows {
        assert_eq!(figures::seven_digits(text), expected, "{text}");
    }
}

#[test]
fn sizes() {
    let rows = [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1.00 KiB"),
        (10_235, "10.0 KiB"),
        (10_240, "10.0 KiB"),
        (102_400, "100 KiB"),
        ((1 << 20) - 1, "1.00 MiB"),
        (80_530_200_000, "75.0 GiB"),
        (u64::MAX, "16.0 EiB"),
    ];
    for (bytes, text) in rows {
        assert_eq!(size(bytes), text, "{bytes}");
    }
}

#[test]
fn byte_orders() {
    let rows = [
        ("bool", None),
        (">i2", Some("big")),
        ("float64", Some("little")),
        ("bfloat16", Some("little")),
        ("float8_e5m2", None),
        ("|S3", None),
        ("|V8", None),
        (">U2", Some("big")),
        ("<M8[s]", Some("little")),
        (">c16", Some("big")),
    ];
    for (dtype, expected) in rows {
        let mut info = several().remove(1);
        info.stored.meta.dtype = DType::parse(dtype).unwrap();
        assert_eq!(info.byte_order(), expected, "{dtype}");
    }
}
