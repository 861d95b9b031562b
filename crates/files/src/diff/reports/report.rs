//! Writes a difference as a JSON object or as a report that begins with the verdict.

use std::borrow::Cow;
use std::io::{self, Write};

use crate::diff::findings::difference::{Difference, Extreme, Findings, Mismatch, Outline, Reason};
use crate::diff::findings::places::AxisPlaces;
use crate::diff::numbers::distance::Number;
use crate::diff::numbers::sums::Metrics;
use crate::diff::options::{Allowed, Failure};
use crate::diff::search::QUANTILES;
use crate::report::json::{self, Escapes, array, float, list, or_null};
use crate::report::{Colour, Column, Heading, Style, Table, bare, near_one, told_from};
use crate::storage::source::Source;

/// The width of a value, in characters.
const LONGEST: usize = 40;

/// Shown instead of a largest error if items differ by NaN or infinity.
pub(crate) const NOT_FINITE: &str = "nan/inf";

impl Difference {
    /// The verdict in one line.
    pub fn verdict(&self) -> String {
        let (expected, actual) = (&self.expected, &self.actual);
        let dtypes = if expected.dtype == actual.dtype {
            expected.dtype.clone()
        } else {
            format!("{} and {}", expected.dtype, actual.dtype)
        };
        let (items, of) = (self.items, format!("{dtypes} {:?}", expected.shape));
        let noun = if items == 1 { "item" } else { "items" };
        let share = |mismatches: usize| self.share(mismatches);
        match (self.reason, self.mismatches(), self.differing()) {
            (Some(Reason::Dtype), ..) => format!("different: dtype {}, expected {}", actual.dtype, expected.dtype),
            (Some(Reason::Shape), ..) => format!("different: shape {:?}, expected {:?}", actual.shape, expected.shape),
            (Some(Reason::Metadata), ..) => format!("different: {}", self.beside.verdict()),
            (Some(Reason::Values), Some(0), _) => {
                let metrics = self.failures().iter().map(|failure| failure.metric_text());
                format!("different: {} of {of}", metrics.collect::<Vec<_>>().join(", "))
            }
            (Some(Reason::Values), Some(mismatches), _) => {
                format!("different: {mismatches} of {items} {noun} ({}) of {of}", share(mismatches))
            }
            (Some(Reason::Values), None, _) => unreachable!("values differ only where items were compared"),
            (None, Some(mismatches @ 1..), _) => {
                format!(
                    "equal within the limits: {mismatches} of {items} {noun} ({}) of {of} differ",
                    share(mismatches)
                )
            }
            (None, _, Some(differing @ 1..)) => {
                format!("equal within the tolerance: {differing} of {items} {noun} of {of} differ in bits")
            }
            (None, ..) => format!("equal: {items} {noun} of {of}"),
        }
    }

    /// The verdict in one line, with the largest error, RMSE, cosine and violated limits.
    pub fn summary(&self, style: Style) -> String {
        let verdict = self.verdict();
        let mut parts = Vec::new();
        if let Some(found) = self.found.as_ref().filter(|found| found.differing > 0) {
            self.summarise(found, style, &mut parts);
        }
        parts.extend(self.axes_text(style));
        if self.reason != Some(Reason::Metadata) {
            parts.extend(self.beside.lines());
        }
        if parts.is_empty() { verdict } else { format!("{verdict}; {}", parts.join(", ")) }
    }

    pub(crate) fn axes_text(&self, style: Style) -> Option<String> {
        let axes: Vec<_> = self.agreeing_axes()?.iter().map(usize::to_string).collect();
        Some(format!("the values agree under {}", style.option("axes", &axes.join(","))))
    }

