//! When a pair of items passes, and how many mismatches are listed.

use crate::diff::options::Options;

#[derive(Clone, Copy, Debug)]
pub(crate) struct PairRule {
    /// A finite pair passes if `|actual - expected| <= atol + rtol * |expected|`. Without a tolerance these are -1 and
    /// 0, which accept nothing.
    pub atol: f64,
    pub rtol: f64,
    /// A pair also passes within this many steps.
    pub ulp: Option<u64>,
    pub nan_differs: bool,
    pub listed: usize,
    pub lists_worst: bool,
}

impl PairRule {
    pub(crate) fn new(options: &Options) -> Self {
        Self {
            atol: options.atol.unwrap_or(if options.rtol.is_some() { 0.0 } else { -1.0 }),
            rtol: options.rtol.unwrap_or(0.0),
            ulp: options.ulp,
            nan_differs: options.nan_differs,
            listed: options.worst.unwrap_or(options.shown),
            lists_worst: options.worst.is_some(),
        }
    }

    #[inline(always)]
    pub(crate) fn is_tolerant(&self) -> bool {
        self.atol >= 0.0 || self.ulp.is_some()
    }

    /// Requires a finite pair; `size` is the expected magnitude.
    #[inline(always)]
    pub(crate) fn accepts(&self, distance: f64, size: f64, steps: u64) -> bool {
        let near = distance <= self.atol + self.rtol * size;
        near | self.ulp.is_some_and(|ulp| steps <= ulp)
    }
}
