//! Gathers elements along an axis that is not the innermost in storage: output boxes take few places of the other axes,
//! and each is picked from one contiguous read of `data`.

use crate::operators::fill::Scratch;
use crate::operators::indexed::places::PlacesOnDemand;
use crate::operators::indexed::runs::pick_items;
use crate::storage::source::Source;
use tensorop_kernels::error::{Context, Result};
use tensorop_kernels::item::meta::Order;
use tensorop_kernels::layout::boxes::{pieces, tile};
use tensorop_kernels::layout::copy::copy_bytes;
use tensorop_kernels::layout::view::View;
use tensorop_kernels::layout::window::{Window, Windows};
use tensorop_kernels::memory::Buffer;
use tensorop_kernels::ops::indexed::{IndexSpec, TupleResolver};

/// Numbers per batch, which stay in the cache.
const NUMBERS: usize = 1 << 12;

#[derive(Clone, Debug)]
pub(super) struct ElementBoxes {
    resolver: TupleResolver,
    axis: usize,
    dim: usize,
    order: Order,
    pub(super) sides: Vec<usize>,
    piece: usize,
}

impl ElementBoxes {
    /// `slab` is the approximate number of bytes of `data` per box, and `most` the number that a box may have for pieces
    /// that are long enough. `None` if pieces would be short, or for other operators.
    pub(super) fn new(shapes: &IndexSpec, order: Order, itemsize: usize, [slab, most]: [usize; 2]) -> Option<Self> {
        /// The wanted piece is this part of a slab, 2 KiB. A quarter is acceptable.
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
        let row = (slab / column).max(wanted.min(most / column));
        if inner.is_empty() || row < least {
            return None;
        }
        let (mut sides, shape) = (vec![1; data.len()], &data[inner.clone()]);
        let stored: Vec<usize> = (0..shape.len()).collect();
        match order {
            Order::C => sides[inner].copy_from_slice(&Windows::contiguous(shape, row)),
            // Earlier axes would be between the places of this axis in storage.
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
        // Limits the picked items to a multiple of the data.
        sides[axis] = (slab.saturating_mul(8) / (row * (itemsize + size_of::<u64>()))).clamp(1, count);
        Some(Self { resolver: shapes.clone().in_order(order).without_implied(), axis, dim, order, sides, piece })
    }

    pub(super) fn reads(&self, data: usize) -> usize {
        data / self.piece
    }

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
                let resolved = self.resolver.append(&places.kind, numbers, 0, &mut on_axis);
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
