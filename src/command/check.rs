//! The sub-command `check`, which runs tests of operators, here or by what another runtime has written.

use std::collections::BTreeMap;
use std::io::{BufWriter, Seek, Write};
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::{ArgGroup, Args, ValueHint};
use tempfile::{SpooledTempFile, spooled_tempfile};

use super::io::{Io, Outcome, complain};
use super::messages::{counted, unless_closed};
use super::options::{OptionWord, parse_glob, parse_number, parse_path, parse_tolerance, parse_words, word};
use crate::conformance::case::Class;
use crate::conformance::export::{CaseLayout, export};
use crate::conformance::find::{Loaded, Task, Tests, check_id};
use crate::conformance::judge::{Outputs, TestVerdict, VERDICTS, judge};
use crate::diff::{Difference, Options};
use crate::error::{Context, malformed};
use crate::format::glob::Glob;
use crate::report::json::{self, Escapes};
use crate::report::{Colour, Style, printable};

/// Run tests of operators (built in, ONNX's or your own), or check the outputs of another runtime
///
/// A test is a folder with model.onnx (of one node) and test_data_set_K like ONNX's backend tests, a folder with case.json,
/// or an entry of a JSON file of cases. A folder is searched for tests. The id of a test is its path in that folder, with /K
/// for a data set and #ID for an entry. Without PATH the built-in tests run, which checks an installation.
///
/// A test passes if dtype, shape and items are equal to the expected ones, as diff decides it with the same tolerances, or if
/// the operator refuses inputs that it must refuse. Tests of operators that the program does not have are unsupported, and
/// tests that cannot be read are broken. The status is 0 if no test failed or is broken and at least --min-tests passed, and
/// otherwise 1.
#[derive(Args)]
#[command(override_usage = "tensorop check [OPTIONS] [PATH]...", after_long_help = EXAMPLES)]
#[command(group(ArgGroup::new("instead").args(["save", "actual", "export"])))]
pub(super) struct Check {
    /// Tests, or folders that are searched for tests
    #[arg(value_name = "PATH", value_parser = parse_path(), value_hint = ValueHint::AnyPath)]
    pub paths: Vec<PathBuf>,
    /// Take only tests whose id matches
    ///
    /// `*` matches any characters, including `/`, `?` matches one, and [a-c] one of a set. Can be given several times. A
    /// pattern that matches nothing is an error.
    #[arg(long, value_name = "GLOB", value_parser = parse_glob)]
    pub only: Vec<Glob>,
    /// Leave out tests whose id matches, also if --only takes them
    #[arg(long, value_name = "GLOB", value_parser = parse_glob)]
    pub exclude: Vec<Glob>,
    /// Take only tests of these classes: must, choice, reject
    ///
    /// In a must the specification defines the output. In a choice the specification is silent, and this project has decided.
    /// In a reject the operator must refuse its inputs. ONNX's own tests are must.
    #[arg(long, value_name = "CLASS", value_delimiter = ',', value_parser = parse_words(classes()))]
    pub class: Vec<Class>,
    /// The largest absolute error that passes
    #[arg(long, value_name = "A", value_parser = parse_tolerance, value_hint = ValueHint::Other, help_heading = PASSES)]
    pub atol: Option<f64>,
    /// The largest error relative to the expected item that passes; with --atol their sum
    #[arg(long, value_name = "R", value_parser = parse_tolerance, value_hint = ValueHint::Other, help_heading = PASSES)]
    pub rtol: Option<f64>,
    /// The most steps between representable values that pass
    #[arg(long, value_name = "N", value_parser = parse_number::<u64>, value_hint = ValueHint::Other, help_heading = PASSES)]
    pub ulp: Option<u64>,
    /// The fewest tests that must pass
    #[arg(long, value_name = "N", value_parser = parse_number::<usize>, value_hint = ValueHint::Other, default_value_t = 1, help_heading = PASSES)]
    pub min_tests: usize,
    /// Run nothing: check the outputs of another runtime in DIR/ID/output.npy
    ///
    /// output_N.npy, output.pb and output_N.pb are read, too. A test that must be refused must have no output, and every other
    /// test must have one. Tests of operators that the program does not have are checked, too.
    #[arg(long, value_name = "DIR", value_parser = parse_path(), value_hint = ValueHint::DirPath)]
    pub actual: Option<PathBuf>,
    /// Write the outputs to DIR/ID/output.npy
    #[arg(long, value_name = "DIR", value_parser = parse_path(), value_hint = ValueHint::DirPath)]
    pub save: Option<PathBuf>,
    /// Write the built-in tests to DIR, for runtimes in any language
    #[arg(long, value_name = "DIR", value_parser = parse_path(), value_hint = ValueHint::DirPath, conflicts_with_all = ["paths", "min_tests", "list", "json", "atol", "rtol", "ulp"])]
    pub export: Option<PathBuf>,
    /// The layout of the tests of --export
    #[arg(long, value_name = "LAYOUT", value_parser = parse_words(layouts()), default_value = "npy", requires = "export")]
    pub layout: CaseLayout,
    /// Print the ids of the tests, one on each line, and run nothing
    #[arg(long, conflicts_with_all = ["json", "instead"])]
    pub list: bool,
    /// Print one JSON object with all tests
    #[arg(long)]
    pub json: bool,
    /// Print only the counts
    #[arg(short, long)]
    pub quiet: bool,
}

