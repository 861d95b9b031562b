//! Finds and unpacks the chunks of the wanted items.

use std::collections::{HashMap, VecDeque};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};

use super::metadata::ArrayMetadata;
use super::sharding::{ShardIndex, Shards};
use crate::storage::attachments::Attachments;
use crate::storage::chunked::{ChunkStyle, Chunked, PackedUnit};
use crate::storage::key_store::{KeyStore, Lock, WritableStore, join};
use crate::storage::read_at::{Identity, READ_AHEAD, ReadAt, Stamp};
use crate::storage::requests::Part;
use crate::storage::source::fill;
use tensorop_kernels::error::{Context, Error, ErrorKind, Result, ensure, malformed};
use tensorop_kernels::layout::axis::{Span, bytes_of};
use tensorop_kernels::layout::copy::copy_bytes;
use tensorop_kernels::layout::gather::{Gaps, GatherRule, gather};
use tensorop_kernels::layout::view::View;
use tensorop_kernels::layout::window::{Window, Windows};
use tensorop_kernels::memory::{self, Buffer};
use tensorop_kernels::parallel::locked;

/// Bytes, but at least one chunk. Only partly used chunks are kept, since the next window likely needs the rest.
const KEPT: usize = 1 << 26;

/// Bytes read at a time from a chunk without codecs.
const AT_ONCE: usize = 1 << 20;

#[derive(Debug)]
pub(crate) struct ZarrChunks {
    store: Arc<dyn KeyStore>,
    prefix: String,
    pub(crate) array: ArrayMetadata,
    grid: Windows,
    /// The grid of units: chunks or shards.
    files: Windows,
    kept: Mutex<Kept<Unpacked>>,
    open_shards: Mutex<Kept<FoundShard>>,
    /// Set if the array is the whole store.
    attachments: Option<Arc<dyn Attachments>>,
    /// The version of the metadata at opening.
    stamp: Option<Stamp>,
    _lock: Option<Lock>,
}

#[derive(Debug)]
struct OpenShard {
    value: Arc<dyn ReadAt>,
    index: ShardIndex,
}

/// `None` if not stored.
type FoundShard = Option<Arc<OpenShard>>;

/// The latest values by number.
#[derive(Debug)]
struct Kept<T> {
    /// Oldest first.
    order: VecDeque<usize>,
    slots: HashMap<usize, KeptSlot<T>>,
}

/// One thread makes the value, and others wait.
type KeptSlot<T> = Arc<OnceLock<Result<T>>>;

impl<T> Default for Kept<T> {
    fn default() -> Self {
        Self { order: VecDeque::new(), slots: HashMap::new() }
    }
}

impl<T> Kept<T> {
    fn slot(&mut self, number: usize, most: usize) -> KeptSlot<T> {
        if let Some(slot) = self.slots.get(&number) {
            return Arc::clone(slot);
        }
        while self.order.len() >= most {
            let oldest = self.order.pop_front().expect("at least one value may be kept");
            self.slots.remove(&oldest);
        }
        self.order.push_back(number);
        Arc::clone(self.slots.entry(number).or_default())
    }
}

/// `None` if not stored.
type Unpacked = Option<Arc<Vec<u8>>>;

impl ZarrChunks {
    pub(crate) fn new(
        store: Arc<dyn KeyStore>,
        prefix: &str,
        array: ArrayMetadata,
        lock: Option<Lock>,
    ) -> Result<Self> {
        let shape = &array.meta.shape;
        let (grid, files) = (Windows::boxes(shape, &array.style.chunk), Windows::boxes(shape, &array.style.unit));
        let (stamp, prefix) = (store.stamp(&join(prefix, array.file))?, prefix.to_owned());
        let (kept, open_shards) = (Mutex::default(), Mutex::default());
        Ok(Self { store, prefix, array, grid, files, kept, open_shards, attachments: None, stamp, _lock: lock })
    }

