//! The comparison of two tensors, from their sources to a [`Difference`].

use std::sync::atomic::{AtomicBool, Ordering};

use super::findings::difference::{Difference, Extreme, Findings, Mismatch, Outline, Reason};
use super::findings::metadata::{DifferingNames, differing_of_files, differing_of_tensors};
use super::findings::places::{AxisMarks, AxisPlaces, FirstAxisRuns, FoundMismatch, WindowMarks};
use super::findings::tally::{DifferenceTally, NumberPairs, NumberRule, StoredItems};
use super::numbers::distance::{Number, PairRule};
use super::numbers::item::ItemClass;
use super::numbers::kernel::Rows;
use super::numbers::reading::{Comparability, ConvertedItems, NumberReading};
use super::numbers::sums::{BlockErrors, BlockScratch, BlockSummer, MetricSums, Metrics, PartialBlock, PartialBlocks};
use super::numbers::walk::{ActualAxes, Walk};
use super::options::{Effort, Options};
use crate::plans::job::Progress;
use crate::plans::plan::{Plan, WindowOrder};
use crate::plans::quantiles::{PassCounts, Search};
use crate::plans::scan::{PlannedScan, ScannedBox, same_bytes, settled};
use crate::report::hexadecimal;
use crate::storage::source::{Hold, Source};
use tensorop_kernels::error::{Advice, Error, ErrorKind, Result, bail};
use tensorop_kernels::item::dtype::{DType, Kind};
use tensorop_kernels::item::first::Numbered;
use tensorop_kernels::item::meta::Order;
use tensorop_kernels::item::print;
use tensorop_kernels::layout::axis::coordinates;
use tensorop_kernels::memory;

/// Equal windows are read again for the metrics if a later window differs.
pub(super) const PASSES: usize = 2;

/// The items of equal tensors that are looked at before the others.
const FEW: usize = 8;

pub(super) fn compare_values(
    expected: &mut Source,
    actual: &mut Source,
    options: &Options,
    effort: Effort,
    progress: Progress<'_>,
) -> Result<Difference> {
    let BegunComparison { mut difference, how, axes } =
        BegunComparison::new(expected, actual, options, effort.of_files)?;
    let Some(how) = how else { return Ok(difference) };
    let (one, other) = (expected.dtype().native(), actual.dtype().native());
    let shape = expected.shape().to_vec();
    let comparison = Comparison {
        rule: PairRule::new(options),
        effort,
        progress,
        items: difference.items,
        widths: [one.itemsize(), other.itemsize()],
        axes,
        plan: None,
        expected,
        actual,
    };
    let overall = match &how {
        Comparability::Numbers(reading) => comparison.numbers(reading)?,
        Comparability::Bytes | Comparability::Text { .. } => comparison.opaque(&how)?,
    };
    // Metric limits do not apply to equal tensors.
    let is_limited = overall.tally.differing > 0;
    let failures = if is_limited { overall.metrics.failures(&options.limits) } else { Vec::new() };
    let limits_not_applicable = options.limits.any() && overall.tally.has_non_finite_mismatch;
    let passes = !fails(options, &overall.tally, difference.items) && failures.is_empty();
    difference.reason = match passes {
        false => Some(Reason::Values),
        true => (options.metadata && !difference.beside.is_empty()).then_some(Reason::Metadata),
    };
    let findings = findings(&how, [&one, &other], &shape, overall);
    difference.found = Some(Findings { failures, limits_not_applicable, ..findings });
    Ok(difference)
}

pub(super) struct BegunComparison {
    pub difference: Difference,
    /// `None` if dtypes or shapes differ.
    pub how: Option<Comparability>,
    pub axes: ActualAxes,
}

