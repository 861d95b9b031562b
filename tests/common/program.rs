//! The program run in a scratch folder, and tables of what it prints and refuses.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::PathBuf;

use assert_cmd::Command;
use tempfile::TempDir;
use tensorop::command::Environment;

use super::{Item, SPECS, Spec, Tensor, difference, each, in_process, words};

/// How work is cut up and shared: the bytes of a window, where `None` is the program's own choice, and the threads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Division {
    pub window: Option<usize>,
    pub threads: &'static str,
}

/// Divisions whose windows end anywhere. Commands on random tensors (`tests/property/`) run with each of them.
pub(crate) const DIVISIONS: [Division; 5] = [
    Division { window: None, threads: "1" },
    Division { window: Some(1), threads: "2" },
    Division { window: Some(8), threads: "3" },
    Division { window: Some(24), threads: "1" },
    Division { window: Some(1000), threads: "7" },
];

/// The divisions that rows of tables run with: the program's own choice, and windows of a few items. What was not built
/// here has no small windows.
pub(crate) fn divisions() -> impl Iterator<Item = Division> {
    let small = Division { window: Some(24), threads: "3" };
    let is_other = std::env::var_os("TENSOROP_TEST_PROGRAM").is_some();
    std::iter::once(DIVISIONS[0]).chain((!is_other).then_some(small))
}

/// What a run of the program left.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub status: Option<i32>,
    pub stdout: Vec<u8>,
    pub stderr: String,
}

impl Run {
    /// What went to standard output.
    ///
    /// # Errors
    /// If the run failed or said something on standard error.
    pub(crate) fn printed(&self) -> Result<String, String> {
        match (self.status, self.stderr.as_str()) {
            (Some(0), "") => Ok(String::from_utf8_lossy(&self.stdout).into_owned()),
            (status, message) => Err(format!("status {status:?}, said {message:?}")),
        }
    }
}

/// The features of these tests beside the default ones, for cargo: it would build the program without them, in place of the one
/// that is tested, and packages that only other features need were perhaps never fetched.
pub(crate) const FEATURES: &[&str] = if cfg!(feature = "remote") { &["--features", "remote"] } else { &[] };

/// The program that is tested: what was built beside the tests, or what `TENSOROP_TEST_PROGRAM` names, which may be a script
/// that starts a program for another system, or one that is installed.
pub(crate) fn binary() -> PathBuf {
    match std::env::var_os("TENSOROP_TEST_PROGRAM") {
        Some(path) => path.into(),
        None => assert_cmd::cargo::cargo_bin!("tensorop").to_owned(),
    }
}

thread_local! {
    /// Whether the test that runs on this thread has yet run the program.
    static HAS_RUN: Cell<bool> = const { Cell::new(false) };
}

/// Returns whether a command line must run in a process of its own: the first of each test, so that each goes through
/// `main.rs` and the streams of a process once; files that are descriptors of the process; and all that
/// `TENSOROP_TEST_PROGRAM` is asked.
fn needs_process(args: &[OsString]) -> bool {
    let names_descriptor = |arg: &OsString| {
        let arg = arg.to_string_lossy();
        arg.contains("/dev/") || arg.contains("/proc/")
    };
    !HAS_RUN.replace(true) || std::env::var_os("TENSOROP_TEST_PROGRAM").is_some() || args.iter().any(names_descriptor)
}

