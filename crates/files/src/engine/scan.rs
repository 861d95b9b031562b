//! Scans: passes over all items of tensors, window by window, for comparisons and statistics. Each thread has a state,
//! and the caller merges the states.

use std::sync::atomic::{AtomicBool, Ordering};

use super::job::{Progress, RegionMaker, Regions};
use super::plan::Plan;
use super::scan_plan::{Resident, ScannedPart, ShownAs, best_scan, plan_scan};
use crate::error::Result;
use crate::item::conversion::Conversion;
use crate::layout::view::View;
use crate::layout::window::Window;
use crate::memory::Buffer;
use crate::operators::converted::must_be_seekable;
use crate::operators::fill::{Limits, Region, Scratch};
use crate::storage::source::{Hold, Source};

/// Returns whether two tensors of one dtype, shape and storage order have the same bytes. Both are read in storage
/// order up to the first difference, so the check is cheap.
pub fn same_bytes(a: &Source, b: &Source, limits: Limits, progress: Progress<'_>) -> Result<bool> {
    let parts = [a, b].map(|source| ScannedPart::new(source, source.meta().as_stored().view()));
    let each = |same: &mut bool, window: &ScannedBox<'_, 2>| {
        *same = window.items[0] == window.items[1];
        Ok(*same)
    };
    let planned = PlannedScan::new(parts, ShownAs::Runs, limits);
    Ok(planned.scan(progress, &|_| true, &|| true, &each)?.into_iter().all(|same| same))
}

/// Parts of tensors and the plan of their scan.
#[derive(Debug)]
pub struct PlannedScan<'a, const N: usize> {
    parts: [ScannedPart<'a>; N],
    plan: Plan,
}

/// Prepares tensors and plans a scan. `view` orders the items of tensor `n`. A tensor that is stored across that order
/// is read into memory if the scan, or all `passes`, cost the least that way. Panics if the views differ in shape.
pub fn settled<'a, const N: usize>(
    mut sources: [&'a mut Source; N],
    view: &dyn Fn(usize, &Source) -> View,
    shown: ShownAs,
    passes: usize,
    limits: Limits,
) -> Result<PlannedScan<'a, N>> {
    for (number, source) in sources.iter_mut().enumerate() {
        if must_be_seekable(source, &view(number, source), limits) {
            source.hold(Hold::Seekable, limits.threads)?;
        }
        source.hold(Hold::Scan, limits.threads)?;
    }
    let parts = parts_of(sources.each_ref().map(|source| &**source), view).map(|part| part.scanned(passes));
    let (resident, plan) = best_scan(&parts, limits, shown);
    for Resident { part, boxes } in &resident {
        sources[*part].keep_in_memory(boxes.as_ref(), limits.threads)?;
    }
    Ok(PlannedScan { parts: parts_of(sources.map(|source| &*source), view), plan })
}

fn parts_of<'a, const N: usize>(
    sources: [&'a Source; N],
    view: &dyn Fn(usize, &Source) -> View,
) -> [ScannedPart<'a>; N] {
    let mut numbers = 0..;
    sources.map(|source| ScannedPart::new(source, view(numbers.next().expect("there is no end"), source)))
}

/// Returns whether a scan of `view` first copies the tensor to memory or to a temporary file.
pub fn is_kept_first(source: &Source, view: &View, limits: Limits) -> bool {
    must_be_seekable(source, view, limits) || source.copy_to(Hold::Scan, limits.threads).is_some()
}

