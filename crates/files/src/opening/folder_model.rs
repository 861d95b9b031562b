//! Folders as inputs: of many tensors, or of one model after filtering, with the names of its tensors.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::collection::{Collection, Listed, TensorPlace};
use super::dump_views::{DumpShapes, may_be_dump};
use super::dumps;
use super::folder::{BesideIndex, FolderFile, IndexedFolder, NotRead};
use super::input::Input;
use super::numbered::{self, NumberedName};
use super::table::Format;
use crate::container::content::{Description, IndexFaults, MemberFile, UnlistedTensor};
use crate::container::foreign;
use crate::container::glob::Glob;
use crate::container::interface::{Members, ReadableFile, Reader, ShownLater, StoredMember};
use crate::container::names::{InFolder, ModelFile, NameFilter, by_numbers};
use crate::storage::key_store::AllValues;
use crate::storage::local_store::LocalStore;
use crate::storage::source::Source;
use tensorop_kernels::error::{Advice, Context, Error, Result, malformed};

impl Input {
    /// Returns whether a filter takes member `n`, by its own name or with the stem of the model.
    pub fn is_taken(&self, n: usize, filter: NameFilter<'_>) -> bool {
        self.takes(self.name(n).unwrap_or_default(), filter)
    }

    /// Returns the faults of an index that the shards opened so far show, without the tensors that a filter excludes.
    pub fn index_faults(&self, filter: NameFilter<'_>) -> IndexFaults {
        let mut faults = self.members().index_faults();
        faults.unlisted.retain(|tensor| self.takes(&tensor.name, filter));
        faults
    }

    fn takes(&self, name: &str, filter: NameFilter<'_>) -> bool {
        let model = self.folder.as_ref().and_then(|folder| folder.model.as_ref());
        model.map_or_else(|| filter.takes(name), |(model, _)| filter.takes_of(model, name))
    }

    /// Returns further names that patterns may match: with the stem, excluded, missing in an index, or left alone.
    pub fn names_beside(&self) -> Vec<String> {
        let mut names = [self.members().index_faults().names(), self.left_alone.clone()].concat();
        if let Some(InFolder { model: Some((model, _)), left_out, .. }) = self.folder.as_deref() {
            let within: Vec<_> =
                names.iter().chain(self.names().unwrap_or_default()).map(|name| model.within(name)).collect();
            names.extend(within);
            names.extend(left_out.iter().cloned());
        }
        names
    }
}

