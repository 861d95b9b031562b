//! Faults of an index of shards.

use std::path::PathBuf;

use super::name_filter::NameFilter;

const MAX_LISTED: usize = 8;

/// Faults that the opened shards reveal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IndexFaults {
    /// In the order of the shards.
    pub unlisted: Vec<UnlistedTensor>,
    /// The name of a total of the model, with the stated and the correct value, if they differ.
    pub total: Option<(&'static str, [u64; 2])>,
}

/// A tensor of a shard outside the index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnlistedTensor {
    /// With the stem of the model in a folder of several.
    pub name: String,
    /// The name in the shard.
    pub member: String,
    pub shard: PathBuf,
}

impl IndexFaults {
    /// Removes the tensors that a filter excludes.
    #[must_use]
    pub fn taken_by(mut self, filter: NameFilter<'_>) -> Self {
        self.unlisted.retain(|tensor| filter.takes(&tensor.name));
        self
    }

    /// Returns the names of the unlisted tensors.
    pub fn names(&self) -> Vec<String> {
        self.unlisted.iter().map(|tensor| tensor.name.clone()).collect()
    }

    /// Returns the faults in one line.
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
        let total = self.total.map(|(name, [said, right])| format!("{name} is {said}, expected {right}"));
        let parts: Vec<_> = unlisted.into_iter().chain(total).collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }
}
