//! Elements of plans: cuts, windows and threads.

use std::collections::BTreeSet;
use std::iter::successors;
use std::ops::Range;
use std::ptr;

use super::plan::{Before, FileBlocks, Plan, Route, Steps, WindowOrder};
use super::slabs::{DIRECT, SlabSides, readings, sides_of_slabs, strips};
use crate::operators::access::{Access, Feeds, Holding, Pattern};
use crate::operators::fill::{Fill, Limits, Machine, Patch};
use crate::storage::chunked::{MAX_ROW, few_rows};
use crate::storage::read_at::request_window;
use tensorop_kernels::error::Result;
use tensorop_kernels::item::meta::Meta;
use tensorop_kernels::layout::axis::product;
use tensorop_kernels::layout::boxes::tiles;
use tensorop_kernels::layout::gather::LONG_PIECE;
use tensorop_kernels::layout::view::View;
use tensorop_kernels::layout::window::{Window, Windows};
use tensorop_kernels::memory;
use tensorop_kernels::parallel::threads_holding;

/// The minimum windows per thread of a file if [any size](Planner::window) will do and windows stay as large as a
/// stream's.
const WINDOWS_EACH: usize = 8;

/// The minimum items of a run of a box in a scan.
const RUN: usize = 512;

/// The maximum number of listed pages of an edit: 32 MiB.
const MAX_PAGES: usize = 1 << 22;

/// The operator's accesses and the limits.
#[derive(Debug)]
pub struct Planner<'a> {
    pub(crate) fill: &'a dyn Fill,
    pub(crate) way: usize,
    pub(crate) meta: &'a Meta,
    pub(crate) holdings: Vec<Holding>,
    pub(crate) reads: Vec<Access<'a>>,
    pub(crate) limits: Limits,
    /// The threads that pay off. Large windows may allow fewer.
    pub threads: usize,
    /// With remote operands, small boxes of chunks are shared rather than joined.
    pub is_remote: bool,
}

impl<'a> Planner<'a> {
    /// Collects the operator's accesses; picks threads and window size.
    pub fn new(fill: &'a dyn Fill, limits: Limits, way: usize) -> Self {
        let (mut reads, holdings) = (fill.reads(way), fill.holdings(way, &limits));
        debug_assert!(
            reads.iter().map(|access| access.source).map(ptr::from_ref).eq(fill.operands().map(ptr::from_ref)),
            "an operator states the operands that it has"
        );
        for holding in &holdings {
            reads[holding.operand].copy = Some(holding.copy);
        }
        let (is_remote, is_stream) = (reads.iter().any(Access::costs_requests), reads.iter().any(Access::is_stream));
        let planner = Self { fill, way, meta: fill.meta(), holdings, reads, limits, threads: 1, is_remote };
        let effort = planner.effort();
        // Only one thread can read a stream.
        let threads = if is_stream { 1 } else { limits.threads.for_requests(is_remote).for_bytes(effort) };
        Self { threads, ..planner }
    }

