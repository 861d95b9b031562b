//! Pairs of items judged one by one, for pictures of where tensors differ: how far apart each is, and whether it passes.
//!
//! The comparison itself asks whole blocks and is several times as fast; but what is drawn needs each item.

use super::item::{ComparedItem, Task};
use super::reading::{Common, Reading};
use super::tally::{Rule, pairs_of};
use super::{Options, distance::Distance, same_text};
use crate::engine::job::Progress;
use crate::engine::scan::scan;
use crate::error::{Error, ErrorKind, Result};
use crate::item::dtype::DType;
use crate::item::meta::Meta;
use crate::layout::window::Window;
use crate::memory::resize;
use crate::ops::fill::{Fill, Limits, Scratch};
use crate::ops::window_size::{ACROSS_WINDOWS, WINDOW};
use crate::storage::conversion::Conversion;
use crate::storage::source::Source;

/// What is said of a pair: its error, NaN where there is none, and whether it is a mismatch.
type Judged = (f64, bool);

/// Judges the pairs of two rows of items, as little-endian bytes.
type Judge = Box<dyn Fn(&[u8], &[u8], &mut Vec<Judged>) + Send + Sync>;

/// Whether two items that are no numbers are the same.
type Same = Box<dyn Fn(&[u8], &[u8]) -> bool + Send + Sync>;

/// How the items of two dtypes are judged, and whether they are numbers; `None` if they have no common meaning.
fn judge(one: &DType, other: &DType, options: &Options) -> Option<(Judge, bool)> {
    let rule = Rule::new(options);
    let opaque = |widths: [usize; 2], same: Same| -> (Judge, bool) {
        let judge: Judge = Box::new(move |expected, actual, out| {
            let pairs = expected.chunks_exact(widths[0].max(1)).zip(actual.chunks_exact(widths[1].max(1)));
            out.extend(pairs.map(|(expected, actual)| (f64::NAN, !same(expected, actual))));
        });
        (judge, false)
    };
    let widths = [one.itemsize(), other.itemsize()];
    Some(match Common::new(one, other).filter(|_| options.ignore_dtype || one == other)? {
        Common::Numbers(reading) => (reading.compared.with(Judging(rule, reading)), true),
        Common::Bytes => opaque(widths, Box::new(|expected, actual| expected == actual)),
        Common::Text(wide) => opaque(widths, Box::new(move |expected, actual| same_text(wide, expected, actual))),
    })
}

/// Asks how numbers are judged.
struct Judging(Rule, Reading);

impl Task for Judging {
    type Output = Judge;

    fn run<T: ComparedItem + 'static>(self) -> Judge {
        let Self(rule, reading) = self;
        Box::new(move |expected, actual, out| {
            let raw = (expected, actual);
            let mut widened = Default::default();
            let (expected, actual) = reading.widened(raw, &mut widened);
            let steps = rule.steps(&reading, raw, pairs_of::<T>(expected, actual));
            out.extend(
                pairs_of::<T>(expected, actual)
                    .enumerate()
                    .map(|(number, pair)| (error(pair), rule.differ(pair, steps.get(number).copied().unwrap_or(0)))),
            );
        })
    }
}

/// The error of a pair: none of what is the same number, NaN where one side alone is NaN, infinity where one is.
fn error<T: ComparedItem>((expected, actual): (T, T)) -> f64 {
    match (expected.is_nan(), actual.is_nan()) {
        (true, true) => 0.0,
        (true, false) | (false, true) => f64::NAN,
        (false, false) if expected.is_finite() && actual.is_finite() => expected.distance(actual).near(),
        (false, false) if expected.equals(actual) => 0.0,
        (false, false) => f64::INFINITY,
    }
}

/// The errors of two tensors over their last two axes, as float64: of the other axes the largest, NaN before all.
struct ErrorPlane {
    sources: [Source; 2],
    conversions: [Conversion; 2],
    judge: Judge,
    /// The dims of the other axes.
    others: Vec<usize>,
    meta: Meta,
}

impl std::fmt::Debug for ErrorPlane {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ErrorPlane").field("sources", &self.sources).field("meta", &self.meta).finish_non_exhaustive()
    }
}

