//! `diff --accept`: tensors of ACTUAL that differ replace those of EXPECTED.
//!
//! [`Changes`] collects the files to write before the report is printed, so that a refusal comes first. Each file is
//! rewritten as a whole and keeps its other tensors. Only formats without a writer are changed in place.

use std::collections::{BTreeMap, HashSet};
use std::path::{Component, Path, PathBuf};

use anyhow::{Result, anyhow, bail, ensure};

use super::acceptance::is_damaged;
use super::pairs::NamedPairs;
use crate::command::messages::{advised, counted};
use crate::command::operands::dtype_option::{AskedDTypes, DTypeOption};
use crate::command::operands::member::Member;
use crate::command::options::{ACTUAL, MemberOptions};
use crate::command::outputs::destination;
use crate::command::process::io::Run;
use crate::container::names::by_numbers;
use crate::diff::{self, Effort, Options};
use crate::error::Context;
use crate::item::dtype::DType;
use crate::library::rewrite::{self, IndexChange, NamedSource, Rewrite};
use crate::opening::input::{Input, OpenOptions};
use crate::opening::located::{Located, Place, path_without_secrets};
use crate::opening::table::Format;
use crate::operators::fill::Limits;
use crate::report::printable;
use crate::storage::source::Source;
use crate::writing::OutputTensor;

/// Opens the tensors of ACTUAL, and reads the written text as the next run will.
pub(crate) struct Accepting<'a> {
    pub limits: Limits,
    /// How the next run reads EXPECTED.
    pub reading: OpenOptions,
    /// Whether it gets the dtype of void items.
    pub says_dtype: bool,
    pub is_written: bool,
    pub open: Opening<'a>,
}

/// Opens a tensor of ACTUAL, with the options that it is compared under.
pub(crate) type Opening<'a> = &'a dyn Fn(Option<usize>) -> Result<(Source, Options)>;

pub(crate) fn one(source: Source) -> Result<Vec<NamedSource>> {
    Ok(vec![NamedSource { name: None, source }])
}

#[derive(Default)]
pub(crate) struct Changes {
    files: BTreeMap<PathBuf, FileChange>,
    indices: BTreeMap<PathBuf, IndexChange>,
    /// Tensors that only EXPECTED has, in natural order. They stay.
    left: Vec<String>,
}

#[derive(Default)]
struct FileChange {
    /// Whether the items are changed in place, because the format has no writer.
    is_in_place: bool,
    /// The index of the file, if it is a shard.
    index: Option<PathBuf>,
    tensors: Vec<Accepted>,
}

struct Accepted {
    /// Its name in the file of EXPECTED.
    name: Option<String>,
    /// The number of its pair; `None` if ACTUAL is one tensor.
    pair: Option<usize>,
    /// The dtype of EXPECTED, to which the tensor is cast.
    dtype: Option<DType>,
}

enum CheckedFile {
    Anew(Box<Rewrite>),
    InPlace(Vec<OutputTensor>),
}

impl Changes {
    pub(crate) fn for_file(
        expected: &Located,
        opened: Option<&Member>,
        actual: &mut Source,
        dtype: Option<DType>,
        limits: Limits,
    ) -> Result<Self> {
        let typed = expected.typed();
        check_file(expected, "a file")?;
        let mut changes = Self::default();
        let dtype = dtype.filter(|dtype| !dtype.same_kind(actual.dtype()));
        let cast = dtype.as_ref().map(|dtype| rewrite::cast_to(actual, dtype, limits)).transpose()?;
        let actual = cast.as_ref().unwrap_or(actual);
        if let Some(Member { input, n, .. }) = opened.filter(|found| found.input.members().unwritten.is_some()) {
            rewrite::check_in_place(input, *n, actual, &label(typed), ACTUAL.name)?;
            let name = input.name(*n).map(str::to_owned);
            changes.file(typed, true, Accepted { name, pair: None, dtype });
            return Ok(changes);
        }
        let (file, member) = expected.output();
        let member = member.map(str::to_owned);
        let old = rewrite::existing(file, &label(file), member.is_none())?;
        let name = match &old {
            Some(old) => old.names().and_then(|names| {
                let found = opened.and_then(Member::name).map(str::to_owned);
                member.or(found).or_else(|| names.first().cloned())
            }),
            None => member.or_else(|| actual.member().filter(|_| Format::names_container(file)).map(str::to_owned)),
        };
        changes.put(file, old.as_ref(), Accepted { name, pair: None, dtype })?;
        Ok(changes)
    }

