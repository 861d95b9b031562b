//! Rewrites a file with other tensors in the same format, and keeps the actual tensors of failed golden checks.

use std::collections::{BTreeMap, HashSet};
use std::ffi::OsStr;
use std::fs;
use std::io::ErrorKind::NotFound;
use std::io::Write as _;
use std::mem::discriminant;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use serde_json::{Map, Value};

use super::files;
use crate::container::content::Content;
use crate::container::file_options::{FileOptions, Inherited};
use crate::container::interface::{ReadsBack, TextOptions};
use crate::container::names::joined_by;
use crate::opening::input::{Input, OpenOptions};
use crate::opening::located::Located;
use crate::opening::table::Format;
use crate::operators::call::Operands;
use crate::operators::fill::Limits;
use crate::plans::plan::WindowOrder;
use crate::plans::scan::{ScannedBox, settled};
use crate::storage::chunked::ChunkStyle;
use crate::storage::platform::{unnamed_file, write_at};
use crate::storage::read_at::MemoryBytes;
use crate::storage::requests::RequestOptions;
use crate::storage::source::{Source, merged};
use crate::storage::targets::target::Target;
use crate::untyped::Values;
use crate::writing::{LaidOut, Output, OutputTensor, check_attachments};
use tensorop_kernels::error::{Advice, Context, Error, ErrorKind, Result, Subject, malformed, unsupported};
use tensorop_kernels::item::cast::{Cast, CastFailure};
use tensorop_kernels::item::dtype::{DType, Kind};
use tensorop_kernels::item::meta::Meta;
use tensorop_kernels::item::tensor::Tensor;
use tensorop_kernels::layout::axis::coordinates;
use tensorop_kernels::memory;
use tensorop_kernels::ops::call::Call;
use tensorop_kernels::ops::slice::SliceArgs;
use tensorop_kernels::parallel::{locked, unlocked};

/// The bytes of a cast tensor that are kept in memory.
const CAST_IN_MEMORY: usize = 1 << 24;

/// The environment variable that lets golden assertions rewrite golden files. [`updates_golden`] lists its values.
pub const UPDATE_GOLDEN: &str = "TENSOROP_UPDATE_GOLDEN";

/// Whether the value of [`UPDATE_GOLDEN`] allows golden files to be rewritten: `1`, `true` and `yes` do, in any case;
/// `0`, `false`, `no`, the empty text and a missing variable do not.
///
/// # Errors
/// The value is another.
pub fn updates_golden(value: Option<&OsStr>) -> Result<bool> {
    let text = value.unwrap_or_default().to_string_lossy();
    match &*text.to_ascii_lowercase() {
        "1" | "true" | "yes" => Ok(true),
        "" | "0" | "false" | "no" => Ok(false),
        _ => {
            let message = format!("{text:?} is not known, expected 1, true, yes, 0, false, no or nothing");
            Err(Error::from_kind(ErrorKind::Argument, message).within(UPDATE_GOLDEN))
        }
    }
}

/// A checked file that is about to be rewritten.
#[derive(Debug)]
pub struct Rewrite {
    path: PathBuf,
    label: String,
    format: Format,
    plan: LaidOut,
    /// The tensor of a format that is written from front to back.
    whole: Option<Source>,
    /// The growth of all tensors together, in bytes.
    pub more_bytes: i128,
}

/// Checks that a format whose header cannot name every dtype would not read a tensor back as another. The reader
/// [`says`](Rewrite::new) the dtype of void items.
fn check_named(source: &Source, format: Format, says_dtype: bool) -> Result<()> {
    let meta = Meta::c_order(format.stored(source.dtype().clone()), source.shape().to_vec());
    let ReadsBack::As(back) = format.writer().reads_back(&meta) else { return Ok(()) };
    if says_dtype && back.dtype.is_ambiguous() && back.shape == meta.shape {
        return Ok(());
    }
    Err(would_differ(format, &meta, &back))
}

/// Reads a text beside a tensor, whose dtype it takes if neither has one of its own and both look alike.
fn beside(values: &Values<'_>, tensor: &Source) -> Result<Tensor> {
    let dtype = values.dtype().cloned().unwrap_or_else(|| tensor.dtype().native());
    if values.dtype().is_none() && tensor.is_inferred() {
        let alone = values.infer()?;
        if discriminant(alone.dtype().kind()) != discriminant(dtype.kind()) {
            return Ok(alone);
        }
    }
    values.read_widening(&dtype)
}

