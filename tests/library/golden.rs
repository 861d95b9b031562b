//! Golden files in tests of Rust programs: everything that is compared with one, what a failure says, and new ones.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Output};

use assert_cmd::assert::OutputAssertExt;
use half::{bf16, f16};
use ndarray::{ArrayD, ArrayView1, Axis, AxisDescription, ShapeBuilder, Slice, arr0, array};
use num_complex::Complex;
use predicates::prelude::*;
use predicates::reflection::Case;
use tempfile::TempDir;
use tensorop::golden::{Compared, KEEP_ACTUAL, TensorEq, UPDATE, golden as golden_tensor, tensor_eq};
use tensorop::{Element, Tensor, assert_tensor_eq, read, write};

/// Asserts, and returns what a failure says.
fn said<A: Compared + ?Sized>(golden: impl Into<TensorEq>, actual: &A) -> Option<String> {
    let golden = golden.into();
    let failed = catch_unwind(AssertUnwindSafe(|| assert_tensor_eq!(golden.clone(), actual))).err()?;
    Some(failed.downcast_ref::<String>().expect("a message").clone())
}

/// A golden file of a tensor, and its path.
fn golden(folder: &TempDir, name: &str, tensor: &Tensor) -> PathBuf {
    let path = folder.path().join(name);
    write(&path, tensor).expect("written");
    path
}

#[test]
fn paths_and_bytes() {
    let folder = tempfile::tempdir().expect("a folder");
    let (one, other) = (Tensor::from(&array![1.0_f32, 2.0]), Tensor::from(&array![1.0_f32, 2.5]));
    let path = golden(&folder, "one.npy", &one);
    let text = path.to_str().expect("UTF-8");
    // the golden file in any form that a path has, and what is compared in any format
    for name in ["same.npy", "same.safetensors", "same.pb", "same.npz"] {
        assert_tensor_eq!(text, &golden(&folder, name, &one));
    }
    let bytes = std::fs::read(&path).expect("the golden file");
    assert_tensor_eq!(text.to_owned(), text);
    assert_tensor_eq!(path.as_path(), path.as_path());
    assert_tensor_eq!(path.clone(), text.to_owned());
    assert_tensor_eq!(&path, &bytes[..]);
    assert_tensor_eq!(&path, bytes);
    assert_tensor_eq!(&path, &bytes);
    assert_tensor_eq!(&path, br#"{"dtype": "float32", "data": [1, 2]}"#);
    let archive = folder.path().join("c.npz");
    tensorop::write_all(&archive, [("one", &one), ("other", &other)]).expect("written");
    assert_tensor_eq!(format!("{}:one", archive.display()), text);
}

/// What is asserted as assert_cmd and predicates do it; that this compiles as it is written is a part of the test.
#[test]
fn predicates_need_no_type_annotation() {
    let folder = tempfile::tempdir().expect("a folder");
    let (one, other) = (Tensor::from(&array![1.0_f32, 2.0]), Tensor::from(&array![1.0_f32, 2.5]));
    let path = golden(&folder, "one.npy", &one);
    let wrong = golden(&folder, "other.npy", &other);
    let bytes = std::fs::read(&path).expect("the golden file");
    let printed = |path: &Path| {
        let stdout = std::fs::read(path).expect("a golden file");
        Output { status: ExitStatus::default(), stdout, stderr: Vec::new() }.assert().success()
    };
    // what a program prints
    printed(&path).stdout(tensor_eq(&path).ulp(2)).stdout(tensor_eq(&wrong).rtol(0.5).and(tensor_eq(&wrong).not()));
    let refused = printed(&wrong).try_stdout(tensor_eq(&path).ulp(2)).expect_err("another tensor");
    assert!(refused.to_string().contains("different: 1 of 2 items"), "{refused}");
    // bytes, as a slice and as what owns it, paths, and arrays
    assert!(tensor_eq(&path).eval(&bytes) && tensor_eq(&path).eval(&bytes[..]) && !tensor_eq(&wrong).eval(&bytes));
    assert!(tensor_eq(&path).eval(Path::new(&path)) && tensor_eq(&path).eval(&path));
    assert!(!tensor_eq(&path).eval(wrong.as_path()) && tensor_eq(&path).atol(0.5).eval(&wrong));
    assert!(tensor_eq(&path).eval(&array![1.0_f32, 2.0]) && !tensor_eq(&path).eval(&array![1.0_f32, 2.5].view()));
    // together with others, for bytes and for paths
    assert!(tensor_eq(&path).and(predicate::always()).eval(&bytes) && tensor_eq(&wrong).not().eval(&bytes));
    assert!(tensor_eq(&wrong).or(tensor_eq(&path)).boxed().eval(&bytes));
    let file = predicate::path::is_file().and(tensor_eq(&path).for_path());
    assert!(file.eval(&path) && !file.eval(&wrong) && !file.eval(folder.path()));
    // what a failure says of either
    let told = |case: Case<'_>| {
        case.products().map(|product| format!("{}: {}", product.name(), product.value())).collect::<String>()
    };
    let (of_bytes, of_path) = (tensor_eq(&wrong), tensor_eq(&wrong).for_path());
    assert_eq!(of_path.to_string(), format!("the tensor of {}", wrong.display()));
    assert!(of_bytes.find_case(true, &bytes).is_none() && of_path.find_case(true, &path).is_none());
    for case in [of_bytes.find_case(false, &bytes), of_path.find_case(false, &path)] {
        let case = case.map(told);
        assert!(case.as_ref().is_some_and(|told| told.starts_with("diff: \ndifferent: 1 of 2 items")), "{case:?}");
    }
}