    pub(crate) fn patch(&self) -> Option<&'a dyn Patch> {
        self.fill.as_patch()
    }

    /// The bytes of a request for data in runs of `run` bytes.
    fn request(&self, bytes: usize, run: usize) -> usize {
        request_window(bytes, self.threads, run).min(self.limits.machine.request)
    }

    pub(crate) fn steps_of_file(&self, base: Option<u64>) -> Vec<Steps> {
        let boxed = self.reads.iter().find_map(|access| match &access.pattern {
            Pattern::Boxed { sides, .. } => Some(Windows::boxes(&self.meta.shape, sides)),
            _ => None,
        });
        if let Some(boxes) = boxed {
            return vec![Steps::Each(boxes)];
        }
        let windows = self.windows_of(self.items_of_file_window());
        // thousands of small tensors have nothing to choose from
        if windows.count() <= 1 && self.meta.bytes() <= self.limits.machine.window {
            return vec![Steps::Each(windows)];
        }
        let blocks = self.blocks_of_file(base).map(Steps::Blocks);
        let strips = self.strips().map(|[slab, window]| self.held_in(&slab, Windows::boxes(&self.meta.shape, &window)));
        let windows = self.held_or_not(windows);
        blocks.into_iter().chain(strips).chain(windows).chain(self.boxes().into_iter().map(Steps::Each)).collect()
    }

    pub(crate) fn steps_of_stream(&self) -> (Route, Vec<Steps>) {
        // Whole rows of chunks are contiguous in C order.
        let items = self.items_within(self.limits.machine.window);
        let of_row = if self.is_remote { 1 } else { items };
        let windows = self.cut(items, |shape, grid| Windows::on_grid(shape, of_row, &grid));
        let itemsize = self.widest().max(1);
        let is_by_rows = |grid: &Vec<usize>| {
            let few = self.is_remote && few_rows(&self.meta.shape, &windows, grid, self.threads);
            !few && windows.largest().saturating_mul(itemsize) <= MAX_ROW
        };
        if self.grid().as_ref().is_none_or(is_by_rows) {
            return (Route::Stream, vec![Steps::Each(windows)]);
        }
        (Route::TemporaryFile, self.steps_of_file(Some(0)))
    }

    pub(crate) fn held_or_not(&self, windows: Windows) -> Vec<Steps> {
        let slabs = self.slabs(&windows).map(|slabs| self.held_in(&slabs.sides, windows.clone()));
        [Steps::Each(windows)].into_iter().chain(slabs).collect()
    }

    fn held_in(&self, slab: &[usize], windows: Windows) -> Steps {
        Steps::Slabs { slabs: Windows::boxes(&self.meta.shape, slab), units: self.units(), windows }
    }

    /// Each thread holds a region as is and packed.
    pub fn threads_for(&self, items: usize) -> usize {
        threads_holding(self.threads, items.saturating_mul(self.widest()).saturating_mul(2), self.limits.machine.memory)
    }

    /// Boxes for data in chunks, else contiguous windows.
    pub fn windows(&self) -> Windows {
        self.windows_of(self.items_within(usize::MAX))
    }

    /// Plans only windows with changes. If few items of a window change, windows are pages: ten thousand points in 1
    /// GiB took 0.6 s by windows of 64 KiB, 0.05 s by pages.
    pub(crate) fn plan_edit(&self, share: Option<&dyn Fn(usize) -> Range<usize>>) -> Result<Plan> {
        let patch = self.patch().expect("an operator that changes data in place is a patch");
        if let Some(chunks) = patch.base().source.as_chunks() {
            let windows = Windows::boxes(&self.meta.shape, &chunks.style().unit);
            let own = share.map_or(0..windows.count(), |share| share(windows.count()));
            return self.plan_windows(patch, &windows, own);
        }
        let windows = self.windows();
        let plan = self.plan_windows(patch, &windows, 0..windows.count())?;
        let Machine { file_window, read, write, page, .. } = self.limits.machine;
        let window = self.window().unwrap_or(file_window);
        let touched = plan.steps.count();
        // Each item changes at most one page.
        let pages = self.changed().min(touched.saturating_mul(window / page));
        let cost = |windows: usize, bytes: usize| windows.saturating_mul(read + write + 2 * bytes);
        if page >= window || pages > MAX_PAGES || cost(touched, window) <= cost(pages, page) {
            return Ok(plan);
        }
        let windows = Windows::new(&self.meta.shape, page / self.meta.dtype.itemsize().max(1));
        self.plan_windows(patch, &windows, 0..windows.count())
    }

    fn plan_windows(&self, patch: &dyn Patch, windows: &Windows, among: Range<usize>) -> Result<Plan> {
        let steps = Steps::Some { windows: windows.clone(), numbers: patch.touched(windows, among)? };
        let threads = self.threads_of(&Route::InPlace, &steps);
        Ok(Plan { way: self.way, before: self.copies(), route: Route::InPlace, steps, threads })
    }

    /// Plans the windows that contain `items`.
    pub fn plan_range(&self, items: &Range<usize>) -> Result<Plan> {
        let (windows, mut numbers) = (self.windows(), Vec::new());
        if !items.is_empty() {
            windows.each_of_run(items.start, items.end - 1, |range| {
                memory::reserve(&mut numbers, range.len())?;
                numbers.extend(range);
                Ok(())
            })?;
        }
        numbers.sort_unstable();
        numbers.dedup();
        let steps = Steps::Some { windows, numbers };
        let threads = self.threads_of(&Route::File, &steps);
        Ok(Plan { way: self.way, before: self.copies(), route: Route::File, steps, threads })
    }

    pub(crate) fn copies(&self) -> Vec<Before> {
        self.holdings.iter().copied().map(Before::Hold).collect()
    }

    /// Returns whether a file with the first item at offset `base` can begin as a clone of the data's file.
    pub(crate) fn is_clone_of_data(&self, base: u64) -> bool {
        let Some(data) = self.patch().map(Patch::base) else { return false };
        let Some((file, start)) = data.source.as_local_file() else { return false };
        // A member of a container does not fill its file.
        let is_alone = || file.metadata().is_ok_and(|file| file.len() == base + self.meta.bytes() as u64);
        let is_usual = self.window().is_none_or(|window| window <= self.limits.machine.file_window);
        data.is_whole_storage() && start == base && is_usual && is_alone()
    }

    /// The maximum number of changed items. Without a second operand all items count.
    fn changed(&self) -> usize {
        self.reads.get(1).map_or(self.meta.items(), |updates| match &updates.feeds {
            Feeds::Slice(spans) => spans.iter().map(|span| span.len).product(),
            Feeds::Named { items } => *items,
            Feeds::All | Feeds::Segments(_) => self.meta.items(),
        })
    }

    pub(crate) fn in_short_pieces(&self) -> impl Iterator<Item = usize> {
        let is_short = |access: &Access<'_>| match &access.pattern {
            Pattern::Indexed { at_once } | Pattern::Boxed { at_once, .. } => *at_once,
            Pattern::Strided { view, .. } | Pattern::Counted { view } => {
                let is_all = view.items() >= access.source.meta().items() || matches!(access.feeds, Feeds::Slice(_));
                is_all && access.crosses_within(self.limits.machine.short_piece)
                    || access.reads_apart(self.limits.machine.short_piece)
            }
            Pattern::Anyhow => false,
        };
        let is_asked = move |access: &Access<'_>| access.is_read_by_position() && access.costs_requests();
        let of_server = self.reads.iter().enumerate().filter(move |(_, access)| is_asked(access) && is_short(access));
        of_server.map(|(number, _)| number)
    }

    /// Returns whether boxes of any grid read no item twice. The first operand decides, because updates suit any box.
    pub fn takes_boxes(&self) -> bool {
        self.reads.first().is_some_and(Access::takes_boxes)
    }

    /// The widest itemsize, in bytes.
    pub fn widest(&self) -> usize {
        let read = self.reads.iter().filter(|access| access.view().is_some());
        read.fold(self.meta.dtype.itemsize(), |widest, access| widest.max(access.source.dtype().itemsize()))
    }

    /// The work in copied bytes: more than the output for data in short pieces.
    fn effort(&self) -> usize {
        let all = self.reads.iter().filter(|access| access.feeds == Feeds::All);
        let strided = all.filter(|access| matches!(access.pattern, Pattern::Strided { .. }));
        let read = strided.filter_map(|access| {
            let (view, itemsize) = (access.view()?, access.source.dtype().itemsize());
            let (bytes, run) = (view.items().saturating_mul(itemsize), view.run() * itemsize);
            // A read costs as much as copying a few KiB, and all reads at most as much as reading everything.
            let apart = bytes.checked_div(run).unwrap_or(0).saturating_mul(self.limits.machine.read);
            Some(bytes.max(apart.min(access.source.bytes())))
        });
        self.meta.bytes().max(read.fold(0, usize::saturating_add))
    }

    /// The minimum bytes of a contiguous window and the maximum of a box; `None` if any size will do.
    fn window(&self) -> Option<usize> {
        let machine = &self.limits.machine;
        let is_in_place = self.patch().is_some_and(|patch| patch.base().is_in_place());
        let wanted = self.reads.iter().map(|access| {
            let is_across = access.crosses_within(LONG_PIECE);
            if let (Some(view), false, true) = (access.view(), is_across, access.costs_requests()) {
                let itemsize = access.source.dtype().itemsize();
                return Some(self.request(view.items().saturating_mul(itemsize), view.run() * itemsize));
            }
            let least = if is_in_place { machine.edit_window } else { machine.file_window };
            // A small window would read a few bytes of each column.
            if is_across { Some(least.max(machine.across / self.threads)) } else { is_in_place.then_some(least) }
        });
        let window = wanted.flatten().chain(self.fill.window_bytes(self.way, self.threads, machine)).max();
        match self.is_remote && window.is_none_or(|window| window == machine.window) {
            true => Some(self.request(self.meta.bytes(), usize::MAX)),
            false => window,
        }
    }

    /// The grid of chunks at which windows should end.
    pub(crate) fn grid(&self) -> Option<Vec<usize>> {
        self.reads.iter().find_map(Access::grid)
    }

    /// The smallest readable box: a chunk, or a page along the contiguous axis. `None` if unknown, if nothing is read
    /// twice, or if boxes are chosen for updates across the data.
    pub(crate) fn grain(&self) -> Option<Vec<usize>> {
        let (data, others) = self.reads.split_first()?;
        let is_strided = data.feeds == Feeds::All && matches!(data.pattern, Pattern::Strided { .. });
        let grid = self.grid();
        if !is_strided || grid.is_some() {
            return grid.filter(|_| self.takes_boxes());
        }
        let machine = &self.limits.machine;
        // Boxes for updates read several pages of data at a time, so only end pages are read twice.
        let for_updates = others.iter().any(|access| access.crosses_within(machine.short_piece));
        if !data.is_read_by_position() || for_updates && !data.crosses_within(machine.short_piece) {
            return None;
        }
        let (axis, stride) = data.view()?.nearest()?;
        let mut grain = vec![1; self.meta.shape.len()];
        grain[axis] = (machine.page / stride.saturating_mul(data.source.dtype().itemsize().max(1))).max(1);
        Some(grain)
    }

    /// Returns boxes of several sizes and ratios for operands that are stored across the output. Streams and chunks get
    /// none.
    fn boxes(&self) -> Vec<Windows> {
        if self.grid().is_some() || self.reads.iter().any(|access| access.is_stream()) || self.meta.bytes() == 0 {
            return Vec::new();
        }
        let (machine, most) = (&self.limits.machine, self.items_within(usize::MAX));
        let least = (2 * machine.slab / self.meta.dtype.itemsize().max(1)).clamp(1, most);
        let boxes = self.tiles([least, most], &|access| access.crosses_within(machine.short_piece));
        boxes.iter().map(|sides| Windows::boxes(&self.meta.shape, sides)).collect()
    }

    /// Returns the sides of boxes with these numbers of items, for the operands that `is_across` selects.
    fn tiles(&self, sizes: [usize; 2], is_across: &dyn Fn(&Access<'_>) -> bool) -> BTreeSet<Vec<usize>> {
        let is_strided = |access: &&Access<'_>| matches!(access.pattern, Pattern::Strided { .. }) && is_across(access);
        let stored = self.reads.iter().filter(is_strided).filter_map(Access::view).map(View::axes_as_stored);
        stored
            .flat_map(|stored| doubled(sizes).flat_map(move |items| tiles(&self.meta.shape, &stored, items)))
            .collect()
    }

    /// Returns windows of a scan. For tensors that are stored across it there are windows of several sizes, and boxes
    /// if these are allowed.
    pub(crate) fn windows_of_scan(&self, order: WindowOrder) -> Vec<Windows> {
        let (machine, shape, parts) = (&self.limits.machine, &self.meta.shape, self.reads.len());
        let is_across = |access: &Access<'_>| access.view().is_some_and(|view| !view.is_forward());
        let are_across = self.reads.iter().any(is_across);
        let is_local =
            |access: &Access<'_>| !access.is_stream() && access.as_chunks().is_none() && !access.costs_requests();
        let widest = self.reads.iter().map(|access| access.source.dtype().itemsize()).fold(1, usize::max);
        let items = |bytes: usize| (bytes / widest).max(1);
        let large = items((machine.across / self.threads / parts).max(machine.window));
        let window =
            items(if self.is_remote { self.request(self.meta.bytes() / parts, usize::MAX) } else { machine.window });
        let is_in_order = |access: &Access<'_>| access.view().is_some_and(View::is_c_order);
        let grid = || self.reads.iter().find_map(|access| access.grid().filter(|_| is_in_order(access)));
        let window = if are_across && !self.reads.iter().all(is_local) { large } else { window };
        match grid() {
            _ if self.meta.bytes() == 0 => vec![Windows::new(&[0], 1)],
            // Whole rows of chunks, so that one window reads each chunk. Remote chunks are requests, so their rows are
            // not joined.
            Some(grid) => vec![Windows::on_grid(shape, if self.is_remote { 1 } else { window }, &grid)],
            None if !are_across => vec![Windows::new(shape, window)],
            None => {
                let sizes = [window, large];
                let mut sides =
                    if order == WindowOrder::Boxes { self.tiles(sizes, &is_across) } else { BTreeSet::new() };
                sides.extend(doubled(sizes).map(|items| Windows::contiguous(shape, items)));
                // Metrics sum so many items at once, and the ends of shorter runs would fill memory.
                let has_runs = |windows: &Windows| {
                    let (first, items) = (windows.get(0), windows.largest());
                    items / first.piece_count(shape) >= RUN.min(items)
                };
                sides.iter().map(|sides| Windows::boxes(shape, sides)).filter(has_runs).collect()
            }
        }
    }

    /// Returns whether the operands fit into memory, so that pages stay cached.
    pub(crate) fn fits_memory(&self) -> bool {
        let read = self.reads.iter().fold(0, |all: usize, access| all.saturating_add(access.source.bytes()));
        read <= self.limits.machine.memory
    }

    /// Several windows per thread, so that no thread waits long; shorter ones if bytes cost more than a copy.
    fn items_of_file_window(&self) -> usize {
        let (bytes, effort) = (self.meta.bytes(), self.effort().max(1));
        let least = (self.limits.machine.window as u128 * bytes as u128 / effort as u128) as usize;
        self.items_within((bytes / (WINDOWS_EACH * self.threads)).max(least))
    }

    fn items_within(&self, most: usize) -> usize {
        (self.window().unwrap_or(most.min(self.limits.machine.file_window)) / self.widest().max(1)).max(1)
    }

    fn windows_of(&self, items: usize) -> Windows {
        self.cut(items, |shape, grid| Windows::boxes(shape, &self.suited(grid)))
    }

    fn cut(&self, items: usize, by_grid: impl Fn(&[usize], Vec<usize>) -> Windows) -> Windows {
        let shape = &self.meta.shape;
        match (self.meta.bytes(), self.grid()) {
            (0, _) => Windows::new(&[0], 1),
            (_, Some(grid)) => by_grid(shape, grid),
            (_, None) => Windows::new(shape, items),
        }
    }

    /// Several small chunks, or a part of a large one. From a server, one chunk, or a request of items without chunks.
    pub fn suited(&self, grid: Vec<usize>) -> Vec<usize> {
        let (shape, itemsize) = (&self.meta.shape, self.widest().max(1));
        let least = match self.is_remote {
            true if self.grid().is_some() => 1,
            true => self.request(self.meta.bytes(), usize::MAX),
            false => self.limits.machine.slab,
        };
        let (least, most) = (least / itemsize, (self.limits.machine.kept / itemsize).max(1));
        let mut sides: Vec<usize> = grid.iter().zip(shape).map(|(&side, &dim)| side.clamp(1, dim.max(1))).collect();
        for axis in (0..sides.len()).rev() {
            let times = (least / product(&sides)).clamp(1, shape[axis].div_ceil(sides[axis]).max(1));
            sides[axis] = (sides[axis] * times).min(shape[axis].max(1));
        }
        for axis in 0..sides.len() {
            sides[axis] = (sides[axis] / product(&sides).div_ceil(most).max(1)).max(1);
        }
        sides
    }

    /// Threads read a slab by these boxes. Panics without a grain.
    pub fn units(&self) -> Windows {
        let grain = self.grain().expect("there are slabs only where there are grains");
        Windows::boxes(&self.meta.shape, &self.suited(grain))
    }

    /// `None` for outputs of chunks, if operands need a window size, if no item begins at a block, and with remote
    /// operands, because parts of rows would be requests.
    fn blocks_of_file(&self, base: Option<u64>) -> Option<FileBlocks> {
        let (items, itemsize) = (self.items_of_file_window(), self.meta.dtype.itemsize());
        let bytes = items.saturating_mul(itemsize);
        let is_apart = self.is_remote || self.slabs(&self.windows_of(items)).is_some();
        if self.window().is_some() || is_apart || bytes == 0 {
            return None;
        }
        let bytes: usize = 1 << bytes.ilog2();
        let base = base.filter(|base| bytes.is_multiple_of(itemsize) && base.is_multiple_of(itemsize as u64))?;
        self.grid().is_none().then_some(FileBlocks::new(bytes, base, self.meta))
    }

    pub(crate) fn slabs(&self, windows: &Windows) -> Option<SlabSides> {
        let (shape, grain) = (&self.meta.shape, self.grain()?);
        if windows.count() < 2 || readings(shape, windows.sides(), &grain) <= DIRECT {
            return None;
        }
        Some(sides_of_slabs(shape, windows.sides(), &grain, self.held(windows, &grain)))
    }

    pub(crate) fn held(&self, windows: &Windows, grain: &[usize]) -> usize {
        let itemsize = self.widest().max(1);
        let block = product(&self.suited(grain.to_vec()));
        // Besides the slab each thread holds a window or a block, as is and packed.
        let each = windows.largest().max(block).saturating_mul(itemsize).saturating_mul(2);
        let memory = self.limits.machine.memory;
        let beside = each.saturating_mul(threads_holding(self.threads, each, memory));
        memory.saturating_sub(beside).max(memory / 2) / itemsize
    }

    /// For chunks that would be written to a file in short pieces.
    fn strips(&self) -> Option<[Vec<usize>; 2]> {
        let grain = self.grid().and(self.grain()).filter(|_| self.meta.bytes() > 0)?;
        // Half of the memory, because the joined windows take as much.
        let most = [self.limits.machine.short_piece, self.limits.machine.slab, self.limits.machine.memory / 2];
        strips(&self.meta.shape, &self.suited(grain), most.map(|bytes| bytes / self.widest().max(1)))
    }

    /// The bytes that a window reads, as far as known.
    pub fn bytes_read(&self, window: &Window) -> u64 {
        match &self.reads[..] {
            // Updates replace items of the data and are not counted.
            [data, ..] if data.feeds == Feeds::All => data.bytes_read(window),
            reads => reads.iter().map(|access| access.bytes_read(window)).sum(),
        }
    }
}