    pub(crate) fn beside(self, attachments: Option<Arc<dyn Attachments>>) -> Self {
        Self { attachments, ..self }
    }

    fn chunk_bytes(&self) -> usize {
        let bytes = bytes_of(&self.array.style.chunk, self.array.meta.dtype.itemsize());
        bytes.expect("the metadata is refused if a chunk is more than memory can address")
    }

    fn open(&self, key: &str) -> Result<Option<Arc<dyn ReadAt>>> {
        self.store.open(&join(&self.prefix, key))
    }

    fn shard(&self, chunk: &Window) -> Result<FoundShard> {
        const OPEN: usize = 16;
        let slot = locked(&self.open_shards).slot(self.files.number_of(chunk.start), OPEN);
        let open = || {
            let key = self.array.key(chunk);
            Ok(self.open_shard(&key).with_context(|| format!("shard {key}"))?.map(Arc::new))
        };
        slot.get_or_init(open).clone()
    }

    fn open_shard(&self, key: &str) -> Result<Option<OpenShard>> {
        let Some(shards) = &self.array.shards else { return Ok(None) };
        let bytes = shards.index_bytes() as u64;
        let index = if shards.at_start { Part::First(bytes) } else { Part::Last(bytes) };
        let Some(value) = self.store.open_for(&join(&self.prefix, key), index)? else { return Ok(None) };
        let packed = read_part(&*value, shards.index_start(value.size()?)?, shards.index_bytes())?;
        Ok(Some(OpenShard { index: shards.index(&packed)?, value }))
    }

    fn unpack(&self, chunk: &Window) -> Result<Unpacked> {
        let shard = match &self.array.shards {
            None => None,
            Some(shards) => match self.shard(chunk)? {
                None => return Ok(None),
                Some(shard) => Some((shards, shard)),
            },
        };
        let packed = match &shard {
            None => self.read_value(chunk),
            Some((shards, shard)) => self.read_from(shard, shards, chunk),
        };
        let unpack = |packed| self.array.chain.unpack(packed, self.chunk_bytes()).map(Arc::new);
        packed.and_then(|packed| packed.map(unpack).transpose()).with_context(|| self.named(chunk))
    }

    fn read_value(&self, chunk: &Window) -> Result<Option<Vec<u8>>> {
        let bytes = self.chunk_bytes();
        let most = self.array.chain.most_packed(bytes) as u64;
        let packed = self.store.get(&join(&self.prefix, &self.array.key(chunk)), most)?;
        ensure!(packed.as_ref().is_none_or(|packed| !packed.is_empty() || bytes == 0), "is empty");
        Ok(packed)
    }

    fn read_from(&self, shard: &OpenShard, shards: &Shards, chunk: &Window) -> Result<Option<Vec<u8>>> {
        let [offset, len] = shard.index[self.number_in(shards, chunk)];
        if [offset, len] == [u64::MAX; 2] {
            return Ok(None);
        }
        let most = self.array.chain.most_packed(self.chunk_bytes()) as u64;
        ensure!(len <= most, "{len} bytes, expected at most {most}");
        read_part(&*shard.value, offset, usize::try_from(len)?).map(Some)
    }

    fn number_in(&self, shards: &Shards, chunk: &Window) -> usize {
        let inside = chunk.ranges.iter().zip(&self.array.style.unit).zip(&shards.chunk);
        let place = inside.map(|((range, unit), side)| range.start % unit / side);
        place.zip(&shards.counts).fold(0, |number, (at, count)| number * count + at)
    }

    /// Whether a box is a box of the grid, clipped to the tensor.
    fn is_one(&self, window: &Window, sides: &[usize]) -> bool {
        window.ranges.iter().zip(sides).zip(&self.array.meta.shape).all(|((range, &side), &dim)| {
            range.start.is_multiple_of(side) && range.end == range.start.saturating_add(side).min(dim)
        })
    }