#[test]
fn arrays_of_every_type() {
    fn check<T: Element>(folder: &TempDir, items: [T; 6]) {
        let array = ArrayD::from_shape_vec(vec![2, 3], items.to_vec()).expect("an array");
        let path = golden(folder, "golden.npy", &Tensor::from(&array));
        assert_tensor_eq!(&path, &array);
        assert_tensor_eq!(&path, array.view());
        assert_tensor_eq!(&path, &array.clone().into_shared());
        // stored in another order, with steps and backwards: what counts is the logical order
        let mut fortran = ArrayD::from_elem(vec![2, 3].f(), items[0]);
        fortran.assign(&array);
        assert_tensor_eq!(&path, &fortran);
        let mut wide = ArrayD::from_elem(vec![4, 6], items[0]);
        let steps = |axis: AxisDescription| Slice::new(0, None, [-2, 2][axis.axis.index()]);
        wide.slice_each_axis_mut(steps).assign(&array);
        assert_tensor_eq!(&path, &wide.slice_each_axis(steps));
        let turned = golden(folder, "turned.npy", &Tensor::from(&array.t()));
        assert_tensor_eq!(&turned, &array.t());
        assert!(said(&path, &array.t()).is_some_and(|said| said.contains("different: shape [3, 2], expected [2, 3]")));
        let mut backwards = array.view();
        backwards.invert_axis(Axis(1));
        assert_eq!(said(&path, &backwards).is_some(), items[0] != items[2] || items[3] != items[5]);
    }
    let folder = tempfile::tempdir().expect("a folder");
    check(&folder, [true, false, true, true, false, false]);
    check(&folder, [1_u8, 2, 3, 4, 5, 255]);
    check(&folder, [-1_i8, 2, 3, 4, 5, 6]);
    check(&folder, [1_u16, 2, 3, 4, 5, 6]);
    check(&folder, [-1_i16, 2, 3, 4, 5, 6]);
    check(&folder, [1_u32, 2, 3, 4, 5, 6]);
    check(&folder, [-1_i32, 2, 3, 4, 5, 6]);
    check(&folder, [u64::MAX, 2, 3, 4, 5, 6]);
    check(&folder, [i64::MIN, 2, 3, 4, 5, 6]);
    check(&folder, [1.0, 2.0, 3.0, 4.0, -0.0, 6e4].map(f16::from_f64));
    check(&folder, [1.0, 2.0, 3.0, 4.0, -0.0, 1e30].map(bf16::from_f64));
    check(&folder, [1.0_f32, f32::NAN, 3.0, f32::INFINITY, -0.0, 1e-45]);
    check(&folder, [1.0_f64, 2.0, 3.0, f64::NEG_INFINITY, -0.0, 5e-324]);
    check(&folder, [1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0].map(|re| Complex::new(re, -re)));
    check(&folder, [1.0_f64, 2.0, 3.0, 4.0, 5.0, 6.0].map(|re| Complex::new(re, -re)));
    // no axis, and no items
    assert_tensor_eq!(golden(&folder, "scalar.npy", &Tensor::from(&arr0(5_i64))), &arr0(5_i64));
    let none: &[f32] = &[];
    assert_tensor_eq!(golden(&folder, "none.npy", &Tensor::from(&ArrayView1::from(none))), &ArrayView1::from(none));
}

