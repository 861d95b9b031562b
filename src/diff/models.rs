//! The report on many tensors that were compared by name.
//!
//! The report has a line for each tensor that is not the same, and JSON an object for each tensor. A checkpoint may have a
//! million tensors, so of each only its line or its JSON is kept. JSON is kept in memory, and in a temporary file once it
//! is long.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::io::{self, Seek, Write};

use super::difference::{Difference, Outline, Reason};
use super::report::{axes_of, brief, json_members, share};
use crate::error::{Context, Result};
use crate::layout::order::sort_by;
use crate::report::json::{self, Escapes};
use crate::report::{Colour, Column, Heading, Style, Table, four_digits, printable};
use crate::storage::platform::{Spool, spool};

/// Bytes of JSON that are kept in memory.
const MEMORY: usize = 1 << 24;

/// The verdict on a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// Both sides have it, and all items are the same.
    Same,
    /// Both have it, and what differs passes.
    Within,
    /// Both have it, and it does not pass.
    Different,
    /// Only the expected side has it.
    Missing,
    /// Only the actual side has it.
    Extra,
    /// It cannot be read on one of the sides that have it.
    Unreadable,
}

impl Verdict {
    const ALL: [Self; 6] = [Self::Same, Self::Within, Self::Different, Self::Missing, Self::Extra, Self::Unreadable];

    /// Returns the name that JSON uses.
    pub fn name(self) -> &'static str {
        ["same", "within", "different", "missing", "extra", "unreadable"][self as usize]
    }

    /// Returns whether models with such a tensor can be equal.
    pub fn passes(self) -> bool {
        matches!(self, Self::Same | Self::Within)
    }

    /// Returns the place among the lines of a report: the worst come first.
    fn rank(self) -> usize {
        let worst_first = [Self::Different, Self::Unreadable, Self::Missing, Self::Extra, Self::Within, Self::Same];
        worst_first.iter().position(|verdict| *verdict == self).expect("all verdicts are in the list")
    }
}

/// The result of comparing the tensors of one name.
#[derive(Clone, Debug)]
pub enum NamedResult {
    /// Both sides have it.
    Both(Box<Difference>),
    /// Only the expected side has it.
    Missing(Outline),
    /// Only the actual side has it.
    Extra(Outline),
    /// It cannot be read, and why.
    Unreadable(String),
}

impl NamedResult {
    /// Returns the verdict.
    pub fn verdict(&self) -> Verdict {
        match self {
            NamedResult::Missing(_) => Verdict::Missing,
            NamedResult::Extra(_) => Verdict::Extra,
            NamedResult::Unreadable(_) => Verdict::Unreadable,
            NamedResult::Both(found) if !found.equal() => Verdict::Different,
            NamedResult::Both(found) if found.differing() > Some(0) => Verdict::Within,
            NamedResult::Both(_) => Verdict::Same,
        }
    }
}

/// A line of the report.
#[derive(Debug)]
struct ReportLine {
    verdict: Verdict,
    /// The share of mismatches and the largest relative error, by which lines are sorted. Another dtype or shape is worse
    /// than any share.
    share: f64,
    relative: f64,
    cells: [String; 4],
}

/// The results of many tensors, in the order of their names.
#[derive(Debug)]
pub struct Models {
    counts: [usize; 6],
    /// Why the first tensor that cannot be read cannot.
    unreadable: Option<String>,
    lines: Vec<ReportLine>,
    /// The objects of all tensors, if JSON is wanted.
    json: Option<Spool>,
}

impl Models {
    /// Returns a report on no tensors so far, as JSON or as a table.
    pub fn new(json: bool) -> Self {
        Self { counts: [0; 6], unreadable: None, lines: Vec::new(), json: json.then(|| spool(MEMORY)) }
    }

    /// Returns whether all tensors are on both sides, and pass.
    pub fn equal(&self) -> bool {
        self.counts(Verdict::passes) == self.counts(|_| true)
    }

