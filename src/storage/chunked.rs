//! Items that are stored in chunks: boxes of a grid, each in a file of its own and packed as a whole.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::Arc;

use super::key_store::WritableStore;
use super::read_at::ReadAt;
use crate::error::Result;
use crate::layout::axis::Span;
use crate::layout::window::Window;

/// The most bytes of a row of chunks, which is what windows in C order need at once, that are read as a row. Of more the
/// chunks are read by themselves, to a file without a name where C order is needed. Times the threads it is what a scan
/// holds: 256 MiB with eight of them.
pub const MOST_ROW: usize = 1 << 25;

/// A tensor in chunks. Several threads read it at once.
pub trait Chunked: Debug + Send + Sync {
    /// The places of each axis in a chunk.
    fn grid(&self) -> &[usize];

    /// Gathers the items at some places of each axis into `out`, in C order and as the tensor's dtype has them.
    ///
    /// # Errors
    /// Of reading; a chunk that is not in order, which is named; not enough memory.
    fn read(&self, places: &[Span], out: &mut [u8], scratch: &mut Vec<u8>) -> Result<()>;

    /// To be called when all that was wanted has been read.
    ///
    /// # Errors
    /// A tensor that has changed.
    fn finish(&self) -> Result<()>;

    /// How it is stored.
    fn style(&self) -> &Arc<ChunkStyle>;

    /// Opens the value that holds all of a box and nothing else of the tensor, if there is one. It is a chunk or a shard,
    /// whole or cut off by the end of the tensor.
    ///
    /// # Errors
    /// A value that cannot be opened.
    fn value_of(&self, window: &Window) -> Result<Option<Arc<dyn ReadAt>>>;

    /// Returns the key of the value that holds a box, from the tensor's own prefix on, and what the value is to be where
    /// these are the items of the box.
    ///
    /// # Errors
    /// Not enough memory.
    fn packed(&self, window: &Window, items: &[u8]) -> Result<(String, Vec<u8>)>;

    /// The bytes that are read from files for the items at some places of each axis, as far as that is known without
    /// reading them.
    fn bytes_at(&self, places: &[Span]) -> u64;

    /// Begins a change of the tensor's values, whose keys are counted from its own prefix.
    ///
    /// # Errors
    /// A store that cannot be written to.
    fn edit(&self) -> Result<Box<dyn WritableStore>>;
}

/// How a tensor is stored in chunks, so that another can be stored the same way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChunkStyle {
    /// The places of each axis in one file: a shard, where there are shards, else a chunk.
    pub unit: Vec<usize>,
    /// The places of each axis in a chunk.
    pub chunk: Vec<usize>,
    /// What packs items into chunks, in the words of the format.
    pub codecs: String,
    /// Whether its own chunks are packed by exactly these, and not by others that these stand for.
    pub is_exact: bool,
    /// The item of chunks that are not there.
    pub fill: Vec<u8>,
    /// What else is said of the tensor, as it stands in the format.
    pub attributes: Option<String>,
    /// The names of the axes, as they stand in the format.
    pub dimension_names: Option<String>,
    /// What is said of the groups of its store, by their paths from its folder on.
    pub groups: Arc<BTreeMap<String, String>>,
}
