//! The kernel that ScatterUpdate and ScatterND share: blocks of items go to places that index numbers name.
//!
//! `data` is seen as `[outer, dim, block]`, `updates` as `[outer, count, block]`; update number `position` of each
//! outer place belongs to place `target` of its `dim`.

//!
//! The order of steps is in the types: [`Shapes`] are checked; in the order of storage they become [`Numbers`], which
//! take the index tensor; finished these are a [`Scatter`], all of whose numbers are in range; with data and updates
//! that is [`Linked`], an operator for the engine.

mod groups;
mod linked;
mod places;
mod scatter;
mod targets;

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use self::groups::Keep;
pub use self::linked::{Linked, Roles};
pub use self::places::Places;
pub use self::scatter::{Run, Scatter};
use self::targets::{BadIndex, Targets};
use crate::error::{Error, Result, Subject};
use crate::item::dtype::Kind;
use crate::item::meta::Order;
use crate::layout::shape::coordinates;

/// A number that an index tensor may hold.
pub trait Index: Copy + fmt::Display {
    /// The number as int64; `None` beyond it.
    fn to_i64(self) -> Option<i64>;
}

macro_rules! index {
    ($($type:ty)+) => {$(
        impl Index for $type {
            #[inline]
            fn to_i64(self) -> Option<i64> {
                self.try_into().ok()
            }
        }
    )+};
}

index!(i8 i16 i32 i64 u8 u16 u32 u64 isize usize);

/// What index numbers are handed to, in C order.
pub trait TakeIndices {
    /// Takes the next numbers.
    ///
    /// # Errors
    /// A number that names no place, with its position.
    fn take<I: Index>(&mut self, numbers: impl IntoIterator<Item = I>) -> Result<(), Error>;
}

/// Hands over numbers of an integer kind as little-endian bytes.
///
/// # Errors
/// Those of [`TakeIndices::take`]; a kind that is no integer.
pub fn take_bytes(taker: &mut impl TakeIndices, kind: &Kind, bytes: &[u8]) -> Result<(), Error> {
    macro_rules! take {
        ($type:ty) => {
            taker.take(bytes.as_chunks::<{ size_of::<$type>() }>().0.iter().map(|word| <$type>::from_le_bytes(*word)))
        };
    }
    match kind {
        Kind::Int8 => take!(i8),
        Kind::Int16 => take!(i16),
        Kind::Int32 => take!(i32),
        Kind::Int64 => take!(i64),
        Kind::UInt8 => take!(u8),
        Kind::UInt16 => take!(u16),
        Kind::UInt32 => take!(u32),
        Kind::UInt64 => take!(u64),
        _ => Err(Error::new(Subject::Indices, "not integers")),
    }
}

/// What becomes of several updates for one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeats {
    /// The last in index order is what counts.
    LastWins,
    /// All of them are applied, in index order: a reduction.
    Combined,
    /// The first is an error.
    Refused,
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
        let targets = Targets::new(arrangement.axes.clone(), self.count(), self.negative);
        Numbers { shapes: Arc::new(self), arrangement, targets: vec![targets] }
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

/// The numbers of an index tensor as they are taken, perhaps in parts by several threads.
#[derive(Clone, Debug)]
pub struct Numbers {
    shapes: Arc<Shapes>,
    arrangement: Arrangement,
    /// One for each part of the indices.
    targets: Vec<Targets>,
}

impl Numbers {
    /// The shapes that they are for.
    pub fn shapes(&self) -> &Shapes {
        &self.shapes
    }

    /// The numbers of an index tuple.
    pub fn width(&self) -> usize {
        self.shapes.axes.len()
    }

    /// The number of index tuples that there are.
    pub fn count(&self) -> usize {
        self.shapes.count()
    }

    /// The places outside and the items inside the places that indices name.
    pub fn sides(&self) -> (usize, usize) {
        (self.arrangement.outer, self.arrangement.block)
    }

    /// One that takes the numbers from index tuple `first` on.
    pub fn part(&self, first: usize) -> Self {
        let targets = self.targets.iter().take(1).map(|targets| targets.part(first)).collect();
        Self { targets, ..self.clone() }
    }

    /// Makes room for so many tuples more.
    ///
    /// # Errors
    /// Not enough memory.
    pub fn reserve(&mut self, tuples: usize) -> Result<()> {
        self.targets.last_mut().map_or(Ok(()), |targets| targets.reserve(tuples))
    }

    /// Adds what a part took. Parts are added in the order of their tuples.
    pub fn join(&mut self, part: Self) {
        self.targets.extend(part.targets);
    }

    /// Ends the numbers of a gather: the place of each tuple, in the order of tuples.
    ///
    /// # Errors
    /// Not enough memory.
    pub fn in_turn(self) -> Result<Places> {
        Places::new(self)
    }

    /// Ends the numbers. About `group` neighbouring items will be changed together.
    ///
    /// # Errors
    /// A tuple that occurs twice, where [`Repeats::Refused`].
    pub fn finish(self, repeats: Repeats, group: usize) -> Result<Scatter> {
        let Self { shapes, arrangement: Arrangement { outer, block, updates_axes, .. }, targets } = self;
        let keep = Keep {
            unique: repeats != Repeats::Combined,
            repeats: repeats != Repeats::Refused,
            group: group / block.max(1),
            count: shapes.count(),
        };
        let entries = groups::group(targets, keep).map_err(|(position, first)| {
            let message = format!(
                "the index at {:?} repeats the one at {:?}",
                coordinates(position, &shapes.tuples),
                coordinates(first, &shapes.tuples)
            );
            Error::new(Subject::Indices, message)
        })?;
        let dim = shapes.data[shapes.axes.clone()].iter().product();
        Ok(Scatter { outer, dim, block, count: shapes.count(), entries, updates_axes })
    }
}

impl TakeIndices for Numbers {
    fn take<I: Index>(&mut self, numbers: impl IntoIterator<Item = I>) -> Result<()> {
        let Some(targets) = self.targets.last_mut() else { return Ok(()) };
        targets.extend(numbers).map_err(|BadIndex { position, value }| {
            let Shapes { data, axes, tuples, negative, has_tuple_axis, .. } = &*self.shapes;
            let component = position % axes.len();
            let mut at = coordinates(position / axes.len(), tuples);
            if *has_tuple_axis {
                at.push(component);
            }
            let axis = axes.start + component;
            let dim = data[axis];
            let range = match dim {
                0 => "there is no place".to_owned(),
                _ if *negative => format!("expected [-{dim}, {}]", dim - 1),
                _ => format!("expected [0, {}]", dim - 1),
            };
            let message = format!("{value} at {at:?} is out of range: {range} on axis {axis} (data {data:?})");
            Error::new(Subject::Indices, message)
        })
    }
}

#[cfg(test)]
mod tests;
