//! What it costs to move a tensor from the chunks of a store to other chunks, and stores by way of which it costs less.

use super::planner::Planner;
use super::slabs::{DIRECT, READ_AGAIN, grid_between, readings};
use crate::layout::window::Windows;

/// The parts that a store between is made for: with more of them each holds little more than a chunk.
const PARTS: usize = 16;

/// How many times each byte of the data is read, on average.
#[derive(Clone, Copy, Debug)]
pub struct Readings {
    /// If all windows are filled in one run.
    pub all: f64,
    /// If each window is filled by itself.
    pub alone: f64,
}

impl Planner<'_> {
    /// Returns how many times each byte of the data is read, on average, if these windows are filled: all of them in one run,
    /// and each by itself, as a process that makes few of them would.
    pub fn readings(&self, windows: &Windows) -> Option<Readings> {
        let alone = readings(&self.meta.shape, windows.sides(), &self.grain()?);
        Some(Readings { all: self.slabs(windows).map_or(alone.min(DIRECT), |slabs| slabs.readings), alone })
    }

    /// Returns the chunks of a store by way of which the windows of another store are made with less reading and writing than
    /// at once, if the data is a store and there are such: for all of them in one run.
    pub fn grid_between(&self, windows: &Windows) -> Option<Vec<usize>> {
        let (grain, direct) = (self.grain()?, self.slabs(windows)?.readings);
        self.grid().filter(|_| direct > READ_AGAIN)?;
        let held = self.held(windows, &grain);
        self.between(windows, &grain, [held, held / (4 * self.threads)], direct)
    }

    /// Returns the chunks of such a store for processes that each make a part of the windows, down to one in [`PARTS`].
    pub fn grid_for_parts(&self, windows: &Windows) -> Option<Vec<usize>> {
        let (grain, meta) = (self.grain()?, self.meta);
        let alone = readings(&meta.shape, windows.sides(), &grain);
        self.grid().filter(|_| alone > READ_AGAIN)?;
        let least = windows.largest().max(Windows::boxes(&meta.shape, &grain).largest());
        let held = self.held(windows, &grain).min((meta.items() / PARTS).max(least));
        self.between(windows, &grain, [held, held / 4], alone)
    }

    /// Returns the chunks of a store between, if `held` items are held at once and its chunks have at most `chunk` items.
    fn between(
        &self,
        windows: &Windows,
        grain: &[usize],
        [held, chunk]: [usize; 2],
        direct: f64,
    ) -> Option<Vec<usize>> {
        let most = chunk.min(self.limits.machine.kept / self.widest().max(1)).max(1);
        grid_between(&self.meta.shape, windows.sides(), grain, [held, most], direct)
    }
}
