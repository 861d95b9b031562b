//! Maps numbers to colours.

use std::cmp::Ordering;
use std::sync::Mutex;

use crate::error::Result;
use crate::item::dtype::{DType, Kind};
use crate::item::load::{Load, reals};
use crate::item::print::{float, write_item};
use crate::operators::fill::Region;
use crate::parallel::{locked, unlocked};
use crate::plans::job::{Job, Progress};
use crate::plans::plan::SinkKind;
use crate::plans::sink::WindowSink;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Scale {
    /// `None` without finite numbers.
    ends: Option<(f64, f64)>,
    texts: (String, String),
}

/// The non-finite numbers in a picture, which have their own colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SpecialNumbers {
    pub nan: bool,
    pub infinity: bool,
    pub minus_infinity: bool,
}

impl SpecialNumbers {
    pub(super) fn add(&mut self, number: f64) {
        self.nan |= number.is_nan();
        self.infinity |= number == f64::INFINITY;
        self.minus_infinity |= number == f64::NEG_INFINITY;
    }

    pub(crate) fn legend(self) -> impl Iterator<Item = (&'static str, &'static str, Rgb)> {
        let all = [
            (self.nan, "NaN", "red", NAN),
            (self.infinity, "Infinity", "white", INFINITY),
            (self.minus_infinity, "-Infinity", "black", MINUS_INFINITY),
        ];
        all.into_iter().filter(|(is_there, ..)| *is_there).map(|(_, name, word, colour)| (name, word, colour))
    }
}

impl Scale {
    /// Numbers outside the range get the colours of its ends.
    pub(super) fn from_range(low: f64, high: f64) -> Self {
        Self { ends: Some((low, high)), texts: (float(low), float(high)) }
    }

    pub(crate) fn texts(&self) -> Option<(&str, &str)> {
        self.ends.map(|_| (self.texts.0.as_str(), self.texts.1.as_str()))
    }
}

pub(super) struct Colours {
    low: f64,
    high: f64,
    width: f64,
    factor: f64,
    shares: ColourShares,
}

impl Colours {
    pub(super) fn new(scale: &Scale) -> Self {
        let shares = ColourShares::new();
        let Some((low, high)) = scale.ends.filter(|(low, high)| low < high) else {
            return Self { low: 0.0, high: 0.0, width: 1.0, factor: 1.0, shares };
        };
        // If the range exceeds float64, numbers are halved first.
        let factor = if (high - low).is_finite() { 1.0 } else { 0.5 };
        let (low, high) = (low * factor, high * factor);
        Self { low, high, width: high - low, factor, shares }
    }

    #[inline]
    pub(super) fn colour(&mut self, value: f64) -> Rgb {
        self.shares.colour(((value * self.factor).clamp(self.low, self.high) - self.low) / self.width)
    }
}

const LANES: usize = 4;

/// Items per block, which fits the L1 cache.
const BLOCK: usize = 2048;

type ScaleEnds = Option<(End, End)>;

#[derive(Clone, Debug)]
struct End {
    value: f64,
    item: Vec<u8>,
    /// Distinguishes 64-bit integers that round to the same float64.
    exact: Option<i128>,
}

impl End {
    fn new(dtype: &DType, value: f64, item: &[u8]) -> Self {
        Self { value, item: item.to_vec(), exact: long_integer(dtype, item) }
    }

    fn order(&self, other: &Self) -> Ordering {
        let by_value = self.value.partial_cmp(&other.value).expect("finite numbers have an order");
        by_value.then(self.exact.cmp(&other.exact))
    }

    fn text(&self, dtype: &DType) -> String {
        let is_complex = matches!(dtype.kind(), Kind::Complex64 | Kind::Complex128);
        let mut text = Vec::new();
        match is_complex || write_item(&mut text, dtype, &self.item).is_err() {
            true => float(self.value),
            false => String::from_utf8_lossy(&text).into_owned(),
        }
    }
}

pub(super) fn find(job: &Job, dtype: &DType, read: &Load<f64>, progress: Progress<'_>) -> Result<Scale> {
    let sink = Extremes { dtype, read, found: Mutex::new(None) };
    let plan = job.plan(SinkKind::Windows(&job.planner().windows()));
    job.run_all(&plan, &sink, progress)?;
    let found = unlocked(sink.found);
    Ok(match found {
        None => Scale { ends: None, texts: Default::default() },
        Some((low, high)) => Scale { ends: Some((low.value, high.value)), texts: (low.text(dtype), high.text(dtype)) },
    })
}

