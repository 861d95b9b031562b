//! `diff --accept`: the tensors of ACTUAL that did not pass become those that are expected.
//!
//! [`Changes`] are all files that are written for it, found out before the report is printed, so that what cannot be
//! accepted is refused first. Each file is then written anew as a whole, with its other tensors as they are; only a file
//! of a kind that no writer writes has its items changed in place.

use std::fs;
use std::path::{Component, Path, PathBuf};

use anyhow::{Result, anyhow, bail};

use super::asked::Asked;
use super::destination;
use super::io::Io;
use super::options::OperandArg;
use super::outcome::advised;
use super::sides::{ACTUAL, NamedPairs};
use super::sources::FoundTensor;
use crate::error::Context;
use crate::format::Format;
use crate::format::collection::TensorPlace;
use crate::format::open::Input;
use crate::format::rewrite::{self, FileContent, IndexChange, NamedSource, Rewrite};
use crate::ops::fill::Limits;
use crate::report::printable;
use crate::storage::source::Source;

/// The files that are about to be written, each with the tensors that are put into it.
#[derive(Default)]
pub(super) struct Changes {
    files: FileChanges<FileChange>,
    indices: FileChanges<IndexChange>,
    /// What only EXPECTED has, which stays, in alphabetical order.
    left: Vec<String>,
}

/// Changes of files, in the order of their paths.
type FileChanges<T> = Vec<(PathBuf, T)>;

/// Returns the change of a file, which is new if there is none.
fn change_of<'a, T: Default>(changes: &'a mut FileChanges<T>, path: &Path) -> &'a mut T {
    let at = changes.binary_search_by(|(other, _)| other.as_path().cmp(path)).unwrap_or_else(|at| {
        changes.insert(at, (path.to_owned(), T::default()));
        at
    });
    &mut changes[at].1
}

/// The tensors that are put into a file.
#[derive(Default)]
struct FileChange {
    /// The format of a file that is written anew; `None` if items are changed in place.
    format: Option<Format>,
    tensors: Vec<Accepted>,
}

/// A tensor of ACTUAL that is accepted.
struct Accepted {
    /// Its name in the file of EXPECTED.
    name: Option<String>,
    /// Where it is among the tensors of ACTUAL; `None` if it is the only one.
    place: Option<TensorPlace>,
}

impl Changes {
    /// Returns the change for a single tensor that does not pass. `expected` is what was typed, and `opened` the tensor
    /// that was found there, if there is one.
    ///
    /// # Errors
    /// EXPECTED is no file; it cannot be written anew, and `actual` differs in more than its items.
    pub(super) fn of_one(expected: &OperandArg, opened: Option<&FoundTensor>, actual: &Source) -> Result<Self> {
        let OperandArg::Path(typed) = expected else {
            bail!("EXPECTED: --accept writes a file, and this is none");
        };
        let mut changes = Self::default();
        if let Some(FoundTensor { input, n }) = opened.filter(|found| found.input.unwritten().is_some()) {
            rewrite::check_in_place(input, *n, actual, &label(typed), ACTUAL.name)?;
            changes.put(typed, None, Accepted { name: None, place: None });
            return Ok(changes);
        }
        let (path, typed) = rewrite::divided(typed);
        let old = rewrite::existing(&path, &label(&path))?;
        let format = format_of(&path, old.as_ref())?;
        let name = match old.as_ref().map(Input::names) {
            // if none was typed, there is only one
            Some(Some(names)) => typed.or_else(|| names.first().map(|name| (*name).to_owned())),
            Some(None) => None,
            None => typed.or_else(|| actual.member().filter(|_| format.is_container()).map(str::to_owned)),
        };
        let accepted = Accepted { name, place: None };
        changes.put_into(&path, old.as_ref(), accepted, &|| Ok(actual.bytes()))?;
        Ok(changes)
    }

    /// Returns the changes for all tensors whose names are in `failed`. `expected` is what was typed.
    ///
    /// # Errors
    /// EXPECTED is no file or folder; a name that no file can have; of opening.
    pub(super) fn of_many(
        pairs: &NamedPairs,
        failed: &[String],
        expected: &OperandArg,
        asked: &Asked<'_>,
    ) -> Result<Self> {
        let OperandArg::Path(root) = expected else {
            bail!("EXPECTED: --accept writes files, and this is none");
        };
        let mut changes = Self::default();
        for name in failed {
            match pairs.places(name) {
                [Some(expected), Some(actual)] => changes.replace(pairs, expected, actual, asked)?,
                [None, Some(actual)] => changes.add(pairs, root, name, actual, asked)?,
                [Some(expected), None] => {
                    let side = &pairs.sides[0];
                    let is_file = side.stem(expected.file).is_some_and(|stem| stem == name);
                    let path = side.path(expected.file).display().to_string();
                    changes.left.push(if is_file { path } else { format!("{path}:{}", member(pairs, 0, expected)?) });
                }
                [None, None] => unreachable!("a name comes from a tensor of one of the sides"),
            }
        }
        changes.left.sort();
        Ok(changes)
    }

