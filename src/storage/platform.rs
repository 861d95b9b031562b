//! The system calls that differ between systems, and what stands in for them where there are none.

use std::fs::{File, Metadata};
use std::io;
use std::path::Path;
#[cfg(feature = "formats")]
use std::time::{Duration, UNIX_EPOCH};

/// Returns whether two files are one, by whatever path.
pub fn same_file(a: &Metadata, b: &Metadata) -> bool {
    file_number(a) == file_number(b)
}

/// Returns the number that a file has in the system, by whatever path.
#[cfg(unix)]
pub fn file_number(metadata: &Metadata) -> [u64; 2] {
    use std::os::unix::fs::MetadataExt;
    [metadata.dev(), metadata.ino()]
}

/// Returns a number for a file that is the same by whatever path: the time when it was made. The system's own numbers
/// of files are not to be had without unsafe code, and to take two files for one costs less than the reverse: it refuses
/// an output that would lose nothing, or reads updates before it needs to.
#[cfg(windows)]
pub fn file_number(metadata: &Metadata) -> [u64; 2] {
    use std::os::windows::fs::MetadataExt;
    [metadata.creation_time(), 0]
}

/// Fills `bytes` from byte `at` of a file on, whatever the file's own position is.
///
/// # Errors
/// Of reading, among them an end before the last byte.
#[cfg(unix)]
pub fn read_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, at).map_err(explain_end)
}

/// Fills `bytes` from byte `at` of a file on.
///
/// # Errors
/// Of reading, among them an end before the last byte.
#[cfg(windows)]
pub fn read_at(file: &File, mut bytes: &mut [u8], mut at: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match std::os::windows::fs::FileExt::seek_read(file, bytes, at)? {
            0 => return Err(explain_end(io::ErrorKind::UnexpectedEof.into())),
            n => {
                bytes = &mut bytes[n..];
                at += n as u64;
            }
        }
    }
    Ok(())
}

/// Writes all of `bytes` to a file, from byte `at` on.
///
/// # Errors
/// Of writing.
#[cfg(unix)]
pub fn write_at(file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, at)
}

/// Writes all of `bytes` to a file, from byte `at` on.
///
/// # Errors
/// Of writing.
#[cfg(windows)]
pub fn write_at(file: &File, mut bytes: &[u8], mut at: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        let written = std::os::windows::fs::FileExt::seek_write(file, bytes, at)?;
        bytes = &bytes[written..];
        at += written as u64;
    }
    Ok(())
}

fn explain_end(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => io::Error::new(error.kind(), "the file became shorter while it was read"),
        _ => error,
    }
}

/// Whether there is no more room where a file lies.
pub fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge)
}

