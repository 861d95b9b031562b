//! The summary of a model that `info` prints.

use std::collections::{BTreeMap, BTreeSet};

use super::content::MemberFile;
use crate::storage::source::Metadata;

/// The bytes of all texts.
const MAX_FACTS: usize = 1 << 22;

#[derive(Debug, Default)]
pub(super) struct ModelFacts {
    said: Metadata,
    /// Keys of texts that outputs keep.
    kept: BTreeSet<String>,
    bytes: usize,
}

impl ModelFacts {
    /// Adds a text to the list of its key. Nothing that exceeds the limit on all texts is added.
    pub(super) fn add(&mut self, key: &str, text: &str) {
        self.bytes += key.len() + text.len();
        if text.is_empty() || self.bytes > MAX_FACTS {
            return;
        }
        let list = self.said.entry(key.to_owned()).or_default();
        if !list.is_empty() {
            list.push_str(", ");
        }
        list.push_str(text);
    }

    /// Adds a text that outputs keep, because it is not of the graph.
    pub(super) fn keep(&mut self, key: &str, text: &str) {
        self.add(key, text);
        if self.said.contains_key(key) {
            self.kept.insert(key.to_owned());
        }
    }

    /// Adds the kinds of a model's parts, the most frequent first.
    pub(super) fn count(&mut self, key: &str, kinds: BTreeMap<String, usize>) {
        let mut kinds: Vec<_> = kinds.into_iter().collect();
        // those of one count stay in the order of their names
        kinds.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        kinds.iter().for_each(|(kind, count)| self.add(key, &format!("{count} {kind}")));
    }

    /// The facts of every member.
    pub(super) fn into_file(self) -> MemberFile {
        let mut kept = self.said.clone();
        kept.retain(|key, _| self.kept.contains(key));
        MemberFile { metadata: Some(kept.into()), said: Some(self.said.into()), ..MemberFile::default() }
    }
}
