//! The options that choose tensors of whole containers and give them other names.

use std::borrow::Cow;
use std::sync::Arc;

use anyhow::{Result, bail, ensure};
use clap::{Arg, Args};

use super::operands::Operand;
use super::values::parse_glob;
use crate::command::messages::WholeMessage;
use crate::format::glob::{Glob, Rename};
use crate::format::name_filter::NameFilter;
use crate::format::name_order::{alike, list};
use crate::format::open::Input;

/// The options of commands that take whole containers. All patterns are matched with the names that tensors have in their
/// files.
#[derive(Args)]
#[command(next_help_heading = "Names")]
pub(crate) struct MemberOptions {
    #[command(flatten)]
    pub taken: TakenOptions,
    /// Give tensors of whole containers other names, such as 'model.*=*'
    ///
    /// Each * in NEW is replaced by the text that the same * in OLD matched, the first by the first and so on, as in
    /// 'encoder.*.attn.*.weight=enc.*.a.*.w'. NEW has as many * as OLD, or none. The first * of OLD matches as few characters
    /// as possible, then the next, and the last one the rest. Can be given several times: each rule changes the names that the
    /// rules before it have made, as sed -e A -e B does. A rule that matches no name is an error.
    #[arg(long, value_name = "OLD=NEW", value_parser = Rename::parse)]
    pub rename: Vec<Rename>,
}

/// The options that choose tensors of whole containers.
#[derive(Args)]
#[command(next_help_heading = "Names")]
pub(crate) struct TakenOptions {
    /// From whole containers take only tensors whose names match
    ///
    /// `*` matches any characters, including `/` and `.`, `?` matches one, [a-c] one of a set, {a,b} one of several patterns
    /// and {0..31} a number. Can be given several times. A pattern that matches nothing is an error.
    #[arg(long, value_name = "GLOB", value_parser = parse_glob)]
    pub only: Vec<Glob>,
    /// From whole containers leave out tensors whose names match, also if --only takes them
    #[arg(long, value_name = "GLOB", value_parser = parse_glob)]
    pub exclude: Vec<Glob>,
}

impl TakenOptions {
    /// Returns whether no option is given.
    pub(crate) fn is_empty(&self) -> bool {
        self.only.is_empty() && self.exclude.is_empty()
    }

    /// Returns the patterns, for tensors that keep their names.
    pub(crate) fn filter(&self) -> NameFilter<'_> {
        NameFilter { only: &self.only, exclude: &self.exclude, rename: &[] }
    }

    /// Returns whether a tensor of that name is taken.
    pub(crate) fn takes(&self, name: &str) -> bool {
        self.filter().takes(name)
    }

    /// Checks that each pattern of `--only` and `--exclude` matches one of `names`, or of the names `beside` them, which are
    /// other names of the same tensors and those of tensors that are left out. The message lists `names` alone.
    ///
    /// # Errors
    /// The first that matches none.
    pub(crate) fn check_names<S: AsRef<str>, B: AsRef<str>>(&self, names: &[S], beside: &[B]) -> Result<()> {
        for (option, globs) in [("--only", &self.only), ("--exclude", &self.exclude)] {
            let is_matched = |glob: &Glob| {
                names.iter().any(|name| glob.matches(name.as_ref()))
                    || beside.iter().any(|name| glob.matches(name.as_ref()))
            };
            if let Some(glob) = globs.iter().find(|glob| !is_matched(glob)) {
                let (text, names) = (glob.text(), names.iter().map(AsRef::as_ref).collect::<Vec<_>>());
                bail!("{option} {text}: matches no tensor of a whole container{}", meant(text, &names));
            }
        }
        Ok(())
    }
}

/// The choice among the tensors of one file after the other, by those who look at tensors.
pub(crate) struct MemberSelection<'a> {
    options: &'a TakenOptions,
    /// The names of all tensors that could be chosen so far.
    names: Vec<String>,
    /// What patterns may match beside them.
    beside: Vec<String>,
    /// How many were taken, also of those that are not chosen by their names.
    taken: usize,
    /// Whether a file was left out, whose names nobody knows.
    has_unknown: bool,
}

