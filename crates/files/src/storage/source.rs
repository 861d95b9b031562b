//! The items of an operand: a [`Source`] is one tensor that operators read window by window.
//!
//! The items have one of five storages: *bytes* by position (see [`read_at`](super::read_at)), a *stream*, *chunks*
//! (see [`chunked`](super::chunked)), *memory*, or *one item* that is at every place. [`Source::read`] reads all of
//! them. A *label* names a source in messages. A *container* is a file or store of several tensors. A [`Hold`] is a
//! kind of access that a copy of the items makes possible or cheap.

use std::fs::File;
use std::io::{self, Read};
use std::mem;
use std::sync::{Arc, Mutex, OnceLock};

pub use self::container::{Container, ExactValues, FileMetadata, Metadata, merged};
pub use self::copies::{HeldCopy, Hold, Keep};
use super::attachments::Attachments;
use super::chunked::Chunked;
use super::read_at::{EncodedBytes, Identity, MemoryBytes, PackedFile, READ_AHEAD, ReadAt, Stamp};
use tensorop_kernels::error::{Context, Result, ensure};
use tensorop_kernels::item::dtype::{DType, Kind};
use tensorop_kernels::item::encoding::Conversion;
use tensorop_kernels::item::meta::{Meta, Order};
use tensorop_kernels::item::tensor::Tensor;
use tensorop_kernels::layout::copy::{self, copy_bytes};
use tensorop_kernels::layout::gather::{GapRun, Gaps, GatherRule, calls, gather, reads};
use tensorop_kernels::layout::view::View;
use tensorop_kernels::layout::window::{Windows, boxes_of_run, fill_each};
use tensorop_kernels::memory::{self, Buffer, fill_from};
use tensorop_kernels::parallel::{Threads, UNPOISONED, locked};

mod container;
mod copies;

/// The maximum bytes of one read, for copies and for scattered items. Servers have other limits. The limit bounds the
/// memory of a thread and the needless bytes that it reads. A larger limit would save little, because reading 1 MiB
/// costs far more than its system call.
pub const READ_AT_ONCE: usize = 1 << 20;

/// A tensor that can be read in parts.
#[derive(Debug)]
pub struct Source {
    meta: Meta,
    store: Storage,
    label: String,
    /// The container and the tensor's number there.
    container: Option<(Arc<Container>, usize)>,
    /// The name in the group that the user named; `None` if the user named the tensor.
    name_in_group: Option<Arc<str>>,
    /// Whether the width of strings is not stored, as in JSON, and is that of the longest item. An operator may widen
    /// such strings.
    has_free_width: bool,
    /// Whether a text without a dtype was read, and no tensor beside it had one.
    is_inferred: bool,
    /// A copy by [`bring_near`](Self::bring_near).
    near: OnceLock<Storage>,
}

#[derive(Debug)]
enum Storage {
    /// The stamp was taken when the source was made.
    Bytes {
        bytes: Arc<dyn ReadAt>,
        start: u64,
        stamp: Stamp,
    },
    /// Threads share a source, so the type needs the lock; but only one thread reads a stream.
    Stream(Mutex<Stream>),
    Chunks(Arc<dyn Chunked>),
    Memory(Arc<Buffer>),
    Item(Vec<u8>),
}

impl Storage {
    fn stored(bytes: Arc<dyn ReadAt>, start: u64) -> Result<Self> {
        Ok(Self::Bytes { stamp: bytes.first_stamp()?, bytes, start })
    }

    /// Returns a storage that shares these items. Panics for a stream.
    fn shared(&self) -> Self {
        match self {
            Self::Bytes { bytes, start, stamp } => {
                Self::Bytes { bytes: Arc::clone(bytes), start: *start, stamp: *stamp }
            }
            Self::Stream(_) => panic!("a stream is made seekable before its items are read twice"),
            Self::Chunks(chunks) => Self::Chunks(Arc::clone(chunks)),
            Self::Memory(items) => Self::Memory(Arc::clone(items)),
            Self::Item(item) => Self::Item(item.clone()),
        }
    }
}

impl Source {
    fn new(meta: Meta, store: Storage, label: String) -> Self {
        let (container, name_in_group, near) = (None, None, OnceLock::new());
        Self { meta, store, label, container, name_in_group, has_free_width: false, is_inferred: false, near }
    }

    pub fn memory(tensor: Tensor, label: String) -> Self {
        let (meta, bytes) = tensor.into_parts();
        Self::new(meta, Storage::Memory(Arc::new(Buffer::from(bytes))), label)
    }

