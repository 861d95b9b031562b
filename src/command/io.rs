//! What a run of the program has of its process, streams, terminal and environment, all in one value, and what the process
//! gets of the run, which is the exit status.
//!
//! `main.rs` makes it from the process and tests make their own, so a test runs a command line in its own process. No
//! sub-command looks at `std::env` or at the standard streams itself.

use std::ffi::OsString;
use std::io::Write as _;
use std::sync::{Arc, Mutex, OnceLock};

use anyhow::{Context, Result, anyhow};

use super::arguments::Arguments;
use super::messages::{error_line, shortened, unless_closed};
use super::options::{AddressOptions, RunOptions, ThreadOptions, parse_threads, parse_timeout};
use crate::diff::{OptionNames, Style};
use crate::format::open::Input;
use crate::format::rewrite::UPDATE_GOLDEN;
use crate::ops::fill::Limits;
use crate::ops::machine::Machine;
use crate::parallel::{Threads, locked};
use crate::storage::calls::CallCounter;
use crate::storage::requests::RequestOptions;
use crate::storage::source::Container;
use crate::storage::stream::{InputStream, OutputStream};

/// The streams, the terminal and the environment of a run.
#[derive(Clone)]
pub struct Io {
    /// Standard input.
    pub stdin: InputStream,
    /// Standard output.
    pub stdout: OutputStream,
    /// Standard error, where errors and the progress of long commands go.
    pub stderr: OutputStream,
    /// The size of the terminal, if any of the streams is one.
    pub terminal: Option<TerminalSize>,
    /// The variables of the environment that the program reads.
    pub environment: Environment,
    /// The arguments, once they are parsed.
    pub arguments: Arguments,
    /// The containers of the operands that have been opened.
    pub containers: OperandContainers,
    /// What counts the reads of operands, where the run is explained.
    pub counter: OnceLock<Arc<CallCounter>>,
}

impl Io {
    /// Counts the reads of operands that are opened from now on, and returns the counter.
    pub(super) fn count_reads(&self) -> &CallCounter {
        self.counter.get_or_init(Arc::default)
    }
}

/// The containers of the operands of a run. An output that replaces such a container must not lose the rest of its content, also
/// if the operand is a list of indices, which the tensors of the output do not refer to.
#[derive(Clone, Default)]
pub struct OperandContainers(Arc<Mutex<Vec<Arc<Container>>>>);

impl OperandContainers {
    /// Adds the container of an operand that has been opened, if it is one.
    pub(super) fn add(&self, input: &Input) {
        locked(&self.0).extend(input.reader().container().cloned());
    }

    /// Returns the containers.
    pub(super) fn all(&self) -> Vec<Arc<Container>> {
        locked(&self.0).clone()
    }
}

/// How a run ends. The number is the exit status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// Everything was done.
    Done = 0,
    /// `diff` found a difference, `check` a test that did not pass.
    Different = 1,
    /// Something could not be done, and a message has said so. The rest was done.
    Incomplete = 2,
}

impl Outcome {
    /// Returns how a comparison ends.
    pub(super) fn from_verdict(is_equal: bool) -> Self {
        if is_equal { Self::Done } else { Self::Different }
    }
}

/// Prints an error as a line on standard error. Returns the outcome of a command that goes on after it.
pub(super) fn complain(stderr: &OutputStream, error: &anyhow::Error) -> Outcome {
    let _ = writeln!(stderr.clone(), "{}", error_line(error));
    Outcome::Incomplete
}

/// Prints a line on standard error that is not about an error.
///
/// # Errors
/// Standard error fails.
pub(super) fn note(stderr: &OutputStream, line: &str) -> Result<()> {
    unless_closed(writeln!(stderr.clone(), "{}", shortened(line, " "))).context("standard error")
}

/// What a run of a sub-command has of its process and of its options.
#[derive(Clone, Copy)]
pub(super) struct Run<'a> {
    pub io: &'a Io,
    /// The threads and the memory that it may use.
    pub limits: Limits,
    /// How servers are asked for what lies behind addresses.
    pub requests: RequestOptions,
    /// Whether it shows no progress.
    pub quiet: bool,
}

