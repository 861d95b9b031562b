//! Makes a folder beside its target, which takes the target's name when it is complete.
//!
//! Every file in it appears whole: it is written to a name of its own in a folder beside, and renamed. So it may be made
//! by several processes at once, on several machines, of which any may be killed; what is there is done. And nothing but
//! such files is ever in it: what a killed process left lies beside, and goes with the rest of the stage.

use std::fs::{self, File, Metadata, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::UNIX_EPOCH;

use tempfile::TempPath;

use super::key_store::{Commit, WritableStore};
use super::named_target::NamedTarget;
use super::platform::{copy_mode, exchange, is_open_as, open_any, open_to_lock, same_file, sync_all_of, tempfile_in};
use super::signals;
use crate::error::{Context, Result, bail};
use crate::parallel::locked;

/// The folder in a stage that takes the target's name.
const STORE: &str = "store";

/// The folder in a stage in which files are written before they have their names.
const NEW: &str = "new";

/// The number of stages that one target may have at once. There are few, so that what killed processes left is found again
/// by its name.
const SHARED_NAMES: u32 = 8;

/// The most bytes of a target's name that go into the names of its stages, so that no file system finds those too long.
const MAX_NAME: usize = 200;

/// A folder that is being made.
#[derive(Debug)]
pub struct Stage {
    path: PathBuf,
    /// The folder in which files are written before they have their names.
    new: PathBuf,
    /// The lock that a stage in use has, so that no other process takes it for left behind.
    lock: Option<File>,
    /// Whether files are on the disk before they have their names.
    is_synced: bool,
}

/// Returns the folder that a path lies in.
pub(super) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Returns the path `.NAME.REST` beside a target of that name.
///
/// # Errors
/// A target that has no name, such as the root of the file system.
pub fn hidden_name(target: &Path, rest: &str) -> io::Result<PathBuf> {
    let name = target.file_name().ok_or_else(|| io::Error::other("it has no name"))?.to_string_lossy();
    let end = name.char_indices().map(|(at, c)| at + c.len_utf8()).take_while(|end| *end <= MAX_NAME).last();
    Ok(folder_of(target).join(format!(".{}.{rest}", &name[..end.unwrap_or(0)])))
}

/// Returns whether a file or a folder has a name that this program gives to what it has not finished.
pub fn is_unfinished(name: &str) -> bool {
    let is_stage =
        |name: &str| name.strip_suffix(".tmp").is_some_and(|name| name.ends_with(|c: char| c.is_ascii_digit()));
    let ends = name.ends_with(".tensorop") || name.ends_with(".tensorop.gone") || is_stage(name);
    name.starts_with(".tensorop-") || name.starts_with('.') && ends
}

impl Stage {
    /// Begins a stage for a target, and removes the stages that killed processes left of the same.
    ///
    /// # Errors
    /// Folders cannot be made; there are as many stages of the target as it may have.
    pub fn create(target: &Path) -> io::Result<Self> {
        // It is known what a signal removes from the moment on at which it is there.
        let begun = Arc::new(Mutex::new(None));
        let last = Arc::clone(&begun);
        signals::call_when_ended(move || locked(&last).iter().for_each(|path: &PathBuf| remove(path)));
        let paths = (0..SHARED_NAMES).map(|number| hidden_name(target, &format!("{number}.tmp")));
        let paths = paths.collect::<io::Result<Vec<_>>>()?;
        // A name that was lost to another process may be free when the others have been tried.
        for (number, path) in paths.iter().enumerate().chain(paths.iter().enumerate()) {
            remove_left(path);
            let mut begun = locked(&begun);
            match fs::create_dir(path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                made => made?,
            }
            *begun = Some(path.clone());
            // Before the stage is locked, another process may take it for left behind, and remove it or make its own.
            let lock = match open_to_lock(path) {
                Ok(lock) if !matches!(lock.try_lock(), Err(TryLockError::WouldBlock)) && is_at(&lock, path) => lock,
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                Ok(_) | Err(_) => {
                    *begun = None;
                    continue;
                }
            };
            let stage = Self { new: path.join(NEW), path: path.clone(), lock: Some(lock), is_synced: false };
            stage.make_folders()?;
            // several runs at once may have been killed
            paths[number + 1..].iter().for_each(|path| remove_left(path));
            return Ok(stage);
        }
        Err(io::Error::other("too many outputs of that name are being written"))
    }

    /// Takes the stage at a path, which several processes share. Its files are on the disk before they have their
    /// names. One of the processes [makes its folders](Self::make_folders).
    pub fn shared(path: PathBuf) -> Self {
        Self { new: path.join(NEW), path, lock: None, is_synced: true }
    }

    /// Returns the same shared stage for a process that writes its files in a folder of its own.
    pub fn within(&self, own: &OwnFolder) -> Self {
        Self { new: own.path.clone(), path: self.path.clone(), lock: None, is_synced: true }
    }

    /// Begins a folder within the stage, which goes with it.
    ///
    /// # Errors
    /// Folders cannot be made.
    pub(super) fn within_itself(&self) -> io::Result<Self> {
        let path = self.path.join("between");
        let stage = Self { new: path.join(NEW), path, lock: None, is_synced: false };
        stage.make_folders()?;
        Ok(stage)
    }

    /// Makes the folders of the stage, as far as they are not there.
    ///
    /// # Errors
    /// A folder cannot be made.
    pub fn make_folders(&self) -> io::Result<()> {
        fs::create_dir_all(&self.new)?;
        fs::create_dir_all(self.store())
    }

    /// Returns the path of the stage.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the path of the folder that takes the target's name.
    pub fn store(&self) -> PathBuf {
        self.path.join(STORE)
    }

    /// Returns the bytes of a file, which was whole when it got its name; `None` if it is not there.
    pub(super) fn size_of(&self, key: &str) -> Option<u64> {
        fs::metadata(self.store().join(key)).ok().filter(Metadata::is_file).map(|found| found.len())
    }

    /// Turns the stage into a writer of values into a folder, which are written in the stage before they have their names
    /// there. The stage goes when the writer does, if no other process has it.
    pub fn into_writer(self, folder: PathBuf) -> LocalWriter {
        LocalWriter { stage: self, folder }
    }

    /// Writes a file that has no name of its own yet.
    fn prepared(&self, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<TempPath> {
        let mut file = tempfile_in(&self.new)?;
        write(file.as_file_mut())?;
        if self.is_synced {
            file.as_file().sync_all()?;
        }
        Ok(file.into_temp_path())
    }

    /// Writes a file into the folder by calling `write`. The file gets the name `key` when it is complete.
    ///
    /// # Errors
    /// The file cannot be written or renamed.
    pub(super) fn put_with(&self, key: &str, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
        let done = take_name(self.prepared(write)?, &self.store(), key);
        let is_refused = done.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::PermissionDenied);
        // Windows refuses the name while another process gives it to a file. That file is the same chunk, since the stage is
        // shared.
        if is_refused && self.lock.is_none() && self.size_of(key).is_some() { Ok(()) } else { done }
    }

    /// Gives the folder the name of its target, in place of what is there now. That may be what another run has put there
    /// since this one began: the last to finish wins.
    ///
    /// # Errors
    /// A folder cannot be renamed; there is by now what may not be replaced.
    pub fn publish(&self, target: &NamedTarget) -> Result<()> {
        let (store, path) = (self.store(), &target.path);
        if target.existing.is_none() {
            match signals::deferred(|| fs::rename(&store, path)) {
                Err(error) if error.kind() == io::ErrorKind::NotFound || !target.may_replace_new() => Err(error)?,
                Err(_) => {}
                Ok(()) => return Ok(()),
            }
        }
        let existing = fs::metadata(path).ok();
        if let Some(existing) = existing.as_ref().or(target.existing.as_deref()) {
            copy_mode(&open_any(&store)?, existing)?;
        }
        // The old folder may be the only copy, so the new one is on the disk before it takes the name.
        sync_all_of(&store)?;
        Ok(signals::deferred(|| self.take_name(path))?)
    }

    /// Gives the folder a name that another folder has now, or had a moment ago.
    fn take_name(&self, path: &Path) -> io::Result<()> {
        /// How often other runs may come between two steps.
        const TRIES: usize = 100;
        let store = self.store();
        for n in 0..TRIES {
            match exchange(&store, path) {
                Ok(()) => return Ok(()),
                // Another run has taken the old folder away and has not put its own there yet.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                // The file system cannot exchange names.
                Err(error) if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => {
                    match fs::rename(path, self.path.join(format!("old.{n}"))) {
                        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                        Ok(()) | Err(_) => {}
                    }
                }
                Err(error) => return Err(error),
            }
            match fs::rename(&store, path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound && path.is_dir() => {}
                done => return done,
            }
        }
        Err(io::Error::other("other runs put their outputs there again and again"))
    }
}

/// A folder of a shared stage in which one process writes its files before they have their names. It goes with the process,
/// or, if that was killed, with the next one that takes a folder of the same name.
#[derive(Debug)]
pub struct OwnFolder {
    path: PathBuf,
    /// The lock file of the folder, by which others see that it is in use. There is none where no lock can be had: then
    /// all processes write in the folder that they share.
    lock: Option<File>,
}

impl OwnFolder {
    /// Takes a folder of that name in the stage at a path, and removes those of processes that were killed.
    ///
    /// # Errors
    /// The folder cannot be made.
    pub fn take(stage: &Path, name: &str) -> io::Result<Self> {
        let new = stage.join(NEW);
        let mut own = Self { path: new.clone(), lock: None };
        for number in 0..SHARED_NAMES {
            let path = new.join(format!("{name}.{number}"));
            let name = lock_name(&path);
            if own.lock.is_some() && !name.exists() {
                continue;
            }
            let lock = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&name)?;
            if lock.try_lock().is_err() || !is_open_as(&lock, fs::metadata(&name)) {
                continue;
            }
            remove(&path);
            let found = Self { path, lock: Some(lock) };
            if own.lock.is_none() {
                fs::create_dir(&found.path)?;
                own = found;
            }
        }
        Ok(own)
    }
}

