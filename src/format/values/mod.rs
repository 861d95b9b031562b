//! Values in text, which have no dtype until something gives them one. Only `Unparsed` knows whether the text is lists of
//! JSON or the cells of a table; this module decides for both which dtype the items get, and whether they fit it.

pub(super) mod cells;
pub mod delimiter;
mod infer;
mod item;
mod leaf;
pub(super) mod lists;
mod read;
mod strings;
mod untyped;

pub use self::infer::infer;
pub(super) use self::infer::source;
pub(super) use self::item::most_padded;
#[cfg(feature = "zarr")]
pub(super) use self::item::part_of;
pub(super) use self::item::{cannot_hold, check_text};
pub use self::item::{dtype_of_string, parse_item};
pub(super) use self::read::Unparsed;
pub use self::read::Values;
pub(super) use self::strings::{short, shorten, string};
