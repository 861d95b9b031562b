//! Lists the files of a folder that may hold tensors by their names; only files like `.bin` are opened, because any
//! bytes may be called so.

use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use super::dump_views::DumpPattern;
use super::table::Format;
use crate::container::foreign;
use crate::formats::index;
use crate::formats::raw::RawView;
use tensorop_kernels::error::{Advice, Error, ErrorKind, Result, malformed};
use tensorop_kernels::parallel::made_once;

/// The maximum number of files, folders or tensors. More suggest a cycle of links.
pub const MAX_FILES: usize = 1 << 20;

/// The assumed bytes of a Zarr store when work is divided.
const UNKNOWN: u64 = 1 << 30;

/// A folder that is listed once, on first use.
#[derive(Clone, Debug)]
pub struct Folder {
    pub path: PathBuf,
    /// Dumps that replace all other files.
    pub(crate) pattern: Option<Arc<Result<DumpPattern>>>,
    listed: Arc<OnceLock<FolderFiles>>,
}

#[derive(Clone, Debug)]
pub(crate) struct FolderFile {
    pub path: PathBuf,
    pub format: Format,
    /// The path relative to the folder without the ending, with `/` between names.
    pub stem: String,
    pub bytes: u64,
    /// The files of a model in numbered files.
    pub parts: Vec<String>,
    /// For a file without a header.
    pub view: Option<Result<RawView>>,
}

impl FolderFile {
    pub(crate) fn is_pointer(&self) -> bool {
        foreign::is_pointer_at(&self.path, self.bytes)
    }

    pub(crate) fn not_read(self) -> NotRead {
        NotRead::in_file(self.name(), self.path, foreign::POINTS)
    }

    pub(crate) fn name(&self) -> String {
        format!("{}{}", self.prefix(), self.path.file_name().unwrap_or_default().to_string_lossy())
    }

    pub(crate) fn prefix(&self) -> &str {
        self.stem.rfind('/').map_or("", |at| &self.stem[..=at])
    }

    pub(crate) fn is_text(&self) -> bool {
        !self.format.is_binary() && !self.format.is_container()
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct FolderFiles {
    pub files: Vec<FolderFile>,
    /// Files in formats without a reader.
    pub not_read: Vec<NotRead>,
    pub left_alone: Vec<PathBuf>,
    /// Folders that cannot be read.
    pub unread: Vec<NotRead>,
}

/// A file or a folder, and why it is not read.
#[derive(Clone, Debug)]
pub(crate) struct NotRead {
    pub path: PathBuf,
    /// Relative to the folder, with `/` between names.
    pub name: String,
    error: Box<Error>,
}

impl NotRead {
    pub(crate) fn in_file(name: String, path: PathBuf, what: &str) -> Self {
        Self { path, name, error: Error::from_kind(ErrorKind::Unsupported, what).into() }
    }

    pub(crate) fn advising(self, advice: Advice) -> Self {
        Self { error: self.error.advising(advice).into(), ..self }
    }

    pub(crate) fn error(&self, role: &str) -> Error {
        self.error.clone().within(format!("{role} {}", self.path.display()))
    }
}

impl Folder {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path, pattern: None, listed: Arc::default() }
    }

    /// An invalid pattern becomes an error when the tensors are listed.
    pub(crate) fn from_dumps(path: PathBuf, pattern: Result<DumpPattern>) -> Self {
        Self { pattern: Some(Arc::new(pattern)), ..Self::new(path) }
    }

    pub fn is_pattern(&self) -> bool {
        self.pattern.is_some()
    }

    /// Indices come first, because they replace other files. Links are followed, except to parent folders.
    pub(crate) fn files(&self) -> Result<FolderFiles, NotRead> {
        let list = || {
            let mut walk = FolderWalk { found: FolderFiles::default(), seen: 0, within: Vec::new() };
            walk.folder(&self.path, "").map(|()| walk.found)
        };
        made_once(&self.listed, list).cloned()
    }
}

struct FolderWalk {
    found: FolderFiles,
    seen: usize,
    within: Vec<PathBuf>,
}

