//! Index tensors, and the scatter and gather kernels by indices.
//!
//! A scatter views `data` as `[outer, dim, block]` and `updates` as `[outer, count, block]`: update `position` goes to
//! the place in `0..dim` named by index tuple `position`. A *block* is the unit that a tuple addresses. An *entry* is a
//! place and its payload, a small update or its position. A gather views `data` as `[batch, row, dim, block]` and its
//! output as `[batch, row, tuples, block]`.
//!
//! Types follow the steps: a checked [`IndexSpec`](tensorop_kernels::ops::indexed::IndexSpec) and a storage order make a
//! [`TupleResolver`](tensorop_kernels::ops::indexed::TupleResolver); with the index tensor
//! it makes [`Sweeps`] of [`Scatter`]s, or [`TuplePlaces`]; with data these are a [`LinkedScatter`] or a
//! [`LinkedGather`].
//!
//! # Division of work
//!
//! ```text
//! index tensor   |   part 0   |   part 1   |   part 2   |   a pass reads it once, a thread for each part
//!                        \          |           /
//! places of data |=====  sweep 0  =====|=====  sweep 1  =|   a pass keeps the entries of one sweep,
//!                |bucket|bucket|bucket|bucket|bucket|bucket   grouped by neighbouring places
//!                    |
//! output         |    window 0    |    window 1    |         what a thread fills at a time
//!                | piece  | piece |                          what of it is contiguous: a box has several pieces,
//!                    |run|   |run|                           any other window one; an update puts a run in it
//! ```

mod buckets;
mod gather;
mod places;
mod runs;
mod scatter;
mod sweep;
mod sweeps;
#[cfg(test)]
mod tests;

pub use self::buckets::Lasts;
pub use self::gather::LinkedGather;
pub use self::places::{NearPlaces, TakeItems, TuplePlaces, all_integers, each_window};
pub use self::runs::ItemRun;
pub use self::scatter::{LinkedScatter, ScatterOperands};
pub use self::sweep::Scatter;
pub use self::sweeps::{Grouping, Sweeps};
