//! Writes statistics as JSON and as tables.

use std::borrow::Cow;
use std::io::{self, Seek, Write};

use tempfile::{SpooledTempFile, spooled_tempfile};

use super::stats::{ItemValue, Mean, QUANTILES, Stats};
use crate::report::json::{self, float, list, or_null};
use crate::report::{Colour, Column, Heading, Style, Table, bare};

/// The most bytes of text about the places of an axis that are kept in memory. A longer text is kept in a temporary file.
const SPOOLED: usize = 1 << 22;

/// The lines of a table below one line of headings. The width of columns is that of these lines, because the lines after
/// them are not known yet.
const LINES: usize = 1 << 12;

/// Returns statistics as a JSON object, or `null` if there are none.
pub(super) fn object(stats: Option<&Stats>) -> String {
    let Some(stats) = stats else { return "null".to_owned() };
    let extreme = |extreme: &Option<(ItemValue, Vec<usize>)>| {
        or_null(extreme.as_ref(), |(value, index)| json::at(value.to_string(), index))
    };
    let quantile =
        |(n, (name, _)): (usize, &(&'static str, _))| (*name, or_null(stats.quantiles.get(n), ItemValue::to_string));
    json::object([
        ("min", extreme(&stats.min)),
        ("max", extreme(&stats.max)),
        ("mean", or_null(stats.mean, mean_json)),
        ("std", or_null(stats.std, float)),
        ("nan", stats.nan.to_string()),
        ("inf", stats.inf.to_string()),
        ("zero", stats.zero.to_string()),
        ("first_nan", or_null(stats.first_nan.as_deref(), list)),
        ("quantiles", json::object(QUANTILES.iter().enumerate().map(quantile))),
    ])
}

/// Returns a mean as JSON: that of complex items is a pair.
pub(super) fn mean_json(mean: Mean) -> String {
    match mean {
        Mean::Real(mean) => float(mean),
        Mean::Complex(re, im) => format!("[{}, {}]", float(re), float(im)),
    }
}

/// Writes statistics as a line for each figure, with all its digits, for texts that are compared with others. Writes nothing
/// if there are none.
///
/// # Errors
/// What `out` says.
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

/// Returns the columns of a table of statistics, of which the first has names.
pub(super) fn columns(names: &'static str) -> Vec<Column> {
    let figures = ["min", "max", "mean", "std", "nan", "inf", "zero"].map(Column::right);
    std::iter::once(Column::left(names)).chain(figures).chain([Column::left("")]).collect()
}

/// Returns the cells of a line of statistics, of which the first is the name.
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

/// Returns the text of an item for people: all of its digits, and dates without quotes.
pub(super) fn display(value: &ItemValue) -> String {
    bare(&value.to_string()).to_owned()
}

/// Returns a number in at most seven digits, all that a column has room for. `…` at the end shows that others were left
/// out, so that nobody reads another number than the tensor holds. What is no number, such as a date, is as it was.
pub(super) fn seven_digits(text: &str) -> String {
    const MOST: usize = 7;
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
    // the power of ten of the first digit
    let power = exponent + whole.len() as i32 - 1 - (digits.len() - significant.len()) as i32;
    let all = significant.trim_end_matches('0');
    let (shown, mark) = if all.len() > MOST { (&all[..MOST], "…") } else { (all, "") };
    let number = match usize::try_from(power) {
        Ok(before) if before < MOST => {
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

/// Returns all digits of a number that was computed from items.
fn all_digits(value: f64) -> String {
    bare(&float(value)).to_owned()
}

/// Returns the text of a mean for people.
fn mean(mean: Mean, figure: impl Fn(f64) -> String) -> String {
    match mean {
        Mean::Real(mean) => figure(mean),
        Mean::Complex(re, im) => {
            // -0.0 keeps its sign
            let sign = if im.is_sign_negative() { "" } else { "+" };
            format!("{}{sign}{}j", figure(re), figure(im))
        }
    }
}

/// The statistics of the places of an axis, as text, until they are written.
#[derive(Debug)]
pub struct AxisStats {
    form: Form,
    text: SpooledTempFile,
    /// The number of places so far.
    count: usize,
}

/// The form of the text.
#[derive(Debug)]
enum Form {
    Json,
    /// A table, with those of its lines that are not yet in the text.
    Table(Vec<Vec<Cow<'static, str>>>, Style),
}

impl AxisStats {
    /// Returns an empty collection that becomes a JSON array.
    pub fn json() -> Self {
        Self { form: Form::Json, text: spooled_tempfile(SPOOLED), count: 0 }
    }

    /// Returns an empty collection that becomes a table.
    pub fn table(style: Style) -> Self {
        Self { form: Form::Table(Vec::new(), style), text: spooled_tempfile(SPOOLED), count: 0 }
    }

    /// Adds the statistics of the next place.
    ///
    /// # Errors
    /// Of writing a file for temporary data, for a great many places.
    pub fn push(&mut self, stats: Option<&Stats>) -> io::Result<()> {
        match &mut self.form {
            Form::Json => {
                let before = if self.count == 0 { "[" } else { ", " };
                write!(self.text, "{before}{}", object(stats))?;
            }
            Form::Table(rows, style) => {
                rows.push(cells(self.count.to_string(), stats));
                if rows.len() == LINES {
                    write_places(&mut self.text, std::mem::take(rows), *style)?;
                }
            }
        }
        self.count += 1;
        Ok(())
    }

    /// Completes the text. This must be called after the last place.
    ///
    /// # Errors
    /// Those of [`push`](Self::push).
    pub fn finish(&mut self) -> io::Result<()> {
        match &mut self.form {
            Form::Json => self.text.write_all(if self.count == 0 { b"[]" } else { b"]" })?,
            Form::Table(rows, style) => {
                if self.count == 0 || !rows.is_empty() {
                    write_places(&mut self.text, std::mem::take(rows), *style)?;
                }
            }
        }
        self.text.rewind()
    }

    /// Writes the text, once.
    ///
    /// # Errors
    /// Those of `out`.
    pub(super) fn write(&mut self, out: &mut dyn Write) -> io::Result<()> {
        io::copy(&mut self.text, out).map(drop)
    }
}

fn write_places(out: &mut dyn Write, rows: Vec<Vec<Cow<'static, str>>>, style: Style) -> io::Result<()> {
    let columns = columns("place");
    Table { columns, rows, heading: Heading::Line(Colour::Bold), indent: 2, widest: usize::MAX }.write(out, style)
}
