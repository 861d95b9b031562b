//! Finds the tensors in the files of a folder.
//!
//! Files of several tensors are opened at once for their names and stay open. Files of one tensor are opened on demand,
//! so that a folder may have more files than a process may open.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::{mem, slice};

pub use super::folder::MAX_FILES;
use super::folder::{BesideIndex, Folder, FolderFile, FolderFiles, IndexedFolder, NotRead};
use super::input::{Input, OpenOptions};
use super::located::{Located, Place};
use super::table::Format;
use super::{dumps, numbered};
use crate::container::glob::Glob;
use crate::container::names::{ModelFile, NameFilter, by_numbers};
use crate::formats::raw::RawView;
use crate::storage::source::FileMetadata;
use tensorop_kernels::error::{Context, Error, Result, bail, malformed};

/// The number of containers that stay open.
const OPEN: usize = 256;

/// How the files of a folder are opened.
pub struct Opening<'a> {
    /// The word for the folder in messages.
    pub role: &'a str,
    /// The label is replaced for each file.
    pub options: OpenOptions,
    /// Files without a wanted tensor stay closed, except indices and the only container.
    pub filter: NameFilter<'a>,
    /// Whether names of tensors always begin with those of their files.
    pub by_files: bool,
    /// Whether files without a header, and of no known dtype and shape, are compared by their bytes.
    pub takes_dumps: bool,
}

/// The tensors of a folder, and its files.
#[derive(Debug, Default)]
pub struct Collection {
    pub(crate) files: Vec<Listed>,
    /// In natural order of their names. Files in formats without a reader count as tensors and come last.
    pub(crate) tensors: Vec<(String, TensorPlace)>,
    /// The number of tensors before those files.
    pub(crate) read: usize,
    /// The metadata of containers without tensors, by their names without endings.
    pub without_tensors: BTreeMap<String, Arc<FileMetadata>>,
    /// Numbers of files by their names without endings.
    pub(crate) stems: HashMap<String, usize>,
    pub(crate) options: OpenOptions,
    pub(crate) open: usize,
    /// File 0, if all tensors belong to one model.
    pub model: Option<ModelFile>,
    /// Names of tensors outside the model.
    pub left_out: Vec<String>,
    /// The files without tensors, sorted.
    pub left_alone: Vec<PathBuf>,
    /// The containers beside indices.
    pub beside: Vec<BesideIndex>,
}

#[derive(Debug, Default)]
pub struct Listed {
    pub path: PathBuf,
    pub(crate) label: String,
    /// The path in the folder without the ending; `None` for the open file of the only model.
    pub stem: Option<String>,
    pub(crate) input: Option<Arc<Input>>,
    pub(crate) parts: Vec<String>,
    /// Whether it holds any number of named tensors.
    pub(crate) is_container: bool,
    /// Whether it may hold several tensors and cannot be opened.
    pub(crate) is_broken: bool,
    /// The error to return on opening.
    pub(crate) refused: Option<Error>,
    /// The view of a file without a header.
    pub view: Option<RawView>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct TensorPlace {
    pub file: usize,
    /// Its number in the file; `None` if the file has not been opened.
    pub number: Option<usize>,
    /// Approximate.
    pub bytes: u64,
}

impl TensorPlace {
    pub(crate) fn in_file(file: usize, bytes: u64) -> Self {
        Self { file, number: None, bytes }
    }