impl Drop for OwnFolder {
    fn drop(&mut self) {
        if let Some(lock) = self.lock.take() {
            remove(&self.path);
            let _ = remove_file(&lock_name(&self.path));
            drop(lock);
        }
    }
}

/// Returns the path of the lock file of a folder.
fn lock_name(folder: &Path) -> PathBuf {
    let mut name = folder.as_os_str().to_owned();
    name.push(".lock");
    name.into()
}

/// Writes values into a folder, each as a file that is whole before it has its name there. The folder must be there: to
/// write into one that another process has taken away is an error.
#[derive(Debug)]
pub struct LocalWriter {
    folder: PathBuf,
    /// The stage in which files are written. It lies on the same file system.
    stage: Stage,
}

impl WritableStore for LocalWriter {
    fn prepare(&self, key: &str, bytes: &[u8]) -> io::Result<Commit> {
        let file = self.stage.prepared(|file| file.write_all(bytes))?;
        let (folder, key) = (self.folder.clone(), key.to_owned());
        Ok(Box::new(move || take_name(file, &folder, &key)))
    }

    fn put_if_absent(&self, key: &str, bytes: &[u8]) -> io::Result<bool> {
        let file = self.stage.prepared(|file| file.write_all(bytes))?;
        match file.persist_noclobber(self.folder.join(key)) {
            Err(refused) if refused.error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            done => done.map(|()| true).map_err(|refused| refused.error),
        }
    }

