//! GatherND, as [ONNX](https://onnx.ai/onnx/operators/onnx__GatherND.html) specifies it in its versions 11, 12 and 13 and
//! OpenVINO's [GatherND-8](https://docs.openvino.ai/latest/documentation/openvino-ir-format/operation-sets/operation-specs/movement/gather-nd-8.html):
//! the blocks of `data` that index tuples address, in the order of the tuples. It is the way back of ScatterND.

use std::ops::Range;

use ndarray::{Array, ArrayBase, ArrayD, Data, Dimension, IxDyn};

use super::arrays::{check_extent, check_rank, items};
use super::fill::{Fill, Limits, Scratch};
use super::indexed::{Index, ItemRun, ItemSlab, NearPlaces, RunReader, Shapes, TuplePlaces, TupleResolver};
use super::scatter_nd::check_tuples;
use super::window_size::{ENTRIES, RESIDENT, SHORT_PIECE, SLAB, SWEEP_WINDOWS, WINDOW};
use crate::error::{Context, Error, Result, Subject};
use crate::item::meta::{Meta, Order};
use crate::layout::gather::GAP;
use crate::layout::window::Window;
use crate::memory;
use crate::memory::resize;
use crate::parallel::Threads;
use crate::storage::source::Source;

/// How far apart neighbours along an axis are, in items.
#[derive(Clone, Copy, Debug)]
struct GatherStep {
    /// In storage.
    from: usize,
    /// In the window.
    to: usize,
}

/// The place of a tuple's block in storage, and the number of the tuple in the window. Sorted, they are in storage order.
type PlacedTuple = (usize, usize);

/// The bytes of columns that are read at once: they stay in a core's cache while each tuple picks its items.
const COLUMNS: usize = 1 << 18;

/// Checks the shapes of `data` and `indices`, whose first `batch_dims` axes are the same.
///
/// # Errors
/// Rank 0; a negative number of batch dims, or not fewer than either has axes; batch dims that differ; index tuples longer
/// than the axes of `data` after them; an output beyond what can be counted.
pub fn check(shape: &[usize], indices: &[usize], batch_dims: i64) -> Result<Shapes> {
    let rank = check_rank(shape)?;
    let (width, tuples) = check_tuples(indices, rank, shape)?;
    let most = rank.min(indices.len()) - 1;
    let batch = usize::try_from(batch_dims).ok().filter(|&batch| batch <= most).ok_or_else(|| {
        let message = format!("{batch_dims}, expected 0 to {most} (data {shape:?}, indices {indices:?})");
        Error::new(Subject::Argument("batch-dims"), message)
    })?;
    if width > rank - batch {
        let most = rank - batch;
        let message = format!(
            "tuples of {width} (shape {indices:?}), expected at most {most} ({batch} batch dims, data {shape:?})"
        );
        return Err(Error::new(Subject::Indices, message));
    }
    if tuples[..batch] != shape[..batch] {
        let message = format!("batch dims {:?}, expected {:?} (data {shape:?})", &tuples[..batch], &shape[..batch]);
        return Err(Error::new(Subject::Indices, message));
    }
    let updates = [tuples, &shape[batch + width..]].concat();
    check_extent(&updates, Subject::Output)?;
    let (data, tuples) = (shape.to_vec(), tuples.to_vec());
    Ok(Shapes { data, axes: batch..batch + width, tuples, updates, has_tuple_axis: true })
}

/// Where the block of each index tuple lies in `data`, whose axes are those of batches and tuples and then those of a
/// block.
#[derive(Clone, Debug)]
struct GatheredBlocks {
    /// The index tuples of one batch.
    tuples: usize,
    /// The places that a tuple may name in one batch.
    dim: usize,
    /// The items of a block.
    block: usize,
    /// The axes of `data` before those of a block.
    lead: usize,
    /// The axes of the output before those of a block.
    tuple_axes: usize,
}

