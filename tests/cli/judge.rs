//! `tensorop check` as a judge: outputs of graphs in any order, the markers of other runtimes, tests that are damaged, known
//! failures, tolerances, filters, JUnit XML.

use std::fs;

use crate::check::{case, int64, model, model_of_outputs, put_test, slice};
use crate::common::{Field, Folder, each, header, npy_with_header, npz, protobuf, tensor, words};
use Field::{Bytes, Number};

/// Runs `check` with those arguments in the folder, and compares the status, and some lines of what it prints to both streams.
#[track_caller]
fn checks(folder: &Folder, rows: &[(&str, i32, &[&str])]) {
    each(
        rows,
        |(args, ..)| (*args).to_owned(),
        |(args, status, lines)| {
            let run = folder.run(words(&format!("check {args}")));
            let text = format!("{}{}", String::from_utf8_lossy(&run.stdout), run.stderr);
            let has = |line: &&&str| match line.strip_prefix("not ") {
                None => text.lines().any(|found| found == **line),
                Some(absent) => !text.contains(absent),
            };
            match lines.iter().find(|line| !has(line)) {
                None if run.status == Some(*status) => Ok(()),
                lacks => Err(format!("status {:?}, {lacks:?}: {text}", run.status)),
            }
        },
    );
}

/// A node Split with three outputs of those names, an empty one being left out.
fn thirds(outputs: [&str; 3]) -> Vec<u8> {
    let outputs = outputs.map(|name| (2, Bytes(name.as_bytes())));
    let fields: Vec<_> = [(1, Bytes(b"x0")), (4, Bytes(b"Split"))].into_iter().chain(outputs).collect();
    protobuf(&fields)
}

/// A shape and its items.
type Items<'a> = (&'a [usize], &'a [i64]);

