//! The loop of every pass: regions are made one by one, by one thread or several, and handed on. An output hands them to a sink, a
//! slab holds them, and a [scan](super::scan) looks at them.

use super::sink::Take;
use crate::error::Result;
use crate::memory::Buffer;
use crate::ops::fill::{Region, Scratch};
use crate::parallel::{share, share_in_order};

/// Makes the items of regions, of which any may be made at any time and on any thread.
pub(super) trait RegionMaker: Sync {
    /// Makes `items` those of a region, in a buffer that takes their number of bytes.
    ///
    /// # Errors
    /// Of reading; not enough memory.
    fn make(&self, region: &Region, items: &mut Buffer, scratch: &mut Scratch) -> Result<()>;
}

/// Returns the region of a number.
pub(super) type GetRegion<'a> = dyn Fn(usize) -> Region + Sync + 'a;

/// Regions, by numbers from 0.
pub(super) struct Regions<'a> {
    pub count: usize,
    /// How many threads share the work.
    pub threads: usize,
    pub get: &'a GetRegion<'a>,
    pub maker: &'a dyn RegionMaker,
    /// Returns whether a region need not be made.
    pub is_done: &'a (dyn Fn(&Region) -> Result<bool> + Sync),
}

impl Regions<'_> {
    /// Makes regions by several threads, and hands each with its number to `put`, in any order, which returns false to end the
    /// pass. A thread has a state, which `begin` makes, and the states are returned. If several calls fail, the error of the lowest
    /// number is returned, so that a message does not depend on timing.
    ///
    /// # Errors
    /// Of making regions; those of `is_done` and `put`.
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

    /// Makes regions and hands them to `take`, one after the other. Where there are several threads, they read ahead.
    ///
    /// # Errors
    /// Of making regions; those of `take`.
    pub(super) fn in_order(&self, take: &mut Take<'_>) -> Result<()> {
        let begin = || (Buffer::default(), Scratch::default());
        let make = |number, (items, scratch): &mut (_, _)| self.maker.make(&(self.get)(number), items, scratch);
        share_in_order(self.threads, self.count, begin, make, |_, (items, _)| take(items).map(|()| true))
    }
}
