//! What stands in for calls of the system that only Linux has. Each does less in a way that its caller can bear, and
//! says so.

use std::fs::File;
use std::io;
use std::path::Path;

use super::{mark_by_time, marked_by_time, open_any};

/// Sets nothing aside: a full disk shows when the file is written.
pub fn reserve(_: &File, _: u64) -> io::Result<()> {
    Ok(())
}

/// Returns whether `count` files can be open. 128 can: half of the usual limit of macOS, and far below that of Windows.
pub fn allow_open_files(count: usize) -> bool {
    count <= 128
}

/// Shares no blocks, and returns `false`: the caller copies.
pub fn clone_file(_: &File, _: &File) -> bool {
    false
}

/// Asks whether the user may write a file, by opening it. No folder can be opened so: what may be done to one shows when
/// it is done.
pub fn is_writable(path: &Path) -> io::Result<()> {
    if path.is_dir() { Ok(()) } else { std::fs::OpenOptions::new().write(true).open(path).map(drop) }
}

/// Removes nothing: without unnamed files, what a killed writer left cannot be told from what is being written.
pub fn remove_stale(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Makes no file, and returns `None`: the caller takes a temporary name.
pub fn unnamed(_: &Path) -> Option<io::Result<File>> {
    None
}

/// Names no file, since there are no unnamed ones, with an error of the kind `Unsupported`.
pub fn link(_: &File, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Exchanges no names, with an error of the kind `Unsupported`: the caller renames twice.
pub fn exchange(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Waits for nothing: a new folder may reach the disk after its name does.
pub fn sync_all_of(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Marks a file or folder by a number that is not part of its content, in the nanoseconds of its last change, which have no
/// room for another.
pub fn mark(path: &Path, number: u64, _: u64) -> io::Result<()> {
    mark_by_time(&open_any(path)?, number)
}

/// Returns whether a file or folder has the mark of a number.
pub fn marked(path: &Path, number: u64) -> bool {
    marked_by_time(path, number)
}

/// Returns nothing: a mark has one number.
pub fn marked_with(_: &Path) -> Option<u64> {
    None
}
