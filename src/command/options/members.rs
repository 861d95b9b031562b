//! The options that select and rename tensors of containers.

use std::borrow::Cow;
use std::sync::Arc;

use anyhow::{Result, bail, ensure};
use clap::{Arg, Args};

use super::operands::Operand;
use super::values::parse_glob;
use crate::command::messages::WholeMessage;
use crate::container::glob::{Glob, Rename};
use crate::container::names::{NameFilter, alike, by_numbers, list};
use crate::opening::input::Input;

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
    pub(crate) fn is_empty(&self) -> bool {
        self.only.is_empty() && self.exclude.is_empty()
    }

    pub(crate) fn filter(&self) -> NameFilter<'_> {
        NameFilter { only: &self.only, exclude: &self.exclude, rename: &[] }
    }

    pub(crate) fn takes(&self, name: &str) -> bool {
        self.filter().takes(name)
    }

    /// `beside` has other names of the same tensors, and names of excluded ones.
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

pub(crate) struct MemberSelection<'a> {
    options: &'a TakenOptions,
    /// Whether tensors are sorted by name.
    is_by_name: bool,
    names: Vec<String>,
    beside: Vec<String>,
    taken: usize,
    /// Whether a file could not be opened.
    has_unknown: bool,
}

impl<'a> MemberSelection<'a> {
    pub(crate) fn new(options: &'a TakenOptions, is_by_name: bool) -> Self {
        Self { options, is_by_name, names: Vec::new(), beside: Vec::new(), taken: 0, has_unknown: false }
    }

    /// A tensor without a name, or one that the operand names, is always selected. A file without tensors has no list.
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
        if let (Some(names), true) = (input.names(), self.is_by_name) {
            selected.sort_by(|&a, &b| by_numbers(&names[a], &names[b]));
        }
        self.taken += selected.len();
        Ok((input, holds_any.then_some(selected)))
    }

    pub(crate) fn check(&self, files: &[Operand]) -> Result<()> {
        if self.options.is_empty() || self.has_unknown {
            // the file that could not be opened is an error already
            return Ok(());
        }
        self.options.check_names(&self.names, &self.beside)?;
        let labels = || files.iter().map(|file| &*file.label).collect::<Vec<_>>().join(", ");
        ensure!(self.taken > 0, "{}: --only and --exclude leave no tensor", labels());
        Ok(())
    }
}

/// The first line is the short help of `--rename`.
const RENAME_EXPECTED: &str = "\
Give EXPECTED's tensors the names that they have in ACTUAL, such as 'model.*=*'

OLD is a name in EXPECTED, and NEW the one in ACTUAL; the names of ACTUAL stay. Each * in NEW is replaced by the text that the same * \
in OLD matched, the first by the first and so on, as in 'encoder.*.attn.*.weight=enc.*.a.*.w'. NEW has as many * as OLD, or none. \
The first * of OLD matches as few characters as possible, then the next, and the last one the rest. Can be given several times: \
each rule changes the names that the rules before it have made, as sed -e A -e B does, and a rule that matches no name is an error. \
--only, --exclude and GLOB= are matched with the new names.";

impl MemberOptions {
    pub(crate) fn renaming_expected(rename: Arg) -> Arg {
        let short = RENAME_EXPECTED.lines().next().unwrap_or_default();
        rename.help(short).long_help(RENAME_EXPECTED)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.taken.is_empty() && self.rename.is_empty()
    }

    pub(crate) fn renaming_filter(&self) -> NameFilter<'_> {
        NameFilter { rename: &self.rename, ..self.taken.filter() }
    }

    pub(crate) fn renamed(&self, name: &str) -> String {
        self.renaming_filter().renamed(name).into_owned()
    }

    /// Each rule must match the names that the rules before it made.
    pub(crate) fn check_renames(&self, names: &[&str]) -> Result<()> {
        let Some((rename, names)) = self.first_unused(names) else { return Ok(()) };
        let (text, names) = (rename.text(), borrowed(&names));
        bail!("--rename {text}: matches no tensor of a whole container{}", meant(old_of(rename), &names))
    }

    /// Also returns the names that the rules before it made.
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

#[derive(Debug, Default)]
pub(crate) struct UnreadableMembers(Vec<(String, String)>);

impl UnreadableMembers {
    pub(crate) fn add(&mut self, name: &str, why: String) {
        self.0.push((name.to_owned(), why));
    }

    /// The error names the `--exclude` options that leave them out.
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

fn borrowed<'n>(names: &'n [Cow<'_, str>]) -> Vec<&'n str> {
    names.iter().map(|name| &**name).collect()
}

fn matches_any(rename: &Rename, names: &[&str]) -> bool {
    names.iter().any(|name| rename.apply(name).is_some())
}

fn old_of(rename: &Rename) -> &str {
    rename.text().split('=').next().unwrap_or_default()
}

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