/// Has the file system set the blocks of a large file of so many bytes aside: writing them then takes about half the
/// time, and a full disk shows before anything is computed.
///
/// # Errors
/// A full disk.
#[cfg(all(target_os = "linux", feature = "formats"))]
pub fn reserve(file: &File, bytes: u64) -> io::Result<()> {
    const LARGE: u64 = 1 << 20;
    if bytes < LARGE {
        return Ok(());
    }
    match rustix::fs::fallocate(file, rustix::fs::FallocateFlags::empty(), 0, bytes) {
        Err(error) if is_full(&error.into()) => Err(error.into()),
        // a file system that cannot do it writes the file without
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Nothing is known that would do it here.
///
/// # Errors
/// None.
#[cfg(not(all(target_os = "linux", feature = "formats")))]
pub fn reserve(_: &File, _: u64) -> io::Result<()> {
    Ok(())
}

/// Makes `to` share the blocks of `from`, where the file system can.
#[cfg(all(target_os = "linux", feature = "formats"))]
pub fn clone_file(from: &File, to: &File) -> bool {
    rustix::fs::ioctl_ficlone(to, from).is_ok()
}

#[cfg(not(all(target_os = "linux", feature = "formats")))]
pub fn clone_file(_: &File, _: &File) -> bool {
    false
}

/// Has the kernel copy bytes between files; how many it did before the end of `from`.
#[cfg(all(target_os = "linux", feature = "formats"))]
pub fn copy_range(from: &File, mut start: u64, to: &File, mut at: u64, len: usize) -> io::Result<usize> {
    let mut copied = 0;
    while copied < len {
        match rustix::fs::copy_file_range(from, Some(&mut start), to, Some(&mut at), len - copied) {
            Ok(0) => break,
            Ok(n) => copied += n,
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(copied)
}

#[cfg(not(all(target_os = "linux", feature = "formats")))]
pub fn copy_range(_: &File, _: u64, _: &File, _: u64, _: usize) -> io::Result<usize> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Gives a new file the owner, as far as that is allowed, and the permissions of the one that it replaces.
///
/// # Errors
/// Of setting the permissions.
#[cfg(unix)]
pub fn copy_mode(file: &File, old: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, fchown};
    let new = file.metadata()?;
    if (new.uid(), new.gid()) != (old.uid(), old.gid()) {
        // only the superuser may give files away; the others keep what they write
        let _ = fchown(file, Some(old.uid()), Some(old.gid()));
    }
    file.set_permissions(old.permissions())
}

/// Nothing is known that would do it here.
///
/// # Errors
/// None.
#[cfg(not(unix))]
pub fn copy_mode(_: &File, _: &Metadata) -> io::Result<()> {
    Ok(())
}

/// Asks whether the user may write a file, without opening it: whoever watches the file would take that for a change.
///
/// # Errors
/// That the user may not, as the system says it.
#[cfg(all(target_os = "linux", feature = "formats"))]
pub fn is_writable(path: &Path) -> io::Result<()> {
    Ok(rustix::fs::access(path, rustix::fs::Access::WRITE_OK)?)
}

/// Asks whether the user may write a file, by opening it. No folder can be opened so: what may be done to one shows when it is
/// done.
///
/// # Errors
/// That the user may not, as the system says it.
#[cfg(not(all(target_os = "linux", feature = "formats")))]
pub fn is_writable(path: &Path) -> io::Result<()> {
    if path.is_dir() { Ok(()) } else { std::fs::OpenOptions::new().write(true).open(path).map(drop) }
}

/// A file or folder, whose times can be set.
///
/// # Errors
/// Of opening it.
#[cfg(all(unix, feature = "formats"))]
pub fn open_any(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// A file or folder, whose times can be set. Windows opens folders for who asks for it, and sets times for who said so.
///
/// # Errors
/// Of opening it.
#[cfg(all(not(unix), feature = "formats"))]
pub fn open_any(path: &Path) -> io::Result<File> {
    use std::os::windows::fs::OpenOptionsExt;
    const READ_AND_WRITE_ATTRIBUTES: u32 = 0x80 | 0x100;
    const BACKUP_SEMANTICS: u32 = 0x0200_0000;
    let mut options = std::fs::OpenOptions::new();
    options.access_mode(READ_AND_WRITE_ATTRIBUTES).custom_flags(BACKUP_SEMANTICS).open(path)
}

/// What is locked by who uses a folder.
///
/// # Errors
/// Of opening it.
#[cfg(all(unix, feature = "formats"))]
pub fn open_to_lock(folder: &Path) -> io::Result<File> {
    File::open(folder)
}

/// What is locked by who uses a folder: a file in it, since Windows locks no folders.
///
/// # Errors
/// Of opening or making it.
#[cfg(all(not(unix), feature = "formats"))]
pub fn open_to_lock(folder: &Path) -> io::Result<File> {
    std::fs::OpenOptions::new().read(true).write(true).create(true).truncate(false).open(folder.join("lock"))
}

/// A folder in which a file is about to be replaced, to be synced when it has been; `None` where that cannot be.
///
/// # Errors
/// Of opening, but for a folder that may not be read.
#[cfg(unix)]
pub fn open_folder(folder: &Path) -> io::Result<Option<File>> {
    match File::open(folder) {
        // a folder may allow files to be made in it and not to be read itself
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(None),
        opened => opened.map(Some),
    }
}

/// Nothing is known that would do it here.
///
/// # Errors
/// None.
#[cfg(not(unix))]
pub fn open_folder(_: &Path) -> io::Result<Option<File>> {
    Ok(None)
}

/// Waits until the names in a folder are on the disk. Some file systems have no such call for folders.
///
/// # Errors
/// Of writing.
pub fn sync_folder(folder: &File) -> io::Result<()> {
    match folder.sync_all() {
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
        done => done,
    }
}

/// Removes what a writer that was killed has left under a temporary name, if that is what it is.
///
/// # Errors
/// Of opening or removing it: there may be none.
#[cfg(all(target_os = "linux", feature = "formats"))]
pub fn remove_stale(name: &Path) -> io::Result<()> {
    use rustix::fs::{Mode, OFlags};
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(name, flags, Mode::empty())?);
    let metadata = file.metadata()?;
    if !metadata.is_file() || file.try_lock().is_err() {
        return Ok(()); // no file of ours, or of a writer that lives
    }
    // with the lock nobody else removes it; before, its writer may have renamed it, and another taken the name
    if same_file(&metadata, &std::fs::symlink_metadata(name)?) {
        std::fs::remove_file(name)?;
    }
    Ok(())
}

/// Nothing is known that would do it here.
///
/// # Errors
/// None.
#[cfg(not(all(target_os = "linux", feature = "formats")))]
pub fn remove_stale(_: &Path) -> io::Result<()> {
    Ok(())
}

/// A file without a name in `folder`; `None` where the system or the file system has no such thing.
#[cfg(all(target_os = "linux", feature = "formats"))]
pub fn unnamed(folder: &Path) -> Option<io::Result<File>> {
    use rustix::fs::{Mode, OFlags};
    use rustix::io::Errno;
    if !Path::new("/proc/self/fd").exists() {
        return None; // it could not be given a name later
    }
    let mode = Mode::from_raw_mode(0o666);
    match rustix::fs::open(folder, OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC, mode) {
        Ok(fd) => Some(Ok(fd.into())),
        Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::NOENT | Errno::INVAL) => None,
        Err(error) => Some(Err(error.into())),
    }
}

/// Such files are not known here.
#[cfg(not(all(target_os = "linux", feature = "formats")))]
pub fn unnamed(_: &Path) -> Option<io::Result<File>> {
    None
}

/// Gives an unnamed file its name. Unlike a rename, that refuses to replace.
///
/// # Errors
/// A file of that name; of linking.
#[cfg(all(target_os = "linux", feature = "formats"))]
pub fn link(file: &File, name: &Path) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD};
    use std::os::fd::AsRawFd;
    let fd = format!("/proc/self/fd/{}", file.as_raw_fd());
    Ok(rustix::fs::linkat(CWD, fd, CWD, name, AtFlags::SYMLINK_FOLLOW)?)
}

