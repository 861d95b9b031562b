//! The parts of a tensor that statistics scan; statistics of one-byte dtypes, from the count of each byte; and hashes.

use std::cmp::{Ordering, Reverse};
use std::io::Read;

use sha2::{Digest, Sha256};

use super::items::{ByteItems, CountedAs, CountedItem};
use crate::formats::npy::write_header;
use crate::operators::fill::Limits;
use crate::plans::cost::Planners;
use crate::plans::explain::Explanation;
use crate::plans::job::Progress;
use crate::plans::plan::WindowOrder;
use crate::plans::quantiles::{Key, Search};
use crate::plans::scan::{PlannedScan, Scan, ScannedBox, scan_in_order};
use crate::report::hexadecimal;
use crate::storage::source::{Hold, Source};
use tensorop_kernels::error::Result;
use tensorop_kernels::item::dtype::{DType, Kind};
use tensorop_kernels::item::first::{Numbered, find_first, improve, keep_first};
use tensorop_kernels::item::meta::{Meta, Order};
use tensorop_kernels::layout::numbers::ItemNumbers;
use tensorop_kernels::layout::view::View;
use tensorop_kernels::memory::fill_from;

pub(super) struct ByteCounts {
    pub(super) seen: [u64; 256],
    /// +0 and -0 are equal.
    pub(super) min: Option<Numbered<u8>>,
    pub(super) max: Option<Numbered<u8>>,
    pub(super) first_nan: Option<Numbered<()>>,
    block: [[u32; 256]; 4],
}

impl ByteCounts {
    fn new() -> Self {
        Self { seen: [0; 256], min: None, max: None, first_nan: None, block: [[0; 256]; 4] }
    }

    /// Four counters take turns, because a repeated byte would wait for the previous store of a single counter.
    fn add(&mut self, items: &ByteItems, numbers: &ItemNumbers, start: usize, block: &[u8]) {
        let (fours, rest) = block.as_chunks::<4>();
        let [a, b, c, d] = &mut self.block;
        for &[w, x, y, z] in fours {
            a[usize::from(w)] += 1;
            b[usize::from(x)] += 1;
            c[usize::from(y)] += 1;
            d[usize::from(z)] += 1;
        }
        rest.iter().for_each(|&x| a[usize::from(x)] += 1);
        let counts = a.iter().zip(b.iter()).zip(c.iter()).zip(d.iter());
        let (mut low, mut high, mut nan) = (f64::INFINITY, f64::NEG_INFINITY, false);
        for ((value, (((a, b), c), d)), seen) in items.values.iter().zip(counts).zip(&mut self.seen) {
            let new = a + b + c + d;
            *seen += u64::from(new);
            if new > 0 {
                nan |= value.is_nan();
                low = if value.is_finite() { low.min(*value) } else { low };
                high = if value.is_finite() { high.max(*value) } else { high };
            }
        }
        self.block = [[0; 256]; 4];
        let value = |byte: u8| items.value(byte);
        let ascend = numbers.ascend();
        let find =
            |below, wanted: &dyn Fn(f64) -> bool| find_first(numbers, start, block, below, |byte| wanted(value(byte)));
        if nan {
            improve(
                &mut self.first_nan,
                |()| Ordering::Equal,
                ascend,
                |below| find(below, &f64::is_nan).map(|found| Numbered { value: (), item: found.item }),
            );
        }
        if low <= high {
            let order = |a: f64, b: f64| a.partial_cmp(&b).expect("finite items have an order");
            improve(&mut self.min, |&min| order(low, value(min)), ascend, |below| find(below, &|value| value == low));
            improve(&mut self.max, |&max| order(value(max), high), ascend, |below| find(below, &|value| value == high));
        }
    }

    pub(super) fn of(passes: ItemPasses<'_>, items: &ByteItems) -> Result<Self> {
        let threads = passes.scan(Self::new, |counts, start, bytes| {
            // The block is still in the cache.
            const BLOCK: usize = 1 << 17;
            for (i, block) in bytes.chunks(BLOCK).enumerate() {
                counts.add(items, &passes.part.numbers, start + i * BLOCK, block);
            }
        })?;
        let mut all = Self::new();
        let value = |byte: u8| items.value(byte);
        for counted in &threads {
            all.seen.iter_mut().zip(&counted.seen).for_each(|(count, more)| *count += more);
            keep_first(&mut all.min, counted.min, |&byte| Reverse(value(byte).rank()));
            keep_first(&mut all.max, counted.max, |&byte| value(byte).rank());
            keep_first(&mut all.first_nan, counted.first_nan, |()| ());
        }
        Ok(all)
    }

    pub(super) fn at_rank(&self, items: &ByteItems, rank: u64) -> u8 {
        let mut finite: Vec<u8> = (0..=255).filter(|&item| items.value(item).is_finite()).collect();
        finite.sort_by_key(|&a| items.value(a).to_key());
        let mut before = 0;
        let found = finite.into_iter().find(|&item| {
            before += self.seen[usize::from(item)];
            before >= rank
        });
        found.expect("a rank of a finite item")
    }
}

/// The SHA-256 of the `.npy` file that `numpy.save` writes for the tensor in C order and little-endian, equal to the
/// output of `sha256sum`. Types of up to 8 bits that NumPy does not know count as void of one byte. One thread hashes
/// all windows, because common tools cannot verify a tree of hashes.
///
/// # Errors
/// Reading fails, or memory is not available.
pub fn hash(source: &mut Source, limits: Limits, progress: Progress<'_>) -> Result<String> {
    let unnamed = matches!(source.dtype().kind(), Kind::Narrow(_));
    let dtype = if unnamed { Kind::Void(1).into() } else { source.dtype().native() };
    let canonical = Meta::c_order(dtype, source.shape().to_vec());
    let mut hasher = Sha256::new_with_prefix(write_header(&canonical));
    scan_in_order(source, limits, progress, &mut |items| {
        hasher.update(items);
        Ok(())
    })?;
    Ok(hexadecimal(&hasher.finalize()))
}

