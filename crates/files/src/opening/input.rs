//! Opens files, stores, streams and raw bytes: [`OpenOptions`] recognises the format and gives an [`Input`], which
//! makes a [`Source`] of each member. A path may end in a member (`weights.npz:conv1`) or a view of raw bytes
//! (`dump.bin:float32[16,-1]`): [`Located`] splits it, and the content decides between the two.

use std::fs::{self, File};
use std::io::{self, Read, Seek};
use std::path::Path;
use std::sync::Arc;

use super::dump_views::DumpShapes;
use super::located::{Located, Place};
use super::table::{Format, FormatName};
use crate::container::content::{BEGIN, Content, ContentSource, Description, MemberFile, read_begin};
use crate::container::interface::{Members, ReadableFile, StoredMember, Unchangeable};
use crate::container::names::InFolder;
use crate::formats::json;
use crate::formats::raw::{self, RawView};
use crate::quantized::{self, AskedLayout, Dequantized, QuantizedCount};
use crate::renamed::{self, NameStyle, OneSided, Renaming};
use crate::storage::platform::same_file;
use crate::storage::read_at::ReadAt;
use crate::storage::requests::{RequestOptions, may_be_meant_as_address};
use crate::storage::source::Source;
use crate::storage::targets::target::refuse_hashed;
use crate::storage::unread::UnreadArray;
use crate::untyped::cells::TableOptions;
use tensorop_kernels::error::{Advice, Context, Error, ErrorKind, Result, malformed, unsupported};
use tensorop_kernels::parallel::Threads;

/// How to open an input.
#[derive(Clone, Debug, Default)]
pub struct OpenOptions {
    pub label: String,
    /// `None` recognises the format by content or name.
    pub format: Option<Format>,
    pub table: TableOptions,
    pub threads: Threads,
    /// Whether to lock the file for writing; [`Input::lock`] locks members of a folder.
    pub locked: bool,
    /// Whether the file may change between reads of its tensors, as a program that keeps it open may change it.
    pub may_change: bool,
    pub requests: RequestOptions,
    /// Whether to reopen files for every read, so that thousands need not stay open.
    pub reopens: bool,
    /// Whether to copy streams to an unnamed file, so that they can be read again.
    pub rereads: bool,
    pub shapes: Option<Arc<DumpShapes>>,
}

impl OpenOptions {
    /// Returns default options.
    pub fn new(label: impl Into<String>) -> Self {
        Self { label: label.into(), ..Self::default() }
    }

    /// Opens a path, with its [member](Input::member) or view.
    ///
    /// # Errors
    /// The file is missing, malformed, in an unknown or another format, or does not fit the view.
    pub fn open(&self, located: &Located) -> Result<Input> {
        let after = located.suffix.clone();
        match &located.place {
            Place::Object(object) => self.open_address(object, after),
            Place::Json(text) => self.open_json(text.clone().into_bytes()),
            Place::Stdin => Err(malformed!("is opened as a stream").within(&*self.label)),
            Place::Store(folder, format) => self.folder(folder, Some(*format), after),
            Place::Folder(folder) if after.is_none() => self.folder(&folder.path, None, None),
            Place::File(path) | Place::Pipe(path) => self.file(path, after),
            Place::Absent(_) | Place::Folder(_) => self.file(located.typed(), None),
        }
    }

    fn folder(&self, folder: &Path, own: Option<Format>, member: Option<String>) -> Result<Input> {
        let format = self.format.filter(|format| format.is_folder()).or(own);
        let format = format.filter(|format| self.format.is_none_or(|wanted| wanted == *format));
        let format = format.ok_or_else(|| no_store(folder));
        let content = Content { member: member.clone(), ..Content::from_folder(folder, self.threads) };
        let reader = format.and_then(|format| Ok((format, format.open(content)?)));
        let (format, reader) = reader.with_context(|| self.label.clone())?;
        Ok(Input { member, ..self.input(format, reader) })
    }

    /// Opens a stream. A container is first copied to an unnamed file.
    ///
    /// # Errors
    /// The stream is unreadable, malformed or in an unknown format.
    pub fn open_stream(&self, stream: Box<dyn Read + Send>) -> Result<Input> {
        let content = Content::from_stream(stream, self.threads).with_context(|| self.label.clone())?;
        let is_empty = content.begin.is_empty();
        // the writer may have printed elsewhere
        self.content(content, None).map_err(|error| if is_empty { error.advising(Advice::PassTensor) } else { error })
    }

