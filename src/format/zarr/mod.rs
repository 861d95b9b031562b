//! Zarr: a store that is one tensor in chunks (an *array*), or a *group* of arrays and groups. Versions 3 and 2 are
//! read, and version 3 is written. Everything goes through a [`KeyStore`], so that the store need not be a folder.

mod blosc;
mod codecs;
mod describe;
mod dtypes;
mod extension;
mod known;
mod metadata;
mod read;
mod sharding;
#[cfg(test)]
mod tests;
mod write;

use std::collections::BTreeMap;
use std::io::Read;
use std::sync::{Arc, Mutex};

use self::known::KnownStore;
use self::metadata::ArrayMetadata;
use self::read::ZarrChunks;
use super::content::{Content, ContentSource, Description, FileFacts};
use super::interface::Reader;
use crate::error::{Advice, Error, ErrorKind, Result, bail, ensure, malformed};
use crate::format::name_order::by_numbers;
use crate::parallel::locked;
use crate::storage::key_store::{AllValues, KeyStore, Lock, join};
use crate::storage::source::{Container, Source};
use crate::storage::unread::UnreadArray;

use self::metadata::{V2_ARRAY, V2_GROUP, V3};
pub(super) use self::write::ZarrWriter;

/// The most levels that groups may lie in groups.
const MOST_DEPTH: usize = 32;

/// The most folders that are looked at in a group.
const MOST_FOLDERS: usize = 1 << 20;

/// The names of files of which each makes a folder a store.
pub(super) const MARKS: &[&str] = &[V3, V2_ARRAY, V2_GROUP];

/// Opens a store. Of an array that reads the metadata, and of a group it finds the names of all arrays.
///
/// # Errors
/// The metadata is damaged; reading or listing fails.
pub(super) fn open(content: Content) -> Result<Box<dyn Reader>> {
    let ContentSource::Folder(store) = content.opened else { bail!("is a file, expected the folder of a Zarr store") };
    let store: Arc<dyn KeyStore> = if store.costs_requests() { Arc::new(KnownStore::new(store)) } else { store };
    let Some(node) = metadata::node(&*store, "")? else { bail!("no Zarr store: has neither {V3} nor {V2_ARRAY}") };
    let is_consolidated = node.is_group && metadata::is_consolidated(&*store)?;
    let (groups, has_v2, lock) = (Arc::default(), node.is_v2, Mutex::default());
    let mut reader = ZarrReader { store, members: None, groups, is_consolidated, has_v2, lock };
    if node.is_group {
        reader.walk()?;
    }
    Ok(Box::new(reader))
}

/// Reads a store, which holds an array or a group.
#[derive(Debug)]
struct ZarrReader {
    store: Arc<dyn KeyStore>,
    /// The names of the arrays of a group; `None` for a store that is one array.
    members: Option<Arc<Container>>,
    /// The attributes of the groups, by the paths of these.
    groups: Arc<BTreeMap<String, String>>,
    /// Whether the group that the store is has a list of all metadata in it.
    is_consolidated: bool,
    /// Whether the store itself or any array in it is of version 2.
    has_v2: bool,
    /// The lock of the array that is being changed.
    lock: Mutex<Option<Lock>>,
}

impl ZarrReader {
    /// Looks for all arrays in the group that the store is, and in the groups in it. They are in the natural order of their paths.
    ///
    /// # Errors
    /// There are more folders than are looked at; listing or reading fails.
    fn walk(&mut self) -> Result<()> {
        let (mut names, mut groups) = (Vec::new(), BTreeMap::new());
        let (mut pending, mut seen) = (vec![(String::new(), 0)], 0_usize);
        while let Some((path, depth)) = pending.pop() {
            let own = metadata::group_attributes(&*self.store, &path);
            if let Some(own) = own.map_err(|error| if path.is_empty() { error } else { error.within(&*path) })? {
                groups.insert(path.clone(), own);
            }
            // Hidden folders are not members.
            for own in self.store.prefixes(&path)?.into_iter().filter(|own| !own.starts_with('.')) {
                seen += 1;
                ensure!(seen <= MOST_FOLDERS, "more than {MOST_FOLDERS} folders");
                let name = join(&path, &own);
                match metadata::node(&*self.store, &name) {
                    Ok(None) => {}
                    Ok(Some(node)) if node.is_group => {
                        ensure!(depth < MOST_DEPTH, "groups in groups deeper than {MOST_DEPTH}");
                        pending.push((name, depth + 1));
                    }
                    // A damaged array is listed, and refused when it is read, so that the others can be read.
                    found => {
                        self.has_v2 |= found.is_ok_and(|node| node.is_some_and(|node| node.is_v2));
                        names.push(name);
                    }
                }
            }
        }
        names.sort_by(|a, b| by_numbers(a, b));
        self.members = Some(Arc::new(Container::new(self.store.identity()?, names)));
        self.groups = groups.into();
        Ok(())
    }