    /// The items begin at offset `start`.
    pub fn stored(meta: Meta, bytes: Arc<dyn ReadAt>, start: u64, label: String) -> Result<Self> {
        Ok(Self::new(meta, Storage::stored(bytes, start)?, label))
    }

    pub fn chunks(meta: Meta, chunks: Arc<dyn Chunked>, label: String) -> Self {
        Self::new(meta, Storage::Chunks(chunks), label)
    }

    /// `bytes` is the length of the stream.
    pub fn stream(meta: Meta, reader: Box<dyn Read + Send>, bytes: u64, label: String) -> Self {
        Self::new(meta, Storage::Stream(Mutex::new(Stream { reader, at: 0, bytes })), label)
    }

    pub fn item(meta: Meta, item: Vec<u8>, label: String) -> Self {
        Self::new(meta, Storage::Item(item), label)
    }

    /// Returns a second source of the same items. A stream becomes [seekable](Hold::Seekable).
    pub fn another(&mut self) -> Result<Self> {
        self.hold(Hold::Seekable, Threads::default())?;
        let (container, name_in_group) = (self.container.clone(), self.name_in_group.clone());
        Ok(Self { container, name_in_group, ..Self::new(self.meta.clone(), self.store.shared(), self.label.clone()) })
    }

    /// Adds the container, with the tensor's number there.
    #[must_use]
    pub fn one_of(self, container: Arc<Container>, n: usize) -> Self {
        Self { container: Some((container, n)), ..self }
    }

    /// Adds the tensor's name in the group that the user named. An output of the tensor is then a group, too.
    #[must_use]
    pub fn in_group(self, name: &str) -> Self {
        Self { name_in_group: Some(name.into()), ..self }
    }

    /// Returns the tensor's name in the group that the user named. A source in a group without metadata has such a name
    /// and no [container](Self::container).
    pub fn name_in_group(&self) -> Option<&str> {
        self.name_in_group.as_deref()
    }

    pub fn container(&self) -> Option<&Container> {
        self.container.as_ref().map(|(container, _)| &**container)
    }

    pub fn attachments(&self) -> Option<&Arc<dyn Attachments>> {
        match &self.container {
            Some((container, _)) => container.attachments.as_ref(),
            None => self.as_chunks()?.attachments(),
        }
    }

    pub fn member(&self) -> Option<&str> {
        self.container.as_ref().map(|(container, n)| &*container.names[*n])
    }

    pub fn meta(&self) -> &Meta {
        &self.meta
    }

    pub fn dtype(&self) -> &DType {
        &self.meta.dtype
    }

    /// Gives the items another dtype, which must have the same itemsize.
    pub fn reinterpret(&mut self, dtype: DType) {
        debug_assert_eq!(self.meta.dtype.itemsize(), dtype.itemsize());
        self.meta.dtype = dtype;
    }

    pub fn shape(&self) -> &[usize] {
        &self.meta.shape
    }

    pub fn bytes(&self) -> usize {
        self.meta.bytes()
    }

    pub fn label(&self) -> &str {
        &self.label
    }

    pub fn is_one_item(&self) -> bool {
        matches!(self.store, Storage::Item(_))
    }

    pub fn is_stream(&self) -> bool {
        matches!(self.store, Storage::Stream(_))
    }

    /// Returns whether scattered items cost a system call or a request each.
    pub fn is_read_by_position(&self) -> bool {
        matches!(self.store, Storage::Bytes { .. })
    }

    fn nearest(&self) -> &Storage {
        self.near.get().unwrap_or(&self.store)
    }

    /// Returns whether each read is a request. Then several threads pay off for little data too.
    pub fn costs_requests(&self) -> bool {
        match self.nearest() {
            Storage::Bytes { bytes, .. } => bytes.costs_requests(),
            Storage::Chunks(chunks) => chunks.costs_requests(),
            Storage::Stream(_) | Storage::Memory(_) | Storage::Item(_) => false,
        }
    }

    /// Returns how many gaps, from the first on, may be read to save requests. `gaps.at` is an offset from the first
    /// item.
    fn spare(&self, gaps: GapRun) -> usize {
        let Storage::Bytes { bytes, start, .. } = &self.store else { return 0 };
        bytes.spare(GapRun { at: start + gaps.at, ..gaps })
    }

    /// Returns how many threads pay off for reading all items.
    pub fn threads(&self, allowed: Threads) -> usize {
        allowed.for_requests(self.costs_requests()).for_bytes(self.bytes())
    }

