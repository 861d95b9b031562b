//! The items of an operand, wherever they lie: a [`Source`] is one tensor that operators read window by window.
//!
//! What holds the items is one of five kinds of storage: *bytes* that are read by position (a local file, or what stands
//! for one, see [`read_at`](super::read_at)); a *stream* that comes once, from front to back; *chunks* of a grid, each
//! packed as a whole (see [`chunked`](super::chunked)); *memory*; or *one item* that stands at every place. An operator
//! asks which kind it is only to choose a faster way, since each kind answers [`Source::read`].
//!
//! A *label* is what messages call a source: the operand and its file. A *container* is a file that holds several tensors,
//! its *metadata* are what the file says of itself, as texts by keys. A source is *resident* when all its items are in memory;
//! what else its items can be made fit for is a [`Hold`].

use std::fs::File;
use std::io::{self, Read};
use std::sync::{Arc, Mutex, OnceLock};

use crate::error::{Context, Result, ensure};

mod container;
mod copies;
mod free_width;
mod readings;

pub use self::container::{Container, Metadata, merged};
pub use self::copies::{HeldCopy, Hold, Keep};
pub use self::readings::ByteReading;
use super::attachments::Attachments;
use super::calls::{CallCounter, Calls};
use super::chunked::Chunked;
use super::read_at::{PackedFile, READ_AHEAD, ReadAt, Stamp};
use crate::item::dtype::DType;
use crate::item::meta::{Meta, Order};
use crate::item::tensor::Tensor;
use crate::layout::gather::{GapRun, Gaps, GatherRule, calls, gather};
use crate::layout::view::View;
use crate::layout::walk::{self, copy_bytes};
use crate::layout::window::{boxes_of_run, fill_each};
use crate::memory::{self, Buffer};
use crate::parallel::{Threads, locked};

/// The most bytes that are read at once, of copies and while scattered items are gathered, where no server is asked. That bounds
/// what is read in vain, for the gaps between the items, and the memory of each thread. A read of a MiB costs far more than the
/// system call that asks for it.
pub(crate) const READ_AT_ONCE: usize = 1 << 20;

/// A tensor that can be read in parts.
#[derive(Debug)]
pub struct Source {
    meta: Meta,
    store: Storage,
    /// What messages call the source.
    label: String,
    /// The file that holds this tensor and others, and the number of the tensor there.
    container: Option<(Arc<Container>, usize)>,
    /// The name of this tensor in the group that was named as a whole; `None` if the tensor itself was named.
    name_in_group: Option<Arc<str>>,
    /// Whether the width of strings is not part of the dtype, as in JSON: it is that of the longest item.
    has_free_width: bool,
    /// A copy of the items as they are stored, once they have been [brought near](Self::bring_near).
    near: OnceLock<Storage>,
}

/// The storage of the items. The module's head explains the five kinds.
#[derive(Debug)]
enum Storage {
    /// Items in bytes that are read by position, from byte `start` on. The stamp was taken when the source was made.
    Bytes { bytes: Arc<dyn ReadAt>, start: u64, stamp: Stamp },
    /// Items that come once, in the order of storage. Threads share a source, and reading moves the stream, so the type
    /// needs a lock; but a job reads a stream with one thread only.
    Stream(Mutex<Stream>),
    /// Items in the chunks of a grid.
    Chunks(Arc<dyn Chunked>),
    /// Items in memory.
    Memory(Arc<Buffer>),
    /// One item, which stands at every place.
    Item(Vec<u8>),
}

impl Storage {
    fn stored(bytes: Arc<dyn ReadAt>, start: u64) -> Result<Self> {
        Ok(Self::Bytes { stamp: bytes.stamp()?, bytes, start })
    }