impl<'a> MemberSelection<'a> {
    /// Returns a choice before the first file.
    pub(crate) fn new(options: &'a TakenOptions) -> Self {
        Self { options, names: Vec::new(), beside: Vec::new(), taken: 0, has_unknown: false }
    }

    /// Opens a file by `open`, which is told what of a folder is wanted, and returns those of its tensors that are taken. A
    /// tensor without a name, or one that the operand names itself, is taken in any case. Of a file that holds no tensors
    /// nothing is returned.
    ///
    /// # Errors
    /// Those of `open`, and of [`Input::select`].
    pub(crate) fn open(
        &mut self,
        open: impl FnOnce(NameFilter<'_>) -> Result<Arc<Input>>,
    ) -> Result<(Arc<Input>, Option<Vec<usize>>)> {
        let options = self.options;
        let opened = open(options.filter()).and_then(|input| Ok((input.select()?, input)));
        let (mut selected, input) = opened.inspect_err(|_| self.has_unknown = true)?;
        let holds_any = !selected.is_empty();
        if !options.is_empty() && (input.member().is_none() || input.glob().is_some()) {
            self.names.extend(selected.iter().filter_map(|&n| input.name(n)).map(str::to_owned));
            self.beside.extend(input.names_beside());
            selected.retain(|&n| input.name(n).is_none() || input.is_taken(n, options.filter()));
        }
        self.taken += selected.len();
        Ok((input, holds_any.then_some(selected)))
    }

    /// Checks, when all of these files are open, that each pattern matches a tensor, and that one is left.
    ///
    /// # Errors
    /// The first pattern that matches none; no tensor that is taken.
    pub(crate) fn check(&self, files: &[Operand]) -> Result<()> {
        if self.options.is_empty() || self.has_unknown {
            // a file that could not be opened is an error already
            return Ok(());
        }
        self.options.check_names(&self.names, &self.beside)?;
        let labels = || files.iter().map(|file| &*file.label).collect::<Vec<_>>().join(", ");
        ensure!(self.taken > 0, "{}: --only and --exclude leave no tensor", labels());
        Ok(())
    }
}

/// The help of `--rename` in a comparison. Its first line is the short one.
const RENAME_EXPECTED: &str = "\
Give EXPECTED's tensors the names that they have in ACTUAL, such as 'model.*=*'

OLD is a name in EXPECTED, and NEW the one in ACTUAL; the names of ACTUAL stay. Each * in NEW is replaced by the text that the same * \
in OLD matched, the first by the first and so on, as in 'encoder.*.attn.*.weight=enc.*.a.*.w'. NEW has as many * as OLD, or none. \
The first * of OLD matches as few characters as possible, then the next, and the last one the rest. Can be given several times: \
each rule changes the names that the rules before it have made, as sed -e A -e B does, and a rule that matches no name is an error. \
--only, --exclude and GLOB= are matched with the new names.";

impl MemberOptions {
    /// Changes `--rename` to the option of a comparison, which renames the tensors of EXPECTED.
    pub(crate) fn renaming_expected(rename: Arg) -> Arg {
        let short = RENAME_EXPECTED.lines().next().unwrap_or_default();
        rename.help(short).long_help(RENAME_EXPECTED)
    }

    /// Returns whether no option is given.
    pub(crate) fn is_empty(&self) -> bool {
        self.taken.is_empty() && self.rename.is_empty()
    }

    /// Returns the patterns, which are matched with the names that tensors have after `--rename`.
    pub(crate) fn renaming_filter(&self) -> NameFilter<'_> {
        NameFilter { rename: &self.rename, ..self.taken.filter() }
    }

    /// Returns what a tensor of that name is called after `--rename`.
    pub(crate) fn renamed(&self, name: &str) -> String {
        self.renaming_filter().renamed(name).into_owned()
    }

    /// Checks that each rule of `--rename` matches one of `names` as the rules before it have changed them.
    ///
    /// # Errors
    /// The first that matches none.
    pub(crate) fn check_renames(&self, names: &[&str]) -> Result<()> {
        let Some((rename, names)) = self.first_unused(names) else { return Ok(()) };
        let (text, names) = (rename.text(), borrowed(&names));
        bail!("--rename {text}: matches no tensor of a whole container{}", meant(old_of(rename), &names))
    }