/// The length of a stream and its SHA-256.
///
/// # Errors
/// Reading fails.
pub fn hash_bytes(mut stream: impl Read) -> Result<(u64, String)> {
    let (mut hasher, mut buffer, mut bytes) = (Sha256::new(), vec![0; 1 << 16], 0);
    loop {
        let read = fill_from(&mut stream, &mut buffer)?;
        hasher.update(&buffer[..read]);
        bytes += read as u64;
        if read < buffer.len() {
            return Ok((bytes, hexadecimal(&hasher.finalize())));
        }
    }
}

#[derive(Clone, Copy)]
pub(super) struct ItemPasses<'a> {
    pub source: &'a Source,
    pub part: &'a StoredPart,
    /// Little-endian items in memory, in the order of `part`.
    pub held: Option<&'a [u8]>,
    pub limits: Limits,
    pub progress: Progress<'a>,
}

impl ItemPasses<'_> {
    /// `each` gets the position of the first item of a window, and its bytes.
    pub(super) fn scan<S: Send>(
        self,
        begin: impl Fn() -> S + Sync,
        each: impl Fn(&mut S, usize, &[u8]) + Sync,
    ) -> Result<Vec<S>> {
        if let Some(items) = self.held {
            let mut state = begin();
            each(&mut state, 0, items);
            return Ok(vec![state]);
        }
        let view = |_, _: &Source| self.part.view.clone();
        let each = |state: &mut S, window: &ScannedBox<'_, 1>| {
            each(state, window.start(), window.items[0]);
            Ok(true)
        };
        let planned = PlannedScan::new([self.source], &view, WindowOrder::Runs, self.limits);
        planned.scan(self.progress, &|_| true, &begin, &each)
    }
}

#[derive(Clone, Debug)]
pub(super) struct StoredPart {
    /// The outermost stored axis first.
    pub view: View,
    /// Numbers in C order within the tensor.
    pub numbers: ItemNumbers,
    pub shape: Vec<usize>,
}

impl StoredPart {
    pub(super) fn whole(meta: &Meta) -> Self {
        let ranges: Vec<_> = meta.shape.iter().map(|&dim| 0..dim).collect();
        Self::within(meta, &ranges)
    }

    pub(super) fn place(meta: &Meta, axis: usize, place: usize) -> Self {
        let mut ranges: Vec<_> = meta.shape.iter().map(|&dim| 0..dim).collect();
        ranges[axis] = place..place + 1;
        Self::within(meta, &ranges)
    }

    fn within(meta: &Meta, ranges: &[std::ops::Range<usize>]) -> Self {
        let mut axes: Vec<usize> = (0..meta.shape.len()).collect();
        if meta.order == Order::Fortran {
            axes.reverse();
        }
        let steps = steps(&meta.shape);
        let first = ranges.iter().zip(&steps).map(|(range, step)| range.start * step).sum();
        let numbers = ItemNumbers::new(first, axes.iter().map(|&axis| (ranges[axis].len(), steps[axis])));
        Self { view: meta.view().part(ranges).with_axes(&axes), numbers, shape: meta.shape.clone() }
    }
}

fn steps(shape: &[usize]) -> Vec<usize> {
    let mut steps = vec![1; shape.len()];
    for axis in (1..shape.len()).rev() {
        steps[axis - 1] = steps[axis] * shape[axis].max(1);
    }
    steps
}

/// Explains how `stats` reads a tensor, without reading items.
pub fn explain_stats(source: &Source, limits: Limits) -> Option<Explanation> {
    if matches!(CountedAs::new(source.dtype().kind()), CountedAs::Text | CountedAs::Opaque) {
        return None;
    }
    let view = StoredPart::whole(source.meta()).view;
    let most = key_bits(source.dtype()).map_or(1, |bits| Search::most_passes(bits, view.items()));
    let scan = Scan::new([source], &|_, _| view.clone()).held_for(to_read(source.dtype()));
    let (mut plan, _) = Planners::new(&scan, limits, None).explain_scan(WindowOrder::Runs, most.min(2)..=most);
    if most > 1 {
        let more = format!("{} reads of {} bytes", plan.cost.calls.reads, plan.cost.calls.bytes_read);
        let seldom = match most {
            2 => "unless nearly all items are equal".to_owned(),
            _ => format!("and seldom two or three: up to {more} more"),
        };
        plan.notes.push(format!("the first pass finds all but the quantiles, which take one more as a rule, {seldom}"));
    }
    Some(plan)
}

pub(super) fn to_read(dtype: &DType) -> Hold {
    if key_bits(dtype).is_some() { Hold::Local } else { Hold::Seekable }
}

/// `None` if the dtype has no quantiles or every value is counted.
pub(super) fn key_bits(dtype: &DType) -> Option<u32> {
    match CountedAs::new(dtype.kind()) {
        CountedAs::Bytes(_) | CountedAs::Complex64(_) | CountedAs::Complex128(_) => None,
        CountedAs::Text | CountedAs::Opaque => None,
        CountedAs::Int32(_) | CountedAs::Int64(_) | CountedAs::UInt64(_) => Some(8 * dtype.itemsize() as u32),
        CountedAs::Float32(_) | CountedAs::Float64(_) | CountedAs::Dates(_) => Some(8 * dtype.itemsize() as u32),
    }
}
