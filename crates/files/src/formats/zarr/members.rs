//! Finds the arrays of a store: in groups, in folders without metadata (implicit groups) or, beyond the
//! specification, in arrays. In an array, folders named `c` or by a number without metadata of their own hold chunks.
//! The search enters `c` but no numbered one.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::rc::Rc;
use std::sync::{Arc, OnceLock};

use super::MARKS;
use super::metadata::{self, ArrayMetadata, METADATA, StoreNode, V2_ATTRIBUTES, V3};
use crate::container::names::by_numbers;
use crate::storage::attachments::Attachments;
use crate::storage::key_store::{KeyStore, join};
use crate::storage::read_at::Section;
use crate::storage::targets::stage::is_unfinished;
use tensorop_kernels::error::{Error, ErrorKind, Result, ensure, malformed};
use tensorop_kernels::parallel::made_once;

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

const MAX_LISTED_BYTES: usize = 1 << 24;

/// Created by operating systems.
const OF_SYSTEMS: &[&str] = &[".DS_Store", ".directory", "Thumbs.db", "desktop.ini"];

const OF_SYSTEMS_BEGIN: &[&str] = &["._", ".nfs"];

#[derive(Debug)]
pub(crate) struct StoreFiles {
    store: Arc<dyn KeyStore>,
    listed: OnceLock<Vec<String>>,
    all: OnceLock<Vec<String>>,
}

impl StoreFiles {
    pub(crate) fn new(store: Arc<dyn KeyStore>) -> Self {
        Self { store, listed: OnceLock::new(), all: OnceLock::new() }
    }
}

impl Attachments for StoreFiles {
    fn names(&self) -> Result<&[String]> {
        made_once(&self.all, || list(&*self.store, true)).map(Vec::as_slice)
    }

    fn listed(&self) -> Result<&[String]> {
        made_once(&self.listed, || list(&*self.store, false)).map(Vec::as_slice)
    }

    fn open(&self, n: usize) -> Result<Box<dyn Read + '_>> {
        let name = self.names()?.get(n).ok_or_else(|| malformed!("attachment {n}"))?;
        let value = self.store.open(name)?.ok_or_else(|| malformed!("{name}: cannot be opened"))?;
        let bytes = value.size()?;
        Ok(Box::new(Section::new(value, 0, bytes)))
    }
}

struct Around {
    prefix: String,
    /// `None` if unreadable: the keys of its chunks are unknown.
    array: OnceCell<Option<ArrayMetadata>>,
    outer: Option<Rc<Around>>,
}

impl Around {
    fn array(&self, store: &dyn KeyStore) -> Option<&ArrayMetadata> {
        self.array.get_or_init(|| metadata::array(store, &self.prefix).ok()).as_ref()
    }

    /// An unreadable array may own any key.
    fn has(&self, store: &dyn KeyStore, key: &str) -> bool {
        self.array(store).is_none() || self.has_chunk(store, key)
    }

    fn has_chunk(&self, store: &dyn KeyStore, key: &str) -> bool {
        let own = if self.prefix.is_empty() { key } else { &key[self.prefix.len() + 1..] };
        let is_own = self.array(store).is_some_and(|array| array.is_key(own));
        is_own || self.outer.as_ref().is_some_and(|outer| outer.has_chunk(store, key))
    }
}

struct StoreFolder {
    path: String,
    around: Option<Rc<Around>>,
    /// Whether it is hidden, a chunk folder or inside one: its arrays are not members.
    is_passed_over: bool,
    /// Whether it is the folder `c` of an array: only arrays outside chunk folders are members.
    is_first_of_chunks: bool,
}

fn list(store: &dyn KeyStore, thorough: bool) -> Result<Vec<String>> {
    let (mut found, mut seen) = (Vec::new(), 0);
    // the metadata of described groups, with their paths, and the paths of arrays
    let (mut described, mut arrays) = (Vec::new(), BTreeSet::new());
    let root = StoreFolder { path: String::new(), around: None, is_passed_over: false, is_first_of_chunks: false };
    let mut pending = vec![root];
    while let Some(StoreFolder { path, mut around, is_passed_over, is_first_of_chunks }) = pending.pop() {
        let node = if is_passed_over { Ok(None) } else { metadata::node(store, &path) };
        let is_group = matches!(&node, Ok(Some(node)) if node.is_group);
        // damaged metadata may be that of an array
        let is_array = !is_group && !matches!(node, Ok(None));
        if let (Ok(Some(StoreNode { is_group: true, is_v2, attributes: Some(_) })), false) = (&node, path.is_empty()) {
            described.push((format!("{path}/"), if *is_v2 { V2_ATTRIBUTES } else { V3 }));
        }
        if is_array {
            arrays.insert(path.clone());
            let array = Around { prefix: path.clone(), array: OnceCell::new(), outer: around };
            // most version 2 arrays have their chunks beside the metadata
            let is_v2 = matches!(&node, Ok(Some(node)) if node.is_v2);
            if !thorough && is_v2 && array.array(store).is_some_and(ArrayMetadata::has_chunks_beside) {
                continue;
            }
            around = Some(array.into());
        } else if is_group {
            around = None;
        }
        let mut names = store.names(&path)?;
        seen += names.len();
        ensure!(seen <= MAX_LISTED_BYTES, "more than {MAX_LISTED_BYTES} files and folders");
        names.sort();
        for name in names {
            let key = join(&path, &name);
            let is_metadata = METADATA.contains(&&*name) && !is_passed_over;
            let is_of_system =
                OF_SYSTEMS.contains(&&*name) || OF_SYSTEMS_BEGIN.iter().any(|begin| name.starts_with(begin));
            if is_metadata || is_of_system || is_unfinished(&name) {
                continue;
            }
            let is_chunk = || around.as_ref().is_some_and(|around| around.has(store, &key));
            if name.starts_with('.') || !is_chunk() {
                found.push(key);
            }
        }
        let mut folders = store.prefixes(&path)?;
        folders.sort_by(|a, b| b.cmp(a));
        for own in folders.into_iter().filter(|own| !is_unfinished(own)) {
            seen += 1;
            let name = join(&path, &own);
            let is_of_chunks = (is_array || is_first_of_chunks) && is_of_chunks(store, &own, &name);
            if is_of_chunks && !thorough {
                continue;
            }
            let is_passed_over = is_passed_over && !is_first_of_chunks || is_of_chunks;
            let is_first_of_chunks = is_of_chunks && own == CHUNKS;
            pending.push(StoreFolder { path: name, around: around.clone(), is_passed_over, is_first_of_chunks });
        }
    }
    // an output has the groups around its arrays alone
    let is_empty = |group: &String| arrays.range(group.clone()..).next().is_none_or(|array| !array.starts_with(group));
    found.extend(described.iter().filter(|(group, _)| is_empty(group)).map(|(group, file)| format!("{group}{file}")));
    found.sort();
    Ok(found)
}