impl<'a, const N: usize> PlannedScan<'a, N> {
    /// Panics if the views differ in shape.
    pub fn new(parts: [ScannedPart<'a>; N], shown: ShownAs, limits: Limits) -> Self {
        let plan = plan_scan(&parts, limits, shown);
        Self { parts, plan }
    }

    /// Uses the plan of an earlier scan of the same views.
    pub fn again(sources: [&'a Source; N], view: &dyn Fn(usize, &Source) -> View, plan: Plan) -> Self {
        Self { parts: parts_of(sources, view), plan }
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
        let Self { parts, plan: Plan { steps, threads, .. } } = self;
        let (get, is_done) = (|n| steps.get(n), |region: &Region| Ok(!wanted(region.window().start)));
        let reader = PartsReader { parts, progress };
        let regions = Regions { count: steps.count(), threads: *threads, get: &get, maker: &reader, is_done: &is_done };
        let (shape, is_ended) = (parts[0].view.shape(), AtomicBool::new(false));
        let states = regions.each(begin, &|state, _, region, items| {
            let (window, mut rest) = (region.window(), &items[..]);
            let items =
                parts.each_ref().map(|part| rest.split_off(..part.bytes_of(window)).expect("the items of a window"));
            let go_on = each(state, &ScannedBox { window, shape: &shape, items })?;
            is_ended.fetch_or(!go_on, Ordering::Relaxed);
            Ok(go_on)
        })?;
        if !is_ended.into_inner() {
            parts.iter().try_for_each(|part| part.source.finish())?;
        }
        Ok(states)
    }
}

/// Passes windows to `each` in C order. Several threads read only from servers.
pub fn scan_in_order(
    source: &mut Source,
    limits: Limits,
    progress: Progress<'_>,
    each: &mut (dyn FnMut(&[u8]) -> Result<()> + Send),
) -> Result<()> {
    let planned = settled([source], &|_, source| source.view(), ShownAs::InOrder, 1, limits)?;
    let PlannedScan { parts, plan: Plan { steps, threads, .. } } = planned;
    let (get, reader) = (|n| steps.get(n), PartsReader { parts: &parts, progress });
    let regions = Regions { count: steps.count(), threads, get: &get, maker: &reader, is_done: &|_| Ok(false) };
    regions.in_order(each)?;
    parts[0].source.finish()
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

/// Reads a window of each part into one buffer.
struct PartsReader<'a> {
    parts: &'a [ScannedPart<'a>],
    progress: Progress<'a>,
}

impl RegionMaker for PartsReader<'_> {
    fn make(&self, region: &Region, items: &mut Buffer, scratch: &mut Scratch) -> Result<()> {
        let window = region.window();
        let bytes = self.parts.iter().map(|part| part.bytes_of(window)).sum();
        items.resize(bytes, self.parts[0].source.label())?;
        let mut rest = &mut items[..];
        for part in self.parts {
            let out = rest.split_off_mut(..part.bytes_of(window)).expect("a buffer for all parts");
            let (source, view) = (part.source, part.view.part(&window.ranges));
            source.read_as(&Conversion::to_native(source.dtype()), &view, out, &mut scratch.gathered)?;
        }
        (self.progress)(bytes);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZero;
    use std::sync::Arc;

    use super::*;
    use crate::item::dtype::DType;
    use crate::item::meta::{Meta, Order};
    use crate::item::tensor::Tensor;
    use crate::layout::window::Windows;
    use crate::operators::machine::Machine;
    use crate::parallel::Threads;
    use crate::storage::read_at::MemoryBytes;

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
        let planned = settled(sources, &|_, source| source.view(), ShownAs::Runs, 1, limits).unwrap();
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
                for (at, dim) in crate::layout::shape::coordinates(number, shape).into_iter().zip(shape) {
                    (place, stride) = (place + at * stride, stride * dim);
                }
                stored[place] = item;
            }
            let meta = Meta { order: Order::Fortran, ..Meta::new(DType::parse("uint8").unwrap(), shape.to_vec()) };
            let bytes = Arc::new(MemoryBytes::new(stored));
            let mut source = Source::stored(meta, bytes, 0, "data".to_owned()).unwrap();
            let each = |seen: &mut Vec<_>, window: &ScannedBox<'_, 1>| {
                let runs: Vec<_> = window.runs().map(|(start, [items])| (start, items.to_vec())).collect();
                seen.push((window.start(), runs));
                Ok(true)
            };
            let limits = limits(window, 2);
            let limits = Limits { machine: Machine { read: 1 << 12, ..limits.machine }, ..limits };
            let planned = settled([&mut source], &|_, source| source.view(), ShownAs::Boxes, 1, limits).unwrap();
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
        let meta = |order| Meta { order, ..Meta::new(DType::parse("uint8").unwrap(), shape.to_vec()) };
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
                    settled([&mut one, &mut other], &|_, source| source.view(), ShownAs::Boxes, 1, limits).unwrap();
                assert_eq!(!planned.parts[1].source.is_read_by_position(), is_resident, "{window} {across}");
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
        for (sides, threads) in [([3, 2, 5, 17], 1), ([3, 2, 5, 4], 2), ([1, 2, 3, 17], 3), ([2, 1, 2, 5], 2)] {
            let meta = Meta { order: Order::Fortran, ..Meta::new(DType::parse("uint8").unwrap(), shape.to_vec()) };
            let bytes = Arc::new(MemoryBytes::new(stored.clone()));
            let mut across = Source::stored(meta, bytes, 0, "data".to_owned()).unwrap();
            let wanted: Vec<u8> = across.view().places().into_iter().map(|place| stored[place]).collect();
            let limits = limits(64, threads);
            across.keep_in_memory(Some(&Windows::boxes(&shape, &sides)), limits.threads).unwrap();
            assert_eq!(across.as_bytes(), Some(&wanted[..]), "{sides:?}");
            let mut along = source("uint8", &shape, &c_order);
            let found = windows_of([&mut along, &mut across], limits, |_| true);
            let all = |side: usize| found.iter().flat_map(|(_, items)| items[side].clone()).collect::<Vec<_>>();
            assert_eq!([all(0), all(1)], [c_order.clone(), wanted], "{sides:?}");
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
                    (start @ 2.., true) => Err(crate::error::malformed!("window {start}")),
                    (2.., false) => Ok(false),
                    _ => Ok(true),
                }
            };
            let mut source = source("int8", &[6], &[0; 6]);
            let planned = settled([&mut source], &|_, source| source.view(), ShownAs::Runs, 1, limits(1, 1)).unwrap();
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
}
