//! The system calls that differ between systems: `linux`, `windows`, `unix` (all Unix systems) and `portable` (all
//! except Linux).

use std::fs::{File, Metadata};
use std::io;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

#[cfg_attr(target_os = "linux", path = "platform/linux.rs")]
#[cfg_attr(not(target_os = "linux"), path = "platform/portable.rs")]
mod own;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

pub use self::own::*;
#[cfg(unix)]
pub use self::unix::*;
#[cfg(windows)]
pub use self::windows::*;

/// Returns whether two names are of one file.
pub fn same_file(a: &Metadata, b: &Metadata) -> bool {
    file_number(a) == file_number(b)
}

/// Returns whether an open file is the one at a path.
pub fn is_open_as(open: &File, found: io::Result<Metadata>) -> bool {
    open.metadata().is_ok_and(|open| found.is_ok_and(|found| same_file(&open, &found)))
}

fn explain_end(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => io::Error::new(error.kind(), "the file became shorter while it was read"),
        _ => error,
    }
}

/// Returns whether an error means that the disk is full or a size limit is reached.
pub fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge)
}

/// Some file systems cannot sync folders.
pub fn sync_folder(folder: &File) -> io::Result<()> {
    match folder.sync_all() {
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
        done => done,
    }
}

/// In the folder for temporary files.
pub fn unnamed_file() -> io::Result<File> {
    tempfile::tempfile()
}

/// For systems without extended attributes.
fn mark_by_time(file: &File, hash: u64) -> io::Result<()> {
    let since = file.metadata()?.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default();
    file.set_modified(UNIX_EPOCH + Duration::new(since.as_secs(), nanos_of(hash)))
}

/// A multiple of 100, because Windows stores times in units of 100 ns.
fn nanos_of(hash: u64) -> u32 {
    (hash % 10_000_000) as u32 * 100
}

fn marked_by_time(path: &Path, hash: u64) -> bool {
    let modified = std::fs::metadata(path).and_then(|found| found.modified()).ok();
    let nanos = modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok()).map(|since| since.subsec_nanos());
    nanos == Some(nanos_of(hash))
}
