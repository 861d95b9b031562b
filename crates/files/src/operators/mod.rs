//! The operators on sources: linked to their operands they are a [`Fill`](fill::Fill), which fills any window.

pub mod access;
pub mod arranged;
pub mod call;
pub mod cast;
pub mod concat;
pub mod converted;
pub mod fill;
pub mod indexed;
pub mod selection;
pub mod slice_scatter;
