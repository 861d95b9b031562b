//! The help of the program and of each sub-command is what `tests/golden/help/` keeps, so that a change of it is read as a
//! change of text.
#![cfg(feature = "zarr")]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::common::{Folder, sub_commands};

const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/help");

/// Returns the lines of one text that are not in another, each after a sign.
fn lines_without<'a>(sign: char, text: &'a str, other: &'a str) -> impl Iterator<Item = String> + 'a {
    let other: BTreeSet<&str> = other.lines().collect();
    text.lines().filter(move |line| !other.contains(line)).map(move |line| format!("  {sign} {line}"))
}

#[test]
fn help_is_what_is_kept() {
    let folder = Folder::new();
    let found = Path::new(env!("CARGO_TARGET_TMPDIR")).join("help");
    fs::create_dir_all(&found).expect("a folder");
    let mut names = BTreeSet::new();
    let mut changes = Vec::new();
    for name in std::iter::once("tensorop".to_owned()).chain(sub_commands()) {
        let mut command = folder.command();
        command.env_remove("COLUMNS").args((name != "tensorop").then_some(&name)).arg("--help");
        let output = command.output().expect("the program runs");
        assert!(output.status.success(), "{name} --help: {}", String::from_utf8_lossy(&output.stderr));
        let help = String::from_utf8(output.stdout).expect("a text");
        let file = format!("{name}.txt");
        let kept = fs::read_to_string(Path::new(GOLDEN).join(&file)).unwrap_or_default();
        if help != kept {
            changes.push(format!("{file}:"));
            changes.extend(lines_without('-', &kept, &help).chain(lines_without('+', &help, &kept)));
        }
        fs::write(found.join(&file), help).expect("written");
        names.insert(file);
    }
    assert!(
        changes.is_empty(),
        "other help than in tests/golden/help; `mkdir -p {GOLDEN} && cp {}/*.txt {GOLDEN}` makes it the expected one:\n{}",
        found.display(),
        changes.join("\n")
    );
    let kept = fs::read_dir(GOLDEN).expect("a folder").map(|entry| entry.expect("an entry").file_name());
    let kept: BTreeSet<String> = kept.map(|name| name.to_string_lossy().into_owned()).collect();
    assert_eq!(kept, names, "the files of tests/golden/help, and the sub-commands that there are");
}
