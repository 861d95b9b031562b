//! Histograms: how the finite items of a tensor are distributed between the smallest and the largest.

use super::bytes::ByteCounts;
use super::items::{BLOCK, ByteItems, CountedAs, ItemCodec};
use super::part::{ItemPasses, StoredPart};
use super::stats::Stats;
use crate::engine::job::Progress;
use crate::error::Result;
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
    /// Where the bin begins.
    pub from: BinEdge,
    /// Where the bin ends: for integers the last one in it, for floats the beginning of the next bin. The last bin ends with
    /// the largest item, which is in it.
    pub to: BinEdge,
    /// How many items are in the bin.
    pub count: u64,
}

/// The beginning or the end of a bin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BinEdge {
    /// An end between integers or bools.
    Integer(i128),
    /// An end between floats.
    Float(f64),
}

/// Reads all items once more and counts them in bins. Returns `None` for dates, complex items and what is no number, and if
/// no item is finite.
///
/// # Errors
/// Reading fails, or a tensor changes meanwhile.
pub fn histogram(source: &Source, stats: &Stats, limits: Limits, progress: Progress<'_>) -> Result<Option<Histogram>> {
    let (Some((min, _)), Some((max, _))) = (&stats.min, &stats.max) else { return Ok(None) };
    let ends = [min.bytes(), max.bytes()];
    let passes = ItemPasses { source, part: &StoredPart::whole(source.meta()), held: None, limits, progress };
    match CountedAs::new(source.dtype().kind()) {
        CountedAs::Bytes(items) => bytes(passes, ends, &items).map(Some),
        CountedAs::Int32(codec) => real(passes, ends, &codec).map(Some),
        CountedAs::Int64(codec) => real(passes, ends, &codec).map(Some),
        CountedAs::UInt64(codec) => real(passes, ends, &codec).map(Some),
        CountedAs::Float32(codec) => real(passes, ends, &codec).map(Some),
        CountedAs::Float64(codec) => real(passes, ends, &codec).map(Some),
        CountedAs::Dates(_) | CountedAs::Complex64(_) | CountedAs::Complex128(_) => Ok(None),
        CountedAs::Text | CountedAs::Opaque => Ok(None),
    }
}

/// A number that items are compared with.
trait Edge: Copy + PartialOrd + Send + Sync + 'static {
    /// Returns the nearest number of this type.
    fn of(edge: BinEdge) -> Self;
    fn bound(self) -> BinEdge;
}

macro_rules! edges {
    ($($type:ty: $bound:ident),*) => {$(
        impl Edge for $type {
            fn of(edge: BinEdge) -> Self {
                match edge {
                    BinEdge::Integer(edge) => edge as Self,
                    BinEdge::Float(edge) => edge as Self,
                }
            }
            fn bound(self) -> BinEdge {
                BinEdge::$bound(self.into())
            }
        }
    )*};
}

edges!(i32: Integer, i64: Integer, u64: Integer, f32: Float, f64: Float);

/// Returns where the bins from one item to another begin, ascending. The first begins at that item.
fn edges_between(min: BinEdge, max: BinEdge) -> Vec<BinEdge> {
    match (min, max) {
        (BinEdge::Integer(min), BinEdge::Integer(max)) => {
            // the width is such that every bin holds the same number of integers
            let width = (max - min) / BINS as i128 + 1;
            let edges = (0..BINS as i128).map(|i| min + i * width);
            edges.take_while(|&edge| edge <= max).map(BinEdge::Integer).collect()
        }
        (BinEdge::Float(min), BinEdge::Float(max)) => {
            // a sum of two products, because the difference of the ends may overflow
            let edge_at = |i: usize| min * ((BINS - i) as f64 / BINS as f64) + max * (i as f64 / BINS as f64);
            let mut edges = vec![min];
            for edge in (1..BINS).map(edge_at) {
                // only few numbers may lie between the ends
                if edges.last().is_some_and(|&last| edge > last) && edge <= max {
                    edges.push(edge);
                }
            }
            edges.into_iter().map(BinEdge::Float).collect()
        }
        (BinEdge::Integer(_), BinEdge::Float(_)) | (BinEdge::Float(_), BinEdge::Integer(_)) => {
            unreachable!("both ends are of one type")
        }
    }
}

