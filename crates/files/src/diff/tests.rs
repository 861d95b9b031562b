use std::collections::HashSet;
use std::num::NonZero;
use std::ops::Range;
use std::sync::Arc;

use half::f16;

use super::findings::places::{AxisMarks, FirstAxisRuns, FoundMismatch, MismatchErrors, WindowMarks};
use super::findings::tally::{DifferenceTally, NumberPairs, NumberRule, StoredItems, least_rtol};
use super::numbers::distance::PairRule;
use super::numbers::kernel::Rows;
use super::numbers::reading::{Comparability, NumberReading};
use super::numbers::walk::Walk;
use super::reports::maps;
use super::*;
use crate::formats::json;
use crate::operators::fill::Machine;
use crate::storage::read_at::MemoryBytes;
use crate::storage::source::Source;
use tensorop_kernels::error::{Advice, Subject};
use tensorop_kernels::item::dtype::{DType, Kind, Narrow};
use tensorop_kernels::item::first::Numbered;
use tensorop_kernels::item::meta::{Meta, Order};
use tensorop_kernels::item::tensor::Tensor;
use tensorop_kernels::layout::axis::coordinates;
use tensorop_kernels::parallel::Threads;

fn source(dtype: &str, shape: &[usize], bytes: Vec<u8>) -> Source {
    let dtype = DType::parse(dtype).unwrap();
    Source::memory(Tensor::new(dtype, shape.to_vec(), bytes).unwrap(), String::new())
}

fn typed(dtype: &str, items: &str) -> Source {
    let dtype = DType::parse(dtype).unwrap();
    let tensor = json::open(items.as_bytes(), Subject::Data, Threads::default()).unwrap().read(&dtype).unwrap();
    Source::memory(tensor, String::new())
}

fn words(dtype: &str, items: &[u64]) -> Source {
    let size = DType::parse(dtype).unwrap().itemsize();
    source(dtype, &[items.len()], items.iter().flat_map(|item| item.to_le_bytes()[..size].to_vec()).collect())
}

fn options(text: &str) -> (Options, Effort) {
    let (mut options, mut effort) = (Options::default(), Effort::default());
    let mut words = text.split_whitespace();
    while let Some(name) = words.next() {
        let mut value = || words.next().unwrap();
        match name {
            "--atol" => options.atol = Some(value().parse().unwrap()),
            "--rtol" => options.rtol = Some(value().parse().unwrap()),
            "--ulp" => options.ulp = Some(value().parse().unwrap()),
            "--max-mismatch" => options.shown = value().parse().unwrap(),
            "--worst" => options.worst = Some(value().parse().unwrap()),
            "--window" => effort.limits.machine = Machine::with_windows_of(value().parse().unwrap()),
            "--quantiles" => effort.quantiles = true,
            "--threads" => effort.limits.threads = Threads::new(NonZero::new(value().parse().unwrap())),
            "--nan-differs" => options.nan_differs = true,
            "--ignore-dtype" => options.ignore_dtype = true,
            _ => panic!("{name}"),
        }
    }
    (options, effort)
}

fn compared(mut expected: Source, mut actual: Source, text: &str) -> Difference {
    let (options, effort) = options(text);
    compare_sources(&mut expected, &mut actual, &options, effort, &|_| ()).unwrap()
}

