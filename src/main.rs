//! `tensorop`: tensor operators on files; tensors compared, described and converted.

#![forbid(unsafe_code)]

mod cli;
mod output;
mod run;

use std::error::Error;
use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::Context;
use tensorop::error::{Advice, ErrorKind};

/// The exit status of a difference that `diff` found.
const DIFFERENT: u8 = 1;

/// The exit status of anything but success.
const TROUBLE: u8 = 2;

fn main() -> ExitCode {
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
            let _ = writeln!(io::stderr(), "error: {}", printable(&told(&error), ""));
            TROUBLE.into()
        }
    }
}

/// An error in one line: what it happened in, outermost first, what is wrong, and what would help.
fn told(error: &anyhow::Error) -> String {
    let cause = |cause: &(dyn Error + 'static)| own(cause).map_or_else(|| cause.to_string(), advise);
    error.chain().map(cause).collect::<Vec<_>>().join(": ")
}

/// An error of the library, with the advice in it said as it is typed.
fn advise(error: &tensorop::Error) -> String {
    let Some(advice) = error.advice() else { return error.to_string() };
    let in_place = |files: &str| {
        let place = error.place().map_or_else(String::new, |place| format!("{place}: "));
        format!("{place}--in-place changes {files}")
    };
    match advice {
        Advice::WriteNpy => format!("{error}: use -o FILE.npy"),
        Advice::ReadBits => format!("{error}; --dtype reads the bits as it"),
        Advice::ChangeOption => format!("--{}", error.message()),
        Advice::EditRegularFile => in_place("a regular file"),
        Advice::EditNpyOrSafetensors => in_place(&format!("{EDITED}; this is neither")),
        Advice::ConvertNpz => in_place(&format!(
            "{EDITED}; an .npz holds check sums of its members: convert it, or write a new one with -o"
        )),
        Advice::WriteOnnx => in_place(&format!("{EDITED}; an ONNX tensor is written anew with -o")),
    }
}

/// What can be changed where it lies.
const EDITED: &str = "a .npy file or a tensor of a .safetensors file";

/// The library's error that a cause is; it may have come through a reader or writer of the standard library.
fn own<'a>(cause: &'a (dyn Error + 'static)) -> Option<&'a tensorop::Error> {
    let inner = || cause.downcast_ref::<io::Error>()?.get_ref()?.downcast_ref();
    cause.downcast_ref().or_else(inner)
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
    let closed = |cause: &(dyn Error + 'static)| {
        let io = cause.downcast_ref::<io::Error>().map(io::Error::kind);
        let own = own(cause).map(tensorop::Error::kind);
        io == Some(io::ErrorKind::BrokenPipe) || own == Some(ErrorKind::Io(io::ErrorKind::BrokenPipe))
    };
    error.chain().any(closed)
}