impl<'a> Run<'a> {
    /// Returns a run with at most the threads that the option or the environment gives. In tests it has the windows of
    /// `TENSOROP_WINDOW`, which threads then share however little there is to do.
    ///
    /// # Errors
    /// `TENSOROP_THREADS` is no number of threads, or `TENSOROP_TIMEOUT` no time.
    pub(super) fn new(io: &'a Io, threads: &ThreadOptions, address: &AddressOptions) -> Result<Self> {
        /// Returns the value of an option, or else that of a variable.
        fn value<T: Copy>(
            typed: Option<T>,
            name: &str,
            variable: Option<&OsString>,
            parse: fn(&str) -> Result<T, String>,
        ) -> Result<Option<T>> {
            let (None, Some(text)) = (typed, variable) else { return Ok(typed) };
            let value = parse(&text.to_string_lossy());
            value.map(Some).map_err(|message| anyhow!("{name}: {}: {message}", text.display()))
        }
        let Environment { threads: in_threads, timeout, window, .. } = &io.environment;
        let threads = Threads::new(value(threads.threads, "TENSOROP_THREADS", in_threads.as_ref(), parse_threads)?);
        let threads = if window.is_some() { threads.started_for(0) } else { threads };
        let machine = window.map_or_else(Machine::default, Machine::with_windows_of);
        let timeout = value(address.timeout, "TENSOROP_TIMEOUT", timeout.as_ref(), parse_timeout)?;
        let requests = RequestOptions { timeout, unsigned: address.no_sign_request };
        Ok(Self { io, limits: Limits { threads, machine }, requests, quiet: false })
    }

    /// Returns what counts the reads of operands, if the run is explained.
    pub(super) fn counter(&self) -> Option<&'a CallCounter> {
        self.io.counter.get().map(|counter| &**counter)
    }

    /// Returns the run with the memory that the options give, and without progress if they say so.
    pub(super) fn with(self, RunOptions { memory, quiet, .. }: &RunOptions) -> Self {
        let Limits { threads, machine } = self.limits;
        let machine = Machine { memory: memory.unwrap_or(machine.memory), ..machine };
        Self { limits: Limits { threads, machine }, quiet: *quiet, ..self }
    }
}

/// The size of a terminal in characters.
#[derive(Clone, Copy, Debug)]
pub struct TerminalSize {
    /// Characters in a line.
    pub columns: usize,
    /// Lines on the screen.
    pub lines: usize,
}

/// The variables of the environment that the program reads.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    /// `TENSOROP_THREADS` as it is set, unless it is empty: the number of threads where `--threads` is not given.
    pub threads: Option<OsString>,
    /// `TENSOROP_TIMEOUT` as it is set, unless it is empty: the time-out of servers where `--timeout` is not given.
    pub timeout: Option<OsString>,
    /// `TENSOROP_WINDOW`, bytes: the size of windows, which tests make small. A release build does not read it.
    pub window: Option<usize>,
    /// The value of `TENSOROP_UPDATE_GOLDEN`, if it is set: whether `diff --golden` accepts ACTUAL.
    pub update_golden: Option<OsString>,
    /// `NO_COLOR` or `TERM=dumb`: nothing is coloured.
    pub is_plain: bool,
    /// `COLORTERM`: the terminal shows any colour, not only the 256 of the usual table.
    pub has_all_colours: bool,
    /// `COLUMNS`: the width of the help where there is no terminal.
    pub columns: Option<usize>,
}

impl Io {
    /// Returns the streams, the terminal and the environment of this process.
    pub fn from_process() -> Self {
        let terminal = terminal_size::terminal_size();
        Self {
            stdin: InputStream::stdin(),
            stdout: OutputStream::stdout(),
            stderr: OutputStream::stderr(),
            terminal: terminal.map(|(width, height)| TerminalSize { columns: width.0.into(), lines: height.0.into() }),
            environment: Environment::from_values(|name| std::env::var_os(name)),
            arguments: Arguments::default(),
            containers: OperandContainers::default(),
            counter: OnceLock::new(),
        }
    }

    /// Returns whether standard output is a terminal that may be coloured.
    pub(super) fn is_coloured(&self) -> bool {
        self.stdout.is_terminal() && !self.environment.is_plain
    }

    /// Returns the characters in a line of help: as clap has them, which would ask the process itself.
    pub(super) fn help_width(&self) -> usize {
        self.terminal.map(|size| size.columns).or(self.environment.columns).unwrap_or(100).max(1)
    }

    /// Returns how reports look on standard output. They name options as they are typed.
    pub(super) fn style(&self) -> Style {
        Style::plain().with_colour(self.is_coloured()).with_option_names(OptionNames::CommandLine)
    }
}

impl Environment {
    /// Reads the environment, in which `value` looks up a variable.
    pub fn from_values(value: impl Fn(&str) -> Option<OsString>) -> Self {
        let number = |name| value(name)?.to_str()?.parse().ok();
        let is_one_of = |name, values: &[&str]| value(name).is_some_and(|value| values.iter().any(|&one| value == one));
        Self {
            threads: value("TENSOROP_THREADS").filter(|text| !text.is_empty()),
            timeout: value("TENSOROP_TIMEOUT").filter(|text| !text.is_empty()),
            window: number("TENSOROP_WINDOW").filter(|_| cfg!(debug_assertions)),
            update_golden: value(UPDATE_GOLDEN),
            is_plain: value("NO_COLOR").is_some_and(|value| !value.is_empty()) || is_one_of("TERM", &["dumb"]),
            has_all_colours: is_one_of("COLORTERM", &["truecolor", "24bit"]),
            columns: number("COLUMNS"),
        }
    }
}
