//! Shared parts of the reports of [`diff`](mod@crate::diff) and [`info`](crate::info). The program chooses their
//! [`Style`].

pub mod json;
pub mod junit;

use std::borrow::Cow;
use std::io::{self, Seek, Write};

use tempfile::{SpooledTempFile, spooled_tempfile};

use tensorop_kernels::item::print::float;

/// Names in files may contain control characters, which a terminal may obey.
pub fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(char::is_control) {
        return text.into();
    }
    let mut out = String::new();
    for c in text.chars() {
        if c.is_control() { out.extend(c.escape_default()) } else { out.push(c) }
    }
    out.into()
}

pub fn full_name(file: &str, member: Option<&str>) -> String {
    let member = member.map_or(String::new(), |member| format!(":{}", printable(member)));
    format!("{}{member}", printable(file))
}

/// NaN and infinities without quotes, no trailing `.0`.
pub fn bare(text: &str) -> &str {
    let text = text.trim_matches('"');
    text.strip_suffix(".0").unwrap_or(text)
}

/// More than four digits would make tables wide.
pub fn four_digits(value: f64) -> String {
    told_from(value, None)
}

/// Rounds to four digits, or to as many as keep `value` visibly on its side of `limit`.
pub fn told_from(value: f64, limit: Option<f64>) -> String {
    let rounded = rounded_on_its_side(value, 4, limit);
    if rounded == 0.0 { "0".to_owned() } else { bare(&float(rounded)).to_owned() }
}

/// A value with the digits of 1 or -1 is printed by its distance: 1-5.1e-7.
pub fn near_one(value: f64, limit: Option<f64>) -> String {
    let rest = 1.0 - value.abs();
    if rounded_on_its_side(value, 4, None).abs() != 1.0 || rest <= 0.0 {
        return told_from(value, limit);
    }
    // exact for a limit near 1; any other differs visibly
    let rest = rounded_on_its_side(rest, 2, limit.map(|limit| 1.0 - limit.abs()));
    if value > 0.0 { format!("1-{rest:e}") } else { format!("-1+{rest:e}") }
}

fn rounded_on_its_side(value: f64, digits: usize, limit: Option<f64>) -> f64 {
    let round = |value: f64, digits: usize| format!("{value:.*e}", digits - 1).parse().unwrap_or(value);
    let is_distinct = |digits: &usize| {
        // the limit may be a difference from 1, so it is rounded too
        let differs = |limit: f64| round(value, *digits).partial_cmp(&limit) == value.partial_cmp(&limit);
        limit.is_none_or(|limit| differs(limit) && (value == limit || round(value, *digits) != round(limit, *digits)))
    };
    // 17 digits are exact
    (digits..=17).find(is_distinct).map_or(value, |digits| round(value, digits))
}

pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The later part of a report, kept until its head is known. More than 16 MiB go to a temporary file.
#[derive(Debug)]
pub struct Spool {
    pub file: SpooledTempFile,
}

impl Default for Spool {
    fn default() -> Self {
        Self { file: spooled_tempfile(1 << 24) }
    }
}

impl Spool {
    pub fn write(&mut self, out: &mut dyn Write) -> io::Result<()> {
        self.file.rewind()?;
        io::copy(&mut self.file, out).map(drop)
    }
}

/// The look of a report. Only the program knows its terminal and `NO_COLOR`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    colour: bool,
    option_names: OptionNames,
}

/// How options are written.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OptionNames {
    /// `rtol 0.5`.
    #[default]
    Fields,
    /// `--rtol 0.5`.
    CommandLine,
    /// `rtol=0.5`, for Python.
    Keywords,
}

impl Style {
    /// Returns the default style.
    pub fn plain() -> Self {
        Self::default()
    }

    /// Sets whether there are colours.
    #[must_use]
    pub fn with_colour(self, colour: bool) -> Self {
        Self { colour, ..self }
    }

    /// Sets how options are written.
    #[must_use]
    pub fn with_option_names(self, option_names: OptionNames) -> Self {
        Self { option_names, ..self }
    }

    #[doc(hidden)]
    pub fn option(self, field: &str, value: &str) -> String {
        match self.option_names {
            OptionNames::Fields => format!("{field} {value}"),
            OptionNames::CommandLine => format!("--{} {value}", field.replace('_', "-")),
            OptionNames::Keywords => {
                let is_number = value.parse::<f64>().is_ok();
                if is_number { format!("{field}={value}") } else { format!("{field}={value:?}") }
            }
        }
    }