/// Whether the errors of two tensors can be drawn: `None` if they have another dtype or shape.
///
/// # Errors
/// A scalar, an empty tensor, and what is no number.
pub(crate) fn check_plane(expected: &Source, actual: &Source, options: &Options) -> Result<Option<()>> {
    let (one, other) = (expected.dtype().native(), actual.dtype().native());
    let refuse = |why: String| Err(Error::of(ErrorKind::Unsupported, why).within(expected.label()));
    let shape = expected.shape();
    if shape != actual.shape() {
        return Ok(None);
    }
    match judge(&one, &other, options) {
        None => Ok(None),
        Some((_, false)) => refuse(format!("{} is no number whose error can be drawn", one.name())),
        Some((_, true)) if shape.is_empty() || shape.contains(&0) => {
            refuse(format!("{shape:?} has no axis with items, and a picture of errors needs one"))
        }
        Some((_, true)) => Ok(Some(())),
    }
}

/// The plane of errors of two tensors that [`check_plane`] has passed.
///
/// # Errors
/// Of making what comes once readable again.
pub(crate) fn error_plane(mut sources: [Source; 2], options: &Options) -> Result<Option<Box<dyn Fill>>> {
    let dtypes = sources.each_ref().map(|source| source.dtype().native());
    let Some((judge, _)) = judge(&dtypes[0], &dtypes[1], options) else { return Ok(None) };
    let mut conversions = Vec::new();
    for (source, native) in sources.iter_mut().zip(&dtypes) {
        source.settle()?;
        conversions.extend(Conversion::new(source.dtype(), native));
    }
    let Ok(conversions) = <[Conversion; 2]>::try_from(conversions) else { return Ok(None) };
    let shape = sources[0].shape();
    let (others, plane) = shape.split_at(shape.len().saturating_sub(2));
    let Ok(dtype) = DType::parse("float64") else { return Ok(None) };
    let (others, meta) = (others.to_vec(), Meta::new(dtype, plane.to_vec()));
    Ok(Some(Box::new(ErrorPlane { sources, conversions, judge, others, meta })))
}

impl Fill for ErrorPlane {
    fn meta(&self) -> &Meta {
        &self.meta
    }

    fn data(&self) -> &Source {
        &self.sources[0]
    }

    fn operands(&self) -> Vec<&Source> {
        self.sources.iter().collect()
    }

    fn prepare(&mut self) -> Result<()> {
        Ok(())
    }

    fn fill(&self, window: &Window, out: &mut Vec<u8>, scratch: &mut Scratch) -> Result<()> {
        let count = window.items();
        let mut worst = vec![0.0_f64; count];
        let mut judged = Vec::new();
        let mut items = [std::mem::take(&mut scratch.items), Vec::new()];
        let planes: usize = self.others.iter().product();
        for plane in 0..planes {
            let mut ranges: Vec<_> = crate::layout::shape::coordinates(plane, &self.others)
                .into_iter()
                .map(|place| place..place + 1)
                .collect();
            ranges.extend(window.ranges.iter().cloned());
            for ((source, conversion), items) in self.sources.iter().zip(&self.conversions).zip(&mut items) {
                resize(items, count * conversion.itemsize(), source.label())?;
                conversion.read(source, &source.view().part(&ranges), items, &mut scratch.gathered)?;
            }
            judged.clear();
            (self.judge)(&items[0], &items[1], &mut judged);
            for (most, (error, _)) in worst.iter_mut().zip(&judged) {
                *most = if most.is_nan() || error.is_nan() { f64::NAN } else { most.max(*error) };
            }
        }
        scratch.items = std::mem::take(&mut items[0]);
        out.clear();
        out.extend(worst.iter().flat_map(|error| error.to_le_bytes()));
        Ok(())
    }

    fn window_bytes(&self, threads: usize) -> usize {
        let across = self.sources.iter().any(|source| !source.view().is_forward());
        if across { ACROSS_WINDOWS / 2 / threads } else { WINDOW }
    }

    fn widest(&self) -> usize {
        // an item is float64, and a judgement beside it
        self.sources.iter().map(|source| source.dtype().itemsize()).max().unwrap_or(0).max(size_of::<Judged>())
    }
}

/// How many of the pairs in each cell of a grid over the last two axes are mismatches.
#[derive(Debug, PartialEq)]
pub(crate) struct Density {
    /// The axes that are drawn down and across; `None` where the tensor has none.
    pub axes: [Option<usize>; 2],
    /// Their dims, 1 where there is none.
    pub dims: [usize; 2],
    /// The cells down and across.
    pub cells: [usize; 2],
    /// The mismatches of each cell, row by row.
    pub mismatches: Vec<u64>,
    /// The pairs of each place of both axes.
    pub planes: u64,
}

