//! How statistics would read a tensor.

use super::items::CountedAs;
use super::part::StoredPart;
use crate::engine::explain::{Explanation, explain_scan};
use crate::engine::quantiles::Search;
use crate::engine::scan_plan::{ScannedPart, ShownAs};
use crate::item::dtype::DType;
use crate::ops::fill::Limits;
use crate::storage::source::{Hold, Source};

/// Explains how `stats` reads a tensor, without reading items.
pub fn explain_stats(source: &Source, limits: Limits) -> Option<Explanation> {
    if matches!(CountedAs::new(source.dtype().kind()), CountedAs::Text | CountedAs::Opaque) {
        return None;
    }
    let is_kept =
        [to_read(source.dtype()), Hold::Scan].iter().any(|&hold| source.copy_to(hold, limits.threads).is_some());
    let view = StoredPart::whole(source.meta()).view;
    let most = key_bits(source.dtype()).map_or(1, |bits| Search::most_passes(bits, view.items()));
    let part = ScannedPart { is_kept, ..ScannedPart::new(source, view) };
    let (mut plan, _) = explain_scan(&[part], limits, ShownAs::Runs, most.min(2)..=most);
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