#[test]
fn what_a_failure_says() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = golden(&folder, "golden.npy", &Tensor::from(&array![1.0_f32, 2.0, f32::NAN]));
    let shown = path.display();
    let close = array![1.0_f32, 2.000_001, f32::NAN];
    let all = tensor_eq(&path).rtol(1e-5).atol(1e-8).ulp(2);
    assert_eq!(said(all.clone(), &close), None);
    assert_eq!(said(tensor_eq(&path).ulp(4), &close), None);
    let rows = [
        (said(&path, &close), format!("not the tensor of {shown}:\ndifferent: 1 of 3 items (33.3 %) of float32 [3]\n")),
        (
            said(all, &array![1.0_f32, 3.0, f32::NAN]),
            format!("not the tensor of {shown}, atol 1e-8, rtol 1e-5, 2 ulp:\ndifferent: 1 of 3 items"),
        ),
        (
            said(&path, &array![1.0_f64, 2.0, f64::NAN]),
            format!("not the tensor of {shown}:\ndifferent: dtype float64, expected float32"),
        ),
        (
            said(tensor_eq(&path).ignore_dtype().nan_differs(), &array![1.0_f64, 2.0, f64::NAN]),
            "1 of 3 items".to_owned(),
        ),
        (said(&path, "nowhere.npy"), "nowhere.npy: ".to_owned()),
        (said(&path, b"garbage"), "the output: ".to_owned()),
        (
            said(folder.path().join("new.npy"), &close),
            format!("run the test with {UPDATE}=1 to make it: golden file {}", folder.path().join("new.npy").display()),
        ),
    ];
    for (found, expected) in rows {
        let found = found.expect("a failure");
        assert!(found.contains(&expected), "{found}\nlacks {expected}");
    }
    assert_eq!(said(tensor_eq(&path).ignore_dtype(), &array![1.0_f64, 2.0, f64::NAN]), None);
}

#[test]
fn texts_without_a_dtype_are_read_as_the_program_reads_them() {
    let folder = tempfile::tempdir().expect("a folder");
    let put = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("written");
        path
    };
    let (json, csv) = (put("plain.json", "[1, 2.5]"), put("plain.csv", "1\n2.5\n"));
    let typed = golden(&folder, "f32.npy", &Tensor::from(&array![1.0_f32, 2.5]));
    let (half, ints) = (array![1.0, 2.5].mapv(f16::from_f64), put("ints.json", "[1, 2]"));
    let equal: [(&Path, &dyn Compared); 9] = [
        (&json, &array![1.0_f32, 2.5]),
        (&json, &half),
        (&csv, &array![1.0_f32, 2.5]),
        (&json, &typed),
        (&typed, &json),
        (&typed, &csv),
        (&typed, b"[1.0, 2.5]"),
        // two texts have a common dtype
        (&ints, b"[1.0, 2.0]"),
        (&json, &csv),
    ];
    for (n, (golden, actual)) in equal.into_iter().enumerate() {
        assert_eq!(said(golden, actual), None, "row {n}");
    }
    let different: [(&Path, &dyn Compared, &str); 5] = [
        (&json, &array![1.0_f32, 3.0], "different: 1 of 2 items (50 %) of float32 [2]"),
        (&json, &array![1_i64, 2], "plain.json: [1]: 2.5 is not an integer (int64)"),
        (
            &golden(&folder, "int.npy", &Tensor::from(&array![1_i64, 2])),
            b"[1.5, 2]",
            "the output: [0]: 1.5 is not an integer",
        ),
        (&json, br#"["a", "b"]"#, "the output: "),
        (&json, br#"{"dtype": "float32", "data": [1, 3]}"#, "different: 1 of 2 items (50 %) of float32 [2]"),
    ];
    for (golden, actual, expected) in different {
        let found = said(golden, actual).expect("a failure");
        assert!(found.contains(expected), "{found}\nlacks {expected}");
    }
}

#[test]
fn a_message_stands_before_the_report() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = golden(&folder, "golden.npy", &Tensor::from(&array![1.0_f32]));
    let (name, layer) = ("w", 3);
    assert_tensor_eq!(&path, &array![1.0_f32], "layer {layer}");
    assert_tensor_eq!(&path, &array![1.0_f32], "layer",);
    let fails = || assert_tensor_eq!(tensor_eq(&path).ulp(1), &array![2.0_f32], "layer {} of {name}", layer);
    let failed = catch_unwind(AssertUnwindSafe(fails)).expect_err("a difference");
    let failed = failed.downcast_ref::<String>().expect("a message");
    let expected = format!("layer 3 of w: not the tensor of {}, 1 ulp:\ndifferent: 1 of 1 item", path.display());
    assert!(failed.starts_with(&expected), "{failed}");
}

