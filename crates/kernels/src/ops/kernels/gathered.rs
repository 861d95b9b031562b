//! Places that an index tensor in memory names, and gathers of them.

use std::borrow::Cow;
use std::ops::Range;

use super::strided::{Items, Strided, read_run};
use crate::error::{Context, Result, Subject};
use crate::item::dtype::DType;
use crate::item::encoding::Conversion;
use crate::item::meta::Order;
use crate::layout::axis::{Span, coordinates};
use crate::memory;
use crate::ops::indexed::{Index, IndexSpec, TupleResolver};

/// The place that each index tuple names. All numbers are in range.
#[derive(Clone, Debug)]
pub(in crate::ops) struct Places {
    pub(super) resolver: TupleResolver,
    /// Empty for tuples without numbers, which all name place 0.
    named: Vec<u64>,
    /// The tuples of a batch.
    tuples: usize,
    /// The rows of data with the same tuples.
    rows_of_batch: usize,
}

impl Places {
    /// `bytes` are integers of any dtype.
    pub(in crate::ops) fn from_bytes(spec: IndexSpec, dtype: &DType, bytes: &[u8]) -> Result<Self> {
        /// Numbers whose byte order is changed are copied in parts that stay in the first-level cache.
        const TOGETHER: usize = 1 << 12;
        let to_native = Conversion::to_native(dtype);
        Self::new(spec, |resolver, places| {
            if to_native.is_identity() {
                return resolver.append(dtype.kind(), bytes, 0, places);
            }
            let tuple = resolver.width() * dtype.itemsize();
            for (part, numbers) in bytes.chunks(tuple * TOGETHER).enumerate() {
                let mut numbers = numbers.to_vec();
                to_native.swap(&mut numbers);
                resolver.append(dtype.kind(), &numbers, part * TOGETHER, places)?;
            }
            Ok(())
        })
    }

    pub(super) fn from_numbers(spec: IndexSpec, numbers: &[impl Index]) -> Result<Self> {
        Self::new(spec, |resolver, places| resolver.append_places(numbers, |number| number, 0, places))
    }

    fn new(spec: IndexSpec, append: impl FnOnce(&TupleResolver, &mut Vec<u64>) -> Result<()>) -> Result<Self> {
        let (batches, tuples) = spec.tuples.split_at(spec.batch_dims);
        let (batches, tuples): (usize, usize) = (batches.iter().product(), tuples.iter().product());
        let resolver = spec.in_order(Order::C);
        let mut named = Vec::new();
        if resolver.width() > 0 {
            named = memory::with_capacity(resolver.count()).context(Subject::Indices.to_string())?;
            append(&resolver, &mut named)?;
        }
        let rows_of_batch = resolver.outer.checked_div(batches).unwrap_or(0);
        Ok(Self { resolver, named, tuples, rows_of_batch })
    }

    pub(super) fn tuples(&self) -> usize {
        self.tuples
    }

    /// Returns the number of the block that a tuple names in a row; `None` if it names no place.
    #[inline(always)]
    pub(super) fn block(&self, row: usize, tuple: usize) -> Option<usize> {
        let tuple = if self.rows_of_batch == self.resolver.outer { tuple } else { self.first(row) + tuple };
        let place = self.named.get(tuple).map_or(0, |&place| place as usize);
        (place < self.resolver.places).then_some(row * self.resolver.places + place)
    }

    fn first(&self, row: usize) -> usize {
        row / self.rows_of_batch * self.tuples
    }

    /// The items of a block.
    pub(in crate::ops) fn block_items(&self) -> usize {
        self.resolver.block
    }

    /// Calls `each(block, inside, at)` for a run of the items that a gather makes: the number of a block of the data, or
    /// `None` for a tuple out of range; its items; and the number of the first one in the output.
    pub(in crate::ops) fn each_block(
        &self,
        run: Range<usize>,
        mut each: impl FnMut(Option<usize>, Range<usize>, usize),
    ) {
        let mut at = run.start;
        while at < run.end {
            let (number, begin) = (at / self.resolver.block, at % self.resolver.block);
            let end = self.resolver.block.min(begin + run.end - at);
            each(self.block(number / self.tuples, number % self.tuples), begin..end, at);
            at += end - begin;
        }
    }

