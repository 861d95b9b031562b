//! The report on many tensors that were compared by name. A checkpoint may have a million tensors, so each keeps only
//! its line or its JSON, which goes to a temporary file once it is long.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::io::{self, Write};

pub use super::lines::SortKey;
use super::lines::{self, ReportLine};
use super::report::{json_members, json_names};
use crate::diff::findings::difference::Reason;
pub use crate::diff::findings::difference::{FirstDifferent, LoneTensor, NamedResult, TensorVerdict};
use crate::diff::findings::metadata::DifferingNames;
use crate::report::json::{self, Escapes};
use crate::report::junit::{JunitReport, JunitResult};
use crate::report::{Colour, OptionNames, Spool, Style, printable};
use tensorop_kernels::error::{Context, Result};

/// The form of a report on many tensors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReportForm {
    Table {
        sort: SortKey,
        limit: Option<usize>,
    },
    Line,
    #[default]
    Json,
}

/// Tensors in shards that the index does not name.
#[derive(Debug, Default)]
pub struct UnlistedResult {
    pub names: Vec<String>,
    pub different: Vec<String>,
    /// Messages on indices and files beside them.
    pub lines: Vec<String>,
}

/// The results of many tensors, in the order of their names.
#[derive(Debug, Default)]
pub struct Models {
    form: ReportForm,
    style: Style,
    counts: [usize; 6],
    unreadable: Option<String>,
    lines: Vec<ReportLine>,
    worst: Option<(ReportLine, String)>,
    json: Spool,
    /// The paths of files without tensors, which were skipped.
    pub left_alone: Vec<String>,
    beside: DifferingNames,
    metadata_counts: bool,
    /// Whether a tensor was not compared because of its dtype alone.
    has_other_dtype: bool,
    tensor_metadata: BTreeMap<Vec<String>, (usize, String)>,
    /// The `OLD=NEW` rule that paired names.
    pub rename: Option<String>,
    /// Gets a test for each tensor.
    pub junit: Option<JunitReport>,
    /// They count if they differ.
    pub unlisted: UnlistedResult,
    /// Whether tensors that pass are only counted.
    pub only_different: bool,
    /// Whether the report ends at the first tensor that fails.
    pub ends_at_first: bool,
    /// `None` if all pass.
    pub first: Option<FirstDifferent>,
}

const JUNIT_CLASS: &str = "diff";

impl Models {
    /// An empty report.
    pub fn new(form: ReportForm, style: Style) -> Self {
        Self { form, style, ..Self::default() }
    }

    /// The complete JUnit report.
    ///
    /// # Errors
    /// A temporary file cannot be written.
    pub fn take_junit(&mut self) -> Result<Option<JunitReport>> {
        let Some(mut junit) = self.junit.take() else { return Ok(None) };
        if self.differs_by_files() {
            let message: Vec<_> = self.beside.lines().chain(self.index_lines()).collect();
            let result = JunitResult::Failure { kind: "files", message: &message.join("; ") };
            junit.add(JUNIT_CLASS, "file content other than tensors", result).context("the report")?;
        }
        Ok(Some(junit))
    }

    /// Adds names of differing metadata and attachments, and whether they count.
    pub fn add_beside(&mut self, names: DifferingNames, counts: bool) {
        self.beside.extend(names);
        self.metadata_counts = counts;
    }

    /// Whether both sides have all tensors, and all pass.
    pub fn equal(&self) -> bool {
        self.counts(TensorVerdict::passes) == self.counts(|_| true) && !self.differs_by_files()
    }

    fn differs_by_files(&self) -> bool {
        self.metadata_counts && !self.beside.is_empty() || !self.unlisted.different.is_empty()
    }

    /// The messages on indices, and on differing tensors that they do not name.
    pub fn index_lines(&self) -> Vec<String> {
        let UnlistedResult { different, lines, .. } = &self.unlisted;
        let differ =
            (!different.is_empty()).then(|| format!("different, and not in the index: {}", different.join(", ")));
        lines.iter().cloned().chain(differ).collect()
    }

    /// The number of tensors whose verdict satisfies `of`.
    pub fn counts(&self, of: impl Fn(TensorVerdict) -> bool) -> usize {
        TensorVerdict::ALL
            .into_iter()
            .zip(self.counts)
            .filter(|(verdict, _)| of(*verdict))
            .map(|(_, count)| count)
            .sum()
    }

