//! Plans for `--explain`: reads and costs.

use std::borrow::Cow;
use std::ops::{Range, RangeInclusive};

use super::cost::{Calls, Cost, OperandReading, OperandReads, Planners};
use super::plan::{Before, Plan, Route, SinkKind, Steps, WindowOrder};
use super::planner::Planner;
use super::slabs::common;
use crate::operators::access::{Access, Feeds, Holding, Pattern, Picked};
use crate::operators::fill::Region;
use crate::storage::source::{Hold, Keep, READ_AT_ONCE};
use tensorop_kernels::error::Result;
use tensorop_kernels::layout::axis::product;
use tensorop_kernels::layout::gather::{Gaps, GatherRule, calls};
use tensorop_kernels::layout::window::Window;

/// The regions whose reads are added up one by one: 32 GiB of windows of a file.
const MAX_COUNTED: usize = 1 << 16;

impl OperandReading {
    pub fn label(self, walked: &str) -> String {
        match self {
            Self::Along => format!("along {walked}"),
            Self::Across => format!("across {walked}"),
            Self::ByIndices => "by indices".to_owned(),
            Self::InMemory => "in memory".to_owned(),
            Self::AsItComes => "as it comes".to_owned(),
        }
    }
}

/// A plan with its cost.
#[derive(Clone, Debug)]
pub struct Explanation {
    pub operands: Vec<OperandReads>,
    pub plan: Plan,
    pub cost: Cost,
    /// The second-best plan.
    pub instead: Option<(Plan, Cost)>,
    /// In bytes: of the output, or the widest of a scan.
    pub itemsize: usize,
    /// Whether reads are requests.
    pub is_remote: bool,
    /// Reads that depend on the items: sentences without full stops.
    pub notes: Vec<String>,
}

impl Explanation {
    pub fn is_scan(&self) -> bool {
        matches!(self.plan.route, Route::Scan { .. })
    }
}

impl Planners<'_> {
    /// Explains the best plan. Nothing should be read afterwards, because requests for gaps are spent.
    pub fn explain(&self, sink: SinkKind<'_>) -> Explanation {
        let mut ways = self.ways(sink).into_iter().take(2).map(|(plan, cost)| {
            let calls = self.planner(plan.way).calls(&plan, cost.calls);
            (plan, Cost { calls, ..cost })
        });
        let (plan, cost) = ways.next().expect("there is a way to make an output");
        self.planner(plan.way).explained(plan, cost, ways.next())
    }

    /// Explains a scan and its calls in the fewest `passes`, given the most. Also returns the calls of another pass.
    pub fn explain_scan(&self, order: WindowOrder, passes: RangeInclusive<usize>) -> (Explanation, Calls) {
        let mut it = self.explain(SinkKind::Scan { order, passes: *passes.end() });
        let (again, passes) = (self.planner(it.plan.way).calls_of_pass(&it.plan), *passes.start());
        (1..passes).for_each(|_| it.cost.calls += again);
        it.operands.iter_mut().for_each(|operand| operand.times *= passes as f64);
        (it, again)
    }

    pub fn explain_edit(&self) -> Result<Explanation> {
        let plan = self.plan_edit(None::<fn(usize) -> Range<usize>>)?;
        let planner = self.planner(plan.way);
        let mut cost = planner.cost(&plan);
        cost.calls = Calls { bytes_written: planner.bytes_changed(&plan)?, ..planner.calls(&plan, cost.calls) };
        Ok(planner.explained(plan, cost, None))
    }
}