/// Names the folder in which `in_a_process_of_its_own` compares: the variable [`UPDATE`] is read from the process, of which
/// other tests are a part.
const FOLDER: &str = "TENSOROP_TEST_GOLDEN";

/// Runs a test of this file with a value of [`UPDATE`], and of [`KEEP_ACTUAL`]. Returns whether it passed, and what it printed
/// on standard error.
fn run_test(test: &str, folder: &Path, value: &str, kept: &str) -> (bool, String) {
    let run = Command::new(std::env::current_exe().expect("this program"))
        .args([&format!("golden::{test}"), "--exact", "--nocapture"])
        .envs([(FOLDER, folder.as_os_str()), (UPDATE, value.as_ref()), (KEEP_ACTUAL, kept.as_ref())])
        .output()
        .expect("this program runs");
    (run.status.success(), String::from_utf8_lossy(&run.stderr).into_owned())
}

fn run_with(folder: &TempDir, value: &str) -> (bool, String) {
    run_test("in_a_process_of_its_own", folder.path(), value, "")
}

#[test]
fn in_a_process_of_its_own() {
    let Some(folder) = std::env::var_os(FOLDER).map(PathBuf::from) else { return };
    let actual = array![1_i64, 2, 3];
    // plain JSON keeps the dtype of the golden file where it can
    assert_tensor_eq!(folder.join("typed.npy"), b"[1, 2, 5]");
    assert_tensor_eq!(folder.join("whole.npy"), b"[1.5, 2]");
    // other items, another dtype, what is no tensor; in every format, and beside other tensors
    for name in ["a.npy", "b.json", "c.safetensors", "d.npz:x", "e.pb", "f.csv", "g.npy", "new/deep.npy"] {
        assert_tensor_eq!(folder.join(name), &actual.view());
    }
    assert_tensor_eq!(tensor_eq(folder.join("near.npy")).atol(1.0), &actual);
    assert!(said(folder.join("d.npz"), &actual).is_some_and(|said| said.contains("holds 2 tensors")));
    assert!(said(folder.join("h.json:y"), &actual).is_some());
    assert!(said(folder.join("a.npy"), "nowhere.npy").is_some_and(|said| said.contains("nowhere.npy")));
}

