//! Pictures of where two tensors differ: a plane of errors, and the density of mismatches.

use crate::diff::compare::blocks_of;
use crate::diff::findings::tally::{NumberPairs, NumberRule, StoredItems, opaque_bits};
use crate::diff::numbers::distance::PairRule;
use crate::diff::numbers::kernel::{PairBits, Rows};
use crate::diff::numbers::reading::{Comparability, ConvertedItems};
use crate::diff::numbers::walk::ActualAxes;
use crate::diff::options::Options;
use crate::operators::access::{Access, Feeds, Pattern};
use crate::operators::fill::{Fill, Limits, Machine, Region, Scratch};
use crate::plans::job::Progress;
use crate::plans::plan::WindowOrder;
use crate::plans::scan::{ScannedBox, as_stored, settled};
use crate::storage::source::{Hold, Source};
use tensorop_kernels::error::{Error, ErrorKind, Result};
use tensorop_kernels::item::dtype::Kind;
use tensorop_kernels::item::encoding::Conversion;
use tensorop_kernels::item::meta::{Meta, Order};
use tensorop_kernels::layout::axis::coordinates;
use tensorop_kernels::layout::window::{Window, fill_each};
use tensorop_kernels::memory::Buffer;
use tensorop_kernels::parallel::Threads;

struct ComparedPairs {
    how: Comparability,
    rule: PairRule,
    widths: [usize; 2],
    axes: ActualAxes,
}

#[derive(Default)]
struct PairScratch {
    converted: [ConvertedItems; 2],
    steps: Vec<u64>,
}

impl ComparedPairs {
    /// `None` if the dtypes are not comparable or the shapes differ.
    fn new(sources: [&Source; 2], options: &Options) -> Result<Option<Self>> {
        let axes = ActualAxes::new(options, sources[1])?;
        let [one, other] = sources.map(|source| source.dtype().native());
        let how = Comparability::new(&one, &other).filter(|_| options.ignore_dtype || one == other);
        let how = how.filter(|_| sources[0].shape() == axes.shape(sources[1]));
        let widths = [one.itemsize(), other.itemsize()];
        Ok(how.map(|how| Self { how, rule: PairRule::new(options), widths, axes }))
    }

    fn failing(&self, stored: StoredItems<'_>, scratch: &mut PairScratch) -> PairBits {
        match &self.how {
            Comparability::Numbers(reading) => {
                let (rows, steps) = (reading.read(stored.rows, &mut scratch.converted), &mut scratch.steps);
                NumberRule { rule: &self.rule, reading }.fill_limited_steps(NumberPairs { stored, rows }, steps);
                reading.kernel().masks(&self.rule, rows, steps, false).fail
            }
            Comparability::Bytes | Comparability::Text { .. } => opaque_bits(&self.how, stored),
        }
    }
}

/// Errors over the last two axes as float64: the maximum over the other axes, NaN first.
struct ErrorPlane {
    sources: [Source; 2],
    pairs: ComparedPairs,
    others: Vec<usize>,
    meta: Meta,
}

impl std::fmt::Debug for ErrorPlane {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ErrorPlane").field("sources", &self.sources).field("meta", &self.meta).finish_non_exhaustive()
    }
}

/// `None` if dtypes or shapes differ. Rejects scalars, empty tensors and items that are not numbers.
///
/// # Errors
/// The axes do not fit, or the tensors cannot be read.
#[doc(hidden)]
pub fn check_plane(expected: &Source, actual: &Source, options: &Options) -> Result<Option<()>> {
    let refuse = |why: String| Err(Error::from_kind(ErrorKind::Unsupported, why).within(expected.label()));
    let shape = expected.shape();
    let Some(pairs) = ComparedPairs::new([expected, actual], options)? else { return Ok(None) };
    if !matches!(pairs.how, Comparability::Numbers(_)) {
        return refuse(format!("dtype {} has no error to draw", expected.dtype().native().name()));
    }
    if shape.is_empty() || shape.contains(&0) {
        return refuse(format!("{shape:?} has no axis with items, and a picture of errors needs one"));
    }
    Ok(Some(()))
}