    fn named(&self, chunk: &Window) -> String {
        let (key, at) = (self.array.key(chunk), chunk.spans().map(|span| span.start).collect::<Vec<_>>());
        if self.array.shards.is_some() { format!("chunk {at:?} of {key}") } else { format!("chunk {key}") }
    }

    fn unpack_kept(&self, chunk: &Window) -> Result<Unpacked> {
        let most = (KEPT / self.chunk_bytes().max(1)).max(1);
        let slot = locked(&self.kept).slot(self.grid.number_of(chunk.start), most);
        slot.get_or_init(|| self.unpack(chunk)).clone()
    }

    fn take(&self, chunk: &Window, wanted: &Wanted, out: &mut [u8], scratch: &mut Buffer) -> Result<()> {
        let (array, itemsize) = (&self.array, self.array.meta.dtype.itemsize());
        let from = array.chain.view(&array.style.chunk).select(&wanted.inside);
        // a chunk may extend beyond the tensor
        let whole = wanted.inside.iter().zip(&chunk.ranges).all(|(span, range)| span.len == range.len());
        // items without codecs are read in place unless one request returns them all
        let one_request = whole && self.store.costs_requests();
        if array.chain.is_bare() && array.shards.is_none() && !one_request {
            let mut take = || match self.open(&array.key(chunk))? {
                None => self.fill(&wanted.place, out),
                Some(value) => {
                    let (len, bytes) = (value.size()?, self.chunk_bytes());
                    ensure!(len == bytes as u64, "{len} bytes, expected {bytes}");
                    // gaps would add up over many values
                    let gaps = if value.costs_requests() { Gaps::Counted(&|_| 0) } else { Gaps::Wanted };
                    let reads = GatherRule { gaps, ..GatherRule::of(AT_ONCE) };
                    let read = |bytes: &mut [u8], at: u64| -> Result<()> { Ok(value.read_at(bytes, at)?) };
                    put(&wanted.place, itemsize, out, &mut |items| gather(&from, itemsize, items, scratch, reads, read))
                }
            };
            return take().with_context(|| self.named(chunk));
        }
        match if whole { self.unpack(chunk)? } else { self.unpack_kept(chunk)? } {
            None => self.fill(&wanted.place, out),
            Some(items) => {
                copy_bytes(&items, &from, out, &wanted.place, itemsize);
                Ok(())
            }
        }
    }

    fn fill(&self, place: &View, out: &mut [u8]) -> Result<()> {
        let item = &self.array.style.fill;
        put(place, item.len(), out, &mut |items| {
            fill(items, item);
            Ok(())
        })
    }

    /// Calls `each` for every chunk that contains some of the places.
    fn each(&self, places: &[Span], each: &mut dyn FnMut(&Window, &Wanted) -> Result<()>) -> Result<()> {
        let dims: Vec<usize> = places.iter().map(|span| span.len).collect();
        for number in self.grid.touched_by(places)? {
            let chunk = self.grid.get(number);
            let both = || places.iter().zip(&chunk.ranges);
            let parts: Vec<Range<usize>> = both().map(|(span, range)| span.within(range.start, range.end)).collect();
            let inside = both().zip(&parts).map(|((span, range), part)| Span {
                start: span.at(part.start) - range.start,
                step: span.step,
                len: part.len(),
            });
            each(&chunk, &Wanted { inside: inside.collect(), place: View::c_order(&dims).part(&parts) })?;
        }
        Ok(())
    }
}

struct Wanted {
    /// Relative to the chunk.
    inside: Vec<Span>,
    /// In the output.
    place: View,
}

/// `write` gives items in C order.
fn put(place: &View, itemsize: usize, out: &mut [u8], write: &mut dyn FnMut(&mut [u8]) -> Result<()>) -> Result<()> {
    let bytes = place.items() * itemsize;
    if let Some(first) = place.as_run() {
        return write(&mut out[first * itemsize..][..bytes]);
    }
    let mut items = memory::zeros(bytes)?;
    write(&mut items)?;
    copy_bytes(&items, &View::c_order(&place.shape()), out, place, itemsize);
    Ok(())
}

