//! Files without a header as tensors of a folder.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::{self, File, Metadata};
use std::path::{Path, PathBuf};

use super::dump_views::{DumpPattern, DumpShapes, beside};
use super::folder::{Folder, FolderFile, FolderFiles};
use super::input::{Input, OpenOptions};
use super::table::Format;
use crate::formats::raw::{self, RawView};
use tensorop_kernels::error::{Context, Error, Result, ensure, malformed};

/// Longer JSON objects beside a file are not descriptions, and are not read.
const MAX_BESIDE: u64 = 1 << 16;

pub(crate) const UNKNOWN: &str = "bytes without a header, with no dtype and shape given";

pub(crate) fn add_to(listed: &mut FolderFiles, folder: &Folder, shapes: Option<&DumpShapes>) -> Result<()> {
    if let Some(pattern) = folder.pattern.as_deref() {
        return add_matching(listed, &folder.path, pattern.as_ref().map_err(not_a_view)?);
    }
    let folder = &*folder.path;
    if let Some(shapes) = shapes {
        add_listed(listed, folder, shapes);
    }
    add_described(listed, folder);
    Ok(())
}

fn not_a_view(error: &Error) -> Error {
    malformed!("the files of a pattern are read as bytes without a header: {}", error.message())
}

/// A pattern replaces all other files.
fn add_matching(listed: &mut FolderFiles, folder: &Path, DumpPattern { glob, view }: &DumpPattern) -> Result<()> {
    let FolderFiles { files, not_read, left_alone, unread } = std::mem::take(listed);
    let paths = files.into_iter().map(|file| file.path).chain(not_read.into_iter().map(|file| file.path));
    for path in paths.chain(left_alone) {
        let Some(metadata) = regular(&path).filter(|_| glob.matches(&path_from(folder, &path))) else { continue };
        listed.files.push(dump(folder, path, &metadata, Ok(view.clone())));
    }
    ensure!(!listed.files.is_empty(), "no file matches {:?}", glob.text());
    listed.unread = unread;
    Ok(())
}

fn add_listed(listed: &mut FolderFiles, folder: &Path, shapes: &DumpShapes) {
    let has = |path: &PathBuf| shapes.has(&path_from(folder, path)) && regular(path).is_some();
    let mut paths: Vec<_> = listed.files.extract_if(.., |file| has(&file.path)).map(|file| file.path).collect();
    paths.extend(listed.not_read.extract_if(.., |file| has(&file.path)).map(|file| file.path));
    paths.extend(listed.left_alone.extract_if(.., |path| has(path)));
    for path in paths {
        if let (Some(view), Some(metadata)) = (shapes.find(&path_from(folder, &path)), regular(&path)) {
            listed.files.push(dump(folder, path, &metadata, Ok(view.clone())));
        }
    }
}

/// `layer.bin.json` or `layer.json` describes `layer.bin`, and is then not a tensor.
fn add_described(listed: &mut FolderFiles, folder: &Path) {
    let is_short = |file: &&FolderFile| file.format == Format::JSON && file.bytes <= MAX_BESIDE;
    let texts: HashSet<PathBuf> = match listed.left_alone.is_empty() {
        true => return,
        false => listed.files.iter().filter(is_short).map(|file| file.path.clone()).collect(),
    };
    if texts.is_empty() {
        return;
    }
    let (mut used, mut left) = (HashSet::new(), Vec::new());
    for path in std::mem::take(&mut listed.left_alone) {
        let mut longer = path.clone().into_os_string();
        longer.push(".json");
        let spellings = [PathBuf::from(longer), path.with_extension("json")];
        let described = spellings.into_iter().filter(|text| texts.contains(text));
        let described = described.into_iter().find_map(|text| Some((beside(&text)?, text)));
        match (described, regular(&path)) {
            (Some((view, text)), Some(metadata)) => {
                used.insert(text);
                listed.files.push(dump(folder, path, &metadata, view));
            }
            _ => left.push(path),
        }
    }
    listed.left_alone = left;
    listed.files.retain(|file| !used.contains(&file.path));
}

fn regular(path: &Path) -> Option<Metadata> {
    fs::metadata(path).ok().filter(Metadata::is_file)
}

fn dump(folder: &Path, path: PathBuf, metadata: &Metadata, view: Result<RawView>) -> FolderFile {
    let stem = path_from(folder, &path.with_extension(""));
    FolderFile { path, format: Format::RAW, stem, bytes: metadata.len(), parts: Vec::new(), view: Some(view) }
}

pub(crate) fn path_from(folder: &Path, path: &Path) -> String {
    let inside = path.strip_prefix(folder).unwrap_or(path);
    inside.iter().map(OsStr::to_string_lossy).collect::<Vec<_>>().join("/")
}

impl OpenOptions {
    pub(crate) fn open_dump(&self, path: &Path, view: &RawView) -> Result<Input> {
        let open = || raw::open(self.file_content(File::open(path)?, path)?, view, false);
        Ok(self.input(Format::RAW, open().with_context(|| self.label.clone())?))
    }
}
