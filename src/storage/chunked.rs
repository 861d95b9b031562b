//! Tensors that are stored in chunks. A *chunk* is a box of a grid that is packed as a whole. A *unit* is what one value of
//! the store (one file, in a folder) holds: a chunk, or a *shard*, which is a box of several chunks with an index of them.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::path::PathBuf;
use std::sync::Arc;

use super::attachments::Attachments;
use super::key_store::WritableStore;
use super::read_at::{Identity, ReadAt};
use crate::error::Result;
use crate::layout::axis::Span;
use crate::layout::window::{Window, Windows};
use crate::memory::Buffer;

/// The most bytes that a row of chunks may have to be read as a row, which is what windows in C order need at once. Chunks
/// in longer rows are read one by one, and copied to a file without a name where C order is needed. A scan holds one row in
/// each thread: with eight threads that is 256 MiB.
pub const MAX_ROW: usize = 1 << 25;

/// Returns whether `rows` of chunks of that grid are too few for `threads` threads, each of which asks a server for the chunks
/// of a row one after the other, although there are chunks for more of them.
pub fn few_rows(shape: &[usize], rows: &Windows, grid: &[usize], threads: usize) -> bool {
    rows.count() < threads && rows.count() < Windows::boxes(shape, grid).count()
}

/// A tensor in chunks, which several threads may read at once.
pub trait Chunked: Debug + Send + Sync {
    /// Returns the number of places of each axis in a chunk.
    fn grid(&self) -> &[usize] {
        &self.style().chunk
    }

    /// Gathers the items at some places of each axis into `out`, in C order and as the tensor's dtype has them.
    ///
    /// # Errors
    /// Reading fails; a chunk, which is named, is damaged; there is not enough memory.
    fn read(&self, places: &[Span], out: &mut [u8], scratch: &mut Buffer) -> Result<()>;

    /// Checks, once all that was wanted has been read, that the tensor has not changed since it was opened.
    ///
    /// # Errors
    /// A tensor that has changed.
    fn finish(&self) -> Result<()>;

    /// Returns how the tensor is stored.
    fn style(&self) -> &Arc<ChunkStyle>;

    /// Returns whether each chunk is a request to a server, so that threads gain by waiting together however little there is.
    fn costs_requests(&self) -> bool {
        false
    }

    /// Returns whether a box is a unit, whole or cut off by the end of the tensor.
    fn is_unit(&self, window: &Window) -> bool;

    /// Opens the value that holds all of a box and nothing else of the tensor, if there is one. It is a chunk or a shard,
    /// whole or cut off by the end of the tensor.
    ///
    /// # Errors
    /// A value that cannot be opened.
    fn value_of(&self, window: &Window) -> Result<Option<Arc<dyn ReadAt>>>;

    /// Returns whether a box is a chunk, whole or cut off by the end of the tensor, that is stored. One that cannot be read
    /// is.
    fn has(&self, window: &Window) -> bool;

    /// Packs the items of a unit for the tensor's own store. Chunks that hold only the fill value, and are not stored now, are
    /// stored if `stores_empty`.
    ///
    /// # Errors
    /// Not enough memory.
    fn packed(&self, window: &Window, items: &[u8], stores_empty: bool) -> Result<PackedUnit>;

    /// Returns how many bytes are read for the items at some places of each axis, as far as the sizes of the values tell
    /// without reading them.
    fn bytes_at(&self, places: &[Span]) -> u64;

    /// Returns what tells the store that the tensor lies in from all others.
    ///
    /// # Errors
    /// The system's.
    fn store_identity(&self) -> Result<Identity>;

    /// Returns the folder of the tensor's values, without links on the way; `None` if it is no folder of this machine.
    fn folder(&self) -> Option<PathBuf> {
        None
    }

    /// Returns the content of its store that is not a tensor, if the tensor is the only one of the store.
    fn attachments(&self) -> Option<&Arc<dyn Attachments>> {
        None
    }

    /// Begins a change of the tensor's values, whose keys are counted from its own prefix.
    ///
    /// # Errors
    /// A store that cannot be written to.
    fn edit(&self) -> Result<Box<dyn WritableStore>>;
}

/// What belongs into a store for a unit.
#[derive(Debug)]
pub struct PackedUnit {
    /// The key of its value, counted from the tensor's own prefix on.
    pub key: String,
    /// The bytes of the value; `None` if the unit holds only the fill value and is not stored.
    pub bytes: Option<Vec<u8>>,
}

/// Returns whether a chunk is stored even if it holds only the fill value.
pub type Stays<'a> = dyn Fn(&Window) -> bool + 'a;

/// The way in which a tensor is stored in chunks, so that another can be stored in the same way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChunkStyle {
    /// The number of places of each axis in a unit.
    pub unit: Vec<usize>,
    /// The number of places of each axis in a chunk.
    pub chunk: Vec<usize>,
    /// The list of what packs items into chunks, as the format's metadata spells it.
    pub codecs: String,
    /// Whether the chunks of the tensor are packed by exactly these codecs, and not by others that these stand for.
    pub is_exact: bool,
    /// The item that stands at every place of a chunk that is not stored.
    pub fill: Vec<u8>,
    /// The tensor's attributes, as the text that stands in its metadata.
    pub attributes: Option<String>,
    /// The names of the axes, as the text that stands in the metadata.
    pub dimension_names: Option<String>,
    /// The attributes of the groups of its store, by the paths of the groups.
    pub groups: Arc<BTreeMap<String, String>>,
    /// Whether its store is a group that has a list of all metadata in it.
    pub is_consolidated: bool,
}
