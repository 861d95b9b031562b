//! Opens what holds tensors: a file, a folder that is a store, a stream, or bytes without a header.
//!
//! [`OpenOptions`] finds out which format the content is in and gives an [`Input`], which knows the names of the members
//! and makes a [`Source`] of each. A path may name a member or the type of raw bytes behind a colon
//! (`weights.npz:conv1`, `dump.bin:float32[16,-1]`): [`Located`] says where the path leads, and the content which of the two
//! follows the colon.

use std::fs::{self, File};
use std::io::{self, Read, Seek};
use std::path::Path;
use std::sync::Arc;

use super::content::{BEGIN, Content, ContentSource, Description, MemberFile, read_begin};
use super::dump_views::DumpShapes;
use super::interface::Reader;
use super::json;
use super::located::{Located, Place};
use super::raw::{self, RawView};
use super::table::{Format, FormatName};
use super::values::delimiter::Delimiter;
use crate::error::{Advice, Context, Error, ErrorKind, Result, malformed};
use crate::format::name_filter::InFolder;
use crate::parallel::Threads;
use crate::storage::calls::CallCounter;
use crate::storage::links::refuse_hashed;
use crate::storage::platform::same_file;
use crate::storage::read_at::ReadAt;
use crate::storage::requests::{RequestOptions, may_be_meant_as_address};
use crate::storage::source::Source;
use crate::storage::unread::UnreadArray;

/// How something is opened. [`OpenOptions::new`] and the default values suit most callers.
#[derive(Clone, Debug, Default)]
pub struct OpenOptions {
    /// What messages call it.
    pub label: String,
    /// The format that it is read in, whatever its content looks like. `None` lets the content decide, and the ending of
    /// the name for formats such as CSV that no content tells.
    pub format: Option<Format>,
    /// The number of lines to skip at the beginning of CSV and TSV.
    pub skip_rows: usize,
    /// The delimiter of cells in CSV and TSV, if it is not a comma or a tab.
    pub delimiter: Option<Delimiter>,
    /// The text that CSV and TSV have in the place of cells without a value: empty ones, `NA`, `N/A`, `null` and `nan`.
    pub missing: Option<String>,
    /// The threads that may share what is read before items are wanted.
    pub threads: Threads,
    /// Whether a file is opened for writing, too, and locked before anything of it is read, so that no other edit comes
    /// between. [`Input::lock`] locks the members of a folder.
    pub locked: bool,
    /// How servers are asked for what lies behind addresses.
    pub requests: RequestOptions,
    /// Whether a file is not kept open, but opened again for every read: for thousands of files at the same time.
    pub reopens: bool,
    /// What files without a header in folders are.
    pub shapes: Option<Arc<DumpShapes>>,
    /// What counts the reads of files, for an explanation.
    pub counter: Option<Arc<CallCounter>>,
}

impl OpenOptions {
    /// Options for something that messages call `label`.
    pub fn new(label: impl Into<String>) -> Self {
        Self { label: label.into(), ..Self::default() }
    }

    /// Opens what a path leads to: in a container maybe a [member](Input::member), in any file maybe its bytes as a [`View`]
    /// describes them.
    ///
    /// # Errors
    /// There is no such file; it is a folder in no known format; the content is in no known format, or not in
    /// [`format`](Self::format); the bytes are not what the view says. With [`locked`](Self::locked) a file that is not a
    /// regular one is refused as [`Unsupported`](ErrorKind::Unsupported).
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

    /// Opens a folder, which is in a format `own` if that is known, and of which a member may be named.
    fn folder(&self, folder: &Path, own: Option<Format>, member: Option<String>) -> Result<Input> {
        let format = self.format.filter(|format| format.is_folder()).or(own);
        let format = format.filter(|format| self.format.is_none_or(|wanted| wanted == *format));
        let format = format.ok_or_else(|| no_store(folder));
        let content = Content { member: member.clone(), ..Content::from_folder(folder, self.threads) };
        let reader = format.and_then(|format| Ok((format, format.open(content)?)));
        let (format, reader) = reader.with_context(|| self.label.clone())?;
        Ok(self.input(format, reader).with_member(member))
    }

    /// Opens a stream, which is read from front to back once. A container is first copied to a nameless file in the
    /// folder for temporary files.
    ///
    /// # Errors
    /// Those of [`open`](Self::open), and of reading the stream.
    pub fn open_stream(&self, stream: Box<dyn Read + Send>) -> Result<Input> {
        let content = Content::from_stream(stream, self.threads).with_context(|| self.label.clone())?;
        let is_empty = content.begin.is_empty();
        // what should have been written here may have been printed elsewhere
        self.content(content, None).map_err(|error| if is_empty { error.advising(Advice::PassTensor) } else { error })
    }

