//! Substitutes for system calls that only Linux has. Their callers can cope with less.

use std::fs::File;
use std::io;
use std::path::Path;

use super::{mark_by_time, marked_by_time, open_any};

/// Does nothing: a full disk is reported when the file is written.
pub fn reserve(_: &File, _: u64) -> io::Result<()> {
    Ok(())
}

/// 128 is half of the usual limit of macOS, and far below that of Windows.
pub fn allow_open_files(count: usize) -> bool {
    count <= 128
}

/// The caller copies instead.
pub fn clone_file(_: &File, _: &File) -> bool {
    false
}

/// Opens the file to check access. Folders are not checked.
pub fn is_writable(path: &Path) -> io::Result<()> {
    if path.is_dir() { Ok(()) } else { std::fs::OpenOptions::new().write(true).open(path).map(drop) }
}

/// Removes nothing, because stale drafts look like drafts in use.
pub fn remove_stale(_: &Path) -> io::Result<()> {
    Ok(())
}

/// The caller uses a temporary name.
pub fn unnamed(_: &Path) -> Option<io::Result<File>> {
    None
}

pub fn link(_: &File, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// The caller renames twice.
pub fn exchange(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Does nothing: a new folder may reach the disk after its name.
pub fn sync_all_of(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Marks by the nanoseconds of the modification time, which have no room for the second number.
pub fn mark(path: &Path, number: u64, _: u64) -> io::Result<()> {
    mark_by_time(&open_any(path)?, number)
}

pub fn marked(path: &Path, number: u64) -> bool {
    marked_by_time(path, number)
}

pub fn marked_with(_: &Path) -> Option<u64> {
    None
}
