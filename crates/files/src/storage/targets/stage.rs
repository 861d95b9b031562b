//! A folder that is made beside its target and gets the target's name when it is complete.
//!
//! Each file is written in a second folder and renamed. So several processes on several machines may fill a stage, any
//! process may be killed, and each file in the stage is complete.

use std::fs::{self, File, Metadata, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

use tempfile::{NamedTempFile, TempPath};

use super::signals;
use crate::storage::key_store::{Commit, WritableStore};
use crate::storage::platform::{copy_mode, exchange, is_open_as, open_any, open_to_lock, same_file, sync_all_of};
use crate::storage::read_at::Stamp;
use tensorop_kernels::error::{Context, Result, bail};
use tensorop_kernels::parallel::locked;

const STORE: &str = "store";

/// For files without their final names.
const NEW: &str = "new";

/// The stages that a target may have at once; few, so that remains are found by name.
const SHARED_NAMES: u32 = 8;

/// The maximum bytes of a target's name in a stage's name.
const MAX_NAME: usize = 200;

#[derive(Debug)]
pub struct NamedTarget {
    pub label: String,
    /// With symbolic links resolved.
    pub path: PathBuf,
    /// The metadata of the file that will be replaced.
    pub existing: Option<Box<Metadata>>,
    /// Whether a file that appears during the run must stay.
    pub(crate) no_clobber: bool,
    /// Files whose presence lets a folder be replaced.
    pub(crate) marks: &'static [&'static str],
    /// The missing folders on the way to the target.
    pub(crate) missing: Vec<PathBuf>,
}

impl NamedTarget {
    /// Returns whether a folder that appeared since the start may be replaced.
    pub(crate) fn may_replace_new(&self) -> bool {
        !self.no_clobber && has_mark(&self.path, self.marks)
    }

    pub(crate) fn failed(&self) -> String {
        format!("{}: cannot be put in place", self.label)
    }
}

pub(crate) fn has_mark(folder: &Path, marks: &[&str]) -> bool {
    marks.iter().any(|mark| folder.join(mark).is_file())
}

/// A folder that is being made.
#[derive(Debug)]
pub struct Stage {
    path: PathBuf,
    new: PathBuf,
    /// Keeps other processes from removing the stage as stale.
    lock: Option<File>,
    /// Whether files are synced before they get names.
    is_synced: bool,
}

pub(crate) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Returns `.NAME.REST` beside a target NAME.
pub fn hidden_name(target: &Path, rest: &str) -> io::Result<PathBuf> {
    let name = target.file_name().ok_or_else(|| io::Error::other("it has no name"))?.to_string_lossy();
    let end = name.char_indices().map(|(at, c)| at + c.len_utf8()).take_while(|end| *end <= MAX_NAME).last();
    Ok(folder_of(target).join(format!(".{}.{rest}", &name[..end.unwrap_or(0)])))
}

/// Returns whether a name is one that this program gives to unfinished files and folders.
pub fn is_unfinished(name: &str) -> bool {
    let is_stage =
        |name: &str| name.strip_suffix(".tmp").is_some_and(|name| name.ends_with(|c: char| c.is_ascii_digit()));
    let ends = name.ends_with(".tensorop") || name.ends_with(".tensorop.gone") || is_stage(name);
    name.starts_with(".tensorop-") || name.starts_with('.') && ends
}

impl Stage {
    /// Also removes stale stages.
    pub fn create(target: &Path) -> io::Result<Self> {
        // A signal removes the stage from the moment of its creation on.
        let begun = Arc::new(Mutex::new(None));
        let last = Arc::clone(&begun);
        signals::call_when_ended(move || {
            let begun = locked(&last);
            begun.iter().for_each(|path: &PathBuf| remove(path));
            // It stays locked, so that no stage is made between this and the end.
            mem::forget(begun);
        });
        let paths = (0..SHARED_NAMES).map(|number| hidden_name(target, &format!("{number}.tmp")));
        let paths = paths.collect::<io::Result<Vec<_>>>()?;
        // The second pass retries names that another process may have freed.
        for (number, path) in paths.iter().enumerate().chain(paths.iter().enumerate()) {
            remove_left(path);
            let mut begun = locked(&begun);
            match fs::create_dir(path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                made => made?,
            }
            *begun = Some(path.clone());
            // Another process may have removed the stage as stale before it was locked.
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
            paths[number + 1..].iter().for_each(|path| remove_left(path));
            return Ok(stage);
        }
        Err(io::Error::other("too many outputs of that name are being written"))
    }

    /// A stage that several processes share, with synced files. One process must call
    /// [`make_folders`](Self::make_folders).
    pub fn shared(path: PathBuf) -> Self {
        Self { new: path.join(NEW), path, lock: None, is_synced: true }
    }

    /// The same stage with a process's own folder for new files.
    pub fn within(&self, own: &OwnFolder) -> Self {
        Self { new: own.path.clone(), path: self.path.clone(), lock: None, is_synced: true }
    }

    pub(crate) fn within_itself(&self) -> io::Result<Self> {
        let path = self.path.join("between");
        let stage = Self { new: path.join(NEW), path, lock: None, is_synced: false };
        stage.make_folders()?;
        Ok(stage)
    }

