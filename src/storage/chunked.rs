//! Tensors that are stored in chunks. A *chunk* is a box of a grid that is packed as a whole. A *unit* is the content
//! of one value of the store (one file of a folder): a chunk, or a *shard*, which is a box of several chunks with an
//! index.

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

/// The maximum size in bytes of a row of chunks that is read at once, as windows in C order need it. Chunks of longer
/// rows are read one by one, and copied to an unnamed file if C order is needed. Each thread of a scan holds one row:
/// eight threads hold 256 MiB.
pub const MAX_ROW: usize = 1 << 25;

/// Returns whether there are fewer rows of chunks than threads although there are more chunks than rows. A thread
/// downloads the chunks of a row one after the other, so some threads would have no work.
pub fn few_rows(shape: &[usize], rows: &Windows, grid: &[usize], threads: usize) -> bool {
    rows.count() < threads && rows.count() < Windows::boxes(shape, grid).count()
}

/// A tensor in chunks, which several threads may read at once.
pub trait Chunked: Debug + Send + Sync {
    /// The number of items of a chunk on each axis.
    fn grid(&self) -> &[usize] {
        &self.style().chunk
    }

    /// Gathers the items at `places` (one span per axis) into `out`, in C order and in the tensor's dtype.
    ///
    /// # Errors
    /// Reading fails, a chunk is damaged (the message names it), or memory runs out.
    fn read(&self, places: &[Span], out: &mut [u8], scratch: &mut Buffer) -> Result<()>;

    /// Checks after the last read that the tensor has not changed since it was opened.
    ///
    /// # Errors
    /// The tensor has changed.
    fn finish(&self) -> Result<()>;

    fn style(&self) -> &Arc<ChunkStyle>;

    /// Returns whether each chunk costs a request to a server. Then several threads pay off for little data too.
    fn costs_requests(&self) -> bool {
        false
    }

    /// Returns whether a box is one unit. A unit at the end of the tensor may be cut off.
    fn is_unit(&self, window: &Window) -> bool;

    /// Opens the value (a chunk or a shard) that holds exactly this box, if there is one.
    ///
    /// # Errors
    /// The value cannot be opened.
    fn value_of(&self, window: &Window) -> Result<Option<Arc<dyn ReadAt>>>;

    /// Returns whether a box is a chunk that is stored, readable or not.
    fn has(&self, window: &Window) -> bool;

    /// Packs the items of a unit for the tensor's own store. `stores_empty` also stores chunks that hold only the fill
    /// value and are not stored yet.
    ///
    /// # Errors
    /// Memory runs out.
    fn packed(&self, window: &Window, items: &[u8], stores_empty: bool) -> Result<PackedUnit>;

    /// Estimates the bytes that a read of `places` transfers, from the sizes of the values.
    fn bytes_at(&self, places: &[Span]) -> u64;

    /// Returns the identity of the tensor's store.
    fn store_identity(&self) -> Result<Identity>;

    /// Returns the folder of the tensor's values with links resolved; `None` if they are not in a local folder.
    fn folder(&self) -> Option<PathBuf> {
        None
    }

    /// Returns the attachments of the store if this is its only tensor.
    fn attachments(&self) -> Option<&Arc<dyn Attachments>> {
        None
    }

    /// Begins a change of the tensor's values. Keys are relative to the tensor's prefix.
    ///
    /// # Errors
    /// The store is read-only.
    fn edit(&self) -> Result<Box<dyn WritableStore>>;
}

/// A packed unit.
#[derive(Debug)]
pub struct PackedUnit {
    /// The key, relative to the tensor's prefix.
    pub key: String,
    /// The value; `None` if the unit holds only the fill value and is not stored.
    pub bytes: Option<Vec<u8>>,
}

/// Returns whether a chunk is stored even if it holds only the fill value.
pub type Stays<'a> = dyn Fn(&Window) -> bool + 'a;

/// How a tensor is stored in chunks, so that another can be stored the same way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChunkStyle {
    /// The number of items of a unit on each axis.
    pub unit: Vec<usize>,
    /// The number of items of a chunk on each axis.
    pub chunk: Vec<usize>,
    /// The list of codecs in the syntax of the format's metadata.
    pub codecs: String,
    /// Whether the chunks use exactly `codecs`, rather than codecs that `codecs` replaces.
    pub is_exact: bool,
    /// The item of chunks that are not stored.
    pub fill: Vec<u8>,
    /// The tensor's attributes as text of the metadata.
    pub attributes: Option<String>,
    /// The names of the axes as text of the metadata.
    pub dimension_names: Option<String>,
    /// The attributes of the store's groups, by group path.
    pub groups: Arc<BTreeMap<String, String>>,
    /// Whether the store is a group with consolidated metadata.
    pub is_consolidated: bool,
}