impl BegunComparison {
    pub(super) fn new(expected: &Source, actual: &Source, options: &Options, of_files: bool) -> Result<Self> {
        let refused = |message: String| Error::from_kind(ErrorKind::Argument, message).advising(Advice::ChangeOption);
        for (name, tolerance) in [("atol", options.atol), ("rtol", options.rtol)] {
            if let Some(tolerance) = tolerance.filter(|tolerance| tolerance.is_nan() || *tolerance < 0.0) {
                return Err(refused(format!("{name} {tolerance}, expected a number that is not negative")));
            }
        }
        let axes = ActualAxes::new(options, actual)?;
        let (one, other) = (expected.dtype().native(), actual.dtype().native());
        if options.ulp.is_some() && options.ignore_dtype && one != other {
            return Err(refused(format!("ulp needs tensors of one dtype: {} and {}", one.name(), other.name())));
        }
        let metadata = differing_of_tensors(expected, actual).into_iter().collect();
        let mut beside = DifferingNames { metadata, ..DifferingNames::default() };
        if of_files {
            beside.extend(differing_of_files(expected, actual)?);
        }
        let mut difference = Difference {
            reason: None,
            expected: Outline::new(&one, expected.shape()),
            actual: Outline::new(&other, &axes.shape(actual)),
            items: expected.shape().iter().product(),
            options: options.clone(),
            beside,
            found: None,
            agreeing_axes: None,
        };
        let how = Comparability::new(&one, &other);
        if let [Kind::Timedelta(_), Kind::Timedelta(_)] = [one.kind(), other.kind()]
            && options.ignore_dtype
            && how.is_none()
        {
            let (one, other) = (one.name(), other.name());
            let message =
                format!("dtype {other}, expected {one}: months and years have no fixed length in the other unit");
            return Err(Error::from_kind(ErrorKind::Unsupported, message).within(actual.label()));
        }
        let how = how.filter(|_| options.ignore_dtype || one == other);
        difference.reason = match how {
            None => Some(Reason::Dtype),
            Some(_) if expected.shape() != difference.actual.shape => Some(Reason::Shape),
            Some(_) => None,
        };
        let how = how.filter(|_| difference.reason.is_none());
        Ok(Self { difference, how, axes })
    }
}

fn fails(options: &Options, tally: &DifferenceTally, items: usize) -> bool {
    let limits_not_applicable = options.limits.any() && tally.has_non_finite_mismatch;
    limits_not_applicable || options.asks_items() && !options.allows(tally.mismatches, items)
}

pub(super) struct Comparison<'a> {
    pub expected: &'a mut Source,
    pub actual: &'a mut Source,
    rule: PairRule,
    pub effort: Effort,
    progress: Progress<'a>,
    pub items: usize,
    pub widths: [usize; 2],
    pub axes: ActualAxes,
    plan: Option<Plan>,
}

#[derive(Default)]
struct ThreadFindings {
    tally: DifferenceTally,
    metrics: MetricFindings,
    /// Runs of each window, with the number of its first item.
    runs: Vec<(usize, FirstAxisRuns)>,
    skipped: Vec<usize>,
    converted: [ConvertedItems; 2],
    steps: Vec<u64>,
}

#[derive(Default)]
struct MetricFindings {
    sums: MetricSums,
    counts: Vec<PassCounts>,
    keys: Vec<u64>,
    block: BlockScratch,
}

/// Returns true once further windows cannot change the result.
type WindowVisitor<'a> =
    dyn Fn(&mut ThreadFindings, &ScannedBox<'_, 2>, &mut WindowMarks<'_>) -> Result<bool> + Sync + 'a;

struct Overall {
    tally: DifferenceTally,
    metrics: Metrics,
    quantiles: Option<[Option<Number>; 4]>,
    axes: Vec<AxisPlaces>,
}

impl MetricFindings {
    fn sum(&mut self, summer: &BlockSummer<'_>, start: usize, rows: Rows<'_>, search: Option<&Search>) -> Result<()> {
        let mut kept = PartialBlock::default();
        let Some(rows) = summer.whole(start, rows, &mut kept)? else { return Ok(()) };
        let errors = self.sums.block(summer.kernel, rows, &mut self.block);
        let Some(search) = search else { return Ok(()) };
        if self.counts.is_empty() {
            self.counts.push(search.begin());
        }
        let counts = &mut self.counts[0];
        match errors {
            // A distance of 0 has key 0.
            BlockErrors::Zeros => search.count_zeros(counts, rows.expected.len() / summer.kernel.size()),
            // The key of a float distance is its bits.
            BlockErrors::Bits(errors) if summer.kernel.class() == ItemClass::Float => search.count(counts, errors),
            BlockErrors::Bits(_) | BlockErrors::Unknown => {
                summer.kernel.keys(rows, &mut self.keys);
                search.count(counts, &self.keys);
            }
        }
        Ok(())
    }

    fn merge(&mut self, mut other: Self) {
        self.sums.merge(other.sums);
        self.counts.append(&mut other.counts);
    }
}

