//! Copies of all items of a source for other access, made once, in memory or in an unnamed file.

use std::sync::{Arc, Mutex, OnceLock};

use super::{READ_AT_ONCE, Source, Storage};
use crate::storage::chunked::{Chunked, MAX_ROW, few_rows};
use crate::storage::platform::{unnamed_file, write_at};
use crate::storage::read_at::request_window;
use tensorop_kernels::error::{Context, Result};
use tensorop_kernels::item::dtype::Kind;
use tensorop_kernels::item::meta::{Meta, Order};
use tensorop_kernels::layout::axis::Span;
use tensorop_kernels::layout::boxes::tile;
use tensorop_kernels::layout::gather::Gaps;
use tensorop_kernels::layout::window::{Window, Windows};
use tensorop_kernels::memory::Buffer;
use tensorop_kernels::parallel::{Threads, locked, share, threads_holding};

/// The maximum bytes of a stream in memory. 16 MiB spare most operands a file, and every machine has them.
const MEMORY_SPOOL: u64 = 1 << 24;

/// The place of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Memory, filled by runs of equal length.
    Memory,
    /// An unnamed file.
    File,
}

type ReadWindow<'a> = dyn Fn(&Window, &mut [u8], &mut Buffer) -> Result<()> + Sync + 'a;

/// An access pattern that [`Source::hold`] prepares by a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hold {
    /// Any order, repeatedly. Copies streams.
    Seekable,
    /// Windows in C order. Copies chunks in rows so long that windows would read them repeatedly.
    COrder,
    /// All items in C order by several threads. Also copies remote chunks in [so few rows](few_rows) that most threads
    /// would be idle.
    Scan,
    /// Single runs: [`Seekable`](Self::Seekable) and [`COrder`](Self::COrder).
    Runs,
    /// Repeated reads. Copies streams and remote items.
    Local,
    /// Memory in C order, for small tensors with scattered reads.
    Memory,
    /// Memory in storage order, for items by position that would be read in short pieces.
    AsStored,
    /// Memory in C order, for items by position, which are read by boxes of at most so many items.
    ByBoxes(usize),
}

/// A copy that a [`Hold`] needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeldCopy {
    pub keep: Keep,
    pub bytes_read: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CopyKind {
    /// The bytes of the items in storage order.
    AsStored(Keep),
    /// C order in a file; each chunk is read once.
    ByChunks,
    InCOrder,
    /// C order in memory, by [boxes](Hold::ByBoxes).
    ByBoxes(usize),
}

impl Source {
    /// Prepares the items for `hold` by copying them if necessary.
    pub fn hold(&mut self, hold: Hold, threads: Threads) -> Result<()> {
        if let Some(kind) = self.copy_to_hold(hold, threads) {
            self.store = self.copy(kind, threads)?;
            self.near = OnceLock::new();
            if let CopyKind::ByBoxes(_) = kind {
                self.meta.order = Order::C;
            }
        }
        if hold == Hold::Memory {
            self.meta.order = Order::C;
        }
        Ok(())
    }

    /// [`hold`](Self::hold) with [`Hold::Local`] for a shared source of items by position.
    pub fn bring_near(&self, threads: Threads) -> Result<()> {
        if self.is_read_by_position()
            && let Some(kind) = self.copy_to_hold(Hold::Local, threads)
        {
            // A copy of another thread has the same bytes.
            let _ = self.near.set(self.copy(kind, threads)?);
        }
        Ok(())
    }

    /// Returns the copy that [`hold`](Self::hold) would make.
    pub fn copy_to(&self, hold: Hold, threads: Threads) -> Option<HeldCopy> {
        let keep = match self.copy_to_hold(hold, threads)? {
            CopyKind::AsStored(keep) => keep,
            CopyKind::ByChunks => Keep::File,
            CopyKind::InCOrder | CopyKind::ByBoxes(_) => Keep::Memory,
        };
        Some(HeldCopy { keep, bytes_read: self.bytes_stored() })
    }

    /// The stored bytes of all items, 0 in memory.
    pub fn bytes_stored(&self) -> u64 {
        match self.nearest() {
            Storage::Memory(_) | Storage::Item(_) => 0,
            Storage::Bytes { .. } | Storage::Stream(_) => self.bytes() as u64,
            Storage::Chunks(chunks) => {
                chunks.bytes_at(&self.shape().iter().map(|&dim| Span::whole(dim)).collect::<Vec<_>>())
            }
        }
    }

