//! Scans: passes over all items of tensors, window by window, for comparisons and statistics. Each thread has a state,
//! and the caller merges the states.

use std::sync::atomic::{AtomicBool, Ordering};

use super::cost::Planners;
use super::job::{GetRegion, Progress, Regions};
use super::plan::{Before, Plan, SinkKind, WindowOrder};
use crate::operators::access::{Access, Holding};
use crate::operators::converted::must_be_seekable;
use crate::operators::fill::{Fill, Limits, Region, Scratch};
use crate::storage::source::{Hold, Source};
use tensorop_kernels::error::Result;
use tensorop_kernels::item::dtype::Kind;
use tensorop_kernels::item::encoding::Conversion;
use tensorop_kernels::item::meta::Meta;
use tensorop_kernels::layout::boxes::{pieces, tile};
use tensorop_kernels::layout::gather::LONG_PIECE;
use tensorop_kernels::layout::view::View;
use tensorop_kernels::layout::window::{Window, fill_each};

/// Ways to scan: the files that are copied to memory first.
const AS_THEY_ARE: usize = 0;
/// Files stored across the scan.
const ACROSS: usize = 1;
/// All files, if another is stored across the scan.
const ALL: usize = 2;
/// Files stored across the scan, in C order.
const ACROSS_IN_C_ORDER: usize = 3;

/// Returns whether two tensors of one dtype, shape and storage order have the same bytes. Both are read in storage
/// order up to the first difference, so the check is cheap.
pub fn same_bytes(a: &Source, b: &Source, limits: Limits, progress: Progress<'_>) -> Result<bool> {
    let each = |same: &mut bool, window: &ScannedBox<'_, 2>| {
        *same = window.items[0] == window.items[1];
        Ok(*same)
    };
    let planned = PlannedScan::new([a, b], &as_stored, WindowOrder::Runs, limits);
    Ok(planned.scan(progress, &|_| true, &|| true, &each)?.into_iter().all(|same| same))
}

/// The view in storage order.
pub fn as_stored(_: usize, source: &Source) -> View {
    source.meta().as_stored().view()
}

/// Tensors of one shape, read window by window. A window has the little-endian items of one part after the other.
#[derive(Debug)]
pub struct Scan<'a> {
    /// Tensors with views in the order of the scan.
    parts: Vec<(&'a Source, View)>,
    /// The dtype has the bytes of an item of each part.
    meta: Meta,
    /// A copy that is tried before the others.
    hold: Option<Hold>,
}

impl<'a> Scan<'a> {
    /// `view` orders the items of tensor `n`. Panics without tensors, or if the views differ in shape.
    pub fn new(sources: impl IntoIterator<Item = &'a Source>, view: &dyn Fn(usize, &Source) -> View) -> Self {
        let parts: Vec<_> = sources.into_iter().enumerate().map(|(n, source)| (source, view(n, source))).collect();
        let shape = parts.first().expect("a scan has a tensor").1.shape();
        assert!(parts.iter().skip(1).all(|(_, view)| view.shape() == shape), "parts of one shape");
        let itemsize = parts.iter().map(|(source, _)| source.dtype().itemsize()).sum();
        Self { parts, meta: Meta::c_order(Kind::Void(itemsize).into(), shape), hold: None }
    }

    #[must_use]
    pub fn held_for(self, hold: Hold) -> Self {
        Self { hold: Some(hold), ..self }
    }

    /// The files that a way copies to memory.
    fn resident(&self, way: usize) -> Vec<usize> {
        let is_across = |n: &usize| !self.parts[*n].1.is_forward();
        let in_files = (0..self.parts.len()).filter(|&n| {
            let (source, _) = self.parts[n];
            source.is_read_by_position() && !source.costs_requests()
        });
        match way {
            AS_THEY_ARE => Vec::new(),
            ALL => in_files.collect(),
            _ => in_files.filter(is_across).collect(),
        }
    }

    /// Returns whether boxes of a tensor of another order have long rows.
    fn has_long_rows(&self, part: usize, items: usize) -> bool {
        let (source, view) = &self.parts[part];
        let (shape, stored) = (&self.meta.shape, view.axes_as_stored());
        let [_, row] = pieces(&tile(shape, &stored, items), shape, &stored);
        *view == source.view() && source.shape() == shape && row * source.dtype().itemsize() >= LONG_PIECE
    }

    fn items_of_boxes(&self, part: usize, limits: &Limits) -> usize {
        (limits.machine.slab / self.parts[part].0.dtype().itemsize().max(1)).max(1)
    }
}

