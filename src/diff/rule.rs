//! When a pair of items passes, and how many mismatches are listed.

use super::options::Options;

/// The options that concern single items, as the inner loops use them.
#[derive(Clone, Copy, Debug)]
pub(super) struct PairRule {
    /// A finite pair passes if `|actual - expected| <= atol + rtol * |expected|`. These are -1 and 0 if neither is given,
    /// which accepts nothing.
    pub atol: f64,
    pub rtol: f64,
    /// A pair passes, too, if no more than this many steps are between its items.
    pub ulp: Option<u64>,
    pub nan_differs: bool,
    /// How many mismatches are listed.
    pub listed: usize,
    /// Whether these are the mismatches that are farthest apart, and not the first.
    pub lists_worst: bool,
}

impl PairRule {
    /// Takes the rule from options.
    pub(super) fn new(options: &Options) -> Self {
        Self {
            atol: options.atol.unwrap_or(if options.rtol.is_some() { 0.0 } else { -1.0 }),
            rtol: options.rtol.unwrap_or(0.0),
            ulp: options.ulp,
            nan_differs: options.nan_differs,
            listed: options.worst.unwrap_or(options.shown),
            lists_worst: options.worst.is_some(),
        }
    }

    /// Returns whether any tolerance is given.
    #[inline(always)]
    pub(super) fn is_tolerant(&self) -> bool {
        self.atol >= 0.0 || self.ulp.is_some()
    }

    /// Returns whether a tolerance accepts a finite pair: `distance` apart, `size` being the expected magnitude.
    #[inline(always)]
    pub(super) fn accepts(&self, distance: f64, size: f64, steps: u64) -> bool {
        let near = distance <= self.atol + self.rtol * size;
        near | self.ulp.is_some_and(|ulp| steps <= ulp)
    }
}