impl Planner<'_> {
    /// Returns the calls of a plan with the reads of its regions in place of estimates, and with the calls that are the
    /// same for all plans.
    fn calls(&self, plan: &Plan, estimated: Calls) -> Calls {
        let (estimate, pass) = (Cost::from_reads(&self.operands(plan), 0).calls, self.calls_of_pass(plan));
        let (reads, bytes_read) = (estimated.reads - estimate.reads, estimated.bytes_read - estimate.bytes_read);
        let mut calls = Calls { reads, bytes_read, ..estimated };
        calls += pass;
        let is_picked = |access: &Access<'_>| access.view().is_none() && access.costs_requests();
        calls.requests += if self.reads.iter().any(is_picked) { self.picked(plan).reads } else { 0 };
        let Picked { reads, bytes } = self.fill.found();
        calls += Calls { reads, bytes_read: bytes, ..Calls::default() };
        for holding @ Holding { operand, hold, copy } in &self.holdings {
            let source = self.reads[*operand].source;
            if source.costs_requests() {
                let (estimate, requests) =
                    (self.reads_to_hold(holding).reads, source.calls_to_copy(*hold, self.limits.threads));
                calls.reads = calls.reads - estimate + requests;
                calls.requests += requests;
            }
            if copy.keep == Keep::File {
                let Picked { reads: writes, bytes: bytes_written } =
                    Picked::passes(1, source.bytes() as u64, READ_AT_ONCE);
                calls += Calls { writes, bytes_written, ..Calls::default() };
            }
        }
        calls
    }

    /// Returns the reads of all operands, once.
    fn calls_of_pass(&self, plan: &Plan) -> Calls {
        let mut calls = Calls::default();
        for (n, operand) in self.operands(plan).iter().enumerate() {
            calls += match self.reads_of_regions(plan, n) {
                Some([reads, bytes_read]) => {
                    let requests = if self.reads[n].costs_requests() { reads } else { 0 };
                    Calls { reads, bytes_read, requests, ..Calls::default() }
                }
                None => Cost::from_reads(std::slice::from_ref(operand), 0).calls,
            };
        }
        calls
    }

    /// The reads or requests of an operand, and their bytes; `None` if they are only estimated.
    fn reads_of_regions(&self, plan: &Plan, operand: usize) -> Option<[u64; 2]> {
        let access = &self.reads[operand];
        let (source, shape) = (access.source, &self.meta.shape);
        if plan.before.contains(&Before::Fetch(operand)) {
            return Some([source.calls_to_copy(Hold::Local, self.limits.threads), source.bytes_stored()]);
        }
        let view = access.view()?;
        let is_remote = access.costs_requests();
        let chunks = access.as_chunks().map(|chunks| (chunks, product(chunks.grid())));
        // A scan keeps the chunks of several windows.
        if let (Route::Scan { .. }, true, true) = (&plan.route, chunks.is_some() && is_remote, view.is_c_order()) {
            return Some([source.calls_to_copy(Hold::Local, self.limits.threads), source.bytes_stored()]);
        }
        if chunks.is_some() && !is_remote || chunks.is_none() && !access.is_read_by_position() {
            return None;
        }
        let itemsize = source.dtype().itemsize();
        let is_base = operand == 0 && self.patch().is_some();
        let is_selected = access.feeds == Feeds::All && (is_base || self.reads.len() == 1);
        let is_run = is_selected && view.as_run().is_some() && chunks.is_none();
        let of_region = |region: &Region| {
            let windows = match access.pattern {
                Pattern::Counted { .. } => Cow::Owned(region.runs(shape)),
                _ => region.boxes(shape),
            };
            let is_read = |window: &&Window| !is_base || !self.is_covered(window);
            if let (Region::Run(run), true) = (region, is_run && windows.iter().all(|window| is_read(&window))) {
                return [1, (run.len() * itemsize) as u64];
            }
            let mut found = [0, 0];
            let mut add = |[reads, bytes]: [u64; 2]| found = [found[0] + reads, found[1] + bytes];
            for window in windows.iter().filter(is_read) {
                for part in access.parts(window) {
                    if let (Some((chunks, chunk)), Some((places, _))) = (chunks, part.as_selection(source.shape())) {
                        let bytes = chunks.bytes_at(&places);
                        add([bytes / (chunk * itemsize).max(1) as u64, bytes]);
                        continue;
                    }
                    let is_alone = is_selected && part.as_run().is_none() && window.is_contiguous(shape);
                    let gaps = if is_alone && view.crossing().is_none() { Gaps::Unwanted } else { Gaps::Wanted };
                    add(match is_remote {
                        true => source.calls_between(&part, gaps),
                        false => calls(&part, itemsize, GatherRule { gaps, ..GatherRule::of(READ_AT_ONCE) })
                            .map(|count| count as u64),
                    });
                }
            }
            found
        };
        // The index of each shard.
        let indexes = chunks.map_or(0, |(chunks, _)| chunks.indexes_at(view, source.shape()));
        let [reads, bytes] = match &plan.steps {
            Steps::Slabs { slabs, units, .. } => sum_of(slabs.count(), |n| {
                let slab = slabs.get(n);
                let numbers = units.touched_by(&slab.spans().collect::<Vec<_>>()).unwrap_or_default();
                sum_of(numbers.len(), |n| of_region(&Region::Box(common(&units.get(numbers[n]), &slab, shape))))
            }),
            steps => sum_of(steps.count(), |n| of_region(&steps.get(n))),
        };
        Some([reads + indexes, bytes])
    }

    /// Returns whether updates replace all items of a box, so that the data are not read.
    fn is_covered(&self, window: &Window) -> bool {
        let Some(Feeds::Slice(spans)) = self.reads.get(1).map(|updates| &updates.feeds) else { return false };
        let named = spans.iter().zip(&window.ranges).map(|(span, range)| span.within(range.start, range.end).len());
        named.product::<usize>() == window.items()
    }

    fn bytes_changed(&self, plan: &Plan) -> Result<u64> {
        let patch = self.patch().expect("an operator that changes data in place is a patch");
        let itemsize = self.meta.dtype.itemsize();
        (0..plan.steps.count())
            .try_fold(0, |bytes, n| Ok(bytes + (patch.extent(plan.steps.get(n).window())?.len() * itemsize) as u64))
    }

    fn explained(&self, plan: Plan, cost: Cost, instead: Option<(Plan, Cost)>) -> Explanation {
        let itemsize = match plan.route {
            Route::Scan { .. } => self.reads.iter().map(|access| access.source.dtype().itemsize()).fold(1, usize::max),
            _ => self.meta.dtype.itemsize(),
        };
        let (mut operands, is_remote, notes) = (self.operands(&plan), self.is_remote, Vec::new());
        for (n, operand) in operands.iter_mut().enumerate().filter(|(n, _)| !self.reads[*n].costs_requests()) {
            if let Some([_, bytes]) = self.reads_of_regions(&plan, n).filter(|_| operand.bytes > 0) {
                operand.times = bytes as f64 / operand.bytes as f64;
            }
        }
        Explanation { operands, plan, cost, instead, itemsize, is_remote, notes }
    }
}

