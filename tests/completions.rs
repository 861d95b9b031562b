//! The scripts in `completions/` are what the program generates, and complete what they should.

#![cfg(feature = "cli")]

use std::fs;
use std::path::Path;
use std::process::Command;

use assert_cmd::assert::OutputAssertExt;

const TENSOROP: &str = env!("CARGO_BIN_EXE_tensorop");

/// Shells, and the names of their scripts.
const SCRIPTS: [(&str, &str); 5] = [
    ("bash", "tensorop.bash"),
    ("zsh", "_tensorop"),
    ("fish", "tensorop.fish"),
    ("powershell", "_tensorop.ps1"),
    ("elvish", "tensorop.elv"),
];

fn folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/completions"))
}

#[test]
fn scripts_are_current() {
    let mut stale = Vec::new();
    for (shell, name) in SCRIPTS {
        let generated = Command::new(TENSOROP).args(["completions", shell]).assert().success();
        if fs::read(folder().join(name)).ok().as_ref() != Some(&generated.get_output().stdout) {
            stale.push(format!("  cargo run --quiet -- completions {shell} >completions/{name}"));
        }
    }
    assert!(stale.is_empty(), "files in completions/ are stale; refresh them with\n{}", stale.join("\n"));
}

#[test]
fn nothing_else_is_there() {
    let mut names: Vec<String> =
        fs::read_dir(folder()).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    let mut expected = SCRIPTS.map(|(_, name)| name.to_owned());
    names.sort();
    expected.sort();
    assert_eq!(names, expected);
}

/// What bash offers, where there is a bash.
#[test]
fn bash_completes_values_and_files() {
    if Command::new("bash").arg("--version").output().is_err() {
        return;
    }
    let script = r#"
        source completions/tensorop.bash
        complete -p tensorop | grep -q -- '-o default ' && echo 'no reply: files'
        offer() {
            COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
            _tensorop tensorop "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}" 2>/dev/null
            echo "${*:2} [${COMPREPLY[*]}]"
        }
        offer tensorop slice-
        offer tensorop slice samples/te
        offer tensorop slice-scatter samples/matrix.npy samples/ro
        offer tensorop slice --start samples/te
        offer tensorop slice samples/ten.json -o samples/te
        offer tensorop scatter-nd --reduction m
        offer tensorop scatter-update --on-duplicate ''
        offer tensorop slice --to ''
        offer tensorop slice --from ''
        offer tensorop completions z
    "#;
    let expected = "\
no reply: files
slice- [slice-scatter]
slice samples/te []
slice-scatter samples/matrix.npy samples/ro []
slice --start samples/te [samples/ten.json]
slice samples/ten.json -o samples/te [samples/ten.json]
scatter-nd --reduction m [mul max min]
scatter-update --on-duplicate  [last error]
slice --to  [npy json text]
slice --from  [npy json]
completions z [zsh]
";
    let mut bash = Command::new("bash");
    bash.args(["--norc", "-c", script]).current_dir(env!("CARGO_MANIFEST_DIR")).env("LC_ALL", "C");
    bash.assert().success().stdout(expected);
}