impl ThreadFindings {
    fn look_at_equal(&mut self, reading: &NumberReading, items: StoredItems<'_>) {
        // One item represents a window that repeats it.
        let (width, expected) = (items.widths[0], items.rows.expected);
        let is_repeated = expected.len() > width && expected[width..] == expected[..expected.len() - width];
        let items = if is_repeated { items.part(0..1) } else { items };
        // a few items are often enough
        let few = items.part(0..items.len().min(FEW));
        for part in [few].into_iter().chain(items.blocks()) {
            let MetricFindings { sums, block, .. } = &mut self.metrics;
            if sums.is_enough_of_equal(reading.kernel().class()) {
                return;
            }
            sums.look_at_equal(reading.kernel(), reading.read(part.rows, &mut self.converted), block);
        }
    }

    fn check_memory(&mut self) -> Result<()> {
        match self.tally.out_of_memory.take() {
            Some(message) => bail!("mismatches to report: {message}"),
            None => Ok(()),
        }
    }
}

impl Comparison<'_> {
    fn numbers(mut self, reading: &NumberReading) -> Result<Overall> {
        let (total, widths) = (self.items, self.widths);
        if self.effort.quantiles {
            self.expected.hold(Hold::Local, self.effort.limits.threads)?;
            self.actual.hold(Hold::Local, self.effort.limits.threads)?;
        }
        let any_differs = AtomicBool::new(is_read_once([self.expected, self.actual], reading));
        let partial = PartialBlocks::default();
        let class = reading.kernel().class();
        let summer = BlockSummer { kernel: reading.kernel(), total, partial: &partial };
        let walk = self.axes.walk([self.expected, self.actual]);
        let are_equal = walk.is_c_order() && self.are_equal_as_stored()?;
        let axes = AxisMarks::new(&walk.shape(self.expected.shape()));
        let search = self.effort.quantiles.then(|| self.search(reading)).transpose()?;
        let rule = self.rule;
        let how = NumberRule { rule: &rule, reading };
        let mut all = self.scan(&walk, &axes, &|seen, window, marks| {
            let is_equal = reading.is_one_dtype && window.items[0] == window.items[1];
            let is_skipped = is_equal && !any_differs.load(Ordering::Relaxed);
            if !is_skipped {
                any_differs.store(true, Ordering::Relaxed);
            }
            let all = StoredItems::new(window.start(), widths, window.items);
            let is_known = is_skipped && seen.tally.has_maxima(walk.lowest(all.places()));
            for stored in blocks_of(window, widths).take_while(|_| !is_known) {
                let lowest = walk.lowest(stored.places());
                let adds_nothing = is_equal && seen.tally.has_maxima(lowest);
                if adds_nothing && is_skipped {
                    continue;
                }
                let rows = reading.read(stored.rows, &mut seen.converted);
                if !adds_nothing {
                    seen.tally.look_at(how, &walk, NumberPairs { stored, rows }, marks, &mut seen.steps);
                }
                if !is_skipped {
                    seen.metrics.sum(&summer, stored.start, rows, search.as_ref())?;
                }
            }
            if is_skipped {
                seen.look_at_equal(reading, all);
                seen.skipped.push(window.start());
            }
            // If the tensors are equal, the first items determine all results.
            Ok(are_equal && seen.tally.has_maxima(0) && seen.metrics.sums.is_enough_of_equal(class))
        })?;
        let axes = axes.found(std::mem::take(&mut all.runs), !walk.is_c_order());
        let are_same = all.tally.differing == 0;
        if !are_same && !all.skipped.is_empty() {
            let mut skipped = std::mem::take(&mut all.skipped);
            skipped.sort_unstable();
            let wanted = |start: usize| skipped.binary_search(&start).is_ok();
            let each = |seen: &mut ThreadFindings, window: &ScannedBox<'_, 2>| {
                for part in blocks_of(window, widths) {
                    let rows = reading.read(part.rows, &mut seen.converted);
                    seen.metrics.sum(&summer, part.start, rows, search.as_ref())?;
                }
                Ok(true)
            };
            let later = self.settled(&walk)?.scan(&|_| {}, &wanted, &ThreadFindings::default, &each)?;
            later.into_iter().for_each(|seen| all.metrics.merge(seen.metrics));
        }
        let metrics = match are_same {
            true => Metrics::for_equal_items(class, &all.metrics.sums),
            false => Metrics::from_sums(class, &all.metrics.sums),
        };
        let quantiles = match search {
            Some(_) if are_same => Some([all.tally.max_abs.map(|most| most.value.as_displayed(reading.integers)); 4]),
            Some(search) => {
                let MetricFindings { sums: MetricSums { count, zeros, .. }, counts, .. } = all.metrics;
                Some(self.quantiles(reading, search, counts, count, zeros)?)
            }
            None => None,
        };
        Ok(Overall { tally: all.tally, metrics, quantiles, axes })
    }

    fn opaque(mut self, how: &Comparability) -> Result<Overall> {
        let (axes, rule, widths) = (AxisMarks::new(self.expected.shape()), self.rule, self.widths);
        let all = self.scan(&Walk::default(), &axes, &|seen, window, marks| {
            if widths[0] != widths[1] || window.items[0] != window.items[1] {
                blocks_of(window, widths).for_each(|stored| seen.tally.look_at_opaque(&rule, how, stored, marks));
            }
            Ok(false)
        })?;
        Ok(Overall {
            tally: all.tally,
            metrics: Metrics::default(),
            quantiles: self.effort.quantiles.then_some([None; 4]),
            axes: axes.found(all.runs, false),
        })
    }

    fn scan(&mut self, walk: &Walk, axes: &AxisMarks, each: &WindowVisitor<'_>) -> Result<ThreadFindings> {
        let (widths, progress) = (self.widths, self.progress);
        let visit = |seen: &mut ThreadFindings, window: &ScannedBox<'_, 2>| {
            let mut marks = WindowMarks { axes, runs: FirstAxisRuns::default() };
            let is_known = each(seen, window, &mut marks)?;
            if !marks.runs.is_empty() {
                seen.runs.push((window.start(), marks.runs));
            }
            seen.check_memory()?;
            Ok(!is_known)
        };
        let seen = match widths {
            // Too many items of no bytes to count one by one.
            [0, 0] => {
                [&*self.expected, &*self.actual].into_iter().try_for_each(Source::finish)?;
                Vec::new()
            }
            _ => self.settled(walk)?.scan(progress, &|_| true, &ThreadFindings::default, &visit)?,
        };
        let mut all = ThreadFindings::default();
        for mut seen in seen {
            all.runs.append(&mut seen.runs);
            all.tally.merge(seen.tally, &self.rule);
            all.metrics.merge(seen.metrics);
            all.skipped.append(&mut seen.skipped);
        }
        all.check_memory()?;
        // Checks the memory for the texts of mismatches.
        let texts: usize =
            all.tally.listed.iter().map(|found| 512 + 6 * (found.expected.len() + found.actual.len())).sum();
        match memory::with_capacity::<u8>(texts) {
            Ok(_) => Ok(all),
            Err(message) => bail!("mismatches to report: {message}"),
        }
    }

    /// Whether tensors stored in the same order other than C, or computed by the same rule, have the same bytes. A
    /// comparison in C order would transpose or compute both.
    fn are_equal_as_stored(&mut self) -> Result<bool> {
        if let Some([expected, actual]) = encoded([self.expected, self.actual], &self.axes) {
            return same_bytes(&expected, &actual, self.effort.limits, self.progress);
        }
        if !may_be_equal_as_stored([self.expected, self.actual], &self.axes) {
            return Ok(false);
        }
        self.settled(&Walk::default())?;
        same_bytes(self.expected, self.actual, self.effort.limits, self.progress)
    }

    /// All scans of a walk share a plan, and so their windows.
    fn settled(&mut self, walk: &Walk) -> Result<PlannedScan<'_, 2>> {
        let (limits, of_actual) = (self.effort.limits, &self.axes);
        let view = |number, source: &Source| of_actual.walked(walk, number, source);
        if let Some(plan) = &self.plan {
            return Ok(PlannedScan::again([&*self.expected, &*self.actual], &view, plan.clone()));
        }
        let planned = settled([&mut *self.expected, &mut *self.actual], &view, WindowOrder::Boxes, PASSES, limits)?;
        self.plan = Some(planned.plan().clone());
        Ok(planned)
    }
}