#[test]
fn new_golden_files() {
    let folder = tempfile::tempdir().expect("a folder");
    let (old, near) = (Tensor::from(&array![1.5_f32]), Tensor::from(&array![1_i64, 2, 4]));
    for name in ["a.npy", "b.json", "c.safetensors", "e.pb", "f.csv"] {
        golden(&folder, name, &old);
    }
    tensorop::write_all(folder.path().join("d.npz"), [("x", &old), ("y", &old)]).expect("written");
    std::fs::write(folder.path().join("g.npy"), "no tensor").expect("written");
    let body = r#"{"inputs": [{"name": "y", "shape": [1], "datatype": "FP32", "data": [1]}]}"#;
    std::fs::write(folder.path().join("h.json"), body).expect("written");
    golden(&folder, "near.npy", &near);
    golden(&folder, "typed.npy", &Tensor::from(&array![1.0_f32, 2.0, 3.0]));
    golden(&folder, "whole.npy", &Tensor::from(&array![1_i64, 2]));
    let (passed, told) = run_with(&folder, "1");
    assert!(passed, "{told}");
    let wanted = Tensor::from(&array![1_i64, 2, 3]);
    for name in ["a.npy", "b.json", "c.safetensors", "d.npz:x", "e.pb", "f.csv", "g.npy", "new/deep.npy"] {
        let path = folder.path().join(name);
        assert_eq!(read(&path).expect(name), wanted, "{name}");
        assert!(told.contains(&format!("wrote golden file {}: int64 [3]", path.display())), "{name}: {told}");
    }
    assert_eq!(read(folder.path().join("near.npy")).expect("near"), near);
    assert_eq!(read(folder.path().join("d.npz:y")).expect("y"), old);
    assert_eq!(read(folder.path().join("typed.npy")).expect("typed"), Tensor::from(&array![1.0_f32, 2.0, 5.0]));
    assert_eq!(read(folder.path().join("whole.npy")).expect("whole"), Tensor::from(&array![1.5_f64, 2.0]));
    // what was no tensor is now one in the format of its name, with a word
    assert!(told.contains("g.npy: int64 [3]; before, golden file ") && told.contains("not JSON"), "{told}");
    assert!(std::fs::read(folder.path().join("g.npy")).expect("read").starts_with(b"\x93NUMPY"));
    assert_eq!(told.matches("wrote ").count(), 10, "{told}");
    let left = std::fs::read_dir(folder.path()).expect("a folder").count();
    assert_eq!(std::fs::read_to_string(folder.path().join("h.json")).expect("read"), body);
    assert!(told.contains("can be read, not written"), "{told}");
    assert_eq!(left, 12, "what is left beside the files");
    // every assertion passes now, so nothing is written with any known value, and none passes with another
    for value in ["True", "yes", "0", "no", "FALSE", ""] {
        let (passed, told) = run_with(&folder, value);
        assert!(passed && !told.contains("wrote "), "{value:?}: {told}");
    }
    let (passed, told) = run_with(&folder, "on");
    let message = r#"TENSOROP_UPDATE_GOLDEN: "on" is not known, expected 1, true, yes, 0, false, no or nothing"#;
    assert!(!passed && told.contains(message), "{told}");
}

#[test]
fn nothing_is_made_where_nothing_is_accepted() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("a.npy"), []).expect("written");
    let (passed, told) = run_with(&folder, "no");
    assert!(!passed && !told.contains("wrote "), "{told}");
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 1);
}

#[test]
fn predicates_in_a_process_of_its_own() {
    let Some(folder) = std::env::var_os(FOLDER).map(PathBuf::from) else { return };
    let (file, actual) = (folder.join("file.npy"), folder.join("actual.npy"));
    let old = std::fs::read(&file).expect("a golden file");
    let bytes = std::fs::read(&actual).expect("a tensor");
    let printed = || {
        let output = Output { status: ExitStatus::default(), stdout: bytes.clone(), stderr: Vec::new() };
        output.assert()
    };
    let other = || tensor_eq(&actual);
    // what may fail although the test passes
    let never: [(&str, &dyn Fn() -> bool); 16] = [
        ("not", &|| tensor_eq(&file).not().eval(&bytes)),
        ("or", &|| tensor_eq(&file).or(other()).eval(&bytes)),
        ("and", &|| !tensor_eq(&file).and(other()).eval(&bytes)),
        ("boxed", &|| !Predicate::eval(&tensor_eq(&file).boxed(), &bytes)),
        ("inherent", &|| !tensor_eq(&file).eval(&bytes)),
        ("an array", &|| !tensor_eq(&file).eval(&array![7.0])),
        ("path", &|| !tensor_eq(&file).for_path().eval(&actual)),
        ("printed", &|| printed().try_stdout(tensor_eq(&file)).is_err()),
        ("printed not", &|| printed().try_stdout(tensor_eq(&file).not()).is_ok()),
        ("printed or", &|| printed().try_stdout(tensor_eq(&file).or(other())).is_ok()),
        ("printed and", &|| printed().try_stdout(other().and(tensor_eq(&file))).is_err()),
        ("printed path", &|| tensor_eq(&file).for_path().find_case(false, &actual).is_some()),
        ("golden not", &|| golden_tensor(&file).not().eval(&bytes)),
        ("golden or", &|| golden_tensor(&file).or(other()).eval(&bytes)),
        ("golden printed not", &|| printed().try_stdout(golden_tensor(&file).not()).is_ok()),
        ("golden path not", &|| golden_tensor(&file).for_path().not().eval(&actual)),
    ];
    for (name, holds) in never {
        assert!(holds(), "{name}");
        assert!(std::fs::read(&file).expect("a golden file") == old, "{name} writes");
    }
    let writes: [(&str, &dyn Fn()); 6] = [
        ("golden", &|| assert!(golden_tensor(&file).eval(&bytes))),
        ("golden path", &|| assert!(golden_tensor(&file).eval(actual.as_path()))),
        ("golden printed", &|| drop(printed().stdout(golden_tensor(&file).rtol(1e-5)))),
        ("golden for_path", &|| assert!(golden_tensor(&file).for_path().find_case(false, &actual).is_none())),
        ("macro", &|| assert_tensor_eq!(&file, &bytes)),
        ("macro with limits", &|| assert_tensor_eq!(tensor_eq(&file).ulp(1), &bytes)),
    ];
    for (name, assert) in writes {
        std::fs::write(&file, &old).expect("written");
        assert();
        assert!(std::fs::read(&file).expect("a golden file") == bytes, "{name} does not write");
    }
}

