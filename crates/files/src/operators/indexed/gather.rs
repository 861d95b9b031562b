//! A gather by indices linked to its data, as a `Fill`.

mod across;
mod blocks;
mod element_boxes;

use std::borrow::Cow;
use std::ops::Range;

use self::blocks::{GatheredBlocks, GroupedTuple, WindowBlocks};
use self::element_boxes::ElementBoxes;
use super::buckets::{BucketGrid, Buckets};
use super::places::{NearPlaces, READ_AT_ONCE, TuplePlaces};
use super::runs::{ItemRun, ItemSlab, Put, RunReader, copy_items};
use crate::operators::access::{Access, Feeds, Holding, Pattern, Picked};
use crate::operators::fill::{Fill, Limits, Machine, Region, Scratch};
use crate::storage::read_at::MIN_REQUEST;
use crate::storage::source::{HeldCopy, Hold, Keep, Source};
use tensorop_kernels::error::{Context, Error, Result, Subject};
use tensorop_kernels::item::meta::{Meta, Order};
use tensorop_kernels::layout::axis::bytes_of;
use tensorop_kernels::layout::gather::GAP;
use tensorop_kernels::layout::window::{Window, fill_each};
use tensorop_kernels::memory::{self, Buffer};
use tensorop_kernels::ops::indexed::{IndexSpec, OutOfRange};

/// A window has at least this share of the cache, to justify its read.
const MIN_SHARE: usize = 16;

const TUPLE: usize = 2 * size_of::<usize>();

/// The places of tuples from the start of their group, and the tuples' numbers.
type TakeTuples<'a> = dyn FnMut(&[u32], &[[u8; 4]]) + 'a;

/// The maximum number of groups per window; each needs a cache line for appending.
const MAX_GROUPS: usize = 1 << 12;

/// A gather with its data and with numbers in range.
#[derive(Debug)]
pub struct LinkedGather {
    data: Source,
    places: TuplePlaces,
    index_bytes: u64,
    blocks: GatheredBlocks,
    meta: Meta,
    /// Tuples that name no place have zero blocks.
    has_zeros: bool,
    /// The maximum size of data to keep in memory, about that of the index tensor.
    most_resident: usize,
    limits: Limits,
    boxes: Option<ElementBoxes>,
    /// The sides of output boxes for [`PARTS`].
    parts: Option<Vec<usize>>,
    way: usize,
}

/// Each window picks its pieces of the data, or sweeps through their range.
const WINDOWS: usize = 0;

/// Reads all data before the first window.
const RESIDENT: usize = 1;

/// Reads elements by [boxes](ElementBoxes).
const BOXES: usize = 2;

/// Reads data in Fortran order by boxes with all tuples and a part of each block, which do not overlap.
const PARTS: usize = 3;