    /// With `keeping` limits, tensors are cast to the dtypes of EXPECTED.
    pub(crate) fn for_files(
        pairs: &NamedPairs,
        failed: &[usize],
        expected: &Located,
        members: &MemberOptions,
        asked: &AskedDTypes<'_>,
        keeping: Option<Limits>,
    ) -> Result<Self> {
        check_file(expected, "files")?;
        // the names of EXPECTED before --rename
        let own: HashSet<_> = pairs.sides[0].tensors()?.into_iter().map(|(name, _)| name).collect();
        let mut changes = Self::default();
        for &pair in failed {
            let (name, numbers) = &pairs.named[pair];
            match *numbers {
                [Some(expected), Some(actual)] => {
                    changes.replace(pairs, pair, [expected, actual], asked.of(Some(name)), keeping)?;
                }
                [None, Some(actual)] => {
                    if own.contains(&**name) || members.renamed(name) != *name {
                        bail!(
                            "{}: --accept cannot add {name:?}, since --rename gives the tensor of that name another one: \
                             --exclude leaves it out",
                            label(expected.typed())
                        );
                    }
                    changes.add(pairs, expected, pair, actual)?;
                }
                [Some(expected), None] => {
                    let (side, path) = (&pairs.sides[0], pairs.sides[0].path(expected).display());
                    changes.left.push(match side.member(expected)?.name() {
                        Some(name) => format!("{path}:{name}"),
                        None => path.to_string(),
                    });
                }
                [None, None] => unreachable!("a name comes from a tensor of one of the sides"),
            }
        }
        changes.left.sort_by(|a, b| by_numbers(a, b));
        Ok(changes)
    }

    fn replace(
        &mut self,
        pairs: &NamedPairs,
        pair: usize,
        [expected, actual]: [usize; 2],
        asked: DTypeOption<'_>,
        keeping: Option<Limits>,
    ) -> Result<()> {
        let side = &pairs.sides[0];
        let path = side.path(expected);
        if side.folder.as_ref().is_some_and(|folder| folder.file(expected).view.is_some()) {
            bail!(
                "{}: --accept changes bytes without a header only if one file is named, as FILE:DTYPE[DIMS]",
                label(path)
            );
        }
        let opened = side.member(expected);
        if opened.as_ref().err().is_some_and(is_damaged) {
            let name = pairs.sides[1].member(actual)?.name().map(str::to_owned);
            return self.put(path, None, Accepted { name, pair: Some(pair), dtype: None });
        }
        let Member { input, n, .. } = opened?;
        let mut accepted = Accepted { name: input.name(n).map(str::to_owned), pair: Some(pair), dtype: None };
        let mut new = None;
        if let (Some(limits), Ok([old, mut found])) = (keeping, pairs.open([expected, actual], asked))
            && !old.dtype().same_kind(found.dtype())
        {
            new = Some(rewrite::cast_to(&mut found, old.dtype(), limits)?);
            accepted.dtype = Some(old.dtype().clone());
        }
        if input.members().unwritten.is_none() {
            return self.put(path, Some(&input), accepted);
        }
        let label = input.label_of(input.name(n));
        let new = new.map_or_else(|| pairs.open_one(1, actual, asked), Ok)?;
        rewrite::check_in_place(&input, n, &new, &label, ACTUAL.name)?;
        self.file(path, true, accepted);
        Ok(())
    }

