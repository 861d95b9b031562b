//! Runs of neighbouring items that lie here and there in storage: how they are read, and put in their places.

use crate::error::Result;
use crate::layout::gather::GAP;
use crate::layout::walk::with_word;
use crate::memory::Buffer;
use crate::ops::tally::Put;

/// Runs that lie together in this many bytes are read at once.
const SPAN: usize = 1 << 20;

/// The most runs that are read at once. Their bytes set no limit, since tuples may name one place any number of times.
const MAX_RUNS: usize = 1 << 14;

/// Neighbouring items on their way to a window; all three numbers are in items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ItemRun {
    /// Where they lie in storage, or in `updates`, which are in the order `[outer, count, block]`.
    pub from: usize,
    /// Where they go in the window.
    pub to: usize,
    /// How many they are.
    pub len: usize,
}

/// Neighbouring items in memory.
#[derive(Clone, Copy)]
pub(super) struct ItemSlab<'a> {
    /// The number of the first item.
    pub(super) first: usize,
    pub(super) bytes: &'a [u8],
    pub(super) itemsize: usize,
}

impl ItemSlab<'_> {
    /// Puts a run of the slab into `out`, or reduces it with what is there.
    #[inline]
    pub(super) fn put(&self, ItemRun { to, from, len }: ItemRun, out: &mut [u8], put: &mut Put<'_>) {
        let (itemsize, bytes) = (self.itemsize, len * self.itemsize);
        let new = &self.bytes[(from - self.first) * itemsize..][..bytes];
        match put {
            Put::Replace => copy_items(1, |_| (0, 0), bytes, new, &mut out[to * itemsize..][..bytes]),
            Put::Combine(combine) => (combine.blocks)(&mut out[to * itemsize..][..bytes], new),
            Put::Fold(tally) => {
                new.chunks_exact(itemsize).enumerate().for_each(|(n, update)| tally.put(to + n, update, out));
            }
        }
    }
}

/// Makes the items of `out`, which have `size` bytes, items of `from`, one after the other. For each of `places`, `item` returns the
/// number of an item of `from`, or `None` where the item of `out` stays as it is. Words are moved as such, since a call for each
/// would take longer than the copy. The places come without their items, since an iterator of items took twice as long.
#[inline]
pub(super) fn pick_items<P>(
    places: impl Iterator<Item = P>,
    item: impl Fn(P) -> Option<usize>,
    size: usize,
    from: &[u8],
    out: &mut [u8],
) {
    with_word!(size, N => pick_words::<N, P>(places, item, from, out), _ => {
        for (out, place) in out.chunks_exact_mut(size.max(1)).zip(places) {
            if let Some(at) = item(place) {
                out.copy_from_slice(&from[at * size..][..size]);
            }
        }
    });
}

/// [`pick_items`] for items that are words of `N` bytes. Each loop is a function by itself: among the loops for other words its
/// numbers did not stay in registers, and to gather 25 million items of 4 bytes took 1.2 times as long.
#[inline(never)]
fn pick_words<const N: usize, P>(
    places: impl Iterator<Item = P>,
    item: impl Fn(P) -> Option<usize>,
    from: &[u8],
    out: &mut [u8],
) {
    let from = from.as_chunks::<N>().0;
    for (out, place) in out.as_chunks_mut::<N>().0.iter_mut().zip(places) {
        if let Some(at) = item(place) {
            *out = from[at];
        }
    }
}

/// Copies items of `size` bytes to any places. For each number below `count`, `moves` returns which item of `from` it stands for and
/// to which place of `out` that goes.
#[inline]
pub(super) fn copy_items(
    count: usize,
    moves: impl Fn(usize) -> (usize, usize),
    size: usize,
    from: &[u8],
    out: &mut [u8],
) {
    with_word!(size, N => {
        let (from, out) = (from.as_chunks::<N>().0, out.as_chunks_mut::<N>().0);
        for n in 0..count {
            let (at, to) = moves(n);
            out[to] = from[at];
        }
    }, _ => for (at, to) in (0..count).map(moves) {
        out[to * size..][..size].copy_from_slice(&from[at * size..][..size]);
    });
}

/// Reads a number of items, from number `first` on, into a buffer.
pub(super) type ReadItems<'a> = dyn Fn(usize, usize, &mut Buffer) -> Result<()> + 'a;

/// Reads runs of items and puts them in their places; runs that are near together are read at once.
pub(super) struct RunReader<'a, 't> {
    read: &'a ReadItems<'a>,
    itemsize: usize,
    out: &'a mut [u8],
    buffer: &'a mut Buffer,
    put: &'a mut Put<'t>,
    /// The runs that are read next, and the range from the first of their items to behind the last.
    runs: Vec<ItemRun>,
    start: usize,
    end: usize,
}

impl<'a, 't> RunReader<'a, 't> {
    /// Puts items of `itemsize` bytes into `out`, or reduces them with what is there. They are read by `read` into `buffer`.
    pub(super) fn new(
        read: &'a ReadItems<'a>,
        itemsize: usize,
        out: &'a mut [u8],
        buffer: &'a mut Buffer,
        put: &'a mut Put<'t>,
    ) -> Self {
        Self { read, itemsize, out, buffer, put, runs: Vec::new(), start: 0, end: 0 }
    }

    /// Adds a run, and first reads those before it if it is not near to them.
    ///
    /// # Errors
    /// Those of `read`.
    pub(super) fn add(&mut self, run: ItemRun) -> Result<()> {
        let ItemRun { from, len, .. } = run;
        let is_apart = from < self.start || from.saturating_sub(self.end) * self.itemsize > GAP;
        if is_apart || (from + len - self.start) * self.itemsize > SPAN || self.runs.len() == MAX_RUNS {
            self.flush()?;
        }
        if self.runs.is_empty() {
            (self.start, self.end) = (from, from);
        }
        self.end = self.end.max(from + len);
        self.runs.push(run);
        Ok(())
    }

    /// Reads the runs that have been added since the last reading.
    ///
    /// # Errors
    /// Those of `read`.
    pub(super) fn flush(&mut self) -> Result<()> {
        if self.runs.is_empty() {
            return Ok(());
        }
        (self.read)(self.start, self.end - self.start, self.buffer)?;
        let slab = ItemSlab { first: self.start, bytes: self.buffer, itemsize: self.itemsize };
        self.runs.drain(..).for_each(|run| slab.put(run, self.out, self.put));
        Ok(())
    }
}