/// Adds up the reads and bytes of regions, or extrapolates from some of more than [`MAX_COUNTED`].
fn sum_of(count: usize, of: impl Fn(usize) -> [u64; 2]) -> [u64; 2] {
    // An odd step does not match the period of a plan.
    let step = if count > MAX_COUNTED { count.div_ceil(MAX_COUNTED) | 1 } else { 1 };
    let numbers = (0..count).step_by(step);
    let (some, all) = (numbers.len().max(1) as u128, count as u128);
    let sums = numbers.map(of).fold([0, 0], |sums: [u64; 2], more| [sums[0] + more[0], sums[1] + more[1]]);
    sums.map(|sum| u64::try_from((u128::from(sum) * all + some / 2) / some).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::num::NonZero;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;
    use crate::operators::call::Operands;
    use crate::operators::fill::Machine;
    use crate::operators::fill::{Fill, Limits};
    use crate::plans::job::Job;
    use crate::plans::sink::FileSink;
    use crate::storage::read_at::{Identity, MemoryBytes, ReadAt, Stamp};
    use crate::storage::source::Source;
    use tensorop_kernels::item::dtype::DType;
    use tensorop_kernels::item::meta::{Meta, Order};
    use tensorop_kernels::ops::call::Call;
    use tensorop_kernels::ops::indexed::OutOfRange;
    use tensorop_kernels::ops::operators::concat::Joining;
    use tensorop_kernels::ops::operators::pad::PadMode;
    use tensorop_kernels::ops::reduction::{Reduction, Repeats};
    use tensorop_kernels::parallel::Threads;

    /// Bytes whose reads are added up.
    #[derive(Debug)]
    struct CountedBytes(MemoryBytes, Arc<[AtomicU64; 2]>);

    impl ReadAt for CountedBytes {
        fn size(&self) -> io::Result<u64> {
            self.0.size()
        }

        fn read_at(&self, out: &mut [u8], at: u64) -> io::Result<()> {
            self.1[0].fetch_add(1, Ordering::Relaxed);
            self.1[1].fetch_add(out.len() as u64, Ordering::Relaxed);
            self.0.read_at(out, at)
        }

        fn stamp(&self) -> io::Result<Stamp> {
            self.0.stamp()
        }

        fn identity(&self) -> io::Result<Identity> {
            self.0.identity()
        }
    }

    fn source(shape: &[usize], order: Order, below: Option<u64>, counter: &Arc<[AtomicU64; 2]>) -> Source {
        let dtype = DType::parse(if below.is_some() { "int64" } else { "float32" }).unwrap();
        let meta = Meta { order, ..Meta::c_order(dtype, shape.to_vec()) };
        let items = 0..product(shape) as u64;
        let bytes: Vec<u8> = match below {
            Some(below) => items.flat_map(|n| (n * n * 2_654_435_761 % below).to_le_bytes()).collect(),
            None => items.flat_map(|n| (n as f32).to_le_bytes()).collect(),
        };
        Source::stored(meta, Arc::new(CountedBytes(MemoryBytes::new(bytes), Arc::clone(counter))), 0, "x".to_owned())
            .unwrap()
    }

    /// Call; shapes of data, updates and indices; bound of the indices.
    struct Row {
        call: Call,
        data: Vec<Vec<usize>>,
        updates: Option<Vec<usize>>,
        indices: Option<(Vec<usize>, u64)>,
    }

    impl Row {
        fn linked(
            &self,
            orders: [Order; 3],
            in_place: bool,
            limits: Limits,
            counter: &Arc<[AtomicU64; 2]>,
        ) -> Box<dyn Fill> {
            let data: Vec<_> = self.data.iter().map(|shape| source(shape, orders[0], None, counter)).collect();
            let updates = self.updates.as_ref().map(|shape| source(shape, orders[1], None, counter));
            let indices = self.indices.as_ref().map(|(shape, below)| source(shape, orders[2], Some(*below), counter));
            let metas: Vec<_> = data.iter().map(Source::meta).collect();
            let [shape, of_updates] = [&indices, &updates].map(|it| it.as_ref().map(Source::shape));
            let call = self.call.resolve(&metas, shape, of_updates).unwrap();
            Operands { data, indices, updates, in_place }.link_resolved(call, limits).unwrap()
        }
    }

    fn rows() -> Vec<Row> {
        let row = |call, data: &[&[usize]]| Row {
            call,
            data: data.iter().map(|shape| shape.to_vec()).collect(),
            updates: None,
            indices: None,
        };
        let at = |text: &str| text.parse().unwrap();
        let by = |call, data: &[usize], indices: (&[usize], u64), updates: Option<&[usize]>| Row {
            updates: updates.map(<[usize]>::to_vec),
            indices: Some((indices.0.to_vec(), indices.1)),
            ..row(call, &[data])
        };
        let (none, last) = (Reduction::None, Repeats::LastWins);
        let gather = Call::Gather { axis: 1, batch_dims: 0, out_of_range: OutOfRange::Error, counts_from_end: true };
        vec![
            row(Call::Slice(at(":, 3:40, ::2")), &[&[10, 60, 70]]),
            row(Call::Slice(at("::-1, :, 7:8")), &[&[10, 60, 70]]),
            row(Call::Transpose { axes: Some(vec![2, 0, 1]) }, &[&[10, 60, 70]]),
            row(Call::Concat { axis: 1, joining: Joining::Along }, &[&[20, 60, 7], &[20, 1, 7], &[20, 33, 7]]),
            row(Call::Concat { axis: 2, joining: Joining::Stacked }, &[&[200, 60], &[200, 60]]),
            row(Call::Tile { repeats: vec![2, 1, 3] }, &[&[20, 30, 40]]),
            row(Call::Roll { shift: vec![7], axes: None }, &[&[20, 30, 40]]),
            row(
                Call::Pad { before: vec![1, 2], after: vec![5, 3], axes: None, mode: PadMode::Reflect },
                &[&[300, 200]],
            ),
            Row { updates: Some(vec![10, 20, 70]), ..row(Call::SliceScatter(at(":, 3::2")), &[&[10, 43, 70]]) },
            by(Call::ScatterUpdate { axis: 1, repeats: last }, &[30, 100, 9], (&[20], 100), Some(&[30, 20, 9])),
            by(Call::ScatterUpdate { axis: 0, repeats: last }, &[100, 300], (&[20], 100), Some(&[20, 300])),
            by(
                Call::ScatterNd { opset: None, reduction: none, repeats: last },
                &[20, 20, 90],
                (&[50, 2], 20),
                Some(&[50, 90]),
            ),
            by(gather, &[30, 100, 9], (&[120], 100), None),
            by(Call::GatherNd { batch_dims: 0 }, &[20, 20, 300], (&[50, 2], 20), None),
            by(Call::GatherNd { batch_dims: 0 }, &[30, 30, 40], (&[3000, 3], 30), None),
        ]
    }

    fn limits(threads: usize, machine: Machine) -> Limits {
        Limits { threads: Threads::new(NonZero::new(threads)).started_for(0), machine }
    }

    #[test]
    fn a_run_reads_what_its_plan_says() {
        let (c, f) = (Order::C, Order::Fortran);
        let machines = [Machine::default(), Machine { entries: 1 << 30, ..Machine::with_windows_of(1 << 13) }];
        for (n, row) in rows().iter().enumerate() {
            for (orders, machine) in
                [[c, c, c], [f, c, c], [c, f, f]].into_iter().flat_map(|it| machines.map(|m| (it, m)))
            {
                let (counter, limits) = (Arc::new([AtomicU64::new(0), AtomicU64::new(0)]), limits(2, machine));
                let mut job = Job::new(row.linked(orders, false, limits, &counter), limits);
                let told = job.planners().explain(SinkKind::File { base: Some(0), is_alone: false });
                let file = tempfile::tempfile().unwrap();
                job.begin(&told.plan).unwrap();
                job.run_all(&told.plan, &FileSink::new(&file, 0, job.meta(), "OUT"), &|_| {}).unwrap();
                let [reads, bytes] = [0, 1].map(|n| counter[n].load(Ordering::Relaxed));
                let calls = told.cost.calls;
                let context = format!("row {n} {orders:?} {calls:?}, {reads} reads of {bytes}: {:?}", told.plan);
                assert!(row.indices.is_some() || [calls.reads, calls.bytes_read] == [reads, bytes], "{context}");
                // How near each other the places are that a gather reads is not known before.
                let is_known = row.indices.is_none() || row.updates.is_some() && machine == Machine::default();
                assert!(!is_known || calls.bytes_read.abs_diff(bytes) <= bytes / 4, "{context}");
            }
        }
    }

    #[test]
    fn some_of_many_regions_stand_for_all() {
        assert_eq!(sum_of(0, |_| [1, 1]), [0, 0]);
        assert_eq!(sum_of(MAX_COUNTED, |n| [1, n as u64]), [1 << 16, (1 << 15) * ((1 << 16) - 1)]);
        let [reads, bytes] = sum_of(1 << 40, |n| [1, n as u64 % 4]);
        assert!(reads == 1 << 40 && bytes.abs_diff(3 << 39) < 1 << 30, "{reads} {bytes}");
        assert_eq!(sum_of(usize::MAX, |_| [2, u64::MAX >> 20]), [u64::MAX; 2]);
    }
}