    fn add(&mut self, pairs: &NamedPairs, located: &Located, pair: usize, actual: usize) -> Result<()> {
        let (root, name) = (located.typed(), &*pairs.named[pair].0);
        let [expected, found] = &pairs.sides;
        let accepted = |name: Option<String>| Accepted { name, pair: Some(pair), dtype: None };
        if let Some((path, container)) = expected.container() {
            return self.put(path, Some(container), accepted(Some(name.to_owned())));
        }
        let own_stem = found.stem(actual);
        let old = |stem: &str| expected.folder.as_ref().and_then(|folder| folder.file_of_stem(stem));
        let is_folder = match located.place {
            Place::Folder(_) => true,
            Place::Absent(_) => own_stem.is_some() && !Format::names_container(root),
            _ => false,
        };
        if !is_folder {
            // The container does not exist yet.
            return self.put(root, None, accepted(Some(name.to_owned())));
        }
        // A name in a folder gives the file, the name of the tensor in it, and the format of a new file.
        let (stem, within, format) = match (own_stem, name.split_once(':')) {
            (Some(stem), _) => {
                let member = found.member(actual)?;
                let format = match member.input.format() {
                    // The header of a .npy keeps dtype and shape.
                    format if format == Format::RAW => Format::NPY,
                    format if format.is_written() => format,
                    _ => Format::SAFETENSORS,
                };
                (stem, member.name().map(str::to_owned), format)
            }
            (None, Some((stem, within))) if old(stem).is_some() => (stem, Some(within.to_owned()), Format::NPY),
            (None, _) => (name, None, Format::NPY),
        };
        if let (Some(file), Some(folder), Some(_)) = (old(stem), &expected.folder, &within) {
            return self.put(&file.path, Some(&*folder.open(file)?), accepted(within));
        }
        if !Path::new(stem).components().all(|part| matches!(part, Component::Normal(_))) {
            bail!("--accept: {stem:?} is not a file name in {}", root.display());
        }
        self.put(&root.join(format!("{stem}.{}", format.extension())), None, accepted(within))
    }

    /// Adds a tensor to the change of a file. In an index, a new name goes to the shard of the last name.
    fn put(&mut self, path: &Path, old: Option<&Input>, accepted: Accepted) -> Result<()> {
        let index = old.filter(|old| old.format().names_files());
        let (Some(index), Some(name)) = (index, &accepted.name) else {
            check_format(path, old)?;
            self.file(path, false, accepted);
            return Ok(());
        };
        let names = index.names().expect("an index names tensors");
        let at = names.iter().position(|other| other == name);
        let last = (0..names.len()).max_by_key(|&n| &names[n]);
        let n = at.or(last).ok_or_else(|| anyhow!("{}: holds no tensors, and names no file for one", index.label()))?;
        let shard = index.file_of(n)?.path.ok_or_else(|| anyhow!("{}: names no file", index.label()))?;
        // Numbered files of a folder are a model without an index.
        let is_written = index.format() == Format::INDEX;
        if is_written {
            let change = self.indices.entry(path.to_owned()).or_default();
            if at.is_none() {
                let file = shard.file_name().expect("a shard is a file").to_string_lossy().into_owned();
                change.added.insert(name.clone(), file);
            }
        }
        self.file(&shard, false, accepted).index = is_written.then(|| path.to_owned());
        Ok(())
    }

    fn file(&mut self, path: &Path, is_in_place: bool, accepted: Accepted) -> &mut FileChange {
        let change = self.files.entry(path.to_owned()).or_default();
        change.is_in_place = is_in_place;
        change.tensors.push(accepted);
        change
    }

    /// Makes every check before the first file is written, if any is. Returns a line for each file.
    pub(crate) fn write(mut self, run: Run<'_>, accepting: &Accepting<'_>) -> Result<Vec<String>> {
        let [wrote, left] = if accepting.is_written { ["wrote", "left"] } else { ["would write", "would leave"] };
        let lines = self.write_files(run, accepting)?;
        let mut lines: Vec<_> = lines.into_iter().map(|line| format!("{wrote} {line}")).collect();
        lines.extend(self.left.iter().map(|name| format!("{left} {}: only EXPECTED has it", printable(name))));
        Ok(lines)
    }

