//! The advice that keeps the other tensors of a container.

use anyhow::anyhow;

use super::options::OutputOptions;
use crate::error::{Advice, Error};
use crate::format::colon::shown;
use crate::format::open::{Input, OpenOptions};
use crate::format::write::Work;
use crate::storage::target::Target;

/// Adds to the reason why an output would lose tensors of the container that it replaces the command that keeps them, and
/// `--in-place` where the operator and the format have that.
pub(super) fn keeping_others(
    error: Error,
    target: &Target,
    works: &[Work],
    options: &OutputOptions,
    is_edit: bool,
) -> anyhow::Error {
    let ([work], Some(Advice::KeepOthers), Some(path)) = (works, error.advice(), options.path()) else {
        return error.into();
    };
    let Ok(old) = OpenOptions::new(target.label()).open(path) else { return error.into() };
    let data = work.fill.data();
    let is_here = data.container().is_some_and(|container| target.identity() == Some(container.file));
    let member = data.member().filter(|_| is_here).or(work.name.as_deref()).unwrap_or("NAME");
    let in_place = if is_edit && is_here && old.format().unchangeable().is_none() { " (or --in-place)" } else { "" };
    anyhow!("{error}: {}{in_place}", put_back(&old, &shown(path), member))
}

/// Says how a new tensor is put into the container `file`, in place of the member of that name or beside the others.
pub(super) fn put_back(input: &Input, file: &str, member: &str) -> String {
    let compress = if input.is_compressed() { " --compress" } else { "" };
    let is_new = member != "NAME" && input.names().is_some_and(|names| !names.contains(&member));
    let add = if is_new { " --add" } else { "" };
    let quoted = |word: String| {
        let is_plain = |c: char| c.is_alphanumeric() || "/._-=:,+@%".contains(c);
        if word.chars().all(is_plain) { word } else { format!("'{}'", word.replace('\'', r"'\''")) }
    };
    let (archive, renewed) = (quoted(file.to_owned()), quoted(format!("{member}=NEW.npy")));
    format!("make NEW.npy with -o NEW.npy, then tensorop convert {archive} {renewed}{add} -o {archive}{compress}")
}