impl GatheredBlocks {
    fn new(shapes: &Shapes) -> Self {
        let Shapes { data, axes, tuples, .. } = shapes;
        let product = |dims: &[usize]| dims.iter().product::<usize>();
        Self {
            tuples: product(&tuples[axes.start..]),
            dim: product(&data[axes.clone()]),
            block: product(&data[axes.end..]),
            lead: axes.end,
            tuple_axes: tuples.len(),
        }
    }

    /// Returns the number, in C order, of the block that a tuple addresses: tuple number `n` of those of `near`, the first of
    /// which is tuple number `first`.
    #[inline]
    fn place(&self, near: &NearPlaces<'_>, first: usize, n: usize) -> usize {
        (first + n) / self.tuples * self.dim + near.get(n)
    }

    /// Returns the first of the index tuples of a window and their number. A window has whole blocks, or a part of one.
    fn tuples(&self, window: &Window) -> (usize, usize) {
        let count = window.ranges[..self.tuple_axes].iter().map(ExactSizeIterator::len).product();
        (window.start / self.block.max(1), count)
    }

    /// Calls `each` for the run of items of each tuple of a window, in the order of the window, where `data` is in C order.
    fn runs(&self, near: &NearPlaces<'_>, window: &Window, mut each: impl FnMut(ItemRun)) {
        let (first, count) = self.tuples(window);
        let (inside, len) = (window.start % self.block.max(1), window.items() / count.max(1));
        for n in 0..count {
            let from = self.place(near, first, n) * self.block + inside;
            each(ItemRun { from, to: n * len, len });
        }
    }
}

/// A GatherND that has its data, and whose numbers are all in range.
#[derive(Debug)]
pub struct LinkedGatherNd {
    data: Source,
    places: TuplePlaces,
    blocks: GatheredBlocks,
    meta: Meta,
    /// Data of at most so many bytes is kept in memory: as much as the index tensor takes, which is all read.
    resident: usize,
    threads: Threads,
}

impl LinkedGatherNd {
    /// Reads the index tensor and links the operator to its data.
    ///
    /// # Errors
    /// A number that names no place; of reading; not enough memory.
    pub fn new(data: Source, resolver: &TupleResolver, indices: Source, limits: Limits) -> Result<Self> {
        let meta = Meta::new(data.dtype().clone(), resolver.shapes().updates_shape().to_vec());
        let resident = indices.bytes().clamp(RESIDENT, ENTRIES);
        let places = TuplePlaces::new(indices, resolver, limits)?;
        let blocks = GatheredBlocks::new(resolver.shapes());
        Ok(Self { data, places, blocks, meta, resident, threads: limits.threads })
    }

