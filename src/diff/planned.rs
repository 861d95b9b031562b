//! The plan of a comparison: how both tensors would be read, told before they are.

use super::compare::{Begun, is_read_once, may_be_equal_as_stored};
use super::difference::Difference;
use super::options::Options;
use super::reading::Comparability;
use super::walk::Walk;
use crate::engine::explain::{Explanation, explain_scan};
use crate::engine::scan::is_kept_first;
use crate::engine::scan_plan::{ScannedPart, ShownAs};
use crate::error::Result;
use crate::ops::fill::Limits;
use crate::storage::source::Source;

/// What is known of a comparison before the first item is read.
#[derive(Debug)]
pub enum PlannedComparison {
    /// The tensors differ by dtype or shape, so that nothing is read.
    Unread(Box<Difference>),
    /// How both are read.
    Read(Box<Explanation>),
}

/// Tells how [`compare_sources`](super::compare_sources) reads two tensors without quantiles. No item is read.
///
/// # Errors
/// Those of [`compare_sources`](super::compare_sources) that do not come from reading items.
pub fn explain_sources(
    expected: &Source,
    actual: &Source,
    options: &Options,
    limits: Limits,
) -> Result<PlannedComparison> {
    let Begun { difference, how, axes } = Begun::new(expected, actual, options, true)?;
    let Some(how) = how else { return Ok(PlannedComparison::Unread(Box::new(difference))) };
    let sources = [expected, actual];
    let walk = match &how {
        Comparability::Numbers(_) => axes.walk(sources),
        Comparability::Bytes | Comparability::Text { .. } => Walk::default(),
    };
    let part = |number: usize| {
        let view = axes.walked(&walk, number, sources[number]);
        ScannedPart {
            is_kept: is_kept_first(sources[number], &view, limits),
            ..ScannedPart::new(sources[number], view)
        }
    };
    let mut plan = explain_scan(&[0, 1].map(part), limits, ShownAs::Boxes, 1);
    if let Comparability::Numbers(reading) = &how {
        if may_be_equal_as_stored(sources, &axes) {
            let text = "first both are compared as they are stored, up to the first window that differs; if none does, little \
                        is read after that";
            plan.notes.push(text.to_owned());
        }
        if !is_read_once(sources, reading) {
            let text = "windows that are equal are read again for the metrics if a later one differs";
            plan.notes.push(text.to_owned());
        }
    }
    Ok(PlannedComparison::Read(Box::new(plan)))
}