    fn write_files(&mut self, run: Run<'_>, accepting: &Accepting<'_>) -> Result<Vec<String>> {
        // The files are opened again for writing, because more files may be changed than can be open at a time.
        if self.files.len() > 1 && accepting.is_written {
            self.files.iter().try_for_each(|(path, change)| change.check(path, accepting).map(drop))?;
        }
        let mut lines = Vec::new();
        for (path, change) in &self.files {
            let checked = change.check(path, accepting)?;
            lines.push(change.line(path, &checked));
            if let (Some(index), CheckedFile::Anew(file)) = (&change.index, &checked) {
                self.indices.entry(index.clone()).or_default().more_bytes += file.more_bytes;
            }
            match checked {
                _ if !accepting.is_written => {}
                CheckedFile::InPlace(tensors) => {
                    let quiet = Run { quiet: true, ..run };
                    tensors.into_iter().try_for_each(|tensor| destination::change(tensor, quiet, None, "--accept"))?;
                }
                CheckedFile::Anew(mut file) => file.write()?,
            }
        }
        for (path, change) in &self.indices {
            if let Some(text) = rewrite::changed_index(path, &label(path), change)? {
                if accepting.is_written {
                    rewrite::write_index(path, &label(path), &text)?;
                }
                lines.push(format!("{}: the index", printable(&path.display().to_string())));
            }
        }
        Ok(lines)
    }
}

impl FileChange {
    fn line(&self, path: &Path, checked: &CheckedFile) -> String {
        let put = self.tensors.len();
        let all = match checked {
            CheckedFile::InPlace(_) => put,
            CheckedFile::Anew(file) => file.tensors(),
        };
        let of = if put == all { String::new() } else { format!("{put} of ") };
        format!("{}: {of}{}", printable(&path.display().to_string()), counted(all, "tensor", "tensors"))
    }

    fn check(&self, path: &Path, accepting: &Accepting<'_>) -> Result<CheckedFile> {
        let Accepting { limits, says_dtype, .. } = *accepting;
        let mut options = Options::default();
        let open = |one: &Accepted| {
            let mut source;
            (source, options) = (accepting.open)(one.pair)?;
            if let Some(dtype) = &one.dtype {
                source = rewrite::cast_to(&mut source, dtype, limits)?;
            }
            Ok(NamedSource { name: one.name.clone(), source })
        };
        let (label, tensors) = (label(path), self.tensors.iter().map(open).collect::<Result<Vec<_>>>()?);
        if self.is_in_place {
            return Ok(CheckedFile::InPlace(rewrite::in_place(path, &label, tensors, limits)?));
        }
        let old = rewrite::existing(path, &label, true)?;
        let mut file = Rewrite::new(path, &label, old.as_ref(), tensors, says_dtype, limits)?;
        if let Some([mut expected, mut actual]) = file.read_again(&accepting.reading)? {
            // The file has one tensor, and these are its options.
            let effort = Effort { limits, ..Effort::default() };
            let found = diff::compare_sources(&mut expected, &mut actual, &options, effort, &|_| {})?;
            ensure!(found.equal(), file.refusal(&found.verdict()));
        }
        Ok(CheckedFile::Anew(file.into()))
    }
}

fn check_format(path: &Path, old: Option<&Input>) -> Result<()> {
    match old {
        None => rewrite::new_format(path).map(drop).with_context(|| label(path))?,
        Some(old) => {
            if let Some(why) = &old.members().unwritten {
                let why = advised(why.message().to_owned(), why.advice());
                bail!("{}: has no such tensor; {why}", label(path));
            }
            rewrite::check_anew(old).with_context(|| label(path))?;
        }
    }
    Ok(())
}

fn label(path: &Path) -> String {
    format!("EXPECTED {}", path_without_secrets(path))
}

fn check_file(expected: &Located, what: &str) -> Result<()> {
    match expected.place {
        Place::Stdin | Place::Json(_) => bail!("EXPECTED: --accept needs {what}"),
        Place::Object(_) => {
            bail!("{}: --accept writes a local file, not one behind an address", label(expected.typed()))
        }
        _ => Ok(()),
    }
}