    /// Opens bytes.
    ///
    /// # Errors
    /// The content is malformed or in an unknown format.
    pub fn open_bytes(&self, bytes: Arc<dyn ReadAt>) -> Result<Input> {
        self.content(Content::from_bytes(bytes, self.threads).with_context(|| self.label.clone())?, None)
    }

    /// Opens a stream of raw bytes by a view (see [`RawView::parse`]), or a member of a container by its name, which must
    /// not be a view.
    ///
    /// # Errors
    /// The view is invalid or does not fit, reading fails, or the content is malformed or in an unknown format.
    pub fn open_stream_as(&self, stream: Box<dyn Read + Send>, after: &str) -> Result<Input> {
        let content = |stream| Content::from_stream(stream, self.threads);
        self.open_or_view(stream, Some(after.to_owned()), None, |_| None, content)
    }

    fn open_json(&self, text: Vec<u8>) -> Result<Input> {
        let reader = json::open_text(text, self.threads).with_context(|| self.label.clone())?;
        Ok(self.input(Format::JSON, reader))
    }

    pub(crate) fn is_for_files(&self) -> bool {
        !self.format.is_some_and(Format::is_folder)
    }

    pub(crate) fn input(&self, format: Format, file: ReadableFile) -> Input {
        Input { is_edited: self.locked, ..Input::from_file(self.label.clone(), format, file) }
    }

    fn open_file(&self, path: &Path) -> Result<File> {
        if !self.locked {
            return Ok(File::open(path)?);
        }
        loop {
            let file = File::options().read(true).write(true).open(path)?;
            let metadata = file.metadata()?;
            if !metadata.is_file() {
                return Err(unsupported!("not a regular file; only regular files can be changed in place"));
            }
            refuse_hashed(path)?;
            file.lock().context("cannot be locked")?;
            // another file may have taken the name meanwhile
            if same_file(&metadata, &fs::metadata(path)?) {
                return Ok(file);
            }
        }
    }

    fn file(&self, path: &Path, after: Option<String>) -> Result<Input> {
        let file = self.open_file(path).map_err(|error| match error.kind() {
            ErrorKind::Io(io::ErrorKind::NotFound) if may_be_meant_as_address(path) => {
                let message = format!("{}; addresses begin with http://, https://, s3:// or hf://", error.message());
                Error::from_kind(error.kind(), message)
            }
            _ => error,
        });
        let by_name = Format::from_path(path);
        let content = |file| self.file_content(file, path);
        let file = file.with_context(|| self.label.clone())?;
        self.open_or_view(file, after, by_name, |file| self.container(file, path), content)
    }

    pub(crate) fn file_content(&self, file: File, path: &Path) -> Result<Content> {
        let is_changed = self.locked || self.may_change;
        let content = Content::from_file(file, is_changed, path.parent(), self.threads)?;
        let content = if self.reopens { content.reopening(path)? } else { content };
        Ok(Content { path: Some(path.to_owned()), ..content })
    }

    /// `container` must leave `bytes` unchanged.
    pub(crate) fn open_or_view<B>(
        &self,
        mut bytes: B,
        after: Option<String>,
        by_name: Option<Format>,
        container: impl FnOnce(&mut B) -> Option<Input>,
        content: impl FnOnce(B) -> Result<Content>,
    ) -> Result<Input> {
        let context = || self.label.clone();
        let Some(after) = after else {
            return self.content(content(bytes).with_context(context)?, by_name);
        };
        let view = RawView::parse(&after);
        // a member of that name wins over a view, and text that is not a view names a member
        if view.is_ok() || RawView::is_meant(&after) {
            let container = container(&mut bytes);
            let has = |container: &Input| container.names().is_some_and(|names| names.contains(&after));
            if let Some(container) = container.filter(|container| view.is_err() || has(container)) {
                return Ok(Input { member: Some(after), ..container });
            }
            let content = content(bytes).with_context(context)?;
            return self.viewed(content, &view.with_context(context)?);
        }
        let content = content(bytes).with_context(context)?;
        let named = FormatName { asked: self.format, by_name };
        let is_container = Format::recognise(&content.begin, None, named).is_ok_and(Format::is_container);
        match (self.content(content, by_name), view) {
            // outside a container the text may be a misspelt dtype
            (Err(error), Err(unknown))
                if !is_container && self.format.is_none() && !matches!(error.kind(), ErrorKind::Io(_)) =>
            {
                Err(malformed!("{error}; as bytes without a header: {}", unknown.message()))
            }
            (opened, _) => Ok(Input { member: Some(after), ..opened? }),
        }
    }