    /// Returns the reads or requests of the copy that [`hold`](Self::hold) would make.
    pub fn calls_to_copy(&self, hold: Hold, threads: Threads) -> u64 {
        if let (Some(CopyKind::InCOrder), true) = (self.copy_to_hold(hold, threads), self.is_read_by_position()) {
            return self.calls_between(&self.view(), Gaps::Wanted)[0];
        }
        const MAX_PARTS: u64 = 1 << 16;
        let part = self.part_to_copy(self.threads(threads)) as u64;
        match self.nearest() {
            Storage::Memory(_) | Storage::Item(_) => 0,
            Storage::Bytes { bytes, start, .. } if self.costs_requests() => {
                let all = self.bytes() as u64;
                let of_part = |n: u64| bytes.requests(start + n * part, part.min(all - n * part) as usize);
                // Of many requests the known part of the object saves none.
                (0..all.div_ceil(part).min(MAX_PARTS)).map(of_part).sum::<u64>()
                    + all.div_ceil(part).saturating_sub(MAX_PARTS)
            }
            Storage::Bytes { .. } | Storage::Stream(_) => self.bytes_stored().div_ceil(part),
            Storage::Chunks(chunks) => {
                let count = Windows::boxes(self.shape(), chunks.grid()).count() as u64;
                count + chunks.indexes_at(&self.view(), self.shape())
            }
        }
    }

    fn part_to_copy(&self, threads: usize) -> usize {
        if self.costs_requests() { request_window(self.bytes(), threads, usize::MAX) } else { READ_AT_ONCE }
    }

    fn copy_to_hold(&self, hold: Hold, threads: Threads) -> Option<CopyKind> {
        match (&self.store, hold) {
            (Storage::Memory(_), Hold::Memory) if self.view().is_c_order() => None,
            (Storage::Bytes { .. }, Hold::Memory) if self.view().is_c_order() => Some(CopyKind::AsStored(Keep::Memory)),
            (_, Hold::Memory) => Some(CopyKind::InCOrder),
            (Storage::Bytes { .. }, Hold::ByBoxes(items)) => Some(CopyKind::ByBoxes(items)),
            (Storage::Bytes { .. }, Hold::AsStored) => Some(CopyKind::AsStored(Keep::Memory)),
            (Storage::Stream(stream), Hold::Seekable | Hold::Runs | Hold::Local) => {
                let is_short = locked(stream).bytes <= MEMORY_SPOOL;
                Some(CopyKind::AsStored(if is_short { Keep::Memory } else { Keep::File }))
            }
            (Storage::Bytes { .. }, Hold::Local) => self.costs_requests().then_some(CopyKind::AsStored(Keep::File)),
            (Storage::Chunks(chunks), _) => {
                let is_needed = match hold {
                    Hold::COrder | Hold::Runs => self.is_in_long_rows(chunks),
                    Hold::Scan => self.is_in_long_rows(chunks) || self.is_in_few_rows(chunks, threads),
                    Hold::Local => chunks.costs_requests(),
                    Hold::Seekable | Hold::Memory | Hold::AsStored | Hold::ByBoxes(_) => false,
                };
                is_needed.then_some(CopyKind::ByChunks)
            }
            _ => None,
        }
    }

    fn is_in_long_rows(&self, chunks: &Arc<dyn Chunked>) -> bool {
        let row = Windows::on_grid(self.shape(), 1, chunks.grid()).largest();
        row.saturating_mul(self.dtype().itemsize()) > MAX_ROW
    }

    fn is_in_few_rows(&self, chunks: &Arc<dyn Chunked>, threads: Threads) -> bool {
        let rows = Windows::on_grid(self.shape(), 1, chunks.grid());
        chunks.costs_requests() && few_rows(self.shape(), &rows, chunks.grid(), self.threads(threads))
    }

    fn copy(&self, kind: CopyKind, threads: Threads) -> Result<Storage> {
        match kind {
            CopyKind::AsStored(keep) => self.copied_as_stored(keep, threads),
            CopyKind::ByChunks => self.copied_by_chunks(threads),
            CopyKind::InCOrder => self.copied_in_c_order(Keep::Memory, &Windows::new(self.shape(), usize::MAX), 1),
            CopyKind::ByBoxes(items) => self.copied_by_boxes(items, threads),
        }
    }

