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
use crate::ops::indexed::{IndexSpec, TupleResolver};

/// The place that each index tuple names. All numbers are in range.
#[derive(Debug)]
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

    pub(super) fn new(
        spec: IndexSpec,
        append: impl FnOnce(&TupleResolver, &mut Vec<u64>) -> Result<()>,
    ) -> Result<Self> {
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
        let (block, row_items) = (self.places.resolver.block, self.places.tuples() * self.places.resolver.block);
        let (mut at, mut rest) = (run.start, out);
        while at < run.end {
            let (row, begin) = (at / row_items, at % row_items);
            let end = row_items.min(begin + run.end - at);
            at += end - begin;
            let (here, after) = rest.split_at_mut((end - begin) * self.items.width);
            rest = after;
            match &self.data {
                GatheredFrom::Run(data) if block * self.items.width == 1 => {
                    for (tuple, out) in (begin..end).zip(here) {
                        *out = match (self.places.block(row, tuple), &self.zero) {
                            (Some(place), _) => data[place],
                            (None, Some(zero)) => zero[0],
                            (None, None) => unreachable!("every index was checked"),
                        };
                    }
                }
                _ => self.fill_blocks(row, begin..end, here),
            }
        }
    }

    /// Fills a run of the items of one row.
    fn fill_blocks(&self, row: usize, run: Range<usize>, mut out: &mut [T]) {
        let (block, width) = (self.places.resolver.block, self.items.width);
        for tuple in run.start / block..run.end.div_ceil(block) {
            let first = tuple * block;
            let inside = first.max(run.start) - first..(first + block).min(run.end) - first;
            let (here, after) = out.split_at_mut(inside.len() * width);
            out = after;
            match (self.places.block(row, tuple), &self.data, &self.zero) {
                (Some(number), GatheredFrom::Run(data), _) => {
                    let from = number * block;
                    here.copy_from_slice(&data[(from + inside.start) * width..(from + inside.end) * width]);
                }
                (Some(number), GatheredFrom::Apart(data), _) => {
                    let mut spans: Vec<_> = data.shape().into_iter().map(Span::whole).collect();
                    for (span, start) in spans.iter_mut().zip(self.places.index_of(number)) {
                        *span = Span { start, step: 1, len: 1 };
                    }
                    read_run(&data.select(&spans), inside, here, width);
                }
                (None, _, Some(zero)) => here.chunks_exact_mut(width).for_each(|item| item.copy_from_slice(zero)),
                (None, _, None) => unreachable!("every index was checked"),
            }
        }
    }
}