    /// Describing a tensor may read the file, so an unwanted one gets size 0.
    pub(crate) fn in_container(file: usize, input: &Input, n: usize, is_wanted: bool) -> Self {
        let described = if is_wanted { input.describe(n).ok() } else { None };
        Self { file, number: Some(n), bytes: described.map_or(0, |described| described.bytes) }
    }
}

impl Collection {
    /// Lists the tensors of a folder and its subfolders as `PATH/STEM`, or `PATH/STEM:NAME` in a container.
    ///
    /// An index replaces the files that it names. If the filter leaves one model and otherwise only texts, names have
    /// no stem. Unreadable files, equal names and unsupported formats are listed as one tensor each and fail on
    /// opening, so that the other tensors stay readable.
    ///
    /// # Errors
    /// The folder cannot be read, or has more than [`MAX_FILES`] files or tensors.
    pub fn from_folder(folder: &Folder, opening: &Opening<'_>) -> Result<Self> {
        let mut listed = folder.files().map_err(|unread| unread.error(opening.role))?;
        let dumps = dumps::add_to(&mut listed, folder, opening.options.shapes.as_deref());
        dumps.with_context(|| format!("{} {}", opening.role, folder.path.display()))?;
        let FolderFiles { files, mut not_read, left_alone, unread } = listed;
        let (texts, files): (Vec<_>, Vec<_>) = files.into_iter().partition(FolderFile::is_text);
        let mut collection = Self { options: opening.options.clone(), left_alone, ..Self::default() };
        for unread in unread {
            let error = unread.error(opening.role);
            collection.refuse(unread.path, unread.name, error);
        }
        not_read.extend(collection.add_all(files, opening)?);
        let filter = opening.filter;
        // Patterns that match a text alone select it by its name in the folder.
        let names_texts = !filter.only.is_empty() && texts.iter().any(|text| filter.takes(&text.stem));
        let model = collection.only_model(filter).filter(|_| !opening.by_files);
        let mut beside_models = true;
        match model.filter(|file| !names_texts || collection.has_wanted_of(*file, filter)) {
            Some(file) => collection = collection.into_model(file, filter),
            None => beside_models = collection.has_only_models(filter),
        }
        for text in texts {
            if beside_models {
                collection.left_alone.push(text.path);
            } else {
                collection.add(text, opening, filter)?;
            }
        }
        if folder.pattern.is_none() && (opening.takes_dumps || opening.options.shapes.is_some()) {
            not_read.extend(collection.take_dumps(&folder.path, opening.options.shapes.as_deref()));
        }
        collection.sort();
        for file in not_read {
            collection.add_not_read(file, opening.role);
        }
        collection.left_alone.sort();
        Ok(collection)
    }

    fn add_all(&mut self, files: Vec<FolderFile>, opening: &Opening<'_>) -> Result<Vec<NotRead>> {
        let (indices, mut files): (Vec<_>, Vec<_>) = files.into_iter().partition(|file| file.format.names_files());
        let (mut shards, mut indexed) = (HashSet::new(), Vec::new());
        let excluding = opening.filter.excluding();
        for found in indices {
            let (folder, is_taken) = (IndexedFolder::of(&found), excluding.takes_within(&format!("{}:", found.stem)));
            shards.extend(self.add(found, opening, opening.filter)?);
            let is_read = self.files.last().is_some_and(|file| file.is_container && !file.is_broken);
            indexed.extend((is_taken && is_read).then_some(folder));
        }
        files.retain(|found| !shards.contains(&found.path));
        let mut files = self.leave_beside(files, &indexed, opening.filter.only);
        let is_left = |stem: &str, is_container: bool| match is_container {
            true => excluding.takes_within(&format!("{stem}:")),
            false => excluding.takes(stem),
        };
        let listed =
            self.files.iter().filter(|file| file.stem.as_ref().is_some_and(|stem| is_left(stem, file.is_container)));
        let listed = listed.count();
        let mut pointers = Vec::new();
        if !opening.by_files {
            let left = || files.iter().filter(|file| is_left(&file.stem, file.format.is_container()));
            let models = left().filter(|file| file.format.is_container() && !file.is_pointer());
            // `all` stops at the first file that is not a pointer, so few files are opened.
            let mut singles = left().filter(|file| !file.format.is_container());
            if listed + models.count() == 1 && singles.all(FolderFile::is_pointer) {
                pointers = files.extract_if(.., |file| file.is_pointer()).map(FolderFile::not_read).collect();
            }
        }
        let left = listed + files.iter().filter(|file| is_left(&file.stem, file.format.is_container())).count();
        // Patterns may match the names inside the only file.
        let filter = match (self.files.len() + files.len(), left) {
            _ if opening.by_files => opening.filter,
            (1, _) => NameFilter::default(),
            (_, 1) => excluding,
            _ => opening.filter,
        };
        files.into_iter().try_for_each(|found| self.add(found, opening, filter).map(drop))?;
        Ok(pointers)
    }

