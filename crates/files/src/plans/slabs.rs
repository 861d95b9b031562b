//! Slabs: boxes of the output in memory, which let several windows share one read of the data.
//!
//! Data come in *grains*: chunks or pages. Windows that cross the grains, as columns cross chunks of rows, would each
//! read every grain they touch, and the bytes would grow with the square of the tensor. So threads read the *units* of
//! a slab, which end at grains, and join them to whole windows.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::OnceLock;

use tensorop_kernels::error::Result;
use tensorop_kernels::layout::axis::product;
use tensorop_kernels::layout::copy::copy_bytes;
use tensorop_kernels::layout::view::View;
use tensorop_kernels::layout::window::{Window, Windows};
use tensorop_kernels::memory::Buffer;

const SIDES: usize = 8;

const TRIED: usize = 1 << 16;

/// Slabs are tried only if bytes would be read more often than this.
pub const DIRECT: f64 = 1.05;

/// Sides of slabs, and how often bytes are read.
#[derive(Clone, Debug, PartialEq)]
pub struct SlabSides {
    pub sides: Vec<usize>,
    /// Average, at least 1.
    pub readings: f64,
}

/// How often places of an axis are read on average.
fn readings_along(dim: usize, side: usize, grain: usize) -> f64 {
    let (dim, grain) = (dim.max(1), grain.clamp(1, dim.max(1)));
    if side >= dim {
        return 1.0;
    }
    // A piece begins at any multiple of the greatest common divisor within a grain, so it touches this many places on
    // average.
    (side + grain - common_divisor(side, grain)) as f64 / side as f64
}

/// How often bytes are read on average.
pub fn readings(shape: &[usize], sides: &[usize], grain: &[usize]) -> f64 {
    shape.iter().zip(sides).zip(grain).map(|((&dim, &side), &grain)| readings_along(dim, side, grain)).product()
}

fn common_divisor(a: usize, b: usize) -> usize {
    if b == 0 { a } else { common_divisor(b, a % b) }
}

/// Returns slabs of whole windows and at most `items` items (or one window) that read the least; the smallest of
/// similar ones.
pub fn sides_of_slabs(shape: &[usize], window: &[usize], grain: &[usize], items: usize) -> SlabSides {
    let mut options: Vec<Vec<usize>> = Vec::with_capacity(shape.len());
    let mut tried = 1_usize;
    for axis in 0..shape.len() {
        let (dim, least) = (shape[axis].max(1), window[axis].max(1));
        let mut sides = vec![least.min(dim)];
        if readings_along(dim, least, grain[axis]) > 1.0 && tried < TRIED {
            let aligned = (least / common_divisor(least, grain[axis].max(1))).saturating_mul(grain[axis].max(1));
            let times = (0..u32::BITS).map(|power| least.saturating_mul(1 << power));
            sides.extend(times.skip(1).take_while(|&side| side < dim.min(aligned)));
            // The longest sides save the most.
            sides.drain(1..sides.len().saturating_sub(SIDES - 3).max(1));
            sides.extend([aligned, dim].into_iter().filter(|&side| side > least && side <= dim));
            sides.dedup();
        }
        tried = tried.saturating_mul(sides.len());
        options.push(sides);
    }
    let own: Vec<usize> = options.iter().map(|sides| sides[0]).collect();
    let mut best = SlabSides { readings: readings(shape, &own, grain), sides: own };
    let mut at = vec![0; options.len()];
    while let Some(axis) = (0..at.len()).find(|&axis| at[axis] + 1 < options[axis].len()) {
        at[axis] += 1;
        at[..axis].fill(0);
        let sides: Vec<usize> = at.iter().zip(&options).map(|(&at, sides)| sides[at]).collect();
        let size = product(&sides);
        if size > items {
            continue;
        }
        let found = SlabSides { readings: readings(shape, &sides, grain), sides };
        let is_as_good = found.readings <= best.readings.max(DIRECT);
        let is_better = found.readings < best.readings && best.readings > DIRECT;
        if is_better || is_as_good && best.readings <= DIRECT && size < product(&best.sides) {
            best = found;
        }
    }
    best
}

/// A temporary store costs a write and a read of all bytes and pays off beyond this many reads.
pub const READ_AGAIN: f64 = 3.0;

const NEARLY: f64 = 1.02;

