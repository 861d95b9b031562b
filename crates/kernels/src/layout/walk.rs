//! Joint walks through two views, and copies of items in their order.

use std::cmp::Reverse;
use std::convert::Infallible;

use super::view::{Few, View};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Step {
    pub dim: usize,
    pub from: isize,
    pub to: isize,
}

/// A joint walk through two views: destination strides descend, axes of length 1 are dropped, and mergeable axes are
/// merged. (Stepping along an axis of one item took 8 times as long.)
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CopyWalk {
    pub from: usize,
    pub to: usize,
    pub steps: Few<Step>,
}

impl CopyWalk {
    pub(super) fn new(from: &View, to: &View) -> Option<Self> {
        let mut walk = Self { from: from.offset, to: to.offset, steps: Few::default() };
        for (&(dim, from), &(other, to)) in from.axes.iter().zip(to.axes.iter()) {
            assert_eq!(dim, other, "views of one shape");
            match dim {
                0 => return None,
                1 => {}
                _ if to < 0 => {
                    let last = (dim - 1) as isize;
                    walk.from = walk.from.wrapping_add_signed(last * from);
                    walk.to = walk.to.wrapping_add_signed(last * to);
                    walk.steps.push(Step { dim, from: -from, to: -to });
                }
                _ => walk.steps.push(Step { dim, from, to }),
            }
        }
        walk.sort_as_target();
        let mut merged = 0_usize;
        for n in 0..walk.steps.len() {
            let step = walk.steps[n];
            match merged.checked_sub(1).map(|last| &mut walk.steps[last]) {
                Some(outer)
                    if outer.to == step.to * step.dim as isize && outer.from == step.from * step.dim as isize =>
                {
                    *outer = Step { dim: outer.dim * step.dim, ..step };
                }
                _ => {
                    walk.steps[merged] = step;
                    merged += 1;
                }
            }
        }
        walk.steps.truncate(merged);
        Some(walk)
    }

    /// Outside generic code, which would have a copy of the sort for each type.
    fn sort_as_target(&mut self) {
        sort_few(&mut self.steps, |step| Reverse(step.to));
    }

    /// The axes as the source stores them, innermost first; those that repeat its items come last.
    pub(super) fn stored(&self) -> Few<usize> {
        let mut axes: Few<usize> = (0..self.steps.len()).collect();
        sort_few(&mut axes, |&axis| {
            let step = self.steps[axis];
            (step.from == 0, step.from.abs(), Reverse(axis))
        });
        axes
    }

    /// Whether the source is stored along another axis than the last.
    pub(super) fn is_across(&self) -> bool {
        let [others @ .., last] = &self.steps[..] else { return false };
        others.iter().any(|step| step.from != 0 && step.from.abs() < last.from.abs())
    }

    /// Whether starting a row costs more than copying it.
    pub(super) fn has_short_rows(&self, itemsize: usize) -> bool {
        let [_, .., row] = self.steps[..] else { return false };
        row.dim < 8 && ((row.from, row.to) != (1, 1) || row.dim * itemsize < 16)
    }

    /// Calls `row(from, to)` with the first places of each box of the last `inner` axes.
    pub(super) fn rows<E>(&self, inner: usize, mut row: impl FnMut(usize, usize) -> Result<(), E>) -> Result<(), E> {
        self.places(inner, |_, from, to| row(from, to))
    }

    /// As [`CopyWalk::rows`], with the place on each of the other axes.
    pub(super) fn places<E>(
        &self,
        inner: usize,
        mut each: impl FnMut(&[usize], usize, usize) -> Result<(), E>,
    ) -> Result<(), E> {
        let outer = &self.steps[..self.steps.len() - inner];
        if outer.is_empty() {
            return each(&[], self.from, self.to);
        }
        let mut at: Few<usize> = outer.iter().map(|_| 0).collect();
        let (mut from, mut to) = (self.from, self.to);
        loop {
            each(&at, from, to)?;
            let mut axis = outer.len();
            loop {
                let Some(next) = axis.checked_sub(1) else { return Ok(()) };
                axis = next;
                let step = outer[axis];
                at[axis] += 1;
                if at[axis] < step.dim {
                    from = from.wrapping_add_signed(step.from);
                    to = to.wrapping_add_signed(step.to);
                    break;
                }
                at[axis] = 0;
                from = from.wrapping_add_signed(-step.from * (step.dim - 1) as isize);
                to = to.wrapping_add_signed(-step.to * (step.dim - 1) as isize);
            }
        }
    }
}