    /// The rows of the data that the same tuples name; empty blocks may be too many to count.
    fn rows(&self) -> usize {
        if self.resolver.block == 0 { 0 } else { self.resolver.outer }
    }

    /// Calls `each(first, at, items)` for the updates of a scatter whose places are in a run of the data, in index order.
    pub(in crate::ops) fn each_update(&self, run: &Range<usize>, mut each: impl FnMut(usize, usize, usize)) {
        let block = self.resolver.block;
        for row in 0..self.rows() {
            for tuple in 0..self.tuples {
                let to = self.block(row, tuple).expect("every index was checked") * block;
                let (begin, end) = (to.max(run.start), (to + block).min(run.end));
                if begin < end {
                    each((row * self.tuples + tuple) * block + begin - to, begin, end - begin);
                }
            }
        }
    }

    /// Calls `each(offset, at, updates)` for updates of single items: update `n` is for item `offset + at[n]` of the data
    /// from item `first` on, if the data has it. Returns false, without a call, if updates are blocks or their places are
    /// long numbers.
    pub(in crate::ops) fn points<T>(
        &self,
        first: usize,
        updates: &[T],
        width: usize,
        mut each: impl FnMut(usize, &[u32], &[T]),
    ) -> bool {
        const TOGETHER: usize = 256;
        let TupleResolver { block: 1, places, .. } = self.resolver else { return false };
        if u32::try_from(places).is_err() || self.named.is_empty() || self.rows_of_batch != self.resolver.outer {
            return false;
        }
        let (mut at, mut updates) = ([0; TOGETHER], updates.chunks(TOGETHER * width));
        if self.rows() > 1 && !self.tuples.is_multiple_of(TOGETHER) {
            return false;
        }
        for row in 0..self.rows() {
            for named in self.named.chunks(TOGETHER) {
                at.iter_mut().zip(named).for_each(|(at, &place)| *at = place as u32);
                let updates = updates.next().expect("an update for each place");
                each((row * places).wrapping_sub(first), &at[..named.len()], updates);
            }
        }
        true
    }

    /// Returns the index of a block along the first axes of the data; the other axes are the block's own.
    pub(super) fn index_of(&self, block: usize) -> Vec<usize> {
        let IndexSpec { data, axes, is_implied, .. } = &self.resolver.shapes;
        coordinates(block, if *is_implied { data } else { &data[..axes.end] })
    }

    /// # Errors
    /// Two tuples name one place.
    pub(in crate::ops) fn refuse_repeats(&self) -> Result<()> {
        let mut all: Vec<(u64, usize)> = memory::with_capacity(self.tuples).context(Subject::Indices.to_string())?;
        all.extend((0..self.tuples).map(|position| (self.named.get(position).copied().unwrap_or(0), position)));
        all.sort_unstable();
        let repeats = all.chunk_by(|a, b| a.0 == b.0).filter(|run| run.len() > 1).map(|run| (run[1].1, run[0].1));
        let Some((position, first)) = repeats.min() else { return Ok(()) };
        Err(self.resolver.repeated(position, first))
    }
}

#[derive(Debug)]
pub(super) struct Gathered<'a, T: Clone> {
    places: Places,
    data: GatheredFrom<'a, T>,
    items: Items<T>,
    /// The item of tuples that name no place.
    zero: Option<Vec<T>>,
}

