//! What softmax gives is what the files in `tests/golden` hold.

use std::path::Path;

use assert_cmd::{Command, cargo_bin_cmd};
use predicates::prelude::*;
use tensorop::golden::tensor_eq;

/// The program writes a file; the installed tensorop compares it with the golden one.
#[test]
fn a_file_by_tensorop_diff() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.npy");
    cargo_bin_cmd!("softmax").arg("tests/golden/logits.npy").arg(&out).assert().success();
    Command::new("tensorop")
        .args(["diff", "tests/golden/softmax.npy"])
        .arg(&out)
        .args(["--rtol", "1e-5"])
        .assert()
        .success()
        .stdout(predicate::str::starts_with("equal"));
}

/// The program prints a tensor; the predicate compares it, and fails with the report of `tensorop diff`.
#[test]
fn standard_output_by_a_predicate() {
    cargo_bin_cmd!("softmax")
        .arg("tests/golden/logits.npy")
        .assert()
        .success()
        .stdout(tensor_eq("tests/golden/softmax.npy").rtol(1e-5));
}

/// The same predicate for a file.
#[test]
fn a_file_by_a_predicate() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.npy");
    cargo_bin_cmd!("softmax").arg("tests/golden/logits.npy").arg(&out).assert().success();
    assert!(tensor_eq("tests/golden/softmax.npy").ulp(4).eval(Path::new(&out)));
}
