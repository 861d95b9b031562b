//! The files of a folder that may hold tensors, found by their names: only `.bin` is opened, which is the ending of all bytes.

use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use super::dump_views::DumpPattern;
use super::foreign;
use super::raw::RawView;
use super::table::Format;
use crate::error::{Error, Result, malformed};
use crate::parallel::made_once;

/// The most files and folders that are looked at in a folder, and the most tensors that it may hold. Where there are more,
/// links most likely lead in circles.
pub const MAX_FILES: usize = 1 << 20;

/// The bytes that count for a store whose size is not known, when work is divided by size.
const UNKNOWN: u64 = 1 << 30;

/// A folder of files. It is listed when its files are first wanted, and once.
#[derive(Clone, Debug)]
pub struct Folder {
    /// Where it is.
    pub path: PathBuf,
    /// The files without a header that are wanted of it, if these alone are.
    pub(super) pattern: Option<Arc<Result<DumpPattern>>>,
    listed: Arc<OnceLock<FolderFiles>>,
}

/// A file, or a store of chunks, in a folder.
#[derive(Clone, Debug)]
pub(super) struct FolderFile {
    pub path: PathBuf,
    /// The format that the name tells.
    pub format: Format,
    /// The path from the folder on without the ending, with `/` between names: what the tensors of the file are called by.
    pub stem: String,
    pub bytes: u64,
    /// The names of the files in the folder of the path that make up the model, if it is one in numbered files.
    pub parts: Vec<String>,
    /// What its bytes are, or why that is not known, if it has no header and something else describes it.
    pub view: Option<Result<RawView>>,
}

impl FolderFile {
    /// Returns whether it is a pointer of Git LFS.
    pub(super) fn is_pointer(&self) -> bool {
        foreign::is_pointer_at(&self.path, self.bytes)
    }

    /// Returns a pointer of Git LFS as a file that is not read.
    pub(super) fn not_read(self) -> FileNotRead {
        FileNotRead { name: self.name(), path: self.path, what: foreign::POINTS }
    }

    /// Returns the path from the folder on with the ending.
    pub(super) fn name(&self) -> String {
        format!("{}{}", self.prefix(), self.path.file_name().unwrap_or_default().to_string_lossy())
    }

    /// Returns the path from the folder on to the folder that the file is in, with a slash at its end unless it is empty.
    pub(super) fn prefix(&self) -> &str {
        self.stem.rfind('/').map_or("", |at| &self.stem[..=at])
    }

    /// Returns whether it is a text, which may hold anything, and no index.
    pub(super) fn is_text(&self) -> bool {
        !self.format.is_binary() && !self.format.is_container()
    }
}

/// The files of a folder.
#[derive(Clone, Debug, Default)]
pub(super) struct FolderFiles {
    /// Those that may hold tensors.
    pub files: Vec<FolderFile>,
    /// Those that hold tensors and are not read.
    pub not_read: Vec<FileNotRead>,
    /// The others, but for hidden ones.
    pub left_alone: Vec<PathBuf>,
    /// The folders in it that cannot be read.
    pub unread: Vec<UnreadFolder>,
}

/// A file in a folder that holds tensors in a way that is not read.
#[derive(Clone, Debug)]
pub(super) struct FileNotRead {
    pub path: PathBuf,
    /// The path from the folder on with the ending, with `/` between names: the file is called by it.
    pub name: String,
    /// What it is.
    pub what: &'static str,
}

/// A folder that cannot be read.
#[derive(Clone, Debug)]
pub(super) struct UnreadFolder {
    pub path: PathBuf,
    /// The path from the folder on, with `/` between names.
    pub stem: String,
    error: Box<Error>,
}

impl UnreadFolder {
    /// Returns why it cannot be read, with its path behind the `role` that messages give the folder.
    pub(super) fn error(self, role: &str) -> Error {
        self.error.within(format!("{role} {}", self.path.display()))
    }
}

impl Folder {
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path, pattern: None, listed: Arc::default() }
    }

    /// Returns the files without a header in a folder that a pattern matches; or why it is no such pattern, which is told when
    /// the files are wanted.
    pub(super) fn of_dumps(path: PathBuf, pattern: Result<DumpPattern>) -> Self {
        Self { pattern: Some(Arc::new(pattern)), ..Self::new(path) }
    }

    /// Returns whether it stands for the files that a pattern matches.
    pub fn is_pattern(&self) -> bool {
        self.pattern.is_some()
    }

    /// Returns the files in the folder and in the folders in it. Left alone are files whose endings are not those of a format
    /// that holds tensors, and files that are not regular. In each folder indices come first, since they stand for other
    /// files, and then the others by name. Links are followed, but not to a folder that they lie in.
    ///
    /// # Errors
    /// The folder cannot be read; more than [`MOST`] files and folders.
    pub(super) fn files(&self) -> Result<FolderFiles, UnreadFolder> {
        let list = || {
            let mut walk = FolderWalk { found: FolderFiles::default(), seen: 0, within: Vec::new() };
            walk.folder(&self.path, "").map(|()| walk.found)
        };
        made_once(&self.listed, list).cloned()
    }
}

/// A walk through a folder.
struct FolderWalk {
    found: FolderFiles,
    /// The number of files and folders so far.
    seen: usize,
    /// The folders that the one that is being read lies in.
    within: Vec<PathBuf>,
}

impl FolderWalk {
    /// Lists a folder, the stems of whose files begin with `stem` and a slash, or have nothing before them.
    fn folder(&mut self, folder: &Path, stem: &str) -> Result<(), UnreadFolder> {
        let refused = |error: Error| UnreadFolder { path: folder.into(), stem: stem.into(), error: error.into() };
        let prefix = &if stem.is_empty() { String::new() } else { format!("{stem}/") };
        // by the path without links: by their metadata some systems take two folders that were made together for one
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
            let format = Format::from_file_name(&text);
            let path = folder.join(&name);
            let metadata = fs::metadata(&path);
            let is_folder = metadata.as_ref().is_ok_and(Metadata::is_dir);
            // a broken link is listed as a file, so that whoever wants its tensors is told so
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
    /// Lists a file that is in no format that is read.
    fn leave(&mut self, path: PathBuf, prefix: &str, name: &str) {
        match foreign::holder(name, &path) {
            None => self.left_alone.push(path),
            Some(what) => self.not_read.push(FileNotRead { path, name: format!("{prefix}{name}"), what }),
        }
    }
}