/// Returns sizes from the first to the last, each twice the one before.
fn doubled([least, most]: [usize; 2]) -> impl Iterator<Item = usize> {
    successors(Some(least), move |&items| (items < most).then(|| (2 * items).min(most)))
}

#[cfg(test)]
mod tests {
    use ndarray::Array;

    use super::*;
    use crate::operators::selection::Selection;
    use crate::plans::cost::Planners;
    use crate::plans::plan::SinkKind;
    use crate::storage::source::Source;
    use tensorop_kernels::item::tensor::Tensor;
    use tensorop_kernels::layout::axis::Span;

    #[test]
    fn short_pieces_are_an_effort() {
        let source = || Source::memory(Tensor::from(&Array::<u8, _>::zeros([100, 9000])), "DATA".to_owned());
        let effort = |spans: &[Span]| Planner::new(&Selection::slice(source(), spans), Limits::default(), 0).effort();
        let rows = [(0..9000, 900_000), (0..8999, 899_900), (3..103, 100 * 4096), (7..8, 100 * 4096)];
        for (columns, expected) in rows {
            let spans = [Span::whole(100), Span { start: columns.start, step: 1, len: columns.len() }];
            assert_eq!(effort(&spans), expected, "{columns:?}");
        }
        let steps = [Span::whole(100), Span { start: 0, step: 3, len: 3000 }];
        assert_eq!(effort(&steps), 900_000, "no more than all of the data");
        assert_eq!(effort(&[Span::whole(0), Span::whole(0)]), 0);
    }

    #[test]
    fn items_larger_than_a_window_have_boxes() {
        let complex = tensorop_kernels::DType::parse("complex128").unwrap();
        let tensor = Tensor::new(complex, vec![30, 40], vec![0; 30 * 40 * 16]).unwrap();
        let turned = Selection::transposed(Source::memory(tensor, "DATA".to_owned()), &[1, 0]);
        let limits = Limits { machine: Machine::with_windows_of(1), ..Limits::default() };
        let plan = Planners::new(&turned, limits, None).plan(SinkKind::File { base: Some(0), is_alone: false });
        assert!(plan.steps.count() > 1, "{plan:?}");
    }
}
