//! Index tensors, the scatter by indices that ScatterUpdate and ScatterND share, and the gather by indices of Gather and
//! GatherND.
//!
//! `data` is seen as `[outer, dim, block]` and `updates` as `[outer, count, block]`: in each outer place, update number
//! `position` goes to the place in `0..dim` that index tuple number `position` names. A *block* is what one tuple addresses.
//! An *entry* is a place and its payload: the update itself if it is small, else its position.
//!
//! The types keep the order of the steps. An [`IndexSpec`] is checked. With the order of storage it makes a [`TupleResolver`],
//! which knows what index numbers mean. With the index tensor that makes [`Sweeps`], and each of these a [`Scatter`], in
//! which every number is in range. With data and updates they are a [`LinkedScatter`], an operator for the engine:
//! [`IndexSpec::link`] goes all the way.
//!
//! Where items are replaced in several outer places, only the last update of each place is kept: [`Lasts`] are runs of
//! neighbouring blocks, by ascending places, for all outer places alike.
//!
//! A gather needs the places in the order of the tuples, not grouped: a [`TupleResolver`] and an index tensor make
//! [`TuplePlaces`], and with data these are a [`LinkedGather`], which sees `data` as `[batch, row, dim, block]` and its output
//! as `[batch, row, tuples, block]`.
//!
//! # How the work is divided
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
//!
//! Index tensors that fit the memory for them (almost all) are read by one pass, in one sweep.

mod arrays;
mod block_runs;
mod blocks;
mod buckets;
mod element_boxes;
mod gathered;
mod latest;
mod linked;
mod places;
mod read;
mod resolve;
mod runs;
mod scatter;
mod sweeps;
mod touched;

pub use self::block_runs::Lasts;
pub use self::gathered::LinkedGather;
pub use self::linked::{LinkedScatter, ScatterOperands, ScatterRule};
pub use self::places::{NearPlaces, TuplePlaces};
pub use self::read::{TakeItems, all_integers, each_window};
pub use self::resolve::{Index, IndexSpec, OutOfRange, TupleResolver};
pub use self::runs::ItemRun;
pub use self::scatter::Scatter;
pub use self::sweeps::{Grouping, Sweeps};

#[cfg(test)]
mod tests;
