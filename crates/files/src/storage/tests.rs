//! The store in memory of the unit tests.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard};

use super::key_store::{Commit, KeyStore, Lock, WritableStore, join};
use super::read_at::{Identity, MemoryBytes, ReadAt, Stamp};
use tensorop_kernels::error::{Context, Result, ensure};
use tensorop_kernels::parallel::locked;

/// Values in memory. Clones are the same store.
#[derive(Clone, Debug)]
pub(crate) struct MemoryStore {
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
    pub(crate) fn keys(&self) -> Vec<String> {
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