    /// The local file in which the items lie unpacked, and the offset of the first item there. It is for kernel copies
    /// and writing in place.
    pub fn as_local_file(&self) -> Option<(&File, u64)> {
        let Storage::Bytes { bytes, start, .. } = &self.store else { return None };
        bytes.as_file().map(|file| (file, *start))
    }

    /// Returns the versions at the opening of the files that hold the items; those of a store are known to its reader.
    ///
    /// # Errors
    /// The size or time of a file cannot be read.
    pub fn stamps(&self) -> Result<Vec<Stamp>> {
        let Storage::Bytes { bytes, .. } = &self.store else { return Ok(Vec::new()) };
        bytes.stamps().with_context(|| self.label.clone())
    }

    /// Returns the encoded blocks of the items as uint8s of shape `[…, bytes of a row]`.
    pub fn blocks(&self) -> Option<Self> {
        let Storage::Bytes { bytes, stamp, .. } = &self.store else { return None };
        let EncodedBytes { bytes, start, block: [items, of_block], .. } = bytes.as_encoded()?;
        let mut meta = Meta::c_order(DType::from(Kind::UInt8), self.meta.shape.clone());
        meta.shape.last_mut().into_iter().for_each(|row| *row = *row / items * of_block);
        let store = Storage::Bytes { bytes: Arc::clone(bytes), start, stamp: *stamp };
        Some(Self { container: self.container.clone(), ..Self::new(meta, store, self.label.clone()) })
    }

    /// Returns the encoded blocks in one row, and the name of their rule.
    pub fn encoded(&self) -> Option<(Self, &'static str)> {
        let Storage::Bytes { bytes, .. } = &self.store else { return None };
        let (rule, mut blocks) = (bytes.as_encoded()?.rule?, self.blocks()?);
        blocks.meta.shape = vec![blocks.meta.items()];
        Some((blocks, rule))
    }

