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

/// Refuses to replace an index if an input comes from it or from a removed shard (`is_removed`), and the output lacks
/// tensors of the index (`listed`) or of that input's shard.
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

/// Refuses to replace a file of several tensors by a file without some of them if one of them is an input: most likely
/// the user took the file for the one tensor. A tensor is kept if it is written under any name, if another takes its
/// name, if it is one of `copies`, or if it is `left_out`. `containers` are those of operands that the output may have
/// no trace of, such as lists of indices. Attachments are always lost, because no writer writes them.
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
    let is_in = |chunks: &Arc<dyn Chunked>| chunks.store_identity().is_ok_and(|store| store == existing);
    if !target.keeps_what_it_replaces() && inputs().filter_map(Source::as_chunks).any(is_in) {
        return refuse("is both an operand and the output, and a bucket cannot keep both".to_owned());
    }
    if inputs().filter_map(Source::container).any(is_index) {
        return refuse("is the index of other files, and would be lost: choose another file".to_owned());
    }
    let here = |source: &&Source| source.container().is_some_and(|container| container.file == existing);
    let of_operand = containers.iter().map(|container| &**container).find(|container| container.file == existing);
    let of_input = || inputs().find(here).and_then(Source::container);
    let Some(container) = of_operand.or_else(of_input) else { return Ok(()) };
    if let Some(why) = container.unwritten {
        return refuse(format!("{why}: choose another file"));
    }
    let data = tensors.iter().map(|tensor| tensor.fill.data());
    let mut stay: HashSet<&str> = data.filter(here).filter_map(Source::member).collect();
    stay.extend(tensors.iter().filter_map(|tensor| tensor.name.as_deref()));
    let lost = container.names.iter().filter(|name| !stay.contains(name.as_str()) && !left_out(name)).count();
    let tensors = (lost > 0).then(|| counted(lost, "more tensor", "more tensors"));
    let attachments = listed_attachments(container.attachments.as_ref()).with_context(|| target.label())?;
    lost_content(target, tensors, attachments)
}
