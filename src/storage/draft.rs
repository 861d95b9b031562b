//! A file that is written beside its target until it is complete.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use super::named_target::NamedTarget;
use super::platform::{copy_mode, is_open_as, link, open_folder, unnamed};
use super::signals;
use super::stage::{fnv1a, folder_of};
use crate::error::Result;

/// A file that is being written, in the folder of its target. It has no name where the system has such files, so that
/// nothing is left even if the program is killed. Elsewhere it has a temporary name, which is removed when the draft is
/// dropped or when a signal ends the program.
///
/// A draft that replaces a file has a temporary name for an instant on every system, since a file without a name can be
/// linked but not renamed. If SIGKILL leaves it there, the next output to the same target removes it: temporary names
/// follow from the target's name, and a process that is alive holds a lock on its draft. The system ends the lock with
/// the process, which a process id could not tell, since another process may have the same one later.
#[derive(Debug)]
pub struct Draft {
    pub(super) file: File,
    /// The temporary name, while there is one.
    named: Option<PathBuf>,
}

impl Draft {
    pub(super) fn create(path: &Path) -> io::Result<Self> {
        let Some(file) = unnamed(folder_of(path)) else { return Self::named(path) };
        let file = file?;
        // The file may get a temporary name later, and another process that can lock it would take it for stale.
        let _ = file.try_lock();
        Ok(Self { file, named: None })
    }

    /// Makes a draft under a temporary name.
    ///
    /// Before a draft is locked, another writer may take it for one that was left behind, and lock and remove it. So
    /// the name is looked up again after the lock. If it is another file's by then, the next name is tried.
    pub(super) fn named(path: &Path) -> io::Result<Self> {
        let (file, name) = fresh(path, |name| {
            let file = OpenOptions::new().read(true).write(true).create_new(true).open(name)?;
            // Another process may have taken the file for stale before it was locked.
            let taken = matches!(file.try_lock(), Err(TryLockError::WouldBlock));
            let is_own = !taken && is_open_as(&file, fs::symlink_metadata(name));
            if is_own { Ok(file) } else { Err(io::ErrorKind::AlreadyExists.into()) }
        })?;
        let left = name.clone();
        signals::call_when_ended(move || drop(fs::remove_file(&left)));
        Ok(Self { file, named: Some(name) })
    }

    /// Gives the draft the name of its target. Returns the folder that is to be synced, if a file was replaced.
    pub(super) fn publish(&mut self, target: &NamedTarget) -> Result<Option<File>> {
        let (path, mut replaces) = (&target.path, target.existing.is_some());
        if let Some(existing) = &target.existing {
            copy_mode(&self.file, existing)?;
        }
        if !replaces {
            // A link refuses to replace a file, which a rename does not.
            let linked = match &self.named {
                None => Some(link(&self.file, path)),
                Some(name) => target.no_clobber.then(|| fs::hard_link(name, path)),
            };
            match linked {
                // A file has appeared meanwhile. It is replaced, as a file that was there before would have been.
                Some(Err(error)) if error.kind() == io::ErrorKind::AlreadyExists && !target.no_clobber => {
                    replaces = true;
                }
                Some(done) => return Ok(done.map(|()| None)?),
                None => {}
            }
        }
        let mut folder = None;
        if replaces {
            // This is slow, so it comes before the draft has a name.
            self.file.sync_all()?;
            folder = open_folder(folder_of(path))?;
        }
        // A signal between the two steps would leave the temporary name.
        signals::deferred(|| -> io::Result<()> {
            if self.named.is_none() {
                self.named = Some(fresh(path, |name| link(&self.file, name))?.1);
            }
            if let Some(name) = &self.named {
                fs::rename(name, path)?;
            }
            self.named = None;
            Ok(())
        })?;
        Ok(folder)
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if let Some(name) = self.named.take() {
            let _ = fs::remove_file(name);
        }
    }
}

/// The number of temporary names that all writers of one target share. A writer that finds none of them free takes one of
/// its own.
///
/// The names are shared because what a killed writer left is found by its name. To search the folder instead would take a
/// look at every file in it, and a folder of data sets may have a million. Eight writers of one target at a time are more
/// than is usual, and each further name would cost every output a system call.
pub(super) const SHARED_NAMES: u32 = 8;

/// Returns a temporary name beside `path`, which is the same for all writers of that file. It has the hash of the
/// file's name and not the name itself, which with an ending could be longer than the 255 bytes that most file systems
/// allow.
///
/// Two targets of the same hash share the names, and locks keep their drafts apart.
pub(super) fn shared_name(path: &Path, number: u32) -> PathBuf {
    let name = path.file_name().expect("a target without a name is refused").as_encoded_bytes();
    folder_of(path).join(format!(".tensorop-{:016x}-{number}", fnv1a(name)))
}

/// Calls `make` with temporary names beside `path` until one is free: the shared ones, then some that no other process
/// is likely to try.
fn fresh<T>(path: &Path, make: impl Fn(&Path) -> io::Result<T>) -> io::Result<(T, PathBuf)> {
    for name in (0..SHARED_NAMES).map(|number| shared_name(path, number)) {
        match make(&name) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            done => return done.map(|made| (made, name)),
        }
    }
    let made = tempfile::Builder::new().prefix(".tensorop-").make_in(folder_of(path), make)?;
    made.keep().map_err(|refused| refused.error)
}
