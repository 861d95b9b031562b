//! Finds tensors by name in a container, an index or a folder.
//!
//! Files of several tensors are opened at once for their names and stay open. Files of one tensor are opened on demand,
//! so that a folder may have more files than a process may open.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::slice;
use std::sync::Arc;

pub use super::folder::MAX_FILES;
use super::folder::{BesideIndex, FileNotRead, Folder, FolderFile, FolderFiles, IndexedFolder};
use super::located::{Located, Place};
use super::open::{Input, OpenOptions};
use super::raw::RawView;
use super::table::Format;
use super::{dumps, numbered};
use crate::error::{Context, Error, Result, bail, malformed};
use crate::format::glob::Glob;
use crate::format::name_filter::{ModelFile, NameFilter};
use crate::format::name_order::by_numbers;
use crate::storage::requests::as_address;
use crate::storage::source::FileMetadata;

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

/// Tensors by name.
#[derive(Debug, Default)]
pub struct Collection {
    pub(super) files: Vec<Listed>,
    pub(super) tensors: HashMap<String, TensorPlace>,
    /// The metadata of containers without tensors, by their names without endings.
    pub without_tensors: BTreeMap<String, Arc<FileMetadata>>,
    /// Numbers of files by their names without endings.
    pub(super) stems: HashMap<String, usize>,
    pub(super) options: OpenOptions,
    pub(super) open: usize,
    /// File 0, if all tensors belong to one model.
    pub(super) model: Option<ModelFile>,
    /// Names of tensors outside the model.
    pub(super) left_out: Vec<String>,
    pub(super) left_alone: Vec<PathBuf>,
    pub(super) beside: Vec<BesideIndex>,
}

#[derive(Debug, Default)]
pub(super) struct Listed {
    pub path: PathBuf,
    pub label: String,
    /// The path in the folder without the ending; `None` outside a folder.
    pub stem: Option<String>,
    pub input: Option<Arc<Input>>,
    pub parts: Vec<String>,
    /// Whether it holds any number of named tensors.
    pub is_container: bool,
    pub is_not_read: bool,
    /// Whether it may hold several tensors and cannot be opened.
    pub is_broken: bool,
    /// The error to return on opening.
    pub refused: Option<Error>,
    pub view: Option<RawView>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TensorPlace {
    pub file: usize,
    /// `None` if the file has not been opened.
    pub(super) member: Option<usize>,
    /// Approximate.
    pub bytes: u64,
}

impl TensorPlace {
    pub(super) fn of_file(file: usize, bytes: u64) -> Self {
        Self { file, member: None, bytes }
    }

    /// Describing a tensor may read the file, so an unwanted one gets size 0.
    pub(super) fn of_member(file: usize, input: &Input, n: usize, is_wanted: bool) -> Self {
        let described = if is_wanted { input.describe(n).ok() } else { None };
        Self { file, member: Some(n), bytes: described.map_or(0, |described| described.bytes) }
    }

    pub fn member(&self) -> Option<usize> {
        self.member
    }

    /// Returns the number of the tensor in its open file.
    ///
    /// # Errors
    /// The file holds several tensors instead of one.
    pub fn number_in(&self, input: &Input) -> Result<usize> {
        self.member.map_or_else(|| input.pick(None), Ok)
    }
}

impl Collection {
    /// Lists the named tensors of a container or an index that its path selects.
    ///
    /// # Errors
    /// The path selects no tensor.
    pub fn from_input(input: Arc<Input>, path: &Path, opening: &Opening<'_>) -> Result<Self> {
        let members = input.select()?.into_iter().filter_map(|n| Some((n, input.name(n)?)));
        let tensors = members
            .map(|(n, name)| (name.to_owned(), TensorPlace::of_member(0, &input, n, opening.filter.takes(name))));
        let tensors = tensors.collect();
        let (path, label) = (path.to_owned(), input.label().to_owned());
        let is_container = input.names().is_some();
        let file = Listed { path, label, is_container, input: Some(input), ..Listed::default() };
        Ok(Self { files: vec![file], tensors, options: opening.options.clone(), open: 1, ..Self::default() })
    }

    /// Whether any file is on a server.
    pub fn costs_requests(&self) -> bool {
        self.files.iter().any(|file| as_address(&file.path).is_some())
    }

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
            let (path, stem) = (unread.path.clone(), unread.stem.clone());
            collection.refuse(path, stem, unread.error(opening.role));
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
        for file in not_read {
            collection.add_not_read(file, opening.role);
        }
        collection.left_alone.sort();
        Ok(collection)
    }

