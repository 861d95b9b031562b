//! The summary of a model that `info` prints.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use sha2::{Digest, Sha256};

use crate::storage::source::{FileMetadata, Metadata};

/// The bytes of all texts.
const MAX_FACTS: usize = 1 << 22;

/// The keys that are shown.
const MAX_KEYS: usize = 1 << 10;

/// The key that counts the texts beyond the limits.
const BEYOND: &str = "texts beyond these";

#[derive(Debug, Default)]
pub(super) struct ModelFacts {
    shown: Metadata,
    /// Keys of texts that outputs keep.
    kept: BTreeSet<String>,
    /// A hash of all values of a key; the values beyond the limits share one.
    hashes: BTreeMap<String, Sha256>,
    bytes: usize,
    beyond: usize,
}

impl ModelFacts {
    /// Adds a text of the graph to the list of its key, unless it is empty.
    pub(super) fn add(&mut self, key: &str, text: &str) {
        if !text.is_empty() {
            self.add_exact(key, text, text.as_bytes());
        }
    }

    /// Adds a text that outputs keep, because it is not of the graph, and its exact value.
    pub(super) fn keep(&mut self, key: &str, text: &str, value: &[u8]) {
        self.add_exact(key, text, value);
        self.kept.extend(self.shown.contains_key(key).then(|| key.to_owned()));
    }

    /// Adds a text to the list of its key, and its exact value.
    pub(super) fn add_exact(&mut self, key: &str, text: &str, value: &[u8]) {
        self.bytes += key.len() + text.len();
        let is_known = self.shown.contains_key(key);
        let is_shown = self.bytes <= MAX_FACTS && (is_known || self.shown.len() < MAX_KEYS);
        let hash = self.hashes.entry(if is_shown { key } else { BEYOND }.to_owned()).or_default();
        for part in [key.as_bytes(), value] {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        match is_shown {
            true => self.shown.entry(key.to_owned()).and_modify(|list| *list += ", ").or_default().push_str(text),
            false => self.beyond += 1,
        }
    }

    /// Adds the kinds of a model's parts, the most frequent first.
    pub(super) fn count(&mut self, key: &str, kinds: BTreeMap<String, usize>) {
        let mut kinds: Vec<_> = kinds.into_iter().collect();
        // those of one count stay in the order of their names
        kinds.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        kinds.iter().for_each(|(kind, count)| self.add(key, &format!("{count} {kind}")));
    }

    /// The metadata of a file of this format.
    pub(super) fn into_metadata(self, format: &'static str) -> Arc<FileMetadata> {
        let Self { mut shown, kept: keys, hashes, beyond, .. } = self;
        let mut kept = shown.clone();
        kept.retain(|key, _| keys.contains(key));
        if beyond > 0 {
            shown.insert(BEYOND.to_owned(), beyond.to_string());
        }
        let exact: BTreeMap<_, _> = hashes.into_iter().map(|(key, hash)| (key, hash.finalize().to_vec())).collect();
        Arc::new(FileMetadata { format, shown: shown.into(), kept: kept.into(), exact: Arc::new(exact) })
    }
}
