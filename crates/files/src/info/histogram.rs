//! Histograms of the finite items of a tensor.

use std::io::{self, Write};

use super::bytes::{ByteCounts, ItemPasses, StoredPart};
use super::items::{BLOCK, ByteItems, CountedAs, ItemCodec};
use super::stats::Stats;
use crate::operators::fill::Limits;
use crate::plans::job::Progress;
use crate::report::{four_digits, json};
use crate::storage::source::Source;
use tensorop_kernels::error::Result;

const BINS: usize = 10;

/// Characters.
const BAR: u64 = 40;

/// Finite items in at most ten bins of equal width.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram {
    pub bins: Vec<Bin>,
}

/// One bin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bin {
    pub from: BinEdge,
    /// For integers the last value in the bin; for floats the start of the next bin. The last bin ends with the largest
    /// item.
    pub to: BinEdge,
    pub count: u64,
}

/// The start or end of a bin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BinEdge {
    Integer(i128),
    Float(f64),
}

/// Counts all items in bins. `None` for items that are not real numbers, and without finite items.
///
/// # Errors
/// Reading fails, or the tensor has changed.
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

trait Edge: Copy + PartialOrd + Send + Sync + 'static {
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

fn edges_between(min: BinEdge, max: BinEdge) -> Vec<BinEdge> {
    match (min, max) {
        (BinEdge::Integer(min), BinEdge::Integer(max)) => {
            let width = (max - min) / BINS as i128 + 1;
            let edges = (0..BINS as i128).map(|i| min + i * width);
            edges.take_while(|&edge| edge <= max).map(BinEdge::Integer).collect()
        }
        (BinEdge::Float(min), BinEdge::Float(max)) => {
            // A sum of two products, because `max - min` may overflow.
            let edge_at = |i: usize| min * ((BINS - i) as f64 / BINS as f64) + max * (i as f64 / BINS as f64);
            let mut edges = vec![min];
            for edge in (1..BINS).map(edge_at) {
                // Few floats may exist between the ends.
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

/// Counts the items not below each edge. Ten vectorised comparisons are faster than a search per item.
fn real<T: Edge>(passes: ItemPasses<'_>, ends: [&[u8]; 2], codec: &ItemCodec<T>) -> Result<Histogram> {
    let item = |bytes| {
        let mut items = Vec::new();
        (codec.load)(bytes, &mut items);
        items[0]
    };
    let (min, max) = (item(ends[0]), item(ends[1]));
    let mut edges: Vec<T> = edges_between(min.bound(), max.bound()).into_iter().map(T::of).collect();
    edges.dedup();
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

#[inline(always)]
fn count_of<T: Copy>(block: &[T], condition: impl Fn(T) -> bool) -> u64 {
    // A block cannot overflow the counter, and a check would prevent vectorisation.
    block.iter().fold(0, |count: u32, &item| count.wrapping_add(condition(item).into())).into()
}

impl Histogram {
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

pub(super) fn write_histogram(out: &mut dyn Write, histogram: Option<&Histogram>) -> io::Result<()> {
    let Some(histogram) = histogram else { return writeln!(out, "  -") };
    let most = histogram.bins.iter().map(|bin| bin.count).max().unwrap_or(0).max(1);
    let last = histogram.bins.len().saturating_sub(1);
    let labels: Vec<String> = histogram.bins.iter().enumerate().map(|(i, bin)| bin.label(i == last)).collect();
    let width = labels.iter().map(|label| label.chars().count()).max().unwrap_or(0);
    let digits = most.to_string().len();
    for (bin, label) in histogram.bins.iter().zip(labels) {
        // Every nonempty bin has a bar.
        let bar = (u128::from(bin.count) * u128::from(BAR)).div_ceil(most.into()) as usize;
        let line = format!("  {label:<width$}  {:>digits$}  {}", bin.count, "#".repeat(bar));
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

impl Histogram {
    pub(super) fn json(&self) -> String {
        let bin = |bin: &Bin| {
            let [from, to] = [bin.from, bin.to].map(|edge| edge.text(json::float));
            json::object([("from", from), ("to", to), ("count", bin.count.to_string())])
        };
        json::array(&self.bins, bin)
    }
}

impl Bin {
    pub(super) fn label(&self, last: bool) -> String {
        match (self.from, self.to) {
            (BinEdge::Integer(from), BinEdge::Integer(to)) if from == to => from.to_string(),
            (BinEdge::Integer(from), BinEdge::Integer(to)) => format!("{from} to {to}"),
            (from, to) => {
                let [from, to] = [from, to].map(|edge| edge.text(four_digits));
                format!("[{from}, {to}{}", if last { "]" } else { ")" })
            }
        }
    }
}

impl BinEdge {
    fn text(self, float: fn(f64) -> String) -> String {
        match self {
            BinEdge::Integer(value) => value.to_string(),
            BinEdge::Float(value) => float(value),
        }
    }
}
