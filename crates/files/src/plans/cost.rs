//! The costs of the ways to make an output, before anything is read, and the choice of the best; and of
//! moving a tensor between chunk grids, directly or through a temporary store.

use std::ops::{AddAssign, Range};

use super::plan::{Before, Plan, Route, SinkKind, Steps, WindowOrder};
use super::planner::Planner;
use super::slabs::{DIRECT, READ_AGAIN, grid_between, readings};
use crate::operators::access::{Access, Feeds, Holding, Pattern, Picked};
use crate::operators::fill::{Fill, Limits};
use crate::storage::source::{Hold, Keep, READ_AT_ONCE};
use tensorop_kernels::error::{Error, Result};
use tensorop_kernels::layout::axis::product;
use tensorop_kernels::layout::boxes::tile;
use tensorop_kernels::layout::gather::{Gaps, GatherRule, calls};
use tensorop_kernels::layout::view::View;
use tensorop_kernels::layout::window::Windows;

/// Costs within 1/16 count as equal: no machine is known better.
const ALIKE: u64 = 16;

/// The bytes of a cache line.
const LINE: u64 = 64;

/// From memory each piece is read by itself.
const BY_LINES: GatherRule<'static> = GatherRule { most: usize::MAX, gaps: Gaps::Counted(&|_| 0) };

/// Numbers of system calls and requests, and of their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Calls {
    pub reads: u64,
    pub bytes_read: u64,
    pub writes: u64,
    pub bytes_written: u64,
    /// How many of the reads are requests, in an [explanation](super::explain::Explanation) only.
    pub requests: u64,
}

impl Calls {
    pub fn write(bytes: usize) -> Self {
        Self { writes: 1, bytes_written: bytes as u64, ..Self::default() }
    }
}

impl AddAssign for Calls {
    fn add_assign(&mut self, other: Self) {
        self.reads = self.reads.saturating_add(other.reads);
        self.bytes_read = self.bytes_read.saturating_add(other.bytes_read);
        self.writes = self.writes.saturating_add(other.writes);
        self.bytes_written = self.bytes_written.saturating_add(other.bytes_written);
        self.requests = self.requests.saturating_add(other.requests);
    }
}

/// The cost of a plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Estimated system calls or requests. The index tensor counts in an [explanation](super::explain::Explanation)
    /// only.
    pub calls: Calls,
    /// The bytes of windows that all threads hold.
    pub held: u64,
    /// The total as bytes that could be copied in the same time.
    pub total: u64,
}

impl Cost {
    /// `read` is the cost of a read, in copied bytes.
    pub(crate) fn from_reads(operands: &[OperandReads], read: usize) -> Self {
        let mut calls = Calls::default();
        for operand in operands.iter().filter(|operand| operand.is_counted()) {
            let (bytes_read, piece) = (operand.bytes_read(), operand.piece.unwrap_or(0).max(1));
            calls += Calls { reads: bytes_read.div_ceil(piece), bytes_read, ..Calls::default() };
        }
        Self { calls, held: 0, total: calls.bytes_read.saturating_add(calls.reads.saturating_mul(read as u64)) }
    }
}

/// The order of an operand's reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperandReading {
    /// In the order of the output, or of a scan's windows.
    Along,
    /// Across that order.
    Across,
    /// As an index tensor says.
    ByIndices,
    /// From memory, after a copy if necessary.
    InMemory,
    /// From front to back.
    AsItComes,
}

/// The reads of an operand.
#[derive(Clone, Debug, PartialEq)]
pub struct OperandReads {
    pub label: String,
    pub reading: OperandReading,
    /// Whether it is in chunks, which are read as a whole.
    pub in_chunks: bool,
    /// The bytes per read; `None` if an index tensor decides.
    pub piece: Option<u64>,
    pub bytes: u64,
    /// Average reads of each byte, with gaps.
    pub times: f64,
}

impl OperandReads {
    fn is_counted(&self) -> bool {
        self.piece.is_some() && !matches!(self.reading, OperandReading::ByIndices | OperandReading::InMemory)
    }

    fn bytes_read(&self) -> u64 {
        (self.bytes as f64 * self.times) as u64
    }
}

/// One planner for each way to read the operands.
#[derive(Debug)]
pub struct Planners<'a>(Vec<Planner<'a>>);

