//! Paths with a colon: which part of one names a file or a folder, and what follows it, be it the name of a member or the
//! type of raw bytes.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::raw::View;
use super::table::Format;
use crate::error::{Result, bail};

/// An open file, where it was found, and what followed a colon after its path.
pub(super) struct FoundFile {
    pub file: File,
    pub path: PathBuf,
    pub after: Option<String>,
}

impl FoundFile {
    /// Opens a path, or the part of it before a colon.
    pub(super) fn find(path: &Path, how: &fs::OpenOptions) -> Result<Self> {
        use io::ErrorKind::{InvalidFilename, NotADirectory, NotFound};
        let missing = match how.open(path) {
            Ok(file) => return Ok(Self { file, path: path.to_owned(), after: None }),
            // a view with many dims makes a name longer than a file may have
            Err(error) if matches!(error.kind(), NotFound | NotADirectory | InvalidFilename) => error,
            // some systems do not open folders, and their own messages say little
            Err(_) if path.is_dir() => bail!("is a folder, expected a file"),
            Err(error) => return Err(error.into()),
        };
        let after = |(file, after): (PathBuf, &[u8])| Some((file, std::str::from_utf8(after).ok()?.to_owned()));
        // a pipe has no members, but its bytes may be described by a view
        let piped = || {
            parts_before_colons(path).filter_map(after).find(|(file, view)| {
                !file.is_dir() && file.exists() && (View::parse(view).is_ok() || View::is_meant(view))
            })
        };
        let divided = match files_before_colons(path).next() {
            Some(divided) => after(divided),
            None => piped(),
        };
        let Some((path, after)) = divided else { return Err(missing.into()) };
        Ok(Self { file: how.open(&path)?, path, after: Some(after) })
    }
}

/// Returns the folder that a path is, or the part of it before a colon if that is a folder in a known format, and what
/// follows the colon.
pub(super) fn folder(path: &Path) -> Option<(PathBuf, Option<String>)> {
    if path.is_dir() {
        return Some((path.to_owned(), None));
    }
    let (folder, member) = folders_before_colons(path).next().filter(|_| !path.exists())?;
    Some((folder, Some(str::from_utf8(member).ok()?.to_owned())))
}

/// Returns the folder of files that a path is, or that its longest part before a colon which exists is, and what follows the
/// colon: the name of a tensor in it. A folder in a known format is no such folder.
pub fn folder_of_files(path: &Path) -> Option<(PathBuf, Option<String>)> {
    let found = match path.exists() {
        true => (path.to_owned(), None),
        false => {
            let (part, member) = parts_before_colons(path).find(|(part, _)| part.exists())?;
            (part, Some(str::from_utf8(member).ok()?.to_owned()))
        }
    };
    Some(found).filter(|(folder, _)| folder.is_dir() && Format::of_folder(folder).is_none())
}

/// Returns the parts of a path before a colon that are folders in a known format, the longest first, each with the bytes
/// that follow its colon.
pub fn folders_before_colons(path: &Path) -> impl Iterator<Item = (PathBuf, &[u8])> {
    parts_before_colons(path).filter(|(folder, _)| folder.is_dir() && Format::of_folder(folder).is_some())
}

/// Returns the parts of a path before a colon that are regular files, the longest first, each with the bytes that follow
/// its colon.
pub fn files_before_colons(path: &Path) -> impl Iterator<Item = (PathBuf, &[u8])> {
    parts_before_colons(path).filter(|(file, _)| file.is_file())
}

/// Returns the parts of a path before each colon, the longest first, with the bytes that follow that colon.
fn parts_before_colons(path: &Path) -> impl Iterator<Item = (PathBuf, &[u8])> {
    let text = path.as_os_str().as_encoded_bytes();
    let colons = (0..text.len()).rev().filter(|&at| text[at] == b':');
    colons.filter_map(move |at| Some((part_of_text(path.as_os_str(), 0..at)?.into(), &text[at + 1..])))
}

/// Returns some of the bytes of a text, which begin and end at characters of ASCII.
#[cfg(unix)]
pub fn part_of_text(text: &OsStr, part: Range<usize>) -> Option<OsString> {
    use std::os::unix::ffi::OsStrExt;
    Some(OsStr::from_bytes(text.as_bytes().get(part)?).to_owned())
}

/// Returns some of the bytes of a text, which begin and end at characters of ASCII, if the text is Unicode.
#[cfg(not(unix))]
pub fn part_of_text(text: &OsStr, part: Range<usize>) -> Option<OsString> {
    Some(text.to_str()?.get(part)?.into())
}
