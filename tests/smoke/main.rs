//! The shortest useful answer on whether the program works: a row for each operator, each format and each of the other
//! sub-commands. It is a binary of its own, which is built and run in seconds; `tests/cli/` has the thorough tests.

#[path = "../common/mod.rs"]
mod common;

use crate::common::{Folder, SPECS, difference, each, npz, tensor, words};

/// A folder with a few tensors: `d.npy` of float32 [2, 3], and `two.npz` with the int64 tensors `a` and `b`.
fn folder() -> Folder {
    let folder = Folder::new();
    let [a, b] = [tensor(&[2], &[1_i64, 2]), tensor(&[1, 1], &[3])];
    folder.put("d.npy", tensor(&[2, 3], &[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0]).npy());
    folder.put("two.npz", npz(&[("a", a.npy()), ("b", b.npy())]));
    folder
}

/// Checks the standard output of commands that succeed, each in a folder of its own.
#[track_caller]
fn prints(rows: &[(&str, &str)]) {
    each(
        rows,
        |(args, _)| format!("`{args}`"),
        |(args, expected)| {
            let printed = folder().run(words(args)).printed()?;
            if printed.trim_end() == *expected { Ok(()) } else { Err(format!("{printed:?}, expected {expected:?}")) }
        },
    );
}

#[test]
fn operators() {
    each(
        SPECS.iter().flat_map(|spec| spec.rows.iter().map(move |row| (spec, row))),
        |(spec, row)| format!("{} {}", spec.operator, row.args),
        |(spec, row)| {
            let folder = Folder::new();
            spec.put(row, &folder);
            let args = spec.args(row, &[]).into_iter().chain(words("-o o.npy"));
            let printed = folder.run(args).printed()?;
            let is_same = folder.get("o.npy") == row.output();
            if printed.is_empty() && is_same { Ok(()) } else { Err(difference(&folder.get("o.npy"), &row.output())) }
        },
    );
    prints(&[
        ("scatter-nd d.npy [[0,1],[0,1]] [8,9] --reduction add --to csv", "1.0,19.0,3.0\n4.0,5.0,6.0"),
        ("slice-scatter d.npy --fill 0 --at :,:1 --to csv", "0.0,2.0,3.0\n0.0,5.0,6.0"),
    ]);
}

/// An operator with several outputs: what is split and joined again is as it was.
#[test]
fn several_outputs() {
    let folder = folder();
    assert_eq!(folder.run(words("split d.npy --parts 2 -o half-*.npy")).printed().as_deref(), Ok(""));
    let joined = folder.run(words("concat half-0.npy half-1.npy --to csv")).printed();
    assert_eq!(joined.as_deref(), Ok("1.0,2.0,3.0\n4.0,5.0,6.0\n"));
    assert_eq!(folder.run(words("split d.npy --lengths 1,-1 --axis 1 -o parts.npz")).printed().as_deref(), Ok(""));
    assert_eq!(folder.run(words("slice parts.npz:1 --at : --to csv")).printed().as_deref(), Ok("2.0,3.0\n5.0,6.0\n"));
}

/// Each format is written, and read as the tensor that it was.
#[test]
fn formats() {
    // a file to write, and how it is named to be read; text alone is not read
    let rows = [
        ("x.npy", "x.npy"),
        ("x.npz", "x.npz"),
        ("x.safetensors", "x.safetensors"),
        ("x.pb", "x.pb"),
        #[cfg(feature = "zarr")]
        ("x.zarr", "x.zarr"),
        ("x.json", "x.json"),
        ("x.csv", "x.csv"),
        ("x.tsv", "x.tsv"),
        ("x.bin", "x.bin:float32[2,3]"),
    ];
    each(
        rows,
        |(file, _)| (*file).to_owned(),
        |(file, name)| {
            let folder = folder();
            let printed = folder.run(["convert", "d.npy", "-o", file]).printed()?;
            // cells have no dtype: 1.0 is of float64
            let verdict = folder.run(["diff", "d.npy", name, "--ignore-dtype"]).printed()?;
            let is_same = verdict.starts_with("equal: 6 items of float");
            if printed.is_empty() && is_same { Ok(()) } else { Err(format!("{printed:?}, {verdict:?}")) }
        },
    );
    prints(&[("convert d.npy --to text", "[[1. 2. 3.]\n [4. 5. 6.]]")]);
}