    /// Reads the items of a window from front to back of the storage, whatever the order of the tuples: the list of its
    /// tuples, sorted by where they lie, is one sweep. In Fortran order the items of a block lie apart, and the list is
    /// swept once for each of them, further on each time; a list of all items would be as many times as long.
    fn sweep(&self, near: &NearPlaces<'_>, window: &Window, out: &mut [u8], buffer: &mut Vec<u8>) -> Result<()> {
        let read = |first, items, buffer: &mut Vec<u8>| read_items(&self.data, first, items, buffer);
        let itemsize = self.data.dtype().itemsize();
        let (first, count) = self.blocks.tuples(window);
        let len = window.items() / count.max(1);
        let mut tuples = memory::of(count).with_context(|| self.data.label())?;
        let shape = self.data.shape();
        let (lead, block) = shape.split_at(self.blocks.lead);
        match self.data.meta().order {
            Order::C => {
                let inside = window.start % self.blocks.block.max(1);
                tuples.extend((0..count).map(|n| (self.blocks.place(near, first, n), n)));
                tuples.sort_unstable();
                let mut reads = RunReader::new(&read, itemsize, out, buffer, None);
                tuples.iter().try_for_each(|&(place, n)| {
                    reads.add(ItemRun { from: place * self.blocks.block + inside, to: n * len, len })
                })?;
                reads.flush()
            }
            Order::Fortran => {
                tuples.extend((0..count).map(|n| (in_fortran_order(self.blocks.place(near, first, n), lead), n)));
                tuples.sort_unstable();
                // a block without axes is one item
                let (block, ranges) = match &window.ranges[self.blocks.tuple_axes..] {
                    [] => (&[1][..], std::slice::from_ref(&(0..1))),
                    ranges => (block, ranges),
                };
                let mut steps = vec![GatherStep { from: lead.iter().product(), to: 1 }; block.len()];
                for axis in 1..block.len() {
                    steps[axis].from = steps[axis - 1].from * block[axis - 1];
                }
                for axis in (1..block.len()).rev() {
                    steps[axis - 1].to = steps[axis].to * ranges[axis].len();
                }
                let places = lead.iter().product::<usize>();
                // where the tuples take most of what lies side by side, all of that is read, and picked from
                if places * itemsize <= COLUMNS && places.div_ceil(count.max(1)) * itemsize <= GAP {
                    let (data, tuples, step) = (&self.data, &tuples, steps[0].to);
                    let mut columns = ColumnReader { data, out, buffer, places, tuples, len, step, rows: Vec::new() };
                    in_storage_order(ranges, &steps, |row| columns.add(row))?;
                    return columns.flush();
                }
                let mut reads = RunReader::new(&read, itemsize, out, buffer, None);
                in_storage_order(ranges, &steps, |row| {
                    (0..row.len).try_for_each(|item| {
                        let (from, to) = (row.from + item * steps[0].from, row.to + item * steps[0].to);
                        let run = |place, n| ItemRun { from: from + place, to: n * len + to, len: 1 };
                        tuples.iter().try_for_each(|&(place, n)| reads.add(run(place, n)))
                    })
                })?;
                reads.flush()
            }
        }
    }
}

/// Calls `each` for the rows of the part `ranges` of a block in the order of storage. A row is a run along the first axis,
/// along which items lie as far apart as the first of `steps` says; there is one step for each axis.
fn in_storage_order(
    ranges: &[Range<usize>],
    steps: &[GatherStep],
    mut each: impl FnMut(ItemRun) -> Result<()>,
) -> Result<()> {
    let (len, mut at) = (ranges[0].len(), vec![0; ranges.len()]);
    loop {
        let (mut from, mut to) = (0, 0);
        for ((at, range), step) in at.iter().zip(ranges).zip(steps) {
            from += (range.start + at) * step.from;
            to += at * step.to;
        }
        each(ItemRun { from, to, len })?;
        let Some(axis) = (1..at.len()).find(|&axis| at[axis] + 1 < ranges[axis].len()) else { return Ok(()) };
        at[1..axis].fill(0);
        at[axis] += 1;
    }
}

/// Returns the number in Fortran order of the place that has this number in C order.
fn in_fortran_order(place: usize, dims: &[usize]) -> usize {
    let mut rest = place;
    dims.iter().rev().fold(0, |number, &dim| {
        let at = rest % dim;
        rest /= dim;
        number * dim + at
    })
}

/// Reads blocks of data in Fortran order by columns: a column has the same item of all blocks, which lie side by side. To
/// list each item of each tuple took ten times as long as the copy, where tuples are few and blocks large.
struct ColumnReader<'a> {
    data: &'a Source,
    out: &'a mut [u8],
    buffer: &'a mut Vec<u8>,
    /// The items of a column.
    places: usize,
    /// Where each tuple lies in a column, and its number in the window.
    tuples: &'a [PlacedTuple],
    /// The items of each tuple in the window.
    len: usize,
    /// From where an item goes to where the same tuple's item of the next column goes.
    step: usize,
    /// The columns that are read next, as runs of neighbouring columns.
    rows: Vec<ItemRun>,
}

