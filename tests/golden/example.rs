//! What tensorop puts out is what the files in `tests/golden` hold.

use assert_cmd::Command;
use predicates::path::eq_file;
use predicates::str::starts_with;

/// The installed program; in tensorop's own repository the one that was just built.
const TENSOROP: &str = match option_env!("CARGO_BIN_EXE_tensorop") {
    Some(path) => path,
    None => "tensorop",
};

#[test]
fn the_last_row_is_patched() {
    Command::new(TENSOROP)
        .args(["slice-scatter", "[[0,1,2],[3,4,5]]", "[[7,8,9]]", "--at", "1:", "--dtype", "float32", "--to", "json"])
        .assert()
        .success()
        .stdout(eq_file("tests/golden/patched.json"));
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