impl<'a> Planners<'a> {
    /// `begun` is the way of a job that has begun.
    pub fn new(fill: &'a dyn Fill, limits: Limits, begun: Option<usize>) -> Self {
        let ways = begun.map_or_else(|| fill.ways(&limits), |way| vec![way]);
        Self(ways.into_iter().map(|way| Planner::new(fill, limits, way)).collect())
    }

    /// Returns the best plan.
    pub fn plan(&self, sink: SinkKind<'_>) -> Plan {
        let mut plans = self.plans(sink);
        let first = plans.next().expect("there is a way to make an output");
        // thousands of small tensors have one plan each
        let Some(second) = plans.next() else { return first };
        self.weighed([first, second].into_iter().chain(plans)).swap_remove(0).0
    }

    /// Returns all plans with costs, the best first: those of an output within 1/16 of the minimum by memory, the others
    /// by cost.
    pub fn ways(&self, sink: SinkKind<'_>) -> Vec<(Plan, Cost)> {
        self.weighed(self.plans(sink))
    }

    fn plans(&self, sink: SinkKind<'_>) -> impl Iterator<Item = Plan> {
        self.0.iter().flat_map(move |planner| planner.plans(sink))
    }

    fn weighed(&self, plans: impl Iterator<Item = Plan>) -> Vec<(Plan, Cost)> {
        let with_cost = |plan: Plan| {
            let cost = self.planner(plan.way).cost(&plan);
            (plan, cost)
        };
        let mut ways: Vec<_> = plans.map(with_cost).collect();
        ways.sort_by_key(|(_, cost)| cost.total);
        let alike = match ways.first() {
            None | Some((Plan { route: Route::Scan { .. }, .. }, _)) => 0,
            Some((_, Cost { total, .. })) => {
                let most = total.saturating_add(total / ALIKE);
                ways.partition_point(|(_, cost)| cost.total <= most)
            }
        };
        ways[..alike].sort_by_key(|(_, cost)| cost.held);
        // Boxes may equal other windows, and ways may read alike.
        ways.dedup_by(|(one, cost), (other, of_other)| {
            cost == of_other && Plan { way: other.way, ..one.clone() } == *other
        });
        ways
    }

    /// Plans a patch of its own data or of a clone of the data's file. `share` selects the chunks that may change,
    /// given their number. Panics if the operator is not a patch.
    pub fn plan_edit(&self, share: Option<impl Fn(usize) -> Range<usize>>) -> Result<Plan> {
        let plans = self.0.iter().map(|planner| {
            let plan = planner.plan_edit(share.as_ref().map(|share| share as _))?;
            let total = planner.cost(&plan).total;
            Ok::<_, Error>((plan, total))
        });
        let plans = plans.collect::<Result<Vec<_>>>()?;
        Ok(plans.into_iter().min_by_key(|(_, total)| *total).expect("there is a way to read operands").0)
    }

    pub fn planner(&self, way: usize) -> &Planner<'a> {
        self.0.iter().find(|planner| planner.way == way).expect("a way of the operator")
    }
}

