//! What README.md and the pages in docs/ show is true: their commands print what they say, the Rust test of docs/golden.md is
//! a test here, their links lead somewhere. The Rust examples of README, docs/golden.md and docs/library.md are documentation
//! tests of the library, too.
//!
//! What is run, in the order of the page, in a folder of the page's own that holds a copy of samples/:
//!
//! - A block ` ```console ` holds commands, each after `$ `, and what they print, errors among it. Each runs in a shell of
//!   its own, so that only files are left for the next. Where a line of a command ends in `\` the next belongs to it.
//! - A block ` ```sh ` is a script that has to succeed. What it prints is not compared.
//!
//! A block that cannot be run is marked in the line before it, with the reason: `<!-- not run: it needs a cluster -->`.
//!
//! A block that needs more than `sh`, coreutils and tensorop itself names the other programs in the line before it:
//! `<!-- needs: git-lfs sed -->`. If such a line is the first one of a page, it holds for all blocks of the page. A block is
//! skipped where one of its programs is missing, and the test lists and counts the skipped ones.
//!
//! Pages are found by listing docs/; the pictures of terminals there, which `ci/terminal_svg.py` draws, are read as console
//! blocks.

#![cfg(unix)]

use std::cell::Cell;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::common::{binary, each, missing, skip, sub_commands};

/// The page whose commands make the golden file of `tests/golden/example.rs`, and which shows that test.
const GOLDEN: &str = "docs/golden.md";

/// The most lines of README.md, which has what a reader needs first. The rest are pages of docs/.
const README_LINES: usize = 160;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// The way to run the program that was not built yet. Here the built one gets the same arguments. Other commands of cargo are
/// not run: they would run this very test again, or build the program a second time while the first `cargo` holds the lock
/// of the build folder, which would take minutes, or for ever.
const CARGO_RUN: &str = "cargo run --quiet --release --locked -- ";

/// The beginning of the comment that lists the programs which a block or a whole page needs.
const NEEDS: &str = "<!-- needs: ";

/// What makes a block one that is not run, and the reason that stands after it.
const NOT_RUN: &str = "<!-- not run: ";

/// Names that other shells' blocks could have: such a block would be neither run nor marked.
const OTHER_SHELLS: [&str; 6] = ["", "bash", "shell", "zsh", "shell-session", "terminal"];

/// A page: its path from the root of the project, and its Markdown.
struct Page {
    path: PathBuf,
    text: String,
}

impl Page {
    fn read(path: PathBuf) -> Self {
        let text = fs::read_to_string(Path::new(ROOT).join(&path)).unwrap();
        // a picture of a terminal is a page of one block
        let text = if is(&path, "svg") { format!("```console\n{}```\n", drawn(&text)) } else { text };
        Self { path, text }
    }

    /// A line of the page, as messages name it.
    fn at(&self, line: usize) -> String {
        format!("{}:{line}", self.path.display())
    }

