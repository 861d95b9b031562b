use std::io;

use half::{bf16, f16};

use std::num::NonZero;

use super::*;
use crate::untyped::{Unparsed, infer, parse_item};
use tensorop_kernels::Tensor;
use tensorop_kernels::error::{Advice, Subject};
use tensorop_kernels::item::dtype::{DType, Kind};
use tensorop_kernels::item::encoding::Swap;
use tensorop_kernels::parallel::{Threads, threads_started_by};

/// dtype, shape and JSON of the items, or the error message.
fn outcome(text: &str, dtype: Option<&str>) -> String {
    let read = || {
        let json = open(text.as_bytes(), Subject::Data, Threads::default())?;
        match dtype.map(DType::parse).transpose()?.as_ref().or(json.dtype()) {
            Some(dtype) => json.read(dtype),
            None => json.infer(),
        }
    };
    match read() {
        Ok(tensor) => said(&tensor),
        Err(e) => e.message().to_owned(),
    }
}

fn said(tensor: &Tensor) -> String {
    let written = written(tensor);
    let json = open(written.as_bytes(), Subject::Output, Threads::default()).unwrap();
    let Unparsed::Lists(lists) = json.items else { panic!("no lists") };
    format!("{} {:?} {}", json.dtype.unwrap().name(), json.shape.unwrap(), lists.text)
}

fn written(tensor: &Tensor) -> String {
    let mut out = Vec::new();
    write(&mut out, tensor).unwrap();
    String::from_utf8(out).unwrap()
}

fn check_rows(rows: &[(&str, Option<&str>, &str)]) {
    let mut wrong = String::new();
    for (text, dtype, want) in rows {
        let got = outcome(text, *dtype);
        if got != *want {
            wrong += &format!("\n{text} as {dtype:?}:\n  {got}\n  {want}");
        }
    }
    assert!(wrong.is_empty(), "got and wanted:{wrong}");
}

