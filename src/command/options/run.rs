//! How a sub-command runs: its threads, and whether it shows how far it is.

use std::num::NonZero;

use clap::{Args, ValueHint};

use crate::command::io::Environment;
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

impl RunOptions {
    /// What the run may use.
    pub(crate) fn limits(&self, environment: &Environment) -> anyhow::Result<Limits> {
        self.threads.limits(environment)
    }
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
    /// What the run may use: as many threads as asked for, here or in the environment. Tests ask for windows of so many
    /// bytes by `TENSOROP_WINDOW`, and for threads that share whatever little there is to do then.
    pub(crate) fn limits(&self, environment: &Environment) -> anyhow::Result<Limits> {
        let threads = Threads::new(self.asked(environment)?);
        let window = environment.window;
        Ok(match window {
            Some(_) => Limits { threads: threads.started_for(0), window },
            None => Limits { threads, window },
        })
    }

    fn asked(&self, environment: &Environment) -> anyhow::Result<Option<NonZero<usize>>> {
        Ok(match (self.threads, &environment.threads) {
            (Some(threads), _) => Some(threads),
            (None, None) => None,
            (None, Some(text)) => {
                let number = parse_threads(&text.to_string_lossy());
                Some(number.map_err(|message| anyhow::anyhow!("TENSOROP_THREADS: {}: {message}", text.display()))?)
            }
        })
    }
}

fn parse_threads(text: &str) -> Result<NonZero<usize>, String> {
    text.parse().map_err(|_| "expected a whole number, 1 or more".to_owned())
}
