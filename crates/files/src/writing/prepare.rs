//! The preparation of every output: [`Output::prepare`] names and checks its tensors, and lays them out. [`Move`] is the
//! cost of new chunks, and explanations say how the tensors are made.

use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::path::Path;
use std::sync::Arc;

use super::output::{OutputKind, OutputTensor};
use super::plan::{LaidOut, TensorJob};
use crate::container::content::Content;
use crate::container::file_options::{FileOptions, Inherited, NamedCopy};
use crate::container::interface::{Layout, TextOptions};
use crate::container::names::list;
use crate::opening::table::{Format, containers};
use crate::plans::explain::Explanation;
use crate::plans::job::Job;
use crate::plans::plan::Route;
use crate::storage::attachments::Attachments;
use crate::storage::chunked::Chunked;
use crate::storage::source::{Container, Source};
use crate::storage::targets::target::Target;
use tensorop_kernels::error::{Advice, Context, Error, ErrorKind, Result, bail, counted, ensure, unsupported};
use tensorop_kernels::layout::window::Window;
use tensorop_kernels::parallel::Threads;

/// An output before its tensors are laid out.
#[derive(Clone, Copy)]
pub struct Output<'a> {
    pub format: Format,
    /// The name of the output in messages.
    pub label: &'a str,
    pub options: &'a FileOptions,
    /// The place of the output. A file or store there must not lose tensors; `None` does not check this.
    pub replaced: Option<Replaced<'a>>,
    /// Whether the tensors keep their order. Otherwise a container has them sorted by name.
    pub keeps_order: bool,
}

/// The file or store at the place of an output.
#[derive(Clone, Copy)]
pub struct Replaced<'a> {
    pub target: &'a Target,
    /// The containers of all operands. The tensors of the output do not tell them all: an operand such as a list of
    /// indices may be missing in them.
    pub containers: &'a [Arc<Container>],
    /// Whether the user left out the tensor of this name.
    pub left_out: &'a dyn Fn(&str) -> bool,
}

impl Output<'_> {
    /// Names and checks tensors, and lays them out. In a container, tensors without a name become `arr_0`, `arr_1` and so on.
    ///
    /// # Errors
    /// The format cannot be written, holds only one tensor of several, or cannot hold one of the tensors or a name; two
    /// tensors have the same name; a replaced file would lose tensors or attachments; the format has no place for an
    /// option.
    pub fn prepare(&self, tensors: Vec<OutputTensor>, mut inherited: Inherited) -> Result<LaidOut> {
        let Self { format, label, options, .. } = *self;
        let tensors = self.checked(tensors)?;
        if let Some(Replaced { target, containers, left_out }) = self.replaced {
            let stays = |name: &str| inherited.copies.iter().any(|copy| copy.name == name) || left_out(name);
            check_replaced(target, &tensors, containers, &inherited.copies, &stays)?;
            check_group_around(target)?;
            inherited.is_group |= replaces_own_group(target, &tensors);
        }
        options.check(format.argument(), format.can()).map_err(|error| error.within(label))?;
        LaidOut::prepare(tensors, format, label, options, &inherited)
    }

    /// Names tensors, and checks that the format can hold each tensor.
    ///
    /// # Errors
    /// The format cannot be written, holds only one tensor of several, or cannot hold one of the tensors; two tensors
    /// have the same name.
    pub fn checked(&self, tensors: Vec<OutputTensor>) -> Result<Vec<OutputTensor>> {
        let Self { format, label, .. } = *self;
        if !format.is_written() {
            return Err(unsupported!("{} can be read, not written", format.name()).within(label));
        }
        let mut tensors = named(tensors, format).with_context(|| label.to_owned())?;
        if format.is_container() && !self.keeps_order {
            tensors.sort_by(|a, b| a.name.cmp(&b.name));
        }
        for tensor in &mut tensors {
            tensor.recast.big_endian = self.options.big_endian;
            tensor.check(format).with_context(|| match tensor.name.as_deref().filter(|_| format.is_container()) {
                Some(name) => format!("{label}:{name}"),
                None => label.to_owned(),
            })?;
        }
        Ok(tensors)
    }
}

fn named(mut tensors: Vec<OutputTensor>, format: Format) -> Result<Vec<OutputTensor>> {
    if !format.is_container() {
        ensure!(tensors.len() == 1, "{} tensors, and only {} hold several", tensors.len(), containers("and"));
        return Ok(tensors);
    }
    for (n, tensor) in tensors.iter_mut().filter(|tensor| tensor.name.is_none()).enumerate() {
        tensor.name = Some(format!("arr_{n}"));
    }
    let mut names: Vec<_> = tensors.iter().filter_map(|tensor| tensor.name.as_deref()).collect();
    names.sort();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(twice) => bail!("two tensors are called {:?}", twice[0]),
        None => Ok(tensors),
    }
}

