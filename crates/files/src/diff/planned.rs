//! How a comparison would read both tensors.

use super::compare::{BegunComparison, PASSES, encoded, is_read_once, may_be_equal_as_stored};
use super::findings::difference::Difference;
use super::numbers::reading::Comparability;
use super::numbers::walk::Walk;
use super::options::Options;
use super::search::{KeyPasses, key_passes};
use crate::operators::fill::Limits;
use crate::plans::cost::{Calls, Planners};
use crate::plans::explain::Explanation;
use crate::plans::plan::{Before, WindowOrder};
use crate::plans::scan::{Scan, as_stored};
use crate::storage::source::Source;
use tensorop_kernels::error::Result;

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
