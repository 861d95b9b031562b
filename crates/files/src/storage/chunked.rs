//! Tensors in chunks. A *chunk* is a box of a grid that is packed as a whole. A *unit* is the content of one value of
//! the store: a chunk, or a *shard*, which has several chunks and an index.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::path::PathBuf;
use std::sync::Arc;

use super::attachments::Attachments;
use super::key_store::WritableStore;
use super::read_at::{Identity, ReadAt};
use tensorop_kernels::error::Result;
use tensorop_kernels::layout::axis::Span;
use tensorop_kernels::layout::view::View;
use tensorop_kernels::layout::window::{Window, Windows};
use tensorop_kernels::memory::Buffer;

/// The maximum bytes of a row of chunks that windows in C order read at once; longer rows are copied to an unnamed
/// file. Eight threads hold eight rows: 256 MiB.
pub const MAX_ROW: usize = 1 << 25;

/// Returns whether some threads would have no row of chunks to download although there are enough chunks.
pub fn few_rows(shape: &[usize], rows: &Windows, grid: &[usize], threads: usize) -> bool {
    rows.count() < threads && rows.count() < Windows::boxes(shape, grid).count()
}

/// A tensor in chunks, which several threads may read.
pub trait Chunked: Debug + Send + Sync {
    fn grid(&self) -> &[usize] {
        &self.style().chunk
    }

    /// Gathers items into `out`, in C order and in the tensor's dtype.
    fn read(&self, places: &[Span], out: &mut [u8], scratch: &mut Buffer) -> Result<()>;

    /// Fails if the tensor has changed since it was opened.
    fn finish(&self) -> Result<()>;

    fn style(&self) -> &Arc<ChunkStyle>;

    /// Returns whether each chunk costs a request. Then several threads pay off for little data too.
    fn costs_requests(&self) -> bool {
        false
    }

    /// A unit may be cut off by the end of the tensor.
    fn is_unit(&self, window: &Window) -> bool;

    /// Opens the chunk or shard that holds exactly this box.
    fn value_of(&self, window: &Window) -> Result<Option<Arc<dyn ReadAt>>>;

    /// Returns whether the box is a stored chunk, readable or not.
    fn has(&self, window: &Window) -> bool;

    /// Packs a unit. `stores_empty` also stores chunks that hold only the fill value and are not stored yet.
    fn packed(&self, window: &Window, items: &[u8], stores_empty: bool) -> Result<PackedUnit>;

    /// Estimates the bytes to read, from the sizes of the values.
    fn bytes_at(&self, places: &[Span]) -> u64;

    fn store_identity(&self) -> Result<Identity>;

    /// The local folder of the values, with links resolved.
    fn folder(&self) -> Option<PathBuf> {
        None
    }

    /// `None` unless this is the only tensor of the store.
    fn attachments(&self) -> Option<&Arc<dyn Attachments>> {
        None
    }

    /// Keys are relative to the tensor's prefix.
    fn edit(&self) -> Result<Box<dyn WritableStore>>;
}

impl dyn Chunked {
    /// Returns how many indexes of shards the items of a view need.
    pub fn indexes_at(&self, view: &View, shape: &[usize]) -> u64 {
        let ChunkStyle { unit, chunk, .. } = &**self.style();
        let Some((places, _)) = view.as_selection(shape).filter(|_| unit != chunk) else { return 0 };
        Windows::boxes(shape, unit).touched_by(&places).map_or(0, |numbers| numbers.len() as u64)
    }
}

/// A packed unit and its key.
#[derive(Debug)]
pub struct PackedUnit {
    pub key: String,
    /// `None` if the unit holds only the fill value and is not stored.
    pub bytes: Option<Vec<u8>>,
}

/// Returns whether a chunk is stored even if it holds only the fill value.
pub type Stays<'a> = dyn Fn(&Window) -> bool + 'a;

/// How a tensor is stored in chunks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChunkStyle {
    pub unit: Vec<usize>,
    pub chunk: Vec<usize>,
    /// As in the format's metadata.
    pub codecs: String,
    /// Whether the chunks use exactly `codecs` rather than codecs that these replace.
    pub is_exact: bool,
    pub fill: Vec<u8>,
    /// As in the metadata.
    pub attributes: Option<String>,
    /// As in the metadata.
    pub dimension_names: Option<String>,
    /// Attributes by group path.
    pub groups: Arc<BTreeMap<String, String>>,
    pub is_consolidated: bool,
}
