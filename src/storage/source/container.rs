//! The file or store that holds a tensor together with others.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::storage::attachments::Attachments;
use crate::storage::read_at::Identity;

/// The metadata of a file as a whole: texts by their keys.
pub type Metadata = BTreeMap<String, String>;

/// Merges the metadata of the files of several tensors. Of two texts with one key the later one is kept. Tensors of one file
/// follow each other and share its metadata, which are then taken once.
pub fn merged<'a>(all: impl IntoIterator<Item = &'a Arc<Metadata>>) -> Metadata {
    let (mut metadata, mut last) = (Metadata::new(), None);
    for of_one in all {
        if !last.replace(of_one).is_some_and(|last| Arc::ptr_eq(last, of_one)) {
            metadata.extend(of_one.iter().map(|(key, value)| (key.clone(), value.clone())));
        }
    }
    metadata
}

/// A file or store that holds several tensors, as each of them knows it. To replace the file, one must know what it held,
/// and to write one tensor elsewhere, what it was called.
#[derive(Clone, Debug)]
pub struct Container {
    /// The identity of the file or store.
    pub file: Identity,
    /// The names of all tensors in it.
    pub names: Vec<String>,
    /// The metadata of the file as a whole; `None` if its format has no place for any.
    pub metadata: Option<Arc<Metadata>>,
    /// The index file by which this one was opened, if it was.
    pub index: Option<Identity>,
    /// The content that is not a tensor; `None` if a container of its format has none.
    pub attachments: Option<Arc<dyn Attachments>>,
    /// Why no writer makes such a container; `None` if one does.
    pub unwritten: Option<&'static str>,
}

impl Container {
    /// Describes a file or a store that holds tensors of these names and has no place for metadata of its own.
    pub fn new(file: Identity, names: Vec<String>) -> Self {
        Self { file, names, metadata: None, index: None, attachments: None, unwritten: None }
    }
}