/// The stored bytes of both tensors, if the same rule computes their items.
pub(super) fn encoded(sources: [&Source; 2], axes: &ActualAxes) -> Option<[Source; 2]> {
    let [(expected, rule), (actual, other)] = [sources[0].encoded()?, sources[1].encoded()?];
    let is_one_rule = rule == other && sources[0].meta() == sources[1].meta() && axes.are_own();
    (is_one_rule && !sources.iter().any(|source| source.costs_requests())).then_some([expected, actual])
}

pub(super) fn may_be_equal_as_stored(sources: [&Source; 2], axes: &ActualAxes) -> bool {
    let metas = sources.map(Source::meta);
    let across =
        axes.are_own() && metas[0] == metas[1] && metas[0].order == Order::Fortran && !metas[0].view().is_forward();
    across && sources.iter().all(|source| source.is_read_by_position() && !source.costs_requests())
}

/// If false, equal windows are summed only once a window differs. Streams cannot be read twice, remote sources only by
/// new requests, and two dtypes have no equal bytes.
pub(super) fn is_read_once(sources: [&Source; 2], reading: &NumberReading) -> bool {
    !reading.is_one_dtype || sources.iter().any(|source| source.is_stream() || source.costs_requests())
}

pub(super) fn blocks_of<'a>(
    window: &'a ScannedBox<'_, 2>,
    widths: [usize; 2],
) -> impl Iterator<Item = StoredItems<'a>> {
    window.runs().flat_map(move |(start, items)| StoredItems::new(start, widths, items).blocks())
}

