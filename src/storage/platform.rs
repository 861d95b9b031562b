//! The system calls that differ between systems.
//!
//! Each system is a file that has the same list of functions, which is the one that is exported here: Linux,
//! Windows, and other systems of the Unix family. What all of that family do in one way is in `unix`, and what stands
//! in for calls that a system does not have in `portable`. Every function that returns a `Result` returns the system's
//! error.

use std::fs::{File, Metadata};
use std::io;
#[cfg(feature = "files")]
use std::path::Path;
#[cfg(feature = "files")]
use std::time::{Duration, UNIX_EPOCH};

#[cfg(all(target_os = "linux", feature = "files"))]
#[path = "platform/linux.rs"]
mod system;
#[cfg(windows)]
#[path = "platform/windows.rs"]
mod system;
#[cfg(all(unix, not(all(target_os = "linux", feature = "files"))))]
#[path = "platform/other.rs"]
mod system;

#[cfg(not(all(target_os = "linux", feature = "files")))]
mod portable;
#[cfg(unix)]
mod unix;

#[cfg(feature = "files")]
pub use self::system::{allow_open_files, mark, marked, marked_with, open_any, open_to_lock, tempfile_in};
pub use self::system::{
    clone_file, copy_mode, copy_range, exchange, file_number, is_writable, link, open_folder, read_at, remove_stale,
    reserve, sync_all_of, unnamed, write_at,
};

/// Returns whether two files are one, by whatever path.
pub fn same_file(a: &Metadata, b: &Metadata) -> bool {
    file_number(a) == file_number(b)
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

/// Keeps what is written until it can be passed on: in memory, and what is longer in a file without a name in the folder
/// for temporary files.
#[cfg(feature = "files")]
pub type Spool = tempfile::SpooledTempFile;

/// Makes an empty [`Spool`] with room for so many bytes in memory.
#[cfg(feature = "files")]
pub fn spool(memory: usize) -> Spool {
    tempfile::spooled_tempfile(memory)
}

/// Marks a file by the nanoseconds of the time of its last change, on systems whose files have no attributes.
#[cfg(feature = "files")]
fn mark_by_time(file: &File, hash: u64) -> io::Result<()> {
    let since = file.metadata()?.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default();
    file.set_modified(UNIX_EPOCH + Duration::new(since.as_secs(), nanos_of(hash)))
}

/// Returns the nanoseconds that stand for a number. They are a multiple of 100, since the times of Windows are.
#[cfg(feature = "files")]
fn nanos_of(hash: u64) -> u32 {
    (hash % 10_000_000) as u32 * 100
}

/// Returns whether a file has such a mark.
#[cfg(feature = "files")]
fn marked_by_time(path: &Path, hash: u64) -> bool {
    let modified = std::fs::metadata(path).and_then(|found| found.modified()).ok();
    let nanos = modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok()).map(|since| since.subsec_nanos());
    nanos == Some(nanos_of(hash))
}