impl ColumnReader<'_> {
    /// Adds `len` neighbouring columns, the first of which begins at `from` and has its first item go to `to`.
    fn add(&mut self, ItemRun { mut from, mut to, len: mut count }: ItemRun) -> Result<()> {
        let itemsize = self.data.dtype().itemsize();
        let most = (COLUMNS / (self.places * itemsize).max(1)).max(1);
        while count > 0 {
            if let (Some(first), Some(last)) = (self.rows.first(), self.rows.last()) {
                let apart = (from - last.from - last.len * self.places) * itemsize > GAP;
                if apart || (from - first.from) / self.places >= most {
                    self.flush()?;
                }
            }
            let first = self.rows.first().map_or(from, |first| first.from);
            let read = (from - first) / self.places;
            let here = count.min(most - read);
            self.rows.push(ItemRun { from, to, len: here });
            (from, to, count) = (from + here * self.places, to + here * self.step, count - here);
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        let (Some(first), Some(last)) = (self.rows.first(), self.rows.last()) else { return Ok(()) };
        let first = first.from;
        let itemsize = self.data.dtype().itemsize();
        read_items(self.data, first, last.from + last.len * self.places - first, self.buffer)?;
        let step = GatherStep { from: self.places, to: self.step };
        for &(place, n) in self.tuples {
            let from = &self.buffer[place * itemsize..];
            let out = &mut self.out[n * self.len * itemsize..][..self.len * itemsize];
            for &ItemRun { from: at, to, len: columns } in &self.rows {
                let (from, out) = (&from[(at - first) * itemsize..], &mut out[to * itemsize..]);
                match itemsize {
                    1 => pick::<1>(from, out, step, columns),
                    2 => pick::<2>(from, out, step, columns),
                    4 => pick::<4>(from, out, step, columns),
                    8 => pick::<8>(from, out, step, columns),
                    16 => pick::<16>(from, out, step, columns),
                    _ => (0..columns).for_each(|column| {
                        let item = &from[column * step.from * itemsize..][..itemsize];
                        out[column * step.to * itemsize..][..itemsize].copy_from_slice(item);
                    }),
                }
            }
        }
        self.rows.clear();
        Ok(())
    }
}

/// Reads so many items from number `first` on.
fn read_items(data: &Source, first: usize, items: usize, buffer: &mut Vec<u8>) -> Result<()> {
    let itemsize = data.dtype().itemsize();
    resize(buffer, items * itemsize, data.label())?;
    data.read_at(buffer, (first * itemsize) as u64)
}

/// Copies `count` words that lie `step` apart.
fn pick<const N: usize>(from: &[u8], out: &mut [u8], step: GatherStep, count: usize) {
    let from = from.as_chunks::<N>().0.iter().step_by(step.from);
    let out = out.as_chunks_mut::<N>().0.iter_mut().step_by(step.to);
    out.zip(from).take(count).for_each(|(out, from)| *out = *from);
}

impl Fill for LinkedGatherNd {
    fn meta(&self) -> &Meta {
        &self.meta
    }

    fn operands(&self) -> Vec<&Source> {
        vec![&self.data]
    }

    fn prepare(&mut self) -> Result<()> {
        self.data.settle()?;
        self.data.flatten(self.threads)?;
        // data of long blocks is read block by block: a part of the output needs few of them
        let is_file = self.data.is_read_by_position();
        let is_long = self.blocks.block * self.meta.dtype.itemsize() >= SHORT_PIECE;
        let most = if is_file && is_long { SLAB } else { self.resident };
        if (is_file || self.data.as_chunks().is_some()) && self.data.bytes() <= most {
            self.data.make_resident()?;
        }
        Ok(())
    }

    fn fill(&self, window: &Window, out: &mut Vec<u8>, scratch: &mut Scratch) -> Result<()> {
        let itemsize = self.meta.dtype.itemsize();
        resize(out, window.items() * itemsize, self.data.label())?;
        let (first, count) = self.blocks.tuples(window);
        let near = self.places.near(first, count)?;
        if let (Some(bytes), Order::C) = (self.data.as_bytes(), self.data.meta().order) {
            let slab = ItemSlab { first: 0, bytes, itemsize };
            self.blocks.runs(&near, window, |run| slab.put(run, out, None));
            return Ok(());
        }
        self.sweep(&near, window, out, &mut scratch.items)
    }

