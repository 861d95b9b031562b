//! Gathers from data in Fortran order, where neighbouring tuples have adjacent items.

use std::ops::Range;

use super::LinkedGather;
use super::blocks::WindowBlocks;
use crate::operators::fill::{Machine, Scratch};
use crate::operators::indexed::places::NearPlaces;
use crate::operators::indexed::runs::{ItemRun, ItemSlab, Put};
use tensorop_kernels::error::Result;
use tensorop_kernels::layout::axis::{coordinates, product};
use tensorop_kernels::layout::boxes::{pieces, tile_by};
use tensorop_kernels::layout::gather::GAP;
use tensorop_kernels::layout::view::View;
use tensorop_kernels::layout::window::{Window, Windows, boxes_of_run};

/// Items per block that are picked together, if they fit: neighbours in the output.
const MIN_ACROSS: usize = 16;

/// The bytes of a cache line; writing fewer takes as long.
const LINE: usize = 64;

impl LinkedGather {
    pub(super) fn sweep_across(
        &self,
        near: &NearPlaces<'_>,
        window: &Window,
        at: &WindowBlocks,
        out: &mut [u8],
        scratch: &mut Scratch,
    ) -> Result<()> {
        let (rows, of_block) = (&window.ranges[..self.blocks.row_axes], &window.ranges[self.blocks.lead_axes..]);
        let is_of_one_tuple = at.len < self.blocks.block && at.rows.len() * at.tuples.len() == 1;
        if !self.is_dense_across() || is_of_one_tuple {
            return self.sweep_apart(near, at, of_block, out, scratch);
        }
        // Reads in storage order and picks from memory: as many places as fit, with few items of each block, to stay in
        // the cache.
        let itemsize = self.data.dtype().itemsize();
        let most = self.most_across(at.rows.len());
        let block: Vec<usize> = of_block.iter().map(ExactSizeIterator::len).collect();
        let as_stored: Vec<usize> = (0..self.data.shape().len()).rev().collect();
        for named in Windows::new(self.named_dims(), most).iter() {
            for part in Windows::boxes(&block, &self.part_across(&block, at.rows.len(), named.items(), most)).iter() {
                let inside: Vec<_> =
                    part.ranges.iter().zip(of_block).map(|(it, of)| of.start + it.start..of.start + it.end).collect();
                let view = self.data.view().part(&[rows, &named.ranges, &inside].concat());
                scratch.items.resize(view.items() * itemsize, self.data.label())?;
                self.data.read(&view.with_axes(&as_stored), &mut scratch.items, &mut scratch.gathered)?;
                let stored = (&scratch.items[..], &View::fortran_order(&view.shape()), itemsize);
                self.blocks.put_part(near, at, (&named, &part, &block), stored, out);
            }
        }
        Ok(())
    }

    fn named_dims(&self) -> &[usize] {
        let block_axes = self.meta.shape.len() - self.blocks.lead_axes;
        &self.data.shape()[self.blocks.row_axes..self.data.shape().len() - block_axes]
    }

    fn most_across(&self, rows: usize) -> usize {
        let threads = self.limits.threads.for_bytes(self.meta.bytes()).max(1);
        self.limits.machine.swept / 2 / threads / (rows * self.data.dtype().itemsize()).max(1)
    }

    /// Parts are long in storage, and a cache line long in the output if many tuples take them. `most` places fit
    /// memory.
    fn part_across(&self, block: &[usize], rows: usize, named: usize, most: usize) -> Vec<usize> {
        let Machine { slab, read, .. } = self.limits.machine;
        let itemsize = self.data.dtype().itemsize().max(1);
        let of_item = rows * named * itemsize;
        let together = (slab / of_item).max(MIN_ACROSS.min(most / named)).max(1);
        let taken = self.tuples_of_row() as f64 / self.blocks.dim as f64;
        let nearest: Vec<usize> = (0..block.len()).collect();
        tile_by(block, &nearest, together, |[stored, put]| {
            let lines = LINE as f64 / (put * itemsize).min(LINE) as f64;
            read as f64 / stored.saturating_mul(of_item) as f64 + taken * lines
        })
    }

    /// `None` if boxes would be too large, would need short reads or writes, or would equal the output.
    pub(super) fn boxes_of_parts(&self) -> Option<Vec<usize>> {
        let (lead, block) = self.meta.shape.split_at(self.blocks.lead_axes);
        if self.is_in_c_order() || self.meta.bytes() == 0 || !self.is_dense_across() {
            return None;
        }
        let threads = self.limits.threads.for_bytes(self.meta.bytes()).max(1);
        let (items, most) = (self.meta.items(), self.most_across(1));
        // The surplus avoids an additional box if the threads do not divide a dim.
        let items = (items.div_ceil(threads) + items / 16).min(most) / product(lead);
        let nearest: Vec<usize> = (0..block.len()).collect();
        let of_item = product(&self.data.shape()[..self.data.shape().len() - block.len()]);
        // A write takes as long as 8 reads.
        let cost = |[stored, put]: [usize; 2]| 1.0 / (stored * of_item) as f64 + 8.0 / put as f64;
        let sides = (items > 0).then(|| tile_by(block, &nearest, items, cost))?;
        let [read, written] = pieces(&sides, block, &nearest).map(|items| items * self.data.dtype().itemsize());
        let machine = &self.limits.machine;
        // Short pieces, each with its own write call, cost more than reading again by large calls: 19 MiB in pieces of
        // 14 KB took 33 ms of processor time, reading 96 MiB twice took 28 ms.
        let is_long = read * of_item >= machine.read && written >= machine.write.min(machine.file_window);
        (sides != block && is_long).then(|| [lead, &sides].concat())
    }

    pub(super) fn tuples_of_row(&self) -> usize {
        product(&self.meta.shape[self.blocks.row_axes..self.blocks.lead_axes])
    }

    pub(super) fn is_dense_across(&self) -> bool {
        self.blocks.dim / self.tuples_of_row().max(1) * self.meta.dtype.itemsize() <= GAP
    }

    fn sweep_apart(
        &self,
        near: &NearPlaces<'_>,
        at: &WindowBlocks,
        of_block: &[Range<usize>],
        out: &mut [u8],
        scratch: &mut Scratch,
    ) -> Result<()> {
        let itemsize = self.data.dtype().itemsize();
        let (row_dims, dims) = self.data.shape().split_at(self.blocks.row_axes);
        let dims = &dims[..dims.len() - of_block.len()];
        for rows in self.blocks.batches(at) {
            let first = self.blocks.first_near(at, rows.start);
            let boxes = boxes_of_run(row_dims, rows.start, rows.end);
            for n in (0..at.tuples.len()).filter(|n| near.get(first + n) < self.blocks.dim) {
                let place = coordinates(near.get(first + n), dims).into_iter().map(|place| place..place + 1);
                let of_tuple: Vec<_> = place.chain(of_block.iter().cloned()).collect();
                for rows in &boxes {
                    let view = self.data.view().part(&[&rows.ranges[..], &of_tuple].concat());
                    scratch.items.resize(view.items() * itemsize, self.data.label())?;
                    self.data.read(&view, &mut scratch.items, &mut scratch.gathered)?;
                    let slab = ItemSlab { first: 0, bytes: &scratch.items, itemsize };
                    for row in 0..rows.items() {
                        let to = ((rows.start + row - at.rows.start) * at.tuples.len() + n) * at.len;
                        slab.put(ItemRun { from: row * at.len, to, len: at.len }, out, &mut Put::Replace);
                    }
                }
            }
        }
        Ok(())
    }
}
