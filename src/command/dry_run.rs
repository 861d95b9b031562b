//! The report that `--dry-run` prints: how the arguments were resolved, and what would be written.

use std::fmt::Arguments;
use std::io::Write;

use anyhow::{Context, Result};

use super::io::Io;
use crate::DType;
use crate::layout::axis::Span;
use crate::storage::source::Source;

/// The report of a dry run. In any other run it stays empty.
pub(super) struct Report(Option<String>);

impl Report {
    /// Begins the report of an operator called `title`, if this is a dry run.
    pub(super) fn new(title: &str, is_dry_run: bool) -> Self {
        Self(is_dry_run.then(|| format!("{title}\n")))
    }

    /// Adds a line about something that was resolved.
    pub(super) fn line(&mut self, text: Arguments<'_>) {
        if let Some(lines) = &mut self.0 {
            lines.push_str(&format!("  {text}\n"));
        }
    }

    /// Prints the report.
    pub(super) fn print(self, io: &Io) -> Result<()> {
        io.stdout.clone().write_all(self.0.expect("a dry run").as_bytes()).context("standard output")
    }

    /// Adds a line about an operand.
    pub(super) fn source(&mut self, source: &Source) {
        self.line(format_args!("{}: {} {:?}", source.label(), source.dtype(), source.shape()));
    }

    /// Adds a line about a tensor that gets another name or dtype in the output.
    pub(super) fn becomes(&mut self, source: &Source, name: Option<&str>, dtype: Option<&DType>) {
        let name = name.map(|name| format!(" {name:?}")).unwrap_or_default();
        let dtype = dtype.map(|dtype| format!(" {dtype}")).unwrap_or_default();
        self.line(format_args!("{}: {} {:?} ->{name}{dtype}", source.label(), source.dtype(), source.shape()));
    }

    /// Adds a line for each axis about the places that are taken of it.
    pub(super) fn spans(&mut self, spans: &[Span], shape: &[usize]) {
        for (axis, (span, &dim)) in spans.iter().zip(shape).enumerate() {
            let (Span { start, step, .. }, last) = (span, span.len.saturating_sub(1));
            match span.len {
                0 => self.line(format_args!("axis {axis} of {dim}: nothing")),
                1 => self.line(format_args!("axis {axis} of {dim}: {start}")),
                n if *span == Span::whole(dim) => self.line(format_args!("axis {axis} of {dim}: all {n}")),
                n => self.line(format_args!("axis {axis} of {dim}: {n} from {start} to {} by {step}", span.at(last))),
            }
        }
    }
}
