//! The window loop: several threads fill the output of an operator window by window for a sink.
//!
//! The same loop over the same [`Fill`] serves memory, pipes, files and changes in place. Windows are independent, so
//! the output does not depend on the threads. A [`Plan`] decides how the output is cut, read and held. A sink that
//! needs order gets windows from one thread, since more would need more memory and these sinks are mostly slower than
//! reading; with remote data all threads fill windows, because each is a wait.

use std::fs::File;
use std::io::Seek;
use std::ops::Range;

use super::cost::Planners;
use super::plan::{Before, Plan, Route, SinkKind, Steps};
use super::planner::Planner;
use super::sink::{FileSink, Take, WindowSink};
use super::slabs::HeldUnits;
use crate::operators::access::Access;
use crate::operators::fill::{Fill, Limits, Patch, Region, Scratch};
use crate::storage::platform::unnamed_file;
use crate::storage::source::READ_AT_ONCE;
use tensorop_kernels::error::{Context, Error, Result};
use tensorop_kernels::item::meta::Meta;
use tensorop_kernels::layout::window::{Window, Windows};
use tensorop_kernels::memory::{Buffer, fill_from};
use tensorop_kernels::parallel::{share, share_in_order};

/// Called with the number of bytes of each finished window.
pub type Progress<'a> = &'a (dyn Fn(usize) + Sync);

/// An operator that is about to run.
#[derive(Debug)]
pub struct Job {
    fill: Box<dyn Fill>,
    limits: Limits,
    label: String,
    /// The way to read operands, once begun.
    way: Option<usize>,
}

impl Job {
    pub fn new(fill: Box<dyn Fill>, limits: Limits) -> Self {
        // There may be no appended rows.
        let label = fill.operand(0).map_or_else(String::new, |data| data.label().to_owned());
        Self { fill, limits, label, way: None }
    }

    pub fn meta(&self) -> &Meta {
        self.fill.meta()
    }

    pub fn limits(&self) -> Limits {
        self.limits
    }

    pub fn data_access(&self) -> Option<Access<'_>> {
        self.fill.reads(self.way.unwrap_or(0)).into_iter().next()
    }

    pub fn fill(&self) -> &dyn Fill {
        &*self.fill
    }

    /// Returns the planners of all ways to read the operands, or of the [begun](Self::begin) way.
    pub fn planners(&self) -> Planners<'_> {
        Planners::new(&*self.fill, self.limits, self.way)
    }

    /// Returns the best plan.
    pub fn plan(&self, sink: SinkKind<'_>) -> Plan {
        self.planners().plan(sink)
    }

    /// Returns the planner of the begun way, or of the first.
    pub fn planner(&self) -> Planner<'_> {
        let first = || self.fill.ways(&self.limits)[0];
        Planner::new(&*self.fill, self.limits, self.way.unwrap_or_else(first))
    }

    /// Does the steps before the first window, except downloads, which [`run`](Self::run) makes. Later plans do not
    /// repeat them.
    pub fn begin(&mut self, plan: &Plan) -> Result<()> {
        if self.way.is_some() {
            return Ok(());
        }
        self.way = Some(plan.way);
        self.fill.take(plan.way);
        for before in &plan.before {
            if let Before::Hold(holding) = before {
                self.fill.hold(holding, &self.limits)?;
            }
        }
        Ok(())
    }

    fn executor<'a>(&'a self, plan: &'a Plan, progress: Progress<'a>) -> Executor<'a> {
        debug_assert_eq!(self.way, Some(plan.way), "a plan is begun before it is carried out");
        Executor { job: self, plan, progress }
    }

    /// Makes the regions `numbers` of a [begun](Self::begin) plan. If several windows fail, the error of the first by
    /// number is returned.
    pub fn run(&self, plan: &Plan, numbers: Range<usize>, sink: &dyn WindowSink, progress: Progress<'_>) -> Result<()> {
        self.executor(plan, progress).run(numbers, sink)
    }

    pub fn run_all(&self, plan: &Plan, sink: &dyn WindowSink, progress: Progress<'_>) -> Result<()> {
        self.run(plan, 0..plan.steps.count(), sink, progress)
    }

    /// Passes the items of a plan to `take` in order. Of [runs](Steps::Runs) only their own items are read, and
    /// `progress` counts the whole output at the end.
    pub fn stream(&self, plan: &Plan, progress: Progress<'_>, take: &mut Take<'_>) -> Result<()> {
        if plan.route == Route::TemporaryFile {
            let sink = |file: &File| self.run_all(plan, &FileSink::new(file, 0, self.meta(), &self.label), progress);
            return spool(&format!("{}: cannot be kept in a temporary file", self.label), sink, take);
        }
        let executor = self.executor(plan, progress);
        executor.begin()?;
        let is_part = matches!(plan.steps, Steps::Runs(_));
        let get = |n| plan.steps.get(n);
        executor.regions(plan.steps.count(), &get).in_order(&mut |items| {
            take(items)?;
            progress(if is_part { 0 } else { items.len() });
            Ok(())
        })?;
        if is_part {
            progress(self.meta().bytes());
        }
        self.fill.finish()
    }

    /// Writes the windows of a [planned edit](Planners::plan_edit) to the data's file or its clone. `patch` is the
    /// operator. Only the part of a window from the first to the last change is written.
    pub fn edit(&self, plan: &Plan, patch: &dyn Patch, sink: &FileSink<'_>, progress: Progress<'_>) -> Result<()> {
        let itemsize = self.meta().dtype.itemsize();
        let put = |region: &Region, items: &[u8]| {
            let window = region.window();
            let Range { start, end } = patch.extent(window)?;
            sink.put_items(&items[start * itemsize..end * itemsize], window.start + start)
        };
        self.run_all(plan, &put, progress)
    }
}

