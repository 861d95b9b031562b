//! The report of the sub-command `check`: lines, counts and a table, JSON, and JUnit XML; and the list of known failures.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io::{BufWriter, Seek, Write};
use std::path::Path;

use tempfile::{SpooledTempFile, spooled_tempfile};
use tensorop_conformance::case::KnownTest;

use super::judge::{CaseFailure, TestVerdict, VerdictKind};
use crate::command::messages::unless_closed;
use crate::command::operands::list_options::listed_names;
use crate::command::process::io::Io;
use crate::diff::Difference;
use crate::error::{Context, Result, malformed};
use crate::report::json::{self, Escapes};
use crate::report::junit::{JunitReport, JunitResult};
use crate::report::{Colour, Column, Heading, Style, Table, printable};

pub(super) struct Judged<'a> {
    pub id: &'a str,
    pub about: Option<KnownTest>,
    pub verdict: TestVerdict,
}

#[derive(Clone, Copy, Default)]
struct OperatorCounts {
    passed: usize,
    /// In the order of [`CaseFailure::ALL`].
    failed: [usize; CaseFailure::ALL.len()],
}

impl OperatorCounts {
    fn all(self) -> impl Iterator<Item = usize> {
        std::iter::once(self.passed).chain(self.failed)
    }
}

/// If standard output is closed, the tests go on, because the exit status must be right even if nobody reads the
/// report.
pub(super) struct CheckReport<'a> {
    out: BufWriter<Box<dyn Write + 'a>>,
    is_closed: bool,
    style: Style,
    is_quiet: bool,
    /// If empty: failed and broken tests, and with JSON all tests.
    listed: &'a [VerdictKind],
    known: Option<&'a KnownFailures>,
    counts: [usize; VerdictKind::ALL.len()],
    known_failures: usize,
    unexpected_passes: usize,
    operators: BTreeMap<String, OperatorCounts>,
    unsupported: BTreeMap<String, usize>,
    /// The JSON of the listed tests, and whether there are any.
    json: Option<(SpooledTempFile, bool)>,
    junit: Option<JunitReport>,
}

/// Longer JSON goes to a temporary file.
const MEMORY: usize = 1 << 22;

impl<'a> CheckReport<'a> {
    pub(super) fn new(
        io: &'a Io,
        is_quiet: bool,
        is_json: bool,
        listed: &'a [VerdictKind],
        known: Option<&'a KnownFailures>,
        junit: Option<JunitReport>,
    ) -> Self {
        Self {
            out: BufWriter::new(Box::new(io.stdout.clone())),
            is_closed: false,
            style: io.style(),
            is_quiet,
            listed,
            known,
            counts: [0; VerdictKind::ALL.len()],
            known_failures: 0,
            unexpected_passes: 0,
            operators: BTreeMap::new(),
            unsupported: BTreeMap::new(),
            json: is_json.then(|| (spooled_tempfile(MEMORY), false)),
            junit,
        }
    }

    pub(super) fn count(&self, kind: VerdictKind) -> usize {
        self.counts[kind as usize]
    }

    pub(super) fn is_empty(&self) -> bool {
        self.counts.iter().all(|&count| count == 0)
    }

    /// Passes of tests that are known to fail count as failures.
    pub(super) fn has_failed(&self) -> bool {
        let unexpected = self.count(VerdictKind::Failed) - self.known_failures + self.unexpected_passes;
        unexpected + self.count(VerdictKind::Broken) > 0
    }