    /// # Errors
    /// A block that is not closed, or whose language is not clear.
    fn blocks(&self) -> Result<Vec<Block<'_>>, String> {
        let mut blocks = Vec::new();
        let mut open: Option<Block> = None;
        let for_all = self.text.lines().next().and_then(programs);
        let mut before = "";
        for (number, line) in (1..).zip(self.text.lines()) {
            match (line.strip_prefix("```"), &mut open) {
                (Some(language), None) => {
                    if OTHER_SHELLS.contains(&language) {
                        return Err(format!("{}: a block {language:?}, expected console or sh", self.at(number)));
                    }
                    let reason = before.strip_prefix(NOT_RUN).and_then(|rest| rest.strip_suffix(" -->"));
                    if reason.is_none() && before.starts_with("<!-- not run") || reason.is_some_and(str::is_empty) {
                        return Err(format!("{}: expected {NOT_RUN}REASON -->", self.at(number - 1)));
                    }
                    if before.starts_with("<!-- needs") && programs(before).is_none() {
                        return Err(format!("{}: expected {NEEDS}PROGRAM ... -->", self.at(number - 1)));
                    }
                    let needs = for_all.into_iter().chain(programs(before)).flat_map(str::split_whitespace).collect();
                    let is_run = reason.is_none();
                    open = Some(Block { language, line: number + 1, lines: Vec::new(), is_run, needs });
                }
                (Some(_), Some(_)) => blocks.extend(open.take()),
                (None, Some(block)) => block.lines.push(line),
                (None, None) if line.trim_start().starts_with("```") => {
                    return Err(format!("{}: a block that does not begin its line is not found", self.at(number)));
                }
                (None, None) if number > 2 && before.starts_with("<!-- needs") => {
                    return Err(format!("{}: expected a block after {before}", self.at(number - 1)));
                }
                (None, None) => {}
            }
            before = line;
        }
        match open {
            None => Ok(blocks),
            Some(block) => Err(format!("{}: a block is not closed", self.at(block.line))),
        }
    }

    /// Returns the blocks that are skipped, as messages name them, each with the reason.
    ///
    /// # Errors
    /// Fails if the page is not in order.
    fn skipped(&self) -> Result<Vec<(String, String)>, String> {
        let blocks = self.blocks()?;
        let lacks = blocks.iter().filter(|block| block.is_run).filter_map(|block| Some((block.line, block.missing()?)));
        Ok(lacks.map(|(line, program)| (self.at(line), format!("there is no {program}"))).collect())
    }

    /// Returns everything that is run here, in order.
    ///
    /// # Errors
    /// Fails if the page is not in order.
    fn sessions(&self) -> Result<Vec<Session>, String> {
        let mut sessions = Vec::new();
        for block in self.blocks()?.iter().filter(|block| block.is_run && block.missing().is_none()) {
            match block.language {
                "console" => sessions.extend(self.commands(block)?),
                "sh" => {
                    let command = format!("set -e\n{}", block.lines.join("\n"));
                    sessions.push(Session { line: block.line, command, printed: None });
                }
                // no language of a shell
                _ => {}
            }
        }
        match sessions.iter().find(|session| session.command.contains("cargo ")) {
            Some(Session { line, command, .. }) => Err(format!("{}: is not run: {command}", self.at(*line))),
            None => Ok(sessions),
        }
    }

    /// The commands of a console block.
    ///
    /// # Errors
    /// A block that begins with something else.
    fn commands(&self, block: &Block) -> Result<Vec<Session>, String> {
        let mut sessions = Vec::<Session>::new();
        let mut goes_on = false;
        for (line, text) in (block.line..).zip(&block.lines) {
            match (text.strip_prefix("$ "), sessions.last_mut()) {
                (_, Some(session)) if goes_on => {
                    session.command.push('\n');
                    session.command += text;
                    goes_on = text.ends_with('\\');
                }
                (Some(command), _) => {
                    let command = match command.strip_prefix(CARGO_RUN) {
                        Some(args) => format!("tensorop {args}"),
                        None => command.to_owned(),
                    };
                    goes_on = command.ends_with('\\');
                    sessions.push(Session { line, command, printed: Some(String::new()) });
                }
                (None, Some(Session { printed: Some(printed), .. })) => {
                    *printed += text;
                    printed.push('\n');
                }
                (None, _) => return Err(format!("{}: a console block begins with a command", self.at(line))),
            }
        }
        Ok(sessions)
    }

    /// Runs everything on the page, in a folder.
    ///
    /// # Errors
    /// All that does not go as the page says.
    fn run(&self, folder: &Path) -> Result<(), String> {
        copy_files(&Path::new(ROOT).join("samples"), &folder.join("samples"));
        let mut failed = Vec::new();
        for Session { line, command, printed } in self.sessions()? {
            let output = shell(&command, folder);
            let got = String::from_utf8_lossy(&output.stdout);
            let at = self.at(line);
            match printed {
                Some(printed) if got != printed => {
                    failed.push(format!("{at}: $ {command}\nprints\n{got}but this is shown:\n{printed}"));
                }
                None if !output.status.success() => failed.push(format!("{at}: {}, prints\n{got}", output.status)),
                Some(_) | None => {}
            }
        }
        if failed.is_empty() { Ok(()) } else { Err(failed.join("\n")) }
    }
}

