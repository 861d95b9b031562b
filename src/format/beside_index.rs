//! What lies beside the index of a model in a folder, and models in numbered files without one.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::folder::FolderFile;
#[cfg(feature = "safetensors")]
use super::numbered::{self, NumberedName};
use super::open::{Input, OpenOptions};
use crate::error::Result;

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

/// Returns whether a file is called as the shards of an index with that stem are.
#[cfg(feature = "safetensors")]
pub(super) fn is_numbered_as(name: &str, stem: &str) -> bool {
    NumberedName::parse(name).is_some_and(|name| name.stem == stem)
}

#[cfg(not(feature = "safetensors"))]
pub(super) fn is_numbered_as(_: &str, _: &str) -> bool {
    false
}

/// Opens the files beside `path` that make up one model; `None` if there are no `parts`.
///
/// # Errors
/// Two of the files have a tensor of one name.
#[cfg(feature = "safetensors")]
pub(super) fn open_parts(options: &OpenOptions, path: &Path, parts: &[String]) -> Result<Option<Input>> {
    (!parts.is_empty()).then(|| numbered::open(options, path, parts)).transpose()
}

#[cfg(not(feature = "safetensors"))]
pub(super) fn open_parts(_: &OpenOptions, _: &Path, _: &[String]) -> Result<Option<Input>> {
    Ok(None)
}

/// Makes one file of all files that are numbered as the parts of one model.
#[cfg(feature = "safetensors")]
pub(super) fn joined(files: Vec<FolderFile>, with_index: &HashSet<PathBuf>) -> Vec<FolderFile> {
    numbered::joined(files, with_index)
}

#[cfg(not(feature = "safetensors"))]
pub(super) fn joined(files: Vec<FolderFile>, _: &HashSet<PathBuf>) -> Vec<FolderFile> {
    files
}
