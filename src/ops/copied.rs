//! A selection as an operator: the output of `slice` and of a copy, in which nothing changes.

use std::ops::Range;

use super::fill::{Fill, Patch, Scratch};
use super::selection::{Selection, StoredWindow};
use crate::error::Result;
use crate::item::meta::Meta;
use crate::layout::window::{Window, Windows};
use crate::storage::source::Source;

impl Fill for Selection {
    fn meta(&self) -> &Meta {
        self.meta()
    }

    fn data(&self) -> &Source {
        self.source()
    }

    fn operands(&self) -> Vec<&Source> {
        vec![self.source()]
    }

    fn prepare(&mut self) -> Result<()> {
        self.settle()
    }

    fn fill(&self, window: &Window, out: &mut Vec<u8>, scratch: &mut Scratch) -> Result<()> {
        self.read(window, out, &mut scratch.gathered)
    }

    fn window_bytes(&self, threads: usize) -> usize {
        self.window_bytes(threads)
    }

    fn grid(&self) -> Option<Vec<usize>> {
        self.grid()
    }

    fn fills_boxes(&self) -> bool {
        true
    }

    fn stored(&self, window: &Window) -> Result<Option<StoredWindow<'_>>> {
        Ok(self.stored(window))
    }

    fn bytes_read(&self, window: &Window) -> u64 {
        self.bytes_read(window)
    }

    fn as_patch(&self) -> Option<&dyn Patch> {
        Some(self)
    }
}

/// A patch that replaces nothing.
impl Patch for Selection {
    fn base(&self) -> &Selection {
        self
    }

    fn changed(&self) -> usize {
        0
    }

    fn touched(&self, _: &Windows) -> Result<Vec<usize>> {
        Ok(Vec::new())
    }

    fn extent(&self, _: &Window) -> Result<Range<usize>> {
        Ok(0..0)
    }

    fn finish_updates(&self) -> Result<()> {
        Ok(())
    }
}
