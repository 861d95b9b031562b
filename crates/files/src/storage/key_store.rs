//! Values by key: the store of a chunked tensor, which is a folder, an object store or, in tests, memory.
//!
//! A *key* is a path such as `layer/c/0/1`; a *prefix* is a path above keys. Every value appears whole or not at all:
//! it is [prepared](WritableStore::prepare), which may fail, and then [committed](Commit), which renames a file or
//! completes an upload.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};
use std::vec;

use super::read_at::{Identity, MemoryBytes, ReadAt, Section, Stamp};
use super::requests::Part;
use tensorop_kernels::error::{Context, Result, ensure};
use tensorop_kernels::memory;
use tensorop_kernels::parallel::locked;

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
        Self { values: Arc::default(), number: MemoryBytes::new([]).identity().unwrap(), prefix: String::new() }
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

    /// Returns the rest of each key after a prefix.
    fn below(&self, prefix: &str) -> Vec<String> {
        let (prefix, values) = (self.key(prefix), self.values());
        let rest = |key: &String| match prefix.is_empty() {
            true => Some(key.clone()),
            false => key.strip_prefix(&prefix)?.strip_prefix('/').map(str::to_owned),
        };
        values.keys().filter_map(rest).collect()
    }

    /// Returns all keys, in their order.
    pub fn keys(&self) -> Vec<String> {
        self.values().keys().cloned().collect()
    }
}

impl KeyStore for MemoryStore {
    fn open(&self, key: &str) -> Result<Option<Arc<dyn ReadAt>>> {
        let (key, values) = (self.key(key), self.values());
        let value = values.get(&key);
        let is_inside = |other: &String| other.strip_prefix(&key).is_some_and(|rest| rest.starts_with('/'));
        ensure!(value.is_some() || !values.keys().any(is_inside), "is a folder, expected a file");
        Ok(value.map(|value| Arc::clone(value) as Arc<dyn ReadAt>))
    }

    fn size(&self, key: &str) -> Result<Option<u64>> {
        Ok(self.open(key)?.map(|value| value.size()).transpose()?)
    }

    fn stamp(&self, key: &str) -> Result<Option<Stamp>> {
        Ok(self.open(key)?.map(|value| value.stamp()).transpose()?)
    }

    fn prefixes(&self, prefix: &str) -> Result<Vec<String>> {
        let folder = |rest: String| rest.split_once('/').map(|(name, _)| name.to_owned());
        let found: BTreeSet<String> = self.below(prefix).into_iter().filter_map(folder).collect();
        Ok(found.into_iter().collect())
    }

    fn names(&self, prefix: &str) -> Result<Vec<String>> {
        Ok(self.below(prefix).into_iter().filter(|rest| !rest.contains('/')).collect())
    }

    fn identity(&self) -> Result<Identity> {
        Ok(self.number)
    }

    fn lock(&self, key: &str, _: bool) -> Result<Lock> {
        self.open(key)?.context("the value does not exist")?;
        Ok(Arc::new(()))
    }

    fn edit(&self, prefix: &str) -> Result<Box<dyn WritableStore>> {
        Ok(Box::new(Self { prefix: self.key(prefix), ..self.clone() }))
    }
}

impl WritableStore for MemoryStore {
    fn prepare(&self, key: &str, bytes: &[u8]) -> io::Result<Commit> {
        let (store, key, bytes) = (self.clone(), key.to_owned(), bytes.to_vec());
        Ok(Box::new(move || {
            store.set(&key, bytes);
            Ok(())
        }))
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