impl Fill for Scan<'_> {
    fn meta(&self) -> &Meta {
        &self.meta
    }

    fn operand(&self, n: usize) -> Option<&Source> {
        self.parts.get(n).map(|(source, _)| *source)
    }

    fn ways(&self, limits: &Limits) -> Vec<usize> {
        let across = self.resident(ACROSS);
        if across.is_empty() {
            return vec![AS_THEY_ARE];
        }
        // As much as the windows of all threads take otherwise.
        let most = limits.machine.across.min(limits.machine.memory / 2);
        let bytes =
            |way| self.resident(way).iter().fold(0, |all: usize, &n| all.saturating_add(self.parts[n].0.bytes()));
        let is_suited = |way: &usize| match *way {
            ALL => self.resident(ALL) != across,
            ACROSS_IN_C_ORDER => across.iter().all(|&n| self.has_long_rows(n, self.items_of_boxes(n, limits))),
            _ => true,
        };
        let ways = (AS_THEY_ARE..=ACROSS_IN_C_ORDER).filter(|way| bytes(*way) <= most);
        ways.filter(is_suited).collect()
    }

    /// [`settled`] makes the copies, because the tensors are lent.
    fn holdings(&self, way: usize, limits: &Limits) -> Vec<Holding> {
        let resident = self.resident(way).into_iter().filter_map(|n| {
            let in_c_order = way == ACROSS_IN_C_ORDER;
            let hold = if in_c_order { Hold::ByBoxes(self.items_of_boxes(n, limits)) } else { Hold::AsStored };
            Holding::for_source(self.parts[n].0, n, hold, limits.threads)
        });
        let others = self.parts.iter().enumerate().filter_map(|(n, (source, view))| {
            let seekable = must_be_seekable(source, view, *limits).then_some(Hold::Seekable);
            let holds = [seekable, self.hold, Some(Hold::Scan)].into_iter().flatten();
            holds.filter_map(|hold| Holding::for_source(source, n, hold, limits.threads)).next()
        });
        others.chain(resident).collect()
    }

    fn reads(&self, way: usize) -> Vec<Access<'_>> {
        let axes: Vec<_> = (0..self.meta.shape.len()).map(Some).collect();
        let in_order = if way == ACROSS_IN_C_ORDER { self.resident(way) } else { Vec::new() };
        let parts = self.parts.iter().enumerate();
        let access = parts.map(|(n, (source, view))| match in_order.contains(&n) {
            true => Access::strided(source, &View::c_order(&self.meta.shape), &axes),
            false => Access::strided(source, view, &axes),
        });
        access.collect()
    }

    fn fill(&self, region: &Region, out: &mut [u8], scratch: &mut Scratch) -> Result<()> {
        let mut rest = out;
        for (source, view) in &self.parts {
            let itemsize = source.dtype().itemsize();
            let out = rest.split_off_mut(..region.items() * itemsize).expect("room for all parts");
            let conversion = Conversion::to_native(source.dtype());
            fill_each(&region.boxes(&self.meta.shape), itemsize, out, |window, out| {
                source.read_as(&conversion, &view.part(&window.ranges), out, &mut scratch.gathered)
            })?;
        }
        Ok(())
    }
}

/// A scan and its plan.
#[derive(Debug)]
pub struct PlannedScan<'a, const N: usize> {
    scan: Scan<'a>,
    plan: Plan,
}

/// Plans a scan and makes the copies that the plan needs. `view` orders the items of tensor `n`. A tensor that is stored
/// across that order is read into memory if the scan, or all `passes`, cost the least that way. Panics if the views
/// differ in shape.
pub fn settled<'a, const N: usize>(
    sources: [&'a mut Source; N],
    view: &dyn Fn(usize, &Source) -> View,
    order: WindowOrder,
    passes: usize,
    limits: Limits,
) -> Result<PlannedScan<'a, N>> {
    let scan = Scan::new(sources.iter().map(|source| &**source), view);
    let plan = Planners::new(&scan, limits, None).plan(SinkKind::Scan { order, passes });
    let Scan { parts, meta, hold } = scan;
    let mut views: Vec<View> = parts.into_iter().map(|(_, view)| view).collect();
    for before in &plan.before {
        if let Before::Hold(copy) = before {
            let n = copy.operand;
            sources[n].hold(copy.hold, limits.threads)?;
            views[n] = view(n, sources[n]);
        }
    }
    let parts = sources.into_iter().map(|source| &*source).zip(views).collect();
    Ok(PlannedScan { scan: Scan { parts, meta, hold }, plan })
}