    fn put(&mut self, path: &Path, format: Option<Format>, accepted: Accepted) {
        let change = change_of(&mut self.files, path);
        change.format = format;
        change.tensors.push(accepted);
    }

    /// Puts a tensor of ACTUAL, which has `bytes` bytes, into a file that is open as `old` or not there: of an index, into
    /// the shard that has the name already, else into the shard of the last name.
    fn put_into(
        &mut self,
        path: &Path,
        old: Option<&Input>,
        accepted: Accepted,
        bytes: &dyn Fn() -> Result<usize>,
    ) -> Result<()> {
        let index = old.filter(|old| old.format().names_files());
        let (Some(index), Some(name)) = (index, &accepted.name) else {
            self.put(path, Some(format_of(path, old)?), accepted);
            return Ok(());
        };
        let names = index.names().unwrap_or_default();
        let at = names.iter().position(|other| other == name);
        let last = (0..names.len()).max_by_key(|&n| names[n]);
        let n = at.or(last).ok_or_else(|| anyhow!("{}: holds no tensors, and names no file for one", index.label()))?;
        let shard = index.elsewhere(n)?.ok_or_else(|| anyhow!("{}: names no file", index.label()))?;
        let change = change_of(&mut self.indices, path);
        change.more_bytes += i128::try_from(bytes()?).expect("a size in memory");
        match at {
            Some(n) => change.more_bytes -= i128::from(index.describe(n)?.bytes),
            None => {
                let file = shard.file_name().expect("a shard is a file").to_string_lossy().into_owned();
                change.added.insert(name.clone(), file);
            }
        }
        self.put(&shard, Some(Format::SAFETENSORS), accepted);
        Ok(())
    }

    /// Accepts a tensor that both sides have.
    fn replace(
        &mut self,
        pairs: &NamedPairs,
        expected: TensorPlace,
        actual: TensorPlace,
        asked: &Asked<'_>,
    ) -> Result<()> {
        let side = &pairs.sides[0];
        let (path, input) = (side.path(expected.file), side.open(expected.file)?);
        let is_member = input.name(0).is_some();
        let name = is_member.then(|| member(pairs, 0, expected)).transpose()?;
        let accepted = Accepted { name, place: Some(actual) };
        if input.unwritten().is_some() {
            let (n, label) = side.find(&input, expected)?;
            rewrite::check_in_place(&input, n, &pairs.open_one(1, actual, asked)?, &label, ACTUAL.name)?;
            self.put(path, None, accepted);
            return Ok(());
        }
        self.put_into(path, Some(&input), accepted, &|| Ok(pairs.open_one(1, actual, asked)?.bytes()))
    }

