//! Two tensors compared: how many elements differ, how far, and which tolerance they would need.
//!
//! An element passes if its bits are equal, or both are NaN, or a tolerance that is given accepts it. Whatever the
//! tolerances, [`Difference`] says what the largest errors are and what would have been accepted.
//!
//! ```
//! use tensorop::diff::{self, Options};
//! use tensorop::{DType, Tensor};
//!
//! let tensor = |items: [f32; 3]| {
//!     let bytes = items.iter().flat_map(|item| item.to_le_bytes()).collect();
//!     Tensor::new(DType::parse("float32").unwrap(), vec![3], bytes).unwrap()
//! };
//! let found = diff::compare(&tensor([1.0, 2.0, 4.0]), &tensor([1.0, 2.5, 4.0]), &Options::default())?;
//! assert!(!found.equal());
//! assert_eq!(found.verdict(), "different: 1 of 3 items (33.3 %) of float32 [3]");
//! assert_eq!((found.min_atol(), found.min_rtol()), (Some(0.5), Some(0.25)));
//! let tolerant = Options { rtol: Some(0.25), ..Options::default() };
//! assert!(diff::compare(&tensor([1.0, 2.0, 4.0]), &tensor([1.0, 2.5, 4.0]), &tolerant)?.equal());
//! # Ok::<(), tensorop::Error>(())
//! ```

mod difference;
mod distance;
mod found;
mod item;
#[cfg(feature = "cli")]
pub(crate) mod judge;
mod metrics;
#[doc(hidden)]
pub mod models;
mod places;
mod reading;
mod report;
mod steps;
mod sums;
mod tally;
#[cfg(test)]
mod tests;
mod worst;

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{Advice, Context, Error, ErrorKind, Result, bail};

pub use self::difference::{Difference, Extreme, Mismatch, Outline, Reason};
use self::distance::Distance;
pub use self::distance::Number;
use self::found::FoundMismatch;
use self::item::{ComparedItem, ItemClass, Task};
pub use self::metrics::{Allowed, Failure, MetricLimits, Metrics};
pub use self::places::AxisPlaces;
use self::places::{Places, Runs};
use self::reading::{Common, Reading};
use self::sums::{Cuts, Summing, Sums, Variety};
use self::tally::{ItemPairs, Marks, Most, Rule, Tally, pairs_of};
use crate::engine::job::Progress;
use crate::engine::quantiles::{Counts, Fraction, Search};
use crate::engine::scan::{same_bytes, scan, scan_some};
use crate::item::dtype::DType;
use crate::item::meta::Order;
use crate::item::print;
use crate::item::tensor::Tensor;
use crate::layout::shape::coordinates;
use crate::memory;
use crate::ops::fill::Limits;
pub use crate::report::Style;
use crate::report::json;
use crate::storage::source::Source;

/// Items are made others, and all is asked of them, so many at a time. They stay in a core's cache (16 KiB of complex128
/// on either side), where a window, widened whole, would be written to memory and read back.
const PART: usize = 1024;

/// Of more items than this, quantiles are guessed from a sample. Of fewer, one more pass takes less time than the sample.
const SAMPLED: usize = 1 << 21;

/// Items that a sample holds at least, about; no more than twice as many.
const SAMPLE: usize = 1 << 20;

/// Bytes of a piece of a sample, a page: less is not read faster. Pieces are many, since neighbours are often alike.
const PIECE: usize = 1 << 12;

