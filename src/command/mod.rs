//! The command line of `tensorop`: how it is parsed, and a module for each sub-command with its arguments and its run.

mod check;
mod completions;
mod convert;
mod diff;
mod help;
mod info;
mod man;
mod messages;
mod operands;
mod operators;
mod options;
mod outputs;
mod process;
mod show;
mod textconv;
mod usage;

use std::ffi::OsString;
use std::io::Write;

use anyhow::{Context, Result};
use clap::error::ErrorKind;
use clap::{ArgMatches, Args, CommandFactory, FromArgMatches, Parser};

use self::help::Group;
use self::messages::{is_closed_pipe, shortened};
use self::operators::{concat, gathers, rearranging, reshape, scatters, slice, slice_scatter, split};
use self::process::arguments::Arguments;
pub use self::process::io::{Environment, Io, TerminalSize};
use self::process::io::{OperandContainers, Outcome, complain};
use self::process::meter::Meter;
use crate::opening::located::Located;

/// Inspect, edit, compare and convert tensor files, with operators exactly as OpenVINO and ONNX specify them.
///
/// An operator reads tensors and index arguments, and prints its result or writes it to a file. It moves items of any dtype
/// of a .npy file without altering a bit. Everything else behaves as in NumPy.
#[derive(Parser)]
#[command(version, name = "tensorop", after_help = EXIT_HELP)]
struct Program {}

const EXIT_HELP: &str = "Exit status: 0 success, 1 diff found a difference or check a failure, 2 any error. Errors are one line on standard error.";

const EXAMPLES: &str = "\
Examples:
  tensorop slice data.npy --at '0:2, ::-1'
  tensorop slice-scatter data.npy row.npy --start 0 --stop 1 -o patched.npy
  tensorop scatter-update data.npy '[0,2]' updates.npy --axis 1
  tensorop scatter-nd table.npy rows.npy gradients.npy --reduction add -o table.npy
  tensorop slice big.npy --at :1 --to npy | tensorop slice-scatter - --fill 0 --at ':, :4'
  tensorop slice-scatter model.safetensors:head.bias --fill 0 --at : --in-place
  tensorop show model.safetensors:head.bias
  tensorop diff golden.npy out.npy --rtol 1e-5
  tensorop check node-tests --actual outputs-of-my-runtime
  tensorop info model.safetensors --stats
  tensorop convert test_data_set_0/input_0.pb -o input.npy";

const NOTES: &str = "\
Exit status: 0 success, 1 diff found a difference, check a failure or --finish missing parts, 2 any error. Errors are one line on \
standard error. After an error no file is written or replaced, but standard output may have received a part of the output. A closed \
pipe ends the program quietly: diff, check and --finish end with the status of their verdict, all other commands with 0. NO_COLOR \
is honoured.";

/// Makes all that depends on the list of sub-commands, which are in groups with a heading each. What is in brackets after
/// a sub-command is passed to `run`.
///
/// clap's derive for an enum of sub-commands would do, but it also generates functions that update parsed arguments, and it
/// copies all that was parsed.
macro_rules! sub_commands {
    ($($heading:literal { $($name:literal $module:ident::$Command:ident $(($($more:expr),+))?)+ })+) => {
        enum Command {
            $($($Command($module::$Command),)+)+
        }

        impl Command {
            /// Takes the sub-command out of a parsed command line.
            fn of(matches: &mut ArgMatches) -> Result<Self, clap::Error> {
                let (name, mut matches) = matches.remove_subcommand().expect("the grammar requires a sub-command");
                match name.as_str() {
                    $($($name => $module::$Command::from_arg_matches_mut(&mut matches).map(Self::$Command),)+)+
                    name => unreachable!("the grammar has no sub-command {name}"),
                }
            }

            fn run(&self, io: &Io) -> Result<Outcome> {
                match self {
                    $($(Self::$Command(args) => args.run(io $($(, $more)+)?),)+)+
                }
            }
        }

        /// The names of the sub-commands.
        const NAMES: &[&str] = &[$($($name,)+)+];

        /// The same names in their groups.
        const GROUPS: &[Group] = &[$(Group { heading: $heading, names: &[$($name),+] }),+];

        /// Returns the grammar of the sub-command of that name.
        fn sub_command(name: &str) -> Option<clap::Command> {
            match name {
                $($($name => Some($module::$Command::augment_args(clap::Command::new($name))),)+)+
                _ => None,
            }
        }
    };
}