    pub fn as_packed_file(&self) -> Option<PackedFile<'_>> {
        if let Storage::Bytes { bytes, .. } = &self.store { bytes.as_packed_file() } else { None }
    }

    pub fn is_changeable(&self) -> bool {
        self.as_local_file().is_some() || self.as_packed_file().is_some() || self.as_chunks().is_some()
    }

    /// The place in the file of the first item.
    pub fn offset(&self) -> Option<u64> {
        if let Storage::Bytes { start, .. } = &self.store { Some(*start) } else { None }
    }

    pub fn as_chunks(&self) -> Option<&Arc<dyn Chunked>> {
        if let Storage::Chunks(chunks) = &self.store { Some(chunks) } else { None }
    }

    pub fn as_bytes(&self) -> Option<&[u8]> {
        if let Storage::Memory(bytes) = &self.store { Some(bytes) } else { None }
    }

    /// Returns whether both sources are read by position from the same file, so that a change of one may change the
    /// other.
    pub fn shares_bytes_with(&self, other: &Self) -> Result<bool> {
        let own = self.identity()?;
        Ok(own.is_some() && own == other.identity()?)
    }

    /// Returns the identity of the file with the items; `None` if they are not read by position from one.
    pub fn identity(&self) -> Result<Option<Identity>> {
        match &self.store {
            Storage::Bytes { bytes, .. } => bytes.identity().map(Some).with_context(|| self.label.clone()),
            Storage::Stream(_) | Storage::Chunks(_) | Storage::Memory(_) | Storage::Item(_) => Ok(None),
        }
    }

    /// The view of all items in storage.
    pub fn view(&self) -> View {
        self.meta.view()
    }

    /// Turns Fortran order into C order by reversing the axes. The items stay where they are.
    pub fn reverse_to_c_order(&mut self) {
        if self.meta.order == Order::Fortran {
            self.meta.shape.reverse();
            self.meta.order = Order::C;
        }
    }

    /// Checks after the last read that a stream ends at its length and that stored items have not changed.
    pub fn finish(&self) -> Result<()> {
        match &self.store {
            Storage::Stream(stream) => {
                let mut stream = locked(stream);
                let Stream { reader, at, bytes } = &mut *stream;
                // One more byte shows that the stream is too long; the excess is not measured.
                let rest = bytes.saturating_sub(*at) + 1;
                let read = io::copy(&mut reader.by_ref().take(rest), &mut io::sink());
                *at += read.with_context(|| self.label.clone())?;
                let (found, more) = if *at > *bytes { (*bytes, "more than ") } else { (*at, "") };
                let what = wrong_length(found, *bytes, &self.meta);
                ensure!(*at == *bytes, "{}: {more}{what}", self.label);
                Ok(())
            }
            Storage::Bytes { bytes, stamp, .. } => {
                let now = bytes.stamp().with_context(|| self.label.clone())?;
                ensure!(now == *stamp, "{}: changed while it was read", self.label);
                Ok(())
            }
            Storage::Chunks(chunks) => chunks.finish().with_context(|| self.label.clone()),
            Storage::Memory(_) | Storage::Item(_) => Ok(()),
        }
    }

    /// Gathers the items of `view` in C order, as stored.
    pub fn read(&self, view: &View, out: &mut [u8], scratch: &mut Buffer) -> Result<()> {
        self.read_between(view, Gaps::Wanted, out, scratch)
    }

    /// Gathers items like [`read`](Self::read). `gaps` tells whether anybody needs the gaps between them. A source on a
    /// server ignores it and limits the bytes of gaps.
    pub fn read_between(&self, view: &View, gaps: Gaps<'_>, out: &mut [u8], scratch: &mut Buffer) -> Result<()> {
        let itemsize = self.meta.dtype.itemsize();
        if out.is_empty() {
            return Ok(());
        }
        if let Storage::Chunks(chunks) = &self.store
            && let Some((places, axes)) = view.as_selection(&self.meta.shape)
        {
            let read = |out: &mut [u8], scratch| chunks.read(&places, out, scratch).with_context(|| self.label.clone());
            if axes.is_sorted() {
                return read(out, scratch);
            }
            // The axes are in another order than in the chunks.
            let dims: Vec<usize> = places.iter().map(|span| span.len).collect();
            let mut items = memory::zeros(out.len()).with_context(|| &*self.label)?;
            read(&mut items, scratch)?;
            let from = View::c_order(&dims).with_axes(&axes);
            copy_bytes(&items, &from, out, &View::c_order(&from.shape()), itemsize);
            return Ok(());
        }
        match &self.store {
            Storage::Memory(bytes) => copy_bytes(bytes, view, out, &View::c_order(&view.shape()), itemsize),
            Storage::Item(item) => fill(out, item),
            Storage::Bytes { .. } | Storage::Stream(_) | Storage::Chunks(_) => {
                let may_read = |gaps| self.spare(gaps);
                let reads = match self.costs_requests() {
                    true => GatherRule { most: READ_AHEAD, gaps: Gaps::Counted(&may_read) },
                    false => GatherRule { most: READ_AT_ONCE, gaps },
                };
                gather(view, itemsize, out, scratch, reads, |bytes, at| self.read_at(bytes, at))?;
            }
        }
        Ok(())
    }

    /// Reads and converts the items of `view`.
    pub fn read_as(&self, conversion: &Conversion, view: &View, out: &mut [u8], scratch: &mut Buffer) -> Result<()> {
        if conversion.keeps_width() {
            self.read(view, out, scratch)?;
            conversion.swap(out);
            return Ok(());
        }
        let [from, to] = [self.meta.dtype.itemsize(), conversion.itemsize()];
        let mut items = Buffer::default();
        // Items that become narrower are converted a few at a time: updates of `<U1000` for data of `<U1` would take a
        // thousand times the memory of their window.
        for window in Windows::new(&view.shape(), READ_AT_ONCE / from.max(1)).iter() {
            let box_view = view.part(&window.ranges);
            items.resize(box_view.items() * from, &self.label)?;
            self.read(&box_view, &mut items, scratch)?;
            conversion.convert(&mut items, &mut out[window.start * to..][..box_view.items() * to]);
        }
        Ok(())
    }

    /// Returns the reads or requests of [`read_between`](Self::read_between) from bytes by position, and their bytes. Later
    /// reads may read fewer gaps, because an object limits them.
    pub fn calls_between(&self, view: &View, gaps: Gaps<'_>) -> [u64; 2] {
        let (Storage::Bytes { bytes, start, .. }, itemsize) = (&self.store, self.meta.dtype.itemsize()) else {
            return [0, 0];
        };
        if !self.costs_requests() {
            return calls(view, itemsize, GatherRule { most: READ_AT_ONCE, gaps }).map(|count| count as u64);
        }
        let (may_read, mut found) = (|gaps| self.spare(gaps), [0, 0]);
        reads(view, itemsize, GatherRule { most: READ_AHEAD, gaps: Gaps::Counted(&may_read) }, |at, len| {
            found = [found[0] + bytes.requests(start + at, len), found[1] + len as u64];
        });
        found
    }

    /// Reads stored bytes. `at` is their offset from the first byte of all items.
    pub fn read_at(&self, out: &mut [u8], at: u64) -> Result<()> {
        match self.nearest() {
            Storage::Bytes { bytes, start, .. } => {
                bytes.read_at(out, start + at).with_context(|| format!("{}: cannot be read", self.label))
            }
            Storage::Stream(stream) => {
                let mut stream = locked(stream);
                let read = stream.read_at(out, at).with_context(|| self.label.clone())?;
                let what = || wrong_length(stream.at, stream.bytes, &self.meta);
                ensure!(read == out.len(), "{}: {}", self.label, what());
                Ok(())
            }
            Storage::Chunks(chunks) => {
                let itemsize = self.meta.dtype.itemsize().max(1);
                let (first, mut scratch) = (at as usize / itemsize, Buffer::default());
                let boxes = boxes_of_run(&self.meta.shape, first, first + out.len() / itemsize);
                fill_each(&boxes, itemsize, out, |window, items| {
                    let places: Vec<_> = window.spans().collect();
                    chunks.read(&places, items, &mut scratch).with_context(|| self.label.clone())
                })
            }
            Storage::Memory(bytes) => {
                out.copy_from_slice(&bytes[at as usize..][..out.len()]);
                Ok(())
            }
            Storage::Item(item) => {
                fill(out, item);
                Ok(())
            }
        }
    }
}