    pub(crate) fn sort(&mut self) {
        // Files list most names in natural order, and sorting such lists takes few comparisons.
        self.tensors.sort_by(|(a, _), (b, _)| by_numbers(a, b));
        // the last of equal names is meant
        self.tensors.dedup_by(|next, last| next.0 == last.0 && (mem::swap(next, last), true).1);
        self.read = self.tensors.len();
    }

    fn has(&self, glob: &Glob) -> bool {
        self.tensors.iter().any(|(name, _)| glob.matches(name))
    }

    /// Returns the number of the readable tensor of this name.
    pub(crate) fn number(&self, name: &str) -> Option<usize> {
        self.tensors[..self.read].binary_search_by(|(other, _)| by_numbers(other, name)).ok()
    }

    /// Returns the name and the number of the unreadable file or folder that would hold a tensor.
    pub fn broken(&self, name: &str) -> Option<(&str, usize)> {
        let named = |stem: &str| self.number(stem).map(|n| (&*self.tensors[n].0, n));
        if let (Some(_), [Listed { is_broken: true, stem: Some(stem), .. }, ..]) = (&self.model, &*self.files) {
            // The tensors of a broken model are unknown.
            return named(stem);
        }
        name.match_indices([':', '/']).find_map(|(at, mark)| {
            let stem = &name[..at];
            let Listed { is_broken, refused, path, .. } = self.file_of_stem(stem)?;
            // Tensors follow `/` in a folder and `:` in a file.
            let is_folder = refused.is_some() && path.is_dir() && Format::from_folder(path).is_none();
            if *is_broken && is_folder == (mark == "/") { named(stem) } else { None }
        })
    }

    fn add(&mut self, found: FolderFile, opening: &Opening<'_>, filter: NameFilter<'_>) -> Result<Vec<PathBuf>> {
        let FolderFile { path, format, stem, bytes, parts, view } = found;
        let label = format!("{} {}", opening.role, path.display());
        let file = self.files.len();
        let may_hold_wanted = filter.takes(&stem) || format.is_container() && filter.takes_within(&format!("{stem}:"));
        // An index is always opened, because it replaces its shards.
        let is_index = format.names_files() && parts.is_empty();
        let is_opened = is_index || (format.is_container() || !format.is_binary()) && may_hold_wanted;
        let mut listed = Listed { path: path.clone(), label, stem: Some(stem.clone()), parts, ..Listed::default() };
        let input = if is_opened { listed.reopen(&opening.options).ok() } else { None };
        if input.as_ref().is_some_and(|input| input.members().text.as_ref().is_some_and(|text| text.is_other())) {
            self.left_alone.push(path);
            return Ok(Vec::new());
        }
        let is_broken = is_opened && input.is_none() && format.is_container();
        let container = input.filter(|input| input.names().is_some());
        let shards = container.as_ref().filter(|_| is_index);
        let shards = shards.map_or_else(Vec::new, |input| input.members().files.to_vec());
        if let Some(other) = self.stems.get(&stem).copied() {
            let (one, two) = (self.files[other].path.display(), path.display());
            let error = malformed!("two files of one name: {one} and {two}");
            self.tensors.retain(|(_, place)| place.file != other);
            self.refuse(path, stem, error);
            return Ok(shards);
        }
        self.stems.insert(stem.clone(), file);
        match &container {
            None => {
                // An unopened container is filtered by its prefix.
                let name = if is_opened || !format.is_container() { stem.clone() } else { format!("{stem}:") };
                self.tensors.push((name, TensorPlace::in_file(file, bytes)));
            }
            Some(input) => {
                let metadata = input.members().container.as_ref().filter(|container| container.names.is_empty());
                let metadata = metadata.and_then(|container| container.metadata.clone());
                self.without_tensors.extend(metadata.map(|metadata| (stem.clone(), metadata)));
                for (n, name) in input.names().into_iter().flatten().enumerate() {
                    let name = format!("{stem}:{name}");
                    let place = TensorPlace::in_container(file, input, n, filter.takes(&name));
                    self.tensors.push((name, place));
                }
            }
        }
        if self.tensors.len() > MAX_FILES {
            bail!("{}: more than {MAX_FILES} tensors", listed.label);
        }
        listed.refused =
            view.as_ref().and_then(|view| view.as_ref().err()).map(|error| error.clone().within(listed.label.clone()));
        listed.view = view.and_then(Result::ok);
        listed.is_container = container.is_some() || !is_opened && format.is_container() || is_broken;
        listed.is_broken = is_broken;
        listed.input = container.filter(|_| self.open < OPEN).map(Arc::new);
        self.open += usize::from(listed.input.is_some());
        self.files.push(listed);
        Ok(shards)
    }

