//! The sub-command `completions`: a script for each shell, and the candidates that the script asks for.
//!
//! The candidates come from clap's completion engine. It knows sub-commands, options and their values; the completers here
//! add tensors of files, names of dimensions, and dtypes behind `GLOB=`. Where the program has no candidate, the shell
//! completes names of files.

use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};
use clap::{Arg, Args, Command, ValueHint};
use clap_complete::Shell;
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate, complete};

use super::io::{Io, Outcome};
use super::options::SHELTER;
use crate::format::collection;
use crate::format::located::Located;
use crate::format::name_filter::NameFilter;
use crate::format::open::{Input, OpenOptions};
use crate::storage::requests::as_address;

/// Print a completion script for a shell
#[derive(Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Completions {
    /// The shell
    #[arg(value_enum)]
    pub shell: Shell,
    /// The text of the command line up to the cursor, which says where bash has divided a word
    #[arg(long, hide = true, allow_hyphen_values = true)]
    pub line: Option<String>,
    /// The characters at which bash divides words
    #[arg(long, hide = true, allow_hyphen_values = true, default_value = "")]
    pub breaks: String,
    /// The word at the cursor is empty, and not among the words
    #[arg(long, hide = true)]
    pub new_word: bool,
    /// The words up to the cursor: print candidates for the last of them
    #[arg(last = true, hide = true)]
    pub words: Vec<OsString>,
}

const EXAMPLES: &str = "\
Examples:
  tensorop completions bash > ~/.local/share/bash-completion/completions/tensorop
  tensorop completions zsh > ~/.zfunc/_tensorop        # in a folder of $fpath
  tensorop completions fish > ~/.config/fish/completions/tensorop.fish
  tensorop completions powershell >> $PROFILE
  tensorop completions elvish >> ~/.config/elvish/rc.elv";

impl Completions {
    pub(super) fn run(&self, io: &Io, grammar: Command) -> Result<Outcome> {
        let plain = |word: &OsString| word.to_string_lossy().replace(SHELTER, "");
        let text = match (self.shell, &*self.words) {
            (Shell::Bash, []) => include_str!("../../completions/tensorop.bash").to_owned(),
            (Shell::Zsh, []) => include_str!("../../completions/_tensorop").to_owned(),
            (Shell::Fish, []) => include_str!("../../completions/tensorop.fish").to_owned(),
            (Shell::PowerShell, []) => include_str!("../../completions/_tensorop.ps1").to_owned(),
            (Shell::Elvish, []) => include_str!("../../completions/tensorop.elv").to_owned(),
            (Shell::Bash, words) => {
                let words: Vec<_> = words.iter().map(plain).collect();
                let words = joined(&words, self.line.as_deref().unwrap_or_default());
                let words: Vec<_> = words.iter().map(|word| unquoted(word)).collect();
                // bash replaces the part of the word after the last of these characters
                let current = words.last().map_or("", String::as_str);
                let is_break = |c: char| matches!(c, ':' | '=') && self.breaks.contains(c);
                let kept = current.rfind(is_break).map_or(0, |at| at + 1);
                let found = candidates(grammar, words.iter().map(OsString::from).collect())?;
                let lines = found.iter().filter_map(|(value, _)| value.get(kept..));
                lines.map(|value| quoted(value) + "\n").collect()
            }
            (_, words) => {
                let new = self.new_word.then(String::new);
                let found = candidates(grammar, words.iter().map(plain).chain(new).map(OsString::from).collect())?;
                let line = |(value, help)| format!("{value}\t{help}\n");
                found.into_iter().map(line).collect()
            }
        };
        io.stdout.clone().write_all(text.as_bytes()).context("standard output")?;
        Ok(Outcome::Done)
    }
}

/// Returns the candidates for the last of the words, each with a line of help that may be empty.
fn candidates(grammar: Command, words: Vec<OsString>) -> Result<Vec<(String, String)>> {
    let current = words.len() - 1;
    let is_empty = words[current].is_empty();
    let typed: Arc<[String]> = words[..current].iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let mut grammar =
        grammar.mut_subcommands(|command| command.mut_args(|arg| with_completer(arg, Arc::clone(&typed))));
    let found = complete(&mut grammar, words, current, None)?;
    let found = found.into_iter().map(|candidate| {
        let help = candidate.get_help().map(ToString::to_string).unwrap_or_default();
        let help = help.lines().next().unwrap_or_default().to_owned();
        (candidate.get_value().to_string_lossy().into_owned(), help)
    });
    // Options would hide the files, which most command lines go on with.
    Ok(found.filter(|(value, _)| !is_empty || !value.starts_with('-')).collect())
}

