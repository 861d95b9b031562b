//! Checks of the file, index or store that an output replaces, and errors about content that would be lost.

use std::collections::{BTreeSet, HashSet};
use std::path::Path;
use std::sync::Arc;

use super::output::OutputTensor;
use crate::container::content::Content;
use crate::container::file_options::NamedCopy;
use crate::container::name_order::list;
use crate::opening::table::Format;
use crate::storage::attachments::Attachments;
use crate::storage::chunked::Chunked;
use crate::storage::source::{Container, Source};
use crate::storage::targets::target::Target;
use tensorop_kernels::error::{Advice, Context, Error, ErrorKind, Result, counted};
use tensorop_kernels::parallel::Threads;

/// Refuses to replace an index by an output without some of its tensors. The check applies only if an input comes from
/// the index, or from a shard that is removed (`is_removed`). Then the output must have all tensors that the index
/// lists (`listed`) and all tensors in the shards of such inputs, except tensors that are `left_out`.
///
/// # Errors
/// The output would lack tensors.
pub fn check_replaced_index(
    target: &Target,
    listed: &[String],
    is_removed: &dyn Fn(&Container) -> bool,
    tensors: &[OutputTensor],
    left_out: &dyn Fn(&str) -> bool,
) -> Result<()> {
    let Some(existing) = target.identity() else { return Ok(()) };
    let named: HashSet<_> = tensors.iter().filter_map(|tensor| tensor.name.as_deref()).collect();
    let sources: Vec<_> = tensors.iter().flat_map(|tensor| tensor.fill.operands()).collect();
    let stay: HashSet<_> = sources.iter().filter_map(|source| source.member()).collect();
    let shards = sources.iter().filter_map(|source| source.container());
    let mut shards = shards.filter(|shard| shard.index == Some(existing) || is_removed(shard)).peekable();
    if shards.peek().is_none() {
        return Ok(());
    }
    let names = shards.flat_map(|shard| shard.names.iter()).chain(listed);
    let is_lost = |name: &&String| !stay.contains(name.as_str()) && !named.contains(name.as_str()) && !left_out(name);
    let lost: BTreeSet<_> = names.filter(is_lost).map(String::as_str).collect();
    if lost.is_empty() {
        return Ok(());
    }
    let lost: Vec<_> = lost.into_iter().collect();
    let tensors = counted(lost.len(), "more tensor", "more tensors");
    let message = format!("names {tensors}, which would be lost ({})", list(&lost));
    Err(Error::from_kind(ErrorKind::Unsupported, message).within(target.label()).advising(Advice::KeepOthers))
}

/// Refuses to replace a file with an operand in it if the output lacks tensors of the file: most likely the user took
/// the file for a file of one tensor. A tensor is not lost if it is written under any name, if another tensor takes its
/// name, or if it is `left_out`. `containers` are the containers of all operands, see [`Replaced`](super::Replaced).
/// Attachments are always lost, because no writer writes them. For a store, see [`check_replaced_store`].
pub(crate) fn check_replaced(
    target: &Target,
    tensors: &[OutputTensor],
    containers: &[Arc<Container>],
    copies: &[NamedCopy],
    left_out: &dyn Fn(&str) -> bool,
) -> Result<()> {
    let Some(existing) = target.identity() else { return Ok(()) };
    if let Target::Folder(_) = target {
        return check_replaced_store(target, tensors, containers, copies, left_out);
    }
    let refuse = |message: String| Err(Error::from_kind(ErrorKind::Unsupported, message).within(target.label()));
    let inputs = || tensors.iter().flat_map(|tensor| tensor.fill.operands());
    let is_index = |container: &Container| container.index == Some(existing);
    let is_replaced = |chunks: &Arc<dyn Chunked>| chunks.store_identity().is_ok_and(|store| store == existing);
    if !target.keeps_what_it_replaces() && inputs().filter_map(Source::as_chunks).any(is_replaced) {
        return refuse("is both an operand and the output, and a bucket cannot keep both".to_owned());
    }
    if inputs().filter_map(Source::container).any(is_index) {
        return refuse("is the index of other files, and would be lost: choose another file".to_owned());
    }
    let is_in_file = |source: &&Source| source.container().is_some_and(|container| container.file == existing);
    let of_operand = containers.iter().map(|container| &**container).find(|container| container.file == existing);
    let of_input = || inputs().find(is_in_file).and_then(Source::container);
    let Some(container) = of_operand.or_else(of_input) else { return Ok(()) };
    if let Some(why) = container.unwritten {
        return refuse(format!("{why}: choose another file"));
    }
    let data = tensors.iter().map(|tensor| tensor.fill.data());
    let mut stay: HashSet<&str> = data.filter(is_in_file).filter_map(Source::member).collect();
    stay.extend(tensors.iter().filter_map(|tensor| tensor.name.as_deref()));
    let lost = container.names.iter().filter(|name| !stay.contains(name.as_str()) && !left_out(name)).count();
    let tensors = (lost > 0).then(|| counted(lost, "more tensor", "more tensors"));
    let attachments = listed_attachments(container.attachments.as_ref()).with_context(|| target.label())?;
    lost_content(target, tensors, attachments)
}

