//! Arrays of stores that are copied without decoding, because their items cannot be read.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use super::key_store::{KeyStore, join, keys_below};
use super::read_at::Stamp;
use super::targets::draft::StoreDraft;
use tensorop_kernels::error::{Context, Error, ErrorKind, Result};
use tensorop_kernels::parallel::{Threads, share};

#[derive(Clone, Debug)]
pub struct UnreadArray {
    store: Arc<dyn KeyStore>,
    prefix: String,
    /// Relative to the prefix, as all keys here.
    metadata_key: &'static str,
    pub metadata: Vec<u8>,
    stamp: Option<Stamp>,
    keys: Vec<String>,
    pub dims: Vec<Option<String>>,
    pub groups: Arc<BTreeMap<String, String>>,
    pub is_consolidated: bool,
    /// Whether the user named its group, so that the output is a group.
    pub is_of_group: bool,
}

impl UnreadArray {
    /// Lists the values, except hidden ones.
    pub fn new(
        store: Arc<dyn KeyStore>,
        prefix: &str,
        metadata_key: &'static str,
        metadata: Vec<u8>,
        dims: Vec<Option<String>>,
    ) -> Result<Self> {
        let stamp = store.stamp(&join(prefix, metadata_key))?;
        let mut keys = keys_below(&*store, prefix, |name| !name.starts_with('.'))?;
        keys.retain(|key| key != metadata_key);
        keys.sort();
        let (groups, prefix) = (Arc::default(), prefix.to_owned());
        Ok(Self {
            store,
            prefix,
            metadata_key,
            metadata,
            stamp,
            keys,
            dims,
            groups,
            is_consolidated: false,
            is_of_group: false,
        })
    }

    pub fn folder(&self) -> Option<PathBuf> {
        self.store.folder().map(|folder| folder.join(&self.prefix))
    }

    /// The number of values, without metadata.
    pub fn values(&self) -> usize {
        self.keys.len()
    }

    /// Fails if the metadata have changed since the array was opened.
    pub fn copy(&self, to: &dyn StoreDraft, prefix: &str, threads: Threads) -> Result<()> {
        // Each value costs several system calls or a request.
        let threads = threads.for_requests(true).for_bytes(usize::MAX);
        let each = |n: usize, (): &mut ()| {
            let key = &self.keys[n];
            let value = self.store.open(&join(&self.prefix, key)).and_then(|value| value.ok_or_else(|| changed(key)));
            let value = value.with_context(|| key.clone())?;
            let bytes = usize::try_from(value.size()?)?;
            to.put_from(&join(prefix, key), &*value, bytes).with_context(|| key.clone())?;
            Ok::<_, Error>(true)
        };
        share(threads, self.keys.len(), || (), each)?;
        let now = self.store.stamp(&join(&self.prefix, self.metadata_key))?;
        if now == self.stamp { Ok(()) } else { Err(changed(self.metadata_key)) }
    }

    /// Returns whether a store has all values, in their sizes.
    pub fn is_copied(&self, to: &dyn StoreDraft, prefix: &str) -> Result<bool> {
        for key in &self.keys {
            let own = self.store.size(&join(&self.prefix, key))?;
            if to.size(&join(prefix, key))? != own {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

fn changed(key: &str) -> Error {
    Error::from_kind(ErrorKind::Changed, format!("{key} has changed since it was opened"))
}
