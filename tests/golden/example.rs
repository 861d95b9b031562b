//! Compares what tensorop writes with the files in `tests/golden`.

use assert_cmd::Command;
use predicates::str::starts_with;

/// The installed program; in tensorop's own repository the one that was just built.
const TENSOROP: &str = match option_env!("CARGO_BIN_EXE_tensorop") {
    Some(path) => path,
    None => "tensorop",
};

/// Fails with the report of `tensorop diff` if a tensor is not the one in its golden file. With
/// `TENSOROP_UPDATE_GOLDEN=1` in the environment, `--golden` lets the tensor replace the one in the file, and a line says so.
#[track_caller]
fn assert_golden(golden: &str, actual: Vec<u8>) {
    let output = Command::new(TENSOROP).args(["diff", "--golden", golden, "-"]).write_stdin(actual).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "not the tensor of {golden}:\n{said}");
    if said.contains("wrote ") {
        eprintln!("{said}");
    }
}

#[test]
fn the_last_row_is_patched() {
    let output = Command::new(TENSOROP)
        .args(["slice-scatter", "[[0,1,2],[3,4,5]]", "[[7,8,9]]", "--at", "1:", "--dtype", "float32", "--to", "json"])
        .unwrap();
    assert_golden("tests/golden/patched.json", output.stdout);
}

#[test]
fn a_row_of_the_wrong_length_is_refused() {
    Command::new(TENSOROP)
        .args(["slice-scatter", "[[0,1,2],[3,4,5]]", "[[7,8]]", "--at", "1:"])
        .assert()
        .code(2)
        .stdout("")
        .stderr(starts_with("error: "));
}
