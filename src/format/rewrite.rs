//! Files written anew with other tensors in them, in the format that they have: golden files that become what was found.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Map, Value};

use super::files;
use super::interface::{Extras, TextOptions};
use super::open::{Input, OpenOptions, files_before_colons};
use super::table::{Format, listed};
use super::write::{Plan, Work, named};
use crate::error::{Context, Error, ErrorKind, Result, malformed};
use crate::ops::fill::Limits;
use crate::ops::selection::Selection;
use crate::ops::slice::SliceArgs;
use crate::ops::slice_scatter::SliceScatter;
use crate::ops::updates::Updates;
use crate::storage::chunked::ChunkStyle;
use crate::storage::conversion::Conversion;
use crate::storage::source::{Source, merged};
use crate::storage::target::Target;

/// The environment variable that makes golden files anew, if it is `1`.
pub const UPDATE_GOLDEN: &str = "TENSOROP_UPDATE_GOLDEN";

/// A file about to be written, with all that can be checked before checked.
#[derive(Debug)]
pub struct Rewrite {
    target: Target,
    plan: Plan,
}

impl Rewrite {
    /// What a file becomes with other tensors in it, each under its name, in the place of one that has the name or beside
    /// the others; a file of one tensor becomes the one that is given. `old` is the file as it is now; one that is not
    /// there is made in `format`. All items are written in C order. Messages call the file `label`.
    ///
    /// # Errors
    /// A file that may not be written, or lies in no folder; a format that cannot hold the tensors; those of opening what
    /// stays.
    pub fn new(
        (path, label): (&Path, &str),
        old: Option<&Input>,
        format: Format,
        tensors: Vec<(Option<String>, Source)>,
        limits: Limits,
    ) -> Result<Self> {
        let place = || label.to_owned();
        let format = old.map_or(format, Input::format);
        if !format.is_read() || !format.is_written() || old.is_some_and(|old| old.unwritten().is_some()) {
            let message = format!("{} is not written anew: name a file of another format", format.name());
            return Err(Error::of(ErrorKind::Unsupported, message).within(label));
        }
        let target = files::target(path, label.to_owned(), format)?;
        let mut works: Vec<(Option<String>, Work)> = Vec::new();
        let mut notes = Vec::new();
        if let Some(old) = old {
            let replaced: HashSet<&str> = tensors.iter().filter_map(|(name, _)| name.as_deref()).collect();
            for (n, name) in old.names().into_iter().flatten().enumerate() {
                notes.extend(old.notes(n)?);
                if !replaced.contains(name) {
                    works
                        .push((Some(name.to_owned()), Work::copy(old.source_as(n, old.label_of(Some(name)))?, limits)));
                }
            }
        }
        let own_name = old.and_then(Input::own_name);
        let is_group = old.map_or(tensors.iter().any(|(name, _)| name.is_some()), |old| old.names().is_some());
        for (name, source) in tensors {
            let name = name.or_else(|| own_name.map(str::to_owned));
            let style = old.and_then(|old| old_style(old, name.as_deref(), &source));
            works.push((name, Work { style, ..Work::copy(source, limits) }));
        }
        let works = named(works, format).with_context(place)?;
        for (name, work) in &works {
            work.check(format)
                .with_context(|| if format.is_container() { format!("{label}:{name}") } else { place() })?;
        }
        let compress = old.is_some_and(Input::is_compressed);
        let extras = Extras { notes: merged(&notes), compress, is_group, ..Extras::default() };
        Ok(Self { plan: Plan::prepare(works, format, label, &extras)?, target })
    }

    /// Writes it: the file is the old one or all of the new one.
    ///
    /// # Errors
    /// Of reading and writing.
    pub fn write(&self) -> Result<()> {
        let mut sink = self.target.create()?;
        self.plan.write(&mut sink, &TextOptions::default(), &|_| {})?;
        sink.finish()
    }

    /// How many tensors it holds then.
    pub fn tensors(&self) -> usize {
        self.plan.tensors().count()
    }
}

/// How the tensor was stored whose place a new one takes, if that is in chunks: whoever accepts other items has not asked
/// for other chunks.
fn old_style(old: &Input, name: Option<&str>, new: &Source) -> Option<Arc<ChunkStyle>> {
    if !old.format().can().chunks {
        return None;
    }
    let source = old.source(old.pick(name.filter(|_| old.names().is_some())).ok()?).ok()?;
    let style = source.as_chunks()?.style();
    if source.dtype().same_kind(new.dtype()) && source.dtype().itemsize() == new.dtype().itemsize() {
        return Some(Arc::clone(style));
    }
    // the bits of the old item would say something else
    Some(ChunkStyle { fill: Vec::new(), ..ChunkStyle::clone(style) }.into())
}

/// The file that a path of a tensor means, whether it is there or not, and the name of the tensor in it: of one that is
/// not there, what stands behind a container's ending and a colon.
pub fn divided(path: &Path) -> (PathBuf, Option<String>) {
    if path.exists() {
        return (path.to_owned(), None);
    }
    if let Some((file, name)) = files_before_colons(path).next() {
        return (file, Some(String::from_utf8_lossy(name).into_owned()));
    }
    let is_container = |file: &&str| Format::of_file_name(file).is_some_and(|(format, _)| format.is_container());
    let text = path.to_str().unwrap_or_default();
    match text.rsplit_once(':').filter(|(file, name)| is_container(file) && !name.is_empty()) {
        Some((file, name)) => (file.into(), Some(name.to_owned())),
        None => (path.to_owned(), None),
    }
}