/// Returns the chunks of a temporary store between grains and windows, of at most `chunk` items or the intersection of
/// a grain and a window. `None` unless that costs less than reading `direct` times.
pub fn grid_between(
    shape: &[usize],
    window: &[usize],
    grain: &[usize],
    [items, chunk]: [usize; 2],
    direct: f64,
) -> Option<Vec<usize>> {
    let cost = |grid: &[usize]| {
        let written = sides_of_slabs(shape, grid, grain, items).readings;
        written + sides_of_slabs(shape, window, grid, items).readings
    };
    // Starts with the intersection of a grain and a window, and grows while that costs nothing.
    let least = |axis: usize| window[axis].min(grain[axis]).clamp(1, shape[axis].max(1));
    let mut grid: Vec<usize> = (0..shape.len()).map(least).collect();
    let mut best = cost(&grid);
    loop {
        let grown = (0..grid.len()).filter(|&axis| grid[axis] < shape[axis]).map(|axis| {
            let mut grown = grid.clone();
            grown[axis] = (2 * grid[axis]).min(shape[axis]);
            (cost(&grown), grown)
        });
        let fits = grown.filter(|(_, grown)| product(grown) <= chunk);
        let Some((found, grown)) = fits.min_by(|(one, _), (other, _)| one.total_cmp(other)) else { break };
        if found > best * NEARLY {
            break;
        }
        (best, grid) = (found.min(best), grown);
    }
    (best + 1.0 < direct).then_some(grid)
}

/// Returns the sides of slabs of whole units with contiguous rows of about `piece` items, and of their windows. A unit
/// 16 float32 wide would be written in pieces of 64 bytes.
pub(crate) fn strips(shape: &[usize], unit: &[usize], [piece, window, items]: [usize; 3]) -> Option<[Vec<usize>; 2]> {
    let mut slab: Vec<usize> = unit.iter().zip(shape).map(|(&side, &dim)| side.clamp(1, dim.max(1))).collect();
    let first = slab.clone();
    let (mut row, mut along) = (1, 0);
    for axis in (0..slab.len()).rev() {
        let fits = (items / product(&slab)).max(1);
        let times = piece.div_ceil(row * slab[axis]).min(fits).max(1);
        slab[axis] = slab[axis].saturating_mul(times).min(shape[axis].max(1));
        (row, along) = (row * slab[axis], axis);
        if row >= piece || slab[axis] < shape[axis] {
            break;
        }
    }
    if slab == first {
        return None;
    }
    let mut sides = slab.clone();
    for axis in 0..along {
        // Windows end at slabs.
        let most = (slab[axis] / product(&sides).div_ceil(window.max(1))).max(1);
        let divides = |side: &usize| slab[axis] == shape[axis] || slab[axis].is_multiple_of(*side);
        sides[axis] = (1..=most).rev().find(divides).unwrap_or(1);
    }
    Some([slab, sides])
}

pub(crate) struct HeldUnits<'a> {
    shape: &'a [usize],
    itemsize: usize,
    slab: Window,
    grid: &'a Windows,
    numbers: Vec<usize>,
    items: Vec<OnceLock<Buffer>>,
}

impl<'a> HeldUnits<'a> {
    pub(crate) fn new(
        shape: &'a [usize],
        itemsize: usize,
        slab: Window,
        grid: &'a Windows,
        windows: impl Iterator<Item = &'a Window>,
    ) -> Result<Self> {
        let mut numbers = BTreeSet::new();
        for window in windows {
            numbers.extend(grid.touched_by(&window.spans().collect::<Vec<_>>())?);
        }
        let items = numbers.iter().map(|_| OnceLock::new()).collect();
        Ok(Self { shape, itemsize, slab, grid, numbers: numbers.into_iter().collect(), items })
    }

    pub(crate) fn count(&self) -> usize {
        self.numbers.len()
    }

    pub(crate) fn window(&self, n: usize) -> Window {
        common(&self.grid.get(self.numbers[n]), &self.slab, self.shape)
    }

    pub(crate) fn put(&self, n: usize, items: Buffer) {
        self.items[n].set(items).expect("each unit is filled once");
    }

    pub(crate) fn gather(&self, window: &Window, out: &mut Buffer) -> Result<()> {
        out.resize(window.items() * self.itemsize, "a window")?;
        let to = View::c_order(&window.shape());
        for number in self.grid.touched_by(&window.spans().collect::<Vec<_>>())? {
            let n = self.numbers.binary_search(&number).expect("the units of all windows are held");
            let unit = self.window(n);
            let part = common(&unit, window, self.shape);
            let items = self.items[n].get().expect("all units are filled before a window is put together");
            let from = View::c_order(&unit.shape()).part(&inside(&part, &unit));
            copy_bytes(items, &from, out, &to.part(&inside(&part, window)), self.itemsize);
        }
        Ok(())
    }
}

pub(crate) fn common(one: &Window, other: &Window, shape: &[usize]) -> Window {
    let ranges = one.ranges.iter().zip(&other.ranges);
    Window::new(ranges.map(|(a, b)| a.start.max(b.start)..a.end.min(b.end)).collect(), shape)
}

