//! Text whose items get a dtype later. Only `Unparsed` distinguishes JSON lists from cells of a table.

pub(super) mod cells;
pub mod delimiter;
pub(super) mod item;
mod leaf;
pub(super) mod lists;
mod read;
mod untyped;

pub(super) use self::item::{cannot_hold, check_text, most_padded};
pub use self::item::{dtype_of_string, parse_item};
pub(super) use self::leaf::{short, shorten, string};
pub(super) use self::read::Unparsed;
pub use self::read::Values;
pub use self::untyped::infer;
pub(super) use self::untyped::source;
