//! Files in the folder of an index that are not part of its model.

use std::path::{Path, PathBuf};

use super::folder::FolderFile;

pub(super) struct IndexedFolder {
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

pub(super) fn message(beside: &[BesideIndex]) -> Option<String> {
    const NAMED: usize = 8;
    let named: Vec<_> = beside.iter().take(NAMED).map(BesideIndex::message).collect();
    let more = beside.len() - named.len();
    let more = if more == 0 { String::new() } else { format!("; and {more} more files") };
    (!named.is_empty()).then(|| named.join("; ") + &more)
}

impl IndexedFolder {
    pub(super) fn of(index: &FolderFile) -> Self {
        let stem = index.stem.rsplit('/').next().unwrap_or_default().to_owned();
        Self { path: index.path.parent().unwrap_or(Path::new("")).to_owned(), stem }
    }
}
