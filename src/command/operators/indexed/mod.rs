//! Gathers and scatters, the operators with an index tensor.

pub(crate) mod gather;
pub(crate) mod gather_elements;
pub(crate) mod gather_nd;
pub(crate) mod scatter_elements;
pub(crate) mod scatter_nd;
pub(crate) mod scatter_update;