/// The message for data of a wrong length.
pub fn wrong_length(found: u64, expected: u64, meta: &Meta) -> String {
    format!("{found} bytes of data, expected {expected} ({} {:?})", meta.dtype.name(), meta.shape)
}

pub fn fill(out: &mut [u8], item: &[u8]) {
    if item.iter().all(|&byte| byte == 0) {
        return out.fill(0);
    }
    copy::fill(out, item);
}

/// Returns whether `items` repeats `item`. The comparison stops at the first difference.
pub fn is_filled(items: &[u8], item: &[u8]) -> bool {
    items.starts_with(item) && items[item.len()..] == items[..items.len() - item.len()]
}

struct Stream {
    reader: Box<dyn Read + Send>,
    at: u64,
    bytes: u64,
}

impl std::fmt::Debug for Stream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Stream at {} of {}", self.at, self.bytes)
    }
}

impl Stream {
    /// Skips to `at`, fills `out` as far as the stream lasts, and returns the number of bytes.
    fn read_at(&mut self, out: &mut [u8], at: u64) -> io::Result<usize> {
        let skip = at.checked_sub(self.at).ok_or_else(|| io::Error::other("a stream cannot be read backwards"))?;
        self.at += io::copy(&mut self.reader.by_ref().take(skip), &mut io::sink())?;
        let filled = fill_from(&mut self.reader, out)?;
        self.at += filled as u64;
        Ok(filled)
    }
}

#[cfg(test)]
mod tests;

/// Converts each kind of storage while it is read.
pub trait ByteReading {
    /// The first item is at `start`; in the result it is at 0.
    fn convert_bytes(&self, bytes: Arc<dyn ReadAt>, start: u64) -> Arc<dyn ReadAt>;

    fn convert_stream(&self, reader: Box<dyn Read + Send>) -> Box<dyn Read + Send>;

    fn convert_chunks(&self, chunks: Arc<dyn Chunked>) -> Arc<dyn Chunked>;
}

impl Source {
    /// Reads the items through `reading`. Must precede the first read.
    pub fn read_through(&mut self, meta: Meta, reading: &dyn ByteReading) -> Result<()> {
        let bytes = meta.bytes() as u64;
        self.store = match mem::replace(&mut self.store, Storage::Item(Vec::new())) {
            Storage::Bytes { bytes, start, stamp } => {
                Storage::Bytes { bytes: reading.convert_bytes(bytes, start), start: 0, stamp }
            }
            Storage::Stream(stream) => {
                let reader = reading.convert_stream(stream.into_inner().expect(UNPOISONED).reader);
                Storage::Stream(Mutex::new(Stream { reader, at: 0, bytes }))
            }
            Storage::Chunks(chunks) => Storage::Chunks(reading.convert_chunks(chunks)),
            Storage::Memory(items) => {
                Storage::stored(reading.convert_bytes(Arc::new(MemoryBytes::shared(items)), 0), 0)?
            }
            Storage::Item(_) => unreachable!("a fill value comes from an option, and has its dtype"),
        };
        self.near = OnceLock::new();
        self.meta = meta;
        Ok(())
    }
}