/// Such files are not known here.
///
/// # Errors
/// Always.
#[cfg(not(all(target_os = "linux", feature = "formats")))]
pub fn link(_: &File, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// A file without a name in the folder for temporary files.
///
/// # Errors
/// Of creating it.
#[cfg(feature = "formats")]
pub fn unnamed_file() -> io::Result<File> {
    tempfile::tempfile()
}

/// A file under a temporary name in a folder, with the usual mode where files have one.
///
/// # Errors
/// Of creating it.
#[cfg(all(unix, feature = "formats"))]
pub fn tempfile_in(folder: &Path) -> io::Result<tempfile::NamedTempFile> {
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o666);
    tempfile::Builder::new().permissions(mode).tempfile_in(folder)
}

/// A file under a temporary name in a folder.
///
/// # Errors
/// Of creating it.
#[cfg(all(not(unix), feature = "formats"))]
pub fn tempfile_in(folder: &Path) -> io::Result<tempfile::NamedTempFile> {
    tempfile::NamedTempFile::new_in(folder)
}

/// What is kept until it can be written: in memory, and what is longer in a file without a name in the folder for
/// temporary files.
#[cfg(feature = "formats")]
pub type Spool = tempfile::SpooledTempFile;

/// Nothing yet, with room for so many bytes in memory.
#[cfg(feature = "formats")]
pub fn spool(memory: usize) -> Spool {
    tempfile::spooled_tempfile(memory)
}