    fn remove(&self, key: &str) -> io::Result<()> {
        remove_file(&self.folder.join(key))
    }
}

/// Gives a file the name `key` in a folder, and makes the folders on the way.
fn take_name(file: TempPath, folder: &Path, key: &str) -> io::Result<()> {
    let file = match file.persist(folder.join(key)) {
        Ok(()) => return Ok(()),
        Err(refused) if refused.error.kind() == io::ErrorKind::NotFound => refused.path,
        Err(refused) => return Err(refused.error),
    };
    for (end, _) in key.match_indices('/') {
        match fs::create_dir(folder.join(&key[..end])) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            Ok(()) | Err(_) => {}
        }
    }
    file.persist(folder.join(key)).map_err(|refused| refused.error)
}

/// Returns a text that tells whether a file has changed: its size and the time of its last change. For a folder that is the
/// number and the size of all files in it, and a sum over their names, sizes and times, which does not depend on the order
/// in which the system lists them. So a file that was lost, renamed, or replaced by an older one of the same size is told,
/// and nothing is read but what the newest of the times would need as well.
///
/// # Errors
/// A folder cannot be read.
pub fn stamp(path: &Path) -> io::Result<String> {
    let since = |found: &Metadata| Ok::<_, io::Error>(found.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default());
    let found = fs::metadata(path)?;
    if !found.is_dir() {
        let since = since(&found)?;
        return Ok(format!("{} bytes, changed {}.{:09}", found.len(), since.as_secs(), since.subsec_nanos()));
    }
    let (mut sum, mut bytes, mut files) = (0_u64, 0_u64, 0_u64);
    each_file(path, &mut |name, found| {
        sum = sum.wrapping_add(hash_of(name, &[found.len(), since(found)?.as_nanos() as u64]));
        bytes += found.len();
        files += 1;
        Ok(())
    })?;
    Ok(format!("{files} files, {bytes} bytes, {sum:016x}"))
}