    /// Adds the result of a tensor, in the order of names.
    ///
    /// # Errors
    /// A temporary file cannot be written.
    pub fn add(&mut self, name: &str, found: &NamedResult) -> Result<()> {
        let verdict = found.verdict();
        self.counts[verdict as usize] += 1;
        if let NamedResult::Unreadable(why) = found {
            self.unreadable.get_or_insert_with(|| why.clone());
        }
        if let NamedResult::Both(found) = found
            && !found.metadata().is_empty()
            && self.form != ReportForm::Json
        {
            self.tensor_metadata.entry(found.metadata().to_owned()).or_insert_with(|| (0, name.to_owned())).0 += 1;
        }
        if let NamedResult::Both(found) = found {
            self.has_other_dtype |= found.reason == Some(Reason::Dtype) && !found.options.ignore_dtype;
        }
        if let Some(junit) = &mut self.junit {
            add_to_junit(junit, name, found)?;
        }
        if self.only_different && verdict.passes() {
            return Ok(());
        }
        match self.form {
            ReportForm::Json => {
                let left_out = if self.only_different { self.counts(TensorVerdict::passes) } else { 0 };
                let before = if self.counts(|_| true) - left_out == 1 { "" } else { ", " };
                let text = format!("{before}{}", object(name, found));
                self.json.file.write_all(text.as_bytes()).context("the report")?;
            }
            _ if verdict == TensorVerdict::Same => {}
            ReportForm::Table { .. } => self.lines.push(ReportLine::of(name, found, self.style)),
            ReportForm::Line => {
                let line = ReportLine::of(name, found, self.style);
                let is_worse = |(worst, _): &(ReportLine, _)| line.order(worst, SortKey::Snr) == Ordering::Less;
                if self.worst.as_ref().is_none_or(is_worse) {
                    self.worst = Some((line, format!("{}: {}", printable(name), result_line(found, self.style))));
                }
            }
        }
        Ok(())
    }

    /// Why the first unreadable tensor is unreadable.
    pub fn unreadable(&self) -> Option<&str> {
        self.unreadable.as_deref()
    }

    /// Whether every tensor that is not the same has a line.
    pub fn has_all_lines(&self) -> bool {
        match self.form {
            ReportForm::Table { limit, .. } => limit.is_none_or(|limit| limit >= self.lines.len()),
            ReportForm::Json | ReportForm::Line => false,
        }
    }

    /// The verdict in one line: `equal` only if every tensor was read and passes.
    pub fn verdict(&self) -> String {
        let counts = TensorVerdict::ALL.into_iter().zip(self.counts);
        let counts = counts.filter(|(verdict, count)| *verdict != TensorVerdict::Unreadable || *count > 0);
        let counts: Vec<_> = counts.map(|(verdict, count)| format!("{count} {}", verdict.name())).collect();
        let word = match self.counts(|verdict| !verdict.passes() && verdict != TensorVerdict::Unreadable) {
            0 if self.differs_by_files() => "different",
            0 if self.unreadable.is_none() => "equal",
            0 => "unreadable",
            _ => "different",
        };
        format!("{word}: {}", counts.join(", "))
    }

    /// Writes the report.
    ///
    /// # Errors
    /// `out` fails, or a temporary file cannot be read.
    pub fn write(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let (verdict, style) = (self.verdict(), self.style);
        let passed =
            [TensorVerdict::Same, TensorVerdict::Within].map(|one| (one, self.counts(|verdict| verdict == one)));
        match (self.form, &self.first) {
            (ReportForm::Line, Some(first)) => first.write(out, style, passed, true),
            (ReportForm::Table { .. }, Some(first)) => first.write(out, style, passed, false),
            (ReportForm::Json, _) => self.write_json(out),
            (ReportForm::Line, None) => {
                let worst = self.worst.as_ref().map(|(_, worst)| format!("worst {worst}"));
                let mut names = self.beside.clone();
                let metadata = self.tensor_metadata.keys().flatten().cloned().collect();
                names.extend(DifferingNames { metadata, ..DifferingNames::default() });
                let lines = self.index_lines().into_iter().map(|line| printable(&line).into_owned());
                let parts: Vec<_> = std::iter::once(verdict).chain(worst).chain(names.lines()).chain(lines).collect();
                writeln!(out, "{}", parts.join("; "))
            }
            (ReportForm::Table { sort, limit }, None) => {
                let (word, rest) = verdict.split_at(verdict.find(':').unwrap_or(verdict.len()));
                let colour = if self.equal() { Colour::Green } else { Colour::Red };
                writeln!(out, "{}{rest}", style.paint(colour, word))?;
                lines::write(&mut self.lines, sort, limit, out, style)?;
                if self.has_other_dtype {
                    writeln!(out, "  {} compares the values", style.flag("ignore_dtype"))?;
                }
                self.write_metadata(out)
            }
        }
    }

