//! How a sub-command ends, and the messages that say why.

use std::error::Error as StdError;
use std::io::{self, Write};

use crate::error::Advice;
use crate::storage::stream::OutputStream;

/// What the exit status tells of a run without errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// All is well.
    Done,
    /// `diff` found a difference.
    Different,
    /// Something could not be done, which has been said, and the rest was.
    Incomplete,
}

/// Prints an error, its line of standard error; what comes of a command that goes on after it.
pub(super) fn complain(stderr: &OutputStream, error: &anyhow::Error) -> Outcome {
    let _ = writeln!(stderr.clone(), "error: {}", printable(&told(error), ""));
    Outcome::Incomplete
}

/// A message fit for a terminal: its control characters (file names may hold them) escaped, except `allowed`, and its
/// middle left out if it is long.
pub(super) fn printable(message: &str, allowed: &str) -> String {
    const HEAD: usize = 400;
    const TAIL: usize = 150;
    let length = message.chars().count();
    let shown = |(i, _): &(usize, char)| length <= HEAD + TAIL || *i < HEAD || *i >= length - TAIL;
    let mut out = String::new();
    for (i, c) in message.chars().enumerate().filter(shown) {
        if length > HEAD + TAIL && i == length - TAIL {
            out.push_str(" ... ");
        }
        if c.is_control() && !allowed.contains(c) { out.extend(c.escape_default()) } else { out.push(c) }
    }
    out
}

/// An error in one line: what it happened in, outermost first, what is wrong, and what would help.
pub(super) fn told(error: &anyhow::Error) -> String {
    let cause = |cause: &(dyn StdError + 'static)| own(cause).map_or_else(|| cause.to_string(), advise);
    error.chain().map(cause).collect::<Vec<_>>().join(": ")
}

/// An error of the library, with the advice in it said as it is typed.
fn advise(error: &crate::Error) -> String {
    advised(error.to_string(), error.advice())
}

/// What is wrong, and what would help, said as it is typed.
pub(super) fn advised(message: String, advice: Option<Advice>) -> String {
    match advice {
        None => message,
        Some(Advice::WriteNpy) => format!("{message}: use -o FILE.npy"),
        Some(Advice::ReadBits) => format!("{message}; --dtype reads the bits as it"),
        Some(Advice::SkipRows(rows)) => format!("{message}; --skip-rows {rows} leaves out what may be headings"),
        Some(Advice::NameItems) => format!("{message}: say with --dtype what it is (bfloat16, int4, ...)"),
        Some(Advice::WriteOrName) => {
            format!("{message}: use -o FILE.npy, or say with --dtype what it is (bfloat16, int4, ...)")
        }
        Some(Advice::PassTensor) => format!("{message}; give --to npy to the command that wrote it"),
        Some(Advice::ReadAsCsv) => format!("{message}: try --from csv (or tsv)"),
        Some(Advice::ConvertStore) => format!("{message}: tensorop convert STORE -o NAME.zarr makes version 3"),
        Some(Advice::ChangeOption) => format!("--{message}"),
    }
}

/// The library's error that a cause is; it may have come through a reader or writer of the standard library.
fn own<'a>(cause: &'a (dyn StdError + 'static)) -> Option<&'a crate::Error> {
    let inner = || cause.downcast_ref::<io::Error>()?.get_ref()?.downcast_ref();
    cause.downcast_ref().or_else(inner)
}

/// Whether the reader of the output has gone away, which is its right.
pub(super) fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let closed = |cause: &(dyn StdError + 'static)| {
        let io = cause.downcast_ref::<io::Error>().map(crate::error::kind);
        let own = own(cause).map(crate::Error::kind);
        io == Some(io::ErrorKind::BrokenPipe) || own == Some(crate::error::ErrorKind::Io(io::ErrorKind::BrokenPipe))
    };
    error.chain().any(closed)
}
