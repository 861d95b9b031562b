//! The items that statistics are computed from: a whole tensor, or one place of an axis, in the order of storage.

use crate::engine::job::Progress;
use crate::engine::scan::{PlannedScan, ScannedBox};
use crate::engine::scan_plan::{ScannedPart, ShownAs};
use crate::error::Result;
use crate::item::meta::{Meta, Order};
use crate::layout::numbers::ItemNumbers;
use crate::layout::view::View;
use crate::ops::fill::Limits;
use crate::storage::source::Source;

/// Passes over the items of a part of a tensor.
#[derive(Clone, Copy)]
pub(super) struct ItemPasses<'a> {
    pub source: &'a Source,
    pub part: &'a StoredPart,
    /// The items, if they are in memory: in the order of the part, and little-endian. Then nothing is read.
    pub held: Option<&'a [u8]>,
    pub limits: Limits,
    pub progress: Progress<'a>,
}

impl ItemPasses<'_> {
    /// Makes a pass over all items, and returns the states of all threads. `each` gets the state of a thread, the place of
    /// the first item of a window, and the bytes of all its items.
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
        let part = ScannedPart::new(self.source, self.part.view.clone());
        let each = |state: &mut S, window: &ScannedBox<'_, 1>| {
            each(state, window.start(), window.items[0]);
            Ok(true)
        };
        PlannedScan::new([part], ShownAs::Runs, self.limits).scan(self.progress, &|_| true, &begin, &each)
    }
}

/// Items of a tensor in the order of storage.
#[derive(Clone, Debug)]
pub(super) struct StoredPart {
    /// Where they are stored, outermost axis first.
    pub view: View,
    /// Their numbers in C order, among all items of the tensor.
    pub numbers: ItemNumbers,
    /// The dims of the tensor.
    pub shape: Vec<usize>,
}

impl StoredPart {
    /// Returns all items.
    pub(super) fn whole(meta: &Meta) -> Self {
        let ranges: Vec<_> = meta.shape.iter().map(|&dim| 0..dim).collect();
        Self::within(meta, &ranges)
    }

    /// Returns the items in one place of an axis.
    pub(super) fn place(meta: &Meta, axis: usize, place: usize) -> Self {
        let mut ranges: Vec<_> = meta.shape.iter().map(|&dim| 0..dim).collect();
        ranges[axis] = place..place + 1;
        Self::within(meta, &ranges)
    }

    /// Returns the items in a box with a range for each axis.
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

/// Returns the distance between the numbers, in C order, of neighbours along each axis.
fn steps(shape: &[usize]) -> Vec<usize> {
    let mut steps = vec![1; shape.len()];
    for axis in (1..shape.len()).rev() {
        steps[axis - 1] = steps[axis] * shape[axis].max(1);
    }
    steps
}