    /// Returns the first rule of `--rename` that matches no name when its turn comes, and the names at that time.
    fn first_unused<'n>(&self, names: &[&'n str]) -> Option<(&Rename, Vec<Cow<'n, str>>)> {
        let mut names: Vec<Cow<'n, str>> = names.iter().copied().map(Cow::Borrowed).collect();
        for rename in &self.rename {
            let mut is_used = false;
            for name in &mut names {
                if let Some(renamed) = rename.apply(name) {
                    *name = Cow::Owned(renamed);
                    is_used = true;
                }
            }
            if !is_used {
                return Some((rename, names));
            }
        }
        None
    }

    /// Checks that each rule of `--rename` matches a tensor of `expected`, whose names a comparison changes to those of
    /// `actual`, as the rules before it have changed them.
    ///
    /// # Errors
    /// The first that matches none. If it matches one of `actual`, the message says which side is changed, and how.
    pub(crate) fn check_renames_of_expected(&self, expected: &[&str], actual: &[&str]) -> Result<()> {
        let Some((rename, expected)) = self.first_unused(expected) else { return Ok(()) };
        let (text, old, expected) = (rename.text(), old_of(rename), &*borrowed(&expected));
        if !matches_any(rename, actual) {
            bail!("--rename {text}: matches no tensor of EXPECTED, whose names it changes{}", meant(old, expected));
        }
        let back = Rename::parse(&format!("{}={old}", &text[old.len() + 1..])).ok();
        let back = back.filter(|back| matches_any(back, expected));
        let cure = back.map_or_else(|| meant(old, expected), |back| format!(": use --rename '{}'", back.text()));
        bail!("--rename {text}: matches tensors of ACTUAL only, and it changes the names of EXPECTED{cure}")
    }
}

/// The tensors of whole containers that stop a command, each with the reason.
#[derive(Debug, Default)]
pub(crate) struct UnreadableMembers(Vec<(String, String)>);

impl UnreadableMembers {
    /// Adds the tensor of that name, and the reason why it stops the command.
    pub(crate) fn add(&mut self, name: &str, why: String) {
        self.0.push((name.to_owned(), why));
    }

    /// Returns an error that names all of them, and the options that leave them out, if there are any.
    ///
    /// # Errors
    /// That error.
    pub(crate) fn finish(self) -> Result<()> {
        let (names, reasons): (Vec<_>, Vec<_>) = self.0.into_iter().unzip();
        if names.is_empty() {
            return Ok(());
        }
        let is_plain = |c: char| c.is_alphanumeric() || "/._-:,+@%".contains(c);
        let option = |name: &String| match name.chars().all(is_plain) {
            true => format!("--exclude {name}"),
            false => format!("--exclude '{name}'"),
        };
        let leaves = if names.len() == 1 { "leaves it out" } else { "leave them out" };
        let options = names.iter().map(option).collect::<Vec<_>>().join(" ");
        Err(WholeMessage(format!("{}; {options} {leaves}", reasons.join("; "))).into())
    }
}

/// Returns the texts of names.
fn borrowed<'n>(names: &'n [Cow<'_, str>]) -> Vec<&'n str> {
    names.iter().map(|name| &**name).collect()
}

/// Returns whether a rule changes any of the names.
fn matches_any(rename: &Rename, names: &[&str]) -> bool {
    names.iter().any(|name| rename.apply(name).is_some())
}

/// Returns the pattern of the names that a rule changes.
fn old_of(rename: &Rename) -> &str {
    rename.text().split('=').next().unwrap_or_default()
}

/// Returns what a pattern that matches none of `names` may have meant, as the end of a message.
pub(crate) fn meant(pattern: &str, names: &[&str]) -> String {
    if names.iter().all(|name| name.is_empty()) {
        return String::new();
    }
    let letters: String = pattern.chars().filter(|letter| !"*?[]{}".contains(*letter)).collect();
    match &*alike(&letters, names) {
        [] => format!(": there are {}", list(names)),
        near => format!("; did you mean {}?", near.join(" or ")),
    }
}
