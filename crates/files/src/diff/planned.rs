//! How a comparison would read both tensors.

use super::compare::{BegunComparison, PASSES, encoded, is_read_once, may_be_equal_as_stored};
use super::difference::Difference;
use super::options::Options;
use super::reading::Comparability;
use super::search::{KeyPasses, key_passes};
use super::walk::Walk;
use crate::engine::cost::Calls;
use crate::engine::explain::{Explanation, explain_scan};
use crate::engine::scan::is_kept_first;
use crate::engine::scan_plan::{ScannedPart, ShownAs, ways_to_scan};
use crate::error::Result;
use crate::operators::fill::Limits;
use crate::storage::source::Source;

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
    let parts = [0, 1].map(|number| {
        let view = axes.walked(&walk, number, sources[number]);
        let is_kept = is_kept_first(sources[number], &view, limits);
        ScannedPart { is_kept, ..ScannedPart::new(sources[number], view) }
    });
    let (mut plan, again) = explain_scan(&parts, limits, ShownAs::Boxes, 1..=PASSES);
    let Comparability::Numbers(reading) = &how else { return Ok(PlannedComparison::Read(Box::new(plan))) };
    let are_resident = plan.plan.before.len() == parts.len();
    let encoded = encoded(sources, &axes);
    let as_stored = match &encoded {
        Some([expected, actual]) => Some([expected, actual]),
        None => may_be_equal_as_stored(sources, &axes).then_some(sources),
    };
    if walk.is_c_order()
        && !are_resident
        && let Some(sources) = as_stored
    {
        let stored = sources.map(|source| ScannedPart::new(source, source.meta().as_stored().view()));
        let cost = ways_to_scan(&stored, limits, ShownAs::Runs).swap_remove(0).cost;
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
    if !parts.iter().any(|part| part.is_kept || part.source.is_stream() || part.source.costs_requests()) {
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
