//! Finds the arrays of a store: in groups, in folders without metadata (implicit groups) or, beyond the
//! specification, in arrays. In an array, folders named `c` or by a number without metadata of their own hold chunks.
//! The search enters `c` but no numbered one.

use std::collections::BTreeMap;

use super::MARKS;
use super::metadata::{self, StoreNode};
use crate::container::name_order::by_numbers;
use crate::storage::key_store::{KeyStore, join};
use crate::storage::targets::stage::is_unfinished;
use tensorop_kernels::error::{Error, ErrorKind, Result, ensure, malformed};

/// Names a store that is an array itself.
pub(crate) const ROOT: &str = ".";

/// Holds all chunks of most version 3 arrays.
pub(crate) const CHUNKS: &str = "c";

const MAX_DEPTH: usize = 32;

const MAX_FOLDERS: usize = 1 << 20;

#[derive(Debug, Default)]
pub(crate) struct FoundArrays {
    /// Paths in natural order, also of unreadable arrays.
    pub(crate) names: Vec<String>,
    pub(crate) groups: BTreeMap<String, String>,
    /// Errors that the metadata of an array does not show.
    pub(crate) refused: BTreeMap<String, Error>,
    /// Whether any part is of version 2.
    pub(crate) has_v2: bool,
}

struct ListedFolder {
    path: String,
    depth: usize,
    is_array: bool,
}

pub(crate) fn is_of_chunks(store: &dyn KeyStore, name: &str, path: &str) -> bool {
    let is_there = |mark: &&str| !matches!(store.size(&join(path, mark)), Ok(None));
    (name == CHUNKS || name.bytes().all(|byte| byte.is_ascii_digit())) && !MARKS.iter().any(is_there)
}

impl FoundArrays {
    fn new(root: &StoreNode) -> Self {
        let groups = root.attributes.clone().map(|attributes| (String::new(), attributes));
        Self { groups: groups.into_iter().collect(), has_v2: root.is_v2, ..Self::default() }
    }

    /// Lists unreadable arrays, too. Remote arrays are not searched, since the answer would list all chunks. After
    /// `damage` to its own metadata the store may be an array; without members `damage` is the result.
    pub(crate) fn all(store: &dyn KeyStore, root: &StoreNode, damage: Option<Error>) -> Result<Self> {
        let (mut found, mut seen) = (Self::new(root), 0_usize);
        let is_array = !root.is_group || damage.is_some();
        let mut pending = vec![ListedFolder { path: String::new(), depth: 0, is_array }];
        while let Some(ListedFolder { path, depth, is_array }) = pending.pop() {
            if is_array && store.costs_requests() {
                continue;
            }
            let folders = match store.prefixes(&path) {
                Ok(folders) => folders,
                Err(error) if path.is_empty() => return Err(error),
                Err(_) if is_array => continue,
                Err(error) => {
                    found.refuse(path, error);
                    continue;
                }
            };
            for own in folders.into_iter().filter(|own| !is_unfinished(own)) {
                let name = join(&path, &own);
                if is_array && is_of_chunks(store, &own, &name) {
                    if own == CHUNKS {
                        pending.push(ListedFolder { path: name, depth: depth + 1, is_array });
                    }
                    continue;
                }
                let node = metadata::node(store, &name);
                seen += 1;
                ensure!(seen <= MAX_FOLDERS, "more than {MAX_FOLDERS} folders");
                if depth > MAX_DEPTH {
                    found.refuse(name, malformed!("groups in groups deeper than {MAX_DEPTH}"));
                    continue;
                }
                let is_array = found.add(store, &name, node);
                pending.push(ListedFolder { path: name, depth: depth + 1, is_array });
            }
        }
        found.names.sort_by(|a, b| by_numbers(a, b));
        if is_array && !found.names.is_empty() {
            found.names.insert(0, ROOT.to_owned());
        }
        match damage {
            Some(why) if found.names.is_empty() => return Err(why),
            damage => found.refused.extend(damage.map(|why| (ROOT.to_owned(), why))),
        }
        Ok(found)
    }

    /// A failed search becomes the member `*`.
    pub(crate) fn all_or_why(store: &dyn KeyStore, root: &StoreNode) -> Self {
        Self::all(store, root, None).unwrap_or_else(|why| {
            let mut found = Self::new(root);
            found.names.push(ROOT.to_owned());
            found.refuse("*".to_owned(), why);
            found
        })
    }

    fn refuse(&mut self, name: String, why: Error) {
        self.names.push(name.clone());
        self.refused.insert(name, why);
    }

    /// Returns whether the path may be an array.
    fn add(&mut self, store: &dyn KeyStore, path: &str, node: Result<Option<StoreNode>>) -> bool {
        let attributes = match node {
            Ok(Some(node)) if node.is_group => node.attributes,
            Ok(None) if store.costs_requests() => None,
            // a version 2 group may have attributes alone
            Ok(None) => metadata::group_attributes_of_v2(store, path).ok().flatten(),
            Ok(Some(node)) => {
                self.has_v2 |= node.is_v2;
                self.names.push(path.to_owned());
                return true;
            }
            // a damaged member fails only when it is read
            Err(why) => {
                self.refuse(path.to_owned(), why);
                return true;
            }
        };
        self.groups.extend(attributes.map(|attributes| (path.to_owned(), attributes)));
        false
    }

    /// Finds one array without a search.
    pub(crate) fn one(store: &dyn KeyStore, root: &StoreNode, name: &str) -> Result<Option<Self>> {
        let is_pattern = name.contains(['*', '?', '[']);
        if name == ROOT && !root.is_group {
            return Ok(Some(Self { names: vec![ROOT.to_owned()], ..Self::new(root) }));
        }
        if !is_path(name) || name.split('/').any(is_unfinished) || is_pattern && store.costs_requests() {
            return Ok(None);
        }
        let node = match metadata::node(store, name) {
            Ok(None) => return Ok(None),
            Ok(Some(node)) if node.is_group => return Ok(None),
            Err(error) if matches!(error.kind(), ErrorKind::Io(_)) => {
                return if store.costs_requests() { Err(error) } else { Ok(None) };
            }
            found => found,
        };
        let mut found = Self::new(root);
        for (end, _) in name.match_indices('/') {
            // damage around an array does not affect it
            if let Ok(Some(group)) = metadata::node(store, &name[..end])
                && let Some(attributes) = group.attributes
            {
                found.groups.insert(name[..end].to_owned(), attributes);
            }
        }
        found.add(store, name, node);
        Ok(Some(found))
    }
}

/// Whether the path stays in the store.
pub(crate) fn is_path(name: &str) -> bool {
    let plain = !name.is_empty() && name.split('/').all(|part| !part.is_empty() && part != "." && part != "..");
    plain && !name.contains(['\0', '\\'])
}
