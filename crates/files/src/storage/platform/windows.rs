//! System calls of Windows; the rest is [portable](super::portable).

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::windows::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::process::{Command, Stdio};

use super::explain_end;

/// The creation time, because file ids need unsafe code. Taking two files for one is the lesser evil: it refuses a
/// harmless output or reads updates early.
pub fn file_number(metadata: &Metadata) -> [u64; 2] {
    [metadata.creation_time(), 0]
}

pub fn read_at(file: &File, mut bytes: &mut [u8], mut at: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match file.seek_read(bytes, at)? {
            0 => return Err(explain_end(io::ErrorKind::UnexpectedEof.into())),
            n => {
                bytes = &mut bytes[n..];
                at += n as u64;
            }
        }
    }
    Ok(())
}

pub fn write_at(file: &File, mut bytes: &[u8], mut at: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        let written = file.seek_write(bytes, at)?;
        bytes = &bytes[written..];
        at += written as u64;
    }
    Ok(())
}

/// Does nothing: new files inherit from their folder.
pub fn copy_mode(_: &File, _: &Metadata) -> io::Result<()> {
    Ok(())
}

/// For setting times. Opening a folder takes `FILE_FLAG_BACKUP_SEMANTICS`, setting times `FILE_WRITE_ATTRIBUTES`.
pub fn open_any(path: &Path) -> io::Result<File> {
    const READ_AND_WRITE_ATTRIBUTES: u32 = 0x80 | 0x100;
    const BACKUP_SEMANTICS: u32 = 0x0200_0000;
    OpenOptions::new().access_mode(READ_AND_WRITE_ATTRIBUTES).custom_flags(BACKUP_SEMANTICS).open(path)
}

/// Opens a file in the folder, because Windows does not lock folders.
pub fn open_to_lock(folder: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).open(folder.join("lock"))
}

/// Windows does not sync folders.
pub fn open_folder(_: &Path) -> io::Result<Option<File>> {
    Ok(None)
}

/// Does nothing: Windows knows which process has started another.
pub fn begin_group(_: &mut Command) {}

/// Kills a process by its number, and its children.
pub fn end_group(number: u32) -> io::Result<()> {
    let mut command = Command::new("taskkill");
    command.args(["/T", "/F", "/PID", &number.to_string()]).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().map(drop)
}
