//! Maps numbers to colours.

use std::cmp::Ordering;
use std::sync::Mutex;

use super::viridis::{ColourShares, INFINITY, MINUS_INFINITY, NAN, Rgb};
use crate::engine::job::{Job, Progress};
use crate::engine::plan::SinkKind;
use crate::engine::sink::WindowSink;
use crate::error::Result;
use crate::item::dtype::{DType, Kind};
use crate::item::load::{Load, reals};
use crate::item::print::{float, write_item};
use crate::ops::fill::Region;
use crate::parallel::{locked, unlocked};

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