impl<'a, const N: usize> PlannedScan<'a, N> {
    /// Plans a scan without copies. Panics if the views differ in shape.
    pub fn new(
        sources: [&'a Source; N],
        view: &dyn Fn(usize, &Source) -> View,
        order: WindowOrder,
        limits: Limits,
    ) -> Self {
        let scan = Scan::new(sources, view);
        let plan = Planners::new(&scan, limits, Some(AS_THEY_ARE)).plan(SinkKind::Scan { order, passes: 1 });
        Self { scan, plan }
    }

    /// Uses the plan of an earlier scan of the same views.
    pub fn again(sources: [&'a Source; N], view: &dyn Fn(usize, &Source) -> View, plan: Plan) -> Self {
        Self { scan: Scan::new(sources, view), plan }
    }

    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Passes windows to `each` and returns the states of the threads. Only windows whose first item is `wanted` are
    /// read. `begin` makes a state; the scan ends when `each` returns false. Boxes come in the order of their first
    /// items. A tensor without bytes has no windows. Of several errors the one of the first window is returned.
    pub fn scan<S: Send>(
        &self,
        progress: Progress<'_>,
        wanted: &(dyn Fn(usize) -> bool + Sync),
        begin: &(dyn Fn() -> S + Sync),
        each: &(dyn Fn(&mut S, &ScannedBox<'_, N>) -> Result<bool> + Sync),
    ) -> Result<Vec<S>> {
        let (is_ended, is_done) = (AtomicBool::new(false), |region: &Region| Ok(!wanted(region.window().start)));
        let Scan { parts, meta, .. } = &self.scan;
        let states = Regions { is_done: &is_done, ..self.regions(&|n| self.plan.steps.get(n)) }.each(
            begin,
            &|state, _, region, items| {
                progress(items.len());
                let (window, mut rest) = (region.window(), &items[..]);
                let items = std::array::from_fn(|n| {
                    let bytes = window.items() * parts[n].0.dtype().itemsize();
                    rest.split_off(..bytes).expect("the items of a window")
                });
                let go_on = each(state, &ScannedBox { window, shape: &meta.shape, items })?;
                is_ended.fetch_or(!go_on, Ordering::Relaxed);
                Ok(go_on)
            },
        )?;
        if !is_ended.into_inner() {
            self.scan.finish()?;
        }
        Ok(states)
    }

    fn regions<'r>(&'r self, get: &'r GetRegion<'r>) -> Regions<'r> {
        let Plan { steps, threads, .. } = &self.plan;
        let (fill, label) = (&self.scan, self.scan.parts[0].0.label());
        Regions { count: steps.count(), threads: *threads, get, fill, label, held: None, is_done: &|_| Ok(false) }
    }
}

/// Passes windows to `each` in C order. Several threads read only from servers.
pub fn scan_in_order(
    source: &mut Source,
    limits: Limits,
    progress: Progress<'_>,
    each: &mut (dyn FnMut(&[u8]) -> Result<()> + Send),
) -> Result<()> {
    let planned = settled([source], &|_, source| source.view(), WindowOrder::InOrder, 1, limits)?;
    planned.regions(&|n| planned.plan.steps.get(n)).in_order(&mut |items| {
        progress(items.len());
        each(items)
    })?;
    planned.scan.finish()
}

/// A window of tensors of one shape: a little-endian box of each.
#[derive(Debug)]
pub struct ScannedBox<'a, const N: usize> {
    window: &'a Window,
    /// The shape in the order of the scan.
    shape: &'a [usize],
    pub items: [&'a [u8]; N],
}

impl<const N: usize> ScannedBox<'_, N> {
    pub fn start(&self) -> usize {
        self.window.start
    }

    /// Iterates over contiguous runs: the number of the first item, and the items of each tensor.
    pub fn runs(&self) -> impl Iterator<Item = (usize, [&[u8]; N])> {
        let mut each = self.items.map(|items| self.window.split(self.shape, items));
        self.window.pieces(self.shape).map(move |piece| {
            let run = each.each_mut().map(|runs| runs.next().expect("as many runs of each tensor as pieces").1);
            (piece.start, run)
        })
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::num::NonZero;
    use std::sync::Arc;

    use super::*;
    use crate::operators::fill::Machine;
    use crate::plans::cost::Cost;
    use crate::plans::plan::Steps;
    use crate::storage::chunked::{ChunkStyle, Chunked, PackedUnit};
    use crate::storage::key_store::WritableStore;
    use crate::storage::read_at::{Identity, MemoryBytes, ReadAt, Stamp};
    use tensorop_kernels::item::dtype::DType;
    use tensorop_kernels::item::meta::{Meta, Order};
    use tensorop_kernels::item::tensor::Tensor;
    use tensorop_kernels::layout::axis::Span;
    use tensorop_kernels::memory::Buffer;
    use tensorop_kernels::parallel::Threads;

    fn source(dtype: &str, shape: &[usize], bytes: &[u8]) -> Source {
        let tensor = Tensor::new(DType::parse(dtype).unwrap(), shape.to_vec(), bytes.to_vec()).unwrap();
        Source::memory(tensor, "data".to_owned())
    }

    fn limits(window: usize, threads: usize) -> Limits {
        Limits { machine: Machine::with_windows_of(window), threads: Threads::new(NonZero::new(threads)) }
    }

    fn windows_of<const N: usize>(
        sources: [&mut Source; N],
        limits: Limits,
        wanted: impl Fn(usize) -> bool + Sync,
    ) -> Vec<(usize, Vec<Vec<u8>>)> {
        let each = |seen: &mut Vec<_>, window: &ScannedBox<'_, N>| {
            seen.push((window.start(), window.items.map(<[u8]>::to_vec).to_vec()));
            Ok(true)
        };
        let planned = settled(sources, &|_, source| source.view(), WindowOrder::Runs, 1, limits).unwrap();
        let mut seen = planned.scan(&|_| (), &wanted, &Vec::new, &each).unwrap().concat();
        seen.sort();
        seen
    }

    #[test]
    fn windows_are_native_and_in_c_order() {
        // dtype, shape, bytes, window in bytes, first items of windows, all items
        type Row = (&'static str, &'static [usize], &'static [u8], usize, &'static [usize], &'static [u8]);
        let rows: [Row; 6] = [
            ("int8", &[5], &[1, 2, 3, 4, 5], 2, &[0, 2, 4], &[1, 2, 3, 4, 5]),
            ("int8", &[2, 2], &[1, 2, 3, 4], 100, &[0], &[1, 2, 3, 4]),
            (">u2", &[2], &[0, 1, 0, 2], 2, &[0, 1], &[1, 0, 2, 0]),
            ("int16", &[2], &[1, 0, 2, 0], 1, &[0, 1], &[1, 0, 2, 0]),
            ("int8", &[], &[7], 1, &[0], &[7]),
            ("int8", &[0, 3], &[], 1, &[], &[]),
        ];
        for (dtype, shape, bytes, window, starts, items) in rows {
            for threads in [1, 3] {
                let found = windows_of([&mut source(dtype, shape, bytes)], limits(window, threads), |_| true);
                let (found_starts, found_items): (Vec<_>, Vec<_>) =
                    found.into_iter().map(|(start, items)| (start, items.concat())).unzip();
                assert_eq!(
                    (found_starts.as_slice(), found_items.concat().as_slice()),
                    (starts, items),
                    "{dtype} {shape:?}"
                );
            }
        }
    }

    #[test]
    fn several_tensors_are_shown_together() {
        let (mut one, mut other) = (source("int8", &[3], &[1, 2, 3]), source("int16", &[3], &[4, 0, 5, 0, 6, 0]));
        let found = windows_of([&mut one, &mut other], limits(4, 1), |_| true);
        assert_eq!(found, [(0, vec![vec![1, 2], vec![4, 0, 5, 0]]), (2, vec![vec![3], vec![6, 0]])]);
    }

    #[test]
    fn boxes_of_what_is_stored_across() {
        // shape, window in bytes, whether windows are boxes of several runs
        let rows: [(&[usize], usize, bool); 4] = [
            (&[2, 3], 100, false),
            (&[3, 2500], 7500, false),
            (&[64, 5000], 1 << 14, true),
            (&[2, 32, 5000], 1 << 14, true),
        ];
        for (shape, window, are_apart) in rows {
            let items: usize = shape.iter().product();
            let c_order: Vec<u8> = (0..items).map(|item| (item * 7 % 251) as u8).collect();
            let mut stored = vec![0; items];
            for (number, &item) in c_order.iter().enumerate() {
                let (mut place, mut stride) = (0, 1);
                for (at, dim) in tensorop_kernels::layout::axis::coordinates(number, shape).into_iter().zip(shape) {
                    (place, stride) = (place + at * stride, stride * dim);
                }
                stored[place] = item;
            }
            let meta = Meta { order: Order::Fortran, ..Meta::c_order(DType::parse("uint8").unwrap(), shape.to_vec()) };
            let bytes = Arc::new(MemoryBytes::new(stored));
            let mut source = Source::stored(meta, bytes, 0, "data".to_owned()).unwrap();
            let each = |seen: &mut Vec<_>, window: &ScannedBox<'_, 1>| {
                let runs: Vec<_> = window.runs().map(|(start, [items])| (start, items.to_vec())).collect();
                seen.push((window.start(), runs));
                Ok(true)
            };
            let limits = limits(window, 2);
            let limits = Limits { machine: Machine { read: 1 << 12, ..limits.machine }, ..limits };
            let planned = settled([&mut source], &|_, source| source.view(), WindowOrder::Boxes, 1, limits).unwrap();
            let states = planned.scan(&|_| (), &|_| true, &Vec::new, &each);
            let mut seen = states.unwrap().concat();
            seen.sort();
            assert_eq!(seen.iter().any(|(.., runs)| runs.len() > 1), are_apart, "{shape:?} by {window}");
            let mut found = vec![0; items];
            for (start, run) in seen.into_iter().flat_map(|(.., runs)| runs) {
                found[start..start + run.len()].copy_from_slice(&run);
            }
            assert_eq!(found, c_order, "{shape:?} by {window}");
        }
    }

    #[test]
    fn what_is_read_into_memory_is_shown_in_the_order_of_its_view() {
        let shape = [6, 5, 4];
        let stored: Vec<u8> = (0..120).collect();
        let meta = |order| Meta { order, ..Meta::c_order(DType::parse("uint8").unwrap(), shape.to_vec()) };
        let source = |order| {
            let bytes = Arc::new(MemoryBytes::new(stored.clone()));
            Source::stored(meta(order), bytes, 0, "data".to_owned()).unwrap()
        };
        let place = |n: usize| n / 20 + 6 * (n / 4 % 5) + 30 * (n % 4);
        // bytes of a window and of all, threads, whether the tensor across is read into memory
        for (window, across, threads, is_resident) in [
            (1, 1, 1, false),
            (7, 7, 2, false),
            (1, 120, 1, true),
            (7, 120, 2, true),
            (16, 120, 3, true),
            (1000, 1000, 3, false),
        ] {
            {
                let (mut one, mut other) = (source(Order::C), source(Order::Fortran));
                let limits = limits(window, threads);
                let machine = Machine { across, read: 1 << 12, ..limits.machine };
                let limits = Limits { machine: Machine { memory: 1 << 24, ..machine }, ..limits };
                let planned =
                    settled([&mut one, &mut other], &|_, source| source.view(), WindowOrder::Boxes, 1, limits).unwrap();
                assert_eq!(!planned.scan.parts[1].0.is_read_by_position(), is_resident, "{window} {across}");
                let each = |seen: &mut Vec<_>, window: &ScannedBox<'_, 2>| {
                    seen.extend(window.runs().map(|(start, items)| (start, items.map(<[u8]>::to_vec))));
                    Ok(true)
                };
                let found = planned.scan(&|_| (), &|_| true, &Vec::new, &each).unwrap();
                let plan = planned.plan().clone();
                let again = PlannedScan::again([&one, &other], &|_, source| source.view(), plan);
                let seen_again = again.scan(&|_| (), &|_| true, &Vec::new, &each).unwrap();
                let [found, seen_again] = [found, seen_again].map(|found| {
                    let mut all = found.concat();
                    all.sort();
                    all
                });
                assert_eq!(seen_again, found, "{window} {across}");
                let mut items = [[0; 120]; 2];
                for (start, runs) in found {
                    for (items, run) in items.iter_mut().zip(runs) {
                        items[start..start + run.len()].copy_from_slice(&run);
                    }
                }
                let wanted: Vec<u8> = (0..120).map(|n| stored[place(n)]).collect();
                assert_eq!((&items[0][..], &items[1][..]), (&stored[..], &wanted[..]), "{window} {across}");
            }
        }
    }

