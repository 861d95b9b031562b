//! Folders with indices or numbered files.

use super::beside_index::{BesideIndex, IndexedFolder, message};
use super::collection::Collection;
use super::folder::FolderFile;
use super::glob::Glob;
use super::index_faults::{IndexFaults, UnlistedTensor};
use super::numbered::{self, NumberedName};

impl Collection {
    /// Removes containers beside an index, unless a pattern begins with their stem, and joins numbered files without an
    /// index.
    pub(super) fn leave_beside(
        &mut self,
        files: Vec<FolderFile>,
        indexed: &[IndexedFolder],
        only: &[Glob],
    ) -> Vec<FolderFile> {
        let mut others = Vec::with_capacity(files.len());
        for file in files {
            let folder = file.path.parent();
            let mut own = indexed.iter().filter(|index| Some(&*index.path) == folder).peekable();
            let begins = format!("{}:", file.stem);
            let is_named = || only.iter().any(|glob| glob.text().starts_with(&begins));
            if own.peek().is_none() || !file.format.is_container() || is_named() {
                others.push(file);
                continue;
            }
            let name = file.path.file_name().unwrap_or_default().to_string_lossy();
            let numbered = NumberedName::parse(&name);
            let is_left_over = numbered.is_some_and(|name| own.any(|index| index.stem == name.stem));
            self.beside.push(BesideIndex { name: file.name(), path: file.path, is_left_over });
        }
        let with_index = indexed.iter().map(|index| index.path.clone()).collect();
        numbered::joined(others, &with_index)
    }

    /// Returns the containers beside indices.
    pub fn beside(&self) -> &[BesideIndex] {
        &self.beside
    }

    /// Returns a line about the containers beside indices.
    pub fn beside_message(&self) -> Option<String> {
        message(&self.beside)
    }

    /// Returns the faults of indices in the opened shards.
    pub fn index_faults(&self) -> IndexFaults {
        let mut all = IndexFaults::default();
        for file in &self.files {
            let Some(input) = &file.input else { continue };
            let IndexFaults { unlisted, total } = input.reader().index_faults();
            let stem = file.stem.as_deref().filter(|_| self.model.is_none());
            let begin = stem.map_or_else(String::new, |stem| format!("{stem}:"));
            let named = |tensor: UnlistedTensor| UnlistedTensor { name: format!("{begin}{}", tensor.name), ..tensor };
            all.unlisted.extend(unlisted.into_iter().map(named));
            all.total = all.total.or(total);
        }
        all
    }
}
