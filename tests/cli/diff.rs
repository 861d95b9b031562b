//! `tensorop diff`: exit status, report, `--json`, and every way an operand can come.

use crate::common::{
    Folder, bytes, deflated, each, header, member, npy, npy_with_header, npz, pb, safetensors, tensor, to_fortran,
    words, zip,
};

/// 0 to 9 as float32 [2, 5], and the same with 9.5 as its last item, in every format.
fn folder() -> Folder {
    let folder = Folder::new();
    let right = tensor::<f32>(&[2, 5], &[0., 1., 2., 3., 4., 5., 6., 7., 8., 9.]);
    let wrong = tensor::<f32>(&[2, 5], &[0., 1., 2., 3., 4., 5., 6., 7., 8., 9.5]);
    for (name, tensor) in [("d", right), ("e", wrong)] {
        let file = |ending: &str| format!("{name}{ending}");
        let stored = member(name, "float32", &[2, 5], tensor.bytes());
        folder.put(file(".npy"), tensor.npy()).put(file("-f.npy"), tensor.npy_fortran());
        folder.put(file("-b.npy"), tensor.npy_big());
        folder.put(file(".json"), tensor.json()).put(file("-t.json"), tensor.tagged());
        folder.put(file(".pb"), pb(stored.clone())).put(file(".safetensors"), safetensors(&[stored]));
        folder.put(file(".npz"), npz(&[(name, tensor.npy_fortran())]));
        folder.put(file("-z.npz"), zip(&[deflated(&format!("{name}.npy"), &tensor.npy())]));
        let data = tensor.json().replace(['[', ']'], "");
        let kserve = format!(r#"{{"name":"{name}","shape":[2,5],"datatype":"FP32","data":[{data}]}}"#);
        folder.put(file("-k.json"), kserve);
    }
    let one = tensor::<i64>(&[2], &[1, 2]);
    folder.put("two.npz", npz(&[("x", one.npy()), ("d", folder.get("d.npy"))]));
    folder.put("i.npy", one.npy());
    folder
}

/// Rows of arguments, exit status and the first line, or the whole output if that is one line; at every window size.
#[track_caller]
fn verdicts(folder: &Folder, rows: &[(&str, i32, &str)]) {
    each(
        rows,
        |(args, ..)| format!("`{args}`"),
        |(args, status, line)| {
            let args = [vec!["diff".to_owned()], words(args)].concat();
            let run = folder.always(&args, None)?;
            let text = String::from_utf8_lossy(&run.stdout);
            if (run.status, text.lines().next()) != (Some(*status), Some(*line)) {
                return Err(format!("status {:?}, {:?}", run.status, text.lines().next()));
            }
            if *status == 0 && args.iter().all(|arg| !arg.contains("tol") && arg != "--ulp") && text.lines().count() > 1
            {
                return Err(format!("more than the verdict: {text}"));
            }
            Ok(())
        },
    );
}

#[test]
fn formats_and_orders() {
    let folder = folder();
    let forms = [".npy", "-f.npy", "-b.npy", "-t.json", "-k.json", ".json", ".npz", "-z.npz", ".pb", ".safetensors"];
    let mut rows = Vec::new();
    for (n, form) in forms.iter().enumerate() {
        let other = forms[(n + 3) % forms.len()];
        let typed = if [form, &other].contains(&&".json") { " --dtype float32" } else { "" };
        for (a, b) in [(*form, ".npy"), ("-f.npy", *form), (*form, other)] {
            rows.push((format!("d{a} d{b}{typed}"), 0, "equal: 10 items of float32 [2, 5]"));
            rows.push((format!("d{a} e{b}{typed}"), 1, "different: 1 of 10 items (10 %) of float32 [2, 5]"));
        }
    }
    let rows: Vec<_> = rows.iter().map(|(args, status, line)| (args.as_str(), *status, *line)).collect();
    verdicts(&folder, &rows);
    // the whole report does not depend on the form either
    let report = folder.run(["diff", "d.npy", "e.npy"]);
    each(
        forms,
        |form| (*form).to_owned(),
        |form| {
            let run = folder.always(&["diff".to_owned(), format!("d{form}"), "e.npy".to_owned()], None)?;
            if run == report { Ok(()) } else { Err(format!("{run:?}")) }
        },
    );
}

#[test]
fn status_and_first_line() {
    let folder = folder();
    let differ = "different: 1 of 10 items (10 %) of float32 [2, 5]";
    let within = "equal within the tolerance: 1 of 10 items of float32 [2, 5] differ in bits";
    let numbers = "largest |a - e| 0.5, rmse 0.1581, cosine 0.9997";
    let nan = "{\"dtype\":\"float32\",\"data\":[1,\"NaN\"]}";
    folder.put("nan.npy", npy("<f4", &[2], &[1_f32.to_le_bytes(), 0xffc0_0001_u32.to_le_bytes()].concat()));
    folder.put("bits.npy", npy("<u2", &[2], &bytes::<u8>(&[0x80, 0x3f, 0, 0x40])));
    folder.put("void.npy", npy("|V2", &[2], &bytes::<u8>(&[0x80, 0x3f, 0, 0x40])));
    folder.put("narrow.npy", npy("|u1", &[2], &bytes::<u8>(&[0x38, 0x40])));
    verdicts(
        &folder,
        &[
            // tolerances
            ("d.npy e.npy --atol 0.5", 0, within),
            ("d.npy e.npy --atol 0.49", 1, differ),
            ("d.npy e.npy --rtol 0.0555555555555555580", 0, within),
            ("d.npy e.npy --rtol 0.0555", 1, differ),
            (
                "e.npy d.npy --rtol 0.0555",
                0,
                "equal within the tolerance: 1 of 10 items of float32 [2, 5] differ in bits",
            ),
            ("d.npy e.npy --atol 0.25 --rtol 0.02777777777777778", 0, within),
            ("d.npy e.npy --atol 0.25 --rtol 0.0277", 1, differ),
            ("d.npy e.npy --ulp 524288", 0, within),
            ("d.npy e.npy --ulp 524287", 1, differ),
            ("d.npy e.npy --ulp 1 --atol 0.5", 0, within),
            ("[0.0] [-0.0]", 1, "different: 1 of 1 item (100 %) of float64 [1]"),
            ("[0.0] [-0.0] --ulp 0", 0, "equal within the tolerance: 1 of 1 item of float64 [1] differ in bits"),
            ("[0.0] [-0.0] --atol 0", 0, "equal within the tolerance: 1 of 1 item of float64 [1] differ in bits"),
            // NaN, infinities
            (&format!("{nan} nan.npy"), 0, "equal: 2 items of float32 [2]"),
            (&format!("{nan} nan.npy --nan-differs"), 1, "different: 1 of 2 items (50 %) of float32 [2]"),
            ("nan.npy nan.npy --nan-differs", 0, "equal: 2 items of float32 [2]"),
            ("[\"Infinity\",1.0] [\"-Infinity\",1.0] --atol 1e300", 1, "different: 1 of 2 items (50 %) of float64 [2]"),
            // dtype and shape
            ("d.npy i.npy", 1, "different: dtype int64, expected float32"),
            ("d.npy i.npy --ignore-dtype", 1, "different: shape [2], expected [2, 5]"),
            ("[1.0,2.0] i.npy --ignore-dtype", 0, "equal: 2 items of int64 [2]"),
            (
                "{\"dtype\":\"float64\",\"data\":[1,2]} i.npy --ignore-dtype",
                0,
                "equal: 2 items of float64 and int64 [2]",
            ),
            (
                "i.npy {\"dtype\":\"uint8\",\"data\":[1,3]} --ignore-dtype",
                1,
                "different: 1 of 2 items (50 %) of int64 and uint8 [2]",
            ),
            // an integer of 64 bits and a float are equal only if they are the same number
            (
                "{\"dtype\":\"int64\",\"data\":[9007199254740993]} {\"dtype\":\"float64\",\"data\":[9007199254740992]} --ignore-dtype",
                1,
                "different: 1 of 1 item (100 %) of int64 and float64 [1]",
            ),
            (
                "{\"dtype\":\"float32\",\"data\":[9007199254740992]} {\"dtype\":\"uint64\",\"data\":[9007199254740992]} --ignore-dtype",
                0,
                "equal: 1 item of float32 and uint64 [1]",
            ),
            (
                "{\"dtype\":\"<M8[s]\",\"data\":[\"1999-12-31T23:59:59\",\"NaT\"]} \
                 {\"dtype\":\"<M8[ns]\",\"data\":[\"1999-12-31T23:59:59\",\"NaT\"]} --ignore-dtype",
                0,
                "equal: 2 items of <M8[s] and <M8[ns] [2]",
            ),
            (
                "{\"dtype\":\"<m8[h]\",\"data\":[1]} {\"dtype\":\"<m8[m]\",\"data\":[61]} --ignore-dtype",
                1,
                "different: 1 of 1 item (100 %) of <m8[h] and <m8[m] [1]",
            ),
            ("5 [5]", 1, "different: shape [1], expected []"),
            ("d.npy [0.0,1]", 1, "different: shape [2], expected [2, 5]"),
            ("d.npy two.npz:d", 0, "equal: 10 items of float32 [2, 5]"),
            ("two.npz:x i.npy", 0, "equal: 2 items of int64 [2]"),
            // plain JSON takes the dtype of the other operand, both are typed together, or by --dtype
            ("[1,2] [1,2.5]", 1, "different: 1 of 2 items (50 %) of float64 [2]"),
            ("i.npy [1,2e0]", 0, "equal: 2 items of int64 [2]"),
            ("[1,2] [1,2] --dtype uint8", 0, "equal: 2 items of uint8 [2]"),
            ("[] []", 0, "equal: 0 items of float64 [0]"),
            ("5 5", 0, "equal: 1 item of int64 []"),
            // unsigned integers that hold something else
            ("bits.npy [1,2] --dtype bfloat16", 0, "equal: 2 items of bfloat16 [2]"),
            ("bits.npy void.npy --dtype bfloat16", 0, "equal: 2 items of bfloat16 [2]"),
            ("bits.npy [1,2.5] --dtype bfloat16", 1, "different: 1 of 2 items (50 %) of bfloat16 [2]"),
            ("narrow.npy [1,2] --dtype float8_e4m3fn", 0, "equal: 2 items of float8_e4m3fn [2]"),
            ("bits.npy void.npy", 1, "different: dtype |V2, expected uint16"),
            // -q
            ("d.npy e.npy -q", 1, &format!("{differ}; {numbers}")),
            ("d.npy e.npy --quiet", 1, &format!("{differ}; {numbers}")),
            ("d.npy e.npy -q --atol 0.5", 0, &format!("{within}; {numbers}")),
            ("d.npy d-f.npy --summary", 0, "equal: 10 items of float32 [2, 5]"),
        ],
    );
}

#[test]
fn json_to_the_letter() {
    let folder = folder();
    folder.put("day.npy", npy("<M8[D]", &[2], &[20454_i64.to_le_bytes(), i64::MIN.to_le_bytes()].concat()));
    let rows: &[(&str, i32, &str)] = &[
        (
            "d.npy e.npy",
            1,
            r#"{"equal": false, "reason": "values", "expected": {"dtype": "float32", "shape": [2, 5]}, "actual": {"dtype": "float32", "shape": [2, 5]}, "items": 10, "mismatches": 1, "nonfinite_mismatches": 0, "first_nonfinite": null, "max_abs": {"value": 0.5, "index": [1, 4]}, "max_rel": {"value": 0.05555555555555555, "index": [1, 4]}, "max_ulp": {"value": 524288, "index": [1, 4]}, "min_atol": 0.5, "min_rtol": 0.05555555555555555, "min_ulp": 524288, "first": [{"index": [1, 4], "flat": 9, "expected": 9.0, "actual": 9.5, "abs": 0.5, "rel": 0.05555555555555555, "ulp": 524288}]}"#,
        ),
        (
            "d.npy d-b.npy",
            0,
            r#"{"equal": true, "reason": null, "expected": {"dtype": "float32", "shape": [2, 5]}, "actual": {"dtype": "float32", "shape": [2, 5]}, "items": 10, "mismatches": 0, "nonfinite_mismatches": 0, "first_nonfinite": null, "max_abs": {"value": 0.0, "index": [0, 0]}, "max_rel": {"value": 0.0, "index": [0, 0]}, "max_ulp": {"value": 0, "index": [0, 0]}, "min_atol": 0.0, "min_rtol": 0.0, "min_ulp": 0, "first": []}"#,
        ),
        (
            "i.npy d.pb",
            1,
            r#"{"equal": false, "reason": "dtype", "expected": {"dtype": "int64", "shape": [2]}, "actual": {"dtype": "float32", "shape": [2, 5]}, "items": 2, "mismatches": null, "nonfinite_mismatches": null, "first_nonfinite": null, "max_abs": null, "max_rel": null, "max_ulp": null, "min_atol": null, "min_rtol": null, "min_ulp": null, "first": []}"#,
        ),
        (
            "[1] [[1],[2]]",
            1,
            r#"{"equal": false, "reason": "shape", "expected": {"dtype": "int64", "shape": [1]}, "actual": {"dtype": "int64", "shape": [2, 1]}, "items": 1, "mismatches": null, "nonfinite_mismatches": null, "first_nonfinite": null, "max_abs": null, "max_rel": null, "max_ulp": null, "min_atol": null, "min_rtol": null, "min_ulp": null, "first": []}"#,
        ),
        // differences of integers do not overflow
        (
            "[-9223372036854775808] [9223372036854775807]",
            1,
            r#"{"equal": false, "reason": "values", "expected": {"dtype": "int64", "shape": [1]}, "actual": {"dtype": "int64", "shape": [1]}, "items": 1, "mismatches": 1, "nonfinite_mismatches": 0, "first_nonfinite": null, "max_abs": {"value": 18446744073709551615, "index": [0]}, "max_rel": {"value": 2.0, "index": [0]}, "max_ulp": {"value": 18446744073709551615, "index": [0]}, "min_atol": 1.8446744073709552e+19, "min_rtol": 2.0, "min_ulp": 18446744073709551615, "first": [{"index": [0], "flat": 0, "expected": -9223372036854775808, "actual": 9223372036854775807, "abs": 18446744073709551615, "rel": 2.0, "ulp": 18446744073709551615}]}"#,
        ),
        (
            "[1,\"NaN\",\"Infinity\",4.0] [\"NaN\",\"NaN\",\"-Infinity\",4.0] --dtype float16 --max-mismatch 1",
            1,
            r#"{"equal": false, "reason": "values", "expected": {"dtype": "float16", "shape": [4]}, "actual": {"dtype": "float16", "shape": [4]}, "items": 4, "mismatches": 2, "nonfinite_mismatches": 2, "first_nonfinite": [0], "max_abs": {"value": 0.0, "index": [3]}, "max_rel": {"value": 0.0, "index": [3]}, "max_ulp": {"value": 0, "index": [3]}, "min_atol": null, "min_rtol": null, "min_ulp": null, "first": [{"index": [0], "flat": 0, "expected": 1.0, "actual": "NaN", "abs": null, "rel": null, "ulp": null}]}"#,
        ),
        (
            "[[3,4]] [[3,5]] --dtype complex64",
            1,
            r#"{"equal": false, "reason": "values", "expected": {"dtype": "complex64", "shape": [1]}, "actual": {"dtype": "complex64", "shape": [1]}, "items": 1, "mismatches": 1, "nonfinite_mismatches": 0, "first_nonfinite": null, "max_abs": {"value": 1.0, "index": [0]}, "max_rel": {"value": 0.2, "index": [0]}, "max_ulp": {"value": 2097152, "index": [0]}, "min_atol": 1.0, "min_rtol": 0.2, "min_ulp": 2097152, "first": [{"index": [0], "flat": 0, "expected": [3.0, 4.0], "actual": [3.0, 5.0], "abs": 1.0, "rel": 0.2, "ulp": 2097152}]}"#,
        ),
        (
            "[false,true] [true,true]",
            1,
            r#"{"equal": false, "reason": "values", "expected": {"dtype": "bool", "shape": [2]}, "actual": {"dtype": "bool", "shape": [2]}, "items": 2, "mismatches": 1, "nonfinite_mismatches": 0, "first_nonfinite": null, "max_abs": {"value": 1, "index": [0]}, "max_rel": {"value": 0.0, "index": [1]}, "max_ulp": {"value": 1, "index": [0]}, "min_atol": 1, "min_rtol": null, "min_ulp": 1, "first": [{"index": [0], "flat": 0, "expected": false, "actual": true, "abs": 1, "rel": null, "ulp": 1}]}"#,
        ),
        (
            "day.npy [\"2026-01-03\",\"NaT\"] --atol 2 --max-mismatch 0",
            0,
            r#"{"equal": true, "reason": null, "expected": {"dtype": "<M8[D]", "shape": [2]}, "actual": {"dtype": "<M8[D]", "shape": [2]}, "items": 2, "mismatches": 0, "nonfinite_mismatches": 0, "first_nonfinite": null, "max_abs": {"value": 2, "index": [0]}, "max_rel": {"value": 0.0000977803852547179, "index": [0]}, "max_ulp": {"value": 2, "index": [0]}, "min_atol": 2, "min_rtol": 0.0000977803852547179, "min_ulp": 2, "first": []}"#,
        ),
        (
            "[\"a\",\"b\"] [\"a\",\"c\"]",
            1,
            r#"{"equal": false, "reason": "values", "expected": {"dtype": "<U1", "shape": [2]}, "actual": {"dtype": "<U1", "shape": [2]}, "items": 2, "mismatches": 1, "nonfinite_mismatches": null, "first_nonfinite": null, "max_abs": null, "max_rel": null, "max_ulp": null, "min_atol": null, "min_rtol": null, "min_ulp": null, "first": [{"index": [1], "flat": 1, "expected": "b", "actual": "c", "abs": null, "rel": null, "ulp": null}]}"#,
        ),
    ];
    each(
        rows,
        |(args, ..)| format!("`{args}`"),
        |(args, status, expected)| {
            let args = [vec!["diff".to_owned(), "--json".to_owned()], words(args)].concat();
            let run = folder.always(&args, None)?;
            let text = String::from_utf8_lossy(&run.stdout);
            // what is said of the tensors as a whole has a test of its own
            let text = text.split_once(", \"metrics\"").map_or_else(String::new, |(items, _)| format!("{items}}}"));
            if (run.status, &*text) == (Some(*status), *expected) {
                Ok(())
            } else {
                Err(format!("status {:?}, {text}", run.status))
            }
        },
    );
}

#[test]
fn reports() {
    let folder = folder();
    let rows: &[(&str, &str)] = &[
        (
            "d.npy e.npy",
            "\
different: 1 of 10 items (10 %) of float32 [2, 5]

  index            expected  actual  abs      rel     ulp
  [1, 4] (flat 9)       9.0     9.5  0.5  0.05556  524288

  error     largest  at      would pass with
  absolute      0.5  [1, 4]  --atol 0.5
  relative  0.05556  [1, 4]  --rtol 0.05555555555555555
  ulp        524288  [1, 4]  --ulp 524288

  mean_abs  rmse    cosine  snr_db  psnr_db  pearson
  0.05      0.1581  0.9997  30.57   35.11    0.9991

  axis 0: 1 of 2 places: 1
  axis 1: 1 of 5 places: 4
",
        ),
        (
            "[1,2,3,4] [0,0,3,0] --max-mismatch 2",
            "\
different: 3 of 4 items (75 %) of int64 [4]

  index  expected  actual  abs  rel  ulp
  [0]           1       0    1    1    1
  [1]           2       0    2    1    2
  and 1 more

  error     largest  at   would pass with
  absolute        4  [3]  --atol 4
  relative        1  [0]  --rtol 1
  ulp             4  [3]  --ulp 4

  mean_abs  rmse   cosine  snr_db  psnr_db  pearson
  1.75      2.291  0.5477  1.549   2.341    0.2582

  axis 0: 3 of 4 places: 0-1, 3
",
        ),
        (
            "[\"a\",\"b\"] [\"a\",\"c\"]",
            "\
different: 1 of 2 items (50 %) of <U1 [2]

  index  expected  actual
  [1]         \"b\"     \"c\"

  axis 0: 1 of 2 places: 1
",
        ),
    ];
    each(
        rows,
        |(args, _)| format!("`{args}`"),
        |(args, expected)| {
            let run = folder.always(&[vec!["diff".to_owned()], words(args)].concat(), None)?;
            let text = String::from_utf8_lossy(&run.stdout);
            if (run.status, text.as_ref()) == (Some(1), *expected) { Ok(()) } else { Err(text.into_owned()) }
        },
    );
}

/// Many mismatches, equal maxima, NaN and infinities: windows, threads and orders change no byte of the report.
#[test]
fn windows_threads_and_orders() {
    let folder = Folder::new();
    let shape = [37, 41];
    let expected: Vec<f64> = (0..37 * 41).map(|i| f64::from(i % 101) - 50.0).collect();
    let mut actual = expected.clone();
    for (i, item) in actual.iter_mut().enumerate() {
        match i % 97 {
            3 => *item += 0.5,
            5 => *item = f64::NAN,
            8 => *item *= 1.0 + f64::EPSILON * 4.0,
            13 => *item = -*item,
            _ => {}
        }
    }
    actual[1000] = f64::INFINITY;
    let (a, b) = (bytes(&expected), bytes(&actual));
    let fortran = |items: &[u8]| npy_with_header(&header("<f8", true, &shape), &to_fortran(items, &shape, 8));
    folder.put("a.npy", npy("<f8", &shape, &a)).put("b.npy", npy("<f8", &shape, &b));
    folder.put("a-f.npy", fortran(&a)).put("b-f.npy", fortran(&b));
    folder.put("b-z.npz", zip(&[deflated("b.npy", &fortran(&b))]));
    let base = folder.run(["diff", "a.npy", "b.npy", "--json", "--max-mismatch", "20"]);
    assert_eq!(folder.run(["diff", "a.npy", "b.npy", "--json", "-q", "--max-mismatch", "20"]), base);
    assert_eq!(base.status, Some(1), "{}", base.stderr);
    each(
        ["a.npy b.npy", "a-f.npy b.npy", "a.npy b-f.npy", "a-f.npy b-f.npy", "a.npy b-z.npz", "a-f.npy b-z.npz"],
        |args| (*args).to_owned(),
        |args| {
            let args = words(&format!("diff {args} --json --max-mismatch 20"));
            let run = folder.always(&args, None)?;
            if run == base { Ok(()) } else { Err(format!("{run:?}, expected {base:?}")) }
        },
    );
}

#[test]
fn standard_input() {
    let folder = folder();
    each(
        [".npy", "-f.npy", "-b.npy", "-t.json", "-k.json", ".json", ".npz", "-z.npz", ".pb", ".safetensors"],
        |form| (*form).to_owned(),
        |form| {
            for (args, status) in [("- d.npy", 0), ("d-f.npy -", 0), ("e.npy -", 1), ("- e.npz -q", 1)] {
                let run = folder.always(&words(&format!("diff {args}")), Some(&folder.get(format!("d{form}"))))?;
                if run.status != Some(status) {
                    return Err(format!("{args}: {run:?}"));
                }
            }
            Ok(())
        },
    );
}

/// The quantiles of so many errors take another pass over both tensors.
#[test]
fn quantiles_of_what_comes_once() {
    let folder = Folder::new();
    let [a, b] = [0.0, 1e-3].map(|by| (0..100_000).map(|i| f64::from(i) * (1.0 + by)).collect::<Vec<_>>());
    let [a, b] = [a, b].map(|items| npy("<f8", &[100_000], &bytes(&items)));
    folder.put("a.npy", &a).put("b.npy", b).put("a.npz", zip(&[deflated("a.npy", &a)]));
    let quantiles = |expected: &str| {
        let run = folder.run_with(["diff", expected, "b.npy", "--json"], None, Some(&a));
        let text = String::from_utf8(run.stdout).expect("JSON");
        let found =
            text.split_once("\"quantiles\": ").and_then(|(_, rest)| rest.split_once('}')).map(|(found, _)| found);
        found.map_or(run.stderr, str::to_owned)
    };
    let expected = quantiles("a.npy");
    assert!(expected.starts_with("{\"0.5\": 49.99"), "{expected}");
    assert_eq!((quantiles("-"), quantiles("a.npz")), (expected.clone(), expected));
}

#[test]
#[cfg(unix)]
fn closed_pipes_and_full_devices() {
    let folder = Folder::new();
    folder.put("a.npy", npy("<f8", &[20_000], &[0; 160_000])).put("b.npy", npy("<f8", &[20_000], &[1; 160_000]));
    for args in ["--max-mismatch 20000", "--max-mismatch 20000 --json"] {
        let run = folder.status_before_pipe(&format!("diff a.npy b.npy {args}"), "true");
        assert_eq!((run.stdout.as_slice(), run.stderr.as_str()), (&b"1\n"[..], ""), "{args}");
        let run = folder.script(&format!("$T diff a.npy b.npy {args} > /dev/full"));
        assert_eq!(run.status, Some(2), "{args}: {}", run.stderr);
        assert!(run.stderr.starts_with("error: standard output: "), "{args}: {}", run.stderr);
    }
}

#[test]
fn refused() {
    let folder = folder();
    folder.put("short.npy", &folder.get("d.npy")[..150]).put("empty", b"").put("text", b"abc");
    folder.put("big.npy", npy(">u2", &[1], &[0x3f, 0x80]));
    let rows: &[(&str, &[&str])] = &[
        ("", &["<EXPECTED>"]),
        ("d.npy", &["<ACTUAL>"]),
        ("d.npy d.npy d.npy", &["d.npy"]),
        ("d.npy d.npy --atol -1", &["--atol", "-1", "0 or more"]),
        ("d.npy d.npy --atol nan", &["--atol", "nan"]),
        ("d.npy d.npy --atol=", &["--atol"]),
        ("d.npy d.npy --rtol inf", &["--rtol", "inf"]),
        ("d.npy d.npy --rtol 1e", &["--rtol", "1e"]),
        ("d.npy d.npy --ulp -1", &["--ulp", "-1", "whole number"]),
        ("d.npy d.npy --ulp 1.5", &["--ulp", "1.5"]),
        ("d.npy d.npy --ulp 18446744073709551616", &["--ulp"]),
        ("d.npy d.npy --max-mismatch -1", &["--max-mismatch", "-1"]),
        ("d.npy d.npy -o x", &["-o"]),
        ("d.npy d.npy --threads 0", &["--threads"]),
        ("d.npy d.npy --dtype nope", &["--dtype", "nope"]),
        ("- -", &["ACTUAL", "standard input can be one operand only"]),
        ("none.npy d.npy", &["EXPECTED none.npy", "(os error 2)"]),
        ("d.npy none.npz:x", &["ACTUAL none.npz:x", "(os error 2)"]),
        (". d.npy", &["EXPECTED .", "folder"]),
        ("d.npy short.npy", &["ACTUAL short.npy", "22 bytes of data, expected 40"]),
        ("d.npy empty", &["ACTUAL empty", "empty"]),
        ("d.npy text", &["ACTUAL text", "not a tensor: begins with"]),
        ("d.npy -", &["ACTUAL (standard input)", "empty"]),
        ("d.npy two.npz", &["ACTUAL two.npz", "holds 2 tensors", "\"d\", \"x\""]),
        ("d.npy two.npz:D", &["ACTUAL two.npz:D", "no tensor \"D\"", "did you mean \"d\"?"]),
        ("d.npy d.npy:d", &["ACTUAL d.npy:d", "npy", "no members"]),
        ("d.npy [[1],[2,3]]", &["ACTUAL [[1],[2,3]]", "length"]),
        ("i.npy [1,2.5]", &["ACTUAL [1,2.5]", "2.5"]),
        ("[1,\"a\"] [1,2]", &["EXPECTED", "\"a\""]),
        ("d.npy e.npy --dtype int32", &["EXPECTED d.npy", "float32", "int32"]),
        ("big.npy [1] --dtype bfloat16", &["EXPECTED big.npy", "big-endian", "--byte-order little"]),
        ("d.npy d.npy --from json", &["EXPECTED d.npy"]),
        ("d.npy d.npy --from npz", &["EXPECTED d.npy", "ZIP"]),
    ];
    each(
        rows,
        |(args, _)| format!("`{args}`"),
        |(args, fragments)| {
            folder.refuses(words(&format!("diff {args}")), fragments)?;
            Ok(())
        },
    );
}
