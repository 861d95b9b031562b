//! The file or store of several tensors.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::Arc;

use super::Source;
use crate::storage::attachments::Attachments;
use crate::storage::read_at::Identity;
use tensorop_kernels::error::Result;
use tensorop_kernels::item::dtype::Kind;
use tensorop_kernels::item::tensor::Tensor;

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

/// The metadata of a file.
#[derive(Debug)]
pub struct FileMetadata {
    /// The name of the format, whose files are compared by [`exact`](Self::exact) values.
    pub format: &'static str,
    /// As `info` prints it: long values are replaced by their lengths, for example.
    pub shown: Arc<Metadata>,
    /// Outputs keep it. Files of different formats are compared by it.
    pub kept: Arc<Metadata>,
    pub exact: Arc<dyn ExactValues>,
}

/// Values that are equal exactly if their bytes are.
pub trait ExactValues: Debug + Send + Sync {
    /// Returns the bytes of all values, or their hashes, by key.
    ///
    /// # Errors
    /// The values are in a file that cannot be read.
    fn values(&self) -> Result<BTreeMap<String, Vec<u8>>>;
}

impl<T: AsRef<[u8]> + Debug + Send + Sync> ExactValues for BTreeMap<String, T> {
    fn values(&self) -> Result<BTreeMap<String, Vec<u8>>> {
        Ok(self.iter().map(|(key, value)| (key.clone(), value.as_ref().to_vec())).collect())
    }
}

/// A file or store of several tensors, as each tensor knows it: outputs need the names and the other content.
#[derive(Clone, Debug)]
pub struct Container {
    pub file: Identity,
    pub names: Arc<Vec<String>>,
    /// `None` if the format has no metadata.
    pub metadata: Option<Arc<FileMetadata>>,
    /// The index file that the user named.
    pub index: Option<Identity>,
    /// `None` if the format has no attachments.
    pub attachments: Option<Arc<dyn Attachments>>,
    /// Why containers like this cannot be written.
    pub unwritten: Option<&'static str>,
}

impl Container {
    pub fn new(file: Identity, names: Vec<String>) -> Self {
        Self { file, names: names.into(), metadata: None, index: None, attachments: None, unwritten: None }
    }
}

impl Source {
    /// Takes a tensor in memory whose strings an operator may widen.
    pub fn with_free_width(tensor: Tensor, label: String) -> Self {
        let has_free_width = matches!(tensor.dtype().kind(), Kind::Str(_) | Kind::Bytes(_));
        Self { has_free_width, ..Self::memory(tensor, label) }
    }

    /// Takes a tensor in memory whose dtype was inferred from the items of a text.
    pub fn inferred(tensor: Tensor, label: String) -> Self {
        Self { is_inferred: true, ..Self::with_free_width(tensor, label) }
    }

    pub fn is_inferred(&self) -> bool {
        self.is_inferred
    }

    pub fn has_free_width(&self) -> bool {
        self.has_free_width
    }
}