/// A scratch folder that the program runs in.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(TempDir::new().expect("a scratch folder"))
    }

    pub(crate) fn path(&self, name: impl AsRef<std::path::Path>) -> PathBuf {
        self.0.path().join(name)
    }

    /// Puts a file there.
    pub(crate) fn put(&self, name: impl AsRef<std::path::Path>, content: impl AsRef<[u8]>) -> &Self {
        fs::write(self.path(name), content).expect("a scratch file");
        self
    }

    pub(crate) fn get(&self, name: impl AsRef<std::path::Path>) -> Vec<u8> {
        let path = self.path(name);
        fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// Everything in the folder: regular files by name and content, the rest by name.
    pub(crate) fn content(&self) -> BTreeMap<std::ffi::OsString, Vec<u8>> {
        let entries = fs::read_dir(self.0.path()).expect("the scratch folder").map(|entry| entry.expect("an entry"));
        let read = |path: PathBuf| match fs::metadata(&path) {
            Ok(metadata) if metadata.is_file() => fs::read(path).unwrap_or_default(),
            _ => Vec::new(),
        };
        entries.map(|entry| (entry.file_name(), read(entry.path()))).collect()
    }

    /// The names of what is in the folder.
    pub(crate) fn names(&self) -> BTreeSet<std::ffi::OsString> {
        let entries = fs::read_dir(self.0.path()).expect("the scratch folder");
        entries.map(|entry| entry.expect("an entry").file_name()).collect()
    }

    /// A file, whose name is empty then, or all files in a folder and below, by their paths from it on.
    pub(crate) fn tree(&self, name: impl AsRef<std::path::Path>) -> BTreeMap<String, Vec<u8>> {
        fn add(path: PathBuf, name: String, files: &mut BTreeMap<String, Vec<u8>>) {
            if !path.is_dir() {
                files.insert(name, fs::read(path).expect("a file"));
                return;
            }
            for entry in fs::read_dir(path).expect("a folder") {
                let entry = entry.expect("an entry");
                let own = entry.file_name().to_string_lossy().into_owned();
                let own = if name.is_empty() { own } else { format!("{name}/{own}") };
                add(entry.path(), own, files);
            }
        }
        let mut files = BTreeMap::new();
        add(self.path(name), String::new(), &mut files);
        files
    }

    /// The program, ready to run here.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(binary());
        command
            .current_dir(self.0.path())
            .env_remove("TENSOROP_WINDOW")
            .env_remove("TENSOROP_THREADS")
            .env("NO_COLOR", "1");
        // what is emulated may wait long for its turn
        let seconds = if std::env::var_os("TENSOROP_TEST_PROGRAM").is_some() { 120 } else { 20 };
        command.timeout(std::time::Duration::from_secs(seconds));
        command
    }

    pub(crate) fn run<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Run {
        self.run_with(args, None, None)
    }

    /// Runs the program with a window of so many bytes, and `stdin` on standard input: in this process, if it
    /// [need not](needs_process) be another.
    pub(crate) fn run_with<S: AsRef<OsStr>>(
        &self,
        args: impl IntoIterator<Item = S>,
        window: Option<usize>,
        stdin: Option<&[u8]>,
    ) -> Run {
        let args: Vec<OsString> = args.into_iter().map(|arg| arg.as_ref().to_owned()).collect();
        if !needs_process(&args) {
            let environment = Environment { window, ..Environment::default() };
            if let Some(run) = in_process::run(self.0.path(), args.clone(), environment, stdin.unwrap_or_default()) {
                return run;
            }
        }
        let mut command = self.command();
        command.args(args);
        if let Some(window) = window {
            command.env("TENSOROP_WINDOW", window.to_string());
        }
        if let Some(stdin) = stdin {
            command.write_stdin(stdin);
        }
        let output = command.output().expect("the program runs");
        Run {
            status: output.status.code(),
            stdout: output.stdout,
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// What a command leaves at two window sizes and with several threads, if that is always the same.
    ///
    /// # Errors
    /// Two runs that differ; something on standard error.
    pub(crate) fn always<S: AsRef<OsStr> + Clone>(&self, args: &[S], stdin: Option<&[u8]>) -> Result<Run, String> {
        let mut first: Option<Run> = None;
        for division in divisions() {
            let all = args.iter().map(AsRef::as_ref).chain(["--threads", division.threads].map(OsStr::new));
            let run = self.run_with(all, division.window, stdin);
            let at = format!("{division:?}");
            if !run.stderr.is_empty() {
                return Err(format!("{at}: status {:?}, said {:?}", run.status, run.stderr));
            }
            match &first {
                Some(first) if *first != run => return Err(format!("{at}: {run:?}, and before {first:?}")),
                Some(_) => {}
                None => first = Some(run),
            }
        }
        first.ok_or_else(|| "never ran".to_owned())
    }

    /// Runs a script of `sh` here, in which `$T` is the program.
    #[cfg(unix)]
    pub(crate) fn script(&self, script: &str) -> Run {
        let output = std::process::Command::new("sh")
            .args(["-c", script])
            .current_dir(self.path(""))
            .env("T", binary())
            .env_remove("TENSOROP_WINDOW")
            .env_remove("TENSOROP_THREADS")
            .stdin(std::process::Stdio::null())
            .output()
            .expect("a shell");
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        Run { status: output.status.code(), stdout: output.stdout, stderr }
    }

    /// Runs a command whose standard output goes through a pipe to `reader`, and prints the status of the command.
    #[cfg(unix)]
    pub(crate) fn status_before_pipe(&self, args: &str, reader: &str) -> Run {
        self.script(&format!("{{ {{ $T {args}; echo $? >&3; }} | {reader}; }} 3>&1"))
    }

    /// Whether a command is refused as every refusal must be: status 2, nothing on standard output, one line that
    /// begins `error: ` and holds all `fragments` (a usage error may add two lines: usage, help), and the folder as
    /// it was, an output that is already there among it.
    ///
    /// # Errors
    /// What is not so.
    pub(crate) fn refuses<S: AsRef<OsStr>>(
        &self,
        args: impl IntoIterator<Item = S>,
        fragments: &[&str],
    ) -> Result<String, String> {
        let before = self.content();
        let run = self.run_with(args, None, Some(b""));
        let first = run.stderr.lines().next().unwrap_or_default().to_owned();
        let said = format!("status {:?}, said {:?}", run.status, run.stderr);
        if run.status != Some(2) {
            return Err(format!("expected a refusal: {said}"));
        }
        if !run.stdout.is_empty() {
            return Err(format!("wrote {} bytes to standard output", run.stdout.len()));
        }
        if !first.starts_with("error: ") || !run.stderr.ends_with('\n') {
            return Err(format!("no line that begins `error: `: {said}"));
        }
        let mut more = run.stderr.lines().skip(1);
        if !more.all(|line| line.starts_with("Usage: ") || line.starts_with("For more information")) {
            return Err(format!("more than one line: {said}"));
        }
        if let Some(missing) = fragments.iter().find(|fragment| !first.contains(**fragment)) {
            return Err(format!("does not name {missing:?}: {first}"));
        }
        if self.content() != before {
            let names: Vec<_> = self.names().into_iter().collect();
            return Err(format!("changed the folder, now {names:?}"));
        }
        Ok(first)
    }

    /// Runs a command that ends in `-o out.npy` at two window sizes and with several threads, and compares the file;
    /// then the same in place.
    ///
    /// # Errors
    /// The first window at which the command fails or the bytes differ.
    pub(crate) fn gives<S: AsRef<OsStr> + Clone>(
        &self,
        args: &[S],
        stdin: Option<&[u8]>,
        expected: &[u8],
    ) -> Result<(), String> {
        for division in divisions() {
            let _ = fs::remove_file(self.path("out.npy"));
            let more = ["--threads", division.threads, "-o", "out.npy"].map(OsStr::new);
            let args = args.iter().map(AsRef::as_ref).chain(more);
            let at = |why: String| format!("{division:?}: {why}");
            let printed = self.run_with(args, division.window, stdin).printed().map_err(at)?;
            if !printed.is_empty() {
                return Err(at(format!("printed {printed:?}")));
            }
            let found = self.get("out.npy");
            if found != expected {
                return Err(at(difference(&found, expected)));
            }
        }
        self.edits(args, stdin, expected)
    }

    /// Runs the same command in place, on copies of its data, if its operator changes items of data and that is a `.npy` file
    /// with the header that the expected output has.
    fn edits<S: AsRef<OsStr>>(&self, args: &[S], stdin: Option<&[u8]>, expected: &[u8]) -> Result<(), String> {
        let (operator, data) = (args[0].as_ref(), args[1].as_ref());
        let Ok(file) = fs::read(self.path(data)) else { return Ok(()) };
        let header = expected.iter().position(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        let changes = |spec: &&&Spec| operator == spec.operator && spec.changes_items();
        if !SPECS.iter().any(|spec| changes(&spec)) || !file.starts_with(&expected[..header]) {
            return Ok(());
        }
        for division in divisions() {
            self.put("edited.npy", &file);
            let rest = args[2..].iter().map(AsRef::as_ref);
            let command = [operator, OsStr::new("edited.npy")].into_iter().chain(rest);
            let command = command.chain(["--in-place", "--threads", division.threads].map(OsStr::new));
            let at = |why: String| format!("in place, {division:?}: {why}");
            self.run_with(command, division.window, stdin).printed().map_err(at)?;
            let found = self.get("edited.npy");
            if found != expected {
                return Err(at(difference(&found, expected)));
            }
        }
        let _ = fs::remove_file(self.path("edited.npy"));
        Ok(())
    }
}

/// Returns the names of the sub-commands that the help lists.
pub(crate) fn sub_commands() -> Vec<String> {
    let output = Command::new(binary()).arg("-h").output().expect("the program runs");
    let help = String::from_utf8(output.stdout).expect("a text");
    let (_, list) = help.split_once("\nOperators:\n").expect("a list of sub-commands");
    let (list, _) = list.split_once("\nOptions:\n").expect("options behind it");
    let list = list.lines().filter_map(|line| line.strip_prefix("  "));
    // a line that goes on is indented further
    let names = list.filter_map(|line| line.split(' ').next()).filter(|name| !name.is_empty() && *name != "help");
    let names: Vec<String> = names.map(str::to_owned).collect();
    assert!(names.len() > 10, "the help lists {names:?} only");
    names
}

/// One row of a table of refusals: the arguments, a space between two of them, and what the message must hold.
pub(crate) type Refusal<'a> = (&'a str, &'a [&'a str]);

