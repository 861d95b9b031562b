//! Writes tensors to a file, a folder or a stream in some format.
//!
//! An [`OutputTensor`] is a tensor of the output: what fills its items, and what becomes of them. Tensors get names
//! ([`named`]) and are checked against the format ([`OutputTensor::check`]); a [`Plan`] lays them out in one output and then
//! writes it, whole or in [shares](Plan::shares). [`edit`] instead changes a tensor in place.

mod asked_sides;
mod chunks;
mod explained;
mod items;
mod lost;
mod moves;
mod output;
mod plan;
mod replaced;
mod replaced_store;
mod shares;
#[cfg(test)]
mod tests;

pub use self::explained::explain_edit;
pub use self::items::items_at;
pub use self::lost::check_attachments;
pub use self::moves::Move;
pub use self::output::{
    OutputKind, OutputTensor, Recast, Share, check_edit, checked, edit, with_names, with_sorted_names,
};
pub use self::plan::LaidOut;
pub use self::replaced::{check_replaced, check_replaced_index};
pub use self::replaced_store::replaces_own_group;
pub use self::shares::{ShareReport, Shares};