/// When elements pass, and what is told of those that do not.
#[derive(Clone, Debug)]
pub struct Options {
    /// The absolute tolerance: `|actual - expected| <= atol + rtol * |expected|`; 0 where only `rtol` is given.
    pub atol: Option<f64>,
    /// The relative tolerance; 0 where only `atol` is given.
    pub rtol: Option<f64>,
    /// How many steps from value to neighbouring value are accepted.
    pub ulp: Option<u64>,
    /// How many mismatches are told one by one, the first in C order.
    pub shown: usize,
    /// How many mismatches are told in place of the first: those with the largest errors, NaN and infinity before all.
    pub worst: Option<usize>,
    /// How many mismatches there may be; `None` for none.
    pub allowed: Option<Allowed>,
    /// What metrics must be. If there is any such limit, items need pass only if a tolerance or `allowed` is given, too;
    /// but an item that is not finite on either side must be the same on both.
    pub limits: MetricLimits,
    /// Whether two NaN of other bits differ; those of two dtypes have no bits in common.
    pub nan_differs: bool,
    /// Whether tensors of two dtypes are compared by their values, as integers if both are, else as float64, or as
    /// complex128 if either is complex; strings as text.
    pub ignore_dtype: bool,
}

impl Default for Options {
    /// No tolerance; the first five mismatches are told.
    fn default() -> Self {
        Self {
            atol: None,
            rtol: None,
            ulp: None,
            shown: 5,
            worst: None,
            allowed: None,
            limits: MetricLimits::default(),
            nan_differs: false,
            ignore_dtype: false,
        }
    }
}

impl Options {
    /// Whether all items must pass, but for those allowed to fail.
    fn asks_items(&self) -> bool {
        let tolerance = self.atol.is_some() || self.rtol.is_some() || self.ulp.is_some();
        !self.limits.any() || tolerance || self.allowed.is_some()
    }

    /// Whether so many of so many items may fail.
    fn allows(&self, mismatches: usize, items: usize) -> bool {
        self.allowed.map_or(mismatches == 0, |allowed| allowed.accepts(mismatches, items))
    }
}

/// How much a comparison of sources does at once, and how far it goes. Not for the library's users: what they compare
/// is in memory, and compared to the end.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Effort {
    /// What the comparison may use.
    pub limits: Limits,
    /// Whether only the verdict is wanted: what decides it ends it, and nothing is told of it.
    pub verdict_only: bool,
    /// Whether quantiles are wanted, for which tensors may be read again.
    pub quantiles: bool,
}

/// The shares of all items that [`Difference::quantiles`] are of.
pub const QUANTILES: [&str; 4] = ["0.5", "0.9", "0.99", "0.999"];
const FRACTIONS: [Fraction; 4] =
    [Fraction::new(1, 2), Fraction::new(9, 10), Fraction::new(99, 100), Fraction::new(999, 1000)];

/// Compares two tensors, element by element. Their byte order is no difference.
///
/// # Errors
/// A tolerance below zero; one in steps for tensors of two dtypes; more than there is memory for, which takes a copy
/// of both tensors.
pub fn compare(expected: &Tensor, actual: &Tensor, options: &Options) -> Result<Difference> {
    let source = |tensor: &Tensor, name: &str| {
        Ok::<_, Error>(Source::memory(tensor.try_clone().context(name)?, name.to_owned()))
    };
    let (mut expected, mut actual) = (source(expected, "expected")?, source(actual, "actual")?);
    let effort = Effort { quantiles: true, ..Effort::default() };
    compare_sources(&mut expected, &mut actual, options, effort, &|_| {})
}