/// [`check_plane`] must have accepted the tensors.
///
/// # Errors
/// The axes do not fit, or the tensors cannot be read.
#[doc(hidden)]
pub fn error_plane(mut sources: [Source; 2], options: &Options) -> Result<Box<dyn Fill>> {
    let pairs = ComparedPairs::new(sources.each_ref(), options)?.expect("the tensors have been checked");
    sources.iter_mut().try_for_each(|source| source.hold(Hold::Seekable, Threads::default()))?;
    let (others, plane) = sources[0].shape().split_at(sources[0].shape().len().saturating_sub(2));
    let (others, meta) = (others.to_vec(), Meta::c_order(Kind::Float64.into(), plane.to_vec()));
    Ok(Box::new(ErrorPlane { sources, pairs, others, meta }))
}

impl Fill for ErrorPlane {
    fn meta(&self) -> &Meta {
        &self.meta
    }

    fn operand(&self, n: usize) -> Option<&Source> {
        self.sources.get(n)
    }

    fn reads(&self, _: usize) -> Vec<Access<'_>> {
        let read = |source| Access { source, feeds: Feeds::All, pattern: Pattern::Anyhow, copy: None };
        self.sources.iter().map(read).collect()
    }

    fn fill(&self, region: &Region, out: &mut [u8], scratch: &mut Scratch) -> Result<()> {
        let (shape, itemsize) = (&self.meta.shape, self.meta.dtype.itemsize());
        fill_each(&region.boxes(shape), itemsize, out, |window, out| self.fill_box(window, out, scratch))
    }

    fn window_bytes(&self, _: usize, threads: usize, machine: &Machine) -> Option<usize> {
        let mut views = self.sources.iter().enumerate().map(|(number, source)| self.pairs.axes.view(number, source));
        let across = views.any(|view| !view.is_forward());
        // Includes two rows of float64 errors.
        let half = machine.window / 2;
        Some(if across { (machine.across / 4 / threads).max(half) } else { half })
    }
}

impl ErrorPlane {
    fn fill_box(&self, window: &Window, out: &mut [u8], scratch: &mut Scratch) -> Result<()> {
        let Comparability::Numbers(reading) = &self.pairs.how else {
            unreachable!("the dtypes have been checked");
        };
        let count = window.items();
        let mut worst = vec![0.0_f64; count];
        let (mut errors, mut converted) = (Vec::new(), Default::default());
        let mut items = [std::mem::take(&mut scratch.items), Buffer::default()];
        let planes: usize = self.others.iter().product();
        for plane in 0..planes {
            let places = coordinates(plane, &self.others).into_iter().map(|place| place..place + 1);
            let ranges: Vec<_> = places.chain(window.ranges.iter().cloned()).collect();
            for (number, (source, items)) in self.sources.iter().zip(&mut items).enumerate() {
                let conversion = Conversion::to_native(source.dtype());
                items.resize(count * conversion.itemsize(), source.label())?;
                let view = self.pairs.axes.view(number, source);
                source.read_as(&conversion, &view.part(&ranges), items, &mut scratch.gathered)?;
            }
            let rows = reading.read(Rows { expected: &items[0], actual: &items[1] }, &mut converted);
            reading.kernel().errors(rows, &mut errors);
            for (most, error) in worst.iter_mut().zip(&errors) {
                *most = if most.is_nan() || error.is_nan() { f64::NAN } else { most.max(*error) };
            }
        }
        scratch.items = std::mem::take(&mut items[0]);
        out.as_chunks_mut().0.iter_mut().zip(worst).for_each(|(item, error)| *item = error.to_le_bytes());
        Ok(())
    }
}

#[derive(Debug, PartialEq)]
#[doc(hidden)]
pub struct Density {
    /// `None` if the tensor lacks the axis.
    pub axes: [Option<usize>; 2],
    pub dims: [usize; 2],
    pub cells: [usize; 2],
    pub mismatches: Vec<u64>,
    /// The number of outer planes.
    pub planes: u64,
}

