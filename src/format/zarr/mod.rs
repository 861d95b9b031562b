//! Zarr: a folder that is one tensor in chunks, or a group of such folders. Versions 3 and 2 are read, 3 is written.

mod blosc;
mod codec;
mod codecs;
mod dtypes;
mod folder;
mod group;
mod metadata;
mod read;
mod write;

use std::collections::BTreeMap;
use std::fs::File;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use self::metadata::Node;
use self::read::Chunks;
use super::content::{Content, Description, Opened};
use super::interface::{Reader, Unchangeable};
use crate::error::{Result, bail, malformed};
use crate::storage::source::{Container, Source};
use crate::storage::stage;

use self::metadata::{V2_ARRAY, V2_GROUP, V3};
pub(super) use self::write::ZarrWriter;

/// The names of files that make a folder a store.
pub(super) const MARKS: &[&str] = &[V3, V2_ARRAY, V2_GROUP];

/// Opens a store: reads its metadata, of a group the names of its arrays.
///
/// # Errors
/// Metadata that is not in order; of reading folders.
pub(super) fn open(content: Content) -> Result<Box<dyn Reader>> {
    let Opened::Folder(path) = content.opened else { bail!("is a file, expected the folder of a Zarr store") };
    Ok(match metadata::node(&path)? {
        Some(Node::Array) => Box::new(Store {
            path,
            members: None,
            groups: Arc::default(),
            is_old: OnceLock::new(),
            lock: Mutex::default(),
        }),
        Some(Node::Group) => {
            let (members, groups) = group::arrays(&path)?;
            let container = Container::of_folder(&path, members)?;
            Box::new(Store {
                path,
                members: Some(container.into()),
                groups: groups.into(),
                is_old: OnceLock::new(),
                lock: Mutex::default(),
            })
        }
        None => bail!("no Zarr store: has neither {V3} nor {V2_ARRAY}"),
    })
}

/// A store: an array, or a group of them.
#[derive(Debug)]
struct Store {
    path: PathBuf,
    /// The arrays of a group.
    members: Option<Arc<Container>>,
    /// The attributes of the groups, by their paths.
    groups: Arc<BTreeMap<String, String>>,
    /// Whether any of it is of version 2, once that was asked: who changes its arrays asks for each, and all are read.
    is_old: OnceLock<bool>,
    /// What is locked, as long as it is read or changed.
    lock: Mutex<Option<Arc<File>>>,
}

impl Store {
    /// The folder of an array.
    fn folder(&self, n: usize) -> Result<PathBuf> {
        match &self.members {
            None => Ok(self.path.clone()),
            Some(container) => {
                let name =
                    container.names.get(n).ok_or_else(|| malformed!("tensor {n} of {}", container.names.len()))?;
                group::member(&self.path, name)
            }
        }
    }

    fn chunks(&self, n: usize) -> Result<Chunks> {
        let folder = self.folder(n)?;
        let mut array = metadata::array(&folder)?;
        Arc::make_mut(&mut array.style).groups = Arc::clone(&self.groups);
        let lock = self.lock.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Ok(Chunks::new(&self.path, &folder, array, lock))
    }
}

impl Reader for Store {
    fn names(&self) -> Option<Vec<&str>> {
        self.members.as_ref().map(|container| container.names.iter().map(String::as_str).collect())
    }

    fn name(&self, n: usize) -> Option<&str> {
        self.members.as_ref()?.names.get(n).map(String::as_str)
    }

    fn unwritten(&self) -> Option<&'static str> {
        let folders = (0..self.members.as_ref().map_or(1, |members| members.names.len())).map(|n| self.folder(n));
        let is_old = |folder: PathBuf| metadata::array(&folder).is_ok_and(|array| array.file == V2_ARRAY);
        // a group without arrays tells its version itself
        let any = || !self.path.join(V3).exists() || folders.filter_map(Result::ok).any(is_old);
        self.is_old.get_or_init(any).then_some(
            "in a Zarr store of version 2 only items are changed: tensorop convert STORE -o NAME.zarr makes version 3",
        )
    }

    fn unchangeable(&self) -> Option<Unchangeable> {
        None
    }

    fn describe(&self, n: usize) -> Result<Description> {
        let array = metadata::array(&self.folder(n)?)?;
        Ok(Description { bytes: array.meta.bytes() as u64, meta: array.meta, offset: None })
    }

    fn source(&self, n: usize, label: String) -> Result<Source> {
        let chunks = self.chunks(n)?;
        let source = Source::chunks(chunks.array().meta.clone(), Arc::new(chunks), label);
        Ok(match &self.members {
            None => source,
            Some(container) => source.one_of(Arc::clone(container), n),
        })
    }

    fn lock(&self, n: usize, together: bool) -> Result<()> {
        let folder = self.folder(n)?;
        let lock = stage::lock(&folder.join(metadata::array(&folder)?.file), together)?;
        *self.lock.lock().unwrap_or_else(PoisonError::into_inner) = Some(lock.into());
        Ok(())
    }
}
