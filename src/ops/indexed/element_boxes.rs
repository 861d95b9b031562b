//! Elements along an axis that is not the last, or is the first one of data in Fortran order: boxes of the output that take few
//! places of the other axes, and all of that axis, so that each is picked from a box of `data` that is read at once.

use super::places::PlacesOnDemand;
use super::resolve::{IndexSpec, TupleResolver};
use super::runs::pick_items;
use crate::error::{Context, Result};
use crate::item::meta::Order;
use crate::layout::tile::{pieces, tile};
use crate::layout::view::View;
use crate::layout::walk::copy_bytes;
use crate::layout::window::{Window, Windows};
use crate::memory::Buffer;
use crate::ops::fill::Scratch;
use crate::storage::source::Source;

/// The numbers that are resolved at once, beside what is picked by them.
const NUMBERS: usize = 1 << 12;

/// How an output of elements is cut into boxes.
#[derive(Clone, Debug)]
pub(super) struct ElementBoxes {
    /// Makes places of the axis of the numbers of an index tensor.
    resolver: TupleResolver,
    /// The axis along which numbers name places.
    axis: usize,
    /// The places of that axis in `data`.
    dim: usize,
    /// The order in which `data` is stored, and boxes of it are held.
    order: Order,
    /// The sides of a box of the output.
    pub(super) sides: Vec<usize>,
    /// The bytes that follow each other in `data` for a box.
    piece: usize,
}

impl ElementBoxes {
    /// Returns the boxes of which each takes about `slab` bytes of `data`, which is stored in `order` and whose items have `itemsize`
    /// bytes. `None` where the pieces of these would be short, and where tuples are no elements.
    pub(super) fn new(shapes: &IndexSpec, order: Order, itemsize: usize, slab: usize) -> Option<Self> {
        /// A piece of a box should have this part of a slab, 2 KiB, for which a box may have up to four slabs. A quarter of that
        /// is accepted.
        const PIECES: usize = 1 << 9;
        let IndexSpec { data, axes, updates, is_implied: true, .. } = shapes else { return None };
        let (axis, inner) = (axes.start, axes.end..data.len());
        let (dim, count) = (data[axis], updates[axis]);
        if data[inner.clone()] != updates[inner.clone()] || data.contains(&0) || count == 0 || itemsize == 0 {
            return None;
        }
        let column = dim.saturating_mul(itemsize);
        let items = |bytes: usize| bytes.div_ceil(itemsize).max(1);
        let (least, wanted) = (items(slab / PIECES / 4), items(slab / PIECES));
        let row = (slab / column).max(wanted.min(slab.saturating_mul(4) / column));
        if inner.is_empty() || row < least {
            return None;
        }
        let (mut sides, shape) = (vec![1; data.len()], &data[inner.clone()]);
        // in Fortran order the first axis is the nearest
        let stored: Vec<usize> = (0..shape.len()).collect();
        match order {
            Order::C => sides[inner].copy_from_slice(&Windows::contiguous(shape, row)),
            // places of an axis before it would lie between those of this one
            Order::Fortran if data[..axis].iter().any(|&dim| dim > 1) => return None,
            Order::Fortran => sides[inner].copy_from_slice(&tile(shape, &stored, row)),
        }
        let [across, written] = pieces(&sides[axis + 1..], shape, &stored);
        let read = if order == Order::C { written } else { dim.saturating_mul(across) };
        if read.min(written) < least {
            return None;
        }
        let piece = read.saturating_mul(itemsize);
        let row = sides.iter().product::<usize>();
        // what is picked is no more than a few times what it is picked from, however often places are named
        sides[axis] = (slab.saturating_mul(8) / (row * (itemsize + size_of::<u64>()))).clamp(1, count);
        Some(Self { resolver: shapes.clone().in_order(order).without_implied(), axis, dim, order, sides, piece })
    }

    /// Returns how many reads `data` bytes take.
    pub(super) fn reads(&self, data: usize) -> usize {
        data / self.piece
    }

    /// Makes `out` the items of a window of the output, box by box.
    ///
    /// # Errors
    /// Of reading; not enough memory; a number that has become one out of range.
    pub(super) fn fill(
        &self,
        data: &Source,
        places: &PlacesOnDemand,
        window: &Window,
        out: &mut [u8],
        scratch: &mut Scratch,
    ) -> Result<()> {
        let (itemsize, shape) = (data.dtype().itemsize(), window.shape());
        let (mut numbers, mut picked) = (Buffer::default(), Buffer::default());
        let (whole, boxes) = (View::c_order(&shape), Windows::boxes(&shape, &self.sides));
        for part in boxes.iter() {
            let mut ranges = window.places_of(&part);
            let indices = places.indices.view().part(&ranges);
            numbers.resize(indices.items() * places.indices.itemsize(), places.indices.source.label())?;
            places.indices.read(&indices, &mut numbers, &mut scratch.gathered)?;
            ranges[self.axis] = 0..self.dim;
            // where the items of a row of the output lie in the box of data if they are at place 0 of the axis
            let mut held: Vec<usize> = ranges[self.axis..].iter().map(ExactSizeIterator::len).collect();
            let held_view = self.order.view(&held);
            held[0] = 1;
            let columns = held_view.part(&Window::whole(&held).ranges).places();
            let (row, stride) = (columns.len(), held_view.strides().next().unwrap_or(1) as usize);
            let slab = &mut scratch.items;
            slab.resize(self.dim * row * itemsize, data.label())?;
            let box_of_data = data.view().part(&ranges);
            let as_stored: Vec<usize> = (0..ranges.len()).rev().collect();
            let box_of_data = if self.order == Order::C { box_of_data } else { box_of_data.with_axes(&as_stored) };
            data.read(&box_of_data, slab, &mut scratch.gathered)?;
            let here = match boxes.count() {
                1 => &mut out[..],
                _ => {
                    picked.resize(part.items() * itemsize, data.label())?;
                    &mut picked[..]
                }
            };
            let mut on_axis = Vec::new();
            let rows = (NUMBERS / row).max(1) * row;
            let number = numbers.len() / part.items();
            for (numbers, here) in numbers.chunks(rows * number).zip(here.chunks_mut(rows * itemsize)) {
                on_axis.clear();
                let resolved =
                    self.resolver.append_part(&places.indices.source, &places.kind, numbers, 0, &mut on_axis);
                resolved.with_context(|| data.label())?;
                for (places, out) in on_axis.chunks(row).zip(here.chunks_mut(row * itemsize)) {
                    let item = |(&place, column): (&u64, &usize)| Some(place as usize * stride + column);
                    pick_items(places.iter().zip(&columns), item, itemsize, slab, out);
                }
            }
            if boxes.count() > 1 {
                copy_bytes(&picked, &View::c_order(&part.shape()), out, &whole.part(&part.ranges), itemsize);
            }
        }
        Ok(())
    }
}
