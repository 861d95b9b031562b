//! Compares two tensors. If they differ, it searches for an order of axes under which they agree; a sample of short windows
//! rules out most orders.

use super::compare::{BegunComparison, PASSES, compare_values, encoded, is_read_once, may_be_equal_as_stored};
use super::findings::difference::{Difference, Reason};
use super::numbers::reading::Comparability;
use super::numbers::walk::Walk;
use super::options::{Effort, Options};
use super::search::{KeyPasses, key_passes};
use crate::operators::fill::Limits;
use crate::plans::cost::{Calls, Planners};
use crate::plans::explain::Explanation;
use crate::plans::job::Progress;
use crate::plans::plan::{Before, WindowOrder};
use crate::plans::scan::{Scan, as_stored};
use crate::storage::source::Source;
use tensorop_kernels::error::{Context, Error, Result};
use tensorop_kernels::item::encoding::Conversion;
use tensorop_kernels::item::tensor::Tensor;
use tensorop_kernels::layout::view::View;
use tensorop_kernels::layout::window::Windows;
use tensorop_kernels::memory::Buffer;

const MAX_AXES: usize = 6;

const MAX_SAMPLED: usize = 120;
const MAX_COMPARED: usize = 4;

/// Limits the search to about a second.
const MAX_BYTES: usize = 1 << 30;

const WINDOWS: usize = 8;
const ITEMS: usize = 512;

/// Compares two tensors. Byte order does not matter.
///
/// # Errors
/// A tolerance is negative, `ulp` is set for two dtypes, [`Options::axes`] is not a permutation, or memory for a copy
/// of both tensors is not available.
pub fn compare(expected: &Tensor, actual: &Tensor, options: &Options) -> Result<Difference> {
    let source = |tensor: &Tensor, name: &str| {
        Ok::<_, Error>(Source::memory(tensor.try_clone().context(name)?, name.to_owned()))
    };
    let (mut expected, mut actual) = (source(expected, "expected")?, source(actual, "actual")?);
    let effort = Effort { quantiles: true, permutations: true, ..Effort::default() };
    compare_sources(&mut expected, &mut actual, options, effort, &|_| {})
}

/// Compares two tensors window by window. Storage and byte order do not matter. `progress` gets the bytes of each
/// window.
///
/// # Errors
/// The options do not fit the tensors, or a source cannot be read.
pub fn compare_sources(
    expected: &mut Source,
    actual: &mut Source,
    options: &Options,
    effort: Effort,
    progress: Progress<'_>,
) -> Result<Difference> {
    let mut difference = compare_values(expected, actual, options, effort, progress)?;
    if effort.permutations && matches!(difference.reason, Some(Reason::Shape | Reason::Values)) {
        difference.agreeing_axes = agreeing_axes(expected, actual, options, effort);
    }
    Ok(difference)
}

fn agreeing_axes(expected: &mut Source, actual: &mut Source, options: &Options, effort: Effort) -> Option<Vec<usize>> {
    let sources = [&*expected, &*actual];
    let rank = expected.shape().len();
    let is_near = |source: &&Source| !source.is_stream() && !source.costs_requests();
    let bytes = expected.bytes().saturating_add(actual.bytes());
    // most small tensors have one axis, which has no other order
    if rank != actual.shape().len() || !(2..=MAX_AXES).contains(&rank) || !(1..=MAX_BYTES).contains(&bytes) {
        return None;
    }
    if !sources.iter().all(is_near) {
        return None;
    }
    let mut orders = permutations(expected.shape(), actual.shape());
    orders.retain(|order| options.axes.is_some() || !order.is_sorted());
    if orders.is_empty() {
        return None;
    }
    let options = Options { axes: None, metadata: false, ..options.clone() };
    let fits = |order: &Vec<usize>| sample_agrees(sources, order, &options).unwrap_or(false);
    let orders: Vec<_> = orders.into_iter().take(MAX_SAMPLED).filter(fits).take(MAX_COMPARED).collect();
    orders.into_iter().find(|order| {
        let axes = Some(order.iter().map(|&axis| axis as i64).collect());
        let options = Options { axes, ..options.clone() };
        let effort = Effort { limits: effort.limits, ..Effort::default() };
        compare_values(expected, actual, &options, effort, &|_| ()).is_ok_and(|found| found.equal())
    })
}

/// Axes of dim 1 keep their order, which does not matter.
fn permutations(expected: &[usize], actual: &[usize]) -> Vec<Vec<usize>> {
    let mut orders = vec![Vec::new()];
    for &dim in expected {
        let mut longer = Vec::new();
        for order in orders {
            let mut free = (0..actual.len()).filter(|axis| actual[*axis] == dim && !order.contains(axis));
            let next: Vec<usize> = if dim == 1 { free.next().into_iter().collect() } else { free.collect() };
            longer.extend(next.into_iter().map(|axis| [&order[..], &[axis]].concat()));
        }
        orders = longer;
    }
    orders
}

