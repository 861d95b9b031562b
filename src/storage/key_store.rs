//! Values by key: what a tensor in chunks lies in, be it a folder of files, an object store or [memory](MemoryStore).
//!
//! A *key* is a path of names with `/` between them, such as `layer/c/0/1`. A *prefix* is such a path of which keys follow
//! after a `/`, as they do in a folder; the store itself is the empty prefix. The traits part what is needed to read
//! ([`ReadableStore`]), to look around ([`ListableStore`]) and to write ([`WritableStore`]), as the crate `zarrs_storage`
//! parts them; [`KeyStore`] is what an opened tensor holds.
//!
//! Every value appears whole or not at all. How that is done is the store's own affair, so no trait has a rename: a value
//! is [prepared](WritableStore::prepare), which may fail and changes nothing, and then [committed](PreparedValue::commit)
//! under its key. In a folder that is a file of another name that is renamed; an object store completes an upload; memory
//! moves a pointer.

use std::any::Any;
use std::fmt::Debug;
use std::io;
use std::sync::Arc;

use super::read_at::{Identity, ReadAt, Stamp};
use crate::error::{Error, Result, ensure};
use crate::memory;

/// A store whose values can be read.
pub trait ReadableStore: Debug + Send + Sync {
    /// Opens the value of a key, of which any range can be read then. Returns `None` if the key has no value.
    ///
    /// # Errors
    /// What has that name but is no value, such as a folder, is an error and not `None`; so is a value that cannot be
    /// opened.
    fn open(&self, key: &str) -> Result<Option<Arc<dyn ReadAt>>>;

    /// Returns the size of a value in bytes, or `None` if the key has none.
    ///
    /// # Errors
    /// Those of [`open`](Self::open).
    fn size(&self, key: &str) -> Result<Option<u64>> {
        Ok(self.open(key)?.map(|value| value.size()).transpose()?)
    }

    /// Returns the version that a value has now, or `None` if the key has none.
    ///
    /// # Errors
    /// Those of [`open`](Self::open).
    fn stamp(&self, key: &str) -> Result<Option<Stamp>> {
        Ok(self.open(key)?.map(|value| value.stamp()).transpose()?)
    }

    /// Returns all bytes of a value, or `None` if the key has none.
    ///
    /// # Errors
    /// Those of [`open`](Self::open); a value of more than `most` bytes; not enough memory.
    fn get(&self, key: &str, most: u64) -> Result<Option<Vec<u8>>> {
        let Some(value) = self.open(key)? else { return Ok(None) };
        let size = value.size()?;
        ensure!(size <= most, "{size} bytes, at most {most} are read");
        let mut bytes = memory::zeros(usize::try_from(size)?).map_err(Error::memory)?;
        value.read_at(&mut bytes, 0)?;
        Ok(Some(bytes))
    }
}

/// A store whose keys can be listed.
pub trait ListableStore: ReadableStore {
    /// Returns the names, in any order, that follow a prefix and are prefixes themselves: the folders in a folder. Names
    /// that are not Unicode are left out.
    ///
    /// # Errors
    /// A prefix that cannot be listed.
    fn prefixes(&self, prefix: &str) -> Result<Vec<String>>;
}

/// A store whose values can be written.
pub trait WritableStore: Debug + Send + Sync {
    /// Writes what is to be the value of a key, so that all that can fail has failed before
    /// [`commit`](PreparedValue::commit). Dropped without that, it leaves nothing behind.
    ///
    /// # Errors
    /// Those of writing.
    fn prepare(&self, key: &str, bytes: &[u8]) -> io::Result<Box<dyn PreparedValue>>;

    /// Gives a key a value, in place of the one that it may have.
    ///
    /// # Errors
    /// Those of [`prepare`](Self::prepare) and [`commit`](PreparedValue::commit).
    fn put(&self, key: &str, bytes: &[u8]) -> io::Result<()> {
        self.prepare(key, bytes)?.commit()
    }

    /// Gives a key a value if it has none, and returns whether it had none. Of several processes that do so at once one
    /// alone succeeds.
    ///
    /// # Errors
    /// Those of writing.
    fn put_if_absent(&self, key: &str, bytes: &[u8]) -> io::Result<bool>;

    /// Takes the value of a key away, if it has one.
    ///
    /// # Errors
    /// Those of removing it.
    fn remove(&self, key: &str) -> io::Result<()>;
}

/// A value that is written, but not yet under its key.
pub trait PreparedValue: Debug + Send {
    /// Puts the value under its key, in place of the one that is there.
    ///
    /// # Errors
    /// Those of the store.
    fn commit(self: Box<Self>) -> io::Result<()>;
}

/// What an opened tensor in chunks lies in.
pub trait KeyStore: ListableStore {
    /// Returns what tells this store from all others.
    ///
    /// # Errors
    /// The system's.
    fn identity(&self) -> Result<Identity>;

    /// Locks a value until what is returned is dropped, for whoever changes what it describes: alone, or `together` with
    /// others that change other parts of the same.
    ///
    /// # Errors
    /// No such value; those of locking.
    fn lock(&self, key: &str, together: bool) -> Result<Lock>;

    /// Begins a change of values whose keys follow a prefix; the keys of the returned store are counted from there.
    /// Values that are prepared and not committed when it is dropped leave nothing behind.
    ///
    /// # Errors
    /// A store that cannot be written to.
    fn edit(&self, prefix: &str) -> Result<Box<dyn WritableStore>>;
}

