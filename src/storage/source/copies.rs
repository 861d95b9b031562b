//! Copies of all items of a source, for what reads them in another way than they come: a stream in any order, chunks in long
//! rows in C order, what a server is asked for many times.
//!
//! A copy is made once, window by window, and is kept in memory or in a file without a name in the folder for temporary
//! files. The source reads from the copy ever after. A [`Hold`] says what the items shall be fit for; it depends on the storage
//! whether that takes a copy, and which.

use std::sync::{Arc, Mutex, OnceLock};

use super::{READ_AT_ONCE, Source, Storage};
use crate::error::{Context, Result};
use crate::item::dtype::Kind;
use crate::item::meta::{Meta, Order};
use crate::layout::axis::Span;
use crate::layout::window::{Window, Windows};
use crate::memory::Buffer;
use crate::parallel::{Threads, locked, share, threads_holding};
use crate::storage::calls::Calls;
use crate::storage::chunked::{Chunked, MAX_ROW, few_rows};
use crate::storage::counted::counted;
use crate::storage::platform::{unnamed_file, write_at};
use crate::storage::read_at::request_window;

/// The most bytes of a stream that is kept in memory. A longer one goes to a file, so that a pipe of any length takes
/// bounded memory. 16 MiB spare most operands the file, and every machine has them.
const MEMORY_SPOOL: u64 = 1 << 24;

/// What keeps a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Memory, which is filled by runs of one length: by windows along one axis, or by one window of all.
    Memory,
    /// A file without a name.
    File,
}

/// Makes the items of a window, in C order, with a buffer that is kept from one window to the next.
type ReadWindow<'a> = dyn Fn(&Window, &mut [u8], &mut Buffer) -> Result<()> + Sync + 'a;

/// What all items of a source must be fit for. [`Source::hold`] makes them so by copying them, where they are not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hold {
    /// They can be read in any order, and again. A stream is copied.
    Seekable,
    /// Windows of them can be read in C order. Chunks are copied whose rows are so long that windows would read each chunk again
    /// and again.
    COrder,
    /// Several threads can read all of them in C order. Beside chunks in long rows, those that a server is asked for are copied
    /// if they lie in [so few rows](few_rows) that most threads would have none.
    Scan,
    /// Any run of them can be read by itself: they are [`Seekable`](Self::Seekable) and in [`COrder`](Self::COrder).
    Runs,
    /// They can be read many times at the price of reading them once. A stream is copied, and so is what a server is asked for.
    Local,
    /// They lie in memory, in C order. That suits small tensors whose items are picked from here and there.
    Memory,
}

/// A copy of all items that is made so that a source is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeldCopy {
    /// Where it lies.
    pub keep: Keep,
    /// The bytes of storage that are read for it.
    pub bytes_read: u64,
}

/// How the copy is made that a source needs to be held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CopyKind {
    /// The bytes of the items, one after the other.
    AsStored(Keep),
    /// The items in C order, in a file. Each chunk is read once.
    ByChunks,
    /// The items in C order, in memory.
    InCOrder,
}

impl Source {
    /// Makes all items fit for what `hold` says, by copying them once if they are not. A short stream is copied to memory,
    /// anything longer to a file without a name in the folder for temporary files, and to memory what shall lie there.
    ///
    /// # Errors
    /// Reading fails; a stream is shorter or longer than its tensor; the copy cannot be written; there is not enough memory.
    pub fn hold(&mut self, hold: Hold, threads: Threads) -> Result<()> {
        if let Some(kind) = self.copy_to_hold(hold, threads) {
            self.store = self.copy(kind, threads)?;
            self.near = OnceLock::new();
        }
        if hold == Hold::Memory {
            self.meta.order = Order::C;
        }
        Ok(())
    }

    /// Does what [`hold`](Self::hold) does for [`Hold::Local`], for a source that is shared already. Only items in bytes that are
    /// read by position are copied.
    ///
    /// # Errors
    /// Those of [`hold`](Self::hold).
    pub fn bring_near(&self, threads: Threads) -> Result<()> {
        if self.is_read_by_position()
            && let Some(kind) = self.copy_to_hold(Hold::Local, threads)
        {
            // whoever else has brought it near meanwhile has the same bytes
            let _ = self.near.set(self.copy(kind, threads)?);
        }
        Ok(())
    }

    /// Returns the copy that [`hold`](Self::hold) would make, if any. Nothing is read.
    pub fn copy_to(&self, hold: Hold, threads: Threads) -> Option<HeldCopy> {
        let keep = match self.copy_to_hold(hold, threads)? {
            CopyKind::AsStored(keep) => keep,
            CopyKind::ByChunks => Keep::File,
            CopyKind::InCOrder => Keep::Memory,
        };
        Some(HeldCopy { keep, bytes_read: self.bytes_stored() })
    }

    /// Returns how many bytes of storage are read for all items: none of what is in memory. Of chunks no more is read than their
    /// sizes.
    pub fn bytes_stored(&self) -> u64 {
        match self.nearest() {
            Storage::Memory(_) | Storage::Item(_) => 0,
            Storage::Bytes { .. } | Storage::Stream(_) => self.bytes() as u64,
            Storage::Chunks(chunks) => {
                chunks.bytes_at(&self.shape().iter().map(|&dim| Span::whole(dim)).collect::<Vec<_>>())
            }
        }
    }