    #[test]
    fn a_tensor_read_by_boxes_lies_in_memory_in_c_order() {
        let shape = [3, 2, 5, 17];
        let items: usize = shape.iter().product();
        let (c_order, stored): (Vec<u8>, Vec<u8>) = (0..items).map(|n| ((n % 251) as u8, (n % 241) as u8)).unzip();
        for (items, threads) in [(usize::MAX, 1), (120, 2), (51, 3), (7, 2)] {
            let meta = Meta { order: Order::Fortran, ..Meta::c_order(DType::parse("uint8").unwrap(), shape.to_vec()) };
            let bytes = Arc::new(MemoryBytes::new(stored.clone()));
            let mut across = Source::stored(meta, bytes, 0, "data".to_owned()).unwrap();
            let wanted: Vec<u8> = across.view().places().into_iter().map(|place| stored[place]).collect();
            let limits = limits(64, threads);
            across.hold(Hold::ByBoxes(items), limits.threads).unwrap();
            assert_eq!(across.as_bytes(), Some(&wanted[..]), "{items}");
            let mut along = source("uint8", &shape, &c_order);
            let found = windows_of([&mut along, &mut across], limits, |_| true);
            let all = |side: usize| found.iter().flat_map(|(_, items)| items[side].clone()).collect::<Vec<_>>();
            assert_eq!([all(0), all(1)], [c_order.clone(), wanted], "{items}");
        }
    }

