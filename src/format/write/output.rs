//! A tensor of an output before it is written, the checks of names, formats and files to be replaced, and how a tensor is
//! changed in place, in its own file or store.

use std::collections::{BTreeSet, HashSet};
use std::ops::Range;
use std::sync::{Arc, Mutex};

use serde_json::Value;

use super::replaced_store::check_replaced_store;
use crate::engine::job::{Job, Progress};
use crate::engine::sink::FileSink;
use crate::error::{Advice, Context, Error, ErrorKind, Result, bail, counted, ensure, malformed};
use crate::format::interface::{NamedCopy, ReadsBack};
use crate::format::name_order::list;
use crate::format::table::{Format, containers};
use crate::format::values::delimiter::TableOptions;
use crate::item::dtype::DType;
use crate::item::meta::{Meta, Order};
use crate::layout::window::{Window, Windows};
use crate::ops::cast::CastRule;
use crate::ops::fill::{Fill, Limits, Patch};
use crate::ops::reshape::reshaped;
use crate::ops::selection::Selection;
use crate::storage::attachments::Attachments;
use crate::storage::chunked::{ChunkStyle, Chunked, PackedUnit};
use crate::storage::key_store::Commit;
use crate::storage::signals;
use crate::storage::source::{Container, Source};
use crate::storage::target::Target;

/// The most items of zero bytes (`<U0`, `|V0`) that are printed as text, some 64 MiB of it. Such items take no room in a
/// file, so that a header of a few bytes could ask for 2^63 pairs of quotes.
pub(super) const MOST_EMPTY_ITEMS: usize = 1 << 24;

/// A tensor of an output: what fills its items, and how they are stored.
#[derive(Debug)]
pub struct OutputTensor {
    /// Its name in the output; `None` until [`named`] gives it one, and in a format without names.
    pub name: Option<String>,
    /// The name that patterns of options are matched with; `None` for that in the output.
    pub old_name: Option<String>,
    /// The operator that fills the items.
    pub fill: Box<dyn Fill>,
    /// The dims of the output where they are others than those of the operator: as many items, counted alike in C order.
    pub dims: Option<Vec<usize>>,
    /// The threads and memory that it may use.
    pub limits: Limits,
    /// How the items that it fills are arranged and cast.
    pub recast: Recast,
    /// The chunks that it is stored in, if the format has any; `None` for those of its data.
    pub style: Option<Arc<ChunkStyle>>,
    /// Whether a change in place stores chunks that hold only the fill value and are not stored before.
    pub stores_empty: bool,
}

/// How the items of an output are cast and arranged.
#[derive(Clone, Debug, Default)]
pub struct Recast {
    /// The dtype that values are cast to.
    pub cast: Option<DType>,
    /// The losses that the cast may make.
    pub rule: CastRule,
    /// Whether numbers are written with the highest byte first; `None` leaves it as it is.
    pub big_endian: Option<bool>,
    /// The order of the items. For Fortran order the view has the axes reversed.
    pub order: Order,
}

impl OutputTensor {
    /// Makes the output of an operator a tensor to be written.
    pub fn new(fill: Box<dyn Fill>, limits: Limits) -> Self {
        Self {
            name: None,
            old_name: None,
            fill,
            dims: None,
            limits,
            recast: Recast::default(),
            style: None,
            stores_empty: false,
        }
    }

    /// Makes an unaltered copy of a tensor one to be written.
    pub fn copy(data: Source, limits: Limits) -> Self {
        Self::new(Box::new(Selection::whole(data)), limits)
    }

    /// Makes a tensor with other dims one to be written in `format`. Dims are a matter of its header, since C order counts the
    /// items alike whatever they are; only chunks are boxes of the new dims.
    pub fn reshaped(data: Source, dims: Vec<usize>, format: Format, limits: Limits) -> Self {
        if format.can().chunks {
            return Self::new(reshaped(data, dims), limits);
        }
        Self { dims: Some(dims), ..Self::copy(data, limits) }
    }

