//! `tensorop diff` of tensors that a runtime dumped layer by layer: files without a header, axes in another order, and the
//! first layer that differs.

use std::fs;

use serde_json::{Value, json};

use crate::common::{Folder, Run, bytes, each, npz, tensor, to_fortran, words};
use crate::onnx_models::field;

/// What a run printed and said.
fn text(run: &Run) -> String {
    format!("{}{}", String::from_utf8_lossy(&run.stdout), run.stderr)
}

/// Checks the status of each command, and that all fragments are in what it prints and says; a fragment after `!` must not be.
#[track_caller]
fn reports(folder: &Folder, rows: &[(&str, i32, &[&str])]) {
    each(
        rows,
        |(args, ..)| (*args).to_owned(),
        |(args, status, fragments)| {
            let run = folder.run(words(args));
            let text = text(&run);
            let is_wrong = |fragment: &&&str| match fragment.strip_prefix('!') {
                Some(absent) => text.contains(absent),
                None => !text.contains(**fragment),
            };
            match fragments.iter().find(is_wrong) {
                _ if run.status != Some(*status) => Err(format!("status {:?}: {text}", run.status)),
                Some(wrong) => Err(format!("{wrong:?}: {text}")),
                None => Ok(()),
            }
        },
    );
}

/// The items of layer `n`, of 24.
fn layer(n: usize) -> Vec<f32> {
    (0..24).map(|item| (item * 7 + n * 5) as f32 % 13.0 + 0.25).collect()
}

const SHAPE: [usize; 4] = [1, 4, 3, 2];

/// `ref` has 12 layers in `.npy` files and `raw` the same without headers; in `out` and `bad` layers 7 and 10 differ in an
/// item, and in `bad` files have no headers.
fn folders() -> Folder {
    let folder = Folder::new();
    for name in ["ref", "raw", "out", "bad", "raw/deep"] {
        fs::create_dir_all(folder.path(name)).unwrap();
    }
    for n in 0..12 {
        let good = layer(n);
        let mut bad = good.clone();
        if n == 7 || n == 10 {
            bad[17] += 1.0;
        }
        folder.put(format!("ref/layer_{n}.npy"), tensor(&SHAPE, &good).npy());
        folder.put(format!("out/layer_{n}.npy"), tensor(&SHAPE, &bad).npy());
        folder.put(format!("raw/layer_{n}.bin"), bytes(&good)).put(format!("bad/layer_{n}.bin"), bytes(&bad));
    }
    let entries = |count: usize| {
        let entry = json!({"dtype": "float32", "shape": SHAPE});
        Value::Object((0..count).map(|n| (format!("layer_{n}.bin"), entry.clone())).collect()).to_string()
    };
    folder
        .put("s.json", entries(12))
        .put("s7.json", entries(7))
        .put("s11.json", entries(11))
        .put("s13.json", entries(13));
    folder
}

const TWO_DIFFER: &str = "different: 10 same, 0 within, 2 different, 0 missing, 0 extra\n";
const EQUAL: &str = "equal: 12 same, 0 within, 0 different, 0 missing, 0 extra\n";