#[test]
fn outputs_of_the_graph() {
    let folder = Folder::new();
    let name = |name: &str| protobuf(&[(8, Bytes(name.as_bytes()))]);
    let constant = [int64(&[1], &[7]), name("c")].concat();
    let value = protobuf(&[(1, Bytes(b"value_int")), (3, Number(9)), (20, Number(2))]);
    let nine = protobuf(&[(2, Bytes(b"nine")), (4, Bytes(b"Constant")), (5, Bytes(&value))]);
    let put = |test: &str, node: [&str; 3], outputs: &[&str], items: &[Items<'_>]| {
        let model = model_of_outputs(13, &[nine.clone(), thirds(node)], 1, outputs, &[(5, constant.clone())]);
        put_test(&folder, test, model);
        for (n, (shape, items)) in items.iter().enumerate() {
            folder.put(format!("{test}/test_data_set_0/output_{n}.pb"), int64(shape, items));
        }
    };
    let [a, b, c]: [Items<'_>; 3] = [(&[1], &[10]), (&[1], &[20]), (&[1], &[30])];
    let all = ["a", "b", "y"];
    put("t/in-order", all, &all, &[a, b, c]);
    put("t/reordered", all, &["y", "a", "b"], &[c, a, b]);
    put("t/swapped", all, &["b", "a", "y"], &[b, a, c]);
    put("t/subset", all, &["y", "a"], &[c, a]);
    put("t/last", all, &["y"], &[c]);
    put("t/twice", all, &["b", "b"], &[b, b]);
    put("t/left-out", ["a", "", "y"], &["y", "a"], &[c, a]);
    put("t/input", all, &["x0", "b"], &[(&[3], &[10, 20, 30]), b]);
    put("t/initialiser", all, &["b", "c"], &[b, (&[1], &[7])]);
    put("t/constant", all, &["nine", "b"], &[(&[], &[9]), b]);
    checks(&folder, &[("t -q", 0, &["10 passed, 0 failed, 0 unsupported, 0 broken"])]);
    // the outputs that are saved have the numbers of the graph's
    let run = folder.run(words("check t --only reordered/0 --save out"));
    assert_eq!(run.status, Some(0), "{run:?}");
    for (n, item) in [30, 10, 20].into_iter().enumerate() {
        assert_eq!(folder.get(format!("out/reordered/0/output_{n}.npy")), tensor::<i64>(&[1], &[item]).npy());
    }
    checks(&folder, &[("t --only reordered/0 --actual out -q", 0, &["1 passed, 0 failed, 0 unsupported, 0 broken"])]);

    put("u/wrong-order", all, &["b", "a", "y"], &[a, b, c]);
    put("u/unknown", all, &["a", "nowhere"], &[a, b]);
    put("u/unnamed", all, &["a", ""], &[a, b]);
    put("u/none", all, &[], &[a]);
    put("u/more", all, &["a"], &[a, b]);
    put("u/fewer", all, &["a", "b"], &[a]);
    fs::remove_file(folder.path("u/fewer/test_data_set_0/output_0.pb")).unwrap();
    checks(
        &folder,
        &[(
            "u",
            1,
            &[
                "failed  wrong-order/0: output 0: 1 of 1 item differs, first at [0]: expected 10, got 20",
                "broken  unknown/0: model.onnx: the output \"nowhere\" of the graph is not defined in the model",
                "broken  unnamed/0: model.onnx: an output of the graph has no name",
                "broken  none/0: model.onnx: the graph has no outputs",
                "broken  more/0: output_1.pb: the graph has 1 output",
                "0 passed, 1 failed, 0 unsupported, 5 broken",
            ],
        )],
    );
}

/// Two cases, one of which must be refused, and their results from another runtime.
fn folder_with_results() -> Folder {
    let folder = Folder::new();
    let cases = [
        case("plain", r#""output": [1, 2]"#),
        case("refused", r#""error": "step 0""#).replace("[0], [2]", "[0], [2], [0], [0]"),
    ];
    folder.put("cases.json", format!("[{}]", cases.join(", ")));
    fs::create_dir_all(folder.path("out/cases#plain")).unwrap();
    fs::create_dir_all(folder.path("out/cases#refused")).unwrap();
    folder
}

#[test]
fn markers_of_other_runtimes() {
    let (right, wrong) = (tensor::<i64>(&[2], &[1, 2]).npy(), tensor::<i64>(&[1], &[1]).npy());
    let (plain, refused) = ("out/cases#plain", "out/cases#refused");
    // files of both tests, and the lines of the report
    type Files<'a> = &'a [(&'a str, &'a [u8])];
    let rows: &[(&str, Files<'_>, Files<'_>, &str)] = &[
        (
            "both right",
            &[("output.npy", &right)],
            &[("refused", b"step 0")],
            "2 passed, 0 failed, 0 unsupported, 0 broken",
        ),
        (
            "an empty message",
            &[("output.npy", &right)],
            &[("refused", b"")],
            "2 passed, 0 failed, 0 unsupported, 0 broken",
        ),
        ("nothing for a refusal", &[("output.npy", &right)], &[], "failed  cases#refused: no result"),
        ("nothing at all", &[], &[], "  Slice          0        0          2        0"),
        ("crashed", &[("output.npy", &right)], &[("crashed", b"SIGSEGV\n")], "failed  cases#refused: crashed: SIGSEGV"),
        (
            "refused",
            &[("refused", b"Not\n  implemented\n")],
            &[("refused", b"")],
            "failed  cases#plain: refused: Not implemented",
        ),
        (
            "refused, in the table",
            &[("refused", b"")],
            &[("refused", b"")],
            "  Slice          1        0          0        1",
        ),
        ("refused without a message", &[("refused", b" \n")], &[], "failed  cases#plain: refused"),
        ("crashed with an output", &[("output.npy", &right), ("crashed", b"")], &[], "failed  cases#plain: crashed"),
        (
            "an output and refused",
            &[("output_0.npy", &right), ("refused", b"x")],
            &[],
            "failed  cases#plain: wrote output_0.npy and refused, expected one of them",
        ),
        (
            "an output and refused where it must be",
            &[],
            &[("output.npy", &wrong), ("refused", b"x")],
            "failed  cases#refused: wrote output.npy and refused, expected one of them",
        ),
        ("taken", &[], &[("output_0.npy", &wrong)], "failed  cases#refused: gave int64 [1], expected an error: step 0"),
        (
            "more outputs",
            &[("output_0.npy", &right), ("output_1.npy", &right)],
            &[],
            "failed  cases#plain: wrote output_1.npy, expected 1 output",
        ),
        (
            "two files for an output",
            &[("output.npy", &right), ("output_0.npy", &wrong)],
            &[],
            "failed  cases#plain: wrote output.npy and output_0.npy for one output",
        ),
        (
            "an output in two formats",
            &[("output_0.npy", &right), ("output.pb", b"x")],
            &[],
            "failed  cases#plain: wrote output.pb and output_0.npy for one output",
        ),
        (
            "unsupported",
            &[("unsupported", b"no type\n bfloat16\n")],
            &[("refused", b"")],
            "unsupported  no type bfloat16: 1",
        ),
        (
            "unsupported, in the counts",
            &[("output.npy", &right)],
            &[("unsupported", b"no type")],
            "1 passed, 0 failed, 1 unsupported, 0 broken",
        ),
        (
            "unsupported, not in the table",
            &[("unsupported", b"no type")],
            &[("refused", b"")],
            "  Slice          1        0          0        0",
        ),
        ("unsupported without a message", &[("unsupported", b"")], &[], "unsupported  unsupported: 1"),
        (
            "an output and unsupported",
            &[("output.npy", &right), ("unsupported", b"x")],
            &[],
            "failed  cases#plain: wrote output.npy and unsupported, expected one of them",
        ),
        (
            "an output and unsupported where it must be refused",
            &[],
            &[("output_0.npy", &wrong), ("unsupported", b"x")],
            "failed  cases#refused: wrote output_0.npy and unsupported, expected one of them",
        ),
        (
            "refused and unsupported",
            &[],
            &[("refused", b""), ("unsupported", b"")],
            "failed  cases#refused: wrote refused and unsupported, expected one of them",
        ),
        (
            "crashed and unsupported",
            &[("crashed", b""), ("unsupported", b"")],
            &[],
            "failed  cases#plain: wrote crashed and unsupported, expected one of them",
        ),
        (
            "crashed and refused",
            &[("crashed", b""), ("refused", b"")],
            &[],
            "failed  cases#plain: wrote crashed and refused, expected one of them",
        ),
        ("a control character", &[("refused", b"\x1b[31m")], &[], "failed  cases#plain: refused: \\u{1b}[31m"),
    ];
    each(
        rows,
        |(name, ..)| (*name).to_owned(),
        |(_, of_plain, of_refused, line)| {
            let folder = folder_with_results();
            for (test, files) in [(plain, of_plain), (refused, of_refused)] {
                for (name, bytes) in *files {
                    folder.put(format!("{test}/{name}"), bytes);
                }
            }
            let run = folder.run(words("check cases.json --actual out"));
            let text = String::from_utf8(run.stdout).unwrap();
            let status = Some(i32::from(!text.contains(" passed, 0 failed, ")));
            let is_right = run.status == status && run.stderr.is_empty() && text.lines().any(|found| found == *line);
            if is_right { Ok(()) } else { Err(format!("{:?}: {text}{}", run.status, run.stderr)) }
        },
    );
    // a folder is not a marker
    let folder = folder_with_results();
    folder.put("out/cases#plain/output.npy", &right);
    for name in ["out/cases#refused/refused", "out/cases#plain/crashed"] {
        fs::create_dir(folder.path(name)).unwrap();
    }
    let run = folder.run(words("check cases.json --actual out"));
    let text = String::from_utf8(run.stdout).unwrap();
    assert!(text.contains("failed  cases#refused: no result\n") && text.contains("1 passed, 1 failed"), "{text}");
    // a long message is cut
    let folder = folder_with_results();
    folder.put("out/cases#plain/refused", "a ".repeat(100_000));
    let run = folder.run(words("check cases.json --actual out"));
    assert!(run.stdout.len() < 1000, "{run:?}");
}

#[test]
fn what_a_runtime_does_not_support() {
    let folder = folder_with_results();
    folder.put("out/cases#plain/output.npy", tensor::<i64>(&[2], &[1, 2]).npy());
    folder.put("out/cases#refused/unsupported", "no <type> bfloat16");
    checks(
        &folder,
        &[
            ("cases.json --actual out -q", 0, &["1 passed, 0 failed, 1 unsupported, 0 broken"]),
            ("cases.json --actual out -q --max-unsupported 1", 0, &[]),
            ("cases.json --actual out -q --max-unsupported 0", 1, &["1 test is unsupported, expected at most 0"]),
            ("cases.json --actual out --verdict unsupported", 0, &["unsupported  cases#refused: no <type> bfloat16"]),
        ],
    );
    let run = folder.run(words("check cases.json --actual out --json --junit report.xml"));
    let json: serde_json::Value = serde_json::from_slice(&run.stdout).expect("one object");
    let test = &json["tests"][1];
    assert_eq!(
        (&json["unsupported"], &test["verdict"], &test["class"]),
        (&1.into(), &"unsupported".into(), &"must".into())
    );
    assert_eq!((&test["reason"], &test["failure"]), (&"no <type> bfloat16".into(), &serde_json::Value::Null));
    let xml = String::from_utf8(folder.get("report.xml")).unwrap();
    assert!(xml.contains("<skipped message=\"unsupported: no &lt;type&gt; bfloat16\""), "{xml}");
}

/// Neither specification has strings of a width, so outputs may have any.
#[test]
fn strings_of_any_width() {
    let folder = Folder::new();
    let strings = r#"{"dtype": "<U3", "data": ["a", "bcd", "e"]}"#;
    let of = |id: &str, output: &str| {
        case(id, &format!(r#""output": {{"data": {output}, "dtype": "str"}}"#))
            .replace("[1, 2, 3]", strings)
            .replace("[2]", "[1]")
    };
    folder.put("cases.json", format!("[{}, {}]", of("same", r#"["a"]"#), of("other", r#"["b"]"#)));
    let lines = ["failed  cases#other: 1 of 1 item differs, first at [0]: expected \"b\", got \"a\"", "not #same"];
    checks(&folder, &[("cases.json --save out", 1, &lines)]);
    // NumPy's files have a width
    folder.put("wide.json", r#"{"dtype": "<U9", "data": ["a"]}"#);
    assert_eq!(folder.run(words("convert wide.json -o out/cases#same/output.npy")).status, Some(0));
    checks(&folder, &[("cases.json --actual out", 1, &lines)]);
    folder.put("bytes.json", r#"{"dtype": "S1", "data": ["a"]}"#);
    assert_eq!(folder.run(words("convert bytes.json -o out/cases#same/output.npy")).status, Some(0));
    checks(&folder, &[("cases.json --actual out", 1, &["failed  cases#same: dtype |S1, expected <U1"])]);
}

#[test]
fn results_of_no_test() {
    let folder = folder_with_results();
    folder.put("out/cases#plain/output.npy", tensor::<i64>(&[2], &[1, 2]).npy()).put("out/cases#refused/refused", "");
    let judged = |args: &str| {
        let run = folder.run(words(&format!("check cases.json --actual out -q {args}")));
        assert_eq!(run.status, Some(0), "{run:?}");
        run.stderr
    };
    assert_eq!(judged(""), "");
    // tests that are left out are tests all the same
    assert_eq!(judged("--only *refused"), "");
    folder.put("out/notes.txt", "");
    fs::create_dir_all(folder.path("out/empty/deep")).unwrap();
    fs::create_dir_all(folder.path("out/other/0")).unwrap();
    folder.put("out/other/0/crashed", "");
    assert_eq!(judged(""), "--actual out: 1 result belongs to no test: other/0\n");
    for n in 1..9 {
        fs::create_dir_all(folder.path(format!("out/other/{n}"))).unwrap();
        folder.put(format!("out/other/{n}/output_0.pb"), "");
    }
    folder.put("out/refused", "");
    assert_eq!(judged(""), "--actual out: 10 results belong to no test: ., other/0, other/1, other/2, other/3, …\n");
}

#[test]
fn tests_that_nothing_specifies() {
    let folder = Folder::new();
    let of = |id: &str, specification: &str, operator: &str, version: u64, attributes: &str| {
        format!(
            r#"{{"id": "{id}", "specification": "{specification}", "operator": "{operator}", "version": {version}, "attributes": {{{attributes}}}, "inputs": [[1, 2], [0], [1], [1]], "output": [1]}}"#
        )
    };
    let cases = [
        of("good", "openvino", "Slice", 8, ""),
        of("onnx", "onnx", "Relu", 13, ""),
        of("openvino", "openvino", "Relu", 1, ""),
        of("domain", "onnx", "com.microsoft::FusedGemm", 1, r#""any": 1"#),
        of("older", "onnx", "Slice", 13, r#""starts": [0]"#).replace(", [1], [1]]", ", [1]]"),
        of("operator", "onnx", "Slise", 13, ""),
        of("version", "openvino", "Slice", 9, ""),
        of("opset", "onnx", "ScatterND", 10, ""),
        of("newer", "onnx", "ScatterND", 1000, ""),
        of("attribute", "openvino", "Slice", 8, r#""stpe": 1"#),
    ];
    folder.put("cases.json", format!("[{}]", cases.join(", ")));
    put_test(&folder, "t/a", model(13, &[slice()], 3, &[]));
    put_test(&folder, "u/a", model(13, &[slice()], 3, &[]));
    checks(
        &folder,
        &[
            (
                "cases.json",
                1,
                &[
                    "broken  cases#operator: neither ONNX nor OpenVINO has an operator Slise",
                    "broken  cases#version: OpenVINO Slice has no version 9, expected 8",
                    "broken  cases#opset: ONNX ScatterND has no version 10, it begins with opset 11",
                    "broken  cases#newer: ONNX has no opset 1000 of ai.onnx, the newest is 28",
                    "broken  cases#attribute: OpenVINO Slice has no attribute stpe, nor any other",
                    "failed  cases#older: refused: attributes: ONNX Slice-13 has no starts, other versions have",
                    "1 passed, 1 failed, 3 unsupported, 5 broken",
                ],
            ),
            ("cases.json --only *#good --only *#onnx", 0, &["1 passed, 0 failed, 1 unsupported, 0 broken"]),
            // an id that occurs twice
            ("t u", 1, &["broken  a/0: another test has the same id", "1 passed, 0 failed, 0 unsupported, 1 broken"]),
            ("t/a u/a t/a", 1, &["1 passed, 0 failed, 0 unsupported, 2 broken"]),
            ("t u --exclude *", 1, &["0 passed, 0 failed, 0 unsupported, 0 broken"]),
        ],
    );
}

/// Cases that pass, fail, are unsupported or broken, and two of another operator.
fn folder_of_all_verdicts() -> Folder {
    let folder = Folder::new();
    let gather = |id: &str, output: &str| {
        format!(
            r#"{{"id": "{id}", "specification": "onnx", "operator": "Gather", "version": 13, "inputs": [[1, 2, 3], [0]], "output": {output}}}"#
        )
    };
    let cases = [
        case("right", r#""output": [1, 2]"#),
        case("wrong", r#""output": [1, 3]"#),
        case("relu", r#""output": [1, 3]"#).replace("\"Slice\"", "\"Relu\""),
        case("lu", r#""output": [1, 3]"#).replace("\"Slice\"", "\"Lu\""),
        gather("gather", "[1]"),
        gather("rank", "[[1]]"),
    ];
    folder.put("cases.json", format!("[{}]", cases.join(", ")));
    folder
}

#[test]
fn which_tests_are_run_and_listed() {
    let folder = folder_of_all_verdicts();
    let all = "2 passed, 2 failed, 1 unsupported, 1 broken";
    checks(
        &folder,
        &[
            (
                "cases.json",
                1,
                &[
                    "failed  cases#rank: shape [1], expected [1, 1]",
                    "unsupported  ONNX Relu-13: 1",
                    "  operator  passed  differs  no result  refused",
                    "  Gather         1        1          0        0",
                    "  Slice          1        1          0        0",
                    all,
                ],
            ),
            (
                "cases.json --operator Gather",
                1,
                &["  Gather         1        1          0        0", "not Slice", "not relu", "not #lu"],
            ),
            ("cases.json --operator gather", 1, &["1 passed, 1 failed, 0 unsupported, 0 broken"]),
            ("cases.json --operator gather --only *gather", 0, &["1 passed, 0 failed, 0 unsupported, 0 broken"]),
            ("cases.json --operator lu", 1, &["0 passed, 0 failed, 0 unsupported, 1 broken"]),
            ("cases.json --class choice", 1, &["0 passed, 0 failed, 0 unsupported, 0 broken"]),
            (
                "cases.json --exclude *lu --operator slice --operator Gather",
                1,
                &["2 passed, 2 failed, 0 unsupported, 0 broken"],
            ),
            ("cases.json --list --exclude *lu --operator gather", 0, &["cases#gather", "cases#rank", "not right"]),
            ("cases.json --verdict passed", 1, &["passed  cases#right", "passed  cases#gather", "not rank", all]),
            (
                "cases.json --verdict failed",
                1,
                &["failed  cases#rank: shape [1], expected [1, 1]", "not cases#lu", "not Relu", all],
            ),
            (
                "cases.json --verdict unsupported,broken",
                1,
                &["unsupported  cases#relu: ONNX Relu-13", "not #rank", all],
            ),
            (
                "cases.json --verdict unsupported,passed",
                1,
                &["unsupported  cases#relu: ONNX Relu-13", "passed  cases#right", all],
            ),
            // how many may be unsupported
            ("cases.json --only *right --only *relu", 0, &[]),
            ("cases.json --only *right --only *relu --max-unsupported 1", 0, &[]),
            (
                "cases.json --only *right --only *relu --max-unsupported 0",
                1,
                &["1 test is unsupported, expected at most 0"],
            ),
        ],
    );
    let run = folder.run(words("check cases.json --json --verdict failed,unsupported"));
    let json: serde_json::Value = serde_json::from_slice(&run.stdout).expect("one object");
    let of_tests =
        |key: &str| json["tests"].as_array().unwrap().iter().map(|test| test[key].clone()).collect::<Vec<_>>();
    assert_eq!(of_tests("id"), ["cases#wrong", "cases#relu", "cases#rank"]);
    assert_eq!(of_tests("failure"), [Some("differs"), None, Some("differs")].map(serde_json::Value::from));
    assert_eq!((json["passed"].as_u64(), json["operators"][1]["operator"].as_str()), (Some(2), Some("Slice")));
    for (args, fragment) in [
        ("cases.json --verdict maybe", "maybe"),
        ("cases.json --verdict failed -q", "cannot be used with"),
        ("cases.json --list --verdict failed", "cannot be used with"),
        ("cases.json --max-unsupported some", "expected a whole number"),
    ] {
        folder.refuses(words(&format!("check {args}")), &[fragment]).unwrap();
    }
    let run = folder.run(words("check cases.json --json --only *#lu"));
    let json: serde_json::Value = serde_json::from_slice(&run.stdout).expect("one object");
    let test = &json["tests"][0];
    assert_eq!((test["verdict"].as_str(), test["operator"].as_str()), (Some("broken"), Some("Lu")), "{json}");
    assert!(test["version"].is_u64() && test["class"] == "must", "{json}");
    // a pattern or an operator that no test has is found before any test runs or an output is written
    for (args, message) in [
        ("--rtol none*=1", "error: --rtol none*: matches no test id\n"),
        ("--atol none*=1", "error: --atol none*: matches no test id\n"),
        ("--ulp none*=1", "error: --ulp none*: matches no test id\n"),
        ("--operator Frobnicate", "error: --operator Frobnicate: no test has this operator\n"),
    ] {
        let run = folder.run(words(&format!("check cases.json --save saved --junit report.xml {args}")));
        assert_eq!((run.status, run.stderr.as_str(), &run.stdout[..]), (Some(2), message, &b""[..]), "{args}");
        assert!(!folder.path("saved").exists() && !folder.path("report.xml").exists(), "{args}");
    }
}

#[test]
fn tolerances_of_each_test() {
    let folder = Folder::new();
    let cases = [
        case("far", r#""output": [1, 4], "atol": 1"#),
        case("near", r#""output": [1, 3], "ulp": 1"#),
        case("relative", r#""output": [1, 3], "rtol": 0.4"#),
        case("exact", r#""output": [1, 3]"#),
        case("negative", r#""output": [1, 2], "rtol": -1"#),
    ];
    folder.put("cases.json", format!("[{}]", cases.join(", ")));
    // a model has them in the file beside it
    put_test(&folder, "t/model", model(13, &[slice()], 3, &[]));
    folder.put("t/model/test_data_set_0/output_0.pb", int64(&[2], &[10, 21]));
    let counts = |passed: usize, failed: usize| format!("{passed} passed, {failed} failed, 0 unsupported, 0 broken");
    let (two, three, four) = (counts(2, 2), counts(3, 1), counts(4, 0));
    let all = "cases.json --exclude *negative -q";
    checks(
        &folder,
        &[
            ("cases.json", 1, &["broken  cases#negative: rtol is -1, expected a number, 0 or more"]),
            (all, 1, &[&two]),
            // the command line takes the place of the test's own, for each of the three
            (&format!("{all} --atol 2"), 0, &[&four]),
            (&format!("{all} --atol *far=2"), 1, &[&three]),
            (&format!("{all} --atol *far=2 --ulp *exact=1"), 0, &[&four]),
            (&format!("{all} --atol 2 --atol *exact=0"), 1, &[&three]),
            (&format!("{all} --atol *exact=0 --atol 2"), 0, &[&four]),
            (&format!("{all} --ulp *near=0 --rtol *relative=0"), 1, &[&counts(0, 4)]),
            ("t -q", 1, &["0 passed, 1 failed, 0 unsupported, 0 broken"]),
        ],
    );
    folder.put("t/model/about.json", r#"{"ulp": 1}"#);
    checks(&folder, &[("t -q", 0, &["1 passed, 0 failed, 0 unsupported, 0 broken"])]);
    folder.put("t/model/about.json", r#"{"atol": -0.5}"#);
    checks(&folder, &[("t", 1, &["broken  model/0: about.json: atol is -0.5, expected a number, 0 or more"])]);
}

#[test]
fn known_failures() {
    let folder = folder_of_all_verdicts();
    let counts = "2 passed, 2 failed, 1 unsupported, 0 broken";
    folder.put("known.txt", "# both fail\r\n\n  cases#wrong  # an item\ncases#rank\n");
    folder.put("less.txt", "cases#wrong\n").put("more.txt", "cases#wrong\ncases#rank\ncases#right\n");
    folder
        .put("stale.txt", "cases#wrong\ncases#rank\ncases#gone\n")
        .put("idle.txt", "cases#wrong\ncases#rank\ncases#relu\n");
    folder.put("broken.txt", "cases#wrong\ncases#rank\ncases#lu\n").put("latin.txt", b"\xe9");
    let all = "cases.json --exclude *#lu";
    checks(
        &folder,
        &[
            (&format!("{all} --expect known.txt"), 0, &["known to fail  known.txt: 2", counts, "not failed  cases"]),
            (&format!("{all} --expect known.txt -q"), 0, &[counts]),
            (
                &format!("{all} --expect known.txt --verdict failed"),
                0,
                &["failed  cases#rank: shape [1], expected [1, 1]"],
            ),
            (&format!("{all} --expect less.txt"), 1, &["failed  cases#rank: shape [1], expected [1, 1]", "not #wrong"]),
            (
                &format!("{all} --expect more.txt"),
                1,
                &["passed  cases#right: more.txt lists it as a test that fails", counts],
            ),
            (
                &format!("{all} --expect stale.txt"),
                1,
                &[
                    "broken  cases#gone: stale.txt lists this id, and no test has it",
                    "2 passed, 2 failed, 1 unsupported, 1 broken",
                ],
            ),
            // unsupported tests neither pass nor fail, and those that are left out are tests
            (&format!("{all} --expect idle.txt"), 0, &[counts]),
            (&format!("{all} --expect known.txt --only *#gather"), 0, &["1 passed, 0 failed, 0 unsupported, 0 broken"]),
            // a test that is broken is not a failure that is known
            ("cases.json --expect broken.txt", 1, &["broken  cases#lu: neither ONNX nor OpenVINO has an operator Lu"]),
        ],
    );
    let run = folder.run(words(&format!("check {all} --expect known.txt --json")));
    let json: serde_json::Value = serde_json::from_slice(&run.stdout).expect("one object");
    let known = json["tests"].as_array().unwrap().iter().filter(|test| test["known"] == true).count();
    assert_eq!((run.status, known), (Some(0), 2));
    for (args, fragment) in [
        ("--expect none.txt", "--expect none.txt: No such file"),
        ("--expect latin.txt", "--expect latin.txt: not UTF-8"),
        ("--expect known.txt --list", "cannot be used with"),
    ] {
        folder.refuses(words(&format!("check cases.json {args}")), &[fragment]).unwrap();
    }
}

#[test]
fn junit_xml() {
    let folder = folder_of_all_verdicts();
    folder.put("known.txt", "cases#rank\n");
    let run = folder.run(words("check cases.json --junit report.xml --expect known.txt --verdict passed"));
    assert_eq!((run.status, run.stderr.as_str()), (Some(1), ""));
    let wanted = r#"<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="tensorop check" tests="6" failures="1" errors="1" skipped="2" time="0">
  <testsuite name="tensorop check" tests="6" failures="1" errors="1" skipped="2" time="0">
    <testcase classname="check.Slice" name="cases#right" time="0"/>
    <testcase classname="check.Slice" name="cases#wrong" time="0"><failure type="differs" message="1 of 2 items differ, first at [1]: expected 3, got 2">1 of 2 items differ, first at [1]: expected 3, got 2</failure></testcase>
    <testcase classname="check.Relu" name="cases#relu" time="0"><skipped message="unsupported: ONNX Relu-13"/></testcase>
    <testcase classname="check.Lu" name="cases#lu" time="0"><error type="error" message="neither ONNX nor OpenVINO has an operator Lu">neither ONNX nor OpenVINO has an operator Lu</error></testcase>
    <testcase classname="check.Gather" name="cases#gather" time="0"/>
    <testcase classname="check.Gather" name="cases#rank" time="0"><skipped message="known to fail (known.txt): shape [1], expected [1, 1]"/></testcase>
  </testsuite>
</testsuites>
"#;
    assert_eq!(String::from_utf8(folder.get("report.xml")).unwrap(), wanted);
    // a test that passes unexpectedly, a name with markup, and messages with control characters
    folder.put("known.txt", "cases#right\n");
    let odd = case("<a> & \\\"b\\\"", r#""error": "\u001b[31m""#);
    folder.put("odd.json", format!("[{odd}]"));
    folder.run(words("check cases.json odd.json --junit report.xml --expect known.txt --json"));
    let text = String::from_utf8(folder.get("report.xml")).unwrap();
    for part in [
        r#"name="odd#&lt;a&gt; &amp; &quot;b&quot;" time="0"><failure type="differs" message="gave int64 [2], expected an error: \u{1b}[31m">"#,
        r#"<failure type="passed" message="passed, but known.txt lists it as a test that fails">"#,
    ] {
        assert!(text.contains(part), "{text} lacks {part}");
    }
    // the report replaces another when it is complete, and a run that ends early leaves it
    folder.run(words("check cases.json --junit report.xml --only nothing"));
    assert_eq!(String::from_utf8(folder.get("report.xml")).unwrap(), text);
    for (args, fragment) in [
        ("--junit cases.json/report.xml", "--junit cases.json/report.xml: "),
        ("--junit -", "--junit: standard output has the report: name a file"),
        ("--junit cases.json", "--junit cases.json: exists and is not an XML report"),
        ("--junit known.txt", "--junit known.txt: exists and is not an XML report"),
        ("--junit report.xml --list", "cannot be used with"),
    ] {
        folder.refuses(words(&format!("check cases.json {args}")), &[fragment]).unwrap();
    }
    let run = folder.run(words("check cases.json none --junit report.xml"));
    assert!(run.status == Some(2) && folder.get("report.xml").starts_with(b"<?xml"), "{run:?}");
}

/// The same report of `diff`: a test for each tensor.
#[test]
fn junit_xml_of_diff() {
    let folder = Folder::new();
    let of = |items: &[f32]| tensor::<f32>(&[items.len()], items).npy();
    let (one, two, near) = (of(&[1.0]), of(&[2.0]), of(&[1.001]));
    let unreadable = npy_with_header(&header("|O", false, &[1]), b"x");
    let same = [("same", one.clone()), ("near", one.clone()), ("a<b", one.clone()), ("gone", one.clone())];
    folder.put("e.npz", npz(&[&same[..], &[("objects", unreadable)]].concat()));
    let actual = [("same", one.clone()), ("near", near), ("a<b", two), ("new", one.clone()), ("objects", one.clone())];
    folder.put("a.npz", npz(&actual)).put("one.npy", &one).put("two.npy", of(&[2.0]));
    let run = folder.run(words("diff e.npz a.npz --rtol 0.01 --junit report.xml -q"));
    assert_eq!(run.status, Some(2), "{run:?}");
    let report = || String::from_utf8(folder.get("report.xml")).unwrap();
    let lines = [
        r#"<testsuites name="tensorop diff" tests="6" failures="3" errors="1" skipped="0" time="0">"#,
        r#"    <testcase classname="diff" name="same" time="0"/>"#,
        r#"    <testcase classname="diff" name="near" time="0"/>"#,
        r#"    <testcase classname="diff" name="a&lt;b" time="0"><failure type="different" message="different: "#,
        r#"    <testcase classname="diff" name="gone" time="0"><failure type="missing" message="missing: float32 [1]">"#,
        r#"    <testcase classname="diff" name="new" time="0"><failure type="extra" message="extra: float32 [1]">"#,
        r#"    <testcase classname="diff" name="objects" time="0"><error type="error" message="EXPECTED e.npz:objects: "#,
    ];
    let text = report();
    assert_eq!(lines.iter().find(|line| !text.lines().any(|found| found.starts_with(**line))), None, "{text}");
    let rows: &[(&str, i32, &str)] = &[
        ("diff one.npy one.npy", 0, r#"<testcase classname="diff" name="one.npy" time="0"/>"#),
        (
            "diff one.npy two.npy --json",
            1,
            r#"<testcase classname="diff" name="one.npy" time="0"><failure type="different" message="different: 1 of 1 item (100 %) of float32 [1]; "#,
        ),
        ("diff e.npz:same a.npz", 0, r#"<testcase classname="diff" name="same" time="0"/>"#),
        ("diff e.npz a.npz --only same --json", 0, r#"tests="1" failures="0" errors="0""#),
    ];
    each(
        rows,
        |(args, ..)| (*args).to_owned(),
        |(args, status, part)| {
            let run = folder.run(words(&format!("{args} --junit report.xml")));
            let is_right = run.status == Some(*status) && report().contains(part);
            if is_right { Ok(()) } else { Err(format!("{run:?}: {}", report())) }
        },
    );
    // no tensor is lost, and no folder that is compared gets another file; a report replaces a report or an empty file
    for name in ["left", "right"] {
        fs::create_dir(folder.path(name)).unwrap();
        folder.put(format!("{name}/w.npy"), &one);
    }
    folder.put("made", b"");
    for (args, fragment) in [
        ("left right --junit right/report.xml", "is in ACTUAL right, which is compared"),
        ("left right --junit left/w.npy", "exists and is not an XML report"),
        ("one.npy one.npy --junit one.npy", "--junit one.npy: exists and is not an XML report"),
        ("one.npy one.npy --junit two.npy", "--junit two.npy: exists and is not an XML report"),
    ] {
        folder.refuses(words(&format!("diff {args}")), &[fragment]).unwrap();
    }
    folder.run(words("diff left right --junit made")).printed().unwrap();
    assert!(folder.get("made").starts_with(b"<?xml"));
    let wanted = report();
    for (args, fragment) in [
        ("--accept", "cannot be used with"),
        ("--explain", "cannot be used with"),
        ("--junit none/report.xml", "cannot be used multiple times"),
    ] {
        folder.refuses(words(&format!("diff e.npz a.npz --junit report.xml {args}")), &[fragment]).unwrap();
    }
    folder.refuses(words("diff e.npz a.npz --junit e.npz/report.xml"), &["--junit e.npz/report.xml: "]).unwrap();
    assert_eq!(report(), wanted);
}

/// Another runtime is run: a command for each test, whose results are judged by the same rules as those on disk.
#[cfg(unix)]
#[test]
fn a_runtime_that_is_run() {
    let folder = Folder::new();
    let copies = "cp {inputs}/output_*.pb {out} # {model}";
    let counts = |run: &crate::common::Run| String::from_utf8_lossy(&run.stdout).lines().last().map(str::to_owned);
    let check =
        |more: &str, command: &str| folder.run(words(more).into_iter().chain(["--run".to_owned(), command.to_owned()]));
    let rows: &[(&str, &str, i32, &str)] = &[
        // built-in tests are exported, those of OpenVINO alone only as .npy
        ("check --only split/onnx-11/* --class must -q", copies, 0, "passed, 0 failed, 0 unsupported, 0 broken"),
        ("check --only roll/* --class must --max-unsupported 0 -q", copies, 1, "0 passed, 0 failed"),
        (
            "check --only roll/* --class reject --layout npy -q",
            "touch {out}/refused # {model}",
            0,
            "passed, 0 failed, 0",
        ),
        ("check --only split/onnx-11/* --class reject -q", "touch {out}/refused {model}", 0, "passed, 0 failed, 0"),
        ("check --only split/onnx-11/* --class must -q --jobs 1", "touch {out}/refused {model}", 1, "0 passed, "),
        (
            "check --only split/onnx-11/* -q --min-tests 0",
            "echo no > {out}/unsupported; false {model}",
            0,
            "0 passed, 0 failed",
        ),
    ];
    for (args, command, status, last) in rows {
        let run = check(args, command);
        let found = counts(&run).unwrap_or_default();
        assert!(run.status == Some(*status) && found.contains(last), "{args} {command}: {run:?}");
    }
    // why a command failed, and that its result stays
    let one = "check --only split/onnx-11/equal-in-2 --json --save out";
    let reason = |command: &str, more: &str| {
        let run = check(&format!("{one} {more}"), command);
        let told: serde_json::Value = serde_json::from_slice(&run.stdout).expect("JSON");
        assert_eq!(run.status, Some(1), "{run:?}");
        told["tests"][0]["reason"].as_str().unwrap_or_default().to_owned()
    };
    let id = "split/onnx-11/equal-in-2";
    for (command, more, expected) in [
        ("echo one word >&2; exit 3 # {model} {out}", "", "crashed: exit status: 3: one word"),
        ("kill -9 $$ # {model} {out}", "", "crashed: signal: 9 (SIGKILL)"),
        ("cp {inputs}/output_*.pb {out}; exit 1", "", "crashed: exit status: 1"),
        ("sleep 20 # {model} {out}", "--timeout 0.1", "crashed: killed after 0.1 s"),
        ("mkfifo {out}/output_0.pb # {model}", "", "crashed: output_0.pb is not a file"),
        (": {model} {out}", "", "no result"),
        ("cp {inputs}/input_0.pb {out}/output_0.pb", "", "output 0: "),
    ] {
        let found = reason(command, more);
        assert!(found.starts_with(expected), "{command}: {found}");
    }
    assert!(folder.path(format!("out/{id}/output_0.pb")).exists(), "the results of the last run stay");
    // what a command has started is killed with it
    let late = folder.path("late");
    let command = format!("(sleep 1; : >'{}') & sleep 20 # {{model}} {{out}}", late.display());
    assert_eq!(reason(&command, "--timeout 0.1"), "crashed: killed after 0.1 s");
    std::thread::sleep(std::time::Duration::from_millis(1300));
    assert!(!late.exists(), "its child went on");
    // a folder with tests is run as it is, each data set by its inputs
    folder
        .run(words("check --export vectors --layout onnx -q --only split/onnx-11/equal-in-2"))
        .printed()
        .expect("tests");
    let set = |n: usize| folder.path(format!("vectors/{id}/test_data_set_{n}"));
    std::fs::create_dir(set(1)).expect("a folder");
    for name in ["input_0.pb", "output_0.pb", "output_1.pb"] {
        std::fs::copy(set(0).join(name), set(1).join(name)).expect("a copy");
    }
    let run = check("check vectors -q", "cp {inputs}/output_*.pb {out}");
    assert_eq!(
        (run.status, counts(&run).as_deref()),
        (Some(0), Some("2 passed, 0 failed, 0 unsupported, 0 broken")),
        "{run:?}"
    );
    let run = check("check vectors", "cp $(dirname {model})/test_data_set_0/output_*.pb {out}");
    let text = String::from_utf8_lossy(&run.stdout);
    assert!(run.status == Some(1) && text.contains("the command has no {inputs}"), "{run:?}");
    for (args, command, fragment) in [
        ("check", "mine {model}", "--run \"mine {model}\": expected {model} and {out} in it"),
        ("check", "mine {out}", "--run \"mine {out}\": expected {model} and {out} in it"),
        ("check --timeout 0", "{model} {out}", "expected seconds, from 0.001 to 86400"),
        ("check --timeout nan", "{model} {out}", "expected seconds, from 0.001 to 86400"),
        ("check --jobs 0", "{model} {out}", "expected a whole number, 1 or more"),
        ("check --actual out", "{model} {out}", "cannot be used with"),
        ("check --export new", "{model} {out}", "cannot be used with"),
    ] {
        let args = words(args).into_iter().chain(["--run".to_owned(), command.to_owned()]);
        folder.refuses(args.collect::<Vec<_>>(), &[fragment]).unwrap();
    }
    for (args, fragment) in [("check --jobs 2", "--run"), ("check --layout npy", "--layout: is for --export and --run")]
    {
        folder.refuses(words(args), &[fragment]).unwrap();
    }
}
