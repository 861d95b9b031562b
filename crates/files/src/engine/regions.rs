//! The loop of every pass: threads make regions for a sink, a slab or a [scan](super::scan).

use super::sink::Take;
use crate::error::Result;
use crate::memory::Buffer;
use crate::ops::fill::{Region, Scratch};
use crate::parallel::{share, share_in_order};

/// Makes regions in any order and on any thread.
pub(super) trait RegionMaker: Sync {
    fn make(&self, region: &Region, items: &mut Buffer, scratch: &mut Scratch) -> Result<()>;
}

pub(super) type GetRegion<'a> = dyn Fn(usize) -> Region + Sync + 'a;

pub(super) struct Regions<'a> {
    pub count: usize,
    pub threads: usize,
    pub get: &'a GetRegion<'a>,
    pub maker: &'a dyn RegionMaker,
    /// Returns whether a region can be skipped.
    pub is_done: &'a (dyn Fn(&Region) -> Result<bool> + Sync),
}

impl Regions<'_> {
    /// Makes regions and passes them to `put` in any order, until `put` returns false. Returns the states of the
    /// threads. Of several errors the one of the first region is returned, so that messages do not depend on timing.
    pub(super) fn each<S: Send>(
        &self,
        begin: &(dyn Fn() -> S + Sync),
        put: &(dyn Fn(&mut S, usize, &Region, &mut Buffer) -> Result<bool> + Sync),
    ) -> Result<Vec<S>> {
        let begin = || (begin(), Buffer::default(), Scratch::default());
        let states = share(self.threads, self.count, begin, |number, (state, items, scratch)| {
            let region = (self.get)(number);
            if (self.is_done)(&region)? {
                return Ok(true);
            }
            self.maker.make(&region, items, scratch)?;
            put(state, number, &region, items)
        })?;
        Ok(states.into_iter().map(|(state, ..)| state).collect())
    }

    /// Makes regions and passes them to `take` in order, while other threads read ahead.
    pub(super) fn in_order(&self, take: &mut Take<'_>) -> Result<()> {
        let begin = || (Buffer::default(), Scratch::default());
        let make = |number, (items, scratch): &mut (_, _)| self.maker.make(&(self.get)(number), items, scratch);
        share_in_order(self.threads, self.count, begin, make, |_, (items, _)| take(items).map(|()| true))
    }
}