fn would_differ(format: Format, written: &Meta, read: &Meta) -> Error {
    let outline = |meta: &Meta| format!("{} {:?}", meta.dtype.native().name(), meta.shape);
    let (name, written, read) = (format.name(), outline(written), outline(read));
    unsupported!("{name} reads {written} back as {read}, which would differ: name a file of another format")
}

/// A tensor with its name in a file; a file of one tensor has no names.
#[derive(Debug)]
pub struct NamedSource {
    /// Its name in a container.
    pub name: Option<String>,
    /// Its items.
    pub source: Source,
}

impl Rewrite {
    /// Plans a file with new tensors: each replaces the tensor of its name, or joins the others; a file of one tensor
    /// is replaced as a whole. `old` is the present file; without one, the name gives the format. All items are written
    /// in C order. The folder of a new file may be missing until the file is written. `says_dtype` is true if the next
    /// reader gets the dtype of void items.
    ///
    /// # Errors
    /// The file cannot be written, or has attachments, which would be lost; the format cannot hold the tensors; a kept
    /// tensor cannot be opened; the format would read a new tensor back as another.
    pub fn new(
        path: &Path,
        label: &str,
        old: Option<&Input>,
        tensors: Vec<NamedSource>,
        says_dtype: bool,
        limits: Limits,
    ) -> Result<Self> {
        let format = old.map_or_else(|| new_format(path), |old| Ok(old.format())).with_context(|| label.to_owned())?;
        let facts = old.map(|old| old.members().clone()).unwrap_or_default();
        if !format.is_written() || facts.unwritten.is_some() {
            return Err(
                unsupported!("{} cannot be written again: name a file of another format", format.name()).within(label)
            );
        }
        old.map_or(Ok(()), check_anew).with_context(|| label.to_owned())?;
        file_target(path, label, format)?;
        let (mut outputs, mut metadata, mut more_bytes, mut whole) = (Vec::new(), Vec::new(), 0, None);
        if let Some(old) = old {
            let replaced: HashSet<&str> = tensors.iter().filter_map(|tensor| tensor.name.as_deref()).collect();
            for (n, name) in old.names().into_iter().flatten().enumerate() {
                metadata.extend(old.file_of(n)?.metadata.map(|file| Arc::clone(&file.kept)));
                if replaced.contains(&**name) {
                    // A damaged tensor may be replaced.
                    more_bytes -= old.describe(n).map_or(0, |old| i128::from(old.bytes));
                } else {
                    let kept = OutputTensor::copy(old.source_as(n, old.label_of(Some(name)))?, limits);
                    outputs.push(OutputTensor { name: Some(name.to_owned()), ..kept });
                }
            }
        }
        let is_group = old.map_or(tensors.iter().any(|tensor| tensor.name.is_some()), |old| old.names().is_some());
        for NamedSource { name, mut source } in tensors {
            check_named(&source, format, says_dtype).with_context(|| label.to_owned())?;
            let name = name.or_else(|| facts.own_name.clone());
            let style = old.and_then(|old| old_style(old, name.as_deref(), &source));
            more_bytes += i128::try_from(source.bytes()).expect("a size in memory");
            outputs.push(OutputTensor { name, style, ..OutputTensor::copy(source.another()?, limits) });
            whole = Some(source);
        }
        let options = &FileOptions { compress: facts.is_compressed, ..FileOptions::default() };
        let inherited = Inherited { metadata: merged(&metadata), is_group, ..Inherited::default() };
        let output = Output { format, label, options, replaced: None, keeps_order: false };
        let plan = output.prepare(outputs, inherited)?;
        let whole = whole.filter(|_| plan.is_whole());
        Ok(Self { path: path.to_owned(), label: label.to_owned(), format, plan, whole, more_bytes })
    }

    /// The tensor as the next reader will find it beside the same tensor, and that one; `None` if the bytes of the items say
    /// it all. A text names no dtype, or has only one NaN.
    ///
    /// # Errors
    /// The tensor cannot be read, or the format cannot hold an item; the text is not read again, or not as strings.
    pub fn read_again(&mut self, options: &OpenOptions) -> Result<Option<[Source; 2]>> {
        let Some(new) = self.whole.take() else { return Ok(None) };
        let mut bytes = Vec::new();
        self.plan.write_to(&mut bytes, &TextOptions::default(), &|_| {})?;
        let content = Content::from_bytes(Arc::new(MemoryBytes::new(bytes)), options.threads)?;
        let input = options.content(content, Format::from_path(&self.path));
        let back = input.and_then(|input| match &input.members().text {
            None => input.source(0),
            Some(text) => Ok(Source::memory(beside(&text.values(Subject::File)?, &new)?, options.label.clone())),
        });
        let back = back.map_err(|error| {
            let refusal = self.refusal(error.message());
            error.advice().map_or(refusal.clone(), |advice| refusal.advising(advice))
        })?;
        if (back.dtype().native(), back.shape()) == (new.dtype().native(), new.shape()) {
            return Ok(Some([back, new]));
        }
        let error = would_differ(self.format, new.meta(), back.meta()).within(&*self.label);
        let is_text = new.is_inferred() && matches!(new.dtype().kind(), Kind::Str(_));
        Err(if is_text { error.advising(Advice::ReadStrings { skip: 0 }) } else { error })
    }

