//! The kernel that ScatterUpdate and ScatterND share: blocks of items go to places that index numbers name.
//!
//! `data` is seen as `[outer, dim, block]`, `updates` as `[outer, count, block]`; update number `position` of each
//! outer place belongs to place `target` of its `dim`.

//!
//! The order of steps is in the types: [`Shapes`] are checked; in the order of storage they say what [`Numbers`] mean;
//! with the index tensor these make [`Sweeps`], each a [`Scatter`] all of whose numbers are in range; with data and updates
//! that is [`Linked`], an operator for the engine.

mod buckets;
mod entries;
mod linked;
mod places;
mod read;
mod resolve;
mod scatter;
mod sweeps;

use std::fmt;
use std::ops::Range;

use self::buckets::Cut;
pub use self::linked::{Linked, Roles};
pub use self::places::{Held, Near, Places};
use self::read::with_integers;
pub use self::read::{all_integers, each_window};
use self::resolve::Resolver;
pub use self::scatter::{Run, Scatter};
pub use self::sweeps::Sweeps;
use super::reduction::Repeats;
use super::updates::Updates;
use crate::error::{Error, Result, Subject};
use crate::item::dtype::Kind;
use crate::item::meta::Order;
use crate::layout::shape::coordinates;
use crate::storage::source::Source;

/// A number that an index tensor may hold.
pub trait Index: Copy + fmt::Display {
    /// The number as int64; `None` beyond it.
    fn to_i64(self) -> Option<i64>;

    /// The place that it names where `wrap` is added to negative numbers; what names none is beyond every dim then.
    fn place(self, wrap: u64) -> u64;
}

macro_rules! index {
    ($($type:ty: $place:expr;)+) => {$(
        impl Index for $type {
            #[inline]
            fn to_i64(self) -> Option<i64> {
                self.try_into().ok()
            }

            #[inline(always)]
            fn place(self, wrap: u64) -> u64 {
                $place(self, wrap)
            }
        }
    )+};
}

/// The place of a number with a sign: without a branch, since negative numbers come as they come.
#[inline(always)]
fn signed(number: i64, wrap: u64) -> u64 {
    (number as u64).wrapping_add((number >> 63) as u64 & wrap)
}

index! {
    i8: |number, wrap| signed(i64::from(number), wrap);
    i16: |number, wrap| signed(i64::from(number), wrap);
    i32: |number, wrap| signed(i64::from(number), wrap);
    i64: signed;
    isize: |number, wrap| signed(number as i64, wrap);
    u8: |number, _| u64::from(number);
    u16: |number, _| u64::from(number);
    u32: |number, _| u64::from(number);
    u64: |number, _| number;
    usize: |number, _| number as u64;
}

/// The checked shapes of an operator by indices: the axes of `data` that index tuples address, and where tuples lie.
#[derive(Clone, Debug)]
pub struct Shapes {
    /// The dims of `data`.
    pub(super) data: Vec<usize>,
    /// The axes of `data` that a tuple addresses, one number each.
    pub(super) axes: Range<usize>,
    /// The dims of the index tensor, but for the axis along which a tuple lies, if it has one.
    pub(super) tuples: Vec<usize>,
    /// The dims of what is at the tuples, the `updates` of a scatter and the output of a gather: `tuples`, and the dims of
    /// `data` that they do not address.
    pub(super) updates: Vec<usize>,
    /// Whether negative numbers count from the end.
    pub(super) negative: bool,
    /// Whether tuples lie along an axis of their own, which is part of a number's position.
    pub(super) has_tuple_axis: bool,
}

impl Shapes {
    /// The shape that `updates` has.
    pub fn updates_shape(&self) -> &[usize] {
        &self.updates
    }

    /// The number of index tuples.
    pub fn count(&self) -> usize {
        self.tuples.iter().product()
    }

    /// Numbers for these shapes, for data that is stored, and changed, in that order.
    pub fn in_order(self, order: Order) -> Numbers {
        let arrangement = Arrangement::new(&self, order);
        let resolver = Resolver::new(&arrangement.axes, self.negative);
        Numbers { shapes: self, arrangement, resolver }
    }
}

/// How `data` and `updates` are seen as `[outer, dim, block]` and `[outer, count, block]`.
///
/// In C order what comes before the indexed axes is outside a place, and what comes after is the block inside it. In
/// Fortran order it is the other way round, and the first of the indexed axes is the one whose places are neighbours:
/// the same three numbers and strides, read from the other end.
#[derive(Clone, Debug)]
struct Arrangement {
    outer: usize,
    block: usize,
    /// For each number of a tuple: the dim of its axis, and the places from one of its values to the next.
    axes: Vec<(usize, usize)>,
    /// The axes of `updates` in that order, where they do not come so.
    updates_axes: Option<Vec<usize>>,
}

