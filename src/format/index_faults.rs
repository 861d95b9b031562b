//! What an index of shards does not say rightly.

use std::path::PathBuf;

use super::name_filter::NameFilter;

/// The most names that a message lists.
const MAX_LISTED: usize = 8;

/// What an index does not say rightly, as far as the shards tell that have been opened. Shards are not opened for it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IndexFaults {
    /// The tensors of shards that the index does not place there, in the order of the shards.
    pub unlisted: Vec<UnlistedTensor>,
    /// The sum of bytes that the index gives, and the right one, if they differ.
    pub total_size: Option<[u64; 2]>,
}

/// A tensor in a shard that is not found by the index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnlistedTensor {
    /// Its name, in a folder of several models behind that of its model.
    pub name: String,
    /// Its name in the shard.
    pub member: String,
    /// The path of the shard.
    pub shard: PathBuf,
}

impl IndexFaults {
    /// Leaves out the tensors that a filter does not take.
    #[must_use]
    pub fn taken_by(mut self, filter: NameFilter<'_>) -> Self {
        self.unlisted.retain(|tensor| filter.takes(&tensor.name));
        self
    }

    /// Returns the names of the tensors that are not found by the index.
    pub fn names(&self) -> Vec<String> {
        self.unlisted.iter().map(|tensor| tensor.name.clone()).collect()
    }

    /// Returns the faults in one line, as the end of a message; `None` if there are none.
    pub fn message(&self) -> Option<String> {
        let unlisted = (!self.unlisted.is_empty()).then(|| {
            let named = |tensor: &UnlistedTensor| {
                let shard = tensor.shard.file_name().unwrap_or_default().to_string_lossy();
                format!("{} ({shard})", tensor.name)
            };
            let listed: Vec<_> = self.unlisted.iter().take(MAX_LISTED).map(named).collect();
            let more = self.unlisted.len() - listed.len();
            let more = if more == 0 { String::new() } else { format!(" and {more} more") };
            format!("not in the index: {}{more}", listed.join(", "))
        });
        let total = self.total_size.map(|[said, right]| format!("total_size is {said}, expected {right}"));
        let parts: Vec<_> = unlisted.into_iter().chain(total).collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }
}
