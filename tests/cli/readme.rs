//! What README.md shows is true: its commands print what it says, its Rust test is a test here, its links lead
//! somewhere. Its other Rust examples are documentation tests of the library.

#![cfg(unix)]

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

const README: &str = include_str!("../../README.md");
const ROOT: &str = env!("CARGO_MANIFEST_DIR");
const TENSOROP: &str = env!("CARGO_BIN_EXE_tensorop");

/// Commands that are only looked for. They would run this very test again, or build the program a second time while
/// the first `cargo` holds the lock of the build folder: that would take minutes, or for ever.
const NOT_RUN: [&str; 2] = ["cargo test --locked", "cargo install --locked --path ."];

/// The way to run the program that was not built yet. Here the built one gets the same arguments.
const CARGO_RUN: &str = "cargo run --quiet --release --locked -- ";

/// A fenced block: its language, the number of its first line, its lines.
struct Block {
    language: &'static str,
    line: usize,
    lines: Vec<&'static str>,
}

fn blocks() -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for (number, line) in (1..).zip(README.lines()) {
        match (line.strip_prefix("```"), &mut open) {
            (Some(language), None) => open = Some(Block { language, line: number + 1, lines: Vec::new() }),
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (None, Some(block)) => block.lines.push(line),
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "a block is not closed");
    blocks
}

/// A command of a console block: the number of its line, what is typed, what is printed.
struct Session {
    line: usize,
    command: &'static str,
    printed: String,
}

fn sessions() -> Vec<Session> {
    let mut sessions = Vec::<Session>::new();
    for block in blocks().into_iter().filter(|block| block.language == "console") {
        for (line, text) in (block.line..).zip(&block.lines) {
            match text.strip_prefix("$ ") {
                Some(command) => sessions.push(Session { line, command, printed: String::new() }),
                None => {
                    assert!(line > block.line, "README.md:{line}: a console block begins with a command");
                    let session = sessions.last_mut().unwrap();
                    session.printed += text;
                    session.printed.push('\n');
                }
            }
        }
    }
    sessions
}

#[test]
fn commands_print_what_is_shown() {
    let scratch = tempfile::tempdir().unwrap();
    copy_files(&Path::new(ROOT).join("samples"), &scratch.path().join("samples"));
    let mut failed = Vec::new();
    for Session { line, command, printed } in sessions() {
        if NOT_RUN.contains(&command) {
            continue;
        }
        let command = match command.strip_prefix(CARGO_RUN) {
            Some(args) => format!("tensorop {args}"),
            None => command.to_owned(),
        };
        assert!(!command.contains("cargo"), "README.md:{line}: is not run: {command}");
        let output = Command::new("sh")
            .args(["-c", &format!("exec 2>&1\n{command}")])
            .current_dir(&scratch)
            .env("PATH", path())
            .env("LC_ALL", "C")
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let got = String::from_utf8_lossy(&output.stdout);
        if got != printed {
            failed.push(format!("README.md:{line}: $ {command}\nprints\n{got}but this is shown:\n{printed}"));
        }
    }
    assert!(failed.is_empty(), "\n{}", failed.join("\n"));

    let golden = |folder: &Path| fs::read_to_string(folder.join("tests/golden/patched.json")).unwrap();
    assert_eq!(golden(scratch.path()), golden(Path::new(ROOT)), "the golden file that README.md makes");
}

#[test]
fn cargo_commands_are_there() {
    let lines: Vec<&str> = blocks().into_iter().flat_map(|block| block.lines).collect();
    for command in NOT_RUN {
        assert!(lines.iter().any(|line| line.trim_start_matches("$ ") == command), "README.md lacks `{command}`");
    }
    assert!(sessions().iter().any(|s| s.command.starts_with(CARGO_RUN)), "README.md lacks `{CARGO_RUN}...`");
}

#[test]
fn the_golden_test_is_a_test_here() {
    let file = include_str!("../golden/example.rs");
    let shown = blocks().into_iter().any(|b| b.language == "rust" && b.lines.join("\n") == file.trim_end());
    assert!(shown, "README.md must hold a ```rust block that is tests/golden/example.rs");
}

#[test]
fn links_lead_to_files() {
    let prose = README.split("```").step_by(2);
    let links = prose.flat_map(|text| text.split("](").skip(1)).map(|rest| rest.split(')').next().unwrap_or(rest));
    let links: Vec<&str> = links.filter(|link| !link.starts_with("https://")).collect();
    assert!(!links.is_empty());
    let slug = |heading: &str| format!("#{}", heading.trim().to_lowercase().replace(' ', "-"));
    let headings = README.lines().filter(|line| line.starts_with("##"));
    let headings: Vec<String> = headings.map(|line| slug(line.trim_start_matches('#'))).collect();
    for link in links {
        let there = headings.iter().any(|heading| heading == link) || Path::new(ROOT).join(link).exists();
        assert!(there, "README.md links to {link}, which is not there");
    }
}

#[test]
fn named_options_exist() {
    let mut help = String::new();
    for subcommand in [
        "slice",
        "slice-scatter",
        "scatter-update",
        "scatter-nd",
        "gather-nd",
        "show",
        "diff",
        "info",
        "convert",
        "textconv",
    ] {
        let output = Command::new(TENSOROP).args([subcommand, "-h"]).output().unwrap();
        help += std::str::from_utf8(&output.stdout).unwrap();
    }
    let known: Vec<&str> = options(&help).collect();
    let rows = README.lines().filter(|line| line.starts_with("| `-"));
    let named: Vec<&str> = rows.flat_map(options).collect();
    assert!(named.len() > 10, "the table of options has {named:?} only");
    for option in named {
        assert!(known.contains(&option), "README.md names {option}, which no sub-command has");
    }
}

/// The long options in a text.
fn options(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-');
    words.filter(|word| word.len() > 2 && word.starts_with("--"))
}

/// The built program's folder, then the usual ones.
fn path() -> OsString {
    let folder = Path::new(TENSOROP).parent().unwrap();
    let usual = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(folder.to_owned()).chain(std::env::split_paths(&usual));
    std::env::join_paths(folders).unwrap()
}

fn copy_files(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() { copy_files(&path, &target) } else { fs::copy(path, target).map(drop).unwrap() }
    }
}