/// The cost of moving a tensor to other chunks.
#[derive(Clone, Debug)]
pub struct Move {
    /// The chunks of a temporary store between input and output, if there is one.
    pub between: Option<Vec<usize>>,
    /// The bytes that are read. Chunks of the temporary store count as long as their items, although they may be
    /// packed.
    pub reads: u64,
    /// The bytes of items that are written.
    pub writes: u64,
    /// How many times each byte would be read if each chunk were made alone.
    pub alone: f64,
    /// The chunks of a temporary store for an output that is made in small shares; `None` if no such store pays off.
    pub for_parts: Option<Vec<usize>>,
    /// The chunks of the output.
    pub chunks: Vec<usize>,
}

impl LaidOut {
    /// The cost of each tensor, in the order of [`tensors`](Self::tensors); `None` for a tensor that keeps its chunks,
    /// or if the data or the output have no chunks.
    pub fn moves(&self) -> Vec<Option<Move>> {
        let Layout::Chunks(chunks) = &self.layout else { return self.outputs.iter().map(|_| None).collect() };
        let all = self.outputs.iter().zip(self.boxes(&**chunks)).map(|(TensorJob { job, .. }, windows)| {
            let style = job.fill().data().as_chunks()?.style();
            let planner = job.planner();
            let readings = planner.readings(&windows).filter(|_| style.unit != windows.sides())?;
            let between = planner.grid_between(&windows);
            let stored = planner.bytes_read(&Window::whole(&job.meta().shape));
            let items = job.meta().bytes() as u64;
            let reads = match &between {
                Some(_) => stored + items,
                None => (stored as f64 * readings.all) as u64,
            };
            let writes = if between.is_some() { 2 * items } else { items };
            let for_parts = planner.grid_for_parts(&windows);
            Some(Move { between, reads, writes, alone: readings.alone, for_parts, chunks: windows.sides().to_vec() })
        });
        all.collect()
    }
}

impl LaidOut {
    /// Explains how each tensor is made, and returns each explanation with the name of the tensor.
    pub fn explain(&self, to: OutputKind, text: &TextOptions) -> Vec<(String, Explanation)> {
        let explained = |n: usize| {
            let mut explanation = self.with_sink(n, to, text, |sink| self.outputs[n].job.planners().explain(sink));
            if self.is_spooled(to) {
                explanation.plan.route = Route::TemporaryFile;
            }
            (self.outputs[n].name.clone(), explanation)
        };
        (0..self.outputs.len()).map(explained).collect()
    }
}

/// Explains a change in place.
///
/// # Errors
/// The indices cannot be read.
pub fn explain_edit(tensor: OutputTensor) -> Result<Explanation> {
    Job::new(tensor.fill, tensor.limits).planners().explain_edit()
}

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
    Err(unsupported!("names {tensors}, which would be lost ({})", list(&lost))
        .within(target.label())
        .advising(Advice::KeepOthers))
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
    let is_beside = |source: &Source| {
        let is_of_other = source.container().is_some_and(|container| container.file != existing);
        is_of_other && source.identity().is_ok_and(|file| file == Some(existing))
    };
    if inputs().any(is_beside) {
        return refuse("holds the items of another file, which would be lost: choose another file".to_owned());
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
        (Some(tensors), None) => Err(unsupported!("holds {tensors}, which would be lost")
            .within(target.label())
            .advising(Advice::KeepOthers)),
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

/// Refuses an array inside a group with consolidated metadata, which would not list it, and inside one of version 2, which has
/// arrays of version 2 alone.
fn check_group_around(target: &Target) -> Result<()> {
    let Target::Folder(_) = target else { return Ok(()) };
    let Some(path) = target.canonical()? else { return Ok(()) };
    for folder in path.ancestors().skip(1) {
        let group = folder.file_name().unwrap_or_default().display();
        let refuse = |why: String| {
            Err(unsupported!("{why}: name another output, or change an array with --in-place").within(target.label()))
        };
        if folder.join(".zgroup").is_file() {
            return refuse(format!("is inside {group}, a group of version 2, and would be an array of version 3"));
        }
        let Ok(text) = fs::read(folder.join("zarr.json")) else { return Ok(()) };
        let said: Option<serde_json::Value> = serde_json::from_slice(&text).ok();
        if said.is_some_and(|group| group.get("consolidated_metadata").is_some_and(|listed| !listed.is_null())) {
            return refuse(format!("is inside {group}, whose consolidated metadata would no longer be true"));
        }
    }
    Ok(())
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