    /// For values that need quotes in a shell or in Python.
    #[doc(hidden)]
    pub fn quoted_option(self, field: &str, value: &str) -> String {
        match self.option_names {
            OptionNames::Fields | OptionNames::CommandLine => self.option(field, &format!("'{value}'")),
            OptionNames::Keywords => self.option(field, value),
        }
    }

    #[doc(hidden)]
    pub fn flag(self, field: &str) -> String {
        match self.option_names {
            OptionNames::Fields => field.to_owned(),
            OptionNames::CommandLine => format!("--{}", field.replace('_', "-")),
            OptionNames::Keywords => format!("{field}=True"),
        }
    }

    #[doc(hidden)]
    pub fn paint(self, colour: Colour, text: &str) -> String {
        match colour.code() {
            Some(code) if self.colour && !text.is_empty() => format!("\x1b[{code}m{text}\x1b[0m"),
            _ => text.to_owned(),
        }
    }
}

/// All are readable on dark and light terminals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Colour {
    #[default]
    Plain,
    Red,
    Green,
    Dim,
    Bold,
}

impl Colour {
    /// The parameter of "select graphic rendition".
    fn code(self) -> Option<&'static str> {
        match self {
            Colour::Plain => None,
            Colour::Red => Some("31"),
            Colour::Green => Some("32"),
            Colour::Dim => Some("2"),
            Colour::Bold => Some("1"),
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Column {
    heading: &'static str,
    right: bool,
    pub colour: Colour,
}

impl Column {
    pub fn left(heading: &'static str) -> Self {
        Self { heading, right: false, colour: Colour::Plain }
    }

    pub fn right(heading: &'static str) -> Self {
        Self { right: true, ..Self::left(heading) }
    }

    /// Returns a column for each heading. `>` aligns it to the right, and `-` means an empty one.
    pub fn list(headings: &'static str) -> Vec<Self> {
        let column = |heading: &'static str| match heading.strip_prefix('>') {
            Some(heading) => Self::right(heading),
            None => Self::left(if heading == "-" { "" } else { heading }),
        };
        headings.split(' ').map(column).collect()
    }
}

#[derive(Clone, Copy, Debug)]
pub enum Heading {
    Words(Colour),
    Line(Colour),
}

/// A column whose cells are all empty is omitted. A table without rows shows all headings.
#[derive(Debug)]
pub struct Table<'a> {
    pub columns: Vec<Column>,
    /// A row of a single cell is a heading of the rows below it.
    pub rows: Vec<Vec<Cow<'a, str>>>,
    pub heading: Heading,
    pub indent: usize,
    /// A longer cell does not widen its column, because it would make all lines too long for a screen.
    pub widest: usize,
}