impl FolderWalk {
    /// `stem` is relative to the listed folder.
    fn folder(&mut self, folder: &Path, stem: &str) -> Result<(), NotRead> {
        let refused = |error: Error| NotRead { path: folder.into(), name: stem.into(), error: error.into() };
        let prefix = &if stem.is_empty() { String::new() } else { format!("{stem}/") };
        // Some systems give two new folders equal metadata, so canonical paths find cycles.
        let own = fs::canonicalize(folder).map_err(|error| refused(error.into()))?;
        if self.within.contains(&own) {
            return Ok(());
        }
        let (mut files, mut folders) = (Vec::new(), Vec::new());
        for entry in fs::read_dir(folder).map_err(|error| refused(error.into()))? {
            let name = entry.map_err(|error| refused(error.into()))?.file_name();
            self.seen += 1;
            if self.seen > MAX_FILES {
                return Err(refused(malformed!("more than {MAX_FILES} files and folders")));
            }
            let text = name.to_string_lossy();
            if text.starts_with('.') {
                continue;
            }
            let path = folder.join(&name);
            let format = Format::from_name_or_content(&text, &path);
            let metadata = fs::metadata(&path);
            let is_folder = metadata.as_ref().is_ok_and(Metadata::is_dir);
            // Opening a broken link reports the error.
            let bytes = metadata.map_or(Some(0), |metadata| metadata.is_file().then_some(metadata.len()));
            match (format, bytes) {
                _ if is_folder => match Format::from_folder(&path) {
                    Some(store) => {
                        let named = Format::from_file_name(&text).filter(|(named, _)| *named == store);
                        let stem = named.map_or_else(|| text.clone(), |(_, stem)| stem);
                        let (stem, parts) = (format!("{prefix}{stem}"), Vec::new());
                        files.push(FolderFile { stem, path, format: store, bytes: UNKNOWN, parts, view: None });
                    }
                    None => folders.push((text.into_owned(), path)),
                },
                (Some((format, stem)), Some(bytes)) => {
                    let (stem, parts) = (format!("{prefix}{stem}"), Vec::new());
                    files.push(FolderFile { stem, path, format, bytes, parts, view: None });
                }
                (None, Some(_)) => self.found.leave(path, prefix, &text),
                (_, None) => self.found.left_alone.push(path),
            }
        }
        // an index of PyTorch files is the same model as one of safetensors beside it
        let is_first = |file: &FolderFile| index::stem(&file.path).is_some();
        if files.iter().any(is_first) {
            let others = files.extract_if(.., |file| file.format.names_files() && !is_first(file));
            self.found.left_alone.extend(others.map(|file| file.path));
        }
        files.sort_by(|a, b| (!a.format.names_files(), &a.path).cmp(&(!b.format.names_files(), &b.path)));
        folders.sort_by(|(a, _), (b, _)| a.cmp(b));
        self.found.files.extend(files);
        self.within.push(own);
        for (name, path) in folders {
            let inside = self.within.len();
            if let Err(unread) = self.folder(&path, &format!("{prefix}{name}")) {
                if self.seen > MAX_FILES {
                    return Err(unread);
                }
                self.within.truncate(inside);
                self.found.unread.push(unread);
            }
        }
        self.within.pop();
        Ok(())
    }
}

impl FolderFiles {
    fn leave(&mut self, path: PathBuf, prefix: &str, name: &str) {
        match foreign::holder(name, &path) {
            None => self.left_alone.push(path),
            Some(what) => self.not_read.push(NotRead::in_file(format!("{prefix}{name}"), path, what)),
        }
    }
}

pub(crate) struct IndexedFolder {
    pub path: PathBuf,
    pub stem: String,
}

/// A container that the index beside it does not name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BesideIndex {
    pub path: PathBuf,
    /// Relative to the opened folder.
    pub name: String,
    /// Whether it is numbered like the shards of the index.
    pub is_left_over: bool,
}

impl BesideIndex {
    /// A short message about the file.
    pub fn message(&self) -> String {
        match self.is_left_over {
            true => format!("{} is left over: the index does not name it", self.name),
            false => format!("{} is left alone: name it", self.name),
        }
    }
}

impl IndexedFolder {
    pub(crate) fn of(index: &FolderFile) -> Self {
        let stem = index.stem.rsplit('/').next().unwrap_or_default().to_owned();
        Self { path: index.path.parent().unwrap_or(Path::new("")).to_owned(), stem }
    }
}
