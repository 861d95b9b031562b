//! The sub-command `check`, which tests operators, here or by the outputs of another runtime.

mod case_text;
mod export;
mod find;
mod judge;
mod report;
mod results;
mod runtime;

use std::collections::HashSet;
use std::io::Write as _;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use clap::{ArgGroup, Args, ValueHint};
use tensorop_conformance::case::{Class, KnownTest, Tolerances};

use self::export::{CaseLayout, export};
use self::find::{BrokenTest, Loaded, LoadedTest, Task, Tests, check_id};
use self::judge::{Outputs, TestVerdict, VerdictKind, judge};
use self::report::{CheckReport, Judged, KnownFailures};
use self::results::unclaimed;
use self::runtime::Runtime;
use super::messages::counted;
use super::options::{
    ByName, JunitOptions, OptionWord, parse_glob, parse_number, parse_path, parse_steps, parse_threads, parse_timeout,
    parse_tolerances, parse_words, word, write_junit,
};
use super::process::io::{Io, Outcome, complain};
use crate::container::glob::Glob;
use crate::diff::Options;
use crate::error::malformed;
use crate::parallel::{Threads, share_in_order};
use crate::report::printable;

/// Run tests of operators (built in, ONNX's or your own), or check the outputs of another runtime
///
/// A test is a folder with model.onnx (of one node) and test_data_set_K like ONNX's backend tests, a folder with case.json,
/// or an entry of a JSON file of cases. A folder is searched for tests. The id of a test is its path in that folder, with /K
/// for a data set and #ID for an entry. Without PATH the built-in tests run, which checks an installation.
///
/// A test passes if dtype, shape and items are equal to the expected ones, as diff decides it with the same tolerances, or if
/// the operator refuses inputs that it must refuse. Tests of operators that the program does not have are unsupported. Tests
/// that cannot be read are broken, and so are those whose id occurs twice, or whose operator, version or attributes are
/// specified neither by ONNX nor by OpenVINO.
///
/// The status is 0 if no test failed (except those of --expect) or is broken, at least --min-tests passed, and at most
/// --max-unsupported are unsupported. Otherwise it is 1.
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
    /// In a must the specification defines the output. In a choice it leaves the output open, and this project has decided.
    /// In a reject it forbids the inputs, and the operator must refuse them. ONNX's own tests are must.
    #[arg(long, value_name = "CLASS", value_delimiter = ',', value_parser = parse_words(classes()))]
    pub class: Vec<Class>,
    /// Take only tests of this operator, such as ScatterND
    ///
    /// The name is that of the specification; case, - and _ make no difference. Can be given several times. A name that no
    /// test has is an error.
    #[arg(long, value_name = "NAME", value_hint = ValueHint::Other)]
    pub operator: Vec<String>,
    /// The largest absolute error that passes; with GLOB=A only for tests with matching ids
    ///
    /// Can be given several times: the last one that matches the id of a test decides. It takes the place of the "atol" that
    /// the case.json or about.json of a test gives. The same is true for --rtol and --ulp.
    #[arg(long, value_name = "A", value_parser = parse_tolerances, value_hint = ValueHint::Other, help_heading = PASSES)]
    pub atol: Vec<ByName<f64>>,
    /// The largest error relative to the expected item that passes; with --atol their sum; or GLOB=R
    #[arg(long, value_name = "R", value_parser = parse_tolerances, value_hint = ValueHint::Other, help_heading = PASSES)]
    pub rtol: Vec<ByName<f64>>,
    /// The most steps between representable values that pass; or GLOB=N
    #[arg(long, value_name = "N", value_parser = parse_steps, value_hint = ValueHint::Other, help_heading = PASSES)]
    pub ulp: Vec<ByName<u64>>,
    /// The fewest tests that must pass
    #[arg(long, value_name = "N", value_parser = parse_number::<usize>, value_hint = ValueHint::Other, default_value_t = 1, help_heading = PASSES)]
    pub min_tests: usize,
    /// The most tests that may be unsupported [default: any number]
    #[arg(long, value_name = "N", value_parser = parse_number::<usize>, value_hint = ValueHint::Other, help_heading = PASSES)]
    pub max_unsupported: Option<usize>,
    /// The tests that are known to fail: a file of ids, one on each line
    ///
    /// They may fail without a status of 1, and the report only counts them. If one of them passes, the report names it and
    /// the status is 1. An id that no test has is broken, so the status is 1, too. Blank lines, and # at the beginning of a line
    /// or after a blank with the rest of its line, are left out.
    #[arg(long, value_name = "FILE", value_parser = parse_path(), value_hint = ValueHint::FilePath, help_heading = PASSES)]
    pub expect: Option<PathBuf>,
    /// Run nothing: check the outputs of another runtime in DIR/ID/output.npy
    ///
    /// output_N.npy, output.pb and output_N.pb are read, too. If the runtime has refused a test, the file DIR/ID/refused has its
    /// message. If it has crashed, there is a file DIR/ID/crashed. If it or its interface does not have the operator or a type,
    /// there is a file DIR/ID/unsupported, and the test counts as unsupported. A test that must be refused passes only with a file
    /// refused and no output, and every other test needs its outputs alone. A test without any file has no result and fails.
    /// Tests of operators that the program does not have are checked, too. A line on standard error names results in DIR that
    /// belong to no test; they do not change the status.
    #[arg(long, value_name = "DIR", value_parser = parse_path(), value_hint = ValueHint::DirPath)]
    pub actual: Option<PathBuf>,
    /// Run another runtime: a command for each test, whose results are checked as it goes
    ///
    /// A shell runs CMD with {model}, the path of the test's model.onnx (or case.json), {out}, an empty folder for its results (the
    /// files of --actual), and {inputs}, the folder of the inputs, which is needed only if a test has several. Built-in tests, and
    /// those of a JSON file, are written for it in the layout of --layout. A command that fails, or exceeds its time, has crashed,
    /// unless it wrote refused or unsupported. With --save DIR the results stay in DIR/ID.
    #[arg(long, value_name = "CMD", value_hint = ValueHint::CommandString, conflicts_with_all = ["actual", "export", "list"])]
    pub run: Option<String>,
    /// With --run: the number of commands at once [default: the number of processors]
    #[arg(long, value_name = "N", value_parser = parse_threads, value_hint = ValueHint::Other, requires = "run")]
    pub jobs: Option<NonZero<usize>>,
    /// With --run: the seconds after which a command is killed, with all that it started
    #[arg(long, value_name = "S", value_parser = parse_timeout, value_hint = ValueHint::Other, default_value = "60", requires = "run")]
    pub timeout: Duration,
    /// Write the outputs to DIR/ID/output.npy, or a message to DIR/ID/refused or DIR/ID/unsupported
    #[arg(long, value_name = "DIR", value_parser = parse_path(), value_hint = ValueHint::DirPath)]
    pub save: Option<PathBuf>,
    /// Write the built-in tests to DIR, for runtimes in any language
    #[arg(long, value_name = "DIR", value_parser = parse_path(), value_hint = ValueHint::DirPath, conflicts_with_all = ["paths", "min_tests", "max_unsupported", "expect", "list", "verdict", "json", "junit", "atol", "rtol", "ulp"])]
    pub export: Option<PathBuf>,
    /// The layout of the tests of --export [default: npy] and --run [default: onnx]
    #[arg(long, value_name = "LAYOUT", value_parser = parse_words(layouts()))]
    layout: Option<CaseLayout>,
    /// Print the ids of the tests, one on each line, and run nothing
    #[arg(long, conflicts_with_all = ["json", "junit", "verdict", "expect", "max_unsupported", "instead"])]
    pub list: bool,
    /// List the tests with these verdicts: passed, failed, unsupported, broken [default: failed, broken; with --json all]
    ///
    /// The counts, the table, the status and --junit are always of all tests.
    #[arg(long, value_name = "VERDICT", value_delimiter = ',', value_parser = parse_words(verdicts()), help_heading = REPORT)]
    verdict: Vec<VerdictKind>,
    /// Print one JSON object with all tests
    #[arg(long, help_heading = REPORT)]
    pub json: bool,
    #[command(flatten)]
    pub junit: JunitOptions,
    /// Print only the counts
    #[arg(short, long, conflicts_with = "verdict", help_heading = REPORT)]
    pub quiet: bool,
}