    /// The rows of a full box are copied to their places.
    fn copied_by_boxes(&self, items: usize, threads: Threads) -> Result<Storage> {
        let (view, shape, itemsize) = (self.view(), self.shape(), self.dtype().itemsize());
        let boxes = Windows::boxes(shape, &tile(shape, &view.axes_as_stored(), items));
        let mut items = Buffer::zeros(self.bytes()).with_context(|| &*self.label)?;
        let mut pieces: Vec<(usize, usize, usize)> = Vec::new();
        for (number, window) in boxes.iter().enumerate() {
            pieces.extend(window.pieces(shape).map(|piece| (piece.start, piece.items(), number)));
        }
        pieces.sort_unstable();
        let (mut rows, mut rest) = ((0..boxes.count()).map(|_| Vec::new()).collect::<Vec<_>>(), &mut items[..]);
        for (_, count, number) in pieces {
            rows[number].push(rest.split_off_mut(..count * itemsize).expect("boxes have all items"));
        }
        let rows: Vec<_> = rows.into_iter().map(Mutex::new).collect();
        let begin = || (Buffer::default(), Buffer::default());
        share(self.threads(threads), rows.len(), begin, |n, (full, scratch)| -> Result<bool> {
            let window = boxes.get(n);
            let mut items = full.room(window.items() * itemsize).with_context(|| &*self.label)?;
            self.read(&view.part(&window.ranges), items, scratch)?;
            for row in locked(&rows[n]).iter_mut() {
                row.copy_from_slice(items.split_off_mut(..row.len()).expect("a box has the items of its rows"));
            }
            Ok(true)
        })?;
        drop(rows);
        self.finish()?;
        Ok(Storage::Memory(Arc::new(items)))
    }

    fn copied_by_chunks(&self, threads: Threads) -> Result<Storage> {
        /// The maximum bytes of all threads: those of eight rows of chunks.
        const HELD: usize = 8 * MAX_ROW;
        let chunks = self.as_chunks().expect("a source in chunks");
        let windows = Windows::boxes(self.shape(), chunks.grid());
        let each = windows.largest().saturating_mul(2 * self.dtype().itemsize());
        let threads = threads_holding(self.threads(threads), each, HELD);
        self.copied_in_c_order(Keep::File, &windows, threads)
    }

    fn copied_in_c_order(&self, keep: Keep, windows: &Windows, threads: usize) -> Result<Storage> {
        let (view, meta) = (self.view(), Meta::c_order(self.dtype().clone(), self.shape().to_vec()));
        let copy = self.copied(keep, meta, windows, threads, &|window, items, scratch| {
            self.read(&view.part(&window.ranges), items, scratch)
        })?;
        Ok(copy.store)
    }

    /// Parts may end within an item, because a large item of a stream may be incomplete.
    fn copied_as_stored(&self, keep: Keep, threads: Threads) -> Result<Storage> {
        // Only one thread can read a stream.
        let (bytes, threads) = (self.bytes(), if self.is_stream() { 1 } else { self.threads(threads) });
        let parts = Windows::new(&[bytes], self.part_to_copy(threads));
        let meta = Meta::c_order(Kind::Void(1).into(), vec![bytes]);
        let read = |part: &Window, out: &mut [u8], _: &mut Buffer| self.read_at(out, part.start as u64);
        Ok(self.copied(keep, meta, &parts, threads, &read)?.store)
    }

    /// Returns a source with a copy: the items of `meta`, window by window from `read`.
    pub fn copied(
        &self,
        keep: Keep,
        meta: Meta,
        windows: &Windows,
        threads: usize,
        read: &ReadWindow<'_>,
    ) -> Result<Self> {
        let (bytes, itemsize) = (meta.bytes(), meta.dtype.itemsize());
        let store = match keep {
            Keep::Memory => {
                let mut items = Buffer::zeros(bytes).with_context(|| &*self.label)?;
                let parts = items.chunks_mut((windows.largest() * itemsize).max(1));
                let parts: Vec<_> = parts.map(Mutex::new).collect();
                share(threads, parts.len(), Buffer::default, |n, scratch| {
                    read(&windows.get(n), &mut locked(&parts[n]), scratch).map(|()| true)
                })?;
                drop(parts);
                Storage::Memory(Arc::new(items))
            }
            Keep::File => {
                let place = || format!("{}: cannot be kept in {}", self.label, std::env::temp_dir().display());
                let file = unnamed_file().with_context(place)?;
                let begin = || (Buffer::default(), Buffer::default());
                let copied = share(threads, windows.count(), begin, |n, (items, scratch)| -> Result<bool> {
                    let window = windows.get(n);
                    items.resize(window.items() * itemsize, &self.label)?;
                    read(&window, items, scratch)?;
                    for (piece, run) in window.split(windows.shape(), items) {
                        write_at(&file, run, (piece.start * itemsize) as u64).with_context(place)?;
                    }
                    Ok(true)
                });
                copied.map_err(|error| error.needing(|| format!("all of it needs {bytes} bytes")))?;
                Storage::stored(Arc::new(file), 0)?
            }
        };
        self.finish()?;
        Ok(Self::new(meta, store, self.label.clone()))
    }
}
