//! The guide to golden files: what it shows are the files beside it, and these do what it says.

#![cfg(unix)]

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::common::{FEATURES, binary};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/golden-files");

/// Where the example is built: where this was, since most packages are the same. Nobody holds that folder's lock while tests
/// run.
fn target() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap().to_owned()
}

fn run(program: &str, args: &[&str], more: &[(&str, &str)], folder: &Path) -> Output {
    let tensorop = binary().parent().unwrap().to_owned();
    let usual = env::var_os("PATH").unwrap_or_default();
    let path: OsString = env::join_paths(std::iter::once(tensorop).chain(env::split_paths(&usual))).unwrap();
    let mut command = Command::new(program);
    command.args(args).current_dir(folder).env("PATH", path).env("CARGO_TARGET_DIR", target()).env("NO_COLOR", "1");
    command.env_remove("TENSOROP_UPDATE_GOLDEN").envs(more.iter().copied());
    // What cargo told this test of its own crate. Packages that look at it would be built anew, and the program with them,
    // which other tests start meanwhile.
    let is_own =
        |name: &str| name == "OUT_DIR" || name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_");
    let own = env::vars_os().filter(|(name, _)| is_own(&name.to_string_lossy()));
    own.for_each(|(name, _)| {
        command.env_remove(name);
    });
    command.output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// Copies a folder, but not what was built in it.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() { copy(&path, &target) } else { fs::copy(path, target).map(drop).unwrap() }
    }
}

#[test]
fn the_example_passes_its_tests_and_finds_differences() {
    // Built together with this package, whose tests switch on more features of the dependencies, the example uses the library
    // that is there already. `_by_` is in the names of all tests of the example, and of no golden test of this package.
    let test = ["test", "--offline", "--locked", "--package", "softmax", "--package", "tensorop", "--test", "golden"];
    let output = run(env!("CARGO"), &[&test, FEATURES, &["_by_"]].concat(), &[], Path::new(FOLDER));
    assert!(said(&output).contains("3 passed"), "{}", said(&output));
    assert!(output.status.success(), "{}", said(&output));

    // the built program, in a copy whose golden file is wrong
    let scratch = tempfile::tempdir().unwrap();
    copy(Path::new(FOLDER), scratch.path());
    let program = target().join("debug/softmax");
    let check = |expected: i32, fragments: &[&str]| {
        let output = run("./check.sh", &[program.to_str().unwrap()], &[], scratch.path());
        let said = said(&output);
        assert_eq!(output.status.code(), Some(expected), "{said}");
        fragments.iter().for_each(|fragment| assert!(said.contains(fragment), "{said}"));
    };
    check(0, &["softmax.npy: status 0"]);
    let wrong = ["slice-scatter", "tests/golden/softmax.npy", "--fill", "0.25", "--at", ":1, :1", "-i"];
    assert!(run(binary().to_str().unwrap(), &wrong, &[], scratch.path()).status.success());
    check(1, &["different: 1 of 6 items", "softmax.npy: status 1"]);

    // the predicate fails with the report, then makes the file anew
    let tests = fs::read_dir(target().join("debug/deps")).unwrap().map(|entry| entry.unwrap().path());
    let is_test = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let sources = || fs::read_to_string(path.with_extension("d")).unwrap();
        name.starts_with("golden-") && path.extension().is_none() && sources().contains("golden-files/tests/golden.rs")
    };
    let newest = |path: &PathBuf| path.metadata().unwrap().modified().unwrap();
    let tests = tests.filter(is_test).max_by_key(newest).unwrap();
    let by_predicate = |more: &[(&str, &str)]| {
        let args = ["standard_output_by_a_predicate", "--exact"];
        let output = run(tests.to_str().unwrap(), &args, more, scratch.path());
        (output.status.success(), said(&output))
    };
    let (passed, said) = by_predicate(&[]);
    assert!(!passed && said.contains("different: 1 of 6 items") && said.contains("[0, 0]"), "{said}");
    let (passed, said) = by_predicate(&[("TENSOROP_UPDATE_GOLDEN", "1")]);
    assert!(passed, "{said}");
    check(0, &["status 0"]);
}

/// What a program wrote before it failed never becomes a golden tensor.
#[test]
fn the_script_accepts_nothing_from_a_program_that_failed() {
    let scratch = tempfile::tempdir().unwrap();
    copy(Path::new(FOLDER), scratch.path());
    let golden = scratch.path().join("tests/golden/softmax.npy");
    let old = fs::read(&golden).unwrap();
    for status in [0, 7] {
        fs::write(scratch.path().join("program.sh"), format!("cp \"$1\" \"$2\"; exit {status}\n")).unwrap();
        fs::write(scratch.path().join("program"), "#!/bin/sh\nexec sh ./program.sh \"$@\"\n").unwrap();
        fs::write(&golden, &old).unwrap();
        let script = ["-c", "chmod +x program && exec ./check.sh ./program"];
        let output = run("sh", &script, &[("TENSOROP_UPDATE_GOLDEN", "1")], scratch.path());
        assert_eq!(output.status.code(), Some(status), "{}", said(&output));
        assert_eq!(fs::read(&golden).unwrap() == old, status != 0, "{}", said(&output));
    }
}

#[test]
fn the_guide_shows_the_files() {
    let read = |name: &str| fs::read_to_string(Path::new(FOLDER).join(name)).unwrap();
    let (guide, tests) = (read("README.md"), read("tests/golden.rs"));
    let function = |name: &str| {
        let from = tests.find(&format!("fn {name}(")).unwrap();
        let from = tests[..from].rfind("///").unwrap();
        let to = from + tests[from..].find("\n}\n").unwrap() + 2;
        tests[from..to].to_owned()
    };
    let shown = [
        ("rust", function("a_file_by_tensorop_diff")),
        ("rust", function("standard_output_by_a_predicate") + "\n\n" + &function("a_file_by_a_predicate")),
        ("sh", read("check.sh").trim_end().to_owned()),
    ];
    for (language, text) in shown {
        assert!(guide.contains(&format!("```{language}\n{text}\n```")), "README.md lacks\n{text}");
    }
    let dependency = "tensorop = { path = \"../..\" }";
    assert!(guide.contains(dependency) && read("Cargo.toml").contains(dependency));
}