/// The number of tests in memory for the runtime.
const BATCH: usize = 64;

const PASSES: &str = "Pass criteria";
const REPORT: &str = "Report";

const EXAMPLES: &str = "\
Examples:
  tensorop check                                              # the built-in tests
  tensorop check node-tests --only 'test_scatternd*'          # ONNX's backend tests
  tensorop check --export vectors --layout onnx               # for a runtime that reads models
  tensorop check vectors --actual outputs --class must,reject --min-tests 400
  tensorop check --run 'python3 mine.py {model} {out}' --jobs 8 --timeout 10
  tensorop check vectors --actual outputs --expect known.txt --junit report.xml
  tensorop check cases.json --json | jq '.tests[] | select(.verdict != \"passed\")'

A case of a JSON file is {\"id\", \"specification\": \"openvino\" or \"onnx\", \"operator\", \"version\", \"attributes\", \"inputs\", and \"output\" or \
\"error\", \"class\", \"why\", \"atol\", \"rtol\", \"ulp\"}; a tensor in it is the name of a file, a tensor as JSON, or {\"dtype\", \"shape\", \"hex\"} with the bytes of \
its items.

The table of the report has a line for each operator with tests that passed or failed. A test differs if its result is not the \
expected one, has no result if the runtime crashed or wrote nothing, and is refused if it must have an output.

With --json the keys are passed, failed, unsupported, broken (the counts); tests, each with id, verdict, operator, version, class, \
failure (differs, no result, refused or null), reason, known (whether --expect lists it) and diff, the object of tensorop diff --json; \
and operators, each with operator, passed, differs, no_result and refused.";

fn classes() -> Vec<OptionWord<Class>> {
    let help = |class| match class {
        Class::Must => "The specification defines the output",
        Class::Choice => "The specification leaves the output open, and it was decided here",
        Class::Reject => "The specification forbids the inputs, and the operator must refuse them",
    };
    Class::ALL.into_iter().map(|class| word(class.name(), help(class), class)).collect()
}

fn verdicts() -> Vec<OptionWord<VerdictKind>> {
    let help = |kind| match kind {
        VerdictKind::Passed => "The result is the expected one",
        VerdictKind::Failed => "The result is another one, or is missing",
        VerdictKind::Unsupported => "The program or the runtime lacks something that the test needs",
        VerdictKind::Broken => "The test cannot be read",
    };
    VerdictKind::ALL.into_iter().map(|kind| word(kind.name(), help(kind), kind)).collect()
}

fn layouts() -> Vec<OptionWord<CaseLayout>> {
    vec![
        word("npy", "case.json and .npy files", CaseLayout::Npy),
        word("onnx", "model.onnx and test_data_set_0, only for ONNX's operators", CaseLayout::Onnx),
    ]
}

impl Check {
    pub(super) fn run(&self, io: &Io) -> Result<Outcome> {
        if let Some(folder) = &self.export {
            return self.export(io, folder);
        }
        if let Some(folder) = &self.actual {
            std::fs::read_dir(folder).with_context(|| format!("--actual {}", folder.display()))?;
        }
        let outputs = |id: &str| match (&self.actual, &self.save) {
            (Some(folder), _) => Outputs::Written(folder.join(id)),
            (None, folder) => Outputs::Made(folder.as_ref().map(|folder| folder.join(id))),
        };
        ensure!(self.layout.is_none() || self.run.is_some(), "--layout: is for --export and --run");
        let runtime = |command| Runtime::new(command, self.timeout, self.layout, self.save.as_deref());
        let runtime = self.run.as_deref().map(runtime).transpose()?;
        let known = self.expect.as_deref().map(KnownFailures::read).transpose()?;
        let (target, junit) = self.junit.begin(&[])?.unzip();
        let mut report = CheckReport::new(io, self.quiet, self.json, &self.verdict, known.as_ref(), junit);
        let mut seen = HashSet::new();
        let mut batch = Vec::new();
        let found = self.each(io, &mut seen, &mut |id, loaded| {
            if self.list {
                return report.print(&format!("{}\n", printable(id)));
            }
            if let Some(runtime) = &runtime {
                batch.push((id.to_owned(), loaded));
                return if batch.len() < BATCH { Ok(()) } else { self.run_all(runtime, &mut batch, &mut report) };
            }
            let verdict = self.verdict(id, &loaded, |loaded, options| judge(loaded, outputs(id), options))?;
            report.add(&Judged { id, about: about(&loaded).cloned(), verdict })
        })?;
        if let Some(runtime) = &runtime {
            self.run_all(runtime, &mut batch, &mut report)?;
        }
        if self.list {
            report.flush()?;
            return Ok(found);
        }
        // no path could be read, so there is nothing to report
        if found != Outcome::Done && report.is_empty() {
            return Ok(found);
        }
        if found == Outcome::Done {
            for (id, reason) in known.iter().flat_map(|known| known.without_tests(&seen)) {
                report.add(&Judged { id, about: None, verdict: TestVerdict::Broken(reason) })?;
            }
            if let Some(folder) = &self.actual {
                warn_of(io, folder, &unclaimed(folder, &seen));
            }
        }
        write_junit(target, report.finish()?, "tensorop check")?;
        Ok(match found {
            Outcome::Done if self.is_good(io, &report) => Outcome::Done,
            Outcome::Done => Outcome::Different,
            other => other,
        })
    }

    fn verdict(
        &self,
        id: &str,
        loaded: &LoadedTest,
        judge: impl FnOnce(&Loaded, &Options) -> crate::error::Result<TestVerdict>,
    ) -> crate::error::Result<TestVerdict> {
        match loaded {
            Ok(loaded) => judge(loaded, &self.options(id, loaded.tolerances)),
            Err(broken) => Ok(TestVerdict::Broken(broken.error.to_string())),
        }
    }

    /// Runs the runtime for these tests, several at once.
    fn run_all(
        &self,
        runtime: &Runtime<'_>,
        tests: &mut Vec<(String, LoadedTest)>,
        report: &mut CheckReport<'_>,
    ) -> crate::error::Result<()> {
        let verdict = |n: usize, verdict: &mut Option<TestVerdict>| {
            let (id, loaded) = &tests[n];
            *verdict = Some(self.verdict(id, loaded, |loaded, options| runtime.judge(id, loaded, options))?);
            Ok::<_, crate::Error>(())
        };
        let jobs = Threads::new(self.jobs).started_for(0).for_bytes(usize::MAX);
        let mut verdicts = Vec::with_capacity(tests.len());
        share_in_order(
            jobs,
            tests.len(),
            || None,
            verdict,
            |_, verdict| {
                verdicts.extend(verdict.take());
                Ok(true)
            },
        )?;
        for ((id, loaded), verdict) in tests.drain(..).zip(verdicts) {
            report.add(&Judged { id: &id, about: about(&loaded).cloned(), verdict })?;
        }
        Ok(())
    }

    fn is_good(&self, io: &Io, report: &CheckReport<'_>) -> bool {
        if report.has_failed() {
            return false;
        }
        let (passed, unsupported) = (report.count(VerdictKind::Passed), report.count(VerdictKind::Unsupported));
        let mut is_good = true;
        if passed < self.min_tests {
            is_good = false;
            let passed = counted(passed, "test", "tests");
            let _ = writeln!(io.stderr.clone(), "{passed} passed, expected at least {}", self.min_tests);
        }
        if let Some(max) = self.max_unsupported.filter(|&max| unsupported > max) {
            is_good = false;
            let unsupported = counted(unsupported, "test is", "tests are");
            let _ = writeln!(io.stderr.clone(), "{unsupported} unsupported, expected at most {max}");
        }
        is_good
    }

    /// The command line takes precedence over the test's own tolerances.
    fn options(&self, id: &str, own: Tolerances) -> Options {
        let mut options = Options::default();
        options.atol = ByName::last(&self.atol, id).copied().or(own.atol);
        options.rtol = ByName::last(&self.rtol, id).copied().or(own.rtol);
        options.ulp = ByName::last(&self.ulp, id).copied().or(own.ulp);
        options
    }

    /// An unreadable path does not stop the others, and a repeated id makes a test broken.
    fn each(&self, io: &Io, seen: &mut HashSet<String>, take: &mut TakeLoaded<'_>) -> Result<Outcome> {
        let found: Vec<_> = match self.paths.is_empty() {
            true => vec![Tests::own()],
            false => self.paths.iter().map(|path| Tests::of(path)).collect(),
        };
        let (mut tests, mut outcome) = (Vec::new(), Outcome::Done);
        for found in found {
            match found {
                Ok(found) => tests.push(found),
                Err(error) => outcome = complain(&io.stderr, &error.into()),
            }
        }
        // an unreadable path may have tests with these ids and operators
        if outcome == Outcome::Done {
            self.check_matches(&tests)?;
        }
        for tests in tests {
            tests.each(&mut |id, read| {
                let is_second = !seen.insert(id.to_owned());
                if !self.takes_id(id) {
                    return Ok(());
                }
                // --list needs to read tests only to select them by class or operator
                if self.list && self.class.is_empty() && self.operator.is_empty() {
                    return take(id, check_id(id).and_then(|()| Err(malformed!("not read"))).map_err(BrokenTest::from));
                }
                let refused = match is_second {
                    true => Err(malformed!("another test has the same id")),
                    false => check_id(id),
                };
                let loaded = match (read(), refused) {
                    (loaded, Ok(())) => loaded,
                    (loaded, Err(error)) => Err(BrokenTest { about: about(&loaded).cloned().map(Box::new), error }),
                };
                match about(&loaded) {
                    Some(known) if !self.takes(known) => Ok(()),
                    Some(_) | None => take(id, loaded),
                }
            })?;
        }
        Ok(outcome)
    }

    fn takes_id(&self, id: &str) -> bool {
        let matches = |globs: &[Glob]| globs.iter().any(|glob| glob.matches(id));
        (self.only.is_empty() || matches(&self.only)) && !matches(&self.exclude)
    }

    fn takes(&self, test: &KnownTest) -> bool {
        let is_operator = |name: &String| is_same_operator(name, &test.operator);
        (self.class.is_empty() || self.class.contains(&test.class))
            && (self.operator.is_empty() || self.operator.iter().any(is_operator))
    }

    /// Reads tests only if `--operator` is used.
    fn check_matches(&self, tests: &[Tests]) -> Result<()> {
        let mut unmatched: Vec<_> = (self.only.iter().map(|glob| ("--only", glob)))
            .chain(self.exclude.iter().map(|glob| ("--exclude", glob)))
            .chain(ByName::globs("--atol", &self.atol))
            .chain(ByName::globs("--rtol", &self.rtol))
            .chain(ByName::globs("--ulp", &self.ulp))
            .collect();
        let mut unknown: Vec<_> = self.operator.iter().collect();
        if unmatched.is_empty() && unknown.is_empty() {
            return Ok(());
        }
        for tests in tests {
            tests.each(&mut |id, read| {
                unmatched.retain(|(_, glob)| !glob.matches(id));
                if !unknown.is_empty() && self.takes_id(id) {
                    let loaded = read();
                    let of_test =
                        |name: &str| about(&loaded).is_some_and(|known| is_same_operator(name, &known.operator));
                    unknown.retain(|name| !of_test(name));
                }
                Ok(())
            })?;
        }
        if let Some((option, glob)) = unmatched.first() {
            bail!("{option} {}: matches no test id", glob.text());
        }
        if let Some(name) = unknown.first() {
            bail!("--operator {name}: no test has this operator");
        }
        Ok(())
    }

    /// The folder must be empty, since ids of another version would stay.
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
        self.each(io, &mut HashSet::new(), &mut |id, loaded| {
            let Task::Run(case) = loaded.map_err(|broken| broken.error)?.task else {
                unreachable!("the program's own vectors all run an operator")
            };
            match export(&case, &folder.join(id), self.layout.unwrap_or(CaseLayout::Npy))? {
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

type TakeLoaded<'a> = dyn FnMut(&str, LoadedTest) -> crate::error::Result<()> + 'a;

fn about(test: &LoadedTest) -> Option<&KnownTest> {
    match test {
        Ok(loaded) => Some(&loaded.about),
        Err(broken) => broken.about.as_deref(),
    }
}

/// `scatter-nd` and `ScatterND` are the same operator.
fn is_same_operator(a: &str, b: &str) -> bool {
    let letters = |text: &str| text.replace(['-', '_'], "").to_lowercase();
    letters(a) == letters(b)
}

fn warn_of(io: &Io, folder: &Path, unclaimed: &[String]) {
    const MAX_NAMED: usize = 5;
    if unclaimed.is_empty() {
        return;
    }
    let named: Vec<_> =
        unclaimed.iter().take(MAX_NAMED).map(|id| printable(if id.is_empty() { "." } else { id })).collect();
    let more = if unclaimed.len() > named.len() { ", …" } else { "" };
    let results = counted(unclaimed.len(), "result belongs", "results belong");
    let folder = folder.display().to_string();
    let _ = writeln!(
        io.stderr.clone(),
        "--actual {}: {results} to no test: {}{more}",
        printable(&folder),
        named.join(", ")
    );
}
