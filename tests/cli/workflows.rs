//! What the workflows in `.github/workflows` run can be run on any machine: each step is one line that starts a script of `ci/`,
//! the gate or the tests, or sets its machine up. `ci/README.md` lists the scripts.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::common::each;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// Where packages of a system come from, and where a release goes: of these a step may have more than a script.
const NOT_SCRIPTS: [&str; 4] =
    ["cargo test --locked", "apt-get update && apt-get install ", "sudo apt-get update && ", "gh release create "];

/// The names of the files in a folder of the repository.
fn names(folder: &str) -> Vec<String> {
    let entries = fs::read_dir(Path::new(ROOT).join(folder)).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn read(path: &str) -> String {
    fs::read_to_string(Path::new(ROOT).join(path)).unwrap()
}

#[test]
fn steps_start_scripts() {
    let mut steps = Vec::new();
    for name in names(".github/workflows") {
        let text = read(&format!(".github/workflows/{name}"));
        let lines = text.lines().zip(1..).map(|(line, number)| (line.trim().trim_start_matches("- "), number));
        steps.extend(lines.filter_map(|(line, number)| {
            line.strip_prefix("run: ").map(|run| (format!("{name}:{number}"), run.to_owned()))
        }));
        let others = text.matches("run:").count() - steps.iter().filter(|(at, _)| at.starts_with(&name)).count();
        // `defaults` says which shell it is
        assert_eq!(others, 1, "{name}: steps of several lines, or in another notation");
    }
    each(
        steps,
        |(at, run)| format!("{at}: {run}"),
        |(_, run)| {
            let program = run.split(' ').next().unwrap_or_default();
            let is_there = |path| fs::metadata(path).is_ok_and(|found| found.permissions().mode() & 0o111 != 0);
            let is_own = program.starts_with("ci/") || program == ".ci/run";
            if is_own && is_there(Path::new(ROOT).join(program))
                || NOT_SCRIPTS.iter().any(|begin| run.starts_with(begin))
            {
                Ok(())
            } else {
                Err("starts neither a script of ci/ nor what NOT_SCRIPTS allows".to_owned())
            }
        },
    );
}

#[test]
fn scripts_are_listed() {
    let list = read("ci/README.md");
    each(names("ci").into_iter().filter(|name| name != "README.md"), Clone::clone, |name| {
        let is_listed = [format!("`{name}"), format!("`{name}/`")].iter().any(|word| list.contains(word));
        if is_listed { Ok(()) } else { Err("ci/README.md does not say what it is for".to_owned()) }
    });
}