/// A fenced block.
struct Block<'a> {
    language: &'a str,
    /// The number of its first line in the page.
    line: usize,
    lines: Vec<&'a str>,
    /// Whether no comment says that it is not run.
    is_run: bool,
    /// The programs that it needs besides `sh`, coreutils and tensorop.
    needs: Vec<&'a str>,
}

impl Block<'_> {
    /// Returns the first program that the block needs and that is not there.
    fn missing(&self) -> Option<&str> {
        missing(self.needs.iter().copied())
    }
}

/// Returns the list of programs in a line that says what a block needs.
fn programs(line: &str) -> Option<&str> {
    line.strip_prefix(NEEDS)?.strip_suffix(" -->").filter(|programs| !programs.trim().is_empty())
}

/// Something that is run: the number of its line, what is typed, what is printed, if that is shown.
struct Session {
    line: usize,
    command: String,
    printed: Option<String>,
}

/// README.md, and everything in docs/ that can show a command.
fn pages() -> Vec<Page> {
    let mut paths = vec![PathBuf::from("README.md")];
    let mut folders = vec![PathBuf::from("docs")];
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(Path::new(ROOT).join(&folder)).unwrap();
        for path in entries.map(|entry| folder.join(entry.unwrap().file_name())) {
            match Path::new(ROOT).join(&path).is_dir() {
                true => folders.push(path),
                false if is(&path, "md") || is_terminal(&path) => paths.push(path),
                false => {}
            }
        }
    }
    paths.sort();
    paths.into_iter().map(Page::read).collect()
}

fn is(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|found| found == extension)
}

/// Whether `ci/terminal_svg.py` has drawn a picture.
fn is_terminal(path: &Path) -> bool {
    is(path, "svg") && fs::read_to_string(Path::new(ROOT).join(path)).unwrap().contains("ci/terminal_svg.py")
}

/// The lines of a picture of a terminal: what its `text` elements hold.
fn drawn(svg: &str) -> String {
    let mut lines = String::new();
    for element in svg.split("<text ").skip(1) {
        let (_, inside) = element.split_once('>').unwrap();
        let (inside, _) = inside.split_once("</text>").unwrap();
        // what stands between the tags of spans
        let plain: String =
            inside.split('<').map(|piece| piece.split_once('>').map_or(piece, |(_, text)| text)).collect();
        lines += &plain.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
        lines.push('\n');
    }
    lines
}

/// A shell that finds the program, in a folder that is also its home. Nothing of who runs the test can be seen in what git
/// does there.
fn shell(command: &str, folder: &Path) -> std::process::Output {
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("exec 2>&1\n{command}")]).current_dir(folder).stdin(Stdio::null());
    for name in ["TENSOROP_THREADS", "TENSOROP_WINDOW", "TENSOROP_UPDATE_GOLDEN", "NO_COLOR", "GIT_DIR"] {
        shell.env_remove(name);
    }
    shell.env("PATH", path()).env("LC_ALL", "C").env("HOME", folder);
    shell.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", folder.join(".gitconfig"));
    for person in ["AUTHOR", "COMMITTER"] {
        shell.env(format!("GIT_{person}_NAME"), "A User").env(format!("GIT_{person}_EMAIL"), "user@example.org");
        shell.env(format!("GIT_{person}_DATE"), "2026-01-01T00:00:00Z");
    }
    shell.output().unwrap()
}

