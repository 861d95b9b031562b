//! The items that statistics cover, in storage order, and how they are read.

use super::items::CountedAs;
use crate::operators::fill::Limits;
use crate::plans::cost::Planners;
use crate::plans::explain::Explanation;
use crate::plans::job::Progress;
use crate::plans::plan::WindowOrder;
use crate::plans::quantiles::Search;
use crate::plans::scan::{PlannedScan, Scan, ScannedBox};
use crate::storage::source::{Hold, Source};
use tensorop_kernels::error::Result;
use tensorop_kernels::item::dtype::DType;
use tensorop_kernels::item::meta::{Meta, Order};
use tensorop_kernels::layout::numbers::ItemNumbers;
use tensorop_kernels::layout::view::View;

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
        CountedAs::Int32(codec) => Some(codec.keys.bits),
        CountedAs::Int64(codec) => Some(codec.keys.bits),
        CountedAs::UInt64(codec) => Some(codec.keys.bits),
        CountedAs::Float32(codec) => Some(codec.keys.bits),
        CountedAs::Float64(codec) => Some(codec.keys.bits),
        CountedAs::Dates(codec) => Some(codec.keys.bits),
        CountedAs::Bytes(_) | CountedAs::Complex64(_) | CountedAs::Complex128(_) => None,
        CountedAs::Text | CountedAs::Opaque => None,
    }
}
