//! The sink that stores the boxes of a tensor as chunks or shards.

use crate::engine::sink::{GetStored, WindowSink};
use crate::error::{Context, Error, Result};
use crate::format::interface::WriteChunks;
use crate::layout::window::{Window, Windows};
use crate::ops::access::{Access, StoredWindow};
use crate::ops::fill::Region;
use crate::storage::chunked::ChunkStyle;
use crate::storage::draft::StoreDraft;
use crate::storage::made_units::{MadeUnit, MadeUnits};
use crate::storage::platform::is_full;
use crate::storage::read_at::ReadAt;

/// Stores each box of one tensor as one value of a store: a chunk, or a shard of several chunks.
pub(super) struct ChunkSink<'a> {
    pub chunks: &'a dyn WriteChunks,
    /// The number of the tensor among the tensors of the output.
    pub n: usize,
    pub store: &'a dyn StoreDraft,
    /// The beginning of an error message.
    pub failed: String,
    /// How the operator accesses its data.
    pub data: Option<Access<'a>>,
    /// The boxes that another process may have made before, if the output is made in shares.
    pub made: Option<MadeBoxes<'a>>,
}

pub(super) struct MadeBoxes<'a> {
    pub windows: &'a Windows,
    /// The number of the tensor's first box among the boxes of all tensors.
    pub first: usize,
    pub units: &'a MadeUnits<'a>,
}

impl MadeBoxes<'_> {
    fn number(&self, window: &Window) -> usize {
        self.first + self.windows.number_of(window.start)
    }
}

impl WindowSink for ChunkSink<'_> {
    fn put(&self, region: &Region, items: &[u8]) -> Result<()> {
        let window = region.window();
        let key = self.chunks.key(self.n, window);
        let packed = self.chunks.pack(self.n, window, items, &|chunk| self.is_in_data(chunk));
        match packed.with_context(|| format!("{}: chunk {key}", self.failed))? {
            Some(bytes) => {
                self.store.put(&key, &bytes).with_context(|| self.failed.clone())?;
                self.note(window, MadeUnit::File(bytes.len() as u64))
            }
            None => self.leave_out(window),
        }
    }

    fn has(&self, window: &Window, stored: &GetStored<'_>) -> Result<bool> {
        if self.is_made(window) {
            return Ok(true);
        }
        let Some(StoredWindow { chunks: from, places: there }) = stored()? else { return Ok(false) };
        // The end of the output may cut off a box that is whole in the data. Such a box is not copied.
        let own = self.chunks.style(self.n);
        let whole = window.shape() == own.unit || window.ranges == there.ranges;
        if !whole || !has_same_files(own, from.style()) {
            return Ok(false);
        }
        let Some(value) = from.value_of(&there)? else {
            let is_empty = !self.chunks.stores_empty() && from.is_unit(&there);
            return if is_empty { self.leave_out(window).map(|()| true) } else { Ok(false) };
        };
        let len = usize::try_from(value.size()?)?;
        // An empty file is damaged. It is not copied, because reading the window reports the damage.
        if len == 0 { Ok(false) } else { self.copied(window, &*value, len) }
    }
}

fn has_same_files(own: &ChunkStyle, stored: &ChunkStyle) -> bool {
    let same = (&own.unit, &own.chunk, &own.codecs) == (&stored.unit, &stored.chunk, &stored.codecs);
    same && stored.is_exact && own.fill == stored.fill
}

impl ChunkSink<'_> {
    fn is_made(&self, window: &Window) -> bool {
        let Some(made) = &self.made else { return false };
        let number = made.number(window);
        // A box whose size is unknown is made again.
        let Ok(size) = self.store.size(&self.chunks.key(self.n, window)) else { return false };
        match (made.units.get(number), size) {
            (Some(MadeUnit::Empty), size) => size.is_none(),
            (Some(MadeUnit::File(bytes)), size) => size == Some(bytes),
            // Another process made the file and did not note it, for example because it was killed. Files are never
            // half written.
            (None, Some(bytes)) => made.units.add(number, MadeUnit::File(bytes)).is_ok(),
            (None, None) => false,
        }
    }

    /// Notes that no file is stored for a box. In a share, also removes a file that an earlier run has stored.
    fn leave_out(&self, window: &Window) -> Result<()> {
        if self.made.is_some() {
            self.store.remove(&self.chunks.key(self.n, window)).with_context(|| self.failed.clone())?;
        }
        self.note(window, MadeUnit::Empty)
    }

    /// Returns whether the data stores this chunk, too. Such a chunk is stored even if it holds only the fill value.
    fn is_in_data(&self, chunk: &Window) -> bool {
        let stored = self.data.as_ref().and_then(|data| data.stored(chunk));
        stored.is_some_and(|StoredWindow { chunks, places }| chunks.has(&places))
    }

    fn note(&self, window: &Window, unit: MadeUnit) -> Result<()> {
        let add = |made: &MadeBoxes<'_>| made.units.add(made.number(window), unit);
        self.made.as_ref().map_or(Ok(()), add).with_context(|| self.failed.clone())
    }

    /// Copies the stored bytes of a box; returns whether that worked.
    fn copied(&self, window: &Window, from: &dyn ReadAt, bytes: usize) -> Result<bool> {
        let put = self.store.put_from(&self.chunks.key(self.n, window), from, bytes);
        match put {
            Ok(()) => self.note(window, MadeUnit::File(bytes as u64)).map(|()| true),
            Err(error) if is_full(&error) => Err(Error::from(error).within(self.failed.clone())),
            // The window is then read and written, which reports the cause.
            Err(_) => Ok(false),
        }
    }
}