    /// Returns the prefix of an array.
    fn prefix(&self, n: usize) -> Result<&str> {
        let Some(container) = &self.members else { return Ok("") };
        let name = container.names.get(n).ok_or_else(|| malformed!("tensor {n} of {}", container.names.len()))?;
        // A name must not lead out of the group.
        let plain = !name.is_empty() && name.split('/').all(|part| !part.is_empty() && part != "." && part != "..");
        ensure!(plain && !name.contains(['\0', '\\']), "no tensor {name:?}");
        Ok(name)
    }

    /// Reads the metadata of an array.
    fn array(&self, n: usize) -> Result<ArrayMetadata> {
        metadata::array(&*self.store, self.prefix(n)?)
    }
}

impl Reader for ZarrReader {
    fn container(&self) -> Option<&Arc<Container>> {
        self.members.as_ref()
    }

    fn names(&self) -> Option<&[String]> {
        self.members.as_ref().map(|container| &*container.names)
    }

    fn facts(&self) -> FileFacts<'_> {
        let unwritten = self.has_v2.then(|| {
            let message = "in a Zarr store of version 2 only items are changed";
            Error::of(ErrorKind::Unsupported, message).advising(Advice::ConvertStore)
        });
        FileFacts { unwritten, ..FileFacts::default() }
    }

    fn describe(&self, n: usize) -> Result<Description> {
        let array = self.array(n)?;
        let (bytes, chunks) = (array.meta.bytes() as u64, Some(array.description()));
        Ok(Description { meta: array.meta, bytes, offset: None, chunks })
    }

    fn source(&self, n: usize, label: String) -> Result<Source> {
        let mut array = self.array(n)?;
        let style = Arc::make_mut(&mut array.style);
        (style.groups, style.is_consolidated) = (Arc::clone(&self.groups), self.is_consolidated);
        let (meta, lock) = (array.meta.clone(), locked(&self.lock).clone());
        let chunks = ZarrChunks::new(Arc::clone(&self.store), self.prefix(n)?, array, lock)?;
        let source = Source::chunks(meta, Arc::new(chunks), label);
        Ok(match &self.members {
            None => source,
            Some(container) => source.one_of(Arc::clone(container), n),
        })
    }

    fn raw(&self, n: usize) -> Option<Box<dyn Read>> {
        Some(Box::new(AllValues::new(Arc::clone(&self.store), self.prefix(n).ok()?)))
    }

    fn unread(&self, n: usize) -> Result<Option<UnreadArray>> {
        let prefix = self.prefix(n)?;
        match self.array(n) {
            // What is damaged is not copied as if it were whole, and version 2 cannot lie in a store of version 3.
            Err(error) if error.kind() == ErrorKind::Unsupported => {}
            Ok(_) | Err(_) => return Ok(None),
        }
        let Some(found) = metadata::unread(&*self.store, prefix)? else { return Ok(None) };
        let mut array = UnreadArray::new(Arc::clone(&self.store), prefix, V3, found.text, found.dims)?;
        (array.groups, array.is_consolidated) = (Arc::clone(&self.groups), self.is_consolidated);
        Ok(Some(array))
    }

    fn lock(&self, n: usize, together: bool) -> Result<()> {
        let lock = self.store.lock(&join(self.prefix(n)?, self.array(n)?.file), together)?;
        *locked(&self.lock) = Some(lock);
        Ok(())
    }
}
