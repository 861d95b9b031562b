//! The sub-command `completions`, which prints what clap_complete makes of the grammar, with completion of the names of
//! tensors after `FILE:`.

use std::io::Write;

use anyhow::{Context, Result};
use clap::{Arg, Args, Command, ValueHint};
use clap_complete::Shell;

use super::io::{Io, Outcome};

/// Print a completion script for a shell
#[derive(Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Completions {
    /// The shell
    #[arg(value_enum)]
    pub shell: Shell,
}

const EXAMPLES: &str = "\
Examples:
  tensorop completions bash > ~/.local/share/bash-completion/completions/tensorop
  tensorop completions zsh > ~/.zfunc/_tensorop        # in a folder of $fpath
  tensorop completions fish > ~/.config/fish/completions/tensorop.fish
  tensorop completions powershell >> $PROFILE
  tensorop completions elvish >> ~/.config/elvish/rc.elv";

impl Completions {
    /// Prints the script for the grammar of the command line.
    pub(super) fn run(&self, io: &Io, grammar: Command) -> Result<Outcome> {
        io.stdout.clone().write_all(script(self.shell, grammar)?.as_bytes()).context("standard output")?;
        Ok(Outcome::Done)
    }
}

/// Returns the script for a shell.
fn script(shell: Shell, grammar: Command) -> Result<String> {
    let mut script = Vec::new();
    let mut grammar = grammar.mut_subcommands(|command| command.mut_args(without_files));
    clap_complete::generate(shell, &mut grammar, "tensorop", &mut script);
    let script = String::from_utf8(script)?;
    Ok(match shell {
        Shell::Bash => {
            // after a sub-command it would offer options only, where an operand is what most people begin with
            let script = script.replace(" || ${COMP_CWORD} -eq 2 ]]", " ]]");
            let begin = "    COMPREPLY=()\n";
            let with_members = format!("{begin}    _tensorop_members \"$1\" && return 0\n");
            let script = script.replacen(begin, &with_members, 1);
            // of --opt=value bash makes three words
            let prev = "    prev=\"$3\"\n";
            format!("{BASH}\n{}", script.replacen(prev, &format!("{prev}{BASH_EQUALS}"), 1))
        }
        Shell::Zsh => {
            // every operand and file may be a member of a file
            let script = script.replace(":_files'", ":_tensorop_files'");
            // after `*::` zsh takes all that follows the first operand for operands, options and their values too
            let script = script.replace("'*::", "'*:");
            let begin = "\n_tensorop() {\n";
            script.replacen(begin, &format!("\n{ZSH}{begin}"), 1)
        }
        Shell::Fish => format!("{script}{FISH}"),
        _ => script,
    })
}

/// Returns an argument that offers no names of files, unless it says what it takes: shells offer these where they know
/// nothing else.
fn without_files(arg: Arg) -> Arg {
    let is_unknown = arg.get_value_hint() == ValueHint::Unknown && arg.get_possible_values().is_empty();
    if is_unknown && arg.get_action().takes_values() { arg.value_hint(ValueHint::Other) } else { arg }
}

/// Offers the members of FILE for a word that begins with `FILE:`. Bash divides words at `:` (and at `=`), and replaces
/// only what comes after the last one.
const BASH: &str = include_str!("completions/members.bash");

/// Finds the option of `--option=value`: bash divides it at the `=`, and the rest of the script looks for the option right
/// before the value.
const BASH_EQUALS: &str = include_str!("completions/equals.bash");

/// Offers the same in zsh, and the files after the first `=` of NAME=FILE where none begins as the whole word does.
const ZSH: &str = include_str!("completions/files.zsh");

/// Offers the same in fish.
const FISH: &str = include_str!("completions/members.fish");
