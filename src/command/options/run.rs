//! How a sub-command runs: its threads, and whether it shows how far it is.

use std::num::NonZero;

use clap::{Args, ValueHint};

const HEADING: &str = "Run";

#[derive(Debug, Args)]
#[command(next_help_heading = HEADING)]
pub(crate) struct RunOptions {
    #[command(flatten)]
    pub threads: ThreadOptions,
    /// Show no progress (else shown on a terminal if it takes more than a second)
    #[arg(short, long)]
    pub quiet: bool,
}

#[derive(Debug, Args)]
#[command(next_help_heading = HEADING)]
pub(crate) struct ThreadOptions {
    /// Threads at most [default: $TENSOROP_THREADS, else all cores up to 8]
    ///
    /// The output is the same for any number.
    #[arg(long, value_name = "N", value_parser = parse_threads, value_hint = ValueHint::Other, allow_hyphen_values = true)]
    pub threads: Option<NonZero<usize>>,
}

/// Parses a number of threads.
///
/// # Errors
/// A text that is no number, or 0.
pub(crate) fn parse_threads(text: &str) -> Result<NonZero<usize>, String> {
    text.parse().map_err(|_| "expected a whole number, 1 or more".to_owned())
}