    /// The error about a file that its next reader would not find equal to its tensor.
    pub fn refusal(&self, why: &str) -> Error {
        unsupported!("{} would not read it back: {why}: name a file of another format", self.format.name())
            .within(&*self.label)
    }

    /// Writes the file, which is the old one or the whole new one at any time.
    ///
    /// # Errors
    /// The folder is missing; a tensor cannot be read, or the file written.
    pub fn write(&mut self) -> Result<()> {
        self.plan.write_file(&file_target(&self.path, &self.label, self.format)?)
    }

    /// The number of tensors in the new file.
    pub fn tensors(&self) -> usize {
        self.plan.tensors().count()
    }
}

/// Checks that a file can be rewritten with all of its content.
///
/// # Errors
/// It has attachments, which would be lost, or several tensors in a format whose writer writes one.
pub fn check_anew(old: &Input) -> Result<()> {
    if old.names().is_some() && !old.format().is_container() {
        return Err(unsupported!("tensors by name in {} can be read, not written", old.format().argument()));
    }
    check_attachments(old.members().attachments.as_ref())
}

fn file_target(path: &Path, label: &str, format: Format) -> Result<Target> {
    files::target(path, label.to_owned(), format, false, RequestOptions::default())
}

/// Returns the chunks of the replaced tensor, which a new tensor keeps.
fn old_style(old: &Input, name: Option<&str>, new: &Source) -> Option<Arc<ChunkStyle>> {
    if !old.format().can().chunks {
        return None;
    }
    let source = old.source(old.pick(name.filter(|_| old.names().is_some())).ok()?).ok()?;
    let style = source.as_chunks()?.style();
    if source.dtype().same_kind(new.dtype()) && source.dtype().itemsize() == new.dtype().itemsize() {
        return Some(Arc::clone(style));
    }
    // The old fill value would mean another value in the new dtype.
    Some(ChunkStyle { fill: Vec::new(), ..ChunkStyle::clone(style) }.into())
}

/// The format of a new file, by its name.
///
/// # Errors
/// The name has no ending of a format that is both read and written.
pub fn new_format(path: &Path) -> Result<Format> {
    let format = Format::from_path(path).or_else(|| Format::from_name(path).ok());
    let is_kept = |format: &Format| format.is_read() && format.is_written();
    let why = match format {
        Some(format) if is_kept(&format) => return Ok(format),
        Some(format) if format.is_read() => format!("{} is read, but not written", format.name()),
        Some(format) => format!("{} is written, but not read again", format.name()),
        None => "the name does not show the format".to_owned(),
    };
    let endings: Vec<_> = Format::all().filter(is_kept).map(|format| format!(".{}", format.extension())).collect();
    Err(unsupported!("{why}: end it in {}", joined_by(&endings, "or")))
}

/// Checks that a tensor of a file without a writer can become `new` in place. Messages call the old tensor `label` and
/// the new one `role`.
///
/// # Errors
/// Dtype or shape differ; the tensor has no axes, or cannot be opened.
pub fn check_in_place(input: &Input, n: usize, new: &Source, label: &str, role: &str) -> Result<()> {
    let old = input.source(n)?;
    let is_like = old.dtype().native() == new.dtype().native() && old.shape() == new.shape();
    let refused = match is_like {
        true if !old.shape().is_empty() => return Ok(()),
        // The change is a slice of all places, and a slice has an axis.
        true => unsupported!("a tensor without axes cannot be changed in place"),
        false => {
            let described = |source: &Source| format!("{} {:?}", source.dtype().native().name(), source.shape());
            let why = input.members().unwritten.clone().unwrap_or_else(|| unsupported!("only items are changed"));
            let message = format!("{}, and {role} is {}; {}", described(&old), described(new), why.message());
            let refused = Error::from_kind(ErrorKind::Unsupported, message);
            why.advice().map_or(refused.clone(), |advice| refused.advising(advice))
        }
    };
    Err(refused.within(label))
}

