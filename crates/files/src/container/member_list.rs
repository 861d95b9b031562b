//! What the walk of a model finds: its members, of which each name occurs once, and its facts.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::interface::Members;
use crate::storage::source::{FileMetadata, Metadata};
use tensorop_kernels::error::{Result, ensure};

/// Appends `#2`, `#3` to the second and third of equal names, except where another member has that name.
pub(crate) fn numbered(mut names: Vec<String>) -> Vec<String> {
    if names.iter().collect::<HashSet<_>>().len() == names.len() {
        return names;
    }
    let mut taken = HashSet::with_capacity(names.len());
    let repeated: Vec<usize> = (0..names.len()).filter(|n| !taken.insert(names[*n].clone())).collect();
    let mut next: HashMap<String, usize> = HashMap::new();
    for n in repeated {
        let number = next.entry(names[n].clone()).or_insert(2);
        let name = loop {
            let name = format!("{}#{number}", names[n]);
            *number += 1;
            if taken.insert(name.clone()) {
                break name;
            }
        };
        names[n] = name;
    }
    names
}

impl Members {
    /// The facts of a file whose members are made over: the first part of each is a member of this one, and with `is_computed`
    /// some have other parts. Returns the final names, too.
    pub(crate) fn made_over(
        &self,
        names: Vec<String>,
        firsts: impl Iterator<Item = usize>,
        is_computed: bool,
    ) -> (Self, Arc<Vec<String>>) {
        let names: Arc<Vec<String>> = numbered(names).into();
        let (firsts, stored): (Vec<usize>, _) = (firsts.collect(), self.names().unwrap_or_default());
        let file_numbers = firsts.iter().map(|n| self.file_number(*n)).collect();
        let keeps_name = |(name, first): (&String, &usize)| stored.get(*first) == Some(name);
        let are_made = self.are_made || is_computed || !names.iter().zip(&firsts).all(keeps_name);
        let own = Some(Arc::clone(&names));
        (Self { names: own, file_numbers, container: None, itself: None, are_made, ..self.clone() }, names)
    }
}

const MAX_MEMBERS: usize = 1 << 20;

/// The most bytes of all names, which repeat the names of the groups around the tensors.
const MAX_NAMES: usize = 1 << 26;

/// The name of each member with a value of the reader.
#[derive(Debug)]
pub(crate) struct MemberList<T> {
    names: Vec<String>,
    members: Vec<T>,
    bytes: usize,
}

impl<T> Default for MemberList<T> {
    fn default() -> Self {
        Self { names: Vec::new(), members: Vec::new(), bytes: 0 }
    }
}

impl<T> MemberList<T> {
    pub(crate) fn add(&mut self, name: String, member: T) -> Result<()> {
        self.bytes += name.len();
        ensure!(self.names.len() < MAX_MEMBERS, "more than {MAX_MEMBERS} tensors");
        ensure!(self.bytes <= MAX_NAMES, "names of more than {MAX_NAMES} bytes");
        self.names.push(name);
        self.members.push(member);
        Ok(())
    }

    pub(crate) fn len(&self) -> usize {
        self.members.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Each name is there once.
    pub(crate) fn into_parts(self) -> (Vec<String>, Vec<T>) {
        (numbered(self.names), self.members)
    }
}

/// The bytes of all texts.
const MAX_FACTS: usize = 1 << 22;

/// The keys that are shown.
const MAX_KEYS: usize = 1 << 10;

/// The key that counts the texts beyond the limits.
const BEYOND: &str = "texts beyond these";

#[derive(Debug, Default)]
pub(crate) struct ModelFacts {
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
    pub(crate) fn add(&mut self, key: &str, text: &str) {
        if !text.is_empty() {
            self.add_exact(key, text, text.as_bytes());
        }
    }

    /// Adds a text that outputs keep, because it is not of the graph, and its exact value.
    pub(crate) fn keep(&mut self, key: &str, text: &str, value: &[u8]) {
        self.add_exact(key, text, value);
        self.kept.extend(self.shown.contains_key(key).then(|| key.to_owned()));
    }

    /// Adds a text to the list of its key, and its exact value.
    pub(crate) fn add_exact(&mut self, key: &str, text: &str, value: &[u8]) {
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
    pub(crate) fn count(&mut self, key: &str, kinds: BTreeMap<String, usize>) {
        let mut kinds: Vec<_> = kinds.into_iter().collect();
        // those of one count stay in the order of their names
        kinds.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        kinds.iter().for_each(|(kind, count)| self.add(key, &format!("{count} {kind}")));
    }

    /// The metadata of a file of this format.
    pub(crate) fn into_metadata(self, format: &'static str) -> Arc<FileMetadata> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_occurs_once() {
        let rows: [(&str, &str); 4] =
            [("a b", "a b"), ("a a b a", "a a#2 b a#3"), ("a a#2 a a a#2", "a a#2 a#3 a#4 a#2#2"), ("", "")];
        for (given, expected) in rows {
            let given = given.split_whitespace().map(str::to_owned).collect();
            assert_eq!(numbered(given).join(" "), expected);
        }
    }
}