impl Table<'_> {
    pub fn write(&self, out: &mut dyn Write, style: Style) -> io::Result<()> {
        let shown: Vec<_> =
            self.columns.iter().enumerate().filter_map(|(n, column)| Some((n, column, self.width(n)?))).collect();
        let (of_words, of_line) = match self.heading {
            Heading::Words(colour) => (colour, Colour::Plain),
            Heading::Line(colour) => (Colour::Plain, colour),
        };
        let heading = shown.iter().map(|&(_, column, width)| (column.heading, column.right, width, of_words));
        writeln!(out, "{}", style.paint(of_line, &self.line(heading, style)))?;
        for row in &self.rows {
            let cell = |n: usize| row.get(n).map_or("", |cell| cell.as_ref());
            let cells = shown.iter().map(|&(n, column, width)| (cell(n), column.right, width, column.colour));
            writeln!(out, "{}", self.line(cells, style))?;
        }
        Ok(())
    }

    fn width(&self, n: usize) -> Option<usize> {
        let rows = self.rows.iter().filter(|row| row.len() > 1 || self.columns.len() == 1);
        let cells = rows.filter_map(|row| row.get(n)).map(|cell| cell.chars().count());
        let (text, widest) = cells.fold((false, 0), |(text, widest), width| {
            (text || width > 0, if width > self.widest { widest } else { widest.max(width) })
        });
        (text || self.rows.is_empty())
            .then(|| widest.max(self.columns.get(n).map_or(0, |column| column.heading.chars().count())))
    }

    /// Spaces are written only before the next text, so that no line ends with spaces.
    fn line<'c>(&self, cells: impl Iterator<Item = (&'c str, bool, usize, Colour)>, style: Style) -> String {
        const GAP: usize = 2;
        let mut line = String::new();
        let mut spaces = self.indent;
        for (text, right, width, colour) in cells {
            let padding = width.saturating_sub(text.chars().count());
            spaces += if right { padding } else { 0 };
            if !text.is_empty() {
                line.extend(std::iter::repeat_n(' ', spaces));
                line.push_str(&style.paint(colour, text));
                spaces = 0;
            }
            spaces += GAP + if right { 0 } else { padding };
        }
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_in_four_digits() {
        let rows = [(0.0, "0"), (-0.0, "0"), (1.0, "1"), (-1.02149, "-1.021"), (9.99999e22, "1e+23"), (0.25, "0.25")];
        for (value, wanted) in rows {
            assert_eq!(four_digits(value), wanted, "{value}");
        }
        assert_eq!(four_digits(f64::INFINITY), "Infinity");
    }

    #[test]
    fn numbers_are_told_from_limits() {
        let plain = [
            (0.50001, Some(0.5), "0.50001"),
            (0.50001, Some(0.4), "0.5"),
            (0.5, Some(0.5), "0.5"),
            (1.0 + f64::EPSILON, Some(1.0), "1.0000000000000002"),
            (-0.100004, Some(-0.1), "-0.100004"),
            (f64::NEG_INFINITY, Some(30.0), "-Infinity"),
        ];
        plain.iter().for_each(|&(value, limit, wanted)| assert_eq!(told_from(value, limit), wanted, "{value}"));
        let near = [
            (0.99999949, None, "1-5.1e-7"),
            (0.99999949, Some(0.9999995), "1-5.1e-7"),
            (0.999999496, Some(0.9999995), "1-5.04e-7"),
            (1.0 - f64::EPSILON / 2.0, Some(1.0), "1-1.1e-16"),
            (-0.99999949, None, "-1+5.1e-7"),
            (0.99996, None, "1-4e-5"),
            (0.99984, None, "0.9998"),
            (0.99984, Some(0.9998), "0.99984"),
            (1.0, Some(0.5), "1"),
            (-1.0, None, "-1"),
            (0.0, None, "0"),
        ];
        near.iter().for_each(|&(value, limit, wanted)| assert_eq!(near_one(value, limit), wanted, "{value}"));
    }

    #[test]
    fn names_obey_no_terminal() {
        assert_eq!(printable("a\u{1b}b\n\u{9b}"), "a\\u{1b}b\\n\\u{9b}");
        assert!(matches!(printable("conv1.é"), Cow::Borrowed("conv1.é")));
    }

    fn written(table: &Table<'_>, style: Style) -> String {
        let mut out = Vec::new();
        table.write(&mut out, style).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn columns_are_aligned() {
        let mut table = Table {
            columns: vec![
                Column::left("name"),
                Column::left("none"),
                Column { colour: Colour::Red, ..Column::right("n") },
            ],
            rows: [["é", "", "100"], ["a long name", "", "2"], ["", "", "3"], ["b", "", ""]]
                .map(|row| row.map(Cow::from).to_vec())
                .to_vec(),
            heading: Heading::Words(Colour::Dim),
            indent: 1,
            widest: usize::MAX,
        };
        let plain = " name           n\n é            100\n a long name    2\n                3\n b\n";
        assert_eq!(written(&table, Style::plain()), plain);
        let coloured = written(&table, Style::plain().with_colour(true));
        assert!(coloured.starts_with(" \x1b[2mname\x1b[0m           \x1b[2mn\x1b[0m\n"), "{coloured:?}");
        assert!(coloured.contains("   \x1b[31m2\x1b[0m\n"), "{coloured:?}");
        (table.heading, table.indent, table.widest) = (Heading::Line(Colour::Bold), 0, 4);
        let narrow = "name    n\né     100\na long name    2\n        3\nb\n";
        assert_eq!(written(&table, Style::plain()), narrow);
        table.rows.truncate(0);
        assert_eq!(written(&table, Style::plain()), "name  none  n\n");
        let coloured = written(&table, Style::plain().with_colour(true));
        assert!(coloured.starts_with("\x1b[1mname  none  n\x1b[0m\n"), "{coloured:?}");
    }
}