fn json_of(found: &Difference) -> String {
    let mut out = Vec::new();
    found.write_json(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// Omits the metrics of the whole tensors.
fn json_of_items(found: &Difference) -> String {
    let json = json_of(found);
    let (items, _) = json.split_once(", \"metrics\"").unwrap();
    format!("{items}}}\n")
}

fn report_of_items(found: &Difference) -> String {
    let report = report_of(found, false);
    let end = [report.find("\n  mean_abs"), report.find("\n  axis ")].into_iter().flatten().min();
    report[..end.unwrap_or(report.len())].to_owned()
}

fn report_of(found: &Difference, colour: bool) -> String {
    let mut out = Vec::new();
    found
        .write_report(&mut out, Style::plain().with_colour(colour).with_option_names(OptionNames::CommandLine))
        .unwrap();
    String::from_utf8(out).unwrap()
}

/// Mismatches | largest errors with the last index | smallest tolerances.
fn brief(found: &Difference) -> String {
    fn most<V>(most: Option<&Extreme<V>>, text: impl Fn(&V) -> String) -> String {
        most.map_or("-".into(), |m| format!("{}@{}", text(&m.value), m.index.last().unwrap_or(&0)))
    }
    fn least<V: ToString>(least: Option<V>) -> String {
        least.map_or("-".into(), |v| v.to_string())
    }
    let float = |value: f64| format!("{value:?}").trim_end_matches(".0").to_owned();
    let number = |number: &Number| match number {
        Number::Float(value) => float(*value),
        Number::Integer(value) => value.to_string(),
    };
    format!(
        "{} | {} {} {} | {} {} {}",
        least(found.mismatches()),
        most(found.max_abs(), number),
        most(found.max_rel(), |rel| float(*rel)),
        most(found.max_ulp(), u64::to_string),
        least(found.min_atol().map(float)),
        least(found.min_rtol().map(float)),
        least(found.min_ulp())
    )
}

fn check(rows: impl IntoIterator<Item = (String, String, String)>) {
    let wrong: Vec<_> = rows.into_iter().filter(|(_, found, wanted)| found != wanted).collect();
    let lines = wrong.iter().map(|(row, found, wanted)| format!("{row}\n   found {found}\nexpected {wanted}\n"));
    assert!(wrong.is_empty(), "{}", lines.collect::<String>());
}

#[test]
fn rules() {
    let rows = [
        // Bits, NaN, zeros
        ("float32", "[1, 2]", "[1, 2]", "", "0 | 0@0 0@0 0@0 | 0 0 0"),
        ("float32", "[\"NaN\", 2]", "[\"NaN\", 2]", "", "0 | 0@1 0@1 0@1 | 0 0 0"),
        ("float32", "[\"NaN\", 2]", "[\"NaN\", 2]", "--nan-differs", "0 | 0@1 0@1 0@1 | 0 0 0"),
        ("float32", "[\"NaN\"]", "[\"NaN\"]", "", "0 | - - - | 0 0 0"),
        ("float32", "[1, \"NaN\"]", "[1, 2]", "--atol 1e9 --rtol 9 --ulp 99", "1 | 0@0 0@0 0@0 | - - -"),
        ("float32", "[1, 2]", "[1, \"NaN\"]", "--atol 1e9 --rtol 9 --ulp 99", "1 | 0@0 0@0 0@0 | - - -"),
        ("float64", "[0.0]", "[-0.0]", "", "1 | 0@0 0@0 0@0 | 0 0 0"),
        ("float64", "[0.0]", "[-0.0]", "--atol 0", "0 | 0@0 0@0 0@0 | 0 0 0"),
        ("float64", "[0.0]", "[-0.0]", "--rtol 0", "0 | 0@0 0@0 0@0 | 0 0 0"),
        ("float16", "[0.0]", "[-0.0]", "--ulp 0", "0 | 0@0 0@0 0@0 | 0 0 0"),
        // Infinities
        ("float32", "[\"Infinity\", 1]", "[\"Infinity\", 1]", "", "0 | 0@1 0@1 0@1 | 0 0 0"),
        ("float32", "[\"Infinity\"]", "[\"-Infinity\"]", "--rtol 1 --atol 1 --ulp 9", "1 | - - - | - - -"),
        ("float32", "[\"Infinity\"]", "[1]", "--rtol 1 --atol 1", "1 | - - - | - - -"),
        ("float32", "[1]", "[\"Infinity\"]", "--rtol 1 --atol 1", "1 | - - - | - - -"),
        ("float32", "[3.4028234663852886e38]", "[\"Infinity\"]", "--ulp 1", "1 | - - - | - - -"),
        (
            "float64",
            "[1e308]",
            "[-1e308]",
            "--atol 1e308",
            "1 | inf@0 inf@0 18429743317745373504@0 | - 1.797693134862316 18429743317745373504",
        ),
        // Tolerances at their limits
        ("float64", "[2, 4]", "[2.5, 4]", "", "1 | 0.5@0 0.25@0 1125899906842624@0 | 0.5 0.25 1125899906842624"),
        (
            "float64",
            "[2, 4]",
            "[2.5, 4]",
            "--atol 0.5",
            "0 | 0.5@0 0.25@0 1125899906842624@0 | 0.5 0.25 1125899906842624",
        ),
        (
            "float64",
            "[2, 4]",
            "[2.5, 4]",
            "--atol 0.49999999999999994",
            "1 | 0.5@0 0.25@0 1125899906842624@0 | 0.5 0.25 1125899906842624",
        ),
        (
            "float64",
            "[2, 4]",
            "[2.5, 4]",
            "--rtol 0.25",
            "0 | 0.5@0 0.25@0 1125899906842624@0 | 0.5 0.25 1125899906842624",
        ),
        (
            "float64",
            "[2, 4]",
            "[2.5, 4]",
            "--rtol 0.125 --atol 0.25",
            "0 | 0.5@0 0.25@0 1125899906842624@0 | 0.5 0.25 1125899906842624",
        ),
        (
            "float64",
            "[2, 4]",
            "[2.5, 4]",
            "--rtol 0.124 --atol 0.25 --ulp 9",
            "1 | 0.5@0 0.25@0 1125899906842624@0 | 0.5 0.25 1125899906842624",
        ),
        (
            "float32",
            "[1, 1]",
            "[1, 1.0000001]",
            "--ulp 1",
            "0 | 1.1920928955078125e-7@1 1.1920928955078125e-7@1 1@1 | 1.1920928955078125e-7 1.1920928955078125e-7 1",
        ),
        (
            "float32",
            "[1, 1]",
            "[1, 1.0000001]",
            "--ulp 0 --rtol 0 --atol 1e-7",
            "1 | 1.1920928955078125e-7@1 1.1920928955078125e-7@1 1@1 | 1.1920928955078125e-7 1.1920928955078125e-7 1",
        ),
        // An expected zero has neither a relative error nor a relative tolerance
        ("float16", "[0, 1]", "[1, 1]", "--rtol 1e30", "1 | 1@0 0@1 15360@0 | 1 - 15360"),
        ("float16", "[0, 0]", "[1, 2]", "", "2 | 2@1 - 16384@1 | 2 - 16384"),
        ("float16", "[0, 0, 0]", "[1, 2, 0]", "", "2 | 2@1 0@2 16384@1 | 2 - 16384"),
        // Relative errors refer to the expected item
        ("int8", "[10]", "[11]", "--rtol 0.1", "0 | 1@0 0.1@0 1@0 | 1 0.1 1"),
        ("int8", "[11]", "[10]", "--rtol 0.09", "1 | 1@0 0.09090909090909091@0 1@0 | 1 0.09090909090909091 1"),
        // Integers, exact and without overflow
        ("int8", "[-128, 5]", "[127, 5]", "", "1 | 255@0 1.9921875@0 255@0 | 255 1.9921875 255"),
        ("uint8", "[255]", "[0]", "--atol 254.9", "1 | 255@0 1@0 255@0 | 255 1 255"),
        ("uint8", "[0]", "[3]", "--ulp 3", "0 | 3@0 - 3@0 | 3 - 3"),
        (
            "int64",
            "[-9223372036854775808]",
            "[9223372036854775807]",
            "--atol 18446744073709551615",
            "0 | 18446744073709551615@0 2@0 18446744073709551615@0 | 1.8446744073709552e19 2 18446744073709551615",
        ),
        (
            "int64",
            "[0]",
            "[9007199254740993]",
            "--atol 9007199254740992",
            "1 | 9007199254740993@0 - 9007199254740993@0 | 9007199254740994 - 9007199254740993",
        ),
        (
            "int64",
            "[9007199254740993]",
            "[9007199254740992]",
            "--atol 0",
            "1 | 1@0 1.1102230246251565e-16@0 1@0 | 1 1.1102230246251565e-16 1",
        ),
        (
            "uint64",
            "[18446744073709551615]",
            "[18446744073709551614]",
            "",
            "1 | 1@0 5.421010862427522e-20@0 1@0 | 1 5.421010862427522e-20 1",
        ),
        ("bool", "[true, false]", "[true, true]", "", "1 | 1@1 0@0 1@1 | 1 - 1"),
        ("bool", "[true, false]", "[true, true]", "--atol 1", "0 | 1@1 0@0 1@1 | 1 - 1"),
        ("bool", "[true, false]", "[false, false]", "--rtol 0.99", "1 | 1@0 1@0 1@0 | 1 1 1"),
        // Dates
        ("<M8[s]", "[10, \"NaT\"]", "[13, \"NaT\"]", "--nan-differs", "1 | 3@0 0.3@0 3@0 | 3 0.3 3"),
        ("<M8[s]", "[10, \"NaT\"]", "[13, 0]", "--atol 1e30", "1 | 3@0 0.3@0 3@0 | - - -"),
        ("<m8[ns]", "[-5]", "[5]", "--ulp 10", "0 | 10@0 2@0 10@0 | 10 2 10"),
        // Complex numbers by modulus
        ("complex128", "[[3, 4]]", "[[6, 8]]", "--atol 5", "0 | 5@0 1@0 4503599627370496@0 | 5 1 4503599627370496"),
        ("complex64", "[[3, 4]]", "[[6, 8]]", "--rtol 0.99", "1 | 5@0 1@0 8388608@0 | 5 1 8388608"),
        ("complex64", "[[0, 1]]", "[[-0.0, 1]]", "", "1 | 0@0 0@0 0@0 | 0 0 0"),
        ("complex64", "[[0, 1]]", "[[-0.0, 1]]", "--ulp 0", "0 | 0@0 0@0 0@0 | 0 0 0"),
        ("complex64", "[[1, \"NaN\"]]", "[[\"NaN\", 2]]", "", "0 | - - - | 0 0 0"),
        ("complex64", "[[1, \"NaN\"]]", "[[\"NaN\", 2]]", "--nan-differs --atol 9", "1 | - - - | - - -"),
        ("complex64", "[[\"Infinity\", 0]]", "[[\"Infinity\", -0.0]]", "", "1 | - - - | 0 0 0"),
        ("complex64", "[[\"Infinity\", 0]]", "[[\"Infinity\", -0.0]]", "--atol 0", "0 | - - - | 0 0 0"),
        ("complex64", "[[\"Infinity\", 0]]", "[[\"Infinity\", 1]]", "--atol 9 --rtol 9 --ulp 9", "1 | - - - | - - -"),
        // Items that are not numbers
        ("<U3", "[\"a\", \"b\"]", "[\"a\", \"b\"]", "", "0 | - - - | 0 0 0"),
        ("<U3", "[\"a\", \"b\"]", "[\"a\", \"c\"]", "--atol 9 --ulp 9", "1 | - - - | - - -"),
        ("|S3", "[\"a\", \"b\"]", "[\"x\", \"bc\"]", "", "2 | - - - | - - -"),
        ("|S0", "[\"\", \"\"]", "[\"\", \"\"]", "", "0 | - - - | 0 0 0"),
        ("float32", "[]", "[]", "", "0 | - - - | 0 0 0"),
    ];
    check(rows.map(|(dtype, expected, actual, args, wanted)| {
        let found = compared(typed(dtype, expected), typed(dtype, actual), args);
        assert_eq!(found.equal(), found.mismatches() == Some(0));
        (format!("{dtype} {expected} {actual} {args}"), brief(&found), wanted.to_owned())
    }));
}

#[test]
fn rules_of_bits() {
    let rows: &[(&str, u64, u64, &str, &str)] = &[
        // NaN with other bits
        ("float32", 0x7fc0_0000, 0xffc0_0001, "", "0 | - - - | 0 0 0"),
        ("float32", 0x7fc0_0000, 0xffc0_0001, "--nan-differs --atol 9", "1 | - - - | - - -"),
        ("float64", 0x7ff8 << 48, 0x7ff0 << 48 | 1, "", "0 | - - - | 0 0 0"),
        // Products of subnormals are rounded to few digits
        ("float64", 1, 2, "", "1 | 5e-324@0 1@0 1@0 | 5e-324 0.5000000000000001 1"),
        ("float64", 3, 4, "--rtol 0.2", "0 | 5e-324@0 0.3333333333333333@0 1@0 | 5e-324 0.16666666666666669 1"),
        ("float64", 3, 4, "--rtol 0.16", "1 | 5e-324@0 0.3333333333333333@0 1@0 | 5e-324 0.16666666666666669 1"),
        ("float64", 1, 1 << 63 | 1, "--ulp 2", "0 | 1e-323@0 2@0 2@0 | 1e-323 1.5 2"),
        ("float16", 1, 0x8001, "--ulp 1", "1 | 1.1920928955078125e-7@0 2@0 2@0 | 1.1920928955078125e-7 2 2"),
        // High bits of narrow types are ignored
        ("float4_e2m1fn", 0x03, 0xf3, "", "0 | 0@0 0@0 0@0 | 0 0 0"),
        ("float4_e2m1fn", 0x03, 0x05, "", "1 | 1.5@0 1@0 2@0 | 1.5 1 2"),
        ("int4", 0x08, 0xf7, "", "1 | 15@0 1.875@0 15@0 | 15 1.875 15"),
        ("int4", 0x08, 0xf8, "", "0 | 0@0 0@0 0@0 | 0 0 0"),
        ("uint2", 0, 0xff, "--atol 3", "0 | 3@0 - 3@0 | 3 - 3"),
        ("float8_e4m3fn", 0x7f, 0xff, "", "0 | - - - | 0 0 0"),
        ("float8_e4m3fn", 0x7e, 0x7f, "--ulp 1", "1 | - - - | - - -"),
        ("float8_e5m2", 0x7b, 0x7c, "--ulp 1", "1 | - - - | - - -"),
        ("float8_e5m2", 0x3c, 0x3d, "--ulp 1", "0 | 0.25@0 0.25@0 1@0 | 0.25 0.25 1"),
        ("float8_e8m0fnu", 0x7f, 0x80, "", "1 | 1@0 1@0 1@0 | 1 1 1"),
        // Two true bytes have the same value
        ("bool", 1, 2, "", "1 | 0@0 0@0 0@0 | 0 0 0"),
        ("bool", 1, 2, "--ulp 0", "0 | 0@0 0@0 0@0 | 0 0 0"),
        ("|V3", 1, 2, "--atol 1", "1 | - - - | - - -"),
        ("|V3", 2, 2, "", "0 | - - - | 0 0 0"),
    ];
    check(rows.iter().map(|&(dtype, expected, actual, args, wanted)| {
        let found = compared(words(dtype, &[expected]), words(dtype, &[actual]), args);
        if let Ok(big) =
            DType::parse(&DType::parse(dtype).unwrap().descr().replace(['<', '\''], ">").replace(">>", ">"))
            && big.is_big_endian()
        {
            let reversed = |item: u64| {
                let mut bytes = item.to_le_bytes()[..big.itemsize()].to_vec();
                bytes.reverse();
                Source::memory(Tensor::new(big.clone(), vec![1], bytes).unwrap(), String::new())
            };
            assert_eq!(found, compared(reversed(expected), words(dtype, &[actual]), args), "{dtype}");
        }
        (format!("{dtype} {expected:x} {actual:x} {args}"), brief(&found), wanted.to_owned())
    }));
    let long = |byte| source("float128", &[1], vec![byte; 16]);
    assert_eq!(brief(&compared(long(1), long(2), "--atol 1")), "1 | - - - | - - -");
    assert_eq!(brief(&compared(long(1), long(1), "")), "0 | - - - | 0 0 0");
}

#[test]
fn other_dtypes() {
    let rows = [
        ("float32", "[1]", "float64", "[1]", "", "different: dtype float64, expected float32"),
        ("float32", "[1, 2]", "float64", "[1]", "", "different: dtype float64, expected float32"),
        ("float32", "[1, 2]", "float32", "[1]", "", "different: shape [1], expected [2]"),
        ("<f4", "[1]", ">f4", "[1]", "", "equal: 1 item of float32 [1]"),
        ("<U1", "[\"a\"]", "<U2", "[\"a\"]", "", "different: dtype <U2, expected <U1"),
        ("float32", "[1, 2]", "float64", "[1]", "--ignore-dtype", "different: shape [1], expected [2]"),
        ("float32", "[1]", "float64", "[1]", "--ignore-dtype", "0 | 0@0 0@0 - | 0 0 -"),
        (
            "float32",
            "[0.1]",
            "float64",
            "[0.1]",
            "--ignore-dtype",
            "1 | 1.4901161138336505e-9@0 1.4901160916291903e-8@0 - | 1.4901161138336505e-9 1.4901160916291903e-8 -",
        ),
        (
            "float32",
            "[0.1]",
            "float64",
            "[0.1]",
            "--ignore-dtype --rtol 1e-7",
            "0 | 1.4901161138336505e-9@0 1.4901160916291903e-8@0 - | 1.4901161138336505e-9 1.4901160916291903e-8 -",
        ),
        (
            "float16",
            "[\"NaN\", \"Infinity\"]",
            "bfloat16",
            "[\"NaN\", \"Infinity\"]",
            "--ignore-dtype",
            "0 | - - - | 0 0 -",
        ),
        (
            "int64",
            "[-9223372036854775808]",
            "uint64",
            "[18446744073709551615]",
            "--ignore-dtype",
            "1 | 27670116110564327423@0 3@0 - | 2.7670116110564327e19 3 -",
        ),
        (
            "uint64",
            "[9007199254740993]",
            "int64",
            "[9007199254740992]",
            "--ignore-dtype",
            "1 | 1@0 1.1102230246251565e-16@0 - | 1 1.1102230246251565e-16 -",
        ),
        ("bool", "[true]", "int8", "[1]", "--ignore-dtype", "0 | 0@0 0@0 - | 0 0 -"),
        ("int32", "[1, 2]", "float32", "[1, 2.5]", "--ignore-dtype", "1 | 0.5@1 0.25@1 - | 0.5 0.25 -"),
        ("int32", "[5]", "complex64", "[[5, 0]]", "--ignore-dtype", "0 | 0@0 0@0 - | 0 0 -"),
        ("complex64", "[[3, 4]]", "float64", "[3]", "--ignore-dtype", "1 | 4@0 0.8@0 - | 4 0.8 -"),
        ("<U1", "[\"a\", \"\"]", "<U3", "[\"a\", \"\"]", "--ignore-dtype", "0 | - - - | 0 0 -"),
        ("<U1", "[\"a\", \"b\"]", "|S3", "[\"a\", \"bc\"]", "--ignore-dtype --atol 3", "1 | - - - | - - -"),
        ("|S0", "[\"\", \"\"]", "<U1", "[\"\", \"x\"]", "--ignore-dtype", "1 | - - - | - - -"),
        ("|S0", "[\"\", \"\"]", "<U0", "[\"\", \"\"]", "--ignore-dtype", "0 | - - - | 0 0 -"),
        ("<U1", "[\"1\"]", "int8", "[1]", "--ignore-dtype", "different: dtype int8, expected <U1"),
        // 2^53 + 1 is not a float64; its nearest float64 is one less
        (
            "int64",
            "[9007199254740993, -9007199254740993]",
            "float64",
            "[9007199254740992, -9007199254740992]",
            "--ignore-dtype",
            "2 | 1@0 1.1102230246251565e-16@0 - | 1 1.1102230246251565e-16 -",
        ),
        (
            "float32",
            "[9007199254740992, 18446744073709551616]",
            "uint64",
            "[9007199254740993, 18446744073709551615]",
            "--ignore-dtype --atol 0.5",
            "2 | 1@0 1.1102230246251565e-16@0 - | 1 1.1102230246251565e-16 -",
        ),
        (
            "uint64",
            "[18446744073709551615]",
            "float64",
            "[18446744073709551616]",
            "--ignore-dtype --atol 1",
            "0 | 1@0 5.421010862427522e-20@0 - | 1 5.421010862427522e-20 -",
        ),
        ("int64", "[3, 0]", "float16", "[3, -0.0]", "--ignore-dtype", "0 | 0@0 0@0 - | 0 0 -"),
        ("bool", "[true, false]", "float32", "[1, -0.0]", "--ignore-dtype", "0 | 0@0 0@0 - | 0 0 -"),
        ("int64", "[3, 3]", "float64", "[\"NaN\", \"Infinity\"]", "--ignore-dtype --atol 9", "2 | - - - | - - -"),
        // Dates of two units use the longest common unit
        (
            "<M8[s]",
            "[1]",
            "<M8[ns]",
            "[1]",
            "--ignore-dtype",
            "1 | 999999999@0 0.999999999@0 - | 999999999 0.999999999 -",
        ),
        ("<M8[s]", "[7, \"NaT\"]", "<M8[ns]", "[7000000000, \"NaT\"]", "--ignore-dtype", "0 | 0@0 0@0 - | 0 0 -"),
        ("<M8[s]", "[7, \"NaT\"]", "<M8[ns]", "[\"NaT\", 7]", "--ignore-dtype --atol 9", "2 | - - - | - - -"),
        ("<m8[h]", "[-2]", "<m8[m]", "[-120]", "--ignore-dtype", "0 | 0@0 0@0 - | 0 0 -"),
        (
            "<m8[Y]",
            "[2]",
            "<m8[M]",
            "[25]",
            "--ignore-dtype",
            "1 | 1@0 0.041666666666666664@0 - | 1 0.041666666666666664 -",
        ),
        // Months count from their first day, as in NumPy
        ("<M8[M]", "[1]", "<M8[D]", "[31]", "--ignore-dtype", "0 | 0@0 0@0 - | 0 0 -"),
        ("<M8[D]", "[32]", "<M8[Y]", "[0]", "--ignore-dtype", "1 | 32@0 1@0 - | 32 1 -"),
        ("<m8[3s]", "[2]", "<m8[2s]", "[3]", "--ignore-dtype", "0 | 0@0 0@0 - | 0 0 -"),
        (
            "<m8[3s]",
            "[2]",
            "<m8[2s]",
            "[2]",
            "--ignore-dtype",
            "1 | 2@0 0.3333333333333333@0 - | 2 0.3333333333333333 -",
        ),
        // Far beyond 128 bits
        (
            "<m8[W]",
            "[9223372036854775807]",
            "<m8[as]",
            "[1]",
            "--ignore-dtype --atol 1e9",
            "1 | 42535295865117307932921825928971026431@0 1@0 - | 4.253529586511731e37 1 -",
        ),
        ("<M8[s]", "[1]", "<m8[s]", "[1]", "--ignore-dtype", "different: dtype <m8[s], expected <M8[s]"),
        ("<m8[s]", "[1]", "int64", "[1]", "--ignore-dtype", "different: dtype int64, expected <m8[s]"),
        ("<M8[s]", "[1]", ">M8[s]", "[1]", "", "equal: 1 item of <M8[s] [1]"),
    ];
    check(rows.map(|(expected, items, actual, others, args, wanted)| {
        let found = compared(typed(expected, items), typed(actual, others), args);
        let text = if wanted.contains('|') { brief(&found) } else { found.verdict() };
        (format!("{expected} {items} {actual} {others} {args}"), text, wanted.to_owned())
    }));
    let found = compared(words("int4", &[0xf, 7]), typed("int64", "[-1, 8]"), "--ignore-dtype");
    assert_eq!(brief(&found), "1 | 1@1 0.14285714285714285@1 - | 1 0.14285714285714285 -");
    let found = compared(words("float8_e5m2", &[0x3c]), typed("float16", "[1]"), "--ignore-dtype");
    assert_eq!(brief(&found), "0 | 0@0 0@0 - | 0 0 -");
}

#[test]
fn refusals() {
    let rows = [
        ("float64", "--atol -1", "atol -1, expected a number that is not negative"),
        ("float64", "--rtol NaN", "rtol NaN, expected a number that is not negative"),
        ("float64", "--ulp 1 --ignore-dtype", "ulp needs tensors of one dtype: float32 and float64"),
        ("int8", "--ulp 1 --ignore-dtype", "ulp needs tensors of one dtype: float32 and int8"),
    ];
    check(rows.map(|(dtype, args, wanted)| {
        let (mut expected, mut actual, (options, effort)) =
            (typed("float32", "[1]"), typed(dtype, "[1]"), options(args));
        let error = compare_sources(&mut expected, &mut actual, &options, effort, &|_| ()).unwrap_err();
        assert_eq!(error.advice(), Some(Advice::ChangeOption), "{args}");
        (args.to_owned(), error.to_string(), wanted.to_owned())
    }));
    assert!(compared(typed("float32", "[1]"), typed(">f4", "[1]"), "--ulp 1 --ignore-dtype").equal());
    let (mut expected, mut actual) = (typed("<m8[M]", "[1]"), typed("<m8[D]", "[30]"));
    let (options, effort) = options("--ignore-dtype");
    let error = compare_sources(&mut expected, &mut actual, &options, effort, &|_| ()).unwrap_err().to_string();
    assert!(
        error.ends_with("dtype <m8[D], expected <m8[M]: months and years have no fixed length in the other unit"),
        "{error}"
    );
}

#[test]
fn json() {
    let outlines = |dtype: &str, shape: &str| {
        let outline = format!("{{\"dtype\": \"{dtype}\", \"shape\": {shape}}}");
        format!("\"expected\": {outline}, \"actual\": {outline}")
    };
    let nothing = "\"mismatches\": null, \"nonfinite_mismatches\": null, \"first_nonfinite\": null, \"max_abs\": null, \
                   \"max_rel\": null, \"max_ulp\": null, \"min_atol\": null, \"min_rtol\": null, \"min_ulp\": null, \"first\": []}\n";
    let rows = [
        (
            compared(typed("float32", "[[1, 2], [0, 4]]"), typed("float32", "[[1, 2.5], [\"NaN\", 4]]"), ""),
            format!(
                "{{\"equal\": false, \"reason\": \"values\", {}, \"items\": 4, \"mismatches\": 2, \
                 \"nonfinite_mismatches\": 1, \"first_nonfinite\": [1, 0], \
                 \"max_abs\": {{\"value\": 0.5, \"index\": [0, 1]}}, \
                 \"max_rel\": {{\"value\": 0.25, \"index\": [0, 1]}}, \
                 \"max_ulp\": {{\"value\": 2097152, \"index\": [0, 1]}}, \
                 \"min_atol\": null, \"min_rtol\": null, \
                 \"min_ulp\": null, \"first\": [{{\"index\": [0, 1], \"flat\": 1, \"expected\": 2.0, \"actual\": 2.5, \"abs\": 0.5, \
                 \"rel\": 0.25, \"ulp\": 2097152}}, {{\"index\": [1, 0], \"flat\": 2, \"expected\": 0.0, \"actual\": \"NaN\", \
                 \"abs\": null, \"rel\": null, \"ulp\": null}}]}}\n",
                outlines("float32", "[2, 2]")
            ),
        ),
        (
            compared(typed("int64", "5"), typed("int64", "5"), ""),
            format!(
                "{{\"equal\": true, \"reason\": null, {}, \"items\": 1, \"mismatches\": 0, \
                 \"nonfinite_mismatches\": 0, \"first_nonfinite\": null, \
                 \"max_abs\": {{\"value\": 0, \"index\": []}}, \"max_rel\": {{\"value\": 0.0, \"index\": []}}, \
                 \"max_ulp\": {{\"value\": 0, \"index\": []}}, \"min_atol\": 0, \"min_rtol\": 0.0, \"min_ulp\": 0, \
                 \"first\": []}}\n",
                outlines("int64", "[]")
            ),
        ),
        (
            compared(words("|V2", &[0x0102, 7]), words("|V2", &[0x0a02, 7]), ""),
            format!(
                "{{\"equal\": false, \"reason\": \"values\", {}, \"items\": 2, \"mismatches\": 1, \
                 \"nonfinite_mismatches\": null, \"first_nonfinite\": null, \"max_abs\": null, \
                 \"max_rel\": null, \"max_ulp\": null, \"min_atol\": null, \"min_rtol\": null, \"min_ulp\": null, \
                 \"first\": [{{\"index\": [0], \"flat\": 0, \"expected\": \"0201\", \"actual\": \"020a\", \"abs\": null, \
                 \"rel\": null, \"ulp\": null}}]}}\n",
                outlines("|V2", "[2]")
            ),
        ),
        (
            compared(typed("float32", "[1, 2]"), typed("int8", "3"), ""),
            format!(
                "{{\"equal\": false, \"reason\": \"dtype\", \"expected\": {{\"dtype\": \"float32\", \"shape\": [2]}}, \
                 \"actual\": {{\"dtype\": \"int8\", \"shape\": []}}, \"items\": 2, {nothing}"
            ),
        ),
        (
            compared(typed("int8", "[1, 2]"), typed("int8", "3"), ""),
            format!(
                "{{\"equal\": false, \"reason\": \"shape\", \"expected\": {{\"dtype\": \"int8\", \"shape\": [2]}}, \
                 \"actual\": {{\"dtype\": \"int8\", \"shape\": []}}, \"items\": 2, {nothing}"
            ),
        ),
    ];
    check(rows.map(|(found, wanted)| (found.verdict(), json_of_items(&found), wanted)));
    // `min_atol` is an integer up to 2^53.
    let far = json_of_items(&compared(typed("uint64", "[0]"), typed("uint64", "[18446744073709551615]"), ""));
    assert!(
        far.contains("\"value\": 18446744073709551615") && far.contains("\"min_atol\": 1.8446744073709552e+19"),
        "{far}"
    );
    // Any dtype name and infinite errors are valid JSON.
    let field = |name: &str| {
        let dtype = DType::parse("<i2").unwrap();
        let field =
            tensorop_kernels::item::dtype::Field { name: name.into(), title: None, dtype, shapes: vec![], offset: 0 };
        DType::structured(vec![field], 2).unwrap()
    };
    let of = |item: u8| Source::memory(Tensor::new(field("it's \"\\"), vec![1], vec![item, 0]).unwrap(), String::new());
    for found in [compared(of(1), of(2), ""), compared(typed("float64", "[1e308]"), typed("float64", "[-1e308]"), "")] {
        let text = json_of_items(&found);
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["mismatches"], 1, "{text}");
    }
}

#[test]
fn report() {
    let expected = "[[1, 2, \"NaN\"], [0, 1e-20, 6]]";
    let rows = [
        (
            compared(
                typed("float32", expected),
                typed("float32", "[[1, 2.5, 3], [1, 1e-20, 6.00001]]"),
                "--max-mismatch 3",
            ),
            "different: 4 of 6 items (66.7 %) of float32 [2, 3]\n  \
               1 of 4 mismatches has an item that is NaN or infinite, at [0, 2]\n\
             \n  \
               index            expected  actual  abs   rel         ulp\n  \
               [0, 1] (flat 1)       2.0     2.5  0.5  0.25     2097152\n  \
               [0, 2] (flat 2)       NaN     3.0\n  \
               [1, 0] (flat 3)       0.0     1.0    1        1065353216\n  \
               and 1 more\n\
             \n  \
               error        largest  at      would pass with\n  \
               absolute           1  [1, 0]  none\n  \
               relative        0.25  [0, 1]  none\n  \
               ulp       1065353216  [1, 0]  none\n",
        ),
        (
            compared(typed("float64", "[2, 4]"), typed("float64", "[2.2, 4]"), "--rtol 0.5"),
            "equal within the tolerance: 1 of 2 items of float64 [2] differ in bits\n\
             \n  \
               error             largest  at   would pass with\n  \
               absolute              0.2  [0]  --atol 0.20000000000000018\n  \
               relative              0.1  [0]  --rtol 0.10000000000000009\n  \
               ulp       450359962737050  [0]  --ulp 450359962737050\n",
        ),
        (
            compared(typed("int16", "[2, 4]"), typed("uint8", "[2, 5]"), "--ignore-dtype"),
            "different: 1 of 2 items (50 %) of int16 and uint8 [2]\n\
             \n  \
               index  expected  actual  abs   rel\n  \
               [1]           4       5    1  0.25\n\
             \n  \
               error     largest  at   would pass with\n  \
               absolute        1  [1]  --atol 1\n  \
               relative     0.25  [1]  --rtol 0.25\n",
        ),
        (
            compared(typed("<U2", "[\"a\", \"b\"]"), typed("<U2", "[\"a\", \"c\\n\"]"), ""),
            "different: 1 of 2 items (50 %) of <U2 [2]\n\
             \n  \
               index  expected  actual\n  \
               [1]         \"b\"   \"c\\n\"\n",
        ),
        (compared(typed("int8", "[1, 2]"), typed("int8", "[1, 2]"), ""), "equal: 2 items of int8 [2]\n"),
        (compared(typed("int8", "[1, 2]"), typed("int8", "[1]"), ""), "different: shape [1], expected [2]\n"),
    ];
    check(rows.map(|(found, wanted)| (found.verdict(), report_of_items(&found), wanted.to_owned())));
    // Colours change nothing else.
    let found = compared(typed("int8", "[1, 2]"), typed("int8", "[1, 3]"), "");
    let (plain, mut colour) = (report_of(&found, false), report_of(&found, true));
    assert!(colour.starts_with("\x1b[31mdifferent\x1b[0m: 1 of 2 items"), "{colour:?}");
    for code in ["\x1b[31m", "\x1b[32m", "\x1b[2m", "\x1b[0m"] {
        colour = colour.replace(code, "");
    }
    assert_eq!(colour, plain);
    let long = "x".repeat(100);
    let found = compared(typed("<U100", &format!("[\"{long}\"]")), typed("<U100", "[\"\"]"), "");
    assert!(report_of(&found, false).contains(&format!("\"{}…", &long[..39])));
}

#[test]
fn mismatches_that_are_not_finite() {
    let rows = [
        // NaN or infinity on either side or both; equal or passing items are not mismatches
        ("float32", "[1, 2, 3]", "[1, \"NaN\", 4]", "", "1 [1]"),
        ("float32", "[\"NaN\", \"Infinity\", 3]", "[1, \"-Infinity\", 3]", "--atol 1e9 --rtol 9", "2 [0]"),
        ("float16", "[\"NaN\", \"Infinity\", 3]", "[\"NaN\", \"Infinity\", 4]", "", "0 -"),
        ("float64", "[\"Infinity\"]", "[1e308]", "--atol 1e308", "1 [0]"),
        ("complex64", "[[1, 2], [3, 4]]", "[[1, 2], [3, \"NaN\"]]", "", "1 [1]"),
        // Finite items at an infinite distance
        ("float64", "[1e308, 1]", "[-1e308, 1]", "", "0 -"),
        ("<M8[D]", "[\"2026-01-03\", \"NaT\"]", "[\"NaT\", \"2026-01-03\"]", "--atol 5", "2 [0]"),
        ("int8", "[1, 2]", "[1, 3]", "", "0 -"),
        ("<U3", "[\"NaN\"]", "[\"1\"]", "", "- -"),
        ("float8_e8m0fnu", "[1, 2]", "[\"NaN\", 2]", "", "1 [0]"),
    ];
    let text = |found: &Difference| {
        let count = found.nonfinite_mismatches().map_or("-".to_owned(), |count| count.to_string());
        let first = found.first_nonfinite().map_or("-".to_owned(), |first| format!("{first:?}"));
        format!("{count} {first}")
    };
    check(rows.map(|(dtype, expected, actual, args, wanted)| {
        let found = compared(typed(dtype, expected), typed(dtype, actual), args);
        (format!("{dtype} {expected} {actual} {args}"), text(&found), wanted.to_owned())
    }));
    let nans = |bits: &[u64]| words("<f4", bits);
    let args = "--nan-differs --atol 9";
    assert_eq!(text(&compared(nans(&[0, 0x7fc0_0000]), nans(&[0, 0x7fc0_0001]), args)), "1 [1]");
    assert_eq!(text(&compared(typed("int8", "[1]"), typed("int8", "[[1]]"), "")), "- -");
    // An infinity after finite items at an infinite distance, without a relative tolerance left to find. Its distance
    // does not distinguish it from the rest of its block.
    let mut expected = vec![1.0; 5000];
    let mut actual = expected.clone();
    (expected[3], actual[3], expected[5], actual[4321], actual[4400]) = (1e308, -1e308, 0.0, f64::INFINITY, f64::NAN);
    let of = |items: &[f64]| source("<f8", &[50, 100], bytes_of(items));
    let found = compared(of(&expected), of(&actual), "--max-mismatch 1");
    assert_eq!(text(&found), "2 [43, 21]");
    let told = "different: 4 of 5000 items (0.08 %) of float64 [50, 100]\n  \
                2 of 4 mismatches have an item that is NaN or infinite, the first at [43, 21]\n";
    assert!(report_of(&found, false).starts_with(told), "{}", report_of(&found, false));
    let date = compared(typed("<M8[D]", "[\"2026-01-03\"]"), typed("<M8[D]", "[\"NaT\"]"), "");
    let told = "\n  1 of 1 mismatch has an item that is NaT, at [0]\n";
    assert!(report_of(&date, false).contains(told), "{}", report_of(&date, false));
}

#[test]
fn shares() {
    let rows = [(1, 2, "50 %"), (1, 3, "33.3 %"), (2, 3, "66.7 %"), (3, 3, "100 %"), (1, 1000, "0.1 %")];
    let more = [(1, 1 << 40, "< 0.001 %"), (9999, 10000, "> 99.9 %"), (1, 80_000, "0.001 %"), (123, 10_000, "1.23 %")];
    check(rows.into_iter().chain(more).map(|(part, all, wanted)| {
        let (expected, actual) = (typed("int8", "[1, 2]"), typed("int8", "[1, 3]"));
        let mut found = compared(expected, actual, "");
        found.items = all;
        found.found.as_mut().unwrap().mismatches = part;
        let verdict = found.verdict();
        let share = verdict.split(['(', ')']).nth(1).unwrap().to_owned();
        (format!("{part} of {all}"), share, wanted.to_owned())
    }));
}

/// Deterministic.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
}

