//! Rehearsals: the system calls of a plan, counted by making its regions without reading the operands.

use super::cut::Cut;
use super::explain::Explanation;
use super::job::Job;
use super::plan::{Plan, Route, Steps};
use super::regions::RegionMaker;
use super::slabs::common;
use crate::error::Result;
use crate::memory::Buffer;
use crate::ops::fill::{Region, Scratch};
use crate::storage::calls::{CallCounter, Calls};
use crate::storage::chunked::MAX_ROW;

/// The bytes of the rehearsed regions; the rest is extrapolated.
const REHEARSED: usize = 1 << 26;

/// The maximum number of regions whose writes are counted.
const COUNTED: usize = 1 << 16;

impl Job {
    /// Adds the calls of a run, as far as known without reading, to an explanation. `counter` has the calls so far. The
    /// job cannot run afterwards, because its operands have no items.
    pub fn count(&mut self, of: &mut Explanation, counter: &CallCounter) -> Result<()> {
        let mut before = counter.take();
        // Streams and chunks show their reads only when they are read.
        let is_known = self.fill().operands().all(|source| !source.is_stream() && source.as_chunks().is_none());
        if is_known {
            before += counter.rehearse(|| self.begin(&of.plan))?;
        }
        let instead = of.instead.iter_mut().map(|(plan, cost)| (&*plan, cost));
        for (plan, cost) in [(&of.plan, &mut of.cost)].into_iter().chain(instead) {
            let reads = match is_known && plan.way == of.plan.way {
                true => before + self.reads_of(plan, counter)?,
                false => Calls { writes: 0, bytes_written: 0, ..cost.calls },
            };
            cost.calls = reads + self.writes_of(plan)?;
        }
        Ok(())
    }

    fn reads_of(&self, plan: &Plan, counter: &CallCounter) -> Result<Calls> {
        let Steps::Slabs { slabs, units, .. } = &plan.steps else {
            return self.rehearsed([plan.steps.count(), plan.steps.items()], &|n| plan.steps.get(n), counter);
        };
        let mut held = Vec::new();
        for slab in slabs.iter() {
            let numbers = units.touched_by(&slab.spans().collect::<Vec<_>>())?;
            held.extend(numbers.into_iter().map(|number| common(&units.get(number), &slab, &self.meta().shape)));
        }
        self.rehearsed([held.len(), self.meta().items()], &|n| Region::Box(held[n].clone()), counter)
    }

    fn rehearsed(
        &self,
        [count, all]: [usize; 2],
        get: &dyn Fn(usize) -> Region,
        counter: &CallCounter,
    ) -> Result<Calls> {
        let largest = [0, count / 2].into_iter().filter(|&n| n < count).map(|n| get(n).items()).max();
        let bytes = largest.unwrap_or(0).saturating_mul(self.meta().dtype.itemsize());
        let (mut made, mut items, mut scratch) = (0, Buffer::default(), Scratch::default());
        let calls = counter.rehearse(|| {
            sample(count, REHEARSED / bytes.max(1)).try_for_each(|n| {
                let region = get(n);
                made += region.items();
                self.make(&region, &mut items, &mut scratch)
            })
        })?;
        Ok(calls.scaled(made, all))
    }

    /// Includes reads of temporary files and stores.
    fn writes_of(&self, plan: &Plan) -> Result<Calls> {
        let bytes = self.meta().bytes();
        let alike = |count: usize| Calls { writes: count as u64, bytes_written: bytes as u64, ..Calls::default() };
        let read = |count: usize| Calls { reads: count as u64, bytes_read: bytes as u64, ..Calls::default() };
        Ok(match (&plan.route, &plan.steps) {
            (Route::File, steps) => self.writes_to_file(steps),
            (Route::TemporaryFile, steps) => {
                let again = bytes.div_ceil(MAX_ROW);
                self.writes_to_file(steps) + read(again) + alike(again)
            }
            (Route::Stream | Route::Windows, steps) => alike(steps.count()),
            // The output has as many chunks, of similar size.
            (Route::Between(_), steps) => alike(steps.count()) + read(steps.count()) + alike(steps.count()),
            (Route::InPlace, steps) => {
                let patch = self.fill().as_patch().expect("an operator that changes data in place is a patch");
                let itemsize = self.meta().dtype.itemsize();
                let mut writes = Calls::default();
                let numbers = sample(steps.count(), COUNTED);
                for n in numbers.clone() {
                    writes += Calls::write(patch.extent(steps.get(n).window())?.len() * itemsize);
                }
                writes.scaled(numbers.count(), steps.count())
            }
        })
    }

    fn writes_to_file(&self, steps: &Steps) -> Calls {
        let numbers = sample(steps.count(), COUNTED);
        let pieces = |n: usize| match steps {
            Steps::Each(Cut::Blocks(_)) | Steps::Runs(_) => 1,
            Steps::Each(Cut::Windows(windows)) | Steps::Some { windows, .. } | Steps::Slabs { windows, .. } => {
                windows.get(n).piece_count(&self.meta().shape) as u64
            }
        };
        let writes = Calls { writes: numbers.clone().map(pieces).sum(), ..Calls::default() };
        Calls { bytes_written: self.meta().bytes() as u64, ..writes.scaled(numbers.count(), steps.count()) }
    }
}

