//! How a sub-command runs: its threads, and whether it shows how far it is.

use std::num::NonZero;

use clap::{Args, ValueHint};

use crate::engine::job::{Options, Threads};

const HEADING: &str = "Run";

#[derive(Debug, Args)]
#[command(next_help_heading = HEADING)]
pub struct RunOptions {
    #[command(flatten)]
    pub threads: ThreadOptions,
    /// Show no progress (else shown on a terminal if it takes more than a second)
    #[arg(short, long)]
    pub quiet: bool,
}

impl RunOptions {
    /// How a job is to be carried out.
    pub fn options(&self, in_place: bool) -> anyhow::Result<Options> {
        Ok(Options { threads: self.threads.threads()?, room: 0, in_place })
    }
}

#[derive(Debug, Args)]
#[command(next_help_heading = HEADING)]
pub struct ThreadOptions {
    /// Threads at most [default: $TENSOROP_THREADS, else all cores up to 8]
    ///
    /// The output is the same for any number.
    #[arg(long, value_name = "N", value_parser = parse_threads, value_hint = ValueHint::Other, allow_hyphen_values = true)]
    pub threads: Option<NonZero<usize>>,
}

impl ThreadOptions {
    /// What was asked for, here or in the environment.
    pub fn threads(&self) -> anyhow::Result<Threads> {
        let asked = match (self.threads, std::env::var_os("TENSOROP_THREADS").filter(|text| !text.is_empty())) {
            (Some(threads), _) => threads,
            (None, None) => return Ok(Threads(None)),
            (None, Some(text)) => {
                let number = parse_threads(&text.to_string_lossy());
                number.map_err(|message| anyhow::anyhow!("TENSOROP_THREADS: {}: {message}", text.display()))?
            }
        };
        Ok(Threads(Some(asked)))
    }
}

fn parse_threads(text: &str) -> Result<NonZero<usize>, String> {
    text.parse().map_err(|_| "expected a whole number, 1 or more".to_owned())
}
