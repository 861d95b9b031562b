//! The file or store of several tensors.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::storage::attachments::Attachments;
use crate::storage::read_at::Identity;

/// The metadata of a file: texts by keys.
pub type Metadata = BTreeMap<String, String>;

/// Merges the metadata of several files; later texts win. Consecutive tensors of one file share metadata, which are
/// merged once.
pub fn merged<'a>(all: impl IntoIterator<Item = &'a Arc<Metadata>>) -> Metadata {
    let (mut metadata, mut last) = (Metadata::new(), None);
    for of_one in all {
        if !last.replace(of_one).is_some_and(|last| Arc::ptr_eq(last, of_one)) {
            metadata.extend(of_one.iter().map(|(key, value)| (key.clone(), value.clone())));
        }
    }
    metadata
}

/// A file or store of several tensors, as each tensor knows it: outputs need the names and the other content.
#[derive(Clone, Debug)]
pub struct Container {
    pub file: Identity,
    pub names: Vec<String>,
    /// `None` if the format has no metadata.
    pub metadata: Option<Arc<Metadata>>,
    /// The index file that the user named.
    pub index: Option<Identity>,
    /// `None` if the format has no attachments.
    pub attachments: Option<Arc<dyn Attachments>>,
    /// Why containers like this cannot be written.
    pub unwritten: Option<&'static str>,
}

impl Container {
    pub fn new(file: Identity, names: Vec<String>) -> Self {
        Self { file, names, metadata: None, index: None, attachments: None, unwritten: None }
    }
}