#[test]
fn a_list_of_shapes_reads_files_without_headers() {
    let folder = folders();
    folder.put("raw/README.md", "x").put("raw/notes.txt", "x");
    let rows: &[(&str, i32, &[&str])] = &[
        ("diff raw bad --shapes s.json", 1, &[TWO_DIFFER, "layer_7: axis 1 at 2\n", "2 files left alone"]),
        ("diff ref bad --shapes s.json", 1, &[TWO_DIFFER]),
        ("diff raw ref --shapes s.json", 0, &[EQUAL]),
        ("diff raw bad --shapes s.json --only layer_1* --rtol layer_10=9", 0, &["equal: 2 same, 1 within, 0 diff"]),
        ("diff raw bad --shapes s.json --rename layer_*=l* --exclude layer_*", 1, &["12 missing"]),
        ("diff raw:layer_7 bad:layer_7 --shapes s.json -q", 1, &["different: 1 of 24 items"]),
        (
            "diff raw bad --shapes s7.json",
            2,
            &[
                "10 same, 0 within, 0 different, 0 missing, 0 extra, 2 unreadable\n",
                "layer_7.bin: EXPECTED raw/layer_7.bin: bytes without a header, with no dtype and shape given",
                "!README",
            ],
        ),
        // files that are not read are the same if their bytes are
        ("diff raw bad --shapes s11.json", 1, &["10 same, 0 within, 2 different, 0 missing, 0 extra\n"]),
        ("diff raw bad --shapes s11.json --exclude layer_11.bin", 1, &["9 same, 0 within, 2 different, 0 m"]),
        // without the list only their bytes are known
        ("diff raw ref", 2, &["0 missing, 12 extra, 12 unreadable", "!same: ", "2 files left alone"]),
    ];
    reports(&folder, rows);
    let refused = [
        ("diff raw bad --shapes s13.json", "--shapes s13.json: no compared folder has a file \"layer_12.bin\""),
        ("diff ref out --shapes s.json", "\"layer_0.bin\", \"layer_1.bin\""),
        ("diff raw bad --shapes no.json", "--shapes no.json: No such file"),
        ("diff raw bad --shapes [1]", "--shapes [1]: No such file"),
    ];
    for (args, fragment) in refused {
        folder.refuses(words(args), &[fragment]).unwrap();
    }
    for (list, fragment) in [
        ("[]", "--shapes x.json: invalid type: sequence, expected an object with an entry for each file"),
        ("{}", "--shapes x.json: has no entries"),
        (r#"{"layer_0.bin": {"shape": [1]}}"#, "--shapes x.json: \"layer_0.bin\": expected a dtype"),
        (
            r#"{"layer_0.bin": {"dtype": "f4", "shape": [1], "ofset": 8}}"#,
            "--shapes x.json: \"layer_0.bin\": unknown key \"ofset\", expected dtype, shape, offset, order",
        ),
        (r#"{"a": {"dtype": "f4", "shape": [1], "shape": [1]}, "a": {}}"#, "two entries \"a\""),
    ] {
        folder.put("x.json", list);
        folder.refuses(words("diff raw bad --shapes x.json"), &[fragment]).unwrap();
    }
}

#[test]
fn entries_have_lengths_offsets_and_orders() {
    let folder = Folder::new();
    for name in ["a/in", "b"] {
        fs::create_dir_all(folder.path(name)).unwrap();
    }
    let items: Vec<i32> = (0..12).collect();
    folder.put("b/fortran.npy", tensor(&[3, 4], &items).npy()).put("b/short.npy", tensor(&[3, 4], &items).npy());
    fs::create_dir_all(folder.path("b/in")).unwrap();
    folder.put("b/in/offset.npy", tensor(&[3, 4], &items).npy());
    folder.put("a/fortran.raw", to_fortran(&bytes(&items), &[3, 4], 4)).put("a/short.raw", bytes(&items[1..]));
    let big: Vec<u8> = items.iter().flat_map(|item| item.to_be_bytes()).collect();
    folder.put("a/in/offset.raw", [&[9; 5][..], &big, &[9; 3]].concat());
    let list = json!({
        "fortran.raw": {"dtype": "int32", "shape": [3, 4], "order": "F"},
        "in/offset.raw": {"dtype": ">i4", "shape": [3, 4], "offset": 5},
        "short.raw": {"dtype": "int32", "shape": [3, 4]},
    });
    folder.put("s.json", list.to_string());
    let rows: &[(&str, i32, &[&str])] = &[(
        "diff a b --shapes s.json",
        2,
        &["unreadable: 2 same", "short: EXPECTED a/short.raw: 44 bytes of data, expected 48 (int32 [3, 4])"],
    )];
    reports(&folder, rows);
}

#[test]
fn a_json_beside_a_file_says_what_it_is() {
    let folder = Folder::new();
    let items = bytes(&layer(0));
    let entry = r#"{"dtype": "float32", "shape": [4, 6]}"#;
    for name in ["long", "short", "tensor", "wrong", "two"] {
        fs::create_dir(folder.path(name)).unwrap();
        folder.put(format!("{name}/x.bin"), &items);
    }
    folder.put("long/x.bin.json", entry).put("short/x.json", entry);
    // a tensor in JSON is not such an object, and neither is a configuration
    folder.put("tensor/x.json", tensor(&[2], &[1.0_f32, 2.0]).tagged()).put("tensor/x.bin.json", r#"{"dtype": "f4"}"#);
    folder.put("wrong/x.json", r#"{"dtype": "float3", "shape": [4, 6]}"#);
    folder.put("two/x.json", entry).put("two/x.bin.json", r#"{"dtype": "uint8", "shape": [96]}"#);
    fs::create_dir(folder.path("npy")).unwrap();
    folder.put("npy/x.npy", tensor(&[4, 6], &layer(0)).npy());
    let rows: &[(&str, i32, &[&str])] = &[
        ("diff npy long", 0, &["equal: 1 same", "!left alone"]),
        ("diff npy short", 0, &["equal: 1 same", "!left alone"]),
        ("diff short long", 0, &["equal: 1 same"]),
        ("info short", 0, &["short:x", "float32", "[4, 6]"]),
        ("info two", 0, &["two:x", "uint8", "[96]"]),
        ("diff npy tensor", 2, &["x: shape [2], expected [4, 6]", "unreadable  x.bin: ", "1 file left alone"]),
        ("diff npy wrong", 2, &["x: ACTUAL wrong/x.bin: unknown dtype 'float3'; did you mean float32?"]),
    ];
    reports(&folder, rows);
    assert_eq!(folder.run(words("convert long -o long.npz")).printed().unwrap(), "");
    assert_eq!(folder.run(words("diff long.npz:x npy/x.npy -q")).status, Some(0));
}

/// Without a dtype and a shape their bytes are compared.
#[test]
fn files_without_headers_are_compared_as_bytes() {
    let folder = Folder::new();
    for (side, raw, dat) in
        [("one", "1", Some("2")), ("same", "1", Some("2")), ("other", "x", Some("2")), ("less", "1", None)]
    {
        fs::create_dir_all(folder.path(format!("{side}/sub"))).unwrap();
        folder
            .put(format!("{side}/sub/a.raw"), raw)
            .put(format!("{side}/a.bin"), "3")
            .put(format!("{side}/x.txt"), side);
        folder.put(format!("{side}/w.npy"), tensor(&[1], &[1.0_f32]).npy());
        if let Some(dat) = dat {
            folder.put(format!("{side}/b.DAT"), dat);
        }
    }
    let unread = "ACTUAL other/sub/a.raw: bytes without a header, with no dtype and shape given: --shapes gives them";
    let (one, less) =
        (unread.replace("ACTUAL other", "EXPECTED one"), "b.DAT: EXPECTED one/b.DAT: bytes without a header");
    let same = "equal: 4 same, 0 within, 0 different, 0 missing, 0 extra\n";
    let rows: &[(&str, i32, &[&str])] = &[
        ("diff one same", 0, &[same, "2 files left alone"]),
        ("diff one same -q", 0, &["equal: 4 same"]),
        ("diff one other", 2, &["unreadable: 3 same, 0 within, 0 different, 0 missing, 0 extra, 1 unreadable\n", &one]),
        ("diff one other -q", 2, &["unreadable: 3 same", "1 of 4 tensors cannot be read"]),
        (
            "diff one other --json",
            2,
            &["{\"equal\": false", "\"name\": \"sub/a.raw\", \"verdict\": \"unreadable\", \"error\": ", "--shapes"],
        ),
        ("diff one other --exclude *.raw", 0, &["equal: 3 same"]),
        ("diff one less", 2, &["3 same", "1 unreadable", less]),
        ("diff less one", 2, &["3 same", "1 unreadable", "b.DAT: ACTUAL one/b.DAT: bytes without a header"]),
        // a file has no other that it could be compared with
        ("diff one/w.npy other/w.npy", 0, &["equal: 1 item"]),
    ];
    reports(&folder, rows);
    assert_eq!(folder.run(words("diff one other --junit j.xml")).status, Some(2));
    let junit = String::from_utf8(folder.get("j.xml")).expect("text");
    assert!(junit.contains("name=\"sub/a.raw\"") && junit.contains("errors=\"1\""), "{junit}");
    folder.put("s.json", r#"{"sub/a.raw": {"dtype": "uint8", "shape": [1]}}"#);
    let rows: &[(&str, i32, &[&str])] = &[
        ("diff one other --shapes s.json", 1, &["3 same, 0 within, 1 different", "sub/a"]),
        // of a model they are the items
        (
            "diff model changed",
            1,
            &["0 same, 0 within, 2 different, 0 missing, 0 extra\n", "!unreadable", "!left alone"],
        ),
        ("diff model copy", 0, &["equal: 2 same", "!left alone"]),
    ];
    let entry = |key: &str, value: &str| field(13, [field(1, key), field(2, value)].concat());
    let external = [&[8, 2, 16, 2][..], &field(8, "w"), &entry("location", "sub/w.raw"), &[14 << 3, 1]].concat();
    let onnx = [&[8, 8][..], &field(7, field(5, external))].concat();
    let xml = r#"<net version="11"><layers><layer name="c" type="Const"><data element_type="u8" shape="2" offset="0" size="2"/></layer></layers></net>"#;
    for (side, items) in [("model", "12"), ("changed", "13"), ("copy", "12")] {
        fs::create_dir_all(folder.path(format!("{side}/sub"))).unwrap();
        folder.put(format!("{side}/o.onnx"), &onnx).put(format!("{side}/sub/w.raw"), items);
        folder.put(format!("{side}/i.xml"), xml).put(format!("{side}/i.bin"), items);
    }
    reports(&folder, rows);
}

#[test]
fn a_pattern_reads_files_without_headers() {
    let folder = folders();
    folder.put("raw/deep/er.bin", bytes(&layer(3)));
    let rows: &[(&str, i32, &[&str])] = &[
        ("diff raw/layer*.bin:float32[1,4,3,2] bad/*.bin:float32[1,4,3,2]", 1, &[TWO_DIFFER, "!left alone"]),
        ("diff ref bad/*.bin:float32[1,4,3,2]", 1, &[TWO_DIFFER]),
        ("diff raw/*_*:float32[-1,4,3,2] ref", 0, &[EQUAL]),
        ("diff raw/layer_7.*:float32 bad/layer_7.*:float32", 1, &["layer_7: axis 0 at 17"]),
        // * goes through folders, and a name keeps them
        ("diff raw/*er.bin:float32 raw/deep/*.bin:float32 --rename deep/er=er", 0, &["equal: 1 same"]),
        ("diff raw/*er.bin:float32 raw/deep/*.bin:float32", 1, &["deep/er: float32 [24], renamed to er"]),
        ("diff raw/layer*.bin:float32[1,4,3,1] ref", 2, &["unreadable: 0 same", "raw/layer_0.bin: 96 bytes of data"]),
        ("info raw/layer*.bin:>u2@4", 0, &["layer_11", ">u2", "[46]"]),
        ("show raw/layer_0*:float32[24] --at :3", 0, &["layer_0: float32 [24] at :3 -> [3]\n[0.25 7.25 1.25]"]),
    ];
    reports(&folder, rows);
    assert_eq!(folder.run(["convert", "raw/l*.bin:float32[1,4,3,2]", "-o", "all.npz"]).printed().unwrap(), "");
    assert_eq!(folder.run(words("diff all.npz ref")).printed().unwrap(), EQUAL);
    for (args, fragments) in [
        ("diff raw/*.bim:float32 ref", &["EXPECTED raw", "no file matches \"*.bim\""][..]),
        ("diff ref raw/*.bin:flaot32", &["ACTUAL raw", "unknown dtype 'flaot32'; did you mean float32"]),
        ("diff ref row/*.bin:float32", &["ACTUAL row", "No such file"]),
        ("diff raw/*.bin:float32 bad/*.bin:float32 --accept", &["raw/*.bin:float32", "--accept", "pattern"]),
        ("diff raw bad --shapes s.json --accept", &["EXPECTED raw/layer_", "--accept", "FILE:DTYPE[DIMS]"]),
    ] {
        folder.refuses(words(args), fragments).unwrap();
    }
    // into files with headers, tensors without are accepted
    let run = folder.run(words("diff ref bad/*.bin:float32[1,4,3,2] --accept -q"));
    assert_eq!(text(&run), "wrote ref/layer_10.npy: 1 tensor\nwrote ref/layer_7.npy: 1 tensor\n");
    assert_eq!(folder.run(words("diff ref out")).printed().unwrap(), EQUAL);
}

/// Puts `a.npy`, and files with its axes in the order `axes`, each stored in another way.
fn transposed(folder: &Folder, shape: &[usize], axes: &[usize], other: f32) -> Vec<&'static str> {
    let items: Vec<f32> = (0..shape.iter().product::<usize>()).map(|item| (item as f32 * 0.7).sin()).collect();
    folder.put("a.npy", tensor(shape, &items).npy());
    let mut changed = items.clone();
    let last = changed.len() - 2;
    changed[last] += other;
    folder.put("changed.npy", tensor(shape, &changed).npy());
    let list = axes.iter().map(usize::to_string).collect::<Vec<_>>().join(",");
    for (from, to) in [("a.npy", "same.npy"), ("changed.npy", "c.npy")] {
        folder.run(["transpose", from, "--axes", &list, "-o", to]).printed().unwrap();
    }
    for args in [
        "c.npy --order F -o f.npy",
        "c.npy --byte-order big -o big.npy",
        "c.npy -o c.zarr --chunks 2,2,2,2 --overwrite",
        "c.npy -o c.npz --compress",
    ] {
        let args = args.replace(" --overwrite", "");
        folder.run(words(&format!("convert {args}"))).printed().unwrap();
    }
    vec!["c.npy", "f.npy", "big.npy", "c.zarr", "c.npz", "-"]
}

#[test]
fn axes_are_compared_in_another_order() {
    let folder = Folder::new();
    let shape = [2, 5, 3, 4];
    let orders = [[0, 3, 1, 2], [3, 2, 1, 0], [1, 0, 2, 3], [0, 1, 2, 3], [2, 0, 3, 1]];
    for order in orders {
        let mut back = [0; 4];
        order.iter().enumerate().for_each(|(at, &axis)| back[axis] = at);
        let axes = back.map(|axis| axis.to_string()).join(",");
        let files = transposed(&folder, &shape, &order, 0.5);
        for form in ["--json --worst 3", "--map", "--heatmap h.png -q"] {
            let wanted = folder.run(words(&format!("diff a.npy changed.npy {form}")));
            assert_eq!(wanted.status, Some(1), "{wanted:?}");
            let picture = fs::read(folder.path("h.png")).unwrap_or_default();
            for file in &files {
                let stdin = (*file == "-").then(|| folder.get("c.npy"));
                let args = words(&format!("diff a.npy {file} --axes {axes} {form}"));
                for window in [None, Some(24), Some(1)] {
                    let run = folder.run_with(&args, window, stdin.as_deref());
                    assert_eq!((run.status, text(&run)), (Some(1), text(&wanted)), "{args:?} {window:?}");
                    assert_eq!(fs::read(folder.path("h.png")).unwrap_or_default(), picture, "{args:?} {window:?}");
                }
            }
        }
        assert_eq!(folder.run(["diff", "a.npy", "same.npy", "--axes", &axes]).status, Some(0));
        let plan = folder.run(["diff", "a.npy", "same.npy", "--axes", &axes, "--explain"]).printed().unwrap();
        let is_across = plan.lines().any(|line| line.contains("ACTUAL") && line.contains("read into memory"));
        // few items that are stored across are read into memory first
        assert_eq!(is_across, order != [0, 1, 2, 3], "{plan}");
        fs::remove_dir_all(folder.path("c.zarr")).unwrap();
    }
}

#[test]
fn axes_are_of_the_tensors_that_match() {
    let folder = Folder::new();
    let hwc = |n: usize| tensor(&[3, 2, 4], &layer(n));
    let chw = |n: usize| {
        let items = layer(n);
        tensor(&[4, 3, 2], &(0..24).map(|at| items[at % 6 * 4 + at / 6]).collect::<Vec<_>>())
    };
    folder.put("e.npz", npz(&[("conv.a", chw(1).npy()), ("conv.b", chw(2).npy()), ("fc", hwc(3).npy())]));
    folder.put("a.npz", npz(&[("conv.a", hwc(1).npy()), ("conv.b", hwc(2).npy()), ("fc", hwc(3).npy())]));
    folder.put("model.npz", npz(&[("m.conv.a", hwc(1).npy()), ("m.conv.b", hwc(2).npy())]));
    let rows: &[(&str, i32, &[&str])] = &[
        ("diff e.npz a.npz --axes conv.*=2,0,1", 0, &["equal: 3 same"]),
        ("diff e.npz a.npz --axes conv.*=-1,0,1", 0, &["equal: 3 same"]),
        ("diff e.npz a.npz --axes 2,0,1 --axes fc=0,1,2", 0, &["equal: 3 same"]),
        ("diff e.npz a.npz --axes conv.a=0,1,2 --axes conv.*=[2,0,1]", 0, &["equal: 3 same"]),
        (
            "diff e.npz a.npz --axes conv.*=2,0,1 --axes conv.a=0,1,2",
            1,
            &["2 same", "conv.a: shape [3, 2, 4], expected"],
        ),
        ("diff e.npz a.npz --axes 2,0,1 --only conv.*", 0, &["equal: 2 same"]),
        ("diff e.npz:conv.a a.npz:conv.a --axes 2,0,1", 0, &["equal: 24 items of float32 [4, 3, 2]"]),
        // the names of --rename, and the shape in the order that is compared
        ("diff e.npz model.npz --rename *=m.* --axes m.conv.*=2,0,1 --exclude m.fc", 0, &["equal: 2 same"]),
        (
            "diff e.npz a.npz --axes 1,0,2 --only conv.a --json",
            1,
            &["\"actual\": {\"dtype\": \"float32\", \"shape\": [2, 3, 4]}"],
        ),
    ];
    reports(&folder, rows);
    for (args, fragments) in [
        ("diff e.npz a.npz --axes cnov.*=2,0,1", &["--axes cnov.*: matches no tensor", "\"conv.a\""][..]),
        ("diff e.npz a.npz --axes conv.b=0,1", &["--axes: ACTUAL a.npz:conv.b: 2 axes, expected each of the 3"]),
        ("diff e.npz a.npz --axes fc=0,1,3", &["--axes: ACTUAL a.npz:fc: axis 3 at position 2, expected"]),
        ("diff e.npz a.npz --axes fc=0,1,1", &["--axes: ACTUAL a.npz:fc: axis 1 is named twice"]),
        ("diff e.npz:fc a.npz:fc --axes 0,1", &["--axes: ACTUAL a.npz:fc: 2 axes"]),
        ("diff e.npz a.npz --axes nchw", &["'nchw' for '--axes <I>': expected the axes in their new order"]),
        ("diff e.npz a.npz --axes fc=", &["expected the axes in their new order, such as 0,3,1,2"]),
        ("diff e.npz a.npz --axes 2,0,1 --accept", &["--axes: --accept writes"]),
    ] {
        folder.refuses(words(args), fragments).unwrap();
    }
}

#[test]
fn a_hint_gives_the_axes_under_which_values_agree() {
    let folder = Folder::new();
    transposed(&folder, &[2, 5, 3, 4], &[0, 2, 3, 1], 0.5);
    folder.put("ones.npy", tensor(&[1, 3, 1, 2], &[1.0_f32, 2., 3., 4., 5., 6.]).npy());
    folder.put("turned.npy", tensor(&[2, 1, 3, 1], &[1.0_f32, 3., 5., 2., 4., 6.]).npy());
    folder.put("square.npy", tensor(&[3, 2, 2], &(0..12).collect::<Vec<i64>>()).npy());
    folder.run(words("transpose square.npy --axes 2,0,1 -o turned2.npy")).printed().unwrap();
    folder.put("sides.npy", tensor(&[4, 4], &(0..16).collect::<Vec<i64>>()).npy());
    folder.put("zeros.npy", tensor(&[4, 4], &[0_i64; 16]).npy());
    folder.run(words("transpose sides.npy -o turned_sides.npy")).printed().unwrap();
    folder.put("sides.npz", npz(&[("s", folder.get("turned_sides.npy"))]));
    let pair =
        |file: &str| npz(&[("w", folder.get(file)), ("v", folder.get("ones.npy")), ("s", folder.get("sides.npy"))]);
    folder.put("e.npz", pair("a.npy")).put("same.npz", pair("same.npy"));
    folder.put("none.npy", tensor::<f32>(&[0, 2], &[]).npy()).put("none2.npy", tensor::<f32>(&[2, 0], &[]).npy());
    let hint = "\n  hint: the values agree under --axes 0,3,1,2\n";
    let rows: &[(&str, i32, &[&str])] = &[
        ("diff a.npy same.npy", 1, &["different: shape [2, 3, 4, 5], expected [2, 5, 3, 4]", hint]),
        ("diff a.npy same.npy -q", 1, &["expected [2, 5, 3, 4]; the values agree under --axes 0,3,1,2\n"]),
        ("diff a.npy same.npy --json", 1, &["\"metadata\": [], \"agreeing_axes\": [0, 3, 1, 2], \"content\": []}"]),
        (
            "diff e.npz same.npz",
            1,
            &["w: shape [2, 3, 4, 5], expected [2, 5, 3, 4]; hint: the values agree under --axes 0,3,1,2"],
        ),
        ("diff a.npy same.npy --min-cosine 0.9", 1, &[hint]),
        // what differs by a value agrees under no axes, but within a tolerance
        ("diff a.npy c.npy", 1, &["!agree"]),
        ("diff a.npy c.npy --json", 1, &["!agree"]),
        ("diff a.npy c.npy --atol 0.6", 1, &[hint]),
        ("diff a.npy c.npy --allow 1", 1, &[hint]),
        ("diff a.npy c.npy --min-cosine 0.9", 1, &[hint]),
        ("diff ones.npy turned.npy", 1, &["agree under --axes 1,2,3,0\n"]),
        // of several orders that give the shape the one with the values
        ("diff square.npy turned2.npy", 1, &["agree under --axes 1,2,0\n"]),
        ("diff a.npy same.npy --axes 3,2,1,0", 1, &["shape [5, 4, 3, 2], expected", hint]),
        // lengths that are equal hide the order of axes
        (
            "diff sides.npy turned_sides.npy",
            1,
            &["different: 12 of 16 items", "  hint: the values agree under --axes 1,0\n"],
        ),
        ("diff sides.npy turned_sides.npy -q", 1, &[", the values agree under --axes 1,0\n"]),
        ("diff sides.npy turned_sides.npy --json", 1, &["\"reason\": \"values\"", "\"agreeing_axes\": [1, 0]"]),
        ("diff sides.npy turned_sides.npy --min-cosine 0.99", 1, &["agree under --axes 1,0"]),
        ("diff sides.npy turned_sides.npy --axes 1,0", 0, &["!agree under"]),
        ("diff sides.npy zeros.npy", 1, &["!agree"]),
        ("diff e.npz sides.npz --only s", 1, &["agree under --axes 1,0"]),
        ("diff none.npy none2.npy", 1, &["!agree"]),
        ("diff a.npy changed.npy", 1, &["!agree"]),
        ("diff ones.npy same.npy", 1, &["!agree"]),
    ];
    reports(&folder, rows);
    assert_eq!(folder.run(words("diff square.npy turned2.npy --axes 1,2,0")).status, Some(0));
}

#[test]
fn the_first_tensor_that_differs_ends_the_comparison() {
    let folder = folders();
    fs::create_dir(folder.path("cut")).unwrap();
    for n in 0..12 {
        let file = folder.get(format!("out/layer_{n}.npy"));
        // nothing after layer 7 is read
        folder.put(format!("cut/layer_{n}.npy"), if n > 7 { &file[..140] } else { &file });
    }
    folder
        .put("order", "layer_3\r\nlayer_10\n\nlayer_7\n")
        .put("notes", "# first\n  layer_3 # one\nlayer_10\n")
        .put("typo", "layer_3\nlayr_10\n")
        .put("typos", "x\ny\n");
    // in the order of storage, which is not that of names
    let one = tensor(&[2], &[1.0_f32, 2.0]).npy();
    let two = tensor(&[2], &[1.0_f32, 3.0]).npy();
    folder.put("e.npz", npz(&[("b", one.clone()), ("gone", one.clone()), ("a", one.clone()), ("c", one.clone())]));
    folder.put("a.npz", npz(&[("new", one.clone()), ("a", two.clone()), ("c", one.clone()), ("b", one.clone())]));
    folder.put(
        "extra.npz",
        npz(&[("new", one.clone()), ("b", one.clone()), ("gone", one.clone()), ("a", one.clone()), ("c", one)]),
    );
    let rows: &[(&str, i32, &[&str])] = &[
        (
            "diff ref cut --first",
            1,
            &[
                "different: layer_7: 1 of 24 items (4.17 %) of float32 [1, 4, 3, 2]\n\n  index ",
                "\n  [0, 2, 2, 1] (flat 17) ",
                "\n\n  before it 7 same, 0 within; after it 4 not compared\n",
                "!layer_10",
            ],
        ),
        (
            "diff ref cut --first -q",
            1,
            &["different: layer_7: 1 of 24 items", "; before it 7 same, 0 within; after it 4 not compared\n"],
        ),
        ("diff raw bad --shapes s.json --first -q", 1, &["different: layer_7: "]),
        ("diff ref raw --shapes s.json --first", 0, &[EQUAL]),
        (
            "diff ref cut --first --order order",
            2,
            &[
                "unreadable: layer_10: ACTUAL cut/layer_10.npy: ",
                "before it 1 same",
                "error: \"layer_10\" cannot be read",
            ],
        ),
        (
            "diff ref out --first --order order",
            1,
            &["different: layer_10: ", "before it 1 same, 0 within; after it 10 not"],
        ),
        (
            "diff ref out --first --order notes",
            1,
            &["different: layer_10: ", "before it 1 same, 0 within; after it 10 not"],
        ),
        ("diff ref out --first --order order --exclude layer_10", 1, &["different: layer_7: ", "before it 1 same"]),
        (
            "diff ref out --first --rtol layer_7=1",
            1,
            &["different: layer_10: ", "before it 9 same, 1 within; after it 1 not"],
        ),
        ("diff ref out --first --only layer_?", 1, &["different: layer_7: ", "after it 2 not compared"]),
        (
            "diff e.npz a.npz --first",
            1,
            &["different: gone: only EXPECTED has it: float32 [2]", "before it 1 same", "after it 3"],
        ),
        (
            "diff e.npz a.npz --first --exclude gone",
            1,
            &["different: a: 1 of 2 items", "before it 1 same", "after it 2"],
        ),
        (
            "diff e.npz extra.npz --first",
            1,
            &["different: new: only ACTUAL has it: float32 [2]", "before it 4 same", "after it 0"],
        ),
        ("diff e.npz extra.npz --first --exclude new", 0, &["equal: 4 same"]),
        ("diff ref/layer_7.npy out/layer_7.npy --first", 1, &["different: 1 of 24 items"]),
        (
            "diff ref out --first --axes 0,2,3,1",
            1,
            &[
                "different: layer_0: shape [1, 3, 2, 4], expected [1, 4, 3, 2]\n  hint: the values agree under --axes 0,1,2,3\n",
            ],
        ),
    ];
    reports(&folder, rows);
    let object = |args: &str| -> Value { serde_json::from_slice(&folder.run(words(args)).stdout).unwrap() };
    let found = object("diff ref cut --first --json");
    assert_eq!(
        (&found["counts"]["same"], &found["counts"]["different"], &found["not_compared"]),
        (&json!(7), &json!(1), &json!(4))
    );
    let names: Vec<_> = found["tensors"].as_array().unwrap().iter().map(|one| &one["name"]).collect();
    assert_eq!(names, ["layer_7"]);
    assert_eq!(found["tensors"][0]["first"][0]["flat"], 17);
    let found = object("diff ref raw --shapes s.json --first --json");
    assert_eq!((&found["equal"], &found["not_compared"], &found["tensors"]), (&json!(true), &json!(0), &json!([])));
    assert!(object("diff ref out --json").get("not_compared").is_none());
    for (args, fragment) in [
        (
            "diff ref out --first --order typo",
            "--order typo: no tensor is called \"layr_10\"; did you mean \"layer_10\"",
        ),
        ("diff ref out --first --order typos", "--order typos: no tensors are called \"x\", \"y\""),
        ("diff ref out --first --order no", "--order no: No such file"),
        ("diff ref out --order order", "--first"),
        ("diff ref out --first --accept", "--first: --accept writes"),
    ] {
        folder.refuses(words(args), &[fragment]).unwrap();
    }
}

#[test]
fn only_tensors_that_differ_are_reported() {
    let folder = folders();
    let rows: &[(&str, i32, &[&str])] = &[
        (
            "diff ref out --rtol layer_7=1",
            1,
            &["different: 10 same, 1 within, 1 different", "layer_7\n", "layer_10: axis"],
        ),
        (
            "diff ref out --rtol layer_7=1 --only-different",
            1,
            &["different: 10 same, 1 within, 1 different", "layer_10: axis", "!layer_7"],
        ),
        (
            "diff ref out --rtol 9 --only-different",
            0,
            &["equal: 10 same, 2 within, 0 different, 0 missing, 0 extra\n", "!layer"],
        ),
        ("diff ref out --rtol 9 --only-different -q", 0, &["equal: 10 same, 2 within", "!worst"]),
        ("diff ref out --only-different --sort name --limit 1", 1, &["layer_7: axis", "and 1 more", "!layer_10"]),
    ];
    reports(&folder, rows);
    let names = |args: &str| -> Vec<String> {
        let found: Value = serde_json::from_slice(&folder.run(words(args)).stdout).unwrap();
        assert_eq!((&found["counts"]["same"], &found["equal"]), (&json!(10), &json!(false)), "{args}");
        let tensors = found["tensors"].as_array().unwrap();
        tensors.iter().map(|one| one["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names("diff ref out --json --only-different"), ["layer_7", "layer_10"]);
    assert_eq!(names("diff ref out --json --only-different --rtol layer_7=1"), ["layer_10"]);
    assert_eq!(names("diff ref out --json").len(), 12);
}