    pub(super) fn add(&mut self, judged: &Judged<'_>) -> Result<()> {
        let Judged { id, about, verdict } = judged;
        let (kind, known) = (verdict.kind(), self.known.filter(|known| known.has(id)));
        self.counts[kind as usize] += 1;
        match kind {
            VerdictKind::Failed if known.is_some() => self.known_failures += 1,
            VerdictKind::Passed if known.is_some() => self.unexpected_passes += 1,
            VerdictKind::Passed | VerdictKind::Failed | VerdictKind::Unsupported | VerdictKind::Broken => {}
        }
        if let Some(about) = about {
            self.add_to_operator(&about.operator, verdict);
        }
        self.add_to_junit(judged, known)?;
        let is_listed = self.listed.contains(&kind);
        if let Some((json, has_any)) = &mut self.json {
            if self.listed.is_empty() || is_listed {
                let before = if std::mem::replace(has_any, true) { ", " } else { "" };
                let object = object(id, about.as_ref(), verdict, known.is_some());
                write!(json, "{before}{object}").context("the report")?;
            }
            return Ok(());
        }
        if self.is_quiet {
            return Ok(());
        }
        match verdict {
            TestVerdict::Passed => match known {
                Some(known) => {
                    let reason = format!("{} lists it as a test that fails", known.file());
                    self.line(Colour::Red, kind, id, Some(&reason))
                }
                None if is_listed => self.line(Colour::Green, kind, id, None),
                None => Ok(()),
            },
            TestVerdict::Failed { .. } if known.is_some() && !is_listed => Ok(()),
            TestVerdict::Failed { reason, .. } | TestVerdict::Broken(reason) => {
                match self.listed.is_empty() || is_listed {
                    true => self.line(Colour::Red, kind, id, Some(reason)),
                    false => Ok(()),
                }
            }
            TestVerdict::Unsupported(reason) if is_listed => self.line(Colour::Plain, kind, id, Some(reason)),
            TestVerdict::Unsupported(reason) => {
                if self.listed.is_empty() {
                    *self.unsupported.entry(reason.clone()).or_default() += 1;
                }
                Ok(())
            }
        }
    }

    fn line(&mut self, colour: Colour, kind: VerdictKind, id: &str, reason: Option<&str>) -> Result<()> {
        let word = self.style.paint(colour, kind.name());
        let reason = reason.map_or_else(String::new, |reason| format!(": {}", printable(reason)));
        self.print(&format!("{word}  {}{reason}\n", printable(id)))
    }

    fn add_to_operator(&mut self, operator: &str, verdict: &TestVerdict) {
        let mut counts = self.operators.get(operator).copied().unwrap_or_default();
        match verdict {
            TestVerdict::Passed => counts.passed += 1,
            TestVerdict::Failed { failure, .. } => counts.failed[*failure as usize] += 1,
            TestVerdict::Unsupported(_) | TestVerdict::Broken(_) => return,
        }
        self.operators.insert(operator.to_owned(), counts);
    }

    fn add_to_junit(&mut self, judged: &Judged<'_>, known: Option<&KnownFailures>) -> Result<()> {
        let Some(junit) = &mut self.junit else { return Ok(()) };
        let class = judged.about.as_ref().map_or("check".to_owned(), |about| format!("check.{}", about.operator));
        let message = |reason: &str, known: &KnownFailures| format!("known to fail ({}): {reason}", known.file());
        let text;
        let result = match (&judged.verdict, known) {
            (TestVerdict::Passed, None) => JunitResult::Passed,
            (TestVerdict::Passed, Some(known)) => {
                text = format!("passed, but {} lists it as a test that fails", known.file());
                JunitResult::Failure { kind: VerdictKind::Passed.name(), message: &text }
            }
            (TestVerdict::Failed { reason, .. }, Some(known)) => {
                text = message(reason, known);
                JunitResult::Skipped { message: &text }
            }
            (TestVerdict::Failed { failure, reason, .. }, None) => {
                JunitResult::Failure { kind: failure.name(), message: reason }
            }
            (TestVerdict::Unsupported(reason), _) => {
                text = format!("unsupported: {reason}");
                JunitResult::Skipped { message: &text }
            }
            (TestVerdict::Broken(reason), _) => JunitResult::Error { message: reason },
        };
        junit.add(&class, judged.id, result).context("the report")
    }

    pub(super) fn finish(&mut self) -> Result<Option<JunitReport>> {
        let counts = VerdictKind::ALL.map(|kind| (kind.name(), self.count(kind)));
        if let Some((mut json, _)) = self.json.take() {
            let counts = counts.map(|(name, count)| format!("\"{name}\": {count}"));
            self.print(&format!("{{{}, \"tests\": [", counts.join(", ")))?;
            json.rewind().context("the report")?;
            if !self.is_closed {
                let copied = std::io::copy(&mut json, &mut self.out).map(drop);
                self.unless_closed(copied)?;
            }
            let operators = json::array(&self.operators, |(name, counts)| {
                let names = std::iter::once("passed").chain(CaseFailure::ALL.map(key));
                let counts = names.zip(counts.all()).map(|(name, count)| (name, count.to_string()));
                json::object(std::iter::once(("operator", json::string(name, Escapes::Short))).chain(counts))
            });
            self.print(&format!("], \"operators\": {operators}}}\n"))?;
        } else {
            if !self.is_quiet {
                for (what, count) in std::mem::take(&mut self.unsupported) {
                    self.print(&format!("unsupported  {}: {count}\n", printable(&what)))?;
                }
                if let Some(known) = self.known.filter(|_| self.known_failures > 0) {
                    self.print(&format!("known to fail  {}: {}\n", printable(known.file()), self.known_failures))?;
                }
                self.print_operators()?;
            }
            let counts = counts.map(|(name, count)| format!("{count} {name}"));
            self.print(&format!("{}\n", counts.join(", ")))?;
        }
        self.flush()?;
        Ok(self.junit.take())
    }