/// A predicate is not told what it is a part of, so only the one that says so in its name writes.
#[test]
fn an_update_writes_only_what_is_asserted() {
    let folder = tempfile::tempdir().expect("a folder");
    golden(&folder, "file.npy", &Tensor::from(&array![1.0, 2.0]));
    golden(&folder, "actual.npy", &Tensor::from(&array![1.0, 3.0]));
    let (passed, told) = run_test("predicates_in_a_process_of_its_own", folder.path(), "1", "");
    assert!(passed && told.matches("wrote golden file ").count() == 6, "{told}");
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 2);
    let missing = folder.path().join("missing.npy");
    for (predicate, how) in
        [(golden_tensor(&missing), "=1 to make it: "), (tensor_eq(&missing), "=1 and golden(FILE) to make it: ")]
    {
        let case = predicate.find_case(false, &b"[1]"[..]).expect("a failure");
        let told: String = case.products().map(|product| product.value().to_string()).collect();
        assert!(told.contains(how), "{told}");
    }
}

/// Asserts each pair of a golden file and a tensor in the lines of the file `pairs`, and prints for each whether it passed.
#[test]
fn pairs_in_a_process_of_its_own() {
    let Some(folder) = std::env::var_os(FOLDER).map(PathBuf::from) else { return };
    for line in std::fs::read_to_string(folder.join("pairs")).expect("pairs").lines() {
        let [golden, actual, nan_differs] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let golden = tensor_eq(folder.join(golden));
        let golden = if nan_differs == "yes" { golden.nan_differs() } else { golden };
        let told = said(golden, &folder.join(actual)).unwrap_or_else(|| "passed".to_owned());
        eprintln!("pair {}", told.replace('\n', " | "));
    }
}

/// Runs the pairs. Returns what is printed of each.
fn told_of_pairs(folder: &Path, pairs: &[(&str, &str, &str)], value: &str, kept: &str) -> Vec<String> {
    let lines: String = pairs.iter().map(|(golden, actual, nan)| format!("{golden}\t{actual}\t{nan}\n")).collect();
    std::fs::write(folder.join("pairs"), lines).expect("written");
    let (passed, told) = run_test("pairs_in_a_process_of_its_own", folder, value, kept);
    assert!(passed, "{told}");
    let told: Vec<_> = told.lines().filter_map(|line| line.strip_prefix("pair ")).map(str::to_owned).collect();
    assert_eq!(told.len(), pairs.len());
    told
}