    /// Opens bytes that can be read by position.
    ///
    /// # Errors
    /// Those of [`open`](Self::open).
    pub fn open_bytes(&self, bytes: Arc<dyn ReadAt>) -> Result<Input> {
        self.content(Content::from_bytes(bytes, self.threads).with_context(|| self.label.clone())?, None)
    }

    /// Opens a stream of bytes without a header, which `view` describes as [`View::parse`] reads it. If the view leaves a
    /// dim open, the stream is first copied to a nameless file.
    ///
    /// # Errors
    /// The text is no view; the bytes are not what it says; of reading the stream.
    pub fn open_stream_as(&self, stream: Box<dyn Read + Send>, view: &str) -> Result<Input> {
        let context = || self.label.clone();
        let view = RawView::parse(view).with_context(context)?;
        self.viewed(Content::from_stream(stream, self.threads).with_context(context)?, &view)
    }

    /// Opens a JSON text.
    ///
    /// # Errors
    /// The text is a body of KServe with two tensors of one name, or with binary data.
    fn open_json(&self, text: Vec<u8>) -> Result<Input> {
        let reader = json::open_text(text, self.threads).with_context(|| self.label.clone())?;
        Ok(self.input(Format::JSON, reader))
    }

    /// Returns whether these options may be those of the files in a folder: a format that is a folder itself is none of a
    /// file.
    pub(super) fn is_for_files(&self) -> bool {
        !self.format.is_some_and(Format::is_folder)
    }

    pub(super) fn input(&self, format: Format, reader: Box<dyn Reader>) -> Input {
        let label = self.label.clone();
        Input { label, format, reader, member: None, folder: None, beside: None, is_edited: self.locked }
    }

    /// Opens a file, and locks it if it is to be changed.
    fn open_file(&self, path: &Path) -> Result<File> {
        if !self.locked {
            return Ok(File::open(path)?);
        }
        loop {
            let file = File::options().read(true).write(true).open(path)?;
            let metadata = file.metadata()?;
            if !metadata.is_file() {
                return Err(Error::from_kind(
                    ErrorKind::Unsupported,
                    "not a regular file; only regular files can be changed in place",
                ));
            }
            refuse_hashed(path)?;
            file.lock().context("cannot be locked")?;
            // while this process waited for the lock, another file may have taken the name
            if same_file(&metadata, &fs::metadata(path)?) {
                return Ok(file);
            }
        }
    }

    /// Opens a file whose path may say more than its content, and what follows a colon after the path.
    fn file(&self, path: &Path, after: Option<String>) -> Result<Input> {
        let file = self.open_file(path).map_err(|error| match error.kind() {
            ErrorKind::Io(io::ErrorKind::NotFound) if may_be_meant_as_address(path) => {
                let message = format!("{}; addresses begin with http://, https://, s3:// or hf://", error.message());
                Error::from_kind(error.kind(), message)
            }
            _ => error,
        });
        let (folder, by_name) = (path.parent(), Format::from_path(path));
        let content = |file| self.opened(Content::from_file(file, folder, self.threads)?, path);
        let file = file.with_context(|| self.label.clone())?;
        self.open_or_view(file, after, by_name, |file| self.container(file, folder), content)
    }

    /// Returns the content of a file, which was found at `path`, as these options want it to be read.
    pub(super) fn opened(&self, content: Content, path: &Path) -> Result<Content> {
        let content = if self.reopens { content.reopening(path)? } else { content };
        Ok(content.counted(self.counter.as_ref()))
    }

    /// Opens bytes whose name may say more than they do themselves: `container` tries to open them as a container and leaves
    /// them as they were, and `content` opens them.
    pub(super) fn open_or_view<B>(
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
        // a member of that name is preferred to a view, and text that is no view names a member
        if view.is_ok() || RawView::is_meant(&after) {
            let container = container(&mut bytes);
            let has = |container: &Input| container.names().is_some_and(|names| names.contains(&&*after));
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
            // of a container what follows the colon is a member, else it could be meant as a dtype
            (Err(error), Err(unknown))
                if !is_container && self.format.is_none() && error.kind() == ErrorKind::Malformed =>
            {
                Err(malformed!("{error}; as bytes without a header: {}", unknown.message()))
            }
            (opened, _) => Ok(Input { member: Some(after), ..opened? }),
        }
    }

    /// Opens a regular file as a container; `None` if it is no valid one.
    fn container(&self, file: &mut File, folder: Option<&Path>) -> Option<Input> {
        let metadata = file.metadata().ok().filter(|metadata| metadata.is_file())?;
        let begin = read_begin(file).ok()?;
        file.rewind().ok()?;
        Format::recognise(&begin, Some(metadata.len()), FormatName { asked: self.format, by_name: None })
            .ok()
            .filter(|format| format.is_container())?;
        let content =
            Content::from_file(file.try_clone().ok()?, folder, self.threads).ok()?.counted(self.counter.as_ref());
        let container = self.content(content, None).ok();
        // the clone shares the position of the file, and has moved it
        file.rewind().ok()?;
        container
    }