    pub fn make_folders(&self) -> io::Result<()> {
        fs::create_dir_all(&self.new)?;
        fs::create_dir_all(self.store())
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn store(&self) -> PathBuf {
        self.path.join(STORE)
    }

    pub(crate) fn size_of(&self, key: &str) -> Option<u64> {
        fs::metadata(self.store().join(key)).ok().filter(Metadata::is_file).map(|found| found.len())
    }

    /// Writes values into `folder`. The stage is removed with the writer unless it is shared.
    pub fn into_writer(self, folder: PathBuf) -> LocalWriter {
        LocalWriter { stage: self, folder }
    }

    fn prepared(&self, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<TempPath> {
        let mut file = new_file_in(&self.new)?;
        write(file.as_file_mut())?;
        if self.is_synced {
            file.as_file().sync_all()?;
        }
        Ok(file.into_temp_path())
    }

    /// The file gets the name `key` when it is complete.
    pub(crate) fn put_with(&self, key: &str, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
        let done = take_name(self.prepared(write)?, &self.store(), key);
        let is_refused = done.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::PermissionDenied);
        // Windows refuses a rename while another process renames to the same name, which in a shared stage is the same
        // chunk.
        if is_refused && self.lock.is_none() && self.size_of(key).is_some() { Ok(()) } else { done }
    }

    /// Replaces even an output of another run: the last to finish wins.
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
        // The old folder may be the only copy, so the new one is synced before it gets the name.
        sync_all_of(&store)?;
        Ok(signals::deferred(|| self.take_name(path))?)
    }

    fn take_name(&self, path: &Path) -> io::Result<()> {
        const TRIES: usize = 100;
        let store = self.store();
        for n in 0..TRIES {
            match exchange(&store, path) {
                Ok(()) => return Ok(()),
                // Another run has moved the old folder and not yet renamed its own.
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

/// A process's own folder in a shared stage, removed by the process or its successor of the same name.
#[derive(Debug)]
pub struct OwnFolder {
    path: PathBuf,
    /// `None` without locks, where all processes share one folder.
    lock: Option<File>,
}

impl OwnFolder {
    /// Also removes the folders of killed processes.
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

fn lock_name(folder: &Path) -> PathBuf {
    let mut name = folder.as_os_str().to_owned();
    name.push(".lock");
    name.into()
}

/// Writes values into a folder as complete files. Fails if another process has removed the folder.
#[derive(Debug)]
pub struct LocalWriter {
    folder: PathBuf,
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

/// A text that changes with a file or folder: sizes and modification times, and for a folder the number of files and a
/// sum over names, sizes and times in any order. It detects replacement by an older file of the same size.
pub fn stamp(path: &Path) -> io::Result<String> {
    let since = |found: &Metadata| Ok::<_, io::Error>(found.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default());
    let found = fs::metadata(path)?;
    if !found.is_dir() {
        return Ok(of_file(found.len(), found.modified()?));
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

/// Returns the text of a version that other machines find, too; `None` for items in memory.
pub(super) fn stamp_text(stamp: Stamp) -> Option<String> {
    match stamp {
        Stamp::Modified(bytes, time) => Some(of_file(bytes, time.unwrap_or(UNIX_EPOCH))),
        Stamp::Tag([one, other]) => Some(format!("{one:016x}{other:016x}")),
        Stamp::Revision(_) => None,
    }
}

fn of_file(bytes: u64, changed: SystemTime) -> String {
    let since = changed.duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("{bytes} bytes, changed {}.{:09}", since.as_secs(), since.subsec_nanos())
}

/// Changes when a file is lost, added, renamed or resized. A copy has the same number.
pub fn sum_of_sizes(path: &Path) -> io::Result<u64> {
    let mut sum = 0_u64;
    each_file(path, &mut |name, found| {
        sum = sum.wrapping_add(hash_of(name, &[found.len()]));
        Ok(())
    })?;
    Ok(sum)
}

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

pub(crate) fn hash_of(name: &Path, numbers: &[u64]) -> u64 {
    let numbers = numbers.iter().flat_map(|number| number.to_le_bytes());
    fnv1a(&name.as_os_str().as_encoded_bytes().iter().copied().chain(numbers).collect::<Vec<_>>())
}

pub(crate) fn remove_file(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Another thread may still be filling the folder.
pub fn remove(path: &Path) {
    for _ in 0..100 {
        match fs::remove_dir_all(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {}
            Ok(()) | Err(_) => return,
        }
    }
}

fn is_at(open: &File, path: &Path) -> bool {
    is_open_as(open, if cfg!(windows) { fs::metadata(path.join("lock")) } else { fs::symlink_metadata(path) })
}

fn remove_left(path: &Path) {
    if let Ok(left) = open_to_lock(path)
        && left.try_lock().is_ok()
        && is_at(&left, path)
    {
        remove_locked(path, left);
    }
}

/// Windows removes no folder with an open file, so the lock ends first there.
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

/// FNV-1a, the same in every version unlike the hash of the standard library, so later processes find the files of
/// earlier ones.
pub fn fnv1a(bytes: &[u8]) -> u64 {
    let step = |hash: u64, &byte: &u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

/// Locks exclusively, or `shared` with processes that change other parts.
pub fn lock(path: &Path, shared: bool) -> Result<File> {
    loop {
        let file = OpenOptions::new().read(true).write(true).open(path)?;
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            bail!("not a regular file");
        }
        if shared { file.lock_shared() } else { file.lock() }.context("cannot be locked")?;
        if same_file(&metadata, &fs::metadata(path)?) {
            return Ok(file);
        }
    }
}
/// Returns a file under a name of its own, with the mode of new files.
fn new_file_in(folder: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(folder)
}