fn range(numbers: &[f64]) -> Option<(f64, f64)> {
    let (mut lows, mut highs) = ([f64::INFINITY; LANES], [f64::NEG_INFINITY; LANES]);
    let mut widen = |lane: usize, number: f64| {
        let is_finite = number.is_finite();
        let (low, high) =
            (if is_finite { number } else { f64::INFINITY }, if is_finite { number } else { f64::NEG_INFINITY });
        lows[lane] = if low < lows[lane] { low } else { lows[lane] };
        highs[lane] = if high > highs[lane] { high } else { highs[lane] };
    };
    let (chunks, rest) = numbers.as_chunks::<LANES>();
    chunks.iter().for_each(|chunk| (0..LANES).for_each(|lane| widen(lane, chunk[lane])));
    rest.iter().for_each(|&number| widen(0, number));
    let (low, high) =
        (lows.into_iter().fold(f64::INFINITY, f64::min), highs.into_iter().fold(f64::NEG_INFINITY, f64::max));
    (low <= high).then_some((low, high))
}

struct Extremes<'a> {
    dtype: &'a DType,
    read: &'a Load<f64>,
    found: Mutex<ScaleEnds>,
}

impl WindowSink for Extremes<'_> {
    fn put(&self, _: &Region, items: &[u8]) -> Result<()> {
        let size = self.dtype.itemsize();
        let mut numbers = Vec::new();
        for items in items.chunks(BLOCK * size) {
            (self.read)(items, &mut numbers);
            let Some((low, high)) = range(&numbers) else { continue };
            let mut found = locked(&self.found);
            // Hardly any block extends the range.
            if found.as_ref().is_some_and(|(lowest, highest)| low > lowest.value && high < highest.value) {
                continue;
            }
            let exact = |&i: &usize| long_integer(self.dtype, &items[i * size..]);
            let numbers = &numbers[..];
            let at = |value: f64| (0..numbers.len()).filter(move |&i| numbers[i] == value);
            // The last maximum of the reversed items is the first.
            let ends = [at(low).min_by_key(exact), at(high).rev().max_by_key(exact)];
            let [low, high] = ends.map(|end| {
                let i = end.expect("an item has the number");
                End::new(self.dtype, numbers[i], &items[i * size..][..size])
            });
            *found = Some(match found.take() {
                None => (low, high),
                Some((lowest, highest)) => (
                    if low.order(&lowest).is_lt() { low } else { lowest },
                    if high.order(&highest).is_gt() { high } else { highest },
                ),
            });
        }
        Ok(())
    }
}

/// Complex numbers become their modulus. `None` for long doubles and items that are not numbers.
pub(super) fn reader(dtype: &DType) -> Option<Load<f64>> {
    let load = reals(dtype, |value| value)?;
    if !matches!(dtype.kind(), Kind::Complex64 | Kind::Complex128) {
        return Some(load);
    }
    Some(Box::new(move |bytes, out| {
        let has_nan = load(bytes, out);
        for item in 0..out.len() / 2 {
            out[item] = modulus(out[2 * item], out[2 * item + 1]);
        }
        out.truncate(out.len() / 2);
        has_nan
    }))
}

/// NaN if a part is NaN, whereas `hypot` of NaN and infinity is infinity.
fn modulus(re: f64, im: f64) -> f64 {
    if re.is_nan() || im.is_nan() { f64::NAN } else { re.hypot(im) }
}

/// The exact value of a 64-bit integer, which float64 may round to a neighbour.
pub(super) fn long_integer(dtype: &DType, item: &[u8]) -> Option<i128> {
    let word = *item.first_chunk::<8>()?;
    let big = dtype.is_big_endian();
    match dtype.kind() {
        Kind::Int64 => Some(if big { i64::from_be_bytes(word) } else { i64::from_le_bytes(word) }.into()),
        Kind::UInt64 => Some(if big { u64::from_be_bytes(word) } else { u64::from_le_bytes(word) }.into()),
        // float64 holds all other numbers.
        _ => None,
    }
}

pub(crate) type Rgb = [u8; 3];

pub(crate) const NAN: Rgb = [220, 30, 30];
pub(crate) const INFINITY: Rgb = [255, 255, 255];
pub(crate) const MINUS_INFINITY: Rgb = [0, 0, 0];

