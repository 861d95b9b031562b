//! Plans of scans: the windows of tensors that are only inspected, and the threads.
//!
//! A [`Plan`] is a pure function of facts and limits, so tests need no file. For a tensor that is stored across the
//! scan, windows, boxes and a copy in memory compete by cost.

use super::cost::{Calls, Cost, OperandReading, OperandReads, reads_of};
use super::plan::{Before, Cut, Plan, Route, Steps};
use super::slabs::readings;
use crate::layout::gather::{Gaps, GatherRule, LONG_PIECE, calls};
use crate::layout::view::View;
use crate::layout::walk::{pieces, tile, tiles};
use crate::layout::window::{Window, Windows};
use crate::operators::access::{Access, Holding};
use crate::operators::fill::Limits;
use crate::parallel::threads_holding;
use crate::storage::read_at::request_window;
use crate::storage::source::{HeldCopy, Hold, Keep, READ_AT_ONCE, Source};

/// The minimum items of a run of a box: as many as metrics sum at once. The ends of shorter runs would fill memory.
const RUN: usize = 512;

/// The maximum window shapes whose reads are counted.
const MAX_SORTS: usize = 1 << 10;

/// The bytes of a cache line.
const LINE: u64 = 64;

/// From memory each piece is read by itself.
const BY_LINES: GatherRule<'static> = GatherRule { most: usize::MAX, gaps: Gaps::Counted(&|_| 0) };

/// A part of a tensor in the order of a scan.
#[derive(Clone, Debug)]
pub struct ScannedPart<'a> {
    pub source: &'a Source,
    /// In the order of the scan.
    pub view: View,
    /// Whether the tensor will be copied first; only explanations set this.
    pub is_kept: bool,
    /// The number of scans.
    pub passes: usize,
}

impl<'a> ScannedPart<'a> {
    pub fn new(source: &'a Source, view: View) -> Self {
        Self { source, view, is_kept: false, passes: 1 }
    }

    #[must_use]
    pub fn scanned(self, passes: usize) -> Self {
        Self { passes, ..self }
    }

    fn is_stream(&self) -> bool {
        self.source.is_stream() && !self.is_kept
    }

    fn costs_requests(&self) -> bool {
        self.source.costs_requests() && !self.is_kept
    }

    /// Returns whether short pieces cost nothing.
    fn is_in_memory(&self) -> bool {
        let source = self.source;
        !source.is_read_by_position() && !source.is_stream() && source.as_chunks().is_none()
    }

    /// Returns whether a system call can read any item.
    fn is_in_file(&self) -> bool {
        self.source.is_read_by_position() && !self.source.costs_requests() && !self.is_kept
    }

    pub(super) fn bytes_of(&self, window: &Window) -> usize {
        window.items() * self.source.dtype().itemsize()
    }

    fn bytes(&self) -> usize {
        self.view.items().saturating_mul(self.source.dtype().itemsize())
    }

    /// The grid of chunks, if the whole tensor is scanned in its own order.
    fn grid(&self) -> Option<&[usize]> {
        let is_all = self.view.is_c_order() && self.view.shape() == self.source.shape();
        self.source.as_chunks().filter(|_| is_all && !self.is_kept).map(|chunks| chunks.grid())
    }
}

/// The kind of windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShownAs {
    /// In order. Several threads read only from servers.
    InOrder,
    /// In any order, as contiguous runs.
    Runs,
    /// In any order, as boxes if their pieces are longer.
    Boxes,
}

/// A tensor in memory during the scan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resident {
    pub part: usize,
    /// The boxes of a copy in C order; `None` for storage order.
    pub boxes: Option<Windows>,
}

/// A way to scan parts.
#[derive(Clone, Debug)]
pub struct ScanWay {
    /// The parts that are copied to memory.
    pub resident: Vec<Resident>,
    pub plan: Plan,
    pub cost: Cost,
    /// Empty without windows.
    pub operands: Vec<OperandReads>,
    pub(super) counts: Vec<[u64; 2]>,
}

