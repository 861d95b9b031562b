//! Operators on bytes. Items of up to 16 bytes move as words; others are rows of bytes.
//!
//! Operands and outputs are [`View`]s of buffers. Only a mean allocates, if operands have few axes.

use std::borrow::Cow;
use std::convert::Infallible;
use std::ops::Range;

use crate::error::{Context, Result, Subject};
use crate::item::dtype::DType;
use crate::item::encoding::Conversion;
use crate::layout::axis::Span;
use crate::layout::copy::{copy_bytes, with_word};
use crate::layout::segments::{Piece, Segments, arrange};
use crate::layout::view::{Few, View};
use crate::layout::window::Window;
use crate::memory;
use crate::ops::call::{Resolved, ScatterRule};
use crate::ops::kernels::{Changed, Places, Scattered, gather_run};
use crate::ops::operators::concat::Joining;
use crate::ops::tally::Application;

/// An operand in a buffer.
#[derive(Clone, Debug)]
pub(super) struct Lent<'a> {
    pub bytes: &'a [u8],
    pub view: View,
}

impl<'a> Lent<'a> {
    pub(super) fn c_order(bytes: &'a [u8], shape: &[usize]) -> Self {
        Self { bytes, view: View::c_order(shape) }
    }
}

/// The operands that all steps of a kernel share.
#[derive(Debug)]
pub(super) struct Operands<'a> {
    pub places: Option<&'a Places>,
    /// The updates, or the item to pad with.
    pub updates: Option<Lent<'a>>,
    /// The item for places that have no other.
    pub item: &'a [u8],
    pub dtype: &'a DType,
}

/// A window of an output.
#[derive(Debug, Default)]
pub(super) struct PartPlan {
    window: Window,
    pub shape: Vec<usize>,
    /// Of each axis that is arranged.
    pieces: Vec<Vec<Piece>>,
}

impl PartPlan {
    pub(super) fn new(resolved: &Resolved, window: Window) -> Self {
        let pieces = match resolved {
            Resolved::Arranged(arranged) => {
                let run = window.start..window.start + window.items();
                let ranges = if arranged.is_counted { std::slice::from_ref(&run) } else { &window.ranges };
                arranged.segments.iter().zip(ranges).map(|(segments, range)| segments.pieces(range)).collect()
            }
            _ => Vec::new(),
        };
        Self { shape: window.shape(), window, pieces }
    }

    fn run(&self) -> Range<usize> {
        self.window.start..self.window.start + self.shape.iter().product::<usize>()
    }
}

/// Whether an operator gives the items of its data in the same order.
pub(super) fn renames(resolved: &Resolved, data: &[usize]) -> bool {
    match resolved {
        Resolved::Reshaped(_) => true,
        Resolved::Slice(spans) => spans.iter().zip(data).all(|(span, &dim)| *span == Span::whole(dim)),
        Resolved::Transposed(axes) => axes.iter().filter(|&&axis| data[axis] != 1).is_sorted(),
        Resolved::Joined(joined) => joined.ends.len() == 2,
        Resolved::Arranged(arranged) => {
            let items = || data.iter().product();
            let dim = |axis: &Option<usize>| axis.map_or(1, |axis| data[axis]);
            let is_whole = |(axis, segments): (&Option<usize>, &Segments)| {
                let dim = if arranged.is_counted { items() } else { dim(axis) };
                segments.len() == dim && segments.reads_whole(dim)
            };
            arranged.axes.iter().zip(&arranged.segments).all(is_whole)
        }
        Resolved::Places(_) | Resolved::Scattered(..) | Resolved::Gathered(_) | Resolved::Replaced { .. } => false,
    }
}

/// An output's buffer, and the places of its items there.
type Target<'a> = (&'a mut [u8], &'a View);

