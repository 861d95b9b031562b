//! Checks of the file or index that an output replaces.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use super::lost::{listed_attachments, lost_content};
use super::output::OutputTensor;
use super::replaced_store::check_replaced_store;
use crate::error::{Advice, Context, Error, ErrorKind, Result, counted};
use crate::format::file_options::NamedCopy;
use crate::format::name_order::list;
use crate::storage::chunked::Chunked;
use crate::storage::source::{Container, Source};
use crate::storage::target::Target;

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
    let names = shards.flat_map(|shard| &shard.names).chain(listed);
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
pub(super) fn check_replaced(
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
