//! A folder of files as a container.

use std::fs;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use super::collection::{Collection, TensorPlace};
use super::content::{Description, IndexFaults, MemberFile, UnlistedTensor};
use super::folder::{BesideIndex, FolderFile, IndexedFolder};
use super::glob::Glob;
use super::interface::{Members, ReadableFile, Reader, ShownLater, StoredMember};
use super::name_filter::{InFolder, NameFilter};
use super::numbered::{self, NumberedName};
use super::open::Input;
use super::table::Format;
use crate::error::{Context, Result};
use crate::storage::key_store::AllValues;
use crate::storage::local_store::LocalStore;
use crate::storage::source::Source;

impl Collection {
    pub(super) fn into_input(mut self, label: String, filter: NameFilter<'_>) -> Result<Input> {
        self.check_some_read(filter).with_context(|| label.clone())?;
        let (beside, path) = (self.beside_message(), self.files.first().map(|file| file.path.clone()));
        if let Some(model) = self.model.take_if(|_| !self.files[0].is_broken)
            && let Some(input) = Arc::into_inner(self.files.swap_remove(0).input.expect("the file of a model is open"))
        {
            let (path, left_out) = (path.expect("the file of a model has one"), self.left_out);
            return Ok(Input { beside, ..input.of_folder(label, InFolder { path, model, left_out }) });
        }
        let (mut names, mut places) = (Vec::new(), Vec::new());
        for (name, place) in self.tensors().into_iter().filter(|(_, place)| !self.is_not_read(place.file)) {
            names.push(name.to_owned());
            places.push(place);
        }
        let (names, file_numbers) = (Some(names.into()), places.iter().map(|place| place.file).collect());
        let collection = Arc::new(self);
        let later = Some(Arc::clone(&collection) as _);
        let members = Members { names, file_numbers, later, ..Members::default() };
        let file = ReadableFile::new(members, FolderReader { collection, places });
        Ok(Input { beside, ..Input::from_file(label, Format::FOLDER, file) })
    }
}

fn bytes_at(path: &Path) -> Option<Box<dyn Read>> {
    let metadata = fs::metadata(path).ok()?;
    if metadata.is_dir() {
        return Some(Box::new(AllValues::new(Arc::new(LocalStore::new(path)), "")));
    }
    // Opening a pipe would wait for its writer.
    if metadata.is_file() { Some(Box::new(fs::File::open(path).ok()?)) } else { None }
}

#[derive(Debug)]
struct FolderReader {
    collection: Arc<Collection>,
    places: Vec<TensorPlace>,
}

impl FolderReader {
    fn find(&self, n: usize) -> Result<(Arc<Input>, usize)> {
        let input = self.collection.open(self.places[n].file)?;
        let number = self.places[n].number_in(&input)?;
        Ok((input, number))
    }

    fn ask<T>(&self, n: usize, ask: impl FnOnce(&ReadableFile, usize) -> Result<T>) -> Result<T> {
        let (input, number) = self.find(n)?;
        ask(&input.file, number).with_context(|| input.label())
    }
}

impl Reader for FolderReader {
    fn describe(&self, n: usize) -> Result<Description> {
        self.ask(n, |file, n| file.describe(n))
    }

    fn source(&self, n: usize, label: String) -> Result<Source> {
        self.ask(n, |file, n| file.source(n, label))
    }

    fn file_of(&self, n: usize) -> Result<MemberFile> {
        let (input, number) = self.find(n)?;
        let MemberFile { path, member, metadata, .. } = input.file_of(number)?;
        let own = || (self.collection.path(self.places[n].file).to_owned(), input.name(number).map(str::to_owned));
        let (path, member) = path.map_or_else(own, |path| (path, member));
        Ok(MemberFile { path: Some(path), member, format: Some(input.format().name()), metadata })
    }

    fn stored(&self, n: usize) -> StoredMember {
        let StoredMember { known, bytes, is_passed_over, .. } =
            self.ask(n, |file, n| Ok(file.stored(n))).unwrap_or_default();
        let bytes = bytes.or_else(|| bytes_at(self.collection.path(self.places[n].file)));
        // a copy of an array of a store needs that store alone
        StoredMember { known, bytes, is_passed_over, ..StoredMember::default() }
    }
}

impl ShownLater for Collection {
    fn stem(&self, file: usize) -> Option<&str> {
        self.stem(file)
    }

    fn index_faults(&self) -> IndexFaults {
        self.index_faults()
    }
}

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
        const NAMED: usize = 8;
        let named: Vec<_> = self.beside.iter().take(NAMED).map(BesideIndex::message).collect();
        let more = self.beside.len() - named.len();
        let more = if more == 0 { String::new() } else { format!("; and {more} more files") };
        (!named.is_empty()).then(|| named.join("; ") + &more)
    }

    /// Returns the faults of indices in the opened shards.
    pub fn index_faults(&self) -> IndexFaults {
        let mut all = IndexFaults::default();
        for file in &self.files {
            let Some(input) = &file.input else { continue };
            let IndexFaults { unlisted, total } = input.members().index_faults();
            let stem = file.stem.as_deref().filter(|_| self.model.is_none());
            let begin = stem.map_or_else(String::new, |stem| format!("{stem}:"));
            let named = |tensor: UnlistedTensor| UnlistedTensor { name: format!("{begin}{}", tensor.name), ..tensor };
            all.unlisted.extend(unlisted.into_iter().map(named));
            all.total = all.total.or(total);
        }
        all
    }
}
