//! `diff --accept`: what was expected becomes what was found.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

use anyhow::{Result, anyhow, bail};

use super::asked::Asked;
use super::options::operands::OperandArg;
use super::sides::Pairs;
use crate::error::Context;
use crate::format::Format;
use crate::format::collection::Place;
use crate::format::open::Input;
use crate::format::raw::View;
use crate::format::rewrite::{self, Rewrite};
use crate::ops::fill::Limits;
use crate::report::printable;
use crate::storage::source::Source;

/// Files that are about to be written, each with what is put into it.
#[derive(Default)]
pub(super) struct Changes {
    files: BTreeMap<PathBuf, Change>,
    /// Indices to which tensors are added, or whose tensors become longer or shorter.
    indices: BTreeMap<PathBuf, IndexChange>,
    /// Folders that are made.
    folders: BTreeSet<PathBuf>,
    /// What only the expected side has, which stays.
    left: Vec<String>,
}

struct Change {
    /// The format of a file that is not there.
    format: Format,
    tensors: Vec<(Option<String>, From)>,
}

#[derive(Default)]
struct IndexChange {
    added: BTreeMap<String, String>,
    more_bytes: i128,
}

/// Where a tensor is taken from.
enum From {
    /// One that is compared by name.
    Place(Place),
    /// The only one.
    Actual,
}

impl Changes {
    /// Of a single tensor that does not pass: `expected` is what was typed, `actual` the file that it was compared with.
    ///
    /// # Errors
    /// What is no file.
    pub(super) fn of_one(expected: &OperandArg, actual: &Input, member: Option<&str>, bytes: usize) -> Result<Self> {
        let OperandArg::Path(path) = expected else {
            bail!("EXPECTED: --accept writes a file, and this is none");
        };
        let (path, typed) = rewrite::divided(path);
        if typed.as_deref().is_some_and(|view| View::parse(view).is_ok()) && !names_container(&path) {
            bail!("{}: --accept does not write bytes without a header: name a file of another format", label(&path));
        }
        let old = rewrite::existing(&path, &label(&path))?;
        let mut changes = Self::default();
        let format = rewrite::new_format(&path, actual.format());
        let name = match &old {
            Some(old) => match old.names() {
                // the only one, where none was named
                Some(names) => typed.or_else(|| names.first().map(|name| (*name).to_owned())),
                None => None,
            },
            None => typed.or_else(|| member.filter(|_| format.is_container()).map(str::to_owned)),
        };
        match old.filter(|old| old.format().names_files()).zip(name.clone()) {
            Some((index, name)) => changes.put_into_index(&path, &index, &name, From::Actual, bytes as u64)?,
            None => changes.put(path, format, name, From::Actual),
        }
        Ok(changes)
    }

    /// Of all tensors whose names are in `failed`. `expected` is what was typed.
    ///
    /// # Errors
    /// Names that are no names of files; of opening.
    pub(super) fn of_many(pairs: &Pairs, failed: &[String], expected: &OperandArg, asked: &Asked<'_>) -> Result<Self> {
        let OperandArg::Path(root) = expected else {
            bail!("EXPECTED: --accept writes files, and this is none");
        };
        let mut changes = Self::default();
        let mut left = BTreeSet::new();
        for name in failed {
            match pairs.named.get(name) {
                Some([Some(expected), Some(actual)]) => changes.replace(pairs, *expected, *actual, asked)?,
                Some([None, Some(actual)]) => changes.add(pairs, (root, name), *actual, asked)?,
                Some([Some(expected), None]) => {
                    let side = &pairs.sides[0];
                    let is_file = side.stem(expected.file).is_some_and(|stem| stem == name);
                    let path = side.path(expected.file).display().to_string();
                    left.insert(if is_file { path } else { format!("{path}:{}", member(pairs, 0, *expected)?) });
                }
                Some([None, None]) | None => {}
            }
        }
        changes.left = left.into_iter().collect();
        Ok(changes)
    }