/// Sorts a few entries, which stay in order if they are equal. The standard library's stable sort allocates for long lists.
fn sort_few<T, K: Ord>(entries: &mut [T], key: impl Fn(&T) -> K) {
    for n in 1..entries.len() {
        let mut at = n;
        while at > 0 && key(&entries[at - 1]) > key(&entries[at]) {
            entries.swap(at - 1, at);
            at -= 1;
        }
    }
}

/// Calls `each(first)` for each run of contiguous items, in C order.
pub fn each_run(view: &View, mut each: impl FnMut(usize)) {
    let Some(walk) = CopyWalk::new(view, &view.in_c_order()) else { return };
    let has_run = walk.steps.last().is_some_and(|step| step.from == 1);
    let Ok(()) = walk.rows(usize::from(has_run), |from, _| -> Result<(), Infallible> {
        each(from);
        Ok(())
    });
}

/// Copies in the order of the walk, row by row along its last axis.
pub(super) fn copy_walk<T: Copy>(source: &[T], target: &mut [T], walk: &CopyWalk) {
    let (second, row) = match walk.steps[..] {
        [] => return target[walk.to] = source[walk.from],
        [row] => (Step { dim: 1, from: 0, to: 0 }, row),
        [.., second, row] => (second, row),
    };
    let Ok(()) = walk.rows(walk.steps.len().min(2), |from, to| -> Result<(), Infallible> {
        copy_rows(source, from, target, to, second, row);
        Ok(())
    });
}

/// Copies all rows: neighbours lie a step of the axis `second` apart.
fn copy_rows<T: Copy>(source: &[T], from: usize, target: &mut [T], to: usize, second: Step, row: Step) {
    let (stride, step) = (row.from.unsigned_abs(), row.to as usize);
    let extents = [(row.dim - 1) * stride + 1, (row.dim - 1) * step + 1];
    let first = if row.from < 0 { from + 1 - extents[0] } else { from };
    let rows = Rows { source, first, target, to, second, extents };
    // One loop per arm, so that the compiler sees strides of 1.
    match (row.from, step) {
        (1, 1) => rows.each(move |source, target| target.copy_from_slice(source)),
        (0, _) => rows.each(move |source, target| target.iter_mut().step_by(step).for_each(|t| *t = source[0])),
        (-1, 1) => rows.each(move |source, target| set(target.iter_mut(), source.iter().rev())),
        (1.., 1) => rows.each(move |source, target| set(target.iter_mut(), source.iter().step_by(stride))),
        (..0, 1) => rows.each(move |source, target| set(target.iter_mut(), source.iter().rev().step_by(stride))),
        (1, _) => rows.each(move |source, target| set(target.iter_mut().step_by(step), source.iter())),
        (1.., _) => {
            rows.each(move |source, target| set(target.iter_mut().step_by(step), source.iter().step_by(stride)))
        }
        (..0, _) => {
            rows.each(move |source, target| set(target.iter_mut().step_by(step), source.iter().rev().step_by(stride)));
        }
    }
}

/// Rows of a source and of a destination, from the first to the last item of each.
struct Rows<'a, T> {
    source: &'a [T],
    first: usize,
    target: &'a mut [T],
    to: usize,
    second: Step,
    extents: [usize; 2],
}

impl<T> Rows<'_, T> {
    #[inline(always)]
    fn each(self, copy: impl Fn(&[T], &mut [T])) {
        for n in 0..self.second.dim {
            let from = self.first.wrapping_add_signed(self.second.from * n as isize);
            let to = self.to.wrapping_add_signed(self.second.to * n as isize);
            copy(&self.source[from..][..self.extents[0]], &mut self.target[to..][..self.extents[1]]);
        }
    }
}

#[inline(always)]
fn set<'a, T: Copy + 'a>(target: impl Iterator<Item = &'a mut T>, source: impl Iterator<Item = &'a T>) {
    target.zip(source).for_each(|(t, s)| *t = *s);
}
