//! Finds tensors by name in a container, in the files that an index names, or in the files of a folder.
//!
//! A file that can hold several tensors is opened at once, to learn their names, and stays open. A file of one tensor is
//! opened when it is wanted, so that a folder may hold more of them than a program may have open.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::open::{Input, OpenOptions};
use super::table::Format;
use crate::error::{Context, Result, bail};
use crate::layout::order::sort_by;

/// The most files and folders that are looked at in a folder, and the most tensors that it may hold. Where there are more,
/// links most likely lead in circles.
pub const MOST: usize = 1 << 20;

/// The number of containers of a folder that stay open; others are opened again when one of their tensors is wanted.
const OPEN: usize = 256;

/// How the files of a folder are opened.
pub struct Opening<'a> {
    /// What messages call the folder, before its path.
    pub role: &'a str,
    /// How each file is opened; the label is replaced by one of its own.
    pub options: OpenOptions,
    /// Returns whether a name is wanted: text files of other names are not opened.
    pub wanted: &'a dyn Fn(&str) -> bool,
}

/// Tensors by name.
#[derive(Debug, Default)]
pub struct Collection {
    files: Vec<Listed>,
    tensors: HashMap<String, TensorPlace>,
    /// The numbers of the files of a folder, by their names without endings.
    stems: HashMap<String, usize>,
    /// How files are opened later; the label is replaced by that of the file.
    options: OpenOptions,
}

/// A file of a collection.
#[derive(Debug)]
struct Listed {
    path: PathBuf,
    label: String,
    /// The name of the file in its folder, with which the names of its tensors begin; `None` if the collection is no folder.
    stem: Option<String>,
    /// The open file, if it stays open.
    input: Option<Arc<Input>>,
}

/// Where a tensor of a collection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TensorPlace {
    /// The number of its file.
    pub file: usize,
    /// Its number in the file; `None` for the only tensor of a file that has not been opened.
    member: Option<usize>,
    /// About how many bytes it takes.
    pub bytes: u64,
}

impl TensorPlace {
    /// Returns the number of the tensor in its file, which is open as `input`.
    ///
    /// # Errors
    /// A file that holds several tensors where it should hold one.
    pub fn number_in(&self, input: &Input) -> Result<usize> {
        self.member.map_or_else(|| input.pick(None), Ok)
    }
}

impl Collection {
    /// Lists the tensors of a container or an index. A file of one tensor without a name has none.
    ///
    /// # Errors
    /// A damaged member.
    pub fn of_input(input: Input, path: &Path, options: OpenOptions) -> Result<Self> {
        let mut tensors = HashMap::new();
        for (n, name) in input.names().unwrap_or_default().into_iter().enumerate() {
            let bytes = input.describe(n).map_or(0, |found| found.bytes);
            tensors.insert(name.to_owned(), TensorPlace { file: 0, member: Some(n), bytes });
        }
        let label = input.label().to_owned();
        let file = Listed { path: path.to_owned(), label, stem: None, input: Some(input.into()) };
        Ok(Self { files: vec![file], tensors, stems: HashMap::new(), options })
    }

    /// Lists the tensors in the files of a folder and of the folders in it. The name of a tensor is the path of its file
    /// from there without the ending; in a container, `:` and its name there follow. Skipped are files whose endings are
    /// not those of a format that is read, hidden files, files that are not regular, and JSON objects that are no tensors.
    /// An index stands for the files that it names. Links are followed, but not to a folder that they lie in.
    ///
    /// # Errors
    /// Two files of one name; files that cannot be read; more than [`MOST`] of them.
    pub fn of_folder(folder: &Path, opening: Opening<'_>) -> Result<Self> {
        let mut collection = Self { options: opening.options.clone(), ..Self::default() };
        let mut walk = FolderWalk { opening, seen: 0, open: 0 };
        walk.folder(&mut collection, folder, "", &mut Vec::new())?;
        Ok(collection)
    }

    /// Returns the names in alphabetical order, and where the tensors are.
    pub fn tensors(&self) -> Vec<(&str, TensorPlace)> {
        let mut tensors: Vec<_> = self.tensors.iter().map(|(name, place)| (name.as_str(), *place)).collect();
        sort_by(&mut tensors, |(a, _), (b, _)| a.cmp(b));
        tensors
    }

    /// Returns the path of a file.
    pub fn path(&self, file: usize) -> &Path {
        &self.files[file].path
    }

    /// Returns the name of a file in its folder, without its ending; `None` if the collection is no folder.
    pub fn stem(&self, file: usize) -> Option<&str> {
        self.files[file].stem.as_deref()
    }

    /// Returns the number of the file with that [`stem`](Self::stem).
    pub fn file_of_stem(&self, stem: &str) -> Option<usize> {
        self.stems.get(stem).copied()
    }

