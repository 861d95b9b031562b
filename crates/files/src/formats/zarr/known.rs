//! A remote store with cached metadata, since each read is a request. Consolidated metadata needs no further
//! requests: it also lists arrays, which most servers do not.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, OnceLock};

use super::metadata::{CONSOLIDATED, Object, V2_ARRAY, V2_ATTRIBUTES, V2_CONSOLIDATED, V2_GROUP, V3};
use crate::storage::key_store::{KeyStore, Lock, WritableStore, join};
use crate::storage::read_at::{Identity, MemoryBytes, ReadAt, Stamp};
use crate::storage::requests::Part;
use tensorop_kernels::error::{Context, Result};
use tensorop_kernels::parallel::{locked, made_once};

type Texts = BTreeMap<String, Vec<u8>>;

#[derive(Debug)]
pub(crate) struct KnownStore {
    store: Arc<dyn KeyStore>,
    listed: OnceLock<Option<Texts>>,
    /// `None` is a missing key.
    asked: Mutex<HashMap<String, Option<Vec<u8>>>>,
}

fn metadata_name(key: &str) -> Option<(&str, &str)> {
    let (prefix, name) = key.rsplit_once('/').unwrap_or(("", key));
    [V3, V2_ARRAY, V2_GROUP, V2_ATTRIBUTES, V2_CONSOLIDATED].contains(&name).then_some((prefix, name))
}

impl KnownStore {
    pub(crate) fn new(store: Arc<dyn KeyStore>) -> Self {
        Self { store, listed: OnceLock::new(), asked: Mutex::default() }
    }

    fn ask(&self, key: &str, most: u64) -> Result<Option<Vec<u8>>> {
        if let Some(known) = locked(&self.asked).get(key) {
            return Ok(known.clone());
        }
        let found = self.store.get(key, most)?;
        locked(&self.asked).insert(key.to_owned(), found.clone());
        Ok(found)
    }

    fn listed(&self, most: u64) -> Result<Option<&Texts>> {
        let list = || match self.ask(V3, most)? {
            Some(text) => list_of_v3(&text).context(V3),
            None if self.ask(V2_GROUP, most)?.is_none() => Ok(None),
            None => {
                let text = self.ask(V2_CONSOLIDATED, most)?;
                text.map(|text| list_of_v2(&text)).transpose().context(V2_CONSOLIDATED)
            }
        };
        made_once(&self.listed, list).map(Option::as_ref)
    }

    fn text(&self, prefix: &str, name: &str, most: u64) -> Result<Option<Vec<u8>>> {
        let key = join(prefix, name);
        // the root's own metadata contains the list
        match if prefix.is_empty() { None } else { self.listed(most)? } {
            Some(listed) => Ok(listed.get(&key).cloned()),
            None => self.ask(&key, most),
        }
    }
}

fn list_of_v3(text: &[u8]) -> Result<Option<Texts>> {
    let raw = Object::parse(text)?;
    let Some(list) = raw.0.get(CONSOLIDATED).filter(|list| **list != "null") else { return Ok(None) };
    let list = Object::parse(list.as_bytes()).context(CONSOLIDATED)?;
    let Some(list) = list.0.get("metadata") else { return Ok(None) };
    Ok(Some(texts(list, |path| join(path, V3)).context(CONSOLIDATED)?))
}

fn list_of_v2(text: &[u8]) -> Result<Texts> {
    let raw = Object::parse(text)?;
    raw.0.get("metadata").map_or(Ok(Texts::new()), |list| texts(list, str::to_owned))
}

/// Whether a prefix is an array or inside one.
fn is_in_array(listed: &Texts, prefix: &str) -> bool {
    let is_array = |prefix: &str| {
        let text = listed.get(&join(prefix, V3)).and_then(|text| Object::parse(text).ok());
        let kind = text.and_then(|head| head.0.get("node_type").map(|kind| *kind == "\"array\""));
        kind.unwrap_or_else(|| listed.contains_key(&join(prefix, V2_ARRAY)))
    };
    let ends = prefix.match_indices('/').map(|(end, _)| end).chain([prefix.len()]);
    ends.map(|end| &prefix[..end]).any(is_array)
}

fn texts(list: &str, key: impl Fn(&str) -> String) -> Result<Texts> {
    let all = Object::parse(list.as_bytes())?;
    Ok(all.0.iter().map(|(name, text)| (key(name.trim_matches('/')), text.as_bytes().to_vec())).collect())
}

const MAX_TEXT_BYTES: u64 = 1 << 26;

impl KeyStore for KnownStore {
    fn open(&self, key: &str) -> Result<Option<Arc<dyn ReadAt>>> {
        match metadata_name(key) {
            None => self.store.open(key),
            Some((prefix, name)) => {
                let text = self.text(prefix, name, MAX_TEXT_BYTES)?;
                Ok(text.map(|text| Arc::new(MemoryBytes::new(text)) as Arc<dyn ReadAt>))
            }
        }
    }

    fn open_for(&self, key: &str, part: Part) -> Result<Option<Arc<dyn ReadAt>>> {
        self.store.open_for(key, part)
    }

    fn size(&self, key: &str) -> Result<Option<u64>> {
        self.store.size(key)
    }

    fn stamp(&self, key: &str) -> Result<Option<Stamp>> {
        match metadata_name(key) {
            // only the list can have changed
            Some((prefix, name)) if !prefix.is_empty() && self.listed(MAX_TEXT_BYTES)?.is_some() => {
                self.store.stamp(if name == V3 { V3 } else { V2_CONSOLIDATED })
            }
            Some(_) | None => self.store.stamp(key),
        }
    }

    fn get(&self, key: &str, most: u64) -> Result<Option<Vec<u8>>> {
        match metadata_name(key) {
            None => self.store.get(key, most),
            Some((prefix, name)) => self.text(prefix, name, most),
        }
    }

    fn prefixes(&self, prefix: &str) -> Result<Vec<String>> {
        // the list lacks folders inside arrays
        let Some(listed) = self.listed(MAX_TEXT_BYTES)?.filter(|listed| !is_in_array(listed, prefix)) else {
            return self.store.prefixes(prefix);
        };
        let below = |key: &String| {
            let rest = if prefix.is_empty() { key } else { key.strip_prefix(prefix)?.strip_prefix('/')? };
            Some(rest.split_once('/')?.0.to_owned())
        };
        Ok(listed.keys().filter_map(below).collect::<BTreeSet<_>>().into_iter().collect())
    }

    fn names(&self, prefix: &str) -> Result<Vec<String>> {
        self.store.names(prefix)
    }

    fn costs_requests(&self) -> bool {
        true
    }

    fn identity(&self) -> Result<Identity> {
        self.store.identity()
    }

    fn lock(&self, key: &str, shared: bool) -> Result<Lock> {
        self.store.lock(key, shared)
    }

    fn edit(&self, prefix: &str) -> Result<Box<dyn WritableStore>> {
        self.store.edit(prefix)
    }
}

#[cfg(test)]
mod tests;