/// Counts for each edge the items that are not below it. These are ten comparisons that are vectorised; a search for the bin
/// of each item would branch, and wait for the counter that it raises.
fn real<T: Edge>(passes: ItemPasses<'_>, ends: [&[u8]; 2], codec: &ItemCodec<T>) -> Result<Histogram> {
    let item = |bytes| {
        let mut items = Vec::new();
        (codec.load)(bytes, &mut items);
        items[0]
    };
    let (min, max) = (item(ends[0]), item(ends[1]));
    let mut edges: Vec<T> = edges_between(min.bound(), max.bound()).into_iter().map(T::of).collect();
    edges.dedup();
    // how many items are not below each edge, and how many are above the end
    let begin = || (vec![0_u64; edges.len() + 1], Vec::new());
    let states = passes.scan(begin, |(counts, block), _, bytes| {
        for bytes in bytes.chunks(BLOCK * codec.keys.size) {
            (codec.load)(bytes, block);
            for (count, &edge) in counts.iter_mut().zip(&edges) {
                *count += count_of(block, |item| item >= edge);
            }
            *counts.last_mut().expect("a count for the end") += count_of(block, |item| item > max);
        }
    })?;
    let mut counts = vec![0; edges.len() + 1];
    for (counted, ..) in &states {
        counts.iter_mut().zip(counted).for_each(|(count, more)| *count += more);
    }
    let counts = counts.windows(2).map(|pair| pair[0] - pair[1]);
    Ok(Histogram::new(&edges.iter().map(|edge| edge.bound()).collect::<Vec<_>>(), max.bound(), counts))
}

/// Returns how many items of a block satisfy a condition.
#[inline(always)]
fn count_of<T: Copy>(block: &[T], condition: impl Fn(T) -> bool) -> u64 {
    // a block has fewer items than overflow a counter; a check of that would keep the loop from being vectorised
    block.iter().fold(0, |count: u32, &item| count.wrapping_add(condition(item).into())).into()
}

impl Histogram {
    /// Returns the bins that begin at `edges`. `end` is in the last.
    fn new(edges: &[BinEdge], end: BinEdge, counts: impl Iterator<Item = u64>) -> Self {
        let ends = edges.iter().skip(1).map(|&next| match next {
            BinEdge::Integer(next) => BinEdge::Integer(next - 1),
            BinEdge::Float(next) => BinEdge::Float(next),
        });
        let bins = edges.iter().zip(ends.chain([end])).zip(counts);
        Self { bins: bins.map(|((&from, to), count)| Bin { from, to, count }).collect() }
    }
}

fn bytes(passes: ItemPasses<'_>, ends: [&[u8]; 2], items: &ByteItems) -> Result<Histogram> {
    let (min, max) = (items.value(ends[0][0]), items.value(ends[1][0]));
    let whole = items.are_integers;
    // float64 holds integers of a byte exactly
    let bound = |edge: f64| if whole { BinEdge::Integer(edge as i128) } else { BinEdge::Float(edge) };
    let bounds = edges_between(bound(min), bound(max));
    let edges: Vec<f64> = bounds.iter().map(|&edge| Edge::of(edge)).collect();
    let mut counts = vec![0; edges.len()];
    for (item, count) in (0..=255_u8).zip(ByteCounts::of(passes, items)?.seen) {
        let value = items.value(item);
        let bin = edges.iter().rposition(|&edge| edge <= value).filter(|_| value <= max);
        if let Some(bin) = bin {
            counts[bin] += count;
        }
    }
    Ok(Histogram::new(&bounds, bound(max), counts.into_iter()))
}