    fn summarise(&self, found: &Findings, style: Style, parts: &mut Vec<String>) {
        if found.has_non_finite_mismatch {
            parts.push(format!("largest |a - e| {NOT_FINITE}"));
        } else if let Some(most) = &found.max_abs {
            parts.push(format!("largest |a - e| {}", self.abs_text(most.value)));
        }
        for (name, value) in found.metrics.all() {
            let failure = found.failures.iter().find(|failure| failure.metric == name);
            match (failure, value) {
                (Some(failure), _) => parts.push(format!("{} ({})", failure.metric_text(), failure.broken(style))),
                // Metrics of the finite items alone would look like equality.
                (None, Some(_)) if found.has_non_finite_mismatch && ["rmse", "cosine"].contains(&name) => {
                    parts.push(format!("{name} -"));
                }
                (None, Some(value)) if ["rmse", "cosine"].contains(&name) => {
                    parts.push(format!("{name} {}", metric_text(name, value, None)));
                }
                (None, _) => {}
            }
        }
        if found.limits_not_applicable {
            let which = if found.nonfinite_mismatches.is_some() { "finite" } else { "a number" };
            parts.push(format!("an item that is not {which} passes no limit on a metric"));
        }
        if self.items_fail() {
            let tolerances = self.options.tolerances().map(|(name, value)| style.option(name, &value));
            let tolerances = tolerances.collect::<Vec<_>>().join(" ");
            if !tolerances.is_empty() {
                parts.push(format!("not within {tolerances}"));
            }
            if let Some(allowed) = self.options.allowed {
                parts.push(format!("more than {}", style.option("allow", &allowed.to_string())));
            }
        }
    }

    fn items_fail(&self) -> bool {
        let mismatches = self.mismatches().unwrap_or(0);
        self.options.asks_items() && !self.options.allows(mismatches, self.items)
    }

    /// Shows enough digits if the limit is exceeded.
    pub(crate) fn abs_text(&self, error: Number) -> String {
        match error {
            Number::Integer(value) => value.to_string(),
            Number::Float(value) => told_from(value, self.options.atol),
        }
    }

    /// Shows enough digits if the limit is exceeded.
    pub(crate) fn rel_text(&self, error: f64) -> String {
        told_from(error, self.options.rtol)
    }

    pub(crate) fn metric_text(&self, name: &str, value: f64) -> String {
        let failure = self.failures().iter().find(|failure| failure.metric == name);
        metric_text(name, value, failure.map(|failure| failure.bound))
    }

    /// Shows enough digits if the limit is exceeded.
    pub(crate) fn share(&self, mismatches: usize) -> String {
        let text = share(mismatches, self.items);
        let shown = text.trim_end_matches(" %").parse::<f64>();
        match self.options.allowed {
            Some(Allowed::Percent { digits, places }) if self.items_fail() => {
                let limit = digits as f64 / 10_f64.powi(places as i32);
                match shown {
                    Ok(shown) if shown <= limit => {
                        let percent = 100.0 * mismatches as f64 / self.items.max(1) as f64;
                        format!("{} %", told_from(percent, Some(limit)))
                    }
                    Ok(_) | Err(_) => text,
                }
            }
            Some(Allowed::Percent { .. } | Allowed::Items(_)) | None => text,
        }
    }

