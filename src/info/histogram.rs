//! Histograms: how the finite items of a tensor are distributed between the smallest and the largest.

use super::bytes::Counts;
use super::items::{BLOCK, Byte, CountedItem};
use super::part::Part;
use super::stats::Stats;
use crate::engine::job::Progress;
use crate::engine::scan::{ScannedPart, scan_parts};
use crate::error::Result;
use crate::item::dtype::Kind;
use crate::item::element::match_kind;
use crate::ops::fill::Limits;
use crate::storage::source::Source;

/// The most bins of a histogram.
const BINS: usize = 10;

/// Finite items counted in at most ten bins of the same width, from the smallest item to the largest.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram {
    /// In ascending order; at least one.
    pub bins: Vec<Bin>,
}

/// One bin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bin {
    /// Where it begins.
    pub from: Bound,
    /// Where it ends: of integers the last one in it, of floats where the next bin begins (of the last bin, the
    /// largest item, which is in it).
    pub to: Bound,
    /// How many items are in it.
    pub count: u64,
}

/// The beginning or the end of a bin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// Of integers and bool.
    Integer(i128),
    /// Of floats.
    Float(f64),
}

/// Counts all items, which are read once more, in bins. `None` if there is nothing to be counted: for dates, complex
/// items and what is no number, and where no item is finite.
///
/// # Errors
/// Of reading, among them a tensor that changes meanwhile.
pub fn histogram(source: &Source, stats: &Stats, limits: Limits, progress: Progress<'_>) -> Result<Option<Histogram>> {
    let (Some((min, _)), Some((max, _))) = (&stats.min, &stats.max) else { return Ok(None) };
    let ends = (min.bytes(), max.bytes());
    match_kind!(source.dtype().kind().clone(), {
        bool T => bytes(source, ends, limits, progress, Byte::Bool),
        integer T => match T::BYTE {
            Some(byte) => bytes(source, ends, limits, progress, byte),
            None => real::<T>(source, ends, limits, progress),
        },
        float T => real::<T>(source, ends, limits, progress),
        complex T => Ok(None),
        Kind::Narrow(narrow) => bytes(source, ends, limits, progress, Byte::Narrow(narrow)),
        Kind::LongDouble(_)
        | Kind::ComplexLongDouble(_)
        | Kind::Bytes(_)
        | Kind::Str(_)
        | Kind::Void(_)
        | Kind::Struct(_)
        | Kind::Datetime(_)
        | Kind::Timedelta(_) => Ok(None),
    })
}

/// A number that items are compared with.
trait Edge: Copy + PartialOrd + Send + Sync {
    /// Returns where the bins between two items begin, in ascending order. The first begins at `min`.
    fn between(min: Self, max: Self) -> Vec<Self>;
    fn bound(self) -> Bound;
}

macro_rules! integer_edges {
    ($($integer:ty),*) => {$(
        impl Edge for $integer {
            fn between(min: Self, max: Self) -> Vec<Self> {
                // the width is such that every bin holds the same number of integers
                let span = i128::from(max) - i128::from(min);
                let width = span / BINS as i128 + 1;
                let edges = (0..BINS as i128).map(|i| i128::from(min) + i * width);
                edges.take_while(|&edge| edge <= max.into()).filter_map(|edge| Self::try_from(edge).ok()).collect()
            }
            fn bound(self) -> Bound {
                Bound::Integer(self.into())
            }
        }
    )*};
}

integer_edges!(i8, u8, i16, i32, i64, u16, u32, u64);

impl Edge for f64 {
    fn between(min: Self, max: Self) -> Vec<Self> {
        // a sum of two products, because the difference of the ends may overflow
        let edge_at = |i: usize| min * ((BINS - i) as f64 / BINS as f64) + max * (i as f64 / BINS as f64);
        let mut edges = vec![min];
        for edge in (1..BINS).map(edge_at) {
            // only few numbers may lie between the ends
            if edges.last().is_some_and(|&last| edge > last) && edge <= max {
                edges.push(edge);
            }
        }
        edges
    }
    fn bound(self) -> Bound {
        Bound::Float(self)
    }
}