// the sub-commands in the order of the help
sub_commands! {
    "Operators" {
        "slice" slice::Slice
        "slice-scatter" slice_scatter::SliceScatter
        "scatter-update" scatters::ScatterUpdate
        "scatter-nd" scatters::ScatterNd
        "scatter-elements" scatters::ScatterElements
        "gather" gathers::Gather
        "gather-nd" gathers::GatherNd
        "gather-elements" gathers::GatherElements
        "concat" concat::Concat
        "transpose" rearranging::Transpose
        "reshape" reshape::Reshape
        "pad" rearranging::Pad
        "tile" rearranging::Tile
        "roll" rearranging::Roll
        "broadcast" rearranging::Broadcast
        "split" split::Split
    }
    "Looking" {
        "show" show::Show
        "info" info::Info
    }
    "Comparing" {
        "diff" diff::Diff
        "check" check::Check
        "textconv" textconv::Textconv
    }
    "Files" {
        "convert" convert::Convert
    }
    "Shells and help" {
        "completions" completions::Completions(grammar())
        "man" man::Man(grammar(), GROUPS)
    }
}

/// Does what the command line asks for, reports on standard error what went wrong, and returns the exit status. Nothing
/// else decides the exit status.
///
/// What belongs to a process as a whole is left to the caller: `main.rs` handles signals.
pub fn run(args: impl IntoIterator<Item = OsString>, io: &Io) -> u8 {
    let done = match parse(args, io.help_width()) {
        Ok((command, arguments)) => {
            let _meter = Meter::for_waiting(io, arguments.is_quiet);
            command.run(&Io { arguments, containers: OperandContainers::default(), ..io.clone() })
        }
        Err(EarlyExit::Help(help)) => print_help(&help, io).context("standard output").map(|()| Outcome::Done),
        Err(EarlyExit::Usage(message)) => {
            let _ = write!(io.stderr.clone(), "{}", shortened(&message, "\n"));
            Ok(Outcome::Incomplete)
        }
    };
    crate::storage::targets::signals::end_if_signalled();
    let outcome = match done {
        Ok(outcome) => outcome,
        Err(error) if is_closed_pipe(&error) => Outcome::Done,
        Err(error) => complain(&io.stderr, &error),
    };
    outcome as u8
}

/// Parses the command line into a sub-command, or into the text that is shown instead.
fn parse(args: impl IntoIterator<Item = OsString>, help_width: usize) -> Result<(Command, Arguments), EarlyExit> {
    let mut args: Vec<_> = args.into_iter().map(options::sheltered).collect();
    if args.get(1).is_some_and(is_shown) {
        args.insert(1, "show".into());
    }
    parse_sheltered(&args, help_width)
}

/// Returns whether the first argument is a file that is to be shown: one that exists, and no sub-command is called so.
fn is_shown(first: &OsString) -> bool {
    let is_option = first.as_encoded_bytes().starts_with(b"-");
    let is_known = first.to_str().is_some_and(|name| name == "help" || NAMES.contains(&name));
    !is_option && !is_known && Located::from_path(first).file().is_some()
}