/// Compares two tensors wherever they lie, window by window. Byte order and order (C or Fortran) are no difference.
/// `progress` hears of the bytes that are done.
///
/// # Errors
/// Those of [`compare`], and those of reading.
#[doc(hidden)]
pub fn compare_sources(
    expected: &mut Source,
    actual: &mut Source,
    options: &Options,
    effort: Effort,
    progress: Progress<'_>,
) -> Result<Difference> {
    let refused = |message: String| Error::of(ErrorKind::Argument, message).advising(Advice::ChangeOption);
    for (name, tolerance) in [("atol", options.atol), ("rtol", options.rtol)] {
        if let Some(tolerance) = tolerance.filter(|tolerance| tolerance.is_nan() || *tolerance < 0.0) {
            return Err(refused(format!("{name} {tolerance}, expected a number that is not negative")));
        }
    }
    let (one, other) = (expected.dtype().native(), actual.dtype().native());
    if options.ulp.is_some() && options.ignore_dtype && one != other {
        return Err(refused(format!("ulp needs tensors of one dtype: {} and {}", one.name(), other.name())));
    }
    let outlines = (Outline::new(&one, expected.shape()), Outline::new(&other, actual.shape()));
    let items = expected.shape().iter().product();
    let unknown = |reason| Difference {
        reason: Some(reason),
        expected: outlines.0.clone(),
        actual: outlines.1.clone(),
        items,
        differing: None,
        mismatches: None,
        max_abs: None,
        max_rel: None,
        max_ulp: None,
        min_atol: None,
        min_rtol: None,
        min_ulp: None,
        first: Vec::new(),
        worst: options.worst.map(|_| Vec::new()),
        metrics: None,
        quantiles: None,
        axes: Vec::new(),
        failures: Vec::new(),
        integers: false,
        hopeless: false,
        unlike: false,
    };
    let Some(common) = Common::new(&one, &other).filter(|_| options.ignore_dtype || one == other) else {
        return Ok(unknown(Reason::Dtype));
    };
    if expected.shape() != actual.shape() {
        return Ok(unknown(Reason::Shape));
    }
    let comparison = Comparison {
        expected,
        actual,
        rule: Rule {
            shown: if effort.verdict_only || options.worst.is_some() { 0 } else { options.shown },
            worst: if effort.verdict_only { 0 } else { options.worst.unwrap_or(0) },
            ..Rule::new(options)
        },
        options,
        effort,
        progress,
        dtypes: [&one, &other],
        start: unknown(Reason::Values),
    };
    match common {
        Common::Numbers(reading) => reading.compared.with(Numbers(comparison, &reading)),
        Common::Bytes => comparison.opaque(|expected, actual| expected == actual),
        Common::Text(wide) => comparison.opaque(|expected, actual| same_text(wide, expected, actual)),
    }
}

/// Whether two items of strings are the same text.
fn same_text(wide: [bool; 2], expected: &[u8], actual: &[u8]) -> bool {
    let points = |bytes, wide| trimmed(code_points(bytes, wide));
    points(expected, wide[0]).eq(points(actual, wide[1]))
}

/// Writes the object of a tensor that nothing was expected of.
///
/// # Errors
/// What `out` says.
#[doc(hidden)]
pub fn write_json_of_new(out: &mut dyn io::Write, actual: &Source) -> io::Result<()> {
    let actual = Outline::new(actual.dtype(), actual.shape());
    writeln!(out, "{}", json::object(Difference::of_one_side(None, Some(&actual))))
}

/// The code points of an item of strings.
fn code_points(bytes: &[u8], wide: bool) -> impl DoubleEndedIterator<Item = u32> + Clone {
    let (points, bytes) = if wide { (bytes.as_chunks::<4>().0, &[][..]) } else { (&[][..], bytes) };
    points.iter().map(|&point| u32::from_le_bytes(point)).chain(bytes.iter().map(|&byte| byte.into()))
}

/// Without the NULs at the end.
fn trimmed(points: impl DoubleEndedIterator<Item = u32> + Clone) -> impl Iterator<Item = u32> {
    let len = points.clone().rev().skip_while(|&point| point == 0).count();
    points.take(len)
}

/// Two tensors of one shape, and all that is needed to compare them.
struct Comparison<'a> {
    expected: &'a mut Source,
    actual: &'a mut Source,
    rule: Rule,
    options: &'a Options,
    effort: Effort,
    progress: Progress<'a>,
    dtypes: [&'a DType; 2],
    start: Difference,
}

/// Compares numbers.
struct Numbers<'a>(Comparison<'a>, &'a Reading);

impl Task for Numbers<'_> {
    type Output = Result<Difference>;

    fn run<T: ComparedItem + 'static>(self) -> Self::Output {
        self.0.numbers::<T>(self.1)
    }
}