#[test]
fn commands_print_what_is_shown() {
    let skipped = Cell::new(0);
    each(
        pages(),
        |page| page.path.display().to_string(),
        |page| {
            let lacking = page.skipped()?;
            skipped.set(skipped.get() + lacking.len());
            lacking.iter().for_each(|(block, why)| skip(&format!("the block at {block}: {why}")));
            let scratch = tempfile::tempdir().unwrap();
            page.run(scratch.path()).map_err(|why| format!("\n{why}"))?;
            if page.path == Path::new(GOLDEN) {
                let golden = |folder: &Path| fs::read_to_string(folder.join("tests/golden/patched.json")).unwrap();
                assert_eq!(golden(scratch.path()), golden(Path::new(ROOT)), "the golden file that {GOLDEN} makes");
            }
            Ok(())
        },
    );
    if skipped.get() > 0 {
        skip(&format!("{} in all", skipped.get()));
    }
}

/// The rules of the head of this file, on pages made for them.
#[test]
fn what_a_page_must_look_like() {
    let rows = [
        ("```console\n$ echo a\na\n```\n", ""),
        ("```console\n$ echo a \\\n  b\na b\n$ false; echo $?\n1\n```\n", ""),
        ("```console\n$ echo a >&2\nb\n```\n", "page.md:2: $ echo a >&2\nprints\na\nbut this is shown:\nb"),
        ("```console\na\n```\n", "page.md:2: a console block begins with a command"),
        ("```sh\ntest -f samples/matrix.npy\nx=1\necho $x >made\n```\n```console\n$ cat made\n1\n```\n", ""),
        ("```sh\nfalse\ntrue\n```\n", "page.md:2: exit status: 1"),
        ("<!-- not run: it needs a cluster -->\n```sh\nsbatch false\n```\n", ""),
        ("<!-- not run -->\n```sh\nfalse\n```\n", "page.md:1: expected <!-- not run: REASON -->"),
        ("<!-- not run:  -->\n```sh\nfalse\n```\n", "page.md:1: expected <!-- not run: REASON -->"),
        ("<!-- needs: sh no-such-program -->\n```sh\nfalse\n```\n", ""),
        ("<!-- needs: no-such-program -->\n# Title\n\n```sh\nfalse\n```\n", ""),
        ("<!-- needs: sh cat -->\n```sh\nfalse\n```\n", "page.md:3: exit status: 1"),
        (
            "# Title\n\n<!-- needs: cat -->\n\n```sh\ntrue\n```\n",
            "page.md:3: expected a block after <!-- needs: cat -->",
        ),
        ("# Title\n<!-- needs: -->\n```sh\ntrue\n```\n", "page.md:2: expected <!-- needs: PROGRAM ... -->"),
        ("```sh\ncargo test\n```\n", "page.md:2: is not run: set -e\ncargo test"),
        ("```bash\nfalse\n```\n", "page.md:1: a block \"bash\", expected console or sh"),
        ("```\nfalse\n```\n", "page.md:1: a block \"\", expected console or sh"),
        ("- item\n  ```sh\n  false\n  ```\n", "page.md:2: a block that does not begin its line is not found"),
        ("```toml\n[package]\n", "page.md:2: a block is not closed"),
        ("```python\nimport sys\n```\n", ""),
    ];
    each(
        rows,
        |(text, _)| text.to_string(),
        |(text, expected)| {
            let page = Page { path: "page.md".into(), text: text.to_string() };
            let scratch = tempfile::tempdir().unwrap();
            let found = page.run(scratch.path()).err().unwrap_or_default();
            let as_expected = if expected.is_empty() { found.is_empty() } else { found.starts_with(expected) };
            if as_expected { Ok(()) } else { Err(format!("{found:?}, expected {expected:?}")) }
        },
    );
}

#[test]
fn readme_is_short_and_says_how_to_build_and_test() {
    let readme = Page::read("README.md".into()).text;
    let lines = readme.lines().count();
    assert!(lines <= README_LINES, "README.md: {lines} lines, expected at most {README_LINES}");
    for command in [CARGO_RUN, "cargo test --locked --features remote", "cargo install --locked --path ."] {
        assert!(readme.lines().any(|line| line.trim_start_matches("$ ").starts_with(command)), "lacks `{command}`");
    }
}

