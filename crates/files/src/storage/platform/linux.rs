//! System calls that only Linux has, by the crate `rustix`.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;

use rustix::fs::{
    Access, AtFlags, CWD, FallocateFlags, Mode, OFlags, RenameFlags, XattrFlags, access, fallocate, getxattr,
    ioctl_ficlone, linkat, open, renameat_with, setxattr, syncfs,
};
use rustix::io::Errno;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::{is_full, is_open_as, mark_by_time, marked_by_time, open_any};

/// Reserves the blocks of a large file. Writing then takes about half the time, and a full disk is reported before the
/// computation.
pub fn reserve(file: &File, bytes: u64) -> io::Result<()> {
    const LARGE: u64 = 1 << 20;
    if bytes < LARGE {
        return Ok(());
    }
    match fallocate(file, FallocateFlags::empty(), 0, bytes) {
        Err(error) if is_full(&error.into()) => Err(error.into()),
        // Other file systems write without a reservation.
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Raises the limit of open files if `count` files need it. Returns whether they can be open at once.
pub fn allow_open_files(count: usize) -> bool {
    /// Other open files: standard streams, the output, files of threads and folders.
    const OTHERS: u64 = 64;
    let wanted = count as u64 + OTHERS;
    let is_within = |limit: Option<u64>| limit.is_none_or(|limit| wanted <= limit);
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    is_within(current)
        || setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }).is_ok() && is_within(maximum)
}

/// Shares blocks (reflink), if the file system can.
pub fn clone_file(from: &File, to: &File) -> bool {
    ioctl_ficlone(to, from).is_ok()
}

/// File watchers would take opening for a change.
pub fn is_writable(path: &Path) -> io::Result<()> {
    Ok(access(path, Access::WRITE_OK)?)
}

/// Removes the temporary file of a killed writer.
pub fn remove_stale(name: &Path) -> io::Result<()> {
    // Links are not followed, and opening a pipe would wait for its writer.
    if std::fs::symlink_metadata(name)?.is_file() {
        let file = File::open(name)?;
        // Living writers hold the lock. Before the lock, the writer may have renamed the file, so the name may be
        // another file's.
        if file.try_lock().is_ok() && is_open_as(&file, std::fs::symlink_metadata(name)) {
            std::fs::remove_file(name)?;
        }
    }
    Ok(())
}

/// Creates an unnamed file, which [`link`] can name. Returns `None` if the file system has no unnamed files.
pub fn unnamed(folder: &Path) -> Option<io::Result<File>> {
    if !Path::new("/proc/self/fd").exists() {
        return None; // it could not be named later
    }
    let mode = Mode::from_raw_mode(0o666);
    match open(folder, OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC, mode) {
        Ok(fd) => Some(Ok(fd.into())),
        Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::NOENT | Errno::INVAL) => None,
        Err(error) => Some(Err(error.into())),
    }
}

/// Unlike a rename, fails if the name exists.
pub fn link(file: &File, name: &Path) -> io::Result<()> {
    let fd = format!("/proc/self/fd/{}", file.as_raw_fd());
    Ok(linkat(CWD, fd, CWD, name, AtFlags::SYMLINK_FOLLOW)?)
}

/// Exchanges two names atomically. `InvalidInput` and `Unsupported` mean that the file system cannot.
pub fn exchange(a: &Path, b: &Path) -> io::Result<()> {
    Ok(renameat_with(CWD, a, CWD, b, RenameFlags::EXCHANGE)?)
}

/// Syncs the file system of a folder.
pub fn sync_all_of(folder: &Path) -> io::Result<()> {
    Ok(syncfs(File::open(folder)?)?)
}

/// The extended attribute for the mark of parts.
const MARK: &str = "user.tensorop.parts";

/// Marks a file or folder by two numbers in an attribute; 0 removes the mark.
pub fn mark(path: &Path, number: u64, with: u64) -> io::Result<()> {
    let bytes = [number, with].map(u64::to_le_bytes).concat();
    let set = setxattr(path, MARK, &bytes, XattrFlags::empty());
    // The file system may have no extended attributes.
    if set.is_err() { mark_by_time(&open_any(path)?, number) } else { Ok(()) }
}

pub fn marked(path: &Path, number: u64) -> bool {
    match numbers_of(path) {
        Ok(numbers) => numbers.is_some_and(|[found, _]| found == number),
        Err(_) => marked_by_time(path, number),
    }
}

/// Returns the second number of the mark, if the file system keeps it.
pub fn marked_with(path: &Path) -> Option<u64> {
    numbers_of(path).ok().flatten().map(|[_, with]| with)
}

fn numbers_of(path: &Path) -> Result<Option<[u64; 2]>, Errno> {
    let mut found = [0; 16];
    match getxattr(path, MARK, &mut found) {
        Ok(16) => {
            let number = |at: usize| u64::from_le_bytes(std::array::from_fn(|n| found[at + n]));
            Ok(Some([number(0), number(8)]))
        }
        Ok(_) | Err(Errno::NODATA) => Ok(None),
        Err(error) => Err(error),
    }
}
