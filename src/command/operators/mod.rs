//! The operators by kind, and [`operation`], which runs them.

pub(crate) mod concat;
pub(crate) mod gathers;
pub(crate) mod operation;
pub(crate) mod rearranging;
pub(crate) mod reshape;
pub(crate) mod scatters;
pub(crate) mod slice;
pub(crate) mod slice_scatter;
pub(crate) mod split;