impl Planner<'_> {
    fn plans(&self, sink: SinkKind<'_>) -> impl Iterator<Item = Plan> {
        let mut between = None;
        let (route, steps) = match sink {
            SinkKind::File { base, .. } => (Route::File, self.steps_of_file(base)),
            SinkKind::Stream => self.steps_of_stream(),
            SinkKind::Runs(runs) => (Route::Stream, vec![Steps::Runs(runs.clone())]),
            SinkKind::Scan { order, passes } => {
                (Route::Scan { order, passes }, self.windows_of_scan(order).into_iter().map(Steps::Each).collect())
            }
            SinkKind::Windows(windows) | SinkKind::Share(windows) => {
                (Route::Windows, self.held_or_not(windows.clone()))
            }
            SinkKind::Store(windows) => {
                between = self.grid_between(windows);
                (Route::Windows, self.held_or_not(windows.clone()))
            }
        };
        let steps = steps.into_iter().map(move |steps| (route.clone(), steps));
        let by_store = between.into_iter().flat_map(move |grid| {
            let boxes = Windows::boxes(&self.meta.shape, &grid);
            self.held_or_not(boxes).into_iter().map(move |steps| (Route::Between(grid.clone()), steps))
        });
        let before = self.before(sink);
        let plan = move |(route, steps): (Route, Steps)| Plan {
            way: self.way,
            before: before.clone(),
            threads: self.threads_of(&route, &steps),
            route,
            steps,
        };
        steps.chain(by_store).map(plan)
    }

    /// An operand is not downloaded for a part of the output, or for a scan.
    fn before(&self, sink: SinkKind<'_>) -> Vec<Before> {
        let is_part = matches!(sink, SinkKind::Runs(_) | SinkKind::Share(_) | SinkKind::Scan { .. });
        let fetched = self.in_short_pieces().filter(|_| !is_part).map(Before::Fetch);
        let is_clone =
            matches!(sink, SinkKind::File { base: Some(base), is_alone: true } if self.is_clone_of_data(base));
        self.copies().into_iter().chain(fetched).chain(is_clone.then_some(Before::Clone)).collect()
    }

    pub(crate) fn threads_of(&self, route: &Route, steps: &Steps) -> usize {
        let units = if let Steps::Slabs { units, .. } = steps { units.largest() } else { 0 };
        // Several threads fill windows in order only to hide a server's latency.
        let is_in_order = matches!(route, Route::Stream | Route::Scan { order: WindowOrder::InOrder, .. });
        if is_in_order && !self.is_remote { 1 } else { self.threads_for(steps.largest().max(units)) }
    }

    pub(crate) fn operands(&self, plan: &Plan) -> Vec<OperandReads> {
        let shape = &self.meta.shape[..];
        let sides = plan.steps.sides(shape);
        let read_by = if let Steps::Slabs { units, .. } = &plan.steps { units.sides().to_vec() } else { sides.clone() };
        let slab = plan.steps.held().unwrap_or(&sides);
        let of_chunks = self.grain().map_or(1.0, |grain| readings(shape, slab, &grain));
        self.reads.iter().map(|access| reads_of(access, &read_by, of_chunks)).collect()
    }

    pub(crate) fn picked(&self, plan: &Plan) -> Picked {
        let is_picked = |access: &Access<'_>| {
            let is_indexed = matches!(access.pattern, Pattern::Indexed { .. } | Pattern::Boxed { .. });
            is_indexed && (access.is_read_by_position() || access.as_chunks().is_some())
        };
        match self.reads.iter().any(is_picked) {
            true => self.fill.picked(self.way, plan.steps.count(), &plan.steps.sides(&self.meta.shape)),
            false => Picked::default(),
        }
    }

    /// Returns the cost for comparing plans, a sum in copied bytes:
    ///
    /// - bytes read (with gaps) and bytes written;
    /// - calls;
    /// - a third of the bytes written, unless writes fill blocks of the file;
    /// - the bytes written again, if windows exceed a core's cache;
    /// - for a scan, [its windows](Self::cost_of_windows) and the reads of further passes;
    /// - unpacking chunks and holding slabs;
    /// - for a temporary store, its own reads and writes;
    /// - pages read again, if operands exceed memory;
    /// - memory held, since it is touched for the first time;
    /// - the wait at the end: half a window per thread except one.
    pub(crate) fn cost(&self, plan: &Plan) -> Cost {
        let (machine, shape, meta) = (&self.limits.machine, &self.meta.shape[..], self.meta);
        let (sides, count) = (plan.steps.sides(shape), plan.steps.count().max(1) as u64);
        let volume = |sides: &[usize]| {
            let sides = sides.iter().zip(shape).map(|(&side, &dim)| side.min(dim) as u64);
            sides.fold(self.widest() as u64, u64::saturating_mul)
        };
        let operands = self.operands(plan);
        let read = if self.is_remote { machine.request } else { machine.read };
        let mut cost = Cost::from_reads(&operands, read);
        let (mut more, mut again, mut written) = (0_u64, 0, 0);
        if let (Route::Scan { passes, .. }, Some(windows)) = (&plan.route, plan.steps.windows()) {
            again = cost.total.saturating_mul(*passes as u64 - 1);
            more = self.cost_of_windows(windows);
        } else {
            written = meta.bytes() as u64;
            cost.calls += Calls { writes: plan.steps.count() as u64, bytes_written: written, ..Calls::default() };
        }
        let held = self.holdings.iter().map(|it| self.reads_to_hold(it));
        for Picked { reads, bytes } in held.chain([self.picked(plan)]) {
            cost.calls += Calls { reads, bytes_read: bytes, ..Calls::default() };
            cost.total = cost.total.saturating_add(bytes).saturating_add(reads.saturating_mul(read as u64));
        }
        if let Route::Between(_) = plan.route {
            let Calls { writes, .. } = cost.calls;
            cost.calls +=
                Calls { reads: writes, bytes_read: written, writes, bytes_written: written, ..Calls::default() };
            let of_each = 2 + machine.unpack as u64 + machine.hold as u64;
            let of_reads = writes.saturating_mul(machine.read as u64);
            more = more.saturating_add(written.saturating_mul(of_each)).saturating_add(of_reads);
        }
        if let (Route::File | Route::TemporaryFile, Some(windows)) = (&plan.route, plan.steps.windows())
            && windows.count() > 0
        {
            let pieces = windows.get(0).piece_count(shape);
            cost.calls.writes = cost.calls.writes.saturating_mul(pieces as u64);
            more = written / 3;
        }
        for operand in operands.iter().filter(|operand| operand.is_counted()) {
            if operand.in_chunks {
                more = more.saturating_add(operand.bytes_read().saturating_mul(machine.unpack as u64));
            } else if let (false, true, Some(grain)) = (self.fits_memory(), written > 0, self.grain()) {
                let again = readings(shape, plan.steps.held().unwrap_or(&sides), &grain) - 1.0;
                more = more.saturating_add((operand.bytes as f64 * again) as u64);
            }
        }
        cost.held = volume(&sides).saturating_mul(2 * plan.threads as u64);
        for holding in self.holdings.iter().filter(|it| it.copy.keep == Keep::Memory) {
            let bytes = self.reads[holding.operand].source.bytes() as u64;
            cost.held = cost.held.saturating_add(bytes);
            more = more.saturating_add(if let Hold::ByBoxes(_) = holding.hold { bytes } else { 0 });
        }
        if volume(&sides) > 2 * machine.slab as u64 {
            more = more.saturating_add(written);
        }
        if let Some(slab) = plan.steps.held() {
            cost.held = cost.held.saturating_add(volume(slab));
            more = more.saturating_add(written.saturating_mul(machine.hold as u64));
        }
        let writes = cost.calls.writes.saturating_mul(machine.write as u64);
        let all = [cost.total, written, writes, more, cost.held].into_iter().fold(0, u64::saturating_add);
        let waits = (plan.threads as u64 - 1).saturating_mul(all) / (2 * count);
        cost.total = all.saturating_add(waits).saturating_add(again);
        cost
    }

    /// The ends of the runs of boxes, which are merged with other windows and cost a read each, and the cache lines of
    /// items that are reordered or come from memory.
    fn cost_of_windows(&self, windows: &Windows) -> u64 {
        if windows.count() == 0 {
            return 0;
        }
        let ends = (windows.get(0).piece_count(&self.meta.shape) as u64 - 1).saturating_mul(windows.count() as u64);
        let moved = self.reads.iter().filter_map(|access| {
            let is_held = access.copy.is_some_and(|copy| copy.keep == Keep::Memory);
            let view = access.view().filter(|view| is_held || !view.is_forward())?;
            let [lines, bytes] = calls_by_boxes(view, windows.sides(), access.source.dtype().itemsize(), BY_LINES);
            Some(bytes.max(lines.saturating_mul(LINE)))
        });
        moved.fold(ends.saturating_mul(self.limits.machine.read as u64), u64::saturating_add)
    }

    pub(crate) fn reads_to_hold(&self, holding: &Holding) -> Picked {
        let source = self.reads[holding.operand].source;
        let Hold::ByBoxes(items) = holding.hold else {
            return Picked::passes(1, holding.copy.bytes_read, READ_AT_ONCE);
        };
        let (view, rule) = (source.view(), GatherRule::of(READ_AT_ONCE));
        let sides = tile(source.shape(), &view.axes_as_stored(), items);
        let [reads, bytes] = calls_by_boxes(&view, &sides, source.dtype().itemsize(), rule);
        Picked { reads, bytes }
    }
}