/// The format that a file which is not there is made in, by its name.
///
/// # Errors
/// A name that does not tell it; a format that is read only, or written only: what is expected is read again.
pub fn new_format(path: &Path) -> Result<Format> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let format = Format::of_file_name(&name).map(|(format, _)| format).or_else(|| Format::of_name(path).ok());
    let is_kept = |format: &Format| format.is_read() && format.is_written();
    let why = match format {
        Some(format) if is_kept(&format) => return Ok(format),
        Some(format) if format.is_read() => format!("{} is read, but not written", format.name()),
        Some(format) => format!("{} is written, but not read again", format.name()),
        None => "the name does not tell the format".to_owned(),
    };
    let endings: Vec<_> = Format::all().filter(is_kept).map(|format| format!(".{}", format.extension())).collect();
    Err(Error::of(ErrorKind::Unsupported, format!("{why}: end it in {}", listed(&endings, "or"))))
}

/// Checks whether a tensor of which nothing of its kind is written ([`Input::unwritten`]) can become `new` where it lies.
/// Messages call the old tensor `label` and the new one `role`.
///
/// # Errors
/// Another dtype or shape, of which items alone could not tell; a tensor of no axis; one that cannot be opened.
pub fn check_in_place((input, n): (&Input, usize), new: &Source, label: &str, role: &str) -> Result<()> {
    let old = input.source(n)?;
    let is_like = old.dtype().native() == new.dtype().native() && old.shape() == new.shape();
    if is_like {
        // places of a slice have an axis
        let why = "a tensor without axes is not changed where it lies";
        let refused = || Err(Error::of(ErrorKind::Unsupported, why.to_owned()).within(label));
        return if old.shape().is_empty() { refused() } else { Ok(()) };
    }
    let described = |source: &Source| format!("{} {:?}", source.dtype().native().name(), source.shape());
    let why = input.unwritten().unwrap_or_else(|| Error::of(ErrorKind::Unsupported, "only items are changed"));
    let message = format!("{}, and {role} is {}; {}", described(&old), described(new), why.message());
    let refused = Error::of(ErrorKind::Unsupported, message).within(label);
    Err(why.advice().map_or(refused.clone(), |advice| refused.advising(advice)))
}

/// The work of putting new tensors in the places of those of a file where they lie, one for each. The file is opened once,
/// and each tensor locked first. Messages call the file `label`.
///
/// # Errors
/// Those of [`OpenOptions::open`] and [`check_in_place`].
pub fn in_place(
    (path, label): (&Path, &str),
    tensors: Vec<(Option<String>, Source)>,
    limits: Limits,
) -> Result<Vec<Work>> {
    let options = OpenOptions { threads: limits.threads, locked: true, ..OpenOptions::new(label) };
    let input = options.open(path)?;
    let work = |(name, new): (Option<String>, Source)| {
        let label = name.as_ref().map_or_else(|| label.to_owned(), |name| format!("{label}:{name}"));
        let n = input.pick(input.member().or(name.as_deref()))?;
        input.lock(n, false)?;
        check_in_place((&input, n), &new, &label, "the new tensor")?;
        let old = input.source(n)?;
        let places = SliceScatter::resolve(old.shape(), &SliceArgs::default(), None).with_context(|| label.clone())?;
        let conversion =
            Conversion::new(new.dtype(), old.dtype()).with_context(|| format!("{label}: another dtype"))?;
        let mut updates = Updates::new(new, conversion);
        updates.keep_from(&old)?;
        Ok(Work::new(Box::new(places.link(Selection::in_place(old), updates)), limits))
    };
    tensors.into_iter().map(work).collect()
}

/// An index of shards that is to be written anew, as the text that it becomes.
///
/// # Errors
/// What is no index; of reading.
pub fn index_text(
    path: &Path,
    label: &str,
    added: &BTreeMap<String, String>,
    more_bytes: i128,
) -> Result<Option<String>> {
    let text = std::fs::read_to_string(path).with_context(|| label.to_owned())?;
    let wrong = |what: &str| malformed!("{label}: {what}");
    let mut top: Map<String, Value> = serde_json::from_str(&text).map_err(|_| wrong("no index"))?;
    let mut changed = !added.is_empty();
    if let Some(Value::Object(map)) = top.get_mut("weight_map") {
        map.extend(added.iter().map(|(name, file)| (name.clone(), Value::from(file.clone()))));
    }
    let total = top.get_mut("metadata").and_then(|metadata| metadata.get_mut("total_size"));
    if let Some(total) = total.filter(|total| total.is_u64() && more_bytes != 0) {
        let bytes = i128::from(total.as_u64().unwrap_or(0)) + more_bytes;
        *total = Value::from(u64::try_from(bytes).unwrap_or(0));
        changed = true;
    }
    let written = || serde_json::to_string_pretty(&top).map(|text| text + "\n").map_err(|_| wrong("no index"));
    changed.then(written).transpose()
}

/// Writes a text in the place of a file, or none of it.
///
/// # Errors
/// Of writing.
pub fn write_text(path: &Path, label: &str, text: &str) -> Result<()> {
    let target = Target::resolve(path, label.to_owned(), false)?;
    let mut sink = target.create()?;
    std::io::Write::write_all(&mut sink, text.as_bytes()).with_context(|| format!("{label}: cannot be written"))?;
    sink.finish()
}

/// Opens a file that is there to be written anew; `None` of one that is not.
///
/// # Errors
/// Those of [`OpenOptions::open`], but that of a file that is not there.
pub fn existing(path: &Path, label: &str) -> Result<Option<Input>> {
    match path.try_exists() {
        Ok(false) => Ok(None),
        _ => OpenOptions::new(label).open(path).map(Some),
    }
}
