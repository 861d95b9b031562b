//! Models in numbered files without an index, such as `model-00001-of-00003.safetensors`.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};

use super::folder::FolderFile;
use super::input::{Input, OpenOptions};
use super::table::Format;
use crate::formats::index;
use tensorop_kernels::error::{Context, Result};

const DIGITS: usize = 5;

/// A name can claim any number of files.
const MAX_FILES: usize = 10_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NumberedName<'n> {
    pub stem: &'n str,
    pub number: usize,
    of: &'n str,
}

impl<'n> NumberedName<'n> {
    pub(crate) fn parse(name: &'n str) -> Option<Self> {
        Self::with_format(name).filter(|(_, format)| *format == Format::SAFETENSORS).map(|(found, _)| found)
    }

    fn with_format(name: &'n str) -> Option<(Self, Format)> {
        let (format, stem) = Format::from_file_name(name)?;
        let end = stem.len();
        let (rest, of) = name.get(..end)?.rsplit_once("-of-")?;
        let (stem, number) = rest.rsplit_once('-')?;
        let count = |digits: &str| -> Option<usize> {
            let is_written_so = digits.len() >= DIGITS && digits.bytes().all(|byte| byte.is_ascii_digit());
            is_written_so.then(|| digits.parse().ok())?
        };
        let (parsed, all) = (count(number)?, count(of)?);
        let is_one = number.len() == of.len() && (1..=all).contains(&parsed);
        (is_one && !stem.is_empty()).then_some((Self { stem, number: parsed, of }, format))
    }
}

/// Leaves out files that are opened with the first of their model.
fn without_followers(files: Vec<FolderFile>) -> Vec<FolderFile> {
    let model = |file: &FolderFile| -> Option<(PathBuf, usize)> {
        let (found, format) = NumberedName::with_format(file.path.file_name()?.to_str()?)?;
        let NumberedName { stem, number, of } = found;
        let model = file.path.with_file_name(format!("{stem}-of-{of}"));
        format.opens_numbered().then_some((model, number))
    };
    let firsts: HashSet<_> = files.iter().filter_map(model).filter(|(_, number)| *number == 1).collect();
    let is_follower =
        |file: &FolderFile| model(file).is_some_and(|(model, number)| number > 1 && firsts.contains(&(model, 1)));
    files.into_iter().filter(|file| !is_follower(file)).collect()
}

/// Joins numbered files, except in folders with an index. Missing files count as parts.
pub(crate) fn joined(files: Vec<FolderFile>, with_index: &HashSet<PathBuf>) -> Vec<FolderFile> {
    /// (folder, stem, file count)
    type Key = (PathBuf, String, String);
    let mut others = Vec::new();
    let mut models: BTreeMap<Key, Vec<(usize, FolderFile)>> = BTreeMap::new();
    for file in without_followers(files) {
        let folder = file.path.parent().unwrap_or(Path::new("")).to_owned();
        let name = file.path.file_name().and_then(|name| name.to_str());
        match name.and_then(NumberedName::parse) {
            Some(NumberedName { stem, number, of })
                if !with_index.contains(&folder) && of.parse().is_ok_and(|of: usize| (2..=MAX_FILES).contains(&of)) =>
            {
                let key = (folder, stem.to_owned(), of.to_owned());
                models.entry(key).or_default().push((number, file));
            }
            Some(_) | None => others.push(file),
        }
    }
    let mut taken: HashSet<String> = others.iter().map(|file| file.stem.clone()).collect();
    for ((folder, stem, of), files) in models {
        let count: usize = of.parse().expect("it was parsed above");
        let width = of.len();
        // the case of extensions may differ: the first file wins
        let mut there = HashMap::with_capacity(files.len());
        for (number, file) in &files {
            there.entry(*number).or_insert_with(|| file.path.file_name().unwrap_or_default().to_string_lossy());
        }
        let part = |number: usize| match there.remove(&number) {
            Some(name) => name.into_owned(),
            None => format!("{stem}-{number:0width$}-of-{of}.safetensors"),
        };
        let parts = (1..=count).map(part).collect();
        let whole = format!("{}{stem}", files[0].1.prefix());
        // another file or an older division may use the name
        let stem_of_all = if taken.contains(&whole) { format!("{whole}-of-{of}") } else { whole };
        taken.insert(stem_of_all.clone());
        others.push(FolderFile {
            path: folder.join(format!("{stem}-*-of-{of}.safetensors")),
            format: Format::FOLDER,
            stem: stem_of_all,
            bytes: files.iter().fold(0, |sum: u64, (_, file)| sum.saturating_add(file.bytes)),
            parts,
            view: None,
        });
    }
    others
}

pub(crate) fn open(options: &OpenOptions, path: &Path, parts: &[String]) -> Result<Input> {
    let folder = path.parent().unwrap_or(Path::new("")).to_owned();
    let shards = index::from_shards(folder, parts, options.requests).with_context(|| options.label.clone())?;
    Ok(options.input(Format::FOLDER, shards))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_numbered_files() {
        let rows = [
            ("m-00001-of-00003.safetensors", Some(("m", 1))),
            ("a-b.fp16-00012-of-00012.SafeTensors", Some(("a-b.fp16", 12))),
            ("m-100000-of-100000.safetensors", Some(("m", 100_000))),
            ("m-00004-of-00003.safetensors", None),
            ("m-00000-of-00003.safetensors", None),
            ("m-1-of-3.safetensors", None),
            ("m-00001-of-000003.safetensors", None),
            ("m-+0001-of-00003.safetensors", None),
            ("-00001-of-00003.safetensors", None),
            ("m-00001-of-00003.npz", None),
            ("m-00001-of-00003", None),
            ("m.safetensors", None),
        ];
        for (name, expected) in rows {
            let found = NumberedName::parse(name).map(|found| (found.stem, found.number));
            assert_eq!(found, expected, "{name}");
        }
    }
}