/// Opens a file once, locks tensors in it, and returns the outputs that change them in place. Messages call the file
/// `label`.
///
/// # Errors
/// The file cannot be opened or locked; dtype or shape of a tensor differ.
pub fn in_place(path: &Path, label: &str, tensors: Vec<NamedSource>, limits: Limits) -> Result<Vec<OutputTensor>> {
    let options = OpenOptions { threads: limits.threads, locked: true, ..OpenOptions::new(label) };
    let input = options.open(&Located::from_path(path))?;
    let output = |NamedSource { name, source: new }| {
        let label = input.label_of(name.as_deref());
        let n = input.pick(input.member().or(name.as_deref()))?;
        input.lock(n, false)?;
        check_in_place(&input, n, &new, &label, "the new tensor")?;
        let old = input.source(n)?;
        let call = Call::SliceScatter(SliceArgs::default()).resolve(&[old.meta()], None, Some(new.shape()));
        let operands = Operands { updates: Some(new), in_place: true, ..Operands::from(old) };
        Ok(OutputTensor::new(operands.link_resolved(call.context(&*label)?, limits)?, limits))
    };
    tensors.into_iter().map(output).collect()
}

/// A change of an index of shards.
#[derive(Debug, Default)]
pub struct IndexChange {
    /// The names of new tensors, with their files.
    pub added: BTreeMap<String, String>,
    /// The growth of all tensors together, in bytes.
    pub more_bytes: i128,
}

/// The text of an index of shards after a change; `None` if nothing changes.
///
/// # Errors
/// The file is not an index, or cannot be read.
pub fn changed_index(path: &Path, label: &str, change: &IndexChange) -> Result<Option<String>> {
    let text = std::fs::read_to_string(path).with_context(|| label.to_owned())?;
    let wrong = |_| malformed!("{label}: not an index");
    let mut top: Map<String, Value> = serde_json::from_str(&text).map_err(wrong)?;
    let mut changed = !change.added.is_empty();
    if let Some(Value::Object(map)) = top.get_mut("weight_map") {
        map.extend(change.added.iter().map(|(name, file)| (name.clone(), Value::from(file.clone()))));
    }
    let total = top.get_mut("metadata").and_then(|metadata| metadata.get_mut("total_size"));
    if let Some((total, bytes)) = total.and_then(|total| total.as_u64().map(|bytes| (total, bytes)))
        && change.more_bytes != 0
        // A total that was wrong before is left alone.
        && let Ok(bytes) = u64::try_from(i128::from(bytes) + change.more_bytes)
    {
        *total = Value::from(bytes);
        changed = true;
    }
    if changed { Ok(Some(serde_json::to_string_pretty(&top).map_err(wrong)? + "\n")) } else { Ok(None) }
}

/// Replaces an index of shards by a text.
///
/// # Errors
/// The file cannot be written.
pub fn write_index(path: &Path, label: &str, text: &str) -> Result<()> {
    let target = Target::resolve(path, label.to_owned(), false)?;
    let mut sink = target.create()?;
    sink.write_all(text.as_bytes()).with_context(|| format!("{label}: cannot be written"))?;
    sink.finish()
}

/// Casts a tensor, in C order: integers exactly, floats rounded once. All items are checked before anything is written,
/// so a short tensor is kept in memory and a longer one in a nameless temporary file.
///
/// # Errors
/// There is no such cast; the dtype cannot hold an item, or the item is too large for it; the tensor or the temporary
/// file cannot be read or written.
pub fn cast_to(source: &mut Source, dtype: &DType, limits: Limits) -> Result<Source> {
    let (label, from, to) = (source.label().to_owned(), source.dtype().native(), dtype.native());
    let refused = |why: &dyn std::fmt::Display| malformed!("{label}: {why}; EXPECTED keeps its dtype, {}", to.name());
    let cast = Cast::new(&from, &to, false).map_err(|error| refused(&error))?;
    // Two casts to this dtype show which items became infinite, or the largest number of a dtype without infinity.
    let wide = DType::from(Kind::Complex128);
    let widths = Cast::new(&from, &wide, false).ok().zip(Cast::new(&to, &wide, false).ok());
    let meta = Meta::c_order(to.clone(), source.shape().to_vec());
    let (shape, bytes) = (meta.shape.clone(), meta.bytes());
    let file = if bytes > CAST_IN_MEMORY { Some(unnamed_file().with_context(|| label.clone())?) } else { None };
    let memory = Mutex::new(memory::zeros(if file.is_some() { 0 } else { bytes }).with_context(|| label.clone())?);
    let each = |out: &mut Vec<u8>, window: &ScannedBox<'_, 1>| {
        let (start, [items]) = (window.start(), window.items);
        let failed =
            |CastFailure { item, why }| refused(&format_args!("{why} at {:?}", coordinates(start + item, &shape)));
        cast.apply(items, out).map_err(failed)?;
        if let Some((old, new)) = &widths {
            let (mut before, mut after) = (Vec::new(), Vec::new());
            old.apply(items, &mut before).map_err(failed)?;
            new.apply(out, &mut after).map_err(failed)?;
            if let Some(part) = too_large(&before, &after, &to) {
                let value = f64::from_le_bytes(before.as_chunks::<8>().0[part]);
                return Err(failed(CastFailure { item: part / 2, why: format!("{value:?} is too large") }));
            }
        }
        let at = start * to.itemsize();
        match &file {
            Some(file) => write_at(file, out, at as u64).with_context(|| label.clone())?,
            None => locked(&memory)[at..at + out.len()].copy_from_slice(out),
        }
        Ok(true)
    };
    let planned = settled([&mut *source], &|_, source| source.view(), WindowOrder::Runs, 1, limits)?;
    planned.scan(&|_| (), &|_| true, &Vec::new, &each)?;
    source.finish()?;
    match file {
        Some(file) => Source::stored(meta, Arc::new(file), 0, label),
        None => Ok(Source::memory(Tensor::new(to, shape, unlocked(memory))?, label)),
    }
}

