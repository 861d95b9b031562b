//! Values by key. A tensor in chunks lies in such a store, which is a folder of files, an object store or, in tests,
//! memory.
//!
//! A *key* is a path of names with `/` between them, such as `layer/c/0/1`. A *prefix* is such a path of which keys follow
//! after a `/`, as they do in a folder; the store itself is the empty prefix. An opened tensor holds a [`KeyStore`], which is
//! read; a [`WritableStore`] is written to.
//!
//! Every value appears whole or not at all. How that is done is the store's own affair, so no trait has a rename: a value
//! is [prepared](WritableStore::prepare), which may fail and changes nothing, and then [committed](Commit) under its
//! key. In a folder that is a file of another name that is renamed; an object store completes an upload; memory moves a
//! pointer.

use std::any::Any;
use std::fmt::Debug;
use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::Arc;
use std::vec;

use super::read_at::{Identity, Part, ReadAt, Section, Stamp};
use crate::error::{Result, ensure};
use crate::memory;

/// A store whose values can be read, and whose keys can be listed: what an opened tensor in chunks lies in.
pub trait KeyStore: Debug + Send + Sync {
    /// Opens the value of a key, of which any range can be read then. Returns `None` if the key has no value.
    ///
    /// # Errors
    /// The key names something that is no value, such as a folder, which is an error and not `None`; or the value cannot be
    /// opened.
    fn open(&self, key: &str) -> Result<Option<Arc<dyn ReadAt>>>;

    /// Opens the value of a key as [`open`](Self::open) does, if a part of it is wanted first: where each read is a request to
    /// a server, that part comes with the size.
    ///
    /// # Errors
    /// Those of [`open`](Self::open).
    fn open_for(&self, key: &str, _first: Part) -> Result<Option<Arc<dyn ReadAt>>> {
        self.open(key)
    }

    /// Returns the size of a value in bytes, or `None` if the key has none.
    ///
    /// # Errors
    /// Those of [`open`](Self::open).
    fn size(&self, key: &str) -> Result<Option<u64>>;

    /// Returns the version that a value has now, or `None` if the key has none.
    ///
    /// # Errors
    /// Those of [`open`](Self::open).
    fn stamp(&self, key: &str) -> Result<Option<Stamp>>;

    /// Returns all bytes of a value, or `None` if the key has none.
    ///
    /// # Errors
    /// Those of [`open`](Self::open); the value has more than `most` bytes; there is not enough memory.
    fn get(&self, key: &str, most: u64) -> Result<Option<Vec<u8>>> {
        let Some(value) = self.open(key)? else { return Ok(None) };
        let size = value.size()?;
        ensure!(size <= most, "{size} bytes, at most {most} are read");
        let mut bytes = memory::zeros(usize::try_from(size)?)?;
        value.read_at(&mut bytes, 0)?;
        Ok(Some(bytes))
    }

    /// Returns the names, in any order, that follow a prefix and are prefixes themselves: the folders in a folder. Left out are
    /// names that are not Unicode, and links to a folder that they lie in.
    ///
    /// # Errors
    /// A prefix that cannot be listed.
    fn prefixes(&self, prefix: &str) -> Result<Vec<String>>;

    /// Returns the names, in any order, that follow a prefix and are not prefixes themselves: all in a folder that is no
    /// folder. Names that are not Unicode are among them, of folders too, with other letters in the place of what is not: they
    /// show that something is there, and cannot be opened.
    ///
    /// # Errors
    /// A prefix that cannot be listed.
    fn names(&self, prefix: &str) -> Result<Vec<String>>;

    /// Returns whether each read is a request to a server, so that nothing is asked for in vain or twice.
    fn costs_requests(&self) -> bool {
        false
    }

    /// Returns the folder that the store is, without links on the way; `None` if it is no folder of this machine.
    fn folder(&self) -> Option<PathBuf> {
        None
    }

