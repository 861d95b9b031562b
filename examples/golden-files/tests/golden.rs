//! What softmax gives is what the files in `tests/golden` hold.

use assert_cmd::{Command, cargo_bin_cmd};
use tensorop::assert_tensor_eq;
use tensorop::golden::{golden, tensor_eq};

/// The program writes a file; the installed tensorop compares it with the golden one.
#[test]
fn a_file_by_tensorop_diff() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.npy");
    cargo_bin_cmd!("softmax").arg("tests/golden/logits.npy").arg(&out).assert().success();
    let diff = ["diff", "--golden", "tests/golden/softmax.npy", out.to_str().unwrap(), "--rtol", "1e-5"];
    let output = Command::new("tensorop").args(diff).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
}

/// The program prints a tensor; the predicate compares it, and the test fails with the report of `tensorop diff`.
#[test]
fn standard_output_by_a_predicate() {
    let output = cargo_bin_cmd!("softmax").arg("tests/golden/logits.npy").assert();
    output.success().stdout(golden("tests/golden/softmax.npy").rtol(1e-5));
}

/// The same for a file.
#[test]
fn a_file_by_a_predicate() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.npy");
    cargo_bin_cmd!("softmax").arg("tests/golden/logits.npy").arg(&out).assert().success();
    assert_tensor_eq!(tensor_eq("tests/golden/softmax.npy").ulp(4), &out);
}
