//! The check of the store that an output replaces.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use super::lost::{listed_attachments, lost_content};
use super::output::OutputTensor;
use crate::error::{Context, Result, counted};
use crate::format::content::Content;
use crate::format::file_options::NamedCopy;
use crate::format::name_order::list;
use crate::format::table::Format;
use crate::parallel::Threads;
use crate::storage::chunked::Chunked;
use crate::storage::source::{Container, Source};
use crate::storage::target::Target;

/// Refuses to replace a store if an operand or a copied array is in it, at any depth, and the output lacks some of its
/// arrays or files. The folder is listed again, because it may have changed since the operand was opened.
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
    let mut stay: HashSet<String> =
        kept.filter_map(|folder| Some(name_in_store(folder.strip_prefix(&path).ok()?))).collect();
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

/// Returns whether the data of a tensor are in the group that the output replaces. The output must then be a group,
/// too.
pub(super) fn replaces_own_group(target: &Target, tensors: &[OutputTensor]) -> bool {
    let Some(existing) = target.identity() else { return false };
    let path = target.canonical().ok().flatten();
    tensors.iter().map(|tensor| tensor.fill.data()).any(|data| {
        // A store that is itself an array is no group, although the array can be named as a member of the store.
        let is_below = |chunks: &Arc<dyn Chunked>| chunks.folder().is_some_and(|folder| Some(folder) != path);
        data.container().is_some_and(|container| container.file == existing) && data.as_chunks().is_some_and(is_below)
    })
}

fn name_in_store(path: &Path) -> String {
    path.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
}
