//! The sub-command `completions`: a script for each shell, and the candidates for the script.
//!
//! The candidates come from clap's completion engine. It knows sub-commands, options and their values; the completers here
//! add tensors of files, names of dimensions, and dtypes behind `GLOB=`. Where the program has no candidate, the shell
//! completes names of files.

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::sync::Arc;

use anyhow::{Context, Result};
use clap::{Arg, Args, Command, ValueHint};
use clap_complete::Shell;
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate, complete};

use super::options::SHELTER;
use super::process::io::{Io, Outcome};
use crate::container::names::NameFilter;
use crate::opening::collection;
use crate::opening::input::{Input, OpenOptions};
use crate::opening::located::{Located, Place};

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
    /// The words up to the cursor: print candidates for the last word
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
        let home = io.environment.home.as_deref();
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
                // bash replaces only the part of the word after the last break
                let current = words.last().map_or("", String::as_str);
                let is_break = |c: char| matches!(c, ':' | '=') && self.breaks.contains(c);
                let kept = current.rfind(is_break).map_or(0, |at| at + 1);
                let found = candidates(grammar, words.iter().map(OsString::from).collect(), home)?;
                let lines = found.iter().filter_map(|(value, _)| value.get(kept..));
                lines.map(|value| quoted(value) + "\n").collect()
            }
            (_, words) => {
                let new = self.new_word.then(String::new);
                let found =
                    candidates(grammar, words.iter().map(plain).chain(new).map(OsString::from).collect(), home)?;
                let line = |(value, help)| format!("{value}\t{help}\n");
                found.into_iter().map(line).collect()
            }
        };
        io.stdout.clone().write_all(text.as_bytes()).context("standard output")?;
        Ok(Outcome::Done)
    }
}

/// Returns the candidates for the last word, each with a line of help that may be empty.
fn candidates(grammar: Command, words: Vec<OsString>, home: Option<&str>) -> Result<Vec<(String, String)>> {
    let current = words.len() - 1;
    let is_empty = words[current].is_empty();
    let before = words[..current].iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let line = Arc::new(TypedLine { words: before, home: home.map(str::to_owned) });
    let mut grammar = grammar.mut_subcommands(|command| command.mut_args(|arg| line.completed(arg)));
    let found = complete(&mut grammar, words, current, None)?;
    let found = found.into_iter().map(|candidate| {
        let help = candidate.get_help().map(ToString::to_string).unwrap_or_default();
        let help = help.lines().next().unwrap_or_default().to_owned();
        (candidate.get_value().to_string_lossy().into_owned(), help)
    });
    // Options would hide the files, which most command lines go on with.
    Ok(found.filter(|(value, _)| !is_empty || !value.starts_with('-')).collect())
}

/// A command line up to the word at the cursor.
struct TypedLine {
    words: Vec<String>,
    /// The folder that `~` stands for.
    home: Option<String>,
}

impl TypedLine {
    /// Completes the values of an argument by their kind: a path, slices along dimensions, a pattern of names, or a dtype
    /// behind a pattern.
    fn completed(self: &Arc<Self>, arg: Arg) -> Arg {
        let name = arg.get_value_names().and_then(|names| Some(names.first()?.to_string())).unwrap_or_default();
        let is_path = !matches!(arg.get_value_hint(), ValueHint::Unknown | ValueHint::Other);
        match &*name {
            _ if is_path => self.with(arg, |line, word| line.members(word)),
            "GLOB" | "OLD=NEW" => self.with(arg, |line, word| prefixed(word, 0, line.tensors())),
            "[GLOB=]DTYPE" => {
                let dtypes: Vec<_> =
                    arg.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect();
                self.with(arg, move |line, word| {
                    let begin = word.rfind('=').map_or(0, |at| at + 1);
                    let names = if begin == 0 && !word.is_empty() { line.tensors() } else { Vec::new() };
                    prefixed(word, begin, dtypes.iter().cloned().chain(names.into_iter().map(|name| name + "=")))
                })
            }
            _ if name == "SLICES" || name.ends_with("DIM=N") => self.with(arg, |line, word| {
                let begin = word.rfind(',').map_or(0, |at| at + 1);
                prefixed(word, begin, line.dimensions().into_iter().map(|name| name + "="))
            }),
            _ => arg,
        }
    }

    fn with(
        self: &Arc<Self>,
        arg: Arg,
        complete: impl Fn(&Self, &str) -> Vec<CompletionCandidate> + Send + Sync + 'static,
    ) -> Arg {
        let line = Arc::clone(self);
        arg.add(ArgValueCompleter::new(move |word: &OsStr| complete(&line, &word.to_string_lossy())))
    }

    /// Returns the tensors of the file that a word names before a colon, as `FILE:NAME` or `NAME=FILE:NAME`.
    fn members(&self, word: &str) -> Vec<CompletionCandidate> {
        let files = word.match_indices(':').map(|(at, _)| &word[..at]);
        let Some((file, input)) = files.filter_map(|file| Some((file, self.opened(file)?))).next() else {
            return Vec::new();
        };
        prefixed(word, file.len() + 1, owned_names(&input))
    }

    /// Returns the names of the tensors in all files of the line.
    fn tensors(&self) -> Vec<String> {
        self.words.iter().filter_map(|word| self.opened(word)).flat_map(|input| owned_names(&input)).collect()
    }

    /// Returns the names of the dimensions of the first tensor that has any.
    fn dimensions(&self) -> Vec<String> {
        let names = |input: Input| {
            let all = 0..input.names().map_or(1, <[_]>::len);
            let mut wanted = input.member().and_then(|name| input.pick(Some(name)).ok()).map_or(all, |n| n..n + 1);
            wanted.find_map(|n| input.describe(n).ok()?.chunks?.dimension_names)
        };
        self.words.iter().filter_map(|word| self.opened(word)).find_map(names).into_iter().flatten().flatten().collect()
    }

    /// Opens the file or folder that a word names, perhaps behind `NAME=`; `None` if there is no such file. A pipe would
    /// block, and an address would take a request.
    fn opened(&self, word: &str) -> Option<Input> {
        let (_, located) = Located::from_named_argument(OsStr::new(&self.with_home(word)));
        let is_local = matches!(located.place, Place::File(_) | Place::Store(..) | Place::Folder(_));
        let options = OpenOptions::new(located.without_secrets());
        is_local.then(|| collection::open(&options, &located, NameFilter::default()).ok())?
    }

    fn with_home(&self, word: &str) -> String {
        match (&self.home, word.strip_prefix("~/")) {
            (None, _) => word.to_owned(),
            (Some(home), Some(rest)) => format!("{home}/{rest}"),
            (Some(home), None) => word.replacen("=~/", &format!("={home}/"), 1),
        }
    }
}

fn owned_names(input: &Input) -> Vec<String> {
    input.names().unwrap_or_default().to_vec()
}

/// Returns those values that begin with the part of a word from `begin` on, with the rest of the word put before them.
fn prefixed(word: &str, begin: usize, values: impl IntoIterator<Item = String>) -> Vec<CompletionCandidate> {
    let (kept, typed) = word.split_at(begin);
    let values = values.into_iter().filter(|value| value.starts_with(typed));
    values.map(|value| CompletionCandidate::new(format!("{kept}{value}"))).collect()
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