#[test]
fn steps_between_floats() {
    // From each start, step by step, across zero and subnormals.
    let mut wrong = Vec::new();
    let begins: [f64; 10] = [-1.0, -3e-45, 0.0, -0.0, 1e-45, 0.99999994, 1.0, 1.1754942e-38, 65504.0, 3.4028233e38];
    for begin in begins {
        let (mut narrow, mut wide) = (begin as f32, begin);
        for steps in 0..8 {
            let (e32, e64) = (u64::from((begin as f32).to_bits()), begin.to_bits());
            let found = compared(words("float32", &[e32]), words("float32", &[narrow.to_bits().into()]), "");
            if narrow.is_finite() && found.max_ulp().is_none_or(|most| most.value != steps) {
                wrong.push(format!("float32 {begin:e} {narrow:e}: {:?}, expected {steps}", found.max_ulp()));
            }
            let found = compared(words("float64", &[e64]), words("float64", &[wide.to_bits()]), "");
            if found.max_ulp().is_none_or(|most| most.value != steps) {
                wrong.push(format!("float64 {begin:e} {wide:e}: {:?}, expected {steps}", found.max_ulp()));
            }
            (narrow, wide) = (narrow.next_up(), wide.next_up());
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn steps_between_all_small_floats() {
    use Narrow::*;
    let types = [
        Float8E3M4,
        Float8E4M3,
        Float8E4M3B11FNUZ,
        Float8E4M3FN,
        Float8E4M3FNUZ,
        Float8E5M2,
        Float8E5M2FNUZ,
        Float8E8M0FNU,
        Float6E2M3FN,
        Float6E3M2FN,
        Float4E2M1FN,
    ];
    // the weekly run takes all items of each
    let step = if std::env::var_os("TENSOROP_TEST_ROUNDS").is_some() { 1 } else { 3 };
    let mut wrong = Vec::new();
    for (from, narrow) in types.into_iter().enumerate() {
        let name = DType::from(Kind::Narrow(narrow)).name();
        let mut values: Vec<f64> = (0..=255).map(|item| narrow.value(item)).filter(|v| v.is_finite()).collect();
        values.sort_by(f64::total_cmp);
        values.dedup_by(|a, b| a == b);
        for expected in (0..=255_u8).skip(from % step).step_by(step) {
            let found: Vec<Mismatch> = {
                let (one, all) = (vec![expected.into(); 256], (0..256).collect::<Vec<u64>>());
                compared(words(&name, &one), words(&name, &all), "--max-mismatch 256 --nan-differs").first().to_vec()
            };
            for mismatch in found {
                let (e, a) = (narrow.value(expected), narrow.value(mismatch.index[0] as u8));
                let rank = |value: f64| values.iter().position(|v| *v == value);
                let wanted = rank(e).zip(rank(a)).map(|(e, a)| e.abs_diff(a) as u64);
                let abs = wanted.map(|_| Number::Float((a - e).abs()));
                if mismatch.ulp != wanted || mismatch.abs != abs {
                    wrong.push(format!("{name} {e} {a}: {mismatch:?}, expected {wanted:?} steps"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong: {}", wrong.len(), wrong[..wrong.len().min(10)].join("\n"));
}

fn reading_of(kind: Kind) -> NumberReading {
    let dtype = DType::from(kind);
    match Comparability::new(&dtype, &dtype) {
        Some(Comparability::Numbers(reading)) => reading,
        _ => panic!("{} is not a number", dtype.name()),
    }
}

#[test]
fn every_float_of_16_bits() {
    let wide = |kind: Kind| {
        let reading = reading_of(kind);
        let all: Vec<u8> = (0..=u16::MAX).flat_map(u16::to_le_bytes).collect();
        let mut widened = Default::default();
        let items = reading.read(Rows { expected: &all, actual: &all }, &mut widened).expected;
        let items: Vec<f64> = items.as_chunks().0.iter().map(|item| f64::from_le_bytes(*item)).collect();
        // Conversion keeps all items different, NaN included.
        let different: HashSet<u64> = items.iter().map(|item| item.to_bits()).collect();
        assert_eq!(different.len(), items.len());
        items
    };
    let (halves, brains) = (wide(Kind::Float16), wide(Kind::BFloat16));
    let wrong = (0..=u16::MAX).filter(|&bits| {
        let same = |a: f64, b: f64| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan();
        let (half, brain) = (f16::from_bits(bits).to_f64(), half::bf16::from_bits(bits).to_f64());
        !same(halves[usize::from(bits)], half) || !same(brains[usize::from(bits)], brain)
    });
    assert_eq!(wrong.collect::<Vec<u16>>(), Vec::<u16>::new());
}

#[test]
fn cosine_of_what_is_nearly_orthogonal() {
    let rows: [(&[f64], &[f64], f64); 5] = [
        (&[1.0, 1e-20], &[1e-20, 1.0], 2e-20),
        (&[1.0, 1e-8], &[1e-8, 1.0], 2e-8),
        (&[1.0, 3.0, 1e-9], &[3.0, -1.0, 1e-9], 1e-19),
        (&[1e200, 1e190], &[1e190, -2e200], -5e-11),
        (&[f64::NAN, 1.0, 1e-12], &[1.0, 1e-12, 1.0], 2e-12),
    ];
    check(rows.map(|(expected, actual, wanted)| {
        let side = |items: &[f64]| source("<f8", &[items.len()], bytes_of(items));
        let cosine = compared(side(expected), side(actual), "").metrics().and_then(|metrics| metrics.cosine);
        let found = cosine.map_or("none".to_owned(), |cosine| format!("{cosine:.9e}"));
        (format!("{expected:?} {actual:?}"), found, format!("{wanted:.9e}"))
    }));
}

#[test]
fn smallest_relative_tolerance() {
    let mut random = Random(1);
    let mut wrong = Vec::new();
    for round in 0..20_000 {
        let mut any = || match round % 4 {
            0 => f64::from_bits(random.next() >> 1),
            1 => f64::from_bits(random.next() >> 50),
            2 => f64::from_bits(random.next() >> 1 | 0x7fe0 << 48 & !(1 << 63)),
            _ => (random.next() >> 40) as f64 / 7.0,
        };
        let (distance, size) = (any(), any());
        if distance.is_nan() || !size.is_finite() {
            continue;
        }
        let passes = |q: f64| distance <= q * size;
        let right = match least_rtol(distance, size) {
            None => !passes(f64::MAX),
            Some(q) => passes(q) && q.is_finite() && (q == 0.0 || !passes(q.next_down())),
        };
        if !right {
            wrong.push((distance, size, least_rtol(distance, size)));
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}

fn random_pair(random: &mut Random, items: usize, changed: usize) -> (Vec<f64>, Vec<f64>) {
    let special = [0.0, -0.0, f64::NAN, -f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 5e-324, 1e-310, f64::MAX, 1.0];
    let mut pairs: Vec<(f64, f64)> = Vec::new();
    for _ in 0..items {
        let mut any = || match random.below(20) {
            0 => special[random.below(special.len())],
            1 => f64::from_bits(random.next()),
            _ => random.below(50) as f64 / 8.0 - 3.0,
        };
        let (e, other) = (any(), any());
        let a = match random.below(100) {
            n if n >= changed => e,
            n if n % 3 == 0 => other,
            _ => f64::from_bits(e.to_bits().wrapping_add(random.next() % 4)),
        };
        pairs.push((e, a));
    }
    pairs.into_iter().unzip()
}

fn bytes_of(items: &[f64]) -> Vec<u8> {
    items.iter().flat_map(|item| item.to_le_bytes()).collect()
}

/// A tally by definition.
fn reference(rule: &PairRule, expected: &[f64], actual: &[f64]) -> DifferenceTally {
    // Steps from 0 to the smallest number of either sign are 1.
    let ordinal = |item: f64| {
        let size = item.abs().to_bits() as i64;
        if item.is_sign_negative() { -size } else { size }
    };
    let mut tally = DifferenceTally::default();
    for (item, (&e, &a)) in expected.iter().zip(actual).enumerate() {
        let (d, finite) = ((a - e).abs(), e.is_finite() && a.is_finite());
        let steps = ordinal(e).abs_diff(ordinal(a));
        let rel = if d == 0.0 { Some(0.0) } else { Some(d / e.abs()).filter(|_| e != 0.0) };
        if finite {
            if tally.max_abs.is_none_or(|most| d > most.value.near()) {
                tally.max_abs = Some(Numbered { value: Number::Float(d), item });
            }
            if tally.max_ulp.is_none_or(|most| steps > most.value) {
                tally.max_ulp = Some(Numbered { value: steps, item });
            }
            if let Some(rel) = rel.filter(|&rel| tally.max_rel.is_none_or(|most| rel > most.value)) {
                tally.max_rel = Some(Numbered { value: rel, item });
            }
        }
        if e.to_bits() == a.to_bits() || e.is_nan() && a.is_nan() && !rule.nan_differs {
            continue;
        }
        tally.differing += 1;
        tally.has_non_finite_mismatch |= !finite;
        if finite {
            tally.rtol = tally.rtol.max(least_rtol(d, e.abs()).unwrap_or(f64::INFINITY));
        }
        let near = finite && d <= rule.atol + rule.rtol * e.abs();
        if near || finite && rule.ulp.is_some_and(|ulp| steps <= ulp) {
            continue;
        }
        tally.mismatches += 1;
        if !finite {
            tally.nonfinite_mismatches += 1;
            tally.first_nonfinite.get_or_insert(item);
        }
        if tally.listed.len() < rule.listed {
            let errors = finite.then_some(MismatchErrors { abs: Number::Float(d), rel, ulp: steps });
            let (expected, actual) = (e.to_le_bytes().to_vec(), a.to_le_bytes().to_vec());
            tally.listed.put(FoundMismatch { item, expected, actual, errors }, rule).unwrap();
        }
    }
    tally
}

#[test]
fn as_defined_in_any_windows() {
    let mut random = Random(2);
    let reading = reading_of(Kind::Float64);
    for round in 0..300 {
        let items = random.below(3000);
        let (expected, actual) = random_pair(&mut random, items, [0, 1, 30, 100][round % 4]);
        let rule = PairRule {
            atol: [-1.0, 0.0, 0.1, 2.0][random.below(4)],
            rtol: 0.0,
            ulp: [None, Some(0), Some(2)][random.below(3)],
            nan_differs: random.below(4) == 0,
            listed: [0, 1, 5, 10_000][random.below(4)],
            lists_worst: false,
        };
        let rule = if rule.atol >= 0.0 { PairRule { rtol: [0.0, 0.1][random.below(2)], ..rule } } else { rule };
        let wanted = reference(&rule, &expected, &actual);
        let (e, a) = (bytes_of(&expected), bytes_of(&actual));
        let mut tallies: Vec<DifferenceTally> = (0..=random.below(4)).map(|_| DifferenceTally::default()).collect();
        let mut windows = Vec::new();
        let mut next = 0;
        while next < items {
            let end = (next + 1 + random.below([10, 1000, 4000][round % 3])).min(items);
            windows.push(next..end);
            next = end;
        }
        // In order, like most scans, or in any order, like scans in boxes.
        if round % 2 == 1 {
            (1..windows.len()).for_each(|last| windows.swap(last, random.below(last + 1)));
        }
        for Range { start, end } in windows {
            let window = StoredItems::new(start, [8, 8], [&e[8 * start..8 * end], &a[8 * start..8 * end]]);
            let axes = AxisMarks::new(&[items]);
            let mut marks = WindowMarks { axes: &axes, runs: FirstAxisRuns::default() };
            let thread = random.below(tallies.len());
            let how = NumberRule { rule: &rule, reading: &reading };
            for stored in window.blocks() {
                let pairs = NumberPairs { stored, rows: stored.rows };
                tallies[thread].look_at(how, &Walk::default(), pairs, &mut marks, &mut Vec::new());
            }
        }
        let mut found = DifferenceTally::default();
        while !tallies.is_empty() {
            found.merge(tallies.swap_remove(random.below(tallies.len())), &rule);
        }
        assert_eq!(found, wanted, "round {round}: {rule:?}");
    }
}

#[test]
fn maps_count_the_pairs_of_each_cell_in_either_order() {
    let mut random = Random(7);
    for round in 0..60 {
        let shape: Vec<usize> = (0..=random.below(4)).map(|_| 1 + random.below([4, 30][round % 2])).collect();
        let items: usize = shape.iter().product();
        let (expected, actual) = random_pair(&mut random, items, [1, 40, 100][round % 3]);
        let most = [1 + random.below(9), 1 + random.below(9)];
        let source = |floats: &[f64], order: Order| {
            let across: Vec<usize> = shape.iter().rev().copied().collect();
            let number = |place| {
                let at = coordinates(place, &across);
                at.iter().rev().zip(&shape).fold(0, |number, (at, dim)| number * dim + at)
            };
            let stored: Vec<f64> = match order {
                Order::C => floats.to_vec(),
                Order::Fortran => (0..items).map(|place| floats[number(place)]).collect(),
            };
            let meta = Meta::c_order(DType::parse("<f8").unwrap(), shape.clone()).in_order(order);
            Source::stored(meta, Arc::new(MemoryBytes::new(bytes_of(&stored))), 0, String::new()).unwrap()
        };
        let options = [
            Options::default(),
            Options { atol: Some(0.5), rtol: Some(0.1), ..Options::default() },
            Options { ulp: Some(2), nan_differs: true, ..Options::default() },
        ][round / 2 % 3]
            .clone();
        let fails = |e: &f64, a: &f64| reference(&PairRule::new(&options), &[*e], &[*a]).mismatches == 1;
        let dims = [2, 1].map(|back: usize| shape.len().checked_sub(back).map_or(1, |axis| shape[axis]));
        let cells = [dims[0].min(most[0]), dims[1].min(most[1])];
        let mut wanted = vec![0; cells[0] * cells[1]];
        for (item, (e, a)) in expected.iter().zip(&actual).enumerate() {
            if fails(e, a) {
                let (row, column) = (item / dims[1] % dims[0], item % dims[1]);
                wanted[row * cells[0] / dims[0] * cells[1] + column * cells[1] / dims[1]] += 1;
            }
        }
        for orders in [[Order::C; 2], [Order::Fortran; 2], [Order::C, Order::Fortran]] {
            let limits = crate::operators::fill::Limits {
                machine: Machine::with_windows_of(8 + 800 * random.below(9)),
                ..Default::default()
            };
            let (mut one, mut other) = (source(&expected, orders[0]), source(&actual, orders[1]));
            let found = maps::density([&mut one, &mut other], &options, most, limits, &|_| ());
            assert_eq!(found.unwrap().unwrap().mismatches, wanted, "round {round}: {shape:?} {orders:?} {most:?}");
        }
    }
}

fn walked(walk: &Walk, items: &[f64]) -> Vec<u8> {
    bytes_of(&(0..items.len()).map(|place| items[walk.number(place)]).collect::<Vec<_>>())
}

#[test]
fn the_order_of_a_walk_makes_no_difference_to_a_tally() {
    let mut random = Random(5);
    let reading = reading_of(Kind::Float64);
    for round in 0..300 {
        let shape: Vec<usize> = (0..=random.below(4)).map(|_| 1 + random.below([3, 20][round % 2])).collect();
        let items = shape.iter().product();
        let (expected, actual) = random_pair(&mut random, items, [0, 1, 30, 100][round % 4]);
        let rule = PairRule {
            atol: [-1.0, 0.1][random.below(2)],
            rtol: 0.0,
            ulp: [None, Some(0), Some(2)][random.below(3)],
            nan_differs: random.below(4) == 0,
            listed: [0, 1, 5, 10_000][random.below(4)],
            lists_worst: random.below(2) == 0,
        };
        let tally_of = |walk: &Walk, threads: usize, most: usize, random: &mut Random| {
            let (e, a) = (walked(walk, &expected), walked(walk, &actual));
            let mut tallies: Vec<DifferenceTally> = (0..threads).map(|_| DifferenceTally::default()).collect();
            let (axes, mut runs, mut start) = (AxisMarks::new(&walk.shape(&shape)), Vec::new(), 0);
            while start < items {
                let end = (start + 1 + random.below(most)).min(items);
                let window = StoredItems::new(start, [8, 8], [&e[8 * start..8 * end], &a[8 * start..8 * end]]);
                let mut marks = WindowMarks { axes: &axes, runs: FirstAxisRuns::default() };
                let how = NumberRule { rule: &rule, reading: &reading };
                let tally = &mut tallies[random.below(threads)];
                for stored in window.blocks() {
                    let pairs = NumberPairs { stored, rows: stored.rows };
                    tally.look_at(how, walk, pairs, &mut marks, &mut Vec::new());
                }
                runs.push((start, marks.runs));
                start = end;
            }
            let mut found = DifferenceTally::default();
            tallies.into_iter().for_each(|tally| found.merge(tally, &rule));
            (found, axes.found(runs, !walk.is_c_order()))
        };
        let wanted = tally_of(&Walk::default(), 1, 10_000, &mut random);
        let found = tally_of(&Walk::across(&shape), 1 + round % 3, [3, 100, 10_000][random.below(3)], &mut random);
        assert_eq!(found, wanted, "round {round}: {shape:?} {rule:?}");
    }
}

#[test]
fn large_tensors_in_fortran_order_are_compared_as_in_c_order() {
    let shape = [1031, 1033];
    let (expected, actual) = random_pair(&mut Random(6), shape[0] * shape[1], 2);
    let across = |items: &[f64]| {
        let meta = Meta::c_order(DType::parse("<f8").unwrap(), shape.to_vec()).in_order(Order::Fortran);
        let bytes = Arc::new(MemoryBytes::new(walked(&Walk::across(&shape), items)));
        Source::stored(meta, bytes, 0, String::new()).unwrap()
    };
    let along = |items: &[f64]| source("<f8", &shape, bytes_of(items));
    assert!(!Walk::of([&across(&expected), &across(&actual)]).is_c_order());
    assert!(Walk::of([&across(&expected), &along(&actual)]).is_c_order());
    let wanted = compared(along(&expected), along(&actual), "--threads 1 --atol 0.25 --max-mismatch 9");
    let found = compared(across(&expected), across(&actual), "--threads 3 --atol 0.25 --max-mismatch 9");
    assert_eq!((json_of_items(&found), found.quantiles()), (json_of_items(&wanted), wanted.quantiles()));
    // Blocks contain other items, so rounding differs.
    let ratio = found.metrics().unwrap().rmse.unwrap() / wanted.metrics().unwrap().rmse.unwrap();
    assert!((ratio - 1.0).abs() < 1e-12, "{ratio}");
    {
        let density = |mut one: Source, mut other: Source| {
            let limits = crate::operators::fill::Limits::default();
            maps::density([&mut one, &mut other], &Options::default(), [40, 50], limits, &|_| ()).unwrap()
        };
        assert_eq!(density(across(&expected), across(&actual)), density(along(&expected), along(&actual)));
    }
}

#[test]
fn threads_and_order_make_no_difference() {
    let mut random = Random(3);
    let (rows, columns) = (200, 350);
    let (mut expected, actual) = random_pair(&mut random, rows * columns, 2);
    for args in ["", "--rtol 1e-3", "--ulp 3 --nan-differs"] {
        let shape = [rows, columns];
        let run = |threads: usize, e: &[f64], a: &[f64]| {
            let (e, a) = (source("<f8", &shape, bytes_of(e)), source("<f8", &shape, bytes_of(a)));
            compared(e, a, &format!("{args} --threads {threads}"))
        };
        let one = run(1, &expected, &actual);
        assert!(one.mismatches() > Some(5) && one.first().len() == 5);
        for threads in [2, 3, 8] {
            assert_eq!(run(threads, &expected, &actual), one, "{args} {threads}");
        }
        // Equal tensors: the first finite element has the largest error, 0.
        expected[..4000].fill(f64::NAN);
        let same = run(8, &expected, &expected);
        assert_eq!((&same, same.equal()), (&run(1, &expected, &expected), true));
        let first = expected.iter().position(|item| item.is_finite()).unwrap();
        assert_eq!(same.max_rel().map(|most| most.index.clone()), Some(coordinates(first, &shape)));
        expected[..4000].copy_from_slice(&actual[..4000]);
    }
    let mut across = vec![0.0; rows * columns];
    for (item, value) in actual.iter().enumerate() {
        across[item % columns * rows + item / columns] = *value;
    }
    let wanted = compared(
        source("<f8", &[rows, columns], bytes_of(&expected)),
        source("<f8", &[rows, columns], bytes_of(&actual)),
        "",
    );
    let stored = Arc::new(MemoryBytes::new(bytes_of(&across)));
    let meta = || Meta::c_order(DType::parse("<f8").unwrap(), vec![rows, columns]);
    let file = Source::stored(meta().in_order(Order::Fortran), stored, 0, String::new()).unwrap();
    let bytes = bytes_of(&expected);
    let len = bytes.len() as u64;
    let reader = Box::new(std::io::Cursor::new(bytes));
    let stream = Source::stream(meta(), reader, len, String::new());
    assert_eq!(compared(stream, file, ""), wanted);
}

#[test]
fn what_is_stored_across_is_read_in_boxes() {
    let mut random = Random(4);
    for (round, shape) in [&[5, 4099][..], &[3, 2, 2100], &[2, 4096]].into_iter().cycle().take(6).enumerate() {
        let items = shape.iter().product();
        let mut across: Vec<usize> = (0..items).collect();
        for (number, place) in across.iter_mut().enumerate() {
            let places = coordinates(number, shape).into_iter().zip(shape);
            *place = places.fold((0, 1), |(place, stride), (at, dim)| (place + at * stride, stride * dim)).0;
        }
        // Many errors are the largest, so every window must be searched for the first.
        let (mut expected, mut actual) = random_pair(&mut random, items, [0, 1, 40, 100][round % 4]);
        if round % 3 > 0 {
            expected.iter_mut().chain(&mut actual).for_each(|item| *item = (*item % 3.0).round());
        }
        let stored = |items: &[f64], is_across: bool| {
            let mut stored = items.to_vec();
            across.iter().zip(items).filter(|_| is_across).for_each(|(&place, item)| stored[place] = *item);
            let order = if is_across { Order::Fortran } else { Order::C };
            let meta = Meta::c_order(DType::parse("<f8").unwrap(), shape.to_vec()).in_order(order);
            Source::stored(meta, Arc::new(MemoryBytes::new(bytes_of(&stored))), 0, String::new()).unwrap()
        };
        let args = ["", "--worst 7", "--ulp 1 --max-mismatch 9", "--rtol 0.2 --nan-differs"];
        for args in args.into_iter().skip(round % 2).step_by(2) {
            let run = |orders: [bool; 2], more: &str| {
                let [expected, actual] = [stored(&expected, orders[0]), stored(&actual, orders[1])];
                compared(expected, actual, &format!("{args} --quantiles {more}"))
            };
            let wanted = run([false, false], "--threads 1");
            for orders in [[true, true], [true, false], [false, true]] {
                for more in ["--threads 1", "--threads 1 --window 40000", "--threads 3 --window 70000"] {
                    assert_eq!(run(orders, more), wanted, "{round}: {shape:?} {orders:?} {args} {more}");
                }
            }
        }
    }
}

#[test]
fn a_short_stream_is_an_error() {
    let reader = Box::new(std::io::Cursor::new(vec![0; 7]));
    let mut stream = Source::stream(Meta::c_order(DType::parse("<f4").unwrap(), vec![2]), reader, 8, "ACTUAL".into());
    let error =
        compare_sources(&mut typed("<f4", "[0, 0]"), &mut stream, &Options::default(), Effort::default(), &|_| ());
    let error = error.unwrap_err();
    assert_eq!(error.to_string(), "ACTUAL: 7 bytes of data, expected 8 (float32 [2])");
}