const PASSES: &str = "Pass criteria";

const EXAMPLES: &str = "\
Examples:
  tensorop check                                              # the built-in tests
  tensorop check node-tests --only 'test_scatternd*'          # ONNX's backend tests
  tensorop check --export vectors --layout onnx               # for a runtime that reads models
  tensorop check vectors --actual outputs --class must,reject --min-tests 400
  tensorop check cases.json --json | jq '.tests[] | select(.verdict != \"passed\")'

A case of a JSON file is {\"id\", \"specification\": \"openvino\" or \"onnx\", \"operator\", \"version\", \"attributes\", \"inputs\", and \"output\" or \
\"error\", \"class\", \"why\"}; a tensor in it is the name of a file, a tensor as JSON, or {\"dtype\", \"shape\", \"hex\"} with the bytes of \
its items. With --json each of the tests has id, verdict, operator, version, class, reason and diff, the object of tensorop diff --json.";

fn classes() -> Vec<OptionWord<Class>> {
    let help = |class| match class {
        Class::Must => "The specification defines the output",
        Class::Choice => "The specification is silent, and the output was decided here",
        Class::Reject => "The operator must refuse its inputs",
    };
    Class::ALL.into_iter().map(|class| word(class.name(), help(class), class)).collect()
}

fn layouts() -> Vec<OptionWord<CaseLayout>> {
    vec![
        word("npy", "case.json and .npy files", CaseLayout::Npy),
        word("onnx", "model.onnx and test_data_set_0, only for ONNX's operators", CaseLayout::Onnx),
    ]
}

/// A test that was judged.
struct Judged<'a> {
    id: &'a str,
    /// What is known of the test, if it could be read.
    about: Option<KnownTest>,
    verdict: TestVerdict,
}

/// What is known of a test that could be read.
struct KnownTest {
    operator: String,
    version: u64,
    class: Class,
}

/// What has been found of all tests so far, and how it is told. The verdict is the status, whatever becomes of the reader:
/// once standard output is closed, nothing more is printed, and the tests go on.
struct CheckReport<'a> {
    out: BufWriter<Box<dyn Write + 'a>>,
    is_closed: bool,
    style: Style,
    is_quiet: bool,
    counts: [usize; VERDICTS.len()],
    /// How many tests were unsupported for the same reason.
    unsupported: BTreeMap<String, usize>,
    /// The objects of all tests, if JSON is wanted.
    json: Option<SpooledTempFile>,
}

/// The bytes of JSON that are kept in memory before they go to a temporary file.
const MEMORY: usize = 1 << 22;

