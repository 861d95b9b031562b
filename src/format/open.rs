//! Files that hold tensors, opened: which format they are in, which members they have, and where each tensor lies.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::content::{BEGIN, Content, Description, Opened, read_begin};
use super::interface::{Reader, Unchangeable};
use super::json::JsonReader;
use super::raw::{self, View};
use super::table::{Format, containers};
use super::values::Values;
use crate::error::{Advice, Context, Error, ErrorKind, Result, Subject, bail, malformed};
use crate::item::glob::Glob;
use crate::parallel::Threads;
use crate::storage::platform::same_file;
use crate::storage::source::{Notes, Source};

/// How many names an error lists.
const NAMES: usize = 5;

/// A file or stream that holds one tensor, or several with names (a container).
#[derive(Debug)]
pub struct Input {
    label: String,
    format: Format,
    reader: Box<dyn Reader>,
}

/// What the path of a file tells of it.
struct Named<'a> {
    /// Where it lies, for tensors that are kept beside it.
    folder: Option<&'a Path>,
    /// The format that its name tells, if only names do.
    format: Option<Format>,
    /// What follows its name after a colon.
    after: Option<String>,
}

impl Input {
    /// Opens a path. One that exists is taken as it is; otherwise a colon in it parts a container from the name of a
    /// member, which is returned, or any file from a [`View`] of its bytes. Messages call it `label`; `from` overrides
    /// what the content tells, and the name where any content may be in its format; `threads` may share what is read.
    ///
    /// # Errors
    /// No such file; a folder; content that is in no known format, or not in the one that `from` says; bytes that are
    /// not what a view of them says.
    pub fn path(path: &Path, from: Option<Format>, label: &str, threads: Threads) -> Result<(Self, Option<String>)> {
        if let Some((folder, member)) = folder(path) {
            return Ok((Self::folder(&folder, from, label, threads)?, member));
        }
        let (file, path, after) = opened(path, OpenOptions::new().read(true)).with_context(|| label.to_owned())?;
        let named = Named { folder: path.parent(), format: Format::told_by_name(&path), after };
        Self::named(file, named, from, label, threads)
    }

    /// Opens a file to be changed where it lies, as [`path`](Self::path) does: locked before anything of it is read,
    /// so that no other edit comes between. Whether its format can be changed so tells
    /// [`unchangeable`](Self::unchangeable).
    ///
    /// # Errors
    /// Those of `path`; of the kind [`Unsupported`](ErrorKind::Unsupported) what is no regular file.
    pub fn locked(path: &Path, from: Option<Format>, label: &str, threads: Threads) -> Result<(Self, Option<String>)> {
        let context = || label.to_owned();
        if let Some((folder, member)) = folder(path) {
            // which of its tensors is locked, and how, is known when it is
            return Ok((Self::folder(&folder, from, label, threads)?, member));
        }
        loop {
            let (file, name, after) = opened(path, OpenOptions::new().read(true).write(true)).with_context(context)?;
            let metadata = file.metadata().with_context(context)?;
            if !metadata.is_file() {
                return Err(Error::of(ErrorKind::Unsupported, "no regular file").within(label));
            }
            file.lock().with_context(|| format!("{label}: cannot be locked"))?;
            // while this one waited, another file may have taken the name
            if same_file(&metadata, &std::fs::metadata(&name).with_context(context)?) {
                let named = Named { folder: name.parent(), format: Format::told_by_name(&name), after };
                return Self::named(file, named, from, label, threads);
            }
        }
    }

    /// Opens a folder that is in some format.
    fn folder(path: &Path, from: Option<Format>, label: &str, threads: Threads) -> Result<Self> {
        let format = from.filter(|format| format.is_folder()).or_else(|| Format::of_folder(path));
        let format = format.filter(|format| from.is_none_or(|from| from == *format));
        let format = format.ok_or_else(|| malformed!("{label}: is a folder, expected a file"))?;
        let reader = format.open(Content::of_folder(path, threads)).with_context(|| label.to_owned())?;
        Ok(Self { label: label.to_owned(), format, reader })
    }