pub(crate) fn lost_content(target: &Target, tensors: Option<String>, attachments: Option<String>) -> Result<()> {
    let refuse = |message: String| Err(Error::from_kind(ErrorKind::Unsupported, message).within(target.label()));
    match (tensors, attachments) {
        (None, None) => Ok(()),
        (Some(tensors), None) => {
            let message = format!("holds {tensors}, which would be lost");
            Err(Error::from_kind(ErrorKind::Unsupported, message).within(target.label()).advising(Advice::KeepOthers))
        }
        (None, Some(attachments)) => refuse(lost_attachments(&attachments)),
        (Some(tensors), Some(attachments)) => refuse(lost_attachments(&format!("{tensors} and {attachments}"))),
    }
}

/// Refuses to rewrite a container with attachments, because no writer writes attachments.
///
/// # Errors
/// The container has attachments, or they cannot be listed.
pub fn check_attachments(attachments: Option<&Arc<dyn Attachments>>) -> Result<()> {
    match listed_attachments(attachments)? {
        None => Ok(()),
        Some(attachments) => Err(Error::from_kind(ErrorKind::Unsupported, lost_attachments(&attachments))),
    }
}

pub(crate) fn listed_attachments(attachments: Option<&Arc<dyn Attachments>>) -> Result<Option<String>> {
    let names = attachments.map_or(Ok(&[][..]), |attachments| attachments.names())?;
    let text = || list(names);
    Ok(match names.len() {
        0 => None,
        1 => Some(format!("{}, not a tensor", text())),
        _ => Some(format!("{}, not tensors", text())),
    })
}

fn lost_attachments(content: &str) -> String {
    format!("holds {content}, which would be lost: choose another file")
}

/// Refuses to replace a store if an operand or a copied array is in it, at any depth, and the output lacks some of its
/// arrays or files. The folder is listed again, because it may have changed since the operand was opened.
pub(crate) fn check_replaced_store(
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
    let (members, names) = (&store.members, store.members.names().unwrap_or_default());
    let kept = tensors.iter().filter_map(|tensor| folder_of(tensor.fill.data()));
    let kept = kept.chain(copies.iter().filter_map(|copy| copy.array.folder()));
    let mut stay: HashSet<String> =
        kept.filter_map(|folder| Some(name_in_store(folder.strip_prefix(&path).ok()?))).collect();
    if stay.contains("") {
        stay.extend(members.itself.and_then(|n| names.get(n)).cloned());
    }
    stay.extend(tensors.iter().filter_map(|tensor| tensor.name.clone()));
    let lost: Vec<&str> =
        names.iter().map(String::as_str).filter(|name| !stay.contains(*name) && !left_out(name)).collect();
    let tensors = || format!("{} ({})", counted(lost.len(), "more tensor", "more tensors"), list(&lost));
    let tensors = (!lost.is_empty()).then(tensors);
    lost_content(target, tensors, listed_attachments(members.attachments.as_ref()).with_context(|| target.label())?)
}

/// Returns whether the data of a tensor are in the group that the output replaces. The output must then be a group,
/// too.
pub(crate) fn replaces_own_group(target: &Target, tensors: &[OutputTensor]) -> bool {
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
