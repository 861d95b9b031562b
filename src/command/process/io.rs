//! The process as a run sees it: streams, terminal, environment and exit status.
//!
//! Tests make their own [`Io`] to run command lines in their own process. Sub-commands never use `std::env` or the
//! standard streams directly.

use std::ffi::OsString;
use std::io::Write as _;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use anyhow::{Context, Result, anyhow};

use super::arguments::Arguments;
use crate::command::messages::{error_line, shortened, unless_closed};
use crate::command::options::{AddressOptions, RunOptions, ThreadOptions, parse_threads, parse_timeout};
use crate::container::interface::Members;
use crate::diff::{OptionNames, Style};
use crate::library::rewrite::{KEEP_ACTUAL, UPDATE_GOLDEN};
use crate::opening::input::Input;
use crate::operators::fill::{Limits, Machine};
use crate::parallel::{Threads, locked};
use crate::storage::requests::RequestOptions;
use crate::storage::source::Container;
use crate::storage::targets::stream::{InputStream, OutputStream};

/// The streams, the terminal and the environment of a run.
#[derive(Clone)]
pub struct Io {
    pub stdin: InputStream,
    pub stdout: OutputStream,
    pub stderr: OutputStream,
    pub terminal: Option<TerminalSize>,
    pub environment: Environment,
    pub arguments: Arguments,
    pub containers: OperandContainers,
}

/// The containers of the operands. An output that replaces one must keep its other content.
#[derive(Clone, Default)]
pub struct OperandContainers {
    all: Arc<Mutex<Vec<Arc<Container>>>>,
    /// Whether `--dequantize` has read a weight, or an error says why it has not.
    pub(crate) has_quantized: Arc<AtomicBool>,
    /// Whether `--names` has given a file other names.
    pub(crate) has_names: Arc<AtomicBool>,
}

impl OperandContainers {
    pub(crate) fn add(&self, input: &Input) {
        let Members { container, viewed, .. } = input.members();
        let unwritten = Some("has more bytes than the view, which would be lost");
        let viewed = viewed.map(|file| Arc::new(Container { unwritten, ..Container::new(file, Vec::new()) }));
        locked(&self.all).extend(container.clone().into_iter().chain(viewed));
    }

    pub(crate) fn all(&self) -> Vec<Arc<Container>> {
        locked(&self.all).clone()
    }
}

/// The number is the exit status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Done = 0,
    Different = 1,
    /// A part failed with a message, and the rest was done.
    Incomplete = 2,
}

impl Outcome {
    pub(crate) fn from_verdict(is_equal: bool) -> Self {
        if is_equal { Self::Done } else { Self::Different }
    }
}

pub(crate) fn complain(stderr: &OutputStream, error: &anyhow::Error) -> Outcome {
    let _ = writeln!(stderr.clone(), "{}", error_line(error));
    Outcome::Incomplete
}

pub(crate) fn note(stderr: &OutputStream, line: &str) -> Result<()> {
    unless_closed(writeln!(stderr.clone(), "{}", shortened(line, " "))).context("standard error")
}

/// The process and the general options of a sub-command.
#[derive(Clone, Copy)]
pub(crate) struct Run<'a> {
    pub io: &'a Io,
    pub limits: Limits,
    pub requests: RequestOptions,
    pub quiet: bool,
}

impl<'a> Run<'a> {
    /// Options take precedence over the environment. `TENSOROP_WINDOW` sets the window size in tests.
    pub(crate) fn new(io: &'a Io, settings: RunSettings<'_>, address: &AddressOptions) -> Result<Self> {
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
        let RunSettings { threads, memory, quiet } = settings;
        let threads = Threads::new(value(threads.threads, "TENSOROP_THREADS", in_threads.as_ref(), parse_threads)?);
        let threads = if window.is_some() { threads.started_for(0) } else { threads };
        let machine = window.map_or_else(Machine::default, Machine::with_windows_of);
        let machine = Machine { memory: memory.unwrap_or(machine.memory), ..machine };
        let timeout = value(address.timeout, "TENSOROP_TIMEOUT", timeout.as_ref(), parse_timeout)?;
        let requests = RequestOptions { timeout, unsigned: address.no_sign_request };
        Ok(Self { io, limits: Limits { threads, machine }, requests, quiet })
    }
}

/// The options of a run that do not depend on its operands.
pub(crate) struct RunSettings<'a> {
    pub threads: &'a ThreadOptions,
    pub memory: Option<usize>,
    pub quiet: bool,
}

impl<'a> From<&'a ThreadOptions> for RunSettings<'a> {
    fn from(threads: &'a ThreadOptions) -> Self {
        Self { threads, memory: None, quiet: false }
    }
}

impl<'a> From<&'a RunOptions> for RunSettings<'a> {
    fn from(RunOptions { threads, memory, quiet }: &'a RunOptions) -> Self {
        Self { threads, memory: *memory, quiet: *quiet }
    }
}

/// The size of a terminal in characters.
#[derive(Clone, Copy, Debug)]
pub struct TerminalSize {
    pub columns: usize,
    pub lines: usize,
}

/// The environment variables that the program reads.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    pub threads: Option<OsString>,
    pub timeout: Option<OsString>,
    /// In bytes, for tests. A release build ignores it.
    pub window: Option<usize>,
    pub update_golden: Option<OsString>,
    pub keep_actual: Option<OsString>,
    /// The user's folder.
    pub home: Option<String>,
    /// `NO_COLOR` or `TERM=dumb`.
    pub is_plain: bool,
    /// `COLORTERM`: the terminal has 24-bit colours.
    pub has_all_colours: bool,
    /// The width of the help without a terminal.
    pub columns: Option<usize>,
}

impl Io {
    /// Takes the streams and variables of this process.
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
        }
    }

    pub(crate) fn is_coloured(&self) -> bool {
        self.stdout.is_terminal() && !self.environment.is_plain
    }

    /// Given to clap, which would look at the process itself.
    pub(crate) fn help_width(&self) -> usize {
        self.terminal.map(|size| size.columns).or(self.environment.columns).unwrap_or(100).max(1)
    }

    pub(crate) fn style(&self) -> Style {
        Style::plain().with_colour(self.is_coloured()).with_option_names(OptionNames::CommandLine)
    }
}

impl Environment {
    /// Reads the variables that `value` looks up.
    pub fn from_values(value: impl Fn(&str) -> Option<OsString>) -> Self {
        let number = |name| value(name)?.to_str()?.parse().ok();
        let is_one_of = |name, values: &[&str]| value(name).is_some_and(|value| values.iter().any(|&one| value == one));
        Self {
            threads: value("TENSOROP_THREADS").filter(|text| !text.is_empty()),
            timeout: value("TENSOROP_TIMEOUT").filter(|text| !text.is_empty()),
            window: number("TENSOROP_WINDOW").filter(|_| cfg!(debug_assertions)),
            update_golden: value(UPDATE_GOLDEN),
            keep_actual: value(KEEP_ACTUAL),
            home: value("HOME").and_then(|home| home.into_string().ok()),
            is_plain: value("NO_COLOR").is_some_and(|value| !value.is_empty()) || is_one_of("TERM", &["dumb"]),
            has_all_colours: is_one_of("COLORTERM", &["truecolor", "24bit"]),
            columns: number("COLUMNS"),
        }
    }
}