    /// Locks what holds member number `n` of a folder, as long as its source is there: alone, or together with others that
    /// change other parts of it.
    ///
    /// # Errors
    /// A member that is not in order; of locking.
    pub fn lock(&self, n: usize, together: bool) -> Result<()> {
        self.reader.lock(n, together).with_context(|| self.label.clone())
    }

    /// A file whose name tells more than its content.
    fn named(
        mut file: File,
        Named { folder, format, after }: Named<'_>,
        from: Option<Format>,
        label: &str,
        threads: Threads,
    ) -> Result<(Self, Option<String>)> {
        let context = || label.to_owned();
        let Some(after) = after else {
            return Ok((
                Self::content(Content::of_file(file, folder, threads).with_context(context)?, (from, format), label)?,
                None,
            ));
        };
        let view = View::parse(&after);
        // a member of that name comes before a view, and a view that is none does not come at all
        if view.is_ok() || View::is_meant(&after) {
            let member = Self::container(&mut file, folder, from, label, threads)
                .filter(|container| view.is_err() || container.names().is_some_and(|names| names.contains(&&*after)));
            if let Some(container) = member {
                return Ok((container, Some(after)));
            }
            let content = Content::of_file(file, folder, threads).with_context(context)?;
            return Ok((Self::viewed(content, &view.with_context(context)?, label)?, None));
        }
        let content = Content::of_file(file, folder, threads).with_context(context)?;
        match (Self::content(content, (from, format), label), view) {
            // neither a file that could have members nor a dtype
            (Err(error), Err(unknown)) if from.is_none() && error.kind() == ErrorKind::Malformed => {
                Err(malformed!("{error}; as bytes without a header: {}", unknown.message()))
            }
            (opened, _) => Ok((opened?, Some(after))),
        }
    }

    /// The container that a regular file is, if it is one that is in order.
    fn container(
        file: &mut File,
        folder: Option<&Path>,
        from: Option<Format>,
        label: &str,
        threads: Threads,
    ) -> Option<Self> {
        let metadata = file.metadata().ok().filter(|metadata| metadata.is_file())?;
        let begin = read_begin(file).ok()?;
        file.rewind().ok()?;
        Format::recognise(&begin, Some(metadata.len()), (from, None)).ok().filter(|format| format.is_container())?;
        let content = Content::of_file(file.try_clone().ok()?, folder, threads).ok()?;
        let container = Self::content(content, (from, None), label).ok();
        // the clone has moved the place from which both are read
        file.rewind().ok()?;
        container
    }

    /// Bytes that a view says what they are.
    fn viewed(content: Content, view: &View, label: &str) -> Result<Self> {
        let reader = raw::open(content, view).with_context(|| label.to_owned())?;
        Ok(Self { label: label.to_owned(), format: Format::RAW, reader })
    }

    /// An open file, or what it leads to (a device, a pipe). `folder` is where it lies, for tensors that are kept
    /// beside it; without one they are refused.
    ///
    /// # Errors
    /// Those of [`path`](Self::path).
    pub fn file(
        file: File,
        folder: Option<&Path>,
        from: Option<Format>,
        label: &str,
        threads: Threads,
    ) -> Result<Self> {
        Self::content(Content::of_file(file, folder, threads).with_context(|| label.to_owned())?, (from, None), label)
    }

    /// What comes once, from front to back. A container is first written to a file without a name in the folder for
    /// temporary files.
    ///
    /// # Errors
    /// Those of [`path`](Self::path), and of reading.
    pub fn stream(stream: Box<dyn Read + Send>, from: Option<Format>, label: &str, threads: Threads) -> Result<Self> {
        Self::content(Content::of_stream(stream, threads).with_context(|| label.to_owned())?, (from, None), label)
    }

    /// What comes once, as what a [`View`] says that it is. Where that leaves a dim open, it is first written to a file.
    ///
    /// # Errors
    /// A view that is none, and bytes that are not what it says; of reading.
    pub fn stream_as(stream: Box<dyn Read + Send>, view: &str, label: &str, threads: Threads) -> Result<Self> {
        let context = || label.to_owned();
        let view = View::parse(view).with_context(context)?;
        Self::viewed(Content::of_stream(stream, threads).with_context(context)?, &view, label)
    }