    /// Opens bytes as what a view says that they are.
    fn viewed(&self, content: Content, view: &RawView) -> Result<Input> {
        let reader = raw::open(content, view, self.locked).with_context(|| self.label.clone())?;
        Ok(self.input(Format::RAW, reader))
    }

    /// Opens content in [`format`](Self::format), else in the format that its name tells, else in the one that its first
    /// bytes tell.
    pub(super) fn content(&self, content: Content, by_name: Option<Format>) -> Result<Input> {
        let label = &self.label;
        let len = match &content.opened {
            ContentSource::Bytes { size, .. } => Some(*size),
            ContentSource::Folder(_) => None,
            ContentSource::Stream(_) => (content.begin.len() < BEGIN).then_some(content.begin.len() as u64),
        };
        let format = Format::recognise(&content.begin, len, FormatName { asked: self.format, by_name });
        let format = format.with_context(|| label.clone())?;
        let content = if format.is_read_in_order() { content.in_order() } else { content };
        let Self { requests, skip_rows, delimiter, missing, .. } = self;
        let (requests, skip_rows, delimiter, missing) = (*requests, *skip_rows, *delimiter, missing.clone());
        let content = Content { requests, skip_rows, delimiter, missing, ..content };
        Ok(self.input(format, format.open(content).with_context(|| label.clone())?))
    }
}

/// Something open that holds one tensor, or several with names (a container).
///
/// Its tensors are its members, numbered from 0 in the order of the content; a format that holds one tensor has the one
/// member 0, which has no name.
#[derive(Debug)]
pub struct Input {
    pub(super) label: String,
    format: Format,
    reader: Box<dyn Reader>,
    member: Option<String>,
    is_edited: bool,
    /// What is known of a folder that it is the one model of.
    pub(super) folder: Option<Box<InFolder>>,
    /// What is said of files in a folder that lie beside the index of its model.
    beside: Option<String>,
}

impl Input {
    /// Locks what holds member `n` of a folder for as long as its source exists: alone, or, if `together`, shared with
    /// others that change other parts of it.
    ///
    /// # Errors
    /// The member is damaged; of locking.
    pub fn lock(&self, n: usize, shared: bool) -> Result<()> {
        self.reader.lock(n, shared).with_context(|| self.label.clone())
    }

    /// Locks the one tensor that the path means, alone or `together` with others that change other parts of it. An index is
    /// left for the shard that the tensor lies in. `options` are those that this was opened with.
    ///
    /// # Errors
    /// Those of [`chosen`](Self::chosen), [`lock`](Self::lock) and of opening the shard.
    pub fn lock_chosen(self, options: &OpenOptions, shared: bool) -> Result<Self> {
        let n = self.chosen()?;
        self.lock(n, shared)?;
        let Some(shard) = self.file_of(n)?.path else { return Ok(self) };
        let name = self.name(n).expect("a tensor in another file is found by its name").to_owned();
        // the index itself is not changed: others may edit tensors of other shards meanwhile
        drop(self);
        let input = OpenOptions { format: None, ..options.clone() }.open(&Located::from_path(&shard))?;
        Ok(Self { member: Some(name), ..input })
    }

    /// Returns what `reader` reads, which messages call `label`.
    pub(super) fn from_reader(label: String, format: Format, reader: Box<dyn Reader>) -> Self {
        Self { label, format, reader, member: None, folder: None, beside: None, is_edited: false }
    }

    /// Returns it with what is to be said of files beside the index of a folder.
    pub(super) fn with_beside(self, beside: Option<String>) -> Self {
        Self { beside, ..self }
    }

    /// Returns it with the name of a member, if the path gave one.
    pub(super) fn with_member(self, member: Option<String>) -> Self {
        Self { member, ..self }
    }

    /// Returns what messages call it.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// Returns what is to be said of files in a folder that lie beside the index of its model, and are left alone.
    pub fn beside_message(&self) -> Option<&str> {
        self.beside.as_deref()
    }

    /// Returns whether it was opened to be changed where it lies.
    pub fn is_edited(&self) -> bool {
        self.is_edited
    }

    /// Returns the format that it is in.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Returns the format of a file that a member lies in, which is another than that of a folder of files.
    pub fn format_of(&self, file: &MemberFile) -> Format {
        file.format.and_then(Format::named).unwrap_or(self.format)
    }

