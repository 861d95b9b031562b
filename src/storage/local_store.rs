//! A folder as a store of values, each of which is a file that anybody may have put there.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::key_store::{KeyStore, ListableStore, Lock, PreparedValue, ReadableStore, WritableStore};
use super::read_at::{Identity, ReadAt, Stamp};
use super::stage::{self, LocalWriter, Stage};
use crate::error::{Result, bail};

/// A folder whose files are values.
#[derive(Debug)]
pub struct LocalStore {
    folder: PathBuf,
}

impl LocalStore {
    /// Takes a folder as a store. Whether it is there shows when something is asked for.
    pub fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned() }
    }

    fn path(&self, key: &str) -> PathBuf {
        if key.is_empty() { self.folder.clone() } else { self.folder.join(key) }
    }
}

/// Returns `None` for what is not there.
fn if_there<T>(found: io::Result<T>) -> io::Result<Option<T>> {
    match found {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(None),
        found => found.map(Some),
    }
}

impl ReadableStore for LocalStore {
    fn open(&self, key: &str) -> Result<Option<Arc<dyn ReadAt>>> {
        let path = self.path(key);
        // what is no file may not be opened: a pipe would wait for a writer
        match fs::metadata(&path) {
            Ok(found) if found.is_dir() => bail!("is a folder, expected a file"),
            Ok(found) if !found.is_file() => bail!("is no regular file"),
            Ok(_) => {}
            // whoever keeps large files elsewhere leaves links to what is not here yet: that is not a value that is absent
            Err(error) if error.kind() == io::ErrorKind::NotFound => match fs::symlink_metadata(&path) {
                Ok(_) => bail!("is a link to what is not there"),
                Err(_) => return Ok(None),
            },
            Err(error) => return Err(error.into()),
        }
        match File::open(&path) {
            Ok(file) => Ok(Some(Arc::new(file))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn size(&self, key: &str) -> Result<Option<u64>> {
        Ok(if_there(fs::metadata(self.path(key)))?.map(|found| found.len()))
    }

    fn stamp(&self, key: &str) -> Result<Option<Stamp>> {
        Ok(if_there(fs::metadata(self.path(key)))?.map(|found| Stamp::of(&found)))
    }
}

impl ListableStore for LocalStore {
    fn prefixes(&self, prefix: &str) -> Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(self.path(prefix))? {
            let entry = entry?;
            if let Ok(name) = entry.file_name().into_string()
                && entry.path().is_dir()
            {
                names.push(name);
            }
        }
        Ok(names)
    }
}

impl KeyStore for LocalStore {
    fn identity(&self) -> Result<Identity> {
        Ok(Identity::of(&fs::metadata(&self.folder)?))
    }

    fn lock(&self, key: &str, together: bool) -> Result<Lock> {
        Ok(Arc::new(stage::lock(&self.path(key), together)?))
    }

    fn edit(&self, prefix: &str) -> Result<Box<dyn WritableStore>> {
        // beside the store itself, be it named by a link
        let stage = Stage::create(&fs::canonicalize(&self.folder)?)?;
        Ok(Box::new(LocalEdit { writer: stage.writer_to(self.path(prefix)), _stage: stage }))
    }
}

/// A change of files in a folder, which are written beside the store first.
#[derive(Debug)]
struct LocalEdit {
    writer: LocalWriter,
    _stage: Stage,
}

impl WritableStore for LocalEdit {
    fn prepare(&self, key: &str, bytes: &[u8]) -> io::Result<Box<dyn PreparedValue>> {
        self.writer.prepare(key, bytes)
    }

    fn put_if_absent(&self, key: &str, bytes: &[u8]) -> io::Result<bool> {
        self.writer.put_if_absent(key, bytes)
    }

    fn remove(&self, key: &str) -> io::Result<()> {
        self.writer.remove(key)
    }
}
