//! Writes tensors to a file, a folder or a stream in some format.
//!
//! An [`OutputTensor`] has the operator that fills its items. [`Output::prepare`] names the tensors of an output, checks them, and
//! lays them out; [`LaidOut`] then writes them, whole or in [shares](LaidOut::shares). [`edit`] changes a tensor in place.

pub(crate) mod chunks;
pub(crate) mod output;
pub(crate) mod plan;
pub(crate) mod prepare;
pub(crate) mod requested_sides;
pub mod shards;
pub(crate) mod shares;
#[cfg(test)]
mod tests;

pub use self::output::{OutputKind, OutputTensor, Recast, Share, check_edit, edit, items_at};
pub use self::plan::LaidOut;
pub use self::prepare::{Move, Output, Replaced, check_attachments, check_replaced_index, explain_edit};
pub use self::shares::{ShareReport, Shares};