/// The colour map viridis, at even distances, with interpolation. Its lightness is even, so that it is readable in grey
/// and with colour blindness.
const STOPS: [Rgb; 11] = [
    [68, 1, 84],
    [72, 36, 117],
    [65, 68, 135],
    [53, 95, 141],
    [42, 120, 142],
    [33, 145, 140],
    [34, 168, 132],
    [68, 191, 112],
    [122, 209, 81],
    [189, 223, 38],
    [253, 231, 37],
];

pub(crate) fn viridis(share: f64) -> Rgb {
    let (before, weight) = place(share);
    let between = |low: u8, high: u8| {
        let (low, high) = (f64::from(low), f64::from(high));
        nearest(low + (high - low) * weight)
    };
    let (low, high) = (STOPS[before], STOPS[before + 1]);
    [between(low[0], high[0]), between(low[1], high[1]), between(low[2], high[2])]
}

/// Bins of [`ColourShares`], except the bin of share 1. A power of two keeps their ends exact. About one bin in 25 has
/// several colours.
const BINS: usize = 1 << 14;

/// A faster [`viridis`]: caches the colour of each bin that has only one.
pub(crate) struct ColourShares {
    bins: Vec<ColourBin>,
}

#[derive(Clone, Copy)]
enum ColourBin {
    Unknown,
    One(Rgb),
    Several,
}

impl ColourShares {
    pub(crate) fn new() -> Self {
        Self { bins: vec![ColourBin::Unknown; BINS + 1] }
    }

    #[inline]
    pub(crate) fn colour(&mut self, share: f64) -> Rgb {
        let number = ((share * BINS as f64) as usize).min(BINS);
        match self.bins[number] {
            ColourBin::One(colour) => colour,
            ColourBin::Several => viridis(share),
            ColourBin::Unknown => {
                self.bins[number] = ColourBin::of(number);
                viridis(share)
            }
        }
    }
}

impl ColourBin {
    /// Channels are monotonic between stops, so a bin without a stop has one colour if its ends do.
    fn of(number: usize) -> Self {
        let first = number as f64 / BINS as f64;
        let last = ((number + 1) as f64 / BINS as f64).next_down().min(1.0);
        let colour = viridis(first);
        match viridis(last) == colour && place(first).0 == place(last).0 {
            true => Self::One(colour),
            false => Self::Several,
        }
    }
}

/// The stop at or before a share, never the last, and the fraction to the next.
fn place(share: f64) -> (usize, f64) {
    let last = STOPS.len() - 1;
    let at = share.clamp(0.0, 1.0) * last as f64;
    let before = (at as usize).min(last - 1);
    (before, at - before as f64)
}

/// Equals `f64::round`, which is a function call on CPUs without the instruction.
pub(crate) fn nearest(number: f64) -> u8 {
    let below = number as u8;
    below.saturating_add((number - f64::from(below) >= 0.5).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_have_the_colours_of_their_shares() {
        let mut shares = ColourShares::new();
        let ends = (0..=BINS).map(|bin| bin as f64 / BINS as f64);
        let stops = (0..STOPS.len()).map(|stop| stop as f64 / (STOPS.len() - 1) as f64);
        let beside = ends.chain(stops).flat_map(|share| [share, share.next_down(), share.next_up()]);
        let steps = 1_000_003;
        let all = beside.chain((0..=steps).map(|step| f64::from(step) / f64::from(steps)));
        let all: Vec<f64> = all.map(|share| share.clamp(0.0, 1.0)).collect();
        // The first visit fills a bin, the second reads it.
        for share in all.iter().chain(all.iter().rev()) {
            assert_eq!(shares.colour(*share), viridis(*share), "{share:e}");
        }
        let several = shares.bins.iter().filter(|bin| matches!(bin, ColourBin::Several)).count();
        assert!(several < BINS / 16, "{several}");
    }

    #[test]
    fn from_dark_to_light() {
        let rows = [
            (0.0, [68, 1, 84]),
            (0.05, [70, 19, 101]),
            (0.5, [33, 145, 140]),
            (1.0, [253, 231, 37]),
            (-1.0, [68, 1, 84]),
            (2.0, [253, 231, 37]),
        ];
        for (share, colour) in rows {
            assert_eq!(viridis(share), colour, "{share}");
        }
        let light = |share: f64| {
            let [red, green, blue] = viridis(share).map(f64::from);
            0.2126 * red + 0.7152 * green + 0.0722 * blue
        };
        assert!((0..20).all(|step| light(f64::from(step) / 20.0) < light(f64::from(step + 1) / 20.0)));
    }
}