/// Passes the bytes that `write` puts into a temporary file to `take`, from front to back. `failed` begins an error.
pub fn spool(failed: &str, write: impl FnOnce(&File) -> Result<()>, take: &mut Take<'_>) -> Result<()> {
    let mut file = unnamed_file().with_context(|| failed.to_owned())?;
    write(&file)?;
    file.rewind().with_context(|| failed.to_owned())?;
    let mut bytes = vec![0; READ_AT_ONCE];
    while let some @ 1.. = fill_from(&mut file, &mut bytes).with_context(|| failed.to_owned())? {
        take(&bytes[..some])?;
    }
    Ok(())
}

struct Executor<'a> {
    job: &'a Job,
    plan: &'a Plan,
    progress: Progress<'a>,
}

impl Executor<'_> {
    fn regions<'r>(&'r self, count: usize, get: &'r GetRegion<'r>) -> Regions<'r> {
        let Job { fill, label, .. } = self.job;
        Regions { count, threads: self.plan.threads, get, fill: &**fill, label, held: None, is_done: &|_| Ok(false) }
    }

    fn begin(&self) -> Result<()> {
        let mut fetched = self.plan.before.iter().filter_map(|before| match before {
            Before::Fetch(operand) => self.job.fill.operand(*operand),
            Before::Hold(_) | Before::Clone => None,
        });
        fetched.try_for_each(|source| source.bring_near(self.job.limits.threads))
    }

    fn run(&self, numbers: Range<usize>, sink: &dyn WindowSink) -> Result<()> {
        self.begin()?;
        if let Steps::Slabs { slabs, units, windows } = &self.plan.steps {
            for slab in slabs.iter() {
                let mut own = windows.touched_by(&slab.spans().collect::<Vec<_>>())?;
                own.retain(|number| numbers.contains(number));
                let own = own.into_iter().map(|number| windows.get(number)).collect();
                self.run_slab(slab, units, own, sink)?;
            }
        } else {
            let get = |n| self.plan.steps.get(numbers.start + n);
            let is_done = |region: &Region| self.has(region, sink);
            let regions = Regions { is_done: &is_done, ..self.regions(numbers.len(), &get) };
            self.hand_on(&regions, sink)?;
        }
        self.job.fill.finish()
    }

    fn run_slab(&self, slab: Window, units: &Windows, windows: Vec<Window>, sink: &dyn WindowSink) -> Result<()> {
        let Meta { dtype, shape, .. } = self.job.meta();
        let look = |n: usize, left: &mut Vec<usize>| {
            if !self.has(&Region::Box(windows[n].clone()), sink)? {
                left.push(n);
            }
            Ok::<_, Error>(true)
        };
        let mut left = share(self.plan.threads, windows.len(), Vec::new, look)?.concat();
        left.sort_unstable();
        let held = HeldUnits::new(shape, dtype.itemsize(), slab, units, left.iter().map(|&n| &windows[n]))?;
        let get = |n| Region::Box(held.window(n));
        self.regions(held.count(), &get).each(&|| (), &|(), n, _, items| {
            held.put(n, std::mem::take(items));
            Ok(true)
        })?;
        let get = |n: usize| Region::Box(windows[left[n]].clone());
        self.hand_on(&Regions { held: Some(&held), ..self.regions(left.len(), &get) }, sink)
    }

    fn has(&self, region: &Region, sink: &dyn WindowSink) -> Result<bool> {
        let Region::Box(window) = region else { return Ok(false) };
        let has = sink.has(window, &|| self.job.fill.stored(window))?;
        if has {
            (self.progress)(region.items() * self.job.meta().dtype.itemsize());
        }
        Ok(has)
    }

    fn hand_on(&self, regions: &Regions<'_>, sink: &dyn WindowSink) -> Result<()> {
        let each = |(): &mut (), _, region: &Region, items: &mut Buffer| {
            sink.put(region, items)?;
            (self.progress)(items.len());
            Ok(true)
        };
        regions.each(&|| (), &each).map(drop)
    }
}

