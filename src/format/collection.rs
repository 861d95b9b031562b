//! Tensors by name, wherever they lie: in a container, in the files that an index names, or in the files of a folder.
//!
//! What can hold several tensors is opened at once, to learn their names, and stays open; a file of one tensor is opened
//! when it is wanted, so that a folder may hold more of them than a program may have open.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::ops::Deref;
use std::path::{Path, PathBuf};

use super::open::{Input, OpenOptions};
use super::table::Format;
use crate::error::{Context, Error, ErrorKind, Result, bail};
use crate::parallel::Threads;

/// The most files and folders of a folder that are looked at, and the most tensors: more are most likely links that lead
/// in circles by different ways.
pub const MOST: usize = 1 << 20;

/// How many containers of a folder stay open; the others are opened again when one of their tensors is wanted.
const OPEN: usize = 256;

/// How the files of a folder are opened.
#[derive(Clone, Copy)]
pub struct Opening<'a> {
    /// What messages call the folder, before its path.
    pub role: &'a str,
    /// What overrides what the content of files tells.
    pub from: Option<Format>,
    /// Lines at the beginning of texts that are left out.
    pub skip_rows: usize,
    /// Which names are wanted: a text of another name is not looked into.
    pub wanted: &'a dyn Fn(&str) -> bool,
    /// What may share the reading.
    pub threads: Threads,
}

/// Tensors by name.
#[derive(Debug, Default)]
pub struct Collection {
    files: Vec<Listed>,
    tensors: BTreeMap<String, Place>,
    /// The numbers of the files of a folder, by their names without endings.
    stems: BTreeMap<String, usize>,
    /// How files that are not open are opened.
    from: Option<Format>,
    skip_rows: usize,
    threads: Threads,
}

/// A file of a collection.
#[derive(Debug)]
struct Listed {
    path: PathBuf,
    label: String,
    /// The name of the file in its collection, which those of its tensors begin with; `None` of what is no folder.
    stem: Option<String>,
    input: Option<Input>,
}

/// Where a tensor of a collection lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The number of its file.
    pub file: usize,
    /// Its number there; `None` of the only tensor of a file that has not been opened.
    member: Option<usize>,
    /// About how many bytes it takes.
    pub bytes: u64,
}

/// A file that is open.
pub enum Opened<'a> {
    /// For as long as its collection is.
    Kept(&'a Input),
    /// For this once.
    Own(Box<Input>),
}

impl Deref for Opened<'_> {
    type Target = Input;

    fn deref(&self) -> &Input {
        match self {
            Opened::Kept(input) => input,
            Opened::Own(input) => input,
        }
    }
}

impl Collection {
    /// The tensors of a container, or of an index; of what holds one tensor without a name there is none.
    ///
    /// # Errors
    /// A member that is not in order.
    pub fn of_input(input: Input, path: &Path, threads: Threads) -> Result<Self> {
        let mut tensors = BTreeMap::new();
        for (n, name) in input.names().unwrap_or_default().into_iter().enumerate() {
            let bytes = input.describe(n)?.bytes;
            tensors.insert(name.to_owned(), Place { file: 0, member: Some(n), bytes });
        }
        let label = input.label().to_owned();
        let file = Listed { path: path.to_owned(), label, stem: None, input: Some(input) };
        Ok(Self { files: vec![file], tensors, threads, ..Self::default() })
    }

    /// The tensors in the files of a folder, and in those of the folders in it. The name of a tensor is the path of its
    /// file there without the ending, for a container with `:` and its name there behind it. Files whose endings are not
    /// those of a format that is read are left alone, hidden ones, what is no regular file, and JSON objects that are no
    /// tensors. An index stands for the files that it names. Links are followed, but not to a folder that they lie in.
    ///
    /// # Errors
    /// Two files of one name; files that cannot be read; more than [`MOST`] of them.
    pub fn of_folder(folder: &Path, opening: Opening<'_>) -> Result<Self> {
        let Opening { from, skip_rows, threads, .. } = opening;
        let mut collection = Self { from, skip_rows, threads, ..Self::default() };
        let mut walk = Walk { opening, seen: 0, open: 0 };
        walk.folder(&mut collection, folder, "", &mut Vec::new())?;
        Ok(collection)
    }

    /// The names, in order, with where they lie.
    pub fn tensors(&self) -> &BTreeMap<String, Place> {
        &self.tensors
    }

    /// The path of a file.
    pub fn path(&self, file: usize) -> &Path {
        &self.files[file].path
    }

    /// What messages call a file.
    pub fn label(&self, file: usize) -> &str {
        &self.files[file].label
    }

    /// The name of a file in its folder, without its ending; `None` if the collection is no folder.
    pub fn stem(&self, file: usize) -> Option<&str> {
        self.files[file].stem.as_deref()
    }

    /// The number of the file of that name, which is that of its folder.
    pub fn file_of_stem(&self, stem: &str) -> Option<usize> {
        self.stems.get(stem).copied()
    }

    /// The container that the collection is; `None` of a folder, and of what is not there.
    ///
    /// # Errors
    /// Those of [`open`](Self::open).
    pub fn container(&self) -> Result<Option<Opened<'_>>> {
        self.files.first().filter(|file| file.stem.is_none()).map(|_| self.open(0)).transpose()
    }

    /// Opens a file, if it is not open.
    ///
    /// # Errors
    /// Those of [`OpenOptions::open`].
    pub fn open(&self, file: usize) -> Result<Opened<'_>> {
        let Listed { path, label, input, .. } = &self.files[file];
        match input {
            Some(input) => Ok(Opened::Kept(input)),
            None => Ok(Opened::Own(opened(path, label, (self.from, self.skip_rows), self.threads)?.into())),
        }
    }

    /// The number of a tensor in its file, which is open, and what messages call it.
    ///
    /// # Errors
    /// A file that holds several tensors where it should hold one.
    pub fn find(&self, input: &Input, place: Place) -> Result<(usize, String)> {
        let n = place.member.map_or_else(|| input.pick(None), Ok)?;
        Ok((n, input.label_of(place.member.and_then(|n| input.name(n)))))
    }
}