/// README says of speed and memory what the measured table says. The row of a tensor of ten items is left out: it measures
/// how a process begins and ends, and README speaks of 1 GiB.
#[test]
fn readme_says_what_was_measured() {
    let page = Page::read("docs/performance.md".into()).text;
    let mut lines = page.lines().filter_map(|line| line.strip_prefix("| ")).map(|line| line.split(" | "));
    let head: Vec<&str> = lines.next().unwrap().collect();
    let rows: Vec<Vec<&str>> = lines.map(Iterator::collect).filter(|row: &Vec<&str>| row.len() == head.len()).collect();
    // the line below the head is no row
    let large = rows.iter().skip(1).filter(|row| !row[0].starts_with("tiny"));
    // the number at the beginning of each cell
    let column = |name: &str| -> Vec<f64> {
        let at = head.iter().position(|found| found.trim_end_matches(" |") == name).unwrap();
        let number = |row: &Vec<&str>| row[at].trim_start_matches("under ").split(' ').next().unwrap().parse().unwrap();
        large.clone().map(number).collect()
    };
    let most = |name: &str| column(name).into_iter().fold(0.0, f64::max);
    let factors = column("NumPy").into_iter().zip(column("tensorop")).map(|(numpy, own)| numpy / own);
    let (slowest, fastest) = factors.fold((f64::INFINITY, 0.0), |(low, high), x| (f64::min(low, x), f64::max(high, x)));
    let readme = Page::read("README.md".into()).text.split_whitespace().collect::<Vec<_>>().join(" ");
    let row = rows.iter().find(|row| row[0].starts_with("scatter-row:")).expect("the row of README's example");
    let seconds = |name: &str| {
        let at = head.iter().position(|found| *found == name).expect("a column of that name");
        row[at].split(' ').next().expect("a number").to_owned()
    };
    for said in [
        format!("one row of a 1 GiB file takes {} s where NumPy takes {} s", seconds("tensorop"), seconds("NumPy")),
        format!("{} to {} times as fast as the same step in NumPy", two_digits(slowest), two_digits(fastest)),
        format!("at most {} MiB of memory", most("tensorop, MiB")),
        format!("up to {} MiB", most("NumPy, MiB")),
    ] {
        assert!(readme.contains(&said), "README.md lacks {said:?}, which is what docs/performance.md says");
    }
}

/// A factor from 1 on, rounded down to two digits.
fn two_digits(factor: f64) -> String {
    let unit = 10_f64.powf(factor.log10().floor() - 1.0);
    // a quotient of decimals may lie a little below the number that it means
    let rounded = (factor / unit + 1e-6).floor() * unit;
    if factor < 10.0 { format!("{rounded:.1}") } else { format!("{rounded:.0}") }
}

#[test]
fn factors_have_two_digits() {
    for (factor, expected) in
        [(1.516, "1.5"), (1.99, "1.9"), (9.99, "9.9"), (10.0, "10"), (750.0, "750"), (769.2, "760")]
    {
        assert_eq!(two_digits(factor), expected, "{factor}");
    }
}

/// The commands in README's table, in their order.
fn readme_table() -> Vec<String> {
    let readme = Page::read("README.md".into()).text;
    let cells = readme.lines().filter_map(|line| line.strip_prefix("| [")?.rsplit_once(" | `")?.1.strip_suffix("` |"));
    cells.map(str::to_owned).collect()
}

/// A reader may type each command in a copy of the samples, one after the other. Only `diff` may end with status 1.
#[test]
fn commands_of_the_readme_table_run() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().join("playground");
    copy_files(&Path::new(ROOT).join("samples"), &folder);
    each(readme_table(), Clone::clone, |command| {
        let output = shell(command, &folder);
        let most = i32::from(command.starts_with("tensorop diff "));
        let ended_well = output.status.code().is_some_and(|code| code <= most);
        if ended_well { Ok(()) } else { Err(String::from_utf8_lossy(&output.stdout).into_owned()) }
    });
    // most rows read this file, and print of it what its page shows
    let read = |folder: &Path| fs::read(folder.join("matrix.npy")).unwrap();
    assert!(read(&folder) == read(&Path::new(ROOT).join("samples")), "a row changes matrix.npy");
}