impl Edge for f32 {
    fn between(min: Self, max: Self) -> Vec<Self> {
        let mut edges: Vec<Self> = f64::between(min.into(), max.into()).into_iter().map(|edge| edge as f32).collect();
        edges.dedup();
        edges
    }
    fn bound(self) -> Bound {
        Bound::Float(self.into())
    }
}

/// Counts, for each edge, the items that are not below it: ten comparisons that are vectorised, where a search for the
/// bin of each item would branch and wait for the counter that it raises.
fn real<T: CountedItem<Edge: Edge>>(
    source: &Source,
    ends: (&[u8], &[u8]),
    limits: Limits,
    progress: Progress<'_>,
) -> Result<Option<Histogram>> {
    let item = |bytes| {
        let mut item = Vec::new();
        T::load(bytes, &mut item);
        item.first().map(|item| item.edge())
    };
    let (Some(min), Some(max)) = (item(ends.0), item(ends.1)) else { return Ok(None) };
    let edges = T::Edge::between(min, max);
    // for each edge the count of items that are not below it, and the count of items above the end
    let begin = || (vec![0_u64; edges.len() + 1], Vec::new(), Vec::new());
    let parts = [ScannedPart { source, view: Part::whole(source.meta()).view }];
    let states = scan_parts(
        parts,
        limits,
        progress,
        |_| true,
        begin,
        |(counts, items, block), _, [bytes]| {
            for bytes in bytes.chunks(BLOCK * size_of::<T>()) {
                T::load(bytes, items);
                block.clear();
                block.extend(items.iter().map(|item| item.edge()));
                for (count, &edge) in counts.iter_mut().zip(&edges) {
                    *count += u64::from(block.iter().map(|&item| u32::from(item >= edge)).sum::<u32>());
                }
                if let Some(above) = counts.last_mut() {
                    *above += u64::from(block.iter().map(|&item| u32::from(item > max)).sum::<u32>());
                }
            }
            Ok(true)
        },
    )?;
    let mut counts = vec![0; edges.len() + 1];
    for (counted, ..) in &states {
        counts.iter_mut().zip(counted).for_each(|(count, more)| *count += more);
    }
    let counts = counts.iter().zip(counts.iter().skip(1)).map(|(here, after)| here.saturating_sub(*after));
    Ok(Some(Histogram::new(&edges.iter().map(|edge| edge.bound()).collect::<Vec<_>>(), max.bound(), counts)))
}

impl Histogram {
    /// Returns the bins that begin at `edges`; `end` lies in the last one.
    fn new(edges: &[Bound], end: Bound, counts: impl Iterator<Item = u64>) -> Self {
        let ends = edges.iter().skip(1).map(|&next| match next {
            Bound::Integer(next) => Bound::Integer(next - 1),
            Bound::Float(next) => Bound::Float(next),
        });
        let bins = edges.iter().zip(ends.chain([end])).zip(counts);
        Self { bins: bins.map(|((&from, to), count)| Bin { from, to, count }).collect() }
    }
}

fn bytes(
    source: &Source,
    ends: (&[u8], &[u8]),
    limits: Limits,
    progress: Progress<'_>,
    byte: Byte,
) -> Result<Option<Histogram>> {
    let (&[min], &[max]) = ends else { return Ok(None) };
    let (min, max) = (byte.value(min), byte.value(max));
    let whole = byte.is_integer();
    // float64 holds integers of a byte exactly
    let bound = |edge: f64| if whole { Bound::Integer(edge as i128) } else { Bound::Float(edge) };
    let edges: Vec<f64> = match whole {
        true => i64::between(min as i64, max as i64).into_iter().map(|edge| edge as f64).collect(),
        false => f64::between(min, max),
    };
    let mut counts = vec![0; edges.len()];
    let part = Part::whole(source.meta());
    for (item, count) in (0..=255_u8).zip(Counts::of(source, &part, byte, limits, progress)?.seen) {
        let value = byte.value(item);
        let bin = edges.iter().rposition(|&edge| edge <= value).filter(|_| value <= max);
        if let Some(bin) = bin.and_then(|bin| counts.get_mut(bin)) {
            *bin += count;
        }
    }
    Ok(Some(Histogram::new(&edges.iter().copied().map(bound).collect::<Vec<_>>(), bound(max), counts.into_iter())))
}