#[test]
fn typed_by_content() {
    check_rows(&[
        ("5", None, "int64 [] 5"),
        (" [ 1 ,\n2 ] ", None, "int64 [2] [1, 2]"),
        ("[[1, 2], [3, 4.5]]", None, "float64 [2, 2] [[1.0, 2.0], [3.0, 4.5]]"),
        ("[2.0]", None, "float64 [1] [2.0]"),
        ("[1e3]", None, "float64 [1] [1000.0]"),
        ("[-0]", None, "int64 [1] [0]"),
        ("[-0, 1.5]", None, "float64 [2] [-0.0, 1.5]"),
        ("[1.5, -0]", None, "float64 [2] [1.5, -0.0]"),
        ("[true, false]", None, "bool [2] [true, false]"),
        (r#"["a", "bcd"]"#, None, r#"<U3 [2] ["a", "bcd"]"#),
        (r#"[""]"#, None, r#"<U1 [1] [""]"#),
        ("[]", None, "float64 [0] []"),
        ("[[], []]", None, "float64 [2, 0] [[], []]"),
        ("[[[]], [[]]]", None, "float64 [2, 1, 0] [[[]], [[]]]"),
        ("[9223372036854775808, 1]", None, "uint64 [2] [9223372036854775808, 1]"),
        ("[-9223372036854775808]", None, "int64 [1] [-9223372036854775808]"),
        ("[1, 9223372036854775808, -1]", None, "[2]: -1 is negative, and others are beyond int64"),
        ("[[-1], [9223372036854775808]]", None, "[1][0]: 9223372036854775808 is beyond int64, and others are negative"),
        ("[-1, 9223372036854775808, 0.5]", None, "float64 [3] [-1.0, 9.223372036854776e+18, 0.5]"),
        ("[18446744073709551615, -1, 0.5]", None, "float64 [3] [1.8446744073709552e+19, -1.0, 0.5]"),
        ("[1, 18446744073709551616]", None, "[1]: 18446744073709551616 is beyond int64 and uint64"),
        ("[-1, 18446744073709551616, 5, 0.5]", None, "float64 [4] [-1.0, 1.8446744073709552e+19, 5.0, 0.5]"),
        ("-18446744073709551616", None, "-18446744073709551616 is beyond int64 and uint64"),
        ("[1e999]", None, "[0]: 1e999 is too large for float64"),
        (r#"["NaN", 1]"#, None, r#"float64 [2] ["NaN", 1.0]"#),
        (r#"[1, "-Infinity"]"#, None, r#"float64 [2] [1.0, "-Infinity"]"#),
        (r#"[0.5, "Infinity"]"#, None, r#"float64 [2] [0.5, "Infinity"]"#),
        (r#"["NaN", "Infinity"]"#, None, r#"<U8 [2] ["NaN", "Infinity"]"#),
        (r#"["NaN", "x", 1]"#, None, "[2]: 1 is a number, among strings"),
        (r#"[1, "x"]"#, None, r#"[1]: "x" is a string, among integers"#),
        (r#"[1.5, "x"]"#, None, r#"[1]: "x" is a string, among floats"#),
        ("[true, 1]", None, "[1]: 1 is a number, among bools"),
        ("[true, 1.5]", None, "[1]: 1.5 is a number, among bools"),
        ("[1, true]", None, "[1]: true is a bool, among integers"),
        (r#"[true, "NaN"]"#, None, r#"[1]: "NaN" is a string, among bools"#),
        (r#"["NaN", true]"#, None, "[1]: true is a bool, among strings"),
        ("[null]", None, "[0]: null is not an item"),
        ("[{}]", None, "[0]: an object where an item was expected"),
    ]);
}

#[test]
fn typed_together() {
    let rows = [
        ("[1]", "[1.5]", "float64 [1] [1.0] float64 [1] [1.5]"),
        ("[1]", "[9223372036854775808]", "uint64 [1] [1] uint64 [1] [9223372036854775808]"),
        ("[-1]", "[9223372036854775808]", "updates: [0]: 9223372036854775808 is beyond int64, and others are negative"),
        ("[0.5]", "[18446744073709551616]", "float64 [1] [0.5] float64 [1] [1.8446744073709552e+19]"),
        ("[-0]", "[0.5]", "float64 [1] [-0.0] float64 [1] [0.5]"),
        ("[1]", "[\"NaN\"]", "float64 [1] [1.0] float64 [1] [\"NaN\"]"),
        ("[\"NaN\"]", "[1]", "float64 [1] [\"NaN\"] float64 [1] [1.0]"),
        ("[\"NaN\"]", "[\"x\"]", "<U3 [1] [\"NaN\"] <U3 [1] [\"x\"]"),
        ("[]", "[1]", "int64 [0] [] int64 [1] [1]"),
        ("[true]", "[]", "bool [1] [true] bool [0] []"),
        ("[]", "[]", "float64 [0] [] float64 [0] []"),
        ("[\"a\"]", "[\"bc\"]", "<U2 [1] [\"a\"] <U2 [1] [\"bc\"]"),
        ("[1]", "[\"a\"]", "updates: strings, but data holds integers"),
        ("[1]", "[true]", "updates: bools, but data holds integers"),
        ("[\"a\"]", "[1.5]", "updates: floats, but data holds strings"),
    ];
    let mut wrong = Vec::new();
    for (a, b, want) in rows {
        let (x, y) = (
            open(a.as_bytes(), Subject::Data, Threads::default()).unwrap(),
            open(b.as_bytes(), Subject::Updates, Threads::default()).unwrap(),
        );
        let got = match infer(&[&x, &y]) {
            Ok(tensors) => format!("{} {}", said(&tensors[0]), said(&tensors[1])),
            Err(e) => e.to_string(),
        };
        if got != want {
            wrong.push((a, b, got));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn indices() {
    let rows = [
        ("[]", "int64 [0] []"),
        ("5", "int64 [] 5"),
        ("[[2.0, 1e3], [-1, -0.0]]", "int64 [2, 2] [[2, 1000], [-1, 0]]"),
        ("[9223372036854775808]", "uint64 [1] [9223372036854775808]"),
        ("[1.5]", "[0]: 1.5 is not an integer"),
        ("[[true]]", "[0][0]: true is a bool, expected an integer"),
        ("[\"1\"]", "[0]: \"1\" is a string, expected an integer"),
        ("[1e30]", "[0]: 1e30 is beyond int64 and uint64"),
        ("[-1, 9223372036854775808]", "[1]: 9223372036854775808 is beyond int64, and others are negative"),
        ("[9223372036854775808, -1]", "[1]: -1 is negative, and others are beyond int64"),
        ("[null]", "[0]: null is not an item, expected an integer"),
    ];
    for (text, want) in rows {
        let got = match open(text.as_bytes(), Subject::Indices, Threads::default()).unwrap().infer_indices() {
            Ok(tensor) => said(&tensor),
            Err(e) => e.message().to_owned(),
        };
        assert_eq!(got, want, "{text}");
    }
}

#[test]
fn read_as_a_dtype() {
    check_rows(&[
        ("[2.0, 1e2]", Some("uint8"), "uint8 [2] [2, 100]"),
        ("[[1], [300]]", Some("uint8"), "[1][0]: 300 is out of range for uint8"),
        ("1.5", Some("int32"), "1.5 is not an integer (int32)"),
        ("[1e999999999]", Some("int32"), "[0]: 1e999999999 is out of range for int32"),
        ("[true]", Some("int32"), "[0]: true is a bool, expected a number (int32)"),
        ("[1]", Some("bool"), "[0]: 1 is a number, expected true or false"),
        ("[\"true\"]", Some("bool"), "[0]: \"true\" is a string, expected true or false"),
        ("[null]", Some("float32"), "[0]: null is not an item"),
        (
            "[\"NaN\", \"Infinity\", \"-Infinity\"]",
            Some("float32"),
            "float32 [3] [\"NaN\", \"Infinity\", \"-Infinity\"]",
        ),
        ("[\"NaN\"]", Some("int8"), "[0]: \"NaN\" is a string, expected a number (int8)"),
        ("[\"nan\"]", Some("float32"), "[0]: \"nan\" is a string, expected a number (float32)"),
        ("[1e39]", Some("float32"), "[0]: 1e39 is too large for float32"),
        ("[16777217, 0.1]", Some("float32"), "float32 [2] [16777216.0, 0.1]"),
        ("[1, 65504, 1e-7, 0.1]", Some("float16"), "float16 [4] [1.0, 65504.0, 1.1920929e-7, 0.099975586]"),
        ("[3e38, -0.0]", Some("bfloat16"), "bfloat16 [2] [3.0040553e+38, -0.0]"),
        ("[258]", Some(">i2"), "int16 [1] [258]"),
        ("[[1, 2.5], [\"NaN\", -0.0]]", Some("complex64"), "complex64 [2] [[1.0, 2.5], [\"NaN\", -0.0]]"),
        ("[1, 2]", Some(">c16"), "complex128 [] [1.0, 2.0]"),
        ("[]", Some("complex128"), "complex128 [0] []"),
        ("[[1, 2, 3]]", Some("complex128"), "the innermost lists have 3 items, a complex128 item is [re, im]"),
        ("1", Some("complex128"), "one number, a complex128 item is [re, im]"),
        ("[\"a\", \"\"]", Some("S"), "|S1 [2] [\"a\", \"\"]"),
        ("[\"\\u00e9\", \"ÿ\"]", Some("S2"), "|S2 [2] [\"é\", \"ÿ\"]"),
        ("[\"Ā\"]", Some("S2"), "[0]: \"Ā\" holds U+0100, and items of |S2 go up to U+00FF"),
        ("[[\"a\"], [\"abc\"]]", Some("S2"), "[1][0]: \"abc\" is longer than |S2"),
        ("[[\"a\"], [\"abc\"]]", Some(">U2"), "[1][0]: \"abc\" is longer than >U2"),
        (
            "[\"\\ud800x\", \"\\ud83d\\ude00\", \"\\u0007\\\"\\\\\\/\"]",
            Some("str"),
            "<U4 [3] [\"\\ud800x\", \"😀\", \"\\u0007\\\"\\\\/\"]",
        ),
        ("[1]", Some("U2"), "[0]: 1 is a number, expected a string (<U2)"),
        ("[\"1970-01-02\", 5, \"NaT\"]", Some("M8[D]"), "<M8[D] [3] [\"1970-01-02\", \"1970-01-06\", \"NaT\"]"),
        (
            "[\"1970-01-02T01\"]",
            Some("M8[D]"),
            "[0]: \"1970-01-02T01\" is not an ISO 8601 date that <M8[D] holds exactly",
        ),
        ("[8030, -1971]", Some("M8[Y]"), "<M8[Y] [2] [8030, -1971]"),
        ("[7, \"NaT\"]", Some("M8"), "<M8 [2] [7, \"NaT\"]"),
        ("[7, \"NaT\"]", Some(">m8[s]"), "<m8[s] [2] [7, \"NaT\"]"),
        ("[\"7\"]", Some("m8[s]"), "[0]: \"7\" is neither an integer nor \"NaT\""),
        ("[0.5]", Some("M8[s]"), "[0]: 0.5 is not an integer (<M8[s])"),
        ("[1]", Some("V2"), "JSON cannot hold items of dtype |V2"),
        ("[1]", Some("float128"), "JSON cannot hold items of dtype float128"),
    ]);
}

#[test]
fn nesting() {
    let deep = |n: usize, inner: &str| format!("{}{inner}{}", "[".repeat(n), "]".repeat(n));
    let ones = vec![1; 64];
    check_rows(&[
        ("[[1, 2], [3]]", None, "[1] has length 1, [0] has length 2"),
        ("[[[1]], [[1, 2]]]", None, "[1][0] has length 2, [0][0] has length 1"),
        ("[[1], []]", None, "[1] has length 0, [0] has length 1"),
        ("[[], [1]]", None, "[1] has length 1, [0] has length 0"),
        ("[[], [[]]]", None, "[1] has length 1, [0] has length 0"),
        ("[1, [2]]", None, "[1] is a list, [0] is not"),
        ("[[2], 1]", None, "[1] is not a list, [0] is one"),
        ("[[], 1]", None, "[1] is not a list, [0] is one"),
        ("[[[1]], [2]]", None, "[1][0] is not a list, [0][0] is one"),
        (&deep(64, "7"), None, &format!("int64 {ones:?} {}", deep(64, "7"))),
        (&deep(65, "7"), None, "lists more than 64 deep"),
        (&deep(65, "1, 2"), Some("complex64"), &format!("complex64 {ones:?} {}", deep(65, "1.0, 2.0"))),
        (&deep(66, "1, 2"), Some("complex64"), "lists more than 65 deep"),
        (&deep(65, ""), Some("complex64"), "more than 64 axes"),
    ]);
}

#[test]
fn objects() {
    check_rows(&[
        (r#"{"shape": [2, 1], "data": [[1], [2]], "dtype": "int8"}"#, None, "int8 [2, 1] [[1], [2]]"),
        (r#"{"dtype": "int8", "shape": [2, 2], "data": [1, 2, 3, 4]}"#, None, "int8 [2, 2] [[1, 2], [3, 4]]"),
        (r#"{"data": [1.5]}"#, None, "float64 [1] [1.5]"),
        (r#"{"dtype": "int8", "shape": [], "data": 5}"#, None, "int8 [] 5"),
        (r#"{"dtype": "int8", "shape": [], "data": [5]}"#, None, "int8 [] 5"),
        (
            r#"{"dtype": "complex64", "shape": [2, 1], "data": [[1, 2], [3, 4]]}"#,
            None,
            "complex64 [2, 1] [[[1.0, 2.0]], [[3.0, 4.0]]]",
        ),
        (r#"{"dtype": "complex64", "shape": [0, 2], "data": []}"#, None, "complex64 [0, 2] []"),
        (r#"{"dtype": "int8", "shape": [0, 3], "data": []}"#, None, "int8 [0, 3] []"),
        (r#"{"dtype": "int8", "shape": [2, 0, 3], "data": [[], []]}"#, None, "int8 [2, 0, 3] [[], []]"),
        (r#"{"dtype": "int8", "shape": [2, 0, 3], "data": []}"#, None, "int8 [2, 0, 3] [[], []]"),
        (r#"{"dtype": "int8", "shape": [1000000000000, 0], "data": []}"#, None, "int8 [1000000000000, 0] []"),
        (
            r#"{"dtype": "int8", "shape": [2, 0, 3], "data": [[]]}"#,
            None,
            "data has shape [1, 0], expected [2, 0, 3] or a flat list of 0",
        ),
        (
            r#"{"dtype": "int8", "shape": [3], "data": [1, 2]}"#,
            None,
            "data has shape [2], expected [3] or a flat list of 3",
        ),
        (r#"{"dtype": "int8", "shape": [1], "data": 1}"#, None, "data has shape [], expected [1] or a flat list of 1"),
        (
            r#"{"dtype": "int64", "shape": [4294967296, 4294967296], "data": []}"#,
            None,
            "shape [4294967296, 4294967296] is larger than memory can be",
        ),
        (
            r#"{"dtype": "int64", "shape": [0, 9223372036854775808], "data": []}"#,
            None,
            "shape [0, 9223372036854775808] is larger than memory can be",
        ),
        (r#"{"dtype": "int8", "shape": [-1], "data": []}"#, None, "shape is [-1], expected a list of up to 64 dims"),
        (r#"{"dtype": "int8", "shape": null, "data": []}"#, None, "shape is null, expected a list of up to 64 dims"),
        (r#"{"dtype": 7, "data": []}"#, None, "dtype is 7, expected a string"),
        (r#"{"dtype": "int7", "data": []}"#, None, "unknown dtype 'int7'"),
        (r#"{"dtype": "int8"}"#, None, "the object has no \"data\" at line 1 column 17"),
        (r#"{"data": 1, "data": 1}"#, None, "the key \"data\" occurs twice at line 1 column 22"),
        (
            r#"{"data": 1, "order": "C"}"#,
            None,
            "unknown key \"order\", expected \"dtype\", \"shape\" and \"data\" at line 1 column 19",
        ),
        (
            r#"{"dtype": "<U1000000000", "data": ["a"]}"#,
            None,
            "1 items of 4000000000 bytes (<U1000000000) are too much",
        ),
    ]);
}

#[test]
fn no_json() {
    check_rows(&[
        ("", None, "empty, expected JSON"),
        (" \n", None, "empty, expected JSON"),
        ("[NaN]", None, "not JSON: bare NaN at line 1 column 2; write \"NaN\" in quotes"),
        ("[1,\n nan]", None, "not JSON: bare nan at line 2 column 3; write \"NaN\" in quotes"),
        ("[Infinity]", None, "not JSON: bare Infinity at line 1 column 2; write \"Infinity\" in quotes"),
        ("[-Infinity]", None, "not JSON: bare -Infinity at line 1 column 3; write \"-Infinity\" in quotes"),
        ("{\"data\": [inf]}", None, "not JSON: bare inf at line 1 column 11; write \"Infinity\" in quotes"),
        ("[1,]", None, "not JSON: expected value at line 1 column 4"),
        ("[1 2]", None, "not JSON (no commas) but a tensor printed as text"),
        ("[1]\n[2]", None, "not JSON: trailing characters at line 2 column 1"),
        ("[01]", None, "not JSON: invalid number at line 1 column 3"),
        ("[1", None, "not JSON: EOF while parsing a list at line 1 column 2"),
        ("[\"\\x\"]", None, "not JSON: invalid escape at line 1 column 4"),
        ("\u{feff}[1]", None, "begins with a byte order mark, which JSON does not allow: save it as UTF-8 without"),
        ("[1]é", None, "not JSON: trailing characters at line 1 column 4"),
    ]);
    let rows: [(&[u8], &str); 2] =
        [(b"[1, \xff]", "invalid UTF-8 at byte 4"), (b"\xff\xfe[\0", "not UTF-8 but UTF-16: save it as UTF-8")];
    for (text, want) in rows {
        assert_eq!(open(text, Subject::Data, Threads::default()).unwrap_err().message(), want);
    }
}

#[test]
fn fill_values() {
    let rows = [
        ("1.5", "float32", Ok(vec![0, 0, 0xc0, 0x3f])),
        ("NaN", "float16", Ok(vec![0, 0x7e])),
        ("\"NaN\"", "float16", Ok(vec![0, 0x7e])),
        ("-Infinity", ">f4", Ok(vec![0xff, 0x80, 0, 0])),
        (" 2e0 ", ">i2", Ok(vec![0, 2])),
        ("true", "bool", Ok(vec![1])),
        ("\"NaT\"", "m8[s]", Ok(i64::MIN.to_le_bytes().to_vec())),
        ("1970-01-02", "M8[D]", Ok(1_i64.to_le_bytes().to_vec())),
        ("7", ">M8[D]", Ok(7_i64.to_be_bytes().to_vec())),
        ("2", "complex64", Ok([2_f32.to_le_bytes(), [0; 4]].concat())),
        ("[2, NaN]", "complex64", Ok([2_f32.to_le_bytes(), f32::NAN.to_le_bytes()].concat())),
        ("ab", "S3", Ok(b"ab\0".to_vec())),
        ("\"ab\"", "S3", Ok(b"ab\0".to_vec())),
        ("\"\\ud800\"", "U1", Ok(vec![0, 0xd8, 0, 0])),
        ("é", ">U", Ok(vec![0, 0, 0, 0xe9])),
        ("\"", "S1", Ok(b"\"".to_vec())),
        ("", "S1", Ok(b"\0".to_vec())),
        ("abcd", "S3", Err("abcd is longer than |S3")),
        ("300", "uint8", Err("300 is out of range for uint8")),
        ("nan", "float16", Ok(vec![0, 0x7e])),
        ("-Inf", ">f4", Ok(vec![0xff, 0x80, 0, 0])),
        ("+infinity", "float16", Ok(vec![0, 0x7c])),
        ("nan", "int8", Err("\"NaN\" is a string, expected a number (int8)")),
        ("nane", "float32", Err("found nane, expected a number (float32)")),
        (".5", "float16", Ok(vec![0, 0x38])),
        ("-.5e1", "int8", Ok(vec![251])),
        ("5.", "int8", Ok(vec![5])),
        ("+1", "uint8", Ok(vec![1])),
        (".", "float32", Err("found ., expected a number (float32)")),
        ("1_000", "float32", Err("found 1_000, expected a number (float32); write 1000")),
        ("1_000", "bool", Err("found 1_000, expected true or false (bool); write 1000")),
        ("a_b", "float32", Err("found a_b, expected a number (float32)")),
        ("1+2j", "complex64", Ok([1_f32.to_le_bytes(), 2_f32.to_le_bytes()].concat())),
        ("(1.-.5J)", "complex64", Ok([1_f32.to_le_bytes(), (-0.5_f32).to_le_bytes()].concat())),
        (" 1e+2-1e-1j ", "complex64", Ok([100_f32.to_le_bytes(), (-0.1_f32).to_le_bytes()].concat())),
        ("-j", "complex64", Ok([0_f32.to_le_bytes(), (-1_f32).to_le_bytes()].concat())),
        ("-2j", "complex64", Ok([0_f32.to_le_bytes(), (-2_f32).to_le_bytes()].concat())),
        ("nan+infj", "complex64", Ok([f32::NAN.to_le_bytes(), f32::INFINITY.to_le_bytes()].concat())),
        ("nan+nanj", "complex64", Ok([f32::NAN.to_le_bytes(), f32::NAN.to_le_bytes()].concat())),
        // a year as text, and ticks as a number, as in JSON
        ("\"1971\"", "M8[D]", Ok(365_i64.to_le_bytes().to_vec())),
        ("1971", "M8[D]", Ok(1971_i64.to_le_bytes().to_vec())),
        ("\"7\"", "m8[D]", Ok(7_i64.to_le_bytes().to_vec())),
        ("1+xj", "complex64", Err("found +x, expected a number (float32)")),
        ("1+2j", "float32", Err("found 1+2j, expected a number (float32)")),
        ("", "float32", Err("found , expected a number (float32)")),
        ("0x10", "int8", Err("found 0x10, expected a number (int8)")),
        ("[1]", "int8", Err("found [1], expected a number (int8)")),
        ("null", "int8", Err("found null, expected a number (int8)")),
        ("true", "int8", Err("true is a bool, expected a number (int8)")),
        ("True", "bool", Err("found True, expected true or false (bool)")),
        ("[1]", "complex64", Err("found [1], expected a number, [re, im] or 1+2j")),
        ("[1, 2, 3]", "complex64", Err("found [1, 2, 3], expected a number, [re, im] or 1+2j")),
        ("1970-01-02T01", "M8[D]", Err("\"1970-01-02T01\" is not an ISO 8601 date that <M8[D] holds exactly")),
        ("x", "V1", Err("an item of dtype |V1 has no text")),
    ];
    let mut wrong = Vec::new();
    for (text, dtype, want) in rows {
        let got = parse_item(text, &DType::parse(dtype).unwrap()).map_err(|e| e.message().to_owned());
        if got != want.map_err(str::to_owned) {
            wrong.push((text, dtype, got));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }
}

/// NaNs become the quiet NaN, as in reading.
fn standard(tensor: &Tensor) -> Vec<u8> {
    let native = tensor.dtype().native();
    let mut bytes = tensor.bytes().to_vec();
    Swap::apply_all(&tensor.dtype().swaps_to(&native), &mut bytes, native.itemsize());
    match native.kind() {
        Kind::Float16 => {
            bytes.as_chunks_mut().0.iter_mut().filter(|b| f16::from_le_bytes(**b).is_nan()).for_each(|b| *b = [0, 0x7e])
        }
        Kind::BFloat16 => bytes
            .as_chunks_mut()
            .0
            .iter_mut()
            .filter(|b| bf16::from_le_bytes(**b).is_nan())
            .for_each(|b| *b = [0xc0, 0x7f]),
        Kind::Float32 | Kind::Complex64 => {
            let items = bytes.as_chunks_mut().0.iter_mut();
            items.filter(|b| f32::from_le_bytes(**b).is_nan()).for_each(|b| *b = 0x7fc0_0000_u32.to_le_bytes());
        }
        Kind::Float64 | Kind::Complex128 => {
            let items = bytes.as_chunks_mut().0.iter_mut();
            items.filter(|b| f64::from_le_bytes(**b).is_nan()).for_each(|b| *b = (0x7ff8_u64 << 48).to_le_bytes());
        }
        Kind::Bool => bytes.iter_mut().for_each(|b| *b = u8::from(*b != 0)),
        _ => {}
    }
    bytes
}

#[test]
fn what_is_written_reads_back() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let names = "bool i1 <i2 >i2 <i4 >i4 <i8 >i8 u1 <u2 >u2 <u4 >u4 <u8 >u8 <f2 >f2 bfloat16 <f4 >f4 <f8 >f8 <c8 >c8 \
                 <c16 >c16 S0 S1 S5 <U0 <U1 >U3 <M8 <M8[Y] <M8[M] >M8[W] <M8[D] <M8[h] <M8[m] <M8[s] <M8[25s] <M8[ms] <M8[us] \
                 >M8[ns] <M8[ps] <M8[fs] <M8[as] <m8 <m8[7D] >m8[as]";
    for name in names.split_whitespace() {
        let dtype = DType::parse(name).unwrap();
        for round in 0..60 {
            let rank = random.below(4);
            let shape: Vec<usize> = (0..rank).map(|_| random.below(5)).collect();
            let items: usize = shape.iter().product();
            let size = dtype.itemsize();
            let mut bytes: Vec<u8> = (0..items * size).map(|_| random.next() as u8).collect();
            match dtype.kind() {
                Kind::Str(_) => {
                    for point in bytes.as_chunks_mut::<4>().0 {
                        let limit = [0x80, 0x800, 0xd7ff, 0x11_0000][random.below(4)];
                        let value = random.below(limit) as u32;
                        // A low surrogate after a high one has no JSON.
                        let value = if (0xdc00..0xe000).contains(&value) { value - 0x400 } else { value };
                        *point = if dtype.is_big_endian() { value.to_be_bytes() } else { value.to_le_bytes() };
                    }
                }
                // Half of the dates are near the present.
                Kind::Datetime(_) if round % 2 == 0 => {
                    for word in bytes.as_chunks_mut::<8>().0 {
                        let value = (random.next() as i64) >> random.below(63);
                        *word = if dtype.is_big_endian() { value.to_be_bytes() } else { value.to_le_bytes() };
                    }
                }
                _ => {}
            }
            let tensor = Tensor::new(dtype.clone(), shape, bytes).unwrap();
            let text = written(&tensor);
            let json =
                open(text.as_bytes(), Subject::Data, Threads::default()).unwrap_or_else(|e| panic!("{e}: {text}"));
            let back = json.read(json.dtype().unwrap()).unwrap_or_else(|e| panic!("{e}: {text}"));
            assert_eq!(back.dtype(), &dtype.native(), "{text}");
            assert_eq!(back.shape(), tensor.shape(), "{text}");
            assert_eq!(back.bytes(), standard(&tensor), "{text}");
        }
    }
}

#[test]
fn every_16_bit_float_reads_back() {
    for name in ["float16", "bfloat16"] {
        let bytes: Vec<u8> = (0..=u16::MAX).flat_map(u16::to_le_bytes).collect();
        let tensor = Tensor::new(DType::parse(name).unwrap(), vec![1 << 16], bytes).unwrap();
        let text = written(&tensor);
        let json = open(text.as_bytes(), Subject::Data, Threads::default()).unwrap();
        assert!(json.read(tensor.dtype()).unwrap().bytes() == standard(&tensor), "{name}");
    }
}

#[test]
fn what_json_cannot_hold() {
    let mut out = Vec::new();
    let points = |points: [u32; 2]| {
        let bytes = points.iter().flat_map(|p| p.to_le_bytes()).collect();
        Tensor::new(DType::parse("<U2").unwrap(), vec![], bytes).unwrap()
    };
    for bad in [[0xd83d, 0xde00], [0x11_0000, 0]] {
        assert_eq!(write(&mut out, &points(bad)).unwrap_err().kind(), io::ErrorKind::InvalidData);
    }
    assert!(write(&mut out, &points([0xde00, 0xd83d])).is_ok());
    for name in ["V3", "float128", "complex256"] {
        let error = check(&DType::parse(name).unwrap()).unwrap_err();
        assert_eq!(error.advice(), Some(Advice::WriteNpy), "{error}");
    }
}

#[test]
fn hostile_texts_end_in_one_line() {
    let many = |part: &str, n: usize| part.repeat(n);
    let texts = [
        many("[", 200_000),
        many("{\"data\":", 200_000),
        format!("{}{}", many("[", 200_000), many("]", 200_000)),
        format!("[{}1]", many("[],", 50_000)),
        format!("[\"{}\"]", many("\\ud800", 50_000)),
        format!("[\"{}", many("\\", 50_001)),
        format!("[{}\"{}\"]", many("\"\",", 20_000), many("x", 200_000)),
        format!("{{\"data\": 1, \"{}\": 1}}", many("k\\n", 50_000)),
        format!("{{\"dtype\": \"{}\", \"data\": 1}}", many("k", 50_000)),
        format!("{{\"shape\": [{}1], \"data\": 1}}", many("1,", 50_000)),
        format!("[1e{}]", many("9", 200_000)),
        format!("[0.{}1]", many("0", 200_000)),
        format!("[{}, 1.5]", many("9", 200_000)),
        format!("\"{}\"", many("9", 200_000)),
        many("\n", 200_000) + "NaN",
    ];
    for text in texts {
        for dtype in [None, Some("float16"), Some("int64"), Some("U"), Some("S3"), Some("c16"), Some("M8[s]")] {
            let read = || {
                let json = open(text.as_bytes(), Subject::Data, Threads::default())?;
                dtype.map_or_else(|| json.infer(), |name| json.read(&DType::parse(name)?))
            };
            if let Err(e) = read() {
                assert!(e.message().len() < 250 && !e.message().contains(char::is_control), "{e}");
            }
        }
    }
}

#[test]
fn mangled_texts_do_not_panic() {
    let seeds = [
        r#"{"dtype": "float32", "shape": [2, 3], "data": [[1.0, 2.5e-3, "NaN"], [4, -5.0, 6]]}"#,
        r#"[[["a\u00e9\ud83d\ude00", "\\\"x"], ["", "é"]], [["b", "c"], ["NaN", "-Infinity"]]]"#,
        r#"{"data": [[true, false], [null, 1]], "shape": [4], "dtype": "<M8[ns]"}"#,
        r#"[18446744073709551615, -1, 0.5, "1999-12-31T23:59:59.5", -0, 1e30]"#,
    ];
    let dtypes: Vec<DType> = "bool uint8 >i8 float16 bfloat16 float32 complex64 S U >U2 S1 M8[7s] m8"
        .split(' ')
        .map(|name| DType::parse(name).unwrap())
        .collect();
    let mut random = Random(88_172_645_463_325_252);
    for round in 0..8000 {
        let mut text = seeds[round % seeds.len()].as_bytes().to_vec();
        for _ in 0..=random.below(3) {
            let at = random.below(text.len());
            match random.below(3) {
                0 => text[at] = br#"[]{},:"\0-.eEuN "#[random.below(16)],
                1 => drop(text.remove(at)),
                _ => text.insert(at, br#"[]{},:"\0-.eEuN1"#[random.below(16)]),
            }
        }
        if let Ok(json) = open(&text, Subject::Data, Threads::default()) {
            let _ = (json.infer(), json.infer_indices());
            for dtype in dtypes.iter().chain(json.dtype()) {
                let _ = json.read(dtype);
            }
        }
        let text = String::from_utf8_lossy(&text);
        let _ = dtypes.iter().map(|dtype| parse_item(&text, dtype)).filter(Result::is_ok).count();
    }
}

/// The syntax of a long list is checked while its items are read.
#[test]
fn long_texts() {
    let items = "1.5,".repeat(300_000);
    let read = |text: &str| {
        open(text.as_bytes(), Subject::Data, Threads::default())
            .and_then(|json| json.infer())
            .map_err(|e| e.to_string())
    };
    let tensor = read(&format!("[{items}2]")).unwrap();
    assert_eq!((tensor.shape(), tensor.dtype().name().as_str()), (&[300_001][..], "float64"));
    for end in
        ["\"", "\"\\", "é", "té]", "tru]", "{", "1}", "2]]", "nan]", "\u{1}]", "-]", "1 2]", "", "\"\\u12\"]", "+1]"]
    {
        let message = read(&format!("[{items}{end}")).expect_err(end);
        assert!(message.starts_with("data: not JSON: ") && message.lines().count() == 1, "{end}: {message}");
    }
    let ragged = read(&format!("[[{items}2], [1]]")).unwrap_err();
    assert_eq!(ragged, "data: [1] has length 1, [0] has length 300001");
}

#[test]
fn kserve() {
    let rows = [
        (r#"{"name": "x", "shape": [2, 2], "datatype": "FP32", "data": [1, 2, 3, 4]}"#, "float32", 16),
        (
            r#"{"name": "x", "shape": [2, 1], "datatype": "BF16", "parameters": {"a": [{}]}, "data": [[1], [2]]}"#,
            "bfloat16",
            4,
        ),
        (r#"{"datatype": "BYTES", "data": ["a", "bcd"]}"#, "<U3", 24),
        (r#"{"data": [true], "datatype": "BOOL", "shape": [1]}"#, "bool", 1),
        (r#"{"datatype": "UINT64", "data": [18446744073709551615]}"#, "uint64", 8),
        (r#"{"datatype": "FP16", "data": ["NaN"]}"#, "float16", 2),
    ];
    for (text, name, bytes) in rows {
        let json = open(text.as_bytes(), Subject::Data, Threads::default()).unwrap();
        let tensor = json.read(json.dtype().unwrap()).unwrap();
        assert_eq!((tensor.dtype().name().as_str(), tensor.bytes().len()), (name, bytes), "{text}");
    }
    let rows = [
        (r#"{"datatype": "FP32", "dtype": "float32", "data": 1}"#, "\"dtype\" and \"datatype\", expected one of them"),
        (r#"{"datatype": "FP8", "data": 1}"#, "unknown datatype \"FP8\""),
        (r#"{"datatype": 1, "data": 1}"#, "datatype is 1, expected a string"),
        (r#"{"name": "x", "dtype": "float32", "data": 1}"#, "unknown key \"name\""),
        (r#"{"parameters": {}, "data": 1}"#, "unknown key \"parameters\""),
        (r#"{"name": "x", "name": "x", "datatype": "FP32", "data": 1}"#, "\"name\" occurs twice"),
        (r#"{"datatype": "FP32", "outputs": 1, "data": 1}"#, "unknown key \"outputs\""),
        (r#"{"datatype": "FP32", "shape": [1]}"#, "no \"data\""),
    ];
    for (text, message) in rows {
        let error = open(text.as_bytes(), Subject::Data, Threads::default()).unwrap_err();
        assert!(error.message().contains(message), "{text}: {error}");
    }
}

#[test]
fn narrow_types() {
    let rows = [
        ("float8_e4m3fn", vec![0x38, 0x01, 0xfe, 0x80, 0x7f], r#"[1.0, 0.001953125, -448.0, -0.0, "NaN"]"#),
        ("float8_e5m2", vec![0x7c, 0xfc, 0x7b], r#"["Infinity", "-Infinity", 57344.0]"#),
        ("float4_e2m1fn", vec![1, 0xf], "[0.5, -6.0]"),
        ("float8_e8m0fnu", vec![0, 254], "[5.877472e-39, 1.7014118e+38]"),
        ("int4", vec![7, 8], "[7, -8]"),
    ];
    for (name, bytes, data) in rows {
        let tensor = Tensor::new(DType::parse(name).unwrap(), vec![bytes.len()], bytes).unwrap();
        let mut text = Vec::new();
        write(&mut text, &tensor).unwrap();
        let expected = format!("{{\"dtype\": \"{name}\", \"shape\": {:?}, \"data\": {data}}}\n", tensor.shape());
        assert_eq!(String::from_utf8_lossy(&text), expected);
        let json = open(&text, Subject::Data, Threads::default()).unwrap();
        assert_eq!(json.read(tensor.dtype()).unwrap(), tensor);
    }
    let rows = [
        ("float8_e4m3fn", "1.5", Ok(0x3c)),
        ("float8_e4m3fn", "-inf", Err("\"-Infinity\" is a string, expected a number (float8_e4m3fn)")),
        ("float8_e4m3fn", "-Infinity", Err("expected a number (float8_e4m3fn)")),
        ("float8_e4m3fn", "1e3", Err("1e3 is too large for float8_e4m3fn")),
        ("float8_e8m0fnu", "0", Err("0 is out of range for float8_e8m0fnu")),
        ("int4", "-1", Ok(0xf)),
        ("int4", "8", Err("8 is out of range for int4")),
        ("uint2", "0.5", Err("0.5 is not an integer (uint2)")),
    ];
    for (name, text, expected) in rows {
        match (parse_item(text, &DType::parse(name).unwrap()), expected) {
            (Ok(item), Ok(expected)) => assert_eq!(item, [expected], "{name} {text}"),
            (Err(error), Err(expected)) => assert!(error.message().contains(expected), "{name} {text}: {error}"),
            (got, _) => panic!("{name} {text}: {got:?}"),
        }
    }
}

#[test]
fn one_thread_starts_no_other() {
    let long = format!("[{}1]", "1, ".repeat(1 << 20));
    let broken = format!("{long}]");
    for (threads, expected) in [(1, 0), (2, 1)] {
        let threads = Threads::new(NonZero::new(threads));
        for text in [&long, &broken] {
            let (started, read) =
                threads_started_by(|| open(text.as_bytes(), Subject::Data, threads).and_then(|json| json.infer()));
            let message = read.err().map(|error| error.message().to_owned());
            let told = message.as_deref().is_some_and(|message| message.contains("line 1 column 3145732"));
            assert_eq!((started, told), (expected, *text == broken), "{threads:?} {message:?}");
        }
    }
}
