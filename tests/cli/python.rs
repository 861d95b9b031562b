//! The module `tensorop_cli`, which the wheel holds beside the program. Its tests that need only Python run here;
//! `ci/python.sh` runs all of them, with pytest and NumPy, and the examples that pages show.
#![cfg(unix)]

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::common::{binary, each, has, skip};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// The oldest Python of `requires-python` in ci/pyproject.toml.
const OLDEST: &str = "import sys; sys.exit(sys.version_info < (3, 8))";

#[test]
fn the_module_works_with_nothing_but_python() {
    if !has(&["python3"]) {
        return;
    }
    if !Command::new("python3").args(["-c", OLDEST]).status().unwrap().success() {
        return skip("python3 is older than 3.8");
    }
    let output = Command::new("python3")
        .args(["-B", "-m", "unittest", "-q", "test_plain"])
        .current_dir(Path::new(ROOT).join("tests/python"))
        .env("PYTHONPATH", Path::new(ROOT).join("python"))
        .env("TENSOROP", binary())
        .env_remove("TENSOROP_UPDATE_GOLDEN")
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn pages_show_the_examples_that_are_tested() {
    let rows = [("docs/golden.md", "test_softmax.py"), ("docs/conformance.md", "test_onnxruntime.py")];
    each(
        rows,
        |(page, file)| format!("{page}: {file}"),
        |(page, file)| {
            let read = |path: &str| fs::read_to_string(Path::new(ROOT).join(path)).unwrap();
            let example = read(&format!("tests/python/examples/{file}"));
            let is_shown = read(page).contains(&format!("```python\n{example}```\n"));
            if is_shown { Ok(()) } else { Err("the page has no ```python block that is this example".to_owned()) }
        },
    );
}