impl LinkedGather {
    /// Reads the index tensor and links the operator to its data.
    pub fn new(data: Source, shapes: IndexSpec, indices: Source, limits: Limits) -> Result<Self> {
        let meta = Meta::c_order(data.dtype().clone(), shapes.updates.clone());
        // Empty data and tuples without numbers take no bytes, however many there are.
        if bytes_of(&meta.shape, meta.dtype.itemsize()).is_none() {
            let message = format!("shape {:?} of {} is more than memory can address", meta.shape, meta.dtype);
            return Err(Error::new(Subject::Output, message));
        }
        let order = if shapes.name_items() { data.meta().order } else { Order::C };
        let resolver = shapes.in_order(order);
        let blocks = GatheredBlocks::new(&resolver, data.meta().order);
        let itemsize = meta.dtype.itemsize();
        let machine = limits.machine;
        let is_direct = blocks.is_flat || order == data.meta().order;
        let is_together = is_direct && blocks.reach.saturating_mul(itemsize) <= machine.slab;
        let listed = match resolver.shapes.is_implied {
            false => indices.bytes(),
            true => resolver.count().saturating_mul(TUPLE),
        };
        // Data that several windows would sweep through may be kept, because it takes no more memory than these
        // windows.
        let swept = (meta.items() / blocks.block.max(1)).saturating_mul(blocks.swept(itemsize));
        let least = if is_direct && swept > machine.swept { machine.swept } else { machine.kept };
        let most_resident = if is_together { machine.kept } else { listed.clamp(least, machine.entries) };
        let index_bytes = indices.bytes_stored();
        let places = TuplePlaces::new(indices, &resolver, limits)?;
        let has_zeros = resolver.shapes.out_of_range == OutOfRange::Zero;
        let is_far = blocks.reach.saturating_mul(itemsize) > machine.slab;
        let boxes = match &places {
            TuplePlaces::OnDemand(places) if is_far => {
                let most = machine.swept / 2 / limits.threads.for_bytes(meta.bytes()).max(1);
                ElementBoxes::new(&places.resolver.shapes, data.meta().order, itemsize, [machine.slab, most])
            }
            _ => None,
        };
        let parts = None;
        let mut it = Self {
            data,
            places,
            index_bytes,
            blocks,
            meta,
            has_zeros,
            most_resident,
            limits,
            boxes,
            parts,
            way: WINDOWS,
        };
        it.parts = it.boxes_of_parts();
        Ok(it)
    }

    /// If tuples take much of a range, reads it for as many rows as fit, because sorting the tuples would take longer.
    /// Else reads storage from front to back.
    fn read(&self, near: &NearPlaces<'_>, at: &WindowBlocks, out: &mut [u8], buffer: &mut Buffer) -> Result<()> {
        let (itemsize, blocks) = (self.data.dtype().itemsize(), &self.blocks);
        let (pitch, count) = (blocks.pitch(), at.tuples.len());
        let Some(named) = near.extent(blocks.dim) else { return Ok(()) };
        let extent = (named.end - named.start - 1) * blocks.block + at.len;
        let most = self.limits.machine.slab.max(at.rows.len() * count * TUPLE) / itemsize.max(1);
        let is_dense = |items: usize| (items - at.len) * itemsize / count <= GAP;
        if extent > most || !is_dense(extent) {
            return self.sweep(near, at, named, out, buffer);
        }
        let together = if is_dense(pitch.max(extent)) { (most - extent) / pitch + 1 } else { 1 };
        let mut rows = at.rows.clone();
        let mut out = out;
        while !rows.is_empty() {
            let here = rows.start..rows.end.min(rows.start + together);
            rows.start = here.end;
            let first = here.start * pitch + named.start * blocks.block + at.inside;
            read_items(&self.data, first, (here.len() - 1) * pitch + extent, buffer)?;
            let part;
            (part, out) = out.split_at_mut(here.len() * at.row_items() * itemsize);
            let slab = ItemSlab { first, bytes: buffer, itemsize };
            blocks.put(near, &WindowBlocks { rows: here, ..at.clone() }, slab, part);
        }
        Ok(())
    }

    /// Groups tuples by neighbouring places, once per batch: a full sort took several times as long as picking the
    /// items.
    fn sweep(
        &self,
        near: &NearPlaces<'_>,
        at: &WindowBlocks,
        named: Range<usize>,
        out: &mut [u8],
        buffer: &mut Buffer,
    ) -> Result<()> {
        let (pitch, block) = (self.blocks.pitch(), self.blocks.block * self.data.dtype().itemsize());
        let (count, together) = (at.tuples.len(), self.limits.machine.slab / 4 / block.max(1));
        let grid = BucketGrid::new(named.clone(), count, together.max(named.len() / MAX_GROUPS));
        u32::try_from(count).expect("a window has fewer tuples than 2^32");
        for rows in self.blocks.batches(at) {
            let first = self.blocks.first_near(at, rows.start);
            let mut groups = Buckets::new(grid, count, size_of::<u32>()).with_context(|| self.data.label())?;
            let numbers = (0_u32..).map(u32::to_le_bytes);
            match near {
                NearPlaces::Small(places) => {
                    let places = places[first..][..count].iter().map(|&place| place as usize);
                    groups.extend_words(places.zip(numbers));
                }
                NearPlaces::Large(places) => {
                    let places = places[first..][..count].iter().map(|&place| place as usize);
                    groups.extend_words(places.zip(numbers));
                }
            }
            for row in rows {
                let from = row * pitch + at.inside;
                let to = (row - at.rows.start) * at.row_items();
                for bucket in 0..grid.count {
                    let from = from + grid.places(bucket).start * self.blocks.block;
                    self.pick(&groups, grid.places(bucket), ItemRun { from, to, len: at.len }, out, buffer)?;
                }
            }
        }
        Ok(())
    }

