//! `tensorop`: tensor operators on files; tensors compared, described and converted.

mod cli;
mod run;
mod target;

use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::Context;

/// The exit status of a difference that `diff` found.
const DIFFERENT: u8 = 1;

/// The exit status of anything but success.
const TROUBLE: u8 = 2;

/// Does what the command line asks for, and reports. Nothing else decides the exit status.
pub fn main() -> ExitCode {
    let done = match cli::parse(std::env::args_os()) {
        Ok(parsed) => run::run(parsed.command),
        Err(cli::Ended::Help(help)) => help.print().context("standard output").map(|()| run::Outcome::Done),
        Err(cli::Ended::Usage(message)) => {
            let _ = write!(io::stderr(), "{}", printable(&message, "\n"));
            return TROUBLE.into();
        }
    };
    match done {
        Ok(run::Outcome::Done) => ExitCode::SUCCESS,
        Ok(run::Outcome::Different) => DIFFERENT.into(),
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "error: {}", printable(&format!("{error:#}"), ""));
            TROUBLE.into()
        }
    }
}

/// A message fit for a terminal: its control characters (file names may hold them) escaped, except `kept`, and its
/// middle left out if it is long.
fn printable(message: &str, kept: &str) -> String {
    const HEAD: usize = 400;
    const TAIL: usize = 150;
    let length = message.chars().count();
    let shown = |(i, _): &(usize, char)| length <= HEAD + TAIL || *i < HEAD || *i >= length - TAIL;
    let mut out = String::new();
    for (i, c) in message.chars().enumerate().filter(shown) {
        if length > HEAD + TAIL && i == length - TAIL {
            out.push_str(" ... ");
        }
        if c.is_control() && !kept.contains(c) { out.extend(c.escape_default()) } else { out.push(c) }
    }
    out
}

/// Whether the reader of the output has gone away, which is its right.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let mut causes = error.chain().filter_map(|cause| cause.downcast_ref::<io::Error>());
    causes.any(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}