    fn write_metadata(&self, out: &mut dyn Write) -> io::Result<()> {
        self.index_lines().iter().try_for_each(|line| writeln!(out, "  {}", printable(line)))?;
        self.beside.lines().try_for_each(|line| writeln!(out, "  {line}"))?;
        self.tensor_metadata.iter().try_for_each(|(names, (count, first))| {
            let more = if *count == 1 { String::new() } else { format!(" and {} more", count - 1) };
            let names = DifferingNames { metadata: names.clone(), ..DifferingNames::default() };
            names.lines().try_for_each(|line| writeln!(out, "  {line} (of {}{more})", printable(first)))
        })
    }

    fn write_json(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let counts = TensorVerdict::ALL.into_iter().zip(self.counts);
        let counts = json::object(counts.map(|(verdict, count)| (verdict.name(), count.to_string())));
        write!(out, "{{\"equal\": {}, \"counts\": {counts}, \"tensors\": [", self.equal())?;
        self.json.write(out)?;
        let rename = self.rename.as_ref().map(|rule| json::string(rule, Escapes::Short));
        let rename = rename.map_or_else(String::new, |rule| format!(", \"rename\": {rule}"));
        let [left_alone, metadata, content] =
            [&self.left_alone, &self.beside.metadata, &self.beside.content].map(json_names);
        let unlisted = json_names(&self.unlisted.names);
        let not_compared = self.first.as_ref().map_or(0, |first| first.not_compared);
        let not_compared =
            if self.ends_at_first { format!(", \"not_compared\": {not_compared}") } else { String::new() };
        write!(out, "], \"left_alone\": {left_alone}{rename}, \"metadata\": {metadata}, \"content\": {content}, ")?;
        writeln!(out, "\"unlisted\": {unlisted}{not_compared}}}")
    }
}

#[doc(hidden)]
pub fn add_to_junit(junit: &mut JunitReport, name: &str, found: &NamedResult) -> Result<()> {
    let verdict = found.verdict();
    let text;
    let result = match found {
        NamedResult::SameBytes => JunitResult::Passed,
        NamedResult::Both(_) if verdict.passes() => JunitResult::Passed,
        NamedResult::Unreadable(why) => JunitResult::Error { message: why },
        NamedResult::Damaged(why) => JunitResult::Failure { kind: verdict.name(), message: why },
        NamedResult::Both(found) => {
            text = found.summary(Style::plain().with_option_names(OptionNames::CommandLine));
            JunitResult::Failure { kind: verdict.name(), message: &text }
        }
        NamedResult::Missing(LoneTensor { outline, .. }) | NamedResult::Extra(LoneTensor { outline, .. }) => {
            text = format!("{}: {} {:?}", verdict.name(), outline.dtype, outline.shape);
            JunitResult::Failure { kind: verdict.name(), message: &text }
        }
    };
    junit.add(JUNIT_CLASS, name, result).context("the report")
}

fn object(name: &str, found: &NamedResult) -> String {
    let text = |text: &str| json::string(text, Escapes::Short);
    let mut members = vec![("name", text(name)), ("verdict", text(found.verdict().name()))];
    match found {
        NamedResult::Both(found) => {
            members.extend(json_members(Some(&found.expected), Some(&found.actual), Some(found)));
        }
        NamedResult::Missing(LoneTensor { outline, renamed }) => {
            members.extend(renamed.as_ref().map(|other| ("renamed", text(other))));
            members.extend(json_members(Some(outline), None, None));
        }
        NamedResult::Extra(LoneTensor { outline, renamed }) => {
            members.extend(renamed.as_ref().map(|other| ("renamed", text(other))));
            members.extend(json_members(None, Some(outline), None));
        }
        NamedResult::Unreadable(why) | NamedResult::Damaged(why) => {
            members.push(("error", text(why)));
            members.extend(json_members(None, None, None));
        }
        NamedResult::SameBytes => {
            // The content is not known.
            let equal =
                |(key, value): (&'static str, String)| (key, if key == "equal" { "true".to_owned() } else { value });
            members.extend(json_members(None, None, None).into_iter().map(equal));
        }
    }
    members.push(("member", text(name)));
    json::object(members)
}

/// Omits the verdict if the numbers imply it.
fn result_line(found: &NamedResult, style: Style) -> String {
    match found {
        NamedResult::Damaged(why) => printable(why).into_owned(),
        NamedResult::Missing(_) | NamedResult::Extra(_) | NamedResult::Unreadable(_) | NamedResult::SameBytes => {
            found.verdict().name().to_owned()
        }
        NamedResult::Both(found) => {
            let summary = found.summary(style);
            printable(summary.split_once(": ").map_or(&*summary, |(_, numbers)| numbers)).into_owned()
        }
    }
}