impl Check {
    /// Judges all tests and prints the report, or writes the program's own.
    pub(super) fn run(&self, io: &Io) -> Result<Outcome> {
        if let Some(folder) = &self.export {
            return self.export(io, folder);
        }
        let outputs = match (&self.actual, &self.save) {
            (Some(folder), _) => {
                let place = || format!("--actual {}", folder.display());
                std::fs::read_dir(folder).with_context(place)?;
                Outputs::Written(folder)
            }
            (None, folder) => Outputs::Made(folder.as_deref()),
        };
        let options = Options { atol: self.atol, rtol: self.rtol, ulp: self.ulp, ..Options::default() };
        let mut report = CheckReport {
            out: BufWriter::new(Box::new(io.stdout.clone())),
            is_closed: false,
            style: io.style(),
            is_quiet: self.quiet,
            counts: [0; VERDICTS.len()],
            unsupported: BTreeMap::new(),
            json: self.json.then(|| spooled_tempfile(MEMORY)),
        };
        let found = self.each(io, &mut |id, loaded| {
            if self.list {
                return report.print(&format!("{}\n", printable(id)));
            }
            let (about, verdict) = match loaded {
                Ok(loaded) => {
                    let about =
                        KnownTest { operator: loaded.operator.clone(), version: loaded.version, class: loaded.class };
                    (Some(about), judge(id, loaded, outputs, &options)?)
                }
                Err(error) => (None, TestVerdict::Broken(error.to_string())),
            };
            report.add(&Judged { id, about, verdict })
        })?;
        if self.list {
            report.flush()?;
            return Ok(found);
        }
        // where no path could be read there is nothing to report
        if found != Outcome::Done && report.counts.iter().all(|&count| count == 0) {
            return Ok(found);
        }
        report.finish()?;
        let [passed, failed, _, broken] = report.counts;
        let is_good = failed + broken == 0;
        if is_good && passed < self.min_tests && found == Outcome::Done {
            let passed = counted(passed, "test", "tests");
            let _ = writeln!(io.stderr.clone(), "{passed} passed, expected at least {}", self.min_tests);
        }
        Ok(match found {
            Outcome::Done if is_good && passed >= self.min_tests => Outcome::Done,
            Outcome::Done => Outcome::Different,
            other => other,
        })
    }

    /// Hands the tests that are wanted to `take`. A path that cannot be read is told, and stops none of the others.
    ///
    /// # Errors
    /// A pattern that matches no test; those of `take`.
    fn each(&self, io: &Io, take: &mut TakeLoaded<'_>) -> Result<Outcome> {
        let mut unmatched: Vec<_> = (self.only.iter().map(|glob| ("--only", glob)))
            .chain(self.exclude.iter().map(|glob| ("--exclude", glob)))
            .collect();
        let mut outcome = Outcome::Done;
        let tests = match self.paths.is_empty() {
            true => vec![Tests::own()],
            false => self.paths.iter().map(|path| Tests::of(path)).collect(),
        };
        for tests in tests {
            let tests = match tests {
                Ok(tests) => tests,
                Err(error) => {
                    outcome = complain(&io.stderr, &error.into());
                    continue;
                }
            };
            tests.each(&mut |id, read| {
                unmatched.retain(|(_, glob)| !glob.matches(id));
                let matches = |globs: &[Glob]| globs.iter().any(|glob| glob.matches(id));
                if !self.only.is_empty() && !matches(&self.only) || matches(&self.exclude) {
                    return Ok(());
                }
                // a test is read to be listed only where its class is asked for
                if self.list && self.class.is_empty() {
                    return take(id, check_id(id).and_then(|()| Err(malformed!("not read"))));
                }
                let loaded = check_id(id).and_then(|()| read());
                match &loaded {
                    Ok(loaded) if !self.class.is_empty() && !self.class.contains(&loaded.class) => Ok(()),
                    _ => take(id, loaded),
                }
            })?;
        }
        match unmatched.first() {
            Some((option, glob)) if outcome == Outcome::Done => {
                bail!("{option} {}: matches the id of no test", glob.text())
            }
            _ => Ok(outcome),
        }
    }

