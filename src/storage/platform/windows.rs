//! What Windows does in its own way; for the rest it has what is [portable](super::portable).

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::windows::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use super::explain_end;

/// Returns a number for a file that is the same by whatever path: the time when it was made. The system's own numbers of
/// files are not to be had without unsafe code, and to take two files for one costs less than the reverse: it refuses an
/// output that would lose nothing, or reads updates before it needs to.
pub fn file_number(metadata: &Metadata) -> [u64; 2] {
    [metadata.creation_time(), 0]
}

/// Fills `bytes` from byte `at` of a file on.
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

/// Writes all of `bytes` to a file from byte `at` on.
pub fn write_at(file: &File, mut bytes: &[u8], mut at: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        let written = file.seek_write(bytes, at)?;
        bytes = &bytes[written..];
        at += written as u64;
    }
    Ok(())
}

/// Leaves owner and permissions as they are: new files have those of their folder.
pub fn copy_mode(_: &File, _: &Metadata) -> io::Result<()> {
    Ok(())
}

/// Opens a file or a folder so that its times can be set. To open a folder takes `FILE_FLAG_BACKUP_SEMANTICS`, and to set
/// times `FILE_WRITE_ATTRIBUTES`.
pub fn open_any(path: &Path) -> io::Result<File> {
    const READ_AND_WRITE_ATTRIBUTES: u32 = 0x80 | 0x100;
    const BACKUP_SEMANTICS: u32 = 0x0200_0000;
    OpenOptions::new().access_mode(READ_AND_WRITE_ATTRIBUTES).custom_flags(BACKUP_SEMANTICS).open(path)
}

/// Opens what is locked by whoever uses a folder: a file in it, since Windows locks no folders.
pub fn open_to_lock(folder: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).open(folder.join("lock"))
}

/// Opens no folder, and returns `None`: Windows syncs none.
pub fn open_folder(_: &Path) -> io::Result<Option<File>> {
    Ok(None)
}

/// Makes a file under a temporary name in a folder.
#[cfg(feature = "files")]
pub fn tempfile_in(folder: &Path) -> io::Result<tempfile::NamedTempFile> {
    tempfile::NamedTempFile::new_in(folder)
}