fn read_part(value: &dyn ReadAt, at: u64, bytes: usize) -> Result<Vec<u8>> {
    let len = value.size()?;
    let end = at.checked_add(bytes as u64).filter(|&end| end <= len);
    end.ok_or_else(|| malformed!("{len} bytes, too few for {bytes} bytes at {at}"))?;
    let mut out = memory::zeros(bytes)?;
    value.read_at(&mut out, at).context("cannot be read")?;
    Ok(out)
}

impl Chunked for ZarrChunks {
    fn read(&self, places: &[Span], out: &mut [u8], scratch: &mut Buffer) -> Result<()> {
        if out.is_empty() {
            return Ok(());
        }
        self.each(places, &mut |chunk, wanted| self.take(chunk, wanted, out, scratch))
    }

    fn finish(&self) -> Result<()> {
        let is_same = self.store.stamp(&join(&self.prefix, self.array.file))? == self.stamp;
        if is_same { Ok(()) } else { Err(Error::from_kind(ErrorKind::Changed, "changed while it was read")) }
    }

    fn costs_requests(&self) -> bool {
        self.store.costs_requests()
    }

    fn style(&self) -> &Arc<ChunkStyle> {
        &self.array.style
    }

    fn is_unit(&self, window: &Window) -> bool {
        self.is_one(window, &self.array.style.unit)
    }

    fn value_of(&self, window: &Window) -> Result<Option<Arc<dyn ReadAt>>> {
        if !self.is_unit(window) {
            return Ok(None);
        }
        let key = self.array.key(window);
        let value = self.store.open_for(&join(&self.prefix, &key), Part::First(READ_AHEAD as u64));
        value.with_context(|| format!("chunk {key}"))
    }

    fn has(&self, window: &Window) -> bool {
        self.is_one(window, &self.array.style.chunk)
            && match &self.array.shards {
                None => !matches!(self.open(&self.array.key(window)), Ok(None)),
                Some(shards) => match self.shard(window) {
                    Ok(None) => false,
                    Ok(Some(shard)) => shard.index[self.number_in(shards, window)] != [u64::MAX; 2],
                    Err(_) => true,
                },
            }
    }

    fn packed(&self, window: &Window, items: &[u8], stores_empty: bool) -> Result<PackedUnit> {
        let key = self.array.key(window);
        let stays = |chunk: &Window| stores_empty || !self.array.has_fill || self.has(chunk);
        let bytes = self.array.pack(window, items, &stays).with_context(|| format!("chunk {key}"))?;
        Ok(PackedUnit { key, bytes })
    }

    fn bytes_at(&self, places: &[Span]) -> u64 {
        let (mut bytes, mut last) = (0, None);
        // errors appear when the items are read
        let _ = self.each(places, &mut |chunk, _| {
            if self.store.costs_requests() {
                // sizes would cost requests; the unpacked size is near enough
                bytes += self.chunk_bytes() as u64;
                return Ok(());
            }
            let key = self.array.key(chunk);
            if last.as_ref() != Some(&key) {
                bytes += self.store.size(&join(&self.prefix, &key)).ok().flatten().unwrap_or(0);
                last = Some(key);
            }
            Ok(())
        });
        bytes
    }

    fn folder(&self) -> Option<PathBuf> {
        self.store.folder().map(|folder| folder.join(&self.prefix))
    }

    fn attachments(&self) -> Option<&Arc<dyn Attachments>> {
        self.attachments.as_ref()
    }

    fn store_identity(&self) -> Result<Identity> {
        self.store.identity()
    }

    fn edit(&self) -> Result<Box<dyn WritableStore>> {
        self.store.edit(&self.prefix)
    }
}
