//! The index tuples of a window, grouped by neighbouring places: what lies near together in storage is read at once.

use std::ops::Range;

use crate::error::Result;
use crate::memory;

/// The most groups: each has a line of cache to which its tuples are added.
const MOST_GROUPS: usize = 1 << 12;

/// The place of a tuple's block in storage, and the number of the tuple in the window. Sorted, they are in storage order.
pub(super) type PlacedTuple = (usize, usize);

/// The place of a tuple's block, counted from the first place of its group, and the number of the tuple in the window: both are
/// short, since memory that is touched for the first time costs more than all else that is done with a tuple.
pub(super) type GroupedTuple = (u32, u32);

/// The most places of a group, as a power of two.
const MOST_PLACES: u32 = 32;

/// Tuples in groups of neighbouring places, which are in order; those of one group are in any order.
pub(super) struct TupleGroups {
    /// The places that tuples name; others name none.
    named: Range<usize>,
    /// A group has `1 << shift` places.
    shift: u32,
    /// Where each group ends among `tuples`.
    ends: Vec<usize>,
    tuples: Vec<GroupedTuple>,
}

impl TupleGroups {
    /// Makes groups of about `together` neighbouring places, or of more where there would be too many groups.
    pub(super) fn new(named: Range<usize>, together: usize) -> Self {
        let places = together.max(named.len().div_ceil(MOST_GROUPS)).max(1);
        let shift = places.next_power_of_two().ilog2().min(MOST_PLACES);
        Self { named, shift, ends: Vec::new(), tuples: Vec::new() }
    }

    /// Takes the tuples of another batch: the place of each, in the order of their numbers. The places are gone through
    /// twice, and no tuple is moved after it has been added.
    ///
    /// # Errors
    /// Not enough memory.
    ///
    /// # Panics
    /// If there are more than 2^32 tuples, which no window has.
    pub(super) fn set(&mut self, places: impl ExactSizeIterator<Item = usize> + Clone) -> Result<()> {
        let (low, count) = (self.named.start, self.named.len());
        let inside = |place: usize| place.wrapping_sub(low);
        self.ends.clear();
        self.ends.resize((count.saturating_sub(1) >> self.shift) + 1, 0);
        places.clone().filter(|&place| inside(place) < count).for_each(|place| {
            self.ends[inside(place) >> self.shift] += 1;
        });
        let mut begin = 0;
        for end in &mut self.ends {
            begin += std::mem::replace(end, begin);
        }
        self.tuples.clear();
        memory::reserve(&mut self.tuples, begin)?;
        self.tuples.resize(begin, (0, 0));
        u32::try_from(places.len()).expect("a window has fewer tuples than 2^32");
        // what a group begins with becomes what it ends with
        for (n, place) in (0_u32..).zip(places).filter(|&(_, place)| inside(place) < count) {
            let (group, place) = (inside(place) >> self.shift, inside(place) & ((1 << self.shift) - 1));
            let end = &mut self.ends[group];
            self.tuples[*end] = (place as u32, n);
            *end += 1;
        }
        Ok(())
    }

    /// Calls `each(first, tuples)` for every group that has any tuples, from the lowest places on; `first` is its first place.
    ///
    /// # Errors
    /// Those of `each`.
    pub(super) fn each(&mut self, mut each: impl FnMut(usize, &mut [GroupedTuple]) -> Result<()>) -> Result<()> {
        let mut begin = 0;
        for (group, &end) in self.ends.iter().enumerate() {
            if begin < end {
                each(self.named.start + (group << self.shift), &mut self.tuples[begin..end])?;
            }
            begin = end;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tuple_that_names_a_place_is_in_one_group() {
        for (named, together) in [(0..1000, 1), (0..1000, 64), (7..90, 5), (0..1, 9), (3..40_000, 1)] {
            let mut groups = TupleGroups::new(named.clone(), together);
            for count in [0, 1, 500] {
                let places = (0..count).map(|n: usize| n.wrapping_mul(2_654_435_761) % (named.end + 50));
                groups.set(places.clone()).unwrap();
                let (mut found, mut before) = (Vec::new(), 0);
                groups
                    .each(|first, tuples| {
                        let tuples: Vec<PlacedTuple> =
                            tuples.iter().map(|&(place, n)| (first + place as usize, n as usize)).collect();
                        let low = tuples.iter().map(|tuple| tuple.0).min().unwrap();
                        assert!(before <= low, "{named:?} {together}: {low} comes after {before}");
                        before = tuples.iter().map(|tuple| tuple.0).max().unwrap() + 1;
                        assert!(before - low <= together.next_power_of_two().max(16), "{named:?} {together}");
                        found.extend(tuples);
                        Ok(())
                    })
                    .unwrap();
                found.sort_unstable_by_key(|tuple| tuple.1);
                let wanted: Vec<_> = places.enumerate().map(|(n, place)| (place, n)).collect();
                let wanted: Vec<_> = wanted.into_iter().filter(|(place, _)| named.contains(place)).collect();
                assert_eq!(found, wanted, "{named:?} {together}");
            }
        }
    }
}