fn findings(how: &Comparability, dtypes: [&DType; 2], shape: &[usize], overall: Overall) -> Findings {
    let Overall { tally, metrics, quantiles, axes } = overall;
    let (integers, has_steps, is_number) = match how {
        Comparability::Numbers(reading) => (reading.integers, reading.is_one_dtype, true),
        Comparability::Bytes | Comparability::Text { .. } => (true, dtypes[0] == dtypes[1], false),
    };
    let index = |item| coordinates(item, shape);
    // Every differing item contributes to the maxima; equal items do not.
    let none_differ = tally.differing == 0;
    let tolerable = none_differ || !tally.has_non_finite_mismatch;
    let mismatch = |found: &FoundMismatch| Mismatch {
        index: index(found.item),
        flat: found.item,
        expected: text(dtypes[0], &found.expected),
        actual: text(dtypes[1], &found.actual),
        abs: found.errors.map(|errors| errors.abs.as_displayed(integers)),
        rel: found.errors.and_then(|errors| errors.rel),
        ulp: found.errors.filter(|_| has_steps).map(|errors| errors.ulp),
    };
    let min_atol = if none_differ { 0.0 } else { tally.max_abs.map_or(0.0, |most| most.value.up()) };
    let min_ulp = if none_differ { 0 } else { tally.max_ulp.map_or(0, |most| most.value) };
    fn extreme<V, W>(most: Option<Numbered<V>>, shape: &[usize], value: impl Fn(V) -> W) -> Option<Extreme<W>> {
        most.map(|most| Extreme { value: value(most.value), index: coordinates(most.item, shape) })
    }
    Findings {
        differing: tally.differing,
        mismatches: tally.mismatches,
        nonfinite_mismatches: is_number.then_some(tally.nonfinite_mismatches),
        first_nonfinite: tally.first_nonfinite.map(index),
        max_abs: extreme(tally.max_abs, shape, |value| value.as_displayed(integers)),
        max_rel: extreme(tally.max_rel, shape, |value| value),
        max_ulp: extreme(tally.max_ulp, shape, |value| value),
        min_atol: (tolerable && min_atol.is_finite()).then_some(min_atol),
        min_rtol: (tolerable && tally.rtol.is_finite()).then_some(tally.rtol),
        min_ulp: (has_steps && tolerable).then_some(min_ulp),
        listed: tally.listed.iter().map(mismatch).collect(),
        metrics,
        quantiles,
        axes,
        failures: Vec::new(),
        integers,
        has_non_finite_mismatch: is_number && tally.has_non_finite_mismatch,
        limits_not_applicable: false,
    }
}

/// An item as JSON, or a hexadecimal string if JSON has no notation for it.
fn text(dtype: &DType, item: &[u8]) -> String {
    let mut out = Vec::new();
    if print::write_item(&mut out, dtype, item).is_ok() {
        return String::from_utf8_lossy(&out).into_owned();
    }
    format!("\"{}\"", hexadecimal(item))
}