/// Returns the reads of all items by boxes, and their bytes.
fn calls_by_boxes(view: &View, sides: &[usize], itemsize: usize, rule: GatherRule<'_>) -> [u64; 2] {
    let part = view.part(&sides.iter().map(|&side| 0..side).collect::<Vec<_>>());
    let boxes = view.items() as f64 / part.items().max(1) as f64;
    calls(&part, itemsize, rule).map(|count| (count as f64 * boxes).ceil() as u64)
}

/// Chunks are read `of_chunks` times each.
pub(crate) fn reads_of(access: &Access<'_>, sides: &[usize], of_chunks: f64) -> OperandReads {
    let (source, itemsize) = (access.source, access.source.dtype().itemsize() as u64);
    let segments = access.places_read();
    let bytes = match (&access.feeds, access.view()) {
        (Feeds::Segments(_), Some(_)) => {
            segments.iter().fold(itemsize, |bytes, &[read, dim]| bytes.saturating_mul(read.min(dim) as u64))
        }
        (_, Some(view)) => view.items() as u64 * itemsize,
        (Feeds::Named { items }, None) => (*items as u64).saturating_mul(itemsize),
        (_, None) => source.bytes() as u64,
    };
    let reading = match access.view() {
        _ if access.is_stream() => OperandReading::AsItComes,
        _ if !access.is_read_by_position() && access.as_chunks().is_none() => OperandReading::InMemory,
        None if matches!(access.pattern, Pattern::Indexed { .. } | Pattern::Boxed { .. }) => OperandReading::ByIndices,
        Some(view) if view.crossing().is_some() => OperandReading::Across,
        Some(_) | None => OperandReading::Along,
    };
    let (label, in_chunks) = (source.label().to_owned(), access.as_chunks().is_some());
    let known = OperandReads { label, reading, in_chunks, piece: None, bytes, times: 1.0 };
    // Places that several places of the output read.
    let again: f64 = segments.iter().map(|&[read, dim]| (read as f64 / dim.max(1) as f64).max(1.0)).product();
    let (Some(view), OperandReading::Along | OperandReading::Across) = (access.view(), reading) else { return known };
    if let Some(chunks) = access.as_chunks() {
        let chunk = (product(chunks.grid()) as u64).saturating_mul(itemsize);
        return OperandReads { piece: Some(chunk), times: of_chunks * again, ..known };
    }
    // A box of the output that is not a box of the operand reads runs.
    let Some(sides) = access.sides(sides) else {
        let run = view.run().min(sides.iter().product()) as u64;
        return OperandReads { piece: Some(run.saturating_mul(itemsize)), ..known };
    };
    let part = view.part(&sides.iter().map(|&side| 0..side).collect::<Vec<_>>());
    let [calls, read] = calls(&part, source.dtype().itemsize(), GatherRule::of(READ_AT_ONCE)).map(|it| it as u64);
    let times = again * read as f64 / (part.items() as u64 * itemsize).max(1) as f64;
    OperandReads { piece: Some(read.div_ceil(calls.max(1))), times, ..known }
}