    /// Returns the name of a member that the path gave behind a colon.
    pub fn member(&self) -> Option<&str> {
        self.member.as_deref()
    }

    /// Returns the names of a container's members; `None` if the format holds one tensor, without a name.
    pub fn names(&self) -> Option<Vec<&str>> {
        self.reader.names().map(|names| names.iter().map(String::as_str).collect())
    }

    /// Returns the name of member `n` without making a list of all; `None` if there is no such member, or it has no name.
    pub fn name(&self, n: usize) -> Option<&str> {
        self.reader.names()?.get(n).map(String::as_str)
    }

    /// Returns what is known of the file that member `n` lies in.
    ///
    /// # Errors
    /// A shard, or a file of a folder, that cannot be read or has no such member.
    pub fn file_of(&self, n: usize) -> Result<MemberFile> {
        let found = self.reader.file_of(n).with_context(|| self.label.clone())?;
        Ok(match &self.folder {
            Some(folder) if found.path.is_none() => {
                MemberFile { path: Some(folder.path.clone()), member: self.name(n).map(str::to_owned), ..found }
            }
            Some(_) | None => found,
        })
    }

    /// Describes member `n` without reading its items; plain JSON is read whole.
    ///
    /// # Errors
    /// The member's own header is damaged; the JSON holds no tensor.
    pub fn describe(&self, n: usize) -> Result<Description> {
        self.reader.describe(n).with_context(|| self.label_of(self.name(n)))
    }

    /// Returns what messages call the member of that name, or the whole if there is none.
    pub fn label_of(&self, member: Option<&str>) -> String {
        let label = &self.label;
        match member {
            Some(name) if !label.strip_suffix(name).is_some_and(|file| file.ends_with(':')) => {
                // in the place of a glob
                let glob = self.member.as_ref().filter(|member| *member != name);
                let file = glob.and_then(|glob| label.strip_suffix(&**glob)?.strip_suffix(':'));
                format!("{}:{name}", file.unwrap_or(label))
            }
            Some(_) | None => label.clone(),
        }
    }

    /// Returns the items of member `n`; those of a stream can be had once.
    ///
    /// # Errors
    /// The member is damaged, as far as that is known before its items are read.
    pub fn source(&self, n: usize) -> Result<Source> {
        self.source_as(n, self.label.clone())
    }

    /// Returns the items of member `n`, which messages call `label`.
    ///
    /// # Errors
    /// Those of [`source`](Self::source).
    pub fn source_as(&self, n: usize, label: String) -> Result<Source> {
        let source = self.reader.source(n, label.clone()).context(label)?;
        // a folder of stores is a group without metadata
        let name = if source.as_chunks().is_some() { self.name_in_group(n) } else { None };
        Ok(match name {
            Some(name) => source.in_group(name),
            None => source,
        })
    }

    /// Returns the name of member `n`, an array of a store, if it comes with a group that was named as a whole, so that what is
    /// made of it is one, too.
    fn name_in_group(&self, n: usize) -> Option<&str> {
        // an array that holds others is listed only where these are wanted
        let is_whole = self.member.is_none() && self.reader.itself() != Some(n);
        if is_whole { self.name(n) } else { None }
    }

    /// Returns member `n` as it is stored, to be copied unread, if it is an array of a store that cannot be read because
    /// something of it is not known.
    ///
    /// # Errors
    /// Its values cannot be listed.
    pub fn unread(&self, n: usize) -> Result<Option<UnreadArray>> {
        let mut found = self.reader.unread(n).with_context(|| self.label_of(self.name(n)))?;
        found.iter_mut().for_each(|array| array.is_of_group = self.name_in_group(n).is_some());
        Ok(found)
    }

    /// Returns what reads it, whose errors do not name it: for all that needs no label.
    pub fn reader(&self) -> &dyn Reader {
        &*self.reader
    }
}

/// Returns the error that a folder is in no format, or in one that this build was made without.
fn no_store(folder: &Path) -> Error {
    let is_zarr = ["zarr.json", ".zarray", ".zgroup"].iter().any(|mark| folder.join(mark).is_file());
    match cfg!(feature = "zarr") || !is_zarr {
        true => malformed!("is a folder, expected a file"),
        false => Error::from_kind(ErrorKind::Unsupported, "is a Zarr store, which needs the feature zarr of tensorop"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::{npy, npz};
    use crate::storage::platform::write_at;

    #[test]
    fn a_member_that_is_not_in_order_is_named() {
        let header =
            npy::write_header(&crate::item::meta::Meta::new(crate::DType::parse("uint8").expect("a dtype"), vec![2]));
        let objects = String::from_utf8_lossy(&header).replace("|u1", "|O ").into_bytes();
        // the first byte of the magic number is no UTF-8
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
        // what messages call the file, the member, what they call that
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
