//! What the reports of [`diff`](mod@crate::diff) and [`info`](crate::info) are written with: tables, JSON, colours.
//!
//! A report is written by the library, but how is said by the program, in a [`Style`]: what it may colour, and how
//! its users type the options that a report tells them of.

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

/// Text fit for a terminal: its control characters (names may hold them) escaped.
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

/// What a tensor is called: its file, and the member where there is one, fit for a terminal.
pub(crate) fn full_name(file: &str, member: Option<&str>) -> String {
    let member = member.map_or(String::new(), |member| format!(":{}", printable(member)));
    format!("{}{member}", printable(file))
}

/// A float as people type it, from how JSON has it: without the quotes of a special one, and no more digits than
/// needed.
pub(crate) fn bare(text: &str) -> &str {
    let text = text.trim_matches('"');
    text.strip_suffix(".0").unwrap_or(text)
}

/// The first four digits of a float. More of them would make tables wide and tell nothing at a glance.
pub(crate) fn four_digits(value: f64) -> String {
    // the float64 next to its first four digits has no more of them
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
