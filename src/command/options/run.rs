//! How a sub-command runs: its threads, and whether it shows how far it is.

use std::num::NonZero;

use clap::{Args, ValueHint};

use crate::command::io::{Environment, Io};
use crate::ops::fill::Limits;
use crate::parallel::Threads;

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

impl ThreadOptions {
    /// Returns what the run may use: at most the threads that the option or the environment gives, and in tests the
    /// windows of `TENSOROP_WINDOW`, which threads then share however little there is to do.
    ///
    /// # Errors
    /// `TENSOROP_THREADS` is no number of threads.
    pub(crate) fn limits(&self, io: &Io) -> anyhow::Result<Limits> {
        let Environment { threads: in_environment, window, .. } = &io.environment;
        let count = match (self.threads, in_environment) {
            (None, Some(text)) => {
                let number = parse_threads(&text.to_string_lossy());
                Some(number.map_err(|message| anyhow::anyhow!("TENSOROP_THREADS: {}: {message}", text.display()))?)
            }
            (threads, _) => threads,
        };
        let threads = Threads::new(count);
        Ok(Limits { threads: if window.is_some() { threads.started_for(0) } else { threads }, window: *window })
    }
}

fn parse_threads(text: &str) -> Result<NonZero<usize>, String> {
    text.parse().map_err(|_| "expected a whole number, 1 or more".to_owned())
}