/// Streams come with the formats, and only they are kept in such files.
///
/// # Errors
/// Always.
#[cfg(not(feature = "formats"))]
pub fn unnamed_file() -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Exchanges the names of two files or folders at once.
///
/// # Errors
/// Of renaming; of the kind `InvalidInput` or `Unsupported` where the file system has no such thing.
#[cfg(all(target_os = "linux", feature = "formats"))]
pub fn exchange(a: &Path, b: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    Ok(renameat_with(CWD, a, CWD, b, RenameFlags::EXCHANGE)?)
}

/// Nothing is known that would do it here.
///
/// # Errors
/// Always.
#[cfg(not(all(target_os = "linux", feature = "formats")))]
pub fn exchange(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Waits until all that was written to the file system of a folder is on the disk.
///
/// # Errors
/// Of writing.
#[cfg(all(target_os = "linux", feature = "formats"))]
pub fn sync_all_of(folder: &Path) -> io::Result<()> {
    Ok(rustix::fs::syncfs(File::open(folder)?)?)
}

/// Nothing is known that would do it here.
///
/// # Errors
/// None.
#[cfg(not(all(target_os = "linux", feature = "formats")))]
pub fn sync_all_of(_: &Path) -> io::Result<()> {
    Ok(())
}

/// The name of the attribute that says which parts a file or folder was made of.
#[cfg(all(target_os = "linux", feature = "formats"))]
const MARK: &str = "user.tensorop.parts";

/// Marks a file or folder by a number that is not part of its content; 0 takes the mark away.
///
/// # Errors
/// Of marking it.
#[cfg(all(target_os = "linux", feature = "formats"))]
pub fn mark(path: &Path, number: u64) -> io::Result<()> {
    let set = rustix::fs::setxattr(path, MARK, &number.to_le_bytes(), rustix::fs::XattrFlags::empty());
    // a file system without such attributes
    if set.is_err() { mark_by_time(&open_any(path)?, number) } else { Ok(()) }
}

/// Whether a file or folder has that mark.
#[cfg(all(target_os = "linux", feature = "formats"))]
pub fn marked(path: &Path, number: u64) -> bool {
    let mut found = [0; 8];
    match rustix::fs::getxattr(path, MARK, &mut found) {
        Ok(8) => u64::from_le_bytes(found) == number,
        Err(rustix::io::Errno::NODATA) => false,
        Ok(_) | Err(_) => marked_by_time(path, number),
    }
}

/// Marks a file or folder by a number that is not part of its content.
///
/// # Errors
/// Of marking it.
#[cfg(all(not(target_os = "linux"), feature = "formats"))]
pub fn mark(path: &Path, number: u64) -> io::Result<()> {
    mark_by_time(&open_any(path)?, number)
}

/// Whether a file or folder has that mark.
#[cfg(all(not(target_os = "linux"), feature = "formats"))]
pub fn marked(path: &Path, number: u64) -> bool {
    marked_by_time(path, number)
}

/// Marks a file by the nanoseconds of its last change, where it can be marked by nothing else.
#[cfg(feature = "formats")]
fn mark_by_time(file: &File, hash: u64) -> io::Result<()> {
    let since = file.metadata()?.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default();
    file.set_modified(UNIX_EPOCH + Duration::new(since.as_secs(), nanos_of(hash)))
}

/// The nanoseconds that stand for a number: of Windows the time goes in steps of 100.
#[cfg(feature = "formats")]
fn nanos_of(hash: u64) -> u32 {
    (hash % 10_000_000) as u32 * 100
}

/// Whether a file has such a mark.
#[cfg(feature = "formats")]
fn marked_by_time(path: &Path, hash: u64) -> bool {
    let modified = std::fs::metadata(path).and_then(|found| found.modified()).ok();
    let nanos = modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok()).map(|since| since.subsec_nanos());
    nanos == Some(nanos_of(hash))
}