#[test]
fn the_readme_table_has_every_sub_command() {
    let commands = readme_table();
    each(sub_commands(), Clone::clone, |name| {
        let begin = format!("tensorop {name} ");
        let is_there = commands.iter().any(|command| command.starts_with(&begin));
        if is_there { Ok(()) } else { Err("README.md has no row for it in its table".to_owned()) }
    });
}

#[test]
fn the_golden_test_is_a_test_here() {
    let file = include_str!("../golden/example.rs");
    let page = Page::read(GOLDEN.into());
    let shown = page.blocks().unwrap().iter().any(|b| b.language == "rust" && b.lines.join("\n") == file.trim_end());
    assert!(shown, "{GOLDEN} must hold a ```rust block that is tests/golden/example.rs");
}

#[test]
fn links_lead_to_files() {
    each(
        pages().into_iter().filter(|page| is(&page.path, "md")),
        |page| page.path.display().to_string(),
        |page| {
            let prose = page.text.split("```").step_by(2);
            let links =
                prose.flat_map(|text| text.split("](").skip(1)).map(|rest| rest.split(')').next().unwrap_or(rest));
            let folder = Path::new(ROOT).join(page.path.parent().unwrap());
            let leads = |link: &str| {
                let (file, heading) = link.split_once('#').map_or((link, None), |(file, slug)| (file, Some(slug)));
                let target = if file.is_empty() { Path::new(ROOT).join(&page.path) } else { folder.join(file) };
                match heading {
                    None => target.exists(),
                    Some(slug) => {
                        fs::read_to_string(target).is_ok_and(|text| headings(&text).any(|found| found == slug))
                    }
                }
            };
            match links.filter(|link| !link.starts_with("https://")).find(|link| !leads(link)) {
                None => Ok(()),
                Some(link) => Err(format!("links to {link}, which is not there")),
            }
        },
    );
}

/// What links call the headings of a page.
fn headings(text: &str) -> impl Iterator<Item = String> {
    let headings = text.lines().filter(|line| line.starts_with('#'));
    headings.map(|line| {
        let words = line.trim_start_matches('#').trim().to_lowercase().replace(' ', "-");
        words.chars().filter(|c| c.is_alphanumeric() || "-_".contains(*c)).collect()
    })
}

#[test]
fn every_page_is_in_the_summary() {
    let summary = fs::read_to_string(Path::new(ROOT).join("docs/SUMMARY.md")).unwrap();
    each(
        pages().into_iter().filter(|page| page.path.starts_with("docs") && is(&page.path, "md")),
        |page| page.path.display().to_string(),
        |page| {
            let path = page.path.strip_prefix("docs").unwrap().display().to_string();
            let listed = path == "SUMMARY.md" || summary.contains(&format!("]({path})"));
            if listed {
                Ok(())
            } else {
                Err("docs/SUMMARY.md does not list it, so the book would not have it".to_owned())
            }
        },
    );
}

#[test]
fn named_options_exist() {
    let mut help = String::new();
    for name in sub_commands() {
        let output = Command::new(binary()).args([&name, "--help"]).output().unwrap();
        help += std::str::from_utf8(&output.stdout).unwrap();
    }
    let known: Vec<&str> = options(&help).collect();
    let page = Page::read("docs/scripting.md".into()).text;
    let rows = page.lines().filter(|line| line.starts_with("| `-"));
    let named: Vec<&str> = rows.flat_map(options).collect();
    assert!(named.len() > 10, "the table of options has {named:?} only");
    for option in named {
        assert!(known.contains(&option), "docs/scripting.md names {option}, which no sub-command has");
    }
}

/// The long options in a text.
fn options(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-');
    words.filter(|word| word.len() > 2 && word.starts_with("--"))
}

/// The built program's folder, then the usual ones.
fn path() -> OsString {
    let program = binary();
    let folder = program.parent().unwrap();
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
