//! Tensors as text: byte for byte what NumPy 2.4 prints, under `floatmode="unique"` and no limit on the number of items
//! (`threshold=sys.maxsize`), or with NumPy's options for both.
//!
//! Every item is formatted twice, first for the width of the columns and then for the output, so that memory holds one
//! block of the output only.

mod decimal;
mod floats;
mod items;
mod page;
#[cfg(test)]
mod tests;

pub(super) use self::items::TextWriter;
pub use self::items::{check, write_shown};
pub use self::page::elided_ranges;
pub use super::interface::TextOptions;