    /// Writes the program's own vectors to a folder, which must have nothing in it: ids of another version would stay.
    fn export(&self, io: &Io, folder: &Path) -> Result<Outcome> {
        let place = || format!("--export {}", folder.display());
        match std::fs::read_dir(folder) {
            Ok(mut entries) => {
                if entries.next().is_some() {
                    bail!("{}: is not empty", place());
                }
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(crate::Error::from(error).within(place()).into()),
        }
        let (mut written, mut left) = (0_usize, 0_usize);
        self.each(io, &mut |id, loaded| {
            let Task::Run(case) = loaded?.task else { unreachable!("the program's own vectors are no models") };
            match export(&case, &folder.join(id), self.layout)? {
                true => written += 1,
                false => left += 1,
            }
            Ok(())
        })?;
        if !self.quiet {
            let left = match left {
                0 => String::new(),
                left => format!(", without {left} of OpenVINO's operators"),
            };
            let written = counted(written, "test", "tests");
            writeln!(io.stderr.clone(), "{}: {written}{left}", folder.display()).context("standard error")?;
        }
        Ok(Outcome::Done)
    }
}

/// Takes a test by its id, as it was read.
type TakeLoaded<'a> = dyn FnMut(&str, crate::error::Result<Loaded>) -> crate::error::Result<()> + 'a;

impl CheckReport<'_> {
    /// Adds a test.
    fn add(&mut self, judged: &Judged<'_>) -> crate::error::Result<()> {
        let Judged { id, about, verdict } = judged;
        let name = VERDICTS[verdict.number()];
        let is_first = self.counts.iter().all(|&count| count == 0);
        self.counts[verdict.number()] += 1;
        if let Some(json) = &mut self.json {
            let object = object(id, about.as_ref(), verdict);
            write!(json, "{}{object}", if is_first { "" } else { ", " }).context("the report")?;
            return Ok(());
        }
        match verdict {
            TestVerdict::Passed => Ok(()),
            TestVerdict::Unsupported(what) => {
                *self.unsupported.entry(what.clone()).or_default() += 1;
                Ok(())
            }
            TestVerdict::Failed { .. } | TestVerdict::Broken(_) if self.is_quiet => Ok(()),
            TestVerdict::Failed { reason, .. } | TestVerdict::Broken(reason) => {
                let word = self.style.paint(Colour::Red, name);
                self.print(&format!("{word}  {}: {}\n", printable(id), printable(reason)))
            }
        }
    }

    /// Prints what is left to say when all tests have been judged.
    fn finish(&mut self) -> crate::error::Result<()> {
        let counts = VERDICTS.iter().zip(self.counts);
        if let Some(mut json) = self.json.take() {
            let counts: Vec<_> = counts.map(|(name, count)| format!("\"{name}\": {count}")).collect();
            self.print(&format!("{{{}, \"tests\": [", counts.join(", ")))?;
            json.rewind().context("the report")?;
            if !self.is_closed {
                let copied = std::io::copy(&mut json, &mut self.out).map(drop);
                self.unless_closed(copied)?;
            }
            self.print("]}\n")?;
            return self.flush();
        }
        if !self.is_quiet {
            for (what, count) in std::mem::take(&mut self.unsupported) {
                self.print(&format!("unsupported  {}: {count}\n", printable(&what)))?;
            }
        }
        let counts: Vec<_> = counts.map(|(name, count)| format!("{count} {name}")).collect();
        self.print(&format!("{}\n", counts.join(", ")))?;
        self.flush()
    }

    /// Prints a text as far as somebody reads it.
    fn print(&mut self, text: &str) -> crate::error::Result<()> {
        if self.is_closed {
            return Ok(());
        }
        let printed = self.out.write_all(text.as_bytes());
        self.unless_closed(printed)
    }

    fn flush(&mut self) -> crate::error::Result<()> {
        if self.is_closed {
            return Ok(());
        }
        let flushed = self.out.flush();
        self.unless_closed(flushed)
    }

    fn unless_closed(&mut self, printed: std::io::Result<()>) -> crate::error::Result<()> {
        self.is_closed |= printed.is_err();
        unless_closed(printed).context("standard output")
    }
}

/// Returns the JSON object of a test.
fn object(id: &str, about: Option<&KnownTest>, verdict: &TestVerdict) -> String {
    let text = |text: &str| json::string(text, Escapes::Short);
    let difference = match verdict {
        TestVerdict::Failed { difference, .. } => difference.as_deref(),
        TestVerdict::Passed | TestVerdict::Unsupported(_) | TestVerdict::Broken(_) => None,
    };
    let of_difference = |found: &Difference| {
        let mut out = Vec::new();
        found.write_json(&mut out).expect("memory takes what is written");
        String::from_utf8(out).expect("JSON is text").trim_end().to_owned()
    };
    json::object([
        ("id", text(id)),
        ("verdict", text(VERDICTS[verdict.number()])),
        ("operator", json::or_null(about, |about| text(&about.operator))),
        ("version", json::or_null(about, |about| about.version.to_string())),
        ("class", json::or_null(about, |about| text(about.class.name()))),
        ("reason", json::or_null(verdict.reason(), text)),
        ("diff", json::or_null(difference, of_difference)),
    ])
}