pub(crate) type GetRegion<'a> = dyn Fn(usize) -> Region + Sync + 'a;

pub(crate) struct Regions<'a> {
    pub count: usize,
    pub threads: usize,
    pub get: &'a GetRegion<'a>,
    pub fill: &'a dyn Fill,
    pub label: &'a str,
    /// If set, regions are gathered from these units instead of the operator.
    pub held: Option<&'a HeldUnits<'a>>,
    /// Returns whether a region can be skipped.
    pub is_done: &'a (dyn Fn(&Region) -> Result<bool> + Sync),
}

impl Regions<'_> {
    /// Makes regions and passes them to `put` in any order, until `put` returns false. Returns the states of the
    /// threads. Of several errors the one of the first region is returned, so that messages do not depend on timing.
    pub(crate) fn each<S: Send>(
        &self,
        begin: &(dyn Fn() -> S + Sync),
        put: &(dyn Fn(&mut S, usize, &Region, &mut Buffer) -> Result<bool> + Sync),
    ) -> Result<Vec<S>> {
        let begin = || (begin(), Buffer::default(), Scratch::default());
        let states = share(self.threads, self.count, begin, |number, (state, items, scratch)| {
            let region = (self.get)(number);
            if (self.is_done)(&region)? {
                return Ok(true);
            }
            self.make(&region, items, scratch)?;
            put(state, number, &region, items)
        })?;
        Ok(states.into_iter().map(|(state, ..)| state).collect())
    }

    fn make(&self, region: &Region, items: &mut Buffer, scratch: &mut Scratch) -> Result<()> {
        if let Some(held) = self.held {
            return held.gather(region.window(), items);
        }
        items.resize(region.items() * self.fill.meta().dtype.itemsize(), self.label)?;
        self.fill.fill(region, items, scratch)
    }

    /// Makes regions and passes them to `take` in order, while other threads read ahead.
    pub(crate) fn in_order(&self, take: &mut Take<'_>) -> Result<()> {
        let begin = || (Buffer::default(), Scratch::default());
        let make = |number, (items, scratch): &mut (_, _)| self.make(&(self.get)(number), items, scratch);
        share_in_order(self.threads, self.count, begin, make, |_, (items, _)| take(items).map(|()| true))
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::num::NonZero;
    use std::sync::{Arc, Mutex};

    use super::*;
    use crate::operators::arranged::reshaped;
    use crate::operators::cast::{CastFill, CastRule};
    use crate::operators::concat::LinkedConcat;
    use crate::operators::converted::Converted;
    use crate::operators::fill::Machine;
    use crate::operators::indexed::{LinkedScatter, ScatterOperands};
    use crate::operators::selection::Selection;
    use crate::operators::slice_scatter::LinkedSliceScatter;
    use crate::storage::source::Source;
    use tensorop_kernels::error::malformed;
    use tensorop_kernels::item::dtype::DType;
    use tensorop_kernels::item::encoding::Conversion;
    use tensorop_kernels::item::meta::Order;
    use tensorop_kernels::item::tensor::Tensor;
    use tensorop_kernels::layout::axis::Span;
    use tensorop_kernels::ops::call::ScatterRule;
    use tensorop_kernels::ops::operators::concat::{self, Joining};
    use tensorop_kernels::ops::operators::scatter_update;
    use tensorop_kernels::ops::reduction::{Reduction, Repeats};
    use tensorop_kernels::ops::slice_scatter::SliceScatter;
    use tensorop_kernels::ops::tally::Application;
    use tensorop_kernels::parallel::Threads;

    #[derive(Default)]
    struct Seen(Mutex<Vec<(usize, Vec<u8>)>>);

    impl WindowSink for Seen {
        fn put(&self, region: &Region, items: &[u8]) -> Result<()> {
            self.0.lock().unwrap().push((region.window().start, items.to_vec()));
            Ok(())
        }
    }

    impl Seen {
        fn ordered(self, windows: &Windows) -> Vec<u8> {
            let mut all = vec![255; 60];
            for (start, items) in self.0.into_inner().unwrap() {
                let window = windows.get(windows.number_of(start));
                (0..items.len()).for_each(|n| {
                    let at = window.index_of(n);
                    all[(at[0] * 4 + at[1]) * 5 + at[2]] = items[n];
                });
            }
            all
        }
    }

    fn limits(threads: usize, window: usize) -> Limits {
        Limits {
            threads: Threads::new(NonZero::new(threads)).started_for(0),
            machine: Machine::with_windows_of(window),
        }
    }

    impl Job {
        fn in_order(&self, progress: Progress<'_>, take: &mut Take<'_>) -> Result<()> {
            self.stream(&self.plan(SinkKind::Stream), progress, take)
        }

        fn write(&self, file: &File, header: &[u8], progress: Progress<'_>) -> Result<()> {
            let sink = FileSink::new(file, header.len() as u64, self.meta(), "OUT");
            sink.put_bytes(header, 0)?;
            self.run_all(&self.plan(SinkKind::File { base: sink.base(), is_alone: true }), &sink, progress)
        }
    }

    fn begun(fill: Box<dyn Fill>, limits: Limits) -> Job {
        let mut job = Job::new(fill, limits);
        job.begin(&job.plan(SinkKind::File { base: Some(0), is_alone: true })).unwrap();
        job
    }

    fn sixty() -> Source {
        let tensor = Tensor::new(DType::parse("uint8").unwrap(), vec![3, 4, 5], (0..60).collect()).unwrap();
        Source::memory(tensor, "DATA".to_owned())
    }

    fn reversed() -> Box<dyn Fill> {
        Box::new(Selection::slice(sixty(), &[3, 4, 5].map(|len| Span { start: len - 1, step: -1, len })))
    }

    #[test]
    fn any_windows_threads_and_shares_give_the_same() {
        let expected: Vec<u8> = (0..60).rev().collect();
        for threads in [1, 3] {
            for window in [1, 7, 20, 1000] {
                for sides in [None, Some(vec![2, 1, 1]), Some(vec![1, 3, 4]), Some(vec![2, 3, 2])] {
                    for shares in [1, 2, 5, 100] {
                        let job = begun(reversed(), limits(threads, window));
                        let windows =
                            sides.as_ref().map_or(job.planner().windows(), |it| Windows::boxes(&[3, 4, 5], it));
                        let seen = Seen::default();
                        let share = |number| number * windows.count() / shares;
                        for number in 0..shares {
                            {
                                let plan = job.plan(SinkKind::Share(&windows));
                                job.run(&plan, share(number)..share(number + 1), &seen, &|_| ())
                            }
                            .unwrap();
                        }
                        let found = seen.ordered(&windows);
                        assert_eq!(found, expected, "{threads} {window} {sides:?} {shares}");
                    }
                }
            }
        }
    }

    #[test]
    fn streams_come_in_order() {
        let job = begun(reversed(), limits(4, 3));
        let (mut all, told) = (Vec::new(), Mutex::new(0));
        job.in_order(&|bytes| *told.lock().unwrap() += bytes, &mut |items| {
            all.extend_from_slice(items);
            Ok(())
        })
        .unwrap();
        assert_eq!((all, *told.lock().unwrap()), ((0..60).rev().collect(), 60));
    }

    #[test]
    fn the_error_of_the_first_window_is_returned() {
        struct Refuses;
        impl WindowSink for Refuses {
            fn put(&self, region: &Region, _: &[u8]) -> Result<()> {
                Err(malformed!("window at {}", region.window().start))
            }
        }
        let job = begun(reversed(), limits(4, 3));
        let windows = job.planner().windows();
        let plan = job.plan(SinkKind::Share(&windows));
        let error = job.run(&plan, 2..windows.count(), &Refuses, &|_| ()).unwrap_err();
        assert_eq!(error.to_string(), format!("window at {}", windows.get(2).start));
        let fill =
            CastFill::over(Box::new(Selection::whole(sixty())), DType::parse("bool").unwrap(), CastRule::default())
                .unwrap();
        let job = begun(fill, limits(1, 8));
        let plan = job.plan(SinkKind::Share(&job.planner().windows()));
        let error = job.run(&plan, 0..2, &Seen::default(), &|_| ()).unwrap_err();
        assert_eq!(error.to_string(), "DATA: 2 is neither 0 nor 1 (bool) at [0, 0, 2]");
    }

    fn across(shape: &[usize], first: u8) -> Source {
        let items: Vec<u8> = (first..).take(shape.iter().product()).collect();
        let file = tempfile::tempfile().unwrap();
        crate::storage::platform::write_at(&file, &items, 0).unwrap();
        let meta = Meta { order: Order::Fortran, ..Meta::c_order(DType::parse("uint8").unwrap(), shape.to_vec()) };
        Source::stored(meta, Arc::new(file), 0, "ACROSS".to_owned()).unwrap()
    }

    fn scattered_backwards() -> Box<dyn Fill> {
        let args = ":, ::2, ::-1".parse().unwrap();
        let places = SliceScatter::resolve(&[3, 4, 5], &args, Some(&[3, 2, 5])).unwrap();
        let same = Conversion::identity(&DType::parse("uint8").unwrap());
        Box::new(LinkedSliceScatter::new(
            &places,
            Selection::whole(sixty()),
            Converted::new(across(&[3, 2, 5], 100), same),
        ))
    }

    #[test]
    fn operands_across_the_output_are_read_by_boxes() {
        for limits in [limits(1, 7), limits(2, 20), limits(2, 1000)] {
            let joined = concat::check(&[&[3, 4, 5][..], &[3, 2, 5]], 1, Joining::Along).unwrap();
            let rows: [(&str, Box<dyn Fill>); 3] = [
                ("whole", Box::new(Selection::whole(across(&[3, 4, 5], 0)))),
                ("updates", scattered_backwards()),
                ("joined", Box::new(LinkedConcat::new(joined, vec![sixty(), across(&[3, 2, 5], 60)]).unwrap())),
            ];
            for (name, fill) in rows {
                let (file, bytes) = (tempfile::tempfile().unwrap(), fill.meta().bytes());
                let job = begun(fill, limits);
                let plan = job.plan(SinkKind::File { base: Some(0), is_alone: true });
                assert!(!matches!(plan.steps, Steps::Blocks(_)), "{name} {plan:?}");
                let (told, mut expected) = (Mutex::new(0), Vec::new());
                job.in_order(&|_| (), &mut |items| {
                    expected.extend_from_slice(items);
                    Ok(())
                })
                .unwrap();
                job.write(&file, b"", &|bytes| *told.lock().unwrap() += bytes).unwrap();
                let mut found = vec![0; bytes];
                crate::storage::platform::read_at(&file, &mut found, 0).unwrap();
                assert_eq!((&found, *told.lock().unwrap()), (&expected, bytes), "{name} {limits:?}");
            }
        }
    }

    const ROWS: [usize; 3] = [7, 50, 60];

    fn stored(dtype: &str) -> Source {
        let dtype = DType::parse(dtype).unwrap();
        let items = (0..=250_u8).cycle().take(ROWS.iter().product());
        let items: Vec<u8> = items.flat_map(|n| [n, 0].into_iter().take(dtype.itemsize())).collect();
        let file = tempfile::tempfile().unwrap();
        crate::storage::platform::write_at(&file, &items, 0).unwrap();
        Source::stored(Meta::c_order(dtype, ROWS.into()), Arc::new(file), 0, "DATA".to_owned()).unwrap()
    }

    fn scattered(dtype: &str, at: &str, dims: [usize; 3]) -> Box<dyn Fill> {
        let places = SliceScatter::resolve(&ROWS, &at.parse().unwrap(), Some(&dims)).unwrap();
        let data = stored(dtype);
        let items = vec![200; dims.iter().product::<usize>() * data.dtype().itemsize()];
        let updates = Tensor::new(data.dtype().clone(), dims.into(), items).unwrap();
        let same = Conversion::identity(data.dtype());
        let updates = Converted::new(Source::memory(updates, "UPDATES".to_owned()), same);
        Box::new(LinkedSliceScatter::new(&places, Selection::whole(data), updates))
    }

    fn updated(dtype: &str, reduction: Reduction, limits: Limits) -> Box<dyn Fill> {
        let (base, dims) = (Selection::whole(stored(dtype)), [7, 3, 60]);
        let dtype = base.meta().dtype.clone();
        let shapes = scatter_update::check(&ROWS, &[3], Some(&dims), 1).unwrap();
        let updates = (1..=200).cycle().take(dims.iter().product::<usize>() * dtype.itemsize()).collect();
        let updates = Source::memory(Tensor::new(dtype.clone(), dims.into(), updates).unwrap(), "UPDATES".to_owned());
        let indices = Source::memory(Tensor::from(&ndarray::array![4_u8, 3, 49]), "INDICES".to_owned());
        let application = Application::new(&dtype, reduction, true).unwrap();
        let repeats = if reduction == Reduction::None { Repeats::LastWins } else { Repeats::Combined };
        let operands =
            ScatterOperands { base, indices, updates: Converted::new(updates, Conversion::identity(&dtype)) };
        Box::new(LinkedScatter::new(shapes, operands, ScatterRule { repeats, application }, limits).unwrap())
    }

    #[test]
    fn blocks_of_a_file_hold_what_windows_hold() {
        let wide = |fill| CastFill::over(fill, DType::parse("float32").unwrap(), CastRule::default()).unwrap();
        let steps = [Span { start: 6, step: -2, len: 4 }, Span { start: 0, step: 2, len: 25 }, Span::whole(60)];
        type Make<'a> = &'a dyn Fn(Limits) -> Box<dyn Fill>;
        let rows: [(&str, Make<'_>); 11] = [
            ("updated", &|limits| updated("uint8", Reduction::None, limits)),
            ("added to", &|limits| updated(">u2", Reduction::Add, limits)),
            ("whole", &|_| Box::new(Selection::whole(stored("uint8")))),
            ("whole, of 2 bytes", &|_| Box::new(Selection::whole(stored("uint16")))),
            ("in memory", &|_| Box::new(Selection::whole(sixty()))),
            ("sliced", &|_| Box::new(Selection::slice(stored("uint16"), &steps))),
            ("replaced", &|_| scattered("uint16", "1:, ::3, 1:40", [6, 17, 39])),
            ("rows replaced", &|_| scattered("uint8", "1:4, :49", [3, 49, 60])),
            ("cast", &|_| wide(scattered("uint16", ":, 2:, 59:", [7, 48, 1]))),
            ("reshaped", &|_| reshaped(stored("uint16"), vec![70, 300])),
            ("joined", &|_| {
                let joined = concat::check(&[&ROWS[..], &ROWS], 1, Joining::Along).unwrap();
                Box::new(LinkedConcat::new(joined, vec![stored("uint8"), stored("uint8")]).unwrap())
            }),
        ];
        for (name, make) in rows {
            for limits in [limits(2, 64), limits(1, 5000), limits(2, 9000), limits(3, 16384), limits(2, 1 << 30)] {
                for header in [0, 1, 6, 64] {
                    let job = begun(make(limits), limits);
                    let (file, bytes, mut expected) =
                        (tempfile::tempfile().unwrap(), job.meta().bytes(), vec![7; header]);
                    job.in_order(&|_| (), &mut |items| {
                        expected.extend_from_slice(items);
                        Ok(())
                    })
                    .unwrap();
                    let told = Mutex::new(0);
                    job.write(&file, &vec![7; header], &|bytes| *told.lock().unwrap() += bytes).unwrap();
                    let mut found = vec![0; header + bytes];
                    crate::storage::platform::read_at(&file, &mut found, 0).unwrap();
                    let length = file.metadata().unwrap().len();
                    assert_eq!((&found, length), (&expected, expected.len() as u64), "{name} {limits:?} {header}");
                    assert_eq!(*told.lock().unwrap(), bytes, "{name} {limits:?} {header}");
                }
            }
        }
    }

    #[test]
    fn what_an_output_is_written_by() {
        let file = tempfile::tempfile().unwrap();
        // operator, bytes of a window, of a header, of a block
        type Row<'a> = (&'a dyn Fn() -> Box<dyn Fill>, usize, u64, Option<usize>);
        let rows: [Row<'_>; 7] = [
            (&reversed, 16, 64, Some(16)),
            (&reversed, 37, 1, Some(32)),
            (&reversed, 1 << 30, 0, None),
            (&|| Box::new(Selection::whole(stored("uint16"))), 9000, 128, Some(8192)),
            (&|| Box::new(Selection::whole(stored("uint16"))), 9000, 127, None),
            (&|| Box::new(Selection::whole(stored("uint16"))), 8, 128, None),
            (
                &|| CastFill::over(reversed(), DType::parse("float64").unwrap(), CastRule::default()).unwrap(),
                71,
                128,
                Some(64),
            ),
        ];
        for (make, window, base, expected) in rows {
            let job = begun(make(), limits(1, window));
            let sink = FileSink::new(&file, base, job.meta(), "OUT");
            let plan = job.plan(SinkKind::File { base: sink.base(), is_alone: true });
            let block = if let Steps::Blocks(blocks) = plan.steps { Some(blocks.bytes) } else { None };
            assert_eq!(block, expected, "{window} {base}");
        }
    }

    #[test]
    fn the_item_that_a_block_cannot_cast_is_told_by_its_place() {
        for window in [64, 9000] {
            let fill = CastFill::over(
                Box::new(Selection::whole(stored("uint8"))),
                DType::parse("bool").unwrap(),
                CastRule::default(),
            );
            let job = begun(fill.unwrap(), limits(2, window));
            let error = job.write(&tempfile::tempfile().unwrap(), b"head", &|_| ()).unwrap_err();
            assert_eq!(error.to_string(), "DATA: 2 is neither 0 nor 1 (bool) at [0, 0, 2]");
        }
    }

    #[test]
    fn files_hold_header_and_items_and_nothing_else_changes() {
        let file = tempfile::tempfile().unwrap();
        let job = begun(reversed(), limits(2, 7));
        job.write(&file, b"head", &|_| ()).unwrap();
        let mut found = vec![0; 64];
        crate::storage::platform::read_at(&file, &mut found, 0).unwrap();
        assert_eq!((&found[..4], &found[4..]), (&b"head"[..], &(0..60).rev().collect::<Vec<u8>>()[..]));
        assert_eq!(file.metadata().unwrap().len(), 64);
    }
}