    /// Returns how many tensors have a verdict for which `of` is true.
    pub fn counts(&self, of: impl Fn(Verdict) -> bool) -> usize {
        Verdict::ALL.into_iter().zip(self.counts).filter(|(verdict, _)| of(*verdict)).map(|(_, count)| count).sum()
    }

    /// Adds the result of a tensor. Tensors are added in the order of their names.
    ///
    /// # Errors
    /// A temporary file cannot be written.
    pub fn add(&mut self, name: &str, found: &NamedResult) -> Result<()> {
        let verdict = found.verdict();
        self.counts[verdict as usize] += 1;
        if let NamedResult::Unreadable(why) = found {
            self.unreadable.get_or_insert_with(|| why.clone());
        }
        if let Some(json) = &mut self.json {
            let before = if self.counts.iter().sum::<usize>() == 1 { "" } else { ", " };
            let text = format!("{before}{}", object(name, found));
            json.write_all(text.as_bytes()).context("the report")?;
        } else if verdict != Verdict::Same {
            self.lines.push(line(name, found));
        }
        Ok(())
    }

    /// Returns why the first of the tensors that cannot be read cannot, if there are any.
    pub fn unreadable(&self) -> Option<&str> {
        self.unreadable.as_deref()
    }

    /// Returns the verdict on all tensors in one line. It begins with `equal` only if every tensor was read and passes.
    pub fn verdict(&self) -> String {
        let counts = Verdict::ALL.into_iter().zip(self.counts);
        let counts = counts.filter(|(verdict, count)| *verdict != Verdict::Unreadable || *count > 0);
        let counts: Vec<_> = counts.map(|(verdict, count)| format!("{count} {}", verdict.name())).collect();
        let word = match self.counts(|verdict| !verdict.passes() && verdict != Verdict::Unreadable) {
            0 if self.unreadable.is_none() => "equal",
            0 => "unreadable",
            _ => "different",
        };
        format!("{word}: {}", counts.join(", "))
    }

    /// Writes the verdict, and a line for each tensor that is not the same, the worst first.
    ///
    /// # Errors
    /// `out` fails.
    pub fn write_report(&mut self, out: &mut dyn Write, style: Style) -> io::Result<()> {
        let verdict = self.verdict();
        let (word, rest) = verdict.split_at(verdict.find(':').unwrap_or(verdict.len()));
        writeln!(out, "{}{rest}", style.paint(if self.equal() { Colour::Green } else { Colour::Red }, word))?;
        if self.lines.is_empty() {
            return Ok(());
        }
        // the sort is stable: lines that are alike stay in the order of names
        sort_by(&mut self.lines, |a, b| {
            let descending = |a: f64, b: f64| b.partial_cmp(&a).unwrap_or(Ordering::Equal);
            let by_errors = descending(a.share, b.share).then(descending(a.relative, b.relative));
            a.verdict.rank().cmp(&b.verdict.rank()).then(by_errors)
        });
        let columns = vec![
            Column::left("verdict"),
            Column::right("mismatches"),
            Column::right("abs"),
            Column::right("rel"),
            Column::left("tensor"),
        ];
        let row = |line: &ReportLine| {
            let mut row = vec![Cow::from(line.verdict.name())];
            row.extend(line.cells.iter().map(|cell| Cow::from(cell.clone())));
            row
        };
        let rows = self.lines.iter().map(row).collect();
        writeln!(out)?;
        Table { columns, rows, heading: Heading::Words(Colour::Dim), indent: 2, widest: usize::MAX }.write(out, style)
    }

    /// Writes everything as one JSON object on one line.
    ///
    /// # Errors
    /// `out` fails, or a temporary file cannot be read.
    pub fn write_json(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let counts = Verdict::ALL.into_iter().zip(self.counts);
        let counts = json::object(counts.map(|(verdict, count)| (verdict.name(), count.to_string())));
        write!(out, "{{\"equal\": {}, \"counts\": {counts}, \"tensors\": [", self.equal())?;
        if let Some(json) = &mut self.json {
            json.rewind()?;
            io::copy(json, out)?;
        }
        writeln!(out, "]}}")
    }
}