    /// `of_row` has the data offset of the first place, the output offset of the first tuple, and the items per block.
    fn pick(
        &self,
        groups: &Buckets,
        places: Range<usize>,
        of_row: ItemRun,
        out: &mut [u8],
        buffer: &mut Buffer,
    ) -> Result<()> {
        let (itemsize, block, ItemRun { from, to, len }) = (self.data.dtype().itemsize(), self.blocks.block, of_row);
        let each = |take: &mut TakeTuples<'_>| {
            groups.near(places.start, places.end, &mut |_, at, tuples| take(at, tuples.as_chunks().0));
        };
        let (mut count, mut low, mut high) = (0, u32::MAX, 0);
        each(&mut |at, _| {
            count += at.len();
            (low, high) = at.iter().fold((low, high), |(low, high), &at| (low.min(at), high.max(at)));
        });
        if count == 0 {
            return Ok(());
        }
        let between = (high - low) as usize * block * itemsize;
        if between <= self.limits.machine.slab && between / count <= GAP {
            let first = from + low as usize * block;
            read_items(&self.data, first, (high - low) as usize * block + len, buffer)?;
            let to = to / len;
            each(&mut |at, tuples| {
                let piece = |n: usize| ((at[n] - low) as usize, to + u32::from_le_bytes(tuples[n]) as usize);
                copy_items(at.len().min(tuples.len()), piece, len * itemsize, buffer, out);
            });
            return Ok(());
        }
        let read = |first, items, buffer: &mut Buffer| read_items(&self.data, first, items, buffer);
        let mut put = Put::Replace;
        let mut reads = RunReader::new(&read, itemsize, out, buffer, &mut put);
        let mut tuples: Vec<GroupedTuple> = memory::with_capacity(count).with_context(|| self.data.label())?;
        each(&mut |at, numbers| tuples.extend(at.iter().copied().zip(numbers.iter().map(|&n| u32::from_le_bytes(n)))));
        tuples.sort_unstable();
        tuples.iter().try_for_each(|&(place, n)| {
            reads.add(ItemRun { from: from + place as usize * block, to: to + n as usize * len, len })
        })?;
        reads.flush()
    }

    fn has_all_tuples(&self, sides: &[usize]) -> bool {
        let lead = self.blocks.lead_axes;
        sides[..lead] == self.meta.shape[..lead]
    }

    fn filled_at_once<'r>(&self, region: &'r Region) -> Cow<'r, [Window]> {
        let shape = &self.meta.shape;
        match region {
            Region::Box(window) if self.way == PARTS && self.has_all_tuples(&window.shape()) => {
                Cow::Borrowed(std::slice::from_ref(window))
            }
            _ => region.pieces(shape),
        }
    }

    fn is_in_c_order(&self) -> bool {
        self.data.meta().order == Order::C || self.blocks.is_flat
    }

    fn piece(&self) -> usize {
        let items = if self.is_in_c_order() { self.blocks.block.max(1) } else { 1 };
        items * self.meta.dtype.itemsize()
    }

    fn copy_to_runs(&self, limits: &Limits) -> Option<Holding> {
        Holding::for_source(&self.data, 0, Hold::Runs, limits.threads)
    }

    /// Whether windows would sort so many tuples for their sweeps that it takes longer than to keep the data: single
    /// items of 12 MiB took 1.2 to 1.4 times as long where the tuples have 5 MiB.
    fn sorts_many_tuples(&self) -> bool {
        let tuples = (self.meta.bytes() / self.piece().max(1)).saturating_mul(TUPLE);
        let reach = self.blocks.reach.saturating_mul(self.meta.dtype.itemsize());
        self.is_in_c_order() && reach > self.limits.machine.slab.max(tuples) && tuples >= reach / 4
    }

    fn is_cheaper_in_pieces(&self) -> bool {
        let pieces = self.meta.bytes() / self.piece().max(1);
        self.data.costs_requests() && pieces.saturating_mul(self.piece() + MIN_REQUEST) < self.data.bytes()
    }
}

