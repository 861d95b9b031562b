//! Writes statistics as JSON and as tables.

use std::borrow::Cow;
use std::io::{self, Write};

use super::stats::{ItemValue, Mean, QUANTILES, Stats};
use crate::report::json::{self, float, list, or_null};
use crate::report::{Colour, Column, Heading, Spool, Style, Table, bare};

/// Rows that determine the column widths. Later rows are not known yet.
const LINES: usize = 1 << 12;

pub(super) fn object(stats: Option<&Stats>) -> String {
    let Some(stats) = stats else { return "null".to_owned() };
    let extreme = |extreme: &Option<(ItemValue, Vec<usize>)>| {
        or_null(extreme.as_ref(), |(value, index)| json::at(value.to_string(), index))
    };
    let quantile =
        |(n, (name, _)): (usize, &(&'static str, _))| (*name, or_null(stats.quantiles.get(n), ItemValue::to_string));
    let places = [
        ("first_nan", or_null(stats.first_nan.as_deref(), list)),
        ("quantiles", json::object(QUANTILES.iter().enumerate().map(quantile))),
    ];
    json::object(members(stats, [&stats.min, &stats.max].map(extreme)).into_iter().chain(places))
}

pub(super) fn members(stats: &Stats, [min, max]: [String; 2]) -> [(&'static str, String); 7] {
    [
        ("min", min),
        ("max", max),
        ("mean", or_null(stats.mean, mean_json)),
        ("std", or_null(stats.std, float)),
        ("nan", stats.nan.to_string()),
        ("inf", stats.inf.to_string()),
        ("zero", stats.zero.to_string()),
    ]
}

/// Complex means are pairs.
fn mean_json(mean: Mean) -> String {
    match mean {
        Mean::Real(mean) => float(mean),
        Mean::Complex(re, im) => format!("[{}, {}]", float(re), float(im)),
    }
}

/// Writes each statistic on a line with all digits.
///
/// # Errors
/// `out` fails.
pub fn write_figures(out: &mut dyn Write, stats: Option<&Stats>) -> io::Result<()> {
    let Some(stats) = stats else { return Ok(()) };
    let mut line = |name: &str, text: &str| writeln!(out, "  {name:<6}  {text}");
    for (name, extreme) in [("min", &stats.min), ("max", &stats.max)] {
        if let Some((value, index)) = extreme {
            line(name, &format!("{} at {}", display(value), list(index)))?;
        }
    }
    for (name, text) in [("mean", stats.mean.map(|value| mean(value, all_digits))), ("std", stats.std.map(all_digits))]
    {
        text.map_or(Ok(()), |text| line(name, &text))?;
    }
    for (name, count) in [("nan", stats.nan), ("inf", stats.inf), ("zero", stats.zero)] {
        let at = match (&stats.first_nan, name) {
            (Some(index), "nan") => format!(", the first at {}", list(index)),
            _ => String::new(),
        };
        line(name, &format!("{count}{at}"))?;
    }
    for ((name, _), value) in QUANTILES.iter().zip(&stats.quantiles) {
        line(&format!("q{name}"), &display(value))?;
    }
    Ok(())
}

pub(super) fn columns(names: &'static str) -> Vec<Column> {
    [Column::left(names)].into_iter().chain(Column::list(">min >max >mean >std >nan >inf >zero -")).collect()
}

pub(super) fn cells(name: String, stats: Option<&Stats>) -> Vec<Cow<'static, str>> {
    let none = || "-".to_owned();
    let figure = |value| seven_digits(&all_digits(value));
    let figures = match stats {
        None => std::array::from_fn(|_| none()),
        Some(stats) => {
            let extreme = |extreme: &Option<(ItemValue, _)>| {
                extreme.as_ref().map_or_else(none, |(value, _)| seven_digits(&display(value)))
            };
            [
                extreme(&stats.min),
                extreme(&stats.max),
                stats.mean.map_or_else(none, |value| mean(value, figure)),
                stats.std.map_or_else(none, figure),
                stats.nan.to_string(),
                stats.inf.to_string(),
                stats.zero.to_string(),
            ]
        }
    };
    let first_nan = stats.and_then(|stats| stats.first_nan.as_deref());
    let note = first_nan.map_or(String::new(), |index| format!("first nan at {}", list(index)));
    std::iter::once(name).chain(figures).chain([note]).map(Cow::from).collect()
}

pub(super) fn display(value: &ItemValue) -> String {
    bare(&value.to_string()).to_owned()
}

/// Shortens a number to seven digits, with `…` for omitted digits.
pub(super) fn seven_digits(text: &str) -> String {
    const MAX_DIGITS: usize = 7;
    let (sign, size) = text.strip_prefix('-').map_or(("", text), |size| ("-", size));
    let (mantissa, exponent) = size.split_once('e').unwrap_or((size, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = [whole, fraction].concat();
    let is_number = !whole.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let Some(exponent) = exponent.parse::<i32>().ok().filter(|_| is_number) else { return text.to_owned() };
    let significant = digits.trim_start_matches('0');
    if significant.is_empty() {
        return format!("{sign}0");
    }
    // The power of ten of the first digit.
    let power = exponent + whole.len() as i32 - 1 - (digits.len() - significant.len()) as i32;
    let all = significant.trim_end_matches('0');
    let (shown, mark) = if all.len() > MAX_DIGITS { (&all[..MAX_DIGITS], "…") } else { (all, "") };
    let number = match usize::try_from(power) {
        Ok(before) if before < MAX_DIGITS => {
            let (whole, fraction) = shown.split_at(shown.len().min(before + 1));
            let point = if fraction.is_empty() && mark.is_empty() { "" } else { "." };
            format!("{whole:0<width$}{point}{fraction}", width = before + 1)
        }
        Err(_) if power >= -4 => format!("0.{}{shown}", "0".repeat(power.unsigned_abs() as usize - 1)),
        Ok(_) | Err(_) => {
            let (first, rest) = shown.split_at(1);
            let exponent = format!("{}{:02}", if power < 0 { '-' } else { '+' }, power.unsigned_abs());
            format!("{first}{}{rest}e{exponent}", if rest.is_empty() { "" } else { "." })
        }
    };
    format!("{sign}{number}{mark}")
}

fn all_digits(value: f64) -> String {
    bare(&float(value)).to_owned()
}

fn mean(mean: Mean, figure: impl Fn(f64) -> String) -> String {
    match mean {
        Mean::Real(mean) => figure(mean),
        Mean::Complex(re, im) => {
            // -0.0 keeps its sign.
            let sign = if im.is_sign_negative() { "" } else { "+" };
            format!("{}{sign}{}j", figure(re), figure(im))
        }
    }
}

/// The formatted statistics of all indices of an axis.
#[derive(Debug)]
pub struct AxisStats {
    form: Form,
    pub(super) text: Spool,
    count: usize,
}

#[derive(Debug)]
enum Form {
    Json,
    Table(Vec<Vec<Cow<'static, str>>>, Style),
}

impl AxisStats {
    /// An empty JSON array.
    pub fn json() -> Self {
        Self { form: Form::Json, text: Spool::default(), count: 0 }
    }

    /// An empty table.
    pub fn table(style: Style) -> Self {
        Self { form: Form::Table(Vec::new(), style), text: Spool::default(), count: 0 }
    }

    /// Adds the statistics of the next index.
    ///
    /// # Errors
    /// A temporary file cannot be written.
    pub fn push(&mut self, stats: Option<&Stats>) -> io::Result<()> {
        match &mut self.form {
            Form::Json => {
                let before = if self.count == 0 { "[" } else { ", " };
                write!(self.text.file, "{before}{}", object(stats))?;
            }
            Form::Table(rows, style) => {
                rows.push(cells(self.count.to_string(), stats));
                if rows.len() == LINES {
                    write_places(&mut self.text.file, std::mem::take(rows), *style)?;
                }
            }
        }
        self.count += 1;
        Ok(())
    }

    /// Completes the text after the last index.
    ///
    /// # Errors
    /// A temporary file cannot be written.
    pub fn finish(&mut self) -> io::Result<()> {
        match &mut self.form {
            Form::Json => self.text.file.write_all(if self.count == 0 { b"[]" } else { b"]" })?,
            Form::Table(rows, style) => {
                if self.count == 0 || !rows.is_empty() {
                    write_places(&mut self.text.file, std::mem::take(rows), *style)?;
                }
            }
        }
        Ok(())
    }
}

fn write_places(out: &mut dyn Write, rows: Vec<Vec<Cow<'static, str>>>, style: Style) -> io::Result<()> {
    let columns = columns("place");
    Table { columns, rows, heading: Heading::Line(Colour::Bold), indent: 2, widest: usize::MAX }.write(out, style)
}
