//! `diff --accept`: what was expected becomes what was found.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

use anyhow::{Result, anyhow, bail};

use super::asked::Asked;
use super::destination;
use super::io::Io;
use super::options::operands::OperandArg;
use super::outcome::advised;
use super::sides::Pairs;
use crate::error::Context;
use crate::format::Format;
use crate::format::collection::Place;
use crate::format::open::Input;
use crate::format::rewrite::{self, Rewrite};
use crate::format::write::Work;
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
    how: How,
    tensors: Vec<(Option<String>, From)>,
}

/// How a file becomes what it is to be.
#[derive(Clone, Copy)]
enum How {
    /// It is written anew; one that is not there in this format.
    Anew(Format),
    /// The items of its tensors are changed where they lie, since its kind is not written.
    InPlace,
}

impl How {
    fn of(input: &Input) -> Self {
        if input.unwritten().is_some() { Self::InPlace } else { Self::Anew(input.format()) }
    }

    fn is_container(self) -> bool {
        match self {
            Self::Anew(format) => format.is_container(),
            Self::InPlace => false,
        }
    }
}

#[derive(Default)]
struct IndexChange {
    added: BTreeMap<String, String>,
    more_bytes: i128,
}

/// A file about to be changed, with all that can be checked before checked.
enum Prepared {
    Anew(Box<Rewrite>),
    /// Its tensors, each of which is locked.
    InPlace(Vec<Work>),
}

impl Prepared {
    /// Changes it, and tells how many tensors it holds then, or has changed where they lie.
    fn write(self, io: &Io) -> Result<usize> {
        match self {
            Self::Anew(rewrite) => {
                rewrite.write()?;
                Ok(rewrite.tensors())
            }
            Self::InPlace(works) => {
                let count = works.len();
                works.into_iter().try_for_each(|work| destination::change(work, io, None, "--accept", true))?;
                Ok(count)
            }
        }
    }
}

/// Where a tensor is taken from.
enum From {
    /// One that is compared by name.
    Place(Place),
    /// The only one.
    Actual,
}

impl Changes {
    /// Of a single tensor that does not pass: `expected` is what was typed, and the file and its tensor that were opened
    /// for it, if it is there.
    ///
    /// # Errors
    /// What is no file, or is not written; what can be changed only where it lies, and not to be `actual`.
    pub(super) fn of_one(expected: &OperandArg, opened: Option<&(Input, usize)>, actual: &Source) -> Result<Self> {
        let OperandArg::Path(typed) = expected else {
            bail!("EXPECTED: --accept writes a file, and this is none");
        };
        let mut changes = Self::default();
        if let Some((input, n)) = opened.filter(|(input, _)| input.unwritten().is_some()) {
            rewrite::check_in_place((input, *n), actual, &label(typed), "ACTUAL")?;
            changes.put(typed.clone(), How::InPlace, None, From::Actual);
            return Ok(changes);
        }
        let (path, typed) = rewrite::divided(typed);
        let old = rewrite::existing(&path, &label(&path))?;
        let how = Self::how(&path, old.as_ref())?;
        let name = match &old {
            Some(old) => match old.names() {
                // the only one, where none was named
                Some(names) => typed.or_else(|| names.first().map(|name| (*name).to_owned())),
                None => None,
            },
            None => typed.or_else(|| actual.member().filter(|_| how.is_container()).map(str::to_owned)),
        };
        match old.filter(|old| old.format().names_files()).zip(name.clone()) {
            Some((index, name)) => {
                changes.put_into_index(&path, &index, &name, From::Actual, actual.bytes() as u64)?;
            }
            None => changes.put(path, how, name, From::Actual),
        }
        Ok(changes)
    }

    /// How a file takes a tensor that it does not have; it may not be there.
    ///
    /// # Errors
    /// A file of a kind that is not written, or a name that tells none that is.
    fn how(path: &Path, old: Option<&Input>) -> Result<How> {
        match old.map(|old| (old, old.unwritten())) {
            Some((old, None)) => Ok(How::Anew(old.format())),
            Some((_, Some(why))) => {
                let why = advised(why.message().to_owned(), why.advice());
                bail!("{}: has no such tensor; {why}", label(path))
            }
            None => Ok(How::Anew(rewrite::new_format(path).with_context(|| label(path))?)),
        }
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

    fn put(&mut self, path: PathBuf, how: How, name: Option<String>, from: From) {
        self.folders.extend(path.parent().filter(|folder| !folder.as_os_str().is_empty()).map(Path::to_owned));
        self.files.entry(path).or_insert_with(|| Change { how, tensors: Vec::new() }).tensors.push((name, from));
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
                let how = How::of(&input);
                if matches!(how, How::InPlace) {
                    let (n, label) = side.find(&input, expected)?;
                    rewrite::check_in_place((&input, n), &pairs.open_one(1, actual, asked)?, &label, "ACTUAL")?;
                }
                self.put(path, how, name, From::Place(actual));
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
            let old = expected.container()?;
            return match old {
                Some(index) if index.format().names_files() => {
                    let bytes = pairs.open_one(1, actual, asked)?.bytes() as u64;
                    self.put_into_index(root, &index, name, From::Place(actual), bytes)
                }
                old => {
                    let how = Self::how(root, old.as_deref())?;
                    self.put(root.to_owned(), how, Some(name.to_owned()), From::Place(actual));
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
            let how = Self::how(&path, Some(&old))?;
            self.put(path, how, Some(within.clone()), From::Place(actual));
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
        self.put(path, How::Anew(format), within, From::Place(actual));
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
        self.put(shard, How::Anew(Format::SAFETENSORS), Some(name.to_owned()), from);
        Ok(())
    }

    /// Makes every check, and then writes all files. `open` opens what is put into them. Returns a line for each file.
    ///
    /// # Errors
    /// A file that may not be written, or cannot hold a tensor; of reading and writing.
    pub(super) fn write(
        &self,
        io: &Io,
        open: &dyn Fn(Option<Place>) -> Result<Source>,
        limits: Limits,
    ) -> Result<Vec<String>> {
        let prepare = |path: &Path, change: &Change| -> Result<Prepared> {
            let label = label(path);
            let mut tensors = Vec::with_capacity(change.tensors.len());
            for (name, from) in &change.tensors {
                let source = open(match from {
                    From::Place(place) => Some(*place),
                    From::Actual => None,
                })?;
                tensors.push((name.clone(), source));
            }
            match change.how {
                How::Anew(format) => {
                    let old = rewrite::existing(path, &label)?;
                    let rewrite = Rewrite::new((path, &label), old.as_ref(), format, tensors, limits)?;
                    Ok(Prepared::Anew(Box::new(rewrite)))
                }
                How::InPlace => Ok(Prepared::InPlace(rewrite::in_place((path, &label), tensors, limits)?)),
            }
        };
        let made = self.make_folders()?;
        let written = self.write_files(io, &prepare);
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

    fn write_files(&self, io: &Io, prepare: &dyn Fn(&Path, &Change) -> Result<Prepared>) -> Result<Vec<String>> {
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
            let all = prepare(path, change)?.write(io)?;
            let put = change.tensors.len();
            let noun = if all == 1 { "tensor" } else { "tensors" };
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
