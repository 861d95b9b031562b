//! Finds tensors by name in a container, in the files that an index names, or in the files of a folder.
//!
//! A file that can hold several tensors is opened at once, to learn their names, and stays open. A file of one tensor is
//! opened when it is wanted, so that a folder may hold more of them than a program may have open.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::colon::folder_of_files;
use super::content::{ChunkDescription, Description};
pub use super::folder::MOST;
use super::folder::{self, FolderFile, FolderFiles, UnreadFolder};
use super::interface::Reader;
use super::open::{Input, OpenOptions};
use super::table::Format;
use crate::error::{Context, Error, Result, bail, malformed};
use crate::layout::order::{by_numbers, sort_by};
use crate::storage::key_store::AllValues;
use crate::storage::local_store::LocalStore;
use crate::storage::source::{Notes, Source};

/// The number of containers of a folder that stay open; others are opened again when one of their tensors is wanted.
const OPEN: usize = 256;

/// How the files of a folder are opened.
pub struct Opening<'a> {
    /// What messages call the folder, before its path.
    pub role: &'a str,
    /// How each file is opened; the label is replaced by one of its own.
    pub options: OpenOptions,
    /// Returns whether a name is wanted: files in which no tensor can be wanted are not opened, but for indices.
    pub wanted: &'a dyn Fn(&str) -> bool,
    /// Returns whether a name that begins so may be wanted.
    pub wanted_within: &'a dyn Fn(&str) -> bool,
}

/// Which tensors of a folder are wanted: files that hold no other are not opened.
#[derive(Clone, Copy)]
pub struct Wanted<'a> {
    /// Returns whether a tensor of that name is wanted.
    pub name: &'a dyn Fn(&str) -> bool,
    /// Returns whether one is whose name begins so, or may be.
    pub within: &'a dyn Fn(&str) -> bool,
}

