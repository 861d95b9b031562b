//! The report on the first of many tensors that fails.

use std::io::{self, Write};

use super::verdict::{LoneTensor, NamedResult, TensorVerdict};
use crate::report::{Colour, Style, printable};

/// The first tensor that fails.
#[derive(Clone, Debug)]
pub struct FirstDifferent {
    /// The name.
    pub name: String,
    /// Why it fails.
    pub found: NamedResult,
    /// The number of later tensors.
    pub not_compared: usize,
}

impl FirstDifferent {
    pub(super) fn write(
        &self,
        out: &mut dyn Write,
        style: Style,
        passed: [(TensorVerdict, usize); 2],
        is_brief: bool,
    ) -> io::Result<()> {
        let passed = passed.map(|(verdict, count)| format!("{count} {}", verdict.name())).join(", ");
        let rest = format!("before it {passed}; after it {} not compared", self.not_compared);
        let (word, text) = self.text(style, is_brief)?;
        let name = printable(&self.name);
        let word = style.paint(Colour::Red, word);
        match is_brief {
            true => writeln!(out, "{word}: {name}: {text}; {rest}"),
            false => writeln!(out, "{word}: {name}: {text}\n\n  {rest}"),
        }
    }

    fn text(&self, style: Style, is_brief: bool) -> io::Result<(&'static str, String)> {
        let lone = |LoneTensor { outline, .. }: &LoneTensor, side: &str| {
            format!("only {side} has it: {} {:?}", printable(&outline.dtype), outline.shape)
        };
        Ok(match &self.found {
            NamedResult::Damaged(why) => ("different", printable(why).into_owned()),
            NamedResult::Unreadable(why) => ("unreadable", printable(why).into_owned()),
            NamedResult::SameBytes => ("same", "both have the same bytes".to_owned()),
            NamedResult::Missing(one) => ("different", lone(one, "EXPECTED")),
            NamedResult::Extra(one) => ("different", lone(one, "ACTUAL")),
            NamedResult::Both(found) => {
                let whole = if is_brief { found.summary(style) } else { found.verdict() };
                let behind = whole.split_once(": ").map_or(&*whole, |(_, behind)| behind).to_owned();
                let mut report = Vec::new();
                if !is_brief {
                    found.write_report(&mut report, style)?;
                }
                let report = String::from_utf8_lossy(&report);
                let details = report.trim_end().split_once('\n').map_or("", |(_, details)| details);
                let details = if details.is_empty() { String::new() } else { format!("\n{details}") };
                ("different", behind + &details)
            }
        })
    }
}
