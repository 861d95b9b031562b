//! Items whose order in storage is neither C nor Fortran order, read by position as if they were in C order.

use std::io;
use std::sync::Arc;

use crate::error::Error;
use crate::layout::gather::{GatherRule, gather};
use crate::layout::view::View;
use crate::layout::window::{boxes_of_run, fill_each};
use crate::memory::{self, Buffer};
use crate::storage::read_at::{Identity, ReadAt, Stamp};

/// Bytes of one read, gaps included.
const READ_AT_ONCE: usize = 1 << 20;

#[derive(Debug)]
pub(super) struct StridedItems {
    pub bytes: Arc<dyn ReadAt>,
    /// Where the view begins.
    pub start: u64,
    pub view: View,
    pub itemsize: usize,
}

impl StridedItems {
    fn read_items(&self, out: &mut [u8], first: usize) -> Result<(), Error> {
        let (itemsize, mut scratch) = (self.itemsize, Buffer::default());
        let boxes = boxes_of_run(&self.view.shape(), first, first + out.len() / itemsize);
        fill_each(&boxes, itemsize, out, |window, items| {
            let view = self.view.part(&window.ranges);
            let read = |bytes: &mut [u8], at: u64| self.bytes.read_at(bytes, self.start + at).map_err(Error::from);
            gather(&view, itemsize, items, &mut scratch, GatherRule::of(READ_AT_ONCE), read)
        })
    }
}

impl ReadAt for StridedItems {
    fn size(&self) -> io::Result<u64> {
        Ok((self.view.items() * self.itemsize) as u64)
    }

    fn read_at(&self, out: &mut [u8], at: u64) -> io::Result<()> {
        let end = at.checked_add(out.len() as u64).filter(|end| self.size().is_ok_and(|size| *end <= size));
        let (at, end) = (at as usize, end.ok_or(io::ErrorKind::UnexpectedEof)? as usize);
        let (first, skip) = (at / self.itemsize, at % self.itemsize);
        if skip == 0 && end.is_multiple_of(self.itemsize) {
            return Ok(self.read_items(out, first)?);
        }
        let items = end.div_ceil(self.itemsize) - first;
        let mut whole = memory::zeros(items * self.itemsize).map_err(Error::from)?;
        self.read_items(&mut whole, first)?;
        out.copy_from_slice(&whole[skip..][..out.len()]);
        Ok(())
    }

    fn stamp(&self) -> io::Result<Stamp> {
        self.bytes.stamp()
    }

    fn identity(&self) -> io::Result<Identity> {
        self.bytes.identity()
    }

    fn costs_requests(&self) -> bool {
        self.bytes.costs_requests()
    }
}