    fn finish(&self) -> Result<()> {
        self.places.source().map_or(Ok(()), Source::finish)?;
        self.data.finish()
    }

    /// Short pieces that are picked from a file are better read by few sweeps through it, each for a large window. The
    /// list of the tuples of a window counts as a part of it.
    fn window_bytes(&self, threads: usize) -> usize {
        let block = self.blocks.block * self.meta.dtype.itemsize();
        let together = match self.data.meta().order {
            Order::C => block,
            Order::Fortran => self.meta.dtype.itemsize(),
        };
        if !self.data.is_read_by_position() || together >= SHORT_PIECE {
            return WINDOW;
        }
        let listed = block + size_of::<PlacedTuple>();
        let share = SWEEP_WINDOWS / threads.max(1);
        if block < share { (share / listed * block).max(WINDOW) } else { share }
    }
}

/// Returns the blocks of `data` that index tuples `indices[i, …, :]` address. A tuple of k numbers addresses a block of shape
/// `data.shape[batch_dims + k:]`, in the batch in which the tuple lies; the output has the shape
/// `indices.shape[:-1] ++ data.shape[batch_dims + k:]`. Negative indices count from the end.
///
/// ```
/// use ndarray::array;
/// use tensorop::gather_nd;
/// let data = array![[0, 1], [2, 3]];
/// assert_eq!(gather_nd(&data, &array![[0, 0], [1, 1]], 0)?, array![0, 3].into_dyn());
/// assert_eq!(gather_nd(&data, &array![[1], [0]], 1)?, array![1, 2].into_dyn());
/// # Ok::<(), tensorop::Error>(())
/// ```
///
/// # Errors
/// Those of [`check`]; a number that names no place.
pub fn gather_nd<T: Copy>(
    data: &ArrayBase<impl Data<Elem = T>, impl Dimension>,
    indices: &ArrayBase<impl Data<Elem = impl Index>, impl Dimension>,
    batch_dims: usize,
) -> Result<ArrayD<T>> {
    // more than int64 holds are too many, as the largest int64 is
    let batch_dims = i64::try_from(batch_dims).unwrap_or(i64::MAX);
    let resolver = check(data.shape(), indices.shape(), batch_dims)?.in_order(Order::C);
    let places = NearPlaces::of_numbers(&resolver, &items(indices))?;
    let shape = resolver.shapes().updates_shape();
    let (source, mut out) = (items(data), Vec::new());
    if !shape.contains(&0) {
        let blocks = GatheredBlocks::new(resolver.shapes());
        blocks.runs(&places, &Window::whole(shape), |ItemRun { from, len, .. }| {
            out.extend_from_slice(&source[from..][..len])
        });
    }
    Ok(Array::from_shape_vec(IxDyn(shape), out).expect("a block for each tuple"))
}

#[cfg(test)]
mod tests {
    use ndarray::{Array1, Array2, Array3, array};

    use super::*;