    /// Returns the same storage for another source.
    ///
    /// # Panics
    /// If it is a stream, which one source reads.
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
        Self { meta, store, label, container: None, name_in_group: None, has_free_width: false, near: OnceLock::new() }
    }

    /// Takes a tensor in memory, whose items are in C order.
    pub fn memory(tensor: Tensor, label: String) -> Self {
        let (meta, bytes) = tensor.into_parts();
        Self::new(meta, Storage::Memory(Arc::new(Buffer::from(bytes))), label)
    }

    /// Makes a source of items that lie in `bytes` from byte `start` on, in the order and the byte order that `meta` has.
    /// Several sources may share the bytes.
    ///
    /// # Errors
    /// The system does not tell the version of the bytes.
    pub fn stored(meta: Meta, bytes: Arc<dyn ReadAt>, start: u64, label: String) -> Result<Self> {
        Ok(Self::new(meta, Storage::stored(bytes, start)?, label))
    }

    /// Takes items that lie in chunks.
    pub fn chunks(meta: Meta, chunks: Arc<dyn Chunked>, label: String) -> Self {
        Self::new(meta, Storage::Chunks(chunks), label)
    }

    /// Takes the `bytes` bytes of items that `reader` gives before it ends.
    pub fn stream(meta: Meta, reader: Box<dyn Read + Send>, bytes: u64, label: String) -> Self {
        Self::new(meta, Storage::Stream(Mutex::new(Stream { reader, at: 0, bytes })), label)
    }

    /// Takes one item for every place of a shape.
    pub fn item(meta: Meta, item: Vec<u8>, label: String) -> Self {
        Self::new(meta, Storage::Item(item), label)
    }

    /// Returns another source of the same items, for one of several operators on the same data. A stream is made
    /// [seekable](Hold::Seekable) for it.
    ///
    /// # Errors
    /// Those of [`hold`](Self::hold).
    pub fn another(&mut self) -> Result<Self> {
        self.hold(Hold::Seekable, Threads::default())?;
        let (container, name_in_group) = (self.container.clone(), self.name_in_group.clone());
        Ok(Self { container, name_in_group, ..Self::new(self.meta.clone(), self.store.shared(), self.label.clone()) })
    }

    /// Returns the same tensor as number `n` of several in a container.
    #[must_use]
    pub fn one_of(self, container: Arc<Container>, n: usize) -> Self {
        Self { container: Some((container, n)), ..self }
    }

    /// Returns the same tensor as that of a name in a group that was named as a whole, so that what is made of it is a group, too.
    #[must_use]
    pub fn in_group(self, name: &str) -> Self {
        Self { name_in_group: Some(name.into()), ..self }
    }

    /// Returns its name in the group that was named as a whole, if it comes with one. A group without metadata is not its
    /// [container](Self::container).
    pub fn name_in_group(&self) -> Option<&str> {
        self.name_in_group.as_deref()
    }

    /// Returns the container that holds this tensor, if one does.
    pub fn container(&self) -> Option<&Container> {
        self.container.as_ref().map(|(container, _)| &**container)
    }

    /// Returns the content of the file or store of this tensor that is not a tensor, if its format can have any.
    pub fn attachments(&self) -> Option<&Arc<dyn Attachments>> {
        match &self.container {
            Some((container, _)) => container.attachments.as_ref(),
            None => self.as_chunks()?.attachments(),
        }
    }

    /// Returns the name of this tensor in its container.
    pub fn member(&self) -> Option<&str> {
        self.container.as_ref().map(|(container, n)| &*container.names[*n])
    }

    /// Returns the dtype of the items as they are stored, the dims, and the order of storage.
    pub fn meta(&self) -> &Meta {
        &self.meta
    }

    /// Returns the dtype of the items as they are stored.
    pub fn dtype(&self) -> &DType {
        &self.meta.dtype
    }

    /// Takes the bits for items of another dtype of the same itemsize.
    pub fn reinterpret(&mut self, dtype: DType) {
        debug_assert_eq!(self.meta.dtype.itemsize(), dtype.itemsize());
        self.meta.dtype = dtype;
    }

    /// Returns the dims.
    pub fn shape(&self) -> &[usize] {
        &self.meta.shape
    }

    /// Returns the size of all items in bytes.
    pub fn bytes(&self) -> usize {
        self.meta.bytes()
    }

    /// Returns what messages call the source: operand and file.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// Returns whether one item stands at every place.
    pub fn is_one_item(&self) -> bool {
        matches!(self.store, Storage::Item(_))
    }

    /// Returns whether the items can be read only once, from front to back.
    pub fn is_stream(&self) -> bool {
        matches!(self.store, Storage::Stream(_))
    }

    /// Returns whether its items lie in bytes that are read by position: then each read costs a call of the system or a
    /// request, and items that lie apart take many. In memory, in chunks and in streams they do not.
    pub fn is_read_by_position(&self) -> bool {
        matches!(self.store, Storage::Bytes { .. })
    }

    /// Returns what holds the items that are read: a copy, where there is one.
    fn nearest(&self) -> &Storage {
        self.near.get().unwrap_or(&self.store)
    }

    /// Returns whether each read is a request to a server, so that threads gain by waiting together however little there is.
    pub fn costs_requests(&self) -> bool {
        match self.nearest() {
            Storage::Bytes { bytes, .. } => bytes.costs_requests(),
            Storage::Chunks(chunks) => chunks.costs_requests(),
            Storage::Stream(_) | Storage::Memory(_) | Storage::Item(_) => false,
        }
    }

    /// Returns how many of some gaps may be read in vain, and counts these.
    fn spare(&self, gaps: GapRun) -> usize {
        let Storage::Bytes { bytes, start, .. } = &self.store else { return 0 };
        bytes.spare(GapRun { at: start + gaps.at, ..gaps })
    }

    /// Returns how many of some threads are worth their start to read all of it: any that can wait for a server.
    pub fn threads(&self, allowed: Threads) -> usize {
        allowed.for_requests(self.costs_requests()).for_bytes(self.bytes())
    }

    /// Returns the open local file in which its items lie as they are, and the byte at which they begin there. Only what
    /// needs a descriptor asks for it: copies by the kernel, and writing in place.
    pub fn as_local_file(&self) -> Option<(&File, u64)> {
        let Storage::Bytes { bytes, start, .. } = &self.store else { return None };
        bytes.as_file().map(|file| (file, *start))
    }

    /// Returns the open local file in which its items lie, several of them in a byte.
    pub fn as_packed_file(&self) -> Option<PackedFile<'_>> {
        if let Storage::Bytes { bytes, .. } = &self.store { bytes.as_packed_file() } else { None }
    }

    /// Returns what counts the reads of its bytes, if anything does.
    fn counter(&self) -> Option<&Arc<CallCounter>> {
        if let Storage::Bytes { bytes, .. } = &self.store { bytes.counter() } else { None }
    }

    /// Returns whether its items are not read, since a run is [rehearsed](CallCounter::rehearse).
    pub fn is_rehearsed(&self) -> bool {
        self.counter().is_some_and(|counter| counter.is_rehearsal())
    }

    /// Returns whether its items can be changed where they are stored.
    pub fn is_changeable(&self) -> bool {
        self.as_local_file().is_some() || self.as_packed_file().is_some() || self.as_chunks().is_some()
    }

    /// Returns the byte at which its items begin in the bytes that are read by position.
    #[cfg(test)]
    pub fn offset(&self) -> Option<u64> {
        if let Storage::Bytes { start, .. } = &self.store { Some(*start) } else { None }
    }

    /// Returns the chunks that the items lie in, if they do.
    pub fn as_chunks(&self) -> Option<&Arc<dyn Chunked>> {
        if let Storage::Chunks(chunks) = &self.store { Some(chunks) } else { None }
    }

    /// Returns all items as they are stored, if they are in memory.
    pub fn as_bytes(&self) -> Option<&[u8]> {
        if let Storage::Memory(bytes) = &self.store { Some(bytes) } else { None }
    }

    /// Returns whether both lie in the same bytes, by whatever name these were opened: a change of one may change the
    /// other.
    ///
    /// # Errors
    /// The system does not tell the identity of the bytes.
    pub fn shares_bytes_with(&self, other: &Self) -> Result<bool> {
        let identity = |source: &Self| match &source.store {
            Storage::Bytes { bytes, .. } => bytes.identity().map(Some).with_context(|| source.label.clone()),
            Storage::Stream(_) | Storage::Chunks(_) | Storage::Memory(_) | Storage::Item(_) => Ok(None),
        };
        let own = identity(self)?;
        Ok(own.is_some() && own == identity(other)?)
    }

    /// Returns the view of all items where they are stored.
    pub fn view(&self) -> View {
        self.meta.view()
    }

    /// Reverses the axes of a tensor in Fortran order, which makes it one in C order: the same items lie in the same places.
    pub fn reverse_to_c_order(&mut self) {
        if self.meta.order == Order::Fortran {
            self.meta.shape.reverse();
            self.meta.order = Order::C;
        }
    }

    /// Checks, once all that was wanted has been read, that a stream ends where it should and that stored items have not
    /// changed since the source was made.
    ///
    /// # Errors
    /// A stream is shorter or longer than its tensor; bytes have changed; reading fails.
    pub fn finish(&self) -> Result<()> {
        match &self.store {
            Storage::Stream(stream) => {
                let mut stream = locked(stream);
                let Stream { reader, at, bytes } = &mut *stream;
                // One byte more than expected is enough to show that the stream is too long.
                let rest = bytes.saturating_sub(*at) + 1;
                let read = io::copy(&mut reader.by_ref().take(rest), &mut io::sink());
                *at += read.with_context(|| self.label.clone())?;
                // It remains unknown how much too long the stream is.
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

    /// Gathers the items that `view` shows into `out`, in C order of the view and with the bytes that they are stored with.
    ///
    /// # Errors
    /// Reading fails, or the bytes end before the last item.
    pub fn read(&self, view: &View, out: &mut [u8], scratch: &mut Buffer) -> Result<()> {
        self.read_between(view, Gaps::Wanted, out, scratch)
    }

    /// Does what [`read`](Self::read) does at this cost of the gaps between the items, unless they are read from a server.
    ///
    /// # Errors
    /// Those of [`read`](Self::read).
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
            // The axes come in another order than they have in the chunks.
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
                if let Some(counter) = self.counter().filter(|counter| counter.is_rehearsal()) {
                    let [reads, bytes_read] = calls(view, itemsize, reads).map(|count| count as u64);
                    counter.add(Calls { reads, bytes_read, ..Calls::default() });
                    return Ok(());
                }
                gather(view, itemsize, out, scratch, reads, |bytes, at| self.read_at(bytes, at))?;
            }
        }
        Ok(())
    }

    /// Reads the bytes of items, as they are stored, from byte `at` of all items on.
    ///
    /// # Errors
    /// Those of [`read`](Self::read).
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