impl Arrangement {
    fn new(shapes: &Shapes, order: Order) -> Self {
        let Shapes { data, axes, tuples, updates, .. } = shapes;
        let (before, after) = (&data[..axes.start], &data[axes.end..]);
        let mut stride = 1_usize;
        let mut with_stride = |&dim: &usize| {
            let axis = (dim, stride);
            stride = stride.saturating_mul(dim);
            axis
        };
        let indexed = &data[axes.clone()];
        match order {
            Order::C => {
                let mut axes: Vec<_> = indexed.iter().rev().map(&mut with_stride).collect();
                axes.reverse();
                Self { outer: before.iter().product(), block: after.iter().product(), axes, updates_axes: None }
            }
            Order::Fortran => {
                let (first, rank) = (axes.start, updates.len());
                let last = first + tuples.len();
                Self {
                    outer: after.iter().product(),
                    block: before.iter().product(),
                    axes: indexed.iter().map(&mut with_stride).collect(),
                    updates_axes: Some((last..rank).rev().chain(first..last).chain((0..first).rev()).collect()),
                }
            }
        }
    }
}

/// What the numbers of an index tensor of checked shapes mean.
#[derive(Clone, Debug)]
pub struct Numbers {
    shapes: Shapes,
    arrangement: Arrangement,
    resolver: Resolver,
}

impl Numbers {
    /// The shapes that they are for.
    pub fn shapes(&self) -> &Shapes {
        &self.shapes
    }

    /// The numbers of an index tuple.
    pub fn width(&self) -> usize {
        self.resolver.width()
    }

    /// The number of index tuples that there are.
    pub fn count(&self) -> usize {
        self.shapes.count()
    }

    /// How many places a tuple may name.
    pub fn places(&self) -> usize {
        self.resolver.places()
    }

    /// Makes `places` those of whole tuples, the first of which is number `first`: little-endian integers of a kind.
    ///
    /// # Errors
    /// The first number that names no place; a kind that is no integer.
    fn resolve(&self, kind: &Kind, bytes: &[u8], first: usize, places: &mut Vec<u64>) -> Result<()> {
        with_integers!(kind, bytes, |words, read| self.resolve_words(words, read, first, places))
    }

    /// The same of words that `read` makes numbers of.
    fn resolve_words<W: Copy, I: Index>(
        &self,
        words: &[W],
        read: impl Fn(W) -> I + Copy,
        first: usize,
        places: &mut Vec<u64>,
    ) -> Result<()> {
        self.resolver.resolve(words, read, places).map_err(|bad| {
            let Shapes { data, axes, tuples, negative, has_tuple_axis, .. } = &self.shapes;
            let component = bad % axes.len();
            let mut at = coordinates(first + bad / axes.len(), tuples);
            if *has_tuple_axis {
                at.push(component);
            }
            let axis = axes.start + component;
            let (dim, value) = (data[axis], read(words[bad]));
            let range = match dim {
                0 => "there is no place".to_owned(),
                _ if *negative => format!("expected [-{dim}, {}]", dim - 1),
                _ => format!("expected [0, {}]", dim - 1),
            };
            let message = format!("{value} at {at:?} is out of range: {range} on axis {axis} (data {data:?})");
            Error::new(Subject::Indices, message)
        })
    }

    /// Applies `updates` to `out`, both in C order, as the numbers say, in the order of their tuples.
    ///
    /// # Errors
    /// The first number that names no place; nothing has been applied then.
    pub(crate) fn apply<T: Copy>(
        &self,
        numbers: &[impl Index],
        out: &mut [T],
        updates: &[T],
        combine: impl Fn(&mut [T], &[T]),
    ) -> Result<()> {
        let places = Held::of_numbers(self, numbers)?;
        let (Arrangement { outer, block, .. }, count) = (&self.arrangement, self.count());
        for outer in 0..*outer {
            for tuple in 0..count {
                let old = (outer * self.places() + places.get(tuple)) * block;
                combine(&mut out[old..][..*block], &updates[(outer * count + tuple) * block..][..*block]);
            }
        }
        Ok(())
    }

    /// Whether updates are carried along with their places: small ones that lie in the order of the tuples, and can be
    /// read in it. They may take what the index tensor does twice and a half, and some.
    fn carries(&self, updates: &Updates, (cut, group): (Cut, usize), indices: &Source, repeats: Repeats) -> bool {
        /// What is always allowed.
        const FREE: usize = 48 << 20;
        let Arrangement { outer, block, .. } = self.arrangement;
        let size = block * updates.itemsize();
        let fits = matches!(size, 1 | 2 | 4 | 8 | 16) && group.is_multiple_of(block);
        let most = (indices.bytes() / 2).saturating_mul(5).saturating_add(FREE);
        let kind = match repeats {
            Repeats::LastWins => true,
            // reductions know items, not words
            Repeats::Combined => block == 1,
            // to name what is repeated takes positions
            Repeats::Refused => false,
        };
        outer == 1 && fits && kind && updates.in_runs() && cut.bytes(self.count(), size) <= most
    }
}

#[cfg(test)]
mod tests;