/// Returns the JSON object of a tensor.
fn object(name: &str, found: &NamedResult) -> String {
    let text = |text: &str| json::string(text, Escapes::Short);
    let mut members = vec![("name", text(name)), ("verdict", text(found.verdict().name()))];
    match found {
        NamedResult::Both(found) => {
            members.extend(json_members(Some(&found.expected), Some(&found.actual), Some(found)));
        }
        NamedResult::Missing(outline) => members.extend(json_members(Some(outline), None, None)),
        NamedResult::Extra(outline) => members.extend(json_members(None, Some(outline), None)),
        NamedResult::Unreadable(why) => {
            members.push(("error", text(why)));
            members.extend(json_members(None, None, None));
        }
    }
    json::object(members)
}

fn line(name: &str, found: &NamedResult) -> ReportLine {
    let name = printable(name);
    let outline = |outline: &Outline| format!("{name}: {} {:?}", printable(&outline.dtype), outline.shape);
    let none = String::new;
    let bare = |verdict, text| ReportLine { verdict, share: 0.0, relative: 0.0, cells: [none(), none(), none(), text] };
    let found = match found {
        NamedResult::Both(found) => found,
        NamedResult::Missing(one) => return bare(Verdict::Missing, outline(one)),
        NamedResult::Extra(one) => return bare(Verdict::Extra, outline(one)),
        NamedResult::Unreadable(why) => return bare(Verdict::Unreadable, format!("{name}: {}", printable(why))),
    };
    let verdict = if found.equal() { Verdict::Within } else { Verdict::Different };
    let (expected, actual) = (&found.expected, &found.actual);
    let incomparable = |text: String| ReportLine { share: f64::INFINITY, ..bare(verdict, format!("{name}: {text}")) };
    match found.reason {
        Some(Reason::Dtype) => {
            let [actual, expected] = [actual, expected].map(|outline| printable(&outline.dtype));
            return incomparable(format!("dtype {actual}, expected {expected}"));
        }
        Some(Reason::Shape) => return incomparable(format!("shape {:?}, expected {:?}", actual.shape, expected.shape)),
        Some(Reason::Values) | None => {}
    }
    // unknown if only the verdict was wanted, which shows no lines
    let mismatches = found.mismatches().unwrap_or(0);
    let count = match verdict {
        // items that differ in bits may all pass
        Verdict::Within if mismatches == 0 => String::new(),
        _ => format!("{mismatches} of {} ({})", found.items, share(mismatches, found.items)),
    };
    let failures: Vec<_> = found.failures().iter().map(|failure| failure.metric_text()).collect();
    let mut text = name.into_owned();
    if !failures.is_empty() {
        text += &format!(": {}", failures.join(", "));
    } else if verdict == Verdict::Different {
        text += &axes_of(found);
    }
    // the errors of the finite items would hide one that is not; strings have no errors at all
    let has_non_finite = found.found.as_ref().is_some_and(|found| found.has_non_finite_mismatch);
    let not_finite = (has_non_finite && found.metrics().is_some()).then(|| "nan/inf".to_owned());
    let error = |text: Option<String>| not_finite.clone().or(text).unwrap_or_default();
    let relative = found.max_rel().map(|most| match found.min_rtol() {
        None if most.value == 0.0 => "none".to_owned(),
        Some(_) | None => four_digits(most.value),
    });
    ReportLine {
        verdict,
        share: mismatches as f64 / found.items.max(1) as f64,
        relative: found.max_rel().map_or(0.0, |most| most.value),
        cells: [count, error(found.max_abs().map(|most| brief(most.value))), error(relative), text],
    }
}
