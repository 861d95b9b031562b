//! `tensorop check`: tests of every kind and every verdict, its report and status, what other runtimes have written, and
//! the vectors that are a part of the program.

use std::fs;

use crate::common::{Field, Folder, Run, bytes, each, member, pb, protobuf, tensor, words};
use Field::{Bytes, Claims, Number};

/// A TensorProto of int64 items.
pub(crate) fn int64(shape: &[usize], items: &[i64]) -> Vec<u8> {
    pb(member("", "int64", shape, bytes(items)))
}

/// A node of a model: the operator, the names of its inputs, and its attributes as messages.
pub(crate) fn node(operator: &str, inputs: &[&str], attributes: &[Vec<u8>]) -> Vec<u8> {
    let inputs = inputs.iter().map(|name| (1, Bytes(name.as_bytes())));
    let attributes = attributes.iter().map(|attribute| (5, Bytes(attribute)));
    let fields: Vec<_> = inputs.chain([(2, Bytes(b"y")), (4, Bytes(operator.as_bytes()))]).chain(attributes).collect();
    protobuf(&fields)
}

/// A model of that opset with those nodes, whose graph has so many inputs `x0`, `x1` and so on, and the output `y`.
pub(crate) fn model(opset: u64, nodes: &[Vec<u8>], inputs: usize, more: &[(u32, Vec<u8>)]) -> Vec<u8> {
    model_of_outputs(opset, nodes, inputs, &["y"], more)
}

/// The same with those outputs of the graph.
pub(crate) fn model_of_outputs(
    opset: u64,
    nodes: &[Vec<u8>],
    inputs: usize,
    outputs: &[&str],
    more: &[(u32, Vec<u8>)],
) -> Vec<u8> {
    let names: Vec<_> = (0..inputs).map(|n| protobuf(&[(1, Bytes(format!("x{n}").as_bytes()))])).collect();
    let outputs: Vec<_> = outputs.iter().map(|name| protobuf(&[(1, Bytes(name.as_bytes()))])).collect();
    let fields: Vec<_> = nodes
        .iter()
        .map(|node| (1, Bytes(node)))
        .chain(names.iter().map(|name| (11, Bytes(name))))
        .chain(outputs.iter().map(|name| (12, Bytes(name))))
        .chain(more.iter().map(|(number, bytes)| (*number, Bytes(bytes))))
        .collect();
    let graph = protobuf(&fields);
    let import = protobuf(&[(2, Number(opset))]);
    protobuf(&[(1, Number(8)), (7, Bytes(&graph)), (8, Bytes(&import))])
}

/// A folder with an ONNX test of that model: [10, 20, 30] sliced from 0 to 2 gives [10, 20].
pub(crate) fn put_test(folder: &Folder, name: &str, model: Vec<u8>) {
    let set = format!("{name}/test_data_set_0");
    fs::create_dir_all(folder.path(&set)).unwrap();
    folder.put(format!("{name}/model.onnx"), model);
    for (n, (shape, items)) in [(&[3][..], &[10, 20, 30][..]), (&[1], &[0]), (&[1], &[2])].into_iter().enumerate() {
        folder.put(format!("{set}/input_{n}.pb"), int64(shape, items));
    }
    folder.put(format!("{set}/output_0.pb"), int64(&[2], &[10, 20]));
}

pub(crate) fn slice() -> Vec<u8> {
    node("Slice", &["x0", "x1", "x2"], &[])
}

/// A case of slicing [1, 2, 3], with more members.
pub(crate) fn case(id: &str, more: &str) -> String {
    format!(
        r#"{{"id": "{id}", "specification": "onnx", "operator": "Slice", "version": 13, "inputs": [[1, 2, 3], [0], [2]], {more}}}"#
    )
}