impl Collection {
    /// Tries the filter without `only` first, then with it. A container that is alone is always the model.
    pub(crate) fn only_model(&self, filter: NameFilter<'_>) -> Option<usize> {
        if let [alone] = &*self.files {
            return alone.is_container.then_some(0);
        }
        let only = |filter: NameFilter<'_>| {
            let mut files = self.files_left(filter);
            let first = files.next()?;
            (self.files[first].is_container && files.all(|file| file == first)).then_some(first)
        };
        only(filter.excluding()).or_else(|| only(filter))
    }

    fn files_left(&self, filter: NameFilter<'_>) -> impl Iterator<Item = usize> {
        self.tensors.iter().filter(move |(name, _)| filter.takes(name)).map(|(_, place)| place.file)
    }

    pub(crate) fn has_only_models(&self, filter: NameFilter<'_>) -> bool {
        let mut files = self.files_left(filter).peekable();
        files.peek().is_some() && files.all(|file| self.files[file].is_container)
    }

    /// Matches names with and without the stem. A broken file may have any tensor.
    pub(crate) fn has_wanted_of(&self, file: usize, filter: NameFilter<'_>) -> bool {
        let model = self.model_file(file);
        let own = |name: &str| name.strip_prefix(&*model.stem)?.strip_prefix(':').map(str::to_owned);
        let is_wanted = |name: &str| own(name).is_none_or(|own| filter.takes_of(&model, &own));
        self.tensors.iter().any(|(name, place)| place.file == file && is_wanted(name))
    }

    /// Returns whether tensor `n` is of a format that is not read, or a Git LFS pointer.
    fn is_unsupported(&self, n: usize) -> bool {
        let Listed { path, input, refused, .. } = self.file(n);
        let bytes = || fs::metadata(path).map_or(0, |metadata| metadata.len());
        let is_closed = input.is_none() && refused.is_none();
        self.is_not_read(n) || is_closed && foreign::is_pointer_at(path, bytes())
    }

    /// Returns the path of tensor `n` if the name or the content has a format that is not read. Reads the file.
    pub fn path_if_foreign(&self, n: usize) -> Option<&Path> {
        let Listed { path, input, stem, .. } = self.file(n);
        let is_open = stem.is_none() || input.is_some();
        (self.is_unsupported(n) || !is_open && foreign::is_holder(path)).then_some(path)
    }

    /// Refuses a folder without readable tensors, and names the first ones.
    pub(crate) fn check_some_read(&self, filter: NameFilter<'_>) -> Result<()> {
        const NAMED: usize = 5;
        if !(0..self.tensors.len()).all(|n| self.is_unsupported(n)) {
            return Ok(());
        }
        let line = |n: usize| {
            let (name, file) = (&self.tensors[n].0, self.file(n));
            let what = file.refused.as_ref().map_or(foreign::POINTS, Error::message);
            let ending = if self.is_not_read(n) { None } else { file.path.extension() };
            let ending = ending.map_or_else(String::new, |ending| format!(".{}", ending.display()));
            filter.excluding().takes(name).then(|| format!("{name}{ending}: {what}"))
        };
        let mut order: Vec<_> = (0..self.tensors.len()).collect();
        order.sort_by(|a, b| by_numbers(&self.tensors[*a].0, &self.tensors[*b].0));
        let all: Vec<_> = order.into_iter().filter_map(line).collect();
        let more = if all.len() > NAMED { format!("; and {} more", all.len() - NAMED) } else { String::new() };
        match all.is_empty() {
            true => Ok(()),
            false => Err(malformed!("holds no readable tensor; {}{more}", all[..all.len().min(NAMED)].join("; "))),
        }
    }

    fn model_file(&self, file: usize) -> ModelFile {
        let stem = self.files[file].stem.clone().expect("a file of a folder has a stem");
        ModelFile { stem, is_alone: self.files.len() == 1 }
    }

    pub(crate) fn add_not_read(&mut self, file: NotRead, role: &str) {
        let refused = Some(file.error(role));
        let NotRead { path, name, .. } = file;
        // A tensor may already have the name of the file.
        let name = if self.number(&name).is_some() { path.display().to_string() } else { name };
        self.tensors.push((name.clone(), TensorPlace::in_file(self.files.len(), 0)));
        self.files.push(Listed { path, stem: Some(name), refused, ..Listed::default() });
    }

    /// Takes the files without a header, except for those with items of a model, from the files that are left alone.
    pub(crate) fn take_dumps(&mut self, folder: &Path, shapes: Option<&DumpShapes>) -> Vec<NotRead> {
        let is_dump = |path: &PathBuf| path.is_file() && may_be_dump(path, shapes);
        let mut dumps: Vec<_> = self.left_alone.extract_if(.., |path| is_dump(path)).collect();
        if !dumps.is_empty() {
            let of_models = self.files_of_models();
            dumps.retain(|path| !of_models.contains(path));
        }
        let unknown = |path: PathBuf| NotRead::in_file(dumps::path_from(folder, &path), path, dumps::UNKNOWN);
        dumps.into_iter().map(|path| unknown(path).advising(Advice::GiveShapes)).collect()
    }

    /// The files of external data, and those beside OpenVINO IR.
    fn files_of_models(&self) -> HashSet<PathBuf> {
        let mut found = HashSet::new();
        for file in self.files.iter().filter(|file| file.is_container) {
            let path = &file.path;
            found.extend((path.extension() == Some("xml".as_ref())).then(|| path.with_extension("bin")));
            let Ok(input) = self.open(file) else { continue };
            let described = (0..input.names().map_or(0, <[_]>::len)).filter_map(|n| input.describe(n).ok());
            let holders = described.filter_map(|found| found.elsewhere?.holder);
            found.extend(holders.map(|holder| path.with_file_name(&*holder)));
        }
        found
    }

    pub(crate) fn refuse(&mut self, path: PathBuf, stem: String, error: Error) {
        let file = self.files.len();
        self.stems.insert(stem.clone(), file);
        self.tensors.push((stem.clone(), TensorPlace::in_file(file, 0)));
        let (stem, refused) = (Some(stem), Some(error));
        self.files.push(Listed { path, stem, refused, is_broken: true, ..Listed::default() });
    }

    pub(crate) fn into_model(mut self, file: usize, filter: NameFilter<'_>) -> Self {
        let model = self.model_file(file);
        let (own, others): (Vec<_>, Vec<_>) = self.tensors.into_iter().partition(|(_, place)| place.file == file);
        let left_out = others.into_iter().map(|(name, _)| name).collect();
        let mut listed = self.files.swap_remove(file);
        // The file was not opened yet, or closed as one of many.
        let input = listed.input.take().or_else(|| listed.reopen(&self.options).ok().map(Arc::new));
        let stem = input.is_none().then(|| model.stem.clone());
        let tensors = match &input {
            None => vec![(model.stem.clone(), TensorPlace::in_file(0, 0))],
            Some(input) => {
                // Tensors that a filter of the folder took have been described.
                let own = |n: usize| own.get(n).map(|(_, place)| place).filter(|place| place.number == Some(n));
                let described = |n| own(n).map_or(0, |place| place.bytes);
                let place = |n, name| match described(n) {
                    0 => TensorPlace::in_container(0, input, n, filter.takes_of(&model, name)),
                    bytes => TensorPlace { file: 0, number: Some(n), bytes },
                };
                let names = input.names().into_iter().flatten().enumerate();
                names.map(|(n, name)| (name.to_owned(), place(n, name))).collect()
            }
        };
        let file = Listed { stem, is_broken: input.is_none(), input, ..listed };
        let (files, model, stems) = (vec![file], Some(model), HashMap::new());
        Self { files, tensors, stems, open: 1, model, left_out, ..self }
    }

    /// Replaces the readable tensors by those that `made` computes from them. `path` is the folder.
    #[must_use]
    pub fn with_tensors_of(mut self, made: Arc<Input>, path: &Path) -> Self {
        let mut not_read = self.tensors.split_off(self.read);
        if self.open_model().is_none() {
            self.files.insert(0, Listed { path: path.to_owned(), is_container: true, ..Listed::default() });
            not_read.iter_mut().for_each(|(_, place)| place.file += 1);
            self.stems.values_mut().for_each(|file| *file += 1);
        }
        let names = made.names().unwrap_or_default().iter().enumerate();
        let tensors = names.map(|(n, name)| (name.clone(), TensorPlace::in_container(0, &made, n, true)));
        self.tensors = tensors.collect();
        self.files[0].input = Some(made);
        self.left_alone.clear();
        self.sort();
        self.tensors.extend(not_read);
        self
    }

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
