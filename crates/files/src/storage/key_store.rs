//! Values by key: the store of a chunked tensor, which is a folder, an object store or, in tests, memory.
//!
//! A *key* is a path such as `layer/c/0/1`; a *prefix* is a path above keys. Every value appears whole or not at all:
//! it is [prepared](WritableStore::prepare), which may fail, and then [committed](Commit), which renames a file or
//! completes an upload.

use std::any::Any;
use std::fmt::Debug;
use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::Arc;
use std::vec;

use super::read_at::{Identity, ReadAt, Section, Stamp};
use super::requests::Part;
use tensorop_kernels::error::{Result, ensure};
use tensorop_kernels::memory;

/// A store that can be read and listed.
pub trait KeyStore: Debug + Send + Sync {
    /// Opens a value; `None` if it does not exist. A folder is an error.
    fn open(&self, key: &str) -> Result<Option<Arc<dyn ReadAt>>>;

    /// Opens a value and reads part `_first` with it, which saves remote stores a request.
    fn open_for(&self, key: &str, _first: Part) -> Result<Option<Arc<dyn ReadAt>>> {
        self.open(key)
    }

    fn size(&self, key: &str) -> Result<Option<u64>>;

    fn stamp(&self, key: &str) -> Result<Option<Stamp>>;

    /// Fails if the value exceeds `most` bytes.
    fn get(&self, key: &str, most: u64) -> Result<Option<Vec<u8>>> {
        let Some(value) = self.open(key)? else { return Ok(None) };
        let size = value.size()?;
        ensure!(size <= most, "{size} bytes, expected at most {most}");
        let mut bytes = memory::zeros(usize::try_from(size)?)?;
        value.read_at(&mut bytes, 0)?;
        Ok(Some(bytes))
    }

    /// Lists the subfolders of a prefix in any order, without names that are not Unicode and links to an enclosing
    /// folder.
    fn prefixes(&self, prefix: &str) -> Result<Vec<String>>;

    /// Lists the other names in any order. Names that are not Unicode, of folders too, have replacement characters:
    /// they show that something exists.
    fn names(&self, prefix: &str) -> Result<Vec<String>>;

    fn costs_requests(&self) -> bool {
        false
    }

    /// The local folder of the store, with links resolved.
    fn folder(&self) -> Option<PathBuf> {
        None
    }

    fn identity(&self) -> Result<Identity>;

    /// Locks a value until the last clone of the lock is dropped: exclusively, or `shared` with processes that change
    /// other parts.
    fn lock(&self, key: &str, shared: bool) -> Result<Lock>;

    /// Begins a change of values below a prefix; keys are relative to it. Values that are not committed leave nothing
    /// behind.
    fn edit(&self, prefix: &str) -> Result<Box<dyn WritableStore>>;
}

/// A store that can be written.
pub trait WritableStore: Debug + Send + Sync {
    /// Writes a value so that only the commit remains. A commit that is dropped leaves nothing behind.
    fn prepare(&self, key: &str, bytes: &[u8]) -> io::Result<Commit>;

    fn put(&self, key: &str, bytes: &[u8]) -> io::Result<()> {
        self.prepare(key, bytes)?()
    }

    /// Returns whether the key had no value. Only one of several concurrent calls succeeds.
    fn put_if_absent(&self, key: &str, bytes: &[u8]) -> io::Result<bool>;

    fn remove(&self, key: &str) -> io::Result<()>;
}

/// Publishes a prepared value, replacing any old one.
pub type Commit = Box<dyn FnOnce() -> io::Result<()> + Send>;

/// A lock, held until the last clone is dropped.
pub type Lock = Arc<dyn Any + Send + Sync>;

pub fn join(prefix: &str, name: &str) -> String {
    if prefix.is_empty() { name.to_owned() } else { format!("{prefix}/{name}") }
}

/// Lists all keys below a prefix, relative to it: first the names directly below, sorted, then those of each subfolder.
pub fn keys_below(store: &dyn KeyStore, prefix: &str, is_shown: fn(&str) -> bool) -> Result<Vec<String>> {
    /// More keys and prefixes than this mean that links form a cycle.
    const MAX_KEYS: usize = 1 << 24;
    let (mut keys, mut pending) = (Vec::new(), vec![String::new()]);
    while let Some(own) = pending.pop() {
        let within = if own.is_empty() { prefix.to_owned() } else { join(prefix, &own) };
        let sorted = |mut names: Vec<String>| {
            names.retain(|name| is_shown(name));
            names.sort();
            names.into_iter().map(|name| join(&own, &name)).collect::<Vec<_>>()
        };
        keys.extend(sorted(store.names(&within)?));
        // `pending` is a stack, so the first prefix goes on top.
        pending.extend(sorted(store.prefixes(&within)?).into_iter().rev());
        ensure!(keys.len() + pending.len() <= MAX_KEYS, "more than {MAX_KEYS} files and folders");
    }
    Ok(keys)
}

/// All values below a prefix, concatenated in the order of [`keys_below`], without hidden ones other than Zarr's.
#[derive(Debug)]
pub struct AllValues {
    store: Arc<dyn KeyStore>,
    prefix: String,
    keys: Option<vec::IntoIter<String>>,
    current: Option<Section<Arc<dyn ReadAt>>>,
}

impl AllValues {
    /// Keys are listed at the first read.
    pub fn new(store: Arc<dyn KeyStore>, prefix: &str) -> Self {
        Self { store, prefix: prefix.to_owned(), keys: None, current: None }
    }

    fn open_next(&mut self) -> Result<bool> {
        let keys = match &mut self.keys {
            Some(keys) => keys,
            keys => {
                let is_shown = |name: &str| !name.starts_with('.') || name.starts_with(".z");
                keys.insert(keys_below(&*self.store, &self.prefix, is_shown)?.into_iter())
            }
        };
        let Some(key) = keys.next() else { return Ok(false) };
        let value = self.store.open(&join(&self.prefix, &key))?;
        self.current =
            value.map(|value| Ok::<_, io::Error>(Section::new(Arc::clone(&value), 0, value.size()?))).transpose()?;
        Ok(true)
    }
}

impl Read for AllValues {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.current.as_mut().map_or(Ok(0), |value| value.read(out))?;
            if read > 0 || out.is_empty() || !self.open_next().map_err(io::Error::other)? {
                return Ok(read);
            }
        }
    }
}