    /// Writes the result as one JSON object on one line.
    ///
    /// # Errors
    /// `out` fails.
    pub fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        let members = json_members(Some(&self.expected), Some(&self.actual), Some(self));
        let content = [("content", json_names(self.content()))];
        writeln!(out, "{}", json::object(members.into_iter().chain(content)))
    }

    /// Writes the verdict, metadata, violated limits, listed mismatches, largest errors with the
    /// [`Options`](crate::diff::Options) that accept them, metrics, and mismatching indices of each axis.
    ///
    /// # Errors
    /// `out` fails.
    pub fn write_report(&self, out: &mut dyn Write, style: Style) -> io::Result<()> {
        let verdict = self.verdict();
        let word = verdict.find([' ', ':']).unwrap_or(verdict.len());
        let (word, rest) = verdict.split_at(word);
        writeln!(out, "{}{rest}", style.paint(if self.equal() { Colour::Green } else { Colour::Red }, word))?;
        if let Some(text) = self.axes_text(style) {
            writeln!(out, "  hint: {text}")?;
        }
        self.beside.lines().try_for_each(|line| writeln!(out, "  {line}"))?;
        let Some(found) = self.found.as_ref().filter(|found| found.differing > 0) else { return Ok(()) };
        for failure in &found.failures {
            writeln!(out, "  {}", failure.text(style))?;
        }
        if let (Some(count), Some(first)) = (found.nonfinite_mismatches, &found.first_nonfinite) {
            writeln!(out, "  {}", found.nonfinite_text(count, first))?;
        }
        let listed = &found.listed;
        if found.limits_not_applicable {
            let one = listed.iter().find(|found| found.abs.is_none());
            let one = one.map_or_else(|| "an item".to_owned(), |found| list(&found.index));
            writeln!(out, "  {one} is NaN, infinite or not a number, and differs, which passes no limit on a metric")?;
        }
        if !listed.is_empty() {
            writeln!(out)?;
            let rows = listed.iter().map(|found| self.mismatch_cells(found).map(Cow::from).to_vec());
            table(mismatch_columns(), rows.collect()).write(out, style)?;
            let rest = found.mismatches - listed.len();
            if rest > 0 {
                writeln!(out, "  {}", style.paint(Colour::Dim, &format!("and {rest} more")))?;
            }
        }
        // Other items have no errors.
        if found.max_abs.is_some() || found.min_atol.is_some() {
            writeln!(out)?;
            self.error_table(found, style).write(out, style)?;
        }
        if found.metrics.all().iter().any(|(_, value)| value.is_some()) {
            writeln!(out)?;
            self.metric_table(&found.metrics).write(out, style)?;
            if found.has_non_finite_mismatch {
                writeln!(out, "  (of the items that are finite on both sides)")?;
            }
        }
        let axes: Vec<_> = found.axes.iter().filter(|axis| axis.places > 0).collect();
        if !axes.is_empty() {
            writeln!(out)?;
        }
        axes.into_iter().try_for_each(|axis| writeln!(out, "  {}", axis.text()))
    }

    pub(crate) fn mismatch_cells(&self, found: &Mismatch) -> [String; 6] {
        let flat = if found.index.len() < 2 { String::new() } else { format!(" (flat {})", found.flat) };
        [
            list(&found.index) + &flat,
            cut(&found.expected, &self.expected.dtype),
            cut(&found.actual, &self.actual.dtype),
            found.abs.map_or_else(String::new, |error| self.abs_text(error)),
            found.rel.map_or_else(String::new, |error| self.rel_text(error)),
            found.ulp.map_or_else(String::new, |ulp| ulp.to_string()),
        ]
    }

    fn error_table(&self, found: &Findings, style: Style) -> Table<'_> {
        let none = || "none".to_owned();
        let row = |name: &str, most: Option<(String, &Vec<usize>)>, option: &str, least: Option<String>| {
            let (largest, index) = most.map_or_else(|| (none(), String::new()), |(value, index)| (value, list(index)));
            let least = least.map_or_else(none, |least| style.option(option, bare(&least)));
            [name.to_owned(), largest, index, least].map(Cow::from).to_vec()
        };
        // An error of 0 says nothing if no tolerance accepts the mismatches.
        let abs = found.max_abs.as_ref().filter(|most| found.min_atol.is_some() || !most.value.is_zero());
        let rel = found.max_rel.as_ref().filter(|most| found.min_rtol.is_some() || most.value > 0.0);
        let ulp = found.max_ulp.as_ref().filter(|most| found.min_ulp.is_some() || most.value > 0);
        let abs = abs.map(|most| (self.abs_text(most.value), &most.index));
        let rel = rel.map(|most| (self.rel_text(most.value), &most.index));
        let ulp = ulp.map(|most| (most.value.to_string(), &most.index));
        let mut rows = vec![
            row("absolute", abs, "atol", found.min_atol.map(|least| found.tolerance(least))),
            row("relative", rel, "rtol", found.min_rtol.map(float)),
        ];
        if self.expected.dtype == self.actual.dtype {
            rows.push(row("ulp", ulp, "ulp", found.min_ulp.map(|least| least.to_string())));
        }
        let columns =
            vec![Column::left("error"), Column::right("largest"), Column::left("at"), Column::left("would pass with")];
        table(columns, rows)
    }

    fn metric_table(&self, metrics: &Metrics) -> Table<'static> {
        let all = metrics.all();
        let text =
            |name, value: Option<f64>| value.map_or_else(|| "none".to_owned(), |value| self.metric_text(name, value));
        let cells = all.map(|(name, value)| Cow::from(text(name, value)));
        table(all.map(|(name, _)| Column::left(name)).to_vec(), vec![cells.to_vec()])
    }
}

