//! Files in a store beside metadata and chunks. A description skips chunk folders; a replacement visits all folders
//! and recognises chunks by key. So a store of a million chunks is listed in full only when all of it is read or
//! written.

use std::cell::OnceCell;
use std::io::Read;
use std::rc::Rc;
use std::sync::{Arc, OnceLock};

use super::members::{CHUNKS, is_of_chunks};
use super::metadata::{self, ArrayMetadata, V2_ARRAY, V2_ATTRIBUTES, V2_CONSOLIDATED, V2_GROUP, V3};
use crate::storage::attachments::Attachments;
use crate::storage::key_store::{KeyStore, join};
use crate::storage::read_at::Section;
use crate::storage::targets::stage::is_unfinished;
use tensorop_kernels::error::{Result, ensure, malformed};
use tensorop_kernels::parallel::made_once;

const MAX_LISTED_BYTES: usize = 1 << 24;

const METADATA: &[&str] = &[V3, V2_ARRAY, V2_GROUP, V2_ATTRIBUTES, V2_CONSOLIDATED];

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
    let root = StoreFolder { path: String::new(), around: None, is_passed_over: false, is_first_of_chunks: false };
    let mut pending = vec![root];
    while let Some(StoreFolder { path, mut around, is_passed_over, is_first_of_chunks }) = pending.pop() {
        let node = if is_passed_over { Ok(None) } else { metadata::node(store, &path) };
        let is_group = matches!(&node, Ok(Some(node)) if node.is_group);
        // damaged metadata may be that of an array
        let is_array = !is_group && !matches!(node, Ok(None));
        if is_array {
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
    found.sort();
    Ok(found)
}
