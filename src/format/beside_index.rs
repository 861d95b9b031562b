//! What lies beside the index of a model in a folder, and models in numbered files without one.

use std::path::{Path, PathBuf};

use super::folder::FolderFile;

/// A folder that has an index, whose model it is.
pub(super) struct IndexedFolder {
    pub path: PathBuf,
    /// The name of the index without its ending.
    pub stem: String,
}

/// A container in a folder whose index does not name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BesideIndex {
    pub path: PathBuf,
    /// The path from the folder on that was opened.
    pub name: String,
    /// Whether it is numbered as the shards of the index are.
    pub is_left_over: bool,
}

impl BesideIndex {
    /// Returns what a message says of it.
    pub fn message(&self) -> String {
        match self.is_left_over {
            true => format!("{} is left over: the index does not name it", self.name),
            false => format!("{} is left alone: name it", self.name),
        }
    }
}

/// Returns what a message says of several files, in one line; `None` if there are none.
pub(super) fn message(beside: &[BesideIndex]) -> Option<String> {
    /// The number of files that the message names.
    const NAMED: usize = 8;
    let named: Vec<_> = beside.iter().take(NAMED).map(BesideIndex::message).collect();
    let more = beside.len() - named.len();
    let more = if more == 0 { String::new() } else { format!("; and {more} more files") };
    (!named.is_empty()).then(|| named.join("; ") + &more)
}

impl IndexedFolder {
    /// Returns the folder of an index.
    pub(super) fn of(index: &FolderFile) -> Self {
        let stem = index.stem.rsplit('/').next().unwrap_or_default().to_owned();
        Self { path: index.path.parent().unwrap_or(Path::new("")).to_owned(), stem }
    }
}