fn parse_sheltered(args: &[OsString], help_width: usize) -> Result<(Command, Arguments), EarlyExit> {
    let parsed = |grammar: clap::Command| -> Result<_, clap::Error> {
        let mut matches = grammar.try_get_matches_from(args)?;
        let arguments = Arguments::of(&matches, sub_command);
        Ok((Command::of(&mut matches)?, arguments))
    };
    parsed(parsing_grammar(args)).map_err(|error| match error.kind() {
        // Help is laid out only if it is shown, because that takes half as long as the rest of a small run.
        ErrorKind::DisplayHelp => {
            let grammar = grammar().mut_subcommands(with_hyphens);
            EarlyExit::Help(parsed(help::laid_out(grammar, GROUPS, help_width)).err().unwrap_or(error))
        }
        _ if !error.use_stderr() => EarlyExit::Help(error),
        // clap would print all of the help
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let what = format!("error: a sub-command is missing: one of {}", NAMES.join(", "));
            EarlyExit::Usage(usage::message(&what, Some("Usage: tensorop <COMMAND>")))
        }
        ErrorKind::UnknownArgument => EarlyExit::Usage(usage::with_file(&unsheltered(error, args), args)),
        _ => EarlyExit::Usage(unsheltered(error, args)),
    })
}

/// Returns the message of a usage error, with the arguments as they were typed.
fn unsheltered(error: clap::Error, args: &[OsString]) -> String {
    usage::short(error, args).replace(options::SHELTER, "")
}

/// Prints help or the version.
fn print_help(help: &clap::Error, io: &Io) -> std::io::Result<()> {
    let mut stdout = io.stdout.clone();
    let styled = help.render();
    let text = if io.is_coloured() { styled.ansi().to_string() } else { styled.to_string() };
    stdout.write_all(help::plain(&text).as_bytes())?;
    stdout.flush()
}

/// The text that is shown instead of running a sub-command.
enum EarlyExit {
    /// Help or the version was asked for.
    Help(clap::Error),
    /// The message that says what is wrong with the command line.
    Usage(String),
}

/// Returns the grammar of the whole command line, for help, man pages and completions.
fn grammar() -> clap::Command {
    program().after_long_help(long_help()).subcommands(NAMES.iter().filter_map(|name| sub_command(name)))
}

/// Returns the grammar for parsing a command line: that of the sub-command that it names, if there is one. To build those of
/// all sub-commands takes longer than the rest of a small run.
fn parsing_grammar(args: &[OsString]) -> clap::Command {
    let named = args.get(1).and_then(|name| sub_command(name.to_str()?));
    match named {
        Some(named) => program().subcommand(with_hyphens(named)),
        None => grammar().mut_subcommands(with_hyphens),
    }
}

/// Returns what the long help of the program says below the sub-commands.
fn long_help() -> String {
    format!("{EXAMPLES}\n\n{}\n\n{NOTES}", help::formats())
}

/// Returns a sub-command whose options take values that begin with `-`, such as negative numbers.
fn with_hyphens(command: clap::Command) -> clap::Command {
    command.mut_args(|arg| {
        let has_value = arg.get_long().is_some() && arg.get_action().takes_values();
        if has_value { arg.allow_hyphen_values(true) } else { arg }
    })
}

/// Returns the grammar of the program without sub-commands.
fn program() -> clap::Command {
    Program::command().subcommand_required(true).arg_required_else_help(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grammar_is_sound() {
        grammar().debug_assert();
    }

    #[test]
    fn only_the_sub_command_that_is_named_is_built() {
        let count = |args: &[&str]| {
            let args: Vec<_> = args.iter().map(OsString::from).collect();
            parsing_grammar(&args).get_subcommands().count()
        };
        assert_eq!(count(&["tensorop", "slice", "a", "--at", ":"]), 1);
        assert_eq!(count(&["tensorop", "help", "slice"]), NAMES.len());
        assert_eq!(count(&["tensorop"]), NAMES.len());
    }

    #[test]
    fn options_take_values_that_begin_with_a_hyphen() {
        for option in [&["--start", "-1"][..], &["--start=-1"]] {
            let args: Vec<_> =
                ["tensorop", "slice", "a", "--stop", "2"].iter().chain(option).map(OsString::from).collect();
            assert!(parse(args.clone(), 100).is_ok(), "{option:?}");
            let help = parse(args.into_iter().chain(["--help".into()]), 100);
            assert!(matches!(help, Err(EarlyExit::Help(help)) if help.kind() == ErrorKind::DisplayHelp), "{option:?}");
        }
    }
}