    /// Returns the container that the collection is; `None` if it is a folder, or empty because nothing exists there.
    pub fn container(&self) -> Option<&Input> {
        self.files.first().filter(|file| file.stem.is_none())?.input.as_deref()
    }

    /// Returns a file, which is opened if it is not open.
    ///
    /// # Errors
    /// Those of [`OpenOptions::open`].
    pub fn open(&self, file: usize) -> Result<Arc<Input>> {
        let Listed { path, label, input, .. } = &self.files[file];
        if let Some(input) = input {
            return Ok(Arc::clone(input));
        }
        Ok(OpenOptions { label: label.clone(), ..self.options.clone() }.open(path)?.into())
    }
}

/// A walk through a folder.
struct FolderWalk<'a> {
    opening: Opening<'a>,
    /// The number of files and folders so far.
    seen: usize,
    /// The number of containers that stay open.
    open: usize,
}

/// A file of a folder, before it is opened.
struct FolderFile {
    path: PathBuf,
    format: Format,
    stem: String,
    bytes: u64,
}

/// The bytes that count for a store whose size is not known, when work is divided by size.
const UNKNOWN: u64 = 1 << 30;

impl FolderWalk<'_> {
    /// Lists a folder, whose names in the collection begin with `prefix`. The folders that it lies in are `within`.
    fn folder(
        &mut self,
        collection: &mut Collection,
        folder: &Path,
        prefix: &str,
        within: &mut Vec<PathBuf>,
    ) -> Result<()> {
        let label = |path: &Path| format!("{} {}", self.opening.role, path.display());
        // by the path without links: by their metadata some systems take two folders that were made together for one
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
                // a broken link is an error only if its name is that of a tensor
                Err(_) if format.is_none() => continue,
                Err(error) => return Err(error).with_context(|| label(&path)),
            };
            match format {
                _ if metadata.is_dir() => match Format::of_folder(&path) {
                    // a store of chunks, whose sizes are not known
                    Some(store) => {
                        let stem = format.filter(|(named, _)| *named == store).map_or(&*text, |(_, stem)| stem);
                        let stem = format!("{prefix}{stem}");
                        files.push(FolderFile { path, format: store, stem, bytes: UNKNOWN });
                    }
                    None => folders.push((text.into_owned(), path)),
                },
                Some((format, stem)) if metadata.is_file() => {
                    files.push(FolderFile { path, format, stem: format!("{prefix}{stem}"), bytes: metadata.len() });
                }
                Some(_) | None => {}
            }
        }
        // indices come first, since they stand for other files
        sort_by(&mut files, |a, b| (!a.format.names_files(), &a.path).cmp(&(!b.format.names_files(), &b.path)));
        sort_by(&mut folders, |(a, _), (b, _)| a.cmp(b));
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
    fn file(&mut self, collection: &mut Collection, found: FolderFile) -> Result<HashSet<std::ffi::OsString>> {
        let FolderFile { path, format, stem, bytes } = found;
        let label = format!("{} {}", self.opening.role, path.display());
        let mut shards = HashSet::new();
        let file = collection.files.len();
        let mut tensors = Vec::new();
        // files that may hold several tensors, or none, are opened
        let is_opened = format.is_container() || !format.is_binary() && (self.opening.wanted)(&stem);
        let options = OpenOptions { label: label.clone(), ..self.opening.options.clone() };
        let input = if is_opened { options.open(&path).ok() } else { None };
        if input.as_ref().is_some_and(Input::is_other) {
            return Ok(shards);
        }
        let container = input.filter(|input| input.names().is_some());
        match &container {
            None => tensors.push((stem.clone(), TensorPlace { file, member: None, bytes })),
            Some(input) => {
                for (n, name) in input.names().into_iter().flatten().enumerate() {
                    let bytes = input.describe(n).map_or(0, |found| found.bytes);
                    tensors.push((format!("{stem}:{name}"), TensorPlace { file, member: Some(n), bytes }));
                    shards.extend(input.elsewhere(n)?.and_then(|shard| shard.file_name().map(ToOwned::to_owned)));
                }
            }
        }
        if let Some(other) = collection.stems.insert(stem.clone(), file) {
            let (role, other) = (self.opening.role, collection.path(other).display());
            bail!("{role}: two files of one name: {other} and {}", path.display());
        }
        if collection.tensors.len() + tensors.len() > MOST {
            bail!("{label}: more than {MOST} tensors");
        }
        collection.tensors.extend(tensors);
        let input = container.filter(|_| self.open < OPEN).map(Arc::new);
        self.open += usize::from(input.is_some());
        collection.files.push(Listed { path, label, stem: Some(stem), input });
        Ok(shards)
    }
}