fn sample_agrees([expected, actual]: [&Source; 2], order: &[usize], options: &Options) -> Result<bool> {
    let windows = Windows::new(expected.shape(), ITEMS);
    let last = windows.count().saturating_sub(1);
    let mut numbers: Vec<_> = (0..WINDOWS).map(|n| n * last / (WINDOWS - 1)).collect();
    numbers.dedup();
    let view = actual.view().with_axes(order);
    // A few items may exceed a limit on all items, and under a wrong order most windows differ.
    let is_limited = options.allowed.is_some() || options.limits.any();
    let may_differ = if is_limited { numbers.len() / 2 } else { 0 };
    let mut differing = 0;
    for window in numbers.into_iter().map(|n| windows.get(n)) {
        let mut expected = part_of(expected, &expected.view().part(&window.ranges))?;
        let mut actual = part_of(actual, &view.part(&window.ranges))?;
        if !compare_values(&mut expected, &mut actual, options, Effort::default(), &|_| ())?.equal() {
            differing += 1;
            if differing > may_differ {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

fn part_of(source: &Source, view: &View) -> Result<Source> {
    let dtype = source.dtype().native();
    let mut items = vec![0; view.items() * dtype.itemsize()];
    source.read_as(&Conversion::to_native(source.dtype()), view, &mut items, &mut Buffer::default())?;
    Ok(Source::memory(Tensor::new(dtype, view.shape(), items)?, source.label().to_owned()))
}

/// The plan of a comparison.
#[derive(Debug)]
pub enum PlannedComparison {
    /// Dtypes or shapes differ, so no item is read.
    Unread(Box<Difference>),
    /// How both tensors are read.
    Read(Box<Explanation>),
}

/// Explains how [`compare_sources`](super::compare_sources) reads two tensors, without reading items.
///
/// # Errors
/// The options do not fit the tensors, or the attachments of a container cannot be listed.
pub fn explain_sources(
    expected: &Source,
    actual: &Source,
    options: &Options,
    limits: Limits,
) -> Result<PlannedComparison> {
    let BegunComparison { difference, how, axes } = BegunComparison::new(expected, actual, options, true)?;
    let Some(how) = how else { return Ok(PlannedComparison::Unread(Box::new(difference))) };
    let sources = [expected, actual];
    let walk = match &how {
        Comparability::Numbers(_) => axes.walk(sources),
        Comparability::Bytes | Comparability::Text { .. } => Walk::default(),
    };
    let scan = Scan::new(sources, &|number, source| axes.walked(&walk, number, source));
    let (mut plan, again) = Planners::new(&scan, limits, None).explain_scan(WindowOrder::Boxes, 1..=PASSES);
    let Comparability::Numbers(reading) = &how else { return Ok(PlannedComparison::Read(Box::new(plan))) };
    let are_resident = plan.plan.before.len() == sources.len();
    let encoded = encoded(sources, &axes);
    let stored = match &encoded {
        Some([expected, actual]) => Some([expected, actual]),
        None => may_be_equal_as_stored(sources, &axes).then_some(sources),
    };
    if walk.is_c_order()
        && !are_resident
        && let Some(sources) = stored
    {
        let scan = Scan::new(sources, &as_stored);
        let (Explanation { cost, .. }, _) = Planners::new(&scan, limits, None).explain_scan(WindowOrder::Runs, 1..=1);
        plan.notes.push(format!(
            "first both are compared as stored, up to the first window that differs: up to {} more; if none differs, little \
             is read after that",
            counted(cost.calls)
        ));
    }
    let may_be_again = !is_read_once(sources, reading) && again.reads > 0;
    if may_be_again {
        let text = "windows that are equal are read again for the metrics if a later one differs";
        plan.notes.push(format!("{text}: up to {} more", counted(again)));
    }
    let is_copied =
        |before: &Before| matches!(before, Before::Hold(copy) if !sources[copy.operand].is_read_by_position());
    let is_once = |source: &&Source| source.is_stream() || source.costs_requests();
    if !plan.plan.before.iter().any(is_copied) && !sources.iter().any(is_once) {
        let KeyPasses { sample, most } = key_passes(sources, &axes, reading, limits);
        if let Some(sample) = sample {
            plan.notes.push(format!("--json reads a sample for quantiles first: {}", counted(sample)));
        }
        if again.reads > 0 && most > 0 {
            let [reads, bytes_read] = [again.reads, again.bytes_read].map(|one| one.saturating_mul(most as u64));
            let again = Calls { reads, bytes_read, ..Calls::default() };
            plan.notes
                .push(format!("--json reads both again for quantiles that are not found: up to {}", counted(again)));
        }
    }
    Ok(PlannedComparison::Read(Box::new(plan)))
}

fn counted(calls: Calls) -> String {
    format!("{} reads of {} bytes", calls.reads, calls.bytes_read)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_that_fit() {
        type Row = (&'static [usize], &'static [usize], &'static [&'static [usize]]);
        let rows: [Row; 7] = [
            (&[1, 8, 6, 5], &[1, 6, 5, 8], &[&[0, 3, 1, 2]]),
            (&[2, 2, 3], &[3, 2, 2], &[&[1, 2, 0], &[2, 1, 0]]),
            (&[1, 4, 1], &[1, 1, 4], &[&[0, 2, 1]]),
            (&[4, 1, 1], &[1, 4, 1], &[&[1, 0, 2]]),
            (&[2, 3], &[3, 2], &[&[1, 0]]),
            (&[2, 3], &[6, 1], &[]),
            (&[], &[], &[&[]]),
        ];
        for (expected, actual, orders) in rows {
            assert_eq!(permutations(expected, actual), orders, "{expected:?} {actual:?}");
        }
    }
}
