//! A folder of files as a container.

use std::fs;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use super::collection::{Collection, Listed};
use super::folder::{BesideIndex, FolderFile, IndexedFolder};
use super::input::Input;
use super::numbered::{self, NumberedName};
use super::table::Format;
use crate::container::content::{Description, IndexFaults, MemberFile, UnlistedTensor};
use crate::container::glob::Glob;
use crate::container::interface::{Members, ReadableFile, Reader, ShownLater, StoredMember};
use crate::container::name_filter::InFolder;
use crate::storage::key_store::AllValues;
use crate::storage::local_store::LocalStore;
use crate::storage::source::Source;
use tensorop_kernels::error::{Context, Result};

impl Collection {
    /// Makes a container of the readable tensors; an only model is the container itself.
    pub fn into_input(mut self) -> (Input, Arc<Self>) {
        let model = self.files.first_mut().filter(|file| file.stem.is_none()).and_then(|file| file.input.take());
        let folder = Arc::new(self);
        let mut input = match model {
            Some(model) => Arc::into_inner(model).expect("nothing else has the model yet"),
            None => {
                let names = folder.names().take(folder.read).map(str::to_owned).collect::<Vec<_>>();
                let file_numbers = folder.tensors[..folder.read].iter().map(|(_, place)| place.file).collect();
                let later = Some(Arc::clone(&folder) as _);
                let members = Members { names: Some(names.into()), file_numbers, later, ..Members::default() };
                let file = ReadableFile::new(members, FolderReader { folder: Arc::clone(&folder) });
                Input::from_file(String::new(), Format::FOLDER, file)
            }
        };
        let model = folder.model.clone().zip(folder.open_model().map(|file| file.path.clone()));
        let (left_out, beside) = (folder.left_out.clone(), folder.beside_message());
        input.folder = Some(InFolder { model, left_out, beside }.into());
        (input, folder)
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
    folder: Arc<Collection>,
}

impl FolderReader {
    fn ask<T>(&self, n: usize, ask: impl FnOnce(&ReadableFile, usize) -> Result<T>) -> Result<T> {
        let (input, number) = self.folder.find(n)?;
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
        let (input, number) = self.folder.find(n)?;
        let MemberFile { path, member, metadata, .. } = input.file_of(number)?;
        let own = || (self.folder.file(n).path.clone(), input.name(number).map(str::to_owned));
        let (path, member) = path.map_or_else(own, |path| (path, member));
        Ok(MemberFile { path: Some(path), member, format: Some(input.format().name()), metadata })
    }

    fn stored(&self, n: usize) -> StoredMember {
        let StoredMember { known, bytes, is_passed_over, .. } =
            self.ask(n, |file, n| Ok(file.stored(n))).unwrap_or_default();
        let bytes = bytes.or_else(|| bytes_at(&self.folder.file(n).path));
        // a copy of an array of a store needs that store alone
        StoredMember { known, bytes, is_passed_over, ..StoredMember::default() }
    }
}

impl ShownLater for Collection {
    fn stem(&self, file: usize) -> Option<&str> {
        self.files[file].stem.as_deref()
    }

    fn index_faults(&self) -> IndexFaults {
        self.index_faults()
    }
}

impl Collection {
    /// Removes containers beside an index, unless a pattern begins with their stem, and joins numbered files without an
    /// index.
    pub(crate) fn leave_beside(
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

    /// Returns a line about the containers beside indices.
    pub fn beside_message(&self) -> Option<String> {
        const NAMED: usize = 8;
        let named: Vec<_> = self.beside.iter().take(NAMED).map(BesideIndex::message).collect();
        let more = self.beside.len() - named.len();
        let more = if more == 0 { String::new() } else { format!("; and {more} more files") };
        (!named.is_empty()).then(|| named.join("; ") + &more)
    }

    /// Returns the faults of indices in the opened shards.
    fn index_faults(&self) -> IndexFaults {
        let mut all = IndexFaults::default();
        for Listed { input, stem, .. } in &self.files {
            let (Some(input), Some(stem)) = (input, stem) else { continue };
            let IndexFaults { unlisted, total } = input.members().index_faults();
            let named = |tensor: UnlistedTensor| UnlistedTensor { name: format!("{stem}:{}", tensor.name), ..tensor };
            all.unlisted.extend(unlisted.into_iter().map(named));
            all.total = all.total.or(total);
        }
        all
    }
}