/// Fills a part of an output.
pub(super) fn fill<'a>(
    resolved: &Resolved,
    data: &dyn Fn(usize) -> Lent<'a>,
    operands: &Operands<'_>,
    plan: &PartPlan,
    (out, to): Target<'_>,
) -> Result<()> {
    let (ranges, itemsize) = (&plan.window.ranges, operands.item.len());
    let first = || data(0);
    match resolved {
        Resolved::Slice(spans) => {
            let Lent { bytes, view } = first();
            copy_bytes(bytes, &view.select(spans).part(ranges), out, to, itemsize);
        }
        Resolved::Transposed(axes) => {
            let Lent { bytes, view } = first();
            copy_bytes(bytes, &view.with_axes(axes).part(ranges), out, to, itemsize);
        }
        Resolved::Reshaped(_) => copy_run(&first(), plan.run().start, out, to, itemsize),
        Resolved::Joined(joined) => {
            let range = &ranges[joined.axis];
            for (n, ends) in joined.ends.windows(2).enumerate() {
                let (start, end) = (range.start.max(ends[0]), range.end.min(ends[1]));
                if start >= end {
                    continue;
                }
                let Lent { bytes, mut view } = data(n);
                if joined.joining == Joining::Stacked {
                    let old = |axis: usize| axis - usize::from(axis > joined.axis);
                    let axes = (0..ranges.len()).map(|axis| (axis != joined.axis).then(|| old(axis)));
                    view = view.along(&axes.collect::<Few<_>>());
                }
                let spans = |along: usize, all: &dyn Fn(&Range<usize>) -> usize| -> Few<Span> {
                    let span = |(axis, range): (usize, &Range<usize>)| match axis == joined.axis {
                        true => Span { start: along, step: 1, len: end - start },
                        false => Span { start: all(range), step: 1, len: range.len() },
                    };
                    ranges.iter().enumerate().map(span).collect()
                };
                let from = view.select(&spans(start - ends[0], &|range| range.start));
                copy_bytes(bytes, &from, out, &to.select(&spans(start - range.start, &|_| 0)), itemsize);
            }
        }
        Resolved::Arranged(arranged) => {
            let (Lent { bytes, view }, zero) = (first(), operands.item);
            let lent_item = operands.updates.as_ref().map(|item| &item.bytes[item.view.offset_of(0) * itemsize..]);
            let item = lent_item.map_or(zero, |item| &item[..itemsize]);
            match arranged.is_counted {
                true => counted(&Lent { bytes, view }, &arranged.segments[0], plan, (out, to), itemsize),
                false => {
                    let view = view.along(&arranged.axes);
                    if let Some(first) = to.as_run() {
                        let out = &mut out[first * itemsize..][..to.items() * itemsize];
                        let Ok(()) = arrange(&plan.pieces, item, out, |spans, place, out| {
                            copy_bytes(bytes, &view.select(spans), out, place, itemsize);
                            Ok::<_, Infallible>(())
                        });
                        return Ok(());
                    }
                    let mut each = |spans: &[Span], within: &[Span], is_filled: bool| {
                        let to = to.select(within);
                        let (bytes, from) = match is_filled {
                            true => (item, View::strided(within.iter().map(|span| (span.len, 0)))),
                            false => (bytes, view.select(spans)),
                        };
                        copy_bytes(bytes, &from, out, &to, itemsize);
                    };
                    each_box(&arranged.segments, ranges, &mut (Few::default(), Few::default()), false, &mut each);
                }
            }
        }
        Resolved::Gathered(_) => gather(&first(), operands, plan, (out, to)),
        Resolved::Places(_) | Resolved::Scattered(..) | Resolved::Replaced { .. } => {
            let Lent { bytes, view } = first();
            copy_bytes(bytes, &view.part(ranges), out, to, itemsize);
            change(resolved, operands, plan, (out, to))?;
        }
    }
    Ok(())
}

/// Copies the items of an operand from number `first` on, in C order, to as many places.
fn copy_run(data: &Lent<'_>, first: usize, out: &mut [u8], to: &View, itemsize: usize) {
    let items = to.items();
    if let Some(run) = data.view.as_run() {
        let from = to.in_c_order().from_item(run + first);
        return copy_bytes(data.bytes, &from, out, to, itemsize);
    }
    if let (Some(run), 0, true) = (to.as_run(), first, items == data.view.items()) {
        let to = data.view.in_c_order().from_item(run);
        return copy_bytes(data.bytes, &data.view, out, &to, itemsize);
    }
    copy_runs((data, first), out, (to, 0), items, itemsize);
}

