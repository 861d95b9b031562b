//! The lines of a report on many tensors: one per tensor that is not the same, the worst first.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::io::{self, Write};

use super::report::{NOT_FINITE, axes_of, mismatch_columns, table};
use crate::diff::findings::difference::{Difference, LoneTensor, NamedResult, Outline, Reason, TensorVerdict};
use crate::report::{Colour, Column, Style, printable};

/// The order of report lines. Except for `Name`, the verdict comes first, and tensors that cannot be compared precede
/// others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SortKey {
    /// The signal-to-noise ratio, after non-finite mismatches.
    #[default]
    Snr,
    /// The cosine, after non-finite mismatches.
    Cosine,
    /// The largest absolute error, after non-finite mismatches.
    Abs,
    /// The share of mismatches.
    Share,
    /// The name.
    Name,
}

#[derive(Debug)]
pub(crate) struct ReportLine {
    verdict: TensorVerdict,
    is_not_finite: bool,
    snr: Option<f64>,
    cosine: Option<f64>,
    /// Infinite for two dtypes or shapes.
    abs: f64,
    relative: f64,
    share: f64,
    cells: [String; CELLS],
    worst: Vec<[String; 6]>,
}

const CELLS: usize = 6;

impl ReportLine {
    fn new(verdict: TensorVerdict, text: String) -> Self {
        let cells = [const { String::new() }; CELLS - 1];
        let [mismatches, abs, rel, snr, cosine] = cells;
        Self {
            verdict,
            is_not_finite: false,
            snr: None,
            cosine: None,
            abs: 0.0,
            relative: 0.0,
            share: 0.0,
            cells: [mismatches, abs, rel, snr, cosine, text],
            worst: Vec::new(),
        }
    }

    pub(crate) fn of(name: &str, found: &NamedResult, style: Style) -> Self {
        let name = printable(name);
        let lone = |LoneTensor { outline: Outline { dtype, shape }, renamed }: &LoneTensor, word: &str| {
            let renamed = renamed.as_ref().map(|other| format!(", renamed {word} {}", printable(other)));
            format!("{name}: {} {shape:?}{}", printable(dtype), renamed.unwrap_or_default())
        };
        match found {
            NamedResult::Both(found) => Self::for_both(&name, found, style),
            NamedResult::Missing(one) => Self::new(TensorVerdict::Missing, lone(one, "to")),
            NamedResult::Extra(one) => Self::new(TensorVerdict::Extra, lone(one, "from")),
            NamedResult::Unreadable(why) | NamedResult::Damaged(why) => {
                Self::new(found.verdict(), format!("{name}: {}", printable(why)))
            }
            NamedResult::SameBytes => Self::new(TensorVerdict::Same, name.into_owned()),
        }
    }

    fn for_both(name: &str, found: &Difference, style: Style) -> Self {
        let verdict = if found.equal() { TensorVerdict::Within } else { TensorVerdict::Different };
        let hint = found.axes_text(style).map_or_else(String::new, |text| format!("; hint: {text}"));
        let reason = match (found.reason, &found.found) {
            (Some(reason @ (Reason::Dtype | Reason::Shape)), _) => reason,
            (Some(Reason::Values | Reason::Metadata) | None, None) => {
                unreachable!("only another dtype or shape is not compared")
            }
            (reason @ (Some(Reason::Values | Reason::Metadata) | None), Some(findings)) => {
                let mismatches = findings.mismatches;
                let count = match reason {
                    None | Some(Reason::Metadata) if mismatches == 0 => String::new(),
                    _ => format!("{mismatches} of {} ({})", found.items, found.share(mismatches)),
                };
                let failures: Vec<_> = findings.failures.iter().map(|failure| failure.metric_text()).collect();
                let more = match verdict {
                    _ if !failures.is_empty() => format!(": {}", failures.join(", ")),
                    _ if reason == Some(Reason::Metadata) => format!(": {}", found.beside.verdict()),
                    TensorVerdict::Different => axes_of(found),
                    _ => String::new(),
                };
                // Errors of finite items would hide the others.
                let is_not_finite = findings.has_non_finite_mismatch;
                let error = |text: Option<String>| match is_not_finite {
                    true => NOT_FINITE.to_owned(),
                    false => text.unwrap_or_default(),
                };
                let relative = findings.max_rel.as_ref().map(|most| match findings.min_rtol {
                    None if most.value == 0.0 => "none".to_owned(),
                    Some(_) | None => found.rel_text(most.value),
                });
                let (snr, cosine) = (findings.metrics.snr_db, findings.metrics.cosine);
                let metric = |name, value: Option<f64>| match value {
                    // A cosine of 1 over the finite items would look like equality.
                    _ if is_not_finite => "-".to_owned(),
                    value => value.map_or_else(String::new, |value| found.metric_text(name, value)),
                };
                return Self {
                    is_not_finite,
                    snr,
                    cosine,
                    abs: findings.max_abs.as_ref().map_or(0.0, |most| most.value.near()),
                    relative: match (&findings.max_rel, findings.min_rtol) {
                        (Some(most), Some(_)) => most.value,
                        (_, None) => f64::INFINITY,
                        (None, Some(_)) => 0.0,
                    },
                    share: mismatches as f64 / found.items.max(1) as f64,
                    cells: [
                        count,
                        error(findings.max_abs.as_ref().map(|most| found.abs_text(most.value))),
                        error(relative),
                        metric("snr_db", snr),
                        metric("cosine", cosine),
                        format!("{name}{more}{hint}"),
                    ],
                    worst: found.worst().iter().map(|one| found.mismatch_cells(one)).collect(),
                    ..Self::new(verdict, String::new())
                };
            }
        };
        let (expected, actual) = (&found.expected, &found.actual);
        let text = match reason {
            Reason::Dtype => format!("dtype {}, expected {}", printable(&actual.dtype), printable(&expected.dtype)),
            _ => format!("shape {:?}, expected {:?}", actual.shape, expected.shape),
        };
        let most = f64::INFINITY;
        Self { abs: most, relative: most, share: most, ..Self::new(verdict, format!("{name}: {text}{hint}")) }
    }