/// Returns the parts that the cheapest way copies to memory, and its plan. Tensors in the order of the scan have only one way,
/// so nothing is weighed.
pub fn best_scan(parts: &[ScannedPart<'_>], limits: Limits, shown: ShownAs) -> (Vec<Resident>, Plan) {
    if parts.iter().all(|part| part.view.is_forward()) {
        return (Vec::new(), plan_scan(parts, limits, shown));
    }
    let ScanWay { resident, plan, .. } = ways_to_scan(parts, limits, shown).swap_remove(0);
    (resident, plan)
}

fn resident_of(resident: &[Resident], part: usize) -> Option<&Resident> {
    resident.iter().find(|resident| resident.part == part)
}

impl ScanWay {
    pub fn is_resident(&self, part: usize) -> bool {
        resident_of(&self.resident, part).is_some()
    }

    /// Returns the reads of further passes, without those of tensors in memory.
    pub fn again(&self, passes: usize) -> Calls {
        let mut calls = Calls::default();
        for (_, [reads, bytes]) in self.counts.iter().enumerate().filter(|(n, _)| !self.is_resident(*n)) {
            let [reads, bytes_read] = [reads, bytes].map(|one| one.saturating_mul(passes as u64));
            calls += Calls { reads, bytes_read, ..Calls::default() };
        }
        calls
    }
}

/// Plans a scan of parts as stored. Panics without parts, or if shapes differ.
pub fn plan_scan(parts: &[ScannedPart<'_>], limits: Limits, shown: ShownAs) -> Plan {
    let scanned = Scanned::new(parts, limits, shown);
    let mut cuts = scanned.cuts(&[]);
    match cuts.pop() {
        Some(windows) if cuts.is_empty() => scanned.plan(&[], windows),
        _ => scanned.ways(&[Vec::new()]).swap_remove(0).plan,
    }
}

/// Returns the ways to scan, the cheapest first, with the cost of one pass. Tensors that are stored across the scan may
/// be copied to memory: as stored, or in C order by boxes with longer pieces.
pub fn ways_to_scan(parts: &[ScannedPart<'_>], limits: Limits, shown: ShownAs) -> Vec<ScanWay> {
    let scanned = Scanned::new(parts, limits, shown);
    let in_files = || (0..parts.len()).filter(|&n| parts[n].is_in_file());
    let across: Vec<usize> = in_files().filter(|&n| !parts[n].view.is_forward()).collect();
    // As much as the windows of all threads take otherwise.
    let most = limits.machine.across.min(limits.machine.memory / 2);
    let is_held = |resident: &Vec<Resident>| {
        let bytes = resident.iter().fold(0, |all: usize, it| all.saturating_add(parts[it.part].source.bytes()));
        !across.is_empty() && bytes <= most
    };
    let as_stored = |part: usize| Resident { part, boxes: None };
    let in_order = |&part: &usize| Some(Resident { part, boxes: Some(scanned.boxes_in_order(&parts[part])?) });
    let mut residents = vec![across.iter().copied().map(as_stored).collect(), in_files().map(as_stored).collect()];
    residents.dedup();
    residents.extend(across.iter().map(in_order).collect::<Option<Vec<_>>>());
    residents.retain(is_held);
    residents.insert(0, Vec::new());
    scanned.ways(&residents)
}

struct Scanned<'a> {
    parts: &'a [ScannedPart<'a>],
    shape: Vec<usize>,
    limits: Limits,
    shown: ShownAs,
    passes: usize,
    bytes: usize,
    widest: usize,
    is_remote: bool,
    threads: usize,
}

impl<'a> Scanned<'a> {
    fn new(parts: &'a [ScannedPart<'a>], limits: Limits, shown: ShownAs) -> Self {
        let shape = parts.first().expect("a scan has a tensor").view.shape();
        assert!(parts.iter().all(|part| part.view.shape() == shape), "parts of one shape");
        let bytes = parts.iter().fold(0, |all: usize, part| all.saturating_add(part.bytes()));
        let widest = parts.iter().map(|part| part.source.dtype().itemsize()).fold(1, usize::max);
        let is_remote = parts.iter().any(ScannedPart::costs_requests);
        // Only one thread can read a stream.
        let is_stream = parts.iter().any(ScannedPart::is_stream);
        let passes = parts.iter().map(|part| part.passes).fold(1, usize::max);
        let threads = if is_stream { 1 } else { limits.threads.for_requests(is_remote).for_bytes(bytes) };
        Self { parts, shape, limits, shown, passes, bytes, widest, is_remote, threads }
    }

    fn ways(&self, residents: &[Vec<Resident>]) -> Vec<ScanWay> {
        let cuts =
            residents.iter().flat_map(|resident| self.cuts(resident).into_iter().map(move |cut| (resident, cut)));
        let mut ways: Vec<_> = cuts.map(|(resident, windows)| self.way(resident, windows)).collect();
        let total = |way: &ScanWay| way.cost.total.saturating_add(self.total_again(way));
        ways.sort_by_key(total);
        ways.dedup_by(|one, other| (&one.resident, &one.plan) == (&other.resident, &other.plan));
        ways
    }

    /// The cost of further passes, in copied bytes.
    fn total_again(&self, way: &ScanWay) -> u64 {
        let Calls { reads, bytes_read, .. } = way.again(self.passes - 1);
        bytes_read.saturating_add(reads.saturating_mul(self.read() as u64))
    }

    /// The cost of a read, in copied bytes.
    fn read(&self) -> usize {
        if self.is_remote { self.limits.machine.request } else { self.limits.machine.read }
    }

    fn cuts(&self, resident: &[Resident]) -> Vec<Windows> {
        let (machine, shape) = (&self.limits.machine, &self.shape[..]);
        let is_across = |n: &usize| !self.view(*n, resident).is_forward();
        let across: Vec<_> = (0..self.parts.len()).filter(is_across).map(|n| &self.parts[n]).collect();
        let items = |bytes: usize| (bytes / self.widest).max(1);
        let window = match self.is_remote {
            true => request_window(self.bytes / self.parts.len(), self.threads, usize::MAX).min(machine.request),
            false => machine.window,
        };
        let large = (machine.across / self.threads / self.parts.len()).max(machine.window);
        match self.parts.iter().find_map(ScannedPart::grid) {
            _ if self.bytes == 0 => vec![Windows::new(&[0], 1)],
            // Whole rows of chunks, so that one window reads each chunk. Remote chunks are requests, so their rows are
            // not joined.
            Some(grid) => {
                let window = if across.is_empty() { window } else { large };
                vec![Windows::on_grid(shape, if self.is_remote { 1 } else { items(window) }, grid)]
            }
            None if across.is_empty() => vec![Windows::new(shape, items(window))],
            None => {
                let is_local = |n: usize| self.is_in_memory(n, resident) || self.parts[n].is_in_file();
                let least = if (0..self.parts.len()).all(is_local) { machine.window } else { large };
                self.windows_across(&across, [items(least), items(large)])
            }
        }
    }

    fn is_in_memory(&self, part: usize, resident: &[Resident]) -> bool {
        self.parts[part].is_in_memory() || resident_of(resident, part).is_some()
    }

    fn view(&self, part: usize, resident: &[Resident]) -> View {
        let is_in_order = resident_of(resident, part).is_some_and(|it| it.boxes.is_some());
        if is_in_order { View::c_order(&self.shape) } else { self.parts[part].view.clone() }
    }

    /// `None` if the tensor is scanned in another order, or if rows of boxes would be short.
    fn boxes_in_order(&self, part: &ScannedPart<'_>) -> Option<Windows> {
        let (source, shape) = (part.source, &self.shape);
        let (stored, itemsize) = (part.view.axes_as_stored(), source.dtype().itemsize().max(1));
        let sides = tile(shape, &stored, (self.limits.machine.slab / itemsize).max(1));
        let [_, row] = pieces(&sides, shape, &stored);
        let is_own = part.view == source.view() && source.shape() == shape;
        (is_own && row * itemsize >= LONG_PIECE).then(|| Windows::boxes(shape, &sides))
    }

    /// Returns windows and, where allowed, boxes. Runs of boxes have some hundred items or the whole box.
    fn windows_across(&self, across: &[&ScannedPart<'_>], [least, most]: [usize; 2]) -> Vec<Windows> {
        let (shape, mut found, mut items) = (&self.shape[..], Vec::new(), least);
        loop {
            found.push(Windows::contiguous(shape, items));
            for part in across.iter().filter(|_| self.shown == ShownAs::Boxes) {
                let stored = part.view.axes_as_stored();
                found.extend(tiles(shape, &stored, items).into_iter().filter(|sides| {
                    let [_, run] = pieces(sides, shape, &stored);
                    run >= RUN.min(sides.iter().product())
                }));
            }
            if items >= most {
                break;
            }
            items = (2 * items).min(most);
        }
        found.sort_unstable();
        found.dedup();
        found.into_iter().map(|sides| Windows::boxes(shape, &sides)).collect()
    }

    /// Returns a way with its cost, a sum in copied bytes:
    ///
    /// - bytes read, with gaps;
    /// - calls;
    /// - runs of windows, each like a read, because their ends are merged with other windows;
    /// - cache lines, where items are reordered or come from memory;
    /// - memory held, since it is touched for the first time, and its lines;
    /// - the wait at the end: half a window per thread except one.
    fn way(&self, resident: &[Resident], windows: Windows) -> ScanWay {
        let (machine, count) = (&self.limits.machine, windows.count());
        let (each, threads) = (self.bytes_in(&windows), self.threads_in(&windows));
        let read = self.read() as u64;
        let (mut operands, mut counts, mut cost) = (Vec::new(), Vec::new(), Cost::default());
        let (mut work, mut before) = (0_u64, 0_u64);
        for (n, part) in self.parts.iter().enumerate().filter(|_| count > 0) {
            let resident_part = resident_of(resident, n);
            let (operand, [reads, bytes]) = self.reads(part, &windows, resident_part);
            cost.calls += Calls { reads, bytes_read: bytes, ..Calls::default() };
            let all = bytes.saturating_add(reads.saturating_mul(read));
            let (itemsize, view) = (part.source.dtype().itemsize(), self.view(n, resident));
            if let Some(Resident { boxes, .. }) = resident_part {
                let memory = part.source.bytes() as u64;
                before = before.saturating_add(all).saturating_add(memory);
                if let Some(boxes) = boxes {
                    let [lines, bytes] = reads_by_windows(&view, boxes, itemsize, BY_LINES);
                    before = before.saturating_add(bytes.max(lines.saturating_mul(LINE)));
                }
                cost.held = cost.held.saturating_add(memory);
            } else {
                work = work.saturating_add(all);
            }
            if !view.is_forward() || resident_part.is_some() {
                let [lines, bytes] = reads_by_windows(&view, &windows, itemsize, BY_LINES);
                work = work.saturating_add(bytes.max(lines.saturating_mul(LINE)));
            }
            operands.push(operand);
            counts.push([reads, bytes]);
        }
        if count > 0 {
            let runs = windows.get(0).piece_count(&self.shape) as u64 - 1;
            work = work.saturating_add(runs.saturating_mul(count as u64).saturating_mul(machine.read as u64));
        }
        let in_windows = each.saturating_mul(threads) as u64;
        work = work.saturating_add(in_windows);
        let waits = (threads as u64 - 1).saturating_mul(work) / (2 * count.max(1) as u64);
        cost.held = cost.held.saturating_add(in_windows);
        cost.total = [before, waits].into_iter().fold(work, u64::saturating_add);
        let plan = self.plan(resident, windows);
        ScanWay { resident: resident.to_vec(), plan, cost, operands, counts }
    }

    /// The bytes that a thread holds of windows.
    fn bytes_in(&self, windows: &Windows) -> usize {
        windows.largest().saturating_mul(2 * self.widest * self.parts.len())
    }

    fn threads_in(&self, windows: &Windows) -> usize {
        match self.shown {
            ShownAs::InOrder if !self.is_remote => 1,
            ShownAs::InOrder | ShownAs::Runs | ShownAs::Boxes => {
                threads_holding(self.threads, self.bytes_in(windows), self.limits.machine.memory)
            }
        }
    }

    fn plan(&self, resident: &[Resident], windows: Windows) -> Plan {
        let route = if self.shown == ShownAs::InOrder { Route::Stream } else { Route::Windows };
        let copy = |n: usize| HeldCopy { keep: Keep::Memory, bytes_read: self.parts[n].source.bytes_stored() };
        let held = |it: &Resident| Before::Hold(Holding { operand: it.part, hold: Hold::Memory, copy: copy(it.part) });
        let (before, threads) = (resident.iter().map(held).collect(), self.threads_in(&windows));
        Plan { way: 0, before, route, steps: Steps::Each(Cut::Windows(windows)), threads }
    }

    /// Returns the reads and bytes with the operand.
    fn reads(
        &self,
        part: &ScannedPart<'_>,
        windows: &Windows,
        resident: Option<&Resident>,
    ) -> (OperandReads, [u64; 2]) {
        let access = Access::strided(part.source, &part.view, &(0..self.shape.len()).map(Some).collect::<Vec<_>>());
        let (source, all) = (part.source, part.source.bytes() as u64);
        if let Some(Resident { boxes, .. }) = resident {
            let rule = GatherRule::of(READ_AT_ONCE);
            let [reads, bytes] = match boxes {
                None => [all.div_ceil(READ_AT_ONCE as u64), all],
                Some(boxes) => reads_by_windows(&part.view, boxes, source.dtype().itemsize(), rule),
            };
            let (reading, times) = (OperandReading::AsItComes, bytes as f64 / all.max(1) as f64);
            let piece = if boxes.is_some() { bytes.div_ceil(reads.max(1)) } else { all.min(READ_AT_ONCE as u64) };
            let known = reads_of(&access, windows.sides(), 1.0);
            return (OperandReads { reading, piece: Some(piece), times, ..known }, [reads, bytes]);
        }
        if part.is_kept {
            // A copy is made from front to back and scanned.
            let known = reads_of(&access, windows.sides(), 1.0);
            let operand = OperandReads { reading: OperandReading::AsItComes, piece: None, times: 1.0, ..known };
            return (operand, [0, 0]);
        }
        if source.is_read_by_position() {
            let rule = GatherRule::of(READ_AT_ONCE);
            let [reads, bytes] = reads_by_windows(&part.view, windows, source.dtype().itemsize(), rule);
            let known = reads_of(&access, windows.sides(), 1.0);
            let times = bytes as f64 / (known.bytes.max(1)) as f64;
            return (OperandReads { piece: Some(bytes.div_ceil(reads.max(1))), times, ..known }, [reads, bytes]);
        }
        // In C order, chunks for several windows are kept, because longer rows were copied.
        let grid = access.grid().filter(|_| !part.view.is_c_order());
        let operand =
            reads_of(&access, windows.sides(), grid.map_or(1.0, |grid| readings(&self.shape, windows.sides(), &grid)));
        let cost = Cost::of_reads(std::slice::from_ref(&operand), 0);
        (operand, [cost.calls.reads, cost.calls.bytes_read])
    }
}

fn reads_by_windows(view: &View, windows: &Windows, itemsize: usize, rule: GatherRule<'_>) -> [u64; 2] {
    // Sides and counts per axis: the usual side, and the last.
    let sides =
        windows.shape().iter().zip(windows.sides()).map(|(&dim, &side)| match (dim / side.max(1), dim % side.max(1)) {
            (0, rest) => vec![(rest, 1)],
            (whole, 0) => vec![(side, whole)],
            (whole, rest) => vec![(side, whole), (rest, 1)],
        });
    let mut sorts = vec![(Vec::new(), 1_u64)];
    for mut of_axis in sides {
        if sorts.len() > MAX_SORTS {
            let all = of_axis.iter().map(|(_, count)| count).sum();
            of_axis = vec![(of_axis[0].0, all)];
        }
        let longer = sorts.iter().flat_map(|(ranges, count)| {
            of_axis.iter().map(move |&(side, times)| {
                let longer = ranges.iter().cloned().chain(std::iter::once(0..side)).collect();
                (longer, count.saturating_mul(times as u64))
            })
        });
        sorts = longer.collect();
    }
    sorts.into_iter().fold([0, 0], |[reads, bytes]: [u64; 2], (ranges, count)| {
        let [more, read] = calls(&view.part(&ranges), itemsize, rule).map(|it| (it as u64).saturating_mul(count));
        [reads.saturating_add(more), bytes.saturating_add(read)]
    })
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::num::NonZero;
    use std::sync::Arc;

    use super::*;
    use crate::error::Result;
    use crate::item::dtype::DType;
    use crate::item::meta::{Meta, Order};
    use crate::layout::axis::Span;
    use crate::memory::Buffer;
    use crate::operators::machine::Machine;
    use crate::parallel::Threads;
    use crate::storage::chunked::{ChunkStyle, Chunked, PackedUnit};
    use crate::storage::key_store::WritableStore;
    use crate::storage::read_at::{Identity, ReadAt, Stamp};

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
    enum Lies {
        InFile,
        InFortranOrder,
        OnServer,
        InStream,
        InChunks(&'static [usize]),
        InChunksOnServer(&'static [usize]),
    }

    fn source(dtype: &str, shape: &[usize], lies: Lies) -> Source {
        let order = if matches!(lies, Lies::InFortranOrder) { Order::Fortran } else { Order::C };
        let meta = Meta { order, ..Meta::new(DType::parse(dtype).unwrap(), shape.to_vec()) };
        let is_remote = matches!(lies, Lies::OnServer | Lies::InChunksOnServer(_));
        let chunk = match lies {
            Lies::InChunks(sides) | Lies::InChunksOnServer(sides) => sides.to_vec(),
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
        match lies {
            Lies::InFile | Lies::InFortranOrder | Lies::OnServer => Source::stored(meta, unread, 0, label).unwrap(),
            Lies::InStream => {
                let bytes = meta.bytes() as u64;
                Source::stream(meta, Box::new(io::empty()), bytes, label)
            }
            Lies::InChunks(_) | Lies::InChunksOnServer(_) => Source::chunks(meta, unread, label),
        }
    }

    #[test]
    fn plans_of_scans() {
        use Lies::{InChunks, InChunksOnServer, InFile, InFortranOrder, InStream, OnServer};
        use ShownAs::{Boxes, InOrder, Runs};
        const SMALL: (&str, &[usize]) = ("float32", &[8, 20]);
        const WIDE: (&str, &[usize]) = ("uint8", &[3, 2500]);
        // Windows of 64 bytes, 16 KiB for all threads across the order, requests of 256 bytes.
        let machine = Machine { across: 1 << 14, request: 256, read: 1 << 12, ..Machine::with_windows_of(64) };
        // dtype and shape, places, threads, kind of windows; sides, number, threads
        type Row = ((&'static str, &'static [usize]), &'static [Lies], usize, ShownAs, &'static [usize], usize, usize);
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
        for ((dtype, shape), lies, threads, shown, sides, count, expected) in rows {
            let threads = Threads::new(NonZero::new(threads)).started_for(1);
            let limits = Limits { machine, threads };
            let sources: Vec<_> = lies.iter().map(|&lies| source(dtype, shape, lies)).collect();
            let parts: Vec<_> = sources.iter().map(|source| ScannedPart::new(source, source.view())).collect();
            let Plan { before, steps, threads, .. } = plan_scan(&parts, limits, shown);
            let row = format!("{dtype} {shape:?} {lies:?} {shown:?}");
            assert_eq!(before, [], "{row}");
            let Steps::Each(Cut::Windows(windows)) = steps else { panic!("{row}: {steps:?}") };
            let found = (windows.sides(), windows.count(), threads);
            if found != (sides, count, expected) {
                wrong.push(format!("{row}: {found:?}, not {:?}", (sides, count, expected)));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn tensors_across_are_read_into_memory_or_by_boxes() {
        use Lies::{InFile, InFortranOrder, OnServer};
        const LARGE: &[usize] = &[16384, 8192];
        // places, dtype and shape; parts in memory, maximum reads per MiB
        type Row = (&'static [Lies], (&'static str, &'static [usize]), &'static [usize], u64);
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
        for (lies, (dtype, shape), resident, most) in rows {
            let sources: Vec<_> = lies.iter().map(|&lies| source(dtype, shape, lies)).collect();
            let parts: Vec<_> = sources.iter().map(|source| ScannedPart::new(source, source.view())).collect();
            let ways = ways_to_scan(&parts, Limits::default(), ShownAs::Boxes);
            let (best, row) = (&ways[0], format!("{lies:?} {dtype} {shape:?}"));
            let found: Vec<_> = best.resident.iter().map(|it| it.part).collect();
            if found != resident || best.cost.calls.reads > most * (best.cost.calls.bytes_read >> 20).max(1) {
                wrong.push(format!("{row}: {:?} {:?} {:?}", best.resident, best.plan.steps, best.cost));
            }
            assert!(ways.is_sorted_by_key(|way| way.cost.total), "{row}");
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn short_rows_across_are_read_into_memory_in_c_order() {
        for (shape, is_in_order) in
            [(&[2, 3, 5, 7, 100_000][..], true), (&[4096, 1024], false), (&[1024, 1024, 4], false)]
        {
            let sources = [Lies::InFile, Lies::InFortranOrder].map(|lies| source("uint8", shape, lies));
            let parts = sources.each_ref().map(|source| ScannedPart::new(source, source.view()).scanned(2));
            let best = ways_to_scan(&parts, Limits::default(), ShownAs::Boxes).swap_remove(0);
            assert_eq!(best.resident.iter().any(|it| it.part == 1 && it.boxes.is_some()), is_in_order, "{shape:?}");
            let windows = best.plan.steps.get(0).window().clone();
            assert!(!is_in_order || windows.is_contiguous(shape) && best.cost.calls.reads < 200, "{:?}", best.cost);
        }
    }

    #[test]
    fn reads_are_those_of_all_windows() {
        let shape = [5, 6, 7];
        let (c, fortran) = (View::c_order(&shape), View::fortran_order(&shape));
        let sides: [[usize; 3]; 7] = [[5, 6, 7], [1, 1, 1], [2, 6, 7], [2, 4, 7], [5, 4, 3], [3, 1, 5], [1, 6, 2]];
        for (view, sides) in [&c, &fortran].into_iter().flat_map(|view| sides.map(|sides| (view, sides))) {
            for rule in [GatherRule::of(40), GatherRule::of(1 << 20), BY_LINES] {
                let windows = Windows::boxes(&shape, &sides);
                let of_windows = windows.iter().map(|window| calls(&view.part(&window.ranges), 4, rule));
                let all = of_windows.fold([0, 0], |all, [reads, bytes]| [all[0] + reads as u64, all[1] + bytes as u64]);
                assert_eq!(reads_by_windows(view, &windows, 4, rule), all, "{view:?} {sides:?}");
            }
        }
    }
}