    /// Returns what messages call the data.
    pub fn label(&self) -> String {
        self.fill.data().label().to_owned()
    }

    /// Returns the dtype, shape and order that it has when it is written in `format`.
    pub fn meta(&self, format: Format) -> Meta {
        let dtype = self.recast.cast.as_ref().unwrap_or(&self.fill.meta().dtype);
        let ordered = match self.recast.big_endian {
            Some(false) => dtype.native(),
            Some(true) => dtype.big_endian(),
            None => dtype.clone(),
        };
        let mut shape = self.dims.as_ref().unwrap_or(&self.fill.meta().shape).clone();
        if self.recast.order == Order::Fortran {
            shape.reverse();
        }
        Meta::new(format.stored(ordered), shape).in_order(self.recast.order)
    }

    /// Checks whether a format can hold it.
    ///
    /// # Errors
    /// The format cannot hold the dtype, which is about [`Subject::Dtype`](crate::error::Subject::Dtype); it does not have
    /// the order of items or bytes; there are more items of zero bytes than anybody wants printed.
    pub fn check(&self, format: Format) -> Result<()> {
        let refuse = |message: String| Err(Error::of(ErrorKind::Unsupported, message));
        if !format.is_written() {
            return refuse(format!("{} is read, and not written", format.name()));
        }
        let (meta, name) = (self.meta(format), format.argument());
        format.writer().check(&meta.dtype).map_err(|error| error.of_kind(ErrorKind::Unsupported))?;
        if meta.order == Order::Fortran && !format.can().fortran_order {
            return refuse(format!("{name} is always in C order"));
        }
        if self.recast.big_endian == Some(true) && !format.can().byte_orders {
            return refuse(format!("{name} is never big-endian"));
        }
        let items = self.fill.meta().items();
        if !format.is_binary() && meta.dtype.itemsize() == 0 && items > MOST_EMPTY_ITEMS {
            return refuse(format!("{items} items of no bytes are too many to print"));
        }
        Ok(())
    }
}

impl OutputTensor {
    /// Returns the tensor that a reader with these options finds in a file in `format`.
    pub fn reads_back(&self, format: Format, how: &TableOptions) -> ReadsBack {
        format.writer().reads_back(&self.meta(format), how)
    }
}

/// Returns how a tensor of that shape is stored that has the items of a tensor stored in `style`, but other axes: sides of
/// chunks and names of dimensions go along with their axes. `axes` has for each axis the one of the style that it is, and
/// one without a counterpart has one place. `None` if a longer axis has none, so that nothing of the chunks is kept, or if
/// the codecs count the axes of the style.
pub(super) fn style_along(style: &ChunkStyle, axes: &[Option<usize>], shape: &[usize]) -> Option<ChunkStyle> {
    let has_counterpart = |(axis, &dim): (&Option<usize>, &usize)| axis.is_some() || dim == 1;
    let same_rank = axes.len() == style.chunk.len() && axes.iter().all(Option::is_some);
    if !axes.iter().zip(shape).all(has_counterpart) || !same_rank && style.codecs.contains("\"transpose\"") {
        return None;
    }
    let sides = |sides: &[usize]| axes.iter().map(|axis| axis.map_or(1, |axis| sides[axis])).collect();
    let names = style.dimension_names.as_deref().and_then(|names| serde_json::from_str::<Vec<Value>>(names).ok());
    let name = |names: &[Value], axis: Option<usize>| axis.and_then(|axis| names.get(axis).cloned());
    let moved = |names: Vec<Value>| axes.iter().map(|&axis| name(&names, axis).unwrap_or_default()).collect::<Value>();
    Some(ChunkStyle {
        unit: sides(&style.unit),
        chunk: sides(&style.chunk),
        dimension_names: names.map(|names| moved(names).to_string()),
        ..style.clone()
    })
}

/// Names tensors as they are written, and sorts them by name: see [`named_in_order`].
///
/// # Errors
/// There are several tensors and the format holds one; two tensors have the same name.
pub fn named(works: Vec<OutputTensor>, format: Format) -> Result<Vec<OutputTensor>> {
    let mut works = named_in_order(works, format)?;
    if format.is_container() {
        works.sort_by(|a, b| a.name.cmp(&b.name));
    }
    Ok(works)
}