    /// Returns the names of all tensors by their numbers.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tensors.iter().map(|(name, _)| name.as_str())
    }

    pub fn is_empty(&self) -> bool {
        self.read == 0
    }

    /// Returns whether tensor `n` is a whole file in a format without a reader.
    pub fn is_not_read(&self, n: usize) -> bool {
        n >= self.read
    }

    /// Returns the file of tensor `n`.
    pub fn file(&self, n: usize) -> &Listed {
        &self.files[self.tensors[n].1.file]
    }

    /// Returns the file with this [`stem`](Listed::stem).
    pub fn file_of_stem(&self, stem: &str) -> Option<&Listed> {
        self.stems.get(stem).map(|file| &self.files[*file])
    }

    /// Returns the approximate bytes of tensor `n`.
    pub fn bytes(&self, n: usize) -> u64 {
        self.tensors[n].1.bytes
    }

    /// Returns the file of the only model, which is opened itself.
    pub fn open_model(&self) -> Option<&Listed> {
        self.files.first().filter(|file| file.stem.is_none())
    }

    /// Returns the number of tensor `n` of the only model in its file.
    pub fn number_in_model(&self, n: usize) -> Option<usize> {
        self.tensors[n].1.number.filter(|_| self.file(n).stem.is_none())
    }

    /// Opens the file of tensor `n`, and returns the number of the tensor in it.
    ///
    /// # Errors
    /// The file cannot be read, two files have one name, or the file holds several tensors instead of one.
    pub fn find(&self, n: usize) -> Result<(Arc<Input>, usize)> {
        let input = self.open(self.file(n))?;
        let number = self.tensors[n].1.number.map_or_else(|| input.pick(None), Ok)?;
        Ok((input, number))
    }

    /// Opens a file, or returns the open one.
    ///
    /// # Errors
    /// The file cannot be read, or two files have one name.
    pub fn open(&self, file: &Listed) -> Result<Arc<Input>> {
        match file {
            Listed { input: Some(input), .. } => Ok(Arc::clone(input)),
            Listed { refused: Some(error), .. } => Err(error.clone()),
            closed => Ok(closed.reopen(&self.options)?.into()),
        }
    }
}

impl Listed {
    pub(crate) fn reopen(&self, options: &OpenOptions) -> Result<Input> {
        let options = OpenOptions { label: self.label.clone(), ..options.clone() };
        match &self.view {
            _ if !self.parts.is_empty() => numbered::open(&options, &self.path, &self.parts),
            Some(view) => options.open_dump(&self.path, view),
            None => options.open(&Located::from_path(&self.path)),
        }
    }
}

/// Opens a file, or a folder as a container of its tensors.
///
/// # Errors
/// The file or folder cannot be read, or no tensor of the folder has a supported format.
pub fn open(options: &OpenOptions, located: &Located, filter: NameFilter<'_>) -> Result<Input> {
    let folder = match &located.place {
        Place::Folder(folder) if options.is_for_files() => folder,
        _ => return options.open(located),
    };
    let label = || options.label.clone();
    let opening =
        |filter| Opening { role: "file", options: options.clone(), filter, by_files: false, takes_dumps: false };
    let listed = |filter| Collection::from_folder(folder, &opening(filter)).with_context(label);
    let mut collection = listed(filter)?;
    if let Some(glob) = located.suffix.as_deref().map(Glob::new).filter(|glob| !collection.has(glob)) {
        let named = listed(NameFilter { only: slice::from_ref(&glob), ..NameFilter::default() })?;
        if named.has(&glob) {
            collection = named;
        }
    }
    collection.check_some_read(filter).with_context(label)?;
    let (input, _) = collection.into_input();
    Ok(Input { label: label(), member: located.suffix.clone(), ..input })
}