/// The index of the first float64 part that was finite before the cast and is too large for `dtype`.
fn too_large(before: &[u8], after: &[u8], dtype: &DType) -> Option<usize> {
    let limit = match dtype.kind() {
        Kind::Narrow(narrow) if (0..=u8::MAX).all(|item| narrow.value(item).is_finite()) => {
            (0..=u8::MAX).map(|item| narrow.value(item)).fold(0.0, f64::max)
        }
        _ => f64::INFINITY,
    };
    let pairs = before.as_chunks::<8>().0.iter().zip(after.as_chunks::<8>().0);
    let mut pairs = pairs.map(|(before, after)| [f64::from_le_bytes(*before), f64::from_le_bytes(*after)]);
    pairs.position(|[before, after]| before.is_finite() && (!after.is_finite() || before.abs() > limit))
}

/// Opens a file to be rewritten; `None` if it does not exist, or if it is damaged and rewritten as a `whole`.
///
/// # Errors
/// The file cannot be read.
pub fn existing(path: &Path, label: &str, whole: bool) -> Result<Option<Input>> {
    let located = Located::from_path(path);
    // A name with a colon could be divided, but a whole file is meant here.
    if located.suffix.is_some() {
        return Ok(None);
    }
    match OpenOptions::new(label).open(&located) {
        Err(error) if located.is_absent() && error.kind() == ErrorKind::Io(NotFound) => Ok(None),
        Err(error) if whole && error.kind() == ErrorKind::Malformed => Ok(None),
        // A damaged text does not show its format, so the name decides.
        Ok(input) if whole && input.names().is_none() && input.source(0).is_err() => Ok(None),
        opened => opened.map(Some),
    }
}

/// The environment variable with the folder for actual tensors.
pub const KEEP_ACTUAL: &str = "TENSOROP_KEEP_ACTUAL";

/// `NAME.actual.npy` for a tensor, and `NAME.actual.npz` for tensors with names, of a golden file NAME.
pub type KeptFiles = [PathBuf; 2];

/// `folder` is the value of [`KEEP_ACTUAL`]; an empty one keeps nothing.
pub fn files_to_keep(folder: Option<&OsStr>, golden: &Located) -> Option<KeptFiles> {
    let folder = Path::new(folder.filter(|folder| !folder.is_empty())?);
    let (path, member) = golden.output();
    let member = member.map_or_else(String::new, |member| format!(".{member}"));
    let name = path.file_stem().unwrap_or_default().to_string_lossy() + &*member;
    let name = name.replace(['/', '\\', ':'], ".");
    Some(["npy", "npz"].map(|ending| folder.join(format!("{name}.actual.{ending}"))))
}

/// Writes the tensors, and returns a line that says where they are.
///
/// # Errors
/// A tensor cannot be read, or the file written.
pub fn keep([one, several]: &KeptFiles, tensors: Vec<NamedSource>, limits: Limits) -> Result<String> {
    let path = if tensors.iter().any(|tensor| tensor.name.is_some()) { several } else { one };
    let label = path.display().to_string();
    Rewrite::new(path, &label, None, tensors, true, limits)?.write()?;
    Ok(format!("ACTUAL is in {label}"))
}

/// Removes what an earlier check left.
pub fn remove_kept(kept: &KeptFiles) {
    kept.iter().for_each(|path| drop(fs::remove_file(path)));
}
