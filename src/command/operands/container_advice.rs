//! Advice that keeps the other tensors of a container, and the note on content that is not copied.

use anyhow::anyhow;

use crate::command::messages::argument_error;
use crate::command::options::OutputOptions;
use crate::command::process::io::{Run, note};
use crate::container::name_order::list;
use crate::error::{Advice, Error};
use crate::opening::input::{Input, OpenOptions};
use crate::opening::located::{Located, path_without_secrets};
use crate::opening::table::Format;
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