/// Returns a number that changes when a file is lost, added, renamed or gets another size: that of a file, or those of a
/// folder. It is the same for a copy.
///
/// # Errors
/// A folder cannot be read.
pub fn sum_of_sizes(path: &Path) -> io::Result<u64> {
    let mut sum = 0_u64;
    each_file(path, &mut |name, found| {
        sum = sum.wrapping_add(hash_of(name, &[found.len()]));
        Ok(())
    })?;
    Ok(sum)
}

/// Calls `each` for a file, or for all files of a folder, with its name there and its metadata, in any order.
fn each_file(path: &Path, each: &mut dyn FnMut(&Path, &Metadata) -> io::Result<()>) -> io::Result<()> {
    let mut pending = vec![path.to_owned()];
    while let Some(file) = pending.pop() {
        let found = fs::metadata(&file)?;
        if found.is_dir() {
            fs::read_dir(&file)?.try_for_each(|entry| entry.map(|entry| pending.push(entry.path())))?;
        } else {
            each(file.strip_prefix(path).unwrap_or(&file), &found)?;
        }
    }
    Ok(())
}

/// Returns a hash of a name and numbers.
pub(super) fn hash_of(name: &Path, numbers: &[u64]) -> u64 {
    let numbers = numbers.iter().flat_map(|number| number.to_le_bytes());
    fnv1a(&name.as_os_str().as_encoded_bytes().iter().copied().chain(numbers).collect::<Vec<_>>())
}

/// Removes a file, if it is there.
///
/// # Errors
/// The file cannot be removed.
pub(super) fn remove_file(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Removes a folder that another thread may be filling meanwhile.
pub fn remove(path: &Path) {
    for _ in 0..100 {
        match fs::remove_dir_all(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {}
            Ok(()) | Err(_) => return,
        }
    }
}

/// Returns whether what is open is what a path leads to now.
fn is_at(open: &File, path: &Path) -> bool {
    is_open_as(open, if cfg!(windows) { fs::metadata(path.join("lock")) } else { fs::symlink_metadata(path) })
}

/// Removes a stage whose process has ended, and its lock with it.
fn remove_left(path: &Path) {
    if let Ok(left) = open_to_lock(path)
        && left.try_lock().is_ok()
        && is_at(&left, path)
    {
        remove_locked(path, left);
    }
}

/// Removes a folder under its lock, where that can be: Windows removes no folder in which a file is open.
fn remove_locked(path: &Path, lock: File) {
    let lock = (!cfg!(windows)).then_some(lock);
    remove(path);
    drop(lock);
}

impl Drop for Stage {
    fn drop(&mut self) {
        if let Some(lock) = self.lock.take() {
            remove_locked(&self.path, lock);
        }
    }
}

/// Returns the FNV-1a hash of some bytes, for names of files and for marks. Unlike the hasher of the standard library,
/// it is the same in every version: a later process must find what an earlier one left.
pub fn fnv1a(bytes: &[u8]) -> u64 {
    let step = |hash: u64, &byte: &u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

/// Locks a file for a change of what it describes: exclusively, or `together` with processes that change other parts.
///
/// # Errors
/// The file cannot be opened or locked.
pub fn lock(path: &Path, shared: bool) -> Result<File> {
    loop {
        let file = OpenOptions::new().read(true).write(true).open(path)?;
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            bail!("no regular file");
        }
        if shared { file.lock_shared() } else { file.lock() }.context("cannot be locked")?;
        if same_file(&metadata, &fs::metadata(path)?) {
            return Ok(file);
        }
    }
}
