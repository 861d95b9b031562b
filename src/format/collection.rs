//! Finds tensors by name in a container, in the files that an index names, or in the files of a folder.
//!
//! A file that can hold several tensors is opened at once, to learn their names, and stays open. A file of one tensor is
//! opened when it is wanted, so that a folder may hold more of them than a program may have open.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::slice;
use std::sync::Arc;

use super::beside_index::{BesideIndex, IndexedFolder};
use super::dumps;
pub use super::folder::MAX_FILES;
use super::folder::{FileNotRead, Folder, FolderFile, FolderFiles};
use super::located::{Located, Place};
use super::numbered;
use super::open::{Input, OpenOptions};
use super::raw::RawView;
use super::table::Format;
use crate::error::{Context, Error, Result, bail, malformed};
use crate::format::glob::Glob;
use crate::format::name_filter::{ModelFile, NameFilter};
use crate::format::name_order::by_numbers;

/// The number of containers of a folder that stay open; others are opened again when one of their tensors is wanted.
const OPEN: usize = 256;

/// How the files of a folder are opened.
pub struct Opening<'a> {
    /// What messages call the folder, before its path.
    pub role: &'a str,
    /// How each file is opened; the label is replaced by one of its own.
    pub options: OpenOptions,
    /// Which tensors are wanted: files in which none can be are not opened, but for indices and for the only container.
    pub filter: NameFilter<'a>,
    /// Whether the names of tensors begin with those of their files in any case, and not only where the filter leaves more
    /// than one model.
    pub by_files: bool,
}

/// Tensors by name.
#[derive(Debug, Default)]
pub struct Collection {
    pub(super) files: Vec<Listed>,
    pub(super) tensors: HashMap<String, TensorPlace>,
    /// The numbers of the files of a folder, by their names without endings.
    pub(super) stems: HashMap<String, usize>,
    /// How files are opened later; the label is replaced by that of the file.
    pub(super) options: OpenOptions,
    /// The number of containers that stay open.
    pub(super) open: usize,
    /// The file that the folder stands for, if all tensors are of one model: the first one.
    pub(super) model: Option<ModelFile>,
    /// The names of tensors of the folder that the filter leaves out, where the others are those of one model.
    pub(super) left_out: Vec<String>,
    /// The files of a folder that hold no tensors, as far as their names or their content tell.
    pub(super) left_alone: Vec<PathBuf>,
    /// The containers that lie beside the index of a model and are no part of it.
    pub(super) beside: Vec<BesideIndex>,
}

/// A file of a collection.
#[derive(Debug, Default)]
pub(super) struct Listed {
    pub path: PathBuf,
    pub label: String,
    /// The name of the file in its folder, with which the names of its tensors begin; `None` if the collection is no folder.
    pub stem: Option<String>,
    /// The open file, if it stays open.
    pub input: Option<Arc<Input>>,
    /// The names of the files beside its path that make up the model, if it is one in numbered files.
    pub parts: Vec<String>,
    /// Whether it holds any number of tensors by their names.
    pub is_container: bool,
    /// Whether it holds tensors in a format that is not read.
    pub is_not_read: bool,
    /// Whether it may hold several tensors, and could not be opened.
    pub is_broken: bool,
    /// Why it is not opened, if the folder tells that.
    pub refused: Option<Error>,
    /// What its bytes are, if it has no header.
    pub view: Option<RawView>,
}

/// Where a tensor of a collection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TensorPlace {
    /// The number of its file.
    pub file: usize,
    /// Its number in the file; `None` for the only tensor of a file that has not been opened.
    pub(super) member: Option<usize>,
    /// About how many bytes it takes.
    pub bytes: u64,
}

impl TensorPlace {
    /// Returns the place of the only tensor of file number `file`, or of all that one has which is not opened.
    pub(super) fn of_file(file: usize, bytes: u64) -> Self {
        Self { file, member: None, bytes }
    }

    /// Returns the place of tensor `n` of file number `file`, which is open as `input`. How many bytes it takes is found out
    /// if it `is_wanted`; one that cannot be read counts nothing.
    pub(super) fn of_member(file: usize, input: &Input, n: usize, is_wanted: bool) -> Self {
        let described = if is_wanted { input.describe(n).ok() } else { None };
        Self { file, member: Some(n), bytes: described.map_or(0, |described| described.bytes) }
    }

    /// Returns its number in the file; `None` for the only tensor of a file that has not been opened.
    pub fn member(&self) -> Option<usize> {
        self.member
    }