#[test]
fn every_verdict() {
    let folder = Folder::new();
    put_test(&folder, "t/good", model(13, &[slice()], 3, &[]));
    put_test(&folder, "t/bad", model(13, &[slice()], 3, &[]));
    folder.put("t/bad/test_data_set_0/output_0.pb", int64(&[2], &[10, 21]));
    put_test(&folder, "t/unknown", model(13, &[node("Softplus", &["x0"], &[])], 3, &[]));
    put_test(&folder, "t/neither", model(13, &[node("Frobnicate", &["x0"], &[])], 3, &[]));
    put_test(&folder, "t/several", model(13, &[slice(), node("Relu", &["y"], &[])], 3, &[]));
    let odd = protobuf(&[(1, Bytes(b"odd")), (3, Number(1)), (20, Number(2))]);
    put_test(&folder, "t/attribute", model(13, &[node("Slice", &["x0", "x1", "x2"], &[odd])], 3, &[]));
    put_test(&folder, "t/cut", model(13, &[slice()], 3, &[])[..20].to_vec());
    put_test(&folder, "t/no_input", model(13, &[slice()], 3, &[]));
    fs::remove_file(folder.path("t/no_input/test_data_set_0/input_1.pb")).unwrap();
    put_test(&folder, "t/no_output", model(13, &[slice()], 3, &[]));
    fs::remove_file(folder.path("t/no_output/test_data_set_0/output_0.pb")).unwrap();
    fs::create_dir_all(folder.path("t/no_set")).unwrap();
    folder.put("t/no_set/model.onnx", model(13, &[slice()], 3, &[]));
    let cases = [
        case("right", r#""output": [1, 2], "class": "must""#),
        case("wrong", r#""output": [1, 2, 3], "class": "choice""#),
        case("dtype", r#""output": {"dtype": "int8", "data": [1, 2]}"#),
        case("taken", r#""error": "nothing may come", "class": "reject""#),
        case("key", r#""output": [1, 2], "colour": "red""#),
        case("a/../../up", r#""output": [1, 2]"#),
    ];
    folder.put("t/cases.json", format!("[{}, 7]", cases.join(",\n ")));
    folder.put("t/tensor.json", "[[1, 2]]").put("t/notes.json", r#"{"a": 1}"#);
    let wanted = "\
broken  attribute/0: model.onnx: ONNX Slice has no attribute odd, expected axes, ends, starts
failed  bad/0: 1 of 2 items differ, first at [1]: expected 21, got 20
failed  cases#wrong: shape [2], expected [3]
failed  cases#dtype: dtype int64, expected int8
failed  cases#taken: gave int64 [2], expected an error: nothing may come
broken  cases#key: not a case: unknown field `colour`";
    let run = folder.run(["check", "t"]);
    let text = String::from_utf8(run.stdout).unwrap();
    assert_eq!((run.status, run.stderr.as_str()), (Some(1), ""), "{text}");
    assert!(text.starts_with(wanted), "{text}");
    let rest = [
        "\nbroken  neither/0: model.onnx: neither ONNX nor OpenVINO has an operator Frobnicate\n",
        "\nbroken  cases#a/../../up: the id \"cases#a/../../up\" cannot be the path of a folder\n",
        "\nbroken  cases#6: not a case: ",
        "\nbroken  cut/0: model.onnx: ",
        "\nbroken  no_input/0: t/no_input/test_data_set_0/input_1.pb: No such file",
        "\nbroken  no_output/0: t/no_output/test_data_set_0/output_0.pb: No such file",
        "\nbroken  no_set: there is no test_data_set_0 beside model.onnx\n",
        "\nunsupported  ONNX Softplus-13: 1\n",
        "\nunsupported  a model of several nodes: 1\n",
        "\n  operator  passed  differs  no result  refused\n  Slice          2        4          0        0\n",
        "\n2 passed, 4 failed, 2 unsupported, 9 broken\n",
    ];
    let lacks: Vec<_> = rest.iter().filter(|rest| !text.contains(**rest)).collect();
    assert!(lacks.is_empty(), "{text} lacks {lacks:?}");
    assert!(text.ends_with(rest[rest.len() - 1]), "{text}");

    // the same as JSON
    let run = folder.run(["check", "t", "--json"]);
    let json: serde_json::Value = serde_json::from_slice(&run.stdout).expect("one object");
    assert_eq!((run.status, run.stderr.as_str()), (Some(1), ""));
    let counts = ["passed", "failed", "unsupported", "broken"].map(|name| json[name].as_u64().unwrap());
    assert_eq!(counts, [2, 4, 2, 9]);
    let test = |id: &str| json["tests"].as_array().unwrap().iter().find(|test| test["id"] == id).expect(id).clone();
    let bad = test("bad/0");
    assert_eq!(
        (&bad["verdict"], &bad["operator"], &bad["version"], &bad["class"]),
        (&"failed".into(), &"Slice".into(), &13.into(), &"must".into())
    );
    assert_eq!((&bad["diff"]["mismatches"], &bad["diff"]["equal"]), (&1.into(), &false.into()));
    assert_eq!(bad["reason"], "1 of 2 items differ, first at [1]: expected 21, got 20");
    let good = test("good/0");
    assert!(good["verdict"] == "passed" && good["reason"].is_null() && good["diff"].is_null(), "{good}");
    assert!(test("cut/0")["operator"].is_null() && test("cut/0")["class"].is_null());
    assert_eq!(
        (test("cases#wrong")["class"].as_str(), test("cases#taken")["class"].as_str()),
        (Some("choice"), Some("reject"))
    );
    assert!(test("cases#taken")["diff"].is_null());
    assert_eq!(test("unknown/0")["reason"], "ONNX Softplus-13");
    let operators = r#"[{"operator":"Slice","passed":2,"differs":4,"no_result":0,"refused":0}]"#;
    assert_eq!(json["operators"], serde_json::from_str::<serde_json::Value>(operators).unwrap());
}

#[test]
fn which_tests_and_which_status() {
    let folder = Folder::new();
    put_test(&folder, "t/good", model(13, &[slice()], 3, &[]));
    put_test(&folder, "t/deep/er/unknown", model(13, &[node("Relu", &["x0"], &[])], 3, &[]));
    let cases = [
        case("right", r#""output": [1, 2]"#),
        case("near", r#""output": [1, 3], "class": "choice""#),
        case("refused", r#""error": "step 0""#).replace("[0], [2]", "[0], [2], [0], [0]"),
    ];
    folder.put("cases.json", format!("[{}]", cases.join(", ")));
    fs::create_dir(folder.path("empty")).unwrap();
    let passed =
        |passed: usize, unsupported: usize| format!("{passed} passed, 0 failed, {unsupported} unsupported, 0 broken\n");
    let (one, two) = (passed(1, 0), passed(2, 0));
    let rows: &[(&str, Option<i32>, &str, &str)] = &[
        ("t/good", Some(0), &one, ""),
        ("t", Some(0), &passed(1, 1), ""),
        ("t --exclude deep*", Some(0), &one, ""),
        ("t/deep", Some(1), &passed(0, 1), "0 tests passed, expected at least 1\n"),
        ("t/deep --min-tests 0", Some(0), &passed(0, 1), ""),
        ("t --only good/0 --min-tests 2", Some(1), &one, "1 test passed, expected at least 2\n"),
        ("empty", Some(1), &passed(0, 0), "0 tests passed, expected at least 1\n"),
        ("cases.json --class must,reject", Some(0), &two, ""),
        ("cases.json --exclude *near", Some(0), &two, ""),
        ("cases.json", Some(1), "2 passed, 1 failed, 0 unsupported, 0 broken\n", ""),
        ("cases.json --atol 1", Some(0), &passed(3, 0), ""),
        ("cases.json --rtol 0.5", Some(0), &passed(3, 0), ""),
        ("cases.json --ulp 1", Some(0), &passed(3, 0), ""),
        ("cases.json t/good --only *right --only good/*", Some(0), &two, ""),
        ("t --list", Some(0), "deep/er/unknown/0\ngood/0\n", ""),
        ("t/good cases.json --list", Some(0), "good/0\ncases#right\ncases#near\ncases#refused\n", ""),
        ("cases.json --list --class choice", Some(0), "cases#near\n", ""),
        ("none t/good", Some(2), &one, "error: none: No such file or directory (os error 2)\n"),
    ];
    each(
        rows,
        |(args, ..)| (*args).to_owned(),
        |(args, status, stdout, stderr)| {
            let run = folder.run(words(&format!("check {args}{}", if args.contains("--list") { "" } else { " -q" })));
            let wanted = Run { status: *status, stdout: stdout.as_bytes().to_vec(), stderr: (*stderr).to_owned() };
            if run == wanted { Ok(()) } else { Err(format!("{run:?}")) }
        },
    );
    folder.put("tensor.json", "[1, 2]").put("long.json", vec![b' '; (1 << 24) + 1]);
    for (args, fragment) in [
        ("none", "none: No such file"),
        ("tensor.json", "tensor.json: not a list of cases"),
        ("long.json", "more than 16777216 bytes"),
        ("t --actual none", "--actual none: No such file"),
        ("t --save a --actual b", "cannot be used with"),
        ("t --class maybe", "maybe"),
        ("t --atol -1", "expected a number, 0 or more"),
        ("--export t", "--export t: is not empty"),
        ("t --export new", "cannot be used with"),
        ("--layout onnx", "--export"),
    ] {
        folder.refuses(words(&format!("check {args}")), &[fragment]).unwrap();
    }
    let run = folder.run(words("check t --only nothing"));
    assert!(run.status == Some(2) && run.stderr == "error: --only nothing: matches no test id\n", "{run:?}");
}

#[test]
fn the_status_outlives_the_reader() {
    let folder = Folder::new();
    let cases: Vec<_> = (0..1000).map(|n| case(&format!("case-{n}"), r#""output": [0, 0]"#)).collect();
    folder.put("cases.json", format!("[{}]", cases.join(", ")));
    #[cfg(unix)]
    for reader in ["true", "head -c 100 > /dev/null"] {
        for args in ["check cases.json", "check cases.json --json"] {
            let run = folder.status_before_pipe(args, reader);
            assert_eq!(String::from_utf8_lossy(&run.stdout), "1\n", "{args} | {reader}: {}", run.stderr);
        }
    }
}

#[test]
fn models_of_every_form() {
    let folder = Folder::new();
    // initialisers, Constant nodes, inputs that are left out, several data sets, an older version
    let begin = [int64(&[1], &[0]), protobuf(&[(8, Bytes(b"begin"))])].concat();
    let value = protobuf(&[(1, Bytes(b"value_ints")), (8, Number(2)), (20, Number(7))]);
    let constant = protobuf(&[(2, Bytes(b"end")), (4, Bytes(b"Constant")), (5, Bytes(&value))]);
    let of_constants = node("Slice", &["x0", "begin", "end", "", ""], &[]);
    put_test(&folder, "t/constants", model(13, &[constant, of_constants], 1, &[(5, begin.clone())]));
    // an initialiser that is an input of the graph, too, and has no file
    let listed = protobuf(&[(1, Bytes(b"begin"))]);
    let node_of = node("Slice", &["x0", "begin", "x1"], &[]);
    put_test(&folder, "t/listed", model(13, &[node_of], 2, &[(11, listed), (5, begin)]));
    folder.put("t/listed/test_data_set_0/input_1.pb", int64(&[1], &[2]));
    fs::remove_file(folder.path("t/listed/test_data_set_0/input_2.pb")).unwrap();
    let ints = |name: &str, number: u64| protobuf(&[(1, Bytes(name.as_bytes())), (8, Number(number)), (20, Number(7))]);
    put_test(&folder, "t/old", model(9, &[node("Slice", &["x0"], &[ints("starts", 0), ints("ends", 2)])], 1, &[]));
    put_test(&folder, "t/sets", model(13, &[slice()], 3, &[]));
    fs::create_dir(folder.path("t/sets/test_data_set_10")).unwrap();
    for file in ["input_0.pb", "input_1.pb", "input_2.pb", "output_0.pb"] {
        let bytes = folder.get(format!("t/sets/test_data_set_0/{file}"));
        folder.put(format!("t/sets/test_data_set_10/{file}"), bytes);
    }
    // tensors of the model and of a data set whose items lie in files beside them
    let beside = |name: &str, location: &str| {
        let entry = protobuf(&[(1, Bytes(b"location")), (2, Bytes(location.as_bytes()))]);
        let fields =
            [(1, Number(1)), (2, Number(7)), (8, Bytes(name.as_bytes())), (13, Bytes(&entry)), (14, Number(1))];
        protobuf(&fields)
    };
    let of_files = node("Slice", &["x0", "begin", "x1"], &[]);
    put_test(&folder, "t/external", model(13, &[of_files], 2, &[(5, beside("begin", "./begin.bin"))]));
    folder.put("t/external/begin.bin", [0; 8]).put("t/external/test_data_set_0/end.bin", [2, 0, 0, 0, 0, 0, 0, 0, 9]);
    folder.put("t/external/test_data_set_0/input_1.pb", beside("", "end.bin"));
    fs::remove_file(folder.path("t/external/test_data_set_0/input_2.pb")).unwrap();
    // a name that nothing makes, an opset that is not there, an operator of another domain
    put_test(&folder, "u/unmade", model(13, &[node("Slice", &["x0", "x1", "nothing"], &[])], 2, &[]));
    let no_opset = protobuf(&[(7, Bytes(&protobuf(&[(1, Bytes(&slice()))])))]);
    put_test(&folder, "u/no_opset", no_opset);
    for (args, wanted) in [
        ("check t -q", "6 passed, 0 failed, 0 unsupported, 0 broken\n"),
        ("check t --list", "constants/0\nexternal/0\nlisted/0\nold/0\nsets/0\nsets/10\n"),
    ] {
        assert_eq!(folder.run(words(args)).printed().as_deref(), Ok(wanted), "{args}");
    }
    let run = folder.run(["check", "u"]);
    let text = String::from_utf8(run.stdout).unwrap();
    let wanted = "broken  no_opset/0: model.onnx: the opset of the operator Slice is not imported\n\
                  broken  unmade/0: model.onnx: the input \"nothing\" of the node is not defined in the model\n";
    assert!(run.status == Some(1) && text.starts_with(wanted), "{text}");
}

#[test]
fn models_made_to_do_harm() {
    let folder = Folder::new();
    let nested = (0..20_000).fold(Vec::new(), |inner, _| protobuf(&[(7, Bytes(&inner))]));
    let itself = protobuf(&[(1, Bytes(b"y")), (1, Bytes(b"y")), (2, Bytes(b"y")), (4, Bytes(b"Slice"))]);
    let inputs = (0..100_000).map(|_| (1, Bytes(b"x0")));
    let many = inputs.chain([(4, Bytes(b"Slice"))]).collect::<Vec<_>>();
    for (name, bytes) in [
        ("long", protobuf(&[(7, Claims(1 << 31))])),
        ("longer", protobuf(&[(7, Claims(u64::MAX))])),
        ("nested", nested),
        ("cycle", model(13, &[itself], 1, &[])),
        ("inputs", model(13, &[protobuf(&many)], 1, &[])),
        ("empty", Vec::new()),
        ("text", b"not a model".to_vec()),
        ("large", vec![0; (1 << 24) + 1]),
    ] {
        put_test(&folder, name, bytes);
        let run = folder.run(["check", name]);
        let text = String::from_utf8(run.stdout).unwrap();
        let is_right = run.status == Some(1) && text.starts_with(&format!("broken  {name}/0: model.onnx: "));
        assert!(is_right && text.ends_with("\n0 passed, 0 failed, 0 unsupported, 1 broken\n"), "{name}: {text}");
    }
}

#[test]
fn outputs_of_other_runtimes() {
    let folder = Folder::new();
    put_test(&folder, "t/good", model(13, &[slice()], 3, &[]));
    put_test(&folder, "t/unknown", model(13, &[node("Relu", &["x0"], &[])], 1, &[]));
    let bfloat16 = r#"{"dtype": "bfloat16", "shape": [3], "hex": "803f004040c0"}"#;
    let cases = [
        case("plain", r#""output": [1, 2]"#),
        case("refused", r#""error": "step 0""#).replace("[0], [2]", "[0], [2], [0], [0]"),
        case("bfloat16", r#""output": {"dtype": "bfloat16", "shape": [2], "hex": "803f0040"}"#)
            .replace("[1, 2, 3]", bfloat16),
    ];
    folder.put("t/cases.json", format!("[{}]", cases.join(", ")));
    // the results that are saved are those that are judged
    let run = folder.run(words("check t --save out"));
    assert_eq!((run.status, run.stderr.as_str()), (Some(0), ""), "{run:?}");
    let names: Vec<_> = folder.tree("out").into_keys().collect();
    assert_eq!(
        names,
        [
            "cases#bfloat16/output.npy",
            "cases#plain/output.npy",
            "cases#refused/refused",
            "good/0/output.npy",
            "unknown/0/unsupported"
        ]
    );
    assert_eq!(folder.get("out/unknown/0/unsupported"), b"ONNX Relu-13\n");
    assert_eq!(folder.get("out/cases#refused/refused"), b"step: step 0 at position 0: a step cannot be 0\n");
    let judged = |wanted: &str, line: &str| {
        let run = folder.run(words("check t --actual out"));
        let text = String::from_utf8(run.stdout).unwrap();
        assert!(text.ends_with(wanted) && text.contains(line), "{text}");
    };
    judged("4 passed, 0 failed, 1 unsupported, 0 broken\n", "unsupported  ONNX Relu-13: 1\n");
    // an operator that is not known is judged, too
    fs::remove_file(folder.path("out/unknown/0/unsupported")).unwrap();
    judged("4 passed, 1 failed, 0 unsupported, 0 broken\n", "failed  unknown/0: no result\n");
    folder.put("out/unknown/0/output_0.pb", int64(&[2], &[10, 20]));
    judged("5 passed, 0 failed, 0 unsupported, 0 broken\n", "5 passed");
    folder.put("out/cases#plain/output.npy", b"rubbish");
    folder.put("out/good/0/output.npy", tensor::<i64>(&[2], &[10, 25]).npy());
    judged(
        "3 passed, 2 failed, 0 unsupported, 0 broken\n",
        "failed  good/0: 1 of 2 items differ, first at [1]: expected 20, got 25\n",
    );
    // saving again takes the place of all that is there
    folder.put("out/cases#refused/output.npy", tensor::<i64>(&[1], &[1]).npy()).put("out/good/0/crashed", "");
    folder.put("out/cases#plain/refused", "").put("out/cases#plain/output_0.pb", "").put("out/good/0/notes.txt", "");
    folder.run(words("check t --save out"));
    let names: Vec<_> = folder.tree("out").into_keys().collect();
    let wanted = ["cases#bfloat16/output.npy", "cases#plain/output.npy", "cases#refused/refused", "good/0/notes.txt"];
    assert_eq!(names, [&wanted[..], &["good/0/output.npy", "unknown/0/unsupported"]].concat());
}

/// Split has an output for each part: in a case, in a model, in what is saved and judged.
#[test]
fn several_outputs() {
    let folder = Folder::new();
    let split = node("Split", &["x0"], &[]);
    let second = |name: &[u8]| protobuf(&[(2, Bytes(name))]);
    let thirds = [split, second(b"z"), second(b"w")].concat();
    put_test(&folder, "t/thirds", model_of_outputs(13, &[thirds], 1, &["y", "z", "w"], &[]));
    for (n, item) in [10, 20, 30].into_iter().enumerate() {
        folder.put(format!("t/thirds/test_data_set_0/output_{n}.pb"), int64(&[1], &[item]));
    }
    let relu = [node("Slice", &["x0", "x1", "x2"], &[]), second(b"z")].concat();
    put_test(&folder, "t/two", model_of_outputs(13, &[relu], 3, &["y", "z"], &[]));
    folder.put("t/two/test_data_set_0/output_1.pb", int64(&[2], &[10, 20]));
    let halves = |id: &str, data: &str, more: &str| {
        format!(
            r#"{{"id": "{id}", "specification": "openvino", "operator": "Split", "version": 1, "inputs": [{data}, 0], "attributes": {{"num_splits": 2}}, {more}}}"#
        )
    };
    let cases = [
        halves("right", "[1, 2, 3, 4]", r#""outputs": [[1, 2], [3, 4]]"#),
        halves("wrong", "[1, 2, 3, 4]", r#""outputs": [[1, 2], [3, 5]]"#),
        halves("one", "[1, 2]", r#""output": [1, 2]"#),
        halves("taken", "[1, 2]", r#""error": "nothing may come", "output_count": 2"#),
        halves("refused", "[1, 2, 3]", r#""error": "3 places in 2 outputs", "output_count": 2"#),
        halves("both", "[1, 2]", r#""output": [1], "outputs": [[1], [2]]"#),
    ];
    folder.put("t/cases.json", format!("[{}]", cases.join(", ")));
    let wanted = "\
failed  cases#wrong: output 1: 1 of 2 items differ, first at [1]: expected 5, got 4
failed  cases#taken: gave int64 [1], int64 [1], expected an error: nothing may come
broken  cases#both: an output and outputs, expected one of them
unsupported  Slice with 2 outputs: 1
unsupported  Split with 1 output: 1
  operator  passed  differs  no result  refused
  Split          3        2          0        0
3 passed, 2 failed, 2 unsupported, 1 broken
";
    let run = folder.run(words("check t --save out"));
    assert_eq!(String::from_utf8(run.stdout).unwrap(), wanted);
    let names: Vec<_> = folder.tree("out").into_keys().collect();
    let of = |id: &str, count| (0..count).map(move |n| format!("{id}/output_{n}.npy")).collect::<Vec<_>>();
    let marker = |path: &str| vec![path.to_owned()];
    let saved = [
        marker("cases#one/unsupported"),
        marker("cases#refused/refused"),
        of("cases#right", 2),
        of("cases#taken", 2),
        of("cases#wrong", 2),
        of("thirds/0", 3),
        marker("two/0/unsupported"),
    ]
    .concat();
    assert_eq!(names, saved);
    // what is judged are the same files, each of which must be there
    let judged = |wanted: &str| {
        let run = folder.run(words("check t --exclude cases#both --actual out"));
        let text = String::from_utf8(run.stdout).unwrap();
        assert!(text.contains(wanted), "{text}");
    };
    judged("3 passed, 2 failed, 2 unsupported, 0 broken");
    fs::remove_file(folder.path("out/thirds/0/output_2.npy")).unwrap();
    judged("failed  thirds/0: output 2: no result\n");
}

#[test]
fn ten_thousand_tests() {
    let folder = Folder::new();
    for n in 0..100 {
        put_test(&folder, &format!("t/test-{n}"), model(13, &[slice()], 3, &[]));
    }
    let cases: Vec<_> = (0..9900).map(|n| case(&n.to_string(), r#""output": [1, 2]"#)).collect();
    folder.put("t/cases.json", format!("[{}]", cases.join(", ")));
    let wanted = "10000 passed, 0 failed, 0 unsupported, 0 broken\n";
    assert_eq!(folder.run(words("check t -q")).printed().as_deref(), Ok(wanted));
}

#[test]
fn own_vectors() {
    let folder = Folder::new();
    let all = folder.run(["check", "-q"]);
    let text = String::from_utf8(all.stdout).unwrap();
    assert_eq!((all.status, all.stderr.as_str()), (Some(0), ""), "{text}");
    let count: usize = text.strip_suffix(" passed, 0 failed, 0 unsupported, 0 broken\n").expect(&text).parse().unwrap();
    assert!(count >= 1500, "{count} vectors");
    let listed = folder.run(["check", "--list"]).printed().unwrap();
    assert_eq!(listed.lines().count(), count);
    // an id that was released stays
    let released = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/conformance/ids.txt")).unwrap();
    assert_eq!(sorted(&listed), sorted(&released));
}

/// What is exported is the same tests, and each export the same bytes.
#[test]
fn exported_vectors() {
    let folder = Folder::new();
    let some = "--only */example* --only */*nan* --only */*order* --only concat/onnx-11/* --only slice/openvino-8/* \
                --only pad/onnx-2/* --only split/onnx-18/*";
    let listed = folder.run(words(&format!("check --list {some}"))).printed().unwrap();
    let count = listed.lines().count();
    let passed = |count: usize| format!("{count} passed, 0 failed, 0 unsupported, 0 broken\n");
    let run = folder.run(words(&format!("check --export npy {some}")));
    assert_eq!((run.status, run.stderr), (Some(0), format!("npy: {count} tests\n")));
    assert_eq!(folder.run(words("check npy -q")).printed(), Ok(passed(count)));
    assert_eq!(sorted(&folder.run(words("check npy --list")).printed().unwrap()), sorted(&listed));
    let run = folder.run(words(&format!("check --export onnx --layout onnx {some}")));
    let of_onnx = listed.lines().filter(|id| id.contains("/onnx-") || id.contains("/sequence-")).count();
    let wanted = format!("onnx: {of_onnx} tests, without {} of OpenVINO's operators\n", count - of_onnx);
    assert_eq!((run.status, run.stderr), (Some(0), wanted));
    assert_eq!(folder.run(words("check onnx -q")).printed(), Ok(passed(of_onnx)));
    folder.run(words(&format!("check --export again --layout onnx {some}")));
    assert!(folder.tree("onnx") == folder.tree("again"), "another export has other bytes");
}

/// The lines of a text in their order as texts.
fn sorted(text: &str) -> Vec<&str> {
    let mut lines: Vec<_> = text.lines().collect();
    lines.sort_unstable();
    lines
}