/// Names tensors as they are written, and leaves them in their order: in a container those without a name become `arr_0`,
/// `arr_1` and so on. In a format of one tensor a name may stay empty.
///
/// # Errors
/// There are several tensors and the format holds one; two tensors have the same name.
pub fn named_in_order(mut works: Vec<OutputTensor>, format: Format) -> Result<Vec<OutputTensor>> {
    if !format.is_container() {
        ensure!(works.len() == 1, "{} tensors, and only {} hold several", works.len(), containers("and"));
        return Ok(works);
    }
    for (n, work) in works.iter_mut().filter(|work| work.name.is_none()).enumerate() {
        work.name = Some(format!("arr_{n}"));
    }
    let mut names: Vec<_> = works.iter().filter_map(|work| work.name.as_deref()).collect();
    names.sort();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(twice) => bail!("two tensors are called {:?}", twice[0]),
        None => Ok(works),
    }
}

/// Names the tensors of an output that messages call `label`, and checks whether the format can hold each of them.
///
/// # Errors
/// Those of [`named`] and [`OutputTensor::check`], which are about the tensor in a format with names.
pub fn checked(works: Vec<OutputTensor>, format: Format, label: &str) -> Result<Vec<OutputTensor>> {
    let works = named(works, format).with_context(|| label.to_owned())?;
    for work in &works {
        work.check(format).with_context(|| match work.name.as_deref().filter(|_| format.is_container()) {
            Some(name) => format!("{label}:{name}"),
            None => label.to_owned(),
        })?;
    }
    Ok(works)
}

/// Refuses to replace an index, which stands for the tensors `listed`, of which an input comes by another that lacks some of
/// these, or of the tensors in the shard of that input, as [`check_replaced`] does for a file. `is_removed` says of a shard
/// that it is removed; a tensor that comes from it directly comes from the index, too.
///
/// # Errors
/// The output would lack tensors.
pub fn check_replaced_index(
    target: &Target,
    listed: &[String],
    is_removed: &dyn Fn(&Container) -> bool,
    works: &[OutputTensor],
    left_out: &dyn Fn(&str) -> bool,
) -> Result<()> {
    let Some(existing) = target.identity() else { return Ok(()) };
    let named: HashSet<_> = works.iter().filter_map(|work| work.name.as_deref()).collect();
    let sources: Vec<_> = works.iter().flat_map(|work| work.fill.operands()).collect();
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
    let (count, noun) = (lost.len(), if lost.len() == 1 { "tensor" } else { "tensors" });
    let message = format!("stands for {count} more {noun}, which would be lost ({})", list(&lost));
    Err(Error::of(ErrorKind::Unsupported, message).within(target.label()).advising(Advice::KeepOthers))
}

/// Refuses to replace a file of several tensors, one of which is an input, by a file that lacks some of them: whoever
/// asks for that has most likely taken the file for the one tensor. `containers` are those of operands that the outputs may have
/// no trace of, such as lists of indices. A tensor is not lacking if it is written under any
/// name, if another takes its name, if it is one of the `copies` beside the tensors, or if `left_out` says that the user left it
/// out by name. An attachment is always lacking, since no writer writes any.
///
/// # Errors
/// The output would lack tensors or attachments, or take the place of a container that no writer makes, or replace the index of
/// other files; it would take the place of an operand at once; a store cannot be listed.
pub fn check_replaced(
    target: &Target,
    works: &[OutputTensor],
    containers: &[Arc<Container>],
    copies: &[NamedCopy],
    left_out: &dyn Fn(&str) -> bool,
) -> Result<()> {
    let Some(existing) = target.identity() else { return Ok(()) };
    if let Target::Folder(_) = target {
        return check_replaced_store(target, works, containers, copies, left_out);
    }
    let refuse = |message: String| Err(Error::of(ErrorKind::Unsupported, message).within(target.label()));
    let inputs = || works.iter().flat_map(|work| work.fill.operands());
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
    let data = works.iter().map(|work| work.fill.data());
    let mut stay: HashSet<&str> = data.filter(here).filter_map(Source::member).collect();
    stay.extend(works.iter().filter_map(|work| work.name.as_deref()));
    let lost = container.names.iter().filter(|name| !stay.contains(name.as_str()) && !left_out(name)).count();
    let tensors = (lost > 0).then(|| counted(lost, "more tensor", "more tensors"));
    let attachments = listed_attachments(container.attachments.as_ref()).with_context(|| target.label())?;
    lost_content(target, tensors, attachments)
}