#[derive(Debug)]
pub(super) enum GatheredFrom<'a, T: Clone> {
    /// In C order.
    Run(Cow<'a, [T]>),
    Apart(Strided<'a, T>),
}

impl<'a, T: Copy> Gathered<'a, T> {
    /// The items of tuples that name no place are `zero`.
    pub(super) fn new(places: Places, data: GatheredFrom<'a, T>, items: Items<T>, zero: Option<Vec<T>>) -> Self {
        Self { places, data, items, zero }
    }

    pub(super) fn item(&self) -> Option<Vec<T>> {
        let of_data = || match &self.data {
            GatheredFrom::Run(run) => run.get(..self.items.width).map(<[T]>::to_vec),
            GatheredFrom::Apart(data) => data.item(),
        };
        self.zero.clone().or_else(of_data)
    }

    /// Fills the items of a run of the output.
    pub(super) fn fill(&self, run: Range<usize>, out: &mut [T]) {
        let (width, zero) = (self.items.width, self.zero.as_deref());
        let data = match &self.data {
            GatheredFrom::Run(data) => return gather_run(&self.places, data, (width, zero), run, out),
            GatheredFrom::Apart(data) => data,
        };
        let start = run.start;
        self.places.each_block(run, |number, inside, at| {
            let here = &mut out[(at - start) * width..][..inside.len() * width];
            match (number, zero) {
                (Some(number), _) => {
                    let mut spans: Vec<_> = data.shape().into_iter().map(Span::whole).collect();
                    for (span, start) in spans.iter_mut().zip(self.places.index_of(number)) {
                        *span = Span { start, step: 1, len: 1 };
                    }
                    read_run(&data.select(&spans), inside, here, width);
                }
                (None, Some(zero)) => here.chunks_exact_mut(width).for_each(|item| item.copy_from_slice(zero)),
                (None, None) => unreachable!("every index was checked"),
            }
        });
    }
}

/// Gathers a run of items from data in C order. Items have `width` elements; those of tuples that name no place are `zero`.
pub(in crate::ops) fn gather_run<T: Copy>(
    places: &Places,
    data: &[T],
    (width, zero): (usize, Option<&[T]>),
    run: Range<usize>,
    out: &mut [T],
) {
    let block = places.resolver.block;
    if block * width != 1 {
        let mut rest = out;
        return places.each_block(run, |number, inside, _| {
            let (here, after) = std::mem::take(&mut rest).split_at_mut(inside.len() * width);
            rest = after;
            match (number, zero) {
                (Some(number), _) => {
                    let first = number * block + inside.start;
                    here.copy_from_slice(&data[first * width..(first + inside.len()) * width]);
                }
                (None, Some(zero)) => here.chunks_exact_mut(width).for_each(|item| item.copy_from_slice(zero)),
                (None, None) => unreachable!("every index was checked"),
            }
        });
    }
    let (width, shared) = (places.resolver.places, places.rows_of_batch == places.resolver.outer);
    let zero = zero.map(|zero| &zero[0]);
    let (mut at, mut rest) = (run.start, out);
    while at < run.end {
        let (row, begin) = (at / places.tuples, at % places.tuples);
        let are_whole = begin == 0 && run.end - at >= ROWS * places.tuples;
        let rows = if are_whole && shared && !places.named.is_empty() { ROWS } else { 1 };
        let end = places.tuples.min(begin + run.end - at);
        let (here, after) = rest.split_at_mut(rows * (end - begin));
        at += here.len();
        rest = after;
        let data = &data[row * width..][..rows * width];
        let first = if shared { 0 } else { places.first(row) };
        let named = places.named.get(first + begin..first + end).unwrap_or_default();
        match rows {
            _ if named.is_empty() => here.fill(data[0]),
            ROWS => pick_of_rows::<T, ROWS>(data, named, zero, here),
            _ => pick_of_rows::<T, 1>(data, named, zero, here),
        }
    }
}

/// Rows that a place is looked up for at once: with 4096 items a row this took 0.8 of the time of one after the other.
const ROWS: usize = 4;

/// Picks the items at `named` places of each of `ROWS` rows. One beyond the row is `zero`.
fn pick_of_rows<T: Copy, const ROWS: usize>(data: &[T], named: &[u64], zero: Option<&T>, out: &mut [T]) {
    let (width, mut outs) = (data.len() / ROWS, out.chunks_exact_mut(named.len()));
    let rows: [&[T]; ROWS] = std::array::from_fn(|row| &data[row * width..][..width]);
    let mut outs: [&mut [T]; ROWS] = std::array::from_fn(|_| outs.next().expect("an output for each row"));
    for (at, &place) in named.iter().enumerate() {
        for (row, out) in rows.iter().zip(&mut outs) {
            out[at] = *row.get(place as usize).or(zero).expect("every index was checked");
        }
    }
}