/// Checks refusals of commands that would write `out.npy`, which is already there. An argument `''` is empty.
#[track_caller]
pub(crate) fn refusals(folder: &Folder, rows: &[Refusal]) {
    folder.put("out.npy", b"what was there before");
    each(
        rows,
        |(args, _)| format!("`{args}`"),
        |(args, fragments)| {
            let args = words(args).into_iter().chain(["-o".to_owned(), "out.npy".to_owned()]);
            folder.refuses(args, fragments).map(drop)
        },
    );
}

/// What `--to json` prints of a tensor: itself, or in short its dtype, shape and data, with a space between two of them.
fn json_of(tensor: &str) -> String {
    let parts = tensor.split_once(' ').filter(|_| !tensor.starts_with('{'));
    match parts.and_then(|(dtype, rest)| Some((dtype, rest.split_once("] ")?))) {
        Some((dtype, (shape, data))) => format!(r#"{{"dtype": "{dtype}", "shape": {shape}], "data": {data}}}"#),
        None => tensor.to_owned(),
    }
}

/// One row of a table of results: arguments, and what `--to json` prints, in full or [in short](json_of).
#[track_caller]
pub(crate) fn prints(folder: &Folder, rows: &[(&str, &str)]) {
    each(
        rows,
        |(args, _)| format!("`{args}`"),
        |(args, expected)| {
            let expected = json_of(expected);
            for Division { window, .. } in divisions() {
                let args = words(args).into_iter().chain(["--to".to_owned(), "json".to_owned()]);
                let found = folder.run_with(args, window, Some(b"")).printed()?;
                if found.trim_end() != expected {
                    return Err(format!("window {window:?}: {}, expected {expected}", found.trim_end()));
                }
            }
            Ok(())
        },
    );
}

/// Rows of arguments, exit status, and parts of what is printed and of what is said.
#[track_caller]
pub(crate) fn says(folder: &Folder, rows: &[(&str, i32, &str, &str)]) {
    each(
        rows,
        |(args, ..)| format!("`{args}`"),
        |(args, status, out, err)| {
            let run = folder.run(words(args));
            let text = String::from_utf8_lossy(&run.stdout);
            match run.status == Some(*status) && text.contains(out) && run.stderr.contains(err) {
                true => Ok(()),
                false => Err(format!("status {:?}, {text}{}", run.status, run.stderr)),
            }
        },
    );
}

/// An example of a specification, checked in both orders of storage and of bytes, as JSON, and at two window sizes. All forms that
/// operands have are tested by the [`Spec`] of an operator.
pub(crate) struct Example<T> {
    pub name: String,
    pub operator: &'static str,
    pub data: Tensor<T>,
    pub indices: Option<Tensor<i64>>,
    pub updates: Option<Tensor<T>>,
    pub options: String,
    pub expected: Tensor<T>,
}

impl<T> Example<T> {
    /// An example without other operands than DATA.
    pub(crate) fn of(operator: &'static str, data: Tensor<T>, options: impl Into<String>, expected: Tensor<T>) -> Self {
        let options = options.into();
        let name = format!("{operator} {:?} {options}", data.shape);
        Self { name, operator, data, indices: None, updates: None, options, expected }
    }
}

impl<T: Item> Example<T> {
    pub(crate) fn check(&self) -> Result<(), String> {
        let (folder, npy) = (Folder::new(), self.expected.npy());
        fn put<T: Item>(folder: &Folder, name: &str, tensor: Option<&Tensor<T>>) {
            let Some(tensor) = tensor else { return };
            let put = |ending: &str, content: Vec<u8>| _ = folder.put(format!("{name}{ending}"), content);
            [(".npy", tensor.npy()), ("-f.npy", tensor.npy_fortran()), ("-b.npy", tensor.npy_big())]
                .into_iter()
                .for_each(|(ending, content)| put(ending, content));
            put(".json", tensor.json().into_bytes());
        }
        put(&folder, "d", Some(&self.data));
        put(&folder, "i", self.indices.as_ref());
        put(&folder, "u", self.updates.as_ref());
        let typed = format!("--dtype {}", T::NAME);
        let forms = [
            (["d.npy", "i.npy", "u.npy"], "", &npy),
            (["d-f.npy", "i-f.npy", "u-f.npy"], "", &npy),
            (["d-b.npy", "i-b.npy", "u.npy"], "", &self.expected.npy_big()),
            (["d.npy", "i.json", "u.json"], "", &npy),
            (["d.json", "i.json", "u.npy"], &*typed, &npy),
        ];
        for (names, more, expected) in forms {
            let is_there = [true, self.indices.is_some(), self.updates.is_some()];
            let operands = names.into_iter().zip(is_there).filter_map(|(name, is_there)| is_there.then_some(name));
            let line = operands.map(str::to_owned).chain(words(&format!("{} {more}", self.options)));
            let args: Vec<String> = std::iter::once(self.operator.to_owned()).chain(line).collect();
            folder.gives(&args, None, expected).map_err(|why| format!("{names:?}: {why}"))?;
        }
        Ok(())
    }
}

/// Checks all examples, then names those that failed.
#[track_caller]
pub(crate) fn examples<T: Item>(rows: Vec<Example<T>>) {
    each(rows, |example| example.name.clone(), Example::check);
}

/// The line of a run that replaces items where a condition holds.
pub(crate) fn items_replaced(count: usize) -> String {
    format!("{count} item{} replaced\n", if count == 1 { "" } else { "s" })
}
