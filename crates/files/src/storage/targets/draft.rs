//! Drafts: a file that is written beside its target until it is complete, the folders that it needs, and the values of
//! a store.

use std::fmt::Debug;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use super::signals;
use super::stage::{NamedTarget, Stage, fnv1a, folder_of, remove_file};
use crate::storage::platform::{copy_mode, is_open_as, link, open_folder, unnamed};
use crate::storage::read_at::{ReadAt, Section};
use tensorop_kernels::error::Result;

/// A file in the folder of its target. On Linux it has no name, so nothing remains even after SIGKILL. Elsewhere it has
/// a temporary name, which is removed when the draft is dropped or a signal ends the program.
///
/// A draft that replaces a file has a temporary name for an instant on every system, because an unnamed file can be
/// linked but not renamed. If SIGKILL leaves it, the next output to the target removes it, unless a live process holds
/// its lock. (Process ids are reused, locks are not.)
#[derive(Debug)]
pub struct Draft {
    pub(crate) file: File,
    named: Option<PathBuf>,
}

impl Draft {
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        let Some(file) = unnamed(folder_of(path)) else { return Self::named(path) };
        let file = file?;
        // The file may get a temporary name later. Without a lock another process would remove it as stale.
        let _ = file.try_lock();
        Ok(Self { file, named: None })
    }

    /// Another writer may remove the draft as stale before it is locked. So the name is looked up again after the lock,
    /// and the next name is tried if it has changed hands.
    pub(crate) fn named(path: &Path) -> io::Result<Self> {
        let (file, name) = fresh(path, |name| {
            let file = OpenOptions::new().read(true).write(true).create_new(true).open(name)?;
            let taken = matches!(file.try_lock(), Err(TryLockError::WouldBlock));
            let is_own = !taken && is_open_as(&file, fs::symlink_metadata(name));
            if is_own { Ok(file) } else { Err(io::ErrorKind::AlreadyExists.into()) }
        })?;
        let left = name.clone();
        signals::call_when_ended(move || drop(fs::remove_file(&left)));
        Ok(Self { file, named: Some(name) })
    }

    /// Returns the folder to sync if a file was replaced.
    pub(crate) fn publish(&mut self, target: &NamedTarget) -> Result<Option<File>> {
        let (path, mut replaces) = (&target.path, target.existing.is_some());
        if let Some(existing) = &target.existing {
            copy_mode(&self.file, existing)?;
        }
        if !replaces {
            // A hard link fails if the file exists; a rename would replace it.
            let linked = match &self.named {
                None => Some(link(&self.file, path)),
                Some(name) => target.no_clobber.then(|| fs::hard_link(name, path)),
            };
            match linked {
                // A file has appeared since the check. It is replaced like one that existed before.
                Some(Err(error)) if error.kind() == io::ErrorKind::AlreadyExists && !target.no_clobber => {
                    replaces = true;
                }
                Some(done) => return Ok(done.map(|()| None)?),
                None => {}
            }
        }
        let mut folder = None;
        if replaces {
            // Syncing is slow, so it happens before the draft has a name.
            self.file.sync_all()?;
            folder = open_folder(folder_of(path))?;
        }
        // A signal between the two steps would leave the temporary name behind.
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

/// The temporary names that all writers of one target share, so that the remains of killed writers are found without
/// searching a folder of perhaps a million files. Each name costs every output a system call, and more than eight
/// writers are rare.
pub(crate) const SHARED_NAMES: u32 = 8;

/// A temporary name that is the same for all writers of a target. It is a hash because the name with a suffix could
/// exceed 255 bytes. Locks keep targets of equal hashes apart.
pub(crate) fn shared_name(path: &Path, number: u32) -> PathBuf {
    let name = path.file_name().expect("a target without a name is refused").as_encoded_bytes();
    folder_of(path).join(format!(".tensorop-{:016x}-{number}", fnv1a(name)))
}

/// Tries the shared names, then random ones.
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

/// The folders that an output found missing. Empty ones are removed on drop, unless they are kept. Of several outputs
/// that share a folder, only the last to fail finds it empty, so each removes all that it found missing.
#[derive(Debug)]
pub struct MadeFolders {
    /// Outer folders first.
    missing: Vec<PathBuf>,
}

/// Returns the missing ancestors of `folder` and itself, outer ones first.
pub(crate) fn missing_folders(folder: &Path) -> Vec<PathBuf> {
    let is_missing = |folder: &&Path| !folder.as_os_str().is_empty() && fs::symlink_metadata(folder).is_err();
    let mut missing: Vec<_> = folder.ancestors().take_while(is_missing).map(Path::to_owned).collect();
    missing.reverse();
    missing
}

impl MadeFolders {
    pub(crate) fn make(missing: &[PathBuf]) -> io::Result<Self> {
        let made = Self { missing: missing.to_vec() };
        made.missing.last().map_or(Ok(()), fs::create_dir_all)?;
        Ok(made)
    }

    /// The removal runs after callbacks that were registered earlier.
    pub(crate) fn remove_when_ended(&self) {
        if !self.missing.is_empty() {
            let missing = self.missing.clone();
            signals::call_when_ended(move || remove(&missing));
        }
    }

    /// Keeps the folders, which hold a complete output.
    pub fn keep(&mut self) {
        self.missing.clear();
    }
}

impl Drop for MadeFolders {
    fn drop(&mut self) {
        remove(&self.missing);
    }
}

fn remove(folders: &[PathBuf]) {
    folders.iter().rev().for_each(|folder| drop(fs::remove_dir(folder)));
}

/// A store in the making. Its [seals](Self::seal), which come last, let readers recognize it.
pub trait StoreDraft: Debug + Send + Sync {
    /// Sets the value of a key, whole or not at all.
    fn put(&self, key: &str, bytes: &[u8]) -> io::Result<()>;

    /// Copies a value of `bytes` bytes, in the kernel where possible. `from` must be newly opened.
    fn put_from(&self, key: &str, from: &dyn ReadAt, bytes: usize) -> io::Result<()>;

    fn size(&self, key: &str) -> io::Result<Option<u64>>;

    fn remove(&self, key: &str) -> io::Result<()>;

    /// Sets a value that lets readers recognize the store, unless it has that size. Stores may delay seals, and write
    /// the first one last.
    fn seal(&self, key: &str, bytes: &[u8]) -> io::Result<()>;

    /// Returns whether a key has or will get a [seal](Self::seal) of `bytes` bytes.
    fn is_sealed(&self, key: &str, bytes: u64) -> io::Result<bool>;

    /// Begins a folder for intermediate files.
    fn between(&self) -> io::Result<Stage>;
}

impl StoreDraft for Stage {
    fn put(&self, key: &str, bytes: &[u8]) -> io::Result<()> {
        self.put_with(key, |file| file.write_all(bytes))
    }

    fn put_from(&self, key: &str, from: &dyn ReadAt, bytes: usize) -> io::Result<()> {
        self.put_with(key, |file| {
            let bytes = bytes as u64;
            let copied = match from.as_file() {
                // The file has no other reader, so its cursor is at the beginning.
                Some(from) => io::copy(&mut from.take(bytes), file)?,
                None => io::copy(&mut Section::new(from, 0, bytes), file)?,
            };
            if copied == bytes { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
        })
    }

    fn size(&self, key: &str) -> io::Result<Option<u64>> {
        Ok(self.size_of(key))
    }

    fn remove(&self, key: &str) -> io::Result<()> {
        remove_file(&self.store().join(key))
    }

    // The folder gets its name as a whole, so its files may appear in any order.
    fn seal(&self, key: &str, bytes: &[u8]) -> io::Result<()> {
        if self.is_sealed(key, bytes.len() as u64)? { Ok(()) } else { self.put(key, bytes) }
    }

    fn is_sealed(&self, key: &str, bytes: u64) -> io::Result<bool> {
        Ok(self.size_of(key) == Some(bytes))
    }

    fn between(&self) -> io::Result<Stage> {
        self.within_itself()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_missing_and_is_empty_goes() {
        let folder = tempfile::tempdir().expect("a folder");
        let deep = folder.path().join("a/b/c");
        let missing = missing_folders(&deep);
        assert_eq!(missing, ["a", "a/b", "a/b/c"].map(|name| folder.path().join(name)));
        drop(MadeFolders::make(&missing).expect("made"));
        assert!(folder.path().exists() && !folder.path().join("a").exists());
        let made = MadeFolders::make(&missing).expect("made");
        fs::write(folder.path().join("a/file"), "").expect("written");
        drop(made);
        assert!(folder.path().join("a/file").exists() && !folder.path().join("a/b").exists());
        let mut made = MadeFolders::make(&missing).expect("made");
        made.keep();
        drop(made);
        assert!(deep.exists() && missing_folders(&deep).is_empty());
    }
}
