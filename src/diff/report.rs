//! A difference told: as one JSON object, or as a report that begins with the verdict.

use std::borrow::Cow;
use std::io::{self, Write};

use super::{Difference, Extreme, Mismatch, Number, Outline, Reason};
use crate::report::json::{self, Escapes, float, list, or_null};
use crate::report::{Colour, Column, Heading, Style, Table, bare, four_digits};

/// Values in a report are cut to so many characters.
const LONGEST: usize = 40;

impl Difference {
    /// The verdict, in one line.
    pub fn verdict(&self) -> String {
        let (expected, actual) = (&self.expected, &self.actual);
        let dtypes = if expected.dtype == actual.dtype {
            expected.dtype.clone()
        } else {
            format!("{} and {}", expected.dtype, actual.dtype)
        };
        let (items, of) = (self.items, format!("{dtypes} {:?}", expected.shape));
        let noun = if items == 1 { "item" } else { "items" };
        match (self.reason, self.mismatches, self.differing) {
            (Some(Reason::Dtype), ..) => format!("different: dtype {}, expected {}", actual.dtype, expected.dtype),
            (Some(Reason::Shape), ..) => format!("different: shape {:?}, expected {:?}", actual.shape, expected.shape),
            (Some(Reason::Values), Some(mismatches), _) => {
                format!("different: {mismatches} of {items} {noun} ({}) of {of}", share(mismatches, items))
            }
            (Some(Reason::Values), None, _) => format!("different: values of {of}"),
            (None, _, Some(differing @ 1..)) => {
                format!("equal within the tolerance: {differing} of {items} {noun} of {of} differ in bits")
            }
            (None, ..) => format!("equal: {items} {noun} of {of}"),
        }
    }