/// A temporary store is made for at most this many parts: with more, each holds little more than a chunk.
const PARTS: usize = 16;

/// Average reads of each byte.
#[derive(Clone, Copy, Debug)]
pub struct Readings {
    /// If one run fills all windows.
    pub all: f64,
    /// If each window is filled by itself.
    pub alone: f64,
}

impl Planner<'_> {
    /// Returns how often windows read the data.
    pub fn readings(&self, windows: &Windows) -> Option<Readings> {
        let alone = readings(&self.meta.shape, windows.sides(), &self.grain()?);
        Some(Readings { all: self.slabs(windows).map_or(alone.min(DIRECT), |slabs| slabs.readings), alone })
    }

    /// Returns the chunks of a temporary store that saves work in one run of all windows.
    pub fn grid_between(&self, windows: &Windows) -> Option<Vec<usize>> {
        let (grain, direct) = (self.grain()?, self.slabs(windows)?.readings);
        self.grid().filter(|_| direct > READ_AGAIN)?;
        let held = self.held(windows, &grain);
        self.between(windows, &grain, [held, held / (4 * self.threads)], direct)
    }

    /// [`grid_between`](Self::grid_between) for processes that make down to one in [`PARTS`] windows each.
    pub fn grid_for_parts(&self, windows: &Windows) -> Option<Vec<usize>> {
        let (grain, meta) = (self.grain()?, self.meta);
        let alone = readings(&meta.shape, windows.sides(), &grain);
        self.grid().filter(|_| alone > READ_AGAIN)?;
        let least = windows.largest().max(Windows::boxes(&meta.shape, &grain).largest());
        let held = self.held(windows, &grain).min((meta.items() / PARTS).max(least));
        self.between(windows, &grain, [held, held / 4], alone)
    }

    fn between(
        &self,
        windows: &Windows,
        grain: &[usize],
        [held, chunk]: [usize; 2],
        direct: f64,
    ) -> Option<Vec<usize>> {
        let most = chunk.min(self.limits.machine.kept / self.widest().max(1)).max(1);
        grid_between(&self.meta.shape, windows.sides(), grain, [held, most], direct)
    }
}