    fn container(&self, file: &mut File, path: &Path) -> Option<Input> {
        let metadata = file.metadata().ok().filter(|metadata| metadata.is_file())?;
        let begin = read_begin(file).ok()?;
        file.rewind().ok()?;
        Format::recognise(&begin, Some(metadata.len()), FormatName { asked: self.format, by_name: None })
            .ok()
            .filter(|format| format.is_container())?;
        let content = self.file_content(file.try_clone().ok()?, path).ok()?;
        let container = self.content(content, None).ok();
        // the clone shares the position of the file
        file.rewind().ok()?;
        container
    }

    fn viewed(&self, content: Content, view: &RawView) -> Result<Input> {
        let reader = raw::open(content, view, self.locked).with_context(|| self.label.clone())?;
        Ok(self.input(Format::RAW, reader))
    }

    pub(crate) fn content(&self, content: Content, by_name: Option<Format>) -> Result<Input> {
        let label = &self.label;
        let len = match &content.opened {
            ContentSource::Bytes { size, .. } => Some(*size),
            ContentSource::Folder(_) => None,
            ContentSource::Stream(_) => (content.begin.len() < BEGIN).then_some(content.begin.len() as u64),
        };
        let format = Format::recognise(&content.begin, len, FormatName { asked: self.format, by_name });
        let format = format.with_context(|| label.clone())?;
        let content = if format.is_read_in_order() { content.in_order() } else { content };
        let content = if self.rereads { content.seekable().with_context(|| label.clone())? } else { content };
        let content = Content { requests: self.requests, table: self.table.clone(), ..content };
        Ok(self.input(format, format.open(content).with_context(|| label.clone())?))
    }
}

/// An open input. Members are numbered in the order of the content; a format of one tensor has member 0 without a
/// name.
#[derive(Debug)]
pub struct Input {
    pub(crate) label: String,
    pub(crate) format: Format,
    /// Its errors lack the label.
    pub(crate) file: ReadableFile,
    pub(crate) member: Option<String>,
    /// Whether it is open for changes in place.
    pub is_edited: bool,
    /// The folder that was opened.
    pub(crate) folder: Option<Box<InFolder>>,
    /// Names of hidden tensors, which patterns may match.
    pub(crate) left_alone: Vec<String>,
    pub(crate) one_sided: OneSided,
}

impl Input {
    /// Locks member `n` of a folder while its source exists.
    ///
    /// # Errors
    /// The member is malformed or cannot be locked.
    pub fn lock(&self, n: usize, shared: bool) -> Result<()> {
        self.file.lock(n, shared).with_context(|| self.label.clone())
    }

    /// Locks the chosen tensor; its shard replaces an index.
    ///
    /// # Errors
    /// Several tensors match, or the shard cannot be opened or locked.
    pub fn lock_chosen(self, options: &OpenOptions, shared: bool) -> Result<Self> {
        let n = self.chosen()?;
        self.lock(n, shared)?;
        let Some(shard) = self.file_of(n)?.path else { return Ok(self) };
        let name = self.name(n).expect("a tensor in another file is found by its name").to_owned();
        // others may edit other shards meanwhile
        drop(self);
        let input = OpenOptions { format: None, ..options.clone() }.open(&Located::from_path(&shard))?;
        Ok(Self { member: Some(name), ..input })
    }

    pub(crate) fn from_file(label: String, format: Format, file: ReadableFile) -> Self {
        let (left_alone, one_sided) = (Vec::new(), OneSided::default());
        Self { label, format, file, member: None, folder: None, left_alone, one_sided, is_edited: false }
    }

    /// Returns the name in messages.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// Returns a note on unused files beside a model's index.
    pub fn beside_message(&self) -> Option<&str> {
        self.folder.as_ref()?.beside.as_deref()
    }

    /// Returns the format.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Returns the format of a member's file.
    pub fn format_of(&self, file: &MemberFile) -> Format {
        file.format.and_then(Format::named).unwrap_or(self.format)
    }

