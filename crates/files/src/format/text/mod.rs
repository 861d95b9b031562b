//! Tensors as text, as NumPy 2.4 prints them with `floatmode="unique"` and `threshold=sys.maxsize` or other print
//! options.
//!
//! Items are formatted twice, for widths and for output, so that memory holds one block of output.

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