    #[test]
    fn the_specifications_examples() {
        let two = array![[0, 1], [2, 3]];
        let cube = array![[[0, 1], [2, 3]], [[4, 5], [6, 7]]];
        type Row = (&'static str, ArrayD<i32>, ArrayD<i64>, usize, ArrayD<i32>);
        let rows: [Row; 5] = [
            ("1", two.clone().into_dyn(), array![[0, 0], [1, 1]].into_dyn(), 0, array![0, 3].into_dyn()),
            ("2", two.into_dyn(), array![[1], [0]].into_dyn(), 0, array![[2, 3], [0, 1]].into_dyn()),
            ("3", cube.clone().into_dyn(), array![[0, 1], [1, 0]].into_dyn(), 0, array![[2, 3], [4, 5]].into_dyn()),
            (
                "4",
                cube.clone().into_dyn(),
                array![[[0, 1]], [[1, 0]]].into_dyn(),
                0,
                array![[[2, 3]], [[4, 5]]].into_dyn(),
            ),
            ("5", cube.into_dyn(), array![[1], [0]].into_dyn(), 1, array![[2, 3], [4, 5]].into_dyn()),
        ];
        let failed: Vec<_> = rows
            .iter()
            .filter(|(_, data, indices, batch, wanted)| gather_nd(data, indices, *batch).as_ref() != Ok(wanted))
            .map(|(name, ..)| name)
            .collect();
        assert!(failed.is_empty(), "{failed:?}");
    }

    #[test]
    fn shapes_of_every_kind() {
        let data = Array3::from_shape_fn((2, 3, 4), |(i, j, k)| (i * 12 + j * 4 + k) as i16);
        // two batch dims, negative numbers, no number, no tuple, no item
        let picked = gather_nd(&data, &Array3::from_elem((2, 3, 1), -1), 2).unwrap();
        assert_eq!(picked, array![[3, 7, 11], [15, 19, 23]].into_dyn());
        let whole = gather_nd(&data, &Array2::<i64>::zeros((2, 0)), 0).unwrap();
        assert_eq!(whole.shape(), [2, 2, 3, 4]);
        assert_eq!(whole.index_axis(ndarray::Axis(0), 1), data.clone().into_dyn());
        let batches = gather_nd(&data, &Array3::<i64>::zeros((2, 5, 0)), 1).unwrap();
        assert_eq!((batches.shape(), batches[[1, 4, 2, 3]]), (&[2, 5, 3, 4][..], 23));
        assert_eq!(gather_nd(&data, &Array2::<u8>::zeros((0, 1)), 0).unwrap().shape(), [0, 3, 4]);
        assert_eq!(gather_nd(&Array2::<u8>::zeros((2, 0)), &array![[1]], 0).unwrap().shape(), [1, 0]);
        assert_eq!(gather_nd(&data.t(), &array![[3, 2, 1], [0, 0, 0]], 0).unwrap(), array![23, 0].into_dyn());
    }

    #[test]
    fn refused() {
        let data = Array2::<u8>::zeros((2, 3));
        let error = |indices: ArrayD<i64>, batch| gather_nd(&data, &indices, batch).unwrap_err().to_string();
        let rows = [
            (
                error(array![[2]].into_dyn(), 0),
                "indices: 2 at [0, 0] is out of range: expected [-2, 1] on axis 0 (data [2, 3])",
            ),
            (
                error(array![[0], [-4]].into_dyn(), 1),
                "indices: -4 at [1, 0] is out of range: expected [-3, 2] on axis 1 (data [2, 3])",
            ),
            (
                error(array![[0, 0, 0]].into_dyn(), 0),
                "indices: tuples of 3 (shape [1, 3]), expected at most 2, the rank of data [2, 3]",
            ),
            (error(array![[0]].into_dyn(), 1), "indices: batch dims [1], expected [2] (data [2, 3])"),
            (error(array![[0]].into_dyn(), 2), "batch-dims: 2, expected 0 to 1 (data [2, 3], indices [1, 1])"),
            (
                check(&[2, 3], &[1], -1).unwrap_err().to_string(),
                "batch-dims: -1, expected 0 to 0 (data [2, 3], indices [1])",
            ),
            (check(&[2, 3], &[], 0).unwrap_err().to_string(), "indices: rank 0, expected at least 1 axis"),
            (check(&[], &[1], 0).unwrap_err().to_string(), "data: rank 0, expected at least 1 axis"),
        ];
        for (got, expected) in rows {
            assert_eq!(got, expected);
        }
        // the block is empty, the index still has to be right
        assert!(gather_nd(&Array2::<u8>::zeros((2, 0)), &array![[2]], 0).is_err());
        assert_eq!(gather_nd(&Array1::from(vec![1_u8]), &array![[0]], 0).unwrap(), array![1].into_dyn());
    }
}
