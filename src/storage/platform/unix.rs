//! What all systems of the Unix family do in one way.

use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, fchown};
use std::path::Path;

use super::explain_end;

/// Returns the number that a file has in the system, which is the same by whatever path.
pub fn file_number(metadata: &Metadata) -> [u64; 2] {
    [metadata.dev(), metadata.ino()]
}

/// Fills `bytes` from byte `at` of a file on. The file's own position is neither used nor moved.
pub fn read_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    file.read_exact_at(bytes, at).map_err(explain_end)
}

/// Writes all of `bytes` to a file from byte `at` on.
pub fn write_at(file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
    file.write_all_at(bytes, at)
}

/// Gives a file the owner, as far as that is allowed, and the permissions of the one that it replaces.
pub fn copy_mode(file: &File, old: &Metadata) -> io::Result<()> {
    let new = file.metadata()?;
    if (new.uid(), new.gid()) != (old.uid(), old.gid()) {
        // Only the superuser may give files away. Other users keep the files that they write.
        let _ = fchown(file, Some(old.uid()), Some(old.gid()));
    }
    file.set_permissions(old.permissions())
}

/// Opens a file or a folder so that its times can be set.
pub fn open_any(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// Opens what is locked by whoever uses a folder: the folder itself.
pub fn open_to_lock(folder: &Path) -> io::Result<File> {
    File::open(folder)
}

/// Opens a folder in which a file is about to be replaced, to be synced when it has been. Returns `None` for a folder
/// that may not be read.
pub fn open_folder(folder: &Path) -> io::Result<Option<File>> {
    match File::open(folder) {
        // The user may be allowed to make files in a folder that may not be read.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(None),
        opened => opened.map(Some),
    }
}

/// Makes a file under a temporary name in a folder, with the mode that new files have.
#[cfg(feature = "files")]
pub fn tempfile_in(folder: &Path) -> io::Result<tempfile::NamedTempFile> {
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o666);
    tempfile::Builder::new().permissions(mode).tempfile_in(folder)
}