    #[test]
    fn unwanted_windows_are_left_out() {
        let mut items = source("int8", &[6], &[1, 2, 3, 4, 5, 6]);
        let found = windows_of([&mut items], limits(2, 1), |start| start != 2);
        assert_eq!(found, [(0, vec![vec![1, 2]]), (4, vec![vec![5, 6]])]);
    }

    #[test]
    fn false_and_errors_end_a_scan() {
        let visited = |fails: bool| {
            let each = |seen: &mut usize, window: &ScannedBox<'_, 1>| {
                *seen += 1;
                match (window.start(), fails) {
                    (start @ 2.., true) => Err(tensorop_kernels::error::malformed!("window {start}")),
                    (2.., false) => Ok(false),
                    _ => Ok(true),
                }
            };
            let mut source = source("int8", &[6], &[0; 6]);
            let planned =
                settled([&mut source], &|_, source| source.view(), WindowOrder::Runs, 1, limits(1, 1)).unwrap();
            planned.scan(&|_| (), &|_| true, &|| 0, &each)
        };
        assert_eq!(visited(false).unwrap(), [3]);
        assert_eq!(visited(true).unwrap_err().to_string(), "window 2");
    }

    #[test]
    fn equal_bytes_are_equal_tensors() {
        let rows = [(vec![1, 2, 3, 4], true), (vec![1, 2, 3, 5], false), (vec![0, 2, 3, 4], false)];
        for (bytes, same) in rows {
            let [one, other] = [&[1, 2, 3, 4][..], &bytes].map(|bytes| source("int8", &[4], bytes));
            assert_eq!(same_bytes(&one, &other, limits(1, 1), &|_| ()).unwrap(), same, "{bytes:?}");
        }
        let empty = || source("int8", &[0], &[]);
        assert!(same_bytes(&empty(), &empty(), limits(1, 1), &|_| ()).unwrap());
    }

    #[derive(Debug)]
    struct Unread {
        is_remote: bool,
        style: Arc<ChunkStyle>,
    }

    impl ReadAt for Unread {
        fn size(&self) -> io::Result<u64> {
            unreachable!("a plan needs no items")
        }

        fn read_at(&self, _: &mut [u8], _: u64) -> io::Result<()> {
            unreachable!("a plan needs no items")
        }

        fn stamp(&self) -> io::Result<Stamp> {
            Ok(Stamp::Revision(0))
        }

        fn identity(&self) -> io::Result<Identity> {
            Ok(Identity::Memory(0))
        }

        fn costs_requests(&self) -> bool {
            self.is_remote
        }
    }

    impl Chunked for Unread {
        fn read(&self, _: &[Span], _: &mut [u8], _: &mut Buffer) -> Result<()> {
            unreachable!("a plan needs no items")
        }

        fn finish(&self) -> Result<()> {
            Ok(())
        }

        fn style(&self) -> &Arc<ChunkStyle> {
            &self.style
        }

        fn costs_requests(&self) -> bool {
            self.is_remote
        }

        fn is_unit(&self, _: &Window) -> bool {
            false
        }

        fn value_of(&self, _: &Window) -> Result<Option<Arc<dyn ReadAt>>> {
            Ok(None)
        }

        fn has(&self, _: &Window) -> bool {
            false
        }

        fn packed(&self, _: &Window, _: &[u8], _: bool) -> Result<PackedUnit> {
            unreachable!("nothing is written")
        }

        fn bytes_at(&self, _: &[Span]) -> u64 {
            0
        }

        fn store_identity(&self) -> Result<Identity> {
            Ok(Identity::Memory(0))
        }

        fn edit(&self) -> Result<Box<dyn WritableStore>> {
            unreachable!("nothing is written")
        }
    }

    #[derive(Clone, Copy, Debug)]
    enum Place {
        InFile,
        InFortranOrder,
        OnServer,
        InStream,
        InChunks(&'static [usize]),
        InChunksOnServer(&'static [usize]),
    }

    fn unread(dtype: &str, shape: &[usize], place: Place) -> Source {
        let order = if matches!(place, Place::InFortranOrder) { Order::Fortran } else { Order::C };
        let meta = Meta { order, ..Meta::c_order(DType::parse(dtype).unwrap(), shape.to_vec()) };
        let is_remote = matches!(place, Place::OnServer | Place::InChunksOnServer(_));
        let chunk = match place {
            Place::InChunks(sides) | Place::InChunksOnServer(sides) => sides.to_vec(),
            _ => Vec::new(),
        };
        let style = Arc::new(ChunkStyle {
            unit: chunk.clone(),
            chunk,
            codecs: String::new(),
            is_exact: true,
            fill: Vec::new(),
            attributes: None,
            dimension_names: None,
            groups: Arc::default(),
            is_consolidated: false,
        });
        let (unread, label) = (Arc::new(Unread { is_remote, style }), "data".to_owned());
        match place {
            Place::InFile | Place::InFortranOrder | Place::OnServer => Source::stored(meta, unread, 0, label).unwrap(),
            Place::InStream => {
                let bytes = meta.bytes() as u64;
                Source::stream(meta, Box::new(io::empty()), bytes, label)
            }
            Place::InChunks(_) | Place::InChunksOnServer(_) => Source::chunks(meta, unread, label),
        }
    }

    #[test]
    fn plans_of_scans() {
        use Place::{InChunks, InChunksOnServer, InFile, InFortranOrder, InStream, OnServer};
        use WindowOrder::{Boxes, InOrder, Runs};
        const SMALL: (&str, &[usize]) = ("float32", &[8, 20]);
        const WIDE: (&str, &[usize]) = ("uint8", &[3, 2500]);
        // Windows of 64 bytes, 16 KiB for all threads across the order, requests of 256 bytes.
        let machine = Machine { across: 1 << 14, request: 256, read: 1 << 12, ..Machine::with_windows_of(64) };
        // dtype and shape, places, threads, kind of windows; sides, number, threads
        type Row =
            ((&'static str, &'static [usize]), &'static [Place], usize, WindowOrder, &'static [usize], usize, usize);
        let rows: [Row; 18] = [
            (SMALL, &[InFile], 4, Runs, &[1, 16], 16, 4),
            (SMALL, &[InFile], 4, Boxes, &[1, 16], 16, 4),
            (SMALL, &[InFile, InFile], 4, Boxes, &[1, 16], 16, 4),
            (SMALL, &[InFile], 4, InOrder, &[1, 16], 16, 1),
            (SMALL, &[InFile], 20, Runs, &[1, 16], 16, 16),
            (SMALL, &[InFile, InFile], 20, Runs, &[1, 16], 16, 8),
            (SMALL, &[InStream], 4, Runs, &[1, 16], 16, 1),
            (SMALL, &[InFile, InStream], 4, Runs, &[1, 16], 16, 1),
            (SMALL, &[OnServer], 4, Runs, &[3, 20], 3, 4),
            (SMALL, &[OnServer], 4, InOrder, &[3, 20], 3, 4),
            (SMALL, &[InChunks(&[3, 7])], 4, Runs, &[3, 20], 3, 4),
            (("uint8", &[8, 20]), &[InFile, InChunks(&[1, 7])], 4, Boxes, &[3, 20], 3, 4),
            (("uint8", &[8, 20]), &[InChunksOnServer(&[1, 7])], 4, Boxes, &[1, 7], 24, 4),
            (WIDE, &[InFortranOrder], 4, Runs, &[1, 512], 15, 4),
            (WIDE, &[InFortranOrder], 4, Boxes, &[3, 625], 4, 4),
            (WIDE, &[InFile, InFortranOrder], 4, Boxes, &[3, 625], 4, 4),
            (WIDE, &[InFortranOrder], 1, Boxes, &[3, 2500], 1, 1),
            (("float32", &[0, 20]), &[InFile], 4, Runs, &[1], 0, 1),
        ];
        let mut wrong = Vec::new();
        for ((dtype, shape), place, threads, order, sides, count, expected) in rows {
            let threads = Threads::new(NonZero::new(threads)).started_for(1);
            let limits = Limits { machine, threads };
            let sources: Vec<_> = place.iter().map(|&place| unread(dtype, shape, place)).collect();
            let scan = Scan::new(&sources, &|_, source| source.view());
            let planned = Planners::new(&scan, limits, Some(AS_THEY_ARE)).plan(SinkKind::Scan { order, passes: 1 });
            let Plan { before, steps, threads, .. } = planned;
            let row = format!("{dtype} {shape:?} {place:?} {order:?}");
            assert_eq!(before, [], "{row}");
            let Steps::Each(windows) = steps else { panic!("{row}: {steps:?}") };
            let found = (windows.sides(), windows.count(), threads);
            if found != (sides, count, expected) {
                wrong.push(format!("{row}: {found:?}, not {:?}", (sides, count, expected)));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    fn best(sources: &[Source], passes: usize) -> (Plan, Cost) {
        let scan = Scan::new(sources, &|_, source| source.view());
        let sink = SinkKind::Scan { order: WindowOrder::Boxes, passes };
        Planners::new(&scan, Limits::default(), None).ways(sink).swap_remove(0)
    }

    fn copies(plan: &Plan) -> impl Iterator<Item = &Holding> {
        plan.before.iter().map(|before| match before {
            Before::Hold(copy) => copy,
            Before::Fetch(_) | Before::Clone => panic!("a scan has only copies: {before:?}"),
        })
    }

    #[test]
    fn tensors_across_are_read_into_memory_or_by_boxes() {
        use Place::{InFile, InFortranOrder, OnServer};
        const LARGE: &[usize] = &[16384, 8192];
        // places, dtype and shape; parts in memory, maximum reads per MiB
        type Row = (&'static [Place], (&'static str, &'static [usize]), &'static [usize], u64);
        let rows: [Row; 9] = [
            (&[InFile, InFile], ("float32", &[4096, 1024]), &[], 4),
            (&[InFile, InFortranOrder], ("float32", &[4096, 1024]), &[1], 4),
            (&[InFortranOrder, InFile], ("float32", &[8192, 1024]), &[0], 4),
            (&[InFortranOrder, InFortranOrder], ("float64", &[1000, 1000]), &[0, 1], 4),
            (&[InFile, InFortranOrder], ("uint8", &[2, 3, 5, 7, 100_000]), &[], 120),
            (&[InFile, InFortranOrder], ("float32", &[7]), &[], 1 << 20),
            (&[InFile, InFortranOrder], ("float32", LARGE), &[], 300),
            (&[InFile, InFortranOrder], ("float32", &[100_000_000, 3]), &[], 20),
            (&[InFile, OnServer], ("float32", LARGE), &[], 4),
        ];
        let mut wrong = Vec::new();
        for (place, (dtype, shape), resident, most) in rows {
            let sources: Vec<_> = place.iter().map(|&place| unread(dtype, shape, place)).collect();
            let ((plan, cost), row) = (best(&sources, 1), format!("{place:?} {dtype} {shape:?}"));
            let found: Vec<_> = copies(&plan).map(|copy| copy.operand).collect();
            if found != resident || cost.calls.reads > most * (cost.calls.bytes_read >> 20).max(1) {
                wrong.push(format!("{row}: {plan:?} {cost:?}"));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn short_rows_across_are_read_into_memory_in_c_order() {
        for (shape, is_in_order) in
            [(&[2, 3, 5, 7, 100_000][..], true), (&[4096, 1024], false), (&[1024, 1024, 4], false)]
        {
            let sources = [Place::InFile, Place::InFortranOrder].map(|place| unread("uint8", shape, place));
            let (plan, cost) = best(&sources, 2);
            let is_by_boxes = |copy: &Holding| copy.operand == 1 && matches!(copy.hold, Hold::ByBoxes(_));
            assert_eq!(copies(&plan).any(is_by_boxes), is_in_order, "{shape:?}");
            let windows = plan.steps.get(0).window().clone();
            assert!(!is_in_order || windows.is_contiguous(shape) && cost.calls.reads < 200, "{cost:?}");
        }
    }
}