/// What a thread knows of the windows it has seen.
struct Seen<T: ComparedItem> {
    tally: Tally<T::Distance>,
    summing: Summing<T>,
    variety: Variety<T>,
    /// Of each window the places of the first axis, with the number of its first item.
    runs: Vec<(usize, Runs)>,
    /// Equal windows that nothing was summed of.
    skipped: Vec<usize>,
    /// Items widened to the type that they are compared as.
    widened: [Vec<u8>; 2],
    /// What is known of quantiles, and keys on their way there.
    counts: Option<Counts>,
    keys: Vec<u64>,
}

impl<T: ComparedItem> Default for Seen<T> {
    fn default() -> Self {
        Self {
            tally: Tally::default(),
            summing: Summing::default(),
            variety: Variety::default(),
            runs: Vec::new(),
            skipped: Vec::new(),
            widened: Default::default(),
            counts: None,
            keys: Vec::new(),
        }
    }
}

/// Makes `keys` those of the distances of some items; what does not count comes behind all that do.
fn keys_of<T: ComparedItem>(keys: &mut Vec<u64>, (expected, actual): (&[u8], &[u8])) {
    let pairs = || pairs_of::<T>(expected, actual);
    keys.resize(expected.len() / T::SIZE, 0);
    // two loops, each of which is vectorised; one that decides for each item is not
    keys.iter_mut().zip(pairs()).for_each(|(key, (expected, actual))| *key = expected.distance(actual).key());
    let is_finite = |(expected, actual): (T, T)| expected.is_finite() & actual.is_finite();
    if !pairs().fold(true, |all, pair| all & is_finite(pair)) {
        keys.iter_mut().zip(pairs()).filter(|(_, pair)| !is_finite(*pair)).for_each(|(key, _)| *key = left_out::<T>());
    }
}

/// The key of what does not count.
fn left_out<T: ComparedItem>() -> u64 {
    u64::MAX >> (u64::BITS - T::Distance::BITS)
}

impl<T: ComparedItem> Seen<T> {
    /// Sums some items, and takes their distances for quantiles.
    ///
    /// # Errors
    /// No memory.
    fn sum(
        &mut self,
        window: (usize, usize),
        items: (&[u8], &[u8]),
        cuts: &Cuts,
        search: Option<&Search>,
    ) -> Result<()> {
        let Self { summing, counts, keys, .. } = self;
        let count = |items: (&[u8], &[u8]), errors: Option<&[f64]>| {
            let Some(search) = search else { return };
            match errors.filter(|_| T::CLASS == ItemClass::Float) {
                // an error is a distance, but for its sign
                Some(errors) => {
                    keys.clear();
                    keys.extend(errors.iter().map(|error| error.abs().key()));
                }
                None => keys_of::<T>(keys, items),
            }
            search.count(counts.get_or_insert_with(|| search.begin()), keys);
        };
        summing.window(window, items, cuts, count).map_err(Error::memory)
    }

    /// Takes items for [`Variety`], of which `expected` are the bytes.
    fn vary(&mut self, reading: &Reading, expected: &[u8], width: usize) {
        // nothing new in one item again and again, which is seen by comparing all with those before them
        let is_one_item = expected.len() > width && expected[width..] == expected[..expected.len() - width];
        let expected = if is_one_item { &expected[..width] } else { expected };
        for items in expected.chunks(PART * width) {
            if self.variety.varies {
                return;
            }
            match &reading.widen {
                None => self.variety.see(items),
                Some([widen, _]) => {
                    widen(items, &mut self.widened[0]);
                    self.variety.see(&self.widened[0]);
                }
            }
        }
    }

    /// The metrics of equal tensors, of which some windows may have been summed before that was known.
    fn equal_metrics(&self) -> Metrics {
        let mut variety = self.variety;
        for end in self.summing.sums.ends[0].into_iter().flat_map(|(low, high)| [low, high]) {
            variety.merge(Variety { first: Some(end), varies: false });
        }
        Metrics::of_equal::<T>(variety.first.is_some() || self.summing.sums.count > 0, variety.varies)
    }
}

/// What is known of two tensors beside their tally.
#[derive(Default)]
struct Overall {
    metrics: Option<Metrics>,
    quantiles: Option<[Option<Number>; 4]>,
    axes: Vec<AxisPlaces>,
}

