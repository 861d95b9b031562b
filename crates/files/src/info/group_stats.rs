//! Statistics of several tensors, combined from their single statistics, and of the places of an
//! axis.

use std::cmp::Ordering;
use std::ops::Range;

use super::Info;
use super::bytes::{ItemPasses, StoredPart};
use super::figures::members;
use super::stats::{ItemValue, Mean, Stats, stats_of};
use crate::operators::fill::{Limits, MAX_EMPTY_ITEMS};
use crate::plans::job::Progress;
use crate::report::json::{self, Escapes, list, or_null};
use crate::storage::source::{Hold, Source};
use tensorop_kernels::error::{Result, malformed};
use tensorop_kernels::item::encoding::Conversion;
use tensorop_kernels::item::meta::{Meta, Order};
use tensorop_kernels::memory::Buffer;
use tensorop_kernels::parallel::on_threads;

#[derive(Clone, Debug)]
pub(super) struct GroupStats {
    /// Extremes have the index in their tensor; quantiles and first NaN are not set.
    pub figures: Stats,
    min: Option<String>,
    max: Option<String>,
}

type GroupExtreme = (ItemValue, Vec<usize>);

#[derive(Clone, Copy, Debug)]
enum GroupNumber {
    Integer(i128),
    Float(f64),
}

impl GroupNumber {
    fn of(value: &ItemValue) -> Option<Self> {
        let text = value.to_string();
        match &*text {
            "false" => Some(Self::Integer(0)),
            "true" => Some(Self::Integer(1)),
            text => text.parse().map(Self::Integer).or_else(|_| text.parse().map(Self::Float)).ok(),
        }
    }

    fn compare(self, other: Self) -> Ordering {
        let float = |number| match number {
            Self::Integer(number) => number as f64,
            Self::Float(number) => number,
        };
        match (self, other) {
            (Self::Integer(one), Self::Integer(two)) => one.cmp(&two),
            (one, two) => float(one).total_cmp(&float(two)),
        }
    }
}

struct Moments {
    count: f64,
    mean: [f64; 2],
    std: f64,
}

impl GroupStats {
    /// `None` if all statistics are `None`.
    pub(super) fn of<'a>(infos: impl Iterator<Item = &'a Info>) -> Option<Self> {
        let found: Vec<_> = infos.filter_map(|info| Some((info, info.stats.as_ref()?.as_ref()?))).collect();
        if found.is_empty() {
            return None;
        }
        let sum =
            |count: fn(&Stats) -> u64| found.iter().fold(0_u64, |sum, (_, stats)| sum.saturating_add(count(stats)));
        let (min, min_of) = extreme(&found, |stats| &stats.min, Ordering::Less).unzip();
        let (max, max_of) = extreme(&found, |stats| &stats.max, Ordering::Greater).unzip();
        let moments: Vec<_> = found.iter().filter_map(|(info, stats)| Moments::of(info, stats)).collect();
        let is_complex = found.iter().any(|(_, stats)| matches!(stats.mean, Some(Mean::Complex(..))));
        let (mean, std) = together(&moments, is_complex).unzip();
        let figures = Stats {
            min,
            max,
            mean,
            std,
            nan: sum(|stats| stats.nan),
            inf: sum(|stats| stats.inf),
            zero: sum(|stats| stats.zero),
            ..Stats::default()
        };
        Some(Self { figures, min: min_of, max: max_of })
    }

    pub(super) fn json(&self) -> String {
        let Self { figures, min, max } = self;
        let extreme = |extreme: &Option<GroupExtreme>, tensor: &Option<String>| {
            or_null(extreme.as_ref(), |(value, index)| {
                let tensor = json::string(tensor.as_deref().unwrap_or_default(), Escapes::Numbers);
                json::object([("value", value.to_string()), ("tensor", tensor), ("index", list(index))])
            })
        };
        json::object(members(figures, [extreme(&figures.min, min), extreme(&figures.max, max)]))
    }
}