/// Opens a file of a folder. What stands behind a colon in its name is a part of it.
fn opened(path: &Path, label: &str, (from, skip): (Option<Format>, usize), threads: Threads) -> Result<Input> {
    OpenOptions { format: from, skip_rows: skip, threads, ..OpenOptions::new(label) }.open(path)
}

/// A walk through a folder.
struct Walk<'a> {
    opening: Opening<'a>,
    /// Files and folders so far.
    seen: usize,
    /// Containers that stay open.
    open: usize,
}

/// A file of a folder, before it is opened.
struct Found {
    path: PathBuf,
    format: Format,
    stem: String,
    bytes: u64,
}

/// The bytes of what may be of any size, for those who share out work by them.
const UNKNOWN: u64 = 1 << 30;

impl Walk<'_> {
    /// Lists a folder, whose name in the collection is `prefix`; `within` are those that it lies in.
    fn folder(
        &mut self,
        collection: &mut Collection,
        folder: &Path,
        prefix: &str,
        within: &mut Vec<PathBuf>,
    ) -> Result<()> {
        let label = |path: &Path| format!("{} {}", self.opening.role, path.display());
        // by its path without links: by what else is known of a folder some systems take two that were made together for one
        let own = fs::canonicalize(folder).with_context(|| label(folder))?;
        if within.contains(&own) {
            return Ok(());
        }
        let (mut files, mut folders) = (Vec::new(), Vec::new());
        for entry in fs::read_dir(folder).with_context(|| label(folder))? {
            let name = entry.with_context(|| label(folder))?.file_name();
            self.seen += 1;
            if self.seen > MOST {
                bail!("{}: more than {MOST} files and folders", label(folder));
            }
            let text = name.to_string_lossy();
            if text.starts_with('.') {
                continue;
            }
            let format = Format::of_file_name(&text);
            let path = folder.join(&name);
            let metadata = match fs::metadata(&path) {
                Ok(metadata) => metadata,
                // a link that leads nowhere, or to itself, matters if it should be a tensor
                Err(_) if format.is_none() => continue,
                Err(error) => return Err(error).with_context(|| label(&path)),
            };
            match format {
                _ if metadata.is_dir() => match Format::of_folder(&path) {
                    // a store of chunks, of which nobody knows how large they are
                    Some(store) => {
                        let stem = format.filter(|(named, _)| *named == store).map_or(&*text, |(_, stem)| stem);
                        let stem = format!("{prefix}{stem}");
                        files.push(Found { path, format: store, stem, bytes: UNKNOWN });
                    }
                    None => folders.push((text.into_owned(), path)),
                },
                Some((format, stem)) if metadata.is_file() => {
                    files.push(Found { path, format, stem: format!("{prefix}{stem}"), bytes: metadata.len() });
                }
                Some(_) | None => {}
            }
        }
        // indices first: they stand for other files
        files.sort_by(|a, b| (!a.format.names_files(), &a.path).cmp(&(!b.format.names_files(), &b.path)));
        folders.sort();
        let mut shards = HashSet::new();
        for found in files {
            if !found.path.file_name().is_some_and(|name| shards.contains(name)) {
                shards.extend(self.file(collection, found)?);
            }
        }
        within.push(own);
        for (name, path) in folders {
            self.folder(collection, &path, &format!("{prefix}{name}/"), within)?;
        }
        within.pop();
        Ok(())
    }

    /// Lists the tensors of a file. Returns the names of the files beside it that it stands for.
    fn file(&mut self, collection: &mut Collection, found: Found) -> Result<HashSet<std::ffi::OsString>> {
        let Found { path, format, stem, bytes } = found;
        let label = format!("{} {}", self.opening.role, path.display());
        let mut shards = HashSet::new();
        let file = collection.files.len();
        let mut input = None;
        let mut tensors = Vec::new();
        // what may hold several tensors, or none, is looked into
        if format.is_container() || !format.is_binary() && (self.opening.wanted)(&stem) {
            let Opening { from, skip_rows, threads, .. } = self.opening;
            let opened = opened(&path, &label, (from, skip_rows), threads)?;
            if opened.is_other() {
                return Ok(shards);
            }
            for (n, name) in opened.names().into_iter().flatten().enumerate() {
                let bytes = opened.describe(n)?.bytes;
                tensors.push((format!("{stem}:{name}"), Place { file, member: Some(n), bytes }));
                if let Some(shard) = opened.elsewhere(n)? {
                    shards.extend(shard.file_name().map(ToOwned::to_owned));
                }
            }
            if opened.names().is_none() {
                tensors.push((stem.clone(), Place { file, member: None, bytes }));
            } else if self.open < OPEN {
                self.open += 1;
                input = Some(opened);
            }
        } else {
            tensors.push((stem.clone(), Place { file, member: None, bytes }));
        }
        if let Some(other) = collection.stems.insert(stem.clone(), file) {
            let both = format!("{} and {}", collection.path(other).display(), path.display());
            return Err(Error::of(
                ErrorKind::Malformed,
                format!("{}: two files of one name: {both}", self.opening.role),
            ));
        }
        if collection.tensors.len() + tensors.len() > MOST {
            bail!("{label}: more than {MOST} tensors");
        }
        collection.tensors.extend(tensors);
        collection.files.push(Listed { path, label, stem: Some(stem), input });
        Ok(shards)
    }
}