    fn add_all(&mut self, files: Vec<FolderFile>, opening: &Opening<'_>) -> Result<Vec<FileNotRead>> {
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

    pub fn model(&self) -> Option<&ModelFile> {
        self.model.as_ref()
    }

    /// Returns the names of tensors outside the model.
    pub fn left_out(&self) -> &[String] {
        &self.left_out
    }

    fn has(&self, glob: &Glob) -> bool {
        self.tensors.keys().any(|name| glob.matches(name))
    }

    /// Returns the files without tensors, sorted.
    pub fn left_alone(&self) -> &[PathBuf] {
        &self.left_alone
    }

    /// Returns the stem and place of the unreadable file or folder that would hold a tensor.
    pub fn broken(&self, name: &str) -> Option<(&str, TensorPlace)> {
        if let (Some(_), [Listed { is_broken: true, stem: Some(stem), .. }, ..]) = (&self.model, &*self.files) {
            // The tensors of a broken model are unknown.
            return Some((stem, TensorPlace::of_file(0, 0)));
        }
        name.match_indices([':', '/']).find_map(|(at, mark)| {
            let (stem, file) = self.stems.get_key_value(&name[..at])?;
            let Listed { is_broken, refused, path, .. } = &self.files[*file];
            // Tensors follow `/` in a folder and `:` in a file.
            let is_folder = refused.is_some() && path.is_dir() && Format::from_folder(path).is_none();
            (*is_broken && is_folder == (mark == "/")).then_some((stem.as_str(), TensorPlace::of_file(*file, 0)))
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
            let (one, two) = (self.path(other).display(), path.display());
            let error = malformed!("two files of one name: {one} and {two}");
            self.tensors.retain(|_, place| place.file != other);
            self.refuse(path, stem, error);
            return Ok(shards);
        }
        self.stems.insert(stem.clone(), file);
        match &container {
            None => {
                // An unopened container is filtered by its prefix.
                let name = if is_opened || !format.is_container() { stem.clone() } else { format!("{stem}:") };
                self.tensors.insert(name, TensorPlace::of_file(file, bytes));
            }
            Some(input) => {
                let metadata = input.members().container.as_ref().filter(|container| container.names.is_empty());
                let metadata = metadata.and_then(|container| container.metadata.clone());
                self.without_tensors.extend(metadata.map(|metadata| (stem.clone(), metadata)));
                for (n, name) in input.names().into_iter().flatten().enumerate() {
                    let name = format!("{stem}:{name}");
                    let place = TensorPlace::of_member(file, input, n, filter.takes(&name));
                    self.tensors.insert(name, place);
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

    /// Returns names and places in natural order.
    pub fn tensors(&self) -> Vec<(&str, TensorPlace)> {
        let mut tensors: Vec<_> = self.tensors.iter().map(|(name, place)| (name.as_str(), *place)).collect();
        // Files list most names in natural order, and a sorted list takes a fraction of the comparisons.
        tensors.sort_unstable_by_key(|(_, place)| (place.file, place.member));
        tensors.sort_by(|(a, _), (b, _)| by_numbers(a, b));
        tensors
    }

    pub fn is_empty(&self) -> bool {
        self.tensors.values().all(|place| self.is_not_read(place.file))
    }

    /// Returns whether the file's format is not supported.
    pub fn is_not_read(&self, file: usize) -> bool {
        self.files[file].is_not_read
    }

    /// Returns whether a file has no header and a known view.
    pub fn is_dump(&self, file: usize) -> bool {
        self.files[file].view.is_some()
    }

    pub fn path(&self, file: usize) -> &Path {
        &self.files[file].path
    }

    /// Returns the path of a file in its folder without the ending.
    pub fn stem(&self, file: usize) -> Option<&str> {
        self.files[file].stem.as_deref()
    }

    /// Returns the file with this [`stem`](Self::stem).
    pub fn file_of_stem(&self, stem: &str) -> Option<usize> {
        self.stems.get(stem).copied()
    }

    /// Returns the open container; `None` for a folder.
    pub fn container(&self) -> Option<&Input> {
        self.files.first().filter(|file| file.stem.is_none())?.input.as_deref()
    }

    /// Opens a file, or returns the open one.
    ///
    /// # Errors
    /// The file cannot be read, or two files have one name.
    pub fn open(&self, file: usize) -> Result<Arc<Input>> {
        match &self.files[file] {
            Listed { input: Some(input), .. } => Ok(Arc::clone(input)),
            Listed { refused: Some(error), .. } => Err(error.clone()),
            closed => Ok(closed.reopen(&self.options)?.into()),
        }
    }
}

impl Listed {
    pub(super) fn reopen(&self, options: &OpenOptions) -> Result<Input> {
        let options = OpenOptions { label: self.label.clone(), ..options.clone() };
        match &self.view {
            _ if !self.parts.is_empty() => numbered::open(&options, &self.path, &self.parts),
            Some(view) => options.open_dump(&self.path, view),
            None => options.open(&Located::from_path(&self.path)),
        }
    }
}

/// Opens a file, or a folder as a container of the tensors of [`Collection::from_folder`].
///
/// # Errors
/// The file or folder cannot be read, or no tensor of the folder has a supported format.
pub fn open(options: &OpenOptions, located: &Located, filter: NameFilter<'_>) -> Result<Input> {
    let folder = match &located.place {
        Place::Folder(folder) if options.is_for_files() => folder,
        _ => return options.open(located),
    };
    let opening =
        |filter| Opening { role: "file", options: options.clone(), filter, by_files: false, takes_dumps: false };
    let listed = |filter| Collection::from_folder(folder, &opening(filter)).with_context(|| options.label.clone());
    let mut collection = listed(filter)?;
    if let Some(glob) = located.suffix.as_deref().map(Glob::new).filter(|glob| !collection.has(glob)) {
        let named = listed(NameFilter { only: slice::from_ref(&glob), ..NameFilter::default() })?;
        if named.has(&glob) {
            collection = named;
        }
    }
    Ok(Input { member: located.suffix.clone(), ..collection.into_input(options.label.clone(), filter)? })
}