/// Refuses to lose tensors and attachments of what a target replaces, in words for each of them.
///
/// # Errors
/// There are some.
pub(super) fn lost_content(target: &Target, tensors: Option<String>, attachments: Option<String>) -> Result<()> {
    let refuse = |message: String| Err(Error::of(ErrorKind::Unsupported, message).within(target.label()));
    match (tensors, attachments) {
        (None, None) => Ok(()),
        (Some(tensors), None) => {
            let message = format!("holds {tensors}, which would be lost");
            Err(Error::of(ErrorKind::Unsupported, message).within(target.label()).advising(Advice::KeepOthers))
        }
        (None, Some(attachments)) => refuse(lost_attachments(&attachments)),
        (Some(tensors), Some(attachments)) => refuse(lost_attachments(&format!("{tensors} and {attachments}"))),
    }
}

/// Refuses to write a container with these attachments anew, because no writer writes attachments.
///
/// # Errors
/// It has some; they cannot be listed.
pub fn check_attachments(attachments: Option<&Arc<dyn Attachments>>) -> Result<()> {
    match listed_attachments(attachments)? {
        None => Ok(()),
        Some(attachments) => Err(Error::of(ErrorKind::Unsupported, lost_attachments(&attachments))),
    }
}

/// Returns attachments by their names for a message; `None` if there are none.
///
/// # Errors
/// They cannot be listed.
pub(super) fn listed_attachments(attachments: Option<&Arc<dyn Attachments>>) -> Result<Option<String>> {
    let names = attachments.map_or(Ok(&[][..]), |attachments| attachments.names())?;
    let text = || list(&names.iter().map(String::as_str).collect::<Vec<_>>());
    Ok(match names.len() {
        0 => None,
        1 => Some(format!("{}, not a tensor", text())),
        _ => Some(format!("{}, not tensors", text())),
    })
}

fn lost_attachments(content: &str) -> String {
    format!("holds {content}, which would be lost: choose another file")
}

/// Share number `number` of `of` shares of something that is cut into units, counted from 1. Shares differ by one unit at
/// most; if there are more shares than units, the last ones are empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// Its number.
    pub number: usize,
    /// The number of all shares.
    pub of: usize,
}

impl Share {
    /// Returns the units of this share, of `units` in all.
    pub fn of(self, units: usize) -> Range<usize> {
        let (each, more) = (units / self.of, units % self.of);
        // the first shares have one unit more
        let end = |number: usize| each * number + number.min(more);
        end(self.number - 1)..end(self.number)
    }
}

/// Changes the data of a work in place, whose operator is a [`Patch`]: only the windows in which something changes are read
/// and written, and of a store in chunks only those of `share`, if there is one. After the last check and before the first
/// change `expect` is called once with the number of bytes that `progress` will add up to.
///
/// # Errors
/// A share of data that is not stored in chunks; data that is in no local file; of reading and writing.
pub fn edit(work: OutputTensor, share: Option<Share>, expect: &dyn Fn(usize), progress: Progress<'_>) -> Result<()> {
    let label = work.label();
    let stores_empty = work.stores_empty;
    let job = Job::new(work.fill, work.limits)?;
    let patch = job.fill().as_patch().expect("what changes data where it lies is a patch");
    if patch.base().source.as_chunks().is_some() {
        return edit_chunks(&job, patch, &label, ChunkEdit { share, stores_empty }, expect, progress);
    }
    if share.is_some() {
        return Err(
            Error::of(ErrorKind::Unsupported, "parts of it are changed in place only in a Zarr store").within(label)
        );
    }
    let source = &patch.base().source;
    let bytewise = source.as_local_file().map(|(file, start)| FileSink::new(file, start, job.meta(), &label));
    let packed = || source.as_packed_file().map(|packed| FileSink::packed(packed, job.meta(), &label));
    let sink = bytewise.or_else(packed).ok_or_else(|| malformed!("{label}: no file"))?;
    signals::survive_size_limit();
    job.edit(patch, &sink, expect, progress)
}