    /// Returns which copy of the items is needed; `None` if they are fit as they are.
    fn copy_to_hold(&self, hold: Hold, threads: Threads) -> Option<CopyKind> {
        match (&self.store, hold) {
            (Storage::Memory(_), Hold::Memory) if self.view().is_c_order() => None,
            (Storage::Bytes { .. }, Hold::Memory) if self.view().is_c_order() => Some(CopyKind::AsStored(Keep::Memory)),
            (_, Hold::Memory) => Some(CopyKind::InCOrder),
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
                    Hold::Seekable | Hold::Memory => false,
                };
                is_needed.then_some(CopyKind::ByChunks)
            }
            _ => None,
        }
    }

    /// Returns whether a row of chunks is so large that windows in C order would read each chunk again and again.
    fn is_in_long_rows(&self, chunks: &Arc<dyn Chunked>) -> bool {
        let row = Windows::on_grid(self.shape(), 1, chunks.grid()).largest();
        row.saturating_mul(self.dtype().itemsize()) > MAX_ROW
    }

    /// Returns whether a server is asked for chunks that lie in so few rows that most threads would have none.
    fn is_in_few_rows(&self, chunks: &Arc<dyn Chunked>, threads: Threads) -> bool {
        let rows = Windows::on_grid(self.shape(), 1, chunks.grid());
        chunks.costs_requests() && few_rows(self.shape(), &rows, chunks.grid(), self.threads(threads))
    }

    fn copy(&self, kind: CopyKind, threads: Threads) -> Result<Storage> {
        match kind {
            CopyKind::AsStored(keep) => self.copied_as_stored(keep, threads),
            CopyKind::ByChunks => self.copied_by_chunks(threads),
            CopyKind::InCOrder => self.copied_in_c_order(Keep::Memory, &Windows::new(self.shape(), usize::MAX), 1),
        }
    }

    /// Reads items in bytes that are read by position into memory, as they are stored, or by boxes, in C order. That suits tensors
    /// whose items are wanted in another order, of which short pieces would be read.
    ///
    /// # Errors
    /// Reading fails, or there is not enough memory.
    pub fn keep_in_memory(&mut self, boxes: Option<&Windows>, threads: Threads) -> Result<()> {
        if !self.is_read_by_position() {
            return Ok(());
        }
        self.store = match boxes {
            None => self.copied_as_stored(Keep::Memory, threads)?,
            Some(boxes) => self.copied_by_boxes(boxes, threads)?,
        };
        if boxes.is_some() {
            self.meta.order = Order::C;
        }
        Ok(())
    }

    /// Copies the items to memory in C order, by boxes, whose rows go to their places when a box is full.
    fn copied_by_boxes(&self, boxes: &Windows, threads: Threads) -> Result<Storage> {
        let (view, shape, itemsize) = (self.view(), self.shape(), self.dtype().itemsize());
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

    /// Copies chunks, each of which is read once, to a file without a name.
    fn copied_by_chunks(&self, threads: Threads) -> Result<Storage> {
        /// The most bytes that more threads than usual hold together: as many as eight rows of chunks may take.
        const HELD: usize = 8 * MAX_ROW;
        let chunks = self.as_chunks().expect("a source in chunks");
        let windows = Windows::boxes(self.shape(), chunks.grid());
        let each = windows.largest().saturating_mul(2 * self.dtype().itemsize());
        let threads = threads_holding(self.threads(threads), each, HELD);
        self.copied_in_c_order(Keep::File, &windows, threads)
    }

    /// Copies the items in C order, by windows of the tensor.
    fn copied_in_c_order(&self, keep: Keep, windows: &Windows, threads: usize) -> Result<Storage> {
        let (view, meta) = (self.view(), Meta::new(self.dtype().clone(), self.shape().to_vec()));
        let copy = self.copied(keep, meta, windows, threads, &|window, items, scratch| {
            self.read(&view.part(&window.ranges), items, scratch)
        })?;
        Ok(copy.store)
    }

    /// Copies the bytes of the items as they are stored, a part at a time. A part may end within an item, since it is not known of
    /// a stream that all of a large item will come.
    fn copied_as_stored(&self, keep: Keep, threads: Threads) -> Result<Storage> {
        // a stream comes to one thread
        let (bytes, threads) = (self.bytes(), if self.is_stream() { 1 } else { self.threads(threads) });
        let part = if self.costs_requests() { request_window(bytes, threads, usize::MAX) } else { READ_AT_ONCE };
        let (meta, parts) = (Meta::new(Kind::Void(1).into(), vec![bytes]), Windows::new(&[bytes], part));
        let read = |part: &Window, out: &mut [u8], _: &mut Buffer| self.read_at(out, part.start as u64);
        Ok(self.copied(keep, meta, &parts, threads, &read)?.store)
    }

    /// Returns a source of the same label that has a copy: the items of `meta`, which `read` gives for each of these windows.
    /// They are counted in the order of `meta`.
    ///
    /// # Errors
    /// Those of `read`; the items have changed meanwhile; the copy cannot be kept.
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
                        if let Some(counter) = self.counter() {
                            counter.add(Calls::write(run.len()));
                        }
                        if !self.is_rehearsed() {
                            write_at(&file, run, (piece.start * itemsize) as u64).with_context(place)?;
                        }
                    }
                    Ok(true)
                });
                copied.map_err(|error| error.needing(|| format!("all of it needs {bytes} bytes")))?;
                Storage::stored(counted(Arc::new(file), self.counter()), 0)?
            }
        };
        self.finish()?;
        Ok(Self::new(meta, store, self.label.clone()))
    }
}
