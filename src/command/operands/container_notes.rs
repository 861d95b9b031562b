//! Notes on containers: advice that keeps the other tensors, content that is not copied, tensors that cannot be read.

use std::collections::HashMap;

use anyhow::anyhow;

use super::member::Member;
use crate::command::messages::{argument_error, counted, reason};
use crate::command::options::OutputOptions;
use crate::command::process::io::{Outcome, Run, complain, note};
use crate::container::names::list;
use crate::error::{Advice, Error};
use crate::opening::input::{Input, OpenOptions};
use crate::opening::located::{Located, path_without_secrets};
use crate::opening::table::Format;
use crate::storage::targets::stream::OutputStream;
use crate::storage::targets::target::Target;
use crate::writing::OutputTensor;

/// The placeholder for the name of a member in advice.
pub(crate) const ANY_MEMBER: &str = "NAME";

const MAX_NAMED: usize = 8;

/// The members of an output, for the advice of a refusal.
pub(crate) struct OutputMembers {
    names: Option<Vec<String>>,
    /// Whether the data of every tensor is in the replaced file.
    are_replaced: bool,
}

impl OutputMembers {
    pub(crate) fn of(tensors: &[OutputTensor], format: Format, target: &Target) -> Self {
        let is_here = |tensor: &OutputTensor| {
            tensor.fill.data().container().is_some_and(|container| target.identity() == Some(container.file))
        };
        let name = |tensor: &OutputTensor| {
            let own = tensor.name.as_deref().or(tensor.fill.data().member());
            // A container gives this name to a single tensor without a name.
            own.or(format.is_container().then_some("arr_0")).map(str::to_owned)
        };
        let mut names: Option<Vec<_>> = tensors.iter().map(name).collect();
        names.iter_mut().for_each(|names| names.sort());
        Self { names, are_replaced: tensors.iter().all(is_here) }
    }

    /// Appends the command that would keep the other tensors of the replaced container. `is_edit` allows `--in-place`
    /// in the advice.
    pub(crate) fn explain(self, error: Error, label: &str, options: &OutputOptions, is_edit: bool) -> anyhow::Error {
        let (Some(Advice::KeepOthers), Some(path), Some(names)) = (error.advice(), options.path(), self.names) else {
            return argument_error(error);
        };
        let old = OpenOptions::new(label).open(&Located::from_path(path)).ok().filter(|_| names.len() <= MAX_NAMED);
        let Some(old) = old.filter(|_| !names.is_empty()) else { return error.into() };
        let in_place = is_edit && self.are_replaced && old.format().unchangeable().is_none();
        let in_place = if in_place { " (or --in-place)" } else { "" };
        anyhow!("{error}: {}{in_place}", put_back(&old, &path_without_secrets(path), &names))
    }
}

/// Prints the names of attachments, which are not copied with the tensors.
pub(crate) fn tell_what_stayed(run: Run<'_>, input: &Input) -> anyhow::Result<()> {
    if run.quiet {
        return Ok(());
    }
    // The tensors are written already, so a failure to list attachments does not fail the command.
    let names = input.members().attachments.as_ref().and_then(|attachments| attachments.listed().ok());
    let Some(names) = names.filter(|names| !names.is_empty()) else { return Ok(()) };
    let verb = if names.len() == 1 { "is not a tensor, and is" } else { "are not tensors, and are" };
    let line = format!("{}: {} {verb} not copied", input.label(), list(names));
    note(&run.io.stderr, &line)
}

/// Returns the command that puts new tensors into a container.
pub(crate) fn put_back(input: &Input, file: &str, members: &[String]) -> String {
    let compress = if input.members().is_compressed { " --compress" } else { "" };
    let is_old = |member: &String| member == ANY_MEMBER || input.names().is_none_or(|names| names.contains(member));
    let add = if members.iter().all(is_old) { "" } else { " --add" };
    let quoted = |word: String| {
        let is_plain = |c: char| c.is_alphanumeric() || "/._-=:,+@%".contains(c);
        if word.chars().all(is_plain) { word } else { format!("'{}'", word.replace('\'', r"'\''")) }
    };
    let archive = quoted(file.to_owned());
    let (new, renewed) = match members {
        [member] => ("NEW.npy".to_owned(), quoted(format!("{member}=NEW.npy"))),
        several => {
            let new = format!("NEW.{}", input.format().extension());
            let renewed = several.iter().map(|member| quoted(format!("{member}={new}:{member}")));
            (new.clone(), renewed.collect::<Vec<_>>().join(" "))
        }
    };
    format!("make {new} with -o {new}, then tensorop convert {archive} {renewed}{add} -o {archive}{compress}")
}

/// Files with a line each. If there are more, as in a model without its shards, only the first has one.
const MAX_FILES: usize = 20;

#[derive(Default)]
pub(crate) struct Failures(Vec<(Member, anyhow::Error)>);

impl Failures {
    pub(crate) fn add(&mut self, member: Member, error: anyhow::Error) {
        self.0.push((member, error));
    }

    pub(crate) fn extend(&mut self, others: Self) {
        self.0.extend(others.0);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (usize, String)> {
        self.0.iter().map(|(Member { n, label, .. }, error)| (*n, reason(error, label)))
    }

    pub(crate) fn complain(self, input: &Input, stderr: &OutputStream) -> Outcome {
        let mut numbers: HashMap<usize, usize> = HashMap::new();
        let mut files: Vec<Vec<(Member, anyhow::Error)>> = Vec::new();
        for (member, error) in self.0 {
            let next = files.len();
            let at = *numbers.entry(input.members().file_number(member.n)).or_insert(next);
            if at == next {
                files.push(Vec::new());
            }
            files[at].push((member, error));
        }
        let more = files.len().saturating_sub(MAX_FILES);
        let shown = if more > 0 { 1 } else { files.len() };
        let count = files.len() - shown;
        let lines = files.into_iter().take(shown).map(|failed| match line(input, failed) {
            error if count == 0 => error,
            error => anyhow!("{error} (and {count} more files)"),
        });
        lines.fold(Outcome::Done, |_, error| complain(stderr, &error))
    }
}

fn line(input: &Input, mut failed: Vec<(Member, anyhow::Error)>) -> anyhow::Error {
    if failed.len() == 1 {
        return failed.swap_remove(0).1;
    }
    let reasons: Vec<_> = failed.iter().map(|(member, error)| reason(error, &member.label)).collect();
    let names: Vec<_> = failed.iter().filter_map(|(member, _)| member.name()).collect();
    let (count, label) = (counted(failed.len(), "tensor", "tensors"), input.label());
    // if reasons differ, only the first is given, with its tensor
    let whose = match names.first().filter(|_| reasons.iter().any(|reason| *reason != reasons[0])) {
        Some(name) => format!("; {name:?}"),
        None => String::new(),
    };
    anyhow!("{label}: {count} cannot be read ({}){whose}: {}", list(&names), reasons[0])
}