    fn put(&mut self, path: PathBuf, format: Format, name: Option<String>, from: From) {
        self.folders.extend(path.parent().filter(|folder| !folder.as_os_str().is_empty()).map(Path::to_owned));
        self.files.entry(path).or_insert_with(|| Change { format, tensors: Vec::new() }).tensors.push((name, from));
    }

    /// A tensor that both sides have.
    fn replace(&mut self, pairs: &Pairs, expected: Place, actual: Place, asked: &Asked<'_>) -> Result<()> {
        let side = &pairs.sides[0];
        let path = side.path(expected.file).to_owned();
        let input = side.open(expected.file)?;
        let is_member = input.name(0).is_some();
        match is_member.then(|| member(pairs, 0, expected)).transpose()? {
            Some(name) if input.format().names_files() => {
                let bytes = pairs.open_one(1, actual, asked)?.bytes() as u64;
                self.put_into_index(&path, &input, &name, From::Place(actual), bytes)
            }
            name => {
                self.put(path, input.format(), name, From::Place(actual));
                Ok(())
            }
        }
    }

    /// A tensor that only the actual side has.
    fn add(&mut self, pairs: &Pairs, (root, name): (&Path, &str), actual: Place, asked: &Asked<'_>) -> Result<()> {
        let [expected, found] = &pairs.sides;
        let is_store = Format::of_folder(root).is_some();
        let is_folder =
            root.is_dir() && !is_store || !root.exists() && found.stem(actual.file).is_some() && !names_container(root);
        if !is_folder {
            // into the one container, which may not be there yet
            let format = found.open(actual.file)?.format();
            let format = if format.is_container() && format.is_written() { format } else { Format::SAFETENSORS };
            let old = expected.container()?;
            return match old.filter(|old| old.format().names_files()) {
                Some(index) => {
                    let bytes = pairs.open_one(1, actual, asked)?.bytes() as u64;
                    self.put_into_index(root, &index, name, From::Place(actual), bytes)
                }
                None => {
                    let format = rewrite::new_format(root, format);
                    self.put(root.to_owned(), format, Some(name.to_owned()), From::Place(actual));
                    Ok(())
                }
            };
        }
        // the file that a name in a folder stands for, and the name of a tensor in it
        let input = found.open(actual.file)?;
        let (stem, within) = match (found.stem(actual.file), input.name(0)) {
            (Some(stem), Some(_)) => (stem.to_owned(), Some(member(pairs, 1, actual)?)),
            (Some(stem), None) => (stem.to_owned(), None),
            (None, _) => match name.split_once(':').filter(|(stem, _)| expected.file_of_stem(stem).is_some()) {
                Some((stem, within)) => (stem.to_owned(), Some(within.to_owned())),
                None => (name.to_owned(), None),
            },
        };
        if let (Some(file), Some(within)) = (expected.file_of_stem(&stem), &within) {
            let path = expected.path(file).to_owned();
            let old = expected.open(file)?;
            if old.format().names_files() {
                let bytes = pairs.open_one(1, actual, asked)?.bytes() as u64;
                return self.put_into_index(&path, &old, within, From::Place(actual), bytes);
            }
            self.put(path, old.format(), Some(within.clone()), From::Place(actual));
            return Ok(());
        }
        let format = match found.stem(actual.file) {
            Some(_) if input.format().is_written() => input.format(),
            Some(_) => Format::SAFETENSORS,
            None => Format::NPY,
        };
        if !Path::new(&stem).components().all(|part| matches!(part, Component::Normal(_))) {
            bail!("--accept: {stem:?} is no name of a file in {}", root.display());
        }
        let path = root.join(format!("{stem}.{}", format.extension()));
        self.put(path, format, within, From::Place(actual));
        Ok(())
    }

    /// A tensor of an index, in the shard that has one of its name; another in the shard of the last name.
    fn put_into_index(&mut self, path: &Path, index: &Input, name: &str, from: From, bytes: u64) -> Result<()> {
        let names = index.names().unwrap_or_default();
        let at = names.iter().position(|other| *other == name);
        let last = (0..names.len()).max_by_key(|&n| names[n]);
        let n = at.or(last).ok_or_else(|| anyhow!("{}: holds no tensors, and names no file for one", index.label()))?;
        let shard = index.elsewhere(n)?.ok_or_else(|| anyhow!("{}: names no file", index.label()))?;
        let change = self.indices.entry(path.to_owned()).or_default();
        change.more_bytes += i128::from(bytes);
        match at {
            Some(n) => change.more_bytes -= i128::from(index.describe(n)?.bytes),
            None => {
                let file = shard.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
                change.added.insert(name.to_owned(), file);
            }
        }
        self.put(shard, Format::SAFETENSORS, Some(name.to_owned()), from);
        Ok(())
    }

