//! The system calls that differ between systems.
//!
//! Linux and Windows have a file each, and what all of the Unix family do in one way is in `unix`. What stands in for calls
//! that only Linux has is in `portable`. Each system has the same functions by these. Every function that returns a `Result`
//! returns the system's error.

use std::fs::{File, Metadata};
use std::io;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

#[cfg(all(target_os = "linux", feature = "files"))]
mod linux;
#[cfg(not(all(target_os = "linux", feature = "files")))]
mod portable;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(all(target_os = "linux", feature = "files"))]
pub use self::linux::*;
#[cfg(not(all(target_os = "linux", feature = "files")))]
pub use self::portable::*;
#[cfg(unix)]
pub use self::unix::*;
#[cfg(windows)]
pub use self::windows::*;

/// Returns whether two files are one, by whatever path.
pub fn same_file(a: &Metadata, b: &Metadata) -> bool {
    file_number(a) == file_number(b)
}

/// Returns whether what is open is what was found under a path.
pub fn is_open_as(open: &File, found: io::Result<Metadata>) -> bool {
    open.metadata().is_ok_and(|open| found.is_ok_and(|found| same_file(&open, &found)))
}

/// Replaces the system's message on an unexpected end of a file by one that names the cause.
fn explain_end(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => io::Error::new(error.kind(), "the file became shorter while it was read"),
        _ => error,
    }
}

/// Returns whether an error says that there is no more room where a file lies.
pub fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge)
}

/// Waits until the names in a folder are on the disk. Some file systems have no such call for folders.
pub fn sync_folder(folder: &File) -> io::Result<()> {
    match folder.sync_all() {
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
        done => done,
    }
}

/// Makes a file without a name in the folder for temporary files.
#[cfg(feature = "files")]
pub fn unnamed_file() -> io::Result<File> {
    tempfile::tempfile()
}

/// Makes no file: only streams, which come with the feature `formats`, are kept in such files.
#[cfg(not(feature = "files"))]
pub fn unnamed_file() -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Marks a file by the nanoseconds of the time of its last change, on systems whose files have no attributes.
fn mark_by_time(file: &File, hash: u64) -> io::Result<()> {
    let since = file.metadata()?.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default();
    file.set_modified(UNIX_EPOCH + Duration::new(since.as_secs(), nanos_of(hash)))
}

/// Returns the nanoseconds that stand for a number. They are a multiple of 100, since the times of Windows are.
fn nanos_of(hash: u64) -> u32 {
    (hash % 10_000_000) as u32 * 100
}

/// Returns whether a file has such a mark.
fn marked_by_time(path: &Path, hash: u64) -> bool {
    let modified = std::fs::metadata(path).and_then(|found| found.modified()).ok();
    let nanos = modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok()).map(|since| since.subsec_nanos());
    nanos == Some(nanos_of(hash))
}