/// Ties go to the first tensor. Items that are not numbers have an extreme only in a single tensor.
fn extreme(
    found: &[(&Info, &Stats)],
    of: fn(&Stats) -> &Option<GroupExtreme>,
    better: Ordering,
) -> Option<(GroupExtreme, String)> {
    let all: Vec<_> = found.iter().filter_map(|(info, stats)| Some((info, of(stats).as_ref()?))).collect();
    let numbers = all.iter().filter_map(|(info, found)| Some((GroupNumber::of(&found.0)?, info, found)));
    let best = numbers.reduce(|best, next| if next.0.compare(best.0) == better { next } else { best });
    let single = match &all[..] {
        [(info, found)] => Some((info, found)),
        _ => None,
    };
    let (info, found) = best.map(|(_, info, found)| (info, found)).or(single)?;
    Some(((*found).clone(), info.member.clone().unwrap_or_default()))
}

impl Moments {
    fn of(info: &Info, stats: &Stats) -> Option<Self> {
        let mean = match stats.mean? {
            Mean::Real(mean) => [mean, 0.0],
            Mean::Complex(re, im) => [re, im],
        };
        let count = (info.items() as u64).saturating_sub(stats.nan).saturating_sub(stats.inf);
        Some(Self { count: count as f64, mean, std: stats.std? })
    }
}

fn together(moments: &[Moments], is_complex: bool) -> Option<(Mean, f64)> {
    let count: f64 = moments.iter().map(|of| of.count).sum();
    if count == 0.0 {
        return None;
    }
    let mean = [0, 1].map(|part| {
        let sum: f64 = moments.iter().map(|of| of.mean[part] * of.count).sum();
        // The sum of large items may overflow.
        let shares = || moments.iter().map(|of| of.mean[part] * (of.count / count)).sum();
        if sum.is_finite() { sum / count } else { shares() }
    });
    let apart = |of: &Moments| (of.mean[0] - mean[0]).hypot(of.mean[1] - mean[1]).hypot(of.std);
    let largest = moments.iter().map(apart).fold(0.0, f64::max);
    let square = |of: &Moments| (apart(of) / largest).powi(2) * (of.count / count);
    let std = if largest == 0.0 { 0.0 } else { largest * moments.iter().map(square).sum::<f64>().sqrt() };
    Some((if is_complex { Mean::Complex(mean[0], mean[1]) } else { Mean::Real(mean[0]) }, std))
}

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
/// Reading or `take` fails, memory is not available, or more than 2^24 indices have no items.
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
    if bytes == 0 && places > MAX_EMPTY_ITEMS {
        return Err(malformed!("{places} places of no bytes are too many to print").within(source.label()));
    }
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
    let as_c = Meta::c_order(meta.dtype.clone(), meta.shape.clone());
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
    source.read_as(&Conversion::to_native(source.dtype()), &view, &mut items, &mut Buffer::default())?;
    Ok(items)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_put_together() {
        let of = |items: &[f64]| {
            let count = items.len() as f64;
            let mean = items.iter().map(|item| item / count).sum::<f64>();
            let largest = items.iter().fold(0.0_f64, |most, item| most.max((item - mean).abs()));
            let largest = if largest == 0.0 { 1.0 } else { largest };
            let square = items.iter().map(|item| ((item - mean) / largest).powi(2) / count).sum::<f64>();
            Moments { count, mean: [mean, 0.0], std: largest * square.sqrt() }
        };
        let rows: [&[&[f64]]; 5] = [
            &[&[1.0, 2.0, 6.0], &[4.0]],
            &[&[5.0], &[5.0], &[5.0]],
            &[&[1e200, -1e200], &[3e200]],
            &[&[1e-200, 2e-200], &[4e-200]],
            &[&[0.1, 0.2, 0.3], &[-7.0, 8.0], &[1e6]],
        ];
        for parts in rows {
            let all = of(&parts.concat());
            let (mean, std) = together(&parts.iter().map(|part| of(part)).collect::<Vec<_>>(), false).expect("items");
            let Mean::Real(mean) = mean else { panic!("real") };
            let near = |one: f64, two: f64| (one - two).abs() <= 1e-12 * one.abs().max(two.abs());
            assert!(near(mean, all.mean[0]) && near(std, all.std), "{parts:?}: {mean} {std}");
        }
        assert!(together(&[], false).is_none());
    }

    #[test]
    fn large_integers_are_compared_exactly() {
        let (one, two) = (GroupNumber::Integer((1 << 53) + 1), GroupNumber::Integer(1 << 53));
        assert_eq!(one.compare(two), Ordering::Greater);
        assert_eq!(two.compare(GroupNumber::Float(0.5)), Ordering::Greater);
    }
}
