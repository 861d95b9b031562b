//! Statistics of each index of an axis.

use std::ops::Range;

use super::part::{ItemPasses, StoredPart};
use super::stats::{Stats, stats_of};
use crate::engine::job::Progress;
use crate::error::Result;
use crate::item::meta::{Meta, Order};
use crate::memory::Buffer;
use crate::ops::fill::Limits;
use crate::parallel::on_threads;
use crate::storage::conversion::Conversion;
use crate::storage::source::{Hold, Source};

/// Bytes of the outermost axis held by all threads. Larger groups are not faster, and smaller ones stay in the cache.
const GROUPS_ALONG: usize = 1 << 21;

/// Indices per thread and group, whose results wait in memory.
const MAX_PLACES: usize = 1 << 12;

/// Passes the statistics of each index of an axis to `take`, in order. Panics if the axis does not exist.
///
/// Large groups of items are scanned as stored, by all threads. Small groups are read together, one set per thread: a
/// single pass would need counters of 300 KiB per index.
///
/// # Errors
/// Reading or `take` fails, or memory is not available.
pub fn by_axis(
    source: &mut Source,
    axis: usize,
    limits: Limits,
    progress: Progress<'_>,
    take: &mut dyn FnMut(Option<Stats>) -> Result<()>,
) -> Result<()> {
    // Each index may have many pieces, each a request.
    source.hold(Hold::Local, limits.threads)?;
    source.hold(Hold::COrder, limits.threads)?;
    source.finish()?;
    let source = &*source;
    let meta = source.meta();
    let places = meta.shape[axis];
    let bytes = meta.bytes().checked_div(places).unwrap_or(0);
    let threads = source.threads(limits.threads);
    let places_in = |room: usize| room / threads / bytes.max(1);
    let most = if is_outermost(source, axis) { places_in(GROUPS_ALONG).max(1) } else { MAX_PLACES };
    // For an inner axis, reading more indices together skips fewer bytes.
    let group = places_in(2 * limits.machine.across).min(most).min(MAX_PLACES);
    if group == 0 {
        return (0..places).try_for_each(|place| {
            let part = &StoredPart::place(meta, axis, place);
            take(stats_of(ItemPasses { source, part, held: None, limits, progress }, true)?)
        });
    }
    // In memory the other axes are in C order.
    let as_c = Meta::new(meta.dtype.clone(), meta.shape.clone());
    let of_group = |first: usize| -> Result<Vec<Option<Stats>>> {
        let range = first..places.min(first + group);
        let items = read_group(source, axis, range.clone())?;
        progress(items.len());
        let of_place = items.len() / range.len();
        let stats = |place: usize| {
            let held = Some(&items[(place - first) * of_place..][..of_place]);
            let part = &StoredPart::place(&as_c, axis, place);
            stats_of(ItemPasses { source, part, held, limits, progress }, true)
        };
        range.map(stats).collect()
    };
    let mut first = 0;
    while first < places {
        let left = (places - first).div_ceil(group);
        for found in on_threads(threads.min(left), |n| of_group(first + n * group)) {
            found?.into_iter().try_for_each(&mut *take)?;
        }
        first += group * threads.min(left);
    }
    source.finish()
}

fn is_outermost(source: &Source, axis: usize) -> bool {
    let shape = source.shape();
    let outermost = match source.meta().order {
        Order::C => shape.iter().position(|&dim| dim > 1),
        Order::Fortran => shape.iter().rposition(|&dim| dim > 1),
    };
    source.as_chunks().is_none() && outermost == Some(axis)
}

fn read_group(source: &Source, axis: usize, places: Range<usize>) -> Result<Buffer> {
    let rank = source.shape().len();
    let ranges: Vec<_> =
        source.shape().iter().enumerate().map(|(n, &dim)| if n == axis { places.clone() } else { 0..dim }).collect();
    let order: Vec<usize> = std::iter::once(axis).chain((0..rank).filter(|&n| n != axis)).collect();
    let view = source.view().part(&ranges).with_axes(&order);
    let mut items = Buffer::default();
    items.resize(view.items() * source.dtype().itemsize(), source.label())?;
    Conversion::to_native(source.dtype()).read(source, &view, &mut items, &mut Buffer::default())?;
    Ok(items)
}
