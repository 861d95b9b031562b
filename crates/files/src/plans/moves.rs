//! The cost of moving a tensor between chunk grids, directly or through a temporary store.

use super::planner::Planner;
use super::slabs::{DIRECT, READ_AGAIN, grid_between, readings};
use tensorop_kernels::layout::window::Windows;

/// A temporary store is made for at most this many parts: with more, each holds little more than a chunk.
const PARTS: usize = 16;

/// Average reads of each byte.
#[derive(Clone, Copy, Debug)]
pub struct Readings {
    /// If one run fills all windows.
    pub all: f64,
    /// If each window is filled by itself.
    pub alone: f64,
}

impl Planner<'_> {
    /// Returns how often windows read the data.
    pub fn readings(&self, windows: &Windows) -> Option<Readings> {
        let alone = readings(&self.meta.shape, windows.sides(), &self.grain()?);
        Some(Readings { all: self.slabs(windows).map_or(alone.min(DIRECT), |slabs| slabs.readings), alone })
    }

    /// Returns the chunks of a temporary store that saves work in one run of all windows.
    pub fn grid_between(&self, windows: &Windows) -> Option<Vec<usize>> {
        let (grain, direct) = (self.grain()?, self.slabs(windows)?.readings);
        self.grid().filter(|_| direct > READ_AGAIN)?;
        let held = self.held(windows, &grain);
        self.between(windows, &grain, [held, held / (4 * self.threads)], direct)
    }

    /// [`grid_between`](Self::grid_between) for processes that make down to one in [`PARTS`] windows each.
    pub fn grid_for_parts(&self, windows: &Windows) -> Option<Vec<usize>> {
        let (grain, meta) = (self.grain()?, self.meta);
        let alone = readings(&meta.shape, windows.sides(), &grain);
        self.grid().filter(|_| alone > READ_AGAIN)?;
        let least = windows.largest().max(Windows::boxes(&meta.shape, &grain).largest());
        let held = self.held(windows, &grain).min((meta.items() / PARTS).max(least));
        self.between(windows, &grain, [held, held / 4], alone)
    }

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