impl Fill for LinkedGather {
    fn meta(&self) -> &Meta {
        &self.meta
    }

    fn operand(&self, n: usize) -> Option<&Source> {
        (n == 0).then_some(&self.data)
    }

    fn ways(&self, limits: &Limits) -> Vec<usize> {
        let copy = self.copy_to_runs(limits).map(|holding| holding.copy);
        let is_file = copy.map_or_else(|| self.data.is_read_by_position(), |copy| copy.keep == Keep::File);
        let in_chunks = copy.is_none() && self.data.as_chunks().is_some();
        let mut ways = vec![WINDOWS];
        if self.is_cheaper_in_pieces() {
            return ways;
        }
        if (is_file || in_chunks) && self.data.bytes() <= self.most_resident {
            if is_file && self.sorts_many_tuples() {
                return vec![RESIDENT];
            }
            ways.push(RESIDENT);
        }
        if is_file && self.boxes.is_some() {
            ways.push(BOXES);
        }
        if is_file && self.parts.is_some() {
            ways.push(PARTS);
        }
        ways
    }

    fn holdings(&self, way: usize, limits: &Limits) -> Vec<Holding> {
        let copy = HeldCopy { keep: Keep::Memory, bytes_read: self.data.bytes_stored() };
        let resident = (way == RESIDENT).then_some(Holding { operand: 0, hold: Hold::Memory, copy });
        self.copy_to_runs(limits).into_iter().chain(resident).collect()
    }

