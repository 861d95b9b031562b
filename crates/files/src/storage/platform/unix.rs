//! System calls of all Unix systems.

use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, fchown};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use rustix::process::{Pid, Signal, kill_process_group};

use super::explain_end;

/// Device and inode.
pub fn file_number(metadata: &Metadata) -> [u64; 2] {
    [metadata.dev(), metadata.ino()]
}

/// Does not use or move the file's cursor.
pub fn read_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    file.read_exact_at(bytes, at).map_err(explain_end)
}

pub fn write_at(file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
    file.write_all_at(bytes, at)
}

/// Copies the permissions and, if allowed, the owner of the replaced file.
pub fn copy_mode(file: &File, old: &Metadata) -> io::Result<()> {
    let new = file.metadata()?;
    if (new.uid(), new.gid()) != (old.uid(), old.gid()) {
        // Only the superuser may give files away.
        let _ = fchown(file, Some(old.uid()), Some(old.gid()));
    }
    file.set_permissions(old.permissions())
}

/// For setting times.
pub fn open_any(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// The folder itself is locked.
pub fn open_to_lock(folder: &Path) -> io::Result<File> {
    File::open(folder)
}

/// Opens a folder for a later sync. Returns `None` without read permission.
pub fn open_folder(folder: &Path) -> io::Result<Option<File>> {
    match File::open(folder) {
        // A folder may be writable and not readable.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(None),
        opened => opened.map(Some),
    }
}

/// Lets a command begin a process group.
pub fn begin_group(command: &mut Command) {
    command.process_group(0);
}

/// Kills the processes of a group by the process number of the command that [began](begin_group) it.
pub fn end_group(number: u32) -> io::Result<()> {
    let number = i32::try_from(number).ok().and_then(Pid::from_raw);
    Ok(kill_process_group(number.ok_or(io::ErrorKind::InvalidInput)?, Signal::KILL)?)
}