    /// Makes every check, and then writes all files. `open` opens what is put into them. Returns a line for each file.
    ///
    /// # Errors
    /// A file that may not be written, or cannot hold a tensor; of reading and writing.
    pub(super) fn write(&self, open: &dyn Fn(Option<Place>) -> Result<Source>, limits: Limits) -> Result<Vec<String>> {
        let prepare = |path: &Path, change: &Change| -> Result<Rewrite> {
            let label = label(path);
            let old = rewrite::existing(path, &label)?;
            let mut tensors = Vec::with_capacity(change.tensors.len());
            for (name, from) in &change.tensors {
                let source = open(match from {
                    From::Place(place) => Some(*place),
                    From::Actual => None,
                })?;
                tensors.push((name.clone(), source));
            }
            Ok(Rewrite::new((path, &label), old.as_ref(), change.format, tensors, limits)?)
        };
        let made = self.make_folders()?;
        let written = self.write_files(&prepare);
        if written.is_err() {
            // those that nothing has come into
            made.iter().rev().for_each(|folder| drop(fs::remove_dir(folder)));
        }
        written
    }

    /// Makes the folders that are not there, and returns them, each after those that it lies in.
    fn make_folders(&self) -> Result<Vec<PathBuf>> {
        let mut made = Vec::new();
        for folder in &self.folders {
            let missing = folder.ancestors().take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists());
            let missing: Vec<_> = missing.map(Path::to_owned).collect();
            made.extend(missing.into_iter().rev());
            fs::create_dir_all(folder).with_context(|| format!("{}: cannot be made", label(folder)))?;
        }
        Ok(made)
    }

    fn write_files(&self, prepare: &dyn Fn(&Path, &Change) -> Result<Rewrite>) -> Result<Vec<String>> {
        let mut texts = Vec::new();
        for (path, IndexChange { added, more_bytes }) in &self.indices {
            if let Some(text) = rewrite::index_text(path, &label(path), added, *more_bytes)? {
                texts.push((path, text));
            }
        }
        // each once before the first is written, and one at a time: they may be more than can be open
        if self.files.len() > 1 {
            self.files.iter().try_for_each(|(path, change)| prepare(path, change).map(drop))?;
        }
        let mut lines = Vec::new();
        for (path, change) in &self.files {
            let rewrite = prepare(path, change)?;
            rewrite.write()?;
            let noun = if rewrite.tensors() == 1 { "tensor" } else { "tensors" };
            let (put, all) = (change.tensors.len(), rewrite.tensors());
            let of = if put == all { format!("{all} {noun}") } else { format!("{put} of {all} {noun}") };
            lines.push(format!("wrote {}: {of}", printable(&path.display().to_string())));
        }
        for (path, text) in texts {
            rewrite::write_text(path, &label(path), &text)?;
            lines.push(format!("wrote {}: the index", printable(&path.display().to_string())));
        }
        lines.extend(self.left.iter().map(|left| format!("left {}: only EXPECTED has it", printable(left))));
        Ok(lines)
    }
}

fn label(path: &Path) -> String {
    format!("EXPECTED {}", path.display())
}

/// The name of a tensor in its file.
fn member(pairs: &Pairs, side: usize, place: Place) -> Result<String> {
    let input = pairs.sides[side].open(place.file)?;
    let (n, label) = pairs.sides[side].find(&input, place)?;
    input.name(n).map(str::to_owned).ok_or_else(|| anyhow!("{label}: has no name"))
}

/// Whether a file of that name would be a container.
fn names_container(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Format::of_file_name(&name).is_some_and(|(format, _)| format.is_container())
}