    /// Returns the member in the path.
    pub fn member(&self) -> Option<&str> {
        self.member.as_deref()
    }

    /// Returns the member names; `None` for a format of one tensor.
    pub fn names(&self) -> Option<&[String]> {
        self.members().names()
    }

    /// Returns the name of member `n`.
    pub fn name(&self, n: usize) -> Option<&str> {
        self.names()?.get(n).map(String::as_str)
    }

    /// Makes one member of the parts of each quantised weight. `located` is where the input was opened. Scales of
    /// activations are hidden, except those that `is_named` accepts.
    ///
    /// # Errors
    /// A file beside the tensors cannot be read, states a layout that is not read or another than requested, or none does.
    pub fn dequantized(
        self,
        asked: &AskedLayout,
        located: &Located,
        requests: RequestOptions,
        is_named: impl Fn(&str) -> bool,
    ) -> Result<(Self, Dequantized)> {
        let Self { file, label, .. } = self;
        let folder = located.folder();
        let opened = quantized::open(file, asked, folder.as_deref(), requests, is_named);
        let (file, found) = opened.with_context(|| label.clone())?;
        Ok((Self { file, label, left_alone: found.left_alone.clone(), ..self }, found))
    }

    /// Gives tensors the names of a checkpoint or of a GGUF. `located` is where the input was opened. If it `compares`, the
    /// names of a checkpoint lose those of the models around it.
    ///
    /// # Errors
    /// The architecture has no table of names, or no file states it.
    pub fn renamed(
        self,
        style: NameStyle,
        compares: bool,
        located: &Located,
        requests: RequestOptions,
    ) -> Result<(Self, Renaming)> {
        let Self { file, label, .. } = self;
        let opened = renamed::open(file, style, compares, located.folder().as_deref(), requests);
        let (file, found) = opened.with_context(|| label.clone())?;
        Ok((Self { file, label, one_sided: found.one_sided.clone(), ..self }, found))
    }

    /// Returns the names of tensors that a checkpoint or a GGUF has alone by design.
    pub fn one_sided(&self) -> &OneSided {
        &self.one_sided
    }

    /// Returns the source of member `n` with its rows in the stored order, if the architecture has another.
    pub fn as_stored(&self, n: usize) -> Option<Result<Source>> {
        self.file.as_stored(n, &|| self.label_of(self.name(n)))
    }

    /// Counts the tensors that make up quantised weights, by the layouts that files beside them tell.
    ///
    /// # Errors
    /// A file beside the tensors cannot be read.
    pub fn quantized(&self, located: &Located, requests: RequestOptions) -> Result<Vec<QuantizedCount>> {
        let folder = located.folder();
        quantized::count(&self.file, folder.as_deref(), requests).with_context(|| self.label.clone())
    }

    /// Describes the file of member `n`.
    ///
    /// # Errors
    /// The file is unreadable or lacks the member.
    pub fn file_of(&self, n: usize) -> Result<MemberFile> {
        let found = self.file.file_of(n).with_context(|| self.label.clone())?;
        Ok(match self.folder.as_ref().and_then(|folder| folder.model.as_ref()) {
            Some((_, path)) if found.path.is_none() => {
                MemberFile { path: Some(path.clone()), member: self.name(n).map(str::to_owned), ..found }
            }
            Some(_) | None => found,
        })
    }

    /// Returns why the format of the file that holds member `n` keeps it from being changed in place.
    pub fn unchangeable(&self, n: Option<usize>) -> Option<Unchangeable> {
        let format = n.and_then(|n| Format::named(self.file_of(n).ok()?.format?));
        format.unwrap_or(self.format).unchangeable()
    }

    /// Describes member `n`; only plain JSON is read whole.
    ///
    /// # Errors
    /// The member is malformed.
    pub fn describe(&self, n: usize) -> Result<Description> {
        self.file.describe(n).with_context(|| self.label_of(self.name(n)))
    }

    /// Returns the name of a member in messages.
    pub fn label_of(&self, member: Option<&str>) -> String {
        let label = &self.label;
        match member {
            Some(name) if !label.strip_suffix(name).is_some_and(|file| file.ends_with(':')) => {
                let glob = self.member.as_ref().filter(|member| *member != name);
                let file = glob.and_then(|glob| label.strip_suffix(&**glob)?.strip_suffix(':'));
                format!("{}:{name}", file.unwrap_or(label))
            }
            Some(_) | None => label.clone(),
        }
    }

