//! A difference told: as one JSON object, or as a report that begins with the verdict.

use std::io::{self, Write};

use super::{Difference, Extreme, Mismatch, Number, Outline, Reason};
use crate::item::print::{float, write_text};

/// Values in a report are cut to so many characters.
const LONGEST: usize = 40;

const RED: &str = "31";
const GREEN: &str = "32";
const DIM: &str = "2";

impl Difference {
    /// Whether all elements pass.
    pub fn equal(&self) -> bool {
        self.reason.is_none()
    }

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
        let outline =
            |outline: &Outline| format!("{{\"dtype\": {}, \"shape\": {:?}}}", quoted(&outline.dtype), outline.shape);
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
        writeln!(out, "{}", object(&members))
    }

    /// Writes the verdict, and if elements differ a table of the first mismatches and one of the largest errors with
    /// the tolerances that they need; with `colour` in the colours of a terminal.
    ///
    /// # Errors
    /// What `out` says.
    pub fn write_report(&self, out: &mut dyn Write, colour: bool) -> io::Result<()> {
        let paint = Paint(colour);
        let verdict = self.verdict();
        let word = verdict.find([' ', ':']).unwrap_or(verdict.len());
        let (word, rest) = verdict.split_at(word);
        writeln!(out, "{}{rest}", paint.text(if self.equal() { GREEN } else { RED }, word))?;
        if self.differing.unwrap_or(0) == 0 {
            return Ok(());
        }
        if !self.first.is_empty() {
            writeln!(out)?;
            self.mismatch_table().write(out, paint)?;
            let rest = self.mismatches.unwrap_or(0).saturating_sub(self.first.len());
            if rest > 0 {
                writeln!(out, "  {}", paint.text(DIM, &format!("and {rest} more")))?;
            }
        }
        if self.max_abs.is_none() && self.min_atol.is_none() {
            return Ok(()); // no number, and no tolerance to tell of
        }
        writeln!(out)?;
        self.error_table().write(out, paint)
    }

    /// The smallest absolute tolerance: an integer where differences are.
    fn tolerance(&self, least: f64) -> String {
        let exact = self.integers && least <= (1_u64 << 53) as f64;
        if exact { (least as u64).to_string() } else { float(least) }
    }

    fn mismatch_table(&self) -> Table {
        let mut table = Table::new(&["index", "expected", "actual", "abs", "rel", "ulp"]);
        table.colours = vec!["", GREEN, RED, "", "", ""];
        table.right = vec![false, true, true, true, true, true];
        for found in &self.first {
            table.rows.push(vec![
                format!("{:?}", found.index),
                cut(&found.expected, &self.expected.dtype),
                cut(&found.actual, &self.actual.dtype),
                found.abs.map_or_else(String::new, brief),
                found.rel.map_or_else(String::new, |rel| brief(Number::Float(rel))),
                found.ulp.map_or_else(String::new, |ulp| ulp.to_string()),
            ]);
        }
        table
    }

    fn error_table(&self) -> Table {
        let none = || "none".to_owned();
        let index = |index: Option<&Vec<usize>>| index.map_or_else(String::new, |index| format!("{index:?}"));
        let mut table = Table::new(&["error", "largest", "at", "would pass with"]);
        table.right = vec![false, true, false, false];
        let (abs, rel, ulp) = (self.max_abs.as_ref(), self.max_rel.as_ref(), self.max_ulp.as_ref());
        table.rows.push(vec![
            "absolute".to_owned(),
            abs.map_or_else(none, |most| brief(most.value)),
            index(abs.map(|most| &most.index)),
            self.min_atol.map_or_else(none, |least| format!("--atol {}", bare(&self.tolerance(least)))),
        ]);
        table.rows.push(vec![
            "relative".to_owned(),
            rel.map_or_else(none, |most| brief(Number::Float(most.value))),
            index(rel.map(|most| &most.index)),
            self.min_rtol.map_or_else(none, |least| format!("--rtol {}", bare(&float(least)))),
        ]);
        if self.expected.dtype == self.actual.dtype {
            table.rows.push(vec![
                "ulp".to_owned(),
                ulp.map_or_else(none, |most| most.value.to_string()),
                index(ulp.map(|most| &most.index)),
                self.min_ulp.map_or_else(none, |least| format!("--ulp {least}")),
            ]);
        }
        table
    }
}