    /// Returns the number of the tensor in its file, which is open as `input`.
    ///
    /// # Errors
    /// A file that holds several tensors where it should hold one.
    pub fn number_in(&self, input: &Input) -> Result<usize> {
        self.member.map_or_else(|| input.pick(None), Ok)
    }
}

impl Collection {
    /// Lists the tensors of a container or an index, those that are damaged, too: all, or those that its path selects. A file
    /// of one tensor without a name has none.
    ///
    /// # Errors
    /// Those of [`Input::select`].
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

    /// Lists the tensors in the files of a folder and of the folders in it. The name of a tensor is the path of its file
    /// from there without the ending; in a container, `:` and its name there follow. Skipped are files whose endings are
    /// not those of a format that is read, hidden files, files that are not regular, and JSON objects that are no tensors.
    /// An index stands for the files that it names. Links are followed, but not to a folder that they lie in.
    ///
    /// If the filter leaves one model, an index or a container, and no other file but texts, the folder is that model: its
    /// tensors have the names that they have there, and texts are left alone, as beside several models.
    ///
    /// A file that cannot be read is listed as one tensor, so that it stops nobody who wants the others; why it cannot be
    /// read is said when it is opened. So are a folder in the folder that cannot be read, two files of one name, and, by its
    /// whole name, a file of a format that holds tensors and is not read.
    ///
    /// # Errors
    /// The folder itself cannot be read; more than [`MOST`] files or tensors.
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
        // patterns that choose texts alone name them by themselves
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
        for file in not_read {
            collection.add_not_read(file, opening.role);
        }
        collection.left_alone.sort();
        Ok(collection)
    }

    /// Lists the tensors of files of a folder that are no texts. Returns the pointers of Git LFS among them that lie beside one
    /// model, which keeps its names although others are not there.
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
            // of many files of one tensor, the first that is no pointer is the last that is opened
            let mut singles = left().filter(|file| !file.format.is_container());
            if listed + models.count() == 1 && singles.all(FolderFile::is_pointer) {
                pointers = files.extract_if(.., |file| file.is_pointer()).map(FolderFile::not_read).collect();
            }
        }
        let left = listed + files.iter().filter(|file| is_left(&file.stem, file.format.is_container())).count();
        // patterns may be for the own names of the tensors of the only file
        let filter = match (self.files.len() + files.len(), left) {
            _ if opening.by_files => opening.filter,
            (1, _) => NameFilter::default(),
            (_, 1) => excluding,
            _ => opening.filter,
        };
        files.into_iter().try_for_each(|found| self.add(found, opening, filter).map(drop))?;
        Ok(pointers)
    }

    /// Returns the file that the folder stands for, if all its tensors are those of one model.
    pub fn model(&self) -> Option<&ModelFile> {
        self.model.as_ref()
    }

    /// Returns the names of tensors of the folder that the filter leaves out, where the others are those of one model.
    pub fn left_out(&self) -> &[String] {
        &self.left_out
    }

    /// Returns whether it has a tensor whose name a pattern matches.
    fn has(&self, glob: &Glob) -> bool {
        self.tensors.keys().any(|name| glob.matches(name))
    }

    /// Returns the files of a folder that hold no tensors, in the order of their paths.
    pub fn left_alone(&self) -> &[PathBuf] {
        &self.left_alone
    }

    /// Returns the file or folder that a tensor of that name would lie in, if it cannot be opened, and what it is listed as.
    pub fn broken(&self, name: &str) -> Option<(&str, TensorPlace)> {
        if let (Some(_), [Listed { is_broken: true, stem: Some(stem), .. }, ..]) = (&self.model, &*self.files) {
            // nobody knows which tensors the one file has
            return Some((stem, TensorPlace::of_file(0, 0)));
        }
        name.match_indices([':', '/']).find_map(|(at, mark)| {
            let (stem, file) = self.stems.get_key_value(&name[..at])?;
            let Listed { is_broken, refused, path, .. } = &self.files[*file];
            // a folder has its tensors behind a slash, a file behind a colon
            let is_folder = refused.is_some() && path.is_dir() && Format::from_folder(path).is_none();
            (*is_broken && is_folder == (mark == "/")).then_some((stem.as_str(), TensorPlace::of_file(*file, 0)))
        })
    }

    /// Lists the tensors of a file of a folder, which is opened if `filter` may take one. Returns the files beside it that it
    /// stands for.
    fn add(&mut self, found: FolderFile, opening: &Opening<'_>, filter: NameFilter<'_>) -> Result<Vec<PathBuf>> {
        let FolderFile { path, format, stem, bytes, parts, view } = found;
        let label = format!("{} {}", opening.role, path.display());
        let file = self.files.len();
        let may_hold_wanted = filter.takes(&stem) || format.is_container() && filter.takes_within(&format!("{stem}:"));
        // files that may hold several tensors, or none, are opened; an index in any case, since it stands for others
        let is_index = format.names_files() && parts.is_empty();
        let is_opened = is_index || (format.is_container() || !format.is_binary()) && may_hold_wanted;
        let mut listed = Listed { path: path.clone(), label, stem: Some(stem.clone()), parts, ..Listed::default() };
        let input = if is_opened { listed.reopen(&opening.options).ok() } else { None };
        if input.as_ref().is_some_and(|input| input.reader().text().is_some_and(|text| text.is_other())) {
            self.left_alone.push(path);
            return Ok(Vec::new());
        }
        let is_broken = is_opened && input.is_none() && format.is_container();
        let container = input.filter(|input| input.names().is_some());
        let shards = container.as_ref().filter(|_| is_index);
        let shards = shards.map_or_else(Vec::new, |input| input.reader().facts().files.to_vec());
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
                // what was not opened has one name, which is left out as all that it may hold
                let name = if is_opened || !format.is_container() { stem.clone() } else { format!("{stem}:") };
                self.tensors.insert(name, TensorPlace::of_file(file, bytes));
            }
            Some(input) => {
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

    /// Returns the names in natural order, and where the tensors are.
    pub fn tensors(&self) -> Vec<(&str, TensorPlace)> {
        let mut tensors: Vec<_> = self.tensors.iter().map(|(name, place)| (name.as_str(), *place)).collect();
        tensors.sort_by(|(a, _), (b, _)| by_numbers(a, b));
        tensors
    }

    /// Returns whether there is no tensor but those of files that are not read.
    pub fn is_empty(&self) -> bool {
        self.tensors.values().all(|place| self.is_not_read(place.file))
    }

    /// Returns whether a file is listed as one tensor because its format is not read.
    pub fn is_not_read(&self, file: usize) -> bool {
        self.files[file].is_not_read
    }

    /// Returns whether a file has no header, and something else says what it is.
    pub fn is_dump(&self, file: usize) -> bool {
        self.files[file].view.is_some()
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
    /// Those of [`OpenOptions::open`]; a folder that cannot be read, or two files of one name.
    pub fn open(&self, file: usize) -> Result<Arc<Input>> {
        match &self.files[file] {
            Listed { input: Some(input), .. } => Ok(Arc::clone(input)),
            Listed { refused: Some(error), .. } => Err(error.clone()),
            closed => Ok(closed.reopen(&self.options)?.into()),
        }
    }
}

impl Listed {
    /// Opens the file, or the files that make up the model.
    ///
    /// # Errors
    /// Those of [`OpenOptions::open`].
    pub(super) fn reopen(&self, options: &OpenOptions) -> Result<Input> {
        let options = OpenOptions { label: self.label.clone(), ..options.clone() };
        match &self.view {
            _ if !self.parts.is_empty() => numbered::open(&options, &self.path, &self.parts),
            Some(view) => options.open_dump(&self.path, view),
            None => options.open(&Located::from_path(&self.path)),
        }
    }
}

/// Opens a located file as [`OpenOptions::open`] does, and also a folder of files. The folder is a container: its tensors have the names
/// of [`Collection::of_folder`], where `filter` may leave one model. `FOLDER:NAME` is one of its tensors; a text
/// beside a model is found by that, too.
///
/// # Errors
/// Those of [`OpenOptions::open`] and [`Collection::of_folder`]; a folder of which no file is read that holds tensors.
pub fn open(options: &OpenOptions, located: &Located, filter: NameFilter<'_>) -> Result<Input> {
    let folder = match &located.place {
        Place::Folder(folder) if options.is_for_files() => folder,
        _ => return options.open(located),
    };
    // within the folder, a file is called by its path from there
    let opening = |filter| Opening { role: "file", options: options.clone(), filter, by_files: false };
    let listed = |filter| Collection::from_folder(folder, &opening(filter)).with_context(|| options.label.clone());
    let mut collection = listed(filter)?;
    if let Some(glob) = located.suffix.as_deref().map(Glob::new).filter(|glob| !collection.has(glob)) {
        let named = listed(NameFilter { only: slice::from_ref(&glob), ..NameFilter::default() })?;
        if named.has(&glob) {
            collection = named;
        }
    }
    Ok(collection.into_input(options.label.clone(), filter)?.with_member(located.suffix.clone()))
}
