//! `completions`: what clap_complete makes of the grammar, and the names of tensors after `FILE:`.

use std::io::Write;

use anyhow::{Context, Result};
use clap::{Args, Command};
use clap_complete::Shell;

use super::io::Io;
use super::outcome::Outcome;

/// Print a completion script for a shell
#[derive(Debug, Args)]
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

/// The script for a shell.
fn script(shell: Shell, mut grammar: Command) -> Result<String> {
    let mut script = Vec::new();
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
            let begin = "\n_tensorop() {\n";
            script.replacen(begin, &format!("\n{ZSH}{begin}"), 1)
        }
        Shell::Fish => format!("{script}{FISH}"),
        _ => script,
    })
}

/// Offers the members of FILE for a word `FILE:` and what follows. Bash parts words at `:` (and at `=`), and replaces
/// what comes after the last one only.
const BASH: &str = include_str!("completions/members.bash");

/// Bash parts `--option=value` at the `=`, and the rest of the script looks for the option right before the value.
const BASH_EQUALS: &str = include_str!("completions/equals.bash");

/// The same in zsh, and the files after the first `=` of NAME=FILE where none begins as the whole word does.
const ZSH: &str = include_str!("completions/files.zsh");

const FISH: &str = include_str!("completions/members.fish");