/// Returns up to `most` numbers below `count`, spread so that they do not match a period of a plan.
fn sample(count: usize, most: usize) -> impl Iterator<Item = usize> + Clone {
    let some = count.min(most.max(1));
    let begin = move |n: usize| (n as u128 * count as u128 / some.max(1) as u128) as usize;
    // A place in each of `some` parts, moved by the golden ratio.
    (0..some).map(move |n| {
        let part = begin(n + 1) - begin(n);
        begin(n) + ((u64::from((n as u32).wrapping_mul(0x9e37_79b9)) * part as u64) >> 32) as usize
    })
}

#[cfg(test)]
mod tests {
    use std::num::NonZero;
    use std::sync::Arc;

    use super::*;
    use crate::engine::plan::SinkKind;
    use crate::engine::sink::FileSink;
    use crate::item::dtype::DType;
    use crate::item::meta::{Meta, Order};
    use crate::layout::shape::product;
    use crate::ops::call::{Call, Operands};
    use crate::ops::concat::Joining;
    use crate::ops::fill::{Fill, Limits};
    use crate::ops::indexed::OutOfRange;
    use crate::ops::machine::Machine;
    use crate::ops::pad::PadMode;
    use crate::ops::reduction::{Reduction, Repeats};
    use crate::parallel::Threads;
    use crate::storage::counted::counted;
    use crate::storage::read_at::MemoryBytes;
    use crate::storage::source::Source;

    #[test]
    fn samples() {
        for (count, most, some) in [(0, 5, 0), (3, 0, 1), (7, 7, 7), (7, 100, 7), (1000, 30, 30)] {
            let numbers: Vec<usize> = sample(count, most).collect();
            assert_eq!(numbers.len(), some, "{count} {most}");
            assert!(numbers.is_sorted_by(|a, b| a < b) && numbers.iter().all(|&n| n < count), "{numbers:?} of {count}");
        }
        let numbers: Vec<usize> = sample(4000, 1000).map(|n| n % 4).collect();
        assert!((0..4).all(|place| numbers.iter().filter(|&&n| n == place).count() > 200));
    }

    fn source(shape: &[usize], order: Order, below: Option<u64>, counter: &Arc<CallCounter>) -> Source {
        let dtype = DType::parse(if below.is_some() { "int64" } else { "float32" }).unwrap();
        let meta = Meta { order, ..Meta::new(dtype, shape.to_vec()) };
        let items = 0..product(shape) as u64;
        let bytes: Vec<u8> = match below {
            Some(below) => items.flat_map(|n| (n * n * 2_654_435_761 % below).to_le_bytes()).collect(),
            None => items.flat_map(|n| (n as f32).to_le_bytes()).collect(),
        };
        Source::stored(meta, counted(Arc::new(MemoryBytes::new(bytes)), Some(counter)), 0, "x".to_owned()).unwrap()
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
            counter: &Arc<CallCounter>,
        ) -> Box<dyn Fill> {
            let data: Vec<_> = self.data.iter().map(|shape| source(shape, orders[0], None, counter)).collect();
            let updates = self.updates.as_ref().map(|shape| source(shape, orders[1], None, counter));
            let indices = self.indices.as_ref().map(|(shape, below)| source(shape, orders[2], Some(*below), counter));
            let metas: Vec<_> = data.iter().map(Source::meta).collect();
            let [shape, of_updates] = [&indices, &updates].map(|it| it.as_ref().map(Source::shape));
            let call = self.call.resolve(&metas, shape, of_updates).unwrap();
            call.link(Operands { data, indices, updates, in_place }, limits).unwrap()
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
    fn what_is_rehearsed_is_what_is_done() {
        let (c, f) = (Order::C, Order::Fortran);
        let machines = [Machine::default(), Machine { entries: 1 << 30, ..Machine::with_windows_of(1 << 13) }];
        let mut compared = 0;
        for (n, row) in rows().iter().enumerate() {
            for (orders, machine) in
                [[c, c, c], [f, c, c], [c, f, f]].into_iter().flat_map(|it| machines.map(|m| (it, m)))
            {
                let (counter, limits) = (Arc::new(CallCounter::default()), limits(2, machine));
                let linked = || Job::new(row.linked(orders, false, limits, &counter), limits);
                let mut job = linked();
                let mut told = job.planners().explain(SinkKind::File { base: Some(0), is_alone: false });
                job.count(&mut told, &counter).unwrap();
                assert_eq!(counter.take(), Calls::default(), "a rehearsal is not counted again");
                let (mut job, file) = (linked(), tempfile::tempfile().unwrap());
                job.begin(&told.plan).unwrap();
                job.run_all(&told.plan, &FileSink::new(&file, 0, job.meta(), "OUT"), &|_| {}).unwrap();
                let done = counter.take();
                assert!(done.reads > 0, "row {n}");
                let calls = told.cost.calls;
                assert_eq!(
                    (calls.reads, calls.bytes_read, calls.bytes_written),
                    (done.reads, done.bytes_read, job.meta().bytes() as u64 + done.bytes_written),
                    "row {n} {orders:?} {:?}",
                    told.plan
                );
                compared += 1;
            }
        }
        assert_eq!(compared, 15 * 6);
    }
}