/// Says what is wrong with a tensor of `found` bytes that should have `expected`.
pub fn wrong_length(found: u64, expected: u64, meta: &Meta) -> String {
    format!("{found} bytes of data, expected {expected} ({} {:?})", meta.dtype.name(), meta.shape)
}

/// Fills `out` with as many copies of an item as it has room for.
pub fn fill(out: &mut [u8], item: &[u8]) {
    if item.iter().all(|&byte| byte == 0) {
        return out.fill(0);
    }
    walk::fill(out, item);
}

/// Returns whether all items have the bits of one item. The first that has not ends the search.
pub fn is_filled(items: &[u8], item: &[u8]) -> bool {
    items.starts_with(item) && items[item.len()..] == items[..items.len() - item.len()]
}

/// The items of a tensor as they come, once.
struct Stream {
    reader: Box<dyn Read + Send>,
    /// The number of bytes that have been read.
    at: u64,
    /// The number of bytes that should come.
    bytes: u64,
}

impl std::fmt::Debug for Stream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Stream at {} of {}", self.at, self.bytes)
    }
}

impl Stream {
    /// Skips to byte `at`, fills `out` as far as there are bytes, and returns how many there were.
    fn read_at(&mut self, out: &mut [u8], at: u64) -> io::Result<usize> {
        let skip = at.checked_sub(self.at).ok_or_else(|| io::Error::other("a stream cannot be read backwards"))?;
        self.at += io::copy(&mut self.reader.by_ref().take(skip), &mut io::sink())?;
        let filled = fill_from(&mut self.reader, out)?;
        self.at += filled as u64;
        Ok(filled)
    }
}

/// Fills `out` as far as `reader` has bytes, and returns how many it had.
///
/// # Errors
/// Reading fails.
pub fn fill_from(reader: &mut impl Read, out: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < out.len() {
        match reader.read(&mut out[filled..]) {
            Ok(0) => break,
            Ok(n) => filled += n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

#[cfg(test)]
mod tests;