    /// Writes everything as one JSON object on one line.
    ///
    /// # Errors
    /// What `out` says.
    pub fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        let quoted = |text: &str| json::string(text, Escapes::Short);
        let outline =
            |outline: &Outline| json::object([("dtype", quoted(&outline.dtype)), ("shape", list(&outline.shape))]);
        let first: Vec<_> = self.first.iter().map(mismatch).collect();
        let members = [
            ("equal", self.equal().to_string()),
            ("reason", or_null(self.reason, |reason| quoted(reason.name()))),
            ("expected", outline(&self.expected)),
            ("actual", outline(&self.actual)),
            ("items", self.items.to_string()),
            ("mismatches", or_null(self.mismatches, |n| n.to_string())),
            ("max_abs", or_null(self.max_abs.as_ref(), |most| extreme(most, |value| number(*value)))),
            ("max_rel", or_null(self.max_rel.as_ref(), |most| extreme(most, |value| float(*value)))),
            ("max_ulp", or_null(self.max_ulp.as_ref(), |most| extreme(most, u64::to_string))),
            ("min_atol", or_null(self.min_atol, |least| self.tolerance(least))),
            ("min_rtol", or_null(self.min_rtol, float)),
            ("min_ulp", or_null(self.min_ulp, |n| n.to_string())),
            ("first", format!("[{}]", first.join(", "))),
        ];
        writeln!(out, "{}", json::object(members))
    }

    /// Writes the verdict, and if elements differ a table of the first mismatches and one of the largest errors with
    /// the tolerances that they need, named as fields of [`Options`](super::Options).
    ///
    /// # Errors
    /// What `out` says.
    pub fn write_report(&self, out: &mut dyn Write, style: Style) -> io::Result<()> {
        let verdict = self.verdict();
        let word = verdict.find([' ', ':']).unwrap_or(verdict.len());
        let (word, rest) = verdict.split_at(word);
        writeln!(out, "{}{rest}", style.paint(if self.equal() { Colour::Green } else { Colour::Red }, word))?;
        if self.differing.unwrap_or(0) == 0 {
            return Ok(());
        }
        if !self.first.is_empty() {
            writeln!(out)?;
            self.mismatch_table().write(out, style)?;
            let rest = self.mismatches.unwrap_or(0).saturating_sub(self.first.len());
            if rest > 0 {
                writeln!(out, "  {}", style.paint(Colour::Dim, &format!("and {rest} more")))?;
            }
        }
        if self.max_abs.is_none() && self.min_atol.is_none() {
            return Ok(()); // no number, and no tolerance to tell of
        }
        writeln!(out)?;
        self.error_table(style).write(out, style)
    }

    /// The smallest absolute tolerance: an integer where differences are.
    fn tolerance(&self, least: f64) -> String {
        let exact = self.integers && least <= (1_u64 << 53) as f64;
        if exact { (least as u64).to_string() } else { float(least) }
    }

    fn mismatch_table(&self) -> Table<'_> {
        let row = |found: &Mismatch| {
            let cells = [
                list(&found.index),
                cut(&found.expected, &self.expected.dtype),
                cut(&found.actual, &self.actual.dtype),
                found.abs.map_or_else(String::new, brief),
                found.rel.map_or_else(String::new, four_digits),
                found.ulp.map_or_else(String::new, |ulp| ulp.to_string()),
            ];
            cells.map(Cow::from).to_vec()
        };
        let columns = vec![
            Column::left("index"),
            Column::right("expected").in_colour(Colour::Green),
            Column::right("actual").in_colour(Colour::Red),
            Column::right("abs"),
            Column::right("rel"),
            Column::right("ulp"),
        ];
        table(columns, self.first.iter().map(row).collect())
    }

    fn error_table(&self, style: Style) -> Table<'_> {
        let none = || "none".to_owned();
        let index = |index: Option<&Vec<usize>>| index.map_or_else(String::new, |index| list(index));
        let (abs, rel, ulp) = (self.max_abs.as_ref(), self.max_rel.as_ref(), self.max_ulp.as_ref());
        let mut rows = vec![
            [
                "absolute".to_owned(),
                abs.map_or_else(none, |most| brief(most.value)),
                index(abs.map(|most| &most.index)),
                self.min_atol.map_or_else(none, |least| style.option("atol", bare(&self.tolerance(least)))),
            ],
            [
                "relative".to_owned(),
                rel.map_or_else(none, |most| four_digits(most.value)),
                index(rel.map(|most| &most.index)),
                self.min_rtol.map_or_else(none, |least| style.option("rtol", bare(&float(least)))),
            ],
        ];
        if self.expected.dtype == self.actual.dtype {
            rows.push([
                "ulp".to_owned(),
                ulp.map_or_else(none, |most| most.value.to_string()),
                index(ulp.map(|most| &most.index)),
                self.min_ulp.map_or_else(none, |least| style.option("ulp", &least.to_string())),
            ]);
        }
        let columns =
            vec![Column::left("error"), Column::right("largest"), Column::left("at"), Column::left("would pass with")];
        table(columns, rows.into_iter().map(|row| row.map(Cow::from).to_vec()).collect())
    }
}

/// A table below the verdict. Its cells are cut where they are long, and indices are of one length.
fn table(columns: Vec<Column>, rows: Vec<Vec<Cow<'_, str>>>) -> Table<'_> {
    Table { columns, rows, heading: Heading::Words(Colour::Dim), indent: 2, widest: usize::MAX }
}

/// `share_of` of `all` in per cent, with three digits, and never rounded to none or all of them.
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

/// A number as JSON.
fn number(number: Number) -> String {
    match number {
        Number::Float(value) => float(value),
        Number::Integer(value) => value.to_string(),
    }
}

/// A number in a table: of a float the first four digits.
fn brief(number: Number) -> String {
    match number {
        Number::Integer(value) => value.to_string(),
        Number::Float(value) => four_digits(value),
    }
}

/// A JSON item cut to what a table has room for, with quotes only if it is a string of that dtype.
fn cut(text: &str, dtype: &str) -> String {
    let text = if dtype.starts_with(['<', '|']) && dtype.contains(['U', 'S']) { text } else { &text.replace('"', "") };
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn extreme<V>(most: &Extreme<V>, value: impl Fn(&V) -> String) -> String {
    json::at(value(&most.value), &most.index)
}

fn mismatch(found: &Mismatch) -> String {
    json::object([
        ("index", list(&found.index)),
        ("expected", found.expected.clone()),
        ("actual", found.actual.clone()),
        ("abs", or_null(found.abs, number)),
        ("rel", or_null(found.rel, float)),
        ("ulp", or_null(found.ulp, |ulp| ulp.to_string())),
    ])
}