    /// Opens what is in the format that its first bytes tell; or `from`, or the one that its name tells.
    fn content(content: Content, told: (Option<Format>, Option<Format>), label: &str) -> Result<Self> {
        let len = match &content.opened {
            Opened::File { len, .. } => Some(*len),
            Opened::Folder(_) => None,
            Opened::Stream(_) => (content.begin.len() < BEGIN).then_some(content.begin.len() as u64),
        };
        let format = Format::recognise(&content.begin, len, told).map_err(|m| {
            let refused = malformed!("{label}: {m}");
            // what should have been written here may have been printed elsewhere
            if content.begin.is_empty() { refused.advising(Advice::PassTensor) } else { refused }
        })?;
        let reader = format.open(content).with_context(|| label.to_owned())?;
        Ok(Self { label: label.to_owned(), format, reader })
    }

    /// A JSON text.
    pub fn json_text(text: Vec<u8>, label: &str, threads: Threads) -> Self {
        Self { label: label.to_owned(), format: Format::JSON, reader: Box::new(JsonReader { text, threads }) }
    }

    /// What messages call it.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// The format it is in.
    pub fn format(&self) -> Format {
        self.format
    }

    /// The names of a container's members; `None` if it holds one tensor, without a name.
    pub fn names(&self) -> Option<Vec<&str>> {
        self.reader.names()
    }

    /// The name of member number `n`, without making a list of all; `None` if there is no such member, or it has no name.
    pub fn name(&self, n: usize) -> Option<&str> {
        self.reader.name(n)
    }

    /// The name that an ONNX tensor carries itself.
    pub fn own_name(&self) -> Option<&str> {
        self.reader.own_name()
    }