    fn reads(&self, way: usize) -> Vec<Access<'_>> {
        let at_once = (way == BOXES || !self.is_in_c_order()) && !self.is_cheaper_in_pieces();
        let sides = match way {
            BOXES => self.boxes.as_ref().map(|boxes| &boxes.sides),
            PARTS => self.parts.as_ref(),
            _ => None,
        };
        let pattern = match sides.cloned() {
            Some(sides) => Pattern::Boxed { sides, at_once },
            None => Pattern::Indexed { at_once },
        };
        let feeds = Feeds::Named { items: self.meta.items() };
        vec![Access { source: &self.data, feeds, pattern, copy: None }]
    }

    fn picked(&self, way: usize, windows: usize, sides: &[usize]) -> Picked {
        let data = self.data.bytes() as u64;
        if let (BOXES, Some(boxes)) = (way, &self.boxes) {
            return Picked { reads: boxes.reads(self.data.bytes()) as u64, bytes: data };
        }
        let pieces = (self.meta.bytes() / self.piece().max(1)) as u64;
        // Places may be anywhere within the reach.
        let reach = (self.blocks.reach * self.meta.dtype.itemsize()) as u64;
        let swept = data.max(reach.saturating_mul(windows as u64));
        match (self.is_in_c_order(), swept / pieces.max(1) <= GAP as u64) {
            (true, true) => Picked { reads: swept.div_ceil(self.limits.machine.slab as u64), bytes: swept },
            (false, _) if self.is_dense_across() => {
                let swept = if way == PARTS && self.has_all_tuples(sides) { data } else { swept };
                Picked { reads: swept.div_ceil(GAP as u64), bytes: swept }
            }
            _ => Picked { reads: pieces, bytes: self.meta.bytes() as u64 },
        }
    }

    fn found(&self) -> Picked {
        let passes = match self.places {
            TuplePlaces::OnlyPlace => 0,
            TuplePlaces::InMemory(_) => 1,
            TuplePlaces::OnDemand(_) => 2,
        };
        Picked::passes(passes, self.index_bytes, READ_AT_ONCE)
    }

    fn take(&mut self, way: usize) {
        self.way = way;
        if way != BOXES && self.blocks.is_flat {
            self.data.reverse_to_c_order();
        }
    }

    fn hold(&mut self, holding: &Holding, limits: &Limits) -> Result<()> {
        self.data.hold(holding.hold, limits.threads)
    }

    fn fill(&self, region: &Region, out: &mut [u8], scratch: &mut Scratch) -> Result<()> {
        let (shape, itemsize) = (&self.meta.shape, self.meta.dtype.itemsize());
        if self.has_zeros {
            out.fill(0);
        }
        if region.items() == 0 {
            return Ok(());
        }
        if let (BOXES, Some(boxes), TuplePlaces::OnDemand(places)) = (self.way, &self.boxes, &self.places) {
            let fill = |window: &Window, out: &mut [u8]| boxes.fill(&self.data, places, window, out, scratch);
            return fill_each(&region.boxes(shape), itemsize, out, fill);
        }
        fill_each(&self.filled_at_once(region), itemsize, out, |window, out| {
            let at = self.blocks.window_blocks(window);
            let (first, count) = self.blocks.tuples(&at);
            let near = self.places.near(first, count, &mut scratch.gathered)?;
            match (self.is_in_c_order(), self.data.as_bytes()) {
                (true, Some(bytes)) => self.blocks.put(&near, &at, ItemSlab { first: 0, bytes, itemsize }, out),
                (true, None) => self.read(&near, &at, out, &mut scratch.items)?,
                (false, _) => self.sweep_across(&near, window, &at, out, scratch)?,
            }
            Ok(())
        })
    }

    fn finish(&self) -> Result<()> {
        if let TuplePlaces::OnDemand(places) = &self.places {
            places.indices.source.finish()?;
        }
        self.data.finish()
    }

    /// Short pieces in a file need few sweeps with large windows, including the tuple list.
    fn window_bytes(&self, way: usize, threads: usize, machine: &Machine) -> Option<usize> {
        let &Machine { window, swept, slab, page, .. } = machine;
        let itemsize = self.meta.dtype.itemsize();
        let block = self.blocks.block * itemsize;
        let row = self.blocks.reach.saturating_mul(itemsize);
        let is_c = self.is_in_c_order();
        let is_file = self.data.is_read_by_position() || self.data.is_stream();
        if way == RESIDENT || !is_file {
            return Some(window);
        }
        if is_c && row <= slab {
            let share = (slab / 2).saturating_mul(self.meta.bytes()) / self.data.bytes().max(1);
            return Some(if self.blocks.is_flat { share.clamp(window / MIN_SHARE, window) } else { window });
        }
        // The first touch of a page in a large window costs more than a separate read.
        if is_c && block >= page {
            return None;
        }
        let share = (swept / threads.max(1)).max(window);
        if !is_c && self.is_dense_across() {
            return Some(self.meta.bytes().div_ceil(threads.max(1)).clamp(window, (share / 2).max(window)));
        }
        let most = if block < share { (share / self.blocks.swept(itemsize) * block).max(window) } else { share };
        Some(self.meta.bytes().div_ceil(threads.max(1)).clamp(window, most))
    }
}

fn read_items(data: &Source, first: usize, items: usize, buffer: &mut Buffer) -> Result<()> {
    let itemsize = data.dtype().itemsize();
    buffer.resize(items * itemsize, data.label())?;
    data.read_at(buffer, (first * itemsize) as u64)
}