impl Wanted<'_> {
    /// All of them.
    pub const ALL: Self = Self { name: &|_| true, within: &|_| true };
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
    /// The number of containers that stay open.
    open: usize,
    /// The files of a folder that hold no tensors, as far as their names or their content tell.
    left_alone: Vec<PathBuf>,
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
    /// Whether it may hold several tensors, and could not be opened.
    is_broken: bool,
    /// Why it is not opened, if the folder tells that.
    refused: Option<Error>,
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
    /// Lists the tensors of a container or an index, those that are damaged, too: all, or those that its path selects. A file
    /// of one tensor without a name has none.
    ///
    /// # Errors
    /// Those of [`Input::select`].
    pub fn of_input(input: Input, path: &Path, opening: Opening<'_>) -> Result<Self> {
        let mut tensors = HashMap::new();
        let selected = input.select()?.into_iter();
        for (n, name) in selected.filter_map(|n| Some((n, input.name(n)?))) {
            let bytes = if (opening.wanted)(name) { bytes_of(&input, n) } else { 0 };
            tensors.insert(name.to_owned(), TensorPlace { file: 0, member: Some(n), bytes });
        }
        let label = input.label().to_owned();
        let file = Listed {
            path: path.to_owned(),
            label,
            stem: None,
            input: Some(input.into()),
            is_broken: false,
            refused: None,
        };
        Ok(Self { files: vec![file], tensors, options: opening.options, open: 1, ..Self::default() })
    }

    /// Lists the tensors of the one file that a folder [stands for](model), which is open.
    ///
    /// # Errors
    /// A folder that cannot be read.
    pub fn of_model(input: Input, file: &Path, folder: &Path, opening: Opening<'_>) -> Result<Self> {
        let shards: HashSet<_> = input.files().into_iter().collect();
        let FolderFiles { files, mut left_alone, .. } = folder::files(folder, opening.role)?;
        let others = files.into_iter().map(|other| other.path);
        left_alone.extend(others.filter(|other| other != file && !shards.contains(other)));
        left_alone.sort();
        Ok(Self { left_alone, ..Self::of_input(input, file, opening)? })
    }

    /// Lists the tensors in the files of a folder and of the folders in it. The name of a tensor is the path of its file
    /// from there without the ending; in a container, `:` and its name there follow. Skipped are files whose endings are
    /// not those of a format that is read, hidden files, files that are not regular, and JSON objects that are no tensors.
    /// An index stands for the files that it names. Links are followed, but not to a folder that they lie in.
    ///
    /// A file that cannot be read is listed as one tensor, so that it stops nobody who wants the others; why it cannot be
    /// read is said when it is opened. So are a folder in the folder that cannot be read, and two files of one name.
    ///
    /// # Errors
    /// The folder itself cannot be read; more than [`MOST`] files or tensors.
    pub fn of_folder(folder: &Path, opening: Opening<'_>) -> Result<Self> {
        let mut collection = Self { options: opening.options.clone(), ..Self::default() };
        let mut shards = HashSet::new();
        let FolderFiles { files, left_alone, unread } = folder::files(folder, opening.role)?;
        collection.left_alone = left_alone;
        for UnreadFolder { path, stem, error } in unread {
            collection.refuse(path, stem, error);
        }
        for found in files {
            if !shards.contains(&found.path) {
                shards.extend(collection.add(found, &opening)?);
            }
        }
        collection.left_alone.sort();
        Ok(collection)
    }

    /// Returns the files of a folder that hold no tensors, in the order of their paths.
    pub fn left_alone(&self) -> &[PathBuf] {
        &self.left_alone
    }

    /// Returns the file or folder that a tensor of that name would lie in, if it cannot be opened, and what it is listed as.
    pub fn broken(&self, name: &str) -> Option<(&str, TensorPlace)> {
        name.match_indices([':', '/']).find_map(|(at, mark)| {
            let (stem, file) = self.stems.get_key_value(&name[..at])?;
            let Listed { is_broken, refused, path, .. } = &self.files[*file];
            // a folder has its tensors behind a slash, a file behind a colon
            let is_folder = refused.is_some() && path.is_dir() && Format::of_folder(path).is_none();
            let place = TensorPlace { file: *file, member: None, bytes: 0 };
            (*is_broken && is_folder == (mark == "/")).then_some((stem.as_str(), place))
        })
    }

    /// Lists the tensors of a file of a folder. Returns the files beside it that it stands for.
    fn add(&mut self, found: FolderFile, opening: &Opening<'_>) -> Result<Vec<PathBuf>> {
        let FolderFile { path, format, stem, bytes } = found;
        let label = format!("{} {}", opening.role, path.display());
        let file = self.files.len();
        let may_hold_wanted =
            (opening.wanted)(&stem) || format.is_container() && (opening.wanted_within)(&format!("{stem}:"));
        // files that may hold several tensors, or none, are opened; an index in any case, since it stands for others
        let is_opened = format.names_files() || (format.is_container() || !format.is_binary()) && may_hold_wanted;
        let options = OpenOptions { label: label.clone(), ..opening.options.clone() };
        let input = if is_opened { options.open(&path).ok() } else { None };
        if input.as_ref().is_some_and(Input::is_other) {
            self.left_alone.push(path);
            return Ok(Vec::new());
        }
        let is_broken = is_opened && input.is_none() && format.is_container();
        let container = input.filter(|input| input.names().is_some());
        if let Some(other) = self.stems.get(&stem).copied() {
            let (one, two) = (self.path(other).display(), path.display());
            let error = malformed!("two files of one name: {one} and {two}");
            self.tensors.retain(|_, place| place.file != other);
            self.refuse(path, stem, error);
            return Ok(container.as_ref().map_or_else(Vec::new, Input::files));
        }
        self.stems.insert(stem.clone(), file);
        match &container {
            None => {
                // what was not opened has one name, which is left out as all that it may hold
                let name = if is_opened || !format.is_container() { stem.clone() } else { format!("{stem}:") };
                self.tensors.insert(name, TensorPlace { file, member: None, bytes });
            }
            Some(input) => {
                for (n, name) in input.names().into_iter().flatten().enumerate() {
                    let name = format!("{stem}:{name}");
                    let bytes = if (opening.wanted)(&name) { bytes_of(input, n) } else { 0 };
                    self.tensors.insert(name, TensorPlace { file, member: Some(n), bytes });
                }
            }
        }
        if self.tensors.len() > MOST {
            bail!("{label}: more than {MOST} tensors");
        }
        let shards = container.as_ref().map_or_else(Vec::new, Input::files);
        let input = container.filter(|_| self.open < OPEN).map(Arc::new);
        self.open += usize::from(input.is_some());
        self.files.push(Listed { path, label, stem: Some(stem), input, is_broken, refused: None });
        Ok(shards)
    }

    /// Lists what is not opened as one tensor that cannot be read.
    fn refuse(&mut self, path: PathBuf, stem: String, error: Error) {
        let file = self.files.len();
        self.stems.insert(stem.clone(), file);
        self.tensors.insert(stem.clone(), TensorPlace { file, member: None, bytes: 0 });
        let (label, stem, refused) = (String::new(), Some(stem), Some(error));
        self.files.push(Listed { path, label, stem, input: None, is_broken: true, refused });
    }

    /// Returns the names in natural order, and where the tensors are.
    pub fn tensors(&self) -> Vec<(&str, TensorPlace)> {
        let mut tensors: Vec<_> = self.tensors.iter().map(|(name, place)| (name.as_str(), *place)).collect();
        sort_by(&mut tensors, |(a, _), (b, _)| by_numbers(a, b));
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
    /// Those of [`OpenOptions::open`]; a folder that cannot be read, or two files of one name.
    pub fn open(&self, file: usize) -> Result<Arc<Input>> {
        let Listed { path, label, input, refused, .. } = &self.files[file];
        if let Some(input) = input {
            return Ok(Arc::clone(input));
        }
        if let Some(error) = refused {
            return Err(error.clone());
        }
        Ok(OpenOptions { label: label.clone(), ..self.options.clone() }.open(path)?.into())
    }
}

/// Returns about how many bytes a member takes: what cannot be read counts nothing.
fn bytes_of(input: &Input, n: usize) -> u64 {
    input.describe(n).map_or(0, |described| described.bytes)
}