    /// The values in it, if it is a text whose dtype may depend on other operands. Errors are about `subject`.
    pub fn values(&self, subject: Subject) -> Option<Result<Values<'_>>> {
        self.reader.values(subject)
    }

    /// Whether it is in order, but something else than a tensor, such as the configuration of a model in JSON.
    pub fn is_other(&self) -> bool {
        self.reader.is_other()
    }

    /// Why nothing of its kind is written, so that only its items can become others, where they lie; `None` if something
    /// is.
    pub fn unwritten(&self) -> Option<&'static str> {
        self.reader.unwritten()
    }

    /// Whether items are compressed in it that need not be in its format.
    pub fn is_compressed(&self) -> bool {
        self.reader.is_compressed()
    }

    /// Leaves out so many lines at the beginning of a text that has headings.
    #[must_use]
    pub fn skipping(mut self, rows: usize) -> Self {
        self.reader.skip_rows(rows);
        self
    }

    /// Whether its items can be had only once, as those of a `.npy` that comes from a pipe.
    pub fn is_once(&self) -> bool {
        self.reader.is_once()
    }

    /// What the file that member number `n` lies in says of itself: the metadata of a safetensors file. `None` where its
    /// format has no place for that.
    ///
    /// # Errors
    /// A shard that cannot be read.
    pub fn notes(&self, n: usize) -> Result<Option<Arc<Notes>>> {
        self.reader.notes(n).with_context(|| self.label.clone())
    }

    /// The file that member number `n` lies in, if it is another than this one.
    ///
    /// # Errors
    /// A shard that cannot be read, or has no such member.
    pub fn elsewhere(&self, n: usize) -> Result<Option<PathBuf>> {
        self.reader.elsewhere(n).with_context(|| self.label.clone())
    }

    /// Why its items cannot be changed where they lie; `None` if they can.
    pub fn unchangeable(&self) -> Option<Unchangeable> {
        self.reader.unchangeable()
    }

    /// The number of the member called `name`, or of the only one.
    ///
    /// # Errors
    /// A name that is not there (near ones are told), or that the format does not have; no name where there are
    /// several members.
    pub fn pick(&self, name: Option<&str>) -> Result<usize> {
        let label = &self.label;
        let Some(names) = self.names() else {
            return match name {
                None => Ok(0),
                Some(name) => {
                    let (format, expected) = (self.format().name(), containers("or"));
                    bail!("{label}: its format ({format}) has no members, expected a {expected} before :{name}")
                }
            };
        };
        match (name, names.len()) {
            (None, 1) => Ok(0),
            (_, 0) => bail!("{label}: holds no tensors"),
            (None, count) => bail!("{label}: holds {count} tensors: name one after a colon: {}", list(&names)),
            (Some(name), _) => names.iter().position(|n| *n == name).ok_or_else(|| {
                let near = alike(name, &names);
                match near.is_empty() {
                    true => malformed!("{label}: has no tensor {name:?}, but {}", list(&names)),
                    false => malformed!("{label}: has no tensor {name:?}; did you mean {}?", near.join(" or ")),
                }
            }),
        }
    }

    /// The numbers of the members that `name` selects, with their names: all of a container if there is none, the one of
    /// that name, or those that it matches as a [glob](Glob).
    ///
    /// # Errors
    /// Those of [`pick`](Self::pick); a glob that matches none.
    pub fn select(&self, name: Option<&str>) -> Result<Vec<(usize, Option<String>)>> {
        let Some(names) = self.names() else { return Ok(vec![(self.pick(name)?, None)]) };
        let glob = name.filter(|name| name.contains(['*', '?', '[']) && !names.contains(name)).map(Glob::new);
        let found: Vec<_> = match (name, &glob) {
            (None, _) => (0..names.len()).collect(),
            (Some(_), Some(glob)) => (0..names.len()).filter(|&n| glob.matches(names[n])).collect(),
            (Some(name), None) => vec![self.pick(Some(name))?],
        };
        if let Some(glob) = glob.filter(|_| found.is_empty()) {
            bail!("{}: has no tensor that {:?} matches, but {}", self.label, glob.text(), list(&names));
        }
        Ok(found.into_iter().map(|n| (n, Some(names[n].to_owned()))).collect())
    }

    /// What is known of member number `n` (0 where there is only one tensor). Of a plain JSON value all is read.
    ///
    /// # Errors
    /// A member whose own header is not in order; JSON that holds no tensor.
    pub fn describe(&self, n: usize) -> Result<Description> {
        let label = || self.label_of(self.name(n));
        self.reader.describe(n).with_context(label)
    }

    /// What messages call a member that was selected, or what has none.
    pub fn label_of(&self, member: Option<&str>) -> String {
        member.map_or_else(|| self.label.clone(), |name| self.member_label(name))
    }

    /// What messages call a member, which may be the one that the label names.
    pub fn member_label(&self, name: &str) -> String {
        let label = &self.label;
        match label.strip_suffix(name).is_some_and(|file| file.ends_with(':')) {
            true => label.clone(),
            false => format!("{label}:{name}"),
        }
    }

    /// The items of member number `n` (0 where there is only one tensor). Those of a stream can be had once.
    ///
    /// # Errors
    /// A member that is not in order, as far as is known before its items are read.
    pub fn source(&self, n: usize) -> Result<Source> {
        self.source_as(n, self.label.clone())
    }

    /// The same, but messages call it `label`.
    ///
    /// # Errors
    /// Those of [`source`](Self::source).
    pub fn source_as(&self, n: usize, label: String) -> Result<Source> {
        self.reader.source(n, label.clone()).context(label)
    }
}

/// The folder that a path is, or the part of it before a colon if that is one in some format, and what follows the colon.
fn folder(path: &Path) -> Option<(PathBuf, Option<String>)> {
    if path.is_dir() {
        return Some((path.to_owned(), None));
    }
    let (folder, member) = folders_before_colons(path).next().filter(|_| !path.exists())?;
    Some((folder, Some(str::from_utf8(member).ok()?.to_owned())))
}

/// The parts of a path before a colon that are folders in some format, the longest first, each with what follows its colon.
pub fn folders_before_colons(path: &Path) -> impl Iterator<Item = (PathBuf, &[u8])> {
    parts_before_colons(path).filter(|(folder, _)| folder.is_dir() && Format::of_folder(folder).is_some())
}

