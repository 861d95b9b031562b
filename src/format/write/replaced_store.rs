//! What would be lost if an output took the place of a store.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use super::lost::{listed_attachments, lost_content};
use super::output::OutputTensor;
use crate::error::{Context, Result, counted};
use crate::format::content::Content;
use crate::format::interface::NamedCopy;
use crate::format::name_order::list;
use crate::format::table::Format;
use crate::parallel::Threads;
use crate::storage::chunked::Chunked;
use crate::storage::source::{Container, Source};
use crate::storage::target::Target;

/// Refuses to replace a store in which an input lies, at whatever depth, if the output lacks some of its arrays or files. What
/// counts is what the folder holds now, and not what was listed when the input was opened. The arguments are those of
/// [`check_replaced`](super::replaced::check_replaced).
///
/// # Errors
/// The output would lack arrays or files; the store cannot be listed.
pub(super) fn check_replaced_store(
    target: &Target,
    tensors: &[OutputTensor],
    containers: &[Arc<Container>],
    copies: &[NamedCopy],
    left_out: &dyn Fn(&str) -> bool,
) -> Result<()> {
    let Some(path) = target.canonical()? else { return Ok(()) };
    let folder_of = |source: &Source| source.as_chunks().and_then(|chunks| chunks.folder());
    let inputs = tensors.iter().flat_map(|tensor| tensor.fill.operands()).filter_map(folder_of);
    let mut inputs = inputs.chain(copies.iter().filter_map(|copy| copy.array.folder()));
    let is_here = |container: &Arc<Container>| target.identity() == Some(container.file);
    if !inputs.any(|folder| folder.starts_with(&path)) && !containers.iter().any(is_here) {
        return Ok(());
    }
    let Some(format) = Format::from_folder(&path) else { return Ok(()) };
    let threads = tensors.first().map_or_else(Threads::default, |tensor| tensor.limits.threads);
    let store = format.open(Content::from_folder(&path, threads)).with_context(|| target.label())?;
    let names = store.names().unwrap_or_default();
    let kept = tensors.iter().filter_map(|tensor| folder_of(tensor.fill.data()));
    let kept = kept.chain(copies.iter().filter_map(|copy| copy.array.folder()));
    let mut stay: HashSet<String> = kept.filter_map(|folder| Some(name(folder.strip_prefix(&path).ok()?))).collect();
    if stay.contains("") {
        stay.extend(store.itself().and_then(|n| names.get(n)).cloned());
    }
    stay.extend(tensors.iter().filter_map(|tensor| tensor.name.clone()));
    let lost: Vec<&str> =
        names.iter().map(String::as_str).filter(|name| !stay.contains(*name) && !left_out(name)).collect();
    let tensors = || format!("{} ({})", counted(lost.len(), "more tensor", "more tensors"), list(&lost));
    let tensors = (!lost.is_empty()).then(tensors);
    lost_content(target, tensors, listed_attachments(store.attachments()).with_context(|| target.label())?)
}

/// Returns whether the output replaces a group that holds the data of one of the tensors, so that the output has to be a group.
pub(super) fn replaces_own_group(target: &Target, tensors: &[OutputTensor]) -> bool {
    let Some(existing) = target.identity() else { return false };
    let path = target.canonical().ok().flatten();
    tensors.iter().map(|tensor| tensor.fill.data()).any(|data| {
        // the array that a store itself is can be named as a member
        let is_below = |chunks: &Arc<dyn Chunked>| chunks.folder().is_some_and(|folder| Some(folder) != path);
        data.container().is_some_and(|container| container.file == existing) && data.as_chunks().is_some_and(is_below)
    })
}

/// Returns the name of an array at a path in a store.
fn name(path: &Path) -> String {
    path.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
}
