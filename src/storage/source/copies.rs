//! Copies of all items of a source, for what reads them in another way than they come: a stream in any order, chunks in long
//! rows in C order, what a server is asked for many times.
//!
//! A copy is made once, window by window, and is kept in memory or in a file without a name in the folder for temporary
//! files. The source reads from the copy ever after; the methods differ in what they copy, and in the windows.

use std::num::NonZero;
use std::sync::{Arc, Mutex};

use super::{READ_AT_ONCE, Source, Storage};
use crate::error::{Context, Result};
use crate::item::dtype::Kind;
use crate::item::meta::{Meta, Order};
use crate::layout::window::{Window, Windows};
use crate::memory::Buffer;
use crate::parallel::{Threads, locked, share, threads_holding};
use crate::storage::chunked::{MOST_ROW, few_rows};
use crate::storage::platform::{unnamed_file, write_at};
use crate::storage::read_at::request_window;

/// The most bytes of a stream that is settled in memory. A longer one goes to a file, so that a pipe of any length takes
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

impl Source {
    /// Makes a stream readable in any order. A short one is read into memory, a longer one into a file without a name in
    /// the folder for temporary files. Other sources stay as they are.
    ///
    /// # Errors
    /// The stream cannot be read, or is shorter or longer than its tensor; the file cannot be written.
    pub fn settle(&mut self) -> Result<()> {
        if let Storage::Stream(stream) = &self.store {
            let keep = if locked(stream).bytes > MEMORY_SPOOL { Keep::File } else { Keep::Memory };
            self.store = self.copied_as_stored(keep, Threads::new(NonZero::new(1)))?;
        }
        Ok(())
    }

    /// Makes chunks in [long rows](Self::in_long_rows) readable in C order, by copying them once to a file without a name
    /// in the folder for temporary files. Other sources stay as they are.
    ///
    /// # Errors
    /// Reading fails, or that file cannot be written.
    pub fn flatten(&mut self, threads: Threads) -> Result<()> {
        if self.in_long_rows().is_some() { self.copy_chunks(threads) } else { Ok(()) }
    }

    /// Does what [`flatten`](Self::flatten) does where all items are wanted in C order: chunks that a server is asked for are
    /// copied, too, if they lie in [so few rows](few_rows) that most threads would have none.
    ///
    /// # Errors
    /// Those of [`flatten`](Self::flatten).
    pub fn flatten_all(&mut self, threads: Threads) -> Result<()> {
        if self.is_better_copied(threads) { self.copy_chunks(threads) } else { Ok(()) }
    }

    /// Returns whether [`flatten_all`](Self::flatten_all) copies the items.
    pub fn is_better_copied(&self, threads: Threads) -> bool {
        let of_server = self.as_chunks().filter(|chunks| chunks.costs_requests());
        let is_few = of_server.is_some_and(|chunks| {
            let rows = Windows::on_grid(self.shape(), 1, chunks.grid());
            few_rows(self.shape(), &rows, chunks.grid(), self.threads(threads))
        });
        is_few || self.in_long_rows().is_some()
    }

    /// Makes all of it readable many times at the price of reading it once: a stream is [settled](Self::settle), and what a
    /// server is asked for is copied to a file without a name in the folder for temporary files. Other sources stay as they are.
    ///
    /// # Errors
    /// Those of [`settle`](Self::settle); reading fails, or that file cannot be written.
    pub fn keep_near(&mut self, threads: Threads) -> Result<()> {
        match &self.store {
            Storage::Stream(_) => self.settle(),
            Storage::Chunks(chunks) if chunks.costs_requests() => self.copy_chunks(threads),
            _ => self.bring_near(threads),
        }
    }

    /// Does what [`keep_near`](Self::keep_near) does for items in bytes that are read by position, when an output is begun: to
    /// plan one asks for nothing. Chunks stay as they are.
    ///
    /// # Errors
    /// Those of [`keep_near`](Self::keep_near).
    pub fn bring_near(&self, threads: Threads) -> Result<()> {
        if self.is_read_by_position() && self.costs_requests() {
            // whoever else has brought it near meanwhile has the same bytes
            let _ = self.near.set(self.copied_as_stored(Keep::File, threads)?);
        }
        Ok(())
    }

    /// Reads all items into memory, in C order. That suits small tensors whose items are picked from here and there.
    ///
    /// # Errors
    /// Reading fails, or there is not enough memory.
    pub fn make_resident(&mut self, threads: Threads) -> Result<()> {
        self.store = if self.is_read_by_position() && self.view().is_c_order() {
            self.copied_as_stored(Keep::Memory, threads)?
        } else {
            self.copied_in_c_order(Keep::Memory, &Windows::new(self.shape(), usize::MAX), 1)?
        };
        self.meta.order = Order::C;
        Ok(())
    }

    /// Copies chunks, each of which is read once, to a file without a name.
    fn copy_chunks(&mut self, threads: Threads) -> Result<()> {
        /// The most bytes that more threads than usual hold together: as many as eight rows of chunks may take.
        const HELD: usize = 8 * MOST_ROW;
        let Some(chunks) = self.as_chunks() else { return Ok(()) };
        let windows = Windows::boxes(self.shape(), chunks.grid());
        let each = windows.largest().saturating_mul(2 * self.dtype().itemsize());
        let threads = threads_holding(self.threads(threads), each, HELD);
        self.store = self.copied_in_c_order(Keep::File, &windows, threads)?;
        Ok(())
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
        let (bytes, threads) = (self.bytes(), self.threads(threads));
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