/// `part` of `all` in per cent, with three digits, and never rounded to none or all of them.
fn share(part: usize, all: usize) -> String {
    let percent = 100.0 * part as f64 / all.max(1) as f64;
    match percent {
        _ if part == all => "100 %".to_owned(),
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
    let value = match number {
        Number::Integer(value) => return value.to_string(),
        Number::Float(value) => value,
    };
    let rounded = format!("{value:.3e}").parse().unwrap_or(value);
    bare(&float(rounded)).to_owned()
}

/// A float as it is typed: without the quotes of a special one, and no more digits than needed.
fn bare(text: &str) -> &str {
    let text = text.trim_matches('"');
    text.strip_suffix(".0").unwrap_or(text)
}

/// A JSON item cut to what a table has room for, with quotes only if it is a string of that dtype.
fn cut(text: &str, dtype: &str) -> String {
    let text = if dtype.starts_with(['<', '|']) && dtype.contains(['U', 'S']) { text } else { &text.replace('"', "") };
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn or_null<T>(value: Option<T>, text: impl FnOnce(T) -> String) -> String {
    value.map_or_else(|| "null".to_owned(), text)
}

fn quoted(text: &str) -> String {
    let mut out = Vec::new();
    write_text(&mut out, text);
    String::from_utf8_lossy(&out).into_owned()
}

fn object(members: &[(&str, String)]) -> String {
    let members: Vec<_> = members.iter().map(|(name, value)| format!("\"{name}\": {value}")).collect();
    format!("{{{}}}", members.join(", "))
}

fn extreme<V>(most: &Extreme<V>, value: impl Fn(&V) -> String) -> String {
    object(&[("value", value(&most.value)), ("index", format!("{:?}", most.index))])
}

fn mismatch(found: &Mismatch) -> String {
    object(&[
        ("index", format!("{:?}", found.index)),
        ("expected", found.expected.clone()),
        ("actual", found.actual.clone()),
        ("abs", or_null(found.abs, number)),
        ("rel", or_null(found.rel, float)),
        ("ulp", or_null(found.ulp, |ulp| ulp.to_string())),
    ])
}

/// The colours of a terminal, or none.
#[derive(Clone, Copy)]
struct Paint(bool);

impl Paint {
    fn text(self, colour: &str, text: &str) -> String {
        if self.0 && !colour.is_empty() && !text.is_empty() {
            format!("\x1b[{colour}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }
}

/// Aligned columns, of which those that are empty are left out.
struct Table {
    head: Vec<&'static str>,
    rows: Vec<Vec<String>>,
    /// Whether a column ends together rather than begins.
    right: Vec<bool>,
    colours: Vec<&'static str>,
}

impl Table {
    fn new(head: &[&'static str]) -> Self {
        let colours = vec![""; head.len()];
        Self { head: head.to_vec(), rows: Vec::new(), right: vec![false; head.len()], colours }
    }

    fn write(&self, out: &mut dyn Write, paint: Paint) -> io::Result<()> {
        let cell = |row: &[String], column: usize| row.get(column).cloned().unwrap_or_default();
        let width = |column: usize, head: &str| {
            let widest = self.rows.iter().map(|row| cell(row, column).chars().count()).max().unwrap_or(0);
            (widest > 0).then(|| widest.max(head.chars().count()))
        };
        let widths: Vec<_> = self.head.iter().enumerate().map(|(column, head)| width(column, head)).collect();
        let mut write = |row: &[String], head: bool| {
            let mut line = String::new();
            let mut gap = 0;
            for (column, width) in widths.iter().enumerate() {
                let Some(width) = *width else { continue };
                let text = cell(row, column);
                let pad = width - text.chars().count().min(width);
                let right = self.right.get(column).is_some_and(|&right| right);
                let colour = if head { DIM } else { self.colours.get(column).copied().unwrap_or_default() };
                let before = gap + 2 + if right { pad } else { 0 };
                gap = if right { 0 } else { pad };
                if !text.is_empty() {
                    line += &format!("{}{}", " ".repeat(before), paint.text(colour, &text));
                } else {
                    gap += before;
                }
            }
            writeln!(out, "{line}")
        };
        let head: Vec<_> = self.head.iter().map(|&head| head.to_owned()).collect();
        write(&head, true)?;
        self.rows.iter().try_for_each(|row| write(row, false))
    }
}
