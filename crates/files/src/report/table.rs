//! Tables: aligned columns below a line of headings.

use std::borrow::Cow;
use std::io::{self, Write};

use super::{Colour, Style};

#[derive(Clone, Copy, Debug)]
pub struct Column {
    heading: &'static str,
    right: bool,
    colour: Colour,
}

impl Column {
    pub fn left(heading: &'static str) -> Self {
        Self { heading, right: false, colour: Colour::Plain }
    }

    pub fn right(heading: &'static str) -> Self {
        Self { right: true, ..Self::left(heading) }
    }

    pub fn in_colour(self, colour: Colour) -> Self {
        Self { colour, ..self }
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

    fn written(table: &Table<'_>, style: Style) -> String {
        let mut out = Vec::new();
        table.write(&mut out, style).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn columns_are_aligned() {
        let mut table = Table {
            columns: vec![Column::left("name"), Column::left("none"), Column::right("n").in_colour(Colour::Red)],
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
