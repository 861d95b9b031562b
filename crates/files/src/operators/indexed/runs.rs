//! Reads and places runs of items that are scattered in storage.

use tensorop_kernels::error::Result;
use tensorop_kernels::layout::copy::with_word;
use tensorop_kernels::layout::gather::GAP;
use tensorop_kernels::memory::Buffer;
use tensorop_kernels::ops::reduction::Combine;
use tensorop_kernels::ops::tally::Tally;

/// Runs within this many bytes are read together.
const SPAN: usize = 1 << 20;

/// Tuples may name one place any number of times, so bytes set no limit.
const MAX_RUNS: usize = 1 << 14;

/// The treatment of an update.
pub(super) enum Put<'t> {
    Replace,
    Combine(Combine),
    Fold(&'t mut Tally),
}

/// Neighbouring items on their way to a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ItemRun {
    pub from: usize,
    pub to: usize,
    pub len: usize,
}

#[derive(Clone, Copy)]
pub(super) struct ItemSlab<'a> {
    pub(super) first: usize,
    pub(super) bytes: &'a [u8],
    pub(super) itemsize: usize,
}

impl ItemSlab<'_> {
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

/// Picks an item of `from` for each item of `out`; `None` leaves it unchanged. Words are moved directly, because a call
/// each would cost more than the copy. Places come without items: an iterator of items took twice as long.
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

/// A separate function per word size: inlined side by side, the loops lost registers, and 25 million items of 4 bytes
/// took 1.2 times as long.
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

/// Reads items by number and count.
pub(super) type ReadItems<'a> = dyn Fn(usize, usize, &mut Buffer) -> Result<()> + 'a;

pub(super) struct RunReader<'a, 't> {
    read: &'a ReadItems<'a>,
    itemsize: usize,
    out: &'a mut [u8],
    buffer: &'a mut Buffer,
    put: &'a mut Put<'t>,
    /// The pending runs, and their range of items.
    runs: Vec<ItemRun>,
    start: usize,
    end: usize,
}

impl<'a, 't> RunReader<'a, 't> {
    pub(super) fn new(
        read: &'a ReadItems<'a>,
        itemsize: usize,
        out: &'a mut [u8],
        buffer: &'a mut Buffer,
        put: &'a mut Put<'t>,
    ) -> Self {
        Self { read, itemsize, out, buffer, put, runs: Vec::new(), start: 0, end: 0 }
    }

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