/// Opens a path as [`OpenOptions::open`] does, and a folder of files besides, which is a container: the names of its tensors
/// are those of [`Collection::of_folder`], or, if the folder [is a model](model), those of the one file. `FOLDER:NAME` is
/// one of its tensors. Of a whole folder what is not `wanted` is listed, but only opened when somebody asks for it.
///
/// # Errors
/// Those of [`OpenOptions::open`] and [`Collection::of_folder`].
pub fn open(options: &OpenOptions, path: &Path, wanted: Wanted<'_>) -> Result<Input> {
    let Some((folder, member)) = folder_of_files(path).filter(|_| options.is_for_files()) else {
        return options.open(path);
    };
    if let Some(file) = model(&folder, options)? {
        return Ok(options.open(&file)?.with_member(member));
    }
    // within the folder, a file is called by its path from there
    let Wanted { name, within } = if member.is_none() { wanted } else { Wanted::ALL };
    let opening = Opening { role: "file", options: OpenOptions::clone(options), wanted: name, wanted_within: within };
    let collection = Collection::of_folder(&folder, opening).with_context(|| options.label.clone())?;
    let (mut names, mut places) = (Vec::new(), Vec::new());
    for (name, place) in collection.tensors() {
        names.push(name.to_owned());
        places.push(place);
    }
    let reader = Box::new(FolderReader { collection, names, places });
    Ok(Input::of_reader(options.label.clone(), Format::FOLDER, reader).with_member(member))
}

/// Returns the bytes of a file, or of all files of a store, as far as they can be read.
fn bytes_at(path: &Path) -> Option<Box<dyn Read>> {
    let metadata = fs::metadata(path).ok()?;
    if metadata.is_dir() {
        return Some(Box::new(AllValues::new(Arc::new(LocalStore::new(path)), "")));
    }
    // to open a pipe would wait for its writer
    if metadata.is_file() { Some(Box::new(fs::File::open(path).ok()?)) } else { None }
}

/// Returns the one file that a folder of files stands for, if it is a model: the only index, or the only container, beside
/// which no other file holds a tensor.
///
/// # Errors
/// A folder that cannot be read.
pub fn model(folder: &Path, options: &OpenOptions) -> Result<Option<PathBuf>> {
    let FolderFiles { files, unread, .. } = folder::files(folder, "file").with_context(|| options.label.clone())?;
    if !unread.is_empty() {
        // nobody knows what lies there
        return Ok(None);
    }
    let Some(first) = files.iter().find(|file| file.format.is_container()) else { return Ok(None) };
    let open = |file: &FolderFile| options.open(&file.path).ok();
    // what is no container may still be a JSON that holds no tensor, such as the configuration of a model
    let may_be_alone =
        |file: &FolderFile| file.path == first.path || file.format.is_container() || !file.format.is_binary();
    if !files.iter().all(may_be_alone) {
        return Ok(None);
    }
    let Some(shards) = open(first).filter(|input| input.names().is_some()).map(|input| input.files()) else {
        return Ok(None);
    };
    let mut others = files.iter().filter(|file| file.path != first.path && !shards.contains(&file.path));
    let is_alone = others.all(|file| !file.format.is_container() && open(file).is_some_and(|input| input.is_other()));
    Ok(is_alone.then(|| first.path.clone()))
}

/// A folder of files as a container of all their tensors.
#[derive(Debug)]
struct FolderReader {
    collection: Collection,
    /// The names of the tensors, and where each lies.
    names: Vec<String>,
    places: Vec<TensorPlace>,
}

impl FolderReader {
    /// Opens the file that tensor `n` lies in, and returns its number there.
    fn find(&self, n: usize) -> Result<(Arc<Input>, usize)> {
        let input = self.collection.open(self.places[n].file)?;
        let number = self.places[n].number_in(&input)?;
        Ok((input, number))
    }
}

impl Reader for FolderReader {
    fn names(&self) -> Option<&[String]> {
        Some(&self.names)
    }

    fn describe(&self, n: usize) -> Result<Description> {
        let (input, number) = self.find(n)?;
        input.reader().describe(number).with_context(|| input.label())
    }

    fn source(&self, n: usize, label: String) -> Result<Source> {
        let (input, number) = self.find(n)?;
        input.reader().source(number, label).with_context(|| input.label())
    }

    fn notes(&self, n: usize) -> Result<Option<Arc<Notes>>> {
        let (input, number) = self.find(n)?;
        input.reader().notes(number).with_context(|| input.label())
    }

    fn chunks(&self, n: usize) -> Result<Option<ChunkDescription>> {
        let (input, number) = self.find(n)?;
        input.reader().chunks(number).with_context(|| input.label())
    }

    fn raw(&self, n: usize) -> Option<Box<dyn Read>> {
        let member = self.find(n).ok().and_then(|(input, number)| input.raw(number));
        member.or_else(|| bytes_at(self.collection.path(self.places[n].file)))
    }

    fn file_format(&self, n: usize) -> Option<&'static str> {
        self.find(n).ok().map(|(input, _)| input.format().name())
    }
}