pub(crate) fn mismatch_columns() -> Vec<Column> {
    let mut columns = Column::list("index >expected >actual >abs >rel >ulp");
    columns[1].colour = Colour::Green;
    columns[2].colour = Colour::Red;
    columns
}

impl Findings {
    fn nonfinite_text(&self, count: usize, first: &[usize]) -> String {
        let all = self.mismatches;
        let mismatches = if all == 1 { "mismatch" } else { "mismatches" };
        let (have, place) = if count == 1 { ("has", "at") } else { ("have", "the first at") };
        // Among integers only dates can be non-finite.
        let what = if self.integers { "NaT" } else { "NaN or infinite" };
        format!("{count} of {all} {mismatches} {have} an item that is {what}, {place} {}", list(first))
    }

    fn tolerance(&self, least: f64) -> String {
        let exact = self.integers && least <= (1_u64 << 53) as f64;
        if exact { (least as u64).to_string() } else { float(least) }
    }
}

impl Failure {
    pub(crate) fn metric_text(&self) -> String {
        match self.value {
            Some(value) => format!("{} {}", self.metric, metric_text(self.metric, value, Some(self.bound))),
            None => format!("{} undefined", self.metric),
        }
    }

    fn broken(&self, style: Style) -> String {
        let relation = match (self.value, self.limit.starts_with("max")) {
            (None, _) => "not within",
            (Some(_), true) => "above",
            (Some(_), false) => "below",
        };
        format!("{relation} {}", style.option(self.limit, bare(&float(self.bound))))
    }

    /// All digits, so that the value passes as a limit.
    fn text(&self, style: Style) -> String {
        let value = self.value.map_or_else(|| "undefined".to_owned(), |value| bare(&float(value)).to_owned());
        format!("{} {value} is {}", self.metric, self.broken(style))
    }
}

fn metric_text(name: &str, value: f64, limit: Option<f64>) -> String {
    match name {
        "cosine" | "pearson" => near_one(value, limit),
        _ => told_from(value, limit),
    }
}

