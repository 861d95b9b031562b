//! What Linux has beyond the rest of the Unix family, by the package `rustix`, which comes with the feature `formats`.

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

/// Has the file system reserve the blocks of a large file of `bytes` bytes. To write them then takes about half the
/// time, and a full disk shows before anything is computed.
pub fn reserve(file: &File, bytes: u64) -> io::Result<()> {
    const LARGE: u64 = 1 << 20;
    if bytes < LARGE {
        return Ok(());
    }
    match fallocate(file, FallocateFlags::empty(), 0, bytes) {
        Err(error) if is_full(&error.into()) => Err(error.into()),
        // Where the file system cannot do it, the file is written without.
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Raises the number of files that the program may have open, from the usual limit of the system to the highest that it
/// allows, if `count` files together ask for it. Returns whether they can be open then, beside some for other purposes.
pub fn allow_open_files(count: usize) -> bool {
    /// Files that are open beside those: standard streams, the output, what threads and folders need.
    const OTHERS: u64 = 64;
    let wanted = count as u64 + OTHERS;
    let is_within = |limit: Option<u64>| limit.is_none_or(|limit| wanted <= limit);
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    is_within(current)
        || setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }).is_ok() && is_within(maximum)
}

/// Makes `to` share the blocks of `from`, and returns whether the file system could.
pub fn clone_file(from: &File, to: &File) -> bool {
    ioctl_ficlone(to, from).is_ok()
}

/// Asks whether the user may write a file, without opening it: whoever watches the file would take that for a change.
pub fn is_writable(path: &Path) -> io::Result<()> {
    Ok(access(path, Access::WRITE_OK)?)
}

/// Removes what a writer that was killed has left under a temporary name, if that is what it is.
pub fn remove_stale(name: &Path) -> io::Result<()> {
    // a link is not followed, and a pipe would wait for its writer
    if std::fs::symlink_metadata(name)?.is_file() {
        let file = File::open(name)?;
        // While this process has the lock, no other removes the file. Before the lock, the writer may have renamed it, and
        // another file may have got the name. What a living writer has is locked.
        if file.try_lock().is_ok() && is_open_as(&file, std::fs::symlink_metadata(name)) {
            std::fs::remove_file(name)?;
        }
    }
    Ok(())
}

/// Makes a file without a name in a folder, which [`link`] can name later. Returns `None` where the file system has no such
/// files.
pub fn unnamed(folder: &Path) -> Option<io::Result<File>> {
    if !Path::new("/proc/self/fd").exists() {
        return None; // it could not be given a name later
    }
    let mode = Mode::from_raw_mode(0o666);
    match open(folder, OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC, mode) {
        Ok(fd) => Some(Ok(fd.into())),
        Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::NOENT | Errno::INVAL) => None,
        Err(error) => Some(Err(error.into())),
    }
}

/// Gives an unnamed file its name. Unlike a rename, that refuses to replace.
pub fn link(file: &File, name: &Path) -> io::Result<()> {
    let fd = format!("/proc/self/fd/{}", file.as_raw_fd());
    Ok(linkat(CWD, fd, CWD, name, AtFlags::SYMLINK_FOLLOW)?)
}

/// Exchanges the names of two files or folders at once. An error of the kind `InvalidInput` or `Unsupported` says that the
/// file system cannot.
pub fn exchange(a: &Path, b: &Path) -> io::Result<()> {
    Ok(renameat_with(CWD, a, CWD, b, RenameFlags::EXCHANGE)?)
}

/// Waits until all that was written to the file system of a folder is on the disk.
pub fn sync_all_of(folder: &Path) -> io::Result<()> {
    Ok(syncfs(File::open(folder)?)?)
}

/// The name of the attribute that says which parts a file or folder was made of.
const MARK: &str = "user.tensorop.parts";

/// Marks a file or folder by a number that is not part of its content, and another that goes with it; 0 takes the mark away.
pub fn mark(path: &Path, number: u64, with: u64) -> io::Result<()> {
    let bytes = [number, with].map(u64::to_le_bytes).concat();
    let set = setxattr(path, MARK, &bytes, XattrFlags::empty());
    // The file system may have no such attributes.
    if set.is_err() { mark_by_time(&open_any(path)?, number) } else { Ok(()) }
}

/// Returns whether a file or folder has the mark of a number.
pub fn marked(path: &Path, number: u64) -> bool {
    match numbers_of(path) {
        Ok(numbers) => numbers.is_some_and(|[found, _]| found == number),
        Err(_) => marked_by_time(path, number),
    }
}

/// Returns the number that went with the mark of a file or folder, if the file system keeps it.
pub fn marked_with(path: &Path) -> Option<u64> {
    numbers_of(path).ok().flatten().map(|[_, with]| with)
}

/// Returns the numbers of the mark of a file or folder, if it has one.
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
