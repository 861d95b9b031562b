//! Index numbers as they come: checked, and made places of the axes that they address.

use super::Index;
use super::groups::Word;
use crate::error::{Error, Subject};
use crate::layout::axis::resolve_index;

/// Collects index numbers, in order, as places of a tensor whose index axes are `dims`.
#[derive(Clone, Debug)]
pub(crate) struct Targets {
    /// For each number of an index tuple: the dim of its axis, and the places from one of its values to the next.
    pub axes: Vec<(usize, usize)>,
    /// All places.
    pub places: usize,
    negative: bool,
    /// Numbers seen so far, those before a part's first included.
    seen: usize,
    partial: usize,
    pub pairs: Pairs,
}

/// Pairs of target and position in the order of positions, packed into one word, target first; in half the memory
/// where both fit 32 bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Pairs {
    Small(Vec<u64>),
    Large(Vec<u128>),
}

/// A number that names no place: which one it was, and how it reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BadIndex {
    /// Its position among all numbers of the index tensor.
    pub position: usize,
    /// The number.
    pub value: String,
}

impl Targets {
    /// For `count` tuples of one number for each of `axes`: the dim of its axis, and the places from one of its values
    /// to the next. Numbers count from the end where `negative` ones are allowed.
    pub(super) fn new(axes: Vec<(usize, usize)>, count: usize, negative: bool) -> Self {
        let places = axes.iter().fold(1_usize, |places, &(dim, _)| places.saturating_mul(dim));
        let small = u32::try_from(places).is_ok() && u32::try_from(count).is_ok();
        let pairs = if small { Pairs::Small(Vec::new()) } else { Pairs::Large(Vec::new()) };
        Self { axes, places, negative, partial: 0, seen: 0, pairs }
    }

    /// The same for the numbers from tuple number `first` on.
    pub(super) fn part(&self, first: usize) -> Self {
        let pairs = match self.pairs {
            Pairs::Small(_) => Pairs::Small(Vec::new()),
            Pairs::Large(_) => Pairs::Large(Vec::new()),
        };
        Self { axes: self.axes.clone(), partial: 0, seen: first * self.axes.len(), pairs, ..*self }
    }

    /// Makes room for so many tuples more.
    pub(super) fn reserve(&mut self, tuples: usize) -> Result<(), Error> {
        let reserved = match &mut self.pairs {
            Pairs::Small(pairs) => pairs.try_reserve_exact(tuples),
            Pairs::Large(pairs) => pairs.try_reserve_exact(tuples),
        };
        reserved.map_err(|_| {
            Error::new(Subject::Indices, format!("{tuples} index tuples are more than there is memory for"))
        })
    }

    /// Takes the next numbers.
    pub(super) fn extend<I: Index>(&mut self, numbers: impl IntoIterator<Item = I>) -> Result<(), BadIndex> {
        let width = self.axes.len();
        let mut component = self.seen % width.max(1);
        let mut numbers = numbers.into_iter();
        numbers.try_for_each(|number| {
            let (dim, stride) = self.axes[component];
            let wanted = number.to_i64().filter(|&n| self.negative || n >= 0);
            let Some(place) = wanted.and_then(|n| resolve_index(n, dim)) else {
                return Err(BadIndex { position: self.seen, value: number.to_string() });
            };
            self.partial += place * stride;
            self.seen += 1;
            component += 1;
            if component == width {
                let (target, position) = (std::mem::take(&mut self.partial), self.seen / width - 1);
                component = 0;
                match &mut self.pairs {
                    Pairs::Small(pairs) => pairs.push(Word::pack(target, position)),
                    Pairs::Large(pairs) => pairs.push(Word::pack(target, position)),
                }
            }
            Ok(())
        })
    }
}