/// Copies items of an operand from a number on to an output from a number on, both in C order.
fn copy_runs((data, first): (&Lent<'_>, usize), out: &mut [u8], to: (&View, usize), items: usize, itemsize: usize) {
    each_run((&data.view, first), to, items, |from, to, items| {
        let items = items * itemsize;
        out[to * itemsize..][..items].copy_from_slice(&data.bytes[from * itemsize..][..items]);
    });
}

/// Calls `each(one, other, items)` for runs of items that are contiguous in both views, in C order.
fn each_run(
    (one, mut at): (&View, usize),
    (other, mut to): (&View, usize),
    items: usize,
    mut each: impl FnMut(usize, usize, usize),
) {
    let (runs, mut left) = ([one.run(), other.run()], items);
    while left > 0 {
        let count = left.min(runs[0] - at % runs[0]).min(runs[1] - to % runs[1]);
        each(one.offset_of(at), other.offset_of(to), count);
        (at, to, left) = (at + count, to + count, left - count);
    }
}

/// Copies segments of all items of an operand.
fn counted(data: &Lent<'_>, segments: &Segments, plan: &PartPlan, (out, to): Target<'_>, itemsize: usize) {
    let run = plan.run();
    let mut at = run.start;
    while at < run.end {
        let (span, count) = segments.run_at(at, run.end);
        let first = span.expect("an axis of all items has no filled places").start;
        copy_runs((data, first), out, (to, at - run.start), count, itemsize);
        at += count;
    }
}

/// Takes the data places and the window places of a box, and whether it is filled.
type EachBox<'a> = dyn FnMut(&[Span], &[Span], bool) + 'a;

/// Calls `each` with the data places and the window places of each box, which has one segment of each axis, and whether it
/// is filled.
fn each_box(
    segments: &[Segments],
    ranges: &[Range<usize>],
    before: &mut (Few<Span>, Few<Span>),
    is_filled: bool,
    each: &mut EachBox<'_>,
) {
    let axis = before.0.len();
    let Some(range) = ranges.get(axis) else { return each(&before.0, &before.1, is_filled) };
    let mut at = range.start;
    while at < range.end {
        let (span, len) = segments[axis].run_at(at, range.end);
        before.0.push(span.unwrap_or_default());
        before.1.push(Span { start: at - range.start, step: 1, len });
        each_box(segments, ranges, before, is_filled || span.is_none(), each);
        before.0.truncate(axis);
        before.1.truncate(axis);
        at += len;
    }
}

/// Single items are gathered as words.
fn gather(data: &Lent<'_>, operands: &Operands<'_>, plan: &PartPlan, (out, to): Target<'_>) {
    let (places, itemsize) = (operands.places.expect("a gather has an index tensor"), operands.item.len());
    if let (Some(first), Some(to)) = (data.view.as_run(), to.as_run()) {
        let (data, out) = (&data.bytes[first * itemsize..], &mut out[to * itemsize..]);
        return with_word!(itemsize, N => {
            let (data, zero) = (data.as_chunks::<N>().0, operands.item.as_chunks::<N>().0);
            gather_run(places, data, (1, Some(zero)), plan.run(), out.as_chunks_mut::<N>().0);
        }, _ => gather_run(places, data, (itemsize, Some(operands.item)), plan.run(), out));
    }
    let start = plan.run().start;
    places.each_block(plan.run(), |number, inside, at| match number {
        Some(number) => {
            let first = number * places.block_items() + inside.start;
            copy_runs((data, first), out, (to, at - start), inside.len(), itemsize);
        }
        None => {
            for n in 0..inside.len() {
                out[to.offset_of(at - start + n) * itemsize..][..itemsize].copy_from_slice(operands.item);
            }
        }
    });
}

/// Changes a part of the data.
///
/// # Errors
/// There is not enough memory for the sums of a mean; then nothing is changed.
pub(super) fn change(
    resolved: &Resolved,
    operands: &Operands<'_>,
    plan: &PartPlan,
    (out, to): Target<'_>,
) -> Result<()> {
    let itemsize = operands.dtype.itemsize();
    match resolved {
        Resolved::Places(slice) => {
            let updates = operands.updates.as_ref().expect("a change has updates");
            if let Some((part, place)) = within(slice.spans(), &plan.window) {
                copy_bytes(updates.bytes, &updates.view.select(&part), out, &to.select(&place), itemsize);
            }
        }
        Resolved::Replaced { places, matcher, item } => {
            if let Some((_, place)) = within(places.spans(), &plan.window) {
                let places = to.select(&place);
                each_run((&places, 0), (&places, 0), places.items(), |first, _, items| {
                    matcher.replace(&mut out[first * itemsize..][..items * itemsize], item);
                });
            }
        }
        Resolved::Scattered(_, ScatterRule { application, .. }) => {
            let places = operands.places.expect("a scatter has an index tensor");
            let updates = operands.updates.as_ref().expect("a change has updates");
            scatter(places, *application, operands.dtype, updates, plan.run(), (out, to))?;
        }
        Resolved::Slice(_)
        | Resolved::Gathered(_)
        | Resolved::Joined(_)
        | Resolved::Transposed(_)
        | Resolved::Reshaped(_)
        | Resolved::Arranged(_) => unreachable!("only the others change data"),
    }
    Ok(())
}

/// The part of a slice that a window has, in the slice and in the window; `None` if it is empty.
fn within(spans: &[Span], window: &Window) -> Option<(Few<Span>, Few<Span>)> {
    let (mut of_slice, mut of_window) = (Few::default(), Few::default());
    for (span, range) in spans.iter().zip(&window.ranges) {
        let part = span.within(range.start, range.end);
        if part.is_empty() {
            return None;
        }
        of_slice.push(Span { start: part.start, step: 1, len: part.len() });
        of_window.push(Span { start: span.at(part.start) - range.start, step: span.step, len: part.len() });
    }
    Some((of_slice, of_window))
}

/// Puts updates in the places of a run of the data that an index tensor names.
fn scatter(
    places: &Places,
    application: Application,
    dtype: &DType,
    updates: &Lent<'_>,
    run: Range<usize>,
    (out, to): Target<'_>,
) -> Result<()> {
    let itemsize = dtype.itemsize();
    let to_native = Conversion::to_native(dtype);
    let runs = [updates.view.as_run(), to.as_run()];
    if let Application::Fold(fold) = application {
        let (from, in_order) = (updates.view.in_c_order(), to.in_c_order());
        let [mut new, mut old] = [&from, &in_order].map(|view| memory::zeros(view.items() * itemsize));
        let (new, old) = (new.as_mut().map_err(|error| *error), old.as_mut().map_err(|error| *error));
        let (new, old) = (new.context(Subject::Updates.to_string())?, old.context(Subject::Data.to_string())?);
        copy_bytes(updates.bytes, &updates.view, new, &from, itemsize);
        copy_bytes(out, to, old, &in_order, itemsize);
        let native = |item: &[u8], native: &mut [u8]| {
            native.copy_from_slice(item);
            to_native.swap(native);
        };
        let scattered = Scattered::new(Cow::Borrowed(places), Cow::Borrowed(&new[..]), itemsize);
        scattered.fold(fold, itemsize, &mut Changed::Run(old), native, native, native)?;
        copy_bytes(old, &in_order, out, to, itemsize);
        return Ok(());
    }
    let combine = if let Application::Combine(combine) = application { Some(combine) } else { None };
    if let [Some(from), Some(to)] = runs {
        let items = updates.view.items() * itemsize;
        let (updates, out) =
            (&updates.bytes[from * itemsize..][..items], &mut out[to * itemsize..][..run.len() * itemsize]);
        match combine {
            None => with_word!(itemsize, N => {
                let scattered = Scattered::new(Cow::Borrowed(places), updates.as_chunks::<N>().0.into(), 1);
                scattered.apply_to_run(run.start, out.as_chunks_mut().0, |old, new| old.copy_from_slice(new));
                return Ok(());
            }, _ => {}),
            Some(combine)
                if to_native.is_identity()
                    && places.points(run.start, updates, itemsize, |offset, at, updates| {
                        (combine.points)(out, offset, at, updates);
                    }) =>
            {
                return Ok(());
            }
            Some(combine) if to_native.is_identity() => {
                let scattered = Scattered::new(Cow::Borrowed(places), updates.into(), itemsize);
                scattered.apply_to_run(run.start * itemsize, out, combine.blocks);
                return Ok(());
            }
            Some(_) => {}
        }
    }
    places.each_update(&run, |first, at, items| {
        each_run((&updates.view, first), (to, at - run.start), items, |from, to, items| {
            let (old, new) = (&mut out[to * itemsize..][..items * itemsize], &updates.bytes[from * itemsize..]);
            let new = &new[..items * itemsize];
            match combine {
                None => old.copy_from_slice(new),
                Some(combine) => {
                    let mut native = [0; 16];
                    for (old, new) in old.chunks_exact_mut(itemsize).zip(new.chunks_exact(itemsize)) {
                        let native = &mut native[..itemsize];
                        native.copy_from_slice(new);
                        to_native.swap(native);
                        to_native.swap(old);
                        (combine.blocks)(old, native);
                        to_native.swap(old);
                    }
                }
            }
        });
    });
    Ok(())
}