    pub(crate) fn order(&self, other: &Self, key: SortKey) -> Ordering {
        let descending = |a: f64, b: f64| b.partial_cmp(&a).unwrap_or(Ordering::Equal);
        // `None`, an undefined metric, sorts first.
        let ascending = |a: Option<f64>, b: Option<f64>| a.partial_cmp(&b).unwrap_or(Ordering::Equal);
        let finite = || other.is_not_finite.cmp(&self.is_not_finite);
        let by_key = match key {
            SortKey::Name => return Ordering::Equal,
            SortKey::Snr => finite().then_with(|| ascending(self.snr, other.snr)),
            SortKey::Cosine => finite().then_with(|| ascending(self.cosine, other.cosine)),
            SortKey::Abs => finite().then_with(|| descending(self.abs, other.abs)),
            SortKey::Share => descending(self.share, other.share).then_with(finite),
        };
        let by_errors = || descending(self.share, other.share).then(descending(self.relative, other.relative));
        self.verdict.rank().cmp(&other.verdict.rank()).then(by_key).then_with(by_errors)
    }
}

pub(crate) fn write(
    lines: &mut [ReportLine],
    key: SortKey,
    limit: Option<usize>,
    out: &mut dyn Write,
    style: Style,
) -> io::Result<()> {
    // The sort is stable.
    lines.sort_by(|a, b| a.order(b, key));
    let shown = &lines[..limit.map_or(lines.len(), |limit| limit.min(lines.len()))];
    if !shown.is_empty() {
        let mut rows = Vec::new();
        for line in shown {
            let cells = line.cells.iter().map(|cell| Cow::from(cell.as_str()));
            rows.push(std::iter::once(Cow::from(line.verdict.name())).chain(cells).collect());
            rows.extend(line.worst_rows(style)?);
        }
        writeln!(out)?;
        let columns = Column::list("verdict >mismatches >abs >rel >snr >cosine tensor");
        table(columns, rows).write(out, style)?;
    }
    match lines.len() - shown.len() {
        0 => Ok(()),
        rest => {
            let all = style.option("limit", &lines.len().to_string());
            writeln!(out, "  {}", style.paint(Colour::Dim, &format!("and {rest} more: {all} lists all")))
        }
    }
}

impl ReportLine {
    fn worst_rows(&self, style: Style) -> io::Result<Vec<Vec<Cow<'_, str>>>> {
        if self.worst.is_empty() {
            return Ok(Vec::new());
        }
        let rows = self.worst.iter().map(|cells| cells.iter().map(|cell| Cow::from(cell.as_str())).collect()).collect();
        let mut text = Vec::new();
        table(mismatch_columns(), rows).write(&mut text, style)?;
        Ok(String::from_utf8_lossy(&text).lines().map(|line| vec![Cow::from(line.to_owned())]).collect())
    }
}