/// Opens a path, or the part of it before a colon: also returns the path of the file, and what follows the colon.
fn opened(path: &Path, options: &OpenOptions) -> Result<(File, PathBuf, Option<String>)> {
    use io::ErrorKind::{InvalidFilename, NotADirectory, NotFound};
    let missing = match options.open(path) {
        Ok(file) => return Ok((file, path.to_owned(), None)),
        // many dims make a long name
        Err(error) if matches!(error.kind(), NotFound | NotADirectory | InvalidFilename) => error,
        // not every system opens a folder, and what each says then tells little
        Err(_) if path.is_dir() => bail!("is a folder, expected a file"),
        Err(error) => return Err(error.into()),
    };
    let after = |(file, after): (PathBuf, &[u8])| Some((file, std::str::from_utf8(after).ok()?.to_owned()));
    // a pipe has no members, but may be bytes
    let piped = || {
        parts_before_colons(path)
            .filter_map(after)
            .find(|(file, view)| !file.is_dir() && file.exists() && View::parse(view).is_ok())
    };
    match files_before_colons(path).next() {
        Some(divided) => after(divided),
        None => piped(),
    }
    .map_or(Err(missing.into()), |(file, after)| Ok((options.open(&file)?, file, Some(after))))
}

/// The parts of a path before a colon that are regular files, the longest first, each with what follows its colon.
pub fn files_before_colons(path: &Path) -> impl Iterator<Item = (PathBuf, &[u8])> {
    parts_before_colons(path).filter(|(file, _)| file.is_file())
}

/// The parts of a path before a colon, the longest first, each with what follows its colon.
fn parts_before_colons(path: &Path) -> impl Iterator<Item = (PathBuf, &[u8])> {
    let text = path.as_os_str().as_encoded_bytes();
    let colons = (0..text.len()).rev().filter(|&at| text[at] == b':');
    colons.filter_map(move |at| Some((part_of_path(path, at)?, &text[at + 1..])))
}

/// The first `len` bytes of a path, which end before a colon.
#[cfg(unix)]
fn part_of_path(path: &Path, len: usize) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStrExt;
    Some(std::ffi::OsStr::from_bytes(path.as_os_str().as_bytes().get(..len)?).into())
}

/// The first `len` bytes of a path, which end before a colon; here of one that is Unicode.
#[cfg(not(unix))]
fn part_of_path(path: &Path, len: usize) -> Option<PathBuf> {
    Some(path.to_str()?.get(..len)?.into())
}

/// The first names, and how many more there are, for a message.
pub fn list(names: &[&str]) -> String {
    let shown: Vec<_> = names.iter().take(NAMES).map(|name| format!("{name:?}")).collect();
    let more = names.len().saturating_sub(NAMES);
    if more == 0 { shown.join(", ") } else { format!("{} and {more} more", shown.join(", ")) }
}

/// The names most like `name`, in quotes: three at most, or none.
pub fn alike(name: &str, names: &[&str]) -> Vec<String> {
    const ALIKE: f64 = 0.8;
    let lower = name.to_lowercase();
    let score = |other: &str| {
        let other = other.to_lowercase();
        let contained = !lower.is_empty() && (other.ends_with(&lower) || lower.ends_with(&other));
        if contained { 1.0 } else { strsim::jaro_winkler(&lower, &other) }
    };
    let mut near: Vec<_> = names.iter().map(|other| (score(other), *other)).filter(|(s, _)| *s >= ALIKE).collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0));
    near.into_iter().take(3).map(|(_, name)| format!("{name:?}")).collect()
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
        write_at(file, b"xy", writer.items_at(0)).expect("written");
        write_at(file, b"xy", writer.items_at(1)).expect("written");
        writer.finish(file, Threads::default()).expect("written");
        let mut failures = Vec::new();
        // what messages call the file, the member, what they call that
        for (label, member, expected) in [
            ("FILE a.npz", "bad", "FILE a.npz:bad: "),
            ("FILE a.npz:bad", "bad", "FILE a.npz:bad: "),
            ("FILE a.npz", "good", ""),
        ] {
            let input =
                Input::file(named.reopen().expect("a file"), None, Some(Format::NPZ), label, Threads::default())
                    .expect("read");
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