/// `None` if dtypes or shapes differ.
///
/// # Errors
/// The axes do not fit, or the tensors cannot be read.
#[doc(hidden)]
pub fn density(
    [expected, actual]: [&mut Source; 2],
    options: &Options,
    most: [usize; 2],
    limits: Limits,
    progress: Progress<'_>,
) -> Result<Option<Density>> {
    let Some(pairs) = ComparedPairs::new([expected, actual], options)? else { return Ok(None) };
    let shape = expected.shape().to_vec();
    let axes = [2, 1].map(|back| shape.len().checked_sub(back));
    let dims = axes.map(|axis| axis.map_or(1, |axis| shape[axis]));
    let cells = [dims[0].min(most[0]), dims[1].min(most[1])];
    let planes = shape.iter().rev().skip(2).product::<usize>() as u64;
    let mut found = Density { axes, dims, cells, mismatches: vec![0; cells[0] * cells[1]], planes };
    if found.mismatches.is_empty() {
        return Ok(Some(found));
    }
    // Counts do not depend on the order, so tensors in Fortran order are scanned as stored.
    let is_across =
        pairs.axes.are_own() && shape.len() > 1 && [&*expected, &*actual].iter().all(|source| is_fortran_file(source));
    let inner: usize = shape.iter().rev().skip(2).product();
    let strides = if is_across { [inner, inner * dims[0]] } else { [dims[1], 1] };
    // The cell of a pair, and the scan position where the next cell may begin.
    let cell_of = |place: usize| {
        let at = [0, 1].map(|axis| place / strides[axis] % dims[axis]);
        let cell = [0, 1].map(|axis| (at[axis] as u128 * cells[axis] as u128 / dims[axis] as u128) as usize);
        let end = match strides.iter().position(|stride| *stride == 1) {
            Some(axis) => place - at[axis] + first_place(cell[axis] + 1, dims[axis], cells[axis]),
            None => place - place % inner + inner,
        };
        (cell[0] * cells[1] + cell[1], end)
    };
    let begin = || (found.mismatches.clone(), PairScratch::default());
    type CellCounts = (Vec<u64>, PairScratch);
    let each = |(counts, scratch): &mut CellCounts, window: &ScannedBox<'_, 2>| {
        let (mut cell, mut end) = (0, 0);
        for stored in blocks_of(window, pairs.widths) {
            for (n, mut failing) in pairs.failing(stored, scratch).into_iter().enumerate() {
                let start = stored.start + 64 * n;
                while failing != 0 {
                    let place = start + failing.trailing_zeros() as usize;
                    if place >= end {
                        (cell, end) = cell_of(place);
                    }
                    let later = u32::try_from(end - start).ok().and_then(|end| u64::MAX.checked_shl(end)).unwrap_or(0);
                    counts[cell] += u64::from((failing & !later).count_ones());
                    failing &= later;
                }
            }
        }
        Ok(true)
    };
    let view = |number, source: &Source| match is_across {
        true => as_stored(number, source),
        false => pairs.axes.view(number, source),
    };
    let planned = settled([expected, actual], &view, WindowOrder::Runs, 1, limits)?;
    for (counts, _) in planned.scan(progress, &|_| true, &begin, &each)? {
        found.mismatches.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
    }
    Ok(Some(found))
}

fn is_fortran_file(source: &Source) -> bool {
    source.meta().order == Order::Fortran && source.is_read_by_position() && source.as_chunks().is_none()
}

fn first_place(cell: usize, dim: usize, cells: usize) -> usize {
    (cell as u128 * dim as u128).div_ceil(cells as u128) as usize
}

impl Density {
    const SHADES: [char; 10] = [' ', '.', ':', '-', '=', '+', '*', '#', '%', '@'];

    fn pairs(&self, row: usize, column: usize) -> u64 {
        let places = |number: usize, axis: usize| {
            let first = |number: usize| first_place(number, self.dims[axis], self.cells[axis]);
            (first(number + 1) - first(number)) as u64
        };
        places(row, 0) * places(column, 1) * self.planes
    }

    #[doc(hidden)]
    pub fn lines(&self) -> Vec<String> {
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
                // Only empty cells are blank, and only full cells get the darkest shade.
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