pub(crate) fn table(columns: Vec<Column>, rows: Vec<Vec<Cow<'_, str>>>) -> Table<'_> {
    Table { columns, rows, heading: Heading::Words(Colour::Dim), indent: 2, widest: usize::MAX }
}

/// In per cent with three digits, never rounded to 0 or 100.
fn share(share_of: usize, all: usize) -> String {
    let percent = 100.0 * share_of as f64 / all.max(1) as f64;
    match percent {
        _ if share_of == all => "100 %".to_owned(),
        p if p < 0.001 => "< 0.001 %".to_owned(),
        p if p > 99.9 => "> 99.9 %".to_owned(),
        p => {
            let places = (2 - p.log10().floor() as i32).clamp(0, 3) as usize;
            let text = format!("{p:.places$}");
            let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
            format!("{text} %")
        }
    }
}

pub(crate) fn json_members(
    expected: Option<&Outline>,
    actual: Option<&Outline>,
    found: Option<&Difference>,
) -> Vec<(&'static str, String)> {
    let items = expected.or(actual).map(|outline| outline.shape.iter().product::<usize>());
    let listed = if found.is_some_and(|found| found.options.worst.is_some()) { "worst" } else { "first" };
    let findings = found.and_then(|found| found.found.as_ref());
    let least = |found: &Findings| or_null(found.min_atol, |least| found.tolerance(least));
    let reason = found.and_then(Difference::reason);
    let mut members = vec![
        ("equal", found.is_some_and(Difference::equal).to_string()),
        ("reason", or_null(reason, |reason| json::string(reason.name(), Escapes::Short))),
        ("expected", or_null(expected, outline)),
        ("actual", or_null(actual, outline)),
        ("items", or_null(items, |n| n.to_string())),
        ("mismatches", or_null(findings, |found| found.mismatches.to_string())),
        ("nonfinite_mismatches", or_null(findings.and_then(|found| found.nonfinite_mismatches), |n| n.to_string())),
        ("first_nonfinite", or_null(findings.and_then(|found| found.first_nonfinite.as_ref()), |index| list(index))),
        ("max_abs", extreme(findings.and_then(|found| found.max_abs.as_ref()), |value| number(*value))),
        ("max_rel", extreme(findings.and_then(|found| found.max_rel.as_ref()), |value| float(*value))),
        ("max_ulp", extreme(findings.and_then(|found| found.max_ulp.as_ref()), u64::to_string)),
        ("min_atol", or_null(findings, least)),
        ("min_rtol", or_null(findings.and_then(|found| found.min_rtol), float)),
        ("min_ulp", or_null(findings.and_then(|found| found.min_ulp), |n| n.to_string())),
        (listed, array(found.map_or(&[][..], Difference::listed), mismatch)),
        ("metrics", or_null(findings.map(|found| &found.metrics), metrics)),
        ("quantiles", or_null(findings.and_then(|found| found.quantiles.as_ref()), quantiles)),
        ("axes", array(found.map_or(&[][..], Difference::axes), axis)),
        ("metadata", json_names(found.map_or(&[][..], Difference::metadata))),
    ];
    members.extend(found.and_then(Difference::agreeing_axes).map(|axes| ("agreeing_axes", list(axes))));
    members
}

/// Writes the JSON object of a tensor without an expected one.
///
/// # Errors
/// `out` fails.
pub fn write_json_of_new(out: &mut dyn Write, actual: &Source) -> io::Result<()> {
    let actual = Outline::new(actual.dtype(), actual.shape());
    let members = json_members(None, Some(&actual), None);
    writeln!(out, "{}", json::object(members.into_iter().chain([("content", json_names([]))])))
}

fn number(number: Number) -> String {
    match number {
        Number::Float(value) => float(value),
        Number::Integer(value) => value.to_string(),
    }
}

/// Keeps the quotes of string dtypes.
fn cut(text: &str, dtype: &str) -> String {
    let text = if dtype.starts_with(['<', '|']) && dtype.contains(['U', 'S']) { text } else { &text.replace('"', "") };
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn extreme<V>(most: Option<&Extreme<V>>, value: fn(&V) -> String) -> String {
    or_null(most, |most| json::at(value(&most.value), &most.index))
}

fn mismatch(found: &Mismatch) -> String {
    json::object([
        ("index", list(&found.index)),
        ("flat", found.flat.to_string()),
        ("expected", found.expected.clone()),
        ("actual", found.actual.clone()),
        ("abs", or_null(found.abs, number)),
        ("rel", or_null(found.rel, float)),
        ("ulp", or_null(found.ulp, |ulp| ulp.to_string())),
    ])
}

pub(crate) fn json_names<'a>(names: impl IntoIterator<Item = &'a String>) -> String {
    array(names, |name| json::string(name, Escapes::Short))
}

fn outline(outline: &Outline) -> String {
    json::object([("dtype", json::string(&outline.dtype, Escapes::Short)), ("shape", list(&outline.shape))])
}

/// The axis with the smallest share of mismatching indices, if it has one range.
pub(crate) fn axes_of(found: &Difference) -> String {
    let partly = found.axes().iter().filter(|axis| axis.places > 0 && axis.places < axis.of);
    let fewest = partly.min_by(|a, b| (a.places * b.of).cmp(&(b.places * a.of)));
    match fewest.map(|axis| (axis, axis.ranges.as_slice())) {
        Some((axis, [range])) if range.len() == 1 => format!(": axis {} at {}", axis.axis, range.start),
        Some((axis, [range])) => format!(": axis {} at {}-{}", axis.axis, range.start, range.end - 1),
        Some(_) | None => String::new(),
    }
}

fn metrics(metrics: &Metrics) -> String {
    json::object(metrics.all().map(|(name, value)| (name, or_null(value, float))))
}

fn quantiles(values: &[Option<Number>; 4]) -> String {
    json::object(QUANTILES.into_iter().zip(values.iter().map(|value| or_null(*value, number))))
}

fn axis(axis: &AxisPlaces) -> String {
    json::object([
        ("axis", axis.axis.to_string()),
        ("places", axis.places.to_string()),
        ("of", axis.of.to_string()),
        ("ranges", array(&axis.ranges, |range| list(&[range.start, range.end]))),
    ])
}