/// A lock, which ends when the last clone is dropped.
pub type Lock = Arc<dyn Any + Send + Sync>;

/// Returns the key, or the prefix, of a name after a prefix.
pub fn join(prefix: &str, name: &str) -> String {
    if prefix.is_empty() { name.to_owned() } else { format!("{prefix}/{name}") }
}

pub use self::in_memory::MemoryStore;

/// A store in memory, for tests and for whoever has all values at hand.
mod in_memory {
    use std::collections::{BTreeMap, BTreeSet};
    use std::sync::{Mutex, MutexGuard};

    use super::*;
    use crate::error::Context;
    use crate::parallel::locked;
    use crate::storage::read_at::MemoryBytes;

    /// Values in memory. Clones are the same store.
    #[derive(Clone, Debug)]
    pub struct MemoryStore {
        values: Arc<Mutex<BTreeMap<String, Arc<MemoryValue>>>>,
        number: Identity,
        prefix: String,
    }

    /// A value, and how often its key had another before.
    #[derive(Debug)]
    struct MemoryValue {
        bytes: MemoryBytes,
        revision: u64,
    }

    impl ReadAt for MemoryValue {
        fn size(&self) -> io::Result<u64> {
            self.bytes.size()
        }

        fn read_at(&self, out: &mut [u8], at: u64) -> io::Result<()> {
            self.bytes.read_at(out, at)
        }

        fn stamp(&self) -> io::Result<Stamp> {
            Ok(Stamp::Revision(self.revision))
        }

        fn identity(&self) -> io::Result<Identity> {
            self.bytes.identity()
        }
    }

    impl Default for MemoryStore {
        fn default() -> Self {
            Self { values: Arc::default(), number: MemoryBytes::new([]).number(), prefix: String::new() }
        }
    }

    impl MemoryStore {
        fn values(&self) -> MutexGuard<'_, BTreeMap<String, Arc<MemoryValue>>> {
            locked(&self.values)
        }

        fn key(&self, key: &str) -> String {
            join(&self.prefix, key)
        }

        fn set(&self, key: &str, bytes: Vec<u8>) {
            let mut values = self.values();
            let revision = values.get(&self.key(key)).map_or(0, |value| value.revision + 1);
            values.insert(self.key(key), Arc::new(MemoryValue { bytes: MemoryBytes::new(bytes), revision }));
        }

        /// Returns all keys, in their order.
        pub fn keys(&self) -> Vec<String> {
            self.values().keys().cloned().collect()
        }
    }

    impl ReadableStore for MemoryStore {
        fn open(&self, key: &str) -> Result<Option<Arc<dyn ReadAt>>> {
            let (key, values) = (self.key(key), self.values());
            let value = values.get(&key);
            let is_inside = |other: &String| other.strip_prefix(&key).is_some_and(|rest| rest.starts_with('/'));
            ensure!(value.is_some() || !values.keys().any(is_inside), "is a folder, expected a file");
            Ok(value.map(|value| Arc::clone(value) as Arc<dyn ReadAt>))
        }
    }

    impl ListableStore for MemoryStore {
        fn prefixes(&self, prefix: &str) -> Result<Vec<String>> {
            let prefix = self.key(prefix);
            let values = self.values();
            let rest = |key: &'_ String| match prefix.is_empty() {
                true => Some(key.clone()),
                false => key.strip_prefix(&prefix)?.strip_prefix('/').map(str::to_owned),
            };
            let folder = |rest: String| rest.split_once('/').map(|(name, _)| name.to_owned());
            let found: BTreeSet<String> = values.keys().filter_map(rest).filter_map(folder).collect();
            Ok(found.into_iter().collect())
        }
    }

    impl WritableStore for MemoryStore {
        fn prepare(&self, key: &str, bytes: &[u8]) -> io::Result<Box<dyn PreparedValue>> {
            Ok(Box::new(InMemory { store: self.clone(), key: key.to_owned(), bytes: bytes.to_vec() }))
        }

        fn put_if_absent(&self, key: &str, bytes: &[u8]) -> io::Result<bool> {
            let mut values = self.values();
            let is_absent = !values.contains_key(&self.key(key));
            if is_absent {
                values.insert(self.key(key), Arc::new(MemoryValue { bytes: MemoryBytes::new(bytes), revision: 0 }));
            }
            Ok(is_absent)
        }

        fn remove(&self, key: &str) -> io::Result<()> {
            self.values().remove(&self.key(key));
            Ok(())
        }
    }

    /// A value that is to take its key.
    #[derive(Debug)]
    struct InMemory {
        store: MemoryStore,
        key: String,
        bytes: Vec<u8>,
    }

    impl PreparedValue for InMemory {
        fn commit(self: Box<Self>) -> io::Result<()> {
            self.store.set(&self.key, self.bytes);
            Ok(())
        }
    }

    impl KeyStore for MemoryStore {
        fn identity(&self) -> Result<Identity> {
            Ok(self.number)
        }

        fn lock(&self, key: &str, _: bool) -> Result<Lock> {
            self.open(key)?.context("there is no such value")?;
            Ok(Arc::new(()))
        }

        fn edit(&self, prefix: &str) -> Result<Box<dyn WritableStore>> {
            Ok(Box::new(Self { prefix: self.key(prefix), ..self.clone() }))
        }
    }
}