    /// Returns what tells this store from all others.
    ///
    /// # Errors
    /// The system's.
    fn identity(&self) -> Result<Identity>;

    /// Locks a value for a change of what it describes, until the last clone of the lock is dropped: exclusively, or
    /// `together` with processes that change other parts.
    ///
    /// # Errors
    /// There is no such value, or it cannot be locked.
    fn lock(&self, key: &str, shared: bool) -> Result<Lock>;

    /// Begins a change of values whose keys follow a prefix; the keys of the returned store are counted from there.
    /// Values that are prepared and not committed when it is dropped leave nothing behind.
    ///
    /// # Errors
    /// A store that cannot be written to.
    fn edit(&self, prefix: &str) -> Result<Box<dyn WritableStore>>;
}

/// A store whose values can be written.
pub trait WritableStore: Debug + Send + Sync {
    /// Writes what is to be the value of a key, so that all that can fail has failed before
    /// the commit that is returned. If that is dropped, it leaves nothing behind.
    ///
    /// # Errors
    /// Writing fails.
    fn prepare(&self, key: &str, bytes: &[u8]) -> io::Result<Commit>;

    /// Gives a key a value, in place of the one that it may have.
    ///
    /// # Errors
    /// Those of [`prepare`](Self::prepare) and of the commit.
    fn put(&self, key: &str, bytes: &[u8]) -> io::Result<()> {
        self.prepare(key, bytes)?()
    }

    /// Gives a key a value if it has none, and returns whether it had none. If several processes do so at once, only one
    /// succeeds.
    ///
    /// # Errors
    /// Writing fails.
    fn put_if_absent(&self, key: &str, bytes: &[u8]) -> io::Result<bool>;

    /// Takes the value of a key away, if it has one.
    ///
    /// # Errors
    /// The value cannot be removed.
    fn remove(&self, key: &str) -> io::Result<()>;
}

/// Puts a value that is written under its key, in place of the one that is there. It fails if the store cannot do it.
pub type Commit = Box<dyn FnOnce() -> io::Result<()> + Send>;

/// A lock, which ends when the last clone is dropped.
pub type Lock = Arc<dyn Any + Send + Sync>;

/// Returns the key, or the prefix, of a name after a prefix.
pub fn join(prefix: &str, name: &str) -> String {
    if prefix.is_empty() { name.to_owned() } else { format!("{prefix}/{name}") }
}

/// Returns the keys of all values that follow a prefix, counted from there: those of a prefix in the order of their names, and
/// then those of its own prefixes. Names that `is_shown` refuses are left out.
///
/// # Errors
/// A prefix cannot be listed.
pub fn keys_below(store: &dyn KeyStore, prefix: &str, is_shown: fn(&str) -> bool) -> Result<Vec<String>> {
    /// The most keys and prefixes: where there are more, links most likely lead in circles.
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
        // the last is taken first
        pending.extend(sorted(store.prefixes(&within)?).into_iter().rev());
        ensure!(keys.len() + pending.len() <= MAX_VALUE_BYTES, "more than {MAX_VALUE_BYTES} files and folders");
    }
    Ok(keys)
}

/// The bytes of all values whose keys follow a prefix, one value after the other in the order of [`keys_below`]. Hidden ones
/// are left out, but for those of Zarr.
#[derive(Debug)]
pub struct AllValues {
    store: Arc<dyn KeyStore>,
    prefix: String,
    /// What is still to be read; `None` before the first byte is wanted.
    keys: Option<vec::IntoIter<String>>,
    /// The value that is being read.
    current: Option<Section<Arc<dyn ReadAt>>>,
}

impl AllValues {
    /// Reads the values whose keys follow `prefix`. Nothing is listed before the first byte is wanted.
    pub fn new(store: Arc<dyn KeyStore>, prefix: &str) -> Self {
        Self { store, prefix: prefix.to_owned(), keys: None, current: None }
    }

    /// Opens the next value, and returns whether there is one.
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