/// Counts the mismatches of two tensors in no more than so many cells down and across; `None` if they have another
/// dtype or shape.
///
/// # Errors
/// Of reading.
pub(crate) fn density(
    [expected, actual]: [&mut Source; 2],
    options: &Options,
    most: [usize; 2],
    limits: Limits,
    progress: Progress<'_>,
) -> Result<Option<Density>> {
    let dtypes = [expected.dtype().native(), actual.dtype().native()];
    let Some((judge, _)) = judge(&dtypes[0], &dtypes[1], options) else { return Ok(None) };
    if expected.shape() != actual.shape() {
        return Ok(None);
    }
    let shape = expected.shape().to_vec();
    let axes = [2, 1].map(|back| shape.len().checked_sub(back));
    let dims = axes.map(|axis| axis.map_or(1, |axis| shape[axis]));
    let cells = [dims[0].min(most[0]), dims[1].min(most[1])];
    let planes = shape.iter().rev().skip(2).product::<usize>() as u64;
    let mut found = Density { axes, dims, cells, mismatches: vec![0; cells[0] * cells[1]], planes };
    if found.mismatches.is_empty() {
        return Ok(Some(found));
    }
    let begin = || (found.mismatches.clone(), Vec::new());
    let widths = dtypes.each_ref().map(DType::itemsize);
    let each = |state: &mut (Vec<u64>, Vec<Judged>), start: usize, [expected, actual]: [&[u8]; 2]| {
        let (counts, judged) = state;
        if widths[0] != widths[1] || expected != actual {
            judged.clear();
            judge(expected, actual, judged);
            for item in judged.iter().enumerate().filter(|(_, (_, differs))| *differs).map(|(n, _)| start + n) {
                let (row, column) = (item / dims[1] % dims[0], item % dims[1]);
                let cell =
                    |place: usize, axis: usize| (place as u128 * cells[axis] as u128 / dims[axis] as u128) as usize;
                counts[cell(row, 0) * cells[1] + cell(column, 1)] += 1;
            }
        }
        Ok(true)
    };
    for (counts, _) in scan([expected, actual], limits, progress, begin, each)? {
        found.mismatches.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
    }
    Ok(Some(found))
}

impl Density {
    /// The characters from no mismatch to mismatches alone.
    const SHADES: [char; 10] = [' ', '.', ':', '-', '=', '+', '*', '#', '%', '@'];

    /// The pairs that a cell stands for.
    fn pairs(&self, row: usize, column: usize) -> u64 {
        let places = |number: usize, axis: usize| {
            let first = |number: usize| (number as u128 * self.dims[axis] as u128).div_ceil(self.cells[axis] as u128);
            (first(number + 1) - first(number)) as u64
        };
        places(row, 0) * places(column, 1) * self.planes
    }

    /// The lines of the map: what it shows, and a character for each cell in a frame.
    pub(crate) fn lines(&self) -> Vec<String> {
        let axis = |axis: usize| match (self.axes[axis], self.cells[axis] == self.dims[axis]) {
            (None, _) => None,
            (Some(number), true) => Some(format!("axis {number}: {}", self.dims[axis])),
            (Some(number), false) => Some(format!("axis {number}: {} in {}", self.dims[axis], self.cells[axis])),
        };
        let down = axis(0).map(|text| format!("{text} down"));
        let across = axis(1).map(|text| format!("{text} across"));
        let axes: Vec<_> = down.into_iter().chain(across).collect();
        let axes = if axes.is_empty() { String::new() } else { format!(" ({})", axes.join(", ")) };
        let edge = format!("+{}+", "-".repeat(self.cells[1]));
        let mut lines = vec![format!("density of mismatches{axes}: . few to @ all"), edge.clone()];
        for row in 0..self.cells[0] {
            let shade = |column: usize| {
                let (some, all) = (self.mismatches[row * self.cells[1] + column], self.pairs(row, column));
                let last = Self::SHADES.len() - 1;
                // only none is blank, and only all is the darkest
                let level = match some {
                    0 => 0,
                    some if some == all => last,
                    some => 1 + (u128::from(some) * (last as u128 - 1) / u128::from(all.max(1))) as usize,
                };
                Self::SHADES[level.min(last)]
            };
            lines.push(format!("|{}|", (0..self.cells[1]).map(shade).collect::<String>()));
        }
        lines.push(edge);
        lines
    }
}