impl Comparison<'_> {
    /// Compares numbers.
    fn numbers<T: ComparedItem>(mut self, reading: &Reading) -> Result<Difference> {
        let widths = self.dtypes.map(DType::itemsize);
        let total = self.start.items;
        let wants_metrics = self.wants_metrics();
        // what comes once cannot be looked at again, and of two dtypes no bytes are equal
        let once = self.expected.is_stream() || self.actual.is_stream();
        let (differs, cuts) = (AtomicBool::new(once || !reading.is_one_dtype), Cuts::default());
        let places = self.places();
        let equal = self.are_equal_as_stored()?;
        let search = self.effort.quantiles.then(|| self.search::<T>(reading)).transpose()?;
        let (rule, options, verdict_only) = (self.rule, self.options, self.effort.verdict_only);
        let sum =
            |seen: &mut Seen<T>, start, items: (&[u8], &[u8])| seen.sum((start, total), items, &cuts, search.as_ref());
        let each = |seen: &mut Seen<T>, start: usize, [expected, actual]: [&[u8]; 2]| {
            let window = ItemPairs { start, expected, actual };
            let mut marks = Marks { places: places.as_ref(), runs: Runs::default() };
            let is_equal = reading.is_one_dtype && expected == actual;
            let is_skipped = is_equal && !differs.load(Ordering::Relaxed);
            let sums = wants_metrics && !is_skipped;
            if !is_skipped {
                differs.store(true, Ordering::Relaxed);
            }
            for part in window.chunks(PART, widths) {
                let is_settled = is_equal && seen.tally.is_settled();
                if is_settled && !sums {
                    break;
                }
                let mut widened = std::mem::take(&mut seen.widened);
                let items = reading.widened((part.expected, part.actual), &mut widened);
                if !is_settled {
                    seen.tally.window::<T>(&rule, reading, part, items, &mut marks);
                }
                if sums {
                    sum(seen, part.start, items)?;
                }
                seen.widened = widened;
            }
            if wants_metrics && is_skipped {
                seen.vary(reading, expected, widths[0]);
                seen.skipped.push(start);
            }
            if let Marks { runs, places: Some(_) } = marks
                && !runs.is_empty()
            {
                seen.runs.push((start, runs));
            }
            let tally = &mut seen.tally;
            if let Some(message) = tally.too_much.take() {
                bail!("mismatches to be told: {message}");
            }
            // of equal tensors all that is left to be known is which items are the first that can be compared
            let known = equal && tally.is_settled() && (seen.variety.varies || !wants_metrics);
            let enough = known || verdict_only && decided(options, tally, total);
            Ok(!enough)
        };
        let mut seen = self.scan(&each)?;
        let mut all = Seen::default();
        let mut skipped: Vec<usize> = seen.iter_mut().flat_map(|seen| std::mem::take(&mut seen.skipped)).collect();
        let mut counts: Vec<Counts> = seen.iter_mut().filter_map(|seen| seen.counts.take()).collect();
        merge(&mut all, seen, &rule)?;
        let mut overall = Overall::default();
        if let Some(places) = &places {
            overall.axes = places.found(std::mem::take(&mut all.runs));
        }
        let enough = verdict_only && decided(options, &all.tally, total);
        if wants_metrics && !enough {
            let same = all.tally.differing == 0;
            if !same && !skipped.is_empty() {
                skipped.sort_unstable();
                let wanted = |start: usize| skipped.binary_search(&start).is_ok();
                let each = |seen: &mut Seen<T>, start: usize, [expected, actual]: [&[u8]; 2]| {
                    for part in (ItemPairs { start, expected, actual }).chunks(PART, widths) {
                        let mut widened = std::mem::take(&mut seen.widened);
                        sum(seen, part.start, reading.widened((part.expected, part.actual), &mut widened))?;
                        seen.widened = widened;
                    }
                    Ok(true)
                };
                let sources = [&mut *self.expected, &mut *self.actual];
                let later = scan_some(sources, self.effort.limits, &|_| {}, wanted, Seen::default, each)?;
                for seen in later {
                    all.summing.sums.merge(seen.summing.sums);
                    counts.extend(seen.counts);
                }
            }
            overall.metrics = Some(match same {
                // those that were summed before it was known are equal, too
                true => all.equal_metrics(),
                false => Metrics::of_sums(&all.summing.sums),
            });
        }
        if let Some(search) = search.filter(|_| !enough) {
            overall.quantiles = Some(self.quantiles(&all, (search, counts), reading)?);
        }
        Ok(self.finish(all.tally, overall, reading.integers, reading.is_one_dtype))
    }

    /// Compares what is no number.
    fn opaque(mut self, same: impl Fn(&[u8], &[u8]) -> bool + Sync) -> Result<Difference> {
        let widths = self.dtypes.map(DType::itemsize);
        let widest = widths[0].max(widths[1]);
        let (places, total) = (self.places(), self.start.items);
        let (rule, options, verdict_only) = (self.rule, self.options, self.effort.verdict_only);
        // of no number there is a distance, nor a sum: any type of number will do
        let each = |seen: &mut Seen<u64>, start: usize, [expected, actual]: [&[u8]; 2]| {
            let window = ItemPairs { start, expected, actual };
            let longer = expected.len().max(actual.len());
            let mut marks = Marks { places: places.as_ref(), runs: Runs::default() };
            if widths[0] != widths[1] || expected != actual {
                seen.tally.opaque(&rule, window, longer / widest.max(1), &same, &mut marks);
            }
            if !marks.runs.is_empty() {
                seen.runs.push((start, marks.runs));
            }
            if let Some(message) = seen.tally.too_much.take() {
                bail!("mismatches to be told: {message}");
            }
            Ok(!(verdict_only && decided(options, &seen.tally, total)))
        };
        let seen = self.scan(&each)?;
        let mut all = Seen::default();
        merge(&mut all, seen, &rule)?;
        let axes = places.as_ref().map_or_else(Vec::new, |places| places.found(std::mem::take(&mut all.runs)));
        let metrics = self.wants_metrics().then(Metrics::default);
        let quantiles = self.effort.quantiles.then_some([None; 4]);
        let steps = self.dtypes[0] == self.dtypes[1];
        let found = self.finish(all.tally, Overall { metrics, quantiles, axes }, true, steps);
        Ok(Difference { hopeless: false, ..found })
    }

    /// Whether metrics are told, or limited.
    fn wants_metrics(&self) -> bool {
        !self.effort.verdict_only || self.options.limits.any()
    }

    /// Where mismatches are marked, if that is told.
    fn places(&self) -> Option<Places> {
        (!self.effort.verdict_only).then(|| Places::new(&self.start.expected.shape))
    }

    /// Shows all windows of both tensors to `each`.
    fn scan<T: ComparedItem>(
        &mut self,
        each: &(impl Fn(&mut Seen<T>, usize, [&[u8]; 2]) -> Result<bool> + Sync),
    ) -> Result<Vec<Seen<T>>> {
        if self.dtypes.iter().all(|dtype| dtype.itemsize() == 0) {
            // there may be more of them than can be counted one by one
            self.expected.finish()?;
            self.actual.finish()?;
            return Ok(Vec::new());
        }
        let sources = [&mut *self.expected, &mut *self.actual];
        scan(sources, self.effort.limits, self.progress, Seen::default, each)
    }

    /// The search for quantiles, with a sample if one can be taken at little cost: whether a piece of it is read depends
    /// on its place alone, but not on anything that could be regular in a tensor.
    fn search<T: ComparedItem>(&mut self, reading: &Reading) -> Result<Search> {
        let items = self.start.items;
        let is_plain = |source: &Source| source.is_read_by_position() && source.view().is_forward();
        if items < SAMPLED || !is_plain(self.expected) || !is_plain(self.actual) {
            return Ok(Search::new(T::Distance::BITS, &FRACTIONS, items));
        }
        let one_of = items / SAMPLE;
        let limits =
            Limits { window: Some(self.effort.limits.window.unwrap_or(PIECE).min(PIECE)), ..self.effort.limits };
        let wanted = |start: usize| mixed(start as u64).is_multiple_of(one_of as u64);
        let pieces = self.each_key::<T, _>(reading, limits, wanted, Vec::new, |sample: &mut Vec<u64>, keys| {
            sample.extend(keys.iter().filter(|&&key| key != left_out::<T>()));
        })?;
        Ok(Search::sampled(T::Distance::BITS, &FRACTIONS, items, &mut pieces.concat()))
    }

    /// Shows the keys of the distances of some windows' items to `each`.
    fn each_key<T: ComparedItem, S: Send>(
        &mut self,
        reading: &Reading,
        limits: Limits,
        wanted: impl Fn(usize) -> bool + Sync,
        begin: impl Fn() -> S + Sync,
        each: impl Fn(&mut S, &[u64]) + Sync,
    ) -> Result<Vec<S>> {
        let widths = self.dtypes.map(DType::itemsize);
        let sources = [&mut *self.expected, &mut *self.actual];
        let begin = || (begin(), Vec::new(), [Vec::new(), Vec::new()]);
        let states = scan_some(sources, limits, &|_| {}, wanted, begin, |state, start, [expected, actual]| {
            let (state, keys, widened) = state;
            for part in (ItemPairs { start, expected, actual }).chunks(PART, widths) {
                keys_of::<T>(keys, reading.widened((part.expected, part.actual), widened));
                each(state, keys);
            }
            Ok(true)
        })?;
        Ok(states.into_iter().map(|(state, ..)| state).collect())
    }

    /// The quantiles of the distances of all items that are finite on both sides: what is not known after the first pass
    /// is found in more passes over both tensors, but where all that is asked for are zeros.
    fn quantiles<T: ComparedItem>(
        &mut self,
        all: &Seen<T>,
        (mut search, mut counts): (Search, Vec<Counts>),
        reading: &Reading,
    ) -> Result<[Option<Number>; 4]> {
        let of_key = |key: u64| Some(T::Distance::of_key(key).told(reading.integers));
        if all.tally.differing == 0 {
            let zero = all.tally.max_abs.map(|most| most.value.number().told(reading.integers));
            return Ok([zero; 4]);
        }
        let Sums { count, zeros, .. } = all.summing.sums;
        if count == 0 {
            return Ok([None; 4]);
        }
        if FRACTIONS.iter().all(|fraction| fraction.rank(count) <= zeros) {
            return Ok([of_key(T::Distance::ZERO.key()); 4]);
        }
        loop {
            search.narrow(counts, count);
            if let Some(found) = search.found() {
                return Ok(std::array::from_fn(|n| found.get(n).and_then(|&key| of_key(key))));
            }
            let limits = self.effort.limits;
            counts = self.each_key::<T, _>(
                reading,
                limits,
                |_| true,
                || search.begin(),
                |counts, keys| {
                    search.count(counts, keys);
                },
            )?;
        }
    }

    /// Whether both tensors are stored in one order that is not C order, and are the same bytes: to see that takes no more
    /// than to read them, where to compare them in C order transposes both.
    fn are_equal_as_stored(&self) -> Result<bool> {
        let metas = [self.expected.meta(), self.actual.meta()];
        let across = metas[0] == metas[1] && metas[0].order == Order::Fortran && !metas[0].view().is_forward();
        let files = self.expected.is_read_by_position() && self.actual.is_read_by_position();
        Ok(across && files && same_bytes(self.expected, self.actual, self.effort.limits, self.progress)?)
    }

    /// What a tally says. `steps` tells whether a distance in steps has a meaning.
    fn finish<D: Distance>(self, tally: Tally<D>, overall: Overall, integers: bool, steps: bool) -> Difference {
        let start = self.start;
        let failures = match &overall.metrics {
            // of items that are all the same no limit is asked
            Some(metrics) if tally.differing > 0 => self.options.limits.failures(metrics),
            Some(_) | None => Vec::new(),
        };
        let unlike = self.options.limits.any() && tally.hopeless;
        let fails = self.options.asks_items() && !self.options.allows(tally.mismatches, start.items);
        let passes = !fails && !unlike && failures.is_empty();
        if self.effort.verdict_only && !passes {
            return start; // how much was seen before it ended is left to chance
        }
        let shape = start.expected.shape.clone();
        let extreme = |item| coordinates(item, &shape);
        // all that differ contribute to the maxima, and all others nothing
        let none = tally.differing == 0;
        let hope = !tally.hopeless;
        let max_abs = tally.max_abs.map(|Most { value, item }| (value, extreme(item)));
        let min_atol = max_abs.as_ref().map_or(0.0, |(value, _)| value.up());
        let told = |found: &FoundMismatch| Mismatch {
            index: extreme(found.item),
            expected: text(self.dtypes[0], &found.expected),
            actual: text(self.dtypes[1], &found.actual),
            abs: found.errors.map(|errors| errors.abs.told(integers)),
            rel: found.errors.and_then(|errors| errors.rel),
            ulp: found.errors.filter(|_| steps).map(|errors| errors.ulp),
        };
        Difference {
            reason: (!passes).then_some(Reason::Values),
            differing: Some(tally.differing),
            mismatches: Some(tally.mismatches),
            max_abs: max_abs.map(|(value, index)| Extreme { value: value.number().told(integers), index }),
            max_rel: tally.max_rel.map(|Most { value, item }| Extreme { value, index: extreme(item) }),
            max_ulp: tally.max_ulp.map(|Most { value, item }| Extreme { value, index: extreme(item) }),
            min_atol: (none || hope && min_atol.is_finite()).then_some(if none { 0.0 } else { min_atol }),
            min_rtol: (none || hope && tally.rtol.is_finite()).then_some(tally.rtol),
            min_ulp: (steps && (none || hope)).then_some(if none {
                0
            } else {
                tally.max_ulp.map_or(0, |most| most.value)
            }),
            first: tally.first.iter().map(told).collect(),
            worst: self.options.worst.map(|_| tally.worst.iter().map(told).collect()),
            metrics: overall.metrics,
            quantiles: overall.quantiles,
            axes: overall.axes,
            failures,
            integers,
            hopeless: tally.hopeless,
            unlike,
            ..start
        }
    }
}

