//! What `--dry-run` prints: what was resolved of the arguments, and what would be written.

use std::io::Write;

use anyhow::{Context, Result};

use super::io::Io;
use crate::DType;
use crate::layout::axis::Span;
use crate::storage::source::Source;

/// What `--dry-run` prints.
pub(super) struct Report(String);

impl Report {
    /// Of an operator.
    pub(super) fn new(title: &str) -> Self {
        Self(format!("{title}\n"))
    }

    /// A line about something that was resolved.
    pub(super) fn line(&mut self, text: String) {
        self.0 += &format!("  {text}\n");
    }

    /// Prints it.
    pub(super) fn print(self, io: &Io) -> Result<()> {
        io.stdout.clone().write_all(self.0.as_bytes()).context("standard output")
    }

    /// A line about an operand.
    pub(super) fn source(&mut self, source: &Source) {
        self.line(format!("{}: {} {:?}", source.label(), source.dtype(), source.shape()));
    }

    /// A line about a tensor that gets another name or dtype in the output.
    pub(super) fn becomes(&mut self, source: &Source, name: Option<&str>, dtype: Option<&DType>) {
        let name = name.map(|name| format!(" {name:?}")).unwrap_or_default();
        let dtype = dtype.map(|dtype| format!(" {dtype}")).unwrap_or_default();
        self.line(format!("{}: {} {:?} ->{name}{dtype}", source.label(), source.dtype(), source.shape()));
    }

    /// Lines about what is taken of each axis.
    pub(super) fn spans(&mut self, spans: &[Span], shape: &[usize]) {
        for (axis, (span, &dim)) in spans.iter().zip(shape).enumerate() {
            self.line(match span.len {
                0 => format!("axis {axis} of {dim}: nothing"),
                1 => format!("axis {axis} of {dim}: {}", span.start),
                n if *span == Span::whole(dim) => format!("axis {axis} of {dim}: all {n}"),
                n => format!("axis {axis} of {dim}: {n} from {} to {} by {}", span.start, span.at(n - 1), span.step),
            });
        }
    }
}