/// Reads everything that [`edit`] reads of a work, and changes nothing, so that several tensors can be checked before the first
/// of them is changed.
///
/// # Errors
/// Those of reading, as [`edit`] has them.
pub fn check_edit(work: OutputTensor) -> Result<()> {
    let label = work.label();
    let job = Job::new(work.fill, work.limits)?;
    let patch = job.fill().as_patch().expect("an operator that changes data in place is a patch");
    let Some(chunks) = patch.base().source.as_chunks() else { return job.check_edit(patch) };
    let windows = Windows::boxes(&job.meta().shape, &chunks.style().unit);
    let touched = patch.touched(&windows, 0..windows.count())?;
    // a chunk is not read if all of its items change
    let put = |window: &Window, _: &[u8]| chunks.value_of(window).map(drop).with_context(|| label.clone());
    job.each(&windows, &touched, &put, &|_| {})?;
    job.fill().finish()
}

/// How the chunks of a store are changed.
struct ChunkEdit {
    /// The share of the chunks that are changed; `None` for all.
    share: Option<Share>,
    /// Whether chunks are stored that hold only the fill value and are not stored now.
    stores_empty: bool,
}

/// Writes the chunks in which something changes anew, those of the share if there is one. All of them are first written
/// beside the store, so that nothing has changed if one of them cannot be read or written; then each takes its name.
fn edit_chunks(
    job: &Job,
    patch: &dyn Patch,
    label: &str,
    ChunkEdit { share, stores_empty }: ChunkEdit,
    expect: &dyn Fn(usize),
    progress: Progress<'_>,
) -> Result<()> {
    let chunks = patch.base().source.as_chunks().expect("the data lies in chunks");
    let windows = Windows::boxes(&job.meta().shape, &chunks.style().unit);
    let own = share.map_or(0..windows.count(), |share| share.of(windows.count()));
    let touched = patch.touched(&windows, own)?;
    let store = chunks.edit().with_context(|| format!("{label}: nothing can be written beside it"))?;
    let itemsize = job.meta().dtype.itemsize();
    expect(touched.iter().map(|&number| windows.get(number).items().saturating_mul(itemsize)).sum());
    let written = Mutex::new(Vec::with_capacity(touched.len()));
    let put = |window: &Window, items: &[u8]| -> Result<()> {
        // A chunk is not read if all of its items change; a folder in its place must be refused before others change.
        chunks.value_of(window).with_context(|| label.to_owned())?;
        let PackedUnit { key, bytes } = chunks.packed(window, items, stores_empty).with_context(|| label.to_owned())?;
        // What is not stored holds only the fill value already.
        let Some(bytes) = bytes else { return Ok(()) };
        let value = store.prepare(&key, &bytes);
        let value = value.with_context(|| format!("{label}: chunk {key}: cannot be written"))?;
        written.lock().expect("no thread panicked").push((key, value));
        Ok(())
    };
    job.each(&windows, &touched, &put, progress)?;
    job.fill().finish()?;
    let mut written = written.into_inner().expect("no thread panicked");
    written.sort_by(|(a, _), (b, _)| a.cmp(b));
    let commit = |(_, commit): (_, Commit)| commit();
    written.into_iter().try_for_each(commit).with_context(|| format!("{label}: a chunk cannot be put in its place"))
}