/// Returns `part` relative to `whole`.
fn inside(part: &Window, whole: &Window) -> Vec<Range<usize>> {
    let ranges = part.ranges.iter().zip(&whole.ranges);
    ranges.map(|(part, whole)| part.start - whole.start..part.end - whole.start).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slabs_that_read_the_least() {
        // shape, window, grain, maximum items; sides, readings
        type Row = (&'static [usize], &'static [usize], &'static [usize], usize, &'static [usize], f64);
        let rows: [Row; 9] = [
            (&[64, 64], &[8, 64], &[4, 64], 1024, &[8, 64], 1.0),
            (&[64, 64], &[64, 4], &[4, 64], 4096, &[64, 64], 1.0),
            (&[64, 64], &[64, 4], &[4, 64], 2048, &[64, 32], 2.0),
            (&[64, 64], &[64, 4], &[4, 64], 1100, &[64, 16], 4.0),
            (&[64, 64], &[64, 4], &[4, 64], 1, &[64, 4], 16.0),
            (&[60, 64], &[1, 64], &[6, 64], 4096, &[6, 64], 1.0),
            (&[1200, 5], &[4, 5], &[6, 5], 100, &[12, 5], 1.0),
            (&[1200, 5], &[10, 5], &[7, 5], 200, &[40, 5], 46.0 / 40.0),
            (&[10, 10], &[100, 3], &[3, 100], 1000, &[10, 10], 1.0),
        ];
        for (shape, window, grain, items, sides, readings) in rows {
            let found = sides_of_slabs(shape, window, grain, items);
            assert_eq!(found, SlabSides { sides: sides.to_vec(), readings }, "{shape:?} {window:?} {grain:?} {items}");
        }
    }

    #[test]
    fn strips_of_units() {
        // shape, unit, piece, window, maximum items; slab, window
        type Row = (&'static [usize], &'static [usize], [usize; 3], Option<[&'static [usize]; 2]>);
        let rows: [Row; 9] = [
            (&[64, 64], &[4, 16], [16, 64, 4096], None),
            (&[64, 64], &[64, 4], [16, 64, 500], None),
            (&[64, 64], &[4, 64], [100, 64, 4096], None),
            (&[], &[], [16, 64, 4096], None),
            (&[64, 64], &[64, 4], [16, 64, 4096], Some([&[64, 16], &[4, 16]])),
            (&[64, 64], &[64, 4], [16, 64, 512], Some([&[64, 8], &[8, 8]])),
            (&[8, 64, 6], &[4, 2, 3], [48, 48, 4096], Some([&[4, 8, 6], &[1, 8, 6]])),
            (&[70, 64], &[7, 4], [16, 50, 4096], Some([&[7, 16], &[1, 16]])),
            (&[70, 64], &[70, 4], [16, 50, 4096], Some([&[70, 16], &[3, 16]])),
        ];
        for (shape, unit, most, expected) in rows {
            let found = strips(shape, unit, most);
            let sides = found.as_ref().map(|found| found.each_ref().map(Vec::as_slice));
            assert_eq!(sides, expected, "{shape:?} {unit:?} {most:?}");
        }
    }

    #[test]
    fn readings_as_counted() {
        for (dim, side, grain) in [(60, 10, 4), (60, 4, 10), (60, 7, 12), (60, 12, 12), (60, 60, 7), (84, 12, 7)] {
            let grains = |start: usize| ((start + side).min(dim) - 1) / grain - start / grain + 1;
            let read: usize = (0..dim).step_by(side).map(|start| grains(start) * grain).sum();
            let counted = read as f64 / dim as f64;
            let told = readings_along(dim, side, grain);
            assert!((told - counted).abs() <= 0.2 * counted, "{dim} {side} {grain}: {told}, counted {counted}");
        }
    }

    #[test]
    fn windows_are_put_together_from_units() {
        let shape = [5, 7];
        let all: Vec<u8> = (0..35).collect();
        let items = |window: &Window| {
            let mut out = Buffer::default();
            out.resize(window.items(), "a unit").unwrap();
            let view = View::c_order(&shape).part(&window.ranges);
            copy_bytes(&all, &view, &mut out, &View::c_order(&window.shape()), 1);
            out
        };
        for (unit, slab, own) in [([2, 3], [5, 7], [5, 1]), ([1, 7], [4, 4], [2, 2]), ([3, 2], [4, 6], [2, 3])] {
            let (grid, windows) = (Windows::boxes(&shape, &unit), Windows::boxes(&shape, &own));
            for slab in Windows::boxes(&shape, &slab).iter() {
                let numbers = windows.touched_by(&slab.spans().collect::<Vec<_>>()).unwrap();
                let own: Vec<Window> = numbers.into_iter().map(|number| windows.get(number)).collect();
                let units = HeldUnits::new(&shape, 1, slab, &grid, own.iter()).unwrap();
                (0..units.count()).for_each(|n| units.put(n, items(&units.window(n))));
                for window in &own {
                    let mut out = Buffer::default();
                    units.gather(window, &mut out).unwrap();
                    assert_eq!(out[..], items(window)[..], "{window:?} from {unit:?}");
                }
            }
        }
    }
}
