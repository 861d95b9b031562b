//! What the reports of [`diff`](mod@crate::diff) and [`info`](crate::info) are written with: tables, JSON, colours.
//!
//! The library writes a report, and the program decides on its [`Style`]: whether it has colours, and how its users type
//! the options that the report mentions.

mod colour;
pub(crate) mod json;
mod table;

use std::borrow::Cow;

pub use self::colour::Style;
pub(crate) use self::{
    colour::Colour,
    table::{Column, Heading, Table},
};
use crate::item::print::float;

/// Returns a text that is safe to print on a terminal: control characters, which names may hold, are escaped.
pub(crate) fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(char::is_control) {
        return text.into();
    }
    let mut out = String::new();
    for c in text.chars() {
        if c.is_control() { out.extend(c.escape_default()) } else { out.push(c) }
    }
    out.into()
}

/// Returns the name of a tensor, safe to print: its file, and its member if it has one.
pub(crate) fn full_name(file: &str, member: Option<&str>) -> String {
    let member = member.map_or(String::new(), |member| format!(":{}", printable(member)));
    format!("{}{member}", printable(file))
}

/// Returns a float from JSON as people type it: NaN and infinities without quotes, and no more digits than needed.
pub(crate) fn bare(text: &str) -> &str {
    let text = text.trim_matches('"');
    text.strip_suffix(".0").unwrap_or(text)
}

/// Returns a float with its first four digits. More digits would make tables wide, and nobody reads them at a glance.
pub(crate) fn four_digits(value: f64) -> String {
    // the float64 nearest to the four digits is printed with no others
    let rounded = format!("{value:.3e}").parse().unwrap_or(value);
    if rounded == 0.0 { "0".to_owned() } else { bare(&float(rounded)).to_owned() }
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
    fn names_obey_no_terminal() {
        assert_eq!(printable("a\u{1b}b\n\u{9b}"), "a\\u{1b}b\\n\\u{9b}");
        assert!(matches!(printable("conv1.é"), Cow::Borrowed("conv1.é")));
    }
}