    fn print_operators(&mut self) -> Result<()> {
        if self.operators.is_empty() {
            return Ok(());
        }
        let operators = std::mem::take(&mut self.operators);
        let row = |(name, counts): (&String, &OperatorCounts)| {
            let counts = counts.all().map(|count| Cow::from(count.to_string()));
            std::iter::once(Cow::from(printable(name).into_owned())).chain(counts).collect()
        };
        let headings = std::iter::once("passed").chain(CaseFailure::ALL.map(CaseFailure::name));
        let table = Table {
            columns: std::iter::once(Column::left("operator")).chain(headings.map(Column::right)).collect(),
            rows: operators.iter().map(row).collect(),
            heading: Heading::Words(Colour::Dim),
            indent: 2,
            widest: usize::MAX,
        };
        let mut text = Vec::new();
        table.write(&mut text, self.style).context("the report")?;
        self.print(&String::from_utf8_lossy(&text))
    }

    pub(super) fn print(&mut self, text: &str) -> Result<()> {
        if self.is_closed {
            return Ok(());
        }
        let printed = self.out.write_all(text.as_bytes());
        self.unless_closed(printed)
    }

    pub(super) fn flush(&mut self) -> Result<()> {
        if self.is_closed {
            return Ok(());
        }
        let flushed = self.out.flush();
        self.unless_closed(flushed)
    }

    fn unless_closed(&mut self, printed: std::io::Result<()>) -> Result<()> {
        self.is_closed |= printed.is_err();
        unless_closed(printed).context("standard output")
    }
}

fn key(failure: CaseFailure) -> &'static str {
    match failure {
        CaseFailure::NoResult => "no_result",
        CaseFailure::Differs | CaseFailure::Refused => failure.name(),
    }
}

fn object(id: &str, about: Option<&KnownTest>, verdict: &TestVerdict, is_known: bool) -> String {
    let text = |text: &str| json::string(text, Escapes::Short);
    let (failure, difference) = match verdict {
        TestVerdict::Failed { failure, difference, .. } => (Some(failure.name()), difference.as_deref()),
        TestVerdict::Passed | TestVerdict::Unsupported(_) | TestVerdict::Broken(_) => (None, None),
    };
    let of_difference = |found: &Difference| {
        let mut out = Vec::new();
        found.write_json(&mut out).expect("memory takes all bytes");
        String::from_utf8(out).expect("JSON is text").trim_end().to_owned()
    };
    json::object([
        ("id", text(id)),
        ("verdict", text(verdict.kind().name())),
        ("operator", json::or_null(about, |about| text(&about.operator))),
        ("version", json::or_null(about, |about| about.version.to_string())),
        ("class", json::or_null(about, |about| text(about.class.name()))),
        ("failure", json::or_null(failure, text)),
        ("reason", json::or_null(verdict.reason(), text)),
        ("known", is_known.to_string()),
        ("diff", json::or_null(difference, of_difference)),
    ])
}

pub(super) struct KnownFailures {
    file: String,
    ids: BTreeSet<String>,
}

impl KnownFailures {
    pub(super) fn read(path: &Path) -> Result<Self> {
        let file = path.display().to_string();
        let place = || format!("--expect {file}");
        let text = String::from_utf8(std::fs::read(path).with_context(place)?);
        let text = text.map_err(|error| malformed!("not UTF-8: {error}")).with_context(place)?;
        Ok(Self { ids: listed_names(&text).map(str::to_owned).collect(), file: file.clone() })
    }

    pub(super) fn file(&self) -> &str {
        &self.file
    }

    pub(super) fn has(&self, id: &str) -> bool {
        self.ids.contains(id)
    }

    pub(super) fn without_tests<'a>(
        &'a self,
        tests: &'a HashSet<String>,
    ) -> impl Iterator<Item = (&'a str, String)> + 'a {
        let unknown = self.ids.iter().filter(|id| !tests.contains(*id));
        unknown.map(|id| (id.as_str(), format!("{} lists this id, and no test has it", self.file)))
    }
}
