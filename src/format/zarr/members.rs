//! Finds the arrays of a store by their paths.
//!
//! An array lies in groups, in folders without metadata, which are groups that nobody has written down, and, although the
//! specification has no such place for it, in another array. Of an array the folders are looked at that are not those of its
//! chunks: a folder called `c` or by a number is taken for one of chunks unless it has metadata of its own. Of the folder `c` the
//! folders in it are looked at that are not called by numbers, or have metadata of their own. So the folders of chunks below `c`
//! are never listed to find other arrays, however many they are.

use std::collections::BTreeMap;

use super::MARKS;
use super::metadata::{self, Node};
use crate::error::{Error, ErrorKind, Result, ensure, malformed};
use crate::format::name_order::by_numbers;
use crate::storage::key_store::{KeyStore, join};

/// The name of the array that a store itself is, where other arrays lie in it.
pub(super) const ROOT: &str = ".";

/// The name of the folder that all chunks of most arrays of version 3 lie in.
pub(super) const CHUNKS: &str = "c";

/// The most levels that folders may lie in folders.
const MAX_DEPTH: usize = 32;

/// The most folders that are looked at in a store.
const MAX_FOLDERS: usize = 1 << 20;

/// The arrays of a store, or the one of them that was named.
#[derive(Debug, Default)]
pub(super) struct Members {
    /// The names of the arrays, which are their paths, in natural order. Those are among them that cannot be read.
    pub(super) names: Vec<String>,
    /// The attributes of the groups, by the paths of these.
    pub(super) groups: BTreeMap<String, String>,
    /// Why nothing can be read under a name, if the metadata of an array do not say it.
    pub(super) refused: BTreeMap<String, Error>,
    /// Whether the store itself or any array in it is of version 2.
    pub(super) has_v2: bool,
}

/// A folder whose folders are looked at.
struct ListedFolder {
    path: String,
    /// The number of folders that it lies in.
    depth: usize,
    is_array: bool,
}

/// Returns whether a folder in an array, of that name and path, is taken for one of chunks.
pub(super) fn is_of_chunks(store: &dyn KeyStore, name: &str, path: &str) -> bool {
    let is_there = |mark: &&str| !matches!(store.size(&join(path, mark)), Ok(None));
    (name == CHUNKS || name.bytes().all(|byte| byte.is_ascii_digit())) && !MARKS.iter().any(is_there)
}

impl Members {
    fn new(root: &Node) -> Self {
        let groups = root.attributes.clone().map(|attributes| (String::new(), attributes));
        Self { groups: groups.into_iter().collect(), has_v2: root.is_v2, ..Self::default() }
    }

    /// Looks for all arrays of a store. What cannot be read is listed, and stops nothing else.
    ///
    /// A server is not asked what lies in an array: its chunks would come with the answer. If the metadata of the store itself are
    /// damaged, `damage` says how: then the store is listed beside its arrays, and may be an array.
    ///
    /// # Errors
    /// The folder of the store cannot be listed; there are more folders than are looked at; the damage of a store without arrays.
    pub(super) fn all(store: &dyn KeyStore, root: &Node, damage: Option<Error>) -> Result<Self> {
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
            // hidden folders are not members
            for own in folders.into_iter().filter(|own| !own.starts_with('.')) {
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

    /// Looks for all arrays of a store that is one itself. Where there are too many folders, the reason stands in the place of
    /// other arrays.
    pub(super) fn all_or_why(store: &dyn KeyStore, root: &Node) -> Self {
        Self::all(store, root, None).unwrap_or_else(|why| {
            let mut found = Self::new(root);
            found.names.push(ROOT.to_owned());
            found.refuse("*".to_owned(), why);
            found
        })
    }

    /// Lists a name under which nothing can be read.
    fn refuse(&mut self, name: String, why: Error) {
        self.names.push(name.clone());
        self.refused.insert(name, why);
    }

    /// Takes what is at a path, and returns whether it is an array, or may be one.
    fn add(&mut self, store: &dyn KeyStore, path: &str, node: Result<Option<Node>>) -> bool {
        let attributes = match node {
            Ok(Some(node)) if node.is_group => node.attributes,
            Ok(None) if store.costs_requests() => None,
            // attributes may be all that is written down of a group
            Ok(None) => metadata::group_attributes_of_v2(store, path).ok().flatten(),
            Ok(Some(node)) => {
                self.has_v2 |= node.is_v2;
                self.names.push(path.to_owned());
                return true;
            }
            // what is damaged is listed, and refused when it is read, so that the others can be read
            Err(why) => {
                self.refuse(path.to_owned(), why);
                return true;
            }
        };
        self.groups.extend(attributes.map(|attributes| (path.to_owned(), attributes)));
        false
    }

    /// Returns the one array of that name, without a look at the others; `None` if there is no such array.
    ///
    /// # Errors
    /// Of asking a server.
    pub(super) fn one(store: &dyn KeyStore, root: &Node, name: &str) -> Result<Option<Self>> {
        let is_pattern = name.contains(['*', '?', '[']);
        if name == ROOT && !root.is_group {
            return Ok(Some(Self { names: vec![ROOT.to_owned()], ..Self::new(root) }));
        }
        if !is_path(name) || name.split('/').any(|part| part.starts_with('.')) || is_pattern && store.costs_requests() {
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
            // what is damaged around an array does not stop it
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

/// Returns whether a name leads to a folder in the store, and not out of it.
pub(super) fn is_path(name: &str) -> bool {
    let plain = !name.is_empty() && name.split('/').all(|part| !part.is_empty() && part != "." && part != "..");
    plain && !name.contains(['\0', '\\'])
}
