//! `completions`: what clap_complete makes of the grammar, and the names of tensors after `FILE:`.

use std::io::Write;

use anyhow::{Context, Result};
use clap::Args;
use clap_complete::Shell;

use super::grammar;
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
    /// Prints the script.
    pub(super) fn run(&self, io: &Io) -> Result<Outcome> {
        io.stdout.clone().write_all(script(self.shell)?.as_bytes()).context("standard output")?;
        Ok(Outcome::Done)
    }
}

/// The script for a shell.
fn script(shell: Shell) -> Result<String> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut grammar(), "tensorop", &mut script);
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
const BASH: &str = r#"_tensorop_members() {
    local word="${COMP_LINE:0:COMP_POINT}" typed file name begin kept
    word="${word##*[[:space:]]}"
    case "$word" in
        *.npz:*) typed="${word%%.npz:*}.npz" ;;
        *.safetensors:*) typed="${word%%.safetensors:*}.safetensors" ;;
        *.safetensors.index.json:*) typed="${word%%.safetensors.index.json:*}.safetensors.index.json" ;;
        *) return 1 ;;
    esac
    begin="${word#"$typed:"}"
    file="${typed/#\~\//$HOME/}"
    [[ -f "$file" || "$file" != *=* ]] || file="${file#*=}"
    file="${file/#\~\//$HOME/}"
    [[ -f "$file" ]] || return 1
    kept=""
    [[ "$COMP_WORDBREAKS" != *=* ]] || kept="${word%"${word##*=}"}"
    [[ "$COMP_WORDBREAKS" != *:* ]] || kept="${word%"${word##*[:=]}"}"
    while IFS= read -r name; do
        if [[ "$name" == "$begin"* ]]; then
            name="$typed:$name"
            printf -v name '%q' "${name#"$kept"}"
            COMPREPLY+=("$name")
        fi
    done < <("${1/#\~\//$HOME/}" info --members -- "$file" 2>/dev/null)
    return 0
}
"#;

/// Bash parts `--option=value` at the `=`, and the rest of the script looks for the option right before the value.
const BASH_EQUALS: &str = r#"    if [[ "$prev" == "=" && COMP_CWORD -ge 2 && "${COMP_WORDS[COMP_CWORD - 2]}" == --* ]]; then
        prev="${COMP_WORDS[COMP_CWORD - 2]}"
    elif [[ "$cur" == "=" && "$prev" == --* ]]; then
        cur=""
    fi
"#;

/// The same in zsh, and the files after the first `=` of NAME=FILE where none begins as the whole word does.
const ZSH: &str = r#"_tensorop_files() {
    local before=$IPREFIX file
    local -a members
    if compset -P '*.(npz|safetensors|safetensors.index.json):'; then
        file=${${(Q)${IPREFIX#$before}}%:}
        [[ -f ${file/#\~\//$HOME/} ]] || file=${file#*=}
        members=(${(f)"$(_call_program members tensorop info --members -- ${(q)${file/#\~\//$HOME/}} 2>/dev/null)"})
        compadd -a members
    else
        _files || { compset -P 1 '*=' && _files }
    fi
}
"#;

const FISH: &str = r#"
function __fish_tensorop_file
    string match -r '^.*?\.(?:npz|safetensors|safetensors\.index\.json)(?=:)' -- (commandline -ct)
end

function __fish_tensorop_members
    set -l typed (__fish_tensorop_file)
    or return
    set -l file (string replace -r '^~/' "$HOME/" -- $typed)
    if not test -f $file
        set file (string replace -r '^[^=]*=' '' -- $file)
    end
    for name in (tensorop info --members -- $file 2>/dev/null)
        printf '%s:%s\n' $typed $name
    end
end

complete -c tensorop -n "not __fish_tensorop_needs_command; and __fish_tensorop_file >/dev/null" -f -a "(__fish_tensorop_members)"
"#;