    /// Returns the items of member `n`; a stream gives them once.
    ///
    /// # Errors
    /// The member is malformed.
    pub fn source(&self, n: usize) -> Result<Source> {
        self.source_as(n, self.label.clone())
    }

    /// Returns the items of member `n`, labelled.
    ///
    /// # Errors
    /// The member is malformed.
    pub fn source_as(&self, n: usize, label: String) -> Result<Source> {
        let source = self.file.source(n, label.clone()).context(label)?;
        // a folder of stores is a group without metadata
        let name = if source.as_chunks().is_some() { self.name_in_group(n) } else { None };
        Ok(match name {
            Some(name) => source.in_group(name),
            None => source,
        })
    }

    /// Members of a whole group keep their names, so that the output is a group, too.
    fn name_in_group(&self, n: usize) -> Option<&str> {
        // nested arrays are listed only when needed
        let is_whole = self.member.is_none() && self.members().itself != Some(n);
        if is_whole { self.name(n) } else { None }
    }

    /// Returns a Zarr array of unknown dtype or codec, to be copied unread.
    ///
    /// # Errors
    /// The array cannot be listed.
    pub fn unread(&self, n: usize) -> Result<Option<UnreadArray>> {
        let Some(unread) = self.file.stored(n).unread else { return Ok(None) };
        let mut found = unread().with_context(|| self.label_of(self.name(n)))?;
        found.iter_mut().for_each(|array| array.is_of_group = self.name_in_group(n).is_some());
        Ok(found)
    }

    /// Returns the members.
    pub fn members(&self) -> &Members {
        &self.file.members
    }

    /// Returns the stored form of member `n`.
    pub fn stored(&self, n: usize) -> StoredMember {
        self.file.stored(n)
    }
}

fn no_store(folder: &Path) -> Error {
    let is_zarr = ["zarr.json", ".zarray", ".zgroup"].iter().any(|mark| folder.join(mark).is_file());
    match cfg!(feature = "zarr") || !is_zarr {
        true => malformed!("is a folder, expected a file"),
        false => unsupported!("is a Zarr store, which needs the feature zarr of tensorop"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::{npy, npz};
    use crate::storage::platform::write_at;

    #[test]
    fn a_member_that_is_not_in_order_is_named() {
        let header = npy::write_header(&tensorop_kernels::item::meta::Meta::c_order(
            tensorop_kernels::DType::parse("uint8").expect("a dtype"),
            vec![2],
        ));
        let objects = String::from_utf8_lossy(&header).replace("|u1", "|O ").into_bytes();
        let objects = [&header[..8], &objects[objects.len() - (header.len() - 8)..]].concat();
        let members = vec![("good".to_owned(), header, 2), ("bad".to_owned(), objects, 2)];
        let writer = npz::ArchiveWriter::new(members).expect("an archive");
        let named = tempfile::NamedTempFile::new().expect("a file");
        let file = named.as_file();
        let sums = npz::WrittenSums::default();
        for n in 0..2 {
            write_at(file, b"xy", writer.items_at(n)).expect("written");
            sums.add(b"xy", writer.items_at(n));
        }
        writer.finish(file, &sums).expect("written");
        let mut failures = Vec::new();
        for (label, member, expected) in [
            ("FILE a.npz", "bad", "FILE a.npz:bad: "),
            ("FILE a.npz:bad", "bad", "FILE a.npz:bad: "),
            ("FILE a.npz", "good", ""),
        ] {
            let options = OpenOptions { format: Some(Format::NPZ), ..OpenOptions::new(label) };
            let input = options.open(&Located::from_path(named.path())).expect("read");
            let n = input.pick(Some(member)).expect("a member");
            let described = input.describe(n).map(|_| ()).map_err(|e| format!("{e:#}"));
            let opened = input.source_as(n, expected.trim_end_matches(": ").to_owned()).map(|_| ());
            let opened = opened.map_err(|e| format!("{e:#}"));
            for found in [described, opened] {
                let good = match &found {
                    Ok(()) => expected.is_empty(),
                    Err(message) => !expected.is_empty() && message.starts_with(expected),
                };
                if !good {
                    failures.push(format!("{label} {member}: {found:?}, expected {expected:?}"));
                }
            }
        }
        assert!(failures.is_empty(), "{}", failures.join("\n"));
    }
}