/// Formats that are only read.
#[test]
fn formats_of_models() {
    let folder = folder();
    folder.put("m.gguf", include_bytes!("../golden/gguf/quantized.gguf"));
    folder.put("m.npz", include_bytes!("../golden/gguf/quantized.npz"));
    let verdict = folder.run(words("diff m.gguf m.npz")).printed();
    assert_eq!(verdict.as_deref(), Ok("equal: 8 same, 0 within, 0 different, 0 missing, 0 extra\n"));
    folder.put("m.onnx", include_bytes!("../golden/onnx/models/4.onnx"));
    folder.put("m.xml", include_bytes!("../golden/openvino/3.xml"));
    folder.put("m.bin", include_bytes!("../golden/openvino/3.bin"));
    for (member, verdict) in [
        ("m.onnx:t75", "equal: 5 items of int64 [5, 1]\n"),
        ("m.xml:chosen/then_body/inner", "equal: 2 items of float32 [2]\n"),
    ] {
        assert_eq!(folder.run(["convert", member, "-o", "w.npy"]).printed().as_deref(), Ok(""));
        assert_eq!(folder.run(["diff", member, "w.npy"]).printed().as_deref(), Ok(verdict));
    }
    folder.put("m.pt", common::torch::archive()).put("old.pth", common::torch::stream());
    let verdict = folder.run(words("diff m.pt old.pth --only model.*")).printed();
    assert_eq!(verdict.as_deref(), Ok("equal: 3 same, 0 within, 0 different, 0 missing, 0 extra\n"));
}

#[test]
fn other_sub_commands() {
    prints(&[
        ("show d.npy", "d.npy: float32 [2, 3]\n[[1. 2. 3.]\n [4. 5. 6.]]"),
        ("show two.npz:a", "two.npz:a: int64 [2]\n[1 2]"),
        ("show d.npy --at :1", "d.npy: float32 [2, 3] at :1 -> [1, 3]\n[[1. 2. 3.]]"),
        ("info d.npy", "name   dtype    shape   size\nd.npy  float32  [2, 3]  24 B"),
        (
            "info two.npz",
            "name     dtype      shape    size\n\
             two.npz\n  a      int64      [2]      16 B\n  b      int64      [1, 1]    8 B\n  total  2 tensors  3 items  24 B",
        ),
        ("diff d.npy d.npy", "equal: 6 items of float32 [2, 3]"),
        ("diff two.npz two.npz", "equal: 2 same, 0 within, 0 different, 0 missing, 0 extra"),
        (
            "diff d.npy [[1,2,3],[4,5,7]] --ignore-dtype --atol 1 --quiet",
            "equal within the tolerance: 1 of 6 items of float32 [2, 3] differ in bits; largest |a - e| 1, rmse \
             0.4082, cosine 0.9971",
        ),
        (
            "transpose d.npy -o t.npy --dry-run",
            "transpose (ONNX Transpose, OpenVINO Transpose-1)\n  DATA d.npy: float32 [2, 3]\n  axes [1, 0]\n  output t.npy: npy of \
             float32 [3, 2], 24 bytes of data",
        ),
        ("slice-scatter d.npy --fill 0 --at : --in-place", ""),
        ("convert two.npz -o two.safetensors", ""),
    ]);
}

#[test]
fn differences_have_status_1_and_errors_2() {
    let rows = [
        ("diff d.npy [[1,2,3],[4,5,7]] --ignore-dtype", 1, "different: 1 of 6 items"),
        ("diff two.npz:a two.npz:b", 1, "different: shape [1, 1], expected [2]"),
        ("show missing.npy", 2, "error: FILE missing.npy: "),
        ("slice d.npy --at 0:1,0:1,0:1", 2, "error: --at"),
        ("gather d.npy [9] --axis 1", 2, "error: INDICES [9]: "),
        ("scatter-nd d.npy [[0,0]] [1,2]", 2, "error: UPDATES [1,2]: "),
        ("show two.npz:c", 2, "error: FILE two.npz:c: has no tensor \"c\""),
        ("slize d.npy", 2, "error: unrecognized subcommand 'slize'"),
    ];
    each(
        rows,
        |(args, ..)| format!("`{args}`"),
        |(args, status, begin)| {
            let run = folder().run(words(args));
            let said =
                if *status == 1 { String::from_utf8_lossy(&run.stdout).into_owned() } else { run.stderr.clone() };
            if run.status == Some(*status) && said.starts_with(begin) { Ok(()) } else { Err(format!("{run:?}")) }
        },
    );
}

/// Standard input and output, and the tests that the program has built in.
#[test]
fn streams_and_built_in_tests() {
    let folder = folder();
    let input = folder.get("d.npy");
    let run = folder.run_with(words("transpose - --to npy"), None, Some(&input));
    assert_eq!((run.status, run.stderr.as_str()), (Some(0), ""));
    let run = folder.run_with(words("transpose - --to csv"), None, Some(&run.stdout));
    assert_eq!(run.printed().as_deref(), Ok("1.0,2.0,3.0\n4.0,5.0,6.0\n"));
    let printed = folder.run(words("check --only transpose/* --quiet")).printed().expect("no test fails");
    assert!(printed.ends_with(" passed, 0 failed, 0 unsupported, 0 broken\n"), "{printed}");
}