/// A number that looks random, the same each time.
fn mixed(number: u64) -> u64 {
    let mixed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ mixed >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93) >> 32
}

/// Whether what has been seen of two tensors of so many items shows that they do not pass.
fn decided<D>(options: &Options, tally: &Tally<D>, items: usize) -> bool {
    let unlike = options.limits.any() && tally.hopeless;
    unlike || options.asks_items() && !options.allows(tally.mismatches, items)
}

/// Puts together what threads have seen.
///
/// # Errors
/// Mismatches that there is no memory for.
fn merge<T: ComparedItem>(all: &mut Seen<T>, seen: Vec<Seen<T>>, rule: &Rule) -> Result<()> {
    for one in seen {
        all.tally.merge(one.tally, rule);
        all.summing.sums.merge(one.summing.sums);
        all.variety.merge(one.variety);
        all.runs.extend(one.runs);
    }
    // what is told of each, as texts
    let told = all.tally.first.iter().chain(all.tally.worst.iter());
    let texts: usize = told.map(|found| 512 + 6 * (found.expected.len() + found.actual.len())).sum();
    match all.tally.too_much.take().or_else(|| memory::of::<u8>(texts).err()) {
        Some(message) => bail!("mismatches to be told: {message}"),
        None => Ok(()),
    }
}

/// An item as tensor JSON has it; as a string of its bytes in hexadecimal digits where that has none.
fn text(dtype: &DType, item: &[u8]) -> String {
    let mut out = Vec::new();
    if print::write_item(&mut out, dtype, item).is_ok() {
        return String::from_utf8_lossy(&out).into_owned();
    }
    let digits: String = item.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("\"{digits}\"")
}