/// Returns an argument whose values are completed by its kind: a path, a pattern of names, slices along dimensions, a dtype
/// behind a pattern. `typed` has the words before.
fn with_completer(arg: Arg, typed: Arc<[String]>) -> Arg {
    let name = arg.get_value_names().and_then(|names| Some(names.first()?.to_string())).unwrap_or_default();
    let is_path = !matches!(arg.get_value_hint(), ValueHint::Unknown | ValueHint::Other);
    if is_path {
        return arg.add(ArgValueCompleter::new(|word: &std::ffi::OsStr| members(&word.to_string_lossy())));
    }
    let has_dims = name == "SLICES" || name.ends_with("DIM=N");
    if has_dims {
        return arg.add(ArgValueCompleter::new(move |word: &std::ffi::OsStr| {
            let word = word.to_string_lossy();
            let begin = word.rfind(',').map_or(0, |at| at + 1);
            prefixed(&word, begin, dimensions(&typed).into_iter().map(|name| name + "="))
        }));
    }
    if name == "GLOB" || name == "OLD=NEW" {
        return arg.add(ArgValueCompleter::new(move |word: &std::ffi::OsStr| {
            prefixed(&word.to_string_lossy(), 0, tensors(&typed))
        }));
    }
    if name == "[GLOB=]DTYPE" {
        let dtypes: Vec<_> = arg.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect();
        return arg.add(ArgValueCompleter::new(move |word: &std::ffi::OsStr| {
            let word = word.to_string_lossy();
            let begin = word.rfind('=').map_or(0, |at| at + 1);
            let names = tensors(&typed).into_iter().filter(|_| begin == 0 && !word.is_empty()).map(|name| name + "=");
            prefixed(&word, begin, dtypes.iter().cloned().chain(names))
        }));
    }
    arg
}

/// Returns those values that begin with the part of a word from `begin` on, with the rest of the word put before them.
fn prefixed(word: &str, begin: usize, values: impl IntoIterator<Item = String>) -> Vec<CompletionCandidate> {
    let (kept, typed) = word.split_at(begin);
    let values = values.into_iter().filter(|value| value.starts_with(typed));
    values.map(|value| CompletionCandidate::new(format!("{kept}{value}"))).collect()
}

/// Returns the tensors of the file that a word names before a colon, as `FILE:NAME` or `NAME=FILE:NAME`.
fn members(word: &str) -> Vec<CompletionCandidate> {
    let files = word.match_indices(':').map(|(at, _)| &word[..at]);
    let Some((file, input)) = files.filter_map(|file| Some((file, opened(file)?))).next() else { return Vec::new() };
    let names = input.names().into_iter().flatten().map(str::to_owned);
    prefixed(word, file.len() + 1, names)
}

/// Returns the names of the tensors in all files of a command line.
fn tensors(typed: &[String]) -> Vec<String> {
    let inputs = typed.iter().filter_map(|word| opened(word));
    inputs
        .flat_map(|input| input.names().unwrap_or_default().into_iter().map(str::to_owned).collect::<Vec<_>>())
        .collect()
}

/// Returns the names of the dimensions of the first tensor of a command line that has any.
fn dimensions(typed: &[String]) -> Vec<String> {
    let names = |input: Input| {
        let all = 0..input.names().map_or(1, |names| names.len());
        let mut wanted = input.member().and_then(|name| input.pick(Some(name)).ok()).map_or(all, |n| n..n + 1);
        wanted.find_map(|n| input.describe(n).ok()?.chunks?.dimension_names)
    };
    typed.iter().filter_map(|word| opened(word)).find_map(names).into_iter().flatten().flatten().collect()
}

/// Opens the file or folder that a word names, perhaps behind `NAME=` or `~/`; `None` if there is none. No server is asked.
fn opened(word: &str) -> Option<Input> {
    let whole = with_home(word);
    let behind_name = || with_home(word.split_once('=').map_or("", |(_, file)| file));
    let located =
        [whole, behind_name()].into_iter().filter(|path| !path.is_empty() && as_address(Path::new(path)).is_none());
    let located = located.map(Located::from_path).find(|located| located.file().is_some())?;
    collection::open(&OpenOptions::new(located.without_secrets()), &located, NameFilter::default()).ok()
}

fn with_home(path: &str) -> String {
    match (path.strip_prefix("~/"), std::env::var("HOME")) {
        (Some(rest), Ok(home)) => format!("{home}/{rest}"),
        _ => path.to_owned(),
    }
}

/// Joins the words that bash has divided at `:` or `=`: between them the line has no blank.
fn joined(words: &[String], line: &str) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    let mut end = 0;
    for word in words {
        let begin = line[end..].find(word.as_str()).map(|at| end + at);
        match (begin, all.last_mut()) {
            (Some(begin), Some(last)) if begin == end && !word.is_empty() => last.push_str(word),
            _ => all.push(word.clone()),
        }
        end = begin.map_or(end, |begin| begin + word.len());
    }
    all
}

/// Returns a word of a shell without its quotes and backslashes.
fn unquoted(word: &str) -> String {
    let (mut out, mut quote, mut chars) = (String::with_capacity(word.len()), None, word.chars());
    while let Some(c) = chars.next() {
        match (c, quote) {
            ('\\', None | Some('"')) => out.extend(chars.next()),
            ('\'' | '"', None) => quote = Some(c),
            (_, Some(open)) if c == open => quote = None,
            _ => out.push(c),
        }
    }
    out
}

/// Returns a word as bash reads it back, with a backslash before each character that is special to it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || !c.is_ascii() || "-_./:=,+@%^".contains(c);
    let each = |c: char| [Some('\\').filter(|_| !is_plain(c)), Some(c)].into_iter().flatten();
    word.chars().flat_map(each).collect()
}
