//! Items whose order in storage is neither C nor Fortran order, or whose signs differ, read by position as if they were
//! stored in C order.

use std::io;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::format::units::Units;
use crate::layout::gather::{GatherRule, gather};
use crate::layout::view::View;
use crate::layout::window::{boxes_of_run, fill_each};
use crate::memory::Buffer;
use crate::storage::read_at::ReadAt;
use crate::storage::source::READ_AT_ONCE;

#[derive(Debug)]
pub(super) struct StridedItems {
    pub bytes: Arc<dyn ReadAt>,
    /// Where the view begins.
    pub start: u64,
    pub view: View,
    pub itemsize: usize,
    /// The bits of each item that differ from the stored ones; empty if none does.
    pub mask: Vec<u8>,
}

impl Units for StridedItems {
    fn stored(&self) -> &Arc<dyn ReadAt> {
        &self.bytes
    }

    fn unit(&self) -> usize {
        self.itemsize
    }

    fn size(&self) -> io::Result<u64> {
        Ok((self.view.items() * self.itemsize) as u64)
    }

    fn compute(&self, out: &mut [u8], first: usize) -> Result<()> {
        let (itemsize, mut scratch) = (self.itemsize, Buffer::default());
        let boxes = boxes_of_run(&self.view.shape(), first, first + out.len() / itemsize);
        fill_each(&boxes, itemsize, out, |window, items| {
            let view = self.view.part(&window.ranges);
            let read = |bytes: &mut [u8], at: u64| self.bytes.read_at(bytes, self.start + at).map_err(Error::from);
            gather(&view, itemsize, items, &mut scratch, GatherRule::of(READ_AT_ONCE), read)
        })?;
        out.iter_mut().zip(self.mask.iter().cycle()).for_each(|(byte, mask)| *byte ^= mask);
        Ok(())
    }
}