    /// Accepts a tensor that only ACTUAL has; `root` is EXPECTED.
    fn add(
        &mut self,
        pairs: &NamedPairs,
        root: &Path,
        name: &str,
        actual: TensorPlace,
        asked: &Asked<'_>,
    ) -> Result<()> {
        let [expected, found] = &pairs.sides;
        let bytes = || Ok(pairs.open_one(1, actual, asked)?.bytes());
        let accepted = |name: Option<String>| Accepted { name, place: Some(actual) };
        let is_store = Format::of_folder(root).is_some();
        let is_folder = root.is_dir() && !is_store
            || !root.exists() && found.stem(actual.file).is_some() && !rewrite::names_container(root);
        if !is_folder {
            // into the one container, which may not be there yet
            let old = expected.container()?;
            return self.put_into(root, old.as_deref(), accepted(Some(name.to_owned())), &bytes);
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
        if let (Some(file), Some(_)) = (expected.file_of_stem(&stem), &within) {
            let old = expected.open(file)?;
            return self.put_into(expected.path(file), Some(&old), accepted(within), &bytes);
        }
        let format = match found.stem(actual.file) {
            Some(_) if input.format().is_written() => input.format(),
            Some(_) => Format::SAFETENSORS,
            None => Format::NPY,
        };
        if !Path::new(&stem).components().all(|part| matches!(part, Component::Normal(_))) {
            bail!("--accept: {stem:?} is no name of a file in {}", root.display());
        }
        self.put(&root.join(format!("{stem}.{}", format.extension())), Some(format), accepted(within));
        Ok(())
    }

    /// Makes every check, and then writes all files. `open` opens a tensor of ACTUAL. Returns a line for each file.
    ///
    /// # Errors
    /// A file that cannot be written, or cannot hold a tensor; of reading and writing.
    pub(super) fn write(
        &self,
        io: &Io,
        open: &dyn Fn(Option<TensorPlace>) -> Result<Source>,
        limits: Limits,
    ) -> Result<Vec<String>> {
        let made = self.make_folders()?;
        let written = self.write_files(&Writing { io, open, limits });
        if written.is_err() {
            // a folder is only removed if it is empty
            made.iter().rev().for_each(|folder| drop(fs::remove_dir(folder)));
        }
        written
    }

    /// Makes the folders that are missing, and returns them, each after those that it lies in.
    fn make_folders(&self) -> Result<Vec<PathBuf>> {
        let mut made = Vec::new();
        for folder in
            self.files.iter().filter_map(|(path, _)| path.parent()).filter(|folder| !folder.as_os_str().is_empty())
        {
            let missing = folder.ancestors().take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists());
            let missing: Vec<_> = missing.map(Path::to_owned).collect();
            made.extend(missing.into_iter().rev());
            fs::create_dir_all(folder).with_context(|| format!("{}: cannot be made", label(folder)))?;
        }
        Ok(made)
    }

    fn write_files(&self, how: &Writing<'_>) -> Result<Vec<String>> {
        let mut texts = Vec::new();
        for (path, change) in &self.indices {
            if let Some(text) = rewrite::index_text(path, &label(path), change)? {
                texts.push((path, text));
            }
        }
        // Each file is checked before the first is written, but opened again for that: they may be more than can be open.
        if self.files.len() > 1 {
            self.files.iter().try_for_each(|(path, change)| how.file(path, change, false).map(drop))?;
        }
        let mut lines = Vec::new();
        for (path, change) in &self.files {
            let all = how.file(path, change, true)?;
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

/// How files are written.
struct Writing<'a> {
    io: &'a Io,
    /// Opens a tensor of ACTUAL.
    open: &'a dyn Fn(Option<TensorPlace>) -> Result<Source>,
    limits: Limits,
}

impl Writing<'_> {
    /// Makes every check for one file and, if `is_written`, writes it. Returns the number of tensors that it then holds, or
    /// that have been changed in place.
    fn file(&self, path: &Path, change: &FileChange, is_written: bool) -> Result<usize> {
        let (label, limits) = (label(path), self.limits);
        let open = |one: &Accepted| Ok(NamedSource { name: one.name.clone(), source: (self.open)(one.place)? });
        let tensors = change.tensors.iter().map(open).collect::<Result<Vec<_>>>()?;
        let Some(format) = change.format else {
            let works = rewrite::in_place(path, &label, tensors, limits)?;
            let count = works.len();
            if is_written {
                works.into_iter().try_for_each(|work| destination::change(work, self.io, None, "--accept", true))?;
            }
            return Ok(count);
        };
        let old = rewrite::existing(path, &label)?;
        let content = FileContent { path, label: &label, old: old.as_ref(), format, tensors };
        let rewrite = Rewrite::new(content, limits)?;
        if is_written {
            rewrite.write()?;
        }
        Ok(rewrite.tensors())
    }
}

/// Returns the format of a file that takes a tensor: its own, or if it is not there, the one that its name tells.
///
/// # Errors
/// A file of a kind that no writer writes, or a name that tells none.
fn format_of(path: &Path, old: Option<&Input>) -> Result<Format> {
    match old.map(|old| (old, old.unwritten())) {
        Some((old, None)) => Ok(old.format()),
        Some((_, Some(why))) => {
            let why = advised(why.message().to_owned(), why.advice());
            bail!("{}: has no such tensor; {why}", label(path))
        }
        None => Ok(rewrite::new_format(path).with_context(|| label(path))?),
    }
}

fn label(path: &Path) -> String {
    format!("EXPECTED {}", path.display())
}

/// Returns the name of a tensor in its file.
fn member(pairs: &NamedPairs, side: usize, place: TensorPlace) -> Result<String> {
    let input = pairs.sides[side].open(place.file)?;
    let (n, label) = pairs.sides[side].find(&input, place)?;
    input.name(n).map(str::to_owned).ok_or_else(|| anyhow!("{label}: has no name"))
}