#[test]
fn what_would_not_pass_is_not_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let put = |name: &str, content: &[u8]| std::fs::write(folder.path().join(name), content).expect("written");
    let nan = Tensor::from(&array![f32::from_bits(0x7fc0_0001), 1.0]);
    golden(&folder, "nan.npy", &nan);
    golden(&folder, "column.npy", &Tensor::from(&array![[1_i64], [2]]));
    put("words.json", br#"["007", "1e3"]"#);
    put("typed.json", br#"{"dtype": "<U3", "data": ["007", "1e3"]}"#);
    put("mixed.json", br#"["true", "x"]"#);
    put("empty.npy", b"");
    put("cut.npy", &std::fs::read(folder.path().join("nan.npy")).expect("a file")[..130]);
    put("wrong.json", br#"{"dtype": "uint8", "data": [300, 1]}"#);
    put("hdf.npy", b"\x89HDF\r\n\x1a\n and more");
    let rows = [
        ("words.csv", "words.json", "no", false),
        ("words.csv", "typed.json", "no", true),
        ("mixed.tsv", "mixed.json", "no", false),
        ("mixed.json", "mixed.json", "no", true),
        ("nan.json", "nan.npy", "no", true),
        ("bits.json", "nan.npy", "yes", false),
        ("column.csv", "column.npy", "no", false),
        ("empty.npy", "nan.npy", "yes", true),
        ("cut.npy", "nan.npy", "yes", true),
        ("wrong.json", "nan.npy", "no", true),
        ("hdf.npy", "nan.npy", "no", false),
    ];
    let pairs: Vec<_> = rows.iter().map(|(golden, actual, nan, _)| (*golden, *actual, *nan)).collect();
    let before: Vec<_> = rows.iter().map(|(golden, ..)| std::fs::read(folder.path().join(golden)).ok()).collect();
    let made = told_of_pairs(folder.path(), &pairs, "1", "");
    for (n, (golden, _, _, is_made)) in rows.iter().enumerate() {
        assert_eq!(made[n] == "passed", *is_made, "{golden}: {}", made[n]);
        let kept = std::fs::read(folder.path().join(golden)).ok() == before[n];
        // the row after it writes the same file
        assert!(kept != *is_made || *golden == "words.csv" || *golden == "mixed.json", "{golden}");
        if !is_made {
            let why = ["which would differ: name a file of", "would not read it back", "an HDF5 file"];
            assert!(why.iter().any(|why| made[n].contains(why)), "{golden}: {}", made[n]);
        }
    }
    let passed: Vec<_> = rows.iter().filter(|row| row.3).map(|row| (row.0, row.1, row.2)).collect();
    assert_eq!(told_of_pairs(folder.path(), &passed, "", ""), vec!["passed"; passed.len()]);
}

#[test]
fn a_failed_check_leaves_the_actual_tensor() {
    let folder = tempfile::tempdir().expect("a folder");
    let kept = folder.path().join("kept/in");
    golden(&folder, "old.npy", &Tensor::from(&array![1.0, 2.0]));
    golden(&folder, "new.npy", &Tensor::from(&array![1.0, 3.0]));
    let pairs = [("old.npy", "new.npy", "no"), ("none.json", "new.npy", "no"), ("old.npy", "none.npy", "no")];
    let told = told_of_pairs(folder.path(), &pairs, "", kept.to_str().expect("UTF-8"));
    for (told, name) in told.iter().zip(["old", "none"]) {
        let file = kept.join(format!("{name}.actual.npy"));
        assert!(told.ends_with(&format!(" | ACTUAL is in {}", file.display())), "{told}");
        assert_eq!(read(&file).expect(name), read(folder.path().join("new.npy")).expect("new"));
    }
    assert!(told[2].contains(" | ACTUAL is not kept: "), "{}", told[2]);
    // what passes, or is accepted, leaves nothing
    let pairs = [("old.npy", "old.npy", "no"), ("none.json", "new.npy", "no")];
    assert_eq!(told_of_pairs(folder.path(), &pairs, "1", kept.to_str().expect("UTF-8")), ["passed"; 2]);
    assert_eq!(std::fs::read_dir(&kept).expect("a folder").count(), 0);
    assert!(told_of_pairs(folder.path(), &[("old.npy", "new.npy", "no")], "", "")[0].contains("different: "));
    assert_eq!(std::fs::read_dir(&kept).expect("a folder").count(), 0);
}
