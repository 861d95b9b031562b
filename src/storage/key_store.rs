//! Values by key: the store of a chunked tensor, which is a folder of files, an object store or, in tests, memory.
//!
//! A *key* is a path of names joined by `/`, such as `layer/c/0/1`. A *prefix* is a path that keys continue after a
//! `/`, like a folder; the empty prefix is the whole store. Readers use [`KeyStore`], writers [`WritableStore`].
//!
//! Every value appears whole or not at all. A value is first [prepared](WritableStore::prepare), which may fail and
//! changes nothing, and then [committed](Commit): a folder renames a file, an object store completes an upload, memory
//! moves a pointer.

use std::any::Any;
use std::fmt::Debug;
use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::Arc;
use std::vec;

use super::read_at::{Identity, Part, ReadAt, Section, Stamp};
use crate::error::{Result, ensure};
use crate::memory;

/// A store whose values can be read and whose keys can be listed.
pub trait KeyStore: Debug + Send + Sync {
    /// Opens a value for reading any range. Returns `None` if the key has no value.
    ///
    /// # Errors
    /// The value cannot be opened, or the key names something else, such as a folder.
    fn open(&self, key: &str) -> Result<Option<Arc<dyn ReadAt>>>;

    /// Opens a value whose part `_first` is read first. Remote stores fetch that part together with the size.
    ///
    /// # Errors
    /// See [`open`](Self::open).
    fn open_for(&self, key: &str, _first: Part) -> Result<Option<Arc<dyn ReadAt>>> {
        self.open(key)
    }

    /// Returns the size of a value in bytes, or `None` if the key has no value.
    fn size(&self, key: &str) -> Result<Option<u64>>;

    /// Returns the current version of a value, or `None` if the key has no value.
    fn stamp(&self, key: &str) -> Result<Option<Stamp>>;

    /// Returns all bytes of a value, or `None` if the key has no value.
    ///
    /// # Errors
    /// The value cannot be read or exceeds `most` bytes, or memory runs out.
    fn get(&self, key: &str, most: u64) -> Result<Option<Vec<u8>>> {
        let Some(value) = self.open(key)? else { return Ok(None) };
        let size = value.size()?;
        ensure!(size <= most, "{size} bytes, at most {most} are read");
        let mut bytes = memory::zeros(usize::try_from(size)?)?;
        value.read_at(&mut bytes, 0)?;
        Ok(Some(bytes))
    }

    /// Returns the names directly below a prefix that are prefixes themselves (subfolders), in any order. Names that
    /// are not Unicode and links to an enclosing folder are omitted.
    ///
    /// # Errors
    /// The prefix cannot be listed.
    fn prefixes(&self, prefix: &str) -> Result<Vec<String>>;

    /// Returns the names directly below a prefix that are not prefixes (files), in any order. Names of files and
    /// folders that are not Unicode are included with replacement characters. They show that something exists and
    /// cannot be opened.
    ///
    /// # Errors
    /// The prefix cannot be listed.
    fn names(&self, prefix: &str) -> Result<Vec<String>>;

    /// Returns whether each read costs a request to a server, so that callers avoid needless and repeated reads.
    fn costs_requests(&self) -> bool {
        false
    }

    /// Returns the store's folder with links resolved; `None` if it is not a local folder.
    fn folder(&self) -> Option<PathBuf> {
        None
    }

    /// Returns the identity of the store.
    fn identity(&self) -> Result<Identity>;

    /// Locks a value for a change, until the last clone of the lock is dropped: exclusively, or `shared` with processes
    /// that change other parts.
    ///
    /// # Errors
    /// The value does not exist or cannot be locked.
    fn lock(&self, key: &str, shared: bool) -> Result<Lock>;

    /// Begins a change of values below a prefix. Keys are relative to the prefix. Values that are not committed when
    /// the returned store is dropped leave nothing behind.
    ///
    /// # Errors
    /// The store is read-only.
    fn edit(&self, prefix: &str) -> Result<Box<dyn WritableStore>>;
}

/// A store whose values can be written.
pub trait WritableStore: Debug + Send + Sync {
    /// Writes a value and returns its commit, so that everything that can fail has failed before the commit. A commit
    /// that is dropped leaves nothing behind.
    ///
    /// # Errors
    /// Writing fails.
    fn prepare(&self, key: &str, bytes: &[u8]) -> io::Result<Commit>;

    /// Sets the value of a key, replacing any old value.
    ///
    /// # Errors
    /// Writing or the commit fails.
    fn put(&self, key: &str, bytes: &[u8]) -> io::Result<()> {
        self.prepare(key, bytes)?()
    }

    /// Sets the value of a key that has none and returns whether it had none. Only one of several concurrent calls
    /// succeeds.
    ///
    /// # Errors
    /// Writing fails.
    fn put_if_absent(&self, key: &str, bytes: &[u8]) -> io::Result<bool>;

    /// Removes the value of a key, if it has one.
    ///
    /// # Errors
    /// The value cannot be removed.
    fn remove(&self, key: &str) -> io::Result<()>;
}

/// Publishes a prepared value under its key, replacing any old value.
pub type Commit = Box<dyn FnOnce() -> io::Result<()> + Send>;

/// A lock, which ends when the last clone is dropped.
pub type Lock = Arc<dyn Any + Send + Sync>;

/// Joins a prefix and a name to a key or a longer prefix.
pub fn join(prefix: &str, name: &str) -> String {
    if prefix.is_empty() { name.to_owned() } else { format!("{prefix}/{name}") }
}

/// Returns the keys of all values below a prefix, relative to it: first the names directly below, sorted, then those of
/// each subfolder. Names for which `is_shown` is false are omitted.
///
/// # Errors
/// A prefix cannot be listed, or there are more than 2^24 keys.
pub fn keys_below(store: &dyn KeyStore, prefix: &str, is_shown: fn(&str) -> bool) -> Result<Vec<String>> {
    /// More keys and prefixes than this mean that links form a cycle.
    const MAX_VALUE_BYTES: usize = 1 << 24;
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
        ensure!(keys.len() + pending.len() <= MAX_VALUE_BYTES, "more than {MAX_VALUE_BYTES} files and folders");
    }
    Ok(keys)
}

/// The bytes of all values below a prefix, concatenated in the order of [`keys_below`]. Hidden values are omitted,
/// except those of Zarr.
#[derive(Debug)]
pub struct AllValues {
    store: Arc<dyn KeyStore>,
    prefix: String,
    keys: Option<vec::IntoIter<String>>,
    current: Option<Section<Arc<dyn ReadAt>>>,
}

impl AllValues {
    /// Reads the values below `prefix`. Keys are listed at the first read.
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

#[cfg(test)]
pub(crate) mod tests;
