//! Values in text: items without a dtype until something gives them one. What the text is, lists of JSON or cells of a
//! table, is known to `Items` alone; which dtype its items get, and whether they fit it, is decided here for all.

pub(super) mod cells;
mod infer;
mod item;
mod leaf;
pub(super) mod lists;
mod read;
mod strings;
mod untyped;

pub use self::infer::infer;
pub(super) use self::infer::source;
pub use self::item::parse_item;
pub(super) use self::item::{cannot_hold, most_padded};
pub(super) use self::read::Items;
pub use self::read::Values;
pub(super) use self::strings::{short, shorten, string};
