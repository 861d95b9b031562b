//! Files in the folder of a store, which anybody may have filled with anything.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::metadata::{self, Node};
use crate::error::{Context, Error, Result, bail, ensure, malformed};
use crate::memory;

/// How deep groups may lie in groups.
const MOST_DEPTH: usize = 32;

/// The most folders of a group that are looked at.
const MOST_FOLDERS: usize = 1 << 20;

/// Opens a regular file; `None` if there is nothing of that name.
///
/// # Errors
/// A folder or something else in its place; of opening.
pub(super) fn open(path: &Path) -> Result<Option<(File, u64)>> {
    // what is no file may not be opened: a pipe would wait for a writer
    match fs::metadata(path) {
        Ok(found) if found.is_dir() => bail!("is a folder, expected a file"),
        Ok(found) if !found.is_file() => bail!("is no regular file"),
        Ok(_) => {}
        Err(error) if is_missing(&error) => return Ok(None),
        Err(error) => return Err(error.into()),
    }
    match File::open(path) {
        Ok(file) => {
            let len = file.metadata()?.len();
            Ok(Some((file, len)))
        }
        Err(error) if is_missing(&error) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// All of a file of at most so many bytes, if there is one.
///
/// # Errors
/// Those of [`open`]; a longer file; of reading.
pub(super) fn read(path: &Path, most: u64) -> Result<Option<Vec<u8>>> {
    let Some((file, len)) = open(path)? else { return Ok(None) };
    ensure!(len <= most, "{len} bytes, at most {most} are read");
    let mut bytes = memory::of(usize::try_from(len)? + 1).map_err(Error::memory)?;
    file.take(most + 1).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

/// The arrays in a group, by their paths from its folder on, in the order of these.
///
/// # Errors
/// More folders than are looked at; of reading them.
pub(super) fn arrays(group: &Path) -> Result<Vec<String>> {
    let (mut found, mut pending, mut seen) = (Vec::new(), vec![(group.to_owned(), String::new(), 0)], 0_usize);
    while let Some((folder, name, depth)) = pending.pop() {
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            let Ok(own) = entry.file_name().into_string() else { continue };
            // hidden files are nobody's members
            if own.starts_with('.') || !entry.path().is_dir() {
                continue;
            }
            seen += 1;
            ensure!(seen <= MOST_FOLDERS, "more than {MOST_FOLDERS} folders");
            let name = if name.is_empty() { own } else { format!("{name}/{own}") };
            match metadata::node(&entry.path()) {
                // what is not in order says so when it is asked for
                Ok(Some(Node::Array)) | Err(_) => found.push(name),
                Ok(Some(Node::Group)) => {
                    ensure!(depth < MOST_DEPTH, "groups in groups deeper than {MOST_DEPTH}");
                    pending.push((entry.path(), name, depth + 1));
                }
                Ok(None) => {}
            }
        }
    }
    found.sort();
    Ok(found)
}

/// The folder of a member of a group, if its name leads nowhere else.
pub(super) fn member(group: &Path, name: &str) -> Result<PathBuf> {
    let plain = !name.is_empty() && name.split('/').all(|part| !part.is_empty() && part != "." && part != "..");
    ensure!(plain && !name.contains(['\0', '\\']), "no tensor {name:?}");
    Ok(group.join(name))
}

/// Reads a part of a file.
///
/// # Errors
/// Of reading; a file that ends before.
pub(super) fn read_part(file: &File, at: u64, bytes: usize) -> Result<Vec<u8>> {
    let len = file.metadata()?.len();
    let end = at.checked_add(bytes as u64).filter(|&end| end <= len);
    end.ok_or_else(|| malformed!("{len} bytes, and something is said to be at {at} of {bytes} bytes"))?;
    let mut out = memory::zeros(bytes).map_err(Error::memory)?;
    crate::storage::platform::read_at(file, &mut out, at).context("cannot be read")?;
    Ok(out)
}
